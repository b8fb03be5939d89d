"""
Explain one pair
================

Why does the model put one row above another? Column by column, the contributions add up to the difference of
their scores.
"""

from sklearn.datasets import load_diabetes

import wellorder as wo

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = wo.OrderBoost(learner="tree", n_estimators=50).fit(X, y)

scores = model.decision_function(X)
top, middle = scores.argmax(), scores.argsort()[len(scores) // 2]

# %%
# Of trees, of linear models and of sums over single columns these are exact; of other models they are estimated, with
# standard errors. They say what moves the scores, not what makes a person ill.

found = wo.explain(model, top, middle, items=X, names=["the first", "the one in the middle"])
print(found)

display = wo.plot.ExplanationDisplay.from_explanation(found)
display.plot()
