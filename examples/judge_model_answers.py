"""
Comparisons with ties
=====================

Which of two answers is better, or is there no difference? Made-up judgements of made-up answers, drawn by a seed.
"""

import numpy as np
import polars as pl

import wellorder as wo
from wellorder.evaluation import evaluate_table, fit_table, order_items

rng = np.random.default_rng(7)

# 30 answers to one question: what can be counted about them. What a judge would think of them nobody gets to see.
n = 30
counts = rng.poisson(4, n), rng.poisson(1, n), rng.normal(200, 60, n).round(), rng.poisson(3, n)
about = pl.DataFrame(dict(zip(["facts", "errors", "words", "steps"], counts, strict=True)))
quality = about.to_numpy() @ [0.5, -1.2, -0.004, 0.25]
names = np.array([f"answer {i + 1}" for i in range(n)], dtype=object)
answers = wo.data.Table("answers", about, ids=names, item="answer")
# %%
# 300 judgements, two answers at a time: 1 if the right one is better, -1 for the left one, 0 for 'no difference'.
left = rng.integers(0, n, 300)
right = (left + rng.integers(1, n, 300)) % n
seen = quality[right] - quality[left] + 0.5 * rng.standard_normal(300)
outcome = np.where(np.abs(seen) < 0.8, 0, np.sign(seen)).astype(int)
judgements = wo.data.ComparisonTable("judgements", answers, wo.Comparisons(left, right, outcome), described=True)
print(judgements.comparisons.describe())
# %%
print("\nWrong on judgements that a method has not seen:")
board = wo.compare(judgements, ["compare-svm", "rank-threshold", "davidson", "elo", "rank-svm"], n_repeats=1)
for standing in board.standings:
    print(f"  {standing.method:15} {standing.mean:6.1%}   (95 %: {standing.low:.1%} to {standing.high:.1%})")
# %%
train, test = np.split(rng.permutation(300), [240])
model = fit_table(judgements.take(np.sort(train)), "compare-svm").model
new = judgements.take(test)
found = evaluate_table(model, new, ["comparison_error", "comparison_brier"])
print(f"\ncompare-svm on 60 others: {found['comparison_error']:.1%} wrong, Brier score {found['comparison_brier']:.3f}")
# %%
print("\nThe first five of them:            left   tie  right  came out")
words = {-1: "left", 0: "no difference", 1: "right"}
for i, chances in enumerate(model.predict_proba(new)[:5]):
    a, b = names[new.comparisons.left[i]], names[new.comparisons.right[i]]
    shown = "  ".join(f"{chance:4.0%}" for chance in chances)
    print(f"  {a + ' or ' + b + '?':32} {shown}    {words[int(new.comparisons.outcome[i])]}")
# %%
ordered = order_items(model, answers)
rows = ordered.lists[0].rows
print("\nFrom best to worst:")
for band in sorted({row[1] for row in rows}):
    print(f"  band {band}:", ", ".join(item.removeprefix("answer ") for _, mine, item, _ in rows if mine == band))
print(f"({ordered.note})")

display = wo.plot.PairCalibrationDisplay.from_estimator(model, new)
display.plot()
