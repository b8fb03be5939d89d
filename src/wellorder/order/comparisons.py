"""Comparisons: pairs of items that somebody compared, ties included."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from ..sweeps import Array, Bools, Floats, Ints, near_one
from .columns import check_weights, read_column
from .outcomes import as_series, number_names, number_values, read_outcomes
from .pairs import Balance, ListedPairs
from .words import AB, WORDS

if TYPE_CHECKING:
    from .sums import OrderSum

_OUTCOMES = "outcomes are 1 (right is better), -1 (left is better) or 0 (no difference)"


@dataclass(frozen=True)
class ComparisonSummary:
    """What there is to learn from, in numbers."""

    n_comparisons: int
    n_ties: int
    n_items: int
    n_contradictions: int
    n_items_in_cycles: int

    @property
    def n_pairs(self) -> int:
        """Comparisons that were decided."""
        return self.n_comparisons - self.n_ties

    def __str__(self) -> str:
        plural = "s" * (self.n_comparisons != 1)
        text = f"{self.n_comparisons:,} comparison{plural} of {self.n_items:,} items, {self.n_ties:,} of them ties"
        if self.n_contradictions:
            text += f"; {self.n_contradictions:,} pairs of items were decided both ways"
        if self.n_items_in_cycles:
            text += f"; {self.n_items_in_cycles:,} items stand in circles (a above b above ... above a)"
        return text


class Comparisons:
    """Items compared two at a time: outcome 1 if the right one is better, −1 if the left one, 0 for a tie.

    Parameters
    ----------
    left, right : arrays of shape (m,)
        Row numbers of the items compared.
    outcome : array of shape (m,)
        1: the right item is better; −1: the left one; 0: no difference.
    weights : array of shape (m,), optional
        Weights of the comparisons.

    Attributes
    ----------
    names : array of objects or None
        What each item is called, where :meth:`from_names` has numbered them.
    times : array of shape (m,) or None
        When each was made, as numbers or dates, where a file says so: ratings whose certainty fades with time go by it.
    both_bad : array of bool of shape (m,) or None
        Which ties :meth:`from_names` was told to be of two that are both bad; None where it was told of none.

    Examples
    --------
    >>> import wellorder as wo
    >>> games = wo.Comparisons(left=[0, 1, 2, 0], right=[1, 2, 0, 1], outcome=[1, 1, 1, 0])
    >>> print(games.describe())
    4 comparisons of 3 items, 1 of them ties; 3 items stand in circles (a above b above ... above a)
    """

    names: Array | None = None
    times: Array | None = None
    both_bad: Bools | None = None

    def __init__(self, left: Any, right: Any, outcome: Any, weights: Any = None) -> None:
        self.left, self.right = _item_numbers(left, "left"), _item_numbers(right, "right")
        self.outcome = check_outcomes(outcome)
        if not len(self.left) == len(self.right) == len(self.outcome):
            raise ValueError(
                f"left, right and outcome must be of one length, got {len(self.left)}, {len(self.right)} and "
                f"{len(self.outcome)}"
            )
        self.weight = check_weights(weights, len(self.left), of="comparison")
        itself = np.flatnonzero((self.left == self.right) & (self.outcome != 0))
        if itself.size:
            raise ValueError(
                f"comparison {itself[0]} finds item {self.left[itself[0]]} better than itself; correct or drop it"
            )

    @classmethod
    def from_names(cls, left: Any, right: Any, outcome: Any, weights: Any = None) -> Comparisons:
        """Make comparisons of items by their names, which are numbered in the order of their first appearance.

        Parameters
        ----------
        left, right : columns of shape (m,)
            The names of the items compared: text, numbers or anything hashable, in lists, arrays, or series of pandas
            or polars.
        outcome : column of shape (m,)
            1: the right item is better; −1: the left one; 0: no difference. Or in words, as in files: right, left, tie;
            b, a; the name of the better item. ``tie (bothbad)`` and ``both_bad`` are ties that are remembered.
        weights : array of shape (m,), optional
            Weights of the comparisons.

        Returns
        -------
        Comparisons
            With ``names``: one an item.

        Examples
        --------
        >>> import wellorder as wo
        >>> votes = wo.Comparisons.from_names(["ada", "bob", "ada"], ["bob", "eve", "eve"], ["left", "tie", "eve"])
        >>> votes.names.tolist(), votes.left.tolist(), votes.outcome.tolist()
        (['ada', 'bob', 'eve'], [0, 1, 0], [-1, 0, 1])
        """
        numbers_left, numbers_right, names = number_names(left, right)
        found = cls(numbers_left, numbers_right, np.zeros(len(numbers_left), np.int8), weights)
        found.names = names
        found.outcome, found.both_bad = _outcomes_of(outcome, numbers_left, numbers_right, names)
        itself = np.flatnonzero((found.left == found.right) & (found.outcome != 0))
        if itself.size:
            name = names[found.left[itself[0]]]
            raise ValueError(f"comparison {itself[0]} finds {name!r} better than itself; correct or drop it")
        return found

    group: ClassVar[None] = None
    lists: ClassVar[None] = None
    n_groups: ClassVar[int] = 1
    """Any two items may be compared: they are one list."""
    kind: ClassVar[Literal["comparisons"]] = "comparisons"
    keeps_rows: ClassVar[bool] = True
    """Whether a part is over the same rows of X: some of the comparisons are, over all items."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def is_judged(self) -> Bools:
        """Whether each comparison has an outcome: all have."""
        return np.ones(len(self), dtype=bool)

    def __add__(self, other: Any) -> OrderSum:
        from .sums import add_orders

        return add_orders(self, other)

    def take(self, places: Ints) -> Comparisons:
        """Return some of the comparisons, in the order asked for; items keep their numbers."""
        part = copy(self)
        part.left, part.right, part.outcome = (ends[places] for ends in (self.left, self.right, self.outcome))
        part.weight = None if self.weight is None else self.weight[places]
        part.times = None if self.times is None else self.times[places]
        part.both_bad = None if self.both_bad is None else self.both_bad[places]
        return part

    def to_pairs(self, n_rows: int, balance: Balance = "pairs") -> ListedPairs:
        """Return the decided comparisons as pairs of rows; ties say nothing about who stands above."""
        if len(self) and max(self.left.max(), self.right.max()) >= n_rows:
            number = int(np.argmax(np.maximum(self.left, self.right) >= n_rows))
            item = max(self.left[number], self.right[number])
            raise ValueError(f"comparison {number} names item {item}, but there are {n_rows} rows (0 to {n_rows - 1})")
        weight = np.ones(len(self)) if self.weight is None else self.weight
        decided = (self.outcome != 0) & (weight > 0)
        right_wins = self.outcome[decided] > 0
        left, right = self.left[decided], self.right[decided]
        return ListedPairs(
            high=np.where(right_wins, right, left),
            low=np.where(right_wins, left, right),
            weight=weight[decided],
            n_rows=n_rows,
            mass=float(weight[decided].sum()),
        )

    def describe(self) -> ComparisonSummary:
        """Count ties, contradictions, and items whose comparisons run in a circle."""
        items, number = np.unique(np.concatenate([self.left, self.right]), return_inverse=True)
        n = len(items)
        renumbered = Comparisons(number[: len(self)], number[len(self) :], self.outcome, self.weight)
        pairs = renumbered.to_pairs(n)
        above = sp.coo_array((pairs.weight, (pairs.low, pairs.high)), shape=(n, n)).tocsr()
        both_ways = above.multiply(above.T)
        net = above - above.T  # what remains when a pair was decided both ways
        net.data = np.maximum(net.data, 0.0)
        net.eliminate_zeros()
        _, component = connected_components(net, directed=True, connection="strong")
        sizes = np.bincount(component, minlength=1)
        return ComparisonSummary(
            n_comparisons=len(self),
            n_ties=int(np.count_nonzero(self.outcome == 0)),
            n_items=len(items),
            n_contradictions=int(both_ways.nnz // 2),
            n_items_in_cycles=int(np.sum(sizes[sizes > 1])),
        )

    def __repr__(self) -> str:
        return f"Comparisons({self.describe()})"


def _outcomes_of(outcome: Any, left: Ints, right: Ints, names: Array) -> tuple[Ints, Bools | None]:
    """Read outcomes of items with names, numbers or words, and which ties were said to be of two that are both bad."""
    text = as_series(outcome)
    values = read_column(outcome, "outcome") if text is None else text
    if len(values) != len(left):
        raise ValueError(f"left, right and outcome must be of one length, got {len(left)} names and {len(values)}")
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return check_outcomes(values), None
    codes, distinct = number_values(values)

    def fail(problem: str, number: int) -> ValueError:
        return ValueError(f"comparison {number}: {problem}")

    found = read_outcomes(codes, distinct, (left, right), names, {**WORDS, **AB}, fail)
    return found.outcome, found.both_bad


def check_outcomes(outcome: Any) -> Ints:
    """Check outcomes: −1, 0 or 1 each."""
    values = np.asarray(outcome)
    if values.ndim != 1:
        raise ValueError(f"outcome should be a 1d array, got shape {values.shape}")
    if values.dtype.kind not in "iuf":
        values = _as_numbers(values)
    bad = np.flatnonzero(~np.isin(values, (-1, 0, 1)))
    if bad.size:
        raise ValueError(f"comparison {bad[0]} has the outcome {values[bad[0]]}; {_OUTCOMES}")
    return values.astype(np.int8)


def _as_numbers(values: Array) -> Array:
    """Take objects for the numbers that they are; False is none, as it could as well mean 'left' as 'no difference'."""
    for number, value in enumerate(values.tolist()):
        if isinstance(value, bool | np.bool_):
            raise ValueError(
                f"comparison {number} has the outcome {value}; {_OUTCOMES}. Where True says that right is better and "
                "False that left is, give np.where(outcome, 1, -1)"
            )
        if not isinstance(value, Real):
            raise ValueError(
                f"comparison {number} has the outcome {value!r}, which is no number; {_OUTCOMES}; "
                "Comparisons.from_names takes words as well"
            )
    return values.astype(float)


def _item_numbers(values: Any, name: str) -> Ints:
    numbers = np.asarray(values)
    if numbers.ndim != 1:
        raise ValueError(f"{name} should be a 1d array of row numbers, got shape {numbers.shape}")
    if len(numbers) == 0:
        return numbers.astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold the row numbers of items, got {numbers.dtype} such as {numbers[0]!r}")
    if numbers.min() < 0:
        raise ValueError(f"{name}[{int(np.argmax(numbers < 0))}] is negative; row numbers start at 0")
    if numbers.max() > np.iinfo(np.int64).max:  # unsigned numbers of 64 bits would come out negative
        at = int(np.argmax(numbers))
        raise ValueError(f"{name}[{at}] is {numbers[at]}, which is no row of any table; row numbers start at 0")
    return numbers.astype(np.int64)


def direction_share(pairs: ListedPairs, scores: Floats, *, wrong: bool = False) -> float:
    """Return the share of listed pairs that the scores put in the right order, or not; a tied pair is an error."""
    right = scores[pairs.high] > scores[pairs.low]
    weight, _ = near_one(pairs.weight)
    return float(weight[right != wrong].sum() / weight.sum())


def outcomes_told(differences: Floats, threshold: float = 0.0) -> Ints:
    """Return the outcomes that differences, right less left, stand for: 0 within the threshold, else their signs."""
    return np.where(np.abs(differences) > threshold, np.sign(differences), 0).astype(np.int64)
