"""'More is never worse', exactly: against a convex programme, by structure, and on rows that differ in one column."""

from __future__ import annotations

import json
import zipfile

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression
from tests.reference import trees as reference

import wellorder as wo
from wellorder.data import TableRanker, read
from wellorder.estimators import monotone as module
from wellorder.spaces import Bumps, Forest, monotone_violation


def graded(n=400, d=5, seed=0, holes=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    f = X[:, 0] - X[:, 1] + 0.5 * X[:, 2] * X[:, 3]
    y = np.digitize(f + rng.normal(size=n), [-1, 0, 1])
    X[rng.random(X.shape) < holes] = np.nan
    return X, y


SIGNS = {0: 1, 1: 1, 2: -1}
"""Not what the data say of column 1."""

MODELS = [
    wo.RankSVM(),
    wo.RankSVM(loss="logistic"),
    wo.ProportionalOdds(),
    wo.OrderBoost(learner="tree", n_estimators=40),
    wo.OrderBoost("orboost", learner="tree", n_estimators=40),
    wo.OrderBoost(n_estimators=40),
    wo.OrderBoost("orboost", n_estimators=40),
    wo.OrderBoost(metric="ndcg@10", n_estimators=40, learning_rate=0.3),
    wo.BoostedTrees("ranks", n_estimators=40),
    wo.BoostedTrees("lambdarank", n_estimators=40),
    wo.OrderEnsemble([("svm", wo.RankSVM()), ("trees", wo.OrderBoost(learner="tree", n_estimators=20))]),
]


def violations(model, X, signs, n=100_000, seed=1, categories=()):
    """Count the pairs of rows that differ in one column and stand the wrong way round."""
    rng = np.random.default_rng(seed)
    a = rng.choice(X.ravel()[~np.isnan(X.ravel())], (n, X.shape[1])) + 0.01 * rng.normal(size=(n, X.shape[1]))
    if np.isnan(X).any():
        a[rng.random(a.shape) < 0.1] = np.nan
    for k in categories:
        a[:, k] = rng.choice(X[:, k], n)
    column = rng.choice(list(signs), n)
    b, each = a.copy(), np.arange(n)
    b[each, column] = rng.permutation(a[each, column])
    sign = np.array([signs[k] for k in column.tolist()])
    gain = sign * np.sign(b[each, column] - a[each, column]) * (model.decision_function(b) - model.decision_function(a))
    return np.count_nonzero(gain < 0)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_no_violation_in_a_hundred_thousand_pairs(model):
    X, y = graded()
    model = type(model)(**model.get_params(deep=False))
    assert violations(model.fit(X, y), X, SIGNS) > 0  # or the constraints would not be needed
    model.set_params(monotone=SIGNS).fit(X, y)
    assert violations(model, X, SIGNS) == 0
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    "model",
    [each for each in MODELS if getattr(each, "learner", "tree") == "tree" and hasattr(each, "categories")],
    ids=str,
)
def test_no_violation_beside_missing_values_and_categories(model):
    X, y = graded(800, holes=0.15)
    X[:, 4] = np.random.default_rng(0).integers(0, 6, len(X))
    model = type(model)(**model.get_params() | {"monotone": SIGNS, "categories": [4]}).fit(X, y)
    assert violations(model, X, SIGNS, categories=[4]) == 0


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.01, 10.0])
def test_the_linear_minimum_is_that_of_a_convex_programme(loss, C):
    X, y = graded(60)
    model = wo.RankSVM(C, loss=loss, monotone=SIGNS, tol=1e-9).fit(X, y)
    high, low = np.nonzero(y[:, None] > y[None, :])
    w = cp.Variable(X.shape[1])
    d = (X[high] - X[low]) @ w
    risk = cp.sum_squares(cp.pos(1 - d)) if loss == "squared_hinge" else cp.sum(cp.logistic(-d))
    objective = 0.5 * cp.sum_squares(w) + C * len(y) / len(high) * risk
    kept = [w[0] >= 0, w[1] >= 0, w[2] <= 0]
    best = cp.Problem(cp.Minimize(objective), kept).solve(solver=cp.CLARABEL)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.coef_, w.value, atol=1e-4)
    assert model.coef_[1] == 0.0
    assert 0 <= model.gap_ <= 1e-9 * model.objective_


