"""The picture of an explanation: what it draws, and names as plain text."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import wellorder as wo
from wellorder.evaluation import Contribution, Explanation
from wellorder.figures import ExplanationDisplay, to_svg
from wellorder.figures.style import PALETTE


@pytest.fixture(autouse=True)
def _no_window(monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def make(parts, a="Rioja", b="Merlot"):
    return Explanation(a, b, sum(part.contribution for part in parts), 0.0, tuple(parts), "exact: because")


def test_bars_are_the_contributions_and_their_colours_the_signs():
    from matplotlib.colors import to_hex

    parts = [
        Contribution("price", 3.1, 5.0, 1.2),
        Contribution("colour", "red", None, -0.4),
        Contribution("ph", 1, 1, 0),
    ]
    display = ExplanationDisplay.from_explanation(make(parts)).plot()
    assert [bar.get_width() for bar in display.bars_] == [1.2, -0.4]  # what adds nothing is not drawn
    assert [to_hex(bar.get_facecolor()) for bar in display.bars_] == [PALETTE["blue"], PALETTE["vermillion"]]
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert labels == ["price: 3.1 | 5", "colour: red | missing"]
    assert "for Rioja" in display.ax_.get_xlabel()
    assert "+0.8" in display.ax_.get_xlabel()


def test_many_features_end_in_one_bar_for_the_rest():
    parts = [Contribution(f"x{k}", 1.0, 0.0, 1.0 / (k + 1), 0.01) for k in range(30)]
    display = ExplanationDisplay(make(parts)).plot()
    assert len(display.bars_) == 13
    assert display.shown[-1].feature == "18 others"
    assert display.shown[-1].contribution == pytest.approx(sum(part.contribution for part in parts[12:]))
    assert sum(bar.get_width() for bar in display.bars_) == pytest.approx(display.explanation.difference)
    assert len(display.ax_.lines) == 1 + 12  # zero, and an error each


def test_nothing_to_draw_is_drawn():
    display = ExplanationDisplay(make([Contribution("x", 1.0, 1.0, 0.0)])).plot()
    assert len(display.bars_) == 0


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "$x^2", "_hidden", "a\x07b", "名前"])
def test_names_are_text_whatever_they_hold(name):
    parts = [Contribution(name, name, 1.0, 0.5), Contribution("x", 2.0, 1.0, -0.1)]
    display = ExplanationDisplay(make(parts, name, name))
    root = ElementTree.fromstring(to_svg(display, name="x", title=name))
    assert not [node for node in root.iter() if node.tag.endswith("script")]
    svg = to_svg(display, name="x", title="why")
    assert "currentColor" in svg
    assert "var(--blue" in svg


def test_from_estimator_explains_by_itself():
    X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    model = wo.RankSVM().fit(X, [0, 1, 2])
    display = ExplanationDisplay.from_estimator(model, 2, 0, items=X, names=["best", "worst"])
    assert display.explanation == wo.explain(model, X[2], X[0], names=["best", "worst"])
