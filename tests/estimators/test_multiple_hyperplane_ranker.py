"""One ranker for each two grades, aggregated list by list."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import AdaBoostRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.reference import aggregation as reference

import wellorder as wo
from wellorder.estimators import base_rankers
from wellorder.persistence import ModelFileError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 4))
Y = np.digitize(X[:, 0] + np.where(X[:, 1] > 0, X[:, 2], 0) + 0.8 * RNG.standard_normal(300), [-0.5, 0.8])
QUERY = RNG.integers(0, 15, 300)
KEYS = [(0, 1), (0, 2), (1, 2)]


def one_by_one(base, pairs=KEYS, y=Y, groups=QUERY, weight=None):
    fitted = {}
    for low, high in pairs:
        mine = (y == low) | (y == high)
        extra = {} if weight is None else {"sample_weight": weight[mine]}
        fitted[low, high] = base().fit(X[mine], y[mine], groups=groups[mine], **extra)
    return fitted


def table_of(rankers, rows=X):
    return np.column_stack([ranker.predict(rows) for ranker in rankers.values()])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("stacked", [True, False])
def test_it_is_its_rankers_added_up(monkeypatch, stacked, weighted):
    if not stacked:
        monkeypatch.setattr(base_rankers, "MOST_STACKED", 0)
    weight = RNG.integers(0, 3, 300).astype(float) if weighted else None
    base = wo.RankSVM(C=0.5, tol=1e-10)
    model = wo.MultipleHyperplaneRanker(base).fit(X, Y, groups=QUERY, sample_weight=weight)
    rankers = one_by_one(lambda: wo.RankSVM(C=0.5, tol=1e-10), weight=weight)
    assert list(model.rankers_) == KEYS
    for key, ranker in model.rankers_.items():
        np.testing.assert_allclose(ranker.coef_, rankers[key].coef_, rtol=1e-3, atol=1e-4)
        assert ranker.n_pairs_ == rankers[key].n_pairs_
        assert ranker.objective_ == pytest.approx(rankers[key].objective_, rel=1e-7)
    own = table_of(model.rankers_)
    expected = reference.borda(own, QUERY, np.ones(3))
    np.testing.assert_array_equal(model.decision_function(X, groups=QUERY), expected)
    np.testing.assert_array_equal(model.predict(X), reference.borda(own, np.zeros(300), np.ones(3)))


FOUR = np.digitize(X[:, 0] + np.where(X[:, 1] > 0, X[:, 2], 0) + 0.8 * RNG.standard_normal(300), [-0.8, 0.2, 1.0])


def by_partition(base, y=FOUR, groups=QUERY, weight=None):
    """Fit a ranker to the grades up to a against those from b on, for each two grades a < b."""
    fitted = {}
    for low, high in combinations(np.unique(y).tolist(), 2):
        mine = (y <= low) | (y >= high)
        extra = {} if weight is None else {"sample_weight": weight[mine]}
        fitted[low, high] = base().fit(X[mine], (y >= high)[mine].astype(int), groups=groups[mine], **extra)
    return fitted


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "one by one"])
def test_overlapping_partitions_are_fitted_one_by_one(monkeypatch, loss, weighted):
    if loss == "one by one":
        monkeypatch.setattr(base_rankers, "MOST_STACKED", 0)
    weight = RNG.integers(0, 3, 300).astype(float) if weighted else None
    base = wo.RankSVM(C=0.5, tol=1e-10, loss="hinge" if loss == "hinge" else "squared_hinge")
    model = wo.MultipleHyperplaneRanker(base, pairs="cumulative").fit(X, FOUR, groups=QUERY, sample_weight=weight)
    rankers = by_partition(lambda: clone(base), weight=weight)
    assert list(model.rankers_) == list(rankers) == list(combinations(range(4), 2))
    for key, ranker in rankers.items():
        np.testing.assert_allclose(model.rankers_[key].coef_, ranker.coef_, rtol=1e-3, atol=1e-4)
        assert model.rankers_[key].n_pairs_ == ranker.n_pairs_
        assert model.rankers_[key].n_groups_ == ranker.n_groups_
        assert model.rankers_[key].objective_ == pytest.approx(ranker.objective_, rel=1e-7)
    expected = reference.borda(table_of(model.rankers_), QUERY, np.ones(6))
    np.testing.assert_array_equal(model.decision_function(X, groups=QUERY), expected)


def test_overlapping_partitions_of_three_grades():
    model = wo.MultipleHyperplaneRanker(pairs="cumulative", aggregate="weighted_borda").fit(X, Y, groups=QUERY)
    n = {level: np.bincount(QUERY[level == Y], minlength=15) for level in range(3)}
    expected = {(0, 1): n[0] @ (n[1] + n[2]), (0, 2): n[0] @ n[2], (1, 2): (n[0] + n[1]) @ n[2]}
    assert {key: ranker.n_pairs_ for key, ranker in model.rankers_.items()} == expected
    assert model.weights_.sum() == pytest.approx(1)
    given = {(0, 2): 2.0, (1, 2): 0.5, (0, 1): 1.0}
    weighted = wo.MultipleHyperplaneRanker(pairs="cumulative", aggregate="weighted_borda", weights=given)
    assert weighted.fit(X, Y, groups=QUERY).weights_.tolist() == [1.0, 2.0, 0.5]
    rates = weighted.order_error_rates(X, Y, QUERY)
    for pair, ranker in weighted.rankers_.items():  # of the two grades alone, as with any other ``pairs``
        assert rates[pair] == wo.metrics.order_error_rates(Y, ranker.predict(X), QUERY)[pair]


def test_two_grades_have_one_partition():
    two = (Y > 0).astype(int)
    models = [wo.MultipleHyperplaneRanker(pairs=pairs).fit(X, two, groups=QUERY) for pairs in ("all", "cumulative")]
    np.testing.assert_array_equal(models[0].rankers_[0, 1].coef_, models[1].rankers_[0, 1].coef_)


def test_sides_that_never_meet_are_named():
    rows, query = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(UserWarning, match=r"both sides, so no ranker is fitted for \(0, 2\)"):
        model = wo.MultipleHyperplaneRanker(pairs="cumulative").fit(rows, [0, 0, 1, 1, 1, 1, 2, 2], groups=query)
    assert {key: ranker.n_pairs_ for key, ranker in model.rankers_.items()} == {(0, 1): 4, (1, 2): 4}


def test_sampled_rows_of_overlapping_partitions():
    n = 4_000
    rows = RNG.standard_normal((n, 3))
    y = np.digitize(rows[:, 0] + 0.5 * RNG.standard_normal(n), [-0.5, 0.5])
    drawn = wo.MultipleHyperplaneRanker(pairs="cumulative", max_samples=400, random_state=0).fit(rows, y)
    whole = wo.MultipleHyperplaneRanker(pairs="cumulative").fit(rows, y)
    assert all(drawn.rankers_[key].n_pairs_ < whole.rankers_[key].n_pairs_ / 10 for key in KEYS)
    assert drawn.score(rows, y) == pytest.approx(whole.score(rows, y), abs=0.02)


@pytest.mark.parametrize("stacked", [True, False])
def test_the_estimators_balance_holds(monkeypatch, stacked):
    if not stacked:
        monkeypatch.setattr(base_rankers, "MOST_STACKED", 0)
    query = np.where(QUERY < 10, 0, QUERY)  # one long list: the balance matters
    base = wo.RankSVM(balance="groups", tol=1e-10)
    model = wo.MultipleHyperplaneRanker(base).fit(X, Y, groups=query)
    for key, ranker in one_by_one(lambda: wo.RankSVM(balance="groups", tol=1e-10), groups=query).items():
        np.testing.assert_allclose(model.rankers_[key].coef_, ranker.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("aggregate", "weights"),
    [("borda", None), ("weighted_borda", [0.2, 3, 1]), ("median", None), ("markov", None), ("markov", [0.2, 3, 1])],
)
def test_every_aggregate_is_that_of_the_room(aggregate, weights):
    model = wo.MultipleHyperplaneRanker(aggregate=aggregate, weights=weights).fit(X, Y, groups=QUERY)
    table = table_of(model.rankers_)
    function = {
        "borda": lambda: wo.aggregation.borda(table, QUERY),
        "weighted_borda": lambda: wo.aggregation.borda(table, QUERY, weights),
        "median": lambda: wo.aggregation.median_rank(table, QUERY),
        "markov": lambda: wo.aggregation.markov_chain(table, QUERY, weights),
    }[aggregate]
    np.testing.assert_array_equal(model.decision_function(X, groups=QUERY), function())
    np.testing.assert_allclose(model.weights_, np.ones(3) if weights is None else weights)


def test_one_hyperplane_is_rank_svm():
    two = (Y > 0).astype(int)
    many, one = (model.fit(X, two, groups=QUERY) for model in (wo.MultipleHyperplaneRanker(), wo.RankSVM()))
    assert list(many.rankers_) == [(0, 1)]
    scores = many.decision_function(X, groups=QUERY)
    for query in np.unique(QUERY):
        rows = query == QUERY
        np.testing.assert_array_equal(np.argsort(scores[rows]), np.argsort(one.predict(X[rows])))
    assert many.score(X, two, QUERY) == pytest.approx(one.score(X, two, QUERY), abs=1e-3)


def test_hyperplanes_that_agree_are_one():
    """The same normal for every two grades gives the order of a single ranker (Qin et al., 2007, section 3.1)."""
    model = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    for ranker in model.rankers_.values():
        ranker.coef_ = np.array([1.0, 2.0, 3.0, 4.0])
    scores, plain = model.decision_function(X, groups=QUERY), X @ [1.0, 2.0, 3.0, 4.0]
    assert wo.metrics.ndcg(Y, scores, QUERY) == pytest.approx(wo.metrics.ndcg(Y, plain, QUERY))
    np.testing.assert_allclose(model.hyperplane_cosines(), 1.0)


def test_score_lists_and_grades_with_groups_of_their_own():
    model = wo.MultipleHyperplaneRanker().fit(X, wo.Grades(Y, QUERY))
    right = 1 - wo.metrics.swapped_pairs(Y, model.decision_function(X, groups=QUERY), QUERY)
    assert model.score(X, Y, groups=QUERY) == right == model.score(X, wo.Grades(Y, QUERY))
    assert right != 1 - wo.metrics.swapped_pairs(Y, model.decision_function(X), QUERY)  # one list for all
    place = RNG.permutation(300)
    again = model.decision_function(X[place], groups=pd.Series(QUERY[place]).astype(str))
    np.testing.assert_array_equal(again, model.decision_function(X, groups=QUERY)[place])


def test_keys_are_the_users_own_labels():
    names = np.array(["bad", "so so", "good"])[Y]
    model = wo.MultipleHyperplaneRanker(levels=["bad", "so so", "good"], pairs="adjacent").fit(X, names, groups=QUERY)
    assert list(model.rankers_) == [("bad", "so so"), ("so so", "good")]
    rates = model.order_error_rates(X, names, QUERY)
    assert list(rates) == list(model.rankers_)


def test_learned_weights_are_better_on_the_lists_they_were_learned_on():
    noisy = np.column_stack([X, RNG.standard_normal((300, 3))])
    plain = wo.MultipleHyperplaneRanker(base := wo.RankSVM(100.0)).fit(noisy, Y, groups=QUERY)
    for metric, sign in (("ndcg@5", 1), ("swapped_pairs", -1)):
        model = wo.MultipleHyperplaneRanker(base, aggregate="weighted_borda", metric=metric).fit(noisy, Y, groups=QUERY)
        value = wo.metrics.parse(metric)
        before, after = (value(Y, m.decision_function(noisy, groups=QUERY), QUERY) for m in (plain, model))
        assert sign * after >= sign * before
        assert model.weights_.sum() == pytest.approx(1)
        assert (model.weights_ >= 0).all()
    with pytest.raises(ValueError, match="not negative"):
        wo.MultipleHyperplaneRanker(aggregate="weighted_borda").fit(X, Y - 1, groups=QUERY)


def test_weights_by_pair():
    by_pair = {(1, 2): 5.0, (0, 1): 1.0, (0, 2): 0.0}
    model = wo.MultipleHyperplaneRanker(aggregate="weighted_borda", weights=by_pair).fit(X, Y, groups=QUERY)
    assert model.weights_.tolist() == [1.0, 0.0, 5.0]


def test_order_error_rates_are_each_rankers_own():
    model = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    rates = model.order_error_rates(X, Y, QUERY)
    for (low, high), ranker in model.rankers_.items():
        mine = (low == Y) | (high == Y)
        assert rates[low, high] == pytest.approx(1 - ranker.score(X[mine], Y[mine], groups=QUERY[mine]))
    assert rates == model.order_error_rates(X, wo.Grades(Y, QUERY))


def test_cosines():
    model = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    whole = wo.RankSVM().fit(X, Y, groups=QUERY)
    cosines = model.hyperplane_cosines(whole)
    assert cosines.shape == (4, 4)
    a, b = whole.coef_, model.rankers_[0, 2].coef_
    assert cosines[0, 2] == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
    np.testing.assert_allclose(np.diag(cosines), 1.0)
    for base in (wo.RankSVM(kernel="rbf"), wo.RankSVM(n_components=4, random_state=0), wo.RankBoost(3)):
        with pytest.raises(ValueError, match="no hyperplane"):
            wo.MultipleHyperplaneRanker(base).fit(X, Y).hyperplane_cosines()


@pytest.mark.parametrize(
    "base",
    [
        wo.RankSVM(kernel="rbf"),
        wo.RankSVM(loss="hinge"),
        wo.RankBoost(5),
        make_pipeline(StandardScaler(), wo.RankSVM()),
        Ridge(),
        wo.MultipleHyperplaneRanker(),
    ],
    ids=lambda base: type(base).__name__,
)
def test_any_ranker_may_be_inside(base):
    model = wo.MultipleHyperplaneRanker(base, n_jobs=2).fit(X, Y, groups=QUERY)
    assert model.score(X, Y, groups=QUERY) > 0.6
    again = wo.MultipleHyperplaneRanker(base).fit(X, Y, groups=QUERY)
    np.testing.assert_array_equal(model.predict(X, groups=QUERY), again.predict(X, groups=QUERY))


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("base", "inside"),
    [
        (GridSearchCV(wo.RankSVM(), {"C": [0.5]}, cv=2), lambda model: model.best_estimator_),
        (
            make_pipeline(StandardScaler(), GridSearchCV(wo.RankSVM(), {"C": [0.5]}, cv=2)),
            lambda m: m[-1].best_estimator_,
        ),
        (GridSearchCV(make_pipeline(wo.RankSVM()), {"ranksvm__C": [0.5]}, cv=2), lambda m: m.best_estimator_[-1]),
    ],
    ids=["search", "search in pipeline", "pipeline in search"],
)
def test_searches_hand_the_groups_on(base, inside, nested):
    make = wo.NestedRanker if nested else wo.MultipleHyperplaneRanker
    model, plain = (make(each).fit(X, Y, groups=QUERY) for each in (base, wo.RankSVM(0.5)))
    if nested:
        pairs = zip(model.rankers_, plain.rankers_, strict=True)
    else:
        pairs = ((model.rankers_[key], plain.rankers_[key]) for key in KEYS)
    assert all(inside(found).n_pairs_ == own.n_pairs_ for found, own in pairs)


def test_searches_hand_weights_on_where_they_are_asked_to():
    weight = RNG.integers(1, 4, 300).astype(float)
    with pytest.raises(ValueError, match=r"GridSearchCV hands no sample_weight on; .* set_fit_request"):
        wo.MultipleHyperplaneRanker(GridSearchCV(wo.RankSVM(), {"C": [0.5]})).fit(X, Y, sample_weight=weight)
    with config_context(enable_metadata_routing=True):
        asking = wo.RankSVM(tol=1e-10).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(asking, {"C": [0.5]}, cv=2)
    model = wo.MultipleHyperplaneRanker(search).fit(X, Y, groups=QUERY, sample_weight=weight)
    plain = one_by_one(lambda: wo.RankSVM(0.5, tol=1e-10), weight=weight)
    for key in KEYS:
        np.testing.assert_allclose(model.rankers_[key].best_estimator_.coef_, plain[key].coef_, rtol=1e-6)


def test_what_would_lose_the_groups_is_refused():
    boosted = AdaBoostRegressor(wo.RankSVM(), n_estimators=2)
    with pytest.raises(ValueError, match="AdaBoostRegressor hands no groups on"):
        wo.MultipleHyperplaneRanker(boosted).fit(X, Y, groups=QUERY)
    assert wo.MultipleHyperplaneRanker(AdaBoostRegressor(n_estimators=2)).fit(X, Y, groups=QUERY).rankers_


def test_neighbours_may_be_many():
    y = np.arange(300) % 21
    assert len(wo.MultipleHyperplaneRanker(pairs="adjacent").fit(X, y).rankers_) == 20
    with pytest.raises(ValueError, match="each two neighbouring ones: 299, with at most 190"):
        wo.MultipleHyperplaneRanker(pairs="adjacent").fit(X, np.arange(300))


def test_a_share_may_be_of_any_real_type():
    fits = [wo.MultipleHyperplaneRanker(max_samples=s, random_state=0).fit(X, Y) for s in (0.5, np.float32(0.5))]
    assert fits[0].rankers_[0, 1].n_pairs_ == fits[1].rankers_[0, 1].n_pairs_


def test_a_base_that_takes_no_weights_says_so():
    with pytest.raises(ValueError, match="KNeighborsRegressor takes no sample_weight"):
        wo.MultipleHyperplaneRanker(KNeighborsRegressor()).fit(X, Y, sample_weight=1.0 + Y)


def test_grades_that_never_meet_are_named():
    X, query = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    with pytest.warns(UserWarning, match=r"no ranker is fitted for \(0, 2\)"):
        model = wo.MultipleHyperplaneRanker().fit(X, [0, 0, 1, 1, 1, 1, 2, 2], groups=query)
    assert list(model.rankers_) == [(0, 1), (1, 2)]
    apart = wo.MultipleHyperplaneRanker(pairs="adjacent")
    with pytest.warns(UserWarning, match="no group"), pytest.raises(ValueError, match="neighbouring grades never meet"):
        apart.fit(X, [0, 2, 1, 3, 0, 2, 1, 3], groups=[0, 0, 1, 1, 2, 2, 3, 3])


def test_sampled_rows():
    n = 6_000
    rows = RNG.standard_normal((n, 3))
    y = np.digitize(rows[:, 0] + 0.5 * RNG.standard_normal(n), [-0.5, 0.5])
    whole = wo.MultipleHyperplaneRanker().fit(rows, y)
    for size in (500, 0.1):
        drawn = wo.MultipleHyperplaneRanker(max_samples=size, random_state=0).fit(rows, y)
        assert all(drawn.rankers_[key].n_pairs_ < whole.rankers_[key].n_pairs_ / 10 for key in KEYS)
        assert drawn.score(rows, y) == pytest.approx(whole.score(rows, y), abs=0.02)
        again = wo.MultipleHyperplaneRanker(max_samples=size, random_state=0).fit(rows, y)
        np.testing.assert_array_equal(drawn.rankers_[0, 1].coef_, again.rankers_[0, 1].coef_)


def test_sparse_single_precision_and_unjudged_rows():
    dense = np.where(np.abs(X) < 0.5, 0, X)
    expected = wo.MultipleHyperplaneRanker().fit(dense, Y, groups=QUERY).predict(dense, groups=QUERY)
    sparse = wo.MultipleHyperplaneRanker().fit(sp.csr_array(dense), Y, groups=QUERY)
    assert np.corrcoef(sparse.predict(sp.csr_array(dense), groups=QUERY), expected)[0, 1] > 0.999
    single = wo.MultipleHyperplaneRanker().fit(dense.astype(np.float32), Y, groups=QUERY)
    assert single.rankers_[0, 1].coef_.dtype == np.float32
    y = np.where(np.arange(300) % 3 == 0, np.nan, Y)
    judged = ~np.isnan(y)
    one = wo.MultipleHyperplaneRanker().fit(X, y, groups=QUERY)
    other = wo.MultipleHyperplaneRanker().fit(X[judged], y[judged], groups=QUERY[judged])
    np.testing.assert_allclose(one.rankers_[0, 2].coef_, other.rankers_[0, 2].coef_)


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, np.arange(300.0), "300 levels, .* bin the grades"),
        ({}, np.zeros(300), "all grades are the same"),
        ({"pairs": "some"}, Y, "pairs='some' is not known"),
        ({"aggregate": "mean"}, Y, "aggregate='mean' is not known"),
        ({"aggregate": "weighted_borda", "metric": "nonsense"}, Y, "no metric 'nonsense'"),
        ({"weights": [1, 2, 3]}, Y, "'borda' has no weights"),
        ({"aggregate": "markov", "weights": [1, 2]}, Y, r"shape \(2,\)"),
        ({"aggregate": "markov", "weights": [1, 2, -1]}, Y, "must be finite and not negative"),
        ({"aggregate": "weighted_borda", "weights": {(0, 1): 1}}, Y, r"nothing for \(0, 2\)"),
        ({"aggregate": "weighted_borda", "weights": {(1, 0): 1}}, Y, r"name \(1, 0\)"),
        ({"aggregate": "markov", "weights": ["a", "b", "c"]}, Y, "are no numbers"),
        ({"aggregate": "markov", "weights": dict.fromkeys(KEYS, "a")}, Y, "are no numbers"),
        ({"estimator": wo.RankSVM(order="nonsense")}, Y, "order='nonsense' is not known"),
        ({"max_samples": 0}, Y, "max_samples"),
        ({"max_samples": 1.5}, Y, "max_samples=1.5 is no share"),
        ({"estimator": wo.RankSVM(kernel="precomputed")}, Y, "precomputed kernel"),
        ({"estimator": wo.RankSVM(C=-1)}, Y, "C must be"),
        ({}, wo.Comparisons([0], [1], [1]), "takes grades"),
        ({}, wo.Grades(Y, order="chain"), "no other order"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_input_is_named(parameters, y, message):
    with pytest.raises(ValueError, match=message):
        wo.MultipleHyperplaneRanker(**parameters).fit(X, y)


def test_hard_problems_are_solved_one_by_one():
    far = wo.MultipleHyperplaneRanker().fit(X + 1e5, Y, groups=QUERY)
    near = wo.MultipleHyperplaneRanker().fit(X, Y, groups=QUERY)
    assert far.score(X + 1e5, Y, QUERY) == pytest.approx(near.score(X, Y, QUERY), abs=0.02)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        short = wo.MultipleHyperplaneRanker(wo.RankSVM(1e3, max_iter=1, tol=1e-9)).fit(X, Y, groups=QUERY)
    assert {ranker.n_iter_ for ranker in short.rankers_.values()} == {1}
    with pytest.raises(ValueError, match=r"column 1 .* overflow"):
        wo.MultipleHyperplaneRanker().fit(X * [1, 1e200, 1, 1], Y, groups=QUERY)


def test_what_is_no_ranker():
    for thing in (wo.RankSVM, StandardScaler(), "rank-svm"):
        with pytest.raises(TypeError, match="estimator must"):
            wo.MultipleHyperplaneRanker(thing).fit(X, Y)


@pytest.mark.parametrize("pairs", [list(combinations(range(3), 2))])
def test_saved_and_loaded(tmp_path, pairs):
    models = [
        wo.MultipleHyperplaneRanker(aggregate="weighted_borda", metric="ndcg@5"),
        wo.MultipleHyperplaneRanker(wo.RankBoost(3), aggregate="markov"),
        wo.MultipleHyperplaneRanker(pairs="cumulative", aggregate="weighted_borda"),
        wo.NestedRanker(),
        wo.NestedRanker(make_pipeline(StandardScaler(), wo.RankSVM()), keep=(5,)),
        wo.RankBoost(5),
    ]
    for model in models:
        model.fit(X, Y, groups=QUERY)
        wo.save(model, tmp_path / "m.wo")
        loaded = wo.load(tmp_path / "m.wo")
        given = {} if isinstance(model, wo.RankBoost) else {"groups": QUERY}
        np.testing.assert_array_equal(loaded.predict(X, **given), model.predict(X, **given))
        if isinstance(model, wo.MultipleHyperplaneRanker):
            assert list(loaded.rankers_) == pairs


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (wo.MultipleHyperplaneRanker(), {"weights_": np.ones(2)}),
        (wo.MultipleHyperplaneRanker(), {"rankers_": {}}),
        (wo.MultipleHyperplaneRanker(), {"rankers_": {3: wo.RankSVM()}}),
        (wo.MultipleHyperplaneRanker(), {"rankers_": {(0, 1): 7}, "weights_": np.ones(1)}),
        (wo.MultipleHyperplaneRanker(), {"aggregate": "evil"}),
        (wo.NestedRanker(), {"rankers_": []}),
        (wo.NestedRanker(), {"rankers_": [1]}),
        (wo.NestedRanker(), {"keep": "evil"}),
        (wo.RankBoost(3), {"pieces_": {"feature": np.array([9]), "threshold": np.ones(1), "weight": np.ones(1)}}),
        (wo.RankBoost(3), {"step": "evil"}),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else ",".join(value),
)
def test_files_that_do_not_hold_together_are_refused(tmp_path, model, changes):
    model.fit(X, Y, groups=QUERY)
    vars(model).update(changes)
    wo.save(model, tmp_path / "m.wo")
    with pytest.raises(ModelFileError):
        wo.load(tmp_path / "m.wo")
