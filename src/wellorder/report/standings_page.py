"""Standings of things that were compared two at a time, as one HTML file for a person who knows no statistics."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.special import expit

from ..data import ComparisonTable
from ..figures import (
    MOST_NUMBERED,
    N_CALIBRATION_BINS,
    AboveDisplay,
    PairCalibrationDisplay,
    StandingsDisplay,
    legible,
    to_svg,
)
from ..order import Comparisons
from ..standings import FitCheck, Standings, chances_above, check_fit, clearly_above, order_of, telling_pairs
from ..whole_files import write_whole
from ..writing import NOTHING, counted, write_interval, write_metric, write_percent, write_ranks
from .page import environment, script_hash, source, without_folders
from .ranked import write_chance
from .wording import SCALE

_WHOLE = 300
"""Up to this many items, the table has all of them; with more, it has these numbers of the first and the last:"""

_FIRST, _LAST = 100, 10

_SEARCHED = 12
"""With more items than this there is a search."""

_PAIRED = 400
"""Up to this many items, the page can tell of any two which one is above."""

_DRAWN = 25
"""At most this many items are in the picture."""

_IN_TABLE = 20
"""At most this many items are in the table of who is above whom."""

_IN_GRAPH = 12
"""At most this many items are in the graph."""

_NAMED = 4
"""At most this many names are in a sentence."""

_ASKED = 12
"""At most this many neighbours that are not told apart are listed, and as many pairs on which a vote tells most."""

_PER_BIN = 60
"""Each dot of the calibration stands for at least this many votes."""

_JUDGES = 20
_ISLANDS = 12
_SURE = 1.959964
"""A difference of more standard errors than this is more than chance."""


@dataclass(frozen=True, eq=False)
class StandingsLook:
    """All that the page says of standings.

    Attributes
    ----------
    data : str
        Where the votes come from.
    standings : Standings
    fit : FitCheck or None
    rows : tuple of dict
        The rows of ``standings.table()``.
    places : array of int
        Where they stand in ``standings.items_``.
    undecided : tuple of (str, str, float, float)
        Neighbours in the ranking that are not told apart: how likely the upper one is above, and how many votes on the
        two are still needed, beyond chance for all pairs at once.
    telling : tuple of (str, str)
        Pairs on which one more vote tells most.
    understood : str
        How the file of votes was read, in one line.
    """

    data: str
    standings: Standings
    fit: FitCheck | None
    rows: tuple[Mapping[str, Any], ...]
    places: Any
    undecided: tuple[tuple[str, str, float, float], ...]
    telling: tuple[tuple[str, str], ...]
    understood: str = ""


def look_at_standings(
    standings: Standings,
    votes: ComparisonTable | Comparisons | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    data: str | None = None,
) -> StandingsLook:
    """Gather what is to be said of standings: who is told apart, what biased the votes, and what to ask next.

    Parameters
    ----------
    standings : Standings
        What :func:`wellorder.rate` found.
    votes : ComparisonTable or Comparisons, optional
        The votes that it was given: with them, held-out votes are predicted (:func:`wellorder.standings.check_fit`).
    options : mapping, optional
        The options that it was given beside them.
    data : str, optional
        Where the votes come from, for the heading; the file of the votes without.

    Examples
    --------
    >>> import wellorder as wo
    >>> from wellorder.report import look_at_standings
    >>> votes = wo.Comparisons([0, 1, 2, 0, 1, 2, 1], [1, 2, 0, 2, 0, 1, 0], [1, -1, 0, 0, -1, 1, 1])
    >>> look = look_at_standings(wo.rate(votes), votes)
    >>> [(upper, lower) for upper, lower, _, _ in look.undecided]
    [('1', '0'), ('0', '2')]
    >>> look.fit.n_votes
    7
    """
    rows = tuple(standings.table().iter_rows(named=True))
    return StandingsLook(
        data or str(getattr(votes, "source", "votes")),
        standings,
        None if votes is None or standings.n_votes_ < 2 else check_fit(votes, **(options or {})),
        rows,
        order_of(standings),
        _undecided(standings, rows),
        tuple(telling_pairs(standings, _ASKED)),
        str(getattr(votes, "understood", "")).removeprefix(f"{getattr(votes, 'source', '')}: "),
    )


def render_standings(look: StandingsLook, *, date: object = None) -> str:
    """Return standings as a self-contained page.

    Pure: the same look and date give the same characters. Nothing is fetched when it is opened.

    Parameters
    ----------
    look : StandingsLook
        What :func:`look_at_standings` found.
    date : str or date, optional
        When it was made, to be written on the page.
    """
    shown = [row["item"] for row in look.rows]
    n_table = min(len(shown), _IN_TABLE)
    above = _above(look, n_table)
    gap = len(shown) - _FIRST - _LAST if len(shown) > _WHOLE else 0
    script = ("" if gap else source("sort.js")) + source("search.js")
    page = environment().get_template("standings.html")
    return page.render(
        title=without_folders(look.data),
        date="" if date is None else str(date),
        style=source("page.css"),
        script=script,
        script_hash=script_hash(script),
        lead=_lead(look),
        plainly=_plainly(look),
        cautions=_cautions(look),
        summary=_summary(look),
        table=_table(look, gap),
        search=_searchable(look) if len(shown) > _SEARCHED else None,
        picture=_draw_standings(look),
        above=above,
        n_above=n_table,
        above_in_numbers=n_table <= MOST_NUMBERED,
        graph=_draw_graph(look),
        n_graph=min(len(shown), _IN_GRAPH),
        effects=_effects(look),
        ties=_ties(look.standings),
        features=[(str(name), f"{weight:+.2f}") for name, weight in look.standings.features().rows()][:_JUDGES],
        judges=_judges(look.standings),
        fit=None if look.fit is None else _fit(look.fit),
        islands=_islands(look),
        next=_next(look),
        steps=_steps(look),
        width=SCALE,
    )


def write_standings(look: StandingsLook, path: str | os.PathLike[str], *, date: object = None) -> Path:
    """Write the page of standings to a file, and return where it is.

    Parameters
    ----------
    look : StandingsLook
        What :func:`look_at_standings` found.
    path : path-like
        A file that is there already is replaced.
    date : str or date, optional
        When it was made, to be written on the page.
    """
    return write_whole(path, render_standings(look, date=date))


# --------------------------------------------------------------------------------------------------
# The headline.


def _lead(look: StandingsLook) -> tuple[str, str]:
    """Return the item at the top, and what to say of it; several islands have no first of all."""
    first = look.rows[0]
    members = [row for row in look.rows if row["island"] == first["island"]]
    n_islands = look.rows[-1]["island"]
    if n_islands > 1:
        return "", (
            f"{counted(len(look.rows), 'item')} in {n_islands:,} islands that no vote links: there is no first of all. "
            f"In the largest of them {first['item']} {_first_of(first, members)}."
        )
    return first["item"], f"{_first_of(first, members)}."


def _first_of(first: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> str:
    of = counted(len(members), "item")
    if len(members) == 1:
        return "stands alone"
    if first["rank_high"] == 1:
        return f"is clearly first of {of}: every other stands below it beyond chance"
    close = [row["item"] for row in members[1:] if row["rank_low"] == 1]
    if len(close) == len(members) - 1 and len(close) > 1:
        return f"stands first of {of}, but none of the others can be told from it yet"
    return f"stands first of {of}, but {_listed(close)} cannot be told from it yet"


def _plainly(look: StandingsLook) -> str:
    """Say how sure the first place is, and what its ranks mean."""
    members = [row for row in look.rows if row["island"] == look.rows[0]["island"]]
    if len(members) < 2:
        return ""
    first, second = members[0], members[1]
    level = write_percent(look.standings.confidence, 0)
    chance = look.standings.probability(first["item"], second["item"])
    text = ""
    if math.isfinite(chance):
        text = f"That it is really above the second, {second['item']}, has a probability of {_in_words(chance)}. "
    if math.isinf(first["rating"]):
        votes = counted(round(first["votes"]), "vote")
        all_of_them = "its only vote" if first["votes"] == 1 else f"every one of its {votes}"
        won = f"It won {all_of_them}: h" if first["wins"] == first["votes"] else "H"
        text += f"{won}ow far it is ahead, nobody can say yet. "
    if first["rank_low"] == first["rank_high"]:
        return f"{text}With {level} confidence all ranks on this page hold at once."
    return (
        f"{text}Its true rank is {first['rank_low']} to {first['rank_high']}, with {level} confidence that all such "
        "ranges on this page hold at once."
    )


_OPEN = 0.2
"""If a larger share of the items than this has an interval without an end, the page says that there are too few
votes."""


def _cautions(look: StandingsLook) -> list[str]:
    told = "islands" if look.rows[-1]["island"] > 1 else "\0"  # what the headline has said
    said = [note[:1].upper() + note[1:] + "." for note in look.standings.notes_ if told not in note]
    n_open = sum(not (math.isfinite(row["low"]) or math.isfinite(row["high"])) for row in look.rows)
    if n_open > _OPEN * len(look.rows):
        each = 2.0 * look.standings.n_votes_ / len(look.rows)
        said.insert(
            0,
            f"It is early: of {n_open:,} of the {len(look.rows):,} items these votes leave any rating possible, as "
            f"each item has had {each:.1f} votes on average. Ranges close as items win and lose against several.",
        )
    if look.fit is not None and not _is_beyond(look.fit, "coin"):
        said.insert(
            0,
            "These votes hardly tell the items apart: on votes that it had not seen, the model is no better beyond "
            "chance than a coin.",
        )
    return said


def _summary(look: StandingsLook) -> tuple[str, ...]:
    standings = look.standings
    parts = [counted(len(standings.items_), "item"), counted(standings.n_votes_, "vote")]
    n_judges = len(standings.judges())
    if n_judges:
        parts.append(counted(n_judges, "judge"))
    return tuple(parts)


def _in_words(chance: float) -> str:
    return write_chance(chance).replace("> ", "more than ").replace("< ", "less than ")


def _listed(names: Sequence[str]) -> str:
    """Join names as in a sentence."""
    if len(names) <= _NAMED:
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1:,} others"


# --------------------------------------------------------------------------------------------------
# The table.


@dataclass(frozen=True)
class _TableLine:
    """A line of the table."""

    place: int
    name: str
    ranks: str
    rating: str
    interval: str
    votes: str
    n_votes: float
    shares: tuple[tuple[str, float], ...]
    behind: str
    opens: str
    """The island that begins with this row, or an empty text."""
    at: float | None
    low: float
    high: float
    arrows: tuple[bool, bool]
    rating_value: float


@dataclass(frozen=True)
class _ItemTable:
    """All lines, and what the columns are."""

    first: tuple[_TableLine, ...]
    last: tuple[_TableLine, ...]
    gap: int
    has_bad: bool
    sortable: bool
    ends: tuple[str, str]
    scale: str


def _table(look: StandingsLook, gap: int) -> _ItemTable:
    standings, rows = look.standings, look.rows
    tally = standings.tally_[look.places]
    has_bad = bool(tally[:, 3].any())
    low, high = _reach(rows)
    behind = _behind_first(look)
    several = rows[-1]["island"] > 1

    def line(place: int) -> _TableLine:
        row, count = rows[place], max(float(tally[place, :3].sum()), 1e-300)
        begins = several and (place == 0 or rows[place - 1]["island"] != row["island"])
        lost, tied, won, bad = (float(each) / count for each in tally[place])
        shares = (won, tied, lost, bad) if has_bad else (won, tied, lost)
        return _TableLine(
            row["rank"],
            row["item"],
            write_ranks(row["rank_low"], row["rank_high"]),
            _rating(row["rating"], standings.scale),
            _interval(row, standings.scale),
            f"{row['votes']:,.0f}",
            float(row["votes"]),
            tuple((write_percent(share, 0), share) for share in shares),
            behind[place],
            f"Island {row['island']}" if begins else "",
            _spot(row["rating"], low, high) if math.isfinite(row["rating"]) else None,
            _spot(row["low"], low, high),
            _spot(row["high"], low, high),
            (not math.isfinite(row["low"]), not math.isfinite(row["high"])),
            float(np.nan_to_num(row["rating"], nan=0.0, posinf=1e9, neginf=-1e9)),
        )

    n_first = _FIRST if gap else len(rows)
    last = range(len(rows) - _LAST, len(rows)) if gap else ()
    return _ItemTable(
        tuple(map(line, range(n_first))),
        tuple(map(line, last)),
        gap,
        has_bad,
        not gap and not several,
        (_rating(low, standings.scale), _rating(high, standings.scale)),
        standings.scale,
    )


def _behind_first(look: StandingsLook) -> list[str]:
    """Write how likely the first of each island is really above each item."""
    chances = []
    for place, row in enumerate(look.rows):
        if row["rank"] == 1:
            first = place
            chances.append("")
            continue
        both = chances_above(look.standings, look.places[[first, place]])
        chances.append(write_chance(both[0, 1]) if np.isfinite(both[0, 1]) else NOTHING)
    return chances


def _reach(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    numbers = [float(row[name]) for row in rows for name in ("rating", "low", "high")]
    finite = [number for number in numbers if math.isfinite(number)]
    low, high = min(finite, default=-1.0), max(finite, default=1.0)
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _spot(value: float, low: float, high: float) -> float:
    """Return where a number is drawn; an infinite one at the edge."""
    if math.isnan(value):
        return 0.5 * SCALE
    share = min(max((value - low) / (high - low), -0.02), 1.02)
    return round(8.0 + (SCALE - 16.0) * share, 1)


def _rating(value: float, scale: str) -> str:
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.0f}" if scale == "elo" else f"{value:.2f}".replace("-", "−")


def _interval(row: Mapping[str, Any], scale: str) -> str:
    low, high = row["low"], row["high"]
    if not (math.isfinite(low) or math.isfinite(high)):
        return "too few votes"
    if math.isinf(high):
        return f"at least {_rating(low, scale)}"
    if math.isinf(low):
        return f"at most {_rating(high, scale)}"
    return f"{_rating(low, scale)} to {_rating(high, scale)}"


def _searchable(look: StandingsLook) -> Markup:
    """Return JSON that may stand in a page: no tag can begin in it."""
    several = look.rows[-1]["island"] > 1
    scale = look.standings.scale
    rows = [
        [
            row["rank"],
            write_ranks(row["rank_low"], row["rank_high"]),
            legible(row["item"]),
            f"{_rating(row['rating'], scale)} ({_interval(row, scale)})",
            f"{row['votes']:,.0f}",
            *([row["island"]] if several else []),
        ]
        for row in look.rows
    ]
    columns = ["rank", "ranks", "item", "rating", "votes", *(["island"] if several else [])]
    data: dict[str, Any] = {"columns": columns, "rows": rows, "strangers": []}
    data["apart"] = "No votes link the two: they cannot be compared."
    if len(rows) <= _PAIRED:
        chances = chances_above(look.standings, look.places)
        data["above"] = [[None if math.isnan(each) else round(each, 3) for each in line] for line in chances.tolist()]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


# --------------------------------------------------------------------------------------------------
# Pictures.


def _draw_standings(look: StandingsLook) -> Markup:
    display = StandingsDisplay(look.standings.table(), look.standings.scale, most=_DRAWN)
    return Markup(to_svg(display, name="ratings", title="Ratings with their intervals, the best on top"))


def _above(look: StandingsLook, n: int) -> Markup | None:
    if n < 2:
        return None
    return Markup(to_svg(_above_display(look, n), name="above", title="Who is clearly above whom"))


def _draw_graph(look: StandingsLook) -> Markup | None:
    display = _above_display(look, min(len(look.rows), _IN_GRAPH))
    if not display.above.any():
        return None
    return Markup(to_svg(display.reduced(), name="order", title="Who is clearly above whom, as arrows"))


def _above_display(look: StandingsLook, n: int) -> AboveDisplay:
    places = look.places[:n]
    names = [row["item"] for row in look.rows[:n]]
    return AboveDisplay(names, clearly_above(look.standings, places), chances_above(look.standings, places))


# --------------------------------------------------------------------------------------------------
# What moved the votes beside the items.


def write_odds(log_odds: float) -> str:
    """Write what even odds become, the favoured one first.

    Examples
    --------
    >>> from wellorder.report.standings_page import write_odds
    >>> write_odds(0.3), write_odds(-0.3), write_odds(9.0)
    ('57:43', '57:43', 'more than 99:1')
    """
    share = round(100 * float(expit(abs(log_odds))))
    return f"{share}:{100 - share}" if share < 100 else "more than 99:1"


def _effects(look: StandingsLook) -> list[tuple[str, str]]:
    """Say of each effect what it does to even odds."""
    typical = {} if look.fit is None else look.fit.typical
    controls = set(look.standings.controls_.tolist())
    said = []
    for name, estimate, low, high in look.standings.effects().rows():
        if name == "side" and name not in controls:
            said.append(("side", _side(estimate, low, high)))
        else:
            said.append((name, _control(name, typical.get(name, 1.0), (estimate, low, high), name in typical)))
    return said


def _side(estimate: float, low: float, high: float) -> str:
    favoured = "right" if estimate > 0 else "left"
    if not low <= 0.0 <= high:
        return f"Standing on the {favoured} turns even odds into {_turned(estimate, low, high)}."
    return (
        f"No advantage of a side can be told from chance: {write_odds(estimate)} for the {favoured} one, "
        f"and anything from {write_odds(low)} for the left to {write_odds(high)} for the right is possible."
    )


def _control(name: str, step: float, ends: tuple[float, float, float], is_typical: bool) -> str:
    estimate, low, high = (each * step for each in ends)
    favoured = "more" if estimate > 0 else "less"
    by = f"{write_metric(step).rstrip('0').rstrip('.')}{', which is typical here' if is_typical else ''}"
    if not low <= 0.0 <= high:
        odds = _turned(estimate, low, high)
        return f"Where the two differ by {by}, the one with {favoured} has {odds} in place of even odds."
    return (
        f"It cannot be told from chance whether it matters: where the two differ by {by}, {write_odds(estimate)} for "
        f"the one with {favoured}; anything from {write_odds(low)} for less to {write_odds(high)} for more is possible."
    )


def _turned(estimate: float, low: float, high: float) -> str:
    """Write odds with their range, for the side that is favoured beyond chance."""
    near, far = sorted((abs(low), abs(high)))
    if math.isinf(far):
        return f"{write_odds(near)} at least"
    return f"{write_odds(estimate)} (from {write_odds(near)} to {write_odds(far)})"


def _ties(standings: Standings) -> str:
    """Say how often equally good items tie."""
    nu = np.exp(standings.log_nu_)
    if not nu.any():
        return ""
    share = nu / (2.0 + nu.sum())
    text = f"Two items that are equally good tie in {write_percent(float(share[0]), 0)} of votes"
    if len(nu) > 1:
        text += f", and both are called bad in {write_percent(float(share[1]), 0)}"
    return text + "."


@dataclass(frozen=True)
class _Judges:
    n_judges: int
    out: tuple[tuple[str, str, str], ...]
    """Name, votes, and what is odd about them."""
    n_out: int


def _judges(standings: Standings) -> _Judges | None:
    frame = standings.judges()
    if not len(frame):
        return None
    out = [row for row in frame.iter_rows(named=True) if row["stands_out"]]
    out.sort(key=lambda row: -max(abs(row["side"]), abs(math.log(row["sharpness"]))))
    told = tuple((row["judge"], f"{row['votes']:,.0f}", _oddity(row)) for row in out[:_JUDGES])
    return _Judges(len(frame), told, len(out))


def _oddity(row: Mapping[str, Any]) -> str:
    parts = []
    if row["side_low"] > 0 or row["side_high"] < 0:
        side = "right" if row["side"] > 0 else "left"
        parts.append(f"leans to the {side} more than the others: {write_odds(row['side'])} where they are even")
    if row["sharpness_low"] > 1:
        parts.append(f"decides more sharply: as if things were {row['sharpness']:.1f} times as far apart")
    if row["sharpness_high"] < 1:
        parts.append(f"decides less sharply: as if things were {row['sharpness']:.1f} times as far apart")
    return "; ".join(parts)


# --------------------------------------------------------------------------------------------------
# How well held-out votes are predicted.


@dataclass(frozen=True)
class _Fit:
    summary: str
    lines: tuple[tuple[str, str, str, str], ...]
    """Who predicts, the chance given to what came, the log-loss, and by how much the model's is lower."""
    caption: str
    picture: Markup


