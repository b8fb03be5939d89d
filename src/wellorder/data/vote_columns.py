"""Which columns of a file say who was compared with whom, and who won: as options name them, else by their own names.

A file that could be read in two ways is refused, with both of them named; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import polars as pl

from ..order import AB, HOW_TO_WRITE, POINTS, TIES, WINS, WORDS, are_points
from .lines import DataError
from .sheet import Sheet, as_text

# --------------------------------------------------------------------------------------------------
# How such columns are called in common use; letters may be large or small, and words run together or be parted.


@lru_cache(4096)  # of a file's columns, and of the hundred names that are looked for among them
def _plain(name: str) -> str:
    """Return a column's name as it is compared: HomeTeam, Home Team and home_team are one."""
    return re.sub(r"[\W_]+", "", name).lower()


_THINGS = ("model", "item", "candidate", "player", "team", "system", "method", "name", "id")
_ENDS = (("a", "b"), ("x", "y"), ("1", "2"), ("left", "right"))
_HOME = ("", "_team", "_club", "_player", "_name", "_team_name", "_id", "_team_id")
_POINTS = ("score", "goals", "points", "team_score", "team_goals", "runs")

SIDES: tuple[tuple[str, str], ...] = (
    ("left", "right"),
    *((f"{thing}_{one}", f"{thing}_{other}") for thing in _THINGS for one, other in _ENDS),
    *((f"left_{thing}", f"right_{thing}") for thing in _THINGS),
    *((f"home{what}", f"away{what}") for what in _HOME),
    *((f"white{what}", f"black{what}") for what in ("", "_player", "_name", "_id")),
)
"""Pairs of columns with the two items that were compared."""
VERDICTS = ("outcome", "winner")
"""Columns that say which of the two won."""
RESULT = "result"
"""A column that also says who won, if its words are 1-0, 0-1 and 1/2-1/2, or the names of the two columns."""
FLAG, FLAG_OF_TIES = "winner_", "winner_tie"
"""Columns of ones and zeros: winner_model_a, winner_model_b and winner_tie of model_a and model_b."""
WON: tuple[tuple[str, str], ...] = (
    ("winner", "loser"),
    ("winner_name", "loser_name"),
    ("candidate_chosen", "candidate_not_chosen"),
    ("chosen", "rejected"),
)
"""Pairs of columns with who won and who lost."""
SCORES: tuple[tuple[str, str], ...] = (
    *((f"home_{what}", f"away_{what}") for what in _POINTS),
    *((f"{what}_home", f"{what}_away") for what in _POINTS),
    ("fthg", "ftag"),
)
"""What the home team and the away team scored."""


_SPELLED = {_plain(name): name for pair in (*SIDES, *WON, *SCORES, VERDICTS, (RESULT,)) for name in pair}
"""Every name that is recognised, by its plain form."""


# --------------------------------------------------------------------------------------------------
# What the user has said, and what follows.


