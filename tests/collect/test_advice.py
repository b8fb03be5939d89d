"""The standings are computed beside: votes never wait for them, and what they say is followed."""

import json
import os
import sqlite3
import subprocess
import time
from contextlib import closing, contextmanager
from random import Random
from threading import Event

import numpy as np
import pytest

from tests.collect.running import Collector, client_of, texts
from tests.collect.test_collection import NAMES, ballots, opened, sitting
from wellorder.collect import Adviser, Brief, Setting, Store, open_collection, read_items
from wellorder.collect.advice import Background
from wellorder.collect.simulation import read_truth, simulate_into
from wellorder.collect.store import look_into
from wellorder.data import DataError

MANY = [f"item {k}" for k in range(10)]


@pytest.fixture
def voted(tmp_path):
    """Ten items, of which the later one always wins."""
    with opened(tmp_path / "v.db", names=MANY) as collection:
        for n in range(36):
            judge = 1 + n % 2
            offer = collection.turn(judge).offer
            collection.answer(judge, offer.number, "right" if offer.right > offer.left else "left")
        held = collection.turn(1).offer
        collection.answer(1, held.number, "skip")
        collection.turn(2)
    return str(tmp_path / "v.db")


def test_what_it_says_of_votes(voted):
    said = Adviser(Brief(voted, MANY)).advise(5)
    assert json.loads(json.dumps(said)) == said  # it travels as it is
    assert said["n_votes"] == 36
    order = [MANY.index(row["item"]) for row in said["standings"]]
    assert (
        sum(a < b for k, a in enumerate(order) for b in order[k + 1 :]) <= 3
    )  # neighbours that nobody was asked about
    first = said["standings"][0]
    assert first["won"] == first["votes"] > 0
    assert sum(row["votes"] for row in said["standings"]) == 72
    assert all(1 <= row["rank_low"] <= row["rank_high"] <= 10 for row in said["standings"])
    assert 0.5 < said["progress"]["reached"] <= 1.0
    assert said["progress"]["why"]
    assert said["reliability"]["n_random"] > 0
    assert [row["judge"] for row in said["judges"]] == ["Ann", "Ben"]


def test_it_names_no_pair_that_somebody_has_or_had_but_those_that_were_skipped(voted):
    said = Adviser(Brief(voted, MANY)).advise(1_000)
    taken = {frozenset(pair) for pair in look_into(voted, per_pair=1).taken}
    assert len(taken) == 36 + 2  # two are on the screen; one was skipped
    pairs = [frozenset(pair) for pair in said["pairs"]]
    assert len(set(pairs)) == len(pairs) == 45 - 38
    assert not taken & set(pairs)
    wanted_twice = Adviser(Brief(voted, MANY, per_pair=2)).advise(1_000)
    assert len(wanted_twice["pairs"]) == 45


def test_no_more_votes_are_forecast_than_there_are_pairs_left_to_ask(voted, monkeypatch):
    monkeypatch.setattr("wellorder.choosing.stopping.forecast", lambda *_: 70.0)
    once = Adviser(Brief(voted, MANY)).advise(2)["progress"]
    assert (once["more"], once["more_high"]) == (9, 9)
    assert "no more than 9 votes are left" in once["why"]
    several = Adviser(Brief(voted, MANY, per_pair=4)).advise(2)["progress"]
    assert several["more"] == 70
    assert "left" not in several["why"]


def test_items_that_went_away_take_no_part(voted):
    said = Adviser(Brief(voted, MANY[:6])).advise(3)
    assert 0 < said["n_votes"] < 36
    assert {name for pair in said["pairs"] for name in pair} <= set(MANY[:6])


def test_features_speak_of_items_that_nobody_has_voted_on(voted):
    features = [[float(k)] for k in range(12)]  # two items are new, one far above all, one within
    names = [*MANY, "far", "within"]
    features[10:] = [[30.0], [4.5]]
    said = Adviser(Brief(voted, names, features=features)).advise(5)
    order = [row["item"] for row in said["standings"]]
    assert order[0] == "far"
    assert 2 <= order.index("within") <= 9
    without = [row["item"] for row in Adviser(Brief(voted, names)).advise(5)["standings"]]
    assert abs(without.index("far") - without.index("within")) == 1  # nothing is known of either


