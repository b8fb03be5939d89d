"""Glickman's rating systems, which also say how certain a rating is: Glicko and Glicko-2."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from datetime import timedelta
from typing import Any

import numpy as np
from scipy.special import expit

from ..losses import Calibration
from ..state import Part, absent_or, floats, number
from ..sweeps import LOGIT, Floats, Ints, game_sweep
from .system import Before, Games, StreamedSystem, Uncertainty, check_number, in_days, look_up

# --------------------------------------------------------------------------------------------------
# What they share: all but the update.


_ENOUGH = 100
"""Games of players who had played before, from which on it is told whether they are known."""

_ROUNDING = 1e-9

MONTH = 30.0
"""Days of a rating period, where times are dates and nothing else is said: federations publish ratings monthly."""


class UncertainSystem(StreamedSystem):
    """Ratings with deviations; inside, both are log-odds, and the rating all start with is zero."""

    deviation: float
    period: Any

    goes_by_time = True

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
        apart, certainty = self._between(*self._find(left, right))
        return np.asarray(expit(LOGIT * certainty * (apart - self._advantage())))

    def _deviation_at(self, players: Ints, when: Floats | None) -> Floats:
        """Return the deviations of players by number (−1: nobody) before a game at such times, or before their next."""
        known, unknown = self._state, self._new()
        now = {name: look_up(known[name], players, unknown[name]) for name in known}
        elapsed: Any = 1.0 if when is None else (when - now["last"]) / getattr(self, "period_", 1.0)
        variance = now["deviation"] ** 2 + np.where(np.isnan(now["last"]), 0.0, self._growth(now, elapsed))
        return np.asarray(np.minimum(np.sqrt(variance), LOGIT * self.deviation) / LOGIT)

    @abstractmethod
    def _growth(self, now: dict[str, Floats], elapsed: Any) -> Floats:
        """Return what players' variances have grown by after so many periods."""

    def uncertainty(self) -> Uncertainty:
        """Return how uncertain the ratings are, by the deviations after each player's last game."""
        return Uncertainty(np.append(self.deviations_, float(self.deviation)) ** 2)

    def _between(self, left: Ints, right: Ints) -> tuple[Floats, Floats]:
        apart, _ = super()._between(left, right)
        one, other = (look_up(self.deviations_, side, float(self.deviation)) for side in (left, right))
        return apart, self._certainty(one, other, np.arange(len(apart)))

    def _meaning(self) -> Calibration:
        slope, ties, _ = super()._meaning()
        return Calibration(slope * float(np.median(self._met["certainty"])), ties)

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

    def _rate(self, games: Games) -> Before:
        if games.when is None:
            before = self._sweep(games, np.empty(0), 1.0)
        else:
            self.period_ = self._length(games)
            before = self._sweep(games, games.when, self.period_)
            self._warn_if_forgetful(games, before[:, 2:])
        before /= LOGIT
        before[:, :2] += self.start
        left, right, left_deviation, right_deviation = games.in_rows(before).T
        return Before(left, right, left_deviation, right_deviation, self._given)


# --------------------------------------------------------------------------------------------------
# Glickman's rating system: a rating, and how certain it is.


