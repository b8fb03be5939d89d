"""The page is made from records alone."""

from __future__ import annotations

import pytest
from benchmarks.growth import exponents
from benchmarks.lines import Line, elsewhere, lines_from_elsewhere, races
from benchmarks.records import append_record, read_records
from benchmarks.table import console, page

from benchmarks import __main__ as command


def record(workload, method, seconds=None, turn=0, **more):
    status = "done" if seconds is not None else more.pop("status", "limit")
    head = {"workload": workload, "method": method, "threads": 1, "turn": turn, "status": status, "machine": "a box"}
    return head | ({"seconds": seconds, "extra_mb": 5.0} if seconds is not None else {}) | more


RECORDS = [
    record("continuous-2e4", "wellorder", 0.02, objective=413.4180, swapped=0.1482),
    record("continuous-2e4", "wellorder", 0.04, turn=1, objective=413.4180, swapped=0.1482),
    record("continuous-2e4", "wellorder", 0.09, turn=2, objective=413.4180, swapped=0.1482),
    record("continuous-2e4", "wellorder-exact", 0.1, objective=413.41467, swapped=0.1482),
    record(
        "continuous-2e4", "scikit-survival", 1.2, objective=413.41468, swapped=0.1483, version="scikit-survival 0.28"
    ),
    record("continuous-2e4", "ridge", 0.016, swapped=0.1481),
    record("continuous-2e4", "lightgbm", reason="still working after 300 s"),
    record("continuous-2e5", "wellorder", 0.4, objective=415.0, swapped=0.1475),
    record("levels-2e4", "wellorder", 0.02, objective=284.9, swapped=0.0978),
    record("levels-2e4", "wellorder-exact", 0.02, objective=283.6868, swapped=0.0978),
    record("levels-2e4", "floor", 0.002),
    record("levels-2e4", "skordinal-pom", 0.1, swapped=0.0977),
    record("levels-2e4", "lightgbm", 0.1, swapped=0.05),
    record("levels-2e4", "scikit-survival", 0.01, objective=309.97, swapped=0.0979),
    record("ndcg-1e5", "wellorder-metrics", 0.04, value=0.85),
    record("ndcg-1e5", "ranx", 0.01, value=0.85),
]


def race(name):
    return next(each for each in races(RECORDS) if each.workload.name == name)


def line(name, method):
    return next(each for each in race(name).lines if each.method == method)


def test_the_median_over_turns_counts():
    ours = line("continuous-2e4", "wellorder")
    assert (ours.seconds, ours.fastest, ours.slowest, ours.turns) == (0.04, 0.02, 0.09, 3)


def test_ratios_and_gaps():
    found = race("continuous-2e4")
    assert found.ratio(line("continuous-2e4", "scikit-survival")) == pytest.approx(30.0)
    assert found.gap(line("continuous-2e4", "wellorder")) == pytest.approx(8.05e-6, rel=1e-2)


def test_figures_from_elsewhere_are_scaled_by_ridge():
    scaled = line("continuous-2e4", "liblinear-ranksvm")
    assert scaled.seconds == pytest.approx(0.077 * 0.016 / 0.008)
    assert scaled.measured_there == 0.077
    assert race("continuous-2e4").rival is not None
    assert race("continuous-2e4").rival.method == "liblinear-ranksvm"
    assert not [each for each in race("levels-2e4").lines if each.measured_there]  # no ridge here: no scale


def test_one_odd_yardstick_does_not_set_the_scale():
    there = elsewhere()["yardsticks"]
    names = ("levels-2e4", "levels-2e5", "levels-1e6")
    times = [1.5 * there[names[0]][1], 2.0 * there[names[1]][1], 50.0 * there[names[2]][1]]
    lines = [
        Line(name, "ridge", "done", seconds=2 * each, fastest=each, slowest=3 * each)
        for name, each in zip(names, times, strict=True)
    ]
    scaled = {row.workload: row for row in lines_from_elsewhere(lines) if row.method == "liblinear-ranksvm"}
    assert set(scaled) == set(names)
    for row in scaled.values():
        assert row.seconds == pytest.approx(2.0 * row.measured_there)


def test_only_those_who_reach_the_optimum_are_rivals():
    assert race("levels-2e4").rival is None  # scikit-survival ended 9 % above
    assert race("ndcg-1e5").rival.method == "ranx"


def test_exponents_are_slopes_of_logarithms():
    (grown,) = [
        each for each in exponents(races(RECORDS)) if each.method == "wellorder" and each.family == "continuous"
    ]
    assert (grown.along, grown.sizes) == ("n", (20_000, 200_000))
    assert grown.exponents == (pytest.approx(1.0),)


def test_the_page_names_what_is_behind_over_and_out_of_time():
    text = page(RECORDS)
    assert "ndcg-1e5: ranx takes 0.25 of wellorder's time" in text
    assert "413.4147 again" in text
    assert "levels-2e4 | 0.02 | 10 |" in text  # floors
    assert "skordinal-pom gets" not in text  # too near to tell
    assert "lightgbm gets 0.0500 of the test part wrong, wellorder 0.0978" in text
    assert "4e-03 **over**" in text  # levels-2e4 at its default tolerance
    assert "continuous-2e4, lightgbm: still working after 300 s" in text
    assert "*liblinear-ranksvm, elsewhere* (same objective)" in text
    assert "scikit-survival 0.28" in text
    assert "| continuous | n | wellorder | 20,000, 200,000 | 1.00 |" in text


@pytest.mark.skipif(not command.RECORDS.exists(), reason="nothing has been measured for the page yet")
def test_the_page_in_the_documentation_is_what_the_records_say():
    written = command.RECORDS.parents[1] / "docs" / "results" / "benchmarks.md"
    assert written.read_text(encoding="utf-8") == page(read_records(command.RECORDS), picture="benchmarks.png")


def test_an_optimum_that_does_not_come_out_again_is_said_loudly():
    wrong = [record("continuous-2e4", "wellorder-exact", 0.1, objective=413.43)]
    assert "**not again: 413.430000**" in page(wrong)


def test_the_terminal_shows_the_same(capsys):
    text = console(race("continuous-2e4"))
    assert "wellorder" in text
    assert "elsewhere, scaled" in text
    assert "30 ×" in text


def test_the_command_writes_page_and_picture(tmp_path, capsys):
    path = tmp_path / "records.jsonl"
    for each in RECORDS:
        append_record(path, each)
    out = tmp_path / "benchmarks.md"
    command.main(["table", "--records", str(path), "--out", str(out)])
    assert "](benchmarks.png)" in out.read_text()
    assert (tmp_path / "benchmarks.png").stat().st_size > 5_000
