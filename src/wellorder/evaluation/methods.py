"""Every method by name: how to make it, what to search over, and what it cannot take. A new one is one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

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
from ..metrics import Supervision as Supervision
from ..ratings import Davidson, Elo, Glicko, RatingRanker
from ..solvers import LONGEST_LIST
from ..spaces import kernel_bytes
from ..suggest import suggest

# --------------------------------------------------------------------------------------------------
# How much there is to learn from: what grids and objections of methods go by.


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


# --------------------------------------------------------------------------------------------------
# What a search tries, by the size of the data: a few values a parameter, wide apart.


_FEW_ROWS = 1_000
_MANY_ROWS = 100_000


def costs(size: Size) -> Grid:
    """Return costs of the loss against ½‖f‖², a factor of ten apart."""
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def inner_costs(size: Size) -> Grid:
    """Return the same for a model's inner estimator."""
    return {f"estimator__{name}": values for name, values in costs(size).items()}


def kernel_costs(size: Size) -> Grid:
    """Return costs and widths of a Gaussian kernel."""
    d = max(size.n_features, 1)  # columns are standardised: 1/d is the width that scikit-learn calls "scale"
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1 / d, 0.3 / d, 1.0 / d]}


def penalties(size: Size) -> Grid:
    """Return ridge penalties."""
    return {"alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}


def tree_shapes(size: Size) -> Grid:
    """Return sizes and numbers of trees."""
    if size.n_rows > _MANY_ROWS:
        return {"max_leaf_nodes": [7, 31], "n_estimators": [30, 100]}  # a fit takes seconds a hundred trees
    few = size.n_rows <= _FEW_ROWS
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300] if few else [30, 60, 100, 300]}


def order_shapes(size: Size) -> Grid:
    """As many points as LightGBM's own objectives have.

    Lists count the same however long, as in most metrics of lists. Of one list the second loss is tried in place of
    more numbers of trees, if there are rows enough to make its sweeps worth it.
    """
    if size.largest_group < size.n_rows:
        return {**tree_shapes(size), "balance": ["groups"]}
    if not _FEW_ROWS < size.n_rows <= _MANY_ROWS:
        return tree_shapes(size)
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300], "loss": ["pairs", "squared_hinge"]}


# --------------------------------------------------------------------------------------------------
# Why a comparison on data of some size should leave a method out: in words for a person, or None.


_MOST_KERNEL_ROWS = 3_000
_MOST_LISTED_PAIRS = 20_000_000
_MOST_COLUMNS = 2_000
_MOST_LEVELS = 50
_MOST_RANKED = 10
_MOST_ENSEMBLE_ROWS = 200_000
_FEWEST_ROWS = 60


def too_many_rows(size: Size) -> str | None:
    """Object to a kernel matrix that is too large, or too slow to search over."""
    free = available_bytes()
    needed = kernel_bytes(size.n_rows, 8)
    if size.n_rows > _MOST_KERNEL_ROWS or (free is not None and needed > free):
        return (
            f"a kernel matrix over {size.n_rows:,} rows takes {needed / 1e9:,.1f} GB, and a search over them too long; "
            "rank-svm-nystroem comes near it, or name the method to have it all the same"
        )
    return None


def few_rows(size: Size) -> str | None:
    """Object to landmarks where all rows are few."""
    return None if size.n_rows > 1_000 else "on so few rows rank-svm-rbf does the same exactly"


def too_many_pairs(size: Size) -> str | None:
    """Object to listing many pairs; comparisons are listed already, however many items there are."""
    if size.n_pairs > _MOST_LISTED_PAIRS or (size.supervision == "grades" and size.largest_group > 20_000):
        return f"this loss visits every pair, and there are {size.n_pairs:,}; rank-svm needs no list of them"
    return None


def no_features(size: Size) -> str | None:
    """Object to items of which only the names are known."""
    return None if size.has_features else "it learns from columns, and of these items only the names are known"


def no_trees(size: Size) -> str | None:
    """Object to trees over few rows or items: they would not split at all."""
    if size.has_features and size.n_rows < _FEWEST_ROWS:
        what = "rows" if size.supervision == "grades" else "items"
        return f"its trees want 20 {what} on either side of a split, and there are {size.n_rows}"
    return no_features(size)


