"""The pages for who reads the code: the picture is what the imports say, and every name on them is there."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(wellorder\.[\w.]+)`")


def find(dotted: str) -> object:
    """Import as much of a dotted name as is a module, and look the rest up."""
    parts = dotted.split(".")
    for n in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for name in parts[n:]:
            found = getattr(found, name)
        return found
    raise ModuleNotFoundError(dotted)


def test_the_picture_is_what_the_imports_say():
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "architecture"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", ["architecture.md", "notation.md"])
def test_every_name_on_the_page_is_there(page):
    names = set(NAMED.findall((ROOT / "docs" / page).read_text(encoding="utf-8")))
    assert len(names) > 15
    for name in names:
        find(name)
