"""When to stop asking: how near a goal is, whether another answer would tell anything, and how many it may take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..standings import Standings
from ..sweeps import Floats, Ints
from ..writing import counted
from .batches import MOST_PAIRED, choose_pairs
from .beliefs import Beliefs
from .gains import answer_table, sign_entropy
from .goals import Goal
from .sources import from_standings

_DRAWN = 1 << 21
"""Ratings that are drawn in all, about; from 100 to 1,000 draws of each item."""

_PAIRS = 50_000
"""Pairs that stand for all, where there are more items than all pairs of which are looked at."""


@dataclass(frozen=True, eq=False)
class VoteProgress:
    """How far votes have come, and how many more it may take.

    Attributes
    ----------
    goal : Goal
    reached : float
        For ``rank``, the Kendall τ that the ranking is expected to have with the true one; for ``top k``, the chance
        that exactly the right k are on top; for ``levels``, the share of items expected in their level.
    wanted : float
    done : bool
        Whether the goal is reached, or nothing is left to be told.
    votes : int
        So far.
    more, more_low, more_high : float
        Votes still needed, a forecast, and between what they may lie; 0 where it is done.
    gain : float
        What the next answer is expected to teach, in bits; NaN where no pair is left to ask.
    why : str
        In a sentence.
    rank_low, rank_high : arrays of int
        Between which each item's rank lies with a chance of 90 %, in the order of ``beliefs.names``.
    """

    goal: Goal
    reached: float
    wanted: float
    done: bool
    votes: int
    more: float
    more_low: float
    more_high: float
    gain: float
    why: str
    rank_low: Ints
    rank_high: Ints


def progress(
    known: Beliefs | Standings,
    goal: str | Goal = "rank",
    *,
    wanted: float = 0.9,
    widest: float | None = None,
    least_gain: float = 1e-4,
    random_state: Any = 0,
) -> VoteProgress:
    """Say how near a goal is, and whether to stop.

    Parameters
    ----------
    known : Beliefs or Standings
    goal : str or Goal, default="rank"
    wanted : float, default=0.9
        Of Kendall's τ; of the chance that the top is right; of the share of items in their level.
    widest : float, optional
        Stop as well where nine of ten items have a rank known to within so many places.
    least_gain : float, default=0.0001
        Stop as well where no answer is expected to teach more, in bits.
    random_state : None, int or Generator, default=0

    Examples
    --------
    >>> from wellorder.choosing import progress, simulate
    >>> sitting = simulate([0.0, 2.0, 4.0, 6.0], 150, random_state=0)
    >>> progress(sitting.beliefs).done
    True
    """
    if not 0.0 < wanted < 1.0:
        raise ValueError(f"wanted={wanted!r} is not between 0 and 1")
    beliefs = from_standings(known) if isinstance(known, Standings) else known
    wish, rng = Goal.parse(goal), np.random.default_rng(random_state)
    drawn = _draws(beliefs, rng)
    now = reached(beliefs, wish, drawn=drawn)
    best = choose_pairs(beliefs, 1, goal=wish, random_share=0.0, random_state=rng).gain
    gain = float(best[0]) if len(best) else np.nan
    low, high = _rank_ends(drawn)
    width = float(np.quantile(high - low, 0.9))
    narrow = widest is not None and width <= widest
    linked = len(np.unique(beliefs.island)) == 1 or beliefs.has_features
    done = (now >= wanted or narrow or gain < least_gain) and linked
    more = 0.0 if done else forecast(beliefs, wish, wanted, rng)
    if done and now >= wanted:
        why = f"the goal is reached: {_told(wish, now)}"
    elif done and narrow:
        why = f"nine of ten items have a rank known to within {counted(round(width), 'place')}"
    elif done:
        why = f"another answer would hardly tell anything; {_told(wish, now)}"
    else:
        why = _told(wish, now, wanted) if linked else "some items have not been compared with others"
    return VoteProgress(
        wish, now, wanted, done, round(beliefs.n_votes), more, more / _ROUGHLY, more * _ROUGHLY, gain, why, low, high
    )


_ROUGHLY = 2.5
"""By what factor the forecast may be off."""


def _told(goal: Goal, now: float, wanted: float | None = None) -> str:
    """Say what a number reached means, and how much of it is wanted: both on one scale."""
    if goal.kind == "top":
        said = f"with a chance of {now:.0%} exactly the right {goal.size} are on top"
    elif goal.kind == "levels":
        said = f"{now:.0%} of the items are expected to be in their level"
    else:
        said = f"the order is expected to have a Kendall's τ of {now:.2f} with the true one ({_pairs(now)} right)"
        return said if wanted is None else f"{said}; {wanted:.2f} ({_pairs(wanted)}) is wanted"
    return said if wanted is None else f"{said}; {wanted:.0%} is wanted"


def _pairs(tau: float) -> str:
    """Say what a Kendall's τ means."""
    return f"{50 + 50 * tau:.3g}% of pairs"


