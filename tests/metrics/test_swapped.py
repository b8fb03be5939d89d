from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score
from tests.reference import pairs as reference
from tests.strategies import cases

import wellorder as wo
from wellorder.metrics import swapped_pairs


@pytest.mark.parametrize("ties", ["error", "half"])
@given(case=cases(two_weights=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equals_the_count_over_every_pair(ties, form, cell_form, case):
    listed = case.listed
    if not listed:
        with pytest.warns(UserWarning, match="no pair"):
            assert np.isnan(swapped_pairs(case.grades, case.scores, ties=ties))
        return
    name = "swapped" if ties == "error" else "swapped_half"
    expected = reference.risk(name, listed, case.scores) / sum(w for *_, w in listed)
    assert swapped_pairs(case.grades, case.scores, ties=ties) == pytest.approx(expected, abs=1e-12)


def test_two_levels_with_half_ties_is_one_minus_auc():
    rng = np.random.default_rng(0)
    y, s, w = rng.integers(0, 2, 300), np.round(rng.standard_normal(300), 1), rng.random(300)
    expected = 1 - roc_auc_score(y, s, sample_weight=w)
    assert swapped_pairs(y, s, ties="half", sample_weight=w) == pytest.approx(expected, abs=1e-12)


def test_without_ties_it_is_kendalls_tau():
    rng = np.random.default_rng(1)
    y, s = rng.permutation(200_000), rng.standard_normal(200_000)  # 2·10¹⁰ pairs
    assert swapped_pairs(y, s) == pytest.approx((1 - kendalltau(y, s).statistic) / 2, abs=1e-12)


def test_counts_beyond_32_bits_are_exact():
    n = 150_000
    y = np.arange(n) // (n // 2)
    assert wo.Grades(y).pairs.n_pairs == (n // 2) ** 2 > 2**32
    scores = y.astype(float)
    scores[0] = 2.0  # one row of the lower level above all
    assert swapped_pairs(y, scores) == (n // 2) / (n // 2) ** 2


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_only_the_order_of_scores_counts(scale, form):
    y, s = [0, 1, 2, 3], np.array([-1.0, 1.0, 0.5, 1.7])
    assert swapped_pairs(y, scale * s) == pytest.approx(1 / 6)
    assert swapped_pairs(y, [-np.inf, -1.0, np.inf, np.inf]) == pytest.approx(1 / 6)


def test_tied_scores_are_errors_or_half_errors():
    assert swapped_pairs([0, 1, 2], [5.0, 5.0, 5.0]) == 1.0
    assert swapped_pairs([0, 1, 2], [5.0, 5.0, 5.0], ties="half") == 0.5


@pytest.mark.parametrize(
    ("scores", "message"),
    [([0.0, np.nan], "score of row 1 is NaN"), ([0.0], "one score a row"), ([[0.0, 1.0]], "one score a row")],
)
def test_bad_scores_are_named(scores, message):
    with pytest.raises(ValueError, match=message):
        swapped_pairs([0, 1], scores)


def test_unknown_tie_rule():
    with pytest.raises(ValueError, match="'error' or 'half'"):
        swapped_pairs([0, 1], [0, 1], ties="random")
