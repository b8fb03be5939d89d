"""The page of all papers' claims: it counts right, and leads to where its numbers stand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAGE = (RESULTS / "index.md").read_text(encoding="utf-8")
KINDS = ("holds", "holds in part", "does not hold", "could not be tested")


LINKS = re.findall(r"\[([^]]+)\]\(([^)]+)\)", PAGE)
FEW = 1_250
"""Words that are read in five minutes."""


def sections(path):
    """Return a page's text below each of its headings, by what links name these by."""
    _, *found = re.split(r"^#+ (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    kept = (
        "".join(letter for letter in heading.lower() if letter.isalnum() or letter in " -_") for heading in found[::2]
    )
    return dict(zip((each.replace(" ", "-") for each in kept), found[1::2], strict=True))


def numbers(text):
    """Return the numbers of a text as they are written, less their signs: those within a name are none."""
    return set(re.findall(r"(?<![\w.,@])\d+(?:,\d{3})*(?:\.\d+)?(?![\w@])", re.sub(r"\]\([^)]*\)", "]", text)))


def test_claims_are_counted_as_they_are_told():
    told = [cell.strip(" *") for cell in re.findall(r"^\|[^|]*\|([^|]*)\|[^|]*\|$", PAGE, re.MULTILINE)]
    count = Counter(cell for cell in told if cell not in ("here", "---"))
    assert set(count) == set(KINDS)
    numbers = [int(number) for number in re.findall(r"\d+", PAGE.partition(":")[0])]
    assert numbers == [count.total(), *(count[kind] for kind in KINDS)]


@pytest.mark.parametrize("link", sorted({link for _, link in LINKS}))
def test_links_lead_to_headings(link):
    page, _, anchor = link.partition("#")
    assert (RESULTS / page).exists()
    assert not anchor or anchor in sections(RESULTS / page)


@pytest.mark.parametrize(("told", "link"), LINKS)
def test_numbers_stand_where_their_link_leads(told, link):
    page, _, anchor = link.partition("#")
    found = numbers(sections(RESULTS / page)[anchor] if anchor else (RESULTS / page).read_text(encoding="utf-8"))
    assert numbers(told) <= found


def test_every_number_of_a_claim_has_a_link():
    last = re.findall(r"^\|[^|]*\|[^|]*\|([^|]*)\|$", PAGE, re.MULTILINE)
    assert all(not numbers(re.sub(r"\[[^]]+\]\([^)]+\)", "", cell)) for cell in last)


def test_the_page_is_short():
    words = re.sub(r"\]\([^)]*\)", "]", PAGE).split()
    assert sum(any(letter.isalnum() for letter in word) for word in words) <= FEW
