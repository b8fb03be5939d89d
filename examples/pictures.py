"""
Pictures
========

Displays in scikit-learn's manner: made from a model or from scores, with their numbers as attributes.
``matplotlib.pyplot.show()`` opens them in a window.
"""

import matplotlib.pyplot as plt
import numpy as np

import wellorder as wo

rng = np.random.default_rng(0)
X = rng.standard_normal((2_000, 4))
grade = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.standard_normal(2_000), [0, 1.5, 3])
query = rng.integers(0, 100, 2_000)
new = query >= 70
linear = wo.RankSVM().fit(X[~new], grade[~new], groups=query[~new])
trees = wo.OrderBoost(learner="tree", n_estimators=50).fit(X[~new], grade[~new], groups=query[~new])

# %%
# What a linear model looks at, and which grades it mixes up.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
weights = wo.plot.WeightsDisplay.from_estimator(linear, ["a", "b", "c", "d"]).plot(axes[0])
swaps = wo.plot.SwapsDisplay.from_estimator(linear, X[new], grade[new], query[new]).plot(axes[1])

# %%
# How often the higher score is the better row's, and how good the top of each list is.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
differences = wo.plot.ScoreDifferencesDisplay.from_estimator(trees, X[new], grade[new], query[new]).plot(axes[0])
top = wo.plot.NDCGCurveDisplay.from_estimator(trees, X[new], grade[new], query[new], name="trees").plot(axes[1])

# %%
# The scores of the trees over two columns, and query by query how far they are ahead.

curves = wo.plot.LevelCurvesDisplay.from_estimator(trees, X, features=[0, 1]).plot()
ahead = wo.plot.ByQueryDisplay.from_predictions(
    "ndcg@10", grade[new], trees.predict(X[new]), linear.predict(X[new]), query[new], names=("trees", "linear")
).plot()
print(f"swapped pairs: trees {1 - trees.score(X[new], grade[new], groups=query[new]):.1%}")
