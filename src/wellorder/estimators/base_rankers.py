"""Rankers made of rankers: how the inner ones are fitted, on which rows, and with what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, TypeAlias, TypedDict

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from ..deadline import time_is_up, warn_of_time
from ..losses import LOSSES
from ..order import NAMED, Balance, Full, GradedPairs, Grades, OrderGraph, make_pairs
from ..samples import Given, Sample, fit_with
from ..scoring import list_scores
from ..solvers import Preconditioner, Problem, SolveResult, newton_cg
from ..spaces import Function, near_zero
from ..sweeps import Array, Bools, Floats, Ints, dot
from .base import NOTHING_TOLD_APART, read_order, warn_of_one_score
from .rank_svm import RankSVM

# --------------------------------------------------------------------------------------------------
# Several linear functions side by side, each over its own parts of the rows; X is read once for all of them.


class StackedSpace:
    """Scores f_r(x) = scale_r · v_rᵀx of the rows of some parts, for each function r, one below the other.

    ``parts`` are dense or CSR blocks of rows; ``scored[r]`` are the parts whose rows function r scores. The scores
    are those of function 0 on its first part, on its second, those of function 1, and so on; coefficients are
    v_0, v_1, …, and ‖f‖² = Σ ‖v_r‖². One product with a part serves all functions that score it.
    """

    def __init__(self, parts: list[Any], scored: list[list[int]], scale: Floats) -> None:
        self._parts, self.scale = parts, scale
        self.width = int(parts[0].shape[1])
        self.n_coef = self.width * len(scored)
        self._places: list[list[tuple[int, slice]]] = [[] for _ in parts]
        stop = 0
        for number, mine in enumerate(scored):
            for part in mine:
                start, stop = stop, stop + int(parts[part].shape[0])
                self._places[part].append((number, slice(start, stop)))
        self.n_rows = stop

    def scores(self, coef: Floats) -> Floats:
        """Return the scores of all functions."""
        w = self._weights(coef)
        out = np.empty(self.n_rows)
        for part, places in zip(self._parts, self._places, strict=True):
            if places:
                wanted = w[[number for number, _ in places]]
                for line, (_, place) in zip((part @ wanted.T.astype(part.dtype)).T, places, strict=True):
                    out[place] = line
        return out

    def adjoint(self, scores_gradient: Floats) -> Floats:
        """Return the coefficients of the gradient of a function of the scores."""
        out = np.zeros((len(self.scale), self.width))
        for part, places in zip(self._parts, self._places, strict=True):
            if places:
                lines = np.stack([scores_gradient[place] for _, place in places]).astype(part.dtype, copy=False)
                out[[number for number, _ in places]] += (part.T @ lines.T).T
        return np.asarray(self.scale[:, None] * out).ravel()

    def inner(self, a: Floats, b: Function) -> float:
        """Return the inner product of the functions with coefficients ``a`` and ``b``."""
        return dot(a, b.coef)

    def column(self, k: int) -> Floats:
        """Return column k of the rows of every function, one below the other, without scales."""
        out = np.empty(self.n_rows)
        for part, places in zip(self._parts, self._places, strict=True):
            values = part[:, [k]].toarray().ravel() if hasattr(part, "toarray") else part[:, k]
            for _, place in places:
                out[place] = values
        return out

    def blocks(self, columns: list[Floats]) -> Floats:
        """Return X_rᵀ C_r of each function: C has one line a row of the stack, given by its columns."""
        out = np.zeros((len(self.scale), self.width, len(columns)))
        for part, places in zip(self._parts, self._places, strict=True):
            for number, place in places:
                lines = np.stack([column[place] for column in columns])
                out[number] += np.asarray(part.T @ lines.T, dtype=float)
        return out

    def _weights(self, coef: Floats) -> Floats:
        return np.asarray(self.scale[:, None] * coef.reshape(len(self.scale), self.width))


# --------------------------------------------------------------------------------------------------
# One ranker for each two levels, or sets of levels, all of them in one go.
#
# Ranker r minimises ½‖w_r‖² + C·n_r/ΣW_r · Σ W_ij ℓ(w_rᵀ(x_i − x_j)) over the rows of its two sides. None has to do
# with another, so that their sum is one problem, over rows stacked one ranker below the other: its sorts and sweeps
# are few and long, and each product with X serves all rankers. Divided by C·n_r, every ranker's part is of the same
# size,
#
#     ½‖v_r‖² + (1/ΣW_r) Σ W_ij ℓ(√(C·n_r) · v_rᵀ(x_i − x_j)),     w_r = √(C·n_r) · v_r,
#
# so that a tolerance means the same to each. The Hessian is blocks along a diagonal: one product with a whole column
# of X gives that column of all blocks.


_RATIO = 8
"""Each sample has this many times fewer rows than the next."""

_FEWEST_ROWS = 1_000
_ROWS_PER_COEF = 10
"""A sample has at least so many rows, and so many for each column."""

MOST_COLUMNS = 100
"""Up to this many columns the Hessian's blocks cost less than the products that they save."""

