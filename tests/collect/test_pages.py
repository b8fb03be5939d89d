"""What pages say, in words."""

import math

import pytest

from wellorder.collect.pages import Owned, asset, owner_page, owner_part, write_forecast

PROGRESS = {"reached": 0.8, "done": False, "more": 63.0, "more_low": 40.0, "more_high": 100.0, "why": "Still <close>."}
ROW = {"item": "a <b>", "rank_low": 1, "rank_high": 3, "votes": 7, "won": 4, "tied": 1}


def owned(n_votes=40, **advice):
    judges = [("Ann", 30, 2, "http://127.0.0.1/judge/1/x/"), ("Ben", 10, 0, "http://127.0.0.1/judge/2/y/")]
    return Owned("v.db", "Which?", 4, n_votes, judges, {"n_votes": 40, **advice})


@pytest.mark.parametrize(
    ("progress", "n_votes", "text", "share", "enough"),
    [
        (None, 0, "no votes yet", None, False),
        (None, 1, "1 vote so far", None, False),
        ({**PROGRESS, "more": math.inf}, 9, "9 votes so far", None, False),
        ({**PROGRESS, "more": math.nan}, 9, "9 votes so far", None, False),
        ({**PROGRESS, "more": 0.2}, 9, "9 votes so far, about 1 to go", 0.9, False),
        ({**PROGRESS, "more": 63.0}, 37, "37 votes so far, about 65 to go", 0.37, False),
        ({**PROGRESS, "more": 118.0}, 0, "no votes yet, about 120 to go", 0.0, False),
        ({**PROGRESS, "more": 12_345.0}, 0, "no votes yet, about 13,000 to go", 0.0, False),
        ({**PROGRESS, "done": True}, 160, "160 votes: enough for a sure order", 1.0, True),
    ],
)
def test_how_far_it_is(progress, n_votes, text, share, enough):
    assert write_forecast(progress, n_votes) == {"text": text, "share": share, "enough": enough}


def test_the_owner_reads_places_and_what_is_behind():
    page = owner_part(owned(43, progress=PROGRESS, standings=[ROW]))
    assert "43 votes so far, about 65 to go" in page
    assert "Still &lt;close&gt;." in page
    assert "a &lt;b&gt;" in page
    assert "1–3" in page
    assert 'x="0.0" width="75.0"' in page
    assert "4 won, 1 equal, 2 lost" in page
    assert "3 newer votes are being worked in" in page
    assert "3 more are in the report" in page


def test_judges_and_reliability_are_told_in_words():
    judges = [
        {"judge": "Ann", "agreement": 0.81, "by_chance": False},
        {"judge": "Ben", "agreement": 0.5, "by_chance": True},
    ]
    sure = {"split_half": 0.83, "separation": 0.9, "n_random": 1_200, "notes": []}
    page = owner_part(owned(standings=[ROW], judges=judges, reliability=sure))
    assert "agrees with the others in 81 %" in page
    assert "answers as if by chance" in page
    assert "to about 83 % (by 1,200 votes" in page
    few = owner_part(owned(standings=[ROW], reliability={**sure, "split_half": math.nan, "separation": math.nan}))
    assert "Too few of the votes were on pairs drawn at random" in few


def test_without_votes_the_owner_is_told_what_to_do():
    page = owner_page(owned(0))
    assert "give each judge a link" in page
    assert "http://127.0.0.1/judge/2/y/" in page


def test_what_failed_is_told():
    assert "could not be computed (OSError). Votes are saved all the same" in owner_part(owned(error="OSError"))


def test_there_are_four_files_and_no_others():
    assert all(map(asset, ("collect.css", "judge.js", "owner.js", "icon.svg")))
    assert not any(map(asset, ("judge.html", "../pages.py", "", "standings.html", "collect.css/")))
