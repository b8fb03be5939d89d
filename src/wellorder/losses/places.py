"""The risk over the pairs of ranked lists, each weighed by what its swap would change in a metric at these scores."""

from __future__ import annotations

import numpy as np

from ..order import Grades
from ..sweeps import Floats, HeldLoss, Ints, PlacedLists, SwapTerms, place_sums
from .risk import SlopesAt


class PlaceRisk:
    r"""n/G · Σ_lists Σ |Δ_ij| ℓ(s_i − s_j) / Σ |Δ_ij|, over the G lists in which a swap changes something at all.

    Δ_ij is what the metric changes by if rows i and j swap places, at these very scores: its weights are held where the
    risk is differentiated. Without them the lists' lengths and riches would rule; n, the rows in those lists, makes
    steps mean the same as for other risks.
    """

    def __init__(self, loss: HeldLoss, grades: Grades, terms: SwapTerms) -> None:
        self._loss = loss
        group = grades.list_codes
        taking = np.ones(len(grades), bool) if grades.weight is None else grades.weight > 0
        rows = np.flatnonzero((grades.level >= 0) & taking)
        gain = terms.gain[grades.level[rows]]
        arranged = np.lexsort((gain, group[rows]))
        self._rows: Ints = rows[arranged]
        sizes = np.bincount(group[rows], minlength=grades.n_groups)
        bounds = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        drops = terms.drops[: int(sizes.max(initial=0))]
        self._places = PlacedLists(bounds, gain[arranged], np.ascontiguousarray(drops), terms.change)
        self._n_rows = len(grades)
        at_first = place_sums(self._places, np.zeros(len(self._rows)), loss).total > 0
        self._factor = np.where(at_first, 1.0, 0.0)
        self.n_lists = int(np.count_nonzero(at_first))
        counts = np.repeat(self._factor, np.diff(bounds))
        self.mass = float(counts.sum())
        self.weight: Floats = np.zeros(self._n_rows)
        """Of each row; zero where no swap of it changes anything."""
        self.weight[self._rows] = counts

    def __call__(self, scores: Floats) -> SlopesAt:
        """Return the risk at these scores, with the weights that the pairs have there."""
        found = place_sums(self._places, scores[self._rows], self._loss)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(found.total > 0, self._factor / found.total, 0.0) * (self.mass / max(self.n_lists, 1))
        of_row = np.repeat(share, np.diff(self._places.bounds))
        diagonal = self._spread(of_row * found.diagonal)
        with np.errstate(over="ignore", invalid="ignore"):
            value = float(share @ found.value)
        return SlopesAt(value, self._spread(of_row * found.gradient), lambda: diagonal)

    def _spread(self, values: Floats) -> Floats:
        out = np.zeros(self._n_rows)
        out[self._rows] = values
        return out

    def mean(self, scores: Floats, thresholds: Floats) -> float:
        """Return the mean risk of a list; there are no thresholds."""
        return self(scores).value / self.mass

    def thresholds(self, scores: Floats) -> Floats:
        """Return no thresholds."""
        return np.empty(0)
