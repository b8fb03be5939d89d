"""TableRanker: the encoder and the ranker as one model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import wellorder as wo
from wellorder.data import Table, TableEncoder, TableRanker, read

from .files import games, put, table


def wines(n: int = 60, **columns) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    ph, colour = rng.normal(3, 0.2, n), rng.choice(["red", "white"], n)
    quality = np.round(5 + 4 * (ph - 3) + (colour == "red") + rng.normal(0, 0.3, n))
    return pl.DataFrame({"ph": ph, "colour": colour, "list": rng.integers(0, 4, n), "quality": quality, **columns})


@pytest.fixture
def graded(tmp_path) -> Table:
    return table(tmp_path, wines().write_csv(), target="quality", group="list")


def test_equals_encoder_and_ranker(graded):
    model = TableRanker(wo.RankSVM(C=1)).fit(graded)
    X = TableEncoder().fit_transform(graded)
    plain = wo.RankSVM(C=1).fit(X, graded.y, groups=graded.groups)
    assert (model.decision_function(graded) == plain.decision_function(X)).all()
    assert (model.predict(graded) == plain.decision_function(X)).all()
    assert model.spread_ == pytest.approx(plain.decision_function(X).std())
    assert (model.supervision_, model.items_, model.resolution_) == ("grades", None, None)
    assert (model.target_, model.group_) == ("quality", "list")


def test_weights_reach_the_ranker(tmp_path):
    text = wines().with_columns(pl.Series("w", np.arange(1, 61))).write_csv()
    found = table(tmp_path, text, target="quality", weight="w")
    model = TableRanker(wo.RankSVM()).fit(found)
    X = model.encoder_.transform(found)
    assert (model.ranker_.coef_ == wo.RankSVM().fit(X, found.y, sample_weight=found.weights).coef_).all()
    with pytest.raises(ValueError, match="PolynomialFeatures takes no sample_weight; leave the weights out"):
        TableRanker(make_pipeline(PolynomialFeatures())).fit(found)


def test_pipelines_and_other_rankers(graded):
    model = TableRanker(make_pipeline(PolynomialFeatures(2), wo.RankSVM())).fit(graded)
    X = PolynomialFeatures(2).fit_transform(TableEncoder().fit_transform(graded))
    plain = wo.RankSVM().fit(X, graded.y, groups=graded.groups)
    np.testing.assert_allclose(model.decision_function(graded), plain.decision_function(X))
    with pytest.warns(UserWarning, match="Ridge takes no groups"):
        assert TableRanker(Ridge()).fit(graded).decision_function(graded).shape == (60,)
    with pytest.warns(UserWarning, match="GridSearchCV takes no groups"):
        TableRanker(GridSearchCV(Ridge(), {"alpha": [1.0]})).fit(graded)


def test_groups_and_weights_reach_what_learns_wherever_it_is(tmp_path):
    """Bare, in a pipeline, in a pipeline of another, or in a search; with metadata routing on, too."""
    text = wines(w=np.arange(1, 61)).write_csv()
    found = table(tmp_path, text, target="quality", group="list", weight="w")
    with sklearn.config_context(enable_metadata_routing=True):
        asks = wo.RankSVM().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    expected = TableRanker(wo.RankSVM()).fit(found).decision_function(found)
    scaled = TableRanker(make_pipeline(StandardScaler(), wo.RankSVM())).fit(found).decision_function(found)
    nested = make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), wo.RankSVM()))
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            searched = TableRanker(GridSearchCV(asks, {"C": [asks.C]})).fit(found).decision_function(found)
            np.testing.assert_allclose(searched, expected, rtol=1e-12)
            for model in (make_pipeline(StandardScaler(), wo.RankSVM()), nested):
                again = TableRanker(model).fit(found).decision_function(found)
                np.testing.assert_allclose(again, scaled, rtol=1e-6)


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_data_frames(graded, kind):
    frame = wines() if kind == "polars" else pd.DataFrame(wines().to_dict(as_series=False))
    model = TableRanker(wo.RankSVM(), target="quality", group="list").fit(frame)
    expected = TableRanker(wo.RankSVM()).fit(graded)
    np.testing.assert_allclose(model.decision_function(frame), expected.decision_function(graded), rtol=1e-9)
    assert (model.target_, model.group_) == ("quality", "list")


def test_frames_need_a_target():
    with pytest.raises(ValueError, match="target="):
        TableRanker(wo.RankSVM()).fit(wines())
    with pytest.raises(ValueError, match="did you mean 'quality'"):
        TableRanker(wo.RankSVM(), target="qualty").fit(wines())
    with pytest.raises(TypeError, match="fit takes a table, a data frame or a list of dicts"):
        TableRanker(wo.RankSVM(), target="a").fit(np.zeros((2, 2)))


def test_levels(tmp_path):
    text = "a,grade\n1,poor\n2,fair\n3,good\n4,good\n"
    found = table(tmp_path, text, target="grade", levels=["poor", "fair", "good"])
    model = TableRanker(wo.RankSVM()).fit(found)
    assert model.levels_ == ["poor", "fair", "good"]
    assert model.ranker_.levels == ["poor", "fair", "good"]
    assert "levels: poor < fair < good" in model.describe()
    with pytest.raises(ValueError, match="declare them once"):
        TableRanker(wo.RankSVM(levels=["good", "fair", "poor"])).fit(found)
    ordered = pd.DataFrame(
        {"a": [1, 2, 3, 4], "grade": pd.Categorical(["x", "y", "z", "z"], ["z", "x", "y"], ordered=True)}
    )
    assert TableRanker(wo.RankSVM(), target="grade").fit(ordered).levels_ == ["z", "x", "y"]


def test_tables_without_grades(tmp_path):
    with pytest.raises(ValueError, match="read without grades"):
        TableRanker(wo.RankSVM()).fit(table(tmp_path, "a,b\n1,2\n3,4\n"))


GAMES = "left,right,outcome\nAnna,Ben,>\nBen,Carl,>\nCarl,Dora,>\nAnna,Dora,>\n"
ITEMS = "name,height,town\nAnna,1.9,X\nBen,1.8,Y\nCarl,1.7,X\nDora,1.6,Y\n"


def test_comparisons_by_name(tmp_path):
    found = games(tmp_path, GAMES)
    model = TableRanker(wo.RankSVM()).fit(found)
    assert model.encoder_ is None
    assert model.items_ == ["Anna", "Ben", "Carl", "Dora"]
    scores = model.decision_function(found)
    plain = wo.RankSVM().fit(np.eye(4), found.comparisons)
    np.testing.assert_allclose(scores, plain.decision_function(np.eye(4)), atol=1e-6)
    assert (np.diff(scores) < 0).all()
    assert (model.decision_function(["Dora", "Anna", "Dora"]) == scores[[3, 0, 3]]).all()
    assert (model.predict(pl.DataFrame({"id": ["Ben"]})) == scores[1]).all()
    listed = table(tmp_path, "who\nCarl\nBen\n", item="who")
    assert (model.decision_function(listed) == scores[[2, 1]]).all()
    with pytest.raises(ValueError, match=r"row 0: the item 'Ana'.* did you mean 'Anna'\?"):
        model.decision_function(["Ana"])
    with pytest.raises(ValueError, match="item="):
        model.decision_function(table(tmp_path, "who\nCarl\n"))
    assert "items: 4" in model.describe()


def test_comparisons_of_described_items(tmp_path):
    found = games(tmp_path, GAMES, items=put(tmp_path, ITEMS, "items.csv"))
    model = TableRanker(wo.RankSVM()).fit(found)
    X = TableEncoder().fit_transform(found.items)
    assert (model.decision_function(found) == wo.RankSVM().fit(X, found.comparisons).decision_function(X)).all()
    assert model.items_ is None
    assert model.supervision_ == "comparisons"
    alone = model.decision_function(pl.DataFrame({"height": [1.7], "town": ["X"]}))
    np.testing.assert_allclose(alone, model.decision_function(found)[2], rtol=1e-12)


def test_letor(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.integers(3)} qid:{q} 1:{rng.random():.3f} 7:{rng.random():.3f}\n" for q in range(5) for _ in range(6)
    ]
    found = table(tmp_path, "".join(rows), "t.txt")
    model = TableRanker(wo.RankSVM()).fit(found)
    assert np.isfinite(model.decision_function(found)).all()
    assert model.encoder_.get_feature_names_out().tolist() == ["1", "7"]


def test_describe_and_clone(graded):
    model = TableRanker(wo.RankSVM(), target="quality").fit(graded)
    assert model.describe().splitlines()[:4] == [
        "RankSVM fitted on grades",
        "features: 3 from 2 columns",
        "target: quality",
        "group: list",
    ]
    assert not hasattr(clone(model), "ranker_")


@pytest.mark.parametrize("kind", ["grades", "names", "items"])
def test_saved_and_loaded(tmp_path, graded, kind):
    if kind == "grades":
        data = graded
    else:
        data = games(tmp_path, GAMES, items=None if kind == "names" else put(tmp_path, ITEMS, "items.csv"))
    model = TableRanker(wo.RankSVM()).fit(data)
    model.resolution_ = (np.array([0.0, 1.0]), np.array([0.5, 0.9]))
    wo.save(model, tmp_path / "m.wo")
    again = wo.load(tmp_path / "m.wo")
    assert (again.decision_function(data) == model.decision_function(data)).all()
    assert again.describe() == model.describe()
    assert again.spread_ == model.spread_


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("supervision_", "guesses"),
        ("ranker_", None),
        ("ranker_", [1]),
        ("encoder_", None),
        ("encoder_", "x"),
        ("target_", 3),
        ("levels_", "abc"),
        ("spread_", "wide"),
        ("spread_", float("nan")),
        ("spread_", float("inf")),
        ("spread_", -1.0),
        ("resolution_", (1, 2)),
        ("resolution_", (np.zeros(2), np.zeros(3))),
        ("resolution_", (np.array([0.0, np.nan]), np.array([0.5, 0.9]))),
        ("resolution_", (np.array([0.0, np.inf]), np.array([0.5, 0.9]))),
        ("resolution_", (np.array([1.0, 0.0]), np.array([0.5, 0.9]))),
        ("resolution_", (np.array([0.0, 1.0]), np.array([0.5, np.nan]))),
        ("resolution_", (np.array([0.0, 1.0]), np.array([0.5, 1.5]))),
    ],
)
def test_unsound_state_is_refused_on_loading(tmp_path, graded, name, value):
    model = TableRanker(wo.RankSVM()).fit(graded)
    setattr(model, name, value)
    wo.save(model, tmp_path / "m.wo")
    with pytest.raises(ValueError, match=r"stored TableRanker is not sound"):
        wo.load(tmp_path / "m.wo")


def test_items_named_twice_are_refused_on_loading(tmp_path):
    model = TableRanker(wo.RankSVM()).fit(games(tmp_path, GAMES))
    model.items_ = ["Anna", "Ben", "Carl", "Anna"]
    wo.save(model, tmp_path / "m.wo")
    with pytest.raises(ValueError, match="items_: two of its names are the same"):
        wo.load(tmp_path / "m.wo")


def test_reading_fitting_and_predicting_another_file(tmp_path, graded):
    model = TableRanker(wo.RankSVM()).fit(graded)
    new = read(put(tmp_path, "colour,ph\nred,3.5\nwhite,2.5\n", "new.csv"))
    scores = model.decision_function(new)
    assert scores[0] > scores[1]
