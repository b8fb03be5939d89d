"""Grades and group ids as people write them."""

import uuid
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.exceptions import DataConversionWarning

import wellorder as wo
from wellorder.order import own_order
from wellorder.order.columns import exact_numbers, in_order

UNJUDGED = -1
LOW_HIGH = ["low", "high"]
NAT_WITHOUT_UNIT = np.array([np.iinfo(np.int64).min]).view("M8")[0]  # np.datetime64("NaT"), which NumPy 2.5 deprecates


def objects(*entries):
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out


# ------------------------------------------------------------------------------- grades as times


DAYS = np.array(["2021-01-01", "2020-01-01", "2021-01-01", "2022-01-01"], "M8[D]")


@pytest.mark.parametrize("times", [DAYS, DAYS - DAYS[0]], ids=["dates", "durations"])
@pytest.mark.parametrize("make", [np.asarray, list, lambda times: objects(*times)], ids=["array", "list", "objects"])
def test_times_stand_in_their_order_however_they_are_held(times, make):
    for grades in (wo.Grades(make(times)), wo.Grades(make(times), levels=make(np.unique(times)))):
        assert grades.level.tolist() == [1, 0, 1, 2]
    in_seconds = [*times.astype(f"{times.dtype.kind}8[s]"), NAT_WITHOUT_UNIT.astype(f"{times.dtype.kind}8")]
    for levels in (None, list(np.unique(times))):
        assert wo.Grades(make(in_seconds), levels=levels).level.tolist() == [1, 0, 1, 2, UNJUDGED]


@pytest.mark.parametrize("kind", ["m8", "M8"])
@pytest.mark.parametrize("make", [np.asarray, list, lambda times: objects(*times)], ids=["array", "list", "objects"])
def test_times_without_a_unit_are_refused_by_row(kind, make):
    times = np.array([np.iinfo(np.int64).min, 3, 5]).view(kind)
    with pytest.raises(
        ValueError, match=r"y\[1\] is a (timedelta64|datetime64) without a unit: 3 of what\? Give it one"
    ):
        wo.Grades(make(times))
    with pytest.raises(ValueError, match=r"groups\[1\] is a (timedelta64|datetime64) without a unit"):
        wo.Grades([1, 2, 3], groups=make(times))


def test_durations_among_numbers_are_no_grades():
    with pytest.raises(ValueError, match="Unknown label type: row 1 has"):
        wo.Grades([1, np.timedelta64(5, "h")])


# ------------------------------------------------------------------------------- grades as numbers


