"""A loss that somebody brings: an object with ``derivatives``, tried before anything is minimised by it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..sweeps import Floats
from .risk import PairLoss


class _OwnLoss(PairLoss):
    """An object of somebody's own that knows its derivatives, as a loss over pairs."""

    def __init__(self, own: Any) -> None:
        self._own = own

    @property
    def called(self) -> str:
        """What errors call it: what its author does."""
        return type(self._own).__name__

    def derivatives(self, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Return what it says, as arrays."""
        told = self._own.derivatives(d)
        if not isinstance(told, tuple | list) or len(told) != 3:
            raise ValueError(f"{self.called}.derivatives must return three arrays: the loss, its slope, its curvature")
        loss, slope, curvature = told
        return np.asarray(loss, float), np.asarray(slope, float), np.asarray(curvature, float) + np.zeros_like(d)


def checked_loss(own: Any) -> PairLoss:
    """Return an object with ``derivatives`` as a loss over pairs.

    It is tried at a few differences, and refused with words about what is wrong with it: minimised untried, it would
    end in an error that blames the data.
    """
    loss = _OwnLoss(own)
    d = np.linspace(-3.0, 3.0, 25)
    parts = loss.derivatives(d)
    if any(part.shape != d.shape for part in parts):
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ValueError(f"{loss.called}.derivatives gave arrays of the shapes {shapes} for {len(d)} differences")
    _, slope, curvature = parts
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError(f"{loss.called}.derivatives is not finite between -3 and 3")
    step = 1e-4
    rise = (loss.derivatives(d + step)[0] - loss.derivatives(d - step)[0]) / (2.0 * step)
    if (np.abs(rise - slope) > 0.01 * (1.0 + np.abs(slope)) + np.abs(np.gradient(slope)).max()).any():
        raise ValueError(f"the slope that {loss.called}.derivatives gives is not that of its loss")
    if (slope > 1e-9).any() or not (slope < 0).any():
        raise ValueError(f"{loss.called} does not fall as d = better − worse rises; turn it round")
    if (curvature < -1e-9).any() or (np.diff(slope) < -1e-9).any():
        raise ValueError(f"{loss.called} is not convex, and its minimum would be one of many; give a convex loss")
    return loss
