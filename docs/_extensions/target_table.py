"""``target-table``: every runtime that a model can be exported to, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tables import target_table


class TargetTable(SphinxDirective):
    """Insert a table with a row a target."""

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        return self.parse_text_to_nodes("\n".join(target_table()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("target-table", TargetTable)
    return {"parallel_read_safe": True}
