"""How pages are made: templates in which everything is escaped, and nothing is fetched."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..figures import legible


@cache
def environment() -> Environment:
    """Return the templates; whatever is put into one is escaped, and what no page may hold is taken out."""
    made = Environment(
        loader=PackageLoader("wellorder.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_clean,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["zip"] = zip
    return made


def source(name: str) -> str:
    """Return a file of the templates as it is."""
    made = environment()
    assert made.loader is not None
    return made.loader.get_source(made, name)[0]


def script_hash(script: str) -> str:
    """Return what the page's policy calls its one script by: no other will run."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def without_folders(data: str) -> str:
    """Return a file's name without the folders it lies in, which say more about a machine than about the data."""
    return data.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or data


def _clean(value: Any) -> Any:
    """Take out of names what no page may hold; markup of our own making stays as it is."""
    return legible(value) if type(value) is str else value
