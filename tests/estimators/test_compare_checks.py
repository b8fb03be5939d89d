"""One suite over all models of comparisons: pairs in, outcomes out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import wellorder as wo
from wellorder.metrics import comparison_error

MODELS = {
    "hinge": wo.CompareSVM(tol=1e-7),
    "squared hinge": wo.CompareSVM(loss="squared_hinge", tol=1e-8),
    "logistic": wo.CompareSVM(C=10.0, loss="logistic", tol=1e-8),
    "scaled": wo.CompareSVM(loss="squared_hinge", scale=True, tol=1e-8),
    "rbf": wo.CompareSVM(kernel="rbf", tol=1e-7),
    "rbf, scaled, squared": wo.CompareSVM(kernel="rbf", loss="squared_hinge", scale=True, tol=1e-8),
    "poly": wo.CompareSVM(kernel="poly", degree=2, coef0=1.0, tol=1e-7),
    # all items are landmarks, so that the features do not depend on the draw
    "nystroem": wo.CompareSVM(
        kernel="rbf", gamma=0.2, loss="squared_hinge", n_components=1000, random_state=0, tol=1e-8
    ),
    "probability": wo.CompareSVM(loss="squared_hinge", probability=True, tol=1e-8),
    "lp": wo.CompareLP(C=1.0),
    "kernel lp": wo.CompareLP(C=1.0, alpha=0.01, kernel="rbf", gamma=0.2),
    "rank": wo.ThresholdCompare(wo.RankSVM(tol=1e-8)),
    "rank2": wo.ThresholdCompare(wo.RankSVM(kernel="rbf", gamma=0.3, tol=1e-8), ties="both"),
}
LINEAR_PROGRAMMES = ("lp", "kernel lp")  # they have more than one optimum

CLOSE = {"rtol": 1e-3, "atol": 1e-3}
"""Ways of giving the same comparisons end within the solvers' tolerances of each other."""


@pytest.fixture(params=list(MODELS))
def name(request):
    return request.param


@pytest.fixture
def model(name):
    return clone(MODELS[name])


def make(n=60, n_items=25, d=3, seed=0):
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((n_items, d))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    z = (items[right] - items[left]) @ np.arange(1.0, d + 1) / d + 0.3 * rng.standard_normal(n)
    return items, left, right, np.where(np.abs(z) > 0.8, np.sign(z), 0).astype(int)


ITEMS, LEFT, RIGHT, Y = make()
PAIRS = wo.Pairs(ITEMS, LEFT, RIGHT)


def test_parameters_are_stored_untouched(model):
    before = model.get_params()
    assert clone(model).get_params().keys() == before.keys()
    model.fit(PAIRS, Y)
    after = model.get_params()
    assert all(after[key] is before[key] for key in before)
    assert "fit" not in vars(model)


def test_an_unfitted_model_says_so(model):
    for method in (model.predict, model.compare):
        with pytest.raises(NotFittedError):
            method(PAIRS)
    with pytest.raises(NotFittedError):
        model.decision_function(ITEMS)


def test_learns_and_describes_itself(model):
    assert model.fit(PAIRS, Y) is model
    assert model.n_features_in_ == 3
    told = model.predict(PAIRS)
    assert told.shape == (len(Y),)
    assert set(told.tolist()) <= {-1, 0, 1}
    assert model.decision_function(ITEMS).shape == (len(ITEMS),)
    scores = model.decision_function(ITEMS)
    np.testing.assert_array_equal(model.compare(PAIRS), scores[RIGHT] - scores[LEFT])
    assert model.score(PAIRS, Y) == pytest.approx(1 - comparison_error(Y, told))
    assert model.score(PAIRS, Y) > 0.75
    weight = np.arange(len(Y))
    assert model.score(PAIRS, Y, weight) == pytest.approx(1 - comparison_error(Y, told, weight))
    assert model.score(ITEMS, wo.Comparisons(LEFT, RIGHT, Y)) == model.score(PAIRS, Y)


def test_all_ways_of_giving_pairs_agree(name, model):
    array = np.asarray(PAIRS)
    by_view = clone(model).fit(PAIRS, Y)
    by_array = clone(model).fit(array, Y)
    by_order = clone(model).fit(ITEMS, wo.Comparisons(LEFT, RIGHT, Y))
    np.testing.assert_array_equal(by_order.compare(PAIRS), by_view.compare(PAIRS))
    np.testing.assert_allclose(by_view.compare(array), by_view.compare(PAIRS), atol=1e-12)
    if name not in LINEAR_PROGRAMMES:
        np.testing.assert_allclose(by_array.compare(PAIRS), by_view.compare(PAIRS), **CLOSE)
    assert by_array.predict(array.tolist()).tolist() == by_array.predict(array).tolist()


