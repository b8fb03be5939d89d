"""Metrics beside one ``np.sort`` of the scores: ``python -m benchmarks.metrics``."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import seconds
from wellorder.metrics import parse

NAMES = ("swapped_pairs", "ndcg", "ndcg@10", "average_precision", "reciprocal_rank", "kendall_tau", "wmw")


def main() -> None:
    """Print seconds and multiples of the sort, medians of three."""
    rng = np.random.default_rng(0)
    for n, n_groups, names in ((10_000_000, 1, ("swapped_pairs",)), (1_000_000, 10_000, NAMES)):
        y, scores = rng.integers(0, 5, n), np.round(rng.standard_normal(n), 4)
        groups = None if n_groups == 1 else rng.integers(0, n_groups, n)
        sort = float(np.median([seconds(lambda: np.sort(scores)) for _ in range(3)]))
        print(f"{n:,} rows in {n_groups:,} group(s): np.sort {sort:.3f} s")
        for name in names:
            parse(name)(y[:100_000], scores[:100_000])  # the compiler, once
            time = float(np.median([seconds(lambda: parse(name)(y, scores, groups)) for _ in range(3)]))
            print(f"  {name:20}{time:8.3f} s{time / sort:8.1f} x")


if __name__ == "__main__":
    main()
