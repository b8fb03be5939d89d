"""Rooms are entered by their doors: what a room offers to others is in its ``__init__``."""

import grimp

LOADED_LATE = {
    "wellorder.data.letor_compiled": "compiled readers of large files",
    "wellorder.spaces.dask": "rows in Dask's partitions",
    "wellorder.spaces.torch": "rows on a device",
}
"""Modules that are imported by name where they are needed, because loading them costs seconds or an extra."""


def room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imports_round_the_doors() -> list[str]:
    graph = grimp.build_graph("wellorder", cache_dir=None)
    rooms = {room(module) for module in graph.modules if module.count(".") > 1}
    return [
        f"{importer} imports {imported}"
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if room(imported) in rooms
        and imported not in {room(imported), *LOADED_LATE}
        and room(importer) != room(imported)
    ]


def test_rooms_are_entered_by_their_doors() -> None:
    assert imports_round_the_doors() == []


def test_no_module_is_hidden_by_a_name_of_its_room() -> None:
    """``from room import name`` means one thing only."""
    import importlib
    import pkgutil

    import wellorder

    for place in pkgutil.iter_modules(wellorder.__path__, "wellorder."):
        if place.ispkg:
            offered = getattr(importlib.import_module(place.name), "__all__", [])
            path = importlib.import_module(place.name).__path__
            assert not {module.name for module in pkgutil.iter_modules(path)} & set(offered), place.name
