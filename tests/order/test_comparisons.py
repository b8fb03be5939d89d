from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

import wellorder as wo
from wellorder.losses import LOSSES, risk_at


def test_pairs_point_from_the_worse_to_the_better_item():
    pairs = wo.Comparisons([0, 0, 1], [1, 2, 2], [1, -1, 0], weights=[1, 2, 3]).to_pairs(3)
    assert pairs.high.tolist() == [1, 0]
    assert pairs.low.tolist() == [0, 2]
    assert pairs.weight.tolist() == [1, 2]
    assert pairs.mass == pairs.total == 3.0


def test_describe_counts_ties_contradictions_and_circles():
    found = wo.Comparisons(
        left=[0, 1, 2, 3, 4, 4, 5], right=[1, 2, 0, 4, 3, 5, 6], outcome=[1, 1, 1, 1, 1, 0, -1]
    ).describe()
    assert (found.n_comparisons, found.n_ties, found.n_items) == (7, 1, 7)
    assert found.n_contradictions == 1  # 3 and 4, once each way
    assert found.n_items_in_cycles == 3  # 0 < 1 < 2 < 0
    assert "decided both ways" in str(found)


def test_a_majority_breaks_a_contradiction():
    found = wo.Comparisons([0, 0, 1], [1, 1, 0], [1, 1, 1]).describe()
    assert found.n_contradictions == 1
    assert found.n_items_in_cycles == 0


def test_empty_comparisons_are_described():
    assert wo.Comparisons([], [], []).describe().n_comparisons == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [1], [2]), "comparison 0 has the outcome 2"),
        (([0], [1], [np.nan]), "comparison 0 has the outcome nan"),
        (([0], [1], ["left"]), "comparison 0 has the outcome 'left', which is no number; outcomes are 1 "),
        (([0, 1], [1, 2], [1, None]), "comparison 1 has the outcome None, which is no number"),
        (([0, 1], [1, 2], [False, True]), "comparison 0 has the outcome False; .* give np.where"),
        (([0, 1], [1, 2], np.array([1, False], object)), "comparison 1 has the outcome False"),
        (([0, 1], [1], [1]), "one length, got 2, 1 and 1"),
        (([0.5], [1], [1]), "left must hold the row numbers"),
        (([0], [-1], [1]), r"right\[0\] is negative"),
        (([0, 3], [1, 3], [1, 1]), "comparison 1 finds item 3 better than itself"),
        (([0], [1], [1], [-1.0]), "comparison 0 has the weight -1"),
        (([0], [1], [1], [1.0, 2.0]), "give one weight a comparison"),
        (([[0]], [[1]], [1]), "1d array of row numbers"),
    ],
)
def test_bad_comparisons_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        wo.Comparisons(*arguments)


def test_objects_that_are_numbers_are_outcomes():
    games = wo.Comparisons([0, 1, 2], [1, 2, 0], np.array([1, np.int64(0), -1.0], object))
    assert games.outcome.tolist() == [1, 0, -1]


def test_items_beyond_the_table_are_named():
    with pytest.raises(ValueError, match="comparison 1 names item 7, but there are 5 rows"):
        wo.RankSVM().fit(np.eye(5), wo.Comparisons([0, 7], [1, 2], [1, 1]))


def test_only_ties_are_nothing_to_learn_from():
    with pytest.raises(ValueError, match="every comparison is a tie"):
        wo.RankSVM().fit(np.eye(3), wo.Comparisons([0, 1], [1, 2], [0, 0]))


def test_comparisons_of_all_pairs_equal_grades():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    left, right = np.triu_indices(30, 1)
    comparisons = wo.Comparisons(left, right, np.sign(y[right] - y[left]))
    grades = wo.Grades(y)
    share = grades.pairs.mass / grades.pairs.total
    a = wo.RankSVM(C=1.0, tol=1e-9).fit(X, grades)
    b = wo.RankSVM(C=share, tol=1e-9).fit(X, comparisons)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-4)
    assert b.n_pairs_ == a.n_pairs_
    assert b.score(X, comparisons) == pytest.approx(a.score(X, y), abs=1e-9)


def test_the_risks_of_a_sum_add_up():
    rng = np.random.default_rng(1)
    y, s, u = rng.integers(0, 3, 20), rng.standard_normal(20), rng.standard_normal(20)
    grades, comparisons = wo.Grades(y), wo.Comparisons([0, 1, 2], [3, 4, 5], [1, -1, 1], weights=[1, 2, 1])
    total = (grades + comparisons).to_pairs(20)
    parts = [grades.pairs, comparisons.to_pairs(20)]
    for loss in LOSSES.values():
        whole = risk_at(loss, s, total)
        risks = [risk_at(loss, s, part) for part in parts]
        shares = [part.mass / part.total for part in parts]
        assert whole.value == pytest.approx(sum(c * r.value for c, r in zip(shares, risks, strict=True)))
        np.testing.assert_allclose(
            whole.hessian_product(u), sum(c * r.hessian_product(u) for c, r in zip(shares, risks, strict=True))
        )
        np.testing.assert_allclose(
            whole.gradient, sum(c * r.gradient for c, r in zip(shares, risks, strict=True)), atol=1e-12
        )


