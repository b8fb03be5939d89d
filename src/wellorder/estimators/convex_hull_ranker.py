"""ConvexHullRanker: an order graph over levels, held up by one threshold an edge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..memory import Held
from ..methods import Method, too_many_levels
from ..solvers import RowProblem, SolveResult
from ..spaces import KernelSpace, LinearSpace, RowSpace, is_dask, near_zero, origin_score
from ..state import Part, count, figure, floats, labels
from ..sweeps import Array, Floats
from .base import Ranker, check_option, check_positive, check_whole, warn_if_not_converged, warn_of_one_score
from .hulls import (
    HullProgramme,
    HullSolution,
    HullTask,
    SlackLoss,
    Slacks,
    SmoothProblem,
    cost_of_nothing,
    kernel_columns,
    kernel_features,
    kernel_hulls,
    made_plain,
    neighbour_laplacian,
    read_hulls,
    solve_hulls,
    squared_slacks,
)
from .kernel_model import KernelModel

_NOTHING = 1e-7
"""Programmes are solved about so well: a function that gains no more than this over f = 0 is none."""


class ConvexHullRanker(KernelModel, Ranker):
    r"""Ranking by convex hulls of levels on an order graph: one threshold an edge, and never a pair of rows.

    Where level P stands above level Q, every point of P's convex hull should score at least one more than every
    point of Q's. That is one threshold :math:`t_{PQ}` for the edge: rows of P score at least t, rows of Q at most
    t − 1, each up to a slack. Minimises

    .. math:: \tfrac12 \|f\|^2 + \nu \sum_{(Q, P)} W_{QP} \Bigl[ \sum_{i \in P} \omega_i (t_{PQ} - f(x_i))_+^2
              + \sum_{i \in Q} \omega_i (f(x_i) - t_{PQ} + 1)_+^2 \Bigr]

    over f and t; or, with ``slacks="row"``, the problem (28) of Fung, Rosales and Krishnapuram, in which a row has one
    slack for all edges of its level. With squared slacks an edge the thresholds are minimised out and f is found by
    Newton's method, in time linear in the rows (and their sort); other problems are quadratic or linear programmes of
    n + d + edges variables.

    Parameters
    ----------
    nu : float, default=1.0
        Weight of the slacks, each counted once, against the regulariser.
    order : {"full", "chain", "linear", "dcg"}, OrderGraph or array of shape (r, r), default="full"
        Which levels stand above which. The chain has r − 1 edges where the full order has r (r − 1) / 2, and was the
        more accurate for Fung et al.; here it was nowhere told apart as better, and the worse the more levels there
        are. It is the cheaper one from some hundred levels on, and where slacks are a programme. Edge weights weigh
        slacks an edge; a slack a row belongs to no edge, so that ``slacks="row"`` takes unit weights only. ``Grades``
        with an order of their own go before "full".
    slacks : {"edge", "row"}, default="edge"
        One slack for each row and edge of its level, or one a row (that of Fung et al.). Slacks a row degenerate where
        levels overlap much: thresholds that cross then cost less than any ordering, f = 0 is the best for every
        ``nu``, and the fit warns.
    loss : {"squared", "absolute"}, default="squared"
        What a slack costs.
    penalty : {"l2", "l1", "laplacian"}, default="l2"
        The regulariser: ½‖f‖²; ‖w‖₁ (with a kernel ‖v‖₁, of its coefficients), which leaves columns out; or
        ½‖f‖² + ½ ``laplacian_weight`` · Σ a_ij (f(x_i) − f(x_j))² over neighbouring rows, with a grade or without.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where f lives. All but "linear" hold a kernel matrix of n² entries.
    gamma : {"scale", "auto"} or float, default="scale"
    degree : float, default=3
    coef0 : float, default=0.0
    n_components : int or "auto", default=None
        Replace the kernel by Nyström features over this many random rows, with a grade or without.
    norm : {"function", "coefficients"}, default="function"
        With a kernel, what ‖f‖² stands for: vᵀKv, the function's own (RKHS) norm, or vᵀv, that of the coefficients in
        f = Σ v_i k(x_i, ·), the other choice of Fung et al. (with row weights Σ v_i²/ω_i, so that weights repeat
        rows).
    n_neighbors : int, default=10
        With ``penalty="laplacian"``: neighbours of each row, by scikit-learn's ``kneighbors_graph``; Euclidean, or by
        the kernel's own distance where it is neither linear nor Gaussian.
    laplacian_weight : float, default=1.0
        With ``penalty="laplacian"``: weight of the roughness. A row's neighbours add up to a mean, so it means the
        same for any ``n_neighbors``.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    tol : float, default=1e-4
        The fit ends when the objective is about ``tol`` times its value above the minimum; programmes are solved
        further.
    max_iter : int, default=1000
        Most Newton or interior-point steps.
    random_state : int, RandomState or None, default=None
        Seed for ``n_components``; nothing else is random.

    Attributes
    ----------
    margins_ : array of shape (n_edges,)
        The threshold of each edge; the middle, where a range of them is as good.
    edges_ : array of shape (n_edges, 2)
        (lower, higher) level of each edge, in the user's own labels.
    coef_ : array of shape (d,)
        The weights of a linear model.
    dual_coef_, support_, support_vectors_ : arrays
        With a kernel: f = Σ dual_coef_ · k(support_vectors_, ·).
    objective_ : float
    gap_ : float
        About how far the objective is from its minimum.
    n_iter_ : int
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Fung, Rosales, Krishnapuram (2006), Learning rankings via convex hull separation.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(300), [-0.5, 0.5])
    >>> ranker = wo.ConvexHullRanker().fit(X, y)
    >>> ranker.score(X, y) > 0.95
    True
    >>> ranker.edges_.tolist(), bool(ranker.margins_[0] < ranker.margins_[2])
    ([[0, 1], [0, 2], [1, 2]], True)
    """

    _held: ClassVar[Held] = Held(28.0)

    takes_dask: ClassVar[bool] = True
    margins_: Floats
    edges_: Array
    objective_: float
    gap_: float
    n_iter_: int

    def __init__(
        self,
        nu: float = 1.0,
        *,
        order: Any = "full",
        slacks: Slacks = "edge",
        loss: SlackLoss = "squared",
        penalty: Literal["l2", "l1", "laplacian"] = "l2",
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        n_components: int | str | None = None,
        norm: Literal["function", "coefficients"] = "function",
        n_neighbors: int = 10,
        laplacian_weight: float = 1.0,
        levels: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.nu = nu
        self.order = order
        self.slacks = slacks
        self.loss = loss
        self.penalty = penalty
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.norm = norm
        self.n_neighbors = n_neighbors
        self.laplacian_weight = laplacian_weight
        self.levels = levels
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> ConvexHullRanker:
        """Fit function and thresholds.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), data frame, or Dask array or data frame
            With ``kernel="precomputed"``, the kernel matrix of shape (n, n).
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged. Unjudged rows count with ``penalty="laplacian"`` only.
        groups : array of shape (n,), optional
            Accepted so that one ``groups`` can feed a splitter, fit and score; it changes nothing here, as in SVOR. A
            threshold is a place on the scale of scores and all groups share it: a grade must mean the same in each
            of them. Where it does not, RankSVM compares within groups.
        sample_weight : array of shape (n,), optional
            Row weights of the slacks; 2 is the same as listing the row twice. A row of weight zero is as if absent;
            otherwise weights do not count among neighbours.
        """
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        task = read_hulls(y, groups, sample_weight, self.order, self.levels, X.shape[0])
        if self.slacks == "row" and task.weights_edges:
            raise ValueError(
                "slacks='row' has no slack an edge for weights to weigh; give unit weights, or slacks='edge'"
            )
        self._forget()
        smooth = self.slacks == "edge" and self.loss == "squared" and self.penalty != "l1"
        if is_dask(X) and (not smooth or self.penalty != "l2"):
            raise ValueError(
                "over a Dask array only squared slacks an edge can be fitted: set slacks='edge', loss='squared' and "
                "penalty='l2'"
            )
        exact = not smooth or self.norm == "coefficients"  # a factor, or an ill-conditioned product: no float32
        space = self._make_space(X, np.inf if exact else self.nu, self.tol, rng)
        laplacian = self._laplacian(X, space, task)
        result, self.margins_ = (self._newton if smooth else self._programme)(X, space, task, laplacian)
        warn_if_not_converged(result, self.max_iter, self.tol, strength="nu")
        self._store(result.coef, X)
        self.edges_ = task.edge_labels
        self.n_groups_ = task.n_groups
        self.objective_ = result.objective
        self.gap_ = result.gap
        self.n_iter_ = result.n_iter
        return self

    def _laplacian(self, X: Any, space: RowSpace | KernelSpace, task: HullTask) -> sp.csr_array | None:
        """Return the Laplacian of the neighbours' graph, times its weight."""
        if self.penalty != "laplacian":
            return None
        rows, k = task.weighed, self.n_neighbors
        if self.kernel in ("linear", "rbf"):
            near = neighbour_laplacian(near_zero(X)[0], rows, k)
        elif isinstance(space, RowSpace):
            near = neighbour_laplacian(space.columns(), rows, k)
        else:
            near = neighbour_laplacian(space.lines(np.arange(space.n_rows)), rows, k, is_kernel=True)
        return sp.csr_array(self.laplacian_weight * near)

    def _newton(
        self, X: Any, space: RowSpace | KernelSpace, task: HullTask, laplacian: sp.csr_array | None
    ) -> tuple[SolveResult, Floats]:
        """Minimise the smooth problem."""
        back = None
        if isinstance(space, KernelSpace) and self.norm == "coefficients":
            Z, back = self._coefficients(space, task)
            space = LinearSpace(Z)
        problem = RowProblem(space, task.rows, task.slacks, self.nu)
        if laplacian is not None:
            problem = SmoothProblem(space, task.rows, task.slacks, self.nu, laplacian)
        result = squared_slacks(problem, tol=self.tol, max_iter=self.max_iter)
        if not result.coef.any():
            warn_of_one_score(
                "no column of X tells the levels apart, or nu times the row weights is so small that rounding hides it",
                stacklevel=5,
            )
        thresholds = task.slacks.at(space.scores(result.coef), task.rows)[1] + origin_score(space, result.coef)
        return (result if back is None else replace(result, coef=back @ result.coef)), thresholds

    def _coefficients(self, space: KernelSpace, task: HullTask) -> tuple[Floats, sp.csr_array]:
        """Return features whose weights are the coefficients of the rows that take part, and the way back."""
        rows = task.weighed if self.penalty == "laplacian" else np.flatnonzero(task.rows.level >= 0)
        weight = np.ones(space.n_rows) if self.penalty == "l1" else task.rows.weight  # ‖v‖₁ of a row twice is the same
        return kernel_columns(space.lines(np.arange(space.n_rows)), rows, weight)

    def _programme(
        self, X: Any, space: RowSpace | KernelSpace, task: HullTask, laplacian: sp.csr_array | None
    ) -> tuple[SolveResult, Floats]:
        """Solve the quadratic or linear programme over features whose plain norm is the function's."""
        back: Any = None
        found: HullSolution | None = None
        if isinstance(space, KernelSpace):
            by_function = self.norm == "function" and self.penalty != "l1"
            Z = lines = space.lines(np.arange(space.n_rows))
            if by_function and laplacian is None:
                parts = task.rows, task.slacks, self.nu, self.slacks, self.loss
                found = kernel_hulls(lines, *parts, tol=self.tol, max_iter=self.max_iter)
            if found is None:
                Z, back = kernel_features(lines) if by_function else self._coefficients(space, task)
        else:
            Z = space.matrix if isinstance(space, LinearSpace) else space.columns()
        programme = HullProgramme(
            Z,
            task.rows,
            task.slacks,
            self.nu,
            self.slacks,
            self.loss,
            self.penalty == "l1",
            None if laplacian is None else np.asarray(_dense(Z.T @ (laplacian @ Z)), dtype=float),
        )
        if found is None:
            found = solve_hulls(programme, tol=self.tol, max_iter=self.max_iter)
        coef = found.coef if back is None else back @ found.coef
        if _is_nothing(programme, found.objective):
            coef = np.zeros_like(coef)
            if isinstance(space, KernelSpace) and back is None:
                programme = replace(programme, Z=kernel_features(lines)[0])  # fewer columns that span the same
            self._warn_of_nothing(programme)
        thresholds = found.thresholds + origin_score(space, coef)
        return SolveResult(coef, found.objective, found.gap, found.n_iter, 0, found.converged), thresholds

    def _warn_of_nothing(self, programme: HullProgramme) -> None:
        """Say why the best function is zero: for every nu, or for this one."""
        plain = made_plain(programme)
        hopeless = self.slacks == "row" and _is_nothing(
            plain, solve_hulls(plain, tol=self.tol, max_iter=self.max_iter).objective
        )
        rows = programme.Z[programme.rows.level >= 0]
        if not np.any(_dense(rows.max(axis=0)) > _dense(rows.min(axis=0))):
            advice = "no column of X tells the levels apart"
        elif hopeless:
            advice = (
                "with one slack a row, levels that overlap much make thresholds that cross cheaper than any ordering, "
                "whatever nu is; use slacks='edge'"
            )
        else:
            advice = (
                "raise nu, or use slacks='edge', loss='squared' and penalty='l2', which find what tells levels apart"
            )
        warn_of_one_score(advice, stacklevel=6)

    def _check_parameters(self) -> None:
        check_positive(self.nu, "nu")
        check_positive(self.tol, "tol")
        check_positive(self.laplacian_weight, "laplacian_weight")
        check_whole(self.max_iter, "max_iter")
        check_whole(self.n_neighbors, "n_neighbors")
        check_option(self.slacks, "slacks", ("edge", "row"))
        check_option(self.loss, "loss", ("squared", "absolute"))
        check_option(self.penalty, "penalty", ("l2", "l1", "laplacian"))
        check_option(self.norm, "norm", ("function", "coefficients"))
        self._check_kernel()
        if self.norm == "coefficients" and (self._is_plain_linear or self.n_components is not None):
            raise ValueError("norm='coefficients' is of a kernel's coefficients; give a kernel, without n_components")

    def _fitted_state(self) -> dict[str, Part]:
        told = {"objective_": figure(), "gap_": figure(), "n_iter_": count()}
        return super()._fitted_state() | {"edges_": labels("e", 2), "margins_": floats("e")} | told


def _is_nothing(programme: HullProgramme, objective: float) -> bool:
    """Say whether a solution gains nothing over f = 0."""
    return objective >= (1.0 - _NOTHING) * cost_of_nothing(programme)


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sp.issparse(matrix) else matrix


METHODS = {
    "convex-hull-ranker": Method(
        "linear, a threshold between every two levels",
        ConvexHullRanker,
        lambda size: {"nu": [0.01, 0.1, 1.0, 10.0]},
        takes=("grades",),
        objection=too_many_levels,
    ),
}
