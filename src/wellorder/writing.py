"""Numbers and names as a person reads them: the same in the terminal, in figures and in reports."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

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


def one_line(text: str) -> str:
    r"""Write a name in one line, with single spaces.

    Examples
    --------
    >>> from wellorder.writing import one_line
    >>> one_line("Château\n  d'Yquem")
    "Château d'Yquem"
    """
    return visible(" ".join(text.split()))


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


def write_metric(value: float, *, is_share: bool = False, digits: int = 3) -> str:
    """Write what a metric measured: a share in percent, another value with so many digits after the point.

    Examples
    --------
    >>> from wellorder.writing import write_metric
    >>> write_metric(0.2594, is_share=True), write_metric(0.71234), write_metric(1234.5), write_metric(float("nan"))
    ('25.9 %', '0.712', '1234', '–')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if is_share or math.isnan(value):
        return write_percent(value)
    return f"{value:.{digits}f}" if abs(value) < 100 else f"{value:.{digits + 1}g}"


_HUGE = 1e9
"""Scores from here on are written with a power of ten."""


def write_score(score: float) -> str:
    """Write a score, or its deviation.

    Examples
    --------
    >>> from wellorder.writing import write_score
    >>> write_score(0.71234), write_score(-1234.5), write_score(2.5e12)
    ('0.7123', '-1234.5000', '2.5e+12')
    """
    return f"{score:.4f}" if abs(score) < _HUGE else f"{score:.4g}"


def write_interval(low: float, high: float, *, is_share: bool = False) -> str:
    """Write an interval of a metric; nothing where it is not defined.

    Examples
    --------
    >>> from wellorder.writing import write_interval
    >>> write_interval(0.247, 0.271, is_share=True), write_interval(-0.1, 0.2), write_interval(float("nan"), 1.0)
    ('24.7–27.1 %', '-0.100 to 0.200', '')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    first, second = write_metric(low, is_share=is_share), write_metric(high, is_share=is_share)
    return f"{first.removesuffix(' %')}–{second}" if low >= 0 else f"{first} to {second}"


def write_ranks(low: int, high: int) -> str:
    """Write the ranks that an item may have.

    Examples
    --------
    >>> from wellorder.writing import write_ranks
    >>> write_ranks(3, 3), write_ranks(3, 1200)
    ('3', '3–1,200')
    """
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def write_p_value(p: float) -> str:
    """Write a p-value, with no more digits than it has meaning: three below 0.1, two from there on.

    Examples
    --------
    >>> from wellorder.writing import write_p_value
    >>> [write_p_value(p) for p in (0.00002, 0.0031, 0.047, 0.3, 1.0, float("nan"))]
    ['p < 0.001', 'p = 0.003', 'p = 0.047', 'p = 0.30', 'p = 1', 'not tested']
    """
    if math.isnan(p):
        return "not tested"
    if p < 0.001:
        return "p < 0.001"
    if p >= 0.995:
        return "p = 1"
    return f"p = {p:.{3 if p < 0.1 else 2}f}"


def write_params(params: Mapping[str, object]) -> tuple[str, ...]:
    """Write parameters one by one; those of an estimator inside by their own names.

    Examples
    --------
    >>> from wellorder.writing import write_params
    >>> write_params({"C": 10.0, "estimator__kernel": "rbf"})
    ('C = 10', 'kernel = rbf')
    """
    return tuple(
        f"{name.rpartition('__')[2]} = {f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in params.items()
    )


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
