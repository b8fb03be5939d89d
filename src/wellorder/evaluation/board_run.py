"""One comparison under way: what has been done, what is planned next, and what there is no time for."""

from __future__ import annotations

import logging
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import joblib
import numpy as np
import polars as pl
import scipy.sparse as sp

from ..estimators import keeps_monotone
from ..memory import available_bytes
from ..metrics import Definition, Metric
from ..sweeps import THREADS_FROM
from ..writing import write_bytes
from .budget import Budget, Needs
from .evidence import gather
from .leaderboard import LeftOut, Memory, Protocol
from .methods import METHODS, cannot_learn, find_method, foretelling_methods, refuse_silent
from .records import Record, RecordFile
from .searching import MOST_SEARCHED
from .side_by_side import PATIENCE, Trial, TrialPool
from .splits import Split
from .tasks import Task
from .trials import (
    OUT_OF_MEMORY,
    OUT_OF_TIME,
    WORKER_ENDED,
    is_fault,
    is_late,
    pilot_seconds,
    steady_sums,
    trial_key,
)

# --------------------------------------------------------------------------------------------------
# What a comparison is about to do: which methods, how many trials at a time, how much memory.


_ROOM = 0.8
"""The share of the free memory that several processes may take together."""


@dataclass(frozen=True)
class Plan:
    """What a comparison is about to do, for whoever shows it before the first fit."""

    data: str
    methods: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    n_folds: int
    n_repeats: int
    metric: str
    greater_is_better: bool
    time_budget: float | None
    """Seconds by the clock; None: no limit."""
    n_jobs: int
    """How many trials run side by side."""
    memory: Memory
    free_bytes: float | None
    """The free memory; None if the system does not say."""
    definition: Definition | None = None
    """The metric's record; None if its name is not known here."""


def choose_methods(
    task: Task,
    methods: Sequence[str] | None,
    first: Split,
    foretelling: Metric | None = None,
    monotone: Mapping[str, int] | None = None,
) -> tuple[list[str], list[LeftOut], Memory]:
    """Choose the methods that suit the data, and estimate what the heaviest of them needs.

    Methods that were named are only left out where they cannot work. ``foretelling`` is a metric of probabilities:
    methods that give none are refused if they were named, else left out. Those that cannot keep what must be
    ``monotone`` are left out, named or not.
    """
    part = task.training_part(first.train)
    matrix, free = _bytes(part.X), available_bytes()
    data = _bytes(task.table.rows.X) + matrix
    chosen: dict[str, int] = {}
    left_out = []
    able = METHODS if foretelling is None else foretelling_methods(task.supervision)
    if foretelling is not None:
        refuse_silent(
            (name for name in methods or () if cannot_learn(find_method(name), task.order) is None),
            foretelling,
            task.supervision,
        )
    for name in dict.fromkeys(METHODS if methods is None else methods):
        method = find_method(name)
        needed = data + method.memory(part.size, matrix)
        if (reason := cannot_learn(method, task.order)) is not None:
            left_out.append(LeftOut(name, reason))
        elif name not in able:
            left_out.append(LeftOut(name, f"it gives no probabilities, which {foretelling} judges"))
        elif monotone and not keeps_monotone(method.make()):
            left_out.append(LeftOut(name, f"it cannot keep {', '.join(monotone)} monotone exactly"))
        elif methods is None and (objection := method.objection(part.size)) is not None:
            left_out.append(LeftOut(name, objection))
        elif methods is None and free is not None and needed > free:
            left_out.append(LeftOut(name, _no_room(needed, free)))
        else:
            chosen[name] = needed
    if monotone and chosen:  # a column that is not there is one error, not one a method
        task.training_part(first.train, find_method(next(iter(chosen))).make().set_params(monotone=dict(monotone)))
    heaviest = max(chosen, key=lambda name: chosen[name]) if chosen else None
    return list(chosen), left_out, Memory(data, heaviest, 0 if heaviest is None else chosen[heaviest])


