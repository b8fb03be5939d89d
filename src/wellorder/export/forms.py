"""What a fitted model computes, said in plain arrays: the forms that every target is written from.

A :class:`Form` has the columns that are given, a score over them, and, where the model tells them, grades and what
differences of scores mean. Scores are made of few things: a :class:`Term` is a function of numbers, its *features*,
each of which is made from one column; a :class:`Sum` adds scores up; :class:`PlugIn` goes by class probabilities; and
:class:`Rated` looks a name up. Nothing here knows of estimators, and a target needs to know of nothing else.

Beside each form stands what it computes, written to be read: :func:`scores` and its like agree with the model to
rounding, and what a target writes is held to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.special import expit, softmax

from ..sweeps import Array, Bools, Floats, Ints


class ExportError(ValueError):
    """A model, or a target, cannot do what was asked: the message says why, and what comes near it."""


# --------------------------------------------------------------------------------------------------
# What is given, and the numbers that are made of it.


@dataclass(frozen=True)
class InputColumn:
    """One column of what is given.

    Attributes
    ----------
    name : str
    kind : {"number", "text"}
        Truth values are the numbers 0 and 1; dates are text, as Python's ``str`` writes them.
    place : int
        Its place among the columns of a matrix; of named columns, its place among them.
    """

    name: str
    kind: Literal["number", "text"]
    place: int


@dataclass(frozen=True)
class Move:
    """What is done to a number: NaN becomes ``value`` ("fill"), x − value, x / value, x · value, x + value, clipping.

    A quotient is no product with the reciprocal, which would round otherwise. NaN stays NaN but for "fill".
    """

    kind: Literal["fill", "minus", "over", "times", "plus", "at_least", "at_most"]
    value: float


@dataclass(frozen=True)
class Feature:
    """A number made from one column.

    Attributes
    ----------
    column : int
        Which of the form's columns.
    kind : {"number", "missing", "category", "code"}
        "number": the number itself, NaN where it is missing. "missing": 1 where there is none, else 0. "category":
        1 where the column is the one of ``values``, else 0; ``None`` is a missing one. "code": the place of the
        column's value in ``values``, NaN where it is none of them.
    values : tuple of str, of float, or of None
    steps : tuple of Move
        What is done to that number, one after the other.
    """

    column: int
    kind: Literal["number", "missing", "category", "code"] = "number"
    values: tuple[str | float | None, ...] = ()
    steps: tuple[Move, ...] = ()


# --------------------------------------------------------------------------------------------------
# Functions of features.


@dataclass(frozen=True, eq=False)
class Linear:
    """Σ weights_k · x_k."""

    weights: Floats


@dataclass(frozen=True, eq=False)
class KernelSum:
    """Σ_j weights_j · k(x, rows_j); k is exp(−γ‖x − z‖²) ("rbf"), (γ xᵀz + coef0)^degree ("poly") or xᵀz ("linear").

    Nyström features are of this form, too: their root and their coefficients are multiplied into the weights.
    """

    kernel: Literal["rbf", "poly", "linear"]
    rows: Floats
    weights: Floats
    gamma: float = 1.0
    degree: float = 1.0
    coef0: float = 0.0


@dataclass(frozen=True, eq=False)
class Trees:
    """A sum over trees of the value of the leaf that a row falls into; one entry a node, as in ``wellorder``'s forests.

    A row at node k goes to ``left[k]`` if its feature ``feature[k]`` is at most ``threshold[k]``, compared in double
    precision, else to ``right[k]``. Where ``set_size[k]`` is not zero the feature is the number of a category, and it
    goes left if ``member[set_begin[k] + number]``. NaN, and the number of no category, go left where
    ``missing_left[k]``. A leaf has the children −1, and its ``value``. Children stand behind their parents, and the
    nodes of tree t from ``roots[t]`` on.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    roots: Ints
    missing_left: Bools
    set_size: Ints
    set_begin: Ints
    member: Bools
    takes_missing: bool = True

    def __len__(self) -> int:
        """How many trees there are."""
        return len(self.roots)

    @property
    def has_sets(self) -> bool:
        """Whether some node looks at categories."""
        return bool(self.set_size.any())

    def left_set(self, node: int) -> list[int]:
        """Return the numbers of the categories that go left at a node."""
        begin = int(self.set_begin[node])
        return np.flatnonzero(self.member[begin : begin + int(self.set_size[node])]).tolist()


