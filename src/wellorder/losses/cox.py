r"""Cox's partial likelihood: at each event, who was at risk, and whom it struck.

With risks :math:`\eta = -s` (a higher score lives longer) it is a sum of *terms*, one an event:

.. math:: R(s) = -\sum_{i: \text{event}} \omega_i \eta_i + \sum_q m_q \log T_q, \qquad
          T_q = \sum_{t_j \ge t_q} \omega_j e^{\eta_j} - f_q \sum_{j: \text{event at } t_q} \omega_j e^{\eta_j}

Of d events at one time Breslow takes f = 0, and Efron f = 0, 1/d, …, (d − 1)/d. Cox (1972), Regression models and
life-tables; Breslow (1974), Covariance analysis of censored survival data; Efron (1977), The efficiency of Cox's
likelihood function for censored data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ..order import Grades, Times
from ..sweeps import Bools, Floats, Ints, ranges, sums_at
from .risk import RiskAt

TiedEvents = Literal["efron", "breslow"]

_BLOCK = 1 << 14
"""Rows whose running sums of columns are held at a time."""


@dataclass(frozen=True)
class RiskSets:
    """Who was at risk when: rows by stratum and from the longest time to the shortest, so that a risk set is a stretch.

    Attributes
    ----------
    rows
        Which row stands where; rows of zero weight are left out.
    weight
        ω of each.
    starts
        Where the strata begin, and the end.
    struck
        The place of each row's event among the times with events, which are in the same order; −1 for a censored row.
    last
        Of each time with events: the place of the last row at risk.
    term_time, term_share, term_mass
        Of each term of the likelihood: its time, f and m.
    n_rows
        How many rows there are, left out or not.
    """

    rows: Ints
    weight: Floats
    starts: Ints
    struck: Ints
    last: Ints
    term_time: Ints
    term_share: Floats
    term_mass: Floats
    n_rows: int

    @property
    def n_times(self) -> int:
        """How many times have an event, in their strata."""
        return len(self.last)

    @cached_property
    def is_struck(self) -> Bools:
        """Whether each row's event was seen."""
        return self.struck >= 0

    @cached_property
    def first_time(self) -> Ints:
        """Of each row: the first of the times that it was at risk at."""
        return np.searchsorted(self.last, np.arange(len(self.rows)))

    @cached_property
    def time_starts(self) -> Ints:
        """Where each stratum's times begin, and the end."""
        return np.searchsorted(self.last, self.starts)

    @cached_property
    def stratum(self) -> Ints:
        """Of each row."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def at_risk(self, values: Floats) -> Floats:
        """Sum the values of the rows at risk, for each time."""
        running = np.cumsum(values)
        before = np.append(0.0, running)[self.starts[:-1]]
        return np.asarray(running[self.last] - before[self.stratum[self.last]])

    def while_at_risk(self, values: Floats) -> Floats:
        """Sum the values of the times that each row was at risk at."""
        rest = np.append(np.cumsum(values[::-1])[::-1], 0.0)  # from each time on
        return np.asarray(rest[self.first_time] - rest[self.time_starts[1:]][self.stratum])

    def at_times(self, values: Floats) -> Floats:
        """Sum the values of the rows that were struck, for each time."""
        return sums_at(self.struck[self.is_struck], values[self.is_struck], minlength=self.n_times)

    def of_struck(self, values: Floats) -> Floats:
        """Return, for each row that was struck, the value of its time; zero for the others."""
        return np.append(values, 0.0)[self.struck]

    def terms_at(self, values: Floats) -> Floats:
        """Sum the values of the terms of each time."""
        return sums_at(self.term_time, values, minlength=self.n_times)


def make_risk_sets(times: Grades, ties: TiedEvents = "efron") -> RiskSets:
    """Sort rows, and say how tied events are counted: O(n log n). Grades are times that all ended with an event."""
    time = times.time if isinstance(times, Times) else times.level.astype(float)
    seen = times.event if isinstance(times, Times) else np.ones(len(times), bool)
    given = times.row_weights
    group = times.list_codes
    counted = np.flatnonzero(times.is_judged & (given > 0))
    rows = counted[np.lexsort((-time[counted], group[counted]))]
    n, stratum, event, weight = len(rows), group[rows], seen[rows], given[rows]
    changes = np.flatnonzero(np.diff(stratum)) + 1
    opens = np.zeros(n, bool)
    opens[:1] = opens[changes] = True
    opens[1:] |= np.diff(time[rows]) != 0
    run, run_ends = np.cumsum(opens) - 1, np.append(np.flatnonzero(opens)[1:], n)
    has_event = np.bincount(run[event], minlength=len(run_ends)) > 0
    struck = np.where(event, (np.cumsum(has_event) - 1)[run], -1)
    last = run_ends[has_event] - 1
    count = np.bincount(struck[event], minlength=len(last))
    mass = sums_at(struck[event], weight[event], minlength=len(last))
    n_terms = count if ties == "efron" else np.ones_like(count)
    at = np.repeat(np.arange(len(last)), n_terms)
    share = ranges(np.zeros_like(n_terms), n_terms) / n_terms[at]
    starts = np.concatenate([[0], changes, [n]])
    return RiskSets(rows, weight, starts, struck, last, at, share, (mass / n_terms)[at], len(times))


def cox_risk(scores: Floats, sets: RiskSets) -> RiskAt:
    """Evaluate −log of the partial likelihood: O(n), once rows are sorted."""
    eta = -scores[sets.rows]
    eta -= np.maximum.reduceat(eta, sets.starts[:-1])[sets.stratum]  # of each stratum, only differences count
    p = sets.weight * np.exp(eta)
    struck = sets.at_times(p)
    total = sets.at_risk(p)[sets.term_time] - sets.term_share * struck[sets.term_time]
    if not (total > 0).all():  # scores so far apart that some were at no risk at all: a step to be shortened
        nowhere = np.full(sets.n_rows, np.nan)
        return RiskAt(np.inf, nowhere, lambda: nowhere, lambda u: nowhere)
    own = sets.term_mass / total
    hazard = _hazard(sets, own)
    bend = p * hazard
    value = float(sets.term_mass @ np.log(total)) - float(np.sum((sets.weight * eta)[sets.is_struck]))
    twice = own / total

    def diagonal() -> Floats:
        once = sets.terms_at(twice * sets.term_share * (2.0 - sets.term_share))
        curvature = sets.while_at_risk(sets.terms_at(twice)) - sets.of_struck(once)
        return _spread(sets, np.maximum(bend - p**2 * curvature, 0.0))

    def product(u: Floats) -> Floats:
        v = u[sets.rows]
        seen = sets.at_risk(p * v)[sets.term_time] - sets.term_share * sets.at_times(p * v)[sets.term_time]
        return _spread(sets, bend * v - p * _hazard(sets, twice * seen))

    return RiskAt(
        value=value,
        gradient=_spread(sets, np.where(sets.is_struck, sets.weight, 0.0) - bend),
        hessian_diagonal=diagonal,
        hessian_product=product,
        hessian_form=lambda U: _form(sets, p, bend, twice, U),
    )


def _hazard(sets: RiskSets, of_terms: Floats) -> Floats:
    """Sum the terms that each row has a part in, less the share of it that its own tied events have not."""
    here = sets.terms_at(of_terms)
    return sets.while_at_risk(here) - sets.of_struck(sets.terms_at(of_terms * sets.term_share))


def _spread(sets: RiskSets, values: Floats) -> Floats:
    out = np.zeros(sets.n_rows)
    out[sets.rows] = values
    return out


def _form(sets: RiskSets, p: Floats, bend: Floats, twice: Floats, U: Floats) -> Floats:
    """Return Uᵀ H U: Uᵀ diag(bend) U less Σ_q twice_q z_q z_qᵀ, z_q the sum of p u over the term's risk set."""
    out = np.zeros((U.shape[1], U.shape[1]))
    tied = _of_tied(sets, p, U)
    for a, b, running in _running_columns(sets, p, bend, U, out):
        times = slice(*np.searchsorted(sets.last, [a, b]))
        terms = slice(*np.searchsorted(sets.term_time, [times.start, times.stop]))
        z = running[sets.last[times] - a][sets.term_time[terms] - times.start]
        if tied is not None:
            z = z - tied[terms]
        out -= z.T @ (twice[terms, None] * z)
    return out


