"""Leaderboards of many data sets: how the sets are read, and what their tables say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wellorder.data import DataError
from wellorder.evaluation import Protocol, Record, make_leaderboard
from wellorder.papers import leaderboards
from wellorder.papers.comparisons import Compared
from wellorder.papers.leaderboards import Leaderboards, _largest_block
from wellorder.papers.reproducing import reproduce

PROTOCOL = Protocol("rows", 5, 2, 3, 0, "swapped_pairs", ("swapped_pairs",))


def board(name, **values):
    """Make a leaderboard of methods with these values, one a split."""
    records = [
        Record(f"{method}/{k}", name, method, k // 5, k % 5, 0, 80, 20, {"swapped_pairs": value})
        for method, each in values.items()
        for k, value in enumerate(each)
    ]
    return make_leaderboard(name, records, list(values), [], PROTOCOL, greater_is_better=False)


@pytest.fixture
def boards():
    noise = np.random.default_rng(0).normal(0, 0.002, (3, 10))
    return Leaderboards(
        {
            "even": board("even", **{"order-ensemble": 0.2 + noise[0], "ridge": 0.2005 + noise[1]}),
            "lost": board(
                "lost", **{"order-ensemble": 0.3 + noise[0], "rank-svm": 0.2 + noise[2], "ridge": 0.25 + noise[1]}
            ),
        }
    )


def test_a_method_that_is_beaten_is_named_with_its_p_value(boards):
    assert boards.beaten("lost", "rank-svm") is None
    worst = boards.beaten("lost", "order-ensemble")
    assert worst.method == "rank-svm"
    assert worst.p_value < 0.001
    ahead = [each for each in ("order-ensemble", "ridge") if boards.beaten("even", each) is None]
    assert ahead == [boards.boards["even"].leader.method]


def test_tables_name_leaders_and_mark_what_is_told_apart(boards, tmp_path):
    text = "\n".join(boards.lines())
    assert "| lost | 100 | 10 | rank-svm | 20.0 | ridge | 24.9 | 30.0 | 2 of 2 | rank-svm, p < 0.001 |" in text
    assert "| order-ensemble | 20.0 | 30.0 × |" in text
    assert "| ridge | **20.0** | 24.9 × |" in text
    assert "| rank-svm | – | **20.0** |" in text
    boards.picture(tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").stat().st_size > 5_000


def test_a_board_that_hears_rows_says_so_and_gives_its_own_p_value(boards):
    assert "by the splits alone (corrected resampled test" in boards.lines()[0]
    heard = Leaderboards({name: replace(each, hears_rows=True) for name, each in boards.boards.items()})
    assert "by the held-out rows" in heard.lines()[0]
    lost = heard.boards["lost"]
    assert heard.beaten("lost", "order-ensemble") == ("rank-svm", lost.standings[-1].p_value)
    assert heard.beaten("lost", "rank-svm") is None


def test_boards_are_made_of_their_records_again(boards):
    records = [record for name, each in boards.boards.items() for record in leaderboards.to_records(name, each)]
    read = [Record.from_json(record.to_json()) for record in records]
    assert leaderboards.from_records(read).lines() == boards.lines()


def test_pairs_are_turned_by_lot_and_keep_their_meaning():
    rng = np.random.default_rng(1)
    pairs = rng.normal(size=(200, 2, 1))
    outcome = np.sign(pairs[:, 1, 0] - pairs[:, 0, 0]).astype(np.int64)
    table = leaderboards._listed("made", Compared(pairs, outcome), ["x"])
    compared = table.comparisons
    x = table.items.X["x"].to_numpy()
    assert (np.sign(x[compared.right] - x[compared.left]) == compared.outcome).all()
    assert sorted([*compared.left, *compared.right]) == list(range(400))
    assert 60 < np.count_nonzero(compared.left % 2) < 140


def test_the_sets_are_compared_one_after_another(tmp_path, monkeypatch):
    folder = tmp_path / "ordinal"
    folder.mkdir()
    rng = np.random.default_rng(2)
    X = rng.normal(size=(70, 11))
    quality = np.digitize(X[:, 0] + 0.3 * rng.normal(size=70), [-0.5, 0.5]) + 4
    lines = [",".join(f"{value:.3f}" for value in row) + f",{level}\n" for row, level in zip(X, quality, strict=True)]
    (folder / "winequality-red.csv").write_text("".join(lines))
    monkeypatch.setattr(leaderboards, "_QUICK", ("Wine, red",))
    monkeypatch.setattr(leaderboards, "_QUICK_BUDGET", 2.0)
    told = []
    found = reproduce("leaderboards", tmp_path, quick=True, n_jobs=1, progress=lambda *each: told.append(each))
    boards = leaderboards.from_records(found.parts["boards"].records).boards
    assert set(boards) == {"Wine, red"}
    assert boards["Wine, red"].leader.mean < 0.35
    assert told[0][:2] == (0, 1)
    assert any(line.startswith("| Wine, red | 70 |") for line in found.lines())


def test_missing_data_are_named(tmp_path):
    for name, reader in leaderboards.DATA_SETS.items():
        with pytest.raises(DataError, match="not there"):
            reader(tmp_path)
        assert name


def test_ranks_are_drawn_over_the_largest_block_without_a_gap():
    means = [{"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.1, "b": 0.2}, {"a": 0.1}]
    methods, rows = _largest_block(means)
    assert (methods, len(rows)) == (["a", "b"], 3)
    methods, rows = _largest_block([*means[:2], {**means[2], "c": 0.4, "d": 0.1}])
    assert (methods, len(rows)) == (["a", "b", "c"], 3)
