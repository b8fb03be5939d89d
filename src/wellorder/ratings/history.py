"""What was known of both players before each match: a row of features for each of them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..spaces import Pairs
from ..sweeps import N_COLUMNS, Floats, Ints, game_sweep
from .elo import Elo
from .glicko import Glicko
from .system import Games, check_number, look_up, read_games

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

_GAMES, _SINCE = (FEATURES.index(name) - FEATURES.index("games") for name in ("games", "since_last"))
"""Places in a player's record."""


@dataclass(frozen=True)
class MatchFeatures:
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
    _played: Played = field(repr=False, compare=False)

    @property
    def pairs(self) -> Pairs:
        """The matches as pairs of rows, which comparison models take."""
        return Pairs(self.items, self.left, self.right)

    def upcoming(self, left: Any, right: Any, *, time: Any = None) -> MatchFeatures:
        """Describe matches that have not been played by what is known after the last game.

        The rows are those that :func:`match_features` would give them, were they the next to be played; none of the
        matches knows of another. So a model that has learned from the games predicts what is to come.

        Parameters
        ----------
        left, right : arrays of shape (n,)
            The players; those who have not played yet have the rows of newcomers.
        time : array of shape (n,), optional
            When the matches are to be; needed, after the last game, where the games had times.

        Examples
        --------
        >>> import wellorder as wo
        >>> games = wo.ratings.match_features(["Ann", "Bob"], ["Bob", "Cem"], [-1, 0], time=[1, 2])
        >>> to_come = games.upcoming(["Cem"], ["Ann"], time=[5])
        >>> ann = dict(zip(to_come.columns, to_come.items[to_come.right[0]].tolist(), strict=True))
        >>> ann["elo"], ann["wins"], ann["since_last"]
        (1516.0, 1.0, 4.0)
        """
        return self._played.describe(left, right, time)


@dataclass(frozen=True)
class Played:
    """All games of a history, and the ratings after them: what is known of matches to come."""

    games: Games
    numbers: dict[Hashable, int]
    elo: Elo
    glicko: Glicko
    ratings: Floats
    """Elo's, left and right, before each game, in the order of time."""
    memory: float

    def describe(self, left: Any, right: Any, time: Any) -> MatchFeatures:
        """Return the features of matches that were not played."""
        numbers = dict(self.numbers)
        to_come = read_games(left, right, np.zeros(np.size(left)), time, together=True, numbers=numbers)
        numbers |= to_come.added
        met, when = to_come.in_rows(to_come.players), self._when(to_come)
        known = np.where(met < len(self.numbers), met, -1)
        elo, glicko = (look_up(each.ratings_, known, each._unknown()) for each in (self.elo, self.glicko))
        deviation = self.glicko._deviation_at(known, None if when is None else when[:, None])
        record = self._records(met, len(numbers))
        if when is not None and self.games.when is not None and len(self.games):
            record[:, :, _SINCE] += np.where(record[:, :, _GAMES] > 0, (when - self.games.when[-1])[:, None], 0.0)
        return _described(elo, glicko, deviation, record, self)

    def _when(self, to_come: Games) -> Floats | None:
        """Return the times of matches, in the order of the input; refuse those that are not after the last game."""
        if not len(self.games):
            return None
        if (to_come.when is None) != (self.games.when is None):
            missing = "the games had times: say with time= when the matches are to be"
            raise ValueError(missing if to_come.when is None else "the games had no times; leave time= out")
        if to_come.when is None or self.games.when is None:
            return None
        if to_come.dated != self.games.dated:
            raise ValueError("the games and the matches to come have times of two kinds, dates and numbers; give one")
        when = to_come.in_rows(np.repeat(to_come.when, np.diff(to_come.bounds)))
        early = np.flatnonzero(when <= self.games.when[-1])
        if early.size:
            raise ValueError(
                f"time[{early[0]}] is {when[early[0]]:g}, and the last game was at {self.games.when[-1]:g}; matches to "
                "come are later"
            )
        return when

    def _records(self, met: Ints, n_players: int) -> Floats:
        """Return the players' records, as before a last period that all these matches are played in."""
        games, n = self.games, len(met)
        when = np.empty(0) if games.when is None else np.append(games.when, games.when[-1:] if len(games) else 0.0)
        found = game_sweep("records", len(games) + n)(
            np.concatenate([games.players, met.astype(games.players.dtype)]),
            np.append(games.score, np.full(n, 0.5)),
            np.append(games.bounds, len(games) + n),
            when,
            np.concatenate([self.ratings, np.zeros((n, 2))]),
            n_players,
            self.memory,
        )
        return np.asarray(found[len(games) :])


def _described(elo: Floats, glicko: Floats, deviation: Floats, record: Floats, played: Played) -> MatchFeatures:
    """Put together what is known of both players, one line a match each."""
    n = len(record)
    items = np.empty((2 * n, len(FEATURES)))
    for column, known in enumerate((elo, glicko, deviation)):
        items[:, column] = known.T.ravel()
    items[:, 3] = np.repeat([1.0, 0.0], n)
    items[:, 4:] = record.swapaxes(0, 1).reshape(2 * n, N_COLUMNS)
    return MatchFeatures(items, np.arange(n), np.arange(n, 2 * n), FEATURES, played)


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
        Its method ``upcoming`` describes matches that have not been played yet, by what is known after the last game.
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
    by_game = np.column_stack([by_elo.left, by_elo.right])
    record = game_sweep("records", len(games))(
        games.players, games.score, games.bounds, when, by_game[games.row], len(games.added), float(memory)
    )
    assert by_glicko.left_deviation is not None
    assert by_glicko.right_deviation is not None
    played = Played(games, games.added, *systems, by_game[games.row], float(memory))
    return _described(
        by_game,
        np.column_stack([by_glicko.left, by_glicko.right]),
        np.column_stack([by_glicko.left_deviation, by_glicko.right_deviation]),
        games.in_rows(record),
        played,
    )
