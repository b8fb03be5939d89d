"""A collector from its start to its end: the lock, the database, the address, and what runs beside."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from .advice import Background, Brief
from .collection import Collection
from .items import Items
from .keeper import Keeper
from .key import Key
from .store import Store, StoreError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
DEFAULT_PORT = 8765


@dataclass(frozen=True)
class Setting:
    """How votes are collected.

    Attributes
    ----------
    judges : tuple of str
        Those who have a link.
    question : str
        What they are asked.
    per_pair : int
        How many judges may get the same pair.
    random_share : float
        How many of the pairs are drawn uniformly, whatever the votes say.
    goal : str
        What the votes are for: ``"rank"``, ``"top 10"``, ``"levels 4"``.
    min_difference : float
        No pair is chosen by what was learned if it is expected to be closer, in log-odds; drawn pairs may be.
    advised : bool
        Whether pairs are chosen by what was learned; if not, all are drawn uniformly after the first few.
    """

    judges: tuple[str, ...] = ("judge 1",)
    question: str = "Which one is better?"
    per_pair: int = 1
    random_share: float = 0.1
    goal: str = "rank"
    min_difference: float = 0.0
    advised: bool = True
    chances: dict[str, Any] = field(default_factory=dict)


@contextmanager
def open_collection(path: str | os.PathLike[str], items: Items, setting: Setting) -> Iterator[tuple[Keeper, Key]]:
    """Open a database of votes for collecting; it is ours alone until the block ends."""
    with ExitStack() as closing:
        key = Key(path)
        closing.callback(key.close)
        store = Store(path)
        try:
            collection = Collection(
                store,
                items.names,
                setting.judges,
                per_pair=setting.per_pair,
                random_share=setting.random_share,
                **setting.chances,
            )
        except BaseException:
            store.close()
            raise
        keeper = Keeper(store, collection)
        closing.callback(keeper.close)
        yield keeper, key


def serve(
    path: str | os.PathLike[str],
    items: Items,
    setting: Setting,
    *,
    host: str = LOOPBACK[1],
    port: int | None = None,
    address: str | None = None,
    ready: Callable[[list[tuple[str, str]], str], None],
) -> int:
    """Serve the pages until somebody stops it, and return how many votes there are.

    Parameters
    ----------
    path : path-like
        The database; it is made if it is not there.
    items : Items
    setting : Setting
    host : str
        Where to listen. Unless it is of this machine alone, others can reach it.
    port : int, optional
        The usual one, or any other that is free, unless given.
    address : str, optional
        How judges reach it, where that is another address than that of the socket: ``https://votes.example.org``.
    ready : function
        Told once it listens: the judges' names and links, and the owner's link.
    """
    need_extra()
    from .server import Served, make_app, run

    with ExitStack() as closing:
        listening = closing.enter_context(_listen(host, port))
        keeper, key = closing.enter_context(open_collection(path, items, setting))
        background: list[Background] = []

        def wake() -> None:
            for each in background:
                each.wake()

        judges = keeper.ask(lambda collection: dict(collection.judges)).result()
        served = Served(
            items=items,
            keeper=keeper,
            key=key,
            judges=judges,
            path=Path(path),
            question=setting.question,
            address=(address or _address_of(listening, host)).rstrip("/"),
            hosts=frozenset(LOOPBACK) if is_loopback(host) and address is None else None,
            wake=wake,
        )
        if setting.advised:
            background.append(_advise(path, items, setting, keeper))
            closing.callback(background[0].close)
        links = [(name, served.judge_link(number)) for number, name in judges.items()]
        with _stopped_by_signals(), _nothing_to_tidy():
            run(make_app(served), listening, lambda: ready(links, served.owner_link()))
        try:
            return keeper.ask(lambda collection: collection.n_votes).result()
        except sqlite3.Error as error:
            raise StoreError(
                f"{os.fspath(path)}: it could not be used at the end ({error}); what judges were told is saved is in it"
            ) from None


def need_extra() -> None:
    """Say what to install where it is not: the pages need more than the rest."""
    try:
        import markdown_it  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"wellorder collect needs {error.name}, which is not installed: pip install 'wellorder[collect]'"
        ) from None


@contextmanager
def _nothing_to_tidy() -> Iterator[None]:
    """Keep the garbage collector from looking at all that was loaded: everybody would wait for it, .2 s at a time."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Leave the block in order when somebody stops us, by a key or by a signal."""
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except KeyboardInterrupt:
        pass
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach this address."""
    try:
        return host in LOOPBACK or ip_address(host).is_loopback
    except ValueError:
        return False


@contextmanager
def _listen(host: str, port: int | None) -> Iterator[socket.socket]:
    """Listen; at the usual port, or any that is free, unless one is asked for."""
    last: OSError | None = None
    for number in (DEFAULT_PORT, 0) if port is None else (port,):
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
            listening = socket.socket(family, kind, protocol)
        except OSError as error:
            raise OSError(error.errno, f"there is no such address ({error.strerror}); check --host", host) from None
        with listening:
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(where)
                listening.listen(1024)
            except OSError as error:
                last = error
                continue
            yield listening
            return
    assert last is not None
    raise OSError(
        last.errno, f"it cannot listen there ({last.strerror}); take another --port or --host", f"{host}:{port}"
    )


def _address_of(listening: socket.socket, host: str) -> str:
    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{listening.getsockname()[1]}"


def brief_of(path: str | os.PathLike[str], items: Items, setting: Setting) -> Brief:
    """Return what an adviser goes by; it travels to another process as plain values."""
    return Brief(
        os.path.abspath(path),
        items.names,
        setting.goal,
        setting.per_pair,
        setting.min_difference,
        None if items.features is None else items.features.tolist(),
    )


def _advise(path: str | os.PathLike[str], items: Items, setting: Setting, keeper: Keeper) -> Background:
    """Have the standings computed beside, as votes come in."""
    return Background(
        brief_of(path, items, setting),
        lambda: keeper.ask(lambda collection: collection.changes).result(),
        lambda advice: keeper.ask(lambda collection: collection.follow(advice)).result(),
        n_pairs=8 + 4 * len(setting.judges),
    )
