"""The Numba form of the sweeps: single passes over sorted rows, for large data.

Import this module only where :func:`wellorder.sweeps.dispatch.use_compiled` says so: importing Numba
takes a while, and so does the first compilation. Every function here has a NumPy twin in ``plain.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np

from .arrays import Array, Floats, Ints

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile on first use, keep the machine code on disk where a folder for it can be written."""
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no writable cache folder anywhere: compile once a process instead
        return cast(F, numba.njit(nogil=True)(function))


# --------------------------------------------------------------------------------------- sorting

_DIGIT_BITS = 11
_N_DIGITS = 6  # 6 digits of 11 bits cover the 64 bits of a float
_LEADING = 3  # digits that are sorted first: sign, exponent and 21 bits of the mantissa


@jit
def argsort(values: Floats) -> Ints:
    """Sort rows by value, ascending and stable; O(n) for all but contrived values. No NaN.

    A radix sort on the leading 33 bits leaves almost every row in place; an insertion sort finishes.
    Where it would have to move rows far (values that differ in their last bits only), the remaining
    digits are sorted first, which makes the order exact whatever the values are.
    """
    n = len(values)
    key = np.empty(n, np.uint64)
    row = np.empty(n, np.int32)
    sign = np.uint64(1) << np.uint64(63)
    bits = values.view(np.uint64)
    for i in range(n):
        # negative floats order backwards, and below the positive ones
        key[i] = ~bits[i] if bits[i] & sign else bits[i] | sign
        row[i] = i
    key, row = _radix_passes(key, row, _N_DIGITS - _LEADING)
    if not _insertion(key, row, 8 * n):
        for i in range(n):
            b = bits[i]
            key[i] = ~b if b & sign else b | sign
            row[i] = i
        key, row = _radix_passes(key, row, 0)
    return row


@jit
def _radix_passes(key: Array, row: Ints, first_digit: int) -> tuple[Array, Ints]:
    """Sort keys, and rows along with them, by the digits from ``first_digit`` up."""
    n = len(key)
    buckets = 1 << _DIGIT_BITS
    mask = np.uint64(buckets - 1)
    other_key = np.empty(n, np.uint64)
    other_row = np.empty(n, np.int32)
    for digit in range(first_digit, _N_DIGITS):
        shift = np.uint64(digit * _DIGIT_BITS)
        count = np.zeros(buckets, np.int64)
        for i in range(n):
            count[(key[i] >> shift) & mask] += 1
        start = 0
        for b in range(buckets):
            size = count[b]
            count[b] = start
            start += size
        for i in range(n):
            b = (key[i] >> shift) & mask
            place = count[b]
            count[b] = place + 1
            other_key[place] = key[i]
            other_row[place] = row[i]
        key, other_key = other_key, key
        row, other_row = other_row, row
    return key, row


@jit
def _insertion(key: Array, row: Ints, budget: int) -> bool:
    """Finish a nearly sorted array in place; give up (False) after ``budget`` moves."""
    # invariant: the first i keys are sorted
    for i in range(1, len(key)):
        k = key[i]
        j = i - 1
        if key[j] > k:
            r = row[i]
            while j >= 0 and key[j] > k:
                key[j + 1] = key[j]
                row[j + 1] = row[j]
                j -= 1
            key[j + 1] = k
            row[j + 1] = r
            budget -= i - 1 - j
            if budget < 0:
                return False
    return True


@jit
def bucket(rows: Ints, group: Ints, bounds: Ints) -> Ints:
    """Move sorted rows into their groups' blocks, keeping their order; rows of group −1 drop out."""
    place = bounds[:-1].copy()
    out = np.empty(bounds[-1], np.int32)
    for row in rows:
        g = group[row]
        if g >= 0:
            out[place[g]] = row
            place[g] += 1
    return out


@jit
def sums_until(values: Floats, first: Array) -> Floats:
    """Sum, for each entry, the entries of its block up to it; blocks begin at ``first``."""
    out = values.copy()
    for b in range(len(first)):
        for place in range(first[b] + 1, first[b + 1] if b + 1 < len(first) else len(values)):
            out[place] += out[place - 1]
    return out


# --------------------------------------------------------------------------------------- windows
#
# All arrays below are in sorted order: by group, then by ascending score. With ``mirror`` a sweep runs
# from the last position to the first, with the order reversed: what was below is then above. Step t
# of a sweep stands at position t, or n − 1 − t in the mirror; ``bounds`` and ``reach`` count steps.


@jit
def reach(ascending: Floats, bounds: Ints, margin: float, mirror: bool) -> Ints:
    """Find, for each step, the end of the steps of its group whose score is less than margin higher.

    In the mirror: less than margin lower. O(n): both ends of the window only move forward.
    """
    n = len(ascending)
    out = np.empty(n, np.int32)
    for g in range(len(bounds) - 1):
        end = bounds[g]
        for t in range(bounds[g], bounds[g + 1]):
            # invariant: every earlier step of this group than ``end`` is within the margin
            if mirror:
                while end < bounds[g + 1] and ascending[n - 1 - t] - ascending[n - 1 - end] < margin:
                    end += 1
            else:
                while end < bounds[g + 1] and ascending[end] - ascending[t] < margin:
                    end += 1
            out[t] = end
    return out
