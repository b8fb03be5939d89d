"""How well the model of the votes predicts votes that it has not seen: against a coin, and against Elo."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from ..data import ComparisonTable, PairTable
from ..losses import Calibration, calibrate
from ..metrics import VoteValues, parse
from ..order import Comparisons
from ..ratings import Elo
from ..sweeps import Bools, Floats, Ints
from .asking import Asked, Options, ask, predict_pairs
from .features import shrink
from .judges import fit_judges
from .likelihood import information, most_likely, one_thread_if_few, probabilities
from .separation import may_be_infinite
from .standings import Standings
from .sureness import clustered_meat
from .votes import Votes, merge

N_FOLDS = 5

MOST_VOTES = 200_000
"""Of more votes, so many are drawn: the log-loss is then known to the third digit and better."""

_WEAK = 0.25
"""How strongly ratings are pulled to zero in a fold where no finite ones fit: about as the stand-ins of an item that
won all of ten votes."""

_STEPS = (2.0, 8.0, 32.0)
"""Elo's K that are tried."""

_ENOUGH = 5_000
"""Votes by which K is chosen."""


@dataclass(frozen=True)
class Gain:
    """By how much the log-loss of something else is above the model's: above zero the model is better."""

    difference: float
    error: float


@dataclass(frozen=True, eq=False)
class FitCheck:
    """How well held-out votes were predicted.

    Attributes
    ----------
    losses : dict
        From "model", "coin" and "elo" to the mean log-loss of a held-out vote; exp(−loss) is the chance that what came
        had been given, in the geometric mean.
    gains : dict
        From "coin" and "elo" to the model's :class:`Gain`.
    outcome : array of shape (n,)
        Of the held-out votes: −1, 0 or 1.
    probabilities : array of shape (n, 3)
        What the model had given left, a tie and right.
    n_votes, n_folds : int
        How many votes were held out once, and in how many parts.
    n_all : int
        How many votes there are: more than ``n_votes`` where they were drawn.
    by : str
        What stayed together in the parts: the name of a kind of clusters, or an empty text.
    typical : dict
        From each control to its typical difference, the root mean square.
    k : float
        Elo's K that did best.
    in_order : bool
        Whether votes came one by one, so that Elo saw them in their order.
    n_pulled : int
        In how many parts no finite ratings fitted, so that they were pulled together weakly.
    """

    losses: dict[str, float]
    gains: dict[str, Gain]
    outcome: Ints
    probabilities: Floats
    n_votes: int
    n_folds: int
    n_all: int
    by: str
    typical: dict[str, float]
    k: float
    in_order: bool
    n_pulled: int


