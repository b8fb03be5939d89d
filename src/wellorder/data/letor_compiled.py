"""LETOR lines read in one compiled pass over the bytes of a block, their decimals correctly rounded.

Import this module only for large files: compiling takes seconds the first time. It knows good lines only.
At any other it stops, and the plain form reads that line or says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..sweeps import Array, Floats, Ints, jit
from .letor_plain import PLAIN_DIGITS, LetorRows, Limits, parse_lines, text_array

# --------------------------------------------------------------------------------------------------
# Decimal numbers in bytes to floats, compiled: exactly what Python's ``float()`` gives, or no answer.
#
# A number is w · 10^q with a whole number w of at most 19 digits. Where w is below 2^53 and |q| at most 22, both
# w and 10^|q| are floats themselves and one multiplication or division rounds correctly (Clinger). Otherwise
# w is multiplied by 128 bits of 5^q, which decides the rounding in all but contrived cases (Eisel and Lemire).
# What neither covers is left to the caller, who asks Python.
#
# References
# ----------
# Clinger (1990), How to read floating point numbers accurately.
# Lemire (2021), Number parsing at a gigabyte per second.


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


# --------------------------------------------------------------------------------------------------
# Lines.


_COLON, _EQUALS, _QUESTION, _MINUS, _ZERO = 58, 61, 63, 45, 48
_QID = np.frombuffer(b"qid:", np.uint8)
_NAN = np.frombuffer(b"nan", np.uint8)
_DOCID = np.frombuffer(b"docid", np.uint8)

_MOST_SORTED_HERE = 256  # features in a row: more are sorted in Python, where it is not quadratic

# places in the state that parse_rows carries from call to call
_AT, _LINE, _ROWS, _ENTRIES, _QUERY_BYTES, _ID_BYTES, _WITH_QUERY, _TEXT_QUERY, _WIDTH, _STATES = range(10)
_UNKNOWN = -1  # whether the rows have a qid

_DONE, _UNSORTED, _ODD = range(3)  # how reading a row's features can end


class Scratch(NamedTuple):
    """Room for the rows of one block, as long as the block could ask for."""

    grades: Floats
    counts: Ints
    numbers: Ints  # the queries, where they are whole numbers
    indices: Ints
    values: Floats
    queries: Array  # the bytes of all queries, and of all ids, with LF behind each
    ids: Array


def parse_blocks(content: Iterable[bytes], limits: Limits) -> Iterator[LetorRows]:
    """Read blocks of whole lines; see :func:`wellorder.data.letor_plain.parse_blocks`.

    The arrays of numbers that are yielded are overwritten by the next ones: copy them before going on.
    """
    out = _scratch(0)
    state = np.zeros(_STATES, np.int64)
    state[_LINE] = 1
    state[_WITH_QUERY] = _UNKNOWN
    for block in content:
        if len(block) > len(out.ids):
            out = _scratch(len(block) + len(block) // 8)
        yield from _parse_block(block, state, out, limits)


def _parse_block(block: bytes, state: Ints, out: Scratch, limits: Limits) -> Iterator[LetorRows]:
    text = np.frombuffer(block, np.uint8)
    line, with_query = int(state[_LINE]), _with_query(state)
    state[_AT] = 0
    while state[_AT] < len(text):
        state[[_ROWS, _ENTRIES, _QUERY_BYTES, _ID_BYTES, _TEXT_QUERY, _WIDTH]] = 0
        finished = parse_rows(text, state, out, limits.n_features)
        if state[_ROWS]:
            try:
                rows = _rows(state, out)
            except UnicodeDecodeError:
                parse_lines(block, line, with_query, limits)  # raises, and names the line
                raise
            yield rows
        if not finished:
            at = int(state[_AT])
            end = block.index(b"\n", at) + 1
            row, known = parse_lines(block[at:end], int(state[_LINE]), _with_query(state), limits)
            yield row
            state[_AT], state[_WITH_QUERY] = end, int(bool(known))
            state[_LINE] += 1


def _with_query(state: Ints) -> bool | None:
    """Say whether the rows so far have a qid; None if there was no row."""
    return None if state[_WITH_QUERY] == _UNKNOWN else bool(state[_WITH_QUERY])


def _scratch(length: int) -> Scratch:
    """Reserve room; pages that are not written to are never given out by the system."""
    rows, entries = length // 2 + 1, length // 4 + 2  # the shortest row is "0\n", the shortest entry " 1:0"
    return Scratch(
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty(entries, np.int32),
        np.empty(entries),
        np.empty(length, np.uint8),
        np.empty(length, np.uint8),
    )


def _rows(state: Ints, out: Scratch) -> LetorRows:
    """Return what one call of parse_rows found; its numbers stay in the scratch."""
    n, entries = state[_ROWS], state[_ENTRIES]
    query: Array | None = None
    if state[_TEXT_QUERY]:
        query = text_array(_split(out.queries[: state[_QUERY_BYTES]]))
    elif state[_WITH_QUERY] == 1:
        query = out.numbers[:n].copy()
    ids = _split(out.ids[: state[_ID_BYTES]]) if state[_ID_BYTES] > n else None
    index, value = out.indices[:entries], out.values[:entries]
    return LetorRows(out.grades[:n], out.counts[:n], index, value, query, ids, int(state[_WIDTH]))


def _split(lines: Array) -> list[str]:
    return lines.tobytes().decode("utf-8").split("\n")[:-1]


@jit
def parse_rows(text: Array, state: Ints, out: Scratch, n_features: int) -> bool:
    """Read rows from ``state[_AT]`` on, up to the end (True) or the first line that is not plain (False).

    O(bytes), but for rows whose features are not ascending.
    """
    at = state[_AT]
    while at < len(text):
        # invariant: ``at`` is at the start of line state[_LINE], and everything before it is in ``out``
        state[_AT] = at
        at = _skip(text, at)
        if text[at] != NEWLINE and text[at] != HASH:
            row, first = state[_ROWS], state[_ENTRIES]
            grade, at, known = _grade(text, at)
            if not known:
                return False
            out.grades[row] = grade
            at, query, query_end = _find_query(text, at)
            has_query = query_end > query
            if query < 0 or state[_WITH_QUERY] == 1 - has_query:
                return False
            at, last, width, outcome = _features(text, at, first, n_features, False, out.indices, out.values)
            if outcome == _UNSORTED:
                at, last, width, outcome = _features(text, query_end, first, n_features, True, out.indices, out.values)
                if outcome == _DONE:
                    last, outcome = _sort(out.indices, out.values, first, last)
            if outcome != _DONE:
                return False
            # nothing of the state has changed up to here, where the row is known to be good
            if has_query:
                _keep_query(text, query, query_end, state, out)
            state[_WITH_QUERY] = has_query
            at = _keep_id(text, at, state, out.ids)
            out.counts[row] = last - first
            state[_ROWS], state[_ENTRIES] = row + 1, last
            state[_WIDTH] = max(state[_WIDTH], width)
        while text[at] != NEWLINE:
            at += 1
        at += 1
        state[_LINE] += 1
    state[_AT] = at
    return True


@jit
def _skip(text: Array, at: int) -> int:
    """Return the position of the next byte that is no blank: at the line's end at the latest."""
    while text[at] == BLANK or (TAB <= text[at] <= RETURN and text[at] != NEWLINE):
        at += 1
    return at