def _running_columns(
    sets: RiskSets, p: Floats, bend: Floats, U: Floats, out: Floats
) -> Iterator[tuple[int, int, Floats]]:
    """Yield the running sums of p u over each stratum, a block of rows at a time; add Uᵀ diag(bend) U to ``out``."""
    for begin, end in zip(sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True):
        carried = np.zeros(U.shape[1])
        for a in range(begin, end, _BLOCK):
            b = min(a + _BLOCK, end)
            V = U[sets.rows[a:b]]
            out += V.T @ (bend[a:b, None] * V)
            running = np.cumsum(p[a:b, None] * V, axis=0)
            running += carried
            carried = running[-1].copy()
            yield a, b, running


def _of_tied(sets: RiskSets, p: Floats, U: Floats) -> Any:
    """Return what each term takes off its risk set: f times the sum of p u over the tied events; None without ties."""
    some = np.flatnonzero(sets.term_share > 0)
    if not some.size:
        return None
    at = np.flatnonzero(sets.is_struck)
    table = sp.csr_array((p[at], (sets.struck[at], sets.rows[at])), shape=(sets.n_times, sets.n_rows))
    terms = sp.csr_array(
        (sets.term_share[some], (some, sets.term_time[some])), shape=(len(sets.term_share), sets.n_times)
    )
    return (terms @ table) @ U
