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

from .arrays import Floats, Ints
from .dispatch import jit, parallel_map

Change = Literal["discounts", "precisions", "cascade"]
"""How a metric changes with a swap: its φ."""

HeldLoss = Literal["exponential", "logistic", "squared_hinge"]
"""Losses of pairs that are summed here."""

_LOSSES: tuple[HeldLoss, ...] = ("exponential", "logistic", "squared_hinge")

_PARTS = 4
"""Lists are cut into this many parts, whatever the number of threads."""


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


class _Runs(NamedTuple):
    """Runs of equal scores that reach into the first k places, and their cells; list g has room from bounds[g] on."""

    n_runs: Ints  # of each list
    n_cells: Ints
    score: Floats  # of each run
    begin: Ints  # how many rows stand above each run
    size: Ints
    first: Ints  # the first cell of each run, counted from the list's first
    gain: Floats  # of each cell
    n_in_cell: Ints
    of_row: Ints  # the cell of each row, counted from the list's first; −1: below the first k places


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


class PlaceSums(NamedTuple):
    """Σ |Δ| ℓ over each list, Σ |Δ|, and the gradient and the Hessian diagonal of the former, a row."""

    value: Floats
    total: Floats
    gradient: Floats
    diagonal: Floats


def place_sums(places: PlacedLists, scores: Floats, loss: HeldLoss) -> PlaceSums:
    """Sum a loss over all pairs, weighed by what their swap would change at these scores."""
    n = len(scores)
    parts = parallel_map(lambda part: _part_sums(part, scores, loss), _cut(places), n)
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
    s, n, n_lists = scores[rows], len(places.gain), len(places.bounds) - 1
    order = np.arange(n) if len(places.drops) <= _FEW_PLACES else _by_score(places.bounds, s)
    runs = _Runs(
        n_runs=np.zeros(n_lists, np.int64),
        n_cells=np.zeros(n_lists, np.int64),
        score=np.zeros(n),
        begin=np.zeros(n, np.int64),
        size=np.zeros(n, np.int64),
        first=np.zeros(n, np.int64),
        gain=np.zeros(n),
        n_in_cell=np.zeros(n, np.int64),
        of_row=np.zeros(n, np.int64),
    )
    k = int(min(len(places.drops), np.diff(places.bounds).max(initial=0)))
    _find_runs(places.bounds, places.gain, s, order, k, np.zeros(k + 1), *runs)
    weights = _weigh(places, runs)
    value, total, gradient, diagonal = np.zeros(n_lists), np.zeros(n_lists), np.zeros(n), np.zeros(n)
    room = np.zeros(n), np.zeros(n), np.zeros(n)  # of each cell: gradient, curvature, running sums
    kind = _LOSSES.index(loss)
    _visit(kind, places.bounds, places.gain, s, *runs, *weights, value, total, gradient, diagonal, *room)
    return PlaceSums(value, total, gradient, diagonal)


_FEW_PLACES = 128
"""Up to so many first places are picked out one by one; more by sorting."""


def _by_score(bounds: Ints, scores: Floats) -> Ints:
    """Sort each list's rows so that the highest come last: they are looked at from the end."""
    return np.lexsort((scores, np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))))


def _weigh(places: PlacedLists, runs: _Runs) -> _Weights:
    """Put together what the weights of pairs of cells are made of."""
    n, n_lists = len(places.gain), len(places.bounds) - 1
    table_at = np.zeros(n_lists + 1, np.int64)
    if places.change == "cascade":
        cells = _cells_by_run(runs, places.bounds)
        np.cumsum(cells, out=table_at[1:])
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
    known = places.bounds, places.drops, runs.n_runs, runs.n_cells, runs.begin, runs.size, runs.first
    if places.change == "discounts":
        _weigh_discounts(*known, weights.start, weights.end, weights.inside)
    elif places.change == "precisions":
        _weigh_precisions(
            *known, runs.gain, runs.n_in_cell, weights.start, weights.variant, weights.end, weights.mid, weights.inside
        )
    else:
        room = np.zeros((4, len(places.drops) + 2))
        _weigh_cascade(
            *known,
            runs.gain,
            runs.n_in_cell,
            weights.start,
            weights.scale,
            weights.variant,
            weights.end,
            weights.mid,
            weights.table,
            table_at,
            room,
            -1,
        )
    return weights


