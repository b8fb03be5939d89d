"""scikit-learn's LinearSVC on differences of rows: all of them where they fit, or a sample; and on comparisons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..shapes import Duels, Result, Rows
from .peer import PAIRS, SAMPLED, Peer, Settings, UnsuitableError, searched

_MOST_PAIRS = 2_000_000
_DRAWN = 200_000


def _explicit(rows: Rows, settings: Settings) -> Callable[[], Result]:
    _, counts = np.unique(rows.y, return_counts=True)
    n = rows.X.shape[0]
    n_pairs = (n**2 - int((counts.astype(np.int64) ** 2).sum())) // 2
    if rows.groups is not None or n_pairs > _MOST_PAIRS:
        raise UnsuitableError(f"lists at most {_MOST_PAIRS:,} pairs of one list; here {n_pairs:,}")

    def pairs() -> tuple[Any, Any]:
        high, low = np.nonzero(rows.y[:, None] > rows.y[None, :])
        return high, low

    return _fit_on(rows, pairs, settings)


def _sampled(rows: Rows, settings: Settings) -> Callable[[], Result]:
    def pairs() -> tuple[Any, Any]:
        rng = np.random.default_rng(0)
        order = np.arange(len(rows.y)) if rows.groups is None else np.argsort(rows.groups, kind="stable")
        group = np.zeros(len(order), np.int64) if rows.groups is None else rows.groups[order]
        start, stop = np.searchsorted(group, group, "left"), np.searchsorted(group, group, "right")
        first = rng.integers(0, len(order), 4 * _DRAWN)
        second = rng.integers(start[first], stop[first])
        first, second = order[first], order[second]
        differ = rows.y[first] != rows.y[second]
        first, second = first[differ][:_DRAWN], second[differ][:_DRAWN]
        swap = rows.y[first] < rows.y[second]
        return np.where(swap, second, first), np.where(swap, first, second)

    return _fit_on(rows, pairs, settings)


def _fit_on(rows: Rows, pairs: Callable[[], tuple[Any, Any]], settings: Settings) -> Callable[[], Result]:
    from sklearn.svm import LinearSVC

    def fit() -> Result:
        high, low = pairs()
        sign = np.where(np.arange(len(high)) % 2, 1, -1)  # two classes are asked for: every other pair upside down
        difference = rows.X[high] - rows.X[low]
        difference = (
            difference * sign[:, None]
            if isinstance(difference, np.ndarray)
            else difference.multiply(sign[:, None]).tocsr()
        )
        model = LinearSVC(C=settings.C0 / len(high), fit_intercept=False, dual="auto", random_state=0)
        coef = model.fit(difference, sign).coef_.ravel()
        return Result(scores=lambda X: X @ coef, coef=coef)

    return fit


def _three_outcomes(duels: Duels, settings: Settings) -> Callable[[], Result]:
    from sklearn.svm import LinearSVC

    def fit() -> Result:
        model = LinearSVC(random_state=0).fit(duels.right - duels.left, duels.outcome)
        return Result(compare=lambda left, right: model.predict(right - left))

    return fit


PEERS = (
    Peer("linear-svc-all-pairs", "order", _explicit, package="scikit-learn", module="sklearn", minimises=PAIRS),
    Peer("linear-svc-drawn-pairs", "order", _sampled, package="scikit-learn", module="sklearn", minimises=SAMPLED),
    Peer("search-linear-svc-drawn-pairs", "order", searched(_sampled), package="scikit-learn", module="sklearn"),
    Peer("linear-svc", "compare", _three_outcomes, package="scikit-learn", module="sklearn"),
)
