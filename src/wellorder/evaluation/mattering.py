"""``wo.importance``: what matters overall, column by column, to a fitted model and on rows that it has not seen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..data import ComparisonTable, Table, TableRanker, column_names, is_frame
from ..deadline import TimeIsUp, time_is_up
from ..losses import LOSSES, risk_at
from ..metrics import AnyMetric, Influence, Metric, influence_of
from ..order import Comparisons, Grades, ListedPairs, draw_pairs
from ..samples import Sample, read_sample
from ..scoring import list_scores, warn_if_groups_are_lost
from ..spaces import Pairs
from ..suggest import suggest
from ..sweeps import Floats, Ints, sums_at
from ..writing import counted, one_line, write_metric, write_percent
from .attribution import NumberMixtures, Sampling, attribute, has_pieces, players_of, scores_rows_alone, summed_parts
from .explaining import cut_apart
from .judging import default_metrics, judge_model, read_metrics, rule_of
from .readable import Readable

# --------------------------------------------------------------------------------------------------
# What was found, as values and as a person reads it.


_SHOWN = 20
"""Columns that are written out one by one."""

_LONGEST = 40
"""Letters of a column's name."""


@dataclass(frozen=True)
class ColumnImportance:
    """What one column is worth to a model.

    Attributes
    ----------
    feature : str
    drop : float
        By how much the metric gets worse when the column is shuffled within lists, the mean over the shuffles. Below
        zero where the order got better without it.
    standard_error : float
        Of the drop, over other rows and other shuffles; NaN where the metric does not say.
    contribution : float or None
        How much the column adds, on average, to the score of a better row over that of a worse one. None for models
        whose contributions are not exact.
    """

    feature: str
    drop: float
    standard_error: float
    contribution: float | None = None


@dataclass(frozen=True, repr=False)
class Importance(Readable):
    """What matters overall.

    Attributes
    ----------
    metric : str
    value : float
        What the model reaches with all columns as they are.
    columns : tuple of ColumnImportance
        Those that were shuffled, the largest drop first.
    n_repeats : int
        How often each column was shuffled.
    unit : str
        What was taken to be independent for the standard errors: "rows", "groups" or "items"; "shuffles" where the
        metric is no mean over these, and other rows are not reckoned with.
    difference : float or None
        How far a better row's score is above a worse one's, on average: all contributions add up to it.
    how : str
        How the contributions were found; empty where there are none.
    greater_is_better, is_share : bool
        How the metric reads.
    n_columns : int or None
        How many columns there are; None where each of them was shuffled.
    is_learned : bool
        Whether these are the very rows that the model learned from, as far as that is known.
    """

    metric: str
    value: float
    columns: tuple[ColumnImportance, ...]
    n_repeats: int
    unit: str
    difference: float | None = None
    how: str = ""
    greater_is_better: bool = False
    is_share: bool = False
    n_columns: int | None = None
    is_learned: bool = False

    def without(self, column: ColumnImportance) -> float:
        """Return what the model reaches with one column shuffled."""
        return self.value - column.drop if self.greater_is_better else self.value + column.drop

    def share(self, column: ColumnImportance) -> float:
        """Return which share of the mean difference of two scores a column brings; NaN where that is not known."""
        if column.contribution is None or not self.difference:
            return math.nan
        return column.contribution / self.difference

    def headline(self) -> str:
        """Say in one sentence what the model reaches, and which columns that hangs on."""
        reached = f"{self.metric}: {self._write(self.value)}"
        counting = [each for each in self.columns if each.drop > 0 and not each.drop < 2 * each.standard_error]
        if not counting:
            return f"{reached}; no single column is missed beyond chance when it is shuffled."
        short = self._short_names()
        named = [f"with {short[each.feature]} shuffled {self._write(self.without(each))}" for each in counting[:3]]
        return f"{reached}; {', '.join(named)}."

    def head(self) -> tuple[str, ...]:
        """Return what stands above the columns of the table."""
        return ("column", "drop", "± s.e.", *(("share",) if self.how else ()))

    def table(self, top: int = _SHOWN) -> list[tuple[str, ...]]:
        """Return the lines of a table as text: column, drop, standard error, and its share where that is known."""
        short = self._short_names()
        return [
            (
                short[each.feature],
                self._write(each.drop),
                self._write(each.standard_error),
                *((_unsigned_zero(write_percent(self.share(each))),) if self.how else ()),
            )
            for each in self.columns[:top]
        ]

    def notes(self, top: int = _SHOWN) -> list[str]:
        """Say how to read the table."""
        found = []
        if len(self.columns) > top:
            found.append(f"Not shown: {counted(len(self.columns) - top, 'column')} with smaller drops.")
        if self.n_columns is not None:
            found.append(f"Shuffled: {len(self.columns):,} of {self.n_columns:,} columns.")
        if self.is_learned:
            found.append(
                "The model learned from these very rows, which flatters it, and the columns that it has learned by "
                "heart: give rows that it has not seen."
            )
        sure = "other shuffles alone" if self.unit == "shuffles" else f"other {_UNITS[self.unit]} and other shuffles"
        points = ", in points of per cent," if self.is_share else ""
        found.append(
            f"drop: how much worse {self.metric} gets{points} when the column is shuffled within lists, the mean of "
            f"{counted(self.n_repeats, 'shuffle')}; its standard error is over {sure}. Columns that say the same stand "
            "in for each other, and each of them then seems to matter little."
        )
        if self.how:
            found.append(
                f"share: of how far a better row's score is above a worse one's, what the column brings ({self.how})."
            )
        return found

    def to_frame(self) -> pl.DataFrame:
        """Return a data frame with one line a column."""
        return pl.DataFrame(
            {
                "column": [each.feature for each in self.columns],
                "drop": [each.drop for each in self.columns],
                "standard_error": [each.standard_error for each in self.columns],
                "contribution": [each.contribution for each in self.columns],
            },
            schema={
                "column": pl.String,
                "drop": pl.Float64,
                "standard_error": pl.Float64,
                "contribution": pl.Float64,
            },
        )

    def _write(self, value: float) -> str:
        return _unsigned_zero(write_metric(value, is_share=self.is_share))

    def _short_names(self) -> dict[str, str]:
        names = [each.feature for each in self.columns]
        return dict(zip(names, cut_apart([one_line(name) for name in names], _LONGEST), strict=True))


