"""Which pairs next: those whose answers are expected to teach most, in batches that spread over the items."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..standings import Standings
from ..sweeps import Array, Bools, Floats, Ints, one_blas_thread
from .beliefs import Beliefs, believe, places_of
from .gains import OrderGains, answer_table, sign_gains
from .goals import Goal
from .sources import from_model, from_standings

MOST_PAIRED = 1_000
"""Items of which all pairs are looked at; of more, each with neighbours in rating and some further away."""

_MOST_ALONE = 300
"""Items up to which BLAS keeps to one thread."""

_NEAR, _FAR = 12, 12
"""Neighbours of an item that are looked at, and items further away, drawn log-uniformly."""

_WORTH_ASKING = 0.5
"""A round takes pairs that teach this share of the best one, at least; then all are weighed anew."""

_MOST_ROUNDS = 3
"""Of 1,000 items, about; of fewer, so many more as they cost less. A round takes its part of the batch, at least."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs to ask, in the order to ask them.

    Attributes
    ----------
    pairs : list of (left, right)
        Sides are drawn at random.
    random : array of bool
        Which were drawn uniformly: keep this with the vote, as reliability can be told from such votes alone.
    gain : array of float
        What each answer is expected to teach by itself, in bits: of the difference, or, for a goal with
        boundaries, of which items stand above them.
    """

    pairs: list[tuple[str, str]]
    random: Bools
    gain: Floats

    def __len__(self) -> int:
        return len(self.pairs)


def next_pairs(
    known: Any,
    k: int,
    *,
    random_share: float = 0.1,
    exclude: Iterable[Any] = (),
    avoid: Iterable[Any] = (),
    random_state: Any = None,
    goal: str | Goal = "rank",
    top: int | None = None,
    levels: int | None = None,
    min_difference: float = 0.0,
    items: Any = None,
    names: Sequence[Any] | None = None,
    votes: Any = None,
) -> list[tuple[str, str]]:
    """Return the k pairs to ask next, whose answers are expected to teach most.

    An answer teaches its expected information on the difference, ties included; for the top or for levels, that on
    which items stand above the boundaries. Items that no votes link come first, so that nothing stays an island. A
    batch is made in rounds of pairs that share no item; after each, all are weighed as if its answers had come. A share
    of the pairs is drawn uniformly: how reliable a ranking is can be told from these alone.

    Parameters
    ----------
    known : Standings, Beliefs, sequence of names, or fitted model
        What is known of the items: standings, with or without features; what :func:`wellorder.choosing.believe` says;
        names alone, before any vote; or a model, with ``items``.
    k : int
    random_share : float, default=0.1
    exclude : iterable of names and of pairs of names, default=()
        Items and pairs that are not returned at all: what a judge may not see, or has seen.
    avoid : iterable of pairs of names, default=()
        Pairs that are not chosen, but that may be drawn: those asked before. Were they left out of the draw, it would
        be of what the choice had left over.
    random_state : None, int or Generator, optional
        A number gives the same pairs each time; where one asks again and again, hand on one Generator.
    goal : str or Goal, default="rank"
        "rank", "top 10" or "levels 4"; or "top" and "levels" with a number in ``top`` or ``levels``.
    top, levels : int, optional
        Find so many best items; split into so many levels of equal size.
    min_difference : float, default=0
        Ask no pair that is expected to be closer, in log-odds: for judges who are not trained. It binds drawn pairs as
        well.
    items, names : optional
        Beside a fitted model: the features of the items that may be asked about, and what they are called.
    votes : Comparisons, optional
        Beside names or a fitted model: the votes so far; without them, all items are equally in doubt.

    Returns
    -------
    list of (left, right)
        Fewer than k where no more are allowed. Sides are drawn at random.

    See Also
    --------
    wellorder.choosing.choose_pairs : The same, and which pairs were drawn at random.

    Examples
    --------
    >>> import wellorder as wo
    >>> pairs = wo.next_pairs(["milk", "tea", "cocoa", "water"], 3, random_state=0)
    >>> len({name for pair in pairs for name in pair})
    4
    """
    return choose_pairs(
        known,
        k,
        random_share=random_share,
        exclude=exclude,
        avoid=avoid,
        random_state=random_state,
        goal=goal,
        top=top,
        levels=levels,
        min_difference=min_difference,
        items=items,
        names=names,
        votes=votes,
    ).pairs


def choose_pairs(
    known: Any,
    k: int,
    *,
    random_share: float = 0.1,
    exclude: Iterable[Any] = (),
    avoid: Iterable[Any] = (),
    random_state: Any = None,
    goal: str | Goal = "rank",
    top: int | None = None,
    levels: int | None = None,
    min_difference: float = 0.0,
    items: Any = None,
    names: Sequence[Any] | None = None,
    votes: Any = None,
) -> Batch:
    """Return the k pairs to ask next as :func:`wellorder.next_pairs` does, and which of them were drawn at random."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"k={k!r} is no number of pairs; give 1 or more")
    if not 0.0 <= random_share <= 1.0:
        raise ValueError(f"random_share={random_share!r} is no share; give a number from 0 to 1")
    if not 0.0 <= min_difference < np.inf:
        raise ValueError(f"min_difference={min_difference!r} is no difference; give a number from 0 on")
    rng = np.random.default_rng(random_state)
    with one_blas_thread():
        beliefs = _beliefs_of(known, items, names, votes, rng)
    wanted = Goal.of(goal, top, levels)
    wanted.cuts(len(beliefs))
    place_of = {name: place for place, name in enumerate(beliefs.names)}
    allowed = _Allowed(len(beliefs), *_read_excluded(exclude, place_of), _read_excluded(avoid, place_of)[1])
    with one_blas_thread(when=len(beliefs) <= _MOST_ALONE):
        chooser = _Chooser(beliefs, wanted, allowed, min_difference, rng)
        n_random = int(random_share * k + rng.random())
        drawn = chooser.draw(n_random)
        chosen = chooser.choose(k - len(drawn), drawn)
        return _in_order(chooser, drawn, chosen, rng)


