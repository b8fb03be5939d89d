"""Fuzz readers, model files, the command line and the estimators until the time is up.

    python -m tools.fuzz --minutes 10
    python -m tools.fuzz --minutes 1 --target readers --seed 7
    python -m tools.fuzz --minutes 90 --state fuzz.json
    python -m tools.fuzz --again tests/fuzz/corpus/readers-001.json

Every case is drawn from the seed, the target's name and a number, and so can be drawn again. The work is done by a
process of its own: one that dies, hangs or asks for more memory than there should be is a fault as well, and the next
one goes on after that case. Ends with 1 where something was found; what it was lies in the corpus then, which
``tests/fuzz`` tries again for ever. One line a target says how many cases there were, and what came of them. With
``--state`` these totals are in a file all the time, so that those of a run that is cut short count as well; a run that
is given the file of another goes on with the next cases of the same seed, and adds to its totals.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import secrets
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

from .target import CORPUS, Target, load_case, save_case
from .work import TARGETS, work

PATIENCE = 120.0
"""Seconds without an end of a case, after which it hangs."""
MOST_FOUND = 20


def main() -> int:
    """Fuzz, or try a case again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="of all cases; drawn, and printed, unless given")
    parser.add_argument("--target", choices=TARGETS, action="append", help="this one alone; more than once for several")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where to keep what is found")
    parser.add_argument(
        "--state", type=Path, help="a file of totals: kept while it runs, and gone on with if it is there"
    )
    parser.add_argument("--again", type=Path, metavar="CASE", help="try a case that was kept")
    options = parser.parse_args()
    if options.again:
        name, case = load_case(options.again)
        print(TARGETS[name].run(case))
        return 0
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    totals = Totals(seed, options.state)
    targets = {name: TARGETS[name] for name in options.target or TARGETS}
    print(f"seed {totals.seed}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended in whatever way, it says what there was
    shared = "/dev/shm"  # files of cases never reach a disk, where there is such a place
    with tempfile.TemporaryDirectory(prefix="wellorder-fuzz-", dir=shared if os.path.isdir(shared) else None) as folder:
        os.environ |= {"TMPDIR": folder, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}  # of the workers
        return fuzz(targets, totals, 60.0 * options.minutes, options.corpus)


class Totals:
    """How many cases there were of each target, what came of them, how long they took: in a file, if asked for."""

    def __init__(self, seed: int, path: Path | None = None) -> None:
        kept = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.seed: int = kept.get("seed", seed)
        self.counts = defaultdict(Counter, {name: Counter(counts) for name, counts in kept.get("counts", {}).items()})
        self.seconds: dict[str, float] = defaultdict(float, kept.get("seconds", {}))
        self.faults: int = kept.get("faults", 0)
        self._path, self._written = path, -inf

    def add(self, name: str, counts: Mapping[str, int], seconds: float) -> None:
        """Add some cases, and write it all down once in a while."""
        self.counts[name].update(counts)
        self.seconds[name] += seconds
        if time.monotonic() - self._written > 2.0:
            self.write()

    def write(self) -> None:
        """Write it down."""
        self._written = time.monotonic()
        if self._path is not None:
            found = {"seed": self.seed, "faults": self.faults, "counts": self.counts, "seconds": self.seconds}
            beside = self._path.with_name(self._path.name + ".new")
            beside.write_text(json.dumps(found, indent=1) + "\n")
            beside.replace(self._path)

    def describe(self) -> str:
        """Say in a line a target how many there were, and what came of them."""
        lines = []
        for name, counts in self.counts.items():
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.items()))
            lines.append(f"{name}: {counts.total():,} cases in {self.seconds[name]:,.0f} s: {kinds}")
        return "\n".join([*lines, f"faults: {self.faults}"])


def fuzz(targets: Mapping[str, Target], totals: Totals, seconds: float, corpus: Path) -> int:
    """Keep a worker at it until the time is up; return 1 if there was a fault."""
    end = time.monotonic() + seconds
    context = multiprocessing.get_context("spawn")
    known: set[str] = set()
    while (left := end - time.monotonic()) > 0 and len(known) < MOST_FOUND:
        now = context.Array("q", [-1, 0], lock=False)
        ours, theirs = context.Pipe(duplex=False)
        first = {name: totals.counts[name].total() for name in targets}
        worker = context.Process(target=work, args=(list(targets), totals.seed, left, first, now, theirs), daemon=True)
        worker.start()
        theirs.close()
        try:
            _listen(worker, ours, now, list(targets), corpus, totals, known)
        except KeyboardInterrupt:
            break
        finally:
            totals.write()
    print(totals.describe())
    return 1 if known else 0


def _listen(worker: Any, ours: Any, now: Any, names: list[str], corpus: Path, totals: Totals, known: set[str]) -> None:
    """Take in what a worker tells, until it is done; one that dies or hangs has found something."""
    seen, since = list(now), time.monotonic()
    while True:
        try:
            if ours.poll(1.0):
                message = ours.recv()
                if message is None:
                    worker.join()
                    return
                name, counts, seconds, fault = message
                totals.add(name, counts, seconds)
                if fault is not None:
                    totals.faults += 1
                    _keep(name, totals.seed, fault[0], fault[1], fault[2], corpus, known)
        except EOFError:
            worker.join()
            break
        if list(now) != seen:
            seen, since = list(now), time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            worker.kill()
            worker.join()
            break
    if now[0] < 0:
        raise RuntimeError("the worker died before its first case")
    name, number = names[now[0]], int(now[1])
    untold = max(number - totals.counts[name].total(), 0)
    totals.add(name, {"died": 1, "not told of": untold} if untold else {"died": 1}, 0.0)
    totals.faults += 1
    why = "it hung" if worker.exitcode == -9 else f"the process ended with {worker.exitcode}"
    _keep(name, totals.seed, number, why, why, corpus, known)


def _keep(name: str, seed: int, number: int, kind: str, why: str, corpus: Path, known: set[str]) -> None:
    """Write a case down, unless one of its kind is there."""
    print(f"FAULT in {name}, case {number} of seed {seed}: {why}", flush=True)
    if f"{name} {kind}" not in known:
        known.add(f"{name} {kind}")
        print(f"kept as {save_case(name, TARGETS[name].case(seed, number), kind, corpus)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
