"""What is left out of a comparison for its size, and what is not."""

from __future__ import annotations

from dataclasses import replace

from wellorder.evaluation import METHODS
from wellorder.methods import Size, too_many_pairs
from wellorder.spaces import kernel, use_single

GRADES = Size("grades", n_rows=30_000, n_features=5, n_pairs=9_000, largest_group=30_000, n_levels=3)


def test_a_long_list_is_not_visited_pair_by_pair_but_listed_comparisons_are():
    assert "visits every pair, and there are 9,000" in too_many_pairs(GRADES)
    assert too_many_pairs(replace(GRADES, largest_group=100)) is None
    compared = replace(GRADES, supervision="comparisons", n_levels=0)
    assert too_many_pairs(compared) is None
    assert too_many_pairs(replace(compared, n_pairs=30_000_000)) is not None


def test_the_exact_kernel_takes_part_up_to_20_000_rows(monkeypatch):
    method, size = METHODS["rank-svm-rbf"], replace(GRADES, n_rows=20_000)
    monkeypatch.setattr(kernel, "available_bytes", lambda: 8e9)
    assert method.objection(size) is None
    assert method.memory(size, 20_000 * 8 * 5) < 4e9  # single precision, and no second matrix for the folds
    assert "20,001 rows" in method.objection(replace(size, n_rows=20_001))
    monkeypatch.setattr(kernel, "available_bytes", lambda: 2e9)
    assert "takes 2.6 GB" in method.objection(size)
    # where the fits are in single precision, the estimate is of what they take
    grid = method.grid(size)
    assert all(use_single(size.n_rows, C, tol) for C in grid["C"] for tol in grid["tol"])
    assert "tol" not in method.grid(replace(size, n_rows=3_000))
    # of comparisons some are over as many items, and a search over a sample of them takes no less
    assert method.objection(replace(size, supervision="comparisons")) is not None
