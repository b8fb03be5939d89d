"""Ranking SVM for IR: pairs weighed by their two grades, and every query the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import rank_svm as reference

import wellorder as wo

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = np.digitize(X[:, 0] + RNG.standard_normal(120), [-0.5, 0.7])
QUERY = RNG.choice(8, 120, p=np.arange(1, 9) / 36)
TAU = {(0, 1): 0.2, (0, 2): 1.0, (1, 2): 0.6}


def graph():
    return wo.OrderGraph.from_edges([0, 1, 2], [(*ends, weight) for ends, weight in TAU.items()])


def pairs_of(query_weight):
    """List all pairs with τ of their grades times the weight of their query."""
    found = []
    for query in np.unique(QUERY):
        rows = np.flatnonzero(query == QUERY)
        mine = [(i, j, TAU[Y[j], Y[i]]) for i in rows for j in rows if Y[i] > Y[j]]
        found += [(i, j, w * query_weight(mine)) for i, j, w in mine]
    return found


def test_grades_and_queries_weigh_pairs():
    model = wo.RankSVM(0.8, order=graph(), balance="groups", tol=1e-9).fit(X, Y, groups=QUERY)
    pairs = pairs_of(lambda mine: 1.0 / sum(w for _, _, w in mine))
    value, coef = reference.minimise(X, pairs, np.ones(120), 0.8, "squared_hinge")
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-4, atol=1e-6)


def test_queries_by_their_number_of_pairs_as_the_paper_has_them():
    """μ(q) is one over the number of pairs: each row of a query of m pairs weighs 1/√m."""
    n_pairs = {query: wo.Grades(Y[query == QUERY]).pairs.n_pairs for query in np.unique(QUERY)}
    weight = np.array([1.0 / np.sqrt(n_pairs[query]) for query in QUERY])
    model = wo.RankSVM(order=graph(), tol=1e-9).fit(X, Y, groups=QUERY, sample_weight=weight)
    _, coef = reference.minimise(X, pairs_of(lambda mine: 1.0 / len(mine)), weight, 1.0, "squared_hinge")
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-4, atol=1e-6)