def _beliefs_of(known: Any, items: Any, names: Any, votes: Any, rng: np.random.Generator) -> Beliefs:
    if isinstance(known, Beliefs):
        return known
    if isinstance(known, Standings):
        return from_standings(known)
    if hasattr(known, "decision_function"):
        if items is None:
            raise ValueError("a fitted model knows no items; give items=, their features, a row each")
        return from_model(known, items, names, votes, rng)
    if isinstance(known, str) or not isinstance(known, (Sequence, np.ndarray)):
        raise TypeError(
            f"pairs are chosen from standings, beliefs, a list of names, or a fitted model with items=; got {known!r}"
        )
    return believe(list(known), votes, features=items, random_state=rng)


def _in_order(chooser: _Chooser, drawn: Ints, chosen: Ints, rng: np.random.Generator) -> Batch:
    """Put drawn pairs at random places among the chosen ones, the best of which come first; and draw the sides."""
    n = len(drawn) + len(chosen)
    random = np.zeros(n, dtype=bool)
    random[rng.permutation(n)[: len(drawn)]] = True
    code = np.empty(n, np.int64)
    code[random], code[~random] = drawn, chosen
    pairs = chooser.compared(code)
    chooser.kept[:] = 1.0
    turned = rng.random(n) < 0.5
    named = chooser.beliefs.names
    left, right = named[np.where(turned, pairs.b, pairs.a)], named[np.where(turned, pairs.a, pairs.b)]
    return Batch(
        [(str(a), str(b)) for a, b in zip(left, right, strict=True)],
        random & (chooser.min_difference == 0),
        chooser.gains(pairs) / np.log(2.0),
    )


# --------------------------------------------------------------------------------------------------
# What may be asked.