@dataclass(frozen=True, eq=False)
class BumpSum:
    """Σ_m weight_m · exp(−(z_k − centre_m)² / (2 · width)) with k = feature_m and z_k = (x_k − mean_k) / scale_k.

    ``mean``, ``scale``, ``low`` and ``high`` have one entry a feature of the piece; an x_k beyond low_k or high_k is
    taken for that end. Where ``rises[m]``, the piece is ½a² + ½ − ½b² instead, with t = (z_k − centre_m) / √(6 · width)
    between −1 and 1, a = 1 + min(t, 0) and b = 1 − max(t, 0).
    """

    mean: Floats
    scale: Floats
    low: Floats
    high: Floats
    width: float
    feature: Ints
    centre: Floats
    weight: Floats
    rises: Bools


@dataclass(frozen=True, eq=False)
class StepSum:
    """Σ_m weight_m · [x_k > threshold_m], with k = feature_m; a missing x_k adds nothing, and a threshold may be −∞."""

    feature: Ints
    threshold: Floats
    weight: Floats


Function: TypeAlias = Linear | KernelSum | Trees | BumpSum | StepSum


# --------------------------------------------------------------------------------------------------
# Scores.


@dataclass(frozen=True, eq=False)
class Term:
    """function(features) + constant."""

    features: tuple[Feature, ...]
    function: Function
    constant: float = 0.0


@dataclass(frozen=True, eq=False)
class Sum:
    """Σ_m weights_m · parts_m + constant."""

    parts: tuple[Score, ...]
    weights: tuple[float, ...]
    constant: float = 0.0


@dataclass(frozen=True, eq=False)
class Softmax:
    """P(k) ∝ exp(weights_k · x + constants_k) over features."""

    features: tuple[Feature, ...]
    weights: Floats
    constants: Floats


@dataclass(frozen=True, eq=False)
class Cumulative:
    """P(above level j) = σ(score − thresholds_j), with thresholds that rise: the proportional odds model."""

    score: Score
    thresholds: Floats


Chances: TypeAlias = Softmax | Cumulative


@dataclass(frozen=True, eq=False)
class PlugIn:
    """g / w with g = Σ_k gain_k P(k) and w = Σ_k weight_k P(k).

    Where a level has a gain but no weight (``bounded``) it is g / (w + |g|), 0 where that is 0 / 0; else, where w is 0,
    ``middle``.
    """

    chances: Chances
    gain: Floats
    weight: Floats
    bounded: bool
    middle: float


@dataclass(frozen=True, eq=False)
class Rated:
    """The rating of a name: the form has one column of text. ``unseen`` is that of a name that was never rated.

    Ratings of different ``islands`` cannot be compared.
    """

    names: tuple[str, ...]
    ratings: Floats
    unseen: float | None = None
    islands: Ints | None = None


Score: TypeAlias = Term | Sum | PlugIn | Rated


@dataclass(frozen=True, eq=False)
class GradeRule:
    """What grade a row has.

    Attributes
    ----------
    labels : tuple
        From the worst to the best.
    cuts : array of shape (r − 1,), optional
        Rising; the grade is the level with as many levels below as there are cuts below the score.
    chances : Softmax or Cumulative, optional
        The probabilities of the levels. Without cuts, and with ``likeliest``, the grade is the likeliest level, the
        lower one of two.
    likeliest : bool
    """

    labels: tuple[Any, ...]
    cuts: Floats | None = None
    chances: Chances | None = None
    likeliest: bool = False


@dataclass(frozen=True, eq=False)
class PairRule:
    """What the difference d of the right item's score and the left one's means.

    Attributes
    ----------
    threshold, advantage : float
        A tie where d − advantage is at most ``threshold`` in size, else its sign says who is better.
    slope, shift, ties
        P(right) : P(tie) : P(left) = e^{x/2} : ν : e^{−x/2} with x = slope · d + shift and ν the sum of ``ties``, one
        for each kind of tie; ``slope`` is None where there are no probabilities.
    """

    threshold: float = 0.0
    advantage: float = 0.0
    slope: float | None = None
    shift: float = 0.0
    ties: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Form:
    """What a model computes.

    Attributes
    ----------
    columns : tuple of InputColumn
        Those that are looked at.
    width : int
        Of a matrix: how many columns it has.
    named : bool
        Whether columns are given by name, as in a data frame; else as a matrix.
    score : Score
    takes_missing : bool
        Whether the model itself takes missing values.
    grades : GradeRule, optional
    pairs : PairRule, optional
    """

    columns: tuple[InputColumn, ...]
    width: int
    named: bool
    score: Score
    takes_missing: bool = False
    grades: GradeRule | None = None
    pairs: PairRule | None = None


def leaves(score: Score) -> list[Term | Softmax]:
    """Return what a score is made of that looks at features."""
    match score:
        case Term():
            return [score]
        case Sum():
            return [leaf for part in score.parts for leaf in leaves(part)]
        case PlugIn(chances=Cumulative(score=inner)):
            return leaves(inner)
        case PlugIn(chances=Softmax() as softmax_of):
            return [softmax_of]
    return []