_RIVALS = {"coin": "a coin", "elo": "Elo"}


def _is_beyond(fit: FitCheck, rival: str) -> bool:
    gain = fit.gains[rival]
    return gain.difference > _SURE * gain.error


def _fit(fit: FitCheck) -> _Fit:
    chance = {name: write_percent(math.exp(-loss)) for name, loss in fit.losses.items()}
    lines = [("this model", chance["model"], f"{fit.losses['model']:.4f}", "")]
    verdicts = {}
    for name, called in _RIVALS.items():
        gain = fit.gains[name]
        reach = _SURE * gain.error
        is_worse = gain.difference < -reach
        verdicts[name] = "better than" if _is_beyond(fit, name) else "worse than" if is_worse else "not told from"
        lead = write_interval(gain.difference - reach, gain.difference + reach)
        lines.append((called, chance[name], f"{fit.losses[name]:.4f}", lead))
    summary = (
        "Each vote was predicted from the others. To what came, the model had given a chance of "
        f"{chance['model']} (in the geometric mean), a coin that knows how often each outcome comes {chance['coin']}, "
        f"and Elo's ratings {chance['elo']}. Beyond chance, the model is {verdicts['coin']} the coin, and "
        f"{verdicts['elo']} Elo."
    )
    n_bins = min(max(fit.n_votes // _PER_BIN, 2), N_CALIBRATION_BINS)
    display = PairCalibrationDisplay.from_predictions(fit.outcome, fit.probabilities, n_bins=n_bins)
    each = round(2 * fit.n_votes / max(len(display.parts[0].count), 1))
    caption = (
        "Held-out votes that were predicted with about the same probability, and how often it came so: a dot stands "
        f"for about {each:,} predictions that one of the two wins. On the dashed line, 70 % means seven times out of "
        "ten; a dot off the line that stands for few may be chance."
    )
    svg = Markup(to_svg(display, name="calibration", title="Predicted probabilities, and how often it came so"))
    return _Fit(summary, tuple(lines), caption, svg)


# --------------------------------------------------------------------------------------------------
# Islands, and what to ask next.


def _islands(look: StandingsLook) -> list[tuple[str, str, str]]:
    """Name the islands, and who is on each."""
    n_islands = look.rows[-1]["island"]
    if n_islands < 2:
        return []
    found = []
    for number in range(1, min(n_islands, _ISLANDS) + 1):
        members = [row["item"] for row in look.rows if row["island"] == number]
        more = ", …" if len(members) > _ISLANDS else ""
        found.append((f"Island {number}", counted(len(members), "item"), ", ".join(members[:_ISLANDS]) + more))
    if n_islands > _ISLANDS:
        found.append((f"{n_islands - _ISLANDS:,} more", "", "smaller ones"))
    return found


@dataclass(frozen=True)
class _Next:
    summary: str
    undecided: tuple[tuple[str, str, str, str], ...]
    n_undecided: int
    telling: tuple[tuple[str, str], ...]


def _undecided(standings: Standings, rows: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, str, float, float], ...]:
    """Find neighbours in the ranking that are not told apart."""
    places = order_of(standings)
    found: list[tuple[str, str, float, float]] = []
    for k in range(len(rows) - 1):
        if rows[k]["island"] != rows[k + 1]["island"] or clearly_above(standings, places[k : k + 2])[0, 1]:
            continue
        chance = float(chances_above(standings, places[k : k + 2])[0, 1])
        pair = rows[k]["item"], rows[k + 1]["item"]
        needed = standings.needed(*pair, at_once=True) if len(found) < _ASKED else math.nan
        found.append((*pair, chance, needed))
    return tuple(found)


def _next(look: StandingsLook) -> _Next:
    lines = tuple(
        (upper, lower, write_chance(chance) if math.isfinite(chance) else NOTHING, write_needed(needed))
        for upper, lower, chance, needed in look.undecided[:_ASKED]
    )
    n_pairs = sum(1 for one, other in zip(look.rows, look.rows[1:], strict=False) if one["island"] == other["island"])
    if not look.undecided:
        summary = "Every two neighbours in the ranking are told apart: for the order, no more votes are needed."
    else:
        close = f"{len(look.undecided):,} cannot be told apart yet"
        summary = f"Of {counted(n_pairs, 'pair')} of neighbours in the ranking, {close}."
    return _Next(summary, lines, len(look.undecided), look.telling)


def write_needed(votes: float) -> str:
    """Write how many more votes are needed, with no more digits than it is worth.

    Examples
    --------
    >>> from wellorder.report.standings_page import write_needed
    >>> [write_needed(n) for n in (0.0, 37.0, 12345.0, 3.2e6, float("inf"), float("nan"))]
    ['almost none', 'about 40', 'about 12,000', 'more than a million', 'they seem equal', '–']
    """
    if math.isnan(votes):
        return NOTHING
    if math.isinf(votes):
        return "they seem equal"
    if votes > 1e6:
        return "more than a million"
    if votes < 1:
        return "almost none"
    digits = max(len(str(int(votes))) - (2 if votes >= 100 else 1), 0)
    return f"about {round(votes, -digits):,.0f}"


# --------------------------------------------------------------------------------------------------
# How it was computed.


def _steps(look: StandingsLook) -> list[tuple[str, str]]:
    standings, fit = look.standings, look.fit
    level = write_percent(standings.confidence, 0)
    told = (
        "A rating is told in points of Elo's scale, 1500 for the mean: 400 points above are odds of ten to one"
        if standings.scale == "elo"
        else "A rating is told in log-odds, zero for the mean: 1 above is odds of 2.7 to one, 2 above 7.4 to one"
    )
    steps = [
        ("Votes", _about_votes(look)),
        (
            "Model",
            f"{standings.how_}. Each item has a rating; the further two are apart, the more often the higher wins, and "
            "the rarer is a tie. The ratings are those under which the votes are most likely"
            f"{'' if len(standings.features()) else ', with no penalty on them'}.",
        ),
        ("Ratings", f"{told}, among votes that are decided."),
        (
            "Intervals",
            f"The range in which the true rating lies with {level} confidence, against the mean of all items that "
            "votes link. Where every vote on an item went one way, only one end is known.",
        ),
        (
            "Ranks",
            f"The ranks that an item may have: it is clearly below so many, and clearly above so many. With {level} "
            "confidence all of these ranges hold at once, for every item (Mogstad, Romano, Shaikh and Wilhelm, 2024). "
            "“Clearly above” is meant in the same way.",
        ),
        (
            "Votes needed",
            "How many more votes on two items would tell them apart in four of five cases, beyond chance for all pairs "
            "at once, if they are as far apart as it seems now. It is a rough guess where they are close.",
        ),
    ]
    if look.understood:
        steps.insert(0, ("The file", f"{look.understood}."))
    if fit is not None:
        steps.append(("Held-out votes", _about_fit(fit)))
    return steps


def _about_votes(look: StandingsLook) -> str:
    standings = look.standings
    text = f"{counted(standings.n_votes_, 'vote')} on {counted(len(standings.items_), 'item')}"
    if "clustered by" in standings.how_:
        text += f", which hang together in clusters: there are {standings.n_units_:,} of these, of the kind with fewest"
    elif standings.n_units_ != standings.n_votes_:
        text += f"; by their weights they are worth {standings.n_units_:,} equal ones"
    return text + "."


def _about_fit(fit: FitCheck) -> str:
    kept = f", all votes of one {fit.by} in the same part" if fit.by else ""
    text = f"Votes were dealt into {fit.n_folds} parts{kept}; each part was predicted from the others."
    if fit.n_votes < fit.n_all:
        text += f" {fit.n_votes:,} of {fit.n_all:,} votes, drawn at random, took part."
    order = "in the order of the file" if fit.in_order else "in a random order, as the file has counts"
    text += (
        f" Elo saw the votes {order}, with K = {fit.k:g}, the best of three, and its differences were made into "
        "probabilities of win, tie and loss by a fit to later votes."
    )
    if fit.n_pulled:
        text += (
            f" In {fit.n_pulled} of the parts no finite ratings fitted; they were pulled together weakly there, for "
            "this check only."
        )
    return text
