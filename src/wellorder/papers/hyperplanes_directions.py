"""Tables 5 to 7 of 'multiple hyperplane ranker': directions of hyperplanes, training errors and training time."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..estimators import MultipleHyperplaneRanker, RankSVM
from ..metrics import order_error_rates
from .letor import Judged, Trial, joined

PAIRS = ((1, 2), (0, 2), (0, 1))
"""The rank pairs (1, 2), (1, 3), (2, 3) of the paper, whose rank 1 is our grade 2: (lower, higher) grade."""

LOSSES = ("hinge", "squared_hinge")
"""Those that are timed: the paper's, with which directions and errors are found too, and RankSVM's default."""

_COST = 1.0
_TIMED = 3


class Direction(NamedTuple):
    """One trial's RankSVM, and the hyperplanes of its rank pairs."""

    cosines: tuple[tuple[float, ...], ...]
    """Between RankSVM's hyperplane and those of PAIRS, in this order."""
    single: tuple[float, ...]
    """Share of training pairs that RankSVM swaps, for each of PAIRS."""
    several: tuple[float, ...]
    """The same for the hyperplane of the rank pair itself."""
    seconds: dict[str, tuple[float, ...]]
    """By loss: to train the hyperplane of each of PAIRS, all as one estimator, and RankSVM; the best of three."""


def directions(trials: list[Trial]) -> list[Direction]:
    """Fit RankSVM and its rank pairs' hyperplanes on the training queries of each trial, with the paper's hinge."""
    return [_direction(trial) for trial in trials]


def _direction(trial: Trial) -> Direction:
    train = joined([trial.train, trial.validation])
    several = MultipleHyperplaneRanker(RankSVM(_COST, loss=LOSSES[0])).fit(train.X, train.grade, groups=train.query)
    single = RankSVM(_COST, loss=LOSSES[0]).fit(train.X, train.grade, groups=train.query)
    normals = np.array([single.coef_, *(several.rankers_[pair].coef_ for pair in PAIRS)])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    errors = order_error_rates(train.grade, single.decision_function(train.X), train.query)
    own = several.order_error_rates(train.X, train.grade, train.query)
    return Direction(
        tuple(map(tuple, (normals @ normals.T).tolist())),
        tuple(errors[pair] for pair in PAIRS),
        tuple(own[pair] for pair in PAIRS),
        {loss: _seconds(train, loss) for loss in LOSSES},
    )


def _seconds(train: Judged, loss: str) -> tuple[float, ...]:
    single = RankSVM(_COST, loss=loss)
    parts = [_best_time(single, train.take(np.isin(train.grade, pair))) for pair in PAIRS]
    return (*parts, _best_time(MultipleHyperplaneRanker(single), train), _best_time(single, train))


def _best_time(model: RankSVM | MultipleHyperplaneRanker, train: Judged) -> float:
    best = np.inf
    for _ in range(_TIMED):
        started = time.perf_counter()
        model.fit(train.X, train.grade, groups=train.query)
        best = min(best, time.perf_counter() - started)
    return float(best)
