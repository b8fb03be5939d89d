"""Multipartite ranking: the data as Uematsu and Lee (2013) count them, its theory, and its tables from records."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from wellorder.data import DataError
from wellorder.evaluation import Record
from wellorder.papers import PAPERS, multipartite
from wellorder.papers.multipartite import SAMPLES, Multipartite
from wellorder.papers.multipartite_relations import (
    Ratings,
    Relation,
    Relations,
    TheoryCurve,
    _regression,
    _relation,
    proportional_odds_score,
    read_ratings,
    relate,
    simulate,
    tripartite,
)


@pytest.fixture(scope="module")
def ratings():
    """Few ratings that two columns say something about."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    rating = np.digitize(X[:, 0] + 0.5 * np.sin(2 * X[:, 1]) + rng.standard_normal(len(X)), [-1.2, -0.4, 0.4, 1.2]) + 1
    return Ratings(X, rating)


def test_films_and_users_make_44_columns_and_other_counts_are_refused(tmp_path):
    occupations = [f"job {number}" for number in range(21)]
    users = [f"{n + 1}|{20 + n}|{'FM'[n % 2]}|{occupations[n % 21]}|12345" for n in range(42)]
    genres = ["|".join("1" if genre == n % 19 else "0" for genre in range(19)) for n in range(40)]
    films = [f"{n + 1}|Film {n}|{n % 28 + 1:02d}-Feb-{1950 + n}||url|{genre}" for n, genre in enumerate(genres)]
    (tmp_path / "u.user").write_text("\n".join(users) + "\n", encoding="latin-1")
    (tmp_path / "u.item").write_text("\n".join(films) + "\n", encoding="latin-1")
    with gzip.open(tmp_path / "u.data.gz", "wt") as out:
        out.writelines(f"{n % 42 + 1}\t{n % 40 + 1}\t{n % 5 + 1}\t0\n" for n in range(840))
    with pytest.raises(DataError, match=r"u\.data\.gz.*\(\d+, \d+, \d+, \d+, \d+\) ratings of 1 to 5, and the paper"):
        read_ratings(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"u\.user"):
        read_ratings(tmp_path)


def test_a_line_with_a_missing_field_is_named(tmp_path):
    (tmp_path / "u.user").write_text("1|24|M|technician|85711\n2|53|F|other\n")
    with pytest.raises(DataError, match="line 2 has 4 fields, not 5"):
        read_ratings(tmp_path)


def test_boosting_comes_near_theory_and_svor_is_a_step_function():
    curves = simulate()
    for name in ("pairs", "orboost", "proportional_odds"):
        assert curves[name].error < 0.1, name
    assert curves["orboost"].thresholds == pytest.approx([-2.06, 0.0], abs=0.3)
    assert curves["proportional_odds"].thresholds == pytest.approx([-4.37, 0.0], abs=0.6)
    steps = curves["svor"]
    assert len(np.unique(steps.theory.round(6))) in (3, 4)
    # the rises are steep, the treads flat: most of the scores lie near the steps' heights
    near = np.abs(steps.estimate[:, None] - np.unique(steps.theory)).min(axis=1) < 0.35
    assert near.mean() > 0.75


def test_theorys_relation_leaves_nothing_over_where_it_holds():
    rng = np.random.default_rng(0)
    pairs = rng.standard_normal(500)
    found = _relation("regression", pairs - 3.0, _regression(pairs), _regression)
    assert found.error < 1e-3
    assert found.pairs == pytest.approx(pairs, abs=1e-6)
    assert found.tau == pytest.approx(1.0)


def test_proportional_odds_score_solves_its_own_equation():
    f0, theta = np.array([0.2, 1.0, 3.0]), -1.6
    score = proportional_odds_score(f0, theta)
    # (1 − p3)(1 + e^{f − θ2}) = (1 − p1)(1 + e^{θ1 − f}), with f0 = (1 − p1)/(1 − p3) and θ2 = 0
    assert 1 + np.exp(score) == pytest.approx(f0 * (1 + np.exp(theta - score)))


