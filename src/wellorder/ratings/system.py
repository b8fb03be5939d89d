"""What all rating systems share: games go in, in time order; ratings before and after them come out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from ..order import Comparisons, as_objects, check_outcomes, has_hash, is_missing, read_column
from ..state import Part, Stored, absent_or, none_or, numbering, of, table, truth
from ..sweeps import LOGIT, Array, Bools, Floats, Ints

# --------------------------------------------------------------------------------------------------
# Games as people keep them, turned into arrays in time order.


_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Games:
    """Games sorted by time; those of one period are rated together.

    Attributes
    ----------
    players
        Numbers of the left and the right player, one line a game.
    outcome
        1: the right one won, −1: the left one, 0: a draw.
    weight
        What each game weighs; None if all weigh one.
    row
        Where each game stood in the input.
    bounds
        Period p has the games bounds[p] to bounds[p + 1] − 1.
    when
        The time of each period; None if no times were given.
    added
        The numbers of players who were not known before.
    dated
        Whether times were given as dates: they are days then.
    """

    players: Ints
    outcome: Ints
    weight: Floats | None
    row: Ints
    bounds: Ints
    when: Floats | None
    added: dict[Hashable, int]
    dated: bool = False

    def __len__(self) -> int:
        return len(self.row)

    @property
    def score(self) -> Floats:
        """The left player's score: 1, ½ or 0."""
        return np.asarray((1.0 - self.outcome) / 2.0)

    def gaps(self) -> tuple[Bools, Floats]:
        """Return which players (of left and right, one line a game) have played before, and the times since.

        Only games of these count, and those of one time are one: a player's first, though several, has none before it.
        """
        assert self.when is not None
        time = np.repeat(np.repeat(self.when, np.diff(self.bounds)), 2)
        player = self.players.ravel()
        order = np.lexsort((time, player))
        since = np.append(0.0, np.diff(time[order]))
        again = np.append(False, np.diff(player[order]) == 0)[: len(player)]
        first = np.maximum.accumulate(np.where(again, 0, np.arange(len(player))))
        later = np.empty(len(player), bool)
        later[order] = time[order] > time[order][first] if len(player) else again
        return later.reshape(-1, 2), since[: len(player)][again]

    def part(self, begin: int, end: int) -> Games:
        """Return the games from ``begin`` to ``end`` − 1, as one period without a time."""
        weight = None if self.weight is None else self.weight[begin:end]
        here = slice(begin, end)
        return Games(
            self.players[here], self.outcome[here], weight, self.row[here], np.array([0, end - begin]), None, {}
        )

    def in_rows(self, by_game: Array) -> Array:
        """Put what was found game by game back into the order of the input."""
        out = np.empty_like(by_game)
        out[self.row] = by_game
        return out


def read_games(
    left: Any, right: Any, outcome: Any, time: Any, *, together: bool, numbers: dict[Hashable, int]
) -> Games:
    """Check games and sort them by time; players who are not in ``numbers`` get the next ones."""
    if not isinstance(together, bool | np.bool_):
        raise ValueError(f"together must be True or False, got {together!r}")
    weight = None
    if isinstance(left, Comparisons):
        if right is not None or outcome is not None:
            raise ValueError("Comparisons hold both players and the outcomes; leave right and outcome out")
        weight, left, right, outcome = left.weight, left.left, left.right, left.outcome
    elif right is None or outcome is None:
        raise ValueError("give left, right and outcome, one entry a game, or Comparisons in place of all three")
    results = check_outcomes(read_column(outcome, "outcome"))
    sides = [_ids(side, name) for side, name in ((left, "left"), (right, "right"))]
    if not len(sides[0]) == len(sides[1]) == len(results):
        raise ValueError(
            f"left, right and outcome must be of one length, got {len(sides[0])}, {len(sides[1])} and {len(results)}"
        )
    row = np.arange(len(results))
    when, dated = None, False
    bounds = np.arange(len(results) + 1)
    if time is not None:
        when, dated = _times(time, len(results))
        row = np.argsort(when, kind="stable")
        when = when[row]
        if together:
            bounds = np.append(np.flatnonzero(np.append(True, when[1:] != when[:-1])[: len(when)]), len(when))
        when = when[bounds[:-1]]
    players, added = _number(sides, row, numbers)
    return Games(players, results[row], None if weight is None else weight[row], row, bounds, when, added, dated)


def find_players(players: Any, name: str, numbers: dict[Hashable, int]) -> Ints:
    """Return the players' numbers, −1 for those who are not known."""
    return np.array([numbers.get(player, -1) for player in _ids(players, name)], np.int32)


def _ids(values: Any, name: str) -> list[Hashable]:
    column = read_column(values, name)
    ids: list[Hashable] = column.tolist()
    if column.dtype.kind in "iubUS":  # none of these can be missing or without a hash
        return ids
    try:
        missing = {player for player in dict.fromkeys(ids) if is_missing(player)}  # many games, few players
    except TypeError:
        game = next(place for place, player in enumerate(ids) if not has_hash(player))
        raise TypeError(f"{name}[{game}] is {ids[game]!r}, which is not hashable; give an id") from None
    if missing:
        game = next(place for place, player in enumerate(ids) if is_missing(player))
        raise ValueError(f"{name}[{game}] is missing; give every player an id, or drop the game")
    return ids


