"""CompareLP: whether comparisons can be separated at all, and with which margin."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.utils.validation import check_is_fitted

from ..deadline import TimeIsUp, seconds_left, time_is_up
from ..losses import TiedPairs
from ..memory import Held
from ..spaces import refuse_if_too_large, resolve_gamma
from ..state import Part, count, figure, truth
from ..sweeps import Floats, near_one
from .base import check_positive
from .compare_model import CompareModel, refuse_only_ties
from .kernel_model import KernelModel

# --------------------------------------------------------------------------------------------------
# The maximum-margin linear programme, by HiGHS.


_INFEASIBLE = 2

_LEAST_SECONDS = 1e-3
"""HiGHS takes no time limit of zero."""

_MOST = 1e8
"""The largest cost that HiGHS is given: beside it, that of the margin is about its tolerance."""


class MarginSolution(NamedTuple):
    """The direction w (None where no direction is feasible), and the objective's value."""

    coef: Floats | None
    value: float
    n_iter: int


def max_margin(D: Any, pairs: TiedPairs, C: float | None, alpha: float = 0.0) -> MarginSolution:
    r"""Maximise the margin μ, less C times the slacks and α times the 1-norm, over linear scores of differences D.

    .. math:: \max_{w, 0 \le \mu \le 1, \xi \ge 0} \mu - C \sum \omega \xi - \alpha \|w\|_1 \quad\text{with}\quad
              \mu \le 1 - |w^\top D_i| + \xi_i \text{ (ties)}, \quad \mu \le -1 + w^\top D_i + \xi_i \text{ (decided)}

    Without C there are no slacks; costs of any size are brought into HiGHS's range (:func:`_prices`). A tie bounds μ by
    1 in any case. Without a single tie nothing bounds w: then μ ≤ wᵀD
    with abs(w) ≤ 1 for columns scaled to 1, which has a solution always; or, with slacks, 1 ≤ wᵀD + ξ.
    """
    n, n_decided, d = len(pairs), pairs.n_decided, D.shape[1]
    size = np.asarray(abs(D).max(axis=0).toarray() if sp.issparse(D) else np.abs(D).max(axis=0), dtype=float).ravel()
    size = np.where(size > 0, size, 1.0)  # columns of one size: HiGHS's tolerances are absolute
    columns = sp.csr_array(D).astype(float) @ sp.diags_array(1.0 / size)
    decided, ties = columns[:n_decided], columns[n_decided:]
    has_ties = pairs.n_ties > 0
    offset = -1.0 if has_ties else 0.0
    # rows of A (w, μ, ξ) ≤ b: decided, ties forwards, ties backwards
    differences = sp.vstack([-decided, ties, -ties])
    A = [differences, sp.csr_array(np.ones((n + pairs.n_ties, 1)))]
    b = np.concatenate([np.full(n_decided, offset), np.ones(2 * pairs.n_ties)])
    cost = [np.zeros(d), np.array([-1.0])]
    reach = 1.0 if not has_ties and C is None else None
    margin = (0.0, 1.0) if has_ties else (1.0, 1.0) if C is not None else (0.0, None)
    bounds = [(None if reach is None else -reach, reach)] * d + [margin]
    prices, alpha_price = (None, alpha) if C is None else _prices(pairs.weight, C, alpha)
    if alpha > 0:  # w in two parts that are not negative, the second one subtracted
        A.append(-differences)
        cost[0] = np.minimum(alpha_price / size, _MOST)
        cost.append(cost[0])
        bounds = [(0.0, reach)] * d + bounds[d:] + [(0.0, reach)] * d
    if prices is not None:
        own = sp.eye_array(n, format="csr")
        A.append(-sp.vstack([own, own[n_decided:]]))
        cost.append(prices)
        bounds += [(0.0, None)] * n
    limit = {} if seconds_left() == np.inf else {"time_limit": max(seconds_left(), _LEAST_SECONDS)}
    found = linprog(
        np.concatenate(cost), A_ub=sp.csc_array(sp.hstack(A)), b_ub=b, bounds=bounds, method="highs", options=limit
    )
    if found.status == _INFEASIBLE:
        return MarginSolution(None, 0.0, int(found.nit))
    if found.x is None and time_is_up():
        raise TimeIsUp(f"the linear programme was stopped by its time limit after {int(found.nit)} steps")
    if found.x is None:
        raise RuntimeError(f"the linear programme was not solved: {found.message}")
    w = (found.x[:d] - found.x[d + 1 : 2 * d + 1] if alpha > 0 else found.x[:d]) / size
    value = float(found.x[d]) - alpha * float(np.abs(w).sum())
    if C is not None:
        with np.errstate(over="ignore", under="ignore"):
            value -= float(np.sum(C * pairs.weight * found.x[-n:]))
    return MarginSolution(w, value, int(found.nit))


