"""Multiple hyperplane ranker: LETOR parts, trials, SVM-light's cost, and tables from records."""

from __future__ import annotations

import gzip
from itertools import combinations

import numpy as np
import pytest

import wellorder as wo
from wellorder.data import DataError
from wellorder.metrics import ndcg
from wellorder.papers.hyperplanes import light, normals, page
from wellorder.papers.hyperplanes.light import LightRanker, LightTables, mean_pair_length, seen_as, signed
from wellorder.papers.hyperplanes.page import MethodTables, picture
from wellorder.papers.letor_trials import (
    BENCHMARKS,
    FROM_ONE,
    MAP,
    N_PARTS,
    Judged,
    judge,
    published_folds,
    quarters,
    read_parts,
    scaled_by_query,
)
from wellorder.papers.reproducing import Reproduction, reproduce


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


# --------------------------------------------------------------------------------------------------
# The benchmarks and their trials.


def test_trials_never_share_a_query(folder):
    parts = read_parts(folder, "MQ2008")
    for split in (published_folds, quarters):
        tested = []
        for trial in split(parts):
            train, chosen, test = (set(each.query.tolist()) for each in trial[:3])
            assert not train & chosen
            assert not (train | chosen) & test
            assert len(train | chosen | test) == 30
            assert set(trial.learned.query.tolist()) == train | chosen
            tested += sorted(test)
            share = 30 / (N_PARTS if split is published_folds else 4)
            assert abs(len(test) - share) < 1
        assert sorted(tested) == list(range(1, 31))
    first = next(published_folds(parts))
    assert set(first.test.query) == set(range(1, 7))
    assert set(first.validation.query) == set(range(25, 31))


def test_partitions_differ_by_their_seed(folder):
    parts = read_parts(folder, "MQ2008")
    dealt = {seed: [frozenset(trial.test.query.tolist()) for trial in quarters(parts, seed)] for seed in (0, 1)}
    assert dealt[0] != dealt[1]
    assert set().union(*dealt[0]) == set().union(*dealt[1])


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
    found = judge(part, part.X[:, 3], ("ndcg@4", *FROM_ONE))
    assert np.nanmean(found["ndcg@4"]) == pytest.approx(ndcg(part.grade, part.X[:, 3], part.query, k=4))
    for name, plain in FROM_ONE.items():
        metric = wo.metrics.parse(plain)
        assert np.nanmean(found[name]) == pytest.approx(metric(part.grade + 1, part.X[:, 3], part.query))


# --------------------------------------------------------------------------------------------------
# SVM-light as it comes.


def small_lists():
    rng = np.random.default_rng(0)
    X, query = rng.uniform(size=(60, 3)), np.arange(60) % 5
    return X, np.digitize(X[:, 0] + 0.5 * rng.standard_normal(60), [0.3, 0.8]).astype(float), query


def all_differences(X, grade, query):
    above = [
        (i, j) if grade[i] > grade[j] else (j, i)
        for i, j in combinations(range(len(grade)), 2)
        if query[i] == query[j] and grade[i] != grade[j]
    ]
    high, low = np.array(above).T
    return X[high] - X[low]


def test_the_cost_is_one_over_the_squared_mean_length_of_differences():
    X, grade, query = small_lists()
    differences = all_differences(X, grade, query)
    length = np.linalg.norm(differences, axis=1).mean()
    assert mean_pair_length(X, grade, query) == pytest.approx(length)
    for loss, power in (("hinge", 1), ("squared_hinge", 2)):
        model = LightRanker(loss, tol=1e-8).fit(X, grade, groups=query)
        w = model.coef_
        slack = np.maximum(0.0, 1.0 - differences @ w) ** power
        assert model.ranker_.objective_ == pytest.approx(0.5 * w @ w + slack.sum() / length**2, rel=1e-6)


