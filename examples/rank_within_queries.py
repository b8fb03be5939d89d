"""
Queries from a LETOR file
=========================

Documents of 80 queries, in the format of the LETOR benchmarks; judged on whole queries that were held out.
"""

import tempfile
from pathlib import Path

import numpy as np

import wellorder as wo
from wellorder.evaluation import examine

# %%
# A line a document: its grade, its query, its features, and its name. (Here they are made up.)

rng = np.random.default_rng(0)
path = Path(tempfile.mkdtemp()) / "train.letor"
with path.open("w") as file:
    for row in range(1_200):
        features = rng.uniform(0, 1, 5).round(3)
        grade = np.digitize(features @ [2, 1, 0.5, 0, 0] + 0.3 * rng.standard_normal(), [1.8, 2.6])
        written = " ".join(f"{number}:{value}" for number, value in enumerate(features, 1))
        file.write(f"{grade} qid:{row % 80} {written} # document-{row}\n")

# %%
# What is in it, and what could mislead?

table = wo.read(path)
health = examine(table)
for what, how_much in health.facts:
    print(f"{what}: {how_much}")
for finding in health.findings:
    print(f"{finding.severity}: {finding.what} {finding.advice}")

# %%
# Search for C, with whole queries held out. The groups reach the folds, the fits and the metric.

found = wo.search(wo.RankSVM(), {"C": [0.01, 0.1, 1, 10]}, table.X, table.y, groups=table.groups, metric="ndcg@10")
print("best:", found.best_params)

result = wo.cross_validate(
    found.best_estimator, table.X, table.y, groups=table.groups, metrics=["ndcg@10", "map", "swapped_pairs"]
)
for metric in result:
    print(f"{metric}: {result.interval(metric)}")

# %%
# The top of one query.

first = np.flatnonzero(table.groups == table.groups[0])
scores = found.best_estimator.decision_function(table.X[first])
for place, row in enumerate(first[np.argsort(-scores)][:5], 1):
    print(place, table.names()[row], "grade", int(table.y[row]))

display = wo.plot.NDCGCurveDisplay.from_estimator(found.best_estimator, table.X, table.y, table.groups, name="rank-svm")
display.plot()
