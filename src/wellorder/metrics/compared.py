"""Metrics of item scores against comparisons: functions of (comparisons, scores), as others are of (y, scores)."""

from __future__ import annotations

import numpy as np

from ..order import Comparisons, direction_share
from ..sweeps import Floats
from .comparisons import comparison_auc, comparison_error
from .inputs import undefined


def swapped_comparisons(comparisons: Comparisons, scores: Floats) -> float:
    """Share of the decided comparisons that the scores put the wrong way round; tied scores are an error.

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
    return 1.0 - direction_share(pairs, scores)


def missed_comparisons(comparisons: Comparisons, scores: Floats) -> float:
    """Share of all comparisons that the scores get wrong: a wrong direction, or a tie whose scores differ."""
    return comparison_error(comparisons.outcome, np.sign(_differences(comparisons, scores)), comparisons.weight)


def tie_auc(comparisons: Comparisons, scores: Floats) -> float:
    """Return :func:`comparison_auc` of the differences of item scores."""
    return comparison_auc(comparisons.outcome, _differences(comparisons, scores))


def _differences(comparisons: Comparisons, scores: Floats) -> Floats:
    return np.asarray(scores[comparisons.right] - scores[comparisons.left])
