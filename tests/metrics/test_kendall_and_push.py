from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from scipy.stats import kendalltau
from tests.reference import metrics as reference
from tests.strategies import cases

from wellorder.metrics import kendall_tau, p_norm_push, swapped_pairs


@given(case=cases())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tau_over_every_pair(form, cell_form, case):
    level = case.grades.level
    parts = []
    for g in set(case.group):
        rows = [row for row in range(len(level)) if level[row] >= 0 and case.group[row] == g]
        parts.append(reference.kendall(level[rows], case.scores[rows], case.weight[rows]))
    agree, n_y, n_s = np.sum(parts, axis=0) if parts else (0, 0, 0)
    if n_y == 0 or n_s == 0:
        with pytest.warns(UserWarning, match="kendall_tau is not defined"):
            assert np.isnan(kendall_tau(case.grades, case.scores))
    else:
        assert kendall_tau(case.grades, case.scores) == pytest.approx(agree / np.sqrt(n_y * n_s), abs=1e-12)
    if n_y > 0:
        by_group = [a / np.sqrt(y * s) if s else 0.0 for a, y, s in parts if y > 0]
        average = kendall_tau(case.grades, case.scores, average="groups")
        assert average == pytest.approx(np.mean(by_group), abs=1e-12)


def test_one_list_is_scipys():
    rng = np.random.default_rng(0)
    y, s = rng.integers(0, 10, 30_000), rng.integers(0, 100, 30_000)
    assert kendall_tau(y, s) == pytest.approx(kendalltau(y, s).statistic, abs=1e-12)
    assert kendall_tau(y, s, average="groups") == pytest.approx(kendall_tau(y, s), abs=1e-12)
    assert kendall_tau(y, y) == 1.0
    assert kendall_tau(y, -y) == -1.0


def test_average_over_groups_is_scipys_in_each():
    rng = np.random.default_rng(1)
    y, s, group = rng.integers(0, 4, 400), np.round(rng.standard_normal(400), 1), rng.integers(0, 20, 400)
    expected = np.mean([kendalltau(y[group == g], s[group == g]).statistic for g in range(20)])
    assert kendall_tau(y, s, group, average="groups") == pytest.approx(expected, abs=1e-12)


@given(
    case=cases(max_rows=15),
    p=st.sampled_from([1, 2.5, 64]),
    ties=st.sampled_from(["error", "half"]),
    normalize=st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_push_sums_the_heights_of_negatives(form, case, p, ties, normalize):
    y = np.append(np.asarray(case.grades.levels, float), np.nan)[case.grades.level]
    values = []
    for g in set(case.group):
        rows = (case.group == g) & ~np.isnan(y)
        values.append(reference.p_norm_push(y[rows], case.scores[rows], p, 1, ties, normalize))
    values = [value for value in values if value is not None]
    options = {"p": p, "ties": ties, "normalize": normalize}
    if not values:
        with pytest.warns(UserWarning, match="both a positive and a negative"):
            assert np.isnan(p_norm_push(y, case.scores, case.group, **options))
        return
    assert p_norm_push(y, case.scores, case.group, **options) == pytest.approx(np.mean(values), rel=1e-9)


def test_push_runs_from_swapped_pairs_to_the_highest_negative():
    rng = np.random.default_rng(2)
    y, s = rng.integers(0, 2, 500), np.round(rng.standard_normal(500), 1)
    assert p_norm_push(y, s, p=1) == pytest.approx(swapped_pairs(y, s), abs=1e-12)
    highest = np.mean(s[y == 1] <= s[y == 0].max())
    assert p_norm_push(y, s, p=1e6) == pytest.approx(highest, rel=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"p": 0.5}, "at least 1"),
        ({"p": np.inf}, "finite"),
        ({"ties": "none"}, "ties='none'"),
        ({"p": 1e4, "normalize": False}, "overflow"),
    ],
)
def test_bad_options_of_the_push(options, message):
    with pytest.raises(ValueError, match=message):
        p_norm_push([0, 0, 1, 1, 1], [2, 1, 0, 0, 0], **options)


def test_unknown_average():
    with pytest.raises(ValueError, match="'pooled' or 'groups'"):
        kendall_tau([0, 1], [0, 1], average="mean")