def test_items_that_are_never_compared_change_nothing(name, model):
    more = np.vstack([ITEMS, 100 * np.ones((3, 3))])
    one, other = clone(model).fit(PAIRS, Y), clone(model).fit(wo.Pairs(more, LEFT, RIGHT), Y)
    np.testing.assert_allclose(other.compare(PAIRS), one.compare(PAIRS), **CLOSE)


@pytest.mark.parametrize("form", [lambda pairs: pairs, np.asarray])
def test_mirrored_pairs_give_the_same_model_to_the_last_bit(model, form):
    mirrored = wo.Pairs(ITEMS, RIGHT, LEFT)
    one = clone(model).fit(form(PAIRS), Y)
    other = clone(model).fit(form(mirrored), -Y)
    np.testing.assert_array_equal(one.decision_function(ITEMS), other.decision_function(ITEMS))
    np.testing.assert_array_equal(one.predict(form(mirrored)), -one.predict(form(PAIRS)))
    np.testing.assert_array_equal(one.compare(form(mirrored)), -one.compare(form(PAIRS)))


def test_the_order_of_comparisons_does_not_matter(name, model):
    order = np.random.default_rng(1).permutation(len(Y))
    one, other = clone(model).fit(PAIRS, Y), clone(model).fit(PAIRS[order], Y[order])
    if name not in LINEAR_PROGRAMMES:
        np.testing.assert_allclose(other.compare(PAIRS), one.compare(PAIRS), **CLOSE)
    else:
        assert other.objective_ == pytest.approx(one.objective_)


