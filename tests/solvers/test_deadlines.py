"""A time limit ends a fit with the best point it has, and says so; without one, nothing depends on the time."""

from __future__ import annotations

import threading
import time
import warnings
from contextvars import copy_context

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import wellorder as wo
from wellorder.deadline import TimeIsUp, deadline, mark_stopped, seconds_left, time_is_up

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 5))
Y = np.digitize(X @ [1.0, 0.5, 0.2, 0.0, 0.0] + np.sin(3.0 * X[:, 3]) + 0.5 * RNG.standard_normal(400), [-1, 0, 1])
ITEMS = RNG.standard_normal((150, 40))
LEFT = RNG.integers(0, 149, 3_000)
RIGHT = RNG.integers(LEFT + 1, 150)
OUTCOME = np.where(
    np.abs(gap := (ITEMS[RIGHT] - ITEMS[LEFT]) @ RNG.standard_normal(40) + RNG.standard_normal(3_000)) > 1,
    np.sign(gap),
    0,
).astype(int)

RANKERS = {
    "newton": wo.RankSVM(C=100.0, tol=1e-12),
    "kernel": wo.RankSVM(C=1000.0, kernel="rbf", tol=1e-12),
    "planes": wo.SwapSVM(C=100.0, tol=1e-9),
    "hinge": wo.RankSVM(C=10.0, loss="hinge", tol=1e-9),
    "svor": wo.SVOR(C=100.0, tol=1e-9),
    "svor-kernel": wo.SVOR(C=100.0, kernel="rbf", tol=1e-9),
    "odds": wo.ProportionalOdds(tol=1e-14),
    "likelihood": wo.ProportionalOdds(C=np.inf, tol=1e-14),
    "hulls": wo.ConvexHullRanker(tol=1e-12),
    "many": wo.MultipleHyperplaneRanker(wo.RankSVM(C=100.0, tol=1e-12)),
    "bumps": wo.OrderBoost(n_estimators=50),
    "trees": wo.OrderBoost(learner="tree", n_estimators=50),
    "regression": wo.BoostedTrees("ranks", n_estimators=50),
    "lambdarank": wo.BoostedTrees("lambdarank", n_estimators=50),
    "steps": wo.RankBoost(n_estimators=50),
    "columns": wo.BestFeature(),
    "columns by a metric": wo.BestFeature(metric="ndcg@10"),
}


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_a_fit_without_time_ends_with_what_it_has_and_says_why(ranker):
    with deadline(lambda: -1.0) as end, pytest.warns(ConvergenceWarning, match="stopped by its time limit"):
        ranker.fit(X, Y)
    assert end.stopped
    assert np.corrcoef(ranker.decision_function(X), Y)[0, 1] > 0.2  # one step, one plane or one tree: it orders


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_a_limit_that_is_not_met_changes_no_bit(ranker):
    if isinstance(ranker, wo.SwapSVM) or getattr(ranker, "loss", "") == "hinge":
        ranker.set_params(tol=1e-3)
    plain = ranker.fit(X, Y).predict(X)
    with deadline(lambda: 1e6) as end:
        limited = ranker.fit(X, Y).predict(X)
    np.testing.assert_array_equal(plain, limited)
    assert not end.stopped


@pytest.mark.parametrize(
    "model",
    [wo.CompareSVM(C=10.0, tol=1e-9), wo.CompareSVM(C=10.0, loss="squared_hinge", tol=1e-12)],
    ids=["interior", "newton"],
)
def test_comparisons_end_too(model):
    order = wo.Comparisons(LEFT, RIGHT, OUTCOME)
    with deadline(lambda: -1.0) as end, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")  # a threshold far from its end may be none
        model.fit(ITEMS, order)
    assert end.stopped
    assert any("stopped by its time limit" in str(each.message) for each in heard)
    assert np.isfinite(model.coef_).all()


def test_a_linear_programme_has_nothing_before_its_end():
    slow = np.random.default_rng(1).standard_normal((300, 60))
    left = np.random.default_rng(2).integers(0, 299, 6_000)
    right = np.random.default_rng(4).integers(left + 1, 300)
    outcome = np.random.default_rng(3).integers(-1, 2, 6_000)
    began = time.perf_counter()
    with (
        deadline(lambda: 0.05 - (time.perf_counter() - began)),
        pytest.raises(TimeIsUp, match="stopped by its time limit"),
    ):
        wo.CompareLP(C=1.0).fit(slow, wo.Comparisons(left, right, outcome))


def test_a_rating_of_players_ends_too():
    games = wo.Comparisons(LEFT, RIGHT, OUTCOME)
    with deadline(lambda: -1.0), pytest.warns(ConvergenceWarning, match="stopped by its time limit after 1 Newton"):
        wo.ratings.Davidson(ridge=1e-6).fit(games)


def test_the_nearer_of_two_ends_holds_and_the_outer_one_hears_of_it():
    with deadline(lambda: 5.0) as outer:
        with deadline(lambda: 50.0) as inner:
            assert seconds_left() == 5.0
            assert not time_is_up()
            mark_stopped()
        assert inner.stopped
        assert outer.stopped
    assert seconds_left() == np.inf


def test_threads_know_of_it_through_a_copy_of_the_context():
    seen = []
    with deadline(lambda: -1.0) as end:
        context = copy_context()
        thread = threading.Thread(target=lambda: seen.append(context.run(time_is_up)))
        thread.start()
        thread.join()
    assert seen == [True]
    assert end.stopped
