"""Comparisons with ties: a risk of item scores, with the bias minimised out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..losses import Hinge, PairLoss, RiskAt, TiedPairs, tied_risk
from ..order import ListedPairs
from ..spaces import RowSpace, Space
from ..sweeps import Floats
from .coarse_to_fine import coarse_to_fine
from .cutting_plane import cutting_plane
from .problem import Objective, SolveResult, make_problem
from .rounding import round_off

_FEWEST_OF_A_KIND = 100
"""A sample has at least this many decided comparisons and this many ties."""


_SMALLEST_CORNER = 1e-9
"""Beyond this, floating point has the better of rounded corners."""


@dataclass(frozen=True)
class TieProblem(Objective):
    """Minimise ½‖f‖² + C · R(s), with R the risk of :func:`tied_risk`.

    Scores are of items, so that a product with X costs the same however often each item is compared.
    """

    space: Space
    pairs: TiedPairs
    loss: PairLoss
    strength: float

    def risk(self, scores: Floats) -> RiskAt:
        """Evaluate the loss at these scores, the bias minimised out."""
        return tied_risk(self.loss, scores, self.pairs)[0]

    @property
    def n_active(self) -> int:
        """How many comparisons take part."""
        return len(self.pairs)

    def sample(self, size: int, rng: np.random.Generator) -> TieProblem | None:
        """Draw comparisons, and keep the items that they compare."""
        if not isinstance(self.space, RowSpace):
            return None
        some = self.pairs.take(np.sort(rng.choice(len(self.pairs), size, replace=False)))
        if min(some.n_decided, some.n_ties) < _FEWEST_OF_A_KIND:
            return None
        rows, some = some.compact()
        strength = self.strength * float(self.pairs.weight.sum() / some.weight.sum())
        return TieProblem(self.space.take(rows), some, self.loss, strength)


def tied_svm(problem: TieProblem, *, tol: float = 1e-3, max_iter: int = 1000) -> SolveResult:
    """Minimise, a hinge until the duality gap is below ``tol`` times the objective.

    The hinge's corner is rounded off less and less; see :func:`round_off`. Without a single tie the bias alone would
    satisfy every comparison: it is left out then, which makes it a RankSVM.
    """
    if problem.pairs.n_ties == 0:
        return _ranked(problem, tol=tol, max_iter=max_iter)
    if not isinstance(problem.loss, Hinge):
        return coarse_to_fine(problem, tol=tol, max_iter=max_iter)
    hinge = problem.loss
    return round_off(
        problem,
        lambda width: replace(problem, loss=hinge.smoothed(width)),
        partial(coarse_to_fine, certain=True),
        start=None,
        tol=tol,
        max_iter=max_iter,
        steepness=hinge.steepness,
        smallest=min(_SMALLEST_CORNER, 0.01 * tol),
    ).result()


def _ranked(problem: TieProblem, *, tol: float, max_iter: int) -> SolveResult:
    pairs = problem.pairs
    listed = ListedPairs(pairs.high, pairs.low, pairs.weight, pairs.n_rows, float(pairs.weight.sum()))
    solver = cutting_plane if isinstance(problem.loss, Hinge) else coarse_to_fine
    return solver(make_problem(problem.space, listed, problem.loss, problem.strength), tol=tol, max_iter=max_iter)
