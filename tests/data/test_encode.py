"""Columns to numbers: standardised, one-hot, missing values, and what comes at prediction time."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

import wellorder as wo
from wellorder.data import Table, TableEncoder, encode as numbered_room
from wellorder.data.encode import _merged, center_and_scale, moments_of
from wellorder.persistence import ModelFileError

FRAME = pl.DataFrame(
    {
        "age": [1.0, None, 3.0, 8.0],
        "colour": ["red", "blue", None, "red"],
        "fixed": [2.0, 2.0, 2.0, 2.0],
        "same": ["x", "x", "x", "x"],
        "flag": [True, False, True, True],
    }
)


def test_names_and_values():
    encoder = TableEncoder().fit(FRAME)
    names = ["age", "age is missing", "colour=blue", "colour=red", "colour is missing", "flag"]
    assert encoder.get_feature_names_out().tolist() == names
    out = encoder.transform(FRAME)
    assert out.dtype == np.float64
    age = np.array([1.0, 4.0, 3.0, 8.0])
    given = np.array([1.0, 3.0, 8.0])
    np.testing.assert_allclose(out[:, 0], (age - 4.0) / given.std())
    assert out[:, 1:5].tolist() == [[0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


def test_complete_numbers_equal_a_standard_scaler():
    X = np.random.default_rng(0).normal(3, 5, (50, 4))
    np.testing.assert_allclose(TableEncoder().fit_transform(X), StandardScaler().fit_transform(X), rtol=1e-10)


@pytest.mark.parametrize(
    "make", [lambda f: f, lambda f: Table("t", f), lambda f: pd.DataFrame(f.to_dict(as_series=False))]
)
def test_the_same_from_every_kind_of_table(make):
    expected = TableEncoder().fit(FRAME).transform(FRAME)
    encoder = TableEncoder().fit(make(FRAME))
    assert (encoder.transform(make(FRAME)) == expected).all()
    assert (encoder.transform(FRAME) == expected).all()


def test_pandas_types():
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.array([True, None, False], dtype="boolean"),
            "c": pd.Categorical(["u", "v", None]),
            "s": pd.array(["p", None, "q"], dtype="string"),
            "o": [1.5, None, "x"],
            "f": pd.array([0.5, None, 2.5], dtype="Float64"),
        }
    )
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == [
        *("n", "n is missing", "b", "b is missing"),
        *("c=u", "c=v", "c is missing", "s=p", "s=q", "s is missing", "o=1.5", "o=x", "o is missing"),
        *("f", "f is missing"),
    ]
    assert np.isfinite(encoder.transform(frame)).all()


def test_unseen_categories_warn_once_a_column():
    encoder = TableEncoder().fit(pl.DataFrame({"c": ["a", "b", "a"]}))
    with pytest.warns(UserWarning, match=r"column 'c' has the value 'z' \(first in row 1\).* 2 rows") as caught:
        out = encoder.transform(pl.DataFrame({"c": ["a", "z", "y"]}))
    assert len(caught) == 1
    assert out.tolist() == [[1, 0], [0, 0], [0, 0]]
    with pytest.warns(UserWarning, match="a missing value"):
        encoder.transform(pl.DataFrame({"c": [None, "a"]}))


def test_missing_numbers_at_prediction_become_the_mean():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [1.0, 3.0]}))
    assert encoder.transform(pl.DataFrame({"a": [None, 3.0]})).tolist() == [[0.0], [1.0]]
    assert encoder.transform(pl.DataFrame({"a": [None, None]})).tolist() == [[0.0], [0.0]]


def test_categories_written_as_numbers_are_found_by_number():
    encoder = TableEncoder().fit(pl.DataFrame({"doors": ["2", "4.0", "5more"]}))
    assert encoder.transform(pl.DataFrame({"doors": [4.0, 2.0]})).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_number_that_may_be_two_categories_is_refused():
    encoder = TableEncoder().fit(pl.DataFrame({"code": ["1", "01", "2", "x"]}))
    with pytest.raises(ValueError, match=r"column 'code'.* 1 may be the category '01' or '1'; give the column as text"):
        encoder.transform(pl.DataFrame({"code": [2.0, 1.0]}))
    assert encoder.transform(pl.DataFrame({"code": [2.0]})).tolist() == [[0, 0, 1, 0]]
    assert encoder.transform(pl.DataFrame({"code": ["1", "01"]})).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]


def test_text_where_numbers_were():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [1.0, 3.0]}))
    with pytest.raises(ValueError, match="row 1: column 'a' held numbers in the training data, and has 'oops' here"):
        encoder.transform(pl.DataFrame({"a": ["1", "oops"]}))


def test_missing_and_extra_columns():
    encoder = TableEncoder().fit(FRAME)
    out = encoder.transform(FRAME.with_columns(pl.lit(1).alias("more")).select(["more", *reversed(FRAME.columns)]))
    assert (out == encoder.transform(FRAME)).all()
    with pytest.raises(ValueError, match=r"missing columns 'age', 'flag', .*did you mean 'Age'\?"):
        encoder.transform(FRAME.drop("age", "flag").with_columns(pl.lit(1).alias("Age")))


@pytest.mark.parametrize("n", [11, 30, 500])
def test_names_are_no_categories(n):
    with pytest.raises(ValueError, match=rf"'id' has {n} different values in {n} rows.*item='id'.*drop='id'"):
        TableEncoder().fit(pl.DataFrame({"id": [f"n{row}" for row in range(n)], "a": range(n)}))


def test_dates_are_no_categories_and_no_names():
    days = [date(2020, 1, 1) + timedelta(days=day) for day in range(300)]
    for column in (days, [f"{day} 18:30" for day in days]):
        with pytest.raises(ValueError, match=r"'day' holds 300 dates, such as '2020-01-01.* no categories.*drop='day'"):
            TableEncoder().fit(pl.DataFrame({"day": column, "a": range(300)}))


def test_most_categories():
    frame = pl.DataFrame({"c": [str(row % 101) for row in range(1000)]})
    with pytest.raises(ValueError, match="101 different values"):
        TableEncoder().fit(frame)
    assert TableEncoder(max_categories=101).fit_transform(frame).shape == (1000, 101)


def test_nothing_to_learn_from():
    with pytest.raises(ValueError, match="every feature is constant"):
        TableEncoder().fit(pl.DataFrame({"a": [1.0, 1.0], "b": ["x", "x"], "c": [None, None]}))
    with pytest.raises(ValueError, match="every feature is constant"):
        TableEncoder().fit(sp.csr_array(np.array([[1.0, 0, 0, 0, 0, 0]] * 3)))
    with pytest.raises(ValueError, match="there is no feature"):
        TableEncoder().fit(np.empty((3, 0)))
    with pytest.raises(ValueError, match="there is no feature"):
        TableEncoder().fit(sp.csr_array((3, 0)))


@pytest.mark.parametrize("make", [pl.DataFrame, lambda columns: np.column_stack(list(columns.values()))])
def test_rounding_makes_no_feature(make):
    columns = {"a": [0.1 + 0.2, 0.3, 0.3], "b": [1.0, 2.0, 3.0]}
    assert len(set(columns["a"])) == 2
    out = TableEncoder().fit_transform(make(columns))
    np.testing.assert_allclose(out, StandardScaler().fit_transform(np.array([columns["b"]]).T))


def test_small_differences_are_features():
    out = TableEncoder().fit_transform(np.array([[1e9], [1e9 + 1e-3]]))
    np.testing.assert_allclose(out, [[-1], [1]], atol=1e-3)


LARGE = {
    "whole numbers": 1e15 + np.arange(6.0),
    "halves": 1e15 + np.arange(6) / 2,
    "whole numbers at the end of the floats": 2.0**53 + 2 * np.arange(6),
    "negative": -1e15 - np.arange(6) / 4,
    "one apart from five": 1e15 + np.array([0.0, 0, 0, 0, 0, 1]),
}


@pytest.mark.parametrize("values", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize(
    "make",
    [
        lambda values: pl.DataFrame({"a": values}),
        lambda values: values[:, None],
        lambda values: sp.csr_array(values[:, None]),
        lambda values: sp.csr_array(np.column_stack([values, np.zeros((6, 5))])),
    ],
    ids=["frame", "array", "numbered", "sparse"],
)
def test_large_numbers_that_differ_are_a_feature(make, values):
    out = TableEncoder().fit_transform(make(values))
    out = out.toarray() if sp.issparse(out) else out
    assert out.shape == (6, 1)
    deviation = np.std(values - values[0])  # exact: the differences are small whole numbers of the last place
    if np.abs(out).max() < 1e9:  # sparse input is not centred: what it is scaled to is rounded once more
        np.testing.assert_allclose(np.diff(out[:, 0]), np.diff(values) / deviation, rtol=1e-12)
    assert TableEncoder().fit(make(values)).scales_[0] == pytest.approx(deviation, rel=1e-12)


def test_partitions_see_the_same_large_numbers():
    values = LARGE["halves"]
    parts = [moments_of(values[:2]), moments_of(values[2:2]), moments_of(values[2:])]
    center, scale = center_and_scale(_merged(parts))
    assert center == pytest.approx(1e15 + 1.25, abs=0.125)
    assert scale == pytest.approx(np.std(values - 1e15), rel=0.01)
    assert center_and_scale(_merged([moments_of(np.array([0.3])), moments_of(np.array([0.1 + 0.2]))]))[1] == 0.0


def test_sparse_columns_are_scaled_by_all_rows():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((50, 9)) < 0.2, rng.standard_normal((50, 9)), 0.0) * 10.0 ** np.arange(-200, 250, 50)
    X[:, 4] = 0.0
    found = TableEncoder().fit(sp.csr_array(X))
    assert found.columns_ == ["1", "2", "3", "4", "6", "7", "8", "9"]
    unit = np.abs(X).max(axis=0)
    expected = [np.std(X[:, j] / unit[j]) * unit[j] for j in range(9) if j != 4]
    np.testing.assert_allclose(found.scales_, expected, rtol=1e-13)


def test_a_constant_column_with_gaps_keeps_its_flag():
    encoder = TableEncoder().fit(pl.DataFrame({"a": [1.0, None, 1.0]}))
    assert encoder.get_feature_names_out().tolist() == ["a is missing"]


def test_infinity_and_huge_numbers():
    with pytest.raises(ValueError, match="column 'a' is infinite in row 1"):
        TableEncoder().fit(pl.DataFrame({"a": [1.0, float("inf")]}))
    with pytest.raises(ValueError, match="row 1: column 'a' is 1e\\+308 here, which is too large beside the training"):
        TableEncoder().fit(pl.DataFrame({"a": [0.1, 0.2]})).transform(pl.DataFrame({"a": [1.0, 1e308]}))
    out = TableEncoder().fit_transform(np.array([[1e300], [-1e300], [0.0]]))
    np.testing.assert_allclose(out[:, 0], np.array([1, -1, 0]) * np.sqrt(1.5))


def test_arrays():
    encoder = TableEncoder().fit(np.array([[1, 2], [3, 4]]))
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1"]
    with pytest.raises(ValueError, match="X has 3 features, but the encoder was fitted on 2"):
        encoder.transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="named columns"):
        TableEncoder().fit(FRAME).transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="2d array"):
        TableEncoder().fit(np.zeros(3))
    objects = np.array([[1.0, "x"], [2.0, "y"], [None, "x"]], dtype=object)
    assert TableEncoder().fit(objects).get_feature_names_out().tolist() == ["x0", "x0 is missing", "x1=x", "x1=y"]


def sparse_matrix(density: float, seed: int = 0) -> sp.csr_array:
    rng = np.random.default_rng(seed)
    return sp.csr_array(rng.normal(2, 1, (40, 12)) * (rng.random((40, 12)) < density))


def test_sparse_input_stays_sparse_and_uncentred():
    X = sparse_matrix(0.1)
    out = TableEncoder().fit_transform(X)
    assert sp.issparse(out)
    varies = X.toarray().std(axis=0) > 0
    np.testing.assert_allclose(out.toarray(), (X.toarray() / np.where(varies, X.toarray().std(axis=0), 1))[:, varies])


def test_filled_input_is_made_dense_and_standardised():
    X = sparse_matrix(0.6)
    out = TableEncoder().fit_transform(X)
    np.testing.assert_allclose(out, StandardScaler().fit_transform(X.toarray()), atol=1e-12)


@pytest.mark.parametrize("density", [0.15, 0.6])
def test_width_of_numbered_features(density):
    X = sparse_matrix(density)
    encoder = TableEncoder().fit(Table("t", X))
    wide = sp.csr_array(sp.hstack([X, sp.csr_array(np.ones((40, 2)))]))
    with pytest.warns(UserWarning, match=r"2 features beyond number 12 \(first 13\), of which .* ignored"):
        out = encoder.transform(wide)
    assert abs(out - encoder.transform(X)).max() == 0
    narrow = sp.csr_array(X[:, :5])
    padded = sp.csr_array((narrow.data, narrow.indices, narrow.indptr), shape=X.shape)
    assert abs(encoder.transform(narrow) - encoder.transform(padded)).max() == 0
    assert abs(encoder.transform(X.toarray()) - encoder.transform(X)).max() == 0
    with pytest.raises(ValueError, match="numbered features"):
        encoder.transform(FRAME)
    with pytest.raises(ValueError, match="numbered features"):
        TableEncoder().fit(FRAME).transform(X)


def test_an_enormous_feature_number_costs_nothing():
    indices = np.array([0, 2_000_000_000, 5], dtype=np.int32)
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), indices, np.array([0, 2, 3, 3], np.int32)), shape=(3, 2_000_000_001))
    encoder = TableEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == ["1", "6", "2000000001"]
    assert encoder.transform(X).shape == (3, 3)


def test_memory_is_asked_for_first(monkeypatch):
    monkeypatch.setattr(numbered_room, "available_bytes", lambda: 100)
    with pytest.raises(MemoryError, match="40 rows of 12 features need about"):
        TableEncoder().fit(sparse_matrix(0.6))


def test_bad_numbers_in_sparse_input():
    X = sparse_matrix(0.1)
    X.data[0] = np.nan
    with pytest.raises(ValueError, match="infinite or not a number"):
        TableEncoder().fit(X)


@pytest.mark.parametrize("X", [FRAME, sparse_matrix(0.1), sparse_matrix(0.6), np.array([[1.0, np.nan], [2.0, 3.0]])])
def test_saved_and_loaded(tmp_path, X):
    encoder = TableEncoder().fit(X)
    wo.save(encoder, tmp_path / "e.wo")
    again = wo.load(tmp_path / "e.wo")
    assert abs(again.transform(X) - encoder.transform(X)).max() == 0
    assert again.get_feature_names_out().tolist() == encoder.get_feature_names_out().tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("layout_", "other"),
        ("columns_", ["a"]),
        ("columns_", [1, 2, 3, 4, 5]),
        ("columns_", ["age", "colour", "fixed", "same", "age"]),
        ("categories_", [None, ["red", "red", None], None, [], None]),
        ("scales_", np.ones(3)),
        ("scales_", np.full(5, -1.0)),
        ("centers_", np.full(5, np.nan)),
        ("flagged_", np.zeros(5)),
        ("categories_", [None]),
        ("categories_", [None, [1], None, None, None]),
        ("n_features_in_", "5"),
    ],
)
def test_unsound_state_is_refused_on_loading(tmp_path, name, value):
    encoder = TableEncoder().fit(FRAME)
    setattr(encoder, name, value)
    wo.save(encoder, tmp_path / "e.wo")
    with pytest.raises(ValueError, match="not sound"):
        wo.load(tmp_path / "e.wo")


@pytest.mark.parametrize("density", [0.15, 0.6])
@pytest.mark.parametrize(("place", "number"), [(0, "0"), (-1, "13"), (-1, "1"), (-1, "9" * 30), (0, "x")])
def test_unsound_numbers_of_features_are_refused_on_loading(tmp_path, density, place, number):
    encoder = TableEncoder().fit(sparse_matrix(density))
    assert encoder.n_features_in_ == 12
    encoder.columns_[place] = number
    wo.save(encoder, tmp_path / "e.wo")
    with pytest.raises(ModelFileError, match="not sound"):
        wo.load(tmp_path / "e.wo")


def test_what_training_has_not_seen_is_named():
    train = pl.DataFrame(
        {"a": [1.0, 5.0, 3.0], "kind": ["red", "white", "red"], "same": [1, 1, 1], "one": ["x", "x", "x"]}
    )
    encoder = TableEncoder().fit(train)
    assert encoder.lows_.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert encoder.highs_.tolist() == [5.0, 0.0, 1.0, 0.0]
    assert encoder.unfamiliar(train) == []
    new = pl.DataFrame(
        {
            "a": [None, 0.5, 5.0, 9.0],
            "kind": ["rosé", None, "red", "grey"],
            "same": [2, 2, 2, None],
            "one": list("xyzw"),
        }
    )
    found = [(each.column, each.kind, each.rows.tolist(), each.detail) for each in encoder.unfamiliar(new)]
    assert found == [
        ("a", "missing", [0], ""),
        ("a", "beyond", [1, 3], "1 to 5"),
        ("kind", "missing", [1], ""),
        ("kind", "unseen", [0, 3], "rosé, grey"),
    ]


@pytest.mark.parametrize("filled", [0.1, 0.9])
def test_numbered_features_have_ranges_too(filled):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 6)) < filled, rng.standard_normal((50, 6)), 0.0)
    encoder = TableEncoder().fit(sp.csr_array(X))
    assert encoder.layout_ == ("sparse" if filled < 0.25 else "numbered")
    assert np.array_equal(encoder.lows_, X.min(axis=0))
    assert np.array_equal(encoder.highs_, X.max(axis=0))
    X[3, 2] = 99.0
    (only,) = encoder.unfamiliar(sp.csr_array(X))
    assert (only.column, only.kind, only.rows.tolist()) == ("3", "beyond", [3])
