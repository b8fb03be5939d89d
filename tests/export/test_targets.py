"""Whatever is written gives the model's scores: in the runtime itself where it is installed, else by another reader."""

from __future__ import annotations

import json
import sqlite3
import sys
import warnings
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, example, given, settings, strategies as st
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import wellorder as wo
from tests.persistence.small_models import Small
from wellorder.data import TableRanker
from wellorder.export import TARGETS, ExportError, Form, form_of, forms
from wellorder.export.exporting import count_swapped
from wellorder.export.one_kind import linear_of, trees_of
from wellorder.export.sampling import sample_rows
from wellorder.export.solr import before_slack
from wellorder.export.xgboost import above, below
from wellorder.spaces import Forest

ENGINES = ("solr", "elasticsearch", "opensearch", "ranklib")
REASONS = {
    "onnx": (),
    "lightgbm": ("kernels or bumps", "no sum of functions", "holds trees alone"),
    "xgboost": ("kernels or bumps", "no sum of functions", "written for trees", "into sets"),
    "sql": ("kernels or bumps", "no sum of functions"),
    **dict.fromkeys(ENGINES, ("kernels or bumps", "no sum of functions", "into sets", "weights are zero", "RankLib")),
    "mlflow": (),
}
"""What targets may say of a model that has a form."""

OF_FORMS = "ranks lists", "precomputed", "without names", "none of wellorder's"


@pytest.fixture(scope="module")
def gappy() -> tuple[Any, Any]:
    """Trees over a table with gaps and categories, and its rows."""
    rng = np.random.default_rng(0)
    n = 400
    frame = pl.DataFrame(
        {
            "ph": np.where(rng.random(n) < 0.2, np.nan, rng.normal(3.0, 0.3, n)),
            'a "hard" name': rng.standard_normal(n),
            "colour": rng.choice(["red", "white", "ro'sé", "other"], n).tolist(),
            "grade": rng.integers(0, 4, n),
        }
    ).with_columns(pl.col("ph").fill_nan(None), pl.when(pl.col("grade") > 0).then("colour").alias("colour"))
    trees = wo.OrderBoost(learner="tree", n_estimators=30, min_samples_leaf=5)
    return TableRanker(trees, target="grade").fit(frame), frame


@pytest.mark.parametrize("to", sorted(REASONS))
def test_every_model_is_written_or_refused_with_the_reason(models: list[Small], to: str, tmp_path: Any) -> None:
    refused: dict[str, str] = {}
    for number, small in enumerate(models):
        try:
            found = wo.export(small.model, tmp_path / f"model{number}", to)
        except ExportError as error:
            refused[small.name] = str(error)
            continue
        assert found.difference <= (1e-6 if TARGETS[to].is_single else 1e-12) * found.range, small.name
        assert found.same_order or TARGETS[to].is_single, small.name
        assert found.n_rows == 1_000 or found.n_rows == len(small.rows)
    for name, reason in refused.items():
        assert any(known in reason for known in (*REASONS[to], *OF_FORMS)), (name, reason)
    assert len(models) - len(refused) >= 5


@pytest.mark.parametrize("to", ["onnx", "lightgbm", "sql", "mlflow"])
def test_gaps_and_categories_go_their_ways(gappy: Any, to: str, tmp_path: Any) -> None:
    model, frame = gappy
    made = wo.export(model, tmp_path / "made", to)
    given_rows = wo.export(model, tmp_path / "given", to, check=frame)
    assert made.difference <= 1e-12
    assert given_rows.difference <= 1e-12
    assert given_rows.n_rows == len(frame)
    rows = sample_rows(form_of(model))
    assert any(value is None for value in rows["colour"])
    assert "no such category" in rows["colour"]
    assert np.isnan(rows["ph"]).any()


def test_a_linear_model_of_a_table_fills_and_flags_in_every_engine(gappy: Any, tmp_path: Any) -> None:
    _, frame = gappy
    model = TableRanker(wo.RankSVM(), target="grade").fit(frame)
    for to in ("solr", "elasticsearch", "sql"):
        found = wo.export(model, tmp_path / f"model.{to}", to, check=frame)
        assert found.difference <= 1e-6 * found.range
    store = json.loads((tmp_path / "model.features.solr").read_text())
    by_name = {entry["name"]: entry["params"] for entry in store}
    assert by_name["ph"]["defaultValue"] == pytest.approx(frame["ph"].mean())
    assert by_name["colour=ro'sé"] == {"fq": ["{!term f=colour}ro'sé"]}
    assert by_name['a "hard" name']["field"] == 'a "hard" name'
    assert by_name["ph is missing"] == {"fq": ["*:* -ph:[* TO *]"]}


