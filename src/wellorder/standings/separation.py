r"""Votes without a finite estimate: who is infinitely far from whom, and how far at least.

An item that won every vote has no finite rating. With effects and ties there are more such cases than won-and-lost
graphs show (two items that each win only at home), so that they are found by a linear programme: along a direction t of
θ no vote becomes less likely if its own term grows at least as fast as the others,

.. math:: t_d \ge 0,\; \tfrac12 t_d \ge t_\nu \text{ (right won)}; \quad t_d \le 0,\; -\tfrac12 t_d \ge t_\nu
   \text{ (left won)}; \quad t_\nu \ge \tfrac12 |t_d| \text{ (a tie)}

Estimates are finite where only equalities are possible. Items between which all of these directions are level form a
*class*: within one, differences are finite. Between classes an interval has one end, from the likelihood ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.csgraph import breadth_first_order, connected_components

from ..sweeps import Bools, Floats, Ints
from .likelihood import Expansion, expand, most_likely, shares_of_islands, sparse_information, spread
from .sureness import inverse_if_sure, least_pivot
from .votes import Votes, merge

_THIN = 1e-6
"""An estimate may be infinite where its information is below this share of what its votes would have at even odds."""

_FAR = 40.0
"""Log-odds that are as good as infinite."""

_LONGEST = 4.0
"""A step of an interval's end, at most."""

_FINE = 3e-3
"""How exactly an interval's end is found."""

_LEVEL = 1e-9
"""How exactly a deviance is found, against the votes' weight."""

_WORK = 3e10
"""Operations for intervals with one end; about three seconds."""

_WORK_ON_PAIRS = 3e9
"""Operations for the pairs of items between classes."""

_FITS_AN_INTERVAL = 6

_MOST_CLASSES = 50
"""Classes that a linear programme asks for the side on which they are."""


def may_be_infinite(votes: Votes, bend: Floats, converged: bool) -> bool:
    """Say whether an estimate may be infinite: too little information on a parameter, or on several together."""
    even = sparse_information(
        votes, expand(votes, np.zeros(len(votes)), np.where(votes.fitted[-votes.n_kinds :], 0.0, -np.inf))
    ).diagonal()
    counted = votes.fitted & (even > 0)
    share = np.diag(bend)[counted] / even[counted]
    if not converged or (share < _THIN).any():
        return True
    scale = np.sqrt(np.maximum(even, 1e-300))
    scale = np.where(counted, scale, 1.0)
    return least_pivot((bend + shares_of_islands(votes)) / np.outer(scale, scale)) < _THIN


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of items with finite differences, and which effects are finite.

    Attributes
    ----------
    number : array of shape (n_items,)
        The class of each item.
    height : array of shape (n_items,)
        By which classes are ordered: infinitely higher ones are higher.
    core : array of bool, shape (n_items,)
        Whether the item is of its island's largest class, against whose mean ratings are told.
    known : array of bool, shape (n_items,)
        Whether it is known on which side of the core the item is.
    finite : array of bool, shape (n_effects + n_kinds,)
    level : array of shape (n_parameters, k)
        An orthonormal basis of the directions that no vote speaks against.
    """

    number: Ints
    height: Floats
    core: Bools
    known: Bools
    finite: Bools
    level: Floats

    def sides(self, votes: Votes) -> Floats:
        """Return 1 for items infinitely above their island's core, −1 for those below; 0 where that is not known."""
        core = np.zeros(int(votes.island.max(initial=0)) + 1)
        core[votes.island[self.core]] = self.height[self.core]
        return np.where(self.known & ~self.core, np.sign(self.height - core[votes.island]), 0.0)

    @property
    def is_finite(self) -> bool:
        """Whether every estimate is finite."""
        return bool(self.core.all() and self.finite.all())


def whole(votes: Votes) -> Classes:
    """Return the classes where every estimate is finite: the islands."""
    n = votes.n_items
    everything = np.ones(n, dtype=bool)
    finite = np.ones(votes.n_effects + votes.n_kinds, dtype=bool)
    return Classes(votes.island, np.zeros(n), everything, everything, finite, np.zeros((votes.n_parameters, 0)))


