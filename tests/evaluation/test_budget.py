"""A time budget is spent fairly, and decided by what was recorded."""

from __future__ import annotations

import math

import numpy as np
import pytest

from wellorder.evaluation.budget import Budget


def test_no_limit_leaves_everything_in():
    assert Budget(None).left(1e9) == math.inf
    assert Budget(None).unaffordable({"slow": 1e6, "fast": 1.0}, 100, 0.0) == []
    assert Budget(None).allows({"slow": 1e6}, 100, 0.0)


def test_the_first_split_is_shared_equally_among_those_that_wait():
    assert Budget(100.0).share(0.0, 4) == 25.0
    assert Budget(100.0).share(40.0, 3) == 20.0  # what the first saved is there for the others
    assert Budget(100.0).share(150.0, 2) == 0.0


def test_the_most_expensive_go_first_and_only_as_many_as_must():
    pace = {"slow": 20.0, "slower": 30.0, "fast": 1.0}
    assert Budget(400.0).unaffordable(pace, 4, 51.0) == []
    assert Budget(150.0).unaffordable(pace, 4, 51.0) == ["slower"]
    assert Budget(60.0).unaffordable(pace, 4, 51.0) == ["slower", "slow"]


def test_the_last_method_stays():
    assert Budget(1.0).unaffordable({"only": 60.0}, 4, 60.0) == []


def test_a_repeat_begins_only_if_it_will_finish():
    assert Budget(100.0).allows({"a": 5.0, "b": 5.0}, 5, 50.0)
    assert not Budget(100.0).allows({"a": 5.0, "b": 5.0}, 5, 51.0)


def test_trials_side_by_side_take_less_time_by_the_clock():
    assert Budget(100.0, n_jobs=4).left(200.0) == 50.0
    assert Budget(100.0, n_jobs=4).share(0.0, 8) == 50.0
    assert Budget(100.0, n_jobs=4).share(0.0, 2) == 100.0  # one trial alone has no more than all the time
    pace = {"slow": 20.0, "slower": 30.0, "fast": 1.0}
    assert Budget(130.0, n_jobs=2).unaffordable(pace, 4, 51.0) == ["slower"]
    assert Budget(150.0, n_jobs=2).unaffordable(pace, 4, 51.0) == []


def test_a_round_that_was_begun_finishes_in_whatever_order_trials_are_packed():
    # the bound holds for every greedy schedule, and is met by this one: 3 short trials, then the long one alone
    assert Budget(None, n_jobs=2).needed({"short": 1.0, "long": 2.0}, 1) == 2.5
    rng = np.random.default_rng(0)
    for n_jobs in (1, 2, 3, 5):
        for _ in range(50):
            pace = {f"m{k}": float(rng.exponential()) for k in range(rng.integers(1, 8))}
            free = np.zeros(n_jobs)
            for seconds in rng.permutation(np.repeat(list(pace.values()), 3)):
                free[np.argmin(free)] += seconds
            assert free.max() <= Budget(None, n_jobs=n_jobs).needed(pace, 3) + 1e-12


def test_a_limit_leaves_time_for_all_splits_of_all_methods():
    unknown = math.inf
    assert Budget(100.0).limit({}, [unknown] * 4, 5, 0.0) == 5.0
    assert Budget(None).limit({}, [unknown] * 4, 5, 0.0) == math.inf
    for n_jobs in (1, 2, 4):
        budget, others = Budget(100.0, n_jobs=n_jobs), {"quick": 0.5, "quicker": 0.1}
        each = budget.limit(others, [unknown] * 3, 5, 2.0)
        first = 2.0 + 3 * each  # the waiting ones' own first split
        assert budget.allows({**others, **{f"slow {k}": each for k in range(3)}}, 4, first)
        assert not budget.allows({**others, **{f"slow {k}": 1.3 * each for k in range(3)}}, 4, first)


def test_what_quick_methods_do_not_need_is_there_for_the_others():
    unknown = math.inf
    assert Budget(100.0).limit({}, [1.0, 1.0, unknown, unknown], 5, 0.0) == 9.0
    assert Budget(100.0).limit({}, [1.0, 1.0, 7.0, unknown], 5, 0.0) == 11.0
    assert Budget(100.0).limit({"done": 2.0}, [unknown], 5, 2.0) == 18.0
    assert Budget(100.0).limit({}, [1.0, 2.0], 5, 0.0) >= 2.0  # all are done, and there is time to spare
    assert Budget(100.0).limit({}, [], 5, 0.0) > 0.0
    for n_jobs in (1, 2, 3):
        budget, needed = Budget(60.0, n_jobs=n_jobs), {"a": 0.5, "b": 3.0, "c": 9.0, "d": 50.0}
        most = budget.limit({}, list(needed.values()), 4, 0.0)
        assert budget.needed({name: min(each, most) for name, each in needed.items()}, 4) == pytest.approx(60.0)


def limits(budget, needs, n_splits=5, spent=0.0):
    """What each of these has, one after the other, if it takes what it wants of it."""
    took = {}
    for place, own in enumerate(needs):
        most = budget.tiered_limit(own, took, needs[place:], n_splits, spent)
        took[place] = min(own[-1], most)
        spent += took[place]
    return list(took.values())


def test_fits_come_before_searches_and_searches_of_what_may_lead_before_others():
    quick, leads, behind = (1.0, 1.0, 1.0, 1.0), (1.0, 4.0, math.inf, math.inf), (0.2, 3.0, 3.0, math.inf)
    took = limits(Budget(200.0), [quick, behind, leads])
    assert took[0] == 1.0
    assert 3.0 <= took[1] <= 1.5 * 3.0  # its fit and a little more, not half of what is left
    assert took[2] == pytest.approx(40.0 - took[0] - took[1])  # the rest of this split, and no more than that
    # a search of what may lead waits for the fit of another
    tight = limits(Budget(30.0), [leads, (1.0, 4.9, 4.9, 4.9)])
    assert tight[0] < 1.5 * 4.0
    assert tight[1] > 1.0


def test_what_is_cheap_is_done_even_where_dear_fits_would_take_everything():
    cheap, endless = (0.5, 0.5, 0.5, 0.5), (0.5, math.inf, math.inf, math.inf)
    assert limits(Budget(10.0), [endless, endless, endless, cheap])[-1] == 0.5


def test_no_limit_is_none():
    assert Budget(None, n_jobs=2).tiered_limit((math.inf,), {}, [(math.inf,)] * 3, 5, 1.0) == math.inf


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_all_that_is_reckoned_has_room(n_jobs):
    rng = np.random.default_rng(1)
    for _ in range(50):
        needs = [tuple(np.cumsum(rng.exponential(size=4))) for _ in range(rng.integers(1, 7))]
        budget = Budget(float(rng.uniform(5.0, 200.0)), n_jobs=n_jobs)
        most = [budget.tiered_limit(own, {}, needs, 4, 1.0) for own in needs]
        takes = {str(k): min(own[-1], limit / 1.5) for k, (own, limit) in enumerate(zip(needs, most, strict=True))}
        assert budget.needed(takes, 4) <= budget.left(1.0) + 1e-9


def test_the_last_of_all_has_all_that_is_left():
    """Whatever its own fit needs of it: time that one tier has set aside for it is not missing from the next."""
    own = (1.4, 23.0, math.inf, math.inf)
    assert Budget(200.0).tiered_limit(own, {"others": 20.0}, [own], 1, 166.8) == pytest.approx(33.2)
