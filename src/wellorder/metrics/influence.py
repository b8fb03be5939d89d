r"""How sure a metric is: what each row, list or item adds to it, and so how several methods' values vary together.

To first order, a metric's value on test rows differs from its expectation by a sum :math:`\sum_u a_u` over independent
units u: rows of one list (or of strata), lists where there are several, items of comparisons. So the values of several
methods on the same rows have

.. math:: \widehat{\mathrm{Cov}}(U^{(m)}, U^{(m')}) = \sum_u a_u^{(m)} a_u^{(m')}

For a share of pairs, U = ΣW h / ΣW, row i has :math:`a_i = \sum W (h - U) / \sum W` over its pairs, as their upper and
as their lower end. With two grades this is DeLong's covariance, with continuous ones that of the concordance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import stats

from ..order import Comparisons, Grades
from ..sweeps import Floats, Ints, one_thread, parallel_map
from .comparisons import VoteValues
from .inputs import read_grades
from .pairs import PairShare, TauParts
from .probabilities import RowValues
from .registry import AnyMetric, Metric, parse
from .retrieval import ListValues
from .survival import MeanShare

Unit = Literal["rows", "groups", "items"]


@dataclass(frozen=True)
class Influence:
    """The values of several methods, and what each independent unit adds to them.

    Attributes
    ----------
    values : array of shape (n_methods,)
    parts : array of shape (n_units, n_methods)
        To first order the values differ from their expectations by the sum over the units; each column's mean is about
        zero.
    few : array of shape (n_units,)
        By which deviations from a mean of few units are too small: √(n/(n − 1)) of n equal ones, more for a unit that
        makes up much of the mean.
    degrees : float
        Of freedom that the units leave: their number less one, less where few of them make up most of the mean.
    unit : {"rows", "groups", "items"}
    number : array of shape (n_units,)
        Of each unit: its row, the first row of its group, or its item.
    shared : array of shape (n_meetings, n_methods)
        Of items alone: what each two that met have in common. It is in the parts of both, and so twice in the sum of
        products.
    meeting : array of shape (n_meetings,)
        The first comparison of each such two.
    pair_square : array of shape (n_methods,)
        Of rows alone: Σψ² over the pairs, ψ being what a pair adds; twice in the sum of squares as well, but small
        beside it, by one over the number of rows. DeLong's covariance leaves it there.
    share : array of shape (n_units,)
        How much of the values each unit makes up, one in all; empty where all make up as much.
    """

    values: Floats
    parts: Floats
    few: Floats
    degrees: float
    unit: Unit
    number: Ints
    shared: Floats
    meeting: Ints
    pair_square: Floats
    share: Floats

    @property
    def n_units(self) -> int:
        """How many units have a part in the values."""
        return len(self.parts)

    @property
    def deviations(self) -> Floats:
        """The parts, as large as they are in truth where these units are all: the covariance is made of them."""
        return np.asarray(self.parts * self.few[:, None])

    def covariance(self) -> Floats:
        """Return the covariance of the values; NaN with fewer than two units."""
        m = len(self.values)
        if self.n_units < 2:
            return np.full((m, m), np.nan)
        deviations = self.deviations
        found = deviations.T @ deviations - self.shared.T @ self.shared
        return semidefinite(found) if len(self.shared) else found


def influence_of(
    y: Any, scores: Any, metric: AnyMetric = "swapped_pairs", groups: Any = None, **rule: float
) -> Influence:
    """Return what each unit adds to a metric, for one method a column of the scores; as :func:`covariance` takes it.

    ``rule`` is what a model makes of differences: ``threshold`` and ``advantage``, of comparisons alone.
    """
    votes = isinstance(y, Comparisons)
    measure = parse(metric, of="comparisons" if votes else "grades")
    if measure.definition.parts is None:
        raise ValueError(
            f"{measure} is no mean over pairs, lists or votes, and so nothing says how sure it is; take one that is "
            "(swapped_pairs, wmw, ndcg, …), or resample"
        )
    if measure.definition.judges_probabilities:
        raise ValueError(f"{measure} judges probabilities, and these are scores; name a metric of scores")
    columns = np.asarray(scores)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or columns.shape[1] == 0:
        raise ValueError(f"scores have shape {np.shape(scores)}; give one column a method, or a single column")
    if votes and groups is not None:
        raise ValueError("comparisons have no groups; leave groups out")
    target = y if votes else read_grades(y, groups)
    return _gathered([_parts(measure, target, column, rule) for column in columns.T], target)


def influence_of_probabilities(
    order: Grades | Comparisons, probabilities: Floats, metric: Metric, **options: Any
) -> Influence:
    """Return what each unit adds to a metric of probabilities, of one method alone.

    ``options`` are what the metric takes beside them: of grades, ``levels``.
    """
    return _gathered([_parts(metric, order, probabilities, options)], order)


def _gathered(parts: list[Any], target: Grades | Comparisons) -> Influence:
    if isinstance(target, Comparisons):
        return _of_votes(parts, target)
    if isinstance(parts[0], ListValues):
        return _of_lists(parts, target)
    return _of_rows(parts, target) if isinstance(parts[0], RowValues) else _of_pairs(parts, target)


def _parts(measure: Metric, target: Grades | Comparisons, scores: Floats, rule: dict[str, Any]) -> Any:
    assert measure.definition.parts is not None
    found = measure.call(measure.definition.parts, target, np.ascontiguousarray(scores), **rule)
    if isinstance(found, str):
        raise ValueError(f"{measure} is not defined: {found}")
    return found


def _of_pairs(parts: list[PairShare | MeanShare | TauParts], grades: Grades) -> Influence:
    rows = parts[0].rows
    parts[0].weight_by_row  # noqa: B018 - all are held against it, and none waits for another that makes it
    found = parallel_map(_alone, parts, len(grades))
    values, by_row = np.array([value for value, _ in found]), np.array([row[rows] for _, row in found]).T
    if grades.lists is not None and grades.n_groups > 1:
        _, first, group = np.unique(np.asarray(grades.group)[rows], return_index=True, return_inverse=True)
        by_group = 0.5 * _sums(group, by_row)  # each pair is in the sums of its two rows
        weight = _sums(group, parts[0].weight_by_row[rows][:, None])[:, 0]
        share = weight / weight.sum()
        few, degrees = unequal_few(share)
        return replace(_simple(values, by_group, "groups", rows[first]), few=few, degrees=degrees, share=share)
    levels, level, count = np.unique(grades.level[rows], return_inverse=True, return_counts=True)
    # of two levels each is a sample of its own (DeLong); of more, the rows are one sample, levels and all
    squares = np.array([part.pair_square(value) for part, value in zip(parts, values, strict=True)])
    one_sample = _simple(values, by_row, "rows", rows, squares)
    return replace(one_sample, few=few_factor(count)[level]) if len(levels) == 2 else one_sample


def _alone(part: PairShare | MeanShare | TauParts) -> tuple[float, Floats]:
    """Return a column's parts, by one thread: columns are many."""
    with one_thread():
        return part.by_row()


