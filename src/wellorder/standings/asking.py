"""What is asked of votes: tables and options in, numbered votes with effects, clusters and judges out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from ..data import ComparisonTable, PairTable, Places, TableEncoder
from ..order import Comparisons, refuse_lost_weights
from ..suggest import suggest
from ..sweeps import Array, Bools, Floats, Ints
from .standings import Standings, as_names
from .votes import DECIDED, Votes, add_up

_ENDINGS = (("_left", "_right"), ("_a", "_b"), ("_x", "_y"), ("_1", "_2"))
_BEGINNINGS = (("left_", "right_"), ("home_", "away_"), ("model_a_", "model_b_"))
"""How two columns say that they are of the left and of the right item."""

Column: TypeAlias = "str | Array | Sequence[Any]"


@dataclass(frozen=True)
class Options:
    """What :func:`wellorder.rate` was asked, as it was said there."""

    side: bool = False
    neutral: Column | None = None
    controls: Sequence[str] | Mapping[str, Any] = ()
    clusters: Sequence[Any] | Mapping[str, Any] = ()
    judge: Column | None = None
    counts: Column | None = None
    half_life: float | str | None = None
    times: Any = None
    both_bad: str = "tie"
    features: bool = False


@dataclass(frozen=True, eq=False)
class Asked:
    """Votes as the likelihood takes them, and what their numbers stand for.

    Attributes
    ----------
    votes : Votes
        The columns of z have a mean square of one; ``unit`` is what they were divided by.
    items, effects, controls, judges : arrays of str
    unit : array of shape (n_effects,)
    clusters : list of arrays of shape (n,)
    cluster_names : list of str
    weighted : bool
        Whether votes count differently, so that the information alone does not tell how sure estimates are.
    tally : array of shape (n_items, 4)
        Votes lost, tied, won, and, of the ties, those in which both were called bad.
    judge_votes : array of shape (n_judges,)
    n_votes : int
    X : array of shape (n_items, n_features), or None
    features : array of str
    notes : list of str
    """

    votes: Votes
    items: Array
    effects: Array
    controls: Array
    unit: Floats
    clusters: list[Ints]
    cluster_names: list[str]
    weighted: bool
    tally: Floats
    judges: Array
    judge_votes: Floats
    n_votes: int
    X: Floats | None
    features: Array
    neutral: str = ""
    """The column that says where no side has an advantage, if it has a name."""
    notes: list[str] = field(default_factory=list)


def ask(given: ComparisonTable | Comparisons, options: Options) -> Asked:
    """Read what is asked; whatever does not fit is refused by name."""
    source = _Source(given)
    compared = source.comparisons
    n = len(compared)
    if n == 0:
        raise ValueError("there are no votes to rate anything by")
    count = np.ones(n) if options.counts is None else source.counts(options.counts)
    weight = source.weights(options)
    # what weights have in common does not matter: let their sum be the number of votes that they are worth
    weight = weight * (float(count @ weight) / max(float(count @ weight**2), 1e-300))
    judges, judge = _judges(source, options)
    stands, effects, controls, z = _effects(source, options, judge is not None)
    unit = np.sqrt(np.mean(z**2, axis=0)) if z.shape[1] else np.zeros(0)
    bad = source.both_bad if options.both_bad == "own" else None
    if options.both_bad == "own" and bad is None:
        raise ValueError(
            "both_bad='own' takes 'both bad' for an outcome of its own, and these votes have none, or do not say which "
            "ties were such; write both_bad in place of tie where it was so, in words as Comparisons.from_names and "
            "wo.read take them, or leave it out"
        )
    kind = np.where(compared.outcome == 0, 0, DECIDED)
    if bad is not None:
        kind[bad] = 1
    clusters = source.clusters(options.clusters)
    votes = Votes(
        compared.left,
        compared.right,
        compared.outcome.astype(np.int64),
        kind,
        count * weight,
        count * weight**2,
        z / unit if len(unit) else z,
        len(source.items),
        1 if bad is None else 2,
        judge,
        None if judge is None else stands,
    )
    X, features = source.features() if options.features else (None, as_names(()))
    notes = list(source.notes)
    worth = float(count @ weight)
    if worth < 0.2 * float(count.sum()):
        notes.append(
            f"by their weights, the votes are worth {worth:,.0f} of {float(count.sum()):,.0f}: intervals are rough"
        )
    return Asked(
        votes,
        source.items,
        as_names(effects),
        as_names(controls),
        unit,
        list(clusters.values()),
        list(clusters),
        bool((weight != weight[0]).any()),
        _tally(votes, count, source.both_bad),
        judges,
        np.zeros(0) if judge is None else add_up(judge, count, len(judges)),
        round(float(count.sum())),
        X,
        features,
        options.neutral if isinstance(options.neutral, str) else "",
        notes,
    )


def _tally(votes: Votes, count: Floats, bad: Bools | None) -> Floats:
    out = np.zeros((votes.n_items, 4))
    for end, sign in ((votes.left, -1), (votes.right, 1)):
        out[:, :3] += add_up(3 * end + (votes.outcome * sign + 1), count, 3 * votes.n_items).reshape(-1, 3)
        if bad is not None:
            out[:, 3] += add_up(end[bad], count[bad], votes.n_items)
    return out


def _judges(source: _Source, options: Options) -> tuple[Array, Ints | None]:
    if options.judge is None:
        return as_names(()), None
    return source.numbered(options.judge, "judge")


def _effects(source: _Source, options: Options, judged: bool) -> tuple[Floats, list[str], list[str], Floats]:
    """Return where a side counts, the names of the effects, those of the controls, and z."""
    n = len(source.comparisons)
    if options.neutral is not None and not (options.side or judged):
        raise ValueError("neutral= says where no side has an advantage, and side= is not asked for; give side=True")
    if options.side and not source.has_sides:
        raise ValueError(
            "side=True asks what standing on the right is worth, and these votes name a winner and a loser, not who "
            "stood where; leave it out"
        )
    stands = np.ones(n) if source.has_sides else np.zeros(n)
    if options.neutral is not None:
        stands = 1.0 - source.truths(options.neutral, "neutral").astype(float)
    columns: dict[str, Floats] = {}
    if options.side or (judged and source.has_sides):
        columns["side"] = stands
    for name, values in source.controls(options.controls).items():
        if name in columns:
            raise ValueError(f"a control cannot be called {name!r} beside the side itself; give it another name")
        if not values.any():
            raise ValueError(f"the control {name!r} is zero in every vote: it says nothing; leave it out")
        columns[name] = values
    if "side" in columns and not stands.any():
        raise ValueError("every vote is on neutral ground: nothing can be said about the side; leave side= out")
    controls = [name for name in columns if name != "side" or not (options.side or judged)]
    z = np.column_stack(list(columns.values())) if columns else np.zeros((n, 0))
    return stands, list(columns), controls, z


class _Beside:
    """What is known of each vote, or pair of items, beside the two: columns that are named, or arrays."""

    def __init__(self, frame: pl.DataFrame | None, places: Places | None, n: int) -> None:
        self.frame, self.places, self.n = frame, places, n

    def error(self, problem: str, row: int) -> ValueError:
        """Return the error for a vote, which says where the vote stands: in its file, or by its number."""
        if self.places is None:
            return ValueError(problem.format(where=f" in vote {row + 1:,}"))
        return self.places.error(problem.format(where=""), row)

    def column(self, given: Any, option: str) -> pl.Series:
        """Return a column by name, or an array as one; none may be missing."""
        if isinstance(given, str):
            columns = self.frame
            if columns is None and self.places is not None:
                raise ValueError(f"{option}: there is no column {given!r}: each of the file's columns has another role")
            if columns is None:
                raise ValueError(f"{option}={given!r} names a column, and comparisons have none; give an array")
            if given not in columns.columns:
                known = suggest(given, columns.columns, "the columns without another role are")
                raise ValueError(f"{option}: there is no column {given!r}; {known}")
            found, name = columns.get_column(given), f"the column {given!r}"
        else:
            values = np.asarray(given)
            if values.shape != (self.n,):
                raise ValueError(
                    f"{option} has the shape {values.shape}, and there are {self.n:,} votes; give one entry a vote"
                )
            found = pl.Series(option, values if values.dtype.kind != "O" else values.tolist(), nan_to_null=True)
            name = option
        if found.null_count():
            row = int(found.is_null().arg_max() or 0)
            raise self.error(f"{name} is missing{{where}}; give it, or leave such votes out", row)
        return found

    def numbered(self, given: Any, option: str) -> tuple[Array, Ints]:
        """Return the distinct values of a column as text, and each vote's number among them."""
        column = self.column(given, option)
        if column.dtype.is_float() and (column == column.round()).all():
            column = column.cast(pl.Int64)  # a judge is called 14, and not 14.0
        distinct = column.unique(maintain_order=True)
        number = column.cast(pl.String).replace_strict(
            distinct.cast(pl.String), pl.Series(range(len(distinct)), dtype=pl.Int64), return_dtype=pl.Int64
        )
        return as_names(distinct.to_list()), number.to_numpy()

    def numbers(self, given: Any, option: str) -> Floats:
        """Return a column of finite numbers."""
        column = self.column(given, option)
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            number = column.cast(pl.Float64, strict=False)  # a file leaves numbers of so many digits as text: ids
            if number.null_count():
                row = int(number.is_null().arg_max() or 0)
                raise self.error(
                    f"{option}: {_called(given)} has the text {column[row]!r}{{where}}, where a number should be", row
                )
            column = number
        values = column.cast(pl.Float64).to_numpy()
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            raise self.error(f"{option}: {_called(given)} is {values[row]}{{where}}; give a finite number", row)
        return values

    def truths(self, given: Any, option: str) -> Bools:
        """Return a column of truth values: true and false, or 1 and 0."""
        values = self.numbers(given, option)
        wrong = (values != 0) & (values != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(f"{option}: {_called(given)} is {values[row]:g}{{where}}; write 1 or 0", row)
        return np.asarray(values == 1)

    def counts(self, given: Any) -> Floats:
        """Return how many votes each row stands for."""
        values = self.numbers(given, "count")
        wrong = (values < 0) | (values != np.rint(values))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise self.error(f"count: {_called(given)} is {values[row]:g}{{where}}; it is a number of votes", row)
        return values

    def controls(self, given: Sequence[str] | Mapping[str, Any]) -> dict[str, Floats]:
        """Return differences, right minus left, by name."""
        if isinstance(given, str):
            given = (given,)
        if not isinstance(given, Mapping) and hasattr(given, "columns"):  # a data frame: a column a control
            given = {str(name): np.asarray(given[name]) for name in given.columns}
        if not isinstance(given, Mapping) and not all(isinstance(name, str) for name in given):
            raise TypeError("controls= takes names of columns, or a mapping of names to arrays: {'length': array}")
        if isinstance(given, Mapping):
            return {str(name): self.numbers(values, f"the control {name!r}") for name, values in given.items()}
        return {name: self.difference(name) for name in given}

    def difference(self, name: str) -> Floats:
        """Return a column of differences, or the right column less the left one."""
        known = [] if self.frame is None else self.frame.columns
        found = [pair for pair in _pairs_of(name) if pair[0] in known and pair[1] in known]
        option = f"the control {name!r}"
        if name in known and found:
            raise ValueError(
                f"{option} may be the column {name!r}, or {found[0][1]!r} less {found[0][0]!r}; rename one of them"
            )
        if len(found) > 1:
            raise ValueError(f"{option} may be {found[0]!r} or {found[1]!r}, left and right; drop one of the two")
        if not found:
            return self.numbers(name, option)
        left, right = (self.numbers(each, option) for each in found[0])
        return right - left

    def clusters(self, given: Sequence[Any] | Mapping[str, Any]) -> dict[str, Ints]:
        """Return the number of each vote's cluster, by the name of its kind."""
        if isinstance(given, str):
            given = (given,)
        if isinstance(given, np.ndarray) and given.ndim == 1:
            given = (given,)
        named = (
            dict(given)
            if isinstance(given, Mapping)
            else {each if isinstance(each, str) else f"cluster {place + 1}": each for place, each in enumerate(given)}
        )
        return {str(name): self.numbered(each, f"the cluster {name!r}")[1] for name, each in named.items()}


class _Source(_Beside):
    """A table or comparisons, and the columns that are named or given beside them."""

    def __init__(self, given: ComparisonTable | Comparisons) -> None:
        self.table = given if isinstance(given, ComparisonTable) else None
        if self.table is None and not isinstance(given, Comparisons):
            raise TypeError(
                "rate takes what wo.read gives of a file of votes, or wo.Comparisons.from_names(left, right, outcome), "
                f"not {type(given).__name__}; of a data frame, wo.read(frame, left=…, right=…, outcome=…) "
                "with the names of its columns"
            )
        compared = given.comparisons if isinstance(given, ComparisonTable) else given
        self.names = compared.names if self.table is None else self.table.items.names()
        self.comparisons = compared
        most = int(max(compared.left.max(initial=-1), compared.right.max(initial=-1))) + 1
        self.items = as_names(range(most)) if self.names is None else as_names(self.names)
        self.both_bad: Bools | None = compared.both_bad if self.table is None else self.table.both_bad
        self.has_sides = True if self.table is None else self.table.sides
        self.notes: list[str] = []
        of_file = (None, None) if self.table is None else (self.table.columns, self.table.places)
        super().__init__(*of_file, len(compared))

    def weights(self, options: Options) -> Floats:
        """Return what each vote counts: its own weight, and less the older it is."""
        compared = self.comparisons
        refuse_lost_weights(compared.weight, of="vote")
        own = np.ones(len(compared)) if compared.weight is None else np.asarray(compared.weight, dtype=float)
        if options.half_life is None:
            if options.times is not None:
                raise ValueError("times= goes with half_life=, the time after which a vote counts half")
            return own
        times = options.times if self.table is None or options.times is not None else self.table.times
        if times is None:
            how = "give times=" if self.table is None else "read the file with time=, the column that says so"
            raise ValueError(f"half_life= needs to know when votes were given; {how}")
        moments = np.asarray(times)
        dated = moments.dtype.kind == "M" or (self.table is not None and options.times is None and self.table.dated)
        half_life = read_half_life(options.half_life, dated=dated)
        if moments.dtype.kind == "M":
            moments = (moments - moments.min()) / np.timedelta64(1, "D")
        when = self.numbers(moments, "times")
        return np.asarray(own * 0.5 ** ((when.max() - when) / half_life))

    def features(self) -> tuple[Floats, Array]:
        """Return the items' features, grades included, with mean zero."""
        if self.table is None or not self.table.described:
            raise ValueError("features=True needs a file with features of the items; read it with items=")
        items = self.table.items
        encoder = TableEncoder().fit(items.X)
        X = np.asarray(encoder.transform(items.X), dtype=float)
        names = encoder.get_feature_names_out().tolist()
        return X - X.mean(axis=0), as_names(names)


_DAYS = {"h": 1.0 / 24.0, "d": 1.0, "w": 7.0, "m": 365.25 / 12.0, "y": 365.25}


def read_half_life(given: Any, *, dated: bool) -> float:
    """Read a half-life: a number in the units of the times, or text such as 365d: hours, days, weeks, months or years.

    Parameters
    ----------
    given : float or str
    dated : bool
        Whether times are dates, so that such units mean something.
    """
    unit = given[-1:].lower() if isinstance(given, str) else ""
    try:
        value = float(given[:-1]) * _DAYS[unit] if unit in _DAYS else float(given)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(given, bool) or not (value > 0 and math.isfinite(value)):
        raise ValueError(
            f"half_life={given!r} is no time: give a positive number, of days where times are dates, or one such as "
            "'365d', '12w', '36h' or '2y'"
        )
    if unit in _DAYS and not dated:
        raise ValueError(f"half_life={given!r}: the times are numbers, no dates; give a number in their units")
    return value


def predict_pairs(standings: Standings, pairs: PairTable) -> pl.DataFrame:
    """Return the probabilities of votes on the pairs of a file, with the effects that its columns tell.

    A control that the file has no columns of is taken to be the same for both, with a warning.
    """
    columns = _Beside(pairs.columns, pairs.places, len(pairs))
    controls: dict[str, Floats] = {}
    known = [] if pairs.columns is None else pairs.columns.columns
    for name in standings.controls_:
        if name in known or any(pair[0] in known and pair[1] in known for pair in _pairs_of(name)):
            controls[name] = columns.difference(name)
        else:
            warnings.warn(
                f"{pairs.source}: no column of the control {name!r}: it is taken to be the same for both",
                stacklevel=2,
            )
    neutral = columns.truths(standings._neutral, "neutral") if standings._neutral in known else None
    names = pairs.items.names()
    return standings.predict(names[pairs.left], names[pairs.right], controls=controls, neutral=neutral)


def _pairs_of(name: str) -> list[tuple[str, str]]:
    """Return the two columns that may hold a control of the left and of the right item."""
    pairs = [(name + left, name + right) for left, right in _ENDINGS]
    return pairs + [(left + name, right + name) for left, right in _BEGINNINGS]


def _called(given: Any) -> str:
    return f"the column {given!r}" if isinstance(given, str) else "the array"
