"""Metrics take torch tensors: those of pairs are summed where the scores are."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder import Grades, metrics

torch = pytest.importorskip("torch", reason="tensors need torch, the [gpu] extra")


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 500).astype(float), rng.normal(size=500).round(1)
    scores[:3] = np.inf, -np.inf, 1e300
    return y, scores, rng.integers(0, 12, 500)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "name", ["swapped_pairs", "wmw", "auc_ovo", "auc_consecutive", "kendall_tau", "ndcg@5", "average_precision"]
)
def test_tensors_give_what_arrays_give(case, name, grouped):
    y, scores, group = case
    metric = metrics.parse(name)
    groups = group if grouped else None
    expected = metric(y, scores, groups)
    tensors = [torch.from_numpy(part) for part in (y, scores, group)]
    assert metric(tensors[0], tensors[1], tensors[2] if grouped else None) == pytest.approx(expected, rel=1e-12)
    assert metric(Grades(y, groups), tensors[1]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ties", ["error", "half"])
@pytest.mark.parametrize("order", ["full", "chain", "linear"])
def test_weights_orders_and_ties(case, order, ties):
    y, scores, group = case
    weight = np.arange(500) % 3.0
    given = {"order": order, "ties": ties, "groups": group}
    expected = metrics.swapped_pairs(y, scores, sample_weight=weight, **given)
    found = metrics.swapped_pairs(y, torch.from_numpy(scores), sample_weight=torch.from_numpy(weight), **given)
    assert found == pytest.approx(expected, rel=1e-12)


def test_as_many_levels_as_rows():
    rng = np.random.default_rng(1)
    y, scores = rng.normal(size=3_000), rng.normal(size=3_000).astype(np.float32)
    assert metrics.swapped_pairs(torch.from_numpy(y), torch.from_numpy(scores)) == metrics.swapped_pairs(y, scores)


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match="the score of row 1 is NaN"):
        metrics.swapped_pairs([0, 1], torch.tensor([0.0, float("nan")]))
    with pytest.raises(ValueError, match=r"scores have shape \(3,\), but there are 2 rows"):
        metrics.swapped_pairs([0, 1], torch.zeros(3))


@pytest.mark.parametrize("order", ["full", "chain", "linear"])
@pytest.mark.parametrize("n_levels", [3, 400])
def test_weights_far_apart(order, n_levels):
    rng = np.random.default_rng(2)
    y, scores, group = rng.integers(0, n_levels, 400), rng.normal(size=400).round(2), rng.integers(0, 3, 400)
    weight = 10.0 ** rng.uniform(-300, 300, 400)
    given = {"order": order, "groups": group}
    expected = metrics.swapped_pairs(y, scores, sample_weight=weight, **given)
    found = metrics.swapped_pairs(y, torch.from_numpy(scores), sample_weight=torch.from_numpy(weight), **given)
    assert found == pytest.approx(expected, rel=1e-12)
    tau = metrics.kendall_tau(y, scores, group, sample_weight=weight)
    assert metrics.kendall_tau(y, torch.from_numpy(scores), group, sample_weight=weight) == pytest.approx(tau, rel=1e-9)
    assert metrics.swapped_pairs([2, 0], torch.tensor([0.0, 1.0]), sample_weight=[1e-16, 2.0]) == 1.0


def test_whole_numbers_beyond_floats_keep_their_order():
    large = torch.tensor([2**53, 2**53 + 1])
    assert metrics.swapped_pairs([0, 1], large) == 0.0
    assert metrics.swapped_pairs([1, 0], large) == 1.0
    assert metrics.ndcg([0, 1], large) == 1.0
