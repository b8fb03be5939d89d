"""Learning to order by minimising swapped pairs: the paper's data sets, methods and protocol.

The paper extends Joachims (2005), A support vector method for multivariate performance measures, to any number of
levels; our copy of it names no authors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.svm import SVR

from ...data import DataError, Table, read
from ...estimators import SVOR, RankSVM, SwapSVM
from ...evaluation import Grid, Method, Protocol, Record, Size, Split, hold_outs
from ...order import Grades
from ...sweeps import Floats, Ints
from ..running import PaperRun

# --------------------------------------------------------------------------------------------------
# Grades cut into a few bins of equally many training rows: what the paper does for ordinal regression.


def equal_bins(y: Floats, n_bins: int = 5) -> Ints:
    """Return each row's bin, numbered from 0: of about equally many rows each; equal values share one."""
    cuts = np.unique(np.quantile(y, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))
    return np.searchsorted(cuts, y, side="left")


def judged_rows(X: Any, y: Any) -> tuple[Any, Floats]:
    """Return the rows that have a grade, and their grades as numbers."""
    grades = y.values if isinstance(y, Grades) else np.asarray(y, dtype=float)
    judged = ~np.isnan(grades)
    return (X, grades) if judged.all() else (X[judged], grades[judged])


class Binned(BaseEstimator):
    """A ranker that is taught bins of the grades instead of the grades themselves.

    Parameters
    ----------
    ranker : estimator
        It is cloned.
    n_bins : int, default=5
        Bins of about equally many training rows; equal grades share one.
    """

    ranker_: Any

    def __init__(self, ranker: Any, n_bins: int = 5) -> None:
        self.ranker = ranker
        self.n_bins = n_bins

    def fit(self, X: Any, y: Any) -> Binned:
        """Cut the grades at the quantiles of this training part, and fit the ranker."""
        X, grades = judged_rows(X, y)
        self.ranker_ = clone(self.ranker).fit(X, equal_bins(grades, self.n_bins))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the ranker's scores."""
        return np.asarray(self.ranker_.decision_function(X))


# --------------------------------------------------------------------------------------------------
# What a user would pick instead of a ranker: a regression on the grades, judged by the order of its predictions.


class Pointwise(BaseEstimator):
    """A regressor on the grades, standardised, as a ranker.

    Parameters
    ----------
    regressor : estimator
        Any scikit-learn regressor. It is cloned.
    """

    regressor_: Any

    def __init__(self, regressor: Any) -> None:
        self.regressor = regressor

    def fit(self, X: Any, y: Any) -> Pointwise:
        """Fit the regressor; y is ``Grades`` with numbers, or an array."""
        X, target = judged_rows(X, y)
        spread = target.std()
        self.regressor_ = clone(self.regressor).fit(X, (target - target.mean()) / (spread if spread > 0 else 1.0))
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the predictions."""
        return np.asarray(self.regressor_.predict(X))


# --------------------------------------------------------------------------------------------------
# The regression sets of Torgo's collection, read for the order of their targets.


def read_set(folder: Path, name: str, where: str, target: str) -> Table:
    """Read one data set from its file below a folder."""
    path = folder / where
    if not path.exists():
        raise DataError(str(path), f"the data of {name} are not there; name the folder they lie in with --data")
    table = read(path, target=target)
    assert isinstance(table, Table)
    return table


# --------------------------------------------------------------------------------------------------
# The paper's scale of C: of the sum over pairs. The library's is of n times their mean. Fixed for a search, that is 5/4
# as much of the sum in the folds, as the training part of one has 4/5 of the rows, and 16/25 of their pairs.


def pairs_a_row(y: Any) -> float:
    """Return what turns a C of the sum over pairs into one of n times their mean, for the rows at hand."""
    pairs = (y if isinstance(y, Grades) else Grades(y)).pairs
    return float(pairs.total / pairs.mass)


@contextmanager
def _of_the_sum(model: Any, y: Any) -> Iterator[None]:
    """Set C as high, for one fit, as the number of pairs asks for."""
    given = model.C
    model.C = given * pairs_a_row(y)
    try:
        yield
    finally:
        model.C = given


class SumSwapSVM(SwapSVM):
    """SwapSVM with the paper's C: of the plain sum over the pairs of whatever rows it is fitted on."""

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> SumSwapSVM:
        """Fit the ranker."""
        with _of_the_sum(self, y):
            super().fit(X, y, groups=groups, sample_weight=sample_weight)
        return self


class SumRankSVM(RankSVM):
    """RankSVM with the same C."""

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> SumRankSVM:
        """Fit the ranker."""
        with _of_the_sum(self, y):
            super().fit(X, y, groups=groups, sample_weight=sample_weight)
        return self


