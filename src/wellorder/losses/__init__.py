"""How wrong scores are, given an order. A loss sees scores and an order, never X."""

from typing import Any

import numpy as np

from ..sweeps import Floats
from .cox import RiskSets, TiedEvents as TiedEvents, cox_risk, make_risk_sets
from .exponential import Exponential
from .ordinal import ListedLooks, OrdinalRows, ShiftedAt, Thresholds, ordinal_hinge, smooth_ordinal_hinge
from .outcomes import (
    Calibration,
    calibrate,
    log_total,
    outcome_shares,
    outcome_terms,
    root_mean_square,
    tied_probabilities,
)
from .pairwise import Hinge, Logistic, SmoothHinge, SquaredHinge
from .places import PlaceRisk
from .proportional_odds import (
    ProfileHessian,
    Likelihood,
    ProportionalOddsLoss as ProportionalOddsLoss,
    level_probabilities,
    likelihood as likelihood,
    most_likely,
)
from .risk import PairLoss, PairSet, RiskAt, SlopesAt, dense_hessian, risk_at
from .rows import GradedRows, ORBoost as ORBoost, RowLoss, Squared, implicit_costs
from .ties import TiedPairs, best_threshold, tied_risk, tied_value

LOSSES: dict[str, PairLoss] = {
    "squared_hinge": SquaredHinge(),
    "hinge": Hinge(),
    "smooth_hinge": SmoothHinge(steepness=1.0, width=0.5),
    "exponential": Exponential(),
    "logistic": Logistic(),
}
"""Every loss over pairs, by name. A new one is a file of its own and a line here."""


class _OwnLoss(PairLoss):
    """Somebody's own loss: an object that knows its derivatives."""

    def __init__(self, own: Any) -> None:
        self._own = own

    @property
    def called(self) -> str:
        """What errors call it: what its author does."""
        return type(self._own).__name__

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what it says, as arrays."""
        told = self._own.derivatives(d)
        if not isinstance(told, tuple | list) or len(told) != 3:
            raise ValueError(f"{self.called}.derivatives must return three arrays: the loss, its slope, its curvature")
        loss, slope, curvature = told
        return np.asarray(loss, float), np.asarray(slope, float), np.asarray(curvature, float) + np.zeros_like(d)


def _check_own(loss: _OwnLoss) -> None:
    """Try a loss at a few differences, and say what is wrong with it: whoever minimises it would blame the data."""
    d = np.linspace(-3.0, 3.0, 25)
    parts = loss.derivatives(d)
    if any(part.shape != d.shape for part in parts):
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ValueError(f"{loss.called}.derivatives gave arrays of the shapes {shapes} for {len(d)} differences")
    _, slope, curvature = parts
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(f"{loss.called}.derivatives is not finite between -3 and 3")
    step = 1e-4
    rise = (loss.derivatives(d + step)[0] - loss.derivatives(d - step)[0]) / (2.0 * step)
    if (np.abs(rise - slope) > 0.01 * (1.0 + np.abs(slope)) + np.abs(np.gradient(slope)).max()).any():
        raise ValueError(f"the slope that {loss.called}.derivatives gives is not that of its loss")
    if (slope > 1e-9).any() or not (slope < 0).any():
        raise ValueError(f"{loss.called} does not fall as d = better − worse rises; turn it round")
    if (curvature < -1e-9).any() or (np.diff(slope) < -1e-9).any():
        raise ValueError(f"{loss.called} is not convex, and its minimum would be one of many; give a convex loss")


def find_loss(loss: Any) -> PairLoss:
    """Return the loss of this name, or an object with ``derivatives`` as a loss over pairs."""
    if isinstance(loss, PairLoss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    if isinstance(loss, str | type) or not callable(getattr(loss, "derivatives", None)):
        raise ValueError(
            f"loss={loss!r} is not known; use one of {', '.join(map(repr, LOSSES))}, or an object with a method "
            "derivatives(d) that returns the loss, its slope and its curvature at an array of differences"
        )
    own = _OwnLoss(loss)
    _check_own(own)
    return own


ROW_LOSSES: dict[str, RowLoss] = {
    "orboost": ORBoost(),
    "proportional_odds": ProportionalOddsLoss(),
    "squared": Squared(),
}
"""Every loss of graded rows taken alone, by name."""

__all__ = [
    "LOSSES",
    "ROW_LOSSES",
    "Calibration",
    "ProfileHessian",
    "GradedRows",
    "Hinge",
    "Likelihood",
    "ListedLooks",
    "OrdinalRows",
    "PairLoss",
    "PairSet",
    "PlaceRisk",
    "RiskAt",
    "RiskSets",
    "RowLoss",
    "ShiftedAt",
    "SlopesAt",
    "Squared",
    "SquaredHinge",
    "Thresholds",
    "TiedPairs",
    "best_threshold",
    "calibrate",
    "cox_risk",
    "dense_hessian",
    "find_loss",
    "implicit_costs",
    "level_probabilities",
    "log_total",
    "make_risk_sets",
    "most_likely",
    "ordinal_hinge",
    "outcome_shares",
    "outcome_terms",
    "risk_at",
    "root_mean_square",
    "smooth_ordinal_hinge",
    "tied_probabilities",
    "tied_risk",
    "tied_value",
]
