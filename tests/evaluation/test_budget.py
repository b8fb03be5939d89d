"""A time budget is spent fairly, and decided by what was recorded."""

from __future__ import annotations

import math

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
