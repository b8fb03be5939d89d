"""Every method by name: how to make it, what to search over, and what it cannot take. A new one is one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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
from ..ratings import Davidson, Elo, Glicko, RatingRanker
from ..suggest import suggest
from .grids import costs, inner_costs, kernel_costs, order_shapes, penalties, tree_shapes
from .needs import for_columns, for_kernel, for_landmarks, for_linear, for_members, for_trees
from .objections import (
    few_rows,
    no_trees,
    too_long_lists,
    too_many_columns,
    too_many_fits,
    too_many_levels,
    too_many_pairs,
    too_many_rankers,
    too_many_rows,
)
from .size import Grid, Size, Supervision


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
