"""Fung, Rosales and Krishnapuram (2006), Learning rankings via convex hull separation: Figure 3, on nine data sets."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.figure import Figure
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.svm import LinearSVC

from ..data import Table
from ..estimators import ConvexHullRanker, RankSVM
from ..evaluation import (
    Grid,
    Method,
    Protocol,
    Record,
    RecordFile,
    Size,
    Split,
    Task,
    corrected_resampled_test,
    folds,
    run_trial,
    trial_key,
)
from ..figures import PALETTE, STYLE, quieten, save_figure
from ..order import Grades
from ..sweeps import Floats
from ..writing import write_p_value
from .running import Piece, Progress, run_pieces
from .swapped_pairs import Pointwise, equal_bins, read_set

# --------------------------------------------------------------------------------------------------
# RankSVM the naive way: every pair written out as a row of its own, for LIBLINEAR.


MOST_NUMBERS = 2e7
"""Of the table of pairs, pairs times features: 160 MB."""


class ExplicitPairs(BaseEstimator):
    """A linear SVM without intercept on x_i − x_j for every pair of rows with y_i > y_j, squared hinge.

    Parameters
    ----------
    C : float, default=1.0
        As RankSVM's: n times the mean over pairs.
    """

    coef_: Floats

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> ExplicitPairs:
        """List the pairs, and fit; refuses where the table of pairs is too large to try."""
        grade = np.asarray(y.level if isinstance(y, Grades) else y)
        rows = np.asarray(X, dtype=float)
        n_pairs = (len(grade) ** 2 - int((np.unique(grade, return_counts=True)[1].astype(np.int64) ** 2).sum())) // 2
        if n_pairs * rows.shape[1] > MOST_NUMBERS:
            raise ValueError(f"{n_pairs:,} pairs of {rows.shape[1]} features are too many to write out")
        high, low = np.nonzero(grade[:, None] > grade[None, :])
        turned = np.where(np.arange(len(high)) % 2 == 0, 1.0, -1.0)  # LIBLINEAR wants rows of both classes
        solver = LinearSVC(C=self.C * len(grade) / len(high), fit_intercept=False, dual=False)
        self.coef_ = solver.fit(turned[:, None] * (rows[high] - rows[low]), turned).coef_.ravel()
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores."""
        return np.asarray(np.asarray(X, dtype=float) @ self.coef_)


# --------------------------------------------------------------------------------------------------
# A Gaussian process on the grades, exact or through inducing rows: in the place of the informative vector machine.


_JITTER = 1e-8


