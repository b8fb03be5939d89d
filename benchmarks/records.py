"""What was measured: one JSON object a line, appended as it comes, so that a stopped run goes on."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

Record = dict[str, Any]

FINAL = ("done", "limit", "skipped", "unsuitable")
"""Ends that another run need not try again: what failed or was absent may have been mended or installed."""


def read_records(path: Path) -> list[Record]:
    """Read all records; none where there is no file yet. A last line cut short by a crash is left out."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return records


def append_record(path: Path, record: Record) -> None:
    """Add a record at the end."""
    text = path.read_text(encoding="utf-8")[-1:] if path.exists() else "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(("" if text == "\n" else "\n") + json.dumps(record) + "\n")


def key(record: Record) -> tuple[str, str, int, int]:
    """Say which measurement a record is of."""
    return record["workload"], record["method"], record["threads"], record["turn"]


def finished(records: Iterable[Record]) -> set[tuple[str, str, int, int]]:
    """Return the measurements that need not be made again."""
    return {key(record) for record in records if record["status"] in FINAL}


def where() -> Record:
    """Describe the machine and the library, for every record."""
    return {
        "when": date.today().isoformat(),
        "wellorder": metadata.version("wellorder"),
        "python": platform.python_version(),
        "machine": f"{os.cpu_count()} processors ({platform.machine()}), {platform.system()}",
    }