def test_a_mean_that_single_precision_rounds_is_made_up_for(tmp_path: Any) -> None:
    X = 129.03 + 0.0625 * np.random.default_rng(0).standard_normal((50, 1))
    model = make_pipeline(StandardScaler(), wo.RidgeRanker()).fit(X, X[:, 0])
    rows = X.astype(np.float32).astype(float)
    for to in ("solr", "elasticsearch"):
        found = wo.export(model, tmp_path / to, to, check=rows)
        assert found.difference <= 1e-6 * found.range


def random_trees(seed: int, holes: bool, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((150, n_columns)) * 10.0 ** rng.integers(-3, 4), 3)
    if holes:
        X[rng.random(X.shape) < 0.2] = np.nan
    model = wo.BoostedTrees(n_estimators=8, min_samples_leaf=3).fit(X, rng.integers(0, 4, 150))
    return model, X


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10_000),
    holes=st.booleans(),
    rows=st.lists(
        st.tuples(*[st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, -0.0, 3e37, -3e37])] * 2), min_size=1
    ),
)
def test_any_trees_and_any_rows(seed: int, holes: bool, rows: list[Any], tmp_path: Any) -> None:
    model, X = random_trees(seed, holes, 2)
    check = np.vstack([np.array(rows), X[:20]])
    for to in ("lightgbm", "xgboost", "sql"):
        target = TARGETS[to]
        given_rows = np.where(np.abs(check) <= target.nothing, 0.0, check)
        given_rows = given_rows.astype(np.float32).astype(float) if target.is_single else given_rows
        found = wo.export(model, tmp_path / to, to, check=given_rows)
        assert found.difference <= (1e-6 if target.is_single else 1e-12) * max(found.range, 1.0)
    plain = np.nan_to_num(check).astype(np.float32).astype(float)
    plain[np.abs(plain) <= 1e-6] = 0.0
    for to in ENGINES:
        assert wo.export(model, tmp_path / to, to, check=plain).difference <= 1e-5


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    weights=st.lists(st.integers(-1_000, 1_000).map(lambda each: each / 8), min_size=1, max_size=4),
    scales=st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=4),
    means=st.lists(st.floats(-5.0, 5.0), min_size=4, max_size=4),
)
def test_any_linear_model_and_any_rows(weights: Any, scales: Any, means: Any, tmp_path: Any) -> None:
    d = len(weights)
    rng = np.random.default_rng(0)
    X = np.array(scales[:d]) * (np.array(means[:d]) + rng.standard_normal((30, d)))
    pipe = make_pipeline(SimpleImputer(), StandardScaler(), wo.RidgeRanker()).fit(X, np.arange(30) % 3)
    pipe[-1].coef_ = np.array(weights)
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    for to in ("sql", "solr", "elasticsearch"):
        if not any(weights) and to in ENGINES:
            continue
        for rows in (None, holes):
            single = rows is not None and TARGETS[to].is_single
            found = wo.export(pipe, tmp_path / to, to, check=rows.astype(np.float32).astype(float) if single else rows)
            assert found.difference <= (1e-5 if TARGETS[to].is_single else 1e-9) * found.range


@settings(max_examples=200, deadline=None)
@given(
    threshold=st.floats(-1e30, 1e30) | st.floats(-1e-5, 1e-5),
    steps=st.integers(-3, 3),
)
def test_thresholds_part_the_same_numbers_of_single_precision(threshold: float, steps: int) -> None:
    x = np.float32(threshold)
    for _ in range(abs(steps)):
        x = np.nextafter(x, np.float32(np.inf * np.sign(steps)))
    goes_left = float(x) <= threshold
    assert goes_left == bool(x <= below(threshold)) == bool(x < above(threshold))


