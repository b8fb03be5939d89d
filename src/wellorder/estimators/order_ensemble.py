"""OrderEnsemble: several rankers, their scores or rankings added up with weights that unseen rows have taught."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from ..aggregation import borda, read_ranker_weights
from ..deadline import deadline, mark_shortened, seconds_left, warn_of_time
from ..losses import LOSSES, PlaceRisk, best_threshold
from ..memory import Held
from ..methods import (
    FEWEST_ROWS,
    KERNEL_TOL,
    MOST_COLUMNS,
    ROW_ARRAYS,
    Method,
    Size,
    for_kernel,
    for_trees,
    no_features,
)
from ..metrics import Metric, comparison_error, parse
from ..order import Comparisons, Grades, Times, outcomes_told
from ..solvers import make_problem, signed_newton
from ..spaces import LinearSpace, Pairs, kernel_bytes, resolve_gamma
from ..state import (
    Part,
    absent_or,
    both,
    checked,
    dict_of,
    fitted,
    floats,
    list_of,
    none_or,
    number,
    refuse_twice,
    text,
)
from ..sweeps import Array, Floats, Ints
from .base import FLOATS, Ranker, check_option, check_positive, check_whole, refuse_no_pairs, validate_data
from .base_rankers import check_base, read_plain_grades, score_table
from .baselines import RidgeRanker
from .boosted_trees import BoostedTrees
from .compare_svm import CompareSVM
from .cox_ranker import CoxRanker
from .held_out import (
    UNIFORM_SPREAD,
    ComparedFolds,
    Folds,
    GradedFolds,
    Members,
    TooFewError,
    fit_member,
    fitted_scores,
    in_threads,
    out_of_fold_points,
)
from .monotone import check_rows_monotone, keeps_monotone, read_signs, refuse_monotone
from .order_boost import OrderBoost
from .rank_svm import MOST_KERNEL_ROWS, RankSVM, kernel_suits

# --------------------------------------------------------------------------------------------------
# The members of an ensemble: given, or the small library that is taken where none are.


_MANY_ROWS = 3_000
"""From here on kernels are fitted to folds through landmarks, and trees are many and learn slowly."""


def named(estimators: Any) -> dict[str, Any]:
    """Return the members by name; none where the list is not one, which :func:`check_members` will say."""
    try:
        return dict(estimators)
    except (TypeError, ValueError):
        return {}


def check_members(estimators: Any, reserved: set[str]) -> Members:
    """Return copies of the members that were given, and refuse what cannot be one."""
    is_list = isinstance(estimators, list | tuple) and len(estimators) > 0
    if not is_list or any(not isinstance(each, list | tuple) or len(each) != 2 for each in estimators):
        raise ValueError(f"estimators must be a list of (name, ranker) pairs, got {estimators!r}")
    names = [name for name, _ in estimators]
    for name in names:
        if not isinstance(name, str) or "__" in name or name in reserved:
            raise ValueError(f"{name!r} cannot name a member; use text without '__' that is no parameter's name")
    if len(set(names)) < len(names):
        raise ValueError(f"the names of the members are not all different: {names}")
    members = []
    for name, member in estimators:
        if member is None:
            raise TypeError(f"the member {name!r} is None; give a ranker, such as RankSVM()")
        try:
            members.append((name, check_base(member)))
        except (TypeError, ValueError) as error:
            raise type(error)(f"the member {name!r} of the ensemble: {error}") from None
    return members


def default_members(
    X: Any, order: Grades | Comparisons, seed: int, metric: str | None = None, *, small: bool = False
) -> Members:
    """Return a small library that suits the data; columns should be scaled alike.

    Linear, Gaussian kernels of three widths, trees, and least squares: of each the settings that are best most often,
    and the weights choose among them. Kernels of many rows go through landmarks (:func:`last_members`); many columns
    have linear members only. With a metric of places in a list, pairs weigh what the metric makes of them: as DCG's
    costs in linear and kernel members, and in trees by what their swap changes. Of many rows trees are many and grow
    slowly; in the ``small`` library they do not.
    """
    n, d = X.shape
    compared = isinstance(order, Comparisons)
    row_by_row = isinstance(order, Grades) and order.ends is None  # a grade says what to predict
    costs: dict[str, Any] = {} if metric is None else {"order": "dcg", "balance": "groups"}
    members: list[tuple[str, Any]] = [("rank-svm", RankSVM(**costs))]
    if compared:
        members += [("rank-svm-weak", RankSVM(C=0.01)), ("compare-svm", CompareSVM(loss="squared_hinge"))]
    elif row_by_row:
        members.append(("ridge-on-ranks", RidgeRanker(on="ranks")))
    if isinstance(order, Times):
        members.append(("cox", CoxRanker()))
    if d > MOST_COLUMNS:
        return members
    unit, is_large = resolve_gamma("scale", X), n > _MANY_ROWS
    through: dict[str, Any] = {"n_components": "auto", "tol": KERNEL_TOL} if is_large else {}
    for name, C, width in (
        ("rbf", 10.0 if is_large else 1.0, 1.0),
        ("rbf-wide", 10.0, 0.3),
        ("rbf-widest", 100.0, 0.1),
    ):
        members.append((name, RankSVM(C, kernel="rbf", gamma=width * unit, random_state=seed, **through, **costs)))
    if n < FEWEST_ROWS:
        return members
    shape: dict[str, Any] = {"learner": "tree", "random_state": seed}
    if metric is not None:
        shape["metric"] = metric
    members.append(("trees", OrderBoost(max_leaf_nodes=7, n_estimators=100, **shape)))
    slowly: dict[str, Any] = {"n_estimators": 600, "learning_rate": 0.05}
    is_large = is_large and n <= MOST_KERNEL_ROWS and not small  # as far as so many trees take no longer than kernels
    grown = slowly | {"loss": "squared_hinge"} if is_large and not compared else {"n_estimators": 200}
    members.append(("large-trees", OrderBoost(max_leaf_nodes=31, **grown, **shape)))
    if row_by_row:
        options = slowly if is_large else {"n_estimators": 100}
        members.append(("trees-on-ranks", BoostedTrees("ranks", max_leaf_nodes=31, random_state=seed, **options)))
        if is_large:
            members.append(("trees-on-grades", BoostedTrees(max_leaf_nodes=31, random_state=seed, **options)))
    return members


_TRIED = 15
"""Trees by which it is told what hundreds take."""

_WAYS = 2.6
"""Fits of a member that must be done, at least, for the large library to be worth its time: two folds, and one more."""


def library_in_time(folds: Folds, make: Callable[[bool], Members]) -> Members:
    """Return the default library, ``make(False)``; the small one, ``make(True)``, where time is short, with a warning.

    That there is no time for the large one is told by a few trees of each of its members that have hundreds.
    """
    large, small = make(False), make(True)
    left = seconds_left()
    if left == inf:
        return large
    needed = 0.0
    with warnings.catch_warnings(), deadline(lambda: inf, tells=False):
        warnings.simplefilter("ignore")
        for name, member in large:
            n_trees = getattr(member, "n_estimators", 0)
            if n_trees > getattr(dict(small).get(name), "n_estimators", 0):
                few, took = clone(member).set_params(n_estimators=_TRIED), inf
                for _ in range(2):  # the first may wait for a compiler
                    began = perf_counter()
                    fit_member(folds, name, few, None)
                    took = min(took, perf_counter() - began)
                needed += took * n_trees / _TRIED
    if _WAYS * needed <= left:
        return large
    mark_shortened()
    warn_of_time("before it began: its library is the small one, of fewer trees", stacklevel=4)
    return small


_WORTH = 0.1
"""The weight from which on a kernel is worth the time of an exact fit."""


def last_members(members: Members, weights: Floats, n_rows: int, n_jobs: int) -> Members:
    """Return the default library as it is fitted to everything: kernels that weigh are exact, up to 20,000 rows.

    That is one fit of each in the place of one a fold, and what landmarks say of held-out rows is near enough to weigh
    a kernel by. Where so many matrices at a time do not fit into memory, the landmarks stay.
    """
    if not kernel_suits(n_rows, beside=(n_jobs - 1) * kernel_bytes(n_rows, 4)):
        return members
    return [
        (name, clone(each).set_params(n_components=None) if isinstance(each, RankSVM) and weight >= _WORTH else each)
        for (name, each), weight in zip(members, weights, strict=True)
    ]


def monotone_members(members: Members, signs: Ints, *, only_those: bool) -> Members:
    """Tell members what to keep; those that cannot are left out with ``only_those``, else they are an error."""
    told = {k: int(sign) for k, sign in enumerate(signs.tolist()) if sign}
    out = []
    for name, member in members:
        if keeps_monotone(member):
            out.append((name, clone(member).set_params(monotone=told)))
        elif not only_those:
            raise refuse_monotone(f"the member {name!r}, {type(member).__name__}")
    return out


def read_member_weights(weights: Any, names: list[str]) -> Floats:
    """Read weights that were given, by name or in the order of the members; they add up to 1."""
    if isinstance(weights, Mapping):
        if set(weights) != set(names):
            raise ValueError(f"weights are for {sorted(map(str, weights))}; give one for each of {names}")
        weights = [weights[name] for name in names]
    values = read_ranker_weights(weights, len(names))
    return np.asarray(values / values.sum())


def input_tag(estimators: Any, name: str) -> bool:
    """Say whether all members take such rows: ``sparse``, ``allow_nan`` or ``categorical``."""
    if estimators is None:
        return name == "sparse"
    return all(bool(getattr(get_tags(member).input_tags, name)) for member in named(estimators).values())


# --------------------------------------------------------------------------------------------------
# Weights of the members by a metric of places in a list: pairs weigh what their swap changes in it.


_MOST_STEPS = 100
_SETTLED = 1e-4
"""Weights that move by less than this share of themselves stay."""


def weights_at_places(points: Floats, risk: PlaceRisk, C: float) -> Floats:
    r"""Return a ≥ 0 at which ½‖a‖² + C · R(S a) does not fall, if pairs keep the weights that they have there.

    Each step minimises a quadratic that lies above the risk with its weights held where it touches it (a pair risk's
    Hessian is at most twice its diagonal D): a least squares problem with H = I + 2 C SᵀDS over a ≥ 0. The weights of
    pairs then move with the scores: steps are halved as they go, so that they settle.
    """
    n_members = points.shape[1]
    a = np.full(n_members, 1.0 / n_members)
    mean = np.zeros(n_members)
    for n_steps in range(1, _MOST_STEPS + 1):
        at = risk(points @ a)
        H = 2.0 * C * (points.T * at.hessian_diagonal()) @ points
        H.flat[:: n_members + 1] += 1.0
        lower = cholesky(H, lower=True)
        best = nnls(lower.T, solve_triangular(lower, H @ a - (a + C * (points.T @ at.gradient)), lower=True))[0]
        moved = a + (best - a) / np.sqrt(n_steps)
        mean = mean + (moved - mean) * (2.0 / (n_steps + 1.0))
        if np.abs(moved - a).max() <= _SETTLED * max(float(moved.max()), 1e-12):
            return np.asarray(moved)
        a = moved
    return mean


# --------------------------------------------------------------------------------------------------
# The model.


class OrderEnsemble(Ranker):
    r"""Several rankers as one: f(x) = Σ_t α_t s_t(x), with weights α ≥ 0 learned from rows the rankers had not seen.

    Every member is fitted without a fold and scores that fold, for each fold in turn. With :math:`S` the table of
    these scores, one column a member, each in units of its standard deviation, the weights are

    .. math:: \min_{\alpha \ge 0} \; \tfrac12 \|\alpha\|^2
              + C \, \frac{n}{\sum W} \sum_{(i, j)} W_{ij} \, (1 - (S_i - S_j)^\top \alpha)_+^2

    over all pairs with i above j in one fold (their scores are then of one model). The problem is convex and solved
    exactly, without listing a pair; only the direction of α counts, and ``weights_`` adds up to 1. At last the members
    are fitted to everything, but for those without weight.

    Parameters
    ----------
    estimators : list of (name, ranker), default=None
        The members: rankers, or pipelines of them, that learn from what the ensemble is given. They see numbers as
        grades: text becomes the places 0, 1, … of the levels. Parameters nest, as in ``trees__max_leaf_nodes``.
        None: a library of some eight members that suits the data, if columns are scaled alike.
    combine : {"scores", "borda"}, default="scores"
        Add up scores, each in units of its standard deviation; or Borda counts: how many rows of its list a row is
        scored above. These depend on the list: pass ``groups`` wherever scores are asked for; without, all rows are
        one list.
    weights : {"learned", "equal"}, mapping or array, default="learned"
        How the weights are found, or the weights themselves, by name or in the order of the members.
    metric : str or Metric, default=None
        A metric of places in a list, as "ndcg@10", to go by instead of swapped pairs: a pair then weighs what its swap
        changes in the metric at the ensemble's scores, every list counts the same, and the members of the default
        library are of forms that suit it. For grades without weights.
    n_folds : int, default=5
        Most folds. With groups, whole groups are held out; comparisons of the same two items stay together.
    C : float, default=1.0
        Weight of the mean loss against ½‖α‖²; lower values even the weights out.
    n_jobs : int, default=None
        Fits at a time, in threads.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held. All members must
        be able to keep it; the default library is then of those that are.
    random_state : int, RandomState or None, default=None
        Seed for the folds of one list and of comparisons, and for the members of the default library.

    Attributes
    ----------
    weights_ : array of shape (members,)
        α, adding up to 1; 0 for members that give all rows the same score. Where no member is of use, all are equal.
    names_ : list of str
        The members' names, in the order of ``weights_``.
    rankers_ : dict
        From name to fitted ranker, of the members with weight.
    scales_ : dict
        What the scores of each of them are divided by.
    threshold_ : float
        Of comparisons only: scores that differ by no more are predicted to tie. It is the one with the fewest errors on
        held-out comparisons; 0 where none is a tie.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Costs ``n_folds`` + 1 fits of every member; the weights themselves O(n log n). Under a time limit, as in
    :func:`wellorder.compare`, weights are learned from as many folds as there is time for, and the members are fitted
    whole. Precomputed kernels are refused.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(200), [-1, 0, 1])
    >>> members = [("linear", wo.RankSVM()), ("column", wo.BestFeature())]
    >>> ensemble = wo.OrderEnsemble(members).fit(X, y)
    >>> bool((ensemble.weights_ >= 0).all()), round(float(ensemble.weights_.sum()), 12)
    (True, 1.0)
    >>> ensemble.set_params(linear__C=0.1).get_params()["linear__C"]
    0.1
    """

    _held: ClassVar[Held] = Held(25.0, 1.3)
    takes_two_weights: ClassVar[bool] = True

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}

    order = "full"  # of the pairs that ``score`` counts

    names_: list[str]
    weights_: Floats
    rankers_: dict[str, Any]
    scales_: dict[str, float]
    threshold_: float

    def __init__(
        self,
        estimators: Any = None,
        *,
        combine: str = "scores",
        weights: Any = "learned",
        metric: Any = None,
        n_folds: int = 5,
        C: float = 1.0,
        n_jobs: int | None = None,
        levels: Any = None,
        monotone: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.combine = combine
        self.weights = weights
        self.metric = metric
        self.n_folds = n_folds
        self.C = C
        self.n_jobs = n_jobs
        self.levels = levels
        self.monotone = monotone
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if ``deep``, the members by name and their parameters too."""
        params: dict[str, Any] = super().get_params(deep=False)
        if not deep:
            return params
        for name, member in named(self.estimators).items():
            params[name] = member
            if hasattr(member, "get_params") and not isinstance(member, type):
                params |= {f"{name}__{key}": value for key, value in member.get_params(deep=True).items()}
        return params

    def set_params(self, **params: Any) -> OrderEnsemble:
        """Set parameters: the ensemble's, whole members by name, and theirs as in ``name__parameter``."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        new = {name: params.pop(name) for name in named(self.estimators) if name in params}
        if new:
            self.estimators = [(name, new.get(name, member)) for name, member in self.estimators]
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> OrderEnsemble:
        """Learn the weights from held-out scores, then fit the members to everything.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame; or Pairs
        y : array of shape (n,), Grades, or Comparisons; outcomes −1, 0 and 1, if X holds pairs
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared, and each group is a list.
        sample_weight : array of shape (n,), optional
            Weights of the rows, handed on to the members, or of the pairs.
        """
        self._check_parameters()
        given = None if self.estimators is None else check_members(self.estimators, set(self.get_params(deep=False)))
        if isinstance(X, Pairs):
            X, y, sample_weight = X.items, Comparisons(X.left, X.right, y, sample_weight), None
        X = self._check_rows(X, reset=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        folds = self._make_folds(X, y, groups, sample_weight, rng)
        order = folds.grades if isinstance(folds, GradedFolds) else folds.comparisons
        metric = self._read_metric(order)
        called = None if metric is None else str(metric)
        members = given
        if members is None:
            seed = int(rng.integers(2**31 - 1))
            members = library_in_time(folds, lambda small: default_members(X, order, seed, called, small=small))
        signs = read_signs(self.monotone, X.shape[1], getattr(self, "feature_names_in_", None))
        if signs is not None:
            members = monotone_members(members, signs, only_those=given is None)
        self.n_groups_ = order.n_groups
        self.names_ = [name for name, _ in members]
        points = self._held_out_points(members, folds)
        self.weights_ = self._choose_weights(points, folds, metric)
        if given is None and isinstance(folds, GradedFolds):
            members = last_members(members, self.weights_, X.shape[0], effective_n_jobs(self.n_jobs))
        self._fit_members(members, folds)
        if signs is not None and not isinstance(X, list) and self.combine == "scores":
            check_rows_monotone(
                self._summed, X, signs, rounding=1e-12
            )  # as weights are not negative, and members keep it
        if isinstance(folds, ComparedFolds):
            self.threshold_ = self._choose_threshold(points, folds)
        elif hasattr(self, "threshold_"):
            del self.threshold_
        return self

    def decision_function(self, X: Any, groups: Any = None) -> Floats:
        """Return the ensemble's score of each row; a higher score stands above.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        groups : array of shape (n,), optional
            The list of each row; for Borda counts, and members whose scores depend on the list.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if self.combine == "scores":
            return self._summed(X, groups)
        own = np.array([self.weights_[self.names_.index(name)] for name in self.rankers_])
        return borda(score_table(list(self.rankers_.values()), X, groups), groups, own)

    def _summed(self, X: Any, groups: Any = None) -> Floats:
        """Add up the members' scores."""
        table = score_table(list(self.rankers_.values()), X, groups)
        own = np.array([self.weights_[self.names_.index(name)] / scale for name, scale in self.scales_.items()])
        if self.monotone is None:
            return np.asarray(table @ own)
        # one after the other in every row: a product of matrices may round rows of equal scores to different sums
        return np.asarray(np.cumsum(table * own, axis=1)[:, -1])

    def compare(self, X: Pairs) -> Floats:
        """Return the score of the right item less that of the left one, for each of some Pairs."""
        if not isinstance(X, Pairs):
            raise TypeError(f"compare takes wellorder.Pairs(items, left, right), got {type(X).__name__}")
        scores = self.decision_function(X.items)
        return np.asarray(scores[X.right] - scores[X.left])

    def predict(self, X: Any, groups: Any = None) -> Array:
        """Return the score of each row, as ``decision_function`` does; of Pairs their outcomes: −1, 0 or 1."""
        if not isinstance(X, Pairs):
            return self.decision_function(X, groups)
        return outcomes_told(self.compare(X), getattr(self, "threshold_", 0.0))

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return 1 − swapped pairs, a tied pair being an error; of Pairs, the share of outcomes predicted rightly."""
        if isinstance(X, Pairs):
            return 1.0 - comparison_error(y, self.predict(X), sample_weight)
        return super().score(X, y, groups, sample_weight)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if input_tag(self.estimators, "allow_nan") else True
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=reset, ensure_all_finite=finite)

    def _can_be_monotone(self) -> bool:
        return self.estimators is None or all(map(keeps_monotone, named(self.estimators).values()))

    def _make_folds(
        self, X: Any, y: Any, groups: Any, sample_weight: Any, rng: np.random.Generator
    ) -> GradedFolds | ComparedFolds:
        if isinstance(y, Comparisons):
            if groups is not None or sample_weight is not None:
                raise ValueError("groups or sample_weight beside Comparisons; give the weights to the Comparisons")
            refuse_no_pairs(y, y.to_pairs(X.shape[0]).n_pairs)
            return ComparedFolds(X, y, self.n_folds, rng)
        name = type(self).__name__
        grades = read_plain_grades(
            y, groups, sample_weight, self.levels, X.shape[0], name, two_weights=self.takes_two_weights
        )
        refuse_no_pairs(grades, grades.pairs.n_pairs)
        return GradedFolds(X, grades, self.n_folds, rng)

    def _held_out_points(self, members: Members, folds: GradedFolds | ComparedFolds) -> Floats | None:
        """Return the members' scores of what they have not seen, if anything is to be learned from them."""
        has_ties = isinstance(folds, ComparedFolds) and not folds.comparisons.outcome.all()
        learned = isinstance(self.weights, str) and self.weights == "learned" and len(members) > 1
        if not has_ties and not learned:
            return None
        try:
            return out_of_fold_points(members, folds, by_place=self.combine == "borda", n_jobs=self.n_jobs)
        except TooFewError as error:
            warnings.warn(f"nothing can be held out, and weights are not learned: {error}", stacklevel=4)
            return None

    def _read_metric(self, order: Grades | Comparisons) -> Metric | None:
        if self.metric is None:
            return None
        metric = parse(self.metric)
        if not isinstance(order, Grades) or order.ends is not None or order.weight is not None:
            raise ValueError(
                f"metric={str(metric)!r} looks at places in lists of graded rows without weights; leave it out"
            )
        metric.swap_terms(order)
        return metric

    def _choose_weights(
        self, points: Floats | None, folds: GradedFolds | ComparedFolds, metric: Metric | None
    ) -> Floats:
        n = len(self.names_)
        if not isinstance(self.weights, str):
            return read_member_weights(self.weights, self.names_)
        if self.weights == "equal" or points is None or n == 1:
            return np.full(n, 1.0 / n)
        pairs = folds.pairs()
        total = 0.0
        if metric is not None and isinstance(folds, GradedFolds):
            lists = folds.lists()
            risk = PlaceRisk("squared_hinge", lists, metric.swap_terms(lists))
            coef = weights_at_places(points, risk, self.C) if risk.n_lists else np.zeros(n)
            total = float(coef.sum())
        elif pairs.n_pairs:
            problem = make_problem(LinearSpace(points), pairs, LOSSES["squared_hinge"], self.C)
            coef = signed_newton(problem, np.ones(n, np.int64), tol=_WEIGHTS_TOL).coef
            total = float(coef.sum())
        if total > 0:
            shares = coef / total
            shares[shares < _LEAST_SHARE] = 0.0
            return np.asarray(shares / shares.sum())
        warnings.warn(
            "no member orders held-out rows better than chance, or there are too few of them; all get the same weight",
            stacklevel=4,
        )
        return np.full(n, 1.0 / n)

    def _fit_members(self, members: Members, folds: GradedFolds | ComparedFolds) -> None:
        """Fit the members with weight to everything; those that give all rows the same score lose theirs."""
        wanted = [each for each, weight in zip(members, self.weights_, strict=True) if weight > 0]
        fitted = in_threads([partial(fit_member, folds, name, member, None) for name, member in wanted], self.n_jobs)
        self.rankers_ = {name: model for (name, _), model in zip(wanted, fitted, strict=True)}
        spread = {name: folds.spread(fitted_scores(folds, name, model)) for name, model in self.rankers_.items()}
        if not any(spread.values()):
            warnings.warn("every member with weight gives all rows the same score: there is no order", stacklevel=4)
            spread = dict.fromkeys(spread, 1.0)
        for name, size in spread.items():
            if size == 0:
                self.weights_[self.names_.index(name)] = 0.0
                del self.rankers_[name]
        self.weights_ = self.weights_ / self.weights_.sum()
        self.scales_ = {name: spread[name] for name in self.rankers_}

    def _choose_threshold(self, points: Floats | None, folds: ComparedFolds) -> float:
        if points is None:
            return 0.0
        d = folds.differences(points @ self.weights_)
        if self.combine == "borda":
            d = d * UNIFORM_SPREAD * folds.sample.X.shape[0]  # from places between 0 and 1 to counts of items
        seen = folds.fold >= 0
        return best_threshold(d[seen], np.abs(folds.comparisons.outcome[seen]), folds.weight[seen])

    def _check_parameters(self) -> None:
        check_option(self.combine, "combine", ("scores", "borda"))
        if isinstance(self.weights, str):
            check_option(self.weights, "weights", ("learned", "equal"))
        check_whole(self.n_folds, "n_folds")
        if self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds!r}")
        check_positive(self.C, "C")

    def _fitted_state(self) -> dict[str, Part]:
        def check_members_of(scales: Any) -> None:
            if list(scales) != list(self.rankers_) or not set(scales) <= set(self.names_) or not scales:
                raise ValueError("the fitted members are not those that have a scale")

        weights = both(floats("m"), checked(lambda given: read_ranker_weights(given, len(given))))
        return super()._fitted_state() | {
            "estimators": none_or(checked(lambda given: check_members(given, set()))),
            "names_": both(list_of(text(), "m"), checked(refuse_twice)),
            "weights_": weights,
            "rankers_": dict_of(text(), fitted("decision_function", "predict"), "k"),
            "scales_": both(dict_of(text(), number(above=0.0), "k"), checked(check_members_of)),
            "threshold_": absent_or(number(low=0.0)),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = input_tag(self.estimators, "sparse")
        tags.input_tags.allow_nan = input_tag(self.estimators, "allow_nan")
        tags.input_tags.categorical = input_tag(self.estimators, "categorical")
        tags.target_tags.required = True
        return tags


_WEIGHTS_TOL = 1e-10
"""To how much of the risk's minimum weights are learned: they are few, and users read them."""

_LEAST_SHARE = 1e-9
"""A member with less of the weight has it from rounding; it would be fitted, stored and asked for nothing."""

_MOST_ENSEMBLE_ROWS = 200_000


def too_many_fits(size: Size) -> str | None:
    """Object to fitting very many rows many times over."""
    n, what = (size.n_rows, "rows") if size.supervision == "grades" else (size.n_pairs, "comparisons")
    if n > _MOST_ENSEMBLE_ROWS:
        return f"it fits some eight members six times over, and there are {n:,} {what}"
    return no_features(size)


def for_members(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an ensemble: the largest member's, and all members' models and scores."""
    most = MOST_KERNEL_ROWS if size.supervision == "grades" else _MANY_ROWS
    largest = for_kernel if size.n_rows <= most else for_trees
    return largest(size, matrix_bytes) + 8 * ROW_ARRAYS * size.n_rows


METHODS = {
    "order-ensemble": Method(
        "linear, kernels and trees, weighted by how they order held-out rows",
        OrderEnsemble,
        takes_two_weights=True,
        objection=too_many_fits,
        predicts_ties=True,
        memory=for_members,
        follows_places="metric",
    ),
}
