"""``read``: formats, roles of columns, levels, several files."""

from __future__ import annotations

import gzip
import io
import sqlite3
from contextlib import closing
from datetime import date

import numpy as np
import polars as pl
import pytest

from wellorder.data import DataError, Table, formats as parquet_room, letor as letor_room, lines as lines_room, read
from wellorder.data.formats import FORMATS, Format
from wellorder.data.lines import read_text
from wellorder.data.sheet import Sheet

from .files import pipe, put, refuses, table

WINES = "name,ph,colour,list,w,quality\nP,3.1,red,7,1,5\nM,3.4,white,8,2,6\nR,,red,7,0.5,\n"


def test_roles(tmp_path):
    found = table(tmp_path, WINES, target="quality", group="list", item="name", weight="w")
    assert found.feature_names == ("ph", "colour")
    np.testing.assert_array_equal(found.y, [5.0, 6.0, np.nan])
    assert found.groups.tolist() == [7, 8, 7]
    assert found.groups.dtype == np.int64
    assert found.ids.tolist() == ["P", "M", "R"]
    assert found.weights.tolist() == [1.0, 2.0, 0.5]
    assert (found.target, found.group, found.item, found.weight) == ("quality", "list", "name", "w")
    assert found.source == str(tmp_path / "t.csv")
    assert found.take(np.array([2, 0])).ids.tolist() == ["R", "P"]


def test_grades_that_rounding_would_tie_are_refused(tmp_path):
    large = 2**53
    rows = [2 * large, 2 * large, large, large + 1]
    text = "a,grade\n" + "".join(f"{k},{grade}\n" for k, grade in enumerate(rows))
    with pytest.raises(DataError, match=rf"line 4: the grade {large} \(column 'grade'\) is so large.* give ranks"):
        table(tmp_path, text, target="grade")
    assert table(tmp_path, text.replace(str(large + 1), str(large)), target="grade").y.tolist() == [*rows[:3], large]


def test_without_target_there_are_no_grades(tmp_path):
    found = table(tmp_path, WINES, drop=["w", "name"])
    assert found.y is None
    assert found.feature_names == ("ph", "colour", "list", "quality")
    assert table(tmp_path, WINES, drop="w").feature_names == ("name", "ph", "colour", "list", "quality")


def test_unknown_columns(tmp_path):
    refuses(tmp_path, WINES, "no column 'Qualty'", "target=", "did you mean 'quality'?", "name, ph", target="Qualty")
    refuses(tmp_path, WINES, "no column 'zzz'", "drop=", "its columns are name", drop="zzz")
    for option in ("group", "item", "weight"):
        refuses(tmp_path, WINES, "no column 'lists'", f"{option}=", "'list'", **{option: "lists"})


def test_columns_named_twice(tmp_path):
    refuses(tmp_path, WINES, "'list' is named twice, by target= and by group=", target="list", group="list")
    refuses(tmp_path, WINES, "'quality' is named twice", target="quality", drop="quality")


def test_text_groups_and_leading_zeros(tmp_path):
    assert table(tmp_path, "a,g\n1,x\n2,y\n", group="g").groups.tolist() == ["x", "y"]
    assert table(tmp_path, "a,g\n1,7\n2,07\n", group="g").groups.tolist() == ["7", "07"]
    assert table(tmp_path, "a,g\n1,-7\n2,12345678901234567890\n", group="g").groups.dtype == object


def test_missing_group_and_name(tmp_path):
    refuses(tmp_path, "a,g\n1,x\n2,\n", "the group (column 'g') is missing", line=3, group="g")
    refuses(tmp_path, "a,g\n1,x\n2,\n", "the name (column 'g') is missing", line=3, item="g")


@pytest.mark.parametrize(("bad", "said"), [("0", "is 0"), ("-1", "is -1"), ("", "is missing")])
def test_weights_are_positive(tmp_path, bad, said):
    refuses(tmp_path, f"a,w\n1,2\n2,{bad}\n", f"the weight (column 'w') {said}", line=3, weight="w")


