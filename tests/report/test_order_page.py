"""The page of an order: every item, how sure, why, and what the model does not know; names stay names."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

import wellorder as wo
from tests.report import tables
from tests.report.test_page import Page
from wellorder.data import Table, TableRanker, read_for
from wellorder.evaluation import chances_of, fit_table, order_items
from wellorder.report import look_at_order, render_order, write_order

pytestmark = pytest.mark.filterwarnings("ignore:column 'kind' has the value")


@pytest.fixture(scope="module")
def look():
    with pytest.warns(UserWarning, match="the training data did not have"):
        return look_at_order(*tables.ordered())


@pytest.fixture(scope="module")
def page(look):
    return Page(render_order(look, date="2030-01-02"))


def carried(source):
    return json.loads(re.search(r'<script type="application/json" id="all-items">(.*?)</script>', source)[1])


def test_the_page_is_well_formed_and_names_are_text(page):
    assert page.source.count("<script>") == 1
    assert tables.EVIL not in page.source
    assert len(page.ids) == len(set(page.ids))
    assert {each["href"][1:] for each in page.all("a")} <= set(page.ids)
    assert len(page.all("caption")) == len(page.all("table"))
    assert "2030-01-02" in page.words
    assert "<h1><bdi>rows.csv</bdi></h1>" in page.source


def test_every_item_is_carried_along_and_the_first_and_last_are_shown(page, look):
    (only,) = look.ordered.lists
    data = carried(page.source)
    assert [row[:3] for row in data["rows"]] == [list(row[:3]) for row in only.rows]
    shown = re.findall(r'<th scope="row"><bdi class="name">(.*?)</bdi>', page.source)
    assert shown[:100] == [row[2].replace("<", "&lt;").replace(">", "&gt;") for row in only.rows[:100]]
    assert shown[100:110] == [row[2].replace("<", "&lt;").replace(">", "&gt;") for row in only.rows[-10:]]
    assert "190 more between" in page.words


def test_what_the_model_does_not_know_is_said_of_the_column_and_beside_the_item(page, look):
    assert [(each.column, each.kind, each.rows.tolist()) for each in look.unfamiliar if each.column != "sugar"][:3] == [
        ("acid", "missing", [3]),
        ("acid", "beyond", next(each for each in look.unfamiliar if each.kind == "beyond").rows.tolist()),
        (tables.EVIL, "beyond", look.unfamiliar[-2].rows.tolist()),
    ]
    assert 5 in look.unfamiliar[1].rows
    assert look.unfamiliar[-1].kind == "unseen"
    assert look.unfamiliar[-1].detail == f"rosé {tables.EVIL}"
    assert "acid missing: 1 item (wine 3)" in page.words
    said = {row[2]: row[4] for row in carried(page.source)["rows"]}
    assert said["wine 3"].startswith("no acid")
    assert said["wine 5"].startswith("acid: outside of the training range")
    assert "kind: never seen in training" in said[tables.EVIL]


def test_the_lead_counts_those_that_are_too_close(page, look):
    rows = look.ordered.lists[0].rows
    close = sum(row[1] == 1 for row in rows) - 1
    assert f"{rows[0][2]} stands first of 300 items; {close} below it " in page.words


def test_chances_are_those_of_held_out_pairs_and_never_below_a_half(look):
    model, table = tables.ordered()
    chances = chances_of(model, table)
    distance, share = model.resolution_
    assert chances.at(distance[50] * model.spread_) == pytest.approx(max(share[50], 0.5))
    assert chances.at(-1e9) == pytest.approx(share[-1])
    assert chances.above.min() >= 0.5


def test_reasons_are_those_of_explain(look):
    model, table = tables.ordered()
    rows = look.ordered.lists[0].numbers
    expected = wo.explain(model, rows[0], rows[150], items=table)
    assert look.whys[0].explanation.contributions == expected.contributions
    assert look.whys[1].title == "The first against the second"
    assert len(look.because) == 10


def test_a_model_of_comparisons_has_its_own_probabilities():
    table = tables.compared()
    for name in ("compare-svm", "elo"):
        model = fit_table(table, name).model
        look = look_at_order(model, table.items)
        rows = look.ordered.lists[0].rows
        d = rows[0][3] - rows[7][3]
        ranker = model.ranker_
        if name == "elo":
            expected = ranker.probabilities([d])[0]
            assert "each item has a rating of its own" in render_order(look)
        else:
            first, other = (look.ordered.lists[0].numbers[place] for place in (0, 7))
            encoded = model.encoder_.transform(table.items)
            expected = ranker.predict_proba(wo.Pairs(encoded, [other], [first]))[0]
        assert look.chances.at(d) == pytest.approx(expected[2], abs=1e-3)
        assert np.interp(d, look.chances.distance, look.chances.tie) == pytest.approx(expected[1], abs=1e-3)
        assert "no difference between them" in render_order(look)


@pytest.mark.parametrize("name", ["davidson", "glicko"])
def test_ratings_that_know_their_doubt_say_how_sure_it_is_who_is_above(name):
    table = tables.compared()
    model = fit_table(table, name).model
    look = look_at_order(model, table.items)
    (only,) = look.ordered.lists
    first, other = only.numbers[0], only.numbers[7]
    d, doubt = only.rows[0][3] - only.rows[7][3], model.uncertainty(table.items)
    assert only.deviations[7] == doubt.deviation(other)
    expected = norm.cdf(d / np.hypot(doubt.deviation(first), doubt.deviation(other)))
    assert look.chances.at(d, first, other) == pytest.approx(expected)
    assert look.chances.at(d) == pytest.approx(expected, abs=0.1)
    source = render_order(look)
    data = carried(source)
    assert data["rows"][7][data["columns"].index("deviation")] == pytest.approx(only.deviations[7], rel=1e-5)
    assert data["chances"]["doubted"]
    assert ">deviation<" in source
    assert "how uncertain each of the two ratings is" in source
    assert "no difference between them" not in source


def test_nothing_is_said_of_items_that_were_never_compared():
    table = tables.compared(described=False)
    model = fit_table(table, "elo").model
    items = Table("some.csv", pl.DataFrame({"x": [1, 2, 3]}), ids=np.array(["item 1", "new", "item 2"], dtype=object))
    with pytest.warns(UserWarning, match="never compared"):
        look = look_at_order(model, items)
    source = render_order(look)
    data = carried(source)
    assert [data["rows"][place][2] for place in data["strangers"]] == ["new"]
    versus = re.search(r'<table class="versus">.*?</table>', source, re.DOTALL)[0]
    assert ">item 1<" in versus
    assert ">new<" not in versus
    assert "no comparisons" in Page(source).words


def test_without_bands_there_are_no_chances(tmp_path):
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1, 2, 3]})
    model = TableRanker(wo.RankSVM(), target="y").fit(frame)
    look = look_at_order(model, Table("rows.csv", frame.drop("y")))
    source = render_order(look)
    assert look.chances is None
    assert "chances" not in carried(source)
    assert "No value is missing" in source
    assert "Much, as it has learned from only 3 graded rows and 1 feature" in source
    assert write_order(look, tmp_path / "order.html").read_text(encoding="utf-8") == source


def test_an_older_model_file_says_that_it_knows_no_range():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1, 2, 3]})
    model = TableRanker(wo.RankSVM(), target="y").fit(frame)
    del model.encoder_.lows_, model.encoder_.highs_
    look = look_at_order(model, Table("rows.csv", pl.DataFrame({"x": [9.0, 1.0]})))
    assert look.unfamiliar == ()
    assert "does not say from where to where" in render_order(look)


def test_few_votes_are_said_to_be_few():
    votes = pl.DataFrame(
        {"left": list("abcad"), "right": list("bcadb"), "outcome": ["left", "left", "right", "left", "right"]}
    )
    model = fit_table(wo.read(votes), "davidson").model
    page = Page(render_order(look_at_order(model, model.known_items())))
    assert "The model has learned from only 5 comparisons of 4 items, about 2.5 of each" in page.words
    assert "Nothing:" not in page.words
    many = fit_table(wo.read(pl.concat([votes] * 40)), "davidson").model
    assert (
        "Nothing: each of these items was compared" in Page(render_order(look_at_order(many, many.known_items()))).words
    )
    del model.n_learned_  # of an older file
    assert "learned from only" not in Page(render_order(look_at_order(model, model.known_items()))).words


def test_lists_are_shown_one_by_one(look):
    model, table = tables.ordered(in_lists=True)
    found = look_at_order(model, table)
    page = Page(render_order(found))
    assert "108 items in 12 lists" in page.words
    assert page.source.count('<table class="ranked">') == 12
    assert order_items(model, replace(table, groups=None)).lists[0].numbers != found.ordered.lists[0].numbers


def test_items_beyond_what_a_page_can_carry_are_counted(monkeypatch, look):
    monkeypatch.setattr("wellorder.report.ranked.SEARCHED", 50)
    source = render_order(look)
    assert len(carried(source)["rows"]) == 50
    assert "the first 50 of 300 items" in Page(source).words


def test_columns_that_the_model_does_not_look_at_are_named(tmp_path):
    wines = pl.DataFrame({"ph": [3.0, 3.1, 3.4, 3.6], "quality": [4, 5, 6, 7]})
    model = TableRanker(wo.RankSVM(), target="quality").fit(wines)
    path = tmp_path / "new.csv"
    wines.with_columns(cellar=pl.lit(1), note=pl.lit("<b>dry</b>")).write_csv(path)
    look = look_at_order(model, read_for(model, path))
    assert look.spare == ("cellar", "note")  # the target is none of them: it was learned from
    words = Page(render_order(look)).words
    assert "It has not learned from these columns of the file, and does not look at them: cellar, note." in words
    wines.write_csv(path)
    assert "of the file, and does not look" not in render_order(look_at_order(model, read_for(model, path)))
