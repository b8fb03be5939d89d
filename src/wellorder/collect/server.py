"""The pages and what they ask for: a Starlette application around a :class:`Keeper`."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard, TypeVar
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..processes import python_command
from .collection import Collection, RefusedError, Turn
from .items import Items
from .keeper import Keeper
from .key import Key
from .pages import Owned, Page, asset, judge_page, owner_page, owner_part, plain_page, write_forecast

T = TypeVar("T")

LARGEST = 16_384
"""Bytes of a request's body: an answer with the longest note has fewer."""
_LONGEST_PATH = 500
"""Characters of an address here: links have fewer than a hundred."""
_LONGEST_LOOK = 86_400.0
"""Seconds that a judge may look at a pair; more is no time to be written down."""
_PATIENCE = 300.0
"""Seconds that a report may take."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' {0}; media-src 'self' {0}; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY.format("").replace(" ;", ";"),
    "Referrer-Policy": "no-referrer",  # links hold tokens
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}
_OF_FILES = "default-src 'none'; sandbox"
"""The policy of pictures: an SVG that is opened by itself runs nothing."""
_OF_REPORTS = "sandbox allow-scripts"
"""The policy of a report: it brings its own, and is kept apart from this page."""


@dataclass(frozen=True)
class Served:
    """What is served.

    Attributes
    ----------
    items : Items
    keeper : Keeper
    key : Key
    judges : mapping
        Their numbers and names.
    path : Path
        The database.
    question : str
        What judges are asked.
    address : str
        Where judges reach the collector, without a slash at the end.
    hosts : frozenset of str or None
        Names by which it may be called; None for any.
    wake : function
        Called when votes have come.
    """

    items: Items
    keeper: Keeper
    key: Key
    judges: Mapping[int, str]
    path: Path
    question: str
    address: str
    hosts: frozenset[str] | None = None
    wake: Callable[[], None] = lambda: None
    reporting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def judge_link(self, number: int) -> str:
        """Return a judge's personal link."""
        return f"{self.address}/judge/{number}/{self.key.token(f'judge {number}')}/"

    def owner_link(self) -> str:
        """Return the link of whoever wants to know."""
        return f"{self.address}/owner/{self.key.token('owner')}/"

    async def ask(self, work: Callable[[Collection], T]) -> T:
        """Have something done to the collection."""
        return await asyncio.wrap_future(self.keeper.ask(work))


def make_app(served: Served) -> ASGIApp:
    """Return the application."""
    judge, owner = "/judge/{judge:int}/{token}", "/owner/{token}"
    routes = [
        Route("/", _home),
        Route("/static/{name}", _static),
        Route(f"{judge}/", _judged(_judge)),
        Route(f"{judge}/turn", _judged(_turn)),
        Route(f"{judge}/answer", _judged(_answer), methods=["POST"]),
        Route(f"{judge}/undo", _judged(_undo), methods=["POST"]),
        Route(f"{judge}/media/{{item:int}}/{{part:int}}", _judged(_media)),
        Route(f"{owner}/", _owned(_owner)),
        Route(f"{owner}/now", _owned(_now)),
        Route(f"{owner}/report", _owned(_report)),
        Route(f"{owner}/votes.csv", _owned(_votes)),
    ]
    handlers: Any = {HTTPException: _say_error, RefusedError: _say_refused, Exception: _say_fault}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.served = served
    return Guard(app, served)


def run(app: ASGIApp, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until somebody stops it; ``ready`` is called once pages can be had."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,  # links hold tokens
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )
    _Server(config, ready).run(sockets=[listening])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


# --------------------------------------------------------------------------------------------------
# Before anything else: who asks, from where, and how much they send.


