"""Metrics by name: one spelling for Python, the command line, tables and files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from sklearn.utils.metadata_routing import MetadataRequest

from ..order import Grades
from ..scoring import list_scores, warn_if_groups_are_lost
from ..suggest import suggest
from .comparisons import missed_comparisons, swapped_comparisons, tie_auc
from .concordance import auc_consecutive, auc_ovo, auc_pairs, kendall_tau, misranking_cost, swapped_pairs, wmw
from .push import p_norm_push
from .retrieval import average_precision, ndcg, precision_at, reciprocal_rank

Value: TypeAlias = bool | int | float | str


@dataclass(frozen=True)
class Definition:
    """A metric as it stands in the registry: a function of (y, scores, groups), and how to read it."""

    function: Callable[..., float]
    greater_is_better: bool
    title: str
    """What it is called in a sentence."""
    meaning: str
    """What it says, in one sentence for a person."""
    is_share: bool = False
    """Whether it is a share of errors, which people read in percent."""
    cutoff: str | None = None
    """The parameter that ``name@10`` sets, if there is one."""
    needs_cutoff: bool = False
    """Whether the name alone means nothing."""
    defaults: Mapping[str, Value] = field(default_factory=dict)
    """Options that the function asks for and a name may leave out."""


METRICS: dict[str, Definition] = {
    "swapped_pairs": Definition(
        swapped_pairs,
        greater_is_better=False,
        title="swapped pairs",
        meaning="The share of pairs of differently graded rows that stand the wrong way round; a tied pair counts as "
        "wrong.",
        is_share=True,
    ),
    "wmw": Definition(
        wmw,
        greater_is_better=True,
        title="WMW",
        meaning="The share of pairs in the right order, ties counting half: the area under the ROC curve where there "
        "are two grades.",
    ),
    "auc_pairs": Definition(
        auc_pairs,
        greater_is_better=True,
        title="AUC over pairs",
        meaning="The area under the ROC curve, pooled over all pairs of grades.",
    ),
    "auc_ovo": Definition(
        auc_ovo,
        greater_is_better=True,
        title="AUC, each two grades",
        meaning="The area under the ROC curve, averaged over each two grades.",
    ),
    "auc_consecutive": Definition(
        auc_consecutive,
        greater_is_better=True,
        title="AUC of neighbours",
        meaning="The area under the ROC curve, averaged over each two neighbouring grades.",
    ),
    "misranking_cost": Definition(
        misranking_cost,
        greater_is_better=False,
        title="misranking cost",
        meaning="What the swapped pairs cost on average, a swap of distant grades costing more.",
        defaults={"order": "linear"},
    ),
    "kendall_tau": Definition(
        kendall_tau,
        greater_is_better=True,
        title="Kendall's τ",
        meaning="Pairs in the same order less pairs in opposite order, corrected for ties: 1 is the same order.",
    ),
    "ndcg": Definition(
        ndcg,
        greater_is_better=True,
        title="NDCG",
        meaning="How close the top of each list is to the best possible top: 1 is perfect, and upper places weigh "
        "more.",
        cutoff="k",
    ),
    "average_precision": Definition(
        average_precision,
        greater_is_better=True,
        title="average precision",
        meaning="The share of relevant rows down to each relevant row, averaged over them and the queries.",
    ),
    "precision": Definition(
        precision_at,
        greater_is_better=True,
        title="precision",
        meaning="The share of relevant rows among the first ones of each list.",
        cutoff="k",
        needs_cutoff=True,
    ),
    "reciprocal_rank": Definition(
        reciprocal_rank,
        greater_is_better=True,
        title="reciprocal rank",
        meaning="One over the place of the first relevant row, averaged over queries.",
        cutoff="k",
    ),
    "p_norm_push": Definition(
        p_norm_push,
        greater_is_better=False,
        title="p-norm push",
        meaning="A cost of low-graded rows that stand high: the higher they stand, the more they cost.",
    ),
}
"""Every metric of scores against grades. A new one is one function and an entry here."""

COMPARISON_METRICS: dict[str, Definition] = {
    "swapped_pairs": Definition(
        swapped_comparisons,
        greater_is_better=False,
        title="swapped pairs",
        meaning="The share of decided comparisons that the scores put the wrong way round; tied scores count as wrong.",
        is_share=True,
    ),
    "comparison_error": Definition(
        missed_comparisons,
        greater_is_better=False,
        title="comparison error",
        meaning="The share of comparisons predicted wrongly: a wrong direction or a missed tie.",
        is_share=True,
    ),
    "comparison_auc": Definition(
        tie_auc,
        greater_is_better=True,
        title="comparison AUC",
        meaning="How well score differences tell true differences, rightly directed, from ties: chance is ¼.",
    ),
}
"""Every metric of item scores against comparisons: a function of (comparisons, scores, threshold, advantage)."""


def find_definition(name: str, *, comparisons: bool = False) -> Definition | None:
    """Return how to read a metric, by its name as it prints; None where it is not one of ours.

    Parameters
    ----------
    name : str
        With a cut-off and options, or without.
    comparisons : bool, default=False
        Whether it is of comparisons, where a name is known for both.

    Examples
    --------
    >>> from wellorder.metrics.registry import find_definition
    >>> find_definition("ndcg(gain=linear)@10").title
    'NDCG'
    """
    base = re.split(r"[(@]", name, maxsplit=1)[0]
    first, second = (COMPARISON_METRICS, METRICS) if comparisons else (METRICS, COMPARISON_METRICS)
    return first.get(base, second.get(base))


ALIASES = {"precision_at": "precision", "map": "average_precision", "mrr": "reciprocal_rank", "tau": "kendall_tau"}
"""Other names that :func:`parse` reads; it prints the first."""

_NOT_OPTIONS = {"y", "scores", "groups", "sample_weight"}
_NAME = re.compile(r"(?P<name>[a-z_]+)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[0-9]+))?")


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters: it prints as its name, and :func:`parse` reads that back."""

    name: str
    cutoff: int | None = None
    options: tuple[tuple[str, Value], ...] = ()

    @property
    def greater_is_better(self) -> bool:
        """Whether a higher value is a better one."""
        return METRICS[self.name].greater_is_better

    def __call__(self, y: Any, scores: Any, groups: Any = None, **options: Any) -> float:
        """Evaluate scores against grades."""
        definition = METRICS[self.name]
        options = {**definition.defaults, **dict(self.options), **options}
        if self.cutoff is not None and definition.cutoff is not None:
            options = {definition.cutoff: self.cutoff, **options}
        return definition.function(y, scores, groups=groups, **options)

    def __str__(self) -> str:
        written = ",".join(f"{key}={value}" for key, value in self.options)
        return self.name + (f"({written})" if written else "") + ("" if self.cutoff is None else f"@{self.cutoff}")