def _simple(values: Floats, parts: Floats, unit: Unit, number: Ints, squares: Floats | None = None) -> Influence:
    """Return parts of units that are one sample and meet nobody."""
    nobody = np.zeros((0, len(values))), np.zeros(0, np.int64)
    factor = np.full(len(parts), few_factor(len(parts)))
    squares = np.zeros(len(values)) if squares is None else squares
    return Influence(values, parts, factor, max(len(parts) - 1.0, 1.0), unit, number, *nobody, squares, np.zeros(0))


def unequal_few(share: Floats) -> tuple[Floats, float]:
    r"""Correct for lists that make up unequal shares p of a value, one in all: few large ones are no crowd.

    Returned are the factors by which their deviations are too small, and their degrees of freedom. The values are
    :math:`U = \sum p_g u_g`, and a part is :math:`p_g (u_g - U)`. With variances :math:`v_g` of u, for which those of
    lists as long as :math:`\sqrt{p_g}` stand in (1/rows), its square is too small by

    .. math:: v_g / (v_g (1 - 2 p_g) + \textstyle\sum_h p_h^2 v_h)

    and the sum of squares has the degrees of freedom of Satterthwaite's approximation (Bell and McCaffrey, 2002).
    """
    p, kept = share, share > 0
    if np.count_nonzero(kept) < 2:
        return np.full(len(p), few_factor(len(p))), max(len(p) - 1.0, 1.0)
    v = np.where(kept, 1.0 / np.sqrt(np.where(kept, p, 1.0)), 0.0)
    q = p * v
    s = float(p @ q)
    own = np.where(kept, v * (1.0 - 2.0 * p) + s, 1.0)  # the variance of u_g − U
    few = np.where(kept, np.sqrt(v / own), 1.0)
    w = (p * few) ** 2
    # Σ_gh w_g w_h Ω_gh², with Ω the covariance of u_g − U: v_g [g = h] + s − q_g − q_h
    s0, s1, s2 = float(w.sum()), float(w @ q), float(w @ q**2)
    squares = s**2 * s0**2 - 4.0 * s * s0 * s1 + 2.0 * s0 * s2 + 2.0 * s1**2
    squares += float(w**2 @ (own**2 - (s - 2.0 * q) ** 2))
    return few, max(float(w @ own) ** 2 / squares, 1.0)


