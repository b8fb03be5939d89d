"""What the project imports is what pyproject.toml names, and its lowest versions can be read from there."""

from __future__ import annotations

import ast
import runpy
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
DISTRIBUTIONS = packages_distributions()
IN_SRC_BY_CHOICE = {"pandas", "torch", "dask", "distributed", "starlette", "uvicorn", "markdown-it-py", "xgboost-cpu"}
"""Imported by the package only where the user's own data are of that kind, or an extra was asked for."""


def named_in(lines):
    return {canonicalize_name(Requirement(line).name) for line in lines}


def imported_by(folder):
    """Return the distributions that the Python files of a folder import, each with the first file that does."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names:
                found.setdefault(name, path.relative_to(ROOT))
    return {canonicalize_name(DISTRIBUTIONS.get(name, [name])[0]): path for name, path in found.items()}


def test_what_the_package_imports_is_installed_with_it():
    missing = imported_by("src").keys() - named_in(PROJECT["dependencies"]) - {"wellorder"}
    assert missing <= IN_SRC_BY_CHOICE


def test_what_the_tests_import_is_in_their_extra():
    found = imported_by("tests")
    allowed = named_in([*PROJECT["dependencies"], *EXTRAS["test"]]) | {"wellorder", "tests", "benchmarks", "tools"}
    assert {name: path for name, path in found.items() if name not in allowed} == {}


@pytest.fixture
def matrix(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")  # as it is for a script that is run
    return SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "matrix")))


def test_every_library_has_a_lowest_version(matrix):
    assert matrix.pythons()
    for version in matrix.pythons():
        assert named_in(matrix.lowest(version, matrix.REQUIREMENTS)) == named_in(matrix.REQUIREMENTS) - matrix.JUDGES


def test_the_highest_of_the_bounds_that_hold_for_a_python_counts(matrix):
    requirements = ["one>=2.0", "one>=2.1; python_version >= '3.13'", "two[more]>=1,<3", "ruff>=1"]
    assert matrix.lowest("3.12", requirements) == ["one==2.0", "two==1"]
    assert matrix.lowest("3.13", requirements) == ["one==2.1", "two==1"]
    with pytest.raises(SystemExit, match=r"'one<3' in pyproject\.toml names no lowest version"):
        matrix.lowest("3.13", ["one<3"])
