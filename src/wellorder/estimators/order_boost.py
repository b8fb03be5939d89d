"""OrderBoost: scores as a sum of small pieces, boosted for a risk over pairs or over graded rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..losses import LOSSES, PairLoss, find_loss, implicit_costs, level_probabilities
from ..memory import Held
from ..methods import (
    FEW_ROWS,
    MANY_ROWS,
    Grid,
    Method,
    Size,
    for_columns,
    for_trees,
    no_trees,
    too_many_columns,
    tree_shapes,
)
from ..order import OrderGraph
from ..solvers import BoostResult, Learners, Rounds, TreeShape, boost_bumps, boost_learner, boost_trees, diagonal_step
from ..spaces import Bumps, Forest
from ..state import (
    ANY,
    Part,
    absent_or,
    built,
    count,
    figures,
    fitted,
    floats,
    list_of,
    number,
    pieces,
    rising,
    truth,
)
from ..sweeps import Array, Floats
from .base import OneScoreWarning, Order, Ranker, check_option, check_positive, check_whole, exists_for_losses
from .boosting import (
    SMALL_RATE,
    BoostRows,
    BoostTask,
    list_rate,
    ordinal_task,
    pair_task,
    squared_task,
    sweeps_for,
    tree_rate,
    tree_size,
)
from .column_places import column_places
from .metric_boosting import metric_task
from .monotone import check_bumps_monotone, check_trees_monotone
from .ordinal_model import OrdinalModel
from .tree_columns import TreeInput


def _bends(loss: PairLoss) -> bool:
    """Say whether a loss curves where boosting starts, at equal scores: Newton's steps go by that."""
    return bool(loss.derivatives(np.zeros(1))[2][0] > 0)


_PAIR_LOSSES = {"pairs": "exponential"} | {name: name for name, loss in LOSSES.items() if _bends(loss)}
"""What the losses over pairs are called here."""
_ORDINAL_LOSSES = ("orboost", "proportional_odds")
_NUMBERS = dict.fromkeys(("n_estimators", "n_iter_no_change", "max_leaf_nodes", "min_samples_leaf"), check_whole)
_NUMBERS |= dict.fromkeys(("learning_rate", "validation_fraction", "width"), check_positive)
_NUMBERS |= dict.fromkeys(("l2_regularization", "min_gain"), check_positive)
_UNSET: dict[str, Any] = {"n_iter_no_change": None, "l2_regularization": 0, "min_gain": 0}
_UNSET |= dict.fromkeys(("learning_rate", "max_leaf_nodes", "min_samples_leaf"), "auto")
_OF_TREES = {"subsample": 1.0, "max_features": 1.0, "min_gain": 0.0, "interactions": None, "warm_start": False}
_FITTED = {"classes_", "learner_weights_", "learners_", "pieces_", "thresholds_", "validation_risk_"}


