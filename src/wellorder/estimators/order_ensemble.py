"""OrderEnsemble: several rankers, their scores or rankings added up with weights that unseen rows have taught."""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from functools import cached_property, partial
from math import inf
from time import perf_counter
from typing import Any, ClassVar, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..aggregation import borda, read_ranker_weights
from ..deadline import TimeIsUp, deadline, mark_shortened, mark_stopped, seconds_left, warn_of_time
from ..losses import LOSSES, PairSet, PlaceRisk, best_threshold
from ..memory import Held
from ..methods import KERNEL_TOL, ROW_ARRAYS, Method, Size, for_kernel, for_trees, no_features
from ..metrics import Metric, comparison_error, parse
from ..order import Comparisons, Grades, ListedPairs, Times, encode_groups, make_pairs
from ..samples import Given, Sample
from ..solvers import Objective, Point, SolveResult, make_problem
from ..spaces import Function, LinearSpace, Pairs, RowSpace, kernel_bytes, resolve_gamma
from ..state import (
    Part,
    absent_or,
    both,
    checked,
    dict_of,
    fitted,
    floats,
    list_of,
    none_or,
    number,
    refuse_twice,
    text,
)
from ..sweeps import Array, Floats, Ints
from .base import FLOATS, Ranker, check_option, check_positive, check_whole, refuse_no_pairs, validate_data
from .base_rankers import check_base, fit_part, read_plain_grades, score_table
from .baselines import RidgeRanker
from .boosted_trees import BoostedTrees
from .compare_svm import CompareSVM
from .cox_ranker import CoxRanker
from .metric_weights import weights_at_places
from .monotone import check_rows_monotone, keeps_monotone, read_signs, refuse_monotone
from .order_boost import OrderBoost
from .rank_svm import MOST_KERNEL_ROWS, RankSVM, kernel_suits

# --------------------------------------------------------------------------------------------------
# What models say of rows that they have not seen: rows, or comparisons, in folds, and a table of held-out scores.


Members: TypeAlias = Sequence[tuple[str, Any]]

UNIFORM_SPREAD = 12.0**-0.5
"""The standard deviation of places in a list, counted from 0 to 1."""

_ROUNDING = 1e-12
"""Scores that differ by less than this, against their size, are all the same."""


class TooFewError(ValueError):
    """There is no way to hold something out and still have a pair to learn from."""


