"""What grades, groups, weights and an order add up to: `describe()` against a count of every pair."""

import contextlib
from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.reference import pairs as reference

import wellorder as wo
from wellorder.order import draw_pairs

NAMES = ("full", "chain", "linear", "dcg")


def named_table(name, grade):
    """W[lower, higher], from the definitions."""
    low, high = np.meshgrid(grade, grade, indexing="ij")
    place = np.arange(len(grade))
    return {
        "full": (high > low) * 1.0,
        "chain": (place[None, :] == place[:, None] + 1) * 1.0,
        "linear": np.where(high > low, high - low, 0.0),
        "dcg": np.where(high > low, 2.0**high - 2.0**low, 0.0),
    }[name]


def counted(level, group, weight, table):
    pairs = reference.list_pairs(level, group, weight, table)
    in_pairs = {row for i, j, _ in pairs for row in (i, j)}
    return {
        "n_rows": len(level),
        "n_groups": len(set(group)),
        "n_groups_with_pairs": len({group[row] for row in in_pairs}),
        "n_levels": len(set(level) - {-1}),
        "n_pairs": len(pairs),
        "n_unjudged": list(level).count(-1),
        "n_zero_weight": list(weight).count(0),
        "n_rows_without_pair": len(level) - len(in_pairs),
        "n_censored": 0,
    }


def with_missing(level):
    return np.where(np.asarray(level) < 0, np.nan, level)


@st.composite
def graded_rows(draw):
    """Rows of levels 0..r−1 (−1: unjudged), groups, weights and the table of a random order."""
    r = draw(st.integers(1, 6))
    n = draw(st.integers(0, 25))
    column = lambda entries: draw(st.lists(entries, min_size=n, max_size=n))  # noqa: E731
    level = column(st.integers(-1, r - 1))
    group = column(st.sampled_from(["q1", 2, (3, "x"), -4.5]))
    weight = column(st.sampled_from([0.0, 0.25, 1.0, 3.0]))
    order = draw(st.sampled_from([*NAMES, "dag"]))
    if order != "dag":
        return level, group, weight, order, named_table(order, np.arange(r))
    height = draw(st.permutations(range(r)))  # edges lead upwards in height, downwards in the table if need be
    cost = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=r * r, max_size=r * r))
    table = np.where(np.less.outer(height, height), np.reshape(cost, (r, r)), 0.0)
    return level, group, weight, table, table


@settings(derandomize=True, deadline=None, max_examples=300)
@given(graded_rows(), st.booleans(), st.booleans())
def test_describe_counts_every_pair(rows, grouped, weighted):
    level, group, weight, order, table = rows
    grades = wo.Grades(
        with_missing(level),
        groups=group if grouped else None,
        weights=weight if weighted else None,
        order=order,
        levels=range(len(table)),
    )
    expected = counted(
        level, group if grouped else ["all"] * len(level), weight if weighted else [1.0] * len(level), table
    )
    assert asdict(grades.describe()) == expected


@pytest.mark.parametrize("order", NAMES)
@pytest.mark.parametrize("n_groups", [1, 2])
def test_as_many_levels_as_rows_are_counted_exactly(order, n_groups):
    rng = np.random.default_rng(2)
    n = 150
    level, group = rng.permutation(n), rng.integers(0, n_groups, n)
    weight = rng.choice([0.0, 1.0, 2.0], n)
    grades = wo.Grades(level, groups=group, weights=weight, order=order)
    assert asdict(grades.describe()) == counted(level, group.tolist(), weight, named_table(order, np.arange(n)))


@pytest.mark.parametrize("turn", [np.triu, np.tril], ids=["upwards", "downwards"])
def test_small_groups_under_a_dense_table_are_counted_exactly(turn):
    rng = np.random.default_rng(5)
    table = turn(np.ones((20, 20))) - np.eye(20)
    level, group = rng.integers(0, 20, 90), rng.integers(0, 30, 90)
    grades = wo.Grades(level, groups=group, order=table, levels=range(20))
    assert asdict(grades.describe()) == counted(level, group.tolist(), [1.0] * 90, table)


def test_levels_of_equal_scale_or_zero_weight_make_no_pair():
    order = wo.OrderGraph.from_scale([1, 1, 0, 1], [0, 1, 1, 1])
    level = [0, 1, 2, 3, -1, 0, 2]
    expected = counted(level, [0] * 7, [1.0] * 7, order.weights)
    assert expected["n_pairs"] == 4
    assert asdict(wo.Grades(with_missing(level), order=order).describe()) == expected


@pytest.mark.parametrize("order", NAMES)
@pytest.mark.parametrize(
    ("y", "n_levels"), [([], 0), ([5], 1), ([5, 5, 5], 1), ([np.nan], 0), ([np.nan, np.nan], 0), ([np.nan, 5], 1)]
)
def test_data_without_a_pair_is_described_not_refused(order, y, n_levels):
    found = wo.Grades(y, order=order).describe()
    assert (found.n_rows, found.n_levels, found.n_pairs, found.n_groups_with_pairs) == (len(y), n_levels, 0, 0)
    assert found.n_groups == min(len(y), 1)
    assert found.n_rows_without_pair == len(y)
    assert found.n_unjudged == np.isnan(y).sum()


