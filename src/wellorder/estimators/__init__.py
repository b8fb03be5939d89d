"""The models, in scikit-learn's shape, each with the methods that it brings to ``fit`` and ``compare``.

A new one is a file of its own, an import, a name in ``__all__``, and its place in ``_HOMES``.
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
    "rank_svm": ("RankSVM", "METHODS"),
    "swap_svm": ("SwapSVM", "METHODS"),
    "svor": ("SVOR", "METHODS"),
    "convex_hull_ranker": ("ConvexHullRanker", "METHODS"),
    "proportional_odds": ("ProportionalOdds", "METHODS"),
    "plug_in_ranker": ("PlugInRanker", "METHODS"),
    "order_boost": ("OrderBoost", "METHODS"),
    "rank_boost": ("RankBoost", "METHODS"),
    "multiple_hyperplane_ranker": ("MultipleHyperplaneRanker", "METHODS"),
    "nested_ranker": ("NestedRanker", "METHODS"),
    "compare_svm": ("CompareSVM", "METHODS"),
    "threshold_compare": ("ThresholdCompare", "METHODS"),
    "order_ensemble": ("OrderEnsemble", "METHODS"),
    "boosted_trees": ("BoostedTrees", "METHODS"),
    "cox_ranker": ("CoxRanker", "METHODS"),
    "baselines": ("BestFeature", "RidgeRanker", "METHODS"),
    "base": ("list_scores",),
    "boosting": ("BoostRows", "BoostTask", "RowRisk"),
    "compare_lp": ("CompareLP",),
    "compare_model": ("CompareModel",),
    "kernel_model": ("KernelModel",),
    "monotone": ("NotMonotoneError", "keeps_monotone"),
    "propensities": ("click_propensities",),
}
"""What each module gives; methods are run and listed in the order of those that bring ``METHODS``."""

_HOME = {name: home for home, names in _HOMES.items() for name in names if name != "METHODS"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "METHODS":
            found: Any = {}
            for home, names in _HOMES.items():
                if "METHODS" in names:
                    found |= import_module(f".{home}", __name__).METHODS
        elif name in _HOME:
            found = getattr(import_module(f".{_HOME[name]}", __name__), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found
        return found