def test_sums_add_up_further():
    grades, comparisons = wo.Grades([0, 1, 2]), wo.Comparisons([0], [1], [1])
    total = grades + comparisons + comparisons + grades
    assert total.parts == (grades, comparisons, comparisons, grades)
    assert (grades + (comparisons + grades)).parts == (grades, comparisons, grades)
    assert total.to_pairs(3).n_pairs == 8


def test_sums_fit_and_keep_what_each_part_says():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((40, 3))
    y = np.where(np.arange(40) < 20, X[:, 0].round(), np.nan)
    order = wo.Grades(y) + wo.Comparisons(np.arange(20, 39), np.arange(21, 40), np.sign(np.diff(X[20:, 1])))
    for options in ({}, {"kernel": "rbf"}, {"loss": "hinge"}, {"pairs_per_item": 3, "random_state": 0}):
        model = wo.RankSVM(**options).fit(X, order)
        assert model.score(X, y) > 0.6
        assert model.score(X, order.parts[1]) > 0.6
    with pytest.raises(ValueError, match="not their sum"):
        model.score(X, order)


def test_what_does_not_add_up_is_refused():
    with pytest.raises(TypeError, match="only Grades and Comparisons add up"):
        wo.Grades([0, 1]) + 3
    with pytest.raises(ValueError, match="different numbers of rows"):
        wo.Grades([0, 1]) + wo.Grades([0, 1, 2])
    with pytest.raises(ValueError, match="pairs already"):
        wo.RankSVM(pairs_per_item=5).fit(np.eye(3), wo.Comparisons([0], [1], [1]))
    with pytest.raises(ValueError, match="sample_weight was passed beside a Comparisons"):
        wo.RankSVM().fit(np.eye(3), wo.Comparisons([0], [1], [1]), sample_weight=[1, 1, 1])


def test_score_without_a_decided_comparison_is_nan():
    model = wo.RankSVM().fit(np.eye(3), [0, 1, 2])
    with pytest.warns(UserWarning, match="no decided comparison"):
        assert np.isnan(model.score(np.eye(3), wo.Comparisons([0], [1], [0])))


@pytest.mark.parametrize("items", [np.arange(12.0).reshape(4, 3), sp.csr_array(np.arange(12.0).reshape(4, 3))])
def test_pairs_are_a_view_that_slices_like_an_array(items):
    pairs = wo.Pairs(items, [0, 1, 2], [3, 2, 1])
    assert pairs.shape == (3, 2, 3)
    assert pairs.dtype == np.float64
    whole = np.asarray(pairs)
    for key in ([2, 0], slice(1, None), np.array([True, False, True]), (np.array([1]), ...)):
        rows = key[0] if isinstance(key, tuple) else key
        np.testing.assert_array_equal(np.asarray(pairs[key]), whole[rows])
        assert pairs[key].items is items
    for train, _ in KFold(3).split(pairs):
        assert len(pairs[train]) == 2


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([0], [9], r"right\[0\] names item 9"),
        ([0, 1], [1], "of one length"),
        ([-1], [1], r"left\[0\] names item -1"),
        ([0.5], [1], "row numbers"),
    ],
)
def test_bad_pairs_are_named(left, right, message):
    with pytest.raises(ValueError, match=message):
        wo.Pairs(np.eye(3), left, right)


def test_settings_that_comparisons_have_no_use_for_are_refused():
    games = wo.Comparisons([0, 1], [1, 2], [1, 1])
    with pytest.raises(ValueError, match="order was passed beside a Comparisons"):
        wo.RankSVM(order="chain").fit(np.eye(3), games)
    with pytest.raises(ValueError, match="levels was passed beside a OrderSum"):
        wo.RankSVM(levels=[0, 1, 2]).fit(np.eye(3), wo.Grades([0, 1, 2]) + games)
    with pytest.raises(ValueError, match="needs groups"):
        wo.RankSVM(balance="groups").fit(np.eye(3), games)


def test_describing_costs_nothing_for_large_item_numbers():
    assert wo.Comparisons([10**15], [1], [1]).describe().n_items == 2


def test_pairs_are_selected_whole():
    pairs = wo.Pairs(np.eye(3), [0, 1], [1, 2])
    with pytest.raises(IndexError, match="only whole pairs"):
        pairs[:, 0]
