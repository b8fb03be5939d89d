"""A task: data that methods are compared on, split, made into numbers, and judged, whatever the supervision."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from ..data import ComparisonTable, Table, TableEncoder
from ..metrics import AnyMetric
from ..order import Comparisons, Grades
from ..scoring import list_scores
from ..sweeps import Array, Floats, Ints
from .judging import Judgement, bin_grades, judge_comparisons, judge_grades
from .methods import Size, Supervision
from .parts import take
from .splits import Split, comparison_folds, folds


@dataclass(frozen=True)
class TrainingPart:
    """A training part in numbers: features, what to learn, and the encoding that made them."""

    X: Any
    y: Grades | Comparisons
    encoder: TableEncoder | None
    size: Size

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the encoded features."""
        return () if self.encoder is None else tuple(self.encoder.get_feature_names_out())


class Task(Protocol):
    """What a comparison needs of data."""

    @property
    def supervision(self) -> Supervision:
        """What there is to learn from."""

    @property
    def split_by(self) -> str:
        """What stays together."""

    @property
    def order(self) -> Grades | Comparisons:
        """What must stand above what."""

    @property
    def name(self) -> str:
        """What to call the data."""

    def splits(self, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
        """Yield train and test rows, repeat by repeat."""

    def training_part(self, rows: Ints) -> TrainingPart:
        """Encode a training part; nothing is learned from other rows."""

    def n_judged(self, rows: Ints) -> int:
        """Count the rows that say something: those with a grade, or comparisons."""

    def scores(self, model: Any, part: TrainingPart, rows: Ints) -> Floats:
        """Return a fitted model's scores for a test part."""

    def judge(
        self, scores: Floats, rows: Ints, metrics: Sequence[AnyMetric], threshold: float = 0.0, advantage: float = 0.0
    ) -> Judgement:
        """Judge scores of a test part.

        Of comparisons, ``advantage`` is taken off the right score less the left one, and what is nearer to zero than
        ``threshold`` is predicted to tie.
        """

    def fingerprint(self) -> str:
        """Return a digest of everything in the data that a result depends on."""


class GradedTask:
    """Graded rows, in one list or in groups that stay together."""

    supervision: Supervision = "grades"

    def __init__(self, table: Table) -> None:
        self.table = table
        self.order = table.grades()
        self.split_by = "groups" if _n_lists_with_pair(self.order) > 1 else "rows"
        self._last: tuple[Ints, TrainingPart] | None = None
        self._bins = bin_grades(self.order)  # one set of bins: the tables of the test parts add up

    @property
    def name(self) -> str:
        """What to call the data."""
        return self.table.source

    def n_folds(self, wanted: int) -> int:
        """Return how many folds a round of splits has: as many as wanted, or as there are lists with a pair."""
        return feasible_n_folds(self.order, wanted)

    def splits(self, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
        """Yield train and test rows, cut when asked for: whole groups, or rows with every grade spread evenly."""
        return feasible_folds(self.order, n_folds, n_repeats, seed)

    def training_part(self, rows: Ints) -> TrainingPart:
        """Encode a training part; nothing is learned from other rows. The last one is kept: all methods ask for it."""
        last = self._last  # another thread may set it meanwhile
        if last is None or not np.array_equal(last[0], rows):
            last = self._last = rows, self._encode(rows)
        return last[1]

    def _encode(self, rows: Ints) -> TrainingPart:
        part = self.table.take(rows)
        encoder = TableEncoder().fit(part)
        X, grades = encoder.transform(part), part.grades()
        sizes = np.bincount(grades.group) if grades.group is not None else np.array([len(grades)])
        n_levels = len(np.unique(grades.level[grades.level >= 0]))
        size = Size("grades", len(part), int(X.shape[1]), grades.pairs.n_pairs, int(sizes.max(initial=0)), n_levels)
        return TrainingPart(X, grades, encoder, size)

    def n_judged(self, rows: Ints) -> int:
        """Count the rows with a grade."""
        return int(np.count_nonzero(self.order.level[rows] >= 0))

    def scores(self, model: Any, part: TrainingPart, rows: Ints) -> Floats:
        """Return a fitted model's scores for a test part."""
        assert part.encoder is not None
        test = self.table.take(rows)
        return np.asarray(list_scores(model, part.encoder.transform(test), test.groups), dtype=float)

    def judge(
        self, scores: Floats, rows: Ints, metrics: Sequence[AnyMetric], threshold: float = 0.0, advantage: float = 0.0
    ) -> Judgement:
        """Judge scores of a test part; grades know neither ties to be predicted nor sides."""
        return judge_grades(self.table.take(rows).grades(), scores, metrics, self._bins.take(rows))

    def fingerprint(self) -> str:
        """Return a digest of features, grades, groups, weights and declared levels."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return _digest(self.table)


class ComparisonTask:
    """Items compared two at a time; all comparisons of the same two items stay together."""

    supervision: Supervision = "comparisons"
    split_by = "pairs"

    def __init__(self, table: ComparisonTable) -> None:
        self.table = table
        self.order = table.comparisons
        # items are known before any is compared: encoding them looks at no outcome
        self._encoder = TableEncoder().fit(table.items) if table.described else None
        self._X = table.items.X if self._encoder is None else self._encoder.transform(table.items)

    @property
    def name(self) -> str:
        """What to call the data."""
        return self.table.source

    def n_folds(self, wanted: int) -> int:
        """Return how many folds a round of splits has: as many as wanted."""
        return feasible_n_folds(self.order, wanted)

    def splits(self, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
        """Yield train and test comparisons, cut as they are asked for."""
        return feasible_folds(self.order, n_folds, n_repeats, seed)

    def training_part(self, rows: Ints) -> TrainingPart:
        """Return the items, and some of their comparisons."""
        comparisons = self.table.take(rows).comparisons
        decided = int(np.count_nonzero(comparisons.outcome))
        n_items, n_features = map(int, self._X.shape)
        size = Size("comparisons", n_items, n_features, decided, n_items, 0, has_features=self.table.described)
        return TrainingPart(self._X, comparisons, self._encoder, size)

    def n_judged(self, rows: Ints) -> int:
        """Count the comparisons: each has an outcome."""
        return len(rows)

    def scores(self, model: Any, part: TrainingPart, rows: Ints) -> Floats:
        """Return a fitted model's scores of all items."""
        return np.asarray(model.decision_function(self._X), dtype=float)

    def judge(
        self, scores: Floats, rows: Ints, metrics: Sequence[AnyMetric], threshold: float = 0.0, advantage: float = 0.0
    ) -> Judgement:
        """Judge item scores against the comparisons of a test part."""
        return judge_comparisons(self.table.take(rows).comparisons, scores, metrics, threshold, advantage)

    def fingerprint(self) -> str:
        """Return a digest of the items and their comparisons."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        c = self.order
        return _digest(self.table.items, c.left, c.right, c.outcome, c.weight)


AnyTable: TypeAlias = Table | ComparisonTable


def make_task(table: AnyTable) -> GradedTask | ComparisonTask:
    """Return the task that a table stands for."""
    return ComparisonTask(table) if isinstance(table, ComparisonTable) else GradedTask(table)


def feasible_folds(order: Grades | Comparisons, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
    """Cut into folds, fewer where there are not enough lists with a pair; a single such list is cut by rows."""
    n_folds = feasible_n_folds(order, n_folds)
    if isinstance(order, Comparisons):
        return comparison_folds(order, n_folds=n_folds, n_repeats=n_repeats, seed=seed)
    if order.n_groups < 2:
        return folds(order.in_one_group(), n_folds=n_folds, n_repeats=n_repeats, seed=seed)
    if _n_lists_with_pair(order) == 1:
        return _folds_of_the_list_with_pairs(order, n_folds, n_repeats, seed)
    return folds(order, n_folds=n_folds, n_repeats=n_repeats, seed=seed)


def feasible_n_folds(order: Grades | Comparisons, wanted: int) -> int:
    """Return how many folds :func:`feasible_folds` cuts into."""
    if isinstance(order, Comparisons) or order.n_groups < 2 or (n_lists := _n_lists_with_pair(order)) == 1:
        return wanted
    return min(wanted, n_lists or order.n_groups)


def _n_lists_with_pair(grades: Grades) -> int:
    return grades.describe().n_groups_with_pairs


def _folds_of_the_list_with_pairs(grades: Grades, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
    """Cut the only list that has a pair by rows; all other rows, which say nothing, are in every training part."""
    assert grades.group is not None
    inside = grades.group == grades.group[grades.pairs.active[0]]
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    mine = take(grades, members).in_one_group()
    for split in folds(mine, n_folds=n_folds, n_repeats=n_repeats, seed=seed):
        train = np.sort(np.concatenate([members[split.train], others]))
        yield Split(split.repeat, split.fold, train, members[split.test])


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
