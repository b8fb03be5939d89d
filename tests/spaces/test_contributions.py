"""Contributions of features between two rows: the definition, exactly, for trees and for sums over columns."""

from __future__ import annotations

import numpy as np
import pytest
from tests.reference import shapley, trees

from wellorder.evaluation.attribution import additive_contributions, forest_contributions
from wellorder.spaces import Bumps, Forest
from wellorder.spaces.basis import Standard
from wellorder.spaces.steps import Step, Steps


def test_both_definitions_of_the_reference_are_one():
    rng = np.random.default_rng(0)
    table = rng.standard_normal(16)
    a, b = np.ones(4), np.zeros(4)

    def score(x):
        return table[int(x @ [1, 2, 4, 8])]

    np.testing.assert_allclose(
        shapley.by_orders(score, a, b, range(4), 4), shapley.by_sets(score, a, b, range(4), 4), atol=1e-12
    )


@pytest.mark.parametrize("seed", range(12))
def test_trees_agree_with_the_sum_over_all_sets(seed):
    rng = np.random.default_rng(seed)
    arrays = trees.draw(rng, n_trees=4, n_features=5, thresholds=[-0.5, 0.0, 0.5])
    rows = rng.choice([-1.0, -0.5, 0.0, 0.2, 1.0], (2, 5))
    found = forest_contributions(Forest.from_arrays(arrays), rows, np.arange(5), 5)

    def score(x):
        return trees.scores(arrays, [x])[0]

    np.testing.assert_allclose(found, shapley.by_sets(score, *rows, range(5), 5), atol=1e-12)
    assert found.sum() == pytest.approx(score(rows[0]) - score(rows[1]), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_columns_of_one_player_change_together(seed):
    rng = np.random.default_rng(100 + seed)
    arrays = trees.draw(rng, n_trees=5, n_features=6, thresholds=[-0.5, 0.0, 0.5])
    rows, player = rng.standard_normal((2, 6)), np.array([0, 1, 1, 2, 0, 2])
    found = forest_contributions(Forest.from_arrays(arrays), rows, player, 4)

    def score(x):
        return trees.scores(arrays, [x])[0]

    expected = shapley.by_orders(score, *rows, player, 3)
    np.testing.assert_allclose(found[:3], expected, atol=1e-12)
    assert found[3] == 0.0  # a column of text that is constant has no number


def test_trees_change_only_the_sign_with_the_rows_exchanged_to_the_last_bit():
    rng = np.random.default_rng(7)
    forest = Forest.from_arrays(trees.draw(rng, n_trees=200, n_features=8, thresholds=rng.standard_normal(20)))
    rows = rng.standard_normal((2, 8))
    there = forest_contributions(forest, rows, np.arange(8), 8)
    assert np.count_nonzero(there) > 4
    np.testing.assert_array_equal(there, -forest_contributions(forest, rows[::-1], np.arange(8), 8))


def test_a_tree_of_one_long_chain_is_no_trouble():
    depth = 1500  # deeper than Python recurses, each node on a column of its own
    inner, last = np.arange(depth), np.full(depth + 1, -1)
    forest = Forest(
        feature=np.concatenate([inner, last]).astype(np.int32),
        threshold=np.zeros(2 * depth + 1),
        left=np.concatenate([depth + inner, last]).astype(np.int32),
        right=np.concatenate([np.append(inner[1:], 2 * depth), last]).astype(np.int32),
        value=np.append(np.zeros(2 * depth), 1.0),
        roots=np.zeros(1, np.int32),
    )
    rows = np.stack([np.ones(depth), -np.ones(depth)])
    found = forest_contributions(forest, rows, np.arange(depth), depth)
    np.testing.assert_allclose(found, 1 / depth, rtol=1e-12)  # all are needed, and equally so


def test_sums_over_columns_are_taken_apart():
    rng = np.random.default_rng(3)
    X, rows = rng.standard_normal((30, 4)), rng.standard_normal((2, 4))
    feature, centre, weight = rng.integers(0, 3, 12), rng.standard_normal(12), rng.standard_normal(12)
    bumps = Bumps.add_up(Standard.fit(X, np.ones(30)), 0.5, feature, centre, weight)
    steps = Steps.add_up([Step(int(k), float(c)) for k, c in zip(feature, centre, strict=True)], weight)
    for pieces in (bumps, steps):
        found = additive_contributions(pieces, rows)
        expected = shapley.by_orders(lambda x, f=pieces: f.scores(x[None])[0], *rows, range(4), 4)
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert found[3] == 0.0


def test_a_missing_value_is_beyond_no_step():
    steps = Steps.add_up([Step(0, -np.inf), Step(0, 1.0)], [0.5, 2.0])
    rows = np.array([[3.0], [np.nan]])
    np.testing.assert_array_equal(additive_contributions(steps, rows), [2.5])
