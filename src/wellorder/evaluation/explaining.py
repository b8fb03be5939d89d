"""``wo.explain``: why one item stands above another."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..data import (
    ComparisonTable,
    PairTable,
    Table,
    TableEncoder,
    TableRanker,
    as_rows,
    column_names,
    from_objects,
    is_frame,
    pick_columns,
    read_columns_of,
    to_series,
)
from ..estimators import CompareModel
from ..order import as_objects, is_missing
from ..scoring import advantage_of, list_scores
from ..spaces import Pairs
from ..suggest import suggest
from ..sweeps import Array, Floats, Ints
from ..writing import counted, one_line
from .attribution import (
    FrameMixtures,
    Mixtures,
    NumberMixtures,
    Sampling,
    Shares,
    attribute,
    players_of,
    scores_rows_alone,
)
from .judging import threshold_of
from .readable import Readable

# --------------------------------------------------------------------------------------------------
# Long names, cut to fit and still told apart.


_MARK = "…"

_ROUNDS = 20
"""Lines that begin alike may fall into parts that differ further on, and these again."""


def cut(line: str, most: int) -> str:
    """Keep the beginning of a line.

    Examples
    --------
    >>> from wellorder.evaluation.explaining import cut
    >>> cut("residual sugar, grams in each litre", 20)
    'residual sugar, gra…'
    """
    return line if len(line) <= most else line[: most - 1].rstrip() + _MARK


def cut_apart(lines: Sequence[str], most: int) -> list[str]:
    """Cut lines to at most so many characters; those that would then look alike keep the place where they differ.

    Examples
    --------
    >>> from wellorder.evaluation.explaining import cut_apart
    >>> cut_apart(["hours worked a week in 2019", "hours worked a week in 2020", "age"], 16)
    ['hours…in 2019', 'hours…in 2020', 'age']
    """
    short = {line: cut(line, most) for line in lines}
    for _ in range(_ROUNDS):
        alike: dict[str, list[str]] = {}
        for line, own in short.items():
            alike.setdefault(own, []).append(line)
        groups = [group for group in alike.values() if len(group) > 1]
        if not groups:
            break
        for group in groups:
            differ = _first_difference(min(group), max(group))  # any other two agree at least as far
            short |= {line: _around(line, differ, most) for line in group}
    return [short[line] for line in lines]


def _first_difference(one: str, other: str) -> int:
    both = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))


def _around(line: str, differ: int, most: int) -> str:
    """Keep a little of the beginning, and the words around the place where lines differ."""
    head = max(1, most // 3)
    room = most - head - 1
    earliest = max(differ - room // 2, 0)
    word = line.find(" ", max(earliest - 1, 0), differ) + 1
    begin = word if word > 0 else earliest
    return f"{line[:head].rstrip()}{_MARK}{cut(line[begin:], room)}"


# --------------------------------------------------------------------------------------------------
# What explains an order of two items, as values and as a person reads it.


_SHOWN = 10
"""Features that are written out one by one."""

_REASONS = 3
"""At most this many features are named as the reason."""

_SMALL = 0.1
"""A feature is no reason if it adds less than this share of what the first one adds."""

_LONGEST = 40
"""Names and text values are cut to this many letters."""


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the difference of two scores.

    Attributes
    ----------
    feature : str
    a, b : float, str or None
        The two items' values; None where one is missing.
    contribution : float
        Positive where it speaks for a.
    standard_error : float
        Of an estimate; 0 where the contribution is exact.
    """

    feature: str
    a: float | str | None
    b: float | str | None
    contribution: float
    standard_error: float = 0.0