def reached(beliefs: Beliefs, goal: Goal, *, drawn: Floats | None = None, random_state: Any = 0) -> float:
    """Return how near a goal is, as :class:`VoteProgress` has it."""
    rng = np.random.default_rng(random_state)
    if goal.kind == "rank":
        a, b = _some_pairs(len(beliefs), rng)
        own = beliefs.variances()
        error = np.sqrt(np.maximum(own[a] + own[b] - 2.0 * beliefs.covariances(a, b), 1e-300))
        return float(np.mean(2.0 * special.ndtr(np.abs(beliefs.mean[a] - beliefs.mean[b]) / error) - 1.0))
    drawn = _draws(beliefs, rng) if drawn is None else drawn
    level = goal.level_of(beliefs.mean)
    if goal.kind == "top":
        return float(np.mean(drawn[:, level == 0].min(axis=1) > drawn[:, level == 1].max(axis=1)))
    return float(np.mean(_levels_of(drawn, goal) == level))


def _levels_of(drawn: Floats, goal: Goal) -> Ints:
    """Return the level of each item in each draw."""
    rank = np.empty(drawn.shape, np.int64)
    np.put_along_axis(rank, np.argsort(-drawn, axis=1), np.arange(drawn.shape[1])[None, :], axis=1)
    return np.searchsorted(goal.cuts(drawn.shape[1]), rank, side="right")