@dataclass(frozen=True)
class VoteColumns:
    """The columns of comparisons that the user has named."""

    left: str | None = None
    right: str | None = None
    outcome: str | None = None
    winner: str | None = None
    loser: str | None = None
    scores: tuple[str, str] | None = None

    def given(self) -> dict[str, str | tuple[str, str]]:
        """Return what is named, each with the option that names it."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {option: name for option, name in found.items() if name is not None}

    def check(self, sheet: Sheet) -> None:
        """Refuse names that the file does not have, a column that is named twice, and options that exclude another."""
        option_of: dict[str, str] = {}
        for option, value in self.given().items():
            for name in (value,) if isinstance(value, str) else value:
                sheet.column(name, option)
                if name in option_of:
                    raise sheet.error(f"the column {name!r} is named twice, by {option_of[name]}= and by {option}=")
                option_of[name] = option
        given = set(self.given())
        for one, others in (
            ("winner", "left right outcome scores"),
            ("loser", "left right scores"),
            ("scores", "outcome"),
        ):
            beside = [other for other in others.split() if other in given]
            if one in given and beside:
                raise sheet.error(f"{one}= and {beside[0]}= are two ways to say who won; leave one of them out")
        if len({"left", "right"} & given) == 1:
            raise sheet.error(
                f"{(given & {'left', 'right'}).pop()}= names one of the two compared; give left= and right="
            )


def as_scores(columns: Sequence[str] | None) -> tuple[str, str] | None:
    """Check the option that names two columns."""
    if columns is None:
        return None
    if isinstance(columns, str) or len(columns) != 2:
        given = columns if isinstance(columns, str) else list(columns)
        raise ValueError(
            f"scores={given!r} should name two columns: what the left one scored, and what the right one did"
        )
    return columns[0], columns[1]


@dataclass(frozen=True)
class Way:
    """One way to read comparisons: the two that were compared, and where it is said who won.

    Attributes
    ----------
    left, right : str
        The columns of the two.
    verdict : str or None
        The column that says which of them won.
    scores : pair of str or None
        The columns of what they scored: more is better.
    first_wins : bool
        Whether left is the column of winners, and right that of losers.
    flags : three of str or None
        The columns with a 1 where the left one won, where the right one did, and where they tied.
    """

    left: str
    right: str
    verdict: str | None = None
    scores: tuple[str, str] | None = None
    first_wins: bool = False
    flags: tuple[str, str, str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it looks at."""
        verdict = () if self.verdict is None else (self.verdict,)
        return (self.left, self.right, *verdict, *(self.scores or ()), *(self.flags or ()))

    @property
    def is_judged(self) -> bool:
        """Whether it says who won."""
        return self.first_wins or len(self.columns) > 2

    def __str__(self) -> str:
        if self.first_wins:
            return f"{self.left} above {self.right}"
        pair = f"{self.left} against {self.right}"
        if self.scores is not None:
            return f"{pair}, by {self.scores[0]} and {self.scores[1]}"
        if self.flags is not None:
            return f"{pair}, by {self.flags[0]}, {self.flags[1]} and {self.flags[2]}"
        return pair if self.verdict is None else f"{pair}, outcome in {self.verdict}"

    @property
    def places(self) -> tuple[str, str]:
        """How the names of the two columns differ: those of home_team and away_team are home and away."""
        one, other = (_parted(name).split("_") for name in (self.left, self.right))
        apart = "_".join(word for word in one if word not in other), "_".join(word for word in other if word not in one)
        return apart if all(apart) else ("_".join(one), "_".join(other))

    def own_words(self) -> dict[str, int]:
        """Return the words for outcomes that go by the columns' own names."""
        own = {"h": -1, "d": 0, "a": 1} if self.places == ("home", "away") else {}
        for sign, name, place in zip((-1, 1), (self.left, self.right), self.places, strict=True):
            own |= dict.fromkeys((name.lower(), _parted(name), place), sign)
        return own

    def words(self, said: Iterable[str]) -> Mapping[str, int]:
        """Return all words for outcomes, given which ones the file has: 1, 0.5 and 0 are points of the left one.

        Raises
        ------
        ValueError
            If 1 may be the first of two that are called 1 and 2, or say that the second one is better.
        """
        own, given = self.own_words(), set(said)
        if are_points(given):
            return POINTS
        if self.places == ("1", "2") and "1" in given and "-1" not in given:
            if "2" not in given:
                raise ValueError(
                    f"1 in column {self.verdict!r} could be read in two ways, as {self.left} and as 'the right one is "
                    "better'; write left, right and tie"
                )
            return {**WORDS, **own}
        general = {**WORDS, **AB} if self.places in (("left", "right"), ("a", "b")) else WORDS
        return {**general, **{word: sign for word, sign in own.items() if not word.isdigit()}}


