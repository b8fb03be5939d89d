"""Pairs of items that a model is asked about, and what it says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from ..sweeps import Array, Floats, Ints
from .table import ComparisonTable, Table

Signs: TypeAlias = tuple[str, str, str]
"""How a file writes its outcomes: the left one is better, no difference, the right one is better."""

PLAIN: Signs = ("-1", "0", "1")
CONVENTIONS: tuple[Signs, ...] = ((">", "=", "<"), PLAIN, ("-1", "0", "+1"), ("-1.0", "0.0", "1.0"), ("−1", "0", "1"))


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
