"""The things that are compared: what is read of them, and how a judge sees them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

import numpy as np

from ..data import MISSING, NAME_COLUMNS, DataError, Sheet, TableEncoder, as_text, one_sheet, settle
from ..suggest import suggest
from ..sweeps import Floats

Kind = Literal["text", "markdown", "html", "image", "audio"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MEDIA: dict[str, tuple[Kind, str]] = {
    ".png": ("image", "image/png"),
    ".jpg": ("image", "image/jpeg"),
    ".jpeg": ("image", "image/jpeg"),
    ".gif": ("image", "image/gif"),
    ".webp": ("image", "image/webp"),
    ".avif": ("image", "image/avif"),
    ".svg": ("image", "image/svg+xml"),
    ".mp3": ("audio", "audio/mpeg"),
    ".m4a": ("audio", "audio/mp4"),
    ".ogg": ("audio", "audio/ogg"),
    ".oga": ("audio", "audio/ogg"),
    ".opus": ("audio", "audio/ogg"),
    ".wav": ("audio", "audio/wav"),
    ".flac": ("audio", "audio/flac"),
}
"""What a file is and how it is sent, by its suffix; no other file is ever sent."""

_WRITTEN: dict[str, Kind] = {".txt": "text", ".md": "markdown", ".html": "html", ".htm": "html"}
VOTE_WORDS = ("left", "right", "tie")
"""What votes say where they are written down; nobody could tell an item of such a name from it."""

_LONGEST = 1_000_000
"""Bytes of a text file that is an item."""
_HOST = re.compile(r"[a-z0-9.-]+")


@dataclass(frozen=True)
class Field:
    """One column of an item: a file where it is an image or a sound, else what is written there."""

    label: str
    kind: Kind
    value: str
    file: Path | None = None


class Items:
    """All things that are compared, by number from 0.

    Attributes
    ----------
    names : list of str
    number : dict
        Of each name.
    elsewhere : tuple of str
        Where pages have to fetch images and sounds from, beside the collector itself: ``https://host``.
    features : array of shape (n_items, n_features), optional
        What is known of items beside what judges see: by these, votes on some speak of others.
    """

    def __init__(self, names: Sequence[str], parts: Sequence[Sequence[Field]], features: Floats | None = None) -> None:
        self.names = list(names)
        self.features = features
        self.number = {name: number for number, name in enumerate(self.names)}
        self._parts = parts
        addresses = (part.value for each in parts for part in each if part.kind in ("image", "audio") and not part.file)
        self.elsewhere = tuple(sorted({_origin(each) for each in addresses}))
        self.shown = lru_cache(maxsize=1_000)(self._shown)

    def __len__(self) -> int:
        return len(self.names)

    def media(self, item: int, part: int) -> tuple[Path, str] | None:
        """Return the file of an item's part, and its type; None if there is none. No name of a file takes part."""
        if not (0 <= item < len(self._parts) and 0 <= part < len(self._parts[item])):
            return None
        file = self._parts[item][part].file
        return None if file is None else (file, MEDIA[file.suffix.lower()][1])

    def _shown(self, item: int) -> str:
        """Return an item as HTML, for a page beside which ``media/ITEM/PART`` are its files."""
        from .markup import from_html, from_markdown, from_text

        shown = []
        parts = self._parts[item]
        for number, part in enumerate(parts):
            at = f"media/{item}/{number}" if part.file is not None else escape(part.value)
            if part.kind == "image":
                body = f'<img src="{at}" alt="{escape(part.label)}" referrerpolicy="no-referrer">'
            elif part.kind == "audio":
                body = f'<audio src="{at}" controls preload="metadata" aria-label="{escape(part.label)}"></audio>'
            else:
                body = {"text": from_text, "markdown": from_markdown, "html": from_html}[part.kind](part.value)
            label = f"<h3>{escape(part.label)}</h3>" if len(parts) > 1 else ""
            shown.append(f'<div class="part {part.kind}" dir="auto">{label}<div class="body">{body}</div></div>')
        return "".join(shown) or '<p class="quiet">(nothing is written here)</p>'