MOST_STACKED = 50_000
"""Up to this many rows stacking pays, as it saves calls; beyond, what is swept over should fit into the cache."""


Sides: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The levels of the rows that a ranker is to put below, and of those that it is to put above them."""


class _SolverSettings(TypedDict):
    tol: float
    max_iter: int


@dataclass(frozen=True)
class Stack:
    """Rows of two sides each, one ranker below the other, and their pairs."""

    space: StackedSpace
    pairs: GradedPairs
    """With a weight of 1/ΣW_r on the pairs of each ranker."""
    n_pairs: Ints
    """Of each ranker."""
    mass: Floats
    """n_r: the summed weight of each ranker's rows that are in a pair."""
    ranker: Ints
    """Of each row of the stack."""

    @property
    def problem(self) -> Problem:
        """The sum of all rankers' objectives."""
        return Problem(self.space, self.pairs, LOSSES["squared_hinge"], 1.0)

    def curvature(self, coef: Floats) -> Floats:
        """Return Xᵀ H X of each ranker, H being the Hessian of its mean loss in the scores."""
        product = self.problem.risk(self.space.scores(coef)).hessian_product
        with np.errstate(over="ignore", invalid="ignore"):
            columns = [self.space.column(k) for k in range(self.space.width)]
            # H sees differences only: shifted to zero, a column far from it keeps its digits
            return self.space.blocks([product(column - column.mean()) for column in columns])

    def preconditioner(self, curvature: Floats) -> Preconditioner:
        """Invert I + scale² · curvature, block by block."""
        with np.errstate(over="ignore", invalid="ignore"):
            hessian = np.eye(self.space.width) + self.space.scale[:, None, None] ** 2 * curvature
        wrong = np.flatnonzero(~np.isfinite(hessian).all(axis=(0, 2)))
        if wrong.size:
            raise ValueError(
                f"column {wrong[0]} of X holds values so large that their squares overflow; scale the columns of X "
                "(StandardScaler)"
            )
        # columns of very different size must not cost digits; none can be below one but by rounding
        size = np.sqrt(np.maximum(np.diagonal(hessian, axis1=1, axis2=2), 1.0))
        unit = size[:, :, None] * size[:, None, :]
        inverse = np.linalg.inv(hessian / unit) / unit
        inverse = 0.5 * (inverse + inverse.transpose(0, 2, 1))
        n, d = len(inverse), self.space.width
        return Preconditioner(lambda residual: (inverse @ residual.reshape(n, d, 1)).ravel(), resembles=True)


