"""How far apart two scores must be before their order can be trusted, measured on held-out pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from sklearn.isotonic import IsotonicRegression

from ..data import TableRanker
from ..order import Comparisons, ListedPairs, draw_pairs
from ..sweeps import Floats, Ints
from .tasks import AnyTable, make_task

Rise: TypeAlias = tuple[Floats, Floats]
"""Score differences, in units of the training scores' spread, and the share of held-out pairs about that far apart
that stand in the right order; both rising."""


@dataclass(frozen=True)
class Resolution:
    """What held-out pairs say about a model."""

    curve: Rise
    held_out: float
    """The share of held-out pairs in the right order, the mean over the folds."""


_MOST_PAIRS = 200_000
_MOST_POINTS = 100
_LARGE = 50_000


def measure_resolution(
    fit: Callable[[AnyTable], TableRanker], table: AnyTable, *, n_folds: int = 5, seed: int = 0
) -> Resolution | None:
    """Fit on the training parts of folds, and see how often held-out pairs stand rightly, by their distance.

    ``fit`` makes a fitted model of a training part; whatever it chooses, parameters included, it has to choose there.
    A share that rises with the distance is fitted to the pairs (isotonic regression). One hold-out instead of
    all folds where the rows are many. None where there is too little data to hold some out.
    """
    task = make_task(table)
    try:
        splits = list(task.splits(n_folds, 1, seed))[: 1 if len(table) > _LARGE else None]
    except ValueError:  # fewer rows than folds, or a training part without a pair
        return None
    rng = np.random.default_rng(seed)
    gathered: list[tuple[Floats, Floats]] = []
    shares: list[float] = []
    for split in splits:
        test = table.take(split.test)
        items = getattr(test, "items", test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a fold, which nobody has asked for; the whole fit has warned
            try:
                fitted = fit(table.take(split.train))
            except ValueError:  # the whole could be fitted, and this part is too little for it
                return None
            scores = np.asarray(fitted.decision_function(items), dtype=float)
        pairs = _held_out_pairs(test, len(scores), _MOST_PAIRS // len(splits), rng)
        if pairs.n_pairs and fitted.spread_ > 0:
            difference = (scores[pairs.high] - scores[pairs.low]) / fitted.spread_
            gathered.append((np.abs(difference), (difference > 0).astype(float)))
            shares.append(1.0 - task.judge(scores, split.test, ("swapped_pairs",)).metrics["swapped_pairs"])
    if not gathered:
        return None
    distance, right = (np.concatenate(part) for part in zip(*gathered, strict=True))
    rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(distance, right)
    at = np.unique(np.quantile(distance, np.linspace(0.0, 1.0, _MOST_POINTS)))
    return Resolution((at, rising.predict(at)), float(np.mean(shares)))


def _held_out_pairs(table: AnyTable, n_scores: int, most: int, rng: np.random.Generator) -> ListedPairs:
    order = table.comparisons if hasattr(table, "comparisons") else table.grades()
    if isinstance(order, Comparisons):
        return order.to_pairs(n_scores)
    pairs = order.pairs
    return draw_pairs(pairs, max(1, most // max(len(pairs.active), 1)), rng)


def least_difference(curve: Rise, confidence: float) -> float:
    """Return the difference, in spreads, from which pairs stood rightly with this confidence; infinite if never."""
    difference, share = curve
    enough = np.flatnonzero(share >= confidence)
    return float(difference[enough[0]]) if enough.size else float("inf")


def bands(scores: Floats, least: float) -> Ints:
    """Give each score the number of its band, from 1 at the top.

    A new band starts where a score is ``least`` or more below its band's top: items of one band cannot be told from
    its first. Neighbours across a border may be as close as any. O(n log n).

    Examples
    --------
    >>> import numpy as np
    >>> bands(np.array([5.0, 4.8, 4.1, 1.0]), least=0.5).tolist()
    [1, 1, 2, 3]
    """
    order = np.argsort(-scores, kind="stable")
    number = np.empty(len(scores), dtype=np.int64)
    top, band = np.inf, 0
    # invariant: rows before this one in `order` are numbered, and `top` is the highest score of the current band
    for row in order:
        if band == 0 or top - scores[row] >= least:
            top, band = scores[row], band + 1
        number[row] = band
    return number
