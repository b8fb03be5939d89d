from __future__ import annotations

import uuid

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.reference import aggregation as reference

import wellorder as wo
from wellorder.aggregation import borda, markov, markov_chain, median_rank
from wellorder.estimators.multiple_hyperplane_ranker import learn_weights

FUNCTIONS = [borda, median_rank, markov_chain]


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rankers = draw(st.integers(0, 14)), draw(st.integers(1, 4))
    scores = rng.integers(0, draw(st.sampled_from([1, 3, 100])), (n, rankers)) / 3
    weights = draw(st.sampled_from([np.ones(rankers), rng.integers(0, 3, rankers) / 10 + 0.1]))
    return scores, rng.integers(0, draw(st.sampled_from([1, 4])), n), weights


@given(tables())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_borda_and_median_count_item_by_item(form, case):
    scores, group, weights = case
    np.testing.assert_allclose(borda(scores, group, weights), reference.borda(scores, group, weights), atol=1e-12)
    np.testing.assert_array_equal(median_rank(scores, group), reference.median_rank(scores, group))


@given(case=tables(), teleport=st.sampled_from([0.02, 0.15, 0.9]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_markov_chain_is_where_the_walk_rests(form, case, teleport):
    scores, group, weights = case
    expected = reference.markov_chain(scores, group, weights, teleport)
    np.testing.assert_allclose(markov_chain(scores, group, weights, teleport), expected, rtol=1e-9)


@pytest.mark.parametrize("height", [1, 7, 64])
def test_long_lists_are_solved_block_by_block(height, monkeypatch):
    scores = np.random.default_rng(0).standard_normal((90, 3))  # independent rankers: many circles
    expected = reference.markov_chain(scores, np.zeros(90), np.ones(3), 0.15)
    monkeypatch.setattr(markov, "_HEIGHT", height)
    np.testing.assert_allclose(markov_chain(scores), expected, rtol=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(case=tables(), seed=st.integers(0, 1000))
def test_the_order_of_rows_rankers_and_groups_does_not_count(function, case, seed):
    scores, group, _ = case
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(scores))
    names = np.array([uuid.UUID(int=int(rng.integers(2**62))) for _ in range(4)], dtype=object)
    out = function(scores, group)
    np.testing.assert_allclose(function(scores[place], names[group][place]), out[place], rtol=1e-9)
    np.testing.assert_allclose(function(scores[:, ::-1], group), out, rtol=1e-9)
    np.testing.assert_array_equal(function(np.arctan(scores), group), out)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_rankers_that_agree_are_followed(function):
    one = np.random.default_rng(1).permutation(np.arange(200.0))
    out = function(np.column_stack([one, 3 * one, one - 1e6]))
    np.testing.assert_array_equal(np.argsort(out), np.argsort(one))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_many_rows_and_infinite_scores(function):
    rng = np.random.default_rng(2)
    scores, group = rng.standard_normal((12_000, 2)), np.arange(12_000) % 1000
    scores[:5] = np.inf
    out = function(scores, group)
    rows = np.flatnonzero(group == 3)
    np.testing.assert_allclose(out[rows], function(scores[rows]), rtol=1e-9)


def test_a_heavy_ranker_wins():
    scores = [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    assert np.argmax(borda(scores)) == 0
    assert np.argmax(borda(scores, weights=[5, 1, 1])) == 1
    assert np.argmax(markov_chain(scores)) == 0
    assert np.argmax(markov_chain(scores, weights=[5, 1, 1])) == 1
    np.testing.assert_allclose(markov_chain([[0, 1, 1], [1, 0, 0]], weights=[0.3, 0.1, 0.2]), 0.5)  # no majority


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("scores", "groups", "message"),
    [
        ([[0.0, 1.0], [np.nan, 1.0]], None, "row 1 by ranker 0 is NaN"),
        ([0.0, 1.0], None, "one column a ranker"),
        (np.zeros((3, 0)), None, "one column a ranker"),
        ([[0.0], [1.0]], ["a"], "groups has 1 entries for 2 rows"),
        ([[0.0], [1.0]], ["a", None], "row 1 has no group id"),
    ],
)
def test_bad_input_is_named(function, scores, groups, message):
    with pytest.raises(ValueError, match=message):
        function(scores, groups)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: borda([[0, 1]], weights=[1]), "2 rankers"),
        (lambda: borda([[0, 1]], weights=[1, -1]), "ranker 1 has the weight -1"),
        (lambda: borda([[0, 1]], weights=[0, 0]), "weight zero"),
        (lambda: markov_chain([[0, 1]], teleport=0), "between 0 and 1"),
        (lambda: markov_chain(np.zeros((100_000, 1))), "100,000 items has .* use borda"),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_row_and_one_row(function):
    assert function(np.zeros((0, 2))).shape == (0,)
    assert function([[0.3, 0.1]]).tolist() == {borda: [0.0], median_rank: [-1.0], markov_chain: [1.0]}[function]


def test_both_forms_of_the_markov_chain_give_the_same_scores(monkeypatch):
    rng = np.random.default_rng(3)
    for noise in (0.3, 3.0):
        scores = np.round(rng.standard_normal((6_000, 1)) + noise * rng.standard_normal((6_000, 4)), 1)  # ties
        group = rng.integers(0, 90, 6_000)
        compiled = markov_chain(scores, group)
        with monkeypatch.context() as patch:
            patch.setattr(markov, "_SHORT", 0)
            np.testing.assert_allclose(markov_chain(scores, group), compiled, rtol=1e-10)


def test_learned_weights_find_the_ranker_that_knows():
    rng = np.random.default_rng(4)
    truth = rng.standard_normal(200)
    points = np.column_stack([rng.standard_normal(200), truth + 0.1 * rng.standard_normal(200), -truth])

    def judge(scores):
        return float(np.corrcoef(scores, truth)[0, 1])

    weights = learn_weights(points, judge)
    assert weights.sum() == pytest.approx(1)
    assert weights[1] > 0.9
    assert weights[2] == 0
    tried = [judge(points @ other) for other in rng.dirichlet(np.ones(3), 500)]
    assert judge(points @ weights) >= max(tried) - 0.01


def test_nothing_to_learn_leaves_weights_equal():
    points = np.random.default_rng(5).standard_normal((10, 4))
    np.testing.assert_allclose(learn_weights(points, lambda scores: 1.0), 0.25)
    assert learn_weights(points[:, :1], lambda scores: 1.0).tolist() == [1.0]


def test_the_room_is_open():
    assert wo.aggregation.borda is borda
