"""The top of each list, re-ranked: what went on stays above what did not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.base import BaseEstimator
from tests.reference.nested_ranker import nested_counts

import wellorder as wo

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 4))
Y = np.digitize(X[:, 0] + X[:, 1] + 0.7 * RNG.standard_normal(240), [-0.5, 0.7, 1.8])
QUERY = RNG.integers(0, 12, 240)


class Columns(BaseEstimator):
    """Scores rows by a column that it is told on fitting, the next one each time: a ranker without learning."""

    fits: list[int]

    def fit(self, X, y, groups=None):
        self.column_ = Columns.fits.pop(0)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, self.column_]


@given(
    seed=st.integers(0, 10_000),
    keep=st.sampled_from([(0.5,), (0.5, 0.25), (3, 2), (4, 0.2), (1.0, 1), (0.3, 0.9)]),
    ties=st.booleans(),
)
@settings(max_examples=40)
def test_scores_count_the_rows_below_stage_by_stage(seed, keep, ties):
    rng = np.random.default_rng(seed)
    n = 40
    rows = rng.integers(0, 3, (n, 3)).astype(float) if ties else rng.standard_normal((n, 3))
    query = rng.integers(0, 5, n)
    Columns.fits = [0, 1, 2]
    model = wo.NestedRanker(Columns(), keep=keep).fit(rows, rng.integers(0, 2, n), groups=query)
    used = [ranker.column_ for ranker in model.rankers_]
    expected = nested_counts([rows[:, column] for column in used], query.tolist(), keep)
    assert model.decision_function(rows, groups=query).tolist() == expected


def test_stages_are_trained_on_what_the_one_before_put_on_top():
    model = wo.NestedRanker(keep=(0.5, 5)).fit(X, Y, groups=QUERY)
    first = wo.RankSVM().fit(X, Y, groups=QUERY)
    np.testing.assert_allclose(model.rankers_[0].coef_, first.coef_)
    place = np.array([np.sum(first.predict(X[query_rows]) > score) for query_rows, score in _beside(first)])
    half = np.array([np.ceil(0.5 * np.sum(query == QUERY)) for query in QUERY])
    top = place < half
    second = wo.RankSVM().fit(X[top], Y[top], groups=QUERY[top])
    np.testing.assert_allclose(model.rankers_[1].coef_, second.coef_)
    assert model.n_rows_[:2] == [240, int(top.sum())]
    assert len(model.rankers_) == 3


def _beside(model):
    return [(query == QUERY, score) for query, score in zip(QUERY, model.predict(X), strict=True)]


def test_one_stage_that_keeps_nothing_apart_is_its_base():
    model = wo.NestedRanker(keep=(1,)).fit(X, Y, groups=QUERY)
    assert len(model.rankers_) == 1  # one row a list is no pair
    plain = model.rankers_[0]
    assert model.score(X, Y, QUERY) == pytest.approx(plain.score(X, Y, QUERY))


def test_the_order_of_rows_does_not_count_and_groups_do():
    model = wo.NestedRanker().fit(X, Y, groups=QUERY)
    scores = model.decision_function(X, groups=QUERY)
    place = RNG.permutation(len(X))
    names = np.array([f"q{query}" for query in QUERY])
    np.testing.assert_array_equal(model.decision_function(X[place], groups=names[place]), scores[place])
    assert not np.array_equal(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X, groups=QUERY), scores)
    again = wo.NestedRanker().fit(X[place], Y[place], groups=names[place])
    np.testing.assert_array_equal(again.decision_function(X, groups=QUERY), scores)


@pytest.mark.parametrize("keep", [(), 0.5, "half", (0,), (1.5,), (True,), (0.5, -1)])
def test_bad_keeps_are_named(keep):
    with pytest.raises(ValueError, match="keep"):
        wo.NestedRanker(keep=keep).fit(X, Y)


def test_comparisons_are_refused():
    with pytest.raises(ValueError, match="takes grades"):
        wo.NestedRanker().fit(X, wo.Comparisons([0], [1], [1]))
