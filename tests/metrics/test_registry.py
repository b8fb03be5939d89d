from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.metrics import METRICS, parse, scorer


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_prints_as_its_name_and_parses_back(name):
    metric = parse(name)
    assert str(metric) == name
    assert parse(str(metric)) == metric
    assert parse(metric) is metric
    assert np.isfinite(metric([0, 1, 2], [0.1, 0.3, 0.2]))


@pytest.mark.parametrize(
    ("name", "message"),
    [("ndgc", "no metric 'ndgc'; known are"), ("swapped_pairs@3", "takes no cut-off"), ("", "no metric")],
)
def test_unknown_names_are_refused_with_the_known_ones(name, message):
    with pytest.raises(ValueError, match=message):
        parse(name)


def test_scorer_is_higher_for_better_models():
    X, y = np.arange(6.0)[:, None], np.arange(6)
    good, bad = wo.RankSVM().fit(X, y), wo.RankSVM().fit(X, -y)
    assert scorer("swapped_pairs")(good, X, y) == 0.0
    assert scorer("swapped_pairs")(bad, X, y) == -1.0
    assert repr(scorer("swapped_pairs")) == "scorer('swapped_pairs')"
