r"""What splits and the rows that they test say together: how sure means over splits are, and which methods stand apart.

Splits give K values a method: a handful of numbers that hang together, as their training parts overlap. The rows that
were tested say much more. To first order a value differs from what it estimates by the sum of its units' parts
(:mod:`wellorder.metrics.influence`; units are rows, lists, or items that were compared), so that the mean over the
splits differs by :math:`\sum_u A_u`, with :math:`A_u` the mean over the splits of unit u's part, zero where it is not
tested. A unit that is tested in every repeat is one unit all the same: its parts are averaged before they are
multiplied, :math:`C = \frac{n}{n-1} \sum_u A_u A_u^\top` for all methods at once. Parts are taken about the mean of
all n units, and not of the few that a split tests: hence the factor. Lists that make up unequal shares of a value have
each a factor of its own, and together fewer degrees of freedom (:func:`wellorder.metrics.influence.unequal_few`).

That is how means vary with the *test* rows. Training rows add to it, by an amount that no estimator can find from the
values of one cross-validation without bias (Bengio and Grandvalet, 2004). Repeats show it all the same, unit by unit:
what a unit's part varies by from one repeat to the next, it owes to the training rows that the two do not share, one
in F of them with F folds. With :math:`C_1` the same sum within one repeat, and R repeats,

.. math:: \kappa_m = F\, \frac{R}{R-1}\, \frac{(C_1 - C - L)_{mm}}{C_{mm}}, \qquad
   \mathrm{Cov}_{mm'} = \sqrt{1+\kappa_m}\; C_{mm'} \sqrt{1+\kappa_{m'}}

A row's part also varies with the rows that it is drawn with, whatever is learned: that luck is L. It is seen where a
row meets the half of its own test part alone, drawn as folds are (:func:`keep_parts`).

κ ends where Nadeau and Bengio's correction would, :math:`(1/K + n_{test}/n_{train}) V` with V the mean over the
splits of :math:`\sum_u a_u a_u^\top`. One repeat alone shows no variation: it gets half of that correction. How often
such intervals cover, and how often equal methods are told apart, is measured in docs/how-sure.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import stats

from ..metrics import (
    Influence,
    Metric,
    few_factor,
    influence_of,
    influence_of_probabilities,
    semidefinite,
    unequal_few,
)
from ..order import Comparisons, Grades
from ..sweeps import Bools, Floats, Ints
from .judging import Foretold
from .records import Parts
from .splits import folds

# --------------------------------------------------------------------------------------------------
# One split: the parts of its units, few enough to be kept in a record.


MOST_UNITS = 1_024
"""Up to this many units are kept one by one; beyond, units are summed in random bins, which are as independent."""


def keep_parts(
    metric: Metric,
    whole: Grades | Comparisons,
    rows: Ints,
    scores: Floats,
    foretold: Foretold | None = None,
    **rule: float,
) -> Parts | None:
    """Return what the units of a test part add to a method's value; None where the metric is no mean over several.

    Parameters
    ----------
    metric : Metric
    whole : Grades or Comparisons
        All that there is, so that a unit has the same number in every split.
    rows : array
        The rows, or comparisons, of the test part.
    scores : array
        Of these rows; of comparisons, of all items.
    foretold : Foretold, optional
        Of these rows or comparisons, for a metric of probabilities.
    **rule : float
        What a model makes of differences, of comparisons: ``threshold`` and ``advantage``.
    """
    if metric.definition.parts is None:
        return None
    part = whole.take(rows)
    if isinstance(part, Grades) and not metric.definition.takes_weights:
        part = part.without_weights()
    try:
        if foretold is not None and metric.definition.judges_probabilities:
            found = influence_of_probabilities(part, foretold.probabilities, metric, **foretold.options)
        else:
            found = influence_of(part, scores, metric, **rule)
    except ValueError:  # not defined on this part: its value is NaN, and says so
        return None
    if isinstance(whole, Grades) and whole.lists is not None and whole.n_groups > 1 and part.n_groups == 1:
        # one list of several: its rows are no units, and it differs from the lists of other splits alone
        alone = Parts((int(whole.lists[rows[found.number[0]]]),), (0.0,))
        return alone if found.unit == "groups" else replace(alone, shares=(1.0,))
    if found.n_units < 2:  # one list alone does not show how lists differ
        return None
    number = _unit_numbers(found, whole, rows)
    units, parts = _in_bins(number, found.parts[:, 0], _n_units(found, whole))
    luck = _luck(found, part, scores, metric) if isinstance(part, Grades) and len(part) <= MOST_UNITS else None
    meetings, shared = _meetings(found, whole, rows)
    shares = _in_bins(number, found.share, _n_units(found, whole))[1] if len(found.share) else found.share
    drawn = np.zeros(0) if luck is None else _in_bins(number, luck, _n_units(found, whole))[1]
    square = float(found.pair_square[0])
    return Parts(units, _short(parts), meetings, _short(shared), square, _short(shares), _short(drawn))


def _luck(found: Influence, part: Grades, scores: Floats, metric: Metric) -> Floats | None:
    """Return by how much each row's part would be another, had it met the half of these rows that it is drawn into.

    Halves are drawn as the test part itself was: from the same strata. A row of a half has half the partners and a
    quarter of all pairs, so that its part there is twice as large; like all parts it is about the mean of the whole.
    None where rows are no units, or a half has no pair.
    """
    if found.unit != "rows":
        return None
    luck = np.zeros(len(part))
    if not found.pair_square[0] > 0:  # no pair is other than another, or rows are in none
        return luck[found.number]
    # a list that is the only one is dealt row by row
    dealt = part if part.lists is None else np.where(part.level >= 0, part.level, np.nan)
    try:
        halves = [split.test for split in folds(dealt, n_folds=2)]
        alone = [influence_of(part.take(half), scores[half], metric) for half in halves]
    except ValueError:
        return None
    for half, own in zip(halves, alone, strict=True):
        luck[half[own.number]] = 0.5 * own.parts[:, 0] + 0.5 * (own.values[0] - found.values[0]) / own.n_units
    luck[found.number] -= found.parts[:, 0]
    return np.asarray(luck[found.number])


def _unit_numbers(found: Influence, whole: Grades | Comparisons, rows: Ints) -> Ints:
    if found.unit == "items":
        return found.number
    number = np.asarray(rows)[found.number]
    if found.unit == "groups" and isinstance(whole, Grades) and whole.group is not None:
        return np.asarray(whole.group)[number]
    return np.asarray(number)


def _n_units(found: Influence, whole: Grades | Comparisons) -> int:
    if isinstance(whole, Comparisons):
        return int(max(whole.left.max(), whole.right.max())) + 1
    return whole.n_groups if found.unit == "groups" else len(whole)


def _meetings(found: Influence, whole: Grades | Comparisons, rows: Ints) -> tuple[tuple[int, ...], Floats]:
    """Return the sums over meetings with a sign drawn for each: put together, they are still worth their squares."""
    if not isinstance(whole, Comparisons) or len(found.shared) == 0:
        return (), np.zeros(0)
    place = np.asarray(rows)[found.meeting]
    low, high = np.minimum(whole.left[place], whole.right[place]), np.maximum(whole.left[place], whole.right[place])
    n_items = _n_units(found, whole)
    number = low.astype(np.int64) * n_items + high
    sign = np.where(scattered(number) & np.uint64(1), 1.0, -1.0)
    return _in_bins(number, sign * found.shared[:, 0], n_items**2)


def _in_bins(number: Ints, values: Floats, n_numbers: int) -> tuple[tuple[int, ...], Floats]:
    """Sum values by number, or by a number drawn for it where there are too many."""
    if n_numbers > MOST_UNITS:
        number = (scattered(number) >> np.uint64(32)).astype(np.int64) % MOST_UNITS
    kept, place = np.unique(number, return_inverse=True)
    return tuple(kept.tolist()), np.bincount(place, values, minlength=len(kept)).astype(float)


def scattered(number: Ints) -> np.typing.NDArray[np.uint64]:
    """Return 64 bits for each number that look drawn at random, always the same (splitmix64)."""
    mixed = np.asarray(number).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _short(values: Floats) -> tuple[float, ...]:
    """Round to four digits: a file of records has many of these."""
    return tuple(float(f"{value:.4g}") for value in values.tolist())


# --------------------------------------------------------------------------------------------------
# All splits: means, and how they vary.


@dataclass(frozen=True)
class Evidence:
    """Means of methods over splits, and how they vary: each by itself, and beside one another.

    Attributes
    ----------
    means : array of shape (n_methods,)
    alone : array of shape (n_methods,)
        The variance of each mean.
    apart : array of shape (n_methods, n_methods)
        A covariance to take the variance of differences from; what all methods have in common is not in it.
    n_units : int
        Independent units that were tested.
    degrees : float, optional
        Of freedom; unless given, their number less one.
    """

    means: Floats
    alone: Floats
    apart: Floats
    n_units: int
    degrees: float | None = None

    @property
    def df(self) -> float:
        """Degrees of freedom."""
        return max(self.n_units - 1.0, 1.0) if self.degrees is None else self.degrees

    @cached_property
    def spread(self) -> Floats:
        """The standard error of the difference of each two means; zero where the two never differ."""
        either = np.add.outer(np.diag(self.apart), np.diag(self.apart))
        variance = either - 2.0 * self.apart
        return np.asarray(np.sqrt(np.where(variance > 1e-9 * either, variance, 0.0)))  # else it is rounding

    def interval(self, method: int, confidence: float = 0.95) -> tuple[float, float]:
        """Return where the true mean of a method lies; NaN where no unit differs from another."""
        error = float(np.sqrt(self.alone[method]))
        if not error > 0:
            return math.nan, math.nan
        reach = float(stats.t.isf((1 - confidence) / 2, self.df)) * error
        return float(self.means[method]) - reach, float(self.means[method]) + reach

    def more_units(self, one: int, other: int, power: float = 0.8, alpha: float = 0.05) -> float:
        """Return how many times as many units would tell two methods apart, if they differ as they seem to.

        As many so that a two-sided test at ``alpha`` finds the difference with probability ``power``; below one, there
        are enough already. Infinite where the two do not differ.
        """
        apart = abs(float(self.means[one] - self.means[other]))
        return math.inf if apart == 0 else (self.found_apart(one, other, power, alpha) / apart) ** 2

    def found_apart(self, one: int, other: int, power: float = 0.8, alpha: float = 0.05) -> float:
        """Return by how much two methods must differ to be told apart by such a test with probability ``power``."""
        wanted = float(stats.norm.isf(alpha / 2) + stats.norm.isf(1 - power))
        return wanted * float(self.spread[one, other])


def gather(values: Floats, parts: Sequence[Sequence[Parts]], repeat: Sequence[int], test_share: float) -> Evidence:
    """Put splits together.

    Parameters
    ----------
    values : array of shape (n_splits, n_methods)
    parts : sequence of n_splits sequences of n_methods Parts
    repeat : sequence of n_splits int
        A row or list is tested at most once within a repeat.
    test_share : float
        n_test / n_train.
    """
    block = np.unique(np.asarray(repeat), return_inverse=True)[1]
    n_splits, n_repeats = len(values), int(block.max()) + 1
    units, tested = _table(parts, "units", "parts")
    meetings, _ = _table(parts, "meetings", "shared")
    n_units = units.shape[1]
    unequal = all(split[0].shares for split in parts)
    share = _table([split[:1] for split in parts], "units", "shares")[0][:, :, 0] if unequal else _equal(tested)
    if meetings.shape[1] == 0:
        _recentre(units, share, values, block)
    few, degrees = unequal_few(share.mean(axis=0)) if unequal else (few_factor(n_units), None)
    units *= np.broadcast_to(few, n_units)[:, None]  # one mean was taken off all of them
    whole, repeated, within = (
        _products(units, meetings, each) for each in (np.zeros_like(block), block, np.arange(n_splits))
    )
    n_folds, square = n_splits / n_repeats, np.mean([[each.pair_square for each in split] for split in parts], axis=0)
    # what pairs of rows count twice: in a split, in a repeat, and over all, where two rows meet again by chance
    twice, again = _like(repeated, square / n_folds), (1.0 + (n_repeats - 1.0) / n_folds) / n_repeats
    # who else is drawn into a row's test part; of many rows the pairs' squares, next to nothing, stand in for it
    drawn = all(each.luck for split in parts for each in split)
    luck = _products(_table(parts, "units", "luck")[0], meetings, block) if drawn else twice
    moved = repeated - whole - luck * (1.0 - again)
    within, whole = within - _like(within, square), whole - twice * again
    # how much training rows add: what repeats show, or half of the correction where there is one repeat alone
    correction = (1.0 / n_splits + (1.0 if n_repeats > 1 else 0.5) * test_share) * within - whole
    varies = n_folds * n_repeats / (n_repeats - 1.0) * moved if n_repeats > 1 else correction
    alone, apart = (
        _inflate(*(project(each) for each in (whole, varies, correction))) for project in (np.asarray, _beside_mean)
    )
    return Evidence(values.mean(axis=0), np.maximum(np.diag(alone), 0.0), apart, n_units, degrees)


def _inflate(whole: Floats, varies: Floats, most: Floats) -> Floats:
    """Return the covariance by test rows, times what training rows add to each method: κ, and at most so much."""
    size = np.maximum(np.diag(whole), 0.0)
    kappa, highest = (
        np.divide(np.diag(each), size, out=np.zeros_like(size), where=size > 0) for each in (varies, most)
    )
    root = np.sqrt(1.0 + np.clip(kappa, 0.0, np.maximum(highest, 0.0)))
    return np.asarray(semidefinite(whole) * np.outer(root, root))


def _table(parts: Sequence[Sequence[Parts]], numbers: str, values: str) -> tuple[Floats, Bools]:
    """Return values by split, number and method, zero where a split lacks the number; and which numbers it has."""
    every = np.array(sorted({n for split in parts for each in split for n in getattr(each, numbers)}), dtype=np.int64)
    out, has = np.zeros((len(parts), len(every), len(parts[0]))), np.zeros((len(parts), len(every)), bool)
    for k, split in enumerate(parts):
        for m, each in enumerate(split):
            place = np.searchsorted(every, getattr(each, numbers))
            out[k, place, m], has[k, place] = getattr(each, values), True
    return out, has


def _equal(tested: Bools) -> Floats:
    return np.asarray(tested / np.maximum(tested.sum(axis=1, keepdims=True), 1))


def _recentre(units: Floats, share: Floats, values: Floats, repeat: Ints) -> None:
    """Take parts about the mean of their repeat, not of their split: who else was drawn is no part of a unit.

    ``share`` is how much of a split's values each unit makes up, by split and number.
    """
    for k, own in enumerate(share):
        units[k] += np.outer(own, values[k] - values[repeat == repeat[k]].mean(axis=0))


def _products(units: Floats, meetings: Floats, block: Ints) -> Floats:
    """Multiply units' means over the splits of a block, less what meetings count twice; the mean over the blocks."""
    blocks = [block == each for each in range(int(block.max()) + 1)]

    def mean(tables: Floats) -> Floats:
        means = (tables[chosen].mean(axis=0) for chosen in blocks)
        return np.asarray(sum(each.T @ each for each in means) / len(blocks))

    return mean(units) - mean(meetings)


