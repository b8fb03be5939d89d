"""Pictures in scikit-learn's Display manner; public as ``wo.plot``.

Each display is made by ``from_estimator``, ``from_predictions``, ``from_records`` or the like, has the numbers that it
shows as attributes, and draws them with ``plot(ax=None)``, after which ``ax_`` and ``figure_`` are there. The first two
draw at once on axes that they are given as ``ax``. A notebook shows a display that was not drawn as a picture.

=============================  ====================================================================================
``LeaderboardDisplay``         methods with their intervals, the best on top
``CriticalDifferenceDisplay``  mean ranks over several data sets, and which methods are not told apart
``ByQueryDisplay``             how far one method is ahead of another, query by query
``SwapsDisplay``               which grades are mixed up
``NDCGCurveDisplay``           how good the top of the lists is
``ComparisonROCDisplay``       differences found, against ties taken for differences
``PairCalibrationDisplay``     whether probabilities of outcomes are what happens
``ScoreDifferencesDisplay``    how often the higher of two scores is the better one's, by their difference
``WeightsDisplay``             what a linear model looks at
``LevelCurvesDisplay``         a model's scores over the plane of two features
``ExplanationDisplay``         why one item stands above another
``OrderGraphDisplay``          which levels must stand above which
``StandingsDisplay``           items with ratings and intervals, the best on top
``AboveDisplay``               who is clearly above whom
``AgainstPaperDisplay``        a paper's values beside ours
=============================  ====================================================================================
"""

from .against_paper import AgainstPaperDisplay, Found
from .by_query import ByQueryDisplay
from .critical_difference import CriticalDifferenceDisplay
from .curves import FEW as FEW, ComparisonROCDisplay, NDCGCurveDisplay
from .differences import N_CALIBRATION_BINS as N_CALIBRATION_BINS, PairCalibrationDisplay, ScoreDifferencesDisplay
from .explanation import ExplanationDisplay
from .leaderboard import LeaderboardDisplay
from .level_curves import LevelCurvesDisplay, movements as movements
from .order_graph import OrderGraphDisplay
from .standings import MOST_NUMBERED as MOST_NUMBERED, AboveDisplay, StandingsDisplay
from .style import (
    INK as INK,
    LINES as LINES,
    PALETTE,
    STYLE as STYLE,
    legible,
    plain,
    quieten as quieten,
    save_figure as save_figure,
    to_svg,
)
from .swaps import SwapsDisplay
from .weights import WeightsDisplay

__all__ = [
    "PALETTE",
    "AboveDisplay",
    "AgainstPaperDisplay",
    "ByQueryDisplay",
    "ComparisonROCDisplay",
    "CriticalDifferenceDisplay",
    "ExplanationDisplay",
    "Found",
    "LeaderboardDisplay",
    "LevelCurvesDisplay",
    "NDCGCurveDisplay",
    "OrderGraphDisplay",
    "PairCalibrationDisplay",
    "ScoreDifferencesDisplay",
    "StandingsDisplay",
    "SwapsDisplay",
    "WeightsDisplay",
    "legible",
    "plain",
    "to_svg",
]
