"""Records: one JSON line a fit. Tables, tests and pictures are made from them, and a broken run goes on from them."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import partial
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
        """Read a record back; unknown fields, from a later version, are left out.

        Raises ValueError, with what is wrong, for anything that ``to_json`` would not have written.
        """
        known = {each.name for each in fields(cls)}
        given = json.loads(line, parse_constant=_refuse_constant)
        if not isinstance(given, dict):
            raise ValueError(f"a {type(given).__name__} instead of an object")
        read = {name: value for name, value in given.items() if name in known}
        _check_fields(read)
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
        try:
            record = _as_record(line)
        except ValueError as error:
            if number == len(lines) and (n_read or line.startswith(_BEGINNING)):
                return
            raise ValueError(
                f"{os.fspath(path)}, line {number}: this is no record of a fit ({error}); name another file, or delete "
                "the line"
            ) from None
        n_read += 1
        yield record


_BEGINNING = b'{"key":'
"""How every record begins: a lone line that does is a record that was cut off, not somebody's own file."""


def _as_record(line: bytes) -> Record:
    """Read a line; whatever is wrong with it is a ValueError."""
    try:
        return Record.from_json(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except json.JSONDecodeError:
        raise ValueError("it is not JSON") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _is_count(value: Json) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_COUNT


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _are(kind: Callable[[Json], bool], value: Json) -> bool:
    return isinstance(value, list) and all(map(kind, value))


def _is_number_or_none(value: Json) -> bool:
    return value is None or _is_number(value)


def _is_swap_table(value: Json) -> bool:
    """Say whether it has as many rows and columns as levels, twice."""
    if not isinstance(value, dict) or not _are(_is_text, value.get("levels")):
        return False
    n = len(value["levels"])

    def is_square(table: Json) -> bool:
        return _are(lambda row: _are(_is_number, row) and len(row) == n, table) and len(table) == n

    return is_square(value.get("swapped")) and is_square(value.get("total"))


def _is_curve(value: Json) -> bool:
    if not isinstance(value, dict) or not _is_text(value.get("kind")):
        return False
    x: Json = value.get("x")
    y: Json = value.get("y")
    return _are(_is_number, x) and _are(_is_number_or_none, y) and len(x) == len(y)


_LARGEST, _LARGEST_COUNT = 1e300, 2**53
"""Sums of numbers up to these are numbers, too."""

_KINDS: dict[str, tuple[Callable[[Json], bool], str]] = {
    **dict.fromkeys(("key", "data", "method"), (_is_text, "text")),
    **dict.fromkeys(("repeat", "fold", "seed", "n_train", "n_test"), (_is_count, "a whole number from 0 on")),
    "metrics": (
        lambda value: isinstance(value, dict) and all(map(_is_number_or_none, value.values())),
        "an object of numbers",
    ),
    "params": (lambda value: isinstance(value, dict), "an object"),
    **dict.fromkeys(
        ("search_seconds", "fit_seconds", "predict_seconds"),
        (lambda value: _is_number(value) and value >= 0, "a number from 0 on"),
    ),
    "notes": (partial(_are, _is_text), "a list of text"),
}
_OPTIONAL: dict[str, tuple[Callable[[Json], bool], str]] = {
    "swaps": (_is_swap_table, "a table of swaps"),
    "curve": (_is_curve, "a curve"),
    "weights": (partial(_are, _is_number_or_none), "a list of numbers"),
    "held_out": (partial(_are, _is_number_or_none), "a list of numbers"),
    "features": (partial(_are, _is_text), "a list of text"),
    "problem": (_is_text, "text"),
}
"""What each field of a record must be; the second ones may be null."""


def _check_fields(read: dict[str, Json]) -> None:
    """Refuse a field that is missing, or is not what it is called."""
    for each in fields(Record):
        if each.name not in read:
            if each.default is MISSING and each.default_factory is MISSING:
                raise ValueError(f"it has no {each.name!r}")
            continue
        value = read[each.name]
        if each.name in _OPTIONAL and value is None:
            continue
        fits, kind = (_KINDS | _OPTIONAL)[each.name]
        if not fits(value):
            raise ValueError(f"its {each.name!r} is {value!r:.40}, and should be {kind}")


def _end_the_last_line(path: Path) -> None:
    """See to it that the next record starts on a line of its own: end the last line, or cut it off if unfinished."""
    content = path.read_bytes()
    start = content.rfind(b"\n") + 1
    if start == len(content):
        return
    with path.open("r+b") as out:
        try:
            _as_record(content[start:])
        except ValueError:
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
