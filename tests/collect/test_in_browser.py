"""The pages in a real browser: a sitting by keyboard and by touch, undo, reload, two judges, the owner."""

import json
import time
from itertools import combinations

import pytest

from tests.collect.running import server_of, texts
from tests.collect.test_collection import NAMES, ballots
from tests.report.chromium import BINARY, browser
from wellorder.collect import read_items
from wellorder.collect.demo import write_dots
from wellorder.collect.items import Field, Items

pytestmark = pytest.mark.skipif(
    BINARY is None, reason="no chromium, chromium-browser or google-chrome on the path (Debian: apt install chromium)"
)

MANY = [f"item {k}" for k in range(12)]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
KEYS = {"left": ("ArrowLeft", 37), "right": ("ArrowRight", 39), "tie": (" ", 32)}


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


def wait_for(tab, condition, patience=200.0):
    """Wait until a condition holds in the page; return its value."""
    until = time.monotonic() + patience
    while not (value := tab.run(condition)):
        assert time.monotonic() < until, (condition, tab.logged, tab.run("document.body.innerText"))
        time.sleep(0.01)
    return value


def sit_down(tab, link, **window):
    tab.visit(link, **window)
    wait_for(tab, "!document.body.classList.contains('busy') && document.getElementById('far').textContent !== ''")


def press(tab, key, code=0):
    """Press a key as a keyboard does."""
    text = key if len(key) == 1 else ""
    for kind in ("keyDown", "keyUp"):
        more = {"text": text} if text and kind == "keyDown" else {}
        tab.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **more)


def tap(tab, selector):
    """Touch the middle of something, if it can be seen there."""
    where = tab.run(
        f"""(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();
        const x = box.left + box.width / 2, y = box.top + box.height / 2;
        const hit = document.elementFromPoint(x, y)?.closest({selector!r}) !== null;
        return {{ x, y, hit, width: box.width, height: box.height }}; }})()"""
    )
    assert where["hit"], selector
    point = {"x": where["x"], "y": where["y"]}
    tab.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[point])
    tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
    return where


def mine(n):
    return f"document.getElementById('mine').textContent === '· {n} by you'"


def shown(tab):
    return tab.run("['left', 'right'].map((side) => document.querySelector(`#${side} .content`).innerText.trim())")


def test_thirty_votes_by_keyboard(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*MANY)) as served:
        sit_down(tab, served.judge_link(1))
        given = []
        for n in range(1, 31):
            outcome = ("left", "right", "tie")[n % 3]
            given.append((*shown(tab), outcome))
            press(tab, *KEYS[outcome])
            wait_for(tab, mine(n))
        assert tab.run("document.activeElement.id") == "question"
        assert tab.run("document.getElementById('said').textContent") == "Saved: A is better."
        assert tab.logged == []
        host = served.address + "/"
        assert all(address.startswith(host) for address in tab.requests)
    assert [row[:3] for row in ballots(tmp_path / "v.db")] == given


