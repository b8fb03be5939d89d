"""Games as people keep them, turned into arrays in time order."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Any

import numpy as np

from ..order import Comparisons, check_outcomes
from ..order.columns import as_objects, is_missing, read_column
from ..sweeps import Array, Floats, Ints

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
    outcome: Array
    weight: Floats | None
    row: Array
    bounds: Array
    when: Floats | None
    added: dict[Hashable, int]
    dated: bool = False

    def __len__(self) -> int:
        return len(self.row)

    @property
    def score(self) -> Floats:
        """The left player's score: 1, ½ or 0."""
        return np.asarray((1.0 - self.outcome) / 2.0)

    def gaps(self) -> tuple[Array, Floats]:
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
    for game, player in enumerate(ids):
        if is_missing(player):
            raise ValueError(f"{name}[{game}] is missing; give every player an id, or drop the game")
        try:
            hash(player)
        except TypeError:
            raise TypeError(f"{name}[{game}] is {player!r}, which is not hashable; give an id") from None
    return ids


def _number(sides: list[list[Hashable]], row: Array, numbers: dict[Hashable, int]) -> tuple[Ints, dict[Hashable, int]]:
    """Give players numbers as they come in time, so that none, and no sum over players, depends on later games."""
    added: dict[Hashable, int] = {}
    left, right = sides
    found = []
    for at in row.tolist():
        for player in (left[at], right[at]):
            known = numbers.get(player)
            found.append(added.setdefault(player, len(numbers) + len(added)) if known is None else known)
    players = np.array(found, np.int32).reshape(len(row), 2)
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
