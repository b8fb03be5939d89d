"""Votes on numbered items, with what differs from right to left beside the items, and who gave them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..sweeps import Array, Bools, Floats, Ints

DECIDED = -1
"""The kind of tie of a vote that is none."""

_DENSE = 1 << 22
"""Keys below this are counted in a table; beyond, they are sorted."""

_FEW = 64
"""Values of a control that are looked for: votes with other controls are hardly ever equal."""


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes on numbered items; equal ones may stand as one with a weight.

    Attributes
    ----------
    left, right : arrays of shape (n,)
    outcome : array of shape (n,)
        −1: the left one is better, 0: a tie, 1: the right one.
    kind : array of shape (n,)
        Which kind of tie: 0, or 1 where 'both bad' is an outcome of its own; −1 where the vote was decided.
    weight : array of shape (n,)
        How many votes stand here, or what one counts.
    square : array of shape (n,)
        The sum of the squared weights of the votes that stand here as one: ``weight`` itself where each counts one.
    z : array of shape (n, n_effects)
        What differs from right to left beside the items; a 1 for the side.
    n_items : int
    n_kinds : int
    judge : array of shape (n,), or None
        Who gave the vote.
    stands : array of shape (n,), or None
        With judges: 1 where a judge's own side counts, 0 on neutral ground.
    """

    left: Ints
    right: Ints
    outcome: Ints
    kind: Ints
    weight: Floats
    square: Floats
    z: Floats
    n_items: int
    n_kinds: int = 1
    judge: Ints | None = None
    stands: Floats | None = None

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def n_effects(self) -> int:
        """The number of effects."""
        return int(self.z.shape[1])

    @property
    def n_parameters(self) -> int:
        """Ratings, effects, and one log ν a kind of tie."""
        return self.n_items + self.n_effects + self.n_kinds

    @cached_property
    def n_judges(self) -> int:
        """The number of judges."""
        return 0 if self.judge is None else int(self.judge.max(initial=-1)) + 1

    @cached_property
    def fitted(self) -> Bools:
        """Which parameters are fitted: all, but for log ν of a kind of tie that never came."""
        tied = self.kind != DECIDED
        seen = add_up(self.kind[tied], self.weight[tied], self.n_kinds) > 0
        return np.asarray(np.r_[np.ones(self.n_items + self.n_effects, dtype=bool), seen])

    @cached_property
    def island(self) -> Ints:
        """The number of each item's island: items that votes link; those without a vote are islands of their own."""
        counts = self.weight > 0
        links = sp.coo_array(
            (np.ones(np.count_nonzero(counts)), (self.left[counts], self.right[counts])),
            shape=(self.n_items, self.n_items),
        )
        return np.asarray(connected_components(links, directed=False)[1])

    @cached_property
    def per_item(self) -> Floats:
        """The weight of the votes on each item."""
        return add_up(self.left, self.weight, self.n_items) + add_up(self.right, self.weight, self.n_items)

    def differences(self, theta: Floats) -> Floats:
        """Return d = r_R − r_L + βᵀz of each vote."""
        ratings, beta = theta[: self.n_items], theta[self.n_items : self.n_items + self.n_effects]
        d = ratings[self.right] - ratings[self.left]
        return np.asarray(d + self.z @ beta if len(beta) else d)

    def take(self, places: Array) -> Votes:
        """Return some of the votes."""
        parts = ("left", "right", "outcome", "kind", "weight", "square", "z", "judge", "stands")
        kept: dict[str, Any] = {name: getattr(self, name) for name in parts}
        some: dict[str, Any] = {name: None if part is None else part[places] for name, part in kept.items()}
        return replace(self, **some)


def add_up(place: Ints, values: Floats, n: int) -> Floats:
    """Return the sum of the values at each place, from 0 to n − 1."""
    return np.asarray(np.bincount(place, values, n), dtype=np.float64)


def merge(votes: Votes, *more: Ints) -> tuple[Votes, tuple[Ints, ...]]:
    """Put votes together that have the same items, outcome, effects and judge, and the same number in each of ``more``.

    A million votes on a hundred items are some ten thousand such. Controls that take many values make votes all
    different, and they are returned as they are. Returns the votes, and the numbers.
    """
    keys = [votes.left, votes.right, votes.outcome + 1, votes.kind + 1, *more]
    keys += [] if votes.judge is None else [votes.judge]
    for column in [*votes.z.T, *([] if votes.stands is None else [votes.stands])]:
        number = _few_values(column)
        if number is None:
            return votes, more
        keys.append(number)
    flat = np.zeros(len(votes), np.int64)
    span = 1
    for key in keys:
        width = int(key.max(initial=0)) + 1
        if span * width >= 2**62:
            return votes, more
        flat, span = flat * width + key, span * width
    first, place = _number(flat, span)
    merged = replace(
        votes.take(first),
        weight=add_up(place, votes.weight, len(first)),
        square=add_up(place, votes.square, len(first)),
    )
    return merged, tuple(each[first] for each in more)


def _few_values(column: Floats) -> Ints | None:
    """Return the number of each value among a column's values, if these are few."""
    if not len(column):
        return np.zeros(0, np.int64)
    if (column == column[0]).all():
        return np.zeros(len(column), np.int64)
    if len(np.unique(column[: 4 * _FEW])) > _FEW:
        return None
    values, number = np.unique(column, return_inverse=True)
    return number if len(values) <= _FEW else None


def _number(flat: Ints, span: int) -> tuple[Ints, Ints]:
    """Return where each distinct key stands first, and each key's number among them."""
    if span > _DENSE:
        _, first, place = np.unique(flat, return_index=True, return_inverse=True)
        return first, place
    first_of = np.full(span, len(flat))
    first_of[flat[::-1]] = np.arange(len(flat))[::-1]  # written last, so that it stays: the first of its key
    used = np.flatnonzero(first_of < len(flat))
    number_of = np.zeros(span, np.int64)
    number_of[used] = np.arange(len(used))
    return first_of[used], number_of[flat]
