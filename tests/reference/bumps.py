"""Gaussian bumps, slowly and obviously: every row with every bump."""

from __future__ import annotations

import numpy as np


def standardise(X, fitted, weight):
    mean = np.average(fitted, axis=0, weights=weight)
    scale = np.sqrt(np.average((fitted - mean) ** 2, axis=0, weights=weight))
    return (X - mean) / np.where(scale > 0, scale, 1.0)


def scores(Z, feature, centre, weight, width):
    out = np.zeros(len(Z))
    for k, c, a in zip(feature, centre, weight, strict=True):
        out += a * np.exp(-((Z[:, k] - c) ** 2) / (2 * width))
    return out


def gain(h, gradient, curvature):
    """⟨g, h⟩² / Σ D (h − h̄)²."""
    away = h - np.average(h, weights=curvature)
    bend = np.sum(curvature * away**2)
    return np.sum(gradient * h) ** 2 / bend if bend > 1e-9 * np.sum(curvature * h**2) else 0.0


def gains(Z, gradient, curvature, width, k, centres):
    return np.array([gain(np.exp(-((Z[:, k] - c) ** 2) / (2 * width)), gradient, curvature) for c in centres])
