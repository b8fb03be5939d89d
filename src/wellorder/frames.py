"""What data frames bring beside their numbers, and errors have to speak of: labels of rows, and names of columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# --------------------------------------------------------------------------------------------------
# Labels of rows, as pandas has them: grades beside features whose rows are called otherwise may be another's.


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
    >>> from wellorder.frames import warn_of_other_rows
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


# --------------------------------------------------------------------------------------------------
# Columns that hold more than numbers: which one a model has failed of, and the way on.


_ABOUT_VALUES = ("convert", "float()", "dtype", "input x contains")
"""Words of errors about values that are no numbers; of others, a column of text is not to blame."""


@contextmanager
def naming_columns(model: Any, X: Any) -> Iterator[None]:
    """Let a failure over a value of a data frame that is no number say in which column it stands, and the way on.

    Other failures go through as they are: a pipeline may well take text, and fail of something else.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        reason = _why_no_numbers(model, X, str(error))
        if reason is None:
            raise
        raise ValueError(reason) from None


def _why_no_numbers(model: Any, X: Any, error: str) -> str | None:
    """Say which column is to blame; None where none is, or X is no data frame."""
    import narwhals as nw
    from sklearn.pipeline import Pipeline

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not any(word in error.lower() for word in _ABOUT_VALUES):
        return None
    name = type(model).__name__
    way_on = f"wo.data.TableRanker({'pipeline' if isinstance(model, Pipeline) else f'{name}()'}, target=…).fit(frame)"
    is_gap = "Input X contains" in error
    for column in frame.iter_columns():
        try:
            numbers = column.to_numpy().astype(float)
        except (TypeError, ValueError):
            if is_gap:
                continue
            row, value = next((row, each) for row, each in enumerate(column.to_list()) if not _is_number(each))
            return (
                f"the column {column.name!r} holds {value!r} in row {row}, which is no number, and {name} takes "
                f"numbers; {way_on} encodes text by itself, or encode it first (OneHotEncoder), or leave it out"
            )
        if column.dtype.is_temporal() and not is_gap:
            return (
                f"the column {column.name!r} holds times, and {name} takes numbers; count the days or seconds from "
                "some day, or leave it out"
            )
        if is_gap and not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            what = "NaN" if np.isnan(numbers[row]) else "infinity or a value too large for a float"
            fill = f"; {way_on} fills missing values, as does SimpleImputer in a pipeline" if what == "NaN" else ""
            return f"Input X contains {what}: the column {column.name!r} in row {row}{fill}"
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
