"""Two methods on the same test sets, windows or queries: whether one is better, or only luckier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation import holm, randomisation_test
from ..sweeps import Floats
from ..writing import NOTHING, write_p_value

_SURE = 0.05


class Paired(NamedTuple):
    """One method's results less another's."""

    mean: float
    n_above: int
    """How often the first had the larger value, of ``n``."""
    n: int
    p_value: float
    """How often chance gives a mean as far from 0, had each difference had either sign."""


def paired(differences: Any) -> Paired | None:
    """Return what the differences say; those that are NaN say nothing, and where there is no other, None."""
    known: Floats = np.asarray(differences, dtype=float)
    known = known[~np.isnan(known)]
    if len(known) == 0:
        return None
    return Paired(float(known.mean()), int(np.count_nonzero(known > 0)), len(known), randomisation_test(known))


def corrected(tests: Iterable[Paired | None]) -> list[float]:
    """Return the p-values of several tests after Holm's correction over them all; NaN where there is no test."""
    listed = list(tests)
    found = iter(holm([each.p_value for each in listed if each is not None]).tolist())
    return [float("nan") if each is None else float(next(found)) for each in listed]


def is_sure(p_value: float) -> bool:
    """Say whether a corrected p-value tells two methods apart."""
    return p_value < _SURE


def write_p_values(p_value: float, after: float) -> str:
    """Write a p-value, and the same after a correction.

    Examples
    --------
    >>> from wellorder.papers.paired import write_p_values
    >>> write_p_values(0.0078, 0.039), write_p_values(0.00001, 0.00006)
    ('p = 0.008; 0.039', 'p < 0.001; < 0.001')
    """
    return f"{write_p_value(p_value)}; {write_p_value(after).removeprefix('p ').removeprefix('= ')}"


def table_of_tests(
    head: Sequence[str], rows: Iterable[tuple[Sequence[str], Sequence[Paired | None]]], digits: int, factor: float = 1.0
) -> list[str]:
    """Return a table of tests: mean difference (p; p by Holm's correction over the row), in bold where that is sure.

    A test over fewer sets than the others of its row says over how many.
    """
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for names, tests in rows:
        most = max((test.n for test in tests if test is not None), default=0)
        cells = [_cell(test, digits, factor, after, most) for test, after in zip(tests, corrected(tests), strict=True)]
        lines.append("| " + " | ".join([*names, *cells]) + " |")
    return lines


def _cell(test: Paired | None, digits: int, factor: float, after: float, most: int) -> str:
    if test is None:
        return NOTHING
    over = f"{test.n} sets, " if test.n < most else ""
    text = f"{factor * test.mean:+.{digits}f} ({over}{write_p_values(test.p_value, after)})"
    return f"**{text}**" if is_sure(after) else text
