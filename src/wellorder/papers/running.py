"""Running a paper's experiments: in parallel, each record kept as soon as it is made, going on from those kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from joblib import Parallel, delayed

from ..evaluation import Record, RecordFile, versions
from ..sweeps import prefer_compiled

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with what is done, what is planned, and what was last."""


@dataclass(frozen=True)
class Piece:
    """Records of several methods that are made in one go, because they share rows, kernels or a search."""

    name: str
    """What a person sees go by."""
    keys: Mapping[str, str]
    """The key of each method's record."""
    make: Callable[[list[str]], Sequence[Record]]
    """Makes the records of the methods that are missing."""


def run_pieces(
    pieces: Sequence[Piece],
    kept: RecordFile,
    n_jobs: int,
    progress: Progress | None = None,
    figures: Mapping[str, Callable[[], Any]] | None = None,
) -> tuple[tuple[Record, ...], dict[str, Any]]:
    """Return the records of all pieces, in their order, and the figures by name: those are never kept, but made anew.

    Pieces are begun in the order given (put the longest first) and may end in any.
    """
    figures = figures or {}
    keys = [key for piece in pieces for key in piece.keys.values()]
    found = {key: kept[key] for key in keys if key in kept}
    drawn: dict[str, Any] = {}
    jobs = [delayed(_draw)(name, make) for name, make in figures.items()]
    for piece in pieces:
        missing = [method for method, key in piece.keys.items() if key not in kept]
        if missing:
            jobs.append(delayed(_make)(piece, missing))
    for name, records, figure in Parallel(n_jobs=n_jobs, return_as="generator_unordered", mmap_mode="r")(jobs):
        for record in records:
            kept.append(record)
            found[record.key] = record
        if not records:
            drawn[name] = figure
        if progress is not None:
            progress(len(found) + len(drawn), len(keys) + len(figures), name)
    return tuple(found[key] for key in keys), drawn


def record_key(home: str, *made_by: object) -> str:
    """Return a record's key: its place in the experiments, and a digest of how it is made and by which versions."""
    digest = hashlib.blake2b(repr((*made_by, versions())).encode(), digest_size=12)
    return f"{home}/{digest.hexdigest()}"


def _draw(name: str, make: Callable[[], Any]) -> tuple[str, Sequence[Record], Any]:
    with prefer_compiled():
        return name, (), make()


def _make(piece: Piece, missing: list[str]) -> tuple[str, Sequence[Record], Any]:
    with prefer_compiled():
        return piece.name, piece.make(missing), None
