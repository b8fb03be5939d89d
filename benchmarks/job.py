"""One method on one workload in a process of its own: ``python -m benchmarks.job WORKLOAD METHOD THREADS``.

Each line of output is a stage that was reached, or at last what was measured.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .peers import Peer
    from .workloads import Workload

_STATUS = Path("/proc/self/status")
_REPEAT_BELOW = 1.0
"""Short work is repeated until so many seconds are spent on it, five times at most; the median counts."""

_MOST_REPEATS = 5

_MOST_BESIDE = 50
"""Beside busy processes a fit takes one or several turns of the scheduler, by chance."""

_COUNT = "n = 0\nwhile True:\n    n += 1"


def measure(workload: Workload, peer: Peer, *, tell: Any = lambda stage: None) -> dict[str, Any]:
    """Prepare, warm up, work on the clock, and judge."""
    import numpy as np

    from .judging import judge
    from .peers import UnsuitableError

    tell("making the data")
    train, test = workload.make()
    try:
        tell("warming up")
        if not workload.first_use:
            peer.start(train.head(peer.warm_rows), workload.settings)()
        work = peer.start(train, workload.settings)
        tell("working")
        gc.collect()
        seconds = []
        before = _reset_peak()
        with _beside(workload.busy):
            while True:
                start = time.perf_counter()
                result = work()
                seconds.append(time.perf_counter() - start)
                if len(seconds) == 1:
                    peak = None if before is None else (memory("VmHWM") - before) / 1024
                most = 1 if workload.first_use else _MOST_BESIDE if workload.busy else _MOST_REPEATS
                if sum(seconds) >= _REPEAT_BELOW or len(seconds) == most:
                    break
    except UnsuitableError as reason:
        return {"status": "unsuitable", "reason": str(reason)}
    tell("judging")
    figures = judge(workload, peer, train, test, result)
    return {"status": "done", "seconds": float(np.median(seconds)), "extra_mb": peak, **figures}


@contextlib.contextmanager
def _beside(busy: int) -> Iterator[None]:
    """Keep processes counting meanwhile; they end with this one."""
    others = [subprocess.Popen([sys.executable, "-c", _COUNT]) for _ in range(busy)]
    try:
        time.sleep(0.5 if others else 0.0)  # until they run
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def memory(field: str, process: str = "self") -> int:
    """Read a number of kilobytes that the system keeps about a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1])


def _reset_peak() -> int | None:
    """Start the peak of memory anew from where it stands; None where the system does not keep it."""
    if not _STATUS.exists():
        return None
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


def _confine(threads: int) -> None:
    """Keep to some of the processors, and to three quarters of the memory: one job must not take the machine down."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = int(0.75 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> None:
    """Measure and print."""
    name, method, threads = sys.argv[1:]
    _confine(int(threads))
    warnings.simplefilter("ignore")  # peers warn of what they will change; convergence is judged by the objective

    from .peers import PEERS
    from .workloads import WORKLOADS

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints must not come between
    try:
        record = measure(
            WORKLOADS[name], PEERS[method], tell=lambda stage: print(json.dumps(stage), file=out, flush=True)
        )
    except Exception as error:
        record = {"status": "failed", "reason": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
    print(json.dumps(record), file=out, flush=True)


if __name__ == "__main__":
    main()