class GaussianProcess(RegressorMixin, BaseEstimator):
    r"""Gaussian-process regression with a Gaussian kernel, standardised columns and noise.

    Amplitude, width and noise :math:`\sigma^2` maximise the marginal likelihood of at most ``n_tuned`` rows. Up to
    ``n_exact`` rows scikit-learn's regressor computes the posterior mean. Beyond, it is that of the subset of
    regressors (Smola and Bartlett, 2001) with m inducing rows u drawn at random, at a cost of O(n m²):

    .. math:: \mu(x) = k_u(x)^\top (\sigma^2 K_{uu} + K_{uf} K_{fu})^{-1} K_{uf} y

    Parameters
    ----------
    n_exact, n_inducing, n_tuned : int
        Rows.
    random_state : int, default=0
    """

    inducing_: Floats
    kernel_: Any
    weights_: Floats
    exact_: Any

    def __init__(
        self, n_exact: int = 2_000, n_inducing: int = 500, n_tuned: int = 500, random_state: int | None = 0
    ) -> None:
        self.n_exact = n_exact
        self.n_inducing = n_inducing
        self.n_tuned = n_tuned
        self.random_state = random_state

    def fit(self, X: Floats, y: Floats) -> GaussianProcess:
        """Tune the kernel on some rows, and take all of them in."""
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        rng = np.random.default_rng(self.random_state)
        some = rng.permutation(len(X))
        tuned = _tune(X[some[: self.n_tuned]], y[some[: self.n_tuned]])
        if len(X) <= self.n_exact:
            self.exact_ = GaussianProcessRegressor(tuned, optimizer=None).fit(X, y)
            return self
        signal, noise = tuned.k1, tuned.k2.noise_level
        self.inducing_ = X[some[: self.n_inducing]]
        self.kernel_ = signal
        lower = cholesky(
            signal(self.inducing_) + _JITTER * signal.k1.constant_value * np.eye(len(self.inducing_)), lower=True
        )
        V = solve_triangular(lower, signal(self.inducing_, X), lower=True)
        inner = cho_solve(cho_factor(noise * np.eye(len(V)) + V @ V.T), V @ y)
        self.weights_ = solve_triangular(lower.T, inner)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the posterior mean."""
        if hasattr(self, "exact_"):
            return np.asarray(self.exact_.predict(X))
        return np.asarray(self.kernel_(np.asarray(X, dtype=float), self.inducing_) @ self.weights_)


def _tune(X: Floats, y: Floats) -> Any:
    start = ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])) + WhiteKernel(0.1, (1e-5, 1e2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a width or noise at the end of its range is an answer too
        return GaussianProcessRegressor(start).fit(X, y).kernel_


# --------------------------------------------------------------------------------------------------
# Figure 3 of 'convex hulls': accuracy with its whole range, and run time on a logarithmic scale.


def draw(found: HullTables, path: str | os.PathLike[str]) -> None:
    """Draw both panels, a group of methods a data set."""
    data = list(found.sizes)
    step = 0.8 / len(found.methods)
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(10.4, 7.4), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        for number, (colour, method) in enumerate(zip(PALETTE.values(), found.methods, strict=True)):
            x = np.arange(len(data)) - 0.4 + (number + 0.5) * step
            values = [found.values(each, method) for each in data]
            known = [each[~np.isnan(each)] for each in values]
            drawn = [place for place, each in enumerate(known) if len(each)]
            mean = np.array([known[place].mean() for place in drawn])
            low = mean - [known[place].min() for place in drawn]
            high = [known[place].max() for place in drawn] - mean
            above.errorbar(
                x[drawn], mean, (low, high), fmt="o", markersize=4, color=colour, label=method, linewidth=1.1
            )
            below.plot(
                x[drawn], [found.seconds(data[place], method) for place in drawn], "o", markersize=4, color=colour
            )
        quieten(above, grid="y")
        quieten(below, grid="y")
        above.set_ylabel("Wilcoxon statistic (%): mean and range")
        below.set_ylabel("seconds to fit")
        below.set_yscale("log")
        below.set_xticks(range(len(data)), labels=[each.replace(" ", "\n") for each in data])
        figure.legend(*above.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
        save_figure(figure, path, dpi=130)


# --------------------------------------------------------------------------------------------------
# What running 'convex hulls' again gave: accuracy and run time, beside what the paper says of them.


_NOTHING = "orders nothing"
"""What ConvexHullRanker warns of where w = 0 is the best."""

_ROW, _EDGE = ("chain, row", "full, row"), ("chain, edge", "full, edge")


@dataclass(frozen=True)
class HullTables:
    """The paper's Figure 3, run again."""

    records: tuple[Record, ...]
    sizes: Mapping[str, tuple[int, int]]
    """Rows and features of each data set."""
    methods: tuple[str, ...]

    def values(self, data: str, method: str) -> Floats:
        """Return the Wilcoxon statistic in percent, one a fold; NaN where the method could not be run."""
        return np.array([100.0 * each.metrics["wmw"] for each in self._mine(data, method)])

    def seconds(self, data: str, method: str) -> float:
        """Return the median time of a fit; NaN where the method could not be run."""
        mine = [each.fit_seconds for each in self._mine(data, method) if each.problem is None]
        return float(np.median(mine)) if mine else np.nan

    def n_degenerate(self, data: str, method: str) -> int:
        """Count the folds in which the chosen model was w = 0."""
        return sum(any(_NOTHING in note for note in each.notes) for each in self._mine(data, method))

    def _mine(self, data: str, method: str) -> list[Record]:
        mine = [each for each in self.records if each.data == data and each.method == method]
        return sorted(mine, key=lambda each: each.fold)

    def lines(self) -> list[str]:
        """Return the tables as Markdown lines."""
        return [*self._accuracy(), "", *self._graphs(), "", *self._times()]

    def picture(self, path: str | os.PathLike[str]) -> None:
        """Draw Figure 3."""
        draw(self, path)

    def _accuracy(self) -> Iterator[str]:
        n_folds = max(len(self._mine(data, self.methods[0])) for data in self.sizes)
        yield (
            f"**Figure 3a.** The Wilcoxon statistic in percent over pairs of different bins: mean, and (in brackets) "
            f"whole range over {n_folds} folds (the paper's: 10). Bold: the highest mean. The paper: all methods "
            "comparable; the chain generally as good or better than the others, the full graph consistently below it."
        )
        yield ""
        yield "| data | rows × features | " + " | ".join(self.methods) + " |"
        yield "| --- " * (2 + len(self.methods)) + "|"
        for data, (n, d) in self.sizes.items():
            found = {method: self.values(data, method) for method in self.methods}
            means = {method: _mean(each) for method, each in found.items()}
            best = max(mean for mean in means.values() if not np.isnan(mean))
            shown = " | ".join(_shown(found[method], means[method] == best) for method in self.methods)
            yield f"| {data} | {n:,} × {d} | {shown} |"

    def _graphs(self) -> Iterator[str]:
        yield (
            "**Chain against full.** Difference of the means in percent points, and the p-value of the corrected "
            "resampled t-test; then the folds in which row slacks ended in w = 0, an ordering of nothing."
        )
        yield ""
        yield "| data | row slacks: chain − full | edge slacks: chain − full | w = 0: chain | w = 0: full |"
        yield "| --- | --- | --- | --- | --- |"
        for data in self.sizes:
            cells = []
            for chain, full in (_ROW, _EDGE):
                differences = self.values(data, chain) - self.values(data, full)
                known = differences[~np.isnan(differences)]
                if len(known) < 2:
                    cells.append("–")
                    continue
                test = corrected_resampled_test(known, 1.0 / 9.0)
                cells.append(f"{known.mean():+.2f} ({write_p_value(test.p_value)})")
            lost = " | ".join(f"{self.n_degenerate(data, method)}" for method in _ROW)
            yield f"| {data} | " + " | ".join(cells) + f" | {lost} |"

    def _times(self) -> Iterator[str]:
        yield (
            "**Figure 3b.** Seconds to fit once, parameters chosen: the median over the folds. The paper: convex hulls "
            "an order of magnitude faster than SVM-light and the IVM, which both failed on CA housing."
        )
        yield ""
        yield "| data | " + " | ".join(self.methods) + " |"
        yield "| --- " * (1 + len(self.methods)) + "|"
        for data in self.sizes:
            seconds = (self.seconds(data, method) for method in self.methods)
            yield f"| {data} | " + " | ".join("–" if np.isnan(each) else f"{each:.3g}" for each in seconds) + " |"


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _shown(values: Floats, best: bool) -> str:
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return "–"
    mean = f"**{known.mean():.1f}**" if best else f"{known.mean():.1f}"
    return f"{mean} ({known.min():.1f}–{known.max():.1f})"


