"""LightGBM: least squares on the grade, and its ranker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shapes import Result, Rows
from .peer import Peer, Settings, UnsuitableError, level_numbers, n_threads, sizes_of_lists

_LONGEST_LIST = 10_000


def _regression(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from lightgbm import LGBMRegressor

    return lambda: _scored(LGBMRegressor(**_shape(settings)).fit(rows.X, rows.y))


def _lambdarank(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from lightgbm import LGBMRanker

    sizes, level = sizes_of_lists(rows.groups, rows.X.shape[0]), level_numbers(rows.y)
    if sizes.max() > _LONGEST_LIST:
        raise UnsuitableError(f"refuses lists over {_LONGEST_LIST:,} rows")
    return lambda: _scored(LGBMRanker(**_shape(settings)).fit(rows.X, level, group=sizes))


def _shape(settings: Settings) -> dict[str, Any]:
    return {
        "n_estimators": settings.trees,
        "num_leaves": settings.leaves,
        "n_jobs": n_threads(),
        "random_state": 0,
        "verbose": -1,
    }


def _scored(model: Any) -> Result:
    return Result(scores=model.booster_.predict)


PEERS = (
    Peer("lightgbm", "order", _regression, package="lightgbm"),
    Peer("lightgbm-lambdarank", "order", _lambdarank, package="lightgbm"),
)
