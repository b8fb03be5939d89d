"""The p-norm push: how high the negatives reach."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..order import Ties
from ..sweeps import Array, Floats, sums_at
from .inputs import check_ties, undefined
from .retrieval import Lists, judged_lists


def p_norm_push(
    y: Any,
    scores: Any,
    groups: Any = None,
    p: float = 4.0,
    positive: Any = 1,
    ties: Ties = "error",
    normalize: bool = True,
) -> float:
    r"""How high negative rows stand, by the p-norm of their heights; averaged over queries.

    The height h_k of a negative row k is the number of positive rows that it is not below,
    Σ_{i positive} 1[s_i ≤ s_k]. Rudin's objective is Σ_k h_k^p. By default it comes as her normalised
    norm ((1/n₋) Σ_k (h_k / n₊)^p)^{1/p}, in [0, 1] for lists of any length: with p = 1 it is the share
    of swapped pairs, and as p grows it is the height of the highest negative. (Table 1 of
    Uematsu and Lee, 2013, has a gain Σ_positive (n − place)^p under the same name.)

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades; rows without one (NaN) are left out.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        The query of each row. A query without a positive or without a negative row is left out.
    p : float
        At least 1; the larger, the more the top of the list counts.
    positive : grade
        The lowest grade that counts as positive.
    ties : {"error", "half"}
        Whether a tied positive adds 1 (as Rudin has it) or ½ to a height.
    normalize : bool
        False: the plain Σ_k h_k^p of each query.

    Returns
    -------
    float
        The lower the better; NaN, with a warning, if no query has both kinds. O(n log n).

    References
    ----------
    Rudin (2009), The P-Norm Push: a simple convex ranking algorithm that concentrates at the top of the list.

    Examples
    --------
    >>> from wellorder.metrics import p_norm_push
    >>> p_norm_push([0, 1, 1, 0], [0.9, 0.8, 0.7, 0.1], p=2, normalize=False)
    4.0
    """
    check_ties(ties)
    if isinstance(p, bool) or not isinstance(p, Real) or not 1 <= p < np.inf:
        raise ValueError(f"p={p!r} must be a finite number, at least 1")
    lists, hits, positives = judged_lists("p_norm_push", y, scores, groups, positive)
    defined = (positives > 0) & (lists.sizes > positives)
    if not defined.any():
        return undefined("p_norm_push", "no query has both a positive and a negative row")
    below = positives[lists.run_group] - lists.before(hits)  # positives that a row of the run is not below
    height = below - (0.5 * hits if ties == "half" else 0.0)
    values = _norms(lists, height, lists.run_size - hits, float(p), root=normalize)
    if not np.isfinite(values).all():
        raise ValueError(f"heights to the power of {p:g} overflow; use normalize=True or a smaller p")
    if normalize:
        values = values / np.maximum(positives, 1)
    return float(np.mean(values[defined]))


def _norms(lists: Lists, height: Floats, count: Array, p: float, *, root: bool) -> Floats:
    """Σ count · height^p over the runs of each group; with ``root``, the p-th root of their mean."""
    n_groups = len(lists.sizes)
    height = np.where(count > 0, height, 0.0)
    unit = np.ones(n_groups)
    if root:  # measured from the highest, no power can vanish or overflow
        highest = np.zeros(n_groups)
        np.maximum.at(highest, lists.run_group, height)
        unit = np.where(highest > 0, highest, 1.0)
    height = height / unit[lists.run_group]
    with np.errstate(over="ignore"):
        summed = sums_at(lists.run_group, count * height**p, minlength=n_groups)
    if not root:
        return summed
    number = np.bincount(lists.run_group, count, minlength=n_groups)
    return np.asarray(unit * (summed / np.maximum(number, 1)) ** (1 / p))
