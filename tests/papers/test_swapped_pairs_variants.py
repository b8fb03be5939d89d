"""What the 'swapped pairs' paper leaves open, varied on small made data."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.data import read
from wellorder.evaluation import Record
from wellorder.evaluation.searching import GridPoint
from wellorder.papers.reproducing import reproduce
from wellorder.papers.swapped_pairs import protocol, variants
from wellorder.papers.swapped_pairs.protocol import DataSet
from wellorder.papers.swapped_pairs.variants import ENDED, VARIANTS, choose_up_to, make_task, number_categories

PAPERS_OWN = ((20.0, 1.0, "††"), (18.0, 1.0, ""), (15.0, 2.0, ""))


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A made Servo, with a category, and a made Wpbc; grids of few points."""
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.4f},{b:.4f},{'CAB'[k]},{a - b + 2 * k + 0.3 * rng.standard_normal():.4f}"
        for a, b, k in zip(*rng.standard_normal((2, 50)), rng.integers(0, 3, 50), strict=True)
    ]
    header = ["@relation made", "@attribute a numeric", "@attribute b numeric", "@attribute c {C, A, B}"]
    (tmp_path / "s.arff").write_text("\n".join([*header, "@attribute y numeric", "@data", *rows]), encoding="utf-8")
    plain = [f"{row.split(',')[0]},{row.split(',')[3]}" for row in rows]
    header = ["@relation made", "@attribute a numeric", "@attribute y numeric", "@data"]
    (tmp_path / "w.arff").write_text("\n".join([*header, *plain]), encoding="utf-8")
    sets = {
        "Servo": DataSet("s.arff", "y", 3, 1, 30, 20, PAPERS_OWN),
        "Wpbc": DataSet("w.arff", "y", 1, 0, 30, 20, PAPERS_OWN),
    }
    monkeypatch.setattr(protocol, "COSTS", (0.01, 0.1))
    monkeypatch.setattr(variants, "SMALL_COSTS", (1e-4, 0.1, 10.0))
    for module in (protocol, variants):
        monkeypatch.setattr(module, "DATA_SETS", sets)
        monkeypatch.setattr(module, "WIDTHS", (0.1,))
    return tmp_path


def run_part(folder, part):
    found = reproduce("swapped-pairs", folder, parts=[part], quick=True, n_jobs=1)
    records = found.parts[part].records
    assert not [record for record in records if record.problem]
    # tables are made of what is kept alone
    lines = variants.PARTS[part].lines([Record.from_json(record.to_json()) for record in records])
    assert list(lines) == found.lines()
    return records, found.lines()


def test_columns_become_numbers_in_each_way(made):
    table = read(made / "s.arff", target="y")
    rows = np.arange(30)

    def numbers(variant):
        return make_task(table, made / "s.arff", VARIANTS[variant].look).training_part(rows).X

    a = table.X["a"].to_numpy()[:30]
    np.testing.assert_allclose(numbers("standard")[:, 0], (a - a.mean()) / a.std())
    np.testing.assert_allclose(numbers("raw")[:, 0], a)
    for variant, low in (("range", 0), ("half-range", -1)):
        X = numbers(variant)
        np.testing.assert_allclose(X[:, :2].min(axis=0), low, atol=1e-12)
        np.testing.assert_allclose(X[:, :2].max(axis=0), 1)
        assert set(np.unique(X[:, 2:])) == {0.0, 1.0}
    np.testing.assert_allclose(np.linalg.norm(numbers("unit-rows"), axis=1), 1)
    assert numbers("file").shape == (30, 3)


def test_categories_are_numbered_by_the_alphabet_or_as_declared(made):
    table = read(made / "s.arff", target="y")
    letters = table.X["c"].to_list()
    for codes, order in (("alphabet", "ABC"), ("file", "CAB")):
        numbered = number_categories(table, made / "s.arff", codes)
        assert numbered.X["c"].to_list() == [order.index(letter) for letter in letters]
        assert numbered.X.columns == ["a", "b", "c"]


def test_variants_are_run_where_they_change_something(made):
    records, lines = run_part(made, "variants")
    assert len(records) == 3 * (len(VARIANTS) + len(VARIANTS) - 2)
    assert {record.data for record in records if record.method == "file"} == {"Servo"}
    (row,) = [line for line in lines if line.startswith("| categories as whole numbers by the alphabet")]
    assert row.endswith(" |  |")
    assert lines[-1].startswith("C of n times the mean over pairs, fixed for a search, moves the means")


def test_grids_that_end_earlier_choose_among_their_own_points(made):
    points = [
        GridPoint({"C": C, "gamma": 0.1}, mean, (mean,), 0.0) for C, mean in ((0.1, 0.3), (1.0, 0.2), (10.0, 0.1))
    ]
    ended = ENDED["RankSVM"]
    assert [choose_up_to(points, ended, end)["C"] for end in (10.0, 1.0, 0.1)] == [10.0, 1.0, 0.1]
    tied = [GridPoint({"C": C, "gamma": 0.1}, 0.2, (0.2,), 0.0) for C in (10.0, 1.0)]
    assert choose_up_to(tied, ended, 10.0)["C"] == 1.0


def test_the_scale_of_costs_is_varied(made):
    records, lines = run_part(made, "largest-c")
    assert len(records) == 3 * 6  # both sets by RankSVM in two ways, and Servo by two methods more
    for record in records:
        assert all(0 <= value <= 1 for value in record.metrics.values())
        assert set(record.metrics) == set(record.params)
    assert lines.count("| largest C | Servo | Wpbc | distance |") == 2
    assert lines.count("| largest C | Servo | distance |") == 2


def test_other_hold_outs_are_drawn(made):
    records, lines = run_part(made, "draws")
    assert len(records) == 2 * 5 * 3
    assert {record.seed for record in records} == {1, 2, 3, 4, 5}
    assert sum(line.startswith("| Wpbc | ") for line in lines) == 2
