"""What is said in several places of a release is the same in all of them, and archives are held to what git has."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

import wellorder

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def release(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")  # as it is for a script that is run
    return SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "release")))


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", text, re.MULTILINE)[1] == wellorder.__version__


def test_the_changelog_has_this_version_on_top():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## \[?([\d.]+)", text, re.MULTILINE)[1] == wellorder.__version__


@pytest.mark.parametrize("name", ["checks.yml", "release.yml"])
def test_the_workflows_take_every_python_of_the_project(name, release):
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    assert set(re.findall(r"\b3\.\d\d\b", text)) == set(release.pythons())


def test_an_archive_with_too_much_or_too_little_is_refused(release):
    archive = Path("wellorder-1-py3-none-any.whl")
    release.compare(archive, {"a", "b"}, {"a", "b"})
    with pytest.raises(release.RefusedError, match=r"wellorder-1-py3-none-any\.whl: in it is what nobody wants: c$"):
        release.compare(archive, {"a", "b", "c"}, {"a", "b"})
    with pytest.raises(release.RefusedError, match="in it is not: a, b, c, d, e and 1 more"):
        release.compare(archive, set(), set("abcdef"))


def test_what_the_wheel_promises_is_there(release):
    assert [name for name in release.PROMISED if not (ROOT / release.PACKAGE / name).is_file()] == []