def read_items(
    path: str | os.PathLike[str], *, item: str | None = None, show: Sequence[str] = (), features: Sequence[str] = ()
) -> Items:
    """Read a file of items, a row each, or a folder, a file each.

    Parameters
    ----------
    path : path-like
        Any file of columns; or a folder of texts (.txt, .md, .html), images or sounds. Names of files in columns are
        relative to the folder of the file, and must lie within it.
    item : str, optional
        The column with the names; the one called item, id or name unless given, or else the first.
    show : sequence of str, default=()
        What judges see: columns, each of which may say what it holds, as in ``"body=markdown"``. All but the name and
        the features unless given, and the name where there is nothing else.
    features : sequence of str, default=()
        Columns of numbers or of categories that may tell what items are worth.
    """
    if os.path.isdir(path):
        if features:
            raise DataError(os.fspath(path), "a folder has no columns; give a file with a row an item for features")
        found = _from_folder(Path(path))
    else:
        found = _from_sheet(one_sheet(path), item, show, features)
    if len(found) < 2:
        raise DataError(os.fspath(path), "there is only one item in it; to compare, give two or more")
    for name in found.names:
        if name.lower() in VOTE_WORDS:
            raise DataError(os.fspath(path), f"an item is called {name!r}, as votes say who is better; rename it")
        if name in MISSING:
            raise DataError(os.fspath(path), f"an item is called {name!r}, which stands for a missing name; rename it")
    return found


# --------------------------------------------------------------------------------------------------
# A folder of files.


def _from_folder(folder: Path) -> Items:
    files = sorted(each for each in folder.iterdir() if each.suffix.lower() in {**MEDIA, **_WRITTEN} and each.is_file())
    if not files:
        known = " ".join([*_WRITTEN, *MEDIA])
        raise DataError(os.fspath(folder), f"there is nothing to compare in this folder; files may be {known}")
    inside = os.path.realpath(folder)
    for file in files:
        if not Path(os.path.realpath(file)).is_relative_to(inside):
            raise DataError(os.fspath(folder), f"{file.name!r} is a link to a file outside the folder; copy it there")
        if not _is_text(file.name):
            raise DataError(os.fspath(folder), f"the name of the file {file.name!a} is not UTF-8; rename it")
    names = [file.stem.strip() for file in files]
    if len(set(names)) < len(names):
        names = [file.name for file in files]
    return Items(names, [[_from_file(file)] for file in files])