def test_every_hyperplane_has_its_own_cost():
    X, grade, query = small_lists()
    model = wo.MultipleHyperplaneRanker(LightRanker()).fit(X, grade, groups=query)
    for (low, high), ranker in model.rankers_.items():
        mine = np.isin(grade, (low, high))
        alone = LightRanker().fit(X[mine], grade[mine], groups=query[mine])
        assert ranker.ranker_.C == alone.ranker_.C
        np.testing.assert_allclose(ranker.coef_, alone.coef_)
    assert len({ranker.ranker_.C for ranker in model.rankers_.values()}) == 3


def test_one_fit_is_seen_through_every_aggregate():
    X, grade, query = small_lists()
    fitted = wo.MultipleHyperplaneRanker(aggregate="weighted_borda").fit(X, grade, groups=query)
    for aggregate in ("borda", "weighted_borda", "median", "markov"):
        own = wo.MultipleHyperplaneRanker(aggregate=aggregate).fit(X, grade, groups=query)
        seen = seen_as(fitted, aggregate)
        np.testing.assert_array_equal(seen.predict(X, groups=query), own.predict(X, groups=query))
    assert fitted.aggregate == "weighted_borda"


# --------------------------------------------------------------------------------------------------
# The parts, on small data.


@pytest.fixture
def two_sets(monkeypatch):
    monkeypatch.delitem(BENCHMARKS, "OHSUMED, 45 features")


def run_part(folder, name, tmp_path):
    """Run one part, and see that what is kept of it prints the same."""
    found = reproduce("hyperplanes", folder, parts=[name], quick=True, records=tmp_path / "r.jsonl", n_jobs=1)
    found.save(tmp_path / "kept.gz")
    assert Reproduction.load("hyperplanes", tmp_path / "kept.gz").lines() == found.lines()
    assert (tmp_path / "kept.gz").stat().st_size < 40_000
    return found.parts[name].records, found.lines()


@pytest.mark.usefixtures("two_sets")
def test_the_papers_own_protocol(folder, tmp_path, monkeypatch):
    monkeypatch.delitem(BENCHMARKS, "OHSUMED, 25 features")
    records, lines = run_part(folder, "table-3", tmp_path)
    tables = LightTables(records)
    assert tables.data == ["MQ2008"]
    assert tables.methods == ["MHR-BC", "MHR-WBC", "MHR-BC, cumulative", "MHR-WBC, cumulative"]
    # by hand: the second partition, and the published folds
    parts = read_parts(folder, "MQ2008")
    for trials, found in (
        (quarters(parts, 1), lambda metric: tables.changes("MQ2008", "squared_hinge", "MHR-BC", metric)[1]),
        (published_folds(parts), lambda metric: tables.published("MQ2008", "squared_hinge", "MHR-BC", metric)),
    ):
        values = {"one": [], "many": []}
        for trial in trials:
            train, test = trial.learned, trial.test
            base = LightRanker("squared_hinge")
            one = base.fit(train.X, train.grade, groups=train.query).decision_function(test.X)
            many = wo.MultipleHyperplaneRanker(LightRanker("squared_hinge")).fit(
                train.X, train.grade, groups=train.query
            )
            values["one"].append(judge(test, one, ("ndcg@10", MAP)))
            values["many"].append(judge(test, many.predict(test.X, groups=test.query), ("ndcg@10", MAP)))
        for metric in ("ndcg@10", MAP):
            one, many = (np.nanmean(np.concatenate([v[metric] for v in values[k]])) for k in ("one", "many"))
            assert found(metric) == pytest.approx(100 * (many / one - 1), abs=1e-3)
    text = "\n".join(lines)
    assert "| the paper | hinge | MHR-WBC | +12.0 | +1.1 | +1.6 |" in text
    assert "Over 2 random 4-fold partitions" in text
    assert text.count("| MQ2008 | hinge | MHR-BC, cumulative |") == 4
    changes = tables.changes("MQ2008", "hinge", "MHR-WBC", "ndcg@1")
    assert f"| MQ2008 | MHR-WBC | 0, 1, 2 | +12.0 | {signed(changes.min())} | {signed(changes.max())} |" in text
    assert "Partitions: of 24 differences" in text
    again, _ = run_part(folder, "table-3", tmp_path)
    assert [each.key for each in again] == [each.key for each in records]


