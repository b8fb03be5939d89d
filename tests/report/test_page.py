"""The page is one well-formed file that fetches nothing, escapes every name and says what the leaderboard says."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from tests.report import boards
from wellorder.evaluation.doctor import Health
from wellorder.evaluation.leaderboard import LeftOut
from wellorder.figures import legible
from wellorder.report import render, write

VOID = {"col", "meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Checks that elements close in order, and gathers what there is."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.source, self.open, self.tags, self.ids, self.text = source, [], [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if "id" in dict(attributes):
            self.ids.append(dict(attributes)["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if "id" in dict(attributes):
            self.ids.append(dict(attributes)["id"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag not in {"bdi", "b", "strong", "span"}:
            self.text.append(" ")

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    @property
    def words(self):
        return " ".join("".join(self.text).split())

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def svgs(self):
        return re.findall(r"<svg.*?</svg>", self.source, flags=re.DOTALL)


def one_metric_nan():
    board = boards.made(("rank-svm", "ridge", "broken"))
    nan = replace(board.standings[2], mean=math.nan, low=math.nan, high=math.nan, metrics={}, p_value=math.nan)
    return replace(board, standings=(*board.standings[:2], nan))


def failing():
    board = boards.made()
    bad = [replace(each, key=f"{each.key}!", problem="out of memory") for each in board.of("ridge")[:2]]
    return replace(board, records=(*board.records, *bad), is_complete=False)


CASES = {
    "diabetes": boards.diabetes,
    "one method": lambda: boards.made(("rank-svm",)),
    "one split": lambda: boards.made(n_splits=1),
    "one method, one split": lambda: boards.made(("rank-svm",), n_splits=1),
    "nan": one_metric_nan,
    "nothing finished": lambda: replace(boards.made(), standings=(), records=(), is_complete=False),
    "many levels": boards.many_levels,
    "comparisons": boards.comparisons,
    "forty methods": lambda: boards.made([f"method-{number}" for number in range(40)]),
    "no findings": lambda: replace(boards.made(), health=Health("made", (("rows", "120"),), ())),
    "failing": failing,
    "a metric of its own": lambda: boards.made(metric="my_metric"),
    "ndcg": lambda: boards.made(metric="ndcg@10", greater=True),
    "hostile": boards.hostile,
}


@pytest.fixture(scope="module", params=CASES, ids=lambda name: name.replace(" ", "-"))
def page(request):
    return Page(render(CASES[request.param]()))


def test_every_page_is_well_formed_and_self_contained(page):
    assert page.source.startswith("<!doctype html>")
    assert len(page.ids) == len(set(page.ids))
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("h1")) == 1
    assert len(page.all("title")) == 1 + len(page.svgs) - sum('aria-hidden="true"' in svg for svg in page.svgs)
    for svg in page.svgs:
        ElementTree.fromstring(svg)
    for tag, attributes in page.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "image", "foreignobject"}
        assert not {"src", "srcset", "action", "data", "ping"} & set(attributes)
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    links = [attributes["href"] for attributes in page.all("a")]
    headings = [attributes["id"] for attributes in page.all("h2")]
    assert links == [f"#{name}" for name in headings]  # the contents name every section, in their order
    labelled = [each["aria-labelledby"] for _, each in page.tags if "aria-labelledby" in each]
    assert set(labelled) <= set(page.ids)
    style = page.source[page.source.index("<style>") : page.source.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert "nan" not in re.sub(r"<(style|script)>.*?</\1>", "", page.source, flags=re.DOTALL).lower().split()


def test_tables_have_captions_and_scoped_headings(page):
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attributes for attributes in page.all("th"))
    rows = re.findall(r"<tr.*?</tr>", page.source[page.source.find('id="standings"') :].split("</table>")[0], re.DOTALL)
    assert len({len(re.findall(r"<t[dh][ >]", row)) for row in rows}) <= 1  # all rows are of one length


def test_the_policy_allows_its_own_script_only(page):
    (policy,) = (each["content"] for each in page.all("meta") if each.get("http-equiv") == "Content-Security-Policy")
    (script,) = re.findall(r"<script>(.*?)</script>", page.source, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_the_same_input_gives_the_same_bytes(tmp_path):
    board = boards.diabetes()
    first = write(board, tmp_path / "a.html", date="2026-03-01").read_bytes()
    assert write(board, tmp_path / "b.html", date="2026-03-01").read_bytes() == first
    assert b"2026-03-01" in first
    assert not re.search(r"\b20\d\d-\d\d-\d\d", render(board))  # no day but the one that is asked for
    assert "http://" not in first.decode()
    assert "https://" not in first.decode()


def test_the_first_sentence_says_what_was_found():
    board = boards.diabetes()
    leader = board.leader
    words = Page(render(board)).words
    low, high = 100 * (1 - leader.high), 100 * (1 - leader.low)
    found = f"{leader.method} orders {100 * (1 - leader.mean):.1f} % of held-out pairs rightly ({low:.1f}–{high:.1f} %)"
    assert f"{found}; ridge and 2 others cannot be told apart from it." in words
    assert "ridge is a baseline and may be all that is needed here." in words


def test_what_a_reader_of_the_table_must_know_stands_below_it():
    board = replace(boards.diabetes(), more_needed=7.3)
    first, second = (each.method for each in board.standings[:2])
    words = Page(render(board)).words
    assert f"To tell {first} and {second} apart, if they differ by as much as it seems, takes about 3,300 rows" in words


def test_the_table_says_what_the_standings_say():
    board = boards.diabetes()
    words = Page(render(board)).words
    for standing in board.standings:
        assert f"{100 * standing.mean:.1f} %" in words
        assert f"{100 * standing.low:.1f}–{100 * standing.high:.1f} %" in words
        assert f"{standing.metrics['ndcg@10']:.3f}" in words
    assert "worse p = 0.006" in words
    assert "C = 0.1, pairs_per_item = 5" in words
    assert "svor its search would take longer" in words


def test_the_sections_follow_from_the_records():
    full = Page(render(boards.diabetes())).words
    for heading in (
        "Leaderboard",
        "Left out, and why",
        "Which grades are mixed up",
        "The top of the list",
        "What the best linear method looks at",
        "The data",
        "How it was computed",
        "The same again, in Python",
        "Columns s1 and s2 say nearly the same",
        "Shown are 6 of 7 methods",
    ):
        assert heading in full
    bare = Page(render(boards.made())).words
    for heading in ("Left out", "mixed up", "top of the list", "linear method", "in Python"):
        assert heading not in bare
    assert "health" not in Page(render(boards.made())).ids
    compared = Page(render(boards.comparisons())).words
    assert "compare-svm predicts" in compared
    assert "Differences and false alarms" in compared
    assert "no rematch of a training pair" in compared


def test_an_unfinished_run_says_so_at_the_top():
    words = Page(render(replace(boards.diabetes(), is_complete=False))).words
    assert words.index("This comparison is not complete.") < words.index("Leaderboard")
    assert (
        "The comparison was stopped before all splits were done: methods were judged on 10 of 10 planned splits."
        in words
    )
    assert "not complete" not in Page(render(boards.diabetes())).words
    empty = Page(render(CASES["nothing finished"]())).words
    assert "The comparison was stopped before any method was finished on a split." in empty


def test_failures_are_counted_and_told():
    words = Page(render(failing())).words
    assert "ridge Failed in 2 splits: out of memory" in words


def test_warnings_of_fits_are_counted_once_a_split():
    board = boards.made()
    records = [replace(each, notes=("did not converge",) * 2) for each in board.of("ridge")]
    words = Page(render(replace(board, records=(*board.of("rank-svm"), *records)))).words
    assert "What fits warned of ridge did not converge (4 splits)" in words
    assert "warned" not in Page(render(board)).words


def test_warnings_that_differ_in_numbers_only_are_told_once():
    board = boards.made()
    notes = ["gap -0.0178, which", "gap -9.94e-05, which", "gap 1,234.5, which", "gap 7, which"]
    records = [replace(each, notes=(note,)) for each, note in zip(board.of("ridge"), notes, strict=True)]
    words = Page(render(replace(board, records=(*board.of("rank-svm"), *records)))).words
    assert "ridge gap -0.0178, which (4 splits)" in words
    assert words.count("which (") == 1


def test_the_second_sentence_says_it_in_plain_words():
    words = Page(render(boards.diabetes())).words
    right = f"{100 * (1 - boards.diabetes().leader.mean):.1f} %"
    assert f"two rows with different grades, neither of which it has learned from: in {right} of all cases" in words
    assert "The range in brackets holds the true value with 95 % confidence." in words
    assert "range in brackets" not in Page(render(boards.made(n_splits=1))).words
    assert "says rightly which is better" in Page(render(boards.comparisons())).words


def test_one_split_makes_no_claim_about_chance():
    words = Page(render(boards.made(n_splits=1))).words
    assert "too few splits to say which differences are more than chance" in words
    assert "not tested" in words
    assert "One split tells nothing about chance" in words
    assert "no other method was tried" in Page(render(boards.made(("rank-svm",)))).words


def test_a_number_that_is_not_defined_is_a_dash():
    words = Page(render(one_metric_nan())).words
    assert "broken – broken: swapped pairs – not tested" in words


def test_no_finding_is_said():
    assert "Nothing was found that could mislead." in Page(render(CASES["no findings"]())).words


def test_hostile_names_are_text_everywhere():
    page = Page(render(boards.hostile()))
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert page.all("b")  # only the table's own
    assert "<script>alert(1)</script>" in page.words
    assert page.source.count("<script>") == 1
    assert page.source.count(html.escape(boards.HOSTILE[0])) > 20
    assert "\x07" not in page.source
    assert "\x00" not in page.source
    assert "\u202e" not in page.source
    for name in boards.HOSTILE:
        assert " ".join(legible(name).split()) in page.words
    titles = [ElementTree.fromstring(svg).findtext("title") for svg in page.svgs if "<title" in svg]
    assert any("<script>" in title for title in titles)


def test_scales_leave_a_far_baseline_out():
    page = Page(render(boards.diabetes()))
    rows = re.findall(r'<svg class="whisker".*?</svg>', page.source, flags=re.DOTALL)
    assert len(rows) == 7
    assert "<path" in rows[-1]  # random order: an arrow that points off the scale
    assert all("<path" not in row for row in rows[:-1])
    x = [float(re.search(r'class="mark" c?x="([\d.]+)"', row)[1]) for row in rows[:-1]]
    assert x[0] < x[5] <= 150


def test_left_out_alone_makes_a_section():
    board = replace(boards.made(), left_out=(LeftOut("svor", "too slow"),))
    assert "Left out, and why svor too slow" in Page(render(board)).words


def test_the_method_says_what_was_done_and_no_more():
    board = boards.made()
    with_code = replace(board, protocol=replace(board.protocol, code="import wellorder", n_repeats=2, time_budget=60.0))
    words = Page(render(with_code)).words
    assert "all of it was done 2 times" in words
    assert "with the same versions they give the same numbers" in words
    assert "which decides what is left out" in words
    assert "every scaling and encoding of columns" in words
    assert "over every two methods" in words
    unfinished = Page(render(replace(with_code, is_complete=False))).words
    assert "all of it was to be done 2 times" in unfinished
    assert "same numbers" not in unfinished
    compared = Page(render(boards.comparisons())).words
    assert "every scaling and encoding" not in compared
    assert "scaled and encoded over all items" in compared