def _prices(weight: Floats, C: float, alpha: float) -> tuple[Floats, float]:
    """Return costs of the slacks, and of the 1-norm, that have the same solution as C · weight and α, in HiGHS's range.

    Its tolerances are absolute: costs far below the margin's, which is 1, would be nothing to it, and far larger ones
    leave it without a solution. Where all slacks together cost less than the margin, the best margin is 1 whatever w
    is (one more of it costs one more of each slack at most), so that only the costs' ratios count. Costs beyond
    ``_MOST`` leave to the margin less than what HiGHS takes for nothing.
    """
    share, exponent = near_one(weight)
    with np.errstate(over="ignore", under="ignore"):
        unit = float(np.ldexp(C, exponent))
    price = min(unit, _MOST)
    if unit * float(share.sum()) < 0.5:
        price = 0.5 / float(share.sum())
    return price * share, min(alpha * (price / unit), _MOST) if unit > 0 else _MOST


# --------------------------------------------------------------------------------------------------
# The model.


_TOLERANCE = 1e-7
"""HiGHS's own, on each constraint: a smaller margin is none."""


class CompareLP(KernelModel, CompareModel):
    r"""Maximum-margin comparison by linear programming, with separability as an answer.

    Solves

    .. math:: \max_{w, \mu} \mu \quad\text{with}\quad \mu \le 1 - |w^\top(x' - x)| \text{ for ties}, \quad
              \mu \le -1 + y\, w^\top(x' - x) \text{ for others}

    The comparisons are linearly separable if and only if the best μ is above zero. If not, there is no direction:
    ``separable_`` is False, and predictions raise an error. With C there are slacks, at a cost of C each (times the
    comparison's weight), and always a direction; and α times the 1-norm of the coefficients may be subtracted, which a
    kernel needs: with nothing to hold it back, it separates everything.

    Parameters
    ----------
    C : float or None, default=None
        Cost of slack; None allows none.
    alpha : float, default=0.0
        Cost of the 1-norm of ``coef_``, or of ``dual_coef_``, which it makes sparse; above 0 with a kernel.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where the scores live: r(x) = Σ a_i k(x_i, x) over the items. For hundreds of comparisons.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf" and "poly".
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly".

    Attributes
    ----------
    separable_ : bool
        Whether some linear scores put all decided differences above 1 and all ties below it.
    margin_ : float
        The smallest distance of a difference from the threshold on its right side, in units of the threshold: μ where
        the comparisons are separable; inf without a single tie, where any scale is possible; 0 if they are not
        separable (with slack: by these scores).
    coef_ : array of shape (d,)
        The direction w, scaled so that the threshold is 1; not set where there is none.
    dual_coef_, support_, support_vectors_ : arrays
        With a kernel: r = Σ dual_coef_ · k(support_vectors_, ·), and which items these are.
    threshold_ : float
        Differences up to it are ties: 1, or 0 where there was no tie to learn from.
    objective_ : float
        μ − C Σ ω ξ − α ‖a‖₁.
    n_iter_ : int
        Steps of the simplex method.
    n_features_in_, feature_names_in_
        As in scikit-learn, of the items.

    References
    ----------
    Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines, equation (7).

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> wines = np.array([[0.0], [1.0], [5.0], [9.0]])
    >>> model = wo.CompareLP().fit(wines, wo.Comparisons([0, 1, 3, 0], [1, 2, 2, 3], [0, 1, -1, 1]))
    >>> model.separable_, round(model.margin_, 3)
    (True, 0.6)
    >>> wo.CompareLP().fit(wines, wo.Comparisons([0, 0], [1, 2], [1, 0])).separable_
    False
    """

    _held: ClassVar[Held] = Held(250.0, 38.0)

    n_components = None

    separable_: bool
    margin_: float
    objective_: float
    n_iter_: int

    def __init__(
        self,
        C: float | None = None,
        *,
        alpha: float = 0.0,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
    ) -> None:
        self.C = C
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompareLP:
        """Find the direction of the largest margin.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d); items of shape (n_items, d) where y holds Comparisons
        y : array of shape (n,) with outcomes −1, 0 and 1, or Comparisons
        sample_weight : array of shape (n,), optional
            Weights of the comparisons' slacks; without C only whether they are zero matters.
        """
        self._check_parameters()
        self._forget()
        items, pairs = self._read_comparisons(X, y, sample_weight)
        refuse_only_ties(pairs)
        columns = self._columns(items)
        D = columns[pairs.high] - columns[pairs.low]
        found = max_margin(D, pairs, self.C, float(self.alpha))
        margin = 0.0 if found.coef is None else _margin(np.asarray(D @ found.coef, dtype=float), pairs)
        self.separable_ = bool(margin > _TOLERANCE)
        self.margin_ = float(margin) if self.separable_ else 0.0
        self.threshold_ = 1.0 if pairs.n_ties else 0.0
        self.objective_, self.n_iter_ = found.value, found.n_iter
        if found.coef is not None and (self.separable_ or self.C is not None):
            self._store(found.coef, items)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each item; a higher score stands above."""
        check_is_fitted(self, "separable_")
        if not self._has_direction:
            raise ValueError(
                "the comparisons are not linearly separable (separable_ is False), so that there is no direction to "
                "score by; give CompareLP a cost of slack (C=1.0), or use CompareSVM, with a kernel if need be"
            )
        return super().decision_function(X)

    @property
    def _has_direction(self) -> bool:
        return hasattr(self, "coef_") or hasattr(self, "dual_coef_")

    def _columns(self, X: Any) -> Any:
        """Return what the scores are linear in: the items' columns, or their kernel with all items."""
        if self._is_plain_linear:
            return X
        if self.kernel == "precomputed":
            self.gamma_ = 1.0
            return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        self.gamma_ = resolve_gamma(self.gamma, X)
        refuse_if_too_large(X.shape[0], 8)
        return self._kernel().matrix(X, X, dtype=np.float64)

    def _check_parameters(self) -> None:
        self._check_kernel()
        if self.C is not None:
            check_positive(self.C, "C")
        if self.alpha != 0:
            check_positive(self.alpha, "alpha")
        if (self.alpha != 0 and self.C is None) or (not self._is_plain_linear and not (self.alpha and self.C)):
            raise ValueError(
                f"CompareLP(C={self.C!r}, alpha={self.alpha!r}, kernel={self.kernel!r}): the 1-norm is weighed against "
                "slack, and a kernel needs both; set C=1.0 and alpha=0.01, say"
            )

    def _fitted_state(self) -> dict[str, Part]:
        found = {"separable_": truth(), "margin_": figure(), "objective_": figure(), "n_iter_": count()}
        if getattr(self, "separable_", True) or self.C is not None or self._has_direction:
            return super()._fitted_state() | found
        return CompareModel._fitted_state(self) | found  # there is no direction


def _margin(d: Floats, pairs: TiedPairs) -> float:
    """Return the smallest distance of a difference from the threshold, negative on the wrong side of it."""
    decided, ties = d[: pairs.n_decided], np.abs(d[pairs.n_decided :])
    if pairs.n_ties == 0:
        return float("inf") if decided.min() > _TOLERANCE else 0.0
    return float(min((decided - 1.0).min(), (1.0 - ties).min()))
