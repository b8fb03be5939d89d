"""Nested rankers list by list, row by row, with rankers that are columns of scores."""

from __future__ import annotations

import math


def nested_counts(columns, group, keep):
    """Return, for each row, how many rows of its list stand below it; ``columns[t]`` are stage t's scores."""
    n = len(group)
    key = [(0, columns[0][x]) for x in range(n)]
    for g in set(group):
        rows = [x for x in range(n) if group[x] == g]
        inside = list(rows)
        for stage in range(1, len(columns)):
            most = keep[stage - 1] if isinstance(keep[stage - 1], int) else math.ceil(keep[stage - 1] * len(rows))
            last = columns[stage - 1]
            inside = [x for x in inside if sum(last[other] > last[x] for other in inside) < most]
            for x in inside:
                key[x] = (stage, columns[stage][x])
    return [float(sum(key[other] < key[x] for other in range(n) if group[other] == group[x])) for x in range(n)]
