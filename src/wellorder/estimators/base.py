"""What all rankers share: a score a row, and how well the scores order."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable
from importlib import import_module
from numbers import Integral, Real
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import validation
from sklearn.utils.metaestimators import available_if

from ..deadline import time_is_up, warn_of_time
from ..frames import naming_columns
from ..losses import PairSet
from ..memory import available_bytes
from ..metrics import swapped_pairs
from ..order import (
    Comparisons,
    Full,
    GradedPairs,
    Grades,
    ListedPairs,
    OrderSum,
    SumOfPairs,
    Supervision,
    check_scores,
    direction_share,
    refuse_beside,
    refuse_lost_weights,
)
from ..scoring import list_scores, warn_if_groups_are_lost
from ..solvers import SolveResult
from ..spaces import each_entry_once, is_dask
from ..state import Part, Stored, absent_or, checked, count, none_or, refuse_alike
from ..sweeps import Array, Floats, is_tensor, to_numpy
from ..writing import counted, write_bytes

# --------------------------------------------------------------------------------------------------
# What every estimator that takes grades does with its input: check it, or say what is wrong with it.


Order: TypeAlias = Grades | Comparisons | OrderSum
F = TypeVar("F", bound=Callable[..., Any])


def as_order(
    y: Any,
    groups: Any,
    sample_weight: Any,
    order: Any,
    levels: Iterable[Hashable] | None,
    *,
    two_weights: bool = False,
) -> Order:
    """Make an order of what ``fit`` and ``score`` take: grades, or an order that is used as it is.

    Rows that weigh one thing where they stand above and another where they stand below are refused, unless
    ``two_weights`` says that whoever asks looks at pairs.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None: give one grade a row")
    for name, column in (("y", y), ("groups", groups)):
        if isinstance(column, str):
            role = "target" if name == "y" else "group"
            raise ValueError(
                f"{name} is the text {column!r}; give the values themselves, frame[{column!r}], and leave that column "
                f"out of X, or have wo.data.TableRanker(…, {role}={column!r}) read the frame"
            )
    if any(is_dask(column) for column in (y, groups, sample_weight)):
        from ..spaces.dask import gather

        y, groups, sample_weight = gather(y, groups, sample_weight)
    if isinstance(y, Grades | Comparisons | OrderSum):
        refuse_beside(y, groups=groups, sample_weight=sample_weight)
    given: Order = y if isinstance(y, Order) else Grades(y, groups, order, sample_weight, levels)
    for part in given.parts if isinstance(given, OrderSum) else (given,):
        refuse_lost_weights(part.weight, of="row" if isinstance(part, Grades) else "comparison")
        if isinstance(part, Grades) and part.ends is not None and not two_weights:
            raise ValueError(
                "these rows weigh one thing where they stand above and another where they stand below, and this model "
                f"looks at single rows, not at pairs; {_estimators_with('takes_two_weights')} take them"
            )
    return given


def _estimators_with(attribute: str) -> str:
    """Return the names of the estimators whose class says ``attribute = True``, for an error that names a way out."""
    estimators = import_module(__package__)
    return ", ".join(name for name in estimators.__all__ if getattr(getattr(estimators, name), attribute, False))


def read_order(
    y: Any,
    groups: Any,
    sample_weight: Any,
    order: Any,
    levels: Iterable[Hashable] | None,
    balance: str,
    *,
    two_weights: bool = False,
) -> Order:
    """Make an order of what ``fit`` takes, and refuse parameters that it would leave unused.

    ``Grades`` of the full order, which is what they have if nobody says otherwise, leave ``order`` to the model.
    """
    if isinstance(y, Grades | Comparisons | OrderSum):
        named_full = isinstance(order, str) and order == "full"
        leaves_it = isinstance(y, Grades) and isinstance(y.graph.structure, Full)
        refuse_beside(y, order=None if named_full or leaves_it else order, levels=levels)
        if isinstance(y, Grades) and leaves_it and not named_full:
            y = y.with_order(order)
    if isinstance(y, Comparisons) and balance == "groups":
        raise ValueError("balance='groups' needs groups, and comparisons have none; leave it at 'pairs'")
    return as_order(y, groups, sample_weight, order, levels, two_weights=two_weights)