def test_weights_are_numbers(tmp_path):
    refuses(tmp_path, "a,w\n1,\n2,heavy\n", "the weight 'heavy'", line=3, weight="w")


def test_text_grades_need_levels(tmp_path):
    text = "a,grade\n1,good\n2,poor\n3,\n4,fair\n"
    refuses(tmp_path, text, "levels=[poor, fair, good]", target="grade")
    refuses(tmp_path, "a,g\n1,z\n2,b\n", "with levels=, the worst first", "in no order: z, b", target="g")
    found = table(tmp_path, text, target="grade", levels=["poor", "fair", "good"])
    assert found.y.tolist() == ["good", "poor", None, "fair"]
    assert found.levels == ("poor", "fair", "good")
    assert found.grades().describe().n_unjudged == 1
    rows = "".join(f"{row},name{row}\n" for row in range(60))
    refuses(tmp_path, f"a,g\n{rows}", "60 different values", target="g")


def test_grades_that_are_no_level(tmp_path):
    text = "a,grade\n1,good\n2,bad\n"
    refuses(tmp_path, text, "'bad' in column 'grade' is not among the levels", line=3, target="grade", levels=["good"])
    refuses(tmp_path, "a,g\n1,1\n2,4\n", "'4' in column 'g'", line=3, target="g", levels=["1", "2"])
    refuses(tmp_path, text, "are numbers", target="grade", levels=[1, 2])


def test_levels_of_numbers_are_matched_by_number(tmp_path):
    found = table(tmp_path, "a,g\n1,2.0\n2,\n3,10\n", target="g", levels=["10", "2"])
    assert found.levels == (10.0, 2.0)
    np.testing.assert_array_equal(found.y, [2.0, np.nan, 10.0])
    assert found.grades().level.tolist() == [1, -1, 0]


def test_levels_that_mix_numbers_and_text(tmp_path):
    rows = "".join(f"{row},{row % 3 + 1}\n" for row in range(30))
    found = table(tmp_path, f"a,g\n{rows}1,3+\n", target="g", levels=["1", "2", "3", "3+"])
    assert found.y[-1] == "3+"


def test_bad_levels(tmp_path):
    refuses(tmp_path, WINES, "one text", target="quality", levels="good,bad")
    refuses(tmp_path, WINES, "'a' twice", target="quality", levels=["a", "b", "a"])
    refuses(tmp_path, WINES, "is empty", target="quality", levels=[])
    refuses(tmp_path, WINES, "name their column with target=", levels=["a", "b"])


def test_infinite_and_mistyped_grades(tmp_path):
    refuses(tmp_path, "a,g\n1,inf\n", "'g' is infinite", line=2, target="g")
    rows = "".join(f"1,{row}\n" for row in range(20))
    refuses(tmp_path, f"a,g\n{rows}1,l\n", "'l' in column 'g'", line=22, target="g")


LETOR = "# a comment\n2 qid:7 1:0.5 3:1 # first\n0 qid:8 2:1.5\n"


@pytest.mark.parametrize("name", ["t.txt", "t.dat", "t.letor", "t.txt.gz", "t.csv", "t"])
def test_letor_is_recognised(tmp_path, name):
    found = table(tmp_path, LETOR, name)
    assert found.X.toarray().tolist() == [[0.5, 0.0, 1.0], [0.0, 1.5, 0.0]]
    assert found.y.tolist() == [2.0, 0.0]
    assert found.groups.tolist() == [7, 8]


@pytest.mark.parametrize("grade", ["?", "nan", "NaN", "-nan", "1"])
@pytest.mark.parametrize("rest", ["qid:7 1:2", "1:2"])
@pytest.mark.parametrize("before", ["", "# a comment, with a comma\n\n  # and another\n"])
def test_letor_is_recognised_by_any_grade(tmp_path, grade, rest, before):
    found = table(tmp_path, f"{before}{grade} {rest}\n0 {rest}\n", "t.txt")
    np.testing.assert_array_equal(found.y, [1.0 if grade == "1" else np.nan, 0.0])


