"""A model to a file for another runtime: written aside, scored there, compared, and only then put in its place."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from ..data import column_names, is_frame, read_columns_of, to_series
from ..scoring import list_scores
from ..standings import Standings
from ..suggest import suggest
from ..sweeps import Array, Floats
from ..whole_files import whole_file
from ..writing import counted
from .forms import ExportError, Form
from .reading import form_of, form_or_columns
from .sampling import WIDE, sample_rows
from .target import Job, Scored, Target
from .targets import TARGETS

_DOUBLE, _SINGLE = 1e-9, 1e-5
"""How far scores may differ, as a share of the range of the model's scores: in runtimes of double and of single
precision."""


@dataclass(frozen=True)
class Parity:
    """How near what was written comes to the model.

    Attributes
    ----------
    files : tuple of str
        What was written, the file that was asked for first.
    target, reader : str
        The target, and who read the file.
    n_rows : int
        How many rows were scored by both.
    difference : float
        The largest difference of two scores of a row.
    range : float
        From the lowest to the highest score of the model.
    n_swapped : int
        Neighbours in the model's order that stand the other way round: nearer to each other than the rounding.
    notes : tuple of str
        What whoever uses the file must know.
    """

    files: tuple[str, ...]
    target: str
    reader: str
    n_rows: int
    difference: float
    range: float
    n_swapped: int
    notes: tuple[str, ...] = ()

    @property
    def same_order(self) -> bool:
        """Whether all rows are in the model's order."""
        return self.n_swapped == 0

    def __str__(self) -> str:
        order = "the order is the same"
        if not self.same_order:
            verb = "are" if self.n_swapped > 1 else "is"
            order = f"{counted(self.n_swapped, 'neighbour')} nearer than that {verb} swapped"
        return (
            f"checked on {self.n_rows:,} rows by {self.reader}: scores differ by {self.difference:.2g} at most, over a "
            f"range of {self.range:.3g}; {order}"
        )


