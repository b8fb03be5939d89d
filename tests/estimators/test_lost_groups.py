"""Models fitted on groups are never judged without them in silence."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder import estimators
from wellorder.estimators.base import Ranker
from wellorder.metrics import METRICS, parse, scorer

QUICK = {
    "n_estimators": 3,
    "min_samples_leaf": 2,
    "estimators": [("svm", wo.RankSVM()), ("column", wo.BestFeature())],
}
LOSSES = [wo.OrderBoost(loss, n_estimators=3) for loss in ("orboost", "squared")]
RANKERS = [
    cls(**{name: value for name, value in QUICK.items() if name in cls().get_params()})
    for cls in (getattr(estimators, name) for name in estimators.__all__)
    if issubclass(cls, Ranker)
]

rng = np.random.default_rng(0)
QUERY = np.repeat(np.arange(6), 10)
X = rng.standard_normal((60, 3))
LEVEL = 2 * rng.standard_normal(6)[QUERY]  # grades of different queries have nothing to do with each other
Y = np.clip(np.round(X[:, 0] + LEVEL + 1), 0, 3)
LOST = "was fitted on 6 groups, and is judged without any"


@pytest.mark.parametrize("model", [*RANKERS, *LOSSES], ids=str)
@pytest.mark.filterwarnings("default:no member orders held-out rows")
def test_every_ranker_remembers_its_groups_and_says_that_they_are_missing(model, tmp_path):
    fitted = clone(model).fit(X, Y, groups=QUERY)
    assert fitted.n_groups_ == 6
    wo.save(fitted, tmp_path / "model.wo")
    for each in (fitted, wo.load(tmp_path / "model.wo")):
        assert each.score(X, Y, groups=QUERY) == each.score(X, wo.Grades(Y, QUERY))
        with pytest.warns(UserWarning, match=f"{LOST}.*pass groups= to score"):
            each.score(X, Y)
    alone = clone(model).fit(X, Y)
    assert alone.n_groups_ == 1
    alone.score(X, Y)  # one list: nothing is missing, and nothing is said
    clone(model).fit(X, Y, groups=np.zeros(60)).score(X, Y)


def test_a_model_of_comparisons_has_one_list():
    games = wo.Comparisons([0, 1, 2], [1, 2, 3], [1, 1, -1])
    assert wo.RankSVM().fit(X, games).n_groups_ == 1
    both = wo.RankSVM().fit(X, wo.Grades(Y, QUERY) + games)
    assert both.n_groups_ == 6
    both.score(X, games)  # they need no groups


@pytest.mark.parametrize("name", [*METRICS, "ndcg@10"])
def test_a_scorer_without_groups_says_so_whatever_the_metric(name):
    metric = parse(name if not METRICS.get(name.partition("@")[0]).needs_cutoff else f"{name}@5")
    model = make_pipeline(StandardScaler(), wo.RankSVM()).fit(X, Y, ranksvm__groups=QUERY)
    with pytest.warns(UserWarning, match=f"RankSVM {LOST}.*enable_metadata_routing.*groups=groups"):
        scorer(metric)(model, X, Y)
    sign = 1 if metric.greater_is_better else -1
    kept = sign * metric(Y, model.decision_function(X), QUERY)
    assert scorer(metric)(model, X, Y, groups=QUERY) == kept
    assert scorer(metric, groups=QUERY)(model, X, Y) == kept
    assert scorer(metric)(model, X, wo.Grades(Y, QUERY)) == kept


def test_permutation_importance_is_told_the_groups_by_the_scorer():
    model = wo.RankSVM().fit(X, Y, groups=QUERY)
    options = {"n_repeats": 2, "random_state": 0}
    with pytest.warns(UserWarning, match=LOST):
        permutation_importance(model, X, Y, scoring=scorer("ndcg@5"), **options)
    found = permutation_importance(model, X, Y, scoring=scorer("ndcg@5", groups=QUERY), **options)
    drawn = np.random.RandomState(np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1))
    moved = X.copy()
    moved[:, 0] = X[drawn.permutation(60), 0]
    base, after = (wo.metrics.ndcg(Y, model.predict(rows), QUERY, k=5) for rows in (X, moved))
    assert found.importances[0, 0] == pytest.approx(base - after)


def test_a_scorer_that_is_bound_to_groups_takes_no_others():
    bound = scorer("ndcg@5", groups=QUERY)
    assert repr(bound) == "scorer('ndcg@5', groups=<of 60 rows>)"
    model = wo.RankSVM().fit(X, Y, groups=QUERY)
    with pytest.raises(ValueError, match="bound to the groups of 60 rows, and was handed 20"):
        permutation_importance(model, X, Y, scoring=bound, max_samples=20, n_repeats=1)
    for y, groups in ((Y, QUERY), (wo.Grades(Y, QUERY), None)):
        with pytest.raises(ValueError, match="bound to groups of its own, and was handed others"):
            bound(model, X, y, groups=groups)


def test_a_table_ranker_remembers_the_groups_of_its_ranker():
    import polars as pl

    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "query": QUERY, "grade": Y})
    model = wo.data.TableRanker(wo.RankSVM(), target="grade", group="query").fit(frame)
    with pytest.warns(UserWarning, match=LOST):
        scorer("ndcg@5")(model, frame, Y)
    table = wo.data.Table("rows", frame.select("a", "b"), Y, target="grade")
    with pytest.warns(UserWarning, match=f"{LOST}.*read the table with group="):
        wo.evaluation.evaluate_table(model, table)


def test_the_rates_of_hyperplanes_without_groups_say_so():
    model = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    with pytest.warns(UserWarning, match=LOST):
        model.order_error_rates(X, Y)
    model.order_error_rates(X, Y, groups=QUERY)


def test_pictures_of_a_model_without_its_groups_say_so():
    model = wo.RankSVM().fit(X, Y, groups=QUERY)
    for display in (wo.plot.NDCGCurveDisplay, wo.plot.SwapsDisplay, wo.plot.ScoreDifferencesDisplay):
        with pytest.warns(UserWarning, match=f"{LOST}.*pass groups="):
            display.from_estimator(model, X, Y)
        display.from_estimator(model, X, Y, groups=QUERY)


def test_a_count_of_groups_that_a_file_made_up_does_no_harm():
    model = wo.RankSVM().fit(X, Y)
    model.n_groups_ = "many"
    assert 0 <= model.score(X, Y) <= 1
