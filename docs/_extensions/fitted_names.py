"""Names of fitted attributes in a docstring: coef_ is no link, and several of them may stand in one line."""

from __future__ import annotations

import re

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``)")
FITTED = re.compile(r"(?<![\w\\`])([A-Za-z]\w*)_(?=[\s·,.;:)]|$)")
SEVERAL = re.compile(r"^:(?:ivar|vartype) [^:]*, [^:]*:")
"""Attributes described together, which Sphinx would take for types and a name."""


def escape(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Escape last underscores, but in literals and examples, and tie names together that are described together."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = LITERAL.split(line)
            parts[::2] = [FITTED.sub(r"\1\\_", part) for part in parts[::2]]
            tied = "".join(parts)
            lines[number] = SEVERAL.sub(lambda found: found[0].replace(", ", ",\N{ZERO WIDTH SPACE}"), tied)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx; after napoleon, which escapes the names that it knows for parameters."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True}
