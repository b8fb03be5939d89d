"""How good predicted probabilities are: of the three outcomes of a comparison, or of the grades of a row."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..order import Comparisons, Grades, check_outcomes, check_weights, refuse_beside
from ..sweeps import Floats, Ints
from .comparisons import VoteValues
from .inputs import read_weights, refuse_two_weights, undefined

_ROUNDING = 1e-6
"""The probabilities of a prediction may differ from a sum of 1 by this much."""

IMPOSSIBLE = "what came had the probability 0, and its loss is infinite"
"""Why it cannot be said how sure a log loss is."""

# --------------------------------------------------------------------------------------------------
# What each prediction has, given which of the columns came: every metric is the mean of one of these.


def _brier(P: Floats, came: Ints) -> Floats:
    hit = came[:, None] == np.arange(P.shape[1])
    return np.asarray(np.sum((P - hit) ** 2, axis=1))


def _log_loss(P: Floats, came: Ints) -> Floats:
    with np.errstate(divide="ignore"):
        return -np.log(P[np.arange(len(came)), came]) + 0.0  # no negative zero


def _ranked(P: Floats, came: Ints) -> Floats:
    """Square how far the chance of 'up to here' is from the truth, border by border between two columns."""
    up_to = np.cumsum(P[:, :-1], axis=1)
    is_up_to = came[:, None] <= np.arange(P.shape[1] - 1)
    return np.asarray(np.mean((up_to - is_up_to) ** 2, axis=1))


def _mean(values: Floats, weight: Floats) -> float:
    """Return the weighted mean; what weighs nothing may be infinite."""
    counted = weight > 0
    return float(np.average(values[counted], weights=weight[counted]))


# --------------------------------------------------------------------------------------------------
# Of the three outcomes of a comparison.


class Reliability(NamedTuple):
    """Probabilities that were predicted, how often it came so, and how much weight that is seen from; a bin each."""

    predicted: Floats
    observed: Floats
    weight: Floats


def comparison_brier(y: Any, probabilities: Any, sample_weight: Any = None) -> float:
    r"""Brier score of three outcomes: Σ_k (p_k − 1[y = k])², averaged over the comparisons.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better, 0: no difference.
    probabilities : array of shape (n, 3)
        P(left better), P(tie) and P(right better) of each comparison.
    sample_weight : array of shape (n,), optional
        What each comparison weighs.

    Returns
    -------
    float
        In [0, 2], the lower the better: 2/3 for thirds. NaN, with a warning, if there is no comparison.

    Examples
    --------
    >>> from wellorder.metrics import comparison_brier
    >>> round(comparison_brier([1, 0], [[0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]), 4)
    0.1875
    """
    P, came, weight = _checked_probabilities(y, probabilities, sample_weight)
    if not weight.any():
        return undefined("comparison_brier", "there is no comparison")
    return _mean(_brier(P, came), weight)


def comparison_log_loss(y: Any, probabilities: Any, sample_weight: Any = None) -> float:
    r"""Mean of −log p of the outcomes that came.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}.
    probabilities : array of shape (n, 3)
        P(left better), P(tie) and P(right better) of each comparison.
    sample_weight : array of shape (n,), optional
        What each comparison weighs.

    Returns
    -------
    float
        At least 0, the lower the better: log 3 ≈ 1.1 for thirds; infinite where an outcome came that had probability 0.
        NaN, with a warning, if there is no comparison.

    Examples
    --------
    >>> from wellorder.metrics import comparison_log_loss
    >>> round(comparison_log_loss([1, 0], [[0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]), 4)
    0.3466
    """
    P, came, weight = _checked_probabilities(y, probabilities, sample_weight)
    if not weight.any():
        return undefined("comparison_log_loss", "there is no comparison")
    return _mean(_log_loss(P, came), weight)


def comparison_rps(y: Any, probabilities: Any, sample_weight: Any = None) -> float:
    r"""Ranked probability score of three outcomes in their order, left better, tie, right better.

    .. math:: \tfrac12 \bigl((P(\text{left}) - [\text{left}])^2 + (P(\text{right}) - [\text{right}])^2\bigr)

    averaged over the comparisons. Unlike the Brier score it knows that a tie is nearer to either side than the two
    sides are to each other.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better, 0: no difference.
    probabilities : array of shape (n, 3)
        P(left better), P(tie) and P(right better) of each comparison.
    sample_weight : array of shape (n,), optional
        What each comparison weighs.

    Returns
    -------
    float
        In [0, 1], the lower the better. NaN, with a warning, if there is no comparison.

    References
    ----------
    Epstein (1969), A scoring system for probability forecasts of ranked categories; Constantinou and Fenton (2012),
    Solving the problem of inadequate scoring rules for assessing probabilistic football forecast models.

    Examples
    --------
    >>> from wellorder.metrics import comparison_rps
    >>> comparison_rps([1, 0], [[0.0, 0.0, 1.0], [0.25, 0.5, 0.25]])
    0.03125
    """
    P, came, weight = _checked_probabilities(y, probabilities, sample_weight)
    if not weight.any():
        return undefined("comparison_rps", "there is no comparison")
    return _mean(_ranked(P, came), weight)


def comparison_reliability(
    y: Any, probabilities: Any, *, outcome: int | None = None, n_bins: int = 10, sample_weight: Any = None
) -> Reliability:
    r"""Reliability curve: of what was predicted with probability p, how much came so.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}.
    probabilities : array of shape (n, 3)
        P(left better), P(tie) and P(right better) of each comparison.
    outcome : {−1, 0, 1}, optional
        Of which outcome; by default of all three, so that each comparison counts three times.
    n_bins : int, default=10
        Bins of equal width over [0, 1]; those with nothing in them are left out.
    sample_weight : array of shape (n,), optional
        What each comparison weighs.

    Returns
    -------
    Reliability
        ``(predicted, observed, weight)``: the mean probability in each bin, the share that came, and the bin's weight.
        Calibrated probabilities have the first two equal.

    Examples
    --------
    >>> from wellorder.metrics import comparison_reliability
    >>> P = [[0.25, 0.5, 0.25]] * 4
    >>> predicted, observed, weight = comparison_reliability([1, 0, 0, -1], P)
    >>> predicted.tolist(), observed.tolist(), weight.tolist()
    ([0.25, 0.5], [0.25, 0.5], [8.0, 4.0])
    """
    if outcome not in (None, -1, 0, 1):
        raise ValueError(f"outcome must be -1, 0, 1 or None, got {outcome!r}")
    if n_bins < 1:
        raise ValueError(f"n_bins must be at least 1, got {n_bins!r}")
    P, outcomes, _ = _checked_probabilities(y, probabilities, sample_weight)
    hit = (outcomes[:, None] == np.arange(3)).astype(float)
    given = check_weights(sample_weight, len(P))
    chosen = slice(None) if outcome is None else slice(outcome + 1, outcome + 2)
    p, came = P[:, chosen].ravel(), hit[:, chosen].ravel()
    weights = np.repeat(np.ones(len(P)) if given is None else given, len(p) // max(len(P), 1))
    place = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
    heaviest = np.zeros(n_bins)
    np.maximum.at(heaviest, place, weights)
    exponent = np.frexp(heaviest)[1]
    own = np.ldexp(weights, -exponent[place])  # each bin has its own means, however light it is beside others
    total, predicted, observed = (np.bincount(place, own * part, n_bins) for part in (np.ones_like(p), p, came))
    some = total > 0
    weight = np.ldexp(total[some], exponent[some])
    return Reliability(predicted[some] / total[some], observed[some] / total[some], weight)


def brier_of(comparisons: Comparisons, probabilities: Floats) -> VoteValues | str:
    """Return what :func:`comparison_brier` is the mean of, or why there is none."""
    return _of_votes(_brier, comparisons, probabilities)


def comparison_log_loss_of(comparisons: Comparisons, probabilities: Floats) -> VoteValues | str:
    """Return what :func:`comparison_log_loss` is the mean of, or why there is none."""
    return _of_votes(_log_loss, comparisons, probabilities)


def comparison_rps_of(comparisons: Comparisons, probabilities: Floats) -> VoteValues | str:
    """Return what :func:`comparison_rps` is the mean of, or why there is none."""
    return _of_votes(_ranked, comparisons, probabilities)


def _of_votes(
    values_of: Callable[[Floats, Ints], Floats], comparisons: Comparisons, probabilities: Floats
) -> VoteValues | str:
    P, came, weight = _checked_probabilities(comparisons.outcome, probabilities, comparisons.weight)
    values = values_of(P, came)
    return VoteValues(values, weight) if np.isfinite(values).all() else IMPOSSIBLE


def _checked_probabilities(y: Any, probabilities: Any, sample_weight: Any) -> tuple[Floats, Ints, Floats]:
    """Return probabilities, the column of the outcome that came, and weights."""
    came = check_outcomes(y)
    P = np.asarray(probabilities, dtype=float)
    if P.shape != (len(came), 3):
        raise ValueError(
            f"there are {len(came)} outcomes and probabilities of shape {P.shape}; give three columns, of the outcomes "
            "-1, 0 and 1, and a row each"
        )
    _refuse_no_shares(P)
    return P, came.astype(np.int64) + 1, read_weights(sample_weight, len(came))


def _refuse_no_shares(P: Floats) -> None:
    bad = np.flatnonzero(~((P >= 0).all(axis=1) & (np.abs(P.sum(axis=1) - 1.0) <= _ROUNDING)))
    if bad.size:
        raise ValueError(f"the probabilities of row {bad[0]}, {P[bad[0]].tolist()}, are not shares that add up to 1")


# --------------------------------------------------------------------------------------------------
# Of the grades of a row.


class RowValues(NamedTuple):
    """What each row has, and weighs: a metric that is their mean. A row without a grade weighs nothing."""

    values: Floats
    weight: Floats


def ranked_probability_score(
    y: Any, probabilities: Any, levels: Iterable[Hashable] | None = None, sample_weight: Any = None
) -> float:
    r"""Ranked probability score of grades: how far the chance of 'up to this level' is from the truth, squared.

    .. math:: \frac{1}{K-1} \sum_{k<K} \bigl(P(y \le k) - [y \le k]\bigr)^2

    over the K levels, averaged over the rows. A level next to the one that came costs less than a distant one.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out.
    probabilities : array of shape (n, K)
        Of each row, the probability of each level, as ``predict_proba`` gives them.
    levels : sequence, optional
        The levels of the columns: a model's ``classes_``. The levels of y, from worst to best, unless given. A level
        of y that is not among them has the probability 0.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float
        In [0, 1], the lower the better. NaN, with a warning, if no row has a grade, or there is one level only.

    Examples
    --------
    >>> import wellorder as wo
    >>> P = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    >>> wo.metrics.ranked_probability_score([1, 1], P, levels=[1, 2, 3])
    0.375
    """
    P, came, weight = _checked_levels(y, probabilities, levels, sample_weight)
    if (reason := _why_none(P, weight)) is not None:
        return undefined("ranked_probability_score", reason)
    return _mean(_ranked(P, came), weight)


def log_loss(y: Any, probabilities: Any, levels: Iterable[Hashable] | None = None, sample_weight: Any = None) -> float:
    r"""Mean of −log p of the grades that came.

    Parameters
    ----------
    y, probabilities, levels, sample_weight
        As :func:`ranked_probability_score` takes them.

    Returns
    -------
    float
        At least 0, the lower the better: log K for K levels that are all as likely; infinite where a grade came that
        had probability 0. NaN, with a warning, if no row has a grade, or there is one level only.

    Examples
    --------
    >>> import wellorder as wo
    >>> round(wo.metrics.log_loss(["good", "bad"], [[0.25, 0.75], [0.5, 0.5]], levels=["bad", "good"]), 4)
    0.4904
    """
    P, came, weight = _checked_levels(y, probabilities, levels, sample_weight)
    if (reason := _why_none(P, weight)) is not None:
        return undefined("log_loss", reason)
    return _mean(_log_loss(P, came), weight)


def ranked_probability_score_of(
    grades: Grades, probabilities: Floats, levels: Iterable[Hashable] | None = None
) -> RowValues | str:
    """Return what :func:`ranked_probability_score` is the mean of, or why there is none."""
    return _of_rows(_ranked, grades, probabilities, levels)


def log_loss_of(grades: Grades, probabilities: Floats, levels: Iterable[Hashable] | None = None) -> RowValues | str:
    """Return what :func:`log_loss` is the mean of, or why there is none."""
    return _of_rows(_log_loss, grades, probabilities, levels)


def _of_rows(
    values_of: Callable[[Floats, Ints], Floats],
    grades: Grades,
    probabilities: Floats,
    levels: Iterable[Hashable] | None,
) -> RowValues | str:
    P, came, weight = _checked_levels(grades, probabilities, levels, None)
    if (reason := _why_none(P, weight)) is not None:
        return reason
    values = np.where(weight > 0, values_of(P, came), 0.0)
    return RowValues(values, weight) if np.isfinite(values).all() else IMPOSSIBLE


def _why_none(P: Floats, weight: Floats) -> str | None:
    if not weight.any():
        return "no row has a grade"
    return "there is one level only, and nothing to foretell" if P.shape[1] < 2 else None


def _checked_levels(
    y: Any, probabilities: Any, levels: Iterable[Hashable] | None, sample_weight: Any
) -> tuple[Floats, Ints, Floats]:
    """Return probabilities of all levels, the column of the level that came, and weights: 0 without a grade."""
    columns = None if levels is None else np.asarray(levels).tolist() if hasattr(levels, "dtype") else list(levels)
    if isinstance(y, Grades):
        refuse_beside(y, sample_weight=sample_weight)
        grades = refuse_two_weights("a metric of probabilities", y)
    else:
        text = columns is not None and not all(isinstance(level, Real) for level in columns)
        grades = Grades(y, weights=sample_weight, levels=columns if text else None)
    own: list[Any] = list(grades.levels)
    columns = own if columns is None else columns
    given = np.asarray(probabilities, dtype=float)
    if given.shape != (len(grades), len(columns)):
        raise ValueError(
            f"there are {len(grades)} grades and probabilities of shape {given.shape}; give a row each, and a column "
            f"for each of the levels {', '.join(map(repr, columns[:8]))}{', …' * (len(columns) > 8)}, or say with "
            "levels= what the columns are of"
        )
    _refuse_no_shares(given)
    every = _all_levels(own, columns)
    place = {level: number for number, level in enumerate(every)}
    P = np.zeros((len(grades), len(every)))
    P[:, [place[level] for level in columns]] = given
    judged = grades.level >= 0
    number = np.array([place[level] for level in own], dtype=np.int64)
    came = np.where(judged, number[grades.level] if len(own) else 0, 0)
    return P, came, np.where(judged, read_weights(grades.weight, len(grades)), 0.0)


def _all_levels(own: list[Any], columns: list[Any]) -> list[Any]:
    """Return the levels of grades and of probabilities, from worst to best."""
    if set(columns) <= set(own):
        return own
    if set(own) <= set(columns):
        return columns
    if all(isinstance(level, Real) for level in (*own, *columns)):
        return sorted({*own, *columns})
    unknown = next(level for level in columns if level not in own)
    raise ValueError(f"the level {unknown!r} of the probabilities is not among those of the grades, {own[:8]}")
