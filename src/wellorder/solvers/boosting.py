"""Boosting: scores as a sum of small pieces, each added where it lowers the risk most.

What grows the pieces (bumps, trees, any regressor) differs; what it is given and what it gives back does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..deadline import time_is_up, warn_of_time
from ..losses import RiskAt, SlopesAt
from ..spaces import Bumps, BumpSearch, Steps, StepSearch, by_columns
from ..sweeps import Floats, Ints, dot

Risk: TypeAlias = Callable[[Floats], SlopesAt]
"""The risk of the training rows' scores, as a mean over rows: n·R(s)/ΣW for pairs, so that steps mean the same."""

StepRule: TypeAlias = Callable[[Risk, Floats, SlopesAt, Floats], tuple[float, Floats, SlopesAt]]
"""From the risk, the scores, the risk there and a piece's values: how far to go, and the scores and the risk there."""


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
    gains: Floats | None = None
    """Of trees: what the splits by each column have gained, as they were grown."""
    falls: Floats | None = None
    """Of trees: the fall of the training risk, shared out among the columns."""

    @property
    def n_rounds(self) -> int:
        """How many rounds are kept: the best on the validation rows, or all."""
        if self.validation_risk is None or not len(self.validation_risk):
            return len(self.train_risk)
        return int(np.argmin(self.validation_risk)) + 1


class Proposal(NamedTuple):
    """A piece that may be added: what it is, and its values on the training and the validation rows."""

    piece: Any
    values: Floats
    validation_values: Floats | None


class Boosted(NamedTuple):
    """The pieces up to the best round with their weights, and the risk after each round made."""

    pieces: list[Any]
    weights: Floats
    train_risk: Floats
    validation_risk: Floats | None


def boost(
    propose: Callable[[SlopesAt], Proposal | None],
    risk: Risk,
    sizes: tuple[int, int],
    validation: Validation | None,
    rounds: Rounds,
    rule: StepRule | None = None,
) -> Boosted:
    """Add a piece in each round, as far along it as lowers the risk most, times the learning rate.

    Another ``rule`` may say how far instead. ``sizes`` are the numbers of training and of validation rows. It ends
    early where no piece is proposed, where the next one would gain nothing that floating point could tell, where next
    to no risk is left, or where patience ends.
    """
    scores: Floats
    scores, beside = np.zeros(sizes[0]), np.zeros(sizes[1])
    here = risk(scores)
    begun = here.value
    enough = _DONE * begun
    pieces: list[Any] = []
    weights: list[float] = []
    train: list[float] = []
    held_out: list[float] = []
    for _ in range(rounds.n_estimators):
        if train and time_is_up():
            warn_of_time(f"after {len(train)} of {rounds.n_estimators} rounds")
            break
        proposal = propose(here) if here.value > enough else None
        if proposal is None:
            break
        step, found, after = (rule or best_step)(risk, scores, here, proposal.values)
        if step == 0.0:
            break
        step *= rounds.learning_rate
        if rounds.learning_rate != 1.0:
            found = scores + step * proposal.values
            after = risk(found)
        if not after.value <= _DIVERGED * begun:
            _refuse_overshooting(rounds.learning_rate, len(train) + 1)
        scores, here = found, after
        pieces.append(proposal.piece)
        weights.append(step)
        train.append(here.value)
        if validation is not None and proposal.validation_values is not None:
            beside = beside + step * proposal.validation_values
            held_out.append(validation.risk(beside, scores))
            if is_enough(held_out, rounds.patience):
                break
    kept = len(train) if validation is None or not train else int(np.argmin(held_out)) + 1
    return Boosted(
        pieces[:kept], np.array(weights[:kept]), np.array(train), None if validation is None else np.array(held_out)
    )


def _refuse_overshooting(learning_rate: float, n_rounds: int) -> None:
    """Say why a risk that each best step lowers has risen above where it began."""
    if learning_rate > 1.0:
        raise ValueError(
            f"learning_rate={learning_rate:g} oversteps: after {n_rounds} round{'s' * (n_rounds > 1)} the risk is "
            "above where it began, and boosting diverges; take a learning_rate of at most 1"
        )