@pytest.mark.parametrize(
    "y",
    [
        [10, -3, 7, 7],
        (10, -3, 7, 7),
        objects(10, -3, 7, 7),
        [10.0, -3, np.int8(7), 7],
        pd.Series([10, -3, 7, 7], index=[9, 8, 7, 6]),
        pd.Series([10, -3, 7, 7], dtype="Int64"),
        pd.Index([10, -3, 7, 7]),
        pd.DataFrame({"grade": [10, -3, 7, 7]}),
        pl.Series([10, -3, 7, 7]),
        np.array([10, -3, 7, 7], dtype=">i4"),
        np.array([10, -3, 7, 7], dtype=np.float16),
        np.array([10, 0, -3, 0, 7, 0, 7, 0])[::2],
        (grade for grade in [10, -3, 7, 7]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_any_container_of_numbers_gives_the_same_levels(y):
    grades = wo.Grades(y)
    assert grades.level.tolist() == [2, 0, 1, 1]
    assert grades.levels == (-3, 7, 10)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_the_extremes_of_every_whole_number_type_are_distinct_levels(dtype):
    lowest, highest = np.iinfo(dtype).min, np.iinfo(dtype).max
    grades = wo.Grades(np.array([highest, lowest, highest - 1, lowest + 1], dtype=dtype))
    assert grades.level.tolist() == [3, 0, 2, 1]
    assert grades.levels == (lowest, lowest + 1, highest - 1, highest)


@pytest.mark.parametrize("big", [2**53, 2**62, 2**63, 2**64 - 2])
def test_neighbouring_huge_whole_numbers_stay_apart(big):
    grades = wo.Grades(np.array([big + 1, big], dtype=np.uint64))
    assert grades.level.tolist() == [1, 0]
    assert grades.levels == (big, big + 1)


@pytest.mark.parametrize(
    "y",
    [
        [2**53 + 1, 2**53, None],
        objects(2**53 + 1, 2**53, np.nan),
        pl.Series([2**53 + 1, 2**53, None]),
        pd.Series([2**53 + 1, 2**53, None], dtype="Int64"),
    ],
    ids=["list", "objects", "polars", "pandas"],
)
def test_a_missing_grade_does_not_merge_huge_whole_numbers(y):
    assert wo.Grades(y).level.tolist() == [1, 0, UNJUDGED]


@pytest.mark.parametrize("y", [[2**63 + 1, 2**63, -1], [2**70 + 1, 2**70, 0]], ids=["beyond int64", "beyond uint64"])
def test_whole_numbers_beyond_64_bits_are_kept_apart_or_refused(y):
    try:
        grades = wo.Grades(y)
    except ValueError:
        return
    assert grades.level.tolist() == [2, 1, 0]


@pytest.mark.parametrize("y", [[10**400, 1], [10**400, None]])
def test_a_number_too_large_for_a_float_is_a_value_error_naming_its_row(y):
    with pytest.raises(ValueError, match="row 0"):
        wo.Grades(y)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=30))
@example([-0.5, 0.5, float(np.nextafter(0.5, 0))])
@example([0.0, -0.0, 1.0])
@example([5e-324, 0.0, 1.7e308, -1.7e308])
@example([0.1, 1.1, 2.1, 3.1])
@example([2.3333333333333335, 7.333333333333333])
def test_every_distinct_float_is_a_level_of_its_own(y):
    grades = wo.Grades(np.array(y, dtype=float))
    assert grades.levels == tuple(sorted(set(y)))
    assert [grades.levels[level] for level in grades.level] == y


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="long doubles are doubles here")
def test_scores_of_more_digits_than_a_float_stay_apart():
    next_to_one = np.longdouble(1) + np.finfo(np.longdouble).eps
    assert float(next_to_one) == 1.0
    for big in (2, 1e6):  # few whole numbers are counted, others are sorted
        scores = np.array([next_to_one, 1, big], np.longdouble)
        assert in_order(exact_numbers(scores)).tolist() == [1, 0, 2]
        assert wo.metrics.swapped_pairs([1, 0, 2], scores) == 0.0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64, bool])
def test_numbers_that_are_floats_as_they_are_become_floats(dtype):
    found = exact_numbers(np.array([1, 0], dtype))
    assert found.dtype == np.float64
    assert found.tolist() == [1, 0]


@pytest.mark.parametrize("y", [[-2047, 1, 2], [-32768, 32736, 32752]])
def test_half_precision_grades_stay_apart(y):
    assert wo.Grades(np.array(y, dtype=np.float16)).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_continuous_grades_with_ties_are_numbered_in_order(dtype):
    rng = np.random.default_rng(0)
    y = (rng.integers(-500, 500, 20_000) * 0.37).astype(dtype)  # zeros of both signs included
    y[::2] *= -1
    distinct, expected = np.unique(y, return_inverse=True)
    grades = wo.Grades(y)
    np.testing.assert_array_equal(grades.level, expected)
    assert grades.levels == tuple(distinct.tolist())


@pytest.mark.parametrize(
    ("y", "level"),
    [
        ([True, False], [1, 0]),
        (np.array([True, False]), [1, 0]),
        ([True, None, False], [1, UNJUDGED, 0]),
        (pd.Series([True, None, False], dtype="boolean"), [1, UNJUDGED, 0]),
        (pl.Series([True, None, False]), [1, UNJUDGED, 0]),
    ],
)
def test_booleans_are_grades_and_true_is_better(y, level):
    grades = wo.Grades(y)
    assert grades.level.tolist() == level
    assert grades.levels == (False, True)


# --------------------------------------------------------------------------------- missing grades


