from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.order import click_propensities_from

Q = np.array([1.0, 0.6, 0.3, 0.15])


def shown_lists(n_lists=3000, seed=0):
    """Lists of four items out of twelve in an order that changes; clicks need a look and a wish."""
    rng = np.random.default_rng(seed)
    wish = np.linspace(0.1, 0.9, 12)
    item = np.array([rng.choice(12, 4, replace=False) for _ in range(n_lists)])
    liked = np.argsort(-(wish[item] + rng.normal(0, 0.3, item.shape)), axis=1)  # a ranker that is right more often
    item = np.take_along_axis(item, liked, axis=1).ravel()
    position, group = np.tile([1, 2, 3, 4], n_lists), np.repeat(np.arange(n_lists), 4)
    return rng.random(len(item)) < Q[position - 1] * wish[item], position, group, item


def test_propensities_from_items_that_moved():
    clicked, position, _, item = shown_lists(20_000)
    np.testing.assert_allclose(click_propensities_from(clicked, position, item), Q, rtol=0.06)
    np.testing.assert_array_equal(
        wo.click_propensities(clicked, position, items=item), click_propensities_from(clicked, position, item)
    )


def test_propensities_from_features():
    clicked, position, _, item = shown_lists(5_000)
    found = wo.click_propensities(clicked, position, X=np.eye(12)[item])
    np.testing.assert_allclose(found, Q, rtol=0.1)


def test_rates_of_positions_overstate_what_a_position_is_worth_and_are_warned_of():
    clicked, position, group, item = shown_lists(5_000)
    with pytest.warns(UserWarning, match="random order"):
        naive = wo.Clicks(clicked, position, group)
    assert (naive.propensities[1:] < Q[1:]).all()
    assert wo.Clicks(clicked, position, group, items=item).propensities[3] == pytest.approx(Q[3], rel=0.15)


def test_a_position_that_was_shown_and_never_clicked_is_not_known():
    with pytest.warns(UserWarning, match="random order"):
        clicks = wo.Clicks([1, 0, 1, 1, 0, 0], [1, 2, 4, 1, 2, 4], [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(clicks.propensities, [1.0, np.nan, np.nan, 0.5])  # 2 had no click, 3 was not shown
    assert clicks.ends.above.tolist() == [1.0, 1.0, 2.0, 1.0, 1.0, 2.0]


def test_what_was_clicked_where_few_look_counts_more():
    clicks = wo.Clicks([1, 0, 0, 1], [1, 2, 1, 4], [0, 0, 1, 1], propensities=Q, floor=0.2)
    assert clicks.ends.above.tolist() == [1.0, 1 / 0.6, 1.0, 5.0]
    assert clicks.n_cut == 1
    scores = [0.0, 1.0, 1.0, 2.0]
    assert wo.metrics.swapped_pairs(clicks, scores) == pytest.approx(1 / 6)
    assert wo.metrics.swapped_pairs(clicks.take(np.array([2, 3])), np.array([2.0, 1.0])) == 1.0


def test_weighted_clicks_learn_what_naive_ones_do_not():
    clicked, position, group, item = shown_lists(20_000, seed=1)
    # two columns: what people want, and where the last ranker put it
    wish = np.linspace(0.1, 0.9, 12)[item]
    X = np.column_stack([wish, -position + np.random.default_rng(0).normal(0, 0.1, len(item))])
    naive = wo.RankSVM().fit(X, wo.Clicks(clicked, position, group, propensities=1)).coef_
    fair = wo.RankSVM().fit(X, wo.Clicks(clicked, position, group, propensities=Q, floor=0.1)).coef_
    assert abs(fair[1] / fair[0]) < 0.5 * abs(naive[1] / naive[0])


def test_positions_without_a_common_item_are_not_guessed():
    clicked, position, item = [1, 0, 1, 1, 0, 1], [1, 2, 2, 3, 4, 3], [0, 0, 0, 1, 1, 1]
    assert np.isnan(click_propensities_from(clicked, position, item)).tolist() == [False, False, True, True]
    with pytest.raises(ValueError, match="row 3 was clicked at position 3, whose propensity is not given"):
        wo.Clicks(clicked, position, [0, 0, 0, 1, 1, 1], items=item)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1, 0], [0, 1], [0, 0], {}), "row 0 has the position 0; positions count from 1, so add one"),
        (([1, 0], [1, 2.5], [0, 0], {}), "row 1 has the position 2.5"),
        (([2, 0], [1, 2], [0, 0], {}), "row 0 has the click 2"),
        (([1, 0], [1, 2], None, {}), "lists that were shown"),
        (([1, 0], [1, 2], [0, 0], {"propensities": [1.0, 0.0]}), "the propensity of position 2 is 0.0"),
        (([1, 0], [1, 2], [0, 0], {"propensities": [1.0]}), "positions up to 2"),
        (([1, 0], [1, 2], [0, 0], {"propensities": {0: 1.0, 1: 1.0}}), "positions count from 1"),
        (([1, 0], [1, 2], [0, 0], {"propensities": {"a": 1.0}}), "the position 'a'; positions count from 1"),
        (([1, 0], [1, 2], [0, 0], {"propensities": {}}), "propensities are all NaN"),
        (([1, 0], [1, 2], [0, 0], {"propensities": "x"}), "propensities must be numbers"),
        (
            ([1, 0, 0], [1, 2, 2], [0, 0, 0], {"propensities": [1, 0.5, 0.5]}),
            "3 propensities, one a row.*weights_above",
        ),
        (([1, 0], [1, np.inf], [0, 0], {}), "row 1 has the position inf; positions are places in a list"),
        (([1, None], [1, 2], [0, 0], {}), "clicks must be True or False"),
        (([1, 0], [1, 2], [0, 0], {"propensities": 1, "floor": "a"}), "floor='a'"),
        (([1, 0], [1, 2], [0, 0], {"items": ["a"]}), "2 rows and 1 items"),
        (([1, 0], [1, 2], [0, 0], {"propensities": 1, "floor": 0}), "floor=0"),
        (([1, 0], [1, 2], [0, 0], {"items": ["a", "b"]}), "no item with a click was seen at two positions"),
    ],
)
def test_what_is_no_click_is_refused(given, message):
    clicked, position, groups, options = given
    with pytest.raises(ValueError, match=message):
        wo.Clicks(clicked, position, groups, **options)


