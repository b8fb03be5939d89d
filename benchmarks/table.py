"""Records to a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from .growth import exponents
from .lines import SAME_WITHIN, Line, Race, elsewhere, races
from .peers import PEERS
from .records import Record
from .workloads import WORKLOADS

MOST_GAP = 1e-3
"""How far from the optimum a fit with default tolerance may end, relatively."""

LEVEL = 5e-4
"""Test errors nearer than this are level: half a thousandth is less than the test part can tell."""

EXACT_WITHIN = 1e-5
"""How well an optimum that other software found must come out again, relatively."""


def page(records: list[Record], threads: int = 1, picture: str | None = None) -> str:
    """Write the whole page."""
    found = races(records, threads)
    parts = ["# Benchmarks", _introduction(records, threads)]
    if picture is not None:
        parts.append(f"![Seconds against rows, for every method]({picture})")
    parts += ["## In short", _table(_SHORT, [_in_short(race) for race in found]), _behind(found)]
    for family in dict.fromkeys(race.workload.family for race in found):
        some = [race for race in found if race.workload.family == family]
        parts += [f"## {family}", f"{some[0].workload.about[0].upper()}{some[0].workload.about[1:]}."]
        parts.append(_table(_LONG, [row for race in some for row in _rows(race)]))
        notes = [
            f"* {line.workload}, {line.method}: {line.reason}" for race in some for line in race.lines if line.reason
        ]
        parts += ["\n".join(notes)] if notes else []
    parts += ["## Growth", _GROWTH_NOTE, _growth(found), "## Measured elsewhere", _elsewhere()]
    return "\n\n".join(part for part in parts if part) + "\n"


def _introduction(records: list[Record], threads: int) -> str:
    machines = sorted({record["machine"] for record in records if record["threads"] == threads})
    turns = 1 + max((record["turn"] for record in records if record["threads"] == threads), default=0)
    when = sorted({record["when"] for record in records if record.get("when")})
    versions = sorted({record["version"] for record in records if record.get("version")})
    return (
        f"`python -m benchmarks --threads {threads}`: every job in a process of its own, confined to {threads} "
        f"processor{'s' * (threads > 1)}; the methods take turns ({turns} at most), medians. {'; '.join(machines)}"
        f"{', ' + ' to '.join(dict.fromkeys((when[0], when[-1]))) if when else ''}.\n\n"
        "* **× wellorder**: seconds over those of wellorder's first method on the workload.\n"
        "* **MB**: how far memory rose above the data.\n"
        "* **gap**: how far the objective ended from the lowest that any method reached, relatively; one function "
        "computes it from everybody's weights.\n"
        f"* **same objective**: methods that minimise it and end within {SAME_WITHIN:g} of the optimum.\n"
        "* **wrong**: swapped pairs of the test part (for comparisons and games, wrong outcomes). Nothing is tuned.\n"
        "* **floors**: wellorder's seconds over those of `floor`: one product each way and one sort on the same data.\n"
        "* *Italics*: measured elsewhere, scaled. `wellorder-…exact` shows where the optimum is.\n"
        "* **distorted**: made so that regression on the grade loses the order and ranking does not: this shows that "
        "it happens, not how often.\n\n" + (f"Versions: {', '.join(versions)}." if versions else "")
    )


_SHORT = (
    "workload",
    "wellorder, s",
    "floors",
    "fastest with the same objective",
    "factor",
    "gap",
    "known optimum",
    "wrong, wellorder",
    "wrong, best of the others",
)
_LONG = ("workload", "method", "s", "from–to", "× wellorder", "MB", "gap", "wrong", "NDCG@10")


def _in_short(race: Race) -> list[str]:
    ours, rival = race.ours, race.rival
    test, theirs = race.best_test(True), race.best_test(False)
    gap = None if ours is None else race.gap(ours)
    known, optimum = race.workload.exact, race.optimum
    again = (
        ""
        if known is None or optimum is None
        else f"{known} {'again' if _agrees(known, optimum) else f'**not again: {optimum:.6f}**'}"
    )
    return [
        race.workload.name,
        "" if ours is None else number(ours.seconds),
        number(race.floors),
        "" if rival is None else _name(rival),
        "" if rival is None else number(race.ratio(rival)),
        "" if gap is None else f"{gap:.0e}{'' if gap <= MOST_GAP else ' **over**'}",
        again,
        "" if test is None else f"{test.test_error:.4f} ({test.method})",
        "" if theirs is None else f"{theirs.test_error:.4f} ({_name(theirs)})",
    ]


def _agrees(known: float, optimum: float) -> bool:
    """Compare with a value known to four decimals: the last digit is rounded."""
    return abs(optimum - known) <= EXACT_WITHIN * known


def _behind(found: list[Race]) -> str:
    """Name every row where wellorder is not first; the page must not leave that to its readers."""
    rows = []
    for race in found:
        rival, ratio = race.rival, None if race.rival is None else race.ratio(race.rival)
        if rival is not None and ratio is not None and ratio < 1.0:
            rows.append(f"* {race.workload.name}: {_name(rival)} takes {number(ratio)} of wellorder's time.")
        ours, theirs = race.best_test(True), race.best_test(False)
        if ours is not None and theirs is not None and (theirs.test_error or 0.0) < (ours.test_error or 0.0) - LEVEL:
            rows.append(
                f"* {race.workload.name}: {_name(theirs)} gets {theirs.test_error:.4f} of the test part wrong, "
                f"{ours.method} {ours.test_error:.4f}."
            )
    return f"Where wellorder is not first (test errors within {LEVEL:g} of each other are level):\n\n" + (
        "\n".join(rows) if rows else "* nowhere on this page."
    )


def _rows(race: Race) -> Iterable[list[str]]:
    for line in sorted(race.lines, key=lambda line: (line.seconds is None, line.seconds or 0.0)):
        gap = race.gap(line)
        spread = "" if line.fastest is None or line.turns < 2 else f"{number(line.fastest)}–{number(line.slowest)}"
        yield [
            race.workload.name,
            _name(line)
            + (" (same objective)" if race.does_the_same(line) and race.workload.task in ("order", "compare") else ""),
            number(line.seconds) if line.seconds is not None else line.status,
            spread,
            number(race.ratio(line)),
            "" if line.extra_mb is None else f"{line.extra_mb:.0f}",
            "" if gap is None else f"{gap:.0e}",
            "" if line.test_error is None else f"{line.test_error:.4f}",
            "" if line.ndcg10 is None else f"{line.ndcg10:.3f}",
        ]


_GROWTH_NOTE = (
    "Seconds ∝ size^exponent between neighbouring sizes. Fixed costs hide the growth of small sizes: the last "
    "exponents say most."
)


def _growth(found: list[Race]) -> str:
    rows = [
        [
            grown.family,
            grown.along,
            grown.method,
            ", ".join(f"{size:,}" for size in grown.sizes),
            ", ".join(f"{slope:.2f}" for slope in grown.exponents),
        ]
        for grown in exponents(found)
        if grown.method in PEERS and grown.method != "floor"
    ]
    return _table(("family", "along", "method", "sizes", "exponents"), rows)


def _elsewhere() -> str:
    known = elsewhere()
    rows = [
        [row["workload"], known["versions"][row["method"]], number(row["seconds"]), f"{row['swapped']:.4f}"]
        for row in known["measured"]
    ]
    floors = [[row["workload"], number(row["seconds"]), str(row["floors"])] for row in known["floors"]]
    return (
        f"{known['about']}\n\n"
        + _table(("workload", "method", "s there", "wrong"), rows)
        + f"\n\n{known['floors_about']}\n\n"
        + _table(("workload", "s there", "floors there"), floors)
    )


def _name(line: Line) -> str:
    return line.method if line.measured_there is None else f"*{line.method}, elsewhere*"


def number(value: float | None) -> str:
    """Write a number with two or three digits that count.

    Examples
    --------
    >>> [number(value) for value in (0.00123, 0.456, 7.89, 249.3, 1234.0)]
    ['0.0012', '0.46', '7.9', '249', '1,234']
    """
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names, cells = list(header), [list(row) for row in rows]
    if not cells:
        return ""
    used = [j for j, _ in enumerate(names) if any(row[j] for row in cells)]
    lines = [[names[j] for j in used], ["---"] * len(used), *([row[j] for j in used] for row in cells)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def console(race: Race) -> str:
    """Write one workload for a terminal."""
    lines = [f"{race.workload.name}: {race.workload.about}"]
    for line in sorted(race.lines, key=lambda line: (line.seconds is None, line.seconds or 0.0)):
        gap, ratio = race.gap(line), race.ratio(line)
        lines.append(
            f"  {line.method:27}{number(line.seconds):>9}{'' if ratio is None else f'{number(ratio)} ×':>9}"
            f"{'' if line.extra_mb is None else f'{line.extra_mb:.0f} MB':>10}"
            f"{'' if gap is None else f'gap {gap:.0e}':>13}"
            f"{'' if line.test_error is None else f'wrong {line.test_error:.4f}':>14}"
            f"{'' if line.ndcg10 is None else f'NDCG {line.ndcg10:.3f}':>12}"
            f"{'  elsewhere, scaled' if line.measured_there is not None else ''}  {line.reason}".rstrip()
        )
    return "\n".join(lines)


def known_workloads() -> str:
    """List the workloads, family by family."""
    return "\n".join(f"{each.name:28}{each.about}" for each in WORKLOADS.values())