@dataclass(frozen=True, repr=False)
class Explanation(Readable):
    """Why a stands above b, or below it.

    Attributes
    ----------
    a, b : str
        What the two items are called.
    score_a, score_b : float
    contributions : tuple of Contribution
        One a feature, the largest first; they add up to ``difference``.
    how : str
        How they were found: 'exact: …' or 'estimated: …'.
    threshold : float
        Scores that differ by so much or less are called no different by the model; 0 unless it learned from ties.
    probability : tuple of three floats or None
        P(a better), P(tie) and P(b better), where the model of comparisons has them.
    """

    a: str
    b: str
    score_a: float
    score_b: float
    contributions: tuple[Contribution, ...]
    how: str
    threshold: float = 0.0
    probability: tuple[float, float, float] | None = None

    @property
    def difference(self) -> float:
        """How far a's score is above b's."""
        return self.score_a - self.score_b

    @property
    def is_exact(self) -> bool:
        """Whether the contributions are computed, not estimated."""
        return self.how.startswith("exact")

    def headline(self) -> str:
        """Say in one sentence which of the two stands above, by how much, and mostly why."""
        a, b, d = write_value(self.a), write_value(self.b), self.difference
        if d == 0:
            return f"{a} and {b} have the same score, {self.score_a:.4g}."
        side = "above" if d > 0 else "below"
        told = f"{a} stands {side} {b} by {abs(d):.3g} ({self.score_a:.4g} against {self.score_b:.4g})"
        speaking = [each for each in self.contributions if each.contribution * d > 0]
        named = [c for c in speaking if abs(c.contribution) > _SMALL * abs(speaking[0].contribution)]
        short = self._short_names()
        reasons = [_write_reason(short[part.feature], part, self.write(part.contribution)) for part in named]
        return told + (f", mostly because of {'; '.join(reasons[:_REASONS])}." if reasons else ".")

    def notes(self) -> list[str]:
        """Say what else the model has to say of the two, and how the contributions were found."""
        found = []
        if 0 < abs(self.difference) <= self.threshold:
            found.append(f"The model calls them no different: scores up to {self.threshold:.3g} apart are a tie to it.")
        if self.probability is not None:
            better, tie, worse = (f"{100 * chance:.0f} %" for chance in self.probability)
            a, b = write_value(self.a), write_value(self.b)
            found.append(f"Probabilities: {a} better {better}, tie {tie}, {b} better {worse}.")
        return [*found, f"Contributions are {self.how}."]

    def table(self, top: int = _SHOWN) -> list[tuple[str, str, str, str]]:
        """Return the lines of a table as text: feature, value in a, value in b, contribution; the last is the sum."""
        n_shown = sum(each.contribution != 0 for each in self.contributions)
        n_shown = n_shown if n_shown <= top + 1 else top  # one more is shown rather than summed up as '1 other'
        shown, rest = self.contributions[:n_shown], self.contributions[n_shown:]
        short = self._short_names()
        lines = [(short[c.feature], write_value(c.a), write_value(c.b), self._write_part(c)) for c in shown]
        if rest:
            others = math.fsum(c.contribution for c in rest)
            lines.append((counted(len(rest), "other feature" if shown else "feature"), "", "", self.write(others)))
        return [*lines, ("all", "", "", self.write(self.difference))]

    def to_frame(self) -> pl.DataFrame:
        """Return the contributions as a data frame; values of items are written as text."""
        return pl.DataFrame(
            {
                "feature": [each.feature for each in self.contributions],
                "a": [None if each.a is None else str(each.a) for each in self.contributions],
                "b": [None if each.b is None else str(each.b) for each in self.contributions],
                "contribution": [each.contribution for each in self.contributions],
                "standard_error": [each.standard_error for each in self.contributions],
            },
            schema={
                "feature": pl.String,
                "a": pl.String,
                "b": pl.String,
                "contribution": pl.Float64,
                "standard_error": pl.Float64,
            },
        )

    def write(self, value: float) -> str:
        """Write a contribution, or a sum of some: all of one explanation to the same digit."""
        largest = abs(self.contributions[0].contribution) if self.contributions else 0.0
        return write_signed(value, max(largest, abs(self.difference)))

    def _short_names(self) -> dict[str, str]:
        """Return what each feature is called in a line, long names cut so that they stay apart."""
        names = [part.feature for part in self.contributions]
        return dict(zip(names, cut_apart([one_line(name) for name in names], _LONGEST), strict=True))

    def _write_part(self, part: Contribution) -> str:
        error = f" ± {part.standard_error:.1g}" if part.standard_error > 0 else ""
        return self.write(part.contribution) + error

    def head(self) -> tuple[str, str, str, str]:
        """Return what stands above the columns of the table."""
        return "feature", write_value(self.a), write_value(self.b), "contribution"


