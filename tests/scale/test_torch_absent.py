"""Nothing of torch is needed, or loaded, unless somebody asks for a device."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import wellorder as wo
from wellorder.estimators import on_device
from wellorder.sweeps import is_tensor, to_numpy


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "wellorder.spaces.torch", None)
    monkeypatch.delattr("wellorder.spaces.torch", raising=False)


def test_a_device_without_torch_is_a_clear_message(no_torch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.raises(ImportError, match=r"device= needs PyTorch.*pip install 'wellorder\[gpu\]'"):
        wo.RankSVM(device="cuda").fit(X, X[:, 0])


def test_a_model_fitted_on_a_device_scores_without_torch(no_torch):
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = wo.RankSVM(kernel="rbf").fit(X, X[:, 0])
    expected = model.decision_function(X)
    model.device = "cuda"
    np.testing.assert_array_equal(model.decision_function(X), expected)
    assert on_device._find_quietly("cuda") is None


def test_named_columns_are_looked_at_once(no_torch):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "c"])
    model = wo.RankSVM(kernel="rbf").fit(X, X["a"])
    expected = model.decision_function(X)
    model.device = "cuda"
    np.testing.assert_array_equal(model.decision_function(X), expected)  # a warning of missing names is an error here


def test_arrays_are_no_tensors():
    assert not is_tensor(np.zeros(3))
    np.testing.assert_array_equal(to_numpy([1.0, 2.0]), [1.0, 2.0])


def test_torch_is_loaded_only_when_asked_for():
    script = """
        import sys
        import numpy as np
        import wellorder as wo

        X = np.random.default_rng(0).normal(size=(50, 3))
        model = wo.RankSVM(kernel="rbf").fit(X, X[:, 0])
        model.score(X, X[:, 0])
        wo.metrics.swapped_pairs(X[:, 0], X[:, 1])
        sys.exit("torch" in sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=120)
