"""Small data whose comparison takes a second: lists, one list, and items compared, with names that try to break out."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl

import wellorder as wo
from wellorder.data import ComparisonTable, Table
from wellorder.evaluation import fit_table
from wellorder.order import Comparisons

EVIL = "<script>alert(1)</script>"


def lists(n_lists=12, length=9) -> Table:
    """Graded rows in lists; the first row of each has a name that is markup, some rows have no grade."""
    rng = np.random.default_rng(0)
    n = n_lists * length
    groups = np.repeat([f"list {number}" for number in range(n_lists)], length).astype(object)
    groups[groups == "list 0"] = EVIL
    X = rng.standard_normal((n, 3))
    kind = rng.choice(["red", "white"], n)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.6 * (kind == "red") + rng.standard_normal(n), [0, 1.2]).astype(
        float
    )
    y[::17] = np.nan
    ids = np.array([f"{EVIL} {row}" if row % length == 0 else f"wine {row}" for row in range(n)], dtype=object)
    frame = pl.DataFrame({"acid": X[:, 0], "sugar": X[:, 1], EVIL: X[:, 2], "kind": kind})
    return Table("lists.csv", frame, y, groups, ids, target="grade", group="list", item="wine")


def one_list(n=80) -> Table:
    """The same in one list."""
    table = lists(1, n)
    return Table("rows.csv", table.X, table.y, None, table.ids, target="grade")


def compared(described=True) -> ComparisonTable:
    """Items compared two at a time, with ties."""
    rng = np.random.default_rng(1)
    n, m = 25, 260
    X = rng.standard_normal((n, 2))
    left, right = rng.integers(0, n, m), rng.integers(1, n, m)
    right = (left + right) % n
    utility = X @ [1.5, -1.0]
    gap = utility[right] - utility[left] + rng.standard_normal(m)
    outcome = np.where(np.abs(gap) < 0.7, 0, np.sign(gap)).astype(int)
    names = np.array([EVIL, *(f"item {number}" for number in range(1, n))], dtype=object)
    features = pl.DataFrame({"size": X[:, 0], "price": X[:, 1]}) if described else _identity(n)
    items = Table("items.csv", features, ids=names, item="item")
    return ComparisonTable("compared.csv", items, Comparisons(left, right, outcome), described)


@cache
def ordered(in_lists=False):
    """A model with bands, and 300 rows in one list, or 108 in lists, with gaps and new categories, to be ordered."""
    model = fit_table(lists() if in_lists else one_list(), "rank-svm").model
    table = lists() if in_lists else one_list(300)
    ids = np.array([EVIL, *(f"wine {row}" for row in range(1, len(table)))], dtype=object)
    acid = table.X["acid"].to_list()
    acid[3], acid[5] = None, -6.0
    kind = [f"rosé {EVIL}", *table.X["kind"].to_list()[1:]]
    X = table.X.with_columns(pl.Series("acid", acid), pl.Series("kind", kind))
    groups = table.groups if in_lists else None
    return model, Table("new/rows.csv", X, groups=groups, ids=ids)


def _identity(n):
    import scipy.sparse as sp

    return sp.csr_array(np.eye(n))


def run(table, methods, **options):
    return wo.compare(table, methods, n_folds=3, n_repeats=1, inner_folds=2, **options)


@cache
def lists_board():
    return run(lists(), ["rank-svm", "ridge"])


@cache
def one_list_board():
    return run(one_list(), ["rank-svm", "best-feature"])


@cache
def compared_board():
    return run(compared(), ["compare-svm", "rank-svm"])
