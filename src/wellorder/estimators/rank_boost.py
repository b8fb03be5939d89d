"""RankBoost: thresholds over single columns, boosted for the exponential risk over pairs."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..losses import LOSSES
from ..memory import Held
from ..methods import Method, for_columns, too_many_columns
from ..order import Balance
from ..solvers import STEP_RULES, Rounds, boost_steps
from ..spaces import Steps
from ..state import ANY, Part, absent_or, built, count, figures, pieces
from ..sweeps import Array, Floats
from .base import FLOATS, OneScoreWarning, Ranker, check_option, check_positive, check_whole, validate_data
from .boosting import BoostRows, pair_task


class RankBoost(Ranker):
    r"""RankBoost: f = Σ_m α_m 1[x_{k(m)} > θ_m], boosted over every pair without listing one.

    .. math:: R(f) = \frac{1}{\sum W} \sum_{(i, j)} W_{ij} \, e^{-(f(x_i) - f(x_j))}

    over the pairs with row i above row j: same group, higher grade. D are the pairs' shares of R. Each round takes the
    weak ranker h with the largest :math:`|r|`, :math:`r = \sum D_{ij} (h(x_i) - h(x_j))`, over all columns and
    thresholds: :math:`r = \sum_i \pi_i h(x_i)` with the potential :math:`\pi_i`, what row i weighs as the upper end of
    its pairs less what it weighs as the lower. The potential costs O(n), the choice O(n · d).

    Parameters
    ----------
    n_estimators : int, default=300
        Most rounds.
    step : {"bound", "exact"}, default="bound"
        The weight of each weak ranker. "bound": :math:`\alpha = \tfrac12 \ln \frac{1 + r}{1 - r}`, RankBoost's third
        method, which minimises a bound on R. "exact": the α that minimises R itself.
    order : {"full", "chain", "linear", "dcg"}, OrderGraph or array of shape (r, r), default="full"
        Which levels are compared and what a swap costs.
    learning_rate : float, default=1.0
        What each α is multiplied by.
    validation_fraction : float, default=0.1
        The share of the groups (of the rows, without groups) kept apart, if ``n_iter_no_change`` is set.
    n_iter_no_change : int, default=None
        Stop after so many rounds that are no better on the rows kept apart, and keep the best. None: make all rounds.
    stopping : {"risk", "swaps"}, default="risk"
        What is measured there: the risk, or the share of swapped pairs.
    balance : {"pairs", "groups"}, default="pairs"
        Every pair counts the same, or every group.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    random_state : int, RandomState or None, default=None
        Seed for the rows kept apart.

    Attributes
    ----------
    n_estimators_ : int
        The rounds that are kept.
    train_risk_ : array
        R of the training rows after each round made.
    validation_risk_ : array
        The same of the rows kept apart, or their share of swapped pairs.
    pieces_ : dict of arrays
        The features, thresholds and weights of the weak rankers; those with the same threshold are one.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A column with up to 257 distinct values offers a threshold between each two, any other 256 quantiles. A missing
    value (NaN) is beyond no threshold, and whether a value is missing is one more weak ranker. Constant columns are
    never taken. OrderBoost lowers the same risk by bumps or trees.

    References
    ----------
    Freund, Iyer, Schapire, Singer (2003), An efficient boosting algorithm for combining preferences.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.random.default_rng(0).uniform(0, 1, (200, 3))
    >>> y = np.digitize(X[:, 0] + X[:, 1], [0.7, 1.3])
    >>> model = wo.RankBoost(n_estimators=50).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _held: ClassVar[Held] = Held(13.0, 0.3)
    takes_two_weights: ClassVar[bool] = True

    loss = "pairs"
    consistent = False

    pieces_: dict[str, Array]
    n_estimators_: int
    train_risk_: Floats
    validation_risk_: Floats

    def __init__(
        self,
        n_estimators: int = 300,
        *,
        step: str = "bound",
        order: Any = "full",
        learning_rate: float = 1.0,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        stopping: str = "risk",
        balance: Balance = "pairs",
        levels: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.step = step
        self.order = order
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.stopping = stopping
        self.balance = balance
        self.levels = levels
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> RankBoost:
        """Boost.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
            NaN: missing.
        y : array of shape (n,), Grades, Comparisons, or their sum
            Grades, higher is better; NaN: unjudged.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared.
        sample_weight : array of shape (n,), optional
            Row weights; 2 is the same as listing the row twice.
        """
        self._check_parameters()
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite="allow-nan")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        share = 0.0 if self.n_iter_no_change is None else float(self.validation_fraction)
        task = pair_task(self, LOSSES["exponential"], BoostRows(X, y, groups, sample_weight), None, share, rng)
        rounds = Rounds(self.n_estimators, float(self.learning_rate), self.n_iter_no_change)
        result = boost_steps(task.X, task.risk.weight, task.risk, task.validation, rounds, rule=STEP_RULES[self.step])
        self.pieces_ = result.pieces.to_arrays()
        self.n_groups_ = task.n_groups
        self.n_estimators_ = result.n_rounds
        self.train_risk_ = result.train_risk / task.risk.mass
        self.__dict__.pop("validation_risk_", None)
        if result.validation_risk is not None:
            self.validation_risk_ = result.validation_risk
        if result.n_rounds == 0:
            warnings.warn(
                "no weak ranker lowers the risk: no column varies; every score is the same",
                OneScoreWarning,
                stacklevel=3,
            )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False, ensure_all_finite="allow-nan")
        return self._steps().scores(X)

    def _steps(self) -> Steps:
        return built(self, Steps)

    def _check_parameters(self) -> None:
        check_whole(self.n_estimators, "n_estimators")
        check_option(self.step, "step", STEP_RULES)
        check_option(self.stopping, "stopping", ("risk", "swaps"))
        check_option(self.balance, "balance", ("pairs", "groups"))
        check_positive(self.learning_rate, "learning_rate")
        check_positive(self.validation_fraction, "validation_fraction")
        if not self.validation_fraction < 1:
            raise ValueError(f"validation_fraction must be between 0 and 1, got {self.validation_fraction!r}")
        if self.n_iter_no_change is not None:
            check_whole(self.n_iter_no_change, "n_iter_no_change")

    def _fitted_state(self) -> dict[str, Part]:
        told = {"train_risk_": figures(ANY), "validation_risk_": absent_or(figures(ANY))}
        return super()._fitted_state() | {"pieces_": pieces(Steps), "n_estimators_": count()} | told

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


METHODS = {
    "rank-boost": Method(
        "thresholds of single columns, boosted over every pair",
        RankBoost,
        lambda size: {"n_estimators": [30, 100, 300]},
        takes_two_weights=True,
        objection=too_many_columns,
        memory=for_columns,
        is_slow=True,
    ),
}