@settings(max_examples=200, deadline=None)
@given(threshold=st.floats(-1e30, 1e30) | st.floats(-1e-5, 1e-5))
@example(threshold=-7.531306033155834e-06)  # a millionth below it numbers lie half as dense
@example(threshold=1e-6)  # what is written is next to zero, where a step is 10⁻⁴⁵
def test_what_solr_makes_of_a_threshold_is_the_largest_number_that_it_can(threshold: float) -> None:
    slack, wanted, written = np.float32(1e-6), below(threshold), np.float32(before_slack(threshold))
    made = np.float32(written + slack)
    assert made <= wanted
    assert np.float32(np.nextafter(written, np.float32(np.inf)) + slack) > wanted
    assert float(wanted) - float(made) <= 2.0 * float(np.spacing(np.maximum(abs(written), abs(made))))
    if threshold > 4e-6:
        assert made == wanted


@settings(max_examples=100, deadline=None)
@given(
    mean=st.floats(-1e6, 1e6),
    scale=st.floats(1e-3, 1e3),
    threshold=st.floats(-1e3, 1e3),
    steps=st.integers(-4, 4),
)
def test_a_threshold_behind_a_scaler_moves_to_where_the_same_numbers_go_left(
    mean: float, scale: float, threshold: float, steps: int
) -> None:
    from wellorder.export.one_kind import _boundary

    moves = (forms.Move("minus", mean), forms.Move("over", scale))
    found = _boundary(moves, threshold)
    x = found
    for _ in range(abs(steps)):
        x = float(np.nextafter(x, np.inf * np.sign(steps)))
    assert ((x - mean) / scale <= threshold) == (x <= found)


def test_trees_behind_scalers_and_fillers(tmp_path: Any) -> None:
    model, X = random_trees(3, holes=False, n_columns=3)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, len(X))
    for before in (StandardScaler(), MinMaxScaler()):
        pipe = make_pipeline(before, wo.BoostedTrees(n_estimators=8, min_samples_leaf=3)).fit(X, y)
        for to in ("lightgbm", "xgboost", "sql", "solr"):
            assert wo.export(pipe, tmp_path / to, to).difference <= 1e-5
    assert isinstance(model, wo.BoostedTrees)


def test_sums_of_linear_models_and_of_trees(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(200), [-0.5, 0.5])
    trees = [(f"t{k}", wo.BoostedTrees(n_estimators=5 + k, min_samples_leaf=5)) for k in range(2)]
    boost = ("steps", wo.RankBoost(n_estimators=5))
    lines = [("svm", make_pipeline(StandardScaler(), wo.RankSVM())), ("ridge", wo.RidgeRanker())]
    of_trees = wo.OrderEnsemble([*trees, boost], weights="equal").fit(X, y)
    of_lines = wo.OrderEnsemble(lines, weights="equal").fit(X, y)
    mixed = wo.OrderEnsemble([trees[0], lines[1]], weights="equal").fit(X, y)
    for to in ("lightgbm", "xgboost", "solr", "elasticsearch", "ranklib", "sql"):
        assert wo.export(of_trees, tmp_path / to, to).difference <= 1e-5
    learnt = wo.OrderBoost(learner=LinearRegression(), loss="squared", n_estimators=2, learning_rate=0.5).fit(X, y)
    shifted = replace(form_of(learnt).score, constant=1.0)
    assert isinstance(shifted, forms.Sum)
    parts = tuple(replace(part, constant=2.0) for part in shifted.parts if isinstance(part, forms.Term))
    shifted = replace(shifted, parts=parts)
    _, _, constant = linear_of(shifted)
    assert constant == pytest.approx(1.0 + 2.0 * sum(shifted.weights))
    for to in ("solr", "elasticsearch", "sql"):
        found = wo.export(of_lines, tmp_path / to, to)
        assert found.difference <= 1e-6 * found.range
    with pytest.raises(ExportError, match="no sum of both"):
        wo.export(mixed, tmp_path / "mixed.sql")


def test_what_lightgbm_reads_our_own_reader_reads(tmp_path: Any) -> None:
    model, X = random_trees(5, holes=True, n_columns=3)
    wo.export(model, tmp_path / "trees.txt", "lightgbm")
    forest = Forest.from_lightgbm((tmp_path / "trees.txt").read_text())
    np.testing.assert_allclose(forest.scores(X), model.decision_function(X), rtol=0, atol=1e-12)


