r"""What an answer is expected to teach, as a function of two numbers, tabulated.

Under a difference d ~ N(m, v) the answer y in {left, tie, right} teaches

.. math:: I(m, v) = H(E_d\, p(d)) - E_d\, H(p(d))

nats of d: Davidson's p, so that ties count. Of whether an item stands above a boundary it teaches what the entropy of
that sign loses when the variance of the item's rating falls by a share of itself. Of the whole order it teaches what
all pairs of items lose of their doubt, :class:`OrderGains`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import linalg, special

from ..losses import outcome_shares
from ..sweeps import Floats, Ints

_FARTHEST, _WIDEST = 24.0, 16.0
_N_APART, _N_WIDE = 121, 56
_Z = np.linspace(-6.0, 6.0, 97)
_SHARE = np.exp(-0.5 * _Z**2) / np.exp(-0.5 * _Z**2).sum()
"""A fine grid for the mean over a normal number: exact to many digits, as what is averaged is smooth."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """I and the expected information of an answer on d, at a grid of |m| and √v."""

    per_variance: Floats
    """I / (v/(1 + v)), which is smooth."""
    information: Floats

    def gains(self, mean: Floats, variance: Floats) -> Floats:
        """Return I(m, v), in nats."""
        return np.asarray(_between(self.per_variance, *_at(mean, variance)) * (variance / (1.0 + variance)))

    def told(self, mean: Floats, variance: Floats) -> Floats:
        """Return E[¼(p_R + p_L − (p_R − p_L)²)]: what an answer adds to the precision of d."""
        return _between(self.information, *_at(mean, variance))


def _at(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return places on the grid, as fractions; beyond it, its edge."""
    x = np.minimum(np.abs(mean) * ((_N_APART - 1) / _FARTHEST), _N_APART - 1.0)
    s = np.log1p(np.sqrt(variance)) * ((_N_WIDE - 1) / np.log1p(_WIDEST))
    return x, np.minimum(s, _N_WIDE - 1.0)


