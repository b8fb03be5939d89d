"""What a linear model looks at: its largest weights, and how steady they are over the splits."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation import Record
from .style import WIDTH, Drawable, axes_for, name_rows, quieten, signed_bars, whisker

MOST_WEIGHTS = 15
"""More bars than this are hard to read."""


@dataclass(frozen=True)
class Weight:
    """A feature's weight: the mean over the splits, and the lowest and highest of them."""

    feature: str
    mean: float
    low: float
    high: float


class WeightsDisplay(Drawable):
    """The largest weights of a linear model as bars; a thin line reaches from the lowest to the highest split.

    Parameters
    ----------
    weights : iterable of Weight
        In any order; the fifteen largest are drawn, by the size of their mean.

    Attributes
    ----------
    weights : tuple of Weight
        What is drawn, the largest first.
    n_features : int
        How many there were.
    ax_, figure_, bars_
        What was drawn, after :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.figures import WeightsDisplay
    >>> ranker = wo.RankSVM().fit(np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]), [0, 1, 2])
    >>> [weight.feature for weight in WeightsDisplay.from_estimator(ranker, ["sugar", "acid"]).weights]
    ['sugar', 'acid']
    """

    def __init__(self, weights: Iterable[Weight]) -> None:
        given = [weight for weight in weights if np.isfinite(weight.mean)]
        self.n_features = len(given)
        self.weights = tuple(sorted(given, key=lambda weight: -abs(weight.mean))[:MOST_WEIGHTS])

    @classmethod
    def from_estimator(
        cls, estimator: Any, feature_names: Sequence[str] | None = None, *, ax: Axes | None = None
    ) -> WeightsDisplay:
        """Take the weights of a fitted linear model, or of a pipeline that ends with one."""
        model = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        if not hasattr(model, "coef_") or getattr(model, "kernel", "linear") != "linear":
            raise ValueError(f"{type(model).__name__} has no weight a feature; fit a linear model, such as RankSVM()")
        coef = np.asarray(model.coef_, dtype=float)
        if coef.ndim > 2 or (coef.ndim == 2 and coef.shape[0] != 1):
            raise ValueError(f"{type(model).__name__} has {coef.shape[0]} weights a feature; an ordering has one")
        names = _feature_names(estimator, model, coef.size) if feature_names is None else list(feature_names)
        if len(names) != coef.size:
            raise ValueError(f"there are {len(names)} feature names for {coef.size} weights; give one each")
        values = coef.ravel().tolist()
        made = cls(Weight(str(name), value, value, value) for name, value in zip(names, values, strict=True))
        return made._on(ax)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> WeightsDisplay:
        """Average the weights of one method over its splits; records without weights are left out.

        Only the direction of weights orders, and their size hangs on the penalty that each split's search has chosen:
        so those of each split are divided by their Euclidean norm first. A feature that a split does not have, because
        its training part lacked the category, has no say there.
        """
        found: dict[tuple[str, int], list[float]] = {}
        methods = set()
        for record in records:
            if record.weights is None:
                continue
            methods.add(record.method)
            names = record.features or tuple(f"feature {place + 1}" for place in range(len(record.weights)))
            norm = math.hypot(*(weight for weight in record.weights if weight is not None and np.isfinite(weight)))
            seen: Counter[str] = Counter()
            for name, weight in zip(names, record.weights, strict=True):
                if weight is not None and np.isfinite(weight):
                    found.setdefault((name, seen[name]), []).append(float(weight) / (norm or 1.0))
                seen[name] += 1
        if len(methods) > 1:
            raise ValueError(f"the records are of {len(methods)} methods; give those of one, such as {min(methods)!r}")
        if not found:
            raise ValueError("none of the records has weights: no linear model is among them")
        return cls(Weight(name, float(np.mean(w)), min(w), max(w)) for (name, _), w in found.items())

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of bars."""
        return WIDTH, 0.85 + 0.29 * max(2, len(self.weights))

    def plot(self, ax: Axes | None = None) -> WeightsDisplay:
        """Draw the bars, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        quieten(ax, grid="x")
        self.bars_ = signed_bars(ax, [weight.mean for weight in self.weights])
        for row, weight in enumerate(self.weights):
            if weight.high > weight.low:
                whisker(ax, row, weight.low, weight.high)
        ax.margins(x=0.06)
        name_rows(ax, [weight.feature for weight in self.weights], most=24)
        ax.set_xlabel("← more of it: lower  |  more of it: higher →", loc="right")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _feature_names(estimator: Any, model: Any, n_weights: int) -> list[str]:
    """Ask the pipeline, then the model; number the features where neither knows."""
    if hasattr(estimator, "steps") and len(estimator.steps) > 1:
        try:
            return [str(name) for name in estimator[:-1].get_feature_names_out()]
        except (AttributeError, ValueError):
            pass  # a step that does not say what it made of the columns
    named = getattr(model, "feature_names_in_", None)
    return [f"feature {place + 1}" for place in range(n_weights)] if named is None else [str(name) for name in named]
