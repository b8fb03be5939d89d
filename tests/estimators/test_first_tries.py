"""The first tries of somebody who comes with a data frame: they work, or the error names the column and the way on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import wellorder as wo
from wellorder.data import TableRanker

RNG = np.random.default_rng(0)
WINES = {"ph": RNG.normal(3, 0.2, 40), "colour": RNG.choice(["red", "white"], 40)}
GRADE = np.round(3 + WINES["ph"] + RNG.normal(0, 0.3, 40))
RANKERS = ["RankSVM", "SVOR", "OrderBoost", "RidgeRanker", "BestFeature", "RankBoost", "ConvexHullRanker"]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("ranker", RANKERS)
def test_a_column_of_text_is_named(ranker, frame):
    with pytest.raises(ValueError, match=rf"column 'colour' holds '\w+' in row 0.*TableRanker\({ranker}\(\)"):
        getattr(wo, ranker)().fit(frame(WINES), GRADE)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_what_others_fail_of_is_named_as_well(frame):
    """Models that hand their columns on: the classifier of a plug-in ranker, the steps of a pipeline."""
    pipeline = make_pipeline(StandardScaler(), wo.RankSVM())
    for fit in (
        wo.PlugInRanker().fit,
        wo.PlugInRanker(make_pipeline(StandardScaler(), LogisticRegression())).fit,
        partial(wo.cross_validate, pipeline),
    ):
        with pytest.raises(ValueError, match=r"column 'colour' holds '\w+' in row 0.*TableRanker"):
            fit(frame(WINES), GRADE)
    gap = pd.DataFrame(WINES).assign(acid=np.where(np.arange(40) == 7, np.nan, 1.0))
    encoded = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    with pytest.raises(ValueError, match="Input X contains NaN: the column 'acid' in row 7"):  # text is not to blame
        wo.PlugInRanker(make_pipeline(encoded, LogisticRegression())).fit(gap, GRADE)
    with pytest.raises(ValueError, match="C must be a positive number"):  # nor is it for anything else
        wo.cross_validate(make_pipeline(encoded, wo.RankSVM(C="much")), pd.DataFrame(WINES), GRADE)


def test_the_way_on_works():
    table = pd.DataFrame(WINES).assign(quality=GRADE)
    table.loc[3, "ph"] = np.nan
    model = TableRanker(wo.RankSVM(), target="quality").fit(table)
    assert model.decision_function(table).shape == (40,)


def test_times_and_gaps_are_named():
    frame = pd.DataFrame({"ph": WINES["ph"], "day": pd.date_range("2024-01-01", periods=40)})
    with pytest.raises(ValueError, match="column 'day' holds times"):
        wo.RankSVM().fit(frame, GRADE)
    gap = frame[["ph"]].assign(acid=np.where(np.arange(40) == 7, np.nan, 1.0))
    with pytest.raises(ValueError, match="Input X contains NaN: the column 'acid' in row 7"):
        wo.RankSVM().fit(gap, GRADE)
    far = frame[["ph"]].assign(acid=np.where(np.arange(40) == 7, np.inf, 1.0))
    with pytest.raises(ValueError, match=r"Input X contains infinity.* column 'acid' in row 7"):
        wo.RankSVM().fit(far, GRADE)


def test_a_text_column_at_prediction_is_named():
    model = wo.RankSVM().fit(pd.DataFrame({"ph": WINES["ph"]}), GRADE)
    with pytest.raises(ValueError, match="column 'ph' holds 'much' in row 1"):
        model.predict(pd.DataFrame({"ph": [3.0, "much"]}))
    with pytest.raises(ValueError, match="feature names should match"):  # scikit-learn's own words stay
        model.predict(pd.DataFrame({"acid": [3.0]}))


def test_names_of_columns_are_no_values():
    frame = pd.DataFrame({"ph": WINES["ph"], "quality": GRADE, "query": np.repeat([1, 2], 20)})
    with pytest.raises(ValueError, match=r"y is the text 'quality'.*target='quality'"):
        wo.RankSVM().fit(frame, "quality")
    with pytest.raises(ValueError, match=r"groups is the text 'query'.*group='query'"):
        wo.RankSVM().fit(frame[["ph"]], frame["quality"], groups="query")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_is_read_as_a_file_is(frame, tmp_path):
    whole = {**WINES, "quality": GRADE, "query": np.repeat([1, 2], 20)}
    pl.DataFrame(whole).write_csv(tmp_path / "wines.csv")
    roles = {"target": "quality", "group": "query"}
    given, read = wo.read(frame(whole), **roles), wo.read(tmp_path / "wines.csv", **roles)
    assert given.X.equals(read.X)
    np.testing.assert_array_equal(given.y, read.y)
    np.testing.assert_array_equal(given.groups, read.groups)
    with pytest.raises(ValueError, match="there is no column 'qualty'"):
        wo.read(frame(whole), target="qualty")
    with pytest.raises(ValueError, match="format='csv' is of a file"):
        wo.read(frame(whole), format="csv")


def test_ordered_categories_bring_their_levels():
    verdict = pd.Categorical(RNG.choice(["poor", "top"], 40), ["poor", "top"], ordered=True)
    assert wo.read(pd.DataFrame(WINES).assign(verdict=verdict), target="verdict").levels == ("poor", "top")


def test_comparisons_come_as_frames():
    votes = pd.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "outcome": [1, -1], "judge": ["x", "y"]})
    table = wo.read(votes, items=pl.DataFrame({"item": ["a", "b", "c"], "size": [1, 2, 3]}))
    assert table.columns.to_dict(as_series=False) == {"judge": ["x", "y"]}
    assert table.described
    assert table.comparisons.outcome.tolist() == [1, -1]


@pytest.mark.parametrize("name", ["quality", "the grade", None])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda wines: wines["ph"][:, None]])
def test_the_line_that_compare_of_x_and_y_says_to_write_runs(make, name):
    X, y = make(WINES), pd.Series(GRADE, name=name)
    with pytest.raises(TypeError, match="not X and y; give it ") as refused:
        wo.compare(X, y)
    line = str(refused.value).partition("give it ")[2]
    table = eval(line, {"wo": wo, "pl": pl, "X": X, "y": y})
    np.testing.assert_array_equal(table.y, GRADE)
    assert table.X.shape[1] == X.shape[1]


def test_compare_of_x_and_y_says_what_to_write():
    X, y = pd.DataFrame(WINES), pd.Series(GRADE, name="quality")
    with pytest.raises(TypeError, match=r"wo.read\(X.assign\(quality=y\), target='quality'\)"):
        wo.compare(X, y)
    board = wo.compare(wo.read(X.assign(quality=y), target="quality"), ["ridge", "best-feature"], n_folds=2, n_jobs=1)
    assert len(board.standings) == 2
    with pytest.raises(TypeError, match=r"wo.read\(path_or_frame"):
        wo.compare(X)
    with pytest.raises(ValueError, match=r"give a list of names, \['ridge'\]"):
        wo.compare(wo.read(X.assign(quality=y), target="quality"), "ridge")


def test_compare_reads_a_frame_whose_columns_are_named():
    X, query = pd.DataFrame(WINES), np.repeat(np.arange(8), 5)
    frame = X.assign(quality=GRADE, query=query)
    board = wo.compare(frame, ["ridge"], target="quality", group="query", n_folds=2, n_repeats=1, n_jobs=1)
    assert board.protocol.split_by == "groups"
    with pytest.raises(ValueError, match="name the column of grades as target='quality'"):
        wo.compare(frame, "quality")
    with pytest.raises(TypeError, match="target is for data frames and paths"):
        wo.compare(wo.read(frame, target="quality"), target="quality")
    with pytest.raises(TypeError, match="unexpected keyword argument 'targt'"):
        wo.compare(frame, targt="quality")
    with pytest.raises(TypeError, match="give it ") as refused:
        wo.compare(X, pd.Series(GRADE, name="quality"), groups=query)
    line = str(refused.value).partition("give it ")[2]
    table = eval(line, {"wo": wo, "X": X, "y": GRADE, "groups": query})
    np.testing.assert_array_equal(table.groups, query)


@pytest.mark.parametrize(
    ("index", "way"),
    [(np.arange(40)[::-1], r"y\.loc\[X\.index\] puts them in the order"), (np.arange(40) + 100, "the same index")],
)
def test_grades_with_other_labels_than_the_rows_are_warned_of(index, way):
    X, y = pd.DataFrame({"ph": WINES["ph"]}), pd.Series(GRADE)
    said = rf"rows of y are labelled otherwise .*row 0 is {index[0]} there, and 0 in X.*{way}"
    with pytest.warns(UserWarning, match=said):
        wo.RankSVM().fit(X, y.set_axis(index))
    with pytest.warns(UserWarning, match=said) as heard:
        found = wo.cross_validate(wo.RankSVM(), X, y.set_axis(index))
    assert len(heard) == 1  # and not for every part
    assert found["swapped_pairs"].tolist() == wo.cross_validate(wo.RankSVM(), X, y)["swapped_pairs"].tolist()
    with pytest.warns(UserWarning, match="rows of groups are labelled otherwise"):
        wo.RankSVM().fit(X, y, groups=pd.Series(np.repeat(np.arange(8), 5), index))


@pytest.mark.parametrize("more", [{"methods": ["ridge"]}, ["ridge"]])
def test_compare_of_x_and_y_and_methods_says_what_to_write(more):
    X, y = pd.DataFrame(WINES), pd.Series(GRADE, name="quality")
    with pytest.raises(TypeError, match=r"wo.read\(X.assign\(quality=y\), target='quality'\)"):
        wo.compare(X, y, **more) if isinstance(more, dict) else wo.compare(X, y, more)


def test_compare_says_what_is_wrong_with_the_methods():
    frame = pd.DataFrame(WINES).assign(quality=GRADE)
    with pytest.raises(ValueError, match="there is no method 'ranksvm'; did you mean 'rank-svm'"):
        wo.compare(frame, ["ranksvm", "ridge"], target="quality")
    for estimators in ([wo.RankSVM()], {"mine": wo.RankSVM()}):
        with pytest.raises(TypeError, match=r"this is a RankSVM; .* wo.cross_validate\(estimator, X, y\)"):
            wo.compare(frame, estimators, target="quality")
    with pytest.raises(TypeError, match="name it as group='query'"):
        wo.compare(frame, ["ridge"], target="quality", groups="query")


@pytest.mark.parametrize("groups", [10, "query"])
def test_what_is_no_column_of_groups_is_named(groups):
    with pytest.raises(ValueError, match=f"one id a row, such as .* and is {groups!r}"):
        wo.metrics.ndcg([0, 1, 2], [1.0, 2.0, 3.0], groups)


def test_sizes_of_lists_are_told_from_groups():
    with pytest.raises(ValueError, match=r"10 entries for 60 rows; .* np.repeat\(np.arange\(len\(groups\)\), groups\)"):
        wo.RankSVM().fit(np.zeros((60, 2)), np.arange(60), groups=[6] * 10)
    with pytest.raises(ValueError, match=r"10 entries for 60 rows; give one id a row$"):
        wo.RankSVM().fit(np.zeros((60, 2)), np.arange(60), groups=[5] * 10)


def test_scores_of_two_lengths_are_no_pair():
    with pytest.raises(ValueError, match=r"first and second have shapes \(2,\) and \(3,\)"):
        wo.metrics.paired_test([0, 1, 2], [1.0, 2.0], [1.0, 2.0, 3.0])


def test_rate_of_a_frame_says_how_to_read_it():
    with pytest.raises(TypeError, match=r"not DataFrame; of a data frame, wo.read\(frame, left="):
        wo.rate(pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "won": ["x", "y"]}))
