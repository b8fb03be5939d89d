from __future__ import annotations

import importlib.util
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from tests.examples.blocks import python_blocks

import wellorder as wo
from wellorder import estimators
from wellorder.cli.main import wellorder

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WITH_PYTHON = [page for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("methods/*.md")]) if python_blocks(page)]
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("[a-z]*/*.md"))]

FENCED = re.compile(r"^(```+|~~~+|:::+).*?^\1", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NEEDED = ("sphinx", "myst_parser", "sphinx_gallery", "furo")


def kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("name", estimators.__all__)
def test_every_estimator_has_a_page(name):
    text = (DOCS / "methods" / f"{kebab(name)}.md").read_text(encoding="utf-8")
    told = re.match(r"---\nplace: [\d.]+\nlearns_from: .+\ngives: .+\nin_a_few_words: .+\n---\n\n# (.+)\n", text)
    assert told, "it begins with what the table of methods says of it"
    assert told[1] == name
    for part in ("$$", "| use it when |", "| not when |", "| cost |", "| from |", "| results |", "```python"):
        assert part in text
    assert f".. autoclass:: wellorder.{name}\n" in text


def test_every_method_that_a_page_names_in_the_autodoc_exists():
    for page in DOCS.glob("methods/*.md"):
        for name, members in re.findall(r"autoclass:: wellorder\.(\w+)\n   :members: (.*)", page.read_text()):
            missing = [member for member in members.split(", ") if not callable(getattr(getattr(wo, name), member))]
            assert not missing


def test_the_page_of_metrics_has_every_metric():
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{metric-table\} (.*)$", text, re.MULTILINE) == [
        "grades",
        "times",
        "probabilities",
        "comparisons",
    ]


def test_the_page_of_the_command_line_has_every_command():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = wellorder.list_commands(None)
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == commands
    assert re.findall(r"^```\{command-help\} (.*)$", text, re.MULTILINE) == commands


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_broken(page: Path) -> list[str]:
    """Return the links of a page, pictures too, that lead nowhere."""
    broken = []
    for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if "://" in link:
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", WRITTEN, ids=page_id)
def test_links_lead_somewhere(page):
    assert find_broken(page) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "other.md").write_text("# A b, c\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](other.md) [b](other.md#a-b-c) [c](other.md#b) ![d](d.png) [e](#f)\n\n```text\n[g](g.md)\n```\n"
    )
    assert find_broken(page) == ["other.md#b", "d.png", "#f"]


def test_what_is_made_of_docstrings_commands_and_examples_is_up_to_date(monkeypatch):
    """But for spaces and line ends, which each release of click sets in its own way."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name, text in runpy.run_path(str(ROOT / "tools" / "reference"))["pages"]().items():
        there = (DOCS / name).read_text(encoding="utf-8")
        assert there.split() == text.split(), f"docs/{name} is behind: run tools/reference"


@pytest.mark.parametrize("page", WITH_PYTHON, ids=page_id)
def test_python_on_the_page_runs(page, tmp_path, monkeypatch):
    """Blocks of one page go on from each other."""
    monkeypatch.chdir(tmp_path)
    namespace = {}
    if page.name == "model-files.md":  # shows two calls on a model that a reader has
        namespace = {"wo": wo, "model": wo.RankSVM().fit([[0.0], [1.0]], [0, 1])}
    for block in python_blocks(page):
        exec(block, namespace)
    plt.close("all")


def test_the_site_builds_without_a_warning(tmp_path):
    """In a copy, as the gallery writes beside the pages; the examples themselves are run elsewhere."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"building the site needs {', '.join(missing)}: pip install -e '.[docs]'")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=shutil.ignore_patterns("_build", "gallery"))
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "CONTRIBUTING.md", tmp_path)
    options = ["-b", "html", "-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    command = [sys.executable, "-m", "sphinx", *options, str(tmp_path / "docs"), str(tmp_path / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    help_text = (tmp_path / "html" / "cli.html").read_text(encoding="utf-8")
    assert "Usage: wellorder compare" in help_text
    assert "<math" in (tmp_path / "html" / "methods" / "rank-svm.html").read_text(encoding="utf-8")
