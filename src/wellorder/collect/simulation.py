"""Simulated judges before the same collector: how many votes it will take."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

import numpy as np

from ..choosing import SimulatedJudges
from ..data import NAME_COLUMNS, DataError, as_text, one_sheet, settle
from ..metrics import kendall_tau
from .advice import Advice, Adviser
from .collection import Collection
from .items import Items
from .serving import Setting, brief_of, open_collection

_WORDS = {-1: "left", 0: "tie", 1: "right"}


def read_truth(path: str | os.PathLike[str], names: Sequence[str]) -> dict[str, float]:
    """Read what each item is worth: a row an item, its name, and a number in the column truth, or else the only one.

    Numbers are log-odds: of two items that are 1 apart, the better one gets 73 % of the votes that are decided.
    """
    sheet = one_sheet(path)
    columns = sheet.frame.columns
    name = next((each for each in NAME_COLUMNS if each in columns), columns[0])
    others = [each for each in columns if each != name and settle(sheet, each).dtype.is_numeric()]
    if "truth" not in others and len(others) != 1:
        raise sheet.error(f"{len(others)} of its columns hold numbers; call the one with what items are worth truth")
    column = "truth" if "truth" in others else others[0]
    found = dict(zip(as_text(sheet, name).to_list(), settle(sheet, column).to_list(), strict=True))
    for each in names:
        if found.get(each) is None:
            raise DataError(os.fspath(path), f"it does not say what the item {each!r} is worth (column {column!r})")
    return {each: found[each] for each in names}


@dataclass(frozen=True)
class SimulatedStep:
    """How it stands after so many votes.

    Attributes
    ----------
    n_votes : int
    tau : float
        Kendall's τ between the standings and the truth.
    reached : float
        How far it is, as the votes themselves have it.
    more : float
        How many more it expects to take.
    why : str
        The same in words.
    """

    n_votes: int
    tau: float
    reached: float
    more: float
    why: str


def simulate_into(
    path: str | os.PathLike[str],
    items: Items,
    setting: Setting,
    truth: Mapping[str, float],
    *,
    n_votes: int | None = None,
    seed: int = 0,
) -> Iterator[SimulatedStep]:
    """Have simulated judges answer what the collector asks; the votes are kept like others, and each step is told.

    Parameters
    ----------
    path : path-like
        The database.
    items : Items
    setting : Setting
        There are as many simulated judges as it has; they differ a little, tire, and lean to a side.
    truth : mapping
        What each item is worth.
    n_votes : int, optional
        How many; until the goal is reached unless given.
    seed : int
    """
    random = Random(seed)
    chances = {**setting.chances, "random": random}
    judges = SimulatedJudges(truth, len(setting.judges), random_state=seed)
    adviser = Adviser(brief_of(path, items, setting))
    most = len(items) * (len(items) - 1) // 2 * setting.per_pair
    batch = max(len(items) // 2, 8)
    with open_collection(path, items, replace(setting, chances=chances)) as (keeper, _):
        done = 0
        while done < (most if n_votes is None else n_votes):
            n_asked = batch if n_votes is None else min(batch, n_votes - done)
            given = keeper.ask(partial(_answer, judges=judges, setting=setting, random=random, n=n_asked)).result()
            done += given
            advice = adviser.advise(batch + 4 * len(setting.judges), checked=False)
            keeper.ask(partial(Collection.follow, advice=advice)).result()
            yield _step(advice, adviser, items, truth)
            if given < n_asked or (n_votes is None and advice["progress"]["done"]):
                return


def _answer(collection: Collection, judges: SimulatedJudges, setting: Setting, random: Random, n: int) -> int:
    """Have judges, drawn at random, answer n pairs; return how many there were."""
    number = {name: each for each, name in collection.judges.items()}
    waiting = list(range(len(setting.judges)))
    for done in range(n):
        while waiting:
            place = random.choice(waiting)
            judge = number[setting.judges[place]]
            offer = collection.turn(judge).offer
            if offer is not None:
                break
            waiting.remove(place)
        else:
            return done
        left, right = collection.items[offer.left], collection.items[offer.right]
        collection.answer(judge, offer.number, _WORDS[judges.answer(left, right, place)])
    return n


def _step(advice: Advice, adviser: Adviser, items: Items, truth: Mapping[str, float]) -> SimulatedStep:
    worth = np.array([truth[name] for name in items.names])
    far = advice["progress"]
    return SimulatedStep(
        advice["n_votes"], kendall_tau(worth, adviser.scores()), far["reached"], far["more"], far["why"]
    )
