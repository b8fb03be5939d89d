"""Parts of an order: some of the graded rows, or some of the comparisons over all items."""

import numpy as np
import pytest

import wellorder as wo

GRADES = wo.Grades([2, 0, 1, np.nan], ["a", "a", "b", "b"], weights=[1, 2, 3, 4])
GAMES = wo.Comparisons([0, 1, 2], [1, 2, 3], [1, 0, -1], [5, 6, 7])
SAME = [[0, 2], np.array([0, 2]), np.array([True, False, True]), [0, -1]]


def test_grades_keep_their_levels():
    part = GRADES.take(np.array([2, 0]))
    assert (part.level.tolist(), part.levels, part.weight.tolist()) == ([1, 2], (0.0, 1.0, 2.0), [3.0, 1.0])
    assert (part.group.tolist(), part.n_groups) == ([1, 0], 2)
    assert GRADES.values.tolist()[:3] == [2.0, 0.0, 1.0]
    assert np.isnan(GRADES.values[3])


@pytest.mark.parametrize("places", SAME, ids=["list", "numbers", "mask", "from the end"])
def test_comparisons_keep_their_items_and_weights(places):
    part = GAMES.take(places)
    assert (part.left.tolist(), part.right.tolist()) == ([0, 2], [1, 3])
    assert (part.outcome.tolist(), part.weight.tolist()) == ([1, -1], [5.0, 7.0])


@pytest.mark.parametrize(
    "places", [[0, 1, 4], np.array([0, 1, 4]), np.isin(np.arange(7), [0, 1, 4]), [0, 1, -3]], ids=str
)
def test_a_sum_counts_its_parts_one_after_the_other(places):
    total = GRADES + GAMES
    grades, games = total.take(places).parts
    assert len(total) == len(total.is_judged) == 7
    assert grades.level.tolist() == [2, 0, -1, -1]  # the rows stay; others are as if never graded
    assert games.outcome.tolist() == [1]
