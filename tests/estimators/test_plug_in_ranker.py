"""The best ordering for given class probabilities: exact on finite X, good on simulated data, refused elsewhere."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.persistence.boxes import put_together, take_apart

import wellorder as wo
from wellorder.metrics import misranking_cost
from wellorder.persistence import ModelFileError


class Known(ClassifierMixin, BaseEstimator):
    """A classifier that knows: X is the probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.asarray(X, dtype=float)


def expected_cost(above, mass, p, table):
    """Return Σ W[a, b] · P(the row of level b stands below the row of level a), row by row.

    ``above[x]`` is the place of point x in the ordering; no two points share one.
    """
    cost = 0.0
    for x in range(len(p)):
        for z in range(len(p)):
            if above[x] < above[z]:
                for low, high in zip(*np.nonzero(table), strict=True):
                    cost += mass[x] * mass[z] * table[low, high] * p[x, high] * p[z, low]
    return cost


def random_costs(rng, n_levels, kind):
    if kind == "scale":
        return wo.OrderGraph.from_scale(rng.random(n_levels), np.sort(rng.random(n_levels)))
    if kind == "table":  # separable, but nobody says so
        graph = random_costs(rng, n_levels, "scale")
        return wo.OrderGraph(range(n_levels), graph.weights)
    if kind == "no weight at an end":
        weight = rng.random(n_levels)
        weight[rng.choice([0, -1])] = 0.0
        return wo.OrderGraph.from_scale(weight, np.sort(rng.random(n_levels)))
    if kind == "any":
        return wo.OrderGraph(range(n_levels), np.triu(rng.random((n_levels, n_levels)), 1))
    if kind == "chain":
        return wo.OrderGraph(range(n_levels), np.diag(rng.random(n_levels - 1), 1))
    return wo.OrderGraph.full(range(n_levels))


@pytest.mark.parametrize(
    ("n_levels", "kind"),
    [(3, kind) for kind in ("scale", "table", "any", "chain", "full", "no weight at an end")]
    + [(4, kind) for kind in ("scale", "table", "no weight at an end")]
    + [(2, "full")],
)
@pytest.mark.parametrize("seed", range(3))
def test_no_ordering_of_five_points_costs_less(n_levels, kind, seed):
    rng = np.random.default_rng(seed)
    graph = random_costs(rng, n_levels, kind)
    p, mass = rng.dirichlet(np.ones(n_levels), 5), rng.dirichlet(np.ones(5))
    ranker = wo.PlugInRanker(Known(), order=graph).fit(p[np.zeros(n_levels, int)], np.arange(n_levels))
    scores = ranker.decision_function(p)
    ours = expected_cost(np.argsort(np.argsort(scores)), mass, p, graph.weights)
    best = min(expected_cost(np.array(place), mass, p, graph.weights) for place in permutations(range(5)))
    assert ours == pytest.approx(best, rel=1e-12)
    assert len(set(scores)) == 5


def test_known_probabilities_cost_no_more_than_other_rankers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 4_000)
    x = rng.normal(np.array([-2.0, 1.0, 0.0, 2.0])[y], 1.0)  # levels 1 and 2 the wrong way round: no line will do
    likelihood = np.exp(-0.5 * (x[:, None] - np.array([-2.0, 1.0, 0.0, 2.0])) ** 2)
    p = likelihood / likelihood.sum(axis=1, keepdims=True)
    for order in ("linear", "dcg"):
        best = wo.PlugInRanker(Known(), order=order).fit(p, y).decision_function(p)
        for other in (x, -p[:, 0], p[:, 3] - p[:, 0], p[:, 2]):
            assert misranking_cost(y, best, order) <= misranking_cost(y, other, order) + 1e-3
        fitted = wo.PlugInRanker(GaussianNB(), order=order).fit(x[:, None], y).decision_function(x[:, None])
        assert misranking_cost(y, fitted, order) == pytest.approx(misranking_cost(y, best, order), abs=2e-3)


def test_linear_costs_give_the_expected_grade_up_to_a_constant():
    p = np.random.default_rng(1).dirichlet(np.ones(3), 20)
    grade = np.array([2.0, 3.0, 7.0])
    scores = wo.PlugInRanker(Known()).fit(p[:3], grade).decision_function(p)
    np.testing.assert_allclose(scores, p @ grade - 2.0)


def test_a_chain_of_three_levels():
    p = np.array([[0.2, 0.3, 0.5], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    scores = wo.PlugInRanker(Known(), order="chain").fit(p[:3], [0, 1, 2]).decision_function(p)
    np.testing.assert_allclose(scores, [0.5, 0.0, -1.0, 1.0])


@pytest.mark.parametrize("order", ["full", "chain"])
def test_costs_without_a_best_score_are_refused_with_costs_to_paste(order):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 4
    with pytest.raises(ValueError, match=r"no best score.*4 levels.*order='linear'") as error:
        wo.PlugInRanker(order=order).fit(X, y)
    pasted = eval(str(error.value).rpartition("order=")[2], {"wo": wo})
    assert pasted.is_consistent()
    wo.PlugInRanker(order=pasted).fit(X, y)


def test_only_the_levels_present_count():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 2)), rng.choice(["c", "a", "d"], 60)
    ranker = wo.PlugInRanker(order="full", levels=list("abcdef")).fit(X, y)  # three of six: 'full' will do
    assert ranker.classes_.tolist() == ["a", "c", "d"]
    assert ranker.predict(X).tolist() == ranker.decision_function(X).tolist()


