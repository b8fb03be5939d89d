"""statsmodels: the proportional odds model by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable

from ..shapes import Result, Rows
from .peer import Peer, Settings, dense, level_numbers


def _start(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    dense(rows.X)
    level = level_numbers(rows.y)

    def fit() -> Result:
        found = OrderedModel(level, rows.X, distr="logit").fit(method="bfgs", disp=False, maxiter=500)
        coef = found.params[: rows.X.shape[1]]
        return Result(scores=lambda X: X @ coef)

    return fit


PEERS = (Peer("statsmodels", "order", _start, package="statsmodels"),)