def too_many_columns(size: Size) -> str | None:
    """Object to trying very many columns one by one."""
    if not size.has_features:
        return no_features(size)
    return None if size.n_features <= _MOST_COLUMNS else f"it tries all {size.n_features:,} columns one by one"


def too_many_levels(size: Size) -> str | None:
    """Object to a threshold between any two of very many levels."""
    if size.n_levels > _MOST_LEVELS:
        return f"it keeps a threshold between every two levels, and there are {size.n_levels:,}; bin the grades"
    return None


def too_many_rankers(size: Size) -> str | None:
    """Object to a ranker for any two of many levels."""
    if size.n_levels > _MOST_RANKED:
        n = size.n_levels * (size.n_levels - 1) // 2
        return f"it fits a ranker to each two levels, and there are {n:,} of those; bin the grades"
    return None


def too_long_lists(size: Size) -> str | None:
    """Object to lists that are too long for LightGBM's ranker, and to few rows."""
    if size.largest_group > LONGEST_LIST:
        return (
            f"LightGBM takes at most {LONGEST_LIST:,} rows a list, and one has {size.largest_group:,}; see order-boost"
        )
    return no_trees(size)


def too_many_fits(size: Size) -> str | None:
    """Object to fitting very many rows many times over."""
    n, what = (size.n_rows, "rows") if size.supervision == "grades" else (size.n_pairs, "comparisons")
    if n > _MOST_ENSEMBLE_ROWS:
        return f"it fits some eight members six times over, and there are {n:,} {what}"
    return no_features(size)


# --------------------------------------------------------------------------------------------------
# How much memory methods take: estimates from the size of a training part, good to about a factor of two.


_BASE = 300_000_000
"""Of Python and the libraries."""
_ROW_ARRAYS = 30
"""Of eight bytes a row: grades, scores, orders of both, sums over pairs."""
_LANDMARKS = 300
_MOST_MEMBER_KERNEL = 3_000


