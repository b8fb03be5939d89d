"""Methods of comparisons in fits, leaderboards and ranked lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation import METHODS, Size, compare, evaluate_table, fit_table, order_items
from wellorder.evaluation.judging import default_metrics, threshold_of
from wellorder.evaluation.tasks import make_task

from .tables import make_comparisons, make_table

TIED = ["compare-svm", "rank-threshold", "rank-threshold-both", "elo", "glicko", "davidson"]


@pytest.mark.parametrize("described", [True, False])
@pytest.mark.parametrize("name", TIED)
def test_methods_predict_ties_and_are_saved(name, described, tmp_path):
    assert METHODS[name].predicts_ties
    table = make_comparisons(described=described)
    model = fit_table(table, name, with_resolution=False).model
    assert threshold_of(model) > 0
    assert (model.predict(table) == 0).any()
    assert evaluate_table(model, table)["comparison_error"] == pytest.approx(
        np.mean(model.predict(table) != table.comparisons.outcome)
    )
    assert hasattr(model, "predict_proba") == (name not in ("rank-threshold", "rank-threshold-both"))
    wo.save(model, tmp_path / "m.wo")
    assert wo.load(tmp_path / "m.wo").predict(table).tolist() == model.predict(table).tolist()


def test_methods_that_only_order_are_not_called_otherwise():
    table = make_comparisons()
    for name, method in METHODS.items():
        if "comparisons" in method.takes and not method.predicts_ties:
            estimator = method.make()
            assert not hasattr(estimator, "compare"), name
            assert not isinstance(estimator, wo.ratings.RatingRanker), name
    assert threshold_of(fit_table(table, "rank-svm", with_resolution=False).model) == 0


def test_the_last_fit_alone_is_calibrated(monkeypatch):
    fits = []
    plain = wo.CompareSVM.fit

    def fit(self, *arguments, **options):
        fits.append(self.probability)
        return plain(self, *arguments, **options)

    monkeypatch.setattr(wo.CompareSVM, "fit", fit)
    fitted = fit_table(make_comparisons(), "compare-svm")
    assert fits.count(True) == 1
    assert fitted.model.ranker_.probability
    assert fitted.params == {}
    fits.clear()
    assert not hasattr(fit_table(make_comparisons(), "compare-svm", {"probability": False}).model, "predict_proba")
    assert fits
    assert not any(fits)


def test_a_rating_in_a_fold_is_that_of_the_training_comparisons_in_their_order():
    table = make_comparisons(described=True)
    task = make_task(table)
    split = next(iter(task.splits(5, 1, 0)))
    assert (np.diff(split.train) > 0).all()
    part = task.training_part(split.train)
    scores = task.scores(METHODS["elo"].make().fit(part.X, part.order), part, split.test)
    c = table.comparisons
    expected = wo.ratings.Elo().fit(c.left[split.train], c.right[split.train], c.outcome[split.train])
    assert scores == pytest.approx(expected.rating(range(len(table.items))))


def test_what_comes_of_held_out_comparisons_does_not_change_ratings():
    table = make_comparisons(described=False)
    split = next(iter(make_task(table).splits(5, 1, 0)))
    c = table.comparisons
    turned = c.outcome.copy()
    turned[split.test] *= -1
    other = wo.data.ComparisonTable("x", table.items, wo.Comparisons(c.left, c.right, turned), described=False)
    for name in ("elo", "glicko", "davidson"):
        found = [METHODS[name].make().fit(table.items.X, t.take(split.train).comparisons) for t in (table, other)]
        assert found[0].ratings_.tolist() == found[1].ratings_.tolist()


def test_ratings_stand_in_the_leaderboard_and_say_where_they_cannot():
    board = compare(make_comparisons(), ["compare-svm", "elo", "glicko", "davidson"], n_folds=3, n_repeats=1)
    assert {each.method for each in board.standings if each.is_baseline} == {"elo", "glicko", "davidson"}
    assert board.leader.mean < 0.4
    graded = compare(make_table(), ["ridge", "elo", "glicko", "davidson"], n_folds=2, n_repeats=1)
    assert {each.method: each.reason for each in graded.left_out} == dict.fromkeys(
        ("elo", "glicko", "davidson"), "it does not learn from grades"
    )


def test_what_learns_from_columns_is_left_out_without_any():
    reasons = {
        name: method.objection(make_task(make_comparisons(described=False)).training_part(np.arange(60)).size)
        for name, method in METHODS.items()
    }
    for name in ("order-boost", "order-boost-bumps", "best-feature"):
        assert "only the names are known" in reasons[name]
    assert reasons["compare-svm"] is None
    size = make_task(make_comparisons()).training_part(np.arange(60)).size
    assert "there are 15" in METHODS["order-boost"].objection(size)
    assert METHODS["best-feature"].objection(size) is None


def test_ties_that_were_missed_count_where_there_are_any():
    assert default_metrics(make_comparisons().comparisons)[0] == "comparison_error"
    assert default_metrics(wo.Comparisons([0, 1], [1, 2], [1, -1])) == ("swapped_pairs",)
    assert default_metrics(wo.Comparisons([0, 1], [1, 2], [0, 0])) == ("swapped_pairs",)


def test_bands_are_those_of_the_threshold_itself():
    table = make_comparisons(described=False)
    model = fit_table(table, "compare-svm", with_resolution=False).model
    model.ranker_.coef_ = np.append([3.0, 2.0, 1.9, 0.9], np.full(11, 0.5))
    rows = order_items(model, table.items).lists[0].rows
    assert [row[1] for row in rows[:5]] == [1, 1, 2, 2, 3]  # exactly the threshold below is still a tie
    assert order_items(model, table.items, confidence=0.75).lists[0].rows[0][1] is None


def test_calibration_metrics_need_probabilities():
    table = make_comparisons()
    model = fit_table(table, "rank-svm", with_resolution=False).model
    with pytest.raises(ValueError, match="RankSVM gives none"):
        evaluate_table(model, table, ["comparison_log_loss"])
    with pytest.raises(ValueError, match="rank-svm gives none"):
        compare(table, ["rank-svm"], metric="comparison_brier")


@pytest.mark.parametrize("name", ["order-boost", "lightgbm", "lightgbm-on-ranks", "lambdarank"])
def test_trees_are_left_out_where_they_could_not_split(name):
    few = Size("grades", 40, 3, 700, 40, 30)
    assert METHODS[name].objection(few) == "its trees want 20 rows on either side of a split, and there are 40"
    assert METHODS[name].objection(replace(few, n_rows=60)) is None
