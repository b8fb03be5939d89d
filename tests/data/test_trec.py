from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, strategies as st

from wellorder.data import DataError
from wellorder.data.trec import read_qrels, read_run, write_qrels, write_run
from wellorder.metrics import ndcg


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("trec")


def test_a_run_is_ranked_within_its_queries(tmp_path):
    write_run(tmp_path / "run", ["a", "b", "c", "d", "e"], [2, 1, 2, 2, 1], [0.5, -1, 2.25, 0.5, 1e-9], tag="mine")
    assert (tmp_path / "run").read_text().splitlines() == [
        "2 Q0 c 1 2.25 mine",
        "2 Q0 a 2 0.5 mine",  # the tie stays as given
        "2 Q0 d 3 0.5 mine",
        "1 Q0 e 1 1e-09 mine",
        "1 Q0 b 2 -1.0 mine",
    ]
    run = read_run(tmp_path / "run")
    assert len(run) == 5
    assert run.tag == "mine"
    assert run.query.tolist() == ["2", "2", "2", "1", "1"]
    assert run.item.tolist() == ["c", "a", "d", "e", "b"]
    assert run.score.tolist() == [2.25, 0.5, 0.5, 1e-9, -1.0]


def test_qrels_leave_out_what_is_not_judged(tmp_path):
    write_qrels(tmp_path / "qrels.gz", ["a", "b", "c"], None, [2, np.nan, 0.5])
    qrels = read_qrels(tmp_path / "qrels.gz")
    assert len(qrels) == 2
    assert (qrels.query.tolist(), qrels.item.tolist(), qrels.grade.tolist()) == (["1", "1"], ["a", "c"], [2.0, 0.5])


WORDS = st.text(st.characters(min_codepoint=33, exclude_categories=("Z", "C")), min_size=1, max_size=5)


@given(
    st.lists(
        st.tuples(WORDS, WORDS, st.floats(allow_nan=False, allow_infinity=False)),
        unique_by=lambda row: row[:2],
        min_size=1,
        max_size=20,
    ),
    st.sampled_from(["", ".gz"]),
)
def test_round_trips(place, rows, ending):
    queries, items, numbers = zip(*rows, strict=True)
    write_run(place / f"run{ending}", items, queries, numbers)
    run = read_run(place / f"run{ending}")
    of_query = {query: k for k, query in reversed(list(enumerate(queries)))}
    ranked = sorted(rows, key=lambda row: (of_query[row[0]], -row[2]))
    assert list(zip(run.query, run.item, run.score, strict=True)) == ranked
    write_qrels(place / f"qrels{ending}", items, queries, numbers)
    qrels = read_qrels(place / f"qrels{ending}")
    assert list(zip(qrels.query, qrels.item, qrels.grade, strict=True)) == rows


def test_ndcg_is_that_of_trec_eval(tmp_path):
    source = np.random.default_rng(5)
    n = 400
    groups, ids = source.integers(0, 12, n), np.arange(n)
    scores = source.permutation(n) / n  # no ties
    grades = source.integers(0, 4, n)
    write_run(tmp_path / "run", ids, groups, scores)
    write_qrels(tmp_path / "qrels", ids, groups, grades)
    with open(tmp_path / "run") as run, open(tmp_path / "qrels") as qrels:
        judge = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"ndcg_cut.10"})
        theirs = judge.evaluate(pytrec_eval.parse_run(run))
    run, qrels = read_run(tmp_path / "run"), read_qrels(tmp_path / "qrels")
    grade_of = dict(zip(zip(qrels.query, qrels.item, strict=True), qrels.grade, strict=True))
    y = [grade_of[pair] for pair in zip(run.query, run.item, strict=True)]
    ours = ndcg(y, run.score, run.query, k=10, gain="linear", empty=0.0)
    assert ours == pytest.approx(np.mean([query["ndcg_cut_10"] for query in theirs.values()]), abs=1e-12)
    assert ours == pytest.approx(ndcg(grades, scores, groups, k=10, gain="linear", empty=0.0), abs=1e-12)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"1 Q0 a 1 2.5", "5 fields instead of 6; a run's line reads: query Q0 item rank score tag"),
        (b"1 Q0 a b 1 2.5 tag", "7 fields instead of 6"),
        (b"1 Q0 a 1 x tag", "'x' is no finite number, but should be a score"),
        (b"1 Q0 a 1 nan tag", "'nan' is no finite number"),
        (b"1 Q0 a 1 1_0 tag", "'1_0' is no finite number"),
        (b"7 Q0 a 1 2 tag", "item 'a' is there twice in query '7'"),
        (b"1 Q0 \xe9 1 2 tag", "byte 0xe9 is not UTF-8"),
    ],
)
def test_bad_lines_of_runs(tmp_path, line, problem):
    (tmp_path / "run").write_bytes(b"7 Q0 a 1 3 tag\n\n" + line + b"\n1 1\n")
    with pytest.raises(DataError, match=f"run, line 3: {problem}"):
        read_run(tmp_path / "run")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"1 0 a", "3 fields instead of 4; a qrels line reads: query 0 item grade"),
        (b"1 0 a good", "'good' is no finite number, but should be a grade"),
        (b"7 0 a 1", "item 'a' is there twice in query '7'"),
    ],
)
def test_bad_lines_of_qrels(tmp_path, line, problem):
    (tmp_path / "qrels").write_bytes(b"7 0 a 1\r" + line)
    with pytest.raises(DataError, match=f"qrels, line 2: {problem}"):
        read_qrels(tmp_path / "qrels")


def test_memory_bounds_what_is_read(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"".join(b"1 0 item%d 1\n" % row for row in range(1000)))
    assert len(read_qrels(tmp_path / "file")) == 1000
    monkeypatch.setattr("wellorder.data.trec.room", lambda: 500_000)
    with pytest.raises(DataError, match=r"its first 4\d\d rows take about 0.5 MB of memory, and .* are free; split it"):
        read_qrels(tmp_path / "file")


def test_nothing_to_read(tmp_path):
    for content, problem in ((b"", "it is empty"), (b" \n", "no line with fields")):
        (tmp_path / "file").write_bytes(content)
        for read in (read_run, read_qrels):
            with pytest.raises(DataError, match=problem):
                read(tmp_path / "file")


@pytest.mark.parametrize(
    ("ids", "groups", "scores", "tag", "problem"),
    [
        (["a", "b c"], None, [1, 2], "t", "id of row 2, 'b c', is empty or has a blank in it"),
        (["a", ""], None, [1, 2], "t", "id of row 2, '', is empty"),
        (["a", "b"], ["q", "r\n"], [1, 2], "t", "group of row 2"),
        (["a", "b"], ["\ufeffq", "r"], [1, 2], "t", "group of row 1"),
        (["a", "b"], None, [1, 2], "my tag", "the tag, 'my tag'"),
        (["a", "b"], None, [1, np.nan], "t", "score nan of row 2 is not finite"),
        (["a", "a"], None, [1, 2], "t", "id 'a' of row 2 is there twice in group '1'"),
        (["a"], None, [1, 2], "t", "1 ids and 2 groups do not fit scores of shape"),
    ],
)
def test_what_cannot_be_written(tmp_path, ids, groups, scores, tag, problem):
    with pytest.raises(ValueError, match=problem):
        write_run(tmp_path / "run", ids, groups, scores, tag)
    assert not (tmp_path / "run").exists()
