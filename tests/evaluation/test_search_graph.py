"""Order graphs compared on unseen rows: values, intervals and tests are what single fits give."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.evaluation import cross_validate, search_graph
from wellorder.evaluation.significance import mean_interval


def make_rows(n=240, seed=0, grades=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    truth = X[:, 0] - X[:, 1] + rng.standard_normal(n)
    return X, np.digitize(truth, np.quantile(truth, np.linspace(0, 1, grades + 1)[1:-1]))


def test_values_are_those_of_a_cross_validation_judged_over_all_pairs():
    X, y = make_rows()
    found = search_graph(wo.ConvexHullRanker(), X, y, cv=4, seed=3)
    assert {trial.name: trial.n_edges for trial in found.table} == {"chain": 3, "two steps": 5, "full": 6}
    for trial in found.table:
        model = wo.ConvexHullRanker(order=trial.graph)
        single = cross_validate(model, X, wo.Grades(y), metrics="wmw", cv=4, seed=3)
        assert trial.values == pytest.approx(single["wmw"], rel=1e-9)
        assert trial.interval == mean_interval(trial.values, *np.mean(single.n_judged, axis=0))
    means = [trial.interval.mean for trial in found.table]
    assert means == sorted(means, reverse=True)
    assert (found.best_name, found.best_score) == (found.table[0].name, means[0])
    refitted = wo.ConvexHullRanker(order=found.best_graph).fit(X, y)
    np.testing.assert_allclose(found.best_estimator.coef_, refitted.coef_, atol=1e-9)
    assert found.best_name in str(found)
    assert "not told apart" in str(found)


def test_a_graph_that_leaves_out_what_matters_is_told_apart():
    X, y = make_rows(n=600)
    backwards = wo.OrderGraph.from_edges(range(4), [(3, 2), (2, 1), (1, 0)])
    found = search_graph(wo.ConvexHullRanker(), X, y, candidates={"good": "chain", "bad": backwards}, n_repeats=2)
    good, bad = found.table
    assert (good.name, bad.name, found.simplest) == ("good", "bad", good)
    assert bad.is_told_apart
    assert bad.against_best.mean < -0.3
    assert good.against_best is None
    assert not good.is_told_apart
    assert len(bad.values) == 10
    judged = search_graph(
        wo.ConvexHullRanker(), X, y, candidates={"good": "chain", "bad": backwards}, judged_by=backwards, refit=False
    )
    assert judged.best_name == "bad"
    assert judged.best_estimator is None


def test_equal_graphs_the_one_with_fewer_edges_wins():
    X, y = make_rows(grades=2)
    found = search_graph(wo.ConvexHullRanker(), X, y, candidates=["full", "chain", wo.OrderGraph.full(range(2))])
    assert [trial.name for trial in found.table] == ["full", "chain", "graph 3"]  # one edge each, in their order
    assert all(trial.against_best.p_value == 1.0 for trial in found.table[1:])


def test_pipelines_groups_weights_and_grades_with_an_order_go_through():
    X, y = make_rows()
    groups = np.arange(240) % 12
    model = make_pipeline(StandardScaler(), wo.RankSVM())
    found = search_graph(model, X, y, groups=groups, cv=3)
    order = found.best_estimator.get_params()["ranksvm__order"]
    assert isinstance(order, wo.OrderGraph) if found.best_name == "two steps" else order == found.best_name
    grades = search_graph(wo.ConvexHullRanker(), X, wo.Grades(y, order="linear"), cv=3)
    plain = search_graph(wo.ConvexHullRanker(), X, y, cv=3)
    assert [trial.values for trial in grades.table] == [trial.values for trial in plain.table]
    weights = np.where(y == 0, 1e-6, 1.0)
    weighed = search_graph(wo.ConvexHullRanker(), X, y, sample_weight=weights, cv=3)
    assert [trial.values for trial in weighed.table] != [trial.values for trial in plain.table]
    text = np.array(["d", "c", "b", "a"])
    named = search_graph(wo.ConvexHullRanker(levels=list(text)), X, text[y], cv=3)
    assert [trial.values for trial in named.table] == [trial.values for trial in plain.table]


@pytest.mark.parametrize("text", [False, True])
def test_a_level_that_a_training_part_lacks_is_stepped_over(text):
    X, y = make_rows()
    y = np.where(y == 1, 2, y)
    y[0] = 1  # one row: where it is tested, no row of its level is left to learn from
    names = np.array(["worst", "bad", "good", "best"])
    graph = wo.OrderGraph.chain(names.tolist() if text else range(4))
    model = wo.ConvexHullRanker(levels=names.tolist() if text else None)
    found = search_graph(model, X, names[y] if text else y, candidates={"name": "chain", "graph": graph})
    by_name, by_graph = (trial.values for trial in sorted(found.table, key=lambda trial: trial.name == "graph"))
    assert by_graph == pytest.approx(by_name, abs=1e-12)  # 0 below 2 follows through the missing level 1
    assert len(search_graph(model, X, names[y] if text else y).table) == 3


@pytest.mark.parametrize(
    ("estimator", "y", "params", "message"),
    [
        (wo.RidgeRanker(), [0, 1] * 10, {}, "no parameter 'order'"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": []}, "no candidate"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": "chain"}, "is one order"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": wo.OrderGraph.full(range(2))}, "is one order"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": np.eye(2)}, "is one order"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": {"x": np.eye(2)}}, "'x': the order runs in a circle"),
        (wo.ConvexHullRanker(), [0, 1] * 10, {"candidates": {"x": wo.OrderGraph.chain("ab")}}, "'x' has the levels"),
        (wo.RankSVM(), wo.Comparisons([0], [1], [1]), {}, "comparisons have none"),
    ],
)
def test_what_cannot_be_searched_is_named(estimator, y, params, message):
    with pytest.raises(ValueError, match=message):
        search_graph(estimator, np.eye(20), y, **params)
