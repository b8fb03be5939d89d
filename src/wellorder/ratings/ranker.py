"""A rating system as a ranker: items are the players, by row number, and their features are not looked at."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..losses import best_threshold
from ..methods import Method
from ..order import Comparisons, direction_share
from ..state import Part, Stored, floats, number, of
from ..sweeps import Floats
from .davidson import Davidson
from .elo import Elo
from .glicko import Glicko
from .system import RatingSystem, StreamedSystem, Uncertainty, find_players

_NOBODY = "nobody"
"""No player of this name: players are row numbers."""


def _has_probabilities(ranker: RatingRanker) -> bool:
    system = getattr(ranker, "system_", None)
    if isinstance(system, StreamedSystem) and not hasattr(system, "_met"):
        raise AttributeError(
            "this model was saved by a version that kept no games to fit probabilities to; fit it anew"
        )
    return True


class RatingRanker(Stored, BaseEstimator):
    """Scores items by rating them as players: the baseline for models that look at the items' features.

    It knows only the rows that it was fitted with, in the same order; comparisons count as played one after another, in
    the order in which they stand, and where they have ``times``, Glickman's systems go by these. What the first move is
    worth, where the system has such a parameter, is taken account of in the ratings, and is no part of the scores: it
    is ``advantage_``, and belongs to a comparison, not to an item. An item that ties with itself says nothing.

    Parameters
    ----------
    system : RatingSystem, default=None
        ``Elo()``, ``Glicko()``, …; ``Davidson()`` without.

    Attributes
    ----------
    system_ : RatingSystem
        The fitted system; its players are row numbers.
    ratings_ : array of shape (n_items,)
        The rating of each row; rows in no comparison have the rating that all start with.
    unseen_ : float
        The rating that all start with.
    advantage_ : float
        What it is worth to stand on the left, in rating points: who is better of two is told by the right rating less
        the left one and this.
    threshold_ : float
        Where that differs from zero by so much or less, a tie is predicted: the threshold that fits the comparisons
        best, given the ratings after the last of them.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> items = np.zeros((3, 5))
    >>> games = wo.Comparisons(left=[0, 1, 2], right=[1, 2, 0], outcome=[1, 0, -1])
    >>> ranker = wo.ratings.RatingRanker(wo.ratings.Elo()).fit(items, games)
    >>> ranker.decision_function(items).round(1).tolist()
    [1468.8, 1515.3, 1516.0]
    """

    looks_at_features = False

    system_: RatingSystem
    ratings_: Floats
    unseen_: float
    threshold_: float

    def __init__(self, system: RatingSystem | None = None) -> None:
        self.system = system

    def fit(self, X: Any, y: Any) -> RatingRanker:
        """Rate the rows of X by Comparisons y of them."""
        if not isinstance(y, Comparisons):
            raise ValueError(f"RatingRanker learns from comparisons; give wo.Comparisons as y, not {type(y).__name__}")
        n_rows, self.n_features_in_ = _shape(X)
        y.to_pairs(n_rows)  # refuses rows that are not there
        games = _between_two(y)
        if not games.outcome.any():
            raise ValueError(
                "there is nothing to learn a direction from: no comparison of two items was decided (1 or -1)"
            )
        system = Davidson() if self.system is None else clone(self.system)
        self.system_ = system.fit(games, time=games.times if system.goes_by_time else None)
        self.system_._meaning()  # once, and kept with the model
        _warn_if_one_side_wins(self.system_, games)
        self.ratings_ = self.system_.rating(np.arange(n_rows))
        self.unseen_ = float(self.system_.rating([_NOBODY])[0])
        differences = self.ratings_[games.right] - self.ratings_[games.left] - self.advantage_
        self.threshold_ = best_threshold(differences, games.outcome, games.weight)
        return self

    @property
    def advantage_(self) -> float:
        """What it is worth to stand on the left, in rating points."""
        return self.system_._advantage()

    def decision_function(self, X: Any) -> Floats:
        """Return the ratings of the rows; X must have the rows of ``fit``."""
        check_is_fitted(self)
        n_rows, _ = _shape(X)
        if n_rows != len(self.ratings_):
            raise ValueError(
                f"X has {n_rows} rows, but {len(self.ratings_)} were rated: a rating says nothing of new items; give "
                "the same rows in the same order, or use a model that looks at features"
            )
        return self.ratings_.copy()

    def predict(self, X: Any) -> Floats:
        """Return the ratings of the rows: the same as ``decision_function``."""
        return self.decision_function(X)

    @available_if(_has_probabilities)
    def probabilities(self, differences: Any) -> Floats:
        """Return P(left better), P(tie) and P(right better) of pairs, given the right ratings less the left ones.

        Where one of the two is to have the first move, ``advantage_`` is taken off the differences beforehand. By
        Glickman's systems they are as of ratings that are as uncertain as they were before most games;
        :meth:`probabilities_between` knows how uncertain two are.
        """
        check_is_fitted(self)
        return self.system_._meaning().probabilities(np.asarray(differences, dtype=float))

    @available_if(_has_probabilities)
    def probabilities_between(self, left: Any, right: Any, *, first_move: bool = True) -> Floats:
        """Return P(left better), P(tie) and P(right better) of pairs of rows.

        Parameters
        ----------
        left, right : arrays of shape (n,)
            Row numbers; −1 is somebody who was never compared.
        first_move : bool, default=True
            Whether the left one has it; without, neither has.
        """
        check_is_fitted(self)
        return self.system_.predict_proba(left, right, first_move=first_move)

    def uncertainty(self) -> Uncertainty | None:
        """Return how uncertain the ratings of the rows are; None where the system does not say, as Elo does not."""
        check_is_fitted(self)
        found = self.system_.uncertainty()
        numbers = find_players(np.arange(len(self.ratings_)), "rows", self.system_.players_)
        return None if found is None else found.take(numbers)

    def score(self, X: Any, y: Any) -> float:
        """Return the share of the decided comparisons that the ratings put in the right direction."""
        scores = self.decision_function(X)
        if not isinstance(y, Comparisons):
            raise ValueError(f"score takes wo.Comparisons, not {type(y).__name__}")
        pairs = y.to_pairs(len(scores))
        if pairs.n_pairs == 0:
            warnings.warn(f"score is not defined: there is no decided comparison ({y.describe()})", stacklevel=2)
            return float("nan")
        return direction_share(pairs, scores)

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {
            "system_": of(RatingSystem, "a rating system"),
            "ratings_": floats("n"),
            "unseen_": number(),
            "threshold_": number(low=0.0),
        }


_ENOUGH = 10
"""Decided comparisons, from which on it is no chance that all were won on one side."""


def _warn_if_one_side_wins(system: RatingSystem, games: Comparisons) -> None:
    """Say where the side tells everything: files with the winner first would teach that it always wins."""
    decided = games.outcome[games.outcome != 0]
    sided = getattr(system, "first_move", False) or getattr(system, "advantage", 0.0) == "fit"
    if sided and len(decided) >= _ENOUGH and (decided == decided[0]).all():
        side, name = ("right", "left")[int(decided[0] < 0)], type(system).__name__
        what = "first_move=True" if hasattr(system, "first_move") else "advantage='fit'"
        warnings.warn(
            f"all {len(decided):,} decided comparisons were won by the {side} one, and {name}({what}) takes that for "
            "what the side is worth; leave it out if the winner was just written there",
            stacklevel=4,
        )


def _between_two(y: Comparisons) -> Comparisons:
    """Leave out items that were compared with themselves, and what has no weight."""
    kept = y.left != y.right
    if y.weight is not None:
        kept &= y.weight > 0
    return y if kept.all() else y.take(np.flatnonzero(kept))


def _shape(X: Any) -> tuple[int, int]:
    shape = np.shape(X) if not hasattr(X, "shape") else X.shape
    if len(shape) != 2:
        raise ValueError(f"X should be a table of items, got shape {shape}")
    return int(shape[0]), int(shape[1])


METHODS = {
    "elo": Method(
        "ratings by name, game after game (as --time has them, else the file), no features",
        lambda: RatingRanker(Elo()),
        lambda size: {"system__k": [16.0, 32.0, 64.0], "system__advantage": [0.0, *(["fit"] * size.has_sides)]},
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
    "glicko": Method(
        "ratings and their certainty by name, game after game (as --time has them, else the file), no features",
        lambda: RatingRanker(Glicko()),
        lambda size: {"system__deviation": [100.0, 350.0], "system__advantage": [0.0, *(["fit"] * size.has_sides)]},
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
    "davidson": Method(
        "Bradley–Terry ratings with ties by name, no features",
        lambda: RatingRanker(Davidson()),
        lambda size: {
            "system__ridge": [0.03, 0.1, 0.3, 1.0, 3.0],
            "system__first_move": [False, *([True] * size.has_sides)],
        },
        takes=("comparisons",),
        is_baseline=True,
        predicts_ties=True,
    ),
}
