"""Players' records, swept through games in time order: O(games). One source for both forms, as in ``ratings.py``."""

from __future__ import annotations

import numpy as np

from .arrays import Array, Floats, Ints

N_COLUMNS = 12


def records(
    players: Ints,
    score: Floats,
    bounds: Array,
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