def refuse_no_pairs(order: Order, n_pairs: int) -> None:
    """Raise an error that says why there is nothing to learn from."""
    if n_pairs == 0:
        why = _why(order.describe()) if isinstance(order, Grades) else "every comparison is a tie, or there is none."
        raise ValueError(f"there is no pair of rows to learn an order from: {why} Found: {order.describe()}.")


def refuse_lost_pairs(pairs: PairSet) -> None:
    """Raise an error if what the order's weights and the rows' give a pair is lost in floating point."""
    for part in pairs.parts if isinstance(pairs, SumOfPairs) else (pairs,):
        if isinstance(part, GradedPairs):
            part.refuse_lost_weights()


def _why(found: Supervision) -> str:
    if found.n_rows == 1:
        return "n_samples=1, and one row has nothing to stand above."
    if found.n_unjudged == found.n_rows:
        return "no row has a grade."
    if found.n_censored:
        return (
            "nobody is known to have outlived another: all others were censored before the first event that counts, "
            "or all events are of one time."
        )
    if found.n_levels == 1:
        return "all grades are the same (one level, 1 class)."
    if found.n_zero_weight:
        return "every pair has a row of zero weight."
    if found.n_groups > 1:
        return "no group has two rows of different grades; check that `groups` names lists, not single rows."
    return "the order puts none of these levels above another, or rows that would be in a pair weigh nothing there."


def check_positive(value: Any, name: str, *, instead: str = "") -> None:
    """Check a parameter that must be a positive number; ``instead``, such as "'auto' or ", is said to do as well."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be {instead}a positive number, got {value!r}")


def check_whole(value: Any, name: str, *, instead: str = "") -> None:
    """Check a parameter that must be a positive whole number; ``instead`` is said to do as well."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be {instead}a positive whole number, got {value!r}")


def check_option(value: Any, name: str, options: Iterable[str]) -> None:
    """Check a parameter that must be one of some names."""
    if value not in (known := list(options)):
        raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(map(repr, known))}")


NOTHING_TOLD_APART = (
    "no column of X tells grades apart, or C times the row weights is so small that rounding hides it (raise C, or the "
    "weights)"
)
"""Why a model whose risk falls along anything that orders has not found it."""


class OneScoreWarning(UserWarning):
    """A model has been fitted, rightly, and gives every row the same score: it orders nothing."""


def warn_of_one_score(why: str, *, stacklevel: int = 4) -> None:
    """Warn that every score is the same, and say why and what to do."""
    warnings.warn(
        f"the best function is zero, and orders nothing (every score is the same): {why}",
        OneScoreWarning,
        stacklevel=stacklevel,
    )


def warn_if_not_converged(result: SolveResult, max_iter: int, tol: float, *, strength: str = "C") -> None:
    """Warn when a solver stopped early, and say what to do; ``strength`` is the parameter that weighs the loss."""
    if result.converged:
        return
    if np.isfinite(result.gap):
        share = result.gap / abs(result.objective) if result.objective else result.gap
        where = f"the objective about {share:.1g} of its value above the minimum"
    else:
        where = "no bound on how far the objective is above its minimum"
    if result.n_iter < max_iter and time_is_up():
        warn_of_time(f"after {result.n_iter} steps with {where} (tol={tol:g})", stacklevel=5)
        return
    if result.n_iter >= max_iter:
        stopped, first = f"stopped after max_iter={max_iter} steps", "raise max_iter, "
    else:
        stopped, first = f"stopped after {result.n_iter} steps, as rounding hid any further gain,", "raise tol, "
    warnings.warn(
        f"{stopped} with {where} (tol={tol:g}); {first}scale the columns of X (StandardScaler), lower {strength}, or "
        "check that a kernel of your own is positive semidefinite",
        ConvergenceWarning,
        stacklevel=4,
    )


def exists_for_losses(*losses: str) -> Callable[[F], F]:
    """Let a method exist for some losses only."""

    def check(self: Any) -> bool:
        if self.loss not in losses:
            raise AttributeError(f"this needs loss={' or '.join(map(repr, losses))}, and the model has {self.loss!r}")
        return True

    return available_if(check)


