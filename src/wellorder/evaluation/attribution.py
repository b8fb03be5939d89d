"""Why one row's score is above another's, by whatever is the exact way for the model, and by mixtures where none is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..data import TableEncoder
from ..scoring import list_scores, ranks_lists
from ..spaces import Bumps, Forest
from ..spaces.contributions import additive_contributions, forest_contributions
from ..spaces.steps import Steps
from ..sweeps import Floats, Ints
from .mixtures import Mixtures, NumberMixtures
from .shapley import MOST_PLAYERS, Mask, exact_values, sampled_values

_BLOCK = 1 << 22
"""Values of mixed rows that are held at a time."""

_ROUNDING = {"float32": 1e-5, "float64": 1e-9}
"""How far, as a share of all that is added, contributions may be from the difference of the scores."""

_COLUMN_BY_COLUMN = {
    "MaxAbsScaler",
    "MinMaxScaler",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "StandardScaler",
}
"""What scikit-learn has that makes one column of one column: a model behind them is looked at by itself."""

_PIECES: dict[str, Any] = {"roots": Forest, "centre": Bumps, "threshold": Steps}
"""What a model's ``pieces_`` are, by an array that they hold; the first that fits."""


class Shares(NamedTuple):
    """What each player brings, with standard errors (zeros where it is exact), and in words how it was found."""

    contribution: Floats
    error: Floats
    how: str


class Sampling(NamedTuple):
    """How contributions are estimated where they cannot be computed."""

    n_orders: int
    seed: Any


def attribute(model: Any, rows: Mixtures, scores: Floats, sampling: Sampling) -> Shares:
    """Return the contribution of each player to the difference of two rows' scores.

    Parameters
    ----------
    model : estimator
        Fitted; it scores each row by itself.
    rows : Mixtures
    scores : array of shape (2,)
        The model's scores of a and of b.
    sampling : Sampling
    """
    inner, inside = _innermost(model, rows)
    numbers = inside.numbers
    members = members_of(inner)
    if members is not None and numbers is not None:
        found = _weighted(members, NumberMixtures(numbers, inside.player, inside.n_players), sampling)
        if found is not None and _adds_up(found.contribution, scores):
            return found
    for way in (_linear, _pieces):
        found = None if numbers is None else way(inner, inside, numbers)
        if found is not None and _adds_up(found.contribution, scores):
            return found
    return _by_mixtures(model, rows, sampling)


def members_of(model: Any) -> list[tuple[float, Any]] | None:
    """Return the factors and members of an ensemble that adds up scores; None for any other model."""
    if getattr(model, "combine", None) != "scores" or not hasattr(model, "scales_"):
        return None
    weight_of = dict(zip(model.names_, model.weights_, strict=True))
    return [(float(weight_of[name] / model.scales_[name]), ranker) for name, ranker in model.rankers_.items()]


def scores_rows_alone(model: Any) -> bool:
    """Say whether a row's score is the same in whatever list it stands."""
    if hasattr(model, "best_estimator_"):
        return scores_rows_alone(model.best_estimator_)
    if hasattr(model, "steps") and model.steps[-1][1] not in (None, "passthrough"):
        return scores_rows_alone(model.steps[-1][1])
    members = members_of(model)
    return not ranks_lists(model) if members is None else all(scores_rows_alone(member) for _, member in members)


def players_of(encoder: TableEncoder) -> Ints:
    """Return the table's column that each column of numbers was made from."""
    widths = [
        int(scale > 0) + int(flagged) if categories is None else len(categories)
        for scale, flagged, categories in zip(encoder.scales_, encoder.flagged_, encoder.categories_, strict=True)
    ]
    return np.repeat(np.arange(len(widths)), widths)


