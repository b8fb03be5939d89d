"""Numbers and names as a person reads them: the same in the terminal, in figures and in reports."""

from __future__ import annotations

import math
import re

NOTHING = "–"
"""What stands where there is no number."""

TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Marks that change the direction of the text after them."""

_UNSEEN = re.compile(f"[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff{TURNS}]")
"""Characters that a terminal obeys instead of showing them, or could not show: controls, other ends of lines, marks
that turn the text, and halves of characters, such as Python makes of file names that are no UTF-8."""


def visible(text: str, keep: str = "", *, as_json: bool = False) -> str:
    r"""Write out the characters of a name that a terminal would obey; all others stay as they are.

    Parameters
    ----------
    text : str
    keep : str, default=""
        Such characters that may stay, such as line ends between lines.
    as_json : bool, default=False
        Write them as JSON does: what reads JSON reads the same text as before.

    Examples
    --------
    >>> from wellorder.writing import visible
    >>> print(visible("Ca\x1b[31mbernet, Köln, 東京"))
    Ca\x1b[31mbernet, Köln, 東京
    """

    def written(found: re.Match[str]) -> str:
        if found[0] in keep:
            return found[0]
        return f"\\u{ord(found[0]):04x}" if as_json else repr(found[0])[1:-1]

    return _UNSEEN.sub(written, text)


def counted(n: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> from wellorder.writing import counted
    >>> counted(1, "row"), counted(1599, "row")
    ('1 row', '1,599 rows')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def write_percent(share: float, digits: int = 1) -> str:
    """Write a share as percent.

    Examples
    --------
    >>> from wellorder.writing import write_percent
    >>> write_percent(0.2594), write_percent(float("nan"))
    ('25.9 %', '–')
    """
    return f"{100 * share:.{digits}f} %" if math.isfinite(share) else NOTHING


def write_p_value(p: float) -> str:
    """Write a p-value, in words where it is next to nothing.

    Examples
    --------
    >>> from wellorder.writing import write_p_value
    >>> write_p_value(0.0123), write_p_value(3e-9)
    ('p = 0.012', 'p < 1e-6')
    """
    return "p < 1e-6" if p < 1e-6 else f"p = {p:.2g}"


def write_bytes(n_bytes: float) -> str:
    """Write an amount of memory.

    Examples
    --------
    >>> from wellorder.writing import write_bytes
    >>> [write_bytes(n) for n in (3.2e5, 4.56e7, 3.12e9, 5.2e10)]
    ['0.3 MB', '46 MB', '3.1 GB', '52 GB']
    """
    amount, unit = (n_bytes / 1e9, "GB") if n_bytes >= 9.995e8 else (n_bytes / 1e6, "MB")
    return f"{amount:,.{0 if amount >= 9.95 else 1}f} {unit}"


def write_seconds(seconds: float) -> str:
    """Write a time as a person would say it.

    Examples
    --------
    >>> from wellorder.writing import write_seconds
    >>> [write_seconds(seconds) for seconds in (0.0004, 0.123, 4.56, 83, 7322)]
    ['< 0.01 s', '0.12 s', '4.6 s', '1 min 23 s', '2 h 2 min']
    """
    if not math.isfinite(seconds):
        return NOTHING
    if seconds < 0.01:
        return "0 s" if seconds == 0 else "< 0.01 s"
    if seconds < 59.5:
        return f"{seconds:.{2 if seconds < 0.995 else 1 if seconds < 9.95 else 0}f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
