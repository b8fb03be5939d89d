"""OrderBoost(metric=…): pairs weigh what their swap changes in a metric; and what it chooses for lists by itself."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import wellorder as wo
from wellorder.estimators.boosting import list_balance, list_rate, tree_size
from wellorder.metrics import METRICS, parse

PLACES = [f"{name}@5" if each.cutoff else name for name, each in METRICS.items() if each.swaps is not None]


def lists(seed=0, n_lists=60, size=20):
    """Make lists of which a few rows matter, and a column that says which but for some noise."""
    rng = np.random.default_rng(seed)
    X, query = rng.uniform(-2, 2, (n_lists * size, 4)), np.repeat(np.arange(n_lists), size)
    y = np.digitize(-(X[:, 0] ** 2) + 0.3 * X[:, 1] + 0.3 * rng.standard_normal(len(X)), [-0.8, -0.3, 0.0])
    shuffled = rng.permutation(len(X))
    return X[shuffled], y[shuffled].astype(float), query[shuffled]


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("learner", ["tree", "gaussian"])
def test_it_learns_the_top_of_lists_by_each_metric(name, learner):
    X, y, query = lists()
    model = wo.OrderBoost(learner=learner, metric=name, n_estimators=40).fit(X, y, groups=query)
    X, y, query = lists(seed=1)
    metric = parse(name)
    assert metric(y, model.predict(X), query) > metric(y, X[:, 1], query) + 0.15
    assert model.train_risk_[-1] < model.train_risk_[0]
    assert not model.consistent_


@pytest.mark.parametrize("loss", ["pairs", "logistic", "squared_hinge"])
def test_each_loss_and_a_learner_of_ones_own(loss):
    X, y, query = lists()
    features = np.column_stack([X, X**2])
    model = wo.OrderBoost(loss, learner=Ridge(), metric="ndcg@5", n_estimators=10).fit(features, y, groups=query)
    assert parse("ndcg@5")(y, model.predict(features), query) > 0.75
    assert model.train_risk_[-1] < model.train_risk_[0]


def test_rows_and_names_of_lists_in_any_order_give_the_same_trees():
    X, y, query = lists(n_lists=30)
    model = wo.OrderBoost(learner="tree", metric="ndcg@5", n_estimators=15).fit(X, y, groups=query)
    shuffled = np.random.default_rng(3).permutation(len(X))
    other = wo.OrderBoost(learner="tree", metric="ndcg@5", n_estimators=15)
    other.fit(X[shuffled], y[shuffled], groups=np.array([f"q{q * 7 % 30}" for q in query[shuffled]]))
    assert other.predict(X) == pytest.approx(model.predict(X), abs=1e-6)


def test_unjudged_rows_change_nothing():
    X, y, query = lists(n_lists=30)
    holed = y.copy()
    holed[::4] = np.nan
    known = ~np.isnan(holed)
    options = {"learner": "tree", "metric": "map@5", "n_estimators": 10, "min_samples_leaf": 10}
    model = wo.OrderBoost(**options).fit(X, holed, groups=query)
    assert np.array_equal(
        model.predict(X), wo.OrderBoost(**options).fit(X[known], y[known], groups=query[known]).predict(X)
    )


def test_a_long_list_of_many_levels_trains():
    """LightGBM's ranker refuses both: a list of more than 10,000 rows, and more than 31 levels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 5))
    y = np.clip(np.round(30 + 10 * X[:, 0] + 5 * rng.standard_normal(50_000)), 0, 59)
    assert len(np.unique(y)) == 60
    model = wo.OrderBoost(learner="tree", metric="ndcg@10", n_estimators=20).fit(X, y)
    assert parse("ndcg@10")(y, model.predict(X)) > 0.8  # 0.02 by chance


def test_rounds_are_counted_by_the_metric_of_lists_kept_apart():
    X, y, query = lists()
    model = wo.OrderBoost(learner="tree", metric="ndcg@5", n_estimators=200, n_iter_no_change=5, random_state=0)
    model.fit(X, y, groups=query)
    assert len(model.validation_risk_) < 200
    assert model.n_estimators_ == np.argmin(model.validation_risk_) + 1
    held_X, held_y, held_query = lists(seed=2)
    beside = {"X_val": held_X, "y_val": held_y, "groups_val": held_query}
    model = wo.OrderBoost(learner="tree", metric="ndcg@5", n_estimators=20).fit(X, y, groups=query, **beside)
    value = parse("ndcg@5")(held_y, model.predict(held_X), held_query)
    assert 1.0 - model.validation_risk_.min() == pytest.approx(value, abs=1e-9)


def test_grades_of_text_gain_by_their_places():
    X, y, query = lists(n_lists=30)
    names = np.array(["poor", "fair", "good", "fine"])
    grades = wo.Grades(names[y.astype(int)], query, levels=names.tolist())
    model = wo.OrderBoost(learner="tree", metric="ndcg@5", n_estimators=10)
    assert np.array_equal(model.fit(X, grades).predict(X), model.fit(X, y, groups=query).predict(X))


