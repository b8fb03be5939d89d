"""Two items at a time: chances are those of ``probability``, and pairs are asked that tell most."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from tests.standings.votes import draw, two_islands, unbeaten
from wellorder.standings import chances_above, clearly_above, order_of, telling_pairs


@pytest.mark.parametrize("votes", [draw(np.linspace(1, -1, 6), 200), unbeaten(), two_islands()])
def test_chances_are_those_of_single_pairs(votes):
    standings = wo.rate(votes)
    places = order_of(standings)
    assert standings.items_[places].tolist() == standings.table()["item"].to_list()
    found = chances_above(standings, places)
    names = standings.items_[places]
    expected = [[standings.probability(a, b) for b in names] for a in names]
    assert found == pytest.approx(np.array(expected), nan_ok=True)
    above = {(str(names[a]), str(names[b])) for a, b in np.argwhere(clearly_above(standings, places))}
    assert above == set(standings.above().rows())


def test_the_pair_that_tells_most_is_close_and_unsure():
    votes = draw([2.0, 1.9, 0.0, -0.1, -2.0, -2.1], 600)
    rare = (votes.left < 4) & (votes.right < 4) | (np.arange(600) < 60)  # the last two are hardly known
    standings = wo.rate(wo.Comparisons(votes.left[rare], votes.right[rare], votes.outcome[rare]))
    pairs = telling_pairs(standings, 5)
    assert set(pairs[0]) == {"4", "5"}
    assert len(set(pairs)) == len(pairs)


def test_pairs_that_are_told_apart_or_far_from_each_other_are_not_asked():
    standings = wo.rate(draw(np.linspace(2, -2, 12), 1500, seed=4))
    pairs = telling_pairs(standings, 10)
    rank = {row["item"]: row["rank"] for row in standings.table().iter_rows(named=True)}
    apart = [abs(rank[a] - rank[b]) for a, b in pairs]
    assert len(pairs) == 10
    assert max(apart) <= 2
    assert not set(pairs) & set(standings.above().rows())
    # few votes on very different items: all pairs are open, the near ones come first
    few = wo.rate(draw([3.0, 1.0, -1.0, -3.0], 90, seed=1))
    rank = {row["item"]: row["rank"] for row in few.table().iter_rows(named=True)}
    assert all(abs(rank[a] - rank[b]) == 1 for a, b in telling_pairs(few, 2))


def test_after_a_pair_was_asked_others_come():
    standings = wo.rate(draw([0.0] * 6, 120, seed=3))
    pairs = telling_pairs(standings, 6)
    times = np.unique([name for pair in pairs for name in pair], return_counts=True)[1]
    assert len(times) >= 5
    assert times.max() <= 4


def test_islands_are_linked_first_and_the_unbeaten_meets_its_neighbour():
    assert len({name in "abcd" for name in telling_pairs(wo.rate(two_islands()), 5)[0]}) == 2
    standings = wo.rate(unbeaten())
    assert telling_pairs(standings, 5)[0] == tuple(standings.table()["item"][:2])
