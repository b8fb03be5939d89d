"""Multipartite ranking: the data as Uematsu and Lee (2013) count them, its theory, and its tables from records."""

from __future__ import annotations

import gzip
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from wellorder import SVOR, OrderBoost
from wellorder.data import DataError
from wellorder.evaluation import Record, RecordFile
from wellorder.losses import find_loss, risk_at
from wellorder.losses.rows import GradedRows
from wellorder.order import Grades, OrderGraph, make_consistent
from wellorder.papers import PAPERS
from wellorder.papers.multipartite import PARTS, page, picture, replicates, tables
from wellorder.papers.multipartite.problems import Problems, draw_problems, minimise_exponential, sample_problem
from wellorder.papers.multipartite.relations import (
    Ratings,
    _regression,
    _relation,
    contours,
    crossings,
    median_ratio,
    proportional_odds_score,
    ratio,
    read_ratings,
    relate,
    simulate,
    step_function,
    tripartite,
)
from wellorder.papers.multipartite.replicates import (
    METHODS,
    PAPERS_OWN,
    SAMPLES,
    VARIANTS,
    BumpBoost,
    FixedEnd,
    Variant,
    draw_rows,
    working_scale,
)
from wellorder.papers.multipartite.tables import PAIRS, Replicates
from wellorder.papers.running import PaperRun


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


@pytest.fixture(scope="module")
def curves():
    """The methods of Figure 1, fitted as there."""
    return simulate()


def test_boosting_comes_near_theory_and_svor_is_a_step_function(curves):
    for name in ("pairs", "orboost", "proportional_odds"):
        assert curves[name].error < 0.1, name
        assert curves[name].tau > 0.99
    assert curves["orboost"].thresholds == pytest.approx([-2.06, 0.0], abs=0.3)
    assert curves["proportional_odds"].thresholds == pytest.approx([-4.37, 0.0], abs=0.6)
    for name in ("svor", "svor immediate"):
        steps = curves[name]
        assert len(np.unique(steps.theory.round(6))) in (3, 4)
        # the rises are steep, the treads flat: most of the scores lie near the steps' heights
        near = np.abs(steps.estimate[:, None] - np.unique(steps.theory)).min(axis=1) < 0.35
        assert near.mean() > 0.75, name


def test_step_functions_rise_where_section_4_3_says():
    x = np.linspace(-3.0, 3.0, 601)
    p = np.array([norm.pdf(x, mean) for mean in (-2, 0, 2)])
    p /= p.sum(axis=0)
    assert ratio(x) == pytest.approx((p[1] + p[2]) / (p[0] + p[1]))
    assert median_ratio(x) == pytest.approx((1 - 2 * p[0]) / p[1])
    implicit = step_function(x, np.array([-1.2, 1.1]), "all")
    assert np.unique(implicit) == pytest.approx([-2.2, -0.2, 0.1, 2.1])
    # the paper: at −1.02, 0 and 1.02
    assert crossings(x, implicit, np.unique(implicit)) == pytest.approx([-1.02, 0.0, 1.02], abs=0.011)
    immediate = step_function(x, np.array([-1.2, 1.1]), "immediate")
    median = 1 + (p.cumsum(axis=0) < 0.5).sum(axis=0)
    assert (immediate[median == 1] == -2.2).all()
    assert (immediate[median == 3] == 2.1).all()
    assert np.unique(step_function(x, np.array([0.3, -0.2]), "immediate")) == pytest.approx([-0.7, 0.8])


def test_shashua_and_levins_contours_are_the_odd_ones():
    p1, p2, _ = np.random.default_rng(0).dirichlet(np.ones(3), 300).T
    one, two, other = (np.argsort(np.argsort(each)) for each in contours(p1, p2).values())
    assert np.corrcoef(one, two)[0, 1] > np.corrcoef(one, other)[0, 1]


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
    train, other, test = draw_rows(ratings.rating, "unbalanced", 3)
    assert [len(part) for part in (train, other, test)] == [2500, 2500, 5000]
    assert np.bincount(ratings.rating[train])[1:].tolist() == list(SAMPLES["unbalanced"])
    assert len(set(train) | set(other) | set(test)) == 10_000
    again = draw_rows(ratings.rating, "unbalanced", 3)[0]
    assert (train == again).all()
    assert (train != draw_rows(ratings.rating, "unbalanced", 4)[0]).any()
    half, beside, as_many = draw_rows(ratings.rating, "unbalanced", 3, times=0.5)
    assert [len(part) for part in (half, beside, as_many)] == [1250, 1250, 5000]
    assert set(half) <= set(train)


# --------------------------------------------------------------------------------------------------
# Theorems 3 and 4.