class OrderBoost(TreeInput, OrdinalModel):
    r"""Boosting for orders: f = Σ_m α_m h_m, each piece added where it lowers the risk most.

    .. math:: R(f) = \frac{1}{\sum W} \sum_{(i, j)} W_{ij} \, e^{-(f(x_i) - f(x_j))}

    is the risk over all pairs with i above j and their costs W (``loss="pairs"``), computed without listing a pair.
    Minimising it does not lead to the best order with three or more levels, but adding pairs within levels and reversed
    ones does, where the costs allow it (``consistent``). The other losses look at each row alone.

    Parameters
    ----------
    loss : {"pairs", "squared_hinge", "logistic", "orboost", "proportional_odds", "squared"} or object, default="pairs"
        "pairs": the exponential loss over all pairs. "squared_hinge": :math:`(1 - d)_+^2` over all pairs, which
        outliers disturb less. "logistic": :math:`\log(1 + e^{-d})`, which visits every pair. "orboost": exponential
        losses against the thresholds on either side of a row's level. "proportional_odds": the likelihood of
        logit P(Y > j) = f − θ_j. "squared": least squares on the grade as a number (on its place among the levels,
        where grades are text). A loss over pairs of your own is as in :class:`RankSVM`, with a curvature at 0.
    order : {"full", "chain", "linear", "dcg"}, OrderGraph or array of shape (r, r), default="full"
        Which levels are compared and what a swap costs; for losses over pairs only.
    metric : str or Metric, default=None
        A metric of places in a list that pairs weigh by: "ndcg@10", "precision@5", "map", "err@10", "mrr", … A pair
        then weighs what its swap would change in the metric at the present scores (LambdaMART), ties in exact
        expectation, and every list counts the same. Any length of lists and number of levels; O(n·k) a round for a
        cut-off k, all pairs without. It takes the losses "pairs", "logistic" and "squared_hinge", and rows without
        weights. ``n_iter_no_change`` then stops by the metric on lists kept apart.
    consistent : {"auto", True, False}, default="auto"
        Whether the losses over pairs use the consistent form. "auto": where the costs over the levels present allow
        it: "linear" and "dcg" always, "full" up to three levels. True: an error where they do not. False: plain pairs.
    learner : {"gaussian", "tree"} or estimator, default="gaussian"
        "gaussian": bumps over single standardised columns: f is additive, and stays as it is beyond the training rows'
        range (a value far out spoils its column's scale: mind outliers). "tree": trees grown by LightGBM. A regressor
        of scikit-learn's shape is cloned in each round and fitted to Newton's steps.
    n_estimators : int, default=300
        Most rounds.
    learning_rate : "auto" or float, default="auto"
        What each piece's weight is multiplied by, once it is the best. "auto": 1.0; for trees 0.1, and more, up to
        0.3, with a loss over pairs, more than 25,000 rows and fewer than 300 rounds, which would end too early.
    validation_fraction : float, default=0.1
        The share of the rows (of the groups, with groups and a loss over pairs; of the comparisons) kept apart, if
        ``n_iter_no_change`` is set and no ``X_val`` is passed.
    n_iter_no_change : int, default=None
        Stop after so many rounds without a lower risk of the validation rows. None: make all rounds, and keep no
        rows apart; with ``X_val`` the best round is still the one that counts.
    stopping : {"risk", "swaps"}, default="risk"
        What is measured on the validation rows: the risk, or the share of swapped pairs, which a loss over pairs may
        go on lowering after its risk has begun to rise: a few bad mistakes weigh much in it.
    balance : {"auto", "pairs", "groups"}, default="auto"
        Every pair counts the same, or every group. "auto": every group, where there are some and rows have one weight.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    width : float, default=0.5
        σ² of the bumps, on standardised columns.
    max_leaf_nodes, min_samples_leaf, l2_regularization : default="auto", "auto", 0.0
        As in scikit-learn's HistGradientBoosting; for trees only. "auto": 31 leaves of 20 rows or more; of lists, 15
        leaves of 20 to 50 rows, the more the more rows there are.
    categories : sequence of columns or mask, default=None
        The columns whose values are names, by name or place; for trees only, which split such a column into two sets.
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held. Trees are
        checked leaf by leaf after the fit; in place of bumps such a column has smooth rises from 0 to 1, with weights
        of its sign. Not with a learner of your own.
    subsample, max_features : float, default=1.0
        The share of the rows that each tree is grown from, drawn anew, and of the columns that each split may look at;
        for trees only.
    min_gain : float, default=0.0
        What a split must gain at least: twice what the risk's quadratic model falls by, in units of the mean curvature
        of a row at the start; for trees only.
    interactions : sequence of sequences of columns, default=None
        Which columns may meet on one way from a root to a leaf: only those of one set. The columns that are not named
        are a set of their own. ``[[0], [1], [2]]`` for three columns: a sum over single columns. For trees only.
    warm_start : bool, default=False
        Go on from the trees of the last fit, up to ``n_estimators`` in all; for trees only.
    random_state : int, RandomState or None, default=None
        Seed for the rows kept apart and for what learners draw.

    Attributes
    ----------
    n_estimators_ : int
        The rounds that are kept.
    train_risk_ : array
        The mean risk of the training rows after each round made.
    validation_risk_ : array
        The same of the validation rows, where there were some; with stopping="swaps" their share of swapped pairs, with
        a metric one minus its value.
    consistent_ : bool
        Whether the risk over pairs was the consistent one; with two levels it is.
    thresholds_ : array of shape (r − 1,)
        Between the levels; ordinal losses ("orboost", "proportional_odds") only.
    classes_ : array of shape (r,)
        The levels present, from worst to best; ordinal losses only.
    constant_ : float
        Added to the scores; with loss="squared" it makes them grades, else it is zero.
    pieces_ : dict of arrays
        The bumps and rises, or the trees.
    learners_, learner_weights_ : list, array
        The fitted regressors and their weights, with a learner of your own.
    gains_, risk_falls_ : arrays of shape (d,)
        Of trees: what the splits by each column have gained, and what the exact mean risk of the training rows has
        fallen by, round by round, each fall shared out by the gains in its tree: they add up to the whole fall.
    feature_importances_ : array of shape (d,)
        Of trees: the share of each column in the gains.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Trees are grown by LightGBM, whose threads (from 50,000 rows on) do not survive a fork: in a process that was forked
    after such a fit, trees are grown on one thread, to the same bits. Other libraries with OpenMP threads may wait for
    ever there; start processes with ``multiprocessing.get_context("spawn")`` or ``"forkserver"``, or with joblib.

    References
    ----------
    Uematsu, Lee (2013), Statistical optimality in multipartite ranking and ordinal regression: Theorem 4.
    Burges (2010), From RankNet to LambdaRank to LambdaMART: an overview.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (300, 2))
    >>> y = np.digitize(-X[:, 0] ** 2 + 0.1 * rng.standard_normal(300), [-2, -1])
    >>> model = wo.OrderBoost(n_estimators=30).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.consistent_
    True
    """

    _held: ClassVar[Held] = Held(18.0, 3.5)
    takes_two_weights: ClassVar[bool] = True

    learners_: list[Any]
    learner_weights_: Floats
    pieces_: dict[str, Array]
    constant_: float
    n_estimators_: int
    train_risk_: Floats
    gains_: Floats
    risk_falls_: Floats
    validation_risk_: Floats
    consistent_: bool

    def __init__(
        self,
        loss: str = "pairs",
        *,
        order: Any = "full",
        metric: Any = None,
        consistent: Any = "auto",
        learner: Any = "gaussian",
        n_estimators: int = 300,
        learning_rate: Any = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        stopping: str = "risk",
        balance: Any = "auto",
        levels: Any = None,
        width: float = 0.5,
        max_leaf_nodes: Any = "auto",
        min_samples_leaf: Any = "auto",
        l2_regularization: float = 0.0,
        categories: Any = None,
        monotone: Any = None,
        subsample: float = 1.0,
        max_features: float = 1.0,
        min_gain: float = 0.0,
        interactions: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.order = order
        self.metric = metric
        self.consistent = consistent
        self.learner = learner
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.stopping = stopping
        self.balance = balance
        self.levels = levels
        self.width = width
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.categories = categories
        self.monotone = monotone
        self.subsample = subsample
        self.max_features = max_features
        self.min_gain = min_gain
        self.interactions = interactions
        self.warm_start = warm_start
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
        sample_weight_val: Any = None,
    ) -> OrderBoost:
        """Boost.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : array of shape (n,), Grades, Comparisons, or their sum
            Grades, higher is better; NaN: unjudged. Comparisons and sums for the losses over pairs only.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared. It changes nothing for the losses of single rows.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice, but for trees, whose ``min_samples_leaf`` counts rows.
        X_val, y_val, groups_val, sample_weight_val : optional
            Validation rows that decide which round is kept; no training rows are held back then. With ``groups``,
            ``groups_val`` is needed too.
        """
        self._check_parameters()
        known = self._known_categories
        X = self._read_columns(self._check_rows(X, reset=True))
        signs = self._read_signs(X)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        beside = self._read_validation(X_val, y_val, groups_val, sample_weight_val, in_groups=groups is not None)
        task = self._make_task(BoostRows(X, y, groups, sample_weight), beside, rng)
        begin = self._begin_with(known) if self.warm_start and self._is_trees else None
        for name in vars(self).keys() & (_FITTED if self._is_trees else _FITTED | {"categories_"}):
            delattr(self, name)
        result = self._grow(replace(task, signs=signs, begin=begin), rng)
        self._store(task, result)
        if isinstance(result.pieces, Forest):
            check_trees_monotone(result.pieces, result.pieces.scores, X, signs)
        elif isinstance(result.pieces, Bumps):
            check_bumps_monotone(result.pieces, X, signs)
        if result.n_rounds == 0:
            why = "no column varies" + ", or min_samples_leaf leaves no split" * (self.learner == "tree")
            warnings.warn(f"no piece lowers the risk: {why}; every score is the same", OneScoreWarning, stacklevel=3)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above."""
        check_is_fitted(self)
        return self._tree_scores(X, lambda rows: np.asarray(self._pieces().scores(rows) + self.constant_))

    @available_if(lambda model: model._has_trees())
    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the score of each row after each tree."""
        check_is_fitted(self)
        X = self._numbered_rows(X)
        forest = self._pieces()
        assert isinstance(forest, Forest)
        for scores in forest.staged(X):
            yield scores + self.constant_

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in what all splits have gained; zeros where there is no split."""
        self._has_trees()
        check_is_fitted(self, "gains_")
        total = float(self.gains_.sum())
        return np.asarray(self.gains_ / total if total > 0 else self.gains_)

    def _has_trees(self) -> bool:
        if not self._is_trees:
            raise AttributeError("this needs learner='tree'")
        return True

    def predict(self, X: Any) -> Array:
        """Return scores; with an ordinal loss, grades in the labels that the model was fitted with."""
        return super().predict(X) if self.loss in _ORDINAL_LOSSES else self.decision_function(X)

    @exists_for_losses("proportional_odds")
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row."""
        return level_probabilities(self.decision_function(X), self.thresholds_)

    @exists_for_losses("orboost")
    def implicit_costs(self) -> OrderGraph:
        r"""Return the misranking costs that ORBoost's thresholds stand for.

        .. math:: W[j, i] = e^{\theta_{i-1} - \theta_j} - e^{\theta_{j-1} - \theta_i},
                  \qquad \theta_0 = -\infty, \theta_K = \infty

        Only their ratios mean something.
        """
        check_is_fitted(self)
        return OrderGraph(self.classes_.tolist(), implicit_costs(self.thresholds_))

    def _read_validation(self, X: Any, y: Any, groups: Any, weight: Any, *, in_groups: bool) -> BoostRows | None:
        if X is None and y is None:
            if groups is not None or weight is not None:
                raise ValueError("groups_val and sample_weight_val need X_val and y_val beside them")
            return None
        if X is None or y is None:
            raise ValueError("X_val and y_val must be passed together")
        if in_groups and groups is None and not isinstance(y, Order) and self._pair_loss is not None:
            raise ValueError(
                "groups were passed and groups_val was not: rows of different lists would be compared; give groups_val="
            )
        X = self._numbered_rows(X)
        return BoostRows(X, y, groups, weight)

    def _make_task(self, rows: BoostRows, beside: BoostRows | None, rng: np.random.Generator) -> BoostTask:
        share = 0.0 if self.n_iter_no_change is None or beside is not None else float(self.validation_fraction)
        loss = self._pair_loss
        if self.metric is not None:
            return metric_task(self, rows, beside, share, rng)
        if loss is not None:
            with sweeps_for(loss, rows.X.shape[0], self.n_estimators):
                return pair_task(self, loss, rows, beside, share, rng)
        named_full = isinstance(self.order, str) and self.order == "full"
        if (
            not named_full
            or (self.consistent != "auto" and self.consistent)
            or self.balance == "groups"
            or self.stopping != "risk"
        ):
            raise ValueError(
                "order, consistent=True, balance and stopping='swaps' say how pairs count, and "
                f"loss={self.loss!r} looks at no pair; leave them as they are, or use loss='pairs'"
            )
        if self.loss == "squared":
            return squared_task(self, rows, beside, share, rng)
        numbered = self._read_rows(rows.y, rows.groups, rows.weight, rows.X.shape[0])
        return ordinal_task(self, numbered, rows, beside, share, rng)

    @property
    def _is_trees(self) -> bool:
        return isinstance(self.learner, str) and self.learner == "tree"

    def _can_be_monotone(self) -> bool:
        return isinstance(self.learner, str)

    @property
    def _takes_missing(self) -> bool:
        if isinstance(self.learner, BaseEstimator):
            return bool(get_tags(self.learner).input_tags.allow_nan)
        return self._is_trees

    @property
    def _pair_loss(self) -> PairLoss | None:
        """The loss over pairs; None where rows are taken alone."""
        if isinstance(self.loss, str):
            return find_loss(_PAIR_LOSSES[self.loss]) if self.loss in _PAIR_LOSSES else None
        return find_loss(self.loss)

    def _grow(self, task: BoostTask, rng: np.random.Generator) -> BoostResult:
        in_lists = task.n_groups > 1 and self._pair_loss is not None
        rounds = Rounds(self.n_estimators, self._rate(task, in_lists), self.n_iter_no_change)
        rule = None if self.metric is None else diagonal_step
        if not isinstance(self.learner, str):
            return boost_learner(task.X, self.learner, task.risk, task.validation, rounds, rng=rng, rule=rule)
        if self.learner == "gaussian":
            weight = task.risk.weight
            return boost_bumps(
                task.X, weight, task.risk, task.validation, rounds, width=self.width, signs=task.signs, rule=rule
            )
        leaves, fewest = tree_size(task.X.shape[0], in_lists)
        shape = TreeShape(
            max_leaf_nodes=leaves if self.max_leaf_nodes == "auto" else self.max_leaf_nodes,
            min_samples_leaf=fewest if self.min_samples_leaf == "auto" else self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            categories={k: len(values) for k, values in self._known_categories.items()},
            signs=task.signs,
            subsample=float(self.subsample),
            max_features=float(self.max_features),
            min_gain=float(self.min_gain),
            interactions=self._read_interactions(task.X.shape[1]),
        )
        seed = int(rng.integers(2**31 - 1))
        begin = task.begin
        if begin is not None and begin.falls is not None:  # from means to sums
            mass = task.risk.mass
            begin = replace(begin, train_risk=begin.train_risk * mass, falls=begin.falls * mass)
        return boost_trees(task.X, task.risk, task.validation, rounds, seed=seed, params=shape, begin=begin)

    def _begin_with(self, known: dict[int, Floats]) -> BoostResult | None:
        """Return what the last fit has left, for the next one to go on from."""
        if not hasattr(self, "pieces_") or not hasattr(self, "gains_"):
            return None
        kept, forest = self.n_estimators_, self._pieces()
        if self.n_estimators < kept:
            raise ValueError(f"warm_start goes on from {kept} trees, and n_estimators={self.n_estimators} are fewer")
        assert isinstance(forest, Forest)
        if len(self.gains_) != self.n_features_in_:
            raise ValueError(
                f"warm_start goes on from trees over {len(self.gains_)} columns; X has {self.n_features_in_}"
            )
        same = known.keys() == self.categories_.keys()
        if not same or not all(np.array_equal(values, self.categories_[k]) for k, values in known.items()):
            raise ValueError("warm_start goes on from trees over other categories; fit anew, with warm_start=False")
        if kept == 0:
            return None
        held = getattr(self, "validation_risk_", None)
        return BoostResult(
            forest,
            self.train_risk_[:kept],
            None if held is None else held[:kept],
            self.gains_,
            self.risk_falls_,
        )

    def _read_interactions(self, n_columns: int) -> tuple[tuple[int, ...], ...] | None:
        if self.interactions is None:
            return None
        if isinstance(self.interactions, str) or not np.iterable(self.interactions):
            raise ValueError(f"interactions must be a list of lists of columns, got {self.interactions!r}")
        named = getattr(self, "feature_names_in_", None)
        sets = [column_places(each, "interactions", n_columns, named).tolist() for each in self.interactions]
        rest = sorted(set(range(n_columns)).difference(*sets))
        return tuple(map(tuple, [*sets, *([rest] if rest else [])]))

    def _rate(self, task: BoostTask, in_lists: bool) -> float:
        """Return the learning rate, chosen by the size of the data if nobody has set it."""
        if self.learning_rate != "auto":
            return float(self.learning_rate)
        if not (isinstance(self.learner, str) and self.learner == "tree"):
            return 1.0
        if self._pair_loss is None:
            return SMALL_RATE
        if in_lists:
            return list_rate(task.n_groups, self.n_estimators)
        return tree_rate(task.X.shape[0], self.n_estimators)

    def _store(self, task: BoostTask, result: BoostResult) -> None:
        pieces = result.pieces
        if isinstance(pieces, Learners):
            self.learners_, self.learner_weights_ = pieces.fitted, pieces.weight
        else:
            self.pieces_ = pieces.to_arrays()
        for name in ("gains_", "risk_falls_"):
            if hasattr(self, name):
                delattr(self, name)
        if result.gains is not None and result.falls is not None:
            self.gains_, self.risk_falls_ = result.gains, result.falls / task.risk.mass
        self.n_groups_ = task.n_groups
        self.n_estimators_ = result.n_rounds
        self.train_risk_ = result.train_risk / task.risk.mass
        if result.validation_risk is not None:
            self.validation_risk_ = result.validation_risk
        self.consistent_ = task.consistent
        self.constant_ = 0.0
        if self._pair_loss is not None:
            return
        thresholds = task.risk.thresholds(pieces.scores(task.X))
        if task.classes is None:
            self.constant_ = float(thresholds[0])
        else:
            self.thresholds_, self.classes_ = thresholds, task.classes

    def _pieces(self) -> Learners | Bumps | Forest:
        """Return what gives the scores."""
        if not isinstance(self.learner, str):
            return Learners(self.learners_, self.learner_weights_)
        return built(self, Bumps) if self.learner == "gaussian" else built(self, Forest)

    def _check_parameters(self) -> None:
        if isinstance(self.loss, str) or not hasattr(self.loss, "derivatives"):
            check_option(self.loss, "loss", (*_PAIR_LOSSES, *_ORDINAL_LOSSES, "squared"))
        elif not _bends(find_loss(self.loss)):
            raise ValueError(f"loss={self.loss!r} has no curvature at 0, where boosting starts; give one that has")
        check_option(self.balance, "balance", ("auto", "pairs", "groups"))
        check_option(self.stopping, "stopping", ("risk", "swaps"))
        if not isinstance(self.consistent, bool | np.bool_) and self.consistent != "auto":
            raise ValueError(f"consistent must be 'auto', True or False, got {self.consistent!r}")
        if isinstance(self.learner, str):
            check_option(self.learner, "learner", ("gaussian", "tree"))
        elif isinstance(self.learner, type) or not (hasattr(self.learner, "fit") and hasattr(self.learner, "predict")):
            raise ValueError(f"learner must be 'gaussian', 'tree' or a regressor, got {self.learner!r}")
        for name, check in _NUMBERS.items():
            if name not in _UNSET:
                check(getattr(self, name), name)
            elif getattr(self, name) != _UNSET[name]:
                check(getattr(self, name), name, instead=f"{_UNSET[name]!r} or ")
        if self.max_leaf_nodes != "auto" and self.max_leaf_nodes < 2:
            raise ValueError("max_leaf_nodes must be at least 2: a tree with one leaf orders nothing")
        for name in ("subsample", "max_features"):
            check_positive(getattr(self, name), name)
            if getattr(self, name) > 1:
                raise ValueError(f"{name} must be at most 1, got {getattr(self, name)!r}")
        unused = [name for name, usual in _OF_TREES.items() if getattr(self, name) != usual]
        if unused and not self._is_trees:
            raise ValueError(f"{unused[0]}= is for trees; leave it out, or take learner='tree'")
        if not self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {self.validation_fraction!r}")

    def _fitted_state(self) -> dict[str, Part]:
        ordinal = self.loss in _ORDINAL_LOSSES
        state = super()._fitted_state() if ordinal else Ranker._fitted_state(self)  # thresholds, or none
        if self.loss == "proportional_odds":
            state |= {"thresholds_": rising("r-1")}
        if isinstance(self.learner, str):
            state |= {"pieces_": pieces(Bumps if self.learner == "gaussian" else Forest)}
        else:
            state |= {"learners_": list_of(fitted("predict"), "m"), "learner_weights_": floats("m")}
        told = {"train_risk_": figures(ANY), "validation_risk_": absent_or(figures(ANY))}
        if self._is_trees:
            state |= self._tree_state() | {
                "gains_": absent_or(floats("d", low=0.0)),
                "risk_falls_": absent_or(figures("d")),
            }
        return state | {"constant_": number(), "n_estimators_": count(), "consistent_": truth()} | told

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags = self._tag_trees(tags)
        tags.target_tags.required = True
        if self.loss == "proportional_odds":
            tags.classifier_tags = ClassifierTags()  # asked for wherever there are probabilities
        return tags


