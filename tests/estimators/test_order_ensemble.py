"""OrderEnsemble: weights from rows not seen, and what is done with them."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.reference.order_ensemble import best_weights, held_out_scores

import wellorder as wo
from wellorder.deadline import deadline, time_is_up
from wellorder.estimators.held_out import ComparedFolds, GradedFolds, out_of_fold_points
from wellorder.estimators.order_ensemble import default_members, last_members, library_in_time

make = partial(wo.OrderEnsemble, random_state=0)


class Column(BaseEstimator):
    """A ranker that learns nothing: one column, times a factor."""

    def __init__(self, column=0, factor=1.0):
        self.column = column
        self.factor = factor

    def fit(self, X, y, *, groups=None, sample_weight=None):
        self.fitted_ = True
        return self

    def decision_function(self, X):
        return self.factor * X[:, self.column]


class Broken(Column):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        raise RuntimeError("no memory of this")


def rows(n=60, d=4, seed=0, levels=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    truth = X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.standard_normal(n)
    return X, np.digitize(truth, np.quantile(truth, np.linspace(0, 1, levels + 1)[1:-1]))


def games(n=300, n_items=30, seed=0, tie=0.3):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n_items, 3))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    margin = items[right, 0] - items[left, 0] + 0.3 * rng.standard_normal(n)
    return items, wo.Comparisons(left, right, np.where(np.abs(margin) < tie, 0, np.sign(margin)).astype(int))


TWO = [("linear", wo.RankSVM()), ("column", wo.BestFeature())]


def test_the_weights_are_those_of_every_pair_listed():
    X, y = rows()
    members = [wo.RankSVM(tol=1e-10), wo.RidgeRanker(alpha=50.0), wo.BestFeature(), Column(3)]
    ensemble = make([(f"m{k}", member) for k, member in enumerate(members)], n_folds=3, random_state=1)
    ensemble.fit(X, y)
    rng = np.random.default_rng(np.random.RandomState(1).randint(2**31 - 1))
    fold = GradedFolds(X, wo.Grades(y), 3, rng).fold
    points = held_out_scores(members, X, y, fold)
    n = len(y)
    pairs = [(i, j, 1.0) for i in range(n) for j in range(n) if y[i] > y[j] and fold[i] == fold[j]]
    a, _ = best_weights(points, pairs, n, 1.0)
    assert ensemble.weights_ == pytest.approx(a / a.sum(), abs=1e-5)
    fitted = [member.fit(X, y).decision_function(X) for member in members]
    expected = sum(w * s / np.std(s) for w, s in zip(ensemble.weights_, fitted, strict=True))
    assert ensemble.decision_function(X) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_a_members_scale_does_not_matter_and_one_that_misleads_has_no_weight():
    X, y = rows(200)
    weights = [
        make([("a", Column(0, factor)), ("b", Column(1, -1.0)), ("c", Column(1, 1e5))]).fit(X, y).weights_
        for factor in (1.0, 1e-6)
    ]
    assert weights[0] == pytest.approx(weights[1])
    assert weights[0][2] == 0.0
    assert weights[0][0] > weights[0][1] > 0.1
    assert weights[0].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("combine", ["scores", "borda"])
@pytest.mark.parametrize("weights", ["learned", "equal", [0.2, 0.8]])
def test_a_constant_member_has_no_weight_and_is_not_kept(combine, weights):
    X, y = rows()
    X[:, 3] = 7.0
    ensemble = make([("a", Column(0)), ("flat", Column(3))], combine=combine, weights=weights).fit(X, y)
    assert ensemble.weights_.tolist() == [1.0, 0.0]
    assert list(ensemble.rankers_) == ["a"]


def test_where_nothing_helps_all_weights_are_equal_and_it_says_so():
    X, y = rows()
    with pytest.warns(UserWarning, match="better than chance"):
        ensemble = make([("a", Column(0, -1.0)), ("b", Column(0, -2.0))]).fit(X, y)
    assert ensemble.weights_.tolist() == [0.5, 0.5]
    flat = [("a", Column(0, 0.0)), ("b", Column(1, 0.0))]
    with pytest.warns(UserWarning, match="there is no order"):
        ensemble = make(flat, weights="equal").fit(X, y)
    assert np.unique(ensemble.decision_function(X)).size == 1


def test_too_few_rows_to_hold_any_out():
    with pytest.warns(UserWarning, match="nothing can be held out"):
        ensemble = make(TWO).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert ensemble.weights_.tolist() == [0.5, 0.5]
    with pytest.warns(UserWarning, match="nothing can be held out"):
        make(TWO).fit([[0.0], [1.0]], wo.Comparisons([0, 1], [1, 0], [1, -1]))


def test_lists_are_held_out_whole_and_rows_without_pairs_are_always_learned_from():
    X, y = rows(120)
    y = y.astype(float)
    y[:5] = np.nan
    groups = np.repeat(np.arange(12), 10)
    y[110:] = 2.0
    fold = GradedFolds(X, wo.Grades(y, groups), 5, np.random.default_rng(0)).fold
    assert (fold[:5] == -1).all()
    assert (fold[110:] == -1).all()
    for group in range(11):
        assert np.unique(fold[(groups == group) & ~np.isnan(y)]).size == 1
    assert set(fold[5:110]) == set(range(5))
    few = GradedFolds(X, wo.Grades(y, groups // 6), 5, np.random.default_rng(0))
    assert few.n_folds == 2
    one = GradedFolds(X, wo.Grades(y), 5, np.random.default_rng(0))
    for level in range(4):
        assert np.ptp(np.bincount(one.fold[y == level], minlength=5)) <= 1


def test_rematches_are_held_out_together():
    items, compared = games()
    both = wo.Comparisons(
        np.r_[compared.left, compared.right],
        np.r_[compared.right, compared.left],
        np.r_[compared.outcome, -compared.outcome],
    )
    fold = ComparedFolds(items, both, 5, np.random.default_rng(0)).fold
    n = len(compared)
    assert (fold[:n] == fold[n:]).all()
    assert set(fold) == set(range(5))
    decided = np.bincount(fold, both.outcome != 0) / np.bincount(fold)
    assert np.ptp(decided) < 0.15


def test_no_row_is_scored_by_a_model_that_has_seen_it():
    class Memory(Column):
        """Scores rows that it has seen by their grade, all others by nothing."""

        def fit(self, X, y, *, groups=None, sample_weight=None):
            self.known_ = {tuple(row): float(grade) for row, grade in zip(X, y, strict=True)}
            return self

        def decision_function(self, X):
            return np.array([self.known_.get(tuple(row), 0.0) for row in X])

    X, y = rows(100)
    ensemble = make([("memory", Memory()), ("linear", wo.RankSVM())]).fit(X, y)
    assert ensemble.weights_.tolist() == [0.0, 1.0]


def test_borda_counts_depend_on_the_list():
    X, y = rows(120)
    groups = np.arange(120) % 6
    ensemble = make(TWO, combine="borda").fit(X, y, groups=groups)
    scores = ensemble.decision_function(X, groups=groups)
    table = np.column_stack([ranker.decision_function(X) for ranker in ensemble.rankers_.values()])
    expected = wo.aggregation.borda(table, groups, ensemble.weights_[ensemble.weights_ > 0])
    assert scores == pytest.approx(expected)
    assert scores.max() <= 19 * (1 + 1e-12)  # the weights' sum is one only up to rounding
    assert ensemble.score(X, y, groups) > 0.75
    assert ensemble.predict(X[:4]).max() <= 3 * (1 + 1e-12)


def test_members_see_groups_weights_and_numbers():
    seen = []

    class Spy(Column):
        def fit(self, X, y, *, groups=None, sample_weight=None):
            seen.append((len(X), y, groups, sample_weight))
            return super().fit(X, y)

    X, y = rows(40)
    grades = np.array([10.0, 20.0, 30.0, 80.0])[y]
    weight = np.linspace(1, 2, 40)
    make([("spy", Spy())]).fit(X, grades, groups=np.arange(40) % 4, sample_weight=weight)
    assert len(seen) == 1  # one member needs no weights
    assert seen[0][1].tolist() == grades.tolist()
    assert seen[0][2].tolist() == (np.arange(40) % 4).tolist()
    assert seen[0][3].tolist() == weight.tolist()
    seen.clear()
    names = np.array(["poor", "fair", "good", "best"], dtype=object)[y]
    make([("spy", Spy())], levels=["poor", "fair", "good", "best"]).fit(X, names)
    assert seen[0][1].tolist() == y.tolist()
    with pytest.raises(ValueError, match=r"'ridge' of the ensemble could not be fitted.*NaN"):
        make([("ridge", Ridge())]).fit(X, np.where(np.arange(40) == 3, np.nan, y))


def test_foreign_learners_pipelines_and_sparse_rows():
    X, y = rows(80)
    members = [("ridge", Ridge()), ("scaled", make_pipeline(StandardScaler(), wo.RankSVM()))]
    ensemble = make(members).fit(X, y)
    assert ensemble.score(X, y) > 0.75
    dense, sparse = (make([*TWO[:1], ("ridge", wo.RidgeRanker())]).fit(A, y) for A in (X, sp.csr_array(X)))
    assert sparse.weights_ == pytest.approx(dense.weights_, abs=1e-6)


def test_threads_and_seeds_change_nothing():
    X, y = rows(80)
    members = [*TWO, ("trees", wo.OrderBoost(learner="tree", n_estimators=5, min_samples_leaf=5))]
    one, two, other = (
        make(members, n_jobs=n_jobs, random_state=seed).fit(X, y) for n_jobs, seed in ((None, 0), (2, 0), (None, 1))
    )
    assert one.weights_.tolist() == two.weights_.tolist()
    assert one.decision_function(X).tolist() == two.decision_function(X).tolist()
    assert one.weights_.tolist() != other.weights_.tolist()
    again = np.random.default_rng(0).permutation(80)
    groups = np.arange(80) % 8
    a = make(TWO).fit(X, y, groups=groups)
    b = make(TWO).fit(X[again], y[again], groups=groups[again])
    assert a.weights_ == pytest.approx(b.weights_, abs=1e-3)


@pytest.mark.parametrize("combine", ["scores", "borda"])
def test_comparisons_with_ties(combine):
    items, compared = games()
    members = [("rank", wo.RankSVM()), ("compare", wo.CompareSVM()), ("wrong", Column(2))]
    ensemble = make(members, combine=combine).fit(items, compared)
    pairs = wo.Pairs(items, compared.left, compared.right)
    assert ensemble.threshold_ > 0
    assert ensemble.weights_[2] < 0.1
    assert ensemble.score(items, compared) > 0.9  # of the decided ones, the direction
    share = np.mean(ensemble.predict(pairs) == compared.outcome)
    assert ensemble.score(pairs, compared.outcome) == pytest.approx(share)
    assert share > 0.75
    assert np.mean(ensemble.predict(pairs) == 0) == pytest.approx(np.mean(compared.outcome == 0), abs=0.15)
    from_pairs = make(members, combine=combine).fit(pairs, compared.outcome)
    assert from_pairs.weights_.tolist() == ensemble.weights_.tolist()
    assert from_pairs.threshold_ == ensemble.threshold_


def test_comparisons_without_ties_and_mirrored():
    items, compared = games(tie=0.0)
    left = np.random.default_rng(3).random(len(compared)) < 0.5
    turned = wo.Comparisons(
        np.where(left, compared.right, compared.left),
        np.where(left, compared.left, compared.right),
        np.where(left, -compared.outcome, compared.outcome),
    )
    one, other = (make(TWO).fit(items, each) for each in (compared, turned))
    assert one.threshold_ == 0.0
    assert other.weights_ == pytest.approx(one.weights_, abs=1e-6)
    X, y = rows()
    assert not hasattr(one.fit(X[:, :3], y), "threshold_")


def test_a_rating_of_names_may_be_a_member():
    items, compared = games()
    members = [("davidson", wo.ratings.RatingRanker()), ("rank", wo.RankSVM())]
    ensemble = make(members).fit(items, compared)
    assert (ensemble.weights_ > 0).all()
    assert ensemble.score(items, compared) > 0.9


def test_parameters_nest_and_members_can_be_replaced():
    ensemble = make(TWO)
    assert ensemble.get_params()["linear__C"] == 1.0
    assert set(ensemble.get_params(deep=False)) & {"linear", "linear__C"} == set()
    copy = clone(ensemble).set_params(linear__C=5.0, combine="borda")
    assert TWO[0][1].C == 1.0
    assert copy.estimators[0][1].C == 5.0
    assert copy.combine == "borda"
    copy.set_params(column=wo.RidgeRanker(), column__alpha=3.0)
    assert copy.estimators[1][1].alpha == 3.0
    assert isinstance(TWO[1][1], wo.BestFeature)
    assert len(copy.set_params(estimators=TWO[:1]).estimators) == 1
    with pytest.raises(ValueError, match="Invalid parameter 'nobody'"):
        copy.set_params(nobody=1)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"estimators": []}, "must be a list of"),
        ({"estimators": [wo.RankSVM()]}, "must be a list of"),
        ({"estimators": [("a", wo.RankSVM()), ("a", wo.RankSVM())]}, "not all different"),
        ({"estimators": [("a__b", wo.RankSVM())]}, "cannot name a member"),
        ({"estimators": [("weights", wo.RankSVM())]}, "cannot name a member"),
        ({"estimators": [("k", wo.RankSVM(kernel="precomputed"))]}, "'k' of the ensemble: a precomputed"),
        ({"combine": "median"}, "combine='median' is not known"),
        ({"weights": "best"}, "weights='best' is not known"),
        ({"weights": {"linear": 1.0}}, r"give one for each of \['linear', 'column'\]"),
        ({"weights": [1.0, -1.0]}, "not negative"),
        ({"n_folds": 1}, "n_folds must be at least 2"),
        ({"C": 0.0}, "C must be a positive"),
        ({"estimators": [("fine", wo.RankSVM()), ("bad", Broken())]}, "'bad' of the ensemble.*fold 1 of 5: no memory"),
        ({"estimators": [("pairs", wo.CompareSVM())]}, "'pairs' of the ensemble could not be fitted to all rows"),
        ({"estimators": [("lost", Column(0, np.nan))]}, "'lost' of the ensemble does not give each row a finite"),
    ],
)
def test_what_is_refused(options, error):
    X, y = rows()
    with pytest.raises(ValueError, match=error):
        make(**({"estimators": TWO} | options)).fit(X, y)


def test_what_is_refused_as_order():
    X, y = rows()
    with pytest.raises(TypeError, match="'none' is None"):
        make([("none", None)]).fit(X, y)
    with pytest.raises(ValueError, match="not OrderSum"):
        make(TWO).fit(X, wo.Grades(y) + wo.Comparisons([0], [1], [1]))
    with pytest.raises(ValueError, match="every comparison is a tie"):
        make(TWO).fit(X, wo.Comparisons([0], [1], [0]))
    with pytest.raises(ValueError, match="beside Comparisons"):
        make(TWO).fit(X, wo.Comparisons([0], [1], [1]), sample_weight=np.ones(1))
    with pytest.raises(TypeError, match="compare takes"):
        make(TWO).fit(X, y).compare(X)


def test_weights_by_name():
    X, y = rows()
    ensemble = make(TWO, weights={"column": 3, "linear": 1}).fit(X, y)
    assert ensemble.weights_.tolist() == [0.25, 0.75]


def test_the_default_library_suits_the_data():
    X, y = rows(80)

    def names(order, A=X):
        return [name for name, _ in default_members(A, order, 0)]

    graded = names(wo.Grades(y))
    assert {"rank-svm", "rbf", "trees", "ridge-on-ranks", "trees-on-ranks"} <= set(graded)
    compared = names(wo.Comparisons([0], [1], [1]))
    assert "compare-svm" in compared
    assert "trees-on-ranks" not in compared
    assert "trees" not in names(wo.Grades(y[:50]), X[:50])
    assert names(wo.Grades(y), sp.csr_array((80, 5000))) == ["rank-svm", "ridge-on-ranks"]
    many = dict(default_members(np.zeros((5000, 2)), wo.Grades(np.arange(5000)), 0))
    assert many["rbf"].n_components == "auto"
    weights = np.where([name == "rbf" for name in many], 0.9, 0.01)
    exact = dict(last_members(list(many.items()), weights, 5_000, 1))
    assert exact["rbf"].n_components is None
    assert exact["rbf"].C == many["rbf"].C
    assert exact["rbf-wide"].n_components == "auto"  # it weighs next to nothing
    assert dict(last_members(list(many.items()), weights, 20_001, 1))["rbf"].n_components == "auto"
    grouped = dict(default_members(X, wo.Grades(y, np.arange(80) % 4), 0))
    assert grouped["trees"].balance == "auto"  # which says that every list counts the same


@pytest.mark.filterwarnings("ignore:the model is degenerate")
def test_the_default_library_fits_and_comes_back_from_a_file(tmp_path):
    X, y = rows(70)
    items, compared = games(n_items=20)
    for ensemble, A in (
        (make(n_folds=2).fit(X, y), X),
        (make(n_folds=2, combine="borda").fit(items, compared), items),
        (make(TWO).fit(X, y), X),
    ):
        wo.save(ensemble, tmp_path / "m.wo")
        loaded = wo.load(tmp_path / "m.wo")
        assert loaded.decision_function(A).tolist() == ensemble.decision_function(A).tolist()
        assert loaded.weights_.tolist() == ensemble.weights_.tolist()
        assert loaded.get_params().keys() == ensemble.get_params().keys()
        assert getattr(loaded, "threshold_", None) == getattr(ensemble, "threshold_", None)


@pytest.mark.parametrize(
    "changes",
    [
        {"scales_": {"linear": 0.0, "column": 1.0}},
        {"scales_": {"linear": 1.0}},
        {"rankers_": {}, "scales_": {}},
        {"rankers_": {"linear": 3, "column": 4}},
        {"weights_": np.array([1.0])},
        {"threshold_": -1.0},
        {"names_": None},
    ],
)
def test_damaged_files_are_refused(tmp_path, changes):
    X, y = rows()
    ensemble = make(TWO, weights="equal").fit(X, y)
    vars(ensemble).update(changes)
    wo.save(ensemble, tmp_path / "m.wo")
    with pytest.raises(ValueError, match="not sound"):
        wo.load(tmp_path / "m.wo")


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Timed(wo.RankSVM):
    """Takes so many seconds of a clock to fit; a fit during which time is up is cut short."""

    def __init__(self, clock=None, seconds=1.0):
        super().__init__()
        self.clock, self.seconds = clock, seconds

    def __sklearn_clone__(self):
        return Timed(self.clock, self.seconds)

    def fit(self, X, y, *, groups=None, sample_weight=None):
        super().fit(X, y, groups=groups, sample_weight=sample_weight)
        self.clock.now += self.seconds
        self.was_cut_ = time_is_up()
        return self


def fit_timed(monkeypatch, given, compared=False):
    """Fit an ensemble of members of 1 and 2 seconds within a time; a whole one takes 5 folds and a last fit, 18 s."""
    clock = Clock()
    monkeypatch.setattr("wellorder.estimators.held_out.perf_counter", clock)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.digitize(X[:, 0] + rng.standard_normal(60), [-1, 0, 1])
    if compared:
        left, right = np.arange(0, 60, 2), np.arange(1, 60, 2)
        y = wo.Comparisons(left, right, np.where(np.arange(30) % 3, np.where(y[left] > y[right], -1, 1), 0))
    ensemble = wo.OrderEnsemble([("quick", Timed(clock, 1.0)), ("slow", Timed(clock, 2.0))], random_state=0)
    with deadline(lambda: given - clock.now) as end, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fitted = ensemble.fit(X, y)
    return fitted, end, clock.now, " ".join(str(each.message) for each in heard)


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize(("given", "n_folds"), [(20.0, 5), (15.5, 3), (11.0, 2), (8.0, 1)])
def test_short_time_goes_to_all_members_on_fewer_folds(monkeypatch, given, n_folds, compared):
    fitted, end, took, heard = fit_timed(monkeypatch, given, compared)
    assert took <= given
    assert not end.stopped
    assert end.shortened == (n_folds < 5)
    assert not any(member.was_cut_ for member in fitted.rankers_.values())
    assert (f"after {n_folds} of the 5 folds" in heard) == (n_folds < 5)
    if compared:
        assert fitted.threshold_ >= 0
    else:
        assert fitted.weights_ == pytest.approx([0.5, 0.5])  # they are the same model


@pytest.mark.parametrize(("given", "is_large"), [(np.inf, True), (900.0, True), (150.0, False)])
def test_the_large_library_is_taken_where_there_is_time_for_it(monkeypatch, given, is_large):
    """Three of its members have 600 trees: 60 s each, as 15 trees tell, and 2.6 fits of each must be done in time."""
    clock, tried = Clock(), []
    monkeypatch.setattr("wellorder.estimators.order_ensemble.perf_counter", clock)

    def fit(folds, name, member, fold):
        tried.append((name, member.n_estimators))
        clock.now += 0.1 * member.n_estimators

    monkeypatch.setattr("wellorder.estimators.order_ensemble.fit_member", fit)
    X, order = np.random.default_rng(0).standard_normal((4000, 3)), wo.Grades(np.arange(4000) % 5)

    def make(small):
        return default_members(X, order, 0, small=small)

    large, small = make(False), make(True)
    assert len(large) > len(small)
    with deadline(lambda: given - clock.now) as end, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = library_in_time(None, make)
    assert [name for name, _ in found] == [name for name, _ in (large if is_large else small)]
    assert (end.stopped, end.shortened) == (False, not is_large)
    assert any("library is the small one" in str(each.message) for each in heard) != is_large
    assert {n_trees for _, n_trees in tried} == (set() if given == np.inf else {15})
    assert len({name for name, _ in tried}) == (0 if given == np.inf else 3)


def test_a_member_without_time_for_a_fold_and_a_last_fit_is_left_out(monkeypatch):
    fitted, end, took, heard = fit_timed(monkeypatch, 6.0)
    assert end.stopped
    assert list(fitted.rankers_) == ["quick"]
    assert "left out: slow" in heard
    assert took <= 6.0


def test_folds_that_were_not_done_teach_nothing(monkeypatch):
    """The weights are those of the pairs in the folds that were done, and the threshold too."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 2))
    grades = wo.Grades(rng.integers(0, 3, 40))
    compared = wo.Comparisons(np.arange(0, 40, 2), np.arange(1, 40, 2), rng.choice([-1, 1], 20))
    for kind, order in ((GradedFolds, grades), (ComparedFolds, compared)):
        clock = Clock()
        monkeypatch.setattr("wellorder.estimators.held_out.perf_counter", clock)
        folds = kind(X, order, 5, np.random.default_rng(0))
        whole = kind(X, order, 5, np.random.default_rng(0))
        with deadline(lambda clock=clock: 4.0 - clock.now), pytest.warns(UserWarning, match="after 2 of the 5 folds"):
            points = out_of_fold_points([("only", Timed(clock))], folds, by_place=False, n_jobs=1)
        assert folds.n_folds == 2
        done = np.isin(np.arange(len(points)), np.concatenate([whole.held_out(0), whole.held_out(1)]))
        assert (points[~done] == 0).all()
        assert (points[done] != 0).all()
        assert folds.pairs().n_pairs < whole.pairs().n_pairs
        everything = out_of_fold_points([("only", Timed(clock))], whole, by_place=False, n_jobs=1)
        assert np.array_equal(everything[done], points[done])
