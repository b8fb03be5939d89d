"""The LETOR benchmarks: judged documents in five published parts, and how they are split into trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

from ..data import DataError, read_letor
from ..evaluation import by_query
from ..sweeps import Array, Floats

N_PARTS = 5
CUTOFFS = tuple(range(1, 11))
MAP, LETOR_MAP = "average_precision(positive=2)", "average_precision"
"""Average precision as the paper counts it, the top grade alone relevant; and as LETOR does, grade 1 too."""

FROM_ONE = {"ndcg@1, grades from 1": "ndcg@1", "ndcg@10, grades from 1": "ndcg@10"}
"""NDCG where grades count from 1, so that a document that is not relevant gains too."""

METRICS = (*(f"ndcg@{k}" for k in CUTOFFS), MAP, LETOR_MAP)

_QUARTERS = 4
_HELD_OUT = 5


class Judged(NamedTuple):
    """Documents with their features, their grades and the queries that they were judged for."""

    X: Floats
    grade: Floats
    query: Array

    def take(self, rows: Array) -> Judged:
        """Return some of the documents."""
        return Judged(self.X[rows], self.grade[rows], self.query[rows])


class QueryParts(NamedTuple):
    """Queries to learn from, queries to choose parameters by, and queries to judge by."""

    train: Judged
    validation: Judged
    test: Judged
    learns_again: bool
    """Whether the model chosen is fitted anew to training and validation queries together."""

    @property
    def learned(self) -> Judged:
        """Training and validation queries together."""
        return joined([self.train, self.validation])


@dataclass(frozen=True)
class Benchmark:
    """One collection: where it lies, which column is BM25, and whether each query is to be scaled first."""

    folder: str
    name: str
    """Of the file in each part's folder."""
    n_features: int
    bm25: int
    """The column, counted from 0, of BM25 over the whole text of a document."""
    scaled: bool = True
    """Whether the features already lie in [0, 1] within each query, as the later releases have them."""


BENCHMARKS = {
    "OHSUMED, 25 features": Benchmark("letor-ohsumed-25f", "testset.txt.gz", 25, 20, scaled=False),
    "OHSUMED, 45 features": Benchmark("letor-ohsumed-45f", "test.txt.gz", 45, 40),
    "MQ2008": Benchmark("letor-mq2008", "test.txt.gz", 46, 24),
}


def read_parts(data: Path, name: str) -> list[Judged]:
    """Read the five parts of a benchmark."""
    each = BENCHMARKS[name]
    parts = []
    for number in range(1, N_PARTS + 1):
        path = data / each.folder / f"Fold{number}" / each.name
        if not path.exists():
            raise DataError(str(path), f"part {number} of {name} is not there; name the folder with --data")
        table = read_letor(path, n_features=each.n_features)
        if table.y is None or table.groups is None:
            raise DataError(str(path), "its lines have no grade or no qid; is it a LETOR file?")
        X = scipy.sparse.csr_array(table.X).toarray()
        parts.append(
            Judged(X if each.scaled else scaled_by_query(X, table.groups), table.y.astype(float), table.groups)
        )
    return parts


def scaled_by_query(X: Floats, query: Array) -> Floats:
    """Shift and stretch each column to [0, 1] within each query, as LETOR does; a constant one becomes 0."""
    _, group = np.unique(query, return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[by_group], prepend=-1))
    low = np.minimum.reduceat(X[by_group], first)[group]
    high = np.maximum.reduceat(X[by_group], first)[group]
    return np.asarray((X - low) / np.where(high > low, high - low, 1.0))


def published_folds(parts: list[Judged]) -> Iterator[QueryParts]:
    """Return LETOR's own: a part to judge by, the part before it to choose by, the other three to learn from."""
    for k in range(N_PARTS):
        others = [parts[j] for j in range(N_PARTS) if j not in (k, (k - 1) % N_PARTS)]
        yield QueryParts(joined(others), parts[(k - 1) % N_PARTS], parts[k], learns_again=False)


def quarters(parts: list[Judged], seed: int = 0) -> Iterator[QueryParts]:
    """Return the paper's 4-fold: a quarter of the queries to judge by, a fifth of the others to choose by."""
    whole = joined(parts)
    queries, query = np.unique(whole.query, return_inverse=True)
    drawn = np.random.default_rng(seed).permutation(len(queries))[query]
    for k in range(_QUARTERS):
        test = drawn % _QUARTERS == k
        held_out = (drawn // _QUARTERS) % _HELD_OUT == 0
        yield QueryParts(
            whole.take(~test & ~held_out), whole.take(~test & held_out), whole.take(test), learns_again=True
        )


def joined(parts: list[Judged]) -> Judged:
    """Put documents together."""
    return Judged(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def judge(test: Judged, scores: Floats, metrics: tuple[str, ...] = METRICS) -> dict[str, Floats]:
    """Return every metric, one value a query in the order of their ids; NaN for one without a relevant document."""
    return {metric: _values(metric, test, scores) for metric in metrics}


def _values(metric: str, test: Judged, scores: Floats) -> Floats:
    grade = test.grade + 1.0 if metric in FROM_ONE else test.grade
    found: Mapping[object, float] = by_query(FROM_ONE.get(metric, metric), grade, scores, test.query)
    return np.array([found[query] for query in np.unique(test.query).tolist()])
