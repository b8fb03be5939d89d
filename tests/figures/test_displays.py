"""Figures show the right numbers: bars, cells, marks and lines are read back from what was drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from tests.report import boards
from wellorder.evaluation.records import Curve
from wellorder.figures import (
    PALETTE,
    ComparisonROCDisplay,
    LeaderboardDisplay,
    NDCGCurveDisplay,
    SwapsDisplay,
    WeightsDisplay,
    plain,
    style,
    to_svg,
)
from wellorder.metrics import order_error_rates


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    return X, np.digitize(X[:, 0] - 0.5 * X[:, 2] + 0.5 * rng.standard_normal(120), [-1, 0, 1])


def test_leaderboard_marks_stand_at_the_means_and_are_hollow_where_worse(ax):
    board = boards.diabetes()
    display = LeaderboardDisplay.from_leaderboard(board).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    for row, (standing, mark) in enumerate(zip(board.standings, display.marks_, strict=True)):
        assert mark.get_xdata()[0] == standing.mean
        assert mark.get_ydata()[0] == row
        assert list(display.intervals_[row].get_xdata()) == [standing.low, standing.high]
        assert mark.get_marker() == ("s" if standing.is_baseline else "o")
        assert (to_hex(mark.get_markerfacecolor()) == "#ffffff") == standing.is_told_apart
    assert [label.get_text() for label in ax.get_yticklabels()] == [each.method for each in board.standings]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the best on top
    assert ax.get_xlabel() == "swapped pairs (lower is better)"


def test_a_leaderboard_of_one_split_has_marks_without_intervals(ax):
    display = LeaderboardDisplay.from_leaderboard(boards.made(n_splits=1)).plot(ax=ax)
    assert display.intervals_ == [None, None]
    assert all(math.isfinite(mark.get_xdata()[0]) for mark in display.marks_)


@pytest.mark.parametrize("n_levels", [2, 4, 10])
def test_cells_show_the_order_error_rates(ax, n_levels):
    rng = np.random.default_rng(n_levels)
    y, groups = rng.integers(0, n_levels, 400), rng.integers(0, 3, 400)
    scores = y + 2 * rng.standard_normal(400)
    display = SwapsDisplay.from_predictions(y, scores, groups).plot(ax=ax)
    rates = order_error_rates(y, scores, groups)
    assert set(display.cells_) == set(rates)
    for pair, rate in rates.items():
        written = f"{100 * rate:.0f}" if n_levels > 7 else f"{100 * rate:.1f} %"
        assert display.texts_[pair] == written
        assert display.rate(*pair) == pytest.approx(rate)
    shown = [text.get_text() for text in ax.texts]
    assert shown[0] == display.texts_[0, 1]
    strength = {pair: cell.get_facecolor()[3] for pair, cell in display.cells_.items()}
    assert max(strength, key=strength.get) == max(rates, key=rates.get)  # more swaps, more colour


def test_many_grades_are_drawn_as_six_bins(ax, data):
    X, _ = data
    display = SwapsDisplay.from_predictions(X[:, 0] * 100, X[:, 0]).plot(ax=ax)
    assert len(display.table.levels) == 6
    assert " to " in display.table.levels[0]
    assert set(display.texts_.values()) == {"0.0 %"}


def test_two_levels_that_never_meet_have_an_empty_cell(ax):
    display = SwapsDisplay.from_predictions([0, 1, 1, 2], [1, 2, 3, 4], groups=["a", "a", "b", "b"]).plot(ax=ax)
    assert display.texts_[0, 2] == "–"
    assert display.cells_[0, 2].get_facecolor()[3] == 0


def test_records_are_pooled_over_the_splits_of_one_method():
    board = boards.diabetes()
    display = SwapsDisplay.from_records(board.of("ridge"))
    assert display.table.levels == boards.LEVELS
    assert display.table.total[0][1] == sum(record.swaps.total[0][1] for record in board.of("ridge"))
    with pytest.raises(ValueError, match="7 methods"):
        SwapsDisplay.from_records(board.records)
    with pytest.raises(ValueError, match="no table"):
        SwapsDisplay.from_records(replace(record, swaps=None) for record in board.records)


def test_an_estimator_is_asked_for_its_scores(data):
    X, y = data
    ranker = wo.RankSVM().fit(X, y)
    assert SwapsDisplay.from_estimator(ranker, X, y).table == SwapsDisplay.from_predictions(y, ranker.predict(X)).table
    ridge = Ridge().fit(X, y)
    curve = NDCGCurveDisplay.from_estimator(ridge, X, y, k=3).lines[0]
    assert curve.name == "Ridge"
    assert curve.y.tolist() == [wo.metrics.ndcg(y, ridge.predict(X), k=k) for k in (1, 2, 3)]
    with pytest.raises(ValueError, match="neither decision_function nor predict"):
        SwapsDisplay.from_estimator(object(), X, y)


def test_ndcg_lines_are_means_over_the_splits(ax):
    board = boards.diabetes()
    display = NDCGCurveDisplay.from_records(board.records).plot(ax=ax)
    assert [line.name for line in display.lines] == list(boards.METHODS)
    values = np.array([record.curve.y for record in board.of("ridge")])
    ridge = next(line for line in display.lines if line.name == "ridge")
    assert ridge.y == pytest.approx(values.mean(axis=0))
    assert ridge.spread == pytest.approx(values.std(axis=0, ddof=1))
    assert display.lines_[0].get_ydata() == pytest.approx(display.lines[0].y)


def test_a_split_with_shorter_lists_or_no_value_has_no_say(ax):
    one, two = boards.made_records(["m"], n_splits=2)
    records = [
        replace(one, curve=Curve("ndcg", (1.0, 2.0), (0.5, 0.7))),
        replace(two, curve=Curve("ndcg", (1.0, 2.0, 3.0), (0.7, math.nan, 0.9))),
    ]
    (line,) = NDCGCurveDisplay.from_records(records).lines
    assert line.y == pytest.approx([0.6, 0.7, 0.9])
    NDCGCurveDisplay.from_records(records).plot(ax=ax)
    with pytest.raises(ValueError, match="none of the records"):
        ComparisonROCDisplay.from_records(records)


def test_roc_lines_run_from_the_corner_to_the_share_of_right_directions(ax):
    display = ComparisonROCDisplay.from_predictions([1, 0, -1, 0], [2.0, 0.5, 1.0, 0.0], name="m").plot(ax=ax)
    assert display.lines_[0].get_xdata().tolist() == [0, 0, 0, 0.5, 1]
    assert display.lines_[0].get_ydata().tolist() == [0, 0.5, 0.5, 0.5, 0.5]
    pooled = ComparisonROCDisplay.from_records(boards.comparisons().records)
    assert [line.name for line in pooled.lines] == ["compare-svm", "davidson"]
    assert (pooled.lines[0].x[0], pooled.lines[0].y[0], pooled.lines[0].x[-1]) == (0, 0, 1)


def test_bars_are_the_weights_largest_first_and_signed(ax, data):
    X, y = data
    ridge = Ridge().fit(X, y)
    display = WeightsDisplay.from_estimator(ridge, ["a", "b", "c", "d"]).plot(ax=ax)
    order = np.argsort(-np.abs(ridge.coef_))
    assert [bar.get_width() for bar in display.bars_] == ridge.coef_[order].tolist()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["abcd"[place] for place in order]
    colours = {True: PALETTE["blue"], False: PALETTE["vermillion"]}
    for bar, weight in zip(display.bars_, ridge.coef_[order], strict=True):
        assert to_hex(bar.get_facecolor()) == colours[bool(weight > 0)]


def test_weights_of_records_have_their_mean_and_reach():
    board = boards.diabetes()
    display = WeightsDisplay.from_records(board.of("rank-svm"))
    values = np.array([record.weights for record in board.of("rank-svm")])
    values = values / np.sqrt((values**2).sum(axis=1, keepdims=True))
    place = board.of("rank-svm")[0].features.index("bmi")
    bmi = next(weight for weight in display.weights if weight.feature == "bmi")
    expected = (values[:, place].mean(), values[:, place].min(), values[:, place].max())
    assert (bmi.mean, bmi.low, bmi.high) == pytest.approx(expected)
    sizes = [abs(weight.mean) for weight in display.weights]
    assert sizes == sorted(sizes, reverse=True)


def test_no_more_than_fifteen_weights_and_splits_may_lack_a_feature():
    records = boards.made_records(["m"], n_splits=2, weights=tuple(range(30)), features=tuple(map(str, range(30))))
    display = WeightsDisplay.from_records([records[0], replace(records[1], weights=(31.0,), features=("29",))])
    assert (len(display.weights), display.n_features) == (15, 30)
    of_the_first = 29 / np.linalg.norm(np.arange(30))
    assert (display.weights[0].feature, display.weights[0].mean) == ("29", pytest.approx((of_the_first + 1) / 2))


def test_weights_of_one_direction_are_steady_whatever_penalties_were_chosen():
    records = boards.made_records(["m"], n_splits=3, weights=(3.0, -4.0), features=("a", "b"))
    shrunk = [
        replace(record, weights=(3.0 / size, -4.0 / size)) for record, size in zip(records, (1, 10, 1000), strict=True)
    ]
    for weight, value in zip(WeightsDisplay.from_records(shrunk).weights, (-0.8, 0.6), strict=True):
        assert (weight.low, weight.mean, weight.high) == pytest.approx((value, value, value))


def test_names_that_begin_alike_are_told_apart_beside_bars_and_in_legends(ax):
    names = [f"average number of working hours a week in the year {year} (adjusted)" for year in (2019, 2020, 2021)]
    weights = boards.made_records(["m"], n_splits=1, weights=(3.0, 2.0, 1.0), features=tuple(names))
    WeightsDisplay.from_records(weights).plot(ax=ax)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [name[name.index("2") :][:4] in label for name, label in zip(names, labels, strict=True)] == [True] * 3
    assert max(map(len, labels)) <= 24
    legend = style.add_legend(ax, [Line2D([], [])] * 3, names)
    assert len({text.get_text() for text in legend.get_texts()}) == 3


def test_the_ranges_of_binned_grades_are_written_in_full(ax):
    grade = np.linspace(-5.82, 5.87, 300)
    display = SwapsDisplay.from_predictions(grade, grade).plot(ax=ax)
    assert [label.get_text() for label in ax.get_xticklabels()] == list(display.table.levels[1:])


def test_names_come_from_the_pipeline_or_are_numbered(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=["w", "x", "y", "z"])
    pipeline = make_pipeline(StandardScaler(), wo.RankSVM()).fit(frame, y)
    assert {weight.feature for weight in WeightsDisplay.from_estimator(pipeline).weights} == set("wxyz")
    plain_fit = WeightsDisplay.from_estimator(Ridge().fit(X, y))
    assert {weight.feature for weight in plain_fit.weights} == {f"feature {number}" for number in (1, 2, 3, 4)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: WeightsDisplay.from_estimator(wo.RankSVM(kernel="rbf").fit(X, y)), "RankSVM has no weight"),
        (lambda X, y: WeightsDisplay.from_estimator(Ridge().fit(X, y), ["a"]), "1 feature names for 4 weights"),
        (lambda X, y: WeightsDisplay.from_estimator(Ridge().fit(X, np.c_[y, y])), "2 weights a feature"),
        (lambda X, y: WeightsDisplay.from_records(boards.made_records(["m"])), "none of the records has weights"),
        (lambda X, y: WeightsDisplay.from_records(boards.made_records(["m", "n"], weights=(1.0,))), "2 methods"),
    ],
)
def test_what_cannot_be_drawn_is_named(data, call, message):
    with pytest.raises(ValueError, match=message):
        call(*data)


def test_pyplot_is_used_only_without_axes(data):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    with matplotlib.rc_context({"backend": "agg"}):
        pyplot.close("all")
        display = SwapsDisplay.from_predictions(data[1], data[0][:, 0])
        to_svg(display, name="x", title="x")
        assert pyplot.get_fignums() == []
        display.plot()
        assert pyplot.get_fignums() == [1]
        assert display.figure_ is pyplot.gcf()
        pyplot.close("all")


def test_svg_is_the_same_each_time_and_leaves_the_settings_alone(data):
    display = SwapsDisplay.from_predictions(data[1], data[0][:, 0])
    before = dict(matplotlib.rcParams)
    first = to_svg(display, name="one", title="Swaps")
    with matplotlib.rc_context({"text.color": "red", "font.size": 30, "axes.facecolor": "black"}):
        assert to_svg(display, name="one", title="Swaps") == first  # the user's own style does not leak in
    assert dict(matplotlib.rcParams) == before


def test_svg_takes_the_page_s_colours_and_fonts(data):
    svg = to_svg(SwapsDisplay.from_predictions(data[1], data[0][:, 0]), name="one", title="A <title> & more")
    root = ElementTree.fromstring(svg)
    assert root.find("title").text == "A <title> & more"
    assert root.attrib["fill"] == "currentColor"
    assert "DejaVu" not in svg
    assert "#000000" not in svg
    assert "var(--vermillion, #d55e00)" in svg
    assert "http" not in svg
    assert root.find(".//style") is None
    ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert all(each.startswith("one-") for each in ids)
    used = [element.attrib["href"] for element in root.iter() if "href" in element.attrib]
    assert {link.removeprefix("#") for link in used} <= set(ids)


@pytest.mark.parametrize("name", boards.HOSTILE)
def test_any_name_is_drawn_as_plain_text(name):
    weights = boards.made_records([name], weights=(1.0, -2.0), features=(name, "other"))
    curve = Curve("ndcg", (1.0, 2.0), (0.5, 0.6))
    for display in (
        WeightsDisplay.from_records(weights),
        LeaderboardDisplay.from_leaderboard(boards.made((name, "other"))),
        NDCGCurveDisplay.from_records(boards.made_records([name, "other"], curve=curve)),
        SwapsDisplay.from_records([replace(weights[0], swaps=boards.hostile().records[0].swaps)]),
    ):
        root = ElementTree.fromstring(to_svg(display, name="x", title=name))
        texts = {text.text for text in root.iter("text")}
        assert any(text and plain(name, 8).rstrip("…") in text for text in texts), texts
        assert root.find(".//script") is None


def test_plain_keeps_short_names_and_shortens_long_ones():
    assert plain("residual_sugar") == "residual_sugar"
    assert plain("a" * 40, 10) == "a" * 9 + "…"
    assert plain("two\nlines\x00") == "two lines\N{REPLACEMENT CHARACTER}"
