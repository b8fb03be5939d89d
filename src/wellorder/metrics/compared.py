"""Metrics of item scores against comparisons: functions of (comparisons, scores), as others are of (y, scores).

``advantage`` is what it is worth to stand on the left, and is taken off the right score less the left one;
``threshold`` is how far from zero that must be for a model to call two items different.
"""

from __future__ import annotations

import numpy as np

from ..order import Comparisons, check_scores, direction_share
from ..order.columns import exact_numbers
from ..sweeps import Array, Floats
from .comparisons import comparison_auc, comparison_error
from .inputs import undefined


def swapped_comparisons(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> float:
    """Share of the decided comparisons that the scores put the wrong way round; tied scores are an error.

    Threshold and advantage change nothing: who stands above is asked, not what a model would say of a meeting.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.metrics.compared import swapped_comparisons
    >>> swapped_comparisons(wo.Comparisons([0, 1, 0], [1, 2, 2], [1, 1, 0]), np.array([0.0, 2.0, 1.0]))
    0.5
    """
    pairs = comparisons.to_pairs(len(scores))
    if pairs.n_pairs == 0:
        return undefined("swapped_pairs", "no comparison was decided")
    return direction_share(pairs, check_scores(scores, len(scores)), wrong=True)


def missed_comparisons(
    comparisons: Comparisons, scores: Floats, threshold: float = 0.0, advantage: float = 0.0
) -> float:
    """Share of all comparisons that the scores get wrong: a wrong direction, a missed tie, or one that is none.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.metrics.compared import missed_comparisons
    >>> games = wo.Comparisons([0, 0, 1], [1, 2, 2], [1, 1, 0])
    >>> missed_comparisons(games, np.array([0.0, 2.0, 2.5]), threshold=1.0)
    0.0
    """
    d = _differences(comparisons, scores, advantage)
    called = np.where(d > threshold, 1, np.where(d < -threshold, -1, 0))
    return comparison_error(comparisons.outcome, called, comparisons.weight)


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