def _between(table: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate a table linearly in both directions."""
    i = np.minimum(x.astype(np.int64), table.shape[0] - 2)
    j = np.minimum(y.astype(np.int64), table.shape[1] - 2)
    x, y = x - i, y - j
    flat = table.ravel()
    corner = i * table.shape[1] + j
    low = flat[corner] * (1.0 - y) + flat[corner + 1] * y
    corner += table.shape[1]
    high = flat[corner] * (1.0 - y) + flat[corner + 1] * y
    return np.asarray(low * (1.0 - x) + high * x)


_MOST_DOUBLE = 300
"""Items up to which products are in double precision: of more they take time, and a choice needs few digits."""


class OrderGains:
    r"""What an answer is expected to teach of the whole order, where there are few enough items for their covariance V.

    The doubt about the order is :math:`\sum_{i<j} p_{ij} (1 - p_{ij})`, with :math:`p_{ij} = \Phi(m_{ij} / s_{ij})` the
    chance that i stands above j: half the expected number of pairs in which two draws from what is believed disagree.
    An answer that takes :math:`\tau^2` from the variance of a difference takes :math:`\varphi(m/s)^2 \tau^2 / s^2` from
    its pair's doubt, to first order. An answer on (a, b) takes :math:`\lambda (V_{ia} - V_{ib} - V_{ja} + V_{jb})^2`
    from the variance of each other difference, with :math:`\lambda = t / (1 + tv)`, t its expected information, and v
    the variance of its own. So the sum over all pairs is

    .. math:: \lambda\, (e_a - e_b)^\top V L V (e_a - e_b),

    L being the Laplacian with the weights :math:`\varphi(m/s)^2 / s^2`: one product of matrices for all answers.
    """

    def __init__(self, mean: Floats, covariance: Floats, table: AnswerTable) -> None:
        self._mean, self._V, self._table = mean, covariance, table
        self._weigh()

    def _weigh(self) -> None:
        kind = np.float64 if len(self._mean) <= _MOST_DOUBLE else np.float32
        V: Floats = self._V.astype(kind, copy=False)
        mean: Floats = self._mean.astype(kind, copy=False)
        own = np.diag(V)
        variance = np.maximum(own[:, None] + own - 2.0 * V, 1e-12)
        weight = np.exp(-np.square(mean[:, None] - mean) / variance) / (2.0 * np.pi * variance)
        np.fill_diagonal(weight, 0.0)
        self._Q = V @ (weight.sum(axis=1)[:, None] * V - weight @ V)

    def gains(self, a: Ints, b: Ints) -> Floats:
        """Return by how much an answer on each pair is expected to lower the doubt."""
        variance, told = self._own(a, b)
        lowered = self._Q[a, a] + self._Q[b, b] - self._Q[a, b] - self._Q[b, a]
        return np.asarray(np.maximum(lowered, 0.0) * told / (1.0 + told * variance))

    def suppose(self, a: Ints, b: Ints) -> None:
        """Lower the covariance as if an answer on each of these pairs had come."""
        _, told = self._own(a, b)
        apart = self._V[:, a] - self._V[:, b]
        inner = apart[a] - apart[b]
        inner[np.arange(len(a)), np.arange(len(a))] += 1.0 / np.maximum(told, 1e-12)
        self._V = self._V - apart @ linalg.solve(inner, apart.T, assume_a="pos")
        self._weigh()

    def _own(self, a: Ints, b: Ints) -> tuple[Floats, Floats]:
        """Return the variance of the difference of each pair, and the expected information of an answer on it."""
        variance = np.maximum(self._V[a, a] + self._V[b, b] - 2.0 * self._V[a, b], 1e-12)
        return variance, self._table.told(self._mean[b] - self._mean[a], variance)


def answer_table(log_nu: float) -> AnswerTable:
    """Return the table for a weight of ties, of those with log ν in steps of 1/16 the nearest."""
    return _answer_table(round(16.0 * max(log_nu, -20.0)) / 16.0)


@lru_cache(maxsize=64)
def _answer_table(log_nu: float) -> AnswerTable:
    x = np.linspace(0.0, _FARTHEST, _N_APART)
    s = np.expm1(np.linspace(0.0, np.log1p(_WIDEST), _N_WIDE))
    s[0] = 1e-3  # at 0 itself both are 0 / 0: its limit is the same to six digits
    d = x[:, None, None] + s[:, None] * _Z
    p = np.stack(outcome_shares(d, log_nu))
    gain = special.entr(p @ _SHARE).sum(axis=0) - special.entr(p).sum(axis=0) @ _SHARE
    left, _, right = p
    told = (0.25 * (right + left - (right - left) ** 2)) @ _SHARE
    return AnswerTable(np.maximum(gain, 0.0) / (s**2 / (1.0 + s**2)), told)


_FARTHEST_SIGN = 6.0
_N_SIGN, _N_LOST = 97, 65


def sign_gains(z: Floats, lost: Floats) -> Floats:
    """Return by how much the entropy of a sign falls, in nats.

    Parameters
    ----------
    z : array
        The mean over the standard deviation.
    lost : array
        The share of the variance that an answer is expected to take, from 0 to 1.
    """
    x = np.minimum(np.abs(z), _FARTHEST_SIGN) * ((_N_SIGN - 1) / _FARTHEST_SIGN)
    y = np.sqrt(np.clip(lost, 0.0, 1.0)) * (_N_LOST - 1)
    return _between(_sign_table(), x, y)


@lru_cache(maxsize=1)
def _sign_table() -> Floats:
    z = np.linspace(0.0, _FARTHEST_SIGN, _N_SIGN)[:, None, None]
    moved = np.minimum(np.linspace(0.0, 1.0, _N_LOST), 1.0 - 1e-9)[:, None]  # √ of the share
    after = (z + moved * _Z) / np.sqrt(1.0 - moved**2)
    return np.asarray(np.maximum(sign_entropy(z[:, :, 0]) - sign_entropy(after) @ _SHARE, 0.0))


def sign_entropy(z: Floats) -> Floats:
    """Return the entropy of the sign of a normal number with this mean over its standard deviation."""
    p = special.ndtr(z)
    return np.asarray(special.entr(p) + special.entr(1.0 - p))