def write_value(value: float | str | None) -> str:
    r"""Write a name or a value in one short line.

    Examples
    --------
    >>> from wellorder.evaluation.explaining import write_value
    >>> [write_value(value) for value in (3.0, 0.12345678, 23456.7, "red\nwine", None)]
    ['3', '0.1235', '23457', 'red wine', 'missing']
    """
    if value is None:
        return "missing"
    if isinstance(value, str):
        return cut(one_line(value), _LONGEST)
    whole = 1e4 <= abs(value) < 1e15 or value == round(value, 0)
    return f"{value:.0f}" if whole and abs(value) < 1e15 else f"{value:.4g}"


def write_signed(value: float, largest: float) -> str:
    """Write a contribution with its sign, to the digit that matters beside the largest.

    Examples
    --------
    >>> from wellorder.evaluation.explaining import write_signed
    >>> [write_signed(value, largest=1.5) for value in (1.234, -0.0678, 0.0001)]
    ['+1.23', '-0.07', '+0.00']
    """
    if value == 0:
        return "0"
    place = math.floor(math.log10(max(abs(value), abs(largest))))
    return f"{value:+.{max(0, 2 - place)}f}" if -5 <= place < 9 else f"{value:+.2e}"


def _write_reason(name: str, part: Contribution, written: str) -> str:
    """Write a feature, its two values and what they bring: ``price: 3.1 against 5 (+0.9)``."""
    return f"{name}: {write_value(part.a)} against {write_value(part.b)} ({written})"


# --------------------------------------------------------------------------------------------------
# Two items to be compared, however they are named: by their values, by row number or by name.


_NAMES = ("a", "b")

_NUMBERED = re.compile(r"(?:row )?([0-9]{1,15})")
"""A row without a name is called "row 7", as in ranked lists, or just "7"; rows are counted from 1."""


class TwoRows(NamedTuple):
    """Two rows, as the model takes them, and what they are called."""

    rows: Any
    names: tuple[str, str]


def take_two(items: Any, a: Any, b: Any, item: str | None = None) -> TwoRows:
    """Take two rows of a table, by row number (from 0) or by name.

    Parameters
    ----------
    items : Table, ComparisonTable or PairTable (their items), data frame, array or sparse matrix
    a, b : int or str
    item : str, optional
        The column of a data frame that holds names.
    """
    items = items.items if isinstance(items, ComparisonTable | PairTable) else items
    if not isinstance(items, Table) and not is_frame(items) and not sp.issparse(items):
        items = np.asarray(items)
        if items.ndim != 2:
            raise ValueError(f"items must be a table with one row an item, got shape {items.shape}")
    names = _names(items, item)
    n = len(items) if isinstance(items, Table) else int(items.shape[0])
    found = [_row(each, n, names, getattr(items, "source", "items")) for each in (a, b)]
    called = [f"items[{row}]" if names is None else str(names[row]) for row in found]
    if isinstance(items, Table):
        return TwoRows(items.take(np.array(found)), (called[0], called[1]))
    if is_frame(items):
        return TwoRows(nw.from_native(items, eager_only=True)[found].to_native(), (called[0], called[1]))
    return TwoRows(items.tocsr()[found] if sp.issparse(items) else items[found], (called[0], called[1]))


