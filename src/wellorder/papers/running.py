"""Running a paper's experiments: in parts, in parallel, each record kept as soon as it is made, going on from those."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

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


@dataclass(frozen=True)
class PaperRun:
    """What a part of a paper is run on, and with."""

    data: Path
    """The folder with the data sets."""
    quick: bool = False
    """Fewer repetitions."""
    kept: RecordFile = field(default_factory=RecordFile)
    n_jobs: int = -1
    progress: Progress | None = None

    def pieces(self, pieces: Sequence[Piece]) -> tuple[Record, ...]:
        """Return the records of all pieces, in their order.

        Pieces are begun in the order given (put the longest first) and may end in any.
        """
        keys = [key for piece in pieces for key in piece.keys.values()]
        found = {key: self.kept[key] for key in keys if key in self.kept}
        jobs = []
        for piece in pieces:
            missing = [method for method, key in piece.keys.items() if key not in self.kept]
            if missing:
                jobs.append(delayed(_make)(piece, missing))
        for name, records in Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", mmap_mode="r")(jobs):
            for record in records:
                self.kept.append(record)
                found[record.key] = record
            if self.progress is not None:
                self.progress(len(found), len(keys), name)
        return tuple(found[key] for key in keys)


@dataclass(frozen=True)
class PaperPart:
    """One experiment of a paper, with the tables that come of it: what a reader may want to run by itself."""

    title: str
    run: Callable[[PaperRun], Sequence[Record]]
    lines: Callable[[Sequence[Record]], Iterable[str]]
    """The part's tables in Markdown, from its records alone: what was run elsewhere prints the same here."""


def record_key(home: str, *made_by: object) -> str:
    """Return a record's key: its place in the experiments, and a digest of how it is made and by which versions."""
    digest = hashlib.blake2b(repr((*made_by, versions())).encode(), digest_size=12)
    return f"{home}/{digest.hexdigest()}"


def _make(piece: Piece, missing: list[str]) -> tuple[str, Sequence[Record]]:
    with prefer_compiled():
        return piece.name, piece.make(missing)
