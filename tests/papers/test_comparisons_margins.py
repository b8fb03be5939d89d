"""Figures 1 and 2 of 'support vector comparison machines': when the LP is the QP."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import wellorder as wo
from wellorder.evaluation import Record
from wellorder.papers import PAPERS
from wellorder.papers.comparisons import Compared, margins
from wellorder.papers.comparisons.margins import answer, can_be_scaled, draw, shortest
from wellorder.papers.running import PaperRun


@pytest.mark.parametrize("with_ties", [True, False])
def test_problems_are_separable_and_judged_on_other_pairs(with_ties):
    problem = draw(np.random.default_rng(0), 3, 20, with_ties)
    assert len(problem.train.outcome) == 20
    assert np.count_nonzero(problem.train.outcome == 0) == (10 if with_ties else 0)
    found = wo.CompareLP().fit(*problem.train)
    assert found.separable_
    assert np.isfinite(found.margin_) == with_ties
    seen = {tuple(row) for row in problem.train.differences}
    assert not seen & {tuple(row) for row in problem.test.differences}
    assert (problem.test.outcome == 0).any() == with_ties
    assert problem.standardised().train.items.std(axis=0) == pytest.approx(np.ones(3))


@pytest.mark.parametrize("seed", range(5))
def test_the_lp_has_the_larger_margin_and_knows_no_scale(seed):
    problem = draw(np.random.default_rng(seed), 3, 16, True)
    as_drawn, scaled = answer(problem), answer(problem.standardised())
    assert as_drawn.ratio <= 1 + 1e-6
    assert as_drawn.margin == pytest.approx(scaled.margin, rel=1e-6)
    assert as_drawn.errors()[0] == pytest.approx(scaled.errors()[0], abs=2e-3)
    assert answer(draw(np.random.default_rng(seed), 1, 16, True)).are_one


def test_without_ties_the_qp_is_the_shortest_vector():
    D = np.random.default_rng(0).uniform(0.1, 2.0, (12, 3)) + np.array([0.5, 0.0, -0.4])
    u = shortest(D)
    slow = minimize(
        lambda u: u @ u, np.ones(3) * 9, constraints={"type": "ineq", "fun": lambda u: D @ u - 1}, tol=1e-12
    )
    assert u == pytest.approx(slow.x, abs=1e-4)
    assert (D @ u).min() == pytest.approx(1.0)


def test_where_some_scale_makes_both_one_it_is_known():
    scales = 10.0 ** np.linspace(-4, 4, 33)
    tried = []
    for seed in range(10):
        found = answer(draw(np.random.default_rng(seed), 2, 8, True))
        others = [found.problem._replace(train=_scaled(found.problem.train, scale)) for scale in scales]
        tried.append(any(answer(other).are_one for other in others))
        assert can_be_scaled(found) >= tried[-1]
    assert any(tried)
    hard = [answer(draw(np.random.default_rng(seed), 10, 20, True)) for seed in range(10)]
    assert len({can_be_scaled(found) for found in hard}) == 2


def _scaled(pairs: Compared, scale: float) -> Compared:
    spread = pairs.items.std(axis=0)
    return Compared(pairs.pairs / spread * np.array([1.0, scale]), pairs.outcome)


def test_figures_one_and_two_are_made_of_records(monkeypatch):
    monkeypatch.setattr(margins, "COLUMNS", (1, 3))
    monkeypatch.setattr(margins, "SIZES", (12,))
    part = PAPERS["comparisons"].parts["figures-1-2"]
    records = part.run(PaperRun(None, quick=True, n_jobs=1))
    assert len(records) == 2 * 2 * 2 + 2
    one = next(each for each in records if each.data == "figure 1")
    assert one.metrics["separable"] == 0
    assert one.metrics["margin"] > 0
    two = next(each for each in records if each.data == "figure 2")
    assert two.metrics["ratio"] < 0.95 < 0.999 < two.metrics["scaled_ratio"]
    lines = list(part.lines([Record.from_json(each.to_json()) for each in records]))
    assert sum(line.startswith("| 1 | 12 | as drawn | 100.0% | 1.000, 1.000 |") for line in lines) == 1
    assert sum(line.startswith("| 3 | 12 |") for line in lines) == 4