# --------------------------------------------------------------------------------------------------
# X, checked before anything is done with it: here or, where its rows lie in Dask's partitions, there.


FLOATS = (np.float64, np.float32)


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """Check X as scikit-learn's function of this name does; refuse Dask's collections, of which all would come.

    A tensor comes here as an array, from wherever it lies, and a sparse matrix with every entry once.
    """
    if is_dask(X):
        raise TypeError(
            f"{type(estimator).__name__} needs all rows in one place, and takes no Dask arrays; these do: "
            f"{_estimators_with('takes_dask')}. If X fits into memory, give X.compute()"
        )
    if type(X) is np.ndarray:
        X = _checked(estimator, X, **options)
    else:
        X = to_numpy(X) if is_tensor(X) else each_entry_once(X)
        with naming_columns(estimator, X):
            X = validation.validate_data(estimator, X, **options)
    if options.get("reset", True) and not getattr(estimator, "_holds_comparisons", False):
        refuse_without_room(estimator, *_size(X))
    return X


def _size(X: Any) -> tuple[int, int]:
    """Return the rows and the entries of what has been checked."""
    n_rows, n_columns = (*getattr(X, "shape", (0, 0)), 0)[:2]
    return int(n_rows), int(getattr(X, "nnz", n_rows * n_columns))


_LITTLE = 1e8
"""A fit that needs fewer bytes than this is not held against the memory that is free."""


def refuse_without_room(estimator: Any, n_rows: int, n_entries: int, what: str = "row") -> None:
    """Raise an error with advice where what a fit will hold, beside its data, is more than the memory that is free."""
    held = getattr(estimator, "_held", None)
    if held is None or (needed := held.bytes(n_rows, n_entries)) < _LITTLE:
        return
    free = available_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"{type(estimator).__name__} needs about {write_bytes(needed)} of memory for {counted(n_rows, what)}, "
            f"beside the data, and {write_bytes(free)} are free; fit on fewer {what}s or columns, or on a machine with "
            "more memory (RankSVM and RidgeRanker need least, and RankSVM takes Dask arrays)"
        )


_OF_ARRAYS = {"accept_sparse", "dtype", "ensure_all_finite"}


def _checked(estimator: Any, X: Array, *, reset: bool = True, **options: Any) -> Any:
    """Check a plain array as scikit-learn does; one that needs nothing done to it in a tenth of the time."""
    named = hasattr(estimator, "feature_names_in_")
    fits = reset or (not named and X.ndim == 2 and getattr(estimator, "n_features_in_", 0) == X.shape[1])
    if not (fits and options.keys() <= _OF_ARRAYS and _needs_nothing(X, **options)):
        return validation.validate_data(estimator, X, reset=reset, **options)
    if reset:
        estimator.n_features_in_ = X.shape[1]
        if named:
            del estimator.feature_names_in_
    return X


def _needs_nothing(X: Array, *, dtype: Any = FLOATS, ensure_all_finite: Any = True, accept_sparse: Any = None) -> bool:
    """Say whether scikit-learn would give this array back as it is: numbers of a type that is asked for, all finite."""
    if X.ndim != 2 or X.size == 0 or not (X.dtype == np.float64 or (X.dtype == np.float32 and dtype is FLOATS)):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        total = X.sum()
    return bool(np.isfinite(total)) or (ensure_all_finite == "allow-nan" and not np.isinf(X).any())


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X, for an estimator that also takes Dask arrays and data frames: of these, all but their values."""
    if not is_dask(X) or not getattr(estimator, "takes_dask", False):
        return validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, reset=reset)
    X = check_dask(estimator, X, reset=reset)
    if reset and np.isnan(X.shape[0]):  # how many rows a partition has turns out when it is computed
        X = X.persist().compute_chunk_sizes()
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def check_dask(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check a Dask array or data frame, all but its values and how many rows there are; return an array."""
    is_frame = hasattr(type(X), "to_dask_array")  # a Delayed itself has whatever attribute it is asked for
    if not is_frame and not hasattr(type(X), "chunks"):
        raise TypeError(f"X is a Dask {type(X).__name__}, which is no table; give a Dask array or data frame")
    header, X = (_empty_frame(X), X.to_dask_array()) if is_frame else (X, X)
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got a Dask array of shape {X.shape} instead: one row an item")
    validation.validate_data(estimator, header, skip_check_array=True, reset=reset)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X holds {X.dtype}, not numbers; encode its columns first, each partition the same way")
    return X if X.dtype in FLOATS else X.astype(np.float64)