def is_enough(held_out: list[float], patience: int | None) -> bool:
    """Say whether the last ``patience`` rounds have brought no lower validation risk."""
    return patience is not None and len(held_out) - 1 - int(np.argmin(held_out)) >= patience


_EXACT = 1e-6
"""A line search ends where the slope is this part of what it was."""

_FAR = 1e-2
"""It also ends where the risk is this part of what it was: rows that a piece separates would send it on for ever."""

_DIVERGED = 1.0 + 1e-9
"""A risk that is more than so many times what it was at the start has been overstepped."""

_DONE = 1e-10
"""Boosting ends where the risk is this part of what it was at first."""

_NOTHING = 1e-14
"""A piece that promises to lower the risk by less than this part of it is not worth adding."""

_ROUNDING = 1e-12
"""A slope that is this part of what its terms add up to is rounding: the piece is a constant."""


def best_step(risk: Risk, scores: Floats, here: SlopesAt, values: Floats) -> tuple[float, Floats, SlopesAt]:
    r"""Minimise R(s + t h) over t; return t, the new scores and the risk there.

    Newton's steps in one dimension, with slope gᵀh and curvature hᵀHh, kept between the ends that slopes of either
    sign have set. t = 0 says that there is nothing to gain.
    """
    slope, bend = dot(here.gradient, values), dot(values, _bent(here).hessian_product(values))
    if not abs(slope) > _ROUNDING * dot(np.abs(here.gradient), np.abs(values)):
        return 0.0, scores, here
    if 0.5 * slope * slope <= _NOTHING * here.value * bend:
        return 0.0, scores, here
    side = -1.0 if slope > 0 else 1.0
    enough, slope = _EXACT * abs(slope), -abs(slope)
    low, high, t, best = 0.0, np.inf, 0.0, (0.0, scores, here)
    for _ in range(100):
        trial = t - slope / bend if bend > 0.0 else np.inf
        if not low < trial < high:
            trial = 0.5 * (low + high) if high < np.inf else max(2.0 * low, 1.0)
        if trial in (low, high) or not np.isfinite(trial):
            break
        t = trial
        moved = scores + side * t * values
        at = risk(moved)
        slope = side * dot(at.gradient, values)
        if not (np.isfinite(at.value) and np.isfinite(slope)):
            high, bend = t, 0.0
            continue
        if at.value < best[2].value:
            best = side * t, moved, at
        if abs(slope) <= enough or at.value <= _FAR * here.value:
            break
        low, high = (t, high) if slope < 0 else (low, t)
        bend = dot(values, _bent(at).hessian_product(values))
    return best


def _bent(at: SlopesAt) -> RiskAt:
    """Return a risk that knows its Hessian; others need a rule of their own for how far to go."""
    if not isinstance(at, RiskAt):
        raise TypeError("the best step along a piece takes a risk with products of its Hessian; give another rule")
    return at


def diagonal_step(risk: Risk, scores: Floats, here: SlopesAt, values: Floats) -> tuple[float, Floats, SlopesAt]:
    r"""Go −⟨g, h⟩ / Σ D_i (h_i − h̄)² along h, h̄ being its mean by D: Newton's step by the Hessian's diagonal.

    For a risk whose weights change with the scores: a line search would look at another risk at every trial.
    """
    bend = here.hessian_diagonal()
    total = float(bend.sum())
    if not total > 0:
        return 0.0, scores, here
    away = values - dot(bend, values) / total
    slope, curved = dot(here.gradient, values), dot(bend, away * away)
    if not abs(slope) > _ROUNDING * dot(np.abs(here.gradient), np.abs(values)):
        return 0.0, scores, here
    if not curved > 0 or 0.5 * slope * slope <= _NOTHING * here.value * curved:
        return 0.0, scores, here
    step = -slope / curved
    moved = scores + step * values
    return step, moved, risk(moved)


# --------------------------------------------------------------------------------------------------
# Boosting by Gaussian bumps over single columns: additive scores.


