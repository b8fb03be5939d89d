"""A comparison while it goes on: the leader on top, within the lines and columns there are."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from wellorder.cli.leaderboard import LiveBoard, describe_plan, live_board
from wellorder.evaluation import LeftOut, Memory, Plan, Progress, Record

MEMORY = Memory(2 * 10**8, "heavy", 3 * 10**9)


def make_board(n_methods, width=80, height=24, *, greater=False, jobs=2, memory=MEMORY):
    console = Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)
    names = tuple(f"method-{number}" for number in range(n_methods))
    now = [100.0]
    board = LiveBoard(console, clock=lambda: now[0])
    left_out = (LeftOut("kernel", "a kernel matrix over 9 rows takes 80.0 GB"), LeftOut("other", "too many levels"))
    board.begin(Plan("rows.csv", names, left_out, 5, 2, "swapped_pairs", greater, 45.0, jobs, memory, 8e9))
    now[0] = 107.0
    return board, console, names


def record(name, fold, value, seconds=1.0, problem=None):
    return Record("k", "rows.csv", name, 0, fold, 0, 80, 20, {"swapped_pairs": value}, {}, seconds, problem=problem)


def drawn(board, console):
    with console.capture() as captured:
        console.print(board)
    return [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]


def test_the_leader_is_on_top_and_those_that_wait_or_failed_below():
    board, console, names = make_board(4)
    for fold, values in enumerate([(0.3, 0.25), (0.32, 0.21), (0.31, 0.23)]):
        for name, value in zip(names, values, strict=False):
            board.progress(Progress(record(name, fold, value), 1, 20, 3.0, 2, names))
    board.progress(Progress(record(names[3], 0, float("nan"), problem="it broke"), 5, 20, 3.0, 2, names))
    lines = drawn(board, console)
    assert lines[0] == "rows.csv: swapped_pairs, lower is better"
    assert lines[1] == "7.0 s of 45 s, 5 of 20 fits, 2 under way"
    rows = lines[4:]
    assert [row.split()[0] for row in rows] == ["method-1", "method-0", "method-2", "method-3"]
    assert rows[0].split()[1:6] == ["3", "of", "10", "23.0", "%"]
    assert rows[0].split()[6:] == ["16.4–29.6", "%", "1.0", "s"]
    assert "0 of 10" in rows[2]
    assert "left out" in rows[3]
    board.progress(Progress(record(names[0], 2, 0.3), 6, 20, 3.0, 2, (names[0],)))
    assert drawn(board, console)[4].startswith("method-0")  # the others would take too long


def test_higher_may_be_better():
    board, console, names = make_board(2, greater=True)
    for name, value in zip(names, (0.3, 0.4), strict=True):
        board.progress(Progress(record(name, 0, value), 2, 20, 3.0, 1, names))
    assert drawn(board, console)[4].startswith("method-1")


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 12), (120, 40)])
def test_it_keeps_to_the_screen(width, height):
    board, console, names = make_board(22, width, height)
    board.progress(Progress(record(names[5], 0, 0.2), 1, 100, 3.0, 2, names))
    lines = drawn(board, console)
    assert len(lines) < height
    assert max(map(len, lines)) <= width
    assert lines[4].startswith("method-5")
    assert ("more" in lines[-1]) == (height < 28)


def test_memory_is_shown_before_the_first_fit():
    board, console, _ = make_board(2)
    printed = " ".join(console.file.getvalue().split())
    assert "memory: about 200 MB for the data, 3.0 GB with the heaviest method (heavy)" in printed
    assert "in each of up to 2 processes; 8.0 GB are free" in printed
    assert "left out kernel" in printed
    assert "other" not in printed
    assert "the first fits are under way" in drawn(board, console)[1]
    plan = Plan("rows.csv", (), (), 5, 2, "swapped_pairs", False, None, 1, Memory(0, None, 0), None)
    assert list(describe_plan(plan)) == []
    small = replace(plan, left_out=(LeftOut("kernel", "it needs about 520 MB of memory, and 350 MB are free"),))
    assert list(describe_plan(small)) == ["left out kernel: it needs about 520 MB of memory, and 350 MB are free"]


def test_nothing_is_shown_where_nobody_looks(capsys):
    with live_board() as board:
        assert board is None
    assert capsys.readouterr().err == ""
