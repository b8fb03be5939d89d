"""The data doctor finds what was planted, and nothing in healthy data."""

from __future__ import annotations

import dataclasses
import tracemalloc

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import wellorder as wo
from wellorder.evaluation import doctor, examine
from wellorder.evaluation.doctor import _row_fingerprints

from .tables import make_comparisons, make_table


def findings(table):
    return {finding.what: finding for finding in examine(table).findings}


def find(table, text):
    found = [finding for what, finding in findings(table).items() if text in what]
    assert len(found) == 1, list(findings(table))
    return found[0]


def test_healthy_data_have_no_findings():
    health = examine(make_table())
    assert health.findings == ()
    assert health.is_fit
    facts = dict(health.facts)
    assert facts["rows"] == "90"
    assert facts["levels"] == "4"
    described = make_table().grades().describe()
    assert facts["pairs of different grades"] == f"{described.n_pairs:,}"
    assert facts["pairs of equal grades"] == f"{90 * 89 // 2 - described.n_pairs:,}"
    assert sum(n for _, n in health.levels) == 90


def test_counts_with_groups():
    table = make_table(groups=7)
    facts = dict(examine(table).facts)
    same = sum(table.groups[i] == table.groups[j] and table.y[i] == table.y[j] for i in range(90) for j in range(i))
    assert facts["pairs of equal grades"] == f"{same:,}"
    assert facts["lists"].startswith("7 by query")


def test_nothing_to_learn_is_a_problem():
    table = dataclasses.replace(make_table(), y=np.ones(90))
    health = examine(table)
    assert not health.is_fit
    assert health.findings[0].severity == "problem"


def test_unjudged_rows_and_silent_lists():
    table = make_table(groups=7)
    y = table.y.copy()
    y[table.groups == 3] = 1.0
    y[:2] = np.nan
    sick = dataclasses.replace(table, y=y)
    assert "rows 1, 2" in find(sick, "without a grade").what
    assert "(3)" in find(sick, "no two different grades").what


def test_rare_levels():
    table = make_table()
    y = table.y.copy()
    y[0] = 99.0
    assert "99" in find(dataclasses.replace(table, y=y), "fewer than 5 rows").what


def test_constant_columns_and_gaps():
    table = make_table()
    frame = table.X.with_columns(
        pl.lit(1.0).alias("one"), pl.when(pl.col("x1") > 1).then(None).otherwise(pl.col("x1")).alias("x1")
    )
    sick = dataclasses.replace(table, X=frame)
    assert "one" in find(sick, "never changes").what
    assert f"x1 ({frame['x1'].null_count()})" in find(sick, "missing values").what


def test_equal_rows_with_other_grades():
    table = make_table()
    y = table.y.copy()
    y[[0, 1]] = [0.0, 3.0]
    X = table.X[[0, 0, *range(2, 90)]]
    finding = find(dataclasses.replace(table, X=X, y=y), "but another grade")
    assert finding.severity == "warning"
    assert "2 rows" in finding.what
    assert "rows 1, 2" in finding.what
    n_pairs = wo.Grades(y).describe().n_pairs
    assert f"the 1 pair of such rows, {100 / n_pairs:.2g} % of all" in finding.advice


def test_the_least_error_that_is_named_can_be_reached():
    x = np.arange(100.0)
    y = x.copy()
    x[[1, 3]] = x[[0, 2]]  # 4 of 100 rows in two conflicts, all others in perfect order
    table = wo.data.Table("t.csv", pl.DataFrame({"x": x}), y)
    advice = find(table, "but another grade").advice
    assert "the 2 pairs of such rows" in advice
    assert f"{100 * wo.metrics.swapped_pairs(y, x):.2g} % of all" in advice


def test_conflicts_are_counted_as_pairs_of_one_list():
    y = np.array([0, 0, 1, 2, 0, 1, 1, 3.0])
    x = np.array([5, 5, 5, 5, 5, 7, 7, 8.0])
    groups = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    table = wo.data.Table("t.csv", pl.DataFrame({"x": x}), y, groups=groups, group="query")
    assert "the 5 pairs of such rows" in find(table, "but another grade").advice


def test_equal_rows_of_different_lists_are_no_contradiction_but_may_leak():
    table = make_table(groups=2)
    groups = np.repeat([0, 1], 45)
    X = table.X[[*range(45), *range(45)]]
    sick = dataclasses.replace(table, X=X, groups=groups)
    assert not any("another grade" in what for what in findings(sick))
    assert find(sick, "exactly the features").severity == "warning"


