"""The data doctor: what is in a table, and what a person should know before trusting a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..data import Table, TableEncoder
from ..data.numbered import as_rows, constant_columns
from ..order import Grades
from ..sweeps import Array, Ints
from ..writing import counted
from .comparison_doctor import examine_comparisons
from .giveaways import find_giveaways
from .health import Finding, Health, listing
from .tasks import AnyTable

_FEW_LEVELS = 20
_NAMED = 5
"""Columns that a finding names; beyond, it says how many there are."""


def examine(table: AnyTable) -> Health:
    """Look at a table before anything is learned from it.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> import wellorder as wo
    >>> table = wo.data.Table("made.csv", pl.DataFrame({"a": np.arange(30.0), "b": np.ones(30)}), np.arange(30) // 10)
    >>> for finding in wo.evaluation.examine(table).findings:
    ...     print(f"{finding.severity}: {finding.what}")
    note: 1 column never changes: b
    warning: the column 'a' alone orders all pairs rightly: it may be the target in other clothes, known only afterwards
    """
    if not isinstance(table, Table):
        return examine_comparisons(table)
    if table.y is None:
        findings = [*_columns(table), Finding("note", "no column was named as the target", "name it with --target")]
        return Health(table.source, tuple(_shape(table)), tuple(findings))
    grades = table.grades()
    facts = (*_shape(table), *_supervision(grades, table))
    findings = [*_nothing_to_learn(grades), *_lists(grades, table), *_repeats(grades, table), *_columns(table)]
    if grades.pairs.n_pairs:
        findings += find_giveaways(grades, table)
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
        yield "features", f"{table.X.shape[1]:,} ({filled:.0%} of the entries given)"


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
    group = np.zeros(len(grades), np.int64) if grades.group is None else grades.group.astype(np.int64)
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
    group = np.zeros(len(table), np.int64) if grades.group is None else grades.group
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
    yield from _leaks(copy_of, group, table)


def _leaks(copy_of: Ints, group: Ints, table: Table) -> Iterator[Finding]:
    """Find what a split by rows or by lists would put on both sides."""
    by_lists = table.groups is not None
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


def _row_fingerprints(X: Any) -> Array:
    """Return a number for each row; equal for equal rows, and different for others but by a rare accident."""
    if isinstance(X, pl.DataFrame):
        return X.hash_rows(seed=0).to_numpy() if X.width else np.zeros(X.height, np.uint64)
    rows = sp.csr_array(X, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    # each entry is hashed by its column and the bits of its value, so that small ones count like large ones
    entry = _mix(rows.data.astype(np.float64).view(np.uint64) ^ _mix(rows.indices.astype(np.uint64) + np.uint64(1)))
    so_far = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entry, dtype=np.uint64)])  # modulo 2⁶⁴
    return np.asarray(so_far[rows.indptr[1:]] - so_far[rows.indptr[:-1]])


def _mix(bits: Array) -> Array:
    """Scatter 64-bit numbers: the last steps of SplitMix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _rows(rows: Sequence[int] | Ints) -> str:
    """Name the first rows, counted from 1."""
    return f"row{'s' * (len(rows) != 1)} " + listing([f"{row + 1:,}" for row in rows[:3]], len(rows))


def _label(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)
