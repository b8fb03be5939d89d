"""Records: one JSON line a fit, read back exactly; a broken file goes on."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from wellorder.evaluation.records import Curve, Record, RecordFile, SwapTable, read_records


def a_record(key="k", **changes):
    fields = {
        "data": "wines.csv",
        "method": "rank-svm",
        "repeat": 0,
        "fold": 1,
        "seed": 7,
        "n_train": 80,
        "n_test": 20,
        "metrics": {"swapped_pairs": 0.25},
    }
    return Record(key, **(fields | changes))


def test_a_full_record_comes_back_as_it_was():
    record = a_record(
        params={"C": 0.1, "gamma": None},
        search_seconds=1.5,
        swaps=SwapTable(("poor", "good"), ((0.0, 2.0), (0.0, 0.0)), ((0.0, 8.0), (0.0, 0.0))),
        curve=Curve("ndcg", (1.0, 2.0), (0.5, 0.75)),
        weights=(0.25, -1.0),
        features=("größe", 'with "quotes"'),
        notes=("line\nbreak",),
    )
    line = record.to_json()
    assert "\n" not in line
    assert Record.from_json(line) == record


def test_what_is_not_defined_comes_back_as_nan():
    line = a_record(metrics={"ndcg@10": math.nan}).to_json()
    assert "NaN" not in line  # JSON knows none
    assert math.isnan(Record.from_json(line).metrics["ndcg@10"])


def test_fields_of_a_later_version_are_left_out():
    line = a_record().to_json()[:-1] + ',"brand_new":1}'
    assert Record.from_json(line) == a_record()


def test_a_file_keeps_what_was_appended(tmp_path):
    path = tmp_path / "records.jsonl"
    kept = RecordFile(path)
    kept.append(a_record("a"))
    kept.append(a_record("b", fold=2))
    again = RecordFile(path)
    assert list(again) == [a_record("a"), a_record("b", fold=2)]
    assert "a" in again
    assert "c" not in again


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_was_cut_off_is_dropped_and_nothing_else(tmp_path, cut):
    path = tmp_path / "records.jsonl"
    path.write_text(a_record("a").to_json() + "\n" + a_record("b").to_json()[:-cut], encoding="utf-8")
    kept = RecordFile(path)
    assert [record.key for record in kept] == ["a"]
    kept.append(a_record("c"))
    assert [record.key for record in read_records(path)] == ["a", "c"]


@pytest.mark.parametrize(
    "content",
    [
        b"dear diary\nnothing happened\n",
        b'{"my":"only copy"}',
        b"one line without an end",
        b"\n\n  dear diary",
        b"\xff\xfe no text",
        b"[1, 2]",
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"notes.txt, line \d: this is no record of a fit"):
        RecordFile(path)
    assert path.read_bytes() == content


def test_a_record_in_the_middle_that_is_none_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "records.jsonl"
    content = a_record("a").to_json() + "\nhello\n" + a_record("b").to_json()[:-5]
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="line 2"):
        RecordFile(path)
    assert path.read_text(encoding="utf-8") == content


def test_a_last_record_without_a_line_end_stays_on_disk(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(a_record("a").to_json() + "\n" + a_record("b").to_json(), encoding="utf-8")
    RecordFile(path).append(a_record("c"))
    assert [record.key for record in read_records(path)] == ["a", "b", "c"]


def test_a_lone_record_that_was_cut_off_is_dropped(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text(a_record("a").to_json()[:30], encoding="utf-8")
    RecordFile(path).append(a_record("b"))
    assert [record.key for record in read_records(path)] == ["b"]


def test_without_a_path_records_stay_in_memory():
    kept = RecordFile()
    kept.append(a_record("a"))
    assert len(kept) == 1
    assert kept["a"] == a_record("a")


def test_held_out_scores_come_back_as_they_were():
    again = Record.from_json(a_record(held_out=(0.1, math.nan, -3.5)).to_json())
    assert again.held_out[::2] == (0.1, -3.5)
    assert math.isnan(again.held_out[1])
    assert Record.from_json(a_record().to_json()).held_out is None


def test_a_disk_that_is_full_costs_no_record(tmp_path, monkeypatch):
    kept = RecordFile(tmp_path / "records.jsonl")
    kept.append(a_record("a"))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        with pytest.warns(UserWarning, match=r"no longer be kept in .*records.jsonl \(No space left on device\)"):
            kept.append(a_record("b"))
    kept.append(a_record("c"))  # what may follow half a line would make the file unreadable
    assert [each.key for each in kept] == ["a", "b", "c"]
    assert [each.key for each in RecordFile(tmp_path / "records.jsonl")] == ["a"]


def test_a_file_that_cannot_be_written_is_named_before_anything_is_computed(tmp_path):
    with pytest.raises(OSError, match=r"absent.records.jsonl"):
        RecordFile(tmp_path / "absent" / "records.jsonl").refuse_unwritable()
