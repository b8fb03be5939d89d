"""A search of many rows looks at a sample of them, drawn by the seed, and says so."""

from __future__ import annotations

import dataclasses
import time
import warnings

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation import METHODS, Protocol, make_task, searching
from wellorder.evaluation.searching import OutOfTime, choose_params, sample_part
from wellorder.evaluation.trials import run_trial, trial_key
from wellorder.samples import Sample

from .tables import make_comparisons, make_table

GRID = {"C": [0.01, 1.0]}


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(searching, "MOST_SEARCHED", 500)
    monkeypatch.setattr(searching, "SAMPLE", 100)


def part_of(table):
    task = make_task(table)
    return task.training_part(np.arange(len(task.order)))


def test_few_rows_are_searched_as_they_are(small_sample):
    part = part_of(make_table(n=500))
    assert sample_part(part, 0) is part


def test_a_sample_of_rows_is_drawn_by_the_seed(small_sample):
    part = part_of(make_table(n=501))
    one, again, other = (sample_part(part, seed) for seed in (0, 0, 1))
    assert one.X.shape == (100, 4)
    np.testing.assert_array_equal(one.X, again.X)
    assert not np.array_equal(one.X, other.X)
    rows = [np.flatnonzero((row == part.X).all(axis=1))[0] for row in one.X]
    np.testing.assert_array_equal(one.order.level, part.order.level[rows])


def test_lists_stay_whole(small_sample):
    table = make_table(n=900, groups=40)
    part = part_of(table)
    drawn = sample_part(part, 3)
    assert 100 <= len(drawn.order) <= 200
    sizes = sorted(np.bincount(drawn.order.group).tolist())
    every = sorted(np.bincount(part.order.group).tolist())
    assert all(size in every for size in sizes)
    # one list of 800 rows among short ones is cut by rows
    groups = np.where(np.arange(900) < 800, 0, np.arange(900))
    assert len(sample_part(part_of(dataclasses.replace(table, groups=groups)), 0).order) <= 200


def test_comparisons_are_drawn_and_items_stay(small_sample):
    part = part_of(make_comparisons(n=700))
    drawn = sample_part(part, 0)
    assert len(drawn.order) == 100
    assert drawn.X is part.X


