"""scikit-learn's kernel machines: SVR and KernelRidge on the grade, SVC on comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Duels, Result, Rows
from .peer import TIES, Peer, Settings, searched


def _svr(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from sklearn.svm import SVR

    return lambda: Result(scores=SVR(gamma=settings.gamma).fit(rows.X, rows.y).predict)


def _weighed_svr(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from sklearn.svm import SVR

    return lambda: Result(scores=SVR(C=settings.C0).fit(rows.X, rows.y).predict)


def _kernel_ridge(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from sklearn.kernel_ridge import KernelRidge

    return lambda: Result(scores=KernelRidge(kernel="rbf", gamma=settings.gamma).fit(rows.X, rows.y).predict)


def _three_outcomes(duels: Duels, settings: Settings) -> Callable[[], Result]:
    from sklearn.svm import SVC

    def fit() -> Result:
        model = SVC(kernel="linear").fit(duels.right - duels.left, duels.outcome)
        return Result(compare=lambda left, right: model.predict(right - left))

    return fit


def _flipped(duels: Duels, settings: Settings) -> Callable[[], Result]:
    """Fit the very objective of a comparison machine: decided pairs against ties, these both ways round."""
    from sklearn.svm import SVC

    def fit() -> Result:
        difference, outcome = duels.right - duels.left, duels.outcome
        decided = difference[outcome != 0] * outcome[outcome != 0, None]
        tied = difference[outcome == 0]
        label = np.repeat([1, -1], [len(decided), 2 * len(tied)])
        model = SVC(kernel="linear", C=settings.C0).fit(np.vstack([decided, tied, -tied]), label)
        coef, bias = model.coef_.ravel(), float(model.intercept_[0])

        def compare(left: np.ndarray, right: np.ndarray) -> np.ndarray:
            along = (right - left) @ coef
            return np.where(np.abs(along) > -bias, np.sign(along), 0).astype(int)

        return Result(compare=compare, coef=coef, bias=bias)

    return fit


PEERS = (
    Peer("svr", "order", _svr, package="scikit-learn", module="sklearn"),
    Peer("search-svr", "order", searched(_weighed_svr), package="scikit-learn", module="sklearn"),
    Peer("kernel-ridge", "order", _kernel_ridge, package="scikit-learn", module="sklearn"),
    Peer("svc", "compare", _three_outcomes, package="scikit-learn", module="sklearn"),
    Peer("svc-flipped", "compare", _flipped, package="scikit-learn", module="sklearn", minimises=TIES),
)
