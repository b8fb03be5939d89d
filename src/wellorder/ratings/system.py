"""What all rating systems share: games go in, in time order; ratings before and after them come out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator

from ..losses import Calibration, calibrate
from ..order import Comparisons, as_objects, check_outcomes, has_hash, is_missing, read_column
from ..state import Part, Stored, absent_or, floats, none_or, number, numbering, of, table, truth, tuple_of, whole
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
        What the first move (the left player's) was thought to be worth; 0 where that is found afterwards ("fit").

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


@dataclass(frozen=True)
class Uncertainty:
    """How uncertain ratings are, in rating points, by the players' numbers; −1 is somebody who has not played.

    Attributes
    ----------
    variance : array of shape (p + 1,)
        Of each player's rating; at last, of somebody's who has not played.
    covariance : array of shape (p, p) or None
        How the ratings move together, where that is known; without, not at all.
    """

    variance: Floats
    covariance: Floats | None = None

    def deviation(self, players: Any) -> Floats:
        """Return the standard deviations of the ratings."""
        return np.asarray(np.sqrt(self.variance[players]))

    def between(self, one: Any, other: Any) -> Floats:
        """Return the standard deviations of rating differences; 0 for a player and themselves."""
        one, other = np.broadcast_arrays(one, other)
        total = self.variance[one] + self.variance[other]
        if self.covariance is not None:
            known = (one >= 0) & (other >= 0)
            total = total - 2.0 * np.where(known, self.covariance[one, other], 0.0)
        same = (one == other) & (one >= 0)
        return np.asarray(np.sqrt(np.where(same, 0.0, np.maximum(total, 0.0))))

    def take(self, players: Ints) -> Uncertainty:
        """Return the same with new numbers: place k is who had the number ``players[k]``."""
        covariance = None
        if self.covariance is not None:
            known = players >= 0
            covariance = np.zeros((len(players), len(players)))
            covariance[np.ix_(known, known)] = self.covariance[np.ix_(players[known], players[known])]
        return Uncertainty(np.append(self.variance[players], self.variance[-1]), covariance)


class RatingSystem(Stored, BaseEstimator):
    """A rating a player, changed by games; the player with the higher rating is expected to win."""

    together: bool

    goes_by_time: ClassVar[bool] = False
    """Whether ratings depend on how long ago games were, and not on their order alone."""

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

    @abstractmethod
    def predict_proba(self, left: Any, right: Any, *, first_move: bool = True) -> Floats:
        """Return P(left wins), P(draw), P(right wins), one line a game; ``first_move=False``: nobody has it."""

    @abstractmethod
    def _meaning(self) -> Calibration:
        """Return what differences in rating points, the advantage taken off, mean for the outcome of a game."""

    @abstractmethod
    def uncertainty(self) -> Uncertainty | None:
        """Return how uncertain the ratings are; None where the system does not say."""

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


RECENT = 20_000
"""Of so many games at most it is kept how the players stood before them, and how they ended: the latest."""

_LEAST_SLOPE = 0.1
"""What a side is worth is computed with at least this slope: below it, ratings say next to nothing, and a side would be
worth any number of points."""

_REIN = 1.0
"""Weight of a quadratic penalty that holds the slope near the system's own: nothing beside a thousand games."""


