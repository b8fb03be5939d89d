"""How well scores order censored times: concordance, and the AUC of who has had an event by some time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..order import Grades, Times, check_scores
from ..sweeps import Floats, Ints, to_numpy
from .inputs import read_grades, undefined
from .pairs import PairShare, all_row_shares


def concordance(
    y: Any, scores: Any, groups: Any = None, sample_weight: Any = None, *, censoring: Times | None = None
) -> float:
    r"""Harrell's C, or Uno's: the share of pairs known to be ordered in time that the scores put in this order.

    .. math:: C = \sum_{i \text{ outlived } j} v_j \, \bigl([s_i > s_j] + \tfrac12 [s_i = s_j]\bigr) \, / \,
              \sum_{i \text{ outlived } j} v_j

    with the pairs and weights v of :class:`~wellorder.Times`: all the same for Harrell's, by inverse probability of
    censoring for Uno's.

    Parameters
    ----------
    y : Times
        Also grades, of which it is the share of pairs in the right order, as :func:`wmw`.
    scores : array of shape (n,)
        Scores; a higher one lives longer. Of a risk, give the negative.
    groups, sample_weight : arrays of shape (n,), optional
        Of grades; times bring their own.
    censoring : Times, optional
        For Uno's weights: the training rows, from which the censoring is estimated. These rows', unless given.

    Returns
    -------
    float
        In [0, 1], the higher the better; NaN, with a warning, if nobody is known to have outlived another. O(n log n).

    References
    ----------
    Harrell et al. (1982); Uno et al. (2011); see :class:`~wellorder.Times`.

    Examples
    --------
    >>> import wellorder as wo
    >>> times = wo.Times([5, 8, 8, 12], [True, True, False, False])
    >>> wo.metrics.concordance(times, [1.0, 3.0, 2.0, 4.0])
    0.8
    """
    found = concordance_of(y, scores, groups, sample_weight, censoring=censoring)
    return undefined("concordance", found) if isinstance(found, str) else found.value


def concordance_of(
    y: Any, scores: Any, groups: Any = None, sample_weight: Any = None, *, censoring: Times | None = None
) -> PairShare | str:
    """Return the pairs that :func:`concordance` is the share of, or why there is none."""
    grades = read_grades(y, groups, "full", sample_weight)
    if censoring is not None:
        if not isinstance(grades, Times) or not isinstance(censoring, Times):
            raise ValueError("censoring= is of censored times, and takes the Times of the training rows")
        grades = grades.with_censoring(censoring)
    values = check_scores(scores, len(grades))
    if grades.pairs.n_pairs == 0:
        return f"there is no pair ({grades.describe()})"
    return PairShare(grades.pairs, values, "half", right=True)


# --------------------------------------------------------------------------------------------------
# The cumulative/dynamic AUC: whoever has had an event by a time, against whoever has not yet.


@dataclass(frozen=True)
class MeanShare:
    """A mean of several shares of pairs over the same rows, and what each row adds to it."""

    shares: tuple[PairShare, ...]
    weights: Floats

    @property
    def rows(self) -> Ints:
        """The rows that are in pairs of any of them."""
        return np.unique(np.concatenate([share.rows for share in self.shares]))

    @property
    def value(self) -> float:
        """The mean."""
        return float(self.weights @ [share.value for share in self.shares])

    @property
    def weight_by_row(self) -> Floats:
        """The share of each row in the pairs, twice."""
        parts = [all_row_shares(share.pairs.in_range[0]) for share in self.shares]
        return np.asarray(self.weights @ np.array(parts))

    def pair_square(self, value: float) -> float:
        """Return about Σψ² over the pairs: at most what it is if all shares move alike."""
        squares = [share.pair_square(value) for share in self.shares]
        return float(self.weights @ np.sqrt(squares)) ** 2

    def by_row(self) -> tuple[float, Floats]:
        """Return the mean, and for each row its part in it."""
        found = [share.by_row() for share in self.shares]
        value = float(self.weights @ [each for each, _ in found])
        return value, np.asarray(self.weights @ np.array([part for _, part in found]))


def cumulative_auc(
    y: Any, scores: Any, horizon: float | Sequence[float] | None = None, *, censoring: Times | None = None
) -> float:
    r"""Cumulative/dynamic AUC: the chance that whoever has an event by a time scores below whoever has none by then.

    .. math:: \mathrm{AUC}(h) = \frac{\sum_{t_j \le h < t_i} v_j \, ([s_i > s_j] + \tfrac12 [s_i = s_j])}
              {\sum_{t_j \le h < t_i} v_j}, \qquad v_j = [\text{event}_j] / \hat G(t_j)

    with Ĝ the Kaplan–Meier curve of the censoring. Over several horizons it is the mean, each counting by how much the
    Kaplan–Meier survival of the rows falls up to it from the one before.

    Parameters
    ----------
    y : Times
    scores : array of shape (n,)
        Scores; a higher one lives longer.
    horizon : float or sequence of floats, optional
        The time, or several. Nine deciles of the times of events, unless given.
    censoring : Times, optional
        The training rows, from which the censoring is estimated. These rows', unless given.

    Returns
    -------
    float
        In [0, 1]; NaN, with a warning, where a horizon has nobody before or nobody after it. O(n log n) a horizon.

    References
    ----------
    Hung and Chiang (2010), Estimation methods for time-dependent AUC models with survival data. Lambert and Chevret
    (2016), Summary measure of discrimination in survival models based on cumulative/dynamic time-dependent ROC curves.

    Examples
    --------
    >>> import wellorder as wo
    >>> times = wo.Times([5, 8, 8, 12], [True, True, False, False])
    >>> wo.metrics.cumulative_auc(times, [1.0, 3.0, 2.0, 4.0], 8)
    1.0
    """
    found = cumulative_auc_of(y, scores, horizon, censoring=censoring)
    return undefined("cumulative_auc", found) if isinstance(found, str) else found.value


def cumulative_auc_of(
    y: Any, scores: Any, horizon: float | Sequence[float] | None = None, *, censoring: Times | None = None
) -> PairShare | MeanShare | str:
    """Return the pairs that :func:`cumulative_auc` is the share of, or why there is none."""
    if not isinstance(y, Times):
        raise ValueError(f"cumulative_auc takes censored times, wo.Times(time, event), not {type(y).__name__}")
    if censoring is not None and not isinstance(censoring, Times):
        raise ValueError("censoring= takes the Times of the training rows")
    values = to_numpy(check_scores(scores, len(y)))
    seen = y.time[y.event & y.is_judged]
    if not len(seen):
        return f"no event was seen ({y.describe()})"
    given = np.quantile(seen, np.arange(1, 10) / 10) if horizon is None else horizon
    horizons = _read_horizons(given)
    chance = (y if censoring is None else censoring).curve()(y.time)
    shares: list[PairShare] = []
    for each in horizons.tolist():
        pairs = _before_and_after(y, chance, each).pairs
        if pairs.n_pairs == 0:
            return f"nobody has an event by {each:g}, or nobody was watched longer ({y.describe()})"
        shares.append(PairShare(pairs, values, "half", right=True))
    if len(shares) == 1:
        return shares[0]
    fall = -np.diff(np.append(1.0, y.curve("event")(horizons)))
    if not fall.sum() > 0:
        return f"no event was seen up to {horizons[-1]:g}"
    return MeanShare(tuple(shares), fall / fall.sum())


def _read_horizons(given: Any) -> Floats:
    """Return horizons, rising: numbers, one at least."""
    try:
        horizons = np.unique(np.asarray(given, dtype=float).ravel())
    except (TypeError, ValueError):
        raise ValueError(f"horizon={given!r} is no time; give a number, or several") from None
    if not len(horizons) or np.isnan(horizons).any():
        raise ValueError(f"horizon={given!r} names no time; give a number, or several")
    return horizons


def _before_and_after(times: Times, chance: Floats, horizon: float) -> Grades:
    """Return two levels: an event by the horizon, and watched beyond it; who was censored before is unjudged."""
    case, control = times.event & (times.time <= horizon) & (chance > 0), times.time > horizon
    level = np.where(times.is_judged & (case | control), control.astype(float), np.nan)
    below = np.where(case, 1.0 / np.where(chance > 0, chance, 1.0), 1.0)
    return Grades(level, times.group, weights=times.weight, weights_below=below)
