"""RankSVM: the large-margin ranker, exact over every pair."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..losses import Hinge, PairSet, find_loss
from ..memory import Held
from ..methods import (
    MOST_SEARCHED_KERNEL,
    Method,
    Size,
    at_top,
    costs,
    for_kernel,
    for_linear,
    kernel_costs,
    too_many_pairs,
)
from ..order import Balance, Comparisons, GradedPairs, SumOfPairs, draw_pairs
from ..solvers import pose_problem, signed_newton, solver_for
from ..spaces import is_dask, kernel_bytes, kernel_has_room, n_landmarks
from ..state import Part, count, figure
from ..sweeps import Ints, is_tensor
from .base import (
    NOTHING_TOLD_APART,
    Order,
    Ranker,
    check_option,
    check_positive,
    check_whole,
    keep_groups_whole,
    read_order,
    refuse_lost_pairs,
    refuse_no_pairs,
    warn_if_not_converged,
    warn_of_one_score,
)
from .monotone import check_linear_monotone, read_signs, refuse_monotone
from .on_device import DeviceModel, solve_on_device


class RankSVM(DeviceModel, Ranker):
    r"""Ranking support vector machine, trained on every pair of rows without listing one.

    Minimises

    .. math:: \tfrac12 \|f\|^2 + C \, \frac{n}{\sum W_{ij}} \sum_{(i,j)} W_{ij} \, \ell(f(x_i) - f(x_j))

    over all pairs where row i should stand above row j: same group, higher grade. n counts the rows
    that are in a pair, so that C means the same for a hundred rows and for a million. f is linear, or
    lives in a kernel's space.

    Papers and SVM-light give the cost c of the plain sum over pairs, which is :math:`C = c \sum W / n` here: c times
    the number of pairs by that of rows where every pair counts one.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser.
    loss : {"squared_hinge", "hinge", "logistic", "exponential", "smooth_hinge"} or object, default="squared_hinge"
        ``(1 − d)_+²``, in O(n log n) whatever the number of pairs; ``(1 − d)_+``, the same by cutting planes,
        with a true duality gap; ``log(1 + e^{−d})``, which has to visit every pair and refuses groups
        over 20,000 rows; ``e^{−d}``; or the hinge with its corner rounded off from d = ½ on. A convex loss of your own
        is any object with a method ``derivatives(d)`` that returns the loss, its slope and its curvature at an array of
        differences; it visits every pair, unless it is a :class:`wellorder.losses.PairLoss` with a way around.
    order : str, OrderGraph or array of shape (r, r), default="full"
        Which levels are compared and what a swap costs: "full", "chain", "linear", "dcg", a graph over
        the levels, or a table ``weights[lower, higher]``.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where f lives. A callable takes two arrays of rows and gives their kernel matrix. All but "linear"
        hold a kernel matrix of n² entries; the fit refuses, with advice, where that does not fit into memory.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf" and "poly"; "scale" is 1 / (d · variance of X).
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".
    n_components : int or "auto", default=None
        Replace the kernel by Nyström features over this many random rows: near-linear in the rows. "auto": 10 √n of
        them, at least 300, and fewer again beyond 20,000 rows.
    pairs_per_item : int, default=None
        Draw this many random partners for each row instead of using all pairs (5 is Herbrich's set-up).
    balance : {"pairs", "groups"}, default="pairs"
        Whether every pair counts the same, or every group however long its list.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    monotone : dict from columns to +1 or −1, or one for each column, default=None
        Where more is never worse (+1), or never better (−1), by name or place, all other columns held: weights of that
        sign, at the exact minimum under it. For the linear ranker, and losses without a corner.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    tol : float, default=1e-4
        Relative accuracy of the objective: the fit ends when about ``tol`` of its value is left to gain.
    max_iter : int, default=1000
        Most Newton steps, or rounds of cutting planes.
    random_state : int, RandomState or None, default=None
        Seed for ``pairs_per_item`` and ``n_components``; nothing else is random.
    device : str or torch.device, default=None
        Where to fit, such as ``"cuda"``: on a GPU through PyTorch (``pip install 'wellorder[gpu]'``). None is NumPy, on
        the processor; but a tensor in place of X is worked on where it lies. For the squared hinge over grades, linear
        or with a kernel by name: the answers are the same.

    Attributes
    ----------
    coef_ : array of shape (d,)
        The weights of a linear model (of the Nyström features, with ``n_components``); float32 where X is.
    dual_coef_, support_, support_vectors_ : arrays
        With a kernel: f = Σ dual_coef_ · k(support_vectors_, ·), and which rows these are.
    objective_ : float
        The objective at ``coef_``.
    n_iter_ : int
        Newton steps taken over all rows, or rounds of cutting planes.
    gap_ : float
        About how far the objective is from its minimum; for the hinge, the duality gap.
    n_pairs_ : int
        How many pairs took part, exactly.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Grades with ``NaN`` are unjudged: such rows change nothing. With scikit-learn's model selection,
    turn metadata routing on (``sklearn.set_config(enable_metadata_routing=True)``): without it
    ``GridSearchCV`` passes no ``groups`` to ``fit``, silently, and rows of different queries are compared.

    Pairs do not see where zero is, so columns that lie thousands of times their range away from it (dates in seconds,
    say) are moved there for the fit, which then holds a copy of X; ``coef_`` is the same. A kernel="poly" does see it,
    and warns.

    Ranking SVM for IR weighs pairs by their two grades, τ, and by their query, so that long lists have no more say than
    short ones: ``order=OrderGraph.from_edges(…)`` holds the τ, and ``balance="groups"`` divides each query's weights
    by their sum. For the original's division by the number m of a query's pairs, leave ``balance`` and give each row of
    the query the weight 1/√m.

    References
    ----------
    Herbrich, Graepel, Obermayer (2000), Large margin rank boundaries for ordinal regression.
    Cao, Xu, Liu, Li, Huang, Hon (2006), Adapting Ranking SVM to document retrieval.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> ranker = wo.RankSVM().fit(X, y=[0, 1, 1, 2])
    >>> ranker.score(X, [0, 1, 1, 2])
    1.0

    Comparisons work in place of grades, and add up with them:

    >>> ranker = wo.RankSVM(kernel="rbf").fit(X, wo.Comparisons(left=[0, 1], right=[1, 3], outcome=[1, 1]))
    >>> ranker.decision_function(X).argmax()
    np.int64(3)

    Pairs with the best grade count five times, and both queries the same (Ranking SVM for IR):

    >>> top_first = wo.OrderGraph.from_edges([0, 1, 2], [(0, 1), (0, 2, 5.0), (1, 2, 5.0)])
    >>> ranker = wo.RankSVM(order=top_first, balance="groups").fit(X, [0, 2, 0, 1], groups=["a", "a", "b", "b"])
    >>> ranker.n_pairs_
    2
    """

    _held: ClassVar[Held] = Held(25.0)

    takes_dask: ClassVar[bool] = True
    takes_two_weights: ClassVar[bool] = True
    objective_: float
    gap_: float
    n_iter_: int
    n_pairs_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        order: Any = "full",
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | str | None = None,
        pairs_per_item: int | None = None,
        balance: Balance = "pairs",
        levels: Any = None,
        monotone: Any = None,
        warm_start: bool = False,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
        device: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.order = order
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.pairs_per_item = pairs_per_item
        self.balance = balance
        self.levels = levels
        self.monotone = monotone
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> RankSVM:
        """Fit the ranker.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), data frame, Dask array or data frame, or torch tensor
            With ``kernel="precomputed"``, the kernel matrix of shape (n, n).
        y : array of shape (n,), Grades, Comparisons, or their sum
            Grades, higher is better; NaN: unjudged. An order brings its own groups and weights; the ties
            among comparisons say nothing about who stands above, and are left out.
        groups : array of shape (n,), optional
            One id a row, of any hashable type, rows in any order: only rows of one group are compared.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice.
        """
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        order = read_order(
            y, groups, sample_weight, self.order, self.levels, self.balance, two_weights=self.takes_two_weights
        )
        pairs = self._choose_pairs(order, X.shape[0], rng)
        signs = self._read_signs(X)
        X = self._to_device(keep_groups_whole(X, pairs), pairs)
        start = self._start(*X.shape) if self.warm_start else None
        self._forget()
        loss = find_loss(self.loss)
        problem = pose_problem(self._make_space(X, self.C, self.tol, rng), pairs, loss, self.C)
        solve = solve_on_device if is_tensor(X) else solver_for(loss)
        if signs is None:
            result = solve(problem, start=start, tol=self.tol, max_iter=self.max_iter)
        else:
            result = signed_newton(problem, signs, start=start, tol=self.tol, max_iter=self.max_iter)
        warn_if_not_converged(result, self.max_iter, self.tol)
        self._store(result.coef, X)
        if signs is not None:
            check_linear_monotone(self.coef_, X, signs)
        if result.converged and not result.coef.any():
            warn_of_one_score(NOTHING_TOLD_APART)
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_iter_ = result.n_iter
        self.n_pairs_ = pairs.n_pairs
        self.n_groups_ = order.n_groups
        return self

    def _can_be_monotone(self) -> bool:
        return self._is_plain_linear and not isinstance(find_loss(self.loss), Hinge) and self.device is None

    def _read_signs(self, X: Any) -> Ints | None:
        """Return the signs that weights must have; an error where they could not be kept exactly."""
        signs = read_signs(self.monotone, X.shape[1], getattr(self, "feature_names_in_", None))
        if signs is None:
            return None
        if not self._is_plain_linear:
            raise refuse_monotone("a kernel")
        if isinstance(find_loss(self.loss), Hinge):
            raise refuse_monotone("loss='hinge', which has a corner (squared_hinge and logistic have none)")
        if is_dask(X) or is_tensor(X) or self.device is not None:
            raise refuse_monotone("rows that lie elsewhere than in one array here")
        return signs

    def _choose_pairs(self, order: Order, n_rows: int, rng: np.random.Generator) -> PairSet:
        pairs: PairSet = order.to_pairs(n_rows, self.balance)
        refuse_no_pairs(order, pairs.n_pairs)
        if self.pairs_per_item is not None and isinstance(order, Comparisons):
            raise ValueError("pairs_per_item draws pairs from grades, and comparisons are pairs already; leave it None")
        refuse_lost_pairs(pairs)
        if self.pairs_per_item is None:
            return pairs
        parts = pairs.parts if isinstance(pairs, SumOfPairs) else (pairs,)
        drawn = tuple(
            draw_pairs(part, self.pairs_per_item, rng) if isinstance(part, GradedPairs) else part for part in parts
        )
        return SumOfPairs(drawn, n_rows) if isinstance(pairs, SumOfPairs) else drawn[0]

    def _fitted_state(self) -> dict[str, Part]:
        told = {"objective_": figure(), "gap_": figure(), "n_iter_": count(), "n_pairs_": count()}
        return super()._fitted_state() | told

    def _check_parameters(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        find_loss(self.loss)
        check_option(self.balance, "balance", ("pairs", "groups"))
        self._check_kernel()
        if self.pairs_per_item is not None:
            check_whole(self.pairs_per_item, "pairs_per_item")


MOST_KERNEL_ROWS = 20_000
"""Rows up to which the exact kernel is fitted unasked."""


def kernel_suits(n_rows: int, *, beside: int = 0) -> bool:
    """Say whether an exact kernel over so many rows is worth its time, and fits into memory."""
    return n_rows <= MOST_KERNEL_ROWS and kernel_has_room(n_rows, 4, beside=beside)


def too_many_rows(size: Size) -> str | None:
    """Object to a kernel matrix that is too large, or too slow to fit; or, over items compared, to search over."""
    if kernel_suits(size.n_rows) and (size.supervision == "grades" or size.n_rows <= MOST_SEARCHED_KERNEL):
        return None
    return (
        f"a kernel matrix over {size.n_rows:,} rows takes {kernel_bytes(size.n_rows, 4) / 1e9:,.1f} GB, and a fit too "
        "long; rank-svm-nystroem comes near it, or name the method to have it all the same"
    )


def few_rows(size: Size) -> str | None:
    """Object to landmarks where all rows are few."""
    return None if size.n_rows > 1_000 else "on so few rows rank-svm-rbf does the same exactly"


def for_landmarks(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a feature for each landmark row."""
    return for_linear(size, matrix_bytes) + 2 * 8 * size.n_rows * n_landmarks("auto", size.n_rows)


METHODS = {
    "rank-svm": Method(
        "linear, squared hinge over every pair", RankSVM, costs, grid_at_top=at_top(costs), takes_two_weights=True
    ),
    "rank-svm-rbf": Method(
        "Gaussian kernel, squared hinge over every pair",
        lambda: RankSVM(kernel="rbf"),
        kernel_costs,
        grid_at_top=lambda size, metric: {**kernel_costs(size), "order": ["dcg"], "balance": ["groups"]},
        takes_two_weights=True,
        objection=too_many_rows,
        memory=for_kernel,
        most_searched=MOST_SEARCHED_KERNEL,
    ),
    "rank-svm-nystroem": Method(
        "Gaussian kernel through 300 landmark rows or more",
        lambda: RankSVM(kernel="rbf", n_components="auto"),
        kernel_costs,
        takes_two_weights=True,
        objection=few_rows,
        memory=for_landmarks,
        is_slow=True,
        most_searched=MOST_SEARCHED_KERNEL,
    ),
    "rank-svm-logistic": Method(
        "linear, logistic loss over every pair",
        lambda: RankSVM(loss="logistic"),
        costs,
        takes_two_weights=True,
        objection=too_many_pairs,
    ),
}