def test_what_single_rows_are_worth_goes_above():
    q = np.array([1.0, 0.5, 1.0, 0.25])
    scores = [0.0, 1.0, 1.0, 0.0]
    rows = wo.Grades([1, 0, 0, 1], [0, 0, 1, 1], weights_above=1 / q)
    clicks = wo.Clicks([1, 0, 0, 1], [1, 2, 1, 4], [0, 0, 1, 1], propensities={1: 1.0, 4: 0.25})
    assert wo.metrics.swapped_pairs(rows, scores) == wo.metrics.swapped_pairs(clicks, scores) == 1.0


@pytest.mark.parametrize(("X", "message"), [([[0.0]], "2 rows"), ([0.0, 1.0], "2 rows"), ([[0.0], [np.nan]], "NaN")])
def test_features_that_say_nothing_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        wo.click_propensities([1, 0], [1, 2], X=X)


def test_features_may_be_lists_or_sparse():
    clicked, position, _, item = shown_lists(200)
    X = np.eye(12)[item]
    for form in (X.tolist(), sp.csr_array(X)):
        np.testing.assert_allclose(
            wo.click_propensities(clicked, position, X=form), wo.click_propensities(clicked, position, X=X), rtol=1e-3
        )


@pytest.mark.parametrize("estimator", [None, make_pipeline(StandardScaler(), make_pipeline(LogisticRegression()))])
def test_metadata_routing_makes_no_difference(estimator):
    clicked, position, _, item = shown_lists(200)
    X = np.eye(12)[item]
    with sklearn.config_context(enable_metadata_routing=True):
        found = wo.click_propensities(clicked, position, X=X, estimator=estimator)
    np.testing.assert_array_equal(found, wo.click_propensities(clicked, position, X=X, estimator=estimator))


def test_nothing_to_estimate_from_is_said():
    with pytest.raises(ValueError, match="max_iter must be a positive whole number"):
        wo.click_propensities([1, 0], [1, 2], X=np.eye(2), max_iter=0)
    with pytest.raises(ValueError, match=r"give items=.*or their features"):
        wo.click_propensities([1, 0], [1, 2])
