"""NestedRanker: the top of each list re-ranked in stages, by rankers trained on what stood there."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..aggregation import borda
from ..memory import Held
from ..methods import Method, inner_costs
from ..order import encode_groups
from ..samples import Given, Sample
from ..scoring import list_scores
from ..state import Part, both, checked, count, fitted, list_of, none_or, template
from ..sweeps import Bools, Floats, Ints, sums_at
from .base import FLOATS, Ranker, refuse_no_pairs, validate_data
from .base_rankers import check_base, finiteness, fit_part, meeting, read_plain_grades, with_tags_of
from .rank_svm import RankSVM

_ROUNDING = 1e-9


class NestedRanker(Ranker):
    r"""Nested rankers: the first orders all rows, each next one re-orders the top part that the one before has left.

    Stage t is trained only on the rows that stage t − 1 has put at the top of their lists, and orders only these:
    telling the best from the good is another task than telling the good from the rest. What a stage has put below
    stays below.
    A row's score is the number of rows of its list that stand below it, so that it depends on them: pass ``groups``
    wherever scores are asked for; without them all rows are one list.

    Parameters
    ----------
    estimator : ranker, default=None
        What is fitted at every stage: any ranker, or pipeline of one; it sees the levels' places 0, 1, … as grades.
        None is ``RankSVM()``.
    keep : sequence, default=(0.5, 0.25)
        How much of each list goes on to the second stage, the third, …: whole numbers are rows, others in (0, 1] shares
        of the list, rounded up. Rows that tie with the last one kept go on too.
    levels : sequence, default=None
        The levels from worst to best; needed where grades are text.

    Attributes
    ----------
    rankers_ : list
        The fitted rankers, one a stage. There are fewer than asked for where the rows left held no pair to learn from.
    n_rows_ : list of int
        How many rows each of them was trained on.
    n_groups_ : int
        The groups that it was fitted on; 1 where none were given.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Matveeva, Burges, Burkard, Laucius, Wong (2006), High accuracy retrieval with multiple nested ranker.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> X = np.arange(12.0)[:, None]
    >>> ranker = wo.NestedRanker(keep=(0.5,)).fit(X, np.arange(12) // 4)
    >>> len(ranker.rankers_), ranker.n_rows_
    (2, [12, 6])
    >>> ranker.decision_function(X[:4], groups=["a", "a", "b", "b"])
    array([0., 1., 0., 1.])
    """

    _held: ClassVar[Held] = Held(30.0, 1.0)

    __metadata_request__predict: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__decision_function: ClassVar[dict[str, bool]] = {"groups": True}

    order = "full"  # of the pairs that ``score`` counts

    rankers_: list[Any]
    n_rows_: list[int]

    def __init__(self, estimator: Any = None, *, keep: Sequence[float] = (0.5, 0.25), levels: Any = None) -> None:
        self.estimator = estimator
        self.keep = keep
        self.levels = levels

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> NestedRanker:
        """Fit stage after stage.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        y : array of shape (n,), or Grades
            Grades, higher is better; NaN: unjudged. Unjudged rows stand in their lists, but are not learned from.
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared, and each group is a list.
        sample_weight : array of shape (n,), optional
            Row weights, handed on to the rankers; 2 is the same as listing the row twice, also in what ``keep`` counts.
        """
        self._check_parameters()
        base = check_base(self.estimator)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_all_finite=finiteness(base))
        grades = read_plain_grades(y, groups, sample_weight, self.levels, X.shape[0], type(self).__name__)
        refuse_no_pairs(grades, grades.pairs.n_pairs)
        weight = grades.row_weights
        group = grades.list_codes
        inside = np.flatnonzero(weight > 0)
        size = sums_at(group, weight)
        self.n_groups_ = grades.n_groups
        self.rankers_ = []
        self.n_rows_ = []
        # invariant: `inside` are the rows that all stages so far have put at the top
        for keep in (*self.keep, None):
            rows = inside[grades.level[inside] >= 0]
            own = None if grades.group is None else group[rows]
            if not meeting(grades.level[rows], own, None, len(grades.levels)).any():
                break
            given = None if grades.weight is None else weight[rows]
            level = grades.level[rows].astype(np.int64)
            self.rankers_.append(fit_part(base, Sample(X[rows], Given(level, own, given))))
            self.n_rows_.append(len(rows))
            if keep is not None:
                scores = list_scores(self.rankers_[-1], X[inside], group[inside])
                inside = inside[_at_top(np.asarray(scores, dtype=float), group[inside], weight[inside], size, keep)]
        return self

    def decision_function(self, X: Any, groups: Any = None) -> Floats:
        """Return how many rows of its list stand below each row.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d), or data frame
        groups : array of shape (n,), optional
            The list of each row; without, all rows are one list.
        """
        check_is_fitted(self)
        finite = finiteness(self.rankers_[0])
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False, ensure_all_finite=finite)
        group, _ = encode_groups(groups, X.shape[0])
        lists = np.zeros(X.shape[0], np.int32) if group is None else group
        weight, size = np.ones(len(lists)), np.bincount(lists)
        stage, last, inside = np.zeros(len(lists), np.int64), np.zeros(len(lists)), np.arange(len(lists))
        for number, ranker in enumerate(self.rankers_):
            if number:
                top = _at_top(last[inside], lists[inside], weight[inside], size, self.keep[number - 1])
                inside = inside[top]
            stage[inside] = number
            last[inside] = list_scores(ranker, X[inside], lists[inside])
        return borda(_ranks(stage, last)[:, None], group)

    def predict(self, X: Any, groups: Any = None) -> Floats:
        """Return the score of each row: the same as ``decision_function``."""
        return self.decision_function(X, groups)

    def _check_parameters(self) -> None:
        if isinstance(self.keep, str) or not hasattr(self.keep, "__len__") or not len(self.keep):
            raise ValueError(
                f"keep must say how much of a list goes on to each stage, such as (0.5, 0.25); got {self.keep!r}"
            )
        for keep in self.keep:
            whole = isinstance(keep, Integral) and not isinstance(keep, bool) and 1 <= keep < 1 << 62
            share = isinstance(keep, Real) and not isinstance(keep, Integral) and 0 < float(keep) <= 1
            if not whole and not share:
                raise ValueError(f"keep holds {keep!r}; give whole numbers of rows, or shares in (0, 1]")

    def _fitted_state(self) -> dict[str, Part]:
        def check_stages(rankers: Any) -> None:
            if not 1 <= len(rankers) <= len(self.keep) + 1:
                raise ValueError(f"there are {len(rankers)} rankers for {len(self.keep) + 1} stages")

        rankers = both(list_of(fitted("decision_function", "predict"), "s"), checked(check_stages))
        return super()._fitted_state() | {
            "estimator": none_or(template()),
            "rankers_": rankers,
            "n_rows_": list_of(count(), "s"),
        }

    def __sklearn_tags__(self) -> Any:
        return with_tags_of(self.estimator, super().__sklearn_tags__())


def _at_top(scores: Floats, group: Ints, weight: Floats, size: Floats | Ints, keep: float) -> Bools:
    """Say which rows are among the first of their list: fewer than ``keep`` stand strictly above them.

    ``size`` is that of each whole list, of which a share is taken.
    """
    order = np.lexsort((-scores, group))
    s, g, w = scores[order], group[order], weight[order]
    before = np.cumsum(w) - w
    new_list = np.diff(g, prepend=-1) != 0
    new_run = new_list | (np.diff(s, prepend=np.nan) != 0)
    run, lists = np.cumsum(new_run) - 1, np.cumsum(new_list) - 1
    above = before[new_run][run] - before[new_list][lists]
    most = np.full(len(size), float(keep)) if isinstance(keep, Integral) else np.ceil(float(keep) * size - _ROUNDING)
    top = np.empty(len(scores), dtype=bool)
    top[order] = above < most[g] - _ROUNDING
    return top


def _ranks(stage: Ints, scores: Floats) -> Floats:
    """Give rows numbers that rise with the stage, then with the score; equal ones where both are equal."""
    order = np.lexsort((scores, stage))
    rises = (np.diff(stage[order], prepend=-1) != 0) | (np.diff(scores[order], prepend=np.nan) != 0)
    out = np.empty(len(stage))
    out[order] = np.cumsum(rises)
    return out


METHODS = {
    "nested-ranker": Method(
        "linear, the top of each list re-ranked in stages",
        lambda: NestedRanker(RankSVM()),
        inner_costs,
        takes=("grades",),
    ),
}
