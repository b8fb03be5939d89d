"""What is left out of a comparison for its size, and what is not."""

from __future__ import annotations

from dataclasses import replace

from wellorder.methods import Size, too_many_pairs

GRADES = Size("grades", n_rows=30_000, n_features=5, n_pairs=9_000, largest_group=30_000, n_levels=3)


def test_a_long_list_is_not_visited_pair_by_pair_but_listed_comparisons_are():
    assert "visits every pair, and there are 9,000" in too_many_pairs(GRADES)
    assert too_many_pairs(replace(GRADES, largest_group=100)) is None
    compared = replace(GRADES, supervision="comparisons", n_levels=0)
    assert too_many_pairs(compared) is None
    assert too_many_pairs(replace(compared, n_pairs=30_000_000)) is not None