def check_fit(
    votes: ComparisonTable | Comparisons, *, n_folds: int = N_FOLDS, seed: int = 0, **options: Any
) -> FitCheck:
    """Predict every vote by a model that was fitted to the others, part by part, and say how well that went.

    Parts are made of whole clusters, of the kind that has most of them, where there are clusters, and of votes else.
    The coin knows how often each outcome comes. Elo sees the training votes in their order, with the K that does best,
    and its differences are made into probabilities of three outcomes with a slope, a weight of ties and a side of their
    own, fitted to how later training votes ended.

    Parameters
    ----------
    votes : ComparisonTable or Comparisons
    n_folds : int, default=5
    seed : int, default=0
        Of the parts, and of the votes that are drawn where there are more than 200,000.
    **options
        As :func:`wellorder.rate` takes them; what only says how results are told (scale, confidence) is left out.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.standings import check_fit
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.integers(0, 3, 400), rng.integers(3, 6, 400)
    >>> found = check_fit(wo.Comparisons(left, right, np.where(rng.random(400) < 0.8, 1, -1)))
    >>> found.losses["model"] < found.losses["coin"], found.n_folds
    (True, 5)
    """
    if n_folds < 2:
        raise ValueError(f"n_folds={n_folds!r} leaves nothing to learn from; give 2 or more")
    told = {name: each for name, each in options.items() if name not in ("scale", "confidence")}
    asked = ask(votes, Options(**told))
    rng = np.random.default_rng(seed)
    drawn, in_order = _one_by_one(asked, told.get("counts"), rng)
    sample, clusters = drawn.votes, drawn.clusters
    if len(sample) < 2:
        raise ValueError("a single vote cannot be held out: nothing is left to learn from")
    fold, by = _folds(drawn, n_folds, rng)
    n_parts = int(fold.max()) + 1
    side = asked.effects.tolist().index("side") if "side" in asked.effects.tolist() else None
    k = _best_step(sample.take(fold != 0), side)
    chances = {name: np.zeros((len(sample), 2 + sample.n_kinds)) for name in ("model", "coin", "elo")}
    n_pulled = 0
    for part in range(n_parts):
        train, test = sample.take(fold != part), sample.take(fold == part)
        with one_thread_if_few(train.n_items):
            chances["model"][fold == part], pulled = _by_model(train, test, asked.X)
        chances["coin"][fold == part] = _by_coin(train, test, side)
        chances["elo"][fold == part] = _by_elo(train, test, k, side)
        n_pulled += pulled
    weight = sample.weight / sample.weight.sum()
    loss = {name: -np.log(np.maximum(_of_what_came(sample, P), 1e-300)) for name, P in chances.items()}
    gains = {name: _gain(loss[name] - loss["model"], weight, clusters) for name in ("coin", "elo")}
    model = chances["model"]
    three = np.column_stack([model[:, 0], model[:, 2:].sum(axis=1), model[:, 1]])
    named = dict(zip(asked.effects.tolist(), asked.unit.tolist(), strict=True))
    return FitCheck(
        {name: float(weight @ each) for name, each in loss.items()},
        gains,
        sample.outcome,
        three,
        len(sample),
        n_parts,
        asked.n_votes,
        by,
        {name: named[name] for name in asked.controls.tolist()},
        k,
        in_order,
        n_pulled,
    )


@dataclass(frozen=True)
class VoteScore:
    """What standings reach on votes by a metric, with an interval; NaN where a metric has none."""

    metric: str
    value: float
    low: float
    high: float


JUDGED_BY = ("comparison_log_loss", "comparison_rps", "swapped_pairs")
"""What standings are judged by on new votes, unless somebody says otherwise."""


def evaluate_votes(
    standings: Standings, votes: ComparisonTable, metrics: Sequence[str] = (), *, confidence: float = 0.95
) -> list[VoteScore]:
    """Judge standings on votes that they were not made from, effects included; intervals take votes for independent.

    Parameters
    ----------
    standings : Standings
    votes : ComparisonTable
        What :func:`wellorder.read` gives of a file of votes on items of the standings, columns of controls included.
    metrics : sequence of str, default=()
        Metrics of comparisons or of their probabilities; log loss, ranked probability score and swapped pairs unless
        given.
    confidence : float, default=0.95

    Examples
    --------
    >>> import polars as pl
    >>> import wellorder as wo
    >>> from wellorder.standings import evaluate_votes
    >>> votes = wo.read(pl.DataFrame({"left": list("abcab"), "right": list("bcacc"), "outcome": [1, -1, 0, 1, 1]}))
    >>> [each.metric for each in evaluate_votes(wo.rate(votes), votes)]
    ['comparison_log_loss', 'comparison_rps', 'swapped_pairs']
    """
    wanted = [parse(each, "comparisons") for each in metrics or JUDGED_BY]
    compared = votes.comparisons
    pairs = PairTable(
        votes.source, votes.items, compared.left, compared.right, columns=votes.columns, places=votes.places
    )
    chances = predict_pairs(standings, pairs)
    tie = chances.select(pl.sum_horizontal(pl.col("^p_tie|p_both_bad$"))).to_series().to_numpy()
    left, right = (chances[name].to_numpy() for name in ("p_left", "p_right"))
    n = len(compared)
    # each vote is on two items of its own, as effects move single votes; the left one scores nothing
    met = Comparisons(np.arange(n), n + np.arange(n), compared.outcome, compared.weight)
    with np.errstate(divide="ignore"):
        scores = np.r_[np.zeros(n), np.log(right) - np.log(left)]
        log_nu = float(np.logaddexp.reduce(standings.log_nu_))
    foretold = np.column_stack([left, tie, right])
    threshold = max(2.0 * log_nu, 0.0)  # a tie is called where it is likelier than either side
    found = []
    for metric in wanted:
        of_chances, parts_of = metric.definition.judges_probabilities, metric.definition.parts
        if parts_of is None:
            found.append(VoteScore(str(metric), float(metric(met, scores, threshold=threshold)), math.nan, math.nan))
            continue
        parts = parts_of(met, foretold) if of_chances else parts_of(met, scores, threshold=threshold)
        if isinstance(parts, VoteValues):
            value, reach = _mean_and_reach(parts, confidence)
        else:  # what came had no chance at all, or nothing was decided
            value, reach = (math.inf if of_chances else math.nan), math.nan
        found.append(VoteScore(str(metric), value, value - reach, value + reach))
    return found


