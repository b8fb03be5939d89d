"""A task: a table that methods are compared on, split, made into numbers, and judged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from ..data import ComparisonTable, Table, TableEncoder, takes_categories, tell_columns
from ..methods import Size
from ..metrics import AnyMetric
from ..order import Comparisons, Grades, Kind
from ..samples import Sample
from ..scoring import list_scores
from ..sweeps import Array, Floats, Ints
from .judging import Bins, Foretold, Judgement, bin_grades, foretell, judge_comparisons, judge_grades
from .methods import measure_size
from .splits import Split, feasible_folds, feasible_n_folds, n_lists_with_pair, time_cuts


@dataclass(frozen=True)
class TrainingPart(Sample):
    """A training part in numbers, and the encoding that made them."""

    encoder: TableEncoder | None = None
    """None if items have names and no features: each item is then a column of its own."""
    size: Size = field(kw_only=True)

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the encoded features."""
        return () if self.encoder is None else tuple(self.encoder.get_feature_names_out())

    def encode(self, rows: Table) -> Any:
        """Return rows in the same numbers."""
        return rows.X if self.encoder is None else self.encoder.transform(rows)


class Task:
    """A table that methods are compared on: split, made into numbers, and judged."""

    def __init__(self, table: AnyTable) -> None:
        if not isinstance(table, Table | ComparisonTable):
            raise TypeError(
                f"this takes a table, not {type(table).__name__}; wo.read makes one, of a file or of a data frame that "
                "has the grades as a column: wo.read(path_or_frame, target='grade')"
            )
        self.table = table
        self.order = table.order()
        self._last: dict[bool, tuple[Ints, TrainingPart]] = {}

    @property
    def name(self) -> str:
        """What to call the data."""
        return self.table.source

    @property
    def supervision(self) -> Kind:
        """What there is to learn from."""
        return self.order.kind

    @cached_property
    def split_by(self) -> str:
        """What stays together."""
        if isinstance(self.order, Comparisons):
            return "pairs"
        return "groups" if self.order.lists is not None and n_lists_with_pair(self.order) > 1 else "rows"

    @cached_property
    def _bins(self) -> Bins | None:
        """One set of bins for all test parts: their tables add up."""
        return bin_grades(self.order) if isinstance(self.order, Grades) else None

    @property
    def times(self) -> Floats | None:
        """When rows, or comparisons, are from: methods are then judged by what came after what they learn from."""
        return self.table.times

    def n_folds(self, wanted: int) -> int:
        """Return how many folds a round has: as many as wanted, or as there are lists with a pair, or times."""
        if self.times is not None:
            return sum(1 for _ in time_cuts(self.order, self.times, n_cuts=wanted))
        return feasible_n_folds(self.order, wanted)

    def splits(self, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
        """Yield train and test rows (or comparisons), repeat by repeat, cut when asked for; in time, there is one."""
        if self.times is not None:
            return time_cuts(self.order, self.times, n_cuts=n_folds)
        return feasible_folds(self.order, n_folds, n_repeats, seed)

    def training_part(self, rows: Ints, model: Any = None) -> TrainingPart:
        """Encode a training part; nothing is learned from other rows. The last one is kept: all methods ask for it.

        It is encoded as a model takes it, if one is given, which is then told of the columns.
        """
        for_trees = model is not None and takes_categories(model)
        last = self._last.get(for_trees)  # another thread may set it meanwhile
        if last is None or not np.array_equal(last[0], rows):
            last = self._last[for_trees] = rows, self._encode(rows, for_trees)
        if model is not None and isinstance(last[1].encoder, TableEncoder):
            tell_columns(model, last[1].encoder)
        return last[1]

    def _encode(self, rows: Ints, for_trees: bool) -> TrainingPart:
        part = self.table.take(rows)
        encoder = TableEncoder(for_trees=for_trees).fit(part.rows) if part.described else None
        X, order = part.rows.X if encoder is None else encoder.transform(part.rows), part.order()
        return TrainingPart(X, order, encoder=encoder, size=measure_size(X, order, has_features=part.described))

    def n_judged(self, rows: Ints) -> int:
        """Count the rows that say something: those with a grade, or comparisons."""
        return int(np.count_nonzero(self.order.is_judged[rows]))

    def scores(self, model: Any, part: TrainingPart, rows: Ints) -> Floats:
        """Return a fitted model's scores for the rows of a test part, or of all items."""
        test = self.table.take(rows).rows
        return np.asarray(list_scores(model, part.encode(test), test.groups), dtype=float)

    def foretold(self, model: Any, part: TrainingPart, rows: Ints) -> Foretold:
        """Return a fitted model's probabilities for the rows, or comparisons, of a test part."""
        test = self.table.take(rows)
        return foretell(model, part.encode(test.rows), test.order())

    def judge(
        self,
        scores: Floats,
        rows: Ints,
        metrics: Sequence[AnyMetric],
        foretold: Foretold | None = None,
        /,
        **rule: float,
    ) -> Judgement:
        """Judge scores of a test part, by what a model makes of them (:func:`rule_of`), and its probabilities."""
        order = self.table.take(rows).order()
        if isinstance(order, Comparisons):
            return judge_comparisons(order, scores, metrics, foretold=foretold, **rule)
        return judge_grades(order, scores, metrics, None if self._bins is None else self._bins.take(rows), foretold)

    def fingerprint(self) -> str:
        """Return a digest of everything in the data that a result depends on."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        order = self.order
        if isinstance(order, Grades):
            own = () if self.table.rows.events is None else (self.table.rows.events,)
            return _digest(self.table.rows, *own)
        return _digest(self.table.rows, order.left, order.right, order.outcome, order.weight)


AnyTable: TypeAlias = Table | ComparisonTable


def make_task(table: AnyTable) -> Task:
    """Return the task that a table stands for."""
    return Task(table)


def _digest(table: Table, *more: Array | None) -> str:
    digest = hashlib.blake2b(digest_size=16)
    if isinstance(table.X, pl.DataFrame):
        for column in table.X.iter_columns():
            digest.update(f"{column.name}\0{column.dtype}\0".encode())
            _update(
                digest, column.to_numpy() if column.dtype.is_numeric() else np.array(column.to_list(), dtype=object)
            )
    else:
        for part in (table.X.data, table.X.indices, table.X.indptr, np.array(table.X.shape)):
            _update(digest, part)
    for array in (table.y, table.groups, table.weights, *more):
        _update(digest, array)
    digest.update(repr(table.levels).encode())
    return digest.hexdigest()


def _update(digest: Any, array: Array | None) -> None:
    if array is None:
        digest.update(b"none\0")
    elif array.dtype.kind == "O":
        digest.update("\0".join(map(repr, array.tolist())).encode())
    else:
        digest.update(f"{array.dtype.str}{array.shape}\0".encode() + np.ascontiguousarray(array).tobytes())
