"""What a method says of itself, beside its estimator: what to search, when to leave it out, the memory it takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from .order import Kind
from .spaces import kernel_bytes

# --------------------------------------------------------------------------------------------------
# How much there is to learn from: what grids and objections of methods go by.


Grid: TypeAlias = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Size:
    """How much there is to learn from, in one training part."""

    supervision: Kind
    n_rows: int
    """Graded rows, or items."""
    n_features: int
    """Once encoded."""
    n_pairs: int
    largest_group: int
    n_levels: int
    """Different grades; none in comparisons."""
    has_features: bool = True
    """Whether anything is known of the items but their names."""
    has_sides: bool = True
    """Whether it may say something who stands on the left: not where the winner always stands on the same side."""
    two_weights: bool = False
    """Whether rows weigh one thing where they stand above and another where they stand below."""


# --------------------------------------------------------------------------------------------------
# What a search tries, by the size of the data: a few values a parameter, wide apart.


FEW_ROWS = 1_000
MANY_ROWS = 100_000


MOST_SEARCHED_KERNEL = 3_000
"""Rows up to which a search over a kernel looks at all of them; of more graded ones, at a sample of as many."""

KERNEL_TOL = 1e-3
"""How well a kernel is fitted to more rows than that."""


def costs(size: Size) -> Grid:
    """Return costs of the loss against ½‖f‖², a factor of ten apart."""
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def inner_costs(size: Size) -> Grid:
    """Return the same for a model's inner estimator."""
    return {f"estimator__{name}": values for name, values in costs(size).items()}


def kernel_costs(size: Size) -> Grid:
    """Return costs and widths of a Gaussian kernel."""
    d = max(size.n_features, 1)  # columns are standardised: 1/d is the width that scikit-learn calls "scale"
    grid: Grid = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1 / d, 0.3 / d, 1.0 / d]}
    # what the objective's last digits order is far less than what more rows tell, and half the memory holds the matrix
    return {**grid, "tol": [KERNEL_TOL]} if size.n_rows > MOST_SEARCHED_KERNEL else grid


def tree_shapes(size: Size) -> Grid:
    """Return sizes and numbers of trees."""
    if size.n_rows > MANY_ROWS:
        return {"max_leaf_nodes": [7, 31], "n_estimators": [30, 100]}  # a fit takes seconds a hundred trees
    few = size.n_rows <= FEW_ROWS
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300] if few else [30, 60, 100, 300]}


def at_top(grid: Callable[[Size], Grid]) -> Callable[[Size, str], Grid]:
    """Try a grid with costs that fit the top of a list, too: lists count the same, and distant grades cost more."""
    return lambda size, metric: {**grid(size), "order": ["full", "dcg"], "balance": ["groups"]}


# --------------------------------------------------------------------------------------------------
# Why a comparison on data of some size should leave a method out: in words for a person, or None.


_MOST_LISTED_PAIRS = 20_000_000
_MOST_LEVELS = 50

MOST_COLUMNS = 2_000
"""Up to this many columns are tried one by one, or turned into a kernel's distances, where nobody asks for it."""

FEWEST_ROWS = 60
"""Trees want 20 rows on either side of a split: over fewer rows they would hardly split."""


def too_many_pairs(size: Size) -> str | None:
    """Object to listing many pairs; comparisons are listed already, however many items there are."""
    if size.n_pairs > _MOST_LISTED_PAIRS or (size.supervision == "grades" and size.largest_group > 20_000):
        return f"this loss visits every pair, and there are {size.n_pairs:,}; rank-svm needs no list of them"
    return None


def no_features(size: Size) -> str | None:
    """Object to items of which only the names are known."""
    return None if size.has_features else "it learns from columns, and of these items only the names are known"


def no_trees(size: Size) -> str | None:
    """Object to trees over few rows or items: they would not split at all."""
    if size.has_features and size.n_rows < FEWEST_ROWS:
        what = "rows" if size.supervision == "grades" else "items"
        return f"its trees want 20 {what} on either side of a split, and there are {size.n_rows}"
    return no_features(size)


def too_many_columns(size: Size) -> str | None:
    """Object to trying very many columns one by one."""
    if not size.has_features:
        return no_features(size)
    return None if size.n_features <= MOST_COLUMNS else f"it tries all {size.n_features:,} columns one by one"


