"""What all experiments of 'convex hulls' share: the data sets in bins, the methods, and a trial of one on one fold."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.stats import wilcoxon
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.svm import LinearSVC

from ...data import Table
from ...estimators import ConvexHullRanker, RankSVM
from ...evaluation import (
    TOLD_APART,
    Grid,
    Method,
    Protocol,
    Record,
    Size,
    Split,
    Task,
    corrected_resampled_test,
    folds,
    holm,
    known_mean,
    run_trial,
    trial_key,
)
from ...order import Grades
from ...sweeps import Floats
from ..paired import write_p_values
from ..running import Piece
from ..swapped_pairs import Pointwise, equal_bins, read_set

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
# The data sets.


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

LARGER = {
    "CPU small": ("cpu-small/cpu.small.arff", "usr"),
    "CA housing": DATA_SETS["CA housing"],
    "House 8L": ("house-8L/house8L.arff.gz", "price"),
}
"""Large sets of the collection that the paper's are from. It names none of those that only its own method could run."""

N_BINS = 5


def read_target(folder: Path, name: str) -> Table:
    """Read a data set with its target as it is."""
    return read_set(folder, name, *(DATA_SETS | LARGER)[name])


def in_bins(table: Table, n_bins: int = N_BINS) -> Table:
    """Cut the target into bins of about equally many rows; 1 is the lowest."""
    assert table.y is not None
    return replace(table, y=equal_bins(table.y.astype(float), n_bins) + 1.0)


def read_bins(folder: Path, name: str) -> Table:
    """Read a data set, its target cut into the paper's five bins."""
    return in_bins(read_target(folder, name))


# --------------------------------------------------------------------------------------------------
# The methods.


N_LANDMARKS = 500
"""Rows that a Gaussian kernel stands on where all are too many: as many as the Gaussian process has."""

MOST_EXACT = 5_000

_MOST_SEARCHED = 3_000
"""Rows that a search over a kernel looks at."""

_MOST_PROGRAMME = 1_000
"""Rows up to which slacks a row are searched over a kernel: quadratic programmes, a fit of seconds beyond."""


def nus(size: Size) -> Grid:
    """Return the weights of the slacks that a linear model is tried with."""
    return {"nu": [0.01, 0.1, 1.0, 10.0]}


def _costs(size: Size) -> Grid:
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def _widths(size: Size) -> Grid:
    """Return the widths of a Gaussian kernel over standardised columns, and the landmarks where rows are many."""
    grid: Grid = {"gamma": [factor / size.n_features for factor in (0.1, 0.3, 1.0)]}
    return {**grid, "n_components": [N_LANDMARKS]} if size.n_rows > MOST_EXACT else grid


def _gaussian_nus(size: Size) -> Grid:
    return {"nu": [0.1, 1.0, 10.0, 100.0], **_widths(size)}


def _gaussian_costs(size: Size) -> Grid:
    return {"C": [0.1, 1.0, 10.0, 100.0], **_widths(size)}


def _few_rows(size: Size) -> Grid:
    if size.n_rows > _MOST_PROGRAMME:
        raise ValueError(f"a search over quadratic programmes of {size.n_rows:,} rows would take hours")
    return _gaussian_nus(size)


def _hulls(order: str, slacks: Any) -> Method:
    about = "the paper's" if slacks == "row" else "a slack for each row and edge"
    return Method(about, partial(ConvexHullRanker, order=order, slacks=slacks), nus)


def _gaussian_hulls(order: str, slacks: Any) -> Method:
    make = partial(ConvexHullRanker, order=order, slacks=slacks, kernel="rbf")
    grid = _few_rows if slacks == "row" else _gaussian_nus
    return Method("the same over a Gaussian kernel", make, grid, most_searched=_MOST_SEARCHED)


