"""Games swept in time order: ratings, and players' records. O(games); one source for both forms.

A rating depends on every earlier one, so there is nothing to vectorise. The functions here are plain Python that
Numba can read: small data runs them as they stand, large data the same lines compiled.

Games come sorted by time, ``players`` with one line (left, right) a game; ``score`` is the left one's: 1, ½ or 0.
Games ``bounds[p]`` to ``bounds[p + 1] − 1`` are period p: they are rated together, from the ratings before the period.
``when`` is the time of each; empty: each game is one rating period after its players' last. Else a rating period is
``period`` long: the time for which the growth of a deviation is stated. ``last`` is the time of a player's last game,
NaN before the first. The players' arrays are changed in place; what is returned is how they stood before each game.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import Floats, Ints
from .dispatch import jit, use_compiled

# --------------------------------------------------------------------------------------------------
# Ratings.


LOGIT = math.log(10.0) / 400.0
"""A rating point in natural log-odds."""

_FAR = 30.0
"""Log-odds of a game are clipped to ± this: beyond it, its information p(1 − p) would come close to zero."""

_CLOSE = 1e-10
"""How closely the logarithm of a squared volatility is found."""


def elo(
    players: Ints, score: Floats, bounds: Ints, rating: Floats, games: Floats, peak: Floats, first: float, k: Floats
) -> Floats:
    """Rate by Elo's rule; ``k`` is (for new players, usual, from the top rating on, games of a new one, top rating)."""
    before = np.empty((len(players), 2))
    gain = np.zeros(len(rating))
    for p in range(len(bounds) - 1):
        # invariant: ``gain`` is what this period's games so far have brought, zero for all who have not played
        for i in range(bounds[p], bounds[p + 1]):
            left, right = players[i, 0], players[i, 1]
            before[i, 0], before[i, 1] = rating[left], rating[right]
            surprise = score[i] - expected_score(LOGIT * (rating[left] + first - rating[right]))
            gain[left] += k_factor(games[left], peak[left], k) * surprise
            gain[right] -= k_factor(games[right], peak[right], k) * surprise
        for i in range(bounds[p], bounds[p + 1]):
            for player in players[i]:
                rating[player] += gain[player]
                gain[player] = 0.0  # added once, however often the player played
                games[player] += 1.0
                peak[player] = max(peak[player], rating[player])
    return before


def glicko(
    players: Ints,
    score: Floats,
    bounds: Ints,
    when: Floats,
    rating: Floats,
    deviation: Floats,
    last: Floats,
    first: float,
    growth: float,
    most: float,
    period: float = 1.0,
) -> Floats:
    """Rate by Glickman's first rule, on the scale of log-odds; a deviation's square grows by growth² in a ``period``.

    Returns one line a game: the ratings left and right, the deviations left and right.
    """
    before = np.empty((len(players), 4))
    information, pull = np.zeros(len(rating)), np.zeros(len(rating))
    for p in range(len(bounds) - 1):
        for i in range(bounds[p], bounds[p + 1]):
            for side in range(2):
                player = players[i, side]
                if last[player] == last[player]:
                    # zero at a second game of the period
                    elapsed = (when[p] - last[player]) / period if len(when) else 1.0
                    deviation[player] = min(math.sqrt(deviation[player] ** 2 + growth**2 * elapsed), most)
                last[player] = when[p] if len(when) else 0.0
                before[i, side], before[i, 2 + side] = rating[player], deviation[player]
        weigh(players, score, bounds[p], bounds[p + 1], before, first, information, pull)
        for i in range(bounds[p], bounds[p + 1]):
            for player in players[i]:
                if information[player] > 0.0:  # else it is done: the player's second game of the period
                    variance = 1.0 / (1.0 / deviation[player] ** 2 + information[player])
                    rating[player] += variance * pull[player]
                    deviation[player] = math.sqrt(variance)
                    information[player] = pull[player] = 0.0
    return before


