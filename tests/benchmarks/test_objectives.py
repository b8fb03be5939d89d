"""One function judges everybody's weights; it agrees with sums over listed pairs, and with other software's optima."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.objectives import pair_objective, tie_objective
from benchmarks.peers import PEERS
from benchmarks.shapes import Duels, Rows
from benchmarks.workloads import WORKLOADS
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks import generators


def listed_objective(scores, square, rows, C0):
    groups = np.zeros(len(rows.y)) if rows.groups is None else rows.groups
    losses = [
        max(1 - (scores[i] - scores[j]), 0.0) ** 2
        for i in range(len(scores))
        for j in range(len(scores))
        if rows.y[i] > rows.y[j] and groups[i] == groups[j]
    ]
    return 0.5 * square + C0 * np.mean(losses)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_objective_is_a_sum_over_all_pairs(grouped):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 40) if grouped else None
    rows = Rows(rng.standard_normal((40, 3)), rng.integers(0, 4, 40).astype(float), groups)
    w = rng.standard_normal(3)
    assert pair_objective(w, rows, 7.0) == pytest.approx(listed_objective(rows.X @ w, w @ w, rows, 7.0), rel=1e-12)
    coef = rng.standard_normal(40)
    K = rbf_kernel(rows.X, gamma=0.5)
    slow = listed_objective(K @ coef, coef @ K @ coef, rows, 7.0)
    assert pair_objective(coef, rows, 7.0, gamma=0.5) == pytest.approx(slow, rel=1e-12)


def test_the_objective_of_comparisons_is_a_sum_over_them():
    rng = np.random.default_rng(1)
    duels = Duels(rng.standard_normal((30, 2)), rng.standard_normal((30, 2)), rng.integers(-1, 2, 30))
    u, beta = rng.standard_normal(2), -0.4
    total = 0.5 * u @ u
    for left, right, outcome in zip(duels.left, duels.right, duels.outcome, strict=True):
        d = u @ (right - left)
        if outcome:
            total += 2.0 * max(1 - beta - outcome * d, 0)
        else:
            total += 2.0 * (max(1 + beta + d, 0) + max(1 + beta - d, 0))
    assert tie_objective(u, beta, duels, 2.0) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", ["levels-2e4", "continuous-2e4"])
def test_the_optima_that_other_software_found_come_out_again(name):
    workload = WORKLOADS[name]
    train, _ = workload.make()
    exact = PEERS["wellorder-exact"].start(train, workload.settings)()
    optimum = pair_objective(exact.coef, train, workload.settings.C0)
    assert optimum == pytest.approx(workload.exact, rel=1e-5)
    usual = PEERS["wellorder"].start(train, workload.settings)()
    assert pair_objective(usual.coef, train, workload.settings.C0) <= optimum * (1 + 1e-3)


def test_libsvm_and_the_comparison_machine_have_one_objective():
    train, _ = generators.duels(300, n_test=10)
    settings = WORKLOADS["ties-8e2"].settings
    found = [PEERS[name].start(train, settings)() for name in ("wellorder-compare-exact", "svc-flipped")]
    ours, theirs = (tie_objective(result.coef, result.bias, train, settings.C0) for result in found)
    assert ours == pytest.approx(theirs, rel=1e-3)
