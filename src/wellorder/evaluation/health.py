"""What a data doctor says: facts, and findings with advice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def listing(shown: Sequence[str], n: int) -> str:
    """Write the first few of n things, and that there are more."""
    return ", ".join(shown) + (", …" if n > len(shown) else "")
