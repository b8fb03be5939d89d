"""Whether one method is better than another, or only luckier: tests and intervals over splits and data sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from math import exp, factorial, lgamma
from typing import Any

import numpy as np
from scipy import stats

from ..sweeps import Floats, Ints

TOLD_APART = 0.05
"""Two methods are told apart if the p-value is below this."""


@dataclass(frozen=True)
class Interval:
    """A mean over splits, and where the true one lies with the stated confidence."""

    mean: float
    low: float
    """NaN, as is ``high``, with fewer than two splits."""
    high: float
    confidence: float
    n_splits: int

    def within(self, bounds: tuple[float, float]) -> Interval:
        """Return the interval with its ends kept to the values that a metric can have; NaN stays."""
        low, high = np.clip([self.low, self.high], *bounds).tolist()
        return replace(self, low=low, high=high)

    def __str__(self) -> str:
        return f"{self.mean:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
class PairedTest:
    """Two methods on the same splits: their mean difference, its interval, and a two-sided p-value."""

    mean: float
    low: float
    """NaN, as is ``high``, with fewer than two splits."""
    high: float
    statistic: float
    p_value: float
    """How often chance alone gives a mean at least this far from 0; NaN with one or two splits, which say nothing."""
    confidence: float
    n_splits: int


@dataclass(frozen=True)
class Friedman:
    """Many methods on many data sets, and whether they are all alike."""

    mean_ranks: tuple[float, ...]
    """One per method; 1 is best."""
    statistic: float
    """Friedman's χ², corrected for ties."""
    p_value: float
    """By the χ² distribution, which needs many data sets; for few, see ``permutation_p_value``."""
    f_statistic: float
    """Iman and Davenport's F, which is less conservative than χ²; infinite if all data sets order the methods alike."""
    f_p_value: float
    """By the F distribution, which needs several data sets as well: over two that agree it is 0."""
    permutation_p_value: float
    """The share of all ways in which the sets could order the methods, each by itself, that are as far from chance.
    Counted where there are few such ways, and from 20,000 drawn ones where there are more. From 16 sets on it is F's,
    which by then comes to the same."""
    least_p_value: float
    """What all sets ordering the methods alike, without ties, would reach: where this is over 5 %, the sets are too few
    for the test to find anything."""


def corrected_resampled_test(differences: Any, test_share: float, confidence: float = 0.95) -> PairedTest:
    r"""Test whether two methods differ over repeated hold-outs or folds: Nadeau and Bengio's corrected t-test.

    Splits share training rows, so that their results vary together and a plain t-test finds differences
    that are not there. Here the variance of the mean of k differences is
    :math:`(1/k + n_{test}/n_{train})\, s^2` instead of :math:`s^2/k`.

    Parameters
    ----------
    differences : array of shape (k,)
        One method's result less the other's, one a split. NaN is an error: leave such splits out for both.
    test_share : float
        n_test / n_train: 0.25 for 5 folds, whatever the number of repeats.
    confidence : float, default=0.95
        Of the interval.

    Returns
    -------
    PairedTest
        p = 1 where all differences are 0; otherwise NaN with fewer than three splits, as two that happen to agree
        would make any difference certain. Where all k differences are the same, they show no spread to measure the mean
        by: p is then that of the sign test, :math:`2^{1-k}`. An interval of NaN with fewer than two splits.

    References
    ----------
    Nadeau, Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> from wellorder.evaluation.significance import corrected_resampled_test
    >>> result = corrected_resampled_test([0.02, 0.05, 0.01, 0.03, 0.04], test_share=0.25)
    >>> round(result.mean, 3), round(result.p_value, 3)
    (0.03, 0.047)
    """
    if not 0 < test_share < np.inf:
        raise ValueError(f"test_share is n_test / n_train, a positive number; got {test_share!r}")
    values = _finite_column(differences, "difference")
    mean, low, high, error = _interval(values, test_share, confidence)
    if len(values) and not values.any():
        statistic, p_value = 0.0, 1.0
    elif len(values) < 3:
        statistic = p_value = float("nan")
    elif error > 0:
        statistic = mean / error
        p_value = float(2 * stats.t.sf(abs(statistic), len(values) - 1))
    else:
        statistic, p_value = float(np.copysign(np.inf, mean)), 2.0 ** (1 - len(values))
    return PairedTest(mean, low, high, statistic, p_value, confidence, len(values))


