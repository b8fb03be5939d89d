"""What the votes so far teach: standings, how far it is, and which pairs to ask next. In a process of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from threading import Event, Thread
from typing import Any

from ..data import BALLOTS

Advice = Mapping[str, Any]
"""Plain values, as they travel between processes: ``pairs``, ``progress``, ``standings``, ``judges`` and so on."""

_RESTING = 2.0
"""So many times as long as a computation took, none is made after it: votes come first."""
_SHORTEST_REST = 0.3
_NICE = 10
_SHOWN = 300
"""Items of the live standings."""

# --------------------------------------------------------------------------------------------------
# The work itself.


class Adviser:
    """Reads a database of votes again and again, and says what follows from it.

    Parameters
    ----------
    path : str
        The database.
    names : sequence of str
        The items.
    goal : str
        What the votes are for, as :func:`wellorder.next_pairs` takes it.
    """

    def __init__(self, path: str, names: Sequence[str], goal: str = "rank") -> None:
        self._path, self._names, self._goal = path, list(names), goal
        self._beliefs: Any = None

    def advise(self, taken: Sequence[tuple[str, str]], n_pairs: int) -> dict[str, Any]:
        """Return what to ask next, and how things stand.

        Parameters
        ----------
        taken : sequence of pairs of names
            What is not to be asked.
        n_pairs : int
            How many pairs to name.
        """
        rows = self._read()
        if not rows:
            return {"n_votes": 0, "pairs": []}
        from ..order import Comparisons

        left, right, outcome, judges, chosen = (list(column) for column in zip(*rows, strict=True))
        votes = Comparisons.from_names(left, right, outcome)
        found = {"n_votes": len(rows), **self._plan(votes, taken, n_pairs), **self._check(votes, judges, chosen)}
        return _plain(found)  # type: ignore[no-any-return]

    def _read(self) -> list[tuple[str, str, str, str, str]]:
        known = set(self._names)
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=30.0)) as connection:
            rows = connection.execute(f'SELECT "left", "right", outcome, judge, chosen FROM {BALLOTS}').fetchall()
        return [row for row in rows if row[0] in known and row[1] in known]

    def _plan(self, votes: Any, taken: Sequence[tuple[str, str]], n_pairs: int) -> dict[str, Any]:
        from ..choosing import believe, choose_pairs, progress

        self._beliefs = believe(self._names, votes, start=self._beliefs)
        batch = choose_pairs(self._beliefs, n_pairs, random_share=0.0, exclude=taken, goal=self._goal)
        far = progress(self._beliefs, self._goal)
        said = ("reached", "wanted", "done", "more", "more_low", "more_high", "why")
        return {
            "pairs": [list(pair) for pair in batch.pairs],
            "progress": {name: getattr(far, name) for name in said},
            "standings": self._table(votes, far),
        }

    def _table(self, votes: Any, far: Any) -> list[dict[str, Any]]:
        """Return the items, the best first, as far as a page shows them."""
        import numpy as np

        n = len(self._names)
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

    def _check(self, votes: Any, judges: list[str], chosen: list[str]) -> dict[str, Any]:
        import numpy as np

        from ..choosing import judge_checks, reliability

        sure = reliability(votes, np.array([each != "plan" for each in chosen]))
        several = len(set(judges)) > 1
        return {
            "reliability": {name: getattr(sure, name) for name in ("separation", "split_half", "n_random", "notes")},
            "judges": judge_checks(votes, judges).to_dicts() if several else [],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def advise_by_lines(path: str, goal: str) -> None:
    """Answer requests, one JSON value a line, until there are no more: the other process has gone, however it went."""
    with suppress(AttributeError, OSError):
        os.nice(_NICE)
    warnings.simplefilter("ignore")  # who sits before the collector has no use for them
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what others print is no answer
    adviser: Adviser | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            adviser = adviser or Adviser(path, request["names"], goal)
            answer = adviser.advise([tuple(pair) for pair in request["taken"]], request["n_pairs"])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


# --------------------------------------------------------------------------------------------------
# Who asks for it, and when.


class Background:
    """Has the other process compute whenever votes have come, and hands on what it says.

    Votes never wait for it: until it has answered, pairs are given out by what it said last.

    Parameters
    ----------
    path : path-like
        The database.
    request : function
        Returns the number of changes so far, and what the adviser is to be asked.
    hand_on : function
        Takes its answer.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        goal: str,
        request: Callable[[], tuple[int, dict[str, Any]]],
        hand_on: Callable[[Advice], object],
    ) -> None:
        self._command = [
            sys.executable,
            "-c",
            "import sys; from wellorder.collect import advise_by_lines; advise_by_lines(*sys.argv[1:])",
            os.path.abspath(path),
            goal,
        ]
        self._request, self._hand_on = request, hand_on
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
            changes, request = self._request()
            began = time.monotonic()
            if changes != done:
                answer = self._ask(request)
                if answer is not None and not self._closing.is_set():
                    self._hand_on(answer)
                    done = changes
            rest = max(_SHORTEST_REST, _RESTING * (time.monotonic() - began))
            if not self._closing.wait(rest):
                self._changed.wait()
        self._end()

    def _ask(self, request: dict[str, Any]) -> Advice | None:
        """Ask the other process; it is started when it is first needed, and again if it has ended."""
        if self._process is None or self._process.poll() is not None:
            self._end()
            # it is told of our end by the end of its input, and has no hold of ours
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline())
        except (OSError, ValueError):  # it has ended
            return {"error": "the computation has ended; it is started again with the next vote"}
        assert isinstance(answer, dict)
        return answer

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
