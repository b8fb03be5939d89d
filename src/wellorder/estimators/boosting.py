"""What boosting is given to do: training rows with their risk, and rows that say how many rounds are enough."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..losses import (
    ROW_LOSSES,
    GradedRows,
    PairLoss,
    PairSet,
    PlaceRisk,
    RiskAt,
    RowLoss,
    Squared,
    SquaredHinge,
    risk_at,
)
from ..order import (
    Balance,
    Comparisons,
    ConsistentPairs,
    Full,
    GradedPairs,
    Grades,
    ListedPairs,
    OrderGraph,
    OrderSum,
    SumOfPairs,
    make_consistent,
    swapped_weight,
)
from ..solvers import BoostResult, Validation
from ..sweeps import Array, Floats, Ints, prefer_compiled, sums_at, use_compiled
from .base import Order, read_order, refuse_lost_pairs, refuse_no_pairs
from .ordinal_model import NumberedRows

# --------------------------------------------------------------------------------------------------
# What a boosted model lowers: the risk of the training rows, and beside it that of rows kept apart.


@dataclass(frozen=True)
class PairRisk:
    """n·R(s)/ΣW over pairs: each row counts about once, however many pairs it is in.

    Its Hessian diagonal is the curvature of the pairs of each row, its pair with itself among them where there is one:
    then a row of weight two bends as the row listed twice.
    """

    loss: PairLoss
    pairs: PairSet
    weight: Floats
    """Of each row; zero where it is in no pair."""

    def __call__(self, scores: Floats) -> RiskAt:
        """Return the risk at these scores."""
        risk, factor = risk_at(self.loss, scores, self.pairs), self.pairs.mass / self.pairs.total
        return RiskAt(
            value=factor * risk.value,
            gradient=factor * risk.gradient,
            hessian_diagonal=lambda: factor * (risk.hessian_diagonal() + self._own_bend),
            hessian_product=lambda u: factor * risk.hessian_product(u),
        )

    @cached_property
    def _own_bend(self) -> Any:
        if not isinstance(self.pairs, ConsistentPairs):
            return 0.0
        return 2.0 * self.loss.derivatives(np.zeros(1))[2][0] * self.pairs.self_weights

    @property
    def mass(self) -> float:
        """What the risk is divided by to be a mean over pairs."""
        parts = self.pairs.parts if isinstance(self.pairs, SumOfPairs) else (self.pairs,)
        return float(sum(part.mass for part in parts))

    def mean(self, scores: Floats, thresholds: Floats) -> float:
        """Return the mean risk of a pair; there are no thresholds."""
        return self(scores).value / self.mass

    def thresholds(self, scores: Floats) -> Floats:
        """Return no thresholds."""
        return np.empty(0)


class RowRisk:
    """Σ ω_i loss(s_i, y_i; θ) over graded rows, the thresholds minimised out.

    Its Hessian diagonal is the curvature of each row's own loss, the thresholds held: then a row of weight two bends
    as the row listed twice.
    """

    def __init__(self, loss: RowLoss, rows: GradedRows) -> None:
        self._loss, self._rows = loss, rows
        self._last: tuple[Floats, Floats] | None = None
        self.weight: Floats = np.where(rows.level >= 0, rows.weight, 0.0)
        self.mass = float(self.weight.sum())

    def __call__(self, scores: Floats) -> RiskAt:
        """Return the risk at these scores."""
        near = None if self._last is None else self._last[1]
        risk, thresholds = self._loss.at(scores, self._rows, near)
        self._last = scores.copy(), thresholds
        return replace(risk, hessian_diagonal=lambda: self._loss.curvature(scores, self._rows, thresholds))

    def thresholds(self, scores: Floats) -> Floats:
        """Return the best thresholds for these scores; those of the last scores are at hand."""
        if self._last is None or not np.array_equal(self._last[0], scores):
            self(scores)
        assert self._last is not None
        return self._last[1]

    def mean(self, scores: Floats, thresholds: Floats) -> float:
        """Return the mean loss of a row at given thresholds."""
        return self._loss.value(scores, self._rows, thresholds) / self.mass


BoostRisk: TypeAlias = PairRisk | RowRisk | PlaceRisk


def choose_pairs(pairs: PairSet, consistent: Any) -> tuple[PairSet, bool]:
    """Return consistent pairs where they are asked for or stand to reason, and whether the risk is consistent.

    They are those of Uematsu and Lee (2013), Theorem 4. With two levels the plain pairs are the same sum.
    """
    asked = consistent != "auto" and bool(consistent)
    if not isinstance(pairs, GradedPairs):
        if asked:
            raise ValueError("consistent=True needs grades alone: comparisons name their pairs; use 'auto' or False")
        return pairs, False
    if not asked and (consistent != "auto" or pairs.end_weights is not None):
        return pairs, False
    graph = pairs.graph.take(np.flatnonzero(np.bincount(pairs.level[pairs.active])))
    if not asked and not graph.is_consistent():
        return pairs, False
    return (pairs if graph.n_levels == 2 else make_consistent(pairs)), True


def swapped_share(pairs: PairSet, scores: Floats) -> float:
    """Return the share of swapped pairs, by weight; a tie is half a swap."""
    if isinstance(pairs, SumOfPairs):
        shares = [part.mass * swapped_share(part, scores) for part in pairs.parts]
        return sum(shares) / sum(part.mass for part in pairs.parts)
    if isinstance(pairs, ListedPairs):
        sign = np.sign(scores[pairs.high] - scores[pairs.low])
        return 0.5 * float(pairs.weight @ (1.0 - sign)) / pairs.total
    assert isinstance(pairs, GradedPairs)
    return float(swapped_weight(pairs, scores, "half")) / pairs.total


def row_weights(pairs: PairSet) -> Floats:
    """Return how much each row counts; zero where it is in no pair."""
    if isinstance(pairs, SumOfPairs):
        return np.asarray(np.sum([row_weights(part) for part in pairs.parts], axis=0))
    if isinstance(pairs, ListedPairs):
        ends = np.concatenate([pairs.high, pairs.low])
        return sums_at(ends, np.tile(pairs.weight, 2), minlength=pairs.n_rows)
    assert not isinstance(pairs, ConsistentPairs)
    out = np.zeros(pairs.n_rows)
    out[pairs.active] = 1.0 if pairs.row_weight is None else pairs.row_weight[pairs.active]
    return out


def take_pairs(pairs: GradedPairs, rows: Ints) -> GradedPairs:
    """Return the pairs among some of the rows."""
    return pairs.remade(rows, None if pairs.row_weight is None else pairs.row_weight[rows])


def take_rows(rows: GradedRows, places: Ints) -> GradedRows:
    """Return some of the rows."""
    return GradedRows(rows.level[places], rows.weight[places], rows.n_levels)


# --------------------------------------------------------------------------------------------------
# Rows, and rows kept apart.


class BoostRows(NamedTuple):
    """What ``fit`` was given: features (already checked), and an order of them."""

    X: Any
    y: Any
    groups: Any
    weight: Any


@dataclass(frozen=True)
class BoostTask:
    """Rows to train on, the risk to lower, and what validates."""

    X: Any
    risk: BoostRisk
    validation: Validation | None
    consistent: bool = False
    classes: Array | None = None
    n_groups: int = 1
    """Of all the rows that were given."""
    signs: Ints | None = None
    """+1, −1 or 0 for each column: where more is never worse, or never better."""
    begin: BoostResult | None = None
    """What the rounds go on from."""


class BoostSettings(Protocol):
    """The parameters that decide which risk is lowered."""

    loss: Any
    order: Any
    levels: Any
    balance: Any
    consistent: Any
    stopping: Any


SMALL_RATE = 0.1
"""The learning rate of trees that few rows ask for."""

_LARGE_RATE = 0.3
_ENOUGH = 30.0
"""Rounds times the learning rate, beyond which many rows need no more of either."""

_FEW_ROWS = 25_000
"""Rows up to which trees overfit before a risk over pairs is low: there longer steps only lead there sooner."""


def tree_rate(n_rows: int, n_rounds: int) -> float:
    """Choose the learning rate of trees for a risk over pairs: longer steps where rows are many and rounds are few.

    A pair's loss asks for scores a margin apart, and 100 short steps do not come that far, where least squares would.
    With the rows' square root, as what a tree's leaves learn from noise falls.

    Examples
    --------
    >>> [round(tree_rate(*sizes), 2) for sizes in ((10_000, 100), (100_000, 100), (100_000, 300), (10**6, 100))]
    [0.1, 0.2, 0.1, 0.3]
    """
    wanted = min(SMALL_RATE * float(np.sqrt(n_rows / _FEW_ROWS)), _ENOUGH / n_rounds)
    return float(np.clip(wanted, SMALL_RATE, _LARGE_RATE))


_LIST_STEPS = 6.0
_MOST_LIST_STEPS = 30.0
"""Rounds times the learning rate for lists: the least, which some hundred lists ask for, and what very many do."""

_FEW_LISTS = 500
_SMALLEST_RATE = 0.02


def list_rate(n_lists: int, n_rounds: int) -> float:
    """Choose the learning rate of trees for rows in lists: what counts is how few the lists are, not the rows.

    Examples
    --------
    >>> [round(list_rate(*sizes), 3) for sizes in ((100, 300), (100, 100), (2_000, 300), (50_000, 300))]
    [0.02, 0.06, 0.04, 0.1]
    """
    wanted = float(np.clip(_LIST_STEPS * np.sqrt(n_lists / _FEW_LISTS), _LIST_STEPS, _MOST_LIST_STEPS)) / n_rounds
    return float(np.clip(wanted, _SMALLEST_RATE, SMALL_RATE))


def tree_size(n_rows: int, in_lists: bool) -> tuple[int, int]:
    """Choose how many leaves a tree has at most and how many rows a leaf at least, if nobody says.

    Rows of one list are alike in much that tells lists apart: leaves of few rows learn single lists.
    """
    return (15, int(np.clip(n_rows // 200, 20, 50))) if in_lists else (31, 20)


def list_balance(balance: Any, order: Order) -> Balance:
    """Say what counts the same: of grades in lists every list, if nobody says otherwise; else every pair.

    With two weights a row the pairs stand for what was not seen, and keep their weights.
    """
    if balance != "auto":
        return "groups" if balance == "groups" else "pairs"
    in_lists = isinstance(order, Grades) and order.n_groups > 1 and order.ends is None
    return "groups" if in_lists else "pairs"


_LONG_WORK = 200_000
"""Rows times rounds from which waiting for the compiled sweeps pays."""


def sweeps_for(loss: PairLoss, n_rows: int, n_rounds: int) -> AbstractContextManager[None]:
    """Choose the form of the sweeps for pairs that are made inside: the same rows are swept over in every round."""
    swept = isinstance(loss, SquaredHinge) and n_rows * n_rounds >= _LONG_WORK
    return prefer_compiled() if swept and not use_compiled(n_rows) else nullcontext()


def pair_task(
    settings: BoostSettings,
    loss: PairLoss,
    rows: BoostRows,
    beside: BoostRows | None,
    share: float,
    rng: np.random.Generator,
) -> BoostTask:
    """State a risk over pairs; ``share`` of the rows (groups, comparisons) is kept apart, if it is not zero."""
    order = read_order(
        rows.y, rows.groups, rows.weight, settings.order, settings.levels, settings.balance, two_weights=True
    )
    balance = list_balance(settings.balance, order)
    pairs: PairSet = order.to_pairs(rows.X.shape[0], balance)
    refuse_no_pairs(order, pairs.n_pairs)
    X, held_X, held = rows.X, None, None
    if beside is not None:
        held_X, held = beside.X, _beside(settings, beside, order, balance)
    elif share > 0 and isinstance(pairs, SumOfPairs):
        raise ValueError(
            "a sum of orders cannot be parted for n_iter_no_change; pass X_val and y_val, or leave it None"
        )
    elif share > 0 and isinstance(pairs, ListedPairs):
        pairs, held = _part_comparisons(pairs, share, rng)
        held_X = X
    elif share > 0 and isinstance(pairs, GradedPairs):
        lists = order.lists if isinstance(order, Grades) else None
        training, apart = keep_apart(pairs.level, lists, share, rng)
        X, held_X, pairs, held = X[training], X[apart], take_pairs(pairs, training), take_pairs(pairs, apart)
    refuse_lost_pairs(pairs)
    refuse_no_pairs(order, pairs.n_pairs)
    if held is not None and held.n_pairs == 0:
        raise ValueError("the validation rows hold no pair; keep more of them apart, or pass others")
    weight = row_weights(pairs)
    chosen, consistent = choose_pairs(pairs, settings.consistent)
    risk = PairRisk(loss, chosen, weight)
    if held is None:
        return BoostTask(X, risk, None, consistent, n_groups=order.n_groups)
    if settings.stopping == "swaps":
        plain = held
        validation = Validation(held_X, lambda scores, fitted: swapped_share(plain, scores))
    else:
        weight = row_weights(held)
        held, _ = choose_pairs(held, "auto" if consistent else False)
        validation = _validation(risk, PairRisk(loss, held, weight), held_X)
    return BoostTask(X, risk, validation, consistent, n_groups=order.n_groups)


def ordinal_task(
    settings: BoostSettings,
    numbered: NumberedRows,
    rows: BoostRows,
    beside: BoostRows | None,
    share: float,
    rng: np.random.Generator,
) -> BoostTask:
    """State a risk of graded rows with thresholds between the levels that are present."""
    loss, (graded, classes, n_groups) = ROW_LOSSES[settings.loss], numbered
    if beside is None:
        return replace(_row_task(loss, rows.X, graded, share, rng), classes=classes, n_groups=n_groups)
    held = _matched(_graded(settings, beside, levels=classes.tolist()), classes.tolist())
    risk = RowRisk(loss, graded)
    return BoostTask(rows.X, risk, _validation(risk, _judged(loss, held), beside.X), classes=classes, n_groups=n_groups)


def squared_task(
    settings: BoostSettings, rows: BoostRows, beside: BoostRows | None, share: float, rng: np.random.Generator
) -> BoostTask:
    """State least squares on the grades as numbers."""
    grades = _graded(settings, rows, levels=settings.levels)
    refuse_no_pairs(grades, grades.pairs.n_pairs)
    loss, graded = _squares(grades)
    if beside is None:
        return replace(_row_task(loss, rows.X, graded, share, rng), n_groups=grades.n_groups)
    risk = RowRisk(loss, graded)
    held = _judged(*_squares(_graded(settings, beside, levels=settings.levels)))
    return BoostTask(rows.X, risk, _validation(risk, held, beside.X), n_groups=grades.n_groups)


def keep_apart(level: Ints, group: Ints | None, share: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Part the rows into training and validation rows: whole groups, or the same share of every level.

    Where levels are nearly as many as rows, a share of all rows alike. Otherwise a level never loses its last row.
    """
    apart = np.zeros(len(level), dtype=bool)
    if group is not None:
        groups = rng.permutation(np.unique(group))
        apart = np.isin(group, groups[: round(share * len(groups))])
        return np.flatnonzero(~apart), np.flatnonzero(apart)
    shuffled = rng.permutation(np.flatnonzero(level >= 0))
    by_level = shuffled[np.argsort(level[shuffled], kind="stable")]
    _, start, count = np.unique(level[by_level], return_index=True, return_counts=True)
    if share * len(by_level) < len(start):
        chosen = shuffled[: round(share * len(shuffled))]
    else:
        place = np.arange(len(by_level)) - np.repeat(start, count)
        chosen = by_level[place < np.repeat(np.minimum(np.round(share * count), count - 1), count)]
    apart[chosen] = True
    return np.flatnonzero(~apart), np.flatnonzero(apart)


