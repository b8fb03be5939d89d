"""A metric, query by query: which lists a method does well on, and whether two methods differ over queries."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.stats import permutation_test

from ..metrics import AnyMetric, parse
from ..order import encode_groups, exact_numbers, read_column
from ..sweeps import Floats


def by_query(metric: AnyMetric, y: Any, scores: Any, groups: Any) -> dict[Hashable, float]:
    """Return the metric's value on each query, by its id; NaN where it is not defined.

    Parameters
    ----------
    metric : str, Metric or Definition
        Such as ``ndcg@10``.
    y : array of shape (n,)
        Grades: numbers.
    scores : array of shape (n,)
        Scores; a higher one stands above.
    groups : array of shape (n,)
        The query of each row.

    Examples
    --------
    >>> from wellorder.evaluation import by_query
    >>> by_query("swapped_pairs", [0, 1, 0, 1, 1], [1, 2, 2, 1, 5], ["a", "a", "b", "b", "c"])
    {'a': 0.0, 'b': 1.0, 'c': nan}
    """
    measure = parse(metric)
    if groups is None:
        raise ValueError("groups is None; give the query of each row")
    grades, values, ids = np.asarray(y), exact_numbers(scores), read_column(groups, "groups")
    if not len(grades) == len(values) == len(ids):
        raise ValueError(f"there are {len(grades):,} grades, {len(values):,} scores and {len(ids):,} groups")
    group, n_groups = encode_groups(ids, len(ids))
    assert group is not None  # as groups were given
    by_group = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a query without a relevant item, or a single one, is NaN: that says it
        return {
            ids[rows[0]].item() if isinstance(ids[rows[0]], np.generic) else ids[rows[0]]: measure(
                grades[rows], values[rows]
            )
            for rows in np.split(by_group, ends[:-1])
            if len(rows)
        }


def randomisation_test(differences: Any, n_resamples: int = 9_999, seed: int = 0) -> float:
    """Return the p-value of paired differences: how often their mean is as far from 0 with signs drawn at random.

    NaN are left out. The usual test of two rankers over the same queries (Smucker and others, 2007).

    Examples
    --------
    >>> from wellorder.evaluation import randomisation_test
    >>> randomisation_test([1.0, 2.0, 1.5, 0.5, 1.0, 2.5, 1.0, 0.5])
    0.0078125
    """
    known: Floats = np.asarray(differences, dtype=float)
    known = known[~np.isnan(known)]
    if np.isinf(known).any():
        raise ValueError("a difference is infinite; test a metric that is bounded")
    if len(known) < 2 or not known.any():
        return 1.0
    found = permutation_test(
        (known,), np.mean, permutation_type="samples", n_resamples=n_resamples, rng=np.random.default_rng(seed)
    )
    return float(found.pvalue)
