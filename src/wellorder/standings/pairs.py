"""Two items at a time: how likely one is really above the other, and on which two a vote tells most."""

from __future__ import annotations

import numpy as np

from ..sweeps import Bools, Floats, Ints
from .likelihood import probabilities
from .standings import Standings
from .sureness import difference_errors


def chances_above(standings: Standings, places: Ints) -> Floats:
    """Return how likely each of some items is really above each other, as ``Standings.probability`` says.

    Parameters
    ----------
    standings : Standings
    places : array of int
        Where the items stand in ``standings.items_``.

    Returns
    -------
    array of shape (n, n)
        NaN where no votes link two items; one half for an item and itself.
    """
    apart, error, same = _differences(standings, places)
    with np.errstate(divide="ignore", invalid="ignore"):
        finite = np.where(error > 0, standings._law().cdf(apart / error), (apart > 0).astype(float))
    deviance = standings._deviance[np.ix_(places, places)]
    half = 0.5 * np.exp(-0.5 * np.abs(deviance))
    across = np.where(deviance > 0, 1.0 - half, half)
    chances = np.where(same, finite, across)
    chances[np.arange(len(places)), np.arange(len(places))] = 0.5
    return np.asarray(chances)


def clearly_above(standings: Standings, places: Ints) -> Bools:
    """Return which of some items clearly stand above which, for all items at once."""
    return np.asarray(standings._above[np.ix_(places, places)])


def order_of(standings: Standings) -> Ints:
    """Return where the items of ``standings.table()`` stand in ``standings.items_``."""
    return standings._order()


def telling_pairs(standings: Standings, most: int) -> list[tuple[str, str]]:
    """Return pairs on which one more vote tells most, each item once.

    Two islands are linked first, by their items with most votes; then items that won or lost everything meet the
    nearest of the others; then it is ½ log(1 + i·v) that decides, with v the variance of the difference of two ratings
    and i what a vote says of it: the less sure and the closer, the more.
    """
    items, votes = standings.items_, standings._tally[:, :3].sum(axis=1)
    island, order = standings.island_, standings._order()
    pairs = []
    home = int(np.flatnonzero(island == 0)[np.argmax(votes[island == 0])])
    for each in range(1, int(island.max(initial=0)) + 1):
        members = np.flatnonzero(island == each)
        pairs.append((int(members[np.argmax(votes[members])]), home))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    for item in order[~standings._core[order]]:
        inside = np.flatnonzero(standings._core & (island == island[item]))
        pairs.append((int(item), int(inside[np.argmin(np.abs(place[inside] - place[item]))])))
    pairs += _by_information(standings, most)
    chosen: list[tuple[int, int]] = []
    used: set[int] = set()
    for a, b in pairs:
        linking = island[a] != island[b]
        if linking or not {a, b} & used:
            chosen.append((a, b) if place[a] < place[b] else (b, a))
            used |= {a, b}
    return [(str(items[a]), str(items[b])) for a, b in chosen[:most]]


def _by_information(standings: Standings, most: int) -> list[tuple[int, int]]:
    """Return the pairs of finite difference by what a vote tells of them: enough to choose so many disjoint ones."""
    apart, error, same = _differences(standings, np.arange(len(standings.items_)))
    first, second = np.nonzero(np.triu(same, 1))
    left, right, _ = probabilities(apart[first, second], standings.log_nu_)
    told = 0.25 * (right + left - (right - left) ** 2)
    gain = np.log1p(told * error[first, second] ** 2)
    enough = 2 * most * len(standings.items_)  # an item is in n − 1 pairs
    best = np.argsort(-gain, kind="stable")[:enough]
    return list(zip(first[best].tolist(), second[best].tolist(), strict=True))


def _differences(standings: Standings, places: Ints) -> tuple[Floats, Floats, Bools]:
    """Return r_a − r_b of some items, its standard error, and whether it is finite."""
    number = standings._class[places]
    ratings = standings.ratings_[places]
    cov = standings.covariance_[np.ix_(places, places)]
    return np.subtract.outer(ratings, ratings), difference_errors(cov, number), number[:, None] == number
