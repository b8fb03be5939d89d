"""BLAS's threads: told to wait at no cost, and given back as they were."""

from time import process_time

from threadpoolctl import threadpool_info, threadpool_limits

from wellorder.sweeps import one_blas_thread


def threads():
    """Return the threads of the BLAS libraries that NumPy and SciPy bring; other tests' libraries may have others."""
    found = [each for each in threadpool_info() if each["user_api"] == "blas"]
    return [each["num_threads"] for each in found if "numpy" in each["filepath"] or "scipy" in each["filepath"]]


def test_blas_has_one_thread_meanwhile_and_as_many_as_before_afterwards():
    with threadpool_limits(limits=2, user_api="blas"):
        usual = threads()
        assert set(usual) == {2}
        with one_blas_thread():
            assert set(threads()) == {1}
        assert threads() == usual
        with one_blas_thread(when=False):
            assert threads() == usual
        with threadpool_limits(limits=3, user_api="blas"), one_blas_thread():
            pass  # what it gives back is what it met, not what was usual when it was first asked
        assert threads() == usual


def test_the_libraries_are_looked_up_once():
    with one_blas_thread():
        pass
    start = process_time()
    for _ in range(100):
        with one_blas_thread():
            pass
    assert process_time() - start < 0.1  # to look them up takes 3 ms each time
