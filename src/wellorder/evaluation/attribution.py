"""Why one row's score is above another's, by whatever is the exact way for the model, and by mixtures where none is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import comb
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..data import TableEncoder, read_values
from ..deadline import TimeIsUp, time_is_up
from ..scoring import list_scores, ranks_lists
from ..spaces import Bumps, Forest, Steps
from ..state import built
from ..sweeps import Array, Floats, Ints, sums_at

# --------------------------------------------------------------------------------------------------
# Shapley values of any score between two rows: over all mixtures, or estimated from some orders of exchange.


Mask: TypeAlias = npt.NDArray[np.bool_]
"""One row per mixture, one column per player: whether the player's values are those of a."""

_BATCH = 1 << 21
"""Entries of a mask that are made at a time."""

MOST_PLAYERS = 10
"""With up to this many players, all mixtures are scored: 1,024 rows."""


def exact_values(value: Callable[[Mask], Floats], n_players: int) -> Floats:
    """Return the Shapley values of the players; 2^n_players mixtures are scored."""
    code = np.arange(1 << n_players)
    mask = (code[:, None] >> np.arange(n_players)) & 1 == 1
    v, size = value(mask), mask.sum(axis=1)
    weight = np.array([1.0 / (n_players * comb(n_players - 1, s)) for s in range(n_players)])
    out = np.zeros(n_players)
    for j in range(n_players):
        without = code[~mask[:, j]]
        out[j] = float(weight[size[without]] @ (v[without | (1 << j)] - v[without]))
    return out


