"""One measure for three: Uematsu and Lee (2013), page 6."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import cases

import wellorder as wo
from wellorder import metrics

SCHEMES = {"pairs": metrics.auc_pairs, "ovo": metrics.auc_ovo, "consecutive": metrics.auc_consecutive}


@pytest.mark.parametrize("ties", ["half", "error"])
@pytest.mark.parametrize("scheme", SCHEMES)
@given(case=cases())
def test_the_mean_cost_of_a_pair_is_one_less_the_auc(scheme, ties, case):
    grades = case.grades.with_graph(wo.OrderGraph.full(case.grades.levels))
    if grades.pairs.n_pairs == 0:
        with pytest.raises(ValueError, match="no pair"):
            metrics.pair_costs(grades, scheme)
        return
    costs = metrics.pair_costs(grades, scheme)
    assert metrics.misranking_cost(grades, case.scores, costs, ties=ties) == pytest.approx(
        1.0 - SCHEMES[scheme](grades, case.scores, ties=ties), abs=1e-12
    )


@pytest.mark.parametrize("ties", ["half", "error"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_with_groups_weights_and_levels_that_are_absent(scheme, ties):
    rng = np.random.default_rng(1)
    y, group, weight = rng.choice([0, 2, 3, 7], 60), rng.integers(0, 5, 60), rng.random(60)
    scores = np.round(rng.standard_normal(60), 1)
    grades = wo.Grades(y, group, weights=weight, levels=range(9))
    costs = metrics.pair_costs(grades, scheme)
    present = metrics.pair_costs(y, scheme, group, weight)
    expected = 1.0 - SCHEMES[scheme](y, scores, group, ties=ties, sample_weight=weight)
    assert metrics.misranking_cost(grades, scores, costs, ties=ties) == pytest.approx(expected, rel=1e-12)
    assert metrics.misranking_cost(y, scores, present, groups=group, ties=ties, sample_weight=weight) == pytest.approx(
        expected, rel=1e-12
    )
    np.testing.assert_allclose(costs.restrict([0, 2, 3, 7]).weights, present.weights, rtol=1e-12)


def test_the_costs_that_the_paper_gives_for_one_list():
    y = np.repeat([1, 2, 3, 4], [2, 3, 4, 5])
    n_pairs = 14 * 13 // 2 - (1 + 3 + 6 + 10)
    ovo, cons = (metrics.pair_costs(y, scheme).weights for scheme in ("ovo", "consecutive"))
    assert ovo[1, 3] == pytest.approx(n_pairs * 2 / (4 * 3) / (3 * 5))
    assert cons[1, 3] == pytest.approx(n_pairs / 3 * (1 / (5 * 9) + 1 / (9 * 5)))
    assert metrics.pair_costs(y, "pairs").weights[1, 3] == 1


def test_only_the_consecutive_costs_have_a_best_score_beyond_three_levels():
    y = np.repeat([1, 2, 3, 4], [2, 3, 4, 5])
    assert [metrics.pair_costs(y, scheme).is_consistent() for scheme in SCHEMES] == [False, False, True]


def test_an_unknown_scheme_is_named():
    with pytest.raises(ValueError, match=r"scheme='ova'.*'consecutive'"):
        metrics.pair_costs([0, 1], "ova")