def _mean_and_reach(parts: VoteValues, confidence: float) -> tuple[float, float]:
    """Return a weighted mean, and how far its interval reaches, votes being independent."""
    share = parts.weight / parts.weight.sum()
    mean = float(share @ parts.values)
    rest = share * (parts.values - mean)
    return mean, float(stats.norm.isf((1.0 - confidence) / 2.0) * np.sqrt(rest @ rest))


# --------------------------------------------------------------------------------------------------
# Votes one by one, and the parts they are held out in.


def _one_by_one(asked: Asked, counts: Any, rng: np.random.Generator) -> tuple[Asked, bool]:
    """Unfold rows that stand for several votes, and draw some of many; return whether they stand in an order."""
    votes = asked.votes
    if counts is None:
        row = np.arange(len(votes))
        each = votes.weight
    else:
        n_of_row = np.rint(votes.weight**2 / np.maximum(votes.square, 1e-300)).astype(np.int64)
        row = np.repeat(np.arange(len(votes)), n_of_row)
        each = votes.weight / np.maximum(n_of_row, 1)
    row = row[each[row] > 0]
    if len(row) > MOST_VOTES:
        row = row[np.sort(rng.choice(len(row), MOST_VOTES, replace=False))]
    if counts is not None:
        rng.shuffle(row)
    chosen = replace(votes.take(row), weight=each[row], square=each[row] ** 2)
    return replace(asked, votes=chosen, clusters=[number[row] for number in asked.clusters]), counts is None


def _folds(asked: Asked, n_folds: int, rng: np.random.Generator) -> tuple[Ints, str]:
    """Deal votes, or their clusters, into parts of about the same size."""
    n = len(asked.votes)
    sizes = [len(np.unique(number)) for number in asked.clusters]
    if sizes and max(sizes) > 1:
        chosen = int(np.argmax(sizes))
        number = np.unique(asked.clusters[chosen], return_inverse=True)[1]
        dealt = rng.permutation(np.arange(sizes[chosen]) % min(n_folds, sizes[chosen]))
        return dealt[number], asked.cluster_names[chosen]
    return rng.permutation(np.arange(n) % min(n_folds, n)), ""


# --------------------------------------------------------------------------------------------------
# Who predicts: chances of left, of right, and of each kind of tie.


def _by_model(train: Votes, test: Votes, X: Floats | None) -> tuple[Floats, bool]:
    """Predict by the model itself; return whether ratings had to be pulled together."""
    merged, _ = merge(train)
    pull = np.zeros((train.n_parameters,) * 2) if X is None else shrink(merged, X).pull
    theta, at, converged = most_likely(merged, pull=pull)
    pulled = X is None and may_be_infinite(merged, information(merged, at), converged)
    if pulled:
        free = train.n_items + train.n_effects
        pull[np.arange(free), np.arange(free)] = _WEAK
        theta, at, _ = most_likely(merged, pull=pull)
    own = np.zeros((max(train.n_judges, test.n_judges), 2))
    if merged.judge is not None and not pulled:
        found = fit_judges(merged, theta, pull, how_sure=False)
        theta = found.theta
        own[: len(found.own)] = found.own
    ratings, beta = theta[: train.n_items], theta[train.n_items : train.n_items + train.n_effects]
    linked = train.island[test.left] == train.island[test.right]  # else nothing is known of the two
    d = np.where(linked, ratings[test.right] - ratings[test.left], 0.0) + test.z @ beta
    if test.judge is not None and test.stands is not None:
        lean, log_sharp = own[test.judge].T
        d = np.exp(log_sharp) * (d + lean * test.stands)
    return _chances(d, theta[train.n_items + train.n_effects :], len(train)), pulled