def test_lightgbm_codes_the_categories_of_a_frame_as_the_file_says(gappy: Any, tmp_path: Any) -> None:
    model, frame = gappy
    wo.export(model, tmp_path / "trees.txt", "lightgbm")
    booster = lightgbm.Booster(model_file=str(tmp_path / "trees.txt"))
    theirs = pd.DataFrame({name: frame[name].to_list() for name in ("ph", 'a "hard" name')})
    theirs["colour"] = pd.Categorical(frame["colour"].to_list())
    theirs = theirs.set_axis(booster.feature_name(), axis=1)
    np.testing.assert_allclose(booster.predict(theirs), model.decision_function(frame), rtol=0, atol=1e-12)


def test_a_reader_of_xgboosts_file_agrees_with_xgboost(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xgboost")
    model, _ = random_trees(6, holes=True, n_columns=3)
    theirs = wo.export(model, tmp_path / "a.json", "xgboost")
    monkeypatch.setitem(sys.modules, "xgboost", None)
    ours = wo.export(model, tmp_path / "b.json", "xgboost")
    assert theirs.reader.startswith("XGBoost ")
    assert ours.reader == "a reader of the file's own"
    assert max(theirs.difference, ours.difference) <= 1e-6


def test_xgboost_takes_a_matrix_as_the_note_says(tmp_path: Any) -> None:
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4)).astype(np.float32)
    X[:, 1] = 2.0  # no tree looks at it, and the file has it all the same
    model = wo.OrderBoost(learner="tree", n_estimators=5, n_iter_no_change=None).fit(X, rng.integers(0, 3, 80))
    found = wo.export(model, tmp_path / "trees.json", "xgboost")
    assert any("feature_names=booster.feature_names" in note for note in found.notes)
    booster = xgboost.Booster(model_file=tmp_path / "trees.json")
    given = xgboost.DMatrix(X, feature_names=booster.feature_names)
    np.testing.assert_allclose(booster.predict(given, output_margin=True), model.decision_function(X), atol=1e-6)


def test_a_file_that_disagrees_is_not_kept(gappy: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = gappy

    def wrong(job: Any, path: Any) -> list[str]:
        features, trees, _ = trees_of(job.form.score)
        shifted = replace(trees, value=trees.value * (1.0 + 1e-6))
        bad = replace(job, form=replace(job.form, score=forms.Term(features, shifted)))
        return TARGETS["sql"].write(bad, path)

    monkeypatch.setitem(TARGETS, "bad", replace(TARGETS["sql"], name="bad", write=wrong))
    (tmp_path / "kept.sql").write_text("as it was")
    with pytest.raises(ExportError, match=r"SQLite .* scores row \d+ as .* nothing was written"):
        wo.export(model, tmp_path / "kept.sql", "bad")
    assert [path.name for path in tmp_path.iterdir()] == ["kept.sql"]
    assert (tmp_path / "kept.sql").read_text() == "as it was"


def test_an_engine_that_knows_no_missing_values_says_so(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    X[::3, 0] = np.nan
    model = wo.BoostedTrees(n_estimators=20, min_samples_leaf=3).fit(X, rng.integers(0, 4, 200))
    with pytest.raises(ExportError, match="knows no missing values: fill them in"):
        wo.export(model, tmp_path / "model.json", "solr", check=X)
    found = wo.export(model, tmp_path / "model.json", "solr")
    assert any("missing 'x0'" in note for note in found.notes)


def test_an_engine_of_single_precision_says_that_columns_lie_too_far_from_zero(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 2)) + 1e8, rng.integers(0, 3, 100)
    trees = wo.OrderBoost(learner="tree", n_estimators=5, n_iter_no_change=None).fit(X, y)
    with pytest.raises(ExportError, match=r"single precision, seven digits: .* subtract a number"):
        wo.export(trees, tmp_path / "trees.json", "solr", check=X)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("values", [[5.0, 6.0, 7.0, 8.0], [-8.0, -7.0, -6.0, -5.0], [-1.0, -0.5, 0.5, 1.0]])
@pytest.mark.parametrize("grade_of_missing", [0, 1])
def test_a_stand_in_goes_the_ways_of_a_missing_value(values: Any, grade_of_missing: int, tmp_path: Any) -> None:
    X = np.array([*values, np.nan, np.nan] * 20)[:, None]
    model = wo.BoostedTrees(n_estimators=3, min_samples_leaf=5, max_leaf_nodes=2)
    model.fit(X, [0, 0, 1, 1, grade_of_missing, grade_of_missing] * 20)
    for to in ("solr", "elasticsearch"):
        assert wo.export(model, tmp_path / to, to, check=X).difference <= 1e-6


HOSTILE = [
    'x" FROM items; DROP TABLE items; --',
    "</name>&<!--",
    "naïve 東京",
    "{!term f=x}*:*",
    "a'b\\",
    "score",
    "Score ",
]


def test_hostile_names_are_names_and_nothing_else(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.standard_normal(60) for name in HOSTILE} | {"grade": rng.integers(0, 3, 60)})
    frame = frame.with_columns(pl.Series("text", rng.choice(["it's", '"quoted"', "</x>", "a;b"], 60).tolist()))
    linear = TableRanker(wo.RankSVM(), target="grade").fit(frame)
    grown = TableRanker(wo.BoostedTrees(n_estimators=5, min_samples_leaf=3), target="grade").fit(frame)
    numbers = TableRanker(wo.BoostedTrees(n_estimators=5, min_samples_leaf=3), target="grade").fit(frame.drop("text"))
    for to in ("sql", "solr", "elasticsearch"):
        options = {"table": 'the "table"'} if to == "sql" else {}
        assert wo.export(linear, tmp_path / to, to, **options).difference <= 1e-5
    for to in ("sql", "lightgbm"):
        assert wo.export(grown, tmp_path / to, to).difference <= 1e-12
    for to in ("xgboost", *ENGINES):
        assert wo.export(numbers, tmp_path / to, to).difference <= 1e-5


