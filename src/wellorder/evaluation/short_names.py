"""Long names, cut to fit and still told apart."""

from __future__ import annotations

from collections.abc import Sequence

_MARK = "…"

_ROUNDS = 20
"""Lines that begin alike may fall into parts that differ further on, and these again."""


def cut(line: str, most: int) -> str:
    """Keep the beginning of a line.

    Examples
    --------
    >>> from wellorder.evaluation.short_names import cut
    >>> cut("residual sugar, grams in each litre", 20)
    'residual sugar, gra…'
    """
    return line if len(line) <= most else line[: most - 1].rstrip() + _MARK


def cut_apart(lines: Sequence[str], most: int) -> list[str]:
    """Cut lines to at most so many characters; those that would then look alike keep the place where they differ.

    Examples
    --------
    >>> from wellorder.evaluation.short_names import cut_apart
    >>> cut_apart(["hours worked a week in 2019", "hours worked a week in 2020", "age"], 16)
    ['hours…in 2019', 'hours…in 2020', 'age']
    """
    short = {line: cut(line, most) for line in lines}
    for _ in range(_ROUNDS):
        alike: dict[str, list[str]] = {}
        for line, own in short.items():
            alike.setdefault(own, []).append(line)
        groups = [group for group in alike.values() if len(group) > 1]
        if not groups:
            break
        for group in groups:
            differ = _first_difference(min(group), max(group))  # any other two agree at least as far
            short |= {line: _around(line, differ, most) for line in group}
    return [short[line] for line in lines]


def _first_difference(one: str, other: str) -> int:
    both = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))


def _around(line: str, differ: int, most: int) -> str:
    """Keep a little of the beginning, and the words around the place where lines differ."""
    head = max(1, most // 3)
    room = most - head - 1
    earliest = max(differ - room // 2, 0)
    word = line.find(" ", max(earliest - 1, 0), differ) + 1
    begin = word if word > 0 else earliest
    return f"{line[:head].rstrip()}{_MARK}{cut(line[begin:], room)}"
