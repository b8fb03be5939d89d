from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap

import numba
import numpy as np
import pytest

from wellorder.sweeps import dispatch, sides


def run(code):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_fits_of_few_rows_and_single_metrics_load_no_compiler():
    out = run(
        """
        import sys
        import numpy as np
        from wellorder import RankSVM
        from wellorder.metrics import swapped_pairs
        X = np.random.default_rng(0).standard_normal((140, 5))
        RankSVM().fit(X, X[:, 0].round())
        RankSVM().fit(X, X[:, 0])
        RankSVM(loss="logistic").fit(X, X[:, 0].round())
        swapped_pairs(np.arange(2_000), np.arange(2_000.0) % 7)
        print("numba" in sys.modules)
        """
    )
    assert out.strip() == "False"


def test_importing_the_package_loads_nothing_heavy():
    out = run("import sys, wellorder; print([m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])")
    assert out.strip() == "[]"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_work_in_a_forked_child():
    out = run(
        """
        import os
        import numpy as np
        from wellorder.sweeps import dispatch
        work = lambda k: float(np.sum(np.arange(10.0) + k))
        dispatch.available_cpus = lambda: 2
        before = dispatch.parallel_map(work, [1, 2, 3], 10**6)
        child = os.fork()
        if child == 0:
            os._exit(0 if dispatch.parallel_map(work, [1, 2, 3], 10**6) == before else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    )
    assert out.strip() == "0"


def test_without_a_writable_cache_folder_sweeps_still_compile(monkeypatch):
    original = numba.njit

    def no_folder(*args, **options):
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return original(*args, **options)

    monkeypatch.setattr(numba, "njit", no_folder)
    double = sides.jit(lambda x: 2 * x)
    assert double(21) == 42


def test_results_keep_their_order_and_errors_come_through(monkeypatch):
    monkeypatch.setattr(dispatch, "available_cpus", lambda: 3)
    assert dispatch.parallel_map(lambda x: x * x, list(range(9)), 10**6) == [x * x for x in range(9)]
    with pytest.raises(ZeroDivisionError):
        dispatch.parallel_map(lambda x: 1 / x, [1, 2, 0], 10**6)
    np.testing.assert_equal(dispatch.parallel_map(lambda x: x, [1], 10**6), [1])


def test_compiled_sweeps_travel_by_name():
    """Processes send sweeps to each other: unpickling one must not load Numba beside a thread that does."""
    from wellorder.sweeps.games import _COMPILED
    from wellorder.sweeps.sides import radix_argsort

    radix_argsort(np.array([2.0, 1.0]))
    written = pickle.dumps(radix_argsort)
    assert b"numba" not in written
    assert pickle.loads(written) is radix_argsort
    assert all(type(pickle.loads(pickle.dumps(sweep))) is type(sweep) for sweep in _COMPILED.values())
