"""Boosting with trees: LightGBM grows them for our risks, and we keep them as plain arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..deadline import time_is_up, warn_of_time
from ..spaces import Categories, Forest, each_entry_once
from ..sweeps import THREADS_FROM, Bools, Floats, Ints, sums_at
from .boosting import BoostResult, Risk, Rounds, Validation, is_enough


@dataclass(frozen=True)
class TreeShape:
    """How trees may grow; the names are those of scikit-learn's HistGradientBoosting."""

    max_leaf_nodes: int = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    """Added to the summed Hessian of a leaf, to which a row adds one on average, at first."""
    max_bins: int = 255
    max_features: float = 1.0
    """The share of the columns that each split may look at."""
    subsample: float = 1.0
    """The share of the rows that each tree is grown from."""
    categories: Mapping[int, int] = field(default_factory=dict)
    """The columns that hold the numbers of categories, and how many categories each has."""
    signs: Ints | None = None
    """+1, −1 or 0 for each column: where more is never worse, or never better."""
    min_gain: float = 0.0
    """What a split must gain at least, in LightGBM's units: half of it is what the risk's quadratic model falls by,
    over the mean curvature of a row at the start."""
    interactions: tuple[tuple[int, ...], ...] | None = None
    """The sets of columns that may meet on one way from a root to a leaf; None: any may."""


def boost_trees(
    X: Any,
    risk: Risk,
    validation: Validation | None,
    rounds: Rounds,
    *,
    seed: int,
    params: TreeShape,
    begin: BoostResult | None = None,
) -> BoostResult:
    """Add trees one by one, each fitted to the risk's gradient and Hessian diagonal at the scores so far.

    X is dense or CSR, float64 or float32; NaN is a missing value. Scores start at 0. Rows whose gradient and Hessian
    are zero there are in no pair: they never will be, and the trees never see them. The same bits for any number of
    threads. With what earlier rounds have left to ``begin`` with, the rounds go on from there.
    """
    n = X.shape[0]
    now = risk(np.zeros(n))
    rows = np.flatnonzero((now.hessian_diagonal() > 0) | (now.gradient != 0))
    if not len(rows):
        raise ValueError("the risk does not depend on any row's score: there is nothing to learn from")
    booster = _Booster(X if len(rows) == n else X[rows], validation, _settings(rounds, params, seed, n), params)
    seen = slice(None) if len(rows) == n else rows  # no copies where all rows are
    unit = 1.0 / float(np.mean(now.hessian_diagonal()[seen]))  # LightGBM's own limits mean rows of curvature one
    scores, beside = np.zeros(n), 0.0
    train_risk: list[float] = []
    validation_risk: list[float] = []
    first = now.value
    before = 0 if begin is None else begin.n_rounds
    if begin is not None:
        scores = begin.pieces.scores(X)
        now = risk(scores)
        train_risk = begin.train_risk[:before].tolist()
        if validation is not None:
            beside = begin.pieces.scores(validation.X)
            validation_risk = [] if begin.validation_risk is None else begin.validation_risk[:before].tolist()
            if len(validation_risk) < before:  # the earlier rounds had no such rows
                validation_risk = [np.inf] * before
    start = scores[seen].copy()
    for _ in range(before, rounds.n_estimators):
        if train_risk and time_is_up():
            warn_of_time(f"after {len(train_risk)} of {rounds.n_estimators} trees")
            break
        # A pair risk's Hessian is at most twice its diagonal: below a learning rate of 1, a step on a quadratic cannot
        # go too far. Handing over twice the diagonal would be half the learning rate under another name.
        grown = booster.grow(unit * now.gradient[seen], unit * now.hessian_diagonal()[seen])
        if not grown:
            break  # no split is possible, nor will be: the scores stay as they are
        scores[seen] = start + booster.train_scores()
        now = risk(scores)
        if not np.isfinite(now.value):
            break  # steps that went ever farther, at too high a learning rate: what came before stands
        train_risk.append(now.value)
        if validation is not None:
            validation_risk.append(validation.risk(beside + booster.validation_scores(), scores.copy()))
        if validation_risk and is_enough(validation_risk, rounds.patience):
            break
    found = np.array(validation_risk) if validation is not None else None
    result = BoostResult(None, np.array(train_risk), found)
    own = max(result.n_rounds - before, 0)
    forest, gains = booster.forest(own), booster.gains(own, X.shape[1])
    after = np.array([first, *train_risk])[before:]
    falls = _falls(gains, -np.diff(after)[:own], X.shape[1])
    total = np.sum(gains, axis=0) if gains else np.zeros(X.shape[1])
    if begin is None:
        return replace(result, pieces=forest, gains=total, falls=falls)
    assert begin.gains is not None
    assert begin.falls is not None
    pieces = begin.pieces.first(min(before, result.n_rounds)) if own == 0 else begin.pieces.plus(forest)
    return replace(result, pieces=pieces, gains=begin.gains + total, falls=begin.falls + falls)


