"""Judges to practise on: they err more on close pairs, tire, lean to a side, call ties, and some answer by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ..losses import outcome_shares
from ..order import Comparisons, as_objects
from ..sweeps import Array, Bools, Floats, Ints
from .batches import choose_pairs
from .beliefs import Beliefs, believe
from .goals import Goal
from .stopping import reached


@dataclass(frozen=True)
class Judge:
    """How somebody judges.

    Attributes
    ----------
    sharpness : float
        What differences are multiplied by: 0 decides by chance, 2 as if things were twice as far apart.
    ties : float
        Davidson's ν: two equals are called so with the chance ν / (2 + ν).
    side : float
        What standing on the right is worth, in log-odds.
    tire : float
        The share of the sharpness that is lost over a sitting of 100 votes, after which the judge comes back rested.
    careless : float
        The share of votes in which left or right is said by chance.
    """

    sharpness: float = 1.0
    ties: float = 0.3
    side: float = 0.0
    tire: float = 0.0
    careless: float = 0.0

    def __post_init__(self) -> None:
        if not (self.sharpness >= 0 and self.ties >= 0 and np.isfinite(self.sharpness + self.ties + self.side)):
            raise ValueError(f"{self} makes no sense: sharpness and ties are numbers from 0 on, side is any number")
        if not (0 <= self.tire < 1 and 0 <= self.careless <= 1):
            raise ValueError(f"{self} makes no sense: tire is a share below 1, and careless is a share")


_SITTING = 100


class SimulatedJudges:
    """Judges who answer by a truth of their own making.

    Parameters
    ----------
    truth : mapping of names to ratings
        In log-odds.
    judges : sequence of Judge, or int
        So many who differ a little: in sharpness by 20 %, leaning by .2; they lose a fifth of it over a sitting.
    random_state : None, int or Generator, optional

    Examples
    --------
    >>> from wellorder.choosing import Judge, SimulatedJudges
    >>> judges = SimulatedJudges({"milk": 0.0, "tea": 9.0}, [Judge()], random_state=0)
    >>> judges.answer("milk", "tea")
    1
    """

    def __init__(
        self, truth: Mapping[str, float], judges: Sequence[Judge] | int = 3, *, random_state: Any = None
    ) -> None:
        self.rng = np.random.default_rng(random_state)
        self.truth = {str(name): float(rating) for name, rating in truth.items()}
        wrong = [name for name, rating in self.truth.items() if not np.isfinite(rating)]
        if len(self.truth) < 2 or wrong:
            named = f"the rating of {wrong[0]!r} is not finite" if wrong else f"there are {len(self.truth)} items"
            raise ValueError(f"the truth should rate two items or more by finite numbers: {named}")
        self.judges = list(judges) if isinstance(judges, Sequence) else self._some(judges)
        if not self.judges:
            raise ValueError("there must be a judge at least")
        self.names = [f"judge {number}" for number in range(1, len(self.judges) + 1)]
        self._given = np.zeros(len(self.judges))

    def _some(self, n: int) -> list[Judge]:
        return [
            Judge(
                float(np.exp(0.2 * self.rng.standard_normal())), side=float(0.2 * self.rng.standard_normal()), tire=0.2
            )
            for _ in range(n)
        ]

    def answer(self, left: str, right: str, judge: int = 0) -> int:
        """Return the answer of a judge, by number: −1 for the left item, 0 for equal, 1 for the right one."""
        return int(self.answers([(left, right)], np.array([judge]))[0])

    def answers(self, pairs: Sequence[tuple[str, str]], judge: Ints) -> Ints:
        """Return the answers to many pairs, one after the other; ``judge`` numbers who gives each."""
        unknown = [name for pair in pairs for name in pair if name not in self.truth]
        if unknown:
            raise ValueError(f"the truth says nothing of {unknown[0]!r}")
        given = self._count(judge)
        of = [self.judges[each] for each in judge.tolist()]
        ratings = np.array([[self.truth[a], self.truth[b]] for a, b in pairs]).reshape(-1, 2)
        sharp = np.array(
            [each.sharpness * (1.0 - each.tire * (n % _SITTING) / _SITTING) for each, n in zip(of, given, strict=True)]
        )
        d = sharp * (ratings[:, 1] - ratings[:, 0]) + np.array([each.side for each in of])
        ties = np.array([each.ties for each in of])
        place, out = self.rng.random(len(of)), np.empty(len(of), np.int64)
        for nu in np.unique(ties):
            some = ties == nu
            with np.errstate(divide="ignore"):
                left, tie, _ = outcome_shares(d[some], float(np.log(nu)))
            out[some] = (place[some] > left).astype(int) + (place[some] > left + tie) - 1
        careless = self.rng.random(len(of)) < np.array([each.careless for each in of])
        return np.where(careless, self.rng.choice([-1, 1], len(of)), out)

    def _count(self, judge: Ints) -> Floats:
        """Return how many votes each judge has given before each of these, and count them."""
        given = np.empty(len(judge))
        for each in np.unique(judge):
            some = judge == each
            given[some] = self._given[each] + np.arange(some.sum())
            self._given[each] += some.sum()
        return given


@dataclass(frozen=True, eq=False)
class Sitting:
    """Votes that were given, and how well they ranked the items along the way.

    Attributes
    ----------
    votes : Comparisons
        With names.
    random : array of bool
        Which votes were on pairs drawn uniformly.
    judge : array of objects
        Who gave each.
    path : polars DataFrame
        After each batch: ``votes``; ``tau`` and ``spearman`` against the truth; ``reached``, how near the goal is, of
        the truth; ``expected``, the same as the votes have it.
    beliefs : Beliefs
        In the end.
    """

    votes: Comparisons
    random: Bools
    judge: Array
    path: pl.DataFrame
    beliefs: Beliefs

    def needed(self, measure: str, value: float) -> int | None:
        """Return after how many votes a column of the path had reached a value for good; None where it has not."""
        short = self.path[measure].to_numpy() < value
        last = int(np.flatnonzero(short)[-1]) + 1 if short.any() else 0
        return None if last == len(short) else int(self.path["votes"][last])


def simulate(
    truth: Mapping[str, float] | Sequence[float],
    n_votes: int,
    *,
    judges: SimulatedJudges | Sequence[Judge] | int = 3,
    batch: int | None = None,
    goal: str | Goal = "rank",
    random_share: float = 0.1,
    features: Any = None,
    until: float | None = None,
    measure: str = "expected",
    random_state: Any = None,
) -> Sitting:
    """Let judges answer one batch of pairs after the other, each chosen by what is known by then.

    Parameters
    ----------
    truth : mapping of names to ratings, or sequence of ratings
        In log-odds.
    n_votes : int
        At most.
    judges : SimulatedJudges, sequence of Judge, or int, default=3
    batch : int, optional
        Votes until pairs are chosen anew; a tenth of the items unless given.
    goal : str or Goal, default="rank"
    random_share : float, default=0.1
        1 draws all pairs uniformly.
    features : array of shape (n_items, n_features), optional
        Of the items: pairs are chosen, and items ranked, with what they say.
    until : float, optional
        Stop where a column of the path has come so far.
    measure : str, default="expected"
        Which one: what the votes let one expect, or ``"reached"`` and others of the truth.
    random_state : None, int or Generator, optional

    Returns
    -------
    Sitting

    Examples
    --------
    >>> from wellorder.choosing import simulate
    >>> sitting = simulate([0.0, 1.0, 2.0, 3.0, 4.0], 100, random_state=0)
    >>> sitting.path["tau"][-1] > 0.7, len(sitting.votes)
    (True, 100)
    """
    rng = np.random.default_rng(random_state)
    if not isinstance(truth, Mapping):
        truth = {f"item {number}": rating for number, rating in enumerate(truth, 1)}
    if n_votes < 1:
        raise ValueError(f"n_votes={n_votes!r} is no number of votes; give 1 or more")
    asked = judges if isinstance(judges, SimulatedJudges) else SimulatedJudges(truth, judges, random_state=rng)
    names, wanted = list(asked.truth), Goal.parse(goal)
    ratings = np.array([asked.truth[name] for name in names])
    size = max(len(names) // 10, 1) if batch is None else batch
    beliefs = believe(names, features=features, random_state=rng)
    given: list[tuple[str, str]] = []
    answers, random, judge = (np.zeros(0, kind) for kind in (np.int64, bool, np.int64))
    path: list[dict[str, float]] = []
    votes = None
    while len(given) < n_votes:
        chosen = choose_pairs(
            beliefs, min(size, n_votes - len(given)), goal=wanted, random_share=random_share, random_state=rng
        )
        who = rng.integers(0, len(asked.judges), len(chosen))
        answers = np.r_[answers, asked.answers(chosen.pairs, who)]
        given += chosen.pairs
        random, judge = np.r_[random, chosen.random], np.r_[judge, who]
        votes = Comparisons.from_names([a for a, _ in given], [b for _, b in given], answers)
        beliefs = believe(names, votes, features=features, start=beliefs, random_state=rng)
        path.append(_how_far(beliefs, ratings, wanted, len(given)))
        if until is not None and path[-1][measure] >= until and np.ptp(beliefs.island) == 0:
            break
    assert votes is not None
    return Sitting(votes, random, as_objects([asked.names[each] for each in judge]), pl.DataFrame(path), beliefs)


def _how_far(beliefs: Beliefs, truth: Floats, goal: Goal, n_votes: int) -> dict[str, float]:
    told = np.ptp(truth) > 0 and np.ptp(beliefs.mean) > 0
    tau = _tau(beliefs.mean, truth)
    rho = float(stats.spearmanr(beliefs.mean, truth).statistic) if told else np.nan
    return {
        "votes": n_votes,
        "tau": tau,
        "spearman": rho,
        "reached": tau if goal.kind == "rank" else _rightly_placed(beliefs.mean, truth, goal),
        "expected": reached(beliefs, goal),
    }


def _tau(mean: Floats, truth: Floats) -> float:
    """Return Kendall's τ over pairs of different truth; items that are believed to be equal are half right."""

    def apart(values: Floats) -> float:
        n = np.unique(values, return_counts=True)[1]
        return float(len(values) * (len(values) - 1) - (n * (n - 1)).sum())

    tau_b = float(stats.kendalltau(mean, truth).statistic)  # over the geometric mean of what differs in either
    return tau_b * np.sqrt(apart(mean) / apart(truth)) if np.ptp(mean) > 0 and np.ptp(truth) > 0 else 0.0