class Guard:
    """Refuses what no page of ours sends, and sees that every answer says what browsers may do with it."""

    def __init__(self, app: ASGIApp, served: Served) -> None:
        self._app, self._hosts = app, served.hosts
        elsewhere = " ".join(served.items.elsewhere)
        headers = {**_HEADERS, "Content-Security-Policy": _POLICY.format(elsewhere).replace(" ;", ";")}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in self._headers if each[0] not in given)]
            await send(message)

        problem = self._problem(scope)
        if problem is None:
            await self._app(scope, receive, guarded)
        else:
            await JSONResponse({"error": problem[1]}, problem[0])(scope, receive, guarded)

    def _problem(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self._hosts is not None and _name_of(host) not in self._hosts:
            return 403, "this collector is only for its own machine"  # else a foreign name could be made to mean it
        if len(scope["path"]) > _LONGEST_PATH:
            return 404, "there is nothing here"  # nor is a number of so many digits read
        if scope["method"] in ("GET", "HEAD"):
            return None
        origin = headers.get(b"origin")
        if (origin is not None and _site_of(origin) != host) or headers.get(b"sec-fetch-site") == "cross-site":
            return 403, "another site may not send answers"
        if headers.get(b"content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "send JSON"
        length = headers.get(b"content-length", "0")
        if not length.isdecimal():
            return 400, "a length is a number"
        if int(length[:20]) > LARGEST:
            return 413, f"send no more than {LARGEST:,} bytes"
        return None


def _name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _site_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


async def _read_json(request: Request) -> dict[str, Any]:
    body = bytearray()
    async for chunk in request.stream():  # who says nothing of the length, or lies, is cut off here
        body += chunk
        if len(body) > LARGEST:
            raise HTTPException(413, f"send no more than {LARGEST:,} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "this is not JSON") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "send a JSON object")
    return found


Endpoint = Callable[[Request], Awaitable[Response]]


def _judged(endpoint: Endpoint) -> Endpoint:
    """Let only the judge in whose link it is."""

    async def checked(request: Request) -> Response:
        number = request.path_params["judge"]
        return await _checked(request, f"judge {number}" if number in _served(request).judges else None, endpoint)

    return checked


def _owned(endpoint: Endpoint) -> Endpoint:
    """Let only the owner in."""

    async def checked(request: Request) -> Response:
        return await _checked(request, "owner", endpoint)

    return checked


async def _checked(request: Request, whom: str | None, endpoint: Endpoint) -> Response:
    if whom is None or not _served(request).key.opens(whom, request.path_params["token"]):
        raise HTTPException(403, "this link is not valid (any more); ask for a new one")
    return await endpoint(request)


def _served(request: Request) -> Served:
    served = request.app.state.served
    assert isinstance(served, Served)
    return served


# --------------------------------------------------------------------------------------------------
# The judges' page.


async def _home(request: Request) -> Response:
    return HTMLResponse(
        plain_page(
            "wellorder collect", "Open the personal link that you were given: there is nothing to see without it."
        )
    )


async def _static(request: Request) -> Response:
    found = asset(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "there is nothing here")
    content, kind = found
    return Response(content, media_type=kind, headers={"Cache-Control": "max-age=300"})


async def _judge(request: Request) -> Response:
    served = _served(request)
    return HTMLResponse(judge_page(Page(served.question, served.judges[request.path_params["judge"]])))


async def _turn(request: Request) -> Response:
    served, judge = _served(request), request.path_params["judge"]
    return await _show(served, lambda collection: collection.turn(judge))


async def _answer(request: Request) -> Response:
    served, judge, said = _served(request), request.path_params["judge"], await _read_json(request)
    number, outcome, note, seconds = (said.get(name) for name in ("offer", "outcome", "note", "seconds"))
    if not _is_number(number) or not isinstance(outcome, str) or not (note is None or isinstance(note, str)):
        raise HTTPException(400, "an answer has an offer (a number), an outcome and a note (text)")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds <= _LONGEST_LOOK:
        seconds = None
    response = await _show(
        served, lambda collection: collection.answer(judge, number, outcome, _as_text(note or ""), seconds)
    )
    served.wake()
    return response


def _as_text(note: str) -> str:
    """Return what can be stored and read again: without NUL, and without halves of characters that were cut through."""
    return note.replace("\0", "").encode(errors="replace").decode().strip()


def _is_number(value: Any) -> TypeGuard[int]:
    """Say whether a value may be the number of an offer."""
    return type(value) is int and 0 < value < 1 << 63


async def _undo(request: Request) -> Response:
    served, judge, said = _served(request), request.path_params["judge"], await _read_json(request)
    number = said.get("offer")
    if number is not None and not _is_number(number):
        raise HTTPException(400, "say which offer was on the screen: a number, or null")
    response = await _show(served, lambda collection: collection.undo(judge, number))
    served.wake()
    return response


async def _show(served: Served, work: Callable[[Collection], Turn]) -> Response:
    """Do something, and say what the judge is to see then."""

    def done(collection: Collection) -> tuple[Turn, list[str], Any]:
        turn = work(collection)
        names = (
            [] if turn.offer is None else [collection.items[number] for number in (turn.offer.left, turn.offer.right)]
        )
        return turn, names, collection.advice.get("progress")

    turn, names, progress = await served.ask(done)
    pair = None
    if turn.offer is not None:
        left, right = (served.items.shown(served.items.number[name]) for name in names)
        pair = {"offer": turn.offer.number, "left": left, "right": right, "note": turn.note}
    return JSONResponse(
        {
            "pair": pair,
            "mine": turn.mine,
            "all": turn.all,
            "undo": turn.can_undo,
            "forecast": write_forecast(progress, turn.all),
        }
    )


async def _media(request: Request) -> Response:
    found = _served(request).items.media(request.path_params["item"], request.path_params["part"])
    if found is None or not found[0].is_file():
        raise HTTPException(404, "there is no such file")
    headers = {"Cache-Control": "private, max-age=3600", "Content-Security-Policy": _OF_FILES}
    return FileResponse(found[0], media_type=found[1], headers=headers)


# --------------------------------------------------------------------------------------------------
# The owner's page.


async def _owner(request: Request) -> Response:
    served = _served(request)
    return HTMLResponse(owner_page(await _look(served)))


async def _now(request: Request) -> Response:
    owned = await _look(_served(request))
    return JSONResponse({"part": owner_part(owned), "n_votes": owned.n_votes, "said": owned.said})


async def _look(served: Served) -> Owned:
    def look(collection: Collection) -> Owned:
        judges = [
            (name, votes, skips, served.judge_link(number)) for number, name, votes, skips in collection.by_judge()
        ]
        return Owned(
            served.path.name, served.question, len(served.items), collection.n_votes, judges, collection.advice
        )

    return await served.ask(look)


async def _report(request: Request) -> Response:
    served = _served(request)
    try:
        content = await _by_command(served, "page.html", "rate", "--side", "--report")
    except HTTPException:  # few votes may not tell what a side does from what the items do
        content = await _by_command(served, "page.html", "rate", "--report")
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": _OF_REPORTS})


async def _votes(request: Request) -> Response:
    content = await _by_command(_served(request), "votes.csv", "collect", "export", "-o")
    headers = {"Content-Disposition": 'attachment; filename="votes.csv"'}
    return Response(content, media_type="text/csv", headers=headers)


async def _by_command(served: Served, name: str, *words: str) -> bytes:
    """Have a command of ours write a file about the votes, in a process of its own: nobody's answer waits for it."""
    async with served.reporting:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            *command, option = words
            process = await asyncio.create_subprocess_exec(
                *python_command(
                    "from wellorder.cli.main import main; main()",
                    *command,
                    os.fspath(served.path.absolute()),
                    option,
                    os.fspath(file),
                ),
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                _, said = await asyncio.wait_for(process.communicate(), _PATIENCE)
            except BaseException as error:
                process.kill()
                await process.wait()
                if isinstance(error, TimeoutError):
                    raise HTTPException(503, "it takes too long; run 'wellorder rate' by yourself") from None
                raise
            if process.returncode != 0:
                raise HTTPException(409, said.decode(errors="replace").strip().rpartition("error: ")[2] or "it failed")
            return file.read_bytes()


# --------------------------------------------------------------------------------------------------
# What goes wrong.


def _as_wanted(request: Request, status: int, problem: str) -> Response:
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(plain_page("This did not work", f"{problem[:1].upper()}{problem[1:]}."), status)
    return JSONResponse({"error": problem}, status)


async def _say_error(request: Request, error: HTTPException) -> Response:
    return _as_wanted(request, error.status_code, error.detail)


async def _say_refused(request: Request, error: RefusedError) -> Response:
    return _as_wanted(request, 409, str(error))


async def _say_fault(request: Request, error: Exception) -> Response:
    return _as_wanted(request, 500, "nothing was saved: the collector could not write; try again")
