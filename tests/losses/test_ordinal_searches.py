"""Thresholds are the same however the rows inside a margin are found."""

from __future__ import annotations

import numpy as np
import pytest

from wellorder.losses import OrdinalRows, ordinal as module, smooth_ordinal_hinge
from wellorder.losses.ordinal import rising_zeros


@pytest.mark.parametrize("thresholds", ["all", "immediate", "explicit"])
@pytest.mark.parametrize("n_levels", [3, 40])
def test_one_by_one_all_levels_at_once_and_level_by_level(monkeypatch, thresholds, n_levels):
    rng = np.random.default_rng(0)
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 160)])
    rows = OrdinalRows(level, rng.random(len(level)) + 0.5, n_levels, thresholds)
    scores = 0.2 * level + rng.standard_normal(len(level))
    found = []
    for one_by_one, at_once in ((10**6, 0), (0, 10**6), (0, 0)):
        monkeypatch.setattr(module, "_MOST_ONE_BY_ONE", one_by_one)
        monkeypatch.setattr(module, "_ROWS_PER_LEVEL", at_once)
        found.append(smooth_ordinal_hinge(scores, rows, 0.3))
    for other in found[1:]:
        assert other.value == pytest.approx(found[0].value, rel=1e-10)
        np.testing.assert_allclose(other.gradient, found[0].gradient, atol=1e-8)


def test_zeros_of_functions_in_pieces_that_newton_alone_leaps_away_from():
    """Steep around the zero, all but flat beyond: from there Newton's steps go a hundred times too far, both ways."""
    zero = np.array([-3.0, 0.0, 0.25, 7.0])
    calls = 0

    def slopes(b):
        nonlocal calls
        calls += 1
        away = b - zero
        return np.clip(away, -1, 1) + 1e-4 * away, np.where(np.abs(away) < 1, 1.0, 0.0) + 1e-4

    begin = np.array([90.0, -90.0, 30.0, -99.0])
    found = rising_zeros(slopes, np.full(4, -100.0), np.full(4, 100.0), 1e-12, begin)
    np.testing.assert_allclose(found, zero, atol=1e-11)
    assert calls <= 15
