"""
Who lives longer: times that are censored
=========================================

People were watched for a while. Some had an event, of the others it is only known that they had none while they were
watched. Every pair in which one is known to have outlived the other says something, and no other pair does.
"""

import numpy as np

import wellorder as wo

rng = np.random.default_rng(0)
n = 600
X = rng.standard_normal((n, 4))
lived = rng.exponential(np.exp(1.0 * X[:, 0] - 0.5 * X[:, 1] + 0.8 * np.abs(X[:, 2])))  # the third column bends
watched = rng.exponential(2.0, n)
times = wo.Times(np.minimum(lived, watched), event=lived <= watched)
print(times)

# %%
# A model takes times in place of grades. A higher score lives longer; ``predict_risk`` has the opposite sign.

train, test = np.arange(400), np.arange(400, n)
models = {
    "Cox": wo.CoxRanker(),
    "RankSVM": wo.RankSVM(C=0.1),
    "RankSVM, Gaussian kernel": wo.RankSVM(kernel="rbf"),
    "boosted trees": wo.OrderBoost(learner="tree", n_estimators=60, max_leaf_nodes=7, random_state=0),
}
scores = {}
for name, model in models.items():
    scores[name] = model.fit(X[train], times.take(train)).decision_function(X[test])
    print(f"{name}: {wo.metrics.concordance(times.take(test), scores[name]):.3f}")

# %%
# Can two of them be told apart on these rows? The test knows that they were judged on the same people.

found = wo.metrics.paired_test(
    times.take(test), scores["RankSVM, Gaussian kernel"], scores["Cox"], metric="concordance"
)
print(f"{found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f}), p = {found.p_value:.2g}")

# %%
# Uno's concordance does not depend on how long people were watched. The censoring is estimated from the training rows.

uno = wo.Times(times.time[test], times.event[test], weighting="uno", tau=4.0, censoring=times.take(train))
print(f"Uno's C of the kernel: {wo.metrics.concordance(uno, scores['RankSVM, Gaussian kernel']):.3f}")
print(f"AUC of events by time 1: {wo.metrics.cumulative_auc(times.take(test), scores['Cox'], horizon=1.0):.3f}")
