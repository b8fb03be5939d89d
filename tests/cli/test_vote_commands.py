"""Votes as people have them, through every command: recognised, or named by options; what was understood is said."""

from __future__ import annotations

import csv
import io
import json
import sys
from contextlib import nullcontext

import numpy as np
import pytest


@pytest.fixture
def votes(tmp_path):
    """The same 120 votes with the columns of each way to write them, in the folder where commands run."""
    rng = np.random.default_rng(3)
    names, files = np.array(["ada", "bob", "eve", "flo"]), {}
    pairs = [rng.choice(4, 2, replace=False) for _ in range(120)]
    outcome = [int(np.sign(np.round(right - left + rng.normal()))) for left, right in pairs]
    sides = [(names[left], names[right]) for left, right in pairs]
    files["arena.csv"] = ["model_a,model_b,winner,judge,length_a"]
    files["named.csv"] = ["this,that,verdict"]
    files["matches.csv"] = ["HomeTeam,AwayTeam,FTHG,FTAG"]
    files["won.csv"] = ["winner,loser"]
    files["arena.jsonl"] = []
    for (left, right), sign in zip(sides, outcome, strict=True):
        word = {-1: "model_a", 0: "tie (bothbad)", 1: "model_b"}[sign]
        files["arena.csv"].append(f"{left},{right},{word},x,7")
        files["arena.jsonl"].append(json.dumps({"model_a": left, "model_b": right, "winner": word}))
        files["named.csv"].append(f"{left},{right},{ {-1: left, 0: 'draw', 1: right}[sign] }")
        files["matches.csv"].append(f"{left},{right},{1 - min(sign, 0)},{1 + max(sign, 0)}")
        if sign:
            files["won.csv"].append(f"{right},{left}" if sign > 0 else f"{left},{right}")
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


NAMED = ("--left", "this", "--right", "that", "--outcome", "verdict")
WAYS = [
    (("arena.csv", "--drop", "judge,length_a"), ("arena.csv",)),
    (("arena.jsonl",), ("arena.jsonl",)),
    (("named.csv", *NAMED), ("named.csv", *NAMED)),
    (("matches.csv",), ("matches.csv",)),
    (
        ("matches.csv", "--left", "HomeTeam", "--right", "AwayTeam", "--scores", "FTHG,FTAG"),
        ("matches.csv", "--left", "HomeTeam", "--right", "AwayTeam"),
    ),
]


def fitted(run, learned, asked):
    """Fit, predict, evaluate and order; return what came of it, but for how outcomes are written."""
    found = run("fit", *learned, "--model", "davidson", "--no-bands", "-o", "m.wo")
    assert (found.code, found.err) == (0, "")
    told = run("predict", "m.wo", *asked)
    assert (told.code, told.err) == (0, "")
    predicted = list(csv.DictReader(io.StringIO(told.out)))
    judged = run("evaluate", "m.wo", *learned[:1], *asked[1:], "--metric", "comparison_log_loss", "--json")
    assert judged.code == 0, judged.err
    ordered = run("order", "m.wo", *asked, "--json")
    assert ordered.code == 0, ordered.err
    pairs = [(row["left"], row["right"], float(row["p_tie"]), float(row["difference"])) for row in predicted]
    return pairs, json.loads(judged.out), json.loads(ordered.out), {row["predicted"] for row in predicted}


def test_the_same_votes_in_every_way(run, votes):
    expected = fitted(run, *WAYS[0])
    assert expected[3] == {"model_a", "tie", "model_b"}
    for way in WAYS[1:]:
        found, tie = fitted(run, *way), "draw" if way[0][0] == "named.csv" else "tie"
        assert found[:3] == expected[:3], way
        assert found[3] == (expected[3] if way[0][0] == "arena.jsonl" else {"left", tie, "right"}), way


def test_winners_beside_losers(run, votes):
    pairs, _, ordered, _ = fitted(run, ("won.csv",), ("won.csv",))
    assert len(pairs) == len(votes["won.csv"]) - 1
    assert [row["item"] for row in ordered][:2] == ["flo", "eve"]
    assert "more than chance explains" not in run("check", "won.csv").out
    assert run("fit", "won.csv", "--winner", "winner", "--loser", "loser", "--no-bands", "-o", "m.wo").code == 0
    found = run("fit", "won.csv", "--model", "davidson", "--set", "first_move=true", "--no-bands", "-o", "m.wo")
    assert found.code == 2
    assert "the winner always stands there" in found.err


def test_check_says_what_was_understood(run, votes):
    found = run("check", "arena.csv")
    first = found.out.splitlines()[0]
    assert first.startswith(
        "arena.csv: 120 comparisons of 4 items: model_a against model_b, outcome in winner (model_a "
    )
    assert first.endswith("'both bad'); other columns: judge, length_a")
    assert json.loads(run("check", "arena.csv", "--json").out)["understood"] == first
    assert found.err == ""


def test_at_a_terminal_commands_say_it_in_one_line_and_warn_of_nothing(run, votes, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("wellorder.cli.commands.fit.progress_bar", nullcontext)
    found = run("fit", "arena.csv", "--no-bands", "-o", "m.wo")
    assert found.err.count("\n") == 1
    assert found.err.endswith("'both bad'); not used: judge, length_a\n")
    assert run("predict", "m.wo", "arena.csv").err == "arena.csv: 120 pairs of 4 items: model_a against model_b\n"
    assert "outcome in winner" in run("evaluate", "m.wo", "arena.csv").err


def test_compare_and_fit_name_what_is_not_used(run, votes):
    options = ("--models", "davidson,elo", "--folds", "2", "--repeats", "1", "--jobs", "1")
    found = run("compare", "arena.csv", *options)
    assert found.code == 0
    assert found.err.startswith("warning: arena.csv: the columns 'judge', 'length_a' are not used")
    assert run("compare", "arena.csv", "--drop", "judge,length_a", *options).err == ""
    assert "not used" in run("fit", "arena.csv", "--no-bands", "-o", "m.wo").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "named.csv", "--left", "this"), "--left names one of the two compared; give --left and --right"),
        (("check", "named.csv", "--outcome", "verdict"), "with --left and --right"),
        (("check", "named.csv", *NAMED[:4], "--scores", "verdict"), "--scores verdict should name two columns"),
        (("check", "arena.csv", "--target", "winner"), "leave --target out: the file is then read as comparisons"),
        (("check", "arena.csv", "--outcome", "winer"), "there is no column 'winer' (from --outcome); did you mean"),
        (("fit", "x.parquet", "--engine", "dask", "--winner", "w", "-o", "m.wo"), "--winner reads all rows"),
        (("evaluate", "named.csv", "--qrels", "named.csv", "--left", "a"), "--left goes with comparisons"),
    ],
)
def test_options_that_do_not_fit(run, votes, tmp_path, arguments, said):
    (tmp_path / "x.parquet").write_bytes(b"")
    found = run(*arguments)
    assert found.code == 2
    assert said in found.err
    assert found.err.count("\n") == 1