def _no_room(needed: int, free: float) -> str:
    return (
        f"it needs about {write_bytes(needed)} of memory, and {write_bytes(free)} are free; "
        "name the method to have it tried all the same"
    )


def decide_jobs(n_jobs: int | None, memory: Memory, n_rows: int) -> tuple[int, bool]:
    """Return how many trials to run side by side, and whether the caller has said so.

    None: what ``joblib.parallel_config`` says, if anybody has set it. Otherwise as many as there are processors, fewer
    where they would not all fit into memory, and one for many rows, as a fit then uses all processors itself.
    """
    if n_jobs is not None:
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0; 1 runs everything in this process, -1 on all processors")
        return int(joblib.effective_n_jobs(n_jobs)), True
    configured = int(joblib.effective_n_jobs(None))
    if configured > 1:
        return configured, True
    if n_rows >= THREADS_FROM:
        return 1, False
    free = available_bytes()
    room = int(_ROOM * free / max(memory.needed, 1)) if free is not None else 1
    return max(min(int(joblib.cpu_count()), room), 1), False


def _bytes(X: Any) -> int:
    """Return what a matrix or a frame takes."""
    if isinstance(X, pl.DataFrame):
        return int(X.estimated_size())
    if sp.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


# --------------------------------------------------------------------------------------------------
# The run.


logger = logging.getLogger(__name__)

_PLANNED_AT_ONCE = 20
"""This many splits are handed to several processes at a time, so that none waits long for the last one."""

_MARGIN = 0.95
"""A fit is told to stop at this share of its limit, as stopping takes time."""

_FEW_ROWS = 200
"""With fewer rows than this, every method is quick."""

_FOR_PILOT = 0.05
"""The share of the time that may be spent on finding out how long each method takes."""

_CHEAP = 0.5
"""The share of an equal time slice that any method may use before expensive ones are considered."""

_CHEAP_BEHIND = 0.1
"""The same share for a method that is far behind."""

_FOR_FIT = 1.3
"""The multiple of its estimated time that a fit may use: cut short it is worth nothing, so no other gets this room."""

_AS_GOOD = 0.5
"""A fit cut short is compared only if it had this share of the time that it had on other splits."""

_AT_LEAST = 2.0
"""An unfinished fit is assumed to need this multiple of the time that it has used."""

_SEVERAL = 3.0
"""A fit that was cut short on the first split is begun anew where there is this multiple of the time that it had."""

_FAR = 2.0
"""A method that is this many standard errors or more behind the best is searched only if time is left."""

_NOT_ITS_TURN = "the comparison was stopped before its turn"


@dataclass(frozen=True)
class Progress:
    """What has just been done in a comparison, for whoever shows it."""

    record: Record
    n_done: int
    n_planned: int
    seconds: float
    """Wall-clock seconds spent so far, earlier runs included: the time of all trials, divided by how many ran side by
    side."""
    n_under_way: int = 0
    """Trials that have begun and not ended."""
    active: tuple[str, ...] = ()
    """The methods that have not been left out."""


