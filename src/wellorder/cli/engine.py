"""``--engine dask``: work on a cluster that is there, or on one that lasts as long as the command."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from logging import CRITICAL
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .options import COMPARED

if TYPE_CHECKING:
    from ..data import Table, TableRanker

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--engine",
        type=click.Choice(["dask"]),
        help="Leave the rows of Parquet files in partitions, one a file, on Dask's workers; DATA may be a pattern.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster; without it, one is started here."),
)


def engine_options(function: F) -> F:
    """Add the options that say where the work is done."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def check_engine(engine: str | None, scheduler: str | None, **unused: Any) -> None:
    """Refuse options that do not go together: a scheduler without an engine, or what no engine offers yet."""
    if engine is None and scheduler is not None:
        raise click.UsageError("--scheduler is of a cluster; say --engine dask as well")
    for name, value in unused.items():
        if engine is not None and value:
            raise click.UsageError(f"--{name} reads all rows into one place; leave it out with --engine {engine}")


def read_parts(data: tuple[str, ...], estimator: Any, **roles: Any) -> Table:
    """Read the files that a command names in partitions, for a method that can do with those."""
    from ..data.partitions import read_partitions

    if not getattr(estimator, "takes_dask", False):
        raise click.UsageError(
            f"{type(estimator).__name__} needs all rows in one place; with --engine dask take rank-svm, "
            "rank-svm-nystroem, swap-svm, proportional-odds or convex-hull-ranker"
        )
    if roles.get("time") is not None:
        raise click.UsageError("--time puts rows into an order; leave it out with --engine dask")
    unused = ("items", "format_", "time", *COMPARED)
    return read_partitions(data, **{name: value for name, value in roles.items() if name not in unused})


def read_parts_for(model: TableRanker, data: tuple[str, ...]) -> Table:
    """Read the files that a command names in partitions, with the columns that a model knows."""
    from ..data.partitions import read_partitions_for

    return read_partitions_for(model, data)


def _connect(distributed: Any, scheduler: str) -> Any:
    try:
        distributed.comm.resolve_address(scheduler)  # of an unknown kind, or host: a client would stay half open
        return distributed.Client(scheduler, timeout="5s")
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--scheduler {scheduler}: no Dask cluster is found there ({error})") from None


@contextmanager
def _one_clear_line(distributed: Any) -> Iterator[None]:
    """Say what became of a cluster that went away, or whose workers die of a task again and again."""
    try:
        yield
    except CancelledError:
        raise OSError("the connection to the Dask scheduler was lost; see that it runs, and start again") from None
    except distributed.KilledWorker:
        raise OSError(
            "one worker after another died over the same partition, probably for want of memory; give the workers "
            "more of it, or write more and smaller files"
        ) from None


@contextmanager
def dask_cluster(scheduler: str | None) -> Iterator[None]:
    """Work on a cluster: the one at an address, or one worker process for each processor, on this machine alone."""
    from ..sweeps import available_cpus

    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise click.UsageError("--engine dask needs Dask; install it with: pip install 'wellorder[dask]'") from None
    if scheduler is not None:
        config = import_module("dask").config
        # a client that does not get through leaves Dask waiting for one: what was set comes back
        with config.set(scheduler=None), _connect(distributed, scheduler), _one_clear_line(distributed):
            yield
        return
    with (
        distributed.LocalCluster(
            n_workers=available_cpus(),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=CRITICAL,  # what goes wrong, the command says
        ) as cluster,
        distributed.Client(cluster),
        _one_clear_line(distributed),
    ):
        yield
