"""LETOR lines read in one compiled pass over the bytes of a block, their decimals correctly rounded.

Import this module only for large files: compiling takes a second the first time. It knows good lines only.
At any other it stops, and the plain form reads that line or says what is wrong with it.

The first file of a machine waits for the compiler, whose time is that of the instructions it is given. So the pass is
one function of loops over plain arrays, and what few files need, decimals of many digits, comments and queries that
are no numbers, are functions of their own that other files do not wait for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ..sweeps import Array, Floats, Ints, jit
from .letor_plain import PLAIN_DIGITS, LetorRows, Limits, parse_lines, text_array

# --------------------------------------------------------------------------------------------------
# Decimal numbers in bytes to floats, compiled: exactly what Python's ``float()`` gives.
#
# A number is w · 10^q with a whole number w of at most 19 digits. Where w is below 2^53 and |q| at most 22, both
# w and 10^|q| are floats themselves and one multiplication or division rounds correctly (Clinger). Otherwise
# w is multiplied by 128 bits of 5^q, which decides the rounding in all but contrived cases (Eisel and Lemire).
# For what neither covers Python is asked.
#
# References
# ----------
# Clinger (1990), How to read floating point numbers accurately.
# Lemire (2021), Number parsing at a gigabyte per second.


_MOST_DIGITS = np.int64(19)  # 10^19 < 2^64
_LEAST_POWER, _MOST_POWER = -300, 288  # with w in [1, 2^64) no product leaves the normal floats
_EXACT_POWER = 22  # 10^22 is the largest power of ten that is a float
_EXACT_WHOLE = np.uint64(1 << 53)
_NOTHING, _TEN = np.uint64(0), np.uint64(10)
_TENS = np.array([float(10**k) for k in range(_EXACT_POWER + 1)])
_LOW_HALF = np.uint64(0xFFFFFFFF)
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_SIGN = np.int64(-(1 << 63))


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


_WHOLE, _POWER, _NEGATIVE, _GRADE_OF = range(4)  # places of a number that is not rounded yet

_MARK = np.int64(0x7FFC000000000000)
"""The bits of the NaN that stands for the first number to be rounded; the k-th has k added. All other bits are
lower."""


def _round_marked(values: Floats, long: Ints) -> None:
    """Put the floats next to ± whole · 10^power where their marks stand."""
    bits = values.view(np.int64)
    _round_products(bits, long, _FIVES)
    for place in np.flatnonzero(bits >= _MARK).tolist():
        whole, power, negative, _ = long[:, bits[place] - _MARK].tolist()
        values[place] = float(f"{'-' if negative else ''}{whole % (1 << 64)}e{power}")


@jit
def _round_products(marked: Ints, long: Ints, fives: Array) -> None:
    """Find the floats' bits by Eisel and Lemire's method; marks of those that it cannot find stay."""
    one, half = np.uint64(1), np.uint64(32)
    for place in range(len(marked)):
        if marked[place] < _MARK:
            continue
        k = marked[place] - _MARK
        whole, power, shift = np.uint64(long[_WHOLE, k]), long[_POWER, k], 0
        while whole >> np.uint64(63) == 0:
            whole = whole << one
            shift += 1
        high = low = np.uint64(0)
        a_high, a_low = whole >> half, whole & _LOW_HALF
        for word in range(2):
            # the high and the low word of the product of two 64-bit words
            five = fives[power - _LEAST_POWER, word]
            b_high, b_low = five >> half, five & _LOW_HALF
            cross = a_high * b_low + (a_low * b_low >> half)  # at most (2^32 − 1)² + 2^32 − 1: no carry is lost
            other = a_low * b_high + (cross & _LOW_HALF)
            upper = a_high * b_high + (cross >> half) + (other >> half)
            if word == 0:
                high, low = upper, whole * five
                if high & np.uint64(0x1FF) != np.uint64(0x1FF):
                    break
            else:
                # the bits behind the 55 that matter are all ones: the next word of 5^q may carry into them
                low += upper
                if low < upper:
                    high += one
        if low == _ALL_ONES and (power < -27 or power > 55):
            continue
        upper = high >> np.uint64(63)
        dropped = upper + np.uint64(9)
        bits = high >> dropped  # 54 bits: the mantissa and the one that rounds it
        if low <= one and -4 <= power <= 23 and bits & np.uint64(3) == one and bits << dropped == high:
            bits ^= one  # exactly half way: to the even one, which is below
        bits = (bits + (bits & one)) >> one
        # ⌊q log2(10)⌋ is ⌊217706 q / 65536⌋ in this range
        binary = ((217706 * power) >> 16) + 63 + np.int64(upper) - shift
        # bits · 2^(binary − 52), a normal float: its leading bit, 2^52, is not stored, and adds one to the exponent
        marked[place] = ((binary + 1022) << 52) + np.int64(bits)
        if long[_NEGATIVE, k]:
            marked[place] |= _SIGN


# --------------------------------------------------------------------------------------------------
# Lines.


_BYTES = np.frombuffer(b":+-eEqidna?0.\n", np.uint8)
_COLON, _PLUS, _MINUS, _SMALL_E, _LARGE_E, _Q, _I, _D, _N, _A, _QUESTION, _ZERO, _POINT, _LF = _BYTES

# What a byte is: a digit, as the number that it is, or one of these; from a blank on they end a field.
_KINDS = np.arange(14, dtype=np.uint8)
_OTHER, _BLANK, _COMMENT, _NEWLINE = _KINDS[10:]
_KIND = np.full(256, _OTHER)
_KIND[list(b"0123456789")] = _KINDS[:10]
_KIND[list(b"\t\v\f\r ")] = _BLANK
_KIND[list(b"#\n")] = _COMMENT, _NEWLINE

_MOST_SORTED_HERE = 256  # features in a row: more are sorted in Python, where it is not quadratic
_INDEX_DIGITS, _EXPONENT_DIGITS = 10, 5
_DOCID = np.frombuffer(b"docid=", np.uint8)  # blanks may stand around the last of these
_DOCID_LETTERS = 5

# places in the state that parse_rows carries from call to call
_AT, _LINE, _ROWS, _ENTRIES, _LONG, _WITH_QUERY, _TEXT_QUERY, _WIDTH, _STATES = range(9)
_UNKNOWN = -1  # whether the rows have a qid

# places of a row
_COUNT, _QUERY, _QUERY_START, _QUERY_STOP, _COMMENT_START, _COMMENT_STOP = range(6)


class Scratch(NamedTuple):
    """Room for the rows of one block, as long as the block could ask for."""

    grades: Floats
    rows: Ints  # a column for each row
    indices: Ints
    values: Floats
    long: Ints  # numbers that are not rounded yet, a column for each
    text: Array  # the bytes of all queries, or of all ids, with LF behind each


def parse_blocks(content: Iterable[bytes], limits: Limits) -> Iterator[LetorRows]:
    """Read blocks of whole lines; see :func:`wellorder.data.letor_plain.parse_blocks`.

    The arrays of numbers that are yielded are overwritten by the next ones: copy them before going on.
    """
    out = _scratch(0)
    state = np.zeros(_STATES, np.int64)
    state[_LINE] = 1
    state[_WITH_QUERY] = _UNKNOWN
    for block in content:
        if len(block) > len(out.text):
            out = _scratch(len(block) + len(block) // 8)
        yield from _parse_block(block, state, out, limits)


def _parse_block(block: bytes, state: Ints, out: Scratch, limits: Limits) -> Iterator[LetorRows]:
    text = np.frombuffer(block, np.uint8)
    with_query = _with_query(state)
    state[_AT] = 0
    while state[_AT] < len(block):
        state[[_ROWS, _ENTRIES, _LONG, _TEXT_QUERY, _WIDTH]] = 0
        finished = parse_rows(
            text,
            _KIND,
            _TENS,
            limits.n_features,
            state,
            out.grades,
            out.rows,
            out.indices,
            out.values,
            out.values.view(np.int64),
            out.long,
        )
        if state[_ROWS]:
            try:
                rows = _rows(text, state, out)
            except UnicodeDecodeError:
                parse_lines(block, int(state[_LINE]), with_query, limits)  # raises, and names the line
                raise
            yield rows
        if not finished:
            at = int(state[_AT])
            end = block.index(b"\n", at) + 1
            line = int(state[_LINE]) + block.count(b"\n", 0, at)
            row, known = parse_lines(block[at:end], line, _with_query(state), limits)
            yield row
            state[_AT], state[_WITH_QUERY] = end, int(bool(known))
    state[_LINE] += block.count(b"\n")


def _with_query(state: Ints) -> bool | None:
    """Say whether the rows so far have a qid; None if there was no row."""
    return None if state[_WITH_QUERY] == _UNKNOWN else bool(state[_WITH_QUERY])


def _scratch(length: int) -> Scratch:
    """Reserve room; pages that are not written to are never given out by the system."""
    rows, entries = length // 2 + 1, length // 4 + 2  # the shortest row is "0\n", the shortest entry " 1:0"
    return Scratch(
        np.empty(rows),
        np.empty((6, rows), np.int64),
        np.empty(entries, np.int32),
        np.empty(entries),
        np.empty((4, entries), np.int64),
        np.empty(length, np.uint8),
    )


def _rows(text: Array, state: Ints, out: Scratch) -> LetorRows:
    """Return what one call of parse_rows found; its numbers stay in the scratch."""
    n, entries = state[_ROWS], state[_ENTRIES]
    grade, index, value, rows = out.grades[:n], out.indices[:entries], out.values[:entries], out.rows[:, :n]
    query: Array | None = None
    if state[_TEXT_QUERY]:
        size = gather_names(text, _KIND, _DOCID[:0], rows[_QUERY_START] - 1, rows[_QUERY_STOP], out.text)
        query = text_array(_lines(out.text[: size - 1]))
    elif state[_WITH_QUERY] == 1:
        query = rows[_QUERY].copy()
    ids = None
    if (rows[_COMMENT_STOP] > rows[_COMMENT_START]).any():
        size = gather_names(text, _KIND, _DOCID, rows[_COMMENT_START], rows[_COMMENT_STOP], out.text)
        if size > n:
            ids = _lines(out.text[: size - 1])
    if state[_LONG]:
        long = out.long[:, : state[_LONG]]
        of_grade = np.flatnonzero(long[_GRADE_OF] >= 0)
        if of_grade.size:
            grade.view(np.int64)[long[_GRADE_OF, of_grade]] = _MARK + of_grade
            _round_marked(grade, long)
        _round_marked(value, long)
    return LetorRows(grade, rows[_COUNT], index, value, query, ids, int(state[_WIDTH]))


def _lines(text: Array) -> list[str]:
    return text.tobytes().decode("utf-8").split("\n")


@jit
def parse_rows(
    text: Array,
    kind: Array,
    tens: Floats,
    n_features: int,
    state: Ints,
    grades: Floats,
    rows: Ints,
    index: Ints,
    value: Floats,
    bits: Ints,
    long: Ints,
) -> bool:
    """Read rows from ``state[_AT]`` on, up to the end (True) or the first line that is not plain (False).

    ``bits`` are those of ``value``. O(bytes), but for rows whose features are not ascending.
    """
    at = state[_AT]
    while at < len(text):
        # invariant: ``at`` is at the start of a line, and everything before it is kept
        state[_AT] = at
        row = state[_ROWS]
        first = last = state[_ENTRIES]
        n_long = long_before = state[_LONG]
        has_query = text_query = behind = width = 0
        feature = -1
        sorting = False
        while True:
            # invariant: the fields before ``at`` are read, the last one was ``feature``, 0 the grade, −1 if there was
            # none; index[first:last] are the features, without zeros while they ascend; ``width`` is the highest
            while kind[text[at]] == _BLANK:
                at += 1
            if kind[text[at]] > _BLANK:
                break
            if feature < 0:
                feature = 0
            else:
                if feature == 0 and text[at] == _Q and has_query == 0:
                    if text[at + 1] != _I or text[at + 2] != _D or text[at + 3] != _COLON:
                        return False
                    at += 4
                    start = at
                    has_query = 1
                    negative = text[at] == _MINUS
                    if negative:
                        at += 1
                    begin = at
                    number = 0
                    while kind[text[at]] < _BLANK:
                        if kind[text[at]] == _OTHER:
                            text_query = 1
                        number = number * 10 + kind[text[at]]
                        at += 1
                    if at == start:
                        return False
                    # "0" is plain, "-0" and "01" are not
                    if at == begin or at > begin + (PLAIN_DIGITS if kind[text[begin]] else 1 - negative):
                        text_query = 1
                    rows[_QUERY, row] = -number if negative else number
                    rows[_QUERY_START, row] = start
                    rows[_QUERY_STOP, row] = at
                    behind = at
                    continue
                begin = at
                feature = 0
                while text[at] - _ZERO < _TEN:
                    feature = feature * 10 + (text[at] - 48)
                    at += 1
                if text[at] != _COLON or feature < 1 or feature > n_features or at > begin + _INDEX_DIGITS:
                    return False
                at += 1
            start = at
            negative = text[at] == _MINUS
            if negative or text[at] == _PLUS:
                at += 1
            begin = at
            whole = _NOTHING
            while text[at] - _ZERO < _TEN:  # of unsigned numbers: bytes below 0 are large
                whole = whole * _TEN + (text[at] - _ZERO)
                at += 1
            digits = at - begin
            power = 0
            if text[at] == _POINT:
                at += 1
                power = at
                while text[at] - _ZERO < _TEN:
                    whole = whole * _TEN + (text[at] - _ZERO)
                    at += 1
                power -= at
                digits -= power
            x = np.nan
            if digits == 0:
                # not judged: ? or nan
                if feature > 0 or at > start:
                    return False
                if text[at] == _N and text[at + 1] == _A and text[at + 2] == _N:
                    at += 3
                elif text[at] == _QUESTION:
                    at += 1
                else:
                    return False
            else:
                if digits > _MOST_DIGITS:
                    # only those from the first that is not 0 count
                    while text[begin] == _ZERO or text[begin] == _POINT:
                        digits -= text[begin] == _ZERO
                        begin += 1
                    if digits > _MOST_DIGITS:
                        return False
                if text[at] == _SMALL_E or text[at] == _LARGE_E:
                    at += 1
                    falls = text[at] == _MINUS
                    if falls or text[at] == _PLUS:
                        at += 1
                    begin = at
                    exponent = 0
                    while kind[text[at]] < _OTHER:
                        exponent = exponent * 10 + kind[text[at]]
                        at += 1
                    if at == begin or at > begin + _EXPONENT_DIGITS:
                        return False
                    power += -exponent if falls else exponent
                if whole == _NOTHING:
                    x = 0.0
                elif whole < _EXACT_WHOLE and -_EXACT_POWER <= power <= _EXACT_POWER:
                    x = whole / tens[-power] if power < 0 else whole * tens[power]
                elif power < _LEAST_POWER or power > _MOST_POWER:
                    return False
                else:
                    long[_WHOLE, n_long] = whole  # its bits are those of an unsigned number
                    long[_POWER, n_long] = power
                    long[_NEGATIVE, n_long] = negative
                    long[_GRADE_OF, n_long] = -1 if feature else row
                    n_long += 1
                if negative:
                    x = -x
            if kind[text[at]] < _BLANK:
                return False
            if feature == 0:
                grades[row] = x
                behind = at
                long_before = n_long
            elif feature <= width and not sorting:
                # again from the first, and with zeros, to find features that are there twice
                sorting = True
                at = behind
                last = first
                n_long = long_before
                width = 0
            else:
                place = last
                if sorting:
                    while place > first and index[place - 1] >= feature:
                        index[place] = index[place - 1]
                        bits[place] = bits[place - 1]
                        place -= 1
                    if (place > first and index[place - 1] == feature - 1) or last - first >= _MOST_SORTED_HERE:
                        return False
                index[place] = feature - 1
                value[place] = x
                if x != x:
                    bits[place] = _MARK + n_long - 1
                last += x != 0.0 or sorting
                if feature > width:
                    width = feature
        if feature >= 0:
            if state[_WITH_QUERY] == 1 - has_query:
                return False
            # nothing of the state has changed up to here, where the row is known to be good
            if sorting:
                stop = last
                last = place = first
                while place < stop:
                    index[last] = index[place]
                    bits[last] = bits[place]
                    last += value[place] != 0.0
                    place += 1
            rows[_COUNT, row] = last - first
            rows[_COMMENT_START, row] = at
            state[_ROWS] += 1
            state[_ENTRIES] = last
            state[_LONG] = n_long
            state[_WITH_QUERY] = has_query
            state[_TEXT_QUERY] |= text_query
            if width > state[_WIDTH]:
                state[_WIDTH] = width
        while text[at] != _LF:
            at += 1
        rows[_COMMENT_STOP, row] = at
        at += 1
    state[_AT] = at
    return True


@jit
def gather_names(text: Array, kind: Array, docid: Array, starts: Ints, stops: Ints, out: Array) -> int:
    """Copy what each comment calls its row, with LF behind each; return how many bytes that are.

    The # stands at a start, which is its stop if there is none. What it calls its row is the docid of LETOR's own
    comments, of others all of it.
    """
    k = size = 0
    while k < len(starts):
        at = start = starts[k] + 1
        stop = stops[k]
        if start <= stop:
            while kind[text[start]] == _BLANK:
                start += 1
            while stop > start and kind[text[stop - 1]] == _BLANK:
                stop -= 1
            at = start
            letter = 0
            while letter < len(docid) and text[at] == docid[letter]:
                at += 1
                letter += 1
                while letter >= _DOCID_LETTERS and kind[text[at]] == _BLANK:
                    at += 1
            if letter == len(docid) and at < stop:
                start = at
                while at < stop and kind[text[at]] != _BLANK:
                    at += 1
                stop = at
        while start < stop:
            out[size] = text[start]
            start += 1
            size += 1
        out[size] = _LF
        size += 1
        k += 1
    return size
