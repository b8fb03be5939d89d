"""Table 1 of 'swapped pairs', on small made data: protocol, marks, records and what is printed."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.cli.main import main
from wellorder.data import DataError
from wellorder.evaluation import Record, read_records
from wellorder.papers import reproduce, swapped_pairs
from wellorder.papers.swapped_pairs import TableOne

FEW = ("SwapSVM", "RankSVM")


@pytest.fixture
def small(tmp_path, monkeypatch):
    """One made data set, two methods, and grids of one point."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.4f},{b:.4f},{a - b + 0.3 * rng.standard_normal():.4f}" for a, b in rng.standard_normal((50, 2))]
    header = ["@relation made", "@attribute a numeric", "@attribute b numeric", "@attribute y numeric", "@data"]
    (tmp_path / "made.arff").write_text("\n".join([*header, *rows]), encoding="utf-8")
    made = swapped_pairs.DataSet("made.arff", "y", 30, 20, ((20.0, 1.0, "††"), (18.0, 1.0, ""), (15.0, 2.0, "")))
    monkeypatch.setattr(swapped_pairs, "DATA_SETS", {"Made": made})
    monkeypatch.setattr(swapped_pairs, "METHODS", {name: swapped_pairs.METHODS[name] for name in FEW})
    monkeypatch.setattr(swapped_pairs, "_COSTS", (0.1,))
    return tmp_path


def run_table(folder, **options):
    found = reproduce(
        "swapped-pairs", folder, parts=["table-1"], quick=True, records=folder / "r.jsonl", n_jobs=1, **options
    )
    return TableOne(found.parts["table-1"].records)


def test_every_method_meets_the_same_hold_outs(small):
    seen = []
    found = run_table(small, progress=lambda *args: seen.append(args))
    assert seen[-1] == (6, 6, "Made")
    for method in FEW:
        values = found.values("Made", method)
        assert values.shape == (3,)
        assert (values > 0).all()
        assert (values < 40).all()
    sizes = {(record.n_train, record.n_test) for record in found.records}
    assert sizes == {(30, 20)}
    assert len(list(read_records(small / "r.jsonl"))) == 6


def test_records_are_gone_on_from(small):
    first, again = run_table(small), run_table(small)
    assert len(again.records) == len(first.records)
    assert len(list(read_records(small / "r.jsonl"))) == 6
    np.testing.assert_array_equal(first.values("Made", "SwapSVM"), again.values("Made", "SwapSVM"))


@pytest.fixture
def a_table(monkeypatch):
    """Makes a table whose values are given."""
    made = swapped_pairs.DataSet("", "y", 30, 20, ((20.0, 1.0, "††"), (18.0, 1.0, ""), (15.0, 2.0, "")))
    monkeypatch.setattr(swapped_pairs, "DATA_SETS", {"Made": made})

    def with_values(ours, swap):
        return TableOne(
            [
                Record("k", "Made", method, repeat, 0, 0, 30, 20, {"swapped_pairs": value / 100})
                for method, values in (("Herbrich5", ours), ("SwapSVM", swap), ("RankSVM", swap))
                for repeat, value in enumerate(values)
            ]
        )

    return with_values


def test_marks_follow_the_paired_test(a_table):
    assert a_table([18.0, 19.0, 17.5, 18.5], [15.0, 16.1, 14.4, 15.6]).mark("Made", "Herbrich5") == "††"
    assert a_table([15.5, 15.0, 16.0, 15.0], [15.0, 16.0, 14.4, 15.6]).mark("Made", "Herbrich5") == ""
    assert a_table([15.0] * 4, [15.0] * 4).mark("Made", "Herbrich5") == ""


def test_lines_say_where_we_stand(a_table):
    better = "\n".join(a_table([18.0, 19.0, 17.0, 18.0], [14.0, 14.5, 13.9, 14.0]).lines())
    assert "at or below the paper's SwapSVM on 1 of 1 sets." in better
    assert "**14.10 ± 0.27**" in better
    assert "**15.00 ± 2.00**" in better
    worse = "\n".join(a_table([18.0, 19.0, 17.0, 18.0], [24.0, 24.5, 23.9, 24.0]).lines())
    assert "0 of 1 sets; not on Made." in worse
    assert "SwapSVM on Made (+9.10)" in worse


def test_a_picture_is_drawn(a_table, tmp_path):
    a_table([18.0, 19.0], [14.0, 14.5]).picture(tmp_path / "table.png")
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG")


def test_missing_data_are_named(tmp_path):
    with pytest.raises(DataError, match="the data of Diabetes are not there"):
        reproduce("swapped-pairs", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["swaped-pairs"], "did you mean 'swapped-pairs'?"),
        (["swapped-pairs"], "WELLORDER_DATA"),
        (["swapped-pairs", "--data", "nowhere"], "no such folder"),
    ],
)
def test_the_command_names_what_is_wrong(arguments, message, capsys, monkeypatch):
    monkeypatch.delenv("WELLORDER_DATA", raising=False)
    with pytest.raises(SystemExit) as leaving:
        main(["reproduce", *arguments])
    assert leaving.value.code == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_the_table(small, capsys):
    with pytest.raises(SystemExit):
        main(["reproduce", "swapped-pairs", "--data", str(small), "--quick", "--jobs", "1"])
    assert "| Made | 30 / 20 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--picture", "table.docx"], "pictures end in"),
        (["--jobs", "0"], "a number of processes"),
    ],
)
def test_what_cannot_work_is_said_before_the_work(small, capsys, options, message):
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "swapped-pairs", "--data", str(small), *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