def _rightly_placed(mean: Floats, truth: Floats, goal: Goal) -> float:
    """Return whether the top is right, or the share of items in their level."""
    found, right = (goal.level_of(each) for each in (mean, truth))
    return float((found == right).all() if goal.kind == "top" else (found == right).mean())


@dataclass(frozen=True)
class VotePlan:
    """How many votes it takes to reach a goal, by simulation.

    Attributes
    ----------
    n_items : int
    goal : Goal
    wanted : float
    votes, low, high : float
        The median, and the least and the most, of some simulated sittings; infinite where one did not get there.
    random_votes : float
        The median with pairs that are all drawn at random.
    """

    n_items: int
    goal: Goal
    wanted: float
    votes: float
    low: float
    high: float
    random_votes: float

    def __str__(self) -> str:
        what = {"rank": f"Kendall's τ of {self.wanted:g}", "top": f"the top {self.goal.size} right"}
        aim = what.get(self.goal.kind, f"{self.wanted:.0%} of them in the right one of {self.goal.size} levels")
        many = "more than were tried" if np.isinf(self.votes) else f"about {self.votes:,.0f} ({self._ends()})"
        others = "more than were tried" if np.isinf(self.random_votes) else f"about {self.random_votes:,.0f}"
        return f"{self.n_items:,} items, {aim}: {many} votes on chosen pairs; on random pairs {others}"

    def _ends(self) -> str:
        return f"{self.low:,.0f} to {'more' if np.isinf(self.high) else format(self.high, ',.0f')}"