def keep_groups_whole(X: Any, pairs: PairSet) -> Any:
    """Move the borders between a Dask array's partitions to where groups end, if groups stand together."""
    if not is_dask(X) or not isinstance(pairs, GradedPairs) or pairs.group is None:
        return X
    from ..spaces.dask import align

    return align(X, pairs.group)


def hold_rows(X: Any) -> Any:
    """Have the partitions of a Dask array computed, looked through for NaN, and kept; an array is as it is."""
    if not is_dask(X):
        return X
    from ..spaces.dask import hold

    return hold(X)


def by_rows(function: Callable[[Any], Array], X: Any, *, holes: bool = False) -> Any:
    """Apply a function of rows; to a Dask array, when somebody computes the result, partition by partition.

    With ``holes`` the function takes missing values.
    """
    if not is_dask(X):
        return function(X)
    from ..spaces.dask import map_rows

    return map_rows(function, X, holes=holes)


def _empty_frame(X: Any) -> Any:
    """Return a data frame with the columns' names and no rows."""
    import pandas as pd

    return pd.DataFrame(columns=list(X.columns))


# --------------------------------------------------------------------------------------------------
# Rankers.


__all__ = ["Ranker", "list_scores"]

_PASS_GROUPS = (
    "pass groups= to score, or wo.Grades(y, groups) as y; where scikit-learn calls score, it passes groups on with "
    "sklearn.set_config(enable_metadata_routing=True)"
)


class Ranker(Stored, BaseEstimator):
    """A model that gives each row a score; the row with the higher score stands above."""

    # requested by default, so that with metadata routing one `groups` feeds the splitter, fit and score
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"groups": True}

    takes_two_weights: ClassVar[bool] = False
    """Whether it looks at pairs, so that a row may weigh one thing where it stands above and another below."""
    takes_dask: ClassVar[bool] = False
    """Whether it leaves the rows of a Dask array in their partitions."""

    order: Any
    levels: Any
    n_groups_: int

    def _fitted_state(self) -> dict[str, Part]:
        levels = none_or(checked(refuse_alike))  # they are numbered by a look-up table wherever rows are judged
        return super()._fitted_state() | {"levels": levels, "n_groups_": absent_or(count())}

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """Return a real score for each row."""

    def predict(self, X: Any) -> Array:
        """Return a real score for each row: the same as ``decision_function``."""
        return self.decision_function(X)

    def predict_risk(self, X: Any) -> Floats:
        """Return the score with the opposite sign: of models of :class:`~wellorder.Times`, higher is sooner."""
        return -self.decision_function(X)

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return 1 − swapped pairs: the share of pairs in the right order, a tied pair being an error.

        With comparisons, the share of the decided ones that the scores put in the right direction.
        All pairs of different grades count the same, whatever order the model was trained with (for an
        order graph: all pairs that follow from its edges). NaN, with a warning, where there is no pair.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,), Grades, or Comparisons
        groups : array of shape (n,), optional
            One id a row: only rows of one group are compared. A model that was fitted on several groups warns
            without them.
        sample_weight : array of shape (n,), optional
        """
        order = as_order(y, groups, sample_weight, self.order, self.levels, two_weights=True)
        if isinstance(order, Grades):
            warn_if_groups_are_lost(self, order.group, _PASS_GROUPS)
        scores = list_scores(self, X, order.group if isinstance(order, Grades) else None)
        if isinstance(order, OrderSum):
            raise ValueError("score takes grades or comparisons, not their sum; score each part on its own")
        pairs = order.to_pairs(len(scores))
        if isinstance(order, Grades):
            return 1.0 - swapped_pairs(order.with_graph(order.graph.closure()), scores)
        assert isinstance(pairs, ListedPairs)
        if pairs.n_pairs == 0:
            warnings.warn(f"score is not defined: there is no decided comparison ({order.describe()})", stacklevel=2)
            return float("nan")
        return direction_share(pairs, to_numpy(check_scores(scores, len(scores))))
