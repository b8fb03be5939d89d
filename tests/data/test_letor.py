from __future__ import annotations

import gzip
import struct
import tracemalloc

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import example, given, strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from wellorder.data import DataError, Table, letor
from wellorder.data.letor import read_letor, write_letor
from wellorder.data.lines import BLOCK

LETOR = (
    "2 qid:10032 1:0.056537 2:0.000000 3:0.666667 46:0.076923 #docid = GX029-35-5894638 inc = 0.0119 prob = 0.139842\n"
    "0 qid:10032 1:0.279152 2:0.000000 3:0.000000 46:1.000000 #docid = GX030-77-6315042 inc = 1 prob = 0.341364\n"
)


@pytest.fixture(params=["plain", "compiled"])
def parser(request, monkeypatch):
    """Read with both forms, whatever the size of the file."""
    monkeypatch.setattr(letor, "COMPILED_FROM", 0 if request.param == "compiled" else 10**12)
    return request.param


@pytest.fixture
def read(parser, tmp_path):
    def read(text, **options):
        path = tmp_path / "rows.txt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_letor(path, **options)

    return read


def test_letor_own_lines(read):
    table = read(LETOR)
    assert table.X.shape == (2, 46)
    assert table.X.dtype == np.float64
    assert table.X.indices.dtype == np.int32
    assert table.X.has_sorted_indices
    assert table.X.has_canonical_format
    assert table.X.nnz == 5  # zeros are not stored
    assert table.X[0, 45] == 0.076923
    assert table.y.tolist() == [2.0, 0.0]
    assert table.groups.tolist() == [10032, 10032]
    assert table.groups.dtype == np.int64
    assert table.ids.tolist() == ["GX029-35-5894638", "GX030-77-6315042"]
    assert (table.target, table.group, table.item) == ("grade", "qid", None)


def test_spellings(read):
    table = read("\n# a comment\r\n\t-1.5  3:1e3\t1:+.5 2:-0 # x \r? 2:1.#y\n nan 1:5.e-1\n+2")
    assert table.X.toarray().tolist() == [[0.5, 0, 1000], [0, 1, 0], [0.5, 0, 0], [0, 0, 0]]
    assert table.y.tolist() == pytest.approx([-1.5, np.nan, np.nan, 2], nan_ok=True)
    assert table.groups is None
    assert table.group is None
    assert table.ids.tolist() == ["x", "y", "", ""]


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (["1", "-5", "0", "9" * 18], [1, -5, 0, 10**18 - 1]),
        (["1", "-5", "a"], ["1", "-5", "a"]),
        (["7", "007"], ["7", "007"]),
        (["0", "-0"], ["0", "-0"]),
        (["1", "9" * 19], ["1", "9" * 19]),
        (["1:2", "é"], ["1:2", "é"]),
        (["-"], ["-"]),
        (["+1"], ["+1"]),
    ],
)
def test_queries_are_numbers_only_if_nothing_is_lost(read, queries, expected):
    table = read("".join(f"0 qid:{query} 1:1\n" for query in queries))
    assert table.groups.tolist() == expected
    assert table.groups.dtype == (object if isinstance(expected[0], str) else np.int64)


@pytest.mark.parametrize(
    ("comment", "name"),
    [
        ("# plain words ", "plain words"),
        ("#", ""),
        ("#docid=a", "a"),
        ("# docid \t=\t a b", "a"),
        ("#docid = ", "docid ="),
        ("#docid a", "docid a"),
        ("#docids = a", "docids = a"),
        ("##1", "#1"),
        ("#é", "é"),
    ],
)
def test_names(read, comment, name):
    assert read(f"0 1:1 {comment}\n0 1:1 # other\n").ids.tolist() == [name, "other"]


def test_no_names(read):
    assert read("0 1:1\n1 1:2 #\n").ids is None


