"""RankSVM on a torch device: CPU tensors run the very code that a GPU runs, and give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import wellorder as wo

torch = pytest.importorskip("torch", reason="tensors need torch, the [gpu] extra")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request):
    """Run a test on every device that is there: the CPU always, a GPU where there is one."""
    return request.param


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 6)).astype(np.float32)
    z = X @ np.arange(1.0, 7.0) / 6 + np.sin(2 * X[:, 0]) + rng.normal(size=900)
    return X, z, np.searchsorted(np.quantile(z, [0.2, 0.4, 0.6, 0.8]), z), rng.integers(0, 20, 900)


def assert_same_model(there, here, X, to=1e-3):
    """Compare models; an objective to 1e-7 gives scores to about the root of that."""
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    expected = here.decision_function(X)
    np.testing.assert_allclose(there.decision_function(X), expected, atol=to * np.abs(expected).max())


@pytest.mark.parametrize(
    ("kernel", "supervision"),
    [(kernel, kind) for kernel in ("linear", "rbf") for kind in ("levels", "values", "groups", "weights", "chain")]
    + [("poly", "levels"), ("poly", "values")],
)
def test_the_same_model_as_in_numpy(data, device, kernel, supervision):
    X, z, level, group = data
    y = level if supervision in ("levels", "chain") else z
    options = {
        "kernel": kernel,
        "tol": 1e-7,
        "order": "chain" if supervision == "chain" else "full",
    }
    given = {"groups": group} if supervision == "groups" else {}
    if supervision == "weights":
        y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
        given = {"sample_weight": np.arange(len(y)) % 3.0, "groups": group}
        options["balance"] = "groups"
    here = wo.RankSVM(**options).fit(X, y, **given)
    there = wo.RankSVM(**options, device=device).fit(X, y, **given)
    assert_same_model(there, here, X)
    assert there.n_pairs_ == here.n_pairs_
    assert there.score(X, y, given.get("groups")) == pytest.approx(here.score(X, y, given.get("groups")), abs=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_scores_agree_to_four_digits(device, kernel):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(5_000 if kernel == "linear" else 1_500, 8)).astype(np.float32)
    y = X @ np.arange(1.0, 9.0) / 8 + np.sin(2 * X[:, 0]) + rng.normal(size=len(X))
    here, there = (wo.RankSVM(kernel=kernel, tol=1e-9, device=where).fit(X, y) for where in (None, device))
    assert_same_model(there, here, X, to=1e-4)


def test_tensors_in_tensors_out(data, device):
    X, z, *_ = data
    rows = torch.from_numpy(X).to(device)
    model = wo.RankSVM(kernel="rbf").fit(rows, torch.from_numpy(z))
    scores = model.decision_function(rows[:50])
    assert isinstance(scores, torch.Tensor)
    assert scores.device.type == device
    assert scores.dtype == torch.float32
    for name, value in vars(model).items():
        assert not isinstance(value, torch.Tensor), name
    np.testing.assert_allclose(
        scores.cpu().numpy(), wo.RankSVM(kernel="rbf").fit(X, z).decision_function(X[:50]), atol=1e-3
    )
    assert model.score(rows, torch.from_numpy(z)) == pytest.approx(model.score(X, z), abs=1e-4)


def test_a_fit_has_the_same_bits_each_time(data, device):
    X, z, *_ = data
    first, second = (wo.RankSVM(kernel="rbf", device=device).fit(X, z) for _ in range(2))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_a_large_linear_fit_starts_from_a_sample(monkeypatch, device):
    from wellorder.estimators import on_device

    monkeypatch.setattr(on_device, "_SAMPLE", 500)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4_000, 5)) * [1, 10, 0.1, 1, 1]
    y = X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=4_000)
    assert_same_model(wo.RankSVM(device=device, tol=1e-9).fit(X, y), wo.RankSVM(tol=1e-9).fit(X, y), X)


def test_more_columns_than_a_hessian_is_made_for(monkeypatch, data, device):
    from wellorder.estimators import on_device

    monkeypatch.setattr(on_device, "_MOST_COEF", 2)
    X, z, *_ = data
    assert_same_model(wo.RankSVM(device=device, tol=1e-7).fit(X, z), wo.RankSVM(tol=1e-7).fit(X, z), X)


def test_kernel_blocks_computed_anew_where_the_matrix_does_not_fit(monkeypatch, data, device):
    from wellorder.spaces import torch as spaces

    X, z, *_ = data
    whole = wo.RankSVM(kernel="rbf", device=device, tol=1e-6).fit(X, z)
    needed = 450 * 900 * 8 + 16 * 900**2 + 200 * 900
    monkeypatch.setattr(spaces, "_SPARE_BYTES", 0)
    monkeypatch.setattr(spaces, "free_bytes", lambda device: needed + 1_000)
    assert not spaces.keep_whole(900, torch.float64, torch.device(device))
    assert_same_model(wo.RankSVM(kernel="rbf", device=device, tol=1e-6).fit(X, z), whole, X)
    monkeypatch.setattr(spaces, "free_bytes", lambda device: 1_000_000.0)
    with pytest.raises(MemoryError, match=rf"900 rows needs at least .* GB of memory on {device}.*n_components=1000"):
        wo.RankSVM(kernel="rbf", device=device).fit(X, z)


def test_precomputed_kernels_and_warm_starts(data, device):
    X, z, *_ = data
    K = wo.RankSVM(kernel="rbf").fit(X, z)._kernel().matrix(X.astype(float), X.astype(float))
    there = wo.RankSVM(kernel="precomputed", device=device, tol=1e-7, warm_start=True).fit(K, z)
    here = wo.RankSVM(kernel="precomputed", tol=1e-7).fit(K, z)
    assert_same_model(there, here, K)
    n_iter = there.n_iter_
    assert there.fit(K, z).n_iter_ < n_iter


def test_saved_cloned_pickled(data, device, tmp_path):
    import pickle

    X, z, *_ = data
    model = wo.RankSVM(kernel="rbf", device=device).fit(X, z)
    assert clone(model).device == device
    wo.save(model, tmp_path / "model.wo")
    for other in (wo.load(tmp_path / "model.wo"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_without_a_gpu_a_clear_message(data):
    X, z, *_ = data
    with pytest.raises(ValueError, match=r"device='cuda', but .*leave device=None"):
        wo.RankSVM(device="cuda").fit(X, z)
    model = wo.RankSVM(kernel="rbf", device="cpu").fit(X, z)
    expected = model.decision_function(X)
    model.device = "cuda"  # a model fitted on a GPU scores without one
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"device": "gpu"}, "device='gpu' is not known"),
        ({"device": "meta"}, "has to be a CUDA device"),
        ({"loss": "hinge"}, "loss='squared_hinge', not 'hinge'"),
        ({"n_components": 5, "kernel": "rbf"}, "without n_components"),
        ({"kernel": lambda X, Z: X @ Z.T}, "without a kernel function"),
        ({"pairs_per_item": 2}, "all pairs of grades"),
    ],
)
def test_what_a_device_cannot_do_is_refused(data, device, change, message):
    X, z, *_ = data
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(**{"device": device, **change}).fit(X, z)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (torch.zeros(4), "Expected 2D array"),
        (torch.zeros((0, 3)), "0 sample"),
        (torch.tensor([[1.0], [float("nan")], [2.0]]), "contains NaN"),
        (torch.zeros((3, 2), dtype=torch.complex64), "complex"),
    ],
)
def test_tensors_that_are_no_rows_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        wo.RankSVM().fit(X, [0, 1, 2][: len(X)])


def test_a_tensor_of_other_columns_is_refused(data):
    X, z, *_ = data
    model = wo.RankSVM().fit(X, z)
    with pytest.raises(ValueError, match="X has 2 features, but RankSVM is expecting 6"):
        model.decision_function(torch.zeros((3, 2)))


def test_whole_numbers_and_half_precision_are_read():
    X = torch.arange(12).reshape(6, 2)
    assert wo.RankSVM().fit(X, range(6)).coef_.dtype == np.float64
    assert wo.RankSVM().fit(X.half(), range(6)).coef_.dtype == np.float32


@pytest.mark.parametrize(("value", "what"), [(float("nan"), "NaN"), (float("inf"), "infinity")])
def test_what_is_not_finite_in_a_tensor_is_named_by_row_and_column(value, what):
    X = torch.zeros(20, 3)
    X[11, 2] = value
    with pytest.raises(ValueError, match=f"contains {what}, first in row 11, column 2"):
        wo.RankSVM().fit(X, np.arange(20))


def test_a_matrix_that_is_no_kernel_is_refused():
    K = torch.triu(torch.ones(300, 300, dtype=torch.float64))
    with pytest.raises(ValueError, match="not symmetric"):
        wo.RankSVM(kernel="precomputed").fit(K, np.arange(300) % 3)
    large = 1e9 * torch.linspace(-1, 1, 600).reshape(300, 2)
    with pytest.raises(ValueError, match="kernel matrix holds NaN or infinity"):
        wo.RankSVM(kernel="poly", degree=100, gamma=1.0).fit(large, np.arange(300) % 3)


def test_a_tensor_without_values_is_refused():
    with pytest.raises(ValueError, match=r"meta.*CUDA device \(or 'cpu'\)"):
        wo.RankSVM().fit(torch.zeros(20, 3, device="meta"), np.arange(20))


def test_estimators_without_a_device_take_tensors_as_arrays(data):
    X, _, level, _ = data
    given = torch.from_numpy(X).requires_grad_()
    np.testing.assert_array_equal(
        wo.RidgeRanker().fit(given, level).predict(given), wo.RidgeRanker().fit(X, level).predict(X)
    )
    halves = wo.ProportionalOdds().fit(given.bfloat16(), level)
    np.testing.assert_array_equal(halves.coef_, wo.ProportionalOdds().fit(given.bfloat16().float(), level).coef_)
