"""Fuzz readers, model files, the command line and the estimators until the time is up.

    python -m tools.fuzz --minutes 10
    python -m tools.fuzz --minutes 1 --target readers --seed 7
    python -m tools.fuzz --again tests/fuzz/corpus/readers-001.json

Every case is drawn from the seed, the target's name and a number, and so can be drawn again. The work is done by a
process of its own: one that dies, hangs or asks for more memory than there should be is a fault as well, and the next
one goes on after that case. Ends with 1 where something was found; what it was lies in the corpus then, which
``tests/fuzz`` tries again for ever. One line a target says how many cases there were, and what came of them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import sys
import time
from collections import Counter
from collections.abc import Mapping
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
    parser.add_argument("--again", type=Path, metavar="CASE", help="try a case that was kept")
    options = parser.parse_args()
    if options.again:
        name, case = load_case(options.again)
        print(TARGETS[name].run(case))
        return 0
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    targets = {name: TARGETS[name] for name in options.target or TARGETS}
    print(f"seed {seed}", flush=True)
    return fuzz(targets, seed, 60.0 * options.minutes, options.corpus)


def fuzz(targets: Mapping[str, Target], seed: int, seconds: float, corpus: Path) -> int:
    """Keep a worker at it until the time is up; return 1 if there was a fault."""
    end = time.monotonic() + seconds
    context = multiprocessing.get_context("spawn")
    totals: dict[str, Counter[str]] = {name: Counter() for name in targets}
    spent = dict.fromkeys(targets, 0.0)
    known: set[str] = set()
    while (left := end - time.monotonic()) > 0 and len(known) < MOST_FOUND:
        now = context.Array("q", [-1, 0], lock=False)
        ours, theirs = context.Pipe(duplex=False)
        first = {name: sum(totals[name].values()) for name in targets}
        worker = context.Process(target=work, args=(list(targets), seed, left, first, now, theirs), daemon=True)
        worker.start()
        theirs.close()
        _listen(worker, ours, now, list(targets), seed, corpus, (totals, spent, known))
    for name, counts in totals.items():
        kinds = ", ".join(f"{kind} {n:,}" for kind, n in sorted(counts.items()))
        print(f"{name}: {sum(counts.values()):,} cases in {spent[name]:,.0f} s: {kinds}")
    print(f"faults: {len(known)}")
    return 1 if known else 0


def _listen(worker: Any, ours: Any, now: Any, names: list[str], seed: int, corpus: Path, kept: Any) -> None:
    """Take in what a worker tells, until it is done; one that dies or hangs has found something."""
    totals, spent, known = kept
    seen, since = list(now), time.monotonic()
    while True:
        try:
            if ours.poll(1.0):
                message = ours.recv()
                if message is None:
                    worker.join()
                    return
                name, counts, seconds, fault = message
                totals[name].update(counts)
                spent[name] += seconds
                if fault is not None:
                    _keep(name, seed, fault[0], fault[1], fault[2], corpus, known)
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
    totals[name]["died"] += max(number - sum(totals[name].values()), 0) + 1  # what it had not told of is counted here
    why = "it hung" if worker.exitcode == -9 else f"the process ended with {worker.exitcode}"
    _keep(name, seed, number, why, why, corpus, known)


def _keep(name: str, seed: int, number: int, kind: str, why: str, corpus: Path, known: set[str]) -> None:
    """Write a case down, unless one of its kind is there."""
    print(f"FAULT in {name}, case {number} of seed {seed}: {why}", flush=True)
    if f"{name} {kind}" not in known:
        known.add(f"{name} {kind}")
        print(f"kept as {save_case(name, TARGETS[name].case(seed, number), kind, corpus)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
