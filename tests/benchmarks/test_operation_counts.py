"""A fit's work, counted and not timed: a constant number of passes, however many rows, levels or groups there are.

What a fit of n rows does: products with X, sorts of the scores, sweeps over the sorted rows. Each is counted in rows,
those of samples too; a sweep over levels that are held apart also counts the levels that every row looks up. Divided
by n (lookups by n log n, for a tree of ranks is climbed) no count may grow.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from benchmarks.generators import many_lists, one_list
from benchmarks.shapes import Rows

from wellorder import RankSVM
from wellorder.losses import LOSSES
from wellorder.order import Windows, pairs, windows
from wellorder.spaces import LinearSpace
from wellorder.sweeps import Edges, Side

MOST = 1.5
"""How far work per row may rise from a problem to another eight times its size, or with a thousand times the levels."""


@pytest.fixture
def count(monkeypatch):
    """Count what passes through the only doors to X, to the sort and to the sweeps."""
    work: Counter[str] = Counter()

    def products(method):
        def counted(self, values):
            work["products"] += self.n_rows
            return method(self, values)

        return counted

    class CountedSide(Side):
        def __init__(self, ascending, bounds, cell, above, **more):
            super().__init__(ascending, bounds, cell, above, **more)
            n, sums = len(ascending), self.sums
            looked_up = np.diff(above.indptr)[cell].sum() if isinstance(above, Edges) else n * np.log2(n)

            def counted(payload):
                work["sweeps"] += n
                work["lookups"] += float(looked_up)
                return sums(payload)

            self.sums = counted

    sort = windows.sort_rows

    def counted_sort(scores, *rest, **more):
        work["sorts"] += len(scores)
        return sort(scores, *rest, **more)

    monkeypatch.setattr(LinearSpace, "scores", products(LinearSpace.scores))
    monkeypatch.setattr(LinearSpace, "adjoint", products(LinearSpace.adjoint))
    monkeypatch.setattr(windows, "Side", CountedSide)
    monkeypatch.setattr(windows, "sort_rows", counted_sort)

    def of_fit(rows: Rows) -> dict[str, float]:
        work.clear()
        RankSVM(C=0.01).fit(rows.X, rows.y, groups=rows.groups)
        assert {*work} == {"products", "sorts", "sweeps", "lookups"}, "a door has moved: count at the new one"
        n = len(rows.y)
        return {name: amount / (n * np.log2(n) if name == "lookups" else n) for name, amount in work.items()}

    return of_fit


def assert_no_growth(small: dict[str, float], large: dict[str, float]) -> None:
    grown = {name: (small[name], large[name]) for name in small if large[name] > MOST * small[name]}
    assert not grown, f"work per row has grown: {grown}"


def rows(n: int, levels: int | None = 5) -> Rows:
    return one_list(n, levels, d=10, n_test=0)[0]


@pytest.mark.parametrize("levels", [5, None])
@pytest.mark.parametrize("few", [250, 4_000])
def test_work_per_row_does_not_grow_with_the_rows(count, levels, few):
    assert_no_growth(count(rows(few, levels)), count(rows(8 * few, levels)))


@pytest.mark.parametrize("levels", [50, 500, 5_000, None])
def test_work_does_not_grow_with_the_levels(count, levels):
    assert_no_growth(count(rows(10_000, 20)), count(rows(10_000, levels)))


@pytest.mark.parametrize("groups", [10, 300, 2_500])
def test_work_does_not_grow_with_the_groups(count, groups):
    one, many = (many_lists(10_000, number, d=10, n_test=0)[0] for number in (1, groups))
    assert_no_growth(count(one), count(many))


def test_a_sweep_that_looks_at_every_level_is_caught(count, monkeypatch):
    few = count(rows(10_000, 20))
    monkeypatch.setattr(pairs, "LADDER_FROM", 10**9)
    monkeypatch.setattr(pairs, "PAIRS_PER_ROW", 10**9)
    with pytest.raises(AssertionError, match="lookups"):
        assert_no_growth(few, count(rows(10_000, 500)))


def test_a_sort_for_every_level_is_caught(count, monkeypatch):
    few = count(rows(6_000, 20))
    plain = Windows.__init__

    def sorted_by_level(self, pairs, scores, margin):
        for _ in range(pairs.cells.n):
            windows.sort_rows(scores, pairs.block, pairs.bounds, compiled=pairs.compiled)
        plain(self, pairs, scores, margin)

    monkeypatch.setattr(Windows, "__init__", sorted_by_level)
    with pytest.raises(AssertionError, match="sorts"):
        assert_no_growth(few, count(rows(6_000, 50)))


def test_a_product_more_for_every_thousand_rows_is_caught(count, monkeypatch):
    few = count(rows(4_000))
    plain = LinearSpace.adjoint

    def more(self, gradient):
        for _ in range(self.n_rows // 1_000):
            plain(self, gradient)
        return plain(self, gradient)

    monkeypatch.setattr(LinearSpace, "adjoint", more)
    with pytest.raises(AssertionError, match="products"):
        assert_no_growth(few, count(rows(32_000)))


def test_a_sweep_a_group_is_caught(count, monkeypatch):
    one, many = (many_lists(10_000, number, d=10, n_test=0)[0] for number in (1, 300))
    few = count(one)
    plain = LOSSES["squared_hinge"].graded

    def by_group(self, scores, pairs):
        at = plain(scores, pairs)
        for _ in range(pairs.cells.n_groups // 100):
            plain(scores, pairs)
        return at

    monkeypatch.setattr(type(LOSSES["squared_hinge"]), "graded", by_group)
    with pytest.raises(AssertionError, match="sweeps"):
        assert_no_growth(few, count(many))
