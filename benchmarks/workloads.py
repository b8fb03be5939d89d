"""Seeded data sets, each for one claim about speed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Workload:
    """A data set by name, and how many floors a fit may take (the aim in brackets)."""

    name: str
    make: Callable[[], tuple[Any, Any, Any]]
    limit: float
    aim: float | None = None


def one_list(n: int, d: int, levels: int | None, seed: int = 0) -> tuple[Any, Any, None]:
    """One list with a linear latent score, cut into levels of equal size, or left continuous."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(d)
    X = rng.standard_normal((n, d))
    latent = X @ (direction / np.linalg.norm(direction)) + 0.5 * rng.standard_normal(n)
    if levels is None:
        return X, latent, None
    rank = np.empty(n, np.int64)
    rank[np.argsort(latent)] = np.arange(n)
    return X, (rank * levels // n).astype(float), None


def sparse_list(n: int = 100_000, d: int = 50_000, nonzeros: int = 100, seed: int = 3) -> tuple[Any, Any, None]:
    """One list of unit-length sparse rows whose column frequencies fall off like a text's."""
    rng = np.random.default_rng(seed)
    column = np.minimum((d * rng.random((n, nonzeros)) ** 2).astype(np.int64), d - 1)
    value = rng.random((n, nonzeros)) + 0.1
    X = sp.csr_array((value.ravel(), column.ravel(), np.arange(0, n * nonzeros + 1, nonzeros)), shape=(n, d))
    X.sum_duplicates()
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())) @ X)
    latent = X @ (rng.standard_normal(d) * (rng.random(d) < 0.3))
    latent = latent / latent.std() + 0.5 * rng.standard_normal(n)
    rank = np.empty(n, np.int64)
    rank[np.argsort(latent)] = np.arange(n)
    return X, (rank * 5 // n).astype(float), None


def queries(n_queries: int = 2_000, per_query: int = 60, d: int = 136, seed: int = 4) -> tuple[Any, Any, Any]:
    """Query lists as in web search: correlated columns, heavy tails, query effects, few good results."""
    rng = np.random.default_rng(seed)
    size = rng.integers(per_query - 20, per_query + 21, n_queries)
    query = np.repeat(np.arange(n_queries), size)
    n = len(query)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n_queries, d))[query]
    X += 0.6 * rng.standard_normal((n, 12)) @ rng.standard_normal((12, d))
    X[:, d // 2 :] = np.exp(0.5 * X[:, d // 2 :] / X[:, d // 2 :].std(axis=0))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    latent = X @ (rng.standard_normal(d) * (rng.random(d) < 0.4))
    latent = latent / latent.std() + 0.7 * rng.standard_normal(n) + 0.7 * rng.standard_normal(n_queries)[query]
    return X, np.searchsorted(np.quantile(latent, [0.52, 0.75, 0.92, 0.98]), latent).astype(float), query


def _list_of(n: int, d: int, levels: int | None) -> Callable[[], tuple[Any, Any, None]]:
    return lambda: one_list(n, d, levels)


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("levels-1e5", _list_of(100_000, 50, 5), 20, 8),
        Workload("levels-1e6", _list_of(1_000_000, 50, 5), 20, 8),
        Workload("continuous-1e5", _list_of(100_000, 50, None), 45, 20),
        Workload("continuous-1e6", _list_of(1_000_000, 50, None), 45, 20),
        Workload("sparse", sparse_list, 30),
        Workload("queries", queries, 20),
        Workload("levels-1e7", _list_of(10_000_000, 20, 5), 20),
    )
}

HUGE = {"levels-1e7"}
"""Left out unless asked for: they need many gigabytes."""

GROWTH = (("levels-1e5", "levels-1e6"), ("continuous-1e5", "continuous-1e6"))
"""Pairs of workloads whose floors should hardly grow: at most by :data:`MOST_GROWTH`."""

MOST_GROWTH = 1.4
