"""Seeded data: every function gives a part to learn from and a part to be judged on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .shapes import Duels, Games, LetorFile, Lists, Rows

Array = np.ndarray[Any, Any]


def one_list(n: int, levels: int | None, *, d: int = 50, n_test: int = 20_000, seed: int = 0) -> tuple[Rows, Rows]:
    """One list with a linear latent score under Gaussian noise, cut into levels of equal size or left continuous."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    X = rng.standard_normal((n + n_test, d))
    latent = X @ direction + 0.5 * rng.standard_normal(n + n_test)
    return _parts(X, latent if levels is None else equal_levels(latent, levels), None, n)


def distorted_list(
    n: int, levels: int | None, *, d: int = 50, n_test: int = 20_000, seed: int = 1
) -> tuple[Rows, Rows]:
    """One list whose grades are a steep function of a latent score, with long tails in columns and noise.

    The order is as linear as in :func:`one_list`. Least squares chase the few largest grades; with Gaussian columns
    they would still find the direction, so half of the columns are exponentials.
    """
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(d)
    X = rng.standard_normal((n + n_test, d))
    X[:, d // 2 :] = np.exp(X[:, d // 2 :])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    latent = X @ (direction / np.linalg.norm(direction)) + 0.3 * rng.standard_t(3, n + n_test)
    if levels is None:
        steep = np.clip(latent, -12.0, 12.0)
        return _parts(X, np.sign(steep) * np.expm1(2.0 * np.abs(steep)), None, n)
    level = np.searchsorted(np.quantile(latent, 1.0 - 3.0 ** -np.arange(1.0, levels)), latent)  # few are good
    return _parts(X, np.expm1(3.0 * level), None, n)


def many_lists(n: int, groups: int, *, d: int = 50, n_test: int = 20_000, seed: int = 2) -> tuple[Rows, Rows]:
    """Make lists of about one size with five levels, each list with a shift of its own."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(d)
    X = rng.standard_normal((n + n_test, d))
    group = rng.integers(0, groups, n + n_test)
    latent = X @ (direction / np.linalg.norm(direction)) + 0.5 * rng.standard_normal(n + n_test)
    return _parts(X, equal_levels(latent + rng.standard_normal(groups)[group], 5), group, n)


def sparse_lists(
    groups: int, *, n: int = 100_000, d: int = 50_000, nonzeros: int = 100, n_test: int = 20_000, seed: int = 3
) -> tuple[Rows, Rows]:
    """Unit-length sparse rows whose column frequencies fall off like a text's, five levels; a shift for each group."""
    rng = np.random.default_rng(seed)
    size = n + n_test
    column = np.minimum((d * rng.random((size, nonzeros)) ** 2.0).astype(np.int64), d - 1)
    value = rng.random((size, nonzeros)) + 0.1
    X = sp.csr_matrix((value.ravel(), column.ravel(), np.arange(0, size * nonzeros + 1, nonzeros)), shape=(size, d))
    X.sum_duplicates()
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1.0 / length) @ X)
    latent = X @ (rng.standard_normal(d) * (rng.random(d) < 0.3))
    latent = latent / latent.std()
    group = rng.integers(0, groups, size).astype(np.int32)
    latent = latent + 0.5 * rng.standard_normal(size)
    if groups > 1:
        latent = latent + rng.standard_normal(groups)[group]
    y = equal_levels(latent, 5)
    train, test = np.argsort(group[:n], kind="stable"), n + np.argsort(group[n:], kind="stable")
    return tuple(Rows(X[rows], y[rows], group[rows] if groups > 1 else None) for rows in (train, test))  # type: ignore[return-value]


