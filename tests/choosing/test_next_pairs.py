"""Pairs that teach most come, spread over the items, within what is allowed; drawn ones are uniform."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import wellorder as wo
from tests.reference import choosing as slow
from tests.standings.votes import draw, named, two_islands, unbeaten
from wellorder.choosing import Goal, batches, believe, choose_pairs
from wellorder.choosing.gains import answer_table

NAMES = [f"item {k}" for k in range(30)]


def numbered(pairs):
    return [tuple(int(name.split()[1]) for name in pair) for pair in pairs]


def test_before_any_vote_a_batch_links_all_items_evenly():
    for k in (29, 45, 90):
        pairs = numbered(wo.next_pairs(NAMES, k, random_share=0.0, random_state=1))
        assert len({frozenset(pair) for pair in pairs}) == k
        assert slow.islands(30, pairs) == 1
        times = Counter(item for pair in pairs for item in pair)
        assert max(times.values()) <= 2 * k / 30 + 4
    assert slow.islands(30, numbered(wo.next_pairs(NAMES, 28, random_share=0.0, random_state=1))) == 2


@pytest.mark.parametrize("votes", [two_islands(), unbeaten()])
def test_islands_are_linked_first_from_standings_and_beliefs(votes):
    names = [str(name) for name in votes.names]
    for known in (wo.rate(votes), believe(names, votes)):
        pairs = wo.next_pairs(known, 6, random_share=0.0, random_state=0)
        if len(names) == 7:
            assert len({name in "abcd" for name in pairs[0]}) == 2
        assert len(pairs) == 6


def test_the_best_pair_is_the_one_that_a_search_finds():
    votes = draw([2.0, 1.6, 0.3, 0.0, -1.5, -2.0], 80, seed=2)
    known = believe([str(name) for name in votes.names], votes)
    cov, table = known.covariance(), answer_table(known.log_nu)
    best, most, information = None, -1.0, np.nan
    for a in range(6):
        for b in range(a + 1, 6):
            variance, apart = cov[a, a] + cov[b, b] - 2 * cov[a, b], known.mean[b] - known.mean[a]
            gain = slow.order_gain(known.mean, cov, a, b, table.told(apart, variance))
            if gain > most:
                best, most = {known.names[a], known.names[b]}, gain
                information = slow.information_gain(apart, variance, known.log_nu)
    batch = choose_pairs(known, 1, random_share=0.0, random_state=0)
    assert set(batch.pairs[0]) == best
    assert batch.gain[0] == pytest.approx(information / np.log(2), rel=0.03)


def test_of_many_items_the_best_pair_is_the_one_that_tells_most_of_its_own_difference(monkeypatch):
    monkeypatch.setattr(batches, "MOST_PAIRED", 5)
    votes = draw([2.0, 1.6, 0.3, 0.0, -1.5, -2.0], 80, seed=2)
    known = believe([str(name) for name in votes.names], votes)
    cov, gain = known.covariance(), {}
    for a in range(6):
        for b in range(a + 1, 6):
            variance = cov[a, a] + cov[b, b] - 2 * cov[a, b]
            gain[a, b] = slow.information_gain(known.mean[b] - known.mean[a], variance, known.log_nu)
    best = max(gain, key=gain.get)
    batch = choose_pairs(known, 1, random_share=0.0, random_state=0)
    assert set(batch.pairs[0]) == {known.names[each] for each in best}
    assert batch.gain[0] == pytest.approx(gain[best] / np.log(2), rel=0.03)


def test_standings_and_beliefs_choose_alike_where_votes_are_many():
    votes = draw(np.linspace(2, -2, 12), 2_000, seed=4)
    one, two = (
        {frozenset(pair) for pair in wo.next_pairs(known, 10, random_share=0.0, random_state=0)}
        for known in (wo.rate(votes), believe([str(name) for name in votes.names], votes))
    )
    assert len(one & two) >= 6
    rank = {row["item"]: row["rank"] for row in wo.rate(votes).table().iter_rows(named=True)}
    assert np.mean([abs(rank[a] - rank[b]) for a, b in map(tuple, one)]) <= 3  # of two drawn ones 4.3


def test_a_batch_spreads_over_the_items():
    votes = draw(np.zeros(40), 400, seed=5)
    pairs = wo.next_pairs(wo.rate(votes), 40, random_share=0.0, random_state=0)
    times = Counter(name for pair in pairs for name in pair)
    assert max(times.values()) <= 5
    assert len({frozenset(pair) for pair in pairs}) == 40


def test_a_new_item_is_asked_about_first_and_not_alone():
    votes = draw(np.zeros(20), 3_000, seed=5)
    one = named(np.r_[votes.left, 20], np.r_[votes.right, 0], np.r_[votes.outcome, 1], [*votes.names, "new"])
    pairs = wo.next_pairs(believe([str(name) for name in one.names], one), 40, random_share=0.0, random_state=0)
    assert "new" in pairs[0]
    assert 5 <= sum("new" in pair for pair in pairs) <= 25


def test_the_top_is_asked_about_around_its_boundary():
    votes = draw(np.linspace(4, -4, 40), 4_000, seed=6)
    known = believe([str(name) for name in votes.names], votes)
    for goal, places in (({"top": 5}, [5]), ({"goal": "levels 4"}, [10, 20, 30])):
        pairs = numbered(wo.next_pairs(known, 8, random_share=0.0, random_state=0, **goal))
        rank = np.argsort(np.argsort(-known.mean))
        far = [min(abs(rank[item] + 0.5 - place) for place in places for item in pair) for pair in pairs]
        assert max(far) <= 4
    everything = numbered(wo.next_pairs(known, 8, random_share=0.0, random_state=0))
    assert max(abs(rank[item] - 5) for pair in everything for item in pair) > 10


def test_what_is_excluded_never_comes_and_what_is_avoided_only_by_lot():
    pairs = [(NAMES[a], NAMES[b]) for a in range(8) for b in range(a) if (a + b) % 3]
    options = {"exclude": [NAMES[7], *pairs[:9]], "avoid": pairs[9:]}
    allowed = {frozenset((NAMES[a], NAMES[b])) for a in range(7) for b in range(a)} - set(map(frozenset, pairs[:9]))
    batch = choose_pairs(NAMES[:8], 100, random_share=1.0, random_state=0, **options)
    assert {frozenset(pair) for pair in batch.pairs} == allowed
    assert batch.random.all()
    chosen = choose_pairs(NAMES[:8], 100, random_share=0.0, random_state=0, **options)
    assert {frozenset(pair) for pair in chosen.pairs} == allowed - set(map(frozenset, pairs[9:]))
    assert not chosen.random.any()
    assert wo.next_pairs(NAMES[:2], 3, exclude=[NAMES[0]]) == []


def test_drawn_pairs_are_uniform_and_as_many_as_asked_for():
    votes = draw(np.linspace(3, -3, 6), 200, seed=0)
    known = believe([str(name) for name in votes.names], votes)
    rng = np.random.default_rng(0)
    came: Counter[frozenset[str]] = Counter()
    n_random = []
    for _ in range(1_500):
        batch = choose_pairs(known, 3, random_share=0.5, random_state=rng)
        came.update(frozenset(pair) for pair, drawn in zip(batch.pairs, batch.random, strict=True) if drawn)
        n_random.append(batch.random.sum())
    assert np.mean(n_random) == pytest.approx(1.5, abs=0.05)
    counts = np.array([came[pair] for pair in came])
    assert len(counts) == 15
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 36  # χ² with 14 degrees of freedom: .1 %


def test_drawn_pairs_of_many_items_are_within_what_is_allowed(monkeypatch):
    monkeypatch.setattr(batches, "_LISTED", 10)
    pairs = wo.next_pairs(NAMES, 200, random_share=1.0, random_state=0, exclude=[NAMES[3], (NAMES[1], NAMES[2])])
    assert len({frozenset(pair) for pair in pairs}) == 200
    assert not any(NAMES[3] in pair or set(pair) == {NAMES[1], NAMES[2]} for pair in pairs)


def test_sides_are_drawn():
    pairs = numbered(wo.next_pairs(NAMES, 400, random_state=0))
    assert 150 < sum(a < b for a, b in pairs) < 250


def test_no_pair_is_closer_than_is_wanted():
    votes = draw(np.linspace(3, -3, 10), 3_000, seed=1)
    known = believe([str(name) for name in votes.names], votes)
    batch = choose_pairs(known, 20, min_difference=1.5, random_state=0)
    assert min(abs(known.difference(a, b)[0]) for a, b in batch.pairs) > 1.2
    assert not batch.random.any()  # these are of what is left
    assert len(wo.next_pairs(NAMES, 10, min_difference=1.0, random_state=0)) == 10


def test_the_same_number_gives_the_same_pairs():
    votes = draw(np.linspace(1, -1, 20), 100, seed=1)
    known = wo.rate(votes)
    one, two, other = (wo.next_pairs(known, 15, random_state=seed) for seed in (1, 1, 2))
    assert one == two != other


def test_many_items_are_chosen_from_neighbours_nearly_as_well(monkeypatch):
    votes = draw(1.5 * np.random.default_rng(0).standard_normal(150), 1_500, seed=0)
    known = believe([str(name) for name in votes.names], votes)
    monkeypatch.setattr(batches, "OrderGains", lambda *_: None)  # by their own difference, as of many items
    whole = choose_pairs(known, 60, random_share=0.0, random_state=0)
    monkeypatch.setattr(batches, "MOST_PAIRED", 10)
    part = choose_pairs(known, 60, random_share=0.0, random_state=0)
    assert part.gain.sum() > 0.9 * whole.gain.sum()
    assert len({frozenset(pair) for pair in part.pairs}) == 60


def test_supposed_answers_leave_about_what_exact_updates_leave():
    votes = draw(np.linspace(2, -2, 15), 200, seed=0)
    known = believe([str(name) for name in votes.names], votes)
    chooser = batches._Chooser(
        known, Goal("top", 5), batches._Allowed(15, *[np.zeros(0, np.int64)] * 3), 0.0, np.random
    )
    pairs = chooser.compared(np.array([0 * 15 + 1, 2 * 15 + 7]))
    told = chooser.table.told(pairs.apart, pairs.variance)
    cov = known.covariance()
    for a, b, information in zip(pairs.a, pairs.b, told, strict=True):
        way = cov[a] - cov[b]
        cov -= np.outer(way, way) * information / (1 + information * (way[a] - way[b]))
    chooser._suppose(pairs)
    everything = chooser.compared(batches._all_pairs(15))
    exact = cov[everything.a, everything.a] + cov[everything.b, everything.b] - 2 * cov[everything.a, everything.b]
    assert chooser._left(everything) == pytest.approx(exact, rel=0.1)


def test_standings_with_features_ask_about_items_where_features_leave_doubt():
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    x = np.r_[rng.standard_normal(30), 6.0, 0.0, 0.0]
    seldom = np.r_[np.zeros(32), 1.0]  # no vote says what this is worth
    votes = draw(x[:30], 500, seed=0)
    items = pl.DataFrame({"item": [f"item {k}" for k in range(33)], "x": x, "seldom": seldom})
    frame = pl.DataFrame(
        {
            "left": votes.names[votes.left].tolist(),
            "right": votes.names[votes.right].tolist(),
            "outcome": votes.outcome.tolist(),
        }
    )
    standings = wo.rate(wo.read(frame, items=items), features=True)
    batch = choose_pairs(standings, 4, random_share=0.0, random_state=0)
    assert "item 32" in batch.pairs[0]
    known = batches.from_standings(standings)
    assert known.mean[30] > known.mean[:30].max()
    assert known.mean[31] == pytest.approx(known.mean[:30].mean(), abs=0.7)
    again = believe([f"item {k}" for k in range(33)], votes, features=np.column_stack([x, seldom]))
    assert np.corrcoef(again.mean, known.mean)[0, 1] > 0.99
    for a, b in (("item 30", "item 31"), ("item 30", "item 4")):  # nobody has compared the first
        assert known.difference(a, b)[1] == pytest.approx(again.difference(a, b)[1], rel=0.35)
    for a, b in (("item 3", "item 4"), ("item 0", "item 20")):
        _, low, high = standings.difference(a, b)
        assert known.difference(a, b)[1] == pytest.approx((high - low) / 3.92, rel=0.3)


def test_a_fitted_model_and_its_items():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) * [1.0, 0.05]
    X[39] = [0.0, 2.0]
    votes = draw(X[:30, 0], 600, seed=0)
    options = {"items": X, "names": [f"item {k}" for k in range(40)], "random_share": 0.0, "random_state": 0}
    ranker = wo.RankSVM().fit(X, wo.Comparisons(votes.left, votes.right, votes.outcome))
    assert "item 39" in choose_pairs(ranker, 3, votes=votes, **options).pairs[0]
    kernel = wo.RankSVM(kernel="rbf").fit(X, wo.Comparisons(votes.left, votes.right, votes.outcome))
    assert len(wo.next_pairs(kernel, 5, **options)) == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k=0 is no number of pairs"),
        ({"random_share": 1.5}, "random_share=1.5"),
        ({"min_difference": -1}, "min_difference=-1"),
        ({"goal": "best"}, "goal='best' is no goal"),
        ({"goal": "top"}, "goal='top' is no goal"),
        ({"top": 30}, "there are 30 items"),
        ({"top": 3, "levels": 4}, "are several goals"),
        ({"goal": "levels", "top": 3}, "are several goals"),
        ({"exclude": ["item 31"]}, "no item 'item 31'"),
        ({"exclude": [("item 1", "item 2", "item 3")]}, "is no pair"),
    ],
)
def test_what_makes_no_sense_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        wo.next_pairs(NAMES, **({"k": 3} | change))


def test_other_things_than_items_are_refused():
    with pytest.raises(TypeError, match="a list of names"):
        wo.next_pairs("tea", 3)
    with pytest.raises(ValueError, match="give items="):
        wo.next_pairs(wo.RankSVM(), 3)


def test_goals_print_as_they_are_read():
    for text in ("rank", "top 10", "levels 4"):
        assert str(Goal.parse(text)) == text
    assert Goal.parse("top=3") == Goal("top", 3) == Goal.of("top", 3, None)
    assert Goal.parse("levels 4").level_of(np.arange(8.0)).tolist() == [3, 3, 2, 2, 1, 1, 0, 0]


def test_ties_and_wins_count_as_they_came():
    votes = named([0, 1, 0], [1, 0, 2], [1, 0, -1], ["a", "b", "c"])
    known = believe(["a", "b", "c"], votes)
    assert known.mean[1] > known.mean[0] > known.mean[2]
