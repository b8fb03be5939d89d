"""The data doctor: what is in a table, and what a person should know before trusting a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import log
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import gammaln
from scipy.stats import binomtest

from ..data import ComparisonTable, Table, TableEncoder, as_rows, constant_columns
from ..metrics import swapped_pairs
from ..order import Clicks, Grades, Times
from ..sweeps import Floats, Ints
from ..writing import counted, write_percent
from .evidence import scattered
from .readable import html_row
from .tasks import AnyTable

# --------------------------------------------------------------------------------------------------
# What it says: facts, and findings with advice.


Severity: TypeAlias = Literal["note", "warning", "problem"]
"""A note is worth knowing; a warning is likely to mislead; a problem must be mended before anything can be learned."""


@dataclass(frozen=True)
class Finding:
    """Something a person should know about the data before trusting a result."""

    severity: Severity
    what: str
    """One sentence: what was found, with numbers and the first places."""
    advice: str = ""
    """One sentence: what to do about it."""


@dataclass(frozen=True)
class Health:
    """All that the doctor found in one file."""

    source: str
    facts: tuple[tuple[str, str], ...]
    """(what, how much) in the order to be read, such as ("rows", "1,599")."""
    findings: tuple[Finding, ...]
    levels: tuple[tuple[str, int], ...] = ()
    """How many rows have each level, from worst to best; empty where the grades are many."""

    @property
    def is_fit(self) -> bool:
        """Whether there is anything to learn from."""
        return all(finding.severity != "problem" for finding in self.findings)

    def _repr_html_(self) -> str:
        """Write the facts and findings for a notebook; every name is escaped."""
        facts = "".join(html_row([what, how_much]) for what, how_much in self.facts)
        levels = "".join(html_row([level, f"{count:,}"]) for level, count in reversed(self.levels))
        found = "".join(
            f"<li><b>{escape(each.severity)}</b>: {escape(f'{each.what} {each.advice}'.strip())}</li>"
            for each in self.findings
        )
        return (
            f"<div><p><b>{escape(self.source)}</b></p><table><tbody>{facts}</tbody></table>"
            + (
                f"<table><thead>{html_row(['level', 'rows'], 'th')}</thead><tbody>{levels}</tbody></table>"
                if levels
                else ""
            )
            + (f"<ul>{found}</ul>" if found else "<p>Nothing was found that could mislead.</p>")
            + "</div>"
        )


def listing(shown: Sequence[str], n: int) -> str:
    """Write the first few of n things, and that there are more."""
    return ", ".join(shown) + (", …" if n > len(shown) else "")


# --------------------------------------------------------------------------------------------------
# Comparisons: ties, contradictions, circles, islands and a favoured side.


def examine_comparisons(table: ComparisonTable) -> Health:
    """Look at comparisons before anything is learned from them."""
    comparisons = table.comparisons
    found = comparisons.describe()
    n_items, n_features = table.items.X.shape
    facts = (
        ("comparisons", f"{len(comparisons):,}"),
        ("ties", f"{found.n_ties:,}"),
        ("items", f"{n_items:,}"),
        ("items compared", f"{found.n_items:,}"),
        ("features", f"{n_features:,}" if table.described else "none: each item has a rating of its own"),
        ("pairs of items decided both ways", f"{found.n_contradictions:,}"),
        ("items in circles", f"{found.n_items_in_cycles:,}"),
    )
    outcomes = tuple(
        (name, int(np.count_nonzero(comparisons.outcome == value)))
        for name, value in (("left better", -1), ("tie", 0), ("right better", 1))
    )
    return Health(table.source, facts, tuple(_findings(table)), outcomes)


def _findings(table: ComparisonTable) -> Iterator[Finding]:
    comparisons, names = table.comparisons, table.items.names()
    found = comparisons.describe()
    if found.n_pairs == 0:
        yield Finding("problem", "no comparison was decided: all are ties", "there is no order to learn")
    if found.n_contradictions:
        yield Finding(
            "note",
            f"{counted(found.n_contradictions, 'pair')} of items decided both ways",
            "no order satisfies both; the more frequent outcome counts more",
        )
    if found.n_items_in_cycles:
        share = found.n_items_in_cycles / max(found.n_items, 1)
        yield Finding(
            "warning" if share > 0.5 else "note",
            f"{counted(found.n_items_in_cycles, 'item')} ({write_percent(share, 0)}) stand in circles (a above b above "
            "… above a)",
            "no order agrees with all of these comparisons",
        )
    compared = np.unique(np.concatenate([comparisons.left, comparisons.right]))
    never = np.setdiff1d(np.arange(len(table.items)), compared)
    if never.size:
        yield Finding(
            "note",
            f"{counted(len(never), 'item')} never compared ({listing([str(names[i]) for i in never[:3]], len(never))})",
            "they are placed by their features alone",
        )
    yield from _islands(table)
    yield from _favoured_side(table)
    itself = np.flatnonzero(comparisons.left == comparisons.right)
    if itself.size:
        yield Finding(
            "note", f"{counted(len(itself), 'comparison')} of an item with itself", "they say nothing; drop them"
        )


def _islands(table: ComparisonTable) -> Iterator[Finding]:
    comparisons, n = table.comparisons, len(table.items)
    met = sp.coo_array((np.ones(len(comparisons)), (comparisons.left, comparisons.right)), shape=(n, n))
    _, part = connected_components(met, directed=False)
    sizes = np.bincount(part[np.unique(np.concatenate([comparisons.left, comparisons.right]))])
    islands = np.sort(sizes[sizes > 1])[::-1]
    if len(islands) > 1:
        advice = "" if table.described else "give features of the items with --items, or compare across the islands"
        yield Finding(
            "note" if table.described else "warning",
            f"the items fall into {len(islands):,} islands that were never compared with each other (the largest of "
            f"{islands[0]:,}, the next of {islands[1]:,} items)",
            advice,
        )


def _favoured_side(table: ComparisonTable) -> Iterator[Finding]:
    outcome = table.comparisons.outcome
    right, decided = int(np.count_nonzero(outcome > 0)), int(np.count_nonzero(outcome))
    if table.sides and decided >= 20 and binomtest(right, decided).pvalue < 0.001:
        side, share = ("right", right / decided) if 2 * right > decided else ("left", 1 - right / decided)
        yield Finding(
            "note",
            f"the {side} item wins {write_percent(share, 0)} of the decided comparisons, more than chance explains",
            "sides may matter (the first move, the first taste), or the file was sorted by outcome",
        )


# --------------------------------------------------------------------------------------------------
# Columns that order the rows by themselves: likely the target in other clothes, known only afterwards.


_MOST_ENTRIES = 5_000_000
_ROWS = (2_000, 200_000)
"""Rows that are looked at: the more columns there are, the fewer, within these limits."""
_MOST_COLUMNS = 2_000

_NEARLY = 1e-3
"""A column that swaps fewer pairs than this share orders nearly all of them."""
_BY_CHANCE = log(1e-4)
"""The log-probability that some column of pure noise orders the rows as well, below which it is not by chance."""
_FEWEST_OTHERS = 5
"""At least this many rows must lie outside the most frequent level: with fewer it is luck, however many rows there
are."""


def find_leaking_columns(grades: Grades, table: Table) -> Iterator[Finding]:
    """Find columns that order the rows perfectly, or nearly so.

    Numbers go up or down with the grades; names are pure where each goes with one grade only. Rows without a value
    are left out. Where the rows are many, a sample of them is looked at.
    """
    n_columns = table.X.shape[1]
    if n_columns > _MOST_COLUMNS:
        yield Finding(
            "note",
            f"with {n_columns:,} columns, it was not tried whether one of them alone gives the target away",
            "think of columns that are known only after the fact, and leave them out",
        )
        return
    rows = _sample(grades, int(np.clip(_MOST_ENTRIES // max(n_columns, 1), *_ROWS)))
    plain, X = grades.without_weights().take(rows), table.X[rows]
    for name, values, is_name in _column_values(X, table):
        found = _swapped(plain, values, is_name, n_columns)
        if found is not None and found[0] < _NEARLY:
            share = "all" if found[0] == 0 else "nearly all"
            where = "" if found[1] == len(rows) else " of the rows that have it"
            yield Finding(
                "warning",
                f"the column {name!r} alone orders {share} pairs{where} rightly: it may be the target in other "
                "clothes, known only afterwards",
                f"leave it out (--drop {name}) if it is not known when an order is needed",
            )


def _sample(grades: Grades, most: int) -> Ints:
    """Draw rows: whole lists, or the same number of each level as far as there are so many."""
    if len(grades) <= most:
        return np.arange(len(grades))
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(len(grades))
    if grades.lists is not None:
        place = rng.permutation(grades.n_groups)[grades.lists[shuffled]]
        return np.sort(shuffled[np.argsort(place, kind="stable")][:most])
    judged = shuffled[grades.level[shuffled] >= 0]
    by_level = judged[np.argsort(grades.level[judged], kind="stable")]
    count = np.bincount(grades.level[judged])
    within = np.arange(len(by_level)) - (np.cumsum(count) - count)[grades.level[by_level]]
    return np.sort(by_level[np.argsort(within, kind="stable")][:most])


def _column_values(X: pl.DataFrame | sp.csr_array, table: Table) -> Iterator[tuple[str, Floats, bool]]:
    """Yield (name, values, whether they are codes of names); NaN where there is no value."""
    if isinstance(X, pl.DataFrame):
        for column in X.iter_columns():
            if column.dtype.is_numeric():
                yield column.name, column.cast(pl.Float64).to_numpy(), False
            else:
                codes = column.cast(pl.String).rank("dense").cast(pl.Float64)
                yield column.name, codes.to_numpy(), True
        return
    by_column = sp.csc_array(X)
    for number, name in enumerate(table.feature_names):
        yield name, by_column[:, [number]].toarray().ravel(), False


def _swapped(grades: Grades, values: Floats, is_name: bool, n_columns: int) -> tuple[float, int] | None:
    """Return the share of pairs that a column swaps, and of how many rows; None where luck could explain none."""
    known = np.flatnonzero(np.isfinite(values))
    mine, values = grades.take(known), values[known]
    if mine.pairs.n_pairs == 0:
        return None
    # of times, how events follow each other is all that is known for sure
    sure = np.flatnonzero(mine.event) if isinstance(mine, Times) else np.arange(len(mine))
    order, codes = mine.take(sure), values[sure]
    if order.pairs.n_pairs == 0:
        return None
    chance = _log_chance_of_names(order, codes) if is_name else log(2) + _log_chance_of_numbers(order)
    if _n_others(order) < _FEWEST_OTHERS or chance + log(n_columns) > _BY_CHANCE:
        return None
    if is_name:
        return swapped_pairs(mine, _mean_levels(mine, values)), len(known)
    return min(swapped_pairs(mine, values), swapped_pairs(mine, -values)), len(known)


def _n_others(grades: Grades) -> int:
    count = np.bincount(grades.level[grades.pairs.active])
    return int(count.sum() - count.max())


def _log_chance_of_numbers(grades: Grades) -> float:
    """Return the logarithm of the chance that a random order of every list is right: Π n_level! / n!."""
    rows = grades.pairs.active
    group = grades.list_codes[rows]
    _, in_cell = np.unique(group * len(grades.levels) + grades.level[rows], return_counts=True)
    return float(gammaln(in_cell + 1).sum() - gammaln(np.bincount(group) + 1).sum())


def _log_chance_of_names(grades: Grades, codes: Floats) -> float:
    """Return about the logarithm of the chance that names go with one level each: all rows of a name like its first."""
    rows = grades.pairs.active
    share = np.bincount(grades.level[rows]) / len(rows)
    return float((len(rows) - len(np.unique(codes[rows]))) * np.log(np.sum(share**2)))


def _mean_levels(grades: Grades, codes: Floats) -> Floats:
    """Score each row by the mean level of the judged rows with its name."""
    _, name = np.unique(codes, return_inverse=True)
    judged = grades.level >= 0
    total = np.bincount(name[judged], grades.level[judged], minlength=name.max() + 1)
    count = np.bincount(name[judged], minlength=name.max() + 1)
    return np.asarray((total / np.maximum(count, 1))[name])


# --------------------------------------------------------------------------------------------------
# Censored times: how many ended with an event, and what censoring hides.


_FEW_EVENTS = 20
_LARGE_WEIGHTS = 100.0
"""Uno's weights are uncertain if those of the last events are this many times those of the first."""


