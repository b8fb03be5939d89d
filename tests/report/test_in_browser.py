"""The page in a real browser: from disk it logs nothing, asks for nothing, sorts, links and shows names as text."""

from __future__ import annotations

import re

import numpy as np
import pytest

import wellorder as wo
from tests.report import boards, tables
from tests.report.chromium import BINARY, browser
from tests.standings.votes import draw, two_islands
from wellorder.evaluation import chances_of, fit_table, order_items
from wellorder.report import look_at_order, look_at_standings, look_closer, render, render_order, render_standings

pytestmark = [
    pytest.mark.skipif(
        BINARY is None,
        reason="no chromium, chromium-browser or google-chrome on the path (Debian: apt install chromium)",
    ),
    pytest.mark.filterwarnings("ignore:column 'kind' has the value"),
]

ORDER = """Array.from(document.querySelectorAll("#standings tbody .name"), (each) => each.textContent)"""
HEAD = (
    """Array.from(document.querySelectorAll("#standings thead th")).find((each) => each.textContent.trim() === {!r})"""
)
ACROSS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as tab:
        yield tab


def voted():
    return draw(np.linspace(1, -1, 14), 900, names=[tables.EVIL, *map(str, range(1, 14))])


def standings_page(votes):
    return render_standings(look_at_standings(wo.rate(votes, side=True), votes, {"side": True}))