def test_a_grade_alone_is_not_letor(tmp_path):
    refuses(tmp_path, "5\n1:30\n", "format=", name="t.txt")


def test_letor_without_queries_is_recognised(tmp_path):
    assert table(tmp_path, "1 1:0.5\n-1 2:1\n", "t.txt").groups is None


def test_letor_options(tmp_path):
    refuses(tmp_path, LETOR, "leave target= out", name="t.txt", target="quality")
    refuses(tmp_path, LETOR, "leave drop= out", name="t.txt", drop="1")
    found = table(tmp_path, LETOR, "t.txt", target="grade", group="qid", levels=["0", "1", "2"])
    assert found.levels == (0.0, 1.0, 2.0)
    refuses(tmp_path, LETOR, "row 1 has the grade 2", name="t.txt", levels=[0, 1])
    refuses(tmp_path, LETOR, "are text", name="t.txt", levels=["low", "high"])
    refuses(tmp_path, LETOR, "items= goes with comparisons", name="t.txt", items=tmp_path / "t.txt")


def test_unknown_formats(tmp_path):
    refuses(tmp_path, "hello\n", "format=", name="t.xyz")
    refuses(tmp_path, "a\n1\n", "format='excel' is not known", "csv, tsv", format="excel")
    assert table(tmp_path, "a\n1\n", "t.xyz", format="csv").X.rows() == [(1.0,)]
    assert table(tmp_path, "a\tb\n1\t2\n", "t.data").X.width == 2


def test_a_format_is_one_line(tmp_path, monkeypatch):
    lines = Format(
        lambda path: Sheet(((str(path), 0),), pl.DataFrame({"a": read_text(path).split()[1:]})),
        (".ln",),
        lambda start: start.startswith(b"LINES"),
    )
    monkeypatch.setitem(FORMATS, "lines", lines)
    for name, content in (("t.ln", "x\n1\n2\n"), ("t.csv", "LINES\n1\n2\n")):  # by its suffix, by its content
        assert table(tmp_path, content, name).X.rows() == [(1.0,), (2.0,)]
    assert table(tmp_path, "x\n7\n", "t.dat", format="lines").X.rows() == [(7.0,)]
    refuses(tmp_path, "a\n1\n", "letor, sqlite, lines", format="excel")


def long_content(kind):
    """Return a file of each format with 4,000 rows, far beyond what is looked at to recognise it."""
    a = np.arange(4000) * 1.25
    frame = pl.DataFrame({"a": a, "grade": np.arange(4000) % 3, "b": [f"{'x' * 20}{row % 4}" for row in range(4000)]})
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="uncompressed")
    arff = "@relation t\n@attribute a numeric\n@attribute grade numeric\n@attribute b string\n@data\n"
    return {
        "csv": frame.write_csv().encode(),
        "tsv": frame.write_csv(separator="\t").encode(),
        "jsonl": frame.write_ndjson().encode(),
        "parquet": buffer.getvalue(),
        "arff": (arff + frame.write_csv(include_header=False)).encode(),
        "letor": "".join(f"{row % 3} qid:{row // 9} 1:{x:.6f} 3:1\n" for row, x in enumerate(a)).encode(),
    }[kind]


STREAMS = [name for name in FORMATS if name != "sqlite"]
"""A database is opened where it lies; all others are read from their first byte to their last."""


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("told", [False, True])
def test_a_pipe_is_read_from_its_first_byte_to_its_last(tmp_path, kind, zipped, told):
    content = gzip.compress(long_content(kind), 1) if zipped else long_content(kind)
    (tmp_path / "plain").write_bytes(content)
    options = {"format": kind} if told or kind == "tsv" else {}
    expected = read(tmp_path / "plain", **options)
    with pipe(content) as path:
        found = read(path, **options)
    assert len(found) == len(expected) == 4000
    if kind == "letor":
        assert (found.X != expected.X).nnz == 0
        np.testing.assert_array_equal(found.y, expected.y)
    else:
        assert found.X.equals(expected.X)


