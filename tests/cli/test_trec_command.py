"""``wellorder evaluate`` of a TREC run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wellorder.data import read_run

RUN = "1 Q0 a 1 1.0 me\n1 Q0 b 2 1.0 me\n1 Q0 x 3 3.0 me\n9 Q0 a 1 1 me\n"
QRELS = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 c 1\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.txt").write_text(RUN)
    (tmp_path / "qrels.txt").write_text(QRELS)


def test_a_run_is_judged_as_trec_eval_does(run, files):
    found = run("evaluate", "run.txt", "--qrels", "qrels.txt", "--metric", "map(empty=0)", "--metric", "mrr", "--json")
    assert found.code == 0
    # x is not judged, b stands above a as they tie, and c is relevant but not there
    assert json.loads(found.out) == {"average_precision(empty=0)": 1 / 6, "reciprocal_rank": 1 / 3}
    assert "1 query of the run is not in the qrels" in found.err
    assert "1 query of the qrels is not in the run" in found.err
    assert "ndcg(empty=0,gain=linear)@10" in run("evaluate", "run.txt", "--qrels", "qrels.txt").out


@pytest.mark.parametrize("rest", [("run.txt",), ("run.txt", "run.txt", "run.txt", "--qrels", "qrels.txt")])
def test_too_little_and_too_much_is_named(run, files, rest):
    found = run("evaluate", *rest)
    assert found.code == 2
    assert "--qrels" in found.err


def test_a_predicted_run_has_the_models_own_value(run, letor):
    letor.write_text(letor.read_text().replace("doc ", "doc"))  # TREC's names have no blanks
    assert run("fit", letor, "--model", "rank-svm", "--no-bands", "-o", "m.wo").code == 0
    assert run("predict", "m.wo", letor, "--format", "trec", "-o", "run.txt").code == 0
    lines = [line.split() for line in letor.read_text().splitlines()]
    named = [(words[1].removeprefix("qid:"), words[-1], words[0]) for words in lines]
    (letor.parent / "qrels.txt").write_text("".join(f"{query} 0 {item} {grade}\n" for query, item, grade in named))
    metrics = ("--metric", "ndcg@5", "--metric", "map", "--json")
    by_model, by_run = (
        run("evaluate", "m.wo", letor, *metrics),
        run("evaluate", "run.txt", "--qrels", "qrels.txt", *metrics),
    )
    assert json.loads(by_run.out) == pytest.approx(json.loads(by_model.out), abs=1e-12)


def test_letor_rows_without_comments_make_a_run(run, tmp_path):
    rows = [f"{row % 3} qid:{row // 6} 1:{row % 5} 2:{row % 7}" for row in range(60)]
    (tmp_path / "t.letor").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run("fit", "t.letor", "--no-bands", "-o", "m.wo").code == 0
    found = run("predict", "m.wo", "t.letor", "--format", "trec", "-o", "run.txt")
    assert (found.code, found.err) == (0, "")
    judged = run("predict", "m.wo", "t.letor")
    by_item = {line.split(",")[1]: float(line.split(",")[2]) for line in judged.out.splitlines()[1:]}
    found = read_run(tmp_path / "run.txt")
    assert dict(zip(found.item.tolist(), found.score.tolist(), strict=True)) == by_item


def write_runs(folder, n_queries=30, missing=()):
    """Write two runs of which the second follows the grades more closely."""
    rng = np.random.default_rng(0)
    files = {name: (folder / name).open("w") for name in ("qrels.txt", "old.txt", "new.txt")}
    for query in range(n_queries):
        grades = rng.choice([0, 0, 1, 2], 12)
        for item, grade in enumerate(grades):
            files["qrels.txt"].write(f"q{query} 0 d{item} {grade}\n")
            for name, noise in (("old.txt", 3.0), ("new.txt", 0.3)):
                if (name, query) not in missing:
                    files[name].write(f"q{query} Q0 d{item} 1 {grade + noise * rng.standard_normal():.4f} me\n")
    for file in files.values():
        file.close()


def test_two_runs_are_compared_query_by_query(run, tmp_path):
    write_runs(tmp_path, missing=[("new.txt", 7)])
    options = ("--qrels", "qrels.txt", "--metric", "ndcg@5", "--metric", "map")
    found = run("evaluate", "old.txt", "new.txt", *options, "--json")
    assert found.code == 0
    assert "1 query of old.txt is not in both of new.txt and the qrels: left out" in found.err
    ndcg, precision = json.loads(found.out)
    assert (ndcg["metric"], precision["metric"]) == ("ndcg@5", "average_precision")
    assert ndcg["won"] + ndcg["tied"] + ndcg["lost"] == ndcg["n_queries"] == 29
    assert ndcg["won"] > 20
    assert ndcg["p_value"] < 0.001
    assert 0 < ndcg["low"] < ndcg["difference"] < ndcg["high"]
    assert ndcg["second"] - ndcg["first"] == pytest.approx(ndcg["difference"])
    new = run("evaluate", "new.txt", *options, "--json")
    assert json.loads(new.out)["ndcg@5"] == pytest.approx(ndcg["second"])
    turned = json.loads(run("evaluate", "new.txt", "old.txt", *options, "--json").out)[0]
    assert turned["difference"] == pytest.approx(-ndcg["difference"])
    assert (turned["won"], turned["lost"]) == (ndcg["lost"], ndcg["won"])


def test_a_comparison_of_runs_is_a_table(run, tmp_path):
    write_runs(tmp_path)
    found = run("evaluate", "old.txt", "new.txt", "--qrels", "qrels.txt", "--metric", "mrr")
    assert (found.code, found.err) == (0, "")
    for word in ("old.txt", "new.txt", "difference", "95 % interval", "p = 0.", "won", "30 queries"):
        assert word in found.out
    with (tmp_path / "qrels.txt").open("a") as file:
        file.write("q99 0 d1 0\n")
    for name in ("old.txt", "new.txt"):
        with (tmp_path / name).open("a") as file:
            file.write("q99 Q0 d1 1 1.0 me\n")
    found = run("evaluate", "old.txt", "new.txt", "--qrels", "qrels.txt", "--metric", "mrr")
    assert "31 queries" in found.out
    assert "without a relevant item do not count" in found.out
    same = run("evaluate", "old.txt", "old.txt", "--qrels", "qrels.txt", "--metric", "mrr")
    assert "p = 1" in same.out


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (["new.txt", "old.txt"], "one run or two"),
        (["new.txt", "--items", "old.txt"], "--items goes with comparisons"),
        (["new.txt", "--metric", "swapped_pairs"], "not measured on runs"),
        (["elsewhere.txt"], "no query"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(run, tmp_path, rest, message):
    write_runs(tmp_path, 3)
    (tmp_path / "elsewhere.txt").write_text("other Q0 d1 1 1.0 me\n")
    found = run("evaluate", "old.txt", *rest, "--qrels", "qrels.txt")
    assert found.code == 2
    assert message in found.err
