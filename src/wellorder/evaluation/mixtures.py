"""Mixtures of two rows: the values of some features from one, of all others from the other."""

from __future__ import annotations

from typing import Any, Protocol

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from ..data.frames import read_values
from ..sweeps import Array, Floats, Ints
from .shapley import Mask


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
        self.player = np.arange(self.n_players)
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