LINEAR = {
    "chain, row": _hulls("chain", "row"),
    "full, row": _hulls("full", "row"),
    "chain, edge": _hulls("chain", "edge"),
    "full, edge": _hulls("full", "edge"),
    "RankSVM": Method("all pairs, none written out", RankSVM, _costs),
    "explicit pairs": Method("all pairs, written out", ExplicitPairs, _costs),
}
GAUSSIAN = {
    "chain, row, Gaussian": _gaussian_hulls("chain", "row"),
    "full, row, Gaussian": _gaussian_hulls("full", "row"),
    "chain, edge, Gaussian": _gaussian_hulls("chain", "edge"),
    "full, edge, Gaussian": _gaussian_hulls("full", "edge"),
    "RankSVM, Gaussian": Method(
        "all pairs over a Gaussian kernel",
        partial(RankSVM, kernel="rbf"),
        _gaussian_costs,
        most_searched=_MOST_SEARCHED,
    ),
    "Gaussian process": Method("in the place of the IVM", lambda: Pointwise(GaussianProcess())),
}
METHODS = LINEAR | GAUSSIAN


# --------------------------------------------------------------------------------------------------
# Trials.


PROTOCOL = Protocol("rows", 10, 1, 3, 0, "wmw", ("wmw",))


def fold_pieces(
    name: str, table: Table, methods: Iterable[str], n_folds: int, known: Mapping[str, Method] = METHODS
) -> list[Piece]:
    """Return a trial of each method on each of the first folds of ten."""
    task = Task(table)
    return [
        trial_piece(name, task, split, method, known[method])
        for split in ten_folds(table)[:n_folds]
        for method in methods
    ]


def ten_folds(table: Table) -> list[Split]:
    """Cut a table in bins as the paper does, each bin spread over the folds."""
    return list(folds(table.grades(), n_folds=PROTOCOL.n_folds, n_repeats=PROTOCOL.n_repeats, seed=PROTOCOL.seed))


def trial_piece(name: str, task: Task, split: Split, called: str, method: Method) -> Piece:
    """Return the trial of one method on one split."""
    assert isinstance(task.table, Table)
    key = trial_key(task, called, method, split, PROTOCOL)
    return Piece(name, {called: key}, partial(_trial, name, task.table, split, method))


def _trial(name: str, table: Table, split: Split, method: Method, called: list[str]) -> list[Record]:
    return [slim(run_trial(Task(table), each, method, split, PROTOCOL), name, table) for each in called]


def slim(record: Record, name: str, table: Table) -> Record:
    """Return a record with what tables are made of, the data's shape among it, rounded, and without rows' scores."""
    return replace(
        record,
        data=name,
        metrics={metric: round(value, 6) for metric, value in record.metrics.items()},
        search_seconds=round(record.search_seconds, 5),
        fit_seconds=round(record.fit_seconds, 5),
        predict_seconds=round(record.predict_seconds, 5),
        params={**record.params, SHAPE: [len(table), len(table.feature_names)]},
        swaps=None,
        weights=None,
        features=None,
        held_out=None,
        parts=None,
    )


SHAPE = "rows × features"
"""Where a record says how large the data set is."""

TEST_SHARE = 1 / (PROTOCOL.n_folds - 1)
"""n_test / n_train."""


@dataclass(frozen=True)
class Trials:
    """Records of trials, by data set and method."""

    records: Sequence[Record]

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[Record]]:
        found: dict[tuple[str, str], list[Record]] = {}
        for record in sorted(self.records, key=lambda each: (each.repeat, each.fold)):
            found.setdefault((record.data, record.method), []).append(record)
        return found

    @property
    def n_splits(self) -> int:
        """How often a method was tried on a data set."""
        return max(len(each) for each in self._by_name.values())

    def of(self, data: str, method: str) -> list[Record]:
        """Return the records of one method on one data set, by split."""
        return self._by_name.get((data, method), [])

    def among(self, data: Iterable[str]) -> list[str]:
        """Return those of these data sets that were tried, in this order."""
        tried = {name for name, _ in self._by_name}
        return [name for name in data if name in tried]

    def shape(self, data: str) -> str:
        """Return rows × features of a data set."""
        rows, columns = self._shape(data)
        return f"{rows:,} × {columns}"

    def n_rows(self, data: str) -> int:
        """Return how many rows a data set has."""
        return self._shape(data)[0]

    def _shape(self, data: str) -> tuple[int, int]:
        rows, columns = next(record.params[SHAPE] for record in self.records if record.data == data)
        return rows, columns

    def values(self, data: str, method: str) -> Floats:
        """Return the Wilcoxon statistic in percent, one a split; NaN where the method could not be run."""
        return np.array([100.0 * each.metrics["wmw"] for each in self.of(data, method)])

    def mean(self, data: str, method: str) -> float:
        """Return its mean; NaN where the method could not be run."""
        return known_mean(self.values(data, method))

    def seconds(self, data: str, method: str) -> float:
        """Return the median time of a fit; NaN where the method could not be run."""
        mine = [each.fit_seconds for each in self.of(data, method) if each.problem is None]
        return float(np.median(mine)) if mine else np.nan

    def differences(self, data: str, first: str, second: str) -> Floats:
        """Return one method's values less another's, on the splits where both have one."""
        both = self.values(data, first), self.values(data, second)
        if len(both[0]) != len(both[1]):
            return np.empty(0)
        differences = both[0] - both[1]
        return np.asarray(differences[~np.isnan(differences)])