def _falls(gains: list[Floats], falls: Floats, n_columns: int) -> Floats:
    """Share out what the exact risk fell by in each round among the columns, by their splits' gains in its tree."""
    out = np.zeros(n_columns)
    for gain, fall in zip(gains, falls.tolist(), strict=True):
        if (total := float(gain.sum())) > 0:
            out += fall * gain / total
    return out


def regression_trees(
    X: Any, target: Floats, weight: Floats | None, rounds: Rounds, *, seed: int, params: TreeShape
) -> Forest:
    """Grow trees by LightGBM's own least squares; the target is best centred, as LightGBM keeps it in float32."""
    own = {"objective": "regression", "boost_from_average": False}
    return _own_trees(X, target, weight, None, rounds, {**_settings(rounds, params, seed, X.shape[0]), **own}, params)


def lambdarank_trees(
    X: Any,
    relevance: Ints,
    lists: Ints,
    weight: Floats | None,
    rounds: Rounds,
    *,
    seed: int,
    params: TreeShape,
    truncation: int = 30,
    gains: Sequence[float] | None = None,
) -> Forest:
    """Grow trees by LightGBM's own LambdaRank: rows list by list, ``lists`` says how long each is.

    Unless ``gains`` says what each is worth, a relevance of l gains 2^l − 1, as LightGBM has it; above 30, where that
    would drown all but the best, l. Of a pair, one must be among the first ``truncation``.
    """
    n_levels = int(relevance.max(initial=0)) + 1
    if gains is None:
        gains = [2.0**level - 1.0 if n_levels <= _MOST_DOUBLING else float(level) for level in range(n_levels)]
    own = {"objective": "lambdarank", "label_gain": list(gains), "lambdarank_truncation_level": truncation}
    settings = {**_settings(rounds, params, seed, X.shape[0]), **own}
    return _own_trees(X, relevance, weight, lists, rounds, settings, params)


LONGEST_LIST = 10_000
"""LightGBM's LambdaRank refuses lists of more rows."""

_MOST_DOUBLING = 31
"""Levels up to which LightGBM's gains double; it has none beyond."""


def _own_trees(
    X: Any,
    target: Any,
    weight: Floats | None,
    lists: Ints | None,
    rounds: Rounds,
    settings: dict[str, Any],
    shape: TreeShape,
) -> Forest:
    lightgbm = _import_lightgbm()
    if X.shape[1] == 0:
        return Forest.constant(0.0)
    sets = _sets_of(X, shape)
    more = {"weight": weight, "group": lists, "params": settings, "categorical_feature": list(sets)}
    train = lightgbm.Dataset(_handed_over(X, sets), target, **more).construct()
    if not _can_split(train):
        return Forest.constant(0.0)
    booster = lightgbm.Booster(settings, train)
    for n_trees in range(rounds.n_estimators):
        if n_trees and time_is_up():
            warn_of_time(f"after {n_trees} of {rounds.n_estimators} trees")
            break
        if booster.update():
            break  # no split is possible, nor will be
    return Forest.from_lightgbm(booster.model_to_string(), sets)