def few_factor(n: Any) -> Any:
    """Return √(n/(n − 1)): deviations from a mean of few are too small by its inverse. One alone has none."""
    return np.sqrt(np.asarray(n) / np.maximum(np.asarray(n) - 1.0, 1.0))


def _of_lists(parts: list[ListValues], grades: Grades) -> Influence:
    by_list = np.column_stack([part.values for part in parts])
    counts = ~np.isnan(by_list).any(axis=1)
    first = np.zeros(len(by_list), np.int64)
    if grades.group is not None:  # a list's number is its group's
        first[grades.group[::-1]] = np.arange(len(grades))[::-1]
    by_list, first = by_list[counts], first[counts]
    if len(by_list) == 0:
        raise ValueError("no list has a relevant row, so that there is nothing to average")
    values = by_list.mean(axis=0)
    return _simple(values, (by_list - values) / len(by_list), "groups", first)


def _of_rows(parts: list[RowValues], grades: Grades) -> Influence:
    rows = np.flatnonzero(parts[0].weight > 0)
    weight = parts[0].weight[rows] / parts[0].weight[rows].sum()
    by_row = np.column_stack([part.values[rows] for part in parts])
    values = weight @ by_row
    psi = weight[:, None] * (by_row - values)
    if grades.lists is not None and grades.n_groups > 1:
        _, first, group = np.unique(np.asarray(grades.group)[rows], return_index=True, return_inverse=True)
        return _simple(values, _sums(group, psi), "groups", rows[first])
    return _simple(values, psi, "rows", rows)


def _of_votes(parts: list[VoteValues], comparisons: Comparisons) -> Influence:
    counted = np.flatnonzero(parts[0].weight > 0)
    if len(counted) == 0:
        raise ValueError("there is no comparison that counts")
    weight = parts[0].weight[counted] / parts[0].weight[counted].sum()
    by_vote = np.column_stack([part.values[counted] for part in parts])
    values = weight @ by_vote
    psi = weight[:, None] * (by_vote - values)
    left, right = comparisons.left[counted], comparisons.right[counted]
    items, ends = np.unique(np.concatenate([left, right]), return_inverse=True)
    by_item = _sums(ends, np.vstack([psi, psi]))
    first, second = np.sort(ends.reshape(2, -1), axis=0)
    _, met, pair = np.unique(first * np.int64(len(items)) + second, return_index=True, return_inverse=True)
    return replace(_simple(values, by_item, "items", items), shared=_sums(pair, psi), meeting=counted[met])


def _sums(place: Ints, values: Floats) -> Floats:
    """Sum rows of values by the place that each has."""
    return np.column_stack([np.bincount(place, column) for column in values.T])


