"""scikit-learn's metrics."""

from __future__ import annotations

from collections.abc import Callable

from ..shapes import Lists, Result
from .peer import Peer, Settings, as_table


def _start(lists: Lists, settings: Settings) -> Callable[[], Result]:
    from sklearn.metrics import ndcg_score, roc_auc_score

    if settings.metric == "auc":
        return lambda: Result(value=float(roc_auc_score(lists.y, lists.scores)))
    y, scores = as_table(lists)
    return lambda: Result(value=float(ndcg_score(y, scores, k=10)))


PEERS = (Peer("scikit-learn-metrics", "measure", _start, package="scikit-learn", module="sklearn"),)
