"""How good predicted comparisons are, ties included: outcomes −1 (left better), 0 (no difference), 1 (right better)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..order import check_outcomes
from ..order.columns import exact_numbers
from ..sweeps import Array, Floats
from .inputs import read_weights, undefined


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
    Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines (paper 003).

    Examples
    --------
    >>> from wellorder.metrics import comparison_roc
    >>> fpr, tpr, thresholds = comparison_roc([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0])
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.5, 0.5, 0.5])
    """
    outcome, d = _checked(y, differences)
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
    outcome, d = _checked(y, differences)
    n_ties = int(np.count_nonzero(outcome == 0))
    if n_ties in (0, len(outcome)):
        return undefined("comparison_auc", "it needs at least one tie (y = 0) and one difference (y = 1 or −1)")
    false, true, _ = _cumulated(outcome, d)
    doubled = int(np.sum(np.diff(false) * (true[1:] + true[:-1]))) + 2 * int(n_ties - false[-1]) * int(true[-1])
    return doubled / (2 * n_ties * (len(outcome) - n_ties))


def _cumulated(outcome: Array, d: Array) -> tuple[Array, Array, Floats]:
    """Count false and true positives as abs(d) falls through its distinct values above 0; from (0, 0) on."""
    size, place = np.unique(-np.abs(d), return_inverse=True)
    tie = outcome == 0
    right = ((d > 0).astype(np.int64) - (d < 0) == outcome) & ~tie
    false, true = (np.bincount(place[kind], minlength=len(size)) for kind in (tie, right))
    falling = -size[size < 0].astype(float)
    start = np.zeros(1, np.int64)
    counts = [np.concatenate([start, np.cumsum(kind[: len(falling)])]) for kind in (false, true)]
    return counts[0], counts[1], falling


def _checked(y: Any, differences: Any) -> tuple[Array, Array]:
    outcome = _outcomes(y, "y")
    d = exact_numbers(differences)
    d = d.astype(object) if d.dtype.kind in "iu" else d  # those of fixed size go round at their ends
    if d.shape != outcome.shape:
        raise ValueError(f"differences have shape {d.shape}, but there are {len(outcome)} comparisons; give one each")
    if (missing := d != d).any():
        raise ValueError(f"the difference of row {int(np.flatnonzero(missing)[0])} is NaN")
    return outcome, d


def _outcomes(values: Any, name: str) -> Array:
    try:
        return check_outcomes(values).astype(np.int64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
