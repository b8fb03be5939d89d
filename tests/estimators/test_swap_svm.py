"""SwapSVM: against every labelling, against a general solver, and against its identities."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from tests.reference import swap_svm as reference

import wellorder as wo
from wellorder.losses import Hinge, risk_at


def make_rows(n=60, d=4, seed=0, grades=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = X @ rng.standard_normal(d) + rng.standard_normal(n)
    y = truth if grades is None else np.digitize(truth, np.quantile(truth, np.linspace(0, 1, grades + 1)[1:-1]))
    return X, y, rng


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=5).filter(lambda y: len(set(y)) > 1),
    st.lists(st.sampled_from([-1.0, -0.3, 0.0, 0.2, 0.5, 0.9, 2.0]), min_size=5, max_size=5),
)
def test_the_slack_is_the_most_violated_of_all_labellings(y, scores):
    s = np.array(scores[: len(y)])
    value, moves = reference.most_violated(y, s)
    risk = risk_at(Hinge(steepness=2.0), s, wo.Grades(y).pairs)
    assert risk.value == pytest.approx(value)
    # at a pair with d = ½ both labels are as good; the plane is then one of several
    if all(abs(abs(s[i] - s[j]) - 0.5) > 1e-9 for i, j in reference.pairs_of(y)):
        np.testing.assert_allclose(risk.gradient, moves)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("grades", [3, None])
def test_the_objective_is_a_general_solvers(kernel, C, grades):
    X, y, _ = make_rows(n=24, d=3, grades=grades)
    gamma = 0.3
    ranker = wo.SwapSVM(C=C, kernel=kernel, gamma=gamma, tol=1e-4).fit(X, y)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = X @ X.T if kernel == "linear" else np.exp(-gamma * distances)
    pairs = wo.Grades(y).pairs
    best = reference.minimum(K, y, C * pairs.mass / pairs.total)
    assert best * (1 - 1e-6) <= ranker.objective_ <= best * (1 + 5e-4)
    assert ranker.objective_ - ranker.gap_ <= best * (1 + 1e-6)  # the gap is true


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_a_rank_svm_with_the_hinge_at_four_times_c(kernel):
    X, y, _ = make_rows()
    swap = wo.SwapSVM(C=0.7, kernel=kernel, gamma=0.2, tol=1e-7).fit(X, y)
    rank = wo.RankSVM(C=2.8, kernel=kernel, gamma=0.2, loss="hinge", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(2 * swap.decision_function(X), rank.decision_function(X), atol=2e-3)
    assert 4 * swap.objective_ == pytest.approx(rank.objective_, rel=1e-6)


def test_groups_weights_and_sparse_rows():
    X, y, rng = make_rows(n=80)
    groups, weights = rng.integers(0, 6, 80), rng.integers(1, 4, 80)
    dense = wo.SwapSVM(tol=1e-6).fit(X, y, groups=groups, sample_weight=weights)
    sparse = wo.SwapSVM(tol=1e-6).fit(sp.csr_array(X), y, groups=groups, sample_weight=weights)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-4)
    repeated = wo.SwapSVM(tol=1e-6).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights), groups=np.repeat(groups, weights)
    )
    assert repeated.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    alone = wo.SwapSVM(tol=1e-6).fit(X, y)
    assert alone.n_pairs_ > dense.n_pairs_


def test_a_warm_start_saves_work_and_ends_in_the_same_place():
    X, y, _ = make_rows(n=150, grades=None)
    cold = wo.SwapSVM(C=10.0, kernel="rbf").fit(X, y)
    warm = wo.SwapSVM(C=5.0, kernel="rbf", warm_start=True).fit(X, y).set_params(C=10.0).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-3)


def test_the_working_set_stays_small():
    X, y, _ = make_rows(n=400, d=8, grades=None)
    ranker = wo.SwapSVM(C=100.0, tol=1e-3).fit(X, y)
    assert ranker.n_constraints_ < 60
    assert ranker.gap_ <= 1e-3 * ranker.objective_


def test_comparisons_work_too():
    X, y, rng = make_rows(n=40, grades=None)
    left, right = rng.integers(0, 40, (2, 400))
    outcome = np.sign(y[right] - y[left]).astype(int)
    ranker = wo.SwapSVM(C=10.0).fit(X, wo.Comparisons(left, right, outcome))
    assert ranker.score(X, y) > 0.7


@pytest.mark.parametrize(
    ("params", "message"), [({"C": -1}, "C must be"), ({"tol": 0}, "tol must be"), ({"kernel": "rfb"}, "kernel='rfb'")]
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        wo.SwapSVM(**params).fit(np.eye(3), [0, 1, 2])


def test_nothing_to_learn_is_an_error():
    with pytest.raises(ValueError, match="no pair of rows"):
        wo.SwapSVM().fit(np.eye(3), [1, 1, 1])


def test_save_and_load(tmp_path):
    X, y, _ = make_rows()
    for kernel in ("linear", "rbf"):
        ranker = wo.SwapSVM(kernel=kernel).fit(X, y)
        wo.save(ranker, tmp_path / "m.wo")
        np.testing.assert_array_equal(wo.load(tmp_path / "m.wo").predict(X), ranker.predict(X))
