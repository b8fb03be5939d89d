"""Random supervision for Hypothesis: ties, constants, empty and single groups, one level, tiny n."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import wellorder as wo
from tests.reference import pairs as reference


@dataclass
class Case:
    grades: wo.Grades
    group: np.ndarray
    weight: np.ndarray
    scores: np.ndarray
    below: np.ndarray | None = None
    """What rows weigh where they stand below, if that is something else than ``weight``."""

    @property
    def listed(self):
        table = self.grades.graph.weights
        return reference.list_pairs(self.grades.level, self.group, self.weight, table, self.below)


@st.composite
def cases(draw, max_rows=25, two_weights=False):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n = draw(st.integers(0, max_rows))
    n_levels = draw(st.sampled_from([1, 2, 3, 6, 1000]))
    y = rng.integers(0, n_levels, n) / draw(st.sampled_from([1, 3]))
    if draw(st.booleans()):
        y = np.where(rng.random(n) < 0.2, np.nan, y)
    group = rng.integers(0, draw(st.sampled_from([1, 2, 10])), n)
    weighted = draw(st.booleans())
    weight = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    scores = rng.standard_normal(n) * draw(st.sampled_from([0.0, 1.0, 3.0]))
    if draw(st.booleans()):
        scores = np.round(2 * scores) / 2  # tied scores, and pairs exactly one apart
    order = draw(st.sampled_from(["full", "chain", "linear", "dcg", "table"]))
    own = weight if weighted else None
    ends, above, below = {}, np.ones(n), None
    if two_weights and draw(st.booleans()):
        above, below = (rng.integers(0, 3, n).astype(float) for _ in range(2))
        ends = {"weights_above": above, "weights_below": below}
        if draw(st.booleans()):  # as censored times have it
            above = np.ones(n)
            del ends["weights_above"]
        below = weight * below
    grades_of = lambda order: wo.Grades(y % 40, group, order, own, **ends)  # noqa: E731
    if order == "table":
        r = len(grades_of("full").levels)
        place = rng.permutation(r)
        order = (np.triu(rng.random((r, r)), 1) * (rng.random((r, r)) < 0.5))[place][:, place]
    return Case(grades_of(order), group, weight * above, scores, below)
