"""A closer look ends in time, and says what it left out and what has room for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report import tables
from wellorder.deadline import TimeIsUp, time_is_up
from wellorder.report import look_closer, render
from wellorder.report.allowance import LEAST, Allowance


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_it_is_a_quarter_of_the_budget_or_of_what_the_comparison_took():
    board = tables.lists_board()
    given = {
        seconds: replace(board, protocol=replace(board.protocol, time_budget=seconds)) for seconds in (8, 200, None)
    }
    assert Allowance.after(given[8]).seconds == LEAST
    assert Allowance.after(given[200]).seconds == 50.0
    long = tuple(replace(record, fit_seconds=100.0) for record in board.records)
    took = sum(record.spent_seconds for record in long) / board.protocol.n_jobs
    assert Allowance.after(replace(given[None], records=long)).seconds == pytest.approx(took / 4)


def test_what_is_known_to_take_too_long_is_not_begun_and_the_budget_named_has_room_for_it():
    clock = Clock()
    allowance = Allowance(50.0, clock)
    clock.now += 20.0
    assert allowance.has_room("a short fit", 15.0, share=0.5)
    assert allowance.left_out == ()
    assert not allowance.has_room("a long fit", 16.0, share=0.5)
    assert not allowance.has_room("a long fit", 17.0, share=0.5)  # it is told once
    assert allowance.left_out == ("a long fit: it would have taken about 16 s; --time-budget 210 has room for it",)
    roomy = Allowance(210 / 4, clock)
    clock.now += 20.0
    assert roomy.has_room("a long fit", 16.0, share=0.5)


def test_what_is_not_done_by_its_end_is_left_out_and_the_rest_goes_on():
    clock = Clock()
    allowance = Allowance(40.0, clock)
    with allowance.part("the first", 0.5):
        clock.now += 19.0
        assert not time_is_up()
        clock.now += 1.0
        if time_is_up():
            raise TimeIsUp
    assert allowance.left() == 20.0
    with allowance.part("the second"):
        clock.now += 5.0
    assert allowance.left_out == ("the first: it was not done after 20 s; --time-budget 320 gives it twice as long",)


def test_a_look_without_time_fits_nothing_and_the_page_says_so():
    table, board = tables.lists(), tables.lists_board()
    look = look_closer(table, board, Allowance(0.0))
    assert (look.looked_at, look.whys, look.levels, look.importance) == ("", (), None, None)
    assert look.duel is not None
    assert look.order is not None
    assert look.order.remarks.because == {}
    assert any(f"another fit of {board.leader.method}" in each for each in look.left_out)
    page = render(board, look)
    assert f"Another fit of {board.leader.method}, to look into its model: it would have taken about" in page
    assert "there was no time for the following" not in render(board, look_closer(table, board))


def test_a_fit_that_was_cut_short_is_cut_short_again_and_a_whole_one_is_not_shown_cut(monkeypatch):
    from wellorder.data import TableRanker

    table, board = tables.lists(), tables.lists_board()
    whole = TableRanker.fit
    asked = []

    def fit(self, *arguments, **options):
        asked.append(time_is_up())
        return whole(self, *arguments, **options)

    monkeypatch.setattr(TableRanker, "fit", fit)
    cut = tuple(replace(record, fit_seconds=0.0, unfinished=True) for record in board.records)
    assert look_closer(table, replace(board, records=cut)).looked_at == board.leader.method
    assert asked
    assert all(asked)

    def late(self, *arguments, **options):
        from wellorder.deadline import mark_stopped

        mark_stopped()
        return whole(self, *arguments, **options)

    monkeypatch.setattr(TableRanker, "fit", late)
    look = look_closer(table, board)
    assert look.looked_at == ""
    assert any("it was not done after" in each for each in look.left_out)