@pytest.mark.parametrize(
    "y",
    [
        [2, None, 1, 2],
        [2, np.nan, 1, 2],
        [2, pd.NA, 1, 2],
        [2, pd.NaT, 1, 2],
        [Fraction(4, 2), None, 1, 2.0],
        objects(2, np.float32("nan"), np.int64(1), 2.0),
        np.array([2, np.nan, 1, 2], dtype=np.float32),
        pd.Series([2, None, 1, 2]),
        pd.Series([2, None, 1, 2], dtype="Int64"),
        pd.Series([2, None, 1, 2], dtype="Float64"),
        pd.Series([2, None, 1, 2], dtype=object),
        pl.Series([2, None, 1, 2]),
        pl.Series([2.0, np.nan, 1.0, 2.0]),
        np.ma.masked_array([2, 7, 1, 2], mask=[False, True, False, False]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_a_missing_grade_means_unjudged(y):
    grades = wo.Grades(y)
    assert grades.level.tolist() == [1, UNJUDGED, 0, 1]
    assert grades.levels == (1, 2)


@pytest.mark.parametrize("y", [[np.nan] * 3, [None] * 3, pl.Series([None] * 3, dtype=pl.Int64)])
def test_all_grades_may_be_missing(y):
    grades = wo.Grades(y)
    assert grades.level.tolist() == [UNJUDGED] * 3
    assert grades.levels == ()


# ------------------------------------------------------------------- text, and columns with an order


@pytest.mark.parametrize(
    "y",
    [
        ["high", None, "low", "high"],
        ("high", None, "low", "high"),
        objects("high", np.nan, "low", "high"),
        pd.Series(["high", None, "low", "high"]),
        pd.Series(["high", None, "low", "high"], dtype="string"),
        pd.Series(["high", None, "low", "high"], dtype=object),
        pd.Series(["high", None, "low", "high"], dtype="category"),
        pl.Series(["high", None, "low", "high"]),
        pl.Series(["high", None, "low", "high"], dtype=pl.Categorical),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_text_is_ordered_by_levels(y):
    grades = wo.Grades(y, levels=["low", "middle", "high"])
    assert grades.level.tolist() == [2, UNJUDGED, 0, 2]
    assert grades.levels == ("low", "middle", "high")


@pytest.mark.parametrize(
    "levels",
    [tuple(LOW_HIGH), np.array(LOW_HIGH), objects(*LOW_HIGH), pd.Index(LOW_HIGH), pl.Series(LOW_HIGH), iter(LOW_HIGH)],
    ids=lambda levels: type(levels).__name__,
)
def test_levels_come_in_any_container_and_go_back_as_plain_labels(levels):
    grades = wo.Grades(["high", "low"], levels=levels)
    assert grades.level.tolist() == [1, 0]
    assert repr(grades.levels) == "('low', 'high')"


def test_levels_may_turn_numbers_around():
    assert wo.Grades([1, 2.0, np.nan, 3], levels=[3, 2, 1]).level.tolist() == [2, 1, UNJUDGED, 0]


def test_an_order_graph_brings_its_levels():
    grades = wo.Grades(["high", "low", None], order=wo.OrderGraph.chain(LOW_HIGH))
    assert grades.level.tolist() == [1, 0, UNJUDGED]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(pd.Categorical([1, 3, None], categories=[3, 2, 1], ordered=True)),
        pd.Categorical([1, 3, None], categories=[3, 2, 1], ordered=True),
        pd.CategoricalIndex([1, 3, None], categories=[3, 2, 1], ordered=True),
    ],
    ids=lambda y: type(y).__name__,
)
def test_an_ordered_categorical_keeps_its_own_order(y):
    grades = wo.Grades(y)
    assert grades.level.tolist() == [2, 0, UNJUDGED]
    assert grades.levels == (3, 2, 1)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(pd.Categorical(["low", None, "high"], categories=["low", "middle", "high"], ordered=True)),
        pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "middle", "high"])),
    ],
    ids=["pandas", "polars"],
)
def test_ordered_text_columns_need_no_levels(y):
    grades = wo.Grades(y)
    assert grades.level.tolist() == [0, UNJUDGED, 2]
    assert grades.levels == ("low", "middle", "high")
    assert wo.Grades(y, levels=["high", "low"]).level.tolist() == [1, UNJUDGED, 0]


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a"],
        np.array(["b", "a"]),
        np.array([b"b", b"a"]),
        np.array(["b", "a"], dtype=np.dtypes.StringDType()),
        objects("b", 3),
        pd.Series(["b", "a"]),
        pd.Series(["b", "a"], dtype="string"),
        pl.Series(["b", "a"]),
        ["1", "2"],
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}",
)
def test_text_without_levels_is_refused_with_the_row_and_the_fix(y):
    with pytest.raises(ValueError, match=r"text.* in row 0\).*pass levels="):
        wo.Grades(y)


