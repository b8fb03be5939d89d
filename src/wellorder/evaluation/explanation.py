"""What explains an order of two items, as values and as a person reads it."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import polars as pl

from ..writing import counted, visible
from .short_names import cut, cut_apart

_SHOWN = 10
"""Features that are written out one by one."""

_REASONS = 3
"""Features that are named as the reason."""

_SMALL = 0.1
"""A share of the first reason below which another is none."""

_LONGEST = 40
"""Letters of a name or a text value."""


@dataclass(frozen=True)
class Contribution:
    """What one feature adds to the difference of two scores.

    Attributes
    ----------
    feature : str
    a, b : float, str or None
        The two items' values; None where one is missing.
    contribution : float
        Positive where it speaks for a.
    standard_error : float
        Of an estimate; 0 where the contribution is exact.
    """

    feature: str
    a: float | str | None
    b: float | str | None
    contribution: float
    standard_error: float = 0.0


@dataclass(frozen=True)
class Explanation:
    """Why a stands above b, or below it.

    Attributes
    ----------
    a, b : str
        What the two items are called.
    score_a, score_b : float
    contributions : tuple of Contribution
        One a feature, the largest first; they add up to ``difference``.
    how : str
        How they were found: 'exact: …' or 'estimated: …'.
    threshold : float
        Scores that differ by so much or less are called no different by the model; 0 unless it learned from ties.
    probability : tuple of three floats or None
        P(a better), P(tie) and P(b better), where the model of comparisons has them.
    """

    a: str
    b: str
    score_a: float
    score_b: float
    contributions: tuple[Contribution, ...]
    how: str
    threshold: float = 0.0
    probability: tuple[float, float, float] | None = None

    @property
    def difference(self) -> float:
        """How far a's score is above b's."""
        return self.score_a - self.score_b

    @property
    def is_exact(self) -> bool:
        """Whether the contributions are computed, not estimated."""
        return self.how.startswith("exact")

    def headline(self) -> str:
        """Say in one sentence which of the two stands above, by how much, and mostly why."""
        a, b, d = write_value(self.a), write_value(self.b), self.difference
        if d == 0:
            return f"{a} and {b} have the same score, {self.score_a:.4g}."
        side = "above" if d > 0 else "below"
        told = f"{a} stands {side} {b} by {abs(d):.3g} ({self.score_a:.4g} against {self.score_b:.4g})"
        speaking = [each for each in self.contributions if each.contribution * d > 0]
        named = [c for c in speaking if abs(c.contribution) > _SMALL * abs(speaking[0].contribution)]
        short = self._short_names()
        reasons = [_write_reason(short[part.feature], part, self.write(part.contribution)) for part in named]
        return told + (f", mostly because of {'; '.join(reasons[:_REASONS])}." if reasons else ".")

    def notes(self) -> list[str]:
        """Say what else the model has to say of the two, and how the contributions were found."""
        found = []
        if 0 < abs(self.difference) <= self.threshold:
            found.append(f"The model calls them no different: scores up to {self.threshold:.3g} apart are a tie to it.")
        if self.probability is not None:
            better, tie, worse = (f"{100 * chance:.0f} %" for chance in self.probability)
            a, b = write_value(self.a), write_value(self.b)
            found.append(f"Probabilities: {a} better {better}, tie {tie}, {b} better {worse}.")
        return [*found, f"Contributions are {self.how}."]

    def table(self, top: int = _SHOWN) -> list[tuple[str, str, str, str]]:
        """Return the lines of a table as text: feature, value in a, value in b, contribution; the last is the sum."""
        n_shown = sum(each.contribution != 0 for each in self.contributions)
        n_shown = n_shown if n_shown <= top + 1 else top  # one more is shown rather than summed up as '1 other'
        shown, rest = self.contributions[:n_shown], self.contributions[n_shown:]
        short = self._short_names()
        lines = [(short[c.feature], write_value(c.a), write_value(c.b), self._write_part(c)) for c in shown]
        if rest:
            others = math.fsum(c.contribution for c in rest)
            lines.append((counted(len(rest), "other feature" if shown else "feature"), "", "", self.write(others)))
        return [*lines, ("all", "", "", self.write(self.difference))]

    def to_frame(self) -> pl.DataFrame:
        """Return the contributions as a data frame; values of items are written as text."""
        return pl.DataFrame(
            {
                "feature": [each.feature for each in self.contributions],
                "a": [None if each.a is None else str(each.a) for each in self.contributions],
                "b": [None if each.b is None else str(each.b) for each in self.contributions],
                "contribution": [each.contribution for each in self.contributions],
                "standard_error": [each.standard_error for each in self.contributions],
            },
            schema={
                "feature": pl.String,
                "a": pl.String,
                "b": pl.String,
                "contribution": pl.Float64,
                "standard_error": pl.Float64,
            },
        )

    def write(self, value: float) -> str:
        """Write a contribution, or a sum of some: all of one explanation to the same digit."""
        largest = abs(self.contributions[0].contribution) if self.contributions else 0.0
        return write_signed(value, max(largest, abs(self.difference)))

    def _short_names(self) -> dict[str, str]:
        """Return what each feature is called in a line, long names cut so that they stay apart."""
        names = [part.feature for part in self.contributions]
        return dict(zip(names, cut_apart([_in_one_line(name) for name in names], _LONGEST), strict=True))

    def _write_part(self, part: Contribution) -> str:
        error = f" ± {part.standard_error:.1g}" if part.standard_error > 0 else ""
        return self.write(part.contribution) + error

    def head(self) -> tuple[str, str, str, str]:
        """Return what stands above the columns of the table."""
        return "feature", write_value(self.a), write_value(self.b), "contribution"

    def __str__(self) -> str:
        """Write the sentence, the table and the notes."""
        lines = [self.head(), *self.table()]
        width = [max(len(line[place]) for line in lines) for place in range(4)]
        rows = [
            "  ".join([line[0].ljust(width[0]), *(line[place].rjust(width[place]) for place in (1, 2, 3))])
            for line in lines
        ]
        return "\n".join([self.headline(), "", *rows, "", *self.notes()])

    def _repr_html_(self) -> str:
        """Write the same for a notebook; every name and value is escaped."""
        head = _html_row("th", self.head())
        body = "".join(_html_row("td", line) for line in self.table())
        notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in self.notes())
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        return f"<div><p>{html.escape(self.headline())}</p>{table}{notes}</div>"


def write_value(value: float | str | None) -> str:
    r"""Write a name or a value in one short line.

    Examples
    --------
    >>> from wellorder.evaluation.explanation import write_value
    >>> [write_value(value) for value in (3.0, 0.12345678, 23456.7, "red\nwine", None)]
    ['3', '0.1235', '23457', 'red wine', 'missing']
    """
    if value is None:
        return "missing"
    if isinstance(value, str):
        return cut(_in_one_line(value), _LONGEST)
    whole = 1e4 <= abs(value) < 1e15 or value == round(value, 0)
    return f"{value:.0f}" if whole and abs(value) < 1e15 else f"{value:.4g}"


def write_signed(value: float, largest: float) -> str:
    """Write a contribution with its sign, to the digit that matters beside the largest.

    Examples
    --------
    >>> from wellorder.evaluation.explanation import write_signed
    >>> [write_signed(value, largest=1.5) for value in (1.234, -0.0678, 0.0001)]
    ['+1.23', '-0.07', '+0.00']
    """
    if value == 0:
        return "0"
    place = math.floor(math.log10(max(abs(value), abs(largest))))
    return f"{value:+.{max(0, 2 - place)}f}" if -5 <= place < 9 else f"{value:+.2e}"


def _write_reason(name: str, part: Contribution, written: str) -> str:
    """Write a feature, its two values and what they bring: ``price: 3.1 against 5 (+0.9)``."""
    return f"{name}: {write_value(part.a)} against {write_value(part.b)} ({written})"


def _in_one_line(text: str) -> str:
    return visible(" ".join(text.split()))


def _html_row(tag: str, cells: tuple[str, ...]) -> str:
    aligned = (f'<{tag} style="text-align:{"left" if place == 0 else "right"}">' for place in range(len(cells)))
    return (
        "<tr>"
        + "".join(f"{open_}{html.escape(cell)}</{tag}>" for open_, cell in zip(aligned, cells, strict=True))
        + "</tr>"
    )
