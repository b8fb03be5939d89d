"""A closer look at a finished comparison: single lists, single pairs, and what score differences are worth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from ..data import ComparisonTable, Table, TableRanker
from ..evaluation.attribution import scores_rows_alone
from ..evaluation.explaining import explain
from ..evaluation.explanation import Explanation
from ..evaluation.leaderboard import Leaderboard
from ..evaluation.methods import METHODS, make_seeded
from ..evaluation.records import plain
from ..evaluation.splits import Split
from ..evaluation.tasks import AnyTable, Task, make_task
from ..evaluation.trials import trial_seed
from ..figures import LevelCurvesDisplay, PairCalibrationDisplay, ScoreDifferencesDisplay
from ..order import Grades
from ..sweeps import Floats
from .duel import Duel, choose_rival, make_duel
from .held_out import HeldOut, first_repeat, held_out
from .telling import telling_pairs

_SLOWEST = 10.0
"""Seconds: a method whose fit takes longer is not fitted once more to be looked at."""

_TRIED = 4
"""Methods, the best first, that are tried until one can be looked at."""

_MOST_ROWS = 2_000
"""Held-out rows that level curves look at."""

_FAILURES = (ValueError, MemoryError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Why:
    """Two items, why they are worth a look, and what explains their order."""

    title: str
    explanation: Explanation


@dataclass(frozen=True)
class CloserLook:
    """What a leaderboard does not say; anything that the data do not allow is None or empty."""

    duel: Duel | None = None
    """The leader against the best baseline, list by list."""
    differences: ScoreDifferencesDisplay | None = None
    """What the leader's score differences are worth, over all test parts of the first repeat."""
    calibration: PairCalibrationDisplay | None = None
    """Whether probabilities are what happens, on the first test part."""
    calibrated: str = ""
    """Whose probabilities."""
    looked_at: str = ""
    """The method whose model, fitted on the first training part, the rest is about: the best that allows it."""
    levels: LevelCurvesDisplay | None = None
    whys: tuple[Why, ...] = ()


def look_closer(table: AnyTable, leaderboard: Leaderboard) -> CloserLook:
    """Look closer at a comparison: lists one by one, what differences are worth, and why A stands above B.

    Held-out scores are those of the records. What needs a model comes from the best method that allows it, fitted
    once more on the first training part as it was in the comparison, and looks at the first test part only. The same
    records give the same answer, whether the comparison was run in one go or resumed.

    Parameters
    ----------
    table : Table or ComparisonTable
        What was compared on.
    leaderboard : Leaderboard
        What :func:`wellorder.compare` gave.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.datasets import load_diabetes
    >>> import wellorder as wo
    >>> from wellorder.report import look_closer
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> table = wo.data.Table("diabetes", pl.from_pandas(X), y.to_numpy())
    >>> board = wo.compare(table, ["ridge", "best-feature"], n_repeats=1)
    >>> look = look_closer(table, board)
    >>> look.looked_at, look.levels.plane.features
    ('ridge', ('s1', 's5'))
    """
    if not leaderboard.standings:
        return CloserLook()
    task = make_task(table)
    splits = first_repeat(task, leaderboard)
    leader = held_out(leaderboard, leaderboard.leader.method, splits)
    found: dict[str, Any] = {}
    if leader is not None:
        found["differences"] = _differences(table, leader)
        rival = choose_rival(leaderboard.standings)
        other = None if rival is None else held_out(leaderboard, rival, splits)
        if rival is not None and other is not None and isinstance(table, Table) and task.split_by == "groups":
            found["duel"] = make_duel(table, leaderboard, leader, other, rival)
    models = _Models(table, task, leaderboard, splits[0])
    if isinstance(table, ComparisonTable):
        found |= _calibration(models, table, splits[0])
    return CloserLook(**found, **_inside(models, table, splits[0]))


def _differences(table: AnyTable, leader: HeldOut) -> ScoreDifferencesDisplay | None:
    """Compare rows of one list, and of one fold: scores of different models say nothing beside each other."""
    if isinstance(table, ComparisonTable):
        outcome = table.comparisons.outcome[leader.rows]
        signed = (np.sign(outcome) * leader.standardised_differences())[outcome != 0]
        return ScoreDifferencesDisplay.from_differences(signed) if len(signed) else None
    grades = table.grades()
    group = np.zeros(len(grades), np.int64) if grades.group is None else grades.group.astype(np.int64)
    lists = group[leader.rows] * (leader.fold.max() + 1) + leader.fold
    level = np.where(grades.level[leader.rows] >= 0, grades.level[leader.rows].astype(float), np.nan)
    try:
        return ScoreDifferencesDisplay.from_predictions(Grades(level, lists), leader.standardised())
    except ValueError:  # no pair of different grades
        return None


