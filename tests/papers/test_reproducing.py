"""Papers run again: what is kept of a run, and pages whose tables are made of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from wellorder.cli.main import main
from wellorder.data import DataError
from wellorder.evaluation import Record
from wellorder.papers import PAPERS, Paper
from wellorder.papers.reproducing import (
    BEGIN,
    END,
    Reproduction,
    made_lines,
    page_with,
    records_beside,
    reproduce,
    write_page,
)
from wellorder.papers.running import PaperPart

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def _run(number):
    def run(run):
        return [Record(f"k{number}", "data", "m", 0, 0, 0, 1, 1, {"x": float(number if run.quick else 10 * number)})]

    return run


PARTS = {
    name: PaperPart(
        f"Table {number}: what it is", _run(number), lambda records: [f"x is {each.metrics['x']:g}" for each in records]
    )
    for number, name in ((1, "one"), (2, "two"))
}
PICTURED = ("two",)


def picture(found, path):
    Path(path).write_text(f"{found['two'][0].metrics['x']:g}")


@pytest.fixture(autouse=True)
def made(monkeypatch):
    """A paper of two parts."""
    monkeypatch.setitem(PAPERS, "made", Paper("A made paper", __name__))


def test_parts_are_run_in_the_order_of_the_paper(tmp_path):
    found = reproduce("made", tmp_path, parts=["two", "one"], quick=True, n_jobs=1)
    assert found.lines() == ["x is 1", "", "x is 2"]
    only = reproduce("made", tmp_path, parts=["two"], n_jobs=1)
    assert only.lines() == ["x is 20"]
    with pytest.raises(ValueError, match="did you mean 'one'"):
        reproduce("made", tmp_path, parts=["onne"])


def test_what_is_saved_is_read_back_and_written_the_same(tmp_path):
    found = reproduce("made", tmp_path, quick=True, n_jobs=1)
    found.save(tmp_path / "r.jsonl.gz")
    again = Reproduction.load("made", tmp_path / "r.jsonl.gz")
    assert again == found
    again.save(tmp_path / "s.jsonl.gz")
    assert (tmp_path / "r.jsonl.gz").read_bytes() == (tmp_path / "s.jsonl.gz").read_bytes()


def test_a_file_that_is_cut_off_or_another_papers_is_refused(tmp_path):
    reproduce("made", tmp_path, quick=True, n_jobs=1).save(tmp_path / "r.jsonl.gz")
    lines = gzip.decompress((tmp_path / "r.jsonl.gz").read_bytes()).splitlines(keepends=True)
    for name, content in (("short", lines[:-1]), ("broken", [lines[0], b"{\n"]), ("headless", lines[1:])):
        (tmp_path / name).write_bytes(gzip.compress(b"".join(content)))
        with pytest.raises(DataError, match="no file of a paper's records"):
            Reproduction.load("made", tmp_path / name)
    (tmp_path / "plain").write_bytes(b"".join(lines))
    with pytest.raises(DataError, match="no file of a paper's records"):
        Reproduction.load("made", tmp_path / "plain")
    with pytest.raises(DataError, match="a part 'one', which swapped-pairs has not"):
        Reproduction.load("swapped-pairs", tmp_path / "r.jsonl.gz")


def test_a_page_keeps_what_a_person_wrote_and_parts_not_run_now(tmp_path):
    page = tmp_path / "made.md"
    page.write_text(f"# Made\n\nfindings\n\n{BEGIN}\nold\n{END}\n\n## Why\n\nbecause\n")
    write_page(page, reproduce("made", tmp_path, quick=True, n_jobs=1))
    write_page(page, reproduce("made", tmp_path, parts=["one"], n_jobs=1))
    text = page.read_text()
    assert text.startswith(f"# Made\n\nfindings\n\n{BEGIN}\n\n| part |")
    assert text.endswith(f"\n\n{END}\n\n## Why\n\nbecause\n")
    assert "## Table 1: what it is\n\nx is 10\n\n## Table 2: what it is\n\nx is 2\n" in text
    assert "old" not in text
    assert "[Table 1: what it is](#table-1-what-it-is) | `made --part one` |" in text
    assert (tmp_path / "made.png").read_text() == "2"
    assert page_with(text, made_lines(Reproduction.load("made", records_beside(page)))) == text


def test_a_page_without_an_end_mark_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not the one where they end"):
        page_with(f"a\n{BEGIN}\nb\n", ["c"])
    assert page_with("a\n", ["c"]) == f"a\n\n{BEGIN}\n\nc\n\n{END}\n"


def test_the_command_writes_lists_and_makes_tables_without_data(tmp_path, capsys, monkeypatch):
    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["reproduce", "made", *arguments])
        told = capsys.readouterr()
        return ended.value.code, told.out + told.err

    monkeypatch.delenv("WELLORDER_DATA", raising=False)
    page = tmp_path / "page.md"
    assert run("--data", str(tmp_path), "--quick", "--jobs", "1", "--write", str(page)) == (
        0,
        f"x is 1\n\nx is 2\npage: {page}\n",
    )
    code, told = run("--parts")
    assert code == 0
    assert "Table 2: what it is" in told
    records = str(tmp_path / "records" / "page.jsonl.gz")
    assert run("--from", records) == (0, "x is 1\n\nx is 2\n")
    assert run("--from", records, "--part", "two") == (0, "x is 2\n")
    code, told = run("--from", records, "--part", "one", "--picture", str(tmp_path / "p.png"))
    assert code == 2
    assert "drawn of the parts two" in told
    code, told = run("--part", "three")
    assert code == 2
    assert "no such part" in told


def test_every_paper_has_its_parts():
    for paper in PAPERS.values():
        assert paper.parts
        assert set(paper.pictured) <= set(paper.parts)
        assert callable(paper.picture)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("records/*.jsonl.gz")), ids=lambda path: path.name)
def test_pages_are_what_their_records_make(path):
    page = RESULTS / path.name.replace(".jsonl.gz", ".md")
    text = page.read_text(encoding="utf-8")
    found = Reproduction.load(page.stem, path)
    assert set(found.parts) == set(PAPERS[page.stem].parts)
    assert page_with(text, made_lines(found)) == text
