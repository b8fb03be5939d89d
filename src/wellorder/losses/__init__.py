"""How wrong scores are, given an order. A loss sees scores and an order, never X."""

from typing import Any

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
from .own import checked_loss
from .pairwise import Hinge, Logistic, SmoothHinge, SquaredHinge
from .places import PlaceRisk
from .proportional_odds import (
    Likelihood,
    ProfileHessian,
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
    return checked_loss(loss)


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
    "GradedRows",
    "Hinge",
    "Likelihood",
    "ListedLooks",
    "OrdinalRows",
    "PairLoss",
    "PairSet",
    "PlaceRisk",
    "ProfileHessian",
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
