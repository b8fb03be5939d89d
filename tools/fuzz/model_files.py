"""Model files: good ones of every class, damaged; each gives a model or a ModelFileError, and nothing runs."""

from __future__ import annotations

import copy
import json
import struct
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any
from zlib import crc32

from tests.persistence.boxes import rich_model, take_apart
from tests.persistence.small_models import Small, small_models
from tests.persistence.test_fuzz import ODD, holds, places

from wellorder.persistence import ModelFileError, ModelFileWarning, load, save

from .target import Case, Target, mutated, quick_folder, write

KEYS = ["array", "list", "tuple", "object", "sparse", "coef_", "x", "__class__"]
"""What a key of a manifest may be turned into."""


@dataclass(frozen=True)
class Good:
    """A good file, taken apart once for all the cases that are made of it."""

    content: bytes
    manifest: Any
    text: bytes
    places: list[tuple[Any, Any]]
    """Every container in the manifest, with each of its keys."""
    arrays: dict[str, tuple[bytes, int]]
    """The bytes of each array, and their checksum."""
    small: Small | None


@cache
def good() -> list[Good]:
    """Return a file of every class in each of its variants, and one with every kind of value."""
    found = []
    path = f"{quick_folder()}/good.wo"
    for small in [*small_models(), None]:
        save(rich_model() if small is None else small.model, path)
        with open(path, "rb") as file:
            content = file.read()
        manifest, members = take_apart(content)
        arrays = {name: (array, crc32(array)) for name, array in members.items()}
        found.append(Good(content, manifest, json.dumps(manifest).encode(), places(manifest, []), arrays, small))
    return found


def stored(members: Iterable[tuple[str, bytes, int]]) -> bytes:
    """Put names, bytes and their checksums together to a zip file that compresses nothing.

    The same as ``zipfile`` makes, which takes a tenth of a millisecond for it: as long as some files take to be read.
    """
    parts, listed, at = [], [], 0
    for name, content, checksum in members:
        called = name.encode()
        about = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 33, checksum, len(content), len(content), len(called), 0)
        parts += [b"PK\3\4", about, called, content]
        listed.append(b"PK\1\2\x14\3" + about + struct.pack("<HHHLL", 0, 0, 0, 0o600 << 16, at) + called)
        at += 4 + len(about) + len(called) + len(content)
    n, size = len(listed), sum(map(len, listed))
    return b"".join((*parts, *listed, b"PK\5\6", struct.pack("<HHHHLLH", 0, 0, n, n, size, at, 0)))


def changed(file: Good, random: Random) -> bytes:
    """Change some values of the manifest, and put it back as it was."""
    before = []
    for _ in range(random.choice((1, 1, 2, 4))):
        container, key = random.choice(file.places)
        if not holds(container, key):
            continue
        before.append((container, container.copy()))
        act = random.randrange(5)
        if act == 0:
            del container[key]
        elif act == 1:
            container[key] = random.choice(ODD)
        elif act == 2:  # a part of another place
            other, place = random.choice(file.places)
            if holds(other, place):
                container[key] = copy.deepcopy(other[place])
        elif act == 3 and isinstance(container, dict):
            container[random.choice(KEYS)] = container.pop(key)
        elif isinstance(container[key], int):
            container[key] += random.choice((-1, 1, 1000))
    text = json.dumps(file.manifest).encode()
    for container, old in reversed(before):
        container.clear()
        container.update(old) if isinstance(container, dict) else container.extend(old)
    return text


def draw(random: Random) -> Case:
    """Change bytes of the file, values of its manifest, or bytes of its arrays under a right checksum."""
    files = good()
    number = random.randrange(len(files))
    if random.random() < 0.5:  # small files are read sooner
        number = min(number, random.randrange(len(files)), key=lambda each: len(files[each].content))
    file, text, arrays = files[number], files[number].text, files[number].arrays
    match random.randrange(4):
        case 0:
            pieces = [b"\0" * 4, b"PK\3\4", file.content[:30], b"\xff" * 8]
            return {"content": mutated(file.content, random, pieces), "of": number, "asked": False}
        case 1 | 2:
            text = changed(file, random)
        case 3 if arrays:
            name = random.choice(list(arrays))
            damaged = bytearray(arrays[name][0])
            for _ in range(random.choice((1, 3))):
                at = random.choice((random.randrange(len(damaged)), random.randrange(min(128, len(damaged)))))
                damaged[at] = random.randrange(256)
            arrays = {**arrays, name: (bytes(damaged), crc32(damaged))}
        case _:
            text = mutated(text, random, [b"[", b"{", b'"', b",", b"1e999", b"null", b"\\u0000", b"\xff"])
    members = ((name, array, checksum) for name, (array, checksum) in arrays.items())
    content = stored([("manifest.json", text, crc32(text)), *members])
    return {"content": content, "of": number, "asked": random.random() < 0.05}


def run(case: Case) -> str:
    """Load it; what loads may be asked."""
    path = f"{quick_folder()}/bad.wo"
    write(path, case["content"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelFileWarning)
        try:
            model = load(path)
        except ModelFileError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(f"an error in several lines: {error}") from error
            return "refused"
        if not case["asked"]:
            return "loaded"
        warnings.simplefilter("ignore")
        small = good()[case["of"]].small if case["of"] < len(good()) else None
        if small is not None:
            with suppress(Exception):  # it may be of no use, but it does not end the process
                small.answers(model)
    return "loaded"


MODEL_FILES = Target("model-files", 0.4, draw, run)
