"""Displays as scikit-learn's users expect them: drawn on axes that are given, and shown by a notebook."""

from __future__ import annotations

import inspect
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import wellorder as wo
from tests.report import boards
from wellorder import figures
from wellorder.evaluation.records import SwapTable

DISPLAYS = [getattr(figures, name) for name in figures.__all__ if name.endswith("Display")]


@pytest.fixture
def ax():
    return Figure(layout="constrained").add_subplot()


@pytest.fixture(scope="module")
def games():
    rng = np.random.default_rng(0)
    items = rng.standard_normal((20, 3))
    left, right = rng.integers(0, 20, (2, 120))
    right = np.where(left == right, (right + 1) % 20, right)
    d = (items[right] - items[left]) @ [1.0, -1.0, 0.0] + 0.5 * rng.standard_normal(120)
    return wo.Pairs(items, left, right), np.where(np.abs(d) < 0.6, 0, np.sign(d)).astype(int)


def test_the_games_end_in_ties_too(games):
    assert set(games[1]) == {-1, 0, 1}


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda display: display.__name__)
def test_every_display_can_be_shown_and_draws_on_axes_that_are_given(display):
    assert callable(display._repr_html_)
    for name in ("from_estimator", "from_predictions"):
        if hasattr(display, name):
            assert inspect.signature(getattr(display, name)).parameters["ax"].default is None


def test_axes_that_are_given_are_drawn_on_at_once(ax):
    X, y = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 3
    ranker = wo.RankSVM().fit(X, y)
    display = figures.SwapsDisplay.from_estimator(ranker, X, y, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert not hasattr(figures.SwapsDisplay.from_estimator(ranker, X, y), "ax_")


def test_a_notebook_shows_what_was_not_drawn_and_leaves_the_rest_to_pyplot(ax):
    display = figures.SwapsDisplay.from_predictions([0, 1, 2], [0.1, 0.5, 0.3])
    shown, again = display._repr_html_(), display._repr_html_()
    root = ElementTree.fromstring(shown)
    assert root.tag == "div"
    assert root[0].tag == "svg"
    ids = {each.attrib["id"] for each in root.iter() if "id" in each.attrib}
    assert not ids & {each.attrib["id"] for each in ElementTree.fromstring(again).iter() if "id" in each.attrib}
    assert display.plot(ax)._repr_html_() is None


def test_hostile_names_are_text_in_a_notebook():
    evil = boards.HOSTILE[0]
    display = figures.SwapsDisplay(SwapTable((evil, "b"), ((0.0, 1.0), (0.0, 0.0)), ((0.0, 2.0), (0.0, 0.0))))
    assert "<script" not in display._repr_html_()


def test_the_roc_of_a_fitted_model_is_that_of_its_differences(games, ax):
    pairs, outcome = games
    model = wo.CompareSVM(loss="squared_hinge").fit(pairs, outcome)
    display = figures.ComparisonROCDisplay.from_estimator(model, pairs, outcome, ax=ax)
    expected = figures.ComparisonROCDisplay.from_predictions(outcome, model.compare(pairs))
    assert np.allclose(display.lines[0].y, expected.lines[0].y)
    assert display.lines[0].name == "CompareSVM"
    assert display.ax_ is ax
    with pytest.raises(ValueError, match="give the outcomes as y"):
        figures.ComparisonROCDisplay.from_estimator(model, pairs)
    with pytest.raises(TypeError, match=r"wellorder\.Pairs"):
        figures.ComparisonROCDisplay.from_estimator(model, pairs.items, outcome)