def mean_interval(values: Any, n_train: float, n_test: float, confidence: float = 0.95) -> Interval:
    """Return the mean of one method's results over splits, and an interval with Nadeau and Bengio's correction.

    Parameters
    ----------
    values : array of shape (k,)
        Results, one a split. NaN is an error: leave such splits out.
    n_train, n_test : float
        Rows in a training and in a test part (their means, where splits differ).
    confidence : float, default=0.95

    Examples
    --------
    >>> from wellorder.evaluation.significance import mean_interval
    >>> print(mean_interval([0.20, 0.22, 0.19, 0.23, 0.21], n_train=80, n_test=20))
    0.21 (0.1806 to 0.2394)
    """
    if not (n_train > 0 and n_test > 0):
        raise ValueError(f"n_train and n_test must be positive, got {n_train!r} and {n_test!r}")
    results = _finite_column(values, "value")
    mean, low, high, _ = _interval(results, n_test / n_train, confidence)
    return Interval(mean, low, high, confidence, len(results))


def known_mean(values: Floats) -> float:
    """Return the mean of the values that are known; NaN where none is, infinite where one is.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.evaluation.significance import known_mean
    >>> known_mean(np.array([1.0, np.nan, 3.0]))
    2.0
    """
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def holm(p_values: Any) -> Floats:
    """Adjust p-values for testing many times: Holm's step-down method.

    Parameters
    ----------
    p_values : array of shape (m,)
        NaN stands for a test that was not made: it stays NaN and does not count.

    Returns
    -------
    array of shape (m,)
        The smallest level at which each hypothesis falls, at most 1, in the order given.

    Examples
    --------
    >>> from wellorder.evaluation.significance import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1:
        raise ValueError(f"p-values should be a 1d array, got shape {p.shape}")
    made = np.flatnonzero(~np.isnan(p))
    if ((p[made] < 0) | (p[made] > 1)).any():
        raise ValueError("p-values must lie between 0 and 1")
    rising = made[np.argsort(p[made], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[rising] = np.minimum(np.maximum.accumulate(p[rising] * np.arange(len(rising), 0, -1)), 1.0)
    return adjusted


_MOST_ORDERS = 40_320
"""All ways to order the methods on all data sets but one are counted if there are at most this many."""

_DRAWN_ORDERS = 20_000

_FEW_SETS = 15
"""With this many data sets or fewer, the F distribution is not relied upon."""


def friedman(values: Any, *, greater_is_better: bool = True) -> Friedman:
    """Test whether methods differ over data sets, by their ranks on each; tied ones share the mean rank.

    Parameters
    ----------
    values : array of shape (n_sets, n_methods)
    greater_is_better : bool, default=True
        Which end of the values gets rank 1; the tests do not depend on it.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> from wellorder.evaluation.significance import friedman
    >>> found = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.8], [0.7, 0.6, 0.5]])
    >>> found.mean_ranks
    (1.0, 2.25, 2.75)
    >>> round(found.permutation_p_value, 3), round(found.p_value, 3)
    (0.042, 0.039)
    """
    rank = _ranks(values, greater_is_better)
    n, k = rank.shape
    spread = float(((rank.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    # without ties every row of ranks has the same variance, and this is the textbook's 12n/(k(k+1))
    within = float(((rank - (k + 1) / 2) ** 2).sum()) / (n * (k - 1))
    least = exp((1 - n) * lgamma(k + 1))  # 1/(k!)ⁿ⁻¹
    if within == 0:  # every method alike on every set
        return Friedman(tuple(rank.mean(axis=0).tolist()), 0.0, 1.0, 0.0, 1.0, 1.0, least)
    statistic = n * spread / within
    left = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / left if left > 1e-9 * statistic else float("inf")
    f_p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    return Friedman(
        mean_ranks=tuple(rank.mean(axis=0).tolist()),
        statistic=statistic,
        p_value=float(stats.chi2.sf(statistic, k - 1)),
        f_statistic=f_statistic,
        f_p_value=f_p_value,
        permutation_p_value=_permutation_p(rank) if n <= _FEW_SETS else max(f_p_value, least),
        least_p_value=least,
    )


def _permutation_p(rank: Floats) -> float:
    """Return how often the sums of ranks are at least as spread if every set orders the methods by chance.

    Tied ranks stay tied. Twice the ranks are whole numbers, so that equal spreads are equal to the last bit.
    """
    n, k = rank.shape
    doubled = np.rint(2 * rank).astype(np.int64)
    observed = _spread(doubled.sum(axis=0))
    if factorial(k) ** (n - 1) <= _MOST_ORDERS:
        orders = np.array(list(permutations(range(k))))
        sums = doubled[:1]  # the first set may stand as it is: only how the others differ from it counts
        for row in doubled[1:]:
            sums = (sums[:, None, :] + row[orders]).reshape(-1, k)
        return float(np.mean(_spread(sums) >= observed))
    rng = np.random.default_rng(0)
    sums = np.zeros((_DRAWN_ORDERS, k), np.int64)
    for row in doubled:
        sums += rng.permuted(np.tile(row, (_DRAWN_ORDERS, 1)), axis=1)
    return float(1 + np.count_nonzero(_spread(sums) >= observed)) / (1 + _DRAWN_ORDERS)


def _spread(sums: Ints) -> Ints:
    """Return what Friedman's statistic rises with, given the sums of ranks along the last axis: they add up alike."""
    return np.asarray((sums**2).sum(axis=-1))


