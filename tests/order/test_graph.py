"""Orders over levels: their tables, their closure, their consistency, and what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

import wellorder as wo
from wellorder import OrderGraph

NAMED = [OrderGraph.full, OrderGraph.chain, OrderGraph.linear, OrderGraph.dcg]
CIRCLE = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


@st.composite
def acyclic_tables(draw):
    """A random weighted DAG; its edges lead upwards or downwards in the table."""
    r = draw(st.integers(1, 7))
    height = draw(st.permutations(range(r)))
    cost = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.5]), min_size=r * r, max_size=r * r))
    return np.where(np.less.outer(height, height), np.reshape(cost, (r, r)), 0.0)


def reachable(table):
    """The closure, path by path."""
    edge = [np.flatnonzero(line).tolist() for line in table]
    out = np.zeros(table.shape)
    for start in range(len(table)):
        waiting = list(edge[start])
        while waiting:
            level = waiting.pop()
            if not out[start, level]:
                out[start, level] = 1.0
                waiting += edge[level]
    return out


# ---------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize(
    ("make", "levels", "table"),
    [
        (OrderGraph.full, [1, 3, 4], [[0, 1, 1], [0, 0, 1], [0, 0, 0]]),
        (OrderGraph.chain, [1, 3, 4], [[0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        (OrderGraph.linear, [1, 3, 4], [[0, 2, 3], [0, 0, 1], [0, 0, 0]]),
        (OrderGraph.linear, [-1.5, 0, 0.25], [[0, 1.5, 1.75], [0, 0, 0.25], [0, 0, 0]]),
        (OrderGraph.linear, ["a", "b", "c"], [[0, 1, 2], [0, 0, 1], [0, 0, 0]]),
        (OrderGraph.linear, [(1, 2), (3, 4)], [[0, 1], [0, 0]]),
        (OrderGraph.linear, [False, True], [[0, 1], [0, 0]]),
        (OrderGraph.linear, [0, 2**70], [[0, 2.0**70], [0, 0]]),
        (OrderGraph.dcg, [1, 3, 4], [[0, 6, 14], [0, 0, 8], [0, 0, 0]]),
        (OrderGraph.dcg, ["a", "b", "c"], [[0, 1, 3], [0, 0, 2], [0, 0, 0]]),
    ],
)
def test_named_orders_have_the_weights_of_their_definition(make, levels, table):
    graph = make(levels)
    np.testing.assert_array_equal(graph.weights, table)
    assert graph.levels == tuple(levels)
    assert graph.n_levels == len(levels)


@pytest.mark.parametrize("make", NAMED)
@pytest.mark.parametrize("r", [0, 1])
def test_fewer_than_two_levels_make_an_empty_order(make, r):
    graph = make(range(r))
    np.testing.assert_array_equal(graph.weights, np.zeros((r, r)))
    np.testing.assert_array_equal(graph.closure().weights, np.zeros((r, r)))


@pytest.mark.parametrize("make", NAMED)
def test_levels_come_in_any_container(make):
    expected = make([1, 2, 3]).weights
    for levels in ((1, 2, 3), np.array([1, 2, 3]), range(1, 4), iter([1, 2, 3])):
        np.testing.assert_array_equal(make(levels).weights, expected)


@pytest.mark.parametrize("make", NAMED)
def test_a_graph_does_not_change_with_the_array_its_levels_came_from(make):
    levels = np.array([1, 2, 3])
    graph = make(levels)
    levels[:] = 7
    assert graph.levels == (1, 2, 3)


def test_from_scale_weighs_differences():
    graph = OrderGraph.from_scale([1, 2, 3], [-1, 0, 0.5], levels="abc")
    np.testing.assert_array_equal(graph.weights, [[0, 2, 4.5], [0, 0, 3], [0, 0, 0]])
    assert graph.levels == ("a", "b", "c")
    assert OrderGraph.from_scale([1, 1], [0, 1]).levels == (0, 1)


def test_from_edges_reads_lower_higher_and_weight():
    graph = OrderGraph.from_edges("abc", [("b", "a"), ("a", "c", 2.5), ("b", "c", 0)])
    np.testing.assert_array_equal(graph.weights, [[0, 0, 2.5], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(OrderGraph.from_edges("ab", []).weights, np.zeros((2, 2)))


@pytest.mark.parametrize(
    "convert", [np.array, sp.csr_array, sp.coo_array, sp.csc_matrix, sp.lil_array, np.ndarray.tolist]
)
def test_a_table_may_be_dense_or_sparse(convert):
    table = np.array([[0, 1, 2], [0, 0, 0], [0, 3, 0]])
    np.testing.assert_array_equal(OrderGraph("abc", convert(table)).weights, table)


def test_a_sparse_table_of_the_user_is_left_alone():
    table = sp.csr_array((np.array([0.0, 1.0, 2.0]), np.array([1, 2, 2]), np.array([0, 2, 3, 3])), shape=(3, 3))
    before = table.toarray()
    OrderGraph("abc", table)
    np.testing.assert_array_equal(table.toarray(), before)
    np.testing.assert_array_equal(table.data, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
def test_a_graph_does_not_change_with_the_table_it_came_from(convert):
    table = convert(np.triu(np.ones((3, 3)), 1))
    graph = OrderGraph("abc", table)
    table *= -1.0
    np.testing.assert_array_equal(graph.weights, np.triu(np.ones((3, 3)), 1))


def test_writing_into_the_weights_does_not_change_the_graph():
    graph = OrderGraph("ab", [[0, 1], [0, 0]])
    graph.weights[0, 1] = -1
    assert graph.weights[0, 1] == 1


# ----------------------------------------------------------------------------------- consistency


@pytest.mark.parametrize("as_table", [False, True], ids=["named", "table"])
@pytest.mark.parametrize(
    ("make", "consistent_up_to"),
    [(OrderGraph.full, 3), (OrderGraph.chain, 2), (OrderGraph.linear, 9), (OrderGraph.dcg, 9)],
)
@pytest.mark.parametrize("r", [2, 3, 4, 5, 9])
def test_named_orders_are_consistent_where_theorem_3_says_so(make, consistent_up_to, r, as_table):
    graph = make(range(r))
    if as_table:
        graph = OrderGraph(range(r), graph.weights)
    assert graph.is_consistent() is (r <= consistent_up_to)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), min_size=2, max_size=8))
def test_separable_costs_are_consistent_as_a_scale_and_as_a_table(pairs):
    weight, step = np.transpose(pairs)
    graph = OrderGraph.from_scale(weight, np.cumsum(step))
    assert graph.is_consistent()
    assert OrderGraph(graph.levels, graph.weights).is_consistent()


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1, 3), (2, 3), (0, 2), (1, 4)])
@pytest.mark.parametrize("factor", [0.0, 0.99, 1.01, 2.0])
def test_one_cost_out_of_line_is_inconsistent(low, high, factor):
    table = OrderGraph.linear(range(5)).weights
    table[low, high] *= factor
    assert not OrderGraph(range(5), table).is_consistent()


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-9, 1e9, 1e200, 1e300])
def test_the_unit_of_costs_does_not_change_consistency(unit):
    linear, full = OrderGraph.linear(range(5)).weights, OrderGraph.full(range(5)).weights
    assert OrderGraph(range(5), unit * linear).is_consistent()
    assert not OrderGraph(range(5), unit * full).is_consistent()


@pytest.mark.parametrize(
    "table",
    [
        [[0, 0], [1, 0]],
        [[0, 0], [0, 0]],
        [[0, 1, 0], [0, 0, 1], [0, 0, 0]],
        [[0, 1, 1], [0, 0, 0], [0, 1, 0]],
    ],
    ids=["downwards", "no edge", "first and last unrelated", "one edge downwards"],
)
def test_tables_without_the_form_of_theorem_3_are_inconsistent(table):
    assert not OrderGraph(range(len(table)), table).is_consistent()


def test_a_chain_of_very_many_levels_is_inconsistent_without_a_table():
    assert not OrderGraph.chain(range(6_000)).is_consistent()


# --------------------------------------------------------------------------------------- closure


@pytest.mark.parametrize("make", NAMED)
@pytest.mark.parametrize("r", [2, 3, 6])
def test_the_closure_of_a_named_order_is_full(make, r):
    np.testing.assert_array_equal(make(range(r)).closure().weights, OrderGraph.full(range(r)).weights)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(acyclic_tables())
def test_the_closure_joins_exactly_what_a_path_joins(table):
    closure = OrderGraph(range(len(table)), table).closure()
    np.testing.assert_array_equal(closure.weights, reachable(table))
    np.testing.assert_array_equal(closure.closure().weights, closure.weights)


def test_the_closure_of_a_scale_leaves_out_equal_values_and_zero_weights():
    graph = OrderGraph.from_scale([1, 0, 2, 1], [0, 1, 1, 1])
    np.testing.assert_array_equal(graph.closure().weights, graph.weights > 0)


def test_the_closure_of_a_chain_of_very_many_levels_needs_no_table():
    chain = OrderGraph.chain(range(100_000))
    y = [0, 50_000, 99_999]
    assert wo.Grades(y, order=chain).describe().n_pairs == 0
    assert wo.Grades(y, order=chain.closure()).describe().n_pairs == 3


@settings(derandomize=True, deadline=None, max_examples=200)
@given(acyclic_tables())
def test_the_reduction_keeps_the_closure_with_the_fewest_edges(table):
    graph = OrderGraph(range(len(table)), table)
    reduced = graph.transitive_reduction()
    kept = reduced.weights
    np.testing.assert_array_equal(kept[kept > 0], table[kept > 0])  # edges stay as they are, or go
    np.testing.assert_array_equal(reachable(kept), reachable(table))
    for low, high in np.argwhere(kept > 0):
        fewer = kept.copy()
        fewer[low, high] = 0.0
        assert not reachable(fewer)[low, high]
    np.testing.assert_array_equal(graph.transitive_closure().transitive_reduction().weights > 0, kept > 0)


@pytest.mark.parametrize("make", NAMED)
def test_the_reduction_of_a_named_order_is_its_chain(make):
    graph = make(range(5))
    expected = np.where(OrderGraph.chain(range(5)).weights > 0, graph.weights, 0.0)
    np.testing.assert_array_equal(graph.transitive_reduction().weights, expected)


def test_the_reduction_of_very_many_levels_needs_no_table():
    assert OrderGraph.full(range(100_000)).transitive_reduction().structure.matrix.nnz == 99_999
    assert OrderGraph.chain(range(100_000)).transitive_reduction().structure.matrix.nnz == 99_999


def test_edges_make_the_graph_again():
    graph = OrderGraph.from_edges("abc", [("b", "a"), ("a", "c", 2.5)])
    assert graph.edges == (("a", "c", 2.5), ("b", "a", 1.0))
    np.testing.assert_array_equal(OrderGraph.from_edges("abc", graph.edges).weights, graph.weights)
    assert OrderGraph.full(range(3)).edges == ((0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0))


def test_a_table_too_large_for_memory_is_refused():
    with pytest.raises(ValueError, match="1000000 x 1000000 weights would take 8000"):
        _ = OrderGraph.full(range(1_000_000)).weights


# --------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("edges", "circle"),
    [
        ([("b", "b")], "bb"),
        ([("a", "b"), ("b", "a")], "aba"),
        ([("a", "b"), ("b", "d"), ("d", "a"), ("a", "c")], "abda"),
    ],
    ids=["self loop", "two", "three"],
)
def test_a_circle_is_refused_and_its_levels_are_named_upwards(edges, circle):
    with pytest.raises(ValueError, match="circle") as caught:
        OrderGraph.from_edges("abcd", edges)
    ring = circle[:-1]
    turns = [ring[k:] + ring[:k] + ring[k] for k in range(len(ring))]
    assert any(f": {' < '.join(map(repr, turn))};" in str(caught.value) for turn in turns)


@settings(derandomize=True, deadline=None)
@given(acyclic_tables(), st.data())
def test_any_edge_against_the_closure_is_a_circle(table, data):
    low, high = np.nonzero(reachable(table) + np.eye(len(table)))
    at = data.draw(st.integers(0, len(low) - 1))
    table[high[at], low[at]] = 1.0
    with pytest.raises(ValueError, match="circle"):
        OrderGraph(range(len(table)), table)


@pytest.mark.parametrize("levels", ["abc", np.array([4, 5, 6])], ids=["text", "numbers"])
def test_circles_name_levels_as_the_user_wrote_them(levels):
    with pytest.raises(ValueError, match="circle") as caught:
        OrderGraph(levels, CIRCLE)
    assert "np." not in str(caught.value)


@pytest.mark.parametrize("bad", [-1.0, -1e-300, np.nan, np.inf])
@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
def test_a_bad_weight_is_refused_by_its_levels(convert, bad):
    table = convert(np.array([[0, 1, 0], [0, 0, bad], [0, 0, 0]]))
    with pytest.raises(ValueError, match="weight of 'b' below 'c' is"):
        OrderGraph("abc", table)


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_a_bad_edge_weight_is_refused_by_its_levels(bad):
    with pytest.raises(ValueError, match="weight of 'a' below 'b' is"):
        OrderGraph.from_edges("ab", [("a", "b", bad)])


def test_a_negative_weight_cannot_hide_behind_the_same_edge():
    with pytest.raises(ValueError, match=r"'a'.*'b'"):
        OrderGraph.from_edges("ab", [("a", "b", 1), ("a", "b", -1)])


@pytest.mark.parametrize("table", [np.ones((2, 3)), np.ones((3, 3)), np.ones(2), np.ones((2, 2, 2)), 1.0])
def test_a_table_of_the_wrong_shape_is_refused(table):
    with pytest.raises(ValueError, match=r"weights have shape .* 2 levels"):
        OrderGraph("ab", table)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("a", "z")], "edge 1 names the level 'z', which is not among"),
        ([("a", "b", 1, 1)], "edge 0 is .*expected"),
        ([("a",)], "edge 0 is .*expected"),
        ([5], "edge 0 is 5; expected"),
    ],
)
def test_a_bad_edge_is_refused_by_its_number(edges, message):
    with pytest.raises(ValueError, match=message):
        OrderGraph.from_edges("ab", edges)


@pytest.mark.parametrize("make", [*NAMED, lambda levels: OrderGraph.from_edges(levels, [])])
@pytest.mark.parametrize("levels", ["aba", np.array(["a", "b", "a"])], ids=["text", "array"])
def test_a_level_listed_twice_is_named(make, levels):
    with pytest.raises(ValueError, match="the level 'a' is listed twice"):
        make(levels)


@pytest.mark.parametrize("make", [OrderGraph.linear, OrderGraph.dcg])
@pytest.mark.parametrize(
    "levels", [(3, 1, 2), np.array([3.0, 1.0, 2.0]), ("3", "1", "2")], ids=["int", "float", "text"]
)
def test_levels_that_are_no_numbers_that_rise_count_their_places(make, levels):
    assert (make(levels).weights == make([0, 1, 2]).weights).all()


@pytest.mark.parametrize("dtype", [float, np.float32, int])
def test_grades_are_numbers_whatever_they_are_kept_as(dtype):
    levels = np.array([-3, 0, 1, 5], dtype)
    as_array, as_list = OrderGraph.linear(levels), OrderGraph.linear(levels.tolist())
    np.testing.assert_array_equal(as_array.structure.scale, [0.0, 3.0, 4.0, 8.0])
    np.testing.assert_array_equal(as_array.weights, as_list.weights)
    np.testing.assert_array_equal(OrderGraph.dcg(levels).structure.scale, [0.125, 1.0, 2.0, 32.0])


@pytest.mark.parametrize("levels", [[0, 1024], [0, 5000.5], range(1025), [str(i) for i in range(1025)]])
def test_dcg_refuses_gains_that_overflow(levels):
    with pytest.raises(ValueError, match=r"2\^grade, which overflows at grade .*order='linear'"):
        OrderGraph.dcg(levels)


def test_dcg_takes_the_last_grade_that_does_not_overflow():
    assert OrderGraph.dcg([0, 1023]).weights[0, 1] == 2.0**1023


@pytest.mark.parametrize(
    ("weights", "scale", "levels", "message"),
    [
        ([1, 1], [1], None, "shapes"),
        (1.0, 1.0, None, "shapes"),
        ([[1, 1]], [[0, 1]], None, "shapes"),
        ([1, -1], [0, 1], None, "not negative"),
        ([1, np.nan], [0, 1], None, "finite"),
        ([1, 1], [0, np.inf], None, "finite"),
        ([1, 1, 1], [0, 2, 1], None, r"scale\[1\] = 2 > scale\[2\] = 1"),
        ([1, 1], [0, 1], "abc", "3 levels but 2 scale values"),
        ([1, 1], [0, 1], "aa", "'a' is listed twice"),
    ],
)
def test_from_scale_refuses_what_is_no_scale(weights, scale, levels, message):
    with pytest.raises(ValueError, match=message):
        OrderGraph.from_scale(weights, scale, levels)
