"""CoxRanker: proportional hazards, what medicine does with censored times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..losses import RiskAt, RiskSets, TiedEvents, cox_risk, make_risk_sets
from ..memory import Held
from ..methods import Grid, Method, Size
from ..order import Grades, Times
from ..solvers import Objective, coarse_to_fine
from ..spaces import RowSpace, Space, linear_space
from ..state import Part, count, figure
from ..sweeps import Floats
from .base import (
    NOTHING_TOLD_APART,
    as_order,
    check_option,
    check_positive,
    check_whole,
    refuse_no_pairs,
    validate_data,
    warn_if_not_converged,
    warn_of_one_score,
)
from .baselines import LinearRanker


@dataclass(frozen=True)
class CoxProblem(Objective):
    """Minimise ½‖f‖² − strength · log L(s), with L the partial likelihood of times."""

    space: Space
    times: Grades
    ties: TiedEvents
    sets: RiskSets
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate −log L at these scores."""
        return cox_risk(scores, self.sets)

    def sample(self, size: int, rng: np.random.Generator) -> CoxProblem | None:
        """Draw rows, each with the same chance: a likelihood of as many events as it takes."""
        if not isinstance(self.space, RowSpace):
            return None
        rows = np.flatnonzero(rng.random(len(self.times)) < size / len(self.times))
        some = self.times.take(rows)
        strength = self.strength * float(self.sets.term_mass.sum())
        sets = make_risk_sets(some, self.ties)
        if not sets.n_times:
            return None
        return CoxProblem(self.space.take(rows), some, self.ties, sets, strength / float(sets.term_mass.sum()))


class CoxRanker(LinearRanker):
    r"""Cox's proportional hazards with a ridge penalty, for censored times.

    .. math:: \min_w \; \tfrac{\alpha}{2} \|w\|^2 - \sum_{i: \text{event}} \Bigl( \eta_i -
              \log \sum_{t_j \ge t_i} e^{\eta_j} \Bigr), \qquad \eta = -X w

    Scores are −η: a higher one lives longer, and ``predict_risk`` is the log hazard that medicine expects. Groups of
    :class:`~wellorder.Times` are strata with a baseline hazard of their own. A baseline that is hard to beat where
    hazards are proportional and effects linear; it looks at risk sets and not at pairs, so that Uno's weights and
    ``tau`` say nothing to it.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty; 1e-9 is next to none.
    ties : {"efron", "breslow"}, default="efron"
        How events at one time are counted. A row of weight 2 is the same as the row twice under Breslow's rule;
        Efron's counts tied rows, whatever they weigh.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    tol : float, default=1e-8
        How far the objective may be above its minimum, relative to it.
    max_iter : int, default=100

    Attributes
    ----------
    coef_ : array of shape (d,)
        Of the score: the usual coefficients, of the log hazard, with the opposite sign.
    objective_ : float
    n_iter_ : int
    n_groups_ : int
        The strata that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Cox (1972), Regression models and life-tables.

    Examples
    --------
    >>> import wellorder as wo
    >>> X, times = [[3.0], [2.0], [1.0], [0.0]], wo.Times([5, 8, 8, 12], [True, True, False, False])
    >>> model = wo.CoxRanker().fit(X, times)
    >>> model.score(X, times), (model.predict_risk(X) == -model.predict(X)).all().item()
    (1.0, True)
    """

    _held: ClassVar[Held] = Held(90.0)

    objective_: float
    n_iter_: int

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        ties: TiedEvents = "efron",
        levels: Any = None,
        tol: float = 1e-8,
        max_iter: int = 100,
    ) -> None:
        self.alpha = alpha
        self.ties = ties
        self.levels = levels
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> CoxRanker:
        """Fit the regression.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : Times; or array of shape (n,), or Grades
            Grades are times that all ended with an event: a higher one came later.
        groups : array of shape (n,), optional
            Strata, of grades; times bring their own.
        sample_weight : array of shape (n,), optional
            Row weights, of grades.
        """
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        order = as_order(y, groups, sample_weight, "full", self.levels, two_weights=isinstance(y, Times))
        if not isinstance(order, Grades):
            raise ValueError(f"CoxRanker takes times or grades, one a row, not {type(order).__name__}; use RankSVM")
        refuse_no_pairs(order, order.to_pairs(X.shape[0]).n_pairs)
        problem = CoxProblem(linear_space(X), order, self.ties, make_risk_sets(order, self.ties), 1.0 / self.alpha)
        found = coarse_to_fine(problem, tol=self.tol, max_iter=self.max_iter)
        warn_if_not_converged(found, self.max_iter, self.tol, strength="1/alpha")
        self.coef_ = found.coef
        if found.converged and not found.coef.any():
            warn_of_one_score(NOTHING_TOLD_APART)
        self.objective_ = found.objective * self.alpha
        self.n_iter_ = found.n_iter
        self.n_groups_ = order.n_groups
        return self

    def _check_parameters(self) -> None:
        check_positive(self.alpha, "alpha")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        check_option(self.ties, "ties", ("efron", "breslow"))

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"objective_": figure(), "n_iter_": count()}


def penalties(size: Size) -> Grid:
    """Return ridge penalties, from next to none to strong."""
    return {"alpha": [0.01, 1.0, 10.0, 100.0]}


METHODS = {
    "cox": Method(
        "Cox's proportional hazards, linear",
        CoxRanker,
        penalties,
        takes=("grades",),
        takes_two_weights=True,
        needs_times=True,
        is_baseline=True,
    ),
}
