"""CSV and TSV: structure, separators, quotes, line numbers, and what a column holds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from .files import refuses, table


def numbers(column: pl.Series) -> list[float | None]:
    assert column.dtype == pl.Float64
    return column.to_list()


def test_numbers_text_and_missing(tmp_path):
    found = table(tmp_path, "a,b,c\n1,x,NA\n,y,2.5\n?,NA,-\n4,,1e3\n")
    assert numbers(found.X["a"]) == [1.0, None, None, 4.0]
    assert found.X["b"].to_list() == ["x", "y", None, None]
    assert numbers(found.X["c"]) == [None, 2.5, None, 1000.0]


@pytest.mark.parametrize("word", ["", "NA", "NaN", "nan", "null", "None", "?", "-", " NA "])
def test_words_for_missing(tmp_path, word):
    found = table(tmp_path, f"a,b\n1,x\n{word},{word}\n")
    assert found.X.row(1) == (None, None)


def test_booleans_are_numbers(tmp_path):
    found = table(tmp_path, "a,b\ntrue,False\nfalse,TRUE\n,x\n")
    assert numbers(found.X["a"]) == [1.0, 0.0, None]
    assert found.X["b"].to_list() == ["False", "TRUE", "x"]


def test_dates_are_text(tmp_path):
    assert table(tmp_path, "when\n2024-01-02\n2024-02-03\n").X["when"].dtype == pl.String


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separator_is_found_in_the_header(tmp_path, separator):
    text = "a,b\n1,x\n2,y\n".replace(",", separator)
    assert table(tmp_path, text).X.rows() == [(1.0, "x"), (2.0, "y")]


def test_tsv(tmp_path):
    assert table(tmp_path, "a\tb,c\n1\tx,y\n", "t.tsv").X.columns == ["a", "b,c"]
    refuses(tmp_path, "a,b\n1,2\n", "no tab but a comma", "format='csv'", line=1, name="t.tsv")


def test_mark_line_ends_and_blank_lines(tmp_path):
    found = table(tmp_path, b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n   \r\n")
    assert found.X.columns == ["a", "b"]
    assert found.X.rows() == [(1.0, 2.0), (3.0, 4.0)]
    assert table(tmp_path, b"a,b\r1,2\r3,4").X.height == 2


def test_names_are_trimmed_and_unnamed_columns_numbered(tmp_path):
    assert table(tmp_path, ' a , b b,""\n1,2,3\n').X.columns == ["a", "b b", "column 3"]


def test_header_without_names(tmp_path):
    refuses(tmp_path, "1.5,2,3\n4,5,6\n", "add a first line with the column names", line=1)
    refuses(tmp_path, "\n1,5;2;3\n4;5;6\n", "add a first line", line=2)


@pytest.mark.parametrize("odd", ["\x85", "\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1e"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_only_a_line_end_ends_the_header(tmp_path, odd, quote):
    found = table(tmp_path, f"{quote}a{odd}b{quote},c\n1,2\n", item="c")
    assert found.feature_names == ("a b",)  # any white space in a name is one blank
    assert table(tmp_path, 'a,"b\nc",d\n1,2,3\n').feature_names == ("a", "b c", "d")


def test_header_with_a_name_twice(tmp_path):
    refuses(tmp_path, "a,b, a\n1,2,3\n", "columns 1 and 3 are both called 'a'", line=1)


def test_no_rows(tmp_path):
    refuses(tmp_path, "", "it is empty")
    refuses(tmp_path, "\n \n", "it is empty")
    refuses(tmp_path, "a,b\n", "no rows")


@pytest.mark.parametrize("row", ["3", "3,4,5"])
def test_ragged_rows(tmp_path, row):
    n = row.count(",") + 1
    refuses(tmp_path, f"a,b\n1,2\n\n{row}\n", f"{n} field", "the header has 2", line=4)


def test_quoted_fields(tmp_path):
    found = table(tmp_path, 'a,"b, c"\n"x, y",1\n"two\nlines",2\n"say ""so""",3\n')
    assert found.X.columns == ["a", "b, c"]
    assert found.X["a"].to_list() == ["x, y", "two\nlines", 'say "so"']


