r"""How far a ranking can be trusted, from the votes on pairs that were drawn uniformly.

Votes on chosen pairs cannot say: who wins meets winners next, so that estimates spread further than the truth, and what
is made of that spread is too high. Votes on drawn pairs are held against ratings from all the others instead. If the
true difference is b times the believed one, and a rest of its variance,

.. math:: \rho^2 = \frac{b^2 V}{b^2 V + s}

is the squared correlation of ratings with the truth: V is the variance of the ratings, s their mean squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..losses import outcome_shares
from ..order import Comparisons
from ..standings import rate
from ..sweeps import Array, Bools, Floats, Ints
from .beliefs import Beliefs, believe

_FEWEST = 20
"""Drawn votes without which nothing is said."""

_N_SPLITS = 10
_SLOPES = np.linspace(-1.0, 4.0, 251)
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, eq=False)
class VoteReliability:
    """How far ratings from votes agree with the truth: a squared correlation.

    Attributes
    ----------
    separation : float
        Scale separation reliability of all votes, told by the drawn ones; NaN where these are too few.
    low, high : float
        Between what it lies, with a chance of 90 %.
    split_half : float
        The same from ratings by two halves of the judges on drawn votes alone, stepped up to as many votes as there
        are: what drawn pairs would have reached.
    separation_all : float
        As it is told by all votes, which is too high where pairs were chosen by what was known.
    n_votes, n_random : int
    notes : list of str
    """

    separation: float
    low: float
    high: float
    split_half: float
    separation_all: float
    n_votes: int
    n_random: int
    notes: list[str]


def reliability(votes: Comparisons, random: Any, *, judge: Any = None, random_state: Any = 0) -> VoteReliability:
    """Say how reliable ratings from votes are, by those of them that were on pairs drawn uniformly.

    Parameters
    ----------
    votes : Comparisons
        As ``wo.Comparisons.from_names`` makes them.
    random : array of bool
        Which votes were on drawn pairs, as :class:`Batch` says. All of them, where no pairs were chosen.
    judge : sequence, optional
        Who gave each vote: halves are then made of judges.
    random_state : None, int or Generator, default=0
        Of the halves.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.choosing import reliability, simulate
    >>> sitting = simulate(np.linspace(-3, 3, 20), 400, random_share=0.3, random_state=0)
    >>> found = reliability(sitting.votes, sitting.random, judge=sitting.judge)
    >>> found.separation > 0.8
    True
    """
    names = _names_of(votes)
    drawn, rng = _one_each(random, len(votes), "random").astype(bool), np.random.default_rng(random_state)
    who = (
        None if judge is None else np.unique(_one_each(judge, len(votes), "judge").astype(str), return_inverse=True)[1]
    )
    n_random = int(drawn.sum())
    notes: list[str] = []
    separation = low = high = half = np.nan
    if n_random < _FEWEST:
        notes.append(
            f"only {n_random} votes are on pairs drawn at random, and {_FEWEST} are needed to tell reliability"
        )
    else:
        separation, low, high = _held_against(names, votes, drawn)
        half = _split_half(names, votes, drawn, who, rng)
        if who is not None and len(np.unique(who[drawn])) < 2:
            notes.append("there is one judge: halves are made of votes, and say nothing of how judges agree")
    return VoteReliability(separation, low, high, half, _separation_of_all(votes), len(votes), n_random, notes)


def _names_of(votes: Comparisons) -> list[str]:
    if not len(votes):
        raise ValueError("there are no votes")
    if votes.names is not None:
        return [str(name) for name in votes.names]
    return [str(each) for each in range(int(max(votes.left.max(), votes.right.max())) + 1)]


def _one_each(given: Any, n: int, what: str) -> Array:
    values = np.asarray(given)
    if values.shape != (n,):
        raise ValueError(f"{what} has the shape {values.shape}, and there are {n:,} votes; give one entry a vote")
    return values


def some_votes(votes: Comparisons, chosen: Bools) -> Comparisons:
    """Return some of the votes, on all of the items."""
    weight = None if votes.weight is None else votes.weight[chosen]
    return Comparisons(votes.left[chosen], votes.right[chosen], votes.outcome[chosen], weight)


def _held_against(names: list[str], votes: Comparisons, drawn: Bools) -> tuple[float, float, float]:
    """Return ρ² by the most likely b, less what its error adds to a curved function of it, and its ends."""
    everything = believe(names, some_votes(votes, np.ones(len(votes), dtype=bool)))
    V, s = _spread_and_error(everything)
    if drawn.all():  # nothing was chosen: the votes themselves say
        share = V / (V + s)
        error = (1.0 - share) * np.sqrt(2.0 / max(len(names) - 1, 1))  # of a variance of so many ratings
        return share, max(share - 1.645 * error, 0.0), min(share + 1.645 * error, 1.0)
    others = believe(names, some_votes(votes, ~drawn))  # from nothing: what drawn votes say must not linger
    likelihood = _likelihood_of_slopes(others, some_votes(votes, drawn))
    share = likelihood / likelihood.sum()
    b = max(float(_SLOPES[np.argmax(likelihood)]), 0.0)
    variance = float(share @ (_SLOPES - share @ _SLOPES) ** 2)
    ends = _SLOPES[np.minimum(np.searchsorted(np.cumsum(share), [0.05, 0.95]), len(_SLOPES) - 1)]

    def at(slope: float) -> float:
        return max(slope, 0.0) ** 2 * V / (max(slope, 0.0) ** 2 * V + s)

    u = V / s
    bend = 2.0 * u * (1.0 - 3.0 * u * b**2) / (1.0 + u * b**2) ** 3
    return float(np.clip(at(b) - 0.5 * bend * variance, 0.0, 1.0)), at(float(ends[0])), at(float(ends[1]))


def _spread_and_error(beliefs: Beliefs) -> tuple[float, float]:
    """Return the variance of ratings and their mean squared error, a common level apart."""
    covariance_of_level = float(np.square(beliefs.root.mean(axis=0)).sum())
    return float(np.var(beliefs.mean)), float(beliefs.variances().mean()) - covariance_of_level


def _likelihood_of_slopes(beliefs: Beliefs, votes: Comparisons) -> Floats:
    """Return how likely votes are if differences are b times the believed ones, errors aside, for each b."""
    d, variance = _differences(beliefs, votes.left, votes.right)
    logs = np.empty(len(_SLOPES))
    for place, b in enumerate(_SLOPES):
        logs[place] = np.log(_chances(b * d, variance, beliefs.log_nu)[np.arange(len(d)), votes.outcome + 1]).sum()
    return np.asarray(np.exp(logs - logs.max()))


def _differences(beliefs: Beliefs, left: Ints, right: Ints) -> tuple[Floats, Floats]:
    own = beliefs.variances()
    variance = own[left] + own[right] - 2.0 * beliefs.covariances(left, right)
    return beliefs.mean[right] - beliefs.mean[left], np.maximum(variance, 0.0)


def _chances(mean: Floats, variance: Floats, log_nu: float) -> Floats:
    """Return P(left), P(tie) and P(right), a line a vote, over where differences may be."""
    d = mean[:, None] + np.sqrt(variance)[:, None] * _NODES
    return np.asarray(np.stack(outcome_shares(d, log_nu), axis=1) @ (_SHARES / _SHARES.sum()))


def _split_half(names: list[str], votes: Comparisons, drawn: Bools, who: Ints | None, rng: Any) -> float:
    """Return the mean correlation of ratings from two halves of the drawn votes, stepped up twice."""
    found = []
    together = believe(names, some_votes(votes, drawn))
    judges = np.unique(who[drawn]) if who is not None else np.zeros(0, np.int64)
    for _ in range(_N_SPLITS):
        if who is not None and len(judges) > 1:
            first = drawn & np.isin(who, rng.permutation(judges)[: len(judges) // 2])
        else:
            first = np.zeros(len(votes), dtype=bool)
            first[rng.permutation(np.flatnonzero(drawn))[: drawn.sum() // 2]] = True
        means = [believe(names, some_votes(votes, half), start=together).mean for half in (first, drawn & ~first)]
        if all(np.ptp(each) > 0 for each in means):
            found.append(float(np.corrcoef(means[0], means[1])[0, 1]))
    r = max(float(np.mean(found)), 0.0) if found else np.nan
    r = 2.0 * r / (1.0 + r)
    longer = len(votes) / float(drawn.sum())
    return float(longer * r / (1.0 + (longer - 1.0) * r))


def _separation_of_all(votes: Comparisons) -> float:
    """Return (σ² − mean se²)/σ² of the most likely ratings, finite ones, with σ² the variance of the estimates."""
    table = rate(votes).table()
    finite = np.isfinite(table["rating"].to_numpy()) & (table["island"] == 1).to_numpy()
    rating = table["rating"].to_numpy()[finite]
    error = (table["high"].to_numpy() - table["low"].to_numpy())[finite] / (2.0 * 1.959963984540054)
    known = np.isfinite(error)
    if known.sum() < 3:
        return float("nan")
    spread = float(np.var(rating[known], ddof=1))
    return float((spread - np.mean(error[known] ** 2)) / spread) if spread > 0 else float("nan")
