"""Boosting by Gaussian bumps over single columns: additive scores."""

from __future__ import annotations

from typing import Any

from ..losses import RiskAt
from ..spaces.basis import Bumps, by_columns
from ..spaces.bump_search import BumpSearch
from ..sweeps import Floats
from .boosting import BoostResult, Proposal, Risk, Rounds, Validation, boost


def boost_bumps(
    X: Any, weight: Floats, risk: Risk, validation: Validation | None, rounds: Rounds, *, width: float = 0.5
) -> BoostResult:
    """Add the best bump in each round; ``weight`` is each row's, zero where it takes no part.

    A round costs the risk's own price a few times, and O(rows × columns) for the choice.
    """
    X = by_columns(X)
    search = BumpSearch(X, weight, width)
    beside = None if validation is None else by_columns(validation.X)

    def propose(here: RiskAt) -> Proposal | None:
        best = search.best(here.gradient, here.hessian_diagonal())
        if best is None:
            return None
        one = Bumps.add_up(search.standard, width, [best.feature], [best.centre], [1.0])
        return Proposal(best, one.scores(X), None if beside is None else one.scores(beside))

    sizes = X.shape[0], 0 if beside is None else beside.shape[0]
    found = boost(propose, risk, sizes, validation, rounds)
    features, centres = [best.feature for best in found.pieces], [best.centre for best in found.pieces]
    bumps = Bumps.add_up(search.standard, width, features, centres, found.weights)
    return BoostResult(bumps, found.train_risk, found.validation_risk)
