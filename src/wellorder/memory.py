"""How much memory there is, for whoever is about to take a lot of it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from math import inf


def available_bytes() -> float | None:
    """Return how much memory is free for use; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        free = int(fields["MemAvailable"].split()[0]) * 1024
        return min(free, _container_bytes())
    except (OSError, KeyError, ValueError):
        pass
    if sys.platform != "win32":
        with suppress(ValueError, OSError):
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _container_bytes() -> float:
    """Return what a control group still allows this process to take."""
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as limit:
            most = limit.read().strip()
        with open("/sys/fs/cgroup/memory.current", encoding="ascii") as current:
            return inf if most == "max" else int(most) - int(current.read())
    except (OSError, ValueError):
        return inf
