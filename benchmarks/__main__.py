"""Measure wellorder beside its peers: ``python -m benchmarks [NAMES]``, then ``python -m benchmarks table``."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from . import latency
from .lines import races
from .peers import PEERS
from .records import read_records
from .runner import run
from .table import console, known_workloads, page
from .workloads import WORKLOADS, find_workloads

RECORDS = Path(__file__).with_name("records.jsonl")
"""What the page in the documentation is made of."""

_PAGE = Path("docs/results/benchmarks.md")
_QUICK_LIMIT = 20.0


def main(arguments: list[str] | None = None) -> None:
    """Run what is asked for."""
    options = _parser().parse_args(arguments)
    if options.names == ["list"]:
        print(known_workloads())
    elif options.names == ["table"]:
        _write(options)
    elif options.names == ["latency"]:
        latency.write(options.out or latency.PAGE, options.turns or 9)
    else:
        _measure(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="workloads or families (default: all); or one of 'list', 'table', 'latency'",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, one turn, under three minutes")
    parser.add_argument("--turns", type=int, default=None, help="turns for each method (default: 3; quick: 1)")
    parser.add_argument("--threads", type=int, default=1, help="processors for each job (default: 1)")
    parser.add_argument(
        "--limit", type=float, default=None, help="seconds for each job, its data included (default: 300)"
    )
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="only these methods")
    parser.add_argument(
        "--records",
        type=Path,
        default=None,
        help="where records are added (default: benchmarks/records.jsonl; quick: a new file)",
    )
    parser.add_argument("--out", type=Path, help=f"where 'table' writes ({_PAGE}), or 'latency' ({latency.PAGE})")
    return parser


def _measure(options: argparse.Namespace) -> None:
    """Measure, telling how each job ended, and print each workload when it is through."""
    workloads = find_workloads(options.names) if options.names else list(WORKLOADS.values())
    if unknown := [name for name in options.methods or () if name not in PEERS]:
        raise SystemExit(f"there is no method {unknown[0]!r}; methods: {', '.join(PEERS)}")
    if options.quick:
        workloads = [each for each in workloads if each.quick]
    start = time.perf_counter()
    path = options.records or (Path(tempfile.mkdtemp()) / "quick.jsonl" if options.quick else RECORDS)
    turns = options.turns or (1 if options.quick else 3)
    limit = options.limit or (_QUICK_LIMIT if options.quick else 300.0)
    for workload in workloads:
        methods = [name for name in options.methods or workload.methods if not options.quick or name in workload.quick]
        for record in run([workload], path, turns=turns, threads=options.threads, limit=limit, methods=methods):
            if record["status"] != "done":
                print(f"{workload.name}, {record['method']}: {record['status']}: {record['reason']}", flush=True)
        for race in races(read_records(path), options.threads):
            if race.workload is workload:
                print(console(race), flush=True)
    print(f"{time.perf_counter() - start:.0f} s; records in {path}")


def _write(options: argparse.Namespace) -> None:
    """Write the page and its picture."""
    from .picture import draw

    path = options.records or RECORDS
    records = read_records(path)
    if not records:
        raise SystemExit(f"{path} holds no record; measure first: python -m benchmarks --records {path}")
    out = options.out or _PAGE
    picture = out.with_suffix(".png")
    draw(races(records, options.threads), picture)
    out.write_text(page(records, options.threads, picture.name), encoding="utf-8")
    print(f"{out} and {picture}")


if __name__ == "__main__":
    main()
