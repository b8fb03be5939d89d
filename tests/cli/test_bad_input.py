"""Whatever is wrong: exit code 2, and one line that a person can act on."""

from __future__ import annotations

import gzip
import os
import sys
from pathlib import Path

import pytest

from ..data.files import pipe

BAD = {
    "a misspelt command": (["comapre", "wines.csv"], "did you mean 'compare'?"),
    "no such file": (["check", "nowhere.csv"], "nowhere.csv"),
    "a folder": (["check", "."], "folder"),
    "a misspelt column": (["fit", "wines.csv", "--target", "qualty", "-o", "m.wo"], "did you mean 'quality'?"),
    "a misspelt method": (
        ["fit", "wines.csv", "--target", "quality", "--model", "rank-smv", "-o", "m.wo"],
        "'rank-svm'",
    ),
    "a misspelt parameter": (
        ["fit", "wines.csv", "--target", "quality", "--drop", "name", "--set", "c=1", "-o", "m.wo"],
        "did you mean 'C'?",
    ),
    "a setting without a value": (
        ["fit", "wines.csv", "--target", "quality", "--set", "C", "-o", "m.wo"],
        "--set C=10",
    ),
    "a bad value": (
        ["fit", "wines.csv", "--target", "quality", "--drop", "name", "--set", "C=-1", "-o", "m.wo"],
        "C must be a positive number",
    ),
    "a column for two roles": (
        ["fit", "wines.csv", "--target", "quality", "--event", "quality", "-o", "m.wo"],
        "named twice, by --target and by --event",
    ),
    "an output without a name": (["fit", "wines.csv", "--target", "quality", "-o", ""], "name a file"),
    "no output": (["fit", "wines.csv", "--target", "quality"], "--output"),
    "an output folder that is not there": (
        ["fit", "wines.csv", "--target", "quality", "-o", "no/such/m.wo"],
        "no folder",
    ),
    "no target": (["fit", "wines.csv", "--drop", "name", "-o", "m.wo"], "--target"),
    "a column of names": (["fit", "wines.csv", "--target", "quality", "-o", "m.wo"], "--item"),
    "rows that are a group each": (
        ["fit", "wines.csv", "--target", "quality", "--group", "name", "-o", "m.wo"],
        "check that --group names lists",
    ),
    "an unknown metric": (
        ["compare", "wines.csv", "--target", "quality", "--item", "name", "--metric", "ndgc"],
        "no metric 'ndgc'",
    ),
    "an unknown method in compare": (
        ["compare", "wines.csv", "--target", "quality", "--item", "name", "--models", "svm"],
        "no method 'svm'",
    ),
    "a time budget of nothing": (
        ["compare", "wines.csv", "--target", "quality", "--time-budget", "0"],
        "--time-budget",
    ),
    "a misspelt format": (
        ["check", "wines.csv", "--target", "quality", "--format", "cvs"],
        "did you mean 'csv'?",
    ),
    "no model file": (["predict", "wines.csv", "wines.csv"], "wines.csv"),
    "a number for words": (["order", "wines.csv", "wines.csv", "--confidence", "high"], "--confidence"),
    "a seed below zero": (["fit", "wines.csv", "--target", "quality", "--seed", "-1", "-o", "m.wo"], "--seed"),
    "no methods": (["compare", "wines.csv", "--target", "quality", "--models", ","], "--models names no method"),
    "confidence that is none": (["order", "wines.csv", "wines.csv", "--confidence", "nan"], "--confidence"),
    "a model over its data": (["fit", "wines.csv", "--target", "quality", "-o", "wines.csv"], "would be overwritten"),
    "a report over its data": (
        ["compare", "wines.csv", "--target", "quality", "--report", "./wines.csv"],
        "overwritten",
    ),
    "items without comparisons": (
        ["fit", "wines.csv", "--target", "quality", "--items", "wines.csv", "-o", "m.wo"],
        "--items",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_exit_2(run, wines, case):
    arguments, expected = BAD[case]
    found = run(*arguments)
    assert found.code == 2
    assert expected in found.err
    lines = found.err.strip().splitlines()
    assert lines[-1].startswith("error: ")
    assert len(lines) == 1
    assert found.out == ""


FILES = {
    "a wrong field": (b"a,y\n1,2\n2,3\n5,4\nx7,5\n4,6\n3,1\n6,1\n7,2\n8,2\n9,3\n10,3\n11,5\n", ["line 5", "'x7'"]),
    "a ragged row": (b"a,b,y\n1,2,3\n1,2\n", ["line 3"]),
    "no header": (b"1,2,3\n4,5,6\n", ["column names"]),
    "nothing": (b"", ["empty"]),
    "a truncated gzip": (gzip.compress(b"a,y\n" + b"1,2\n3,4\n" * 500)[:-20], ["gzip"]),
    "bytes of no text": (b"a,y\n1,\xff\xfe\n", ["line 2"]),
    "a huge index": (b"1 qid:1 99999999999999:1\n", ["line 1", "99999999999999"]),
    "a wrong LETOR field": (b"1 qid:1 1:2\n0 qid:1 1:zwei\n", ["line 2", "1:zwei"]),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files_are_named_with_the_line(run, tmp_path, case):
    content, expected = FILES[case]
    (tmp_path / "bad.csv").write_bytes(content)
    found = run("check", "bad.csv", *([] if b"qid" in content else ["--target", "y"]))
    assert found.code == 2
    assert len(found.err.strip().splitlines()) == 1
    for text in ["bad.csv", *expected]:
        assert text in found.err


def test_a_file_that_holds_no_records_is_left_alone(run, wines, tmp_path):
    (tmp_path / "precious.json").write_text('{"my":"only copy"}', encoding="utf-8")
    command = ["compare", wines, "--target", "quality", "--item", "name", "--models", "ridge"]
    found = run(*command, "--records", "precious.json")
    assert found.code == 2
    assert "precious.json, line 1: this is no record of a fit" in found.err
    assert (tmp_path / "precious.json").read_text(encoding="utf-8") == '{"my":"only copy"}'


def test_good_files_with_a_bom_and_windows_line_ends_are_read(run, tmp_path):
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbfa,y\r\n1,2\r\n3,4\r\n")
    assert run("check", "bom.csv", "--target", "y").code == 0


def test_a_file_with_other_columns_than_the_model(run, wines, tmp_path):
    run("fit", wines, "--target", "quality", "--item", "name", "-o", "m.wo")
    (tmp_path / "other.csv").write_text("acid,sugr,colour\n1,2,red\n", encoding="utf-8")
    found = run("predict", "m.wo", "other.csv")
    assert found.code == 2
    assert "'sugar'" in found.err
    assert "sugr" in found.err


def test_a_model_saved_from_python_says_what_to_do(run, wines, tmp_path):
    import wellorder as wo

    wo.save(wo.RankSVM().fit([[0.0], [1.0]], [0, 1]), tmp_path / "bare.wo")
    found = run("predict", "bare.wo", wines)
    assert found.code == 2
    assert "wellorder fit" in found.err


def test_outputs_never_replace_the_model_or_its_data(run, wines, tmp_path):
    run("fit", wines, "--target", "quality", "--item", "name", "-o", "m.wo")
    before = {name: (tmp_path / name).read_bytes() for name in ("m.wo", "wines.csv")}
    for command in (["predict", "m.wo", "wines.csv", "-o"], ["order", "m.wo", "wines.csv", "-o"]):
        for name, content in before.items():
            assert run(*command, name).code == 2
            assert (tmp_path / name).read_bytes() == content


def test_too_little_data_to_hold_some_out_is_fitted_without_bands(run, tmp_path):
    (tmp_path / "three.csv").write_text("a,y\n1,2\n2,3\n4,5\n", encoding="utf-8")
    found = run("fit", "three.csv", "--target", "y", "-o", "m.wo")
    assert found.code == 0, found.err
    assert "too little data" in found.out
    assert "no bands" in run("order", "m.wo", "three.csv").out
    (tmp_path / "flat.csv").write_text("a,y\n1,3\n2,3\n4,3\n", encoding="utf-8")
    flat = run("fit", "flat.csv", "--target", "y", "-o", "m.wo")
    assert flat.code == 2
    assert "all grades are the same" in flat.err


def test_comparison_models_say_what_file_they_need(run, games):
    run("fit", games, "--items", "players.csv", "-o", "m.wo")
    assert "--items" in run("evaluate", "m.wo", games).err
    assert "file of items" in run("predict", "m.wo", games).err
    assert run("evaluate", "m.wo", games, "--items", "players.csv").code == 0


def test_repeats_that_did_not_fit_are_named(run, wines, monkeypatch):
    from wellorder.evaluation.budget import Budget

    monkeypatch.setattr(Budget, "allows", lambda *_: False)
    found = run("compare", wines, "--target", "quality", "--item", "name", "--models", "ridge", "--folds", "2")
    assert "1 of 2 rounds of splits" in found.out


MISSING = {
    "data, and an option that must be there": ["fit", "nosuch", "--target", "x"],
    "data, and a bad option before them": ["fit", "--seed", "-1", "nosuch"],
    "items": ["fit", "wines.csv", "--items", "nosuch"],
    "a model, and a bad option": ["predict", "nosuch", "wines.csv", "--format", "runes"],
    "data of a model that is none": ["predict", "wines.csv", "nosuch"],
    "a model, and an output that cannot be": ["order", "nosuch", "wines.csv", "-o", "no/folder.csv"],
    "a model, and data": ["evaluate", "nosuch"],
    "judgements": ["evaluate", "wines.csv", "--qrels", "nosuch"],
    "a model, and a name": ["explain", "nosuch", "wines.csv", "a"],
    "data, and a number": ["compare", "nosuch", "--folds", "1"],
    "records, and a folder": ["across", "wines.csv", "nosuch", "--report", "no/folder.html"],
}


@pytest.mark.parametrize("case", MISSING)
def test_a_missing_file_is_named_before_anything_else(run, wines, case):
    found = run(*MISSING[case])
    assert (found.code, found.out) == (2, "")
    assert found.err == "error: nosuch: there is no such file; check its name and folder\n"


ONE_FILE = {
    "the report and the records": (["compare", "wines.csv", "--report", "a.html", "--records", "./a.html"], "a.html"),
    "the report and the records, by a link": (
        ["compare", "wines.csv", "--report", "old.html", "--records", "link.html"],
        "old.html",
    ),
    "a hard link of the data": (["fit", "wines.csv", "--target", "quality", "-o", "hard.csv"], "wines.csv"),
    "a link to the data": (["compare", "wines.csv", "--report", "soft.csv"], "wines.csv"),
    "one of the files of a pattern": (["fit", "w*.csv", "--target", "quality", "-o", "hard.csv"], "wines.csv"),
    "the items": (["fit", "old.html", "--items", "wines.csv", "-o", "hard.csv"], "wines.csv"),
    "scores over the data": (["predict", "old.html", "wines.csv", "-o", "hard.csv"], "wines.csv"),
    "scores over the model": (["predict", "wines.csv", "old.html", "-o", "soft.csv"], "wines.csv"),
    "a list over the items": (["order", "old.html", "wines.csv", "-o", "hard.csv"], "wines.csv"),
    "a page over the records": (["across", "wines.csv", "old.html", "--report", "hard.csv"], "wines.csv"),
    "the picture and the records": (
        ["reproduce", "swapped-pairs", "--data", ".", "--records", "a.png", "--picture", "a.png"],
        "a.png",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="links are not for everybody elsewhere")
@pytest.mark.parametrize("case", ONE_FILE)
def test_no_file_is_written_over_another_by_whatever_name(run, wines, tmp_path, case):
    os.link(wines, tmp_path / "hard.csv")
    (tmp_path / "soft.csv").symlink_to("wines.csv")
    (tmp_path / "old.html").write_text("old")
    (tmp_path / "link.html").symlink_to("old.html")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    arguments, named = ONE_FILE[case]
    found = run(*arguments)
    assert (found.code, found.out) == (2, "")
    assert len(found.err.splitlines()) == 1
    assert named in found.err
    assert "would be overwritten" in found.err or "one would be lost" in found.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs /dev/null")
def test_what_keeps_nothing_may_be_named_twice(run, wines):
    options = ("--target", "quality", "--item", "name", "--models", "ridge", "--folds", "2", "--repeats", "1")
    found = run("compare", wines, *options, "--report", "/dev/null", "--records", "/dev/null")
    assert (found.code, found.err) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_told_with_the_file(run, wines, tmp_path):
    fit = ("fit", wines, "--target", "quality", "--item", "name", "--no-bands")
    run(*fit, "-o", "m.wo")
    assert run(*fit, "-o", "/dev/full").err == "error: /dev/full: No space left on device\n"
    found = run("predict", "m.wo", wines, "--format", "lines", "-o", "/dev/full")
    assert (found.code, found.out) == (2, "")
    assert found.err == "error: /dev/full: it cannot be written (No space left on device); check its folder\n"
    options = ("--target", "quality", "--item", "name", "--models", "ridge", "--folds", "2", "--repeats", "1")
    found = run("compare", wines, *options, "--report", "/dev/full", "--records", "kept.jsonl")
    assert (found.code, found.err) == (2, "error: /dev/full: No space left on device\n")


def test_a_bad_value_is_named_by_its_line_by_every_command_that_scores(run, wines, tmp_path):
    assert run("fit", wines, "--target", "quality", "--item", "name", "--no-bands", "-o", "m.wo").code == 0
    rows = ['"wine\na",1,0.5,red,3', "b,sour,1,red,4", "c,salt,2,white,5"]
    (tmp_path / "new.csv").write_text("\n".join(["name,acid,sugar,colour,quality", *rows]) + "\n", encoding="utf-8")
    for command in (("predict",), ("order",), ("evaluate",), ("explain", "b", "c")):
        found = run(command[0], "m.wo", "new.csv", *command[1:])
        assert found.code == 2
        assert found.err.startswith("error: new.csv, line 4: column 'acid' held numbers"), found.err
        assert found.err.count("\n") == 1


def test_text_outcomes_lead_to_comparisons(run, tmp_path):
    """Each message is followed to the letter, until there is a model of who won."""
    (tmp_path / "votes.csv").write_text("left,right,outcome\na,b,win\nb,c,loss\nc,a,draw\n", encoding="utf-8")
    for options in ((), ("--target", "outcome"), ("--target", "outcome", "--levels", "loss,draw,win")):
        found = run("fit", "votes.csv", *options, "--no-bands", "-o", "m.wo")
        assert found.code == 2
        assert "-1, > or left (left is better)" in found.err
        assert ("leave --target out" in found.err) == bool(options)
    (tmp_path / "votes.csv").write_text("left,right,outcome,by\na,b,left,x\nb,c,right,y\nc,a,tie,x\n", encoding="utf-8")
    found = run("fit", "votes.csv", "--no-bands", "-o", "m.wo")
    assert found.code == 0
    assert found.err.startswith("warning: votes.csv: the column 'by' is not used")
    assert run("fit", "votes.csv", "--no-bands", "--drop", "by", "-o", "m.wo").err == ""
    assert run("predict", "m.wo", "votes.csv").out.splitlines()[1].startswith("a,b,left,")


def test_a_pipe_is_scored_whole(run, letor, tmp_path):
    assert run("fit", letor, "--no-bands", "-o", "m.wo").code == 0
    content = letor.read_bytes() * 12  # more than is looked at to recognise the format
    (tmp_path / "long.letor").write_bytes(content)
    expected = run("predict", "m.wo", "long.letor")
    with pipe(content) as path:
        found = run("predict", "m.wo", path)
    assert (found.code, found.out) == (0, expected.out)
    assert found.out.count("\n") == 1 + 12 * 240


def test_an_option_that_needs_what_is_not_installed(run, wines, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "wellorder.spaces.torch", raising=False)
    found = run("fit", wines, "--target", "quality", "--item", "name", "--set", "device=cuda", "-o", "m.wo")
    assert (found.code, found.out) == (2, "")
    assert "device= needs PyTorch" in found.err
    assert len(found.err.splitlines()) == 1


def test_single_rows_as_lists_are_explained_by_the_name_of_the_option(run):
    Path("a.csv").write_text("query,ph,quality\n" + "".join(f"{row},{row % 7},{row % 3}\n" for row in range(30)))
    outcome = run("fit", "a.csv", "--target", "quality", "--group", "query", "-o", "m.wo")
    assert outcome.code == 2
    assert "check that --group names lists, not single rows" in outcome.err
