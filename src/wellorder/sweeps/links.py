"""Visiting every pair one by one, for the loss that allows no shortcut. O(pairs) time, O(n) memory.

Rows are arranged cell by cell, so that the rows below a row are a few contiguous stretches. A *link*
is one row and one such stretch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from .arrays import Floats, Ints
from .dispatch import jit, parallel_map, use_compiled

_CHUNK = 1 << 18
"""Pairs that the NumPy form visits at a time."""

_PARTS = 4
"""The links are cut into this many parts, whatever the number of threads: the same sums, the same bits."""


class Links(NamedTuple):
    """Places in the arrangement: row ``high`` stands above the rows at start, …, stop − 1."""

    high: Ints
    start: Ints
    stop: Ints
    weight: Floats
    partner: Floats  # by place: the lower row's own weight; empty if all are one
    scale: Floats  # by place: pair weights are multiplied by its differences; empty if they are not

    def pairs(self) -> int:
        """How many pairs the links hold."""
        return int(np.sum(self.stop - self.start))


def logistic_risk(links: Links, scores: Floats) -> tuple[float, Floats, Floats]:
    """Sum log(1 + e^{−d}) over all pairs; with its gradient and Hessian diagonal in the scores."""
    if not _compiled(links):
        return _plain_risk(links, scores)

    parts = parallel_map(lambda part: compiled_risk(part, scores), _cut(links), links.pairs())
    value, gradient, diagonal = zip(*parts, strict=True)
    return float(np.sum(value)), np.sum(gradient, axis=0), np.sum(diagonal, axis=0)


def logistic_product(links: Links, scores: Floats, direction: Floats) -> Floats:
    """Multiply the Hessian of :func:`logistic_risk` by a direction, less its diagonal part."""
    if not _compiled(links):
        return _plain_product(links, scores, direction)

    parts = parallel_map(lambda part: compiled_product(part, scores, direction), _cut(links), links.pairs())
    return np.asarray(np.sum(parts, axis=0))


def _compiled(links: Links) -> bool:
    return use_compiled(links.pairs() // 100)  # NumPy visits a hundred pairs in the time a row is worth


def _plain_risk(links: Links, scores: Floats) -> tuple[float, Floats, Floats]:
    value, gradient, diagonal = 0.0, np.zeros(len(scores)), np.zeros(len(scores))
    for high, low, weight in list_pairs(links):
        d = scores[high] - scores[low]
        value += float(weight @ np.logaddexp(0.0, -d))
        slope = weight * expit(-d)
        curvature = slope * expit(d)
        gradient += np.bincount(low, slope, minlength=len(scores)) - np.bincount(high, slope, minlength=len(scores))
        diagonal += np.bincount(low, curvature, minlength=len(scores))
        diagonal += np.bincount(high, curvature, minlength=len(scores))
    return value, gradient, diagonal


def _plain_product(links: Links, scores: Floats, direction: Floats) -> Floats:
    out = np.zeros(len(scores))
    for high, low, weight in list_pairs(links):
        d = scores[high] - scores[low]
        curvature = weight * expit(d) * expit(-d)
        out += np.bincount(high, curvature * direction[low], minlength=len(out))
        out += np.bincount(low, curvature * direction[high], minlength=len(out))
    return out


def list_pairs(links: Links) -> Iterator[tuple[Ints, Ints, Floats]]:
    """List the pairs, a bounded number at a time."""
    length = links.stop - links.start
    ends = np.cumsum(length)
    total = links.pairs()
    for begin in range(0, total, _CHUNK):
        pair = np.arange(begin, min(begin + _CHUNK, total))
        link = np.searchsorted(ends, pair, side="right")
        low = links.start[link] + (pair - (ends[link] - length[link]))
        high = links.high[link]
        weight = links.weight[link]
        if len(links.partner):
            weight = weight * links.partner[low]
        if len(links.scale):
            weight = weight * (links.scale[high] - links.scale[low])
        yield high, low, weight


def _cut(links: Links) -> list[Links]:
    ends = np.cumsum(links.stop - links.start)
    total = links.pairs()
    cuts = np.searchsorted(ends, [total * part // _PARTS for part in range(1, _PARTS)])
    return [
        links._replace(high=links.high[a:b], start=links.start[a:b], stop=links.stop[a:b], weight=links.weight[a:b])
        for a, b in pairwise([0, *cuts.tolist(), len(ends)])
    ]


# --------------------------------------------------------------------------------------------------
# Compiled, for large data; the NumPy form above gives the same numbers. Arrays are made outside: a function of NumPy's
# costs a tenth of a second where it is compiled, and whoever fits first waits for that.


def compiled_risk(links: Links, scores: Floats) -> tuple[float, Floats, Floats]:
    """Visit every pair of the links."""
    gradient, diagonal = np.zeros(len(scores)), np.zeros(len(scores))
    return _add_risk(*links, scores, gradient, diagonal), gradient, diagonal


@jit
def _add_risk(
    high: Ints,
    start: Ints,
    stop: Ints,
    weight: Floats,
    partner: Floats,
    scale: Floats,
    scores: Floats,
    gradient: Floats,
    diagonal: Floats,
) -> float:
    value = 0.0
    for link in range(len(high)):
        i = high[link]
        for j in range(start[link], stop[link]):
            w = weight[link]
            if len(partner):
                w *= partner[j]
            if len(scale):
                w *= scale[i] - scale[j]
            d = scores[i] - scores[j]
            e = math.exp(-abs(d))
            value += w * (math.log1p(e) + max(-d, 0.0))
            slope = w * (e if d > 0 else 1.0) / (1.0 + e)
            curvature = w * e / ((1.0 + e) * (1.0 + e))
            gradient[i] -= slope
            gradient[j] += slope
            diagonal[i] += curvature
            diagonal[j] += curvature
    return value


def compiled_product(links: Links, scores: Floats, direction: Floats) -> Floats:
    """Sum curvature times the partner's direction over every pair of the links."""
    out = np.zeros(len(scores))
    _add_product(*links, scores, direction, out)
    return out


@jit
def _add_product(
    high: Ints,
    start: Ints,
    stop: Ints,
    weight: Floats,
    partner: Floats,
    scale: Floats,
    scores: Floats,
    direction: Floats,
    out: Floats,
) -> None:
    for link in range(len(high)):
        i = high[link]
        for j in range(start[link], stop[link]):
            w = weight[link]
            if len(partner):
                w *= partner[j]
            if len(scale):
                w *= scale[i] - scale[j]
            e = math.exp(-abs(scores[i] - scores[j]))
            curvature = w * e / ((1.0 + e) * (1.0 + e))
            out[i] += curvature * direction[j]
            out[j] += curvature * direction[i]
