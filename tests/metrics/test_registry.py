from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.metrics import COMPARISON_METRICS, METRICS, find_definition, parse, scorer


def test_options_reach_the_function():
    y, scores = [0, 0, 1, 3], [0.5, 0.5, 0.4, 0.5]
    direct = wo.metrics.ndcg(y, scores, k=2, gain="linear")
    assert parse("ndcg(gain=linear)@2")(y, scores) == direct != wo.metrics.ndcg(y, scores, k=2)
    assert parse("misranking_cost")(y, scores) == wo.metrics.misranking_cost(y, scores, "linear")
    assert parse("swapped_pairs(ties=half)")(y, scores) == wo.metrics.swapped_pairs(y, scores, ties="half")
    assert parse("precision@2")(y, scores) == wo.metrics.precision_at(y, scores, 2)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("map", "average_precision"),
        ("mrr@10", "reciprocal_rank@10"),
        ("precision_at@5", "precision@5"),
        ("tau", "kendall_tau"),
        (" wmw( ties = error , average=edges) ", "wmw(average=edges,ties=error)"),
        ("ndcg()", "ndcg"),
    ],
)
def test_other_spellings_print_as_one(name, printed):
    assert str(parse(name)) == printed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndgc", "no metric 'ndgc'; did you mean 'ndcg'"),
        ("swapped_pairs@3", "takes no cut-off"),
        ("", "no metric"),
        (None, "no metric None"),
        ("ndcg@0", "at least 1"),
        ("ndcg@-1", "no metric"),
        ("ndcg@10@5", "no metric"),
        ("precision", "needs a cut-off: write precision@10"),
        ("wmw(average=edge)", "one of pooled, edges"),
        ("wmw(mean=edges)", "no option of the metric 'wmw'; it has order, average, ties"),
        ("wmw(average)", "no option"),
        ("wmw(ties=half,ties=half)", "given twice"),
        ("ndcg(k=3)", "no option of the metric 'ndcg'; it has gain, empty"),
        ("ndcg(groups=3)", "no option"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(name, message):
    with pytest.raises(ValueError, match=message):
        parse(name)


def test_scorer_is_higher_for_better_models():
    X, y = np.arange(6.0)[:, None], np.arange(6)
    good, bad = wo.RankSVM().fit(X, y), wo.RankSVM().fit(X, -y)
    assert scorer("swapped_pairs")(good, X, y) == 0.0
    assert scorer("swapped_pairs")(bad, X, y) == -1.0
    assert repr(scorer("swapped_pairs")) == "scorer('swapped_pairs')"
    assert scorer("ndcg@3")(good, X, y) == 1.0


def test_definitions_are_found_by_the_names_that_metrics_print():
    assert find_definition("ndcg(gain=linear)@5") is METRICS["ndcg"]
    assert find_definition("swapped_pairs") is METRICS["swapped_pairs"]
    assert find_definition("swapped_pairs", comparisons=True) is COMPARISON_METRICS["swapped_pairs"]
    assert find_definition("comparison_error").is_share
    assert find_definition("ndcg", comparisons=True) is METRICS["ndcg"]
    assert find_definition("my_metric") is None


def test_metrics_of_comparisons_are_counts_of_comparisons():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, 12).astype(float)
    left = rng.integers(0, 12, 80)
    right = (left + rng.integers(1, 12, 80)) % 12
    outcome = rng.integers(-1, 2, 80)
    weight = rng.integers(1, 4, 80).astype(float)
    sign = np.sign(scores[right] - scores[left])
    decided = outcome != 0
    for weights in (None, weight):
        w = np.ones(80) if weights is None else weights
        games = wo.Comparisons(left, right, outcome, weights)
        value = {name: each.function(games, scores) for name, each in COMPARISON_METRICS.items()}
        swapped = w[decided & (sign != outcome)].sum() / w[decided].sum()
        assert value["swapped_pairs"] == pytest.approx(swapped)
        assert value["comparison_error"] == pytest.approx(w[sign != outcome].sum() / w.sum())
        assert value["comparison_auc"] == wo.metrics.comparison_auc(outcome, scores[right] - scores[left])
    with pytest.warns(UserWarning, match="is not defined"):
        assert np.isnan(COMPARISON_METRICS["swapped_pairs"].function(wo.Comparisons([0], [1], [0]), scores))
