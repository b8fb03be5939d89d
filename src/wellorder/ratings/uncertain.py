"""Systems that also say how certain a rating is: Glicko and Glicko-2 share all but the update."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from datetime import timedelta
from typing import Any

import numpy as np
from scipy.special import expit

from ..state import Part, absent_or, floats, number
from ..sweeps import Floats
from ..sweeps.ratings import LOGIT
from .games import Games, in_days
from .streamed import StreamedSystem
from .system import Before, check_number, look_up

_ENOUGH = 100
"""Games of players who had played before, from which on it is told whether they are known."""

_ROUNDING = 1e-9

MONTH = 30.0
"""Days of a rating period, where times are dates and nothing else is said: federations publish ratings monthly."""


class UncertainSystem(StreamedSystem):
    """Ratings with deviations; inside, both are log-odds, and the rating all start with is zero."""

    deviation: float
    period: Any

    period_: float
    """The length of a period in the times of the games: in days, if they are dates. Not set where none had a time."""

    @property
    def ratings_(self) -> Floats:
        """The ratings after the last game, one a player."""
        return np.asarray(self.start + self._state["rating"] / LOGIT)

    @property
    def deviations_(self) -> Floats:
        """The rating deviations after the last game, one a player."""
        return np.asarray(self._state["deviation"] / LOGIT)

    def expected(self, left: Any, right: Any) -> Floats:
        r"""Return the score expected of the right player: P(win) + ½ P(draw).

        .. math:: E = \frac{1}{1 + 10^{-g(\sqrt{RD_{left}^2 + RD_{right}^2}) (r_{right} - r_{left} - a) / 400}}
        """
        sides = (look_up(self.deviations_, side, float(self.deviation)) for side in self._find(left, right))
        spread = np.hypot(*(LOGIT * side for side in sides))
        return np.asarray(expit(LOGIT * self.compare(left, right) / np.sqrt(1.0 + 3.0 * (spread / np.pi) ** 2)))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self.deviation, "deviation")
        if self.period is None:
            return
        days = in_days(self.period)
        if days is None and isinstance(self.period, timedelta | np.timedelta64):
            raise ValueError(f"period={self.period!r} has no length in days; give timedelta(days=30), say")
        check_number(self.period if days is None else days, "period")

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("period_", None)

    def _refuse_the_past(self, games: Games) -> None:
        if games.when is not None:
            self._length(games)  # refuses a period that is not of these times, before anything is changed
        super()._refuse_the_past(games)

    def _warn_if_forgetful(self, games: Games, deviation: Floats) -> None:
        """Say where most who come back are as little known as at their start: periods are too short for such times."""
        returning, since = games.gaps()
        back = deviation[returning] >= (1.0 - _ROUNDING) * LOGIT * self.deviation
        if len(back) < _ENOUGH or back.mean() <= 0.5:
            return
        unit = " d" if games.dated else ""
        warnings.warn(
            f"{back.mean():.0%} of the players who came back to play found their deviation at the {self.deviation:g} "
            f"that all start with: a period of {self.period_:g}{unit} is too short for games that are "
            f"{since.mean():.3g}{unit} apart; set period={since.mean():.3g}, say",
            stacklevel=4,
        )

    def _length(self, games: Games) -> float:
        """Return how long a rating period is, in the times of the games."""
        days = in_days(self.period)
        if days is not None and not games.dated:
            raise ValueError(
                f"period={self.period!r} is a length of time, but the times of the games are numbers; give a number of "
                "their units, or dates"
            )
        if self.period is not None:
            return float(self.period) if days is None else days
        return MONTH if games.dated else 1.0

    def _new(self) -> dict[str, float]:
        return {"rating": 0.0, "deviation": LOGIT * self.deviation, "last": np.nan}

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"period_": absent_or(number(above=0.0))}

    def _player_state(self) -> dict[str, Part]:
        # who has not played has no last time
        return {
            "rating": floats("p", dtype=float),
            "deviation": floats("p", dtype=float, above=0.0),
            "last": floats("p", dtype=float, missing=True),
        }

    @abstractmethod
    def _sweep(self, games: Games, when: Floats, period: float) -> Floats:
        """Rate games; return the ratings left and right and the deviations left and right before each."""

    def _play(self, games: Games) -> Before:
        if games.when is None:
            before = self._sweep(games, np.empty(0), 1.0)
        else:
            self.period_ = self._length(games)
            before = self._sweep(games, games.when, self.period_)
            self._warn_if_forgetful(games, before[:, 2:])
        before /= LOGIT
        before[:, :2] += self.start
        left, right, left_deviation, right_deviation = games.in_rows(before).T
        return Before(left, right, left_deviation, right_deviation, float(self.advantage))
