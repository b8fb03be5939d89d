"""XGBoost's rankers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Result, Rows
from .peer import Peer, Settings, level_numbers, n_threads


def _ranker(objective: str) -> Callable[[Rows, Settings], Callable[[], Result]]:
    def start(rows: Rows, settings: Settings) -> Callable[[], Result]:
        from xgboost import XGBRanker

        query = np.zeros(rows.X.shape[0], np.int32) if rows.groups is None else rows.groups
        label = level_numbers(rows.y) if objective == "rank:ndcg" else rows.y - rows.y.min()
        more = {"lambdarank_pair_method": "mean"} if objective == "rank:pairwise" else {}
        model = XGBRanker(
            objective=objective,
            n_estimators=settings.trees,
            max_leaves=settings.leaves,
            max_depth=0,
            grow_policy="lossguide",
            learning_rate=0.1,
            tree_method="hist",
            n_jobs=n_threads(),
            random_state=0,
            **more,
        )
        return lambda: Result(scores=model.fit(rows.X, label, qid=query).predict)

    return start


PEERS = (
    Peer("xgboost-pairwise", "order", _ranker("rank:pairwise"), package="xgboost-cpu", module="xgboost"),
    Peer("xgboost-ndcg", "order", _ranker("rank:ndcg"), package="xgboost-cpu", module="xgboost"),
)
