"""Every estimator of ``wellorder.estimators``, made so that it is fitted quickly: a new one is found by itself."""

from __future__ import annotations

from inspect import signature

import wellorder as wo
from wellorder import estimators

QUICK = {
    "C": 1.0,
    "n_estimators": 30,
    "min_samples_leaf": 2,
    "random_state": 0,
    "estimators": [("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())],
}
"""Parameters that make a fit quick and settled, for whichever estimator has them."""


def make(name, **params):
    """Return an estimator by its name, with those of the parameters that it has."""
    cls = getattr(estimators, name)
    return cls(**{key: value for key, value in (QUICK | params).items() if key in signature(cls).parameters})


def takes_grades(name):
    return "groups" in signature(getattr(estimators, name).fit).parameters


GRADED = [name for name in estimators.__all__ if takes_grades(name)]
COMPARED = [name for name in estimators.__all__ if not takes_grades(name)]
