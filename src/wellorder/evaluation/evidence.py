r"""What splits and the rows that they test say together: how sure means over splits are, and which methods stand apart.

Of K splits with values U_k, the mean varies for two reasons. *Test rows*: to first order U_k differs from what it
estimates by the sum of its rows' parts (:mod:`wellorder.metrics.influence`), so that the mean over the splits differs
by :math:`\sum_i A_i`, with A_i the mean over the splits of row i's parts, zero where it is not tested. A row that is
tested in every repeat is one row all the same: its parts are averaged before they are squared. *Training rows*: what
the variance between splits has beyond that of the test rows. Splits share training rows, so that it counts with Nadeau and
Bengio's factor:

.. math:: \mathrm{Cov} = \sum_i A_i A_i^\top + \Big(\frac1K + \frac{n_{test}}{n_{train}}\Big)\, \theta \bar V

with :math:`\bar V` the mean over splits of :math:`\sum_i a_i a_i^\top`, and :math:`\theta = (\mathrm{tr}\, S /
\mathrm{tr}\, \bar V - 1)_+`, S the covariance between splits. One number for all methods: five to ten splits say too
little of each two of them, and to set the negative part of each :math:`S - \bar V` to zero would widen every interval.
For differences both traces are those of differences: what all methods have in common is taken off first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from ..sweeps import Floats, Ints

N_DRAWS = 20_000
"""Of the joint law of all methods: a p-value of 5 % is then known to 0.15 %."""


class SplitEvidence(NamedTuple):
    """One split: each method's value, and what each unit of the test part adds to it."""

    values: Floats
    """One a method."""
    unit: Ints
    """Numbers of rows, lists or items among all that there are: the same unit has the same number in every split."""
    parts: Floats
    """One row a unit and a column a method."""
    own: Floats
    """What Σ parts² counts twice; methods × methods."""


@dataclass(frozen=True)
class Evidence:
    """Means over splits, and how they vary: each by itself, and beside the others.

    Attributes
    ----------
    means : array of shape (n_methods,)
    variance : array of shape (n_methods,)
        Of each mean.
    covariance : array of shape (n_methods, n_methods)
        To take the variance of differences from; of these alone, as what all have in common is not in it.
    df, df_apart : float
        Degrees of freedom of the variances and of the covariance: those of the units, fewer where the variance between
        splits weighs much.
    """

    means: Floats
    variance: Floats
    covariance: Floats
    df: float
    df_apart: float

    def interval(self, method: int, confidence: float = 0.95) -> tuple[float, float]:
        """Return where the true mean of one method lies."""
        reach = float(stats.t.isf((1 - confidence) / 2, self.df) * np.sqrt(self.variance[method]))
        return float(self.means[method]) - reach, float(self.means[method]) + reach

    def difference(self, one: int, other: int, confidence: float = 0.95) -> tuple[float, float, float]:
        """Return one mean less another, and where the true difference lies."""
        cov = self.covariance
        spread = np.sqrt(max(cov[one, one] + cov[other, other] - 2.0 * cov[one, other], 0.0))
        reach = float(stats.t.isf((1 - confidence) / 2, self.df_apart) * spread)
        apart = float(self.means[one] - self.means[other])
        return apart, apart - reach, apart + reach


