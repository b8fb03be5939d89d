"""Comparisons with ties: a risk of item scores, with the bias minimised out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..losses import Hinge, PairLoss, RiskAt, TiedPairs, tied_risk
from ..spaces import LinearSpace, Space
from ..sweeps import Floats
from .coarse_to_fine import coarse_to_fine
from .problem import Objective, SolveResult
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
        if not isinstance(self.space, LinearSpace):
            return None
        some = self.pairs.take(np.sort(rng.choice(len(self.pairs), size, replace=False)))
        if min(some.n_decided, some.n_ties) < _FEWEST_OF_A_KIND:
            return None
        rows, some = some.compact()
        strength = self.strength * float(self.pairs.weight.sum() / some.weight.sum())
        return TieProblem(self.space.take(rows), some, self.loss, strength)


def tied_svm(problem: TieProblem, *, tol: float = 1e-3, max_iter: int = 1000) -> SolveResult:
    """Minimise, a hinge until the duality gap is below ``tol`` times the objective.

    The hinge's corner is rounded off less and less; see :func:`round_off`.
    """
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
