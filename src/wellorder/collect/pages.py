"""What judges and owners see: templates in which everything is escaped, and the words for how far it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..writing import counted, visible

_ASSETS = {
    "collect.css": "text/css",
    "icon.svg": "image/svg+xml",
    "judge.js": "text/javascript",
    "owner.js": "text/javascript",
}


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("wellorder.collect", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: visible(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def asset(name: str) -> tuple[str, str] | None:
    """Return a file that pages fetch, and its type; None if there is none of this name."""
    if name not in _ASSETS:
        return None
    templates = _templates()
    assert templates.loader is not None
    return templates.loader.get_source(templates, name)[0], _ASSETS[name]


def plain_page(title: str, text: str) -> str:
    """Return a page that says one thing."""
    return _templates().get_template("plain.html").render(title=title, text=text, depth="/")


# --------------------------------------------------------------------------------------------------
# The judges' page.


@dataclass(frozen=True)
class Page:
    """What is written on a judge's page before the first pair is there."""

    question: str
    judge: str


def judge_page(page: Page) -> str:
    """Return the page on which a judge decides."""
    return _templates().get_template("judge.html").render(page=page, depth="../../../")


def write_forecast(progress: Mapping[str, Any] | None, n_votes: int) -> dict[str, Any]:
    """Say how far it is, for a judge.

    Examples
    --------
    >>> from wellorder.collect.pages import write_forecast
    >>> write_forecast(None, 3)
    {'text': '3 votes so far', 'share': None, 'enough': False}
    >>> write_forecast({"done": False, "more": 118.2}, 40)["text"]
    '40 votes so far, about 120 to go'
    >>> write_forecast({"done": True, "more": 0.0}, 160)["text"]
    '160 votes: enough for a sure order'
    """
    if progress is not None and progress["done"]:
        return {"text": f"{counted(n_votes, 'vote')}: enough for a sure order", "share": 1.0, "enough": True}
    text, share = f"{counted(n_votes, 'vote')} so far" if n_votes else "no votes yet", None
    more = math.nan if progress is None else progress["more"]
    if math.isfinite(more):
        text += f", about {_roughly(more)} to go"
        share = n_votes / (n_votes + max(more, 1.0))
    return {"text": text, "share": share, "enough": False}


def _roughly(number: float) -> str:
    """Write a forecast with no more digits than it is worth."""
    number = max(number, 1.0)
    step = 10.0 ** (math.floor(math.log10(number)) - 1) if number >= 100 else 5.0 if number >= 20 else 1.0
    return f"{math.ceil(number / step) * step:,.0f}"


# --------------------------------------------------------------------------------------------------
# The owner's page.


@dataclass(frozen=True)
class Owned:
    """How a collection stands.

    Attributes
    ----------
    name, question : str
    n_items, n_votes : int
    judges : sequence of (name, votes, skipped, link)
    advice : mapping
        What :class:`Adviser` said last.
    """

    name: str
    question: str
    n_items: int
    n_votes: int
    judges: Sequence[tuple[str, int, int, str]]
    advice: Mapping[str, Any]

    @property
    def progress(self) -> Mapping[str, Any] | None:
        """How far it is."""
        found = self.advice.get("progress")
        return None if found is None else dict(found)

    @property
    def said(self) -> str:
        """How far it is, in words."""
        return str(write_forecast(self.progress, self.n_votes)["text"])


def owner_page(owned: Owned) -> str:
    """Return the page of the owner."""
    return _templates().get_template("owner.html").render(part=_part(owned), owned=owned, depth="../../")


def owner_part(owned: Owned) -> str:
    """Return what changes on the owner's page."""
    return _templates().get_template("standings.html").render(part=_part(owned), owned=owned)


@dataclass(frozen=True)
class _StandingLine:
    place: int
    item: str
    places: str
    votes: int
    low: float
    """Where the range of its places begins and ends, in hundredths of the width."""
    width: float
    shares: str


@dataclass(frozen=True)
class _JudgeRow:
    name: str
    votes: str
    skips: str
    link: str
    remark: str


def _part(owned: Owned) -> dict[str, Any]:
    advice = owned.advice
    rows = [_row(place, row, owned.n_items) for place, row in enumerate(advice.get("standings", ()), start=1)]
    checks = {str(row["judge"]): row for row in advice.get("judges", ())}
    judges = [
        _JudgeRow(name, f"{votes:,}", f"{skips:,}", link, _remark(checks.get(name)))
        for name, votes, skips, link in owned.judges
    ]
    forecast = write_forecast(owned.progress, owned.n_votes)
    progress = owned.progress or {}
    return {
        "rows": rows,
        "judges": judges,
        "forecast": forecast,
        "why": _sentence(progress.get("why", "")),
        "reached": _percent(progress.get("reached")),
        "reliability": _reliability(advice.get("reliability")),
        "behind": owned.n_votes - advice.get("n_votes", 0) if rows else 0,
        "error": advice.get("error", ""),
    }


def _row(place: int, row: Mapping[str, Any], n_items: int) -> _StandingLine:
    low, high = int(row["rank_low"]), int(row["rank_high"])
    decided = int(row["votes"])
    shares = (
        f"{row['won']:,} won, {row['tied']:,} equal, {decided - row['won'] - row['tied']:,} lost" if decided else ""
    )
    places = f"{low}" if low == high else f"{low}–{high}"
    return _StandingLine(
        place, row["item"], places, decided, 100 * (low - 1) / n_items, 100 * (high - low + 1) / n_items, shares
    )


def _remark(check: Mapping[str, Any] | None) -> str:
    if check is None:
        return ""
    if check["by_chance"]:
        return "answers as if by chance"
    share = _percent(check["agreement"])
    return f"agrees with the others in {share}" if share else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""


def _percent(share: Any) -> str:
    return f"{100 * share:.0f} %" if isinstance(share, int | float) and math.isfinite(share) else ""


def _reliability(found: Mapping[str, Any] | None) -> str:
    """Say how well the order would repeat itself."""
    if found is None:
        return ""
    share = _percent(found["split_half"]) or _percent(found["separation"])
    if not share:
        return "Too few of the votes were on pairs drawn at random to tell how well the order would repeat itself."
    return (
        f"If everything were judged anew, the two orders would agree to about {share} (by {found['n_random']:,} votes "
        "on pairs that were drawn at random)."
    )
