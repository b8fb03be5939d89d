"""What a spreadsheet would compute is written so that it stays text, and read back as it was."""

from __future__ import annotations

import csv
import io
import warnings

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

from wellorder.data import Table, read, write_table
from wellorder.data.spreadsheets import mark_formulas, quote_style, unmark_formulas, unmarked_name

SIGNS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
NAMES = st.text(alphabet=SIGNS + "'ab1.e ,;|\"", min_size=1, max_size=5)


def is_computed(field):
    """Say whether a spreadsheet computes a field: the slow, obvious way."""
    if len(field) < 2 or field[0] not in SIGNS:
        return False
    return pl.Series([field]).cast(pl.Float64, strict=False)[0] is None  # a number is one


@given(names=st.lists(NAMES, min_size=1, max_size=6), header=NAMES)
def test_no_field_is_computed_and_names_come_back(names, header):
    frame = pl.DataFrame({header: names, "n": range(len(names))})
    marked, _ = mark_formulas(frame)
    assert not any(map(is_computed, [*marked.columns, *marked.to_series(0)]))
    back = unmark_formulas(marked)
    assert back.to_series(0).to_list() == names
    assert [unmarked_name(name) for name in marked.columns] == frame.columns


@given(names=st.lists(NAMES, min_size=1, max_size=6), other=st.sampled_from(";\t|,"))
def test_parted_at_another_character_it_stays_text(names, other):
    """Where a list separator is a semicolon, a spreadsheet parts a comma's file at semicolons."""
    frame, _ = mark_formulas(pl.DataFrame({"item": names, "n": range(len(names))}))
    text = frame.write_csv(quote_style=quote_style(frame))
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=other):
        # neither a sign nor a number begins a formula with the comma after it
        assert not any(is_computed(field.partition(",")[0]) for field in row)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz"])
def test_a_table_comes_back_with_its_names(tmp_path, suffix):
    names = np.array(["=1", "-x", "'=1", "''@", "plain", "-1", "it's", "="], dtype=object)
    table = Table("t", sp.csr_array(np.arange(16.0).reshape(8, 2)), ids=names, item="=name()")
    path = tmp_path / f"t.{suffix}"
    with pytest.warns(UserWarning, match="would be formulas to a spreadsheet"):
        write_table(path, table)
    found = read(path, item="=name()")
    assert found.ids.tolist() == names.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_table(path, table, raw_names=True)
    assert read(path, item="=name()").ids.tolist() == names.tolist()  # with formulas in it, nobody has marked them
