"""The page of all papers' claims: it counts right, and leads to where its numbers stand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAGE = (RESULTS / "index.md").read_text(encoding="utf-8")
KINDS = ("holds", "holds in part", "does not hold", "could not be tested")


def anchors(path):
    """Return what a page's headings are named by."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    kept = (
        "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_") for heading in headings
    )
    return {each.replace(" ", "-") for each in kept}


def test_claims_are_counted_as_they_are_told():
    told = [cell.strip(" *") for cell in re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", PAGE, re.MULTILINE)]
    count = Counter(cell for cell in told if cell not in ("here", "---"))
    assert set(count) == set(KINDS)
    numbers = [int(number) for number in re.findall(r"\d+", PAGE.partition(":")[0])]
    assert numbers == [count.total(), *(count[kind] for kind in KINDS)]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)]+)\)", PAGE))))
def test_links_lead_to_headings(link):
    page, _, anchor = link.partition("#")
    assert (RESULTS / page).exists()
    assert not anchor or anchor in anchors(RESULTS / page)
