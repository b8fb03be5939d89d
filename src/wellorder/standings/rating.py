"""``rate``: votes in, standings out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..data import ComparisonTable
from ..order import Comparisons
from ..sweeps import Bools, Floats, Ints
from .asking import Asked, Column, Options, ask
from .features import Shrunk, shrink
from .judges import JudgeFit, fit_judges
from .likelihood import Expansion, expand, information, most_likely, one_thread_if_few
from .separation import (
    Classes,
    OneEnded,
    Summit,
    bounds_of,
    deviances_across,
    find_classes,
    inverse_of_finite,
    may_be_infinite,
    one_ended,
    whole,
)
from .standings import SCALES, Standings
from .sureness import (
    Meat,
    NotToldError,
    clustered_meat,
    follow,
    inverse_information,
    level_beside_infinite,
    n_told,
    robust_meat,
    sums_by_cluster,
    told_apart,
)
from .votes import Votes, merge

_FEW_CLUSTERS = 30
"""With fewer clusters than this, a note says that standard errors are rough."""


def rate(
    votes: ComparisonTable | Comparisons,
    *,
    side: bool = False,
    neutral: Column | None = None,
    controls: Sequence[str] | Mapping[str, Any] = (),
    clusters: Sequence[Any] | Mapping[str, Any] = (),
    judge: Column | None = None,
    counts: Column | None = None,
    half_life: float | str | None = None,
    times: Any = None,
    both_bad: Literal["tie", "own"] = "tie",
    features: bool = False,
    scale: str = "log-odds",
    confidence: float = 0.95,
) -> Standings:
    r"""Rate items from votes on two at a time: which is best, how sure, and what biased the votes.

    .. math:: P(\text{right}) : P(\text{tie}) : P(\text{left}) = e^{d/2} : \nu : e^{-d/2}, \qquad
       d = r_R - r_L + \beta^\top z

    The ratings r, the effects β and ν are the most likely ones (Davidson, 1970). There is no penalty: items that no
    votes link are islands, and are not compared; an item that won or lost everything has an infinite rating, and an
    interval with one end. Standard errors are those of the observed information; of a sandwich where votes have
    weights; and clustered where ``clusters`` are named. Ranks hold for all items at once.

    Parameters
    ----------
    votes : ComparisonTable or Comparisons
        What :func:`wellorder.read` gives of a file of votes, or ``wo.Comparisons.from_names(left, right, outcome)``.
        Weights of comparisons say what a vote counts; that a row stands for several votes is said by ``counts``.
    side : bool, default=False
        Whether one side may have an advantage, as teams at home do, or answers shown first.
    neutral : column, optional
        True where no side has one. A column is a name, if ``votes`` is a table, or an array with an entry a vote.
    controls : sequence of names, mapping of names to arrays, or data frame, default=()
        What else differs between the two and may move votes: an array of differences, right minus left; a column of
        them; or a name such as ``"length"``, where a table has ``length_a`` and ``length_b``, ``length_left`` and
        ``length_right``, ``left_length`` and ``right_length`` and the like.
    clusters : sequence of columns, or mapping, default=()
        Votes that hang together: those on one prompt, or by one judge. Several kinds may cross.
    judge : column, optional
        Who gave a vote: each judge then has a leaning to one side and a sharpness of their own, shrunk by the data.
    counts : column, optional
        How many equal votes a row stands for.
    half_life : float or str, optional
        After which time a vote counts half, in the units of its time: days, where that is a date. Of dates also
        ``"365d"``, ``"12w"``, ``"36h"`` or ``"2y"``.
    times : array, optional
        When each vote was given, where ``votes`` are Comparisons; a table read with ``time=`` knows.
    both_bad : {"tie", "own"}, default="tie"
        Whether 'both are bad' is a tie, or an outcome of its own.
    features : bool, default=False
        Whether ratings are what the items' features say plus a deviation, both shrunk by the data. A prior then takes
        part, and intervals are those of its posterior.
    scale : {"log-odds", "elo"}, default="log-odds"
    confidence : float, default=0.95

    Returns
    -------
    Standings

    References
    ----------
    Davidson (1970), On extending the Bradley–Terry model to accommodate ties. Mogstad, Romano, Shaikh and Wilhelm
    (2024), Inference for ranks. Cameron, Gelbach and Miller (2011), Robust inference with multiway clustering.

    Examples
    --------
    >>> import wellorder as wo
    >>> left = ["tea", "tea", "milk", "milk", "cocoa", "tea", "cocoa", "milk"]
    >>> right = ["milk", "cocoa", "cocoa", "tea", "tea", "milk", "milk", "tea"]
    >>> standings = wo.rate(wo.Comparisons.from_names(left, right, outcome=[1, 1, 1, 0, 0, -1, 0, 1]))
    >>> standings.table()["item", "rank", "votes", "wins"].rows()
    [('cocoa', 1, 4, 2), ('tea', 2, 6, 2), ('milk', 3, 6, 1)]
    """
    if scale not in SCALES:
        raise ValueError(f"scale={scale!r} is not among {', '.join(map(repr, SCALES))}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    if both_bad not in ("tie", "own"):
        raise ValueError(f"both_bad={both_bad!r} is neither 'tie' nor 'own'")
    options = Options(side, neutral, controls, clusters, judge, counts, half_life, times, both_bad, features)
    asked = ask(votes, options)
    merged, clusters_of = merge(asked.votes, *asked.clusters)
    with one_thread_if_few(merged.n_items):
        _check_told(merged, asked.effects.tolist())
        found = _estimate(merged, asked.X)
        sure = _how_sure(asked, found, clusters_of, confidence)
    return _fill(Standings(scale, confidence), asked, found, sure)


# --------------------------------------------------------------------------------------------------
# Estimates.


def _check_told(votes: Votes, effects: list[str]) -> None:
    """Refuse effects that the votes cannot tell from ratings: then any value of them is as likely as another."""
    if not effects:
        return
    even = expand(votes, np.zeros(len(votes)), np.where(votes.fitted[votes.n_items + votes.n_effects :], 0.0, -np.inf))
    try:
        inverse_information(votes, information(votes, even))
    except NotToldError as error:
        loads = np.abs(error.directions[votes.n_items : votes.n_items + votes.n_effects]).max(axis=1, initial=0.0)
        lost = [repr(name) for name, load in zip(effects, loads, strict=True) if load > 1e-6 * loads.max()]
        raise ValueError(
            f"the effect of {' and '.join(lost)} cannot be told from the ratings: another one, with other ratings, "
            "makes every vote as likely as it is (as where each item always stands on one side, or a control is the "
            "same for an item in every vote); leave it out, or get votes with the items the other way round"
        ) from None


@dataclass(frozen=True, eq=False)
class _Estimate:
    """The most likely parameters, and the information on them."""

    votes: Votes
    theta: Floats
    at: Expansion
    bend: Floats
    pull: Floats | None
    classes: Classes
    judges: JudgeFit | None
    shrunk: Shrunk | None

    @property
    def n_fitted(self) -> int:
        """How many parameters were fitted to the votes alone, without a prior to help."""
        return n_told(self.votes) if self.judges is None and self.shrunk is None else 1

    def sums_by_cluster(self, number: Ints, n_clusters: int) -> Any:
        """Return Σ wψ over the votes of each cluster."""
        if self.judges is not None:
            return self.judges.sums_by_cluster(number, n_clusters)
        return sums_by_cluster(self.votes, self.at, number, n_clusters)


def _estimate(votes: Votes, X: Floats | None) -> _Estimate:
    shrunk = None if X is None else shrink(votes, X)
    pull = None if shrunk is None else shrunk.pull
    theta, at, converged = most_likely(votes, pull=pull)
    bend = information(votes, at) if pull is None else information(votes, at) + pull
    infinite = shrunk is None and may_be_infinite(votes, bend, converged)
    classes = find_classes(votes) if infinite else whole(votes)
    if votes.judge is None:
        return _Estimate(votes, theta, at, bend, pull, classes, None, shrunk)
    if not classes.is_finite:
        raise ValueError(
            "some ratings or effects are infinite with these votes, and judges' own parameters cannot be told then; "
            "leave judge= out, or the items that won or lost everything"
        )
    judges = fit_judges(votes, theta, np.zeros(bend.shape) if pull is None else pull)
    return _Estimate(votes, judges.theta, judges.at, judges.bend, pull, classes, judges, shrunk)


# --------------------------------------------------------------------------------------------------
# How sure they are.


@dataclass(frozen=True, eq=False)
class _Sureness:
    """Covariances, intervals with one end, and who stands above whom."""

    inverse: Floats
    covariance: Floats
    n_units: int
    degrees: float | None
    ends: dict[int, OneEnded]
    effect_ends: dict[int, OneEnded]
    deviance: Floats
    above: Bools


def _how_sure(asked: Asked, found: _Estimate, clusters: tuple[Ints, ...], confidence: float) -> _Sureness:
    votes, theta, classes = found.votes, found.theta, found.classes
    finite = classes.is_finite
    inverse = inverse_information(votes, found.bend) if finite else inverse_of_finite(votes, found.bend, classes)
    meat = _meat(asked, found, clusters)
    cov = inverse
    if meat is not None:
        cov = inverse @ (meat.matrix if found.pull is None else meat.matrix + found.pull) @ inverse
    cov = sum((part.widening for part in (found.shrunk, found.judges) if part is not None), cov)
    n_units = asked.n_votes if meat is None else meat.n_units
    lost = 1 if clusters else found.n_fitted
    degrees = None if meat is None else float(max(n_units - lost, 1))
    n = votes.n_items
    if finite:
        above = told_apart(theta[:n], cov[:n, :n], classes.number, confidence, degrees=degrees)
        return _Sureness(inverse, cov, n_units, degrees, {}, {}, np.full((n, n), np.nan), follow(above))
    summit = Summit(votes, theta, found.at.value, _alike(votes, clusters))
    ends = bounds_of(summit, classes, confidence)
    effects = np.flatnonzero(~classes.finite[: votes.n_effects])
    units = np.eye(votes.n_parameters)[n:]
    effect_ends = {int(each): one_ended(summit, units[each], confidence) for each in effects}
    deviance = deviances_across(summit, classes)
    level = level_beside_infinite(confidence)
    above = told_apart(theta[:n], cov[:n, :n], classes.number, level, degrees=degrees)
    n_tests = max(np.count_nonzero(np.isfinite(deviance)) / 2.0, 1.0)
    above |= np.nan_to_num(deviance) > -2.0 * math.log((1.0 - level) / n_tests)
    return _Sureness(inverse, cov, n_units, degrees, ends, effect_ends, deviance, follow(above))


def _alike(votes: Votes, clusters: tuple[Ints, ...]) -> Floats:
    """Return how many votes on each item stand for one: as many as there are to a cluster, where there are any.

    An item that won everything by one judge's votes has one vote, not sixty, if judges decide as they like.
    """
    out = np.ones(votes.n_items)
    for number in clusters:
        ends = np.concatenate([votes.left, votes.right])
        both = np.unique(np.column_stack([ends, np.tile(number, 2)]), axis=0)[:, 0]
        out = np.maximum(out, votes.per_item / np.maximum(np.bincount(both, minlength=votes.n_items), 1))
    return out


def _meat(asked: Asked, found: _Estimate, clusters: tuple[Ints, ...]) -> Meat | None:
    """Return B of the sandwich; None where the information alone will do."""
    if clusters:
        return clustered_meat(found.sums_by_cluster, clusters)
    if not asked.weighted:
        return None
    judge = found.votes.judge
    if judge is not None:
        return clustered_meat(found.sums_by_cluster, (judge,))
    return robust_meat(found.votes, found.at, found.n_fitted)


# --------------------------------------------------------------------------------------------------
# The result.


def _fill(standings: Standings, asked: Asked, found: _Estimate, sure: _Sureness) -> Standings:
    """Put what was found into standings, in the units of the data."""
    n, p = len(asked.items), len(asked.effects)
    judges = found.judges
    shorter = 1.0 if judges is None else judges.shorter
    scale = np.concatenate([np.full(n, shorter), shorter / asked.unit, np.ones(found.votes.n_kinds)])
    back = np.outer(scale, scale)
    theta, classes = found.theta * scale, found.classes
    standings.items_, standings.effects_, standings.controls_ = asked.items, asked.effects, asked.controls
    standings.ratings_ = _centred(theta[:n], found.votes, classes, sure.ends)
    standings.beta_ = theta[n : n + p]
    standings.log_nu_ = theta[n + p :]
    standings.covariance_, standings._inverse = sure.covariance * back, sure.inverse * back
    standings.island_, standings._class = _by_size(found.votes.island), classes.number
    standings._height, standings._core, standings._known = _heights(found.votes, classes), classes.core, classes.known
    standings._ends, standings._further = np.full((n, 2), np.nan), np.full(n, np.nan)
    alone = np.bincount(classes.number)[classes.number] < np.bincount(found.votes.island)[found.votes.island]
    standings._ends[
        ~classes.core | (found.votes.per_item == 0) | (alone & (np.bincount(classes.number)[classes.number] == 1))
    ] = (-np.inf, np.inf)
    for item, end in sure.ends.items():
        standings._ends[item] = (end.low, end.high)
        standings._further[item] = end.further
    standings._effect_ends = np.full((p, 2), np.nan)
    for effect, end in sure.effect_ends.items():
        standings._effect_ends[effect] = np.array([end.low, end.high]) / asked.unit[effect]
        standings.beta_[effect] = end.middle / asked.unit[effect]
    standings._above, standings._deviance, standings.tally_ = sure.above, sure.deviance, asked.tally
    standings.n_votes_, standings.n_units_, standings._degrees = asked.n_votes, sure.n_units, sure.degrees
    standings._judges, standings._judge_votes = asked.judges, asked.judge_votes
    standings._judge_own = np.zeros((0, 2)) if judges is None else judges.own * [shorter, 1.0]
    standings._judge_error = np.zeros((0, 2)) if judges is None else judges.error * [shorter, 1.0]
    standings._features = asked.features
    standings._weights = np.zeros(0) if found.shrunk is None else found.shrunk.weights
    if found.shrunk is not None and asked.X is not None:
        standings._X, standings._variances = asked.X, np.array(found.shrunk.variance)
    standings.how_, standings._neutral = _how(asked), asked.neutral
    standings.notes_ = [*asked.notes, *_notes(standings, asked, found, sure)]
    return standings


def _centred(ratings: Floats, votes: Votes, classes: Classes, ends: Mapping[int, OneEnded]) -> Floats:
    """Return ratings with mean zero in each core; in place of infinite ones, what stands in for them."""
    mean = np.bincount(classes.number, ratings) / np.bincount(classes.number)
    out = ratings - mean[classes.number]
    for each in np.unique(classes.number[~classes.core]):
        members = np.flatnonzero(classes.number == each)
        busiest = members[np.argmax(votes.per_item[members])]
        if busiest in ends:
            out[members] += ends[int(busiest)].middle - out[busiest]
        else:  # an even chance of winning so many votes against equals
            share = 0.5 ** (1.0 / max(float(votes.per_item[busiest]), 1.0))
            out[members] += np.sign(_heights(votes, classes)[busiest]) * math.log(share / (1.0 - share))
    return np.asarray(out)


def _heights(votes: Votes, classes: Classes) -> Floats:
    """Return how high each class stands against its island's core: 0 for the core itself."""
    core = np.zeros(int(votes.island.max(initial=0)) + 1)
    core[votes.island[classes.core]] = classes.height[classes.core]
    return np.where(classes.core, 0.0, classes.height - core[votes.island])


