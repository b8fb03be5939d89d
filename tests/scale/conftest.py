"""One small cluster for all tests of a process: two workers, one thread each, on the loopback only."""

from __future__ import annotations

import faulthandler
import gc
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

_LONGEST = 300
_WORKERS = 2
"""Seconds after which a test that waits for a cluster is taken to wait forever: its process tells where, and ends."""


@contextmanager
def sockets_may_stay_open():
    """Let go of the sockets that distributed leaves to the garbage collector, before a test is blamed for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@pytest.fixture
def no_hanging():
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session")
def cluster():
    distributed = pytest.importorskip("distributed")
    with sockets_may_stay_open():
        running = distributed.LocalCluster(
            n_workers=_WORKERS, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        )
    yield running
    with sockets_may_stay_open():
        running.close()


@pytest.fixture
def client(cluster, no_hanging):
    gc.freeze()  # what was there before has none of these sockets: late in a session, to look at it takes .7 s a round
    with sockets_may_stay_open():
        connected = cluster.get_client()
    connected.wait_for_workers(_WORKERS)  # one that a test has killed may still be on its way back
    yield connected
    with sockets_may_stay_open():
        connected.close()


@pytest.fixture(scope="session")
def graded():
    """Rows with grades, in groups that stand together, some without a grade and with weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 6)) * [1, 2, 0.5, 1, 3, 1] + [0, 5, 0, 0, -3, 0]
    y = np.digitize(X @ [1.0, -0.5, 2.0, 0.0, 0.3, 0.0] + 3 * rng.standard_normal(len(X)), [-7, -5, -3]).astype(float)
    y[::50] = np.nan
    groups = np.sort(rng.integers(0, 150, len(X)))
    return X, y, groups, rng.uniform(0.5, 2.0, len(X))
