"""``target-table``: every runtime that a model can be exported to, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from wellorder.export import TARGETS, Target


class TargetTable(SphinxDirective):
    """Insert a table with a row a target."""

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        lines = [
            "| to | read by | which models | numbers | missing values | ending |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        return self.parse_text_to_nodes("\n".join(lines + [_row(target) for target in TARGETS.values()]))


def _row(target: Target) -> str:
    numbers = "single precision" if target.is_single else "double precision"
    missing = "as in the model" if target.missing else "a number in their place"
    ending = f"`{target.ending}`" if target.ending else ""
    return f"| `{target.name}` | {target.title} | {target.takes} | {numbers} | {missing} | {ending} |"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("target-table", TargetTable)
    return {"parallel_read_safe": True}