def plan(
    n_items: int,
    *,
    goal: str | Goal = "rank",
    wanted: float = 0.9,
    spread: float = 2.0,
    ties: float = 0.3,
    judges: int = 3,
    random_share: float = 0.1,
    most: int | None = None,
    n_draws: int = 5,
    random_state: Any = 0,
) -> VotePlan:
    """Say how many votes it will take, by judges who answer as a truth has it that is drawn anew each time.

    Parameters
    ----------
    n_items : int
    goal : str or Goal, default="rank"
    wanted : float, default=0.9
        Of Kendall's τ with the truth; of the share of items in their level; of the chance, as the votes have it, that
        the top is right.
    spread : float, default=2
        The standard deviation of the true ratings, in log-odds: 1 where judges hardly agree, 4 where they mostly do.
    ties, judges, random_share
        As in :class:`Judge` and :func:`simulate`.
    most : int, optional
        Votes after which a sitting is given up; 100 an item unless given.
    n_draws : int, default=5
    random_state : int, default=0

    Examples
    --------
    >>> from wellorder.choosing import plan
    >>> found = plan(10, wanted=0.7, spread=4.0, n_draws=2)
    >>> found.low <= found.votes <= found.high
    True
    """
    if n_items < 2 or n_draws < 1:
        raise ValueError(f"n_items={n_items!r} and n_draws={n_draws!r} should be 2 and 1 at least")
    if not 0.0 < wanted < 1.0 or not spread > 0.0:
        raise ValueError(f"wanted={wanted!r} should be between 0 and 1, and spread={spread!r} above 0")
    wish = Goal.parse(goal)
    limit = 100 * n_items if most is None else most
    measure = "expected" if wish.kind == "top" else "reached"  # of the truth, the top is right or not: 1 or 0
    seeds = np.random.SeedSequence(random_state).spawn(n_draws)
    found: dict[float, list[float]] = {random_share: [], 1.0: []}
    for share, of_share in found.items():
        for seed in seeds:
            rng = np.random.default_rng(seed)
            truth = dict(zip(map(str, range(n_items)), spread * rng.standard_normal(n_items), strict=True))
            people = SimulatedJudges(truth, judges, random_state=rng)
            people.judges = [replace(each, ties=ties) for each in people.judges]
            size = max(n_items // 5, 1)
            sitting = simulate(
                truth,
                limit,
                judges=people,
                batch=size,
                goal=wish,
                random_share=share,
                until=wanted,
                measure=measure,
                random_state=rng,
            )
            there = sitting.path[measure][-1] >= wanted
            of_share.append(float(len(sitting.votes)) if there else np.inf)
    chosen = found[random_share]
    return VotePlan(
        n_items, wish, wanted, float(np.median(chosen)), min(chosen), max(chosen), float(np.median(found[1.0]))
    )
