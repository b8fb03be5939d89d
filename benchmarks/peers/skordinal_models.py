"""skordinal: proportional odds, and two kernel machines with thresholds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..shapes import Result, Rows
from .peer import Peer, Settings, dense, level_numbers


def _model(name: str) -> Callable[[Rows, Settings], Callable[[], Result]]:
    def start(rows: Rows, settings: Settings) -> Callable[[], Result]:
        from skordinal import classifiers

        dense(rows.X)
        level = level_numbers(rows.y)
        options: dict[str, Any] = {} if name == "POM" else {"kernel": "rbf", "gamma": settings.gamma}
        model = getattr(classifiers, name)(**options)
        return lambda: Result(scores=model.fit(rows.X, level).predict_projection)

    return start


PEERS = (
    Peer("skordinal-pom", "order", _model("POM"), package="skordinal"),
    Peer("skordinal-svor", "order", _model("SVOR"), package="skordinal"),
    Peer("skordinal-redsvm", "order", _model("REDSVM"), package="skordinal"),
)