def for_linear(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a fit beside the matrix: a cut of it for the folds of a search, and arrays a row."""
    return _BASE + 2 * matrix_bytes + 8 * _ROW_ARRAYS * size.n_rows


def for_kernel(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a kernel between all rows, cut for folds, beside those of a fit."""
    return for_linear(size, matrix_bytes) + kernel_bytes(size.n_rows, 8) + 8 * size.n_rows**2


def for_landmarks(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a feature for each landmark row."""
    return for_linear(size, matrix_bytes) + 2 * 8 * size.n_rows * min(_LANDMARKS, size.n_rows)


def for_columns(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an order of the rows for each column, and of the matrix column by column."""
    return for_linear(size, matrix_bytes) + 3 * 8 * size.n_rows * size.n_features


def for_trees(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of binned columns, and of gradients a row."""
    return for_linear(size, matrix_bytes) + matrix_bytes + 8 * _ROW_ARRAYS * size.n_rows


def for_members(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an ensemble: the largest member's, and all members' models and scores."""
    largest = for_kernel if size.n_rows <= _MOST_MEMBER_KERNEL else for_trees
    return largest(size, matrix_bytes) + 8 * _ROW_ARRAYS * size.n_rows


# --------------------------------------------------------------------------------------------------
# The methods.


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
    memory: Callable[[Size, int], int] = for_linear
    """About how many bytes a search and a fit take beside the data, given those of the encoded matrix."""
    is_slow: bool = False
    """Whether a fit takes many times that of a linear method: on very many rows its turn comes last."""
    predicts_ties: bool = False
    """Whether it says when two items are no different; the others only order them."""


METHODS: dict[str, Method] = {
    "rank-svm": Method("linear, squared hinge over every pair", RankSVM, costs),
    "rank-svm-rbf": Method(
        "Gaussian kernel, squared hinge over every pair",
        lambda: RankSVM(kernel="rbf"),
        kernel_costs,
        objection=too_many_rows,
        memory=for_kernel,
    ),
    "rank-svm-nystroem": Method(
        "Gaussian kernel through 300 landmark rows",
        lambda: RankSVM(kernel="rbf", n_components=300),
        kernel_costs,
        objection=few_rows,
        memory=for_landmarks,
        is_slow=True,
    ),
    "swap-svm": Method("linear, one slack for all swapped pairs", SwapSVM, costs),
    "rank-svm-logistic": Method(
        "linear, logistic loss over every pair",
        lambda: RankSVM(loss="logistic"),
        costs,
        objection=too_many_pairs,
    ),
    "svor": Method(
        "linear, a threshold between every two levels", SVOR, costs, takes=("grades",), objection=too_many_levels
    ),
    "convex-hull-ranker": Method(
        "linear, a threshold for each edge of a chain of levels",
        ConvexHullRanker,
        lambda size: {"nu": [0.01, 0.1, 1.0, 10.0]},
        takes=("grades",),
        objection=too_many_levels,
    ),
    "proportional-odds": Method(
        "linear, the likelihood of ordered levels",
        ProportionalOdds,
        costs,
        takes=("grades",),
        objection=too_many_levels,
    ),
    "plug-in-ranker": Method(
        "the expected grade, by the class probabilities of logistic regression",
        lambda: PlugInRanker(LogisticRegression(max_iter=1000)),
        inner_costs,
        takes=("grades",),
        objection=too_many_levels,
    ),
    "order-boost": Method(
        "trees, boosted over every pair",
        lambda: OrderBoost(learner="tree"),
        order_shapes,
        objection=no_trees,
        memory=for_trees,
        is_slow=True,
    ),
    "order-boost-bumps": Method(
        "bumps over single columns, boosted over every pair",
        lambda: OrderBoost(n_iter_no_change=20, stopping="swaps"),
        lambda size: {"learning_rate": [0.3, 1.0]},
        objection=too_many_columns,
        memory=for_columns,
        is_slow=True,
    ),
    "rank-boost": Method(
        "thresholds of single columns, boosted over every pair",
        RankBoost,
        lambda size: {"n_estimators": [30, 100, 300]},
        objection=too_many_columns,
        memory=for_columns,
        is_slow=True,
    ),
    "multiple-hyperplane-ranker": Method(
        "a linear ranker for each two grades, their rankings of a list added up",
        lambda: MultipleHyperplaneRanker(RankSVM()),
        inner_costs,
        takes=("grades",),
        objection=too_many_rankers,
    ),
    "nested-ranker": Method(
        "linear, the top of each list re-ranked in stages",
        lambda: NestedRanker(RankSVM()),
        inner_costs,
        takes=("grades",),
    ),
    "compare-svm": Method(
        "linear, differences told from ties by a margin",
        lambda: CompareSVM(loss="squared_hinge"),
        costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "rank-threshold": Method(
        "rank-svm, ties where scores are near",
        lambda: ThresholdCompare(RankSVM()),
        inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "rank-threshold-both": Method(
        "rank-threshold, learning from ties as two opposite pairs",
        lambda: ThresholdCompare(RankSVM(), ties="both"),
        inner_costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
    "order-ensemble": Method(
        "linear, kernels and trees, weighted by how they order held-out rows",
        OrderEnsemble,
        objection=too_many_fits,
        predicts_ties=True,
        memory=for_members,
    ),
    "lightgbm": Method(
        "trees, least squares on the grades",
        BoostedTrees,
        tree_shapes,
        takes=("grades",),
        is_baseline=True,
        objection=no_trees,
        memory=for_trees,
        is_slow=True,
    ),
    "lightgbm-on-ranks": Method(
        "trees, least squares on the ranks of the grades",
        lambda: BoostedTrees("ranks"),
        tree_shapes,
        takes=("grades",),
        is_baseline=True,
        objection=no_trees,
        memory=for_trees,
        is_slow=True,
    ),
    "lambdarank": Method(
        "trees, LightGBM's LambdaRank: the top of each list",
        lambda: BoostedTrees("lambdarank"),
        tree_shapes,
        takes=("grades",),
        is_baseline=True,
        objection=too_long_lists,
        memory=for_trees,
        is_slow=True,
    ),
    "ridge": Method("least squares on the grades", RidgeRanker, penalties, is_baseline=True),
    "ridge-on-ranks": Method(
        "least squares on the ranks of the grades",
        lambda: RidgeRanker(on="ranks"),
        penalties,
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
        "the best single column, up or down",
        BestFeature,
        is_baseline=True,
        objection=too_many_columns,
        memory=for_columns,
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