def _part_comparisons(pairs: ListedPairs, share: float, rng: np.random.Generator) -> tuple[ListedPairs, ListedPairs]:
    """Keep a share of the comparisons apart; the items are the same."""
    cut = round(share * pairs.n_pairs)
    shuffled = rng.permutation(pairs.n_pairs)

    def take(some: Ints) -> ListedPairs:
        weight = pairs.weight[some]
        return ListedPairs(pairs.high[some], pairs.low[some], weight, pairs.n_rows, float(weight.sum()))

    return take(np.sort(shuffled[cut:])), take(np.sort(shuffled[:cut]))


def _beside(settings: BoostSettings, beside: BoostRows, order: Order, balance: Balance) -> PairSet:
    """Return the pairs of rows that were given for validation; a graph or a table has the training rows' levels."""
    if isinstance(beside.y, Grades | Comparisons | OrderSum):
        own = read_order(beside.y, beside.groups, beside.weight, "full", None, balance, two_weights=True)
    else:
        known = isinstance(order, Grades) and not isinstance(settings.order, str)
        costs = order.graph if known and isinstance(order, Grades) else settings.order
        levels = None if isinstance(costs, OrderGraph) else settings.levels
        own = read_order(beside.y, beside.groups, beside.weight, costs, levels, balance)
    return own.to_pairs(beside.X.shape[0], balance)


