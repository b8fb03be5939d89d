"""
Grades with costs
=================

A swap of the best and the worst costs more than one of neighbours. With such costs the best score is known, given
the probability of each grade; and boosting can aim at it directly.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import wellorder as wo

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, (3_000, 2))
liking = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2
y = np.digitize(liking + 0.7 * rng.standard_normal(3_000), [-0.5, 0.5, 1.5])
train, test = slice(0, 2_000), slice(2_000, None)

# %%
# Costs: "linear" is the difference of the grades, "dcg" that of the gains 2^grade. Both allow a best score.

costs = wo.OrderGraph.dcg(range(4))
print(costs.weights)
print("a best score in closed form:", costs.is_consistent())

# %%
# A classifier plugged in, and boosting for the same costs. What a swap costs on average, on new rows:

models = {
    "logistic regression, plugged in": wo.PlugInRanker(LogisticRegression(), order=costs),
    "boosted classifier, plugged in": wo.PlugInRanker(HistGradientBoostingClassifier(max_iter=60), order=costs),
    "OrderBoost, bumps": wo.OrderBoost(order=costs, n_estimators=60),
    "OrderBoost, trees": wo.OrderBoost(order=costs, learner="tree", n_estimators=60),
}
for name, model in models.items():
    scores = model.fit(X[train], y[train]).decision_function(X[test])
    print(f"{name:33} {wo.metrics.misranking_cost(y[test], scores, order=costs):.3f}")

display = wo.plot.LevelCurvesDisplay.from_estimator(models["OrderBoost, trees"], X, features=[0, 1])
display.plot()
