"""The process that tries cases, and what there is to try."""

from __future__ import annotations

import faulthandler
import gc
import signal
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from wellorder.data import lines

from .commands import COMMANDS
from .estimators import ESTIMATORS
from .model_files import MODEL_FILES
from .readers import READERS

TARGETS = {target.name: target for target in (READERS, MODEL_FILES, COMMANDS, ESTIMATORS)}
ROOM = 6 << 30
"""Bytes of address space beyond those taken at the start."""


def work(names: list[str], seed: int, seconds: float, first: dict[str, int], now: Any, tell: Any) -> None:
    """Try cases, target by target as their shares are, and tell of them once a second."""
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it says what there was, and ends it
    _limit_memory()
    free = lines.available_bytes()  # asked of the system for every file, which takes as long as to read a small one
    lines.available_bytes = lambda: free
    for name in names:
        TARGETS[name].case(seed, 0)  # what cases are made of
    gc.freeze()  # which stays, and need not be looked through again
    number, spent, took = dict(first), dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    begin = told = time.monotonic()
    while (clock := time.monotonic()) - begin < seconds:
        name = min(names, key=lambda each: spent[each] / TARGETS[each].share)
        target = TARGETS[name]
        fault = None
        for _ in range(1 if name == "commands" else 200):
            now[0], now[1] = names.index(name), number[name]
            try:
                counts[name][target.run(target.case(seed, number[name]))] += 1
            except Exception as error:
                counts[name]["fault"] += 1
                last = traceback.extract_tb(error.__traceback__)[-1]
                kind = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}"
                fault = (number[name], kind, f"{kind}: {' '.join(str(error).split())[:500]}")
            number[name] += 1
            if fault is not None:
                break
        took[name] += time.monotonic() - clock
        spent[name] += time.monotonic() - clock
        if fault is not None or time.monotonic() - told > 1.0:
            told = time.monotonic()
            for other in names:
                tell.send((other, dict(counts[other]), took[other], fault if other == name else None))
                counts[other].clear()
                took[other] = 0.0
    for other in names:
        tell.send((other, dict(counts[other]), took[other], None))
    tell.send(None)


def _limit_memory() -> None:
    """See that a case that asks for gigabytes is a fault, and does not take the machine with it."""
    try:
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, resource.RLIM_INFINITY))
    except (ImportError, OSError, ValueError):
        pass