def test_an_item_in_several_lists_or_twice_in_one():
    ids = np.array([f"doc {i % 50}" for i in range(90)], dtype=object)
    assert find(dataclasses.replace(make_table(groups=5), ids=ids), "stand in several lists").severity == "warning"
    assert find(dataclasses.replace(make_table(), ids=ids), "stand in several rows").severity == "warning"


def test_a_column_that_gives_the_target_away():
    table = make_table()
    frame = table.X.with_columns(pl.Series("payout", -table.y * 7))
    finding = find(dataclasses.replace(table, X=frame), "'payout'")
    assert finding.severity == "warning"
    assert "--drop payout" in finding.advice


@pytest.mark.parametrize(
    "make",
    [
        lambda y: pl.Series("copy", np.where(np.arange(len(y)) == 3, np.nan, 3 * y)),
        lambda y: pl.Series("copy", [None if row == 3 else 3 * value for row, value in enumerate(y)]),
        lambda y: pl.Series("copy", np.where(np.arange(len(y)) % 2 == 0, np.nan, y)),
        lambda y: pl.Series("copy", [f"grade {value:g}" for value in y]),
        lambda y: pl.Series("copy", [None if row == 3 else "zyxw"[int(value)] for row, value in enumerate(y)]),
        lambda y: pl.Series("copy", [f"{'zyxw'[int(value)]}{row % 3}" for row, value in enumerate(y)]),
    ],
)
def test_a_target_in_other_clothes_is_found_with_gaps_and_as_text(make):
    table = make_table()
    sick = dataclasses.replace(table, X=table.X.with_columns(make(table.y)))
    assert find(sick, "'copy' alone orders all pairs").severity == "warning"


def test_a_copy_of_a_continuous_target_is_found():
    table = make_table(grades=90)
    sick = dataclasses.replace(table, X=table.X.with_columns(pl.Series("copy", np.exp(table.y / 9))))
    assert find(sick, "'copy' alone").severity == "warning"


@pytest.mark.parametrize(("n", "n_positive", "d"), [(20, 1, 50), (20, 2, 50), (10, 5, 500)])
def test_luck_is_no_giveaway(n, n_positive, d):
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(n_positive), np.zeros(n - n_positive)]
    noise = {f"x{j}": rng.standard_normal(n) for j in range(d)}
    names = {f"n{j}": rng.choice(list("abcdefghi"), n) for j in range(d)}
    table = wo.data.Table("t.csv", pl.DataFrame(noise | names), y)
    assert not any("clothes" in what for what in findings(table))


def test_one_good_row_among_many_proves_nothing():
    x = np.random.default_rng(0).standard_normal(100_000)
    table = wo.data.Table("t.csv", pl.DataFrame({"x": x}), (x == x.max()).astype(float))
    assert not any("clothes" in what for what in findings(table))


@pytest.mark.parametrize("groups", [None, 60])
def test_many_rows_are_sampled_and_rare_levels_kept(monkeypatch, groups):
    monkeypatch.setattr(doctor, "_ROWS", (200, 200))
    rng = np.random.default_rng(0)
    y = (np.arange(6_000) % 400 == 0).astype(float) if groups is None else rng.integers(0, 3, 6_000).astype(float)
    frame = pl.DataFrame({"x": rng.standard_normal(6_000), "copy": -7 * y})
    of_row = None if groups is None else rng.integers(0, groups, 6_000)
    table = wo.data.Table("t.csv", frame, y, groups=of_row, group=None if groups is None else "query")
    assert find(table, "'copy' alone").severity == "warning"
    rows = doctor._sample(table.grades(), 200)
    assert len(rows) == len(np.unique(rows)) == 200
    if groups is None:
        assert y[rows].sum() == 15  # all of the rare level


def test_what_was_not_tried_is_said(monkeypatch):
    monkeypatch.setattr(doctor, "_MOST_COLUMNS", 3)
    assert find(make_table(), "it was not tried").severity == "note"


def test_small_features_beside_large_ones_tell_sparse_rows_apart():
    k = np.arange(40.0)
    X = sp.csr_array(np.column_stack([np.full(40, 1e12), 1e-6 * k, np.zeros(40)]))
    table = wo.data.Table("t.letor", X, np.random.default_rng(0).permutation(40) % 4.0)
    assert not any("features" in what for what in findings(table))
    twins = sp.csr_array(sp.vstack([X, X[:10]]))
    sick = wo.data.Table("t.letor", twins, np.r_[table.y, table.y[:10] + 1])
    assert "20 rows" in find(sick, "but another grade").what


