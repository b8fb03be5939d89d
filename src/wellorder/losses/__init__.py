"""How wrong scores are, given an order. A loss sees scores and an order, never X."""

from .exponential import Exponential
from .hinge import Hinge
from .logistic import Logistic
from .ordinal import ordinal_hinge, rounded_ordinal_hinge
from .ordinal_rows import OrdinalRows, Thresholds
from .risk import PairLoss, PairSet, RiskAt, dense_hessian, risk_at
from .smooth_hinge import SmoothHinge
from .squared_hinge import SquaredHinge

LOSSES: dict[str, PairLoss] = {
    "squared_hinge": SquaredHinge(),
    "hinge": Hinge(),
    "smooth_hinge": SmoothHinge(steepness=1.0, width=0.5),
    "exponential": Exponential(),
    "logistic": Logistic(),
}
"""Every loss over pairs, by name. A new one is a file of its own and a line here."""

__all__ = [
    "LOSSES",
    "Hinge",
    "OrdinalRows",
    "PairLoss",
    "PairSet",
    "RiskAt",
    "Thresholds",
    "dense_hessian",
    "ordinal_hinge",
    "risk_at",
    "rounded_ordinal_hinge",
]