def _unsigned_zero(written: str) -> str:
    """Leave out the sign of what is rounded to zero."""
    return written if written.strip("-0. %") else written.removeprefix("-")


_UNITS = {"rows": "rows", "groups": "lists", "items": "items"}


# --------------------------------------------------------------------------------------------------
# Rows whose columns can be shuffled, whatever holds them.


@dataclass(frozen=True)
class _Shuffled:
    """A model, rows with their order, and how to exchange the values of one column between rows."""

    model: Any
    sample: Sample
    names: list[str]
    exchange: Callable[[int, Ints], Any]
    """Makes rows in which one column takes its values from other rows: given the column's number, and the row for each
    row."""
    numbers: Any
    """The rows as numbers; None if the model takes a data frame."""
    player: Ints
    """The column that each column of numbers belongs to."""

    def scores(self, rows: Any) -> Floats:
        """Return the model's scores."""
        return np.asarray(list_scores(self.model, rows, self.sample.order.group), dtype=float)

    @property
    def lists(self) -> tuple[Ints, Ints]:
        """The rows that are judged by, list by list, and the number of each one's list."""
        order = self.sample.order
        if isinstance(order, Comparisons):
            rows = np.unique(np.concatenate([order.left, order.right])).astype(np.int64)
            return rows, np.zeros(len(rows), np.int64)
        group = order.list_codes
        rows = np.argsort(group, kind="stable")
        return rows, group[rows]


def _of_numbers(model: Any, sample: Sample, names: list[str], player: Ints) -> _Shuffled:
    """Take rows of numbers, dense or sparse; columns of one player are exchanged together."""
    X: Any = sample.X.tocsc() if sp.issparse(sample.X) else np.asarray(sample.X)
    places: list[Ints] = [np.flatnonzero(player == k) for k in range(len(names))] if len(names) < 5_000 else []

    def exchange(column: int, source: Ints) -> Any:
        mine = places[column] if places else np.flatnonzero(player == column)
        if not sp.issparse(X):
            out = X.copy()
            out[:, mine] = X[np.ix_(source, mine)]
            return out
        out = X.copy()
        goes_to = np.empty(len(source), np.int64)
        goes_to[source] = np.arange(len(source))
        for k in mine.tolist():
            part = slice(X.indptr[k], X.indptr[k + 1])
            out.indices[part] = goes_to[X.indices[part]]
        out.has_sorted_indices = False
        return out.tocsr()

    return _Shuffled(model, sample, names, exchange, sample.X, player)


