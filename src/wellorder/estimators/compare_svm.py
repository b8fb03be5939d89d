"""CompareSVM: a ranking function with a margin for ties, from comparisons."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from ..deadline import time_is_up, warn_of_time
from ..losses import LOSSES, Calibration, TiedPairs, calibrate, root_mean_square, tied_risk
from ..memory import Held
from ..methods import Method, costs
from ..order import Comparisons
from ..samples import Sample
from ..spaces import (
    KernelSpace,
    NystroemMap,
    check_matrix,
    column_moments,
    is_dask,
    linear_space,
    refuse_if_too_large,
    resolve_gamma,
)
from ..state import Part, count, figure, floats, number, truth, tuple_of
from ..sweeps import Array, Bools, Floats
from .base import by_rows, check_option, check_positive, check_whole, hold_rows, warn_if_not_converged
from .compare_model import (
    SCALING,
    CompareModel,
    is_degenerate,
    learn_scale,
    refuse_large_weights,
    refuse_only_ties,
    scale_to_threshold,
    standardised,
)
from .compare_solving import (
    PairKernel,
    TieProblem,
    explicit_svm,
    refuse_large_pair_kernel,
    tied_kernel_by_libsvm,
    tied_svm,
)
from .kernel_model import KernelModel

# --------------------------------------------------------------------------------------------------
# From score differences of comparisons that were not learned from to probabilities of the three outcomes.


N_FOLDS = 5


def calibrate_unseen(model: CompareSVM, items: Any, pairs: TiedPairs, size: float) -> tuple[float, float]:
    """Return steepness and tie weight by :func:`unseen_differences` of a model."""
    d, known = unseen_differences(model, items, pairs, size)
    found = calibrate(d[known], pairs.outcome[known], pairs.weight[known])
    return found.slope, found.ties


def unseen_differences(model: CompareSVM, items: Any, pairs: TiedPairs, size: float) -> tuple[Floats, Bools]:
    """Return each comparison's difference by a model that did not see it, and which comparisons have one.

    All comparisons of the same two items are in one fold; decided and tied ones are spread over the folds alike. The
    folds are always the same. The differences of all comparisons by each fold's model are brought to one ``size``, the
    root of their mean square: where ties are few, thresholds, which scores are measured by, differ much between folds.
    """
    key = _couples(items, pairs)
    decided = np.bincount(key, pairs.outcome) > 0
    shuffled = np.random.default_rng(0).permutation(len(decided))
    shuffled = shuffled[np.argsort(decided[shuffled], kind="stable")]
    fold_of = np.empty(len(decided), np.int64)
    fold_of[shuffled] = np.arange(len(decided)) % N_FOLDS
    fold = fold_of[key]
    sample = Sample(items, Comparisons(pairs.low, pairs.high, pairs.outcome, pairs.weight))
    d, known = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=bool)
    for place in range(N_FOLDS):
        train, test = np.flatnonzero(fold != place), np.flatnonzero(fold == place)
        part, rest = pairs.take(train), pairs.take(test)
        if part.n_decided == 0 or len(rest) == 0:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say, the fit on all comparisons says
            scores = np.asarray(sample.scores(sample.take(train).fit(clone(model))), dtype=float)
        own = root_mean_square(pairs.differences(scores), pairs.weight)
        d[test], known[test] = rest.differences(scores) * (size / own if own > 0 else 0.0), True
    return d, known


def refuse_one_couple(items: Any, pairs: TiedPairs) -> None:
    """Raise an error where a model that has not seen the decided comparisons of two items has seen none at all.

    Calibrated on the ties alone, probabilities would make every pair a tie.
    """
    decided = _couples(items, pairs)[: pairs.n_decided]
    if (decided == decided[0]).all():
        raise ValueError(
            "probability=True needs at least two decided comparisons, of different items; set it to False, or give more"
        )


def _couples(items: Any, pairs: TiedPairs) -> Array:
    """Return a number for each comparison, the same for the same two items.

    Items are told by their features: an array of pairs lists an item wherever it is compared.
    """
    direction = np.random.default_rng(0).standard_normal(items.shape[1])
    place = items @ direction if sp.issparse(items) else (items * direction).sum(axis=1)
    _, number = np.unique(np.asarray(place), return_inverse=True)
    one, other = number[pairs.low].astype(np.int64), number[pairs.high].astype(np.int64)
    low, high = np.minimum(one, other), np.maximum(one, other)
    return np.asarray(np.unique(low * len(number) + high, return_inverse=True)[1])


# --------------------------------------------------------------------------------------------------
# The model.


_LOSSES = ("hinge", "squared_hinge", "logistic")


def _is_calibrated(model: CompareSVM) -> bool:
    if not model.probability or (hasattr(model, "threshold_") and not hasattr(model, "calibration_")):
        raise AttributeError("predict_proba needs a model that was fitted with probability=True")
    return True


class CompareSVM(KernelModel, CompareModel):
    r"""Support vector comparison machine: learns who is better, and when nobody is.

    Each comparison that was decided must have a difference of scores above a threshold, each tie one below it, both by
    a margin:

    .. math:: \min_{u, \beta} \tfrac12 \|u\|^2
              + C \sum_{\text{decided}} \omega\, \ell(\beta + u^\top(\Phi(x^+) - \Phi(x^-)))
              + C \sum_{\text{ties}} \omega \sum_{\pm} \ell(-\beta \mp u^\top(\Phi(x') - \Phi(x)))

    The scores are r(x) = uᵀΦ(x)/(−β), so that differences up to 1 are ties. A model has β < 0 unless C is very small
    for its data, or ties are few beside noise; with β ≥ 0 it says so, and takes the threshold that fits the training
    pairs best (with the hinge, of a RankSVM's scores: its own would be next to zero). Without a single tie it is a
    RankSVM, with the threshold 0.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss on each of the decided comparisons and on both directions of each tie.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Where the scores live. With "precomputed", items are rows of their kernel with all training items.
    gamma : {"scale", "auto"} or float, default="scale"
        Width of "rbf" and "poly"; "scale" is 1 / (d · variance), each item taken as often as it is compared.
    degree, coef0 : float, default=3 and 0.0
        Degree and constant of "poly".
    loss : {"hinge", "squared_hinge", "logistic"}, default="hinge"
        ``(1 − z)_+``, as published: with a kernel by libsvm, for thousands of comparisons; with features (linear,
        ``n_components``) to a duality gap, by an interior point method, or where the features are sparse, or those of
        all comparisons are more than 20 million numbers, by Newton's method over rounded corners (up to about 2,000
        comparisons by libsvm). The others, ``(1 − z)_+²`` and ``log(1 + e^{−z})``, by Newton's method, for a million
        comparisons.
    n_components : int or "auto", default=None
        Replace the kernel by Nyström features over this many random items.
    scale : bool, default=False
        Standardise the columns of the items first, each item taken as often as it is compared (sparse items are only
        divided, not centred): a StandardScaler cannot take pairs.
    probability : bool, default=False
        Whether ``predict_proba`` will be asked for: five more fits, on four fifths of the comparisons each.
    tol : float, default=1e-3
        libsvm's tolerance, where that solves; else the relative accuracy of the objective.
    max_iter : int, default=1000
        Most Newton steps; libsvm and the interior point method go on until they are done.
    random_state : int, RandomState or None, default=None
        Seed for ``n_components``; nothing else is random.

    Attributes
    ----------
    threshold_ : float
        Differences up to it are ties: 1, or 0 where there was no tie to learn from.
    bias_ : float
        β, before scaling.
    coef_, dual_coef_, support_, support_vectors_
        As in RankSVM, over items, after scaling; with ``scale=True``, of standardised items.
    objective_ : float
        The objective, before scaling.
    n_iter_ : int
        Steps of Newton's or the interior point method, or libsvm's iterations.
    calibration_ : tuple of two floats
        With ``probability=True``: a and ν of P(right) ∝ e^{a d / 2}, P(left) ∝ e^{−a d / 2}, P(tie) ∝ ν.
    n_features_in_, feature_names_in_
        As in scikit-learn, of the items.

    References
    ----------
    Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines. Algorithm 1 as it is printed
    does not swap the pairs with outcome −1; equation (8) does, and so does this. C is that of equation (15).

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> wines = np.array([[0.0], [1.0], [5.0], [9.0]])
    >>> pairs = wo.Pairs(wines, left=[0, 1, 3, 0], right=[1, 2, 2, 3])
    >>> model = wo.CompareSVM(C=10.0).fit(pairs, [0, 1, -1, 1])
    >>> model.predict(pairs)
    array([ 0,  1, -1,  1])
    >>> np.round(model.compare(np.array([[[2.0], [6.0]]])), 2)
    array([1.6])
    """

    _held: ClassVar[Held] = Held(35.0, 3.6)

    takes_dask: ClassVar[bool] = True
    objective_: float
    n_iter_: int
    bias_: float
    item_mean_: Floats
    item_scale_: Floats
    calibration_: tuple[float, float]

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: Any = "linear",
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        loss: str = "hinge",
        n_components: int | str | None = None,
        scale: bool = False,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.loss = loss
        self.n_components = n_components
        self.scale = scale
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CompareSVM:
        """Fit scores and threshold.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d); items of shape (n_items, d), perhaps in Dask, where y holds Comparisons
        y : array of shape (n,) with outcomes −1, 0 and 1, or Comparisons
            1: the right item is better; 0: no difference.
        sample_weight : array of shape (n,), optional
            Weights of the comparisons; 2 is the same as listing one twice.
        """
        self._check_parameters()
        self._forget()
        given, pairs = self._read_comparisons(X, y, sample_weight)
        given = hold_rows(given)
        refuse_only_ties(pairs)
        refuse_large_weights(pairs, self.C)
        if self.probability:
            refuse_one_couple(given, pairs)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        items, compared = given, pairs
        if self.kernel != "precomputed" and not is_dask(given):  # rows of partitions stay, compared or not
            rows, compared = pairs.compact()
            items = given if len(rows) == given.shape[0] else given[rows]
        items = self._standardise(items, compared)
        coef, bias, scores = self._solve(items, compared, rng)
        self.bias_ = bias
        factor, self.threshold_ = scale_to_threshold(bias, compared, scores, scaled=self._is_scaled)
        self._store(factor * coef, items)
        if self.probability:
            size = root_mean_square(factor * compared.differences(scores), pairs.weight)
            self.calibration_ = calibrate_unseen(clone(self).set_params(probability=False), given, pairs, size)
        return self

    @available_if(_is_calibrated)
    def predict_proba(self, X: Any) -> Floats:
        """Return P(left better), P(tie) and P(right better) of each pair: columns for the outcomes −1, 0, 1.

        Needs ``probability=True``. The probabilities are Davidson's, P(right) ∝ e^{a d / 2}, P(left) ∝ e^{−a d / 2},
        P(tie) ∝ ν of the difference d, with a and ν fitted on comparisons that the model for them had not seen (five
        folds, the same two items always in one). They need not agree with ``predict`` on which outcome is likeliest.

        Parameters
        ----------
        X : Pairs, or array of shape (n, 2, d)
        """
        return Calibration(*self.calibration_).probabilities(self.compare(X))

    @property
    def _is_scaled(self) -> bool:
        """Whether columns are standardised, or there are none."""
        return bool(self.scale) or self.kernel == "precomputed"

    def _solve(self, X: Any, pairs: TiedPairs, rng: np.random.Generator) -> tuple[Floats, float, Floats]:
        """Return coefficients, the bias β, and the items' scores, none of them scaled yet."""
        if not self._is_plain_linear:
            self.gamma_ = self._choose_gamma(X, pairs)
            self._warn_of_lost_digits(X)
        explicit = self._is_plain_linear or self.n_components is not None
        if explicit:
            X = self._features(X, pairs, rng)
        found, certain = None, True
        if self.loss == "hinge" and pairs.n_ties > 0:
            found, certain = self._solve_by_dual(X, pairs, explicit=explicit)
        if found is None:
            found = self._minimise(X, pairs, explicit=explicit)
        if self.loss == "hinge" and pairs.n_ties > 0 and certain and is_degenerate(found[1]):
            # at β = 1 the decided are satisfied by u = 0, and what else u is says nothing: as without ties, leave β out
            objective, n_iter = self.objective_, self.n_iter_
            coef, _, scores = self._minimise(X, pairs.take(np.arange(pairs.n_decided)), explicit=explicit)
            self.objective_, self.n_iter_ = objective, n_iter
            found = coef, found[1], scores
        return found

    def _solve_by_dual(
        self, X: Any, pairs: TiedPairs, *, explicit: bool
    ) -> tuple[tuple[Floats, float, Floats] | None, bool]:
        """Solve by libsvm or an interior point, where these pay or must be, and say whether that came to an end."""
        found = explicit_svm(X, pairs, self.C, self.tol) if explicit else None
        if explicit and (found is None or not (found.converged or time_is_up())):
            return None, True
        if found is None:
            found = tied_kernel_by_libsvm(self._pair_kernel(X, pairs), pairs, self.C, self.tol)
        if np.isnan(found.bias):
            raise ValueError(
                f"libsvm finds no finite solution for C={self.C!r} and this kernel, whose values are large; "
                f"{'' if self._is_scaled else f'{SCALING}, or '}lower C"
            )
        if not found.converged and time_is_up():
            warn_of_time(f"after {found.n_iter} steps", stacklevel=6)
        elif not found.converged:
            warnings.warn(
                f"libsvm stopped after {found.n_iter:,} steps; {'' if self._is_scaled else f'{SCALING}, or '}lower C",
                ConvergenceWarning,
                stacklevel=5,
            )
        self.objective_, self.n_iter_ = found.objective, found.n_iter
        return (found.coef, found.bias, found.scores), found.converged

    def _minimise(self, X: Any, pairs: TiedPairs, *, explicit: bool) -> tuple[Floats, float, Floats]:
        """Solve in the primal."""
        space = linear_space(X) if explicit else KernelSpace(self._kernel_matrix(X))
        loss = LOSSES[self.loss]
        result = tied_svm(TieProblem(space, pairs, loss, self.C), tol=self.tol, max_iter=self.max_iter)
        warn_if_not_converged(result, self.max_iter, self.tol)
        self.objective_, self.n_iter_ = result.objective, result.n_iter
        scores = space.scores(result.coef)
        return result.coef, tied_risk(loss, scores, pairs)[1] if pairs.n_ties > 0 else 0.0, scores

    def _features(self, X: Any, pairs: TiedPairs, rng: np.random.Generator) -> Any:
        """Return what the scores are linear in."""
        if self.n_components is None:
            return X
        among = pairs.compact()[0] if is_dask(X) else None  # items that are never compared are no landmarks
        features = NystroemMap.fit(self._kernel(), X, self.n_components, rng, among)
        self.landmarks_, self.landmark_root_ = features.landmarks, features.root
        return by_rows(features.transform, X)

    def _kernel_matrix(self, X: Any) -> Floats:
        """Return the kernel between all items."""
        if self.kernel == "precomputed":
            K = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
        else:
            refuse_if_too_large(X.shape[0], 8)
            K = self._kernel().matrix(X, X, dtype=np.float64)
        if self.kernel != "rbf":  # a Gaussian is a kernel by its making
            check_matrix(K)
        return K

    def _pair_kernel(self, X: Any, pairs: TiedPairs) -> PairKernel:
        """Return the kernel between pairs; that between items is kept where they are in many pairs."""
        if self.kernel == "rbf" and X.shape[0] > len(pairs):
            refuse_large_pair_kernel(pairs, 0)
            return PairKernel(self._kernel(), X)
        refuse_large_pair_kernel(pairs, X.shape[0])
        return PairKernel(self._kernel(), X, self._kernel_matrix(X))

    def _choose_gamma(self, X: Any, pairs: TiedPairs) -> float:
        if self.kernel == "precomputed":
            return 1.0
        if not isinstance(self.gamma, str) or self.gamma != "scale":
            return resolve_gamma(self.gamma, X)
        mean, variance = column_moments(X, pairs.row_shares)
        spread = float(variance.mean() + mean.var())
        return 1.0 / (X.shape[1] * spread) if spread > 0 else 1.0

    def _standardise(self, X: Any, pairs: TiedPairs) -> Any:
        """Learn how to standardise items, and do it."""
        if not self.scale:
            return X
        self.item_mean_, self.item_scale_ = learn_scale(X, pairs)
        return standardised(X, self.item_mean_, self.item_scale_)

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        X = super()._check_rows(X, reset=reset)
        return X if reset or not self.scale else standardised(X, self.item_mean_, self.item_scale_)

    def _forget(self) -> None:
        super()._forget()
        for name in ("item_mean_", "item_scale_", "calibration_"):
            self.__dict__.pop(name, None)

    def _check_parameters(self) -> None:
        check_positive(self.C, "C")
        check_positive(self.tol, "tol")
        check_whole(self.max_iter, "max_iter")
        check_option(self.loss, "loss", _LOSSES)
        self._check_kernel()
        if self.scale and self.kernel == "precomputed":
            raise ValueError("scale=True standardises items, and a precomputed kernel has none; set scale=False")

    def _fitted_state(self) -> dict[str, Part]:
        state = super()._fitted_state() | {"bias_": number(), "objective_": figure(), "n_iter_": count()}
        if self.scale:
            state |= {"item_mean_": floats("d"), "item_scale_": floats("d", above=0.0)}
        if self.probability:
            state |= {"calibration_": tuple_of(number(low=0.0), number(low=0.0))}
        return state | {"scale": truth(), "probability": truth()}


METHODS = {
    "compare-svm": Method(
        "linear, differences told from ties by a margin",
        lambda: CompareSVM(loss="squared_hinge"),
        costs,
        takes=("comparisons",),
        predicts_ties=True,
    ),
}
