"""The Python in a page of Markdown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def python_blocks(page: Path) -> list[Any]:
    """Compile each block of Python, with the line numbers of the page, so that an error points into it."""
    text = page.read_text(encoding="utf-8")
    return [
        compile("\n" * text.count("\n", 0, found.start(1)) + found[1], str(page), "exec")
        for found in BLOCK.finditer(text)
    ]
