"""The simulated comparisons of 'support vector comparison machines': squared norms in the plane, noisy labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..spaces import Pairs
from ..sweeps import Floats, Ints

NORMS = {"‖x‖₁²": 1.0, "‖x‖₂²": 2.0, "‖x‖∞²": np.inf}
"""The true ranking functions."""

SIDE = 3.0
"""Points lie in [−3, 3]²."""

_NOISE = 0.25
_DRAWN_AT_A_TIME = 4_096


class Compared(NamedTuple):
    """Comparisons: two rows of features each, and which is better."""

    pairs: Floats
    """Of shape (n, 2, d): the left item, the right one."""
    outcome: Ints

    @property
    def items(self) -> Floats:
        """The left items, then the right ones."""
        return np.concatenate([self.pairs[:, 0], self.pairs[:, 1]])

    def between(self, rows: Floats) -> Pairs:
        """Return the pairs over other rows for the same items, such as their kernel with something."""
        n = len(self.outcome)
        return Pairs(rows, np.arange(n), n + np.arange(n))

    def take(self, rows: Ints | slice) -> Compared:
        """Return some of the comparisons."""
        return Compared(self.pairs[rows], self.outcome[rows])


def true_rank(norm: str, X: Floats) -> Floats:
    """Return r(x) = ‖x‖² of the last axis."""
    return np.asarray(np.linalg.norm(X, NORMS[norm], axis=-1) ** 2)


def simulate(norm: str, n_ties: int, n_decided: int, rng: np.random.Generator) -> Compared:
    """Draw pairs until there are enough of both kinds: y = t₁[r(x') − r(x) + ε], ε ~ N(0, ¼)."""
    ties, decided, outcomes = np.empty((0, 2, 2)), np.empty((0, 2, 2)), np.empty(0, np.int64)
    while len(ties) < n_ties or len(decided) < n_decided:
        pairs = rng.uniform(-SIDE, SIDE, (_DRAWN_AT_A_TIME, 2, 2))
        rank = true_rank(norm, pairs)
        outcome = threshold(rank[:, 1] - rank[:, 0] + rng.normal(0.0, _NOISE, len(pairs)))
        ties = np.concatenate([ties, pairs[outcome == 0]])
        decided = np.concatenate([decided, pairs[outcome != 0]])
        outcomes = np.concatenate([outcomes, outcome[outcome != 0]])
    y = np.concatenate([np.zeros(n_ties, np.int64), outcomes[:n_decided]])
    mixed = rng.permutation(n_ties + n_decided)
    return Compared(np.concatenate([ties[:n_ties], decided[:n_decided]])[mixed], y[mixed])


def threshold(d: Floats, tau: float = 1.0) -> Ints:
    """Return t_τ(d): −1, 0 or 1."""
    return np.where(np.abs(d) > tau, np.sign(d), 0.0).astype(np.int64)