# --------------------------------------------------------------------------------------------------
# The data sets.


@dataclass(frozen=True)
class DataSet:
    """A line of Table 1: where the data are, how they are split, and what the paper found (percent ± deviation)."""

    path: str
    target: str
    n_attributes: int
    n_nominal: int
    n_train: int
    n_test: int
    paper: tuple[tuple[float, float, str], ...]
    """SVOR5, Herbrich5 and the multivariate SVM; a mark says different from the last at 5 % (†) or 1 % (††)."""


DATA_SETS = {
    "Diabetes": DataSet(
        "diabetes/diabetes.numeric.arff",
        "c_peptide",
        2,
        0,
        30,
        13,
        ((31.50, 7.79, ""), (30.74, 8.58, ""), (30.82, 7.07, "")),
    ),
    "Pyrimidines": DataSet(
        "pyrimidines/pyrim.arff",
        "activity",
        27,
        0,
        50,
        24,
        ((22.37, 5.12, "††"), (20.42, 3.31, "††"), (18.86, 3.43, "")),
    ),
    "Servo": DataSet(
        "servo/servo.arff", "class", 4, 4, 100, 67, ((20.61, 3.07, "††"), (18.18, 2.21, "††"), (16.51, 2.75, ""))
    ),
    "Triazines": DataSet(
        "triazines/triazines.arff",
        "activity",
        60,
        0,
        100,
        86,
        ((34.33, 2.87, ""), (36.64, 2.96, "††"), (34.84, 2.93, "")),
    ),
    "Wpbc": DataSet(
        "wpbc/wisconsin.arff", "time", 32, 0, 130, 64, ((36.17, 3.73, ""), (36.73, 3.89, ""), (36.17, 3.93, ""))
    ),
    "MachineCPU": DataSet(
        "machine-cpu/machine.cpu.arff",
        "class",
        6,
        0,
        150,
        59,
        ((14.76, 2.04, "††"), (13.82, 1.82, ""), (13.96, 2.24, "")),
    ),
    "AutoMPG": DataSet(
        "auto-mpg/autoMpg.arff", "class", 7, 3, 200, 192, ((9.44, 0.63, "†"), (9.37, 0.73, "†"), (9.22, 0.61, ""))
    ),
    "Boston": DataSet(
        "boston-housing/housing.arff",
        "class",
        13,
        1,
        200,
        306,
        ((13.15, 0.74, "††"), (12.42, 0.85, ""), (12.37, 1.08, "")),
    ),
    "Stock": DataSet(
        "stocks/stock.arff", "company10", 9, 0, 200, 750, ((10.25, 0.69, "††"), (6.12, 0.59, "††"), (5.36, 0.64, ""))
    ),
    "Abalone": DataSet(
        "abalone/abalone.arff",
        "Class_Rings",
        8,
        1,
        200,
        3977,
        ((19.50, 0.52, ""), (19.41, 0.60, ""), (19.55, 0.69, "")),
    ),
    "Bank8": DataSet(
        "bank8FM/bank8FM.arff", "rej", 8, 0, 200, 7992, ((6.92, 0.25, ""), (7.04, 0.24, ""), (7.00, 0.51, ""))
    ),
    "Bank32": DataSet(
        "bank32nh/bank32nh.arff.gz",
        "rej",
        32,
        0,
        200,
        7992,
        ((23.48, 0.96, "††"), (23.63, 1.36, "†"), (23.07, 0.84, "")),
    ),
}

# --------------------------------------------------------------------------------------------------
# The methods, and how they are searched and judged.


COSTS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
"""Of the sum over pairs, or over rows and thresholds."""
WIDTHS = (1e-3, 1e-2, 1e-1, 1.0)

PAIRS_A_ROW = 5
"""Drawn for Herbrich5: a C of n times the mean over 5 n pairs is five times that of their sum, in every fold."""


def paper_grid(size: Size) -> Grid:
    """Return the paper's grid."""
    return {"C": list(COSTS), "gamma": list(WIDTHS)}


