"""Data frames that hold more than numbers: which column a model has failed of, and the way on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

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
