"""The objectives that several methods minimise: one function each, for whoever found the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from wellorder.losses import LOSSES
from wellorder.losses.risk import risk_at
from wellorder.order import Grades

from .shapes import Duels, Rows


def mean_squared_hinge(scores: Any, rows: Rows) -> float:
    """Return the mean over all pairs (i above j) of (1 − s_i + s_j)_+², in float64."""
    scores = np.asarray(scores, dtype=np.float64)
    pairs = Grades(rows.y, groups=rows.groups).to_pairs(len(scores))
    return risk_at(LOSSES["squared_hinge"], scores, pairs).value / pairs.total


def pair_objective(coef: Any, rows: Rows, C0: float, gamma: float | None = None) -> float:
    """Return ½‖f‖² + C0 · mean over all pairs of (1 − d)_+², in float64.

    f is linear in the columns, with weights ``coef``; or, with ``gamma``, f = Σ coef_i exp(−gamma ‖x_i − ·‖²) over the
    training rows.
    """
    coef = np.asarray(coef, dtype=np.float64).ravel()
    if gamma is None:
        square, scores = float(coef @ coef), rows.X @ coef
    else:
        scores = _rbf_scores(rows.X, coef, gamma)
        square = float(coef @ scores)
    return 0.5 * square + C0 * mean_squared_hinge(scores, rows)


def tie_objective(coef: Any, bias: float, duels: Duels, C: float) -> float:
    """Return ½‖u‖² + C Σ_decided (1 − β − u·(x⁺ − x⁻))_+ + C Σ_ties Σ_± (1 + β ± u·(x' − x))_+."""
    u = np.asarray(coef, dtype=np.float64).ravel()
    difference = (np.asarray(duels.right, dtype=np.float64) - duels.left) @ u
    outcome = np.asarray(duels.outcome)
    decided = 1.0 - bias - outcome[outcome != 0] * difference[outcome != 0]
    tied = difference[outcome == 0]
    losses = [decided, 1.0 + bias + tied, 1.0 + bias - tied]
    return 0.5 * float(u @ u) + C * float(sum(np.maximum(part, 0.0).sum() for part in losses))


def _rbf_scores(X: Any, coef: Any, gamma: float, block: int = 1_000) -> Any:
    """Multiply by the kernel matrix a block of rows at a time: judging must not raise the memory's peak."""
    squares = (X**2).sum(axis=1)
    out = np.empty(len(X))
    for a in range(0, len(X), block):
        part = squares[a : a + block, None] + squares[None, :] - 2.0 * X[a : a + block] @ X.T
        out[a : a + block] = np.exp(-gamma * np.maximum(part, 0.0)) @ coef
    return out
