"""MovieLens 100K as 'multipartite ranking' uses it: 97,139 ratings, 44 standardised predictors.

The paper leaves out ratings with incomplete data and those of six unusual users, without naming them. Its counts of
each rating single them out: the two films of unknown genre, and the only six users whose ratings make up the rest.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..data import DataError
from ..sweeps import Array, Floats

_UNKNOWN_FILMS = (267, 1373)
_UNUSUAL_USERS = (13, 181, 405, 445, 655, 774)
COUNTS = (5_039, 10_846, 26_448, 33_842, 20_964)
"""How many ratings of 1 to 5 the paper counts; the same are found here, or the files are others."""

_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"


class Ratings(NamedTuple):
    """One row a rating."""

    X: Floats
    """Age, gender (2), occupation (21), release year and time of year, genres (18); standardised."""
    rating: Array


def read_ratings(folder: Path) -> Ratings:
    """Read the ratings with what is known of user and film, less what the paper leaves out."""
    users, films = _users(folder / "u.user"), _films(folder / "u.item")
    path = folder / "u.data.gz"
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines:
            user, film, rating, _ = np.loadtxt(lines, dtype=np.int64, delimiter="\t", unpack=True)
    except (OSError, EOFError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from None
    kept = ~np.isin(film, _UNKNOWN_FILMS) & ~np.isin(user, _UNUSUAL_USERS)
    user, film, rating = user[kept], film[kept], rating[kept]
    counts = tuple(np.bincount(rating, minlength=6)[1:].tolist())
    if counts != COUNTS:
        raise DataError(str(path), f"has {counts} ratings of 1 to 5, and the paper {COUNTS}; is it MovieLens 100K?")
    X = np.hstack([users[user], films[film]])
    return Ratings((X - X.mean(axis=0)) / X.std(axis=0), rating)


def _users(path: Path) -> Floats:
    """Return age, gender and occupation by user number."""
    fields = _fields(path, 5)
    occupations = sorted({line[3] for line in fields})
    out = np.zeros((len(fields) + 1, 3 + len(occupations)))
    for number, age, gender, occupation, _ in fields:
        row = out[int(number)]
        row[0] = float(age)
        row[1 if gender == "F" else 2] = 1.0
        row[3 + occupations.index(occupation)] = 1.0
    return out


def _films(path: Path) -> Floats:
    """Return release year, time of year and genres (but 'unknown') by film number."""
    fields = _fields(path, 24)
    out = np.zeros((len(fields) + 1, 2 + 18))
    for line in fields:
        row = out[int(line[0])]
        if line[2]:
            day, month, year = line[2].split("-")
            row[:2] = float(year), _MONTHS.index(month) / 3 + float(day) / 31.0
        row[2:] = [float(flag) for flag in line[6:]]
    return out


def _fields(path: Path, n: int) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="latin-1").removesuffix("\n").split("\n")
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    fields = [line.split("|") for line in lines]
    for number, each in enumerate(fields, 1):
        if len(each) != n:
            raise DataError(str(path), f"line {number} has {len(each)} fields, not {n}")
    return fields