def test_pairs_that_are_expected_to_be_close_are_not_planned(voted):
    adviser = Adviser(Brief(voted, MANY, per_pair=2, min_difference=2.0))
    pairs = adviser.advise(1_000)["pairs"]
    place = {name: number for number, name in enumerate(MANY)}
    score = adviser.scores()
    assert 0 < len(pairs) < 45
    assert min(abs(score[place[a]] - score[place[b]]) for a, b in pairs) > 0.5
    assert len(Adviser(Brief(voted, MANY, per_pair=2)).advise(1_000)["pairs"]) == 45


def test_without_votes_there_is_nothing_to_say(tmp_path):
    with closing(Store(tmp_path / "v.db")):
        pass
    assert Adviser(Brief(str(tmp_path / "v.db"), MANY)).advise(3) == {"n_votes": 0, "pairs": []}


def test_what_it_says_is_followed_and_shown(voted, tmp_path):
    with client_of(tmp_path / "v.db", texts(*MANY), random_share=0.0) as client:
        advice = Adviser(Brief(voted, MANY)).advise(6)
        client.served.keeper.ask(lambda c: c.follow(advice)).result()
        client.answer("tie", 0)  # what was open at the start
        client.answer("tie", 1)
        assert client.turn()["forecast"]["text"].startswith("38 votes")
        page = client.get(client.owner).body.decode()
        assert page.index("item 9") < page.index("item 0")
    assert {frozenset(row[:2]) for row in ballots(tmp_path / "v.db") if row[5] == "plan"} <= {
        frozenset(pair) for pair in advice["pairs"]
    }


def test_pairs_do_not_wait_for_what_takes_long_to_find_out(voted, monkeypatch):
    adviser, done, now, go_on = Adviser(Brief(voted, MANY)), [], [0.0], Event()
    monkeypatch.setattr("wellorder.collect.advice.time.monotonic", lambda: now[0])

    def check(votes, *_):
        assert go_on.wait(60.0)
        done.append(len(votes))
        now[0] += 10.0
        return {"reliability": {"separation": 0.5}}

    monkeypatch.setattr(adviser, "_check", check)
    adviser.advise(2, checked=False)
    checking = adviser.check_beside()
    assert "reliability" not in adviser.advise(2, checked=False)  # while that goes on
    assert adviser.check_beside() is None
    go_on.set()
    checking.join(60.0)
    assert adviser.advise(2, checked=False)["reliability"] == {"separation": 0.5}
    adviser._checked_at = 1  # nearly all votes are new
    assert adviser.check_beside() is None  # so soon
    now[0] += 21.0
    adviser.check_beside().join(60.0)
    assert len(done) == 2


def test_what_goes_wrong_beside_is_said_by_the_next_answer_and_by_that_alone(voted, monkeypatch):
    adviser = Adviser(Brief(voted, MANY))
    monkeypatch.setattr(adviser, "_check", lambda *_: 1 / 0)
    adviser.advise(2, checked=False)
    adviser.check_beside().join(60.0)
    with pytest.raises(ZeroDivisionError):
        adviser.advise(2, checked=False)
    assert adviser.advise(2, checked=False)["pairs"]


# --------------------------------------------------------------------------------------------------
# In the background.


@contextmanager
def background(path, changes, said):
    found = Background(Brief(str(path), MANY), changes, said.append, n_pairs=3)
    try:
        yield found
    finally:
        found.close()


def wait_until(condition, patience=300.0):
    until = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_another_process_computes_and_is_started_again_if_it_ends(voted):
    said, changes = [], [1]
    with background(voted, lambda: changes[0], said) as found:
        wait_until(lambda: said)
        assert said[0]["n_votes"] == 36
        found._process.kill()
        found._process.wait()
        changes[0] = 2
        found.wake()
        wait_until(lambda: len(said) > 1 and said[-1].get("n_votes") == 36)
        process = found._process
    assert process.poll() is not None


def test_what_fails_there_is_told_and_votes_go_on(tmp_path):
    said = []
    with background(tmp_path / "missing.db", lambda: 1, said):
        wait_until(lambda: said)
    assert "unable to open" in said[0]["error"]


@pytest.mark.parametrize("failing", ["changes", "hand_on"])
def test_a_database_that_is_held_for_a_while_does_not_end_it(voted, failing):
    tried, said = [], []

    def changes():
        tried.append("changes")
        if failing == "changes" and len(tried) == 1:
            raise sqlite3.OperationalError("database is locked")
        return 1

    def hand_on(advice):
        tried.append("hand_on")
        if failing == "hand_on" and tried.count("hand_on") == 1:
            raise sqlite3.OperationalError("database is locked")
        said.append(advice)

    found = Background(Brief(str(voted), MANY), changes, hand_on, n_pairs=3)
    try:
        wait_until(lambda: said)
    finally:
        found.close()
    assert said[0]["pairs"]


