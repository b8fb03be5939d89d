"""What Uematsu and Lee (2013) draw their figures from: MovieLens 100K, three normal classes, and how scores relate."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import kendalltau

from ...data import DataError
from ...estimators import SVOR, OrderBoost
from ...losses import Thresholds
from ...order import OrderGraph
from ...sweeps import Array, Floats, Ints

# --------------------------------------------------------------------------------------------------
# MovieLens 100K as 'multipartite ranking' uses it: 97,139 ratings, 44 standardised predictors.
#
# The paper leaves out ratings with incomplete data and those of six unusual users, without naming them. Its counts of
# each rating are those that are left without the two films of unknown genre and without these six users.


_UNKNOWN_FILMS = (267, 1373)
_UNUSUAL_USERS = (13, 181, 405, 445, 655, 774)
COUNTS = (5_039, 10_846, 26_448, 33_842, 20_964)
"""How many ratings of 1 to 5 the paper counts; the same are found here, or the files are others."""

COLUMNS = {
    "age": slice(0, 1),
    "gender": slice(1, 3),
    "occupation": slice(3, 24),
    "year": slice(24, 25),
    "time of year": slice(25, 26),
    "genres": slice(26, 44),
}
"""Where the predictors stand in X."""

_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


class Ratings(NamedTuple):
    """One row a rating."""

    X: Floats
    """Age, gender (2), occupation (21), release year and time of year, genres (18); standardised."""
    rating: Array
    year: Floats | None = None
    """The release year as it is."""


def read_ratings(folder: Path) -> Ratings:
    """Read the ratings with what is known of user and film, less what the paper leaves out."""
    users, films = _users(folder / "u.user"), _films(folder / "u.item")
    path = folder / "u.data.gz"
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            user, film, rating, _ = np.loadtxt(lines, dtype=np.int64, delimiter="\t", unpack=True)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from None
    kept = ~np.isin(film, _UNKNOWN_FILMS) & ~np.isin(user, _UNUSUAL_USERS)
    user, film, rating = user[kept], film[kept], rating[kept]
    counts = tuple(np.bincount(rating, minlength=6)[1:].tolist())
    if counts != COUNTS:
        raise DataError(str(path), f"has {counts} ratings of 1 to 5, and the paper {COUNTS}; is it MovieLens 100K?")
    X = np.hstack([users[user], films[film]])
    return Ratings(standardised(X), rating, X[:, COLUMNS["year"]].ravel())


def standardised(X: Floats) -> Floats:
    """Return columns of mean zero and deviation one."""
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def _users(path: Path) -> Floats:
    """Return age, gender and occupation by user number."""
    fields = _fields(path, 5)
    occupations = sorted({line[3] for line in fields})
    out = np.zeros((len(fields) + 1, 3 + len(occupations)))
    for number, age, gender, occupation, _ in fields:
        row = out[int(number)]
        row[0] = float(age)
        row[1 if gender == "F" else 2] = 1.0
        row[3 + occupations.index(occupation)] = 1.0
    return out


def _films(path: Path) -> Floats:
    """Return release year, time of year and genres (but 'unknown') by film number."""
    fields = _fields(path, 24)
    out = np.zeros((len(fields) + 1, 2 + 18))
    for line in fields:
        row = out[int(line[0])]
        if line[2]:
            day, month, year = line[2].split("-")
            row[:2] = float(year), _MONTHS.index(month) / 3 + float(day) / 31.0
        row[2:] = [float(flag) for flag in line[6:]]
    return out


def _fields(path: Path, n: int) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="latin-1").removesuffix("\n").split("\n")
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    fields = [line.split("|") for line in lines]
    for number, each in enumerate(fields, 1):
        if len(each) != n:
            raise DataError(str(path), f"line {number} has {len(each)} fields, not {n}")
    return fields


# --------------------------------------------------------------------------------------------------
# Figure 1 of 'multipartite ranking': five methods on three normal classes, beside what theory says they tend to.


GRID = np.linspace(-3.0, 3.0, 241)
_INNER = np.abs(GRID) <= 2.5

BOOSTED = ("pairs", "orboost", "proportional_odds")
SVORS: dict[str, Thresholds] = {"svor": "all", "svor immediate": "immediate"}
"""Chu and Keerthi's implicit constraints, which the paper's Figure 1 shows, and Shashua and Levin's."""


