"""What a data doctor says: facts, and findings with advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

Severity: TypeAlias = Literal["note", "warning", "problem"]
"""Worth knowing; likely to mislead; nothing can be learned until it is mended."""


@dataclass(frozen=True)
class Finding:
    """Something a person should know about the data before trusting a result."""

    severity: Severity
    what: str
    """One sentence: what was found, with numbers and the first places."""
    advice: str = ""
    """One sentence: what to do about it."""


@dataclass(frozen=True)
class Health:
    """All that the doctor found in one file."""

    source: str
    facts: tuple[tuple[str, str], ...]
    """(what, how much) in the order to be read, such as ("rows", "1,599")."""
    findings: tuple[Finding, ...]
    levels: tuple[tuple[str, int], ...] = ()
    """How many rows have each level, from worst to best; empty where the grades are many."""

    @property
    def is_fit(self) -> bool:
        """Whether there is anything to learn from."""
        return all(finding.severity != "problem" for finding in self.findings)

    def _repr_html_(self) -> str:
        """Write the facts and findings for a notebook; every name is escaped."""
        facts = "".join(html_row([what, how_much]) for what, how_much in self.facts)
        levels = "".join(html_row([level, f"{count:,}"]) for level, count in reversed(self.levels))
        found = "".join(
            f"<li><b>{escape(each.severity)}</b>: {escape(f'{each.what} {each.advice}'.strip())}</li>"
            for each in self.findings
        )
        return (
            f"<div><p><b>{escape(self.source)}</b></p><table><tbody>{facts}</tbody></table>"
            + (
                f"<table><thead>{html_row(['level', 'rows'], 'th')}</thead><tbody>{levels}</tbody></table>"
                if levels
                else ""
            )
            + (f"<ul>{found}</ul>" if found else "<p>Nothing was found that could mislead.</p>")
            + "</div>"
        )


def html_row(cells: Sequence[str], tag: str = "td") -> str:
    """Write one row of a table of a notebook, its first cell to the left, the others to the right."""
    aligned = ("left" if place == 0 else "right" for place in range(len(cells)))
    inside = (
        f'<{tag} style="text-align:{side}">{escape(cell)}</{tag}>' for side, cell in zip(aligned, cells, strict=True)
    )
    return f"<tr>{''.join(inside)}</tr>"


def listing(shown: Sequence[str], n: int) -> str:
    """Write the first few of n things, and that there are more."""
    return ", ".join(shown) + (", …" if n > len(shown) else "")
