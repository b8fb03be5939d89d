"""MultipleHyperplaneRanker: one ranker for each two grades, their rankings aggregated list by list."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..aggregation import borda, markov_chain, median_rank
from ..aggregation.table import read_ranker_weights
from ..metrics import order_error_rates, parse
from ..order import Grades
from ..scoring import warn_if_groups_are_lost
from ..solvers.side_by_side import Rows
from ..state import Part, both, checked, dict_of, fitted, floats, label, none_or, template, tuple_of
from ..sweeps import Array, Floats
from .base import Ranker, list_scores
from .base_rankers import (
    can_stack,
    check_base,
    draw_rows,
    finiteness,
    fit_part,
    fit_stacked,
    meeting,
    read_plain_grades,
    score_table,
)
from .hyperplane_weights import best_weights, read_weights
from .rank_svm import RankSVM
from .rows import validate_data
from .validation import check_option, check_whole, refuse_lost_pairs, refuse_no_pairs

Pair: TypeAlias = tuple[Hashable, Hashable]

MOST_RANKERS = 190
"""As many as 20 levels have, K(K − 1)/2."""

_AGGREGATES: dict[str, Callable[[Floats, Any, Floats], Floats]] = {
    "borda": lambda scores, groups, weights: borda(scores, groups),
    "weighted_borda": borda,
    "median": lambda scores, groups, weights: median_rank(scores, groups),
    "markov": markov_chain,
}
_WEIGHTED = ("weighted_borda", "markov")
_FLOATS = (np.float64, np.float32)


class MultipleHyperplaneRanker(Ranker):
    r"""One ranker for each two grades; their rankings of a list are aggregated (MHR).

    Ranker (a, b) is fitted to the rows of the grades a < b alone, inside the groups, so that it may look at other
    features than the next one. K grades have K(K − 1)/2 of them. A list is ordered by

    .. math:: s(x) = \sum_{a < b} \alpha_{ab} \, \#\{x' \text{ in the list}: f_{ab}(x') < f_{ab}(x)\}

    or by another aggregate of the rankings. With two grades it is its base ranker: the same order. A row's score
    depends on the rows beside it: pass ``groups`` wherever scores are asked for; without them all rows are one list.

    Parameters
    ----------
    estimator : ranker, default=None
        What is fitted to each two grades: any ranker, or pipeline of one; it sees the grades as 0 and 1. None is
        ``RankSVM()``. Linear rankers of the squared hinge are fitted side by side where that is faster.
    pairs : {"all", "adjacent"}, default="all"
        One ranker for each two grades, or for each two neighbouring ones.
    aggregate : {"borda", "weighted_borda", "median", "markov"}, default="borda"
        Borda counts, weighted ones, the median of the places, or a Markov chain that moves to better rows.
    weights : mapping or array, default=None
        The weights α of "weighted_borda" and "markov": by (lower, higher) grade, or in the order of ``rankers_``. None:
        learned for "weighted_borda", equal for "markov".
    metric : str, default="ndcg@10"
        What learned weights are best for, on the training lists: any name that ``wellorder.metrics.parse`` reads.
        Coordinate ascent over the rankers' shares; see :func:`wellorder.aggregation.learning.learn_weights`.
    max_samples : int or float, default=None
        How many of its rows, or what share of them, each ranker is fitted to: short lists are drawn whole, the rows
        of long ones one by one. None: all.
    n_jobs : int, default=None
        Rankers fitted at a time, in threads; for those that are not fitted side by side.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.
    random_state : int, RandomState or None, default=None
        Seed for ``max_samples``.

    Attributes
    ----------
    rankers_ : dict
        From (lower, higher) grade, in the user's labels, to the fitted ranker. Grades that never meet in a group have
        none.
    weights_ : array
        α of each ranker, in the order of ``rankers_``; ones where the aggregate has no weights.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Qin, Liu, Lai, Zhang, Wang, Li (2007), Ranking with multiple hyperplanes.

    Examples
    --------
    >>> import wellorder as wo
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> ranker = wo.MultipleHyperplaneRanker().fit(X, [0, 1, 1, 2])
    >>> list(ranker.rankers_)
    [(0, 1), (0, 2), (1, 2)]
    >>> ranker.decision_function(X, groups=["q", "q", "r", "r"])
    array([0., 3., 0., 3.])
    """

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}

    order = "full"  # of the pairs that ``score`` counts

    def __init__(
        self,
        estimator: Any = None,
        *,
        pairs: str = "all",
        aggregate: str = "borda",
        weights: Any = None,
        metric: str = "ndcg@10",
        max_samples: Any = None,
        n_jobs: int | None = None,
        levels: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.pairs = pairs
        self.aggregate = aggregate
        self.weights = weights
        self.metric = metric
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.levels = levels
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> MultipleHyperplaneRanker:
        """Fit a ranker to each two grades, and learn the weights where they are to be learned.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged. At most 20 levels (191, if only neighbouring ones are compared).
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared, and each group is a list.
        sample_weight : array of shape (n,), optional
            Row weights, handed on to the rankers: 2 is the same as listing the row twice. Lists that the α are learned
            on are those of the rows with a weight, each of them once.
        """
        self._check_parameters()
        base = check_base(self.estimator)
        X = validate_data(self, X, accept_sparse="csr", dtype=_FLOATS, ensure_all_finite=finiteness(base))
        grades = read_plain_grades(y, groups, sample_weight, self.levels, X.shape[0], type(self).__name__)
        refuse_no_pairs(grades, grades.pairs.n_pairs)
        refuse_lost_pairs(grades.pairs)
        ends = self._choose_ends(grades)
        labels = grades.levels
        fitted = self._fit_rankers(base, Rows(X, grades.level, grades.group, grades.weight, "pairs", ends))
        self.rankers_ = {(labels[low], labels[high]): ranker for (low, high), ranker in zip(ends, fitted, strict=True)}
        self.weights_ = self._choose_weights(X, grades)
        self.n_groups_ = grades.n_groups
        return self

    def decision_function(self, X: Any, groups: Any = None) -> Array:
        """Return the aggregate score of each row among the rows of its list; a higher score stands above.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        groups : array of shape (n,), optional
            The list of each row; without, all rows are one list.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        table = score_table(list(self.rankers_.values()), X, groups)
        return _AGGREGATES[self.aggregate](table, groups, self.weights_)

    def predict(self, X: Any, groups: Any = None) -> Array:
        """Return the aggregate score of each row: the same as ``decision_function``."""
        return self.decision_function(X, groups)

    def hyperplane_cosines(self, *beside: Any) -> Floats:
        """Return the cosines between the normals of the hyperplanes, in the order of ``rankers_``.

        Parameters
        ----------
        *beside : fitted linear rankers
            Put before the others: a RankSVM of all grades, as in the paper's Table 5.

        Returns
        -------
        array of shape (m, m)
            1 on the diagonal; NaN for a hyperplane that has no direction.
        """
        check_is_fitted(self)
        normals = np.array([_normal(ranker, self.n_features_in_) for ranker in (*beside, *self.rankers_.values())])
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        units = np.divide(normals, length, out=np.full_like(normals, np.nan), where=length > 0)
        return np.asarray(np.clip(units @ units.T, -1.0, 1.0))

    def order_error_rates(
        self, X: Any, y: Any, groups: Any = None, ties: Any = "error", sample_weight: Any = None
    ) -> dict[Pair, float]:
        """Return the share of swapped pairs of each two grades, by the ranker of these two grades (Table 6).

        It is not that of the aggregate: for that, see :func:`wellorder.metrics.order_error_rates`. Grades without a
        ranker, and those that never meet in a group, have no entry.
        """
        check_is_fitted(self)
        X = self._check_rows(X)
        name = type(self).__name__
        grades = read_plain_grades(y, groups, sample_weight, self.levels, X.shape[0], name)
        warn_if_groups_are_lost(self, grades.group, "pass groups=, or wo.Grades(y, groups) as y")
        rates = {}
        for pair, ranker in self.rankers_.items():
            found = order_error_rates(grades, list_scores(ranker, X, grades.group), ties=ties)
            if pair in found:
                rates[pair] = found[pair]
        return rates

    def _check_rows(self, X: Any) -> Any:
        finite = finiteness(next(iter(self.rankers_.values())))
        return validate_data(self, X, accept_sparse="csr", dtype=_FLOATS, reset=False, ensure_all_finite=finite)

    def _choose_ends(self, grades: Grades) -> list[tuple[int, int]]:
        """Return the two level numbers of each ranker; those that never meet are named and left out."""
        active = grades.level[grades.pairs.active]
        present = np.unique(active).tolist()
        n = len(present)
        n_rankers, which = (n - 1, "neighbouring ones") if self.pairs == "adjacent" else (n * (n - 1) // 2, "of them")
        if n_rankers > MOST_RANKERS:
            raise ValueError(
                f"y has {n:,} levels, and {type(self).__name__} fits a ranker to each two {which}: {n_rankers:,}, with "
                f"at most {MOST_RANKERS}; bin the grades (better to five), or use RankSVM, which takes any number"
            )
        if self.pairs == "adjacent":
            wanted = list(pairwise(present))
        else:
            wanted = [(low, high) for place, low in enumerate(present) for high in present[place + 1 :]]
        met = meeting(grades.level, grades.group, grades.weight, len(grades.levels))
        ends = [pair for pair in wanted if met[pair]]
        if len(ends) < len(wanted):
            named = ", ".join(str(tuple(grades.levels[end] for end in pair)) for pair in wanted if not met[pair])
            warnings.warn(f"no group holds rows of both grades, so no ranker is fitted for {named}", stacklevel=4)
        if not ends:
            raise ValueError(
                "there is no pair of rows to learn an order from: neighbouring grades never meet in a group; "
                "use pairs='all'"
            )
        return ends

    def _fit_rankers(self, base: Any, rows: Rows) -> list[Any]:
        if self.max_samples is None and can_stack(base, rows) and (fitted := fit_stacked(base, rows)) is not None:
            return list(fitted)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        seeds = rng.integers(2**31 - 1, size=len(rows.ends)).tolist()
        work = (delayed(self._fit_one)(base, rows, *job) for job in zip(rows.ends, seeds, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(work))

    def _fit_one(self, base: Any, rows: Rows, ends: tuple[int, int], seed: int) -> Any:
        mine, weight = draw_rows(rows, ends, self.max_samples, np.random.default_rng(seed))
        level = (rows.level[mine] == ends[1]).astype(np.int64)
        return fit_part(base, rows.X[mine], level, None if rows.group is None else rows.group[mine], weight)

    def _choose_weights(self, X: Any, grades: Grades) -> Floats:
        if self.weights is not None:
            return read_weights(self.weights, list(self.rankers_))
        if self.aggregate != "weighted_borda" or len(self.rankers_) == 1:
            return np.ones(len(self.rankers_))
        return best_weights(list(self.rankers_.values()), X, grades, self.metric)

    def _check_parameters(self) -> None:
        check_option(self.pairs, "pairs", ("all", "adjacent"))
        check_option(self.aggregate, "aggregate", _AGGREGATES)
        if self.weights is not None and self.aggregate not in _WEIGHTED:
            raise ValueError(f"aggregate={self.aggregate!r} has no weights; use {' or '.join(map(repr, _WEIGHTED))}")
        parse(self.metric)
        share = isinstance(self.max_samples, Real) and not isinstance(self.max_samples, Integral)
        if share and not 0 < self.max_samples <= 1:
            raise ValueError(f"max_samples={self.max_samples!r} is no share; give one in (0, 1], or a whole number")
        if self.max_samples is not None and not share:
            check_whole(self.max_samples, "max_samples")

    def _fitted_state(self) -> dict[str, Part]:
        rankers = dict_of(tuple_of(label(), label()), fitted("decision_function", "predict"), "m")
        weights = both(floats("m"), checked(lambda given: read_ranker_weights(given, len(given))))
        return super()._fitted_state() | {"estimator": none_or(template()), "rankers_": rankers, "weights_": weights}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(RankSVM() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        tags.target_tags.required = True
        return tags


def _normal(ranker: Any, n_features: int) -> Floats:
    """Return the normal of a linear ranker's hyperplane."""
    coef = np.asarray(getattr(ranker, "coef_", np.empty(0)), dtype=float)
    if coef.shape != (n_features,) or hasattr(ranker, "landmarks_"):
        raise ValueError(
            f"{type(ranker).__name__} is no linear function of the {n_features} columns, and has no hyperplane there; "
            "cosines need a linear estimator such as RankSVM()"
        )
    return coef