@pytest.mark.parametrize(("content", "problem"), [(b"", "it is empty"), (b"# nothing\n\n", "comments and empty lines")])
def test_a_pipe_with_nothing_in_it_is_not_opened_again(content, problem):
    with pipe(content) as path, pytest.raises(DataError, match=problem):
        read(path, format="letor")


@pytest.mark.parametrize("zipped", [False, True])
def test_a_database_is_no_stream(tmp_path, zipped):
    with closing(sqlite3.connect(tmp_path / "t.db")) as connection:
        connection.execute("CREATE TABLE t (a)")
    content = (tmp_path / "t.db").read_bytes()
    with (
        pipe(gzip.compress(content) if zipped else content) as path,
        pytest.raises(DataError, match="not through a pipe"),
    ):
        read(path)
    with pytest.raises(DataError, match="unpacked"):
        read(put(tmp_path, gzip.compress(content), "t.db.gz"))


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("zipped", [False, True])
def test_no_file_takes_more_than_the_memory_there_is(tmp_path, monkeypatch, kind, zipped):
    content = long_content(kind)
    path = put(tmp_path, gzip.compress(content) if zipped else content, "t")
    free = 0
    for room in (lines_room, letor_room, parquet_room):
        monkeypatch.setattr(room, "room", lambda: free)
    free = 1 << 24
    assert len(read(path, format=kind)) == 4000
    free = 1 << 17
    with pytest.raises(DataError, match=r"too many to hold at once|rows take about .* of memory, and .* are free"):
        read(path, format=kind)