def rows_between(values, n=200_000):
    """Rows that differ in the first column alone, by as little as floats can."""
    low, high = np.quantile(values[:, 0], [0.2, 0.8])
    steps = np.concatenate([np.linspace(low, high, n), low + np.arange(n) * np.spacing(low)])
    rows = np.tile(values[7], (len(steps), 1))
    rows[:, 0] = np.sort(steps)
    return rows


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_sums_of_rises_are_monotone_to_the_last_bit(form):
    X, y = graded()
    model = wo.OrderBoost(n_estimators=60, monotone={0: 1, 1: -1}).fit(form(X), y)
    sums = model.decision_function(rows_between(X))
    assert (np.diff(sums) >= 0).all()
    assert sums[-1] > sums[0]


def test_rises_keep_shape_only_where_it_is_asked_for():
    """A column without a sign has its bumps: a hill stays one; and a column that says the opposite is left out."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (400, 2))
    y = np.digitize(X[:, 1] - X[:, 0] ** 2, [-2, -1, 0])
    model = wo.OrderBoost(n_estimators=60, monotone={1: 1}).fit(X, y)
    assert model.score(X, y) > 0.97
    assert set(model.pieces_["feature"].tolist()) == {0, 1}
    assert model.pieces_["sign"].tolist() == [0, 1]
    model.set_params(monotone={1: -1}).fit(X, y)
    assert model.pieces_["feature"].tolist() == [0] * len(model.pieces_["feature"])


def test_rises_and_bumps_in_a_file(tmp_path):
    X, y = graded()
    path = tmp_path / "model.wo"
    for monotone, version in (({0: 1, 1: -1}, 3), (None, 1)):
        model = wo.OrderBoost(n_estimators=30, monotone=monotone).fit(X, y)
        wo.save(model, path)
        with zipfile.ZipFile(path) as file:
            assert json.loads(file.read("manifest.json"))["version"] == version
        assert np.array_equal(wo.load(path).decision_function(X), model.decision_function(X))


def test_a_rise_of_the_wrong_sign_is_found():
    X, y = graded()
    model = wo.OrderBoost(n_estimators=10, monotone={0: 1}).fit(X, y)
    turned = Bumps.from_arrays(model.pieces_ | {"weight": -model.pieces_["weight"]})
    with pytest.raises(module.NotMonotoneError, match="a piece of the wrong sign"):
        module.check_bumps_monotone(turned, X, np.array([1, 0, 0, 0, 0]))
    with pytest.raises(ValueError, match="a rise among the bumps goes against the sign"):
        turned.check(5)


def test_constraints_that_do_not_bind_change_nothing():
    X, y = graded()
    for model in (wo.RankSVM(tol=1e-10), wo.ProportionalOdds(tol=1e-13)):
        free = type(model)(**model.get_params()).fit(X, y)
        bound = model.set_params(monotone=np.sign(free.coef_).astype(int)).fit(X, y)
        np.testing.assert_allclose(bound.coef_, free.coef_, atol=1e-5)
        sparse = type(model)(**model.get_params()).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(sparse.coef_, bound.coef_, atol=1e-5)


def test_proportional_odds_against_a_search_over_what_is_allowed():
    X, y = graded(150)
    X = X[:, :3]
    model = wo.ProportionalOdds(monotone=[1, 1, 0]).fit(X, y)
    assert model.coef_[1] == 0.0
    without = wo.ProportionalOdds().fit(X[:, [0, 2]], y)  # a weight at its bound is one that is not there
    np.testing.assert_allclose(model.coef_[[0, 2]], without.coef_, atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, without.thresholds_, atol=1e-4)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (wo.OrderBoost(learner=LinearRegression()), "a learner of your own"),
        (wo.RankSVM(kernel="rbf"), "a kernel"),
        (wo.RankSVM(loss="hinge"), "has a corner"),
        (wo.ProportionalOdds(np.inf), "C=numpy.inf"),
        (wo.OrderEnsemble([("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())]), "'ridge', RidgeRanker"),
    ],
    ids=str,
)
def test_what_cannot_keep_it_says_so(model, message):
    X, y = graded(80)
    with pytest.raises(ValueError, match=f"cannot be kept exactly with.*{message}"):
        model.set_params(monotone=SIGNS).fit(X, y)
    model.set_params(monotone=[0] * 5).fit(X, y)  # nothing is asked for


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({0: 2}, r"must be \+1"),
        ({0: True}, r"must be \+1"),
        ({9: 1}, "names column 9"),
        ({"acid": 1}, "X has no column names"),
        ([1, 0], "2 entries, and X has 5 columns"),
        ("alcohol", "a dict from columns"),
        ({-1: 1, 4: -1}, "twice"),
    ],
)
def test_wrong_constraints_are_named(given, message):
    X, y = graded(80)
    with pytest.raises(ValueError, match=message):
        wo.RankSVM(monotone=given).fit(X, y)


def test_a_column_is_no_category_that_has_more_or_less():
    X, y = graded(80)
    with pytest.raises(ValueError, match="of names there is no more"):
        wo.BoostedTrees(monotone={0: 1}, categories=[0]).fit(X.round(), y)


def test_trees_that_break_it_are_an_error(monkeypatch):
    X, y = graded()
    monkeypatch.setattr("wellorder.solvers.tree_boosting._constraints", lambda shape: {})
    for model in (wo.OrderBoost(learner="tree", monotone=SIGNS), wo.BoostedTrees(monotone=SIGNS)):
        with pytest.raises(wo.estimators.NotMonotoneError, match="has not kept"):
            model.fit(X, y)
    monkeypatch.setattr(module, "monotone_violation", lambda forest, signs: None)
    with pytest.raises(wo.estimators.NotMonotoneError, match=r"row .* goes the wrong way"):
        wo.OrderBoost(learner="tree", monotone=SIGNS).fit(X, y)


@pytest.mark.parametrize("seed", range(60))
def test_the_structure_says_what_all_rows_of_a_grid_say(seed):
    rng = np.random.default_rng(seed)
    grid = np.array([-1.0, 0.0, 1.0])
    arrays = reference.draw(rng, int(rng.integers(1, 3)), 3, grid)
    arrays = reference.with_holes(rng, arrays, [0, 0, 3] if seed % 2 else [0, 0, 0])
    leaf = arrays["left"] < 0
    arrays["value"] = np.where(leaf, rng.integers(0, 2, len(leaf)), 0.0)
    forest = Forest.from_arrays(arrays)
    values = [-2.0, -0.5, 0.5, 2.0]  # one in every interval of the thresholds
    last = [0.0, 1.0, 2.0] if seed % 2 else values
    rows = np.array(np.meshgrid([*values, np.nan], [*values, np.nan], [*last, np.nan], indexing="ij"))
    for sign in (1, -1):
        for column in (0, 1):
            # tree by tree: of a sum, one tree may make good what another breaks
            parts = [forest.first(k + 1).scores(rows.reshape(3, -1).T) for k in range(len(forest))]
            each = np.diff(np.stack([np.zeros_like(parts[0]), *parts]), axis=0).reshape(-1, *rows.shape[1:])
            along = np.moveaxis(each, column + 1, -1)[..., :4]
            broken = bool((sign * np.diff(along, axis=-1) < -1e-9).any())
            signs = np.zeros(3, int)
            signs[column] = sign
            assert (monotone_violation(forest, signs) is not None) == broken


def test_names_of_a_table_and_of_the_command_line(tmp_path):
    X, y = graded()
    lines = ["a,b,c,d,e,grade", *(",".join(map(str, [*row, grade])) for row, grade in zip(X, y, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    table = read(tmp_path / "t.csv", target="grade")
    for ranker in (wo.RankSVM(monotone={"b": 1}), wo.OrderBoost(learner="tree", n_estimators=5, monotone={"b": "+"})):
        model = TableRanker(ranker).fit(table)
        assert "monotone: b up" in model.describe()
        assert violations(model.ranker_, model.encoder_.transform(table), {1: 1}) == 0
        wo.save(model, tmp_path / "m.wo")
        again = wo.load(tmp_path / "m.wo")
        assert np.array_equal(again.decision_function(table), model.decision_function(table))
    with pytest.raises(ValueError, match="'bb', which the table has not"):
        TableRanker(wo.RankSVM(monotone={"bb": 1})).fit(table)


def test_comparisons_leave_out_what_cannot_keep_it():
    X, y = graded(150)
    table = read(dict_frame(X, y), target="grade")
    board = wo.compare(table, ["rank-svm", "ridge", "rank-svm-rbf"], n_folds=2, n_repeats=1, monotone={"b": 1})
    assert [each.method for each in board.standings] == ["rank-svm"]
    assert {each.method for each in board.left_out} == {"ridge", "rank-svm-rbf"}
    assert "monotone={'b': 1}" in board.protocol.code
    with pytest.raises(ValueError, match="'x', which the table has not"):
        wo.compare(table, ["rank-svm"], monotone={"x": 1})
    with pytest.raises(ValueError, match=r"names of columns and \+1"):
        wo.compare(table, ["rank-svm"], monotone={"b": 3})


def dict_frame(X, y):
    import polars as pl

    return pl.DataFrame({**dict(zip("abcde", X.T, strict=True)), "grade": y})
