"""Standings as pictures: every interval where it belongs, arrows without an end, islands apart."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import wellorder as wo
from tests.report import boards
from wellorder.figures import AboveDisplay, StandingsDisplay, to_svg


def made(n=3, **columns):
    rating = np.linspace(1.0, -1.0, n)
    rank = np.arange(1, n + 1)
    frame = {"item": [f"item {k}" for k in rank], "rating": rating, "low": rating - 0.2, "high": rating + 0.3}
    frame |= {"rank": rank, "rank_low": rank, "rank_high": np.minimum(rank + 1, n), "island": np.ones(n, int)}
    return pl.DataFrame(frame | columns)


def drawn(display):
    return display.plot(Figure(layout="constrained").add_subplot())


def test_dots_and_intervals_stand_where_the_table_says_and_ranks_beside_them():
    display = drawn(StandingsDisplay(made()))
    assert display.names == ["item 1", "item 2", "item 3"]
    for place, row in enumerate(made().iter_rows(named=True)):
        mark, interval = display.marks_[row["item"]], display.intervals_[row["item"]]
        assert mark.get_xdata() == pytest.approx([row["rating"]])
        assert interval.get_xdata() == pytest.approx([row["low"], row["high"]])
        assert interval.get_ydata()[0] == place
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the best is on top
    assert {"1–2", "2–3", "3", "ranks"} <= {text.get_text() for text in display.ax_.texts}


def test_an_interval_without_an_end_reaches_the_edge():
    inf = math.inf
    table = made(4, rating=[inf, 0.1, math.nan, -inf], low=[0.8, 0.0, -inf, -inf], high=[inf, 0.2, inf, -0.4])
    display = drawn(StandingsDisplay(table))
    left, right = display.ax_.get_xlim()
    assert display.intervals_["item 1"].get_xdata() == pytest.approx([0.8, right])
    assert display.intervals_["item 4"].get_xdata() == pytest.approx([left, -0.4])
    assert display.intervals_["item 3"].get_xdata() == pytest.approx([left, right])
    assert display.marks_["item 1"].get_xdata() == pytest.approx([0.8])
    assert display.marks_["item 3"] is None
    arrows = [line.get_marker() for line in display.ax_.lines if line.get_marker() in ("<", ">")]
    assert sorted(arrows) == ["<", "<", ">", ">"]


def test_islands_have_lines_of_their_own():
    display = drawn(StandingsDisplay(made(4, island=[1, 1, 2, 2])))
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text for text in texts if "island" in text] == ["island 1", "island 2"]
    assert not [text.get_text() for text in drawn(StandingsDisplay(made())).ax_.texts if "island" in text.get_text()]


def test_of_many_items_the_first_and_the_last_are_shown():
    display = drawn(StandingsDisplay(made(1_000)))
    assert display.names == [f"item {k}" for k in [*range(1, 49), *range(989, 1_001)]]
    assert "… 940 more …" in [text.get_text() for text in display.ax_.texts]
    assert display.size[1] < 20
    assert len(StandingsDisplay(made(60)).names) == 60


def test_names_are_text_and_what_is_not_known_is_refused():
    svg = to_svg(StandingsDisplay(made(3, item=boards.HOSTILE[:3])), name="s", title="t")
    assert "<script" not in svg
    assert "$x_1$" in svg
    with pytest.raises(ValueError, match="scale='points' is not among"):
        StandingsDisplay(made(), scale="points")
    with pytest.raises(ValueError, match="most=1"):
        StandingsDisplay(made(), most=1)


def test_standings_draw_themselves():
    left, right = np.triu_indices(4, 1)
    standings = wo.rate(
        wo.Comparisons(np.tile(left, 9), np.tile(right, 9), np.resize([1, 0, -1, 1, 1], 54)), scale="elo"
    )
    display = standings.plot(Figure(layout="constrained").add_subplot())
    assert display.names == standings.table()["item"].to_list()
    assert "1500" in display.ax_.get_xlabel()


def compared():
    above = np.zeros((4, 4), bool)
    above[0, [1, 2]] = above[1, 2] = True
    chance = np.array([[0.5, 0.99, 1, np.nan], [0.01, 0.5, 0.97, np.nan], [0, 0.03, 0.5, np.nan], [np.nan] * 4])
    return AboveDisplay(["a", "b", "c", "d"], above, chance)


def test_cells_say_who_is_clearly_above_and_what_cannot_be_compared():
    display = drawn(compared())
    assert display.kind(0, 2) == "clearly above"
    assert display.kind(2, 1) == "clearly below"
    assert display.kind(3, 0) == "not comparable"
    assert len(display.cells_) == 12
    assert display.cells_[0, 1].get_facecolor() == display.cells_[1, 2].get_facecolor()
    assert display.cells_[0, 1].get_facecolor() != display.cells_[1, 0].get_facecolor()
    assert display.cells_[0, 3].get_facecolor()[3] == 0.0
    close = drawn(AboveDisplay(["a", "b", "c"], np.zeros((3, 3)), [[0.5, 0.6, 0.9], [0.4, 0.5, 0.7], [0.1, 0.3, 0.5]]))
    assert close.cells_[0, 2].get_facecolor()[3] > close.cells_[0, 1].get_facecolor()[3]
    assert {"60", "40", "90", "10"} <= {text.get_text() for text in close.ax_.texts}


def test_the_graph_has_no_arrow_that_follows_from_others():
    assert [edge[:2] for edge in sorted(compared().reduced().graph.edges)] == [("b", "a"), ("c", "b")]


def test_tables_of_another_size_are_refused():
    with pytest.raises(ValueError, match="2 items need square tables"):
        AboveDisplay(["a", "b"], np.zeros((3, 3)), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="1 to 40 items"):
        AboveDisplay([str(k) for k in range(50)], np.zeros((50, 50)), np.zeros((50, 50))).reduced()