@pytest.mark.parametrize("kind", [pl.Int8, pl.String, pl.Categorical])
def test_a_few_bytes_of_parquet_that_stand_for_many_rows(tmp_path, monkeypatch, kind):
    column = pl.repeat("7" * (kind != pl.Int8) * 100 or 7, 200_000, eager=True).cast(kind)
    pl.DataFrame({"a": column, "b": column}).write_parquet(tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 50_000
    monkeypatch.setattr(parquet_room, "room", lambda: 8_000_000)
    with pytest.raises(DataError, match=r"t\.parquet: its 200,000 rows take about .* of memory"):
        read(tmp_path / "t.parquet")


def test_categories_are_weighed_without_writing_them_out(tmp_path, monkeypatch):
    column = pl.Series(["z" * 100_000], dtype=pl.Categorical).new_from_index(0, 200_000)
    pl.DataFrame({"a": column}).write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(parquet_room, "room", lambda: 10**9)
    with pytest.raises(DataError, match=r"t\.parquet: its 200,000 rows take about 60 GB of memory"):
        read(tmp_path / "t.parquet")


@pytest.mark.parametrize("name", FORMATS)
def test_endings_are_told_once(name):
    others = {suffix for other, each in FORMATS.items() if other != name for suffix in each.suffixes}
    assert FORMATS[name].suffixes
    assert not others & set(FORMATS[name].suffixes)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(DataError, match="folder"):
        read(tmp_path)
    with pytest.raises(ValueError, match="no file to read"):
        read([])


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


def test_parquet(tmp_path):
    frame = pl.DataFrame(
        {
            "a": [1, None, 3],
            "b": [0.5, float("nan"), 2.0],
            "c": ["x", None, " NA "],
            "d": [True, False, None],
            "when": [date(2024, 1, 2)] * 3,
            "kind": pl.Series(["u", "v", "u"], dtype=pl.Categorical),
            "nothing": [None, None, None],
            "list": [1, 2, 3],
            "grade": [1, 2, 3],
        }
    )
    for content, name in ((parquet(frame), "t.parquet"), (parquet(frame), "t"), (parquet(frame), "t.parquet.gz")):
        found = table(tmp_path, content, name, target="grade", group="list")
        assert found.X.dtypes == [pl.Float64, pl.Float64, pl.String, pl.Float64, pl.String, pl.String, pl.Float64]
        assert found.X.row(1) == (None, None, None, 0.0, "2024-01-02", "v", None)
        assert found.groups.tolist() == [1, 2, 3]


def test_parquet_refusals(tmp_path):
    nested = parquet(pl.DataFrame({"a": [1], "deep": [[1, 2]], "raw": [b"x"]}))
    refuses(tmp_path, nested, "column 'deep' holds List", "drop='deep'", name="t.parquet")
    refuses(tmp_path, nested, "column 'raw' holds Binary", name="t.parquet", drop="deep")
    assert table(tmp_path, nested, "t.parquet", drop=["deep", "raw"]).X.columns == ["a"]
    refuses(tmp_path, parquet(pl.DataFrame({"a": [1.0, float("inf")]})), "row 2: column 'a' is inf", name="t.parquet")
    refuses(tmp_path, parquet(pl.DataFrame({"a": []})), "no rows", name="t.parquet")
    refuses(tmp_path, b"PAR1 and then nothing", "cannot be read as Parquet", name="t.parquet")
    refuses(tmp_path, "a,b\n1,2\n", "cannot be read as Parquet", name="t.parquet")


def test_several_files(tmp_path):
    paths = [put(tmp_path, "a,b\n1,x\n", "1.csv"), put(tmp_path, "b,a\ny,2\n2,oops\n", "2.csv")]
    found = read(paths)
    assert isinstance(found, Table)
    assert found.source == f"{paths[0]} and 1 more"
    assert found.X.rows() == [("1", "x"), ("2", "y"), ("oops", "2")]
    put(tmp_path, "a,b\n1,x\n2,inf\n", "2.csv")
    assert read(paths).X.height == 3
    put(tmp_path, "a,b\ninf,x\n", "2.csv")
    with pytest.raises(DataError, match=r"2\.csv, line 2: column 'a' is infinite"):
        read(paths)
    put(tmp_path, "a,c\n1,x\n", "2.csv")
    with pytest.raises(DataError, match=r"2\.csv: it has no column 'b', unlike .*1\.csv"):
        read(paths)
    with pytest.raises(DataError, match="need one format"):
        read([paths[0], put(tmp_path, LETOR, "3.txt")])


def test_several_letor_files(tmp_path):
    paths = [put(tmp_path, LETOR, "1.txt"), put(tmp_path, "1 qid:a 5:1\n", "2.txt.gz")]
    found = read(paths)
    assert isinstance(found, Table)
    assert found.X.shape == (3, 5)
    assert found.groups.tolist() == ["7", "8", "a"]
    assert found.ids.tolist() == ["first", "", ""]
    put(tmp_path, "1 1:1\n", "3.txt")
    with pytest.raises(DataError, match=r"3\.txt: it has no groups"):
        read([paths[0], tmp_path / "3.txt"])


def test_a_table_of_names_alone(tmp_path):
    found = table(tmp_path, "name\nx\ny\n", item="name")
    assert len(found) == 2
    assert found.feature_names == ()


def test_a_parquet_file_that_ends_the_process_that_reads_it(tmp_path, monkeypatch):
    content = parquet(pl.DataFrame({"a": [1, 2]}))
    monkeypatch.setattr(parquet_room, "_TRIAL", "import os; os.abort()")
    refuses(tmp_path, content, "it is damaged, or does not fit into the memory here", name="t.parquet")
    monkeypatch.setattr(parquet_room.sys, "executable", str(tmp_path / "none"))
    assert len(table(tmp_path, content, "t.parquet")) == 2
    monkeypatch.setattr(parquet_room.sys, "executable", "")
    assert len(table(tmp_path, content, "t.parquet")) == 2
    refuses(tmp_path, b"PAR1" + bytes(20) + b"PAR1", "cannot be read as Parquet", name="t.parquet")
