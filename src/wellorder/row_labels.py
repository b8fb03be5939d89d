"""Labels of rows, as pandas has them: grades beside features whose rows are called otherwise may be another's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


def warn_of_other_rows(X: Any, *, stacklevel: int = 2, **columns: Any) -> None:
    """Warn where a column's rows have other labels than those of X: it is their places that count.

    Parameters
    ----------
    X : data frame, or anything
        Nothing is said of what has no labels.
    stacklevel : int, default=2
    **columns : series, or anything
        By their names: ``y=…, groups=…``.

    Examples
    --------
    >>> import pandas as pd, warnings
    >>> from wellorder.row_labels import warn_of_other_rows
    >>> X, y = pd.DataFrame({"a": [1, 2, 3]}), pd.Series([0, 1, 1])
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     warn_of_other_rows(X, y=y)
    ...     warn_of_other_rows(X, y=y.iloc[::-1])
    >>> [str(each.message)[:56] for each in heard]
    ['the rows of y are labelled otherwise than those of X (ro']
    """
    own = _labels(X)
    for name, column in columns.items():
        other = _labels(column)
        if own is None or other is None or len(own) != len(other) or own.equals(other):
            continue
        row = int(np.argmax(np.asarray(own != other)))
        known = other.is_unique and bool(own.isin(other).all())
        align = f"{name}.loc[X.index] puts them in the order of X" if known else "give both the same index"
        warnings.warn(
            f"the rows of {name} are labelled otherwise than those of X (row {row} is {other[row]} there, and "
            f"{own[row]} in X), and are taken by their place, not by their labels; {align}, or pass {name}.to_numpy() "
            "if the places are right",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def labelled_as(X: Any, column: Any) -> Any:
    """Return a column with the labels of X's rows, where both have any."""
    own, other = _labels(X), _labels(column)
    if own is None or other is None or len(own) != len(other) or own.equals(other):
        return column
    return column.set_axis(own)


def _labels(values: Any) -> Any:
    """Return pandas' index of a frame or series; None of anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "is_unique") else None
