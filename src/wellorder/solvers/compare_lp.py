"""The maximum-margin linear programme (7) over comparisons with ties, by HiGHS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from ..losses import TiedPairs
from ..sweeps import Floats, near_one

_INFEASIBLE = 2

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
    found = linprog(np.concatenate(cost), A_ub=sp.csc_array(sp.hstack(A)), b_ub=b, bounds=bounds, method="highs")
    if found.status == _INFEASIBLE:
        return MarginSolution(None, 0.0, int(found.nit))
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