def _like(products: Floats, square: Floats) -> Floats:
    """Return a matrix with this diagonal and the correlations of another."""
    spread = np.sqrt(np.maximum(np.diag(products), 0.0))
    beside = np.divide(np.sqrt(square), spread, out=np.zeros_like(spread), where=spread > 0)
    return np.asarray(products * np.outer(beside, beside))


def _beside_mean(cov: Floats) -> Floats:
    """Return the covariance of deviations from the mean of all methods: that of differences is the same."""
    return np.asarray(cov - cov.mean(axis=0) - cov.mean(axis=1)[:, None] + cov.mean())


# --------------------------------------------------------------------------------------------------
# Which methods stand behind the best.


N_DRAWS = 20_000
"""Draws from the joint distribution of all methods: a p-value of 5 % is then known to within 0.15 %."""


def behind_leader(evidence: Evidence, *, greater_is_better: bool, seed: int = 0) -> list[float]:
    """Return for each method how often chance alone would put the best of equals that far ahead of one of them.

    The leader is chosen on the same data, and so are its leads in what they are held against: means of equal methods
    are drawn from their joint law, the best of each draw leads, and its largest lead, in standard errors, is kept. The
    one furthest behind is judged first, beside all; the next one beside those that are left, and never with a smaller
    p-value (Hansen, Lunde and Nason, 2011, The model confidence set). The leader itself has 1.
    """
    sign = 1.0 if greater_is_better else -1.0
    means, spread = sign * evidence.means, evidence.spread
    leader = int(np.argmax(means))
    with np.errstate(divide="ignore", invalid="ignore"):
        lead = np.where(means < means[leader], (means[leader] - means) / spread[leader], 0.0)
    drawn = _draw(evidence, seed)
    p_values, left, highest = [1.0] * len(means), list(range(len(means))), 0.0
    for method in sorted(range(len(means)), key=lambda each: -lead[each]):
        if lead[method] > 0:
            leads = _largest_leads(drawn[:, left], spread[np.ix_(left, left)])
            highest = max(highest, (1.0 + np.count_nonzero(leads >= lead[method])) / (1.0 + len(leads)))
            p_values[method] = float(highest)
            left.remove(method)
    return p_values


def _draw(evidence: Evidence, seed: int) -> Floats:
    """Draw means of equal methods, one row a draw: Student's t with their covariance."""
    rng = np.random.default_rng(seed)
    values, vectors = np.linalg.eigh(evidence.apart)
    normal = rng.standard_normal((N_DRAWS, len(values))) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return np.asarray(normal / np.sqrt(rng.chisquare(evidence.df, N_DRAWS) / evidence.df)[:, None])


def _largest_leads(drawn: Floats, spread: Floats) -> Floats:
    best = np.argmax(drawn, axis=1)
    ahead = np.take_along_axis(drawn, best[:, None], axis=1) - drawn
    with np.errstate(divide="ignore", invalid="ignore"):
        leads = np.where(spread[best] > 0, ahead / spread[best], 0.0)
    return np.asarray(leads.max(axis=1))
