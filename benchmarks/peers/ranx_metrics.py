"""ranx, on arrays: it wants its lists sorted, which is part of the work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Lists, Result
from .peer import Peer, Settings, as_table


def _start(lists: Lists, settings: Settings) -> Callable[[], Result]:
    from ranx import evaluate

    y, scores = as_table(lists)
    document = np.broadcast_to(np.arange(y.shape[1], dtype=np.float64), y.shape)

    def best_first(values: np.ndarray) -> np.ndarray:
        order = np.argsort(-values, axis=1)
        return np.stack([np.take_along_axis(part, order, axis=1) for part in (document, values)], axis=2)

    return lambda: Result(value=float(evaluate(best_first(y), best_first(scores), "ndcg@10")))


PEERS = (Peer("ranx", "measure", _start, package="ranx", warm_rows=5_000),)
