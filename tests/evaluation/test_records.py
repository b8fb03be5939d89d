"""Records: one JSON line a fit, read back exactly; a broken file goes on."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from pathlib import Path

import pytest

from wellorder.evaluation import records
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metrics": {"swapped_pairs": "x"}}, r"metrics\['swapped_pairs'\] is 'x', not a number or null"),
        ({"metrics": {"swapped_pairs": True}}, r"metrics\['swapped_pairs'\] is True, not a number"),
        ({"metrics": {"swapped_pairs": 10**400}}, r"metrics\['swapped_pairs'\] is 1000.*\.\.\., not a number"),
        ({"metrics": []}, r"metrics is \[\], not an object"),
        ({"n_train": -1}, "n_train is -1, not a count"),
        ({"n_test": "many"}, "n_test is 'many', not a count"),
        ({"repeat": [1]}, r"repeat is \[1\], not a count"),
        ({"fold": 1.5}, "fold is 1.5, not a count"),
        ({"seed": {}}, r"seed is \{\}, not a whole number"),
        ({"method": 5}, "method is 5, not a text"),
        ({"data": None}, "data is None, not a text"),
        ({"problem": 5}, "problem is 5, not a text"),
        ({"fit_seconds": -1.0}, "fit_seconds is -1.0, not a number of seconds"),
        ({"search_seconds": "long"}, "search_seconds is 'long', not a number of seconds"),
        ({"orders_nothing": "yes"}, "orders_nothing is 'yes', not true or false"),
        ({"params": 3}, "params is 3, not an object"),
        ({"notes": 7}, "notes is 7, not a list of texts"),
        ({"features": ["a", 1]}, r"features\[1\] is 1, not a text"),
        ({"weights": [0.0, "b"]}, r"weights\[1\] is 'b', not a number"),
        ({"held_out": 5}, "held_out is 5, not a list of numbers"),
        ({"curve": {"kind": "ndcg", "x": [1], "y": []}}, r"curve.y is \[\], not a list of 1 numbers"),
        ({"curve": {"kind": "ndcg"}}, "not an object with kind, x, y"),
        (
            {"swaps": {"levels": ["a"], "swapped": [[0.0]], "total": [[0.0], [1.0]]}},
            "swaps.total is .* not a table of 1",
        ),
        ({"swaps": {"levels": ["a", "b"], "swapped": [3, 4], "total": []}}, "swaps.swapped is .* not a table of 2"),
    ],
)
@pytest.mark.parametrize("end", ["\n", ""])
def test_odd_values_are_named_with_their_line_and_left_alone(tmp_path, change, message, end):
    path = tmp_path / "records.jsonl"
    odd = json.dumps(json.loads(a_record("b").to_json()) | change)
    content = (
        a_record("a").to_json() + "\n" + odd + end
    )  # without an end it is no line that was cut off: those are no JSON
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"records.jsonl, line 2: this is no record of a fit: its .*{message}"):
        RecordFile(path)
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"key":"a","data":"b"}', "it has no 'method'"),
        (b'{"key":"a","metrics":{"m":NaN}}', "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b'{"key":"\xff"}', "it is not text in UTF-8"),
        (b"[1]", "it is no object with named values"),
    ],
)
def test_what_is_no_record_at_all_is_told_why(tmp_path, line, message):
    path = tmp_path / "records.jsonl"
    path.write_bytes(line + b"\n" + a_record("a").to_json().encode() + b"\n")
    with pytest.raises(ValueError, match=f"line 1: this is no record of a fit: {message}"):
        list(read_records(path))


def test_every_field_has_a_reader():
    assert set(records._READERS) == {each.name for each in dataclasses.fields(Record)}


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


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_devices_hold_no_records():
    assert len(RecordFile("/dev/zero")) == 0
    with pytest.raises(ValueError, match=r"^/dev/zero: it is a device, and holds no records"):
        list(read_records("/dev/zero"))