BAD = [
    ("x 1:1", "'x' is not a grade; a line reads: grade qid:ID index:value"),
    ("1,2 1:1", "'1,2' is not a grade"),
    ("1_0 1:1", "'1_0' is not a grade"),
    ("qid:1 1:1", "the grade is missing before 'qid:1'"),
    ("inf 1:1", "'inf' is no finite number; give a grade"),
    ("1 qid: 1:1", "'qid:' names no query"),
    ("1 1:1", "a row without qid after rows with one; give each row its qid, or none"),
    ("1 qid:1 qid:2 1:1", "'qid:2' is out of place; a row has one qid, right after the grade"),
    ("1 qid:1 1:1 qid:2", "'qid:2' is out of place"),
    ("1 qid:1 abc", "'abc' is not index:value"),
    ("1 qid:1 a:1", "'a:1' is not index:value"),
    ("1 qid:1 +1:1", r"'\+1:1' is not index:value"),
    ("1 qid:1 :1", "':1' is not index:value"),
    ("1 qid:1 0:1", "'0:1' is feature 0, but LETOR counts from 1; add 1 to each index"),
    ("1 qid:1 -3:1", "'-3:1' has a negative index"),
    ("1 qid:1 99999999999:1", "'99999999999:1' is beyond feature 2,147,483,647"),
    ("1 qid:1 2147483648:1", "beyond feature 2,147,483,647, the most there can be; is its index right"),
    ("1 qid:1 " + "9" * 6000 + ":1", "'9{40}'… is beyond feature"),
    ("1 qid:1 3:abc", "'3:abc' has no number as its value"),
    ("1 qid:1 3:", "'3:' has no number"),
    ("1 qid:1 3:1:2", "'3:1:2' has no number"),
    ("1 qid:1 3:1_0", "'3:1_0' has no number"),
    ("1 qid:1 3:nan", "'3:nan' is no finite number; leave the feature out"),
    ("1 qid:1 3:-Infinity", "'3:-Infinity' is no finite number"),
    ("1 qid:1 3:1e999", "'3:1e999' is no finite number"),
    ("1 qid:1 3:1 3:1", "feature 3 is there twice"),
    ("1 qid:1 3:0 1:1 3:1", "feature 3 is there twice"),
    (b"1 qid:\xe9 1:1", "byte 0xe9 is not UTF-8"),
    (b"1 qid:1 1:1 # \xe9", "byte 0xe9 is not UTF-8"),
    (b"1 qid:1 1:\xe9", "'1:�' has no number"),
]


@pytest.mark.parametrize(("line", "problem"), BAD, ids=range(len(BAD)))
def test_bad_lines_are_named(read, line, problem):
    line = line.encode() if isinstance(line, str) else line
    good = b"1 qid:1 1:1\n"
    with pytest.raises(DataError, match=rf"rows\.txt, line 4: .*{problem}") as caught:
        read(good + b"\n# 1\n" + line + b"\n" + good)
    assert len(str(caught.value)) < 400
    with pytest.raises(DataError, match=rf"line 4: .*{problem}"):
        read(good + b"\n# 1\n" + line + b"\n1 bad")  # the first of two


def test_a_late_qid(read):
    with pytest.raises(DataError, match="line 2: a row with qid, where those before have none"):
        read("1 1:1\n1 qid:1 1:1\n")


def test_number_of_features(read):
    assert read("1 2:1\n", n_features=5).X.shape == (1, 5)
    assert read("1 2:1 3:0\n").X.shape == (1, 3)
    assert read("1\n").X.shape == (1, 0)
    with pytest.raises(DataError, match="line 1: '6:1' is beyond feature n_features=5"):
        read("1 6:1\n", n_features=5)
    for wrong in (0, -1, 2.5, 2**31, "3"):
        with pytest.raises(ValueError, match="n_features is"):
            read("1 1:1\n", n_features=wrong)


def test_enormous_index_allocates_nothing(read):
    read("1 1:1\n")  # load what is loaded once
    tracemalloc.start()
    table = read("1 2147483647:1\n0 3:1\n")
    assert tracemalloc.get_traced_memory()[1] < 4_000_000
    tracemalloc.stop()
    assert table.X.shape == (2, 2**31 - 1)
    assert table.X.indices.tolist() == [2**31 - 2, 2]


def test_nothing_to_read(read):
    with pytest.raises(DataError, match="it is empty"):
        read("")
    with pytest.raises(DataError, match="comments and empty lines only"):
        read("# a\n\n  \n")


def test_long_rows_in_any_order(read):
    order = np.random.default_rng(0).permutation(1000)
    row = "1 " + " ".join(f"{j + 1}:{j % 3}" for j in order)
    assert read(row).X.toarray()[0].tolist() == [j % 3 for j in range(1000)]
    with pytest.raises(DataError, match="feature 501 is there twice"):
        read(row + " 501:0")


def floats():
    return st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]).filter(np.isfinite),
    )