def join_two(a: Any, b: Any) -> TwoRows:
    """Put two rows below each other: arrays, mappings from column to value, data frames or tables of one row."""
    columns = [_as_columns(each, name) for each, name in zip((a, b), _NAMES, strict=True)]
    if columns[0] is not None and columns[1] is not None:
        return TwoRows(_frame_of(columns[0], columns[1]), (_called(a, "a"), _called(b, "b")))
    if columns[0] is not None or columns[1] is not None:
        raise ValueError("one of a and b has named columns and the other has none; give both the same way")
    rows = [_as_row(each, name) for each, name in zip((a, b), _NAMES, strict=True)]
    if rows[0].shape != rows[1].shape:
        raise ValueError(f"a has {rows[0].shape[1]} values and b has {rows[1].shape[1]}; give both the same features")
    if any(map(sp.issparse, rows)):
        return TwoRows(sp.csr_array(sp.vstack([sp.csr_array(row) for row in rows])), (_called(a, "a"), _called(b, "b")))
    return TwoRows(np.concatenate(rows), ("a", "b"))


def _names(items: Any, item: str | None) -> Any:
    """Return what rows are called, or None."""
    if isinstance(items, Table):
        return items.names()
    if item is not None and is_frame(items):
        frame = nw.from_native(items, eager_only=True)
        return frame[item].to_list() if item in frame.columns else None
    return None


def find_row(items: Table, which: str, among: Any = None) -> int:
    """Return the row of a table, from 0, that a name or a number (from 1, as in ranked lists) means.

    Parameters
    ----------
    items : Table
    which : str
        A name goes before a number.
    among : array of bool of shape (n,), optional
        The rows that it may be.

    Examples
    --------
    >>> import polars as pl
    >>> from wellorder.data import Table
    >>> from wellorder.evaluation.explaining import find_row
    >>> wines = Table("wines.csv", pl.DataFrame({"ph": [3.0, 3.1, 3.4]}))
    >>> find_row(wines, "row 2"), find_row(wines, "3")
    (1, 2)
    """
    return _row(which, len(items), items.names(), items.source, among)


def _row(which: Any, n: int, names: Any, source: str, among: Any = None) -> int:
    """Return the number of the row that is meant."""
    if isinstance(which, Integral) and not isinstance(which, bool):
        number = int(which)
        if not -n <= number < n:
            raise IndexError(f"there is no row {number}: {source} has {n:,} of them, numbered from 0")
        return number % n
    if not isinstance(which, str):
        raise TypeError(f"with items=, name a and b by row number or by name, not by {type(which).__name__}")
    if names is None:
        raise ValueError(f"the items have no names to look {which!r} up in; give row numbers, or a table with names")
    allowed = np.ones(n, dtype=bool) if among is None else np.asarray(among)
    found = [row for row, name in enumerate(names) if str(name) == which and allowed[row]]
    numbered = _NUMBERED.fullmatch(which)
    if not found and numbered is not None and 1 <= int(numbered[1]) <= n:
        if not allowed[int(numbered[1]) - 1]:
            raise ValueError(f"row {numbered[1]} of {source} stands in another list; name one of this list")
        return int(numbered[1]) - 1
    if not found:
        called = (str(name) for row, name in enumerate(names) if allowed[row] and str(name) != f"row {row + 1}")
        known = list(dict.fromkeys(called))  # a row without a name is known by its number
        rows = f"; its rows are numbered from 1 to {n:,}" if numbered is not None or not known else ""
        advice = f"; {suggest(which, known, 'its items are')}" if known else ""
        raise ValueError(f"there is no item {which!r} in {source}{rows}{advice}")
    if len(found) > 1:
        rows = ", ".join(f"'row {row + 1}'" for row in found[:3]) + (", …" if len(found) > 3 else "")
        raise ValueError(f"{source} has {len(found):,} rows called {which!r}; give one list, or name one of {rows}")
    return found[0]


def _as_columns(row: Any, name: str) -> dict[str, Any] | None:
    """Return one row's values by column; None for one without names of columns."""
    if isinstance(row, Table):
        if not isinstance(row.X, pl.DataFrame):
            return None
        row = row.X
    if isinstance(row, Mapping):
        return {str(key): value for key, value in row.items()}
    if is_frame(row):
        frame = nw.from_native(row, eager_only=True)
        _refuse_many(len(frame), name)
        return {str(key): frame[key].to_list()[0] for key in frame.columns}
    if hasattr(row, "index") and hasattr(row, "to_dict"):  # a row of pandas
        return {str(key): value for key, value in row.to_dict().items()}
    return None


