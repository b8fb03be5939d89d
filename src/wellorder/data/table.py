"""What a file holds, once read (graded rows, or comparisons of items), and pairs that a model is asked about."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..order import Comparisons, Grades, Times
from ..sweeps import Array, Bools, Floats, Ints
from .lines import Places

if TYPE_CHECKING:
    from .encode import TableEncoder

Features: TypeAlias = "pl.DataFrame | sp.csr_array"
"""Columns with names and types of their own, or numbered columns of numbers (LETOR)."""


@runtime_checkable
class FeatureParts(Protocol):
    """Features of rows that lie in partitions elsewhere: an encoder is taught there, and encodes there."""

    columns: list[str]

    def teach(self, encoder: TableEncoder) -> None:
        """Fit an encoder on what the partitions say of their columns."""
        ...

    def encoded(self, encoder: TableEncoder) -> Any:
        """Return the encoded rows, which stay where they are."""
        ...


@dataclass(frozen=True)
class Table:
    r"""Rows to be put in order, as they were read from a file.

    Attributes
    ----------
    source : str
        The file, as the user named it.
    X : polars DataFrame, or CSR array
        The features: whatever is not target, group, item or weight. From LETOR files a CSR array whose
        column j is the file's feature j + 1.
    y : array of shape (n,) or None
        Grades: float64 with NaN for unjudged rows, or objects (text, None for unjudged).
    groups : array of shape (n,) or None
        The query, list or contest a row belongs to.
    ids : array of shape (n,) or None
        What each row is called.
    weights : array of shape (n,) or None
        Row weights.
    times : array of shape (n,) or None
        When each row is from: numbers, or days since 1970. Where they are known, methods are compared on later rows
        than those that they learn from.
    events : array of bool of shape (n,) or None
        Whether y is a time that ended with an event, rather than one after which a row was no longer seen; None where
        y holds grades.
    target, group, item, weight, time, event : str or None
        The columns that these came from.
    levels : tuple or None
        The levels from worst to best, where they were declared.
    recipe : str
        The Python call that reads the same again; empty where there is none, as for a table read for a model.
    spare : tuple of str
        Columns of the file that a model has no use for, of a table read for one.
    places : Places or None
        Where the rows stand in their files, for whoever finds something wrong with one; None where they are of none.

    Examples
    --------
    >>> import wellorder as wo
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wines.csv"
    >>> _ = path.write_text("ph,colour,quality\n3.1,red,5\n3.4,white,6\n")
    >>> wines = wo.read(path, target="quality")
    >>> wines.X.columns, wines.y.tolist()
    (['ph', 'colour'], [5.0, 6.0])
    """

    source: str
    X: Features
    y: Array | None = None
    groups: Array | None = None
    ids: Array | None = None
    weights: Array | None = None
    times: Floats | None = None
    events: Bools | None = None
    target: str | None = None
    group: str | None = None
    item: str | None = None
    weight: str | None = None
    time: str | None = None
    event: str | None = None
    levels: tuple[Any, ...] | None = None
    recipe: str = ""
    spare: tuple[str, ...] = ()
    places: Places | None = field(default=None, repr=False)
    described: ClassVar[bool] = True
    """Whether anything but their names is known of the rows."""

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features; "1", "2", … for a file of numbered ones."""
        if isinstance(self.X, pl.DataFrame | FeatureParts):
            return tuple(self.X.columns)
        return tuple(str(number + 1) for number in range(self.X.shape[1]))

    def names(self) -> Array:
        """Return what to call each row in front of a person: its id, or ``row 7`` where it has none."""
        return self._named("row ")

    def row_ids(self) -> Array:
        """Return one word to call each row in a file: its id, or its number where it has none.

        A number that is the id of another row has ``row-`` before it.
        """
        given, prefix = set() if self.ids is None else set(self.ids), ""
        missing = self._without_id()
        while given and any(f"{prefix}{row + 1}" in given for row in missing.tolist()):
            prefix += "row-"
        return self._named(prefix)

    def _without_id(self) -> Ints:
        """Return the rows that have no id: all, or those of a LETOR file without a comment."""
        return np.arange(len(self)) if self.ids is None else np.flatnonzero(self.ids == "")

    def _named(self, prefix: str) -> Array:
        missing = self._without_id()
        if self.ids is not None and not len(missing):
            return self.ids
        out = np.empty(len(self), dtype=object) if self.ids is None else self.ids.astype(object)
        out[missing] = [f"{prefix}{row + 1}" for row in missing.tolist()]
        return out

    def grades(self, order: Any = "full") -> Grades:
        """Return the grades with their groups and weights, ready for a ranker."""
        if self.y is None:
            raise ValueError(f"{self.source} was read without grades; name their column with target=")
        if self.events is not None:
            return Times(self.y, self.events, groups=self.groups, weights=self.weights)
        return Grades(self.y, self.groups, order, self.weights, self.levels)

    @property
    def rows(self) -> Table:
        """The rows that are put in order: these."""
        return self

    def order(self) -> Grades:
        """Return what must stand above what: every higher grade above every lower one."""
        return self.grades()

    def take(self, rows: Array) -> Table:
        """Return some of the rows (numbers or a mask), in the order asked for."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        parts = {name: getattr(self, name) for name in ("y", "groups", "ids", "weights", "times", "events")}
        kept: dict[str, Any] = {name: None if part is None else part[rows] for name, part in parts.items()}
        places = None if self.places is None else self.places.take(rows)
        return replace(self, X=self.X[rows], places=places, **kept)


@dataclass(frozen=True)
class ComparisonTable:
    """Items compared two at a time, and what is known about each item.

    Attributes
    ----------
    source : str
        The file of comparisons, as the user named it.
    items : Table
        One row an item, with its name in ``items.ids``. Without a file of items, each item is a feature of
        its own (a CSR identity), so that a linear model learns one rating an item.
    comparisons : Comparisons
        By row numbers of ``items``.
    described : bool
        Whether the items came from a file.
    recipe : str
        The Python call that reads the same again; empty where there is none, as for a table read for a model.
    signs : tuple of three str
        How the file writes −1, 0 and 1.
    times : array of shape (n,) or None
        When each comparison was made, as in :class:`Table`; the comparisons are then in this order.
    time : str or None
        The column that it came from.
    dated : bool
        Whether times are dates, in days, rather than numbers.
    columns : polars DataFrame or None
        The columns of the file of comparisons that have no role, one row a comparison: numbers, or text.
    both_bad : array of bool of shape (n,) or None
        Whether a comparison was a tie in which both were called bad; None where the file has no such outcome.
    sides : bool
        Whether it means something which item stands on the left: not where that is always the winner.
    understood : str
        In one line, which columns were taken for what, and how the outcomes were read; empty where no file was.
    places : Places or None
        Where the comparisons stand in their files, as in :class:`Table`.
    """

    source: str
    items: Table
    comparisons: Comparisons
    described: bool
    recipe: str = ""
    signs: tuple[str, str, str] = ("-1", "0", "1")
    times: Floats | None = None
    time: str | None = None
    dated: bool = False
    columns: pl.DataFrame | None = field(default=None, repr=False)
    both_bad: Bools | None = field(default=None, repr=False)
    sides: bool = True
    understood: str = ""
    places: Places | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.comparisons)

    @property
    def rows(self) -> Table:
        """The rows that are put in order: the items."""
        return self.items

    def order(self) -> Comparisons:
        """Return what must stand above what."""
        return self.comparisons

    def take(self, rows: Array) -> ComparisonTable:
        """Return some of the comparisons (numbers or a mask), over the same items."""
        rows = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows)
        parts = {name: getattr(self, name) for name in ("columns", "both_bad", "times")}
        kept: dict[str, Any] = {name: None if part is None else part[rows] for name, part in parts.items()}
        places = None if self.places is None else self.places.take(rows)
        return replace(self, comparisons=self.comparisons.take(rows), places=places, **kept)


AnyTable = TypeVar("AnyTable", bound="Table | ComparisonTable")


def leave_columns(table: AnyTable) -> AnyTable:
    """Return a table for methods that look at nothing but outcomes, weights and times of comparisons; warn of the rest.

    Whoever has dropped these columns knows.
    """
    if not isinstance(table, ComparisonTable) or table.columns is None:
        return table
    names = [repr(name) for name in table.columns.columns]
    what = f"the column {names[0]} is" if len(names) == 1 else f"the columns {name_some(names)} are"
    warnings.warn(
        f"{table.source}: {what} not used: of comparisons, the two items, the outcome, the weight and the time are; "
        "drop= leaves columns out without a word, and 'wellorder rate' can make use of them",
        stacklevel=3,
    )
    return replace(table, columns=None)


_SHOWN = 10


def name_some(columns: Sequence[str]) -> str:
    """Name columns, of many the first."""
    return ", ".join(columns[:_SHOWN]) + ", …" * (len(columns) > _SHOWN)


OTHER_COLUMNS = "; other columns: "
"""Where the columns without a role begin, in what was understood."""


def understood_by_methods(table: ComparisonTable | PairTable) -> str:
    """Say what was understood of a file, for a method that does not use the columns without a role."""
    return table.understood.replace(OTHER_COLUMNS, "; not used: ")


# --------------------------------------------------------------------------------------------------
# Pairs of items that a model is asked about, and what it says of them.


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
    ("model_a", "tie", "model_b"),
    ("A", "tie", "B"),
    ("a", "tie", "b"),
    ("1-0", "1/2-1/2", "0-1"),
    ("1", "0.5", "0"),
    ("1.0", "0.5", "0.0"),
)
"""The ways to write predictions; the one that shares most words with the file is taken."""

BY_SIDE: Signs = ("left", "tie", "right")
"""Where a file says who won by name or by scores."""


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
    understood : str
        In one line, which columns were taken for what; empty where no file was.
    columns, places
        As in :class:`ComparisonTable`.
    """

    source: str
    items: Table
    left: Ints = field(repr=False)
    right: Ints = field(repr=False)
    signs: Signs = PLAIN
    understood: str = ""
    columns: pl.DataFrame | None = field(default=None, repr=False)
    places: Places | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.left)


def pairs_of(table: PairTable | ComparisonTable) -> PairTable:
    """Return the pairs that were compared, without what came of it."""
    if isinstance(table, PairTable):
        return table
    compared = table.comparisons
    return PairTable(table.source, table.items, compared.left, compared.right, table.signs, table.understood)


def write_signs(outcome: Ints, signs: Signs) -> Array:
    """Write outcomes −1, 0 and 1 as a file does."""
    return np.array(signs, dtype=object)[np.asarray(outcome, dtype=np.int64) + 1]


def prediction_frame(
    table: PairTable | ComparisonTable, outcome: Ints, difference: Floats, probability: Floats | None = None
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
