"""The result: which thing is best, and how sure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats
from sklearn.base import BaseEstimator

from ..order import as_objects
from ..state import (
    Part,
    Sizes,
    Stored,
    absent_or,
    both,
    checked,
    count,
    figures,
    flags,
    floats,
    list_of,
    names,
    none_or,
    number,
    one_of,
    places,
    text,
)
from ..suggest import suggest
from ..sweeps import Array, Bools, Floats, Ints
from .likelihood import probabilities
from .sureness import bar_for_all, difference_errors, level_beside_infinite, rank_sets, votes_needed

if TYPE_CHECKING:
    from ..figures import StandingsDisplay

SCALES = {"log-odds": (1.0, 0.0), "elo": (400.0 / math.log(10.0), 1500.0)}
"""What a rating is multiplied by, and where the mean of an island stands."""


class Standings(Stored, BaseEstimator):
    r"""Ratings of items from votes, how sure they are, and what moved the votes beside the items.

    Made by :func:`wellorder.rate`; saved and loaded like a model.

    Parameters
    ----------
    scale : {"log-odds", "elo"}, default="log-odds"
        On which ratings are told. A difference of 1 log-odds is :math:`P(\text{right})/P(\text{left}) = e`; of 400
        points of Elo's, odds of ten to one, with 1500 for the mean.
    confidence : float, default=0.95
        Of intervals and rank sets.

    Attributes
    ----------
    items_ : array of str, shape (n_items,)
    ratings_ : array of shape (n_items,)
        In log-odds; mean zero in each island, or, where some are infinite, over its largest class of items with finite
        differences. Numbers stand in for infinite ones: there, votes as one-sided as these have an even chance.
    effects_ : array of str, shape (n_effects,)
    beta_ : array of shape (n_effects,)
        In favour of the right side.
    log_nu_ : array of shape (n_kinds,)
        Of ties, and of 'both bad' where that is an outcome of its own; −inf for one that never came.
    covariance_ : array of shape (n_items + n_effects + n_kinds,) * 2
        Of all of these.
    island_ : array of int, shape (n_items,)
        Items that votes link, by number, the largest island first: others cannot be compared.
    n_votes_, n_units_ : int
        Votes, and how many votes or clusters were taken to be independent.
    notes_ : list of str
        What somebody who uses these standings should know.
    tally_ : array of shape (n_items, 4)
        Votes lost, tied, won, and, of the ties, those in which both were called bad.
    how_ : str
        How it was computed, in one sentence.
    """

    items_: Array
    ratings_: Floats
    effects_: Array
    controls_: Array
    beta_: Floats
    log_nu_: Floats
    covariance_: Floats
    island_: Ints
    n_votes_: int
    n_units_: int
    notes_: list[str]
    tally_: Floats
    how_: str
    _inverse: Floats
    _degrees: float | None
    _class: Ints
    _height: Floats
    _core: Bools
    _known: Bools
    _ends: Floats
    _further: Floats
    _effect_ends: Floats
    _above: Bools
    _deviance: Floats
    _judges: Array
    _judge_votes: Floats
    _judge_own: Floats
    _judge_error: Floats
    _features: Array
    _weights: Floats
    _neutral: str
    _X: Floats
    _variances: Floats

    def __init__(self, scale: str = "log-odds", confidence: float = 0.95) -> None:
        self.scale = scale
        self.confidence = confidence

    # ----------------------------------------------------------------------------------------------
    # Tables.

    def table(self) -> pl.DataFrame:
        """Return a row an item, the best first, islands one after the other.

        ``rating`` with its interval ``low`` to ``high`` (infinite where an item won or lost everything, with one end);
        ``rank`` and the ranks ``rank_low`` to ``rank_high`` that hold for all items of an island at once; how many
        votes, wins, ties and losses; the island.
        """
        reach = self._quantile() * np.sqrt(np.maximum(np.diag(self._of_items()), 0.0))
        rating = np.where(self._core, self.ratings_, self._infinite())
        ends = np.where(np.isnan(self._ends.T), [self.ratings_ - reach, self.ratings_ + reach], self._ends.T)
        factor, level = SCALES[self.scale]
        order = self._order()
        rank_low, rank_high = rank_sets(self._above, self.island_)
        losses, ties, wins = self.tally_[:, :3].T
        frame = pl.DataFrame(
            {
                "item": self.items_.tolist(),
                "rating": level + factor * rating,
                "low": level + factor * ends[0],
                "high": level + factor * ends[1],
                "rank": self._ranks(order),
                "rank_low": rank_low,
                "rank_high": rank_high,
                "votes": _counts(losses + ties + wins),
                "wins": _counts(wins),
                "ties": _counts(ties),
                "losses": _counts(losses),
                "island": self.island_ + 1,
            }
        )
        return frame.select(pl.all().gather(order.tolist()))

    def effects(self) -> pl.DataFrame:
        """Return what moves votes beside the items: estimates in log-odds, in favour of the right side."""
        first = len(self.items_)
        place = slice(first, first + len(self.beta_))
        reach = self._quantile() * np.sqrt(np.maximum(np.diag(self.covariance_)[place], 0.0))
        given = np.isnan(self._effect_ends[:, 0])
        ends = np.where(given, [self.beta_ - reach, self.beta_ + reach], self._effect_ends.T)
        infinite = np.where(np.isinf(ends).all(axis=0), np.nan, np.where(np.isinf(ends[1]), np.inf, -np.inf))
        estimate = np.where(given, self.beta_, infinite)
        return pl.DataFrame(
            {"effect": self.effects_.tolist(), "estimate": estimate, "low": ends[0], "high": ends[1]},
            schema={"effect": pl.String, "estimate": pl.Float64, "low": pl.Float64, "high": pl.Float64},
        )

    def judges(self) -> pl.DataFrame:
        """Return each judge's own leaning to the right side and sharpness (1: as the others), with intervals.

        The leaning comes beside what ``side`` says of all: 0 is that of the others. Both are shrunk towards the others'
        by the data. ``stands_out`` says that one of the two is not that of the others, beyond chance for this judge.
        """
        side, log_kappa = self._judge_own.T
        z = float(stats.norm.isf((1.0 - self.confidence) / 2.0))
        reach, factor = z * self._judge_error[:, 0], np.exp(z * self._judge_error[:, 1])
        sharp = np.exp(log_kappa)
        out = (np.abs(side) > reach) | (np.abs(log_kappa) > np.log(factor))
        frame = pl.DataFrame(
            {
                "judge": self._judges.tolist(),
                "votes": _counts(self._judge_votes),
                "side": side,
                "side_low": side - reach,
                "side_high": side + reach,
                "sharpness": sharp,
                "sharpness_low": sharp / factor,
                "sharpness_high": sharp * factor,
                "stands_out": out,
            },
            schema_overrides={"judge": pl.String},
        )
        return frame.sort("votes", descending=True, maintain_order=True)

    def features(self) -> pl.DataFrame:
        """Return what a standard deviation of each feature adds to a rating; empty where no features were used."""
        frame = pl.DataFrame(
            {"feature": self._features.tolist(), "weight": self._weights},
            schema={"feature": pl.String, "weight": pl.Float64},
        )
        return frame.sort(pl.col("weight").abs(), descending=True)

    # ----------------------------------------------------------------------------------------------
    # Questions.

    def above(self) -> pl.DataFrame:
        """Return who clearly stands above whom: the pairs that are told apart, for all at once."""
        order = self._order()
        first, second = np.nonzero(self._above[np.ix_(order, order)])
        named = self.items_[order]
        return pl.DataFrame(
            {"above": named[first].tolist(), "below": named[second].tolist()},
            schema={"above": pl.String, "below": pl.String},
        )

    def probability(self, a: Any, b: Any) -> float:
        """Return how likely it is that a is really above b; NaN where no votes link the two."""
        i, j = self._find(a), self._find(b)
        if i == j:
            return 0.5
        if self._class[i] != self._class[j]:
            deviance = float(self._deviance[i, j])
            # the chance of votes as one-sided as these between equals; half of it, as their own counts half
            half = 0.5 * math.exp(-0.5 * abs(deviance))
            return 1.0 - half if deviance > 0 else half
        error = float(difference_errors(self._of_items(), self._class)[i, j])
        apart = float(self.ratings_[i] - self.ratings_[j])
        if error == 0.0:
            return float(apart > 0)
        return float(self._law().cdf(apart / error))

    def difference(self, a: Any, b: Any) -> tuple[float, float, float]:
        """Return how far a is above b on the scale, and the ends of its interval; NaN where no votes link the two.

        Where a rating is infinite, so is the difference, and the interval has one end at most: that of the one item
        less that of the other, each with half of the chance to miss.
        """
        i, j = self._find(a), self._find(b)
        factor, _ = SCALES[self.scale]
        if self.island_[i] != self.island_[j]:
            return math.nan, -math.inf, math.inf
        if self._class[i] != self._class[j]:
            return self._infinite_difference(i, j)
        error = float(difference_errors(self._of_items(), self._class)[i, j])
        apart, reach = float(self.ratings_[i] - self.ratings_[j]), self._quantile() * error
        return factor * apart, factor * (apart - reach), factor * (apart + reach)

    def _infinite_difference(self, i: int, j: int) -> tuple[float, float, float]:
        factor, _ = SCALES[self.scale]
        low, high = (self._ends_with_half(place) for place in (i, j))
        ends = [low[0] - high[1], low[1] - high[0]]
        if self._above[i, j]:
            ends[0] = max(ends[0], 0.0)
        if self._above[j, i]:
            ends[1] = min(ends[1], 0.0)
        deviance = float(self._deviance[i, j])
        lead = deviance if deviance == deviance else float(self._height[i] - self._height[j])
        known = deviance == deviance or (self._known[i] and self._known[j])
        return math.copysign(math.inf, lead) if known and lead else math.nan, factor * ends[0], factor * ends[1]

    def _ends_with_half(self, place: int) -> tuple[float, float]:
        """Return between what a rating lies, each end with half of the chance that an interval has to miss."""
        if self._core[place]:
            reach = self._quantile() * math.sqrt(max(float(self.covariance_[place, place]), 0.0))
            return float(self.ratings_[place]) - reach, float(self.ratings_[place]) + reach
        low, high = self._ends[place]
        further = float(self._further[place])
        return (further if math.isfinite(low) else -math.inf), (further if math.isfinite(high) else math.inf)

    def needed(self, a: Any, b: Any, *, at_once: bool = False) -> float:
        """Return how many more votes on a against b tell them apart with a power of 80 %.

        0 where no more are needed; infinite where they seem equal; NaN where no votes link them, or where their
        difference is infinite. With ``at_once``, they are to be told apart beyond chance for all pairs at once, as
        ranks are, and :meth:`above`; else as if nobody had asked for another pair.
        """
        i, j = self._find(a), self._find(b)
        if self._class[i] != self._class[j]:
            return math.nan
        contrast = np.zeros(len(self.covariance_))
        contrast[i], contrast[j] = 1.0, -1.0
        kinds = slice(len(self.covariance_) - len(self.log_nu_), len(self.covariance_))
        variance = float(contrast @ self.covariance_ @ contrast)
        apart = float(self.ratings_[i] - self.ratings_[j])
        bar = self._bar if at_once else float(stats.norm.isf((1.0 - self.confidence) / 2.0))
        return votes_needed(self._inverse, variance, contrast, kinds, apart, self.log_nu_, bar)

    @cached_property
    def _bar(self) -> float:
        """How many standard errors apart two of all are told apart; found when it is first asked for."""
        is_finite = self._core.all() and np.isnan(self._effect_ends).all()
        level = self.confidence if is_finite else level_beside_infinite(self.confidence)
        return bar_for_all(self._of_items(), self._class, self._above, level, degrees=self._degrees)

    def predict(
        self, left: Any, right: Any, *, controls: Mapping[str, Any] | None = None, neutral: Any = None
    ) -> pl.DataFrame:
        """Return the probabilities of votes not yet given, effects included.

        Parameters
        ----------
        left, right : str or arrays of them
            The items.
        controls : mapping of str to arrays, optional
            The differences, right minus left, of each control; none where it is not named.
        neutral : array of bool, optional
            Where no side has an advantage.

        Returns
        -------
        polars DataFrame
            ``left``, ``right``, ``p_left``, ``p_tie``, ``p_right``, and ``p_both_bad`` where that is an outcome of its
            own.
        """
        sides = [[each] if isinstance(each, str) else list(each) for each in (left, right)]
        if len(sides[0]) != len(sides[1]):
            raise ValueError(f"left and right must be of one length, got {len(sides[0])} and {len(sides[1])}")
        one, other = self._places(sides[0]), self._places(sides[1])
        d = self.ratings_[other] - self.ratings_[one] + self._moved(len(one), controls, neutral)
        apart = np.flatnonzero(self.island_[one] != self.island_[other])
        if apart.size:
            a, b = sides[0][apart[0]], sides[1][apart[0]]
            raise ValueError(f"no votes link {a!r} and {b!r}: nothing can be said of a vote on them")
        p_left, p_right, ties = probabilities(d, self.log_nu_)
        columns = {"left": list(map(str, sides[0])), "right": list(map(str, sides[1])), "p_left": p_left}
        columns |= {"p_tie": ties[:, 0], "p_right": p_right}
        columns |= {"p_both_bad": ties[:, 1]} if ties.shape[1] > 1 else {}
        return pl.DataFrame(columns)

    def _moved(self, n: int, controls: Mapping[str, Any] | None, neutral: Any) -> Floats:
        """Return what the effects add to each difference."""
        if controls is not None and not isinstance(controls, Mapping) and not hasattr(controls, "columns"):
            raise TypeError("controls= takes a mapping of names to arrays, {'length': array}, or a data frame")
        given = (
            {} if controls is None else {str(name): controls[name] for name in getattr(controls, "columns", controls)}
        )
        unknown = [name for name in given if name not in self.controls_]
        if unknown:
            raise ValueError(f"there is no control {unknown[0]!r}; {suggest(unknown[0], self.controls_.tolist())}")
        moved = np.zeros(n)
        for name, beta in zip(self.effects_, self.beta_, strict=True):
            if name in given:
                moved += beta * _one_each(given[name], n, f"the control {name!r}")
            elif name == "side" and name not in self.controls_:
                moved += beta * (1.0 if neutral is None else 1.0 - _one_each(neutral, n, "neutral"))
        return moved

    # ----------------------------------------------------------------------------------------------
    # As a person sees it.

    def plot(self, ax: Any = None) -> StandingsDisplay:
        """Draw ratings with their intervals, the best on top."""
        from ..figures import StandingsDisplay

        return StandingsDisplay(self.table(), scale=self.scale).plot(ax)

    def __repr__(self) -> str:
        n_islands = int(self.island_.max(initial=-1)) + 1
        islands = f" in {n_islands} islands that cannot be compared" if n_islands > 1 else ""
        head = f"Standings of {len(self.items_):,} items{islands} from {self.n_votes_:,} votes"
        rows = self.table().head(_SHOWN).iter_rows(named=True)
        lines = [f"{row['rank']:>4}. {row['item']}  {_interval(row)}  rank {_ranks_of(row)}" for row in rows]
        more = len(self.items_) - len(lines)
        return "\n".join([head, *lines, *([f"  … and {more:,} more: .table()"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        """Draw the standings for a notebook; every name is escaped."""
        from ..evaluation import html_row

        rows = self.table().head(_SHOWN_IN_HTML).rows(named=True)
        several = bool(self.island_.max(initial=0))
        headers = ["item", "rank", "rating", "interval", "votes", "won", "tied", "lost"] + ["island"] * several
        lines = (
            [
                row["item"],
                _ranks_of(row),
                f"{row['rating']:.3g}",
                f"{row['low']:.3g} to {row['high']:.3g}",
                *(f"{row[name]:,.6g}" for name in ("votes", "wins", "ties", "losses")),
                *([f"{row['island']}"] if several else []),
            ]
            for row in rows
        )
        head = escape(repr(self).partition("\n")[0])
        more = len(self.items_) - len(rows)
        below = [*self.notes_, *([f"{more:,} more: .table()"] if more > 0 else [])]
        return (
            f"<div><p><b>{head}</b></p><table><thead>{html_row(headers, 'th')}</thead>"
            f"<tbody>{''.join(map(html_row, lines))}</tbody></table>"
            f"{''.join(f'<p><small>{escape(line)}</small></p>' for line in below)}</div>"
        )

    # ----------------------------------------------------------------------------------------------

    def _quantile(self) -> float:
        return float(self._law().isf((1.0 - self.confidence) / 2.0))

    def _law(self) -> Any:
        return stats.norm if self._degrees is None else stats.t(self._degrees)

    def _of_items(self) -> Floats:
        return self.covariance_[: len(self.items_), : len(self.items_)]

    def _infinite(self) -> Floats:
        """Return the ratings that are infinite: of items outside their island's core; NaN where the side is unknown."""
        up = np.where(np.isinf(self._ends[:, 1]) & np.isfinite(self._ends[:, 0]), np.inf, np.nan)
        down = np.where(np.isinf(self._ends[:, 0]) & np.isfinite(self._ends[:, 1]), -np.inf, up)
        by_height = np.where(self._height > 0, np.inf, np.where(self._height < 0, -np.inf, np.nan))
        by_height = np.where(self._known, by_height, np.nan)
        return np.where(np.isnan(down), by_height, down)

    def _order(self) -> Ints:
        """Return the items by island, then the best first."""
        return np.lexsort((-self.ratings_, -self._height, self.island_))

    def _ranks(self, order: Ints) -> Ints:
        island = self.island_[order]
        begin = np.flatnonzero(np.r_[True, np.diff(island) > 0])
        within = np.arange(len(order)) - np.repeat(begin, np.diff(np.r_[begin, len(order)])) + 1
        out = np.empty(len(order), np.int64)
        out[order] = within
        return out

    def _places(self, names: Any) -> Ints:
        place_of = {name: place for place, name in enumerate(self.items_)}
        found = np.array([place_of.get(str(name), -1) for name in names], dtype=np.int64)
        if (found < 0).any():
            unknown = str(list(names)[int(np.argmax(found < 0))])
            raise ValueError(f"there is no item {unknown!r}; {suggest(unknown, self.items_.tolist())}")
        return found

    def _find(self, item: Any) -> int:
        return int(self._places([item])[0])

    def _fitted_state(self) -> dict[str, Part]:
        return {
            "items_": names("n"),
            "ratings_": floats("n"),
            "effects_": names("p"),
            "controls_": names("c"),
            "beta_": floats("p"),
            "log_nu_": both(figures("k", dtype=np.float64), checked(_check_ties)),
            "covariance_": both(floats("m", "m"), Part(_check_parameters)),
            "island_": places("n", below="n"),
            "n_votes_": count(),
            "n_units_": count(),
            "notes_": list_of(text(), "?"),
            "_inverse": floats("m", "m"),
            "_degrees": none_or(number(above=0.0)),
            "_class": places("n", below="n"),
            "_height": floats("n"),
            "_core": flags("n"),
            "_known": flags("n"),
            "_ends": figures("n", 2),
            "_further": figures("n"),
            "_effect_ends": figures("p", 2),
            "_above": flags("n", "n"),
            "_deviance": figures("n", "n"),
            "tally_": floats("n", 4),
            "_judges": names("j"),
            "_judge_votes": floats("j"),
            "_judge_own": floats("j", 2),
            "_judge_error": floats("j", 2, low=0.0),
            "_features": names("f"),
            "_weights": floats("f"),
            "_X": absent_or(floats("n", "f")),
            "_variances": absent_or(floats(2, low=0.0)),
            "how_": text(),
            "_neutral": text(),
            "scale": one_of(*SCALES),
            "confidence": number(above=0.0, high=1.0),
        }


