"""Ranked lists, all groups at once, with the runs of tied scores inside them.

The metrics of the top of a list take the exact expectation over a random order of tied rows. Inside a
run of m tied rows every row is equally likely at every place, so all they need is a few numbers a run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..order import Grades, check_scores
from ..sweeps import Array, Bools, Floats, Ints, sort_rows, sums_at, sums_before, to_numpy, use_compiled
from .inputs import Empty, read_unweighted, relevant_levels, undefined


@dataclass(frozen=True)
class Retrieved:
    """In place of scores: those of lists that need not hold every judged row, and may hold others.

    A judged row without a score stands nowhere, but counts among the relevant ones and in the best order. A row with a
    score and without a grade takes its place, and is not relevant.
    """

    scores: Floats
    """NaN where a row stands nowhere."""


@dataclass(frozen=True)
class Lists:
    """The rows that have a place, by group, then by descending score; O(n log n) to make."""

    rows: Ints
    """Which row stands where."""
    level: Ints
    """The level number of each place; −1 where a retrieved row was not judged."""
    sizes: Ints
    """How many places each group has, perhaps none."""
    first: Ints
    """The place where each run of equal scores begins."""

    @cached_property
    def group(self) -> Ints:
        """The group of each place."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def begin(self) -> Ints:
        """The first place of each group."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def position(self) -> Ints:
        """Where each place stands in its own list, counted from 1."""
        return np.asarray(np.arange(1, len(self.rows) + 1) - np.repeat(self.begin, self.sizes))

    @cached_property
    def run_size(self) -> Ints:
        """How many rows are tied in each run."""
        return np.diff(self.first, append=len(self.rows))

    @cached_property
    def run_group(self) -> Ints:
        """The group of each run."""
        return self.group[self.first]

    def run_sums(self, values: Array) -> Array:
        """Sum values, one a place, over each run."""
        return np.add.reduceat(values, self.first) if len(self.first) else np.zeros(0)

    def spread(self, of_run: Array) -> Array:
        """Give each place the value of its run."""
        return np.repeat(of_run, self.run_size)

    def before(self, of_run: Array) -> Array:
        """Sum, for each run, over the earlier runs of its group."""
        return sums_before(of_run, np.searchsorted(self.run_group, np.arange(len(self.sizes) + 1)))

    def group_sums(self, values: Floats) -> Floats:
        """Sum values, one a place, over each group."""
        return sums_at(self.group, values, minlength=len(self.sizes))

    def mean(self, name: str, values: Floats, defined: Bools, empty: Empty) -> float:
        """Average over the groups; one where the metric is not defined counts as ``empty``."""
        return mean_of_lists(name, values, defined, self.sizes, empty, depth=3)


def mean_of_lists(name: str, values: Floats, defined: Bools, sizes: Ints, empty: Empty, *, depth: int = 2) -> float:
    """Average over lists that have rows; one where the metric is not defined counts as ``empty``.

    ``depth`` is the number of calls from whoever is warned where nothing is left to average.
    """
    there = sizes > 0
    if empty != "skip":
        values, defined = np.where(defined, values, float(empty)), there
    chosen = values[defined & there]
    if len(chosen) == 0:
        what = f"none of {int(there.sum()):,} queries has a relevant item" if there.any() else "there is no row"
        return undefined(name, what, depth=depth)
    return float(np.mean(chosen))


def make_lists(grades: Grades, scores: Any) -> Lists:
    """Sort the judged rows, or those that were retrieved, by group and descending score, and find the ties."""
    if isinstance(scores, Retrieved):
        placed = ~np.isnan(scores.scores)
        values = np.where(placed, scores.scores, 0.0)
    else:
        placed = grades.level >= 0
        values = to_numpy(check_scores(scores, len(grades)))
    block = grades.group
    if block is None and not placed.all():
        block = np.zeros(len(grades), np.int32)
    if block is not None and not placed.all():
        block = np.where(placed, block, -1).astype(np.int32)
    sizes = np.array([len(grades)]) if block is None else np.bincount(block[placed], minlength=grades.n_groups)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    rows = sort_rows(-values, block, bounds, compiled=use_compiled(len(values)))
    ordered = values[rows]
    opens = np.ones(len(rows), bool)
    opens[1:] = ordered[1:] != ordered[:-1]
    opens[bounds[:-1][sizes > 0]] = True
    return Lists(rows=rows, level=grades.level[rows], sizes=sizes, first=np.flatnonzero(opens))


def judged_lists(name: str, y: Any, scores: Any, groups: Any, positive: Any) -> tuple[Lists, Array, Array]:
    """Return the ranked lists, the relevant rows in each run of ties, and those of each group, with a place or not."""
    grades = read_unweighted(name, y, groups)
    lists, judged = make_lists(grades, scores), grades.level >= 0
    relevant = np.append(relevant_levels(grades, positive) if judged.any() else [], False).astype(bool)  # level −1: not
    hits = lists.run_sums(relevant[lists.level].astype(np.int64))
    group = np.zeros(len(grades), np.int32) if grades.group is None else grades.group
    return lists, hits, np.bincount(group[relevant[grades.level]], minlength=len(lists.sizes))
