"""What the votes so far teach: standings, how far it is, and which pairs to ask next. In a process of its own."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from threading import Event, Thread
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..order import Comparisons
from ..processes import python_command
from ..sweeps import Floats
from .store import StoreError, look_into

Advice = Mapping[str, Any]
"""Plain values, as they travel between processes: ``pairs``, ``progress``, ``standings``, ``judges`` and so on."""

_RESTING = 2.0
"""So many times as long as a computation took, none is made after it: votes come first."""
_SHORTEST_REST = 0.3
_NICE = 10
_MOST_PAIRS = 1_000
_NEWS = 0.1
"""How reliable all of it is takes longest to find out: it is done again where this share of the votes is new."""
_CHECKS_REST = 2.0
"""So many times as long as that took, it is not done again: pairs to ask come first."""
_SIGNS = {"left": -1, "tie": 0, "right": 1}
_SHOWN = 300
"""Items of the live standings."""

# --------------------------------------------------------------------------------------------------
# The work itself.


@dataclass(frozen=True)
class Brief:
    """What an adviser goes by.

    Attributes
    ----------
    path : str
        The database.
    names : sequence of str
        The items.
    goal : str
        What the votes are for, as :func:`wellorder.next_pairs` takes it.
    per_pair : int
        How many judges may get the same pair.
    min_difference : float
        No pair is planned that is expected to be closer, in log-odds.
    features : sequence of sequences of numbers, optional
        Of the items.
    """

    path: str
    names: Sequence[str]
    goal: str = "rank"
    per_pair: int = 1
    min_difference: float = 0.0
    features: Sequence[Sequence[float]] | None = None


class Adviser:
    """Reads a database of votes again and again, and says what follows from it."""

    def __init__(self, brief: Brief) -> None:
        self._brief, self._names = brief, list(brief.names)
        self._beliefs: Any = None
        self._looked_at: tuple[Comparisons, list[str], list[str]] | None = None
        self._checks: dict[str, Any] = {}
        self._checked_at = -1
        self._next_check = -math.inf
        self._checking: Thread | None = None
        self._failed: Exception | None = None

    def advise(self, n_pairs: int, *, checked: bool = True) -> dict[str, Any]:
        """Return so many pairs to ask next, and how things stand; how reliably: by now, if ``checked``."""
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed
        found, known = look_into(self._brief.path, per_pair=self._brief.per_pair), set(self._names)
        rows = [row for row in found.votes if row[0] in known and row[1] in known]
        if not rows:
            return {"n_votes": 0, "pairs": []}
        left, right, outcome, judges, chosen = (list(column) for column in zip(*rows, strict=True))
        votes = Comparisons.from_names(left, right, [_SIGNS[each] for each in outcome])
        taken = [pair for pair in found.taken if known.issuperset(pair)]
        said = {"n_votes": len(rows), **self._plan(votes, taken, n_pairs)}
        self._looked_at = votes, judges, chosen
        if checked:
            self._check_if_new()
        return _plain(said | self._checks)  # type: ignore[no-any-return]

    def check_beside(self) -> Thread | None:
        """Begin to find out, in a thread, how reliable it is; not while that goes on, nor soon after.

        With many judges and votes it takes seconds, for which nobody is to wait for the next pairs. What goes wrong is
        said by the next answer.
        """
        busy = self._checking is not None and self._checking.is_alive()
        if busy or time.monotonic() < self._next_check:
            return None
        self._checking = Thread(target=self._check_and_rest, name="checks", daemon=True)
        self._checking.start()
        return self._checking

    def _check_and_rest(self) -> None:
        began = time.monotonic()
        try:
            self._check_if_new()
        except Exception as error:
            self._failed = error
        ended = time.monotonic()
        self._next_check = ended + _CHECKS_REST * (ended - began)

    def _check_if_new(self) -> None:
        """Find out how reliable it is, by the votes that were last looked at, where enough of them are new."""
        if self._looked_at is None:
            return
        looked_at = self._looked_at
        n_votes = len(looked_at[1])
        if self._checked_at < 0 or abs(n_votes - self._checked_at) >= _NEWS * n_votes:
            self._checks, self._checked_at = self._check(*looked_at), n_votes

    def scores(self) -> Floats:
        """Return what was last believed of each item: higher is better."""
        return np.asarray(self._beliefs.mean)

    def _plan(self, votes: Comparisons, taken: Sequence[tuple[str, str]], n_pairs: int) -> dict[str, Any]:
        from ..choosing import believe, choose_pairs, progress

        self._beliefs = believe(self._names, votes, features=self._brief.features, start=self._beliefs, random_state=0)
        batch = choose_pairs(
            self._beliefs,
            n_pairs,
            random_share=0.0,
            exclude=taken,
            goal=self._brief.goal,
            min_difference=self._brief.min_difference,
            random_state=0,
        )
        far = progress(self._beliefs, self._brief.goal)
        said = ("reached", "wanted", "done", "more", "more_low", "more_high", "why")
        return {
            "pairs": [list(pair) for pair in batch.pairs],
            "progress": self._within_reach({name: getattr(far, name) for name in said}, len(votes)),
            "standings": self._table(votes, far),
        }

    def _within_reach(self, far: dict[str, Any], n_votes: int) -> dict[str, Any]:
        """Forecast no more votes than there are pairs left to ask."""
        n = len(self._names)
        left = max(self._brief.per_pair * n * (n - 1) // 2 - n_votes, 0)
        if far["done"] or far["more"] <= left:
            return far
        limit = f"no more than {left:,} votes are left to ask for, unless --per-pair lets more judges have each pair"
        why = f"{far['why']}; {limit}"
        return far | {name: min(far[name], left) for name in ("more", "more_low", "more_high")} | {"why": why}

    def _table(self, votes: Comparisons, far: Any) -> list[dict[str, Any]]:
        """Return the items, the best first, as far as a page shows them."""
        n = len(self._names)
        assert votes.names is not None
        place = {name: number for number, name in enumerate(self._names)}
        number = np.array([place[name] for name in votes.names])
        left, right = number[votes.left], number[votes.right]
        count = np.bincount(left, minlength=n) + np.bincount(right, minlength=n)
        won = np.bincount(np.where(votes.outcome > 0, right, left)[votes.outcome != 0], minlength=n)
        tied = np.bincount(np.concatenate([left, right])[np.tile(votes.outcome == 0, 2)], minlength=n)
        return [
            {
                "item": self._names[each],
                "rank_low": far.rank_low[each],
                "rank_high": far.rank_high[each],
                "votes": count[each],
                "won": won[each],
                "tied": tied[each],
            }
            for each in np.argsort(-self._beliefs.mean, kind="stable")[:_SHOWN]
        ]

    def _check(self, votes: Comparisons, judges: list[str], chosen: list[str]) -> dict[str, Any]:
        """Say how reliable the order is, by pairs that no vote had a part in choosing, and how judges do."""
        from ..choosing import judge_checks, reliability

        sure = reliability(votes, np.array([each != "plan" for each in chosen]), random_state=0)
        several = len(set(judges)) > 1
        return {
            "reliability": {name: getattr(sure, name) for name in ("separation", "split_half", "n_random", "notes")},
            "judges": judge_checks(votes, judges, random_state=0).to_dicts() if several else [],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def advise_by_lines() -> None:
    """Read a :class:`Brief`, and then numbers of pairs, a line each; answer each number by a line.

    It ends when there are no more: then the other process has gone, however it went.
    """
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(_NICE)
    threadpool_limits(1)  # the other processors are for the judges
    import_module("wellorder.choosing")  # so that the first votes need not wait for it
    warnings.simplefilter("ignore")  # who sits before the collector has no use for them
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what others print is no answer
    adviser = Adviser(Brief(**json.loads(sys.stdin.readline())))
    for line in sys.stdin:
        try:
            answer = adviser.advise(int(line), checked=False)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
        adviser.check_beside()


# --------------------------------------------------------------------------------------------------
# Who asks for it, and when.


class Background:
    """Has the other process compute whenever votes have come, and hands on what it says.

    Votes never wait for it: until it has answered, pairs are given out by what it said last.

    Parameters
    ----------
    brief : Brief
    changes : function
        Returns how much has changed so far.
    hand_on : function
        Takes what the other process says.
    n_pairs : int
        How many pairs to ask for at least.
    """

    def __init__(
        self, brief: Brief, changes: Callable[[], int], hand_on: Callable[[Advice], object], *, n_pairs: int = 12
    ) -> None:
        self._brief, self._changes, self._hand_on, self._n_pairs = brief, changes, hand_on, n_pairs
        self._closing, self._changed = Event(), Event()
        self._process: subprocess.Popen[str] | None = None
        self._thread = Thread(target=self._run, name="background", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Say that votes have come."""
        self._changed.set()

    def close(self) -> None:
        """End it, and what it computes."""
        self._closing.set()
        self._changed.set()
        if self._process is not None:
            self._process.kill()
        self._thread.join()

    def _run(self) -> None:
        done = -1
        while not self._closing.is_set():
            self._changed.clear()
            began = time.monotonic()
            try:
                done = self._advise_since(done)
            except (sqlite3.Error, StoreError):  # somebody else holds the database, or it is gone: once more, later
                self._changed.set()
            rest = max(_SHORTEST_REST, _RESTING * (time.monotonic() - began))
            if not self._closing.wait(rest):
                self._changed.wait()
        self._end()

    def _advise_since(self, done: int) -> int:
        """Have advice on what has changed handed on, if anything has; return how much that is."""
        changes = self._changes()
        if changes != done:
            # enough for twice as many answers as came since the last time
            advice = self._ask(max(self._n_pairs, min(2 * (changes - done), _MOST_PAIRS)))
            if not self._closing.is_set():
                self._hand_on(advice)
        return changes

    def _ask(self, n_pairs: int) -> Advice:
        """Ask the other process; it is started when it is first needed, and again if it has ended."""
        try:
            process = self._start() if self._process is None or self._process.poll() is not None else self._process
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{n_pairs}\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
        except (OSError, ValueError):  # it has ended
            return {"error": "the computation has ended; it begins anew with the next vote"}
        assert isinstance(answer, dict)
        return answer

    def _start(self) -> subprocess.Popen[str]:
        """Start it. It learns of our end by the end of what it reads, and keeps nothing of ours open."""
        self._end()
        command = python_command("from wellorder.collect import advise_by_lines; advise_by_lines()")
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, encoding="utf-8")
        self._process = process
        assert process.stdin is not None
        process.stdin.write(json.dumps(asdict(self._brief)) + "\n")
        return process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
