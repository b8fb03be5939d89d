"""Standings as a terminal and machines get them: of ``wellorder rate``, and of ``wellorder order`` with saved ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .output import print_table, say

if TYPE_CHECKING:
    from ..standings import Standings

_SHOWN = 50
"""Items that a terminal shows; a file has them all."""


def print_standings(standings: Standings, *, top: int | None = None) -> None:
    """Print who is best and how sure, what moved the votes, judges who stand out, and what to be careful about.

    Parameters
    ----------
    standings : Standings
    top : int, optional
        Only so many items.
    """
    table = standings.table()
    many = table["island"].max() != 1
    headers = ["rank", "item", "rating", "95 %", "ranks", "votes"]
    headers[3] = f"{100 * standings.confidence:g} %"
    rows = [_row(row, many) for row in table.head(top or _SHOWN).iter_rows(named=True)]
    print_table([*(["island"] if many else []), *headers], rows, right=[0, *(range(3 if many else 2, 7))])
    if top is None and len(table) > _SHOWN:
        say(f"… and {len(table) - _SHOWN:,} more; -o FILE writes all")
    effects = standings.effects()
    if len(effects):
        say()
        print_table(
            ["effect", "log-odds for the right", headers[3]],
            [[row["effect"], _number(row["estimate"]), _ends(row)] for row in effects.iter_rows(named=True)],
            right=[1, 2],
        )
    _print_judges(standings)
    for note in standings.notes_:
        say(note)


def _print_judges(standings: Standings) -> None:
    judges = standings.judges()
    if not len(judges):
        return
    out = judges.filter(judges["stands_out"]).head(_SHOWN)
    say()
    if not len(out):
        say(f"no judge of {len(judges):,} stands out")
        return
    say(f"{len(out):,} of {len(judges):,} judges stand out:")
    print_table(
        ["judge", "votes", "leaning to the right", "sharpness"],
        [
            [r["judge"], _number(r["votes"]), _number(r["side"]), _number(r["sharpness"])]
            for r in out.iter_rows(named=True)
        ],
        right=[1, 2, 3],
    )


def _row(row: dict[str, Any], many: bool) -> list[str]:
    ranks = str(row["rank_low"]) if row["rank_low"] == row["rank_high"] else f"{row['rank_low']}–{row['rank_high']}"
    island = [str(row["island"])] if many else []
    return [*island, str(row["rank"]), row["item"], _number(row["rating"]), _ends(row), ranks, _number(row["votes"])]


def _ends(row: dict[str, Any]) -> str:
    return f"{_number(row['low'])} to {_number(row['high'])}"


def _number(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.2f}" if abs(value) >= 0.095 or value == 0 else f"{value:.2g}"


def standings_as_json(standings: Standings, *, understood: str = "", top: int | None = None) -> dict[str, Any]:
    """Return the same for machines, and how the votes were read, if that is known."""
    return {
        **({"understood": understood} if understood else {}),
        "standings": (standings.table() if top is None else standings.table().head(top)).to_dicts(),
        "effects": standings.effects().to_dicts(),
        "judges": standings.judges().to_dicts(),
        "notes": standings.notes_,
    }