@pytest.mark.usefixtures("two_sets")
def test_every_method_chooses_on_validation_queries(folder, tmp_path, monkeypatch):
    few = ("BM25", "best feature", "RankSVM", "MHR", "RankSVM, hinge", "MHR, cumulative, hinge", "RankBoost")
    monkeypatch.setattr(page, "FAMILIES", {name: page.FAMILIES[name] for name in few})
    monkeypatch.setattr(page, "COSTS", (0.1, 1.0))
    monkeypatch.setattr(page, "_ROUNDS", (3, 5))
    monkeypatch.delitem(BENCHMARKS, "OHSUMED, 25 features")
    records, lines = run_part(folder, "methods", tmp_path)
    tables = MethodTables(records)
    assert tables.methods == [
        *("BM25", "best feature", "RankSVM", "MHR-BC", "MHR-WBC", "MHR, median", "MHR, Markov chain"),
        *("RankSVM, hinge", "MHR-BC, cumulative, hinge", "MHR-WBC, cumulative, hinge", "RankBoost"),
    ]
    assert tables.mean("MQ2008, 4-fold", "RankSVM", "ndcg@10") > tables.mean("MQ2008, 4-fold", "BM25", "ndcg@10")
    of = {(each.data, each.method): each for each in records}
    hinge = of["MQ2008, 4-fold", "MHR-BC, cumulative, hinge"]
    assert hinge.params["against"] == "RankSVM, hinge"
    assert len(hinge.params["chosen"]) == 2
    expected = 100 * (hinge.metrics[MAP] / tables.mean("MQ2008, 4-fold", "RankSVM, hinge", MAP) - 1)
    assert tables.improvement("MQ2008, 4-fold", "MHR-BC, cumulative, hinge", MAP)[0] == pytest.approx(expected)
    text = "\n".join(lines)
    assert "| MQ2008, 4-fold | MHR-BC, cumulative, hinge |" in text
    assert "Parameters chosen: of 36 differences" in text


def test_one_trial_of_the_methods_is_what_a_person_would_do(folder):
    trial = next(quarters(read_parts(folder, "MQ2008")))
    (record,) = page._judge_trial("MQ2008", "4-fold", 0, "MHR, adjacent", trial, ["MHR-BC, adjacent"])
    best = {}
    for C in page.COSTS:
        model = wo.MultipleHyperplaneRanker(wo.RankSVM(C), pairs="adjacent")
        train, there = trial.train, trial.validation
        scores = model.fit(train.X, train.grade, groups=train.query).predict(there.X, groups=there.query)
        best[C] = ndcg(there.grade, scores, there.query, k=10)
    C = max(best, key=best.get)
    assert record.params["chosen"] == f"C={C:g}"
    model = wo.MultipleHyperplaneRanker(wo.RankSVM(C), pairs="adjacent")
    train, test = trial.learned, trial.test
    scores = model.fit(train.X, train.grade, groups=train.query).predict(test.X, groups=test.query)
    assert record.metrics["ndcg@3"] == pytest.approx(ndcg(test.grade, scores, test.query, k=3))


def test_hyperplanes_of_single_queries(folder, tmp_path):
    records, lines = run_part(folder, "figure-1", tmp_path)
    for record in records:
        assert np.linalg.norm(record.params["normals"], axis=1) == pytest.approx(np.ones(4), abs=1e-3)
        assert len(record.params["points"]) == len(record.params["grades"]) == 12
        found = record.params["mean, all features"]
        assert all(own <= one + 0.02 for own, one in zip(found["several"], found["single"], strict=True))
    assert sum("| query 5 |" in line for line in lines) == 4


