"""'More is never worse': which columns, read as users say it, and checked on what was fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..spaces import Bumps, Forest, monotone_violation
from ..sweeps import Array, Floats, Ints
from .column_places import column_place

_SIGNS = {1: 1, -1: -1, 0: 0, "+": 1, "-": -1, "\u2212": -1}


class NotMonotoneError(RuntimeError):
    """What was fitted breaks a constraint that it was fitted under: a fault of the learner, and no model to use."""


def read_signs(monotone: Any, n_columns: int, names: Any = None) -> Ints | None:
    """Return +1 (more never stands below less), −1 or 0 for each column; None where nothing is asked for.

    Parameters
    ----------
    monotone : dict from columns, by name or place, to +1 or −1; or one of +1, −1 and 0 for each column
    n_columns : int
    names : sequence of str, optional
    """
    if monotone is None:
        return None
    out = np.zeros(n_columns, dtype=np.int64)
    if isinstance(monotone, Mapping):
        for column, sign in monotone.items():
            place = column_place(column, "monotone", n_columns, names)
            if out[place]:
                raise ValueError(f"monotone names column {column!r} twice, by name and by place")
            out[place] = _sign(sign, column)
    else:
        if isinstance(monotone, str) or not np.iterable(monotone):
            raise ValueError(f"monotone must be a dict from columns to +1 or −1, or one a column, got {monotone!r}")
        given = list(monotone)
        if len(given) != n_columns:
            raise ValueError(
                f"monotone has {len(given)} entries, and X has {n_columns} columns; give one each, or a dict"
            )
        out[:] = [_sign(sign, column) for column, sign in enumerate(given)]
    return out if out.any() else None


def _sign(sign: Any, column: Any) -> int:
    if isinstance(sign, bool | np.bool_) or not isinstance(sign, int | float | np.number | str) or sign not in _SIGNS:
        raise ValueError(f"monotone of column {column!r} must be +1 (more is never worse), −1 or 0, got {sign!r}")
    return _SIGNS[sign]


def keeps_monotone(model: Any) -> bool:
    """Say whether a model, as it is set, can keep columns monotone exactly."""
    asked = getattr(model, "_can_be_monotone", None)
    return bool(asked()) if asked is not None else False


def refuse_monotone(why: str) -> ValueError:
    """Return an error for a model that cannot keep it exactly."""
    return ValueError(
        f"monotone= cannot be kept exactly with {why}; OrderBoost (with trees or bumps), BoostedTrees, linear RankSVM "
        "and ProportionalOdds (with a finite C) can, and an OrderEnsemble of these"
    )


def check_trees_monotone(forest: Forest, scores: Callable[[Any], Floats], X: Any, signs: Ints | None) -> None:
    """Raise an error where trees break a constraint, by their structure or on training rows."""
    if signs is None:
        return
    if (found := monotone_violation(forest, signs)) is not None:
        raise NotMonotoneError(f"LightGBM has not kept monotone=: {found}; please report it")
    check_rows_monotone(scores, X, signs)


def check_bumps_monotone(bumps: Bumps, X: Any, signs: Ints | None) -> None:
    """Raise an error where additive scores break a constraint, by the signs of their pieces or on training rows."""
    if signs is None:
        return
    if bumps.sign is None or (signs != bumps.sign).any() or (signs[bumps.feature] * bumps.weight < 0).any():
        raise NotMonotoneError("a column has a piece of the wrong sign")
    check_rows_monotone(bumps.scores, X, signs)


def check_linear_monotone(coef: Floats, X: Any, signs: Ints | None) -> None:
    """Raise an error where linear weights break a constraint, by their signs or on training rows."""
    if signs is None:
        return
    if (signs * coef < 0).any():
        raise NotMonotoneError(f"column {int(np.argmax(signs * coef < 0))} has a weight of the wrong sign")
    check_rows_monotone(lambda rows: rows @ coef, X, signs, rounding=1e-6 if coef.dtype == np.float32 else 1e-12)


_MOST_ROWS = 2_000
"""Training rows that the fitted model is looked at, each with another row's value in the column."""


def check_rows_monotone(scores: Callable[[Any], Floats], X: Any, signs: Ints, *, rounding: float = 0.0) -> None:
    """Raise an error if some training row, with more in a column and nothing else changed, stands on the wrong side.

    ``rounding`` is what sums may be off by, as a share of the largest score.
    """
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(X.shape[0])[:_MOST_ROWS])
    here: Array = X[rows].toarray() if sp.issparse(X) else np.array(X[rows])
    for column in np.flatnonzero(signs).tolist():
        other = here.copy()
        other[:, column] = here[rng.permutation(len(here)), column]
        more = other[:, column] - here[:, column]
        both = np.asarray(scores(np.concatenate([here, other])), dtype=float)
        gain = signs[column] * np.sign(more) * (both[len(here) :] - both[: len(here)])
        wrong = np.flatnonzero(gain < -rounding * np.abs(both).max(initial=0.0))  # missing values are not compared
        if wrong.size:
            row = int(wrong[0])
            raise NotMonotoneError(
                f"the fitted model is not monotone in column {column}: row {int(rows[row])} with "
                f"{other[row, column]:g} in place of {here[row, column]:g} goes the wrong way by {-gain[row]:.3g}"
            )
