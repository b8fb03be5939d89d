"""Judges: how they agree, and who answers by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..order import Comparisons
from ..sweeps import Bools, Floats
from .beliefs import Beliefs, believe
from .trust import _chances, _differences, _names_of, _one_each, some_votes

_N_DRAWN, _N_FIRST = 4_000, 400
"""Draws, and those that are made first: the others only where a p-value may turn out to be small."""

_STILL = 0.002
"""What factors may move by in beliefs without one judge: they begin with that judge's votes, none of which may linger.

At 0.03 two fifths of their weight do, and honest judges seem to agree with the others 1 % more often than they do.
"""

_SHARPNESS = 0.3
"""How much honest judges differ: the standard deviation of the logarithm of their sharpness."""


def judge_checks(votes: Comparisons, judge: Any, *, level: float = 0.05, random_state: Any = 0) -> pl.DataFrame:
    """Hold each judge's votes against what the others' votes let one believe.

    A judge's agreement is the sum, over decided votes, of the believed difference in favour of the answer.
    ``p_honest`` is how often an honest judge would agree as little, by the model, by how sure the others' ratings are,
    and with a sharpness that differs from theirs by 30 %; ``p_chance`` how often somebody who flips coins would agree
    as much. A judge answers *by chance* where the first is below ``level``, corrected for the number of judges (Holm),
    and the second is not: so few agreeing answers are explained by coins, and not by honesty. Among such honest judges
    somebody is called so with a chance of about ``level`` at most.

    Parameters
    ----------
    votes : Comparisons
    judge : sequence
        Who gave each vote.
    level : float, default=0.05
    random_state : None, int or Generator, default=0

    Returns
    -------
    polars DataFrame
        ``judge``, ``votes``, ``agreement`` (the share of decided votes on the side that the others favour),
        ``expected`` (that of an honest judge), ``ties`` and ``right`` (shares), ``p_honest``, ``p_chance``,
        ``by_chance``.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r} is not between 0 and 1")
    names, rng = _names_of(votes), np.random.default_rng(random_state)
    who = _one_each(judge, len(votes), "judge").astype(str)
    called = np.unique(who)
    if len(called) < 2:
        raise ValueError("there is one judge: nobody else's votes to hold theirs against")
    everything = believe(names, some_votes(votes, np.ones(len(votes), dtype=bool)))
    rows = []
    for each in called:
        others = believe(names, some_votes(votes, who != each), start=everything, still=_STILL)
        rows.append(_check(others, some_votes(votes, who == each), level, rng) | {"judge": str(each)})
    p_honest = np.array([row["p_honest"] for row in rows])
    rejected = _holm(p_honest, level)
    for row, low in zip(rows, rejected, strict=True):
        row["by_chance"] = bool(low and row["p_chance"] > level)
    columns = ["judge", "votes", "agreement", "expected", "ties", "right", "p_honest", "p_chance", "by_chance"]
    return pl.DataFrame(rows).select(columns).sort("votes", descending=True, maintain_order=True)


def _check(others: Beliefs, mine: Comparisons, level: float, rng: np.random.Generator) -> dict[str, Any]:
    """Hold a judge's votes against what the others' let one believe."""
    d, variance = _differences(others, mine.left, mine.right)
    outcome = mine.outcome.astype(float)
    decided = outcome != 0
    chances = _chances(d, variance, others.log_nu)
    right_way = np.where(d >= 0, chances[:, 2], chances[:, 0]).sum() / np.maximum(1.0 - chances[:, 1], 1e-12).sum()
    p_honest, p_chance = _as_little_and_as_much(others, mine, d, _N_FIRST, rng)
    if p_honest <= max(2.0 * level, 0.05):
        p_honest, p_chance = _as_little_and_as_much(others, mine, d, _N_DRAWN, rng)
    some = max(int(decided.sum()), 1)
    return {
        "votes": len(mine),
        "agreement": float(((outcome * d) > 0).sum() / some) if decided.any() else float("nan"),
        "expected": float(right_way),
        "ties": float(np.mean(~decided)),
        "right": float((outcome == 1).sum() / some) if decided.any() else float("nan"),
        "p_honest": p_honest,
        "p_chance": p_chance,
    }


def _as_little_and_as_much(
    others: Beliefs, mine: Comparisons, d: Floats, n: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return how often, of n draws, an honest judge agrees as little as this one, and flipped coins as much."""
    found = float(mine.outcome @ d)
    # honest: one true set of ratings for all of the judge's votes, as far as the others' votes leave it open
    off = rng.standard_normal((n, others.root.shape[1])) @ (others.root[mine.right] - others.root[mine.left]).T
    sharpness = np.exp(_SHARPNESS * rng.standard_normal((n, 1)))
    honest = _answers(sharpness * (d + off), others.log_nu, rng) @ d
    heads = rng.integers(0, 2, (n, len(d)), dtype=np.int8).astype(float)
    coins = (2.0 * heads - 1.0) @ (d * (mine.outcome != 0))
    return float((1 + (honest <= found).sum()) / (n + 1)), float((1 + (coins >= found).sum()) / (n + 1))


def _answers(d: Floats, log_nu: float, rng: np.random.Generator) -> Floats:
    """Draw answers to true differences."""
    half = np.exp(-0.5 * np.abs(d))
    tie = np.exp(log_nu) * half
    lesser = half * half
    place = rng.random(d.shape) * (lesser + tie + 1.0)
    favoured = (place >= lesser).astype(float) + (place >= lesser + tie) - 1.0
    return np.asarray(np.where(d >= 0, favoured, -favoured))


def _holm(p: Floats, level: float) -> Bools:
    """Say which of several p-values are small, at a family-wise level."""
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / (len(p) - np.arange(len(p)))
    out = np.zeros(len(p), dtype=bool)
    out[order] = np.minimum.accumulate(passed)
    return out


@dataclass(frozen=True)
class Agreement:
    """How often two judges give the same answer to a pair.

    Attributes
    ----------
    share : float
        NaN where no pair was judged by two.
    expected_by_chance : float
        If each answer came as often as it does, whatever the pair.
    n_pairs : int
        Pairs that two judges or more have answered.
    """

    share: float
    expected_by_chance: float
    n_pairs: int


def pair_agreement(votes: Comparisons, judge: Any) -> Agreement:
    """Say how often two different judges gave the same answer to the same pair: better, worse, or equal.

    Each pair counts once, by the share of its two answers by different judges that are the same.
    """
    who = np.unique(_one_each(judge, len(votes), "judge").astype(str), return_inverse=True)[1]
    low, high = np.minimum(votes.left, votes.right), np.maximum(votes.left, votes.right)
    answer = np.where(votes.left < votes.right, votes.outcome, -votes.outcome)
    pair = np.unique(low.astype(np.int64) * (int(high.max(initial=0)) + 1) + high, return_inverse=True)[1]
    shares: list[float] = []
    for members in np.split(np.argsort(pair, kind="stable"), np.flatnonzero(np.diff(np.sort(pair))) + 1):
        first, second = np.triu_indices(len(members), 1)
        differ = who[members[first]] != who[members[second]]
        if differ.any():
            same = answer[members[first]] == answer[members[second]]
            shares.append(float(same[differ].mean()))
    tied = float(np.mean(answer == 0)) if len(answer) else np.nan
    by_chance = tied**2 + 0.5 * (1.0 - tied) ** 2  # sides of a pair are numbered by lot
    return Agreement(float(np.mean(shares)) if shares else float("nan"), by_chance, len(shares))