def _number(sides: list[list[Hashable]], row: Ints, numbers: dict[Hashable, int]) -> tuple[Ints, dict[Hashable, int]]:
    """Give players numbers as they come in time, so that none, and no sum over players, depends on later games."""
    left, right = sides
    place = {player: at for at, player in enumerate(dict.fromkeys(chain(left, right)))}
    met = np.column_stack([np.fromiter(map(place.__getitem__, side), np.int64, len(side)) for side in sides])[row]
    first = np.empty(len(place), np.int64)
    first[met.ravel()[::-1]] = np.arange(met.size)[
        ::-1
    ]  # of several entries for one player the last stays: the first game
    known, number = list(place), np.empty(len(place), np.int32)
    added: dict[Hashable, int] = {}
    for at in np.argsort(first).tolist():
        player = known[at]
        before = numbers.get(player)
        number[at] = added.setdefault(player, len(numbers) + len(added)) if before is None else before
    players = number[met]
    itself = np.flatnonzero(players[:, 0] == players[:, 1])
    if itself.size:
        at = int(row[itself].min())
        raise ValueError(f"game {at} is of player {left[at]!r} against themselves; correct or drop it")
    return players, added


def _numbers(values: Array) -> Array:
    """Turn objects that are all numbers, or missing, into floats; a list of 1 and 2.5 is read as objects."""
    if values.dtype.kind == "O" and all(_is_number(value) or is_missing(value) for value in values):
        return np.array([np.nan if is_missing(value) else value for value in values], float)
    return values


def _is_number(value: Any) -> bool:
    """Say whether this is a number; NumPy counts its durations among the whole numbers, whatever their unit."""
    return isinstance(value, Real) and not isinstance(value, np.timedelta64)


def _times(time: Any, n_games: int) -> tuple[Floats, bool]:
    """Read times as numbers; dates become days. Says whether they were dates."""
    values = _numbers(read_column(time, "time"))
    if values.dtype.kind == "O":
        number = next(
            (row for row, value in enumerate(values) if isinstance(value, Real) and not is_missing(value)), None
        )
        if number is not None:  # NumPy would take it for microseconds since 1970
            raise ValueError(
                f"time[{number}] is {values[number]!r} among dates or text; give all numbers, or all dates"
            )
        try:
            values = np.asarray(as_objects(values).tolist(), dtype="datetime64[us]")
        except (TypeError, ValueError):
            raise ValueError(f"time must be numbers or dates, got {values[:1].tolist()}") from None
    dated = values.dtype.kind == "M"
    if dated:
        values = np.where(np.isnat(values), np.nan, (values - np.datetime64("1970-01-01")) / _DAY)
    if values.dtype.kind not in "iufb":
        raise ValueError(f"time must be numbers or dates, got {values.dtype} such as {values[:1].tolist()}")
    when = values.astype(np.float64)
    if len(when) != n_games:
        raise ValueError(f"time has {len(when)} entries for {n_games} games; give one a game")
    bad = np.flatnonzero(~np.isfinite(when))
    if bad.size:
        raise ValueError(f"time[{bad[0]}] is missing or infinite; give every game a time, or none")
    return np.asarray(when), dated


def in_days(length: Any) -> float | None:
    """Return a length of time in days; None for what is none, or has no length in days, as a month has not."""
    if not isinstance(length, timedelta | np.timedelta64) or np.datetime_data(np.timedelta64(length))[0] == "generic":
        return None
    try:
        return float(np.timedelta64(length) / _DAY)
    except (TypeError, ValueError):
        return None


# --------------------------------------------------------------------------------------------------
# Systems.


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

    def predict(self, left: Any, right: Any) -> Ints:
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


# --------------------------------------------------------------------------------------------------
# Systems that rate game by game: a few numbers a player, changed as time passes.


class StreamedSystem(RatingSystem):
    """A system whose ratings are points: 400 of them are odds of ten to one."""

    start: float
    advantage: float

    _state: dict[str, Floats]
    """What is known of each player, by name; in the order in which the sweep takes it."""

    @abstractmethod
    def _new(self) -> dict[str, float]:
        """Return what is known of a player who has not played."""

    @abstractmethod
    def _player_state(self) -> dict[str, Part]:
        """Return what the entries of ``_state`` are made of, in their order."""

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"_state": table(self._player_state())}

    def _forget(self) -> None:
        super()._forget()
        self._state = {name: np.empty(0) for name in self._new()}

    def _grow(self) -> dict[str, Floats]:
        """Make room for players who play their first game."""
        more = len(self.players_) - len(self._state["rating"])
        if more:
            new = self._new()
            self._state = {name: np.append(known, np.full(more, new[name])) for name, known in self._state.items()}
        return self._state

    def _read(self, left: Any, right: Any, outcome: Any, time: Any) -> Games:
        if isinstance(left, Comparisons) and left.weight is not None:
            raise ValueError(f"{type(self).__name__} has no use for weights of games; leave them out, or use Davidson")
        return super()._read(left, right, outcome, time)

    def _check_parameters(self) -> None:
        check_number(self.start, "start", positive=False)
        check_number(self.advantage, "advantage", positive=False)

    @property
    def ratings_(self) -> Floats:
        """The ratings after the last game, one a player."""
        return self._state["rating"].copy()

    def _unknown(self) -> float:
        return float(self.start)

    def _advantage(self) -> float:
        return float(self.advantage)

    def expected(self, left: Any, right: Any) -> Floats:
        """Return the score expected of the right player: P(win) + ½ P(draw)."""
        return np.asarray(expit(LOGIT * self.compare(left, right)))
