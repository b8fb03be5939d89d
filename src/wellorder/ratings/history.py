"""What was known of both players before each match: a row of features for each of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..spaces import Pairs
from ..sweeps import N_COLUMNS, Floats, Ints, game_sweep
from .elo import Elo
from .glicko import Glicko
from .system import check_number, read_games

FEATURES = (
    "elo",
    "glicko",
    "glicko_deviation",
    "first_move",
    "games",
    "wins",
    "losses",
    "draws",
    "win_share",
    "loss_share",
    "draw_share",
    "opponent_difference",
    "lost_to_lower",
    "beat_higher",
    "since_last",
    "form",
)
"""The columns of :func:`match_features`."""


class MatchFeatures(NamedTuple):
    """A row for the left and one for the right player of each match.

    Attributes
    ----------
    items : array of shape (2n, 16)
        The left players' rows, then the right ones'.
    left, right : arrays of shape (n,)
        The two rows of each match.
    columns : tuple of str
        What the columns are.
    """

    items: Floats
    left: Ints
    right: Ints
    columns: tuple[str, ...]

    @property
    def pairs(self) -> Pairs:
        """The matches as pairs of rows, which comparison models take."""
        return Pairs(self.items, self.left, self.right)


def match_features(
    left: Any,
    right: Any = None,
    outcome: Any = None,
    *,
    time: Any = None,
    elo: Elo | None = None,
    glicko: Glicko | None = None,
    together: bool = True,
    memory: float = 0.8,
) -> MatchFeatures:
    """Describe both players of each match by what was known before it: from earlier games only, in one pass.

    A match's own outcome and later games change nothing in its rows, so that they may be used to predict it.

    Parameters
    ----------
    left, right : arrays of shape (n,)
        The players of each game: any hashable ids. Left has the first move. Or ``Comparisons`` as left, alone.
    outcome : array of shape (n,)
        1: the right one won; −1: the left one; 0: a draw.
    time : array of shape (n,), optional
        Numbers or dates; games in any order. Without, games are in the order of time.
    elo, glicko : Elo and Glicko, optional
        Rating systems with parameters of your own; copies of them start from nothing. ``together`` here decides for
        them too.
    together : bool, default=True
        Whether games of the same time are taken as played at once, so that none is known when another is played.
        Without, they are known one after another, as they come.
    memory : float, default=0.8
        In the form, how much each earlier game counts against the next one.

    Returns
    -------
    MatchFeatures
        With the columns ``elo``, ``glicko`` and ``glicko_deviation`` (ratings before the match); ``first_move`` (1 for
        left, 0 for right); ``games``, ``wins``, ``losses``, ``draws`` so far and their shares; ``opponent_difference``
        (mean of the opponents' Elo rating less the player's own, each before its game); ``lost_to_lower`` and
        ``beat_higher`` (shares of games lost to a lower rated player, and won against a higher rated one);
        ``since_last`` (time since the last game, in days if times are dates; one unit a game without times); ``form``
        (a mean of scores, the latest counting most and those of one time alike, that starts at ½). A player's first
        match finds zeros.

    References
    ----------
    Venuto, Hocking, Spanurattana and Sugiyama (2014), Support vector comparison machines, section 4.3.

    Examples
    --------
    >>> import wellorder as wo
    >>> found = wo.ratings.match_features(["Ann", "Bob"], ["Bob", "Ann"], [-1, 0])
    >>> found.pairs
    Pairs(2 pairs of 4 items with 16 features)
    >>> ann = dict(zip(found.columns, found.items[found.right[1]].round(2).tolist(), strict=True))
    >>> ann["elo"], ann["wins"], ann["first_move"], ann["form"]
    (1516.0, 1.0, 0.0, 0.6)
    """
    check_number(memory, "memory", positive=False)
    if not 0 <= memory < 1:
        raise ValueError(f"memory must be at least 0 and less than 1, got {memory!r}")
    systems = (clone(Elo() if elo is None else elo), clone(Glicko() if glicko is None else glicko))
    by_elo, by_glicko = (
        system.set_params(together=together).stream(left, right, outcome, time=time) for system in systems
    )
    numbers: dict[Hashable, int] = {}
    games = read_games(left, right, outcome, time, together=together, numbers=numbers)
    when = np.empty(0) if games.when is None else games.when
    ratings = np.column_stack([by_elo.left, by_elo.right])[games.row]
    record = game_sweep("records", len(games))(
        games.players, games.score, games.bounds, when, ratings, len(games.added), float(memory)
    )
    n = len(games)
    items = np.empty((2 * n, len(FEATURES)))
    items[:, 0] = np.concatenate([by_elo.left, by_elo.right])
    items[:, 1] = np.concatenate([by_glicko.left, by_glicko.right])
    items[:, 2] = np.concatenate([by_glicko.left_deviation, by_glicko.right_deviation])
    items[:, 3] = np.repeat([1.0, 0.0], n)
    items[:, 4:] = games.in_rows(record).swapaxes(0, 1).reshape(2 * n, N_COLUMNS)
    return MatchFeatures(items, np.arange(n), np.arange(n, 2 * n), FEATURES)