def glicko2(
    players: Ints,
    score: Floats,
    bounds: Ints,
    when: Floats,
    rating: Floats,
    deviation: Floats,
    volatility: Floats,
    last: Floats,
    first: float,
    most: float,
    tau: float,
    period: float = 1.0,
) -> Floats:
    """Rate by Glickman's second rule, on the scale of log-odds.

    A player's variance grows by σ² for each ``period`` away beyond the first; the first one, or what has passed of it,
    comes with the update, as in Glickman's step 6.

    Returns one line a game: the ratings left and right, the deviations left and right.
    """
    before = np.empty((len(players), 4))
    information, pull, passed = np.zeros(len(rating)), np.zeros(len(rating)), np.zeros(len(rating))
    for p in range(len(bounds) - 1):
        for i in range(bounds[p], bounds[p + 1]):
            for side in range(2):
                player = players[i, side]
                new = last[player] != last[player]
                elapsed = (when[p] - last[player]) / period if len(when) and not new else 1.0
                if elapsed > 1.0:
                    variance = deviation[player] ** 2 + (elapsed - 1.0) * volatility[player] ** 2
                    deviation[player] = min(math.sqrt(variance), most)
                passed[player] = min(passed[player] + elapsed, 1.0)  # a second game of the period adds nothing
                last[player] = when[p] if len(when) else 0.0
                before[i, side], before[i, 2 + side] = rating[player], deviation[player]
        weigh(players, score, bounds[p], bounds[p + 1], before, first, information, pull)
        for i in range(bounds[p], bounds[p + 1]):
            for player in players[i]:
                if information[player] > 0.0:
                    volatility[player] = new_volatility(
                        volatility[player], deviation[player], 1.0 / information[player], pull[player], tau
                    )
                    spread = deviation[player] ** 2 + passed[player] * volatility[player] ** 2
                    variance = 1.0 / (1.0 / spread + information[player])
                    rating[player] += variance * pull[player]
                    deviation[player] = math.sqrt(variance)
                    information[player] = pull[player] = passed[player] = 0.0
    return before


def expected_score(logit: float) -> float:
    """Return 1 / (1 + exp(−logit)), which never overflows."""
    return 0.5 * (1.0 + math.tanh(0.5 * logit))


def k_factor(games: float, peak: float, k: Floats) -> float:
    """Return how much one game counts for a player who has played so many and once stood so high."""
    if peak >= k[4]:
        return float(k[2])
    return float(k[0] if games < k[3] else k[1])


def weigh(
    players: Ints, score: Floats, begin: int, end: int, before: Floats, first: float, information: Floats, pull: Floats
) -> None:
    """Add g² E (1 − E) and g (s − E) of each game to both its players' information and pull."""
    for i in range(begin, end):
        for side in range(2):
            g = 1.0 / math.sqrt(1.0 + 3.0 * (before[i, 3 - side] / math.pi) ** 2)
            ahead = before[i, side] - before[i, 1 - side] + (first if side == 0 else -first)
            expected = expected_score(min(max(g * ahead, -_FAR), _FAR))
            own = score[i] if side == 0 else 1.0 - score[i]
            information[players[i, side]] += g**2 * expected * (1.0 - expected)
            pull[players[i, side]] += g * (own - expected)


def new_volatility(sigma: float, phi: float, v: float, pull: float, tau: float) -> float:
    """Find e^{x/2} at the zero of Glickman's f(x), between two ends of different sign, by the Illinois rule."""
    start, gap = 2.0 * math.log(sigma), (v * pull) ** 2 - phi**2 - v
    if start - tau == start:  # a step that floating point cannot see
        return sigma
    low = start
    if gap > 0.0:
        high = math.log(gap)
    else:
        high = start - tau
        while volatility_slope(high, start, gap, phi**2 + v, tau) < 0.0:
            high -= tau
    at_low = volatility_slope(low, start, gap, phi**2 + v, tau)
    at_high = volatility_slope(high, start, gap, phi**2 + v, tau)
    # invariant: the zero lies between ``low`` and ``high``
    while abs(high - low) > _CLOSE and at_high != at_low:
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = volatility_slope(middle, start, gap, phi**2 + v, tau)
        if at_middle * at_high <= 0.0:
            low, at_low = high, at_high
        else:
            at_low *= 0.5
        high, at_high = middle, at_middle
    return math.exp(0.5 * low)


