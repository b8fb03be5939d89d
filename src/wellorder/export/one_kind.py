"""Scores as one linear function, or as one forest: what targets take that know nothing else.

Sums of such scores are added up, steps over columns are trees of two leaves, and what was done to a column of numbers
before a tree looked at it is undone at the thresholds: the same rows go left, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..sweeps import Array, Floats
from .forms import ExportError, Feature, Linear, Move, Rated, Score, StepSum, Sum, Term, Trees, apply_step
from .sampling import undone

_NEAR = "take a linear model or trees (RankSVM(), OrderBoost(learner='tree')), or export this one to='onnx'"


def kind_of(score: Score) -> str:
    """Return "linear" or "trees"; an error for anything else."""
    kinds = {_kind(part) for part in _pieces(score)}
    if len(kinds) > 1:
        raise ExportError(f"it adds up linear functions and trees, and this target has no sum of both; {_NEAR}")
    return kinds.pop()


def _pieces(score: Score) -> list[Term]:
    match score:
        case Term():
            return [score]
        case Sum() if score.parts:
            return [piece for part in score.parts for piece in _pieces(part)]
        case Rated():
            raise ExportError(
                "its scores are ratings by name, and no sum of functions of columns; export to='onnx', or take the "
                "table of names and scores as it is (.table() of standings, or what 'wellorder rate -o' writes)"
            )
    raise ExportError(f"its scores are no sum of functions of columns; {_NEAR}")


def _kind(piece: Term) -> str:
    match piece.function:
        case Linear():
            return "linear"
        case Trees() | StepSum():
            return "trees"
    raise ExportError(f"its scores are made of kernels or bumps; {_NEAR}")


def linear_of(score: Score) -> tuple[tuple[Feature, ...], Floats, float]:
    """Return features, one weight each, and a constant."""
    if isinstance(score, Sum):
        weights: dict[Feature, float] = {}
        constant = score.constant
        for share, part in zip(score.weights, score.parts, strict=True):
            features, own, more = linear_of(part)
            constant += share * more
            for feature, weight in zip(features, own.tolist(), strict=True):
                weights[feature] = weights.get(feature, 0.0) + share * weight
        return tuple(weights), np.array(list(weights.values())), constant
    assert isinstance(score, Term)
    assert isinstance(score.function, Linear)
    return score.features, score.function.weights, score.constant


def trees_of(score: Score) -> tuple[tuple[Feature, ...], Trees, float]:
    """Return features of which none has steps, trees over them, and a constant."""
    if isinstance(score, Sum):
        found = [trees_of(part) for part in score.parts]
        features = tuple(dict.fromkeys(feature for part in found for feature in part[0]))
        moved = [
            _moved(trees, own, features, share) for share, (own, trees, _) in zip(score.weights, found, strict=True)
        ]
        constant = score.constant + sum(share * part[2] for share, part in zip(score.weights, found, strict=True))
        return features, _joined(moved), constant
    assert isinstance(score, Term)
    function = score.function
    trees = stumps(function) if isinstance(function, StepSum) else function
    assert isinstance(trees, Trees)
    return (
        tuple(replace(feature, steps=()) for feature in score.features),
        unstepped(trees, score.features),
        score.constant,
    )


def _moved(trees: Trees, own: Sequence[Feature], features: Sequence[Feature], share: float) -> Trees:
    place = np.array([features.index(feature) for feature in own] + [-1])  # −1 of a leaf stays −1
    return replace(trees, feature=place[trees.feature], value=share * trees.value)


def _joined(parts: Sequence[Trees]) -> Trees:
    shifts = np.cumsum([0, *(len(part.feature) for part in parts)])
    members = np.cumsum([0, *(len(part.member) for part in parts)])

    def joined(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    def links(name: str) -> Array:
        moved = [np.where(side >= 0, side + shift, -1) for side, shift in zip(_all(parts, name), shifts, strict=False)]
        return np.concatenate(moved)

    return Trees(
        feature=joined("feature"),
        threshold=joined("threshold"),
        left=links("left"),
        right=links("right"),
        value=joined("value"),
        roots=np.concatenate([roots + shift for roots, shift in zip(_all(parts, "roots"), shifts, strict=False)]),
        missing_left=joined("missing_left"),
        set_size=joined("set_size"),
        set_begin=np.concatenate([b + more for b, more in zip(_all(parts, "set_begin"), members, strict=False)]),
        member=joined("member"),
        takes_missing=all(part.takes_missing for part in parts),
    )


def _all(parts: Sequence[Trees], name: str) -> list[Array]:
    return [getattr(part, name) for part in parts]


def stumps(steps: StepSum) -> Trees:
    """Return a tree of two leaves for each step; a missing value goes where nothing is added."""
    n = len(steps.feature)
    inner, left, right = 3 * np.arange(n), 3 * np.arange(n) + 1, 3 * np.arange(n) + 2
    size = 3 * n
    feature, below, above = np.full(size, -1), np.full(size, -1), np.full(size, -1)
    feature[inner], below[inner], above[inner] = steps.feature, left, right
    threshold, value, missing = np.zeros(size), np.zeros(size), np.zeros(size, bool)
    threshold[inner] = np.maximum(steps.threshold, -np.finfo(float).max)  # every number is above −∞
    value[right], missing[inner] = steps.weight, True
    none = np.zeros(size, np.int64)
    return Trees(feature, threshold, below, above, value, inner, missing, none, none, np.zeros(0, bool))


def unstepped(trees: Trees, features: Sequence[Feature]) -> Trees:
    """Return trees over features without their steps: thresholds move to where the same values go left."""
    if not any(feature.steps for feature in features):
        return trees
    threshold, missing = trees.threshold.copy(), trees.missing_left.copy()
    for node in np.flatnonzero(trees.left >= 0).tolist():
        feature = features[int(trees.feature[node])]
        if not feature.steps:
            continue
        filled = float(_stepped(feature.steps, np.array([np.nan]))[0])
        if feature.kind in ("number", "code") and filled == filled:
            missing[node] = filled <= threshold[node]
        threshold[node] = _boundary(feature.steps, float(threshold[node]))
    return replace(trees, threshold=threshold, missing_left=missing)


def _stepped(steps: Sequence[Move], x: Floats) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        for step in steps:
            x = apply_step(step, x)
    return x


_FAR = np.finfo(float).max


def _boundary(steps: tuple[Move, ...], threshold: float) -> float:
    """Return the largest number that the steps leave at or below a threshold; they do not fall."""
    if any(step.kind in ("over", "times") and step.value < 0 for step in steps):
        raise ExportError("a tree stands behind a scaler that turns a column round; scale by positive numbers")

    def stays(x: float) -> bool:
        return bool(_stepped(steps, np.array([x]))[0] <= threshold)

    if stays(_FAR):
        return float(_FAR)
    if not stays(-_FAR):
        raise ExportError("a tree splits where its scaler has cut off all values; leave clip= out")
    low, high = _bracket(stays, float(undone(steps, np.array([threshold]))[0]))
    while (middle := _between(low, high)) not in (low, high):
        low, high = (middle, high) if stays(middle) else (low, middle)
    return low


def _bracket(stays: Callable[[float], bool], near: float) -> tuple[float, float]:
    """Return a number that stays and a larger one that does not, as near to each other as is easily found."""
    reach = 8.0 * max(float(np.spacing(abs(near))), 5e-324)
    for _ in range(1_100):
        low, high = max(near - reach, -_FAR), min(near + reach, _FAR)
        if stays(low) and not stays(high):
            return low, high
        reach *= 4.0
    return -float(_FAR), float(_FAR)


def _between(low: float, high: float) -> float:
    """Return a number between two; one of them where there is none."""
    return low / 2.0 + high / 2.0 if high - low == np.inf else low + (high - low) / 2.0
