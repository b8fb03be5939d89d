"""A collector in this process, and one of its own that can be killed."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wellorder.collect import Items, Setting, open_collection
from wellorder.collect.items import Field
from wellorder.collect.server import Served, make_app

ROOT = Path(__file__).resolve().parents[2]


def texts(*names):
    """Return items that are shown by their names."""
    return Items(list(names), [[Field("name", "text", name)] for name in names])


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


class Client:
    """Calls an application as a server does: nothing between."""

    def __init__(self, served):
        self.served, self.app = served, make_app(served)
        self.judges = [self._path(served.judge_link(number)) for number in (1, 2)]
        self.owner = self._path(served.owner_link())

    @staticmethod
    def _path(link):
        return re.sub("^https?://[^/]+", "", link)

    def get(self, path, **headers):
        return self.call("GET", path, b"", headers)

    def post(self, path, content, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return self.call("POST", path, body, {"content-type": "application/json", **headers})

    def turn(self, judge=0):
        return self.get(self.judges[judge] + "turn").json

    def answer(self, outcome, judge=0, offer=None, **more):
        offer = self.turn(judge)["pair"]["offer"] if offer is None else offer
        return self.post(self.judges[judge] + "answer", {"offer": offer, "outcome": outcome, **more})

    def call(self, method, path, body=b"", headers=(), chunks=1):
        sent = {"host": "127.0.0.1:8765", **dict(headers)}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.replace("_", "-").lower().encode(), str(value).encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8765),
        }
        pieces = [body[len(body) * k // chunks : len(body) * (k + 1) // chunks] for k in range(chunks)]
        found = []

        async def receive():
            if not pieces:
                await asyncio.Event().wait()  # it stays, and waits for the answer
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def send(message):
            found.append(message)

        asyncio.run(self.app(scope, receive, send))
        body = b"".join(message.get("body", b"") for message in found[1:])
        return Answer(found[0]["status"], {n.decode(): v.decode() for n, v in found[0]["headers"]}, body)


@contextmanager
def client_of(path, items, hosts=frozenset({"127.0.0.1", "localhost"}), seed=0, **setting):
    """Open a collection, and call its application."""
    setting = Setting(judges=setting.pop("judges", ("judge 1", "judge 2")), chances={"random": Random(seed)}, **setting)
    with open_collection(path, items, setting) as (keeper, key):
        judges = keeper.ask(lambda collection: collection.judges).result()
        yield Client(Served(items, keeper, key, judges, path, setting.question, "http://127.0.0.1:8765", hosts))


@contextmanager
def server_of(path, items, **setting):
    """Open a collection and serve it from this process; give its address and links."""
    import uvicorn

    setting = Setting(judges=setting.pop("judges", ("judge 1", "judge 2")), chances={"random": Random(0)}, **setting)
    with open_collection(path, items, setting) as (keeper, key), socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        judges = keeper.ask(lambda collection: collection.judges).result()
        served = Served(items, keeper, key, judges, path, setting.question, address, frozenset({"127.0.0.1"}))
        server = uvicorn.Server(uvicorn.Config(make_app(served), log_level="critical", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield served
        finally:
            server.should_exit = True
            thread.join()


_NURSERY = """
import os, signal, sys
from wellorder.collect import Setting, serve
from tests.collect.running import texts
for line in sys.stdin:
    path, n_items = line.split()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        told = lambda links, owner: print(os.getpid(), links[0][1], flush=True)
        serve(path, texts(*map(str, range(int(n_items)))), Setting(advised=False), port=0, ready=told)
        os._exit(0)
    os.waitpid(child, 0)
    print("ended", flush=True)
"""


class Nursery:
    """A process that has loaded all there is to load, and from which collectors start at once: to be killed."""

    def __enter__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-c", _NURSERY],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        )
        return self

    def start(self, path, n_items):
        """Start a collector; return its process and the link of its judge."""
        self._process.stdin.write(f"{path} {n_items}\n")
        self._process.stdin.flush()
        number, link = self._process.stdout.readline().split()
        return int(number), link

    def kill(self, number):
        """Kill it without a word, and wait until it is gone."""
        os.kill(number, signal.SIGKILL)
        assert self._process.stdout.readline() == "ended\n"

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=300)


class Collector:
    """``wellorder collect`` in a process of its own."""

    def __init__(self, folder, *words, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wellorder", "collect", *words],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        )
        self.said, self.links = "", []

    def start(self):
        """Wait for its links; the owner's is the last one."""
        for line in self.process.stdout:
            self.said += line
            self.links += re.findall(r"http://\S+/", line)
            if "stop with" in line:
                return self
        raise AssertionError(self.said + self.process.stderr.read())

    def end(self, how=signal.SIGTERM):
        """End it, and return its exit code and what it said."""
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=300)
        return self.process.returncode, self.said + out, err

    @staticmethod
    def ask(link, path="", content=None):
        """Get a page, or send an answer; the status and the content."""
        _, _, where, rest = link.split("/", 3)
        connection = http.client.HTTPConnection(where, timeout=200)
        body = None if content is None else json.dumps(content)
        headers = {} if content is None else {"Content-Type": "application/json"}
        try:
            connection.request("GET" if content is None else "POST", f"/{rest}{path}", body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