def _graded(settings: BoostSettings, rows: BoostRows, *, levels: Any) -> Grades:
    """Return grades, one a row, and refuse anything else."""
    order = read_order(
        rows.y, rows.groups, rows.weight, "full", None if isinstance(rows.y, Grades) else levels, "pairs"
    )
    if not isinstance(order, Grades):
        raise ValueError(
            f"loss={settings.loss!r} takes grades, one a row, not {type(order).__name__}; use loss='pairs'"
        )
    if not isinstance(order.graph.structure, Full):
        raise ValueError(f"loss={settings.loss!r} looks at no pair, and takes no other order than 'full'")
    order.to_pairs(rows.X.shape[0])  # as many grades as rows
    return order


def _matched(grades: Grades, classes: list[Any]) -> GradedRows:
    """Give the grades of validation rows the numbers that the training rows' have."""
    place = {label: number for number, label in enumerate(classes)}
    number = np.array([place.get(label, -1) for label in grades.levels] + [-1], dtype=np.int32)  # last: unjudged
    weight = grades.row_weights
    level = np.where(weight > 0, number[grades.level], -1)
    unknown = np.flatnonzero((grades.level >= 0) & (number[grades.level] < 0))
    if unknown.size:
        label = grades.levels[grades.level[unknown[0]]]
        raise ValueError(f"validation row {unknown[0]} has the grade {label!r}, which no training row has")
    return GradedRows(level, weight, len(classes))