def test_samples_have_the_papers_sizes_and_share_no_row(ratings):
    train, other, test = multipartite._draw(ratings, "unbalanced", 3)
    assert [len(part) for part in (train, other, test)] == [2500, 2500, 5000]
    assert np.bincount(ratings.rating[train])[1:].tolist() == list(SAMPLES["unbalanced"])
    assert len(set(train) | set(other) | set(test)) == 10_000
    again = multipartite._draw(ratings, "unbalanced", 3)[0]
    assert (train == again).all()
    assert (train != multipartite._draw(ratings, "unbalanced", 4)[0]).any()


def test_a_run_writes_records_goes_on_from_them_and_draws(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(multipartite, "read_ratings", lambda folder: ratings)
    monkeypatch.setattr(multipartite, "relate", lambda ratings: RELATIONS)
    monkeypatch.setattr(multipartite, "simulate", lambda: CURVES)
    few = {name: lambda make=make: make().set_params(n_estimators=5) for name, make in multipartite.METHODS.items()}
    monkeypatch.setattr(multipartite, "METHODS", few)
    records = tmp_path / "records.jsonl"
    found = multipartite.reproduce(tmp_path, quick=True, records=records, n_jobs=1)
    lines = found.lines()
    assert len(records.read_text().splitlines()) == 2 * 5 * len(few)
    assert any("of 60 values are within two standard errors" in line for line in lines)
    seen = []
    again = multipartite.reproduce(
        tmp_path, quick=True, records=records, n_jobs=1, progress=lambda *each: seen.append(each)
    )
    assert again.lines() == lines
    assert [each[:2] for each in seen] == [(51, 52), (52, 52)]
    found.picture(tmp_path / "figures.png")
    assert (tmp_path / "figures.png").stat().st_size > 10_000


def test_the_papers_own_thresholds_give_its_table_of_costs():
    records = tuple(
        Record(f"{sample}{number}{method}", sample, method, number, 0, 0, 1, 1, metrics, {"thresholds": thresholds})
        for sample, thresholds in (
            ("balanced", [-0.0932, -0.0656, -0.0386, 0.0]),
            ("unbalanced", [-0.7742, -0.7742, -0.4183, 0.0]),
        )
        for number in range(2)
        for method in ("pair rank", "prop odds", "or boost")
        for metrics in [{f"{a} vs {b}": 0.4 for a in range(1, 5) for b in range(a + 1, 6)}]
    )
    lines = Multipartite(records, 2, CURVES, RELATIONS, ("pair rank", "prop odds", "or boost")).lines()
    costs = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines if ", ours |" in line}
    assert costs["| balanced, ours"][1:4] == ["1.028", "1.056", "1.098"]
    assert costs["| unbalanced, ours"][2:4] == ["1.427", "2.169"]


def test_relations_of_a_small_sample(ratings):
    found = relate(ratings, n_estimators=50, n_rows=500)
    assert found.against["orboost"].error < 0.35
    assert set(found.by_cost) == {1.0, 2.0, 5.0, 10.0}


def test_the_tripartite_costs_are_consistent():
    assert tripartite(7.0).is_consistent()


def test_it_is_among_the_papers():
    assert PAPERS["multipartite"].reproduce is multipartite.reproduce


_X = np.linspace(-1.0, 1.0, 50)
CURVES = {
    name: TheoryCurve(np.linspace(-1, 1, 241), np.linspace(-1, 1, 241), np.array([-1.0, 0.0]), 3)
    for name in ("pairs", "orboost", "proportional_odds", "svor")
}
RELATIONS = Relations(
    {name: Relation(name, _X, _X, (_X, _X)) for name in ("orboost", "squared", "proportional_odds", "svor")},
    {cost: _X * cost for cost in (1.0, 2.0, 5.0, 10.0)},
    {"orboost": np.array([-0.2, 0.0])},
)