def _cells_by_run(runs: _Runs, bounds: Ints) -> Ints:
    """Count the pairs of cells of one run in each list, both ways round."""
    squares = np.zeros(len(runs.n_runs), np.int64)
    _square_runs(bounds, runs.n_runs, runs.n_cells, runs.first, squares)
    return squares


# --------------------------------------------------------------------------------------------------
# Compiled. Arrays are made outside: whoever asks first waits for the compiler.


@jit
def _find_runs(
    bounds: Ints,
    gain: Floats,
    scores: Floats,
    order: Ints,
    k: int,
    top: Floats,
    n_runs: Ints,
    n_cells: Ints,
    run_score: Floats,
    begin: Ints,
    size: Ints,
    first: Ints,
    cell_gain: Floats,
    count: Ints,
    of_row: Ints,
) -> None:
    """Find the runs of the first k places of each list and their cells; ``top`` is room for k scores."""
    for g in range(len(bounds) - 1):
        start, stop = bounds[g], bounds[g + 1]
        kept = 0
        # invariant: the first ``kept`` entries of top are the highest scores so far, at most k, falling
        for at in range(stop - 1, start - 1, -1):
            s = scores[order[at]]
            if kept == k:
                if s <= top[k - 1]:
                    continue
                j = k - 1
            else:
                j = kept
                kept += 1
            while j > 0 and top[j - 1] < s:
                top[j] = top[j - 1]
                j -= 1
            top[j] = s
        runs = 0
        for j in range(kept):
            if j == 0 or top[j] != top[j - 1]:
                run_score[start + runs] = top[j]
                size[start + runs] = 0
                first[start + runs] = 0
                runs += 1
        n_runs[g] = runs
        # rows come by rising gain: a run's cells come one after the other. First how many each has, then where.
        for row in range(start, stop):
            s = scores[row]
            of_row[row] = -1
            if s < run_score[start + runs - 1]:
                continue
            low, high = 0, runs - 1
            while low < high:
                middle = (low + high) // 2
                if run_score[start + middle] <= s:
                    high = middle
                else:
                    low = middle + 1
            of_row[row] = low
            run = start + low
            if size[run] == 0 or gain[row] != top[low]:
                first[run] += 1  # for now: how many cells
                top[low] = gain[row]
            size[run] += 1
        cells, rows = 0, 0
        for run in range(start, start + runs):
            cells += first[run]
            first[run] = cells - first[run]
            begin[run] = rows
            rows += size[run]
            top[run - start] = first[run] - 1.0  # the cell that was filled last
        n_cells[g] = cells
        for cell in range(start, start + cells):
            count[cell] = 0
        for row in range(start, stop):
            low = of_row[row]
            if low < 0:
                continue
            cell = int(top[low])
            if cell < first[start + low] or cell_gain[start + cell] != gain[row]:
                cell += 1
                cell_gain[start + cell] = gain[row]
                top[low] = cell
            count[start + cell] += 1
            of_row[row] = cell


@jit
def _square_runs(bounds: Ints, n_runs: Ints, n_cells: Ints, first: Ints, squares: Ints) -> None:
    for g in range(len(n_runs)):
        for run in range(n_runs[g]):
            at = bounds[g] + run
            after = n_cells[g] if run == n_runs[g] - 1 else first[at + 1]
            squares[g] += (after - first[at]) ** 2


@jit
def _weigh_discounts(
    bounds: Ints,
    drops: Floats,
    n_runs: Ints,
    n_cells: Ints,
    begin: Ints,
    size: Ints,
    first: Ints,
    start: Floats,
    end: Floats,
    inside: Floats,
) -> None:
    """Between two runs the difference of their mean discounts; inside a run the mean difference."""
    for g in range(len(n_runs)):
        offset = bounds[g]
        below = 0.0  # Σ δ over the places from this run's end on, of those that any run reaches
        for run in range(n_runs[g] - 1, -1, -1):
            at = offset + run
            m, mean, mixed = size[at], 0.0, 0.0
            last = min(m, len(drops) - begin[at])
            for t in range(last, 0, -1):
                drop = drops[begin[at] + t - 1]
                mean += drop * t / m
                mixed += drop * 2.0 * t * (m - t) / (m * max(m - 1.0, 1.0))
            after = n_cells[g] if run == n_runs[g] - 1 else first[at + 1]
            for cell in range(offset + first[at], offset + after):
                start[cell] = mean + below
                end[0, cell] = -(mean + below)
            for t in range(1, last + 1):
                below += drops[begin[at] + t - 1]
            inside[at] = mixed


