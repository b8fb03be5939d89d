"""Splits: which rows a method learns from, and which it is judged by. The same seed gives the same splits, always."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heapify, heapreplace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.metadata_routing import get_routing_for_object

from ..order import Comparisons, Grades, refuse_beside
from ..samples import Given, Sample
from ..sweeps import Bools, Ints

_FEW_LEVELS = 20
"""Up to this many levels, each is spread over the folds on its own; more are first gathered into quantiles."""

_QUANTILES = 10


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers to learn from and to be judged by, both rising."""

    repeat: int
    fold: int
    train: Ints
    test: Ints

    def __repr__(self) -> str:
        return f"Split(repeat={self.repeat}, fold={self.fold}, {len(self.train)} train, {len(self.test)} test)"


def folds(y: Any, groups: Any = None, *, n_folds: int = 5, n_repeats: int = 1, seed: int = 0) -> Iterator[Split]:
    """Cut rows into folds, each of them the test part once a repeat; the others are the training part.

    With groups, whole groups stay together and the folds have about the same number of rows; every fold
    gets a group that has a pair, as long as there are enough of these. Without groups, each level is
    spread over the folds as evenly as can be (each tenth of the grades, where there are more than 20 levels
    or they are too rare).

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; text needs a ``Grades`` with levels, which brings its own groups.
    groups : array of shape (n,), optional
        One id a row.
    n_folds : int, default=5
        An error where there are fewer groups (or, without groups, judged rows) than folds.
    n_repeats : int, default=1
        How often to cut anew. Each repeat draws from a stream of its own: more repeats never change the
        earlier ones.
    seed : int, default=0

    Yields
    ------
    Split
        With groups, an unjudged row goes where its group goes; without, unjudged rows (NaN) are in every
        training part and in no test part. They are in no pair, and change nothing either way.

    Examples
    --------
    >>> from wellorder.evaluation.splits import folds
    >>> for split in folds([0, 0, 0, 1, 1, 1], n_folds=3):
    ...     print(split.test)
    [0 5]
    [2 4]
    [1 3]
    """
    grades = _as_grades(y, groups)
    _check_counts(n_folds, n_repeats)
    lists = grades.lists
    if lists is not None:
        group = _by_appearance(lists)
        size = np.bincount(group)
        with_pair = np.zeros(len(size), dtype=bool)
        with_pair[group[grades.pairs.active]] = True
        _refuse_too_few(len(size), "groups", n_folds)
    else:
        stratum = _strata(grades, n_folds)
        _refuse_too_few(int(np.count_nonzero(stratum >= 0)), "judged rows", n_folds)
    for repeat in range(n_repeats):
        rng = _stream(seed, repeat)
        if lists is not None:
            fold_of = _deal_groups(size, with_pair, n_folds, rng)[group]
        else:
            fold_of = _deal_rows(stratum, n_folds, rng)
        for split in _cut(fold_of, repeat, n_folds):
            _refuse_no_pair(grades.take(split.train).pairs.n_pairs, split)
            yield split


def comparison_folds(
    comparisons: Comparisons, *, n_folds: int = 5, n_repeats: int = 1, seed: int = 0
) -> Iterator[Split]:
    """Cut comparisons into folds; all comparisons of the same two items, on either side, stay together.

    The items themselves are in every part: what is judged is how a method orders pairs it has not seen.

    Parameters
    ----------
    comparisons : Comparisons
    n_folds : int, default=5
        An error where fewer pairs of items than this were compared.
    n_repeats, seed
        As in :func:`folds`.

    Yields
    ------
    Split
        Numbers of comparisons.

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.evaluation.splits import comparison_folds
    >>> games = wo.Comparisons(left=[0, 1, 1, 2], right=[1, 0, 2, 0], outcome=[1, 1, -1, 1])
    >>> sorted(split.test.tolist() for split in comparison_folds(games, n_folds=3))
    [[0, 1], [2], [3]]
    """
    if not isinstance(comparisons, Comparisons):
        raise TypeError(f"comparison_folds takes Comparisons, not {type(comparisons).__name__}")
    _check_counts(n_folds, n_repeats)
    ends = np.sort(np.column_stack([comparisons.left, comparisons.right]), axis=1)
    couples, couple = np.unique(ends, axis=0, return_inverse=True)
    couple = couple.reshape(-1)
    _refuse_too_few(len(couples), "pairs of items that were compared", n_folds)
    size = np.bincount(couple, minlength=len(couples))
    decided = comparisons.outcome != 0
    with_decision = np.bincount(couple, decided, minlength=len(couples)) > 0
    for repeat in range(n_repeats):
        fold_of = _deal_groups(size, with_decision, n_folds, _stream(seed, repeat))[couple]
        for split in _cut(fold_of, repeat, n_folds):
            _refuse_no_pair(int(np.count_nonzero(decided[split.train])), split)
            yield split


