"""Models of comparisons asked about pairs: outcomes, differences and probabilities, in the file's own signs."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from wellorder.data import DataError, PairTable, TableRanker, pairs_of, prediction_frame, read_for

from .files import put

ITEMS = "name,height,town\nAnna,1.9,X\nBen,1.8,X\nCarl,1.6,Y\nDora,1.59,Y\n"
GAMES = [("Anna", "Ben", -1), ("Ben", "Carl", -1), ("Dora", "Anna", 1), ("Carl", "Dora", 0), ("Ben", "Dora", -1)]
SIGNS = [(">", "=", "<"), ("-1", "0", "1"), ("-1", "0", "+1"), ("-1.0", "0.0", "1.0"), ("−1", "0", "1")]


def games(tmp_path, signs=SIGNS[0], name="games.csv"):
    lines = [f"{left},{right},{signs[outcome + 1]}" for left, right, outcome in GAMES]
    return put(tmp_path, "left,right,outcome\n" + "\n".join(lines) + "\n", name)


@pytest.mark.parametrize("signs", SIGNS)
def test_signs_are_those_of_the_file(tmp_path, signs):
    table = wo.read(games(tmp_path, signs))
    assert table.signs == signs
    assert table.comparisons.outcome.tolist() == [outcome for _, _, outcome in GAMES]
    model = TableRanker(wo.CompareSVM(C=10.0)).fit(table)
    assert model.signs_ == signs
    asked = read_for(model, put(tmp_path, "left,right\nAnna,Ben\n", "pairs.csv"))
    assert isinstance(asked, PairTable)
    assert asked.signs == signs  # of the training file, as this one has none
    other = read_for(model, games(tmp_path, SIGNS[0], "other.csv"))
    assert other.signs == SIGNS[0]
    assert prediction_frame(other, [-1, 0, 1, 0, -1], np.zeros(5))["predicted"].to_list() == [">", "=", "<", "=", ">"]


def test_mixed_signs_are_those_of_most_lines(tmp_path):
    text = "left,right,outcome\na,b,<\nb,c,1\na,c,1\nc,d,0\n"
    assert wo.read(put(tmp_path, text)).signs == ("-1", "0", "1")


def test_outcomes_that_are_not_needed_are_not_looked_at(tmp_path):
    model = TableRanker(wo.CompareSVM(C=10.0)).fit(wo.read(games(tmp_path)))
    asked = read_for(model, put(tmp_path, "left,right,outcome\nAnna,Ben,\nBen,Dora,who knows\n", "open.csv"))
    assert len(asked) == 2
    with pytest.raises(DataError, match="line 2: the outcome is missing"):
        read_for(model, tmp_path / "open.csv", judged=True)


@pytest.mark.parametrize("described", [True, False])
def test_table_rankers_compare_as_their_rankers_do(tmp_path, described):
    items = put(tmp_path, ITEMS, "items.csv") if described else None
    table = wo.read(games(tmp_path), items=items)
    model = TableRanker(wo.CompareSVM(C=10.0, probability=True)).fit(table)
    X = model.encoder_.transform(table.items) if described else np.eye(4)
    pairs = wo.Pairs(X, table.comparisons.left, table.comparisons.right)
    for asked in (table, pairs_of(table)):
        np.testing.assert_allclose(model.compare(asked), model.ranker_.compare(pairs), atol=1e-12)
        assert model.predict(asked).tolist() == model.ranker_.predict(pairs).tolist()
        np.testing.assert_allclose(model.predict_proba(asked), model.ranker_.predict_proba(pairs), atol=1e-12)
    assert model.predict(table.items).tolist() == model.decision_function(table).tolist()
    wo.save(model, tmp_path / "m.wo")
    again = wo.load(tmp_path / "m.wo")
    assert again.predict_proba(table).tolist() == model.predict_proba(table).tolist()
    assert again.signs_ == SIGNS[0]


def test_names_go_their_own_way_in_another_file(tmp_path):
    model = TableRanker(wo.CompareSVM(C=10.0, probability=True)).fit(wo.read(games(tmp_path)))
    asked = read_for(model, put(tmp_path, "left,right\nDora,Ben\nBen,Anna\n", "pairs.csv"))
    scores = dict(zip(model.items_, model.decision_function(model.items_), strict=True))
    expected = [scores["Ben"] - scores["Dora"], scores["Anna"] - scores["Ben"]]
    assert model.compare(asked).tolist() == expected
    frame = pl.DataFrame({"left": ["Dora", "Ben"], "right": ["Ben", "Anna"]})
    assert model.compare(frame).tolist() == expected
    assert model.predict_proba(frame).tolist() == model.predict_proba(asked).tolist()
    assert (np.diff(model.predict_proba(asked)[:, [0, 2]], axis=1).ravel() > 0).tolist() == [d > 0 for d in expected]


def test_rankers_without_a_threshold_or_probabilities(tmp_path):
    table = wo.read(games(tmp_path))
    model = TableRanker(wo.RankSVM()).fit(table)
    assert model.predict(table).tolist() == np.sign(model.compare(table)).tolist()
    assert not hasattr(model, "predict_proba")
    assert not hasattr(TableRanker(wo.CompareSVM()), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as raised:
        model.predict_proba(table)
    assert "RankSVM gives no probabilities" in str(raised.value.__cause__)
    with pytest.raises(TypeError, match="this takes comparisons, got ndarray"):
        model.compare(np.zeros((2, 2)))


def test_ratings_go_by_name_whatever_is_known_of_the_items(tmp_path):
    items = put(tmp_path, ITEMS, "items.csv")
    described, plain = wo.read(games(tmp_path), items=items), wo.read(games(tmp_path))
    models = [TableRanker(wo.ratings.RatingRanker()).fit(table) for table in (described, plain)]
    assert [model.encoder_ for model in models] == [None, None]
    assert models[0].compare(plain) == pytest.approx(models[1].compare(described))
    np.testing.assert_allclose(models[0].predict_proba(described), models[1].predict_proba(plain))
    one_more = wo.read(put(tmp_path, ITEMS + "Emil,1.5,X\n", "more.csv"), item="name")
    with pytest.warns(UserWarning, match="'Emil' was never compared"):
        scores = models[0].decision_function(one_more)
    assert scores[-1] == models[0].ranker_.unseen_ == 0.0
    wo.save(models[0], tmp_path / "m.wo")
    assert wo.load(tmp_path / "m.wo").compare(plain).tolist() == models[0].compare(plain).tolist()


def test_an_older_file_has_no_signs(tmp_path):
    model = TableRanker(wo.CompareSVM(C=10.0)).fit(wo.read(games(tmp_path)))
    del model.signs_
    wo.save(model, tmp_path / "old.wo")
    asked = read_for(wo.load(tmp_path / "old.wo"), put(tmp_path, "left,right\nAnna,Ben\n", "pairs.csv"))
    assert asked.signs == ("-1", "0", "1")
    model.signs_ = ("<", "=", ">")  # the other way round
    wo.save(model, tmp_path / "bad.wo")
    with pytest.raises(ValueError, match="signs_"):
        wo.load(tmp_path / "bad.wo")