def _by_size(island: Ints) -> Ints:
    """Return the islands' numbers by their size, the largest first."""
    size = np.bincount(island)
    rank = np.empty(len(size), np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return rank[island]


def _how(asked: Asked) -> str:
    """Say how it was computed, in one sentence."""
    effects = f", with effects of {', '.join(asked.effects)}" if len(asked.effects) else ""
    judges = f", {len(asked.judges):,} judges with leanings and sharpness of their own" if len(asked.judges) else ""
    prior = ", ratings shrunk towards what the features say" if asked.X is not None else ""
    if asked.cluster_names:
        errors = f"clustered by {' and by '.join(asked.cluster_names)}"
    else:
        errors = "robust, as votes have weights" if asked.weighted else "from the observed information"
    return f"Davidson's model{effects}{judges}{prior}; standard errors {errors}"


def _notes(standings: Standings, asked: Asked, found: _Estimate, sure: _Sureness) -> list[str]:
    notes = []
    n_islands = int(standings.island_.max(initial=-1)) + 1
    if n_islands > 1:
        notes.append(
            f"the items are in {n_islands:,} islands without a vote between them: only items of one island are compared"
        )
    outside = standings.items_[~found.classes.core]
    if len(outside):
        shown = ", ".join(outside[:5]) + ", …" * (len(outside) > 5)
        notes.append(f"no finite rating fits {shown}: all that is known is an end of the interval, at most")
    skipped = len(outside) - len(sure.ends)
    if skipped:
        notes.append(f"of {skipped:,} of these, with the fewest votes, no end was looked for: it would take too long")
    if asked.clusters and sure.n_units < _FEW_CLUSTERS:
        notes.append(f"there are only {sure.n_units} clusters of one kind: standard errors from so few are rough")
    elif asked.weighted and sure.n_units <= found.n_fitted:
        notes.append(
            f"by their weights, the votes are worth {sure.n_units:,}, and there are {found.n_fitted:,} ratings and "
            "effects to tell from them: next to nothing is known; take a longer half-life, or other weights"
        )
    if found.shrunk is not None:
        of_w, of_u = found.shrunk.variance
        notes.append(
            f"a prior takes part: standard deviations of about {math.sqrt(of_w):.2g} for a feature's weight and "
            f"{math.sqrt(of_u):.2g} for an item's own deviation fit the votes; intervals allow for others"
        )
    return notes
