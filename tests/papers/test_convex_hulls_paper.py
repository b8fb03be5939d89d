"""Convex hulls: data sets in bins, trials, and tables that are made of records alone."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest

from wellorder import ConvexHullRanker
from wellorder.data import DataError
from wellorder.evaluation import Record, Split
from wellorder.papers.convex_hulls import PARTS, growth, labels
from wellorder.papers.convex_hulls.labels import draw_labels, spiral
from wellorder.papers.convex_hulls.trials import DATA_SETS, LARGER, METHODS, Trials, contrast_table, signed_rank_p
from wellorder.papers.reproducing import Reproduction, reproduce
from wellorder.papers.swapped_pairs import equal_bins


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files like one of the nine sets and one of the larger ones, but small."""
    rng = np.random.default_rng(0)
    whole = dict(DATA_SETS), dict(LARGER)
    for sets, only in ((DATA_SETS, "Abalone"), (LARGER, "House 8L")):
        for name in set(sets) - {only}:
            del sets[name]
    monkeypatch.setattr(growth, "_QUICK", (50, 100))
    monkeypatch.setattr(labels, "_WEIGHTS", [1.0])
    monkeypatch.setattr(labels, "_N_SPIRAL", 130)
    for where, target in (*DATA_SETS.values(), *LARGER.values()):
        X = rng.normal(size=(130, 3))
        y = X @ [1.0, -0.5, 0.0] + rng.normal(0, 0.2, 130)
        lines = ["@relation made", *(f"@attribute x{j} numeric" for j in range(3)), f"@attribute {target} numeric"]
        lines += [
            "@data",
            *(",".join(f"{value:.4f}" for value in (*row, last)) for row, last in zip(X, y, strict=True)),
        ]
        path = tmp_path / where
        path.parent.mkdir(parents=True)
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "wt") as out:
            out.write("\n".join(lines) + "\n")
    yield tmp_path
    for sets, all_of_them in zip((DATA_SETS, LARGER), whole, strict=True):
        sets.clear()  # so that they are back in their order, which is that of the page
        sets.update(all_of_them)


def test_bins_are_of_equal_size_and_equal_values_share_one():
    y = np.random.default_rng(0).permutation(100).astype(float)
    bins = equal_bins(y)
    assert np.bincount(bins).tolist() == [20, 20, 20, 20, 20]
    assert (np.diff(bins[np.argsort(y)]) >= 0).all()
    assert len(set(equal_bins(np.array([1.0] * 50 + [2.0] * 50)))) == 2


def test_missing_data_are_named(tmp_path):
    with pytest.raises(DataError, match="the data of Abalone are not there"):
        reproduce("convex-hulls", tmp_path, n_jobs=1)


def spoiled(records):
    """Return records as if every fit had ended in w = 0, and had said so."""
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="whatever nu is") as caught:
        ConvexHullRanker(slacks="row").fit(rng.normal(size=(200, 2)), np.arange(200) % 4)
    notes = tuple(str(warning.message) for warning in caught)
    return [replace(each, notes=notes) for each in records]


def test_figure_three_comes_of_its_records(folder, tmp_path):
    def run():
        return reproduce("convex-hulls", folder, parts=["figure-3"], quick=True, records=tmp_path / "r.jsonl", n_jobs=1)

    found = run()
    records = found.parts["figure-3"].records
    assert len(records) == 2 * len(METHODS)
    trials = Trials(records)
    for method in METHODS:
        assert trials.mean("Abalone", method) > 90
        assert trials.seconds("Abalone", method) > 0
    text = "\n".join(found.lines())
    assert "| Abalone | 130 × 3 |" in text
    assert "2 of 2 | 2 of 2 | 0 | 0 |" in text
    assert "2 of 2 | 2 of 2 | 2 | 2 |" in "\n".join(PARTS["figure-3"].lines(spoiled(records)))
    assert run().parts["figure-3"].records == records
    found.save(tmp_path / "r.jsonl.gz")
    assert Reproduction.load("convex-hulls", tmp_path / "r.jsonl.gz").lines() == found.lines()
    found.picture(tmp_path / "hulls.png")
    assert (tmp_path / "hulls.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("part", "lines"),
    [
        ("bins", ["| data | chain, 5 | chain, 10 |", "| over the sets | ", "| Abalone | "]),
        ("graph-search", ["| data | best | simplest | seconds |", "best searched − full"]),
        ("few-labels", ["| Laplacian less none, linear | 5 a class | 10 a class |", "| Spiral (made) | "]),
        ("larger", ["| House 8L | 130 × 3 |", "edge slacks, Gaussian: chain − full"]),
        ("growth", ["| method | 50 | 100 | rate |", "| full, edge, Gaussian | "]),
    ],
)
def test_other_parts_write_their_tables_from_records_alone(folder, tmp_path, part, lines):
    found = reproduce("convex-hulls", folder, parts=[part], quick=True, n_jobs=1)
    assert all(record.problem is None for record in found.parts[part].records)
    text = "\n".join(found.lines())
    for line in lines:
        assert line in text
    assert "nan" not in text
    found.save(tmp_path / "r.jsonl.gz")
    assert "\n".join(Reproduction.load("convex-hulls", tmp_path / "r.jsonl.gz").lines()) == text


def test_few_labels_are_of_each_class_and_more_of_them_hold_the_fewer():
    table = spiral(400)
    split = Split(3, 0, np.arange(200), np.arange(200, 400))
    few, more = (draw_labels(table, split, n) for n in (5, 20))
    for (part, cut), n in ((few, 5), (more, 20)):
        y = part.y[cut.train]
        assert [int((y == level).sum()) for level in range(1, 6)] == [n] * 5
        assert np.isnan(y).sum() == 200 - 5 * n
        assert not np.isnan(part.y[cut.test]).any()
        assert sorted(part.X.rows()[cut.test[0] :]) == sorted(table.X.rows()[200:])
    labelled = [set(part.X.filter(~np.isnan(part.y))[: 5 * n].rows()) for (part, _), n in ((few, 5), (more, 20))]
    assert labelled[0] < labelled[1]
    assert draw_labels(table, split, 60) is None


def test_differences_are_tested_set_by_set_and_over_the_sets():
    rng = np.random.default_rng(0)
    records = [
        Record("k", f"set {number}", method, 0, fold, 0, 90, 10, {"wmw": 0.8 + (gain + noise) * (number > 0)})
        for number in range(6)
        for fold in range(10)
        for method, gain, noise in (("a", 0.05, float(rng.normal(0, 0.002))), ("b", 0.0, 0.0))
    ]
    data = [f"set {number}" for number in range(6)]
    beside = {"more": lambda name: name.upper()}
    table = list(contrast_table(Trials(records), data, {"a − b": ("a", "b"), "a − c": ("a", "c")}, beside))
    assert table[0] == "| data | a − b | a − c | more |"
    assert table[2] == "| set 0 | +0.00 (p = 1; 1) | – | SET 0 |"
    assert table[3].startswith("| set 1 | **+")
    assert table[3].endswith("(p < 0.001; < 0.001)** | – | SET 1 |")
    assert table[-1].startswith("| over the sets | +4.")
    assert ", ahead on 5 of 6 (p = 0.062; 0.062) | – |  |" in table[-1]
    assert np.isnan(signed_rank_p(np.array([1.0, 2.0, 3.0, 4.0])))
    assert np.isnan(signed_rank_p(np.zeros(9)))