def sampled_values(
    value: Callable[[Mask], Floats], n_players: int, n_orders: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    r"""Return estimates of the Shapley values and their standard errors; they add up exactly all the same.

    Orders are drawn together with their reverses: with the two rows exchanged, an order and its reverse change places,
    so that the same seed gives the same estimates with the other sign.

    Parameters
    ----------
    value : function from a mask of mixtures to their scores
    n_players : int
    n_orders : int
        Orders of exchange, reverses included; an odd number is rounded up.
    rng : Generator
    """
    gains = np.empty((max(2, (n_orders + 1) // 2), n_players))
    batch = max(1, _BATCH // (n_players * (n_players + 1)))
    for start in range(0, len(gains), batch):
        here = gains[start : start + batch]
        orders = rng.permuted(np.tile(np.arange(n_players), (len(here), 1)), axis=1)
        # a player's place in an order, and in the reverse of it
        when = np.stack([orders, n_players - 1 - orders], axis=1)
        mask = when[:, :, None, :] < np.arange(n_players + 1)[:, None]
        v = value(mask.reshape(-1, n_players)).reshape(mask.shape[:3])
        here[:] = np.take_along_axis(np.diff(v, axis=2), when, axis=2).mean(axis=1)
    return gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))


# --------------------------------------------------------------------------------------------------
# Mixtures of two rows: the values of some features from one, of all others from the other.


class Mixtures(Protocol):
    """Two rows, a and b, and every mixture of them as a model takes it."""

    player: Ints
    """The player that each column belongs to: columns of one player change together."""
    n_players: int
    width: int
    """How many values of a mixture are held."""

    @property
    def numbers(self) -> Floats | None:
        """The two rows as numbers; None where some are none."""
        ...

    @property
    def differing(self) -> Ints:
        """The players whose values are not the same in both rows."""
        ...

    def mix(self, from_a: Mask) -> Any:
        """Return one row a line of the mask."""
        ...


class NumberMixtures:
    """Of rows of numbers, dense or sparse.

    Parameters
    ----------
    rows : array or sparse matrix of shape (2, d)
    player : array of shape (d,), optional
        Each column is a player of its own unless given.
    n_players : int, optional
    """

    def __init__(self, rows: Any, player: Ints | None = None, n_players: int | None = None) -> None:
        self._sparse = sp.issparse(rows)
        self._rows: Floats = np.asarray(rows.toarray() if self._sparse else rows, dtype=float)
        self.player = np.arange(self._rows.shape[1]) if player is None else player
        self.n_players = self._rows.shape[1] if n_players is None else n_players
        # of wide sparse rows, the columns in which any mixture may have an entry
        self._active = np.flatnonzero(self._rows.any(axis=0)) if self._sparse else np.arange(self._rows.shape[1])
        self.width = len(self._active)

    @property
    def numbers(self) -> Floats:
        """The two rows."""
        return self._rows

    @property
    def differing(self) -> Ints:
        """The players of the columns whose values are not the same in both rows."""
        a, b = self._rows
        return np.unique(self.player[(a != b) & ~(np.isnan(a) & np.isnan(b))])

    def mix(self, from_a: Mask) -> Any:
        """Return one row a line of the mask; sparse where the two rows are."""
        here = self._active
        a, b = self._rows[:, here]
        mixed = np.where(from_a[:, self.player[here]], a, b)
        if not self._sparse:
            return mixed
        part = sp.csr_array(mixed)
        return sp.csr_array((part.data, here[part.indices], part.indptr), (len(mixed), self._rows.shape[1]))


class FrameMixtures:
    """Of rows of a data frame, for models that look at names and types of columns: each column is a player.

    Parameters
    ----------
    rows : data frame of two rows
    """

    def __init__(self, rows: Any) -> None:
        self._frame = nw.from_native(rows, eager_only=True)
        self.n_players = self.width = len(self._frame.columns)
        self.player: Ints = np.arange(self.n_players)
        self._values = [read_values(self._frame[name]) for name in self._frame.columns]

    @property
    def values(self) -> list[Array]:
        """The two values of each column: numbers with NaN, or text with None."""
        return self._values

    @property
    def numbers(self) -> Floats | None:
        """The two rows as numbers; None where a column holds text."""
        if any(values.dtype.kind != "f" for values in self._values):
            return None
        return np.column_stack(self._values)

    @property
    def differing(self) -> Ints:
        """The columns whose values are not the same in both rows."""
        same = [a == b or (a != a and b != b) for a, b in self._values]
        return np.flatnonzero(~np.array(same, dtype=bool))

    def mix(self, from_a: Mask) -> Any:
        """Return one row a line of the mask, in the frame's own library and types."""
        place = np.where(from_a, 0, 1)
        columns = {name: self._frame[name][place[:, k].tolist()] for k, name in enumerate(self._frame.columns)}
        return nw.from_dict(columns, backend=self._frame.implementation).to_native()


# --------------------------------------------------------------------------------------------------
# How far each feature moves a score between two rows: exact for sums of trees and for sums over single columns.
#
# Mix two rows a and b: players in a set S take their values from a, all others from b; v(S) is the score of the
# mixture. The contribution of a player j is its mean gain v(S ∪ j) − v(S) over all orders in which players may change
# from b to a: its Shapley value. Contributions add up to f(a) − f(b), and change sign with the two rows exchanged.


def additive_contributions(pieces: Bumps | Steps, rows: Floats) -> Floats:
    r"""Return f_k(a_k) − f_k(b_k) for each column k of a sum of pieces over single columns.

    Parameters
    ----------
    pieces : Bumps or Steps
    rows : array of shape (2, d)
        a, then b.
    """
    out = np.zeros(rows.shape[1])
    for k, part in _by_column(pieces):
        of_a, of_b = part.scores(rows)
        out[k] = of_a - of_b
    return out


def _by_column(pieces: Bumps | Steps) -> Iterator[tuple[int, Bumps | Steps]]:
    """Yield each column that is looked at, and the pieces over it."""
    own = ("centre", "weight") if isinstance(pieces, Bumps) else ("threshold", "weight")
    for k in np.unique(pieces.feature).tolist():
        mine = pieces.feature == k
        yield (
            k,
            replace(pieces, feature=pieces.feature[mine], **{name: getattr(pieces, name)[mine] for name in own}),
        )


def forest_contributions(forest: Forest, rows: Floats, player: Ints, n_players: int) -> Floats:
    r"""Return the Shapley values of a forest between two rows, exactly, in O(leaves × depth).

    A mixture comes to a leaf if p players on the way are a's and q are b's, whatever the others are: such a leaf of
    value u is worth :math:`u \, (p-1)! \, q! / (p+q)!` to each of the p, and
    :math:`-u \, p! \, (q-1)! / (p+q)!` to each of the q. No value at an inner node is needed.

    Parameters
    ----------
    forest : Forest
    rows : array of shape (2, d)
        a, then b; NaN is a missing value.
    player : array of shape (d,)
        The number of the player that each column belongs to: columns of one player change together.
    n_players : int
    """
    out = np.zeros(n_players)
    for value, from_a, from_b in _reached(forest, rows, player):
        p, q = len(from_a), len(from_b)
        for j in from_a:
            out[j] += value * _share(p - 1, q)
        for j in from_b:
            out[j] -= value * _share(q - 1, p)
    return out


def _reached(forest: Forest, rows: Floats, player: Ints) -> Iterator[tuple[float, tuple[int, ...], tuple[int, ...]]]:
    """Yield the value of every leaf that some mixture comes to, and the players who must be a's, and b's, for it."""
    a_left, b_left = (forest.goes_left(row) for row in rows)  # at leaves: not looked at
    next_a = np.where(a_left, forest.left, forest.right).tolist()
    next_b = np.where(b_left, forest.left, forest.right).tolist()
    who, left, value = player[forest.feature].tolist(), forest.left.tolist(), forest.value.tolist()
    waiting: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(root, (), ()) for root in forest.roots.tolist()]
    while waiting:
        k, from_a, from_b = waiting.pop()
        while left[k] >= 0:
            j = who[k]
            if next_a[k] == next_b[k] or j in from_a:
                k = next_a[k]
            elif j in from_b:
                k = next_b[k]
            else:
                ways = [(next_a[k], (*from_a, j), from_b), (next_b[k], from_a, (*from_b, j))]
                # by node, not by row: with a and b exchanged the sums are the same to the last bit, but for the sign
                (k, from_a, from_b), later = sorted(ways)
                waiting.append(later)
        if from_a or from_b:
            yield value[k], from_a, from_b


@lru_cache(maxsize=4096)
def _share(n: int, q: int) -> float:
    """Return n! q! / (n + q + 1)!."""
    return 1.0 / ((n + q + 1) * comb(n + q, n))


# --------------------------------------------------------------------------------------------------
# Whichever is exact.


_BLOCK = 1 << 22
"""Values of mixed rows that are held at a time."""

_ROUNDING = {"float32": 1e-5, "float64": 1e-9}
"""How far the sum of the contributions may be from the difference of the scores, as a share of all that is added."""

_COLUMN_BY_COLUMN = {
    "MaxAbsScaler",
    "MinMaxScaler",
    "PowerTransformer",
    "QuantileTransformer",
    "RobustScaler",
    "StandardScaler",
}
"""Scikit-learn's transformers that turn each column into one column: the model behind them can be looked at
directly."""

_PIECES: dict[str, Any] = {"roots": Forest, "centre": Bumps, "threshold": Steps}
"""The class of a model's ``pieces_``, by the name of an array that they hold; the first that fits counts."""


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


def summed_parts(model: Any, rows: Any, weight: Floats) -> Floats | None:
    """Return what each column brings to a weighted sum of many rows' scores; None where scores are no sum over columns.

    Parameters
    ----------
    model : estimator
        Fitted: linear, or a sum of pieces over single columns, behind scalers perhaps, or an ensemble of such.
    rows : array or sparse matrix of shape (n, d)
    weight : array of shape (n,)
        These sum to zero: a constant that belongs to no column is then worth nothing.
    """
    total = float(weight @ np.asarray(list_scores(model, rows), dtype=float))
    found = _summed(model, rows, weight)
    if found is None or not _adds_up(found, np.array([total, 0.0])):
        return None
    return found


def has_pieces(model: Any) -> bool:
    """Say whether contributions are exact without mixtures: of linear models, sums of pieces, trees, and their sums."""
    model, _ = _unwrapped(model, (), lambda scalers, nothing: nothing)
    members = members_of(model)
    if members is not None:
        return all(has_pieces(member) for _, member in members)
    if hasattr(model, "coef_"):
        return getattr(model, "kernel", "linear") == "linear" and getattr(model, "n_components", None) is None
    return any(name in getattr(model, "pieces_", {}) for name in _PIECES)


def _summed(model: Any, rows: Any, weight: Floats) -> Floats | None:
    inner, inside = _unwrapped(model, rows, lambda scalers, rows: scalers.transform(rows))
    members = members_of(inner)
    if members is not None:
        parts = [(factor, _summed(member, inside, weight)) for factor, member in members]
        known = [factor * part for factor, part in parts if part is not None]
        return np.sum(known, axis=0) if len(known) == len(parts) else None
    n_columns = inside.shape[1]
    coef = _weights_of(inner, n_columns)
    if coef is not None:
        return np.asarray(coef * np.asarray(weight @ inside).ravel() / getattr(inner, "item_scale_", 1.0))
    pieces = _pieces_of(inner)
    if pieces is None or isinstance(pieces, Forest) or sp.issparse(inside):
        return None
    out = np.zeros(n_columns)
    for k, part in _by_column(pieces):
        out[k] = weight @ part.scores(np.asarray(inside, dtype=float))
    return out


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
    return np.repeat(np.arange(len(encoder.columns_)), encoder.widths())


def _innermost(model: Any, rows: Mixtures) -> tuple[Any, Mixtures]:
    """Step through wrappers, and through scalers, to the model that gives the scores."""

    def scale(scalers: Any, rows: Mixtures) -> Mixtures | None:
        if rows.numbers is None:
            return None
        both = rows.mix(np.repeat([[True], [False]], rows.n_players, axis=1))
        return NumberMixtures(scalers.transform(both), rows.player, rows.n_players)

    return _unwrapped(model, rows, scale)


_R = TypeVar("_R")


def _unwrapped(model: Any, rows: _R, scale: Callable[[Any, _R], _R | None]) -> tuple[Any, _R]:
    """Step inwards, and do with the rows what scalers on the way do; where that cannot be, stop before them."""
    while True:
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "threshold_") and hasattr(model, "estimator_"):  # ThresholdCompare
            model = model.estimator_
        elif getattr(model, "steps", None) and all(
            type(step).__name__ in _COLUMN_BY_COLUMN for _, step in model.steps[:-1]
        ):
            if len(model.steps) > 1:
                scaled = scale(model[:-1], rows)
                if scaled is None:
                    return model, rows
                rows = scaled
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


def _weights_of(model: Any, n_columns: int) -> Floats | None:
    """Return a linear model's weights, one a column; None for any other model."""
    coef = getattr(model, "coef_", None)
    if (
        coef is None
        or getattr(model, "kernel", "linear") != "linear"
        or getattr(model, "n_components", None) is not None
    ):
        return None
    weight = np.asarray(coef, dtype=float)
    return weight.ravel() if weight.shape in ((n_columns,), (1, n_columns)) else None


def _pieces_of(model: Any) -> Bumps | Steps | Forest | None:
    """Return the pieces that a model's scores are sums of; None for a model without."""
    arrays = getattr(model, "pieces_", {})
    kind = next((kind for name, kind in _PIECES.items() if name in arrays), None)
    return None if kind is None else built(model, kind)


def _linear(model: Any, rows: Mixtures, numbers: Floats) -> Shares | None:
    weight = _weights_of(model, numbers.shape[1])
    if weight is None:
        return None
    moved = weight * ((numbers[0] - numbers[1]) / getattr(model, "item_scale_", 1.0))
    return _exact(_gathered(moved, rows), "each weight times the difference of its values")


def _pieces(model: Any, rows: Mixtures, numbers: Floats) -> Shares | None:
    pieces = _pieces_of(model)
    if pieces is None:
        return None
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
            if time_is_up():
                raise TimeIsUp("time was up before the contributions were estimated")
            from_a = np.zeros((len(mask[start : start + height]), rows.n_players), dtype=bool)
            from_a[:, playing] = mask[start : start + height]
            parts.append(np.asarray(list_scores(model, rows.mix(from_a)), dtype=float))
        return np.concatenate(parts)

    return value


def _gathered(of_column: Floats, rows: Mixtures) -> Floats:
    return sums_at(rows.player, of_column, minlength=rows.n_players)


def _exact(contribution: Floats, how: str) -> Shares:
    return Shares(contribution, np.zeros(len(contribution)), f"exact: {how}")


def _adds_up(contribution: Floats, scores: Floats) -> bool:
    """Say whether contributions make up the difference: if not, the model's scores are not what they look like."""
    size = float(np.abs(contribution).sum() + np.abs(scores).sum())
    gap = abs(float(contribution.sum()) - (float(scores[0]) - float(scores[1])))
    return gap <= _ROUNDING.get(str(scores.dtype), 1e-9) * size
