"""scikit-survival: the same objective where no time is censored and no two are equal; equal ones it breaks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Result, Rows
from .peer import PAIRS, Peer, Settings, UnsuitableError, dense, searched


def _start(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from sksurv.svm import FastSurvivalSVM

    if rows.groups is not None:
        raise UnsuitableError("knows one list only")
    dense(rows.X)
    n = len(rows.y)
    _, counts = np.unique(rows.y, return_counts=True)
    n_pairs = (n**2 - int((counts.astype(np.int64) ** 2).sum())) // 2
    lived = np.empty(n, dtype=[("event", bool), ("time", float)])
    lived["event"], lived["time"] = True, rows.y - rows.y.min() + 1.0  # times must be positive

    def fit() -> Result:
        model = FastSurvivalSVM(alpha=2.0 * settings.C0 / n_pairs, max_iter=1_000, random_state=0).fit(rows.X, lived)
        return Result(scores=lambda X: X @ model.coef_, coef=model.coef_)

    return fit


_PACKAGE = {"package": "scikit-survival", "module": "sksurv"}

PEERS = (
    Peer("scikit-survival", "order", _start, minimises=PAIRS, **_PACKAGE),
    Peer("search-scikit-survival", "order", searched(_start), **_PACKAGE),
)