PAGES = {
    "diabetes": lambda: render(boards.diabetes()),
    "lists": lambda: render(tables.lists_board(), look_closer(tables.lists(), tables.lists_board())),
    "compared": lambda: render(tables.compared_board(), look_closer(tables.compared(), tables.compared_board())),
    "hostile": lambda: render(boards.hostile()),
    "order": lambda: render_order(look_at_order(*tables.ordered())),
    "orders": lambda: render_order(look_at_order(*tables.ordered(in_lists=True))),
    "standings": lambda: standings_page(
        draw(np.linspace(1, -1, 14), 900, names=[tables.EVIL, *map(str, range(1, 14))])
    ),
    "islands": lambda: standings_page(two_islands()),
}
"""Every kind of data, with all that a page can hold."""


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Return where a page lies; each is made when it is first asked for."""
    folder = tmp_path_factory.mktemp("pages")

    def find(name):
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(PAGES[name](), encoding="utf-8")
        return path

    return find


@pytest.mark.parametrize("name", PAGES)
def test_it_opens_from_disk_in_silence_and_asks_for_nothing(tab, page_of, name):
    path = page_of(name)
    tab.open(path)
    assert tab.logged == []
    assert tab.requests == [path.as_uri()]
    assert tab.run("document.querySelectorAll('h1').length") == 1


def test_the_tab_would_tell(tab, tmp_path):
    (tmp_path / "bad.html").write_text("<img src='other.png'><script>console.error('told'); alert(1)</script>")
    tab.open(tmp_path / "bad.html")
    assert "['told']" in tab.logged
    assert "dialog: 1" in tab.logged
    assert (tmp_path / "other.png").as_uri() in tab.requests


def test_headings_sort_by_mouse_and_by_keyboard(tab, page_of):
    board = boards.diabetes()
    methods = [each.method for each in board.standings]
    tab.open(page_of("diabetes"))
    assert tab.run("document.querySelectorAll('#standings thead button').length") == 9  # all but the drawn scale
    assert tab.run(ORDER) == methods
    click = HEAD + ".querySelector('button').click()"
    tab.run(click.format("method"))
    assert tab.run(ORDER) == sorted(methods)
    tab.run(click.format("method"))
    assert tab.run(ORDER) == sorted(methods, reverse=True)
    tab.run(HEAD.format("NDCG@10") + ".querySelector('button').focus()")
    tab.press("Enter")
    ndcg = {each.method: each.metrics["ndcg@10"] for each in board.standings}
    assert tab.run(ORDER) == sorted(methods, key=ndcg.get)
    assert tab.run(HEAD.format("NDCG@10") + ".getAttribute('aria-sort')") == "ascending"
    tab.run(HEAD.format("#") + ".querySelector('button').focus()")
    tab.press("Enter")
    assert tab.run(ORDER) == methods


@pytest.mark.parametrize("name", ["diabetes", "lists", "compared", "standings"])
def test_the_contents_lead_to_every_section(tab, page_of, name):
    tab.open(page_of(name))
    links = tab.run("Array.from(document.querySelectorAll('nav a'), (each) => each.getAttribute('href'))")
    headings = tab.run("Array.from(document.querySelectorAll('section h2'), (each) => '#' + each.id)")
    assert links == headings
    assert len(links) == len(set(links)) >= 5
    tab.run(f"document.querySelector('nav a[href=\"{links[-1]}\"]').click()")
    top = tab.run(f"document.querySelector('{links[-1]}').getBoundingClientRect().top")
    at_the_end = tab.run("scrollY + innerHeight >= document.documentElement.scrollHeight - 1")
    assert at_the_end or -1 <= top < 100
    assert tab.run("scrollY") > 100


def test_an_item_named_like_a_script_is_text(tab, page_of):
    tab.open(page_of("lists"))
    assert tab.logged == []
    assert tab.run("document.querySelectorAll('script:not([type])').length") == 1
    assert tab.run("document.scripts.length") == 2  # the items, as data
    words = tab.run("document.body.innerText")
    assert tables.EVIL in words
    assert "List by list" in words
    shown = tab.run("Array.from(document.querySelectorAll('table.orders .name'), (each) => each.textContent)")
    assert any(name.startswith(tables.EVIL) for name in shown)
    tab.open(page_of("compared"))
    assert tab.logged == []
    assert tab.run("document.querySelectorAll('script:not([type])').length") == 1
    assert tab.run("document.scripts.length") == 2  # the items, as data


@pytest.mark.parametrize("name", ["diabetes", "lists", "compared", "hostile", "standings", "islands"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_never_scrolls_sideways(tab, page_of, name, width):
    tab.open(page_of(name), width=width)
    assert tab.run(ACROSS) == 0
    wide = "Array.from(document.querySelectorAll('.card'), (each) => each.getBoundingClientRect().right)"
    assert max(tab.run(wide)) <= width


def test_tables_scroll_inside_themselves_on_a_phone(tab, page_of):
    tab.open(page_of("diabetes"), width=390)
    assert tab.run("(() => { const s = document.querySelector('.scroll'); return s.scrollWidth > s.clientWidth; })()")
    assert tab.run("document.querySelector('.scroll').tabIndex") == 0  # with the keyboard too


def test_light_dark_and_printed(tab, page_of):
    paper = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    tab.open(page_of("lists"))
    assert tab.run(paper) == "rgb(255, 255, 255)"
    tab.show_as(1200, dark=True)
    assert sum(map(int, re.findall(r"\d+", tab.run(paper)))) < 150
    tab.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    assert tab.run(paper) == "rgb(255, 255, 255)"
    tab.call("Emulation.setEmulatedMedia", media="")
    long = "getComputedStyle(document.querySelector('.card:has(#standings)')).breakInside"
    assert tab.run(long) == "auto"  # a leaderboard of two pages begins on the first
    assert tab.pdf().startswith(b"%PDF")


def test_a_script_that_is_not_the_page_s_own_is_refused(tab, tmp_path):
    page = render(boards.made()).replace("</body>", "<script>document.title = 'taken over'</script></body>")
    (tmp_path / "foreign.html").write_text(page, encoding="utf-8")
    tab.open(tmp_path / "foreign.html")
    assert any("Content Security Policy" in line for line in tab.logged)
    assert tab.run("document.title") != "taken over"


TYPE = """(() => {{ const input = document.querySelectorAll(".finder input")[{}];
  input.value = {!r}; input.dispatchEvent(new Event("input")); }})()"""
FOUND = """Array.from(document.querySelectorAll(".found tbody tr"), (row) =>
  Array.from(row.cells, (cell) => cell.textContent))"""
ANSWER = "document.querySelector('.answer').textContent"


def test_items_are_found_that_the_page_does_not_show(tab, page_of):
    tab.open(page_of("order"))
    model, table = tables.ordered()
    (only,) = order_items(model, table).lists
    rank, band, name, _ = only.rows[200]
    assert name not in tab.run("Array.from(document.querySelectorAll('.ranked .name'), (each) => each.textContent)")
    tab.run(TYPE.format(0, name.upper()))
    assert [row[:3] for row in tab.run(FOUND)] == [[str(rank), str(band), name]]
    tab.run(TYPE.format(0, "<script"))
    assert tab.run("document.querySelector('.found').textContent").startswith("1 of 300")
    assert tab.run(FOUND)[0][2] == tables.EVIL
    tab.run(TYPE.format(0, "nowhere"))
    assert tab.run(FOUND) == []
    tab.run(TYPE.format(0, "wine"))
    assert len(tab.run(FOUND)) == 50
    assert tab.logged == []


def test_the_page_says_how_likely_one_is_really_above_another(tab, page_of):
    tab.open(page_of("order"))
    model, table = tables.ordered()
    (only,) = order_items(model, table).lists
    first, other = only.rows[0], only.rows[20]
    chance = chances_of(model, table).at(first[3] - other[3])
    tab.run(TYPE.format(1, other[2]))
    tab.run(TYPE.format(2, "1"))
    assert tab.run(ANSWER) == f"{other[2]} is really above {first[2]} with a probability of {100 * (1 - chance):.0f} %."
    tab.run(TYPE.format(2, "nobody"))
    assert tab.run(ANSWER) == "There is no item called nobody."


def test_the_page_knows_how_uncertain_two_ratings_are(tab, tmp_path):
    table = tables.compared(described=False)
    model = fit_table(table, "davidson").model
    look = look_at_order(model, table.items)
    (tmp_path / "rated.html").write_text(render_order(look), encoding="utf-8")
    (only,) = look.ordered.lists
    tab.open(tmp_path / "rated.html")
    for place in (1, 7, 24):
        chance = look.chances.at(only.rows[0][3] - only.rows[place][3], only.numbers[0], only.numbers[place])
        tab.run(TYPE.format(1, only.rows[0][2]))
        tab.run(TYPE.format(2, only.rows[place][2]))
        shown = "more than 99 %" if chance > 0.99 else f"{100 * chance:.0f} %"
        assert (
            tab.run(ANSWER) == f"{only.rows[0][2]} is really above {only.rows[place][2]} with a probability of {shown}."
        )
    assert tab.logged == []


def test_items_of_different_lists_are_not_compared(tab, page_of):
    tab.open(page_of("orders"))
    one, other = (f"wine {row}" for row in (1, 60))
    tab.run(TYPE.format(1, one))
    tab.run(TYPE.format(2, other))
    assert "different lists" in tab.run(ANSWER)
    tab.run(TYPE.format(2, "wine 2"))
    assert "with a probability of" in tab.run(ANSWER)


def test_of_any_two_items_of_standings_it_is_said_which_is_above(tab, page_of):
    tab.open(page_of("standings"))
    standings = wo.rate(voted(), side=True)
    first, other = standings.table()["item"][:2]
    tab.run(TYPE.format(1, other))
    tab.run(TYPE.format(2, first))
    share = 100 * standings.probability(other, first)
    assert tab.run(ANSWER) == f"{other} is really above {first} with a probability of {share:.0f} %."
    tab.run(TYPE.format(0, "<script"))
    assert [row[2] for row in tab.run(FOUND)] == [tables.EVIL]
    names = standings.table()["item"].to_list()
    tab.run(HEAD.format("votes") + ".querySelector('button').click()")
    assert sorted(tab.run(ORDER)) == sorted(names)
    assert tab.logged == []