def parse(name: str | Metric) -> Metric:
    """Read a metric's name, such as ``ndcg@10``, ``wmw(average=edges)`` or ``ndcg(gain=linear,empty=0)@5``.

    Options are those of the metric's function, in any order. ``map``, ``mrr``, ``tau`` and
    ``precision_at`` are other names of ``average_precision``, ``reciprocal_rank``, ``kendall_tau`` and
    ``precision``. ``misranking_cost`` has linear costs unless it says ``(order=dcg)``.

    Examples
    --------
    >>> from wellorder import metrics
    >>> print(metrics.parse("ndcg@10"), metrics.parse("map"), metrics.parse("swapped_pairs( ties = half )"))
    ndcg@10 average_precision swapped_pairs(ties=half)
    """
    if isinstance(name, Metric):
        return name
    match = _NAME.fullmatch(name.strip()) if isinstance(name, str) else None
    known = "" if match is None else ALIASES.get(match["name"], match["name"])
    if match is None or known not in METRICS:
        written = match["name"] if match is not None else str(name)
        raise ValueError(f"there is no metric {name!r}; {suggest(written, sorted(METRICS))}")
    definition = METRICS[known]
    cutoff = None if match["cutoff"] is None else int(match["cutoff"])
    if cutoff is not None and definition.cutoff is None:
        raise ValueError(f"the metric {known!r} takes no cut-off; write it without '@{cutoff}'")
    if cutoff is None and definition.needs_cutoff:
        raise ValueError(f"the metric {known!r} needs a cut-off: write {known}@10, say")
    if cutoff == 0:
        raise ValueError(f"the cut-off of {name!r} must be at least 1")
    return Metric(known, cutoff, _read_options(known, match["options"] or ""))


def _read_options(name: str, text: str) -> tuple[tuple[str, Value], ...]:
    """Read ``key=value,key=value`` and check it against the signature of the metric's function."""
    definition = METRICS[name]
    hints = get_type_hints(definition.function)
    known = [key for key in inspect.signature(definition.function).parameters if key not in _NOT_OPTIONS]
    if definition.cutoff is not None:
        known.remove(definition.cutoff)
    options: dict[str, Value] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or not written or key not in known:
            raise ValueError(f"{part!r} is no option of the metric {name!r}; it has {', '.join(known)}")
        if key in options:
            raise ValueError(f"the option {key!r} of the metric {name!r} is given twice")
        options[key] = value = _value(written)
        if get_origin(hints[key]) is Literal and value not in get_args(hints[key]):
            allowed = ", ".join(map(str, get_args(hints[key])))
            raise ValueError(f"{part!r}: the option {key!r} of the metric {name!r} is one of {allowed}")
    return tuple(sorted(options.items()))


def _value(written: str) -> Value:
    """Read a number or a truth value where it is one; other text stays text."""
    if written in ("True", "False"):
        return written == "True"
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


class Scorer:
    """A metric as scikit-learn's model selection wants it: the higher the better.

    Uses ``decision_function``. With metadata routing on, it asks for ``groups`` and forwards them to
    the metric, and to models that rank whole lists; without routing, scikit-learn passes no groups to any scorer. A
    model of wellorder that was fitted on several groups warns then: all rows are taken for one list.

    One that is bound to groups of its own asks for none, and judges these rows only, in this order.
    """

    def __init__(self, metric: Metric, groups: Any = None) -> None:
        self.metric = metric
        self.groups = groups

    def __call__(self, estimator: Any, X: Any, y: Any, groups: Any = None) -> float:
        """Evaluate a fitted estimator; a metric of which less is better comes with its sign turned."""
        if self.groups is not None:
            groups = self._own_groups(y, groups)
        levels = getattr(estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator, "levels", None)
        if levels is not None and not isinstance(y, Grades):
            y, groups = Grades(y, groups, levels=levels), None  # text is ordered by the model's own levels
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


def scorer(name: str | Metric, *, groups: Any = None) -> Scorer:
    """Return a scikit-learn scorer for a metric, such as ``scorer("ndcg@10")``.

    Parameters
    ----------
    name : str or Metric
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
