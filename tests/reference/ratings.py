"""Rating systems as their papers print them: one player and one period at a time, in dictionaries."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import groupby

import numpy as np
from scipy.optimize import brentq, minimize


def periods(left, right, outcome, time, together):
    """List (time or None, games), with games as (row, left, right, the left one's score); earliest first."""
    rows = sorted(range(len(outcome)), key=lambda i: 0 if time is None else time[i])
    games = [(i, left[i], right[i], (1 - outcome[i]) / 2) for i in rows]
    if time is None or not together:
        return [(None if time is None else time[game[0]], [game]) for game in games]
    out = defaultdict(list)
    for game in games:
        out[time[game[0]]].append(game)
    return list(out.items())


def by_player(games):
    """List each player's games as (opponent, own score, 1 for a first move and −1 else)."""
    out = defaultdict(list)
    for _, a, b, score in games:
        out[a].append((b, score, 1))
        out[b].append((a, 1 - score, -1))
    return out


def elo(left, right, outcome, time=None, *, k=32.0, start=1500.0, advantage=0.0, together=True):
    rating, played, peak = defaultdict(lambda: start), defaultdict(int), defaultdict(lambda: start)
    before = {}

    def factor(player):
        if k != "fide":
            return k
        if peak[player] >= 2400:
            return 10
        return 40 if played[player] < 30 else 20

    for _, games in periods(left, right, outcome, time, together):
        for row, a, b, _ in games:
            before[row] = (rating[a], rating[b])
        old = dict(rating)
        gains = {}
        for player, own in by_player(games).items():
            expected = [
                1 / (1 + 10 ** (-(old[player] - old[other] + first * advantage) / 400)) for other, _, first in own
            ]
            gains[player] = factor(player) * sum(s - e for (_, s, _), e in zip(own, expected, strict=True))
        for player, own in by_player(games).items():
            rating[player] = old[player] + gains[player]
            played[player] += len(own)
            peak[player] = max(peak[player], rating[player])
    return rating, [before[row] for row in range(len(outcome))]


def glicko(
    left,
    right,
    outcome,
    time=None,
    *,
    start=1500.0,
    deviation=350.0,
    c=34.6,
    advantage=0.0,
    together=True,
    known=None,
):
    """``known``: ratings and deviations of players before their first game, where they are not the usual ones."""
    q = math.log(10) / 400
    known = {} if known is None else known
    state, last, before = {}, {}, {}

    def g(rd):
        return 1 / math.sqrt(1 + 3 * q**2 * rd**2 / math.pi**2)

    for now, games in periods(left, right, outcome, time, together):
        for player in by_player(games):
            if player not in state:
                state[player] = known.get(player, (start, deviation))
            else:
                t = 1 if now is None else now - last[player]
                r, rd = state[player]
                state[player] = r, min(math.sqrt(rd**2 + c**2 * t), deviation)
            last[player] = now
        for row, a, b, _ in games:
            before[row] = (state[a][0], state[b][0], state[a][1], state[b][1])
        old = dict(state)
        for player, own in by_player(games).items():
            r, rd = old[player]
            total = information = 0.0
            for other, s, first in own:
                r_j, rd_j = old[other]
                e = 1 / (1 + 10 ** (-g(rd_j) * (r - r_j + first * advantage) / 400))
                total += g(rd_j) * (s - e)
                information += q**2 * g(rd_j) ** 2 * e * (1 - e)
            precision = 1 / rd**2 + information
            state[player] = r + q / precision * total, math.sqrt(1 / precision)
    return state, [before[row] for row in range(len(outcome))]


def glicko2(
    left,
    right,
    outcome,
    time=None,
    *,
    start=1500.0,
    deviation=350.0,
    volatility=0.06,
    tau=0.5,
    advantage=0.0,
    together=True,
    known=None,
):
    scale = 400 / math.log(10)  # 173.7178
    known = {} if known is None else known
    state, last, before = {}, {}, {}

    def g(phi):
        return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)

    for now, games in periods(left, right, outcome, time, together):
        passed = {}
        for player in by_player(games):
            if player not in state:
                r, rd, sigma = known.get(player, (start, deviation, volatility))
                state[player], passed[player] = ((r - start) / scale, rd / scale, sigma), 1
            else:
                t = 1 if now is None else now - last[player]
                mu, phi, sigma = state[player]
                if t > 1:
                    phi = min(math.sqrt(phi**2 + sigma**2 * (t - 1)), deviation / scale)
                state[player], passed[player] = (mu, phi, sigma), min(t, 1)
            last[player] = now
        for row, a, b, _ in games:
            before[row] = tuple(start * (i == 0) + scale * state[p][i] for i in (0, 1) for p in (a, b))
        old = dict(state)
        for player, own in by_player(games).items():
            mu, phi, sigma = old[player]
            total = information = 0.0
            for other, s, first in own:
                mu_j, phi_j, _ = old[other]
                e = 1 / (1 + math.exp(-g(phi_j) * (mu - mu_j + first * advantage / scale)))
                total += g(phi_j) * (s - e)
                information += g(phi_j) ** 2 * e * (1 - e)
            v = 1 / information
            delta = v * total

            def f(x, sigma=sigma, phi=phi, v=v, delta=delta):
                e_x = math.exp(x)
                first = e_x * (delta**2 - phi**2 - v - e_x) / (2 * (phi**2 + v + e_x) ** 2)
                return first - (x - math.log(sigma**2)) / tau**2

            sigma = math.exp(brentq(f, math.log(sigma**2) - 30, math.log(sigma**2) + 30, xtol=1e-13) / 2)
            phi = 1 / math.sqrt(1 / (phi**2 + passed[player] * sigma**2) + 1 / v)
            state[player] = mu + phi**2 * total, phi, sigma
    final = {player: (start + scale * mu, scale * phi, sigma) for player, (mu, phi, sigma) in state.items()}
    return final, [before[row] for row in range(len(outcome))]