def prepared(score: Score, features: Sequence[Feature]) -> Score:
    """Return a score of what ``features`` make of their columns, as one of these columns themselves."""
    match score:
        case Term():
            return replace(score, features=compose(score.features, features))
        case Sum():
            return replace(score, parts=tuple(prepared(part, features) for part in score.parts))
        case PlugIn():
            return replace(score, chances=prepared_chances(score.chances, features))
    raise ExportError("names that are looked up cannot be prepared by other steps; export the ratings themselves")


def prepared_chances(chances: Chances, features: Sequence[Feature]) -> Chances:
    """Do the same for probabilities."""
    if isinstance(chances, Softmax):
        return replace(chances, features=compose(chances.features, features))
    return replace(chances, score=prepared(chances.score, features))


def compose(after: Sequence[Feature], before: Sequence[Feature]) -> tuple[Feature, ...]:
    """Return features of features as features of the columns themselves."""
    return tuple(_compose(feature, before[feature.column]) for feature in after)


def _compose(after: Feature, before: Feature) -> Feature:
    if after.kind == "number":
        return replace(before, steps=before.steps + after.steps)
    if after.kind == "missing" and before.kind == "number":
        filled = any(step.kind == "fill" for step in before.steps)
        return Feature(before.column, "missing", (), (*((Move("times", 0.0),) * filled), *after.steps))
    if after.kind == "code" and not before.steps:
        if before.kind == "code":
            values = tuple(before.values[int(place)] for place in after.values if place is not None)
            return Feature(before.column, "code", values, after.steps)
        if before.kind == "number":
            return replace(after, column=before.column)
    raise ExportError(f"a {after.kind} of a {before.kind} that has been changed cannot be written down")


# --------------------------------------------------------------------------------------------------
# What the forms compute.


def read_rows(form: Form, rows: Any) -> list[Array]:
    """Return the form's columns of some rows: float64 with NaN, or objects, text and None.

    Parameters
    ----------
    form : Form
    rows : array of shape (n, width), or mapping of names to arrays
        A mapping where columns are named.
    """
    if isinstance(rows, Mapping):
        given: list[Any] = [rows[column.name] for column in form.columns]
    else:
        matrix = np.asarray(rows)
        given = [matrix[:, column.place] for column in form.columns]
    return [
        np.asarray(values, dtype=float) if column.kind == "number" else _as_text(values)
        for column, values in zip(form.columns, given, strict=True)
    ]


def _as_text(values: Any) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = [None if value is None or value != value else str(value) for value in values]
    return out


def feature_values(features: Sequence[Feature], columns: Sequence[Array]) -> Floats:
    """Return one column of numbers for each feature."""
    n = len(columns[0]) if columns else 0
    out = np.empty((n, len(features)))
    for place, feature in enumerate(features):
        out[:, place] = _feature(feature, columns[feature.column])
    return out


def _feature(feature: Feature, values: Array) -> Floats:
    is_text = values.dtype.kind == "O"
    if feature.kind == "number":
        found = values.astype(float)
    elif feature.kind == "missing":
        found = np.array([value is None for value in values], float) if is_text else np.isnan(values).astype(float)
    elif feature.kind == "category":
        found = np.array([value == feature.values[0] for value in values], float)
    else:
        place_of = {value: float(place) for place, value in enumerate(feature.values)}
        found = np.array([place_of.get(value, np.nan) for value in values.tolist()], float)
    for step in feature.steps:
        found = apply_step(step, found)
    return found


def apply_step(step: Move, x: Floats) -> Floats:
    """Do one step to numbers."""
    match step.kind:
        case "fill":
            return np.where(np.isnan(x), step.value, x)
        case "minus":
            return x - step.value
        case "over":
            return x / step.value
        case "times":
            return x * step.value
        case "plus":
            return x + step.value
        case "at_least":
            return np.asarray(np.maximum(x, step.value))
        case "at_most":
            return np.asarray(np.minimum(x, step.value))


def scores(form: Form, rows: Any) -> Floats:
    """Return the score of each row: see :func:`read_rows` for how they are given."""
    return score_columns(form.score, read_rows(form, rows))


def score_columns(score: Score, columns: Sequence[Array]) -> Floats:
    """Return the score of each row, given the form's columns."""
    match score:
        case Term():
            return evaluate(score.function, feature_values(score.features, columns)) + score.constant
        case Sum():
            total = np.zeros(len(columns[0]))
            for weight, part in zip(score.weights, score.parts, strict=True):
                total = total + weight * score_columns(part, columns)
            return total + score.constant
        case PlugIn():
            return _plug_in(score, chances_of(score.chances, columns))
        case Rated():
            place_of = {name: place for place, name in enumerate(score.names)}
            values = np.append(score.ratings, np.nan if score.unseen is None else score.unseen)
            return np.asarray(values[[place_of.get(name, -1) for name in columns[0].tolist()]])