@dataclass(frozen=True)
class TheoryCurve:
    """One method's score over the grid, and theory's."""

    estimate: Floats
    theory: Floats
    thresholds: Floats
    """Those of an ordinal model, the last one at zero (SVOR's as they are); else none."""
    score: Callable[[Floats], Floats]
    """The method's scores of other rows."""

    @property
    def error(self) -> float:
        """The largest distance from theory on [−2.5, 2.5], as a share of theory's range there, but for a constant."""
        apart = (self.estimate - self.theory)[_INNER]
        return float(0.5 * np.ptp(apart) / np.ptp(self.theory[_INNER]))

    @property
    def tau(self) -> float:
        """Kendall's tau of the scores and x over the grid: 1 where they rise all the way."""
        return float(kendalltau(GRID, self.estimate).statistic)


def draw(rng: np.random.Generator, n_each: int = 500) -> tuple[Floats, Array]:
    """Draw X | Y = k ~ N(2 (k − 2), 1), as many of each class."""
    y = np.repeat([1, 2, 3], n_each)
    return (rng.standard_normal(len(y)) + 2.0 * (y - 2))[:, None], y


def simulate(seed: int = 0, n_each: int = 500, methods: Sequence[str] = (*BOOSTED, *SVORS)) -> dict[str, TheoryCurve]:
    """Fit the methods of Figure 1; rounds are chosen on a second sample of the same size."""
    rng = np.random.default_rng(seed)
    (X, y), (X_val, y_val) = draw(rng, n_each), draw(rng, n_each)
    scale = float(X.std())  # bumps are as wide as sigma² = 0.5 on x itself, not on x standardised
    curves = {}
    for name in methods:
        if name in SVORS:
            curves[name] = _stepping(SVOR(C=10.0, kernel="rbf", gamma=1.0, thresholds=SVORS[name]).fit(X, y))
            continue
        model = OrderBoost(name, width=0.5 / scale**2).fit(X, y, X_val=X_val, y_val=y_val)
        found = getattr(model, "thresholds_", np.zeros(0))
        at = found - found[-1] if len(found) else found
        estimate = model.decision_function(GRID[:, None])
        curves[name] = TheoryCurve(_centred(estimate), _centred(_THEORIES[name](at)), at, model.decision_function)
    return curves


def _stepping(model: SVOR) -> TheoryCurve:
    """Set a fitted SVOR beside the step function that its thresholds stand for."""
    theory = step_function(GRID, model.thresholds_, model.thresholds)
    return TheoryCurve(model.decision_function(GRID[:, None]), theory, model.thresholds_, model.decision_function)


def step_function(x: Floats, thresholds: Floats, kind: str) -> Floats:
    """Return what SVOR tends to: section 4.3 of the paper, for thresholds of Figure 1's three classes.

    "all" steps where f0* is ½, 1 and 2. "immediate" steps where (1 − 2 p1)/p2 is 0, 1 and 2, and where its
    thresholds have crossed, at 1 alone.
    """
    low, high = thresholds
    heights = np.sort([low - 1.0, low + 1.0, high - 1.0, high + 1.0])
    if kind == "all":
        return np.asarray(heights[np.searchsorted(STEPS, ratio(x))])
    rises = median_ratio(x)
    if low > high:
        return np.asarray(np.where(rises < 1.0, low - 1.0, high + 1.0))
    return np.asarray(heights[np.searchsorted(MEDIAN_STEPS, rises)])


STEPS = np.array([0.5, 1.0, 2.0])
MEDIAN_STEPS = np.array([0.0, 1.0, 2.0])
"""Where the two ratios let SVOR's step functions rise."""