class Folds(ABC):
    """A sample of which something can be held out, and what a model of the rest says of it."""

    n_points: int
    """Rows of the table of held-out scores."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample

    @property
    @abstractmethod
    def fold(self) -> Ints:
        """The fold of each row or comparison; −1 for what is in every training part."""

    @property
    def n_folds(self) -> int:
        """How many folds there are: as many as asked for, or as can be."""
        return int(self.fold.max(initial=-1)) + 1

    def keep(self, n_folds: int) -> None:
        """Let nothing be held out but the first folds: there was no time for the others."""
        self.fold[self.fold >= n_folds] = -1

    def fit(self, member: Any, fold: int | None) -> Any:
        """Fit a copy of a model to all that is not in a fold; to everything, if it is None."""
        return fit_part(member, self.sample if fold is None else self.sample.take(np.flatnonzero(self.fold != fold)))

    @abstractmethod
    def spread(self, scores: Floats) -> float:
        """Return the standard deviation of scores among rows that are compared; 0 where all are the same."""

    @abstractmethod
    def held_out(self, fold: int) -> Array:
        """Return the points of a fold."""

    @abstractmethod
    def points(self, scores: Floats, fold: int, by_place: bool) -> Floats:
        """Return scores, or places in the list from 0 to 1, at the points of a fold."""

    @abstractmethod
    def pairs(self) -> PairSet:
        """Return which point should stand above which; both are always of one fold, and so scored by one model."""


class GradedFolds(Folds):
    """Graded rows: whole lists are held out, or rows of one list, every grade spread over the folds."""

    def __init__(self, X: Any, grades: Grades, n_folds: int, rng: np.random.Generator) -> None:
        # others' models know nothing of Grades, and nothing else can say what two weights a row mean
        plain = Given(grades.values, grades.group, grades.weight) if grades.ends is None else grades
        super().__init__(Sample(X, plain))
        self.grades = grades
        self.n_points = len(grades)
        self._wanted, self._rng = n_folds, rng

    @cached_property
    def fold(self) -> Ints:
        """The fold of each row; −1 for rows in no pair, which are in every training part."""
        grades, active = self.grades, self.grades.pairs.active
        fold = np.full(len(grades), -1)
        lists = np.zeros(len(active)) if grades.lists is None else grades.lists[active]
        n_lists = len(np.unique(lists))
        if n_lists > 1:
            cuts = GroupKFold(min(self._wanted, n_lists)).split(active, groups=lists)
            for number, (_, test) in enumerate(cuts):
                fold[active[test]] = number
        else:
            in_turn = active[np.lexsort((self._rng.random(len(active)), grades.level[active]))]
            fold[in_turn] = np.arange(len(in_turn)) % self._wanted
        for number in range(fold.max(initial=-1) + 1):
            if grades.only(np.flatnonzero(fold != number)).pairs.n_pairs == 0:
                raise TooFewError("without one of the folds there is no pair left to learn from")
        return fold

    def spread(self, scores: Floats) -> float:
        """Return the standard deviation of scores within lists; 0 where all are the same."""
        active, weight = self.grades.pairs.active, self.grades.weight
        s, w = scores[active], np.ones(len(active)) if weight is None else weight[active]
        lists = np.zeros(len(active), np.int64) if self.grades.group is None else self.grades.group[active]
        mean = np.bincount(lists, w * s) / np.maximum(np.bincount(lists, w), 1e-300)
        return _unless_rounding(float(np.sqrt(np.average((s - mean[lists]) ** 2, weights=w))), s)

    def held_out(self, fold: int) -> Array:
        """Return the rows of a fold."""
        return np.flatnonzero(self.fold == fold)

    def points(self, scores: Floats, fold: int, by_place: bool) -> Floats:
        """Return scores, or places in the list from 0 to 1, of the rows of a fold."""
        rows = self.held_out(fold)
        own = None if self.grades.group is None else self.grades.group[rows]
        return _places(scores[rows], own) if by_place else scores[rows]

    def pairs(self) -> PairSet:
        """Return the pairs of rows of one fold and one list."""
        grades = self.grades
        level = np.where(self.fold >= 0, grades.level, -1).astype(np.int32)
        return make_pairs(level, self._list_codes(), grades.weight, grades.graph, "pairs", ends=grades.ends)

    def lists(self) -> Grades:
        """Return the grades of rows that are held out at some time, rows of one fold and one list in a group."""
        codes = self._list_codes()
        return Grades(np.where(self.fold >= 0, self.grades.values, np.nan), codes)

    def _list_codes(self) -> Ints:
        own = 0 if self.grades.group is None else self.grades.group.astype(np.int64) * self.n_folds
        return np.unique(np.maximum(self.fold, 0) + own, return_inverse=True)[1].astype(np.int32)


class ComparedFolds(Folds):
    """Comparisons of items: all those of the same two items are held out together. Each is two points: low and high."""

    def __init__(self, X: Any, comparisons: Comparisons, n_folds: int, rng: np.random.Generator) -> None:
        if comparisons.weight is not None:
            comparisons = comparisons.take(np.flatnonzero(comparisons.weight > 0))
        super().__init__(Sample(X, comparisons))
        self.comparisons = comparisons
        self.n_points = 2 * len(comparisons)
        self.weight = np.ones(len(comparisons)) if comparisons.weight is None else comparisons.weight
        right_wins = comparisons.outcome >= 0
        self.low = np.where(right_wins, comparisons.left, comparisons.right)
        self.high = np.where(right_wins, comparisons.right, comparisons.left)
        self._wanted, self._rng = n_folds, rng

    @cached_property
    def fold(self) -> Ints:
        """The fold of each comparison; decided and tied ones are spread alike."""
        ends = np.sort(np.column_stack([self.low, self.high]), axis=1)
        couples, couple = np.unique(ends, axis=0, return_inverse=True)
        is_decided = np.bincount(couple.ravel(), self.comparisons.outcome != 0, minlength=len(couples)) > 0
        n_folds = min(self._wanted, int(is_decided.sum()))
        if n_folds < 2:
            raise TooFewError("fewer than two pairs of items were compared with a decision")
        in_turn = np.lexsort((self._rng.random(len(couples)), is_decided))
        fold_of = np.empty(len(couples), np.int64)
        fold_of[in_turn] = np.arange(len(couples)) % n_folds
        return fold_of[couple.ravel()]

    def spread(self, scores: Floats) -> float:
        """Return the root mean square of the differences, over √2; 0 where there are none."""
        d = scores[self.high] - scores[self.low]
        return _unless_rounding(float(np.sqrt(0.5 * np.average(d**2, weights=self.weight))), scores)

    def held_out(self, fold: int) -> Array:
        """Return the points of a fold: the low ends, then the high ones."""
        mine = np.flatnonzero(self.fold == fold)
        return np.concatenate([mine, len(self.comparisons) + mine])

    def points(self, scores: Floats, fold: int, by_place: bool) -> Floats:
        """Return scores of the items compared in a fold, or their places among all items from 0 to 1."""
        own = _places(scores, None) if by_place else scores
        return np.asarray(own[np.concatenate([self.low, self.high])[self.held_out(fold)]])

    def pairs(self) -> ListedPairs:
        """Return the decided comparisons."""
        decided = np.flatnonzero((self.comparisons.outcome != 0) & (self.fold >= 0))
        weight, n = self.weight[decided], len(self.comparisons)
        return ListedPairs(n + decided, decided, weight, 2 * n, float(weight.sum()))

    def differences(self, points: Floats) -> Floats:
        """Return how far the high end of each comparison is above the low one."""
        n = len(self.comparisons)
        return points[n:] - points[:n]


def out_of_fold_points(members: Members, folds: Folds, *, by_place: bool, n_jobs: int | None) -> Floats:
    """Return one column a member: what models that have not seen a point say of it, each in units of its own spread.

    The spread is that of the model's scores of everything, so that the folds' models, and one of all the data, are
    brought to the same scale. A model whose scores are all the same gives zeros.

    Where time is short, it goes to all members on fewer folds before some members on all: what was held out is then
    the folds that are done (:meth:`Folds.keep`), with a warning. A member for which there is no time on the first one,
    if fits to everything are still to follow, gives zeros, with a warning; it is an error where that is the first one.
    """
    times = _FitTimes(len(members), effective_n_jobs(n_jobs))

    def one(fold: int, place: int) -> Floats | None:
        is_first = fold == 0
        with deadline(times.left, tells=is_first) as end:
            if seconds_left() <= 0:
                return None
            name, member = members[place]
            began = perf_counter()
            scores = fitted_scores(folds, name, fit_member(folds, name, member, fold))
            if end.stopped and not is_first:
                return None
            times.note(place, perf_counter() - began)
            if is_first and place > 0 and times.left() < 0:  # its fit to everything would not be done in time
                times.forget(place)
                return None
        spread = folds.spread(scores)
        points = folds.points(scores, fold, by_place)
        if not spread > 0:
            return np.zeros_like(points)
        # only points of one fold are compared; the folds' models may lie far from each other, and from zero
        return np.asarray((points - points.mean()) / (UNIFORM_SPREAD if by_place else spread))

    kept = list(range(len(members)))
    done: list[list[Floats]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say, the fit to everything says
        for fold in range(folds.n_folds):
            found = in_threads([partial(one, fold, place) for place in kept], n_jobs)
            if fold == 0:
                late = [place for place, points in zip(kept, found, strict=True) if points is None]
                kept = [place for place in kept if place not in late]
            elif any(points is None for points in found):
                break
            done.append([points for points in found if points is not None])
    if 0 in late:
        raise TimeIsUp("time was up before the first member of the ensemble was fitted to a fold")
    if late:
        mark_stopped()
        names = ", ".join(members[place][0] for place in late)
        warn_of_time(f"before these members were fitted to a fold, which are left out: {names}", stacklevel=5)
    if len(done) < folds.n_folds:
        mark_shortened()
        warn_of_time(f"after {len(done)} of the {folds.n_folds} folds that weights are learned from", stacklevel=5)
        folds.keep(len(done))
    table = np.zeros((folds.n_points, len(members)))
    for fold, columns in enumerate(done):
        for place, points in zip(kept, columns, strict=True):
            table[folds.held_out(fold), place] = points
    return table


class _FitTimes:
    """What members' fits take, so that there is time left for those to everything."""

    def __init__(self, n_members: int, n_jobs: int) -> None:
        self._given, self._began, self._n_jobs = seconds_left(), perf_counter(), n_jobs
        self._seconds, self._n_fits = np.zeros(n_members), np.zeros(n_members)

    def note(self, place: int, seconds: float) -> None:
        """Remember what a fit of a member took."""
        self._seconds[place] += seconds
        self._n_fits[place] += 1

    def forget(self, place: int) -> None:
        """Leave a member out of what is still to be fitted."""
        self._seconds[place] = 0.0

    def left(self) -> float:
        """Return the seconds for folds: what remains without a fit of each member so far to everything."""
        last = _LAST_FITS * float((self._seconds / np.maximum(self._n_fits, 1)).sum()) / self._n_jobs
        return self._given - (perf_counter() - self._began) - last


