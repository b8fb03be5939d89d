"""Systems that also say how certain a rating is: Glicko and Glicko-2 share all but the update."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit

from ..state import Part, floats
from ..sweeps import Floats
from ..sweeps.ratings import LOGIT
from .games import Games
from .streamed import StreamedSystem
from .system import Before, check_number, look_up


class UncertainSystem(StreamedSystem):
    """Ratings with deviations; inside, both are log-odds, and the rating all start with is zero."""

    deviation: float

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

    def _new(self) -> dict[str, float]:
        return {"rating": 0.0, "deviation": LOGIT * self.deviation, "last": np.nan}

    def _player_state(self) -> dict[str, Part]:
        # who has not played has no last time
        return {
            "rating": floats("p", dtype=float),
            "deviation": floats("p", dtype=float, above=0.0),
            "last": floats("p", dtype=float, missing=True),
        }

    @abstractmethod
    def _sweep(self, games: Games, when: Floats) -> Floats:
        """Rate games; return the ratings left and right and the deviations left and right before each."""

    def _play(self, games: Games) -> Before:
        before = self._sweep(games, np.empty(0) if games.when is None else games.when) / LOGIT
        before[:, :2] += self.start
        left, right, left_deviation, right_deviation = games.in_rows(before).T
        return Before(left, right, left_deviation, right_deviation, float(self.advantage))