class StreamedSystem(RatingSystem):
    """A system whose ratings are points: 400 of them are odds of ten to one.

    What a difference means for wins, draws and losses is fitted to the games themselves: to how the players stood
    *before* each of them, so that no game has a part in its own prediction.
    """

    start: float
    advantage: Any

    _state: dict[str, Floats]
    """What is known of each player, by name; in the order in which the sweep takes it."""

    _met: dict[str, Array]
    """Of the latest games, in the order of time: right rating less left one before it, how much of that counts, and how
    it ended."""

    _calibration: tuple[float, float, float]
    """Slope, ties and side, once somebody has asked for them."""

    @abstractmethod
    def _new(self) -> dict[str, float]:
        """Return what is known of a player who has not played."""

    @abstractmethod
    def _player_state(self) -> dict[str, Part]:
        """Return what the entries of ``_state`` are made of, in their order."""

    @abstractmethod
    def _rate(self, games: Games) -> Before:
        """Rate games; return how the players stood before each, in the order of the input."""

    def _fitted_state(self) -> dict[str, Part]:
        met = {
            "difference": floats("m", dtype=float),
            "certainty": floats("m", dtype=float, low=0.0, high=1.0),
            "outcome": whole("m", low=-1, high=1, dtype=np.int8),
        }
        return super()._fitted_state() | {
            "_state": table(self._player_state()),
            "_met": absent_or(table(met)),  # files of older versions have none
            "_calibration": absent_or(tuple_of(number(low=0.0), number(low=0.0), number())),
        }

    def _forget(self) -> None:
        super()._forget()
        self._state = {name: np.empty(0) for name in self._new()}
        self._met = {"difference": np.empty(0), "certainty": np.empty(0), "outcome": np.empty(0, np.int8)}
        self.__dict__.pop("_calibration", None)

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

    def _play(self, games: Games) -> Before:
        before = self._rate(games)
        if len(games) and hasattr(self, "_met"):
            latest = games.row[-RECENT:]
            new = {
                "difference": (before.right - before.left)[latest],
                "certainty": self._certainty(before.left_deviation, before.right_deviation, latest),
                "outcome": games.outcome[-RECENT:].astype(np.int8),
            }
            self._met = {name: np.append(known, new[name])[-RECENT:] for name, known in self._met.items()}
            self.__dict__.pop("_calibration", None)
        return before

    def _certainty(self, left: Floats | None, right: Floats | None, rows: Ints) -> Floats:
        """Return how much of a difference counts, given the deviations of two ratings: all where there are none."""
        if left is None or right is None:
            return np.ones(len(rows))
        spread = LOGIT * np.hypot(left[rows], right[rows])
        return np.asarray(1.0 / np.sqrt(1.0 + 3.0 * (spread / np.pi) ** 2))

    def _check_parameters(self) -> None:
        check_number(self.start, "start", positive=False)
        if isinstance(self.advantage, str):
            if self.advantage != "fit":
                raise ValueError(f"advantage={self.advantage!r} is not known; give a number of points, or 'fit'")
        else:
            check_number(self.advantage, "advantage", positive=False)

    @property
    def ratings_(self) -> Floats:
        """The ratings after the last game, one a player."""
        return self._state["rating"].copy()

    def _unknown(self) -> float:
        return float(self.start)

    @property
    def _given(self) -> float:
        """What the first move is said to be worth, in points, while games are rated."""
        return 0.0 if isinstance(self.advantage, str) else float(self.advantage)

    def _advantage(self) -> float:
        if not isinstance(self.advantage, str) or not len(getattr(self, "_met", {"outcome": ()})["outcome"]):
            return self._given
        found = self.calibration_
        return found.side / (LOGIT * max(found.slope, _LEAST_SLOPE))

    @property
    def calibration_(self) -> Calibration:
        """What differences mean: ``slope``, ``ties`` and ``side``, fitted to how players stood before their games."""
        self._begin()
        if not hasattr(self, "_met"):
            raise ValueError(
                "this model was saved by a version that kept no games to fit probabilities to; fit it anew"
            )
        if not len(self._met["outcome"]):
            raise ValueError("no game has been rated yet, and probabilities are fitted to games; call fit first")
        if not hasattr(self, "_calibration"):
            met = self._met
            sides = -met["certainty"] if isinstance(self.advantage, str) else None
            difference = LOGIT * met["certainty"] * (met["difference"] - self._given)
            ones = np.ones(len(difference))
            slope, ties, side = calibrate(difference, met["outcome"], ones, sides=sides, rein=_REIN)
            self._calibration = slope, ties, side
        return Calibration(*self._calibration)

    def predict_proba(self, left: Any, right: Any, *, first_move: bool = True) -> Floats:
        """Return P(left wins), P(draw), P(right wins), one line a game.

        Davidson's form with a slope and a weight of draws of its own, fitted to how the players stood before each game
        that was rated (the latest 20,000): :attr:`calibration_`. ``expected`` is the system's own, and knows no draws.
        With ``first_move=False``, as if neither player had it.
        """
        found = self.calibration_
        one, other = self._find(left, right)
        apart, certainty = self._between(one, other)
        given = self._given if first_move else 0.0
        return found.probabilities(LOGIT * certainty * (apart - given), -certainty if first_move else 0.0)

    def _meaning(self) -> Calibration:
        found = self.calibration_
        return Calibration(LOGIT * found.slope, found.ties)

    def _between(self, left: Ints, right: Ints) -> tuple[Floats, Floats]:
        """Return the right ratings less the left ones, and how much of that counts."""
        one, other = (look_up(self.ratings_, side, self._unknown()) for side in (left, right))
        return np.asarray(other - one), np.ones(len(one))

    def expected(self, left: Any, right: Any) -> Floats:
        """Return the score expected of the right player: P(win) + ½ P(draw)."""
        return np.asarray(expit(LOGIT * self.compare(left, right)))
