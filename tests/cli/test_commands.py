"""Every command, from a file to what a person sees; the numbers are those of the Python API."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
import subprocess
import sys

import click
import numpy as np
import pytest

import wellorder as wo
from tests.report import boards
from wellorder.cli.leaderboard import print_leaderboard
from wellorder.cli.main import Commands
from wellorder.data import load_table_model

COMMANDS = Commands().list_commands(click.Context(Commands("wellorder")))


def test_help_names_every_command_and_gives_examples(run):
    found = run("--help")
    assert found.code == 0
    for name in COMMANDS:
        said = re.search(rf"^  {name} +(.*)$", found.out, re.MULTILINE)
        assert said[1].endswith("."), "what it does is said whole"
        assert not said[1].endswith("...")
    assert "Examples:" in found.out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_with_an_example(run, name):
    found = run(name, "--help")
    assert found.code == 0
    assert f"wellorder {name}" in found.out.split("Example", 1)[1]


def test_help_loads_none_of_the_heavy_libraries():
    heavy = ("numpy", "scipy", "sklearn", "numba", "polars", "matplotlib", "rich", "jinja2")
    code = (
        "import sys\nfrom wellorder.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_check_says_what_is_in_a_file(run, wines):
    found = run("check", wines, "--target", "quality", "--item", "name")
    assert found.code == 0
    for text in ("120", "3 (2 numeric, 1 nominal)", "sugar (1)"):
        assert text in found.out
    assert "rows to tell apart two methods that differ by one point of swapped pairs; the 120 here" in found.out
    printed = json.loads(run("check", wines, "--target", "quality", "--item", "name", "--json").out)
    assert printed["telling"]["n_units"] == 120
    facts = dict(printed["facts"])
    grades = wo.read(wines, target="quality", item="name").grades()
    assert facts["pairs of different grades"] == f"{grades.describe().n_pairs:,}"


def test_check_exits_with_1_where_there_is_nothing_to_learn(run, tmp_path):
    (tmp_path / "flat.csv").write_text("a,y\n1,3\n2,3\n4,3\n", encoding="utf-8")
    found = run("check", "flat.csv", "--target", "y")
    assert found.code == 1
    assert "PROBLEM: there is no pair" in found.out


def test_fit_says_what_was_fitted(run, wines):
    command = ["fit", wines, "--target", "quality", "--item", "name", "--no-bands", "-o", "wines.wo"]
    as_it_comes = run(*command).out.splitlines()[0]
    assert as_it_comes == f"rank-svm (linear, squared hinge over every pair) on {wines}"
    changed = run(*command, "--set", "kernel=rbf", "--set", "loss=hinge").out
    assert changed.splitlines()[0] == f"rank-svm with kernel=rbf, loss=hinge on {wines}"
    assert "linear" not in changed
    assert "squared" not in changed
    searched = run(*command, "--search").out.splitlines()[0]
    assert searched.startswith("rank-svm (linear, squared hinge over every pair) with C=")


def test_fit_predict_and_evaluate_equal_the_python_api(run, wines):
    fitted = run("fit", wines, "--target", "quality", "--item", "name", "--set", "C=10", "-o", "wines.wo")
    assert fitted.code == 0, fitted.err
    assert "saved wines.wo" in fitted.out

    table = wo.read(wines, target="quality", item="name")
    encoder = wo.data.TableEncoder().fit(table)
    ranker = wo.RankSVM(C=10).fit(encoder.transform(table), table.y)
    scores = ranker.decision_function(encoder.transform(table))

    rows = list(csv.DictReader(io.StringIO(run("predict", "wines.wo", wines).out)))
    assert [row["name"] for row in rows] == table.ids.tolist()
    np.testing.assert_allclose([float(row["score"]) for row in rows], scores, rtol=1e-12)
    lines = run("predict", "wines.wo", wines, "--format", "lines").out.split()
    np.testing.assert_allclose(np.array(lines, dtype=float), scores, rtol=1e-12)

    judged = json.loads(
        run("evaluate", "wines.wo", wines, "--metric", "swapped_pairs", "--metric", "tau", "--json").out
    )
    assert judged["swapped_pairs"] == pytest.approx(wo.metrics.swapped_pairs(table.y, scores))
    assert judged["kendall_tau"] == pytest.approx(wo.metrics.kendall_tau(table.y, scores))
    assert f"{judged['swapped_pairs']:.6f}" in run("evaluate", "wines.wo", wines).out


def test_a_new_file_needs_the_features_only_in_any_order(run, wines, tmp_path):
    run("fit", wines, "--target", "quality", "--item", "name", "-o", "wines.wo")
    (tmp_path / "new.csv").write_text("colour,price,sugar,acid\nred,9,0.1,1.5\nwhite,7,0.2,-1.5\n", encoding="utf-8")
    found = run("predict", "wines.wo", "new.csv")
    assert found.code == 0, found.err
    rows = list(csv.DictReader(io.StringIO(found.out)))
    assert float(rows[0]["score"]) > float(rows[1]["score"])
    assert [row["rank"] for row in rows] == ["1", "2"]


def test_order_prints_bands(run, wines):
    run("fit", wines, "--target", "quality", "--item", "name", "-o", "wines.wo")
    listed = json.loads(run("order", "wines.wo", wines, "--json").out)
    scores = [row["score"] for row in listed]
    assert scores == sorted(scores, reverse=True)
    bands = [row["band"] for row in listed]
    assert bands == sorted(bands)
    assert 1 < bands[-1] < len(bands)
    looser = json.loads(run("order", "wines.wo", wines, "--json", "--confidence", "0.5").out)
    assert looser[-1]["band"] >= bands[-1]
    top = run("order", "wines.wo", wines, "--top", "3")
    assert top.out.count("wine ") == 3
    assert "items of one band" in top.out


def test_no_bands_where_none_were_measured(run, wines):
    run("fit", wines, "--target", "quality", "--item", "name", "--no-bands", "-o", "wines.wo")
    assert "no bands" in run("order", "wines.wo", wines, "--top", "3").out


def test_text_levels_are_kept_in_the_model(run, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(60)
    words = np.array(["poor", "fair", "good"])[np.digitize(x + 0.3 * rng.standard_normal(60), [-0.5, 0.5])]
    rows = "\n".join(f"{a:.4f},{word}" for a, word in zip(x, words, strict=True))
    (tmp_path / "answers.csv").write_text(f"x,verdict\n{rows}\n", encoding="utf-8")
    unordered = run("fit", "answers.csv", "--target", "verdict", "-o", "m.wo")
    assert unordered.code == 2
    assert "--levels poor,fair,good" in unordered.err
    fitted = run("fit", "answers.csv", "--target", "verdict", "--levels", "poor,fair,good", "-o", "m.wo")
    assert fitted.code == 0, fitted.err
    judged = json.loads(run("evaluate", "m.wo", "answers.csv", "--json").out)
    grades = wo.Grades(words, levels=["poor", "fair", "good"])
    assert judged["swapped_pairs"] == pytest.approx(wo.metrics.swapped_pairs(grades, x))


def test_letor_files_go_through_with_their_queries(run, letor):
    assert run("fit", letor, "-o", "m.wo").code == 0
    table = wo.read(letor)
    scores = wo.load("m.wo").decision_function(table)
    judged = json.loads(run("evaluate", "m.wo", letor, "--metric", "ndcg@10", "--json").out)
    assert judged["ndcg@10"] == pytest.approx(wo.metrics.ndcg(table.y, scores, table.groups, k=10))
    trec = run("predict", "m.wo", letor, "--format", "trec", "-o", "run.txt")
    assert trec.code == 2  # 'doc 0-0' has a blank, which a run cannot hold
    assert "blank" in trec.err
    ordered = run("order", "m.wo", letor, "--top", "1")
    assert ordered.out.count("doc ") == 30


def test_comparisons_with_and_without_features(run, games):
    assert run("check", games).code == 0
    for options in ((), ("--items", "players.csv")):
        fitted = run("fit", games, *options, "-o", "m.wo")
        assert fitted.code == 0, fitted.err
        judged = json.loads(run("evaluate", "m.wo", games, *options, "--json").out)
        assert judged["swapped_pairs"] < 0.25
        ordered = json.loads(run("order", "m.wo", "players.csv", "--json").out)
        assert {row["item"] for row in ordered} == {f"p{i}" for i in range(12)}
        assert ordered[0]["item"] in ("p10", "p11", "p9")


def test_search_chooses_parameters(run, wines):
    found = json.loads(
        run("fit", wines, "--target", "quality", "--drop", "name", "--search", "-o", "m.wo", "--json").out
    )
    assert found["params"]["C"] in (0.01, 0.1, 1.0, 10.0)
    kept = json.loads(
        run(
            "fit", wines, "--target", "quality", "--drop", "name", "--search", "--set", "C=3", "-o", "m.wo", "--json"
        ).out
    )
    assert kept["params"] == {"C": 3}


def test_compare_prints_a_leaderboard_and_writes_a_report(run, wines, tmp_path):
    command = ["compare", wines, "--target", "quality", "--item", "name", "--models", "rank-svm,ridge,best-feature"]
    found = run(*command, "--folds", "3", "--report", "report.html")
    assert found.code == 0, found.err
    for name in ("rank-svm", "ridge", "best-feature"):
        assert name in found.out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "rank-svm" in page
    records = (tmp_path / "report.records.jsonl").read_text(encoding="utf-8")
    assert records.count("\n") == 3 * 3 * 2
    again = run(*command, "--folds", "3", "--report", "report.html")
    assert again.out == found.out  # from the records, times included
    assert (tmp_path / "report.records.jsonl").read_text(encoding="utf-8") == records


def test_compare_as_json(run, wines):
    found = run(
        "compare", wines, "--target", "quality", "--drop", "name", "--models", "ridge", "--folds", "2", "--json"
    )
    board = json.loads(found.out)
    assert board["standings"][0]["method"] == "ridge"
    assert board["is_complete"] is True


def test_demo_writes_data_and_a_report(run, tmp_path):
    found = run("demo", "--time-budget", "3")
    assert found.code == 0, found.err
    assert "best-feature" in found.out
    assert "wellorder fit" in found.out
    assert (tmp_path / "wellorder-demo" / "report.html").stat().st_size > 20_000
    assert len(wo.read(tmp_path / "wellorder-demo" / "diabetes.csv", target="progression")) == 442


@pytest.mark.parametrize(
    ("time_was_up", "records", "expected"),
    [
        (True, None, "a larger --time-budget does the rest"),
        (True, "r.jsonl", "a larger --time-budget does the rest, and goes on from r.jsonl"),
        (False, None, "with --report or --records it could go on from there"),
        (False, "r.jsonl", "the same command goes on from r.jsonl"),
    ],
)
def test_a_run_that_was_stopped_says_how_to_go_on(capsys, time_was_up, records, expected):
    board = dataclasses.replace(boards.made(), is_complete=False, time_was_up=time_was_up)
    print_leaderboard(board, records)
    assert capsys.readouterr().out.splitlines()[-1].endswith(expected)
    print_leaderboard(boards.made(), records)
    assert "go on" not in capsys.readouterr().out


def test_shares_are_in_percent_whatever_they_are_of(capsys):
    print_leaderboard(boards.comparisons())
    board = boards.comparisons()
    assert board.protocol.metric == "comparison_error"
    assert f"{100 * board.leader.mean:.1f} %" in capsys.readouterr().out


def test_two_splits_are_enough_where_their_rows_are_heard(run, wines):
    found = run(
        "compare",
        wines,
        "--target",
        "quality",
        "--item",
        "name",
        "--models",
        "ridge,best-feature",
        "--folds",
        "2",
        "--repeats",
        "1",
    )
    assert "too few splits to test" not in found.out
    assert "p = " in found.out or "p < " in found.out


def with_huge_weights(path):
    """Change a model so that scores of large values are ∞ − ∞."""
    model = load_table_model(path)
    model.ranker_.coef_ = np.full_like(model.ranker_.coef_, 1e300)
    model.ranker_.coef_[1::2] *= -1
    wo.save(model, path)


@pytest.mark.filterwarnings("ignore:overflow|invalid")
def test_what_is_no_number_is_not_ranked(run, wines, tmp_path):
    run("fit", wines, "--target", "quality", "--item", "name", "-o", "m.wo")
    with_huge_weights(tmp_path / "m.wo")
    (tmp_path / "large.csv").write_text("name,acid,sugar,colour\na,0,0,red\nb,1e20,1e20,red\n")
    with np.errstate(all="ignore"):
        for command in (
            ("predict", "m.wo", "large.csv"),
            ("predict", "m.wo", "large.csv", "--format", "lines"),
            ("predict", "m.wo", "large.csv", "--json"),
            ("order", "m.wo", "large.csv"),
            ("order", "m.wo", "large.csv", "-o", "list.csv"),
        ):
            found = run(*command)
            assert (found.code, found.out) == (2, ""), command
            assert (
                found.err == "error: large.csv, line 3: its score is NaN: its numbers are far too large to order by\n"
            )
        assert run("explain", "m.wo", "large.csv", "a", "b").code == 2
    assert not (tmp_path / "list.csv").exists()


def test_pairs_of_infinite_scores_are_not_called_ties(run, games, tmp_path):
    run("fit", games, "--items", "players.csv", "--model", "rank-svm", "--no-bands", "-o", "m.wo")
    model = load_table_model(tmp_path / "m.wo")
    model.ranker_.coef_ = np.array([1e300, 0.0])
    wo.save(model, tmp_path / "m.wo")
    (tmp_path / "giants.csv").write_text("name,strength,noise\na,1e20,0\nb,1e20,0\n")
    (tmp_path / "pairs.csv").write_text("left,right\na,b\n")
    with np.errstate(all="ignore"):
        found = run("predict", "m.wo", "pairs.csv", "--items", "giants.csv")
    assert (found.code, found.out) == (2, "")
    assert "comparison 0 (from 0) both have infinite scores" in found.err
