"""Lists of dicts, and columns read at once: the same numbers, refusals and warnings as entry by entry."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import wellorder as wo
from tests.reference import encoding as reference
from wellorder.data import TableEncoder, TableRanker, rows as room

TRAINED = {
    "age": [1.0, None, 3.0, 8.0, 2.5],
    "size": [2, 3, 5, 7, 7],
    "colour": ["red", "blue", None, "red", "green"],
    "stars": ["4", "5", "more", "4", "1.5"],
    "same": ["x", "x", "x", "x", "x"],
    "fixed": [2.0, 2.0, 2.0, 2.0, 2.0],
    "flag": [True, False, True, True, False],
}
NUMBERS = [
    1.0,
    2,
    -3.5,
    0,
    True,
    False,
    np.float64(0.1),
    np.float32(0.1),
    np.int64(4),
    np.bool_(True),
    2**60 + 1,
    1e300,
]
GAPS = [None, float("nan"), np.nan, pd.NA]
TEXTS = ["red", "blue", "x", "more", "4", "4.0", "1.5", " 2", "1_0", "", "nan"]
ENCODERS = {for_trees: TableEncoder(for_trees=for_trees).fit(pl.DataFrame(TRAINED)) for for_trees in (False, True)}


def columns(draw):
    """Draw what stands in each column: numbers mostly, or text, or both, with gaps or none."""
    out = {}
    n = draw(st.integers(1, 5))
    for name in TRAINED:
        usual = NUMBERS if name in ("age", "size", "fixed", "flag") else TEXTS
        pool = draw(st.sampled_from([usual, usual, usual, usual + GAPS, NUMBERS + TEXTS + GAPS]))
        out[name] = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    return n, out


@st.composite
def records(draw):
    n, found = columns(draw)
    rows = [{name: entries[row] for name, entries in found.items()} for row in range(n)]
    for row in rows:
        for name in draw(st.sampled_from([(), (), (), ("age",), ("colour", "size")])):
            del row[name]
        if draw(st.booleans()):
            row["unused"] = draw(st.sampled_from(["?", 1, [2, 3]]))
    return rows


def outcome(encode, *given):
    """Return what comes of it: numbers or a refusal, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            found = encode(*given)
        except ValueError as error:
            found = str(error)
    return found, [str(each.message) for each in said if issubclass(each.category, UserWarning)]


@settings(max_examples=300)
@given(rows=records(), for_trees=st.booleans())
def test_dicts_become_what_they_become_entry_by_entry(rows, for_trees):
    encoder = ENCODERS[for_trees]
    found, said = outcome(encoder.transform, rows)
    try:
        expected, warned = reference.encode(encoder, rows)
    except reference.RefusedError as refusal:
        name, row = refusal.args
        assert isinstance(found, str)
        assert repr(name) in found
        assert row is None or f"row {row}" in found
        return
    if isinstance(found, str):
        assert "too large" in found
        assert np.isinf(expected).any()
        return
    assert found.tobytes() == expected.tobytes()
    assert [each.split("'")[1] for each in said] == warned


def as_objects(rows):
    names = dict.fromkeys(name for row in rows for name in row)
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=object) for name in names})


@given(rows=records(), for_trees=st.booleans())
def test_a_frame_of_the_same_rows_has_the_same_outcome_and_the_same_words(rows, for_trees):
    encoder = ENCODERS[for_trees]
    found, said = outcome(encoder.transform, rows)
    for frame in (as_objects(rows), pd.DataFrame(rows)):
        other, said_too = outcome(encoder.transform, frame)
        assert said == said_too
        assert found == other if isinstance(found, str) else found.tobytes() == other.tobytes()


@given(rows=records(), for_trees=st.booleans(), kind=st.sampled_from(["polars", "pandas", "dicts"]))
def test_columns_read_at_once_are_those_read_one_by_one(rows, for_trees, kind):
    encoder = ENCODERS[for_trees]
    rows = [{name: row.get(name) for name in TRAINED} for row in rows]
    frame = {"dicts": lambda: rows, "pandas": lambda: pd.DataFrame(rows), "polars": lambda: plain(rows)}[kind]()
    at_once = outcome(encoder.transform, frame)
    whole = room.FrameRows.numbers, room.Records.numbers
    try:
        room.FrameRows.numbers = room.Records.numbers = lambda self, names: (
            np.empty((len(self), len(names))),
            list(range(len(names))),
        )
        one_by_one = outcome(encoder.transform, frame)
    finally:
        room.FrameRows.numbers, room.Records.numbers = whole
    assert at_once[1] == one_by_one[1]
    assert (
        at_once[0] == one_by_one[0] if isinstance(at_once[0], str) else at_once[0].tobytes() == one_by_one[0].tobytes()
    )


