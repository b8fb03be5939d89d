"""What is believed of items is near the exact posterior, with few votes and with many, and with features."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from tests.reference import choosing as slow
from tests.standings.votes import draw, two_islands, unbeaten
from wellorder.choosing import beliefs as module, believe, choose_pairs, judges


def test_mean_and_covariance_are_those_of_the_exact_posterior():
    votes = draw([1.2, 0.0, -0.7, 0.4], 14, seed=1)
    found = believe(list(votes.names), votes)
    mean, cov = slow.posterior(votes.left, votes.right, votes.outcome, 4, found.log_nu, found.spread**2)
    assert found.mean == pytest.approx(mean, abs=0.04)
    assert found.covariance() == pytest.approx(cov, abs=0.05)


def test_one_item_that_won_everything_is_as_the_exact_posterior_has_it():
    votes = unbeaten(12)
    found = believe(list("abcde"), votes)
    mean, cov = slow.posterior(votes.left, votes.right, votes.outcome, 5, found.log_nu, found.spread**2)
    assert found.mean == pytest.approx(mean, abs=0.08)
    assert np.diag(found.covariance()) == pytest.approx(np.diag(cov), rel=0.08)


@pytest.mark.parametrize("spread", [0.7, 2.5])
def test_the_spread_is_found_from_few_votes_an_item(spread):
    found = []
    for seed in range(6):
        truth = np.random.default_rng(seed).standard_normal(80)
        truth *= spread / truth.std()
        votes = draw(truth, 640, seed=seed)
        found.append(believe(list(votes.names), votes).spread)
    assert np.mean(found) == pytest.approx(spread, rel=0.15)


def test_votes_in_other_order_and_turned_round_say_the_same():
    votes = draw(np.linspace(-2, 2, 9), 200, seed=3)
    names = list(votes.names)
    other = np.random.default_rng(0).permutation(200)
    turned = wo.Comparisons(votes.right[other], votes.left[other], -votes.outcome[other])
    turned.names = votes.names
    one, two = believe(names, votes), believe(names, turned)
    assert two.mean == pytest.approx(one.mean, abs=1e-6)
    assert two.n_votes == one.n_votes == 200


def test_a_start_changes_the_way_and_not_the_end():
    votes = draw(np.linspace(-2, 2, 12), 300, seed=4)
    names = list(votes.names)
    cold = believe(names, votes)
    warm = believe(names, votes, start=believe(names))
    assert warm.mean == pytest.approx(cold.mean, abs=0.03)
    assert warm.spread == pytest.approx(cold.spread, rel=0.02)


def test_votes_that_are_gone_are_forgotten_on_the_way_that_judges_are_checked_by():
    rng = np.random.default_rng(5)
    truth = 2.0 * rng.standard_normal(30)
    left = rng.integers(0, 30, 900)
    right = (left + rng.integers(1, 30, 900)) % 30
    outcome = np.sign(truth[right] - truth[left] + rng.logistic(size=900)).astype(int)
    outcome[:100] = -1  # one judge, who says so whatever is shown
    everything = believe(range(30), wo.Comparisons(left, right, outcome))
    others = wo.Comparisons(left[100:], right[100:], outcome[100:])
    exact = believe(range(30), others, still=1e-7)
    warm = believe(range(30), others, start=everything, still=judges._STILL)

    def lean(beliefs):
        return float((beliefs.mean[left[:100]] - beliefs.mean[right[:100]]).sum())

    lingers = (lean(warm) - lean(exact)) / (lean(everything) - lean(exact))
    assert abs(lingers) < 0.02
    assert np.log(warm.spread / exact.spread) == pytest.approx(0.0, abs=0.005)


def test_with_few_votes_an_item_variances_are_found_in_few_rounds(monkeypatch):
    rounds, matched = [], module._matched
    monkeypatch.setattr(module, "_matched", lambda *given: rounds.append(1) or matched(*given))
    for seed in range(4):
        votes = draw(1.5 * np.random.default_rng(seed).standard_normal(80), 200, seed=seed)
        believe(list(votes.names), votes)
    assert len(rounds) < 68  # 57; without leaps 78


@pytest.mark.parametrize("more", [False, True])
def test_a_start_from_other_votes_on_the_same_pairs_misleads_nobody(more):
    rng = np.random.default_rng(6)
    left, right, outcome = rng.integers(0, 5, 3_000), rng.integers(5, 10, 3_000), rng.integers(-1, 2, 3_000)
    start = believe(range(10), wo.Comparisons(left, right, outcome))
    some = np.flatnonzero((left == 0) & (right == 5))[:4]
    if more:  # votes that say the opposite of those that came before
        votes = wo.Comparisons(*(np.r_[each, each[some]] for each in (left, right)), np.r_[outcome, [1] * 4])
    else:  # as many votes on each pair, which say something else
        outcome[some] = 1
        votes = wo.Comparisons(left, right, outcome)
    warm, exact = believe(range(10), votes, start=start), believe(range(10), votes, still=1e-7)
    assert warm.mean == pytest.approx(exact.mean, abs=0.002)
    assert np.abs(exact.mean - start.mean).max() > 0.008
    assert warm.factors.n.sum() == len(votes)


def test_features_speak_of_items_without_votes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    truth = X @ [1.5, -1.0, 0.0]
    votes = draw(truth[:60], 900, seed=0)
    names = [f"item {k}" for k in range(80)]
    for kernel in ("linear", "rbf"):
        found = believe(names, votes, features=X, kernel=kernel)
        assert np.corrcoef(found.mean[60:], truth[60:])[0, 1] > (0.97 if kernel == "linear" else 0.6)
        assert found.has_features
    assert believe(names, votes).mean[60:] == pytest.approx(0.0, abs=1e-9)


def test_an_item_with_unusual_features_is_more_in_doubt():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 2)) * [1.0, 0.05]
    X[49] = [0.0, 2.0]
    votes = draw(X[:40, 0], 600, seed=0)
    found = believe([f"item {k}" for k in range(50)], votes, features=X)
    variance = found.variances()
    assert variance[49] > 1.5 * variance[40:49].max()
    batch = choose_pairs(found, 5, random_share=0.0, random_state=0)
    assert "item 49" in batch.pairs[0]


def test_many_items_are_as_few_by_the_approximation(monkeypatch):
    truth = 1.5 * np.random.default_rng(0).standard_normal(120)
    votes = draw(truth, 900, seed=0)
    names = list(votes.names)
    exact = believe(names, votes)
    monkeypatch.setattr(module, "MOST_EXACT", 50)
    rough = believe(names, votes, random_state=0)
    assert rough.root.shape == (120, 64)
    assert np.corrcoef(rough.mean, exact.mean)[0, 1] > 0.998
    assert rough.spread == pytest.approx(exact.spread, rel=0.1)
    ratio = rough.variances() / exact.variances()
    assert np.median(ratio) == pytest.approx(1.0, abs=0.2)
    a, b = np.triu_indices(120, 1)
    both = [each.variances()[a] + each.variances()[b] - 2 * each.covariances(a, b) for each in (rough, exact)]
    assert np.corrcoef(*both)[0, 1] > 0.4


@pytest.mark.parametrize(
    ("items", "options", "message"),
    [
        (["a"], {}, "two items at least"),
        (["a", "b", "a"], {}, "two items are called 'a'"),
        (["a", "b"], {"features": [[1.0], [np.nan]]}, "missing or infinite for item 1"),
        (["a", "b"], {"features": [[1.0], [1.0]]}, "no feature differs"),
        (["a", "b"], {"features": [[1.0], [2.0]], "kernel": "cubic"}, "neither 'linear' nor 'rbf'"),
        (["a", "b"], {"votes": wo.Comparisons.from_names(["a"], ["c"], [1])}, "no item 'c'"),
        (["a", "b"], {"votes": wo.Comparisons([0], [5], [1])}, "a vote is on item 5"),
    ],
)
def test_what_makes_no_sense_is_refused(items, options, message):
    with pytest.raises(ValueError, match=message):
        believe(items, **options)


def test_islands_are_those_of_the_votes():
    votes = two_islands()
    found = believe([*"abcdefg", "h"], votes)
    assert len(set(found.island[:4])) == 1
    assert len(set(found.island.tolist())) == 3
