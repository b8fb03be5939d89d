"""The sushi data as 'support vector comparison machines' uses them: 25,000 pairs, 14 features an item.

How the paper makes 5 pairs of a person's 10 scores is not said. Sorting the scores and pairing neighbours gives exactly
its 17,832 ties and 7,168 differences; pairing sushis as they are listed gives 16,570 differences.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from ..data import DataError
from ..sweeps import Floats
from .comparisons_simulation import Compared

_SCORED = 10

_CAPITALS = (
    *((43.06, 141.35), (40.82, 140.74), (39.70, 141.15), (39.72, 140.10), (38.27, 140.87), (38.24, 140.36)),
    *((37.75, 140.47), (37.90, 139.02), (36.34, 140.45), (36.57, 139.88), (36.39, 139.06), (35.86, 139.65)),
    *((35.61, 140.12), (35.69, 139.69), (35.45, 139.64), (35.66, 138.57), (34.98, 138.38), (36.65, 138.18)),
    *((35.18, 136.91), (35.39, 136.72), (36.70, 137.21), (36.59, 136.63), (36.07, 136.22), (35.00, 135.87)),
    *((34.73, 136.51), (35.02, 135.76), (34.69, 135.52), (34.69, 135.83), (34.23, 135.17), (34.69, 135.18)),
    *((34.66, 133.93), (34.40, 132.46), (35.50, 134.24), (35.47, 133.05), (34.19, 131.47), (33.84, 132.77)),
    *((34.34, 134.04), (34.07, 134.56), (33.56, 133.53), (33.61, 130.42), (32.74, 129.87), (33.25, 130.30)),
    *((32.79, 130.74), (31.56, 130.56), (31.91, 131.42), (33.24, 131.61), (26.21, 127.68)),
)
"""Latitude and longitude of the prefectures' capitals, by the data's own codes; 47 is abroad."""


def read_sushi(folder: Path) -> Compared:
    """Read a person's scores as pairs; each item is a sushi's 7 features and the person's 7, all standardised."""
    scores = _read(folder / "sushi3b.5000.10.score.gz", None)
    sushis = _read(folder / "sushi3.idata", tuple(range(2, 9)))
    people = _people(_read(folder / "sushi3.udata", (1, 2, 3, 4, 7)))
    rated = scores >= 0
    if len(scores) != len(people) or scores.shape[1] != len(sushis) or (rated.sum(axis=1) != _SCORED).any():
        raise DataError(str(folder), f"every person should have scored {_SCORED} of the sushis, one line a person")
    sushi = np.nonzero(rated)[1].reshape(-1, _SCORED)
    by_score = np.argsort(np.take_along_axis(scores, sushi, axis=1), axis=1, kind="stable")
    chosen = np.take_along_axis(sushi, by_score, axis=1).reshape(-1, 2)
    person = np.repeat(np.arange(len(people)), _SCORED // 2)
    score = scores[person[:, None], chosen]
    outcome = np.sign(score[:, 1] - score[:, 0]).astype(np.int64)
    features = np.concatenate([sushis[chosen], np.repeat(people[person][:, None], 2, axis=1)], axis=2)
    return Compared(_standardised(features), outcome)


def _people(columns: Floats) -> Floats:
    """Return gender, age, time, and where somebody grew up and lives: the middle of all places for abroad."""
    places = np.array(_CAPITALS)
    home = columns[:, 3:].astype(np.int64)
    known = home < len(places)
    at = np.where(known[:, :, None], places[np.where(known, home, 0)], places.mean(axis=0))
    return np.column_stack([columns[:, :3], at[:, 0], at[:, 1]])


def _standardised(pairs: Floats) -> Floats:
    rows = pairs.reshape(-1, pairs.shape[-1])
    spread = rows.std(axis=0)
    return np.asarray((pairs - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _read(path: Path, columns: tuple[int, ...] | None) -> Floats:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="latin-1") as lines:
            return np.loadtxt(lines, usecols=columns, delimiter="\t" if columns else None, ndmin=2)
    except OSError as error:
        raise DataError(str(path), f"the sushi data are not there: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(str(path), f"this is not a file of the sushi data: {error}") from None
