"""A picture of an order graph: higher levels above, an arrow for each edge, thresholds from a model."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import wellorder as wo
from tests.report import boards
from wellorder.figures import OrderGraphDisplay, plain, to_svg

DIAMOND = wo.OrderGraph.from_edges("abcd", [("a", "b"), ("a", "c", 4.0), ("b", "d"), ("c", "d"), ("a", "d")])


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


def drawn(arrow):
    """Return the points of an arrow, its head included."""
    path = arrow.get_path()
    return path.vertices if path.codes is None else path.vertices[path.codes != path.CLOSEPOLY]


def test_every_level_stands_above_those_below_it_and_apart_from_its_neighbours():
    for graph in (
        DIAMOND,
        wo.OrderGraph.full(range(7)),
        wo.OrderGraph.chain("xyz"),
        wo.OrderGraph.from_edges("ab", []),
    ):
        places = OrderGraphDisplay(graph).positions
        assert set(places) == set(graph.levels)
        assert len(set(places.values())) == graph.n_levels
        for low, high, _ in graph.edges:
            assert places[low][1] < places[high][1]
    assert [OrderGraphDisplay(DIAMOND).positions[level][1] for level in "abcd"] == [0, 1, 1, 2]
    assert max(row for _, row in OrderGraphDisplay(wo.OrderGraph.full(range(7))).positions.values()) == 6


def test_arrows_run_up_the_edges_and_heavy_ones_are_wide(ax):
    display = OrderGraphDisplay(DIAMOND).plot(ax=ax)
    assert display.ax_ is ax
    assert set(display.arrows_) == {(low, high) for low, high, _ in DIAMOND.edges}
    for (low, high), arrow in display.arrows_.items():
        points = drawn(arrow)[:, 1]
        assert display.positions[low][1] < points.min()
        assert points.max() < display.positions[high][1]
    widths = {edge: arrow.get_linewidth() for edge, arrow in display.arrows_.items()}
    assert max(widths, key=widths.get) == ("a", "c")
    assert [display.labels_[level].get_text() for level in "abcd"] == list("abcd")


LONG = [f"a name so long that two of them do not fit, number {number}" for number in range(4)]


@pytest.mark.parametrize(
    "graph",
    [
        wo.OrderGraph.from_edges(
            LONG, [(LONG[0], LONG[1]), (LONG[0], LONG[2]), (LONG[1], LONG[3]), (LONG[2], LONG[3])]
        ),
        wo.OrderGraph.from_edges(range(30), [(0, leaf) for leaf in range(1, 30)]),
        wo.OrderGraph.full(range(15)),
        wo.OrderGraph(range(30), np.triu(np.random.default_rng(0).random((30, 30)) < 0.08, 1)),
    ],
    ids=["long names", "wide", "full", "tangled"],
)
def test_names_do_not_run_into_each_other_and_arrows_stay_inside(graph):
    display = OrderGraphDisplay(graph)
    figure = Figure(figsize=display.size)
    display.plot(ax=figure.add_axes((0, 0, 1, 1)))
    FigureCanvasAgg(figure).draw()
    boxes = [label.get_bbox_patch().get_window_extent() for label in display.labels_.values()]
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])
    (left, right), (bottom, top) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for arrow in display.arrows_.values():
        points = drawn(arrow)
        assert (points >= [left, bottom]).all()
        assert (points <= [right, top]).all()


def test_an_edge_bends_around_a_level_in_its_way(ax):
    chain = wo.OrderGraph.full("abc")
    middle = drawn(OrderGraphDisplay(chain).plot(ax=ax).arrows_["a", "c"])
    assert np.abs(middle[:, 0]).max() > 0.4  # "b" stands on the straight way
    past = wo.OrderGraph.from_edges("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")])
    straight = drawn(OrderGraphDisplay(past).plot(ax=ax).arrows_["a", "d"])
    assert np.abs(straight[:, 0]).max() < 0.3  # between "b" and "c" the way is free


def test_a_model_lends_its_edges_and_thresholds(ax):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = wo.ConvexHullRanker(order="full").fit(X, y)
    display = OrderGraphDisplay.from_estimator(model).plot(ax=ax)
    assert display.graph.edges == tuple((*edge, 1.0) for edge in [(0, 1), (0, 2), (1, 2)])
    written = {text.get_text() for text in ax.texts}
    assert {f"{margin:.2f}" for margin in model.margins_} <= written
    with pytest.raises(ValueError, match="RankSVM has no threshold an edge"):
        OrderGraphDisplay.from_estimator(wo.RankSVM().fit(X, y))


def test_too_many_levels_are_not_drawn():
    with pytest.raises(ValueError, match="1 to 40 levels, and the graph has 41"):
        OrderGraphDisplay(wo.OrderGraph.chain(range(41)))
    with pytest.raises(ValueError, match="has 0"):
        OrderGraphDisplay(wo.OrderGraph.chain([]))


@pytest.mark.parametrize("name", boards.HOSTILE)
def test_any_level_is_drawn_as_plain_text(name):
    display = OrderGraphDisplay(wo.OrderGraph.chain([name, "other"]), {(name, "other"): name})
    root = ElementTree.fromstring(to_svg(display, name="x", title="x"))
    texts = {text.text for text in root.iter("text")}
    assert any(text and plain(name, 8).rstrip("…") in text for text in texts), texts
    assert root.find(".//script") is None
