"""``method-table``: a row for each page of methods, taken from the lines above its heading."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

KEYS = ("learns_from", "gives", "in_a_few_words")
_ABOVE = re.compile(r"---\n(?P<facts>.*?)\n---\n+# (?P<title>[^\n]+)", re.DOTALL)


class MethodTable(SphinxDirective):
    """Insert a table with a row a page of this folder."""

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        pages = [page for page in Path(self.get_source_info()[0]).parent.glob("*.md") if page.name != "index.md"]
        rows = [row for _, row in sorted(map(read_page, pages))]
        head = ["| method | learns from | gives | in a few words |", "| --- | --- | --- | --- |"]
        return self.parse_text_to_nodes("\n".join([*head, *rows]))


def read_page(page: Path) -> tuple[float, str]:
    """Return the place of a method in the table, and its row."""
    found = _ABOVE.match(page.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{page.name} does not begin with {', '.join(('place', *KEYS))} between two lines of ---")
    facts = dict(line.split(": ", 1) for line in found["facts"].splitlines())
    told = [facts[key].strip('"') for key in KEYS]
    return float(facts["place"]), f"| [{found['title']}]({page.name}) | {' | '.join(told)} |"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("method-table", MethodTable)
    return {"parallel_read_safe": True}
