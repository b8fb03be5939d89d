"""What is fuzzed: a way to draw a case, and a way to try it."""

from __future__ import annotations

import atexit
import base64
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

Case = dict[str, Any]
"""All that a case needs to be tried again: texts, numbers, bytes, and lists of them."""

CORPUS = Path(__file__).parents[2] / "tests" / "fuzz" / "corpus"
"""What was found: one file a case, tried again by ``tests/fuzz``."""


@dataclass(frozen=True)
class Target:
    """One thing that is fuzzed."""

    name: str
    share: float
    """Of the time."""
    draw: Callable[[Random], Case]
    run: Callable[[Case], str]
    """Try a case; returns in a word what came of it, and raises where there is a fault."""

    def case(self, seed: int, number: int) -> Case:
        """Draw the case of this number: the same for the same seed."""
        return self.draw(Random(f"{self.name} {seed} {number}"))


@cache
def quick_folder() -> str:
    """Make a folder for the files of cases, gone with this process."""
    folder = tempfile.mkdtemp(prefix="wellorder-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def write(path: str, content: bytes) -> None:
    """Write a file of a case."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0))
    try:
        os.write(file, content)
    finally:
        os.close(file)


def save_case(target: str, case: Case, why: str, folder: Path = CORPUS) -> Path:
    """Keep a case, with what was wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"target": target, "why": why, "case": _packed(case)}, indent=1, sort_keys=True)
    number = 1
    while (path := folder / f"{target}-{number:03d}.json").exists():
        number += 1
    path.write_text(text + "\n", encoding="utf-8")
    return path


def load_case(path: Path) -> tuple[str, Case]:
    """Read a case that was kept, and the name of its target."""
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["target"], _unpacked(found["case"])


def _packed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {key: _packed(entry) for key, entry in value.items()}
    return [_packed(entry) for entry in value] if isinstance(value, list | tuple) else value


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"base64"}:
            return base64.b64decode(value["base64"])
        return {key: _unpacked(entry) for key, entry in value.items()}
    return [_unpacked(entry) for entry in value] if isinstance(value, list) else value


def mutated(content: bytes, random: Random, pieces: list[bytes], most: int = 4) -> bytes:
    """Insert, delete, repeat, change or cut some bytes."""
    out = bytearray(content)
    for _ in range(random.randint(1, most)):
        place = random.randint(0, len(out))
        match random.randrange(6):
            case 0:
                out[place:place] = random.choice(pieces)
            case 1:
                del out[place : place + random.randint(1, 8)]
            case 2:
                out[place : place + 1] = bytes([random.randrange(256)])
            case 3:
                out[place:place] = out[max(0, place - random.randint(1, 20)) : place]
            case 4:
                if place < len(out):
                    out[place] ^= 1 << random.randrange(8)
            case 5:
                if random.random() < 0.3:
                    del out[place:]
    return bytes(out)
