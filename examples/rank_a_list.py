"""
Rank a list
===========

Learn an order from graded rows: one list, then many queries.
"""

import numpy as np

import wellorder as wo

rng = np.random.default_rng(0)
X = rng.standard_normal((100_000, 20))
liking = X @ rng.standard_normal(20) + rng.standard_normal(100_000)
grade = np.digitize(liking, [-5, -2, 2, 5])  # 0 (worst) to 4 (best)

# %%
# One list: every row of a higher grade should stand above every row of a lower one.

grades = wo.Grades(grade)
print("supervision:", grades.describe())
ranker = wo.RankSVM().fit(X[:80_000], grade[:80_000])
print(f"learnt from {ranker.n_pairs_:,} pairs in {ranker.n_iter_} full step(s)")
print(f"pairs in the right order on new rows: {ranker.score(X[80_000:], grade[80_000:]):.4f}")

# %%
# Many queries: rows are compared within their query only, in whatever order they come.

query = rng.integers(0, 2_000, 100_000)
ranker = wo.RankSVM(balance="groups").fit(X, grade, groups=query)
print(f"swapped pairs within queries: {wo.metrics.swapped_pairs(grade, ranker.predict(X), groups=query):.4f}")

# %%
# Which grades are mixed up.

display = wo.plot.SwapsDisplay.from_predictions(grade, ranker.predict(X), query)
display.plot()