def _check_ties(log_nu: Floats) -> None:
    """Refuse what is no logarithm of a number from zero on."""
    if not (log_nu < np.inf).all():
        raise ValueError("it holds something that is no logarithm")


def _check_parameters(covariance: Any, sizes: Sizes) -> None:
    """Refuse a covariance of other parameters than ratings, effects and one or two kinds of ties."""
    if sizes["k"] not in (1, 2) or len(covariance) != sizes["n"] + sizes["p"] + sizes["k"]:
        raise ValueError(f"it is of {len(covariance)} parameters, and there are others")


_SHOWN = 10

_SHOWN_IN_HTML = 30


def _one_each(values: Any, n: int, what: str) -> Floats:
    """Return a number for each of n pairs; one alone is the same for all."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{what} should be numbers, one a pair, right minus left; got {values!r}") from None
    if found.ndim and found.shape != (n,):
        raise ValueError(f"{what} has the shape {found.shape}, and there are {n:,} pairs; give one entry a pair")
    if not np.isfinite(found).all():
        raise ValueError(f"{what} is missing or infinite for a pair; give a finite number")
    return np.broadcast_to(found, (n,))


def _counts(values: Floats) -> Array:
    """Return whole numbers where all are."""
    return values.astype(np.int64) if (values == np.rint(values)).all() else values


def _interval(row: Mapping[str, Any]) -> str:
    return f"{_rounded(row['rating'])} ({_rounded(row['low'])} to {_rounded(row['high'])})"


def _rounded(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 and math.isfinite(value) else f"{value:.2f}"


def _ranks_of(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return str(low) if low == high else f"{low} to {high}"


def as_names(values: Any) -> Array:
    """Return values as an array of text."""
    return as_objects([str(value) for value in values])