def test_lines_are_right_after_a_quoted_line_end(tmp_path):
    refuses(tmp_path, 'a,b\n"1\n2\n3",x\n1,2,3\n', "3 fields", line=5)
    rows = "".join(f'{row},"a\nb"\n' for row in range(30))
    refuses(tmp_path, f"n,text\n{rows}oops,x\n", "'oops'", line=62)


def test_quotes_that_open_no_field_are_characters(tmp_path):
    assert table(tmp_path, 'a,b\n5" pipe,1\n6",2\n').X["a"].to_list() == ['5" pipe', '6"']


def test_stray_quotes(tmp_path):
    refuses(tmp_path, 'a,b\n"x",1\n5" pipe,2\n', 'a " inside a field', line=3)
    refuses(tmp_path, 'a,b\n"x"y,1\n', 'a " inside a field', line=2)
    refuses(tmp_path, 'a,b\n1,2\n3,"x\n', "never ends", line=3)
    refuses(tmp_path, 'a,b\n1, "x"\n', "spaces before a quoted field", line=2)


def test_typos_in_numbers_are_refused(tmp_path):
    rows = "".join(f"{row}\n" for row in range(20))
    refuses(tmp_path, f"ph\n{rows}3.l4\n", "'3.l4' in column 'ph'", "20 of its 21", "drop='ph'", line=22)


def test_a_few_numbers_among_text_are_categories(tmp_path):
    assert table(tmp_path, "doors\n2\n3\n4\n5more\n").X["doors"].to_list() == ["2", "3", "4", "5more"]


def test_infinity(tmp_path):
    refuses(tmp_path, "a\n1\ninf\n", "'a' is infinite", line=3)
    refuses(tmp_path, "a\n1\n1e999\n", "'a' is infinite", line=3)


def test_spaces_around_fields(tmp_path):
    found = table(tmp_path, "a,b\n 1 , x\n2, y \n")
    assert found.X.rows() == [(1.0, "x"), (2.0, "y")]


def test_decimal_comma(tmp_path):
    found = table(tmp_path, "a;b;c\n3,14;1;x,y\n-2;,5;z\n;1,5e3;w\n")
    assert numbers(found.X["a"]) == [3.14, -2.0, None]
    assert numbers(found.X["b"]) == [1.0, 0.5, 1500.0]
    assert found.X["c"].to_list() == ["x,y", "z", "w"]


def test_decimal_comma_and_point_together(tmp_path):
    refuses(tmp_path, "a;b\n3,14;1\n2.5;1\n", "'2.5' here and '3,14' elsewhere", line=3)


@pytest.mark.parametrize("value", ["1,234", "1,234.5", "3,14"])
def test_commas_in_numbers_of_other_files(tmp_path, value):
    refuses(tmp_path, f"a\tb\n{value}\t1\n{value}\t2\n", repr(value), "decimal point", line=2)
    refuses(tmp_path, f'a,b\n7,1\n"{value}",2\n', repr(value), "decimal point", line=3)


def test_thousands_with_points(tmp_path):
    refuses(tmp_path, "a;b\n1.234.567,5;1\n", "decimal point", line=2)


def test_not_utf8_and_nul(tmp_path):
    refuses(tmp_path, b"a,b\n1,2\ncaf\xe9,3\n", "0xe9", "UTF-8", line=3)
    refuses(tmp_path, b"a,b\n1,\x00\n", "NUL", line=2)


def test_gzip_is_found_by_content(tmp_path):
    assert table(tmp_path, "a\n1\n", "t.csv.gz").X.rows() == [(1.0,)]
    zipped = (tmp_path / "t.csv.gz").read_bytes()
    assert table(tmp_path, zipped, "other.csv").X.rows() == [(1.0,)]
    refuses(tmp_path, zipped[:-4], "gzip", name="cut.csv")


def test_agrees_with_a_plain_reader_on_random_numbers(tmp_path):
    values = np.random.default_rng(0).normal(size=(500, 4)) * 10.0 ** np.arange(-8, 8, 4)
    text = "a,b,c,d\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist())
    assert (table(tmp_path, text).X.to_numpy() == values).all()
