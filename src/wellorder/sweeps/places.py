r"""What swapping two rows of a ranked list changes in a metric, summed over all such pairs; ties in exact expectation.

Every metric here is Σ_p D_p · (something of the rows in the first p places), and what a swap of rows i and j changes is

    |Δ_ij| = |g_i − g_j| · Σ_p δ_p · 1[one of i, j stands in the first p places, the other does not] · φ(others in them)

with δ_p = D_p − D_{p+1} ≥ 0 (δ_k = D_k, and nothing beyond k), and

    "discounts"  φ = 1                      NDCG, precision
    "precisions" φ = 1 + relevant ones      average precision
    "cascade"    φ = Π (1 − g)              expected reciprocal rank; reciprocal rank, where g is 1 or 0

A swap that brings the better row up never harms, so that Δ has the same sign in all orders of tied rows, and E|Δ| is an
expectation over which rows of the one run that ends beyond place p are in the first p of them. Rows of one run and one
g are a *cell*: all pairs of two cells weigh the same and lie equally far apart. Only cells of the first k places are
paired with others; what stands below is paired with all of them, row by row. The last run that reaches the top may be
long (all rows, before the first tree): its sums with the rows below it, and within it, are running sums, as rows lie in
the order of g. O(n·k) a list without ties, O(n) where one run is all.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import expit

from .arrays import Floats, Ints, ranges, sums_at
from .dispatch import THREADS_FROM, jit, parallel_map, use_compiled

Change = Literal["discounts", "precisions", "cascade"]
"""How a metric changes with a swap: its φ."""

HeldLoss = Literal["exponential", "logistic", "squared_hinge"]
"""Losses of pairs that are summed here."""

_LOSSES: tuple[HeldLoss, ...] = ("exponential", "logistic", "squared_hinge")

_PARTS = 4
"""Long work is cut into this many parts; what a list adds up to does not hang on it."""


class SwapTerms(NamedTuple):
    """What a metric says of a swap, but for a factor a list, which goes where its weights are made to sum to one."""

    change: Change
    gain: Floats
    """g of each level."""
    drops: Floats
    """δ_p of the places 1, …, k; as many as the longest list has, where there is no cut-off."""


class PlacedLists(NamedTuple):
    """Lists with what a metric sees in their rows, and what it takes off from place to place."""

    bounds: Ints
    """Where each list begins, and the end."""
    gain: Floats
    """g of each row; rising within each list."""
    drops: Floats
    """δ_p for p = 1, …, k; k is at most the longest list."""
    change: Change


# Numba's files on disk name the classes that compiled functions take: one that is renamed would be looked for in vain
# by whoever has files of before. Keep these four names.


class _ScoredLists(NamedTuple):
    """What the compiled sweeps read of lists."""

    bounds: Ints
    gain: Floats
    drops: Floats
    score: Floats  # of each row


class _Runs(NamedTuple):
    """Runs of equal scores that reach into the first k places, and their cells; list g has room from bounds[g] on."""

    n_runs: Ints  # of each list
    n_cells: Ints
    score: Floats  # of each run
    begin: Ints  # how many rows stand above each run
    size: Ints
    first: Ints  # the first cell of each run
    stop: Ints  # the end of its cells
    gain: Floats  # of each cell
    n_in_cell: Ints
    of_row: Ints  # the cell of each row; −1: below the first k places


class _Weights(NamedTuple):
    """E|Δ| / |g_c − g_e| of two cells: start_c + scale_c · (Σ mid over the runs between + end_e), at c's variant."""

    start: Floats  # of each cell
    scale: Floats
    variant: Ints
    end: Floats  # two lines, one a variant
    mid: Floats  # of each run; two lines
    inside: Floats  # of each run: two cells of it, where that does not hang on which
    table: Floats  # of each two cells of one run, where it does; list by list, the cells' lines side by side
    table_at: Ints  # where each list's part of it begins


class _Sums(NamedTuple):
    """What is being summed: of each list, of each row, of each cell."""

    value: Floats
    total: Floats
    gradient: Floats
    diagonal: Floats
    pull: Floats  # of a cell: Σ −∂/∂s
    bend: Floats  # its curvature
    weight: Floats  # what it weighs with any row below the first k places, beside the difference of gains


class PlaceSums(NamedTuple):
    """Σ |Δ| ℓ over each list, Σ |Δ|, and the gradient and the Hessian diagonal of the former, a row."""

    value: Floats
    total: Floats
    gradient: Floats
    diagonal: Floats


