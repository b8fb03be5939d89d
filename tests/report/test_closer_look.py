"""A closer look says what the records and the held-out rows say: list by list, pair by pair."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import wellorder as wo
from tests.report import tables
from tests.report.test_page import Page
from wellorder.evaluation import by_query, make_task
from wellorder.report import look_closer, render
from wellorder.report.allowance import Allowance
from wellorder.report.closer_look import _Models, choose_rival, first_repeat, held_out, pairs_to_explain


@pytest.fixture(scope="module")
def lists_look():
    return look_closer(tables.lists(), tables.lists_board())


@pytest.fixture(scope="module")
def compared_look():
    return look_closer(tables.compared(), tables.compared_board())


def all_held_out(table, board, method):
    return held_out(board, method, first_repeat(make_task(table), board))


def test_every_row_is_held_out_once_and_its_score_is_of_a_model_that_had_not_seen_it():
    table, board = tables.lists(), tables.lists_board()
    found = all_held_out(table, board, "rank-svm")
    assert sorted(found.rows.tolist()) == list(range(len(table)))
    split = first_repeat(make_task(table), board)[0]
    model = _Models(table, make_task(table), board, [split], Allowance(math.inf)).fit("rank-svm", split.fold)
    mine = found.rows[found.fold == 0]
    assert np.array_equal(mine, split.test)
    assert np.allclose(model.decision_function(table.take(mine)), found.scores[found.fold == 0])  # fitted as it was
    for fold in range(3):
        assert np.std(found.standardised()[found.fold == fold]) == pytest.approx(1)


@pytest.mark.parametrize("method", ["rank-svm", "order-boost-bumps"])  # the second draws from its seed
def test_scores_of_comparisons_are_right_less_left(method):
    table = tables.compared()
    board = tables.run(table, [method])
    found = all_held_out(table, board, method)
    split = first_repeat(make_task(table), board)[0]
    model = _Models(table, make_task(table), board, [split], Allowance(math.inf)).fit(method, split.fold)
    assert np.allclose(model.compare(table.take(split.test)), found.scores[found.fold == 0])


def test_only_the_first_repeat_is_kept_and_large_data_are_not(monkeypatch):
    board = wo.compare(tables.one_list(), ["ridge"], n_folds=2, n_repeats=2, inner_folds=2)
    assert [record.held_out is None for record in board.of("ridge")] == [False, False, True, True]
    monkeypatch.setattr("wellorder.evaluation.trials.MOST_HELD_OUT", 79)
    board = wo.compare(tables.one_list(), ["ridge"], n_folds=2, n_repeats=1, inner_folds=2)
    assert {record.held_out for record in board.of("ridge")} == {None}
    look = look_closer(tables.one_list(), board)
    assert look.differences is None
    assert look.looked_at == "ridge"  # a model can be looked at all the same


def test_the_duel_has_the_values_of_each_list(lists_look):
    table, board = tables.lists(), tables.lists_board()
    duel = lists_look.duel
    assert (duel.leader, duel.rival) == (board.leader.method, choose_rival(board.standings))
    for method, values in zip((duel.leader, duel.rival), duel.values, strict=True):
        found = all_held_out(table, board, method)
        judged = ~np.isnan(table.y[found.rows])
        rows = found.rows[judged]
        assert values == by_query("swapped_pairs", table.y[rows], found.scores[judged], table.groups[rows])
    ahead = {query: duel.values[1][query] - duel.values[0][query] for query in duel.values[0]}
    won = [query for query in duel.queries if query.kind == "won"]
    lost = [query for query in duel.queries if query.kind == "lost"]
    assert ahead[won[0].name] == max(ahead.values())
    assert ahead[lost[0].name] == min(ahead.values())


def test_orders_are_the_lists_by_each_method_s_scores(lists_look):
    table, board = tables.lists(), tables.lists_board()
    shown = [query for query in lists_look.duel.queries if query.orders is not None]
    assert shown
    for query in shown:
        for method, order in zip((lists_look.duel.leader, lists_look.duel.rival), query.orders, strict=True):
            found = all_held_out(table, board, method)
            mine = (table.groups[found.rows] == query.name) & ~np.isnan(table.y[found.rows])
            by_score = found.rows[mine][np.argsort(-found.scores[mine])]
            assert [row.name for row in order] == list(table.ids[by_score][:8])
            assert [float(row.grade) for row in order] == list(table.y[by_score][:8])
            assert query.left == max(0, mine.sum() - 8)


def test_one_list_has_no_duel_and_comparisons_have_none(compared_look):
    look = look_closer(tables.one_list(), tables.one_list_board())
    assert look.duel is None
    assert compared_look.duel is None
    assert "List by list" not in Page(render(tables.one_list_board(), look)).words


def test_telling_pairs_are_the_farthest_of_all():
    table = tables.lists()
    rows = np.arange(3, 80)
    scores = np.random.default_rng(3).standard_normal(len(rows))
    found = pairs_to_explain(table, scores, rows)
    score = dict(zip(rows.tolist(), scores.tolist(), strict=True))
    same = [(i, j) for i in rows for j in rows if table.groups[i] == table.groups[j]]
    levels = {g: sorted({y for y in table.y[rows][table.groups[rows] == g] if y == y}) for g in set(table.groups[rows])}

    def neighbours(i, j):
        present = levels[table.groups[i]]
        return table.y[i] == table.y[i] and table.y[j] in present[present.index(table.y[i]) + 1 :][:1]

    wrong = max(((i, j) for i, j in same if neighbours(i, j)), key=lambda pair: score[pair[0]] - score[pair[1]])
    ends = (
        (i, j) for i, j in same if table.y[i] == levels[table.groups[i]][-1] > table.y[j] == levels[table.groups[j]][0]
    )
    right = max(ends, key=lambda pair: score[pair[0]] - score[pair[1]])
    assert [(each.above, each.below) for each in found[1:]] == [right, wrong]
    assert found[1].why.startswith("Rightly far apart")
    assert found[2].why.startswith("The farthest mistake")


def test_of_many_grades_any_pair_may_be_the_farthest_mistake():
    rng = np.random.default_rng(5)
    table = replace(tables.one_list(), y=rng.permutation(80).astype(float))
    scores = table.y + 30 * rng.standard_normal(80)
    found = pairs_to_explain(table, scores, np.arange(80))[-1]
    wrong = ((i, j) for i in range(80) for j in range(80) if table.y[i] < table.y[j])
    assert (found.above, found.below) == max(wrong, key=lambda pair: scores[pair[0]] - scores[pair[1]])


def test_whys_are_about_held_out_rows_and_add_up(lists_look):
    table, board = tables.lists(), tables.lists_board()
    held = set(table.ids[first_repeat(make_task(table), board)[0].test])
    assert 2 <= len(lists_look.whys) <= 3
    for why in lists_look.whys:
        told = why.explanation
        assert {told.a, told.b} <= held
        assert told.difference >= 0
        assert math.fsum(part.contribution for part in told.contributions) == pytest.approx(told.difference)
        assert {part.feature for part in told.contributions} == set(table.X.columns)


def test_comparisons_have_probabilities_and_mistakes(compared_look):
    table, board = tables.compared(), tables.compared_board()
    assert compared_look.calibrated == "compare-svm"
    split = first_repeat(make_task(table), board)[0]
    better, tie = compared_look.calibration.parts
    assert better.count.sum() == 2 * len(split.test)
    assert tie.count.sum() == len(split.test)
    mistake = next(why for why in compared_look.whys if why.title.startswith("The farthest mistake")).explanation
    names = table.items.ids
    c = table.take(split.test).comparisons
    won = {
        (names[r], names[lft]) if o > 0 else (names[lft], names[r])
        for lft, r, o in zip(c.left, c.right, c.outcome, strict=True)
        if o
    }
    assert (mistake.b, mistake.a) in won


def test_items_without_features_are_not_explained():
    table = tables.compared(described=False)
    look = look_closer(table, tables.run(table, ["davidson"]))
    assert look.looked_at == ""
    assert look.whys == ()
    assert look.levels is None
    assert look.calibrated == "davidson"
    assert look.differences is not None


def test_a_model_of_lists_is_passed_over():
    board = tables.run(tables.lists(), ["multiple-hyperplane-ranker", "best-feature"])
    look = look_closer(tables.lists(), board)
    assert look.looked_at == "best-feature"
    assert look.levels is None  # one feature makes no plane
    assert look.whys


def test_a_slow_method_is_not_fitted_again():
    board = tables.lists_board()
    slow = replace(board, standings=tuple(replace(each, fit_seconds=100.0) for each in board.standings))
    look = look_closer(tables.lists(), slow)
    assert look.looked_at == ""
    assert look.duel is not None


def test_a_resumed_run_gives_the_same_page(tmp_path):
    options = {"records": tmp_path / "records.jsonl", "time_budget": None}
    whole = tables.run(tables.lists(), ["rank-svm", "ridge"], **options)
    page = render(whole, look_closer(tables.lists(), whole))
    kept = (tmp_path / "records.jsonl").read_bytes().splitlines(keepends=True)
    assert len(kept) == 6
    resumed = tables.run(tables.lists(), ["rank-svm", "ridge"], **options)
    assert (tmp_path / "records.jsonl").read_bytes().splitlines(keepends=True) == kept
    assert render(resumed, look_closer(tables.lists(), resumed)) == page


def test_numbered_features_are_called_so():
    import scipy.sparse as sp

    table = tables.lists()
    numbered = replace(table, X=sp.csr_array(table.X.select("acid", "sugar", tables.EVIL).to_numpy()))
    look = look_closer(numbered, tables.run(numbered, ["rank-svm"]))
    assert look.levels.plane.features[0].startswith("feature ")
    assert {part.feature for part in look.whys[0].explanation.contributions} == {"feature 1", "feature 2", "feature 3"}


@pytest.mark.parametrize("kind", ["lists", "compared"])
def test_the_page_shows_it_all_and_escapes_every_name(kind, lists_look, compared_look):
    board = {"lists": tables.lists_board, "compared": tables.compared_board}[kind]()
    source = render(board, {"lists": lists_look, "compared": compared_look}[kind])
    page = Page(source)
    headings = {
        "lists": ("List by list", "Both orders side by side", "two most telling features"),
        "compared": ("Are its probabilities right", "two most telling features"),
    }[kind]
    for heading in (
        *headings,
        "Why does one stand above another?",
        "How far to trust a difference",
        "The items, as the leader puts them",
        "What matters overall?",
    ):
        assert heading in page.words
    assert [each for each in page.all("script") if each.get("type") != "application/json"] == [{}]
    assert source.count("<script>") == 1
    assert len(page.ids) == len(set(page.ids))
    links = [each["href"][1:] for each in page.all("a")]
    assert set(links) <= set(page.ids)
    assert len(page.all("caption")) == len(page.all("table"))
    assert all("scope" in attributes for attributes in page.all("th"))
    assert len(source) < 3_000_000


def test_graded_rows_are_ranked_by_models_that_had_not_seen_them():
    table, board = tables.one_list(), tables.one_list_board()
    look = look_closer(table, board)
    (only,) = look.order.ordered.lists
    leader = held_out(board, board.leader.method, first_repeat(make_task(table), board))
    assert sorted(only.numbers) == list(range(len(leader.rows)))
    assert len(leader.rows) == np.count_nonzero(~np.isnan(table.y))
    assert [row[3] for row in only.rows] == sorted(leader.standardised(), reverse=True)
    assert [row[2] for row in only.rows] == [str(table.ids[leader.rows[number]]) for number in only.numbers]
    assert {row[1] for row in only.rows} == set(range(1, 1 + max(row[1] for row in only.rows)))
    grade = look.order.remarks.grade
    assert [grade[number] for number in only.numbers[:5]] == [
        "" if np.isnan(table.y[leader.rows[number]]) else f"{table.y[leader.rows[number]]:.0f}"
        for number in only.numbers[:5]
    ]
    assert set(look.order.remarks.because) <= set(only.numbers[:5])
    assert look.order.remarks.because
    assert (look.order.chances.above >= 0.5).all()


def test_compared_items_are_ranked_by_one_model_of_all_comparisons():
    table = tables.compared()
    found = look_closer(table, tables.run(table, ["compare-svm"])).order
    (only,) = found.ordered.lists
    assert sorted(only.numbers) == list(range(25))
    assert found.chances.how == "the model's own probabilities"
    assert found.chances.tie is not None
    assert len(found.remarks.because) == 5
    assert all(" = " in text for text in found.remarks.because.values())


def test_items_without_features_are_ranked_without_reasons():
    table = tables.compared(described=False)
    look = look_closer(table, tables.run(table, ["davidson", "rank-svm"]))
    assert len(look.order.ordered.lists[0].rows) == 25
    assert look.order.remarks.because == {}
    assert look.importance is None


def test_the_report_says_what_matters(lists_look):
    found = lists_look.importance
    assert {each.feature for each in found.columns} == {"acid", "sugar", tables.EVIL, "kind"}
    assert found.columns[0].feature in ("acid", "kind")
    assert found.unit == "groups"


def test_nothing_finished_is_nothing_to_look_at():
    empty = replace(tables.lists_board(), standings=(), records=(), is_complete=False)
    assert look_closer(tables.lists(), empty).duel is None
