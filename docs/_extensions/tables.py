"""Tables that are made of what the project has: for the site by its directives, for tools/reference as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from wellorder.export import TARGETS, Target
from wellorder.metrics import (
    COMPARISON_METRICS,
    GRADE_PROBABILITY_METRICS,
    METRICS,
    PROBABILITY_METRICS,
    TIME_METRICS,
    Definition,
)

METRIC_TABLES = {
    "grades": METRICS,
    "times": TIME_METRICS,
    "probabilities": GRADE_PROBABILITY_METRICS,
    "comparisons": COMPARISON_METRICS | PROBABILITY_METRICS,
}
FACTS = ("learns_from", "gives", "in_a_few_words")
_ABOVE = re.compile(r"---\n(?P<facts>.*?)\n---\n+# (?P<title>[^\n]+)", re.DOTALL)


def method_table(folder: Path, below: str = "") -> list[str]:
    """Return a table with a row for each page of methods, whose names lead to the pages below a path."""
    rows = sorted(_method_row(page, below) for page in folder.glob("*.md") if page.name != "index.md")
    head = ["| method | learns from | gives | in a few words |", "| --- | --- | --- | --- |"]
    return [*head, *(row for _, row in rows)]


def _method_row(page: Path, below: str) -> tuple[float, str]:
    found = _ABOVE.match(page.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"{page.name} does not begin with {', '.join(('place', *FACTS))} between two lines of ---")
    facts = dict(line.split(": ", 1) for line in found["facts"].splitlines())
    told = [facts[key].strip('"') for key in FACTS]
    return float(facts["place"]), f"| [{found['title']}]({below}{page.name}) | {' | '.join(told)} |"


def metric_table(which: str) -> list[str]:
    """Return a table with a row for each metric of grades, times, probabilities or comparisons."""
    head = ["| metric | what it says | better | from | to | chance |", "| --- | --- | --- | --- | --- | --- |"]
    return head + [_metric_row(each) for each in METRIC_TABLES[which].values()]


def _metric_row(metric: Definition) -> str:
    name = f"{metric.name}@10" if metric.needs_cutoff else metric.name
    names = ", ".join(f"`{each}`" for each in (name, *metric.aliases))
    low, high = (f"{end:g}".replace("-", "−").replace("inf", "∞") for end in metric.bounds)
    chance = "" if metric.chance is None else f"{metric.chance:g}"
    better = "higher" if metric.greater_is_better else "lower"
    return f"| {names} | {metric.meaning} | {better} | {low} | {high} | {chance} |"


def target_table() -> list[str]:
    """Return a table with a row for each runtime that a model can be exported to."""
    head = "| to | read by | which models | numbers | missing values | ending |"
    return [head, "| --- " * 6 + "|", *(_target_row(each) for each in TARGETS.values())]


def _target_row(target: Target) -> str:
    numbers = "single precision" if target.is_single else "double precision"
    missing = "as in the model" if target.missing else "a number in their place"
    ending = f"`{target.ending}`" if target.ending else ""
    return f"| `{target.name}` | {target.title} | {target.takes} | {numbers} | {missing} | {ending} |"
