"""Query ids as files spell them: whole numbers where every one is written as such, else text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ..sweeps import Array

PLAIN_DIGITS = 18
"""Digits that an id may have to count as a whole number: any such number fits in 64 bits."""

_PLAIN = re.compile(rf"0|-?[1-9][0-9]{{0,{PLAIN_DIGITS - 1}}}", re.ASCII)


def is_plain(text: str) -> bool:
    """Say whether an id is the one spelling of a whole number, so that nothing is lost in making it one."""
    return _PLAIN.fullmatch(text) is not None


def query_array(texts: Sequence[str]) -> Array:
    """Return ids as integers if all of them are plain, else as an object array of text.

    Examples
    --------
    >>> from wellorder.data.queries import query_array
    >>> query_array(["12", "-3"])
    array([12, -3])
    >>> query_array(["12", "007"])
    array(['12', '007'], dtype=object)
    """
    if all(map(is_plain, texts)):
        return np.array([int(text) for text in texts], np.int64)
    return text_array(texts)


def text_array(texts: Sequence[str]) -> Array:
    """Return text as an object array of one dimension, each different text held once."""
    held: dict[str, str] = {}
    out = np.empty(len(texts), dtype=object)
    out[:] = [held.setdefault(text, text) for text in texts]
    return out
