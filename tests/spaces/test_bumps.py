"""Bumps equal the reference; the search finds the best one without looking at all."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import ndtr
from tests.reference import bumps as reference

from wellorder.spaces import basis
from wellorder.spaces.basis import Bumps, BumpSearch, Standard
from wellorder.sweeps.nodes import Nodes, node_sums


def plain(n, scale=1.0):
    """Columns that are not moved, and whose range has no end to speak of."""
    return Standard(np.zeros(n), np.full(n, scale), np.full(n, -1e308), np.full(n, 1e308))


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


SIGN = np.array([1, -1, 1, -1, 1, -1])


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
    for sign in (None, SIGN):
        bumps = Bumps.add_up(Standard.fit(form_of_x(X), weight), 0.5, feature, centre, height, sign)
        expected = reference.scores(reference.standardise(X, X, weight), feature, centre, height, 0.5, sign)
        np.testing.assert_allclose(bumps.scores(form_of_x(X)), expected, rtol=1e-7, atol=1e-7)


def test_a_rise_is_the_integral_of_its_tent():
    z = np.linspace(-4, 4, 100_001)
    tent = np.maximum(0.0, 1 - np.abs(z - 0.3) / np.sqrt(3.0)) / np.sqrt(3.0)
    step = z[1] - z[0]
    assert np.sum(tent * (z - 0.3) ** 2) * step == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(basis.rise(z, 0.3, 0.5), np.cumsum(tent) * step, atol=1e-4)
    assert np.abs(basis.rise(z, 0.3, 0.5) - ndtr((z - 0.3) / np.sqrt(0.5))).max() < 0.017


def test_the_same_bump_twice_is_one():
    standard = plain(2)
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
@pytest.mark.parametrize("signed", [0, 1, -1])
def test_every_candidate_has_the_references_gain(data, form, form_of_x, signed):
    X, weight, gradient, curvature = data
    Z = reference.standardise(X, X, weight)
    search = BumpSearch(form_of_x(X), weight, 0.5, SIGN * signed)
    payload = np.stack([gradient, curvature])
    assert [column.feature for column in search._columns] == [0, 1, 2, 3, 5]  # the constant one offers nothing
    for number, column in enumerate(search._columns):
        found = search._gains(number, payload, payload.sum(axis=1))
        expected = reference.gains(
            Z, gradient, curvature, 0.5, column.feature, column.centres, SIGN[column.feature] * signed
        )
        exact = len(column.nodes.share) == 0
        np.testing.assert_allclose(found, expected, rtol=1e-6 if exact else 5e-3, atol=1e-3 * expected.max())


def test_rows_of_zero_weight_offer_no_centre():
    X = np.array([[0.0], [1.0], [2.0], [100.0]])
    search = BumpSearch(X, np.array([1.0, 1.0, 1.0, 0.0]), 0.5)
    found = search.best(np.array([1.0, -2.0, 1.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0]))
    assert found.centre == pytest.approx(0.0, abs=1e-12)


def test_a_quantile_is_an_observed_value_and_weights_count(data):
    values, weight = np.arange(1000.0), np.where(np.arange(1000) < 10, 1000.0, 1.0)
    centres = basis._quantiles(values, weight)
    assert set(centres) <= set(values)
    assert np.median(np.repeat(values, weight.astype(int))) < 10
    assert (centres < 10).sum() == 10


def test_tables_that_are_not_kept_give_the_same(data, monkeypatch):
    X, weight, gradient, curvature = data
    kept = BumpSearch(X, weight, 0.5).best(gradient, curvature)
    monkeypatch.setattr(basis, "_MOST_KEPT", 0)
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
        {"width": np.array([1j])},
        {"width": np.array([0.5, 0.5])},
        {"sign": np.array([1])},
        {"sign": np.array([1.0, 0.0])},
        {"sign": np.array([2, 0])},
        {"sign": np.array([0, -1])},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(changes):
    bumps = Bumps.add_up(plain(2), 0.5, [0, 1], [0.0, 1.0], [1.0, 2.0])
    for known in ({}, {"sign": np.array([1, 0])}):
        Bumps.from_arrays(bumps.to_arrays() | known).check(2)
    with pytest.raises(ValueError, match="bump"):
        Bumps.from_arrays(bumps.to_arrays() | changes).check(2)


def in_parts(X, seed=0):
    """Return X as CSR whose entries are unsorted, partly zero, and given in two parts each."""
    rng = np.random.default_rng(seed)
    some = sp.coo_array(X)
    row = np.concatenate([some.row, some.row, rng.integers(0, X.shape[0], 50)])
    column = np.concatenate([some.col, some.col, rng.integers(0, X.shape[1], 50)])
    value = np.concatenate([0.25 * some.data, 0.75 * some.data, np.zeros(50)])
    order = np.lexsort((rng.random(len(row)), row))
    ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    return sp.csr_array((value[order], column[order], ends), shape=X.shape)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_entries_given_in_parts_add_up(data, form):
    X, weight, gradient, curvature = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    split = form(in_parts(X))
    before = split.data.copy(), split.indices.copy(), split.indptr.copy()
    whole, standard = Standard.fit(X, weight), Standard.fit(split, weight)
    np.testing.assert_allclose(standard.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(standard.scale, whole.scale, rtol=1e-9)
    bumps = Bumps.add_up(whole, 0.5, np.arange(6), np.zeros(6), np.ones(6))
    np.testing.assert_allclose(bumps.scores(split), bumps.scores(X), atol=1e-9)
    assert BumpSearch(split, weight, 0.5).best(gradient, curvature).feature == (
        BumpSearch(X, weight, 0.5).best(gradient, curvature).feature
    )
    for part, kept in zip((split.data, split.indices, split.indptr), before, strict=True):
        np.testing.assert_array_equal(part, kept)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("form_of_x", [np.asarray, sp.csr_array])
def test_many_small_columns_are_searched_at_once_with_the_same_gains(monkeypatch, form_of_x, signed):
    rng = np.random.default_rng(3)
    n = 300
    X = np.column_stack(
        [np.where(rng.random((n, 90)) < 0.05, rng.integers(1, 5, (n, 90)), 0), rng.standard_normal((n, 3))]
    )[:, rng.permutation(93)].astype(float)
    weight = rng.integers(0, 3, n).astype(float)
    gradient, curvature = weight * rng.standard_normal(n), weight * rng.uniform(0.5, 2.0, n)
    payload = np.stack([gradient, curvature])

    def gains(search):
        listed = search._all_gains(payload, payload.sum(axis=1))
        keys = [(int(k), c) for feature, centres, _ in listed for k, c in zip(feature, centres, strict=True)]
        return dict(zip(keys, np.concatenate([gain for *_, gain in listed]).tolist(), strict=True))

    sign = rng.integers(-1, 2, 93) if signed else None
    packed = BumpSearch(form_of_x(X), weight, 0.5, sign)
    assert packed._packed
    monkeypatch.setattr(basis, "_MANY_COLUMNS", 10**9)
    one_by_one = BumpSearch(form_of_x(X), weight, 0.5, sign)
    assert not one_by_one._packed
    assert gains(packed) == pytest.approx(gains(one_by_one), rel=1e-9, abs=1e-12)
    assert packed.best(gradient, curvature) == one_by_one.best(gradient, curvature)


def test_of_two_equal_columns_the_first_is_taken_whichever_is_packed():
    rng = np.random.default_rng(4)
    rare = (rng.random((200, 70)) < 0.1).astype(float)
    wide = rng.standard_normal(200)
    X = np.column_stack([wide, rare, wide, rare[:, 5]])
    found = BumpSearch(X, np.ones(200), 0.5)
    assert found.best(rare[:, 5] - rare[:, 5].mean(), np.ones(200)).feature == 6
    height = np.exp(-(wide**2))
    assert found.best(height - height.mean(), np.ones(200)).feature == 0


def test_a_column_beyond_all_numbers_is_far_from_every_bump():
    bumps = Bumps.add_up(plain(1, scale=1e-10), 0.5, [0], [0.0], [1.0])
    assert bumps.scores(np.array([[1e308], [0.0]])).tolist() == [0.0, 1.0]
    narrow = Bumps.add_up(plain(1), 5e-324, [0], [1.0], [1.0])
    assert narrow.scores(np.array([[1.0], [2.0]])).tolist() == [1.0, 0.0]


def test_rows_that_a_sparse_column_leaves_out_count_among_its_centres():
    rng = np.random.default_rng(5)
    X = np.where(rng.random((3000, 1)) < 0.9, 0.0, 1.0 + rng.random((3000, 1)))
    weight = rng.uniform(0.5, 2.0, 3000)
    dense, sparse = (BumpSearch(form(X), weight, 0.5)._columns[0].centres for form in (np.asarray, sp.csr_array))
    np.testing.assert_allclose(sparse, dense, rtol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_beyond_the_training_rows_scores_stay_as_at_their_ends(kind):
    X = np.array([[-2.0, 0.0], [-1.0, 3.0], [1.0, 0.0], [2.0, 5.0]])
    standard = Standard.fit(kind(X), np.array([1.0, 1.0, 1.0, 1.0]))
    bumps = Bumps.add_up(standard, 0.5, [0, 1], [1.5, -1.0], [1.0, -2.0])
    far = np.array([[-1e9, -7.0], [1e9, 99.0]])
    ends = np.array([[-2.0, 0.0], [2.0, 5.0]])
    np.testing.assert_array_equal(bumps.scores(kind(far)), bumps.scores(kind(ends)))
    assert bumps.scores(kind(far))[1] != 0


def test_rows_of_no_weight_do_not_widen_the_range():
    standard = Standard.fit(np.array([[0.0], [1.0], [50.0]]), np.array([1.0, 1.0, 0.0]))
    assert (standard.low[0], standard.high[0]) == (0.0, 1.0)