def _innermost(model: Any, rows: Mixtures) -> tuple[Any, Mixtures]:
    """Step through wrappers, and through scalers, to the model that gives the scores."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "threshold_") and hasattr(model, "estimator_"):  # ThresholdCompare
            model = model.estimator_
        elif getattr(model, "steps", None) and all(
            type(step).__name__ in _COLUMN_BY_COLUMN for _, step in model.steps[:-1]
        ):
            if len(model.steps) > 1:
                if rows.numbers is None:
                    return model, rows
                both = rows.mix(np.repeat([[True], [False]], rows.n_players, axis=1))
                rows = NumberMixtures(model[:-1].transform(both), rows.player, rows.n_players)
            model = model.steps[-1][1]
        else:
            return model, rows


def _weighted(members: list[tuple[float, Any]], rows: NumberMixtures, sampling: Sampling) -> Shares | None:
    """Add up the members' contributions; None where one of them can only be estimated, as then all are better so."""
    total = np.zeros(rows.n_players)
    both = rows.mix(np.repeat([[True], [False]], rows.n_players, axis=1))
    for factor, member in members:
        found = attribute(member, rows, np.asarray(list_scores(member, both)), sampling)
        if not found.how.startswith("exact"):
            return None
        total += factor * found.contribution
    return _exact(total, "the members' contributions, weighted as their scores are")


def _linear(model: Any, rows: Mixtures, numbers: Floats) -> Shares | None:
    coef = getattr(model, "coef_", None)
    if (
        coef is None
        or getattr(model, "kernel", "linear") != "linear"
        or getattr(model, "n_components", None) is not None
    ):
        return None
    weight = np.asarray(coef, dtype=float)
    if weight.shape not in ((numbers.shape[1],), (1, numbers.shape[1])):
        return None
    moved = weight.ravel() * ((numbers[0] - numbers[1]) / getattr(model, "item_scale_", 1.0))
    return _exact(_gathered(moved, rows), "each weight times the difference of its values")


def _pieces(model: Any, rows: Mixtures, numbers: Floats) -> Shares | None:
    arrays = getattr(model, "pieces_", {})
    kind = next((kind for name, kind in _PIECES.items() if name in arrays), None)
    if kind is None:
        return None
    pieces = kind.from_arrays({name: np.asarray(part) for name, part in arrays.items()})
    if isinstance(pieces, Forest):
        found = forest_contributions(pieces, numbers, rows.player, rows.n_players)
        return _exact(found, "the mean over all orders of exchanging values, tree by tree")
    return _exact(_gathered(additive_contributions(pieces, numbers), rows), "the score is a sum over single features")


def _by_mixtures(model: Any, rows: Mixtures, sampling: Sampling) -> Shares:
    playing = rows.differing
    contribution, error = np.zeros(rows.n_players), np.zeros(rows.n_players)
    if len(playing) <= MOST_PLAYERS:
        if len(playing):
            contribution[playing] = exact_values(_value(model, rows, playing), len(playing))
        return _exact(contribution, "the mean over all orders of exchanging values")
    rng = np.random.default_rng(sampling.seed)
    value = _value(model, rows, playing)
    contribution[playing], error[playing] = sampled_values(value, len(playing), sampling.n_orders, rng)
    error[error <= 1e-12 * np.abs(contribution).sum()] = 0.0  # rounding: the same in every order
    how = f"estimated: the mean over {sampling.n_orders:,} random orders of exchanging values; ± is one standard error"
    return Shares(contribution, error, how)


def _value(model: Any, rows: Mixtures, playing: Ints) -> Callable[[Mask], Floats]:
    """Return what scores mixtures in which only some players change."""
    height = max(1, _BLOCK // max(1, rows.width))

    def value(mask: Mask) -> Floats:
        parts = []
        for start in range(0, len(mask), height):
            from_a = np.zeros((len(mask[start : start + height]), rows.n_players), dtype=bool)
            from_a[:, playing] = mask[start : start + height]
            parts.append(np.asarray(list_scores(model, rows.mix(from_a)), dtype=float))
        return np.concatenate(parts)

    return value


def _gathered(of_column: Floats, rows: Mixtures) -> Floats:
    return np.bincount(rows.player, of_column, minlength=rows.n_players)


def _exact(contribution: Floats, how: str) -> Shares:
    return Shares(contribution, np.zeros(len(contribution)), f"exact: {how}")


def _adds_up(contribution: Floats, scores: Floats) -> bool:
    """Say whether contributions make up the difference: if not, the model's scores are not what they look like."""
    size = float(np.abs(contribution).sum() + np.abs(scores).sum())
    gap = abs(float(contribution.sum()) - (float(scores[0]) - float(scores[1])))
    return gap <= _ROUNDING.get(str(scores.dtype), 1e-9) * size
