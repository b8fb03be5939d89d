"""The page of several data sets: its ranks, its words, and hostile names as text."""

from __future__ import annotations

import re

import pytest

from tests.report import chromium
from wellorder.evaluation.across import MeansAcross
from wellorder.report import render_across, write_across

CLEAR = MeansAcross(
    "swapped_pairs",
    False,
    tuple(f"set{number}.csv" for number in range(12)),
    ("ridge", "rank-svm", "best-feature"),
    tuple((0.2 + 0.001 * k, 0.1 + 0.001 * k, 0.4) for k in range(12)),
    (("svor", 3),),
)


def cells(page):
    rows = re.findall(r"<tr class=.*?</tr>", page, re.DOTALL)
    return [re.sub(r"\s+", " ", re.sub(r"<small>.*?</small>|<[^>]+>", " ", row)).split() for row in rows]


def test_methods_stand_by_their_mean_rank_with_the_best_of_each_set_in_bold():
    page = render_across(CLEAR, date="2026-01-01")
    rows = cells(page)
    assert [row[0] for row in rows] == ["rank-svm", "ridge", "best-feature"]
    assert rows[0][1:5] == ["1.00", "best", "10.0", "%"]
    assert rows[1][1:5] == ["baseline", "2.00", "worse", "20.0"]
    assert page.count("<b>") == 12
    assert "has the best mean rank, 1.00, over 12 data sets; 2 methods are worse beyond chance." in page
    assert "on 3 of 12 data sets" in page
    assert "2026-01-01" in page
    assert "may be chance" not in page


def test_ties_for_the_first_rank_and_too_few_sets_are_said():
    page = render_across(MeansAcross("ndcg@10", True, ("a", "b"), ("m", "n"), ((0.5, 0.6), (0.6, 0.5))))
    assert "<strong><bdi>m</bdi></strong> and <strong><bdi>n</bdi></strong> share the best mean rank, 1.50" in page
    assert "no other method is told apart from the best" in page
    assert "the order of the ranks may be chance" in page
    assert [row[2] for row in cells(page)] == ["best", "best"]


def test_data_sets_go_by_their_file_names_where_these_differ():
    assert ">a.csv<" in render_across(
        MeansAcross("ndcg", True, ("/home/x/a.csv", "/home/x/b.csv"), ("m", "n"), ((1, 0), (1, 0)))
    )
    page = render_across(MeansAcross("ndcg", True, ("x/a.csv", "y/a.csv"), ("m", "n"), ((1, 0), (1, 0))))
    assert ">x/a.csv<" in page


HOSTILE = MeansAcross(
    "swapped_pairs",
    False,
    ("<script>alert(1)</script>", "b\x07"),
    ("<img src=x onerror=alert(2)>", "n"),
    ((0, 1), (0, 1)),
)


def test_names_are_escaped():
    page = render_across(HOSTILE)
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert "\x07" not in page


@pytest.mark.skipif(chromium.BINARY is None, reason="no Chromium is installed; the report's browser tests need one")
def test_in_a_browser_it_opens_from_disk_sorts_and_asks_for_nothing(tmp_path):
    with chromium.browser(tmp_path / "profile") as tab:
        tab.open(write_across(CLEAR, tmp_path / "across.html"), width=390)
        assert tab.logged == []
        assert len(tab.requests) == 1
        assert tab.run("document.documentElement.scrollWidth") <= 390
        tab.run("document.querySelector('#standings thead th button').click()")
        names = "[...document.querySelectorAll('#standings tbody th')].map((cell) => cell.dataset.value)"
        assert tab.run(names) == ["best-feature", "rank-svm", "ridge"]
        tab.open(write_across(HOSTILE, tmp_path / "hostile.html"))
        assert tab.logged == []
