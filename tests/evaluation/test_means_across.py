"""Means over several data sets: of splits that all have, of methods that are everywhere."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest

from wellorder.evaluation.across import means_across
from wellorder.evaluation.records import Record
from wellorder.evaluation.trials import OUT_OF_TIME


def record(data, method, fold, value, metric="swapped_pairs", **more):
    return Record(f"{data}/{method}/{fold}", data, method, 0, fold, 0, 80, 20, {metric: value}, **more)


def test_only_splits_that_all_methods_have_finished_count():
    records = [record("a", "m", fold, value) for fold, value in enumerate((0.1, 0.2, 0.9))]
    records += [record("a", "n", fold, value) for fold, value in enumerate((0.3, 0.5))]
    records += [record("b", name, 0, value) for name, value in (("m", 0.4), ("n", 0.2))]
    found = means_across(records)
    assert found.data == ("a", "b")
    assert found.methods == ("m", "n")
    assert found.means[0] == pytest.approx((0.15, 0.4))
    assert found.means[1] == (0.4, 0.2)
    assert not found.greater_is_better


def test_a_later_record_of_the_same_split_stands_for_an_earlier_one():
    records = [record(data, name, 0, 0.1) for data in "ab" for name in "mn"]
    found = means_across([*records, replace(records[0], key="new", metrics={"swapped_pairs": 0.7})])
    assert found.means == ((0.7, 0.1), (0.1, 0.1))


def test_what_was_given_up_after_a_split_does_not_cost_the_others_theirs():
    records = [record(data, name, fold, 0.1 * fold) for data in "ab" for name in "mn" for fold in range(5)]
    found = means_across([*records, record("a", "slow", 0, 0.5), record("b", "slow", 0, 0.5)])
    assert found.means == ((pytest.approx(0.2),) * 2,) * 2
    assert found.left_out == (("slow", 0),)


def test_a_split_that_was_out_of_time_is_a_split_less_and_no_failure():
    records = [record(data, name, fold, 0.1 * fold) for data in "ab" for name in "mn" for fold in range(3)]
    late = replace(records[2], metrics={"swapped_pairs": nan}, problem=f"{OUT_OF_TIME}after 1 s")
    assert means_across([*records, late]).means[0] == pytest.approx((0.05, 0.05))
    assert means_across([late, *records]).means[0] == pytest.approx((0.1, 0.1))  # done since
    broken = replace(late, problem="it broke")
    assert means_across([broken, *records]).left_out == ()  # mended since
    with pytest.raises(ValueError, match="fewer than two methods"):
        means_across([*records, broken])


def test_methods_that_failed_or_have_no_value_or_are_missing_somewhere_are_left_out():
    records = [record(data, name, 0, 0.1) for data in "ab" for name in ("m", "n")]
    records += [record("a", "only-a", 0, 0.0), record("a", "fails", 0, 0.0), record("b", "fails", 0, nan, problem="no")]
    records += [record("a", "unknown", 0, nan), record("b", "unknown", 0, 0.2)]
    found = means_across(records)
    assert found.methods == ("m", "n")
    assert found.left_out == (("only-a", 1), ("fails", 1), ("unknown", 1))


def test_metrics_of_comparisons_are_known():
    records = [record(data, name, 0, 0.1, "comparison_error") for data in "ab" for name in "mn"]
    assert (means_across(records).metric, means_across(records).greater_is_better) == ("comparison_error", False)


@pytest.mark.parametrize("change", [{"seed": 1}, {"n_train": 81}, {"n_test": 21}])
def test_two_data_sets_of_one_name_are_not_taken_for_one(change):
    records = [record(data, name, 0, 0.1) for data in "ab" for name in "mn"]
    with pytest.raises(ValueError, match="the records of 'b' are of two comparisons that cut it differently, or of"):
        means_across([*records, replace(records[-1], key="new", **change)])


def test_what_cannot_be_compared_is_said():
    one = [record("a", name, 0, 0.1) for name in "mn"]
    with pytest.raises(ValueError, match=r"these records are of 1 \(a\); give two or more"):
        means_across(one)
    with pytest.raises(ValueError, match="no metric was measured on every data set, only ndcg@10, swapped_pairs"):
        means_across([*one, *(record("b", name, 0, 0.1, "ndcg@10") for name in "mn")])
    with pytest.raises(ValueError, match="fewer than two methods have a value of swapped_pairs on every data set"):
        means_across([*one, record("b", "m", 0, 0.1)])
    with pytest.raises(ValueError, match="there is no metric 'speed'"):
        means_across([*one, *(record("b", name, 0, 0.1) for name in "mn")], "speed")
