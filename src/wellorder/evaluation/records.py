"""Records: one JSON line a fit. Tables, tests and pictures are made from them, and a broken run goes on from them."""

from __future__ import annotations

import io
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

import numpy as np

from ..writing import visible

if sys.platform != "win32":  # there, two runs must not share a file of records
    import fcntl

Json: TypeAlias = Any

MOST_HELD_OUT = 20_000
"""Held-out scores are kept for data of at most this many rows or comparisons: enough to look at lists one by one."""


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
class Parts:
    """What each independent unit of a test part (row, list or item) adds to a method's value."""

    units: tuple[int, ...]
    """The numbers of the units, which are the same in every split; several units may share a number."""
    parts: tuple[float, ...]
    meetings: tuple[int, ...] = ()
    """If units are items: a number for each pair of items that met."""
    shared: tuple[float, ...] = ()
    """For each pair that met, what the two items have in common, which is in the parts of both."""
    pair_square: float = 0.0
    """If units are rows: the sum over all pairs of the square of what each pair adds."""
    shares: tuple[float, ...] = ()
    """The share of the value that each unit makes up; empty if all shares are equal."""
    luck: tuple[float, ...] = ()
    """If units are rows: how much of each part is due to which other rows were drawn; empty if there is none, or it is
    unknown."""


