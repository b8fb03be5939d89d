"""Every method by name: how to make it, what to search over, and what it cannot take. A new one is one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sklearn.linear_model import LogisticRegression

from ..estimators import (
    SVOR,
    BestFeature,
    BoostedTrees,
    CompareSVM,
    ConvexHullRanker,
    MultipleHyperplaneRanker,
    NestedRanker,
    OrderBoost,
    OrderEnsemble,
    PlugInRanker,
    ProportionalOdds,
    RankBoost,
    RankSVM,
    RidgeRanker,
    SwapSVM,
    ThresholdCompare,
)
from ..memory import available_bytes
from ..ratings import Davidson, Elo, Glicko, RatingRanker
from ..solvers import LONGEST_LIST
from ..spaces.kernels import kernel_bytes
from ..suggest import suggest

Supervision: TypeAlias = Literal["grades", "comparisons"]
Grid: TypeAlias = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Size:
    """How much there is to learn from, in one training part."""

    supervision: Supervision
    n_rows: int
    """Graded rows, or items."""
    n_features: int
    """Once encoded."""
    n_pairs: int
    largest_group: int
    n_levels: int
    """Different grades; none in comparisons."""
    has_features: bool = True
    """Whether anything is known of the items but their names."""


@dataclass(frozen=True)
class Method:
    """One way to learn an order."""

    about: str
    """In a few words, for a person."""
    make: Callable[[], Any]
    """An estimator with its own defaults."""
    grid: Callable[[Size], Grid] = lambda size: {}
    """What a search tries."""
    takes: tuple[Supervision, ...] = ("grades", "comparisons")
    is_baseline: bool = False
    objection: Callable[[Size], str | None] = lambda size: None
    """Why a comparison on data of this size should leave the method out; None if it should not."""
    predicts_ties: bool = False
    """Whether it says when two items are no different; the others only order them."""


_MOST_KERNEL_ROWS = 3_000
_MOST_LISTED_PAIRS = 20_000_000
_MOST_COLUMNS = 2_000
_MOST_LEVELS = 50
_MOST_RANKED = 10
_MOST_ENSEMBLE_ROWS = 200_000
_FEW_ROWS = 1_000
_FEWEST_ITEMS = 60


def _costs(size: Size) -> Grid:
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def _inner_costs(size: Size) -> Grid:
    return {f"estimator__{name}": values for name, values in _costs(size).items()}


def _kernel_costs(size: Size) -> Grid:
    d = max(size.n_features, 1)  # columns are standardised: 1/d is the width that scikit-learn calls "scale"
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1 / d, 0.3 / d, 1.0 / d]}


def _penalties(size: Size) -> Grid:
    return {"alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}


def _tree_shapes(size: Size) -> Grid:
    few = size.n_rows <= _FEW_ROWS
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300] if few else [30, 60, 100, 300]}


def _order_shapes(size: Size) -> Grid:
    """As many points as LightGBM's own objectives have.

    Lists count the same however long, as in most metrics of lists. Of one list the second loss is tried in place of
    more numbers of trees, if there are rows enough to make its sweeps worth it.
    """
    if size.largest_group < size.n_rows:
        return {**_tree_shapes(size), "balance": ["groups"]}
    if size.n_rows <= _FEW_ROWS:
        return _tree_shapes(size)
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300], "loss": ["pairs", "squared_hinge"]}


def _too_many_rows(size: Size) -> str | None:
    free = available_bytes()
    needed = kernel_bytes(size.n_rows, 8)
    if size.n_rows > _MOST_KERNEL_ROWS or (free is not None and needed > free):
        return (
            f"a kernel matrix over {size.n_rows:,} rows takes {needed / 1e9:,.1f} GB, and a search over them too long; "
            "rank-svm-nystroem comes near it, or name the method to have it all the same"
        )
    return None


def _few_rows(size: Size) -> str | None:
    return None if size.n_rows > 1_000 else "on so few rows rank-svm-rbf does the same exactly"


def _too_many_pairs(size: Size) -> str | None:
    if size.n_pairs > _MOST_LISTED_PAIRS or size.largest_group > 20_000:
        return f"this loss visits every pair, and there are {size.n_pairs:,}; rank-svm needs no list of them"
    return None


def _no_features(size: Size) -> str | None:
    return None if size.has_features else "it learns from columns, and of these items only the names are known"


def _no_trees(size: Size) -> str | None:
    if size.supervision == "comparisons" and size.has_features and size.n_rows < _FEWEST_ITEMS:
        return f"its trees want 20 items on either side of a split, and there are {size.n_rows}"
    return _no_features(size)


def _too_many_columns(size: Size) -> str | None:
    if not size.has_features:
        return _no_features(size)
    return None if size.n_features <= _MOST_COLUMNS else f"it tries all {size.n_features:,} columns one by one"


def _too_many_levels(size: Size) -> str | None:
    if size.n_levels > _MOST_LEVELS:
        return f"it keeps a threshold between every two levels, and there are {size.n_levels:,}; bin the grades"
    return None


def _too_many_rankers(size: Size) -> str | None:
    if size.n_levels > _MOST_RANKED:
        n = size.n_levels * (size.n_levels - 1) // 2
        return f"it fits a ranker to each two levels, and there are {n:,} of those; bin the grades"
    return None


def _too_long_lists(size: Size) -> str | None:
    if size.largest_group > LONGEST_LIST:
        return (
            f"LightGBM takes at most {LONGEST_LIST:,} rows a list, and one has {size.largest_group:,}; see order-boost"
        )
    return None


def _too_many_fits(size: Size) -> str | None:
    n, what = (size.n_rows, "rows") if size.supervision == "grades" else (size.n_pairs, "comparisons")
    if n > _MOST_ENSEMBLE_ROWS:
        return f"it fits some eight members six times over, and there are {n:,} {what}"
    return _no_features(size)


METHODS: dict[str, Method] = {
    "rank-svm": Method("linear, squared hinge over every pair", RankSVM, _costs),
    "rank-svm-rbf": Method(
        "Gaussian kernel, squared hinge over every pair",
        lambda: RankSVM(kernel="rbf"),
        _kernel_costs,
        objection=_too_many_rows,
    ),
    "rank-svm-nystroem": Method(
        "Gaussian kernel through 300 landmark rows",
        lambda: RankSVM(kernel="rbf", n_components=300),
        _kernel_costs,
        objection=_few_rows,
    ),
    "swap-svm": Method("linear, one slack for all swapped pairs", SwapSVM, _costs),
    "rank-svm-logistic": Method(
        "linear, logistic loss over every pair",
        lambda: RankSVM(loss="logistic"),
        _costs,
        objection=_too_many_pairs,
    ),
    "svor": Method(
        "linear, a threshold between every two levels", SVOR, _costs, takes=("grades",), objection=_too_many_levels
    ),
    "convex-hull-ranker": Method(
        "linear, a threshold for each edge of a chain of levels",
        ConvexHullRanker,
        lambda size: {"nu": [0.01, 0.1, 1.0, 10.0]},
        takes=("grades",),
        objection=_too_many_levels,
    ),
    "proportional-odds": Method(
        "linear, the likelihood of ordered levels",
        ProportionalOdds,
        _costs,
        takes=("grades",),
        objection=_too_many_levels,
    ),
    "plug-in-ranker": Method(
        "the expected grade, by the class probabilities of logistic regression",
        lambda: PlugInRanker(LogisticRegression(max_iter=1000)),
        _inner_costs,
        takes=("grades",),
        objection=_too_many_levels,
    ),
    "order-boost": Method(
        "trees, boosted over every pair",
        lambda: OrderBoost(learner="tree"),
        _order_shapes,
        objection=_no_trees,
    ),
    "order-boost-bumps": Method(
        "bumps over single columns, boosted over every pair",
        lambda: OrderBoost(n_iter_no_change=20, stopping="swaps"),
        lambda size: {"learning_rate": [0.3, 1.0]},
        objection=_too_many_columns,
    ),
    "rank-boost": Method(
        "thresholds of single columns, boosted over every pair",
        RankBoost,
        lambda size: {"n_estimators": [30, 100, 300]},
        objection=_too_many_columns,
    ),
    "multiple-hyperplane-ranker": Method(
        "a linear ranker for each two grades, their rankings of a list added up",
        lambda: MultipleHyperplaneRanker(RankSVM()),
        _inner_costs,
        takes=("grades",),
        objection=_too_many_rankers,
    ),
    "nested-ranker": Method(
        "linear, the top of each list re-ranked in stages",
        lambda: NestedRanker(RankSVM()),
        _inner_costs,
        takes=("grades",),
    ),
    "compare-svm": Method(
        "linear, differences told from ties by a margin",
        lambda: CompareSVM(loss="squared_hinge"),
        _costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "rank-threshold": Method(
        "rank-svm, ties where scores are near",
        lambda: ThresholdCompare(RankSVM()),
        _inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "rank-threshold-both": Method(
        "rank-threshold, learning from ties as two opposite pairs",
        lambda: ThresholdCompare(RankSVM(), ties="both"),
        _inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "order-ensemble": Method(
        "linear, kernels and trees, weighted by how they order held-out rows",
        OrderEnsemble,
        objection=_too_many_fits,
        predicts_ties=True,
    ),
    "lightgbm": Method(
        "trees, least squares on the grades", BoostedTrees, _tree_shapes, takes=("grades",), is_baseline=True
    ),
    "lightgbm-on-ranks": Method(
        "trees, least squares on the ranks of the grades",
        lambda: BoostedTrees("ranks"),
        _tree_shapes,
        takes=("grades",),
        is_baseline=True,
    ),
    "lambdarank": Method(
        "trees, LightGBM's LambdaRank: the top of each list",
        lambda: BoostedTrees("lambdarank"),
        _tree_shapes,
        takes=("grades",),
        is_baseline=True,
        objection=_too_long_lists,
    ),
    "ridge": Method("least squares on the grades", RidgeRanker, _penalties, is_baseline=True),
    "ridge-on-ranks": Method(
        "least squares on the ranks of the grades",
        lambda: RidgeRanker(on="ranks"),
        _penalties,
        takes=("grades",),
        is_baseline=True,
    ),
    "elo": Method(
        "ratings by name in the file's order, no features",
        lambda: RatingRanker(Elo()),
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
    "glicko": Method(
        "ratings and their certainty by name in the file's order, no features",
        lambda: RatingRanker(Glicko()),
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
    "davidson": Method(
        "Bradley–Terry ratings with ties by name, no features",
        lambda: RatingRanker(Davidson()),
        lambda size: {"system__ridge": [0.03, 0.1, 0.3, 1.0, 3.0]},
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
    "best-feature": Method(
        "the best single column, up or down", BestFeature, is_baseline=True, objection=_too_many_columns
    ),
}
"""In the order in which they are run and listed."""


def find_method(name: str) -> Method:
    """Return the method of this name; an unknown one is an error that suggests the nearest."""
    if name not in METHODS:
        raise ValueError(f"there is no method {name!r}; {suggest(name, METHODS)}")
    return METHODS[name]


def make_seeded(method: Method, seed: int) -> Any:
    """Make the method's estimator, with everything that is random in it drawn from a seed."""
    estimator = method.make()
    unset = [
        name
        for name, value in estimator.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return estimator.set_params(**dict.fromkeys(unset, seed))
