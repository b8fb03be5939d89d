"""Statistical optimality in multipartite ranking: its simulation, and its figures and tables on MovieLens 100K."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ..estimators import OrderBoost
from ..evaluation import Record, RecordFile
from ..metrics import order_error_rates
from ..sweeps import Ints
from .movielens import Ratings, read_ratings
from .multipartite_relations import relate
from .multipartite_simulation import simulate
from .multipartite_tables import SAMPLES, Multipartite
from .running import Piece, Progress, record_key, run_pieces

METHODS: dict[str, Callable[[], OrderBoost]] = {
    "pair rank": lambda: OrderBoost("pairs", order="linear"),
    "prop odds": lambda: OrderBoost("proportional_odds"),
    "or boost": lambda: OrderBoost("orboost"),
    "plain pairs": lambda: OrderBoost("pairs", order="linear", consistent=False),
    "trees": lambda: OrderBoost("pairs", order="linear", learner="tree", max_leaf_nodes=8, n_iter_no_change=30),
}
"""The paper's three; then pairwise ranking without Theorem 4's terms, and with trees."""


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> Multipartite:
    """Run the paper's figures and tables again.

    Parameters
    ----------
    data : path
        The folder with ``movielens-100k``.
    quick : bool, default=False
        5 replicates instead of 50.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    n_replicates = 5 if quick else 50
    ratings = read_ratings(Path(data) / "movielens-100k")
    pieces = [
        Piece(sample, {method: _key(sample, number, method)}, partial(_replicate, ratings, sample, number))
        for sample in SAMPLES
        for number in range(n_replicates)
        for method in METHODS
    ]
    figures: dict[str, Callable[[], object]] = {
        "figures 3 and 4": partial(relate, ratings),
        "figures 1 and 2": simulate,
    }
    made, drawn = run_pieces(pieces, RecordFile(records), n_jobs, progress, figures)
    curves, relations = drawn["figures 1 and 2"], drawn["figures 3 and 4"]
    return Multipartite(made, n_replicates, curves, relations, tuple(METHODS))


def _replicate(ratings: Ratings, sample: str, number: int, methods: list[str]) -> list[Record]:
    """Fit methods on one drawn sample; rounds are chosen on a second one of the same size."""
    return [_fitted(ratings, sample, number, method) for method in methods]


def _fitted(ratings: Ratings, sample: str, number: int, method: str) -> Record:
    train, other, test = _draw(ratings, sample, number)
    model = METHODS[method]()
    started = time.perf_counter()
    model.fit(ratings.X[train], ratings.rating[train], X_val=ratings.X[other], y_val=ratings.rating[other])
    seconds = time.perf_counter() - started
    errors = order_error_rates(ratings.rating[test], model.decision_function(ratings.X[test]), ties="half")
    found = getattr(model, "thresholds_", None)
    return Record(
        key=_key(sample, number, method),
        data=sample,
        method=method,
        repeat=number,
        fold=0,
        seed=number,
        n_train=len(train),
        n_test=len(test),
        metrics={f"{low} vs {high}": error for (low, high), error in errors.items()},
        params={
            "rounds": model.n_estimators_,
            "thresholds": None if found is None else [float(each - found[-1]) for each in found],
        },
        fit_seconds=seconds,
    )


def _draw(ratings: Ratings, sample: str, number: int) -> tuple[Ints, Ints, Ints]:
    """Draw training, validation and test rows, with the sample's number of each rating; none is drawn twice."""
    rng = np.random.default_rng([number, list(SAMPLES).index(sample)])
    parts: tuple[list[Ints], list[Ints], list[Ints]] = ([], [], [])
    for rating, size in enumerate(SAMPLES[sample], start=1):
        rows = rng.permutation(np.flatnonzero(ratings.rating == rating))
        for part, drawn in zip(parts, np.split(rows[: 4 * size], [size, 2 * size]), strict=True):
            part.append(drawn)
    train, other, test = (np.concatenate(part) for part in parts)
    return train, other, test


def _key(sample: str, number: int, method: str) -> str:
    params = sorted((name, repr(value)) for name, value in METHODS[method]().get_params().items())
    return record_key(f"multipartite/{sample}/{number}/{method}", params, SAMPLES[sample])
