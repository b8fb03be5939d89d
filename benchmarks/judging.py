"""How what a method found is judged: the same for all, off the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wellorder.metrics import ndcg, swapped_pairs

from .objectives import pair_objective, tie_objective
from .peers import PAIRS, SAMPLED, TIES
from .shapes import Duels, Games, Lists, Result, Rows

if TYPE_CHECKING:
    from .peers import Peer
    from .workloads import Workload

Figures = dict[str, Any]


def judge(workload: Workload, peer: Peer, train: Any, test: Any, result: Result) -> Figures:
    """Return what can be said of a result: test errors, objective, value."""
    figures: Figures = _JUDGES[workload.task](test, result)
    C0 = workload.settings.C0
    if result.coef is not None and C0:
        if peer.minimises in (PAIRS, SAMPLED):
            figures["objective"] = pair_objective(result.coef, train, C0, workload.settings.gamma)
        elif peer.minimises == TIES and result.bias is not None:
            figures["objective"] = tie_objective(result.coef, result.bias, train, C0)
    return figures


def _order(test: Rows, result: Result) -> Figures:
    if result.scores is None:
        return {}
    scores = np.asarray(result.scores(test.X), dtype=float).ravel()
    figures: Figures = {"swapped": swapped_pairs(test.y, scores, test.groups)}
    if test.groups is not None and len(np.unique(test.groups)) > 50:
        figures["ndcg10"] = ndcg(test.y, scores, test.groups, k=10)
    return figures


def _compare(test: Duels, result: Result) -> Figures:
    assert result.compare is not None
    return {"error": float(np.mean(result.compare(test.left, test.right) != test.outcome))}


def _rate(test: Games, result: Result) -> Figures:
    strengths = np.asarray(result.strengths)
    return {"error": float(np.mean(strengths[test.winner] <= strengths[test.loser]))}


def _value(test: Lists | None, result: Result) -> Figures:
    return {"value": result.value}


_JUDGES: dict[str, Callable[[Any, Result], Figures]] = {
    "order": _order,
    "compare": _compare,
    "rate": _rate,
    "measure": _value,
    "read": _value,
}
