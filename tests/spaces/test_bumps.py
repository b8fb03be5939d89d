"""Bumps equal the reference; the search finds the best one without looking at all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference import bumps as reference

from wellorder.spaces import bump_search
from wellorder.spaces.basis import Bumps, Standard
from wellorder.spaces.bump_search import BumpSearch
from wellorder.sweeps.nodes import Nodes, node_sums


def mixed_columns(rng, n=600):
    """Binary, few values, many values, mostly zero, constant, far from zero."""
    return np.column_stack(
        [
            rng.random(n) < 0.1,
            rng.integers(0, 7, n),
            rng.standard_normal(n),
            np.where(rng.random(n) < 0.6, 0.0, rng.exponential(2.0, n)),
            np.full(n, 3.0),
            1e6 + rng.standard_normal(n),
        ]
    ).astype(float)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = mixed_columns(rng)
    weight = rng.integers(0, 3, len(X)).astype(float)
    gradient = np.where(weight > 0, rng.standard_normal(len(X)), 0.0)
    gradient -= np.where(weight > 0, gradient.sum() / (weight > 0).sum(), 0.0)
    return X, weight, gradient, weight * rng.uniform(0.5, 2.0, len(X))


@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array, np.asfortranarray])
def test_scores_equal_the_reference(data, form_of_x):
    X, weight, *_ = data
    rng = np.random.default_rng(1)
    feature, centre, height = rng.integers(0, 6, 30), rng.standard_normal(30), rng.standard_normal(30)
    bumps = Bumps.add_up(Standard.fit(form_of_x(X), weight), 0.5, feature, centre, height)
    expected = reference.scores(reference.standardise(X, X, weight), feature, centre, height, 0.5)
    np.testing.assert_allclose(bumps.scores(form_of_x(X)), expected, rtol=1e-7, atol=1e-7)


def test_the_same_bump_twice_is_one():
    standard = Standard(np.zeros(2), np.ones(2))
    bumps = Bumps.add_up(standard, 0.5, [1, 0, 1, 1], [0.5, 0.5, 0.5, 0.6], [1.0, 2.0, 3.0, 4.0])
    assert bumps.feature.tolist() == [0, 1, 1]
    assert bumps.weight.tolist() == [2.0, 4.0, 4.0]


def test_a_scale_as_large_as_floats_can_be():
    X = np.array([[1e300], [-1e300], [0.0]])
    bumps = Bumps.add_up(Standard.fit(X, np.ones(3)), 0.5, [0], [0.0], [1.0])
    np.testing.assert_allclose(bumps.scores(X), np.exp([-1.5, -1.5, 0.0]))


@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array])
def test_the_search_finds_the_best_bump(data, form, form_of_x):
    X, weight, gradient, curvature = data
    Z = reference.standardise(X, X, weight)
    search = BumpSearch(form_of_x(X), weight, 0.5)
    for k in (0, 1, 2, 3, 5):  # let each column have its turn: the others see no gradient
        shape = reference.scores(Z, [k], [Z[weight > 0, k].max()], [1.0], 0.5)
        g = gradient * 0.01 - curvature * (shape - np.average(shape, weights=curvature))
        found = search.best(g, curvature)
        assert found is not None
        values = np.unique(Z[weight > 0, found.feature])
        best = max(
            reference.gains(Z, g, curvature, 0.5, column, np.unique(Z[weight > 0, column])).max() for column in range(6)
        )
        mine = reference.gains(Z, g, curvature, 0.5, found.feature, [found.centre])[0]
        assert found.feature == k
        assert np.abs(values - found.centre).min() < 1e-8
        assert mine >= (1 - 1e-3) * best


def test_columns_of_few_values_are_searched_exactly(data, form):
    X, weight, gradient, curvature = data
    X, Z = X[:, :2], reference.standardise(X, X, weight)[:, :2]
    search = BumpSearch(X, weight, 0.5)
    candidates = [(k, c) for k in range(2) for c in np.unique(Z[weight > 0, k])]
    gains = [reference.gains(Z, gradient, curvature, 0.5, k, [c])[0] for k, c in candidates]
    found = search.best(gradient, curvature)
    k, _ = candidates[int(np.argmax(gains))]
    assert found.feature == k
    assert max(gains) == pytest.approx(reference.gains(Z, gradient, curvature, 0.5, k, [found.centre])[0], rel=1e-9)


@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array])
def test_every_candidate_has_the_references_gain(data, form, form_of_x):
    X, weight, gradient, curvature = data
    Z = reference.standardise(X, X, weight)
    search = BumpSearch(form_of_x(X), weight, 0.5)
    payload = np.stack([gradient, curvature])
    assert [column.feature for column in search._columns] == [0, 1, 2, 3, 5]  # the constant one offers nothing
    for number, column in enumerate(search._columns):
        found = search._gains(number, payload, payload.sum(axis=1))
        expected = reference.gains(Z, gradient, curvature, 0.5, column.feature, column.centres)
        exact = len(column.nodes.share) == 0
        np.testing.assert_allclose(found, expected, rtol=1e-6 if exact else 5e-3, atol=1e-3 * expected.max())


def test_rows_of_zero_weight_offer_no_centre():
    X = np.array([[0.0], [1.0], [2.0], [100.0]])
    search = BumpSearch(X, np.array([1.0, 1.0, 1.0, 0.0]), 0.5)
    found = search.best(np.array([1.0, -2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert found.centre == pytest.approx(0.0, abs=1e-12)


def test_a_quantile_is_an_observed_value_and_weights_count(data):
    values, weight = np.arange(1000.0), np.where(np.arange(1000) < 10, 1000.0, 1.0)
    centres = bump_search._quantiles(values, weight)
    assert set(centres) <= set(values)
    assert np.median(np.repeat(values, weight.astype(int))) < 10
    assert (centres < 10).sum() == 10


def test_tables_that_are_not_kept_give_the_same(data, monkeypatch):
    X, weight, gradient, curvature = data
    kept = BumpSearch(X, weight, 0.5).best(gradient, curvature)
    monkeypatch.setattr(bump_search, "_MOST_KEPT", 0)
    assert BumpSearch(X, weight, 0.5).best(gradient, curvature) == kept


def test_nothing_to_choose_from():
    assert BumpSearch(np.ones((5, 2)), np.ones(5), 0.5).best(np.arange(5.0), np.ones(5)) is None
    assert BumpSearch(np.arange(5.0)[:, None], np.ones(5), 0.5).best(np.zeros(5), np.ones(5)) is None
    assert BumpSearch(np.arange(5.0)[:, None], np.ones(5), 0.5).best(np.zeros(5), np.zeros(5)) is None


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_node_sums(form, listed, shared):
    rng = np.random.default_rng(2)
    n, size = 50, 6
    payload = rng.standard_normal((2, n))
    rows = np.sort(rng.choice(n, 20, replace=False)).astype(np.int32) if listed else np.empty(0, np.int32)
    places = rows if listed else np.arange(n)
    code = rng.integers(0, size - 2, len(places)).astype(np.uint16)
    share = rng.random(len(places)).astype(np.float32) if shared else np.empty(0, np.float32)
    expected = np.zeros((2, size))
    for p, i in enumerate(places):
        part = float(share[p]) if shared else 0.0
        expected[:, code[p]] += (1 - part) * payload[:, i]
        expected[:, code[p] + 1] += part * payload[:, i]
    totals = payload.sum(axis=1)
    if listed:
        expected[:, size - 1] += totals - expected.sum(axis=1)
    nodes = Nodes(rows, code, share, size - 1 if listed else -1, size)
    np.testing.assert_allclose(node_sums(nodes, payload, totals), expected, atol=1e-12)


@pytest.mark.parametrize(
    "changes",
    [
        {"feature": np.array([0, 2])},
        {"feature": np.array([1, 0])},
        {"feature": np.array([-1, 0])},
        {"feature": np.array([0.0, 1.0])},
        {"centre": np.array([0.0, np.nan])},
        {"weight": np.zeros(3)},
        {"scale": np.array([0.0, 1.0])},
        {"mean": np.zeros(1)},
        {"width": np.array([-1.0])},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(changes):
    bumps = Bumps.add_up(Standard(np.zeros(2), np.ones(2)), 0.5, [0, 1], [0.0, 1.0], [1.0, 2.0])
    Bumps.from_arrays(bumps.to_arrays()).check(2)
    with pytest.raises(ValueError, match="bump"):
        Bumps.from_arrays(bumps.to_arrays() | changes).check(2)
