"""Small tables that the tests of this folder share."""

from __future__ import annotations

import numpy as np
import polars as pl

import wellorder as wo


def make_table(n=90, d=4, seed=0, *, groups=None, grades=4, noise=0.5):
    """Graded rows whose first two columns say most of the order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = X[:, 0] - 0.5 * X[:, 1] + noise * rng.standard_normal(n)
    y = np.digitize(truth, np.quantile(truth, np.linspace(0, 1, grades + 1)[1:-1])).astype(float)
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(d)})
    of_row = None if groups is None else rng.integers(0, groups, n)
    return wo.data.Table("made.csv", frame, y, groups=of_row, target="y", group=None if groups is None else "query")


def make_comparisons(n=120, items=15, seed=0, *, described=True):
    """Comparisons of items by a hidden strength, ties where it is close."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((items, 3))
    left, right = rng.integers(0, items, (2, n))
    keep = left != right
    left, right = left[keep], right[keep]
    margin = X[right, 0] - X[left, 0] + 0.3 * rng.standard_normal(keep.sum())
    outcome = np.where(np.abs(margin) < 0.3, 0, np.sign(margin)).astype(int)
    names = np.array([f"item {i}" for i in range(items)], dtype=object)
    if described:
        table = wo.data.Table("items.csv", pl.DataFrame({f"x{j}": X[:, j] for j in range(3)}), ids=names, item="name")
    else:
        import scipy.sparse as sp

        table = wo.data.Table("games.csv", sp.csr_array(sp.eye_array(items)), ids=names)
    return wo.data.ComparisonTable("games.csv", table, wo.Comparisons(left, right, outcome), described)
