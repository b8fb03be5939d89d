"""Rankers made of rankers: how the inner ones are fitted, on which rows, and with what."""

from __future__ import annotations

from dataclasses import replace
from inspect import Parameter, signature
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object

from ..order import Grades, OrderGraph
from ..order.graph import NAMED, Full
from ..order.pairs import make_pairs
from ..scoring import list_scores
from ..solvers.side_by_side import MOST_COLUMNS, MOST_STACKED, Rows, solve_side_by_side
from ..sweeps import Array, Floats, Ints
from .rank_svm import RankSVM
from .validation import NOTHING_TOLD_APART, read_order, warn_of_one_score


def check_base(estimator: Any) -> Any:
    """Return a fresh copy of the inner ranker, a RankSVM where none is named, and refuse what cannot be one."""
    base = RankSVM() if estimator is None else estimator
    if isinstance(base, type) or not hasattr(base, "fit"):
        raise TypeError(f"estimator must be a ranker, such as RankSVM(), got {base!r}")
    if not (hasattr(base, "decision_function") or hasattr(base, "predict")):
        raise TypeError(f"estimator must give scores (decision_function or predict), and {base!r} has neither")
    if get_tags(base).input_tags.pairwise:
        raise ValueError("a precomputed kernel cannot be cut into rows of two grades; use kernel='rbf' or a callable")
    return clone(base)


def read_plain_grades(y: Any, groups: Any, sample_weight: Any, levels: Any, n_rows: int, model: str) -> Grades:
    """Return grades, one a row, all of whose levels are ordered; refuse anything else."""
    order = read_order(y, groups, sample_weight, "full", levels, "pairs")
    if not isinstance(order, Grades):
        raise ValueError(f"{model} takes grades, one a row, not {type(order).__name__}; RankSVM takes comparisons")
    if not isinstance(order.graph.structure, Full):
        raise ValueError(f"{model} orders all levels, and takes no other order than 'full'; give it to its estimator")
    order.to_pairs(n_rows)  # as many grades as rows
    return order


def fit_part(base: Any, X: Any, level: Ints, group: Ints | None, weight: Floats | None) -> Any:
    """Fit a copy of a ranker to some rows, with their groups and weights under the names that it takes."""
    model = clone(base)
    given = {name: part for name, part in (("groups", group), ("sample_weight", weight)) if part is not None}
    steps = getattr(model, "steps", None)
    prefix, last = ("", model) if steps is None else (f"{steps[-1][0]}__", steps[-1][1])
    taken = signature(last.fit).parameters
    if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return _fit_routed(model, X, level, given)
    if "sample_weight" in given and "sample_weight" not in taken:
        raise ValueError(f"{type(last).__name__} takes no sample_weight; leave the weights out, or take another")
    if "groups" in given and "groups" not in taken and _compares(last):
        raise ValueError(
            f"{type(last).__name__} hands no groups on to the ranker inside; take another, or leave it out"
        )
    options = {f"{prefix}{name}": part for name, part in given.items() if name in taken}
    with config_context(enable_metadata_routing=False):  # what is passed has found its way already
        return model.fit(X, level, **options)


def _fit_routed(model: Any, X: Any, level: Ints, given: dict[str, Any]) -> Any:
    """Fit a search, or what else hands on whatever it is given: scikit-learn's routing knows to whom."""
    name = type(model).__name__
    with config_context(enable_metadata_routing=True):
        try:
            consumed = get_routing_for_object(model).consumes("fit", tuple(given))
        except NotImplementedError:  # how scikit-learn says that a model hands nothing on to those inside
            consumed = set()
        if "sample_weight" in given and "sample_weight" not in consumed:
            raise ValueError(
                f"{name} hands no sample_weight on; leave the weights out, or ask for them inside it with "
                "set_fit_request(sample_weight=True) and set_score_request(sample_weight=True)"
            )
        if "groups" in given and "groups" not in consumed and _compares(model):
            raise ValueError(f"{name} hands no groups on to the ranker inside; take another, or leave it out")
        return model.fit(X, level, **{key: given[key] for key in consumed})