class _Models:
    """Methods fitted once more on one training part, as they were in the comparison; each at most once."""

    def __init__(self, table: AnyTable, task: Task, leaderboard: Leaderboard, split: Split) -> None:
        self.table, self.task, self.leaderboard, self.split = table, task, leaderboard, split
        self.names = [each.method for each in leaderboard.standings[:_TRIED] if each.fit_seconds <= _SLOWEST]
        self._fitted: dict[tuple[str, bool], TableRanker | None] = {}

    def fit(self, name: str, *, probability: bool = False) -> TableRanker | None:
        """Return a method's model; None where it cannot be had."""
        if (name, probability) not in self._fitted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the comparison's own fit has warned
                try:
                    self._fitted[name, probability] = self._fit(name, probability)
                except _FAILURES:
                    self._fitted[name, probability] = None
        return self._fitted[name, probability]

    def _fit(self, name: str, probability: bool) -> TableRanker | None:
        split = self.split
        record = next((each for each in self.leaderboard.of(name) if (each.repeat, each.fold) == (0, split.fold)), None)
        if name not in METHODS or record is None or record.problem is not None:
            return None
        method = METHODS[name]
        grid = method.grid(self.task.training_part(split.train).size)
        # a record holds values as JSON has them; the grid has the values themselves
        params = {
            key: next((value for value in grid.get(key, []) if plain(value) == kept), kept)
            for key, kept in record.params.items()
        }
        model = make_seeded(method, trial_seed(self.leaderboard.protocol, split)).set_params(**params)
        if probability and "probability" in model.get_params():
            model.set_params(probability=True)
        return TableRanker(model).fit(self.table.take(split.train))


def _calibration(models: _Models, table: ComparisonTable, split: Split) -> dict[str, Any]:
    """Judge the probabilities of the best method that gives some, on comparisons that it has not seen."""
    for name in models.names:
        model = models.fit(name, probability=True)
        if model is None or not hasattr(model, "predict_proba"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                display = PairCalibrationDisplay.from_estimator(model, table.take(split.test))
            except (AttributeError, *_FAILURES):
                continue
        return {"calibration": display, "calibrated": name}
    return {}


def _inside(models: _Models, table: AnyTable, split: Split) -> dict[str, Any]:
    """Look into the best model that scores rows one by one, and by their features."""
    for name in models.names:
        model = models.fit(name)
        if model is None or model.encoder_ is None or not scores_rows_alone(model.ranker_):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                levels, whys = _levels(model, table, split), _whys(model, table, split)
            except _FAILURES:
                continue
        return {"looked_at": name, "levels": levels, "whys": whys}
    return {}


def _levels(model: TableRanker, table: AnyTable, split: Split) -> LevelCurvesDisplay | None:
    rows = table.items if isinstance(table, ComparisonTable) else table.take(split.test[:_MOST_ROWS])
    try:
        return LevelCurvesDisplay.from_estimator(model, rows)
    except ValueError:  # one feature, none of numbers, or too many
        return None


def _whys(model: TableRanker, table: AnyTable, split: Split) -> tuple[Why, ...]:
    items = table.items if isinstance(table, ComparisonTable) else table
    seen = items if isinstance(table, ComparisonTable) else table.take(split.test)
    scores: Floats = np.asarray(model.decision_function(seen), dtype=float)
    pairs = {(each.above, each.below): each for each in reversed(telling_pairs(table, scores, split.test))}
    names = [str(name) for name in items.names()]
    found = []
    for each in reversed(pairs.values()):
        told = explain(model, each.above, each.below, items=items, names=[names[each.above], names[each.below]])
        if not isinstance(items.X, pl.DataFrame):  # numbered features: a number alone is no name in a sentence
            named = (replace(part, feature=f"feature {part.feature}") for part in told.contributions)
            told = replace(told, contributions=tuple(named))
        found.append(Why(each.why, told))
    return tuple(found)
