"""What a notebook shows: the numbers of the object, and every name as text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import wellorder as wo
from tests.report import boards
from wellorder.evaluation.doctor import Finding, Health


class Reader(HTMLParser):
    """Gathers tags and text, and sees that tags close in order."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.text, self.open = [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def explanation():
    evil = boards.HOSTILE[0]
    ranker = wo.RankSVM().fit(np.eye(3), [0, 1, 2])
    return wo.explain(ranker, np.eye(3)[2], np.eye(3)[0], names=[evil, "b"], feature_names=[evil, "y", "z"])


HOSTILE = {
    "leaderboard": boards.hostile,
    "health": lambda: boards.hostile().health,
    "explanation": explanation,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_names_are_text(kind):
    read = Reader(HOSTILE[kind]()._repr_html_())
    assert not {"script", "img"} & set(read.tags)
    assert boards.HOSTILE[0] in "".join(read.text)


def test_a_leaderboard_shows_its_standings():
    board = boards.diabetes()
    words = " ".join(Reader(board._repr_html_()).text)
    places = [words.index(f"{100 * each.mean:.1f} %") for each in board.standings]
    assert places == sorted(places)
    for each in board.standings:
        assert f"{100 * each.low:.1f}–{100 * each.high:.1f} %" in words
    baselines = ", ".join(each.method for each in board.standings if each.is_baseline)
    assert f"baselines: {baselines}" in words
    assert "swapped_pairs, lower is better" in words
    assert "left out svor: its search would take longer" in words
    assert words.count("best") >= 1
    assert "Not complete: " in " ".join(Reader(replace(board, is_complete=False)._repr_html_()).text)
    assert "not tested" in " ".join(Reader(boards.made(n_splits=1)._repr_html_()).text)


def test_health_shows_facts_levels_and_findings():
    words = " ".join(Reader(boards.HEALTH._repr_html_()).text)
    for part in ("diabetes.csv", "77,892", "severe", "Columns s1 and s2 say nearly the same"):
        assert part in words
    assert words.index("severe") < words.index("moderate")  # the best on top, as in the report
    assert "Nothing was found" in Health("x", (), ())._repr_html_()
    assert "Nothing was found" not in Health("x", (), (Finding("note", "a"),))._repr_html_()
