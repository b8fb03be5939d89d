"""Who is asked what: which pairs are still free, and in which order they are given out. All of it in memory."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from .store import Offer

Pair = tuple[int, int]
"""Two items, the lower number first."""

_TRIES = 64
"""Draws of a random pair, before those that are left are counted."""


@dataclass(frozen=True)
class Handout:
    """What a judge is given.

    Attributes
    ----------
    sides : (left, right) or None
        None if no pair is left for this judge.
    chosen : str
        ``"opening"``, ``"plan"`` or ``"random"``.
    drawn : list of int
        Offers that were planned, and whose pairs were drawn since: they count as drawn from now on.
    """

    sides: tuple[int, int] | None
    chosen: str
    drawn: list[int]


class Desk:
    """Gives out pairs.

    A pair is held by the judges who have it before them or have answered it; those who skipped it hold it no more, and
    never get it again.

    Pairs are drawn from all pairs, whatever has been asked: were they drawn from those that the plan has left over,
    they would be the easy ones. Where a draw meets a pair that was planned, that answer is the one that was to be had:
    its offer counts as drawn, and nobody is asked again.

    Parameters
    ----------
    items : sequence of int
        The numbers of the items to be compared.
    per_pair : int
        How many judges may hold a pair.
    random_share : float
        So many of the pairs are drawn uniformly, whatever the votes say: by these alone one can tell how reliable the
        standings are.
    random : Random
    """

    def __init__(self, items: Sequence[int], *, per_pair: int, random_share: float, random: Random) -> None:
        self._items = list(items)
        self._known = set(items)
        self._per_pair, self._share, self._random = per_pair, random_share, random
        self._plan: deque[Pair] = deque()
        self._planned = "opening"
        self._holders: defaultdict[Pair, set[int]] = defaultdict(set)
        self._seen: defaultdict[int, set[Pair]] = defaultdict(set)
        self._only_planned: defaultdict[Pair, set[int]] = defaultdict(set)

    def follow(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Take these pairs from now on, the first ones first."""
        self._plan = deque(pair for pair in map(_ordered, pairs) if self._known.issuperset(pair))
        self._planned = "plan"

    def begin(self, compared: Iterable[Offer]) -> None:
        """Plan the first pairs: a chain through all items that were never compared, so that soon all hang together."""
        linked = {item for offer in compared for item in offer.pair}
        chain = [item for item in self._items if item not in linked]
        self._random.shuffle(chain)
        if linked & self._known and chain:  # what is new is linked to what is there
            chain.append(self._random.choice(sorted(linked & self._known)))
        links = [_ordered(link) for link in pairwise(chain)]
        self._plan = deque([*links[::2], *links[1::2]])  # every item once, and then again
        self._planned = "opening"

    def give(self, judge: int) -> Handout:
        """Return a pair for a judge, its sides by lot, and how it was chosen."""
        pair: Pair | None = None
        chosen, met = "random", list[int]()
        while pair is None:
            if met or self._random.random() >= self._share:
                pair, chosen = self._next_planned(judge), self._planned
            if pair is None:
                if (pair := self._draw(judge)) is None:
                    return Handout(None, "random", met)
                chosen = "random"
                if not self._is_free(pair, judge):
                    met.append(self._random.choice(sorted(self._only_planned[pair])))
                    self._only_planned[pair].discard(met[-1])
                    pair = None
        return Handout(pair if self._random.random() < 0.5 else (pair[1], pair[0]), chosen, met)

    def hold(self, offer: Offer) -> None:
        """Note that a judge has a pair, or had it and has skipped it."""
        self._seen[offer.judge].add(offer.pair)
        if offer.outcome != "skip":
            self._holders[offer.pair].add(offer.judge)
            if offer.chosen == "plan":
                self._only_planned[offer.pair].add(offer.number)

    def let_go(self, offer: Offer) -> None:
        """Note that a judge has skipped a pair: others may have it."""
        self._holders[offer.pair].discard(offer.judge)
        self._only_planned[offer.pair].discard(offer.number)

    def is_taken(self, pair: Pair) -> bool:
        """Say whether as many judges hold a pair as may."""
        return len(self._holders.get(pair, ())) >= self._per_pair

    def _is_free(self, pair: Pair, judge: int) -> bool:
        return pair not in self._seen[judge] and not self.is_taken(pair)

    def _next_planned(self, judge: int) -> Pair | None:
        while self._plan and self.is_taken(self._plan[0]):
            self._plan.popleft()
        return next((pair for pair in self._plan if self._is_free(pair, judge)), None)

    def _draw(self, judge: int) -> Pair | None:
        """Draw any of the pairs that are free or were planned, each with the same chance."""
        if len(self._items) < 2:
            return None
        for _ in range(_TRIES):
            pair = _ordered(self._random.sample(self._items, 2))
            if self._may_be_drawn(pair, judge):
                return pair
        # most pairs are gone, so that to look at all of them costs no more than was asked already
        free = [pair for pair in self._all() if self._may_be_drawn(pair, judge)]
        return self._random.choice(free) if free else None

    def _may_be_drawn(self, pair: Pair, judge: int) -> bool:
        return bool(self._only_planned.get(pair)) or self._is_free(pair, judge)

    def _all(self) -> Iterator[Pair]:
        ordered = sorted(self._items)
        return ((low, high) for place, low in enumerate(ordered) for high in ordered[place + 1 :])


def _ordered(pair: Sequence[int]) -> Pair:
    one, other = pair
    return (one, other) if one < other else (other, one)
