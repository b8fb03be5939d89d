from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.order.test_times import censored
from tests.reference import survival as reference

import wellorder as wo
from wellorder.metrics import concordance, covariance, cumulative_auc, paired_test


@given(case=censored())
def test_cumulative_auc_is_the_share_over_every_pair(case):
    time, event, _, scores = case
    times = wo.Times(time, event)
    horizon = float(np.median(time))
    case_rows = event & (time <= horizon)
    chance = np.array([reference.not_censored(time, event, t) for t in time])
    if (case_rows & (chance > 0)).any() and not (case_rows & (chance <= 0)).any() and (time > horizon).any():
        expected = reference.cumulative_auc(time, event, scores, horizon)
        assert cumulative_auc(times, scores, horizon) == pytest.approx(expected, abs=1e-12)


def simulated(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    time, end = rng.exponential(np.exp(x)), rng.exponential(2.0, n)
    return wo.Times(np.minimum(time, end), time <= end), x + rng.normal(0, 0.5, n), x + rng.normal(0, 2.0, n)


def test_the_integrated_auc_is_a_mean_over_horizons_by_how_much_survival_falls():
    times, scores, _ = simulated()
    horizons = np.quantile(times.time, [0.2, 0.5, 0.8])
    each = [cumulative_auc(times, scores, horizon) for horizon in horizons]
    fall = -np.diff(np.append(1.0, times.curve("event")(horizons)))
    assert cumulative_auc(times, scores, horizons) == pytest.approx(np.average(each, weights=fall))
    assert min(each) <= cumulative_auc(times, scores) <= max(each) + 0.1


@pytest.mark.parametrize("metric", ["concordance", "cumulative_auc", "cumulative_auc@1"])
def test_standard_errors_are_those_of_the_bootstrap(metric):
    times, good, bad = simulated()
    scores = np.column_stack([good, bad])
    found = np.sqrt(np.diag(covariance(times, scores, metric)))
    rng = np.random.default_rng(0)
    measure = wo.metrics.parse(metric)
    drawn = []
    for _ in range(300):
        rows = rng.integers(0, len(times), len(times))
        part = times.take(rows)
        drawn.append([measure(part, column[rows]) for column in scores.T])
    np.testing.assert_allclose(found, np.std(drawn, axis=0), rtol=0.15)
    assert paired_test(times, good, bad, metric).p_value < 1e-3


def test_without_an_event_before_or_a_row_after_there_is_none():
    times = wo.Times([1, 2, 3], [0, 1, 0])
    for horizon in (1, 3):
        with pytest.warns(UserWarning, match="cumulative_auc is not defined: nobody has an event by"):
            assert np.isnan(cumulative_auc(times, [1.0, 2.0, 3.0], horizon))
    with pytest.raises(ValueError, match="takes censored times"):
        cumulative_auc([1, 2], [1.0, 2.0])


@pytest.mark.parametrize("horizon", [[], np.nan, "x"])
def test_what_is_no_horizon_is_refused(horizon):
    with pytest.raises(ValueError, match="horizon="):
        cumulative_auc(wo.Times([1, 2, 3], [1, 1, 0]), [1.0, 2.0, 3.0], horizon)


def test_metrics_that_know_one_weight_a_row_refuse_two():
    times = wo.Times([1, 2, 3], [1, 1, 0])
    for name in ("kendall_tau", "ndcg@10", "auc_consecutive"):
        with pytest.raises(ValueError, match="takes one weight a row"):
            wo.metrics.parse(name)(times, np.arange(3.0))
    assert concordance(times, [1.0, 2.0, 3.0]) == 1.0
