"""The generators draw the same numbers for ever: measurements of different years are of the same data."""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.peers import PEERS, Settings
from benchmarks.shapes import Rows

from benchmarks import generators
from wellorder.metrics import swapped_pairs

MADE = {
    "levels": lambda: generators.one_list(300, 5, n_test=50),
    "continuous": lambda: generators.one_list(300, None, n_test=50),
    "distorted": lambda: generators.distorted_list(300, 5, n_test=50),
    "distorted-continuous": lambda: generators.distorted_list(300, None, n_test=50),
    "many-lists": lambda: generators.many_lists(300, 7, n_test=50),
    "sparse": lambda: generators.sparse_lists(3, n=200, d=100, nonzeros=10, n_test=50),
    "queries": lambda: generators.queries(5, n_test_queries=2),
    "ball": lambda: generators.ball(300, 5, n_test=50),
    "duels": lambda: generators.duels(300, n_test=50),
    "duels-bent": lambda: generators.duels(300, n_test=50, bent=True),
    "games": lambda: generators.games(300, n_test=50),
    "judged": lambda: generators.judged_lists(300, 10, 5),
}

DIGESTS = {
    "levels": "bef3e57589968489",
    "continuous": "8fca882ada6c5466",
    "distorted": "47634556d7e4b72f",
    "distorted-continuous": "e40727d4f61eca61",
    "many-lists": "bbfb3723f8774668",
    "sparse": "7afc9371b7881113",
    "queries": "fb08120165671291",
    "ball": "04cba3d752ddb19f",
    "duels": "d0eca54a6f9f9468",
    "duels-bent": "8d4e82373a76dc82",
    "games": "63a7a9050bca4920",
    "judged": "e227f5b64b381cde",
}


def digest(parts) -> str:
    """Hash what is left of the numbers after rounding: processors differ in the last digits of a product."""
    found = hashlib.sha256()
    for part in parts:
        for field in fields(part) if part is not None else ():
            value = getattr(part, field.name)
            if sp.issparse(value):
                value = value.toarray()
            if value is not None:
                found.update(np.round(np.asarray(value, dtype=float), 6).tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize("name", MADE)
def test_the_same_numbers_for_ever(name):
    assert digest(MADE[name]()) == DIGESTS[name]


def test_a_letor_file_is_read_back(tmp_path):
    file, _ = generators.letor_file(tmp_path, 3)
    ours = PEERS["wellorder-read"].start(file, Settings())()
    theirs = PEERS["load-svmlight-file"].start(file, Settings())()
    assert ours.value == pytest.approx(theirs.value, abs=1e-9)
    assert file.path.read_text().count("\n") == file.n_rows
    assert file.head(10).n_rows == 10


@pytest.mark.parametrize("levels", [5, None])
def test_steep_grades_defeat_least_squares_and_not_ranking(levels):
    train, test = generators.distorted_list(2_000, levels, n_test=2_000)
    settings = Settings(C0=1_000.0)
    wrong = {
        name: swapped_pairs(test.y, PEERS[name].start(train, settings)().scores(test.X))
        for name in ("wellorder", "ridge")
    }
    assert wrong["wellorder"] < 0.6 * wrong["ridge"]


def test_levels_have_equal_sizes():
    assert (
        np.bincount(generators.equal_levels(np.array([3.0, 1.0, 2.0, 0.0, 9.0, 8.0]), 3).astype(int)).tolist()
        == [2] * 3
    )


def test_a_head_keeps_rows_together():
    rows = Rows(np.arange(6).reshape(3, 2), np.arange(3), np.array([0, 0, 1]))
    head = rows.head(2)
    assert (head.X.shape, head.y.tolist(), head.groups.tolist()) == ((2, 2), [0, 1], [0, 0])