def _compares(model: Any) -> bool:
    """Say whether something inside a model would compare rows of different groups, were it not told the groups."""
    inside = [part for part in model.get_params(deep=True).values() if hasattr(part, "fit")]
    return any("groups" in signature(part.fit).parameters for part in inside if not isinstance(part, type))


def draw_rows(
    rows: Rows, ends: tuple[int, int], max_samples: float | int | None, rng: np.random.Generator
) -> tuple[Ints, Floats | None]:
    """Return the rows of two levels and their weights, or some of them, with weights that make up for it.

    All of them where so few are wanted that none would be left to compare.
    """
    mine = np.flatnonzero((rows.level == ends[0]) | (rows.level == ends[1])).astype(np.int32)
    group, weight = (None if part is None else part[mine] for part in (rows.group, rows.weight))
    if max_samples is None:
        return mine, weight
    share = not isinstance(max_samples, Integral)
    size = int(np.ceil(float(max_samples) * len(mine))) if share else int(max_samples)
    if size >= len(mine):
        return mine, weight
    level = (rows.level[mine] == ends[1]).astype(np.int32)
    drawn, some = make_pairs(level, group, weight, OrderGraph.full(range(2)), "pairs").sample(size, rng)
    return (mine[drawn], some.row_weight) if some.n_pairs else (mine, weight)


def finiteness(base: Any) -> Any:
    """Return what scikit-learn is to check of the rows: all finite, unless the ranker takes missing values."""
    return "allow-nan" if get_tags(base).input_tags.allow_nan else True


def score_table(rankers: list[Any], X: Any, groups: Any) -> Floats:
    """Return one column of scores a ranker."""
    return np.column_stack([np.asarray(list_scores(ranker, X, groups), dtype=float) for ranker in rankers])


def can_stack(base: Any, rows: Rows) -> bool:
    """Say whether the rankers can be fitted side by side, and whether that pays."""
    return (
        type(base) is RankSVM
        and base.loss == "squared_hinge"
        and base.kernel == "linear"
        and base.n_components is None
        and base.pairs_per_item is None
        and base.levels is None
        and base.device is None
        and isinstance(base.order, str)
        and base.order in NAMED
        and rows.X.shape[1] <= MOST_COLUMNS
        and rows.n_stacked <= MOST_STACKED
    )


def fit_stacked(base: RankSVM, rows: Rows) -> list[RankSVM] | None:
    """Fit all linear rankers in one go; each is what a fit of its own would give, up to ``tol``.

    None where that does not converge: one hard problem must not spoil the others.
    """
    base._check_parameters()
    rows = replace(rows, balance=base.balance)
    results, n_pairs = solve_side_by_side(rows, base.C, tol=base.tol, max_iter=base.max_iter)
    if not results[0].converged:
        return None
    fitted = []
    for result, count, ends in zip(results, n_pairs.tolist(), rows.ends, strict=True):
        ranker = clone(base)
        ranker._store(result.coef, rows.X)
        ranker.n_features_in_ = int(rows.X.shape[1])
        ranker.objective_, ranker.gap_, ranker.n_iter_ = result.objective, result.gap, result.n_iter
        ranker.n_pairs_ = count
        ranker.n_groups_ = 1 if rows.group is None else len(np.unique(rows.group[np.isin(rows.level, ends)]))
        fitted.append(ranker)
    if not any(result.coef.any() for result in results):
        warn_of_one_score(NOTHING_TOLD_APART, stacklevel=6)
    return fitted


def meeting(level: Array, group: Array | None, weight: Floats | None, n_levels: int) -> Array:
    """Say of each two levels, lower and higher, whether rows of both stand in one list, with weights."""
    there = level >= 0 if weight is None else (level >= 0) & (weight > 0)
    if group is None:
        present = np.bincount(level[there], minlength=n_levels) > 0
        return np.triu(np.outer(present, present), 1)
    key = np.unique(group[there].astype(np.int64) * n_levels + level[there])
    met = np.zeros((n_levels, n_levels), dtype=bool)
    _, number = np.unique(key // n_levels, return_inverse=True)
    of_level = key % n_levels
    # invariant: `step` apart are two levels of one list, as long as the list is the same
    for step in range(1, n_levels):
        if step >= len(key):
            break
        same = number[step:] == number[:-step]
        met[of_level[:-step][same], of_level[step:][same]] = True
    return met
