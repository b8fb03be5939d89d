"""Words in common use: for who won a comparison, and for grades, whose order a person may mean.

What is said of grades here is only to advise a person, in errors; nothing is ever put in an order by it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

# --------------------------------------------------------------------------------------------------
# Outcomes of comparisons: those that are understood, and those that are recognised, to say what to do.


BOTH_BAD = frozenset(("tie (bothbad)", "tie(bothbad)", "tie (both bad)", "both_bad", "bothbad", "both bad", "both-bad"))
"""Ties in which neither was any good."""

WORDS: Mapping[str, int] = {
    **dict.fromkeys(("-1", "-1.0", "−1", ">", "left", "1-0", "model_a", "model a"), -1),
    **dict.fromkeys(
        ("0", "0.0", "=", "tie", "tied", "draw", "drawn", "equal", "same", "1/2-1/2", "½-½", "1/2", "½", *BOTH_BAD), 0
    ),
    **dict.fromkeys(("1", "1.0", "+1", "<", "right", "0-1", "model_b", "model b"), 1),
}
"""What is understood wherever two items are compared; ``<`` reads 'left is worse than right'. No word that leaves open
whose win it is, such as 'win'."""

AB = {"a": -1, "b": 1, "a wins": -1, "b wins": 1}
"""What is understood of two sides that are called left and right, or a and b."""

POINTS: Mapping[str, int] = {
    **dict.fromkeys(("1", "1.0", "+1"), -1),
    **dict.fromkeys(("0.5", ".5", "½", "1/2"), 0),
    **dict.fromkeys(("0", "0.0"), 1),
}
"""What the left one scored, as in chess: a win is a point, and a tie half of one."""


def are_points(said: Collection[str]) -> bool:
    """Say whether outcomes are points of the left one: ones, halves and noughts, with a half among them.

    A half leaves no doubt: where it is a tie, 1 and 0 are won and lost, and whoever writes points writes those of the
    one that stands first.

    Examples
    --------
    >>> from wellorder.order import are_points
    >>> are_points({"1", "0.5", "0"}), are_points({"1", "0"}), are_points({"1", "0.5", "-1"})
    (True, False, False)
    """
    return all(word in POINTS for word in said) and any(POINTS[word] == 0 for word in said)


HOW_TO_WRITE = (
    "write 1, < or right (right is better), -1, > or left (left is better), 0, = or tie (no difference), or the name "
    "of the better one"
)

TIES = frozenset(word for word, sign in WORDS.items() if sign == 0) - {"0", "0.0"} | {"both", "neither", "none"}
WINS = frozenset(
    ("win", "won", "loss", "lose", "lost", "left", "right", ">", "<", "1-0", "0-1", "model_a", "model_b", *AB)
)
"""How outcomes are written in common use."""

_SIDES = WINS - {"a", "b"} | {"home", "away", "home win", "away win"}
"""Those that can hardly be grades, some that are not understood included."""


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
    return said <= TIES | WINS | _SIDES and bool(said & _SIDES or (said & WINS and said & TIES))


# --------------------------------------------------------------------------------------------------
# Grades.


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
