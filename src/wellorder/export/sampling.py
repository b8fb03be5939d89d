"""Rows that tell a faithful copy of a model from one that is not: made from what the form knows.

At a tree's threshold and a hair beside it, at landmarks and centres and the ends of ranges, far out, at zero, missing,
in every category and in none. Nothing of anybody's data is kept with a model for this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Array, Floats
from .forms import BumpSum, Feature, Form, InputColumn, KernelSum, Move, Rated, Softmax, StepSum, Term, Trees, leaves

_MOST_PLACES = 2_000
"""At most this many values of a column are tried."""

WIDE = 10_000
"""In a wider matrix, rows are described only by the columns that the model looks at."""

_SEVERAL = 0.5
"""The share of a row's entries that are drawn around the column's middle; the others are taken from the values that
matter."""

UNSEEN = "no such category"


def sample_rows(
    form: Form,
    n_rows: int = 1_000,
    *,
    seed: int = 0,
    is_single: bool = False,
    missing: bool = True,
    nothing: float = 0.0,
) -> Any:
    """Return rows as the form takes them: a matrix, or, also of one that is very wide, a dict of columns by name.

    Parameters
    ----------
    form : Form
    n_rows : int
    seed : int
    is_single : bool
        Numbers that single precision holds.
    missing : bool
        Whether values may be missing, where the model takes that.
    nothing : float
        Numbers of at most this size are zero instead.
    """
    rng = np.random.default_rng(seed)
    holes = missing and form.takes_missing
    columns = [_draw(form, place, column, n_rows, rng, holes) for place, column in enumerate(form.columns)]
    if nothing:
        columns = [
            np.where(np.abs(values) <= nothing, 0.0, values) if values.dtype.kind == "f" else values
            for values in columns
        ]
    if is_single:
        columns = [_single(values) if values.dtype.kind == "f" else values for values in columns]
    if form.named or form.width > WIDE:
        return {column.name: values for column, values in zip(form.columns, columns, strict=True)}
    out = np.zeros((n_rows, form.width))
    for column, values in zip(form.columns, columns, strict=True):
        out[:, column.place] = values
    return out


def _single(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(values, -3e38, 3e38).astype(np.float32).astype(np.float64))


def _draw(form: Form, place: int, column: InputColumn, n_rows: int, rng: np.random.Generator, holes: bool) -> Array:
    if column.kind == "text":
        return _draw_text(form, place, n_rows, rng, holes)
    interesting, centre, scale = _places(form, place)
    if len(interesting) > _MOST_PLACES:
        interesting = rng.choice(interesting, _MOST_PLACES, replace=False)
    coded = _codes(form, place)
    usual = rng.choice(coded, n_rows) if len(coded) else centre + scale * rng.standard_normal(n_rows)
    values = np.where(rng.random(n_rows) < _SEVERAL, usual, rng.choice(interesting, n_rows))
    if holes:
        values = np.where(rng.random(n_rows) < 0.1, np.nan, values)
    return values


def _draw_text(form: Form, place: int, n_rows: int, rng: np.random.Generator, holes: bool) -> Array:
    known = [value for feature in _features(form, place) for value in feature.values if isinstance(value, str)]
    strangers: list[str | None] = [UNSEEN]
    if isinstance(form.score, Rated):
        known, strangers = list(form.score.names), [UNSEEN] * (form.score.unseen is not None)
    offered = [*dict.fromkeys(known), *strangers, *([None] * holes)]
    out = np.empty(n_rows, dtype=object)
    out[:] = [offered[number] for number in rng.integers(0, len(offered), n_rows).tolist()]
    return out


def _features(form: Form, place: int) -> list[Feature]:
    return [feature for leaf in leaves(form.score) for feature in leaf.features if feature.column == place]


def _codes(form: Form, place: int) -> Floats:
    values = [value for feature in _features(form, place) if feature.kind == "code" for value in feature.values]
    return np.array([value for value in values if isinstance(value, float)] + ([0.5, -1.0] if values else []))


def _places(form: Form, place: int) -> tuple[Floats, float, float]:
    """Return values of a column of numbers that are of interest, its middle, and its spread."""
    found: list[Floats] = []
    middles, spreads = [], []
    for leaf in leaves(form.score):
        for number, feature in enumerate(leaf.features):
            if feature.column != place or feature.kind != "number":
                continue
            own = _places_of(leaf, number)
            found.append(undone(feature.steps, own))
            ends = undone(feature.steps, np.array([0.0, 1.0]) if feature.steps or not len(own) else _ends(own))
            middles.append(float(ends[0]))
            spreads.append(abs(float(ends[1] - ends[0])))
    centre = middles[0] if middles else 0.0
    scale = spreads[0] if spreads and 0 < spreads[0] < np.inf else 1.0
    usual = centre + scale * np.array([0.0, -1.0, 1.0, -3.0, 3.0, 10.0, -10.0, 100.0])
    at = np.concatenate([np.array([0.0, -0.0]), usual, *found])
    at = at[np.isfinite(at)]
    with np.errstate(over="ignore"):
        near = np.concatenate([np.nextafter(at, np.inf), np.nextafter(at, -np.inf)])
        beside = np.concatenate([np.nextafter(at.astype(np.float32), np.float32(side)) for side in (np.inf, -np.inf)])
    near, beside = near[np.isfinite(near)], beside[np.isfinite(beside)].astype(float)
    return np.concatenate([at, near, beside]), centre, scale


def _ends(values: Floats) -> Floats:
    """Return the middle of some values, and the middle and their spread."""
    values = values[np.abs(values) < 1e30]
    middle = float(np.median(values)) if len(values) else 0.0
    return np.array([middle, middle + (float(values.std()) if len(values) else 0.0)])


def _places_of(leaf: Term | Softmax, number: int) -> Floats:
    """Return values of a feature at which something happens."""
    function = leaf.function if isinstance(leaf, Term) else None
    match function:
        case Trees():
            inner = (function.left >= 0) & (function.feature == number) & (function.set_size == 0)
            return np.asarray(function.threshold[inner], dtype=float)
        case StepSum():
            return np.asarray(function.threshold[function.feature == number], dtype=float)
        case BumpSum():
            centres = function.centre[function.feature == number] * function.scale[number] + function.mean[number]
            return np.concatenate([centres, [function.low[number], function.high[number]]])
        case KernelSum():
            return np.asarray(function.rows[:, number], dtype=float)
    return np.zeros(0)


def undone(steps: tuple[Move, ...], values: Floats) -> Floats:
    """Return what the steps make these values of, to rounding; clipping and filling are passed over."""
    out = np.asarray(values, dtype=float)
    for step in reversed(steps):
        match step.kind:
            case "minus":
                out = out + step.value
            case "plus":
                out = out - step.value
            case "over":
                out = out * step.value
            case "times" if step.value:
                out = out / step.value
    return out