def _frame_of(a: dict[str, Any], b: dict[str, Any]) -> pl.DataFrame:
    lacking = [key for key in (*a, *b) if key not in a or key not in b]
    if lacking:
        with_it, without = ("a", "b") if lacking[0] in a else ("b", "a")
        raise ValueError(f"{with_it} has a column {lacking[0]!r} and {without} has none; give both the same columns")
    columns = {}
    for key in a:
        entries = as_objects(None if is_missing(value) else value for value in (a[key], b[key]))
        columns[key] = to_series(key, from_objects(entries))
    return pl.DataFrame(list(columns.values()))


def _as_row(row: Any, name: str) -> Any:
    """Return one row of numbers as an array of shape (1, d)."""
    row = row.X if isinstance(row, Table) else row
    if not sp.issparse(row):
        row = np.asarray(row)
        if row.ndim == 0:
            what = f"{row.item()!r}"
            raise ValueError(f"{name} is {what}: give the values of one row, or items= to look {what} up in")
        if row.dtype.kind in "biu":
            row = row.astype(float)
    row = row.reshape(1, -1) if row.ndim == 1 else row
    if row.ndim != 2:
        raise ValueError(f"{name} must be one row, got shape {row.shape}")
    _refuse_many(row.shape[0], name)
    return row


def _refuse_many(n_rows: int, name: str) -> None:
    if n_rows != 1:
        raise ValueError(
            f"{name} must be one row, got {n_rows:,}; give items= and the row's number to take one of many"
        )


def _called(row: Any, name: str) -> str:
    return str(row.ids[0]) if isinstance(row, Table) and row.ids is not None else name


# --------------------------------------------------------------------------------------------------
# The explanation of two items.


