"""Weights of rankers, learned: one at a time, as far as a judge of the aggregate says that it helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..sweeps import Floats

_SHARES = np.linspace(0.0, 1.0, 21)
"""Shares of the whole weight that a ranker is tried with."""

_CLOSER = np.linspace(-0.04, 0.04, 9)
"""Around the best of them, these are tried too."""

_LEAST_GAIN = 1e-9


def learn_weights(points: Floats, judge: Callable[[Floats], float], *, max_rounds: int = 10) -> Floats:
    r"""Find weights α ≥ 0, Σα = 1, for which the judge likes Σ_t α_t · points_t most; by coordinate ascent.

    Only the direction of α counts in an order. One ranker at a time is tried with shares t from 0 (left out) to 1
    (alone) of the whole, the others keeping their proportions: α = (1 − t) · α_others + t · e. The best share is kept
    if the judge's value rises, of equally good ones the one nearest to what it was. It ends after a round over all
    rankers that changes nothing. It starts from equal weights, or from the best ranker alone if that is better.

    Parameters
    ----------
    points : array of shape (n, rankers)
        What each ranker gives each row; Borda counts, say.
    judge : callable
        From a score a row to a number, the higher the better; a metric over lists jumps, so no slope is asked for.
    max_rounds : int
        Most rounds over all rankers.

    Returns
    -------
    array of shape (rankers,)

    Notes
    -----
    Some thirty values of the judge for each ranker and round. It may stop at a local maximum, and the values between
    the tried shares are not looked at: on lists that were trained on, a finer maximum would be noise.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.aggregation.learning import learn_weights
    >>> points = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    >>> learn_weights(points, lambda scores: float(scores[2] - scores[0]))
    array([1., 0.])
    """
    n = points.shape[1]
    starts = [np.full(n, 1.0 / n), *np.eye(n)] if n > 1 else [np.ones(1)]
    values = [judge(points @ weights) for weights in starts]
    place = int(np.argmax(values))
    weights, best = (starts[0], values[0]) if values[0] >= values[place] else (starts[place], values[place])
    for _ in range(max_rounds if n > 1 else 0):
        before = best
        for ranker in range(n):
            weights, best = _one_ranker(points, judge, weights, best, ranker)
        if best <= before:
            break
    return weights


def _one_ranker(
    points: Floats, judge: Callable[[Floats], float], weights: Floats, best: float, ranker: int
) -> tuple[Floats, float]:
    """Give one ranker its best share of the whole weight; return the weights and the judge's value."""
    alone = np.zeros(len(weights))
    alone[ranker] = 1.0
    others = weights * (1.0 - alone)
    if not others.any():
        others = 1.0 - alone
    others = others / others.sum()
    mine, theirs, now = points[:, ranker], points @ others, float(weights[ranker])
    found = best, now
    for shares in (_SHARES, None):
        for share in found[1] + _CLOSER if shares is None else shares:
            if not 0.0 <= share <= 1.0:
                continue
            value = judge((1.0 - share) * theirs + share * mine)
            rises, as_good = value > found[0] + _LEAST_GAIN, value >= found[0] - _LEAST_GAIN
            if rises or (as_good and found[0] > best and abs(share - now) < abs(found[1] - now)):
                found = value, float(share)
    if found[0] <= best:
        return weights, best
    return np.round((1.0 - found[1]) * others + found[1] * alone, 12), found[0]
