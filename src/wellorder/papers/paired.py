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


def sure_of(tests: Iterable[Paired | None]) -> list[bool]:
    """Say which of several tests find something at 5 % by Holm's correction over them all."""
    listed = list(tests)
    corrected = iter(holm([each.p_value for each in listed if each is not None]))
    return [each is not None and bool(next(corrected) < _SURE) for each in listed]


def table_of_tests(
    head: Sequence[str], rows: Iterable[tuple[Sequence[str], Sequence[Paired | None]]], digits: int, factor: float = 1.0
) -> list[str]:
    """Return a table of tests: mean difference (p), in bold where Holm's correction over the row is sure."""
    lines = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    for names, tests in rows:
        cells = [_cell(test, digits, factor, sure) for test, sure in zip(tests, sure_of(tests), strict=True)]
        lines.append("| " + " | ".join([*names, *cells]) + " |")
    return lines


def _cell(test: Paired | None, digits: int, factor: float, sure: bool) -> str:
    if test is None:
        return NOTHING
    text = f"{factor * test.mean:+.{digits}f} ({write_p_value(test.p_value)})"
    return f"**{text}**" if sure else text