def plain(rows):
    """Return the rows as polars holds them: columns of mixed entries as text."""
    read = {name: reference.read(row[name] for row in rows) for name in TRAINED}
    return pl.DataFrame({name: pl.Series(entries, strict=False) for name, entries in read.items()})


def test_plain_columns_are_not_looked_at_one_by_one(monkeypatch):
    looked_at = []
    for kind in (room.Records, room.FrameRows):
        usual = kind.column
        monkeypatch.setattr(kind, "column", lambda self, name, usual=usual: looked_at.append(name) or usual(self, name))
    frame = pl.DataFrame(TRAINED)
    for given_rows in (frame, pd.DataFrame(frame.to_dict(as_series=False)), frame.to_dicts()):
        looked_at.clear()
        ENCODERS[False].transform(given_rows)
        assert looked_at == ["colour", "stars", "same"]


def test_rows_as_text_or_numbers_of_every_width():
    wide = pl.DataFrame({"n": [1, 2, None], "b": [True, None, False], "t": ["u", "v", "u"], "f": [0.5, 1.5, 2.5]})
    encoder = TableEncoder().fit(wide)
    expected = encoder.transform(wide)
    nullable = pd.DataFrame({"n": pd.array([1, 2, None], "Int64"), "b": pd.array([True, None, False], "boolean")})
    nullable["t"], nullable["f"] = pd.Categorical(["u", "v", "u"]), np.float32([0.5, 1.5, 2.5])
    for rows in (wide.to_dicts(), nullable, [{**row, 1: "?"} for row in wide.to_dicts()]):
        assert np.array_equal(encoder.transform(rows), expected)
    only = TableEncoder().fit(pl.DataFrame({"f": [1.0, 3.0]}))
    assert only.transform([{"f": 3}, {"f": 1}]).tolist() == [[1.0], [-1.0]]


def test_names_that_are_no_text():
    encoder = TableEncoder().fit(pd.DataFrame({1: [1.0, 3.0], "t": ["u", "v"]}))
    rows = [{1: 3.0, "t": "u"}, {1: 1.0, "t": "v"}]
    assert np.array_equal(encoder.transform(rows), encoder.transform(pd.DataFrame(rows)))
    assert np.array_equal(encoder.transform([{"1": 3.0, "t": "u"}, {"1": 1.0, "t": "v"}]), encoder.transform(rows))


def test_what_is_refused():
    encoder = ENCODERS[False]
    rows = pl.DataFrame(TRAINED).to_dicts()
    with pytest.raises(ValueError, match=r"row 1 \(from 0\) is list, and row 0 is a dict"):
        encoder.transform([rows[0], [1, 2]])
    with pytest.raises(ValueError, match="missing column 'colour', which the model needs; did you mean 'color'"):
        encoder.transform([{("color" if name == "colour" else name): entry for name, entry in rows[0].items()}])
    with pytest.raises(ValueError, match="a list of dicts with the same ones"):
        encoder.transform(rows[0])
    with pytest.raises(ValueError, match="a list of dicts with the same ones"):
        encoder.transform([])


def test_a_ranker_learns_from_dicts_and_scores_them():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"ph": rng.normal(size=40), "list": np.arange(40) % 4, "quality": rng.integers(0, 3, 40)})
    rows = frame.to_dicts()
    model = TableRanker(wo.RankSVM(), target="quality", group="list").fit(rows)
    expected = TableRanker(wo.RankSVM(), target="quality", group="list").fit(frame).predict(frame)
    assert np.array_equal(model.predict(rows), expected)
    assert np.array_equal(model.predict(rows[3:4]), expected[3:4])
    lists = TableRanker(wo.MultipleHyperplaneRanker(), target="quality", group="list").fit(frame)
    assert np.array_equal(lists.predict(rows), lists.predict(frame))