def _sets_of(X: Any, shape: TreeShape) -> dict[int, Categories]:
    """Return what there is to know of the columns of categories in training rows."""
    return {k: Categories(n, bool(np.isnan(X[:, k]).any())) for k, n in sorted(shape.categories.items())}


def _handed_over(X: Any, sets: Mapping[int, Categories]) -> Any:
    """Return rows as LightGBM takes them: a missing category, which it would send to the right, is one more category.

    Sparse matrices, not arrays, are what it takes; of an entry given in parts it would see one part.
    """
    if sp.issparse(X):
        return sp.csr_matrix(each_entry_once(X))
    if not sets:
        return X
    out = np.array(X, order="K")
    for k, column in sets.items():
        out[np.isnan(out[:, k]), k] = column.n
    return out


def _can_split(train: Any) -> bool:
    """Say whether any column has two values to tell apart; LightGBM would fail without."""
    return any(train.feature_num_bin(column) > 1 for column in range(train.num_feature()))


def _settings(rounds: Rounds, shape: TreeShape, seed: int, n_rows: int) -> dict[str, Any]:
    """Return LightGBM's parameters; built column by column, its histograms are the same on any number of threads."""
    return {
        "objective": "none",
        "metric": "None",
        "verbosity": -1,
        "deterministic": True,
        "force_col_wise": True,
        "seed": seed,
        "num_threads": _n_threads(n_rows),
        "use_missing": True,
        "zero_as_missing": False,
        "learning_rate": rounds.learning_rate,
        "num_leaves": shape.max_leaf_nodes,
        "max_depth": -1 if shape.max_depth is None else shape.max_depth,
        "min_data_in_leaf": shape.min_samples_leaf,
        "lambda_l2": shape.l2_regularization,
        "max_bin": shape.max_bins,
        "feature_fraction_bynode": shape.max_features,
        "bagging_fraction": shape.subsample,
        "bagging_freq": int(shape.subsample < 1.0),
        "min_gain_to_split": shape.min_gain,
        "min_data_per_group": shape.min_samples_leaf,
    } | _constraints(shape)


_METHOD = "basic"
"""How LightGBM keeps trees monotone. Its 'intermediate' and 'advanced' ways bind less, and do not keep it: leaf by
leaf, their trees break the constraint, most of all where values are missing."""


def _constraints(shape: TreeShape) -> dict[str, Any]:
    """Return LightGBM's parameters for signs of columns, and for columns that may meet in a tree."""
    out: dict[str, Any] = {}
    if shape.signs is not None:
        out |= {"monotone_constraints": shape.signs.tolist(), "monotone_constraints_method": _METHOD}
    if shape.interactions is not None:
        out["interaction_constraints"] = [list(each) for each in shape.interactions]
    return out


_started_in: set[int] = set()
"""The process in which LightGBM has started its threads; after a fork, that is another one."""


def _n_threads(n_rows: int) -> int:
    """Return how many threads LightGBM may use; 0: as many as there are.

    They wait for each other in a busy loop: on few rows, beside any other work, that takes longest of all. And they do
    not live on in a forked process, where OpenMP would wait for them for ever: there, one has to do.
    """
    if n_rows < THREADS_FROM:
        return 1
    if not _started_in:
        _started_in.add(os.getpid())
    return 0 if os.getpid() in _started_in else 1