def _is_text(name: str) -> bool:
    """Say whether a file's name is text; other bytes stand in it as halves of characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _from_file(file: Path) -> Field:
    suffix = file.suffix.lower()
    if suffix in MEDIA:
        kind = MEDIA[suffix][0]
        return Field("Picture" if kind == "image" else "Sound", kind, "", file)
    if file.stat().st_size > _LONGEST:
        raise DataError(os.fspath(file), f"it has more than {_LONGEST:,} bytes, too many to be read by a judge")
    try:
        return Field("Text", _WRITTEN[suffix], file.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(os.fspath(file), "it is not UTF-8; save it as UTF-8") from None


# --------------------------------------------------------------------------------------------------
# A file of columns.


def _from_sheet(sheet: Sheet, item: str | None, show: Sequence[str], features: Sequence[str]) -> Items:
    columns = sheet.frame.columns
    name = item or next((each for each in NAME_COLUMNS if each in columns), columns[0])
    sheet.column(name, "item")
    names = as_text(sheet, name).to_list()
    seen: dict[str, int] = {}
    for row, each in enumerate(names):
        if each is None:
            raise sheet.error(f"the name (column {name!r}) is missing; give the item one, or remove the row", row)
        if each in seen:
            raise sheet.error(f"the item {each!r} (column {name!r}) is already in {sheet.place(seen[each])}", row)
        seen[each] = row
    known = _features_of(sheet, features)
    kinds = _kinds(sheet, show) or {each: None for each in columns if each not in (name, *features)} or {name: None}
    parts = [_parts_of(sheet, column, kind) for column, kind in kinds.items()]
    return Items(names, [[part for part in row if part is not None] for row in zip(*parts, strict=True)], known)


def _features_of(sheet: Sheet, columns: Sequence[str]) -> Floats | None:
    """Return columns of numbers and categories as standardised numbers; None if there are none."""
    if not columns:
        return None
    for column in columns:
        sheet.column(column, "features")
    frame = sheet.frame.select([settle(sheet, column) for column in columns])
    try:
        return np.asarray(TableEncoder().fit(frame).transform(frame), dtype=float)
    except ValueError as error:
        raise sheet.error(str(error)) from None


def _kinds(sheet: Sheet, show: Sequence[str]) -> dict[str, Kind | None]:
    """Read what is to be shown: columns, and what they hold where it is said."""
    kinds: dict[str, Kind | None] = {}
    for said in show:
        column, equals, kind = said.rpartition("=") if said not in sheet.frame.columns else (said, "", "")
        column = column if equals else said
        sheet.column(column, "show")
        if equals and kind not in KINDS:
            raise sheet.error(f"show={said!r}: there is no kind {kind!r}; {suggest(kind, KINDS, 'there are')}")
        kinds[column] = kind or None  # type: ignore[assignment]
    return kinds


def _parts_of(sheet: Sheet, column: str, kind: Kind | None) -> list[Field | None]:
    values = as_text(sheet, column).to_list()
    if kind is None:
        kind = _guess(column, [value for value in values if value is not None])
    if kind not in ("image", "audio"):
        return [None if value is None else Field(column, kind, value) for value in values]
    folder = Path(sheet.source).absolute().parent
    parts: list[Field | None] = []
    for row, value in enumerate(values):
        try:
            parts.append(None if value is None else _medium(folder, column, kind, value))
        except ValueError as error:
            raise sheet.error(str(error), row) from None
    return parts


def _guess(column: str, values: Sequence[str]) -> Kind:
    """Tell by its values whether a column names images or sounds, and by its name whether it holds Markdown."""
    found = {MEDIA.get(_ending(value), (None,))[0] for value in values}
    if len(found) == 1 and (kind := found.pop()) is not None:
        return kind
    return "markdown" if column.lower() in ("markdown", "md") else "text"


def _ending(value: str) -> str:
    """Return how the path of an address or of a file ends; nothing where it is no address that can be taken apart."""
    try:
        return Path(urlsplit(value).path).suffix.lower()
    except ValueError:  # as of 'https://[', which may stand in any text
        return ""


def _medium(folder: Path, column: str, kind: Kind, value: str) -> Field:
    """Return an image or a sound that is named in a column; a file outside the folder is refused, also behind links."""
    if value.startswith("https://"):
        try:
            _origin(value)
        except ValueError:
            raise ValueError(f"{value!r} in column {column!r} is not an address; check what follows https://") from None
        return Field(column, kind, value)
    if "://" in value:
        raise ValueError(f"{value!r} in column {column!r}: addresses begin with https://; or name a file")
    file = Path(os.path.realpath(folder / value))
    if not file.is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{value!r} in column {column!r} lies outside {folder}; copy it there")
    if MEDIA.get(file.suffix.lower(), (None,))[0] != kind:
        known = " ".join(suffix for suffix, (each, _) in MEDIA.items() if each == kind)
        raise ValueError(f"{value!r} in column {column!r} is not named like {kind}; names end in {known}")
    if not file.is_file():
        raise ValueError(f"there is no file {value!r} (column {column!r}) in {folder}")
    return Field(column, kind, value, file)


def _origin(address: str) -> str:
    """Return where an ``https://`` address leads, as a content security policy names it.

    A policy is a line of words that blanks and semicolons part: nothing else of an address, which anybody may have
    written, gets into it. A ValueError says that there is no such host.
    """
    parts = urlsplit(address)
    host = (parts.hostname or "").encode("idna").decode()  # as browsers spell it
    if not _HOST.fullmatch(host):
        raise ValueError(f"{host!r} is no host")
    return f"https://{host}" if parts.port is None else f"https://{host}:{parts.port}"
