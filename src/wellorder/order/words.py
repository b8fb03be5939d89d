"""Grades in words: which order a person may mean by them, and which words are no grades but outcomes of votes.

Only to advise a person, in errors; nothing is ever put in an order by these.
"""

from __future__ import annotations

from collections.abc import Sequence

_SCALES = (
    (
        "awful",
        "very bad",
        "bad",
        "poor",
        "fair",
        "average",
        "ok",
        "acceptable",
        "good",
        "very good",
        "great",
        "excellent",
    ),
    ("none", "very low", "low", "mid", "med", "medium", "moderate", "high", "very high", "vhigh"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("tiny", "xs", "small", "s", "m", "medium", "l", "large", "xl", "huge"),
    ("unacc", "acc", "good", "vgood"),
    ("no", "maybe", "yes"),
)
"""Scales in common use, from worst to best."""

_MANY_TIES = ("both_bad", "bothbad", "both bad", "tie (bothbad)")
TIES = frozenset(
    ("tie", "tied", "draw", "drawn", "equal", "same", "both", "neither", "none", "=", "1/2-1/2", *_MANY_TIES)
)
_MODELS = ("model_a", "model_b", "a wins", "b wins")
WINS = frozenset(("left", "right", "win", "won", "loss", "lose", "lost", "a", "b", ">", "<", "1-0", "0-1", *_MODELS))
"""How outcomes are written in common use."""

_SIDES = WINS - {"a", "b"}
"""Those that can hardly be grades."""


def likely_order(values: Sequence[str]) -> list[str] | None:
    """Return values from worst to best where a scale in common use has them; the alphabet knows no better.

    Examples
    --------
    >>> from wellorder.order import likely_order
    >>> likely_order(["Good", "Bad", "Fair"]), likely_order(["gold", "silver", "bronze"])
    (['Bad', 'Fair', 'Good'], None)
    """
    for scale in _SCALES:
        if all(value.lower() in scale for value in values):
            return sorted(values, key=lambda value: scale.index(value.lower()))
    return None


def look_like_votes(values: Sequence[str]) -> bool:
    """Say whether values are words for who won a comparison: at least one for a side, and others for ties at most.

    Two words alone that may be school marks, a and b, do not count.

    Examples
    --------
    >>> from wellorder.order import look_like_votes
    >>> look_like_votes(["left", "tie", "right"]), look_like_votes(["a", "b", "tie"]), look_like_votes(["a", "b"])
    (True, True, False)
    """
    said = {value.lower() for value in values}
    return said <= TIES | WINS and bool(said & _SIDES or (said & WINS and said & TIES))
