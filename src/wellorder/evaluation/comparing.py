"""Every method on the same splits, searched inside the training parts only, within a time budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from .budget import Budget
from .doctor import examine
from .judging import check_metric, default_metrics, greater_is_better
from .leaderboard import Leaderboard, LeftOut, Protocol, make_leaderboard
from .methods import METHODS, find_method
from .records import Record, RecordFile
from .splits import Split
from .tasks import AnyTable, Task, make_task
from .trials import OUT_OF_MEMORY, OUT_OF_TIME, run_trial, trial_key
from .versions import versions


@dataclass(frozen=True)
class Progress:
    """What has just been done in a comparison, for whoever shows it."""

    record: Record
    n_done: int
    n_planned: int
    seconds: float
    """Spent so far, earlier runs included."""


def compare(
    table: AnyTable,
    methods: Sequence[str] | None = None,
    *,
    metric: str | None = None,
    metrics: Sequence[str] = (),
    n_folds: int = 5,
    n_repeats: int = 2,
    inner_folds: int = 3,
    seed: int = 0,
    time_budget: float | None = 120.0,
    records: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Leaderboard:
    """Compare methods on data, each searched and fitted on the same training parts and judged on the rest.

    For each of ``n_folds`` × ``n_repeats`` splits and each method: the columns are encoded by the training
    part alone, the method's small grid is searched by cross-validation inside it, the best is fitted to all
    of it and judged on the test part. Groups (or, for comparisons, the two items compared) stay together.

    Parameters
    ----------
    table : Table or ComparisonTable
        What :func:`wellorder.read` gives.
    methods : sequence of str, optional
        Names as in ``wellorder compare --models``; all that suit the data unless given.
    metric : str, optional
        What the searches and the leaderboard go by; "swapped_pairs" unless given, or "comparison_error" of comparisons
        with ties.
    metrics : sequence of str, optional
        What is measured besides.
    n_folds, n_repeats, inner_folds, seed : int
        The splits, and the folds of the searches.
    time_budget : float or None, default=120.0
        Seconds. Methods that would not finish one round of folds within it are left out, the most expensive
        first; further repeats are only begun if they will finish. If time is up all the same, the leaderboard is
        over the splits that all methods have finished. None: as long as it takes.
    records : path, optional
        Where to keep a JSON line a fit. What is there already is not computed again, and counts as time spent.
    progress : callable, optional
        Called after each fit.

    Returns
    -------
    Leaderboard

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_diabetes
    >>> import wellorder as wo
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> board = wo.compare(wo.data.Table("diabetes", pl.from_pandas(X), y.to_numpy()), ["ridge", "best-feature"])
    >>> board.leader.method
    'ridge'
    """
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
    )
    run = _Run(task, protocol, RecordFile(records), progress)
    chosen, left_out = _choose(task, methods, run.splits[0])
    run.go(chosen, left_out)
    return make_leaderboard(
        task.name,
        run.used,
        run.active,
        run.left_out,
        replace(
            protocol,
            n_folds=run.n_folds,
            n_repeats=run.n_repeats,
            code=_code(table, run),
            planned_repeats=protocol.n_repeats if run.n_repeats < protocol.n_repeats else None,
        ),
        examine(table),
        greater_is_better=greater_is_better(protocol.metric, task.supervision),
        is_complete=run.is_complete,
        time_was_up=run.time_was_up,
    )


class _Run:
    """One comparison under way: what has been done, and what is planned next."""

    def __init__(
        self, task: Task, protocol: Protocol, kept: RecordFile, progress: Callable[[Progress], None] | None
    ) -> None:
        self.task = task
        self.protocol = protocol
        self.kept = kept
        self.progress = progress
        self.budget = Budget(protocol.time_budget)
        self.splits = list(task.splits(protocol.n_folds, protocol.n_repeats, protocol.seed))
        self.n_folds = sum(split.repeat == 0 for split in self.splits)
        self.n_repeats = protocol.n_repeats
        """As planned; fewer once it is clear that there is no time for more."""
        self.used: list[Record] = []
        self.left_out: list[LeftOut] = []
        self.active: list[str] = []
        self.is_complete = False
        self.time_was_up = False
        self._n_begun = 1  # repeats

    @property
    def spent(self) -> float:
        """Seconds of all fits used so far, in this run or an earlier one."""
        return sum(record.seconds for record in self.used)

    def go(self, chosen: Iterable[str], left_out: Iterable[LeftOut]) -> None:
        """Run the methods split by split, until all is done, the time is up, or somebody interrupts.

        The first split shows what each method takes; those that cannot finish the folds are then left out. Before it
        is done there is nothing to show, and an interrupt goes on to the caller.
        """
        self.active, self.left_out = list(chosen), list(left_out)
        self._run_first()
        try:
            self._leave_out_what_does_not_fit()
            self.is_complete = self._run_all(self.splits[1 : self.n_folds])
            while self.is_complete and self._n_begun < self.n_repeats:
                if not self.budget.allows(self._pace(), self.n_folds, self.spent):
                    self.n_repeats = self._n_begun  # a repeat that would not finish is not begun
                    break
                first = self._n_begun * self.n_folds
                self._n_begun += 1
                self.is_complete = self._run_all(self.splits[first : first + self.n_folds])
            self.time_was_up = not self.is_complete
        except KeyboardInterrupt:
            self.is_complete = False
        if not self.active:
            reasons = "; ".join(f"{each.method}: {each.reason}" for each in self.left_out)
            raise ValueError(f"no method could be run on {self.task.name}: {reasons}")

    def _run_first(self) -> None:
        """Run all methods on the first split, each within an equal share of the time left."""
        waiting = list(self.active)
        for place, name in enumerate(waiting):
            share = self.budget.share(self.spent, len(waiting) - place)
            self._use(self._record(name, self.splits[0], share))

    def _run_all(self, splits: Iterable[Split]) -> bool:
        """Run the active methods on these splits; False if the time is up before the last is done by all."""
        for split in splits:
            for name in list(self.active):
                left = self.budget.left(self.spent)
                if left == 0:
                    return False
                record = self._record(name, split, left)
                if (record.problem or "").startswith(OUT_OF_TIME):
                    return False  # no fault of the method: it has done earlier splits, and stays for these
                self._use(record)
        return True

    def _use(self, record: Record) -> None:
        self.used.append(record)
        if record.problem is not None:
            self._leave_out(record.method, record.problem.removeprefix(OUT_OF_TIME))
        if self.progress is not None:
            planned = len(self.active) * self.n_folds * self._n_begun
            self.progress(Progress(record, len(self.used), max(planned, len(self.used)), self.spent))

    def _leave_out(self, name: str, reason: str) -> None:
        self.active.remove(name)
        self.left_out.append(LeftOut(name, reason))

    def _leave_out_what_does_not_fit(self) -> None:
        pace = self._pace()
        for name in self.budget.unaffordable(pace, self.n_folds - 1, self.spent):
            self._leave_out(
                name,
                f"it took {pace[name]:.1f} s on the first of {self.n_folds} splits, and all would not fit into "
                f"{self.protocol.time_budget:g} s; raise the time budget, or name fewer methods",
            )

    def _pace(self) -> dict[str, float]:
        """Return the mean seconds a split of each active method."""
        times = {name: [record.seconds for record in self.used if record.method == name] for name in self.active}
        return {name: float(np.mean(seconds)) for name, seconds in times.items()}

    def _record(self, name: str, split: Split, left: float) -> Record:
        """Return the record of one fit: an earlier one where there is one, unless it may do better now."""
        key = trial_key(self.task, name, METHODS[name], split, self.protocol)
        if key in self.kept and not _may_do_better(self.kept[key], left):
            return self.kept[key]
        record = run_trial(self.task, name, METHODS[name], split, self.protocol, seconds=left, key=key)
        self.kept.append(record)
        return record


def _may_do_better(known: Record, seconds: float) -> bool:
    """Say whether a fit failed of what another time may bring: more time, or more memory."""
    if known.problem is None:
        return False
    if known.problem.startswith(OUT_OF_TIME):
        return seconds >= 1.5 * known.seconds
    return known.problem.startswith(OUT_OF_MEMORY)


def _protocol(task: Task, metric: str | None, metrics: Sequence[str], **settings: Any) -> Protocol:
    usual = default_metrics(task.order)
    wanted = [check_metric(name, task.supervision) for name in (metric or usual[0], *(metrics or usual))]
    for name, least in (("n_folds", 2), ("n_repeats", 1), ("inner_folds", 2)):
        if settings[name] < least:
            raise ValueError(f"{name} must be at least {least}, got {settings[name]}")
    return Protocol(
        split_by=task.split_by,
        metric=wanted[0],
        metrics=tuple(dict.fromkeys(wanted)),
        versions=versions(),
        **settings,
    )


def _choose(task: Task, methods: Sequence[str] | None, first: Split) -> tuple[list[str], list[LeftOut]]:
    """Choose the methods that suit the data; those that were named are only left out where they cannot work."""
    size = task.training_part(first.train).size
    chosen, left_out = [], []
    for name in dict.fromkeys(METHODS if methods is None else methods):
        method = find_method(name)
        if task.supervision not in method.takes:
            left_out.append(LeftOut(name, f"it does not learn from {task.supervision}"))
        elif methods is None and (objection := method.objection(size)) is not None:
            left_out.append(LeftOut(name, objection))
        else:
            chosen.append(name)
    return chosen, left_out


def _code(table: AnyTable, run: _Run) -> str:
    """Write the Python lines that compute the same on any machine: what there was time for, without a limit of time."""
    protocol = run.protocol
    options: dict[str, Any] = {"metric": protocol.metric, "metrics": list(protocol.metrics[1:] or protocol.metrics)}
    options |= {"n_folds": run.n_folds, "n_repeats": run.n_repeats}
    options |= {"inner_folds": protocol.inner_folds, "seed": protocol.seed, "time_budget": None}
    written = "".join(f", {name}={value!r}" for name, value in options.items())
    methods = [name for name in METHODS if name in run.active]
    return f"import wellorder as wo\n\ntable = {table.recipe or '…'}\nboard = wo.compare(table, {methods!r}{written})"
