"""Probabilities of the three outcomes of a comparison, from a difference, by Davidson's form; and how they are fitted.

P(right) ∝ e^{d/2}, P(tie) ∝ ν, P(left) ∝ e^{−d/2}: swapping the two items swaps the probabilities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..sweeps import Bools, Floats, Ints

_MOST_STEPS = 100
_TINY = 1e-300


def outcome_terms(d: Floats, log_nu: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Return P(left), P(tie), P(right) of differences, one array each, and log(e^{−d/2} + ν + e^{d/2}).

    The largest term is taken out, so that none overflows. log ν is −∞ where nothing ties.
    """
    most = np.maximum(0.5 * np.abs(d), log_nu)
    left, tie, right = np.exp(-0.5 * d - most), np.exp(log_nu - most), np.exp(0.5 * d - most)
    total = (left + right) + tie  # the same to the bit, whichever side is which
    return left / total, tie / total, right / total, most + np.log(total)


def log_total(d: Floats, log_nu: float) -> Floats:
    """Return log(e^{−d/2} + ν + e^{d/2})."""
    return outcome_terms(d, log_nu)[3]


def outcome_shares(d: Floats, log_nu: float) -> tuple[Floats, Floats, Floats]:
    """Return P(left), P(tie) and P(right) of differences, one array each; log ν is −∞ where nothing ties."""
    return outcome_terms(d, log_nu)[:3]


def tied_probabilities(d: Floats, log_nu: float) -> Floats:
    """Return P(left), P(tie), P(right) for differences d, one line each: e^{−d/2}, ν, e^{d/2} over their sum."""
    return np.column_stack(outcome_shares(d, log_nu))


class Calibration(NamedTuple):
    """What differences that were not made to be log-odds mean: P(right) : P(tie) : P(left) = e^{x/2} : ν : e^{−x/2}.

    x is ``slope`` times the difference, plus ``side`` times what a comparison is worth to the right side; ν is
    ``ties``.
    """

    slope: float
    ties: float
    side: float = 0.0

    def probabilities(self, differences: Floats, sides: Floats | float = 0.0) -> Floats:
        """Return P(left better), P(tie) and P(right better) of each difference."""
        with np.errstate(divide="ignore"):
            log_nu = float(np.log(self.ties))
        x = self.slope * np.asarray(differences, dtype=float) + self.side * np.asarray(sides, dtype=float)
        return tied_probabilities(x, log_nu)


def calibrate(
    differences: Floats, outcome: Ints, weight: Floats, *, sides: Floats | None = None, rein: float = 0.0
) -> Calibration:
    """Return the most likely slope ≥ 0 and tie weight ν, given differences that were not fitted to these outcomes.

    As in Platt's method each outcome is taken to be a little uncertain, by one part in as many as there are:
    differences that tell all outcomes leave the slope finite. Without ties ν is 0. The likelihood is concave in
    (slope, side, log ν): Newton's method, with halved steps where one goes too far.

    Parameters
    ----------
    differences : array of shape (n,)
        Above zero where the right item should be better.
    outcome : array of shape (n,)
        −1, 0 or 1.
    weight : array of shape (n,)
    sides : array of shape (n,), optional
        What standing on the right is worth in each comparison, but for a factor that is fitted as well, of either
        sign.
    rein : float, default=0
        How strongly the slope is held to 1, where differences are log-odds already and outcomes are few:
        ½ rein (slope − 1)² is added to the negative log-likelihood.
    """
    decided = outcome != 0
    turned = np.where(outcome < 0, -1.0, 1.0)  # as if right had won each decided one
    columns = [differences] if sides is None else [differences, sides]
    scale = np.array([root_mean_square(column, weight) or 1.0 for column in columns])
    x = np.column_stack(columns) * turned[:, None] / scale
    target = _aims(decided, weight)
    with_ties = bool(weight[~decided].sum() > 0)
    at = _most_likely(x, target, weight, with_ties=with_ties, rein=rein, one=float(scale[0]))
    found = at[:-1] / scale
    return Calibration(
        float(found[0]), float(np.exp(at[-1])) if with_ties else 0.0, 0.0 if sides is None else float(found[1])
    )


def root_mean_square(values: Floats, weight: Floats) -> float:
    """Return √(Σ ω d² / Σ ω)."""
    return float(np.sqrt(np.average(np.square(values), weights=weight)))


def _aims(decided: Bools, weight: Floats) -> Floats:
    """Return what each outcome counts as: mostly itself, and a little of the others."""
    n_decided, n_ties = float(weight[decided].sum()), float(weight[~decided].sum())
    if n_ties == 0:
        sure = (n_decided + 1.0) / (n_decided + 2.0)
        return np.tile([1.0 - sure, 0.0, sure], (len(decided), 1))
    slips = np.where(decided, 1.0 / (n_decided + 3.0), 1.0 / (n_ties + 3.0))
    return np.column_stack([slips, np.where(decided, slips, 1 - 2 * slips), np.where(decided, 1 - 2 * slips, slips)])


def _most_likely(x: Floats, target: Floats, weight: Floats, *, with_ties: bool, rein: float, one: float) -> Floats:
    """Maximise Σ ω Σ target · log P over the columns' factors, the first of them ≥ 0 and held to ``one``, and log ν."""
    tied, decided = float(weight @ target[:, 1]), float(weight @ (1 - target[:, 1]))
    k = x.shape[1]
    at = np.append(np.zeros(k), np.log(max(tied, _TINY) / max(decided, _TINY) * 2.0) if with_ties else -np.inf)
    at[0] = 1.0
    free = np.append(np.ones(k, bool), with_ties)
    pull = rein / one**2

    def shares(at: Floats) -> tuple[Floats, Floats, Floats]:
        return outcome_shares(x @ at[:-1], float(at[-1]))

    def loss(at: Floats) -> float:
        P = np.column_stack(shares(at))
        fit = -float(weight @ np.sum(target * np.log(np.maximum(P, _TINY)), axis=1))
        return fit + 0.5 * pull * float(at[0] - one) ** 2

    value = loss(at)
    for _ in range(_MOST_STEPS):
        left, tie, right = shares(at)
        lean, aim = right - left, target[:, 2] - target[:, 0]
        gradient = np.append(0.5 * x.T @ (weight * (lean - aim)), weight @ (tie - target[:, 1]))
        gradient[0] += pull * (at[0] - one)
        bend = np.empty((k + 1, k + 1))
        bend[:k, :k] = 0.25 * (x.T * (weight * (right + left - lean**2))) @ x
        bend[:k, k] = bend[k, :k] = -0.5 * x.T @ (weight * lean * tie)
        bend[k, k] = weight @ (tie * (1.0 - tie))
        bend[0, 0] += pull
        free[0] = at[0] > 0 or gradient[0] < 0
        step = np.zeros(k + 1)
        ridge = 1e-12 * max(float(bend.diagonal().max()), _TINY)
        step[free] = -np.linalg.solve((bend + ridge * np.eye(k + 1))[np.ix_(free, free)], gradient[free])
        length = 1.0
        while length > 1e-10:
            trial = at + length * step
            trial[0] = max(trial[0], 0.0)
            new = loss(trial)
            if new <= value:
                break
            length *= 0.5
        if length <= 1e-10 or value - new <= 1e-12 * abs(value):
            break
        at, value = trial, new
    return at