def queries(
    n_queries: int = 2_000, *, per_query: int = 60, d: int = 136, n_test_queries: int = 400, seed: int = 4
) -> tuple[Rows, Rows]:
    """Query lists as in web search: correlated columns, half of them with long tails, interactions, few good rows."""
    rng = np.random.default_rng(seed)
    n_lists = n_queries + n_test_queries
    sizes = rng.integers(per_query - 20, per_query + 21, n_lists)
    query = np.repeat(np.arange(n_lists), sizes).astype(np.int32)
    n = len(query)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n_lists, d))[query]
    X += 0.6 * rng.standard_normal((n, 12)) @ rng.standard_normal((12, d))
    X[:, d // 2 :] = np.exp(0.5 * X[:, d // 2 :] / X[:, d // 2 :].std(axis=0))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    linear = X @ (rng.standard_normal(d) * (rng.random(d) < 0.4))
    bent = X[:, 3] * X[:, 7] + (X[:, 11] > 0.5) * X[:, 20] + np.abs(X[:, 30])
    latent = linear / linear.std() + 0.6 * (bent - bent.mean()) / bent.std()
    latent = latent + 0.7 * rng.standard_normal(n) + 0.7 * rng.standard_normal(n_lists)[query]
    y = np.searchsorted(np.quantile(latent, [0.52, 0.75, 0.92, 0.98]), latent).astype(float)
    return _parts(X, y, query, int(np.count_nonzero(query < n_queries)))


def ball(n: int, levels: int | None, *, d: int = 8, n_test: int = 20_000, seed: int = 5) -> tuple[Rows, Rows]:
    """Grades that grow with the squared norm and a wave: nothing for a linear score."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_test, d))
    f = (X**2).sum(axis=1) / np.sqrt(2 * d) + 2 * np.sin(2 * X[:, 0]) + X[:, 1]
    latent = (f - f.mean()) / f.std() + 0.3 * rng.standard_normal(n + n_test)
    return _parts(X, latent if levels is None else equal_levels(latent, levels), None, n)


def duels(n: int, *, d: int = 10, n_test: int = 10_000, bent: bool = False, seed: int = 6) -> tuple[Duels, Duels]:
    """Comparisons of fresh items: 1, the right one is better; 0, a tie, where their noisy scores are near."""
    rng = np.random.default_rng(seed)
    left, right = (rng.standard_normal((n + n_test, d)) for _ in range(2))
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)

    def score(X: Array) -> Array:
        round_part = ((X**2).sum(axis=1) - d) / np.sqrt(2 * d) if bent else 0.0
        return np.asarray(round_part + X @ direction)

    difference = score(right) - score(left)
    difference = difference / difference.std() + 0.25 * rng.standard_normal(n + n_test)
    outcome = np.where(difference > 0.7, 1, np.where(difference < -0.7, -1, 0))
    return Duels(left[:n], right[:n], outcome[:n]), Duels(left[n:], right[n:], outcome[n:])


def games(n: int, *, n_items: int = 300, d: int = 10, n_test: int = 10_000, seed: int = 7) -> tuple[Games, Games]:
    """Games between the same items over and over, without ties; the better wins with its odds."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n_items, d))
    direction = rng.standard_normal(d)
    strength = 2 * features @ (direction / np.linalg.norm(direction)) + 0.3 * rng.standard_normal(n_items)
    a = rng.integers(0, n_items, n + n_test)
    b = (a + 1 + rng.integers(0, n_items - 1, n + n_test)) % n_items
    b_wins = rng.random(n + n_test) < 1 / (1 + np.exp(strength[a] - strength[b]))
    winner, loser = np.where(b_wins, b, a), np.where(b_wins, a, b)
    return Games(winner[:n], loser[:n], n_items), Games(winner[n:], loser[n:], n_items)


def judged_lists(n: int, per_list: int | None, levels: int, *, seed: int = 8) -> tuple[Lists, None]:
    """Grades with scores that know something of them, no two scores equal: what a metric is computed from."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, levels, n)
    scores = y + 2.0 * rng.standard_normal(n)
    return Lists(y, scores, None if per_list is None else np.arange(n) // per_list), None


def letor_file(folder: Path, n_queries: int) -> tuple[LetorFile, None]:
    """Query lists as text: grade, query and 136 features with six digits a row."""
    rows, _ = queries(n_queries, n_test_queries=0)
    path = folder / f"queries-{n_queries}.txt"
    assert rows.groups is not None
    with path.open("w") as file:
        names = [f" {j + 1}:" for j in range(rows.X.shape[1])]
        for x, grade, query in zip(rows.X, rows.y, rows.groups, strict=True):
            features = "".join([name + f"{value:.6f}" for name, value in zip(names, x.tolist(), strict=True)])
            file.write(f"{int(grade)} qid:{query}{features}\n")
    return LetorFile(path, len(rows.y)), None


def equal_levels(latent: Array, levels: int) -> Array:
    """Cut values into levels of equal size."""
    rank = np.empty(len(latent), np.int64)
    rank[np.argsort(latent, kind="stable")] = np.arange(len(latent))
    return (rank * levels // len(latent)).astype(float)


def _parts(X: Array, y: Array, groups: Array | None, n: int) -> tuple[Rows, Rows]:
    first, last = slice(0, n), slice(n, None)
    return (
        Rows(X[first], y[first], None if groups is None else groups[first]),
        Rows(X[last], y[last], None if groups is None else groups[last]),
    )
