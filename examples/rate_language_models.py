"""
Rate language models, with style taken out
==========================================

People saw two answers side by side and said which was better. The votes lean to the answer on the left, and to the
longer one. Here the truth is known, so that one can see what taking style out is worth.
"""

import numpy as np
import polars as pl

import wellorder as wo

rng = np.random.default_rng(0)
models, quality = [f"model-{letter}" for letter in "abcdefghij"], np.linspace(0.9, -0.9, 10)
wordiness = rng.permutation(np.linspace(-1, 1, 10))  # some models write at length

n = 6_000
left = rng.integers(0, 10, n)
right = (left + rng.integers(1, 10, n)) % 10
length_a, length_b = (wordiness[side] + 0.5 * rng.normal(size=n) for side in (left, right))
d = quality[right] - quality[left] - 0.3 + 0.6 * (length_b - length_a)
chance = np.column_stack([np.exp(-d / 2), np.full(n, 0.6), np.exp(d / 2)])
drawn = (rng.uniform(size=(n, 1)) * chance.sum(axis=1, keepdims=True) > chance.cumsum(axis=1)).sum(axis=1)
sides = {"model_a": np.array(models)[left], "model_b": np.array(models)[right]}
lengths = {"length_a": length_a, "length_b": length_b, "judge": rng.integers(0, 200, n)}
votes = pl.DataFrame({**sides, "winner": np.array(["model_a", "tie", "model_b"])[drawn], **lengths})

# %%
# Columns are known by their names. ``side`` asks whether the left or the right answer has an advantage, ``controls``
# names what else may move votes, and ``clusters`` says which votes hang together.

table = wo.read(votes)
print(table.understood)
standings = wo.rate(table, side=True, controls=["length"], clusters=["judge"])
print(standings)

# %%
# What biased the votes, in log-odds for the right answer: .30 for the left side and .60 for a unit of length are true.

print(standings.effects())

# %%
# Without the control, models that write at length seem better than they are.

truth = dict(zip(models, quality, strict=True))
for name, found in (("style taken out", standings), ("votes alone", wo.rate(table))):
    alike = np.corrcoef(found.ratings_, [truth[model] for model in found.items_])[0, 1]
    print(f"{name}: correlation with the truth {alike:.3f}")

# %%
# How sure is it that one model is above another, and how many votes would tell two neighbours apart?

first, second = standings.table()["item"].to_list()[4:6]  # two in the middle
print(f"{first} is above {second} with a probability of {standings.probability(first, second):.2f}")
print(f"votes on the two that would tell them apart: {standings.needed(first, second):,.0f}")
print(standings.predict(first, second, controls={"length": [0.0]}))

standings.plot()
