"""Boosting: scores as a sum of small pieces, each added where it lowers the risk most.

What grows the pieces (bumps, trees, any regressor) differs; what it is given and what it gives back does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..losses import RiskAt
from ..sweeps import Floats, dot

Risk: TypeAlias = Callable[[Floats], RiskAt]
"""The risk of the training rows' scores, as a mean over rows: n·R(s)/ΣW for pairs, so that steps mean the same."""

StepRule: TypeAlias = Callable[[Risk, Floats, RiskAt, Floats], tuple[float, Floats, RiskAt]]
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
    propose: Callable[[RiskAt], Proposal | None],
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
    scores, beside = np.zeros(sizes[0]), np.zeros(sizes[1])
    here = risk(scores)
    begun = here.value
    enough = _DONE * begun
    pieces: list[Any] = []
    weights: list[float] = []
    train: list[float] = []
    held_out: list[float] = []
    for _ in range(rounds.n_estimators):
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


def best_step(risk: Risk, scores: Floats, here: RiskAt, values: Floats) -> tuple[float, Floats, RiskAt]:
    r"""Minimise R(s + t h) over t; return t, the new scores and the risk there.

    Newton's steps in one dimension, with slope gᵀh and curvature hᵀHh, kept between the ends that slopes of either
    sign have set. t = 0 says that there is nothing to gain.
    """
    slope, bend = dot(here.gradient, values), dot(values, here.hessian_product(values))
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
        bend = dot(values, at.hessian_product(values))
    return best