def _of_timed_table(table: Table) -> Health:
    assert table.events is not None
    if not table.events.any():
        missing = Finding(
            "problem",
            f"no row has an event ({table.event}): nobody is known to have outlived another",
            "1 (or true) is an event that was seen and 0 a time that was censored: check that it is not the other way "
            "round, or say which value is the event (--event status=dead)",
        )
        return Health(table.source, tuple(_shape(table)), (missing, *_columns(table)))
    times = table.order()
    assert isinstance(times, Times)
    copy_of = np.unique(_row_fingerprints(table.X), return_inverse=True)[1]
    findings = [
        *_about_times(times),
        *_leaks(copy_of, np.zeros(len(table), np.int64), table, by_lists=False),
        *_columns(table),
    ]
    if times.pairs.n_pairs:
        findings += find_leaking_columns(times, table)
    return Health(table.source, (*_shape(table), *_of_times(times)), tuple(findings))


def _of_times(times: Times) -> Iterator[tuple[str, str]]:
    n, n_events = len(times), int(np.count_nonzero(times.event))
    seen = times.time[times.event]
    yield "events", f"{n_events:,} ({write_percent(n_events / max(n, 1), 0)})"
    yield "censored", f"{n - n_events:,} ({write_percent((n - n_events) / max(n, 1), 0)})"
    if n_events:
        yield "times", f"from {times.time.min():g} to {times.time.max():g}, of events {seen.min():g} to {seen.max():g}"
    sizes = np.array([n]) if times.group is None else np.bincount(times.group)
    if times.group is not None:
        yield "strata", f"{len(sizes):,} (of {sizes.min():,} to {sizes.max():,} rows)"
    n_all, n_known = sum(size * (size - 1) // 2 for size in sizes.tolist()), times.pairs.n_pairs
    yield "pairs known to be ordered", f"{n_known:,} of {n_all:,} ({write_percent(n_known / max(n_all, 1), 0)})"
    if times.weight is not None:
        yield "row weights", f"from {times.weight.min():g} to {times.weight.max():g}"


def _about_times(times: Times) -> Iterator[Finding]:
    n, n_events = len(times), int(np.count_nonzero(times.event))
    if times.pairs.n_pairs == 0:
        yield Finding(
            "problem",
            "nobody is known to have outlived another: all others were censored before the first event, or all events "
            "are of one time",
            "check that events are 1 and censored times 0, and not the other way round",
        )
        return
    seen, censored = times.time[times.event], ~times.event
    if n_events < _FEW_EVENTS:
        yield Finding(
            "warning",
            f"{counted(n_events, 'event')}: little can be learned from so few, or told apart",
            "watch longer, or collect more rows",
        )
    if not censored.any():
        yield Finding(
            "note", "no row is censored", "then times are grades like others; check the events if you expected some"
        )
    early = np.flatnonzero(censored & (times.time < seen.min()))
    if early.size:
        yield Finding(
            "note",
            f"{counted(len(early), 'row')} censored before the first event, at {seen.min():g} ({_rows(early)})",
            "they are in no pair: nothing is learned from them",
        )
    late = np.flatnonzero(censored & (times.time >= seen.max()))
    if late.size > 0.05 * n:
        yield Finding(
            "warning" if late.size > 0.5 * n else "note",
            f"all {len(late):,} rows ({write_percent(len(late) / n, 0)}) that were watched beyond {seen.max():g}, the "
            "time of the last event, are censored",
            "they stand above the others, and nothing tells which of them lives longest",
        )
    chance = times.curve()(seen)
    if not (chance > 0).all() or (float(chance.max()) / float(chance.min())) ** 2 > _LARGE_WEIGHTS:
        yield Finding(
            "note",
            "hardly anybody was still watched at the last events: Uno's weights would rest on these",
            "with weighting='uno', give tau=, a time before which people were still watched",
        )
    at_zero = np.flatnonzero(times.time == 0)
    if at_zero.size:
        yield Finding(
            "note",
            f"{counted(len(at_zero), 'row')} with the time 0 ({_rows(at_zero)})",
            "count from the moment that each row was first watched",
        )
    if times.group is not None:
        silent = np.setdiff1d(np.arange(times.n_groups), times.group[times.pairs.active])
        if silent.size:
            yield Finding(
                "note",
                f"{len(silent):,} of {times.n_groups:,} strata have no pair: nothing is learned from them",
            )


# --------------------------------------------------------------------------------------------------
# Clicks: where they are, and where nothing can be known of them.


_FEW_IN_TRUTH = 0.25
"""Warn if the weighted clicks' effective sample size is below this share of their number."""


def _of_clicks(clicks: Clicks) -> Iterator[tuple[str, str]]:
    n, n_clicks = len(clicks), int(np.count_nonzero(clicks.clicked))
    found = clicks.describe()
    yield "rows shown", f"{n:,}"
    yield "lists", f"{found.n_groups:,}, of which {found.n_groups_with_pairs:,} have a click and a row without one"
    yield "clicks", f"{n_clicks:,} ({write_percent(n_clicks / max(n, 1), 1)})"
    if n:
        yield "positions", f"{clicks.position.min():,} to {clicks.position.max():,}"
    shown = clicks.propensities[:_NAMED]
    yield "propensities", listing([f"{each:.2g}" for each in shown], len(clicks.propensities))


def _about_clicks(clicks: Clicks) -> Iterator[Finding]:
    where, clicked = clicks.position, clicks.clicked
    if len(where) and where.min() == where.max():
        yield Finding(
            "warning",
            f"all rows stood at position {where[0]:,}, and nothing tells how often others are looked at",
            "propensities change nothing here; check that the positions are those within a list",
        )
    if clicks.pairs.n_pairs == 0:
        yield Finding(
            "problem",
            "no list has a click and a row that was not clicked: there is no pair to learn an order from",
            "keep the rows that were shown and not clicked, and check that groups name the lists that were shown",
        )
        return
    silent = np.setdiff1d(np.unique(where), where[clicked])
    if silent.size:
        first = listing([str(place) for place in silent[:3]], len(silent))
        yield Finding(
            "warning",
            f"nobody clicked at {counted(len(silent), 'position')} ({first})",
            "of rows that stood there nothing is known but that they were not clicked, which says little where few "
            "look; leave out what nobody looks at, or log longer",
        )
    _, held = np.unique(_paired(np.asarray(clicks.group), where), return_counts=True)
    if (held > 1).any():
        yield Finding(
            "warning",
            f"{counted(int((held > 1).sum()), 'place')} of a list held several rows",
            "one row stands at a position: give each time that a list was shown a group of its own",
        )
    above = np.ones(len(where)) if clicks.ends is None or clicks.ends.above is None else clicks.ends.above
    weight = above[clicked]
    if where.min() < where.max() and np.ptp(weight) == 0:
        yield Finding(
            "note",
            "every click counts the same: where the last ranker put things is learned with what was wanted",
            "estimate how often each position is looked at with wo.click_propensities",
        )
    if clicks.n_cut:
        yield Finding(
            "note",
            f"{counted(clicks.n_cut, 'click')} stood where the propensity is below the floor of {clicks.floor:g}, and "
            "count as if it were that",
            "a lower floor has less bias and more variance",
        )
    worth = float(weight.sum()) ** 2 / float(weight @ weight)
    if worth < _FEW_IN_TRUTH * len(weight):
        yield Finding(
            "note",
            f"{len(weight):,} clicks with these weights are worth about {worth:,.0f} equal ones",
            "few clicks where hardly anybody looks count for most; raise floor=, or compare with propensities=1",
        )


# --------------------------------------------------------------------------------------------------
# The examination.


_FEW_LEVELS = 20
_NAMED = 5
"""A finding names at most this many columns, and otherwise says how many there are."""


def examine(table: AnyTable | Times | Clicks) -> Health:
    """Look at a table, at censored times or at clicks, before anything is learned from them.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> import wellorder as wo
    >>> table = wo.data.Table("made.csv", pl.DataFrame({"a": np.arange(30.0), "b": np.ones(30)}), np.arange(30) // 10)
    >>> for finding in wo.evaluation.examine(table).findings:
    ...     print(f"{finding.severity}: {finding.what}")
    note: 1 column never changes: b
    warning: the column 'a' alone orders all pairs rightly: it may be the target in other clothes, known only afterwards

    >>> for finding in wo.evaluation.examine(wo.Clicks([1, 0, 0], [1, 1, 1], [7, 7, 7], propensities=1)).findings[:1]:
    ...     print(f"{finding.severity}: {finding.what}")
    warning: all rows stood at position 1, and nothing tells how often others are looked at
    """
    if isinstance(table, Times):
        return Health("times", tuple(_of_times(table)), tuple(_about_times(table)))
    if isinstance(table, Clicks):
        return Health("clicks", tuple(_of_clicks(table)), tuple(_about_clicks(table)))
    if not isinstance(table, Table):
        return examine_comparisons(table)
    if table.y is None:
        findings = [*_columns(table), Finding("note", "no column was named as the target", "name it with --target")]
        return Health(table.source, tuple(_shape(table)), tuple(findings))
    if table.events is not None:
        return _of_timed_table(table)
    grades = table.grades()
    facts = (*_shape(table), *_supervision(grades, table))
    findings = [*_nothing_to_learn(grades), *_lists(grades, table), *_repeats(grades, table), *_columns(table)]
    if grades.pairs.n_pairs:
        findings += find_leaking_columns(grades, table)
    counts = np.bincount(grades.level[grades.level >= 0], minlength=len(grades.levels))
    levels = tuple((_label(level), int(n)) for level, n in zip(grades.levels, counts, strict=True))
    return Health(table.source, facts, tuple(findings), levels if len(levels) <= _FEW_LEVELS else ())


def _shape(table: Table) -> Iterator[tuple[str, str]]:
    yield "rows", f"{len(table):,}"
    if isinstance(table.X, pl.DataFrame):
        nominal = sum(not dtype.is_numeric() for dtype in table.X.dtypes)
        kinds = f" ({table.X.width - nominal} numeric, {nominal} nominal)" if nominal else ""
        yield "features", f"{table.X.width:,}{kinds}"
    else:
        filled = table.X.nnz / max(table.X.shape[0] * table.X.shape[1], 1)
        yield "features", f"{table.X.shape[1]:,} ({write_percent(filled, 0)} of the entries given)"


def _supervision(grades: Grades, table: Table) -> Iterator[tuple[str, str]]:
    found = grades.describe()
    if table.groups is not None:
        sizes = np.bincount(grades.group) if grades.group is not None else np.array([len(table)])
        yield "lists", f"{found.n_groups:,} by {table.group} (of {sizes.min():,} to {sizes.max():,} rows)"
        yield "lists with a pair", f"{found.n_groups_with_pairs:,}"
    yield "levels", f"{found.n_levels:,}"
    yield "pairs of different grades", f"{found.n_pairs:,}"
    yield "pairs of equal grades", f"{_n_tied(grades):,}"
    if found.n_unjudged:
        yield "rows without a grade", f"{found.n_unjudged:,}"
    if table.weights is not None:
        yield "row weights", f"from {table.weights.min():g} to {table.weights.max():g}"


def _n_tied(grades: Grades) -> int:
    """Count the pairs of one list with the same grade."""
    judged = grades.level >= 0
    group = grades.list_codes
    _, sizes = np.unique((group * (len(grades.levels) + 1) + grades.level)[judged], return_counts=True)
    return sum(n * (n - 1) // 2 for n in sizes.tolist())


def _nothing_to_learn(grades: Grades) -> Iterator[Finding]:
    if grades.pairs.n_pairs == 0:
        yield Finding(
            "problem",
            f"there is no pair of rows to learn an order from ({grades.describe()})",
            "check that the target has several values, and that the group names lists, not single rows",
        )


def _lists(grades: Grades, table: Table) -> Iterator[Finding]:
    unjudged = np.flatnonzero(grades.level < 0)
    if unjudged.size:
        yield Finding(
            "note",
            f"{counted(len(unjudged), 'row')} without a grade ({_rows(unjudged)})",
            "they are unjudged: they take no part in learning or judging, and get a score like all others",
        )
    if table.groups is not None and grades.group is not None:
        with_pairs = np.unique(grades.group[grades.pairs.active])
        silent = np.setdiff1d(np.arange(grades.n_groups), with_pairs)
        if silent.size and with_pairs.size:
            first = [str(table.groups[np.argmax(grades.group == code)]) for code in silent[:3]]
            yield Finding(
                "note" if silent.size < with_pairs.size else "warning",
                f"{counted(len(silent), 'list')} of {grades.n_groups:,} with no two different grades "
                f"({listing(first, len(silent))}): nothing is learned from them",
            )
    counts = np.bincount(grades.level[grades.level >= 0], minlength=len(grades.levels))
    rare = [_label(grades.levels[level]) for level in np.flatnonzero((counts > 0) & (counts < 5))]
    if rare and len(grades.levels) <= _FEW_LEVELS:
        yield Finding(
            "note",
            f"the level{'s' * (len(rare) != 1)} {listing(rare, len(rare))} {'have' if len(rare) > 1 else 'has'} fewer "
            "than 5 rows: error rates there are little more than chance",
        )


def _repeats(grades: Grades, table: Table) -> Iterator[Finding]:
    """Find rows with the same features: unlearnable if their grades differ, a leak if folds part them."""
    fingerprint = _row_fingerprints(table.X)
    group = grades.list_codes
    _, copy_of = np.unique(fingerprint, return_inverse=True)
    judged = np.flatnonzero(grades.level >= 0)
    _, within = np.unique(_paired(group, copy_of)[judged], return_inverse=True)
    _, kind, n_kind = np.unique(_paired(within, grades.level[judged]), return_index=True, return_counts=True)
    n_copies = np.bincount(within)
    alike = np.bincount(within[kind], n_kind.astype(float) ** 2)  # pairs of copies, in either order, with equal grades
    pairs = (n_copies.astype(float) ** 2 - alike) / 2
    conflicting = judged[(pairs > 0)[within]]
    if conflicting.size:
        n_pairs, n_all = int(pairs.sum()), grades.without_weights().pairs.n_pairs
        yield Finding(
            "warning",
            f"{counted(len(conflicting), 'row')} have the same features as another row of their list, but another "
            f"grade ({_rows(conflicting)})",
            f"no model can order the {counted(n_pairs, 'pair')} of such rows, {100 * n_pairs / n_all:.2g} % of all: "
            "the share of swapped pairs cannot fall below that",
        )
    yield from _leaks(copy_of, group, table, by_lists=table.groups is not None)


def _leaks(copy_of: Ints, group: Ints, table: Table, *, by_lists: bool) -> Iterator[Finding]:
    """Find what a split by rows or by lists would put on both sides."""
    what = "lists" if by_lists else "rows"
    copies = _in_several(copy_of, group if by_lists else np.arange(len(copy_of)))
    if copies.size > 0.01 * len(copy_of):
        yield Finding(
            "warning",
            f"{counted(len(copies), 'row')} have exactly the features of another row{' of another list' * by_lists} "
            f"({_rows(copies)}): folds can put the two on both sides, and results then look too good",
            "drop the copies before trusting a comparison",
        )
    if table.ids is not None:
        _, item = np.unique(table.ids.astype(str), return_inverse=True)
        seen = _in_several(item, group if by_lists else np.arange(len(item)))
        if seen.size:
            names = listing(
                [str(name) for name in dict.fromkeys(table.ids[seen].tolist())][:3], len(np.unique(item[seen]))
            )
            yield Finding(
                "warning",
                f"{counted(len(np.unique(item[seen])), 'item')} stand in several {what} ({names}): the same item can "
                "be in training and test folds",
                "if new items are what you will order, keep each item to one list"
                if by_lists
                else "keep one row an item",
            )


def _in_several(code: Ints, holder: Ints) -> Ints:
    """Return the rows whose code occurs with more than one holder."""
    _, first = np.unique(_paired(code, holder), return_index=True)
    return np.flatnonzero((np.bincount(code[first], minlength=code.max(initial=0) + 1) > 1)[code])


def _paired(a: Ints, b: Ints) -> Ints:
    """Return one number for each two, equal for equal twos: numbers are sorted many times as fast as rows of two."""
    return np.asarray(a.astype(np.int64) * (int(b.max(initial=0)) + 1) + b)


def _columns(table: Table) -> Iterator[Finding]:
    try:
        TableEncoder().fit(table)
    except ValueError as error:
        yield Finding("problem", str(error))
    constant: list[str] = []
    missing: list[str] = []
    if isinstance(table.X, pl.DataFrame):
        for column in table.X.iter_columns():
            gaps = column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)
            if gaps:
                missing.append(f"{column.name} ({gaps:,})")
            if column.head(100).n_unique() == 1 and column.n_unique() == 1:  # counting all of a million takes long
                constant.append(column.name)
        n_constant = len(constant)
    else:
        n_constant, first = constant_columns(as_rows(table.X), _NAMED)
        constant = [str(column + 1) for column in first]
    if n_constant:
        yield Finding(
            "note",
            f"{counted(n_constant, 'column')} never change{'s' * (n_constant == 1)}: "
            f"{listing(constant[:_NAMED], n_constant)}",
            "nothing can be learned from them",
        )
    if missing:
        yield Finding(
            "note",
            f"{counted(len(missing), 'column')} with missing values: {listing(missing[:_NAMED], len(missing))}",
            "a number takes the column's mean, with a column that says so; a missing name is a name of its own",
        )


def _row_fingerprints(X: Any) -> Ints:
    """Return a number for each row; equal for equal rows, and different for others but by a rare accident."""
    if isinstance(X, pl.DataFrame):
        return X.hash_rows(seed=0).to_numpy() if X.width else np.zeros(X.height, np.uint64)
    rows = sp.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    # each entry is hashed by its column and the bits of its value, so that small ones count like large ones
    entry = scattered(rows.data.astype(np.float64).view(np.uint64) ^ scattered(rows.indices))
    so_far = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entry, dtype=np.uint64)])  # modulo 2⁶⁴
    return np.asarray(so_far[rows.indptr[1:]] - so_far[rows.indptr[:-1]])


def _rows(rows: Sequence[int] | Ints) -> str:
    """Name the first rows, counted from 1."""
    return f"row{'s' * (len(rows) != 1)} " + listing([f"{row + 1:,}" for row in rows[:3]], len(rows))


def _label(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)
