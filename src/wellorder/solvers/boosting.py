"""Boosting: scores as a sum of small pieces, each added where it lowers the risk most.

What grows the pieces (bumps, trees, any regressor) differs; what it is given and what it gives back does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..losses import RiskAt
from ..sweeps import Floats

Risk: TypeAlias = Callable[[Floats], RiskAt]
"""The risk of the training rows' scores, as a mean over rows: n·R(s)/ΣW for pairs, so that steps mean the same."""


@dataclass(frozen=True)
class Validation:
    """Rows kept apart to say how many rounds are enough."""

    X: Any
    risk: Callable[[Floats, Floats], float]
    """The risk of these rows' scores; the second argument are the training rows' scores, which set thresholds."""


@dataclass(frozen=True)
class Rounds:
    """How long to go on."""

    n_estimators: int
    learning_rate: float
    patience: int | None = None
    """Stop after this many rounds without a lower validation risk; None: go on to the end."""


@dataclass(frozen=True)
class BoostResult:
    """The pieces up to the best round, and the risk after each round made."""

    pieces: Any
    train_risk: Floats
    """One value a round, after it."""
    validation_risk: Floats | None

    @property
    def n_rounds(self) -> int:
        """How many rounds are kept: the best on the validation rows, or all."""
        if self.validation_risk is None:
            return len(self.train_risk)
        return int(np.argmin(self.validation_risk)) + 1
