r"""How far each feature moves a score between two rows: exact for sums of trees and for sums over single columns.

Mix two rows a and b: players in a set S take their values from a, all others from b; v(S) is the score of the mixture.
The contribution of a player j is its mean gain v(S ∪ j) − v(S) over all orders in which players may change from b to a:
its Shapley value. Contributions add up to f(a) − f(b), and change sign with the two rows exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import comb

import numpy as np

from ..sweeps import Floats, Ints
from .basis import Bumps
from .steps import Steps
from .trees import Forest


def additive_contributions(pieces: Bumps | Steps, rows: Floats) -> Floats:
    r"""Return f_k(a_k) − f_k(b_k) for each column k of a sum of pieces over single columns.

    Parameters
    ----------
    pieces : Bumps or Steps
    rows : array of shape (2, d)
        a, then b.
    """
    own = ("centre", "weight") if isinstance(pieces, Bumps) else ("threshold", "weight")
    out = np.zeros(rows.shape[1])
    for k in np.unique(pieces.feature).tolist():
        mine = pieces.feature == k
        part = replace(pieces, feature=pieces.feature[mine], **{name: getattr(pieces, name)[mine] for name in own})
        of_a, of_b = part.scores(rows)
        out[k] = of_a - of_b
    return out


def forest_contributions(forest: Forest, rows: Floats, player: Ints, n_players: int) -> Floats:
    r"""Return the Shapley values of a forest between two rows, exactly, in O(leaves × depth).

    A mixture comes to a leaf if p players on the way are a's and q are b's, whatever the others are: such a leaf of
    value u is worth :math:`u \, (p-1)! \, q! / (p+q)!` to each of the p, and
    :math:`-u \, p! \, (q-1)! / (p+q)!` to each of the q. No value at an inner node is needed.

    Parameters
    ----------
    forest : Forest
    rows : array of shape (2, d)
        a, then b; no NaN.
    player : array of shape (d,)
        The number of the player that each column belongs to: columns of one player change together.
    n_players : int
    """
    out = np.zeros(n_players)
    for value, from_a, from_b in _reached(forest, rows, player):
        p, q = len(from_a), len(from_b)
        for j in from_a:
            out[j] += value * _share(p - 1, q)
        for j in from_b:
            out[j] -= value * _share(q - 1, p)
    return out


def _reached(forest: Forest, rows: Floats, player: Ints) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """Yield the value of every leaf that some mixture comes to, and the players who must be a's, and b's, for it."""
    a_left, b_left = (row[forest.feature] <= forest.threshold for row in rows)  # at leaves: not looked at
    next_a = np.where(a_left, forest.left, forest.right).tolist()
    next_b = np.where(b_left, forest.left, forest.right).tolist()
    who, left, value = player[forest.feature].tolist(), forest.left.tolist(), forest.value.tolist()
    waiting: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(root, (), ()) for root in forest.roots.tolist()]
    while waiting:
        k, from_a, from_b = waiting.pop()
        while left[k] >= 0:
            j = who[k]
            if next_a[k] == next_b[k] or j in from_a:
                k = next_a[k]
            elif j in from_b:
                k = next_b[k]
            else:
                ways = [(next_a[k], (*from_a, j), from_b), (next_b[k], from_a, (*from_b, j))]
                # by node, not by row: with a and b exchanged the sums are the same to the last bit, but for the sign
                (k, from_a, from_b), later = sorted(ways)
                waiting.append(later)
        if from_a or from_b:
            yield value[k], from_a, from_b


@lru_cache(maxsize=4096)
def _share(n: int, q: int) -> float:
    """Return n! q! / (n + q + 1)!."""
    return 1.0 / ((n + q + 1) * comb(n + q, n))