def test_columns_that_a_database_does_not_take_are_refused_and_nothing_is_kept(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    grade = pl.Series("grade", rng.integers(0, 3, 60))
    same = pl.DataFrame({"a": rng.standard_normal(60), "A": rng.standard_normal(60)}).with_columns(grade)
    many = pl.DataFrame(rng.standard_normal((60, 2_001))).with_columns(grade)
    for frame, said in ((same, "duplicate column name"), (many, "too many")):
        model = TableRanker(wo.RankSVM(), target="grade").fit(frame)
        with pytest.raises(ExportError, match=f"SQLite, where it is checked, does not take its columns .*{said}"):
            wo.export(model, tmp_path / "m.sql")
    assert not list(tmp_path.iterdir())


def test_sql_tells_grades(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2))
    model = wo.SVOR(levels=["it's poor", "fair", "good"], C=10.0)
    model.fit(X, np.array(["it's poor", "fair", "good"])[np.digitize(X[:, 0], [-0.5, 0.5])])
    wo.export(model, tmp_path / "grades.sql", table="wines")
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE wines (x0 REAL, x1 REAL)")
        database.executemany("INSERT INTO wines VALUES (?, ?)", X.tolist())
        cursor = database.execute((tmp_path / "grades.sql").read_text())
        names, rows = [part[0] for part in cursor.description], cursor.fetchall()
    database.close()
    assert names == ["x0", "x1", "score", "grade"]
    found = np.array([row[:2] for row in rows])
    np.testing.assert_array_equal([row[3] for row in rows], model.predict(found))
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


def test_numbered_features_of_a_wide_matrix(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((80, 2_000_000), density=2e-6, rng=rng))
    X = sp.csr_array(sp.hstack([X, sp.csr_array(rng.standard_normal((80, 2)) * (rng.random((80, 2)) < 0.2))]))
    y = rng.integers(0, 3, 80)
    frame = wo.data.Table("wide", X, y)
    model = TableRanker(wo.RankSVM()).fit(frame)
    found = wo.export(model, tmp_path / "wide.sql")
    assert found.difference <= 1e-12
    assert wo.export(model, tmp_path / "wide.sql", check=X).n_rows == 80