def boost_bumps(
    X: Any,
    weight: Floats,
    risk: Risk,
    validation: Validation | None,
    rounds: Rounds,
    *,
    width: float = 0.5,
    signs: Ints | None = None,
    rule: StepRule | None = None,
) -> BoostResult:
    """Add the best bump in each round; ``weight`` is each row's, zero where it takes no part.

    Columns with a sign get rises of that sign. A round costs the risk's own price a few times, and O(rows × columns)
    for the choice.
    """
    X = by_columns(X)
    search = BumpSearch(X, weight, width, signs)
    beside = None if validation is None else by_columns(validation.X)

    def propose(here: SlopesAt) -> Proposal | None:
        best = search.best(here.gradient, here.hessian_diagonal())
        if best is None:
            return None
        sign = 1 if signs is None or not signs[best.feature] else int(signs[best.feature])
        one = Bumps.add_up(search.standard, width, [best.feature], [best.centre], [sign], signs)
        values = one.scores(X)
        if signs is not None and signs[best.feature] and not dot(here.gradient, values) < 0:
            return None  # what the choice takes for a gain is the rounding of its grid
        return Proposal((best, sign), values, None if beside is None else one.scores(beside))

    sizes = X.shape[0], 0 if beside is None else beside.shape[0]
    found = boost(propose, risk, sizes, validation, rounds, rule)
    features, centres = [best.feature for best, _ in found.pieces], [best.centre for best, _ in found.pieces]
    weights = found.weights * np.array([sign for _, sign in found.pieces], dtype=float)
    bumps = Bumps.add_up(search.standard, width, features, centres, weights, signs)
    return BoostResult(bumps, found.train_risk, found.validation_risk)


# --------------------------------------------------------------------------------------------------
# Boosting by steps over single columns: RankBoost.


_LEAST_PULL = 1e-12
"""A step whose pull is this part of the risk is rounding."""

_PURE = 1e-6
"""The pull is kept this far from ±1, where a piece orders all pairs and its step would be infinite."""


def bound_step(risk: Risk, scores: Floats, here: SlopesAt, values: Floats) -> tuple[float, Floats, SlopesAt]:
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

    def propose(here: SlopesAt) -> Proposal | None:
        step = search.best(here.gradient)
        if step is None:
            return None
        one = Steps.add_up([step], [1.0])
        return Proposal(step, one.scores(X), None if beside is None else one.scores(beside))

    sizes = X.shape[0], 0 if beside is None else beside.shape[0]
    found = boost(propose, risk, sizes, validation, rounds, rule)
    return BoostResult(Steps.add_up(found.pieces, found.weights), found.train_risk, found.validation_risk)


# --------------------------------------------------------------------------------------------------
# Boosting by any regressor with scikit-learn's ``fit`` and ``predict``.


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
    X: Any,
    learner: Any,
    risk: Risk,
    validation: Validation | None,
    rounds: Rounds,
    *,
    rng: np.random.Generator,
    rule: StepRule | None = None,
) -> BoostResult:
    """Fit a clone of the learner in each round: to Newton's steps −g/D, weighted by D, if it takes weights.

    Otherwise to −g alone. Rows without curvature have no say in what they are fitted to.
    """
    weighted = has_fit_parameter(learner, "sample_weight")

    def propose(here: SlopesAt) -> Proposal | None:
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
    found = boost(propose, risk, sizes, validation, rounds, rule)
    return BoostResult(Learners(found.pieces, found.weights), found.train_risk, found.validation_risk)


def _values(learner: Any, X: Any) -> Floats:
    return np.asarray(learner.predict(X), dtype=float).reshape(X.shape[0])


def _seeded(learner: Any, rng: np.random.Generator) -> Any:
    """Give a learner, and those inside it, seeds of their own: else all rounds would draw alike."""
    names: Iterable[str] = sorted(learner.get_params(deep=True))
    seeds = {name: int(rng.integers(2**31 - 1)) for name in names if name.split("__")[-1] == "random_state"}
    return learner.set_params(**seeds) if seeds else learner
