"""Boosting by steps over single columns: RankBoost."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..losses import RiskAt
from ..spaces.basis import by_columns
from ..spaces.steps import Steps, StepSearch
from ..sweeps import Floats, dot
from .boosting import BoostResult, Proposal, Risk, Rounds, StepRule, Validation, best_step, boost

_LEAST_PULL = 1e-12
"""A step whose pull is this part of the risk is rounding."""

_PURE = 1e-6
"""How near to ±1 the pull is taken to be at most: a step that orders all pairs would weigh infinitely much."""


def bound_step(risk: Risk, scores: Floats, here: RiskAt, values: Floats) -> tuple[float, Floats, RiskAt]:
    r"""Go ½ ln((1 + r)/(1 − r)) along h, with r = Σ D_ij (h_i − h_j) and D the pairs' shares of the risk.

    For 0 ≤ h ≤ 1 it minimises an upper bound on the exponential risk, which falls at least by √(1 − r²). As the risk is
    Σ W_ij e^{−(s_i − s_j)}, r = −⟨∇R, h⟩/R: no pair is looked at.
    """
    r = -dot(here.gradient, values) / here.value
    if not abs(r) > _LEAST_PULL:
        return 0.0, scores, here
    step = float(np.arctanh(np.clip(r, _PURE - 1.0, 1.0 - _PURE)))  # ½ ln((1 + r)/(1 − r))
    moved = scores + step * values
    return step, moved, risk(moved)


STEP_RULES: dict[str, StepRule] = {"bound": bound_step, "exact": best_step}
"""How far to go along a weak ranker."""


def boost_steps(
    X: Any, weight: Floats, risk: Risk, validation: Validation | None, rounds: Rounds, *, rule: StepRule
) -> BoostResult:
    """Add the step with the largest |r| in each round; ``weight`` is each row's, zero where it takes no part.

    A round costs the risk's own price, and O(rows × columns) for the choice.
    """
    X = by_columns(X)
    search = StepSearch(X, weight)
    beside = None if validation is None else by_columns(validation.X)

    def propose(here: RiskAt) -> Proposal | None:
        step = search.best(here.gradient)
        if step is None:
            return None
        one = Steps.add_up([step], [1.0])
        return Proposal(step, one.scores(X), None if beside is None else one.scores(beside))

    sizes = X.shape[0], 0 if beside is None else beside.shape[0]
    found = boost(propose, risk, sizes, validation, rounds, rule)
    return BoostResult(Steps.add_up(found.pieces, found.weights), found.train_risk, found.validation_risk)