def test_no_rows_may_have_groups_and_weights():
    found = wo.Grades([], groups=[], weights=[], levels=["a", "b"]).describe()
    assert set(asdict(found).values()) == {0}


def test_lone_rows_and_groups_of_one_level_make_no_pair():
    found = wo.Grades([1, 2, 2, 1, 3], groups=["lone", "flat", "flat", "mixed", "mixed"]).describe()
    assert (found.n_groups, found.n_groups_with_pairs, found.n_pairs, found.n_rows_without_pair) == (3, 1, 1, 3)


@pytest.mark.parametrize("order", NAMES)
@pytest.mark.parametrize("r", [2, 5])
def test_pairs_of_a_long_list_are_counted_exactly(order, r):
    n = 200_000
    level = np.random.default_rng(3).integers(0, r, n)
    size = [int(count) for count in np.bincount(level)]
    expected = sum(size[a] * size[b] for a in range(r) for b in range(a + 1, r) if order != "chain" or b == a + 1)
    assert expected > 2**32
    assert wo.Grades(level, order=order).describe().n_pairs == expected


@pytest.mark.parametrize("order", ["full", "linear"])
def test_pairs_of_a_long_list_without_ties_are_counted_exactly(order):
    n = 100_000
    y = np.random.default_rng(4).permutation(n) / 7
    assert wo.Grades(y, order=order).describe().n_pairs == n * (n - 1) // 2


def test_pairs_of_a_long_list_under_a_table_leading_downwards_are_counted_exactly():
    level = np.arange(210_000) % 3
    assert wo.Grades(level, order=[[0, 0, 1], [1, 0, 1], [0, 0, 0]]).describe().n_pairs == 3 * 70_000**2


@pytest.mark.parametrize("y", [[2**53, 2**53 + 1], [2**63 - 1, 2**63 - 2], [-(2**63), 2**63 - 1]])
def test_linear_costs_lose_no_pair_of_huge_whole_numbers(y):
    grades = wo.Grades(y, order="linear")
    assert grades.describe().n_pairs == 1
    assert grades.graph.weights[0, 1] == float(abs(y[1] - y[0]))


@pytest.mark.parametrize(
    ("y", "options"),
    [
        ([0, 1, 2], {"weights": [1e308] * 3}),
        ([0, 511.5, 1023], {"order": "dcg", "weights": 10.0}),
        ([-1.7e308, 0, 1.7e308], {"order": "linear"}),
    ],
    ids=["weights", "dcg", "linear"],
)
def test_pair_weights_that_overflow_are_refused_or_counted_but_leave_no_stray_warning(y, options):
    with contextlib.suppress(ValueError):
        assert wo.Grades(y, **options).describe().n_pairs == 3


def test_what_is_there_to_learn_from_reads_as_a_sentence():
    grades = wo.Grades([1, 2, None, 2], groups=[1, 1, 1, 2], weights=[1, 1, 1, 0])
    expected = "4 rows in 2 groups, 2 levels, 1 pair (1 unjudged, 1 of zero weight, 2 in no pair)"
    assert str(grades.describe()) == expected
    assert repr(grades) == f"Grades({expected})"
    assert str(wo.Grades([1]).describe()).startswith("1 row in 1 group, 1 level, 0 pairs")


# --------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize("weights", [2, 0.5, np.float32(3), [1, 1, 1], pd.Series([2, 2, 2]), pl.Series([True] * 3)])
def test_equal_weights_change_no_count(weights):
    assert wo.Grades([0, 1, 2], weights=weights).describe() == wo.Grades([0, 1, 2]).describe()


@pytest.mark.parametrize(
    ("weights", "n_pairs", "alone"), [([0, 1, 2], 1, 1), ([0, 0, 1], 0, 3), (0, 0, 3), ([1e-200, 1e-200, 0], 1, 1)]
)
def test_rows_of_zero_weight_are_in_no_pair(weights, n_pairs, alone):
    found = wo.Grades([0, 1, 2], weights=weights).describe()
    assert (found.n_pairs, found.n_rows_without_pair) == (n_pairs, alone)
    assert found.n_zero_weight == np.count_nonzero(np.broadcast_to(weights, 3) == 0)


@pytest.mark.parametrize("bad", [-1, -1e-300, np.nan, np.inf, -np.inf, None])
@pytest.mark.parametrize("make", [list, np.array, lambda w: pd.Series(w, dtype="Float64")])
def test_a_bad_weight_is_refused_by_row(make, bad):
    with pytest.raises(ValueError, match="row 1 has the weight"):
        wo.Grades([0, 1, 2], weights=make([1.0, bad, 1.0]))


def test_a_row_may_weigh_one_thing_above_and_another_below():
    grades = wo.Grades([0, 1, 2], weights_above=[1, 2, 3], weights_below=[4, 5, 6])
    assert (grades.ends.above.tolist(), grades.ends.below.tolist()) == ([1, 2, 3], [4, 5, 6])
    drawn = draw_pairs(grades.pairs, 20, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn.weight, (drawn.high + 1.0) * (drawn.low + 4.0))
    assert wo.Grades([0, 1], weights_above=[1, 2]).ends.below is None
    assert wo.Grades([0, 1], weights_below=[1, 2]).ends.above is None


