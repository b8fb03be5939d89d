"""The risk whose pairs weigh what their swap changes in a metric, beside every order of tied rows and every pair."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tests.reference import swap_changes

import wellorder as wo
from wellorder.losses import LOSSES, PlaceRisk
from wellorder.metrics import METRICS, parse
from wellorder.sweeps import places

pytestmark = pytest.mark.usefixtures("form")

HELD = {"exponential": "exponential", "logistic": "logistic", "squared_hinge": "squared_hinge"}
CHANGES = {
    "ndcg": swap_changes.ndcg,
    "precision": lambda k, top: swap_changes.precision(k),
    "average_precision": lambda k, top: swap_changes.average_precision(k),
    "reciprocal_rank": lambda k, top: swap_changes.reciprocal_rank(k),
    "err": swap_changes.err,
}
NAMES = [f"{name}@{k}" for name in CHANGES for k in (1, 2, 3, 10)] + [n for n in CHANGES if n != "precision"]


def test_every_metric_that_says_what_a_swap_changes_is_tried():
    assert set(CHANGES) == {name for name, each in METRICS.items() if each.swaps is not None}


def agrees(metric, y, scores, group, losses=tuple(HELD)):
    """Hold value, gradient and curvature to sums over listed pairs."""
    grades, top = wo.Grades(y, group), np.max(y)
    change = CHANGES[metric.name](metric.cutoff, top)
    pairs = swap_changes.weighted_pairs(y, scores, group, change)
    for loss in losses:
        risk = PlaceRisk(HELD[loss], grades, metric.swap_terms(grades))
        at, factor = risk(scores), risk.mass / max(risk.n_lists, 1)
        assert at.value == pytest.approx(factor * swap_changes.risk(loss, pairs, scores), rel=1e-9, abs=1e-12)
        assert at.gradient == pytest.approx(factor * swap_changes.gradient(loss, pairs, scores), rel=1e-9, abs=1e-9)
        bend = np.diag(swap_changes.hessian(loss, pairs, scores))
        assert at.hessian_diagonal() == pytest.approx(factor * bend, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_sum_over_listed_pairs_and_all_orders_of_ties(name):
    rng, metric = np.random.default_rng(0), parse(name)
    for trial in range(12):
        n = 1 + trial % 6
        y = rng.integers(0, rng.integers(2, 5), n).astype(float)
        scores = rng.integers(0, rng.choice([1, 2, 3, 20]), n) / 2
        agrees(metric, y, scores, rng.integers(0, 2, n))


@pytest.mark.parametrize("name", ["average_precision", "average_precision@2", "average_precision@3", "ndcg@2"])
@pytest.mark.parametrize("groups", [(1, 2, 1), (2, 2), (3, 1), (2, 3)])
def test_it_is_so_for_all_ways_in_which_tied_rows_may_be_relevant(name, groups):
    metric, scores = parse(name), -np.repeat(np.arange(len(groups)), groups).astype(float)
    for y in product([0.0, 1.0], repeat=len(scores)):
        if 0 < sum(y) < len(y):
            agrees(metric, np.array(y), scores, np.zeros(len(y), int), ("logistic",))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_so_for_lists_without_ties_and_longer_than_the_cutoff(name):
    rng, metric = np.random.default_rng(1), parse(name)
    y = np.concatenate([rng.integers(0, 5, 14), [0, 0, 3]]).astype(float)
    agrees(metric, y, rng.standard_normal(17), np.repeat([0, 1], [14, 3]))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("n_above", [0, 1])
def test_a_long_tie_at_the_cut_is_the_mean_over_which_rows_come_first(name, n_above):
    """So long, beside the places that are left for it, that what a row adds is taken out again instead of left out."""
    rng, metric = np.random.default_rng(2), parse(f"{name}@{1 + n_above}")
    for _ in range(3):
        y = rng.integers(0, 4, 7 + n_above).astype(float)
        scores = np.concatenate([np.ones(n_above), np.zeros(6), [-1.0]])
        agrees(metric, y, scores, np.zeros(len(y), int), losses=("exponential",))


@pytest.mark.parametrize("name", ["ndcg@10", "precision@10", "map@10", "mrr@10", "err@10"])
def test_rows_one_by_one_in_a_tie_are_the_tie(name):
    """Scores that are all but tied in every order alike: the mean of their gradients is about that of the tie."""
    rng, metric = np.random.default_rng(3), parse(name)
    y = rng.integers(0, 3, 12).astype(float)
    grades = wo.Grades(y)
    risk = PlaceRisk("logistic", grades, metric.swap_terms(grades))
    at = [risk(1e-9 * rng.standard_normal(12)) for _ in range(4000)]
    tied = risk(np.zeros(12)).gradient
    if np.abs(tied).max() == 0:
        return
    found = np.mean([each.gradient for each in at], axis=0)
    assert np.sum(np.abs(found - tied)) < 0.15 * np.sum(np.abs(tied))


@pytest.mark.parametrize("name", ["ndcg@10", "map", "err@5", "mrr"])
@pytest.mark.parametrize("loss", HELD)
def test_rows_and_lists_may_come_in_any_order_and_scores_from_anywhere(name, loss):
    rng, metric = np.random.default_rng(4), parse(name)
    n = 300
    y, scores, group = rng.integers(0, 4, n).astype(float), rng.integers(0, 30, n) / 7.3, rng.integers(0, 8, n)
    y[rng.random(n) < 0.1] = np.nan

    def at(rows, shift=0.0):
        grades = wo.Grades(y[rows], group[rows])
        found = PlaceRisk(HELD[loss], grades, metric.swap_terms(grades))(scores[rows] + shift)
        return found.value, found.gradient, found.hessian_diagonal()

    shuffled = rng.permutation(n)
    value, gradient, diagonal = at(np.arange(n))
    for other in (at(shuffled), at(shuffled, 3.0)):
        assert other[0] == pytest.approx(value)
        assert other[1] == pytest.approx(gradient[shuffled], abs=1e-9)
        assert other[2] == pytest.approx(diagonal[shuffled], abs=1e-9)
    assert gradient[np.isnan(y)].tolist() == [0.0] * int(np.isnan(y).sum())
    assert sum(gradient) == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("sizes", [[5] * 12, [1, 30, 2, 1], [40], [0, 7, 0, 3, 3]])
def test_lists_may_be_summed_in_parts(sizes, monkeypatch):
    """As those of very many rows are: in a few parts of about as many rows, each list whole."""
    rng = np.random.default_rng(5)
    n, metric = sum(sizes), parse("err@3")
    y, scores = rng.integers(0, 4, n).astype(float), rng.standard_normal(n)
    grades = wo.Grades(y, np.repeat(np.arange(len(sizes)), sizes))
    whole = PlaceRisk("logistic", grades, metric.swap_terms(grades))(scores)
    seen, cut = [], places._cut
    monkeypatch.setattr(places, "THREADS_FROM", 1)
    monkeypatch.setattr(places, "_cut", lambda given: seen.append(cut(given)) or seen[-1])
    parts = PlaceRisk("logistic", grades, metric.swap_terms(grades))(scores)
    assert parts.value == pytest.approx(whole.value, rel=1e-14)
    np.testing.assert_array_equal(parts.gradient, whole.gradient)
    np.testing.assert_array_equal(parts.hessian_diagonal(), whole.hessian_diagonal())
    rows = [np.arange(n)[rows] for _, rows in seen[0]]
    np.testing.assert_array_equal(np.concatenate(rows), np.arange(n))
    assert max(map(len, rows)) <= n / 4 + max(sizes)


def test_queries_count_the_same_however_long_and_rich_they_are():
    rng = np.random.default_rng(5)
    sizes = [4, 400]
    y = np.concatenate([[0.0, 1.0, 0.0, 1.0], rng.integers(0, 5, 400).astype(float)])
    grades = wo.Grades(y, np.repeat([0, 1], sizes))
    risk = PlaceRisk("exponential", grades, parse("ndcg@10").swap_terms(grades))
    gradient = risk(np.zeros(404)).gradient
    assert (risk.n_lists, risk.mass) == (2, 404)
    alone = wo.Grades(y[:4])
    share = PlaceRisk("exponential", alone, parse("ndcg@10").swap_terms(alone))(np.zeros(4)).gradient / 4
    assert gradient[:4] / (404 / 2) == pytest.approx(share)


def test_lists_that_no_swap_changes_have_no_say():
    y, group = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1, 2, 2, 2])
    grades = wo.Grades(y, group)
    risk = PlaceRisk("exponential", grades, parse("precision@2").swap_terms(grades))
    assert risk.n_lists == 1  # two rows fill two places, whatever their order
    assert np.flatnonzero(risk.weight).tolist() == [4, 5, 6]


def test_a_metric_that_no_swap_is_known_of_says_which_are():
    with pytest.raises(ValueError, match=r"nothing is known of what a swap.*ndcg, average_precision, precision"):
        parse("kendall_tau").swap_terms(wo.Grades([0, 1]))


def test_gains_beyond_all_numbers_are_refused():
    with pytest.raises(ValueError, match="a grade of 1030 gains 2\\^1030 − 1"):
        parse("ndcg@10").swap_terms(wo.Grades([0.0, 1030.0]))
    assert np.isfinite(parse("ndcg(gain=linear)@10").swap_terms(wo.Grades([0.0, 1030.0])).gain).all()


def test_every_held_loss_is_a_registered_loss():
    assert set(HELD) <= set(LOSSES)
