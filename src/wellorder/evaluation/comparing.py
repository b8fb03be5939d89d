"""Every method on the same splits, searched inside the training parts only, within a time budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from itertools import chain
from os import PathLike
from typing import Any, ParamSpec

import numpy as np
import polars as pl

from ..data import leave_columns, read
from ..memory import available_bytes
from ..metrics import AnyMetric, is_ours
from .board_run import BoardRun, Plan, Progress, choose_methods, decide_jobs
from .doctor import examine
from .judging import default_metrics, read_metrics, wants_probabilities
from .leaderboard import Leaderboard, LeftOut, Memory, Protocol, make_leaderboard
from .methods import METHODS, find_method
from .records import RecordFile
from .tasks import AnyTable, Task, make_task
from .trials import versions

_Given = ParamSpec("_Given")


def _refusing_grades(call: Callable[_Given, Leaderboard]) -> Callable[_Given, Leaderboard]:
    """Have ``compare(X, y, methods)`` refused with a way on, and not by Python for the number of its arguments."""

    @wraps(call)
    def refused(*args: _Given.args, **named: _Given.kwargs) -> Leaderboard:
        if len(args) > 2 or (len(args) == 2 and "methods" in named):
            _refuse_grades(args[0], args[1], named)
        return call(*args, **named)

    return refused


@_refusing_grades
def compare(
    table: AnyTable,
    methods: Sequence[str] | None = None,
    *,
    metric: AnyMetric | None = None,
    metrics: Sequence[AnyMetric] = (),
    n_folds: int = 5,
    n_repeats: int = 2,
    inner_folds: int = 3,
    seed: int = 0,
    time_budget: float | None = 120.0,
    monotone: Mapping[str, int] | None = None,
    records: str | PathLike[str] | None = None,
    n_jobs: int | None = None,
    begin: Callable[[Plan], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    **reading: Any,
) -> Leaderboard:
    """Compare methods on data, each searched and fitted on the same training parts and judged on the rest.

    For each of ``n_folds`` × ``n_repeats`` splits and each method: the columns are encoded by the training
    part alone, the method's small grid is searched by cross-validation inside it, the best is fitted to all
    of it and judged on the test part. Groups (or, for comparisons, the two items compared) stay together. Where the
    table knows when its rows are from (``wo.read(path, time=…)``), a method learns from the past and is judged by what
    comes next, at ``n_folds`` moments of the later half.

    Parameters
    ----------
    table : Table or ComparisonTable; or a data frame or path
        What :func:`wellorder.read` gives, of a file or of a data frame; or these themselves, with ``reading``.
    methods : sequence of str, optional
        Names as in ``wellorder compare --models``; all that suit the data unless given.
    metric : str, Metric or Definition, optional
        What the searches and the leaderboard go by; "swapped_pairs" unless given, or "comparison_error" of comparisons
        with ties. One of probabilities, such as "rps" or "log_loss", is for methods that give them; those that do not
        are left out, or refused if they are named. A function of your own comes through
        :func:`wellorder.metrics.make`.
    metrics : sequence of str, Metric or Definition, optional
        What is measured besides.
    n_folds, n_repeats, inner_folds, seed : int
        The splits, and the folds of the searches.
    time_budget : float or None, default=120.0
        Seconds by the clock. Methods that would not finish one round of folds within it are left out, the most
        expensive first; further repeats are only begun if they will finish. If time is up all the same, the leaderboard
        is over the splits that all methods have finished. None: as long as it takes.
    monotone : mapping from columns to +1 or −1, optional
        Columns in which more must never be worse (+1), or never better (−1), all else held: methods that cannot keep
        that exactly are left out.
    records : path, optional
        Where to keep a JSON line a fit. What is there already is not computed again, and counts as time spent. A metric
        of your own is known there by its name alone: once its function has changed, give it another name.
    n_jobs : int, optional
        How many trials (a method on a split) run side by side, through ``joblib.Parallel``: with
        ``joblib.parallel_config(backend=...)`` around the call, wherever that backend sends them. None: as that
        configuration says, if there is one; else as many processes as there are processors, once there is work for more
        than a few seconds, but fewer where they would not fit into memory, and one from 50,000 rows on, where a fit
        uses all processors itself. Results do not depend on it; with a time budget, what there is time for does.
    begin : callable, optional
        Called with the :class:`Plan` before the first fit.
    progress : callable, optional
        Called with a :class:`Progress` after each trial.
    **reading
        Of a data frame or path, what :func:`wellorder.read` takes: ``target``, ``group``, ``levels``, …

    Returns
    -------
    Leaderboard

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> import wellorder as wo
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> board = wo.compare(X.assign(grade=y), ["ridge", "best-feature"], target="grade")
    >>> board.leader.method
    'ridge'
    """
    _refuse_grades(table, methods, reading)
    table = leave_columns(_read(table, reading))
    task = make_task(table)
    protocol = _protocol(
        task,
        metric,
        metrics,
        n_folds=n_folds,
        n_repeats=n_repeats,
        inner_folds=inner_folds,
        seed=seed,
        time_budget=time_budget,
        monotone=_signs_of(monotone),
    )
    splits = task.splits(n_folds, n_repeats, seed)
    first = next(splits)
    chosen, left_out, memory = choose_methods(
        task, methods, first, wants_probabilities(protocol.measures), dict(protocol.monotone)
    )
    jobs, at_once = decide_jobs(n_jobs, memory, len(task.order))
    protocol = replace(protocol, n_folds=task.n_folds(n_folds), n_jobs=jobs, memory=memory)
    if task.times is not None:  # the past is there once
        protocol = replace(protocol, n_repeats=1, time=table.time or "time")
    kept = RecordFile(records)
    kept.refuse_unwritable()
    if begin is not None:
        begin(_plan(task, protocol, chosen, left_out, memory))
    run = BoardRun(task, protocol, chain([first], splits), kept, progress, at_once=at_once)
    run.go(chosen, left_out)
    return make_leaderboard(
        task.name,
        run.used,
        run.active,
        run.left_out,
        replace(
            protocol,
            n_repeats=run.n_repeats,
            code=_code(table, run),
            planned_repeats=run.planned_repeats if run.n_repeats < run.planned_repeats else None,
        ),
        examine(table),
        greater_is_better=protocol.measures[0].greater_is_better,
        is_complete=run.is_complete,
        time_was_up=run.time_was_up,
    )


def _signs_of(monotone: Mapping[str, int] | None) -> tuple[tuple[str, int], ...]:
    """Return the columns and their signs, as a protocol keeps them."""
    given = tuple((monotone or {}).items())
    for column, sign in given:
        if not isinstance(column, str) or isinstance(sign, bool) or sign not in (1, -1):
            raise ValueError(f"monotone takes names of columns and +1 or −1, got {column!r}: {sign!r}")
    return given


def _plan(task: Task, protocol: Protocol, chosen: Sequence[str], left_out: Sequence[LeftOut], memory: Memory) -> Plan:
    return Plan(
        task.name,
        tuple(chosen),
        tuple(left_out),
        protocol.n_folds,
        protocol.n_repeats,
        protocol.metric,
        protocol.measures[0].greater_is_better,
        protocol.time_budget,
        protocol.n_jobs,
        memory,
        available_bytes(),
        protocol.definition,
    )


def _read(table: Any, reading: Mapping[str, Any]) -> AnyTable:
    """Return a table as it is, or read it."""
    if unknown := [name for name in reading if name not in signature(read).parameters]:
        raise TypeError(f"compare() got an unexpected keyword argument {unknown[0]!r}")
    if isinstance(table, AnyTable):
        if reading:
            raise TypeError(
                f"{', '.join(reading)} is for data frames and paths, and this table has been read already; give it to "
                "wo.read"
            )
        return table
    return read(table, **reading) if reading else table  # without a word on what it holds, the task refuses it


def _refuse_others(table: Any, methods: Any) -> None:
    """Refuse a list of what are no names of methods, nor grades: estimators, and names that are not known."""
    if not isinstance(methods, list | tuple | dict):
        return
    if own := [each for each in (*methods, *getattr(methods, "values", tuple)()) if hasattr(each, "fit")]:
        raise TypeError(
            f"methods are named, such as 'rank-svm', and this is a {type(own[0]).__name__}; name those that come "
            "with wellorder or an installed package, and judge an estimator of your own by "
            "wo.cross_validate(estimator, X, y)"
        )
    are_grades = len(methods) == getattr(table, "shape", [0])[0]
    if not are_grades and all(isinstance(each, str) for each in methods):
        for name in methods:
            find_method(name)


def _refuse_grades(table: Any, methods: Any, reading: Mapping[str, Any]) -> None:
    """Say how to go on to whoever compares as other libraries fit: with X, y and groups."""
    _refuse_others(table, methods)
    if isinstance(reading.get("groups"), str):
        raise TypeError(f"groups= takes no name of a column; name it as group={reading['groups']!r}")
    if isinstance(methods, str):
        is_column = methods in getattr(table, "columns", ())
        way = (
            f"name the column of grades as target={methods!r}" if is_column else f"give a list of names, [{methods!r}]"
        )
        raise ValueError(f"methods={methods!r} is one text; {way}")
    if isinstance(table, AnyTable):
        return
    named = isinstance(methods, Iterable) and all(isinstance(name, str) and name in METHODS for name in methods)
    if (named or methods is None) and not reading.keys() & {"y", "groups"}:
        return
    grades = reading.get("y") if named or methods is None else methods
    target = reading.get("target") or str(getattr(grades, "name", None) or "grade")
    columns, roles = {target: "y"}, f"target={target!r}"
    if reading.get("groups") is not None:
        group = str(getattr(reading["groups"], "name", None) or "query")
        columns, roles = columns | {group: "groups"}, f"{roles}, group={group!r}"
    raise TypeError(
        "compare takes a table that has the grades as a column (and groups as another), and then names of methods, not "
        f"X and y; give it wo.read({_with_columns(table, columns)}, {roles})"
    )


def _with_columns(X: Any, columns: Mapping[str, str]) -> str:
    """Write how X becomes a data frame that has more columns, by their names and what they are called in the code."""
    if hasattr(X, "assign"):
        if all(name.isidentifier() for name in columns):
            return f"X.assign({', '.join(f'{name}={value}' for name, value in columns.items())})"
        return f"X.assign(**{{{', '.join(f'{name!r}: {value}' for name, value in columns.items())}}})"
    frame = "X" if isinstance(X, pl.DataFrame) else "pl.DataFrame(X)" if isinstance(X, np.ndarray) else "frame_of_X"
    return f"{frame}.with_columns({', '.join(f'pl.Series({name!r}, {value})' for name, value in columns.items())})"


def _protocol(task: Task, metric: AnyMetric | None, metrics: Sequence[AnyMetric], **settings: Any) -> Protocol:
    usual = default_metrics(task.order)
    wanted = read_metrics((metric or usual[0], *(metrics or usual)), task.supervision, probabilities=True)
    for name, least in (("n_folds", 2), ("n_repeats", 1), ("inner_folds", 2)):
        if settings[name] < least:
            raise ValueError(f"{name} must be at least {least}, got {settings[name]}")
    return Protocol(
        split_by=task.split_by,
        metric=str(wanted[0]),
        metrics=tuple(map(str, wanted)),
        own_metrics=tuple(each for each in wanted if not is_ours(each)),
        versions=versions(),
        **settings,
    )


def _code(table: AnyTable, run: BoardRun) -> str:
    """Write the Python lines that compute the same on any machine: what there was time for, without a limit of time."""
    protocol = run.protocol
    own = {str(each) for each in protocol.own_metrics}
    named = [name if name in own else repr(name) for name in protocol.metrics]  # the caller's own are variables there
    options: dict[str, Any] = {"n_folds": protocol.n_folds, "n_repeats": run.n_repeats}
    options |= {"inner_folds": protocol.inner_folds, "seed": protocol.seed, "time_budget": None}
    options |= {"monotone": dict(protocol.monotone)} if protocol.monotone else {}
    written = f", metric={named[0]}, metrics=[{', '.join(named[1:] or named)}]"
    written += "".join(f", {name}={value!r}" for name, value in options.items())
    methods = [name for name in METHODS if name in run.active]
    return f"import wellorder as wo\n\ntable = {table.recipe or '…'}\nboard = wo.compare(table, {methods!r}{written})"
