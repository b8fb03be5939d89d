"""The pages from outside: who gets in, what they can send, and what browsers are told."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.exceptions import HTTPException

from tests.collect.running import client_of, texts
from tests.collect.test_collection import NAMES, ballots
from wellorder.collect import read_items
from wellorder.collect.items import Field, Items
from wellorder.collect.server import LARGEST

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.fixture
def client(tmp_path):
    with client_of(tmp_path / "v.db", texts(*NAMES)) as client:
        yield client


def test_a_sitting(client, tmp_path):
    assert client.get(client.judges[0]).status == 200
    for n in range(3):
        turn = client.answer("left", note=" good ", seconds=1.5).json
        assert (turn["mine"], turn["all"], turn["undo"]) == (n + 1, n + 1, True)
    undone = client.post(client.judges[0] + "undo", {"offer": turn["pair"]["offer"]}).json
    assert (undone["mine"], undone["pair"]["note"]) == (2, "good")
    assert [(row[2], row[3], row[4]) for row in ballots(tmp_path / "v.db")] == [("left", "judge 1", "good")] * 2


def test_two_judges_who_answer_at_once_lose_nothing(client, tmp_path):
    def judge(number):
        n = 0
        while (turn := client.turn(number))["pair"] is not None:
            sent = [client.answer("right", number, turn["pair"]["offer"]) for _ in range(2)]  # a double click
            assert {each.status for each in sent} == {200}
            n += 1
        return n

    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(judge, (0, 1)))
    rows = ballots(tmp_path / "v.db")
    assert len(rows) == sum(counts) == 15
    assert len({frozenset(row[:2]) for row in rows}) == 15


# --------------------------------------------------------------------------------------------------
# Who gets in.


def paths_of(client):
    judge, owner = client.judges[0], client.owner
    return [
        *(("GET", judge + rest) for rest in ("", "turn", "media/0/0")),
        *(("POST", judge + rest) for rest in ("answer", "undo")),
        *(("GET", owner + rest) for rest in ("", "now", "report", "votes.csv")),
    ]


def test_every_page_needs_its_token(client):
    token = re.compile("[0-9a-f]{32}")
    offer = client.turn()["pair"]["offer"]
    others = [token.findall(link)[0] for link in (*client.judges, client.owner)]
    for method, path in paths_of(client):
        own = token.findall(path)[0]
        wrong = [each for each in others if each != own]
        for each in (*wrong, own[:-1], own + "0", own.upper(), "x", "%00", own[:-1] + "é", "undefined"):
            path_without = token.sub(each, path)
            body = json.dumps({"offer": offer, "outcome": "left"}).encode()
            answer = client.call(method, path_without, body, {"content-type": "application/json"})
            assert answer.status == 403, (method, path_without)
            assert "not valid" in answer.json["error"]
    assert client.turn()["mine"] == 0


def test_a_judge_who_is_no_judge_has_no_page_and_no_vote(tmp_path):
    with client_of(tmp_path / "v.db", texts(*NAMES), judges=("Ann",)) as client:
        stranger = client.judges[1]  # a token that nobody was given
        assert client.get(stranger).status == 403
        assert client.get(stranger + "turn").status == 403
        assert client.post(stranger + "answer", {"offer": 1, "outcome": "left"}).status == 403


def test_without_a_link_there_is_nothing(client):
    assert "personal link" in client.get("/", accept="text/html").body.decode()
    for path in ("/judge", "/judge/1", "/judge/x/y/", "/owner", "/votes.db", "/static/", "/static/judge.html", "//"):
        assert client.get(path).status in (403, 404), path


@pytest.mark.parametrize(
    "rest",
    [
        *("media/../../../../../../etc/passwd", "media/..%2f..%2fetc%2fpasswd/0", "media/0/..%2f0", "media/-1/0"),
        *("media/0/9", "media/9/0", "media/0/0/../../../turn", "media//etc/passwd", "media/0/0%00.png", "media/1e9/0"),
        *("media/0/" + "9" * 400, "../../../static/..%2fserver.py"),
    ],
)
def test_no_address_leads_to_other_files(tmp_path, rest):
    (tmp_path / "a.png").write_bytes(b"\x89PNG picture")
    (tmp_path / "items.csv").write_text("name,look\nx,a.png\ny,a.png\n")
    with client_of(tmp_path / "v.db", read_items(tmp_path / "items.csv")) as client:
        good = client.get(client.judges[0] + "media/0/0")
        assert (good.status, good.body, good.headers["content-type"]) == (200, b"\x89PNG picture", "image/png")
        assert good.headers["content-security-policy"] == "default-src 'none'; sandbox"
        answer = client.get(client.judges[0] + rest)
        assert answer.status in (403, 404)
        assert b"picture" not in answer.body
        assert b"root:" not in answer.body
        assert b"import" not in answer.body


def test_a_file_that_has_gone_is_not_there(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    (tmp_path / "items.csv").write_text("name,look\nx,a.png\ny,a.png\n")
    with client_of(tmp_path / "v.db", read_items(tmp_path / "items.csv")) as client:
        (tmp_path / "a.png").unlink()
        assert client.get(client.judges[0] + "media/0/0").status == 404


@pytest.mark.parametrize("path", ["/judge/{0}/x/turn", "{1}media/{0}/0", "{1}media/0/{0}"])
def test_numbers_without_end_lead_nowhere(client, path):
    assert client.get(path.format("9" * 5_000, client.judges[0])).status == 404


def test_another_name_for_this_machine_is_refused(client):
    for host in ("evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "[::1", "localhost@evil.example:1"):
        assert client.get(client.judges[0], host=host).status == 403, host
    for host in ("127.0.0.1", "localhost:99"):
        assert client.get(client.judges[0], host=host).status == 200


# --------------------------------------------------------------------------------------------------
# What can be sent.


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[::1"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "multipart/form-data; boundary=x"}, 415),
        ({"content-type": ""}, 415),
        ({"origin": "http://127.0.0.1:8765", "sec-fetch-site": "same-origin"}, 200),
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_other_sites_send_nothing_even_with_the_link(client, headers, status):
    offer = client.turn()["pair"]["offer"]
    answer = client.post(client.judges[0] + "answer", {"offer": offer, "outcome": "left"}, **headers)
    assert answer.status == status
    assert client.turn()["mine"] == (status == 200)


def test_a_body_that_is_too_large_is_not_read(client):
    path, large = client.judges[0] + "answer", b'{"note": "' + b"n" * LARGEST + b'"}'
    assert client.post(path, large, **{"content-length": len(large)}).status == 413
    for length in ({}, {"content-length": "10"}, {"transfer-encoding": "chunked"}):  # unsaid, or a lie
        headers = {"content-type": "application/json", **length}
        assert client.call("POST", path, large, headers, chunks=7).status == 413
    assert client.post(path, b"{}", **{"content-length": "many"}).status == 400


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b"\xff", b"[" * 10_000, b'{"offer": "1", "outcome": "left"}'),
        *(b'{"offer": true, "outcome": "left"}', b'{"offer": 1.0, "outcome": "left"}', b'{"outcome": "left"}'),
        *(b'{"offer": 1}', b'{"offer": 1, "outcome": ["left"]}', b'{"offer": 1, "outcome": "left", "note": {}}'),
        b'{"offer": 99999999999999999999999, "outcome": "left"}',
    ],
)
def test_what_is_no_answer_is_said_to_be_none(client, body):
    client.turn()
    answer = client.post(client.judges[0] + "answer", body)
    assert answer.status in (400, 409)
    assert answer.json["error"]
    assert client.turn()["mine"] == 0


@pytest.mark.parametrize("seconds", [None, -1, "3", True, 1e9, [], {}])
def test_odd_times_are_left_out(client, tmp_path, seconds):
    assert client.answer("left", seconds=seconds).status == 200
    assert len(ballots(tmp_path / "v.db")) == 1


def test_notes_are_text_that_can_be_read_again(client, tmp_path):
    body = b'{"offer": %d, "outcome": "left", "note": "a\\u0000b \\ud83d"}' % client.turn()["pair"]["offer"]
    assert client.post(client.judges[0] + "answer", body).status == 200
    assert ballots(tmp_path / "v.db")[0][4] == "ab ?"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_answers_are_posted(client, method):
    answer = client.call(method, client.judges[0] + "answer", b"{}", {"content-type": "application/json"})
    assert answer.status == 405


# --------------------------------------------------------------------------------------------------
# What browsers are told.


def test_every_answer_says_what_may_be_done_with_it(client):
    for answer in (
        client.get(client.judges[0]),
        client.get(client.owner),
        client.get("/"),
        client.get("/static/judge.js"),
        client.get("/nowhere"),
        client.get(client.judges[0], host="evil.example"),
        client.get(client.judges[0] + "turn"),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "img-src 'self';" in policy
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "server" not in answer.headers
    assert client.get(client.judges[0]).headers["cache-control"] == "no-store"


def test_hosts_of_pictures_are_let_in_and_no_others(tmp_path):
    items = Items(["a", "b"], [[Field("look", "image", 'https://pictures.example/a.png?<"')]] * 2)
    with client_of(tmp_path / "v.db", items) as client:
        policy = client.get(client.judges[0]).headers["content-security-policy"]
        assert "img-src 'self' https://pictures.example;" in policy
        assert '<img src="https://pictures.example/a.png?&lt;&quot;"' in client.turn()["pair"]["left"]


def test_names_questions_and_items_are_text(tmp_path):
    items = texts(EVIL, f"{EVIL}2")
    with client_of(tmp_path / f"v{EVIL[:8]}.db".replace("/", ""), items, judges=(EVIL, "b"), question=EVIL) as client:
        client.answer("left")
        client.served.keeper.ask(
            lambda c: c.follow(
                {
                    "n_votes": 1,
                    "error": EVIL,
                    "standings": [{"item": EVIL, "rank_low": 1, "rank_high": 2, "votes": 1, "won": 1, "tied": 0}],
                }
            )
        ).result()
        pages = [
            client.get(client.judges[0]).body,
            client.get(client.owner).body,
            client.get(client.owner + "now").body,
        ]
        pages.append(client.get(client.judges[1] + "turn").body)
        for page in map(bytes.decode, pages):
            assert "<script>alert" not in page
            assert "<img src=x" not in page
        assert "&lt;script&gt;alert" in pages[1].decode()


def test_the_owner_sees_how_it_stands_and_everybody_s_link(client):
    for _ in range(3):
        client.answer("left")
    page = client.get(client.owner).body.decode()
    assert "3 votes so far" in page
    assert "being worked in" in page
    for judge in client.judges:
        assert judge in page


def test_the_owner_gets_the_report_and_the_votes(tmp_path):
    with client_of(tmp_path / "v.db", texts(*NAMES[:3]), per_pair=2) as client:
        for judge, outcome in ((0, "left"), (0, "right"), (1, "tie"), (1, "left"), (0, "right")):
            client.answer(outcome, judge)
        report = client.get(client.owner + "report")
        assert report.status == 200, report.body
        assert b"What to ask next" in report.body
        assert report.headers["content-security-policy"] == "sandbox allow-scripts"


def test_a_report_without_a_side_where_votes_cannot_tell_it(client, monkeypatch):
    asked = []

    async def by_command(served, name, *words):
        asked.append(words)
        if "--side" in words:
            raise HTTPException(409, "it cannot be told")
        return b"page"

    monkeypatch.setattr("wellorder.collect.server._by_command", by_command)
    assert client.get(client.owner + "report").body == b"page"
    assert asked == [("rate", "--side", "--report"), ("rate", "--report")]


def test_without_votes_there_is_nothing_to_write(client):
    said = client.get(client.owner + "votes.csv")
    assert (said.status, "no votes in it yet" in said.json["error"]) == (409, True)


def test_an_error_of_the_disk_is_said_and_nothing_kept(client, monkeypatch):
    offer = client.turn()["pair"]["offer"]
    monkeypatch.setattr("wellorder.collect.store.Store.answer", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):  # uvicorn writes it to its log, and sends what the application has said
        client.answer("left", offer=offer)
    monkeypatch.undo()
    assert client.answer("left", offer=offer).json["mine"] == 1


def test_forecasts_are_shown_to_judges(client):
    progress = {"done": False, "more": 37.2, "reached": 0.5, "why": "x"}
    client.served.keeper.ask(lambda c: c.follow({"progress": progress})).result()
    assert client.turn()["forecast"] == {"text": "no votes yet, about 40 to go", "share": 0.0, "enough": False}