def explain(
    model: Any,
    a: Any,
    b: Any,
    *,
    items: Any = None,
    names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    n_orders: int = 200,
    random_state: int = 0,
) -> Explanation:
    r"""Say why a stands above b: how much each feature adds to the difference of their scores.

    Let the features that are in S have a's values and all others b's, and f(S) be the model's score of that mixture.
    The contribution of feature j is its Shapley value between the two rows,

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|! \, (d - 1 - |S|)!}{d!} \, \bigl( f(S \cup j) - f(S) \bigr),

    the mean gain from exchanging its value, over all orders of exchange. Contributions add up to f(a) − f(b);
    explaining b against a changes their signs; a feature with the same value in both adds nothing. They are exact for
    linear models (weight times difference), for sums over single features and for trees, and for other models where at
    most ten features differ; else they are estimated, with standard errors. They say what moves this model's scores,
    not what makes an item good.

    Parameters
    ----------
    model : estimator
        Fitted: one that scores each row by itself, a pipeline, a search, or a TableRanker, whose contributions are
        those of the table's own columns. Models whose scores depend on the whole list are refused.
    a, b : one row each
        An array of d numbers, a data frame or table of one row, or a mapping from columns to values. With ``items``, a
        row's number (from 0) or name. For a model that rates items by name, a name.
    items : Table, data frame, array or sparse matrix, optional
        Where to look a and b up.
    names : two texts, optional
        What to call the two.
    feature_names : sequence of d texts, optional
        What to call the columns of an array; the model's own names, or x0, x1, …, unless given.
    n_orders : int, default=200
        How many orders of exchange an estimate is made of.
    random_state : int, default=0
        Seed of these.

    Returns
    -------
    Explanation
        It prints as a sentence and a small table.

    References
    ----------
    Sundararajan, Najmi (2020), The many Shapley values for model explanation (there: baseline Shapley).

    Examples
    --------
    >>> import polars as pl
    >>> import wellorder as wo
    >>> from wellorder.data import TableRanker
    >>> wines = pl.DataFrame({"ph": [3.0, 3.1, 3.4], "colour": ["red", "white", "red"], "quality": [4, 5, 6]})
    >>> model = TableRanker(wo.RankSVM(), target="quality").fit(wines)
    >>> found = wo.explain(model, 2, 1, items=wines, names=["Rioja", "Mosel"])
    >>> print(found.headline())
    Rioja stands above Mosel by 0.874 (0.7816 against -0.09195), mostly because of ph: 3.4 against 3.1 (+1.24).
    >>> [(part.feature, round(part.contribution, 2)) for part in found.contributions]
    [('ph', 1.24), ('colour', -0.37)]
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"model must be a fitted model, got {model!r}")
    check_is_fitted(model)
    if isinstance(n_orders, bool) or not isinstance(n_orders, Integral) or n_orders < 2:
        raise ValueError(f"n_orders must be a whole number of at least 2, got {n_orders!r}")
    _refuse_models_of_lists(model)
    two = _read(model, a, b, items)
    if names is not None:
        if isinstance(names, str) or len(names) != 2:
            raise ValueError(f"names must be two texts, what to call a and b; got {names!r}")
        two = TwoRows(two.rows, (str(names[0]), str(names[1])))
    sampling = Sampling(int(n_orders), random_state)
    if isinstance(model, TableRanker):
        return _explain_ratings(model, two) if model.encoder_ is None else _explain_table(model, two, sampling)
    return _explain_rows(model, two, feature_names, sampling)


def _refuse_models_of_lists(model: Any) -> None:
    ranker = model.ranker_ if isinstance(model, TableRanker) else model
    if not scores_rows_alone(ranker):
        raise ValueError(
            f"{type(ranker).__name__} has no score for a row by itself: its scores depend on the list that it is in, "
            "so that the features of two rows do not account for their difference; explain one of its rankers, or a "
            "model such as RankSVM or OrderBoost"
        )
    if not isinstance(model, TableRanker) and not getattr(model, "looks_at_features", True):
        raise ValueError(
            f"{type(model).__name__} looks at no feature: compare its ratings_, there is nothing else to it"
        )
    if get_tags(ranker).input_tags.pairwise:
        raise ValueError("a model with a precomputed kernel sees no features; fit one with kernel='rbf' or a callable")


def _read(model: Any, a: Any, b: Any, items: Any) -> TwoRows:
    if items is not None:
        two = take_two(items, a, b, getattr(model, "item_", None))
        if isinstance(model, TableRanker) and model.group_ is not None and isinstance(two.rows, Table):
            groups = two.rows.groups
            if groups is not None and groups[0] != groups[1]:
                warnings.warn(
                    f"{two.names[0]} and {two.names[1]} stand in different lists ({groups[0]} and {groups[1]}), and "
                    "the model has only learned to compare rows of one list",
                    stacklevel=3,
                )
        return two
    if isinstance(model, TableRanker) and model.encoder_ is None and isinstance(a, str) and isinstance(b, str):
        return TwoRows([a, b], (a, b))
    return join_two(a, b)


def _explain_rows(model: Any, two: TwoRows, feature_names: Sequence[str] | None, sampling: Sampling) -> Explanation:
    """Explain rows of numbers, or of a data frame."""
    rows = two.rows.X if isinstance(two.rows, Table) else two.rows
    scores = _two_scores(model, rows)
    if is_frame(rows):
        mixtures: Mixtures = (frame := FrameMixtures(rows))
        features, values = column_names(rows), frame.values
    else:
        mixtures = (numbers := NumberMixtures(rows))
        features, values = _feature_names(model, mixtures.n_players), list(numbers.numbers.T)
    if feature_names is not None:
        features = [str(name) for name in feature_names]
        if len(features) != mixtures.n_players:
            raise ValueError(f"there are {len(features)} feature names for {mixtures.n_players} columns; give one each")
    shares = attribute(model, mixtures, scores, sampling)
    return _explanation(two.names, scores, _contributions(features, values, shares), shares.how, model, rows)


def _explain_table(model: TableRanker, two: TwoRows, sampling: Sampling) -> Explanation:
    """Explain rows of a table by its own columns, whatever numbers were made of them."""
    encoder = model.encoder_
    assert encoder is not None
    encoded = encoder.transform(two.rows)  # once: it may warn of values that training has not seen
    scores = _two_scores(model.ranker_, encoded)
    mixtures = NumberMixtures(encoded, players_of(encoder), len(encoder.columns_))
    shares = attribute(model.ranker_, mixtures, scores, sampling)
    values = _own_values(encoder, two.rows)
    found = _contributions(encoder.columns_, values, shares)
    return _explanation(two.names, scores, found, shares.how, model.ranker_, encoded)


def _explain_ratings(model: TableRanker, two: TwoRows) -> Explanation:
    """Explain items by their ratings: there is nothing else to them."""
    scores = np.asarray(model.decision_function(two.rows), dtype=float)
    own = Contribution("rating", float(scores[0]), float(scores[1]), float(scores[0] - scores[1]))
    how = "exact: each item has a rating of its own, learned from its comparisons, and no feature is looked at"
    if advantage_of(model):
        how += "; neither of the two has the first move"
    chances = None
    if hasattr(model.ranker_, "probabilities"):
        chances = model.ranker_.probabilities([own.contribution])
    return _explanation(two.names, scores, (own,), how, model.ranker_, None, chances)


def _two_scores(model: Any, rows: Any) -> Floats:
    scores = np.asarray(list_scores(model, rows))
    if scores.shape != (2,) or scores.dtype.kind not in "fiu":
        raise ValueError(
            f"{type(model).__name__} gives no single number a row ({scores.dtype} of shape {scores.shape} for two "
            "rows), and an order needs one; explain a ranker, a regression or a classifier of two classes"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"the two scores are {scores[0]} and {scores[1]}; what is not finite cannot be accounted for")
    return scores


def _contributions(features: Sequence[str], values: Sequence[Array], shares: Shares) -> tuple[Contribution, ...]:
    """Join what belongs to a feature; the largest contribution first."""
    by_size = np.argsort(-np.abs(shares.contribution), kind="stable")
    return tuple(
        Contribution(
            str(features[k]),
            _plain(values[k][0]),
            _plain(values[k][1]),
            float(shares.contribution[k]) + 0.0,  # no negative zero
            float(shares.error[k]),
        )
        for k in by_size.tolist()
    )


def _explanation(
    names: tuple[str, str],
    scores: Floats,
    contributions: tuple[Contribution, ...],
    how: str,
    model: Any,
    rows: Any,
    chances: Any = None,
) -> Explanation:
    if isinstance(model, CompareModel) and hasattr(model, "predict_proba"):
        numbers = rows if sp.issparse(rows) or not is_frame(rows) else FrameMixtures(rows).numbers
        chances = model.predict_proba(Pairs(numbers, [1], [0]))  # a is the right one
    probability = None
    if chances is not None:
        b_better, tie, a_better = np.asarray(chances, dtype=float)[0].tolist()
        probability = (a_better, tie, b_better)
    return Explanation(*names, float(scores[0]), float(scores[1]), contributions, how, threshold_of(model), probability)


def _own_values(encoder: TableEncoder, rows: Any) -> list[Array]:
    """Return the two values of each of the table's columns, as the user gave them."""
    rows = rows.X if isinstance(rows, Table) else rows
    if encoder.layout_ in ("sparse", "numbered"):
        columns: Ints = np.array(encoder.columns_, dtype=np.int64) - 1
        return list(pick_columns(as_rows(rows), columns).toarray().T)
    if is_frame(rows):
        wanted = encoder.columns_ if encoder.layout_ == "columns" else column_names(rows)
        return list(read_columns_of(rows, wanted).values())
    array = np.asarray(rows)
    return [from_objects(column) if column.dtype == object else column for column in array.T]


def _feature_names(model: Any, n: int) -> list[str]:
    named = getattr(model, "feature_names_in_", None)
    return [f"x{place}" for place in range(n)] if named is None else [str(name) for name in named]


def _plain(value: Any) -> float | str | None:
    """Return a value as plain Python has it; None where it is missing."""
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else float(value)
