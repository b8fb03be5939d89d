"""The ensemble as a method: fitted, saved and compared like any other."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation import METHODS, compare, fit_table
from wellorder.evaluation.methods import make_seeded
from wellorder.evaluation.tasks import make_task
from wellorder.methods import Size

from .tables import make_comparisons, make_table


@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_it_is_fitted_to_tables_of_either_kind_and_saved(tmp_path):
    for table in (make_table(groups=6), make_comparisons()):
        model = fit_table(table, "order-ensemble", {"n_folds": 2}, with_resolution=False).model
        columns = getattr(table, "items", table)
        scores = model.decision_function(columns)
        wo.save(model, tmp_path / "m.wo")
        loaded = wo.load(tmp_path / "m.wo")
        assert loaded.ranker_.weights_.sum() == pytest.approx(1.0)
        assert loaded.decision_function(columns).tolist() == scores.tolist()
    assert (model.predict(table) == 0).any()
    assert loaded.predict(table).tolist() == model.predict(table).tolist()


def test_it_is_judged_on_outer_folds_like_any_other():
    board = compare(make_table(), ["order-ensemble", "best-feature"], n_folds=2, n_repeats=1)
    first, second = board.standings
    assert first.method == "order-ensemble"
    assert first.mean < second.mean
    assert not first.is_baseline


def test_what_it_learns_from_a_training_part_does_not_depend_on_the_rest():
    table = make_table()
    task = make_task(table)
    split = next(iter(task.splits(3, 1, 0)))
    part = task.training_part(split.train)
    y = table.y.copy()
    y[split.test] = y[split.test][::-1]
    other = make_task(dataclasses.replace(table, y=y)).training_part(split.train)
    found = [make_seeded(METHODS["order-ensemble"], 1).fit(each.X, each.order) for each in (part, other)]
    assert found[0].weights_.tolist() == found[1].weights_.tolist()


def test_it_is_left_out_where_it_would_take_too_long_or_nothing_is_known():
    objection = METHODS["order-ensemble"].objection
    size = Size("grades", 1000, 10, 10_000, 1000, 5)
    assert objection(size) is None
    assert "200,001 rows" in objection(dataclasses.replace(size, n_rows=200_001))
    games = dataclasses.replace(size, supervision="comparisons", n_pairs=300_000)
    assert "300,000 comparisons" in objection(games)
    assert "only the names" in objection(dataclasses.replace(size, has_features=False))


def test_ratings_by_name_alone_are_no_error_when_asked_for():
    table = make_comparisons(described=False)
    with np.errstate(all="raise"):
        model = fit_table(table, "order-ensemble", {"n_folds": 2}, with_resolution=False).model
    assert model.predict(table).shape == (len(table),)
