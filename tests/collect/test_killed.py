"""Killed at any moment, and started again: no vote is lost, and none is doubled."""

import http.client
import os
import threading
import time
from collections import Counter
from random import Random

import polars as pl
import pytest

import wellorder as wo
from tests.collect.running import Collector, Nursery
from tests.collect.test_collection import ballots

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts collectors by forks")

N_ITEMS, ROUNDS = 200, 8


def judge(link, heard, sent, killed):
    """Answer as fast as it goes until the collector is gone; what was heard of is written down."""
    import json

    try:
        turn = json.loads(Collector.ask(link, "turn")[1])
        while not killed.is_set():
            offer = turn["pair"]["offer"]
            sent.append(offer)
            status, body = Collector.ask(link, "answer", {"offer": offer, "outcome": "left", "note": str(offer)})
            assert status == 200
            heard.append(offer)
            turn = json.loads(body)
    except (OSError, http.client.HTTPException):
        return


def test_killed_in_a_loop_no_vote_is_lost_or_doubled(tmp_path):
    path, heard, sent, random = tmp_path / "votes.db", [], [], Random(0)
    with Nursery() as nursery:
        for _ in range(ROUNDS):
            number, link = nursery.start(path, N_ITEMS)
            killed = threading.Event()
            sitting = threading.Thread(target=judge, args=(link, heard, sent, killed))
            before = len(heard)
            sitting.start()
            until = time.monotonic() + 200
            while len(heard) < before + 3 and time.monotonic() < until:
                time.sleep(0.002)
            time.sleep(random.uniform(0.0, 0.15))
            nursery.kill(number)  # most of the time in the middle of an answer
            killed.set()
            sitting.join(timeout=300)
        number, link = nursery.start(path, N_ITEMS)
        sent_again = [Collector.ask(link, "answer", {"offer": o, "outcome": "right"})[0] for o in dict.fromkeys(sent)]
        nursery.kill(number)
    assert set(sent_again) == {200}
    rows = ballots(path)
    assert len(heard) >= 3 * ROUNDS
    notes = Counter(row[4] for row in rows if row[4])
    assert set(notes.values()) == {1}
    assert {str(offer) for offer in heard} <= set(notes)  # what was confirmed is there
    lost = set(map(str, sent)) - set(notes)  # never confirmed, and so sent again: once
    assert len(rows) == len(set(sent))
    assert sum(row[2] == "right" for row in rows) == len(lost)
    assert len({frozenset(row[:2]) for row in rows}) == len(rows)
    assert len(wo.read(path).comparisons.outcome) == len(rows)
    assert isinstance(wo.read(path).columns, pl.DataFrame)


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_what_was_killed_can_be_read_as_it_lies(tmp_path, suffix):
    path = tmp_path / "votes.db"
    with Nursery() as nursery:
        number, link = nursery.start(path, 10)
        heard = []
        stop = threading.Event()
        sitting = threading.Thread(target=judge, args=(link, heard, [], stop))
        sitting.start()
        while len(heard) < 4 and sitting.is_alive():
            time.sleep(0.002)
        stop.set()
        sitting.join(timeout=300)
        nursery.kill(number)
    assert (tmp_path / f"votes.db{suffix}").exists()
    assert len(wo.read(path).comparisons.outcome) == len(heard)