def place_sums(places: PlacedLists, scores: Floats, loss: HeldLoss) -> PlaceSums:
    """Sum a loss over all pairs, weighed by what their swap would change at these scores."""
    n = len(scores)
    if places.change != "cascade" and not use_compiled(_n_pairs(places) // _PAIRS_A_ROW):
        return _sums_by_pairs(places, scores, loss)
    whole = [(places, slice(0, n))]
    parts = parallel_map(lambda part: _part_sums(part, scores, loss), whole if n < THREADS_FROM else _cut(places), n)
    return PlaceSums(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _cut(places: PlacedLists) -> list[tuple[PlacedLists, slice]]:
    """Cut the lists into parts of about as many rows."""
    bounds = places.bounds
    cuts = np.searchsorted(bounds, [int(bounds[-1]) * part // _PARTS for part in range(1, _PARTS)])
    ends = np.unique([0, *cuts.tolist(), len(bounds) - 1]).tolist()
    parts = []
    for a, b in pairwise(ends):
        rows = slice(int(bounds[a]), int(bounds[b]))
        parts.append((places._replace(bounds=bounds[a : b + 1] - bounds[a], gain=places.gain[rows]), rows))
    return parts


def _part_sums(part: tuple[PlacedLists, slice], scores: Floats, loss: HeldLoss) -> PlaceSums:
    places, rows = part
    n, n_lists = len(places.gain), len(places.bounds) - 1
    lists = _ScoredLists(places.bounds, places.gain, places.drops, scores[rows])
    order = np.arange(n) if len(places.drops) <= _FEW_PLACES else _by_score(lists.bounds, lists.score)
    runs = _Runs(
        n_runs=np.zeros(n_lists, np.int64),
        n_cells=np.zeros(n_lists, np.int64),
        score=np.zeros(n),
        begin=np.zeros(n, np.int64),
        size=np.zeros(n, np.int64),
        first=np.zeros(n, np.int64),
        stop=np.zeros(n, np.int64),
        gain=np.zeros(n),
        n_in_cell=np.zeros(n, np.int64),
        of_row=np.zeros(n, np.int64),
    )
    _find_runs(lists, order, int(min(len(places.drops), np.diff(places.bounds).max(initial=0))), runs)
    _count_cells(lists, np.zeros(n), runs)
    _fill_cells(lists, np.zeros(n, np.int64), runs)
    weights = _weigh(places.change, lists, runs)
    sums, kind = _Sums(*np.zeros((2, n_lists)), *np.zeros((5, n))), _LOSSES.index(loss)
    _visit_tops(kind, lists, runs, weights, sums)
    below = runs.of_row < 0
    if not below.any():
        return PlaceSums(sums.value, sums.total, -sums.pull[runs.of_row], sums.bend[runs.of_row])
    _visit_below(kind, lists, runs, sums)
    for turn in range(2):
        _visit_last(kind, turn, lists, runs, sums)
    gradient = np.where(below, sums.gradient, -sums.pull[runs.of_row])
    diagonal = np.where(below, sums.diagonal, sums.bend[runs.of_row])
    return PlaceSums(sums.value, sums.total, gradient, diagonal)


_FEW_PLACES = 128
"""Up to so many first places are picked out one by one; more by sorting."""


def _by_score(bounds: Ints, scores: Floats) -> Ints:
    """Sort each list's rows so that the highest come last: they are looked at from the end."""
    return np.lexsort((scores, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))))


def _weigh(change: Change, lists: _ScoredLists, runs: _Runs) -> _Weights:
    """Put together what the weights of pairs of cells are made of."""
    n, n_lists = len(lists.gain), len(lists.bounds) - 1
    table_at = np.zeros(n_lists + 1, np.int64)
    if change == "cascade":
        squares = (runs.stop - runs.first) ** 2
        np.cumsum(np.add.reduceat(squares, lists.bounds[:-1]), out=table_at[1:])
    weights = _Weights(
        start=np.zeros(n),
        scale=np.ones(n),
        variant=np.zeros(n, np.int64),
        end=np.zeros((2, n)),
        mid=np.zeros((2, n)),
        inside=np.zeros(n),
        table=np.zeros(int(table_at[-1])),
        table_at=table_at,
    )
    if change == "discounts":
        _weigh_discounts(lists, runs, weights)
    elif change == "precisions":
        _weigh_precisions(lists, runs, weights)
    else:
        _weigh_cascade(lists, runs, weights, np.zeros((3, len(lists.drops) + 2)), -1)
    return weights


# --------------------------------------------------------------------------------------------------
# Few pairs, one by one, in NumPy: nobody waits for a compiler. A cascade's expectations over ties are compiled always.


_PAIRS_A_ROW = 10
"""So many pairs are as much work, in NumPy, as a row of other sweeps."""


def _n_pairs(places: PlacedLists) -> int:
    """Count the pairs of rows that are visited where all rows of each list are tied: no more than that."""
    sizes = np.diff(places.bounds)
    return int((sizes * (sizes - 1) // 2).sum())


class _RankedRows(NamedTuple):
    """Rows from the top of each list to its end, in runs of equal scores; a run's number is its place among all."""

    list_of: Ints  # of each row
    score: Floats
    gain: Floats
    run: Ints
    begin: Ints  # of each run: how many rows of its list stand above
    size: Ints
    relevant: Floats  # of each run: the sum of its gains
    found: Floats  # and of those above it in the list


def _sums_by_pairs(places: PlacedLists, scores: Floats, loss: HeldLoss) -> PlaceSums:
    """Sum over listed pairs with a row in a run that reaches into the first k places."""
    n, n_lists = len(scores), len(places.bounds) - 1
    order, rows = _from_the_top(places, scores)
    stop = places.bounds[1:][rows.list_of]
    n_below = np.where(rows.begin[rows.run] < len(places.drops), stop - np.arange(n) - 1, 0)
    above, below = np.repeat(np.arange(n), n_below), ranges(np.arange(n) + 1, n_below)
    apart = rows.gain[above] - rows.gain[below]
    some = apart != 0.0
    above, below, apart = above[some], below[some], apart[some]
    weigh = _discount_weights if places.change == "discounts" else _precision_weights
    weight, side = np.abs(apart) * weigh(places.drops, rows, above, below), np.sign(apart)
    value, slope, bend = (weight * each for each in _losses(loss, side * (rows.score[above] - rows.score[below])))
    pull = sums_at(above, side * slope, minlength=n) - sums_at(below, side * slope, minlength=n)
    diagonal = sums_at(above, bend, minlength=n) + sums_at(below, bend, minlength=n)
    back = np.empty(n, np.int64)
    back[order] = np.arange(n)
    at = rows.list_of[above]
    risk, total = sums_at(at, value, minlength=n_lists), sums_at(at, weight, minlength=n_lists)
    return PlaceSums(risk, total, -pull[back], diagonal[back])


def _from_the_top(places: PlacedLists, scores: Floats) -> tuple[Ints, _RankedRows]:
    n, bounds = len(scores), places.bounds
    list_of = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    order = np.lexsort((-scores, list_of))
    score, gain = scores[order], places.gain[order]
    is_first = np.ones(n, dtype=bool)
    is_first[1:] = (list_of[1:] != list_of[:-1]) | (score[1:] != score[:-1])
    first, run = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    size, relevant = np.bincount(run), sums_at(run, gain)
    upto, list_of_run = np.cumsum(relevant) - relevant, list_of[first]
    begins_list = np.searchsorted(list_of_run, list_of_run)
    rows = _RankedRows(list_of, score, gain, run, first - bounds[list_of_run], size, relevant, upto - upto[begins_list])
    return order, rows


def _reached(drops: Floats, rows: _RankedRows) -> tuple[Ints, Floats, Floats]:
    """Return, of each place that a run reaches, the run, t of its rows that stand there or above, and δ."""
    n_reached = np.clip(len(drops) - rows.begin, 0, rows.size)
    place = ranges(rows.begin, n_reached)
    run = np.repeat(np.arange(len(rows.size)), n_reached)
    return run, place - rows.begin[run] + 1.0, drops[place]


def _discount_weights(drops: Floats, rows: _RankedRows, above: Ints, below: Ints) -> Floats:
    """As in :func:`_weigh_discounts`."""
    run, t, drop = _reached(drops, rows)
    m, n_runs = rows.size[run].astype(float), len(rows.size)
    left = np.append(np.cumsum(drops[::-1])[::-1], 0.0)  # Σ δ from each place on
    end = np.minimum(rows.begin + rows.size, len(drops))
    mean = sums_at(run, drop * t / m, minlength=n_runs) + left[end]
    inside = sums_at(run, drop * 2.0 * t * (m - t) / (m * np.maximum(m - 1.0, 1.0)), minlength=n_runs)
    of_above, of_below = rows.run[above], rows.run[below]
    return np.where(of_above == of_below, inside[of_above], mean[of_above] - mean[of_below])


def _precision_weights(drops: Floats, rows: _RankedRows, above: Ints, below: Ints) -> Floats:
    """As in :func:`_weigh_precisions`."""
    run, t, drop = _reached(drops, rows)
    m, h, found = rows.size[run].astype(float), rows.relevant[run], rows.found[run]
    others, others_2 = np.maximum(m - 1.0, 1.0), np.maximum(m - 2.0, 1.0)

    def over_places(values: Floats) -> Floats:
        return sums_at(run, drop * values, minlength=len(rows.size))

    in_hit = over_places(t / m * (1.0 + found + (t - 1.0) * (h - 1.0) / others))
    in_miss = over_places(t / m * (1.0 + found + (t - 1.0) * h / others))
    out_hit = over_places((m - t) / m * (1.0 + found + t * (h - 1.0) / others))
    out_miss = over_places((m - t) / m * (found + t * h / others))
    plain = over_places(found + t * h / m)
    mixed = over_places(2.0 * t * (m - t) / (m * others) * (1.0 + found + (t - 1.0) * (h - 1.0) / others_2))
    upto, ones_upto = np.cumsum(plain), np.cumsum(over_places(np.ones(len(t))))
    a, b = rows.run[above], rows.run[below]
    is_hit = rows.gain[above] > 0.0
    between = upto[b - 1] - upto[a] + np.where(is_hit, 0.0, ones_upto[b - 1] - ones_upto[a])
    ends = np.where(is_hit, in_hit[a] + out_miss[b], in_miss[a] + out_hit[b])
    return np.where(a == b, mixed[a], ends + between)


def _losses(loss: HeldLoss, d: Floats) -> tuple[Floats, Floats, Floats]:
    """Return ℓ(d), −ℓ'(d) and ℓ''(d), as :func:`_loss` does."""
    if loss == "exponential":
        with np.errstate(over="ignore"):
            value = np.exp(-d)
        return value, value, value
    if loss == "logistic":
        down = expit(-d)
        return np.logaddexp(0.0, -d), down, down * (1.0 - down)
    short = np.maximum(1.0 - d, 0.0)
    return short * short, 2.0 * short, np.where(d < 1.0, 2.0, 0.0)


# --------------------------------------------------------------------------------------------------
# Compiled. Arrays are made outside: whoever asks first waits for the compiler.


@jit
def _find_runs(lists: _ScoredLists, order: Ints, k: int, runs: _Runs) -> None:
    """Find the runs of the first k places of each list, from the top."""
    for g in range(len(lists.bounds) - 1):
        start, kept = lists.bounds[g], 0
        # invariant: the first ``kept`` of the list's entries are the highest scores so far, at most k, falling
        for at in range(lists.bounds[g + 1] - 1, start - 1, -1):
            s = lists.score[order[at]]
            if kept == k:
                if s <= runs.score[start + k - 1]:
                    continue
                j = start + k - 1
            else:
                j = start + kept
                kept += 1
            while j > start and runs.score[j - 1] < s:
                runs.score[j] = runs.score[j - 1]
                j -= 1
            runs.score[j] = s
        n_runs = 1
        for j in range(start + 1, start + kept):
            if runs.score[j] != runs.score[start + n_runs - 1]:
                runs.score[start + n_runs] = runs.score[j]
                n_runs += 1
        runs.n_runs[g] = n_runs


@jit
def _count_cells(lists: _ScoredLists, last: Floats, runs: _Runs) -> None:
    """Find the run of each row, and count each run's rows and cells; ``last`` is room for a gain a run.

    Rows come by rising gain: a run's cells come one after the other.
    """
    for g in range(len(lists.bounds) - 1):
        start, n_runs = lists.bounds[g], runs.n_runs[g]
        for row in range(start, lists.bounds[g + 1]):
            s = lists.score[row]
            runs.of_row[row] = -1
            if s < runs.score[start + n_runs - 1]:
                continue
            low, high = start, start + n_runs - 1
            while low < high:
                middle = (low + high) // 2
                if runs.score[middle] <= s:
                    high = middle
                else:
                    low = middle + 1
            runs.of_row[row] = low  # for now: its run
            if runs.size[low] == 0 or lists.gain[row] != last[low]:
                runs.stop[low] += 1  # for now: how many cells
                last[low] = lists.gain[row]
            runs.size[low] += 1


@jit
def _fill_cells(lists: _ScoredLists, last: Ints, runs: _Runs) -> None:
    """Say where each run and its cells begin, and put the rows into them; ``last`` is room for a cell a run."""
    for g in range(len(lists.bounds) - 1):
        start, cells, rows = lists.bounds[g], lists.bounds[g], 0
        for run in range(start, start + runs.n_runs[g]):
            runs.first[run] = cells
            cells += runs.stop[run]
            runs.stop[run] = cells
            runs.begin[run] = rows
            rows += runs.size[run]
            last[run] = runs.first[run] - 1
        for row in range(start, lists.bounds[g + 1]):
            run = runs.of_row[row]
            if run < 0:
                continue
            cell = last[run]
            if cell < runs.first[run] or runs.gain[cell] != lists.gain[row]:
                cell += 1
                runs.gain[cell] = lists.gain[row]
                last[run] = cell
            runs.n_in_cell[cell] += 1
            runs.of_row[row] = cell


# ----------------------------------------------------------------------------------- what pairs weigh


@jit
def _weigh_discounts(lists: _ScoredLists, runs: _Runs, weights: _Weights) -> None:
    """Between two runs the difference of their mean discounts; inside a run the mean difference."""
    drops = lists.drops
    for g in range(len(runs.n_runs)):
        offset = lists.bounds[g]
        below = 0.0  # Σ δ over the places from this run's end on, of those that any run reaches
        for run in range(offset + runs.n_runs[g] - 1, offset - 1, -1):
            m, mean, mixed = runs.size[run], 0.0, 0.0
            last = min(m, len(drops) - runs.begin[run])
            for t in range(last, 0, -1):
                drop = drops[runs.begin[run] + t - 1]
                mean += drop * t / m
                mixed += drop * 2.0 * t * (m - t) / (m * max(m - 1.0, 1.0))
            for cell in range(runs.first[run], runs.stop[run]):
                weights.start[cell] = mean + below
                weights.end[0, cell] = -(mean + below)
            for t in range(1, last + 1):
                below += drops[runs.begin[run] + t - 1]
            weights.inside[run] = mixed


@jit
def _weigh_precisions(lists: _ScoredLists, runs: _Runs, weights: _Weights) -> None:
    """Variant 1: the relevant row of the pair stands above, so that one of those counted is itself."""
    drops = lists.drops
    for g in range(len(runs.n_runs)):
        found = 0.0
        for run in range(lists.bounds[g], lists.bounds[g] + runs.n_runs[g]):
            m, h = float(runs.size[run]), 0.0
            for cell in range(runs.first[run], runs.stop[run]):
                h += runs.gain[cell] * runs.n_in_cell[cell]
            in_hit, in_miss, out_hit, out_miss, between, mixed, sum_drops = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for t in range(1, min(runs.size[run], len(drops) - runs.begin[run]) + 1):
                drop = drops[runs.begin[run] + t - 1]
                others, others_2 = max(m - 1.0, 1.0), max(m - 2.0, 1.0)
                in_hit += drop * t / m * (1.0 + found + (t - 1.0) * (h - 1.0) / others)
                in_miss += drop * t / m * (1.0 + found + (t - 1.0) * h / others)
                out_hit += drop * (m - t) / m * (1.0 + found + t * (h - 1.0) / others)
                out_miss += drop * (m - t) / m * (found + t * h / others)
                between += drop * (found + t * h / m)
                mixed += drop * 2.0 * t * (m - t) / (m * others) * (1.0 + found + (t - 1.0) * (h - 1.0) / others_2)
                sum_drops += drop
            for cell in range(runs.first[run], runs.stop[run]):
                relevant = runs.gain[cell] > 0.0
                weights.variant[cell] = 1 if relevant else 0
                weights.start[cell] = in_hit if relevant else in_miss
                weights.end[0, cell] = out_hit  # of a relevant row below one that is not
                weights.end[1, cell] = out_miss
            weights.mid[0, run] = between + sum_drops
            weights.mid[1, run] = between
            weights.inside[run] = mixed
            found += h


@jit
def _chances(
    gain: Floats, count: Ints, start: int, stop: int, without: int, and_without: int, length: int, out: Floats
) -> None:
    """Fill out[t] with the mean of Π (1 − g) over t rows drawn from some cells, less a row of one or two of them."""
    for t in range(length + 1):
        out[t] = 0.0
    out[0] = 1.0
    m = 0
    for cell in range(start, stop):
        stays = 1.0 - gain[cell]
        times = count[cell] - (1 if cell == without else 0) - (1 if cell == and_without else 0)
        for _ in range(times):
            m += 1
            # a row more: it is among t of m with probability t/m
            for t in range(min(m, length), 0, -1):
                out[t] = ((m - t) * out[t] + t * stays * out[t - 1]) / m


@jit
def _less_one(whole: Floats, m: int, stays: float, length: int, out: Floats) -> None:
    """Undo the step of :func:`_chances` for one of m rows; stable where ``length`` is less than half of m."""
    out[0] = 1.0
    for t in range(1, length + 1):
        out[t] = (m * whole[t] - t * stays * out[t - 1]) / (m - t)


@jit
def _weigh_cascade(lists: _ScoredLists, runs: _Runs, weights: _Weights, room: Floats, nobody: int) -> None:
    """Variant 1: the row that stands above has 1 − g = 0, which all below it owe to this row alone."""
    whole, less = room[0], room[1]
    for g in range(len(runs.n_runs)):
        going_on, ends = 1.0, 0
        entry = weights.table_at[g]
        for run in range(lists.bounds[g], lists.bounds[g] + runs.n_runs[g]):
            low, high, m = runs.first[run], runs.stop[run], runs.size[run]
            drops = lists.drops[runs.begin[run] : runs.begin[run] + m]
            plain = going_on if ends == 0 else 0.0
            freed = going_on if ends == 1 else 0.0
            _chances(runs.gain, runs.n_in_cell, low, high, nobody, nobody, len(drops), whole)
            between = 0.0
            for t in range(1, len(drops) + 1):
                between += drops[t - 1] * whole[t]
            weights.mid[0, run], weights.mid[1, run] = plain * between, freed * between
            for cell in range(low, high):
                stays = 1.0 - runs.gain[cell]
                if m >= 2 * len(drops) + 3:
                    _less_one(whole, m, stays, len(drops), less)
                else:
                    _chances(runs.gain, runs.n_in_cell, low, high, cell, nobody, len(drops), less)
                is_in, is_out = 0.0, 0.0
                for t in range(1, len(drops) + 1):
                    is_in += drops[t - 1] * t / m * less[t - 1]
                    if t < m:
                        is_out += drops[t - 1] * (m - t) / m * less[t]
                weights.start[cell] = plain * is_in
                weights.end[0, cell], weights.end[1, cell] = plain * is_out, freed * is_out
                weights.variant[cell] = 1 if stays == 0.0 else 0
                weights.scale[cell] = 1.0 if stays == 0.0 else 1.0 / stays
                line = weights.table[entry + (cell - low) * (high - low) :]
                _weigh_with(runs.gain, runs.n_in_cell, low, high, cell, m, plain, drops, less, room[2], line)
            entry += (high - low) ** 2
            for cell in range(low, high):
                for _ in range(runs.n_in_cell[cell]):
                    if runs.gain[cell] == 1.0:
                        ends += 1
                    else:
                        going_on *= 1.0 - runs.gain[cell]


@jit
def _weigh_with(
    gain: Floats,
    count: Ints,
    low: int,
    high: int,
    cell: int,
    m: int,
    factor: float,
    drops: Floats,
    less: Floats,
    room: Floats,
    line: Floats,
) -> None:
    """Weigh a cell of a run of m rows with the later cells of the run; ``less`` is what _chances says without it."""
    length = len(drops)
    for other in range(cell + 1, high):
        if m >= 2 * length + 3:
            _less_one(less, m - 1, 1.0 - gain[other], length, room)
        else:
            _chances(gain, count, low, high, cell, other, length, room)
        both = 0.0
        for t in range(1, min(length, m - 1) + 1):
            both += drops[t - 1] * 2.0 * t * (m - t) / (m * (m - 1.0)) * room[t - 1]
        line[other - low] = factor * both


# ---------------------------------------------------------------------------------- what they add up to


@jit
def _loss(kind: int, d: float) -> tuple[float, float, float]:
    """Return ℓ(d), −ℓ'(d) and ℓ''(d): of a pair whose better row is d above the other."""
    if kind == 0:
        value = math.exp(-d)
        return value, value, value
    if kind == 1:
        if d > 0:
            small = math.exp(-d)
            down = small / (1.0 + small)
            return math.log1p(small), down, down * (1.0 - down)
        small = math.exp(d)
        down = 1.0 / (1.0 + small)
        return math.log1p(small) - d, down, down * (1.0 - down)
    if d < 1.0:
        short = 1.0 - d
        return short * short, 2.0 * short, 2.0
    return 0.0, 0.0, 0.0


@jit
def _add_table(
    kind: int,
    table: Floats,
    low: int,
    high: int,
    gain: Floats,
    count: Ints,
    pull: Floats,
    bend: Floats,
    risk: float,
    mass: float,
) -> tuple[float, float]:
    """Add the pairs of two cells of one run, at d = 0, where what they weigh is in a table."""
    value_0, slope_0, bend_0 = _loss(kind, 0.0)
    for c in range(low, high):
        for e in range(c + 1, high):
            w = table[(c - low) * (high - low) + e - low] * (gain[e] - gain[c])
            pull[e] += w * count[c] * slope_0
            pull[c] -= w * count[e] * slope_0
            bend[e] += w * count[c] * bend_0
            bend[c] += w * count[e] * bend_0
            mass += w * count[c] * count[e]
            risk += w * count[c] * count[e] * value_0
    return risk, mass


@jit
def _add_inside(
    kind: int,
    w: float,
    low: int,
    high: int,
    gain: Floats,
    count: Ints,
    pull: Floats,
    bend: Floats,
    risk: float,
    mass: float,
) -> tuple[float, float]:
    """Add the pairs of cells of one run, at d = 0, where each weighs w times the difference of gains."""
    value_0, slope_0, bend_0 = _loss(kind, 0.0)
    n_seen, of_seen, all_seen, all_of = 0.0, 0.0, 0.0, 0.0
    for c in range(low, high):
        all_seen += count[c]
        all_of += count[c] * gain[c]
    for c in range(low, high):
        # n_seen rows of the run have lower gains, of_seen their sum
        lower = w * (gain[c] * n_seen - of_seen)
        n_seen += count[c]
        of_seen += count[c] * gain[c]
        higher = w * ((all_of - of_seen) - gain[c] * (all_seen - n_seen))
        pull[c] += (lower - higher) * slope_0
        bend[c] += (lower + higher) * bend_0
        mass += lower * count[c]
        risk += lower * count[c] * value_0
    return risk, mass


@jit
def _visit_tops(kind: int, lists: _ScoredLists, runs: _Runs, weights: _Weights, sums: _Sums) -> None:
    """Go through pairs of cells, and find what each weighs with rows below the first k places."""
    start, end, mid = weights.start, weights.end, weights.mid
    gain, count, pull, bend = runs.gain, runs.n_in_cell, sums.pull, sums.bend
    for g in range(len(runs.n_runs)):
        last = lists.bounds[g] + runs.n_runs[g] - 1
        # mid becomes the sum over this run and those before it
        for run in range(lists.bounds[g] + 1, last + 1):
            mid[0, run] += mid[0, run - 1]
            mid[1, run] += mid[1, run - 1]
        risk, mass, entry = 0.0, 0.0, weights.table_at[g]
        of_table = weights.table_at[g + 1] > entry
        for run in range(lists.bounds[g], last + 1):
            low, high = runs.first[run], runs.stop[run]
            if of_table:
                risk, mass = _add_table(kind, weights.table[entry:], low, high, gain, count, pull, bend, risk, mass)
                entry += (high - low) ** 2
            elif high > low + 1:
                risk, mass = _add_inside(kind, weights.inside[run], low, high, gain, count, pull, bend, risk, mass)
            for c in range(low, high):
                z, scale = weights.variant[c], weights.scale[c]
                for later in range(run + 1, last + 1):
                    between = start[c] + scale * (mid[z, later - 1] - mid[z, run])
                    d = runs.score[run] - runs.score[later]
                    known, v, s, b = 0.0, 0.0, 0.0, 0.0  # the side for which the loss is at hand
                    for e in range(runs.first[later], runs.stop[later]):
                        apart = gain[c] - gain[e]
                        if apart == 0.0:
                            continue
                        w = abs(apart) * (between + scale * end[z, e])
                        n_pairs = count[c] * count[e]
                        side = 1.0 if apart > 0.0 else -1.0
                        if side != known:
                            known = side
                            v, s, b = _loss(kind, side * d)
                        pull[c] += side * w * count[e] * s
                        pull[e] -= side * w * count[c] * s
                        bend[c] += w * count[e] * b
                        bend[e] += w * count[c] * b
                        mass += w * n_pairs
                        risk += w * n_pairs * v
                sums.weight[c] = start[c] + scale * (mid[z, last] - mid[z, run])
        sums.value[g], sums.total[g] = risk, mass


@jit
def _visit_below(kind: int, lists: _ScoredLists, runs: _Runs, sums: _Sums) -> None:
    """Go through pairs of rows below the first k places with cells of all runs but the last: less than k rows."""
    gain, count = runs.gain, runs.n_in_cell
    for g in range(len(runs.n_runs)):
        last = lists.bounds[g] + runs.n_runs[g] - 1
        risk, mass = sums.value[g], sums.total[g]
        for row in range(lists.bounds[g], lists.bounds[g + 1]):
            if runs.of_row[row] >= 0:
                continue
            own_pull, own_bend = 0.0, 0.0
            for run in range(lists.bounds[g], last):
                d = runs.score[run] - lists.score[row]
                known, v, s, b = 0.0, 0.0, 0.0, 0.0
                for c in range(runs.first[run], runs.stop[run]):
                    apart = gain[c] - lists.gain[row]
                    if apart == 0.0:
                        continue
                    w = abs(apart) * sums.weight[c]
                    side = 1.0 if apart > 0.0 else -1.0
                    if side != known:
                        known = side
                        v, s, b = _loss(kind, side * d)
                    mass += w * count[c]
                    sums.pull[c] += side * w * s
                    own_pull -= side * w * count[c] * s
                    sums.bend[c] += w * b
                    own_bend += w * count[c] * b
                    risk += w * count[c] * v
            sums.gradient[row] = -own_pull
            sums.diagonal[row] = own_bend
        sums.value[g], sums.total[g] = risk, mass


@jit
def _visit_last(kind: int, turn: int, lists: _ScoredLists, runs: _Runs, sums: _Sums) -> None:
    """Go through pairs of rows below with cells of the last run, which may hold most rows, by running sums.

    By rising gain, where cells and rows should stand above what was seen; in turn 1 by falling gain, and below.
    """
    step, side = (1, -1.0) if turn == 0 else (-1, 1.0)
    for g in range(len(runs.n_runs)):
        last = lists.bounds[g] + runs.n_runs[g] - 1
        n_rows = lists.bounds[g + 1] - lists.bounds[g]
        if runs.begin[last] + runs.size[last] == n_rows:
            continue
        c, left = runs.first[last] if turn == 0 else runs.stop[last] - 1, runs.stop[last] - runs.first[last]
        risk, mass = sums.value[g], sums.total[g]
        seen, of_seen = 0.0, 0.0  # Σ W of rows of the run with lower (higher) gains, and Σ W g
        s_seen, b_seen, s_of, b_of = 0.0, 0.0, 0.0, 0.0  # Σ −ℓ', Σ ℓ'' of such rows below it, and times g
        v_seen, v_of = 0.0, 0.0
        for place in range(n_rows + 1):
            row = lists.bounds[g] + place if turn == 0 else lists.bounds[g + 1] - 1 - place
            # cells whose turn is before this row's
            while left > 0 and (place == n_rows or step * runs.gain[c] < step * lists.gain[row]):
                w, own = sums.weight[c], runs.gain[c]
                sums.pull[c] -= side * w * abs(own * s_seen - s_of)
                sums.bend[c] += w * abs(own * b_seen - b_of)
                w *= runs.n_in_cell[c]
                risk += w * abs(own * v_seen - v_of)
                seen += w
                of_seen += w * own
                left -= 1
                c += step
            if place == n_rows or runs.of_row[row] >= 0:
                continue
            d, own = runs.score[last] - lists.score[row], lists.gain[row]
            # with cells of lower gains this row should stand above: their sums are for the row itself
            w = abs(own * seen - of_seen)
            v, s, b = _loss(kind, side * d)
            sums.gradient[row] += side * w * s
            sums.diagonal[row] += w * b
            mass += w
            # and for cells yet to come it is the row of the other side
            v, s, b = _loss(kind, -side * d)
            v_seen += v
            v_of += v * own
            s_seen += s
            s_of += s * own
            b_seen += b
            b_of += b * own
        sums.value[g], sums.total[g] = risk, mass