def test_thirty_votes_by_touch_on_a_phone(tab, tmp_path):
    write_dots(tmp_path / "dots")
    with server_of(tmp_path / "v.db", read_items(tmp_path / "dots")) as served:
        tab.call("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            sit_down(tab, served.judge_link(1), width=390, height=780)
            for n in range(1, 31):
                outcome = ("left", "right", "tie")[n % 3]
                target = tap(tab, f"[data-answer={outcome}]")
                assert min(target["width"], target["height"]) >= 44
                wait_for(tab, mine(n))
            tap(tab, "#undo")
            wait_for(tab, mine(29))
            assert tab.run("document.documentElement.scrollWidth") <= 390
            for each in ("#undo", "#skip", "#annotate"):
                assert tab.run(f"document.querySelector('{each}').getBoundingClientRect().height") >= 44
            assert tab.run("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
            assert tab.logged == []
        finally:
            tab.call("Emulation.setTouchEmulationEnabled", enabled=False)
    rows = ballots(tmp_path / "v.db")
    assert [row[2] for row in rows] == [("left", "right", "tie")[n % 3] for n in range(1, 30)]


def test_undo_skip_notes_and_reload(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        first = shown(tab)
        press(tab, "n", 78)
        assert tab.run("document.activeElement.id") == "note"
        for letter in "a s u":  # keys are letters here
            press(tab, letter)
        press(tab, "Escape", 27)
        press(tab, *KEYS["left"])
        wait_for(tab, mine(1))
        second = shown(tab)
        assert second != first
        press(tab, "u")
        wait_for(tab, "document.getElementById('mine').textContent === ''")
        assert shown(tab) == first
        assert tab.run("document.getElementById('note').value") == "a s u"
        assert tab.run("document.getElementById('undo').disabled")
        tab.call("Page.reload")
        wait_for(tab, "document.readyState === 'complete' && document.getElementById('far').textContent !== ''")
        assert shown(tab) == first
        press(tab, *KEYS["right"])
        wait_for(tab, mine(1))
        assert shown(tab) == second
        press(tab, "s")
        wait_for(tab, "document.getElementById('said').textContent === 'Skipped.'")
        assert shown(tab) != second
    assert [row[:3] for row in ballots(tmp_path / "v.db")] == [(*first, "right")]


def test_keys_held_down_double_clicks_and_other_tabs_count_once(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        tab.run(
            "document.querySelector('[data-answer=left]').click(); document.querySelector('[data-answer=left]').click()"
        )
        wait_for(tab, mine(1))
        tab.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", windowsVirtualKeyCode=37)
        for _ in range(5):
            tab.call(
                "Input.dispatchKeyEvent", type="keyDown", key="ArrowLeft", windowsVirtualKeyCode=37, autoRepeat=True
            )
        tab.call("Input.dispatchKeyEvent", type="keyUp", key="ArrowLeft", windowsVirtualKeyCode=37)
        wait_for(tab, mine(2))
        held = tab.run("fetch('turn').then((response) => response.json())")["pair"]["offer"]
        sent = json.dumps({"offer": held, "outcome": "tie"})  # as another tab does
        tab.run(
            f"fetch('answer', {{ method: 'POST', headers: {{ 'Content-Type': 'application/json' }}, body: '{sent}' }})"
            ".then(() => 0)"
        )
        press(tab, *KEYS["right"])
        wait_for(tab, mine(3))
        assert tab.logged == []
    assert [row[2] for row in ballots(tmp_path / "v.db")] == ["left", "left", "tie"]


def test_space_presses_the_button_that_is_in_focus_and_keys_can_be_switched_off(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        tab.run("document.querySelector('[data-answer=right]').focus()")
        press(tab, *KEYS["tie"])
        wait_for(tab, mine(1))
        tab.run("document.getElementById('keys').click(); document.getElementById('keys').blur()")
        press(tab, *KEYS["left"])
        press(tab, "s")
        time.sleep(0.3)
        assert tab.run(mine(1))
        tab.run("localStorage.clear()")
    assert [row[2] for row in ballots(tmp_path / "v.db")] == ["right"]


def test_without_a_mouse_everything_can_be_reached_and_has_a_name(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        reached = []
        for _ in range(10):
            press(tab, "Tab", 9)
            reached.append(tab.run("document.activeElement.id || document.activeElement.dataset.answer || ''"))
        assert reached[:8] == ["left", "right", "left", "tie", "right", "skip", "annotate", "keys"]  # nothing to undo
        tree = tab.call("Accessibility.getFullAXTree")["nodes"]
        named = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node["ignored"]}
        assert ("heading", "Which one is better?") in named
        assert {("region", "A"), ("region", "B")} <= named
        buttons = {name for role, name in named if role == "button"}
        assert all(
            any(word in name for name in buttons) for word in ("A is better", "Equal", "B is better", "Skip", "Note")
        )
        assert not any(role in ("button", "checkbox", "textbox") and not name for role, name in named)
        assert tab.run("document.getElementById('said').getAttribute('aria-live')") == "polite"


def test_two_judges_at_once_and_the_owner(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*MANY)) as served, browser(tmp_path / "profile") as other:
        sit_down(tab, served.judge_link(1))
        sit_down(other, served.judge_link(2))
        seen = []
        for n in range(1, 11):
            pairs = [frozenset(shown(each)) for each in (tab, other)]
            assert pairs[0] != pairs[1]
            seen += pairs
            press(tab, *KEYS["left"])
            press(other, *KEYS["right"])
            wait_for(tab, mine(n))
            wait_for(other, mine(n))
        assert len(set(seen)) == 20
        tab.visit(served.owner_link())
        words = tab.run("document.body.innerText")
        assert "20 votes so far" in words
        assert served.judge_link(2) in words
        press(other, *KEYS["tie"])
        wait_for(tab, "document.body.innerText.includes('21 votes so far')")  # by itself
        assert tab.logged == []


def test_the_last_pair_is_followed_by_thanks_and_can_be_undone(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES[:2])) as served:
        sit_down(tab, served.judge_link(1))
        press(tab, *KEYS["left"])
        wait_for(tab, "!document.getElementById('finished').hidden")
        assert tab.run("document.getElementById('answers').hidden")
        press(tab, *KEYS["left"])  # says nothing any more
        press(tab, "u")
        wait_for(tab, "!document.getElementById('pair').hidden")
    assert ballots(tmp_path / "v.db") == []


def test_items_run_nothing(tab, tmp_path):
    parts = [
        Field("text", "text", EVIL),
        Field("md", "markdown", EVIL),
        Field("html", "html", f"<p onclick=alert(3)>x</p>{EVIL}"),
    ]
    with server_of(tmp_path / "v.db", Items(["a", EVIL], [parts, parts]), question=EVIL, judges=(EVIL,)) as served:
        sit_down(tab, served.judge_link(1))
        assert tab.run("document.querySelectorAll('main script, main img, main [onclick]').length") == 0
        assert EVIL in tab.run("document.getElementById('question').innerText")
        # even what had slipped in would not run
        tab.run("document.querySelector('#left .content').innerHTML = '<img src=x onerror=\"document.title = 1\">'")
        time.sleep(0.3)
        assert tab.run("document.title") == EVIL
        tab.visit(served.owner_link())
        assert tab.run("document.querySelectorAll('script').length") == 1
        assert not any("dialog" in line for line in tab.logged)


def test_without_the_collector_an_answer_waits_until_it_is_back(tab, tmp_path):
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        tab.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        press(tab, *KEYS["left"])
        wait_for(tab, "document.getElementById('said').textContent.startsWith('Not saved yet')")
        tab.call(
            "Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        wait_for(tab, mine(1))
    assert len(ballots(tmp_path / "v.db")) == 1


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_the_window_light_and_dark(tab, tmp_path, width, dark):
    items = Items(
        ["a", "b"],
        [[Field("text", "text", "word " * 300 + "x" * 300)], [Field("code", "markdown", "    " + "x" * 300)]],
    )
    with server_of(tmp_path / "v.db", items) as served:
        for link in (served.judge_link(1), served.owner_link()):
            tab.visit(link, width=width, height=700, dark=dark)
            time.sleep(0.2)
            assert tab.run("document.documentElement.scrollWidth") <= width
            lightness = sum(
                map(int, tab.run("getComputedStyle(document.body).backgroundColor").strip("rgb()").split(","))
            )
            assert (lightness < 150) == dark
        sit_down(tab, served.judge_link(1), width=width, height=700, dark=dark)
        box = tab.run("document.querySelector('[data-answer=tie]').getBoundingClientRect().bottom")
        assert box <= 700  # the answers stay in sight, however long the items are


def test_the_browser_would_tell(tab, tmp_path):
    """What these tests look for is seen where it is."""
    assert len(list(combinations(MANY, 2))) >= 30
    with server_of(tmp_path / "v.db", texts(*NAMES)) as served:
        sit_down(tab, served.judge_link(1))
        tab.run("document.body.insertAdjacentHTML('beforeend', '<img src=\"https://elsewhere.invalid/x.png\">')")
        time.sleep(0.3)
        tab.run("0")
        assert any("Content Security Policy" in line for line in tab.logged)
