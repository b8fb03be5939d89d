"""The data doctor on comparisons: ties, contradictions, circles, islands and a favoured side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.stats import binomtest

from ..data import ComparisonTable
from ..writing import counted
from .health import Finding, Health, listing


def examine_comparisons(table: ComparisonTable) -> Health:
    """Look at comparisons before anything is learned from them."""
    comparisons = table.comparisons
    found = comparisons.describe()
    n_items, n_features = table.items.X.shape
    facts = (
        ("comparisons", f"{len(comparisons):,}"),
        ("ties", f"{found.n_ties:,}"),
        ("items", f"{n_items:,}"),
        ("items compared", f"{found.n_items:,}"),
        ("features", f"{n_features:,}" if table.described else "none: each item has a rating of its own"),
        ("pairs of items decided both ways", f"{found.n_contradictions:,}"),
        ("items in circles", f"{found.n_items_in_cycles:,}"),
    )
    outcomes = tuple(
        (name, int(np.count_nonzero(comparisons.outcome == value)))
        for name, value in (("left better", -1), ("tie", 0), ("right better", 1))
    )
    return Health(table.source, facts, tuple(_findings(table)), outcomes)


def _findings(table: ComparisonTable) -> Iterator[Finding]:
    comparisons, names = table.comparisons, table.items.names()
    found = comparisons.describe()
    if found.n_pairs == 0:
        yield Finding("problem", "no comparison was decided: all are ties", "there is no order to learn")
    if found.n_contradictions:
        yield Finding(
            "note",
            f"{counted(found.n_contradictions, 'pair')} of items decided both ways",
            "no order satisfies both; the more frequent outcome counts more",
        )
    if found.n_items_in_cycles:
        share = found.n_items_in_cycles / max(found.n_items, 1)
        yield Finding(
            "warning" if share > 0.5 else "note",
            f"{counted(found.n_items_in_cycles, 'item')} ({share:.0%}) stand in circles (a above b above … above a)",
            "no order agrees with all of these comparisons",
        )
    compared = np.unique(np.concatenate([comparisons.left, comparisons.right]))
    never = np.setdiff1d(np.arange(len(table.items)), compared)
    if never.size:
        yield Finding(
            "note",
            f"{counted(len(never), 'item')} never compared ({listing([str(names[i]) for i in never[:3]], len(never))})",
            "they are placed by their features alone",
        )
    yield from _islands(table)
    yield from _favoured_side(table)
    itself = np.flatnonzero(comparisons.left == comparisons.right)
    if itself.size:
        yield Finding(
            "note", f"{counted(len(itself), 'comparison')} of an item with itself", "they say nothing; drop them"
        )


def _islands(table: ComparisonTable) -> Iterator[Finding]:
    comparisons, n = table.comparisons, len(table.items)
    met = sp.coo_array((np.ones(len(comparisons)), (comparisons.left, comparisons.right)), shape=(n, n))
    _, part = connected_components(met, directed=False)
    sizes = np.bincount(part[np.unique(np.concatenate([comparisons.left, comparisons.right]))])
    islands = np.sort(sizes[sizes > 1])[::-1]
    if len(islands) > 1:
        advice = "" if table.described else "give features of the items with --items, or compare across the islands"
        yield Finding(
            "note" if table.described else "warning",
            f"the items fall into {len(islands):,} islands that were never compared with each other (the largest of "
            f"{islands[0]:,}, the next of {islands[1]:,} items)",
            advice,
        )


def _favoured_side(table: ComparisonTable) -> Iterator[Finding]:
    outcome = table.comparisons.outcome
    right, decided = int(np.count_nonzero(outcome > 0)), int(np.count_nonzero(outcome))
    if decided >= 20 and binomtest(right, decided).pvalue < 0.001:
        side, share = ("right", right / decided) if 2 * right > decided else ("left", 1 - right / decided)
        yield Finding(
            "note",
            f"the {side} item wins {share:.0%} of the decided comparisons, more than chance explains",
            "sides may matter (the first move, the first taste), or the file was sorted by outcome",
        )
