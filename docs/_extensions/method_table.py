"""``method-table``: a row for each page of methods, taken from the lines above its heading."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tables import method_table


class MethodTable(SphinxDirective):
    """Insert a table with a row a page of this folder."""

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        return self.parse_text_to_nodes("\n".join(method_table(Path(self.get_source_info()[0]).parent)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("method-table", MethodTable)
    return {"parallel_read_safe": True}
