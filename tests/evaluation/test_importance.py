"""``wo.importance``: drops against a loop that shuffles and judges again, errors against fresh samples, exact sums."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from polars.testing import assert_frame_equal
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import wellorder as wo
from wellorder.data import Table, TableRanker


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.standard_normal(300)), -2, 2)
    return X, y


def by_name(found):
    return {each.feature: each for each in found.columns}


def test_the_drop_is_what_is_lost_when_values_are_exchanged_within_lists(rows):
    X, y = rows
    groups = np.arange(300) % 10
    model = wo.RankSVM().fit(X, y, groups=groups)
    for metric, sign in (("swapped_pairs", 1.0), ("ndcg@5", -1.0)):
        grades = y + 2
        found = wo.importance(model, X, grades, groups=groups, metric=metric, n_repeats=60)
        rng = np.random.default_rng(1)
        measure = wo.metrics.parse(metric)
        worse = []
        for _ in range(100):
            changed = X.copy()
            for group in range(10):
                mine = np.flatnonzero(groups == group)
                changed[mine, 0] = X[rng.permutation(mine), 0]
            worse.append(measure(grades, model.decision_function(changed), groups=groups))
        expected = sign * (np.mean(worse) - found.value)
        assert found.value == measure(grades, model.decision_function(X), groups=groups)
        assert by_name(found)["x0"].drop == pytest.approx(expected, abs=4 * np.std(worse) / math.sqrt(40))


def test_values_stay_in_their_lists(rows):
    """A column that is constant in every list says nothing within one, however much the model makes of it."""
    X, y = rows
    groups = np.arange(300) % 10
    X = np.column_stack([X[:, 0], groups])
    model = wo.RankSVM().fit(X, y + 5 * groups)
    told = by_name(wo.importance(model, X, y, groups=groups))
    assert told["x1"].drop == told["x1"].standard_error == 0
    assert told["x0"].drop > 0.1


@pytest.mark.parametrize("kind", ["rows", "lists", "votes"])
def test_standard_errors_are_those_of_fresh_rows(kind):
    rng = np.random.default_rng(3)

    def draw():
        X = rng.standard_normal((120, 2))
        y = np.clip(np.round(X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(120)), -2, 2)
        if kind != "votes":
            return X, y, np.arange(120) % 12 if kind == "lists" else None
        left = rng.integers(0, 120, 360)
        right = (left + rng.integers(1, 120, 360)) % 120
        strength = X[:, 0] - 0.5 * X[:, 1]
        outcome = np.where(strength[right] - strength[left] + rng.standard_normal(360) > 0, 1, -1)
        return X, wo.Comparisons(left, right, outcome), None

    X, y, groups = draw()
    model = wo.RankSVM().fit(X, y)
    found = []
    for seed in range(60):
        X, y, groups = draw()
        told = by_name(wo.importance(model, X, y, groups=groups, n_repeats=3, random_state=seed))
        found.append([(told[name].drop, told[name].standard_error) for name in ("x0", "x1")])
    drop, error = np.moveaxis(np.array(found), 2, 0)
    assert np.sqrt((error**2).mean(axis=0)) == pytest.approx(drop.std(axis=0, ddof=1), rel=0.3)


def test_a_row_counts_as_the_one_that_lends_its_value_too():
    """A column of a few large values does the same harm wherever they go: what a row gains, another one loses."""
    rng = np.random.default_rng(3)

    def draw():
        large = np.where(rng.random(120) < 0.15, rng.choice([-20.0, 20.0], 120), 0.0)
        X = np.column_stack([large, rng.standard_normal(120)])
        return X, np.clip(np.round(X[:, 1] + 0.3 * rng.standard_normal(120)), -2, 2)

    model = wo.RankSVM().fit(*draw())
    model.coef_ = np.array([1.0, 1.0])
    found = [by_name(wo.importance(model, *draw(), n_repeats=4, random_state=seed))["x0"] for seed in range(150)]
    spread = np.std([each.drop for each in found], ddof=1)
    assert np.sqrt(np.mean([each.standard_error**2 for each in found])) == pytest.approx(spread, rel=0.12)


def test_linear_contributions_are_the_sum_of_explanations_over_all_pairs(rows):
    X, y = rows[0][:40], rows[1][:40]
    groups = np.arange(40) % 3
    model = make_pipeline(StandardScaler(), wo.RankSVM()).fit(X, y)
    found = wo.importance(model, X, y, groups=groups)
    pairs = [(i, j) for i, j in product(range(40), repeat=2) if y[i] > y[j] and groups[i] == groups[j]]
    total = dict.fromkeys(("x0", "x1", "x2", "x3"), 0.0)
    for i, j in pairs:
        for part in wo.explain(model, X[i], X[j]).contributions:
            total[part.feature] += part.contribution / len(pairs)
    for name, each in by_name(found).items():
        assert each.contribution == pytest.approx(total[name])
    assert found.difference == pytest.approx(sum(total.values()))
    assert sum(found.share(each) for each in found.columns) == pytest.approx(1.0)
    assert f"exact, over all {len(pairs)} pairs" in str(found)


@pytest.mark.parametrize("model", [wo.OrderBoost(n_estimators=20), wo.RankBoost(n_estimators=20)])
def test_sums_over_single_columns_are_exact_too(rows, model):
    X, y = rows
    found = wo.importance(model.fit(X, y), X, y)
    scores, level = model.decision_function(X), np.unique(y, return_inverse=True)[1]
    above = level[:, None] > level
    assert found.difference == pytest.approx((scores[:, None] - scores)[above].mean())
    assert found.how.startswith("exact, over all")


def test_trees_have_contributions_of_drawn_pairs(rows):
    X, y = rows
    model = wo.OrderBoost(learner="tree", n_estimators=15).fit(X, y)
    found = wo.importance(model, X, y)
    scores, level = model.decision_function(X), np.unique(y, return_inverse=True)[1]
    differences = (scores[:, None] - scores)[level[:, None] > level]
    assert found.difference == pytest.approx(differences.mean(), abs=4 * differences.std() / math.sqrt(300))
    assert "300 pairs" in found.how
    assert [each.feature for each in found.columns[:2]] == ["x0", "x1"]


def test_drawn_pairs_are_drawn_from_all_lists_by_their_pairs(rows):
    """One long list has nearly all the pairs; in many short ones, the order is the other way round."""
    X, y = rows
    groups = np.concatenate([np.zeros(200, int), 1 + np.arange(100) // 2])
    model = wo.OrderBoost(learner="tree", n_estimators=15).fit(X[:200], y[:200])
    y = np.where(groups > 0, -y, y)
    found = wo.importance(model, X, y, groups=groups, n_repeats=2)
    scores = model.decision_function(X)
    better = (y[:, None] > y) & (groups[:, None] == groups)
    differences = (scores[:, None] - scores)[better]
    assert found.difference == pytest.approx(differences.mean(), abs=3 * differences.std() / math.sqrt(300))


def test_other_models_have_drops_alone(rows):
    X, y = rows
    found = wo.importance(wo.RankSVM(kernel="rbf").fit(X, y), X, y)
    assert [each.contribution for each in found.columns] == [None] * 4
    assert found.how == ""
    assert "share" not in str(found)
    lists = wo.importance(wo.MultipleHyperplaneRanker().fit(X, y), X, y, groups=np.arange(300) % 5)
    assert lists.columns[0].feature == "x0"


def test_sparse_rows_and_data_frames_give_the_same(rows):
    X, y = rows
    X = np.where(X > -0.5, X, 0.0)
    model = wo.RankSVM().fit(X, y)
    dense = wo.importance(model, X, y)
    assert_frame_equal(wo.importance(model, sp.csr_array(X), y).to_frame(), dense.to_frame())
    named = wo.importance(model, X, y, feature_names=["a", "b", "c", "d"])
    for frame in (
        pd.DataFrame(X, columns=list("abcd"), index=np.arange(300)[::-1]),
        pl.DataFrame(X, schema=list("abcd")),
    ):
        found = wo.importance(wo.RankSVM().fit(frame, y), frame, y)
        assert [each.feature for each in found.columns] == [each.feature for each in named.columns]
        assert [each.drop for each in found.columns] == [each.drop for each in named.columns]


def test_a_pipeline_that_takes_text_columns(rows):
    X, y = rows
    frame = pd.DataFrame({"a": X[:, 0], "side": pd.Categorical(np.where(X[:, 1] > 0, "left", "right"))})
    columns = make_column_transformer((OneHotEncoder(), ["side"]), remainder="passthrough")
    found = wo.importance(make_pipeline(columns, wo.RankSVM()).fit(frame, y), frame, y)
    assert [each.feature for each in found.columns] == ["a", "side"]
    assert found.columns[1].drop > 2 * found.columns[1].standard_error


def test_a_table_goes_by_its_own_columns(rows):
    X, y = rows
    frame = pl.DataFrame({"a": X[:, 0], "side": np.where(X[:, 1] > 0, "left", "right"), "empty": np.ones(300), "y": y})
    model = TableRanker(wo.RankSVM(), target="y").fit(frame)
    table = Table("rows", frame.drop("y"), y)
    found = wo.importance(model, table)
    assert {each.feature for each in found.columns} == {"a", "side", "empty"}
    assert by_name(found)["empty"].drop == 0
    assert wo.importance(model, frame).to_frame().equals(found.to_frame())
    assert wo.importance(model, frame.drop("y"), y).to_frame().equals(found.to_frame())
    with pytest.raises(ValueError, match="leave y and groups out"):
        wo.importance(model, table, y)


def test_pairs_are_judged_by_the_models_own_error_and_their_items_are_shuffled(rows):
    rng = np.random.default_rng(4)
    items = rows[0]
    left, right = rng.integers(0, 300, (2, 500))
    left, right = left[left != right], right[left != right]
    apart = items[right, 0] - items[left, 0] + 0.2 * rng.standard_normal(len(left))
    outcome = np.where(np.abs(apart) < 0.4, 0, np.sign(apart)).astype(int)
    pairs = wo.Pairs(items, left, right)
    model = wo.CompareSVM().fit(pairs, outcome)
    found = wo.importance(model, pairs, outcome)
    assert found.metric == "comparison_error"
    assert found.value == pytest.approx(1 - model.score(pairs, outcome))
    assert found.columns[0].feature == "x0"
    assert found.columns[0].drop > 0.2
    assert wo.importance(model, np.asarray(pairs), outcome).value == pytest.approx(found.value)
    assert wo.importance(model, items, wo.Comparisons(left, right, outcome)).to_frame().equals(found.to_frame())


def test_names_are_shown_and_escaped(rows):
    X, y = rows
    found = wo.importance(
        wo.RankSVM().fit(X, y), X, y, feature_names=["<b>x", "long " * 20 + "1", "long " * 20 + "2", "d\n"]
    )
    assert "&lt;b&gt;x" in found._repr_html_()
    assert "<b>x" not in found._repr_html_()
    assert "\x1b" not in str(found)
    assert len(str(found).splitlines()[3]) < 90


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_repeats": 1}, "at least 2"),
        ({"feature_names": ["a"]}, "1 feature names for 4 columns"),
        ({"y": np.ones(300)}, "not defined on these rows"),
        ({"y": np.ones(299)}, "300"),
        ({"metric": "nonsense"}, "nonsense"),
    ],
)
def test_what_cannot_be_is_said(rows, change, message):
    X, y = rows
    model = wo.RankSVM().fit(X, y)
    with pytest.raises(ValueError, match=message):
        wo.importance(model, X, **({"y": y} | change))


def test_models_without_columns_are_refused():
    model = TableRanker(wo.RankSVM())
    games = wo.Comparisons([0, 1, 2, 0], [1, 2, 0, 2], [1, 1, -1, 1])
    table = wo.data.ComparisonTable(
        "games", Table("g", sp.csr_array(np.eye(3)), ids=np.array(["a", "b", "c"], object)), games, False
    )
    with pytest.raises(ValueError, match="looks at no column"):
        wo.importance(model.fit(table), table)


# --------------------------------------------------------------------------------------------------
# Which columns are shuffled.


def test_columns_are_chosen_by_name_place_or_number(rows):
    X, y = rows
    model = wo.RankSVM().fit(X, y)
    whole = by_name(wo.importance(model, X, y))
    found = wo.importance(model, X, y, columns=["x1", 3])
    assert by_name(found) == {name: whole[name] for name in ("x1", "x3")}
    assert "Shuffled: 2 of 4 columns." in found.notes()
    assert set(by_name(wo.importance(model, X, y, columns=2))) == {"x0", "x1"}  # those that contribute most
    assert not any("Shuffled:" in note for note in wo.importance(model, X, y).notes())
    for wrong, message in ((["y1"], "no column 'y1'; known are x0"), ([4], "no column 4; there are 4"), (0, "none")):
        with pytest.raises(ValueError, match=message):
            wo.importance(model, X, y, columns=wrong)


def test_of_thousands_of_columns_those_that_contribute_most_are_shuffled():
    rng = np.random.default_rng(3)
    X = sp.random_array((150, 1_500), density=0.02, format="lil", rng=rng)
    X[:, [0]] = rng.random((150, 1))
    y = np.round(9 * X[:, [0]].toarray().ravel() + rng.random(150))
    X = X.tocsr()
    model = wo.RankSVM().fit(X, y)
    found = wo.importance(model, X, y, n_repeats=2)
    assert (len(found.columns), found.n_columns) == (200, 1_500)
    assert found.columns[0].feature == "x0"
    curved = wo.RankSVM(kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match=r"there are 1,500 columns.*name those to shuffle \(columns=\[…\]"):
        wo.importance(curved, X, y)
    assert len(wo.importance(curved, X, y, columns=["x0", "x7"], n_repeats=2).columns) == 2


@pytest.mark.parametrize("model", [wo.RankSVM(), wo.OrderBoost(learner="tree", n_estimators=10)])
def test_shares_of_a_frame_are_those_of_its_numbers(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = np.round(2 * X[:, 0] + X[:, 1] + rng.normal(size=120))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    of_frame = wo.importance(model.fit(frame, y), frame, y)
    of_array = wo.importance(model.fit(X, y), X, y)
    assert [row[1:] for row in of_frame.table(3)] == [row[1:] for row in of_array.table(3)]
    assert len(of_frame.head()) == 4  # with shares
