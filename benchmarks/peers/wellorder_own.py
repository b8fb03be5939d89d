"""wellorder's own methods, in the shape of any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..shapes import Duels, Games, LetorFile, Lists, Result, Rows
from .peer import PAIRS, TIES, Peer, Settings, searched

_WARM = 6_000
"""More rows than the size from which on sweeps are compiled."""


def _linear(tol: float) -> Callable[[Rows, Settings], Callable[[], Result]]:
    def start(rows: Rows, settings: Settings) -> Callable[[], Result]:
        from wellorder import RankSVM

        def fit() -> Result:
            model = RankSVM(C=_per_row(rows, settings), tol=tol).fit(rows.X, rows.y, groups=rows.groups)
            return Result(scores=model.decision_function, coef=model.coef_)

        return fit

    return start


def _rbf(tol: float, C: float | None = None) -> Callable[[Rows, Settings], Callable[[], Result]]:
    def start(rows: Rows, settings: Settings) -> Callable[[], Result]:
        from wellorder import RankSVM

        def fit() -> Result:
            weight = _per_row(rows, settings) if C is None else C
            model = RankSVM(C=weight, kernel="rbf", gamma=settings.gamma, tol=tol).fit(rows.X, rows.y)
            coef = np.zeros(len(rows.y))
            coef[model.support_] = model.dual_coef_
            return Result(scores=model.decision_function, coef=coef)

        return fit

    return start


def _per_row(rows: Rows, settings: Settings) -> float:
    """Divide the weight of the mean loss by the rows: C of the library; every row here is in some pair."""
    return settings.C0 / float(rows.X.shape[0])


def _svor(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from wellorder import SVOR

    return lambda: _scored(SVOR(kernel="rbf", gamma=settings.gamma).fit(rows.X, rows.y))


def _odds(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from wellorder import ProportionalOdds

    return lambda: _scored(ProportionalOdds().fit(rows.X, rows.y))


def _trees(loss: str) -> Callable[[Rows, Settings], Callable[[], Result]]:
    def start(rows: Rows, settings: Settings) -> Callable[[], Result]:
        from wellorder import OrderBoost

        balance: Any = "pairs" if rows.groups is None else "groups"
        shape: Any = {"n_estimators": settings.trees, "max_leaf_nodes": settings.leaves}
        model = OrderBoost(loss, learner="tree", balance=balance, **shape)
        return lambda: _scored(model.fit(rows.X, rows.y, groups=rows.groups))

    return start


def _ensemble(rows: Rows, settings: Settings) -> Callable[[], Result]:
    from wellorder import OrderEnsemble

    return lambda: _scored(OrderEnsemble(random_state=0).fit(rows.X, rows.y, groups=rows.groups))


def _scored(model: Any) -> Result:
    return Result(scores=model.decision_function)


def _compare(loss: str, tol: float | None = None) -> Callable[[Duels, Settings], Callable[[], Result]]:
    def start(duels: Duels, settings: Settings) -> Callable[[], Result]:
        from wellorder import CompareSVM

        X = np.stack([duels.left, duels.right], axis=1)
        more: Any = {} if tol is None else {"tol": tol}
        kernel = {"kernel": "linear"} if settings.gamma is None else {"kernel": "rbf", "gamma": settings.gamma}

        def fit() -> Result:
            model = CompareSVM(C=settings.C0, loss=loss, **kernel, **more).fit(X, duels.outcome)
            coef = model.coef_ * -model.bias_ if settings.gamma is None else None
            return Result(
                compare=lambda left, right: model.predict(np.stack([left, right], axis=1)), coef=coef, bias=model.bias_
            )

        return fit

    return start


def _davidson(played: Games, settings: Settings) -> Callable[[], Result]:
    from wellorder import Comparisons
    from wellorder.ratings import Davidson

    comparisons = Comparisons(played.loser, played.winner, np.ones(len(played.winner), np.int64))

    def fit() -> Result:
        system = Davidson(ridge=1e-6).fit(comparisons)
        strengths = np.zeros(played.n_items)
        players: Any = list(system.players_)
        strengths[players] = system.ratings_[list(system.players_.values())]
        return Result(strengths=strengths)

    return fit


def _metric(lists: Lists, settings: Settings) -> Callable[[], Result]:
    from wellorder.metrics import ndcg, swapped_pairs

    if settings.metric == "auc":
        return lambda: Result(value=1.0 - swapped_pairs(lists.y, lists.scores, lists.groups, ties="half"))
    return lambda: Result(value=ndcg(lists.y, lists.scores, lists.groups, k=10, gain="linear"))


def _read(file: LetorFile, settings: Settings) -> Callable[[], Result]:
    import wellorder

    def read() -> Result:
        table: Any = wellorder.read(file.path)
        return Result(value=float(table.X.sum()))

    return read


def _floor(rows: Rows, settings: Settings) -> Callable[[], Result]:
    w = np.random.default_rng(0).standard_normal(rows.X.shape[1])
    s = rows.X @ w

    def one_pass() -> Result:
        _ = rows.X @ w
        _ = rows.X.T @ s
        np.sort(s)
        return Result()

    return one_pass


PEERS = (
    Peer("wellorder", "order", _linear(1e-4), minimises=PAIRS, warm_rows=_WARM, ours=True),
    Peer("wellorder-exact", "order", _linear(1e-9), minimises=PAIRS, warm_rows=_WARM, ours=True, reference=True),
    Peer("search-wellorder", "order", searched(_linear(1e-4)), ours=True),
    Peer("floor", "order", _floor, ours=True, reference=True),
    Peer("wellorder-odds", "order", _odds, warm_rows=_WARM, ours=True),
    Peer("wellorder-rbf", "order", _rbf(1e-4), minimises=PAIRS, warm_rows=400, ours=True),
    Peer("wellorder-rbf-exact", "order", _rbf(1e-9), minimises=PAIRS, warm_rows=400, ours=True, reference=True),
    Peer("wellorder-rbf-softer", "order", _rbf(1e-4, C=1.0), warm_rows=400, ours=True),
    Peer("wellorder-svor-rbf", "order", _svor, warm_rows=400, ours=True),
    Peer("wellorder-trees", "order", _trees("pairs"), warm_rows=_WARM, ours=True),
    Peer("wellorder-trees-hinge", "order", _trees("squared_hinge"), warm_rows=_WARM, ours=True),
    Peer("wellorder-ensemble", "order", _ensemble, warm_rows=300, ours=True),
    Peer("wellorder-compare", "compare", _compare("hinge"), minimises=TIES, ours=True),
    Peer("wellorder-compare-exact", "compare", _compare("hinge", 1e-7), minimises=TIES, ours=True, reference=True),
    Peer("wellorder-compare-squared", "compare", _compare("squared_hinge"), ours=True),
    Peer("wellorder-davidson", "rate", _davidson, ours=True),
    Peer("wellorder-metrics", "measure", _metric, warm_rows=_WARM, ours=True),
    Peer("wellorder-read", "read", _read, warm_rows=10_000, ours=True),
)
