"""MultipleHyperplaneRanker: one ranker for each two grades, or sets of them, aggregated list by list."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping
from itertools import combinations, pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from ..aggregation import borda, markov_chain, median_rank, read_ranker_weights
from ..memory import Held
from ..methods import Method, Size, inner_costs
from ..metrics import order_error_rates, parse
from ..order import Grades
from ..samples import Given, Sample
from ..scoring import warn_if_groups_are_lost
from ..state import Part, both, checked, dict_of, fitted, floats, label, none_or, template, tuple_of
from ..sweeps import Floats
from .base import (
    FLOATS,
    Ranker,
    check_option,
    check_whole,
    list_scores,
    refuse_lost_pairs,
    refuse_no_pairs,
    validate_data,
)
from .base_rankers import (
    LevelledRows,
    Sides,
    can_stack,
    check_base,
    draw_rows,
    finiteness,
    fit_part,
    fit_stacked,
    meeting,
    read_plain_grades,
    score_table,
    with_tags_of,
)
from .rank_svm import RankSVM

# --------------------------------------------------------------------------------------------------
# Weights of rankers, learned: one at a time, as far as a judge of the aggregate says that it helps.


_SHARES = np.linspace(0.0, 1.0, 21)
"""Shares of the whole weight that a ranker is tried with."""

_CLOSER = np.linspace(-0.04, 0.04, 9)
"""Around the best of them, these are tried too."""

_LEAST_GAIN = 1e-9


def learn_weights(points: Floats, judge: Callable[[Floats], float], *, max_rounds: int = 10) -> Floats:
    r"""Find weights α ≥ 0, Σα = 1, for which the judge likes Σ_t α_t · points_t most; by coordinate ascent.

    Only the direction of α counts in an order. One ranker at a time is tried with shares t from 0 (left out) to 1
    (alone) of the whole, the others keeping their proportions: α = (1 − t) · α_others + t · e. The best share is kept
    if the judge's value rises, of equally good ones the one nearest to what it was. It ends after a round over all
    rankers that changes nothing. It starts from equal weights, or from the best ranker alone if that is better.

    Parameters
    ----------
    points : array of shape (n, rankers)
        What each ranker gives each row; Borda counts, say.
    judge : callable
        From a score a row to a number, the higher the better; a metric over lists jumps, so no slope is asked for.
    max_rounds : int
        Most rounds over all rankers.

    Returns
    -------
    array of shape (rankers,)

    Notes
    -----
    Some thirty values of the judge for each ranker and round. It may stop at a local maximum, and the values between
    the tried shares are not looked at: on lists that were trained on, a finer maximum would be noise.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.estimators.multiple_hyperplane_ranker import learn_weights
    >>> points = np.array([[0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    >>> learn_weights(points, lambda scores: float(scores[2] - scores[0]))
    array([1., 0.])
    """
    n = points.shape[1]
    starts = [np.full(n, 1.0 / n), *np.eye(n)] if n > 1 else [np.ones(1)]
    values = [judge(points @ weights) for weights in starts]
    place = int(np.argmax(values))
    weights, best = (starts[0], values[0]) if values[0] >= values[place] else (starts[place], values[place])
    for _ in range(max_rounds if n > 1 else 0):
        before = best
        for ranker in range(n):
            weights, best = _one_ranker(points, judge, weights, best, ranker)
        if best <= before:
            break
    return weights


def _one_ranker(
    points: Floats, judge: Callable[[Floats], float], weights: Floats, best: float, ranker: int
) -> tuple[Floats, float]:
    """Give one ranker its best share of the whole weight; return the weights and the judge's value."""
    alone = np.zeros(len(weights))
    alone[ranker] = 1.0
    others = weights * (1.0 - alone)
    if not others.any():
        others = 1.0 - alone
    others = others / others.sum()
    mine, theirs, now = points[:, ranker], points @ others, float(weights[ranker])
    found = best, now
    for shares in (_SHARES, None):
        for share in found[1] + _CLOSER if shares is None else shares:
            if not 0.0 <= share <= 1.0:
                continue
            value = judge((1.0 - share) * theirs + share * mine)
            rises, as_good = value > found[0] + _LEAST_GAIN, value >= found[0] - _LEAST_GAIN
            if rises or (as_good and found[0] > best and abs(share - now) < abs(found[1] - now)):
                found = value, float(share)
    if found[0] <= best:
        return weights, best
    return np.round((1.0 - found[1]) * others + found[1] * alone, 12), found[0]


# --------------------------------------------------------------------------------------------------
# The weights of several rankers: given by pair of grades, or learned on the training lists.


Pair: TypeAlias = tuple[Hashable, Hashable]


def read_weights(weights: Any, pairs: list[Pair]) -> Floats:
    """Read weights that were given: by pair of grades, or one a ranker."""
    if not isinstance(weights, Mapping):
        if np.shape(weights) != (len(pairs),):
            raise ValueError(f"weights have shape {np.shape(weights)}; give one for each of {pairs}, in this order")
        return read_ranker_weights(weights, len(pairs))
    unknown = [pair for pair in weights if pair not in pairs]
    if unknown:
        raise ValueError(f"weights name {unknown[0]!r}, but the rankers are for {pairs}: (lower, higher)")
    missing = [pair for pair in pairs if pair not in weights]
    if missing:
        raise ValueError(f"weights have nothing for {missing[0]!r}; give one for each of {pairs}")
    return read_ranker_weights([weights[pair] for pair in pairs], len(pairs))


def best_weights(rankers: list[Any], X: Any, grades: Grades, name: str) -> Floats:
    """Learn the weights of Borda counts that are best for a metric on the lists that were trained on.

    LevelledRows of zero weight stand in no list.
    """
    kept = np.arange(len(grades)) if grades.weight is None else np.flatnonzero(grades.weight > 0)
    judged = grades.without_weights() if len(kept) == len(grades) else grades.without_weights().take(kept)
    table = score_table(rankers, X if len(kept) == len(grades) else X[kept], judged.group)
    points = np.column_stack([borda(column[:, None], judged.group) for column in table.T])
    metric = parse(name)
    sign = 1.0 if metric.greater_is_better else -1.0
    if np.isnan(metric(judged, points.sum(axis=1))):
        raise ValueError(f"{metric} is not defined on the training lists; name another metric, or give the weights")
    return learn_weights(points, lambda scores: sign * metric(judged, scores))


# --------------------------------------------------------------------------------------------------
# The model.


MOST_RANKERS = 190
"""As many as 20 levels have, K(K − 1)/2."""

_AGGREGATES: dict[str, Callable[[Floats, Any, Floats], Floats]] = {
    "borda": lambda scores, groups, weights: borda(scores, groups),
    "weighted_borda": borda,
    "median": lambda scores, groups, weights: median_rank(scores, groups),
    "markov": markov_chain,
}
_WEIGHTED = ("weighted_borda", "markov")


class MultipleHyperplaneRanker(Ranker):
    r"""One ranker for each two grades; their rankings of a list are aggregated (MHR).

    Ranker (a, b) is fitted to the rows of the grades a < b alone, inside the groups, so that it may look at other
    features than the next one. K grades have K(K − 1)/2 of them. A list is ordered by

    .. math:: s(x) = \sum_{a < b} \alpha_{ab} \, \#\{x' \text{ in the list}: f_{ab}(x') < f_{ab}(x)\}

    With ``pairs="cumulative"`` the parts overlap: ranker (a, b) is fitted to the rows of all grades, but those
    between a and b,

    .. math:: \{x: \text{grade} \le a\} \text{ below } \{x: \text{grade} \ge b\}, \qquad a < b,

    which of three grades are 0 | 1 2, 0 | 2 and 0 1 | 2: every ranker sees the lowest and the highest grade, and two
    grades that are k apart are told apart by k(k + 1)/2 rankers, so that the wider a swap, the more it counts.

    or by another aggregate of the rankings. With two grades it is its base ranker: the same order. A row's score
    depends on the rows beside it: pass ``groups`` wherever scores are asked for; without them all rows are one list.

    Parameters
    ----------
    estimator : ranker, default=None
        What is fitted to each two grades: any ranker, or pipeline of one; it sees the grades as 0 and 1. None is
        ``RankSVM()``. Linear rankers of the squared hinge are fitted side by side where that is faster.
    pairs : {"all", "adjacent", "cumulative"}, default="all"
        One ranker for each two grades, for each two neighbouring ones, or for all grades up to the one against all from
        the other on.
    aggregate : {"borda", "weighted_borda", "median", "markov"}, default="borda"
        Borda counts, weighted ones, the median of the places, or a Markov chain that moves to better rows.
    weights : mapping or array, default=None
        The weights α of "weighted_borda" and "markov": by (lower, higher) grade, or in the order of ``rankers_``. None:
        learned for "weighted_borda", equal for "markov".
    metric : str, default="ndcg@10"
        What learned weights are best for, on the training lists: any name that ``wellorder.metrics.parse`` reads.
        Coordinate ascent over the rankers' shares; see :func:`learn_weights` beside it.
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
        none. With ``pairs="cumulative"``, (a, b) is the one of the grades up to a against those from b on.
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

    _held: ClassVar[Held] = Held(16.0, 0.6)

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}

    order = "full"  # of the pairs that ``score`` counts

    rankers_: dict[tuple[Any, Any], Any]
    weights_: Floats

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
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finiteness(base))
        grades = read_plain_grades(y, groups, sample_weight, self.levels, X.shape[0], type(self).__name__)
        refuse_no_pairs(grades, grades.pairs.n_pairs)
        refuse_lost_pairs(grades.pairs)
        parts = self._choose_parts(grades)
        rows = LevelledRows(X, grades.level, grades.group, grades.weight, "pairs", list(parts.values()))
        fitted, labels = self._fit_rankers(base, rows), grades.levels
        self.rankers_ = {(labels[low], labels[high]): ranker for (low, high), ranker in zip(parts, fitted, strict=True)}
        self.weights_ = self._choose_weights(X, grades)
        self.n_groups_ = grades.n_groups
        return self

    def decision_function(self, X: Any, groups: Any = None) -> Floats:
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

    def predict(self, X: Any, groups: Any = None) -> Floats:
        """Return the aggregate score of each row: the same as ``decision_function``."""
        return self.decision_function(X, groups)

    def hyperplane_cosines(self, *beside: Any) -> Floats:
        """Return the cosines between the normals of the hyperplanes, in the order of ``rankers_``.

        Parameters
        ----------
        *beside : fitted linear rankers
            Put before the others: a RankSVM of all grades, as in Table 5 of Qin et al. (2007).

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
        """Return the share of swapped pairs of each two grades, by the ranker of these two grades.

        It is not that of the aggregate: for that, see :func:`wellorder.metrics.order_error_rates`. Grades without a
        ranker, and those that never meet in a group, have no entry. Whatever the rows that a ranker was fitted to,
        those of its two grades alone are counted, so that rates can be compared over ``pairs``.
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
        return validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False, ensure_all_finite=finite)

    def _choose_parts(self, grades: Grades) -> dict[tuple[int, int], Sides]:
        """Return what each ranker, by its two level numbers, tells apart; those that never meet are named, left out."""
        present = np.unique(grades.level[grades.pairs.active]).tolist()
        n = len(present)
        n_rankers, which = (n - 1, "neighbouring ones") if self.pairs == "adjacent" else (n * (n - 1) // 2, "of them")
        if n_rankers > MOST_RANKERS:
            raise ValueError(
                f"y has {n:,} levels, and {type(self).__name__} fits a ranker to each two {which}: {n_rankers:,}, with "
                f"at most {MOST_RANKERS}; bin the grades (better to five), or use RankSVM, which takes any number"
            )
        wanted = {ends: self._sides(present, *ends) for ends in combinations(present, 2)}
        if self.pairs == "adjacent":
            wanted = {ends: wanted[ends] for ends in pairwise(present)}
        met = meeting(grades.level, grades.group, grades.weight, len(grades.levels))
        parts = {ends: sides for ends, sides in wanted.items() if met[np.ix_(*sides)].any()}
        if len(parts) < len(wanted):
            named = ", ".join(str(tuple(grades.levels[end] for end in ends)) for ends in wanted if ends not in parts)
            both = "sides" if self.pairs == "cumulative" else "grades"
            warnings.warn(f"no group holds rows of both {both}, so no ranker is fitted for {named}", stacklevel=4)
        if not parts:
            raise ValueError(
                "there is no pair of rows to learn an order from: neighbouring grades never meet in a group; "
                "use pairs='all'"
            )
        return parts

    def _sides(self, present: list[int], low: int, high: int) -> Sides:
        """Return the levels below and above, of the ranker of two levels."""
        if self.pairs != "cumulative":
            return (low,), (high,)
        return tuple(level for level in present if level <= low), tuple(level for level in present if level >= high)

    def _fit_rankers(self, base: Any, rows: LevelledRows) -> list[Any]:
        if self.max_samples is None and can_stack(base, rows) and (fitted := fit_stacked(base, rows)) is not None:
            return list(fitted)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        seeds = rng.integers(2**31 - 1, size=len(rows.sides)).tolist()
        work = (delayed(self._fit_one)(base, rows, *job) for job in zip(rows.sides, seeds, strict=True))
        return list(Parallel(n_jobs=self.n_jobs, prefer="threads")(work))

    def _fit_one(self, base: Any, rows: LevelledRows, sides: Sides, seed: int) -> Any:
        mine, weight = draw_rows(rows, sides, self.max_samples, np.random.default_rng(seed))
        level = np.isin(rows.level[mine], sides[1]).astype(np.int64)
        group = None if rows.group is None else rows.group[mine]
        return fit_part(base, Sample(rows.X[mine], Given(level, group, weight)))

    def _choose_weights(self, X: Any, grades: Grades) -> Floats:
        if self.weights is not None:
            return read_weights(self.weights, list(self.rankers_))
        if self.aggregate != "weighted_borda" or len(self.rankers_) == 1:
            return np.ones(len(self.rankers_))
        return best_weights(list(self.rankers_.values()), X, grades, self.metric)

    def _check_parameters(self) -> None:
        check_option(self.pairs, "pairs", ("all", "adjacent", "cumulative"))
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
        return with_tags_of(self.estimator, super().__sklearn_tags__())


def _normal(ranker: Any, n_features: int) -> Floats:
    """Return the normal of a linear ranker's hyperplane."""
    coef = np.asarray(getattr(ranker, "coef_", np.empty(0)), dtype=float)
    if coef.shape != (n_features,) or hasattr(ranker, "landmarks_"):
        raise ValueError(
            f"{type(ranker).__name__} is no linear function of the {n_features} columns, and has no hyperplane there; "
            "cosines need a linear estimator such as RankSVM()"
        )
    return coef


_MOST_RANKED = 10


def too_many_rankers(size: Size) -> str | None:
    """Object to a ranker for any two of many levels."""
    if size.n_levels > _MOST_RANKED:
        n = size.n_levels * (size.n_levels - 1) // 2
        return f"it fits a ranker to each two levels, and there are {n:,} of those; bin the grades"
    return None


METHODS = {
    "multiple-hyperplane-ranker": Method(
        "a linear ranker for each two grades, their rankings of a list added up",
        lambda: MultipleHyperplaneRanker(RankSVM()),
        inner_costs,
        takes=("grades",),
        objection=too_many_rankers,
    ),
}
