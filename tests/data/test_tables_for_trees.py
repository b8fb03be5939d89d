"""Tables with gaps and text, as trees take them: through TableRanker, model files, explanations and Dask."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import TableEncoder, TableRanker, read, read_for
from wellorder.evaluation import importance

TREES = wo.OrderBoost(learner="tree", n_estimators=15)


def cars(n=500, seed=0):
    rng = np.random.default_rng(seed)
    make = rng.choice(["ford", "opel", "saab", "fiat", "vw"], n).astype(object)
    worth = {"ford": 0, "opel": 3, "saab": -2, "fiat": 2, "vw": -3}
    power = rng.normal(100, 20, n)
    y = np.digitize(np.array([worth[each] for each in make]) + power / 20, [2, 4, 6, 8])
    make[rng.random(n) < 0.1] = None
    power[rng.random(n) < 0.2] = np.nan
    return pl.DataFrame({"make": make.tolist(), "power": power, "same": np.ones(n), "grade": y})


def test_the_encoder_leaves_numbers_and_numbers_categories():
    frame = pl.DataFrame({"ph": [3.0, None, 3.4], "one": ["a", "a", "a"], "colour": ["red", None, "white"]})
    encoder = TableEncoder(for_trees=True).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["ph", "colour"]
    assert encoder.category_places() == [1]
    assert encoder.widths() == [1, 0, 1]
    np.testing.assert_array_equal(encoder.transform(frame), [[3.0, 0.0], [np.nan, np.nan], [3.4, 1.0]])
    with pytest.warns(UserWarning, match=r"column 'colour' has the value 'rosé' .* it counts as missing in 1 row"):
        other = encoder.transform(pl.DataFrame({"ph": [1e9], "one": ["b"], "colour": ["rosé"]}))
    np.testing.assert_array_equal(other, [[1e9, np.nan]])
    with pytest.raises(ValueError, match="column 'ph' is inf here"):
        encoder.transform(pl.DataFrame({"ph": [np.inf], "one": ["a"], "colour": ["red"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing value needs no word, even where training had none
        full = TableEncoder(for_trees=True).fit(frame[[0, 2]])
        assert np.isnan(full.transform(frame)[1]).all()


@pytest.mark.parametrize("kind", ["polars", "polars categorical", "pandas", "pandas categorical"])
def test_frames_of_every_kind_become_the_same(kind):
    frame = cars()
    plain = TableRanker(TREES, target="grade").fit(frame)
    assert plain.encoder_.for_trees
    assert plain.ranker_.get_params()["categories"] == [0]
    assert list(plain.ranker_.categories_) == [0]
    if kind == "polars categorical":
        frame = frame.with_columns(pl.col("make").cast(pl.Categorical))
    elif kind.startswith("pandas"):
        frame = pd.DataFrame(frame.to_dict(as_series=False))
        if kind == "pandas categorical":
            frame["make"] = pd.Categorical(frame["make"])
    other = TableRanker(TREES, target="grade").fit(frame)
    assert np.array_equal(other.decision_function(frame), plain.decision_function(cars()))


def test_a_file_keeps_it_to_the_bit(tmp_path):
    frame = cars()
    model = TableRanker(TREES, target="grade").fit(frame)
    wo.save(model, tmp_path / "cars.wo")
    again = wo.load(tmp_path / "cars.wo")
    strange = pl.concat([cars(seed=1), pl.DataFrame({"make": ["lada"], "power": [None], "same": [2.0], "grade": [1]})])
    with pytest.warns(UserWarning, match="'lada'"):
        scores = model.decision_function(strange)
    with pytest.warns(UserWarning, match="'lada'"):
        assert np.array_equal(again.decision_function(strange), scores)
    gone = strange.with_columns(make=pl.when(pl.col("make") == "lada").then(None).otherwise(pl.col("make")))
    assert np.array_equal(model.decision_function(gone), scores)


def test_linear_models_have_the_columns_that_they_had():
    model = TableRanker(wo.RankSVM(), target="grade").fit(cars())
    assert not model.encoder_.for_trees
    assert "power is missing" in model.encoder_.get_feature_names_out()


def test_columns_of_a_ranker_go_by_their_names_in_the_table():
    frame = cars().with_columns(code=pl.Series(np.random.default_rng(0).integers(0, 5, 500)))
    model = TableRanker(wo.OrderBoost(learner="tree", n_estimators=5, categories=["code"]), target="grade").fit(frame)
    assert model.ranker_.get_params()["categories"] == [0, 2]
    with pytest.raises(ValueError, match="'cod', which the table has not"):
        TableRanker(wo.OrderBoost(learner="tree", categories=["cod"]), target="grade").fit(frame)


def test_a_column_of_text_that_must_rise_is_named():
    ranker = TableRanker(wo.OrderBoost(learner="tree", monotone={"make": 1}), target="grade")
    with pytest.raises(ValueError, match="names the column 'make', which holds text"):
        ranker.fit(cars(60))


def test_explanations_add_up_and_go_by_the_tables_columns():
    frame = cars()
    model = TableRanker(TREES, target="grade").fit(frame)
    scores = model.decision_function(frame)
    table = model.encoder_.transform(frame)
    assert np.isnan(table[:20]).any()
    for a, b in ((0, 7), (1, 2), (3, 11)):
        found = wo.explain(model, a, b, items=frame)
        assert found.how.startswith("exact")
        total = sum(each.contribution for each in found.contributions)
        assert total == pytest.approx(scores[a] - scores[b], abs=1e-9)
        assert {each.feature for each in found.contributions} <= {"make", "power", "same"}
        mixed = [table[a], table[b]]
        by_hand = []
        for k in range(2):  # of two players a Shapley value is the mean of two gains
            other = 1 - k
            rows = np.array([mixed[0], mixed[1], mixed[1], mixed[0]])
            rows[1, k], rows[3, k] = mixed[0][k], mixed[1][k]
            alone = model.ranker_.decision_function(rows)
            by_hand.append(0.5 * (alone[1] - alone[2] + alone[0] - alone[3]))
            assert other in (0, 1)
        told = {each.feature: each.contribution for each in found.contributions}
        np.testing.assert_allclose([told["make"], told["power"]], by_hand, atol=1e-9)


def test_importance_exchanges_whole_columns():
    frame = cars()
    model = TableRanker(TREES, target="grade").fit(frame)
    found = importance(model, read(frame, target="grade"), n_repeats=2)
    drops = {each.feature: each.drop for each in found.columns} if hasattr(found, "columns") else None
    assert drops is None or drops["make"] > 0.1


def test_methods_are_compared_each_on_the_columns_that_it_takes():
    board = wo.compare(read(cars(300), target="grade"), methods=["rank-svm", "order-boost", "lightgbm"], n_folds=3)
    problems = [record.problem for record in board.records]
    assert problems == [None] * len(problems)


def test_dask_scores_partitions_as_rows_in_one_place(tmp_path, monkeypatch):
    dask = pytest.importorskip("dask")
    from wellorder.data.partitions import read_partitions_for

    frame = cars()
    model = TableRanker(TREES, target="grade").fit(frame)
    for part in range(2):
        frame[250 * part : 250 * part + 250].write_parquet(tmp_path / f"part-{part}.parquet")
    with dask.config.set(scheduler="synchronous"):
        parts = read_partitions_for(model, [str(tmp_path / "part-*.parquet")])
        assert np.array_equal(model.decision_function(parts), model.decision_function(frame))
        X, y = model.encoder_.transform(frame), frame["grade"].to_numpy()
        ranker = wo.OrderBoost(learner="tree", n_estimators=5, categories=[0]).fit(X, y)
        import dask.array as da

        lazy = ranker.decision_function(da.from_array(X, chunks=(200, 1)))
        assert np.array_equal(np.asarray(lazy), ranker.decision_function(X))
        with pytest.raises(ValueError, match="infinity"):
            np.asarray(ranker.decision_function(da.from_array(np.where(np.isnan(X), np.inf, X), chunks=(200, 2))))


def test_the_command_line_needs_no_word_for_gaps_and_text(tmp_path):
    frame = cars()
    frame.write_csv(tmp_path / "cars.csv")
    table = read(tmp_path / "cars.csv", target="grade")
    model = TableRanker(TREES).fit(table)
    assert model.encoder_.for_trees
    assert model.ranker_.score(model.encoder_.transform(table), table.y) > 0.9
    again = read_for(model, tmp_path / "cars.csv")
    assert np.array_equal(model.decision_function(again), model.decision_function(table))
