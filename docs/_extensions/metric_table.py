"""``metric-table``: every metric of grades, of their probabilities or of comparisons, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from tables import metric_table


class MetricTable(SphinxDirective):
    """Insert a table with a row a metric."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        return self.parse_text_to_nodes("\n".join(metric_table(self.arguments[0])))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("metric-table", MetricTable)
    return {"parallel_read_safe": True}
