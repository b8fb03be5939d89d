"""Multiple hyperplane ranker: LETOR parts, trials, and tables from records."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from wellorder.data import DataError
from wellorder.metrics import ndcg
from wellorder.papers import PAPERS, hyperplanes
from wellorder.papers.hyperplanes import (
    BENCHMARKS,
    N_PARTS,
    judge,
    published_folds,
    quarters,
    read_parts,
    scaled_by_query,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files like LETOR's, much smaller: a grade hangs on two of the features."""
    home = tmp_path_factory.mktemp("letor")
    rng = np.random.default_rng(0)
    for each in BENCHMARKS.values():
        number = 0
        for part in range(1, N_PARTS + 1):
            lines = []
            for _ in range(6):
                number += 1
                X = rng.uniform(size=(12, each.n_features))
                grade = np.digitize(X[:, each.bm25] + X[:, 0] + rng.normal(0, 0.1, 12), [0.8, 1.3])
                for row, level in zip(X, grade, strict=True):
                    values = " ".join(f"{place}:{value:.4f}" for place, value in enumerate(row, start=1))
                    lines.append(f"{level} qid:{number} {values} #docid = x\n")
            path = home / each.folder / f"Fold{part}" / each.name
            path.parent.mkdir(parents=True)
            with gzip.open(path, "wt") as out:
                out.writelines(lines)
    return home


def test_trials_never_share_a_query(folder):
    parts = read_parts(folder, "MQ2008")
    for split in (published_folds, quarters):
        tested = []
        for trial in split(parts):
            train, chosen, test = (set(each.query.tolist()) for each in trial[:3])
            assert not train & chosen
            assert not (train | chosen) & test
            assert len(train | chosen | test) == 30
            tested += sorted(test)
            share = 30 / (N_PARTS if split is published_folds else 4)
            assert abs(len(test) - share) < 1
        assert sorted(tested) == list(range(1, 31))
    first = next(published_folds(parts))
    assert set(first.test.query) == set(range(1, 7))
    assert set(first.validation.query) == set(range(25, 31))


def test_queries_are_scaled_one_by_one():
    X = np.array([[0.0, 5.0], [10.0, 5.0], [4.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    found = scaled_by_query(X, np.array([7, 7, 3, 3, 3]))
    assert found.tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 0.0], [0.5, 1.0]]


def test_only_the_first_release_is_scaled(folder):
    raw = read_parts(folder, "OHSUMED, 25 features")[0]
    assert raw.X[raw.query == 1].min(axis=0).tolist() == [0.0] * 25
    kept = read_parts(folder, "MQ2008")[0]
    assert kept.X[kept.query == 1].min(axis=0).min() > 0


def test_a_missing_part_is_named(tmp_path):
    with pytest.raises(DataError, match="part 1 of MQ2008 is not there"):
        read_parts(tmp_path, "MQ2008")


def test_values_by_query_average_to_the_metric(folder):
    part = read_parts(folder, "MQ2008")[0]
    found = judge(part, part.X[:, 3])
    assert np.nanmean(found["ndcg@4"]) == pytest.approx(ndcg(part.grade, part.X[:, 3], part.query, k=4))


def test_tables_and_picture_come_from_records(folder, tmp_path, monkeypatch):
    few = ("BM25", "RankSVM", "MHR-BC", "MHR-WBC", "RankBoost", "OrderBoost, trees", "LambdaRank")
    monkeypatch.setattr(hyperplanes, "METHODS", {name: hyperplanes.METHODS[name] for name in few})
    monkeypatch.setattr(
        hyperplanes, "BENCHMARKS", {name: BENCHMARKS[name] for name in ("OHSUMED, 25 features", "MQ2008")}
    )
    monkeypatch.setattr(hyperplanes, "COSTS", (0.1, 1.0))
    monkeypatch.setattr(hyperplanes, "_ROUNDS", (3, 5))
    seen = []
    records = tmp_path / "records.jsonl"
    assert PAPERS["hyperplanes"].reproduce is hyperplanes.reproduce
    found = hyperplanes.reproduce(
        folder, quick=True, records=records, n_jobs=1, progress=lambda *each: seen.append(each)
    )
    assert seen[-1][0] == seen[-1][1] == 7 * 2 * 2 * 2 + 1
    assert len(records.read_text().splitlines()) == 56
    text = "\n".join(found.lines())
    assert "| the paper | MHR-WBC | +12.0 | +1.1 | +1.6 |" in text
    assert "| 1, paper | 0.61 | 0.94 |" in text
    assert found.mean("MQ2008", "4-fold", "RankSVM", "ndcg@10") > found.mean("MQ2008", "4-fold", "BM25", "ndcg@10")
    change, p = found.improvement("MQ2008", "published folds", "RankSVM", "ndcg@1")
    assert (change, p) == (0.0, 1.0)
    for each in found.directions:
        assert np.diag(each.cosines) == pytest.approx(np.ones(4))
        assert all(own <= one + 0.02 for own, one in zip(each.several, each.single, strict=True))
    again = hyperplanes.reproduce(folder, quick=True, records=records, n_jobs=1)
    assert [(each.key, each.metrics) for each in again.records] == [(each.key, each.metrics) for each in found.records]
    found.picture(tmp_path / "ndcg.png")
    assert (tmp_path / "ndcg.png").stat().st_size > 10_000