_LAST_FITS = 1.5
"""How many times a fit without a fold takes that to everything takes at most, about."""


def in_threads(jobs: Sequence[Callable[[], Any]], n_jobs: int | None) -> list[Any]:
    """Run jobs, as many at a time as asked for; to each, time ends as it does to the caller."""
    run = Parallel(n_jobs=n_jobs, prefer="threads")
    return list(run(delayed(copy_context().run)(job) for job in jobs))


def fit_member(folds: Folds, name: str, member: Any, fold: int | None) -> Any:
    """Fit a member; where that fails, say which one and on what."""
    try:
        return folds.fit(member, fold)
    except MemoryError:
        raise
    except Exception as error:
        where = "all rows" if fold is None else f"fold {fold + 1} of {folds.n_folds}"
        raise ValueError(f"the member {name!r} of the ensemble could not be fitted to {where}: {error}") from error


def fitted_scores(folds: Folds, name: str, model: Any) -> Floats:
    """Return a fitted member's scores of all rows."""
    scores = np.asarray(folds.sample.scores(model), dtype=float)
    if scores.ndim != 1 or not np.isfinite(scores).all():
        raise ValueError(f"the member {name!r} of the ensemble does not give each row a finite score")
    return scores


def _places(scores: Floats, group: Ints | None) -> Floats:
    """Return the share of its list that each row stands above."""
    codes, _ = encode_groups(group, len(scores))
    size = np.full(len(scores), len(scores)) if codes is None else np.bincount(codes)[codes]
    return borda(scores[:, None], group) / np.maximum(size, 1)


def _unless_rounding(spread: float, scores: Floats) -> float:
    return spread if spread > _ROUNDING * float(np.abs(scores).max(initial=0.0)) else 0.0


# --------------------------------------------------------------------------------------------------
# Newton's method over coefficients that must not be negative, for few of them.


logger = logging.getLogger(__name__)

_SUFFICIENT = 1e-3
"""A step is taken when it gives at least this share of the decrease that its slope promises."""

_SHORTEST = 1e-10


