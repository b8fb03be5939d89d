"""Rooms are entered by their doors: what a room offers to others is in its ``__init__``."""

import ast
import importlib
import pkgutil
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

import wellorder

ROOT = Path(wellorder.__file__).parent
ROOMS = sorted(
    place.name
    for folder, above in ((ROOT, "wellorder."), (ROOT / "papers", "wellorder.papers."))
    for place in pkgutil.iter_modules([str(folder)], above)
    if place.ispkg
)
LOADED_LATE = {
    "wellorder.cli.main": "the command line itself",
    "wellorder.data.letor_compiled": "compiled readers of large files",
    "wellorder.data.partitions": "files in Dask's partitions",
    "wellorder.papers.reproducing": "whatever a paper's experiments need",
    "wellorder.spaces.dask": "rows in Dask's partitions",
    "wellorder.spaces.torch": "rows on a device",
}
"""Modules that are imported by name where they are needed, because loading them costs seconds or an extra."""


@cache
def imported(path: Path) -> list[tuple[str, str]]:
    """Return (module, name) of everything that a file imports from this package."""
    package = ".".join(("wellorder", *path.relative_to(ROOT).parent.parts))
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("wellorder")):
            module = resolve_name("." * node.level + (node.module or ""), package) if node.level else str(node.module)
            found += [(module.rstrip("."), alias.name) for alias in node.names]
    return found


def inside(module: str, room: str) -> bool:
    return module.startswith(f"{room}.") and module not in LOADED_LATE


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_entered_by_their_doors(room):
    own = ROOT.joinpath(*room.split(".")[1:])
    others = [path for path in ROOT.rglob("*.py") if own not in path.parents]
    modules = {place.name for place in pkgutil.iter_modules([str(own)])}
    round_the_door = [
        f"{path.relative_to(ROOT)}: from {module} import {name}"
        for path in others
        for module, name in imported(path)
        if inside(module, room) or (module == room and name in modules and f"{room}.{name}" not in LOADED_LATE)
    ]
    assert round_the_door == []


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_is_hidden_by_a_name_of_its_room(room):
    """``from room import name`` means one thing only."""
    door = importlib.import_module(room)
    assert not {place.name for place in pkgutil.iter_modules(door.__path__)} & set(getattr(door, "__all__", []))
