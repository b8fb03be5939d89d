"""Votes as people write them: items by name, and who won in signs, in words for the sides, or by the winner's name."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ..sweeps import Array, Bools, Ints
from .columns import as_objects, number_objects, rank_values, read_column
from .words import BOTH_BAD, HOW_TO_WRITE, POINTS

# --------------------------------------------------------------------------------------------------
# Names, numbered as they come.


def number_names(left: Any, right: Any) -> tuple[Ints, Ints, Array]:
    """Give numbers to items by their names, in the order of their first appearance, the left one before the right one.

    Parameters
    ----------
    left, right : columns of shape (n,)
        Names of any hashable kind, in lists, arrays, or series of pandas or polars. Text is numbered by polars, twice a
        million of it in a tenth of a second.

    Returns
    -------
    left, right : arrays of shape (n,)
        The items' numbers.
    names : array of objects
        One an item.

    Raises
    ------
    ValueError
        If a name is missing.
    """
    columns = {"left": as_series(left), "right": as_series(right)}
    if any(column is None for column in columns.values()):
        columns = {"left": read_column(left, "left"), "right": read_column(right, "right")}
    n = len(columns["left"])
    if len(columns["right"]) != n:
        raise ValueError(f"left and right must be of one length, got {n} and {len(columns['right'])}")
    codes, distinct = number_values(*columns.values())
    if None in distinct:
        row = int(np.argmax(codes == distinct.index(None)))
        side, row = ("left", row) if row < n else ("right", row - n)
        raise ValueError(f"comparison {row} has no name for its {side} item (missing value in {side})")
    first = np.full(len(distinct), 2 * n)
    # appearances are at 0, 2, … on the left and 1, 3, … on the right; from the last on, so that the first one stays
    for place, numbered in enumerate((codes[:n], codes[n:])):
        here = np.full(len(distinct), 2 * n)
        here[numbered[::-1]] = np.arange(place, 2 * n, 2)[::-1]
        first = np.minimum(first, here)
    order = np.argsort(first)
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    numbers = number[codes]
    return numbers[:n], numbers[n:], as_objects(distinct)[order]


def number_values(*columns: Any) -> tuple[Ints, list[Hashable]]:
    """Give numbers to the distinct values of columns, which are all series of text or all arrays.

    A missing value is None.
    """
    if not isinstance(columns[0], np.ndarray):
        return _number_text(columns)
    if all(column.dtype.kind in "iu" for column in columns):
        codes, distinct = rank_values(np.concatenate(columns))
        return codes, distinct.tolist()
    return number_objects(np.concatenate([as_objects(column) for column in columns]))


def _number_text(columns: Sequence[Any]) -> tuple[Ints, list[Hashable]]:
    import polars as pl

    text = pl.concat(columns)
    distinct = text.unique(maintain_order=True)
    given = distinct.drop_nulls()
    codes = text.cast(pl.Enum(given)).to_physical()
    if len(given) == len(distinct):
        return codes.to_numpy(), given.to_list()
    return codes.cast(pl.Int64).fill_null(len(given)).to_numpy(), [*given.to_list(), None]


def as_series(values: Any) -> Any:
    """Return a column of nothing but text, or missing values, as a polars series; None if it is no such."""
    import polars as pl

    if isinstance(values, pl.Series):
        is_text = values.dtype == pl.String or isinstance(values.dtype, pl.Categorical | pl.Enum)
        return values.cast(pl.String).alias("") if is_text else None
    if not isinstance(values, list | tuple | np.ndarray) and hasattr(values, "to_list"):
        values = values.to_list()
    if isinstance(values, np.ndarray):
        if values.ndim != 1 or values.dtype.kind not in "UOT":
            return None
        values = values.tolist()  # in a third of the time that polars takes for NumPy's text
    if not isinstance(values, list | tuple) or not len(values) or not isinstance(values[0], str):
        return None
    try:
        return pl.Series("", values, dtype=pl.String, strict=True)
    except TypeError:  # something else among the text
        return None


# --------------------------------------------------------------------------------------------------
# Outcomes, in words.


@dataclass(frozen=True)
class Outcomes:
    """Outcomes that were read.

    Attributes
    ----------
    outcome : array of shape (n,)
        −1 (left is better), 0, 1 (right is better).
    both_bad : array of shape (n,) or None
        Whether a tie was said to be of two that are both bad; None where nobody said so of any.
    by_name : bool
        Whether winners were given by their names.
    by_points : bool
        Whether what was given is points of the left one: 1, ½ and 0.
    """

    outcome: Ints
    both_bad: Bools | None
    by_name: bool = False
    by_points: bool = False


def read_outcomes(
    codes: Ints,
    distinct: Sequence[Hashable],
    sides: tuple[Ints, Ints],
    names: Array,
    words: Mapping[str, int],
    fail: Callable[[str, int], Exception],
) -> Outcomes:
    """Read who won, in words or by name; what may mean two things is refused.

    Parameters
    ----------
    codes : array of shape (n,)
        Which of the distinct values each comparison has.
    distinct : sequence
        These; None for 'not given'.
    sides : two arrays of shape (n,)
        The left and the right items' numbers.
    names : array
        What each item is called.
    words : mapping
        From words in small letters to −1, 0 and 1.
    fail : callable
        Makes the error of a problem and the comparison that has it.
    """
    left, right = sides
    number_of = {name: number for number, name in enumerate(names)}
    numbers: Ints = np.array(
        [number_of.get(value, -1) if isinstance(value, str) else -1 for value in distinct], np.int64
    )
    signs: Ints = np.array([_sign(value, words) for value in distinct], np.int8)
    is_bad = np.array([isinstance(value, str) and value.lower() in BOTH_BAD for value in distinct], dtype=bool)
    said, item = _numbers_as_signs_or_names(distinct, signs, numbers, codes, sides)
    outcome = said[codes]
    by_name = False
    if (item >= 0).any():
        winner = item[codes]
        named = np.where(winner < 0, 0, np.where(winner == left, -1, np.where(winner == right, 1, 0)))
        by_name = bool((named != 0).any())
        # where a word is the name of an item as well, both must say the same
        doubtful = by_name & (winner >= 0) & (outcome != _NONE) & (outcome != named) & (left != right)
        if doubtful.any():
            row = int(np.argmax(doubtful))
            raise fail(_two_meanings(str(distinct[codes[row]]), int(outcome[row]), int(named[row])), row)
        outcome = np.where(named != 0, named, outcome).astype(np.int8)
    unknown = outcome == _NONE
    if unknown.any():
        row = int(np.argmax(unknown))
        raise fail(_not_understood(distinct[codes[row]], str(names[left[row]]), str(names[right[row]]), by_name), row)
    return Outcomes(outcome, is_bad[codes] if is_bad.any() else None, by_name)


_NONE = 2
"""In place of an outcome, where there is none."""


def _numbers_as_signs_or_names(
    distinct: Sequence[Hashable], said: Ints, item: Ints, codes: Ints, sides: tuple[Ints, Ints]
) -> tuple[Ints, Ints]:
    """Decide for items that are called by numbers what 1 and 0 mean: all numbers are signs, or all are names.

    Where 57 is an item, 1 is one, too; 0 may still be a tie. Where there is nothing but −1, 0 and 1, they are signs,
    unless each of them is also the name of one of the two that are compared: then both stay possible.
    """
    is_number = np.array([isinstance(value, str) and _is_number(value) for value in distinct], dtype=bool)
    if not (is_number & (item >= 0)).any():
        return said, item
    if (is_number & (item >= 0) & (said == _NONE)).any():
        is_tie = (said == 0) & (item < 0)
        return np.where(is_number & ~is_tie, _NONE, said).astype(np.int8), item
    winner = item[codes]
    if ((winner == sides[0]) | (winner == sides[1])).all():
        return said, item
    return said, np.where(is_number, -1, item)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _sign(value: Hashable, words: Mapping[str, int]) -> int:
    if isinstance(value, str):
        return words.get(value.strip().lower(), _NONE)
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_) and value in (-1, 0, 1):
        return int(value)
    return _NONE


def _not_understood(value: Hashable, left: str, right: str, by_name: bool) -> str:
    if value is None:
        return f"the outcome is missing; remove the row, or {HOW_TO_WRITE}"
    if isinstance(value, bool | np.bool_):
        return (
            f"the outcome is {value}, and False could as well mean 'left' as 'no difference'; {HOW_TO_WRITE}. Where "
            "True says that right is better and False that left is, give np.where(outcome, 1, -1)"
        )
    if str(value) in POINTS and POINTS[str(value)] == 0:
        return (
            f"the outcome is {_shown(value)}; where 1, 0.5 and 0 are points of the left one, as in chess, give "
            f"np.sign(1 - 2 * points), or {HOW_TO_WRITE}"
        )
    if by_name:
        return (
            f"the outcome is {_shown(value)}, neither {_shown(left)} nor {_shown(right)}, which are compared here, "
            f"nor a word for a tie; correct it, or {HOW_TO_WRITE}"
        )
    return f"the outcome is {_shown(value)}; {HOW_TO_WRITE}"


def _two_meanings(value: str, outcome: int, named: int) -> str:
    meant = {-1: "the left one", 0: "a tie", 1: "the right one"}
    name = {-1: "the left item's name", 0: "the name of an item that is not compared here", 1: "the right item's name"}
    return (
        f"the outcome {_shown(value)} could be read in two ways, as a word for {meant[outcome]} and as {name[named]}; "
        "write left, right and tie, or call the item something else"
    )


def _shown(value: Any) -> str:
    text = str(value)
    return repr(value) if len(text) <= 40 else repr(text[:40]) + "…"
