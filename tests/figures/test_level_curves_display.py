"""Level curves: the scores of a grid, over features that move them, in whatever form the rows come."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.data import Table, TableRanker
from wellorder.figures import LevelCurvesDisplay, to_svg
from wellorder.figures.level_curves import score_plane, strongest_features


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).standard_normal((150, 4))
    return X, X @ [0.3, 2.0, 0.0, -1.0]


@pytest.fixture(scope="module")
def model(rows):
    return wo.RankSVM().fit(*rows)


def frame(X):
    kind = np.where(np.arange(len(X)) % 3 == 0, "white", "red")
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "kind": kind, "whole": (10 * X[:, 3]).astype(int)})


def test_the_grid_has_the_model_s_scores_with_the_rest_at_its_median(rows, model):
    X, _ = rows
    plane = score_plane(model, X, n_steps=7)
    assert plane.features == ("x1", "x3")
    middle = np.sort(X, axis=0)[(len(X) - 1) // 2]
    for i, x in enumerate(plane.x):
        for j, y in enumerate(plane.y):
            row = middle.copy()
            row[[1, 3]] = x, y
            assert plane.scores[j, i] == pytest.approx(model.decision_function(row[None])[0])
    assert plane.x[0] == pytest.approx(np.quantile(X[:, 1], 0.02))
    assert np.array_equal(plane.rows, X[:, [1, 3]])
    assert np.allclose(plane.row_scores, model.decision_function(X))


def test_features_can_be_named_or_numbered(rows, model):
    X, _ = rows
    assert score_plane(model, X, features=(2, "x0")).features == ("x2", "x0")
    with pytest.raises(ValueError, match="there is no feature 'x9'"):
        score_plane(model, X, features=("x9", "x0"))
    with pytest.raises(ValueError, match="the two features are the same"):
        score_plane(model, X, features=("x1", 1))


def test_the_second_feature_is_no_copy_of_the_first():
    X = np.random.default_rng(1).standard_normal((100, 3))
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    coef = Ridge().fit(X, X @ [1.0, 1.0, 0.3])
    assert strongest_features(coef, X)[1] == 2
    assert set(strongest_features(coef, X[:, [0, 1, 0]])) == {0, 1}  # unless all are


@pytest.mark.parametrize("kind", ["polars", "pandas", "table"])
def test_frames_keep_their_columns_of_text_and_whole_numbers(rows, kind):
    X, y = rows
    data = frame(X).with_columns(grade=y)
    fitted = TableRanker(wo.RankSVM(), target="grade").fit(data)
    given = {
        "polars": lambda: frame(X),
        "pandas": lambda: pd.DataFrame(frame(X).to_dict(as_series=False), index=np.arange(len(X))[::-1]),
        "table": lambda: Table("t", frame(X), y),
    }[kind]()
    plane = score_plane(fitted, given, n_steps=5)
    assert plane.features == ("b", "whole")
    one = frame(X)[:1].with_columns(
        a=pl.lit(float(np.sort(X[:, 0])[74])), kind=pl.lit("red"), b=pl.lit(plane.x[1]), whole=pl.lit(plane.y[3])
    )
    assert plane.scores[3, 1] == pytest.approx(fitted.decision_function(one)[0])


def test_numbered_features_are_filled_in_and_too_many_are_refused(rows):
    X, y = rows
    table = Table("letor", sp.csr_array(X), y)
    plane = score_plane(TableRanker(wo.RankSVM()).fit(table), table)
    assert plane.features == ("feature 2", "feature 4")
    with pytest.raises(ValueError, match="too many"):
        score_plane(Ridge().fit(sp.csr_array((3, 2000)), [0, 1, 2]), sp.csr_array((3, 2000)))


def test_what_makes_no_plane_is_refused(rows):
    X, y = rows
    single = wo.RankSVM().fit(X[:, :1], y)
    with pytest.raises(ValueError, match="fewer than two features"):
        score_plane(single, X[:, :1])
    with pytest.raises(ValueError, match="scores whole lists"):
        score_plane(wo.MultipleHyperplaneRanker().fit(X, np.digitize(y, [-1, 1])), X)
    with pytest.raises(ValueError, match="n_steps"):
        score_plane(single, X, n_steps=1)
    fitted = TableRanker(wo.RankSVM(), target="grade").fit(frame(X).with_columns(grade=y))
    with pytest.raises(ValueError, match="no feature of numbers"):
        score_plane(fitted, frame(X), features=("kind", "a"))
    flat = wo.RankSVM().fit(X, y)
    flat.coef_ = np.zeros(4)
    with pytest.raises(ValueError, match="the same all over the plane"):
        LevelCurvesDisplay.from_estimator(flat, X, features=(0, 1))


def test_lines_run_at_the_shares_of_rows_below(rows, model):
    X, _ = rows
    display = LevelCurvesDisplay.from_estimator(model, X).plot(ax=Figure(layout="constrained").add_subplot())
    assert display.names == ("10 %", "25 %", "50 %", "75 %", "90 %")
    scores = model.decision_function(X)
    assert [np.mean(scores < level) for level in display.levels] == pytest.approx([0.1, 0.25, 0.5, 0.75, 0.9], abs=0.01)
    assert list(display.lines_.levels) == list(display.levels)
    assert display.ax_.get_xlabel() == "x1"
    assert [text.get_text() for text in display.ax_.texts] == list(display.names)
    assert len(display.points_.get_xdata()) <= 200


def test_levels_that_do_not_cross_the_plane_are_left_out(rows):
    X, _ = rows
    steep = Ridge(alpha=1e-6).fit(X, X @ [1.0, 1.0, 100.0, 0.0])
    display = LevelCurvesDisplay.from_estimator(steep, X, features=(0, 1))
    assert set(display.names) <= {"50 %", ""}
    svg = to_svg(display, name="levels", title="Levels")
    assert "currentColor" in svg
    assert "var(--blue" in svg


def test_an_ensemble_that_adds_up_scores_has_level_curves_and_one_of_places_has_none(rows):
    X, y = rows
    members = [("linear", wo.RankSVM()), ("column", wo.BestFeature())]
    ensemble = wo.OrderEnsemble(members, random_state=0).fit(X, y)
    assert LevelCurvesDisplay.from_estimator(ensemble, X).plane.features == ("x1", "x3")
    inside = make_pipeline(StandardScaler(), ensemble).fit(X, y)
    assert LevelCurvesDisplay.from_estimator(inside, X).plane.features == ("x1", "x3")
    places = wo.OrderEnsemble(members, combine="borda", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="scores whole lists"):
        LevelCurvesDisplay.from_estimator(places, X)


def test_names_of_lines_that_run_close_together_do_not_cover_each_other():
    X = np.random.default_rng(0).standard_normal((200, 2))
    steep = wo.RankSVM(C=10.0).fit(X, np.round(X[:, 0]))
    X[:, 0] = np.sign(X[:, 0]) * np.abs(X[:, 0]) ** 0.2  # few rows in the middle: lines at its edges
    display = LevelCurvesDisplay.from_estimator(steep, X, features=[0, 1]).plot(
        Figure(layout="constrained").add_subplot()
    )
    plane = display.plane
    extent = [np.ptp(plane.x), np.ptp(plane.y)]
    places = np.array([text.xy for text in display.ax_.texts]) / extent
    apart = np.hypot(*(places[:, None] - places[None]).T) + np.eye(len(places))
    assert len(places) >= 4
    assert apart.min() > 0.1
