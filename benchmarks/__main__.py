"""Run the suite: ``python -m benchmarks [--quick] [--huge] [NAME ...]``."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from benchmarks.workloads import GROWTH, HUGE, MOST_GROWTH, WORKLOADS


def run(name: str, repeats: int) -> dict[str, Any]:
    """Measure a workload in a process of its own, so that none inherits another's memory."""
    command = [sys.executable, "-m", "benchmarks.measure", name, str(repeats)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(output))


def main() -> None:
    """Print fit over floor for each workload, and how that grows with the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*WORKLOADS, []], help="workloads to run (default: all but huge)")
    parser.add_argument("--quick", action="store_true", help="once each instead of five times")
    parser.add_argument("--huge", action="store_true", help="also those that need many gigabytes")
    options = parser.parse_args()
    names = options.names or [name for name in WORKLOADS if options.huge or name not in HUGE]

    print(f"{'workload':16}{'pairs':>9}{'floor s':>9}{'fit s':>8}{'floors':>8}{'limit':>7}{'extra MB':>10}{'gap':>10}")
    floors = {}
    for name in names:
        result = run(name, 1 if options.quick else 5)
        floors[name] = result["floors"]
        memory = "" if result["extra_mb"] is None else f"{result['extra_mb']:.0f}"
        print(
            f"{name:16}{result['pairs']:9.1e}{result['floor_s']:9.4f}{result['fit_s']:8.3f}{result['floors']:8.1f}"
            f"{WORKLOADS[name].limit:7.0f}{memory:>10}{result['gap']:10.1e}",
            flush=True,
        )
    for small, large in GROWTH:
        if small in floors and large in floors:
            growth = floors[large] / floors[small]
            print(f"growth from {small} to {large}: {growth:.2f} (at most {MOST_GROWTH})")


if __name__ == "__main__":
    main()
