from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from tests.reference import metrics as reference

from wellorder.metrics import comparison_auc, comparison_error, comparison_roc

pairs = st.lists(
    st.tuples(st.sampled_from([-1, 0, 1]), st.sampled_from([-2.0, -0.5, 0.0, 0.5, 1.0, np.inf])), min_size=1
)


@given(pairs)
def test_the_area_is_the_share_of_couples_in_the_right_order(rows):
    y, d = map(np.array, zip(*rows, strict=True))
    if (y == 0).all() or (y != 0).all():
        with pytest.warns(UserWarning, match="at least one tie"):
            assert np.isnan(comparison_auc(y, d))
        return
    area = comparison_auc(y, d)
    assert area == pytest.approx(reference.comparison_auc(y, d), abs=1e-12)
    curve = comparison_roc(y, d)
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(area, abs=1e-12)


@given(pairs)
def test_each_point_of_the_curve_is_its_threshold(rows):
    y, d = map(np.array, zip(*rows, strict=True))
    assume((y == 0).any() and (y != 0).any())
    fpr, tpr, thresholds = comparison_roc(y, d)
    assert (fpr[0], tpr[0], fpr[-1]) == (0, 0, 1)
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(tpr) >= 0).all()
    for point in zip(fpr, tpr, thresholds, strict=True):
        if point[2] >= 0:
            assert point[:2] == pytest.approx(reference.comparison_point(y, d, point[2]))
    directed = np.mean((np.sign(d) == y)[y != 0])
    assert tpr[-1] == pytest.approx(directed)  # the last point, run out horizontally


def test_random_differences_have_an_area_of_a_quarter():
    rng = np.random.default_rng(0)
    assert comparison_auc(rng.integers(-1, 2, 200_000), rng.standard_normal(200_000)) == pytest.approx(0.25, abs=0.005)


def test_error_counts_wrong_directions_and_missed_ties_alike():
    assert comparison_error([1, 0, -1, 1, 0], [1, 1, -1, -1, 0]) == pytest.approx(2 / 5)
    assert comparison_error([1, 0], [1, 1], sample_weight=[3, 1]) == 0.25
    with pytest.warns(UserWarning, match="no comparison"):
        assert np.isnan(comparison_error([], []))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: comparison_error([1, 2], [1, 0]), "y: comparison 1 has the outcome 2"),
        (lambda: comparison_error([1, 0], [1, np.nan]), "y_pred: comparison 1 has the outcome nan"),
        (lambda: comparison_error([1, 0], [1]), "2 outcomes and y_pred 1"),
        (lambda: comparison_error(["a"], [1]), "y: comparison 0 has the outcome 'a', which is no number"),
        (lambda: comparison_error([1], ["1"]), "y_pred: comparison 0 has the outcome '1', which is no number"),
        (lambda: comparison_auc([True, False], [0.5, 0.1]), "y: comparison 0 has the outcome True"),
        (lambda: comparison_error([[1]], [1]), "1d array"),
        (lambda: comparison_auc([1, 0], [0.5]), "give one each"),
        (lambda: comparison_auc([1, 0], [0.5, np.nan]), "difference of row 1 is NaN"),
        (lambda: comparison_roc([1, 1], [0.5, 1.0]), "at least one tie"),
        (lambda: comparison_error([1, 0], [1, 0], sample_weight=[1, -1]), "row 1 has the weight"),
    ],
)
def test_bad_comparisons_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