def test_the_first_text_among_numbers_is_named():
    with pytest.raises(ValueError, match=r"'good' in row 2"):
        wo.Grades([1, None, "good", "bad"])


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["b", "a", None], dtype="category"),
        pd.Categorical(["b", "a"]),
        pd.Categorical([2, 1]),
        pd.Series([2, 1], dtype="category"),
        pl.Series(["b", "a"], dtype=pl.Categorical),
    ],
    ids=["series", "text", "numbers", "series of numbers", "polars"],
)
def test_a_categorical_without_order_is_refused_with_the_fix(y):
    with pytest.raises(ValueError, match=r"levels="):
        wo.Grades(y)


def test_categories_and_whether_they_have_an_order_are_found():
    assert own_order(pl.Series(["b", None, "a"], dtype=pl.Categorical)) == (("a", "b"), False)
    assert own_order(pl.Series(["b", None], dtype=pl.Enum(["b", "a"]))) == (("b", "a"), True)
    assert own_order(pd.Categorical(["b"], ["b", "a"], ordered=True)) == (("b", "a"), True)
    assert own_order(pd.Series(["b", "a"], dtype="category")) == (("a", "b"), False)
    assert own_order(pl.Series(["b", "a"])) is None


# ------------------------------------------------------------------------------------ bad grades


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("make", [list, objects, pd.Series, pl.Series, lambda y: np.array(y, np.float32)])
def test_an_infinite_grade_is_refused_by_row(make, value):
    y = [0.0, 1.0, value]
    with pytest.raises(ValueError, match=r"infinity.*row 2"):
        wo.Grades(objects(*y) if make is objects else make(y))


@pytest.mark.parametrize("y", [["low", None, "hgih"], [0, np.nan, 7], [True, None, "hgih"]])
def test_a_grade_that_is_not_a_level_is_refused_by_row(y):
    with pytest.raises(ValueError, match=rf"row 2 has the grade {y[2]!r}.*levels="):
        wo.Grades(y, levels=["low", "high", 0, 1])


@pytest.mark.parametrize("levels", [["a", "b", "a"], np.array(["a", "b", "a"])])
def test_a_level_listed_twice_is_named(levels):
    with pytest.raises(ValueError, match="'a' twice") as caught:
        wo.Grades(["a"], levels=levels)
    assert "np." not in str(caught.value)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_a_missing_value_cannot_be_a_level(missing):
    with pytest.raises(ValueError, match="level"):
        wo.Grades(["a", missing], levels=["a", missing])


@pytest.mark.parametrize("y", [[1j, 2j], np.array([1j]), [object()], [{}], [[1], [2]]])
def test_grades_without_an_order_are_refused(y):
    with pytest.raises(ValueError, match=r"label type|have no order"):
        wo.Grades(y)


def test_unhashable_grades_are_refused_by_row():
    with pytest.raises((ValueError, TypeError), match="row 1"):
        wo.Grades([1, [2]], levels=[1, 2])


def test_a_column_vector_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        grades = wo.Grades(np.array([[3], [1]]))
    assert grades.level.tolist() == [1, 0]


@pytest.mark.parametrize("y", [np.ones((2, 2)), np.ones((1, 1, 1)), 3, None, "abc", pd.DataFrame({"a": [1], "b": [2]})])
def test_grades_of_another_shape_are_refused(y):
    with pytest.raises(ValueError, match="1d array"):
        wo.Grades(y)


# ---------------------------------------------------------------------------------------- groups

ONE, TWO = uuid.UUID(int=2**127), uuid.UUID(int=1)


