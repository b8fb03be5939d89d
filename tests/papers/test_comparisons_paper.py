"""Support vector comparison machines: its data, its grid search, and its figures from records."""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import wellorder as wo
from wellorder.data import DataError
from wellorder.evaluation import Record, RecordFile
from wellorder.metrics import comparison_auc, comparison_error
from wellorder.papers import PAPERS
from wellorder.papers.comparisons import chess, margins, queries, sets
from wellorder.papers.comparisons.chess import read_sushi
from wellorder.papers.comparisons.queries import QueryPairs
from wellorder.papers.comparisons.search import (
    METHODS,
    NORMS,
    Searched,
    compare,
    fit_quietly,
    search,
    simulate,
    true_rank,
)
from wellorder.papers.comparisons.sets import Drawn, Sets, SetsPlan
from wellorder.papers.letor_trials import Judged
from wellorder.papers.running import PaperRun
from wellorder.ratings import FEATURES
from wellorder.spaces import Kernel


@pytest.fixture
def folder(tmp_path):
    """Files like the sushi data and the chess games, much smaller."""
    rng = np.random.default_rng(0)
    sushi = tmp_path / "sushi"
    sushi.mkdir()
    n_people, n_sushis = 120, 12
    scores = np.full((n_people, n_sushis), -1)
    for line in scores:
        rated = rng.permutation(n_sushis)[:10]
        line[rated] = np.clip(rated // 3 + rng.integers(0, 2, 10), 0, 4)
    with gzip.open(sushi / "sushi3b.5000.10.score.gz", "wt") as out:
        out.writelines(" ".join(map(str, line)) + "\n" for line in scores)
    items = [f"{n}\tname {n}\t1\t0\t{n}\t{n / 2}\t{n % 3}\t{n * n}\t0.5\n" for n in range(n_sushis)]
    (sushi / "sushi3.idata").write_text("".join(items))
    people = [f"{7 * n}\t{n % 2}\t{n % 5}\t{100 + n}\t{n % 48}\t0\t0\t{13}\t3\t0\t1\n" for n in range(n_people)]
    (sushi / "sushi3.udata").write_text("".join(people))
    games = tmp_path / "chess-kaggle-elo"
    games.mkdir()
    strength = rng.normal(0.0, 1.0, 13)
    lines = []
    for month in range(1, 25):
        for _ in range(22):
            white, black = rng.permutation(12)[:2] + (0 if month < 4 else 1)
            d = strength[white] - strength[black] + 0.3 + rng.normal()
            lines.append(f"{month},{white},{black},{0.5 if abs(d) < 0.7 else float(d > 0)}\n")
    with gzip.open(games / "training_data.csv.gz", "wt") as out:
        out.writelines(['"Month #","White Player #","Black Player #","Score"\n', *lines])
    return tmp_path


@pytest.mark.parametrize("norm", NORMS)
def test_simulated_labels_are_those_of_the_norm_with_a_little_noise(norm):
    drawn = simulate(norm, 300, 100, np.random.default_rng(0))
    assert np.bincount(drawn.outcome + 1)[1] == 300
    assert len(drawn.outcome) == 400
    assert np.abs(drawn.pairs).max() <= 3
    rank = {
        1.0: np.abs(drawn.pairs).sum(-1) ** 2,
        2.0: (drawn.pairs**2).sum(-1),
        np.inf: np.abs(drawn.pairs).max(-1) ** 2,
    }
    assert true_rank(norm, drawn.pairs) == pytest.approx(rank[NORMS[norm]])
    d = rank[NORMS[norm]][:, 1] - rank[NORMS[norm]][:, 0]
    assert (np.abs(d[drawn.outcome == 0]) < 2.2).all()
    assert (d * drawn.outcome > -0.3)[drawn.outcome != 0].all()
    assert np.count_nonzero(np.abs(d[drawn.outcome == 0]) > 1) > 0


def test_sushi_pairs_are_neighbours_in_a_persons_scores(folder):
    found = read_sushi(folder / "sushi")
    assert found.pairs.shape == (600, 2, 14)
    assert set(found.outcome) == {0, 1}
    scores = np.loadtxt(folder / "sushi" / "sushi3b.5000.10.score.gz")
    first = np.sort(scores[0][scores[0] >= 0])
    assert found.outcome[:5].tolist() == np.sign(np.diff(first)[::2]).tolist()
    listed = read_sushi(folder / "sushi", by_score=False)
    as_listed = scores[0][scores[0] >= 0]
    assert listed.outcome[:5].tolist() == np.sign(np.diff(as_listed)[::2]).tolist()
    assert found.items.std(axis=0)[[2, 3, 4, 5, 7, 8, 9, 10, 11]] == pytest.approx(np.ones(9))
    assert (found.pairs[:, 0, 7:] == found.pairs[:, 1, 7:]).all()
    # person 47 grew up abroad: in the middle of all prefectures
    north, abroad = found.pairs[0, 0, 10], found.pairs[47 * 5, 0, 10]
    assert abs(abroad) < 0.2 < north


def test_a_file_that_is_missing_or_another_is_named(tmp_path, folder):
    with pytest.raises(DataError, match=r"score\.gz.*not there"):
        read_sushi(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="games are not there"):
        chess.read_chess(tmp_path / "elsewhere")
    (folder / "sushi" / "sushi3.idata").write_text("what\n")
    with pytest.raises(DataError, match="not a file of the sushi data"):
        read_sushi(folder / "sushi")


def test_chess_windows_have_known_players_only_and_never_look_ahead(folder):
    games = chess.read_chess(folder / "chess-kaggle-elo")
    assert games.compared.pairs.shape == (528, 2, 16)
    at_once = games.compared.pairs[games.month == 1]
    assert (at_once[:, :, FEATURES.index("games")] == 0).all()
    window = chess.window(games, 1, "in the train part")
    months = games.month
    counted = np.bincount(games.players[(months > 12) & (months <= 16)].ravel(), minlength=13)
    known = (counted[games.players] >= 10).all(axis=1)
    assert len(window.train.outcome) == np.count_nonzero(known & (months > 12) & (months <= 16))
    assert len(window.search.outcome) == np.count_nonzero(known & (months > 12) & (months <= 15))
    assert len(window.test.outcome) == np.count_nonzero(known & (months > 16) & (months <= 24))
    first = chess.window(games, 0, "so far")
    assert (first.train.pairs[:, :, FEATURES.index("games")] > 0).all()
    path = folder / "chess-kaggle-elo" / "training_data.csv.gz"
    head, *lines = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    future = [line if int(line.split(",")[0]) <= 16 else line[: line.rindex(",")] + ",1\n" for line in lines]
    path.write_bytes(gzip.compress("".join([head, *future]).encode()))
    changed = chess.window(chess.read_chess(folder / "chess-kaggle-elo"), 1, "in the train part")
    assert (changed.train.pairs == window.train.pairs).all()
    assert (changed.test.outcome == -1).all()


def test_chess_models_learn_who_is_stronger(folder):
    window = chess.window(chess.read_chess(folder / "chess-kaggle-elo"), 1, "so far")
    found, params = chess.learned("linear", window, (1e-4, 1.0))
    assert found > chess.rated("baseline", window.test)
    assert params["C"] in (1e-4, 1.0)
    decided = window.test.outcome != 0
    assert chess.rated("baseline", window.test) == pytest.approx((window.test.outcome[decided] < 0).mean() / 2)
    only_draws = window._replace(search=window.search.take(window.search.outcome == 0))
    assert np.isnan(chess.learned("linear", only_draws, (1.0,))[0])


@pytest.mark.parametrize(("method", "ties", "twice"), [("rank", 0.0, 1.0), ("rank2", 1.0, 2.0)])
def test_rankers_have_the_papers_cost_on_every_pair(method, ties, twice):
    train = simulate("‖x‖₂²", 20, 30, np.random.default_rng(0))
    K = Kernel("rbf", 0.5).matrix(train.items, train.items)
    model = next(each for each in METHODS[method].models(50) if each.estimator.C > 1)
    ranker, C = fit_quietly(model, train, K).estimator_, model.estimator.C
    scores = ranker.decision_function(K)
    d, y = scores[50:] - scores[:50], train.outcome
    a = np.zeros(len(K))
    a[ranker.support_] = ranker.dual_coef_
    hinge = twice * np.maximum(0, 1 - d * y)[y != 0].sum()
    hinge += ties * sum(np.maximum(0, 1 - side * d[y == 0]).sum() for side in (-1, 1))
    assert ranker.objective_ == pytest.approx(0.5 * a @ K @ a + C * hinge, rel=1e-6)


@pytest.mark.filterwarnings("ignore:the model calls every training pair a tie")  # a corner of the grid
def test_the_search_chooses_the_model_that_is_best_on_validation_pairs():
    rng = np.random.default_rng(1)
    train, validation, test = (simulate("‖x‖₁²", 20, 20, rng) for _ in range(3))
    costs, widths = (0.1, 10.0), (0.02, 0.2, 2.0)
    grid = Searched(lambda n: [compare(C) for C in costs])
    chosen = search(train, validation, {"compare": grid}, widths)["compare"]
    slow = {}
    for C in costs:
        for gamma in widths:
            model = wo.CompareSVM(C, kernel="rbf", gamma=gamma).fit(train.pairs, train.outcome)
            error = comparison_error(validation.outcome, model.predict(validation.pairs))
            slow[C, gamma] = error, comparison_auc(validation.outcome, model.compare(validation.pairs)), model
    assert chosen["error"].value == min(error for error, _, _ in slow.values())
    assert chosen["auc"].value == pytest.approx(max(auc for _, auc, _ in slow.values()))
    best = slow[chosen["auc"].params["C"], chosen["auc"].gamma][2]
    assert chosen["auc"].judge(test)["auc"] == pytest.approx(
        comparison_auc(test.outcome, best.compare(test.pairs)), abs=1e-3
    )
    assert chosen["auc"].scores(test.items) == pytest.approx(best.decision_function(test.items), rel=1e-2, abs=1e-2)


def test_sets_are_drawn_apart_and_with_the_share_of_ties(folder):
    sushi = read_sushi(folder / "sushi")
    parts = sets.draw(Drawn("sushi", 20, 0.3, 0), sushi)
    assert [np.count_nonzero(part.outcome == 0) for part in parts] == [6, 6, 6]
    assert len(np.unique(np.concatenate([part.pairs.reshape(20, -1) for part in parts]), axis=0)) == 60


def test_ties_are_worth_learning_from():
    """Figure 4 in small: compare errs less than rank, and the truth least."""
    methods = {method: _thinned(METHODS[method], slice(4, 8, 3)) for method in ("rank", "compare")}
    found = {method: [] for method in methods}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        train, validation, test = (simulate("‖x‖₂²", n, n, rng) for n in (40, 40, 400))
        for method, best in search(train, validation, methods, (0.01, 0.1)).items():
            found[method].append(best["error"].judge(test)["error"])
    assert np.mean(found["compare"]) < np.mean(found["rank"])


def test_the_programme_over_kernels_is_the_estimators_own_kernel():
    train = simulate("‖x‖₁²", 20, 20, np.random.default_rng(3))
    K = Kernel("rbf", 0.3).matrix(train.items, train.items)
    for model in METHODS["kernel LP"].models(40)[:3]:
        own = wo.CompareLP(model.C, alpha=model.alpha, kernel="rbf", gamma=0.3).fit(train.pairs, train.outcome)
        assert fit_quietly(model, train, K).objective_ == pytest.approx(own.objective_, rel=1e-6)


def test_a_method_may_see_kernels_with_some_items_only():
    rng = np.random.default_rng(1)
    train, validation = (simulate("‖x‖₂²", 20, 20, rng) for _ in range(2))
    few = Searched(lambda n: [wo.CompareLP(1.0 / n, alpha=1e-3)], most_items=15)
    chosen = search(train, validation, {"few": few}, (0.05,))["few"]["error"]
    assert chosen.items.shape == (15, 2)
    assert {tuple(row) for row in chosen.items} <= {tuple(row) for row in train.items}
    assert chosen.params == {"C": 1 / 40, "gamma": 0.05, "alpha": 1e-3}
    assert chosen.judge(validation)["error"] == pytest.approx(chosen.value)


def _thinned(each: Searched, some: slice = slice(-2, -1)) -> Searched:
    return replace(each, models=lambda n: each.models(n)[some])


def _run(folder, part, quick=True, kept=None):
    made = PAPERS["comparisons"].parts[part]
    records = made.run(PaperRun(folder, quick, RecordFile(None) if kept is None else kept, 1))
    return records, list(made.lines([Record.from_json(each.to_json()) for each in records]))


def test_figures_three_to_five_are_made_of_records(folder, monkeypatch):
    small = {method: _thinned(each) for method, each in METHODS.items()}
    monkeypatch.setattr(sets, "METHODS", small)
    monkeypatch.setattr(sets, "PATTERN", ("‖x‖₁²", 20, 0.5))
    monkeypatch.setattr(sets, "search", lambda a, b, methods: search(a, b, methods, (0.1,)))
    monkeypatch.setattr(sets, "QUICK", SetsPlan((20,), 0.5, 20, (0.2, 0.5, 0.8), 2, 3))
    kept = RecordFile(folder / "records.jsonl")
    records, lines = _run(folder, "figures-3-5", kept=kept)
    n_sets = 2 + 3 + 3  # more of those with the fewest and with the most ties
    assert len(records) == 2 + n_sets * (3 * 8 + 6 + 4)
    assert sum(line.startswith("| ‖x‖∞² | 20 | 2 |") for line in lines) == 1
    assert sum(line.startswith("| sushi | 80% | 3 |") for line in lines) == 2
    found = Sets(records)
    assert found.order("sushi", [(20, 0.5)], "error").count(" < ") == 2
    one, other = (found.values("‖x‖₁²", (20, 0.8), method, "auc") for method in ("compare", "rank"))
    assert found.test("‖x‖₁²", [(20, 0.8)], ("compare", "rank"), "auc").mean == pytest.approx((one - other).mean())
    assert (
        found.values("‖x‖₁²", (20, 0.5), "truth", "auc") == found.values("‖x‖₁²", (20, 0.5), "truth, own τ", "auc")
    ).all()
    monkeypatch.setattr(sets, "search", None)
    assert _run(folder, "figures-3-5", kept=kept) == (records, lines)
    monkeypatch.setattr(margins, "COLUMNS", (1, 2))
    monkeypatch.setattr(margins, "SIZES", (12,))
    monkeypatch.setattr(chess, "FILTERS", {"so far": "10 games so far"})
    monkeypatch.setattr(chess, "learned", lambda method, games: (0.5, {}))
    found = {"figures-3-5": records} | {part: _run(folder, part)[0] for part in ("figures-1-2", "figure-6")}
    PAPERS["comparisons"].picture(found, folder / "figures.png")
    assert (folder / "figures.png").stat().st_size > 10_000


def test_where_compare_is_rank_is_counted(folder, monkeypatch):
    names = ("rank", "compare")
    monkeypatch.setattr(sets, "PATTERN", ("‖x‖₁²", 20, 0.5))
    monkeypatch.setattr(sets, "_PAPERS", names)
    monkeypatch.setattr(sets, "search", lambda a, b, methods: search(a, b, methods, (0.1,)))
    monkeypatch.setattr(sets, "QUICK", SetsPlan((20,), 0.5, 20, (0.1, 0.5), 2, 2))
    for some, is_rank in ((slice(0, 1), True), (slice(-1, None), False)):  # the smallest cost, and the largest
        monkeypatch.setattr(sets, "METHODS", {name: _thinned(METHODS[name], some) for name in names})
        monkeypatch.setattr(sets, "_VERSUS", (("compare", "rank"),))
        found = Sets(_run(folder, "figures-3-5")[0])
        one, other = (found.values("‖x‖₁²", (20, 0.1), name, "auc") for name in names)
        by_error, by_area, n = found.n_without_threshold("‖x‖₁²", (20, 0.1))
        assert n == 2
        if is_rank:
            assert (by_error, by_area) == (2, 2)
            assert (one == other).all()
            assert "| ‖x‖₁² | 2 and 2 of 2 | 0 and 0 of 2 |" in list(found.lines())
        else:
            assert (by_error, by_area) == (0, 0)


def test_the_solver_and_the_loss_are_told_apart_on_sushi(folder, monkeypatch):
    monkeypatch.setattr(sets, "SOLVED", {name: _thinned(each) for name, each in sets.SOLVED.items()})
    monkeypatch.setattr(sets, "search", lambda a, b, methods: search(a, b, methods, (0.05,)))
    monkeypatch.setattr(sets, "MOST_TIES", (20, 0.7))
    records, lines = _run(folder, "sushi-ties")
    assert len(records) == 6
    assert sum(line.startswith("| squared hinge |") for line in lines) == 1
    assert all(each.metrics["largest"] >= 0 for each in records)


def test_chess_is_tested_over_the_windows(folder, monkeypatch):
    monkeypatch.setattr(chess, "N_WINDOWS", 2)
    monkeypatch.setattr(chess, "learned", partial(chess.learned, costs=(0.01,)))
    records, lines = _run(folder, "figure-6", quick=False)
    assert len(records) == 1 + 2 * 2 * 9
    assert "528 games of 13 players" in " ".join(lines)
    assert sum(line.startswith("| polynomial, ratings |") for line in lines) == 2
    assert sum(line.startswith("| polynomial − Glicko |") for line in lines) == 1
    one, other = (chess.areas(records, "so far", method) for method in ("linear", "Elo"))
    row = next(line for line in lines if line.startswith("| linear − Elo |"))
    assert f"{(one - other).mean():+.3f}" in row


@pytest.fixture
def documents():
    """Thirty queries of ten documents each, graded by a column, coarsely."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 4))
    grade = np.clip(np.floor(3 * X[:, 0] + 0.3 * rng.standard_normal(300)), 0, 2)
    return Judged(X, grade, np.repeat(np.arange(30), 10))


def test_pairs_of_documents_are_those_of_one_query(documents):
    mixed = documents.take(np.random.default_rng(1).permutation(300))
    every = QueryPairs.of(mixed, "all")
    assert len(every.outcome) == 30 * 45
    assert (mixed.query[every.left] == mixed.query[every.right]).all()
    assert len({frozenset(pair) for pair in zip(every.left.tolist(), every.right.tolist(), strict=True)}) == 30 * 45
    assert (np.sign(mixed.grade[every.right] - mixed.grade[every.left]) == every.outcome).all()
    mixed = mixed._replace(grade=np.maximum(mixed.grade - 1, 0))
    every, half = (QueryPairs.of(mixed, kind) for kind in ("all", "half"))
    for query in range(30):
        decided, had, ties = (
            np.count_nonzero((mixed.query[part.left] == query) & ((part.outcome == 0) == tied))
            for part, tied in ((half, False), (every, True), (half, True))
        )
        assert decided == np.count_nonzero((mixed.query[every.left] == query) & (every.outcome != 0))
        assert ties == min(had, decided)
    assert {*zip(half.left, half.right, strict=True)} < {*zip(every.left, every.right, strict=True)}


def test_documents_are_judged_by_pairs_and_by_lists(documents, monkeypatch):
    parts = [documents.take(documents.query % 5 == k) for k in range(5)]
    monkeypatch.setattr(queries, "read_parts", lambda data, name: parts)
    monkeypatch.setattr(queries, "COSTS", (0.1, 10.0))
    records, lines = _run(None, "mq2008")
    assert len(records) == 2 * 2 * 5
    for each in records:
        assert each.metrics["error"] < each.metrics["error of all ties"]
        for metric in ("error", "auc", "ndcg@10"):
            values = each.params["by query"][metric]
            assert len(values) == 6
            assert np.nanmean(values) == pytest.approx(each.metrics[metric], abs=1e-4)
    compared = next(each for each in records if each.data == "all" and each.method == "compare")
    train, test = (documents.take(np.isin(documents.query % 5, some)) for some in ([1, 2, 3], [0]))
    pairs = QueryPairs.of(train, "all")
    model = wo.CompareSVM(compared.params["C"]["error"]).fit(train.X, wo.Comparisons(*pairs))
    others = QueryPairs.of(test, "all")
    told = model.predict(wo.Pairs(test.X, others.left, others.right))
    # queries have equally many pairs, so that the mean over them is that over all
    assert compared.metrics["error"] == pytest.approx(np.mean(told != others.outcome))
    assert sum(line.startswith("| all pairs of a query |") for line in lines) == 6 + 3


def test_it_is_among_the_papers():
    assert list(PAPERS["comparisons"].parts) == ["figures-1-2", "figures-3-5", "sushi-ties", "figure-6", "mq2008"]
