"""How much memory there is, for whoever is about to take a lot of it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True)
class Held:
    """How much a fit holds at once, beside the data it is given: numbers of eight bytes, as they were measured.

    Attributes
    ----------
    row : float
        For each row; in models that learn from comparisons, for each of these.
    entry : float
        For each entry of X, or for each comparison and feature.
    """

    row: float
    entry: float = 0.0

    def bytes(self, n_rows: int, n_entries: int) -> float:
        """Return how many bytes that is, good to about a factor of two.

        Examples
        --------
        >>> Held(25.0, 1.0).bytes(1_000_000, 20_000_000)
        360000000.0
        """
        return 8.0 * (self.row * n_rows + self.entry * n_entries)


def available_bytes() -> float | None:
    """Return how much memory is free for use; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        free = int(fields["MemAvailable"].split()[0]) * 1024
        return max(min(free, _container_bytes(), _limit_bytes()), 0.0)
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


def _limit_bytes() -> float:
    """Return what this process may still take by its own limits (``ulimit -v``)."""
    if sys.platform == "win32":
        return inf
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return inf
        with open("/proc/self/statm", encoding="ascii") as sizes:
            return float(most - int(sizes.read().split()[0]) * resource.getpagesize())
    except (OSError, ValueError):
        return inf
