"""``wellorder rate``: what a person sees, what files it writes, and what it refuses."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest


@pytest.fixture
def votes(tmp_path):
    """600 votes on four models with a left side worth .4, and a length worth .8, in the folder where commands run."""
    rng = np.random.default_rng(1)
    names, quality = np.array(["ada", "bob", "eve", "flo"]), np.array([1.0, 0.4, -0.2, -1.2])
    left = rng.integers(0, 4, 600)
    right = (left + rng.integers(1, 4, 600)) % 4
    length = rng.normal(size=(2, 600)).round(3)
    d = quality[right] - quality[left] - 0.4 + 0.8 * (length[1] - length[0])
    chance = np.column_stack([np.exp(-d / 2), np.full(600, 0.5), np.exp(d / 2)])
    drawn = (rng.uniform(size=(600, 1)) * chance.sum(axis=1, keepdims=True) > chance.cumsum(axis=1)).sum(axis=1)
    words = np.array(["model_a", "tie", "model_b"])[drawn]
    lines = ["model_a,model_b,winner,length_a,length_b,judge,day"]
    for vote in range(600):
        ends = f"{names[left[vote]]},{names[right[vote]]},{words[vote]},{length[0, vote]},{length[1, vote]}"
        lines.append(f"{ends},j{vote % 40},2024-{1 + vote // 60:02d}-{1 + vote % 28:02d}")
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def failing(run, *arguments):
    told = run(*arguments)
    assert told.code == 2
    return told.err.replace("\n", " ")


def test_standings_effects_and_files(votes, run):
    told = run(
        "rate", "votes.csv", "--side", "--control", "length", "--cluster", "judge", "-o", "t.csv", "--save", "s.wo"
    )
    assert (told.code, told.err) == (0, "")
    assert [line.split()[1] for line in told.out.splitlines()[2:6]] == ["ada", "bob", "eve", "flo"]
    assert "side" in told.out
    assert "length" in told.out
    rows = list(csv.DictReader(io.StringIO((votes / "t.csv").read_text(encoding="utf-8"))))
    assert [row["item"] for row in rows] == ["ada", "bob", "eve", "flo"]
    assert rows[0].keys() >= {
        "rating",
        "low",
        "high",
        "rank",
        "rank_low",
        "rank_high",
        "votes",
        "wins",
        "ties",
        "island",
    }
    found = json.loads(run("rate", "votes.csv", "--side", "--control", "length", "--json").out)
    effects = {row["effect"]: row for row in found["effects"]}
    assert effects["side"]["low"] < -0.4 < effects["side"]["high"]
    assert effects["length"]["low"] < 0.8 < effects["length"]["high"]


def test_saved_standings_predict_votes_with_the_effects(votes, run):
    assert run("rate", "votes.csv", "--side", "--control", "length", "--save", "s.wo").code == 0
    (votes / "next.csv").write_text("model_a,model_b,length_a,length_b\nada,bob,0,0\nada,bob,0,3\n", encoding="utf-8")
    told = run("predict", "s.wo", "next.csv")
    assert (told.code, told.err) == (0, "")
    even, longer = list(csv.DictReader(io.StringIO(told.out)))
    assert float(even["p_left"]) > 0.6  # better, and on the side that people lean to
    assert float(longer["p_right"]) > float(even["p_right"]) + 0.3
    (votes / "bare.csv").write_text("left,right\nada,bob\n", encoding="utf-8")
    bare = run("predict", "s.wo", "bare.csv")
    assert "no column of the control 'length': it is taken to be the same for both" in bare.err
    assert next(csv.DictReader(io.StringIO(bare.out)))["p_left"] == even["p_left"]
    (votes / "stranger.csv").write_text("left,right\nada,bo\n", encoding="utf-8")
    assert "there is no item 'bo'; did you mean 'bob'?" in failing(run, "predict", "s.wo", "stranger.csv")


def test_saved_standings_are_put_in_order_as_they_were_printed(votes, run):
    printed = run("rate", "votes.csv", "--side", "--save", "s.wo").out.replace("saved: s.wo\n", "")
    assert run("order", "s.wo").out == printed
    as_json = json.loads(run("rate", "votes.csv", "--side", "--json").out)
    understood = as_json.pop("understood")
    assert understood.startswith("votes.csv: ")
    assert json.loads(run("order", "s.wo", "--json").out) == as_json
    assert [row["rank"] for row in json.loads(run("order", "s.wo", "--json", "--top", "1").out)["standings"]] == [1]
    assert run("order", "s.wo", "--top", "2", "-o", "top.csv").code == 0
    assert len((votes / "top.csv").read_text(encoding="utf-8").splitlines()) == 3
    assert run("order", "s.wo", "--report", "s.html").code == 0
    assert "What to ask next" in (votes / "s.html").read_text(encoding="utf-8")
    assert "leave ITEMS out" in failing(run, "order", "s.wo", "votes.csv")
    assert "leave --confidence out" in failing(run, "order", "s.wo", "--confidence", "0.9")


def test_a_page_is_written(votes, run):
    assert run("rate", "votes.csv", "--judge", "judge", "--report", "s.html").code == 0
    page = (votes / "s.html").read_text(encoding="utf-8")
    assert "ada" in page
    assert "https://" not in page


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--control", "lenght"], "there is no column 'lenght'; did you mean"),
        (["--control", "judge"], "votes.csv, line 2: the control 'judge': the column 'judge' has the text 'j0'"),
        (["--neutral", "judge"], "give --side"),
        (["--half-life", "30d"], "name the column with --time"),
        (
            ["--time", "day", "--half-life", "soon"],
            "give a positive number, of days where times are dates, or one such as '365d'",
        ),
        (["--features"], "read it with --items"),
        (["--winner", "model_a", "--loser", "model_b", "--drop", "winner", "--side"], "not who stood where"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(votes, run, options, says):
    assert says in failing(run, "rate", "votes.csv", *options)


def test_a_half_life_in_days_needs_dates(votes, run):
    told = json.loads(run("rate", "votes.csv", "--time", "day", "--half-life", "60d", "--json").out)
    assert len(told["standings"]) == 4
    text = (votes / "votes.csv").read_text(encoding="utf-8").replace("2024-", "").replace("-", "")
    (votes / "days.csv").write_text(text, encoding="utf-8")
    assert "the times are numbers, no dates" in failing(run, "rate", "days.csv", "--time", "day", "--half-life", "60d")


def test_files_without_votes_are_refused(tmp_path, run):
    (tmp_path / "wines.csv").write_text("ph,quality\n3.1,5\n3.2,6\n", encoding="utf-8")
    assert "it holds no votes on two things that are recognised" in failing(run, "rate", "wines.csv")


def test_saved_standings_are_judged_on_other_votes(votes, run):
    lines = (votes / "votes.csv").read_text(encoding="utf-8").splitlines()
    (votes / "early.csv").write_text("\n".join(lines[:401]) + "\n", encoding="utf-8")
    (votes / "late.csv").write_text("\n".join([lines[0], *lines[401:]]) + "\n", encoding="utf-8")
    for name, options in (("plain.wo", []), ("whole.wo", ["--side", "--control", "length"])):
        assert run("rate", "early.csv", *options, "--save", name).code == 0
    found = {}
    for name in ("plain.wo", "whole.wo"):
        told = run("evaluate", name, "late.csv", "--json")
        found[name] = {row["metric"]: row for row in json.loads(told.out)}
    assert set(found["whole.wo"]) == {"comparison_log_loss", "comparison_rps", "swapped_pairs"}
    for metric, row in found["whole.wo"].items():  # effects are part of what is predicted
        assert row["low"] < row["value"] < row["high"] < found["plain.wo"][metric]["value"]
    # the value is that of the chances that predict gives
    chances = list(csv.DictReader(io.StringIO(run("predict", "whole.wo", "late.csv").out)))
    column = {"model_a": "p_left", "tie": "p_tie", "model_b": "p_right"}
    came = [float(row[column[line.split(",")[2]]]) for row, line in zip(chances, lines[401:], strict=True)]
    loss = found["whole.wo"]["comparison_log_loss"]
    assert loss["value"] == pytest.approx(-np.mean(np.log(came)))
    assert loss["high"] - loss["value"] == pytest.approx(1.96 * np.std(np.log(came)) / np.sqrt(200), rel=1e-3)
    told = run("evaluate", "whole.wo", "late.csv", "--metric", "rps", "--metric", "comparison_auc")
    assert "95 % interval" in told.out
    assert "there is no metric 'ndcg@10'" in failing(run, "evaluate", "whole.wo", "late.csv", "--metric", "ndcg@10")
    (votes / "stranger.csv").write_text("model_a,model_b,winner\nada,bo,tie\n", encoding="utf-8")
    assert "did you mean 'bob'?" in failing(run, "evaluate", "whole.wo", "stranger.csv")


def test_large_numbers_are_numbers_and_what_is_none_is_named_by_its_line(votes, run):
    def rate(numbers):
        rows = zip("ABCA", "BCAC", ("left", "left", "left", "right"), numbers, strict=True)
        text = "left,right,outcome,price\n" + "".join(f"{','.join(row)}\n" for row in rows)
        (votes / "priced.csv").write_text(text, encoding="utf-8")
        return run("rate", "priced.csv", "--control", "price", "--json")

    small, large = rate("2131"), rate(["2e17", "1e17", "3e17", "1e17"])
    assert (small.code, large.code) == (0, 0)
    effects = [json.loads(told.out)["effects"][0]["high"] for told in (small, large)]
    np.testing.assert_allclose(effects[1] * 1e17, effects[0], rtol=1e-5)
    assert "line 4: " in rate(["2e17", "1", "many", "1"]).err
    assert "line 3: " in rate(["2", "inf", "3", "1"]).err