def _of_frame(model: Any, sample: Sample) -> _Shuffled:
    """Take a data frame, for models that look at names and types of columns."""
    frame = nw.from_native(sample.X, eager_only=True)

    def exchange(column: int, source: Ints) -> Any:
        name = frame.columns[column]
        others = frame[source.tolist()]
        parts = {each: (others if each == name else frame)[each] for each in frame.columns}
        if frame.implementation.is_pandas_like():  # rows keep their labels, or values would go back to where they were
            made = nw.to_native(frame).copy()
            made[name] = nw.to_native(others[name]).set_axis(made.index)
            return made
        return nw.from_dict(parts, backend=frame.implementation).to_native()

    names = column_names(sample.X)
    are_numbers = all(dtype.is_numeric() for dtype in frame.schema.values())
    numbers = frame.to_numpy() if are_numbers and _learned_numbers(model) else None
    return _Shuffled(model, sample, names, exchange, numbers, np.arange(len(names)))


def _learned_numbers(model: Any) -> bool:
    """Say whether a model takes columns as they come, so that an array of the same numbers is the same to it."""
    return not hasattr(model, "steps") and has_pieces(model)


def _read(model: Any, X: Any, y: Any, groups: Any, feature_names: Sequence[str] | None) -> _Shuffled:
    if isinstance(model, TableRanker):
        return _of_table(model, X, y, groups)
    if isinstance(X, Table | ComparisonTable):
        raise TypeError(f"a table goes with a TableRanker; {type(model).__name__} takes the columns themselves, and y")
    if not getattr(model, "looks_at_features", True):
        raise ValueError(f"{type(model).__name__} looks at no feature, so that none can matter to it")
    if get_tags(model).input_tags.pairwise:
        raise ValueError("a model with a precomputed kernel sees no features; fit one with kernel='rbf' or a callable")
    sample = read_sample(model, X, y, groups, None)
    if sample.holds_pairs:
        sample = _by_items(sample)
    elif not isinstance(sample.order, Comparisons):
        warn_if_groups_are_lost(model, sample.order.group, "pass them to importance as groups=", depth=2)
    if is_frame(sample.X):
        made = _of_frame(model, sample)
    else:
        X = sample.X if sp.issparse(sample.X) else np.asarray(sample.X)
        if X.ndim != 2:
            raise ValueError(f"X must be a table of rows and columns, got shape {X.shape}")
        named = getattr(model, "feature_names_in_", None)
        names = [f"x{place}" for place in range(X.shape[1])] if named is None else [str(name) for name in named]
        made = _of_numbers(model, Sample(X, sample.order), names, np.arange(X.shape[1]))
    if feature_names is None:
        return made
    given = [str(name) for name in feature_names]
    if len(given) != len(made.names):
        raise ValueError(f"there are {len(given)} feature names for {len(made.names)} columns; give one each")
    return _Shuffled(made.model, made.sample, given, made.exchange, made.numbers, made.player)


def _by_items(sample: Sample) -> Sample:
    """See pairs as comparisons of items, whose columns can be shuffled."""
    assert isinstance(sample.order, Comparisons)
    if isinstance(sample.X, Pairs):
        return Sample(sample.X.items, sample.order)
    X = np.asarray(sample.X)  # equal rows are the same item, as in the order
    return Sample(np.unique(X.reshape(-1, X.shape[-1]), axis=0), sample.order)


def _of_table(model: TableRanker, X: Any, y: Any, groups: Any) -> _Shuffled:
    """Take a table by its own columns, whatever numbers were made of them."""
    encoder = model.encoder_
    if encoder is None:
        raise ValueError(
            "this model gives each item a rating of its own and looks at no column, so that none can matter"
        )
    if isinstance(X, Table | ComparisonTable):
        if y is not None or groups is not None:
            raise ValueError("a table has its grades and groups itself; leave y and groups out")
        order, rows = X.order(), X.rows
        if isinstance(order, Grades) and not isinstance(X, ComparisonTable):
            warn_if_groups_are_lost(model, X.groups, "read the table with group=", depth=3)
    else:
        rows, order = X, _order_of(model, X, y, groups)
        if isinstance(order, Grades):
            warn_if_groups_are_lost(model, order.group, "pass them to importance as groups=", depth=3)
    encoded = encoder.transform(rows)
    if isinstance(order, Grades) and len(order) != encoded.shape[0]:
        raise ValueError(f"X has {encoded.shape[0]:,} rows, and y has {len(order):,}; give one grade a row")
    numbered = encoder.layout_ in ("sparse", "numbered")  # a number alone is no name in a sentence
    names = [f"feature {name}" if numbered else name for name in encoder.columns_]
    return _of_numbers(model.ranker_, Sample(encoded, order), names, players_of(encoder))