def test_theorem_3_is_the_best_order_and_theorem_4_finds_it():
    problems = draw_problems(np.random.default_rng(0), 200, 4)
    assert problems.swapped(problems.best) == pytest.approx(problems.least_swapped(), abs=1e-12)
    consistent = minimise_exponential(problems.consistent_pairs)
    apart = 0.5 * np.log(problems.best)
    assert consistent == pytest.approx(apart - apart[:, :1], abs=1e-4)
    assert not problems.misordered(consistent).any()
    assert problems.misordered(minimise_exponential(problems.pairs)).any()


def test_plain_pairs_misorder_a_known_problem():
    share, often = np.array([0.52, 0.13, 0.35]), np.array([[0.0, 1.0, 0.0], [0.14, 0.0, 0.86], [0.0, 0.56, 0.44]])
    mass = share[:, None] * often
    problem = Problems(mass[None])
    plain = minimise_exponential(problem.pairs)
    assert plain.argsort().tolist() == [[0, 1, 2]]
    assert float((problem.swapped(plain) - problem.swapped(problem.best))[0]) > 0.07
    drawn = sample_problem(np.random.default_rng(0), mass, 1_000, 5)
    assert drawn.mass.sum(axis=(1, 2)) == pytest.approx(1.0)
    assert (minimise_exponential(drawn.consistent_pairs).argsort() == problem.best.argsort()).all()


# --------------------------------------------------------------------------------------------------
# What the paper leaves open.


@pytest.mark.parametrize("loss", ["orboost", "proportional_odds"])
def test_a_fixed_threshold_leaves_the_others_at_their_best(loss):
    rng = np.random.default_rng(0)
    scores, level = rng.standard_normal(80), rng.integers(0, 5, 80).astype(np.int32)
    scores = scores + 0.5 * level - 2.0
    rows, fixed = GradedRows(level, np.ones(80), 5), FixedEnd(loss)
    risk, thresholds = fixed.at(scores, rows)
    assert thresholds[-1] == 0.0
    assert (np.diff(thresholds) >= 0).all()

    def value(free):
        ordered = np.append(-np.cumsum(np.exp(free))[::-1], 0.0)
        return fixed.value(scores, rows, ordered)

    best = minimize(value, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000})
    assert risk.value == pytest.approx(best.fun, rel=1e-6)
    step = 1e-5 * rng.standard_normal(80)
    moved = fixed.at(scores + step, rows)[0].value - fixed.at(scores - step, rows)[0].value
    assert moved == pytest.approx(2 * float(risk.gradient @ step), rel=1e-4)


def test_the_same_choice_of_bumps_is_the_same_boosting(ratings):
    X, y = ratings.X[:600].round(1), ratings.rating[:600]
    X_val, y_val = ratings.X[600:1200], ratings.rating[600:1200]
    for loss, order in (("pairs", "linear"), ("proportional_odds", "full")):
        ours = BumpBoost(loss, order=order, choice="gain", n_estimators=15).fit(X, y, X_val=X_val, y_val=y_val)
        theirs = OrderBoost(loss, order=order, n_estimators=15).fit(X, y, X_val=X_val, y_val=y_val)
        assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-9)


@pytest.mark.parametrize(
    "options", [{"choice": "slope"}, {"choice": "random"}, {"constant": False}, {"choice": "gain", "judged": "swaps"}]
)
@pytest.mark.parametrize("method", PAPERS_OWN)
def test_every_other_choice_learns_as_well(ratings, method, options):
    X, y, held = ratings.X[:500], ratings.rating[:500], slice(500, 1000)
    model = Variant("other", bumps={**options, "n_estimators": 40}).model(method, "balanced")
    model.fit(X, y, X_val=ratings.X[held], y_val=ratings.rating[held])
    assert model.score(ratings.X[held], ratings.rating[held]) > 0.7
    if not options.get("constant", True) and method != "pair rank":
        assert model.thresholds_[-1] == 0.0


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_a_first_step_regresses_on(sample):
    counts = np.array(SAMPLES[sample])
    level = np.repeat(np.arange(1, 6), counts)
    pairs = make_consistent(Grades(level, order="linear").pairs)
    pull = -risk_at(find_loss("exponential"), np.zeros(len(level)), pairs).gradient
    pull = np.array([pull[level == each][0] for each in range(1, 6)])
    assert working_scale("pair rank", sample) == pytest.approx((pull - pull[0]) / np.ptp(pull))
    below = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    assert working_scale("prop odds", sample) == pytest.approx((below - below[0]) / np.ptp(below))
    order = Variant("other", costs="prop odds").model("pair rank", sample).order
    assert order[0] == pytest.approx(working_scale("prop odds", sample))
    assert OrderGraph([1, 2, 3, 4, 5], order).is_consistent()


