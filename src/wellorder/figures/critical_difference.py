"""Which methods are told apart over several data sets: mean ranks, and how far apart they must be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..evaluation import Leaderboard, Record, critical_difference, friedman, means_across
from ..writing import write_p_value
from .style import PALETTE, WIDTH, Drawable, axes_for, ink, plain_apart, quieten

_NAMES = 0.72
"""The width for names on either side, as a share of the width of the rank axis."""

_MOST_TICKS = 7
"""At most this many ranks are written on the axis, beside the first."""


class CriticalDifferenceDisplay(Drawable):
    r"""Mean ranks of methods over data sets (1 is best); a bar joins those that Nemenyi's test does not tell apart.

    Two methods differ where their mean ranks are further apart than :math:`q_\alpha \sqrt{k(k+1)/6N}` for k methods
    on N data sets. Friedman's test says whether any two differ at all.

    Parameters
    ----------
    values : array of shape (n_sets, n_methods)
    methods : sequence of str
        The names of the columns.
    greater_is_better : bool, default=True
    alpha : float, default=0.05

    Attributes
    ----------
    methods, mean_ranks : tuple
        The best first.
    cliques : tuple of (first, last)
        Places in that order which a bar joins.
    difference : float
        How far apart mean ranks must be.
    p_value : float
        Friedman's: by permutations up to 15 data sets, in Iman and Davenport's form beyond.
    least_p_value : float
        What data sets that all agree would reach. Where it is over alpha, they are too few to test anything, and
        nothing is told apart.
    ax_, figure_
        What was drawn on, after :meth:`plot`.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> import wellorder as wo
    >>> errors = [[0.1, 0.2, 0.4], [0.2, 0.3, 0.5], [0.1, 0.3, 0.2], [0.3, 0.4, 0.5], [0.1, 0.2, 0.3]]
    >>> display = wo.plot.CriticalDifferenceDisplay(errors, ["svm", "ridge", "tree"], greater_is_better=False)
    >>> display.methods, display.cliques
    (('svm', 'ridge', 'tree'), ((0, 1), (1, 2)))
    """

    def __init__(
        self, values: Any, methods: Sequence[str], *, greater_is_better: bool = True, alpha: float = 0.05
    ) -> None:
        table = np.asarray(values, dtype=float)
        found = friedman(table, greater_is_better=greater_is_better)
        if len(methods) != table.shape[1]:
            raise ValueError(f"there are {len(methods)} names for {table.shape[1]} methods; give one each")
        self.n_sets = int(table.shape[0])
        best_first = np.argsort(found.mean_ranks, kind="stable")
        self.methods = tuple(str(methods[place]) for place in best_first)
        self.mean_ranks = tuple(found.mean_ranks[place] for place in best_first)
        self.difference = critical_difference(len(self.methods), self.n_sets, alpha)
        self.p_value, self.least_p_value = found.permutation_p_value, found.least_p_value
        self.alpha = alpha
        self.cliques = _cliques(self.mean_ranks, np.inf if self.lack_of_sets else self.difference)

    @property
    def lack_of_sets(self) -> str:
        """Says that data sets are too few for any order to be more than chance; empty where they are not."""
        if self.least_p_value <= self.alpha:
            return ""
        return (
            f"{self.n_sets} data sets are too few to test {len(self.methods)} methods: even sets that all agree do so "
            f"by chance in {100 * self.least_p_value:.2g} % of cases"
        )

    def tells_apart(self, one: float, other: float) -> bool:
        """Say whether two mean ranks are far enough from each other."""
        return not self.lack_of_sets and abs(one - other) >= self.difference

    @classmethod
    def from_leaderboards(
        cls, leaderboards: Iterable[Leaderboard], *, alpha: float = 0.05
    ) -> CriticalDifferenceDisplay:
        """Take a leaderboard a data set, all by the same metric; methods that one of them lacks are left out."""
        boards = list(leaderboards)
        metrics = sorted({board.protocol.metric for board in boards})
        if len(metrics) != 1:
            raise ValueError(
                f"the leaderboards go by {', '.join(metrics) or 'nothing'}; give some that go by one metric"
            )
        means = [{each.method: each.mean for each in board.standings} for board in boards]
        return cls._of(means, boards[0].greater_is_better, alpha)

    @classmethod
    def from_records(
        cls, records: Iterable[Record], metric: str | None = None, *, alpha: float = 0.05
    ) -> CriticalDifferenceDisplay:
        """Average records over the splits of each data set that all its methods have finished.

        The metric is the first that all have measured unless given; methods that one data set lacks are left out.
        """
        found = means_across(records, metric)
        return cls(found.means, found.methods, greater_is_better=found.greater_is_better, alpha=alpha)

    @classmethod
    def _of(cls, means: Sequence[dict[str, float]], greater: bool, alpha: float) -> CriticalDifferenceDisplay:
        if len(means) < 2:
            raise ValueError(f"methods are compared over data sets, and there are {len(means)}; give two or more")
        known = [name for name in means[0] if all(np.isfinite(each.get(name, np.nan)) for each in means)]
        if len(known) < 2:
            raise ValueError("fewer than two methods have a value on every data set, so there is nothing to compare")
        return cls([[each[name] for name in known] for each in means], known, greater_is_better=greater, alpha=alpha)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit the number of methods."""
        return WIDTH, 0.95 + 0.24 * (-(-len(self.methods) // 2)) + 0.14 * len(self.cliques)

    def plot(self, ax: Axes | None = None) -> CriticalDifferenceDisplay:
        """Draw the ranks on one line, the best to the left, on ``ax`` or on a new figure."""
        ax = axes_for(ax, self.size)
        k = len(self.methods)
        quieten(ax)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        ax.spines["top"].set_visible(True)
        ax.xaxis.set_ticks_position("top")
        step = -(-(k - 1) // _MOST_TICKS)
        ax.set_xticks(range(1, k + 1, max(step, 1)))
        ax.set_yticks([])
        half, depth = -(-k // 2), 0.55 * len(self.cliques) + 0.9
        ax.set_xlim(1 - _NAMES * (k - 1), k + _NAMES * (k - 1))
        ax.set_ylim(depth + half, -0.35)
        ax.spines["top"].set_bounds(1, k)
        for number, (first, last) in enumerate(self.cliques):
            ends = [self.mean_ranks[first] - 0.04, self.mean_ranks[last] + 0.04]
            ax.plot(ends, [0.45 + 0.55 * number] * 2, color=PALETTE["vermillion"], linewidth=4, solid_capstyle="round")
        names = plain_apart(self.methods, 26)
        for place, (name, rank) in enumerate(zip(names, self.mean_ranks, strict=True)):
            to_the_left = place < half
            row = depth + (place if to_the_left else k - 1 - place)
            edge = ax.get_xlim()[0 if to_the_left else 1]
            ax.plot([rank, rank, edge], [-0.35, row, row], color=ink(), linewidth=0.8, zorder=1)
            ax.text(
                edge,
                row - 0.08,
                f"{name}  {rank:.2f}" if to_the_left else f"{rank:.2f}  {name}",
                ha="left" if to_the_left else "right",
                va="bottom",
                fontsize=9,
                parse_math=False,
            )
        # below the line, where no method can stand
        ax.set_xlabel(
            f"mean rank on {self.n_sets} data sets; "
            + ("too few to tell any apart " if self.lack_of_sets else f"told apart from {self.difference:.2f} on ")
            + f"(Friedman's {write_p_value(self.p_value)})"
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _cliques(ranks: Sequence[float], difference: float) -> tuple[tuple[int, int], ...]:
    """Return the longest runs of sorted ranks that lie within the difference, none inside another."""
    found: list[tuple[int, int]] = []
    for first, rank in enumerate(ranks):
        last = max(place for place, other in enumerate(ranks) if other - rank < difference)
        if last > first and not (found and found[-1][1] >= last):
            found.append((first, last))
    return tuple(found)