def _row_task(loss: RowLoss, X: Any, graded: GradedRows, share: float, rng: np.random.Generator) -> BoostTask:
    if share == 0:
        return BoostTask(X, RowRisk(loss, graded), None)
    training, apart = keep_apart(graded.level, None, share, rng)
    part = take_rows(graded, training)
    if len(np.unique(part.level[part.level >= 0])) < graded.n_levels and not isinstance(loss, Squared):
        raise ValueError(
            f"there are {graded.n_levels} levels, too many to keep validation_fraction={share:g} of the rows apart and "
            "none of them empty; bin the grades, or pass X_val and y_val"
        )
    risk = RowRisk(loss, part)
    return BoostTask(X[training], risk, _validation(risk, _judged(loss, take_rows(graded, apart)), X[apart]))


def _judged(loss: RowLoss, rows: GradedRows) -> RowRisk:
    risk = RowRisk(loss, rows)
    if not risk.mass > 0:
        raise ValueError("no validation row has a grade and a weight; keep more of them apart, or pass others")
    return risk


def _validation(training: BoostRisk, held: BoostRisk, X: Any) -> Validation:
    return Validation(X, lambda scores, fitted: held.mean(scores, training.thresholds(fitted)))


def _squares(grades: Grades) -> tuple[Squared, GradedRows]:
    """Return least squares on what the levels count as numbers."""
    weight = grades.row_weights
    level = np.where(weight > 0, grades.level, -1)
    return Squared(grades.level_values), GradedRows(level, weight, len(grades.level_values))
