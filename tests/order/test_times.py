from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st
from tests.reference import survival as reference

import wellorder as wo
from wellorder.losses import LOSSES, risk_at


@st.composite
def censored(draw, max_rows=20):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_rows))
    time = rng.integers(0, draw(st.sampled_from([3, 8, 1000])), n).astype(float)
    event = rng.random(n) < draw(st.sampled_from([0.2, 0.6, 1.0]))
    event[rng.integers(n)] = True
    group = rng.integers(0, draw(st.sampled_from([1, 2])), n)
    return time, event, group, np.round(rng.standard_normal(n), draw(st.sampled_from([0, 6])))


@given(case=censored())
def test_pairs_are_harrells(case):
    time, event, group, scores = case
    listed = reference.outlived(time, event, group)
    times = wo.Times(time, event, groups=group)
    assert times.pairs.n_pairs == len(listed)
    found = risk_at(LOSSES["squared_hinge"], scores, times.pairs).value
    assert found == pytest.approx(sum(max(1 - scores[i] + scores[j], 0.0) ** 2 for i, j in listed), abs=1e-9)


@given(case=censored())
def test_concordance_is_the_share_over_every_pair(case):
    time, event, group, scores = case
    times = wo.Times(time, event, groups=group)
    if times.pairs.n_pairs:
        expected = reference.concordance(time, event, scores, group)
        assert wo.metrics.concordance(times, scores) == pytest.approx(expected, abs=1e-12)


@given(case=censored())
def test_unos_weights_are_by_the_chance_not_to_have_been_censored(case):
    time, event, group, scores = case
    chance = np.array([reference.not_censored(time, event, t) for t in time])
    if (chance[event] <= 0).any():
        with pytest.warns(UserWarning, match="everybody was censored"):
            times = wo.Times(time, event, groups=group, weighting="uno")
    else:
        times = wo.Times(time, event, groups=group, weighting="uno")
    weight = np.where(chance > 0, 1.0 / np.where(chance > 0, chance, 1.0) ** 2, 0.0)
    if times.pairs.n_pairs:
        expected = reference.concordance(time, event, scores, group, weight)
        assert wo.metrics.concordance(times, scores) == pytest.approx(expected, rel=1e-9)


def test_tau_leaves_later_events_out():
    time, event, scores = [1, 2, 3, 4], [True, True, True, False], [1.0, 3.0, 2.0, 4.0]
    assert wo.Times(time, event, tau=3).pairs.n_pairs == 5
    assert wo.metrics.concordance(wo.Times(time, event, tau=2), scores) == 1.0


def test_weights_of_part_follow_from_its_own_censoring_or_from_that_of_training_rows():
    rng = np.random.default_rng(0)
    time, event = rng.exponential(1.0, 300), rng.random(300) < 0.5
    event[np.argmax(time)] = True
    times = wo.Times(time, event, weighting="uno", tau=1.5)
    train, test = np.arange(200), np.arange(200, 300)
    own = wo.Times(time[test], event[test], weighting="uno", tau=1.5)
    np.testing.assert_array_equal(times.take(test).ends.below, own.ends.below)
    beside = wo.Times(time[test], event[test], weighting="uno", tau=1.5, censoring=times.take(train))
    np.testing.assert_array_equal(times.take(test).with_censoring(times.take(train)).ends.below, beside.ends.below)
    assert not np.array_equal(own.ends.below, beside.ends.below)
    scores = rng.standard_normal(100)
    assert wo.metrics.concordance(own, scores, censoring=times.take(train)) == wo.metrics.concordance(beside, scores)


def test_row_weights_are_rows_listed_twice():
    time, event, scores = np.array([3.0, 1.0, 2.0, 2.0]), np.array([0, 1, 1, 0]), np.array([1.0, 0.5, 2.0, 0.0])
    twice = np.array([0, 1, 1, 2, 3])
    weighted = wo.Times(time, event, weights=[1, 2, 1, 1])
    listed = wo.Times(time[twice], event[twice])
    assert wo.metrics.concordance(weighted, scores) == pytest.approx(wo.metrics.concordance(listed, scores[twice]))


