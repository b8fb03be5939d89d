"""What every ranker keeps, whoever wrote it: classes are found in ``wellorder.estimators``, not listed here.

What a method cannot keep by its nature stands in ``REASONS``, with the reason; anything else is a mistake.
"""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from tests.estimators.quick import COMPARED, GRADED, make

import wellorder as wo
from wellorder.evaluation import METHODS, make_seeded

ALONE = "it learns from each row's grade alone, and never compares rows"
FOLDS = "its folds are drawn over the rows as they come"
BINS = "the bins of a column, and the rows of a leaf, are counted without their weights"

POINTWISE = ("SVOR", "ProportionalOdds", "ConvexHullRanker", "PlugInRanker", "RidgeRanker", "BoostedTrees")

REASONS = {
    "groups": dict.fromkeys(POINTWISE, ALONE),
    "groups of methods": dict.fromkeys(
        ("svor", "proportional-odds", "convex-hull-ranker", "plug-in-ranker", "ridge", "lightgbm"), ALONE
    ),
    "raised groups": {
        **dict.fromkeys(POINTWISE, ALONE),
        "OrderEnsemble": "one of its members learns from each row's grade alone",
        "MultipleHyperplaneRanker": "it has a ranker for each two grades, which mean the same in every group",
    },
    "unjudged": {"NestedRanker": "rows without a grade stand in its lists, and take places at the top of them"},
    "repetition": {"OrderEnsemble": FOLDS, "BoostedTrees": BINS},
    "permutation": {"OrderEnsemble": FOLDS},
}
"""What some cannot keep, and why."""