class Glicko(UncertainSystem):
    r"""Glicko: who is little known moves much, and results against the little known move little.

    Before a game, deviations grow with the time t since the player's last one, in rating periods; then all games of the
    same time count together:

    .. math:: RD &= \min\bigl(\sqrt{RD^2 + c^2 t},\; RD_0\bigr) \\
              g_j &= 1 \big/ \sqrt{1 + 3 q^2 RD_j^2 / \pi^2}, \quad q = \ln(10) / 400, \quad
              E_j = \bigl(1 + 10^{-g_j (r - r_j \pm a) / 400}\bigr)^{-1} \\
              1/d^2 &= q^2 \sum_j g_j^2 E_j (1 - E_j), \quad
              RD'^2 = \bigl(1/RD^2 + 1/d^2\bigr)^{-1}, \quad
              r' = r + q \, RD'^2 \sum_j g_j (s_j - E_j)

    Parameters
    ----------
    start, deviation : float, default=1500 and 350
        Rating and deviation RD₀ of a player who has not played.
    c : float, default=34.6
        How a deviation grows in a rating period: by default from 50 to 350 in 100 periods.
    period : float or timedelta, default=None
        How long a rating period is, the time for which c is stated: in units of the times, or in days where they
        are dates. By default one unit, or 30 days. Players whose deviations are back at ``deviation`` whenever they
        return were given too short a period: try the mean time between a player's games. Without times, every game is
        one period after its players' last.
    advantage : float or "fit", default=0
        What the first move, the left player's, is worth in points. "fit": found from the games, and part of what is
        predicted; the ratings are then made as if it were worth nothing.
    together : bool, default=True
        Whether games of the same time are rated together, from the ratings before that time. Without, or where no times
        are given, they are rated one after another, as they come.

    Attributes
    ----------
    players_ : dict
        Each player's place in the arrays.
    ratings_, deviations_ : arrays of shape (players,)
        As they were after the player's last game.
    calibration_ : Calibration
        ``slope``, ``ties`` and ``side``: what differences of ratings have meant for wins, draws and losses, each
        difference the smaller the more uncertain the two ratings are.
    period_ : float
        How long a period is, in the times of the games (days, if they are dates); not set without times.

    References
    ----------
    Glickman (1999), Parameter estimation in large dynamic paired comparison experiments.

    Examples
    --------
    Two wins against one player, and a draw with another:

    >>> import wellorder as wo
    >>> glicko = wo.ratings.Glicko().fit(left=["Ann", "Ann", "Cem"], right=["Bob", "Bob", "Ann"], outcome=[-1, -1, 0])
    >>> glicko.rating(["Ann", "Bob", "Cem"]).round(1).tolist()
    [1676.6, 1279.1, 1582.8]
    >>> glicko.deviations_.round(1).tolist()
    [239.4, 261.9, 288.3]
    """

    def __init__(
        self,
        *,
        start: float = 1500.0,
        deviation: float = 350.0,
        c: float = 34.6,
        period: Any = None,
        advantage: Any = 0.0,
        together: bool = True,
    ) -> None:
        self.start = start
        self.deviation = deviation
        self.c = c
        self.period = period
        self.advantage = advantage
        self.together = together

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self.c, "c", positive=False)
        if self.c < 0:
            raise ValueError(f"c must not be negative, got {self.c!r}")

    def _growth(self, now: dict[str, Floats], elapsed: Any) -> Floats:
        return np.asarray((LOGIT * self.c) ** 2 * elapsed)

    def _sweep(self, games: Games, when: Floats, period: float) -> Floats:
        first, growth, most = LOGIT * self._given, LOGIT * self.c, LOGIT * self.deviation
        sweep = game_sweep("glicko", len(games))
        before: Floats = sweep(
            games.players, games.score, games.bounds, when, *self._grow().values(), first, growth, most, period
        )
        return before


# --------------------------------------------------------------------------------------------------
# Glickman's second rating system: a rating, how certain it is, and how much it changes by itself.