def chances_of(chances: Chances, columns: Sequence[Array]) -> Floats:
    """Return the probability of each level, one column a level, given the form's columns."""
    if isinstance(chances, Softmax):
        x = feature_values(chances.features, columns)
        return np.asarray(softmax(x @ chances.weights.T + chances.constants, axis=1))
    s = score_columns(chances.score, columns)[:, None]
    ends = np.full((len(s), 1), np.inf)
    above, below = np.hstack([ends, s - chances.thresholds]), np.hstack([chances.thresholds - s, ends])
    room = np.concatenate([[1.0], -np.expm1(-np.diff(chances.thresholds)), [1.0]])
    return np.asarray(expit(above) * expit(below) * room)


def pair_chances(rule: PairRule, differences: Floats) -> Floats:
    """Return P(left), P(tie) of each kind, and P(right) of differences, right less left."""
    if rule.slope is None:
        raise ExportError("the model tells no probabilities of outcomes")
    x = rule.slope * np.asarray(differences, dtype=float) + rule.shift
    with np.errstate(divide="ignore"):
        logs = [-0.5 * x, *(np.full(len(x), np.log(nu)) for nu in rule.ties), 0.5 * x]
    return np.asarray(softmax(np.column_stack(logs), axis=1))


def outcomes(rule: PairRule, differences: Floats) -> Ints:
    """Return −1, 0 or 1 for differences, right less left, and ``NOT_KNOWN`` where there is no difference to go by."""
    d = np.asarray(differences, dtype=float) - rule.advantage
    told = np.where(np.abs(d) > rule.threshold, np.sign(d), 0.0)
    return np.where(np.isnan(d), NOT_KNOWN, told).astype(np.int64)


NOT_KNOWN = 2
"""The outcome where a name is not known or two items were never compared: no tie, and none of the three outcomes."""


def evaluate(function: Function, x: Floats) -> Floats:
    """Return a function of features, one line a row."""
    match function:
        case Linear():
            return np.asarray(x @ function.weights)
        case KernelSum():
            return _kernel_sum(function, x)
        case Trees():
            return _tree_sum(function, x)
        case BumpSum():
            z = (np.clip(x, function.low, function.high) - function.mean) / function.scale
            away = z[:, function.feature] - function.centre
            t = np.clip(away / np.sqrt(6.0 * function.width), -1.0, 1.0)
            rise = 0.5 * (1.0 + np.minimum(t, 0.0)) ** 2 + 0.5 - 0.5 * (1.0 - np.maximum(t, 0.0)) ** 2
            height = np.where(function.rises, rise, np.exp(away * away * (-0.5 / function.width)))
            return np.asarray(height @ function.weight)
        case StepSum():
            return np.asarray((x[:, function.feature] > function.threshold) @ function.weight)


def _kernel_sum(function: KernelSum, x: Floats) -> Floats:
    if function.kernel == "rbf":
        out = np.zeros(len(x))
        for row, weight in zip(function.rows, function.weights, strict=True):
            out += weight * np.exp(-function.gamma * ((x - row) ** 2).sum(axis=1))
        return out
    products = x @ function.rows.T
    if function.kernel == "poly":
        products = (function.gamma * products + function.coef0) ** function.degree
    return np.asarray(products @ function.weights)


def _tree_sum(trees: Trees, x: Floats) -> Floats:
    out, rows = np.zeros(len(x)), np.arange(len(x))
    for root in trees.roots.tolist():
        at = np.full(len(x), root)
        while (inner := trees.left[at] >= 0).any():
            node, row = at[inner], rows[inner]
            left = goes_left(trees, node, x[row, trees.feature[node]])
            at[inner] = np.where(left, trees.left[node], trees.right[node])
        out = out + trees.value[at]
    return out


def goes_left(trees: Trees, node: Ints, x: Floats) -> Bools:
    """Say which values go left, each at a node."""
    side = x <= trees.threshold[node]
    size = trees.set_size[node]
    in_set = (size > 0) & (x >= 0) & (x < size) & (x == np.floor(x))
    side[in_set] = trees.member[trees.set_begin[node[in_set]] + x[in_set].astype(np.int64)]
    return np.where(np.isnan(x) | ((size > 0) & ~in_set), trees.missing_left[node], side)


def _plug_in(score: PlugIn, chances: Floats) -> Floats:
    gain, weight = chances @ score.gain, chances @ score.weight
    if score.bounded:
        size = weight + np.abs(gain)
        return np.asarray(np.divide(gain, size, out=np.zeros_like(gain), where=size > 0))
    middle = np.full_like(gain, score.middle)
    return np.asarray(np.divide(gain, weight, out=middle, where=weight > 0))