def find_classes(votes: Votes) -> Classes:
    """Find the items and effects whose estimates are infinite: by who won against whom, or by a linear programme.

    Without effects, and where some items have beaten each other in a circle (or nothing was tied), no direction moves
    ν: items are of one class if wins or ties lead from each to the other.
    """
    counted = votes.take(votes.weight > 0)
    won = _won_against(counted, ties=False)
    has_ties = bool((counted.outcome == 0).any())
    if votes.n_effects == 0 and (not has_ties or _has_circle(won)):
        return _classes_by_wins(votes, _won_against(counted, ties=True))
    return _classes_by_programme(votes)


# --------------------------------------------------------------------------------------------------
# By who won against whom.


def _won_against(votes: Votes, *, ties: bool) -> sp.csr_array:
    """Return a link from each winner to each loser, and with ``ties`` both ways between items that tied."""
    decided = votes.outcome != 0
    right_won = votes.outcome[decided] > 0
    left, right = votes.left[decided], votes.right[decided]
    above, below = np.where(right_won, right, left), np.where(right_won, left, right)
    if ties:
        one, other = votes.left[~decided], votes.right[~decided]
        above, below = np.r_[above, one, other], np.r_[below, other, one]
    links = sp.coo_array((np.ones(len(above)), (above, below)), shape=(votes.n_items,) * 2)
    return links.tocsr()


def _has_circle(links: sp.csr_array) -> bool:
    n_parts, _ = connected_components(links, directed=True, connection="strong")
    return bool(n_parts < links.shape[0])


def _classes_by_wins(votes: Votes, links: sp.csr_array) -> Classes:
    n_parts, part = connected_components(links, directed=True, connection="strong")
    n = votes.n_items
    between = links.tocoo()
    first, second = part[between.row], part[between.col]
    apart = first != second
    below = sp.coo_array(
        (np.ones(np.count_nonzero(apart)), (first[apart], second[apart])), shape=(n_parts,) * 2
    ).tocsr()
    core = _core(votes, part)
    known = core.copy()
    for each in np.unique(part[core]):
        for way in (below, below.T.tocsr()):
            reached = breadth_first_order(way, each, return_predecessors=False)
            known |= np.isin(part, reached)
    level = np.zeros((votes.n_parameters, n_parts))
    level[np.arange(n), part] = 1.0 / np.sqrt(np.bincount(part)[part])
    finite = np.ones(votes.n_effects + votes.n_kinds, dtype=bool)
    return Classes(np.asarray(part), _heights(below)[part], core, known, finite, level)


def _heights(below: sp.csr_array) -> Floats:
    """Return a height for each part, above all that lie below it: the number of parts on the longest way down."""
    height = np.zeros(below.shape[0])
    links = below.tocoo()
    # invariant: heights are those of ways of so many links at most; without circles they come to rest
    while True:
        new = height.copy()
        np.maximum.at(new, links.row, height[links.col] + 1.0)
        if (new == height).all():
            return height
        height = new


# --------------------------------------------------------------------------------------------------
# By a linear programme.


def _classes_by_programme(votes: Votes) -> Classes:
    rows = _rows(votes)
    slack, inside = _inner_direction(rows)
    still = rows[~slack].tocsr()
    level = _null_space(still, votes.fitted)
    n = votes.n_items
    number = _equal_rows(level[:n], votes.island)
    core = _core(votes, number)
    known = _known_sides(votes, rows, number, core)
    finite = np.linalg.norm(level[n:], axis=1) < 1e-7
    return Classes(number, inside[:n].copy(), core, known, finite, level)


