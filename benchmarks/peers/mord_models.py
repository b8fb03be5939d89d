"""mord: ordinal logistic regression, all thresholds."""

from __future__ import annotations

from collections.abc import Callable

from ..shapes import Duels, Result, Rows
from .peer import Peer, Settings, dense, level_numbers


def _levels(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from mord import LogisticAT

    dense(rows.X)
    level = level_numbers(rows.y)

    def fit() -> Result:
        coef = LogisticAT().fit(rows.X, level).coef_
        return Result(scores=lambda X: X @ coef)

    return fit


def _outcomes(duels: Duels, settings: Settings) -> Callable[[], Result]:
    from mord import LogisticAT

    def fit() -> Result:
        model = LogisticAT().fit(duels.right - duels.left, duels.outcome + 1)
        return Result(compare=lambda left, right: model.predict(right - left) - 1)

    return fit


PEERS = (
    Peer("mord", "order", _levels, package="mord"),
    Peer("mord-on-differences", "compare", _outcomes, package="mord"),
)
