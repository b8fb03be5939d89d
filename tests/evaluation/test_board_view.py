"""One leaderboard, four renderings: terminal, live table, notebook and page show the same texts for the same board."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from html import unescape

import pytest
from rich.console import Console

from tests.report import boards
from wellorder.cli import output
from wellorder.cli.leaderboard import LiveBoard, print_leaderboard
from wellorder.evaluation import METHODS, Leaderboard, Memory, Plan, Progress, make_leaderboard, view_board
from wellorder.evaluation.board_view import BoardRow, Cell
from wellorder.report import render
from wellorder.writing import write_p_value

A_P_VALUE = re.compile(r"\bp [=<>≤≥] [\d.e-]+")


def diabetes() -> Leaderboard:
    """Sum the records up as a comparison does, with means over the same splits as in the live table."""
    made = boards.diabetes()
    methods = [each.method for each in made.standings]
    return make_leaderboard(
        made.data, made.records, methods, made.left_out, made.protocol, greater_is_better=False, is_complete=False
    )


def in_terminal(board, capsys, monkeypatch):
    monkeypatch.setattr(output, "width_of_terminal", lambda: 200)
    print_leaderboard(board)
    return capsys.readouterr().out


def in_notebook(board):
    return as_words(board._repr_html_())


def on_page(board):
    return as_words(render(board))


def in_live_table(board):
    names = tuple(each.method for each in board.standings)
    console = Console(file=io.StringIO(), width=120, height=60, color_system=None)
    live = LiveBoard(console)
    memory, protocol = Memory(0, None, 0), board.protocol
    live.begin(
        Plan(board.data, names, (), protocol.n_folds, protocol.n_repeats, protocol.metric, False, 9.0, 1, memory, None)
    )
    for record in board.records:
        live.progress(Progress(record, 1, len(board.records), 1.0, 1, names))
    console.print(live)
    return console.file.getvalue()


def as_words(page):
    return " ".join(unescape(re.sub(r"<(style|script).*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)).split())


def texts(row: BoardRow) -> dict[str, str]:
    """Every text of a row, whatever it is called."""
    found = {}
    for name, value in vars(row).items():
        values = value if isinstance(value, tuple) else (value,)
        for number, each in enumerate(values):
            text = each.text if isinstance(each, Cell) else each
            if isinstance(text, str) and text:
                found[f"{name} {number}"] = text
    return found


def check(rendering, row, names):
    """Check that the named texts of a row stand in its part of a rendering."""
    missing = [name for name, text in texts(row).items() if name.split()[0] in names and text not in rendering]
    assert missing == [], row.method


IN_TABLES = {"method", "value", "interval", "verdict", "p", "others", "search", "fit"}


def test_all_renderings_show_the_texts_of_the_view(capsys, monkeypatch):
    board = diabetes()
    view = view_board(board)
    terminal, notebook, page = in_terminal(board, capsys, monkeypatch), in_notebook(board), on_page(board)
    live = in_live_table(board)
    every = {name.split()[0] for row in view.rows for name in texts(row)}
    assert every == {*IN_TABLES, "splits", "seconds", "params", "about"}  # what a view has is drawn somewhere
    for row in view.rows:
        (line,) = [each for each in terminal.splitlines() if each.split()[:2] == [str(row.place), row.method]]
        check(line, row, IN_TABLES)
        assert " ".join(row.cells[1:]) in notebook
        (begin,) = [found.start() for found in re.finditer(rf" {row.place} {row.method} ", page)]
        drawn = page[begin:].partition(f" {row.place + 1} ")[0] if row.place < len(view.rows) else page[begin:]
        check(drawn, row, IN_TABLES | {"params", "about"})
        (line,) = [each for each in live.splitlines() if each.split()[:1] == [row.method]]
        check(line, row, {"method", "splits", "value", "interval", "seconds"})
    for line in view.below:
        assert line in terminal
        assert line in notebook
    for rendering in (terminal, notebook, page):
        assert view.missing[1:] in rendering
        assert all(reason in rendering for reason in view.left_out)


def test_every_p_value_is_written_in_the_same_way(capsys, monkeypatch):
    board = diabetes()
    written = {write_p_value(each.p_value) for each in board.standings[1:]}
    assert len(written) > 2
    for rendering in (in_terminal(board, capsys, monkeypatch), in_notebook(board), on_page(board)):
        assert {found for found in A_P_VALUE.findall(rendering) if found != "p ≥ 0.05"} == written


@pytest.mark.parametrize(
    ("p_value", "words"),
    [
        (0.0123, "worse, p = 0.012"),
        (0.049, "worse, p = 0.049"),
        (0.05, "not told apart, p = 0.050"),
        (0.21, "not told apart, p = 0.21"),
        (3e-9, "worse, p < 0.001"),
        (math.nan, "not tested"),
    ],
)
def test_how_a_method_stands_against_the_best(p_value, words):
    board = boards.made()
    board = replace(board, standings=(board.leader, replace(board.standings[1], p_value=p_value)))
    best, other = view_board(board).rows
    assert best.cells[4] == "best"
    assert other.cells[4] == words


def test_what_is_missing_is_said():
    board = boards.made()
    assert view_board(board).missing == ""
    stopped = view_board(replace(board, is_complete=False))
    planned = board.protocol.n_folds * board.protocol.n_repeats
    assert stopped.missing.startswith("the comparison was stopped before all splits were done: methods were judged on")
    assert stopped.missing.endswith(f"of {planned} planned splits")
    assert "time was up" in view_board(replace(board, is_complete=False, time_was_up=True)).missing
    nothing = view_board(replace(board, standings=(), records=(), is_complete=False))
    assert nothing.missing == "the comparison was stopped before any method was finished on a split"


def test_too_few_splits_are_said():
    assert any("too few splits" in note for note in view_board(boards.made(n_splits=1)).notes)
    assert not any("too few splits" in note for note in view_board(boards.made(n_splits=4)).notes)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_names_and_numbers_are_never_broken_or_cut(capsys, monkeypatch, width):
    monkeypatch.setattr(output, "width_of_terminal", lambda: width)
    board = boards.made([*METHODS, "a-name-with-very-many-hyphens-in-it"])
    print_leaderboard(board)
    printed = capsys.readouterr().out
    assert "…" not in printed
    for row in view_board(board).rows:
        assert re.search(rf"^ *{row.place} +{row.method} .*{row.value.text} .*{row.interval}", printed, re.MULTILINE)


@pytest.mark.parametrize("n_methods", [3, 40])
def test_a_leaderboard_fits_a_screen(n_methods):
    board = diabetes()
    last = board.standings[-1]
    more = tuple(replace(last, method=f"another-method-{k}") for k in range(n_methods - len(board.standings)))
    board = replace(board, standings=(board.standings + more)[:n_methods])
    lines = repr(board).splitlines()
    assert len(lines) <= 23
    assert all(len(line) <= 80 for line in lines)
    assert board.standings[0].method in lines[2]
    assert "print(board)" in lines[-1]
    assert ("22 more;" in lines[-1]) == (n_methods == 40)
    whole = str(board)
    assert all(standing.method in whole for standing in board.standings)
    assert all(note in whole for note in view_board(board).below)
    assert "search" in whole
