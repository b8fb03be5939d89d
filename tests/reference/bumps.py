"""Gaussian bumps, and rises of columns with a sign, slowly and obviously: every row with every piece."""

from __future__ import annotations

import numpy as np


def standardise(X, fitted, weight):
    mean = np.average(fitted, axis=0, weights=weight)
    scale = np.sqrt(np.average((fitted - mean) ** 2, axis=0, weights=weight))
    return (X - mean) / np.where(scale > 0, scale, 1.0)


def bump(z, centre, width):
    return np.exp(-((z - centre) ** 2) / (2 * width))


def rise(z, centre, width):
    """The integral of a tent about the centre whose variance is the width."""
    reach = np.sqrt(6 * width)
    parts = [
        (z - centre <= -reach, lambda t: 0 * t),
        ((-reach < z - centre) & (z <= centre), lambda t: (t + 1) ** 2 / 2),
        ((centre < z) & (z - centre < reach), lambda t: 1 - (t - 1) ** 2 / 2),
        (z - centre >= reach, lambda t: 0 * t + 1),
    ]
    t = (z - centre) / reach
    return np.piecewise(t, [where for where, _ in parts], [value for _, value in parts])


def scores(Z, feature, centre, weight, width, sign=None):
    out = np.zeros(len(Z))
    for k, c, a in zip(feature, centre, weight, strict=True):
        out += a * (rise if sign is not None and sign[k] else bump)(Z[:, k], c, width)
    return out


def gain(h, gradient, curvature):
    """⟨g, h⟩² / Σ D (h − h̄)²."""
    away = h - np.average(h, weights=curvature)
    bend = np.sum(curvature * away**2)
    return np.sum(gradient * h) ** 2 / bend if bend > 1e-9 * np.sum(curvature * h**2) else 0.0


def gains(Z, gradient, curvature, width, k, centres, sign=0):
    """What each centre gains; nothing where the step along it, against the slope, has not the sign."""
    pieces = [(rise if sign else bump)(Z[:, k], c, width) for c in centres]
    return np.array([gain(h, gradient, curvature) if sign * np.sum(gradient * h) <= 0 else 0.0 for h in pieces])
