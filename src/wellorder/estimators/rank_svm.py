"""RankSVM: the large-margin ranker, exact over every pair."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..losses import LOSSES
from ..order import GradedPairs, Grades, ListedPairs, draw_pairs
from ..solvers import coarse_to_fine, make_problem
from ..spaces import LinearSpace
from ..sweeps import Array
from .base import Ranker
from .validation import as_grades, check_option, check_positive, check_whole, refuse_no_pairs, warn_if_not_converged


class RankSVM(Ranker):
    r"""Ranking support vector machine, trained on every pair of rows without listing one.

    Minimises

    .. math:: \tfrac12 \|w\|^2 + C \, \frac{n}{\sum W_{ij}} \sum_{(i,j)} W_{ij} \, \ell(w^\top x_i - w^\top x_j)

    over all pairs where row i should stand above row j: same group, higher grade. n counts the rows
    that are in a pair, so that C means the same for a hundred rows and for a million.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss against the regulariser.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        ``(1 − d)_+²``, in O(n log n) whatever the number of pairs; or ``log(1 + e^{−d})``, which has to
        visit every pair and refuses groups over 20,000 rows.
    order : str, OrderGraph or array of shape (r, r), default="full"
        Which levels are compared and what a swap costs: "full", "chain", "linear", "dcg", a graph over
        the levels, or a table ``weights[lower, higher]``.
    pairs_per_item : int, default=None
        Draw this many random partners for each row instead of using all pairs (5 is Herbrich's set-up).
    balance : {"pairs", "groups"}, default="pairs"
        Whether every pair counts the same, or every group however long its list.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    warm_start : bool, default=False
        Start from the last fit's ``coef_``.
    tol : float, default=1e-4
        Relative accuracy of the objective: the fit ends when about ``tol`` of its value is left to gain.
    max_iter : int, default=100
        Most Newton steps.
    random_state : int, RandomState or None, default=None
        Seed for ``pairs_per_item``; nothing else is random.

    Attributes
    ----------
    coef_ : array of shape (d,)
        The weights w; float32 where X is.
    objective_ : float
        The objective at ``coef_``.
    n_iter_ : int
        Newton steps taken over all rows.
    n_pairs_ : int
        How many pairs took part, exactly.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Grades with ``NaN`` are unjudged: such rows change nothing. With scikit-learn's model selection,
    turn metadata routing on (``sklearn.set_config(enable_metadata_routing=True)``): without it
    ``GridSearchCV`` passes no ``groups`` to ``fit``, silently, and rows of different queries are compared.

    References
    ----------
    Herbrich, Graepel, Obermayer (2000), Large margin rank boundaries for ordinal regression.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    >>> ranker = wo.RankSVM().fit(X, y=[0, 1, 1, 2])
    >>> ranker.score(X, [0, 1, 1, 2])
    1.0
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: Literal["squared_hinge", "logistic"] = "squared_hinge",
        order: Any = "full",
        pairs_per_item: int | None = None,
        balance: Literal["pairs", "groups"] = "pairs",
        levels: Any = None,
        warm_start: bool = False,
        tol: float = 1e-4,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.order = order
        self.pairs_per_item = pairs_per_item
        self.balance = balance
        self.levels = levels
        self.warm_start = warm_start
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> RankSVM:
        """Fit the ranker.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged. A ``Grades`` brings its own groups, order and weights.
        groups : array of shape (n,), optional
            One id a row, of any hashable type, rows in any order: only rows of one group are compared.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice.
        """
        self._check_parameters()
        start = getattr(self, "coef_", None) if self.warm_start else None
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32))
        grades = as_grades(y, groups, sample_weight, self.order, self.levels, X.shape[0])
        refuse_no_pairs(grades)
        pairs = self._choose_pairs(grades)
        if start is not None and start.shape != (X.shape[1],):
            start = None
        problem = make_problem(LinearSpace(X), pairs, LOSSES[self.loss], self.C)
        result = coarse_to_fine(
            problem,
            start=None if start is None else start.astype(float),
            tol=self.tol,
            max_iter=self.max_iter,
        )
        warn_if_not_converged(result, self.max_iter, self.tol)
        self.coef_ = result.coef.astype(X.dtype)
        self.objective_ = result.objective
        self.n_iter_ = result.n_iter
        self.n_pairs_ = pairs.n_pairs
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the score wᵀx of each row; a higher score stands above."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        return np.asarray(X @ self.coef_)

    def _choose_pairs(self, grades: Grades) -> GradedPairs | ListedPairs:
        pairs = grades.balanced(self.balance)
        pairs.refuse_lost_weights()
        if self.pairs_per_item is None:
            return pairs
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        return draw_pairs(pairs, self.pairs_per_item, np.random.default_rng(seed))

    def _check_parameters(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        check_option(self.loss, "loss", ("squared_hinge", "logistic"))
        check_option(self.balance, "balance", ("pairs", "groups"))
        if self.pairs_per_item is not None:
            check_whole(self.pairs_per_item, "pairs_per_item")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
