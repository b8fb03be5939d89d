"""Expected reciprocal rank: a reader goes down a list and stops at each row with a chance that grows with its grade."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..order import Grades
from ..sweeps import Floats, Ints
from .inputs import Empty, check_cutoff, check_empty, read_unweighted
from .retrieval import Lists, ListValues, list_values, make_lists


def expected_reciprocal_rank(
    y: Any,
    scores: Any,
    groups: Any = None,
    k: int | None = None,
    highest: float | None = None,
    empty: Empty = "skip",
) -> float:
    r"""One over the place where a reader stops: its expectation, averaged over queries (ERR).

    ERR@k = Σ_{p ≤ k} (1/p) R_p Π_{q < p} (1 − R_q) with R = (2^grade − 1) / 2^highest: the chance that a reader who
    has come to a row is satisfied there, and goes no further.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, not negative (places 0, 1, … of the levels if they are text); rows without one are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above. Ties: exact expectation.
    groups : array of shape (n,), optional
        The query of each row.
    k : int, optional
        Look at the first k places only.
    highest : float, optional
        The highest grade that there can be. Unless given, the highest there is: of part of the data, give it.
    empty : "skip" or a number
        What a query in which every grade is zero counts as.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if there is no query to average over.

    References
    ----------
    Chapelle, Metzler, Zhang, Grinspan (2009), Expected reciprocal rank for graded relevance.

    Examples
    --------
    >>> from wellorder.metrics import expected_reciprocal_rank
    >>> expected_reciprocal_rank([0, 1, 2], [0.1, 0.9, 0.5])
    0.53125
    """
    return expected_reciprocal_rank_of(y, scores, groups, k, highest, empty).mean("expected_reciprocal_rank")


def expected_reciprocal_rank_of(
    y: Any,
    scores: Any,
    groups: Any = None,
    k: int | None = None,
    highest: float | None = None,
    empty: Empty = "skip",
) -> ListValues:
    """Return what :func:`expected_reciprocal_rank` is the mean of."""
    check_empty(empty)
    if k is not None:
        check_cutoff(k)
    grades = read_unweighted("expected_reciprocal_rank", y, groups)
    stops = stopping_chances(grades, highest)
    lists = make_lists(grades, scores)
    length = int(np.max(lists.sizes, initial=0)) if k is None else k
    value = np.zeros(len(lists.sizes))
    going_on = np.ones(len(lists.sizes))
    for places, chance in _going_on(lists, stops, length):
        # E[stops at place p] = P(gets to it) − P(gets beyond it)
        group = lists.group[places]
        value[group] += (going_on[group] - chance) / lists.position[places]
        going_on[group] = chance
    best = np.zeros(len(lists.sizes))
    judged = np.flatnonzero(grades.level >= 0)
    group = grades.list_codes
    np.maximum.at(best, group[judged], stops[grades.level[judged]])
    return list_values(np.clip(value, 0.0, 1.0), best > 0, lists.sizes, empty)


def stopping_chances(grades: Grades, highest: float | None) -> Floats:
    """Return R of each level, and none for level −1."""
    values = grades.level_values
    top = float(values.max(initial=0.0)) if highest is None else float(highest)
    if (values < 0).any():
        raise ValueError(f"err needs grades that are not negative, and there is {values.min():g}; shift them")
    if not np.isfinite(top) or (values > top).any():
        raise ValueError(f"highest={top:g} is not the highest grade: there is {values.max(initial=0.0):g}")
    return np.append(np.exp2(values - top) - np.exp2(-top), 0.0)


def _going_on(lists: Lists, stops: Floats, length: int) -> Iterator[tuple[Ints, Floats]]:
    """Yield, place by place, which places of all lists these are and the chance that a reader gets beyond each.

    In a run of ties this is the mean of Π (1 − R) over which of its rows come first.
    """
    stays = 1.0 - stops[lists.level]
    means = np.ones(len(lists.rows))  # of Π (1 − R) over the first rows of a run, up to each place
    for size in np.unique(lists.run_size[lists.first - lists.begin[lists.run_group] < length]).tolist():
        runs = np.flatnonzero(lists.run_size == size)
        of_run = stays[lists.first[runs][:, None] + np.arange(size)]
        means[lists.first[runs][:, None] + np.arange(size)] = _first_means(of_run)
    ends = lists.first + lists.run_size - 1
    whole = means[ends]  # of each run
    before = np.ones(len(ends))
    chance = np.ones(len(lists.sizes))
    run_of = np.repeat(np.arange(len(ends)), lists.run_size)
    for place in range(min(length, int(np.max(lists.sizes, initial=0)))):
        places = (lists.begin + place)[lists.sizes > place]
        run = run_of[places]
        opens = places == lists.first[run]
        before[run[opens]] = chance[lists.group[places[opens]]]
        yield places, before[run] * means[places]
        closes = places == ends[run]
        chance[lists.group[places[closes]]] = before[run[closes]] * whole[run[closes]]


def _first_means(stays: Floats) -> Floats:
    """Return, for each line, the mean of Π over t = 1, …, m entries drawn from its m; nothing is subtracted."""
    n, m = stays.shape
    found = np.zeros((n, m + 1))
    found[:, 0] = 1.0
    for seen in range(1, m + 1):
        # an entry more: it is among t of ``seen`` with probability t/seen
        t = np.arange(1, seen + 1)
        found[:, 1 : seen + 1] = (
            (seen - t) * found[:, 1 : seen + 1] + t * stays[:, seen - 1 : seen] * found[:, :seen]
        ) / seen
    return found[:, 1:]