def crossings(x: Floats, scores: Floats, heights: Floats) -> list[float]:
    """Return where scores that rise with x first pass halfway from each height to the next."""
    middles = 0.5 * (heights[:-1] + heights[1:])
    return [float(x[np.argmax(scores >= middle)]) for middle in middles]


def ratio(x: Floats) -> Floats:
    """Return f0*(x) = (p2 + p3) / (p1 + p2) at unit costs."""
    return np.asarray((np.exp(2 * x) + np.exp(2)) / (np.exp(-2 * x) + np.exp(2)))


def median_ratio(x: Floats) -> Floats:
    """Return r(x) = (1 − 2 p1) / p2, which goes with the median of Y given x: Shashua and Levin's."""
    return np.asarray(1.0 + np.exp(2 * x - 2) - np.exp(-2 * x - 2))


def proportional_odds_score(f0: Floats, theta: float) -> Floats:
    """Return what proportional odds tends to, for a ratio f0* and thresholds (theta, 0): the paper's equation (8)."""
    return np.asarray(np.log(0.5 * (f0 - 1 + np.sqrt((f0 - 1) ** 2 + 4 * np.exp(theta) * f0))))


def _pairs(_: Floats) -> Floats:
    return np.asarray(0.5 * np.log(ratio(GRID)))


def _orboost(theta: Floats) -> Floats:
    return np.asarray(
        0.5 * np.log((np.exp(2 * GRID) + np.exp(2 + theta[0])) / (np.exp(-2 * GRID - theta[0]) + np.exp(2)))
    )


def _odds(theta: Floats) -> Floats:
    return proportional_odds_score(ratio(GRID), float(theta[0]))


_THEORIES: dict[str, Callable[[Floats], Floats]] = {
    "pairs": _pairs,
    "orboost": _orboost,
    "proportional_odds": _odds,
}


def _centred(curve: Floats) -> Floats:
    return np.asarray(curve - curve.mean())


# --------------------------------------------------------------------------------------------------
# Figure 2 of 'multipartite ranking': what methods order by, as functions of the probabilities of three classes.


def contours(p1: Floats, p2: Floats) -> dict[str, Floats]:
    """Return the three ratios, each squashed to a bounded range, so that colours are not spent on the corners."""
    p3 = 1.0 - p1 - p2
    return {
        "(p₂ + p₃)/(p₁ + p₂)": _squashed((p2 + p3) / (p1 + p2)),
        "(p₂ + 2p₃)/(2p₁ + p₂)": _squashed((p2 + 2 * p3) / (2 * p1 + p2)),
        "(1 − 2p₁)/p₂ (Shashua, Levin)": np.asarray(np.arctan((1 - 2 * p1) / p2)),
    }


def _squashed(share: Floats) -> Floats:
    return np.asarray((share - 1.0) / (share + 1.0))


# --------------------------------------------------------------------------------------------------
# Figures 3 and 4 of 'multipartite ranking': how the scores of different methods on MovieLens relate.


_WIDTH = 22.0
"""σ² of SVOR's kernel: 0.5 for each of the 44 columns."""

SVOR_COST = 500.0
"""The paper's C."""

COSTS = (1.0, 2.0, 5.0, 10.0)
"""Of c_13 in Figure 4."""


@dataclass(frozen=True)
class Relation:
    """The scores of one method against those of pairwise ranking, and the line that theory draws."""

    title: str
    pairs: Floats
    """Scores of pairwise ranking with the cost that makes the two correspond, shifted to lie on theory's line."""
    scores: Floats
    line: tuple[Floats, Floats] | None
    """Theory's relation: pairwise score, the other's; None where it is a step function."""

    @property
    def tau(self) -> float:
        """Kendall's tau of the two."""
        return float(kendalltau(self.pairs, self.scores).statistic)

    @property
    def error(self) -> float:
        """The root mean square distance from theory's line, as a share of the scores' deviation."""
        if self.line is None:
            return float("nan")
        apart = self.scores - np.interp(self.pairs, *self.line)
        return float(np.sqrt(np.mean(apart**2)) / self.scores.std())


