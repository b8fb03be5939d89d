"""What is judged beside the metrics: curves where they mean something, intervals within what a metric can be."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.evaluation.judging import default_metrics, judge_grades
from wellorder.evaluation.leaderboard import Protocol, make_leaderboard
from wellorder.evaluation.records import Record
from wellorder.metrics import METRICS, Definition, ndcg
from wellorder.order import Grades


def test_the_top_of_one_list_has_a_curve_as_the_tops_of_many_do():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 50), rng.standard_normal(50)
    one = judge_grades(Grades(y), scores, ["swapped_pairs"])
    assert one.curve is not None
    assert one.curve.y == pytest.approx([ndcg(y, scores, k=k) for k in range(1, 11)])
    assert default_metrics(Grades(y)) == ("swapped_pairs", "kendall_tau")  # what one list goes by is every pair
    assert judge_grades(Grades(y, np.arange(50) % 5), scores, ["swapped_pairs"]).curve is not None


@pytest.mark.parametrize("y", [[0.5, 1.0, 2.0, 3.5], [-1, 0, 1, 2], [0, 1, 2, 400]])
def test_grades_that_are_no_gains_have_no_curve(y):
    assert judge_grades(Grades(y), np.arange(4.0), ["swapped_pairs"]).curve is None


def standing_of(metric, values, *, greater):
    records = [Record(str(k), "d", "m", 0, k, 0, 20, 10, {metric: value}) for k, value in enumerate(values)]
    protocol = Protocol("groups", 3, 1, 3, 0, metric, (metric,))
    return make_leaderboard("d", records, ["m"], [], protocol, greater_is_better=greater).leader


@pytest.mark.parametrize(
    ("metric", "greater"), [("ndcg@10", True), ("swapped_pairs", False), ("p_norm_push(p=2)", False)]
)
def test_intervals_end_where_the_metric_does(metric, greater):
    standing = standing_of(metric, (1.0, 1.0, 0.97) if greater else (0.0, 0.0, 0.03), greater=greater)
    assert (standing.high == 1.0) if greater else (standing.low == 0.0)


def test_intervals_end_nowhere_else(monkeypatch):
    dcg = Definition(lambda y, scores, groups=None: 0.0, "dcg", True, "DCG", "Gains, discounted.", bounds=(0, np.inf))
    monkeypatch.setitem(METRICS, "dcg", dcg)
    standing = standing_of("dcg", (17.0, 17.3, 18.1), greater=True)
    assert 15 < standing.low < standing.mean < standing.high < 20
    assert standing_of("dcg", (0.0, 0.0, 9.0), greater=True).low == 0
    assert standing_of("kendall_tau", (-0.5, -0.4, -0.6), greater=True).low < -0.6
    assert standing_of("kendall_tau", (-1.0, -1.0, 0.9), greater=True).low == -1
    assert standing_of("p_norm_push(normalize=False)", (40.0, 42.0, 45.0), greater=False).high > 42
