"""Metrics of one's own: in search, cross-validation and comparison, with groups, of comparisons, in other processes."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

import wellorder as wo
from wellorder.metrics import METRICS, Definition, Metric, make, scorer
from wellorder.report import look_closer, render

from .tables import make_comparisons, make_table

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = np.clip(np.round(X[:, 0] + 0.3 * RNG.standard_normal(120) + 1), 0, 3)
QUERY = np.arange(120) % 8
LEFT = RNG.integers(0, 120, 90)
RIGHT = (LEFT + RNG.integers(1, 120, 90)) % 120
GAMES = wo.Comparisons(LEFT, RIGHT, np.sign(Y[RIGHT] - Y[LEFT]).astype(int))


def share_right(y, scores, groups=None):
    """Say how many pairs stand right: 1 − swapped pairs."""
    return 1 - wo.metrics.swapped_pairs(y, scores, groups)


def share_called(comparisons, scores):
    called = np.sign(scores[comparisons.right] - scores[comparisons.left])
    return np.mean(called == comparisons.outcome)


RIGHT_PAIRS = make(share_right, greater_is_better=True)
CALLED = make(share_called, greater_is_better=True, needs="comparisons")


@pytest.mark.parametrize("groups", [None, QUERY], ids=["one list", "groups"])
@pytest.mark.parametrize("metric", [RIGHT_PAIRS, Metric(RIGHT_PAIRS)], ids=["Definition", "Metric"])
def test_cross_validation_takes_one_and_names_it(metric, groups):
    found = wo.cross_validate(wo.RankSVM(), X, Y, groups=groups, metrics=[metric, "swapped_pairs"])
    assert list(found) == ["share_right", "swapped_pairs"]
    assert found.greater_is_better["share_right"]
    np.testing.assert_allclose(found["share_right"], 1 - found["swapped_pairs"], atol=1e-12)


def test_it_is_called_in_other_processes():
    here = make(lambda y, scores: float(y[scores.argmax()]), greater_is_better=True, name="first_grade")
    found = wo.cross_validate(wo.RankSVM(), X, Y, metrics=here, n_jobs=2)
    np.testing.assert_array_equal(
        found["first_grade"], wo.cross_validate(wo.RankSVM(), X, Y, metrics=here)["first_grade"]
    )


@pytest.mark.parametrize("greater", [True, False])
def test_a_search_goes_its_way(greater):
    metric = make(share_right, greater_is_better=greater, name="mine")
    found = wo.search(wo.RankSVM(), {"C": [1e-6, 1.0]}, X, Y, groups=QUERY, metric=metric)
    means = [point.mean for point in found.table]
    assert (found.metric, found.best_score) == ("mine", max(means) if greater else min(means))


def test_rows_without_a_grade_do_not_reach_it_and_text_has_places():
    seen = []
    metric = make(
        lambda y, scores, groups=None: seen.append((y, scores, groups)) or 0.5, greater_is_better=True, name="m"
    )
    grades = wo.Grades(["good", None, "poor", "fair"], ["a", "a", "b", "b"], levels=["poor", "fair", "good"])
    assert Metric(metric)(grades, [4.0, 3.0, 2.0, 1.0]) == 0.5
    ((y, scores, groups),) = seen
    assert (y.tolist(), scores.tolist(), groups.tolist()) == ([2, 0, 1], [4, 2, 1], [0, 1, 1])
    assert np.isnan(Metric(metric)([np.nan], [1.0]))
    assert len(seen) == 1


def test_of_comparisons_and_of_pairs():
    found = wo.cross_validate(wo.RankSVM(), X, GAMES, metrics=[CALLED, "comparison_error"], cv=3)
    np.testing.assert_allclose(found["share_called"], 1 - found["comparison_error"])
    pairs = wo.Pairs(X, GAMES.left, GAMES.right)
    model = wo.CompareSVM(loss="squared_hinge")
    of_pairs = wo.cross_validate(model, pairs, GAMES.outcome, metrics=[CALLED, "comparison_auc"], cv=3)
    for value, split in zip(of_pairs["share_called"], of_pairs.splits, strict=True):
        fitted = wo.CompareSVM(loss="squared_hinge").fit(pairs[split.train], GAMES.outcome[split.train])
        assert value == np.mean(np.sign(fitted.compare(pairs[split.test])) == GAMES.outcome[split.test])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_comparison_goes_by_it_and_its_records_know_its_name(tmp_path, n_jobs):
    table, path = make_table(groups=6), tmp_path / "records.jsonl"
    metric = make(share_right, greater_is_better=True, bounds=(0, 1))
    run = partial(wo.compare, table, ["ridge", "best-feature"], metric=metric, n_folds=3, n_repeats=1, records=path)
    board = run(n_jobs=n_jobs)
    assert board.greater_is_better
    assert board.protocol.metric == "share_right"
    assert all(each.high <= 1 for each in board.standings)
    for record in board.records:
        assert record.metrics["share_right"] == pytest.approx(1 - record.metrics["swapped_pairs"])
    assert "metric=share_right, metrics=['swapped_pairs'" in board.protocol.code
    written = path.read_text()
    assert [each.mean for each in run(n_jobs=n_jobs).standings] == [each.mean for each in board.standings]
    assert path.read_text() == written  # nothing was computed again
    assert "share_right" in render(board, look_closer(table, board))


def test_a_comparison_of_comparisons_goes_by_it():
    board = wo.compare(make_comparisons(), ["ridge", "rank-svm"], metric=CALLED, n_folds=3, n_repeats=1, n_jobs=1)
    assert board.greater_is_better
    assert 0.3 < board.leader.mean <= 1


def test_it_makes_a_scorer():
    model = wo.RankSVM().fit(X, Y)
    assert scorer(RIGHT_PAIRS)(model, X, Y) == model.score(X, Y)
    turned = make(share_right, greater_is_better=False, name="turned")
    assert scorer(turned)(model, X, Y) == -model.score(X, Y)


def test_what_can_be_pickled_is_the_same_afterwards():
    metric = Metric(RIGHT_PAIRS)
    assert pickle.loads(pickle.dumps(metric)) == metric
    assert hash(pickle.loads(pickle.dumps(metric))) == hash(metric)


def test_a_definition_of_a_known_name_is_measured_as_it_says():
    other = Definition(lambda y, scores, groups=None: 7.0, "ndcg", True, "mine", "Mine.")
    board = wo.compare(make_table(), ["ridge"], metric=other, n_folds=3, n_repeats=1, n_jobs=1)
    assert board.leader.mean == 7.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: wo.cross_validate(wo.RankSVM(), X, Y, metrics=share_right),
            r"function share_right whether more is better; give wellorder.metrics.make\(share_right, greater_is_better",
        ),
        (lambda: wo.search(wo.RankSVM(), {}, X, Y, metric=share_right), "whether more is better"),
        (lambda: wo.compare(make_table(), ["ridge"], metrics=[share_right]), "whether more is better"),
        (
            lambda: wo.cross_validate(wo.RankSVM(), X, Y, metrics=CALLED),
            "judges scores by comparisons, and there are gr",
        ),
        (lambda: wo.search(wo.RankSVM(), {}, X, GAMES, metric=RIGHT_PAIRS), "by grades, and there are comparisons"),
        (lambda: wo.search(wo.RankSVM(), {}, X, GAMES, metric="comparison_brier"), "judges probabilities"),
        (lambda: wo.search(wo.RankSVM(), {}, X, Y, metric=METRICS["precision"]), "needs a cut-off"),
        (lambda: make(lambda y, s: 0.0, greater_is_better=True), "cannot be called '<lambda>'"),
        (lambda: make(share_right, greater_is_better=True, name="ndcg"), "a metric 'ndcg' already"),
        (lambda: make(share_right, greater_is_better=True, needs="clicks"), "needs='clicks' is not known"),
        (
            lambda: wo.cross_validate(
                wo.RankSVM(), X, Y, metrics=[RIGHT_PAIRS, make(share_right, greater_is_better=False)]
            ),
            "two metrics are called 'share_right'",
        ),
    ],
)
def test_clear_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_interval_of_a_cross_validation_ends_where_the_metric_does():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    found = wo.cross_validate(wo.RankSVM(), X, y, groups=np.arange(60) % 12, metrics=["ndcg@3"], cv=3)
    assert found.interval("ndcg@3").high <= 1.0


def test_records_tell_two_metrics_of_one_name_apart(tmp_path):
    """Whoever mends a metric is not shown what the broken one said."""
    table, records = make_table(), tmp_path / "made.records.jsonl"

    def by(function):
        metric = wo.metrics.make(function, greater_is_better=True, name="mine")
        return wo.compare(table, ["ridge"], metric=metric, n_folds=3, n_repeats=1, records=records).leader.mean

    assert by(lambda y, scores, groups=None: 1.0) == 1.0
    assert by(lambda y, scores, groups=None: 2.0) == 2.0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"function": 3}, "a metric is a function"),
        ({"greater_is_better": "yes"}, "must be True or False"),
        ({"bounds": (1, 0)}, "lowest and the highest"),
        ({"bounds": 3}, "lowest and the highest"),
    ],
    ids=str,
)
def test_what_makes_no_metric_is_refused(wrong, message):
    right = {"function": lambda y, scores, groups=None: 1.0, "greater_is_better": True, "name": "mine"}
    with pytest.raises(ValueError, match=message):
        make(**(right | wrong))
