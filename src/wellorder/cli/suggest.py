"""Did you mean …?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name: the nearest known one, or all of them."""
    known = list(known)
    lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=0.5)
    return f"; did you mean {lower[near[0]]!r}?" if near else f"; there are {', '.join(known)}"
