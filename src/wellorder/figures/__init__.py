"""Pictures of leaderboards, swaps, curves and weights, in scikit-learn's Display manner; public as ``wo.plot``."""

from .against_paper import AgainstPaperDisplay, Found
from .comparison_roc import ComparisonROCDisplay
from .explanation import ExplanationDisplay
from .leaderboard import LeaderboardDisplay
from .ndcg import NDCGCurveDisplay
from .order_graph import OrderGraphDisplay
from .style import PALETTE, legible, plain
from .svg import to_svg
from .swaps import SwapsDisplay
from .weights import WeightsDisplay

__all__ = [
    "PALETTE",
    "AgainstPaperDisplay",
    "ComparisonROCDisplay",
    "ExplanationDisplay",
    "Found",
    "LeaderboardDisplay",
    "NDCGCurveDisplay",
    "OrderGraphDisplay",
    "SwapsDisplay",
    "WeightsDisplay",
    "legible",
    "plain",
    "to_svg",
]
