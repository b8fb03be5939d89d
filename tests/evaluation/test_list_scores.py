"""Models whose scores depend on the list are told the groups, wherever scores are asked for."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate as by_scikit_learn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from tests.evaluation.tables import make_table
from wellorder.data import TableRanker
from wellorder.evaluation import METHODS, compare, cross_validate, evaluate_table, fit_table, order_items, search
from wellorder.evaluation.tasks import make_task
from wellorder.methods import Size
from wellorder.scoring import list_scores, ranks_lists

RNG = np.random.default_rng(0)
X = RNG.standard_normal((160, 3))
QUERY = RNG.integers(0, 16, 160)
X += 3 * RNG.standard_normal(16)[QUERY][:, None]  # rows of different lists cannot be compared
Y = np.digitize(X[:, 0] - X[:, 1] + RNG.standard_normal(160), [-1, 1])
MODELS = [wo.MultipleHyperplaneRanker(), wo.NestedRanker()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_through_pipelines_and_searches(model):
    plain = model.fit(X, Y, groups=QUERY)
    right = plain.decision_function(X, groups=QUERY)
    assert not np.array_equal(right, plain.decision_function(X))
    assert ranks_lists(plain)
    np.testing.assert_array_equal(list_scores(plain, X, QUERY), right)
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), sklearn.base.clone(model))
    assert ranks_lists(pipeline)
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(X, Y, groups=QUERY)
        np.testing.assert_array_equal(list_scores(pipeline, X, QUERY), right)
        np.testing.assert_array_equal(pipeline.decision_function(X, groups=QUERY), right)
        assert pipeline.score(X, Y, groups=QUERY) == plain.score(X, Y, groups=QUERY)
    np.testing.assert_array_equal(list_scores(pipeline, X, QUERY), right)
    found = GridSearchCV(pipeline, {}, scoring=wo.metrics.scorer("ndcg@5"), cv=GroupKFold(3))
    with sklearn.config_context(enable_metadata_routing=True):
        found.fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(list_scores(found, X, QUERY), right)


def test_models_of_rows_are_left_alone():
    model = wo.RankSVM().fit(X, Y, groups=QUERY)
    assert not ranks_lists(model)
    np.testing.assert_array_equal(list_scores(model, X, QUERY), model.predict(X))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_cross_validation_and_search(model):
    ours = cross_validate(model, X, Y, groups=QUERY, metrics=["ndcg@3", "swapped_pairs"], cv=GroupKFold(4))
    by_grades = cross_validate(
        model, X, wo.Grades(Y, QUERY), metrics="ndcg@3", cv=[(split.train, split.test) for split in ours.splits]
    )
    expected = []
    for split in ours.splits:
        train, test = split.train, split.test
        fitted = sklearn.base.clone(model).fit(X[train], Y[train], groups=QUERY[train])
        expected.append(wo.metrics.ndcg(Y[test], fitted.decision_function(X[test], groups=QUERY[test]), QUERY[test], 3))
    np.testing.assert_allclose(ours["ndcg@3"], expected)
    np.testing.assert_allclose(by_grades["ndcg@3"], expected)
    with sklearn.config_context(enable_metadata_routing=True):
        theirs = by_scikit_learn(
            model, X, Y, cv=GroupKFold(4), scoring=wo.metrics.scorer("ndcg@3"), params={"groups": QUERY}
        )
    np.testing.assert_allclose(theirs["test_score"], expected)
    found = search(model, {}, X, Y, groups=QUERY, metric="ndcg@3", cv=GroupKFold(4))
    assert found.best_score == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("name", ["multiple-hyperplane-ranker", "nested-ranker", "rank-boost"])
def test_tables(name, tmp_path):
    table = make_table(120, groups=10, grades=3)
    fitted = fit_table(table, name, seed=0)
    model = fitted.model
    encoded = model.encoder_.transform(table)
    right = list_scores(model.ranker_, encoded, table.groups)
    np.testing.assert_array_equal(model.decision_function(table), right)
    np.testing.assert_array_equal(model.predict(table), right)
    assert evaluate_table(model, table, ["ndcg@5"])["ndcg@5"] == wo.metrics.ndcg(table.y, right, table.groups, 5)
    assert fitted.training_score == pytest.approx(1 - wo.metrics.swapped_pairs(table.y, right, table.groups))
    top = order_items(model, table, top=1)
    assert len(top.lists) == 10
    wo.save(model, tmp_path / "model.wo")
    np.testing.assert_array_equal(wo.load(tmp_path / "model.wo").decision_function(table), right)
    frame = table.X.with_columns(pl.Series("query", table.groups), pl.Series("y", table.y))
    from_frame = TableRanker(METHODS[name].make(), target="y", group="query").fit(frame)
    np.testing.assert_array_equal(from_frame.predict(frame), from_frame.decision_function(frame))
    np.testing.assert_array_equal(from_frame.predict(frame), right)


def test_comparisons_of_methods_use_the_lists():
    table = make_table(160, groups=16, grades=3)
    task = make_task(table)
    split = next(iter(task.splits(3, 1, 0)))
    part, test = task.training_part(split.train), table.take(split.test)
    model = wo.MultipleHyperplaneRanker().fit(part.X, part.order)
    scores = task.scores(model, part, split.test)
    encoded = part.encoder.transform(test)
    np.testing.assert_array_equal(scores, model.decision_function(encoded, groups=test.groups))
    assert not np.array_equal(scores, model.decision_function(encoded))
    board = compare(table, ["multiple-hyperplane-ranker"], n_folds=3, n_repeats=1)
    assert len([record for record in board.records if record.metrics]) == 3


def test_many_levels_are_objected_to():
    objection = METHODS["multiple-hyperplane-ranker"].objection
    assert objection(Size("grades", 100, 3, 1000, 100, 5)) is None
    assert "66 of those; bin" in objection(Size("grades", 100, 3, 1000, 100, 12))


def test_pictures_are_told_the_groups():
    model = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    scores = model.decision_function(X, groups=QUERY)
    for display in (wo.plot.NDCGCurveDisplay, wo.plot.SwapsDisplay):
        one, other = display.from_estimator(model, X, Y, QUERY), display.from_predictions(Y, scores, QUERY)
        own = display.from_estimator(model, X, wo.Grades(Y, QUERY))
        if display is wo.plot.SwapsDisplay:
            assert one.table == other.table == own.table
        else:
            assert np.array_equal(one.lines[0].y, other.lines[0].y)
            assert np.array_equal(own.lines[0].y, other.lines[0].y)
