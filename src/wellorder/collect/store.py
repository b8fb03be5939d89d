"""The database of votes: what was offered to whom, and what came of it. Nothing is ever deleted from it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..data import APPLICATION, BALLOTS, VERSION

ANSWERS = ("left", "right", "tie", "skip")
"""What may come of a pair; skipped pairs are no votes."""

_TABLES = f"""
CREATE TABLE item (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE judge (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE offer (
  number INTEGER PRIMARY KEY,
  judge INTEGER NOT NULL REFERENCES judge,
  "left" INTEGER NOT NULL REFERENCES item,
  "right" INTEGER NOT NULL REFERENCES item CHECK ("left" <> "right"),
  chosen TEXT NOT NULL,
  at TEXT NOT NULL
);
CREATE TABLE answer (
  number INTEGER PRIMARY KEY,
  offer INTEGER NOT NULL REFERENCES offer,
  outcome TEXT NOT NULL CHECK (outcome IN {ANSWERS}),
  note TEXT NOT NULL,
  seconds REAL,
  at TEXT NOT NULL,
  undone TEXT
);
CREATE INDEX offers_of ON offer (judge);
CREATE UNIQUE INDEX one_answer ON answer (offer) WHERE undone IS NULL;
CREATE VIEW {BALLOTS} AS
  SELECT l.name AS "left", r.name AS "right", outcome, j.name AS judge, answer.at AS time, seconds, note, chosen
  FROM answer JOIN offer ON offer.number = answer.offer JOIN judge j ON j.number = offer.judge
  JOIN item l ON l.number = offer."left" JOIN item r ON r.number = offer."right"
  WHERE undone IS NULL AND outcome <> 'skip' ORDER BY answer.number;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""
"""``one_answer`` is why no vote is ever counted twice: an offer has one answer, or none, whoever asks how often."""


@dataclass(frozen=True)
class Offer:
    """A pair that was given to a judge.

    Attributes
    ----------
    number : int
        By which answers name it.
    judge, left, right : int
        Numbers of the judge and of the items on either side.
    chosen : str
        How it came to be: ``"opening"``, ``"plan"``, ``"random"``, or ``"drawn"``: planned, and drawn later on.
    outcome : str or None
        What came of it; None while it is open.
    """

    number: int
    judge: int
    left: int
    right: int
    chosen: str
    outcome: str | None = None

    @property
    def pair(self) -> tuple[int, int]:
        """The two items, whatever their sides."""
        return (self.left, self.right) if self.left < self.right else (self.right, self.left)


class StoreError(ValueError):
    """A database that cannot be used, with the reason and what to do."""


class Store:
    """One open database; a method is a statement or two. Whoever writes wraps it in :meth:`transaction`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except sqlite3.Error as error:
            self._db.close()
            raise StoreError(f"{self.path}: it cannot be used as a database of votes ({error})") from None
        except StoreError:
            self._db.close()
            raise
        self._identity = self._identify()

    def _prepare(self) -> None:
        application, version = (self._one(f"PRAGMA {name}") for name in ("application_id", "user_version"))
        is_new = self._one("SELECT count(*) FROM sqlite_master") == 0
        if not is_new and application != APPLICATION:
            raise StoreError(f"{self.path}: it is a database of something else; name another file with --into")
        if int(version) > VERSION:
            raise StoreError(f"{self.path}: a newer wellorder has written it (version {version}); update wellorder")
        self._db.execute("PRAGMA journal_mode = WAL")  # others read while votes are written
        self._db.execute("PRAGMA synchronous = FULL")  # what is committed is on the disk, not on its way
        self._db.execute("PRAGMA foreign_keys = ON")
        if is_new:
            self._db.executescript(f"BEGIN;{_TABLES}COMMIT;")

    def _one(self, statement: str, *values: object) -> Any:
        row = self._db.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def close(self) -> None:
        """Close it; then all of it is in its one file."""
        self._db.close()

    def _identify(self) -> tuple[int, int] | None:
        """Return what tells the file of our name from any other; None where there is none."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written within is on the disk when this ends, or none of it is."""
        if self._identify() != self._identity:  # what is written to a deleted file is lost when it is closed
            raise StoreError(f"{self.path}: it was deleted or replaced while votes were collected; put it back")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    # ----------------------------------------------------------------------------------------------
    # Items and judges.

    def number_items(self, names: Sequence[str]) -> list[int]:
        """Return the items' numbers; those that are new get one."""
        self._db.executemany("INSERT OR IGNORE INTO item (name) VALUES (?)", ((name,) for name in names))
        number = {name: number for number, name in self._db.execute("SELECT number, name FROM item")}
        return [number[name] for name in names]

    def number_judges(self, names: Sequence[str]) -> dict[int, str]:
        """Return the numbers and names of all judges; those that are new get one."""
        self._db.executemany("INSERT OR IGNORE INTO judge (name) VALUES (?)", ((name,) for name in names))
        return dict(self._db.execute("SELECT number, name FROM judge ORDER BY number"))

    def judges(self) -> dict[int, str]:
        """Return the numbers and names of all judges."""
        return dict(self._db.execute("SELECT number, name FROM judge ORDER BY number"))

    # ----------------------------------------------------------------------------------------------
    # Offers and answers.

    _OFFERS = (
        'SELECT offer.number, judge, "left", "right", chosen, outcome FROM offer '
        "LEFT JOIN answer ON answer.offer = offer.number AND undone IS NULL"
    )

    def offers(self) -> Iterator[Offer]:
        """Return all offers, in the order in which they were made."""
        return (Offer(*row) for row in self._db.execute(f"{self._OFFERS} ORDER BY offer.number"))

    def find(self, number: int) -> Offer | None:
        """Return an offer; None if there is none of this number."""
        row = self._db.execute(f"{self._OFFERS} WHERE offer.number = ?", (number,)).fetchone()
        return None if row is None else Offer(*row)

    def last_answered(self, judge: int) -> Offer | None:
        """Return what a judge has answered last and not taken back."""
        row = self._db.execute(
            f"{self._OFFERS} WHERE judge = ? AND answer.number IS NOT NULL ORDER BY answer.number DESC LIMIT 1",
            (judge,),
        ).fetchone()
        return None if row is None else Offer(*row)

    def offer(self, judge: int, left: int, right: int, chosen: str) -> Offer:
        """Write down that a pair is given to a judge."""
        cursor = self._db.execute(
            'INSERT INTO offer (judge, "left", "right", chosen, at) VALUES (?, ?, ?, ?, ?)',
            (judge, left, right, chosen, now()),
        )
        assert cursor.lastrowid is not None
        return Offer(cursor.lastrowid, judge, left, right, chosen)

    def mark_drawn(self, offers: Sequence[int]) -> None:
        """Write down that the pairs of offers that were planned have been drawn as well."""
        self._db.executemany("UPDATE offer SET chosen = 'drawn' WHERE number = ?", ((number,) for number in offers))

    def answer(self, offer: int, outcome: str, note: str, seconds: float | None) -> None:
        """Write down what came of an offer."""
        self._db.execute(
            "INSERT INTO answer (offer, outcome, note, seconds, at) VALUES (?, ?, ?, ?, ?)",
            (offer, outcome, note, seconds, now()),
        )

    def take_back(self, offer: int) -> str:
        """Mark the answer to an offer as undone, and return the note that it had."""
        note = self._one("SELECT note FROM answer WHERE offer = ? AND undone IS NULL", offer)
        self._db.execute("UPDATE answer SET undone = ? WHERE offer = ? AND undone IS NULL", (now(), offer))
        return str(note or "")


@dataclass(frozen=True)
class Snapshot:
    """What a database holds at one moment, read beside whoever writes it.

    Attributes
    ----------
    votes : list of (left, right, outcome, judge, chosen)
        Those that count, items and judges by name.
    taken : list of (str, str)
        The pairs that as many judges hold as may: nobody else is to get them.
    """

    votes: list[tuple[str, str, str, str, str]]
    taken: list[tuple[str, str]]


def look_into(path: str | os.PathLike[str], *, per_pair: int) -> Snapshot:
    """Read what was collected so far; nothing is written, and nobody waits."""
    with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=30.0)) as db:
        db.execute("BEGIN")  # both at one moment
        votes = db.execute(f'SELECT "left", "right", outcome, judge, chosen FROM {BALLOTS}').fetchall()
        taken = db.execute(
            'SELECT l.name, r.name FROM offer JOIN item l ON l.number = min("left", "right") '
            'JOIN item r ON r.number = max("left", "right") '
            "LEFT JOIN answer ON answer.offer = offer.number AND undone IS NULL "
            "WHERE outcome IS NULL OR outcome <> 'skip' GROUP BY 1, 2 HAVING count(DISTINCT judge) >= ?",
            (per_pair,),
        ).fetchall()
    return Snapshot(votes, taken)


def now() -> str:
    """Return the time as it is stored: UTC, in a form that ``--time`` reads."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