def test_sparse_rows_are_equal_however_they_are_stored():
    stored = sp.csr_array((np.array([1.0, 2.0, 0.0, 2.0, 1.0]), np.array([0, 2, 1, 2, 0]), np.array([0, 3, 5])))
    assert len(np.unique(_row_fingerprints(stored))) == 1
    other = sp.csr_array(np.array([[1.0, 0, 2.0], [2.0, 0, 1.0], [0, 1.0, 2.0], [0, 0, 0], [3.0, 0, 0]]))
    assert len(np.unique(_row_fingerprints(other))) == 5


def test_a_column_of_names_is_a_problem():
    table = make_table()
    frame = table.X.with_columns(pl.Series("name", [f"n{i}" for i in range(90)]))
    assert find(dataclasses.replace(table, X=frame), "'name'").severity == "problem"


def test_sparse_tables():
    dense = sp.random_array((80, 6), density=0.5, rng=np.random.default_rng(0)).toarray()
    dense[:, 2] = 0.0
    table = wo.data.Table("t.letor", sp.csr_array(dense), np.arange(80) % 3.0, groups=np.arange(80) % 5, group="qid")
    assert "3" in find(table, "never changes").what


def test_empty_columns_cost_nothing():
    """A feature 100,000,000 in a file of a few bytes: time and memory go by what is there."""
    indices, values = np.array([0, 1, 99_999_999, 0, 1], np.int32), np.array([1.0, 3.0, 1.0, 2.0, 3.0])
    X = sp.csr_array((values, indices, np.array([0, 3, 5], np.int32)), shape=(2, 100_000_000))
    tracemalloc.start()
    try:
        found = [finding.what for finding in examine(wo.data.Table("wide.letor", X, np.arange(2.0))).findings]
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()
    assert "99,999,998 columns never change: 2, 3, 4, 5, 6, …" in found