def _order_of(model: TableRanker, X: Any, y: Any, groups: Any) -> Grades | Comparisons:
    if isinstance(y, Grades | Comparisons):
        if groups is not None:
            raise ValueError(f"y is {type(y).__name__}, which has its groups itself; leave groups out")
        return y
    if y is None or groups is None:
        columns = {str(name): name for name in nw.from_native(X, eager_only=True).columns} if is_frame(X) else {}
        if y is None and model.target_ not in columns:
            raise ValueError("there is nothing to judge by: give y, or a frame with the model's column of grades")
        y = X[columns[str(model.target_)]] if y is None else y
        if groups is None and model.group_ in columns:
            groups = X[columns[str(model.group_)]]
    return Grades(y, groups, levels=model.levels_)


# --------------------------------------------------------------------------------------------------
# Shuffles: by how much the metric falls, and how sure that is.


def _sources(lists: tuple[Ints, Ints], n_rows: int, n_repeats: int, seed: int) -> list[Ints]:
    """Return for each shuffle the row that each row takes its value from: one of its own list."""
    rng = np.random.default_rng(seed)
    rows, group = lists
    out: list[Ints] = []
    for _ in range(n_repeats):
        source: Ints = np.arange(n_rows)
        source[rows] = rows[np.lexsort((rng.random(len(rows)), group))]
        out.append(source)
    return out


def _drops(
    shuffled: _Shuffled, metric: Metric, sources: list[Ints], chosen: Ints, progress: Callable[[int, int], None]
) -> tuple[float, Floats, Floats, str]:
    """Return the metric as it is, each chosen column's drop and standard error, and what these are over."""
    model, order, X = shuffled.model, shuffled.sample.order, shuffled.sample.X
    judged = Sample(X, order)
    base = shuffled.scores(X)
    value = judge_model(model, judged, [metric], base)[0]
    sign = 1.0 if metric.greater_is_better else -1.0
    rule = rule_of(model, order)
    first, unit = _influence(metric, order, base[:, None], rule), "shuffles"
    drop, error = np.zeros((2, len(chosen)))
    for number, column in enumerate(chosen.tolist()):
        _ask_the_time()
        columns = [shuffled.scores(shuffled.exchange(column, source)) for source in sources]
        progress(number + 1, len(chosen))
        if all(np.array_equal(scores, base) for scores in columns):
            continue
        values = np.array([judge_model(model, judged, [metric], scores)[0] for scores in columns])
        drop[number] = sign * (value - values.mean())
        variance = values.var(ddof=1) / len(values)
        if first is not None:
            others = _influence(metric, order, np.column_stack(columns), rule)
            if others is not None:
                variance += _row_variance(first, others, sources, len(base))
        error[number] = math.sqrt(variance)
    if first is not None:
        unit = first.unit
    return value, drop, error, unit


def _ask_the_time() -> None:
    if time_is_up():
        raise TimeIsUp("time was up before it was known what matters")


def _influence(metric: Metric, order: Grades | Comparisons, scores: Floats, rule: dict[str, float]) -> Influence | None:
    """Return what each row, list or item adds to the metric; None where it is no mean over several of these."""
    if metric.definition.parts is None:
        return None
    if isinstance(order, Grades) and not metric.definition.takes_weights:
        order = order.without_weights()
    try:
        found = influence_of(order, scores, metric, **rule)
    except ValueError:  # not defined: the value is NaN, and says so
        return None
    return found if found.n_units > 1 else None


def _row_variance(first: Influence, others: Influence, sources: list[Ints], n_rows: int) -> float:
    r"""Return how a drop varies with the rows that there happen to be.

    A row has two parts in what is left after a shuffle: with its own grade and other columns, and as the one that lent
    its value to another row; lists keep both within. What a part owes to one shuffle, and not to the row, is taken off:
    shuffles are reckoned with by themselves.
    """
    left = others.deviations
    apart = first.deviations[:, 0]
    if first.unit != "groups":
        left = np.zeros((n_rows, len(sources)))
        left[others.number] = others.deviations
        for k, source in enumerate(sources):
            lent = np.zeros(n_rows)
            lent[source] = left[:, k]
            left[:, k] += lent
        apart = np.zeros(n_rows)
        apart[first.number] = first.deviations[:, 0]
    apart = apart - left.mean(axis=1)
    shared = first.shared[:, 0] - others.shared.mean(axis=1) if len(first.shared) else np.zeros(0)
    by_chance = left.var(axis=1, ddof=1).sum() / len(sources)
    return float(max(apart @ apart - shared @ shared - by_chance, 0.0))


