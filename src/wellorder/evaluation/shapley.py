"""Shapley values of any score between two rows: over all mixtures, or estimated from some orders of exchange."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..sweeps import Floats

Mask: TypeAlias = npt.NDArray[np.bool_]
"""One line a mixture, one column a player: whether the player's values are those of a."""

_BATCH = 1 << 21
"""Entries of a mask that are made at a time."""

MOST_PLAYERS = 10
"""Up to so many players all mixtures are scored: 1,024 rows."""


def exact_values(value: Callable[[Mask], Floats], n_players: int) -> Floats:
    """Return the Shapley values of the players; 2^n_players mixtures are scored."""
    code = np.arange(1 << n_players)
    mask = (code[:, None] >> np.arange(n_players)) & 1 == 1
    v, size = value(mask), mask.sum(axis=1)
    weight = np.array([1.0 / (n_players * comb(n_players - 1, s)) for s in range(n_players)])
    out = np.zeros(n_players)
    for j in range(n_players):
        without = code[~mask[:, j]]
        out[j] = float(weight[size[without]] @ (v[without | (1 << j)] - v[without]))
    return out


def sampled_values(
    value: Callable[[Mask], Floats], n_players: int, n_orders: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    r"""Return estimates of the Shapley values and their standard errors; they add up exactly all the same.

    Orders are drawn together with their reverses: with the two rows exchanged, an order and its reverse change places,
    so that the same seed gives the same estimates with the other sign.

    Parameters
    ----------
    value : function from a mask of mixtures to their scores
    n_players : int
    n_orders : int
        Orders of exchange, reverses included; an odd number is rounded up.
    rng : Generator
    """
    gains = np.empty((max(2, (n_orders + 1) // 2), n_players))
    batch = max(1, _BATCH // (n_players * (n_players + 1)))
    for start in range(0, len(gains), batch):
        here = gains[start : start + batch]
        orders = rng.permuted(np.tile(np.arange(n_players), (len(here), 1)), axis=1)
        # a player's place in an order, and in the reverse of it
        when = np.stack([orders, n_players - 1 - orders], axis=1)
        mask = when[:, :, None, :] < np.arange(n_players + 1)[:, None]
        v = value(mask.reshape(-1, n_players)).reshape(mask.shape[:3])
        here[:] = np.take_along_axis(np.diff(v, axis=2), when, axis=2).mean(axis=1)
    return gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
