"""``read``: any file of rows or comparisons in, a table out."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array
from .comparison_files import is_comparisons, read_comparisons
from .encode import is_frame, own_levels, sheet_of
from .formats import read_file
from .lines import DataError, PathLike, Places
from .roles import Roles, check_levels, make_table
from .sheet import Sheet, join_sheets
from .table import ComparisonTable, Table
from .vote_columns import VoteColumns, as_scores


def read(
    path: PathLike | Sequence[PathLike] | Any,
    *,
    target: str | None = None,
    group: str | None = None,
    item: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    event: str | None = None,
    items: PathLike | Any | None = None,
    levels: Iterable[Hashable] | None = None,
    drop: str | Iterable[str] = (),
    left: str | None = None,
    right: str | None = None,
    outcome: str | None = None,
    winner: str | None = None,
    loser: str | None = None,
    scores: Sequence[str] | None = None,
    format: str | None = None,  # noqa: A002 (the user's word for it)
) -> Table | ComparisonTable:
    r"""Read a file, or a data frame, of graded rows or of comparisons.

    CSV (also with semicolons or tabs), TSV, JSON lines, Parquet, ARFF and LETOR (SVMlight, ``qid:``), each also
    gzipped. The format follows from the content and the name.

    A column is numbers if every field that is given is one (or is true or false, read as 1 and 0); otherwise
    text. Empty, ``NA``, ``NaN``, ``null``, ``None``, ``?`` and ``-`` stand for missing values. In files with
    semicolons 3,14 is a number too. A column of numbers with a few fields that are none is refused: those are
    more likely typos than categories.

    Read without ``target``, a file is one of comparisons if its columns say who was compared with whom, and who won:
    ``left, right, outcome`` (or ``winner``); ``model_a, model_b, winner`` and the like; ``winner, loser`` or ``chosen,
    rejected``; ``home_team, away_team, home_score, away_score``. Columns with other names are named by ``left``,
    ``right`` and ``outcome``, by ``winner`` and ``loser``, or by ``scores``. A file that could be read in two ways is
    refused. The outcome is 1, ``<`` or ``right`` (the left item is worse, the right one better), −1, ``>`` or ``left``
    (the left one is better), 0, ``=``, ``tie`` or ``draw`` (no difference), the name of a column (``model_a``) or of
    the better item; ``tie (bothbad)`` and ``both_bad`` are ties that are remembered. A column ``weight`` is optional.
    ``understood`` says in one line how it was read; other columns are kept, for ``wo.rate``.

    Parameters
    ----------
    path : path-like, or a list of them; or a data frame
        The file. Several with the same columns are read as one. A data frame, of pandas, polars or the like, is taken
        as a file with its columns; an ordered categorical target brings its own levels.
    target : str, optional
        The column of grades, higher is better. Without it there are none; LETOR files always have them.
    group : str, optional
        The column that says which rows may be compared.
    item : str, optional
        The column with what each row is called. With ``items``, the column of that file (default: the one called
        item, id or name, or else the first).
    weight : str, optional
        The column of weights, positive numbers.
    time : str, optional
        The column that says when a row is from, or when two items were compared: numbers, or dates such as 2024-05-31
        or 2024-05-31 18:30. It is no feature; :func:`wellorder.compare` then learns from the past and judges by the
        future, and comparisons are put into this order, which is the one that ratings go by.
    event : str, optional
        The column that says whether the target, a time, ended with an event (1 or true) or was censored (0 or false);
        where it is written otherwise, with the value that stands for an event: ``event="status=dead"``. The rows are
        then put in order by how long they are known to have lived (:class:`wellorder.Times`).
    items : path-like or data frame, optional
        With comparisons: a file with the features of the items.
    levels : sequence, optional
        The grades from worst to best; needed where they are text.
    drop : str or list of str, default=()
        Columns to leave out.
    left, right, outcome : str, optional
        Of comparisons: the columns of the two items, and of which of them is better.
    winner, loser : str, optional
        Of comparisons: the columns of the better items and of the others. Nothing is then known of sides.
    scores : pair of str, optional
        Of comparisons: the columns of what the left and the right one scored; more is better.
    format : {"csv", "tsv", "jsonl", "parquet", "arff", "letor"}, optional
        The format, where content and name do not tell.

    Returns
    -------
    Table or ComparisonTable

    Raises
    ------
    DataError
        A ValueError in one line: the file, the line, what is wrong and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from wellorder.data import read
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "wines.csv"
    >>> _ = path.write_text("ph,colour,quality\n3.1,red,5\n3.4,white,6\n")
    >>> wines = read(path, target="quality")
    >>> wines.feature_names, wines.y.tolist()
    (('ph', 'colour'), [5.0, 6.0])

    >>> games = path.with_name("games.csv")
    >>> _ = games.write_text("left,right,outcome\nAnna,Ben,>\nBen,Carl,=\n")
    >>> print(read(games).comparisons.describe())
    2 comparisons of 3 items, 1 of them ties

    >>> import polars as pl
    >>> votes = pl.DataFrame({"model_a": ["ada", "bob"], "model_b": ["bob", "eve"], "winner": ["model_a", "tie"]})
    >>> print(read(votes).understood)
    the data frame: 2 comparisons of 3 items: model_a against model_b, outcome in winner (model_a 1, model_b 0, tie 1)
    """
    votes = VoteColumns(left, right, outcome, winner, loser, as_scores(scores))
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    if not isinstance(path, str | os.PathLike) and is_frame(path):
        if format is not None:
            raise ValueError(f"format={format!r} is of a file, and this is a data frame; leave it out")
        given = own_levels(path, target) if levels is None else levels
        listed = check_levels("the data frame", given)
        roles = Roles(target, group, item, weight, listed, dropped, time=time, event=event, votes=votes)
        return give_roles(sheet_of(path), roles, items)
    paths = as_paths(path)
    listed = check_levels(os.fspath(paths[0]), levels)
    roles = Roles(target, group, item, weight, listed, dropped, time=time, event=event, votes=votes)
    table = give_roles(read_files(paths, format), roles, items)
    return replace(table, recipe=_recipe(paths, roles, items, format))


def as_paths(path: PathLike | Sequence[PathLike]) -> list[PathLike]:
    """Return one path or several as a list."""
    paths = [path] if isinstance(path, str | os.PathLike) else list(path)
    if not paths:
        raise ValueError("there is no file to read: the list of paths is empty")
    return paths


def read_files(paths: Sequence[PathLike], format_name: str | None = None) -> Sheet | Table:
    """Read files as they stand, as one: their columns, or the finished table of a format without named columns."""
    found = [read_file(each, format_name) for each in paths]
    tables = [part for part in found if isinstance(part, Table)]
    if not tables:
        return join_sheets([part for part in found if isinstance(part, Sheet)])
    if len(tables) < len(found):
        raise DataError(
            os.fspath(paths[0]), "files that are read together need one format; some of these are LETOR, some not"
        )
    return _join_tables(tables)


def give_roles(found: Sheet | Table, roles: Roles, items: Any = None) -> Table | ComparisonTable:
    """Make a table of what was read: of graded rows, or of comparisons if it has their columns and no target."""
    if isinstance(found, Table):
        if items is not None:
            raise DataError(found.source, "items= goes with comparisons, and this file holds graded rows; leave it out")
        return _with_levels(found, roles)
    if roles.target is None and is_comparisons(found, roles):
        return read_comparisons(found, roles, None if items is None else one_sheet(items))
    if items is not None:
        raise found.error(
            "items= goes with comparisons, and this file has no columns left, right and outcome, nor others that are "
            "recognised; name them with left=, right= and outcome="
        )
    return make_table(found, roles)


def _recipe(paths: Sequence[PathLike], roles: Roles, items: Any, format_name: str | None) -> str:
    """Write the call that reads the same again."""
    named = [os.fspath(path) for path in paths]
    options = {
        **roles.given(),
        **roles.votes.given(),
        "levels": None if roles.levels is None else list(roles.levels),
        "drop": list(roles.drop) or None,
        "items": items if items is None or is_frame(items) else os.fspath(items),
        "format": format_name,
    }
    given = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    return f"wo.read({', '.join([repr(named[0] if len(named) == 1 else named), *given])})"


def one_sheet(path: Any) -> Sheet:
    """Read a file or a data frame of items, whose columns have names."""
    if not isinstance(path, str | os.PathLike) and is_frame(path):
        return sheet_of(path)
    sheet = read_file(path)
    if isinstance(sheet, Table):
        raise DataError(sheet.source, "a file of items needs a column with their names; LETOR files have none")
    return sheet


def _join_tables(tables: list[Table]) -> Table:
    """Put tables of numbered features one below the other; the narrower ones lack only zeros."""
    first = tables[0]
    if len(tables) == 1:
        return first
    width = max(table.X.shape[1] for table in tables)
    wide = [_widened(table, width) for table in tables]
    firsts = np.cumsum([0, *map(len, tables[:-1])]).tolist()
    return replace(
        first,
        source=f"{first.source} and {len(tables) - 1} more",
        X=sp.csr_array(sp.vstack(wide, format="csr")),
        y=_joined(tables, "y"),
        groups=_joined(tables, "groups"),
        ids=_joined(tables, "ids"),
        places=Places(tuple((table.source, first) for table, first in zip(tables, firsts, strict=True))),
    )


def _widened(table: Table, width: int) -> sp.csr_array:
    X: Any = table.X
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _joined(tables: list[Table], name: str) -> Array | None:
    parts = [getattr(table, name) for table in tables]
    if all(part is None for part in parts):
        return None
    if name == "ids":  # comments: those files that have none say nothing about the others
        parts = [np.full(len(t), "", object) if part is None else part for t, part in zip(tables, parts, strict=True)]
    for table, part in zip(tables, parts, strict=True):
        if part is None:
            raise DataError(table.source, f"it has no {name}, unlike the files beside it")
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)


def _with_levels(table: Table, roles: Roles) -> Table:
    """Check what was said about a file whose columns have no names."""
    for option, name in [
        *roles.named().items(),
        *roles.votes.given().items(),
        *(("drop", name) for name in roles.drop),
    ]:
        if option in ("target", "group") and name == getattr(table, option):
            continue
        raise DataError(
            table.source,
            f"{option}={name!r} names a column, and the columns of a LETOR file have no names (grade, qid and numbered "
            f"features); leave {option}= out",
        )
    if roles.levels is None or table.y is None:
        return table
    try:
        levels = tuple(float(level) for level in roles.levels)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DataError(table.source, f"the levels {list(roles.levels)} are text, and its grades are numbers") from None
    unknown = ~np.isnan(table.y) & ~np.isin(table.y, levels)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise DataError(
            table.source,
            f"row {row + 1:,} has the grade {table.y[row]:g}, which is not among the levels {list(levels)}",
        )
    return replace(table, levels=levels)
