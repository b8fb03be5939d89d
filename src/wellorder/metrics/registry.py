"""Metrics by name: one record a metric, and one spelling for Python, the command line, tables and files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from ..order import Comparisons, Grades, Kind
from ..suggest import suggest
from ..sweeps import Floats, SwapTerms
from .cascade import expected_reciprocal_rank, expected_reciprocal_rank_of
from .comparisons import (
    VoteValues,
    missed_comparisons,
    missed_comparisons_of,
    swapped_comparisons,
    swapped_comparisons_of,
    tie_auc,
)
from .pairs import (
    PairShare,
    TauParts,
    auc_consecutive,
    auc_consecutive_of,
    auc_ovo,
    auc_ovo_of,
    auc_pairs,
    auc_pairs_of,
    kendall_tau,
    kendall_tau_of,
    misranking_cost,
    misranking_cost_of,
    swapped_pairs,
    swaps_of,
    wmw,
    wmw_of,
)
from .probabilities import (
    RowValues,
    brier_of,
    comparison_brier,
    comparison_log_loss,
    comparison_log_loss_of,
    comparison_rps,
    comparison_rps_of,
    log_loss,
    log_loss_of,
    ranked_probability_score,
    ranked_probability_score_of,
)
from .push import p_norm_push
from .retrieval import (
    ListValues,
    average_precision,
    average_precision_of,
    ndcg,
    ndcg_of,
    precision_at,
    precision_at_of,
    reciprocal_rank,
    reciprocal_rank_of,
)
from .survival import MeanShare, concordance, concordance_of, cumulative_auc, cumulative_auc_of
from .swapping import (
    swaps_in_average_precision,
    swaps_in_expected_reciprocal_rank,
    swaps_in_ndcg,
    swaps_in_precision,
    swaps_in_reciprocal_rank,
)

T = TypeVar("T")
Value: TypeAlias = bool | int | float | str
Needs: TypeAlias = Literal["grades", "lists", "times", "comparisons", "probabilities", "grade_probabilities"]


@dataclass(frozen=True)
class Definition:
    """All that is known of a metric: its function, and how its values read."""

    function: Callable[..., float]
    name: str
    greater_is_better: bool
    title: str
    """What it is called in a sentence."""
    meaning: str
    """What it says, in one sentence for a person."""
    needs: Needs = "grades"
    """What the function takes.

    "grades": (y, scores, groups=). "lists": the same, and lists that miss judged rows, as TREC runs do
    (:class:`~wellorder.metrics.retrieval.Retrieved`). "times": (Times, scores). "comparisons": (comparisons, scores,
    threshold=, advantage=). "probabilities": (outcomes of comparisons, probabilities, sample_weight=).
    "grade_probabilities": (y, probabilities, levels=, sample_weight=).
    """
    bounds: tuple[float, float] = (-inf, inf)
    """The lowest and the highest value that the metric can have; intervals are cut off there."""
    chance: float | None = None
    """What a random order without ties reaches on average, if that is the same for all data."""
    is_share: bool = False
    """Whether it is a share of errors, which is written in percent."""
    aliases: tuple[str, ...] = ()
    """Other names that :func:`parse` reads."""
    cutoff: str | None = None
    """The parameter that ``name@10`` sets, if there is one."""
    needs_cutoff: bool = False
    """Whether the name without a cut-off is an error."""
    defaults: Mapping[str, Value] = field(default_factory=dict, hash=False)
    """Values of options that the function requires and a name may leave out."""
    parts: Callable[..., PairShare | MeanShare | ListValues | VoteValues | TauParts | RowValues | str] | None = None
    """Like ``function``, but returns what the value is a mean of, from which follows how sure it is. None: there is no
    such."""
    swaps: Callable[..., SwapTerms] | None = None
    """Given (grades, longest list), returns by how much a swap of two rows changes the metric, so that models can be
    trained by it."""

    @property
    def supervision(self) -> Kind:
        """What the scores are held against."""
        return "comparisons" if self.needs in ("comparisons", "probabilities") else "grades"

    @property
    def judges_probabilities(self) -> bool:
        """Whether it takes what a model says of outcomes or grades, and not its scores."""
        return self.needs in ("probabilities", "grade_probabilities")

    @property
    def takes_weights(self) -> bool:
        """Whether rows may weigh differently; places in a list have no weight."""
        return self.needs == "times" or "sample_weight" in inspect.signature(self.function).parameters


_DEFINITIONS = (
    Definition(
        swapped_pairs,
        "swapped_pairs",
        greater_is_better=False,
        title="swapped pairs",
        meaning="The share of pairs of differently graded rows that stand the wrong way round; a tied pair counts as "
        "wrong.",
        bounds=(0, 1),
        chance=0.5,
        is_share=True,
        parts=swaps_of,
    ),
    Definition(
        wmw,
        "wmw",
        greater_is_better=True,
        title="WMW",
        meaning="The share of pairs in the right order, ties counting half: the area under the ROC curve where there "
        "are two grades.",
        bounds=(0, 1),
        chance=0.5,
        parts=wmw_of,
    ),
    Definition(
        concordance,
        "concordance",
        greater_is_better=True,
        title="concordance",
        meaning="The share of pairs known to be ordered in time that stand in this order, ties counting half: "
        "Harrell's C, or Uno's.",
        bounds=(0, 1),
        chance=0.5,
        aliases=("c_index",),
        parts=concordance_of,
    ),
    Definition(
        cumulative_auc,
        "cumulative_auc",
        greater_is_better=True,
        title="cumulative AUC",
        meaning="The chance that whoever has an event by a time scores below whoever has none by then.",
        needs="times",
        bounds=(0, 1),
        chance=0.5,
        cutoff="horizon",
        parts=cumulative_auc_of,
    ),
    Definition(
        auc_pairs,
        "auc_pairs",
        greater_is_better=True,
        title="AUC over pairs",
        meaning="The area under the ROC curve, pooled over all pairs of grades.",
        bounds=(0, 1),
        chance=0.5,
        parts=auc_pairs_of,
    ),
    Definition(
        auc_ovo,
        "auc_ovo",
        greater_is_better=True,
        title="AUC, each two grades",
        meaning="The area under the ROC curve, averaged over each two grades.",
        bounds=(0, 1),
        chance=0.5,
        parts=auc_ovo_of,
    ),
    Definition(
        auc_consecutive,
        "auc_consecutive",
        greater_is_better=True,
        title="AUC of neighbours",
        meaning="The area under the ROC curve, averaged over each two neighbouring grades.",
        bounds=(0, 1),
        chance=0.5,
        parts=auc_consecutive_of,
    ),
    Definition(
        misranking_cost,
        "misranking_cost",
        greater_is_better=False,
        title="misranking cost",
        meaning="What the swapped pairs cost on average, a swap of distant grades costing more.",
        bounds=(0, inf),
        defaults={"order": "linear"},
        parts=misranking_cost_of,
    ),
    Definition(
        kendall_tau,
        "kendall_tau",
        greater_is_better=True,
        title="Kendall's τ",
        meaning="Pairs in the same order less pairs in opposite order, corrected for ties: 1 is the same order.",
        bounds=(-1, 1),
        chance=0.0,
        aliases=("tau",),
        parts=kendall_tau_of,
    ),
    Definition(
        ndcg,
        "ndcg",
        greater_is_better=True,
        title="NDCG",
        meaning="How close the top of each list is to the best possible top: 1 is perfect, and upper places weigh "
        "more.",
        needs="lists",
        bounds=(0, 1),
        cutoff="k",
        parts=ndcg_of,
        swaps=swaps_in_ndcg,
    ),
    Definition(
        average_precision,
        "average_precision",
        greater_is_better=True,
        title="average precision",
        meaning="The share of relevant rows down to each relevant row, averaged over them and the queries.",
        needs="lists",
        bounds=(0, 1),
        aliases=("map",),
        cutoff="k",
        parts=average_precision_of,
        swaps=swaps_in_average_precision,
    ),
    Definition(
        precision_at,
        "precision",
        greater_is_better=True,
        title="precision",
        meaning="The share of relevant rows among the first ones of each list.",
        needs="lists",
        bounds=(0, 1),
        aliases=("precision_at",),
        cutoff="k",
        needs_cutoff=True,
        parts=precision_at_of,
        swaps=swaps_in_precision,
    ),
    Definition(
        reciprocal_rank,
        "reciprocal_rank",
        greater_is_better=True,
        title="reciprocal rank",
        meaning="One over the place of the first relevant row, averaged over queries.",
        needs="lists",
        bounds=(0, 1),
        aliases=("mrr",),
        cutoff="k",
        parts=reciprocal_rank_of,
        swaps=swaps_in_reciprocal_rank,
    ),
    Definition(
        expected_reciprocal_rank,
        "err",
        greater_is_better=True,
        title="expected reciprocal rank",
        meaning="One over the place where a reader stops who goes down the list, and the sooner the better rows are: "
        "its expectation.",
        needs="lists",
        bounds=(0, 1),
        aliases=("expected_reciprocal_rank",),
        cutoff="k",
        parts=expected_reciprocal_rank_of,
        swaps=swaps_in_expected_reciprocal_rank,
    ),
    Definition(
        p_norm_push,
        "p_norm_push",
        greater_is_better=False,
        title="p-norm push",
        meaning="A cost of low-graded rows that stand high: the higher they stand, the more they cost.",
        bounds=(0, inf),
    ),
    Definition(
        swapped_comparisons,
        "swapped_pairs",
        greater_is_better=False,
        title="swapped pairs",
        meaning="The share of decided comparisons that the scores put the wrong way round; tied scores count as wrong.",
        needs="comparisons",
        bounds=(0, 1),
        chance=0.5,
        is_share=True,
        parts=swapped_comparisons_of,
    ),
    Definition(
        missed_comparisons,
        "comparison_error",
        greater_is_better=False,
        title="comparison error",
        meaning="The share of comparisons predicted wrongly: a wrong direction or a missed tie.",
        needs="comparisons",
        bounds=(0, 1),
        is_share=True,
        parts=missed_comparisons_of,
    ),
    Definition(
        tie_auc,
        "comparison_auc",
        greater_is_better=True,
        title="comparison AUC",
        meaning="How well score differences tell true differences, rightly directed, from ties: chance is ¼.",
        needs="comparisons",
        bounds=(0, 1),
        chance=0.25,
    ),
    Definition(
        comparison_brier,
        "comparison_brier",
        greater_is_better=False,
        title="Brier score",
        meaning="How far predicted probabilities are from what came, squared and summed over the three outcomes.",
        needs="probabilities",
        bounds=(0, 2),
        aliases=("brier",),
        parts=brier_of,
    ),
    Definition(
        comparison_log_loss,
        "comparison_log_loss",
        greater_is_better=False,
        title="log loss",
        meaning="How little probability was given to what came: minus its logarithm, on average.",
        needs="probabilities",
        bounds=(0, inf),
        aliases=("log_loss",),
        parts=comparison_log_loss_of,
    ),
    Definition(
        comparison_rps,
        "comparison_rps",
        greater_is_better=False,
        title="ranked probability score",
        meaning="How far predicted probabilities are from what came, squared, a tie being nearer to either side than "
        "the sides are to each other.",
        needs="probabilities",
        bounds=(0, 1),
        aliases=("rps", "ranked_probability_score"),
        parts=comparison_rps_of,
    ),
    Definition(
        ranked_probability_score,
        "ranked_probability_score",
        greater_is_better=False,
        title="ranked probability score",
        meaning="How far the predicted chance of each level or less is from what came, squared: near misses cost "
        "little.",
        needs="grade_probabilities",
        bounds=(0, 1),
        aliases=("rps",),
        parts=ranked_probability_score_of,
    ),
    Definition(
        log_loss,
        "log_loss",
        greater_is_better=False,
        title="log loss",
        meaning="How little probability was given to the grade that came: minus its logarithm, on average.",
        needs="grade_probabilities",
        bounds=(0, inf),
        parts=log_loss_of,
    ),
)
"""Every metric. A new one is one function, and one entry here."""

METRICS = {each.name: each for each in _DEFINITIONS if each.needs in ("grades", "lists")}
"""Every metric of scores against grades, by its name."""

TIME_METRICS = {each.name: each for each in _DEFINITIONS if each.needs == "times"}
"""Every metric of scores against censored times alone, by its name."""

COMPARISON_METRICS = {each.name: each for each in _DEFINITIONS if each.needs == "comparisons"}
"""Every metric of item scores against comparisons, by its name."""

PROBABILITY_METRICS = {each.name: each for each in _DEFINITIONS if each.needs == "probabilities"}
"""Every metric of predicted probabilities against the outcomes of comparisons, by its name."""

GRADE_PROBABILITY_METRICS = {each.name: each for each in _DEFINITIONS if each.needs == "grade_probabilities"}
"""Every metric of predicted probabilities against grades, by its name."""


def _metrics_of(kind: Kind) -> dict[str, Definition]:
    """Return every metric that judges by grades, or by comparisons."""
    if kind == "grades":
        return {**METRICS, **TIME_METRICS, **GRADE_PROBABILITY_METRICS}
    return {**COMPARISON_METRICS, **PROBABILITY_METRICS}


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
    of_grades, of_comparisons = (_metrics_of(kind).get(base) for kind in get_args(Kind))
    return of_comparisons or of_grades if comparisons else of_grades or of_comparisons


# --------------------------------------------------------------------------------------------------
# A metric with its parameters, and its name.


_NOT_OPTIONS = {
    "y",
    "scores",
    "groups",
    "sample_weight",
    "comparisons",
    "threshold",
    "advantage",
    "probabilities",
    "levels",
    "censoring",
}
_NAME = re.compile(r"(?P<name>[a-z_]+)(?:\((?P<options>[^()]*)\))?(?:@(?P<cutoff>[0-9]+))?")


@dataclass(frozen=True)
class Metric:
    """A metric with its parameters: it prints as its name, and :func:`parse` reads that back."""

    definition: Definition
    cutoff: int | None = None
    options: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        name = self.definition.name
        if self.cutoff is not None and self.definition.cutoff is None:
            raise ValueError(f"the metric {name!r} takes no cut-off; write it without '@{self.cutoff}'")
        if self.cutoff is None and self.definition.needs_cutoff:
            raise ValueError(f"the metric {name!r} needs a cut-off: write {name}@10, say")
        if self.cutoff is not None and self.cutoff < 1:
            raise ValueError(f"the cut-off of '{self}' must be at least 1")

    @property
    def name(self) -> str:
        """What it is called, without its parameters."""
        return self.definition.name

    @property
    def greater_is_better(self) -> bool:
        """Whether a higher value is a better one."""
        return self.definition.greater_is_better

    def __call__(self, y: Any, scores: Any, groups: Any = None, **options: Any) -> float:
        """Evaluate scores against grades or comparisons."""
        return float(self.call(self.definition.function, y, scores, groups, **options))

    def call(self, function: Callable[..., T], y: Any, scores: Any, groups: Any = None, **options: Any) -> T:
        """Call the metric's function, or another with its parameters, with the parameters that are set here."""
        options = {**self.definition.defaults, **dict(self.options), **options}
        if self.cutoff is not None and self.definition.cutoff is not None:
            options = {self.definition.cutoff: self.cutoff, **options}
        if self.definition.needs in ("grades", "lists"):
            options["groups"] = groups
        return function(y, scores, **options)

    def swap_terms(self, grades: Grades) -> SwapTerms:
        """Return what a swap of two rows changes; an error where the metric is not one of places in a list."""
        if self.definition.swaps is None:
            known = ", ".join(each.name for each in METRICS.values() if each.swaps is not None)
            raise ValueError(
                f"nothing is known of what a swap of two rows changes in {self}; take one of {known} (as ndcg@10), "
                "or leave metric out: then every pair counts"
            )
        sizes = [len(grades)] if grades.group is None else np.bincount(grades.group)
        cut = {} if self.cutoff is None else {"k": self.cutoff}
        return self.definition.swaps(grades, int(np.max(sizes, initial=0)), **cut, **dict(self.options))

    def of_order(self, order: Grades | Comparisons, scores: Floats, **options: Any) -> float:
        """Evaluate scores against an order as it is; places in a list have no weight, and go without those of rows."""
        if isinstance(order, Grades) and not self.definition.takes_weights:
            order = order.without_weights()
        return self(order, scores, **options)

    def __str__(self) -> str:
        written = ",".join(f"{key}={value}" for key, value in self.options)
        return self.name + (f"({written})" if written else "") + ("" if self.cutoff is None else f"@{self.cutoff}")