def davidson(left, right, outcome, *, ridge, first_move=False, weights=None):
    """Return ratings by player, α and ν, by a general-purpose minimiser."""
    names = sorted(set(left) | set(right))
    place = {player: i for i, player in enumerate(names)}
    a, b = [place[player] for player in left], [place[player] for player in right]
    y = np.asarray(outcome)
    w = np.ones(len(y)) if weights is None else np.asarray(weights)
    ties = bool(w[y == 0].sum() > 0)

    def risk(x):
        r, alpha = x[: len(names)], x[len(names)] if first_move else 0.0
        pi_left, pi_right = np.exp(r[a] + alpha), np.exp(r[b])
        tie = np.exp(x[-1]) * np.sqrt(pi_left * pi_right) if ties else 0.0 * pi_left
        seen = np.where(y == 1, pi_right, np.where(y == -1, pi_left, tie))
        keep = w > 0
        value = -np.sum(w[keep] * np.log(seen[keep] / (pi_left + pi_right + tie)[keep]))
        return value + 0.5 * ridge * (r @ r + alpha**2)

    found = minimize(risk, np.zeros(len(names) + 2), method="BFGS", options={"gtol": 1e-8, "maxiter": 5000})
    return dict(zip(names, found.x, strict=False)), found.x[-2] * first_move, np.exp(found.x[-1]) * ties


def features(left, right, outcome, time, row, side, ratings, *, memory, together):
    """Describe one player of one game by looking through all earlier games; ``ratings`` are Elo's before each game."""
    me = (left, right)[side][row]
    now = row if time is None else time[row]

    def is_earlier(i):
        if time is None:
            return i < row
        return time[i] < now or (not together and time[i] == now and i < row)

    order = sorted(range(len(outcome)), key=lambda i: i if time is None else (time[i], i))
    past = [i for i in order if is_earlier(i) and me in (left[i], right[i])]
    scores, ahead = [], []
    for i in past:
        own = 0 if left[i] == me else 1
        scores.append((1 - outcome[i]) / 2 if own == 0 else (1 + outcome[i]) / 2)
        ahead.append(ratings[i][own] - ratings[i][1 - own])
    n = len(past)
    counts = [scores.count(1.0), scores.count(0.0), scores.count(0.5)]
    form = 0.5
    for _, same in groupby(range(n), key=lambda k: time[past[k]] if time is not None and together else k):
        mine = [scores[k] for k in same]
        kept = memory ** len(mine)
        form = kept * form + (1 - kept) * sum(mine) / len(mine)
    if n == 0:
        return [1.0 - side, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, form]
    return [
        1.0 - side,
        n,
        *counts,
        *(count / n for count in counts),
        -sum(ahead) / n,
        sum(s == 0 and d > 0 for s, d in zip(scores, ahead, strict=True)) / n,
        sum(s == 1 and d < 0 for s, d in zip(scores, ahead, strict=True)) / n,
        1.0 if time is None else now - time[past[-1]],
        form,
    ]
