"""Sums over pairs in steps over whole arrays: what the pair list gives, with NumPy arrays and with tensors alike."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.reference import pairs as reference
from tests.strategies import cases

from wellorder import Grades
from wellorder.losses import LOSSES, pairwise
from wellorder.order import Windows
from wellorder.order.windows import DevicePairs, DeviceWindows
from wellorder.sweeps import to_numpy
from wellorder.sweeps.device import sort_and_reach


@pytest.fixture(params=["numpy", "cpu", "cuda"])
def put(request):
    """Put an array where it is worked on: in NumPy, on torch's CPU, on a GPU where there is one."""
    if request.param == "numpy":
        return np.asarray
    torch = pytest.importorskip("torch", reason="tensors need torch, the [gpu] extra")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    return lambda values: torch.from_numpy(values).to(request.param)


def device_windows(pairs, scores, margin=1.0):
    return DeviceWindows(DevicePairs(pairs, scores), scores, margin)


def by_row(windows, values):
    return to_numpy(windows.to_rows(values))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=cases(two_weights=True))
def test_every_pair_is_counted_once(case, cell_form, put):
    pairs = case.grades.pairs
    if pairs.n_pairs == 0:
        return
    windows = device_windows(pairs, put(case.scores))
    short = pairwise.Shortfalls(windows)
    assert short.squares == pytest.approx(reference.risk("squared_hinge", case.listed, case.scores), rel=1e-9, abs=1e-8)
    expected = reference.gradient("squared_hinge", case.listed, case.scores)
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(by_row(windows, short.gradient), expected, atol=1e-9 * size)
    u = np.random.default_rng(0).normal(size=len(case.scores))
    product = by_row(windows, short.product(put(u)[windows.rows]))
    hessian = reference.hessian("squared_hinge", case.listed, case.scores)
    np.testing.assert_allclose(product, hessian @ u, atol=1e-9 * max(1.0, np.abs(hessian).max(initial=0.0)))


@pytest.mark.parametrize("n_groups", [1, 7])
@pytest.mark.parametrize("order", ["full", "chain", "linear"])
@pytest.mark.parametrize("n_levels", [3, 1_000])
def test_large_lists_give_what_the_other_sweeps_give(n_levels, order, n_groups, put):
    rng = np.random.default_rng(n_levels + n_groups)
    n = 3_000
    y, group = rng.integers(0, n_levels, n), rng.integers(0, n_groups, n) ** 2
    pairs = Grades(y, group, order, rng.random(n)).balanced("groups")
    scores = rng.normal(size=n).round(2)  # ties, and pairs exactly one apart
    for margin in (1.0, 0.25, 0.0):
        fast, slow = device_windows(pairs, put(scores), margin), Windows(pairs, scores, margin)
        payload = rng.normal(size=(2, n))
        for got, expected in zip(fast.sums(put(payload)[:, fast.rows]), slow.sums(payload[:, slow.rows]), strict=True):
            expected = np.array([slow.to_rows(line) for line in expected])
            got = np.array([by_row(fast, line) for line in got])
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        assert expected.any()


@pytest.mark.parametrize("groups", [1, 3])
def test_windows_end_where_the_pair_condition_says(groups, put):
    """Sums that round (0.1 + 0.2) and runs of equal scores right at the margin: ``high − low < margin``, to the bit."""
    rng = np.random.default_rng(3)
    scores = np.concatenate(
        [rng.integers(-40, 40, 300) / 10.0, rng.integers(-20, 20, 200) / 7.0, [1e-20, -1e-20, 1e17]]
    )
    group = np.sort(rng.integers(0, groups, len(scores))).astype(np.int32)
    bounds = np.searchsorted(group, np.arange(groups + 1)).astype(np.int32)
    for margin in (1.0, 0.3, 0.0):
        found = sort_and_reach(put(scores), None if groups == 1 else put(group), put(bounds), margin)
        s, g = scores[to_numpy(found.order)], group[to_numpy(found.order)]
        inside = (s[None, :] - s[:, None] < margin) & (g[None, :] == g[:, None])
        begin = bounds[g]
        np.testing.assert_array_equal(to_numpy(found.upto), begin + inside.sum(axis=1))
        looking_down = (s[:, None] - s[None, :] < margin) & (g[None, :] == g[:, None])
        np.testing.assert_array_equal(to_numpy(found.since), bounds[g + 1] - looking_down.sum(axis=1))


def test_a_loss_stays_where_its_scores_are():
    torch = pytest.importorskip("torch", reason="tensors need torch, the [gpu] extra")
    rng = np.random.default_rng(0)
    scores, pairs = rng.normal(size=200), Grades(rng.integers(0, 4, 200)).pairs
    here, there = (LOSSES["squared_hinge"].graded(s, pairs) for s in (scores, torch.from_numpy(scores)))
    assert isinstance(there.gradient, torch.Tensor)
    assert there.value == pytest.approx(here.value, rel=1e-12)
    np.testing.assert_allclose(there.gradient.numpy(), here.gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(there.hessian_diagonal().numpy(), here.hessian_diagonal())