@pytest.mark.parametrize(
    "ids",
    [
        [3, 1, 3, 2],
        [-3, 10**9, -3, 0],
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1, 0], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, -(2**63), 0]),
        [2**53 + 1, 2**53, 2**53 + 1, 0.5],
        [2**63 + 1, 2**63, 2**63 + 1, -1],
        [0.5, -0.5, 0.5, np.inf],
        ["b", "a", "b", ""],
        ["a", "a\0", "a", "a "],
        np.array(["b", "a", "b", ""]),
        [ONE, TWO, ONE, uuid.UUID(int=0)],
        [(1, 2), (1, 3), (1, 2), (2, 1)],
        ((1, 2), (1, 3), (1, 2), (2, 1)),
        [(1,), (1, 1), (1,), ()],
        [1, "1", 1.0, (1,)],
        objects(1, "1", 1, b"1"),
        [frozenset({1}), 1, frozenset({1}), "1"],
        [True, False, True, 2],
        pd.Series(["b", "a", "b", "c"], dtype="string"),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pd.Series([5, 4, 5, 0], dtype="Int64", index=[3, 2, 1, 0]),
        pd.MultiIndex.from_tuples([(1, "x"), (1, "y"), (1, "x"), (2, "x")]),
        pd.Series(pd.to_datetime(["2021", "2020", "2021", "2022"])),
        pl.Series(["b", "a", "b", "c"]),
        pl.Series(["b", "a", "b", "c"], dtype=pl.Categorical),
    ],
    ids=str,
)
def test_groups_of_any_kind_hold_the_rows_with_equal_ids(ids):
    grades = wo.Grades([0, 1, 2, 3], groups=ids)
    a, b, c, d = grades.group
    assert a == c
    assert len({a, b, d}) == grades.n_groups == 3
    assert grades.describe().n_pairs == 1


@pytest.mark.parametrize(
    "make", [lambda ids: ids, lambda ids: ids.astype(str), lambda ids: [uuid.UUID(int=i) for i in ids]]
)
def test_the_order_of_rows_does_not_matter(make):
    rng = np.random.default_rng(1)
    ids, y = np.repeat(np.arange(20), 10), rng.integers(0, 4, 200)
    shuffled = rng.permutation(200)
    interleaved = np.argsort(np.tile(np.arange(10), 20), kind="stable")
    blocks = wo.Grades(y, groups=make(ids)).describe()
    assert blocks.n_groups == 20
    for rows in (shuffled, interleaved):
        assert wo.Grades(y[rows], groups=make(ids[rows])).describe() == blocks


@pytest.mark.parametrize(
    "ids",
    [
        [1, 1, np.nan],
        ["a", "a", None],
        ["a", "a", np.nan],
        [1, "a", pd.NA],
        [1, 1, pd.NaT],
        objects(1, 1, np.datetime64("NaT", "D")),
        objects(1, 1, NAT_WITHOUT_UNIT),
        [np.datetime64("2020", "Y"), np.datetime64("2021", "Y"), NAT_WITHOUT_UNIT],
        np.array([1, 1, np.nan], dtype=np.float32),
        np.array(["2020", "2020", "NaT"], dtype="M8[D]"),
        pd.Series([1, 1, None], dtype="Int64"),
        pd.Series(["a", "a", None], dtype="string"),
        pd.Series(["a", "a", None], dtype="category"),
        pl.Series([1, 1, None]),
        pl.Series(["a", "a", None]),
    ],
    ids=str,
)
def test_a_missing_group_id_is_refused_by_row(ids):
    with pytest.raises(ValueError, match="row 2 has no group id"):
        wo.Grades([1, 2, 3], groups=ids)


@pytest.mark.parametrize("ids", [[], [1], [1, 2], [1, 2, 3, 4]])
def test_too_few_or_too_many_group_ids_are_refused(ids):
    with pytest.raises(ValueError, match=f"groups has {len(ids)} entries for 3 rows"):
        wo.Grades([1, 2, 3], groups=ids)


@pytest.mark.parametrize("ids", [[[1], [2]], [[1], [2, 3]], [{1}, {2}], [1, {}]])
def test_unhashable_group_ids_are_refused(ids):
    with pytest.raises(TypeError, match="group ids must be hashable"):
        wo.Grades([1, 2], groups=ids)


@pytest.mark.parametrize("ids", ["ab", 3, np.ones((2, 2))])
def test_groups_of_another_shape_are_refused(ids):
    with pytest.raises(ValueError, match="groups should be a 1d array"):
        wo.Grades([1, 2], groups=ids)
