"""The Numba form of :mod:`wellorder.sweeps.links`."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats
from .compiled import jit


@jit
def logistic_risk(
    high: Array, start: Array, stop: Array, weight: Floats, partner: Floats, scale: Floats, scores: Floats
) -> tuple[float, Floats, Floats]:
    """Visit every pair of the links; see :class:`wellorder.sweeps.links.Links` for what they hold."""
    gradient = np.zeros(len(scores))
    diagonal = np.zeros(len(scores))
    value = 0.0
    for link in range(len(high)):
        i = high[link]
        for j in range(start[link], stop[link]):
            w = weight[link]
            if len(partner):
                w *= partner[j]
            if len(scale):
                w *= scale[i] - scale[j]
            d = scores[i] - scores[j]
            e = np.exp(-abs(d))
            value += w * (np.log1p(e) + max(-d, 0.0))
            slope = w * (e if d > 0 else 1.0) / (1.0 + e)
            curvature = w * e / ((1.0 + e) * (1.0 + e))
            gradient[i] -= slope
            gradient[j] += slope
            diagonal[i] += curvature
            diagonal[j] += curvature
    return value, gradient, diagonal


@jit
def logistic_product(
    high: Array,
    start: Array,
    stop: Array,
    weight: Floats,
    partner: Floats,
    scale: Floats,
    scores: Floats,
    direction: Floats,
) -> Floats:
    """Sum curvature times the partner's direction over every pair of the links."""
    out = np.zeros(len(scores))
    for link in range(len(high)):
        i = high[link]
        for j in range(start[link], stop[link]):
            w = weight[link]
            if len(partner):
                w *= partner[j]
            if len(scale):
                w *= scale[i] - scale[j]
            e = np.exp(-abs(scores[i] - scores[j]))
            curvature = w * e / ((1.0 + e) * (1.0 + e))
            out[i] += curvature * direction[j]
            out[j] += curvature * direction[i]
    return out