@pytest.mark.parametrize(
    ("given_times", "message"),
    [
        (([1, -2], [1, 1]), "row 1 has the time -2.0"),
        (([1, np.nan], [1, 1]), "row 1 has the time nan"),
        (([1, 2], [0, 0]), "no row has an event"),
        (([1, 2], [1, 2]), "row 1 has the event 2"),
        (([1, 2], [1, np.nan]), "row 1 has the event nan"),
        (([1, 2], ["dead", "alive"]), "events must be True or False"),
        (([1, 2, 3], [1, 0]), "3 times and 2 events"),
        ((["a", "b"], [1, 0]), "times must be numbers"),
        ((np.array(["2020-01-01", "2021-01-01"], "M8[D]"), [1, 0]), "of dates take the differences"),
        ((np.array([1, 2], "m8[D]"), [1, 0]), "the number of days"),
        (([1, 2], np.array([1, None], object)), "row 1 has the event nan"),
    ],
)
def test_what_is_no_time_is_refused(given_times, message):
    with pytest.raises(ValueError, match=message):
        wo.Times(*given_times)


@pytest.mark.parametrize(("option", "value"), [("tau", "x"), ("tau", float("nan")), ("censoring", [1.0])])
def test_options_that_say_nothing_are_refused(option, value):
    with pytest.raises(ValueError, match=f"^{option}="):
        wo.Times([1, 2], [1, 0], **{option: value})


def test_events_of_data_frames():
    for event in (pd.Series([True, False], dtype="boolean"), pl.Series([True, False]), np.array([True, False], object)):
        assert wo.Times([1, 2], event).event.tolist() == [True, False]
    with pytest.raises(ValueError, match="row 1 has the event nan"):
        wo.Times([1, 2], pd.Series([True, None], dtype="boolean"))


@pytest.mark.parametrize(("n_strata", "size", "small"), [(1, 4, False), (10, 4, True), (10, 19, True), (10, 20, False)])
def test_small_strata_are_held_out_whole_as_lists_are(n_strata, size, small):
    strata = np.repeat(np.arange(n_strata), size)
    times = wo.Times(1.0 + np.arange(len(strata)), np.ones(len(strata), bool), groups=strata)
    assert (times.lists is not None) == small


def test_nobody_known_to_have_outlived_another_is_said():
    with pytest.raises(ValueError, match="nobody is known to have outlived another"):
        wo.RankSVM().fit([[1.0], [2.0]], wo.Times([1, 2], [False, True]))


def test_models_that_look_at_single_rows_refuse_times():
    times = wo.Times([1, 2, 3], [1, 1, 0])
    for model in (wo.ProportionalOdds(), wo.RidgeRanker(), wo.SVOR(), wo.ConvexHullRanker(), wo.PlugInRanker()):
        with pytest.raises(ValueError, match="RankSVM, SwapSVM"):
            model.fit([[1.0], [2.0], [3.0]], times)


@pytest.mark.parametrize(
    "model",
    [
        wo.RankSVM(),
        wo.RankSVM(loss="logistic"),
        wo.RankSVM(kernel="rbf"),
        wo.RankSVM(kernel="rbf", n_components=50),
        wo.RankSVM(pairs_per_item=20, random_state=0),
        wo.SwapSVM(),
        wo.OrderBoost(n_estimators=50),
        wo.OrderBoost(learner="tree", n_estimators=50),
        wo.RankBoost(n_estimators=50),
        wo.BestFeature(),
        wo.CoxRanker(),
        wo.BoostedTrees("log_times", n_estimators=50),
        wo.OrderEnsemble(n_folds=2, random_state=0),
    ],
    ids=repr,
)
def test_models_of_pairs_learn_who_lives_longer(model):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((240, 3))
    time, end = rng.exponential(np.exp(X[:, 0])), rng.exponential(2.0, 240)
    times = wo.Times(np.minimum(time, end), time <= end)
    half = np.arange(120)
    model.fit(X[half], times.take(half))
    found = wo.metrics.concordance(times.take(half + 120), model.decision_function(X[half + 120]))
    assert found > 0.65
    np.testing.assert_array_equal(model.predict_risk(X), -model.decision_function(X))


def test_one_weight_a_row_is_the_same_whichever_way_it_is_given(form):
    rng = np.random.default_rng(2)
    y, omega, scores = rng.integers(0, 4, 60), rng.random(60), rng.standard_normal(60)
    one, two = wo.Grades(y, weights=omega), wo.Grades(y, weights_above=omega, weights_below=omega)
    for loss in LOSSES.values():
        a, b = risk_at(loss, scores, one.pairs), risk_at(loss, scores, two.pairs)
        assert a.value == b.value
        np.testing.assert_array_equal(a.gradient, b.gradient)
        np.testing.assert_array_equal(a.hessian_product(omega), b.hessian_product(omega))
    assert two.pairs.mass == 60  # what comes on top of ω never enters n
