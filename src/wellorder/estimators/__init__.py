"""The models, in scikit-learn's shape, each with the methods that it brings to ``fit`` and ``compare``.

A new one is a file of its own, an import, a name in ``__all__`` and a home here, and its place in ``_BRING_METHODS``.
Each is loaded when it is first asked for: who has one model to score with waits for no other.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..methods import Method
    from .base import list_scores as list_scores
    from .baselines import BestFeature, RidgeRanker
    from .boosted_trees import BoostedTrees
    from .boosting import BoostRows as BoostRows, BoostTask as BoostTask, RowRisk as RowRisk
    from .compare_lp import CompareLP
    from .compare_model import CompareModel as CompareModel
    from .compare_svm import CompareSVM
    from .convex_hull_ranker import ConvexHullRanker
    from .cox_ranker import CoxRanker
    from .kernel_model import KernelModel as KernelModel
    from .monotone import NotMonotoneError as NotMonotoneError, keeps_monotone as keeps_monotone
    from .multiple_hyperplane_ranker import MultipleHyperplaneRanker
    from .nested_ranker import NestedRanker
    from .order_boost import OrderBoost
    from .order_ensemble import OrderEnsemble
    from .plug_in_ranker import PlugInRanker
    from .propensities import click_propensities as click_propensities
    from .proportional_odds import ProportionalOdds
    from .rank_boost import RankBoost
    from .rank_svm import RankSVM
    from .svor import SVOR
    from .swap_svm import SwapSVM
    from .threshold_compare import ThresholdCompare

    METHODS: dict[str, Method]

__all__ = [
    "SVOR",
    "BestFeature",
    "BoostedTrees",
    "CompareLP",
    "CompareSVM",
    "ConvexHullRanker",
    "CoxRanker",
    "MultipleHyperplaneRanker",
    "NestedRanker",
    "OrderBoost",
    "OrderEnsemble",
    "PlugInRanker",
    "ProportionalOdds",
    "RankBoost",
    "RankSVM",
    "RidgeRanker",
    "SwapSVM",
    "ThresholdCompare",
]

_HOMES = {
    "base": ("list_scores",),
    "baselines": ("BestFeature", "RidgeRanker"),
    "boosted_trees": ("BoostedTrees",),
    "boosting": ("BoostRows", "BoostTask", "RowRisk"),
    "compare_lp": ("CompareLP",),
    "compare_model": ("CompareModel",),
    "compare_svm": ("CompareSVM",),
    "convex_hull_ranker": ("ConvexHullRanker",),
    "cox_ranker": ("CoxRanker",),
    "kernel_model": ("KernelModel",),
    "monotone": ("NotMonotoneError", "keeps_monotone"),
    "multiple_hyperplane_ranker": ("MultipleHyperplaneRanker",),
    "nested_ranker": ("NestedRanker",),
    "order_boost": ("OrderBoost",),
    "order_ensemble": ("OrderEnsemble",),
    "plug_in_ranker": ("PlugInRanker",),
    "propensities": ("click_propensities",),
    "proportional_odds": ("ProportionalOdds",),
    "rank_boost": ("RankBoost",),
    "rank_svm": ("RankSVM",),
    "svor": ("SVOR",),
    "swap_svm": ("SwapSVM",),
    "threshold_compare": ("ThresholdCompare",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

_BRING_METHODS = (
    "rank_svm",
    "swap_svm",
    "svor",
    "convex_hull_ranker",
    "proportional_odds",
    "plug_in_ranker",
    "order_boost",
    "rank_boost",
    "multiple_hyperplane_ranker",
    "nested_ranker",
    "compare_svm",
    "threshold_compare",
    "order_ensemble",
    "boosted_trees",
    "cox_ranker",
    "baselines",
)
"""The modules with ``METHODS``, in the order in which these are run and listed."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "METHODS":
            found: Any = {}
            for home in _BRING_METHODS:
                found |= import_module(f".{home}", __name__).METHODS
        elif name in _HOME:
            found = getattr(import_module(f".{_HOME[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found
