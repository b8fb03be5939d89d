"""Statistical optimality in multipartite ranking: its simulation, and its figures and tables on MovieLens 100K."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from ..estimators import OrderBoost
from ..evaluation import Record, RecordFile
from ..evaluation.versions import versions
from ..metrics import order_error_rates
from ..sweeps import Ints
from ..sweeps.dispatch import prefer_compiled
from .movielens import Ratings, read_ratings
from .multipartite_relations import Relations, relate
from .multipartite_simulation import Curve, simulate
from .multipartite_tables import SAMPLES, Multipartite

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
    progress: Callable[[int, int, str], None] | None = None,
) -> Multipartite:
    """Run the paper's figures and tables again.

    Parameters
    ----------
    data : path
        The folder with ``movielens-100k``.
    quick : bool, default=False
        5 replicates instead of 50.
    records : path, optional
        Where to keep a JSON line a fit, and to go on from.
    n_jobs : int, default=-1
        Processes; all processors unless given.
    progress : callable, optional
        Called with what is done, what is planned, and what was last.
    """
    n_replicates = 5 if quick else 50
    ratings = read_ratings(Path(data) / "movielens-100k")
    kept = RecordFile(records)
    planned = [(sample, number, method) for sample in SAMPLES for number in range(n_replicates) for method in METHODS]
    keys = {each: _key(*each) for each in planned}
    used = {key: kept[key] for key in keys.values() if key in kept}
    waiting = [each for each, key in keys.items() if key not in kept]
    n_planned = len(planned) + 2
    curves: dict[str, Curve] = {}
    relations: Relations | None = None
    for number, found in enumerate(_run(ratings, waiting, n_jobs), start=len(used) + 1):
        match found:
            case Record():
                kept.append(found)
                used[found.key] = found
            case Relations():
                relations = found
            case _:
                curves = found
        if progress is not None:
            progress(number, n_planned, found.data if isinstance(found, Record) else "figures")
    assert relations is not None
    return Multipartite(tuple(used.values()), n_replicates, curves, relations, tuple(METHODS))


def _run(ratings: Ratings, waiting: list[tuple[str, int, str]], n_jobs: int) -> Iterator[Any]:
    """Compute the figures and the fits that are missing, in any order."""
    jobs = [delayed(relate)(ratings), delayed(simulate)()]
    jobs += [delayed(_replicate)(ratings, *each) for each in waiting]
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", mmap_mode="r")(jobs)


def _replicate(ratings: Ratings, sample: str, number: int, method: str) -> Record:
    """Fit one method on one drawn sample; rounds are chosen on a second one of the same size."""
    train, other, test = _draw(ratings, sample, number)
    model = METHODS[method]()
    started = time.perf_counter()
    with prefer_compiled():
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
    digest = hashlib.blake2b(repr((params, SAMPLES[sample], versions())).encode(), digest_size=12)
    return f"multipartite/{sample}/{number}/{method}/{digest.hexdigest()}"
