"""Did you mean …? One way to end an error about an unknown name, whatever is named."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from .writing import visible

_SHOWN = 20


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was most likely meant, upper and lower case aside; None if none is near."""
    lower = {entry.lower(): entry for entry in known}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1, cutoff=0.6)
    return lower[near[0]] if near else None


def suggest(name: str, known: Iterable[str], what: str = "known are") -> str:
    """Return the nearest known name as a question, and the list of all: ``did you mean 'ph'? known are ph, sugar``."""
    listed = list(known)
    meant = nearest(name, listed)
    shown = ", ".join(map(visible, listed[:_SHOWN])) + (f", … ({len(listed):,} in all)" if len(listed) > _SHOWN else "")
    return (f"did you mean {meant!r}? " if meant else "") + f"{what} {shown}"
