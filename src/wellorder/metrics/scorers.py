"""A metric as scikit-learn's scorer: what a fitted model says of rows, judged list by list."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from ..order import Grades
from ..scoring import gives_probabilities, levels_of, list_scores, warn_if_groups_are_lost
from .registry import AnyMetric, Metric, parse


class Scorer:
    """A metric as scikit-learn's model selection wants it: the higher the better.

    Uses ``decision_function``, or ``predict_proba`` for a metric of probabilities. With metadata routing on, it asks
    for ``groups`` and forwards them to the metric, and to models that rank whole lists; without routing, scikit-learn
    passes no groups to any scorer. A model of wellorder that was fitted on several groups warns then: all rows are
    taken for one list.

    One that is bound to groups of its own asks for none, and judges these rows only, in this order.
    """

    def __init__(self, metric: Metric, groups: Any = None) -> None:
        self.metric = metric
        self.groups = groups

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Evaluate a fitted estimator; a metric of which less is better comes with its sign turned."""
        if self.groups is not None:
            groups = self._own_groups(y, groups)
        levels = levels_of(estimator)
        if levels is not None and not isinstance(y, Grades):
            y, groups = Grades(y, groups, levels=levels), None  # text is ordered by the model's own levels
        if self.metric.definition.judges_probabilities:
            value = self._of_probabilities(estimator, X, y)
            return value if self.metric.greater_is_better else -value
        lists = y.group if isinstance(y, Grades) else groups
        warn_if_groups_are_lost(
            estimator,
            lists,
            "have scikit-learn pass them on, with sklearn.set_config(enable_metadata_routing=True) and groups beside X "
            "and y, or, where all rows are judged in their order, as in permutation importance, bind them: "
            f"scorer({str(self.metric)!r}, groups=groups)",
        )
        value = self.metric(y, list_scores(estimator, X, lists), groups)
        return value if self.metric.greater_is_better else -value

    def _of_probabilities(self, estimator: Any, X: Any, y: Any) -> float:
        """Judge what ``predict_proba`` says of each row, whatever list it is in."""
        if not gives_probabilities(estimator, "grades"):
            name = type(estimator).__name__
            raise ValueError(f"{self.metric} judges probabilities, and {name} gives none (predict_proba)")
        return self.metric(y, estimator.predict_proba(X), levels=estimator.classes_)

    def _own_groups(self, y: Any, groups: Any) -> Any:
        """Return the groups that it is bound to; refuse others, and rows that they cannot be those of."""
        if groups is not None or isinstance(y, Grades):
            raise ValueError("this scorer is bound to groups of its own, and was handed others; leave one of them out")
        if len(self.groups) != len(y):
            raise ValueError(
                f"this scorer is bound to the groups of {len(self.groups)} rows, and was handed {len(y)}: rows were "
                "split off or drawn; leave groups out of scorer(), and let scikit-learn's metadata routing pass them on"
            )
        return self.groups

    def get_metadata_routing(self) -> MetadataRequest:
        """Ask scikit-learn for ``groups``, unless it is bound to some."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="groups", alias=self.groups is None)
        return request

    def __repr__(self) -> str:
        bound = "" if self.groups is None else f", groups=<of {len(self.groups)} rows>"
        return f"scorer({str(self.metric)!r}{bound})"


def scorer(name: AnyMetric, *, groups: Any = None) -> Scorer:
    """Return a scikit-learn scorer for a metric, such as ``scorer("ndcg@10")``.

    Parameters
    ----------
    name : str, Metric or Definition
        What :func:`parse` reads.
    groups : array of shape (n,), optional
        Binds the scorer to the groups of n rows, for tools that judge all of them in their order and pass no groups on,
        such as scikit-learn's permutation importance. Leave it out for cross-validation, which cuts rows into parts:
        with metadata routing, scikit-learn passes each part's groups.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from sklearn.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> X, query = rng.standard_normal((60, 2)), np.repeat(np.arange(6), 10)
    >>> y = (X[:, 0] + query > query.mean()).astype(int)
    >>> model = wo.RankSVM().fit(X, y, groups=query)
    >>> scoring = wo.metrics.scorer("ndcg@5", groups=query)
    >>> found = permutation_importance(model, X, y, scoring=scoring, n_repeats=3, random_state=0)
    >>> int(found.importances_mean.argmax())
    0
    """
    return Scorer(parse(name), groups)