def test_rows_without_grade_or_weight_are_left_out():
    rng = np.random.default_rng(4)
    X, y, weight = rng.standard_normal((50, 2)), rng.integers(0, 3, 50).astype(float), rng.random(50)
    y[:7], weight[7:12] = np.nan, 0.0
    whole = wo.PlugInRanker().fit(X, y, sample_weight=weight)
    part = wo.PlugInRanker().fit(X[12:], y[12:], sample_weight=weight[12:])
    np.testing.assert_array_equal(whole.decision_function(X), part.decision_function(X))
    frame = wo.PlugInRanker().fit(pd.DataFrame(X, columns=["a", "b"]), y, sample_weight=weight)
    assert frame.feature_names_in_.tolist() == ["a", "b"]
    sparse = wo.PlugInRanker().fit(sp.csr_array(X), y, sample_weight=weight)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(X)), whole.decision_function(X), rtol=1e-3)


def test_weights_reach_the_last_step_of_a_pipeline_and_no_farther():
    rng = np.random.default_rng(5)
    X, y, weight = rng.standard_normal((60, 2)), rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    piped = wo.PlugInRanker(scaled).fit(X, y, sample_weight=weight)
    assert not np.allclose(piped.decision_function(X), wo.PlugInRanker(scaled).fit(X, y).decision_function(X))
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        wo.PlugInRanker(KNeighborsClassifier()).fit(X, y, sample_weight=weight)


def test_a_classifier_without_probabilities_is_refused():
    with pytest.raises(TypeError, match=r"RidgeClassifier.*predict_proba"):
        wo.PlugInRanker(RidgeClassifier()).fit([[0.0], [1.0]], [0, 1])


def test_grades_bring_their_own_order():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((40, 2)), rng.integers(0, 4, 40)
    mine = wo.PlugInRanker().fit(X, wo.Grades(y, order="dcg"))
    np.testing.assert_array_equal(mine.gain_, wo.PlugInRanker(order="dcg").fit(X, y).gain_)
    with pytest.raises(ValueError, match="order was passed beside"):
        wo.PlugInRanker(order="dcg").fit(X, wo.Grades(y, order="dcg"))
    with pytest.raises(ValueError, match="not Comparisons"):
        wo.PlugInRanker().fit(X, wo.Comparisons([0], [1], [1]))


def test_searches_the_classifiers_parameters():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((90, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    search = GridSearchCV(wo.PlugInRanker(LogisticRegression()), {"estimator__C": [1e-6, 1.0]}).fit(X, y)
    assert search.best_params_ == {"estimator__C": 1.0}
    assert search.best_score_ > 0.9


def test_groups_change_nothing_but_are_checked():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3
    alone, grouped = wo.PlugInRanker().fit(X, y), wo.PlugInRanker().fit(X, y, groups=np.arange(12) % 2)
    np.testing.assert_array_equal(alone.decision_function(X), grouped.decision_function(X))
    with pytest.raises(ValueError, match="groups"):
        wo.PlugInRanker().fit(X, y, groups=[1])


def test_saves_with_a_classifier_that_a_model_file_may_hold(tmp_path):
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((40, 2)), rng.choice(["low", "mid", "top"], 40)
    ranker = wo.PlugInRanker(order="chain", levels=["low", "mid", "top"]).fit(X, y)
    wo.save(ranker, tmp_path / "ranker.wo")
    loaded = wo.load(tmp_path / "ranker.wo")
    np.testing.assert_array_equal(loaded.decision_function(X), ranker.decision_function(X))
    with pytest.raises(TypeError, match="GaussianNB"):
        wo.save(wo.PlugInRanker(GaussianNB(), levels=ranker.levels).fit(X, y), tmp_path / "other.wo")


@pytest.mark.parametrize("estimator", [3, "x", {"dict": []}])
def test_a_file_whose_estimator_is_no_classifier_is_refused(tmp_path, estimator):
    X = np.random.default_rng(0).standard_normal((40, 2))
    path = tmp_path / "model.wo"
    wo.save(wo.PlugInRanker().fit(X, np.arange(40) % 3), path)
    manifest, members = take_apart(path.read_bytes())
    manifest["model"]["object"]["state"]["estimator"] = estimator
    path.write_bytes(put_together(manifest, members))
    with pytest.raises(ModelFileError, match="is not a model with predict_proba"):
        wo.load(path)


def test_levels_listed_from_large_to_small_count_their_places():
    X = np.random.default_rng(0).standard_normal((40, 2))
    scores = wo.PlugInRanker(levels=[2, 1, 0]).fit(X, 2 - np.arange(40) % 3).decision_function(X)
    assert scores.tolist() == wo.PlugInRanker().fit(X, np.arange(40) % 3).decision_function(X).tolist()


def test_a_row_of_a_level_without_weight_stands_in_the_middle():
    costs = wo.OrderGraph.from_scale([1, 0, 1, 1], [10, 11, 12, 20])
    P = np.vstack([np.eye(4), [0.5, 0.0, 0.0, 0.5]])
    model = wo.PlugInRanker(Known(), order=costs).fit(P, [0, 1, 2, 3, 3])
    np.testing.assert_allclose(model.decision_function(P), [10.0, 15.0, 12.0, 20.0, 15.0])
