"""Two methods over many lists, as they are laid out on the page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

from ..writing import counted
from .duel import Duel, Query
from .pictures import draw_duel
from .wording import metric_title, write_value

_KINDS = {
    "won": "Where {leader} is furthest ahead",
    "lost": "Where {rival} is furthest ahead",
    "hard": "Hardest for {leader}",
}


@dataclass(frozen=True)
class Line:
    """A list in the table."""

    name: str
    n_rows: str
    leader: str
    rival: str


@dataclass(frozen=True)
class Block:
    """Lists that are there for one reason."""

    heading: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class LaidOut:
    """All that the section shows."""

    leader: str
    rival: str
    metric: str
    summary: str
    blocks: tuple[Block, ...]
    shown: tuple[tuple[Query, Line], ...]
    """Lists whose two orders are shown."""
    svg: Markup


def lay_out_duel(duel: Duel) -> LaidOut:
    """Put a duel into words and lines."""
    lines = {id(query): _line(duel, query) for query in duel.queries}
    blocks = (
        Block(
            heading.format(leader=duel.leader, rival=duel.rival),
            tuple(lines[id(query)] for query in duel.queries if query.kind == kind),
        )
        for kind, heading in _KINDS.items()
    )
    return LaidOut(
        duel.leader,
        duel.rival,
        metric_title(duel.metric),
        _summary(duel),
        tuple(block for block in blocks if block.lines),
        tuple((query, lines[id(query)]) for query in duel.queries if query.orders is not None),
        draw_duel(duel),
    )


def _summary(duel: Duel) -> str:
    sign = 1.0 if duel.greater_is_better else -1.0
    gains = [sign * (value - duel.values[1][query]) for query, value in duel.values[0].items()]
    known = [gain for gain in gains if math.isfinite(gain)]
    won, lost = sum(gain > 0 for gain in known), sum(gain < 0 for gain in known)
    text = f"Of {counted(len(known), 'list')}, {duel.leader} orders {won:,} better, {duel.rival} {lost:,}"
    text += f", and {len(known) - won - lost:,} are equal." if won + lost < len(known) else "."
    undefined = len(gains) - len(known)
    if undefined:
        text += f" On {undefined:,} more there is nothing to tell: all rows have one grade, or none is relevant."
    return text


def _line(duel: Duel, query: Query) -> Line:
    leader, rival = (write_value(duel.metric, value) for value in query.values)
    return Line(query.name, f"{query.n_rows:,}", leader, rival)