@pytest.mark.skipif(os.name != "posix", reason="needs /bin/sh")
def test_votes_do_not_wait_for_standings_that_take_for_ever(tmp_path, monkeypatch):
    items = texts(*NAMES)
    with open_collection(tmp_path / "v.db", items, Setting()) as (keeper, _):
        changes = lambda: keeper.ask(lambda collection: collection.changes).result()  # noqa: E731
        monkeypatch.setattr("wellorder.collect.advice.sys.executable", sleeper(tmp_path))
        said = []
        with background(tmp_path / "v.db", changes, said) as found:
            wait_until(lambda: found._process is not None)
            assert keeper.ask(lambda collection: len(sitting(collection, 1))).result(10) == 15
            assert not said
            process = found._process
        assert process.poll() is not None  # and it ends with us


def sleeper(folder):
    """Return a program that says nothing."""
    program = folder / "sleeper"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="finds processes in /proc")
def test_a_collector_that_was_killed_leaves_no_process_behind(tmp_path):
    (tmp_path / "items.csv").write_text("name\n" + "".join(f"{name}\n" for name in MANY))
    collector = Collector(tmp_path, "items.csv", "--into", "v.db", "--port", "0").start()
    turn = json.loads(collector.ask(collector.links[0], "turn")[1])
    collector.ask(collector.links[0], "answer", {"offer": turn["pair"]["offer"], "outcome": "left"})
    children = []
    wait_until(lambda: children.extend(children_of(collector.process.pid)) or children)
    collector.process.kill()
    collector.process.communicate()
    wait_until(lambda: not any(map(is_running, children)))


def children_of(number):
    said = subprocess.run(["ps", "-o", "pid=", "--ppid", str(number)], capture_output=True, text=True, check=False)
    return [int(each) for each in said.stdout.split()]


def is_running(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{number}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


# --------------------------------------------------------------------------------------------------
# Simulated judges.


@pytest.fixture
def essays(tmp_path):
    (tmp_path / "items.csv").write_text("name\n" + "".join(f"{name}\n" for name in MANY))
    (tmp_path / "truth.csv").write_text("name,truth\n" + "".join(f"{name},{k}\n" for k, name in enumerate(MANY)))
    return read_items(tmp_path / "items.csv"), read_truth(tmp_path / "truth.csv", MANY)


def test_simulated_judges_find_the_truth_and_leave_votes_like_any(essays, tmp_path):
    items, truth = essays
    setting = Setting(judges=("Ann", "Ben"), per_pair=2)
    steps = list(simulate_into(tmp_path / "v.db", items, setting, truth, seed=1))
    assert steps[-1].tau > 0.8
    assert steps[-1].n_votes == len(ballots(tmp_path / "v.db")) <= 90
    assert {row[3] for row in ballots(tmp_path / "v.db")} == {"Ann", "Ben"}
    again = list(simulate_into(tmp_path / "w.db", items, setting, truth, seed=1))
    assert again == steps


def test_so_many_votes_as_were_asked_for(essays, tmp_path):
    items, truth = essays
    steps = list(simulate_into(tmp_path / "v.db", items, Setting(), truth, n_votes=11))
    assert [step.n_votes for step in steps] == [8, 11]
    more = list(simulate_into(tmp_path / "v.db", items, Setting(), truth, n_votes=1_000))
    assert more[-1].n_votes == 45  # there are no more pairs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,a,b\nitem 0,1,2\n", "2 of its columns hold numbers"),
        ("name,a\nitem 0,x\n", "0 of its columns hold numbers"),
        ("name,a\nitem 0,1\n", "what the item 'item 1' is worth"),
    ],
)
def test_truths_that_will_not_do(tmp_path, text, said):
    (tmp_path / "truth.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        read_truth(tmp_path / "truth.csv", MANY)


def test_chosen_pairs_teach_more_than_random_ones(tmp_path):
    """With the same number of votes; the middle of a few runs."""
    names = [f"item {k}" for k in range(40)]
    truth = {name: 0.35 * k for k, name in enumerate(names)}

    def reached(random_share, seed):
        setting = Setting(random_share=random_share, chances={"random": Random(seed)})
        path = tmp_path / f"{random_share}-{seed}.db"
        return list(simulate_into(path, texts(*names), setting, truth, n_votes=200, seed=seed))[-1].tau

    chosen, drawn = ([reached(share, seed) for seed in range(3)] for share in (0.1, 1.0))
    assert np.median(chosen) > np.median(drawn)
