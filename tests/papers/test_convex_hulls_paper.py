"""Convex hulls: nine data sets in five bins, and tables from records."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest

from wellorder import ConvexHullRanker
from wellorder.data import DataError
from wellorder.papers import PAPERS, convex_hulls
from wellorder.papers.convex_hulls import DATA_SETS
from wellorder.papers.swapped_pairs import equal_bins


@pytest.fixture
def folder(tmp_path):
    """Files like the nine sets, much smaller."""
    rng = np.random.default_rng(0)
    for where, target in DATA_SETS.values():
        X = rng.normal(size=(60, 3))
        y = X @ [1.0, -0.5, 0.0] + rng.normal(0, 0.2, 60)
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
    return tmp_path


def test_bins_are_of_equal_size_and_equal_values_share_one():
    y = np.random.default_rng(0).permutation(100).astype(float)
    bins = equal_bins(y)
    assert np.bincount(bins).tolist() == [20, 20, 20, 20, 20]
    assert (np.diff(bins[np.argsort(y)]) >= 0).all()
    assert len(set(equal_bins(np.array([1.0] * 50 + [2.0] * 50)))) == 2


def test_missing_data_are_named(tmp_path):
    with pytest.raises(DataError, match="the data of Abalone are not there"):
        convex_hulls.reproduce(tmp_path)


def spoiled(found):
    """Return the tables as if every fit had ended in w = 0, and had said so."""
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="whatever nu is") as caught:
        ConvexHullRanker(slacks="row", order="full").fit(rng.normal(size=(200, 2)), np.arange(200) % 4)
    notes = tuple(str(warning.message) for warning in caught)
    return replace(found, records=tuple(replace(each, notes=notes) for each in found.records))


def test_tables_and_picture_come_from_records(folder, tmp_path):
    records = tmp_path / "records.jsonl"
    assert PAPERS["convex-hulls"].reproduce is convex_hulls.reproduce
    found = convex_hulls.reproduce(folder, quick=True, records=records, n_jobs=1)
    assert len(records.read_text().splitlines()) == 9 * 2 * len(convex_hulls.METHODS)
    for method in convex_hulls.METHODS:
        assert found.values("Abalone", method).mean() > 90
        assert found.seconds("Abalone", method) > 0
    text = "\n".join(found.lines())
    assert "| CA housing | 60 × 3 |" in text
    assert found.n_degenerate("Abalone", "chain, edge") == 0
    assert spoiled(found).n_degenerate("Abalone", "chain, row") == 2
    again = convex_hulls.reproduce(folder, quick=True, records=records, n_jobs=1)
    assert again.records == found.records
    found.picture(tmp_path / "hulls.png")
    assert (tmp_path / "hulls.png").stat().st_size > 10_000
