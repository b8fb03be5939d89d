"""Model files: good ones of every class, damaged; each gives a model or a ModelFileError, and nothing runs."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from random import Random

from tests.persistence.boxes import put_together, rich_model, take_apart
from tests.persistence.small_models import Small, small_models
from tests.persistence.test_fuzz import mutate

import wellorder as wo
from wellorder.persistence import ModelFileError, ModelFileWarning

from .target import Case, Target, mutated


@cache
def _folder() -> Path:
    shared = "/dev/shm"
    return Path(tempfile.mkdtemp(prefix="wellorder-fuzz-", dir=shared if os.path.isdir(shared) else None))


@cache
def good() -> list[tuple[bytes, str, dict[str, bytes], Small | None]]:
    """Return a file of every class in each of its variants: whole, its manifest, its arrays, and the model."""
    found = []
    path = _folder() / "good.wo"
    for small in [*small_models(), None]:
        wo.save(rich_model() if small is None else small.model, path)
        content = path.read_bytes()
        manifest, members = take_apart(content)
        found.append((content, json.dumps(manifest), members, small))
    return found


def draw(random: Random) -> Case:
    """Change bytes of the file, values of its manifest, or bytes of its arrays under a right checksum."""
    number = random.randrange(len(good()))
    content, manifest, members, _ = good()[number]
    match random.randrange(4):
        case 0:
            content = mutated(content, random, [b"\0" * 4, b"PK\3\4", content[:30], b"\xff" * 8])
        case 1 | 2:
            changed = json.loads(manifest)
            mutate(changed, random)
            content = put_together(changed, members)
        case 3 if members:
            name = random.choice(list(members))
            damaged = bytearray(members[name])
            for _ in range(random.choice((1, 3))):
                at = random.choice((random.randrange(len(damaged)), random.randrange(min(128, len(damaged)))))
                damaged[at] = random.randrange(256)
            content = put_together(manifest, {**members, name: bytes(damaged)})
        case _:
            damaged_text = mutated(manifest.encode(), random, [b"[", b"{", b'"', b",", b"1e999", b"null", b"\\u0000"])
            content = put_together(damaged_text.decode("utf-8", "replace"), members)
    return {"content": content, "of": number, "asked": random.random() < 0.2}


def run(case: Case) -> str:
    """Load it; what loads may be asked."""
    path = _folder() / "bad.wo"
    path.write_bytes(case["content"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelFileWarning)
        try:
            model = wo.load(path)
        except ModelFileError as error:
            if len(str(error).splitlines()) != 1:
                raise AssertionError(f"an error in several lines: {error}") from error
            return "refused"
        warnings.simplefilter("ignore")
        small = good()[case["of"]][3] if case["of"] < len(good()) else None
        if small is not None and case["asked"]:
            with suppress(Exception):  # it may be of no use, but it does not end the process
                small.answers(model)
    return "loaded"


MODEL_FILES = Target("model-files", 0.4, draw, run)