def gather(splits: Sequence[SplitEvidence], test_share: float) -> Evidence:
    """Put splits together.

    Parameters
    ----------
    splits : sequence of SplitEvidence
        All with the same methods.
    test_share : float
        n_test / n_train.
    """
    values = np.array([split.values for split in splits])
    k, m = values.shape
    unit = np.concatenate([split.unit for split in splits])
    _, place = np.unique(unit, return_inverse=True)
    parts = np.vstack([split.parts for split in splits])
    by_unit = np.column_stack([np.bincount(place, column) for column in parts.T]) / k
    own = sum(split.own for split in splits) / k
    # what meetings count twice is averaged as the units are: over the splits that a unit is in
    of_rows = by_unit.T @ by_unit - len(unit) / (len(by_unit) * k) * own
    within = sum(split.parts.T @ split.parts for split in splits) / k - own
    between = np.cov(values.T).reshape(m, m) if k > 1 else within
    share = 1.0 / k + test_share

    def combine(rows: Floats, between: Floats, within: Floats) -> tuple[Floats, float]:
        there = float(np.trace(within))
        theta = max(float(np.trace(between)) / there - 1.0, 0.0) if there > 0 else 0.0
        training = share * theta * within
        sizes, n_free = (float(np.trace(rows)), float(np.trace(training))), (len(by_unit) - 1.0, k - 1.0)
        below = sum(size**2 / max(free, 1.0) for size, free in zip(sizes, n_free, strict=True))
        return rows + training, sum(sizes) ** 2 / below if below > 0 else n_free[0]

    alone, df = combine(of_rows, between, within)
    apart, df_apart = combine(*(_beside_mean(each) for each in (of_rows, between, within)))
    return Evidence(values.mean(axis=0), np.maximum(np.diag(alone), 0.0), positive_part(apart), df, df_apart)


def _beside_mean(cov: Floats) -> Floats:
    """Return the covariance of deviations from the mean of all methods: that of differences is the same."""
    return np.asarray(cov - cov.mean(axis=0) - cov.mean(axis=1)[:, None] + cov.mean())


def positive_part(matrix: Any) -> Floats:
    """Return a symmetric matrix with its negative eigenvalues set to zero."""
    found, vectors = np.linalg.eigh(np.asarray(matrix, dtype=float))
    return np.asarray((vectors * np.maximum(found, 0.0)) @ vectors.T)


def p_values_beside_leader(
    evidence: Evidence, *, greater_is_better: bool, seed: int = 0, n_draws: int = N_DRAWS
) -> Floats:
    """Return, for each method, how often chance alone would put the best of equals that far ahead of one of them.

    The leader is chosen on the same data, so that its lead is drawn with the choice in it: means of equal methods are
    drawn from their joint law, the best of each draw takes the lead, and the largest of its leads, in standard errors,
    is what each observed lead is held against. The one furthest behind is judged first, beside all; the next one beside
    those that are left, and never with a smaller p-value (Hansen, Lunde and Nason, 2011, The model confidence set).
    The leader itself has 1.
    """
    sign = 1.0 if greater_is_better else -1.0
    means, cov, m = sign * evidence.means, evidence.covariance, len(evidence.means)
    spread = np.sqrt(np.maximum(np.add.outer(np.diag(cov), np.diag(cov)) - 2.0 * cov, 0.0))
    leader = int(np.argmax(means))
    behind = means[leader] - means
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = np.where(behind > 0, behind / spread[leader], 0.0)
    drawn = _draws(cov, evidence.df_apart, n_draws, seed)
    p = np.ones(m)
    left, highest = list(range(m)), 0.0
    for method in sorted(range(m), key=lambda each: -lead[each]):
        if method == leader or lead[method] == 0:
            continue
        chance = float(np.mean(_largest_lead(drawn[:, left], spread[np.ix_(left, left)]) >= lead[method]))
        highest = max(highest, chance)
        p[method] = highest
        left.remove(method)
    return p


def _draws(cov: Floats, df: float, n_draws: int, seed: int) -> Floats:
    """Draw means of equal methods: Student's t with the covariance, one row a draw."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(cov)
    normal = rng.standard_normal((n_draws, len(cov))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    if not np.isfinite(df):
        return normal
    return np.asarray(normal / np.sqrt(rng.chisquare(df, n_draws) / df)[:, None])


def _largest_lead(drawn: Floats, spread: Floats) -> Floats:
    best = np.argmax(drawn, axis=1)
    ahead = np.take_along_axis(drawn, best[:, None], axis=1) - drawn
    with np.errstate(divide="ignore", invalid="ignore"):
        leads = np.where(ahead > 0, ahead / spread[best], 0.0)
    return np.asarray(leads.max(axis=1))
