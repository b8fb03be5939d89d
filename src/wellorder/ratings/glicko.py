"""Glickman's rating system: a rating, and how certain it is."""

from __future__ import annotations

from typing import Any

from ..sweeps import Floats
from ..sweeps.games import game_sweep
from ..sweeps.ratings import LOGIT
from .games import Games
from .system import check_number
from .uncertain import UncertainSystem


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
    advantage : float, default=0
        What the first move, the left player's, is worth in points.
    together : bool, default=True
        Whether games of the same time are rated together, from the ratings before that time. Without, or where no times
        are given, they are rated one after another, as they come.

    Attributes
    ----------
    players_ : dict
        Each player's place in the arrays.
    ratings_, deviations_ : arrays of shape (players,)
        As they were after the player's last game.
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
        advantage: float = 0.0,
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

    def _sweep(self, games: Games, when: Floats, period: float) -> Floats:
        first, growth, most = LOGIT * self.advantage, LOGIT * self.c, LOGIT * self.deviation
        sweep = game_sweep("glicko", len(games))
        before: Floats = sweep(
            games.players, games.score, games.bounds, when, *self._grow().values(), first, growth, most, period
        )
        return before