def test_how_far_weights_lie_from_one_is_known():
    y = [0, 1, 2]
    assert wo.Grades(y).pairs.log_reach == 0.0
    assert wo.Grades(y, weights=np.exp([-5.0, 0.0, 3.0])).pairs.log_reach == pytest.approx(5.0)
    assert wo.Grades(y, weights=np.exp([-1.0, 0.0, 3.0])).pairs.log_reach == pytest.approx(3.0)
    assert wo.Grades(y, weights_above=np.exp([0.0, 0.0, 4.0])).pairs.log_reach == pytest.approx(4.0)


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_a_bad_single_weight_is_refused(bad):
    with pytest.raises(ValueError, match="weight"):
        wo.Grades([0, 1, 2], weights=bad)


@pytest.mark.parametrize("weights", [[], [1, 1], [1] * 4])
def test_too_few_or_too_many_weights_are_refused(weights):
    with pytest.raises(ValueError, match="one weight a row"):
        wo.Grades([0, 1, 2], weights=weights)


@pytest.mark.parametrize("weights", [np.ones((3, 1)), np.ones((3, 3))])
def test_weights_of_another_shape_are_refused(weights):
    with pytest.raises(ValueError, match="1D array or scalar"):
        wo.Grades([0, 1, 2], weights=weights)


def test_weights_are_not_shared_with_the_array_they_came_from():
    weights = np.array([1.0, 2.0, 3.0])
    grades = wo.Grades([0, 1, 2], weights=weights)
    weights[:] = 0
    assert grades.describe().n_pairs == 3


def test_text_weights_are_refused_as_weights():
    with pytest.raises(ValueError, match="weight"):
        wo.Grades([0, 1], weights=["a", "b"])


# ----------------------------------------------------------------------------------------- order


def test_an_unknown_order_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"order='ful' is not known.*'full', 'chain', 'linear', 'dcg'.*OrderGraph"):
        wo.Grades([0, 1], order="ful")


@pytest.mark.parametrize("table", [np.ones((2, 2)), np.ones((3, 2)), np.ones(3), np.ones((3, 3, 3)), 1.0])
def test_a_table_of_the_wrong_size_is_refused_with_the_levels(table):
    with pytest.raises(ValueError, match=r"order has shape .*3 levels \(4, 5, 6\).*3 x 3"):
        wo.Grades([4, 5, 6], order=table)


def test_a_table_needs_the_levels_that_no_row_has():
    table = np.triu(np.ones((3, 3)), 1)
    with pytest.raises(ValueError, match=r"2 levels.*levels="):
        wo.Grades([0, 2], order=table)
    assert wo.Grades([0, 2], order=table, levels=[0, 1, 2]).describe().n_pairs == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[0, 1, 0], [0, 0, 1], [1, 0, 0]], "circle: 4 < 5 < 6 < 4"),
        ([[0, 0, 0], [0, 2, 0], [0, 0, 0]], "circle: 5 < 5"),
        ([[0, -1, 0], [0, 0, 0], [0, 0, 0]], "weight of 4 below 5 is -1"),
    ],
)
def test_a_bad_table_names_the_grades_as_the_user_wrote_them(table, message):
    # which level a circle starts at is left open
    with pytest.raises(ValueError, match=r"(weight of|circle)") as caught:
        wo.Grades([4, 5, 6], order=table)
    text = str(caught.value)
    starts = [
        message,
        message.replace("4 < 5 < 6 < 4", "5 < 6 < 4 < 5"),
        message.replace("4 < 5 < 6 < 4", "6 < 4 < 5 < 6"),
    ]
    assert any(start in text for start in starts), text


def test_levels_must_agree_with_the_graph():
    with pytest.raises(ValueError, match=r"\['a', 'c'\].*\['a', 'b'\]"):
        wo.Grades(["a"], levels=["a", "c"], order=wo.OrderGraph.full("ab"))


def test_a_grade_outside_the_graph_is_refused_by_row():
    with pytest.raises(ValueError, match="row 1 has the grade 'z'"):
        wo.Grades(["a", "z"], order=wo.OrderGraph.full("ab"))


def test_no_groups_are_one_list_and_no_weights_are_ones():
    plain, grouped = wo.Grades([0, 1, 2]), wo.Grades([0, 1, 2], ["b", "a", "b"], weights=[1.0, 2.0, 0.5])
    assert (plain.list_codes.tolist(), plain.row_weights.tolist()) == ([0, 0, 0], [1.0, 1.0, 1.0])
    assert (grouped.list_codes == grouped.group).all()
    assert grouped.list_codes.dtype == np.int64  # it is multiplied by numbers of levels
    assert grouped.row_weights.tolist() == [1.0, 2.0, 0.5]
    part = grouped.take(np.array([0, 2])).without_weights()
    assert (part.list_codes.tolist(), part.row_weights.tolist()) == ([0, 0], [1.0, 1.0])