AnyMetric: TypeAlias = str | Metric | Definition
"""What :func:`parse` takes for a metric."""


def parse(metric: AnyMetric, of: Kind = "grades") -> Metric:
    """Read a metric's name, such as ``ndcg@10``, ``wmw(average=edges)`` or ``ndcg(gain=linear,empty=0)@5``.

    Options are those of the metric's function, in any order. Some metrics have other names as well: ``map`` is
    ``average_precision``, ``mrr`` is ``reciprocal_rank``. ``misranking_cost`` has linear costs unless it says
    ``(order=dcg)``.

    Parameters
    ----------
    metric : str, Metric or Definition
        A name; or a metric of your own, from :func:`wellorder.metrics.make`.
    of : {"grades", "comparisons"}
        What it judges scores by.

    Examples
    --------
    >>> from wellorder import metrics
    >>> print(metrics.parse("ndcg@10"), metrics.parse("map"), metrics.parse("swapped_pairs( ties = half )"))
    ndcg@10 average_precision swapped_pairs(ties=half)
    """
    if isinstance(metric, Definition):
        metric = Metric(metric)
    if isinstance(metric, Metric):
        if metric.definition.supervision != of:
            raise ValueError(f"'{metric}' judges scores by {metric.definition.supervision}, and there are {of}")
        return metric
    if callable(metric):
        called = getattr(metric, "__name__", "f")
        raise ValueError(
            f"nothing says of the function {called} whether more is better; give "
            f"wellorder.metrics.make({called}, greater_is_better=True), or False, in its place"
        )
    match = _NAME.fullmatch(metric.strip()) if isinstance(metric, str) else None
    known = _metrics_of(of)
    name = str(metric) if match is None else match["name"]
    found = next((each for each in known.values() if name in (each.name, *each.aliases)), None)
    if match is None or found is None:
        where = "" if of == "grades" else " of comparisons"
        raise ValueError(f"there is no metric {metric!r}{where}; {suggest(name, sorted(known))}")
    cutoff = None if match["cutoff"] is None else int(match["cutoff"])
    return Metric(found, cutoff, _read_options(found, match["options"] or ""))


def _read_options(definition: Definition, text: str) -> tuple[tuple[str, Value], ...]:
    """Read ``key=value,key=value`` and check it against the signature of the metric's function."""
    name, hints = definition.name, get_type_hints(definition.function)
    known = [key for key in inspect.signature(definition.function).parameters if key not in _NOT_OPTIONS]
    if definition.cutoff is not None:
        known.remove(definition.cutoff)
    options: dict[str, Value] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, written = (piece.strip() for piece in part.partition("="))
        if not equals or not written or key not in known:
            raise ValueError(f"{part!r} is no option of the metric {name!r}; it has {', '.join(known) or 'none'}")
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


def is_ours(metric: Metric) -> bool:
    """Say whether a metric's name is all that one needs to know of it."""
    comparisons = metric.definition.supervision == "comparisons"
    return find_definition(metric.name, comparisons=comparisons) == metric.definition
