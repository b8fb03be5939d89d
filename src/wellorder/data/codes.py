"""Categories as numbers, and columns that were numbers in training as such again."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..sweeps import Array, Floats
from .errors import Places, name_place, row_error


def category_codes(name: str, values: Array, categories: list[str | None], places: Places | None = None) -> Array:
    """Return the number of each row's category; −1, with one warning, for one that training has not seen."""
    code_of: dict[Any, int] = {value: code for code, value in enumerate(categories)}
    if values.dtype.kind == "f":  # 4 and 5 of {4, 5, more}: a data frame without 'more' holds numbers
        code_of = _codes_by_number(name, values, categories)
        entries = [None if value != value else value for value in values.tolist()]
    else:
        entries = values.tolist()
    codes = np.fromiter((code_of.get(entry, -1) for entry in entries), np.int64, len(entries))
    if categories and (codes < 0).any():
        row = int(np.argmax(codes < 0))
        shown = "a missing value" if entries[row] is None else f"the value {entries[row]!r}"
        n_rows = int(np.count_nonzero(codes < 0))
        warnings.warn(
            f"column {name!r} has {shown} (first in {name_place(places, row)}) that the training data did not have: "
            f"none of its categories fits in {n_rows:,} row{'s' * (n_rows != 1)}",
            stacklevel=4,
        )
    return codes


def _codes_by_number(name: str, values: Floats, categories: list[str | None]) -> dict[Any, int]:
    """Return the codes of categories, by number where they are such; a number that may be either of two is refused."""
    code_of: dict[Any, int] = {}
    for code, value in enumerate(categories):
        number = _number_or_itself(value)
        if number in code_of and (values == number).any():
            raise ValueError(
                f"column {name!r} held text in the training data, and its number {number:g} may be the category "
                f"{categories[code_of[number]]!r} or {value!r}; give the column as text"
            )
        code_of[number] = code
    return code_of


def _number_or_itself(value: str | None) -> Any:
    try:
        return None if value is None else float(value)
    except ValueError:
        return value


def as_numbers(name: str, values: Array, places: Places | None = None) -> Floats:
    """Return a column that was numbers in training as numbers."""
    if values.dtype.kind == "f":
        return values
    numbers = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if value is None else float(value)
        except ValueError:
            problem = f"column {name!r} held numbers in the training data, and has {value!r} here; correct it"
            raise row_error(places, problem, row) from None
    return numbers
