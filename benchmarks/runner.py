"""The runner: every method takes its turn on a workload, each job in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from .job import memory
from .peers import PEERS, Peer
from .peers.peer import n_threads
from .records import Record, append_record, finished, read_records, where
from .workloads import WORKLOADS, Workload

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def run(
    workloads: list[Workload],
    records_path: Path,
    *,
    turns: int = 3,
    threads: int = 1,
    limit: float = 300.0,
    methods: list[str] | None = None,
) -> Iterator[Record]:
    """Measure all that is not on record yet, method after method, turn after turn; yield each new record.

    A slow moment of the machine then hits all methods alike. A method that ran out of time on a workload is not tried
    again there, nor on larger ones of the family.
    """
    known = read_records(records_path)
    made = finished(known)
    common = where()
    for workload in workloads:
        for turn in range(turns):
            for name in workload.methods:
                if (methods is not None and name not in methods) or (workload.name, name, threads, turn) in made:
                    continue
                if turn and not _worked(known, workload, name, threads):
                    continue  # once is enough
                peer = PEERS[name]
                reason = _out_of_time(known, workload, peer, threads)
                outcome = {"status": "skipped", "reason": reason} if reason else attempt(workload, peer, threads, limit)
                record = {"workload": workload.name, "method": name, "threads": threads, "turn": turn, **outcome}
                record |= common | {"version": "" if peer.absence() else peer.version()}
                append_record(records_path, record)
                known.append(record)
                yield record


def attempt(workload: Workload, peer: Peer, threads: int, limit: float) -> Record:
    """Measure in a process of its own, or say why not."""
    if (absence := peer.absence()) is not None:
        return {"status": "absent", "reason": absence}
    threads = n_threads() if workload.family == "busy" else threads
    environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(threads))
    command = [sys.executable, "-m", "benchmarks.job", workload.name, peer.name, str(threads)]
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryDirectory() as empty:
        if workload.first_use:
            environment["NUMBA_CACHE_DIR"] = empty
        root = Path(__file__).parents[1]
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=root)
        lines, peak = _listen(job, limit)
        last = lines[-1] if lines else "starting"
        if isinstance(last, dict):
            return last
        if peak is not None:
            reason = f"still {last} after {limit:g} s"
            return {"status": "limit", "reason": reason, "limit": limit, "reached_mb": peak}
        errors.seek(0)
        said = errors.read().strip().splitlines()
        reason = f"ended with code {job.returncode} while {last}" + (f": {said[-1][:200]}" if said else "")
        return {"status": "failed", "reason": reason}


def _listen(job: subprocess.Popen[str], limit: float) -> tuple[list[Record | str], float | None]:
    """Collect what the job says; end it when its time is up, with the memory it had reached by then."""
    lines: list[Record | str] = []
    assert job.stdout is not None
    stdout = job.stdout
    reader = threading.Thread(target=lambda: lines.extend(json.loads(line) for line in stdout), daemon=True)
    reader.start()
    peak = None
    try:
        job.wait(limit)
    except subprocess.TimeoutExpired:
        status = Path(f"/proc/{job.pid}/status")
        peak = memory("VmHWM", str(job.pid)) / 1024 if status.exists() else 0.0
    finally:
        job.kill()  # also where somebody interrupts; one that has ended is left alone
        job.wait()
        reader.join()
        stdout.close()
    return lines, peak


def _worked(known: list[Record], workload: Workload, name: str, threads: int) -> bool:
    """Whether the last turn of a method on a workload came to its end."""
    asked = workload.name, name, threads
    turns = [each for each in known if (each["workload"], each["method"], each["threads"]) == asked]
    return not turns or turns[-1]["status"] == "done"


def _out_of_time(known: list[Record], workload: Workload, peer: Peer, threads: int) -> str | None:
    """Say on which workload of this family, no larger than this one, the method ran out of time."""
    for record in known:
        if record["status"] != "limit" or record["method"] != peer.name or record["threads"] != threads:
            continue
        other = WORKLOADS.get(record["workload"])
        if (
            other is not None
            and other.family == workload.family
            and other.sizes.get("n", 0) <= workload.sizes.get("n", 0)
        ):
            return f"out of time on {other.name}"
    return None