def export(
    model: Any,
    path: str | os.PathLike[str],
    to: str | None = None,
    *,
    check: Any = None,
    name: str = "wellorder",
    **options: Any,
) -> Parity:
    """Write a fitted model for another runtime, and check that it gives the same scores there.

    The file is written aside, and a sample is scored by the model and by the target's own runtime, where that is
    installed, else by an independent reader of the file. Where they disagree nothing is written.

    Parameters
    ----------
    model : estimator
        One of wellorder's, fitted: a pipeline or search around one, a table's model, or standings.
    path : path-like
        Where to.
    to : str, optional
        For which runtime: "onnx", "lightgbm", "xgboost", "solr", "elasticsearch", "opensearch", "ranklib", "sql" or
        "mlflow". Without, the ending of ``path`` says it, where it does.
    check : array, data frame or mapping of names to columns, optional
        Rows to check with. Without, rows are made from what the model knows: thresholds and values a hair beside
        them, centres, categories and unseen ones, missing values, numbers far out.
    name : str, default="wellorder"
        What a search engine is to call the model.
    **options
        "table", for "sql": the table that is selected from.

    Returns
    -------
    Parity
        What was written, and how near it comes.

    Raises
    ------
    ExportError
        A ValueError: the model cannot be written so, and why; or what was written disagrees with it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import wellorder as wo
    >>> ranker = wo.RankSVM().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = wo.export(ranker, pathlib.Path(folder) / "ranker.sql", table="wines")
    >>> found.reader[:6], found.same_order
    ('SQLite', True)
    """
    target = find_target(path, to)
    unknown = [option for option in options if option not in target.options]
    if unknown:
        raise ExportError(f"{unknown[0]}= is no option of {target.name!r}; {_offered(target)}")
    form = form_of(model) if target.needs_form else form_or_columns(model)
    job = Job(model, form, name, options)
    rows = _rows_to_check(job, target, check)
    place = Path(path)
    if not place.parent.is_dir():
        raise ExportError(f"there is no folder {str(place.parent)!r} to write to")
    beside = f".{place.name}."
    try:
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=beside) as aside:
            written = Path(aside) / place.name
            notes = target.write(job, written)
            found = _compared(job, target, written, rows)
            files = _put_in_place(Path(aside), place)
    except OSError as error:
        if error.errno is None or (error.filename is not None and beside not in os.fsdecode(error.filename)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None  # what lay aside is gone
    return Parity(files, target.name, *found, notes=tuple(notes))


def find_target(path: str | os.PathLike[str], to: str | None = None) -> Target:
    """Return the target of a name, or that of a file's ending."""
    if to is not None:
        if to not in TARGETS:
            raise ExportError(f"to={to!r} is not known; {suggest(to, list(TARGETS), 'there are')}")
        return TARGETS[to]
    ending = Path(path).suffix.lower()
    found = [target for target in TARGETS.values() if target.ending is not None and target.ending == ending]
    if len(found) == 1:
        return found[0]
    known = ", ".join(
        f"{target.name} ({target.ending})" if target.ending else target.name for target in TARGETS.values()
    )
    raise ExportError(
        f"the ending of {os.fspath(path)!r} does not say which runtime it is for; say to=, one of {known}"
    )


def _offered(target: Target) -> str:
    return f"it has {', '.join(target.options)}" if target.options else "it has none"


# --------------------------------------------------------------------------------------------------
# The check.


def _rows_to_check(job: Job, target: Target, check: Any) -> Any:
    """Return rows as the form takes them."""
    if check is None:
        told: dict[str, Any] = {
            "is_single": target.is_single,
            "missing": target.missing,
            "nothing": target.nothing,
        }
        rated = getattr(job.model, "ratings_", None)  # by number: it takes just as many rows
        if rated is not None and not job.form.named:
            told["n_rows"] = len(rated)
        return sample_rows(job.form, **told)
    rows = _as_form_takes(job.form, check)
    if not len(next(iter(rows.values())) if isinstance(rows, Mapping) else rows):
        raise ExportError("there is no row to check with")
    return rows


def _as_form_takes(form: Form, check: Any) -> Any:
    """Return rows that somebody has given by the names of the form's columns, or as a matrix."""
    if isinstance(check, Mapping):
        return check
    if sp.issparse(check):
        kept = [column for column in form.columns if column.place < check.shape[1]]
        values = sp.csc_array(check)
        beyond = {column.name: np.zeros(check.shape[0]) for column in form.columns}
        return beyond | {column.name: values[:, [column.place]].toarray().ravel() for column in kept}
    if not is_frame(check):
        return np.asarray(check)
    given = column_names(check)
    absent = [column.name for column in form.columns if column.name not in given]
    if absent:
        raise ExportError(
            f"the rows to check with have no column {absent[0]!r}; {suggest(absent[0], given, 'they have')}"
        )
    return read_columns_of(check, [column.name for column in form.columns])


def model_scores(job: Job, rows: Any) -> Floats:
    """Return the model's own scores of rows that are given as its form takes them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unseen categories are the point
        return np.asarray(_model_scores(job, rows), dtype=float)


def _model_scores(job: Job, rows: Any) -> Array:
    model, form = job.model, job.form
    if isinstance(model, Standings):
        rating_of = dict(zip(model.items_.tolist(), model.ratings_.tolist(), strict=True))
        return np.array([rating_of.get(name, np.nan) for name in rows[form.columns[0].name]])
    if form.named and getattr(model, "encoder_", None) is None:
        return np.asarray(model.decision_function(list(rows[form.columns[0].name])))
    if form.named:
        return list_scores(model, pl.DataFrame([to_series(name, np.asarray(each)) for name, each in rows.items()]))
    matrix = _matrix(form, rows) if isinstance(rows, Mapping) else np.asarray(rows)
    if hasattr(model, "feature_names_in_"):
        return list_scores(model, pl.DataFrame(matrix, schema=[str(name) for name in model.feature_names_in_]))
    return list_scores(model, matrix)


def _matrix(form: Form, rows: Mapping[str, Any]) -> Any:
    """Return columns by name as the matrix that the model takes."""
    columns = sp.csc_array(np.column_stack([np.asarray(rows[column.name], dtype=float) for column in form.columns]))
    places = np.array([column.place for column in form.columns])
    wide = sp.coo_array(columns)
    out = sp.csr_array((wide.data, (wide.row, places[wide.col])), shape=(columns.shape[0], form.width))
    return out if form.width > WIDE else out.toarray()


def _compared(job: Job, target: Target, written: Path, rows: Any) -> tuple[str, int, float, float, int]:
    own = model_scores(job, rows)
    if own.ndim != 1:
        raise ExportError(f"{type(job.model).__name__} gives {own.shape[1]} scores a row: it is no ranker")
    scored = target.score(job, written, rows)
    reach = float(np.ptp(own)) if len(own) else 0.0
    difference = _difference(scored.scores, own)
    allowed = (_SINGLE if target.is_single else _DOUBLE) * max(reach, float(np.abs(own).max(initial=0.0)) * 1e-3)
    if not difference <= max(allowed, 1e-300):
        raise ExportError(_disagreement(job, target, scored, own, rows))
    return scored.reader, len(own), difference, reach, count_swapped(own, scored.scores)


def _difference(one: Floats, other: Floats) -> float:
    """Return the largest difference; infinite where one of two is no number."""
    if one.shape != other.shape:
        return float("inf")
    apart = np.abs(one - other)
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def count_swapped(own: Floats, other: Floats) -> int:
    """Count neighbours in one order that stand strictly the other way round in another."""
    order = np.lexsort((other, own))
    return int(np.count_nonzero(np.diff(other[order]) < 0))


def _disagreement(job: Job, target: Target, scored: Scored, own: Floats, rows: Any) -> str:
    apart = np.abs(scored.scores - own) if scored.scores.shape == own.shape else np.full(len(own), np.inf)
    row = int(np.argmax(np.where(np.isnan(apart), np.inf, apart)))
    values = {name: each[row] for name, each in rows.items()} if isinstance(rows, Mapping) else np.asarray(rows)[row]
    told = ", ".join(f"{name}={value!s}" for name, value in values.items()) if isinstance(values, dict) else ""
    found = scored.scores[row] if scored.scores.shape == own.shape else "nothing"
    why = ""
    if not target.missing and _has_hole(rows, row):
        why = f"; {target.title} knows no missing values: fill them in before you fit"
    elif target.is_single and _is_rounded(rows, row):
        why = (
            f"; {target.title} keeps numbers in single precision, seven digits: where columns lie far from zero, "
            "subtract a number from them before you fit"
        )
    return (
        f"{scored.reader} scores row {row} as {found}, the model as {own[row]}{f' ({told})' if told else ''}: nothing "
        f"was written{why}"
    )


def _has_hole(rows: Any, row: int) -> bool:
    return any(value is None or value != value for value in _values(rows, row))


def _is_rounded(rows: Any, row: int) -> bool:
    """Return whether single precision changes a number of the row."""
    numbers = np.array([value for value in _values(rows, row) if isinstance(value, float)])
    with np.errstate(over="ignore"):
        return bool((numbers.astype(np.float32) != numbers).any())


def _values(rows: Any, row: int) -> list[Any]:
    return [each[row] for each in rows.values()] if isinstance(rows, Mapping) else list(np.asarray(rows)[row])


def _put_in_place(aside: Path, place: Path) -> tuple[str, ...]:
    """Move what was written to where it belongs, the file that was asked for last."""
    if (aside / place.name).is_dir() and place.exists():
        raise ExportError(f"{str(place)!r} is there already; remove it, or name another folder")
    names = sorted(path.name for path in aside.iterdir())
    for name in sorted(names, key=lambda each: each == place.name):
        if (aside / name).is_dir():
            shutil.move(aside / name, place.parent / name)
        else:
            with open(aside / name, "rb") as written, whole_file(place.parent / name) as out:
                shutil.copyfileobj(written, out)
    return (str(place), *(str(place.parent / name) for name in names if name != place.name))
