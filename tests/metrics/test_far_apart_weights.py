"""Weights that lie hundreds of orders of magnitude apart: every metric of pairs against fractions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.reference import exact_pairs as exact

from wellorder import metrics
from wellorder.sweeps import dispatch
from wellorder.sweeps.factors import cover_sums, stretch_sums, sums_before

TINY = 1e-140
"""Shares below this may vanish: two weights and their product have to fit into the range of floats."""


def close(value):
    return pytest.approx(float(value), rel=1e-9, abs=TINY)


@dataclass
class Weighted:
    y: np.ndarray
    scores: np.ndarray
    group: np.ndarray
    weight: np.ndarray

    def sums(self, ties):
        return exact.edges(*(part.tolist() for part in (self.y, self.scores, self.group, self.weight)), ties)


@st.composite
def weighted(draw, most=300, max_rows=12):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, max_rows))
    y = rng.integers(0, draw(st.sampled_from([2, 3, 40])), n)
    scores = rng.integers(0, draw(st.sampled_from([2, 5, 1000])), n) / 4
    group = rng.integers(0, draw(st.sampled_from([1, 2, 4])), n)
    power = rng.uniform(-1, 1, n) * draw(st.sampled_from([0, 20, most]))
    weight = rng.uniform(1, 10, n) * 10.0 ** (power + draw(st.sampled_from([0, most, -most])) * (1 - abs(power) / most))
    return Weighted(y, scores, group, np.clip(weight, 10.0**-most, 10.0**most))


def forms(test):
    """Run over both forms of the sweeps, and with ladders wherever the order allows one."""
    test = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)(test)
    return pytest.mark.parametrize("ties", ["error", "half"])(test)


@forms
@given(case=weighted())
def test_shares_of_pairs(form, cell_form, ties, case):
    sums = case.sums(ties)
    if not sums:
        return
    given = {"groups": case.group, "sample_weight": case.weight, "ties": ties}
    share = exact.share(sums)
    found = metrics.swapped_pairs(case.y, case.scores, **given)
    assert found == close(share)
    assert 0.0 <= found <= 1.0
    assert metrics.wmw(case.y, case.scores, **given) == close(1 - share)
    assert metrics.auc_pairs(case.y, case.scores, **given) == close(1 - share)
    linear = exact.share(sums, lambda low, high: high - low)
    assert metrics.swapped_pairs(case.y, case.scores, order="linear", **given) == close(linear)
    assert metrics.wmw(case.y, case.scores, order="linear", **given) == close(1 - linear)


@forms
@given(case=weighted())
def test_means_over_edges_and_rates(form, cell_form, ties, case):
    sums = case.sums(ties)
    if not sums:
        return
    given = {"groups": case.group, "sample_weight": case.weight, "ties": ties}
    assert metrics.auc_ovo(case.y, case.scores, **given) == close(1 - exact.over_edges(sums))
    assert metrics.wmw(case.y, case.scores, average="edges", **given) == close(1 - exact.over_edges(sums))
    expected = {edge: close(rate) for edge, rate in exact.rates(sums).items()}
    assert metrics.order_error_rates(case.y, case.scores, **given) == expected
    in_one = exact.edges(case.y.tolist(), case.scores.tolist(), [0] * len(case.y), case.weight.tolist(), ties)
    given["groups"] = None
    assert metrics.auc_ovo(case.y, case.scores, **given) == close(1 - exact.over_edges(in_one))


@forms
@given(case=weighted(most=70))
def test_means_over_cuts_and_costs(form, cell_form, ties, case):
    sums = case.sums(ties)
    if not sums:
        return
    given = {"groups": case.group, "sample_weight": case.weight, "ties": ties}
    assert metrics.auc_consecutive(case.y, case.scores, **given) == close(1 - exact.over_cuts(sums))
    cost = exact.share(sums, lambda low, high: high - low)
    cost *= sum((high - low) * every for (low, high), (_, every) in sums.items()) / sum(
        part[1] for part in sums.values()
    )
    assert metrics.misranking_cost(case.y, case.scores, "linear", **given) == close(cost)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(case=weighted())
def test_kendalls_tau(form, cell_form, case):
    parts = exact.kendall(*(part.tolist() for part in (case.y, case.scores, case.group, case.weight)))
    given = {"groups": case.group, "sample_weight": case.weight}
    pooled = [sum(part[k] for part in parts) for k in range(3)]
    if not all(pooled[1:]):
        return
    found = metrics.kendall_tau(case.y, case.scores, **given)
    # P − Q is a difference, known to so many digits of the smaller of N_y and N_s, and beside the larger it may vanish
    known = 1e-12 * float(min(pooled[1:]) / max(pooled[1:])) ** 0.5 + TINY**0.5
    assert found == pytest.approx(exact.correlation(*pooled), rel=1e-9, abs=known)
    of_groups = [exact.correlation(*part) if part[2] else 0.0 for part in parts if part[1]]
    found = metrics.kendall_tau(case.y, case.scores, average="groups", **given)
    assert found == pytest.approx(np.mean(of_groups), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("light", [1e-16, 1e-14, 1e-300])
def test_a_light_row_beside_a_heavy_one(light, form):
    assert metrics.swapped_pairs([2, 0], [0, 1], sample_weight=[light, 2]) == 1.0
    assert metrics.swapped_pairs([2, 0], [1, 0], sample_weight=[light, 2]) == 0.0
    assert metrics.wmw([2, 0], [0, 1], sample_weight=[light, 2]) == 0.0


@pytest.mark.parametrize("weight", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize(
    "name", [name for name in metrics.METRICS if "sample_weight" in metrics.METRICS[name].function.__annotations__]
)
def test_a_common_factor_changes_nothing(name, weight, form):
    rng = np.random.default_rng(0)
    y, scores, group = rng.integers(0, 4, 40), rng.normal(size=40).round(1), rng.integers(0, 3, 40)
    metric = metrics.parse(name)
    for groups in (None, group):
        expected = metric(y, scores, groups)
        assert metric(y, scores, groups, sample_weight=np.full(40, weight)) == pytest.approx(expected, rel=1e-13)


def test_cuts_that_no_number_can_hold_are_refused():
    with pytest.raises(ValueError, match="lie too far apart for a mean over the cuts"):
        metrics.auc_consecutive([0, 1, 2, 3], [0, 1, 2, 3], sample_weight=[1e300, 1e300, 1e-300, 1e-300])


@pytest.mark.parametrize("compiled_from", [0, 10**12])
def test_sums_of_blocks_subtract_nothing(monkeypatch, compiled_from):
    monkeypatch.setattr(dispatch, "COMPILED_FROM", compiled_from)
    rng = np.random.default_rng(0)
    starts = np.array([0, 3, 3, 4, 20, 20])
    values = 10.0 ** rng.uniform(-300, 300, 20)
    expected = [math.fsum(values[begin:k]) for begin, end in pairwise(starts) for k in range(begin, end)]
    np.testing.assert_allclose(sums_before(values, starts), expected, rtol=1e-14)
    whole = rng.integers(0, 9, 20)
    expected = [whole[begin:k].sum() for begin, end in pairwise(starts) for k in range(begin, end)]
    assert sums_before(whole, starts).tolist() == expected
    assert sums_before(values[:0], np.array([0])).tolist() == []


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 20))
def test_sums_of_stretches_and_of_what_covers_a_place(seed, n):
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, n + 1, (15, 2)), axis=1)
    values = 10.0 ** rng.uniform(-300, 300, 15)
    expected = [math.fsum(values[(ends[:, 0] <= place) & (place < ends[:, 1])]) for place in range(n)]
    np.testing.assert_allclose(cover_sums(*ends.T, values, n), expected, rtol=1e-14)
    along = 10.0 ** rng.uniform(-300, 300, n)
    expected = [math.fsum(along[start:stop]) for start, stop in ends]
    np.testing.assert_allclose(stretch_sums(along, *ends.T), expected, rtol=1e-14)