@jit
def _weigh_precisions(
    bounds: Ints,
    drops: Floats,
    n_runs: Ints,
    n_cells: Ints,
    begin: Ints,
    size: Ints,
    first: Ints,
    gain: Floats,
    count: Ints,
    start: Floats,
    variant: Ints,
    end: Floats,
    mid: Floats,
    inside: Floats,
) -> None:
    """Variant 1: the relevant row of the pair stands above, so that one of those counted is itself."""
    for g in range(len(n_runs)):
        offset, found = bounds[g], 0.0
        for run in range(n_runs[g]):
            at = offset + run
            after = n_cells[g] if run == n_runs[g] - 1 else first[at + 1]
            m, h = float(size[at]), 0.0
            for cell in range(offset + first[at], offset + after):
                h += gain[cell] * count[cell]
            in_hit, in_miss, out_hit, out_miss, between, mixed, sum_drops = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for t in range(1, min(size[at], len(drops) - begin[at]) + 1):
                drop = drops[begin[at] + t - 1]
                others, others_2 = max(m - 1.0, 1.0), max(m - 2.0, 1.0)
                in_hit += drop * t / m * (1.0 + found + (t - 1.0) * (h - 1.0) / others)
                in_miss += drop * t / m * (1.0 + found + (t - 1.0) * h / others)
                out_hit += drop * (m - t) / m * (1.0 + found + t * (h - 1.0) / others)
                out_miss += drop * (m - t) / m * (found + t * h / others)
                between += drop * (found + t * h / m)
                mixed += drop * 2.0 * t * (m - t) / (m * others) * (1.0 + found + (t - 1.0) * (h - 1.0) / others_2)
                sum_drops += drop
            for cell in range(offset + first[at], offset + after):
                relevant = gain[cell] > 0.0
                variant[cell] = 1 if relevant else 0
                start[cell] = in_hit if relevant else in_miss
                end[0, cell] = out_hit  # of a relevant row below one that is not
                end[1, cell] = out_miss
            mid[0, at] = between + sum_drops
            mid[1, at] = between
            inside[at] = mixed
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
def _weigh_cascade(
    bounds: Ints,
    drops: Floats,
    n_runs: Ints,
    n_cells: Ints,
    begin: Ints,
    size: Ints,
    first: Ints,
    gain: Floats,
    count: Ints,
    start: Floats,
    scale: Floats,
    variant: Ints,
    end: Floats,
    mid: Floats,
    table: Floats,
    table_at: Ints,
    room: Floats,
    nobody: int,
) -> None:
    """Variant 1: the row that stands above has 1 − g = 0, which all below it owe to this row alone."""
    whole, less, less_two = room[0], room[1], room[2]
    for g in range(len(n_runs)):
        offset, going_on, ends = bounds[g], 1.0, 0
        entry = table_at[g]
        for run in range(n_runs[g]):
            at = offset + run
            low = offset + first[at]
            high = offset + (n_cells[g] if run == n_runs[g] - 1 else first[at + 1])
            m = size[at]
            length = min(m, len(drops) - begin[at])
            is_long = m >= 2 * length + 3
            plain = going_on if ends == 0 else 0.0
            freed = going_on if ends == 1 else 0.0
            _chances(gain, count, low, high, nobody, nobody, length, whole)
            between = 0.0
            for t in range(1, length + 1):
                between += drops[begin[at] + t - 1] * whole[t]
            mid[0, at], mid[1, at] = plain * between, freed * between
            for cell in range(low, high):
                stays = 1.0 - gain[cell]
                if is_long:
                    _less_one(whole, m, stays, length, less)
                else:
                    _chances(gain, count, low, high, cell, nobody, length, less)
                is_in, is_out = 0.0, 0.0
                for t in range(1, length + 1):
                    drop = drops[begin[at] + t - 1]
                    is_in += drop * t / m * less[t - 1]
                    if t < m:
                        is_out += drop * (m - t) / m * less[t]
                start[cell] = plain * is_in
                end[0, cell], end[1, cell] = plain * is_out, freed * is_out
                variant[cell] = 1 if stays == 0.0 else 0
                scale[cell] = 1.0 if stays == 0.0 else 1.0 / stays
                for other in range(low, high):
                    both = 0.0
                    if other > cell:
                        if is_long:
                            _less_one(less, m - 1, 1.0 - gain[other], length, less_two)
                        else:
                            _chances(gain, count, low, high, cell, other, length, less_two)
                        for t in range(1, min(length, m - 1) + 1):
                            drop = drops[begin[at] + t - 1]
                            both += drop * 2.0 * t * (m - t) / (m * (m - 1.0)) * less_two[t - 1]
                    table[entry + (cell - low) * (high - low) + other - low] = plain * both
            entry += (high - low) ** 2
            for cell in range(low, high):
                for _ in range(count[cell]):
                    if gain[cell] == 1.0:
                        ends += 1
                    else:
                        going_on *= 1.0 - gain[cell]


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
def _visit(
    kind: int,
    bounds: Ints,
    gain: Floats,
    scores: Floats,
    n_runs: Ints,
    n_cells: Ints,
    run_score: Floats,
    begin: Ints,
    size: Ints,
    first: Ints,
    cell_gain: Floats,
    count: Ints,
    of_row: Ints,
    start: Floats,
    scale: Floats,
    variant: Ints,
    end: Floats,
    mid: Floats,
    inside: Floats,
    table: Floats,
    table_at: Ints,
    value: Floats,
    total: Floats,
    gradient: Floats,
    diagonal: Floats,
    pull: Floats,
    bend: Floats,
    weight: Floats,
) -> None:
    """Go through pairs of cells, and of cells and rows below; ``pull`` is Σ −∂/∂s of a cell, ``bend`` its curvature.

    ``weight`` is what a cell weighs with any row below the first k places, beside the difference of gains.
    """
    for g in range(len(n_runs)):
        offset, n_in = bounds[g], n_cells[g]
        runs = n_runs[g]
        if runs == 0:
            continue
        last = offset + runs - 1
        of_table = table_at[g + 1] > table_at[g]
        for cell in range(offset, offset + n_in):
            pull[cell] = 0.0
            bend[cell] = 0.0
        # mid becomes the sum over this run and those before it
        for run in range(offset + 1, last + 1):
            mid[0, run] += mid[0, run - 1]
            mid[1, run] += mid[1, run - 1]
        risk, mass = 0.0, 0.0
        value_0, slope_0, bend_0 = _loss(kind, 0.0)
        entry = table_at[g]
        for run in range(offset, last + 1):
            low = offset + first[run]
            high = offset + (n_in if run == last else first[run + 1])
            width = high - low
            # pairs inside the run, at d = 0
            if of_table:
                for c in range(low, high):
                    for e in range(c + 1, high):
                        w = table[entry + (c - low) * width + e - low] * (cell_gain[e] - cell_gain[c])
                        pull[e] += w * count[c] * slope_0
                        pull[c] -= w * count[e] * slope_0
                        bend[e] += w * count[c] * bend_0
                        bend[c] += w * count[e] * bend_0
                        mass += w * count[c] * count[e]
                        risk += w * count[c] * count[e] * value_0
                entry += width * width
            elif width > 1:
                w = inside[run]
                n_seen, of_seen, all_seen, all_of = 0.0, 0.0, 0.0, 0.0
                for c in range(low, high):
                    all_seen += count[c]
                    all_of += count[c] * cell_gain[c]
                for c in range(low, high):
                    # n_seen rows of the run have lower gains, of_seen their sum
                    lower = w * (cell_gain[c] * n_seen - of_seen)
                    n_seen += count[c]
                    of_seen += count[c] * cell_gain[c]
                    higher = w * ((all_of - of_seen) - cell_gain[c] * (all_seen - n_seen))
                    pull[c] += (lower - higher) * slope_0
                    bend[c] += (lower + higher) * bend_0
                    mass += lower * count[c]
                    risk += lower * count[c] * value_0
            # pairs with cells of later runs
            for c in range(low, high):
                z = variant[c]
                for later in range(run + 1, last + 1):
                    between = start[c] + scale[c] * (mid[z, later - 1] - mid[z, run])
                    d = run_score[run] - run_score[later]
                    known, v, s, b = 0.0, 0.0, 0.0, 0.0  # the side for which the loss is at hand
                    after = offset + (n_in if later == last else first[later + 1])
                    for e in range(offset + first[later], after):
                        apart = cell_gain[c] - cell_gain[e]
                        if apart == 0.0:
                            continue
                        w = abs(apart) * (between + scale[c] * end[z, e])
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
                weight[c] = start[c] + scale[c] * (mid[z, last] - mid[z, run])
        n_top = begin[last] + size[last]
        if n_top < bounds[g + 1] - offset:
            # runs but the last hold less than k rows: each row below meets each of their cells
            for row in range(offset, bounds[g + 1]):
                if of_row[row] >= 0:
                    continue
                own_pull, own_bend = 0.0, 0.0
                for run in range(offset, last):
                    d = run_score[run] - scores[row]
                    known, v, s, b = 0.0, 0.0, 0.0, 0.0
                    for c in range(offset + first[run], offset + first[run + 1]):
                        apart = cell_gain[c] - gain[row]
                        if apart == 0.0:
                            continue
                        w = abs(apart) * weight[c]
                        side = 1.0 if apart > 0.0 else -1.0
                        if side != known:
                            known = side
                            v, s, b = _loss(kind, side * d)
                        mass += w * count[c]
                        pull[c] += side * w * s
                        own_pull -= side * w * count[c] * s
                        bend[c] += w * b
                        own_bend += w * count[c] * b
                        risk += w * count[c] * v
                gradient[row] = -own_pull
                diagonal[row] = own_bend
            # the last run may hold most of the rows: running sums by rising gain, then by falling gain
            for turn in range(2):
                of_last = offset + first[last]
                n_last = n_in - first[last]
                c = of_last if turn == 0 else of_last + n_last - 1
                done, step = 0, 1 if turn == 0 else -1
                seen, of_seen = 0.0, 0.0  # Σ W of rows of the run with lower (higher) gains, and Σ W g
                s_seen, b_seen, s_of, b_of = 0.0, 0.0, 0.0, 0.0  # Σ −ℓ', Σ ℓ'' of such rows below it, and times g
                v_seen, v_of = 0.0, 0.0
                n_rows = bounds[g + 1] - offset
                for place in range(n_rows + 1):
                    row = offset + (place if turn == 0 else n_rows - 1 - place)
                    # cells whose turn is before this row's
                    while done < n_last and (
                        place == n_rows
                        or (turn == 0 and cell_gain[c] < gain[row])
                        or (turn == 1 and cell_gain[c] > gain[row])
                    ):
                        # rows below with lower gains: the cell should stand above them; with higher: below
                        s_own = abs(cell_gain[c] * s_seen - s_of)
                        b_own = abs(cell_gain[c] * b_seen - b_of)
                        pull[c] += weight[c] * s_own if turn == 0 else -weight[c] * s_own
                        bend[c] += weight[c] * b_own
                        risk += weight[c] * count[c] * abs(cell_gain[c] * v_seen - v_of)
                        w = weight[c] * count[c]
                        seen += w
                        of_seen += w * cell_gain[c]
                        done += 1
                        c += step
                    if place == n_rows:
                        break
                    if of_row[row] >= 0:
                        continue
                    d = run_score[last] - scores[row]
                    # with cells of lower gains this row should stand above: their sums are for the row itself
                    w = abs(gain[row] * seen - of_seen)
                    side = -1.0 if turn == 0 else 1.0
                    v, s, b = _loss(kind, side * d)
                    gradient[row] += side * w * s
                    diagonal[row] += w * b
                    mass += w
                    # and for cells yet to come it is the row of the other side
                    v, s, b = _loss(kind, -side * d)
                    v_seen += v
                    v_of += v * gain[row]
                    s_seen += s
                    s_of += s * gain[row]
                    b_seen += b
                    b_of += b * gain[row]
        for row in range(offset, bounds[g + 1]):
            if of_row[row] >= 0:
                gradient[row] = -pull[offset + of_row[row]]
                diagonal[row] = bend[offset + of_row[row]]
        value[g] = risk
        total[g] = mass