def test_the_columns_that_never_change_are_those_that_the_encoder_leaves_out():
    X = np.zeros((30, 8))
    X[:, 1] = 7.0
    X[:, 3] = np.arange(30)
    X[:, 5] = np.where(np.arange(30) == 4, 0.1 + 0.2, 0.3)
    X[3, 7] = -1.0
    for matrix in (sp.csr_array(X), sp.csr_array(X[:, :7])):
        table = wo.data.Table("t.letor", matrix, np.arange(30) // 10)
        kept = wo.data.TableEncoder().fit(table).get_feature_names_out()
        left_out = [str(number + 1) for number in range(matrix.shape[1]) if str(number + 1) not in kept]
        said = next(each.what for each in examine(table).findings if "never change" in each.what)
        assert said == f"{len(left_out)} columns never change: {', '.join(left_out[:5])}" + ", …" * (len(left_out) > 5)


def test_a_table_without_a_target():
    assert find(dataclasses.replace(make_table(), y=None, target=None), "no column was named").severity == "note"


def test_comparisons_healthy():
    health = examine(make_comparisons(n=300))
    facts = dict(health.facts)
    assert facts["items"] == "15"
    assert sum(n for _, n in health.levels) == int(facts["comparisons"])
    assert all(finding.severity == "note" for finding in health.findings)


def with_comparisons(left, right, outcome, described=False):
    table = make_comparisons(described=described)
    return dataclasses.replace(table, comparisons=wo.Comparisons(left, right, outcome))


def test_comparisons_all_tied():
    assert find(with_comparisons([0, 1], [1, 2], [0, 0]), "all are ties").severity == "problem"


def test_contradictions_and_circles():
    table = with_comparisons([0, 0, 1, 2, 3], [1, 1, 2, 3, 1], [1, -1, 1, 1, 1])
    assert "1 pair" in find(table, "both ways").what
    assert "3 items" in find(table, "circles").what


@pytest.mark.parametrize(("described", "severity"), [(False, "warning"), (True, "note")])
def test_islands(described, severity):
    table = with_comparisons([0, 1, 5, 6], [1, 2, 6, 7], [1, 1, 1, 1], described)
    finding = find(table, "islands")
    assert finding.severity == severity
    assert "2 islands" in finding.what
    assert "never compared" in find(table, "9 items never compared").what


def test_a_favoured_side():
    assert "the right item wins 100 %" in find(with_comparisons([0] * 30, [1] * 30, [1] * 30), "more than chance").what


def timed(time, event, **more):
    X = pl.DataFrame({"a": np.random.default_rng(0).standard_normal(len(time))})
    return wo.data.Table("trial.csv", X, np.asarray(time, float), events=np.asarray(event, bool), event="died", **more)


def test_healthy_times():
    rng = np.random.default_rng(1)
    time, event = rng.exponential(1.0, 200), rng.random(200) < 0.7
    event[[np.argmin(time), np.argmax(time)]] = True
    time[np.argmax(time)] = np.sort(time)[-2] + 1e-3  # somebody is still watched when the last events come
    health = examine(timed(time, event, groups=np.arange(200) % 2, group="site"))
    assert [finding for finding in health.findings if "Uno" not in finding.what] == []
    facts, times = dict(health.facts), wo.Times(time, event, groups=np.arange(200) % 2)
    assert facts["events"] == f"{event.sum()} ({100 * event.mean():.0f} %)"
    assert facts["strata"] == "2 (of 100 to 100 rows)"
    assert facts["pairs known to be ordered"].startswith(f"{times.pairs.n_pairs:,} of 9,900")


def test_no_event_is_a_problem_that_is_said_and_not_raised():
    found = find(timed([1, 2, 3], [0, 0, 0]), "no row has an event (died)")
    assert found.severity == "problem"
    assert "--event status=dead" in found.advice


@pytest.mark.parametrize(
    ("time", "event", "severity", "what"),
    [
        ([1, 2, 3, 9], [0, 0, 0, 1], "problem", "nobody is known to have outlived another"),
        (np.arange(40) + 1, np.arange(40) < 10, "warning", "10 events: little"),
        (np.arange(40) + 1, np.arange(40) < 30, "note", "all 10 rows (25 %) that were watched beyond 30"),
        (np.arange(40) + 1, np.arange(40) >= 5, "note", "5 rows censored before the first event, at 6"),
        (np.arange(40) + 1, np.arange(40) % 8 == 7, "note", "Uno's weights"),
        (np.arange(40) + 1, np.ones(40), "note", "no row is censored"),
        (np.arange(40), np.arange(40) % 3 > 0, "note", "1 row with the time 0"),
    ],
)
def test_what_censoring_hides(time, event, severity, what):
    assert find(timed(time, event), what).severity == severity
    assert what in " ".join(finding.what for finding in examine(wo.Times(time, event)).findings)


def test_strata_without_a_pair():
    found = find(timed([1, 2, 3, 4], [1, 1, 0, 0], groups=np.array([0, 0, 1, 1]), group="site"), "strata have no pair")
    assert found.what.startswith("1 of 2")


def test_a_column_that_gives_times_away_is_named_once_events_show_it():
    time, event = np.arange(40) + 1.0, np.arange(40) % 2 == 0
    table = timed(time, event)
    leaking = dataclasses.replace(table, X=pl.DataFrame({"copy": time**2}))
    assert "'copy' alone orders all pairs" in " ".join(findings(leaking))
    # of one event a column is right by luck, however many rows outlived it
    lucky = dataclasses.replace(timed(time, np.arange(40) == 0), X=pl.DataFrame({"copy": time**2}))
    assert "alone orders" not in " ".join(findings(lucky))


def test_clicks():
    position, lists = np.tile([1, 2, 3], 20), np.repeat(np.arange(20), 3)
    clicked = (position == 1) | (position == 2) & (lists % 10 == 0)
    health = examine(wo.Clicks(clicked, position, lists, propensities=[1.0, 0.02, 0.3]))
    found = {finding.what: finding.severity for finding in health.findings}
    assert found["nobody clicked at 1 position (3)"] == "warning"
    assert (
        found["2 clicks stood where the propensity is below the floor of 0.05, and count as if it were that"] == "note"
    )
    assert found["22 clicks with these weights are worth about 4 equal ones"] == "note"
    facts = dict(health.facts)
    assert facts["clicks"] == "22 (36.7 %)"
    assert facts["propensities"] == "1, 0.02, 0.3"


@pytest.mark.parametrize(
    ("clicked", "position", "lists", "severity", "what"),
    [
        ([1, 0, 0], [1, 1, 1], [0, 0, 0], "warning", "all rows stood at position 1"),
        ([1, 1, 0, 0], [1, 2, 1, 2], [0, 0, 1, 1], "problem", "no list has a click and a row that was not clicked"),
        ([1, 0, 1], [1, 2, 2], [0, 0, 0], "warning", "1 place of a list held several rows"),
        ([1, 0, 1], [1, 2, 3], [0, 0, 0], "note", "every click counts the same"),
    ],
)
def test_clicks_of_which_little_can_be_known(clicked, position, lists, severity, what):
    found = examine(wo.Clicks(clicked, position, lists, propensities=1)).findings
    assert [each.severity for each in found if each.what.startswith(what)] == [severity]
