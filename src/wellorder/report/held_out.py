"""What the records of the first repeat say of single rows: each was scored by a model that had not seen it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..evaluation.leaderboard import Leaderboard
from ..evaluation.splits import Split
from ..evaluation.tasks import Task
from ..sweeps import Floats, Ints


@dataclass(frozen=True)
class HeldOut:
    """The scores of rows (or of comparisons, right less left) in the test parts of one repeat."""

    rows: Ints
    """Of the table; each once."""
    fold: Ints
    """Whose model gave the score: scores of different folds are not on one scale."""
    scores: Floats

    def standardised(self) -> Floats:
        """Return the scores with mean 0 and standard deviation 1 in each fold."""
        out = np.empty_like(self.scores)
        for fold in np.unique(self.fold):
            mine = self.fold == fold
            spread = float(np.std(self.scores[mine]))
            out[mine] = (self.scores[mine] - self.scores[mine].mean()) / (spread if spread > 0 else 1.0)
        return out

    def standardised_differences(self) -> Floats:
        """Return differences in standard deviations of the scores that they are between, fold by fold.

        Whoever stands to the left, their mean is 0, and their variance twice that of the scores.
        """
        square = np.bincount(self.fold, self.scores**2) / np.maximum(np.bincount(self.fold), 1)
        spread = np.sqrt(square / 2)
        return np.asarray(self.scores / np.where(spread > 0, spread, 1.0)[self.fold])


def first_repeat(task: Task, leaderboard: Leaderboard) -> list[Split]:
    """Return the splits of the first repeat, as the comparison had them."""
    protocol = leaderboard.protocol
    return [split for split in task.splits(protocol.n_folds, 1, protocol.seed) if split.repeat == 0]


def held_out(leaderboard: Leaderboard, method: str, splits: list[Split]) -> HeldOut | None:
    """Gather a method's scores over the first repeat, of the folds that were done; None where none were kept."""
    kept = {record.fold: record.held_out for record in leaderboard.of(method) if record.repeat == 0}
    parts = []
    for split in splits:
        scores = kept.get(split.fold)
        if scores is not None and len(scores) == len(split.test):
            parts.append((split.test, np.full(len(split.test), split.fold), np.array(scores, dtype=float)))
    if not parts:
        return None
    rows, fold, scores_ = (np.concatenate(part) for part in zip(*parts, strict=True))
    return HeldOut(rows, fold, scores_) if np.isfinite(scores_).all() else None