def test_the_plane_is_that_of_principal_components():
    X = np.random.default_rng(0).standard_normal((40, 4)) * [5.0, 2.0, 0.5, 0.1] + 7.0
    points, share = normals.in_plane(X)
    assert points.mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    values = np.sort(np.linalg.eigvalsh(np.cov(X.T)))[::-1]
    assert np.cov(points.T) == pytest.approx(np.diag(values[:2]), abs=1e-9)
    assert share == pytest.approx(values[:2].sum() / values.sum())


def test_directions_and_training_errors_by_trial(folder, tmp_path):
    records, lines = run_part(folder, "tables-5-6", tmp_path)
    text = "\n".join(lines)
    assert "| the paper, trial 1 | 0.61 | 0.94 |" in text
    assert "| **the paper, MHR, mean** | **0.3621** | **0.3052** | **0.3856** |" in text
    assert text.count("| OHSUMED, 45 features, MHR, cumulative, trial ") == 2
    for each in records:
        assert all(own <= one + 0.02 for own, one in zip(each.params["MHR"], each.params["RankSVM"], strict=True))
    trial = next(quarters(read_parts(folder, "OHSUMED, 25 features"))).learned
    one = LightRanker(tol=1e-4).fit(trial.X, trial.grade, groups=trial.query)
    pair = np.isin(trial.grade, (1, 2))
    two = LightRanker(tol=1e-4).fit(trial.X[pair], trial.grade[pair], groups=trial.query[pair])
    cosine = one.coef_ @ two.coef_ / np.linalg.norm(one.coef_) / np.linalg.norm(two.coef_)
    assert records[0].params["cosines"][0] == pytest.approx(cosine, abs=1e-3)


@pytest.mark.usefixtures("two_sets")
def test_times_are_taken(folder, tmp_path):
    _, lines = run_part(folder, "table-7", tmp_path)
    text = "\n".join(lines)
    assert "| 1, paper, min | 17 | 90 | 175 | 282 | | 823 | 0.34 | |" in text
    assert "| 1, squared hinge, ms |" in text
    assert "| MQ2008 |" in text


def test_how_bm25_is_counted(folder, tmp_path):
    records, lines = run_part(folder, "bm25", tmp_path)
    whole = Judged(*(np.concatenate(c) for c in zip(*read_parts(folder, "OHSUMED, 25 features"), strict=True)))
    column = whole.X[:, 20]
    expected = wo.metrics.average_precision(whole.grade, column, whole.query, positive=2)
    assert records[0].metrics[MAP] == pytest.approx(expected, abs=1e-6)
    assert records[0].metrics["first 50"] == pytest.approx(expected, abs=1e-6)  # lists have twelve documents
    assert records[0].metrics["first 10"] < expected
    assert "| the paper | 0.538 | 0.518 | 0.243 |" in lines


@pytest.mark.usefixtures("two_sets")
def test_the_picture_is_drawn_from_records(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    metrics = {f"ndcg@{k}": 0.5 for k in range(1, 11)}
    of = {"key": "k", "repeat": 0, "fold": 0, "seed": 0, "n_train": 1, "n_test": 1}
    methods = [
        wo.evaluation.Record(data=f"{name}, {protocol}", method=method, metrics=metrics, **of)
        for name in BENCHMARKS
        for protocol in page.PROTOCOLS
        for method in page._DRAWN
    ]
    partitions = [
        wo.evaluation.Record(
            data=name,
            method=method,
            metrics={},
            params={
                "loss": "hinge",
                "partitions": {metric: rng.uniform(0.4, 0.6, 5).tolist() for metric in light.TESTED},
            },
            **of,
        )
        for name in BENCHMARKS
        for method in ("RankSVM", "MHR-BC")
    ]
    params = {"points": rng.normal(size=(6, 2)).tolist(), "grades": [0, 1, 2] * 2, "normals": [[1, 0]] * 4}
    one = [wo.evaluation.Record(data="OHSUMED, 25 features", method="query 5", metrics={}, params=params, **of)]
    picture({"methods": methods, "table-3": partitions, "figure-1": one}, tmp_path / "ndcg.png")
    assert (tmp_path / "ndcg.png").stat().st_size > 10_000
