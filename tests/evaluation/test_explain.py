"""``wo.explain``: contributions that add up, by the user's own columns, and plain words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

import wellorder as wo
from tests.reference import shapley
from wellorder.data import TableRanker
from wellorder.evaluation import Contribution, Explanation
from wellorder.evaluation.attribution import exact_values, sampled_values


def drawn(d=5, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n), [-1, 0, 1])


def by_feature(found):
    return {part.feature: part.contribution for part in found.contributions}


MODELS = {
    "linear": wo.RankSVM(),
    "rbf": wo.RankSVM(kernel="rbf"),
    "nystroem": wo.RankSVM(kernel="rbf", n_components=30, random_state=0),
    "bumps": wo.OrderBoost(n_estimators=20),
    "trees": wo.OrderBoost(learner="tree", n_estimators=20, max_leaf_nodes=8),
    "learner": wo.OrderBoost(learner=LinearRegression(), n_estimators=3),
    "boosted": wo.BoostedTrees(n_estimators=20, max_leaf_nodes=8),
    "steps": wo.RankBoost(n_estimators=20),
    "odds": wo.ProportionalOdds(),
    "svor": wo.SVOR(),
    "plug-in": wo.PlugInRanker(LogisticRegression()),
    "scaled trees": make_pipeline(StandardScaler(), wo.OrderBoost(learner="tree", n_estimators=10)),
    "polynomial": make_pipeline(PolynomialFeatures(2), wo.RidgeRanker()),
    "regression": LinearRegression(),
}


@pytest.mark.parametrize("name", MODELS)
def test_contributions_are_shapley_values_between_the_two_rows(name):
    X, y = drawn()
    model = MODELS[name].fit(X, y)
    found = wo.explain(model, X[0], X[1])
    f = model.decision_function if hasattr(model, "decision_function") else model.predict
    expected = shapley.by_sets(lambda x: float(f(x[None])[0]), X[0], X[1], range(5), 5)
    contribution = by_feature(found)
    np.testing.assert_allclose([contribution[f"x{k}"] for k in range(5)], expected, atol=1e-9)
    assert found.is_exact
    assert found.difference == float(f(X[:2])[0]) - float(f(X[:2])[1])
    assert sum(contribution.values()) == pytest.approx(found.difference, abs=1e-9)
    assert [abs(part.contribution) for part in found.contributions] == sorted(
        (abs(part.contribution) for part in found.contributions), reverse=True
    )


@pytest.mark.parametrize("name", MODELS)
def test_the_other_way_round_only_the_signs_change(name):
    X, y = drawn()
    model = MODELS[name].fit(X, y)
    there, back = by_feature(wo.explain(model, X[0], X[1])), by_feature(wo.explain(model, X[1], X[0]))
    for feature, contribution in there.items():
        assert contribution == pytest.approx(-back[feature], abs=1e-12)


def test_linear_contributions_are_weight_times_difference_exactly():
    X, y = drawn()
    model = wo.RankSVM().fit(X, y)
    found = by_feature(wo.explain(model, X[0], X[1]))
    assert [found[f"x{k}"] for k in range(5)] == (model.coef_ * (X[0] - X[1])).tolist()


def test_linear_models_on_sparse_and_wide_rows():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 3000), density=0.01, rng=rng, format="csr")
    y = np.arange(60) % 3
    for model in (wo.RankSVM(), wo.RankSVM(kernel="rbf"), wo.BoostedTrees(n_estimators=3, min_samples_leaf=2)):
        found = wo.explain(model.fit(X, y), 3, 4, items=X, n_orders=10)
        assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
        same = ~np.logical_or(X[[3]].toarray()[0], X[[4]].toarray()[0])
        assert all(by_feature(found)[f"x{k}"] == 0.0 for k in np.flatnonzero(same)[:50])


def test_estimates_add_up_and_are_within_their_errors():
    X, y = drawn(d=12)
    model = wo.RankSVM(kernel="rbf").fit(X, y)
    found = wo.explain(model, X[0], X[1], n_orders=100)
    assert not found.is_exact
    assert "100" in found.how
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)

    def value(mask):
        return model.decision_function(np.where(mask, X[0], X[1]))

    exact = exact_values(value, 12)
    for part in found.contributions:
        assert 0 < part.standard_error < 0.1
        assert abs(part.contribution - exact[int(part.feature[1:])]) < 5 * part.standard_error
    back = by_feature(wo.explain(model, X[1], X[0], n_orders=100))
    assert all(back[name] == pytest.approx(-value, abs=1e-12) for name, value in by_feature(found).items())
    again = wo.explain(model, X[0], X[1], n_orders=100)
    assert again == found != wo.explain(model, X[0], X[1], n_orders=100, random_state=1)
    assert " ± " in str(found)


def test_estimates_of_sums_over_columns_have_no_error():
    X, y = drawn(d=12)
    model = make_pipeline(PolynomialFeatures(1, include_bias=False), wo.RankSVM()).fit(X, y)
    found = wo.explain(model, X[0], X[1], n_orders=2)
    assert all(part.standard_error == 0 for part in found.contributions)
    plain = wo.explain(model[-1], X[0], X[1])
    assert by_feature(found) == pytest.approx(by_feature(plain), abs=1e-12)


def test_sampled_values_use_every_order_together_with_its_reverse():
    rng = np.random.default_rng(0)
    table = rng.standard_normal(8)

    def value(mask):
        return table[mask @ [1, 2, 4]]

    exact = exact_values(value, 3)
    expected = shapley.by_sets(lambda x: table[int(x @ [1, 2, 4])], np.ones(3), np.zeros(3), range(3), 3)
    np.testing.assert_allclose(exact, expected, atol=1e-12)
    means, errors = sampled_values(value, 3, 4000, np.random.default_rng(1))
    assert (np.abs(means - exact) < 5 * errors).all()
    assert means.sum() == pytest.approx(table[7] - table[0], abs=1e-12)


def wines(n=90, seed=0):
    rng = np.random.default_rng(seed)
    colour = rng.choice(["red", "white", "rosé"], n)
    ph = np.where(rng.random(n) < 0.1, np.nan, 3 + 0.3 * rng.standard_normal(n))
    sugar = rng.integers(1, 9, n)
    better = np.nan_to_num(ph - 3) + (colour == "red") - 0.1 * sugar + 0.3 * rng.standard_normal(n)
    frame = pl.DataFrame({"ph": ph, "sugar": sugar, "colour": colour, "same": [1] * n}, nan_to_null=True)
    return frame.with_columns(pl.Series("quality", np.digitize(better, [-0.5, 0.5])))


RANKERS = [wo.RankSVM(), wo.OrderBoost(learner="tree", n_estimators=10), wo.RankSVM(kernel="rbf"), wo.RankBoost()]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_contributions_are_those_of_the_tables_own_columns(ranker):
    frame = wines()
    model = TableRanker(ranker, target="quality").fit(frame)
    red = frame.with_row_index().filter(pl.col("colour") == "red", pl.col("ph").is_not_null())["index"][0]
    gap = frame.with_row_index().filter(pl.col("colour") == "white", pl.col("ph").is_null())["index"][0]
    found = wo.explain(model, int(red), int(gap), items=frame)
    scores = model.decision_function(frame[[red, gap]])
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-12)
    assert sorted(by_feature(found)) == ["colour", "ph", "same", "sugar"]
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
    values = {part.feature: (part.a, part.b) for part in found.contributions}
    assert values["colour"] == ("red", "white")
    assert values["ph"] == (frame["ph"][red], None)
    assert by_feature(found)["same"] == 0.0
    two = [frame.row(int(row), named=True) for row in (red, gap)]

    def score(x):
        row = {name: two[0][name] if x[k] else two[1][name] for k, name in enumerate(("ph", "sugar", "colour"))}
        table = pl.DataFrame([row | {"same": 1}], schema={name: frame.schema[name] for name in (*row, "same")})
        return float(model.decision_function(table)[0])

    expected = shapley.by_sets(score, np.ones(3), np.zeros(3), range(3), 3)
    contribution = by_feature(found)
    np.testing.assert_allclose([contribution[name] for name in ("ph", "sugar", "colour")], expected, atol=1e-9)


def test_a_row_may_come_as_mapping_frame_series_or_table(tmp_path):
    frame = wines()
    model = TableRanker(wo.RankSVM(), target="quality").fit(frame)
    expected = wo.explain(model, 2, 5, items=frame)
    in_pandas = pd.DataFrame(frame.to_dict(as_series=False))
    frame.write_csv(tmp_path / "wines.csv")
    table = wo.read(tmp_path / "wines.csv", target="quality")
    for a, b in [
        (frame.row(2, named=True), frame.row(5, named=True)),
        (frame[2], frame[5]),
        (in_pandas.iloc[2], in_pandas.iloc[5]),
        (in_pandas.iloc[[2]], in_pandas.iloc[[5]]),
        (table.take(np.array([2])), table.take(np.array([5]))),
    ]:
        assert by_feature(wo.explain(model, a, b)) == pytest.approx(by_feature(expected), abs=1e-12)
    for items in (in_pandas, table):
        assert by_feature(wo.explain(model, 2, 5, items=items)) == pytest.approx(by_feature(expected), abs=1e-12)


def test_a_category_that_training_has_not_seen_is_told_of_once():
    frame = wines()
    model = TableRanker(wo.RankSVM(kernel="rbf"), target="quality").fit(frame)
    a, b = frame.row(2, named=True) | {"colour": "orange"}, frame.row(5, named=True)
    with pytest.warns(UserWarning, match="'orange'") as told:
        found = wo.explain(model, a, b)
    assert len(told) == 1
    assert next(part for part in found.contributions if part.feature == "colour").a == "orange"
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)


def test_numbered_features_keep_the_files_numbers(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{k % 3} qid:1 2:{k % 3 + rng.normal():.3f} 7:{rng.normal():.3f} # d{k}" for k in range(40)]
    (tmp_path / "x.letor").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = wo.read(tmp_path / "x.letor")
    found = wo.explain(TableRanker(wo.RankSVM()).fit(table), "d0", "d4", items=table)
    moved = {part.feature for part in found.contributions if part.contribution}
    assert moved == {"2", "7"}
    assert (found.a, found.b) == ("d0", "d4")
    part = next(part for part in found.contributions if part.feature == "7")
    assert part.a == table.X[0, 6]


def test_the_same_after_saving_and_loading(tmp_path):
    frame = wines()
    for ranker in RANKERS:
        model = TableRanker(ranker, target="quality").fit(frame)
        wo.save(model, tmp_path / "model.wo")
        there, back = (wo.explain(each, 1, 4, items=frame) for each in (model, wo.load(tmp_path / "model.wo")))
        assert there == back


def test_pipelines_over_data_frames_are_explained_by_the_frames_columns():
    frame = wines().with_columns(pl.col("ph").fill_null(3.0))
    X, y = pd.DataFrame(frame.drop("quality").to_dict(as_series=False)), frame["quality"].to_numpy()
    X.index = X.index[::-1]
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["ph", "sugar"]))
    model = make_pipeline(encode, wo.RankSVM()).fit(X, y)
    found = wo.explain(model, X.iloc[[1]], X.iloc[[4]])
    assert wo.explain(model, 1, 4, items=X).contributions == found.contributions
    assert sorted(by_feature(found)) == ["colour", "ph", "same", "sugar"]
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
    assert by_feature(found)["same"] == 0.0


def test_a_frames_names_are_the_features_names():
    X, y = drawn(d=3)
    named = pd.DataFrame(X, columns=["acid", "sugar", "ph"])
    for model in (wo.RankSVM().fit(named, y), wo.RankSVM(kernel="rbf").fit(named, y)):
        found = wo.explain(model, 0, 1, items=named)
        assert sorted(by_feature(found)) == ["acid", "ph", "sugar"]
        assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
    plain = wo.RankSVM().fit(X, y)
    assert sorted(by_feature(wo.explain(plain, X[0], X[1], feature_names=["u", "v", "w"]))) == ["u", "v", "w"]
    with pytest.raises(ValueError, match="2 feature names for 3 columns"):
        wo.explain(plain, X[0], X[1], feature_names=["u", "v"])


def compared(n=60):
    rng = np.random.default_rng(4)
    items = rng.standard_normal((n, 3))
    pairs = wo.Pairs(items, rng.integers(0, n, 200), rng.integers(0, n, 200))
    d = items[pairs.right] @ [1.0, 0.5, 0.0] - items[pairs.left] @ [1.0, 0.5, 0.0] + 0.2 * rng.standard_normal(200)
    return items, pairs, np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)


def test_models_of_comparisons_tell_ties_and_probabilities():
    items, pairs, outcome = compared()
    model = wo.CompareSVM(scale=True, probability=True).fit(pairs, outcome)
    found = wo.explain(model, items[0], items[1])
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
    assert "each weight" in found.how
    assert found.threshold == model.threshold_
    assert found.probability[::-1] == pytest.approx(model.predict_proba(wo.Pairs(items, [1], [0]))[0])
    assert "Probabilities: a better" in str(found)
    near = items[0] + 0.01
    assert "calls them no different" in str(wo.explain(model, near, items[0]))
    inside = wo.ThresholdCompare(wo.RankSVM()).fit(pairs, outcome)
    coef = inside.estimator_.coef_
    found = by_feature(wo.explain(inside, items[0], items[1]))
    assert [found[f"x{k}"] for k in range(3)] == (coef * (items[0] - items[1])).tolist()


def test_an_ensemble_of_scores_adds_up_its_members_contributions():
    X, y = drawn(d=12)
    members = [("linear", wo.RankSVM()), ("trees", wo.OrderBoost(learner="tree", n_estimators=10))]
    model = wo.OrderEnsemble(members, random_state=0).fit(X, y)
    found = wo.explain(model, X[0], X[1])
    assert found.is_exact
    assert "members" in found.how
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)
    kernel = wo.OrderEnsemble([*members, ("rbf", wo.RankSVM(kernel="rbf"))], weights="equal").fit(X, y)
    found = wo.explain(kernel, X[0], X[1], n_orders=10)
    assert not found.is_exact
    assert sum(by_feature(found).values()) == pytest.approx(found.difference, abs=1e-9)


def test_an_ensemble_behind_a_scaler_is_explained_as_by_itself():
    X, y = drawn(d=4)
    X = X * [1.0, 10.0, 0.1, 5.0]
    members = [("linear", wo.RankSVM()), ("column", wo.BestFeature())]
    model = make_pipeline(StandardScaler(), wo.OrderEnsemble(members, random_state=0)).fit(X, y)
    found = wo.explain(model, X[0], X[1])
    scores = model.decision_function(X[:2])
    assert found.is_exact
    assert sum(by_feature(found).values()) == pytest.approx(scores[0] - scores[1], abs=1e-9)


def test_features_whose_names_begin_alike_are_told_apart_in_words():
    X, y = drawn(d=3)
    names = [f"the number of hours worked in an average week of the year {year}" for year in (2019, 2020, 2021)]
    found = wo.explain(wo.RankSVM().fit(X, y), X[0], X[1], feature_names=names)
    assert len({line[0] for line in found.table()}) == 4
    assert str(found).count("2020") >= 1


def test_rated_items_are_explained_by_their_ratings(tmp_path):
    path = tmp_path / "games.csv"
    path.write_text("left,right,outcome\nAnna,Ben,>\nBen,Carl,>\nCarl,Anna,=\nAnna,Ben,>\n", encoding="utf-8")
    table = wo.read(path)
    model = TableRanker(wo.ratings.RatingRanker()).fit(table)
    found = wo.explain(model, "Anna", "Ben")
    assert found == wo.explain(model, "Anna", "Ben", items=table)
    (part,) = found.contributions
    assert part.feature == "rating"
    assert part.contribution == found.difference > 0
    assert sum(found.probability) == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="'Bem' was never compared"):
        wo.explain(model, "Anna", "Bem")
    model = TableRanker(wo.RankSVM()).fit(table)
    assert wo.explain(model, "Anna", "Ben").contributions[0].feature == "rating"
    with pytest.raises(ValueError, match=r"'Bem' .* did you mean 'Ben'"):
        wo.explain(model, "Anna", "Bem")


def test_a_search_is_explained_by_what_it_has_found():
    X, y = drawn()
    model = GridSearchCV(wo.RankSVM(), {"C": [0.1, 1.0]}, cv=2).fit(X, y)
    assert wo.explain(model, X[0], X[1]) == wo.explain(model.best_estimator_, X[0], X[1])


def test_a_model_that_only_looks_linear_is_not_taken_for_it():
    X, y = drawn(d=3)
    model = PoissonRegressor().fit(X, y)
    found = wo.explain(model, X[0], X[1])
    expected = shapley.by_sets(lambda x: float(model.predict(x[None])[0]), X[0], X[1], range(3), 3)
    np.testing.assert_allclose([by_feature(found)[f"x{k}"] for k in range(3)], expected, atol=1e-9)


def test_models_without_a_score_of_a_row_are_refused():
    X, y = drawn(d=3)
    lists, overlapping = (wo.MultipleHyperplaneRanker(pairs=pairs).fit(X, y) for pairs in ("all", "cumulative"))
    for model in (lists, overlapping, make_pipeline(StandardScaler(), wo.NestedRanker()).fit(X, y)):
        with pytest.raises(ValueError, match="depend on the list"):
            wo.explain(model, X[0], X[1])
    with pytest.raises(ValueError, match="depend on the list"):
        wo.explain(wo.OrderEnsemble([("one", wo.RankSVM())], combine="borda").fit(X, y), X[0], X[1])
    with pytest.raises(ValueError, match="precomputed"):
        wo.explain(wo.RankSVM(kernel="precomputed").fit(X @ X.T, y), X[0], X[1])
    rated = wo.ratings.RatingRanker().fit(X[:3], wo.Comparisons([0, 1], [1, 2], [1, 1]))
    with pytest.raises(ValueError, match="looks at no feature"):
        wo.explain(rated, X[0], X[1])
    with pytest.raises(ValueError, match="no single number a row"):
        wo.explain(LogisticRegression().fit(X, y), X[0], X[1])


def test_bad_rows_and_models_are_named():
    X, y = drawn(d=3)
    model = wo.RankSVM().fit(X, y)
    with pytest.raises(NotFittedError):
        wo.explain(wo.RankSVM(), X[0], X[1])
    with pytest.raises(NotFittedError):
        wo.explain(TableRanker(wo.RankSVM(), target="y"), {"x": 1}, {"x": 2})
    with pytest.raises(TypeError, match="a fitted model"):
        wo.explain("model.wo", X[0], X[1])
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        wo.explain(model, X[0, :2], X[1, :2])
    with pytest.raises(ValueError, match="a has 3 values and b has 2"):
        wo.explain(model, X[0], X[1, :2])
    with pytest.raises(ValueError, match="must be one row, got 2"):
        wo.explain(model, X[:2], X[1])
    with pytest.raises(ValueError, match=r"give the values of one row, or items="):
        wo.explain(model, 0, 1)
    with pytest.raises(IndexError, match="no row 500"):
        wo.explain(model, 0, 500, items=X)
    with pytest.raises(ValueError, match="no names"):
        wo.explain(model, "a", "b", items=X)
    with pytest.raises(ValueError, match="NaN"):
        wo.explain(model, [np.nan, 0, 0], X[1])
    with pytest.raises(ValueError, match="n_orders"):
        wo.explain(model, X[0], X[1], n_orders=0)
    with pytest.raises(ValueError, match="names"):
        wo.explain(model, X[0], X[1], names="ab")
    with pytest.raises(ValueError, match="'y' and b has none"):
        wo.explain(model, {"x": 1, "y": 2}, {"x": 1})
    with pytest.raises(ValueError, match="both the same way"):
        wo.explain(model, {"x": 1, "y": 2}, X[0])


def test_rows_of_different_lists_are_told_apart(tmp_path):
    lines = [f"{k % 3} qid:{k // 6} 1:{k % 3 + k / 100:.2f} 2:{k % 5} # d{k % 6}" for k in range(12)]
    (tmp_path / "x.letor").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = wo.read(tmp_path / "x.letor")
    model = TableRanker(wo.RankSVM(), group="qid").fit(table)
    with pytest.warns(UserWarning, match="different lists"):
        wo.explain(model, 0, 7, items=table)
    with pytest.raises(ValueError, match=r"2 rows called 'd1'; .*'row 2', 'row 8'"):
        wo.explain(model, "d1", "d2", items=table)
    assert wo.explain(model, "row 2", "row 3", items=table) == wo.explain(model, 1, 2, items=table)


def small(**changes):
    parts = (Contribution("price", 3.1, 5.0, 1.2), Contribution("<b>", "x<y", None, -0.2), Contribution("ph", 1, 1, 0))
    return Explanation(
        **{"a": "Rioja", "b": "Merlot", "score_a": 2.5, "score_b": 1.5, "contributions": parts} | changes
    )


def test_the_explanation_reads_well():
    found = small(how="exact: because")
    assert str(found).splitlines() == [
        "Rioja stands above Merlot by 1 (2.5 against 1.5), mostly because of price: 3.1 against 5 (+1.20).",
        "",
        "feature          Rioja   Merlot  contribution",
        "price              3.1        5         +1.20",
        "<b>                x<y  missing         -0.20",
        "1 other feature                             0",
        "all                                     +1.00",
        "",
        "Contributions are exact: because.",
    ]
    below = small(how="exact", score_a=1.0, score_b=2.0)
    assert below.headline().startswith("Rioja stands below Merlot by 1 (1 against 2), mostly because of <b>: x<y")
    assert small(how="exact", score_b=2.5).headline() == "Rioja and Merlot have the same score, 2.5."


def test_the_page_shows_names_as_text():
    page = small(how="exact", a="<script>alert(1)</script>")._repr_html_()
    for raw, escaped in (("<script>", "&lt;script&gt;"), ("<b>", "&lt;b&gt;"), ("x<y", "x&lt;y")):
        assert raw not in page
        assert escaped in page


def test_the_explanation_as_a_frame():
    frame = small(how="exact").to_frame()
    assert frame.columns == ["feature", "a", "b", "contribution", "standard_error"]
    assert frame["b"].to_list() == ["5.0", None, "1"]
    assert frame["contribution"].sum() == pytest.approx(1.0)
    many = tuple(Contribution(f"x{k}", 1.0, 0.0, 1.0) for k in range(30))
    assert small(how="exact", contributions=many).table()[-2:] == [
        ("20 other features", "", "", "+20.0"),
        ("all", "", "", "+1.00"),
    ]