REFUSED = {
    "swaps": ({"metric": "kendall_tau"}, "nothing is known of what a swap"),
    "unknown": ({"metric": "ndgc@10"}, "ndcg"),
    "order": ({"metric": "ndcg@10", "order": "dcg"}, "order='dcg'"),
    "balance": ({"metric": "ndcg@10", "balance": "pairs"}, "every list counts the same"),
    "consistent": ({"metric": "ndcg@10", "consistent": True}, "consistent=True"),
    "stopping": ({"metric": "ndcg@10", "stopping": "swaps"}, "stopping='swaps'"),
    "loss": ({"metric": "ndcg@10", "loss": "orboost"}, "takes loss 'pairs', 'logistic', 'squared_hinge'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_says_otherwise_how_pairs_count_is_refused(case):
    options, said = REFUSED[case]
    X, y, query = lists(n_lists=4)
    with pytest.raises(ValueError, match=said):
        wo.OrderBoost(**options).fit(X, y, groups=query)


def test_weights_comparisons_and_lists_that_no_swap_changes_are_refused():
    X, y, query = lists(n_lists=4)
    model = wo.OrderBoost(metric="precision@30")
    with pytest.raises(ValueError, match="no use for row weights"):
        model.fit(X, y, groups=query, sample_weight=1.0 + np.arange(len(y)))
    with pytest.raises(ValueError, match="takes grades, one a row, not Comparisons"):
        model.fit(X, wo.Comparisons([0], [1], [1]))
    with pytest.raises(ValueError, match="in none of the 4 lists does a swap of two rows change precision@30"):
        model.fit(X, y, groups=query)


def test_a_saved_model_is_the_model(tmp_path):
    X, y, query = lists(n_lists=20)
    model = wo.OrderBoost(learner="tree", metric="err@5", n_estimators=5).fit(X, y, groups=query)
    wo.save(model, tmp_path / "model.wo")
    again = wo.load(tmp_path / "model.wo")
    assert again.metric == "err@5"
    assert np.array_equal(again.predict(X), model.predict(X))


# --------------------------------------------------------------------------------------------------
# What it chooses by itself.


def test_without_lists_nothing_is_chosen_otherwise_than_before():
    X, y, _ = lists()
    known = {"balance": "pairs", "learning_rate": 0.1, "max_leaf_nodes": 31, "min_samples_leaf": 20}
    for groups in (None, np.zeros(len(y))):
        own = wo.OrderBoost(learner="tree", n_estimators=10).fit(X, y, groups=groups)
        told = wo.OrderBoost(learner="tree", n_estimators=10, **known).fit(X, y, groups=groups)
        assert np.array_equal(own.predict(X), told.predict(X))


def test_with_lists_each_counts_the_same_and_steps_and_trees_are_small():
    X, y, query = lists()
    chosen = {"balance": "groups", "learning_rate": 0.06, "max_leaf_nodes": 15, "min_samples_leaf": 20}
    own = wo.OrderBoost(learner="tree", n_estimators=100).fit(X, y, groups=query)
    told = wo.OrderBoost(learner="tree", n_estimators=100, **chosen).fit(X, y, groups=query)
    assert np.array_equal(own.predict(X), told.predict(X))
    assert list_rate(60, 100) == 0.06
    assert tree_size(9_000, in_lists=True) == (15, 45)


def test_two_weights_a_row_keep_their_pairs():
    query = np.array([0, 0, 1, 1])
    clicks = wo.Clicks([1, 0, 0, 1], [1, 2, 1, 2], query, propensities=[1.0, 0.5])
    assert list_balance("auto", clicks) == "pairs"
    assert list_balance("auto", wo.Grades([0, 1, 0, 1], query)) == "groups"
    assert list_balance("auto", wo.Grades([0, 1, 0, 1])) == "pairs"


# --------------------------------------------------------------------------------------------------
# In comparisons and in the ensemble.


def test_the_ensemble_weighs_its_members_by_the_metric():
    """A member that orders the top well and all else at random beats one that orders all but the top."""
    rng = np.random.default_rng(0)
    query, y = np.repeat(np.arange(60), 30), np.tile(np.arange(30.0) // 6, 60)
    jitter = rng.standard_normal((2, len(y)))
    top = np.where(y == 4, 1.0, 0.0) + 0.2 * jitter[0]
    rest = np.where(y == 4, 0.0, y) + 0.2 * jitter[1]
    X = np.column_stack([top, rest])

    class Column(wo.RidgeRanker):
        def __init__(self, column=0):
            super().__init__()
            self.column = column

        def fit(self, X, y, groups=None, sample_weight=None):
            self.n_features_in_ = X.shape[1]
            return self

        def decision_function(self, X):
            return np.asarray(X)[:, self.column]

        predict = decision_function

    members = [("top", Column(0)), ("rest", Column(1))]
    plain = wo.OrderEnsemble(members).fit(X, y, groups=query)
    by_top = wo.OrderEnsemble(members, metric="ndcg@5").fit(X, y, groups=query)
    assert by_top.weights_[0] > plain.weights_[0] + 0.2
    with pytest.raises(ValueError, match="graded rows without weights"):
        wo.OrderEnsemble(members, metric="ndcg@5").fit(X, y, groups=query, sample_weight=1 + np.arange(len(y)))


def test_a_comparison_by_a_metric_of_places_searches_forms_that_are_meant_for_it():
    from wellorder.evaluation.methods import METHODS, grid_of, make_seeded, measure_size

    X, y, query = lists(n_lists=5)
    size = measure_size(X, wo.Grades(y, query), has_features=True)
    top, pairs = parse("ndcg@10"), parse("swapped_pairs")
    assert grid_of(METHODS["order-boost"], size, top)["metric"] == ["ndcg@10"]
    assert grid_of(METHODS["rank-svm"], size, top)["order"] == ["full", "dcg"]
    for name in ("order-boost", "rank-svm"):
        assert grid_of(METHODS[name], size, pairs) == METHODS[name].grid(size)
        assert np.prod([len(values) for values in grid_of(METHODS[name], size, top).values()]) >= 4
    assert make_seeded(METHODS["order-ensemble"], 0, top).metric == "ndcg@10"
    assert make_seeded(METHODS["order-ensemble"], 0, pairs).metric is None
