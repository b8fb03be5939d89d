"""
Learn from clicks, and not from where things stood
==================================================

Lists were shown by a ranker that is only half right, people look at lower places less often, and click on what they
see and want. Here the wishes are known, so that one can see what learning from clicks finds of them.
"""

import numpy as np

import wellorder as wo

rng = np.random.default_rng(0)
n_queries, n_rows, n_sessions, n_shown = 200, 15, 8_000, 10
X = rng.standard_normal((n_queries * n_rows, 5))
query = np.repeat(np.arange(n_queries), n_rows)
quality = X @ [1.0, 0.7, -0.5, 0.0, 0.0] + 0.3 * rng.standard_normal(len(X))
grade = np.digitize(quality, [0.0, 1.0, 2.0])

# %%
# The ranker that is in use goes by the second column, with some noise: so things move, a little. Position k is looked
# at with chance 1/k, and what is looked at is clicked with a chance that grows with its grade; one click in ten is
# noise.

chance = (1.0 / np.arange(1, n_shown + 1)) ** 1.0
rows, sessions, positions = [], [], []
for session in range(n_sessions):
    own = np.flatnonzero(query == rng.integers(n_queries))
    rows.append(own[np.argsort(-X[own, 1] + rng.normal(0, 0.7, len(own)))][:n_shown])
    sessions.append(np.full(n_shown, session))
    positions.append(np.arange(1, n_shown + 1))
row, session, position = map(np.concatenate, (rows, sessions, positions))
clicked = rng.random(len(row)) < chance[position - 1] * (0.1 + 0.9 * (2.0 ** grade[row] - 1) / 7)

# %%
# How often each position is looked at follows from things that were shown at several. Only ratios count.

estimated = wo.click_propensities(clicked, position, items=row)
print(estimated.round(2), "where", chance.round(2), "is true")

# %%
# Judged by the grades, which no model has seen: clicks as they are, clicks weighed by what positions are worth as it
# is known, estimated, or believed wrongly; and what the grades themselves would have taught.

new = rng.standard_normal((3_000, 5))
new_query = np.repeat(np.arange(200), n_rows)
new_grade = np.digitize(new @ [1.0, 0.7, -0.5, 0.0, 0.0] + 0.3 * rng.standard_normal(3_000), [0.0, 1.0, 2.0])
ndcg = lambda model: wo.metrics.ndcg(new_grade, model.decision_function(new), new_query, k=10)  # noqa: E731

print(f"the grades: {ndcg(wo.RankSVM(C=0.01).fit(X, grade, groups=query)):.3f}")
for name, propensities in {
    "clicks as they are": 1.0,
    "known propensities": chance,
    "estimated propensities": estimated,
    "a bias believed to be half as strong": chance**0.5,
    "a bias believed to be twice as strong": chance**2,
}.items():
    clicks = wo.Clicks(clicked, position, session, propensities=propensities)
    print(f"{name}: {ndcg(wo.RankSVM(C=0.01).fit(X[row], clicks)):.3f}")
