"""ConvexHullRanker: against a general solver, and what its graph, slacks and neighbours promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import kneighbors_graph
from tests.reference import convex_hull as reference

import wellorder as wo
from wellorder.estimators import hulls
from wellorder.persistence import ModelFileError
from wellorder.solvers import interior

DIAMOND = wo.OrderGraph.from_edges(range(4), [(0, 1), (0, 2), (1, 3), (2, 3)])
GRAPHS = {"chain": "chain", "full": "full", "diamond": DIAMOND}


def make_rows(n=48, d=3, seed=0, grades=4, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = X @ np.arange(1.0, d + 1) + noise * d * rng.standard_normal(n)
    y = np.digitize(truth, np.quantile(truth, np.linspace(0, 1, grades + 1)[1:-1]))
    return X, y, rng.integers(1, 4, n).astype(float), rng


def listed(order):
    graph = order if isinstance(order, wo.OrderGraph) else getattr(wo.OrderGraph, order)(range(4))
    return list(graph.edges)


def gaussian(X, gamma=0.3):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("slacks", ["edge", "row"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_the_optimum_is_a_general_solvers(graph, slacks, loss, kernel):
    X, y, weights, _ = make_rows()
    order = GRAPHS[graph]
    model = wo.ConvexHullRanker(0.7, order=order, slacks=slacks, loss=loss, kernel=kernel, gamma=0.3, tol=1e-9)
    model.fit(X, y, sample_weight=weights)
    features = X if kernel == "linear" else reference.root(gaussian(X))
    power = 2 if loss == "squared" else 1
    best, w = reference.minimum(features, y, weights, listed(order), 0.7, kind=slacks, power=power)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    scores = model.decision_function(X)
    np.testing.assert_allclose(scores, features @ w, atol=1e-3 * np.abs(features @ w).max())
    if kernel == "linear":
        np.testing.assert_allclose(model.coef_, w, atol=1e-3 * np.abs(w).max())
    edges = [(*edge, 1.0) for edge in model.edges_.tolist()]
    assert edges == listed(order)
    paid = reference.risk(scores, model.margins_, y, weights, edges, slacks, power)
    square = model.coef_ @ model.coef_ if kernel == "linear" else scores[model.support_] @ model.dual_coef_
    assert 0.5 * square + 0.7 * paid == pytest.approx(best, rel=1e-5)  # the thresholds are right too


@pytest.mark.parametrize("loss", ["squared", "absolute"])
@pytest.mark.parametrize("slacks", ["edge", "row"])
def test_the_one_norm_is_a_general_solvers_and_leaves_columns_out(slacks, loss):
    X, y, weights, rng = make_rows()
    X = np.hstack([X, 0.2 * rng.standard_normal((len(X), 4))])
    power = 2 if loss == "squared" else 1
    model = wo.ConvexHullRanker(0.1, slacks=slacks, loss=loss, penalty="l1").fit(X, y, sample_weight=weights)
    best, w = reference.minimum(X, y, weights, listed("full"), 0.1, kind=slacks, power=power, penalty="l1")
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.coef_, w, atol=1e-3 * np.abs(w).max())
    assert 0 < np.count_nonzero(model.coef_) < 7
    with_kernel = wo.ConvexHullRanker(slacks=slacks, loss=loss, penalty="l1", kernel="rbf").fit(X, y)
    assert len(with_kernel.support_) < len(X)


@pytest.mark.parametrize("slacks", ["edge", "row"])
def test_the_coefficients_norm_is_a_general_solvers(slacks):
    X, y, weights, _ = make_rows()
    K = gaussian(X)
    model = wo.ConvexHullRanker(slacks=slacks, kernel="rbf", gamma=0.3, norm="coefficients", tol=1e-9)
    model.fit(X, y, sample_weight=weights)
    root = np.sqrt(weights)  # a coefficient of a row of weight two is the sum of two rows' coefficients
    best, u = reference.minimum(K * root, y, weights, listed("full"), 1.0, kind=slacks)
    v = root * u
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(model.dual_coef_, v[model.support_], atol=1e-3 * np.abs(v).max())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
@pytest.mark.parametrize("slacks", ["edge", "row"])
def test_the_laplacian_is_of_scikit_learns_neighbours_and_takes_rows_without_a_grade(slacks, kernel):
    X, y, weights, rng = make_rows(n=40)
    y = np.where(rng.random(40) < 0.4, np.nan, y)
    weights[:3] = 0.0  # as if absent, also among the neighbours
    model = wo.ConvexHullRanker(
        slacks=slacks, penalty="laplacian", n_neighbors=4, laplacian_weight=3.0, kernel=kernel, gamma=0.3, tol=1e-9
    ).fit(X, y, sample_weight=weights)
    features = X if kernel == "linear" else reference.root(gaussian(X) if kernel == "rbf" else (0.3 * X @ X.T) ** 3)
    near_by = features if kernel == "poly" else X  # Euclidean among a kernel's features is its own distance
    named = kneighbors_graph(near_by[3:], 4).toarray()
    near = np.zeros((40, 40))
    near[3:, 3:] = 3.0 * 0.5 * (named + named.T) / 4
    laplacian = np.diag(near.sum(axis=1)) - near
    level = np.where(np.isnan(y) | (weights == 0), -1, y).astype(int)
    best, w = reference.minimum(features, level, weights, listed("full"), 1.0, kind=slacks, laplacian=laplacian)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    expected = features @ w
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-3 * np.abs(expected).max())


def two_moons(seed, n=300, labelled=10):
    """Four levels along the upper moon and then along the lower one; few rows of each have a grade."""
    rng = np.random.default_rng(seed)
    place = 2.0 * rng.random(n)
    angle = np.pi * (place % 1)
    upper, lower = np.c_[-np.cos(angle), np.sin(angle)], np.c_[1 + np.cos(angle), 0.5 - np.sin(angle)]
    X = np.where((place < 1)[:, None], upper, lower) + 0.12 * rng.standard_normal((n, 2))
    y = (2 * place).astype(int)
    known = np.concatenate([rng.choice(np.flatnonzero(y == level), labelled, replace=False) for level in range(4)])
    given = np.full(n, np.nan)
    given[known] = y[known]
    return X, y, given


def test_unlabelled_rows_help_along_two_moons():
    plain, smooth = [], []
    for seed in range(6):
        X, y, given = two_moons(seed)
        rest = np.isnan(given)
        alone = [wo.ConvexHullRanker(10.0, kernel="rbf", gamma=gamma).fit(X, given) for gamma in (1.0, 4.0, 20.0)]
        plain.append(min(1 - model.score(X[rest], y[rest]) for model in alone))  # chosen on the very test rows
        near = wo.ConvexHullRanker(10.0, kernel="rbf", gamma=20.0, penalty="laplacian", laplacian_weight=10.0)
        smooth.append(1 - near.fit(X, given).score(X[rest], y[rest]))
    assert np.mean(smooth) < 0.7 * np.mean(plain)


def test_large_linear_problems_go_from_coarse_to_fine_to_the_same_optimum(form):
    X, y, _, rng = make_rows(n=20_000, d=6)
    weights = rng.random(20_000) + 0.5
    for order in ("chain", "full"):
        model = wo.ConvexHullRanker(order=order, tol=1e-6).fit(X, y, sample_weight=weights)
        exact = wo.ConvexHullRanker(order=order, tol=1e-12).fit(X, y, sample_weight=weights)
        assert exact.objective_ <= model.objective_ * (1 + 1e-12) <= exact.objective_ * (1 + 1e-6)
        np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-3 * np.abs(exact.coef_).max())


def test_sparse_rows_unjudged_rows_groups_and_repetition_change_nothing():
    X, y, weights, rng = make_rows(n=80)
    plain = wo.ConvexHullRanker(tol=1e-9).fit(X, y, sample_weight=weights)
    again = np.repeat(np.arange(80), weights.astype(int))
    more = np.vstack([X, rng.standard_normal((10, 3))])
    fit = wo.ConvexHullRanker(tol=1e-9).fit
    for other in (
        fit(sp.csr_array(X), y, sample_weight=weights),
        fit(X[again], y[again]),
        fit(more, np.append(y, np.full(10, np.nan)), sample_weight=np.append(weights, np.ones(10))),
        fit(X, y, sample_weight=weights, groups=rng.integers(0, 5, 80)),
        fit(X, wo.Grades(y, weights=weights)),
    ):
        np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-7)
        np.testing.assert_allclose(other.margins_, plain.margins_, atol=1e-7)
    fit = wo.ConvexHullRanker(slacks="row", tol=1e-7).fit
    row = fit(X, y, sample_weight=weights)
    for other in (fit(sp.csr_array(X), y, sample_weight=weights), fit(X[again], y[again])):
        np.testing.assert_allclose(other.coef_, row.coef_, atol=1e-5)


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "rbf"},
        {"kernel": "rbf", "slacks": "row"},
        {"kernel": "rbf", "norm": "coefficients"},
        {"kernel": "rbf", "norm": "coefficients", "slacks": "row"},
        {"kernel": "rbf", "penalty": "l1"},
        {"kernel": "rbf", "penalty": "l1", "loss": "absolute"},
    ],
)
def test_rows_without_a_grade_or_weight_have_no_part_in_a_kernel_either(params):
    X, y, weights, rng = make_rows(n=60)
    model = wo.ConvexHullRanker(gamma=0.3, tol=1e-9, **params)
    plain = clone(model).fit(X, y, sample_weight=weights).decision_function(X)
    again = np.repeat(np.arange(60), weights.astype(int))
    more = np.vstack([X, rng.standard_normal((20, 3))])
    grades = np.concatenate([y, np.full(10, np.nan), np.zeros(10)])
    with_weights = np.concatenate([weights, np.ones(10), np.zeros(10)])
    for other in (clone(model).fit(X[again], y[again]), clone(model).fit(more, grades, sample_weight=with_weights)):
        np.testing.assert_allclose(other.decision_function(X), plain, atol=2e-4 * np.abs(plain).max())


@pytest.mark.parametrize("laplacian", [False, True])
@pytest.mark.parametrize(("slacks", "loss"), [("edge", "absolute"), ("row", "squared"), ("row", "absolute")])
@pytest.mark.parametrize("nu", [1e-2, 1.0, 1e3])
def test_the_dual_of_a_programme_finds_what_the_programme_finds(nu, slacks, loss, laplacian, monkeypatch):
    from wellorder.estimators import hulls

    X, y, weights, _ = make_rows(n=60)
    penalty = "laplacian" if laplacian else "l2"
    model = wo.ConvexHullRanker(nu, order="full", slacks=slacks, loss=loss, penalty=penalty, kernel="rbf", gamma=0.3)
    called = []
    monkeypatch.setattr(hulls, "_MOST_INSIDE", 0)
    monkeypatch.setattr(hulls, "dual_pays", lambda *sizes: called.append(sizes))
    primal = clone(model).fit(X, y, sample_weight=weights)
    monkeypatch.undo()
    assert hulls.dual_pays(*called[0])
    monkeypatch.setattr(hulls, "_MOST_INSIDE", 0)
    dual = clone(model).fit(X, y, sample_weight=weights)
    assert dual.objective_ == pytest.approx(primal.objective_, rel=1e-5)
    scores = primal.decision_function(X)
    np.testing.assert_allclose(dual.decision_function(X), scores, atol=1e-3 * np.abs(scores).max())
    assert dual.gap_ < 1e-4 * dual.objective_


@pytest.mark.parametrize("order", ["chain", "full"])
@pytest.mark.parametrize(("slacks", "loss"), [("edge", "absolute"), ("row", "squared"), ("row", "absolute")])
@pytest.mark.parametrize("nu", [1e-2, 1.0, 1e3])
def test_the_interior_point_method_finds_what_the_programme_finds(nu, slacks, loss, order, monkeypatch):
    from wellorder.estimators import hulls

    X, y, weights, _ = make_rows(n=60)
    y = np.append(y[:-3].astype(float), [np.nan] * 3)
    model = wo.ConvexHullRanker(nu, order=order, slacks=slacks, loss=loss, kernel="rbf", gamma=0.3)
    sizes, factor = [], interior.cholesky
    monkeypatch.setattr(interior, "cholesky", lambda S, **more: sizes.append(len(S)) or factor(S, **more))
    inside = clone(model).fit(X, y, sample_weight=weights)
    assert set(sizes) == {57}, "equations of rows, however many constraints there are"
    assert len(sizes) <= 30
    monkeypatch.setattr(hulls, "_MOST_INSIDE", 0)
    programme = clone(model).fit(X, y, sample_weight=weights)
    assert inside.objective_ == pytest.approx(programme.objective_, rel=1e-5)
    assert inside.objective_ <= programme.objective_ * (1 + 1e-6)
    scores = programme.decision_function(X)
    np.testing.assert_allclose(inside.decision_function(X), scores, atol=2e-3 * np.abs(scores).max())
    assert inside.gap_ < 1e-6 * inside.objective_


def test_what_is_no_kernel_is_left_to_the_programme_that_refuses_it():
    X, y, _, _ = make_rows(n=60)
    no_kernel = gaussian(X) - 0.5 * np.eye(60)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        wo.ConvexHullRanker(slacks="row", kernel="precomputed").fit(no_kernel, y)


def test_columns_far_from_zero_and_of_other_size_are_no_trouble():
    X, y, _, _ = make_rows(n=100)
    for slacks in ("edge", "row"):
        near = wo.ConvexHullRanker(1.0, slacks=slacks, tol=1e-9).fit(X, y)
        far = wo.ConvexHullRanker(1.0, slacks=slacks, tol=1e-9).fit(X + 1e4, y)
        np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-4)
        np.testing.assert_allclose(far.margins_ - 1e4 * far.coef_.sum(), near.margins_, atol=1e-3)


def test_landmarks_and_a_given_kernel():
    X, y, _, _ = make_rows(n=150)
    for slacks in ("edge", "row"):
        model = wo.ConvexHullRanker(slacks=slacks, kernel="rbf", gamma=0.3).fit(X, y)
        given = wo.ConvexHullRanker(slacks=slacks, kernel="precomputed").fit(gaussian(X), y)
        np.testing.assert_allclose(given.decision_function(gaussian(X)), model.decision_function(X), atol=1e-4)
        near = wo.ConvexHullRanker(slacks=slacks, kernel="rbf", gamma=0.3, n_components=150, random_state=0).fit(X, y)
        assert near.objective_ == pytest.approx(model.objective_, rel=1e-3)


def test_slacks_a_row_can_degenerate_and_say_so():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 2)), np.arange(200) % 4
    X[:, 0] += 0.1 * y
    for loss in ("squared", "absolute"):
        for nu in (0.01, 100.0):
            with pytest.warns(UserWarning, match="orders nothing.*slacks='edge'"):
                model = wo.ConvexHullRanker(nu, slacks="row", loss=loss, order="full").fit(X, y)
            assert not model.coef_.any()
            # the half of every row is paid: ν m / 4, or ν m / 2
            assert model.objective_ == pytest.approx(nu * 200 * (0.25 if loss == "squared" else 0.5), rel=1e-5)
    edge = wo.ConvexHullRanker(order="full").fit(X, y)
    assert edge.score(X, y) > 0.5
    with pytest.warns(UserWarning, match="raise nu"):
        wo.ConvexHullRanker(1e-6, penalty="l1").fit(X, y)
    for slacks in ("edge", "row"):
        with pytest.warns(UserWarning, match="no column of X"):
            wo.ConvexHullRanker(slacks=slacks).fit(np.ones((200, 2)), y)


@pytest.mark.parametrize("params", [{}, {"penalty": "l1"}, {"loss": "absolute"}])
def test_small_columns_are_not_said_to_be_hopeless(params):
    X, y, _, _ = make_rows(n=100, noise=0.2)
    for size in (1e-8, 1e-200):
        with pytest.warns(UserWarning, match="orders nothing") as caught:
            wo.ConvexHullRanker(slacks="row", **params).fit(size * X, y)
        assert len(caught) == 1
        assert size < 1e-140 or "raise nu" in str(caught[0].message)
    assert wo.ConvexHullRanker(1e17, slacks="row", **params).fit(1e-8 * X, y).coef_.any()


def test_edge_weights_weigh_slacks():
    X, y, weights, _ = make_rows()
    graph = wo.OrderGraph.from_edges(range(4), [(0, 1, 0.5), (1, 2, 2.0), (0, 3, 3.0)])
    model = wo.ConvexHullRanker(order=graph, tol=1e-9).fit(X, y, sample_weight=weights)
    best, w = reference.minimum(X, y, weights, list(graph.edges), 1.0)
    assert model.objective_ == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(model.coef_, w, atol=1e-3 * np.abs(w).max())
    table = wo.ConvexHullRanker(order=graph.weights, tol=1e-9).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(table.coef_, model.coef_, atol=1e-9)
    with pytest.raises(ValueError, match="slacks='row' has no slack an edge"):
        wo.ConvexHullRanker(order=graph, slacks="row").fit(X, y)


def test_levels_outside_the_graph_take_no_part_and_named_orders_are_of_the_levels_there():
    X, y, _, _ = make_rows(n=80)
    part = wo.OrderGraph.from_edges(range(4), [(1, 2)])
    model = wo.ConvexHullRanker(order=part, tol=1e-9).fit(X, y)
    two = (y == 1) | (y == 2)
    alone = wo.ConvexHullRanker(tol=1e-9).fit(X[two], y[two])
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-7)
    names = np.array(["poor", "fair", "good", "best"])
    levels = ["awful", "poor", "so so", "fair", "good", "best"]
    text = wo.ConvexHullRanker(order="chain", levels=levels, tol=1e-9).fit(X, names[y])
    assert text.edges_.tolist() == [["poor", "fair"], ["fair", "good"], ["good", "best"]]
    np.testing.assert_allclose(text.coef_, wo.ConvexHullRanker(order="chain", tol=1e-9).fit(X, y).coef_, atol=1e-9)
    full = wo.ConvexHullRanker(order="full", levels=["awful", *names]).fit(X, names[y])
    assert len(full.margins_) == 6


def test_the_full_order_is_the_default_and_grades_with_an_order_of_their_own_go_before_it():
    X, y, weights, _ = make_rows(n=80)
    fit = wo.ConvexHullRanker(tol=1e-9).fit
    full = wo.ConvexHullRanker(order="full", tol=1e-9).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(fit(X, y, sample_weight=weights).coef_, full.coef_)
    chain = wo.ConvexHullRanker(order="chain", tol=1e-9).fit(X, y, sample_weight=weights)
    assert np.abs(chain.coef_ - full.coef_).max() > 1e-3
    own = fit(X, wo.Grades(y, weights=weights, order="chain"))
    np.testing.assert_allclose(own.coef_, chain.coef_, atol=1e-7)
    np.testing.assert_allclose(own.margins_, chain.margins_, atol=1e-7)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("noise", [0.6, 1.2])
def test_slacks_a_row_make_full_the_chain_with_its_thresholds_in_order(noise, kernel):
    X, y, _, _ = make_rows(n=80, noise=noise)
    fits = (wo.ConvexHullRanker(order=order, slacks="row", kernel=kernel, tol=1e-8) for order in ("chain", "full"))
    chain, full = (model.fit(X, y) for model in fits)
    if (np.diff(chain.margins_) >= 0).all():
        assert noise == 0.6
        np.testing.assert_allclose(chain.decision_function(X), full.decision_function(X), atol=1e-6)
    else:
        assert noise == 1.2
        assert chain.objective_ < 0.999 * full.objective_


@pytest.mark.parametrize("nu", [1.0, 1e5])
def test_a_preconditioner_changes_the_way_and_not_where_it_leads(nu, monkeypatch):
    X, y, weights, _ = make_rows(n=120)
    model = wo.ConvexHullRanker(nu, kernel="rbf", gamma=0.3, tol=1e-9)
    found = []
    for strong in (0.0, np.inf):
        monkeypatch.setattr(hulls, "_STRONG", strong)
        found.append(clone(model).fit(X, y, sample_weight=weights))
    assert found[0].n_iter_ != found[1].n_iter_
    assert found[0].objective_ == pytest.approx(found[1].objective_, rel=1e-7)


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"nu": -1}, [0, 1, 2], "nu must be"),
        ({"slacks": "some"}, [0, 1, 2], "slacks='some'"),
        ({"loss": "hinge"}, [0, 1, 2], "loss='hinge'"),
        ({"penalty": "l3"}, [0, 1, 2], "penalty='l3'"),
        ({"norm": "rkhs", "kernel": "rbf"}, [0, 1, 2], "norm='rkhs'"),
        ({"norm": "coefficients"}, [0, 1, 2], "give a kernel"),
        ({"laplacian_weight": 0}, [0, 1, 2], "laplacian_weight must be"),
        ({"n_neighbors": 0}, [0, 1, 2], "n_neighbors must be"),
        ({"order": "ring"}, [0, 1, 2], "order='ring'"),
        ({"order": [[0, 1, 0], [0, 0, 1], [1, 0, 0]]}, [0, 1, 2], "circle: .*0.* < .*1"),
        ({"order": wo.OrderGraph.chain(range(4))}, [0, 1, 3], "edge to the level 2, which no row"),
        ({"order": wo.OrderGraph.from_edges(range(3), [])}, [0, 1, 2], "none of these levels above another"),
        ({"order": wo.OrderGraph.chain(range(2))}, [0, 1, 2], "2"),
        ({"order": None}, [0, 1, 2], "order=None is no order; give one of 'full'"),
        ({"order": [[0, 1], [1]]}, [0, 1, 2], "is no order"),
        ({"order": [["a"]]}, [0, 1, 2], "is no order"),
        ({"order": "chain"}, wo.Grades([0, 1, 2], order="linear"), "order was passed beside a Grades"),
        ({}, [1, 1, 1], "all grades are the same"),
        ({}, [np.nan, np.nan, np.nan], "no row has a grade"),
        ({}, [0, 1], "inconsistent numbers of samples"),
        ({}, wo.Comparisons([0], [1], [1]), "takes grades"),
    ],
)
def test_what_cannot_be_learned_is_named(params, y, message):
    with pytest.raises(ValueError, match=message):
        wo.ConvexHullRanker(**params).fit(np.eye(3), y)


def test_too_many_levels_and_too_large_a_programme_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="bin the grades"):
        wo.ConvexHullRanker().fit(np.ones((1_200, 1)), np.arange(1_200))
    from wellorder.estimators import hulls

    monkeypatch.setattr(hulls, "_MOST_ENTRIES", 100)
    X, y, _, _ = make_rows()
    with pytest.raises(ValueError, match="too large; slacks='edge'"):
        wo.ConvexHullRanker(slacks="row").fit(X, y)


@pytest.mark.parametrize(
    "params", [{}, {"slacks": "row"}, {"kernel": "rbf", "penalty": "laplacian"}, {"order": DIAMOND}]
)
def test_save_and_load(tmp_path, params):
    X, y, _, _ = make_rows()
    model = wo.ConvexHullRanker(**params).fit(X, y)
    wo.save(model, tmp_path / "m.wo")
    loaded = wo.load(tmp_path / "m.wo")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.edges_, model.edges_)
    for broken in (np.ones(7), np.full(len(model.margins_), np.nan), np.ones((3, 1)), np.array([1, 2, 3])):
        model.margins_ = broken
        wo.save(model, tmp_path / "m.wo")
        with pytest.raises(ModelFileError, match="margins_"):
            wo.load(tmp_path / "m.wo")


def test_a_matrix_that_is_no_kernel_is_named():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 30))
    K = A + A.T
    np.fill_diagonal(K, np.abs(K.diagonal()))
    y = rng.integers(0, 3, 30)
    with pytest.warns(
        ConvergenceWarning, match="lower nu, or check that a kernel of your own is positive semidefinite"
    ):
        wo.ConvexHullRanker(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        wo.ConvexHullRanker(kernel="precomputed", slacks="row").fit(K, y)


def test_values_whose_squares_overflow_are_named():
    X, y, _, _ = make_rows()
    with pytest.raises(ValueError, match="squares overflow; scale"):
        wo.ConvexHullRanker().fit(1e200 * X, y)


def test_a_strong_or_weak_nu_is_solved_all_the_same():
    X, y, weights, _ = make_rows()
    for nu in (1e-3, 1e4, 1e7):
        for kind in ("edge", "row"):
            model = wo.ConvexHullRanker(nu, slacks=kind, tol=1e-8).fit(X, y, sample_weight=weights)
            best, _ = reference.minimum(np.sqrt(nu) * X, y, weights, listed("full"), 1.0, kind=kind)
            assert model.objective_ == pytest.approx(nu * best, rel=1e-5)


def test_a_default_fit_warns_of_nothing():
    X, y, _, _ = make_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wo.ConvexHullRanker().fit(X, y)