def test_variants_change_the_columns_that_they_name():
    rng = np.random.default_rng(0)
    year = rng.integers(1930, 1999, 50).astype(float)
    ratings = Ratings(rng.standard_normal((50, 44)), np.ones(50, dtype=int), year)
    assert VARIANTS["base"].columns(ratings) is ratings.X
    assert VARIANTS["no date"].columns(ratings).shape == (50, 42)
    decade = VARIANTS["decade"].columns(ratings)
    assert len(np.unique(decade[:, 24])) == len(np.unique(year // 10))
    assert decade.std(axis=0)[24] == pytest.approx(1.0)
    assert (np.delete(decade, 24, axis=1) == np.delete(ratings.X, 24, axis=1)).all()


# --------------------------------------------------------------------------------------------------
# Parts, and tables from records alone.


def test_a_run_writes_records_goes_on_from_them_and_its_tables_are_the_same(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "read_ratings", lambda folder: ratings)
    few = {
        name: lambda make=make: make().set_params(n_estimators=5)
        for name, make in METHODS.items()
        if not name.startswith("plug-in")
    }
    for module in (tables, replicates):
        monkeypatch.setattr(module, "METHODS", few)
    part, seen = PARTS["tables-2-3"], []
    path = tmp_path / "records.jsonl"
    made = part.run(PaperRun(tmp_path, True, RecordFile(path), 1))
    assert len(path.read_text().splitlines()) == 2 * 5 * len(few) == len(made)
    again = part.run(PaperRun(tmp_path, True, RecordFile(path), 1, lambda *each: seen.append(each)))
    assert seen == []
    assert list(part.lines(again)) == list(part.lines(made))


def test_a_variant_is_fitted_and_named(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "read_ratings", lambda folder: ratings)
    some = {
        "base": VARIANTS["base"],
        "decade": Variant("all rounds", validation=0.0, options={"n_estimators": 4}),
        "unit costs": VARIANTS["unit costs"],
    }
    few = {name: lambda make=METHODS[name]: make().set_params(n_estimators=5) for name in PAPERS_OWN}
    for module in (tables, replicates):
        monkeypatch.setattr(module, "VARIANTS", some)
        monkeypatch.setattr(module, "METHODS", few)
    records = PARTS["variants"].run(PaperRun(tmp_path, True, n_jobs=1))
    assert len(records) == 2 * 2 * (3 + 3 + 1)
    lines = list(PARTS["variants"].lines(records))
    assert sum(line.startswith("| all rounds | 2 |") for line in lines) == 2
    assert (
        sum(line.startswith("| pair rank with unit costs") for line in lines) == 3
    )  # either sample, and what costs decide


def _made_records(methods=PAPERS_OWN, n=4, ours=None):
    rng = np.random.default_rng(0)
    thresholds = {"balanced": [-0.0932, -0.0656, -0.0386, 0.0], "unbalanced": [-0.7742, -0.7742, -0.4183, 0.0]}
    return [
        Record(
            f"{sample}{number}{method}",
            sample,
            method,
            number,
            0,
            number,
            1,
            1,
            {pair: 0.4 + 0.001 * rng.standard_normal() + (ours or {}).get((method, pair), 0.0) for pair in PAIRS},
            {"thresholds": thresholds[sample], "rounds": 7},
        )
        for sample in SAMPLES
        for number in range(n)
        for method in methods
    ]


def test_the_papers_own_thresholds_give_its_table_of_costs():
    lines = list(PARTS["tables-2-3"].lines(_made_records((*PAPERS_OWN, "plug-in"))))
    costs = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines if ", ours |" in line}
    assert costs["| balanced, ours"][1:4] == ["1.028", "1.056", "1.098"]
    assert costs["| unbalanced, ours"][2:4] == ["1.427", "2.169"]
    assert any(line.startswith("| unbalanced |") and "4 of 4 replicates" in line for line in lines)
    assert "| unbalanced | prop odds | 0.00 | 0.09 | 0.32 | 0.67 | 1.00 |" in lines


def test_the_papers_bold_is_the_lowest_of_each_line():
    lines = list(PARTS["tables-2-3"].lines(_made_records((*PAPERS_OWN, "plug-in"))))
    start = next(number for number, line in enumerate(lines) if line.startswith("**Table 3.**"))
    bold = [[cell.startswith("**") for cell in line.split(" | ")[1:4]] for line in lines[start:] if " vs " in line][:20]
    # prop odds on 1 vs 2, 3 and 4 of the balanced half and on 1 vs 2 of the other; pair rank on all others
    assert [line.index(True) for line in bold] == [1, 1, 1, *[0] * 7, 1, *[0] * 9]


def test_a_difference_that_is_there_is_told():
    better = {("pair rank", pair): -0.03 for pair in PAIRS[:5]}
    lines = list(PARTS["tables-2-3"].lines(_made_records((*PAPERS_OWN, "plug-in"), 12, better)))
    start = next(number for number, line in enumerate(lines) if line.startswith("**Pairwise ranking against"))
    told = {line.split(" | ")[0]: line.split(" | ")[2] for line in lines[start : start + 16] if line.startswith("| ")}
    assert all(told[f"| {pair}"].startswith(("**-0.029", "**-0.030")) for pair in PAIRS[:5])
    assert not any(told[f"| {pair}"].startswith("**") for pair in PAIRS[5:])


def test_the_cost_counts_distant_swaps_more():
    flat = Replicates(_made_records(n=2))
    near = Replicates(_made_records(n=2, ours={("pair rank", "4 vs 5"): 0.1}))
    far = Replicates(_made_records(n=2, ours={("pair rank", "1 vs 5"): 0.1}))
    base = flat.cost("balanced", "pair rank")
    assert near.cost("balanced", "pair rank") - base == pytest.approx(0.01)
    assert far.cost("balanced", "pair rank") - base == pytest.approx(0.04)
    weights = {(a, b): (b - a) / 10 for a, b in combinations(range(1, 6), 2)}
    assert sum(weights.values()) == pytest.approx(2.0)


def test_figures_are_drawn_and_told_from_records(ratings, curves, tmp_path, monkeypatch):
    small = relate(ratings, n_estimators=20, n_rows=300)
    assert small.against["orboost"].error < 0.5
    monkeypatch.setattr(page, "read_ratings", lambda folder: ratings)
    monkeypatch.setattr(page, "relate", lambda ratings, n_estimators: small)
    monkeypatch.setattr(page, "simulate", lambda methods: {name: curves[name] for name in methods})
    monkeypatch.setattr(page, "_N_JUDGED", 200)
    run = PaperRun(Path(tmp_path), quick=True, n_jobs=1)
    found = {name: tuple(PARTS[name].run(run)) for name in ("figure-1", "figure-2", "figures-3-4")}
    again = {name: tuple(Record.from_json(each.to_json()) for each in records) for name, records in found.items()}
    for name in found:
        assert list(PARTS[name].lines(again[name])) == list(PARTS[name].lines(found[name]))
    lines = list(PARTS["figure-1"].lines(found["figure-1"]))
    assert sum("a step function" in line for line in lines) == 2
    picture(again, tmp_path / "figures.png")
    assert (tmp_path / "figures.png").stat().st_size > 10_000


def test_small_problems_and_sizes_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "_N_PROBLEMS", {3: 60, 4: 60})
    monkeypatch.setattr(page, "_SIZES", (40, 60))
    monkeypatch.setattr(page, "_SEEDS", range(2))
    run = PaperRun(Path(tmp_path), quick=True, n_jobs=1)
    lines = list(PARTS["theorem-4"].lines(PARTS["theorem-4"].run(run)))
    assert any("consistent ones 0" in line for line in lines)
    lines = list(PARTS["sizes"].lines(PARTS["sizes"].run(run)))
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| 120", "| 180"]


