"""Boosting by any regressor with scikit-learn's ``fit`` and ``predict``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..losses import RiskAt
from ..sweeps import Floats
from .boosting import BoostResult, Proposal, Risk, Rounds, Validation, boost


@dataclass(frozen=True)
class Learners:
    """f(x) = Σ_m weight_m · h_m(x), with h_m a fitted regressor."""

    fitted: list[Any]
    weight: Floats

    def scores(self, X: Any) -> Floats:
        """Return f of each row."""
        out = np.zeros(X.shape[0])
        for learner, weight in zip(self.fitted, self.weight, strict=True):
            out += weight * _values(learner, X)
        return out


def boost_learner(
    X: Any, learner: Any, risk: Risk, validation: Validation | None, rounds: Rounds, *, rng: np.random.Generator
) -> BoostResult:
    """Fit a clone of the learner in each round: to Newton's steps −g/D, weighted by D, if it takes weights.

    Otherwise to −g alone. Rows without curvature have no say in what they are fitted to.
    """
    weighted = has_fit_parameter(learner, "sample_weight")

    def propose(here: RiskAt) -> Proposal | None:
        bend = here.hessian_diagonal()
        rows = np.flatnonzero(bend > 0)
        if not len(rows) or not here.gradient.any():
            return None
        fresh = _seeded(clone(learner), rng)
        pull, bend = -here.gradient[rows], bend[rows]
        some = X if len(rows) == X.shape[0] else X[rows]
        if weighted:
            fresh.fit(some, pull / bend, sample_weight=bend)
        else:
            fresh.fit(some, pull)
        return Proposal(fresh, _values(fresh, X), None if validation is None else _values(fresh, validation.X))

    sizes = X.shape[0], 0 if validation is None else validation.X.shape[0]
    found = boost(propose, risk, sizes, validation, rounds)
    return BoostResult(Learners(found.pieces, found.weights), found.train_risk, found.validation_risk)


def _values(learner: Any, X: Any) -> Floats:
    return np.asarray(learner.predict(X), dtype=float).reshape(X.shape[0])


def _seeded(learner: Any, rng: np.random.Generator) -> Any:
    """Give a learner, and those inside it, seeds of their own: else all rounds would draw alike."""
    names: Iterable[str] = sorted(learner.get_params(deep=True))
    seeds = {name: int(rng.integers(2**31 - 1)) for name in names if name.split("__")[-1] == "random_state"}
    return learner.set_params(**seeds) if seeds else learner