def time_cuts(y: Any, times: Any, groups: Any = None, *, n_cuts: int = 5, first: float = 0.5) -> Iterator[Split]:
    """Cut in time, at several moments: methods learn from the past, and are judged by what comes next.

    The later part of the rows is cut into ``n_cuts`` stretches of about equally many rows. Each stretch is a test part
    once, and everything before it is then the training part. Rows of the same time stay together, and so do groups; the
    time of a group is that of its last row. Comparisons of the same two items may be cut apart.

    Parameters
    ----------
    y : array of shape (n,), Grades or Comparisons
    times : array of shape (n,)
        Numbers, or dates as numpy has them.
    groups : array of shape (n,), optional
        One id a row.
    n_cuts : int, default=5
        Fewer where there are not as many times.
    first : float, default=0.5
        The share of the rows that are only learned from.

    Yields
    ------
    Split
        In the order of time; unjudged rows (NaN) are in no test part.

    Examples
    --------
    >>> from wellorder.evaluation.splits import time_cuts
    >>> for split in time_cuts([0, 1, 0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8], n_cuts=2):
    ...     print(split.train, split.test)
    [0 1 2 3] [4 5]
    [0 1 2 3 4 5] [6 7]
    """
    order = y if isinstance(y, Comparisons) else _as_grades(y, groups)
    when = own = _numbered_times(times, len(order))
    if not 0 < first < 1:
        raise ValueError(f"first={first!r} is no share of the rows; give a number between 0 and 1")
    _check_counts(n_cuts + 1, 1)
    lists = order.lists if isinstance(order, Grades) else None
    if lists is not None:
        last = np.zeros(int(lists.max(initial=-1)) + 1, when.dtype)
        np.maximum.at(last, lists, when)
        when = last[lists]
    judged = np.sort(when[order.is_judged])
    begins = judged[
        np.minimum((len(judged) * (first + (1 - first) * np.arange(n_cuts) / n_cuts)).astype(int), len(judged) - 1)
    ]
    begins = np.unique(begins[begins > judged[0]])
    if len(begins) == 0 and np.ptp(own[order.is_judged]) > 0:
        raise ValueError(
            "all lists end at about the same time, and a list is of the time of its last row: there is no past to "
            "learn from; leave the groups out, and rows are compared across lists, or leave the time out"
        )
    if len(begins) == 0:
        raise ValueError("all rows are of about one time: there is no past to learn from; leave the time out")
    for fold, (begin, end) in enumerate(zip(begins, [*begins[1:].tolist(), np.inf], strict=True)):
        test = np.flatnonzero((when >= begin) & (when < end) & order.is_judged)
        split = Split(0, fold, np.flatnonzero(when < begin), test)
        _refuse_no_pair(order.take(split.train).to_pairs(_n_rows(order, split)).n_pairs, split)
        yield split


def _n_rows(order: Grades | Comparisons, split: Split) -> int:
    if isinstance(order, Grades):
        return len(split.train)
    return int(max(order.left.max(), order.right.max())) + 1


def _numbered_times(times: Any, n_rows: int) -> Ints:
    """Return the place of each row's time among all times."""
    when = np.asarray(times)
    if when.shape != (n_rows,):
        raise ValueError(f"times have shape {when.shape}; give one for each of {n_rows} rows")
    if when.dtype.kind not in "iufM":
        raise ValueError(f"times are numbers or dates (datetime64), not {when.dtype}")
    bad = np.flatnonzero(np.isnat(when) if when.dtype.kind == "M" else ~np.isfinite(when.astype(float)))
    if bad.size:
        raise ValueError(f"row {bad[0]} has no time; give one, or leave the row out")
    return np.unique(when, return_inverse=True)[1]