@pytest.fixture(autouse=True)
def no_word_of_small_data():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def sample(seed=0, n=72, n_groups=6):
    """Return rows, grades that follow the first column but for some noise, and groups."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, 3)), 3)
    y = np.digitize(X[:, 0] + 0.2 * rng.standard_normal(n), [-0.6, 0.6])
    return X, y, np.arange(n) % n_groups


def swapped(model, X, y, groups):
    return wo.metrics.swapped_pairs(y, score(model, X, groups), groups)


def score(model, X, groups=None):
    from wellorder.scoring import list_scores

    return np.asarray(list_scores(model, X, groups), dtype=float)


def excused(what, name):
    if name in REASONS[what]:
        pytest.skip(f"{name}: {REASONS[what][name]}")


def close(actual, expected, rel=1e-3):
    scale = max(float(np.std(expected)), 1e-12)
    np.testing.assert_allclose(actual, expected, atol=rel * scale)


def test_nobody_is_excused_who_is_not_there():
    assert {name for excuses in REASONS.values() for name in excuses} <= {*GRADED, *METHODS}


@pytest.mark.parametrize("name", GRADED)
def test_better_stands_above(name):
    X, y, _ = sample()
    assert swapped(make(name).fit(X, y), X, y, None) < 0.2


def told_and_untold(make_model):
    """Return the swapped pairs of a model that knows the groups, and of one that does not.

    Within a group the first column says all; between groups it misleads whoever is not told of them.
    """
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(8), 30)
    inside = rng.standard_normal(240)
    X = np.column_stack([inside - 2.0 * group, rng.standard_normal(240)])
    y = np.digitize(inside + group, np.quantile(inside + group, [0.25, 0.5, 0.75]))
    told, untold = make_model().fit(X, y, groups=group), make_model().fit(X, y)
    return swapped(told, X, y, group), swapped(untold, X, y, group)


@pytest.mark.parametrize("name", GRADED)
def test_groups_matter(name):
    excused("groups", name)
    told, untold = told_and_untold(lambda: make(name))
    assert told + 0.1 < untold


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("name", [name for name in GRADED if "kernel" in make(name).get_params()])
def test_groups_matter_to_kernels_too(name, kernel):
    excused("groups", name)
    told, untold = told_and_untold(lambda: make(name, kernel=kernel))
    assert told + 0.02 < untold


@pytest.mark.parametrize(
    "name", [name for name, method in METHODS.items() if "grades" in method.takes and not method.needs_times]
)
def test_methods_are_told_of_the_groups(name):
    """As ``fit`` and ``compare`` make them: with groups a method is better within them, or looks at single rows."""
    excused("groups of methods", name)
    told, untold = told_and_untold(lambda: make_seeded(METHODS[name], 0))
    assert told + 0.02 < untold


@pytest.mark.parametrize("name", GRADED)
def test_grades_of_one_group_say_nothing_about_another(name):
    """Only rows of one group are compared: what all grades of a group are raised by changes nothing."""
    excused("raised groups", name)
    X, y, group = sample()
    # which pairs a consistent risk adds depends on how many levels there are
    plain, raised = (make(name, consistent=False).fit(X, grades, groups=group) for grades in (y, y + 3 * group))
    close(score(raised, X, group), score(plain, X, group))


@pytest.mark.parametrize("name", GRADED)
def test_rows_without_a_grade_change_nothing(name):
    excused("unjudged", name)
    X, y, group = sample()
    more = np.vstack([X, 5.0 + np.random.default_rng(2).standard_normal((20, 3))])
    graded = np.append(y.astype(float), np.full(20, np.nan))
    plain = make(name).fit(X, y.astype(float), groups=group)
    padded = make(name).fit(more, graded, groups=np.append(group, np.arange(20) % 6))
    close(score(padded, X, group), score(plain, X, group))


@pytest.mark.parametrize("name", GRADED)
def test_grades_are_y_with_its_groups_and_weights(name):
    X, y, group = sample()
    weight = 1.0 + np.arange(len(y)) % 3
    apart = make(name).fit(X, y, groups=group, sample_weight=weight)
    whole = make(name).fit(X, wo.Grades(y, group, weights=weight))
    np.testing.assert_array_equal(score(apart, X, group), score(whole, X, group))


@pytest.mark.parametrize("name", GRADED)
@pytest.mark.parametrize("words", [["3", "2", "1"], ["poor", "fair", "good"], ["b", "c", "a"], [3, 2, 1]], ids=str)
def test_levels_count_in_the_order_that_is_declared(name, words):
    """Neither what words would be as numbers nor the alphabet turns an order round."""
    X, y, group = sample()
    numbers = make(name).fit(X, wo.Grades(y, group))
    labelled = np.array(words, dtype=object)[y]
    text = make(name).fit(X, wo.Grades(labelled, group, levels=words))
    np.testing.assert_array_equal(score(text, X, group), score(numbers, X, group))
    if "levels" in make(name).get_params():
        declared = make(name, levels=words).fit(X, labelled, groups=group)
        np.testing.assert_array_equal(score(declared, X, group), score(numbers, X, group))


@pytest.mark.parametrize("name", GRADED)
def test_weight_two_is_the_row_twice(name):
    excused("repetition", name)
    X, y, group = sample()
    times = 1 + np.arange(len(y)) % 3
    weighted = make(name).fit(X, y, groups=group, sample_weight=times.astype(float))
    repeated = make(name).fit(*(np.repeat(part, times, axis=0) for part in (X, y)), groups=np.repeat(group, times))
    a, b = (wo.metrics.kendall_tau(score(weighted, X), score(each, X)) for each in (weighted, repeated))
    assert b > 0.97 * a


@pytest.mark.parametrize("name", GRADED)
def test_the_order_of_the_rows_does_not_matter(name):
    excused("permutation", name)
    X, y, group = sample()
    place = np.random.default_rng(3).permutation(len(y))
    plain, mixed = make(name).fit(X, y, groups=group), make(name).fit(X[place], y[place], groups=group[place])
    close(score(mixed, X, group), score(plain, X, group))


@pytest.mark.parametrize("name", [*GRADED, *COMPARED])
def test_copies_say_the_same(name, tmp_path):
    """Fitted again from a clone, pickled, or saved to a file and loaded."""
    X, y, _ = sample()
    left, right = np.arange(71), np.arange(1, 72)
    games = wo.Comparisons(left, right, np.sign(y[right] - y[left]))
    given = (X, games if name in COMPARED else y)
    model = make(name).fit(*given)
    wo.save(model, tmp_path / "model")
    for copied in (clone(model).fit(*given), pickle.loads(pickle.dumps(model)), wo.load(tmp_path / "model")):
        np.testing.assert_array_equal(score(copied, X), score(model, X))


@pytest.mark.parametrize("name", COMPARED)
def test_the_better_of_two_stands_above_on_either_side(name):
    X, y, _ = sample()
    rng = np.random.default_rng(4)
    left, right = rng.integers(0, 72, (2, 300))
    kept = left != right
    left, right = left[kept], right[kept]
    outcome = np.sign(y[right] - y[left])
    model = make(name).fit(X, wo.Comparisons(left, right, outcome))
    assert swapped(model, X, y, None) < 0.2
    turned = make(name).fit(X, wo.Comparisons(right, left, -outcome))
    close(score(turned, X), score(model, X), rel=0.05)


@pytest.mark.parametrize("name", METHODS)
def test_methods_order_what_they_say_that_they_take(name):
    """A method of the registry, as ``fit`` and ``compare`` make it, puts better above on each kind of data it names."""
    X, y, _ = sample(n=120)
    rng = np.random.default_rng(5)
    left, right = rng.integers(0, 120, (2, 900))
    kept = left != right
    left, right = left[kept], right[kept]
    games = wo.Comparisons(left, right, np.sign(y[right] - y[left]))
    for order in METHODS[name].takes:
        grades = wo.Times(y, np.ones(len(y))) if METHODS[name].needs_times else y
        model = make_seeded(METHODS[name], 0).fit(X, grades if order == "grades" else games)
        assert swapped(model, X, y, None) < 0.25


@pytest.mark.parametrize("name", GRADED)
def test_two_weights_a_row_are_taken_by_those_that_say_so(name):
    X, y, groups = sample()
    grades = wo.Grades(y, groups, weights_above=np.linspace(0.5, 2.0, len(y)))
    model = make(name, estimators=[("svm", wo.RankSVM()), ("best", wo.BestFeature())])  # members that look at pairs
    if type(model).takes_two_weights:
        model.fit(X, grades)
        return
    with pytest.raises(ValueError, match=r"weigh one thing where they stand above.*BestFeature, .*RankSVM.* take them"):
        model.fit(X, grades)