def order_shapes(size: Size) -> Grid:
    """As many points as LightGBM's own objectives have.

    Lists count the same however long, as in most metrics of lists. Of one list the second loss is tried in place of
    more numbers of trees, if there are rows enough to make its sweeps worth it.
    """
    if size.largest_group < size.n_rows:
        return {**tree_shapes(size), "balance": ["groups"], "learning_rate": [SMALL_RATE]}
    if not FEW_ROWS < size.n_rows <= MANY_ROWS:
        return tree_shapes(size)
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300], "loss": ["pairs", "squared_hinge"]}


def order_shapes_at_top(size: Size, metric: str) -> Grid:
    """As many points, of pairs that weigh what their swap changes in the metric."""
    if size.two_weights:
        return order_shapes(size)
    shapes = tree_shapes(size)
    return {**shapes, "metric": [metric], "learning_rate": [0.05 if size.n_rows <= MANY_ROWS else 0.1]}


METHODS = {
    "order-boost": Method(
        "trees, boosted over every pair",
        lambda: OrderBoost(learner="tree"),
        order_shapes,
        grid_at_top=order_shapes_at_top,
        takes_two_weights=True,
        objection=no_trees,
        memory=for_trees,
        is_slow=True,
    ),
    "order-boost-bumps": Method(
        "bumps over single columns, boosted over every pair",
        lambda: OrderBoost(n_iter_no_change=20, stopping="swaps"),
        lambda size: {"learning_rate": [0.3, 1.0]},
        takes_two_weights=True,
        objection=too_many_columns,
        memory=for_columns,
        is_slow=True,
    ),
}
