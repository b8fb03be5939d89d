"""Names that a spreadsheet would compute: an apostrophe before them keeps them text, and is taken away when read.

What begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end (or with the wide forms of these signs) is a formula to
a spreadsheet, which may fetch, send or start something when somebody opens the file. An apostrophe in front is what
OWASP advises. Numbers, and a sign that stands alone, are no formulas.

To be taken away again without doubt, an apostrophe is also put before names that begin like one that has been marked:
``'=1`` becomes ``''=1``.
"""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

_SIGNS = r"=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
_FORMULA = rf"(?s)^[{_SIGNS}]."
"""How a field begins that a spreadsheet would compute, unless it is a number."""
_MARKED = rf"^'+[{_SIGNS}]"
"""How a field begins that may have been marked before."""
_FORMULA_AFTER_SEPARATOR = rf"[,;\t|] *[{_SIGNS}]"
"""Where a spreadsheet in another country, which separates fields by other characters, would see a formula begin."""


def mark_formulas(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, tuple[int, str]]]:
    """Put an apostrophe before fields that a spreadsheet would compute; say how many each column has, and the first.

    Names of columns are marked as well. O(cells of text).

    Examples
    --------
    >>> import polars as pl
    >>> marked, found = mark_formulas(pl.DataFrame({"item": ["=1+2", "-1", "Merlot", "'@x"]}))
    >>> marked["item"].to_list(), found
    (["'=1+2", '-1', 'Merlot', "''@x"], {'item': (2, '=1+2')})
    """
    columns, found = [], {}
    for column in frame.iter_columns():
        name = column.name
        if column.dtype == pl.String:
            formulas = _formulas(column) | column.str.contains(_MARKED)
            if formulas.any():
                found[name] = (int(formulas.sum()), column.filter(formulas)[0])
                column = pl.select(pl.when(formulas).then("'" + column).otherwise(column).alias(name)).to_series()
        if re.search(_FORMULA, name) or re.match(_MARKED, name):
            found.setdefault(name, (1, name))
            column = column.alias(f"'{name}")
        columns.append(column)
    return pl.DataFrame(columns), found


def unmark_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Take away what :func:`mark_formulas` put there.

    A column of text that holds formulas without a mark was not written by it, and stays as it is.

    Examples
    --------
    >>> import polars as pl
    >>> unmark_formulas(pl.DataFrame({"item": ["'=1+2", "'n", "''@x"]}))["item"].to_list()
    ['=1+2', "'n", "'@x"]
    >>> unmark_formulas(pl.DataFrame({"item": ["'=1+2", "=3"]}))["item"].to_list()
    ["'=1+2", '=3']
    """
    columns = []
    for column in frame.iter_columns():
        if column.dtype == pl.String:
            marked = column.str.contains(_MARKED)
            if marked.any() and not _formulas(column).any():
                without = column.str.slice(1)
                column = pl.select(pl.when(marked).then(without).otherwise(column).alias(column.name)).to_series()
        columns.append(column)
    return pl.DataFrame(columns)


def unmarked_name(name: str) -> str:
    """Return a column's name without the apostrophe that stands before a formula."""
    return name[1:] if re.match(_MARKED, name) else name


def quote_style(frame: pl.DataFrame) -> Literal["necessary", "non_numeric"]:
    """Say whether all text must be quoted: where, parted at another character, a field of it would be a formula."""
    texts = [pl.Series(frame.columns), *frame.select(pl.col(pl.String)).iter_columns()]
    inside = any(text.str.contains(_FORMULA_AFTER_SEPARATOR).any() for text in texts)
    return "non_numeric" if inside else "necessary"


def _formulas(column: pl.Series) -> pl.Series:
    """Say which fields a spreadsheet would compute."""
    return column.str.contains(_FORMULA) & column.cast(pl.Float64, strict=False).is_null()
