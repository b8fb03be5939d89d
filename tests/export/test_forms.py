"""Forms compute what the models do: every class that a model file may hold, by its own decision function."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import wellorder as wo
from tests.persistence.small_models import LEFT, RIGHT, Small
from wellorder.data.encode import column_names, read_columns_of
from wellorder.export import ExportError, form_of, forms
from wellorder.standings import Standings

REFUSED = {
    "MultipleHyperplaneRanker": "list",
    "NestedRanker": "list",
    "LogisticRegression": "none of wellorder",
    "RatingRanker": "without names",
}
"""Classes with scores that have no form, and a word of the reason."""


def as_given(form: forms.Form, rows: Any) -> Any:
    """Return rows as a form takes them."""
    if isinstance(rows, pl.DataFrame):
        return read_columns_of(rows, column_names(rows))
    if hasattr(rows, "comparisons"):
        return {form.columns[0].name: [str(name) for name in rows.items.names()]}
    return np.asarray(rows)


def formed(models: list[Small]) -> list[tuple[Small, forms.Form]]:
    """Return the forms of all models that have one; of the others, look at the reason."""
    found, refused = [], {}
    for small in models:
        try:
            found.append((small, form_of(small.model)))
        except ExportError as error:
            refused[small.name] = type(small.model).__name__, str(error)
    for kind, reason in refused.values():
        assert REFUSED.get(kind, "a precomputed kernel") in reason, (kind, reason)
    return found


def test_scores_are_those_of_the_model(models: list[Small]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for small, form in formed(models):
            want = small.model.decision_function(small.rows)
            got = forms.scores(form, as_given(form, small.rows))
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 * np.abs(want).max(), err_msg=small.name)


def grade_places(form: forms.Form, rows: Any) -> Any:
    """Return the place of each row's grade among the form's labels."""
    grades, columns = form.grades, forms.read_rows(form, rows)
    if grades.cuts is not None:
        return np.searchsorted(grades.cuts, forms.score_columns(form.score, columns), side="left")
    return forms.chances_of(grades.chances, columns).argmax(axis=1)


def test_grades_and_their_probabilities_are_those_of_the_model(models: list[Small]) -> None:
    seen = set()
    for small, form in formed(models):
        grades, given = form.grades, as_given(form, small.rows)
        if grades is None:
            continue
        if grades.cuts is not None or grades.likeliest:
            labels = [grades.labels[place] for place in grade_places(form, given)]
            assert labels == small.model.predict(small.rows).tolist(), small.name
            seen.add("grades")
        if grades.chances is not None:
            found = forms.chances_of(grades.chances, forms.read_rows(form, given))
            np.testing.assert_allclose(found, small.model.predict_proba(small.rows), atol=1e-13, err_msg=small.name)
            seen.add("chances")
    assert seen == {"grades", "chances"}


def test_outcomes_of_pairs_are_those_of_the_model(models: list[Small]) -> None:
    seen = set()
    for small, form in formed(models):
        if form.pairs is None or not hasattr(small.model, "compare"):
            continue
        own = forms.scores(form, as_given(form, small.rows))
        by_name = hasattr(small.rows, "comparisons")
        left, right = (small.rows.comparisons.left, small.rows.comparisons.right) if by_name else (LEFT, RIGHT)
        pairs = small.rows if by_name else wo.Pairs(small.rows, left, right)
        d = own[right] - own[left]
        np.testing.assert_array_equal(forms.outcomes(form.pairs, d), small.model.predict(pairs), err_msg=small.name)
        if form.pairs.slope is not None:
            found = forms.pair_chances(form.pairs, d)
            np.testing.assert_allclose(found, small.model.predict_proba(pairs), atol=1e-13, err_msg=small.name)
        seen.add(type(small.model).__name__)
    assert {"CompareSVM", "CompareLP", "ThresholdCompare", "OrderEnsemble", "TableRanker"} <= seen


def test_standings_are_ratings_by_name() -> None:
    votes = wo.Comparisons.from_names(list("abcdab"), list("bcdacd"), [1, 0, -1, 1, 1, 0])
    standings = wo.rate(votes, side=True)
    assert isinstance(standings, Standings)
    form = form_of(standings)
    left, right = standings.items_[:3].tolist(), standings.items_[1:].tolist()
    d = forms.scores(form, {"item": right}) - forms.scores(form, {"item": left})
    assert form.pairs is not None
    want = standings.predict(left, right).drop("left", "right").to_numpy()
    np.testing.assert_allclose(forms.pair_chances(form.pairs, d), want, atol=1e-13)


@pytest.mark.parametrize(
    "system", [wo.ratings.Elo(advantage="fit"), wo.ratings.Elo(advantage=30.0), wo.ratings.Davidson(first_move=True)]
)
def test_ratings_know_what_the_left_place_is_worth(system: Any) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 6, (2, 80))
    left = np.where(left == right, (right + 1) % 6, left)
    games = wo.Comparisons(left, right, rng.choice([-1, -1, 0, 1], 80))
    ranker = wo.ratings.RatingRanker(system).fit(np.zeros((6, 1)), games)
    from wellorder.export.reading import _pair_rule

    rule = _pair_rule(ranker)
    assert rule is not None
    d = ranker.ratings_[right] - ranker.ratings_[left]
    np.testing.assert_allclose(forms.pair_chances(rule, d), ranker.probabilities_between(left, right), atol=1e-13)


@pytest.mark.parametrize("to", ["onnx", "mlflow"])
def test_what_scores_no_rows_says_so(to: str, tmp_path: Any) -> None:
    elo = wo.ratings.Elo().fit(["Ann"], ["Bob"], outcome=[1])
    with pytest.raises(ExportError, match=r"Elo rates players .* wellorder\.rate"):
        wo.export(elo, tmp_path / "model", to)
    with pytest.raises(ExportError, match="CountVectorizer is none of wellorder's models"):
        wo.export(CountVectorizer().fit(["a wine"]), tmp_path / "model", to)