@dataclass(frozen=True)
class LevelledRows:
    """Graded rows, and which levels each ranker tells from which."""

    X: Any
    level: Ints
    group: Ints | None
    weight: Floats | None
    balance: Balance
    sides: list[Sides]
    compiled: bool | None = None
    """Which form of the sweeps to use; None: by size. A sample of large data keeps theirs."""

    @property
    def n_stacked(self) -> int:
        """How many rows there are once they are stacked."""
        taken = [level for low, high in self.sides for level in (*low, *high)]
        sizes = np.bincount(self.level[self.level >= 0], minlength=1 + max(taken))
        return int(sizes[taken].sum())

    def of_sides(self, sides: Sides) -> Bools:
        """Say which rows a ranker of two sides is fitted to."""
        return np.isin(self.level, [*sides[0], *sides[1]])

    def sample(self, size: int, rng: np.random.Generator) -> LevelledRows:
        """Draw about so many rows, every level among them where there are few."""
        graph = OrderGraph.full(range(int(self.level.max(initial=0)) + 1))
        pairs = make_pairs(self.level, self.group, self.weight, graph, self.balance, compiled=self.compiled)
        rows, some = pairs.sample(size, rng)
        group = None if self.group is None else self.group[rows]
        return LevelledRows(
            self.X[rows], self.level[rows], group, some.row_weight, self.balance, self.sides, compiled=some.compiled
        )


def stack_rows(rows: LevelledRows, C: float) -> Stack | None:
    """Stack the rows, ranker by ranker; None where some ranker has no pair."""
    used = sorted({level for low, high in rows.sides for level in (*low, *high)})
    members = {level: np.flatnonzero(rows.level == level) for level in used}
    sizes = np.array([[sum(len(members[level]) for level in side) for side in both] for both in rows.sides])
    number = np.concatenate([members[level] for low, high in rows.sides for level in (*low, *high)])
    level = np.repeat(np.tile(np.array([0, 1], np.int32), len(sizes)), sizes.ravel())
    ranker = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes.sum(axis=1))
    group: Ints = ranker
    if rows.group is not None:
        group = ranker.astype(np.int64) * (int(rows.group.max(initial=0)) + 1) + rows.group[number]
        group = np.unique(group, return_inverse=True)[1].astype(np.int32)
    weight = None if rows.weight is None else rows.weight[number]
    pairs = make_pairs(level, group, weight, OrderGraph.full(range(2)), rows.balance, compiled=rows.compiled)
    cells = pairs.cells
    assert cells.pairs is not None  # two levels are no ladder
    of_group = np.zeros(cells.n_groups, np.int32)
    of_group[cells.group[cells.of_row[pairs.active]]] = ranker[pairs.active]
    counted = cells.count[cells.pairs.low] * cells.count[cells.pairs.high]
    n_pairs = np.bincount(of_group[cells.group[cells.pairs.low]], counted, minlength=len(sizes)).astype(np.int64)
    if not n_pairs.all():
        return None
    factor = np.ones(cells.n_groups) if pairs.group_factor is None else pairs.group_factor
    total = np.bincount(of_group, factor * cells.group_totals()[0], minlength=len(sizes))
    pairs = replace(pairs, group_factor=factor / total[of_group])
    in_pairs = None if weight is None else weight[pairs.active]
    mass = np.bincount(ranker[pairs.active], in_pairs, minlength=len(sizes)).astype(float)
    scored = [[used.index(level) for level in (*low, *high)] for low, high in rows.sides]
    space = StackedSpace([rows.X[members[level]] for level in used], scored, np.sqrt(C * mass))
    return Stack(space, pairs, n_pairs, mass, ranker)


def solve_side_by_side(rows: LevelledRows, C: float, *, tol: float, max_iter: int) -> tuple[list[SolveResult], Array]:
    """Solve the problem of every ranker to a relative accuracy of ``tol``; return also its number of pairs.

    From coarse to fine: a sample gives the start and the shape of the Hessian.
    """
    rows = replace(rows, X=near_zero(rows.X)[0])
    n_rankers, d = len(rows.sides), int(rows.X.shape[1])
    settings: _SolverSettings = {"tol": tol / n_rankers, "max_iter": max_iter}  # all of a gap may be one ranker's
    stacks, rng = [stack_rows(rows, C)], np.random.default_rng(0)  # the sample decides the path, never the answer
    size = int(np.count_nonzero(rows.level >= 0)) // _RATIO
    while size >= max(_FEWEST_ROWS, _ROWS_PER_COEF * d):
        rows = rows.sample(size, rng)
        stacks.append(stack_rows(rows, C))
        size //= _RATIO
    known = [stack for stack in stacks if stack is not None]
    w = np.zeros((n_rankers, d))
    curvature = known[-1].curvature(w.ravel())
    for stack in reversed(known):
        start = (w / stack.space.scale[:, None]).ravel()
        result = newton_cg(stack.problem, start=start, preconditioner=stack.preconditioner(curvature), **settings)
        w = stack.space.scale[:, None] * result.coef.reshape(w.shape)
        if stack is known[-1]:
            curvature = stack.curvature(result.coef)
    return _parted(known[0], result, C), known[0].n_pairs


