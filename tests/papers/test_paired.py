"""Paired tests: two methods on the same sets."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.papers.paired import corrected, is_sure, paired, table_of_tests


def test_differences_that_are_known_are_tested():
    found = paired([0.2, np.nan, 0.1, 0.3, -0.1])
    assert found.mean == pytest.approx(0.125)
    assert (found.n_above, found.n) == (3, 4)
    # of the 16 ways to choose signs, (0.2, 0.1, 0.3, ∓0.1) and what is as far on the other side
    assert found.p_value == pytest.approx(6 / 16)
    assert paired([np.nan]) is None


def test_a_table_marks_what_all_tests_of_a_row_are_sure_of():
    clear, unclear = paired(np.full(10, 0.5)), paired([0.1, -0.1, 0.2])
    after = corrected([clear, None, unclear])
    assert [is_sure(each) for each in after] == [True, False, False]
    assert after[0] == 2 * clear.p_value
    lines = table_of_tests(["data", "a − b", "c − d"], [(["x"], [clear, None]), (["y"], [unclear, clear])], 1, 100.0)
    assert lines[2] == "| x | **+50.0 (p = 0.002; 0.002)** | – |"
    assert lines[3].startswith("| y | +6.7 (3 sets, p = ")
    assert lines[3].endswith("| **+50.0 (p = 0.002; 0.004)** |")