def semidefinite(matrix: Floats) -> Floats:
    """Return the matrix with its negative eigenvalues set to zero: what was taken off may be more than there is."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


# --------------------------------------------------------------------------------------------------
# What people ask for.


def covariance(y: Any, scores: Any, metric: AnyMetric = "swapped_pairs", groups: Any = None) -> Floats:
    r"""Covariance of the values that several methods reach on the same rows, for any metric that is a mean.

    Independent units are the rows of one list, the lists where there are several, and the items of comparisons. Pair
    metrics take :math:`\sum_u a_u a_u^\top` with each unit's influence a (DeLong's covariance on two grades), metrics
    of lists the covariance of their means over lists.

    Parameters
    ----------
    y : array of shape (n,), Grades or Comparisons
        What the scores are held against.
    scores : array of shape (n, n_methods) or (n,)
        One column a method; of the items, for comparisons.
    metric : str or Metric, default="swapped_pairs"
        ``swapped_pairs``, ``wmw``, the AUCs, ``misranking_cost``, ``kendall_tau``, metrics of lists (``ndcg@10``); of
        comparisons ``swapped_pairs`` and ``comparison_error``.
    groups : array of shape (n,), optional
        One id a row.

    Returns
    -------
    array of shape (n_methods, n_methods)
        The square root of its diagonal holds standard errors. NaN where there are fewer than two units. O(m n log n +
        m² n) for m methods.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating
    characteristic curves.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.metrics import covariance
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> scores = np.column_stack([[1, 2, 5, 3, 6, 7], [1, 2, 4, 3, 5, 6]])
    >>> np.round(np.sqrt(np.diag(covariance(y, scores, "wmw"))), 3).tolist()
    [0.157, 0.157]
    """
    return influence_of(y, scores, metric, groups).covariance()


@dataclass(frozen=True)
class Difference:
    """One method's value less another's on the same rows, and how sure that is."""

    difference: float
    standard_error: float
    """NaN with fewer than two units, as are the ends of the interval and the p-value."""
    low: float
    high: float
    p_value: float
    """Two-sided; 1 if the two never differ."""
    confidence: float
    unit: Unit
    """What was taken to be independent."""
    n_units: int


def paired_test(
    y: Any,
    first: Any,
    second: Any,
    metric: AnyMetric = "swapped_pairs",
    groups: Any = None,
    confidence: float = 0.95,
) -> Difference:
    r"""Test whether two methods differ on the same rows: the difference of a metric, its interval and p-value.

    Parameters
    ----------
    y, metric, groups
        As :func:`covariance` takes them.
    first, second : arrays of shape (n,)
        The two methods' scores.
    confidence : float, default=0.95

    Returns
    -------
    Difference
        The first one's value less the second one's. Of rows by the normal law; of lists and items by Student's t with
        their number less one, or fewer degrees of freedom where a few lists have most of the pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.metrics import paired_test
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 300)
    >>> good, bad = y + rng.normal(0, 1, 300), y + rng.normal(0, 2, 300)
    >>> found = paired_test(y, good, bad)
    >>> found.difference < 0, found.p_value < 0.01
    (True, True)
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")
    one, other = np.asarray(first), np.asarray(second)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(
            f"the scores first and second have shapes {one.shape} and {other.shape}; give one number a row in each"
        )
    found = influence_of(y, np.column_stack([one, other]), metric, groups)
    apart = np.array([1.0, -1.0])
    difference = float(apart @ found.values)
    error = float(np.sqrt(max(apart @ found.covariance() @ apart, 0.0))) if found.n_units > 1 else float("nan")
    law: Any = stats.norm if found.unit == "rows" else stats.t(found.degrees)
    reach = float(law.isf((1 - confidence) / 2)) * error
    unsure = 1.0 if difference == 0 else float("nan")
    p_value = float(2 * law.sf(abs(difference) / error)) if error > 0 else unsure
    return Difference(
        difference, error, difference - reach, difference + reach, p_value, confidence, found.unit, found.n_units
    )
