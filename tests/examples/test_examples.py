from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from tests.examples.blocks import python_blocks

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(script, capsys):
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_example_is_short_and_has_a_title_for_the_gallery(script):
    text = script.read_text(encoding="utf-8")
    title, line, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert line == "=" * len(title)
    assert text.count("\n") < 60


def test_python_in_the_readme_runs(capsys):
    blocks = python_blocks(ROOT / "README.md")
    assert blocks
    for block in blocks:
        exec(block, {})
    assert capsys.readouterr().out