@dataclass(frozen=True)
class Relations:
    """What one sample of three categories gave."""

    against: dict[str, Relation]
    """Figure 3."""
    by_cost: dict[float, Floats]
    """Figure 4: centred scores of pairwise ranking for each c_13."""
    thresholds: dict[str, Floats]


def three_categories(ratings: Ratings, seed: int, n_rows: int = 3_000) -> tuple[Ints, Ints, Ints]:
    """Return ratings of 1 to 3, 4 and 5 as 1, 2 and 3, and the rows of a drawn sample and of a second one."""
    category = np.digitize(ratings.rating, [4, 5]) + 1
    drawn = np.random.default_rng(seed).permutation(len(category))[: 2 * n_rows]
    return category, drawn[:n_rows], drawn[n_rows:]


def kernel_svor(C: float) -> SVOR:
    """Return Figure 3's SVOR, solved so exactly that its thresholds are right to the digits shown."""
    return SVOR(C=C, kernel="rbf", gamma=0.5 / _WIDTH, tol=1e-5)


def relate(ratings: Ratings, *, n_estimators: int = 500, n_rows: int = 3_000) -> Relations:
    """Fit the methods on ratings in three categories; rounds are chosen on as many others."""
    category, train, other = three_categories(ratings, 0, n_rows)
    X, y = ratings.X[train], category[train]

    def boost(loss: str, order: OrderGraph | str = "full") -> OrderBoost:
        model = OrderBoost(loss, order=order, n_estimators=n_estimators)
        return model.fit(X, y, X_val=ratings.X[other], y_val=category[other])

    def pairwise(c13: float) -> Floats:
        return _centred(boost("pairs", tripartite(c13)).decision_function(X))

    by_cost = {cost: pairwise(cost) for cost in COSTS}
    ordinal = {loss: boost(loss) for loss in ("orboost", "proportional_odds")}
    theta = {loss: float(model.thresholds_[0] - model.thresholds_[1]) for loss, model in ordinal.items()}
    scores = {loss: model.decision_function(X) - model.thresholds_[1] for loss, model in ordinal.items()}
    grade = boost("squared").decision_function(X)
    svor = kernel_svor(SVOR_COST).fit(X, y)
    against = {
        "orboost": _relation("ORBoost", pairwise(float(np.exp(-theta["orboost"]))), scores["orboost"], _same),
        "squared": _relation("regression", by_cost[2.0], grade, _regression),
        "proportional_odds": _relation(
            "proportional odds",
            by_cost[1.0],
            scores["proportional_odds"],
            lambda pairs: proportional_odds_score(np.exp(2 * pairs), theta["proportional_odds"]),
        ),
        "svor": Relation("SVOR", by_cost[1.0], svor.decision_function(X), None),
    }
    found = {loss: np.array([value, 0.0]) for loss, value in theta.items()}
    return Relations(against, by_cost, {**found, "svor": svor.thresholds_})


def tripartite(c13: float) -> OrderGraph:
    """Return the costs c_12 = c_23 = 1 and c_13."""
    return OrderGraph([1, 2, 3], [[0.0, 1.0, c13], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


def _same(pairs: Floats) -> Floats:
    return pairs


def _regression(pairs: Floats) -> Floats:
    """Return the s_r with ½ log (s_r − 1)/(3 − s_r) = pairs."""
    odds = np.exp(2 * pairs)
    return np.asarray((1.0 + 3.0 * odds) / (1.0 + odds))


def _relation(title: str, pairs: Floats, scores: Floats, theory: Callable[[Floats], Floats]) -> Relation:
    """Shift the pairwise scores, which mean nothing up to a constant, so that theory's mean is the scores'."""
    low, high = -20.0, 20.0
    for _ in range(60):  # invariant: theory's mean is below the scores' at `low`, above at `high`
        middle = 0.5 * (low + high)
        if np.mean(theory(pairs + middle)) < scores.mean():
            low = middle
        else:
            high = middle
    shifted = pairs + low
    line = np.linspace(shifted.min(), shifted.max(), 200)
    return Relation(title, shifted, scores, (line, np.asarray(theory(line))))