def _read_excluded(given: Iterable[Any], place_of: dict[Any, int]) -> tuple[Ints, Ints]:
    """Return places of items, and codes of pairs."""
    if isinstance(given, str):
        given = (given,)
    items: list[Any] = []
    pairs: list[Any] = []
    for each in given:
        is_pair = isinstance(each, (tuple, list, set, frozenset, np.ndarray))
        if is_pair and len(each) != 2:
            raise ValueError(f"{each!r} is no pair: exclude= takes names of items, and pairs of two names")
        (pairs if is_pair else items).append(each)
    ends = places_of([name for pair in pairs for name in pair], place_of).reshape(-1, 2)
    return places_of(items, place_of), ends.min(axis=1) * len(place_of) + ends.max(axis=1) if len(ends) else ends[:, 0]


class _Allowed:
    """Which pairs may be asked at all, and which may be chosen; a pair a < b has the code a·m + b."""

    def __init__(self, m: int, items: Ints, pairs: Ints, avoided: Ints) -> None:
        self.m = m
        self.open = np.ones(m, dtype=bool)
        self.open[items] = False
        self.pairs = np.unique(pairs)
        self.avoided = np.unique(avoided)

    def may_be_asked(self, code: Ints) -> Bools:
        """Say which pairs may be asked."""
        return np.asarray(self.open[code // self.m] & self.open[code % self.m] & ~_among(code, self.pairs))

    def may_be_chosen(self, code: Ints) -> Bools:
        """Say which pairs may be chosen."""
        return np.asarray(self.may_be_asked(code) & ~_among(code, self.avoided))


def _among(code: Ints, some: Ints) -> Bools:
    """Say which codes are among some that are sorted."""
    if not len(some):
        return np.zeros(len(code), dtype=bool)
    return np.asarray(some[np.minimum(np.searchsorted(some, code), len(some) - 1)] == code)


# --------------------------------------------------------------------------------------------------
# The choice.


class _Chooser:
    """Weighs pairs by what they teach, and again after each round of pairs."""

    def __init__(
        self, beliefs: Beliefs, goal: Goal, allowed: _Allowed, min_difference: float, rng: np.random.Generator
    ) -> None:
        self.beliefs, self.allowed, self.min_difference, self.rng = beliefs, allowed, min_difference, rng
        self.table = answer_table(beliefs.log_nu)
        self.own = beliefs.variances()
        self.kept = np.ones(len(beliefs))
        """What share of its variance each rating keeps after the answers that were supposed so far."""
        self.boundaries = goal.boundaries(beliefs.mean)
        few = goal.kind == "rank" and len(beliefs) <= MOST_PAIRED
        self.of_order = OrderGains(beliefs.mean, beliefs.covariance(), self.table) if few else None

    def compared(self, code: Ints) -> _Believed:
        """Return what is believed of pairs."""
        a, b = code // len(self.beliefs), code % len(self.beliefs)
        variance = self.own[a] + self.own[b] - 2.0 * self.beliefs.covariances(a, b)
        return _Believed(code, a, b, self.beliefs.mean[b] - self.beliefs.mean[a], np.maximum(variance, 1e-12))

    # -- uniformly -----------------------------------------------------------------------------------

    def draw(self, n: int) -> Ints:
        """Draw pairs uniformly from those that may be asked, none twice."""
        m = len(self.beliefs)
        if n and m * (m - 1) // 2 <= _LISTED:
            code = self._open(_all_pairs(m))
            return np.asarray(self.rng.choice(code, min(n, len(code)), replace=False))
        found = np.zeros(0, np.int64)
        for _ in range(_TRIES):
            if len(found) >= n:
                break
            a, b = self.rng.integers(0, m, (2, 2 * n + 16))
            both = np.r_[found, self._open((np.minimum(a, b) * m + np.maximum(a, b))[a != b])]
            found = both[np.sort(np.unique(both, return_index=True)[1])]
        return found[:n]

    def _open(self, code: Ints) -> Ints:
        code = code[self.allowed.may_be_asked(code)]
        return code if self.min_difference == 0 else code[self.compared(code).expected() >= self.min_difference]

    # -- by what they teach --------------------------------------------------------------------------

    def choose(self, n: int, drawn: Ints) -> Ints:
        """Choose n pairs beside those drawn: those that join islands, then those that teach most."""
        if n == 0:
            return np.zeros(0, np.int64)
        code = self._candidates()
        code = code[self.allowed.may_be_chosen(code) & ~_among(code, np.sort(drawn))]
        pairs = self.compared(code)
        if self.min_difference > 0:
            pairs = pairs.some(pairs.expected() >= self.min_difference)
        islands = _Islands(self.beliefs)
        for one in drawn.tolist():
            islands.join(one // len(self.beliefs), one % len(self.beliefs))
        chosen = self._joining(pairs, islands, n)
        if len(chosen) < n:
            pairs = pairs.some(~_among(pairs.code, np.sort(chosen)))
            if len(pairs) > (most := _SHORTLIST * n + 1_024):  # answers make pairs teach less, hardly ever more
                pairs = pairs.some(np.argpartition(-self.worth(pairs), most)[:most])
            chosen = np.r_[chosen, self._teaching(pairs, n - len(chosen))]
        return chosen

    def _candidates(self) -> Ints:
        """Return pairs to look at: all of them, or each item with neighbours in rating and others further away."""
        m = len(self.beliefs)
        if m <= MOST_PAIRED:
            return _all_pairs(m)
        order = np.argsort(self.beliefs.mean + 1e-9 * self.rng.random(m), kind="stable")
        place = np.arange(m)
        near = [(place[:-step], place[step:]) for step in range(1, _NEAR + 1)]
        step = np.exp(self.rng.random((_FAR, m)) * np.log(m)).astype(np.int64)
        far = [(place[fits], (place + each)[fits]) for each in step for fits in [place + each < m]]
        one, other = (order[np.concatenate(ends)] for ends in zip(*near, *far, strict=True))
        return np.unique(np.minimum(one, other) * m + np.maximum(one, other))

    def worth(self, pairs: _Believed) -> Floats:
        """Return what pairs are chosen by: what answers teach of the order where that is at hand, else of their own."""
        return self.gains(pairs) if self.of_order is None else self.of_order.gains(pairs.a, pairs.b)

    def gains(self, pairs: _Believed) -> Floats:
        """Return what an answer on each pair is expected to teach, after the answers that were supposed, in nats."""
        mean, own = self.beliefs.mean, self.own
        variance = self._left(pairs)
        if not len(self.boundaries):
            return self.table.gains(pairs.apart, variance)
        told = self.table.told(pairs.apart, variance)
        share = told / (1.0 + told * variance)
        out = np.zeros(len(pairs))
        for one, other in ((pairs.a, pairs.b), (pairs.b, pairs.a)):
            left, right = self.kept[one] * own[one], self.kept[other] * own[other]
            with_d = 0.5 * (variance + left - right)  # the covariance of the rating and the difference
            lost = np.minimum(with_d**2 * share / left, 1.0)
            for boundary in self.boundaries:
                out += sign_gains((mean[one] - boundary) / np.sqrt(left), lost)
        return out

    def _left(self, pairs: _Believed) -> Floats:
        """Return the variance of differences that the answers supposed so far have left."""
        one, other = self.own[pairs.a], self.own[pairs.b]
        return np.asarray(pairs.variance * (self.kept[pairs.a] * one + self.kept[pairs.b] * other) / (one + other))

    def _suppose(self, pairs: _Believed) -> None:
        """Lower the variances of items as if answers on these pairs, which share no item, had come."""
        if self.of_order is not None:
            self.of_order.suppose(pairs.a, pairs.b)
            return
        variance = self._left(pairs)
        told = self.table.told(pairs.apart, variance)
        share = told / (1.0 + told * variance)
        left = [self.kept[each] * self.own[each] for each in (pairs.a, pairs.b)]
        for one, mine, other in ((pairs.a, left[0], left[1]), (pairs.b, left[1], left[0])):
            with_d = 0.5 * (variance + mine - other)
            self.kept[one] *= np.maximum(1.0 - with_d**2 * share / mine, 1e-6)

    def _joining(self, pairs: _Believed, islands: _Islands, n: int) -> Ints:
        """Choose pairs that join islands, the most telling first, until there is one island; none, with features."""
        chosen: list[int] = []
        pairs = pairs.some(islands.apart(pairs))
        while len(chosen) < n and len(pairs):
            best, _ = self._best_first(pairs, 8 * len(self.beliefs))
            taken = _sharing_none(best, n - len(chosen), islands)
            self._suppose(best.some(taken))
            chosen += best.code[taken].tolist()
            pairs = pairs.some(islands.apart(pairs))
        return np.array(chosen, dtype=np.int64)

    def _teaching(self, pairs: _Believed, n: int) -> Ints:
        """Choose the pairs that teach most, in rounds of pairs that share no item."""
        chosen: list[int] = []
        fewest = int(n / _MOST_ROUNDS * (len(self.beliefs) / MOST_PAIRED) ** 3) if self.of_order is not None else 0
        while len(pairs):
            best, worth = self._best_first(pairs, len(pairs))
            taken = _sharing_none(best, n - len(chosen))
            n_good = int((worth[taken] >= _WORTH_ASKING * worth[0]).sum())
            taken = taken[: max(n_good, fewest)]
            chosen += best.code[taken].tolist()
            if len(chosen) == n:
                break
            self._suppose(best.some(taken))
            pairs = pairs.some(~_among(pairs.code, np.sort(best.code[taken])))
        return np.array(chosen, dtype=np.int64)

    def _best_first(self, pairs: _Believed, most: int) -> tuple[_Believed, Floats]:
        """Return so many pairs, those that teach most first, and what they are worth; ties are broken by lot."""
        worth = self.worth(pairs)
        worth += (1e-9 * worth.max() + 1e-300) * self.rng.random(len(worth))
        some = np.argpartition(-worth, most)[:most] if len(worth) > most else np.arange(len(worth))
        some = some[np.argsort(-worth[some], kind="stable")]
        return pairs.some(some), worth[some]


_LISTED = 1 << 18
"""Pairs up to which all are listed to draw from; of more, pairs are drawn until enough may be asked."""

_TRIES = 50

_SHORTLIST = 32
"""Pairs to a chosen one that are weighed anew in each round."""


def _all_pairs(m: int) -> Ints:
    first, second = np.triu_indices(m, 1)
    return np.asarray(first * m + second)


@dataclass(frozen=True, eq=False)
class _Believed:
    """Pairs a < b with the code a·m + b; by how much b is believed to be above a, and the variance of that."""

    code: Ints
    a: Ints
    b: Ints
    apart: Floats
    variance: Floats

    def __len__(self) -> int:
        return len(self.code)

    def some(self, chosen: Array) -> _Believed:
        """Return some of them, by a mask or by places."""
        return _Believed(self.code[chosen], self.a[chosen], self.b[chosen], self.apart[chosen], self.variance[chosen])

    def expected(self) -> Floats:
        """Return how far apart two are expected to be: E|d|."""
        error = np.sqrt(self.variance)
        z = np.abs(self.apart) / error
        density = np.sqrt(2.0 / np.pi) * np.exp(-0.5 * z**2)
        return np.asarray(error * (density + z * (2.0 * special.ndtr(z) - 1.0)))


class _Islands:
    """Items that votes link, or pairs taken since; with features, which speak of all items, there is one island."""

    def __init__(self, beliefs: Beliefs) -> None:
        self.number = np.zeros(len(beliefs), np.int64) if beliefs.has_features else beliefs.island.copy()

    def apart(self, pairs: _Believed) -> Bools:
        """Say which pairs would join two islands."""
        return np.asarray(self.number[pairs.a] != self.number[pairs.b])

    def join(self, a: int, b: int) -> bool:
        """Join the islands of two items; say whether they were two."""
        one, other = self.number[a], self.number[b]
        if one == other:
            return False
        self.number[self.number == other] = one
        return True


def _sharing_none(pairs: _Believed, most: int, islands: _Islands | None = None) -> Ints:
    """Return the places of pairs, in their order, that share no item; with islands, only pairs that join two."""
    taken: list[int] = []
    used: set[int] = set()
    for place, (a, b) in enumerate(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True)):
        if a in used or b in used or (islands is not None and not islands.join(a, b)):
            continue
        used |= {a, b}
        taken.append(place)
        if len(taken) == most:
            break
    return np.array(taken, dtype=np.int64)
