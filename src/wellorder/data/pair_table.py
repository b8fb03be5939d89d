"""Pairs of items that a model is asked about, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from ..sweeps import Array, Floats, Ints
from .column_types import as_text
from .sheet import Sheet
from .table import ComparisonTable, Table

Signs: TypeAlias = tuple[str, str, str]
"""How a file writes its outcomes: the left one is better, no difference, the right one is better."""

PLAIN: Signs = ("-1", "0", "1")
CONVENTIONS: tuple[Signs, ...] = (
    (">", "=", "<"),
    PLAIN,
    ("-1", "0", "+1"),
    ("-1.0", "0.0", "1.0"),
    ("−1", "0", "1"),
    ("left", "tie", "right"),
    ("left", "draw", "right"),
)
"""Every way to write them that is understood; no word that leaves open whose win it is."""

HOW_TO_WRITE = "write 1, < or right (right is better), -1, > or left (left is better), 0, = or tie (no difference)"

_TIES = frozenset(("tie", "tied", "draw", "drawn", "equal", "same", "both", "neither", "none", "=", "1/2-1/2"))
_WINS = frozenset(("left", "right", "win", "won", "loss", "lose", "lost", "a", "b", ">", "<", "1-0", "0-1"))
"""How outcomes are written in common use: only to refuse them as grades, never to guess who won."""


@dataclass(frozen=True)
class PairTable:
    """Pairs of items whose outcome is not known, or not looked at.

    Attributes
    ----------
    source : str
        The file, as the user named it.
    items : Table
        One row an item, with its name in ``items.ids``.
    left, right : arrays of shape (n,)
        Row numbers of ``items``.
    signs : tuple of three str
        How to write an outcome.
    """

    source: str
    items: Table
    left: Ints = field(repr=False)
    right: Ints = field(repr=False)
    signs: Signs = PLAIN

    def __len__(self) -> int:
        return len(self.left)


def pairs_of(table: PairTable | ComparisonTable) -> PairTable:
    """Return the pairs that were compared, without what came of it."""
    if isinstance(table, PairTable):
        return table
    compared = table.comparisons
    return PairTable(table.source, table.items, compared.left, compared.right, table.signs)


def write_signs(outcome: Array, signs: Signs) -> Array:
    """Write outcomes −1, 0 and 1 as a file does."""
    return np.array(signs, dtype=object)[np.asarray(outcome, dtype=np.int64) + 1]


def refuse_as_grades(sheet: Sheet, target: str) -> None:
    """Refuse a target that says who of left and right is better: as levels, its words would be put in some order."""
    if target in ("left", "right") or not {"left", "right"}.issubset(sheet.frame.columns):
        return
    written = as_text(sheet, target).fill_null("tie")
    if written.cast(pl.Float64, strict=False).is_not_null().any():  # numbers may be grades, whatever is beside them
        return
    said = written.str.to_lowercase()
    sides = [as_text(sheet, side).fill_null("") for side in ("left", "right")]
    is_tie = said.is_in(list(_TIES))
    names_one = ((written == sides[0]) | (written == sides[1])) & (sides[0] != sides[1])
    if not is_tie.all() and ((is_tie | said.is_in(list(_WINS))).all() or (is_tie | names_one).all()):
        rename = "" if target == "outcome" else " call the column outcome,"
        raise sheet.error(
            f"the column {target!r} says which of left and right is better, and is no grade; leave target= out,"
            f"{rename} and {HOW_TO_WRITE}"
        )


def prediction_frame(
    table: PairTable | ComparisonTable, outcome: Array, difference: Floats, probability: Floats | None = None
) -> pl.DataFrame:
    r"""Return what a model says of each pair, as columns for a file.

    Parameters
    ----------
    table : PairTable or ComparisonTable
    outcome : array of shape (n,)
        −1, 0 or 1; written as the file writes its own.
    difference : array of shape (n,)
        How far the right item's score is above the left one's.
    probability : array of shape (n, 3), optional
        P(left better), P(tie) and P(right better); without, there are no such columns.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data import prediction_frame, read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "games.csv"
    >>> _ = path.write_text("left,right,outcome\nAnna,Ben,>\nBen,Carl,=\n")
    >>> prediction_frame(read(path), [-1, 0], [-2.0, 0.5]).rows()
    [('Anna', 'Ben', '>', -2.0), ('Ben', 'Carl', '=', 0.5)]
    """
    pairs = pairs_of(table)
    names = pairs.items.names()
    columns: dict[str, Any] = {
        "left": [str(name) for name in names[pairs.left]],
        "right": [str(name) for name in names[pairs.right]],
        "predicted": write_signs(outcome, pairs.signs).tolist(),
        "difference": np.asarray(difference, dtype=np.float64),
    }
    if probability is not None:
        columns |= dict(zip(("p_left", "p_tie", "p_right"), np.asarray(probability, dtype=np.float64).T, strict=True))
    text = dict.fromkeys(("left", "right", "predicted"), pl.String)
    return pl.DataFrame(columns, schema_overrides=text)