def test_a_weight_of_two_is_the_comparison_twice_and_of_zero_none(name, model):
    weight = np.tile([1.0, 2.0, 0.0], 20)
    listed = np.repeat(np.arange(len(Y)), weight.astype(int))
    one = clone(model).fit(PAIRS, Y, sample_weight=weight)
    other = clone(model).fit(PAIRS[listed], Y[listed])
    by_order = clone(model).fit(ITEMS, wo.Comparisons(LEFT, RIGHT, Y, weight))
    np.testing.assert_array_equal(by_order.compare(PAIRS), one.compare(PAIRS))
    if name in LINEAR_PROGRAMMES:
        assert other.objective_ == pytest.approx(one.objective_)
    else:
        np.testing.assert_allclose(other.compare(PAIRS), one.compare(PAIRS), **CLOSE)
        assert other.threshold_ == pytest.approx(one.threshold_, rel=1e-3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_items_that_are_no_numbers_are_refused(model, bad):
    items = ITEMS.copy()
    items[LEFT[0], 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.fit(wo.Pairs(items, LEFT, RIGHT), Y)
    fitted = model.fit(PAIRS, Y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted.predict(wo.Pairs(items, LEFT, RIGHT))


def test_bad_input_is_named(model):
    for outcomes, message in [
        (np.full(len(Y), 2), "outcome 2"),
        (np.full(len(Y), 0.5), r"outcome 0\.5"),
        (np.array(["won"] * len(Y)), "outcome 'won', which is no number"),
        (Y > 0, "outcome (True|False); .* give np.where"),
        (Y[:-1], "one outcome a pair"),
        (None, "y is None"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(PAIRS, outcomes)
    with pytest.raises(ValueError, match="holds items"):
        model.fit(ITEMS, Y[: len(ITEMS)])
    with pytest.raises(ValueError, match=r"\(n, 2, d\)"):
        model.fit(np.zeros((4, 3, 2)), Y[:4])
    with pytest.raises(ValueError, match="not pairs"):
        model.fit(PAIRS, wo.Comparisons(LEFT, RIGHT, Y))
    with pytest.raises(ValueError, match="passed beside"):
        model.fit(ITEMS, wo.Comparisons(LEFT, RIGHT, Y), np.ones(len(Y)))
    with pytest.raises(ValueError, match="names item"):
        model.fit(ITEMS, wo.Comparisons([0], [99], [1]))
    with pytest.raises(ValueError, match="not negative"):
        model.fit(PAIRS, Y, -np.ones(len(Y)))
    fitted = model.fit(PAIRS, Y)
    for method in (fitted.predict, fitted.compare):
        with pytest.raises(ValueError, match="decision_function gives item scores"):
            method(ITEMS)
    with pytest.raises(ValueError, match="features"):
        fitted.predict(np.zeros((2, 2, 5)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wo.Pairs(ITEMS[:, 0], [0], [1]), r"\(n_items, d\), got shape \(25,\)"),
        (lambda: wo.Pairs(ITEMS, [0], [25]), r"right\[0\] names item 25, but there are 25"),
        (lambda: wo.Pairs(ITEMS, [-1], [0]), r"left\[0\] names item -1"),
        (lambda: wo.Pairs(ITEMS, [0.5], [1]), "row numbers of items, got float64"),
        (lambda: wo.Pairs(ITEMS, [0, 1], [1]), "of one length"),
    ],
)
def test_pairs_that_are_none_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_single_precision_stays(name, model):
    narrow = wo.Pairs(ITEMS.astype(np.float32), LEFT, RIGHT)
    single = clone(model).fit(narrow, Y)
    assert single.decision_function(narrow.items).dtype == np.float32
    if name not in LINEAR_PROGRAMMES:
        np.testing.assert_allclose(
            single.compare(narrow), clone(model).fit(PAIRS, Y).compare(PAIRS), rtol=0.02, atol=0.02
        )


def test_sparse_items_give_what_dense_ones_give(name, model):
    if name == "rbf, scaled, squared":
        model.set_params(scale=False)  # sparse items are not centred
    sparse = wo.Pairs(sp.csr_array(ITEMS), LEFT, RIGHT)
    one, other = clone(model).fit(PAIRS, Y), clone(model).fit(sparse, Y)
    np.testing.assert_allclose(other.compare(sparse), one.compare(PAIRS), **CLOSE)


def test_a_frame_of_items_keeps_its_names(model):
    frame = pd.DataFrame(ITEMS, columns=["a", "b", "c"])
    fitted = model.fit(wo.Pairs(frame, LEFT, RIGHT), Y)
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert fitted.predict(wo.Pairs(frame, LEFT, RIGHT)).shape == Y.shape


def test_a_model_file_gives_the_same_model(model, tmp_path):
    fitted = model.fit(PAIRS, Y)
    wo.save(fitted, tmp_path / "model.wo")
    loaded = wo.load(tmp_path / "model.wo")
    np.testing.assert_array_equal(loaded.predict(PAIRS), fitted.predict(PAIRS))
    np.testing.assert_array_equal(loaded.compare(PAIRS), fitted.compare(PAIRS))
    if getattr(fitted, "probability", False):
        np.testing.assert_array_equal(loaded.predict_proba(PAIRS), fitted.predict_proba(PAIRS))


def test_goes_through_cross_validation(model):
    by_scikit_learn = cross_val_score(model, PAIRS, Y, cv=KFold(3))
    assert by_scikit_learn.shape == (3,)
    splits = list(KFold(3).split(LEFT))
    ours = wo.cross_validate(model, PAIRS, Y, metrics=["comparison_error", "comparison_auc"], cv=splits)
    np.testing.assert_allclose(1 - ours["comparison_error"], by_scikit_learn)
    assert ours["comparison_auc"].mean() > 0.5
    by_order = wo.cross_validate(model, ITEMS, wo.Comparisons(LEFT, RIGHT, Y), metrics=["comparison_auc"], cv=splits)
    np.testing.assert_allclose(by_order["comparison_auc"], ours["comparison_auc"], atol=0.02)


def test_the_same_input_gives_the_same_bits(model):
    one, other = (clone(model).fit(PAIRS, Y) for _ in range(2))
    np.testing.assert_array_equal(one.compare(PAIRS), other.compare(PAIRS))


def test_without_a_tie_the_sign_decides(name, model):
    decided = Y != 0
    fitted = model.fit(PAIRS[decided], Y[decided])
    if not isinstance(model, wo.ThresholdCompare):  # its threshold may take doubtful ones for ties, if that is better
        assert fitted.threshold_ == 0.0
        assert set(fitted.predict(PAIRS).tolist()) == {-1, 1}
    assert fitted.score(PAIRS[decided], Y[decided]) > 0.85


def test_only_ties_are_refused(model):
    ties = Y == 0
    with pytest.raises(ValueError, match="nothing to learn a direction from"):
        model.fit(PAIRS[ties], Y[ties])
    with pytest.raises(ValueError, match="nothing to learn a direction from"):
        model.fit(PAIRS, Y, (Y == 0).astype(float))
    with pytest.raises(ValueError, match="no comparison has a weight"):
        model.fit(PAIRS, Y, np.zeros(len(Y)))


def test_one_direction_and_one_comparison_are_enough(name, model):
    right_wins = Y == 1
    assert model.fit(PAIRS[right_wins], Y[right_wins]).score(PAIRS, Y) > 0.4
    if name == "probability":
        with pytest.raises(ValueError, match="at least two decided"):
            model.fit(PAIRS[:1], [1])
        return
    one = wo.Pairs(ITEMS, [3], [4])
    assert model.fit(one, [-1]).predict(one).tolist() == [-1]
    assert model.fit(np.asarray(one), [1]).predict(np.asarray(one)).tolist() == [1]


@pytest.mark.filterwarnings("ignore:the model calls every training pair a tie")  # on half of them, C = 0.1
def test_grid_search_takes_pairs(model):
    grid = {"C": [0.1, 1.0]} if "C" in model.get_params() else {"ties": ["drop", "both"]}
    found = GridSearchCV(model, grid, cv=2).fit(PAIRS, Y)
    assert found.best_estimator_.score(PAIRS, Y) > 0.7