class _Booster:
    """LightGBM's booster, through its public functions; where no column can be split, one leaf of value 0."""

    def __init__(self, X: Any, validation: Validation | None, settings: dict[str, Any], shape: TreeShape) -> None:
        lightgbm = _import_lightgbm()
        self._sizes = X.shape[0], 0 if validation is None else validation.X.shape[0]
        self._booster: Any = None
        self._apart: Any = None
        self._sets = _sets_of(X, shape)
        if X.shape[1] == 0:
            return
        told = {"params": settings, "categorical_feature": list(self._sets)}
        train = lightgbm.Dataset(_handed_over(X, self._sets), np.zeros(X.shape[0]), **told).construct()
        if not _can_split(train):
            return
        self._booster = lightgbm.Booster(settings, train)
        if validation is not None and _has_other_holes(validation.X, X):
            self._apart, self._apart_scores = validation.X, np.zeros(self._sizes[1])
        elif validation is not None:
            rows = _handed_over(validation.X, self._sets)
            beside = lightgbm.Dataset(rows, np.zeros(rows.shape[0]), reference=train, params=settings)
            self._booster.add_valid(beside, "validation")

    def grow(self, gradient: Floats, hessian: Floats) -> bool:
        """Add a tree; False if no split was possible."""
        if self._booster is None:
            return False
        grown = not self._booster.update(fobj=lambda scores, data: (gradient, hessian))
        if grown and self._apart is not None:
            last = self._booster.model_to_string(start_iteration=self._booster.current_iteration() - 1)
            self._apart_scores += Forest.from_lightgbm(last, self._sets).scores(self._apart)
        return grown

    def train_scores(self) -> Floats:
        return np.zeros(self._sizes[0]) if self._booster is None else _seen_by(self._booster.eval_train)

    def validation_scores(self) -> Floats:
        if self._apart is not None:
            return self._apart_scores.copy()
        return np.zeros(self._sizes[1]) if self._booster is None else _seen_by(self._booster.eval_valid)

    def gains(self, n_trees: int, n_columns: int) -> list[Floats]:
        """Return what the splits of each of the first trees have gained, column by column."""
        if self._booster is None or n_trees == 0:
            return []
        return _split_gains(self._booster.model_to_string(num_iteration=n_trees), n_columns)

    def forest(self, n_trees: int) -> Forest:
        if self._booster is None or n_trees == 0:
            return Forest.constant(0.0)
        return Forest.from_lightgbm(self._booster.model_to_string(num_iteration=n_trees), self._sets)


def _split_gains(model: str, n_columns: int) -> list[Floats]:
    """Return what the splits of each tree have gained, column by column."""
    out = []
    for block in model.split("\nTree=")[1:]:
        lines = dict(line.partition("=")[::2] for line in block.split("\n\n", 1)[0].splitlines())
        feature = np.array(lines.get("split_feature", "").split(), np.int64)
        out.append(sums_at(feature, np.array(lines.get("split_gain", "").split(), float), minlength=n_columns))
    return out


def _has_other_holes(rows: Any, training: Any) -> bool:
    """Say whether values are missing in columns that had none missing in training: LightGBM takes these for zeros."""
    return bool((_holes_of(rows) & ~_holes_of(training)).any())


def _holes_of(X: Any) -> Bools:
    """Say which columns have a missing value."""
    if not sp.issparse(X):
        return np.asarray(np.isnan(X).any(axis=0))
    X = sp.csr_array(X)
    out = np.zeros(X.shape[1], dtype=bool)
    out[X.indices[np.isnan(X.data)]] = True
    return out


def _seen_by(evaluate: Any) -> Floats:
    """Return the raw scores that LightGBM keeps and shows to a measure of one's own."""
    seen: list[Floats] = []

    def measure(scores: Floats, data: Any) -> tuple[str, float, bool]:
        seen.append(np.array(scores, dtype=float))
        return "seen", 0.0, False

    evaluate(measure)
    return seen[0]


def _import_lightgbm() -> Any:
    try:
        import lightgbm
    except (ImportError, OSError) as error:
        raise ImportError(
            f"boosting with trees needs LightGBM ({error}): pip install lightgbm; and where the OpenMP library is "
            "missing (libgomp.so.1 or libomp.dylib), apt install libgomp1 or brew install libomp"
        ) from error
    return lightgbm
