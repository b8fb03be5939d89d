"""What a position in a list is worth, estimated from clicks: by items that were moved, or by features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from ..order import check_clicked, check_positions, click_propensities_from
from ..samples import fit_with, take
from ..sweeps import Array, Bools, Floats, Ints
from .base import check_whole

_SETTLED = 1e-3
"""How little the propensities change in a round that is the last."""


def click_propensities(
    clicked: Any,
    position: Any,
    *,
    items: Any = None,
    X: Any = None,
    estimator: Any = None,
    max_iter: int = 100,
) -> Floats:
    r"""Estimate how often each position of a list is looked at: what :class:`~wellorder.Clicks` takes.

    From ``items`` that were seen at several positions, by maximum likelihood over items and positions: no more is
    assumed than that a click needs a look and a wish, and that a look depends on the position alone. Where no item
    moves, from features ``X``, by regression-EM: looks and wishes are filled in by what is expected of them,

    .. math:: P(\text{seen} \mid \text{no click}) = \frac{q_k (1 - r)}{1 - q_k r}, \qquad
              P(\text{wanted} \mid \text{no click}) = \frac{(1 - q_k) \, r}{1 - q_k r}

    q is their mean at each position and r(x) a classifier of the wishes, in turns. That is only as good as the
    classifier: if the features tell where a row stood, it takes positions for wishes.

    Parameters
    ----------
    clicked : array of shape (n,)
        Booleans, or 0 and 1.
    position : array of shape (n,)
        Where each row stood in its list: 1 is the first.
    items : array of shape (n,), optional
        What each row is, the same wherever the same thing was shown for the same query.
    X : array of shape (n, d), optional
        Features, where there are no items that moved.
    estimator : classifier, optional
        With ``predict_proba`` and weights; logistic regression unless given.
    max_iter : int, default=100
        Rounds of the EM algorithm at most.

    Returns
    -------
    array
        q of positions 1, 2, …; the largest is 1. NaN for positions of which nothing is known.

    References
    ----------
    Agarwal et al. (2019), Estimating position bias without intrusive interventions. Wang et al. (2018), Position bias
    estimation for unbiased learning to rank in personal search.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> rng = np.random.default_rng(0)
    >>> X, position = rng.standard_normal((20_000, 1)), np.tile([1, 2], 10_000)
    >>> clicked = rng.random(20_000) < np.array([1.0, 0.5])[position - 1] / (1 + np.exp(-2 * X[:, 0]))
    >>> wo.click_propensities(clicked, position, X=X).round(1).tolist()
    [1.0, 0.5]
    """
    if items is not None:
        if X is not None or estimator is not None:
            raise ValueError("items and features are two ways to estimate; leave X and estimator out, or items")
        return click_propensities_from(clicked, position, items)
    if X is None:
        raise ValueError(
            "nothing tells what a position is worth: give items=, what each row is, where some were shown at several "
            "positions, or their features X="
        )
    was_clicked = check_clicked(clicked)
    where = check_positions(position, len(was_clicked))
    if not was_clicked.any():
        raise ValueError("no row was clicked: nothing tells which positions are looked at")
    check_whole(max_iter, "max_iter")
    X = X if hasattr(X, "iloc") or sp.issparse(X) else np.asarray(X)
    if X.ndim != 2 or X.shape[0] != len(was_clicked):
        raise ValueError(f"X has the shape {X.shape}, and there are {len(was_clicked)} rows; give the features of each")
    return _regression_em(was_clicked, where, X, estimator, max_iter)


def _regression_em(clicked: Bools, position: Ints, X: Any, estimator: Any, max_iter: int) -> Floats:
    shown = np.bincount(position - 1).astype(float)
    q = np.bincount(position - 1, clicked) / np.maximum(shown, 1.0)
    q = np.where(q > 0, q / q.max(), 0.0)
    model = make_pipeline(MaxAbsScaler(), LogisticRegression(C=10.0)) if estimator is None else clone(estimator)
    wanted: Array = np.where(clicked, 1.0, 0.5 * clicked.mean())
    for _ in range(max_iter):
        # invariant: the likelihood of the clicks never falls, as far as the classifier maximises its own
        r = np.clip(_chance(model, X, wanted), 1e-6, 1.0 - 1e-6)
        seen = q[position - 1]
        neither = 1.0 - seen * r
        wanted = np.where(clicked, 1.0, (1.0 - seen) * r / np.maximum(neither, 1e-12))
        looked = np.where(clicked, 1.0, seen * (1.0 - r) / np.maximum(neither, 1e-12))
        last, q = q, np.bincount(position - 1, looked) / np.maximum(shown, 1.0)
        q = np.where(shown > 0, q / q.max(), 0.0)
        if float(np.abs(q - last).max()) < _SETTLED:
            break
    else:
        warnings.warn(
            f"propensities still changed by {float(np.abs(q - last).max()):.1g} in round {max_iter}; raise max_iter",
            stacklevel=3,
        )
    return np.where(q > 0, q, np.nan)


def _chance(model: Any, X: Any, wanted: Floats) -> Floats:
    """Fit a classifier to wishes that are half one and half the other, and return its probabilities."""
    n = len(wanted)
    rows = np.concatenate([np.arange(n), np.arange(n)])
    label, weight = np.repeat([1, 0], n), np.concatenate([wanted, 1.0 - wanted])
    kept = weight > 0
    fit_with(model, take(X, rows[kept]), label[kept], sample_weight=weight[kept])
    return np.asarray(model.predict_proba(X)[:, 1])