@jit
def _starts(text: Array, at: int, word: Array) -> bool:
    """Say whether a word (without a line end in it) stands at a position; it never looks past the line."""
    k = 0
    while k < len(word) and text[at + k] == word[k]:
        k += 1
    return k == len(word)


@jit
def _grade(text: Array, at: int) -> tuple[float, int, bool]:
    if text[at] == _QUESTION and ends_field(text[at + 1]):
        return np.nan, at + 1, True
    if _starts(text, at, _NAN) and ends_field(text[at + 3]):
        return np.nan, at + 3, True
    return read_decimal(text, at)


@jit
def _find_query(text: Array, at: int) -> tuple[int, int, int]:
    """Return where the features start, and where the query's id starts and ends.

    Both are the same where there is no qid; the start is −1 where ``qid:`` names none.
    """
    at = _skip(text, at)
    if not _starts(text, at, _QID):
        return at, at, at
    start = at + 4
    at = start
    while not ends_field(text[at]):
        at += 1
    return at, start if at > start else -1, at


@jit
def _features(
    text: Array, at: int, first: int, n_features: int, keep_zeros: bool, index: Ints, value: Floats
) -> tuple[int, int, int, int]:
    """Read index:value fields into index[first:last] and value[first:last].

    Returns the position behind them, ``last``, the highest feature (if ascending), and how it ended. In
    rows that are not ascending, zeros are needed to find features that are there twice.
    """
    last, width = first, 0
    ascending = True
    while True:
        # invariant: the fields before ``at`` are read; ``width`` is the feature of the last one
        at = _skip(text, at)
        if text[at] == NEWLINE or text[at] == HASH:
            return at, last, width, _DONE
        start = at
        feature = 0
        while np.uint8(text[at] - _ZERO) < 10 and at - start < 10:
            feature = feature * 10 + (text[at] - _ZERO)
            at += 1
        if text[at] != _COLON or feature < 1 or feature > n_features:
            return at, last, width, _ODD
        x, at, known = read_decimal(text, at + 1)
        if not known:
            return at, last, width, _ODD
        ascending = ascending and feature > width
        if not ascending and not keep_zeros:
            return at, last, width, _UNSORTED
        width = max(width, feature)
        index[last] = feature - 1
        value[last] = x
        last += x != 0.0 or keep_zeros


