"""Two items at a time: how likely one is really above the other, and on which two a vote tells most."""

from __future__ import annotations

import numpy as np
from scipy import special

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
    """Return pairs on which one more vote tells most about the order of the items.

    Two islands are linked first, by their items with most votes; then items that won or lost everything meet the
    nearest of the others, each once. Of all others, those come that are not told apart, by how much less uncertain a
    vote is expected to leave which of the two is above. After each, others are weighed as if some votes on it had come:
    else nearly the same pair would be named again and again.
    """
    items, votes = standings.items_, standings.tally_[:, :3].sum(axis=1)
    island, order = standings.island_, standings._order()
    pairs = []
    home = int(np.flatnonzero(island == 0)[np.argmax(votes[island == 0])])
    for each in range(1, int(island.max(initial=0)) + 1):
        members = np.flatnonzero(island == each)
        pairs.append((int(members[np.argmax(votes[members])]), home))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    used: set[int] = set()
    for item in order[~standings._core[order]].tolist():
        inside = np.flatnonzero(standings._core & (island == island[item]))
        nearest = int(inside[np.argmin(np.abs(place[inside] - place[item]))])
        if item not in used:
            pairs.append((item, nearest))
        used |= {item, nearest}
    pairs += _about_the_order(standings, max(most - len(pairs), 0))
    ordered = [(a, b) if place[a] < place[b] else (b, a) for a, b in pairs[:most]]
    return [(str(items[a]), str(items[b])) for a, b in ordered]


_BATCH = 10.0
"""Votes that are supposed to come on a pair, before the next one is chosen."""

_SHORTLIST = 2_000
"""Pairs that are weighed anew each time."""

_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(9)


def _about_the_order(standings: Standings, most: int) -> list[tuple[int, int]]:
    """Return pairs of finite difference that are not told apart, by what a vote tells of which is above."""
    apart, error, same = _differences(standings, np.arange(len(standings.items_)))
    open_ = same & ~standings._above & ~standings._above.T
    first, second = np.nonzero(np.triu(open_, 1))
    gain, _ = _gains(apart[first, second], error[first, second] ** 2, standings.log_nu_)
    best = np.argsort(-gain, kind="stable")[:_SHORTLIST]
    first, second = first[best], second[best]
    lead, cov = apart[first, second], standings.covariance_[: len(apart), : len(apart)].copy()
    chosen: list[tuple[int, int]] = []
    left = np.ones(len(first), dtype=bool)
    while len(chosen) < most and left.any():
        variance = cov[first, first] + cov[second, second] - 2.0 * cov[first, second]
        gain, told = _gains(lead, np.maximum(variance, 0.0), standings.log_nu_)
        k = int(np.argmax(np.where(left, gain, -1.0)))
        chosen.append((int(first[k]), int(second[k])))
        left[k] = False
        way = cov[first[k]] - cov[second[k]]
        cov -= np.outer(way, way) * (_BATCH * told[k] / (1.0 + _BATCH * told[k] * variance[k]))
    return chosen


def _gains(apart: Floats, variance: Floats, log_nu: Floats) -> tuple[Floats, Floats]:
    """Return by how much one vote lowers the entropy of which of two is above, and its information on the difference.

    A difference is normal, with this mean and variance. A vote of information i leaves v/(1 + iv) of the variance v,
    and the mean moves by as much as the variance is less.
    """
    shares = _SHARES / _SHARES.sum()
    error = np.sqrt(variance)
    told = np.zeros(len(apart))
    for node, share in zip(_NODES, shares, strict=True):
        left, right, _ = probabilities(apart + node * error, log_nu)
        told += share * 0.25 * (right + left - (right - left) ** 2)
    after = variance / (1.0 + told * variance)
    moves = np.sqrt(variance - after)
    gain = _entropy(apart, error)
    for node, share in zip(_NODES, shares, strict=True):
        gain -= share * _entropy(apart + node * moves, np.sqrt(after))
    return gain, told


def _entropy(mean: Floats, error: Floats) -> Floats:
    """Return the entropy of the sign of a normal number."""
    p = special.ndtr(mean / np.maximum(error, 1e-300))
    return np.asarray(special.entr(p) + special.entr(1.0 - p))


def _differences(standings: Standings, places: Ints) -> tuple[Floats, Floats, Bools]:
    """Return r_a − r_b of some items, its standard error, and whether it is finite."""
    number = standings._class[places]
    ratings = standings.ratings_[places]
    cov = standings.covariance_[np.ix_(places, places)]
    return np.subtract.outer(ratings, ratings), difference_errors(cov, number), number[:, None] == number