def nemenyi(values: Any) -> Floats:
    """Return p-values for every two methods over data sets: Nemenyi's test, all against all.

    Parameters
    ----------
    values : array of shape (n_sets, n_methods)

    Returns
    -------
    array of shape (n_methods, n_methods)
        Symmetric, 1 on the diagonal; already adjusted for the number of methods.

    Examples
    --------
    >>> from wellorder.evaluation.significance import nemenyi
    >>> p = nemenyi([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.6, 0.8], [0.7, 0.6, 0.5]])
    >>> round(float(p[0, 2]), 3)
    0.036
    """
    rank = _ranks(values, greater_is_better=True)
    n, k = rank.shape
    mean = rank.mean(axis=0)
    apart = np.abs(mean[:, None] - mean) / _rank_error(k, n)
    p = np.ones((k, k))
    above = np.triu_indices(k, 1)
    p[above] = stats.studentized_range.sf(np.sqrt(2.0) * apart[above], k, np.inf)
    p = np.clip(np.minimum(p, p.T), 0.0, 1.0)
    return np.asarray(p)


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """Return how far two mean ranks must be apart for Nemenyi's test to tell the methods apart.

    Examples
    --------
    >>> from wellorder.evaluation.significance import critical_difference
    >>> round(critical_difference(n_methods=4, n_sets=14), 3)
    1.254
    """
    if n_methods < 2 or n_sets < 1:
        raise ValueError(f"needs two methods and one data set at least, got {n_methods} and {n_sets}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r}")
    q = float(stats.studentized_range.isf(alpha, n_methods, np.inf)) / np.sqrt(2.0)
    return float(q * _rank_error(n_methods, n_sets))


def _rank_error(k: int, n: int) -> float:
    """Return the standard error of the difference of two mean ranks."""
    return float(np.sqrt(k * (k + 1) / (6.0 * n)))


def _ranks(values: Any, greater_is_better: bool) -> Floats:
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            f"give a table of at least two data sets (rows) and two methods (columns), got shape {table.shape}"
        )
    missing = np.argwhere(np.isnan(table))
    if len(missing):
        row, column = missing[0]
        raise ValueError(f"method {column} has no value on data set {row}; leave out the set, or the method")
    return np.asarray(stats.rankdata(-table if greater_is_better else table, axis=1))


def _interval(values: Floats, ratio: float, confidence: float) -> tuple[float, float, float, float]:
    """Return mean, ends of the interval and the mean's standard error, given n_test/n_train."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")
    k, nan = len(values), float("nan")
    mean = float(values.mean()) if k else nan
    if k < 2:
        return mean, nan, nan, nan
    # equal values whose mean is rounded would seem to vary
    spread = float(values.std(ddof=1)) if np.ptp(values) > 0 else 0.0
    error = float(np.sqrt(1 / k + ratio)) * spread
    reach = float(stats.t.isf((1 - confidence) / 2, k - 1)) * error
    return mean, mean - reach, mean + reach, error


def _finite_column(values: Any, what: str) -> Floats:
    column = np.asarray(values, dtype=float)
    if column.ndim != 1:
        raise ValueError(f"give one {what} a split, got an array of shape {column.shape}")
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise ValueError(f"the {what} of split {bad[0]} is {column[bad[0]]}; leave out splits without a result")
    return column
