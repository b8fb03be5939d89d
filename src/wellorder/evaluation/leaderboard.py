"""A leaderboard: what records say about the methods, with intervals and tests against the leader."""

from __future__ import annotations

from dataclasses import dataclass

from .health import Health
from .records import Json, Record


@dataclass(frozen=True)
class Protocol:
    """How a comparison was computed."""

    split_by: str
    """What stays together: "groups", "rows" (grades spread evenly), or "pairs" (rematches stay together)."""
    n_folds: int
    n_repeats: int
    inner_folds: int
    seed: int
    metric: str
    """What the searches choose by and the leaderboard is ordered by."""
    metrics: tuple[str, ...]
    """Everything that was measured, the metric first."""
    time_budget: float | None = None
    """Seconds."""
    versions: tuple[tuple[str, str], ...] = ()
    """(package, version)."""
    code: str = ""
    """The Python lines that compute the same."""


@dataclass(frozen=True)
class Standing:
    """One method's line in the leaderboard."""

    method: str
    about: str
    """What the method is, in a few words."""
    is_baseline: bool
    n_splits: int
    mean: float
    """Of the metric over the splits."""
    low: float
    high: float
    """A 95 % interval of the mean (corrected for overlapping training parts); NaN with one split."""
    metrics: dict[str, float]
    """The means of everything that was measured."""
    p_value: float | None
    """Against the leader (corrected resampled paired test, Holm over the methods); None for the leader."""
    search_seconds: float
    fit_seconds: float
    """Means over the splits."""
    params: dict[str, Json]
    """What the searches chose most often."""

    @property
    def is_told_apart(self) -> bool:
        """Whether the leader is better beyond chance (5 %)."""
        return self.p_value is not None and self.p_value < 0.05


@dataclass(frozen=True)
class LeftOut:
    """A method that is not in the leaderboard, and why."""

    method: str
    reason: str


@dataclass(frozen=True)
class Leaderboard:
    """Every method on the same splits, best first."""

    data: str
    greater_is_better: bool
    standings: tuple[Standing, ...]
    left_out: tuple[LeftOut, ...]
    records: tuple[Record, ...]
    protocol: Protocol
    health: Health | None = None
    is_complete: bool = True
    """False where the run was interrupted or its time was up before all planned splits were done."""

    @property
    def leader(self) -> Standing:
        """The method with the best mean."""
        return self.standings[0]

    def of(self, method: str) -> tuple[Record, ...]:
        """Return the records of one method, in the order of the splits."""
        mine = (record for record in self.records if record.method == method)
        return tuple(sorted(mine, key=lambda record: (record.repeat, record.fold)))
