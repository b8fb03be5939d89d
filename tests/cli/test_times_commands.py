"""Censored times from a file: what every command makes of them."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import load_table_model

ROLES = ("--target", "days", "--event", "died", "--item", "name", "--drop", "status")


@pytest.fixture
def trial(tmp_path):
    """A trial of 120 people at two sites; status says in words what died says in numbers."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 120))
    lived, watched = rng.exponential(np.exp(1.5 * a)), rng.exponential(2.0, 120)
    died = lived <= watched
    frame = {"name": [f"p{i}" for i in range(120)], "a": a, "b": b, "site": np.where(b > 0, "x", "y")}
    frame |= {"days": np.minimum(lived, watched), "died": died.astype(int), "status": np.where(died, "dead", "alive")}
    path = tmp_path / "trial.csv"
    pl.DataFrame(frame).write_csv(path)
    return str(path)


def test_from_a_file_to_an_order(run, trial, tmp_path):
    model, people = str(tmp_path / "m.wo"), str(tmp_path / "people.csv")
    said = run("fit", trial, *ROLES, "--group", "site", "-o", model)
    assert said.code == 0
    assert "RankSVM fitted on censored times" in said.out
    times = wo.read(trial, target="days", event="died", item="name", drop="status", group="site").order()
    assert f"pairs: {times.pairs.n_pairs:,}" in said.out
    pl.read_csv(trial).select("name", "a", "b").write_csv(people)
    scores = load_table_model(model).decision_function(pl.read_csv(people))
    assert [row.split(",")[0] for row in run("predict", model, people).out.splitlines()[1:3]] == ["p0", "p1"]
    found = json.loads(run("evaluate", model, trial, "--metric", "concordance", "--json").out)
    assert str(wo.metrics.concordance(times, scores))[:8] in json.dumps(found)


def test_compare_spreads_strata_over_the_folds(run, trial):
    models = ("--models", "rank-svm,cox", "--repeats", "1", "--json")
    found = run("compare", trial, *ROLES, "--group", "site", *models)
    assert found.code == 0
    printed = json.dumps(json.loads(found.out))
    assert "concordance" in printed
    assert "cox" in printed


def test_check_knows_times(run, trial):
    found = run("check", trial, *ROLES)
    assert found.code == 0
    events = pl.read_csv(trial)["died"].sum()
    assert f"{events} ({100 * events / 120:.0f} %)" in found.out
    assert "pairs known to be ordered" in found.out


def test_an_option_for_columns_to_leave_out_may_be_given_again(run, trial, tmp_path):
    one, other = str(tmp_path / "one.wo"), str(tmp_path / "other.wo")
    given = ("fit", trial, "--target", "days", "--event", "status=dead", "--item", "name", "--no-bands")
    assert (
        run(*given, "--drop", "died,b", "-o", one).code
        == run(*given, "--drop", "died", "--drop", "b", "-o", other).code
        == 0
    )
    assert load_table_model(one).encoder_.columns_ == load_table_model(other).encoder_.columns_
    assert "died" not in load_table_model(other).encoder_.columns_


@pytest.mark.parametrize(
    ("column", "value", "event", "message"),
    [
        ("days", -1.0, "died", "line 5: the time (column 'days') is -1"),
        ("days", None, "died", "line 5: the time (column 'days') is missing"),
        ("died", 2, "died", "line 5: the event (column 'died') is '2'"),
        ("died", None, "died", "line 5: the event (column 'died') is missing"),
        ("days", 1.0, "status=gone", "no row has 'gone' in the column 'status'"),
        ("days", 1.0, "nosuch", "there is no column 'nosuch'"),
    ],
)
def test_what_is_no_time_is_refused(run, trial, tmp_path, column, value, event, message):
    frame = pl.read_csv(trial)
    wrong = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    frame.with_columns(wrong).write_csv(trial)
    found = run("fit", trial, "--target", "days", "--event", event, "-o", str(tmp_path / "m.wo"))
    assert found.code == 2
    assert message in found.err


def test_no_event_is_a_problem(run, trial):
    pl.read_csv(trial).with_columns(died=pl.lit(0)).write_csv(trial)
    found = run("check", trial, *ROLES)
    assert found.code == 1
    assert "no row has an event" in found.out + found.err
    assert run("compare", trial, *ROLES).code == 2


@pytest.mark.parametrize("event", ["status=dead", "status=Dead", "flag=true", "flag=True", "flag", "died=1.0", "died"])
def test_the_value_of_an_event_as_people_write_it(trial, event):
    frame = pl.read_csv(trial).with_columns(flag=pl.col("died") == 1)
    found = wo.read(frame, target="days", event=event)
    np.testing.assert_array_equal(found.events, frame["died"].to_numpy() == 1)


def test_two_values_that_both_might_be_meant_are_refused():
    frame = pl.DataFrame({"days": [1, 2, 3], "status": ["Dead", "DEAD", "alive"]})
    with pytest.raises(ValueError, match="no row has 'dead' in the column 'status'"):
        wo.read(frame, target="days", event="status=dead")