class BoardRun:
    """Runs methods split by split, within a time budget.

    Every decision is a function of what trials have recorded, in the order in which they were planned, and of how many
    run side by side: a run that was killed, and goes on from its records, decides the same.
    """

    def __init__(
        self,
        task: Task,
        protocol: Protocol,
        splits: Iterable[Split],
        kept: RecordFile,
        progress: Callable[[Progress], None] | None,
        *,
        at_once: bool = False,
    ) -> None:
        self.task = task
        self.protocol = protocol
        self.kept = kept
        self.progress = progress
        self.budget = Budget(protocol.time_budget, protocol.n_jobs)
        self.pool = TrialPool(task, protocol, protocol.n_jobs, 0.0 if at_once else PATIENCE)
        self._splits = iter(splits)  # cut as they are needed: all of many repeats would fill the memory
        self.n_folds = protocol.n_folds
        self.planned_repeats = protocol.n_repeats
        """As asked for; fewer once the data turn out to have no more."""
        self.n_repeats = protocol.n_repeats
        """As planned; fewer once it is clear that there is no time for more."""
        self.used: list[Record] = []
        self.left_out: list[LeftOut] = []
        self.active: list[str] = []
        self.is_complete = False
        self.time_was_up = False
        self.spent = 0.0
        """Seconds of all trials used so far, in this run or an earlier one."""
        self._seconds_of: defaultdict[str, list[float]] = defaultdict(list)
        self._one_fit: dict[str, float] = {}
        """About what a fit of each method takes, by the pilot, and then by what was done."""
        self._piloted: dict[str, float] = {}
        """What the pilot has said of a fit with the method's own parameters."""
        self._n_begun = 1  # repeats
        self._n_told = 0
        self._n_cut = 0
        self._cutting = 0.0  # seconds, not yet counted

    def go(self, chosen: Iterable[str], left_out: Iterable[LeftOut]) -> None:
        """Run the methods split by split, until all is done, the time is up, or somebody interrupts.

        The first split shows what each method takes; those that cannot finish the folds are then left out. Before any
        method has done it there is nothing to show, and an interrupt goes on to the caller.
        """
        self.active, self.left_out = list(chosen), list(left_out)
        try:
            self._run_first()
            self._leave_out_what_does_not_fit()
            self.is_complete = self._run_next(self.n_folds - 1)
            while self.is_complete and self._n_begun < self.n_repeats:
                if not self.budget.allows(self._pace(), self.n_folds, self.spent):
                    self.n_repeats = self._n_begun  # a repeat that would not finish is not begun
                    break
                self._n_begun += 1
                self.is_complete = self._run_next(self.n_folds)
            self.time_was_up = not self.is_complete
        except KeyboardInterrupt:
            self.is_complete = False
            self._leave_out_what_has_nothing()
        if not self.active:
            reasons = "; ".join(f"{each.method}: {each.reason}" for each in self.left_out)
            raise ValueError(f"no method could be run on {self.task.name}: {reasons}")

    def _run_first(self) -> None:
        """Run all methods on the first split, those that are reckoned to be the quickest first.

        Each ends where the time would else not do for all splits of all methods, with the best that it has: what the
        quick ones do not need is there for the others. Those that have nothing by then are tried once more, with what
        is left.
        """
        (split,) = self._cut(1)
        if self.budget.seconds is not None and len(self.task.order) > MOST_SEARCHED:
            self._run_first_of_many_rows(split)
            return
        needs = self._reckon(split)
        names = sorted(self.active, key=lambda name: tuple(reversed(needs[name])))
        done: dict[int, Record] = {}
        allow = self._sharing(names, needs, self.n_folds, done)
        trials = [self._trial(name, split) for name in names]
        try:
            self._run(trials, allow, done)
            self._try_again(trials, done)
        finally:
            for place in sorted(done):
                self._use(done[place])

    def _try_again(self, trials: Sequence[Trial], done: dict[int, Record]) -> None:
        """Run those once more that had nothing when their time was up, with what the others have left them.

        So are fits that were cut short, where that is several times what they had: the pilot was wrong about them.
        """
        late = [place for place, record in sorted(done.items()) if is_late(record) or record.unfinished]
        pace = {each.method: each.seconds for place, each in done.items() if place not in late}
        spent = self.spent + sum(record.spent_seconds for record in done.values())
        found: dict[int, Record] = {}

        def allow(place: int, now: float) -> float:
            before = {each.method: each.seconds for other, each in list(found.items()) if other < place}
            waiting = [np.inf] * (len(late) - (len(before) if self.budget.n_jobs == 1 else 0))
            if not pace and not before:  # better some splits of one method than none of any
                return self.budget.share(spent + (now - self.spent), len(late) - place)
            return _MARGIN * self.budget.limit(pace | before, waiting, self.n_folds, spent + (now - self.spent))

        most = allow(0, self.spent)
        again = [
            place
            for place in late
            if _may_do_better(done[place], most) and (is_late(done[place]) or most >= _SEVERAL * done[place].seconds)
        ]
        try:
            self._run([trials[place] for place in again], allow, found)
        finally:
            done.update({again[place]: record for place, record in found.items()})

    def _run_first_of_many_rows(self, split: Split) -> None:
        """Run all methods within equal shares of half of the time.

        What fails on very many rows takes long to fail: the other half is for those that can do it.
        """
        n, budget = len(self.active), replace(self.budget, seconds=(self.budget.seconds or 0.0) / 2)
        names = sorted(self.active, key=lambda name: METHODS[name].is_slow)  # they have what the others save

        def allow(place: int, spent: float) -> float:
            return budget.share(spent, n - place) if budget.n_jobs == 1 else budget.share(0.0, n)

        done: dict[int, Record] = {}
        try:
            self._run([self._trial(name, split) for name in names], allow, done)
        finally:
            for place in sorted(done):
                self._use(done[place])

    def _sharing(
        self, names: Sequence[str], needs: Mapping[str, Needs], n_splits: int, done: Mapping[int, Record]
    ) -> Callable[[int, float], float]:
        """Return what says how long a method of these may take, in their order, on a split that others follow.

        One after the other, what those before it did not need is there for it; side by side, it has the same time
        whichever of the others are done by now.
        """
        waiting = [needs[name] for name in names]

        def allow(place: int, spent: float) -> float:
            if self.budget.n_jobs > 1:
                return _MARGIN * self.budget.tiered_limit(waiting[place], {}, waiting, n_splits, self.spent)
            before = {record.method: record.seconds for other, record in done.items() if other < place}
            return _MARGIN * self.budget.tiered_limit(waiting[place], before, waiting[place:], n_splits, spent)

        return allow

    def _reckon(self, split: Split) -> dict[str, Needs]:
        """Return about what each method needs on a split, by a fit to a sample; infinite where there is no telling."""
        if self.budget.seconds is None or self.task.n_judged(split.train) < _FEW_ROWS:
            return dict.fromkeys(self.active, (np.inf,))
        began, reckoned, untold = time.perf_counter(), {}, list[str]()
        end = began + _FOR_PILOT * self.budget.seconds
        names = sorted(self.active, key=lambda name: METHODS[name].is_slow)  # they have what the others save
        for n_done, name in enumerate(names):
            known = self._known(self._trial(name, split))
            if known is None or known.problem is not None:
                share = max(end - time.perf_counter(), 0.0) / (len(names) - n_done)
                pilot = pilot_seconds(self.task, METHODS[name], split, self.protocol, share)
                fit = pilot.one_fit if pilot.is_whole else _AT_LEAST * pilot.one_fit
                self._one_fit[name] = self._piloted[name] = fit
                reckoned[name] = fit, pilot.seconds
                untold += [] if pilot.is_whole else [name]
            else:
                reckoned[name] = _reckoned([known])
        self.spent += (time.perf_counter() - began) * self.budget.n_jobs  # nobody else is at work meanwhile
        # a fit that the pilot did not see the end of may take any time: it has a share of what whole fits leave
        told = _FOR_FIT * sum(fit for name, (fit, _) in reckoned.items() if name not in untold)
        share = self.budget.limit({}, [told], self.n_folds, self.spent) - told
        for name in untold:
            fit, whole = reckoned[name]
            reckoned[name] = max(fit, share / (_FOR_FIT * len(untold))), whole
        return self._in_tiers(reckoned, self.n_folds)

    def _in_tiers(
        self, reckoned: Mapping[str, tuple[float, float]], n_splits: int, behind: Collection[str] = ()
    ) -> dict[str, Needs]:
        """Return what methods need on each of so many splits, given what a fit takes, and one with its search."""
        share = self.budget.share(self.spent, len(reckoned) * n_splits)
        needs: dict[str, Needs] = {}
        for name, (fit, whole) in reckoned.items():
            cheap = min(whole, _CHEAP_BEHIND * share if name in behind else _CHEAP * share)
            fit = max(_FOR_FIT * fit, cheap)
            needs[name] = cheap, fit, fit if name in behind else max(whole, fit), max(whole, fit)
        return needs

    def _needs(self, n_splits: int) -> dict[str, Needs]:
        """Return about what each active method needs on each of so many further splits, by what it has done."""
        reckoned = {}
        for name in self.active:
            own = [record for record in self.used if record.method == name]
            reckoned[name] = _reckoned(own, self._piloted.get(name, 0.0))
            self._one_fit[name] = min(
                (each.fit_seconds for each in own if not each.unfinished), default=reckoned[name][0]
            )
        return self._in_tiers(reckoned, n_splits, self._far_behind())

    def _far_behind(self) -> set[str]:
        """Return the methods whose whole fits are so far behind the best that no search is likely to make one lead."""
        of = {name: [record for record in self.used if record.method == name] for name in self.active}
        n_splits = min(map(len, of.values()), default=0)
        judged = [name for name, own in of.items() if all(each.parts is not None for each in own[:n_splits])]
        if len(judged) < 2 or n_splits == 0:
            return set()
        splits = list(zip(*(of[name][:n_splits] for name in judged), strict=True))
        values = np.array([[record.metrics[self.protocol.metric] for record in split] for split in splits])
        parts = [[record.parts for record in split if record.parts is not None] for split in splits]
        first = splits[0][0]
        found = gather(values, parts, [split[0].repeat for split in splits], first.n_test / first.n_train)
        sign = 1.0 if self.protocol.measures[0].greater_is_better else -1.0
        best = int(np.argmax(sign * found.means))
        behind = sign * (found.means[best] - found.means) > _FAR * found.spread[best]
        return {name for name, is_far in zip(judged, behind, strict=True) if is_far and not of[name][-1].unfinished}

    def _run_next(self, n_splits: int) -> bool:
        """Run the active methods on so many more splits; False if the time is up before the last is done by all."""
        # one split at a time, all methods share an encoded training part
        at_once = 1 if self.protocol.n_jobs == 1 else _PLANNED_AT_ONCE
        while n_splits > 0:
            splits = self._cut(min(n_splits, at_once))
            if not splits:
                return True
            needs, pace = self._needs(n_splits), self._pace()
            # those that would take whatever there is come last, so that they have what the others leave
            names = sorted(self.active, key=lambda name: needs[name][1] if needs[name][-1] == np.inf else 0.0)
            if self.protocol.n_jobs > 1:  # the longest first: then no processor waits long for the last
                names = sorted(self.active, key=lambda name: -pace[name])
            if not self._run_batch(splits, names, needs, n_splits):
                return False
            n_splits -= len(splits)
        return True

    def _cut(self, n_splits: int) -> list[Split]:
        """Return the next splits of the round that has begun; none, with a warning, where the data have no more.

        Data that cannot be cut even once are an error; those that cannot be cut once more have been judged already.
        """
        began = time.perf_counter()
        try:
            splits = list(islice(self._splits, n_splits))
        except ValueError as error:
            if self._n_begun == 1:
                raise
            self.n_repeats = self.planned_repeats = -(-self._n_cut // self.n_folds)
            warnings.warn(f"{error}; the comparison is over the splits before that", stacklevel=2)
            return []
        self._n_cut += len(splits)
        self._cutting += time.perf_counter() - began
        return splits

    def _run_batch(
        self, splits: Sequence[Split], names: Sequence[str], needs: Mapping[str, Needs], n_splits: int
    ) -> bool:
        """Run methods on splits, the first of so many, in this order; False if the time is up before all are done."""
        trials = [self._trial(name, split) for split in splits for name in names]
        done: dict[int, Record] = {}
        share = self._sharing(names, needs, n_splits, done)
        given: dict[str, float] = {}
        for record in self.used:
            if record.stopped:
                given[record.method] = min(record.allowed_seconds, given.get(record.method, np.inf))
        # what was done before is not cut short now: the more so as those that wait take whatever there is
        least = {name: _AS_GOOD * given[name] if name in given else needs[name][2] for name in names}

        def allow(place: int, spent: float) -> float | None:
            left, place = self.budget.left(spent), place % len(names)
            done_before = 0.0 if names[place] in given else least[names[place]]
            return None if left == 0 else min(max(share(place, spent), done_before), left)

        try:
            self._run(trials, allow, done)
            self._run_late(trials, done)
        except KeyboardInterrupt:
            for place in sorted(done):
                if trials[place].name in self.active and not _ends_here(
                    done[place], self.budget.left(self.spent), least
                ):
                    self._use(done[place])
            raise
        # what was begun while others were under way may not have been begun had their times been known: only what
        # the times themselves allow is used, whoever came first
        for place, trial in enumerate(trials):
            if trial.name not in self.active:
                continue
            # out of time is no fault of the method: it has done earlier splits, and stays for these
            left = self.budget.left(self.spent)
            if left == 0 or place not in done or _ends_here(done[place], left, least):
                return False
            self._use(done[place])
        return True

    def _run_late(self, trials: Sequence[Trial], done: dict[int, Record]) -> None:
        """Run those once more that had nothing by their limit, with all the time that is left."""
        left = self.budget.left(self.spent + sum(record.spent_seconds for record in done.values()))
        late = [place for place, record in sorted(done.items()) if is_late(record) and _may_do_better(record, left)]
        found: dict[int, Record] = {}
        try:
            self._run([trials[place] for place in late], lambda *_: left, found)
        finally:
            done.update({late[place]: record for place, record in found.items()})

    def _run(
        self, trials: Sequence[Trial], allow: Callable[[int, float], float | None], done: dict[int, Record]
    ) -> None:
        """Run trials, or take what is kept of them; records come into ``done`` by place, as they are made."""
        places = {trial.key: place for place, trial in enumerate(trials)}
        base = self.spent

        def seconds(trial: Trial) -> float | None:
            place = places[trial.key]
            before = [(other, record) for other, record in list(done.items()) if other < place]
            if any(record.method == trial.name and is_fault(record) for _, record in before):
                return None
            return allow(place, base + sum(record.spent_seconds for _, record in before))

        def tell(record: Record) -> None:
            done[places[record.key]] = record
            self._tell(record, base + sum(each.spent_seconds for each in done.values()))

        waiting = []
        for trial in trials:
            left, known = seconds(trial), self._known(trial)
            if known is not None and (left is None or not _may_do_better(known, left)):
                tell(known)
            else:
                waiting.append(trial)
        with steady_sums(len(self.task.order)), closing(self.pool.run(waiting, seconds)) as records:
            for record in records:
                prepared = trials[places[record.key]].prepared
                known = self._known(trials[places[record.key]])
                record = replace(
                    record,
                    search_seconds=record.search_seconds + prepared,
                    earlier_seconds=0.0 if known is None else known.spent_seconds,
                )
                self.kept.append(record)
                tell(record)

    def _known(self, trial: Trial) -> Record | None:
        """Return what is kept of a trial; a line that somebody has changed, so that it is of another, is not used."""
        if trial.key not in self.kept:
            return None
        record = self.kept[trial.key]
        split, judged = trial.split, self.task.n_judged
        kept = record.method, record.repeat, record.fold, record.n_train, record.n_test
        own = trial.name, split.repeat, split.fold, judged(split.train), judged(split.test)
        return record if kept == own and set(self.protocol.metrics) <= set(record.metrics) else None

    def _use(self, record: Record) -> None:
        self.used.append(record)
        self.spent += record.spent_seconds
        self._seconds_of[record.method].append(record.seconds)
        if record.problem is not None:
            self._leave_out(record.method, record.problem.removeprefix(OUT_OF_TIME), for_time=is_late(record))

    def _tell(self, record: Record, spent: float) -> None:
        self._n_told += 1
        planned = max(len(self.active) * self.n_folds * self._n_begun, self._n_told)
        clock = spent / self.protocol.n_jobs
        logger.info(
            "%s, split %d.%d: %s %.4g, %.1f s (%d of %d)",
            record.method,
            record.repeat + 1,
            record.fold + 1,
            self.protocol.metric,
            record.metrics[self.protocol.metric],
            record.seconds,
            self._n_told,
            planned,
        )
        if self.progress is not None:
            self.progress(Progress(record, self._n_told, planned, clock, self.pool.n_under_way, tuple(self.active)))

    def _leave_out(self, name: str, reason: str, *, for_time: bool = False) -> None:
        self.active.remove(name)
        self.left_out.append(LeftOut(name, reason, for_time))

    def _leave_out_what_does_not_fit(self) -> None:
        pace = self._pace()
        for name in self.budget.unaffordable(pace, self.n_folds - 1, self.spent):
            self._leave_out(
                name,
                f"it took {pace[name]:.1f} s on the first of {self.n_folds} splits, and all would not fit into "
                f"{self.protocol.time_budget:g} s; raise the time budget, or name fewer methods",
                for_time=True,
            )

    def _leave_out_what_has_nothing(self) -> None:
        """Keep to the methods that have done a split; where there is none, the interrupt goes on to the caller."""
        done = {record.method for record in self.used}
        if not any(name in done for name in self.active):
            raise KeyboardInterrupt
        for name in [each for each in self.active if each not in done]:
            self._leave_out(name, _NOT_ITS_TURN, for_time=True)

    def _pace(self) -> dict[str, float]:
        """Return the mean seconds a split of each active method."""
        return {name: float(np.mean(self._seconds_of[name])) for name in self.active}

    def _trial(self, name: str, split: Split) -> Trial:
        began, cutting, self._cutting = time.perf_counter(), self._cutting, 0.0
        key = trial_key(self.task, name, METHODS[name], split, self.protocol)
        prepared = cutting + time.perf_counter() - began
        return Trial(name, METHODS[name], split, key, prepared, self._one_fit.get(name, 0.0))


def _reckoned(records: Sequence[Record], by_pilot: float = 0.0) -> tuple[float, float]:
    """Return about what a method takes on a split for its fit, and with its search, by what it has done.

    What a search finds may fit in a tenth of the time of the method's own parameters, which count where there is no
    time for a search: until there was such a fit, they take what the pilot has said.
    """
    fits = [each.fit_seconds + each.predict_seconds for each in records if not each.unfinished]
    wholes = [each.seconds for each in records if not each.stopped]
    fit = float(np.mean(fits)) if fits else _AT_LEAST * max(each.seconds for each in records)
    if all(each.search_seconds > each.fit_seconds for each in records):
        fit = max(fit, by_pilot)
    return fit, float(np.mean(wholes)) if wholes else np.inf


def _ends_here(record: Record, left: float, least: Mapping[str, float]) -> bool:
    """Say whether a trial was out of time as all time was up (``left`` when it was begun), and not by its share."""
    return is_late(record) or (record.stopped and left < least[record.method])


def _may_do_better(known: Record, seconds: float) -> bool:
    """Say whether a fit failed of what another time may bring: more time, or more memory."""
    if is_late(known):  # it has nothing
        return seconds >= 1.25 * known.seconds
    if known.stopped:
        return seconds >= 1.5 * max(known.seconds, known.allowed_seconds)
    return known.problem is not None and known.problem.startswith((OUT_OF_MEMORY, WORKER_ENDED))