def _rows(votes: Votes) -> sp.csr_array:
    """Return the constraints: rows a with a·t ≥ 0 for every direction t in which no vote becomes less likely."""
    counted = votes.take(votes.weight > 0)
    one = replace(counted, weight=np.ones(len(counted)), square=np.ones(len(counted)), judge=None, stands=None)
    distinct, _ = merge(one)
    n, p = votes.n_items, votes.n_effects
    count = len(distinct)
    row = np.arange(count)
    items = sp.csr_array((np.ones(count), (row, distinct.right)), shape=(count, n)) - sp.csr_array(
        (np.ones(count), (row, distinct.left)), shape=(count, n)
    )
    d = sp.csr_array(sp.hstack([items, sp.csr_array(distinct.z)], format="csr")) if p else items
    decided = np.flatnonzero(distinct.outcome != 0)
    toward = sp.csr_array(sp.diags_array(distinct.outcome[decided].astype(float)) @ d[decided])
    zero = sp.csr_array((len(decided), votes.n_kinds))
    blocks = [sp.hstack([toward, zero])]
    kinds = np.flatnonzero(votes.fitted[n + p :])
    for kind in kinds:
        unit = np.zeros(votes.n_kinds)
        unit[kind] = 1.0
        blocks.append(sp.hstack([0.5 * toward, sp.csr_array(np.tile(-unit, (len(decided), 1)))]))
        tied = d[np.flatnonzero(distinct.kind == kind)]
        own = sp.csr_array(np.tile(unit, (tied.shape[0], 1)))
        blocks += [sp.hstack([0.5 * tied, own]), sp.hstack([-0.5 * tied, own])]
        for other in kinds[kinds != kind]:
            against = np.zeros((1, votes.n_parameters))
            against[0, n + p + kind], against[0, n + p + other] = 1.0, -1.0
            blocks += [sp.csr_array(against)] if tied.shape[0] else []
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _inner_direction(rows: sp.csr_array) -> tuple[Bools, Floats]:
    """Return which constraints some direction keeps with room to spare, and a direction that does so for all of these.

    Each constraint's room counts up to one: as directions may be as long as they like, the sum is their number.
    """
    n_rows, n_columns = rows.shape
    keep = sp.hstack([-rows, sp.eye_array(n_rows)], format="csr")
    cost = np.r_[np.zeros(n_columns), -np.ones(n_rows)]
    bounds = np.column_stack(
        [np.r_[np.full(n_columns, -np.inf), np.zeros(n_rows)], np.r_[np.full(n_columns, np.inf), np.ones(n_rows)]]
    )
    found = linprog(cost, A_ub=keep, b_ub=np.zeros(n_rows), bounds=bounds, method="highs")
    if found.x is None:
        return np.zeros(n_rows, dtype=bool), np.zeros(n_columns)
    return found.x[n_columns:] > 0.5, found.x[:n_columns]


def _null_space(rows: sp.csr_array, fitted: Bools) -> Floats:
    """Return an orthonormal basis of the directions in which no row moves; parameters that are not fitted stay."""
    gram = (rows.T @ rows).toarray() + np.diag((~fitted).astype(float))
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors[:, values <= 1e-9 * max(float(values[-1]), 1.0)])


def _equal_rows(values: Floats, island: Ints) -> Ints:
    """Return numbers of items that are alike where items have the same row of values, and are of one island."""
    size = max(float(np.abs(values).max(initial=0.0)), 1.0)
    keys = np.column_stack([island, np.rint(values / size * 1e6)]) if values.shape[1] else island[:, None]
    return np.asarray(np.unique(keys, axis=0, return_inverse=True)[1]).reshape(-1)


def _core(votes: Votes, number: Ints) -> Bools:
    """Say which items are of their island's largest class: with most items or, of equals, with most votes."""
    n_members, n_votes = np.bincount(number), np.bincount(number, votes.per_item)
    best = np.lexsort((-n_votes, -n_members))
    rank = np.empty(len(best), np.int64)
    rank[best] = np.arange(len(best))
    first = np.full(int(votes.island.max(initial=0)) + 1, len(best))
    np.minimum.at(first, votes.island, rank[number])
    return np.asarray(rank[number] == first[votes.island])


def _known_sides(votes: Votes, rows: sp.csr_array, number: Ints, core: Bools) -> Bools:
    """Say of which items it is known on which side of the core they are: no direction leads to the other."""
    known = core.copy()
    inside_box = [(-1.0, 1.0)] * rows.shape[1]
    for each in np.unique(number[~core])[:_MOST_CLASSES]:
        member = int(np.flatnonzero(number == each)[0])
        anchor = int(np.flatnonzero(core & (votes.island == votes.island[member]))[0])
        cost = np.zeros(rows.shape[1])
        cost[member], cost[anchor] = 1.0, -1.0
        reach = [
            linprog(sign * cost, A_ub=-rows, b_ub=np.zeros(rows.shape[0]), bounds=inside_box).fun for sign in (1, -1)
        ]
        known[number == each] = not (reach[0] < -1e-6 and reach[1] < -1e-6)
    return known


# --------------------------------------------------------------------------------------------------
# How far at least.


