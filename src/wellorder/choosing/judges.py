"""Judges: how they agree, and who answers by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ..order import Comparisons
from ..sweeps import Bools, Floats
from .beliefs import believe
from .trust import _chances, _differences, _names_of, _one_each, some_votes

_N_DRAWN = 4_000

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
    rows = [_check(names, votes, who == each, rng) | {"judge": str(each)} for each in called]
    p_honest = np.array([row["p_honest"] for row in rows])
    rejected = _holm(p_honest, level)
    for row, low in zip(rows, rejected, strict=True):
        row["by_chance"] = bool(low and row["p_chance"] > level)
    columns = ["judge", "votes", "agreement", "expected", "ties", "right", "p_honest", "p_chance", "by_chance"]
    return pl.DataFrame(rows).select(columns).sort("votes", descending=True, maintain_order=True)


def _check(names: list[str], votes: Comparisons, own: Bools, rng: np.random.Generator) -> dict[str, Any]:
    beliefs = believe(names, some_votes(votes, ~own))
    mine = some_votes(votes, own)
    d, _ = _differences(beliefs, mine.left, mine.right)
    outcome = mine.outcome.astype(float)
    decided = outcome != 0
    found = float(outcome @ d)
    # honest: one true set of ratings for all of the judge's votes, as far as the others' votes leave it open
    drawn = (
        rng.standard_normal((_N_DRAWN, beliefs.root.shape[1])) @ (beliefs.root[mine.right] - beliefs.root[mine.left]).T
    )
    sharpness = np.exp(_SHARPNESS * rng.standard_normal((_N_DRAWN, 1)))
    honest = _answers(sharpness * (d + drawn), beliefs.log_nu, rng) @ d
    chances = _chances(d, np.maximum(np.var(drawn, axis=0), 0.0), beliefs.log_nu)
    right_way = np.where(d >= 0, chances[:, 2], chances[:, 0]).sum() / np.maximum(1.0 - chances[:, 1], 1e-12).sum()
    coins = rng.choice([-1.0, 1.0], (_N_DRAWN, len(d))) * decided @ d
    some = max(int(decided.sum()), 1)
    return {
        "votes": len(mine),
        "agreement": float(((outcome * d) > 0).sum() / some) if decided.any() else float("nan"),
        "expected": float(right_way),
        "ties": float(np.mean(~decided)),
        "right": float((outcome == 1).sum() / some) if decided.any() else float("nan"),
        "p_honest": float((1 + (honest <= found).sum()) / (_N_DRAWN + 1)),
        "p_chance": float((1 + (coins >= found).sum()) / (_N_DRAWN + 1)),
    }


def _answers(d: Floats, log_nu: float, rng: np.random.Generator) -> Floats:
    """Draw answers to true differences."""
    half, nu = np.exp(-0.5 * np.abs(d)), np.exp(log_nu)
    total = half**2 + nu * half + 1.0
    lesser = half**2 / total
    place = rng.random(d.shape)
    favoured = np.where(place < lesser, -1.0, np.where(place < lesser + nu * half / total, 0.0, 1.0))
    return np.asarray(favoured * np.where(d >= 0, 1.0, -1.0))


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
