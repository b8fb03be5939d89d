"""A collection of votes that goes on: the database and the desk, kept in step. One thread calls all of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any

from .desk import Desk
from .store import ANSWERS, Offer, Store

LONGEST_NOTE = 2_000
"""Characters of a note."""


class RefusedError(ValueError):
    """What a judge may not do; nothing was written."""


@dataclass(frozen=True)
class Turn:
    """What a judge is to see now.

    Attributes
    ----------
    offer : Offer or None
        The pair; None where none is left for this judge.
    note : str
        What the judge wrote on it, if the answer was taken back.
    mine, all : int
        Votes of this judge, and of everybody.
    can_undo : bool
        Whether there is an answer to take back.
    """

    offer: Offer | None
    note: str
    mine: int
    all: int
    can_undo: bool


class Collection:
    """What was asked, what is asked now, and what comes next.

    Parameters
    ----------
    store : Store
    names : sequence of str
        The items to be compared. The database may know others, whose votes it keeps.
    judges : sequence of str
        Those who are to have a link; the database may know more.
    per_pair : int, default=1
        How many judges may get the same pair.
    random_share : float, default=0.1
    random : Random, optional
        Where chance comes from; from the system unless given.
    """

    def __init__(
        self,
        store: Store,
        names: Sequence[str],
        judges: Sequence[str],
        *,
        per_pair: int = 1,
        random_share: float = 0.1,
        random: Random | None = None,
    ) -> None:
        self._store = store
        with store.transaction():
            self.items = dict(zip(store.number_items(names), names, strict=True))
            self.judges = store.number_judges(judges)
        self._chances = {
            "per_pair": per_pair,
            "random_share": random_share,
            "random": SystemRandom() if random is None else random,
        }
        self.advice: Mapping[str, Any] = {}
        self.changes = 0
        self.read()

    def read(self) -> None:
        """Read from the database how things stand: at the start, and after a transaction that failed."""
        self._desk = Desk(list(self.items), **self._chances)  # type: ignore[arg-type]
        self._open: defaultdict[int, dict[int, Offer]] = defaultdict(dict)
        self._notes: dict[int, str] = {}
        self._votes: Counter[int] = Counter()
        self._skips: Counter[int] = Counter()
        offers = list(self._store.offers())
        for offer in offers:
            self._desk.hold(offer)
            if offer.outcome is None:
                if self.items.keys() >= set(offer.pair):
                    self._open[offer.judge][offer.number] = offer
            else:
                self._count(offer, offer.outcome, 1)
        self._desk.begin(offers)

    # ----------------------------------------------------------------------------------------------
    # What judges do. Each is one transaction, with the next pair in it.

    def turn(self, judge: int) -> Turn:
        """Return what a judge is to see: the same until it is answered, however often it is asked for."""
        return self._turn(judge, self._current(judge) or self._give(judge))

    def answer(self, judge: int, number: int, outcome: str, note: str = "", seconds: float | None = None) -> Turn:
        """Take an answer, unless this offer has one already, and return what comes next."""
        if outcome not in ANSWERS:
            raise RefusedError(f"an answer is one of {', '.join(ANSWERS)}")
        if len(note) > LONGEST_NOTE:
            raise RefusedError(f"a note may have {LONGEST_NOTE:,} characters")
        offer = self._open[judge].get(number)
        if offer is not None:
            self._store.answer(number, outcome, note, seconds)
            del self._open[judge][number]
            self._notes.pop(number, None)
            self._count(offer, outcome, 1)
            if outcome == "skip":
                self._desk.let_go(offer)
            self.changes += 1
        elif not self._is_of(judge, number):
            raise RefusedError("this pair was not given to you; reload the page")
        return self.turn(judge)

    def undo(self, judge: int, number: int | None) -> Turn:
        """Take the last answer back, and show its pair again.

        ``number`` is the offer that the judge had on the screen: asked twice, only the first one undoes something.
        """
        current = self._current(judge)
        if (None if current is None else current.number) == number:
            last = self._store.last_answered(judge)
            if last is None:
                raise RefusedError("there is nothing to undo")
            assert last.outcome is not None
            if last.outcome == "skip" and self._desk.is_taken(last.pair):
                raise RefusedError("somebody else has the pair that you skipped, so that it cannot come back")
            note = self._store.take_back(last.number)
            self._count(last, last.outcome, -1)
            again = Offer(last.number, last.judge, last.left, last.right, last.chosen)
            self._desk.hold(again)
            if self.items.keys() >= set(again.pair):
                self._open[judge][again.number] = again
                self._notes[again.number] = note
            self.changes += 1
        return self.turn(judge)

    def _current(self, judge: int) -> Offer | None:
        offers = self._open[judge]
        return offers[min(offers)] if offers else None  # what was undone comes before what was shown then

    def _give(self, judge: int) -> Offer | None:
        given = self._desk.give(judge)
        self._store.mark_drawn(given.drawn)
        if given.sides is None:
            return None
        offer = self._store.offer(judge, *given.sides, given.chosen)
        self._desk.hold(offer)
        self._open[judge][offer.number] = offer
        return offer

    def _is_of(self, judge: int, number: int) -> bool:
        found = self._store.find(number)
        return found is not None and found.judge == judge

    def _count(self, offer: Offer, outcome: str, by: int) -> None:
        (self._skips if outcome == "skip" else self._votes)[offer.judge] += by

    def _turn(self, judge: int, offer: Offer | None) -> Turn:
        note = "" if offer is None else self._notes.get(offer.number, "")
        can_undo = self._votes[judge] + self._skips[judge] > 0
        return Turn(offer, note, self._votes[judge], self._votes.total(), can_undo)

    # ----------------------------------------------------------------------------------------------
    # What the standings teach, and what the owner sees.

    def follow(self, advice: Mapping[str, Any]) -> None:
        """Go by the latest standings: which pairs to ask next, and how many votes it may take yet.

        Where they name none, as before the first vote or after an error, what was planned stays.
        """
        pairs = advice.get("pairs", ())
        named = {name for pair in pairs for name in pair}
        number = {name: number for number, name in self.items.items() if name in named}
        if pairs:
            self._desk.follow((number[one], number[other]) for one, other in pairs if one in number and other in number)
        self.advice = advice

    def by_judge(self) -> list[tuple[int, str, int, int]]:
        """Return each judge's number and name, votes and skipped pairs."""
        return [(number, name, self._votes[number], self._skips[number]) for number, name in self.judges.items()]

    @property
    def n_votes(self) -> int:
        """How many votes count."""
        return self._votes.total()