@dataclass(frozen=True)
class Record:
    """One method, searched and fitted on the training part of one split, judged on its test part."""

    key: str
    """Identifies what was computed (data, method, grid, split, seed, versions): equal keys mean equal results."""
    data: str
    method: str
    repeat: int
    fold: int
    seed: int
    n_train: int
    n_test: int
    metrics: dict[str, float]
    """The metrics on the test part, by name; NaN where one is not defined."""
    params: dict[str, Json] = field(default_factory=dict)
    """The parameters that the search chose."""
    search_seconds: float = 0.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    swaps: SwapTable | None = None
    curve: Curve | None = None
    weights: tuple[float, ...] | None = None
    """The weights of a linear model, one for each encoded feature."""
    features: tuple[str, ...] | None = None
    """The names of the encoded features, beside the weights."""
    held_out: tuple[float, ...] | None = None
    """The scores of the test rows, or of test comparisons right less left, in the order of the split; kept for the
    first repeat of at most ``MOST_HELD_OUT`` rows."""
    parts: Parts | None = None
    """The parts that the first metric is the mean of; None if it is no mean over units, or not defined."""
    orders_nothing: bool = False
    """Whether the model gave all test rows of a list, or both items of every test comparison, the same score."""
    stopped: bool = False
    """Whether the time limit ended the search or the fit: the metrics are then of the best model by that time."""
    unfinished: bool = False
    """Whether the time limit ended the fit itself, so that this is not the model that the method would have made."""
    allowed_seconds: float = 0.0
    """The time limit, if it ended the search or the fit. The trial may have taken less, as a search stops when its last
    fit would not have been done in time."""
    notes: tuple[str, ...] = ()
    """The warnings of the fit."""
    earlier_seconds: float = 0.0
    """Seconds of an earlier try, which was out of time."""
    problem: str | None = None
    """Why the fit failed or was cut short; its metrics are then NaN."""

    @property
    def seconds(self) -> float:
        """Everything this fit took."""
        return self.search_seconds + self.fit_seconds + self.predict_seconds

    @property
    def spent_seconds(self) -> float:
        """The same, with what was tried before it."""
        return self.seconds + self.earlier_seconds

    def to_json(self) -> str:
        """Write the record as one line; NaN becomes null, and a loss without bounds the text "Infinity"."""
        metrics = {name: _INFINITE if value == math.inf else value for name, value in self.metrics.items()}
        written = _without_nan(plain(asdict(self) | {"metrics": metrics}))
        text = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
        return visible(text, as_json=True)  # a file's name may hold what is no character, and would be no UTF-8

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Read a record back, every value checked; unknown fields, from a later version, are left out.

        Raises
        ------
        NotJsonError
            Where the line is no JSON: it may have been cut off.
        ValueError
            Where it is, and no record; the message is the rest of a sentence about the record.
        """
        found = _read_json(line)
        if not isinstance(found, dict):
            raise ValueError("it is no object with named values")
        read: dict[str, Any] = {}
        for each in fields(cls):
            if each.name in found:
                read[each.name] = _READERS[each.name](each.name, found[each.name])
            elif each.default is MISSING and each.default_factory is MISSING:
                raise ValueError(f"it has no {each.name!r}")
        return cls(**read)


class NotJsonError(ValueError):
    """Raised where a line of a file of records is not even JSON."""


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotJsonError("it is not text in UTF-8") from error


def _read_json(line: str) -> Json:
    try:
        return json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise NotJsonError("it is not JSON") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _refuse(name: str, value: Json, wanted: str) -> NoReturn:
    shown = repr(value)
    raise ValueError(f"its {name} is {shown if len(shown) <= 40 else f'{shown[:37]}...'}, not {wanted}")


_LARGEST, _LARGEST_COUNT = 1e300, 2**53
"""Sums of numbers up to these are still finite."""


_INFINITE = "Infinity"
"""How a line writes numbers that JSON does not have."""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST


def _text(name: str, value: Json) -> str:
    return value if isinstance(value, str) else _refuse(name, value, "a text")


def _truth(name: str, value: Json) -> bool:
    return value if isinstance(value, bool) else _refuse(name, value, "true or false")


def _whole(name: str, value: Json) -> int:
    return value if type(value) is int and _is_number(value) else _refuse(name, value, "a whole number")


def _count(name: str, value: Json) -> int:
    return value if type(value) is int and 0 <= value <= _LARGEST_COUNT else _refuse(name, value, "a count")


def _seconds(name: str, value: Json) -> float:
    return float(value) if _is_number(value) and value >= 0 else _refuse(name, value, "a number of seconds")


def _size(name: str, value: Json) -> float:
    return float(value) if _is_number(value) and value >= 0 else _refuse(name, value, "a number, not negative")


def _number(name: str, value: Json) -> float:
    """Read a number; null is one that is not defined."""
    if value is None or value == _INFINITE:
        return math.nan if value is None else math.inf
    return float(value) if _is_number(value) else _refuse(name, value, "a number or null")


def _object(name: str, value: Json, *keys: str) -> dict[str, Json]:
    if not isinstance(value, dict) or not set(keys) <= set(value):
        _refuse(name, value, f"an object{' with ' * bool(keys)}{', '.join(keys)}")
    return value


def _metrics(name: str, value: Json) -> dict[str, float]:
    return {each: _number(f"{name}[{each!r}]", entry) for each, entry in _object(name, value).items()}


def _texts(name: str, value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        _refuse(name, value, "a list of texts")
    return tuple(_text(f"{name}[{place}]", each) for place, each in enumerate(value))


def _numbers(name: str, value: Json) -> tuple[float, ...]:
    if not isinstance(value, list):
        _refuse(name, value, "a list of numbers")
    return tuple(_number(f"{name}[{place}]", each) for place, each in enumerate(value))


def _swaps(name: str, value: Json) -> SwapTable:
    found = _object(name, value, "levels", "swapped", "total")
    levels = _texts(f"{name}.levels", found["levels"])

    def table(part: str) -> tuple[tuple[float, ...], ...]:
        rows = found[part]
        if not isinstance(rows, list) or [len(row) for row in rows if isinstance(row, list)] != [len(levels)] * len(
            levels
        ):
            _refuse(f"{name}.{part}", rows, f"a table of {len(levels)} rows and columns, one a level")
        return tuple(_numbers(f"{name}.{part}[{place}]", row) for place, row in enumerate(rows))

    return SwapTable(levels, table("swapped"), table("total"))


def _curve(name: str, value: Json) -> Curve:
    found = _object(name, value, "kind", "x", "y")
    x, y = (_numbers(f"{name}.{axis}", found[axis]) for axis in ("x", "y"))
    if len(x) != len(y):
        _refuse(f"{name}.y", found["y"], f"a list of {len(x)} numbers, one for each x")
    return Curve(_text(f"{name}.kind", found["kind"]), x, y)


def _counts(name: str, value: Json) -> tuple[int, ...]:
    if not isinstance(value, list):
        _refuse(name, value, "a list of counts")
    return tuple(_count(f"{name}[{place}]", each) for place, each in enumerate(value))


def _parts(name: str, value: Json) -> Parts:
    found = _object(name, value, "units", "parts", "meetings", "shared", "pair_square")
    read: dict[str, Any] = {"pair_square": _size(f"{name}.pair_square", found["pair_square"])}
    for numbers, values in (("units", "parts"), ("meetings", "shared")):
        read[numbers] = _counts(f"{name}.{numbers}", found[numbers])
        read[values] = _numbers(f"{name}.{values}", found[values])
        if len(read[numbers]) != len(read[values]) or not all(map(math.isfinite, read[values])):
            _refuse(
                f"{name}.{values}", found[values], f"a list of {len(read[numbers])} numbers, one for each of {numbers}"
            )
    read["shares"] = _numbers(f"{name}.shares", found.get("shares", []))
    if len(read["shares"]) not in (0, len(read["units"])) or not all(each >= 0 for each in read["shares"]):
        _refuse(f"{name}.shares", found["shares"], f"a list of {len(read['units'])} numbers, one for each of units")
    read["luck"] = _numbers(f"{name}.luck", found.get("luck", []))
    if len(read["luck"]) not in (0, len(read["units"])) or not all(map(math.isfinite, read["luck"])):
        _refuse(f"{name}.luck", found["luck"], f"a list of {len(read['units'])} numbers, one for each of units")
    return Parts(**read)


def _optional(reader: Callable[[str, Json], Any]) -> Callable[[str, Json], Any]:
    """Let null stand for what a record does not have."""
    return lambda name, value: None if value is None else reader(name, value)


_READERS: dict[str, Callable[[str, Json], Any]] = {
    **dict.fromkeys(("key", "data", "method"), _text),
    **dict.fromkeys(("repeat", "fold", "n_train", "n_test"), _count),
    "seed": _whole,
    "metrics": _metrics,
    "params": _object,
    **dict.fromkeys(
        ("search_seconds", "fit_seconds", "predict_seconds", "earlier_seconds", "allowed_seconds"), _seconds
    ),
    "swaps": _optional(_swaps),
    "curve": _optional(_curve),
    "weights": _optional(_numbers),
    "features": _optional(_texts),
    "held_out": _optional(_numbers),
    "parts": _optional(_parts),
    "orders_nothing": _truth,
    "stopped": _truth,
    "unfinished": _truth,
    "notes": _texts,
    "problem": _optional(_text),
}
"""For each field of a record, the function that reads it, given the field's name (for errors) and the JSON value."""


