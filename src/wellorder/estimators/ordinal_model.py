"""What ordinal models share: grades in, thresholds between the levels that are present, grades out."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..losses import GradedRows
from ..order import Full, Grades
from ..state import Part, floats, labels
from ..sweeps import Array, Floats
from .base import Order, Ranker, read_order

_MOST_LEVELS = 1_000


NumberedRows: TypeAlias = tuple[GradedRows, Array, int]


class OrdinalModel(Ranker):
    """A ranker that also tells grades: scores, and thresholds between the levels that were present."""

    order = "full"  # of the pairs that ``score`` counts

    thresholds_: Floats
    classes_: Array

    def predict(self, X: Any) -> Array:
        """Return the grade of each row, in the labels that the model was fitted with.

        It is the level with as many levels below as there are thresholds below the score; a score equal to a
        threshold has not passed it.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[np.searchsorted(np.sort(self.thresholds_), scores, side="left")])

    def _read_rows(self, y: Any, groups: Any, sample_weight: Any, n_rows: int) -> NumberedRows:
        """Return the rows with the present levels numbered, the labels of these levels, and the number of groups."""
        model = type(self).__name__
        grades = _read_grades(read_order(y, groups, sample_weight, "full", self.levels, "pairs"), n_rows, model)
        return *_number(grades, model), grades.n_groups

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"classes_": labels("r"), "thresholds_": floats("r-1")}


def _read_grades(order: Order, n_rows: int, model: str) -> Grades:
    """Refuse what is no grade a row, or asks for what thresholds cannot give."""
    if not isinstance(order, Grades):
        raise ValueError(f"{model} takes grades, one a row, not {type(order).__name__}; RankSVM takes comparisons")
    if not isinstance(order.graph.structure, Full):
        raise ValueError(f"{model} puts thresholds between consecutive levels, and takes no other order than 'full'")
    if len(order) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, y has {len(order)}"
        )
    return order


def _number(grades: Grades, model: str) -> tuple[GradedRows, Array]:
    """Return rows with the present levels numbered, and their labels; a row without grade or weight takes no part."""
    weight = grades.row_weights
    active = (grades.level >= 0) & (weight > 0)
    present, number = np.unique(grades.level[active], return_inverse=True)
    if len(present) < 2:
        raise ValueError(f"there is nothing to tell apart: {_why(grades, len(present))} (n_samples={len(grades)})")
    if len(present) > _MOST_LEVELS:
        raise ValueError(
            f"y has {len(present):,} levels, and {model} keeps a threshold between every two; bin the grades (at most "
            f"{_MOST_LEVELS:,} levels, better ten), or use RankSVM, which takes any number"
        )
    level = np.full(len(grades), -1, np.int32)
    level[active] = number
    return GradedRows(level, weight, len(present)), level_labels(grades)[present]


def _why(grades: Grades, n_present: int) -> str:
    if n_present == 1:
        return "all rows that count have the same grade, 1 class"
    return "no row has a grade" if (grades.level < 0).all() else "every row with a grade has zero weight"


def level_labels(grades: Grades) -> Array:
    """Return the labels of all levels as an array; labels of several types keep them."""
    labels = grades.graph.labels
    if isinstance(labels, np.ndarray):
        return labels
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], bool | int | float | str):
        return np.array(labels)
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out
