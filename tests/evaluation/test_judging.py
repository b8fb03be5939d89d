"""What is judged beside the metrics: curves where they mean something, intervals within what a metric can be."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.evaluation.judging import default_metrics, judge_grades
from wellorder.evaluation.leaderboard import Protocol, make_leaderboard
from wellorder.evaluation.records import Record
from wellorder.metrics import ndcg
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


@pytest.mark.parametrize(
    ("metric", "greater"), [("ndcg@10", True), ("swapped_pairs", False), ("p_norm_push(p=2)", False)]
)
def test_intervals_end_where_the_metric_does(metric, greater):
    values = (1.0, 1.0, 0.97) if greater else (0.0, 0.0, 0.03)
    records = [Record(str(k), "d", "m", 0, k, 0, 20, 10, {metric: value}) for k, value in enumerate(values)]
    protocol = Protocol("groups", 3, 1, 3, 0, metric, (metric,))
    (standing,) = make_leaderboard("d", records, ["m"], [], protocol, greater_is_better=greater).standings
    assert (standing.high == 1.0) if greater else (standing.low == 0.0)
