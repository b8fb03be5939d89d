"""One suite over all estimators: numbers that are the same to a person, and hard on floating point."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import wellorder as wo
from wellorder import estimators
from wellorder.estimators.compare_model import CompareModel

NEEDED = {
    "CompareLP": {"C": 1.0},  # else the outcomes must be separable
    "OrderEnsemble": {"estimators": [("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())]},
    "ThresholdCompare": {"estimator": wo.RankSVM()},
}
"""What a constructor cannot do without."""

QUICK = {"n_estimators": 10, "min_samples_leaf": 2, "random_state": 0}
"""Parameters of any estimator that has them."""

VARIANTS = {
    "kernel": ["rbf", "poly"],
    "n_components": [10],
    "loss": ["hinge", "logistic", "orboost", "squared", "absolute"],
    "learner": ["tree"],
    "slacks": ["row"],
    "penalty": ["l1", "laplacian"],
    "scale": [True],
    "thresholds": ["immediate", "explicit"],
}
"""Values that make another method of an estimator that takes them."""

rng = np.random.default_rng(0)
X = np.where(rng.random((60, 4)) < 0.6, rng.standard_normal((60, 4)), 0.0)
Y = np.digitize(X @ [1.0, -0.5, 0.3, 0.0] + 0.3 * rng.standard_normal(60), [-0.6, 0.6])
LEFT, RIGHT = rng.integers(0, 60, (2, 150))
LEFT, RIGHT = LEFT[LEFT != RIGHT], RIGHT[LEFT != RIGHT]
OUTCOME = np.sign(Y[RIGHT] - Y[LEFT])


def every_estimator():
    """Make each public estimator as it comes, and with each other value that it takes."""
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        taken = inspect.signature(cls).parameters
        given = {key: value for key, value in QUICK.items() if key in taken} | NEEDED.get(name, {})
        yield pytest.param(cls(**given), id=name)
        for key, values in VARIANTS.items():
            for value in values if key in taken else ():
                model = cls(**given, **{key: value})
                try:
                    model._check_parameters()
                except ValueError:  # another estimator's value
                    continue
                except AttributeError:
                    pass
                yield pytest.param(model, id=f"{name}-{key}={value}")


EVERY = list(every_estimator())


def fit(model, items, y=Y, outcome=OUTCOME, weight=None):
    """Fit a model of rows, or of comparisons of rows."""
    if isinstance(model, CompareModel):
        return model.fit(wo.Pairs(items, LEFT, RIGHT), outcome, sample_weight=weight)
    return model.fit(items, y, sample_weight=weight)


def in_parts(matrix):
    """Return the same sparse matrix with every entry in two unequal parts, which SciPy allows."""
    whole = sp.csr_array(matrix)
    share = 0.3 + 0.4 * np.sin(np.arange(whole.nnz)) ** 2
    data = np.stack([whole.data * share, whole.data - whole.data * share], axis=1).ravel()
    parts = sp.csr_array((data, np.repeat(whole.indices, 2), 2 * whole.indptr), shape=whole.shape)
    assert not parts.has_canonical_format
    return parts


@pytest.mark.parametrize("model", EVERY)
def test_entries_in_parts_are_added_up(model):
    whole, parts = sp.csr_array(X), in_parts(X)
    stored = parts.nnz
    expected = fit(model, whole).decision_function(whole)
    for form in ("csr", "csc", "coo"):
        scores = model.decision_function(parts.asformat(form))
        np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9, err_msg=form)
    np.testing.assert_allclose(fit(model, parts).decision_function(whole), expected, rtol=1e-5, atol=1e-6)
    assert parts.nnz == stored  # the user's own matrix is as it was