def test_mlflow_reads_the_folder(gappy: Any, tmp_path: Any) -> None:
    import importlib

    model, frame = gappy
    wo.export(model, tmp_path / "folder", "mlflow")
    told = json.loads((tmp_path / "folder" / "MLmodel").read_text())["flavors"]["python_function"]
    loaded = importlib.import_module(told["loader_module"])._load_pyfunc(str(tmp_path / "folder" / told["data"]))
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    again = loaded.predict(frame, params={"method": "decision_function"})
    np.testing.assert_array_equal(again, model.decision_function(frame))
    with pytest.raises(ValueError, match="has no 'fit'"):
        loaded.predict(frame, params={"method": "fit"})
    with pytest.raises(ExportError, match="there already"):
        wo.export(model, tmp_path / "folder", "mlflow")


def test_mlflow_itself_reads_the_folder(gappy: Any, tmp_path: Any) -> None:
    pyfunc = pytest.importorskip("mlflow.pyfunc")
    model, frame = gappy
    wo.export(model, tmp_path / "folder", "mlflow")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = pyfunc.load_model(str(tmp_path / "folder"))
        found = loaded.predict(pd.DataFrame(frame.to_dict(as_series=False)))
    np.testing.assert_array_equal(found, model.predict(frame))


def test_what_cannot_be_exported_says_why_and_what_comes_near(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.integers(0, 3, 60)

    def refused(model: Any, to: str = "sql", **options: Any) -> str:
        with pytest.raises(ExportError) as caught:
            wo.export(model, tmp_path / "file", to, **options)
        assert not list(tmp_path.iterdir())
        return str(caught.value)

    linear = wo.RankSVM().fit(X, y)
    assert "ranks lists" in refused(wo.MultipleHyperplaneRanker().fit(X, y))
    assert "RankSVM or OrderBoost" in refused(wo.NestedRanker().fit(X, y))
    assert "to='mlflow'" in refused(wo.NestedRanker().fit(X, y))
    members = [("a", wo.RankSVM()), ("b", wo.RidgeRanker())]
    assert "combine='scores'" in refused(wo.OrderEnsemble(members, combine="borda", weights="equal").fit(X, y))
    assert "a kernel of your own" in refused(wo.RankSVM(kernel=lambda A, B: A @ B.T).fit(X, y))
    assert "onnx" in refused(wo.RankSVM(kernel="rbf").fit(X, y))
    assert "did you mean" in refused(linear, "slq")
    assert "is no option of 'sql'; it has table" in refused(linear, tables="x")
    assert "say to=" in _message(lambda: wo.export(linear, tmp_path / "model.bin"))
    assert "no folder" in _message(lambda: wo.export(linear, tmp_path / "none" / "model.sql"))
    idle = wo.RankSVM().fit(X, y)
    idle.coef_ = np.zeros(2)
    assert "all its weights are zero" in refused(idle, "solr")
    assert "no column 'x0'" in refused(linear, check=pl.DataFrame({"y0": [1.0]}))
    large = wo.BoostedTrees(n_estimators=400, max_leaf_nodes=60, min_samples_leaf=1).fit(
        rng.standard_normal((600, 2)), rng.standard_normal(600)
    )
    assert "which databases refuse" in refused(large)


def _message(act: Any) -> str:
    with pytest.raises(ExportError) as caught:
        act()
    return str(caught.value)


def test_the_parity_tells_what_it_found(tmp_path: Any) -> None:
    X = np.arange(12.0).reshape(6, 2)
    model = wo.RankSVM().fit(X, [0, 0, 1, 1, 2, 2])
    found = wo.export(model, tmp_path / "a.sql", check=X)
    assert found.files == (str(tmp_path / "a.sql"),)
    assert found.range == pytest.approx(np.ptp(model.decision_function(X)))
    assert str(found).startswith("checked on 6 rows by SQLite")
    assert str(found).endswith("the order is the same")
    assert count_swapped(np.array([1.0, 2.0, 3.0, 3.0]), np.array([1.0, 0.5, 7.0, 6.0])) == 1


def test_a_sample_meets_thresholds_and_their_neighbours() -> None:
    model, _ = random_trees(8, holes=True, n_columns=1)
    form: Form = form_of(model)
    rows = sample_rows(form, 4_000)[:, 0]
    thresholds = model.pieces_["threshold"][model.pieces_["left"] >= 0]
    assert np.isin(thresholds, rows).mean() > 0.9
    assert np.isin(np.nextafter(thresholds, np.inf), rows).mean() > 0.9
    assert np.isnan(rows).any()
    np.testing.assert_array_equal(sample_rows(form), sample_rows(form))
