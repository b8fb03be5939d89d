"""BoostedTrees: what many do instead of ranking, or to rank: LightGBM with its own objectives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..memory import Held
from ..methods import Method, Size, for_trees, no_trees, tree_shapes
from ..order import Grades, Times
from ..solvers import LONGEST_LIST, Rounds, TreeShape, lambdarank_trees, regression_trees
from ..spaces import Forest
from ..state import Part, built, number, pieces
from ..sweeps import Array, Floats, Ints, near_one
from .base import (
    Ranker,
    as_order,
    check_option,
    check_positive,
    check_whole,
    refuse_no_pairs,
    warn_of_one_score,
)
from .baselines import grade_ranks
from .monotone import check_trees_monotone
from .tree_columns import TreeInput

_OBJECTIVES = ("regression", "ranks", "lambdarank", "log_times")

_ORDINARY = 20
"""Weights up to this power of two, and down to its inverse, are at home in float32."""


class BoostedTrees(TreeInput, Ranker):
    r"""LightGBM's own objectives, used as a ranker: a baseline for :class:`OrderBoost`, which boosts an order itself.

    .. math:: f = \sum_m \eta \, h_m, \qquad \min_f \sum_i \omega_i \, (t_i - f(x_i))^2

    where t is the grade, or its rank within its group; or the gradients of LambdaRank, which look at the top of a list.

    Parameters
    ----------
    objective : {"regression", "ranks", "lambdarank", "log_times"}, default="regression"
        "regression": least squares on the grade as a number (its place among the levels, where grades are text).
        "ranks": least squares on the mean rank of the grade within its group, from −½ to ½. "lambdarank": pairs of one
        group weighed by what their swap would change in NDCG, of which one must be among the first
        ``truncation``. It takes groups of at most
        10,000 rows. "log_times": of :class:`~wellorder.Times`, least squares on the logarithm of the time, over the
        rows whose event was seen, each weighed by one over its chance not to have been censored before.
    n_estimators : int, default=300
        How many trees.
    learning_rate : float, default=0.1
        What each tree's values are multiplied by.
    max_leaf_nodes, min_samples_leaf, l2_regularization : default=31, 20, 0.0
        As in scikit-learn's HistGradientBoosting.
    categories : sequence of columns or mask, default=None
        The columns whose values are names, by name or place: trees split such a column into two sets.
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held; the trees'
        structure is checked after the fit.
    truncation : int, default=30
        How far down a list LambdaRank looks: of each pair that counts, one stands so high.
    label_gain : sequence of float, default=None
        What each level, from the worst to the best, is worth to LambdaRank. None: 2^place − 1, or the place where there
        are more than 31 levels.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    random_state : int, RandomState or None, default=None
        Seed for what LightGBM draws: from 200,000 rows on, the rows that it bins the columns by.

    Attributes
    ----------
    pieces_ : dict of arrays
        The trees.
    constant_ : float
        Added to the scores; with objective="regression" it makes them grades.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Trees are grown by LightGBM, whose threads (from 50,000 rows on) do not survive a fork: in a process that was forked
    after such a fit, trees are grown on one thread, to the same bits. Other libraries with OpenMP threads may wait for
    ever there; start processes with ``multiprocessing.get_context("spawn")`` or ``"forkserver"``, or with joblib.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    >>> model = wo.BoostedTrees(n_estimators=50).fit(X, X[:, 0] ** 2)
    >>> model.score(X, X[:, 0] ** 2) > 0.95
    True
    """

    _held: ClassVar[Held] = Held(10.0, 1.5)

    order = "full"

    pieces_: dict[str, Array]
    constant_: float

    def __init__(
        self,
        objective: str = "regression",
        *,
        n_estimators: int = 300,
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        categories: Any = None,
        monotone: Any = None,
        truncation: int = 30,
        label_gain: Any = None,
        levels: Any = None,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.categories = categories
        self.monotone = monotone
        self.truncation = truncation
        self.label_gain = label_gain
        self.levels = levels
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> BoostedTrees:
        """Grow the trees.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            One id a row: ranks are within groups, and a group is a query of LambdaRank.
        sample_weight : array of shape (n,), optional
        """
        self._check_parameters()
        X = self._read_columns(self._check_rows(X, reset=True))
        signs = self._read_signs(X)
        of_times = self.objective == "log_times"
        grades = as_order(y, groups, sample_weight, "full", self.levels, two_weights=of_times)
        if of_times and not isinstance(grades, Times):
            raise ValueError(f"objective='log_times' takes censored times, wo.Times(…), not {type(grades).__name__}")
        if not isinstance(grades, Grades):
            raise ValueError(f"BoostedTrees takes grades, one a row, not {type(grades).__name__}; use OrderBoost")
        refuse_no_pairs(grades, grades.to_pairs(X.shape[0]).n_pairs)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        forest, self.constant_ = self._grow(X, grades, seed, signs)
        check_trees_monotone(forest, forest.scores, X, signs)
        self.pieces_ = forest.to_arrays()
        self.n_groups_ = grades.n_groups
        if not (forest.left >= 0).any():
            warn_of_one_score("no column varies, or min_samples_leaf leaves no split")
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above."""
        check_is_fitted(self)
        return self._tree_scores(X, lambda rows: np.asarray(self._forest().scores(rows) + self.constant_))

    def _grow(self, X: Any, grades: Grades, seed: int, signs: Ints | None) -> tuple[Forest, float]:
        """Return the trees, and what is added to their scores."""
        weight = grades.row_weights
        if isinstance(grades, Times):
            chance = grades.curve()(grades.time)
            weight = np.where(grades.event & (chance > 0), weight / np.where(chance > 0, chance, 1.0), 0.0)
        rows: Ints = np.flatnonzero((grades.level >= 0) & (weight > 0))
        if self.objective == "lambdarank":
            rows, lists = _list_by_list(grades, rows)
        part, weight = X if _is_all(rows, X.shape[0]) else X[rows], _in_range(weight[rows])
        rounds = Rounds(self.n_estimators, float(self.learning_rate))
        shape = TreeShape(
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            categories={k: len(values) for k, values in self._known_categories.items()},
            signs=signs,
        )
        if self.objective == "lambdarank":
            relevance = grades.level[rows]
            told: dict[str, Any] = {
                "seed": seed,
                "params": shape,
                "truncation": self.truncation,
                "gains": self._gains(grades),
            }
            return lambdarank_trees(part, relevance, lists, weight, rounds, **told), 0.0
        target = self._target(grades)[rows]
        centred, centre, scale = _standardised(target, weight)
        forest = regression_trees(part, centred, weight, rounds, seed=seed, params=shape)
        return replace(forest, value=scale * forest.value), centre

    def _gains(self, grades: Grades) -> list[float] | None:
        """Return what each level is worth, if anybody has said so."""
        if self.label_gain is None:
            return None
        gains = np.asarray(self.label_gain, dtype=float)
        n = len(grades.levels)
        if gains.shape != (n,) or not np.isfinite(gains).all() or (gains < 0).any() or (np.diff(gains) < 0).any():
            raise ValueError(f"label_gain must be {n} numbers, not negative and rising, one a level from the worst on")
        return [float(gain) for gain in gains]

    def _target(self, grades: Grades) -> Floats:
        """Return what each row's score should be."""
        if self.objective == "ranks":
            return grade_ranks(grades)
        if self.objective == "regression":
            return grades.values
        assert isinstance(grades, Times)
        shortest = float(grades.time[grades.time > 0].min(initial=1.0))
        return np.asarray(np.log(np.maximum(grades.time, 0.5 * shortest)))

    def _forest(self) -> Forest:
        return built(self, Forest)

    def _check_parameters(self) -> None:
        check_option(self.objective, "objective", _OBJECTIVES)
        for name in ("n_estimators", "max_leaf_nodes", "min_samples_leaf", "truncation"):
            check_whole(getattr(self, name), name)
        check_positive(self.learning_rate, "learning_rate")
        if self.l2_regularization != 0:
            check_positive(self.l2_regularization, "l2_regularization")
        if self.max_leaf_nodes < 2:
            raise ValueError("max_leaf_nodes must be at least 2: a tree with one leaf orders nothing")

    def _fitted_state(self) -> dict[str, Part]:
        own = {"pieces_": pieces(Forest), "constant_": number()}
        return super()._fitted_state() | own | self._tree_state()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags = self._tag_trees(tags)
        tags.target_tags.required = True
        return tags


