"""Metrics by name: one spelling for Python, the command line, tables and files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from .swapped import swapped_pairs


@dataclass(frozen=True)
class Definition:
    """A metric as it stands in the registry: a function of (y, scores, groups), and how to read it."""

    function: Callable[..., float]
    greater_is_better: bool
    cutoff: str | None = None
    """The parameter that ``name@10`` sets, if there is one."""


METRICS: dict[str, Definition] = {
    "swapped_pairs": Definition(swapped_pairs, greater_is_better=False),
}
"""Every metric of scores against grades. A new one is one function and a line here."""


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters: it prints as its name, and :func:`parse` reads that back."""

    name: str
    cutoff: int | None = None

    @property
    def greater_is_better(self) -> bool:
        """Whether a higher value is a better one."""
        return METRICS[self.name].greater_is_better

    def __call__(self, y: Any, scores: Any, groups: Any = None, **options: Any) -> float:
        """Evaluate scores against grades."""
        definition = METRICS[self.name]
        if self.cutoff is not None and definition.cutoff is not None:
            options = {definition.cutoff: self.cutoff, **options}
        return definition.function(y, scores, groups=groups, **options)

    def __str__(self) -> str:
        return self.name if self.cutoff is None else f"{self.name}@{self.cutoff}"


def parse(name: str | Metric) -> Metric:
    """Read a metric's name, such as ``swapped_pairs``.

    Examples
    --------
    >>> from wellorder import metrics
    >>> print(metrics.parse("swapped_pairs"))
    swapped_pairs
    """
    if isinstance(name, Metric):
        return name
    match = re.fullmatch(r"([a-z_]+)(?:@([0-9]+))?", name.strip())
    if match is None or match[1] not in METRICS:
        raise ValueError(f"there is no metric {name!r}; known are {', '.join(sorted(METRICS))}")
    cutoff = None if match[2] is None else int(match[2])
    if cutoff is not None and METRICS[match[1]].cutoff is None:
        raise ValueError(f"the metric {match[1]!r} takes no cut-off; write it without '@{cutoff}'")
    if cutoff == 0:
        raise ValueError(f"the cut-off of {name!r} must be at least 1")
    return Metric(match[1], cutoff)


class Scorer:
    """A metric as scikit-learn's model selection wants it: the higher the better.

    Uses ``decision_function``. With metadata routing on, it asks for ``groups`` and forwards them to
    the metric; without routing, scikit-learn passes no groups to any scorer.
    """

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Evaluate a fitted estimator; a metric of which less is better comes with its sign turned."""
        value = self.metric(y, estimator.decision_function(X), groups)
        return value if self.metric.greater_is_better else -value

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask scikit-learn for ``groups``."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="groups", alias=True)
        return request

    def __repr__(self) -> str:
        return f"scorer({str(self.metric)!r})"


def scorer(name: str | Metric) -> Scorer:
    """Return a scikit-learn scorer for a metric, such as ``scorer("swapped_pairs")``."""
    return Scorer(parse(name))