def volatility_slope(x: float, start: float, gap: float, spread: float, tau: float) -> float:
    """Return f(x) of Glickman's step 5: zero at the most likely log σ², falling."""
    grown = math.exp(x)
    return grown * (gap - grown) / (2.0 * (spread + grown) ** 2) - (x - start) / tau**2


# --------------------------------------------------------------------------------------------------
# Players' records.


N_COLUMNS = 12


def records(
    players: Ints,
    score: Floats,
    bounds: Ints,
    when: Floats,
    rating: Floats,
    n_players: int,
    memory: float,
) -> Floats:
    """Return, for each game and side, the player's record before the period of the game.

    Columns: games, wins, losses, draws, their three shares, mean of (opponent's rating − own), share of games lost to a
    lower rated player, share won against a higher rated one, time since the last game, form (a mean of scores in which
    each earlier game counts ``memory`` times the next, and those of one period alike, so that their order changes
    nothing). ``rating`` is the players' (left, right) before each game.
    """
    before = np.zeros((len(players), 2, N_COLUMNS))
    sums = np.zeros((n_players, 6))  # wins, losses, draws, rating differences, lost to lower, won against higher
    form = np.full(n_players, 0.5)
    last = np.full(n_players, np.nan)
    played, scored = np.zeros(n_players), np.zeros(n_players)  # in this period
    for p in range(len(bounds) - 1):
        for i in range(bounds[p], bounds[p + 1]):
            for side in range(2):
                player = players[i, side]
                games = sums[player, 0] + sums[player, 1] + sums[player, 2]
                before[i, side, 0] = games
                for column in range(3):
                    before[i, side, 1 + column] = sums[player, column]
                if games > 0.0:
                    for column in range(6):
                        before[i, side, 4 + column] = sums[player, column] / games
                    before[i, side, 10] = when[p] - last[player] if len(when) else 1.0
                before[i, side, 11] = form[player]
        for i in range(bounds[p], bounds[p + 1]):
            for side in range(2):
                player, ahead = players[i, side], rating[i, side] - rating[i, 1 - side]
                own = score[i] if side == 0 else 1.0 - score[i]
                sums[player, 0] += own == 1.0
                sums[player, 1] += own == 0.0
                sums[player, 2] += own == 0.5
                sums[player, 3] -= ahead
                sums[player, 4] += own == 0.0 and ahead > 0.0
                sums[player, 5] += own == 1.0 and ahead < 0.0
                played[player] += 1.0
                scored[player] += own
                last[player] = when[p] if len(when) else 0.0
        for i in range(bounds[p], bounds[p + 1]):
            for player in players[i]:
                if played[player] > 0.0:  # else it is done: the player's second game of the period
                    kept = memory ** played[player]
                    form[player] = kept * form[player] + (1.0 - kept) * scored[player] / played[player]
                    played[player] = scored[player] = 0.0
    return before


_PLAIN: dict[str, Callable[..., Any]] = {
    "elo": elo,
    "glicko": glicko,
    "glicko2": glicko2,
    "records": records,
}

_COMPILED = {name: jit(sweep) for name, sweep in _PLAIN.items()}
"""The same lines, compiled when they are first called."""

_GAMES_PER_ROW = 10
"""A game counts as a tenth of a row when the form of the sweep is chosen: from some 50,000 games on, Numba pays."""


def game_sweep(name: str, n_games: int) -> Callable[..., Any]:
    """Return the sweep of that name in the form that pays for so many games."""
    if not use_compiled(n_games // _GAMES_PER_ROW):
        return _PLAIN[name]

    return _COMPILED[name]
