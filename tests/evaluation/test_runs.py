"""Runs and qrels: the numbers of trec_eval, with ties, with unjudged items and with judged ones that are missing."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings, strategies as st

from wellorder.data import Qrels, Run, read_qrels, read_run
from wellorder.evaluation.queries import RUN_METRICS, evaluate_run
from wellorder.metrics import parse

THEIRS = ("ndcg_cut_10", "map", "P_10", "recip_rank")
MORE = {
    "ndcg(gain=linear,empty=0)": "ndcg",
    "ndcg(gain=linear,empty=0)@3": "ndcg_cut_3",
    "precision(empty=0)@2": "P_2",
    **dict(zip(RUN_METRICS, THEIRS, strict=True)),
}


def write(folder, run, qrels):
    (folder / "run").write_text("".join(f"{q} Q0 {d} 1 {s!r} me\n" for (q, d), s in run.items()))
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for (q, d), g in qrels.items()))


def read_back(folder):
    return read_run(folder / "run"), read_qrels(folder / "qrels")


def nested(table):
    out = {}
    for (query, item), value in table.items():
        out.setdefault(query, {})[item] = value
    return out


def by_trec_eval(run, qrels):
    judge = pytrec_eval.RelevanceEvaluator(nested(qrels), {"ndcg", "ndcg_cut.3,10", "map", "P.2,10", "recip_rank"})
    found = judge.evaluate(nested(run)).values()
    return {name: np.mean([query[name] for query in found]) for name in MORE.values()}


PLACE = st.tuples(st.sampled_from(["1", "2", "3"]), st.sampled_from([f"d{i}" for i in range(14)]))


@settings(max_examples=60, deadline=None)
@given(
    run=st.dictionaries(PLACE, st.sampled_from([-1.0, 0.0, 0.5, 2.0, 3.25]), min_size=1),
    qrels=st.dictionaries(PLACE, st.integers(0, 3), min_size=1),
)
def test_it_agrees_with_trec_eval(run, qrels):
    places, judged = (np.array(list(table), dtype=object) for table in (run, qrels))
    files = (
        Run(places[:, 0], places[:, 1], np.array(list(run.values())), "me"),
        Qrels(judged[:, 0], judged[:, 1], np.array(list(qrels.values()), dtype=float)),
    )
    if not {q for q, _ in run} & {q for q, _ in qrels}:
        with pytest.raises(ValueError, match="no query of the run is in the qrels"):
            evaluate_run(*files)
        return
    theirs = by_trec_eval(run, qrels)
    ours = evaluate_run(*files, list(MORE))
    for name, other in MORE.items():
        assert ours[str(parse(name))] == pytest.approx(theirs[other], abs=1e-12), name


def test_negative_grades_gain_nothing(tmp_path):
    """The oracle itself never ends on a query with negative grades only."""
    run = {("1", "a"): 3.0, ("1", "b"): 2.0, ("1", "c"): 1.0}
    qrels = {("1", "a"): -1, ("1", "b"): 2, ("1", "c"): 1}
    write(tmp_path, run, qrels)
    ours, theirs = evaluate_run(*read_back(tmp_path), list(MORE)), by_trec_eval(run, qrels)
    assert all(ours[str(parse(name))] == pytest.approx(theirs[other]) for name, other in MORE.items())
    write(tmp_path, run, {("1", "a"): -1})
    assert set(evaluate_run(*read_back(tmp_path)).values()) == {0.0}


def test_without_ties_and_with_all_judged_it_is_the_metrics_of_the_room(tmp_path):
    source = np.random.default_rng(0)
    run = {(str(q), f"d{i}"): float(s) for q in range(6) for i, s in enumerate(source.permutation(15))}
    qrels = {place: int(grade) for place, grade in zip(run, source.integers(0, 4, len(run)), strict=True)}
    write(tmp_path, run, qrels)
    files = read_back(tmp_path)
    names = ["ndcg@5", "ndcg", "map", "average_precision(positive=3)", "precision(positive=2)@4", "mrr"]
    ours = evaluate_run(*files, names)
    for name in names:
        expected = parse(name)(list(qrels.values()), files[0].score, files[0].query)
        assert ours[str(parse(name))] == pytest.approx(expected, abs=1e-12)


def test_large_grades_do_not_overflow_and_other_metrics_are_refused(tmp_path):
    write(tmp_path, {("1", "a"): 1.0, ("1", "b"): 2.0}, {("1", "a"): 5000, ("1", "b"): 4999})
    files = read_back(tmp_path)
    assert evaluate_run(*files, ["ndcg"])["ndcg"] == pytest.approx((0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3)))
    with pytest.raises(ValueError, match="swapped_pairs is not measured on runs; these are: ndcg"):
        evaluate_run(*files, ["swapped_pairs"])
