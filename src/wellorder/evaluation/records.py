"""Records: one JSON line a fit. Tables, tests and pictures are made from them, and a broken run goes on from them."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..writing import visible

Json: TypeAlias = Any

MOST_HELD_OUT = 20_000
"""Rows, or comparisons, of data whose held-out scores are kept: enough to look at lists one by one."""


@dataclass(frozen=True)
class SwapTable:
    """Grade against grade: how many test pairs there were, and how many stood the wrong way round.

    ``swapped[a][b]`` and ``total[a][b]`` for levels a < b; ``levels`` are labels from worst to best (bins
    such as "25 to 88" where the grades are many).
    """

    levels: tuple[str, ...]
    swapped: tuple[tuple[float, ...], ...]
    total: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Curve:
    """A curve of a test part: NDCG@k over k, or the ROC of comparisons."""

    kind: str
    """``ndcg`` or ``comparison_roc``."""
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Record:
    """One method, searched and fitted on the training part of one split, judged on its test part."""

    key: str
    """Says what was computed (data, method, grid, split, seed, versions): equal keys, equal results."""
    data: str
    method: str
    repeat: int
    fold: int
    seed: int
    n_train: int
    n_test: int
    metrics: dict[str, float]
    """On the test part, by name; NaN where it is not defined."""
    params: dict[str, Json] = field(default_factory=dict)
    """What the search chose."""
    search_seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    swaps: SwapTable | None = None
    curve: Curve | None = None
    weights: tuple[float, ...] | None = None
    """Of a linear model, one an encoded feature."""
    features: tuple[str, ...] | None = None
    """The names of the encoded features, beside the weights."""
    held_out: tuple[float, ...] | None = None
    """The scores of the test rows, or of test comparisons right less left, in the order of the split; kept for the
    first repeat of at most ``MOST_HELD_OUT`` rows."""
    orders_nothing: bool = False
    """Whether the model gave all test rows of a list, or both items of every test comparison, the same score."""
    notes: tuple[str, ...] = ()
    """What the fit warned of."""
    problem: str | None = None
    """Why the fit failed or was cut short; its metrics are then NaN."""

    @property
    def seconds(self) -> float:
        """Everything this fit took."""
        return self.search_seconds + self.fit_seconds + self.predict_seconds

    def to_json(self) -> str:
        """Write the record as one line; NaN becomes null."""
        text = json.dumps(_without_nan(plain(asdict(self))), ensure_ascii=False, separators=(",", ":"))
        return visible(text, as_json=True)  # a file's name may hold what is no character, and would be no UTF-8

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Read a record back; unknown fields, from a later version, are left out."""
        known = {each.name for each in fields(cls)}
        read = {name: value for name, value in json.loads(line).items() if name in known}
        read["metrics"] = {name: math.nan if value is None else value for name, value in read["metrics"].items()}
        if read.get("swaps") is not None:
            swaps = read["swaps"]
            read["swaps"] = SwapTable(
                tuple(swaps["levels"]), tuple(map(tuple, swaps["swapped"])), tuple(map(tuple, swaps["total"]))
            )
        if read.get("curve") is not None:
            curve = read["curve"]
            read["curve"] = Curve(curve["kind"], tuple(curve["x"]), tuple(curve["y"]))
        if read.get("held_out") is not None:
            read["held_out"] = tuple(math.nan if score is None else score for score in read["held_out"])
        for name in ("weights", "features", "notes"):
            if read.get(name) is not None:
                read[name] = tuple(read[name])
        return cls(**read)


class RecordFile:
    """Records on disk, appended as they come; what is already there is not computed again.

    A last line that was cut off when a run was killed is dropped; nothing else is ever removed, and a file that
    holds anything but records is refused and left as it is.

    Parameters
    ----------
    path : path-like or None
        None: records are kept in memory only.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._records: dict[str, Record] = {}
        if self.path is not None and self.path.exists():
            for record in read_records(self.path):
                self._records[record.key] = record
            _end_the_last_line(self.path)  # only once every other line is known to be a record

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> Record:
        return self._records[key]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def append(self, record: Record) -> None:
        """Keep a record, and write it out at once, if that is possible: a full disk must not cost what is computed."""
        self._records[record.key] = record
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8") as out:
                out.write(record.to_json() + "\n")
        except OSError as error:
            warnings.warn(
                f"records can no longer be kept in {self.path} ({error.strerror}): the run goes on without, and could "
                "not be resumed from here on",
                stacklevel=2,
            )
            self.path = None

    def refuse_unwritable(self) -> None:
        """Raise OSError now, rather than after the first fit, if the file cannot be written."""
        if self.path is not None:
            self.path.open("a").close()


def read_records(path: str | os.PathLike[str]) -> Iterable[Record]:
    """Read records from a file, one JSON line each; a last line that was cut off is left out."""
    lines = Path(path).read_bytes().split(b"\n")
    n_read = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        record = _as_record(line)
        if record is not None:
            n_read += 1
            yield record
        elif not (number == len(lines) and (n_read or line.startswith(_BEGINNING))):
            raise ValueError(
                f"{os.fspath(path)}, line {number}: this is no record of a fit; name another file, or delete the line"
            )


_BEGINNING = b'{"key":'
"""How every record begins: a lone line that does is a record that was cut off, not somebody's own file."""


def _as_record(line: bytes) -> Record | None:
    try:
        return Record.from_json(line.decode("utf-8"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _end_the_last_line(path: Path) -> None:
    """See to it that the next record starts on a line of its own: end the last line, or cut it off if unfinished."""
    content = path.read_bytes()
    start = content.rfind(b"\n") + 1
    if start == len(content):
        return
    with path.open("r+b") as out:
        if _as_record(content[start:]) is None:
            out.truncate(start)
        else:
            out.seek(0, os.SEEK_END)
            out.write(b"\n")


def plain(value: Any) -> Json:
    """Return a value as JSON can hold it: numbers of NumPy as plain ones, and what is no value as it prints."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _without_nan(value: Json) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(entry) for entry in value]
    return value
