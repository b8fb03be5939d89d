"""JSON lines: graded rows and votes, of mixed types, with gaps, nested, broken."""

from __future__ import annotations

import json

import pytest

from wellorder.data import jsonl, read

from .files import games, put, refuses, table


def lines(*rows):
    return "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson.gz", "t.data"])
def test_graded_rows(tmp_path, name):
    text = lines({"ph": 3.1, "colour": "röt", "q": 5}, {"ph": 3, "q": 6, "colour": None}, {"q": None, "new": True})
    found = table(tmp_path, text, name, target="q")
    assert found.X.rows() == [(3.1, "röt", None), (3.0, None, None), (None, None, 1.0)]
    assert found.y.tolist()[:2] == [5.0, 6.0]


def test_votes(tmp_path):
    votes = [
        {"model_a": "x", "model_b": "y", "winner": "model_b", "turn": [1, 2]},
        "\n",
        {"model_a": "y", "model_b": "z"},
    ]
    refuses(tmp_path, lines(*votes), "the outcome (column 'winner') is missing", line=3, name="t.jsonl")
    found = games(tmp_path, lines(*votes[:2]), "v.jsonl")
    assert found.comparisons.outcome.tolist() == [1]


def test_values_of_mixed_types(tmp_path):
    found = table(tmp_path, lines({"a": 1, "b": 1}, {"a": True, "b": "x"}, '{"a": NaN, "b": null}\n'), "t.jsonl")
    assert found.X.rows() == [(1.0, "1"), (1.0, "x"), (None, None)]
    found = table(tmp_path, lines({"a": [1, 2]}, {"a": 3}, {"a": {"b": 1}}), "t.jsonl")
    assert found.X["a"].to_list() == ["[1, 2]", "3", '{"b": 1}']


def test_lists_and_objects_are_no_features(tmp_path):
    refuses(tmp_path, lines({"a": [1, 2], "b": 1}, {"a": [3], "b": 2}), "column 'a' holds", "drop='a'", name="t.jsonl")
    assert table(tmp_path, lines({"a": [1], "b": 1}), "t.jsonl", drop="a").X.rows() == [(1.0,)]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (
            '{"a": 1, "b"\n',
            "is not valid JSON (Expecting ':' delimiter, at character 13); each line is one whole object",
        ),
        ('{"a": 1} {"a": 2}\n', "is not valid JSON (Extra data"),
        ("[1, 2]\n", "is valid JSON, but no object; write one object a line (jq -c '.[]')"),
        ("5\n", "is valid JSON, but no object"),
        ('{"a": ' + "[" * 100_000 + "\n", "nested too deeply"),
    ],
)
def test_lines_that_are_wrong(tmp_path, bad, said):
    refuses(tmp_path, lines({"a": 1}, "\n", bad, {"a": 2}), said, line=3, name="t.jsonl")


def test_files_with_nothing_to_read(tmp_path):
    refuses(tmp_path, "\n \n", "it is empty", name="t.jsonl")
    refuses(tmp_path, "{}\n{}\n", "no keys", name="t.jsonl")
    refuses(tmp_path, "[\n{\n}\n]\n", "is not valid JSON", line=1, name="t.json")


def test_ever_new_keys_are_refused_before_they_take_the_memory(tmp_path, monkeypatch):
    path = put(tmp_path, lines(*({f"key {row}": 1} for row in range(500))), "t.jsonl")
    assert read(path).X.shape == (500, 500)
    monkeypatch.setattr(jsonl, "room", lambda: 3_000_000)
    with pytest.raises(ValueError, match="500 lines with 500 keys in all take about"):
        read(path)
