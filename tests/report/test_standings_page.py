"""The page of standings: it says what the standings say, in words, and names stay names."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

import wellorder as wo
from tests.report import boards
from tests.report.test_page import Page
from tests.standings.votes import draw, two_islands, unbeaten
from wellorder.report import look_at_standings, render_standings, write_standings

EVIL = boards.HOSTILE[0]


def judged():
    """Return votes with a side, a length and judges of whom one leans far to the left, and how they are rated."""
    rng = np.random.default_rng(7)
    n = 1_000
    length, judge = rng.normal(0, 100, n), rng.integers(0, 6, n)
    lean = np.where(judge == 3, -2.5, 0.0)
    names = [EVIL, *(f"model {k}" for k in range(14))]
    votes = draw(np.linspace(1.4, -1.4, 15), n, names=names, moved=-0.3 + 0.006 * length + lean)
    named_judges = np.array([f"judge {k}" for k in range(6)], dtype=object)[judge]
    prompt = rng.integers(0, 400, n)
    return votes, {
        "side": True,
        "controls": {"length": length},
        "judge": named_judges,
        "clusters": {"prompt": prompt},
    }


def carried(source):
    return json.loads(re.search(r'<script type="application/json" id="all-items">(.*?)</script>', source)[1])


def page_of(votes, **options):
    return Page(render_standings(look_at_standings(wo.rate(votes, **options), votes, options, data="votes.csv")))


@pytest.fixture(scope="module")
def whole():
    votes, options = judged()
    standings = wo.rate(votes, **options)
    look = look_at_standings(standings, votes, options, data="some/votes.csv")
    return standings, look, Page(render_standings(look, date="2030-01-02"))


def test_the_page_is_well_formed_and_names_are_text(whole):
    _, _, page = whole
    assert page.source.count("<script>") == 1
    assert EVIL not in page.source
    assert len(page.ids) == len(set(page.ids))
    assert {each["href"][1:] for each in page.all("a")} <= set(page.ids)
    assert len(page.all("caption")) == len(page.all("table"))
    assert "<h1><bdi>votes.csv</bdi></h1>" in page.source
    assert "2030-01-02" in page.words
    assert not re.search(r"\b(nan|inf|None)\b", page.words)


def test_the_same_look_gives_the_same_characters(whole, tmp_path):
    _, look, page = whole
    path = write_standings(look, tmp_path / "standings.html", date="2030-01-02")
    assert path.read_text(encoding="utf-8") == page.source


def test_the_table_has_every_item_in_its_place_with_ranks_and_shares(whole):
    standings, _, page = whole
    rows = standings.table().rows(named=True)
    shown = re.findall(r'<th scope="row" data-value="(.*?)">', page.source)
    assert [name.replace("&lt;", "<").replace("&gt;", ">") for name in shown] == [row["item"] for row in rows]
    third = rows[2]
    ranks = f"{third['rank_low']}–{third['rank_high']}" if third["rank_low"] < third["rank_high"] else third["rank_low"]
    share = f"{100 * third['wins'] / third['votes']:.0f} %"
    assert re.search(
        rf"3 {re.escape(third['item'])} {ranks} {third['rating']:.2f} .*? {third['votes']:,} {share}", page.words
    )


def test_the_search_carries_every_item_and_every_chance(whole):
    standings, look, page = whole
    data = carried(page.source)
    assert [row[2] for row in data["rows"]] == [row["item"] for row in look.rows]
    assert data["above"][2][5] == pytest.approx(
        standings.probability(look.rows[2]["item"], look.rows[5]["item"]), abs=1e-3
    )


def test_the_headline_names_who_cannot_be_told_from_the_first():
    page = page_of(draw([1.0, 0.95, -1.0, -1.5], 2_000, names=["tea", "cocoa", "milk", "water"]))
    lead = re.search(r'<p class="lead">(.*?)</p>', page.source)[1]
    assert "cannot be told from it yet" in lead
    assert {"tea", "cocoa"} == {name for name in ("tea", "cocoa", "milk", "water") if name in lead}
    clear = page_of(draw([3.0, 0.0, -1.0], 1_000, names=["tea", "cocoa", "milk"]))
    assert "tea is clearly first of 3 items" in clear.words


def test_biases_are_told_as_odds(whole):
    standings, look, page = whole
    side = standings.effects().row(0, named=True)["estimate"]
    share = round(100 / (1 + np.exp(side)))
    assert f"Standing on the left turns even odds into {share}:{100 - share} (from" in page.words
    length = standings.effects().row(1, named=True)["estimate"] * look.fit.typical["length"]
    share = round(100 / (1 + np.exp(-length)))
    assert re.search(
        rf"differ by [\d.]+, which is typical here, the one with more has {share}:{100 - share}", page.words
    )


def test_no_bias_is_said_to_be_none():
    page = page_of(draw(np.linspace(1, -1, 4), 300), side=True)
    assert "No advantage of a side can be told from chance" in page.words


def test_the_judge_who_leans_is_named(whole):
    _, _, page = whole
    assert re.search(r"judge 3 [\d,]+ leans to the left more than the others", page.words)


def test_the_fit_is_told_in_words(whole):
    _, look, page = whole
    chance = f"{100 * np.exp(-look.fit.losses['model']):.1f} %"
    assert f"the model had given a chance of {chance}" in page.words
    assert "the model is better than the coin, and better than Elo" in page.words
    assert "all votes of one prompt in the same part" in page.words


def test_votes_that_tell_nothing_are_warned_of():
    assert "These votes hardly tell the items apart" in page_of(draw(np.zeros(6), 300, seed=11)).words


def test_the_unbeaten_has_no_end_and_the_page_says_so():
    page = page_of(unbeaten())
    assert re.search(
        r"a is clearly first of 5 items.*It won every one of its \d+ votes: how far it is ahead", page.words
    )
    assert "∞ at least" in page.words
    assert not re.search(r"\b(nan|inf)\b", page.words)


def test_of_a_few_first_votes_the_page_says_that_it_is_early():
    page = page_of(draw(np.linspace(4, -4, 12), 12, seed=2)).words
    assert "It is early: of 9 of the 12 items these votes leave any rating possible, as each item has had 2.0" in page
    assert "too few votes" in page
    assert "It is early" not in page_of(unbeaten()).words


def test_islands_are_named_and_never_compared():
    page = page_of(two_islands(names=[*"abcdef", EVIL]))
    assert "7 items in 2 islands that no vote links: there is no first of all" in page.words
    assert "Island 1: 4 items" in page.words
    assert EVIL not in page.source
    next_one = page.words.split("Pairs on which one more vote tells most")[1]
    assert next_one.count("ask this one") == 1


def test_neighbours_that_are_not_told_apart_have_votes_that_are_needed():
    votes = draw([1.0, 0.9, -1.0], 2_000, names=["tea", "cocoa", "milk"])
    standings = wo.rate(votes)
    look = look_at_standings(standings)
    ((upper, lower, chance, needed),) = look.undecided
    assert {upper, lower} == {"tea", "cocoa"}
    assert chance == pytest.approx(standings.probability(upper, lower))
    assert needed == standings.needed(upper, lower, at_once=True)
    assert "Can it be trusted" not in render_standings(look)  # without the votes, nothing was held out


def test_numbers_are_spoken_of_where_the_table_has_some():
    for n, are_there in ((5, True), (18, False)):
        source = render_standings(look_at_standings(wo.rate(draw(np.linspace(0.2, -0.2, n), 900))))
        assert ("and the numbers in them" in source) is are_there


def test_of_many_items_the_first_and_last_are_shown_and_all_are_found(monkeypatch):
    for name, value in (("_WHOLE", 15), ("_FIRST", 10), ("_LAST", 3)):
        monkeypatch.setattr(f"wellorder.report.standings_page.{name}", value)
    source = render_standings(look_at_standings(wo.rate(draw(np.linspace(1, -1, 20), 900))))
    assert len(re.findall(r'<td class="place"', source)) == 13
    assert "7 more between are found by searching" in source
    assert "data-sort" not in source.split("<table id")[1].split("</thead>")[0]
    assert len(carried(source)["rows"]) == 20


def test_both_bad_has_a_column_where_the_file_knows_it(tmp_path):
    votes = draw(np.linspace(1, -1, 4), 400)
    words = np.array(["model_a", "tie", "model_b"], dtype=object)[votes.outcome + 1]
    bad = (votes.outcome == 0) & (np.arange(400) % 2 == 0)
    for kind, outcome in (("plain", words), ("bad", np.where(bad, "tie (bothbad)", words))):
        columns = {"model_a": votes.names[votes.left], "model_b": votes.names[votes.right], "winner": outcome}
        pl.DataFrame({name: list(map(str, column)) for name, column in columns.items()}).write_csv(
            tmp_path / f"{kind}.csv"
        )
        table = wo.read(tmp_path / f"{kind}.csv")
        look = look_at_standings(wo.rate(table), table)
        page = Page(render_standings(look))
        assert f"<h1><bdi>{kind}.csv</bdi></h1>" in page.source
        assert table.understood.removeprefix(f"{tmp_path / kind}.csv: ") in page.words
        assert str(tmp_path) not in page.source
        assert ("both bad" in page.words.split("At a glance")[1]) == (kind == "bad")


def test_a_notebook_shows_names_as_text():
    shown = wo.rate(draw(np.linspace(1, -1, 3), 90, names=[EVIL, "b", "c"]))._repr_html_()
    assert "<script" not in shown
    assert "Standings of 3 items from 90 votes" in shown
    assert shown.count("<tr>") == 4
    assert "island" in wo.rate(two_islands())._repr_html_()
