"""
An order graph
==============

Mail is better than newsletters, and both are better than spam; of newsletters and receipts nobody says which is
better. Such a partial order is a graph over the levels.
"""

import numpy as np

import wellorder as wo

rng = np.random.default_rng(1)
kinds = ["spam", "newsletter", "receipt", "mail"]
kind = rng.integers(0, 4, 600)
centre = np.array([[0.0, 0.0], [1.5, -1.0], [1.5, 1.0], [3.0, 0.0]])
X = centre[kind] + 0.7 * rng.standard_normal((600, 2))
y = np.array(kinds)[kind]

# %%
# An edge is (lower, higher). Newsletters and receipts have none between them.

graph = wo.OrderGraph.from_edges(
    kinds, [("spam", "newsletter"), ("spam", "receipt"), ("newsletter", "mail"), ("receipt", "mail")]
)
ranker = wo.ConvexHullRanker(order=graph, levels=kinds).fit(X, y)
for (lower, higher), threshold in zip(ranker.edges_, ranker.margins_, strict=True):
    print(f"{higher} scores above {threshold:.2f}, {lower} below {threshold - 1:.2f}, up to slacks")

# %%
# Pairs without a path between them are not judged.

grades = wo.Grades(y, order=graph.transitive_closure(), levels=kinds)
print(f"swapped pairs: {wo.metrics.swapped_pairs(grades, ranker.predict(X)):.1%}")

display = wo.plot.OrderGraphDisplay.from_estimator(ranker)
display.plot()