def _some_pairs(m: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    if m <= MOST_PAIRED:
        first, second = np.triu_indices(m, 1)
        return np.asarray(first), np.asarray(second)
    first = rng.integers(0, m, _PAIRS)
    return first, (first + rng.integers(1, m, _PAIRS)) % m


def _draws(beliefs: Beliefs, rng: np.random.Generator) -> Floats:
    """Draw ratings, a row a draw."""
    n = int(np.clip(_DRAWN // len(beliefs), 100, 1_000))
    return np.asarray(beliefs.mean + rng.standard_normal((n, beliefs.root.shape[1])) @ beliefs.root.T)


def _rank_ends(drawn: Floats) -> tuple[Ints, Ints]:
    """Return the ranks that an item has in 90 % of the draws."""
    order = np.argsort(-drawn, axis=1)
    rank = np.empty(order.shape, np.int32)
    np.put_along_axis(rank, order, np.arange(1, drawn.shape[1] + 1, dtype=np.int32)[None, :], axis=1)
    rank.sort(axis=0)
    tail = int(0.05 * len(rank))
    return rank[tail].astype(np.int64), rank[len(rank) - 1 - tail].astype(np.int64)


# --------------------------------------------------------------------------------------------------
# How many votes it will take.

_NODES = np.linspace(-5.0, 5.0, 81)[:-1] + 0.0625
_SHARES = np.exp(-0.5 * _NODES**2) / np.exp(-0.5 * _NODES**2).sum()
"""Evenly spaced, and none at 0, where |d| has a kink."""

_N_OUTER, _N_INNER, _N_DOUBTFUL = 64, 64, 200
_FEW_PAIRS = 1_000
_LARGEST = 1e6


def forecast(beliefs: Beliefs, goal: Goal, wanted: float, rng: np.random.Generator) -> float:
    r"""Return about how many more votes reach a goal, if pairs are chosen for it.

    Votes are supposed to raise the precision of items in doubt by a factor c, but of none beyond where it is settled
    which level it is in. An item's precision P grows by :math:`tP/(P + t)` with a vote of information t against an item
    known as well, so that it takes :math:`(c - 1)/(st) + \log c` votes an item, two items a vote, from the variance s
    on. How near the goal is by then is an average over where estimates may move meanwhile. Infinite where no c up to a
    million is enough.
    """
    after = _rank_after(beliefs, rng) if goal.kind == "rank" else _level_after(beliefs, goal, rng)
    if after(_LARGEST) < wanted:
        return float("inf")
    low, high = 0.0, np.log(_LARGEST)
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if after(np.exp(middle)) >= wanted else (middle, high)
    own = beliefs.variances()
    c = np.full(len(own), float(np.exp(high)))
    if goal.kind != "rank":
        away = np.abs(beliefs.mean[:, None] - goal.boundaries(beliefs.mean)).min(axis=1)
        c = np.clip(_SETTLED**2 * own / np.maximum(away, 1e-12) ** 2, 1.0, c)
    told = answer_table(beliefs.log_nu).told(np.zeros(len(own)), 2.0 * own)
    return float(np.ceil(0.5 * ((c - 1.0) / (own * told) + np.log(c)).sum() / _BETTER))


_BETTER = 1.7
"""How many times less it takes than if all items were asked about alike, in sittings with simulated judges."""


_SETTLED = 2.5
"""Standard deviations from the nearest boundary at which an item's level is settled."""


def _doubt(beliefs: Beliefs, goal: Goal) -> Floats:
    """Return how much there is to ask about each item: the entropy of which boundaries it is above."""
    error = np.sqrt(beliefs.variances())
    z = (beliefs.mean[:, None] - goal.boundaries(beliefs.mean)) / error[:, None]
    return np.asarray(sign_entropy(z).sum(axis=1))


def _rank_after(beliefs: Beliefs, rng: np.random.Generator) -> Any:
    a, b = _some_pairs(len(beliefs), rng)
    some = rng.permutation(len(a))[:_FEW_PAIRS]
    a, b = a[some], b[some]
    own = beliefs.variances()
    apart = beliefs.mean[a] - beliefs.mean[b]
    variance = np.maximum(own[a] + own[b] - 2.0 * beliefs.covariances(a, b), 1e-300)

    def after(c: float) -> float:
        moved = apart[:, None] + np.sqrt(variance * (1.0 - 1.0 / c))[:, None] * _NODES
        right = 2.0 * special.ndtr(np.abs(moved) / np.sqrt(variance / c)[:, None]) - 1.0
        return float(np.mean(right @ _SHARES))

    return after


def _level_after(beliefs: Beliefs, goal: Goal, rng: np.random.Generator) -> Any:
    """Of where estimates move, and of the truth about them, some draws; only items in doubt are drawn."""
    doubt = _doubt(beliefs, goal)
    doubtful = np.argsort(-doubt, kind="stable")[:_N_DOUBTFUL]
    mean, error = beliefs.mean[doubtful], np.sqrt(beliefs.variances()[doubtful])
    # what is not in doubt stays where it is
    certain = np.setdiff1d(np.arange(len(beliefs)), doubtful)
    outer = rng.standard_normal((_N_OUTER, len(doubtful)))
    inner = rng.standard_normal((_N_INNER, len(doubtful)))

    def after(c: float) -> float:
        total = 0.0
        rest = beliefs.mean[certain]
        for row in outer:
            moved = mean + error * np.sqrt(1.0 - 1.0 / c) * row
            level = goal.level_of(np.r_[moved, rest])
            truth = np.broadcast_to(rest, (_N_INNER, len(rest)))
            drawn = np.column_stack([moved + error / np.sqrt(c) * inner, truth])
            if goal.kind == "top":
                total += float(np.mean(drawn[:, level == 0].min(axis=1) > drawn[:, level == 1].max(axis=1)))
            else:
                total += float(np.mean(_levels_of(drawn, goal) == level))
        return total / len(outer)

    return after