def nonnegative_newton(problem: Objective, *, tol: float = 1e-10, max_iter: int = 100) -> SolveResult:
    r"""Minimise ½‖a‖² + strength · R(S a) over a ≥ 0, to a relative accuracy of about ``tol``.

    At each step the quadratic model ½ aᵀHa − bᵀa is minimised exactly over a ≥ 0: with H = LLᵀ that is the
    non-negative least squares problem min ‖Lᵀa − L⁻¹b‖. The way there stays in the convex set, so a line search keeps
    every point feasible. H costs one product with the risk's Hessian a column: O(m n) once the scores are sorted.
    """
    space = problem.space
    assert isinstance(space, RowSpace)
    columns = space.columns()
    point, gap = problem.first(None), np.inf
    for n_iter in range(max_iter + 1):
        a = point.f.coef
        gradient = a + problem.strength * space.adjoint(point.risk.gradient)
        H = _hessian(problem, point, columns)
        step = Function(space, _best_of_model(H, H @ a - gradient) - a)
        slope = float(gradient @ step.coef)
        gap = max(-slope, 0.0)
        logger.debug("step %d: objective %.10g, gap %.2g", n_iter, point.objective, gap)
        if gap <= tol * abs(point.objective) or n_iter == max_iter:
            break
        new_point = _go(problem, point, step, slope)
        if new_point is None:  # rounding hides any further decrease
            break
        point = new_point
    converged = gap <= max(tol, 1e-9) * abs(point.objective)
    return SolveResult(point.f.coef, point.objective, gap, n_iter, (n_iter + 1) * space.n_coef, converged)


def _hessian(problem: Objective, point: Point, columns: Floats) -> Floats:
    bent = np.column_stack([point.risk.hessian_product(column) for column in columns.T])
    H = problem.strength * (columns.T @ bent)
    return np.asarray(0.5 * (H + H.T) + np.eye(len(H)))


def _best_of_model(H: Floats, b: Floats) -> Floats:
    """Minimise ½ aᵀHa − bᵀa over a ≥ 0."""
    lower = cholesky(H, lower=True)
    return np.asarray(nnls(lower.T, solve_triangular(lower, b, lower=True))[0])


def _go(problem: Objective, point: Point, step: Function, slope: float) -> Point | None:
    """Go as far along a step as the objective falls enough; None where rounding hides any decrease."""
    length = 1.0
    while length > _SHORTEST:
        trial = problem.at(point.f.plus(length, step))
        if trial.objective <= point.objective + _SUFFICIENT * length * slope:
            return trial
        length *= 0.5
    return None


# --------------------------------------------------------------------------------------------------
# The members of an ensemble: given, or the small library that is taken where none are.


_MANY_ROWS = 3_000
"""From here on kernels are fitted to folds through landmarks, and trees are many and learn slowly."""

_MOST_COLUMNS = 2_000
_FEWEST_ROWS = 60
"""Trees want 20 rows on either side of a split."""


def named(estimators: Any) -> dict[str, Any]:
    """Return the members by name; none where the list is not one, which :func:`check_members` will say."""
    try:
        return dict(estimators)
    except (TypeError, ValueError):
        return {}


