"""Order error rates: the share of swapped pairs, for each pair of grades on its own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..order import Ties
from ..sweeps import Floats
from .inputs import check_ties, read_grades
from .lists import Lists, make_lists
from .weighing import product_shares

MOST_LEVELS = 1_000
"""There is one rate for each pair of levels: beyond this many levels nobody can read them."""


def order_error_rates(
    y: Any, scores: Any, groups: Any = None, ties: Ties = "error", sample_weight: Any = None
) -> dict[tuple[Hashable, Hashable], float]:
    r"""Share of swapped pairs for each two grades (lower, higher): Σ_swapped ω_i ω_j / Σ ω_i ω_j.

    Pairs are rows of one group, pooled over the groups; two grades that never meet in a group have no
    entry. Paper 001, section 4: the order error rate of a pair of ranks.

    Parameters
    ----------
    y : array of shape (n,), or Grades
        Grades, higher is better; rows without one (NaN) are left out. At most 1,000 levels.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared.
    ties : {"error", "half"}
        What a pair of equal scores counts as: a swap, or half of one.
    sample_weight : array of shape (n,), optional
        Row weights ω; a pair weighs ω_i · ω_j.

    Returns
    -------
    dict
        From (lower grade, higher grade) to a rate in [0, 1]. O(n log n + n · levels).

    Examples
    --------
    >>> from wellorder.metrics import order_error_rates
    >>> order_error_rates([0, 0, 1, 2], [0.1, 0.5, 0.3, 0.9])
    {(0, 1): 0.5, (0, 2): 0.0, (1, 2): 0.0}
    """
    check_ties(ties)
    grades = read_grades(y, groups, "full", sample_weight)
    levels = grades.levels
    if len(levels) > MOST_LEVELS:
        raise ValueError(
            f"there are {len(levels):,} levels and one rate for each two of them; bin the grades (at most "
            f"{MOST_LEVELS:,} levels), or use swapped_pairs"
        )
    lists = make_lists(grades, scores)
    weight = None if grades.weight is None else grades.weight[lists.rows]
    swapped, total = _swap_tables(lists, weight, len(levels), ties)
    return {
        (levels[low], levels[high]): float(min(swapped[low, high] / total[low, high], 1.0))
        for low in range(len(levels))
        for high in range(low + 1, len(levels))
        if total[low, high] > 0
    }


def _swap_tables(lists: Lists, weight: Floats | None, n_levels: int, ties: Ties) -> tuple[Floats, Floats]:
    """Sum, for each two levels, the weight of their swapped pairs and of all their pairs, in units of their own.

    The row weights of each cell (a level of a group) are made to add up to one, and a pair of cells counts for its
    share of all pairs of its two levels: so two light levels have their rate, however heavy others are.
    """
    swapped, total = np.zeros((n_levels, n_levels)), np.zeros((n_levels, n_levels))
    of_cell, cell = np.unique(lists.group * n_levels + lists.level, return_inverse=True)
    group, level = np.divmod(of_cell, n_levels)
    mass = np.bincount(cell, weight, minlength=len(of_cell)).astype(float)
    unit = np.ones(len(cell)) if weight is None else weight / np.where(mass > 0, mass, 1.0)[cell]
    for low in range(n_levels):
        of_run = lists.run_sums(np.where(lists.level == low, unit, 0.0))
        above = lists.before(of_run)  # of level ``low``, scored strictly higher than the run
        seen = above + of_run if ties == "error" else above + 0.5 * of_run
        own = np.zeros(len(lists.sizes))
        own[group[level == low]] = mass[level == low]
        share = own[group] if weight is None else product_shares(mass, own[group], level, n_levels)
        seen = unit * lists.spread(seen) * (1.0 if weight is None else share[cell])
        swapped[low] = np.bincount(lists.level, seen, minlength=n_levels)
        total[low] = np.bincount(level, mass * share if weight is None else share, minlength=n_levels)
    return swapped, total
