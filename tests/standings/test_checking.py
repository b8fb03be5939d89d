"""Held-out votes are predicted by models of the others, and judged against a coin and Elo."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from tests.standings.votes import draw, unbeaten
from wellorder.standings import check_fit, checking


def halves(votes, **more):
    """Return check_fit in two parts that a cluster decides, and which votes are of the first part."""
    half = np.arange(len(votes)) % 2
    return check_fit(votes, n_folds=2, clusters={"half": half}, **more), half


def test_each_part_is_predicted_by_rate_of_the_other():
    length = np.random.default_rng(9).normal(0, 50, 600)
    votes = draw([1.0, 0.3, 0.0, -0.5, -0.8], 600, moved=0.4 + 0.01 * length)
    found, half = halves(votes, side=True, controls={"length": length})
    for part in (0, 1):
        train, test = half != part, half == part
        kept = wo.Comparisons(votes.left[train], votes.right[train], votes.outcome[train])
        model = wo.rate(kept, side=True, controls={"length": length[train]})
        ends = (votes.left[test].astype(str), votes.right[test].astype(str))
        expected = model.predict(*ends, controls={"length": length[test]})
        assert found.probabilities[test] == pytest.approx(
            expected.select("p_left", "p_tie", "p_right").to_numpy(), abs=1e-8
        )
    came = found.probabilities[np.arange(600), votes.outcome + 1]
    assert found.losses["model"] == pytest.approx(-np.log(came).mean())
    assert found.by == "half"
    assert found.typical == {"length": pytest.approx(np.sqrt(np.mean(length**2)))}


def test_judges_are_known_again():
    rng = np.random.default_rng(4)
    judge = rng.integers(0, 4, 800)
    votes = draw(np.linspace(0.5, -0.5, 5), 800, moved=np.array([-2.0, -0.7, 0.7, 2.0])[judge])
    alone, known = check_fit(votes, side=True), check_fit(votes, side=True, judge=judge)
    assert known.losses["model"] < alone.losses["model"] - 0.1


def test_the_coin_knows_shares_and_favours_a_side_only_where_that_is_asked():
    votes = draw([0.0, 0.0, 0.0], 400, moved=1.5)
    (plain, half), (sided, _) = halves(votes), halves(votes, side=True)
    losses = {"plain": 0.0, "sided": 0.0}
    for part in (0, 1):
        lost, tied, won = (np.count_nonzero(votes.outcome[half != part] == each) + 0.5 for each in (-1, 0, 1))
        mean = 0.5 * (lost + won)
        for name, shares in (("plain", (mean, tied, mean)), ("sided", (lost, tied, won))):
            chosen = np.array(shares)[votes.outcome[half == part] + 1] / sum(shares)
            losses[name] -= np.log(chosen).sum() / 400
    assert plain.losses["coin"] == pytest.approx(losses["plain"])
    assert sided.losses["coin"] == pytest.approx(losses["sided"])
    assert sided.losses["coin"] < plain.losses["coin"]


def test_the_model_beats_both_where_there_is_something_to_know_and_neither_where_there_is_not():
    found = check_fit(draw(np.linspace(1.2, -1.2, 8), 3_000))
    assert found.losses["model"] < found.losses["elo"] < found.losses["coin"]
    assert found.gains["coin"].difference > 4 * found.gains["coin"].error
    assert found.gains["coin"].difference == pytest.approx(found.losses["coin"] - found.losses["model"])
    nothing = check_fit(draw(np.zeros(8), 3_000))
    assert abs(nothing.gains["coin"].difference) < 0.01
    assert nothing.gains["coin"].difference < 2 * nothing.gains["coin"].error


def test_standard_errors_are_of_votes_or_of_clusters():
    rng = np.random.default_rng(0)
    differences, cluster = rng.normal(0.2, 1.0, 300), rng.integers(0, 12, 300)
    even = np.full(300, 1 / 300)
    assert checking._gain(differences, even, ()).error == pytest.approx(differences.std() / np.sqrt(300))
    sums = np.bincount(cluster, differences - differences.mean(), 12) / 300
    assert checking._gain(differences, even, [cluster]).error == pytest.approx(np.sqrt((sums**2).sum() * 12 / 11))


def test_votes_of_one_cluster_stay_together(monkeypatch):
    votes = draw(np.linspace(1, -1, 5), 400)
    prompt = np.random.default_rng(0).integers(0, 40, 400)
    few = np.arange(400) % 3
    seen = []
    by_model = checking._by_model
    monkeypatch.setattr(checking, "_by_model", lambda train, test, X: (seen.append(test), by_model(train, test, X))[1])
    found = check_fit(votes, clusters={"judge": few, "prompt": prompt})
    assert found.by == "prompt"
    assert found.n_folds == len(seen) == 5
    assert sum(len(test) for test in seen) == 400
    asked = checking.ask(votes, checking.Options(clusters={"judge": few, "prompt": prompt}))
    fold, _ = checking._folds(asked, 5, np.random.default_rng(0))
    assert all(len(set(fold[prompt == each])) == 1 for each in range(40))


def test_counts_stand_for_votes():
    votes = draw(np.linspace(1, -1, 5), 4_000)
    keys, count = np.unique(np.column_stack([votes.left, votes.right, votes.outcome]), axis=0, return_counts=True)
    counted = check_fit(wo.Comparisons(*keys.T), counts=count)
    single = check_fit(votes)
    assert counted.n_votes == single.n_votes == 4_000
    assert (counted.in_order, single.in_order) == (False, True)
    for name, loss in single.losses.items():
        assert counted.losses[name] == pytest.approx(loss, abs=0.01)


def test_of_many_votes_some_are_drawn(monkeypatch):
    monkeypatch.setattr(checking, "MOST_VOTES", 500)
    found = check_fit(draw(np.linspace(1, -1, 5), 2_000))
    assert (found.n_votes, found.n_all, len(found.outcome)) == (500, 2_000, 500)


def test_items_without_a_finite_rating_are_predicted_all_the_same():
    found = check_fit(unbeaten())
    assert found.n_pulled > 0
    assert np.isfinite(list(found.losses.values())).all()
    assert found.losses["model"] < found.losses["coin"]


def test_a_tie_that_never_came_in_training_is_not_impossible():
    votes = draw(np.linspace(1, -1, 4), 40, ties=1e-9)
    votes.outcome[7] = 0
    found = check_fit(votes)
    assert found.losses["model"] < 3.0


def test_too_little_is_refused():
    with pytest.raises(ValueError, match="n_folds=1 leaves nothing"):
        check_fit(draw([0.0, 1.0], 10), n_folds=1)
    with pytest.raises(ValueError, match="a single vote"):
        check_fit(wo.Comparisons([0], [1], [1]))
