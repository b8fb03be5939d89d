"""A metric query by query, and the test of two rankers over queries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from wellorder.evaluation import by_query, randomisation_test
from wellorder.metrics import METRICS, average_precision, make, ndcg, parse


def test_the_mean_over_queries_is_the_metric():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 200)
    y, scores = rng.integers(0, 3, 200), rng.normal(size=200)
    found = by_query("ndcg@5", y, scores, groups)
    assert set(found) == set(groups.tolist())
    assert np.nanmean(list(found.values())) == pytest.approx(ndcg(y, scores, groups, k=5))
    found = by_query("average_precision(positive=2)", y, scores, groups)
    assert np.nanmean(list(found.values())) == pytest.approx(average_precision(y, scores, groups, positive=2))
    alone = groups == 7
    assert found[7] == pytest.approx(average_precision(y[alone], scores[alone], positive=2))


@pytest.mark.parametrize("name", [str(parse(f"{each}@5")) for each in METRICS if METRICS[each].needs == "lists"])
def test_what_hangs_on_the_scale_is_read_from_all_queries(name):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(30), 6)
    y = rng.integers(0, 2 + groups % 4)  # the best grade of most queries is not the best of all
    y[groups == 11] = 0
    scores = rng.integers(0, 5, len(y))
    found = by_query(name, y, scores, groups)
    assert list(found) == list(range(30))
    assert np.nanmean(list(found.values())) == pytest.approx(parse(name)(y, scores, groups))


def test_costs_are_those_of_all_grades_where_a_query_lacks_one():
    y, groups = [0, 1, 2, 0, 2], ["a", "a", "a", "b", "b"]
    found = by_query("misranking_cost(order=chain)", y, [2.0, 1.0, 0.0, 1.0, 0.0], groups)
    assert found["a"] == pytest.approx(2 / 3)
    assert found["b"] == 0.0  # grades 0 and 2 are no neighbours


def test_a_metric_of_ones_own_sees_one_query_at_a_time():
    def best_row(y, scores):
        return float(y[np.argmax(scores)])

    metric = make(best_row, greater_is_better=True)
    assert by_query(metric, [0, 1, 2, 0], [2.0, 1.0, 2.0, 1.0], ["a", "a", "b", "b"]) == {"a": 0.0, "b": 2.0}


def test_queries_are_named_as_they_are_and_those_without_a_pair_are_nan():
    groups = np.array(["b", "a", "b", "c", "a"], dtype=object)
    found = by_query("swapped_pairs", [0, 1, 1, 2, 1], [1.0, 2.0, 0.5, 3.0, 1.0], groups)
    assert found["b"] == 1.0
    assert np.isnan(found["a"])
    assert np.isnan(found["c"])


def test_lengths_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match="3 grades, 2 scores and 3 groups"):
        by_query("ndcg@5", [0, 1, 2], [1.0, 2.0], [0, 0, 0])


def test_few_differences_are_tested_over_all_signs():
    differences = np.array([0.3, -0.1, 0.5, 0.2, 0.0, np.nan])
    known = differences[:5]
    means = [np.mean(known * signs) for signs in itertools.product((-1, 1), repeat=5)]
    share = np.mean(np.abs(means) >= known.mean() - 1e-12)
    assert randomisation_test(differences) == pytest.approx(share)
    assert randomisation_test([0.0, 0.0, np.nan]) == 1.0
    assert randomisation_test(-differences) == pytest.approx(share)


def test_ids_of_any_kind_are_kept_apart():
    y, scores = [0, 1, 0, 1], [1, 2, 2, 1]
    for a, b in ((1, "1"), ((1, "x"), (2, "x")), (b"a", "a")):
        assert by_query("swapped_pairs", y, scores, [a, a, b, b]) == {a: 0.0, b: 1.0}
    with pytest.raises(ValueError, match="give the query of each row"):
        by_query("swapped_pairs", y, scores, None)


def test_infinite_differences_are_refused():
    with pytest.raises(ValueError, match="infinite"):
        randomisation_test([1.0, np.inf, 2.0])
