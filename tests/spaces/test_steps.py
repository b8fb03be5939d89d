"""Sums of steps, and the search for the best one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference import rank_boost as reference

from wellorder.spaces import steps as module
from wellorder.spaces.steps import Step, Steps, StepSearch


def columns(rng, n=80):
    return np.column_stack(
        [
            rng.integers(0, 2, n),
            rng.integers(0, 5, n),
            rng.standard_normal(n),
            np.where(rng.random(n) < 0.7, 0.0, rng.standard_normal(n)),
            np.full(n, 2.0),
        ]
    ).astype(float)


def with_gaps(X):
    X = X.copy()
    X[::7, 1] = np.nan
    return X


@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array, np.asfortranarray, with_gaps])
def test_scores_are_the_weights_of_the_thresholds_passed(form_of_x):
    rng = np.random.default_rng(0)
    X = columns(rng)
    chosen = [Step(k, t) for k, t, _ in reference.steps(X)][::3]
    weight = rng.standard_normal(len(chosen))
    rows = form_of_x(X)
    dense = rows.toarray() if sp.issparse(rows) else rows
    expected = sum(w * (dense[:, k] > t) for (k, t), w in zip(chosen, weight, strict=True))
    np.testing.assert_allclose(Steps.add_up(chosen, weight).scores(rows), expected, atol=1e-12)


@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array, with_gaps])
def test_the_search_finds_what_trying_all_finds(form, form_of_x):
    rng = np.random.default_rng(1)
    for _ in range(10):
        X = columns(rng)
        rows = form_of_x(X)
        dense = rows.toarray() if sp.issparse(rows) else rows
        weight = rng.integers(0, 3, len(X)).astype(float)
        gradient = np.where(weight > 0, rng.standard_normal(len(X)), 0.0)
        best = StepSearch(rows, weight).best(gradient)
        pulls = {(k, t): abs(gradient @ h) for k, t, h in reference.steps(dense)}
        assert abs(gradient @ (dense[:, best.feature] > best.threshold)) == pytest.approx(max(pulls.values()))


def test_many_values_offer_quantiles(monkeypatch):
    monkeypatch.setattr(module, "MOST_THRESHOLDS", 4)
    x = np.arange(100.0)[:, None]
    for cut in (20, 40, 60, 79):
        gradient = np.where(x[:, 0] > cut, 1.0, -1.0)
        gradient -= gradient.mean()
        assert abs(StepSearch(x, np.ones(100)).best(gradient).threshold - cut) <= 1
    assert StepSearch(np.ones((5, 2)), np.ones(5)).best(np.arange(5.0)) is None
    assert StepSearch(x, np.ones(100)).best(np.zeros(100)) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature": np.array([0, 9])}, "not among the 3"),
        ({"feature": np.array([1, 0])}, "not sorted"),
        ({"threshold": np.array([1.0, 0.0])}, "not sorted"),
        ({"threshold": np.array([np.nan, 1.0])}, "thresholds are not 2"),
        ({"weight": np.ones(3)}, "weights are not 2"),
        ({"weight": np.array([np.inf, 1.0])}, "not finite"),
        ({"feature": np.zeros(2)}, "numbers of columns"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(changes, message):
    arrays = {"feature": np.array([0, 0]), "threshold": np.array([0.0, 1.0]), "weight": np.ones(2)}
    Steps.from_arrays(arrays).check(3)
    with pytest.raises(ValueError, match=message):
        Steps.from_arrays(arrays | changes).check(3)
