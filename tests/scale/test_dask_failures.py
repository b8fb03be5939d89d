"""What a cluster does to a fit: a worker that dies in the middle of it, and how much memory it takes."""

from __future__ import annotations

import os
import signal
import threading
import time
import tracemalloc
from pathlib import Path

import dask.array as da
import distributed
import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data.partitions import read_partitions
from wellorder.spaces.dask import DaskSpace


def make_rows(block_id, n, d):
    worker = distributed.get_worker()
    worker.rows_made = getattr(worker, "rows_made", 0) + n
    return random_rows(block_id, n, d)


def random_rows(block_id, n, d):
    return np.random.default_rng(block_id[0]).standard_normal((n, d))


def generated(n_blocks, n, d):
    """Rows that are made on the workers."""
    return da.map_blocks(make_rows, chunks=((n,) * n_blocks, d), dtype=float, n=n, d=d, meta=np.empty((0, 0)))


class Killer:
    """Kills a worker's process once a fit has made some passes over the rows."""

    def __init__(self, client, monkeypatch, after):
        self.killed, self._passes, self._after, self._client = None, 0, after, client
        each = DaskSpace.each

        def counting(space, *args, **kwargs):
            self._passes += 1
            if self._passes == self._after:
                self.killed = sorted(client.run(os.getpid).items())[0]
                threading.Timer(0.005, os.kill, (self.killed[1], getattr(signal, "SIGKILL", signal.SIGTERM))).start()
            return each(space, *args, **kwargs)

        monkeypatch.setattr(DaskSpace, "each", counting)

    def has_struck(self):
        return self.killed is not None and self.killed[1] not in self._client.run(os.getpid).values()


def test_a_fit_from_memory_survives_the_death_of_a_worker(client, monkeypatch):
    """One list, whose scores travel inside the tasks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 5))
    y = np.digitize(X[:, 0] + X[:, 1] + rng.standard_normal(len(X)), [-1, 1])
    expected = wo.RankSVM(tol=1e-10).fit(X, y)
    killer = Killer(client, monkeypatch, after=8)
    found = wo.RankSVM(tol=1e-10).fit(da.from_array(X, chunks=(2_000, -1)), y)
    assert killer.has_struck()
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8)


def test_a_fit_from_files_survives_the_death_of_a_worker(client, monkeypatch, tmp_path):
    """Groups, whose sorts lie with the partitions."""
    from wellorder.data import TableRanker, read

    rng = np.random.default_rng(0)
    for part in range(4):
        X = rng.standard_normal((2_000, 3))
        y = np.digitize(X[:, 0] + rng.standard_normal(2_000), [-1, 1])
        frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(
            y=pl.Series(y), q=pl.Series(np.arange(2_000) // 20 + 100 * part)
        )
        frame.write_parquet(tmp_path / f"part-{part}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    expected = TableRanker(wo.RankSVM(tol=1e-10)).fit(read(files, target="y", group="q"))
    table = read_partitions([str(tmp_path / "part-*.parquet")], target="y", group="q")
    killer = Killer(client, monkeypatch, after=8)
    found = TableRanker(wo.RankSVM(tol=1e-10)).fit(table)
    assert killer.has_struck()
    np.testing.assert_allclose(found.ranker_.coef_, expected.ranker_.coef_, rtol=1e-8)


def test_a_fit_leaves_nothing_on_the_cluster(cluster, client):
    X = generated(4, 3_000, 3)
    y = np.random.default_rng(0).integers(0, 3, 12_000)
    wo.RankSVM().fit(X, y, groups=np.arange(12_000) // 100)
    deadline = time.monotonic() + 100
    while cluster.scheduler.tasks and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not cluster.scheduler.tasks


def warm_up(n, d, in_groups, dask_worker):
    """Have a worker load all code that a fit runs, and take its memory from there."""
    y = np.arange(n) % 3
    wo.RankSVM().fit(random_rows((0,), n, d), y, groups=np.arange(n) // 100 if in_groups else None)
    dask_worker.rows_made = 0
    Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def rows_made(dask_worker):
    return dask_worker.rows_made


def peak_memory():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells a process's peak memory")
@pytest.mark.parametrize("in_groups", [True, False])
def test_no_process_holds_all_rows(client, in_groups):
    """160 MB of rows: less than half of it may be here at any time, and a worker holds little more than its own."""
    n_blocks, n, d = 16, 25_000, 50
    size = 8 * n_blocks * n * d
    y = np.random.default_rng(0).integers(0, 3, n_blocks * n)
    groups = np.arange(len(y)) // 100 if in_groups else None
    before = client.run(warm_up, n, d, in_groups)
    tracemalloc.start()
    try:
        wo.RankSVM().fit(generated(n_blocks, n, d), y, groups=groups)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    after, own = client.run(peak_memory), client.run(rows_made)
    assert peak < 0.5 * size
    for worker, most in after.items():
        assert most - before[worker] < 1.25 * 8 * d * own[worker] + 60e6
    assert sum(own.values()) == len(y)  # each partition was made once
