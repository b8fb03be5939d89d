"""Decimal numbers in bytes to floats, compiled: exactly what Python's ``float()`` gives, or no answer.

A number is w · 10^q with a whole number w of at most 19 digits. Where w is below 2^53 and |q| at most 22, both
w and 10^|q| are floats themselves and one multiplication or division rounds correctly (Clinger). Otherwise
w is multiplied by 128 bits of 5^q, which decides the rounding in all but contrived cases (Eisel and Lemire).
What neither covers is left to the caller, who asks Python.

References
----------
Clinger (1990), How to read floating point numbers accurately.
Lemire (2021), Number parsing at a gigabyte per second.
"""

from __future__ import annotations

import numpy as np

from ..sweeps import Array
from ..sweeps.compiled import jit

TAB, NEWLINE, RETURN, BLANK, HASH = 9, 10, 13, 32, 35
_PLUS, _MINUS, _POINT, _ZERO = 43, 45, 46, 48
_SMALL_E, _LARGE_E = 101, 69

_MOST_DIGITS = 19  # 10^19 < 2^64
_LEAST_POWER, _MOST_POWER = -300, 288  # with w in [1, 2^64) no product leaves the normal floats
_EXACT_POWER = 22  # 10^22 is the largest power of ten that is a float
_EXACT_WHOLE = np.uint64(1 << 53)
_TENS = np.array([float(10**k) for k in range(_EXACT_POWER + 1)])
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)


def _fives() -> Array:
    """Return the leading 128 bits of 5^q, as two words: rounded down for q ≥ 0, up for q < 0."""
    table = np.empty((_MOST_POWER - _LEAST_POWER + 1, 2), np.uint64)
    for q in range(_LEAST_POWER, _MOST_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q >= 0:
            leading = power << 128 - bits if bits <= 128 else power >> bits - 128
        else:
            # 2^(bits + 127) / power lies in (2^127, 2^128), as power is no power of two
            leading = (1 << bits + 127) // power + 1
        table[q - _LEAST_POWER] = leading >> 64, leading & 0xFFFFFFFFFFFFFFFF
    return table


_FIVES = _fives()


@jit
def ends_field(byte: int) -> bool:
    """Say whether a byte ends a field: a blank, a line end or the start of a comment."""
    return byte in (BLANK, HASH) or TAB <= byte <= RETURN


@jit
def read_decimal(text: Array, at: int) -> tuple[float, int, bool]:
    """Read the number that fills the field at a position; O(length).

    Returns
    -------
    value : float
        The number, correctly rounded.
    end : int
        The position behind the field.
    known : bool
        False where the field is no plain number, or one that only Python rounds safely; ``value`` is then 0.
    """
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    start = at
    whole = np.uint64(0)
    # invariant, in this loop and the next: whole is the number of the digits so far, while they are at most 19
    while np.uint8(text[at] - _ZERO) < 10:
        whole = whole * np.uint64(10) + np.uint64(text[at] - _ZERO)
        at += 1
    digits = at - start
    power = 0
    if text[at] == _POINT:
        at += 1
        behind = at
        while np.uint8(text[at] - _ZERO) < 10:
            whole = whole * np.uint64(10) + np.uint64(text[at] - _ZERO)
            at += 1
        power = behind - at
        digits += at - behind
    if digits == 0 or (digits > _MOST_DIGITS and _significant(text, start, digits) > _MOST_DIGITS):
        return 0.0, at, False
    if text[at] == _SMALL_E or text[at] == _LARGE_E:
        exponent, at = _exponent(text, at + 1)
        power += exponent
    if not ends_field(text[at]):
        return 0.0, at, False
    value, known = _scale(whole, power)
    return -value if negative else value, at, known


@jit
def _significant(text: Array, at: int, digits: int) -> int:
    """Count the digits of a number from its first one that is not 0."""
    while text[at] == _ZERO or text[at] == _POINT:
        digits -= text[at] == _ZERO
        at += 1
    return digits


@jit
def _exponent(text: Array, at: int) -> tuple[int, int]:
    """Read what follows the e of a number; the position returned is on a digit or sign if it is not plain."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    start = at
    exponent = 0
    while np.uint8(text[at] - _ZERO) < 10 and at - start < 5:
        exponent = exponent * 10 + (text[at] - _ZERO)
        at += 1
    if at == start:
        return 0, start - 1  # on the e or the sign: no field ends there
    return -exponent if negative else exponent, at


@jit
def _scale(whole: np.uint64, power: int) -> tuple[float, bool]:
    """Return whole · 10^power, correctly rounded, and whether it is known."""
    if whole == np.uint64(0):
        return 0.0, True
    if whole < _EXACT_WHOLE and -_EXACT_POWER <= power <= _EXACT_POWER:
        if power < 0:
            return np.float64(whole) / _TENS[-power], True
        return np.float64(whole) * _TENS[power], True
    if power < _LEAST_POWER or power > _MOST_POWER:
        return 0.0, False
    return _round_product(whole, power)


@jit
def _round_product(whole: np.uint64, power: int) -> tuple[float, bool]:
    """Return whole · 10^power for whole ≥ 1 by Eisel and Lemire's method, and whether it is known."""
    one = np.uint64(1)
    shift = 0
    while whole >> np.uint64(63) == np.uint64(0):
        whole = whole << one
        shift += 1
    high, low = _multiply(whole, _FIVES[power - _LEAST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        # the bits behind the 55 that matter are all ones: the next word of 5^q may carry into them
        carry, _ = _multiply(whole, _FIVES[power - _LEAST_POWER, 1])
        low += carry
        if low < carry:
            high += one
    if low == _ALL_ONES and not -27 <= power <= 55:
        return 0.0, False
    upper = high >> np.uint64(63)
    dropped = upper + np.uint64(9)
    bits = high >> dropped  # 54 bits: the mantissa and the one that rounds it
    if low <= one and -4 <= power <= 23 and bits & np.uint64(3) == one and bits << dropped == high:
        bits ^= one  # exactly half way: to the even one, which is below
    bits = (bits + (bits & one)) >> one
    # ⌊q log2(10)⌋ is ⌊217706 q / 65536⌋ in this range
    binary = ((217706 * power) >> 16) + 63 + np.int64(upper) - shift
    # bits · 2^(binary − 52): both factors, and the product, are normal floats
    return np.ldexp(np.float64(bits), binary - 52), True


@jit
def _multiply(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and the low word of the product of two 64-bit words."""
    half = np.uint64(32)
    a_high, a_low = a >> half, a & _LOW_HALF
    b_high, b_low = b >> half, b & _LOW_HALF
    low = a_low * b_low
    cross = a_high * b_low + (low >> half)  # at most (2^32 − 1)² + 2^32 − 1: no carry is lost
    other = a_low * b_high + (cross & _LOW_HALF)
    return a_high * b_high + (cross >> half) + (other >> half), a * b
