"""Clicks: who was clicked in the lists that were shown, and where they stood."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from ..sweeps import Array, Bools, Floats, Ints
from .columns import encode_groups
from .grades import Grades
from .pairs import EndWeights

_MOST_ROUNDS = 1_000
_SETTLED = 1e-10
_MOST_POSITIONS = 10_000_000
"""Nobody looks that far: larger numbers are no positions, but ids."""


class Clicks(Grades):
    r"""Rows of lists that were shown: whatever was clicked stands above what was not, weighed by how few look there.

    A click at position k says that the row was wanted *and* seen, and lower positions are seen less. With
    :math:`q_k` the chance that position k is looked at, each clicked row counts :math:`1/q_k` times, which makes the
    sum over pairs unbiased for what would have been clicked, had everything been seen (Joachims, Swaminathan and
    Schnabel, 2017):

    .. math:: u_i = 1 / \max(q(k_i), q_{\min}), \qquad v_j = 1

    Only ratios of q count. Naive learning from clicks is ``propensities=1``.

    Parameters
    ----------
    clicked : array of shape (n,)
        Booleans, or 0 and 1.
    position : array of shape (n,)
        Where each row stood in its list: 1 is the first.
    groups : array of shape (n,)
        One id a row: the list that was shown. Only rows of one are compared.
    propensities : float, array, mapping or None
        q of positions 1, 2, …, as an array; by position, as a mapping; 1 for naive learning. None: estimated from
        ``items`` that were seen at several positions (:func:`click_propensities_from`), or else, with a warning, from
        how often each position was clicked, which is right only where lists were shown in random order.
    items : array of shape (n,), optional
        What each row is, the same wherever the same thing was shown for the same query.
    floor : float, default=0.05
        The least q, relative to the largest, that is believed: smaller ones make few clicks count for nearly
        everything. A larger one has less variance and more bias.
    weights : array of shape (n,), optional
        Row weights ω.

    Attributes
    ----------
    position : array of shape (n,)
    propensities : array
        q of positions 1, 2, …, the largest being 1; NaN for positions that nothing is known of.
    n_cut : int
        How many clicked rows stood where q is below the floor.

    Notes
    -----
    On real logs this need not help: on a large public click log no method of this family learned a ranker whose order
    experts liked better than that of naive learning (Hager et al. 2024, arXiv 2404.02543). It helps where the chance to
    be seen is known, or can be estimated from interventions, and clicks below the first places are not too few.

    References
    ----------
    Joachims, Swaminathan and Schnabel (2017), Unbiased learning-to-rank with biased feedback.

    Examples
    --------
    >>> import wellorder as wo
    >>> clicks = wo.Clicks([1, 0, 0, 1], [1, 2, 1, 2], ["a", "a", "b", "b"], propensities=[1.0, 0.5])
    >>> print(clicks.describe())
    4 rows in 2 groups, 2 levels, 2 pairs
    >>> clicks.ends.above.tolist()
    [1.0, 2.0, 1.0, 2.0]
    """

    def __init__(
        self,
        clicked: Any,
        position: Any,
        groups: Any,
        *,
        propensities: Any = None,
        items: Any = None,
        floor: float = 0.05,
        weights: Any = None,
    ) -> None:
        was_clicked = check_clicked(clicked)
        if groups is None:
            raise ValueError("clicks are compared within the lists that were shown; say with groups which rows are one")
        if not (isinstance(floor, Real) and 0 < floor <= 1):
            raise ValueError(f"floor={floor!r} must lie between 0 and 1: the least chance to be seen that is believed")
        super().__init__(was_clicked.astype(float), groups, weights=weights, levels=None)
        self.position: Ints = check_positions(position, len(was_clicked))
        self.clicked: Bools = was_clicked
        if propensities is None:
            propensities = _estimated(was_clicked, self.position, items)
        self.propensities: Floats = _read_propensities(
            propensities, int(self.position.max(initial=1)), len(was_clicked)
        )
        self.floor: float = floor
        seen = self.propensities[self.position - 1]
        unknown = np.flatnonzero(was_clicked & np.isnan(seen))
        if unknown.size:
            raise ValueError(
                f"row {unknown[0]} was clicked at position {self.position[unknown[0]]}, whose propensity is not given; "
                "give one for each position that has clicks"
            )
        self.n_cut: int = int(np.count_nonzero(was_clicked & (seen < floor)))
        self.ends = EndWeights(1.0 / np.maximum(np.where(np.isnan(seen), 1.0, seen), floor), None)

    def take(self, rows: Ints) -> Clicks:
        """Return some of the rows; what positions are worth stays what it was."""
        part = super().take(rows)
        assert isinstance(part, Clicks)
        part.position, part.clicked = self.position[rows], self.clicked[rows]
        return part

    def without_weights(self) -> Clicks:
        """Return the same clicks with all rows counting the same, where they stood or not."""
        other = self._with(weight=None, ends=None)
        assert isinstance(other, Clicks)
        return other

    def __repr__(self) -> str:
        return f"Clicks({self.describe()})"


def click_propensities_from(clicked: Any, position: Any, items: Any) -> Floats:
    r"""Estimate how often each position is looked at, from items that were shown at several.

    A click at position k on item i has the chance :math:`q_k r_i`; both are fitted by maximum likelihood (clicks as
    Poisson counts), in turns. An item that was only seen at one position says nothing. This is what swapping results,
    or several rankers in one log, leave behind: no experiment is needed (Agarwal et al., 2019).

    Parameters
    ----------
    clicked, position : arrays of shape (n,)
        As :class:`Clicks` takes them.
    items : array of shape (n,)
        What each row is, the same wherever the same thing was shown for the same query.

    Returns
    -------
    array
        q of positions 1, 2, …; the largest is 1. NaN for positions that share no item with the most seen one, even
        through others.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.order import click_propensities_from
    >>> position, item = np.tile([1, 2], 2000), np.repeat([0, 1], 2000)
    >>> rng = np.random.default_rng(0)
    >>> clicked = rng.random(4000) < np.array([1.0, 0.5])[position - 1] * np.array([0.8, 0.4])[item]
    >>> click_propensities_from(clicked, position, item).round(1).tolist()
    [1.0, 0.5]
    """
    was_clicked = check_clicked(clicked)
    where = check_positions(position, len(was_clicked))
    if items is not None and len(items) != len(was_clicked):
        raise ValueError(f"there are {len(was_clicked)} rows and {len(items)} items; give one a row")
    item, n_items = encode_groups(items, len(was_clicked))
    if item is None:
        raise ValueError("items say what each row is; without them nothing is known to have been seen at two positions")
    n_positions = int(where.max(initial=1))
    cell, place = np.unique(item.astype(np.int64) * n_positions + where - 1, return_inverse=True)
    of_item, at = np.divmod(cell, n_positions)
    shown, clicks = np.bincount(place).astype(float), np.bincount(place, was_clicked).astype(float)
    moved = np.bincount(of_item, minlength=n_items)[of_item] > 1
    of_item, at, shown, clicks = of_item[moved], at[moved], shown[moved], clicks[moved]
    if not len(at) or not clicks.any():
        raise ValueError(
            "no item with a click was seen at two positions, so that nothing tells what a position is worth; give "
            "propensities, or estimate them with features (wo.click_propensities(…, X=…))"
        )
    connected = _connected(of_item, at, clicks, n_items, n_positions)
    q, r = np.ones(n_positions), np.zeros(n_items)
    by_item, by_place = np.bincount(of_item, clicks, n_items), np.bincount(at, clicks, n_positions)
    for _ in range(_MOST_ROUNDS):
        # invariant: each half-step maximises the likelihood in r, or in q, the other held
        expected = np.bincount(of_item, shown * q[at], n_items)
        r = by_item / np.where(expected > 0, expected, 1.0)
        expected = np.bincount(at, shown * r[of_item], n_positions)
        last, q = q, by_place / np.where(expected > 0, expected, 1.0)
        q = q / max(float(q.max()), 1e-300)
        if float(np.abs(q - last).max()) < _SETTLED:
            break
    q = np.where(connected, q, np.nan)
    return np.asarray(q / np.nanmax(q))


def _connected(of_item: Ints, at: Ints, clicks: Floats, n_items: int, n_positions: int) -> Bools:
    """Say which positions can be compared with the most seen one: through items with a click at either."""
    import scipy.sparse as sp

    counted = np.bincount(of_item, clicks, n_items)[of_item] > 0
    table = sp.csr_array((np.ones(counted.sum()), (of_item[counted], at[counted])), shape=(n_items, n_positions))
    _, part = sp.csgraph.connected_components(table.T @ table, directed=False)
    there = np.bincount(at[counted], minlength=n_positions)
    return np.asarray((part == part[int(np.argmax(there))]) & (there > 0))


def _estimated(clicked: Bools, position: Ints, items: Any) -> Floats:
    """Estimate what positions are worth from what there is."""
    if items is not None:
        return click_propensities_from(clicked, position, items)
    if not len(position) or position.min() == position.max():
        return np.ones(int(position.max(initial=1)))
    shown = np.bincount(position - 1).astype(float)
    rate = np.bincount(position - 1, clicked) / np.where(shown > 0, shown, 1.0)
    warnings.warn(
        "what positions are worth is estimated from how often each was clicked, which is right only where lists were "
        "shown in random order: better rows stand higher otherwise, and count too little; give propensities= "
        "(wo.click_propensities estimates them), or items= that were seen at several positions",
        stacklevel=4,
    )
    rate = np.where((shown > 0) & (rate > 0), rate, np.nan)
    return np.asarray(rate / np.nanmax(rate)) if clicked.any() else np.ones(len(shown))


def _read_propensities(given: Any, n_positions: int, n_rows: int) -> Floats:
    """Return q of positions 1, 2, …, the largest being one; NaN where it is not given."""
    q = _by_position(given, n_positions) if isinstance(given, Mapping) else _numbers(given)
    if q.ndim == 0:
        q = np.full(n_positions, float(q))
    if q.ndim != 1 or len(q) < n_positions:
        raise ValueError(
            f"propensities have shape {q.shape}, and rows stood at positions up to {n_positions}; give one for "
            "positions 1, 2, …, or a mapping of position to propensity"
        )
    if len(q) == n_rows > n_positions:
        raise ValueError(
            f"there are {n_rows} propensities, one a row, and rows stood at positions up to {n_positions}; give one "
            "for positions 1, 2, …. What is known of rows goes to wo.Grades(clicked, groups, weights_above=1 / q)"
        )
    bad = np.flatnonzero(~np.isnan(q) & ~((q > 0) & np.isfinite(q)))
    if bad.size:
        raise ValueError(
            f"the propensity of position {bad[0] + 1} is {q[bad[0]]}; it is the chance that the position is looked at, "
            "and must be positive"
        )
    if np.isnan(q).all():
        raise ValueError("propensities are all NaN; give the chance that each position is looked at")
    return np.asarray(q / np.nanmax(q))


def _numbers(given: Any) -> Floats:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"propensities must be numbers, one for positions 1, 2, …, got {given!r:.60}") from None


def _by_position(given: Mapping[Any, Any], n_positions: int) -> Floats:
    """Return the propensities of a mapping in the order of the positions; NaN where there is none."""
    places = list(given)
    bad = [place for place in places if not (isinstance(place, Real) and float(place) >= 1 and float(place) % 1 == 0)]
    if bad:
        raise ValueError(f"propensities has the position {bad[0]!r}; positions count from 1, in whole numbers")
    q = np.full(max([n_positions, *map(int, places)]), np.nan)
    q[np.array(places, dtype=np.int64) - 1] = _numbers(list(given.values()))
    return q


def check_clicked(clicked: Any) -> Bools:
    """Check clicks: booleans, or 0 and 1."""
    values = np.asarray(clicked)
    if values.dtype.kind == "O" and all(isinstance(each, Real | np.bool_) for each in values.ravel().tolist()):
        values = values.astype(float)
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ValueError(f"clicks must be True or False (or 1 and 0), one a row, got {values.dtype} of {values.shape}")
    bad = np.flatnonzero((values != 0) & (values != 1)) if values.dtype.kind != "b" else np.zeros(0, np.int64)
    if bad.size:
        raise ValueError(f"row {bad[0]} has the click {values[bad[0]]}; clicks are 1 or 0, one a row that was shown")
    return values.astype(bool)


def check_positions(position: Any, n: int) -> Ints:
    """Check positions: whole numbers from 1 on."""
    values: Array = np.asarray(position)
    if values.shape != (n,) or values.dtype.kind not in "iuf":
        raise ValueError(f"there are {n} rows, and positions are {values.dtype} of {values.shape}; give one a row")
    bad = np.flatnonzero(~(values == np.floor(values)) | ~(values >= 1) | ~(values < _MOST_POSITIONS))
    if bad.size:
        how = "count from 1, so add one to each" if values[bad[0]] == 0 else "are whole numbers from 1 on"
        how = f"are places in a list, below {_MOST_POSITIONS:,}" if values[bad[0]] >= _MOST_POSITIONS else how
        raise ValueError(f"row {bad[0]} has the position {values[bad[0]]}; positions {how}")
    return values.astype(np.int64)