# --------------------------------------------------------------------------------------------------
# One method against another, set by set.


Cells: TypeAlias = Callable[[str], str]
"""Makes a data set's cell of a further column."""


def contrast_table(
    trials: Trials, data: Sequence[str], contrasts: Mapping[str, tuple[str, str]], beside: Mapping[str, Cells] = {}
) -> Iterator[str]:
    """Write a table of differences (first − second) with tests over the folds, all of them adjusted by Holm's method.

    The last line is over the data sets: their mean, on how many the first is ahead, and Wilcoxon's signed-rank test,
    its p-values adjusted among themselves.
    """
    found = {(name, title): trials.differences(name, *pair) for name in data for title, pair in contrasts.items()}
    p_values = {place: _p_value(differences) for place, differences in found.items()}
    adjusted = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    titles = [*contrasts, *beside]
    yield "| data | " + " | ".join(titles) + " |"
    yield "| --- " * (1 + len(titles)) + "|"
    for name in data:
        cells = [_contrast(found[name, title], p_values[name, title], adjusted[name, title]) for title in contrasts]
        yield f"| {name} | " + " | ".join([*cells, *(cell(name) for cell in beside.values())]) + " |"
    means = [np.array([found[name, title].mean() for name in data if len(found[name, title])]) for title in contrasts]
    over = [signed_rank_p(each) for each in means]
    totals = [_over_sets(*each) for each in zip(means, over, holm(over).tolist(), strict=True)]
    yield "| over the sets | " + " | ".join([*totals, *("" for _ in beside)]) + " |"


def _p_value(differences: Floats) -> float:
    if not len(differences):
        return float("nan")
    return corrected_resampled_test(differences, TEST_SHARE).p_value


def _contrast(differences: Floats, p_value: float, adjusted: float) -> str:
    if not len(differences):
        return "–"
    return _tested(signed(float(differences.mean())), p_value, adjusted)


def _over_sets(means: Floats, p_value: float, adjusted: float) -> str:
    if not len(means):
        return "–"
    ahead = f"{int((means > SAME).sum())} of {len(means)}"
    return _tested(f"{signed(float(means.mean()))}, ahead on {ahead}", p_value, adjusted)


def _tested(shown: str, p_value: float, adjusted: float) -> str:
    """Add a p-value and the adjusted one; bold where that tells the two methods apart."""
    if np.isnan(p_value):
        return shown
    told = f"{shown} ({write_p_values(p_value, adjusted)})"
    return f"**{told}**" if adjusted < TOLD_APART else told


def signed(difference: float) -> str:
    """Write a difference in points; what rounds to nothing has no sign."""
    return f"{round(difference, 2) + 0.0:+.2f}"


def signed_rank_p(means: Floats) -> float:
    """Return the p-value of Wilcoxon's signed-rank test over data sets; NaN where they are too few to say anything."""
    apart = means[np.abs(means) > SAME]
    if len(means) < _FEWEST_SETS or not len(apart):
        return float("nan")
    return float(wilcoxon(apart).pvalue)


SAME = 1e-9
"""Percent points: rounding."""
_FEWEST_SETS = 5
"""Of four sets that all agree, the test has p = 0.125."""
