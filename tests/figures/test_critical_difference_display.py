"""The critical-difference diagram: mean ranks, and bars over those that are not told apart."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import wellorder as wo
from tests.report import boards
from wellorder.evaluation.significance import nemenyi
from wellorder.figures import CriticalDifferenceDisplay, to_svg


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    return np.array([0.9, 0.85, 0.7, 0.4, 0.35]) + 0.08 * rng.standard_normal((12, 5))


NAMES = ["svm", "ridge", "tree", "random", "$worst$"]


def test_a_bar_joins_two_methods_exactly_where_nemenyi_does_not_tell_them_apart(values):
    display = CriticalDifferenceDisplay(values, NAMES)
    p = nemenyi(values)
    order = [NAMES.index(name) for name in display.methods]
    joined = {(i, j) for first, last in display.cliques for i in range(first, last + 1) for j in range(i + 1, last + 1)}
    for i in range(5):
        for j in range(i + 1, 5):
            assert ((i, j) in joined) == (p[order[i], order[j]] > 0.05)
    assert list(display.mean_ranks) == sorted(display.mean_ranks)
    assert display.p_value < 0.001


def test_two_methods_on_four_sets_are_too_few_to_be_told_apart():
    # Nemenyi's difference is 0.98 ranks, and sets that agree are 1 apart; but so they are by chance in 1 of 8 cases
    display = CriticalDifferenceDisplay([[0.2, 0.1]] * 4, ["a", "b"])
    assert display.difference < 1
    assert (display.cliques, display.tells_apart(*display.mean_ranks)) == (((0, 1),), False)
    assert "4 data sets are too few to test 2 methods" in display.lack_of_sets
    assert "too few to tell any apart" in display.plot().ax_.get_xlabel()
    enough = CriticalDifferenceDisplay([[0.2, 0.1]] * 6, ["a", "b"])
    assert (enough.lack_of_sets, enough.cliques, enough.tells_apart(*enough.mean_ranks)) == ("", (), True)


def test_turning_the_values_turns_nothing(values):
    one = CriticalDifferenceDisplay(values, NAMES)
    other = CriticalDifferenceDisplay(-values, NAMES, greater_is_better=False)
    assert (one.methods, one.mean_ranks, one.cliques) == (other.methods, other.mean_ranks, other.cliques)


def test_names_stand_beside_their_ranks(values):
    display = CriticalDifferenceDisplay(values, NAMES).plot(ax=Figure(layout="constrained").add_subplot())
    written = [text.get_text() for text in display.ax_.texts]
    for name, rank in zip(display.methods, display.mean_ranks, strict=True):
        assert any(name in text and f"{rank:.2f}" in text for text in written)
    svg = to_svg(display, name="cd", title="Ranks")
    assert "$worst$" in svg
    assert "12 data sets" in svg


def test_leaderboards_and_records_give_the_same():
    sets = [boards.made(("a", "b", "c"), n_splits=2) for _ in range(3)]
    named = []
    for number, board in enumerate(sets):
        shifted = [replace(each, mean=each.mean + 0.1 * ((k + number) % 3)) for k, each in enumerate(board.standings)]
        means = {each.method: each.mean for each in shifted}
        records = tuple(
            replace(each, data=f"set {number}", metrics={"swapped_pairs": means[each.method]}) for each in board.records
        )
        named.append(replace(board, standings=tuple(shifted), records=records))
    one = CriticalDifferenceDisplay.from_leaderboards(named)
    other = CriticalDifferenceDisplay.from_records([r for board in named for r in board.records], "swapped_pairs")
    assert dict(zip(one.methods, one.mean_ranks, strict=True)) == dict(
        zip(other.methods, other.mean_ranks, strict=True)
    )
    assert one.n_sets == 3


def test_a_method_that_a_data_set_lacks_is_left_out():
    full, short = boards.made(("a", "b", "c")), boards.made(("a", "b"))
    assert set(CriticalDifferenceDisplay.from_leaderboards([full, short]).methods) == {"a", "b"}
    with pytest.raises(ValueError, match="fewer than two methods"):
        CriticalDifferenceDisplay.from_leaderboards([full, boards.made(("a",))])
    with pytest.raises(ValueError, match="there are 1; give two or more"):
        CriticalDifferenceDisplay.from_leaderboards([full])
    with pytest.raises(ValueError, match="one metric"):
        CriticalDifferenceDisplay.from_leaderboards([full, boards.made(metric="ndcg@10")])
    with pytest.raises(ValueError, match="2 names for 3 methods"):
        CriticalDifferenceDisplay([[1, 2, 3], [3, 2, 1]], ["a", "b"])


def test_the_module_lists_every_display():
    displays = {name for name in wo.plot.__all__ if name.endswith("Display")}
    there = {name for name, value in vars(wo.plot).items() if inspect.isclass(value) and name.endswith("Display")}
    assert displays == there
    for name in displays:
        assert f"``{name}``" in wo.plot.__doc__
        assert callable(getattr(wo.plot, name).plot)


def test_the_ranks_of_many_methods_are_written_apart():
    values = np.random.default_rng(0).random((6, 21))
    display = CriticalDifferenceDisplay(values, [f"m{k}" for k in range(21)])
    ax = display.plot(ax=Figure(layout="constrained").add_subplot()).ax_
    assert 4 <= len(ax.get_xticks()) <= 8
    assert ax.get_xticks()[0] == 1
    few = CriticalDifferenceDisplay(values[:, :4], list("abcd")).plot(ax=Figure(layout="constrained").add_subplot())
    assert few.ax_.get_xticks().tolist() == [1, 2, 3, 4]
