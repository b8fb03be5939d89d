"""Pieces of a paper's experiments: run once, kept at once, in the order that was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from wellorder.evaluation import Record, RecordFile
from wellorder.papers.running import PaperRun, Piece, record_key


def _record(key: str, method: str) -> Record:
    return Record(key, "data", method, 0, 0, 0, 10, 10, {"swapped_pairs": len(key)})


class _Maker:
    """Makes records, and remembers which methods it was asked for."""

    def __init__(self, keys):
        self.keys, self.asked = keys, []

    def __call__(self, methods):
        self.asked.append(list(methods))
        if "broken" in methods:
            raise ZeroDivisionError
        return [_record(self.keys[method], method) for method in reversed(methods)]


def _piece(name, *methods):
    keys = {method: f"{name}/{method}" for method in methods}
    return Piece(name, keys, _Maker(keys))


def _run(pieces, path=None, progress=None):
    return PaperRun(Path(), kept=RecordFile(path), n_jobs=1, progress=progress).pieces(pieces)


def test_records_come_in_the_order_asked_for():
    seen = []
    made = _run([_piece("b", "x", "y"), _piece("a", "x")], progress=lambda *each: seen.append(each))
    assert [record.key for record in made] == ["b/x", "b/y", "a/x"]
    assert seen == [(2, 3, "b"), (3, 3, "a")]


def test_only_what_is_missing_is_made(tmp_path):
    path = tmp_path / "records.jsonl"
    _run([_piece("b", "x")], path)
    pieces = [_piece("b", "x", "y"), _piece("b", "x")]
    made = _run(pieces, path)
    assert [piece.make.asked for piece in pieces] == [[["y"]], []]
    assert [record.key for record in made] == ["b/x", "b/y", "b/x"]
    assert len(RecordFile(path)) == 2


def test_what_was_made_before_a_failure_is_kept(tmp_path):
    path = tmp_path / "records.jsonl"
    with pytest.raises(ZeroDivisionError):
        _run([_piece("a", "x", "y"), _piece("b", "broken")], path)
    assert sorted(record.key for record in RecordFile(path)) == ["a/x", "a/y"]


def test_a_key_changes_with_how_a_record_is_made():
    assert record_key("a/b", 1, "x") == record_key("a/b", 1, "x")
    assert len({record_key("a/b", 1, "x"), record_key("a/b", 2, "x"), record_key("a/c", 1, "x")}) == 3
    assert record_key("a/b", 1).startswith("a/b/")
