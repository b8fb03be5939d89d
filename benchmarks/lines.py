"""Records to lines of a table: medians over turns, ratios, distances from the optimum, and figures from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from .peers import PAIRS, PEERS, TIES
from .records import Record
from .workloads import WORKLOADS, Workload

SAME_WITHIN = 1e-2
"""A method that ends further from the optimum than this, relatively, has not solved the same problem."""


@dataclass(frozen=True)
class Line:
    """One method on one workload."""

    workload: str
    method: str
    status: str
    reason: str = ""
    turns: int = 0
    seconds: float | None = None
    fastest: float | None = None
    slowest: float | None = None
    extra_mb: float | None = None
    objective: float | None = None
    swapped: float | None = None
    error: float | None = None
    ndcg10: float | None = None
    value: float | None = None
    measured_there: float | None = None
    """Seconds in the other sitting, where it was not this one."""

    @property
    def ours(self) -> bool:
        """Whether the method is wellorder's own."""
        return self.method in PEERS and PEERS[self.method].ours

    @property
    def reference(self) -> bool:
        """Whether it takes no part in the race."""
        return self.method in PEERS and PEERS[self.method].reference

    @property
    def test_error(self) -> float | None:
        """The share of test pairs or test comparisons that are wrong."""
        return self.swapped if self.swapped is not None else self.error


_MEDIANS = ("seconds", "extra_mb")
_LAST = ("objective", "swapped", "error", "ndcg10", "value")


def summarise(records: Iterable[Record], threads: int = 1) -> list[Line]:
    """Put the turns of each method on each workload together, in the workloads' own order."""
    by_turn: dict[tuple[str, str], dict[int, Record]] = {}
    for record in records:  # a later record of the same turn replaces an earlier one
        if record["threads"] == threads and record["workload"] in WORKLOADS:
            by_turn.setdefault((record["workload"], record["method"]), {})[record["turn"]] = record
    return [
        _line(workload.name, method, list(by_turn[workload.name, method].values()))
        for workload in WORKLOADS.values()
        for method in workload.methods
        if (workload.name, method) in by_turn
    ]


def _line(workload: str, method: str, turns: list[Record]) -> Line:
    done = [turn for turn in turns if turn["status"] == "done"]
    if not done:
        return Line(workload, method, turns[-1]["status"], turns[-1].get("reason", ""))
    seconds = [turn["seconds"] for turn in done]
    known: dict[str, Any] = {name: done[-1].get(name) for name in _LAST}
    for name in _MEDIANS:
        values = [turn[name] for turn in done if turn.get(name) is not None]
        known[name] = median(values) if values else None
    return Line(workload, method, "done", "", len(done), fastest=min(seconds), slowest=max(seconds), **known)


@cache
def elsewhere() -> dict[str, Any]:
    """Read what was measured in another sitting."""
    return dict(json.loads(Path(__file__).with_name("elsewhere.json").read_text(encoding="utf-8")))


def lines_from_elsewhere(lines: list[Line]) -> list[Line]:
    """Scale what was measured elsewhere by a yardstick that was measured in both sittings.

    A scale is the median over all workloads with the same yardstick: single ones of it, its fastest turns here over
    its seconds there, lie up to five times apart, where most of a short fit goes into memory that is touched first.
    """
    known = elsewhere()
    scales = yardstick_ratios(lines)
    scaled = []
    for row in known["measured"]:
        ratios = scales.get(known["yardsticks"][row["workload"]][0], {})
        if row["workload"] not in ratios:
            continue
        figures = {name: row.get(name) for name in ("swapped", "ndcg10", "objective")}
        seconds = row["seconds"] * median(ratios.values())
        scaled.append(
            Line(row["workload"], row["method"], "elsewhere", seconds=seconds, measured_there=row["seconds"], **figures)
        )
    return scaled


def yardstick_ratios(lines: list[Line]) -> dict[str, dict[str, float]]:
    """Return for each yardstick and workload its fastest turn here over its seconds elsewhere."""
    here = {(line.workload, line.method): line.fastest for line in lines if line.fastest is not None}
    found: dict[str, dict[str, float]] = {}
    for workload, (method, there) in elsewhere()["yardsticks"].items():
        if (workload, method) in here:
            found.setdefault(method, {})[workload] = here[workload, method] / there
    return found


@dataclass(frozen=True)
class Race:
    """All that is known of one workload."""

    workload: Workload
    lines: list[Line]

    @property
    def optimum(self) -> float | None:
        """The lowest objective that anybody reached here."""
        found = [line.objective for line in self.lines if line.objective is not None and line.status == "done"]
        return min(found, default=None)

    def gap(self, line: Line) -> float | None:
        """Return how far a method ended from the optimum, relatively."""
        if line.objective is None or self.optimum is None:
            return None
        return line.objective / self.optimum - 1.0

    @property
    def ours(self) -> Line | None:
        """The line that others are divided by: wellorder's first method on the workload."""
        return next((line for line in self.lines if line.ours and not line.reference and line.seconds), None)

    @property
    def floors(self) -> float | None:
        """How many times the cost of one product each way and one sort wellorder takes."""
        floor = next((line for line in self.lines if line.method == "floor"), None)
        if floor is None or floor.seconds is None or self.ours is None or self.ours.seconds is None:
            return None
        return self.ours.seconds / floor.seconds

    def ratio(self, line: Line) -> float | None:
        """Return a method's seconds over wellorder's."""
        if self.ours is None or self.ours.seconds is None or line.seconds is None:
            return None
        return line.seconds / self.ours.seconds

    def does_the_same(self, line: Line) -> bool:
        """Whether a line is another's answer to the very problem that wellorder's first line solves."""
        if line.ours or line.seconds is None or self.ours is None:
            return False
        if self.workload.task in ("measure", "read", "rate"):
            return True
        if line.method in elsewhere()["same_objective"]:
            return True
        gap = self.gap(line)
        peer = PEERS.get(line.method)
        return peer is not None and peer.minimises in (PAIRS, TIES) and gap is not None and gap <= SAME_WITHIN

    @property
    def rival(self) -> Line | None:
        """The fastest of those who solve the same problem."""
        same = [line for line in self.lines if self.does_the_same(line)]
        return min(same, key=lambda line: line.seconds or 0.0, default=None)

    def best_test(self, ours: bool) -> Line | None:
        """Return who makes the fewest errors on the test part, among wellorder's methods or all others."""
        able = [line for line in self.lines if line.ours is ours and not line.reference and line.test_error is not None]
        return min(able, key=lambda line: line.test_error or 0.0, default=None)


def races(records: Iterable[Record], threads: int = 1) -> list[Race]:
    """Gather the lines by workload, those from elsewhere behind."""
    lines = summarise(records, threads)
    lines += lines_from_elsewhere(lines)
    found = []
    for workload in WORKLOADS.values():
        some = [line for line in lines if line.workload == workload.name]
        if some:
            found.append(Race(workload, some))
    return found
