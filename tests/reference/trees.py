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
                left = goes_left(arrays, node, float(x[arrays["feature"][node]]))
                node = arrays["left"][node] if left else arrays["right"][node]
            total += arrays["value"][node]
        out.append(total)
    return np.array(out)


def goes_left(arrays, node, x):
    size = arrays["set_size"][node] if "set_size" in arrays else 0
    if size == 0 and not np.isnan(x):
        return x <= arrays["threshold"][node]
    if x in range(size):
        return arrays["member"][sum(arrays["set_size"][:node]) + int(x)]
    return arrays["missing_left"][node]


def with_holes(rng, arrays, n_categories):
    """Give drawn trees a way for missing values, and a set in place of a threshold where a column has categories."""
    inner = arrays["left"] >= 0
    size = np.where(inner, np.array([*n_categories, 0])[arrays["feature"]], 0).astype(np.int32)
    return {
        **arrays,
        "threshold": np.where(size > 0, 0.0, arrays["threshold"]),
        "missing_left": inner & (rng.random(len(inner)) < 0.5),
        "set_size": size,
        "member": rng.random(size.sum()) < 0.5,
    }


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
