"""Who is asked what: nothing twice, nothing lost, sides by chance, the same after every start."""

import sqlite3
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from wellorder.collect import Collection, Store, StoreError
from wellorder.collect.collection import LONGEST_NOTE, RefusedError
from wellorder.collect.desk import Desk
from wellorder.collect.store import Offer

NAMES = ["ash", "birch", "cedar", "elm", "fir", "oak"]


@contextmanager
def opened(path, names=NAMES, judges=("Ann", "Ben"), seed=0, **setting):
    store = Store(path)
    with closing(store):
        collection = Collection(store, names, judges, random=Random(seed), **setting)
        with store.transaction():
            yield collection


def ballots(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute('SELECT "left", "right", outcome, judge, note, chosen FROM ballots').fetchall()


def pair_of(turn):
    return frozenset((turn.offer.left, turn.offer.right))


def sitting(collection, judge, most=1_000, outcome="left"):
    """Answer until there is nothing left; return the pairs."""
    pairs = []
    while len(pairs) < most and (turn := collection.turn(judge)).offer is not None:
        pairs.append(pair_of(turn))
        collection.answer(judge, turn.offer.number, outcome)
    return pairs


def test_every_pair_is_asked_once_and_no_other(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        pairs = sitting(collection, 1, 4) + sitting(collection, 2, 5) + sitting(collection, 1) + sitting(collection, 2)
        assert Counter(pairs) == Counter(map(frozenset, combinations(collection.items, 2)))
        assert collection.turn(2).offer is None
    assert len(ballots(tmp_path / "v.db")) == 15


def test_where_it_is_wanted_two_judges_get_each_pair_but_nobody_gets_one_twice(tmp_path):
    with opened(tmp_path / "v.db", per_pair=2) as collection:
        for judge in (1, 2):
            assert Counter(sitting(collection, judge)) == Counter(map(frozenset, combinations(collection.items, 2)))
    with opened(tmp_path / "v.db", per_pair=2, judges=("Ann", "Ben", "Cleo")) as collection:
        assert collection.turn(3).offer is None


def test_two_judges_at_once_never_have_the_same_pair(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        while (one := collection.turn(1)).offer is not None:
            other = collection.turn(2)
            assert other.offer is None or pair_of(one) != pair_of(other)
            collection.answer(1, one.offer.number, "tie")


def test_the_first_pairs_link_everything(tmp_path):
    names = [f"item {k}" for k in range(40)]
    with opened(tmp_path / "v.db", names=names, random_share=0.0) as collection:
        pairs = sitting(collection, 1, 39)
        assert (
            len({item for pair in pairs[:20] for item in pair}) == 40
        )  # everything is seen once before anything twice
        island = {item: item for item in collection.items}
        for one, other in pairs:
            island = {item: island[one] if at == island[other] else at for item, at in island.items()}
        assert len(set(island.values())) == 1


@pytest.mark.parametrize("advice", [{"n_votes": 0, "pairs": []}, {"error": "it has ended"}])
def test_the_first_pairs_stay_planned_where_nothing_else_is_advised(tmp_path, advice):
    with opened(tmp_path / "v.db", random_share=0.0) as collection:
        collection.follow(advice)  # as at the start, before there is a vote
        sitting(collection, 1, 5)
        assert collection.advice == advice
    assert {row[5] for row in ballots(tmp_path / "v.db")} == {"opening"}


def test_sides_are_drawn_at_random_and_kept(tmp_path):
    names = [f"item {k}" for k in range(40)]
    with opened(tmp_path / "v.db", names=names) as collection:
        sitting(collection, 1, 400, outcome="right")
    rows = ballots(tmp_path / "v.db")
    first = sum(names.index(left) < names.index(right) for left, right, *_ in rows)
    assert 150 < first < 250  # 400 tosses of a coin: five standard errors
    assert {row[2] for row in rows} == {"right"}


def test_a_share_is_drawn_at_random_whatever_is_planned(tmp_path):
    names = [f"item {k}" for k in range(60)]
    with opened(tmp_path / "v.db", names=names, random_share=0.25) as collection:
        collection.follow({"pairs": list(combinations(names, 2))})
        sitting(collection, 1, 400)
    chosen = Counter(row[5] for row in ballots(tmp_path / "v.db"))
    assert 60 < chosen["random"] + chosen["drawn"] < 140
    assert chosen["plan"] == 400 - chosen["random"] - chosen["drawn"]


def sample_of(seed, n_votes=14):
    """Return which pairs were drawn, and which were asked, of 28, where the plan is of the first four items."""
    desk = Desk(range(8), per_pair=1, random_share=0.3, random=Random(seed))
    offers = []
    for _ in range(n_votes):
        desk.follow(combinations(range(4), 2))
        given = desk.give(1)
        for number in given.drawn:
            assert offers[number].chosen == "plan"
            offers[number] = replace(offers[number], chosen="drawn")
        offers.append(Offer(len(offers), 1, *given.sides, given.chosen))
        desk.hold(offers[-1])
    return [each.pair for each in offers if each.chosen != "plan"], [each.pair for each in offers]


def test_a_draw_is_of_all_pairs_also_of_those_that_the_plan_has_taken():
    drawn, n_sittings = Counter(), 600
    for seed in range(n_sittings):
        some, asked = sample_of(seed)
        assert len(set(asked)) == len(asked)  # and still nobody is asked twice
        assert len(set(some)) == len(some)
        drawn.update(some)
    planned = set(combinations(range(4), 2))
    share = drawn.total() / (28 * n_sittings)
    error = (share * (1 - share) / (6 * n_sittings)) ** 0.5
    assert abs(sum(drawn[pair] for pair in planned) / (6 * n_sittings) - share) < 4 * error
    assert set(drawn) == set(combinations(range(8), 2))


def test_a_pair_that_is_drawn_after_it_was_planned_says_so_in_the_file(tmp_path):
    with opened(tmp_path / "v.db", random_share=0.5) as collection:
        collection.follow({"pairs": list(combinations(NAMES, 2))})
        while (offer := collection.turn(1).offer) is not None:
            collection.answer(1, offer.number, "left")
    chosen = Counter(row[5] for row in ballots(tmp_path / "v.db"))
    assert chosen["drawn"] > 0
    assert chosen.total() == 15
    with opened(tmp_path / "v.db", random_share=0.5) as collection:  # and it is known after a start
        assert collection.turn(1).offer is None
    assert Counter(row[5] for row in ballots(tmp_path / "v.db"))["plan"] == 0  # all pairs are a sample of all pairs


def test_the_plan_is_followed_in_its_order_and_names_that_nobody_knows_are_passed_over(tmp_path):
    with opened(tmp_path / "v.db", random_share=0.0) as collection:
        number = {name: each for each, name in collection.items.items()}
        collection.follow({"pairs": [("oak", "ash"), ("elm", "fir"), ("birch", "cedar")]})
        assert sitting(collection, 1, 3) == [
            {number[a], number[b]} for a, b in [("oak", "ash"), ("elm", "fir"), ("birch", "cedar")]
        ]
        assert collection.turn(1).offer.chosen == "random"  # the plan has run out


def test_an_answer_that_comes_twice_counts_once(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        first = collection.turn(1).offer
        after = collection.answer(1, first.number, "left")
        again = collection.answer(1, first.number, "left")
        other = collection.answer(1, first.number, "right")  # from another tab
        assert after == again == other
        assert after.mine == after.all == 1
    assert [row[2] for row in ballots(tmp_path / "v.db")] == ["left"]


def test_what_is_asked_again_stays_the_same_until_it_is_answered(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        first = collection.turn(1)
        assert collection.turn(1) == first
    with opened(tmp_path / "v.db", seed=7) as collection:
        assert collection.turn(1) == first  # also after another start


def test_undo_brings_the_pair_back_and_then_what_was_there(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        one = collection.turn(1).offer
        two = collection.answer(1, one.number, "left", note="close").offer
        three = collection.answer(1, two.number, "tie").offer
        back = collection.undo(1, three.number)
        assert (back.offer.number, back.offer.left, back.mine) == (two.number, two.left, 1)
        assert collection.undo(1, three.number) == back  # a double click
        back = collection.undo(1, two.number)
        assert (back.offer.number, back.note, back.mine, back.can_undo) == (one.number, "close", 0, False)
        with pytest.raises(RefusedError, match="nothing to undo"):
            collection.undo(1, one.number)
        assert collection.answer(1, one.number, "right").offer.number == two.number
        assert collection.answer(1, two.number, "right").offer.number == three.number
    assert [row[2] for row in ballots(tmp_path / "v.db")] == ["right", "right"]
    with closing(sqlite3.connect(tmp_path / "v.db")) as db:
        assert db.execute("SELECT outcome FROM answer WHERE undone IS NOT NULL").fetchall() == [("left",), ("tie",)]


def test_undo_is_open_to_somebody_who_has_finished(tmp_path):
    with opened(tmp_path / "v.db", names=NAMES[:2]) as collection:
        last = collection.turn(1).offer
        assert collection.answer(1, last.number, "left").offer is None
        assert collection.undo(1, None).offer.number == last.number


def test_nobody_undoes_what_another_has_answered(tmp_path):
    with opened(tmp_path / "v.db") as collection:
        sitting(collection, 1, 3)
        with pytest.raises(RefusedError, match="nothing to undo"):
            collection.undo(2, collection.turn(2).offer.number)


def test_a_skipped_pair_is_no_vote_and_goes_to_others(tmp_path):
    with opened(tmp_path / "v.db", names=NAMES[:2]) as collection:
        offer = collection.turn(1).offer
        assert collection.turn(2).offer is None
        assert collection.answer(1, offer.number, "skip").offer is None
        assert pair_of(collection.turn(2)) == {offer.left, offer.right}
        assert collection.by_judge() == [(1, "Ann", 0, 1), (2, "Ben", 0, 0)]
    assert ballots(tmp_path / "v.db") == []


def test_a_skipped_pair_that_another_has_does_not_come_back(tmp_path):
    with opened(tmp_path / "v.db", names=NAMES[:2]) as collection:
        offer = collection.turn(1).offer
        collection.answer(1, offer.number, "skip")
        held = collection.turn(2).offer
        with pytest.raises(RefusedError, match="somebody else has the pair"):
            collection.undo(1, None)
        collection.answer(2, held.number, "skip")
        assert collection.undo(1, None).offer.number == offer.number
        with pytest.raises(RefusedError, match="somebody else has the pair"):
            collection.undo(2, None)


@pytest.mark.parametrize(
    ("judge", "outcome", "note", "said"),
    [
        (1, "best", "", "one of left, right, tie, skip"),
        (1, "left", "n" * (LONGEST_NOTE + 1), "2,000 characters"),
        (2, "left", "", "not given to you"),
    ],
)
def test_what_no_page_sends_is_refused_and_changes_nothing(tmp_path, judge, outcome, note, said):
    with opened(tmp_path / "v.db") as collection:
        offer = collection.turn(1).offer
        with pytest.raises(RefusedError, match=said):
            collection.answer(judge, offer.number, outcome, note)
        with pytest.raises(RefusedError, match="not given to you"):
            collection.answer(1, 10_000, "left")
        assert collection.turn(1).offer == offer
    assert ballots(tmp_path / "v.db") == []


def test_it_goes_on_where_it_stopped_with_items_and_judges_that_came_and_went(tmp_path):
    with opened(tmp_path / "v.db", names=NAMES[:4]) as collection:
        seen = sitting(collection, 1, 3)
        held = collection.turn(1)
    with opened(tmp_path / "v.db", names=NAMES[1:], judges=("Cleo",)) as collection:
        assert collection.judges == {1: "Ann", 2: "Ben", 3: "Cleo"}
        assert collection.n_votes == 3
        gone = next(iter(set(range(1, 7)) - collection.items.keys()))
        pairs = sitting(collection, 3)
        assert not set(pairs) & set(seen)
        assert not any(gone in pair for pair in pairs)
        assert pair_of(held) not in pairs
    assert len(ballots(tmp_path / "v.db")) == 3 + len(pairs)


def test_items_that_are_new_are_linked_first(tmp_path):
    with opened(tmp_path / "v.db", names=NAMES[:3], random_share=0.0) as collection:
        sitting(collection, 1)
    with opened(tmp_path / "v.db", random_share=0.0) as collection:
        assert {item for pair in sitting(collection, 1, 3) for item in pair} >= {4, 5, 6}


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mine (x)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="a database of something else"):
        Store(path)
    assert path.read_bytes() == before
    (tmp_path / "text.db").write_text("left,right\n" * 100)
    with pytest.raises(StoreError, match="cannot be used as a database"):
        Store(tmp_path / "text.db")


def test_a_database_from_the_future_is_refused(tmp_path):
    with opened(tmp_path / "v.db"):
        pass
    with closing(sqlite3.connect(tmp_path / "v.db")) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(StoreError, match="update wellorder"):
        Store(tmp_path / "v.db")


def test_thirty_thousand_items_are_no_burden(tmp_path):
    names = [str(k) for k in range(30_000)]
    with opened(tmp_path / "v.db", names=names) as collection:
        assert len(set(sitting(collection, 1, 50))) == 50