def _parted(name: str) -> str:
    """Return a name in small letters with its words parted by underscores: as it is spelled here, if it is."""
    if _plain(name) in _SPELLED:
        return _SPELLED[_plain(name)]
    return re.sub(r"[\W_]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


def find_comparisons(sheet: Sheet, named: VoteColumns, drop: Iterable[str] = ()) -> Way | None:
    """Return the way to read a file's comparisons; None if it has no columns of any.

    Parameters
    ----------
    sheet : Sheet
    named : VoteColumns
        What the user has said.
    drop : iterable of str
        Columns that the user wants to leave out: of two ways, the one that needs none of these is meant.

    Raises
    ------
    DataError
        If there are two ways, or if what is named does not suffice.
    """
    named.check(sheet)
    ways = _ways(sheet, named)
    if not ways and named.given():
        raise sheet.error(_what_lacks(named))
    return _the_one(sheet, ways, set(drop))


def find_sides(sheet: Sheet, named: VoteColumns) -> Way | None:
    """Return the way to read pairs of items, whether or not anybody has compared them; None if there are none."""
    named.check(sheet)
    ways = _ways(sheet, named) or [Way(*pair) for pair in _sides(_by_plain_name(sheet), named)]
    if not ways and named.given():
        raise sheet.error(_what_lacks(named))
    return ways[0] if len({(way.left, way.right) for way in ways}) == 1 else _the_one(sheet, ways, set())


def _ways(sheet: Sheet, named: VoteColumns) -> list[Way]:
    """Return every way to read the file that agrees with what the user has said."""
    has, given = _by_plain_name(sheet), set(named.given())
    if given & {"winner", "loser"}:  # one of the two may go without saying
        winner, loser = named.winner or has.get("winner"), named.loser or has.get("loser")
        return [] if winner is None or loser is None else [Way(winner, loser, first_wins=True)]
    found = [] if given else [Way(*pair, first_wins=True) for pair in _pairs(has, WON)]
    spoken_of: list[Way] = []
    for pair in _sides(has, named):
        if named.outcome is not None:
            found.append(Way(*pair, verdict=named.outcome))
        elif named.scores is not None:
            found.append(Way(*pair, scores=named.scores))
        else:
            free = {plain: name for plain, name in has.items() if name not in pair}
            found += [Way(*pair, verdict=free[name]) for name in VERDICTS if name in free]
            if "left" in given or _plain(pair[0]).startswith("home"):
                found += [Way(*pair, scores=scores) for scores in _pairs(free, SCORES)]
            found += _by_flags(sheet, pair)
            if RESULT in free and _says_who_won(sheet, Way(*pair, verdict=free[RESULT])):
                spoken_of.append(Way(*pair, verdict=free[RESULT]))
    return found or spoken_of


def _by_flags(sheet: Sheet, pair: tuple[str, str]) -> list[Way]:
    """Return the way to read columns of ones and zeros, one for each of the two and one for ties."""
    names = {_plain(name): name for name in sheet.frame.columns}
    found = [names.get(_plain(name)) for name in (FLAG + pair[0], FLAG + pair[1], FLAG_OF_TIES)]
    left, right, tie = found
    return [] if left is None or right is None or tie is None else [Way(*pair, flags=(left, right, tie))]


def _says_who_won(sheet: Sheet, way: Way) -> bool:
    """Say whether a column holds nothing but words for who won, at least one of them for a side."""
    said = {str(word).strip().lower() for word in as_text(sheet, str(way.verdict)).drop_nulls().unique()}
    words = {**WORDS, **way.own_words()}
    return said <= set(words) and any(words[word] for word in said)


def _by_plain_name(sheet: Sheet) -> dict[str, str]:
    """Return the columns that may be recognised; of several with one plain name the one that is spelled as here."""
    names: dict[str, list[str]] = {}
    for name in sheet.frame.columns:
        names.setdefault(_plain(name), []).append(name)
    return {
        plain: _SPELLED[plain] if _SPELLED[plain] in found else found[0]
        for plain, found in names.items()
        if plain in _SPELLED and (len(found) == 1 or _SPELLED[plain] in found)
    }


def _pairs(has: Mapping[str, str], spellings: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    pairs = [(has.get(_plain(one)), has.get(_plain(other))) for one, other in spellings]
    return list(dict.fromkeys((one, other) for one, other in pairs if one is not None and other is not None))


def _sides(has: Mapping[str, str], named: VoteColumns) -> list[tuple[str, str]]:
    if named.left is not None and named.right is not None:
        return [(named.left, named.right)]
    taken = {named.outcome, *(named.scores or ())}
    return [pair for pair in _pairs(has, SIDES) if not taken & set(pair)]


def _what_lacks(named: VoteColumns) -> str:
    given = named.given()
    if "left" in given:
        return (
            "left= and right= name the two that were compared; name the column that says who won with outcome=, or "
            "those of what they scored with scores="
        )
    if "winner" in given or "loser" in given:
        return (
            "winner= and loser= name the columns of those who won and of those who lost; give both. A column that says "
            "which of two others won is named with outcome="
        )
    return f"{next(iter(given))}= says who won; name the columns of the two that were compared with left= and right="


def _the_one(sheet: Sheet, ways: list[Way], drop: set[str]) -> Way | None:
    """Return the only way; of several, the one without columns to drop, or whose columns the verdicts name."""
    if len(ways) > 1:
        ways = [way for way in ways if not drop.intersection(way.columns)] or ways
    if len(ways) > 1:
        ways = _by_verdict(sheet, ways)
    if len(ways) > 1:
        raise sheet.error(
            f"it could be read in {'two' if len(ways) == 2 else len(ways)} ways: {'; or '.join(map(str, ways))}. Say "
            "which with left=, right= and outcome= (or scores=), or with winner= and loser=; or leave columns out with "
            "drop="
        )
    return ways[0] if ways else None


def _by_verdict(sheet: Sheet, ways: list[Way]) -> list[Way]:
    """Return the ways whose own columns the verdict names: 'left' is the column left, whatever others there are."""
    verdicts = {way.verdict for way in ways}
    if len(verdicts) > 1 or None in verdicts:
        return ways
    written = as_text(sheet, str(ways[0].verdict))
    decided = {str(word).lower() for word in written.drop_nulls().unique()} - TIES
    return [way for way in ways if decided and decided <= set(way.own_words())] or ways


# --------------------------------------------------------------------------------------------------
# What is no grade.


def refuse_as_grades(sheet: Sheet, target: str) -> None:
    """Refuse a target that says who of two items is better: as levels, its words would be put in some order."""
    pairs = [pair for pair in _pairs(_by_plain_name(sheet), SIDES) if target not in pair]
    if not pairs:
        return
    written = as_text(sheet, target).fill_null("tie")
    if written.cast(pl.Float64, strict=False).is_not_null().any():  # numbers may be grades, whatever is beside them
        return
    said = written.str.to_lowercase()
    is_tie = said.is_in(list(TIES))
    if is_tie.all():
        return
    for pair in pairs:
        way = Way(*pair, verdict=target)
        sides = [as_text(sheet, side).fill_null("") for side in pair]
        names_one = ((written == sides[0]) | (written == sides[1])) & (sides[0] != sides[1])
        if (is_tie | said.is_in([*WINS, *way.own_words()])).all() or (is_tie | names_one).all():
            raise _is_verdict(sheet, way, said)


def _is_verdict(sheet: Sheet, way: Way, said: pl.Series) -> DataError:
    target = str(way.verdict)
    name = "" if _plain(target) in VERDICTS else f", name the column with outcome={target!r}"
    understood = said.is_in(list(way.words(said.unique()))).all()
    write = "" if understood else f", and {HOW_TO_WRITE}"
    return sheet.error(
        f"the column {target!r} says which of {way.left} and {way.right} is better, and is no grade; leave target= "
        f"out{name}{write}: the file is then read as comparisons, for 'wellorder rate' (a list of the items, and how "
        "sure it is), 'fit' and 'compare'"
    )
