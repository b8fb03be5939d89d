"""Metrics of probabilities, wherever models are judged: searches, cross-validation, comparisons of methods."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

import wellorder as wo
from wellorder import metrics
from wellorder.data import ComparisonTable, Table
from wellorder.evaluation import evaluate_table, fit_table
from wellorder.evaluation.methods import foretelling_methods
from wellorder.metrics import influence_of_probabilities


def games(n=240, n_items=12, seed=0, ties=True):
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 1.0, n_items)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    weight = np.exp(np.column_stack([skill[left] / 2, np.full(n, -0.3 if ties else -40.0), skill[right] / 2]))
    outcome = (rng.random(n)[:, None] > np.cumsum(weight / weight.sum(axis=1, keepdims=True), axis=1)).sum(axis=1) - 1
    items = Table("games.csv", pl.DataFrame({"skill": skill, "other": rng.normal(size=n_items)}), ids=_names(n_items))
    return ComparisonTable("games.csv", items, wo.Comparisons(left, right, outcome), described=True)


def _names(n):
    return np.array([f"p{k}" for k in range(n)], dtype=object)


def graded(n=240, n_levels=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    y = np.clip(np.round(1.5 + X[:, 0] + rng.logistic(0, 0.5, n)), 0, n_levels - 1)
    return X, y


# --------------------------------------------------------------------------------------------------
# Values.


def test_a_level_that_nobody_foretold_has_probability_zero():
    y, P = [0, 1, 2], [[0.5, 0.5]] * 3
    assert metrics.log_loss(y, P, levels=[0, 1]) == np.inf
    assert metrics.ranked_probability_score(y, P, levels=[0, 1]) == pytest.approx((0.125 + 0.125 + 0.625) / 3)


@pytest.mark.parametrize("levels", [["bad", "fair", "good"], ["good", "bad", "fair"]])
def test_columns_go_by_their_names(levels):
    grades = wo.Grades(["good", "bad", None], levels=["bad", "fair", "good"])
    P = np.array([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4]])
    order = [["bad", "fair", "good"].index(level) for level in levels]
    assert metrics.log_loss(grades, P[:, order], levels) == pytest.approx(-np.log([0.7, 0.6]).mean())
    expected = np.mean([0.1**2 + 0.3**2, 0.4**2 + 0.1**2]) / 2
    assert metrics.ranked_probability_score(grades, P[:, order], levels) == pytest.approx(expected)


def test_weights_are_repetitions():
    rng = np.random.default_rng(0)
    y, P, weight = rng.integers(0, 3, 20), rng.dirichlet(np.ones(3), 20), rng.integers(0, 4, 20)
    for name in ("rps", "log_loss"):
        metric = metrics.parse(name)
        weighted = metric(y, P, levels=[0, 1, 2], sample_weight=weight)
        assert weighted == pytest.approx(metric(np.repeat(y, weight), np.repeat(P, weight, axis=0), levels=[0, 1, 2]))


@pytest.mark.parametrize(
    ("y", "P", "levels", "message"),
    [
        ([0, 1], [[0.5, 0.5]], None, "give a row each"),
        ([0, 1], [[0.5, 0.4], [0.5, 0.5]], None, "row 0"),
        ([0, 1, 2], [[0.5, 0.5]] * 3, None, "levels="),
        (wo.Grades(["a", "b"], levels=["a", "b"]), [[0.5, 0.5]] * 2, ["a", "z"], "'z'"),
    ],
)
def test_probabilities_that_make_no_sense_are_refused(y, P, levels, message):
    with pytest.raises(ValueError, match=message):
        metrics.ranked_probability_score(y, P, levels)


def test_how_sure_a_mean_over_rows_is():
    rng = np.random.default_rng(0)
    y, P, group = rng.integers(0, 3, 300), rng.dirichlet(np.ones(3), 300), np.repeat(np.arange(30), 10)
    losses = -np.log(P[np.arange(300), y])
    metric = metrics.parse("log_loss")
    rows = influence_of_probabilities(wo.Grades(y), P, metric, levels=[0, 1, 2])
    assert rows.values[0] == pytest.approx(metrics.log_loss(y, P))
    assert rows.covariance()[0, 0] == pytest.approx(np.var(losses, ddof=1) / 300)
    lists = influence_of_probabilities(wo.Grades(y, group), P, metric, levels=[0, 1, 2])
    assert lists.unit == "groups"
    assert lists.covariance()[0, 0] == pytest.approx(np.var(losses.reshape(30, 10).mean(axis=1), ddof=1) / 30)
    with pytest.raises(ValueError, match="judges probabilities, and these are scores"):
        metrics.covariance(y, P[:, 0], "log_loss")


# --------------------------------------------------------------------------------------------------
# Searches and cross-validation.


def test_a_search_goes_by_probabilities():
    X, y = graded()
    found = wo.search(wo.ProportionalOdds(), {"C": [1e-4, 1.0]}, X, y, metric="log_loss", cv=3)
    assert found.best_params == {"C": 1.0}
    by_hand = wo.cross_validate(wo.ProportionalOdds(C=1.0), X, y, metrics=["log_loss", "rps", "swapped_pairs"], cv=3)
    assert found.best_score == pytest.approx(by_hand["log_loss"].mean())
    assert by_hand.interval("ranked_probability_score").low > 0
    train, test = by_hand.splits[0].train, by_hand.splits[0].test
    model = wo.ProportionalOdds(C=1.0).fit(X[train], y[train])
    expected = metrics.log_loss(y[test], model.predict_proba(X[test]), model.classes_)
    assert by_hand["log_loss"][0] == pytest.approx(expected)


@pytest.mark.parametrize("model", [LogisticRegression(), wo.PlugInRanker()])
def test_classifiers_and_what_is_made_of_them_are_judged_by_their_probabilities(model):
    X, y = graded()
    value = wo.cross_validate(model, X, y, metrics="rps", cv=3)["ranked_probability_score"]
    assert (value < 0.2).all()
    score = metrics.scorer("rps")(model.fit(X, y), X, y)
    assert -0.2 < score < 0
    with pytest.raises(ValueError, match="RankSVM gives none"):
        metrics.scorer("rps")(wo.RankSVM().fit(X, y), X, y)


def test_models_without_probabilities_are_refused_before_anything_is_fitted():
    X, y = graded()
    for model in (wo.RankSVM(), wo.SVOR()):
        with pytest.raises(ValueError, match=f"{type(model).__name__} gives none; ProportionalOdds"):
            wo.search(model, {"C": [1.0]}, X, y, metric="rps")
    table = games()
    with pytest.raises(ValueError, match=r"CompareSVM gives none; CompareSVM\(probability=True\)"):
        wo.cross_validate(wo.CompareSVM(), table.items.X.to_numpy(), table.comparisons, metrics="rps")


@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_comparisons_of_items_and_pairs_have_the_same_value():
    table, model = games(), wo.CompareSVM(probability=True, loss="logistic", random_state=0)
    X, met = table.items.X.to_numpy(), table.comparisons
    cv = [(np.arange(160), np.arange(160, 240))]
    items = wo.cross_validate(model, X, met, metrics="brier", cv=cv)["comparison_brier"]
    pairs = wo.cross_validate(model, wo.Pairs(X, met.left, met.right), met.outcome, metrics="brier", cv=cv)
    assert items == pytest.approx(pairs["comparison_brier"], rel=1e-6)
    assert 0 < items[0] < 2 / 3


def test_what_judges_scores_alone_refuses_metrics_of_probabilities():
    X, y = graded()
    model = wo.ProportionalOdds().fit(X, y)
    with pytest.raises(ValueError, match="log_loss judges probabilities, and scores are judged here"):
        wo.importance(model, X, y, metric="log_loss")


# --------------------------------------------------------------------------------------------------
# Methods by name.


def test_methods_are_compared_by_probabilities():
    table = games()
    board = wo.compare(table, ["davidson", "compare-svm"], metric="rps", n_folds=3, n_repeats=1, n_jobs=1)
    assert board.protocol.metric == "comparison_rps"
    for standing in board.standings:
        assert 0.1 < standing.low < standing.mean < standing.high < 0.3
        assert standing.n_without_order == 0
    assert board.standings[1].p_value > 0
    assert all(record.parts is not None for record in board.records)


def test_methods_that_give_none_are_left_out_unless_they_are_named():
    assert foretelling_methods("comparisons") == ["compare-svm", "elo", "glicko", "davidson"]
    assert foretelling_methods("grades") == ["proportional-odds", "plug-in-ranker"]
    X, y = graded()
    table = Table("rows.csv", pl.DataFrame(X), y)
    board = wo.compare(table, metric="log_loss", n_folds=2, n_repeats=1, n_jobs=1)
    assert {each.method for each in board.standings} == {"proportional-odds", "plug-in-ranker"}
    assert "it gives no probabilities, which log_loss judges" in board.reasons
    with pytest.raises(ValueError, match=r"ridge, rank-svm give none; name methods that do \(proportional-odds"):
        wo.compare(table, ["ridge", "proportional-odds", "rank-svm"], metric="rps")


def test_an_infinite_loss_is_not_tested_and_is_not_forgotten(tmp_path):
    table = games(ties=False)
    outcome = table.comparisons.outcome.copy()
    assert (outcome != 0).all()
    outcome[0] = 0  # in one test part, and then in no training part
    met = table.comparisons
    tied = ComparisonTable("games.csv", table.items, wo.Comparisons(met.left, met.right, outcome), described=True)
    options = {"metric": "log_loss", "n_folds": 3, "n_repeats": 1, "n_jobs": 1, "records": tmp_path / "r.jsonl"}
    board = wo.compare(tied, ["davidson", "compare-svm"], **options)
    again = wo.compare(tied, ["davidson", "compare-svm"], **options)  # from the records
    assert [each.mean for each in again.standings] == [each.mean for each in board.standings]
    infinite = [each for each in board.standings if each.mean == np.inf]
    assert infinite
    assert all(np.isnan(each.low) for each in infinite)
    assert "∞" in str(board)


def test_a_table_of_grades_is_evaluated_by_probabilities():
    X, y = graded()
    table = Table("rows.csv", pl.DataFrame(X), y)
    model = fit_table(table, "proportional-odds", with_resolution=False).model
    found = evaluate_table(model, table, ["rps", "swapped_pairs"])
    P = model.ranker_.predict_proba(model.encoder_.transform(table))
    assert found["ranked_probability_score"] == pytest.approx(metrics.ranked_probability_score(y, P))
    ranker = fit_table(table, "rank-svm", with_resolution=False).model
    with pytest.raises(ValueError, match="RankSVM gives none; proportional-odds and plug-in-ranker do"):
        evaluate_table(ranker, table, ["rps"])


# --------------------------------------------------------------------------------------------------
# ``fit --search --metric``.


def test_a_search_of_fit_goes_by_the_metric_that_counts():
    """One column has the best row of each list on top, the other orders the rest of it."""
    rng = np.random.default_rng(0)
    y = np.tile([0.0, 1.0, 2.0, 3.0, 4.0], 40)
    top = np.where(y == 4, 10.0, rng.random(200))
    rest = np.where(y == 4, 2.5, y)
    table = Table("lists.csv", pl.DataFrame({"top": top, "rest": rest}), y, np.repeat(np.arange(40), 5))
    chosen = {
        metric: fit_table(table, "best-feature", searching=True, metric=metric, with_resolution=metric == "ndcg@1")
        for metric in ("ndcg@1", "kendall_tau")
    }
    assert [chosen[metric].model.ranker_.feature_ for metric in chosen] == [0, 1]
    assert chosen["ndcg@1"].held_out_metric == pytest.approx(1.0)
    assert chosen["ndcg@1"].model.ranker_.metric == "ndcg@1"
    assert np.isnan(chosen["kendall_tau"].held_out_metric)
    with pytest.raises(ValueError, match="rank-svm gives none"):
        fit_table(table, "rank-svm", searching=True, metric="rps")
    with pytest.raises(ValueError, match="there is no metric 'ndgc"):
        fit_table(table, "rank-svm", searching=True, metric="ndgc@10")