def _parted(stack: Stack, result: SolveResult, C: float) -> list[SolveResult]:
    """Give each ranker its own part of what was found.

    The gradient of a ranker's high rows is −2 Σ W (1 − d) over the pairs with d < 1, all of it: so the risk of each
    ranker, Σ W (1 − d) + ½ sᵀg, is known without another sweep.
    """
    scores = stack.space.scores(result.coef)
    gradient = stack.problem.risk(scores).gradient
    n = len(stack.mass)
    high = stack.pairs.level == 1
    risk = 0.5 * np.bincount(stack.ranker, scores * gradient - np.where(high, gradient, 0.0), minlength=n)
    v = result.coef.reshape(n, -1)
    unit = C * stack.mass
    objective = unit * (0.5 * np.sum(v * v, axis=1) + risk)
    return [
        replace(result, coef=np.sqrt(unit[r]) * v[r], objective=float(objective[r]), gap=float(unit[r] * result.gap))
        for r in range(n)
    ]


# --------------------------------------------------------------------------------------------------
# How they are fitted.


def check_base(estimator: Any) -> Any:
    """Return a fresh copy of the inner ranker, a RankSVM where none is named, and refuse what cannot be one."""
    base = RankSVM() if estimator is None else estimator
    if isinstance(base, type) or not hasattr(base, "fit"):
        raise TypeError(f"estimator must be a ranker, such as RankSVM(), got {base!r}")
    if not (hasattr(base, "decision_function") or hasattr(base, "predict")):
        raise TypeError(f"estimator must give scores (decision_function or predict), and {base!r} has neither")
    if get_tags(base).input_tags.pairwise:
        raise ValueError("a precomputed kernel cannot be cut into rows of two grades; use kernel='rbf' or a callable")
    return clone(base)


def with_tags_of(estimator: Any, tags: Any) -> Any:
    """Say in scikit-learn's tags that a model takes the rows that the ranker inside it takes."""
    inner = get_tags(RankSVM() if estimator is None else estimator).input_tags
    tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
    tags.target_tags.required = True
    return tags


def read_plain_grades(
    y: Any, groups: Any, sample_weight: Any, levels: Any, n_rows: int, model: str, *, two_weights: bool = False
) -> Grades:
    """Return grades, one a row, all of whose levels are ordered; refuse anything else."""
    order = read_order(y, groups, sample_weight, "full", levels, "pairs", two_weights=two_weights)
    if not isinstance(order, Grades):
        raise ValueError(f"{model} takes grades, one a row, not {type(order).__name__}; RankSVM takes comparisons")
    if not isinstance(order.graph.structure, Full):
        raise ValueError(f"{model} orders all levels, and takes no other order than 'full'; give it to its estimator")
    order.to_pairs(n_rows)  # as many grades as rows
    return order


def fit_part(base: Any, part: Sample) -> Any:
    """Fit a copy of a ranker to some rows, with their groups and weights."""
    model, target = clone(base), part.target
    if not isinstance(target, Given):
        return model.fit(part.X, target)
    return fit_with(model, part.X, target.y, groups=target.groups, sample_weight=target.sample_weight)


