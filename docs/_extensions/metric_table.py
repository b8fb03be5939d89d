"""``metric-table``: every metric of grades, of their probabilities or of comparisons, taken from the registry."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from wellorder.metrics import (
    COMPARISON_METRICS,
    GRADE_PROBABILITY_METRICS,
    METRICS,
    PROBABILITY_METRICS,
    TIME_METRICS,
    Definition,
)

TABLES = {
    "grades": METRICS,
    "times": TIME_METRICS,
    "probabilities": GRADE_PROBABILITY_METRICS,
    "comparisons": COMPARISON_METRICS | PROBABILITY_METRICS,
}


class MetricTable(SphinxDirective):
    """Insert a table with a row a metric."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table, written in Markdown and read by the page's own parser."""
        lines = ["| metric | what it says | better | from | to | chance |", "| --- | --- | --- | --- | --- | --- |"]
        return self.parse_text_to_nodes("\n".join(lines + [_row(each) for each in TABLES[self.arguments[0]].values()]))


def _row(metric: Definition) -> str:
    name = f"{metric.name}@10" if metric.needs_cutoff else metric.name
    names = ", ".join(f"`{each}`" for each in (name, *metric.aliases))
    low, high = (f"{end:g}".replace("-", "−").replace("inf", "∞") for end in metric.bounds)
    chance = "" if metric.chance is None else f"{metric.chance:g}"
    better = "higher" if metric.greater_is_better else "lower"
    return f"| {names} | {metric.meaning} | {better} | {low} | {high} | {chance} |"


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("metric-table", MetricTable)
    return {"parallel_read_safe": True}