METHODS = {
    "SVOR5": Method(
        "ordinal regression on five bins",
        lambda: Binned(SVOR(kernel="rbf", tol=1e-2)),
        lambda size: {"ranker__C": list(COSTS), "ranker__gamma": list(WIDTHS)},
    ),
    "Herbrich5": Method(
        "five drawn pairs a row, hinge",
        lambda: RankSVM(kernel="rbf", loss="hinge", pairs_per_item=PAIRS_A_ROW, tol=1e-2),
        lambda size: {"C": [PAIRS_A_ROW * C for C in COSTS], "gamma": list(WIDTHS)},
    ),
    "SwapSVM": Method("the multivariate SVM", lambda: SumSwapSVM(kernel="rbf", tol=1e-2), paper_grid),
    "RankSVM": Method("all pairs, squared hinge", lambda: SumRankSVM(kernel="rbf", tol=1e-3), paper_grid),
    "SVR": Method(
        "support vector regression",
        lambda: Pointwise(SVR(cache_size=50)),
        lambda size: {"regressor__C": [100.0 * C for C in COSTS], "regressor__gamma": list(WIDTHS)},
    ),
    "Trees": Method(
        "gradient boosted trees",
        lambda: Pointwise(GradientBoostingRegressor(random_state=0)),
        lambda size: {"regressor__max_depth": [1, 3], "regressor__n_estimators": [50, 200]},
    ),
}
"""The paper's three, then ours, then what a user would pick instead."""

PROTOCOL = Protocol("rows", 1, 20, 5, 0, "swapped_pairs", ("swapped_pairs",))


def draw_hold_outs(name: str, table: Table, n_repeats: int, seed: int = 0) -> list[Split]:
    """Draw a data set's hold-outs, of the paper's sizes."""
    size = DATA_SETS[name]
    return list(hold_outs(table.grades(), n_train=size.n_train, n_test=size.n_test, n_repeats=n_repeats, seed=seed))


def n_hold_outs(run: PaperRun) -> int:
    """Return how many hold-outs to draw; the paper has twenty."""
    return 3 if run.quick else PROTOCOL.n_repeats


def read_sets(folder: Path, names: Iterable[str] | None = None) -> dict[str, Table]:
    """Read some of the data sets, or all of them; one with other columns than the paper's is refused."""
    tables = {}
    for name in DATA_SETS if names is None else names:
        each = DATA_SETS[name]
        table = tables[name] = read_set(folder, name, each.path, each.target)
        assert isinstance(table.X, pl.DataFrame)
        found = table.X.width, table.X.select(pl.col(pl.String)).width
        if found != (each.n_attributes, each.n_nominal):
            raise DataError(
                str(folder / each.path),
                f"of its {found[0]} attributes {found[1]} are nominal, and the paper's {name} has {each.n_attributes}, "
                f"of which {each.n_nominal} are",
            )
    return tables


# --------------------------------------------------------------------------------------------------
# Records, and the cells of tables that are made of them.


PAPER = ("SVOR5", "Herbrich5", "SwapSVM")
"""The paper's columns."""


def slim(name: str, record: Record) -> Record:
    """Return a record of a named data set without what no table of this paper is made of."""
    return replace(record, data=name, swaps=None, curve=None, weights=None, features=None, held_out=None, parts=None)


def n_repeats(records: Sequence[Record]) -> int:
    """Return how many hold-outs were run."""
    return 1 + max(record.repeat for record in records)


def percent(records: Sequence[Record], data: str, method: str, metric: str = "swapped_pairs") -> Floats:
    """Return the swapped pairs of one method on one data set, in percent, one a hold-out."""
    mine = [record for record in records if record.data == data and record.method == method]
    return np.array([100.0 * record.metrics[metric] for record in sorted(mine, key=lambda record: record.repeat)])


def paper_value(name: str, column: str) -> tuple[float, float]:
    """Return the paper's mean and its standard error."""
    mean, deviation, _ = DATA_SETS[name].paper[PAPER.index(column)]
    return mean, deviation / float(np.sqrt(PROTOCOL.n_repeats))


def standard_errors(values: Floats, name: str, column: str) -> float:
    """Return how far the mean of ours is above the paper's, in standard errors of the difference."""
    if len(values) < 2:
        return float("nan")
    mean, error = paper_value(name, column)
    return float((values.mean() - mean) / np.sqrt(values.var(ddof=1) / len(values) + error**2))


def mean_cell(values: Floats) -> str:
    """Write a mean and its standard error; nothing where there is no value."""
    if not len(values):
        return ""
    return f"{values.mean():.1f}" + (f" ({values.std(ddof=1) / np.sqrt(len(values)):.1f})" if len(values) > 1 else "")


def paper_cell(name: str, column: str) -> str:
    """Write the paper's in the same way."""
    mean, error = paper_value(name, column)
    return f"{mean:.1f} ({error:.1f})"


def table_row(cells: Iterable[str]) -> str:
    """Write a line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def table_head(names: Sequence[str]) -> list[str]:
    """Write its first two lines."""
    return [table_row(names), "| --- " * len(names) + "|"]