def too_many_levels(size: Size) -> str | None:
    """Object to a threshold between any two of very many levels."""
    if size.n_levels > _MOST_LEVELS:
        return f"it keeps a threshold between every two levels, and there are {size.n_levels:,}; bin the grades"
    return None


# --------------------------------------------------------------------------------------------------
# How much memory methods take: estimates from the size of a training part, good to about a factor of two.


_BASE = 300_000_000
"""Bytes of Python and its libraries."""
ROW_ARRAYS = 30
"""8-byte arrays of one number a row that a fit holds: grades, scores, orders of both, sums over pairs."""


def for_linear(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a fit beside the matrix: a cut of it for the folds of a search, and arrays a row."""
    return _BASE + 2 * matrix_bytes + 8 * ROW_ARRAYS * size.n_rows


def for_kernel(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of a kernel between all rows beside those of a fit; cut for folds, where all are searched."""
    if size.n_rows > MOST_SEARCHED_KERNEL and size.supervision == "grades":
        return for_linear(size, matrix_bytes) + kernel_bytes(size.n_rows, 4)
    return for_linear(size, matrix_bytes) + kernel_bytes(size.n_rows, 8) + 8 * size.n_rows**2


def for_columns(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of an order of the rows for each column, and of the matrix column by column."""
    return for_linear(size, matrix_bytes) + 3 * 8 * size.n_rows * size.n_features


def for_trees(size: Size, matrix_bytes: int) -> int:
    """Return the bytes of binned columns, and of gradients a row."""
    return for_linear(size, matrix_bytes) + matrix_bytes + 8 * ROW_ARRAYS * size.n_rows


# --------------------------------------------------------------------------------------------------
# The methods.


@dataclass(frozen=True)
class Method:
    """One way to learn an order."""

    about: str
    """In a few words, for a person."""
    make: Callable[[], Any]
    """An estimator with its own defaults."""
    grid: Callable[[Size], Grid] = lambda size: {}
    """What a search tries."""
    grid_at_top: Callable[[Size, str], Grid] | None = None
    """What a search tries where the metric, whose name it is given, looks at places in a list; None: the same."""
    takes: tuple[Kind, ...] = ("grades", "comparisons")
    takes_two_weights: bool = False
    """Whether it learns from pairs whose rows weigh one thing above and another below: censored times, clicks."""
    needs_times: bool = False
    """Whether it learns from censored times alone."""
    is_baseline: bool = False
    objection: Callable[[Size], str | None] = lambda size: None
    """Why a comparison on data of this size should leave the method out; None if it should not."""
    memory: Callable[[Size, int], int] = for_linear
    """About how many bytes a search and a fit take beside the data, given those of the encoded matrix."""
    is_slow: bool = False
    """Whether a fit takes many times that of a linear method: on very many rows its turn comes last."""
    predicts_ties: bool = False
    """Whether it says when two items are no different; the others only order them."""
    follows: str | None = None
    """The parameter that takes the metric that a comparison goes by, where the estimator goes by one itself."""
    follows_places: str | None = None
    """The same of an estimator that goes by metrics of places in a list alone, and by all pairs otherwise."""
    most_searched: int | None = None
    """Graded rows up to which its search looks at all of them; of more, at a sample of as many. None: as many as a
    near-linear method can take."""


# --------------------------------------------------------------------------------------------------
# Methods that other packages bring.


GROUP = "wellorder.methods"
"""Where an installed package says what it brings: an entry point with the method's name, leading to a Method."""


@cache
def offered_methods() -> dict[str, Method]:
    """Return the methods that installed packages offer, by name; what cannot be had is left out with a warning."""
    found: dict[str, Method] = {}
    for each in entry_points(group=GROUP):
        where = f"the method {each.name!r} ({each.value}) of an installed package"
        try:
            method = each.load()
        except Exception as error:  # whatever is wrong with it, it is not wrong with the other methods
            warnings.warn(f"{where} is left out: {type(error).__name__}: {error}", stacklevel=2)
            continue
        if isinstance(method, Method):
            found[each.name] = method
        else:
            warnings.warn(f"{where} is left out: it is no Method, but a {type(method).__name__}", stacklevel=2)
    return found
