"""SwapSVM: the multivariate SVM that minimises swapped pairs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..losses import Hinge
from ..memory import Held
from ..methods import Method, costs
from ..order import Balance
from ..solvers import cutting_plane, pose_problem
from ..state import Part, count, figure
from .base import (
    NOTHING_TOLD_APART,
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
from .kernel_model import KernelModel


class SwapSVM(KernelModel, Ranker):
    r"""Support vector machine for the number of swapped pairs, with one slack for the whole ordering.

    Minimises

    .. math:: \tfrac12 \|f\|^2 + C n \, \xi \quad\text{with}\quad
              \tfrac{1}{\sum W} \, w^\top [\Psi(\bar y) - \Psi(\bar y')] \ge \Delta(\bar y') - \xi
              \;\text{ for every labelling } \bar y' \text{ of the pairs}

    where :math:`\Delta(\bar y')` is the share of pairs that :math:`\bar y'` swaps, and
    :math:`\Psi(\bar y') = \sum_{(i,j)} W_{ij} \, y'_{ij} (x_i - x_j)`. At the optimum the slack is
    :math:`\xi = \tfrac{1}{\sum W} \sum W_{ij} (1 - 2 (f(x_i) - f(x_j)))_+`: the exponentially many constraints
    are one hinge risk over all pairs, so SwapSVM at C is ``RankSVM(loss="hinge")`` at 4 C, with half its weights
    and a quarter of its objective. A cost c of the plain sum over pairs is :math:`C = c \sum W / n` here.

    Cutting planes are never listed pair by pair: each costs one sort and a few sweeps, whatever the number of levels.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the slack against the regulariser.
    order : str, OrderGraph or array of shape (r, r), default="full"
        Which levels are compared and what a swap costs.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where f lives. All but "linear" hold a kernel matrix of n² entries.
    gamma : {"scale", "auto"} or float, default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
    n_components : int or "auto", default=None
        Replace the kernel by Nyström features over this many random rows.
    balance : {"pairs", "groups"}, default="pairs"
        Whether every pair counts the same, or every group however long its list.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    warm_start : bool, default=False
        Start from the last fit's coefficients.
    tol : float, default=1e-3
        The fit ends when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Most Newton steps and rounds of cutting planes.
    random_state : int, RandomState or None, default=None
        Seed for ``n_components``; nothing else is random.

    Attributes
    ----------
    coef_ : array of shape (d,)
        The weights of a linear model.
    dual_coef_, support_, support_vectors_ : arrays
        With a kernel: f = Σ dual_coef_ · k(support_vectors_, ·).
    objective_ : float
        The objective with the exact slack.
    gap_ : float
        The duality gap: the objective is at most so far from its minimum.
    n_constraints_ : int
        Cutting planes in the final working set.
    n_iter_ : int
    n_pairs_ : int
        How many pairs took part, exactly.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Joachims (2005), A support vector method for multivariate performance measures; here with any number of levels.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 3))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(60)
    >>> ranker = wo.SwapSVM(C=1.0, tol=1e-4).fit(X, y)
    >>> hinge = wo.RankSVM(C=4.0, loss="hinge").fit(X, y)
    >>> bool(abs(4 * ranker.objective_ / hinge.objective_ - 1) < 1e-3)
    True
    """

    _held: ClassVar[Held] = Held(45.0)

    takes_dask: ClassVar[bool] = True
    takes_two_weights: ClassVar[bool] = True
    objective_: float
    gap_: float
    n_constraints_: int
    n_iter_: int
    n_pairs_: int

    def __init__(
        self,
        C: float = 1.0,
        *,
        order: Any = "full",
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | str | None = None,
        balance: Balance = "pairs",
        levels: Any = None,
        warm_start: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.order = order
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.balance = balance
        self.levels = levels
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> SwapSVM:
        """Fit the ranker.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), data frame, or Dask array or data frame
            With ``kernel="precomputed"``, the kernel matrix of shape (n, n).
        y : array of shape (n,), Grades, Comparisons, or their sum
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice.
        """
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        order = read_order(
            y, groups, sample_weight, self.order, self.levels, self.balance, two_weights=self.takes_two_weights
        )
        pairs = order.to_pairs(X.shape[0], self.balance)
        refuse_no_pairs(order, pairs.n_pairs)
        refuse_lost_pairs(pairs)
        X = keep_groups_whole(X, pairs)
        start = self._start(*X.shape) if self.warm_start else None
        self._forget()
        problem = pose_problem(self._make_space(X, self.C, self.tol, rng), pairs, Hinge(steepness=2.0), self.C)
        result = cutting_plane(problem, start=start, tol=self.tol, max_iter=self.max_iter)
        warn_if_not_converged(result, self.max_iter, self.tol)
        self._store(result.coef, X)
        if result.converged and not result.coef.any():
            warn_of_one_score(NOTHING_TOLD_APART)
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_constraints_ = result.n_constraints
        self.n_iter_ = result.n_iter
        self.n_pairs_ = pairs.n_pairs
        self.n_groups_ = order.n_groups
        return self

    def _fitted_state(self) -> dict[str, Part]:
        told = {"objective_": figure(), "gap_": figure(), "n_iter_": count(), "n_pairs_": count()}
        return super()._fitted_state() | told | {"n_constraints_": count()}

    def _check_parameters(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        check_option(self.balance, "balance", ("pairs", "groups"))
        self._check_kernel()


METHODS = {
    "swap-svm": Method("linear, one slack for all swapped pairs", SwapSVM, costs, takes_two_weights=True),
}
