"""Systems that rate game by game: a few numbers a player, changed as time passes."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit

from ..order import Comparisons
from ..state import Part, table
from ..sweeps import Floats
from ..sweeps.ratings import LOGIT
from .games import Games
from .system import RatingSystem, check_number


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