def _by_coin(train: Votes, test: Votes, side: int | None) -> Floats:
    """Predict each outcome as often as it comes; one side is favoured only if that is part of the model."""
    came = np.array([_weight(train, train.outcome == -1), _weight(train, train.outcome == 1)])
    ties = [_weight(train, train.kind == kind) for kind in range(train.n_kinds)]
    if side is None:
        came[:] = came.mean()
    shares = np.r_[came, ties] + 0.5  # what never came may come
    return np.tile(shares / shares.sum(), (len(test), 1))


def _by_elo(train: Votes, test: Votes, k: float, side: int | None) -> Floats:
    elo = Elo(k)
    meaning = _calibrated(train, elo.stream(train.left, train.right, train.outcome).difference, side)
    chances = meaning.probabilities(elo.rating(test.right) - elo.rating(test.left), _sides(test, side))
    return _of_kinds(chances, train)


def _best_step(train: Votes, side: int | None) -> float:
    """Return the K with which later training votes are most likely; the first ones tell."""
    some = train.take(np.arange(min(len(train), _ENOUGH)))

    def likelihood(k: float) -> float:
        before = Elo(k).stream(some.left, some.right, some.outcome).difference
        chances = _of_kinds(_calibrated(some, before, side).probabilities(before, _sides(some, side)), some)
        later = slice(len(some) // 2, None)
        return float(some.weight[later] @ np.log(np.maximum(_of_what_came(some, chances), 1e-300))[later])

    return max(_STEPS, key=likelihood)


def _calibrated(train: Votes, before: Floats, side: int | None) -> Calibration:
    """Fit the slope of Elo's differences, the side and the ties to the later half of the training votes.

    By then ratings have settled, and none has seen the vote that it is held against.
    """
    later = slice(len(train) // 2, None)
    sides = None if side is None else _sides(train, side)[later]
    return calibrate(before[later], train.outcome[later], train.weight[later], sides=sides)


def _sides(votes: Votes, side: int | None) -> Floats:
    return np.zeros(len(votes)) if side is None else votes.z[:, side]


def _of_kinds(chances: Floats, train: Votes) -> Floats:
    """Return the chances of left, right and each kind of tie, from those of left, tie and right.

    Kinds of ties come as often as in training; a tie that did not come in training may come after all.
    """
    kinds = np.array([_weight(train, train.kind == kind) for kind in range(train.n_kinds)]) + 0.5
    tie = np.maximum(chances[:, 1], 1.0 / len(train))
    parts = np.column_stack([chances[:, 0], chances[:, 2], tie[:, None] * kinds / kinds.sum()])
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _chances(d: Floats, log_nu: Floats, n_train: int) -> Floats:
    """Return the chances of left, right, and ties; a kind of tie that did not come in training may come after all."""
    left, right, ties = probabilities(d, np.where(np.isfinite(log_nu), log_nu, -np.log(n_train)))
    return np.column_stack([left, right, ties])


def _of_what_came(votes: Votes, chances: Floats) -> Floats:
    column = np.where(votes.outcome == -1, 0, np.where(votes.outcome == 1, 1, 2 + votes.kind))
    return chances[np.arange(len(votes)), column]


def _weight(votes: Votes, chosen: Bools) -> float:
    return float(votes.weight[chosen].sum())


def _gain(differences: Floats, weight: Floats, clusters: Sequence[Ints]) -> Gain:
    """Return the mean difference with its standard error; by clusters, where there are any."""
    mean = float(weight @ differences)
    rest = weight * (differences - mean)
    if not clusters:
        return Gain(mean, float(np.sqrt(rest @ rest)))
    meat = clustered_meat(lambda number, n: np.bincount(number, rest, n)[:, None], clusters)
    return Gain(mean, float(np.sqrt(max(float(meat.matrix[0, 0]), 0.0))))