class RecordFile:
    """Records on disk, appended as they come; what is already there is not computed again.

    A last line that was cut off when a run was killed is dropped; nothing else is ever removed, and a file that
    holds anything but records is refused and left as it is. Of two runs that write to one file at once, each adds whole
    lines, and knows of the other's once it is started again.

    Parameters
    ----------
    path : path-like or None
        None: records are kept in memory only.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._records: dict[str, Record] = {}
        if self.path is not None and self.path.is_file():  # a pipe or a device keeps nothing to go on from
            for record in read_records(self.path):
                self._records[record.key] = record
            with self.path.open("a+b", buffering=0) as file, _alone(file):
                _end_the_last_line(file)  # only once every other line is known to be a record

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
            _append(self.path, record.to_json().encode("utf-8") + b"\n")
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
            self.path.open("ab").close()


def read_records(path: str | os.PathLike[str]) -> Iterable[Record]:
    """Read records from a file, one JSON line each; a last line that was cut off is left out."""
    if Path(path).is_char_device():
        raise ValueError(f"{os.fspath(path)}: it is a device, and holds no records; name a file")
    lines = Path(path).read_bytes().split(b"\n")
    n_read = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = Record.from_json(_decode(line))
        except ValueError as error:
            is_cut_off = isinstance(error, NotJsonError) and number == len(lines)
            if is_cut_off and (n_read or line.startswith(_BEGINNING)):
                return
            raise ValueError(
                f"{os.fspath(path)}, line {number}: this is no record of a fit: {error}; name another file, or delete "
                "the line"
            ) from None
        n_read += 1
        yield record


_BEGINNING = b'{"key":'
"""How every record begins: a single line that begins so is a record that was cut off, and not somebody else's file."""


def _append(path: Path, line: bytes) -> None:
    """Add a line to a file that other runs may add to as well: all of it, or nothing."""
    if path.exists() and not path.is_file():  # a pipe or a device, where nothing can be taken back
        with path.open("ab") as out:
            out.write(line)
        return
    with path.open("a+b", buffering=0) as file, _alone(file):
        _end_the_last_line(file)  # of another run, which was killed
        start = file.seek(0, os.SEEK_END)
        try:
            while line:  # a disk that becomes full takes a part of it first
                line = line[file.write(line) :]
        except BaseException:
            file.truncate(start)
            raise


@contextmanager
def _alone(file: io.FileIO) -> Iterator[None]:
    """Keep other runs from writing until the file is closed, where the system and its disk can do that."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
    yield


def _end_the_last_line(file: io.FileIO) -> None:
    """See to it that the next record starts on a line of its own: end the last line, or cut it off if unfinished."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 1, 0))
    if file.read(1) in (b"", b"\n"):
        return
    file.seek(0)
    content = file.readall()
    start = content.rfind(b"\n") + 1
    try:
        _read_json(_decode(content[start:]))
    except NotJsonError:
        file.truncate(start)
    else:
        file.write(b"\n")


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