# --------------------------------------------------------------------------------------------------
# The reproduction.


DATA_SETS = {
    "Abalone": ("abalone/abalone.arff", "Class_Rings"),
    "Airplane companies": ("stocks/stock.arff", "company10"),
    "Auto-MPG": ("auto-mpg/autoMpg.arff", "class"),
    "CA housing": ("california-housing/cal.housing.arff.gz", "medianHouseValue"),
    "Boston housing": ("boston-housing/housing.arff", "class"),
    "Machine-CPU": ("machine-cpu/machine.cpu.arff", "class"),
    "Pyrimidines": ("pyrimidines/pyrim.arff", "activity"),
    "Triazines": ("triazines/triazines.arff", "activity"),
    "WI breast cancer": ("wpbc/wisconsin.arff", "time"),
}
"""The paper's Table 1: where each lies, and its target."""

_PROTOCOL = Protocol("rows", 10, 1, 3, 0, "wmw", ("wmw",))


def _nus(size: Size) -> Grid:
    return {"nu": [0.01, 0.1, 1.0, 10.0]}


def _costs(size: Size) -> Grid:
    return {"C": [0.01, 0.1, 1.0, 10.0]}


METHODS = {
    "chain, row": Method("the paper's", lambda: ConvexHullRanker(order="chain", slacks="row"), _nus),
    "full, row": Method("the paper's", lambda: ConvexHullRanker(order="full", slacks="row"), _nus),
    "chain, edge": Method("a slack for each row and edge", lambda: ConvexHullRanker(order="chain"), _nus),
    "full, edge": Method("a slack for each row and edge", lambda: ConvexHullRanker(order="full"), _nus),
    "RankSVM": Method("all pairs, none written out", RankSVM, _costs),
    "explicit pairs": Method("all pairs, written out", ExplicitPairs, _costs),
    "Gaussian process": Method("in the place of the IVM", lambda: Pointwise(GaussianProcess())),
}


def reproduce(
    data: str | os.PathLike[str],
    *,
    quick: bool = False,
    records: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress | None = None,
) -> HullTables:
    """Run Figure 3 again.

    Parameters
    ----------
    data : path
        The folder with the data sets, one folder each (see ``DATA_SETS``).
    quick : bool, default=False
        2 of the 10 folds.
    records, n_jobs, progress
        As :class:`.registry.Reproduce` says.
    """
    tables = {name: _read(Path(data), name) for name in DATA_SETS}
    pieces = [
        _fold(name, table, split, method)
        for name, table in sorted(tables.items(), key=lambda each: -len(each[1]))
        for split in folds(table.grades(), n_folds=_PROTOCOL.n_folds, seed=_PROTOCOL.seed)
        if not quick or split.fold < 2
        for method in METHODS
    ]
    made, _ = run_pieces(pieces, RecordFile(records), n_jobs, progress)
    sizes = {name: (len(table), len(table.feature_names)) for name, table in tables.items()}
    return HullTables(made, sizes, tuple(METHODS))


def _fold(name: str, table: Table, split: Split, method: str) -> Piece:
    key = trial_key(Task(table), method, METHODS[method], split, _PROTOCOL)
    return Piece(name, {method: key}, partial(_trial, name, table, split))


def _trial(name: str, table: Table, split: Split, methods: list[str]) -> list[Record]:
    task = Task(table)
    made = [run_trial(task, method, METHODS[method], split, _PROTOCOL) for method in methods]
    return [replace(record, data=name, swaps=None) for record in made]


def _read(folder: Path, name: str) -> Table:
    """Read a data set, its target cut into five bins of about equally many rows."""
    table = read_set(folder, name, *DATA_SETS[name])
    assert table.y is not None
    return replace(table, y=equal_bins(table.y.astype(float)) + 1.0)
