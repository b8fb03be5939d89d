"""A forest walked one row and one tree at a time; and forests drawn at random."""

from __future__ import annotations

import numpy as np


def scores(arrays, X):
    out = []
    for x in X:
        total = 0.0
        for root in arrays["roots"]:
            node = root
            while arrays["left"][node] != -1:
                low = float(x[arrays["feature"][node]]) <= arrays["threshold"][node]
                node = arrays["left"][node] if low else arrays["right"][node]
            total += arrays["value"][node]
        out.append(total)
    return np.array(out)


def draw(rng, n_trees, n_features, thresholds):
    """Draw trees whose nodes come in the order of a walk from the root, left before right."""
    nodes = []

    def add(depth):
        place = len(nodes)
        nodes.append([-1, 0.0, -1, -1, rng.normal()])
        if depth and rng.random() < 0.8:
            nodes[place][:2] = rng.integers(n_features), rng.choice(thresholds)
            nodes[place][2] = add(depth - 1)
            nodes[place][3] = add(depth - 1)
            nodes[place][4] = 0.0
        return place

    roots = [add(int(rng.integers(0, 7))) for _ in range(n_trees)]
    columns = list(zip(*nodes, strict=True)) if nodes else [()] * 5
    names = ("feature", "threshold", "left", "right", "value")
    dtypes = (np.int32, np.float64, np.int32, np.int32, np.float64)
    arrays = {name: np.array(column, dtype) for name, column, dtype in zip(names, columns, dtypes, strict=True)}
    return {**arrays, "roots": np.array(roots, np.int32)}