def test_svors_thresholds_are_told_for_each_cost(ratings, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "read_ratings", lambda folder: ratings)
    monkeypatch.setattr(page, "_SVOR_COSTS", (1.0, 10.0))
    monkeypatch.setattr(page, "_SVOR_SEEDS", range(2))
    drawn = page.three_categories
    monkeypatch.setattr(page, "three_categories", lambda ratings, seed: drawn(ratings, seed, 150))
    records = PARTS["svor"].run(PaperRun(Path(tmp_path), n_jobs=1))
    lines = list(PARTS["svor"].lines(records))
    assert sum(line.startswith(("| 1 |", "| 10 |")) for line in lines) == 2
    assert records[0].metrics["shift"] > 0


def test_a_shift_costs_what_the_objective_gains(ratings):
    """Moving all scores by one, thresholds following, gains ½‖g‖² at the minimum."""
    category, train, _ = page.three_categories(ratings, 0, 120)
    X, y = ratings.X[train], category[train]
    model = SVOR(kernel="rbf", gamma=1.0, tol=1e-8).fit(X, y)
    K = np.exp(-model.gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    f = model.decision_function(X)
    coef = np.linalg.solve(K + 1e-8 * np.eye(len(K)), np.stack([f, f + 1.0], axis=1))
    before, after = 0.5 * np.einsum("ik,ik->k", coef, K @ coef)
    assert after - before == pytest.approx(page._cost_of_a_shift(X, model.gamma), rel=1e-3)


def test_the_tripartite_costs_are_consistent():
    assert tripartite(7.0).is_consistent()


def test_it_is_among_the_papers():
    assert PAPERS["multipartite"].parts is PARTS