@jit
def _sort(index: Ints, value: Floats, first: int, last: int) -> tuple[int, int]:
    """Sort a row's features and drop zeros; return the new ``last``, and whether each is there once."""
    if last - first > _MOST_SORTED_HERE:
        return last, _ODD
    for i in range(first + 1, last):
        # invariant: index[first:i] is strictly ascending
        j, x = index[i], value[i]
        k = i
        while k > first and index[k - 1] > j:
            index[k], value[k] = index[k - 1], value[k - 1]
            k -= 1
        if k > first and index[k - 1] == j:
            return last, _ODD
        index[k], value[k] = j, x
    kept = first
    for i in range(first, last):
        index[kept], value[kept] = index[i], value[i]
        kept += value[i] != 0.0
    return kept, _DONE


@jit
def _keep_query(text: Array, start: int, end: int, state: Ints, out: Scratch) -> None:
    """Store a query's id: its bytes, and its number if it is the plain spelling of one."""
    size = state[_QUERY_BYTES]
    number = 0
    negative = text[start] == _MINUS
    first = start + negative
    # "0" is plain, "-0" and "01" are not
    plain = first < end <= first + PLAIN_DIGITS and (text[first] != _ZERO or (end == first + 1 and not negative))
    for k in range(start, end):
        out.queries[size] = text[k]
        size += 1
        if k >= first:
            number = number * 10 + (text[k] - _ZERO)
            plain = plain and np.uint8(text[k] - _ZERO) < 10
    out.queries[size] = NEWLINE
    state[_QUERY_BYTES] = size + 1
    out.numbers[state[_ROWS]] = -number if negative else number
    if not plain:
        state[_TEXT_QUERY] = 1


@jit
def _keep_id(text: Array, at: int, state: Ints, ids: Array) -> int:
    """Store what the comment at a position calls its row, if there is one; return the line's end."""
    size = state[_ID_BYTES]
    end = at
    if text[at] == HASH:
        start = _skip(text, at + 1)
        end = start
        while text[end] != NEWLINE:
            end += 1
        stop = end
        while stop > start and (text[stop - 1] == BLANK or TAB <= text[stop - 1] <= RETURN):
            stop -= 1
        start, stop = _docid(text, start, stop)
        for k in range(start, stop):
            ids[size] = text[k]
            size += 1
    ids[size] = NEWLINE
    state[_ID_BYTES] = size + 1
    return end


@jit
def _docid(text: Array, start: int, stop: int) -> tuple[int, int]:
    """Return where the document's id stands in a comment of LETOR's own, else the whole comment."""
    if not _starts(text, start, _DOCID):
        return start, stop
    at = _skip(text, start + 5)
    if text[at] != _EQUALS:
        return start, stop
    at = _skip(text, at + 1)
    if at >= stop:
        return start, stop
    end = at
    while end < stop and not (text[end] == BLANK or TAB <= text[end] <= RETURN):
        end += 1
    return at, end
