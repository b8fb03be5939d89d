"""RankBoost over listed pairs: every weak ranker tried, every pair weighed."""

from __future__ import annotations

import numpy as np


def steps(X):
    """Return all (feature, threshold, h): a threshold at each value but the largest; a missing value is below all."""
    found = []
    for k in range(X.shape[1]):
        values = sorted({float(value) for value in X[:, k] if not np.isnan(value)})
        thresholds = [-np.inf] * bool(np.isnan(X[:, k]).any() and values) + values[:-1]
        found += [(k, t, np.array([1.0 if value > t else 0.0 for value in X[:, k]])) for t in thresholds]
    return found


def fit(X, pairs, n_rounds):
    """Return [(feature, threshold, α)], the scores, and the risk after each round; pairs are [(i, j, W)]."""
    high, low, weight = (np.array(column) for column in zip(*pairs, strict=True))
    weight = weight / weight.sum()
    candidates = steps(X)
    scores, rounds, risks = np.zeros(len(X)), [], []
    for _ in range(n_rounds):
        share = weight * np.exp(-(scores[high] - scores[low]))
        share = share / share.sum()
        pulls = [float(share @ (h[high] - h[low])) for _, _, h in candidates]
        largest = max(abs(pull) for pull in pulls)
        best = next(place for place, pull in enumerate(pulls) if abs(pull) >= (1 - 1e-9) * largest)
        r = pulls[best]
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        feature, threshold, h = candidates[best]
        scores = scores + alpha * h
        rounds.append((feature, threshold, alpha))
        risks.append(float(weight @ np.exp(-(scores[high] - scores[low]))))
    return rounds, scores, np.array(risks)