class Glicko2(UncertainSystem):
    r"""Glicko-2: Glicko with a volatility σ of each player, which rises with results that the rating did not expect.

    On the scale μ = (r − start) · q, φ = RD · q with q = ln(10) / 400, all games of a period count together:

    .. math:: g_j &= 1 \big/ \sqrt{1 + 3 \varphi_j^2 / \pi^2}, \quad
              E_j = \bigl(1 + e^{-g_j (\mu - \mu_j \pm a q)}\bigr)^{-1}, \quad
              1/v = \sum_j g_j^2 E_j (1 - E_j), \quad \Delta = v \sum_j g_j (s_j - E_j) \\
              \ln \sigma'^2 &= x: \quad \frac{x - \ln \sigma^2}{\tau^2} =
              \frac{e^x (\Delta^2 - \varphi^2 - v - e^x)}{2 (\varphi^2 + v + e^x)^2} \\
              1/\varphi'^2 &= 1 / (\varphi^2 + \sigma'^2) + 1/v, \qquad
              \mu' = \mu + \varphi'^2 \sum_j g_j (s_j - E_j)

    A player who was away has φ² + σ² for each period missed, up to the deviation that all start with.

    Parameters
    ----------
    start, deviation, volatility : float, default=1500, 350 and 0.06
        Rating, deviation and volatility of a player who has not played.
    tau : float, default=0.5
        How quickly volatilities change; 0.3 to 1.2 are usual.
    period : float or timedelta, default=None
        How long a rating period is, the time for which σ is stated: in units of the times, or in days where they
        are dates. By default one unit, or 30 days. Players whose deviations are back at ``deviation`` whenever they
        return were given too short a period: try the mean time between a player's games. Glickman
        thinks of periods in which a player plays 10 to 15 games. Without times, every game is one period after its
        players' last.
    advantage : float or "fit", default=0
        What the first move, the left player's, is worth in points. "fit": found from the games, and part of what is
        predicted; the ratings are then made as if it were worth nothing.
    together : bool, default=True
        Whether games of the same time are rated together, from the ratings before that time. Without, or where no times
        are given, they are rated one after another, as they come.

    Attributes
    ----------
    players_ : dict
        Each player's place in the arrays.
    ratings_, deviations_, volatilities_ : arrays of shape (players,)
        As they were after the player's last game.
    calibration_ : Calibration
        ``slope``, ``ties`` and ``side``: what differences of ratings have meant for wins, draws and losses, each
        difference the smaller the more uncertain the two ratings are.
    period_ : float
        How long a period is, in the times of the games (days, if they are dates); not set without times.

    Notes
    -----
    Of two games less than a period apart, the second adds σ'² for the part of a period that has passed.

    References
    ----------
    Glickman (2012), Example of the Glicko-2 system.

    Examples
    --------
    >>> import wellorder as wo
    >>> system = wo.ratings.Glicko2().fit(left=["Ann", "Ann", "Cem"], right=["Bob", "Bob", "Ann"], outcome=[-1, -1, 0])
    >>> system.rating(["Ann", "Bob", "Cem"]).round(1).tolist()
    [1677.1, 1279.7, 1583.3]
    """

    def __init__(
        self,
        *,
        start: float = 1500.0,
        deviation: float = 350.0,
        volatility: float = 0.06,
        tau: float = 0.5,
        period: Any = None,
        advantage: Any = 0.0,
        together: bool = True,
    ) -> None:
        self.start = start
        self.deviation = deviation
        self.volatility = volatility
        self.tau = tau
        self.period = period
        self.advantage = advantage
        self.together = together

    @property
    def volatilities_(self) -> Floats:
        """The volatilities after the last game, one a player."""
        return self._state["volatility"].copy()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self.volatility, "volatility")
        check_number(self.tau, "tau")

    def _new(self) -> dict[str, float]:
        return {
            "rating": 0.0,
            "deviation": LOGIT * self.deviation,
            "volatility": float(self.volatility),
            "last": np.nan,
        }

    def _player_state(self) -> dict[str, Part]:
        state = super()._player_state()
        last = state.pop("last")
        return state | {"volatility": floats("p", dtype=float, above=0.0), "last": last}

    def _growth(self, now: dict[str, Floats], elapsed: Any) -> Floats:
        return np.asarray(np.maximum(elapsed - 1.0, 0.0) * now["volatility"] ** 2)  # the first comes with the update

    def _sweep(self, games: Games, when: Floats, period: float) -> Floats:
        first, most = LOGIT * self._given, LOGIT * self.deviation
        sweep = game_sweep("glicko2", len(games))
        before: Floats = sweep(
            games.players, games.score, games.bounds, when, *self._grow().values(), first, most, float(self.tau), period
        )
        return before