@dataclass(frozen=True, eq=False)
class Summit:
    """The most that the likelihood can reach, and a point that is as good as there."""

    votes: Votes
    theta: Floats
    value: float
    alike: Floats
    """How many votes on each item stand for one, as they hang together."""

    def held(self, contrast: Floats, value: float, start: Floats | None = None) -> tuple[float, float, Floats]:
        """Return the deviance with a contrast of θ held at a value, its slope in that value, and θ there.

        A start should be close by; steps from the summit may lead nowhere, as it is level in many directions, and then
        zero is a better one.
        """
        best: tuple[float, Floats, Expansion] | None = None
        far = np.where(np.isfinite(self.theta), self.theta, 0.0)
        for point in ([far] if start is None else [start, far]) + [np.zeros(len(far))]:
            finite = np.where(np.isfinite(point), point, 0.0)
            moved = finite + contrast * ((value - float(contrast @ finite)) / float(contrast @ contrast))
            theta, at, converged = most_likely(self.votes, hold=contrast, start=moved, fine=_LEVEL)
            if best is None or at.value > best[0]:
                best = at.value, theta, at
            if converged:
                break
        assert best is not None
        reached, theta, at = best
        w = self.votes.weight
        push = float(contrast @ spread(self.votes, w * at.by_d, w[:, None] * at.by_tie)) / float(contrast @ contrast)
        of_items = contrast[: self.votes.n_items]
        concerned = self.alike[np.abs(of_items) >= 0.5] if of_items.any() else self.alike
        alike = float(concerned.max(initial=1.0))
        return max(2.0 * (self.value - reached), 0.0) / alike, -2.0 * push / alike, theta


@dataclass(frozen=True)
class OneEnded:
    """An interval for a contrast whose estimate is infinite; at least one end is infinite.

    ``middle`` stands in for the estimate where a number is needed: there, votes as one-sided as these have an even
    chance. ``further`` is where the end is with half of the chance to miss, or a little beyond; NaN without an end.
    """

    low: float
    high: float
    middle: float
    further: float


def one_ended(summit: Summit, contrast: Floats, level: float, side: float = 0.0) -> OneEnded:
    """Return the values of a contrast with which votes as one-sided as these have a chance of 1 − level or more.

    Where all votes went one way, their likelihood is that chance, and minus twice its logarithm the deviance. (The
    chi-square law of the deviance holds for finite estimates only, and would be too short here.) ``side`` says to which
    side the contrast is infinite, 1 or −1, if that is known; the interval's end is on the other one.
    """
    sure, even = -2.0 * math.log(1.0 - level), -2.0 * math.log(0.5)
    none = _Crossing(math.inf, 0.0, None)
    low = replace(none, value=-math.inf) if side < 0 else _crossing(summit, contrast, sure, -1.0)
    high = none if side > 0 else _crossing(summit, contrast, sure, 1.0, low)
    if math.isinf(low.value) and math.isinf(high.value):
        return OneEnded(low.value, high.value, 0.0, math.nan)
    end, sign = (low, -1.0) if math.isinf(high.value) else (high, 1.0)
    # the deviance is convex: on its tangent the next goal is reached a little later
    further = end.value + 2.0 * math.log(2.0) / end.slope if end.slope else sign * math.inf
    return OneEnded(low.value, high.value, _crossing(summit, contrast, even, sign, end).value, further)


@dataclass(frozen=True, eq=False)
class _Crossing:
    """Where the deviance reaches a goal: the value of the contrast, the deviance's slope, and θ there."""

    value: float
    slope: float
    theta: Floats | None


def _crossing(summit: Summit, contrast: Floats, goal: float, sign: float, near: _Crossing | None = None) -> _Crossing:
    """Return where the deviance reaches a goal, on the way down or up (``sign``); infinite where it does not.

    The deviance is convex, so that Newton's steps come to the crossing from beyond; a step is not longer than a few.
    The search begins ``near`` another crossing.
    """
    value = 0.0 if near is None or math.isinf(near.value) else near.value
    theta = None if near is None else near.theta
    low, high = -_FAR, _FAR
    slope = 0.0
    while high - low > _FINE:
        found, slope, theta = summit.held(contrast, value, theta)
        beyond = found > goal and sign * slope >= 0.0  # where the deviance falls, it is the other end that lies behind
        if sign * value >= _FAR and not beyond:
            return _Crossing(sign * math.inf, slope, theta)
        # invariant: the crossing is from low to high, but for one that is further than far
        low, high = (value, high) if beyond == (sign < 0) else (low, value)
        step = (goal - found) / slope if slope * sign > 0 else sign * _LONGEST
        if abs(step) < _FINE:
            return _Crossing(value + step, slope, theta)
        value = float(np.clip(value + np.clip(step, -_LONGEST, _LONGEST), -_FAR, _FAR))
        if not low <= value <= high:
            value = 0.5 * (low + high)
    return _Crossing(value, slope, theta)