def hold_outs(y: Any, *, n_train: int, n_test: int | None = None, n_repeats: int = 1, seed: int = 0) -> Iterator[Split]:
    """Draw training and test parts of given sizes at random, as papers do that report "20 random splits".

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Unjudged rows are never drawn. Grades with groups are an error: use :func:`folds`.
    n_train : int
        Rows to learn from.
    n_test : int, optional
        Rows to be judged by, drawn from the others; all of them by default.
    n_repeats : int, default=1
        How many splits; more of them never change the earlier ones.
    seed : int, default=0

    Yields
    ------
    Split
        ``repeat`` counts them; ``fold`` is 0.

    Examples
    --------
    >>> from wellorder.evaluation.splits import hold_outs
    >>> list(hold_outs(range(100), n_train=30, n_test=50, n_repeats=2))
    [Split(repeat=0, fold=0, 30 train, 50 test), Split(repeat=1, fold=0, 30 train, 50 test)]
    """
    grades = _as_grades(y, None)
    if grades.lists is not None:
        raise ValueError("hold_outs draws single rows, which would tear groups apart; use folds")
    judged = np.flatnonzero(grades.level >= 0)
    n_test = len(judged) - n_train if n_test is None else n_test
    if n_train < 1 or n_test < 1 or n_train + n_test > len(judged):
        raise ValueError(
            f"n_train={n_train} and n_test={n_test} must both be at least 1 and at most {len(judged)} together, "
            "the number of judged rows"
        )
    for repeat in range(n_repeats):
        drawn = _stream(seed, repeat).permutation(judged)
        split = Split(repeat, 0, np.sort(drawn[:n_train]), np.sort(drawn[n_train : n_train + n_test]))
        _refuse_no_pair(grades.take(split.train).pairs.n_pairs, split)
        yield split


def feasible_folds(order: Grades | Comparisons, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
    """Cut into folds, fewer if not enough lists have a pair; if only one list has pairs, it is cut by rows."""
    n_folds = feasible_n_folds(order, n_folds)
    if isinstance(order, Comparisons):
        return comparison_folds(order, n_folds=n_folds, n_repeats=n_repeats, seed=seed)
    if order.lists is None:
        return folds(order, n_folds=n_folds, n_repeats=n_repeats, seed=seed)
    if order.n_groups < 2:
        return folds(order.in_one_group(), n_folds=n_folds, n_repeats=n_repeats, seed=seed)
    if n_lists_with_pair(order) == 1:
        return _folds_of_the_list_with_pairs(order, n_folds, n_repeats, seed)
    return folds(order, n_folds=n_folds, n_repeats=n_repeats, seed=seed)


def feasible_n_folds(order: Grades | Comparisons, wanted: int) -> int:
    """Return how many folds :func:`feasible_folds` cuts into."""
    if (
        isinstance(order, Comparisons)
        or order.lists is None
        or order.n_groups < 2
        or (n_lists := n_lists_with_pair(order)) == 1
    ):
        return wanted
    return min(wanted, n_lists or order.n_groups)


def n_lists_with_pair(grades: Grades) -> int:
    """Count the lists that hold a pair, and so say anything about an order."""
    return grades.describe().n_groups_with_pairs


def _folds_of_the_list_with_pairs(grades: Grades, n_folds: int, n_repeats: int, seed: int) -> Iterator[Split]:
    """Cut the only list that has a pair by rows; all other rows, which say nothing, are in every training part."""
    assert grades.group is not None
    inside = grades.group == grades.group[grades.pairs.active[0]]
    members, others = np.flatnonzero(inside), np.flatnonzero(~inside)
    mine = grades.take(members).in_one_group()
    for split in folds(mine, n_folds=n_folds, n_repeats=n_repeats, seed=seed):
        train = np.sort(np.concatenate([members[split.train], others]))
        yield Split(split.repeat, split.fold, train, members[split.test])


def read_splits(sample: Sample, cv: Any, n_repeats: int = 1, seed: int = 0) -> list[Split]:
    """Return the splits that ``cv`` stands for: a number of folds, a scikit-learn splitter, or splits already made."""
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        options = {"n_folds": int(cv), "n_repeats": n_repeats, "seed": seed}
        if isinstance(sample.order, Comparisons):
            return list(comparison_folds(sample.order, **options))
        return list(folds(sample.order, **options))
    if n_repeats != 1:
        raise ValueError("n_repeats needs cv to be a number of folds; a splitter repeats by itself (RepeatedKFold)")
    if hasattr(cv, "split") and not isinstance(cv, str):
        cv = _split_by(cv, sample)
    elif not isinstance(cv, Iterable) or isinstance(cv, str):
        raise ValueError(f"cv must be a number of folds, a scikit-learn splitter or splits, got {cv!r}")
    made = [each if isinstance(each, Split) else _as_split(fold, *each) for fold, each in enumerate(cv)]
    if not made:
        raise ValueError("cv gives no split")
    return made


def _as_split(fold: int, train: Any, test: Any) -> Split:
    """Take a scikit-learn split: row numbers, or masks."""
    rows = [np.asarray(part) for part in (train, test)]
    return Split(0, fold, *(np.flatnonzero(part) if part.dtype == bool else part for part in rows))


def _split_by(splitter: Any, sample: Sample) -> Any:
    """Hand a scikit-learn splitter X, y and, where it asks for them, groups."""
    X, target = sample.X, sample.target
    if isinstance(target, Comparisons):
        X, y, groups = np.zeros((len(target), 1)), target.outcome, None
    else:
        y, groups = (target.y, target.groups) if isinstance(target, Given) else (target.level, target.group)
    asks = not hasattr(splitter, "get_metadata_routing") or bool(
        get_routing_for_object(splitter).consumes("split", ["groups"])
    )
    return splitter.split(X, y, groups) if asks and groups is not None else splitter.split(X, y)


def _as_grades(y: Any, groups: Any) -> Grades:
    if isinstance(y, Comparisons):
        raise TypeError("comparisons are cut by comparison_folds, which keeps rematches together")
    if isinstance(y, Grades):
        refuse_beside(y, groups=groups)
        return y
    return Grades(y, groups)


def _check_counts(n_folds: int, n_repeats: int) -> None:
    if n_folds < 2:
        raise ValueError(f"n_folds must be at least 2, got {n_folds!r}")
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats!r}")


