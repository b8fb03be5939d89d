"""What models say of rows that they have not seen: rows, or comparisons, in folds, and a table of held-out scores."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import cached_property, partial
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection import GroupKFold
from sklearn.utils.parallel import Parallel, delayed

from ..aggregation import borda
from ..deadline import TimeIsUp, deadline, mark_shortened, mark_stopped, seconds_left, warn_of_time
from ..losses import PairSet
from ..order import Comparisons, Grades, ListedPairs, encode_groups, make_pairs
from ..samples import Given, Sample
from ..sweeps import Array, Floats, Ints
from .base_rankers import fit_part

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
        active = self.grades.pairs.active
        s, w = scores[active], self.grades.row_weights[active]
        lists = self.grades.list_codes[active]
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
        own = np.maximum(self.fold, 0) + self.grades.list_codes * self.n_folds
        return np.unique(own, return_inverse=True)[1].astype(np.int32)


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
"""Upper estimate of (time to fit all rows) / (time to fit without one fold)."""


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