def bounds_of(summit: Summit, classes: Classes, level: float) -> dict[int, OneEnded]:
    """Return the intervals of items outside their island's core, against its mean; of many, those with most votes."""
    votes, count = summit.votes, summit.votes.per_item
    outside = np.flatnonzero(~classes.core & (count > 0))
    outside = outside[np.argsort(-count[outside], kind="stable")][: _n_fits(votes, _WORK) // _FITS_AN_INTERVAL]
    sides = classes.sides(votes)
    return {
        int(item): one_ended(summit, against_core(votes, classes, int(item)), level, float(sides[item]))
        for item in outside
    }


def _n_fits(votes: Votes, work: float) -> int:
    """Return how many fits may be made: a fit costs its votes and the cube of its parameters, a few times."""
    return int(work / (5.0 * (votes.n_parameters**3 / 3.0 + 50.0 * len(votes)) + 1e6))


def against_core(votes: Votes, classes: Classes, item: int) -> Floats:
    """Return the contrast of an item with the mean of its island's core."""
    contrast = np.zeros(votes.n_parameters)
    members = classes.core & (votes.island == votes.island[item])
    contrast[: votes.n_items][members] = -1.0 / np.count_nonzero(members)
    contrast[item] += 1.0
    return contrast


def deviances_across(summit: Summit, classes: Classes) -> Floats:
    """Return 2(ℓ − ℓ with two items level) for items of different classes of an island; NaN where it was not computed.

    Its sign is that of the first item's lead. The pairs with most votes come first.
    """
    votes, theta = summit.votes, summit.theta
    n, count = votes.n_items, votes.per_item
    out = np.full((n, n), np.nan)
    same_island = votes.island[:, None] == votes.island
    first, second = np.nonzero(np.triu(same_island & (classes.number[:, None] != classes.number), 1))
    busiest = np.argsort(-np.minimum(count[first], count[second]), kind="stable")[: _n_fits(votes, _WORK_ON_PAIRS)]
    for a, b in zip(first[busiest], second[busiest], strict=True):
        contrast = np.zeros(votes.n_parameters)
        contrast[a], contrast[b] = 1.0, -1.0
        level = np.where(np.isfinite(theta), theta, 0.0)
        level[[a, b]] = level[b if classes.core[b] else a]  # the one that is far away comes, not the other
        found = summit.held(contrast, 0.0, level)[0]
        sign = np.sign(theta[a] - theta[b])
        out[a, b], out[b, a] = sign * found, -sign * found
    return out


def inverse_of_finite(votes: Votes, bend: Floats, classes: Classes) -> Floats:
    """Return A⁺ on what is finite: differences within classes, and the effects that no direction moves.

    With Q the projection on the directions that no vote speaks against, and P on all others, that is (PAP + Q)⁻¹ − Q.
    An item that is a class by itself is in Q as a whole, and has no part in the matrix.
    """
    finite = np.flatnonzero(votes.fitted & ((classes.level**2).sum(axis=1) < 1.0 - 1e-9))
    level = classes.level[finite]
    level = level[:, (level**2).sum(axis=0) > 1e-12]
    A = bend[np.ix_(finite, finite)]
    moved = A @ level
    A = A - moved @ level.T - level @ moved.T + level @ (level.T @ moved) @ level.T
    unit = float(np.trace(A)) / max(len(A), 1) or 1.0
    held = level @ level.T
    inner = inverse_if_sure(A + unit * held)
    if inner is None:
        inner = np.linalg.pinv(A, rcond=1e-12, hermitian=True)
    else:
        inner -= held / unit
    inverse = np.zeros(bend.shape)
    inverse[np.ix_(finite, finite)] = _less_class_means(inner, classes.number[finite[finite < votes.n_items]])
    return inverse


def _less_class_means(matrix: Floats, number: Ints) -> Floats:
    """Take the mean of each class off the rows and columns of its items, which come first."""
    n = len(number)
    of_class, member = np.unique(number, return_inverse=True)
    share = sp.csr_array((1.0 / np.bincount(member)[member], (member, np.arange(n))), shape=(len(of_class), n))
    for _ in range(2):
        matrix = matrix.T.copy()
        matrix[:n] -= (share @ matrix[:n])[member]
    return matrix
