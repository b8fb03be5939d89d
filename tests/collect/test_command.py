"""``wellorder collect`` as it is typed."""

import json
import os
import signal
import sys

import pytest

from tests.collect.running import Collector
from tests.collect.test_collection import ballots
from wellorder.cli.main import main
from wellorder.collect import StoreError, is_loopback
from wellorder.collect.serving import _listen, need_extra

ITEMS = "name,text\n" + "".join(f"item {k},words of {k}\n" for k in range(6))


def run(capsys, *words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return left.value.code, said.out, said.err


@pytest.fixture
def items(tmp_path):
    (tmp_path / "items.csv").write_text(ITEMS)
    return tmp_path / "items.csv"


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_from_links_to_votes_and_on_again(items, tmp_path):
    words = ("items.csv", "--into", "votes.db", "--judges", "Ann,Ben", "--port", "0", "--question", "Which?")
    collector = Collector(tmp_path, *words).start()
    ann, ben, owner = links = collector.links
    assert all(link.startswith("http://127.0.0.1:") for link in links)
    assert b"Which?" in collector.ask(ann)[1]
    for link in (ann, ben):
        offer = json.loads(collector.ask(link, "turn")[1])["pair"]["offer"]
        assert collector.ask(link, "answer", {"offer": offer, "outcome": "left"})[0] == 200
    assert b"2 votes so far" in collector.ask(owner)[1]
    second = Collector(tmp_path, *words)  # while the first one runs
    _, err = second.process.communicate(timeout=300)
    assert second.process.returncode == 2
    assert err.startswith("error: votes.db: another 'wellorder collect' writes to it")
    code, said, err = collector.end(signal.SIGINT)
    assert (code, err) == (0, "")
    assert "stopped; 2 votes are in votes.db" in said
    assert sorted(each.name for each in tmp_path.iterdir()) == ["items.csv", "votes.db", "votes.db.key"]

    collector = Collector(tmp_path, *words).start()
    assert [link.split("/", 3)[3] for link in collector.links] == [link.split("/", 3)[3] for link in links]
    assert json.loads(collector.ask(collector.links[0], "turn")[1])["all"] == 2
    assert collector.end()[0] == 0  # SIGTERM: in order, too
    assert len(ballots(tmp_path / "votes.db")) == 2


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_the_first_minute(tmp_path):
    collector = Collector(tmp_path, "--demo", "--no-open").start()
    turn = json.loads(collector.ask(collector.links[0], "turn")[1])
    assert 'src="media/' in turn["pair"]["left"]
    folder = tmp_path / "wellorder-collect-demo"
    assert collector.end()[0] == 0
    assert len(list(folder.glob("*.svg"))) == 12
    assert (folder / "votes.db").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name ITEMS"),
        (["items.csv"], "name --into"),
        (["items.csv", "--demo"], "leave ITEMS out"),
        (["none.csv", "--into", "v.db"], "there is no such file"),
        (["items.csv", "--into", "none/v.db"], "there is no folder"),
        (["items.csv", "--into", "items.csv"], "would be overwritten"),
        (["items.csv", "--into", "text.db"], "cannot be used as a database"),
        (["items.csv", "--into", "v.db", "--judges", "0"], "1 to 1,000 judges"),
        (["items.csv", "--into", "v.db", "--judges", "Ann,Ann"], "names that differ"),
        (["items.csv", "--into", "v.db", "--judges", ","], "names that differ"),
        (["items.csv", "--into", ""], "name a file"),
        (["items.csv", "--into", "v.db", "--show", "txt"], "did you mean 'text'"),
        (["items.csv", "--into", "v.db", "--item", "nam"], "did you mean 'name'"),
        (["items.csv", "--into", "v.db", "--goal", "best"], "goal"),
        (["items.csv", "--into", "v.db", "--random-share", "nan"], "nan"),
        (["items.csv", "--into", "v.db", "--per-pair", "0"], "per-pair"),
        (["items.csv", "--into", "v.db", "--port", "70000"], "port"),
        (["items.csv", "--into", "v.db", "--host", "256.1.1.1"], "--host"),
        (["export", "items.csv"], "--output"),
        (["export", "none.db", "-o", "v.csv"], "there is no such file"),
    ],
)
def test_what_will_not_do_is_said_in_a_line(items, tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.db").write_text("left,right,outcome\n" * 50)
    code, _, err = run(capsys, "collect", *words)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "v.db").exists()


def test_a_port_that_is_taken(items, tmp_path, capsys):
    with _listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        code, _, err = run(capsys, "collect", items, "--into", tmp_path / "v.db", "--port", port)
    assert code == 2
    assert "take another --port" in err


def test_the_usual_port_gives_way_to_a_free_one():
    with _listen("127.0.0.1", None) as one, _listen("127.0.0.1", None) as other:
        assert one.getsockname()[1] != other.getsockname()[1]


@pytest.mark.parametrize("lacking", ["starlette", "uvicorn", "markdown_it"])
def test_without_the_extra_it_says_what_to_install(items, tmp_path, monkeypatch, capsys, lacking):
    monkeypatch.setitem(sys.modules, lacking, None)
    code, _, err = run(capsys, "collect", items, "--into", tmp_path / "v.db")
    assert code == 2
    assert (
        err == f"error: wellorder collect needs {lacking}, which is not installed: pip install 'wellorder[collect]'\n"
    )
    assert not (tmp_path / "v.db").exists()


def test_the_extra_is_there():
    need_extra()


def test_this_machine_alone_is_meant_unless_somebody_says_otherwise():
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.8.9.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_on_other_networks_links_have_tokens_too(items, tmp_path):
    collector = Collector(tmp_path, "items.csv", "--into", "v.db", "--host", "0.0.0.0", "--port", "0").start()
    port = collector.links[0].split("/")[2].rpartition(":")[2]
    assert "others can reach this address" in collector.said
    here = collector.links[0].replace(collector.links[0].split("/")[2], f"127.0.0.1:{port}")
    assert collector.ask(here)[0] == 200
    assert collector.ask(f"http://127.0.0.1:{port}/judge/1/{'0' * 32}/")[0] == 403
    assert collector.ask(f"http://127.0.0.1:{port}/judge/1/")[0] == 404
    collector.end()


def test_a_folder_in_which_nothing_may_be_made(items, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied")))
    from wellorder.collect.key import Key

    with pytest.raises(StoreError, match="cannot be made"):
        Key(tmp_path / "v.db")
