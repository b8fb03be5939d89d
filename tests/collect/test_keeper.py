"""One thread writes: together what came together, all of it or nothing; and only one collector has the file."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from threading import Event

import pytest

from tests.collect.running import client_of, texts
from tests.collect.test_collection import NAMES, ballots
from wellorder.collect import Setting, StoreError, open_collection
from wellorder.collect.collection import RefusedError
from wellorder.collect.key import Key

ITEMS = texts(*NAMES)


def answer_one(collection, judge=1, outcome="left"):
    return collection.answer(judge, collection.turn(judge).offer.number, outcome)


def test_what_comes_while_the_disk_is_busy_is_written_together(tmp_path):
    path = tmp_path / "v.db"
    with open_collection(path, ITEMS, Setting()) as (keeper, _):
        begun, go_on, said = Event(), Event(), []
        keeper.ask(lambda collection: (begun.set(), go_on.wait(10)))
        begun.wait(10)
        answers = [keeper.ask(answer_one) for _ in range(5)]
        assert not any(future.done() for future in answers)
        keeper._store._db.set_trace_callback(said.append)
        go_on.set()
        assert [future.result(10).mine for future in answers] == [1, 2, 3, 4, 5]
        assert sum(statement.startswith("COMMIT") for statement in said) in (1, 2)  # the first one's, and theirs
    assert len(ballots(path)) == 5


def test_an_answer_is_on_the_disk_before_anybody_hears_of_it(tmp_path):
    path = tmp_path / "v.db"
    with open_collection(path, ITEMS, Setting()) as (keeper, _):
        for done in range(1, 6):
            assert keeper.ask(answer_one).result(10).mine == done
            assert len(ballots(path)) == done  # as another process sees it
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert keeper.ask(lambda c: c._store._one("PRAGMA synchronous")).result() == 2  # FULL


def test_what_is_refused_keeps_nobody_else_s_answer_back(tmp_path):
    with open_collection(tmp_path / "v.db", ITEMS, Setting()) as (keeper, _):
        begun, go_on = Event(), Event()
        keeper.ask(lambda collection: (begun.set(), go_on.wait(10)))
        begun.wait(10)
        one, bad, other = (keeper.ask(work) for work in (answer_one, lambda c: answer_one(c, outcome="?"), answer_one))
        go_on.set()
        assert one.result(10).mine == 1
        with pytest.raises(RefusedError):
            bad.result(10)
        assert other.result(10).mine == 2
    assert len(ballots(tmp_path / "v.db")) == 2


def test_after_a_disk_that_would_not_write_memory_is_what_the_disk_has(tmp_path):
    path = tmp_path / "v.db"
    with open_collection(path, ITEMS, Setting()) as (keeper, _):
        keeper.ask(answer_one).result(10)
        before = keeper.ask(lambda c: c.turn(1)).result(10)

        def fail(collection):
            answer_one(collection)
            raise sqlite3.OperationalError("database or disk is full")

        with pytest.raises(sqlite3.OperationalError):
            keeper.ask(fail).result(10)
        assert keeper.ask(lambda c: c.turn(1)).result(10) == before
        assert len(ballots(path)) == 1
        assert keeper.ask(answer_one).result(10).mine == 2


def test_who_no_longer_waits_stops_nobody(tmp_path):
    with open_collection(tmp_path / "v.db", ITEMS, Setting()) as (keeper, _):
        begun, go_on = Event(), Event()
        first = keeper.ask(lambda collection: (begun.set(), go_on.wait(10)))
        begun.wait(10)
        gone, other = keeper.ask(answer_one), keeper.ask(answer_one)
        assert gone.cancel()
        assert not first.cancel()
        go_on.set()
        assert other.result(10).mine == 1
    assert len(ballots(tmp_path / "v.db")) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="an open file is not deleted there")
@pytest.mark.parametrize("replaced", [False, True])
def test_no_vote_goes_into_a_file_that_was_deleted(tmp_path, replaced):
    path, kept = tmp_path / "v.db", tmp_path / "kept.db"
    with open_collection(path, ITEMS, Setting()) as (keeper, _):
        keeper.ask(answer_one).result(10)
        path.rename(kept)
        if replaced:
            path.write_bytes(b"")
        with pytest.raises(StoreError, match="deleted or replaced"):
            keeper.ask(answer_one).result(10)
        kept.rename(path)
        assert keeper.ask(answer_one).result(10).mine == 2
    assert len(ballots(path)) == 2


def test_stopped_it_leaves_one_file_with_all_of_it(tmp_path):
    with open_collection(tmp_path / "v.db", ITEMS, Setting()) as (keeper, _):
        keeper.ask(answer_one).result(10)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["v.db", "v.db.key"]


# --------------------------------------------------------------------------------------------------
# The key: links, and the lock.


def test_two_collectors_on_one_file_refuse_each_other(tmp_path):
    path = tmp_path / "v.db"
    with open_collection(path, ITEMS, Setting()):
        with (
            pytest.raises(StoreError, match="another 'wellorder collect' writes to it"),
            open_collection(path, ITEMS, Setting()),
        ):
            pass
        code = f"from wellorder.collect.key import Key; Key({str(path)!r})"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "another 'wellorder collect' writes to it" in told.stderr
    with open_collection(path, ITEMS, Setting()):
        pass  # it was let go


@pytest.mark.skipif(os.name != "posix", reason="links are not for everybody here")
def test_another_name_of_the_file_is_no_way_around_the_lock(tmp_path):
    (tmp_path / "other.db").symlink_to(tmp_path / "v.db")
    with (
        open_collection(tmp_path / "v.db", ITEMS, Setting()),
        pytest.raises(StoreError, match="another 'wellorder collect' writes to it"),
        open_collection(tmp_path / "other.db", ITEMS, Setting()),
    ):
        pass


def test_links_stay_and_are_stored_nowhere(tmp_path):
    path = tmp_path / "v.db"
    with client_of(path, ITEMS) as client:
        links = [*client.judges, client.owner]
        client.answer("left")
    with client_of(path, ITEMS) as client:
        assert [*client.judges, client.owner] == links
    tokens = [link.split("/")[-2] for link in links]
    assert len(set(tokens)) == 3
    for file in tmp_path.iterdir():
        assert not any(token.encode() in file.read_bytes() for token in tokens)


def test_only_the_owner_of_the_file_reads_the_secret(tmp_path):
    Key(tmp_path / "v.db").close()
    assert stat.S_IMODE((tmp_path / "v.db.key").stat().st_mode) == 0o600


def test_another_secret_makes_other_links(tmp_path):
    with client_of(tmp_path / "a.db", ITEMS) as one, client_of(tmp_path / "b.db", ITEMS) as other:
        assert one.judges[0] != other.judges[0]
        assert other.get(one.judges[0]).status == 403


def test_tokens_are_compared_in_constant_time(tmp_path, monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((a, b)) or a == b)
    key = Key(tmp_path / "v.db")
    assert key.opens("owner", key.token("owner"))
    assert not key.opens("owner", "ü")
    assert len(compared) == 2
    key.close()


def test_a_damaged_key_is_named(tmp_path):
    (tmp_path / "v.db.key").write_bytes(b"no database at all" * 100)
    with pytest.raises(StoreError, match="damaged; delete it"):
        Key(tmp_path / "v.db")
