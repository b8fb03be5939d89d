"""Why a comparison on data of some size should leave a method out: in words for a person, or None."""

from __future__ import annotations

from ..memory import available_bytes
from ..solvers import LONGEST_LIST
from ..spaces.kernels import kernel_bytes
from .size import Size

_MOST_KERNEL_ROWS = 3_000
_MOST_LISTED_PAIRS = 20_000_000
_MOST_COLUMNS = 2_000
_MOST_LEVELS = 50
_MOST_RANKED = 10
_MOST_ENSEMBLE_ROWS = 200_000
_FEWEST_ROWS = 60


def too_many_rows(size: Size) -> str | None:
    """Object to a kernel matrix that is too large, or too slow to search over."""
    free = available_bytes()
    needed = kernel_bytes(size.n_rows, 8)
    if size.n_rows > _MOST_KERNEL_ROWS or (free is not None and needed > free):
        return (
            f"a kernel matrix over {size.n_rows:,} rows takes {needed / 1e9:,.1f} GB, and a search over them too long; "
            "rank-svm-nystroem comes near it, or name the method to have it all the same"
        )
    return None


def few_rows(size: Size) -> str | None:
    """Object to landmarks where all rows are few."""
    return None if size.n_rows > 1_000 else "on so few rows rank-svm-rbf does the same exactly"


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
    if size.has_features and size.n_rows < _FEWEST_ROWS:
        what = "rows" if size.supervision == "grades" else "items"
        return f"its trees want 20 {what} on either side of a split, and there are {size.n_rows}"
    return no_features(size)


def too_many_columns(size: Size) -> str | None:
    """Object to trying very many columns one by one."""
    if not size.has_features:
        return no_features(size)
    return None if size.n_features <= _MOST_COLUMNS else f"it tries all {size.n_features:,} columns one by one"


def too_many_levels(size: Size) -> str | None:
    """Object to a threshold between any two of very many levels."""
    if size.n_levels > _MOST_LEVELS:
        return f"it keeps a threshold between every two levels, and there are {size.n_levels:,}; bin the grades"
    return None


def too_many_rankers(size: Size) -> str | None:
    """Object to a ranker for any two of many levels."""
    if size.n_levels > _MOST_RANKED:
        n = size.n_levels * (size.n_levels - 1) // 2
        return f"it fits a ranker to each two levels, and there are {n:,} of those; bin the grades"
    return None


def too_long_lists(size: Size) -> str | None:
    """Object to lists that are too long for LightGBM's ranker, and to few rows."""
    if size.largest_group > LONGEST_LIST:
        return (
            f"LightGBM takes at most {LONGEST_LIST:,} rows a list, and one has {size.largest_group:,}; see order-boost"
        )
    return no_trees(size)


def too_many_fits(size: Size) -> str | None:
    """Object to fitting very many rows many times over."""
    n, what = (size.n_rows, "rows") if size.supervision == "grades" else (size.n_pairs, "comparisons")
    if n > _MOST_ENSEMBLE_ROWS:
        return f"it fits some eight members six times over, and there are {n:,} {what}"
    return no_features(size)