def draw_rows(
    rows: LevelledRows, sides: Sides, max_samples: float | int | None, rng: np.random.Generator
) -> tuple[Ints, Floats | None]:
    """Return the rows of two sides and their weights, or some of them, with weights that make up for it.

    All of them where so few are wanted that none would be left to compare.
    """
    mine = np.flatnonzero(rows.of_sides(sides)).astype(np.int32)
    group = None if rows.group is None else rows.group[mine]
    weight = None if rows.weight is None else rows.weight[mine]
    if max_samples is None:
        return mine, weight
    share = not isinstance(max_samples, Integral)
    size = int(np.ceil(float(max_samples) * len(mine))) if share else int(max_samples)
    if size >= len(mine):
        return mine, weight
    level = np.isin(rows.level[mine], sides[1]).astype(np.int32)
    drawn, some = make_pairs(level, group, weight, OrderGraph.full(range(2)), "pairs").sample(size, rng)
    return (mine[drawn], some.row_weight) if some.n_pairs else (mine, weight)


def finiteness(base: Any) -> Any:
    """Return what scikit-learn is to check of the rows: all finite, unless the ranker takes missing values."""
    return "allow-nan" if get_tags(base).input_tags.allow_nan else True


def score_table(rankers: list[Any], X: Any, groups: Any) -> Floats:
    """Return one column of scores a ranker."""
    return np.column_stack([np.asarray(list_scores(ranker, X, groups), dtype=float) for ranker in rankers])


def can_stack(base: Any, rows: LevelledRows) -> bool:
    """Say whether the rankers can be fitted side by side, and whether that pays."""
    return (
        type(base) is RankSVM
        and base.loss == "squared_hinge"
        and base.kernel == "linear"
        and base.n_components is None
        and base.pairs_per_item is None
        and base.levels is None
        and base.device is None
        and isinstance(base.order, str)
        and base.order in NAMED
        and rows.X.shape[1] <= MOST_COLUMNS
        and rows.n_stacked <= MOST_STACKED
    )


def fit_stacked(base: RankSVM, rows: LevelledRows) -> list[RankSVM] | None:
    """Fit all linear rankers in one go; each is what a fit of its own would give, up to ``tol``.

    None where that does not converge: one hard problem must not spoil the others.
    """
    base._check_parameters()
    rows = replace(rows, balance=base.balance)
    results, n_pairs = solve_side_by_side(rows, base.C, tol=base.tol, max_iter=base.max_iter)
    if not results[0].converged:
        if not time_is_up():
            return None
        warn_of_time(f"after {results[0].n_iter} steps", stacklevel=6)
    fitted = []
    for result, count, sides in zip(results, n_pairs.tolist(), rows.sides, strict=True):
        ranker = clone(base)
        ranker._store(result.coef, rows.X)
        ranker.n_features_in_ = int(rows.X.shape[1])
        ranker.objective_, ranker.gap_, ranker.n_iter_ = result.objective, result.gap, result.n_iter
        ranker.n_pairs_ = count
        ranker.n_groups_ = 1 if rows.group is None else len(np.unique(rows.group[rows.of_sides(sides)]))
        fitted.append(ranker)
    if not any(result.coef.any() for result in results):
        warn_of_one_score(NOTHING_TOLD_APART, stacklevel=6)
    return fitted


def meeting(level: Ints, group: Ints | None, weight: Floats | None, n_levels: int) -> Bools:
    """Say of each two levels, lower and higher, whether rows of both stand in one list, with weights."""
    there = level >= 0 if weight is None else (level >= 0) & (weight > 0)
    if group is None:
        present = np.bincount(level[there], minlength=n_levels) > 0
        return np.triu(np.outer(present, present), 1)
    key = np.unique(group[there].astype(np.int64) * n_levels + level[there])
    met = np.zeros((n_levels, n_levels), dtype=bool)
    _, number = np.unique(key // n_levels, return_inverse=True)
    of_level = key % n_levels
    # invariant: `step` apart are two levels of one list, as long as the list is the same
    for step in range(1, n_levels):
        if step >= len(key):
            break
        same = number[step:] == number[:-step]
        met[of_level[:-step][same], of_level[step:][same]] = True
    return met