def test_it_is_said_that_a_sample_was_searched(small_sample):
    part = part_of(make_table(n=600))
    with pytest.warns(UserWarning, match="its parameters were searched on 100 of 600 rows"):
        assert choose_params(wo.RankSVM(), GRID, part, n_folds=2, seed=0)["C"] in GRID["C"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        choose_params(wo.RankSVM(), GRID, part_of(make_table(n=300)), n_folds=2, seed=0)


class Slow(wo.RankSVM):
    """Takes its time, and counts how often."""

    n_fits = 0

    def fit(self, X, y, *, groups=None, sample_weight=None):
        time.sleep(self.seconds())
        Slow.n_fits += 1
        return super().fit(X, y)

    def seconds(self):
        return 0.05


def test_a_fit_that_would_outlast_its_time_is_not_begun(small_sample):
    part = part_of(make_table(n=5_000))  # a hundred times a fold's training rows: five seconds at least
    with (
        pytest.warns(UserWarning, match="100 of 5,000"),
        pytest.raises(OutOfTime, match="time was up after 3 of 4 fits"),
    ):
        choose_params(Slow(), GRID, part, n_folds=2, seed=0, deadline=lambda: 3.0)
    with pytest.warns(UserWarning, match="100 of 5,000"):
        choose_params(Slow(), GRID, part, n_folds=2, seed=0, deadline=lambda: 1_000.0)


def test_what_the_chosen_parameters_take_is_what_counts(small_sample):
    class SlowIfSimple(Slow):
        def seconds(self):
            return 0.4 if self.C < 1.0 else 0.0

    part = part_of(make_table(n=5_000))  # at 0.4 s a fit, forty seconds
    with (
        pytest.warns(UserWarning, match="100 of 5,000"),
        pytest.raises(OutOfTime, match="a fit to all rows would take"),
    ):
        choose_params(SlowIfSimple(), {"C": [1e-9, 1.0]}, part, n_folds=2, seed=0, deadline=lambda: 24.0)


def test_the_first_fit_may_wait_for_a_compiler(small_sample):
    class SlowAtFirst(Slow):
        def seconds(self):
            return 0.2 if Slow.n_fits == 0 else 0.0

    Slow.n_fits = 0
    part = part_of(make_table(n=5_000))  # at 0.2 s a fit, twenty seconds
    with pytest.warns(UserWarning, match="100 of 5,000"):
        choose_params(SlowAtFirst(), GRID, part, n_folds=2, seed=0, deadline=lambda: 10.0)


def test_a_method_may_look_at_fewer_rows():
    part = part_of(make_table(n=600))
    assert sample_part(part, 0, 600) is part
    assert len(sample_part(part, 0, 200)) == 200
    compared = part_of(make_comparisons(n=700))
    assert sample_part(compared, 0, 200) is compared
    with pytest.warns(UserWarning, match="its parameters were searched on 200 of 600 rows"):
        choose_params(wo.RankSVM(kernel="rbf"), GRID, part, n_folds=2, seed=0, most=200)


def test_of_kernels_the_last_fit_is_to_all_rows(monkeypatch):
    """The search sees a sample; the model that is judged has seen everything, and its record another key."""
    method = dataclasses.replace(METHODS["rank-svm-rbf"], most_searched=150)
    monkeypatch.setitem(METHODS, "rank-svm-rbf", method)
    seen = []

    class Seen(wo.RankSVM):
        def fit(self, X, y, *, groups=None, sample_weight=None):
            seen.append(X.shape[0])
            return super().fit(X, y, groups=groups, sample_weight=sample_weight)

    task = make_task(make_table(n=400))
    split = next(task.splits(2, 1, 0))
    protocol = Protocol("rows", 2, 1, 3, 0, "swapped_pairs", ("swapped_pairs",))
    record = run_trial(task, "seen", dataclasses.replace(method, make=lambda: Seen(kernel="rbf")), split, protocol)
    assert seen == [100] * 36 + [200]
    assert any("searched on 150 of 200 rows" in note for note in record.notes)
    whole = dataclasses.replace(method, most_searched=None)
    assert trial_key(task, "one", method, split, protocol) != trial_key(task, "one", whole, split, protocol)
    late = run_trial(
        task, "seen", dataclasses.replace(method, make=lambda: Sleepy(kernel="rbf")), split, protocol, seconds=1.0
    )
    assert late.problem is None
    assert late.stopped


class Sleepy(wo.RankSVM):
    def fit(self, X, y, *, groups=None, sample_weight=None):
        time.sleep(0.1)
        return super().fit(X, y, groups=groups, sample_weight=sample_weight)


def test_parameters_for_the_future_are_chosen_by_what_came_later():
    rng = np.random.default_rng(0)
    n = 300
    times = np.arange(n, dtype=float)
    x = rng.normal(size=(n, 2))
    y = np.round(np.where(times < 250, x[:, 0], 0.0) + 2.0 * x[:, 1] * (times >= 150) + 0.1 * rng.normal(size=n), 1)
    cuts = []

    class Watched(wo.RankSVM):
        def fit(self, X, y, **kwargs):
            cuts.append(np.asarray(X)[:, 2].max())
            return super().fit(X, y, **kwargs)

    part = Sample(np.column_stack([x, times]), wo.Grades(y))
    choose_params(Watched(), {"C": [0.1, 10.0]}, part, n_folds=3, seed=0, times=times)
    past = sorted(set(cuts))
    assert past == pytest.approx([149.0, 199.0, 249.0], abs=2.0)  # the past of three stretches
    shuffled = rng.permutation(n)
    cuts.clear()
    choose_params(Watched(), {"C": [0.1, 10.0]}, part.take(shuffled), n_folds=3, seed=0, times=times[shuffled])
    assert sorted(set(cuts)) == past  # whatever the file's order