def check_members(estimators: Any, reserved: set[str]) -> Members:
    """Return copies of the members that were given, and refuse what cannot be one."""
    is_list = isinstance(estimators, list | tuple) and len(estimators) > 0
    if not is_list or any(not isinstance(each, list | tuple) or len(each) != 2 for each in estimators):
        raise ValueError(f"estimators must be a list of (name, ranker) pairs, got {estimators!r}")
    names = [name for name, _ in estimators]
    for name in names:
        if not isinstance(name, str) or "__" in name or name in reserved:
            raise ValueError(f"{name!r} cannot name a member; use text without '__' that is no parameter's name")
    if len(set(names)) < len(names):
        raise ValueError(f"the names of the members are not all different: {names}")
    members = []
    for name, member in estimators:
        if member is None:
            raise TypeError(f"the member {name!r} is None; give a ranker, such as RankSVM()")
        try:
            members.append((name, check_base(member)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"the member {name!r} of the ensemble: {error}") from None
    return members


def default_members(
    X: Any, order: Grades | Comparisons, seed: int, metric: str | None = None, *, small: bool = False
) -> Members:
    """Return a small library that suits the data; columns should be scaled alike.

    Linear, Gaussian kernels of three widths, trees, and least squares: of each the settings that are best most often,
    and the weights choose among them. Kernels of many rows go through landmarks (:func:`last_members`); many columns
    have linear members only. With a metric of places in a list, pairs weigh what the metric makes of them: as DCG's
    costs in linear and kernel members, and in trees by what their swap changes. Of many rows trees are many and grow
    slowly; in the ``small`` library they do not.
    """
    n, d = X.shape
    compared = isinstance(order, Comparisons)
    row_by_row = isinstance(order, Grades) and order.ends is None  # a grade says what to predict
    costs: dict[str, Any] = {} if metric is None else {"order": "dcg", "balance": "groups"}
    members: list[tuple[str, Any]] = [("rank-svm", RankSVM(**costs))]
    if compared:
        members += [("rank-svm-weak", RankSVM(C=0.01)), ("compare-svm", CompareSVM(loss="squared_hinge"))]
    elif row_by_row:
        members.append(("ridge-on-ranks", RidgeRanker(on="ranks")))
    if isinstance(order, Times):
        members.append(("cox", CoxRanker()))
    if d > _MOST_COLUMNS:
        return members
    unit, is_large = resolve_gamma("scale", X), n > _MANY_ROWS
    through: dict[str, Any] = {"n_components": "auto", "tol": KERNEL_TOL} if is_large else {}
    for name, C, width in (
        ("rbf", 10.0 if is_large else 1.0, 1.0),
        ("rbf-wide", 10.0, 0.3),
        ("rbf-widest", 100.0, 0.1),
    ):
        members.append((name, RankSVM(C, kernel="rbf", gamma=width * unit, random_state=seed, **through, **costs)))
    if n < _FEWEST_ROWS:
        return members
    shape: dict[str, Any] = {"learner": "tree", "random_state": seed}
    if metric is not None:
        shape["metric"] = metric
    members.append(("trees", OrderBoost(max_leaf_nodes=7, n_estimators=100, **shape)))
    slowly: dict[str, Any] = {"n_estimators": 600, "learning_rate": 0.05}
    is_large = is_large and n <= MOST_KERNEL_ROWS and not small  # as far as so many trees take no longer than kernels
    grown = slowly | {"loss": "squared_hinge"} if is_large and not compared else {"n_estimators": 200}
    members.append(("large-trees", OrderBoost(max_leaf_nodes=31, **grown, **shape)))
    if row_by_row:
        options = slowly if is_large else {"n_estimators": 100}
        members.append(("trees-on-ranks", BoostedTrees("ranks", max_leaf_nodes=31, random_state=seed, **options)))
        if is_large:
            members.append(("trees-on-grades", BoostedTrees(max_leaf_nodes=31, random_state=seed, **options)))
    return members


_TRIED = 15
"""Trees by which it is told what hundreds take."""

_WAYS = 2.6
"""Fits of a member that must be done, at least, for the large library to be worth its time: two folds, and one more."""


def library_in_time(folds: Folds, make: Callable[[bool], Members]) -> Members:
    """Return the default library, ``make(False)``; the small one, ``make(True)``, where time is short, with a warning.

    That there is no time for the large one is told by a few trees of each of its members that have hundreds.
    """
    large, small = make(False), make(True)
    left = seconds_left()
    if left == inf:
        return large
    needed = 0.0
    with warnings.catch_warnings(), deadline(lambda: inf, tells=False):
        warnings.simplefilter("ignore")
        for name, member in large:
            n_trees = getattr(member, "n_estimators", 0)
            if n_trees > getattr(dict(small).get(name), "n_estimators", 0):
                few, took = clone(member).set_params(n_estimators=_TRIED), inf
                for _ in range(2):  # the first may wait for a compiler
                    began = perf_counter()
                    fit_member(folds, name, few, None)
                    took = min(took, perf_counter() - began)
                needed += took * n_trees / _TRIED
    if _WAYS * needed <= left:
        return large
    mark_shortened()
    warn_of_time("before it began: its library is the small one, of fewer trees", stacklevel=4)
    return small


_WORTH = 0.1
"""The weight from which on a kernel is worth the time of an exact fit."""


def last_members(members: Members, weights: Floats, n_rows: int, n_jobs: int) -> Members:
    """Return the default library as it is fitted to everything: kernels that weigh are exact, up to 20,000 rows.

    That is one fit of each in the place of one a fold, and what landmarks say of held-out rows is near enough to weigh
    a kernel by. Where so many matrices at a time do not fit into memory, the landmarks stay.
    """
    if not kernel_suits(n_rows, beside=(n_jobs - 1) * kernel_bytes(n_rows, 4)):
        return members
    return [
        (name, clone(each).set_params(n_components=None) if isinstance(each, RankSVM) and weight >= _WORTH else each)
        for (name, each), weight in zip(members, weights, strict=True)
    ]


def monotone_members(members: Members, signs: Ints, *, only_those: bool) -> Members:
    """Tell members what to keep; those that cannot are left out with ``only_those``, else they are an error."""
    told = {k: int(sign) for k, sign in enumerate(signs.tolist()) if sign}
    out = []
    for name, member in members:
        if keeps_monotone(member):
            out.append((name, clone(member).set_params(monotone=told)))
        elif not only_those:
            raise refuse_monotone(f"the member {name!r}, {type(member).__name__}")
    return out


def read_member_weights(weights: Any, names: list[str]) -> Floats:
    """Read weights that were given, by name or in the order of the members; they add up to 1."""
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise ValueError(f"weights are for {sorted(map(str, weights))}; give one for each of {names}")
        weights = [weights[name] for name in names]
    values = read_ranker_weights(weights, len(names))
    return np.asarray(values / values.sum())


def input_tag(estimators: Any, name: str) -> bool:
    """Say whether all members take such rows: ``sparse``, ``allow_nan`` or ``categorical``."""
    if estimators is None:
        return name == "sparse"
    return all(bool(getattr(get_tags(member).input_tags, name)) for member in named(estimators).values())


# --------------------------------------------------------------------------------------------------
# The model.


class OrderEnsemble(Ranker):
    r"""Several rankers as one: f(x) = Σ_t α_t s_t(x), with weights α ≥ 0 learned from rows the rankers had not seen.

    Every member is fitted without a fold and scores that fold, for each fold in turn. With :math:`S` the table of
    these scores, one column a member, each in units of its standard deviation, the weights are

    .. math:: \min_{\alpha \ge 0} \; \tfrac12 \|\alpha\|^2
              + C \, \frac{n}{\sum W} \sum_{(i, j)} W_{ij} \, (1 - (S_i - S_j)^\top \alpha)_+^2

    over all pairs with i above j in one fold (their scores are then of one model). The problem is convex and solved
    exactly, without listing a pair; only the direction of α counts, and ``weights_`` adds up to 1. At last the members
    are fitted to everything, but for those without weight.

    Parameters
    ----------
    estimators : list of (name, ranker), default=None
        The members: rankers, or pipelines of them, that learn from what the ensemble is given. They see numbers as
        grades: text becomes the places 0, 1, … of the levels. Parameters nest, as in ``trees__max_leaf_nodes``.
        None: a library of some eight members that suits the data, if columns are scaled alike.
    combine : {"scores", "borda"}, default="scores"
        Add up scores, each in units of its standard deviation; or Borda counts: how many rows of its list a row is
        scored above. These depend on the list: pass ``groups`` wherever scores are asked for; without, all rows are
        one list.
    weights : {"learned", "equal"}, mapping or array, default="learned"
        How the weights are found, or the weights themselves, by name or in the order of the members.
    metric : str or Metric, default=None
        A metric of places in a list, as "ndcg@10", to go by instead of swapped pairs: a pair then weighs what its swap
        changes in the metric at the ensemble's scores, every list counts the same, and the members of the default
        library are of forms that suit it. For grades without weights.
    n_folds : int, default=5
        Most folds. With groups, whole groups are held out; comparisons of the same two items stay together.
    C : float, default=1.0
        Weight of the mean loss against ½‖α‖²; lower values even the weights out.
    n_jobs : int, default=None
        Fits at a time, in threads.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held. All members must
        be able to keep it; the default library is then of those that are.
    random_state : int, RandomState or None, default=None
        Seed for the folds of one list and of comparisons, and for the members of the default library.

    Attributes
    ----------
    weights_ : array of shape (members,)
        α, adding up to 1; 0 for members that give all rows the same score. Where no member is of use, all are equal.
    names_ : list of str
        The members' names, in the order of ``weights_``.
    rankers_ : dict
        From name to fitted ranker, of the members with weight.
    scales_ : dict
        What the scores of each of them are divided by.
    threshold_ : float
        Of comparisons only: scores that differ by no more are predicted to tie. It is the one with the fewest errors on
        held-out comparisons; 0 where none is a tie.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Costs ``n_folds`` + 1 fits of every member; the weights themselves O(n log n). Under a time limit, as in
    :func:`wellorder.compare`, weights are learned from as many folds as there is time for, and the members are fitted
    whole. Precomputed kernels are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(200), [-1, 0, 1])
    >>> members = [("linear", wo.RankSVM()), ("column", wo.BestFeature())]
    >>> ensemble = wo.OrderEnsemble(members).fit(X, y)
    >>> bool((ensemble.weights_ >= 0).all()), round(float(ensemble.weights_.sum()), 12)
    (True, 1.0)
    >>> ensemble.set_params(linear__C=0.1).get_params()["linear__C"]
    0.1
    """

    _held: ClassVar[Held] = Held(25.0, 1.3)

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}

    order = "full"  # of the pairs that ``score`` counts

    names_: list[str]
    weights_: Floats
    rankers_: dict[str, Any]
    scales_: dict[str, float]
    threshold_: float

    def __init__(
        self,
        estimators: Any = None,
        *,
        combine: str = "scores",
        weights: Any = "learned",
        metric: Any = None,
        n_folds: int = 5,
        C: float = 1.0,
        n_jobs: int | None = None,
        levels: Any = None,
        monotone: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.combine = combine
        self.weights = weights
        self.metric = metric
        self.n_folds = n_folds
        self.C = C
        self.n_jobs = n_jobs
        self.levels = levels
        self.monotone = monotone
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if ``deep``, the members by name and their parameters too."""
        params: dict[str, Any] = super().get_params(deep=False)
        if not deep:
            return params
        for name, member in named(self.estimators).items():
            params[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                params |= {f"{name}__{key}": value for key, value in member.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> OrderEnsemble:
        """Set parameters: the ensemble's, whole members by name, and theirs as in ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        new = {name: params.pop(name) for name in named(self.estimators) if name in params}
        if new:
            self.estimators = [(name, new.get(name, member)) for name, member in self.estimators]
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> OrderEnsemble:
        """Learn the weights from held-out scores, then fit the members to everything.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame; or Pairs
        y : array of shape (n,), Grades, or Comparisons; outcomes −1, 0 and 1, if X holds pairs
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared, and each group is a list.
        sample_weight : array of shape (n,), optional
            Weights of the rows, handed on to the members, or of the pairs.
        """
        self._check_parameters()
        given = None if self.estimators is None else check_members(self.estimators, set(self.get_params(deep=False)))
        if isinstance(X, Pairs):
            X, y, sample_weight = X.items, Comparisons(X.left, X.right, y, sample_weight), None
        X = self._check_rows(X, reset=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        folds = self._make_folds(X, y, groups, sample_weight, rng)
        order = folds.grades if isinstance(folds, GradedFolds) else folds.comparisons
        metric = self._read_metric(order)
        called = None if metric is None else str(metric)
        seed = int(rng.integers(2**31 - 1))
        members = given
        if members is None:
            members = library_in_time(folds, lambda small: default_members(X, order, seed, called, small=small))
        signs = read_signs(self.monotone, X.shape[1], getattr(self, "feature_names_in_", None))
        if signs is not None:
            members = monotone_members(members, signs, only_those=given is None)
        self.n_groups_ = order.n_groups
        self.names_ = [name for name, _ in members]
        points = self._held_out_points(members, folds)
        self.weights_ = self._choose_weights(points, folds, metric)
        if given is None and isinstance(folds, GradedFolds):
            members = last_members(members, self.weights_, X.shape[0], effective_n_jobs(self.n_jobs))
        self._fit_members(members, folds)
        if signs is not None and not isinstance(X, list) and self.combine == "scores":
            check_rows_monotone(
                self._summed, X, signs, rounding=1e-12
            )  # as weights are not negative, and members keep it
        if isinstance(folds, ComparedFolds):
            self.threshold_ = self._choose_threshold(points, folds)
        elif hasattr(self, "threshold_"):
            del self.threshold_
        return self

    def decision_function(self, X: Any, groups: Any = None) -> Floats:
        """Return the ensemble's score of each row; a higher score stands above.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        groups : array of shape (n,), optional
            The list of each row; for Borda counts, and members whose scores depend on the list.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if self.combine == "scores":
            return self._summed(X, groups)
        own = np.array([self.weights_[self.names_.index(name)] for name in self.rankers_])
        return borda(score_table(list(self.rankers_.values()), X, groups), groups, own)

    def _summed(self, X: Any, groups: Any = None) -> Floats:
        """Add up the members' scores."""
        table = score_table(list(self.rankers_.values()), X, groups)
        own = np.array([self.weights_[self.names_.index(name)] / scale for name, scale in self.scales_.items()])
        if self.monotone is None:
            return np.asarray(table @ own)
        # one after the other in every row: a product of matrices may round rows of equal scores to different sums
        return np.asarray(np.cumsum(table * own, axis=1)[:, -1])

    def compare(self, X: Pairs) -> Floats:
        """Return the score of the right item less that of the left one, for each of some Pairs."""
        if not isinstance(X, Pairs):
            raise TypeError(f"compare takes wellorder.Pairs(items, left, right), got {type(X).__name__}")
        scores = self.decision_function(X.items)
        return np.asarray(scores[X.right] - scores[X.left])

    def predict(self, X: Any, groups: Any = None) -> Array:
        """Return the score of each row, as ``decision_function`` does; of Pairs their outcomes: −1, 0 or 1."""
        if not isinstance(X, Pairs):
            return self.decision_function(X, groups)
        d = self.compare(X)
        return np.where(np.abs(d) > getattr(self, "threshold_", 0.0), np.sign(d), 0).astype(np.int64)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return 1 − swapped pairs, a tied pair being an error; of Pairs, the share of outcomes predicted rightly."""
        if isinstance(X, Pairs):
            return 1.0 - comparison_error(y, self.predict(X), sample_weight)
        return super().score(X, y, groups, sample_weight)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if input_tag(self.estimators, "allow_nan") else True
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset, ensure_all_finite=finite)

    def _can_be_monotone(self) -> bool:
        return self.estimators is None or all(map(keeps_monotone, named(self.estimators).values()))

    def _make_folds(
        self, X: Any, y: Any, groups: Any, sample_weight: Any, rng: np.random.Generator
    ) -> GradedFolds | ComparedFolds:
        if isinstance(y, Comparisons):
            if groups is not None or sample_weight is not None:
                raise ValueError("groups or sample_weight beside Comparisons; give the weights to the Comparisons")
            refuse_no_pairs(y, y.to_pairs(X.shape[0]).n_pairs)
            return ComparedFolds(X, y, self.n_folds, rng)
        name = type(self).__name__
        grades = read_plain_grades(y, groups, sample_weight, self.levels, X.shape[0], name, two_weights=True)
        refuse_no_pairs(grades, grades.pairs.n_pairs)
        return GradedFolds(X, grades, self.n_folds, rng)

    def _held_out_points(self, members: Members, folds: GradedFolds | ComparedFolds) -> Floats | None:
        """Return the members' scores of what they have not seen, if anything is to be learned from them."""
        has_ties = isinstance(folds, ComparedFolds) and not folds.comparisons.outcome.all()
        learned = isinstance(self.weights, str) and self.weights == "learned" and len(members) > 1
        if not has_ties and not learned:
            return None
        try:
            return out_of_fold_points(members, folds, by_place=self.combine == "borda", n_jobs=self.n_jobs)
        except TooFewError as error:
            warnings.warn(f"nothing can be held out, and weights are not learned: {error}", stacklevel=4)
            return None

    def _read_metric(self, order: Grades | Comparisons) -> Metric | None:
        if self.metric is None:
            return None
        metric = parse(self.metric)
        if not isinstance(order, Grades) or order.ends is not None or order.weight is not None:
            raise ValueError(
                f"metric={str(metric)!r} looks at places in lists of graded rows without weights; leave it out"
            )
        metric.swap_terms(order)
        return metric

    def _choose_weights(
        self, points: Floats | None, folds: GradedFolds | ComparedFolds, metric: Metric | None
    ) -> Floats:
        n = len(self.names_)
        if not isinstance(self.weights, str):
            return read_member_weights(self.weights, self.names_)
        if self.weights == "equal" or points is None or n == 1:
            return np.full(n, 1.0 / n)
        pairs = folds.pairs()
        total = 0.0
        if metric is not None and isinstance(folds, GradedFolds):
            lists = folds.lists()
            risk = PlaceRisk("squared_hinge", lists, metric.swap_terms(lists))
            coef = weights_at_places(points, risk, self.C) if risk.n_lists else np.zeros(n)
            total = float(coef.sum())
        elif pairs.n_pairs:
            coef = nonnegative_newton(make_problem(LinearSpace(points), pairs, LOSSES["squared_hinge"], self.C)).coef
            total = float(coef.sum())
        if total > 0:
            shares = coef / total
            shares[shares < _LEAST_SHARE] = 0.0
            return np.asarray(shares / shares.sum())
        warnings.warn(
            "no member orders held-out rows better than chance, or there are too few of them; all get the same weight",
            stacklevel=4,
        )
        return np.full(n, 1.0 / n)

    def _fit_members(self, members: Members, folds: GradedFolds | ComparedFolds) -> None:
        """Fit the members with weight to everything; those that give all rows the same score lose theirs."""
        wanted = [each for each, weight in zip(members, self.weights_, strict=True) if weight > 0]
        fitted = in_threads([partial(fit_member, folds, name, member, None) for name, member in wanted], self.n_jobs)
        self.rankers_ = {name: model for (name, _), model in zip(wanted, fitted, strict=True)}
        spread = {name: folds.spread(fitted_scores(folds, name, model)) for name, model in self.rankers_.items()}
        if not any(spread.values()):
            warnings.warn("every member with weight gives all rows the same score: there is no order", stacklevel=4)
            spread = dict.fromkeys(spread, 1.0)
        for name, size in spread.items():
            if size == 0:
                self.weights_[self.names_.index(name)] = 0.0
                del self.rankers_[name]
        self.weights_ = self.weights_ / self.weights_.sum()
        self.scales_ = {name: spread[name] for name in self.rankers_}

    def _choose_threshold(self, points: Floats | None, folds: ComparedFolds) -> float:
        if points is None:
            return 0.0
        d = folds.differences(points @ self.weights_)
        if self.combine == "borda":
            d = d * UNIFORM_SPREAD * folds.sample.X.shape[0]  # from places between 0 and 1 to counts of items
        seen = folds.fold >= 0
        return best_threshold(d[seen], np.abs(folds.comparisons.outcome[seen]), folds.weight[seen])

    def _check_parameters(self) -> None:
        check_option(self.combine, "combine", ("scores", "borda"))
        if isinstance(self.weights, str):
            check_option(self.weights, "weights", ("learned", "equal"))
        check_whole(self.n_folds, "n_folds")
        if self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds!r}")
        check_positive(self.C, "C")

    def _fitted_state(self) -> dict[str, Part]:
        def check_members_of(scales: Any) -> None:
            if list(scales) != list(self.rankers_) or not set(scales) <= set(self.names_) or not scales:
                raise ValueError("the fitted members are not those that have a scale")

        weights = both(floats("m"), checked(lambda given: read_ranker_weights(given, len(given))))
        return super()._fitted_state() | {
            "estimators": none_or(checked(lambda given: check_members(given, set()))),
            "names_": both(list_of(text(), "m"), checked(refuse_twice)),
            "weights_": weights,
            "rankers_": dict_of(text(), fitted("decision_function", "predict"), "k"),
            "scales_": both(dict_of(text(), number(above=0.0), "k"), checked(check_members_of)),
            "threshold_": absent_or(number(low=0.0)),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = input_tag(self.estimators, "sparse")
        tags.input_tags.allow_nan = input_tag(self.estimators, "allow_nan")
        tags.input_tags.categorical = input_tag(self.estimators, "categorical")
        tags.target_tags.required = True
        return tags


_LEAST_SHARE = 1e-9
"""A member with less of the weight has it from rounding; it would be fitted, stored and asked for nothing."""

_MOST_ENSEMBLE_ROWS = 200_000


def too_many_fits(size: Size) -> str | None:
    """Object to fitting very many rows many times over."""
    n, what = (size.n_rows, "rows") if size.supervision == "grades" else (size.n_pairs, "comparisons")
    if n > _MOST_ENSEMBLE_ROWS:
        return f"it fits some eight members six times over, and there are {n:,} {what}"
    return no_features(size)


def for_members(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an ensemble: the largest member's, and all members' models and scores."""
    most = MOST_KERNEL_ROWS if size.supervision == "grades" else _MANY_ROWS
    largest = for_kernel if size.n_rows <= most else for_trees
    return largest(size, matrix_bytes) + 8 * ROW_ARRAYS * size.n_rows


METHODS = {
    "order-ensemble": Method(
        "linear, kernels and trees, weighted by how they order held-out rows",
        OrderEnsemble,
        takes_two_weights=True,
        objection=too_many_fits,
        predicts_ties=True,
        memory=for_members,
        follows_places="metric",
    ),
}