MOST_SHUFFLED = 1_000
"""With more columns, only the named ones or those that contribute most are shuffled."""

_SHUFFLED_OF_MANY = 200


def _choose(wanted: int | Sequence[int | str] | None, names: list[str], contribution: Floats | None) -> Ints:
    """Return the columns to shuffle, by their numbers."""
    if wanted is None and len(names) <= MOST_SHUFFLED:
        return np.arange(len(names))
    if wanted is None or isinstance(wanted, int | np.integer):
        if contribution is None:
            why = f"there are {len(names):,} columns, too many to shuffle each of them, and"
            why = why if wanted is None else f"columns={wanted} asks for those that contribute most, and"
            raise ValueError(
                f"{why} what each contributes to this model is not known; name those to shuffle (columns=[…], --column)"
            )
        most = _SHUFFLED_OF_MANY if wanted is None else int(wanted)
        if most < 1:
            raise ValueError(f"columns={wanted} is none; give how many, or their names")
        return np.sort(np.argsort(-np.abs(contribution), kind="stable")[:most])
    place = {name: number for number, name in enumerate(names)}
    found = []
    for each in [wanted] if isinstance(wanted, str) else wanted:
        number = place.get(each) if isinstance(each, str) else each
        if number is None or not 0 <= number < len(names):
            near = suggest(each, names) if isinstance(each, str) else f"there are {len(names):,}, from 0 on"
            raise ValueError(f"there is no column {each!r}; {near}")
        found.append(number)
    return np.unique(np.array(found, dtype=np.int64))


# --------------------------------------------------------------------------------------------------
# Contributions: what each column adds to the score of a better row over that of a worse one.


_DRAWN = 300
"""At most this many pairs are drawn to look at contributions, if all of them would take too long."""


def _contributions(shuffled: _Shuffled, seed: int) -> tuple[Floats, float, str] | None:
    """Return the mean contribution of each column, the mean difference, and how they were found; None if not exact."""
    X, order = shuffled.numbers, shuffled.sample.order
    if X is None or not has_pieces(shuffled.model) or not scores_rows_alone(shuffled.model):
        return None
    plain = order if isinstance(order, Comparisons) else order.without_weights().with_order("full")
    pairs = plain.to_pairs(X.shape[0])
    if not pairs.n_pairs:
        return None
    # at equal scores the slope of the squared hinge is −2 times what a row has below it, less what it has above it
    risk = risk_at(LOSSES["squared_hinge"], np.zeros(X.shape[0]), pairs)
    net = -0.5 * risk.gradient / pairs.total
    whole = summed_parts(shuffled.model, X, net)
    if whole is not None:
        by_player = sums_at(shuffled.player, whole, minlength=len(shuffled.names))
        return by_player, float(whole.sum()), f"exact, over all {counted(pairs.n_pairs, 'pair')}"
    rng = np.random.default_rng(seed)
    if isinstance(pairs, ListedPairs):
        chosen = rng.choice(pairs.n_pairs, _DRAWN, p=pairs.weight / pairs.total)
        high, low = pairs.high[chosen], pairs.low[chosen]
    else:  # each row with one other, and of these some, by how many pairs the row is in: every pair is as likely
        drawn = draw_pairs(pairs, 1, rng)
        degree = risk.hessian_diagonal()[pairs.arranged]
        chosen = rng.choice(len(drawn.high), _DRAWN, p=degree / degree.sum())
        high, low = drawn.high[chosen], drawn.low[chosen]
    total, scores = np.zeros(len(shuffled.names)), shuffled.scores(X)
    for a, b in zip(high.tolist(), low.tolist(), strict=True):
        _ask_the_time()
        both = NumberMixtures(X[[a, b]], shuffled.player, len(shuffled.names))
        found = attribute(shuffled.model, both, scores[[a, b]], Sampling(2, 0))
        if not found.how.startswith("exact"):
            return None
        total += found.contribution / _DRAWN
    return total, float(total.sum()), f"exact for each of {_DRAWN} pairs, drawn at random"


def importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    metric: AnyMetric | None = None,
    n_repeats: int = 5,
    columns: int | Sequence[int | str] | None = None,
    feature_names: Sequence[str] | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Importance:
    r"""Say what matters overall: how much worse a model orders when a column is shuffled within lists.

    A column whose values are exchanged between the rows of a list says nothing of them any more, and is distributed as
    before; the metric falls by what the model had from it. Give rows that the model has not learned from: on its
    training rows, columns matter that it has merely learned by heart. For linear models, sums over single columns and
    trees there is as well what each column adds to the score of a better row over that of a worse one
    (:func:`explain` of the two, summed over all pairs; over 300 of them for trees).

    Parameters
    ----------
    model : estimator
        Fitted: a ranker, a pipeline, a search, a model of comparisons, or a TableRanker, whose columns are the
        table's own.
    X : array, sparse matrix or data frame of shape (n, d); Pairs; or, for a TableRanker, a Table or ComparisonTable
    y : array of shape (n,), Grades or Comparisons
        With ``Comparisons``, X holds the items, and their columns are shuffled. A table has its own.
    groups : array of shape (n,), optional
        One id a row: only rows of one group are compared, and values are exchanged within groups.
    metric : str, Metric or Definition, optional
        What falls; swapped pairs unless given, or the comparison error where comparisons have ties.
    n_repeats : int, default=5
        How often each column is shuffled.
    columns : int, or sequence of names or places, optional
        Which columns to shuffle, or how many of those that contribute most. All unless given; of more than 1,000, the
        200 that contribute most, where what each contributes is known.
    feature_names : sequence of d texts, optional
        What to call the columns of an array; the model's own names, or x0, x1, …, unless given.
    random_state : int, default=0
        Seed of the shuffles: all columns have the same.
    progress : function of (done, total), optional
        Called after each column.

    Returns
    -------
    Importance
        It prints as a sentence and a table. Standard errors are over other rows and shuffles (of lists, where there
        are several; of items, for comparisons).

    References
    ----------
    Fisher, Rudin, Dominici (2019), All models are wrong, but many are useful (there: model reliance).

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 3))
    >>> y = np.round(2 * X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(400))
    >>> model = wo.RankSVM().fit(X[:200], y[:200])
    >>> found = wo.importance(model, X[200:], y[200:])
    >>> [(each.feature, round(each.drop, 2)) for each in found.columns]
    [('x0', 0.42), ('x1', 0.18), ('x2', -0.0)]
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"model must be a fitted model, got {model!r}")
    check_is_fitted(model)
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, Integral) or n_repeats < 2:
        raise ValueError(f"n_repeats must be a whole number of at least 2, got {n_repeats!r}")
    shuffled = _read(model, X, y, groups, feature_names)
    order = shuffled.sample.order
    (measure,) = read_metrics(default_metrics(order)[0] if metric is None else metric, order.kind)
    sources = _sources(shuffled.lists, shuffled.sample.X.shape[0], int(n_repeats), random_state)
    with warnings.catch_warnings():
        # a model of a data frame's columns is asked about an array of the same numbers
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        parts = _contributions(shuffled, random_state)
    chosen = _choose(columns, shuffled.names, None if parts is None else parts[0])
    value, drop, error, unit = _drops(shuffled, measure, sources, chosen, progress or (lambda done, total: None))
    if math.isnan(value):
        raise ValueError(
            f"{measure} is not defined on these rows, so that nothing can be missed; give rows with a pair"
        )
    found = [
        ColumnImportance(
            shuffled.names[column], float(drop[k]), float(error[k]), None if parts is None else float(parts[0][column])
        )
        for k, column in enumerate(chosen.tolist())
    ]
    found.sort(key=lambda each: (-each.drop, -abs(each.contribution or 0.0)))
    difference, how = (None, "") if parts is None else parts[1:]
    reads = measure.greater_is_better, measure.definition.is_share
    of_all = None if len(chosen) == len(shuffled.names) else len(shuffled.names)
    order = shuffled.sample.order
    learned = isinstance(model, TableRanker) and model.learned_from(
        int(np.count_nonzero(order.is_judged)), shuffled.scores(shuffled.sample.X)
    )
    return Importance(str(measure), value, tuple(found), int(n_repeats), unit, difference, how, *reads, of_all, learned)
