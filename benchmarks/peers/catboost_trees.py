"""CatBoost's YetiRank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Result, Rows
from .peer import Peer, Settings, UnsuitableError, dense, n_threads

_LONGEST_LIST = 1_023


def _yeti_rank(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from catboost import CatBoostRanker

    dense(rows.X)
    if rows.groups is None or np.unique(rows.groups, return_counts=True)[1].max() > _LONGEST_LIST:
        raise UnsuitableError(f"refuses lists over {_LONGEST_LIST:,} rows")
    model = CatBoostRanker(
        loss_function="YetiRank",
        iterations=settings.trees,
        learning_rate=0.1,
        thread_count=n_threads(),
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )
    return lambda: Result(scores=model.fit(rows.X, rows.y, group_id=rows.groups).predict)


PEERS = (Peer("catboost-yetirank", "order", _yeti_rank, package="catboost", warm_rows=400),)
