"""How good comparisons are predicted, ties included: outcomes −1 (left better), 0 (no difference), 1 (right better)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..order import Comparisons, check_outcomes, check_scores, direction_share, exact_numbers
from ..sweeps import Array, Floats, Ints
from .inputs import read_weights, undefined

# --------------------------------------------------------------------------------------------------
# Of differences, one a pair.


class ComparisonROC(NamedTuple):
    """The points of the curve, from (0, 0) on; a pair counts as different where abs(difference) > threshold."""

    fpr: Floats
    tpr: Floats
    thresholds: Floats


def comparison_error(y: Any, y_pred: Any, sample_weight: Any = None) -> float:
    r"""Share of comparisons whose outcome is predicted wrongly; a wrong direction and a missed tie count alike.

    Parameters
    ----------
    y, y_pred : arrays of shape (n,)
        Outcomes in {−1, 0, 1}, true and predicted; 1: the right item is better, 0: no difference.
    sample_weight : array of shape (n,), optional
        What each comparison weighs.

    Returns
    -------
    float
        In [0, 1], the lower the better; NaN, with a warning, if there is no comparison.

    Examples
    --------
    >>> from wellorder.metrics import comparison_error
    >>> comparison_error([1, 0, -1, 1], [1, 1, -1, -1])
    0.5
    """
    outcome, predicted = _outcomes(y, "y"), _outcomes(y_pred, "y_pred")
    if len(outcome) != len(predicted):
        raise ValueError(f"y has {len(outcome)} outcomes and y_pred {len(predicted)}; give one of each a comparison")
    weight = read_weights(sample_weight, len(outcome))
    if not weight.any():
        return undefined("comparison_error", "there is no comparison")
    return float(weight[outcome != predicted].sum() / weight.sum())


def comparison_roc(y: Any, differences: Any) -> ComparisonROC:
    r"""ROC curve of 'there is a difference', by moving the threshold τ over score differences.

    A pair is predicted to differ where abs(d) > τ, in the direction of d = r(right) − r(left). False
    positive: such a prediction for a tie, over the pairs with y = 0. True positive: such a prediction in
    the *right direction*, over the pairs with y ≠ 0. So the curve ends at the share of right directions,
    not at (1, 1): random scores have an area of about ¼. Pairs with d = 0 exactly stay ties at τ = 0:
    from the last point the curve runs horizontally to 1.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better. At least one 0 and one other.
    differences : array of shape (n,)
        Score of the right item less that of the left one.

    Returns
    -------
    ComparisonROC
        ``(fpr, tpr, thresholds)``: τ runs down through the distinct values of abs(d) to 0; the end of the
        horizontal stretch has τ = −inf. O(n log n).

    References
    ----------
    Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines, section 4.

    Examples
    --------
    >>> from wellorder.metrics import comparison_roc
    >>> fpr, tpr, thresholds = comparison_roc([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.5, 0.5])
    """
    outcome, d = _checked_differences(y, differences)
    n_ties = int(np.count_nonzero(outcome == 0))
    if n_ties in (0, len(outcome)):
        raise ValueError("the curve needs at least one tie (y = 0) and one difference (y = 1 or −1)")
    false, true, size = _cumulated(outcome, d)
    fpr, tpr = false / n_ties, true / (len(outcome) - n_ties)
    thresholds = np.append(size, 0.0)
    if fpr[-1] < 1:
        fpr, tpr, thresholds = np.append(fpr, 1.0), np.append(tpr, tpr[-1]), np.append(thresholds, -np.inf)
    return ComparisonROC(fpr, tpr, thresholds)


def comparison_auc(y: Any, differences: Any) -> float:
    r"""Area under :func:`comparison_roc`, exactly.

    It is the share of (difference, tie) couples of pairs in which the difference is rightly directed and
    has the larger abs(d); equal ones count half.

    Parameters
    ----------
    y : array of shape (n,)
        Outcomes in {−1, 0, 1}; 1: the right item is better.
    differences : array of shape (n,)
        Score of the right item less that of the left one.

    Returns
    -------
    float
        In [0, 1], the higher the better, about ¼ for random scores; NaN, with a warning, without a tie or
        without a difference. O(n log n), in whole numbers.

    Examples
    --------
    >>> from wellorder.metrics import comparison_auc
    >>> comparison_auc([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0])
    0.5
    """
    outcome, d = _checked_differences(y, differences)
    n_ties = int(np.count_nonzero(outcome == 0))
    if n_ties in (0, len(outcome)):
        return undefined("comparison_auc", "it needs at least one tie (y = 0) and one difference (y = 1 or −1)")
    false, true, _ = _cumulated(outcome, d)
    doubled = int(np.sum(np.diff(false) * (true[1:] + true[:-1]))) + 2 * int(n_ties - false[-1]) * int(true[-1])
    return doubled / (2 * n_ties * (len(outcome) - n_ties))


def _cumulated(outcome: Ints, d: Array) -> tuple[Ints, Ints, Floats]:
    """Count false and true positives as abs(d) falls through its distinct values above 0; from (0, 0) on."""
    size, place = np.unique(-np.abs(d), return_inverse=True)
    tie = outcome == 0
    right = ((d > 0).astype(np.int64) - (d < 0) == outcome) & ~tie
    false, true = (np.bincount(place[kind], minlength=len(size)) for kind in (tie, right))
    falling = -size[size < 0].astype(float)
    start = np.zeros(1, np.int64)
    counts = [np.concatenate([start, np.cumsum(kind[: len(falling)])]) for kind in (false, true)]
    return counts[0], counts[1], falling


def _checked_differences(y: Any, differences: Any) -> tuple[Ints, Array]:
    outcome = _outcomes(y, "y")
    d = exact_numbers(differences)
    d = d.astype(object) if d.dtype.kind in "iu" else d  # those of fixed size go round at their ends
    if d.shape != outcome.shape:
        raise ValueError(f"differences have shape {d.shape}, but there are {len(outcome)} comparisons; give one each")
    if (missing := d != d).any():
        raise ValueError(f"the difference of row {int(np.flatnonzero(missing)[0])} is NaN")
    return outcome, d


def _outcomes(values: Any, name: str) -> Ints:
    try:
        return check_outcomes(values).astype(np.int64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


# --------------------------------------------------------------------------------------------------
# Of item scores: functions of (comparisons, scores), as others are of (y, scores).
#
# ``advantage`` is what it is worth to stand on the left, and is taken off the right score less the left one;
# ``threshold`` is how far from zero that must be for a model to call two items different.


class VoteValues(NamedTuple):
    """What each comparison has, and weighs: a metric that is their mean."""

    values: Floats
    weight: Floats


def swapped_comparisons(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> float:
    """Share of the decided comparisons that the scores put the wrong way round; tied scores are an error.

    Threshold and advantage change nothing: who stands above is asked, not what a model would say of a meeting.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.metrics.comparisons import swapped_comparisons
    >>> swapped_comparisons(wo.Comparisons([0, 1, 0], [1, 2, 2], [1, 1, 0]), np.array([0.0, 2.0, 1.0]))
    0.5
    """
    pairs = comparisons.to_pairs(len(scores))
    if pairs.n_pairs == 0:
        return undefined("swapped_pairs", "no comparison was decided")
    return direction_share(pairs, check_scores(scores, len(scores)), wrong=True)


def swapped_comparisons_of(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> VoteValues | str:
    """Return what :func:`swapped_comparisons` is the mean of, or why there is none."""
    d = _differences(comparisons, check_scores(scores, len(scores)), 0.0)
    decided = comparisons.outcome != 0
    if not decided.any():
        return "no comparison was decided"
    weight = read_weights(comparisons.weight, len(decided))
    return VoteValues((np.sign(d) != comparisons.outcome).astype(float), np.where(decided, weight, 0.0))


def missed_comparisons(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> float:
    """Share of all comparisons that the scores get wrong: a wrong direction, a missed tie, or one that is none.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.metrics.comparisons import missed_comparisons
    >>> games = wo.Comparisons([0, 0, 1], [1, 2, 2], [1, 1, 0])
    >>> missed_comparisons(games, np.array([0.0, 2.0, 2.5]), threshold=1.0)
    0.0
    """
    return comparison_error(comparisons.outcome, _called(comparisons, scores, threshold, advantage), comparisons.weight)


def missed_comparisons_of(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> VoteValues:
    """Return what :func:`missed_comparisons` is the mean of."""
    called = _called(comparisons, check_scores(scores, len(scores)), threshold, advantage)
    return VoteValues(
        (called != comparisons.outcome).astype(float), read_weights(comparisons.weight, len(comparisons.outcome))
    )


def _called(comparisons: Comparisons, scores: Floats, threshold: float, advantage: float) -> Ints:
    d = _differences(comparisons, scores, advantage)
    return np.where(d > threshold, 1, np.where(d < -threshold, -1, 0))


def tie_auc(comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0) -> float:
    """Return :func:`comparison_auc` of the differences of item scores, over all thresholds."""
    return comparison_auc(comparisons.outcome, _differences(comparisons, scores, advantage))


def _differences(comparisons: Comparisons, scores: Floats, advantage: float) -> Array:
    """Return right less left, less what the left side is worth.

    Whole numbers become Python's own: those of fixed size go round at their ends.
    """
    values = exact_numbers(scores)
    values = values.astype(object) if values.dtype.kind in "iu" else values
    difference = np.asarray(values[comparisons.right] - values[comparisons.left])
    return difference - advantage if advantage else difference
