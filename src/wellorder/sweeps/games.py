"""Which form of a sweep over games runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import history, ratings
from .dispatch import use_compiled

_PLAIN: dict[str, Callable[..., Any]] = {
    "elo": ratings.elo,
    "glicko": ratings.glicko,
    "glicko2": ratings.glicko2,
    "records": history.records,
}

_GAMES_PER_ROW = 10
"""Plain Python rates so many games in the time that a row of other sweeps is worth: some 50,000 before Numba pays."""


def game_sweep(name: str, n_games: int) -> Callable[..., Any]:
    """Return the sweep of that name in the form that pays for so many games."""
    if not use_compiled(n_games // _GAMES_PER_ROW):
        return _PLAIN[name]
    from .compiled_games import SWEEPS

    return SWEEPS[name]