def _refuse_too_few(n: int, what: str, n_folds: int) -> None:
    if n < n_folds:
        advice = "no folds can be made of them" if n < 2 else f"ask for at most {n} folds"
        raise ValueError(f"there {'is' if n == 1 else 'are'} {n} {what}, too few for {n_folds} folds; {advice}")


def _refuse_no_pair(n_pairs: int, split: Split) -> None:
    if n_pairs == 0:
        raise ValueError(
            f"there is no pair to learn from in the training part of fold {split.fold} of repeat {split.repeat} "
            f"({len(split.train)} rows); there may be too few groups with a pair, or rows with a rare grade"
        )


def _stream(seed: int, repeat: int) -> np.random.Generator:
    """Return the random numbers of one repeat, which do not depend on how many repeats there are."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(repeat,)))


def _by_appearance(group: Ints) -> Ints:
    """Return group numbers in the order of first rows, so that splits do not depend on what the ids look like."""
    _, first, number = np.unique(group, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def _strata(grades: Grades, n_folds: int) -> Ints:
    """Return the number of each row's level, or of its quantile if levels are many or rare; −1: unjudged.

    If rows of a group are dealt out one by one (strata of times), each group has numbers of its own, so that every fold
    gets some rows of it.
    """
    count = np.bincount(grades.level[grades.level >= 0], minlength=1)
    n, n_present = int(count.sum()), int(np.count_nonzero(count))
    number = np.arange(len(count))
    if n_present > _FEW_LEVELS or n_present * n_folds > n:
        n_bins = max(1, min(_QUANTILES, n // (2 * n_folds)))
        middle = np.cumsum(count) - 0.5 * count  # equal grades are in one quantile
        number = np.minimum((n_bins * middle / max(n, 1)).astype(int), n_bins - 1)
    place = number[grades.level]
    if grades.group is not None:
        place = place + (int(number.max(initial=0)) + 1) * grades.group.astype(np.int64)
    return np.where(grades.level >= 0, place, -1)


def _deal_rows(stratum: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Give rows to folds in turn, stratum by stratum: neither a stratum's nor all rows' shares differ by more than one.

    Returns the fold of each row; −1 for rows without a stratum.
    """
    fold_of = np.full(len(stratum), -1)
    shuffled = rng.permutation(np.flatnonzero(stratum >= 0))
    in_turn = shuffled[np.argsort(stratum[shuffled], kind="stable")]
    fold_of[in_turn] = rng.permutation(n_folds)[np.arange(len(in_turn)) % n_folds]
    return fold_of


def _deal_groups(size: Ints, first: Bools, n_folds: int, rng: np.random.Generator) -> Ints:
    """Give each group to the fold with the fewest rows so far; those named in ``first`` come first.

    The order is random, except that groups of more than a quarter of a fold come before smaller ones: a large group
    that came last would upset the balance.
    """
    step = size.sum() / (4 * n_folds)
    shuffled = rng.permutation(len(size))
    by_size = np.lexsort((-(size[shuffled] // step), ~first[shuffled]))  # stable: equals stay shuffled
    fold_of = np.empty(len(size), dtype=np.int64)
    lightest = [(0, int(place), int(fold)) for place, fold in enumerate(rng.permutation(n_folds))]
    heapify(lightest)
    for group in shuffled[by_size].tolist():
        rows, place, fold = lightest[0]
        fold_of[group] = fold
        heapreplace(lightest, (rows + int(size[group]), place, fold))
    return fold_of


def _cut(fold_of: Ints, repeat: int, n_folds: int) -> Iterator[Split]:
    for fold in range(n_folds):
        is_test = fold_of == fold
        yield Split(repeat, fold, np.flatnonzero(~is_test), np.flatnonzero(is_test))
