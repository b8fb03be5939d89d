"""How wrong scores are, given an order. A loss sees scores and an order, never X."""

from .exponential import Exponential
from .ordinal import ListedLooks, OrdinalRows, ShiftedAt, Thresholds, ordinal_hinge, rounded_ordinal_hinge
from .pairwise import Hinge, Logistic, SmoothHinge, SquaredHinge
from .proportional_odds import Give, Likelihood, ProportionalOdds, level_probabilities, most_likely
from .risk import PairLoss, PairSet, RiskAt, dense_hessian, risk_at
from .rows import GradedRows, ORBoost, RowLoss, Squared, implicit_costs
from .ties import TiedPairs, best_threshold, flipped_value, tied_risk

LOSSES: dict[str, PairLoss] = {
    "squared_hinge": SquaredHinge(),
    "hinge": Hinge(),
    "smooth_hinge": SmoothHinge(steepness=1.0, width=0.5),
    "exponential": Exponential(),
    "logistic": Logistic(),
}
"""Every loss over pairs, by name. A new one is a file of its own and a line here."""

ROW_LOSSES: dict[str, RowLoss] = {
    "orboost": ORBoost(),
    "proportional_odds": ProportionalOdds(),
    "squared": Squared(),
}
"""Every loss of graded rows taken alone, by name."""

__all__ = [
    "LOSSES",
    "ROW_LOSSES",
    "Give",
    "GradedRows",
    "Hinge",
    "Likelihood",
    "ListedLooks",
    "OrdinalRows",
    "PairLoss",
    "PairSet",
    "RiskAt",
    "RowLoss",
    "ShiftedAt",
    "Squared",
    "Thresholds",
    "TiedPairs",
    "best_threshold",
    "dense_hessian",
    "flipped_value",
    "implicit_costs",
    "level_probabilities",
    "most_likely",
    "ordinal_hinge",
    "risk_at",
    "rounded_ordinal_hinge",
    "tied_risk",
]