SPELLINGS = st.one_of(
    floats().map(repr),
    st.builds("{:.{}e}".format, floats(), st.integers(0, 22)),
    st.builds("{:.{}f}".format, st.floats(-1e6, 1e6), st.integers(0, 25)),
    st.builds("{}e{}".format, st.integers(0, 10**19), st.integers(-330, 285)),
    # half way between two floats
    st.builds(lambda bits, k: f"{(2 * bits + 1) * 5**k}e-{k}", st.integers(2**52, 2**53 - 1), st.integers(0, 4)),
    st.builds(lambda bits, k: str((2 * bits + 1) << k), st.integers(2**52, 2**53 - 1), st.integers(0, 9)),
    st.from_regex(r"[+-]?(0{0,5}[0-9]{1,22}\.?[0-9]{0,8}|\.[0-9]{1,22})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)


@given(st.lists(SPELLINGS.filter(lambda text: np.isfinite(float(text))), min_size=1, max_size=8))
@example(["9007199254740993", "2.2250738585072011e-308", "5e-324", "1e-400", "1.7976931348623157e308", "8e22", "1e23"])
def test_values_are_those_of_python(tmp_path_factory, spellings):
    path = tmp_path_factory.getbasetemp() / "values.txt"
    path.write_text("".join(f"{text} 1:{text}\n" for text in spellings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(letor, "COMPILED_FROM", 0)
        table = read_letor(path)
    exact = [float(text) for text in spellings]
    assert list(map(repr, table.y.tolist())) == list(map(repr, exact))
    assert table.X.toarray()[:, 0].tolist() == exact


def test_large_file_equals_scikit_learn(tmp_path, monkeypatch):
    monkeypatch.setattr(letor, "COMPILED_FROM", 1 << 20)
    source = np.random.default_rng(3)
    X = sp.random_array((1500, 200), density=0.35, rng=source, format="csr")
    y, queries = source.integers(0, 5, 1500), np.sort(source.integers(0, 300, 1500))
    path = tmp_path / "large.txt"
    dump_svmlight_file(X, y, str(path), zero_based=False, query_id=queries)
    assert path.stat().st_size > BLOCK
    packed = tmp_path / "large"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    theirs, grades, groups = load_svmlight_file(str(path), query_id=True)
    for table in (read_letor(path), read_letor(packed)):
        for name in ("data", "indices", "indptr"):
            assert np.array_equal(getattr(table.X, name), getattr(theirs, name))
        assert np.array_equal(table.y, grades)
        assert np.array_equal(table.groups, groups)


def a_table(**changes):
    parts = {
        "X": sp.csr_array([[0.1, 0, 1e-300, 0], [0, -2, 0, 0], [0, 0, 0, 0]]),
        "y": np.array([1.5, np.nan, -0.0]),
        "groups": np.array(["a", "a", "12"], dtype=object),
        "ids": np.array(["first one", "", "#é"], dtype=object),
    }
    return Table("memory", **{**parts, **changes})


@pytest.mark.parametrize("name", ["rows.txt", "rows.txt.gz"])
def test_round_trip(parser, tmp_path, name):
    table = a_table()
    write_letor(tmp_path / name, table)
    back = read_letor(tmp_path / name)
    assert back.X.shape == table.X.shape
    assert (back.X != table.X).nnz == 0
    assert repr(back.y.tolist()) == repr(table.y.tolist())
    assert back.groups.tolist() == table.groups.tolist()
    assert back.ids.tolist() == table.ids.tolist()


def test_frames_are_written_as_numbered_features(tmp_path):
    frame = pl.DataFrame({"a": [1, 2], "b": [0.5, None], "c": [True, False]})
    table = Table("memory", frame.fill_null(0), y=np.array([1, 0]), groups=np.array([3, 3]))
    write_letor(tmp_path / "rows", table)
    assert (tmp_path / "rows").read_text() == "1 qid:3 1:1 2:0.5 3:1\n0 qid:3 1:2\n"
    with pytest.raises(ValueError, match="feature b of row 2 is not finite"):
        write_letor(tmp_path / "rows", Table("memory", frame))
    with pytest.raises(ValueError, match="column 'a' holds String"):
        write_letor(tmp_path / "rows", Table("memory", pl.DataFrame({"a": ["x"]})))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"weights": np.ones(3)}, "no place for weights"),
        ({"y": np.array(["good", "bad", "bad"])}, "grade 'good' of row 1"),
        ({"y": np.array([1, np.inf, 0])}, "row 2 is no finite number"),
        ({"groups": np.array(["a", "b c", "d"])}, "group 'b c' of row 2"),
        ({"groups": np.array(["a", "", "d"])}, "group '' of row 2"),
        ({"groups": np.array(["a", "b#", "d"])}, "group 'b#' of row 2"),
        ({"ids": np.array(["a", "b\n1 1:1", "d"])}, "row 2 would not be read back"),
        ({"ids": np.array(["docid = a b", "b", "d"])}, "row 1 would not be read back"),
        ({"ids": np.array([" a", "b", "d"])}, "row 1 would not be read back"),
    ],
)
def test_what_cannot_be_written(tmp_path, changes, problem):
    with pytest.raises(ValueError, match=problem):
        write_letor(tmp_path / "rows", a_table(**changes))
    assert not (tmp_path / "rows").exists()
