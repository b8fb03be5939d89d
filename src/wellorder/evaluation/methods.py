"""Every method by name: ours, and those that installed packages offer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import estimators, ratings
from ..methods import Grid, Method, Size, offered_methods
from ..metrics import AnyMetric, Metric, is_ours
from ..order import Comparisons, Grades, Kind, Times
from ..scoring import gives_probabilities
from ..suggest import suggest


def measure_size(X: Any, order: Grades | Comparisons, *, has_features: bool) -> Size:
    """Return the size of a training part."""
    n_rows, n_features = map(int, X.shape)
    if isinstance(order, Comparisons):
        decided = int(np.count_nonzero(order.outcome))
        has_sides = bool((order.outcome > 0).any() and (order.outcome < 0).any())
        return Size(order.kind, n_rows, n_features, decided, n_rows, 0, has_features, has_sides)
    longest = n_rows if order.group is None else int(np.bincount(order.group).max(initial=0))
    n_levels = len(np.unique(order.level[order.is_judged]))
    return Size(
        order.kind,
        n_rows,
        n_features,
        order.pairs.n_pairs,
        longest,
        n_levels,
        has_features,
        two_weights=order.ends is not None,
    )


def cannot_learn(method: Method, order: Grades | Comparisons) -> str | None:
    """Say why a method cannot learn from an order; None if it can."""
    if order.kind not in method.takes or (method.needs_times and not isinstance(order, Times)):
        return f"it does not learn from {order.kind}"
    if isinstance(order, Grades) and order.ends is not None and not method.takes_two_weights:
        what = "censored times" if isinstance(order, Times) else "rows that weigh one thing above and another below"
        return f"it does not learn from {what}"
    return None


_OURS = {**estimators.METHODS, **ratings.METHODS}
for _taken in offered_methods().keys() & _OURS.keys():
    warnings.warn(f"the method {_taken!r} of an installed package is left out: the name is ours", stacklevel=2)
METHODS: dict[str, Method] = dict(
    sorted((offered_methods() | _OURS).items(), key=lambda entry: (entry[1].is_baseline, entry[0] not in _OURS))
)
"""All methods in the order in which they are run and listed: ours before those of installed packages, baselines
last."""


def find_method(name: str) -> Method:
    """Return the method of this name; an unknown one is an error that suggests the nearest."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}; {suggest(name, METHODS)}")
    return METHODS[name]


def make_foretelling(method: Method) -> Any:
    """Make the method's estimator, asked for probabilities where it has to be asked."""
    estimator = method.make()
    return estimator.set_params(probability=True) if "probability" in estimator.get_params(deep=False) else estimator


def foretelling_methods(of: Kind) -> list[str]:
    """Return the methods that give probabilities: of grades, or of the outcomes of comparisons."""
    able = ((name, each) for name, each in METHODS.items() if of in each.takes)
    return [name for name, each in able if gives_probabilities(make_foretelling(each), of)]


def refuse_silent(names: Iterable[str], metric: Metric, of: Kind) -> None:
    """Refuse methods that give no probabilities, where a metric judges these."""
    able = foretelling_methods(of)
    silent = [name for name in names if name not in able]
    if silent:
        raise ValueError(
            f"{metric} judges probabilities, and {', '.join(silent)} {'gives' if len(silent) == 1 else 'give'} none; "
            f"name methods that do ({', '.join(able)}), or another metric"
        )


def looks_at_places(metric: AnyMetric | None) -> bool:
    """Say whether a metric is one of places in a list, of which it is known what a swap changes."""
    return isinstance(metric, Metric) and metric.definition.swaps is not None and is_ours(metric)


def grid_of(method: Method, size: Size, metric: AnyMetric | None) -> Grid:
    """Return what a search of this method tries, by the metric that it goes by."""
    if method.grid_at_top is not None and looks_at_places(metric):
        return method.grid_at_top(size, str(metric))
    return method.grid(size)


def make_seeded(method: Method, seed: int, metric: Metric | None = None, *, foretelling: bool = False) -> Any:
    """Make the method's estimator, with everything that is random in it drawn from a seed.

    One that goes by a metric itself goes by the one that is compared by, if there is one. ``foretelling`` asks for
    probabilities as well.
    """
    estimator = make_foretelling(method) if foretelling else method.make()
    if metric is not None and method.follows is not None:
        estimator.set_params(**{method.follows: str(metric) if is_ours(metric) else metric})
    if method.follows_places is not None and looks_at_places(metric):
        estimator.set_params(**{method.follows_places: str(metric)})
    unset = [
        name
        for name, value in estimator.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed))
