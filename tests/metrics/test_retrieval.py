from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sklearn.metrics import average_precision_score, ndcg_score
from tests.reference import metrics as reference

import wellorder as wo
from wellorder.metrics import average_precision, ndcg, precision_at, reciprocal_rank


@st.composite
def queries(draw):
    """A few short queries with tied scores, few levels, unjudged rows, and queries without a relevant row."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(0, 12))
    y = rng.integers(0, draw(st.sampled_from([1, 2, 4])), n).astype(float)
    y[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0]))] = np.nan
    scores = rng.integers(0, draw(st.sampled_from([2, 4, 50])), n) / 3
    group = rng.integers(0, 4, n)
    size = {g: np.flatnonzero(group == g)[:5] for g in range(4)}  # at most 5! orders a query
    kept = np.sort(np.concatenate(list(size.values()))) if n else np.arange(0)
    return y[kept], scores[kept], group[kept]


def agree(function, expected, *args, **options):
    if expected is None:
        with pytest.warns(UserWarning, match="not defined"):
            assert np.isnan(function(*args, **options))
    else:
        assert function(*args, **options) == pytest.approx(expected, abs=1e-12)


empties = st.sampled_from(["skip", 0, 1.0])


@given(case=queries(), k=st.sampled_from([None, 1, 2, 4]), gain=st.sampled_from(["exp2", "linear"]), empty=empties)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ndcg_is_the_mean_over_every_order_of_ties(form, case, k, gain, empty):
    y, scores, group = case
    expected = reference.over_queries(reference.ndcg(k, gain), lambda g: max(g) > 0, y, scores, group, empty)
    agree(ndcg, expected, y, scores, group, k=k, gain=gain, empty=empty)


@given(case=queries(), positive=st.sampled_from([1, 2, 0.5]), empty=empties)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_average_precision_is_the_mean_over_every_order_of_ties(form, case, positive, empty):
    y, scores, group = case
    metric = reference.average_precision(positive)
    expected = reference.over_queries(metric, lambda g: max(g) >= positive, y, scores, group, empty)
    agree(average_precision, expected, y, scores, group, positive=positive, empty=empty)


@given(case=queries(), k=st.sampled_from([None, 1, 2, 4]), positive=st.sampled_from([1, 2]), empty=empties)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reciprocal_rank_is_the_mean_over_every_order_of_ties(form, case, k, positive, empty):
    y, scores, group = case
    metric = reference.reciprocal_rank(positive, k)
    expected = reference.over_queries(metric, lambda g: max(g) >= positive, y, scores, group, empty)
    agree(reciprocal_rank, expected, y, scores, group, positive=positive, empty=empty, k=k)


@given(case=queries(), k=st.integers(1, 6), positive=st.sampled_from([1, 2]), empty=empties)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_precision_at_is_the_mean_over_every_order_of_ties(form, case, k, positive, empty):
    y, scores, group = case
    metric = reference.precision_at(k, positive)
    expected = reference.over_queries(metric, lambda g: max(g) >= positive, y, scores, group, empty)
    agree(precision_at, expected, y, scores, k, group, positive=positive, empty=empty)


@pytest.mark.parametrize("n_relevant", [1, 2, 7, 150, 299])
def test_expected_reciprocal_rank_of_one_long_tie(n_relevant):
    m = 300
    chance = [comb(m - j, n_relevant - 1) / comb(m, n_relevant) for j in range(1, m - n_relevant + 2)]
    expected = sum(p / (j + 1) for j, p in enumerate(chance, start=1))  # one other row stands above
    y = np.r_[0, np.ones(n_relevant), np.zeros(m - n_relevant)]
    assert reciprocal_rank(y, np.r_[1.0, np.zeros(m)]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [None, 1, 5, 30])
def test_ndcg_is_scikit_learns_with_ties_and_another_gain(k):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, (50, 20)), np.round(rng.standard_normal((50, 20)), 1)
    y[3] = 0
    flat = (y.ravel(), scores.ravel(), np.repeat(np.arange(50), 20))
    assert ndcg(*flat, k=k, gain="linear", empty=0) == pytest.approx(ndcg_score(y, scores, k=k), abs=1e-12)
    assert ndcg(*flat, k=k, empty=0) == pytest.approx(ndcg_score(2.0**y - 1, scores, k=k), abs=1e-12)


def test_average_precision_is_scikit_learns_without_ties():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 2, 5000), rng.standard_normal(5000)
    assert average_precision(y, scores) == pytest.approx(average_precision_score(y, scores), abs=1e-12)


def _run_of_trec():
    rng = np.random.default_rng(2)
    y, scores = rng.integers(0, 3, 400), rng.permutation(400) / 7.0
    group = np.repeat(np.arange(20), 20)
    y[group == 4] = 0
    qrel: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for row in range(400):
        qrel.setdefault(f"q{group[row]}", {})[f"d{row}"] = int(y[row])
        run.setdefault(f"q{group[row]}", {})[f"d{row}"] = float(scores[row])
    return y, scores, group, qrel, run


def test_trec_eval_agrees_without_ties():
    import pytrec_eval

    y, scores, group, qrel, run = _run_of_trec()
    ours = {
        "map": average_precision(y, scores, group, empty=0),
        "P_5": precision_at(y, scores, 5, group, empty=0),
        "P_30": precision_at(y, scores, 30, group, empty=0),  # longer than the lists: still divided by 30
        "recip_rank": reciprocal_rank(y, scores, group, empty=0),
        "ndcg": ndcg(y, scores, group, gain="linear", empty=0),
        "ndcg_cut_10": ndcg(y, scores, group, k=10, gain="linear", empty=0),
    }
    names = {"map", "P.5,30", "recip_rank", "ndcg", "ndcg_cut.10"}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, names).evaluate(run)
    for name, value in ours.items():
        assert value == pytest.approx(np.mean([query[name] for query in theirs.values()]), abs=1e-9), name


def test_ir_measures_agrees_without_ties():
    import ir_measures
    from ir_measures import AP, RR, P, nDCG  # not parsed from text: its parser uses names that Python 3.14 drops

    y, scores, group, qrel, run = _run_of_trec()
    ours = {
        AP(rel=2): average_precision(y, scores, group, positive=2, empty=0),
        P @ 5: precision_at(y, scores, 5, group, empty=0),
        RR @ 3: reciprocal_rank(y, scores, group, empty=0, k=3),
        nDCG @ 10: ndcg(y, scores, group, k=10, gain="linear", empty=0),
    }
    theirs = ir_measures.calc_aggregate(list(ours), qrel, run)
    for measure, value in ours.items():
        assert value == pytest.approx(theirs[measure], abs=1e-9), measure


def test_the_best_order_has_ndcg_one_and_huge_gains_do_not_overflow():
    y = [1023.0, 1022.0, 1023.0, 0.0]
    assert ndcg(y, y) == 1.0
    assert 0 < ndcg(y, [0, 1, 2, 3]) < 1
    assert ndcg([5000, 0], [1, 0], gain="linear") == 1.0


def test_gains_beyond_all_range_count_beside_the_highest_of_their_list(form):
    far = ndcg([5000, 4999, 0], [1, 2, 0])
    assert far == pytest.approx((0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3)))
    near = ndcg([3, 1, 2], [1, 2, 3])
    both = ndcg([5000, 4999, 0, 3, 1, 2], [1, 2, 0, 1, 2, 3], [0, 0, 0, 1, 1, 1])
    assert both == pytest.approx((far + near) / 2)


def test_text_grades_have_gains_by_place_and_a_positive_by_name():
    grades = wo.Grades(["good", "poor", "fair"], levels=["poor", "fair", "good"])
    scores = [0.2, 0.3, 0.9]
    assert ndcg(grades, scores) == pytest.approx(ndcg([2, 0, 1], scores))
    assert average_precision(grades, scores, positive="good") == pytest.approx(1 / 3)
    assert average_precision(grades, scores, positive="fair") == pytest.approx((1 + 2 / 3) / 2)
    with pytest.raises(ValueError, match="lowest grade that counts as relevant"):
        average_precision(grades, scores)


def test_levels_declared_from_worst_to_best_count_even_if_their_numbers_fall():
    grades = wo.Grades([1, 2, 3], levels=[3, 2, 1])  # rank 1 is the best
    assert precision_at(grades, [3.0, 2.0, 1.0], 1, positive=1) == 1.0
    assert precision_at(grades, [3.0, 2.0, 1.0], 3, positive=2) == pytest.approx(2 / 3)
    assert ndcg(grades, [3.0, 1.0, 2.0]) == ndcg([2, 1, 0], [3.0, 1.0, 2.0])  # their places are what they gain
    with pytest.raises(ValueError, match="not among the levels"):
        precision_at(grades, [3.0, 2.0, 1.0], 1, positive=1.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndcg([0, 1], [0, 1], k=0), "k=0 is no cut-off"),
        (lambda: precision_at([0, 1], [0, 1], 1.5), "k=1.5 is no cut-off"),
        (lambda: reciprocal_rank([0, 1], [0, 1], k=True), "k=True is no cut-off"),
        (lambda: ndcg([0, 1], [0, 1], gain="cubic"), "gain='cubic' is not known; use 'exp2' or 'linear'"),
        (lambda: ndcg([0, 1], [0, 1], empty="zero"), "empty='zero' is not known"),
        (lambda: ndcg([0, 1], [0, 1], empty=np.nan), "empty=nan is not known"),
        (lambda: ndcg([-1, 1], [0, 1]), "not negative, and there is -1"),
        (lambda: average_precision([0, 1], [0, 1], positive="good"), "positive='good' is not among the levels"),
        (lambda: average_precision(wo.Grades([0, 1], weights=[1, 2]), [0, 1]), "no use for row weights"),
    ],
)
def test_bad_options_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
