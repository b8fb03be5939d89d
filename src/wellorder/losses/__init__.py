"""How wrong scores are, given an order. A loss sees scores and an order, never X."""

from .convex_hull import EdgeSlacks, LevelEdges
from .exponential import Exponential
from .hinge import Hinge
from .logistic import Logistic
from .orboost import ORBoost, implicit_costs
from .ordinal import ordinal_hinge, rounded_ordinal_hinge
from .ordinal_rows import OrdinalRows, Thresholds
from .proportional_odds import ProportionalOdds
from .risk import PairLoss, PairSet, RiskAt, dense_hessian, risk_at
from .row_loss import GradedRows, RowLoss
from .smooth_hinge import SmoothHinge
from .squared import Squared
from .squared_hinge import SquaredHinge
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
    "EdgeSlacks",
    "GradedRows",
    "Hinge",
    "LevelEdges",
    "OrdinalRows",
    "PairLoss",
    "PairSet",
    "RiskAt",
    "RowLoss",
    "Squared",
    "Thresholds",
    "TiedPairs",
    "best_threshold",
    "dense_hessian",
    "flipped_value",
    "implicit_costs",
    "ordinal_hinge",
    "risk_at",
    "rounded_ordinal_hinge",
    "tied_risk",
]
