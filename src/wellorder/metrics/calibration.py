"""How good predicted probabilities of comparisons are: of the outcomes −1 (left better), 0 (tie), 1 (right better)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..order import check_outcomes, check_weights
from ..sweeps import Array, Floats
from .inputs import read_weights, undefined

_ROUNDING = 1e-6
"""How far from 1 the probabilities of a comparison may add up."""


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
    P, hit, weight = _checked(y, probabilities, sample_weight)
    if weight.sum() == 0:
        return undefined("comparison_brier", "there is no comparison")
    return float(np.average(np.sum((P - hit) ** 2, axis=1), weights=weight))


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
    P, hit, weight = _checked(y, probabilities, sample_weight)
    counted = weight > 0
    if not counted.any():
        return undefined("comparison_log_loss", "there is no comparison")
    with np.errstate(divide="ignore"):
        return float(np.average(-np.log(P[hit > 0][counted]), weights=weight[counted])) + 0.0


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
    P, hit, _ = _checked(y, probabilities, sample_weight)
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


def _checked(y: Any, probabilities: Any, sample_weight: Any) -> tuple[Floats, Floats, Array]:
    """Return probabilities, which outcome came (one column each), and weights."""
    came = check_outcomes(y)
    P = np.asarray(probabilities, dtype=float)
    if P.shape != (len(came), 3):
        raise ValueError(
            f"there are {len(came)} outcomes and probabilities of shape {P.shape}; give three columns, of the outcomes "
            "-1, 0 and 1, and a row each"
        )
    bad = np.flatnonzero(~((P >= 0).all(axis=1) & (np.abs(P.sum(axis=1) - 1.0) <= _ROUNDING)))
    if bad.size:
        raise ValueError(f"the probabilities of row {bad[0]}, {P[bad[0]].tolist()}, are not shares that add up to 1")
    hit = (came[:, None] == np.array([-1, 0, 1])).astype(float)
    return P, hit, read_weights(sample_weight, len(came))
