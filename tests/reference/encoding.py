"""Rows encoded entry by entry, as the description of TableEncoder has it."""

from __future__ import annotations

from numbers import Real

import numpy as np


class RefusedError(Exception):
    """The encoder refuses an entry: the column, and the row if it is about one."""


def encode(encoder, rows):
    """Return the numbers that an encoder of named columns makes of dicts, and the columns that it warns of."""
    absent = [name for name in encoder.columns_ if not any(name in row for row in rows)]
    if absent:
        raise RefusedError(absent[0], None)
    blocks, warned = [], []
    for column, name in enumerate(encoder.columns_):
        if encoder.for_trees and encoder.widths()[column] == 0:
            continue
        entries = read(row.get(name) for row in rows)
        if encoder.categories_[column] is None:
            blocks.append(_numbers(encoder, column, as_numbers(name, entries)))
        else:
            categories = encoder.categories_[column]
            if encoder.for_trees:  # to which a missing one is nothing new
                categories = [*(value for value in categories if value is not None), None]
            codes = find(name, categories, entries)
            if None in codes and categories:
                warned.append(name)
            blocks.append(_categories(encoder, categories, codes))
    out = np.array([[each for block in blocks for each in block[row]] for row in range(len(rows))])
    return out.reshape(len(rows), -1), warned


def read(entries):
    """Return entries, None where missing: numbers if all are such, else text."""
    given = [None if is_missing(entry) else entry for entry in entries]
    if all(entry is None or isinstance(entry, Real | np.bool_) for entry in given):
        return [None if entry is None else float(entry) for entry in given]
    return [None if entry is None else str(entry) for entry in given]


def is_missing(entry):
    return (
        entry is None or type(entry).__name__ == "NAType" or (isinstance(entry, float | np.floating) and entry != entry)
    )


def as_numbers(name, entries):
    out = []
    for row, entry in enumerate(entries):
        try:
            out.append(float("nan") if entry is None else float(entry))
        except ValueError:
            raise RefusedError(name, row) from None
    return out


def find(name, categories, entries):
    """Return the place of each entry's category; None for one that training has not seen."""
    if any(isinstance(entry, str) for entry in entries):
        return [categories.index(entry) if entry in categories else None for entry in entries]
    out = []
    for entry in entries:
        places = [place for place, category in enumerate(categories) if is_like(entry, category)]
        if len(places) > 1:
            raise RefusedError(name, None)
        out.append(places[0] if places else None)
    return out


def is_like(entry, category):
    if entry is None or category is None:
        return entry is category
    try:
        return float(category) == entry
    except ValueError:
        return False


def _numbers(encoder, column, numbers):
    if encoder.for_trees:
        return [[number] for number in numbers]
    center, scale = float(encoder.centers_[column]), float(encoder.scales_[column])
    out = []
    for number in numbers:
        is_gap = number != number
        block = [0.0 if is_gap else (number - center) / scale] if scale > 0 else []
        out.append([*block, *([float(is_gap)] if encoder.flagged_[column] else [])])
    return out


def _categories(encoder, categories, codes):
    if encoder.for_trees:
        return [[np.nan if code is None or categories[code] is None else float(code)] for code in codes]
    return [[float(code == place) for place in range(len(categories))] for code in codes]
