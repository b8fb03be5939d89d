"""Ridge regression on the grade: the yardstick between two sittings."""

from __future__ import annotations

from collections.abc import Callable

from ..shapes import Result, Rows
from .peer import Peer, Settings


def _start(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from sklearn.linear_model import Ridge

    return lambda: Result(scores=Ridge(alpha=settings.alpha).fit(rows.X, rows.y).predict)


PEERS = (Peer("ridge", "order", _start, package="scikit-learn", module="sklearn"),)