def _is_all(rows: Ints, n: int) -> bool:
    return np.array_equal(rows, np.arange(n))


def _list_by_list(grades: Grades, rows: Ints) -> tuple[Ints, Ints]:
    """Put the rows of each group side by side; return them, and how many each group has."""
    group = grades.list_codes
    rows = rows[np.argsort(group[rows], kind="stable")]
    _, lists = np.unique(group[rows], return_counts=True)
    if lists.max() > LONGEST_LIST:
        raise ValueError(
            f"LightGBM's LambdaRank takes at most {LONGEST_LIST:,} rows a group, and one has {lists.max():,}; "
            "use OrderBoost(learner='tree'), which takes any number, or another objective"
        )
    return rows, lists


def _standardised(target: Floats, weight: Floats) -> tuple[Floats, float, float]:
    """Shift and scale to mean 0 and greatest value 1: LightGBM keeps targets in float32, and no tree depends on it."""
    scale = float(np.abs(target).max()) or 1.0
    centre = float(np.average(target / scale, weights=weight))
    return target / scale - centre, centre * scale, scale


def _in_range(weight: Floats) -> Floats:
    """Return weights that LightGBM's float32 holds; ordinary ones stay as they are: two is the row twice."""
    scaled, exponent = near_one(weight)
    return weight if abs(exponent) <= _ORDINARY else scaled


def too_long_lists(size: Size) -> str | None:
    """Object to lists that are too long for LightGBM's ranker, and to few rows."""
    if size.largest_group > LONGEST_LIST:
        return (
            f"LightGBM takes at most {LONGEST_LIST:,} rows a list, and one has {size.largest_group:,}; see order-boost"
        )
    return no_trees(size)


METHODS = {
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
    "lightgbm-on-log-times": Method(
        "trees, least squares on the logarithm of the times of events",
        lambda: BoostedTrees("log_times"),
        tree_shapes,
        takes=("grades",),
        takes_two_weights=True,
        needs_times=True,
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
}
