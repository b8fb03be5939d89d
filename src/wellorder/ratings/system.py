"""What all rating systems share: games go in, in time order; ratings before and after them come out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..state import Part, Stored, absent_or, none_or, numbering, of, truth
from ..sweeps import Array, Floats, Ints
from .games import Games, find_players, read_games


@dataclass(frozen=True)
class Before:
    """How two players stood before each game: from earlier games only, so it may be used to predict this one.

    Attributes
    ----------
    left, right : arrays of shape (n,)
        The ratings.
    left_deviation, right_deviation : arrays of shape (n,), or None
        How uncertain they are, where the system says so.
    advantage : float or array of shape (n,)
        What the first move (the left player's) was thought to be worth.

    Examples
    --------
    >>> import wellorder as wo
    >>> before = wo.ratings.Elo().stream(["Ann", "Bob"], ["Bob", "Ann"], outcome=[-1, 1], time=[2001, 2002])
    >>> before.left.tolist(), before.right.tolist(), before.difference.tolist()
    ([1500.0, 1484.0], [1500.0, 1516.0], [0.0, 32.0])
    """

    left: Floats
    right: Floats
    left_deviation: Floats | None = None
    right_deviation: Floats | None = None
    advantage: float | Floats = 0.0

    @property
    def difference(self) -> Floats:
        """The right rating less the left one and the advantage: above zero where right is expected to win."""
        return np.asarray(self.right - self.left - self.advantage)


class RatingSystem(Stored, BaseEstimator):
    """A rating a player, changed by games; the player with the higher rating is expected to win."""

    together: bool

    players_: dict[Hashable, int]
    """Each player's number: their place in ``ratings_``."""

    def fit(self, left: Any, right: Any = None, outcome: Any = None, *, time: Any = None) -> Self:
        """Forget all earlier games and rate these.

        Parameters
        ----------
        left, right : arrays of shape (n,)
            The players of each game: any hashable ids. Left has the first move. Or ``Comparisons`` as left, alone:
            row numbers are the ids then.
        outcome : array of shape (n,)
            1: the right one won; −1: the left one; 0: a draw.
        time : array of shape (n,), optional
            Numbers or dates; games in any order. Without, games are in the order of time.
        """
        self._check_parameters()
        self._forget()
        return self.update(left, right, outcome, time=time)

    def update(self, left: Any, right: Any = None, outcome: Any = None, *, time: Any = None) -> Self:
        """Rate more games, none of them earlier than those rated before; parameters as in ``fit``."""
        self.stream(left, right, outcome, time=time)
        return self

    def stream(self, left: Any, right: Any = None, outcome: Any = None, *, time: Any = None) -> Before:
        """Rate more games as ``update`` does, and return how the players stood before each of them.

        What is returned for a game depends on games of earlier periods only (without ``together``: on earlier games),
        never on its own outcome or on later ones.
        """
        return self._play(self._read(left, right, outcome, time))

    def _read(self, left: Any, right: Any, outcome: Any, time: Any) -> Games:
        self._check_parameters()
        self._begin()
        games = read_games(left, right, outcome, time, together=self.together, numbers=self.players_)
        self._refuse_the_past(games)
        self.players_.update(games.added)
        return games

    @property
    @abstractmethod
    def ratings_(self) -> Floats:
        """The ratings, one a player."""

    @abstractmethod
    def _forget(self) -> None:
        """Begin with no player."""
        self.players_ = {}
        self._now: float | None = None
        self._dated = False

    def _begin(self) -> None:
        if not hasattr(self, "players_"):
            self._forget()

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    def _fitted_state(self) -> dict[str, Part]:
        return {
            "together": truth(),
            "players_": numbering("p"),
            "_now": none_or(of(float, "a time")),
            "_dated": absent_or(truth()),
        }

    @abstractmethod
    def _play(self, games: Games) -> Before:
        """Rate games; return how the players stood before each, in the order of the input."""

    @abstractmethod
    def _unknown(self) -> float:
        """Return the rating of a player who has not played."""

    @abstractmethod
    def _advantage(self) -> float:
        """Return what the first move is worth, in rating points."""

    def rating(self, players: Any) -> Floats:
        """Return the players' ratings; those who have not played have the rating that all start with."""
        self._begin()
        return look_up(self.ratings_, find_players(players, "players", self.players_), self._unknown())

    def compare(self, left: Any, right: Any) -> Floats:
        """Return the right players' ratings less the left ones' and the advantage of the first move."""
        one, other = (look_up(self.ratings_, side, self._unknown()) for side in self._find(left, right))
        return np.asarray(other - one - self._advantage())

    def predict(self, left: Any, right: Any) -> Array:
        """Return 1 where the right player is expected to win, −1 for the left one, 0 where they stand equal."""
        return np.sign(self.compare(left, right)).astype(np.int8)

    @abstractmethod
    def expected(self, left: Any, right: Any) -> Floats:
        """Return the score expected of the right player: P(win) + ½ P(draw)."""

    def _find(self, left: Any, right: Any) -> tuple[Ints, Ints]:
        self._begin()
        one, other = find_players(left, "left", self.players_), find_players(right, "right", self.players_)
        if len(one) != len(other):
            raise ValueError(f"left and right must be of one length, got {len(one)} and {len(other)}")
        return one, other

    def _refuse_the_past(self, games: Games) -> None:
        """Games go in as time passes; a period that is closed takes no more of them."""
        if not len(games):
            return
        if self._now is not None and (games.when is None) != np.isnan(self._now):
            raise ValueError("some games came with times and others without; give all of them times, or none")
        if games.when is None:
            self._now = np.nan
            return
        if self._now is not None and games.dated != getattr(self, "_dated", games.dated):  # not in older files
            raise ValueError("some games came with dates and others with numbers as times; give all of them one kind")
        self._dated = games.dated
        first = float(games.when[0])
        if self._now is not None and (first < self._now or (self.together and first == self._now)):
            what = "is not after" if self.together else "is before"
            raise ValueError(
                f"game {games.row[0]} is of time {first:g}, which {what} the last game rated ({self._now:g}); give "
                "whole periods in the order of time, or fit all games anew"
            )
        self._now = float(games.when[-1])


def check_number(value: Any, name: str, *, positive: bool = True) -> None:
    """Check a parameter that must be a (positive) finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not np.isfinite(float(value)):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    if positive and value <= 0:
        raise ValueError(f"{name} must be positive, got {value!r}")


def look_up(values: Floats, numbers: Ints, unknown: float) -> Floats:
    """Return the values of the players of these numbers; −1 has the value ``unknown``."""
    return np.append(values, unknown)[numbers]
