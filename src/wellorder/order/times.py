"""Times: how long until something happened, of which some are only known to be longer."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ..sweeps import Bools, Floats, Ints, sums_at
from .grades import Grades, Supervision
from .pairs import EndWeights

Weighting = Literal["harrell", "uno"]

_ROWS_OF_A_STRATUM = 20
"""Strata with fewer rows than this on average stay whole in folds: cut up, hardly a fold would hold a pair of them."""


class KaplanMeier(NamedTuple):
    """An estimate of the chance that something has not happened up to a time: right-continuous."""

    time: Floats  # the times at which it falls, rising
    value: Floats  # from there on

    def __call__(self, time: Floats) -> Floats:
        """Return it at some times; one before the first fall, and beyond the last what it has fallen to."""
        return np.append(1.0, self.value)[np.searchsorted(self.time, time, side="right")]


def kaplan_meier(
    time: Floats, event: Bools, weight: Floats | None = None, *, of: Literal["event", "censoring"]
) -> KaplanMeier:
    """Estimate the chance to have had no event up to t, or not to have been censored: O(n log n).

    Where both happen at one time the events come first: whoever has one is no longer at risk of being censored.
    """
    when, place = np.unique(time, return_inverse=True)
    own = np.ones(len(time)) if weight is None else weight
    events = sums_at(place, np.where(event, own, 0.0), minlength=len(when))
    censored = sums_at(place, np.where(event, 0.0, own), minlength=len(when))
    at_risk = np.cumsum((events + censored)[::-1])[::-1]
    gone, left = (events, at_risk) if of == "event" else (censored, at_risk - events)
    falls = gone > 0
    chance = np.cumprod(np.maximum(1.0 - gone[falls] / left[falls], 0.0))
    return KaplanMeier(when[falls], np.asarray(chance, dtype=float))


class Times(Grades):
    r"""Times until an event, some of them censored: whoever is known to have lived longer stands above.

    Row i is known to have outlived row j if j's event was seen and :math:`t_j < t_i`, or :math:`t_j = t_i` and i was
    censored then: Harrell's pairs. They are graded rows, of level 2·(rank of t) + [censored], where a row counts as the
    lower end of a pair only if its event was seen:

    .. math:: u_i = 1, \qquad v_j = [\text{event}_j], \qquad
              v_j = [\text{event}_j] \, [t_j < \tau] \, / \, \hat G(t_j)^2 \ \text{for Uno's weighting}

    with Ĝ the Kaplan–Meier curve of the censoring, over all strata. So everything that takes grades takes times in
    their place. A higher score lives longer; ``predict_risk`` of a model has the opposite sign. Entry later than time
    zero (left truncation) is not covered.

    Parameters
    ----------
    time : array of shape (n,)
        Not negative: until the event, or until the row was last seen.
    event : array of shape (n,)
        Whether the event was seen: booleans, or 0 and 1.
    groups : array of shape (n,), optional
        Strata: only rows of one are compared. Folds and tests take rows one by one, whatever their stratum; but strata
        of fewer than 20 rows in the mean, such as matched sets, stay whole.
    weighting : {"harrell", "uno"}
        Every pair the same; or by inverse probability of censoring, so that how long people were watched does not
        decide which pairs count.
    tau : float, optional
        Only events before this time count. Uno's weights of late events are large and uncertain.
    weights : array of shape (n,), optional
        Row weights ω.
    censoring : Times, optional
        Whose censoring Ĝ is estimated from, where it is not these rows': for test rows, the training rows.

    References
    ----------
    Harrell, Califf, Pryor, Lee and Rosati (1982), Evaluating the yield of medical tests. Uno, Cai, Pencina, D'Agostino
    and Wei (2011), On the C-statistics for evaluating overall adequacy of risk prediction procedures with censored
    survival data.

    Examples
    --------
    >>> import wellorder as wo
    >>> times = wo.Times([5, 8, 8, 12], [True, True, False, False])
    >>> print(times.describe())
    4 rows in 1 group, 4 levels, 5 pairs (2 censored)
    >>> wo.RankSVM().fit([[3.0], [2.0], [1.0], [0.0]], times).decision_function([[3.0], [0.0]]).argmax().item()
    1
    """

    def __init__(
        self,
        time: Any,
        event: Any,
        *,
        groups: Any = None,
        weighting: Weighting = "harrell",
        tau: float | None = None,
        weights: Any = None,
        censoring: Times | None = None,
    ) -> None:
        self.time, self.event = _check_times(time), _check_events(event)
        if len(self.time) != len(self.event):
            raise ValueError(f"there are {len(self.time)} times and {len(self.event)} events; give one of each a row")
        if weighting not in get_args(Weighting):
            raise ValueError(f"weighting={weighting!r} is not known; use 'harrell' or 'uno'")
        if tau is not None and not (isinstance(tau, Real) and tau > 0):
            raise ValueError(f"tau={tau!r} must be a positive time")
        if censoring is not None and not isinstance(censoring, Times):
            raise ValueError(f"censoring= takes the Times of the training rows, not {type(censoring).__name__}")
        if len(self.event) and not self.event.any():
            raise ValueError(
                "no row has an event: nobody is known to have outlived another. event is 1 (or True) where the event "
                "was seen and 0 where the row was censored; check that it is not the other way round"
            )
        # a censored row stands just above those whose event was at the same time, and below all later ones
        super().__init__(np.where(self.event, self.time, np.nextafter(self.time, np.inf)), groups, weights=weights)
        self._small_strata = self.n_groups > 1 and len(self) < _ROWS_OF_A_STRATUM * self.n_groups
        self.weighting, self.tau = weighting, tau
        self.censoring = None if censoring is None else censoring.curve()
        self.ends = self._end_weights()

    def curve(self, of: Literal["event", "censoring"] = "censoring") -> KaplanMeier:
        """Return the Kaplan–Meier curve of these rows' censoring, or of their events."""
        judged = self.is_judged
        weight = None if self.weight is None else self.weight[judged]
        return kaplan_meier(self.time[judged], self.event[judged], weight, of=of)

    @property
    def lists(self) -> Ints | None:
        """None: strata say who is compared, and each has rows in every fold. Small ones, as matched sets, do not."""
        return self.group if self._small_strata else None

    @property
    def values(self) -> Floats:
        """The times; NaN: unjudged."""
        return np.where(self.is_judged, self.time, np.nan)

    def with_censoring(self, other: Grades) -> Times:
        """Return the same times, weighed by how others were censored: those that a model has learned from."""
        if self.weighting == "harrell" or not isinstance(other, Times):
            return self
        return self._remade(censoring=other.curve())

    def without_weights(self) -> Times:
        """Return the same times with all rows counting the same, each at both ends as its event says."""
        return self._remade(weight=None)

    def take(self, rows: Ints) -> Times:
        """Return some of the rows; of Uno's weights, those that follow from their own censoring."""
        part = super().take(rows)
        assert isinstance(part, Times)
        return part._remade(time=self.time[rows], event=self.event[rows])

    def only(self, rows: Ints) -> Times:
        """Return the same rows, of which only these are known."""
        part = super().only(rows)
        assert isinstance(part, Times)
        return part._remade()

    def describe(self) -> Supervision:
        """Count groups, levels, pairs, and rows that are in none."""
        return replace(super().describe(), n_censored=int(np.count_nonzero(self.is_judged & ~self.event)))

    def __repr__(self) -> str:
        return f"Times({self.describe()})"

    def _remade(self, **changes: Any) -> Times:
        other = self._with(**changes)
        assert isinstance(other, Times)
        other.ends = other._end_weights()
        return other

    def _end_weights(self) -> EndWeights:
        """Return what a row counts as the lower end of its pairs."""
        counts = self.event if self.tau is None else self.event & (self.time < self.tau)
        if self.weighting == "harrell":
            return EndWeights(None, counts.astype(float))
        chance = (self.curve() if self.censoring is None else self.censoring)(self.time)
        lost = np.flatnonzero(counts & ~(chance > 0) & self.is_judged)
        if lost.size:
            warnings.warn(
                f"{lost.size} event{'s' * (lost.size != 1)} after which everybody was censored (row {lost[0]}, at "
                f"{self.time[lost[0]]:g}) cannot be weighed, and {'is' if lost.size == 1 else 'are'} left out; "
                "give tau=, a time before which people were still watched",
                stacklevel=4,
            )
        counts = counts & (chance > 0)
        return EndWeights(None, np.where(counts, 1.0 / np.where(chance > 0, chance, 1.0) ** 2, 0.0))


def _check_times(time: Any) -> Floats:
    """Check times: numbers, none missing or negative."""
    if np.asarray(time).dtype.kind in "mM":
        raise ValueError(
            "times are numbers, in a unit of your own: of dates take the differences from the day on which each row "
            "was first watched, and of differences the number of days, such as (end - start) / np.timedelta64(1, 'D')"
        )
    try:
        values = np.array(time, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("times must be numbers, one a row") from None
    if values.ndim != 1:
        raise ValueError(f"times must be one a row, got an array of shape {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(
            f"row {bad[0]} has the time {values[bad[0]]}; times must be finite and not negative. Leave out rows "
            "without one, and count from the moment that each row was first watched"
        )
    return values


def _check_events(event: Any) -> Bools:
    """Check events: booleans, or 0 and 1."""
    values = np.asarray(event)
    if values.dtype.kind == "O":  # a missing one is None, or NA of pandas, which is no number
        values = np.array([each if isinstance(each, (str, Real, np.bool_)) else np.nan for each in values.tolist()])
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ValueError(
            f"events must be True or False (or 1 and 0), one a row, got an array of {values.dtype} of shape "
            f"{values.shape}; make them of text with event=(status == 'dead')"
        )
    if values.dtype.kind != "b":
        bad = np.flatnonzero((values != 0) & (values != 1))
        if bad.size:
            raise ValueError(
                f"row {bad[0]} has the event {values[bad[0]]}; events are 1 (seen) or 0 (censored). Of several kinds "
                "of events say which one counts: event=(status == 1)"
            )
    return values.astype(bool)
