"""What runs side by side through joblib runs on a cluster as well, with the same results."""

from __future__ import annotations

from contextlib import contextmanager

import joblib
import numpy as np
import polars as pl
import pytest

import wellorder as wo


@pytest.fixture
def on_cluster(cluster, client):
    """A context in which joblib's work goes to the cluster; at its end, some must have."""

    @contextmanager
    def enter():
        before = cluster.scheduler.transition_counter
        with joblib.parallel_config(backend="dask"):
            yield
        assert cluster.scheduler.transition_counter > before

    return enter


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 3))
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(240), [-0.5, 0.5]), np.arange(240) // 20


def test_base_rankers(on_cluster, rows):
    X, y, groups = rows
    base = wo.RankSVM(loss="logistic")
    here = wo.MultipleHyperplaneRanker(base).fit(X, y, groups=groups)
    with on_cluster():
        there = wo.MultipleHyperplaneRanker(base).fit(X, y, groups=groups)
    np.testing.assert_array_equal(there.decision_function(X, groups), here.decision_function(X, groups))


def test_cross_validation(on_cluster, rows):
    X, y, groups = rows
    metrics = ["swapped_pairs", "ndcg@5"]
    here = wo.cross_validate(wo.RankSVM(), X, y, groups=groups, metrics=metrics)
    with on_cluster():
        there = wo.cross_validate(wo.RankSVM(), X, y, groups=groups, metrics=metrics)
    for name in metrics:
        np.testing.assert_array_equal(there[name], here[name])


def test_a_search(client, rows):
    X, y, groups = rows
    grid = {"C": [0.1, 1.0]}
    here = wo.search(wo.RankSVM(), grid, X, y, groups=groups)
    with joblib.parallel_config(backend="dask"):  # one C starts from the last: it stays in this process
        there = wo.search(wo.RankSVM(), grid, X, y, groups=groups)
    assert there.best_params == here.best_params
    assert there.best_score == here.best_score


def test_a_comparison_of_methods(on_cluster, rows, tmp_path):
    X, y, groups = rows
    frame = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y), q=pl.Series(groups))
    frame.write_csv(tmp_path / "rows.csv")
    table = wo.read(tmp_path / "rows.csv", target="y", group="q")
    settings = {"methods": ["ridge", "best-feature"], "n_folds": 3, "n_repeats": 1, "time_budget": None}
    here = wo.compare(table, **settings, n_jobs=1)
    with on_cluster():
        there = wo.compare(table, **settings, n_jobs=2)
    assert [(each.method, each.mean) for each in there.standings] == [
        (each.method, each.mean) for each in here.standings
    ]
