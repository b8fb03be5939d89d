"""A file whose parts do not fit together is refused when it is read, not when it scores."""

from __future__ import annotations

import numpy as np
import pytest

import wellorder as wo
from wellorder.persistence import ModelFileError, arrays, checks, decode

from .boxes import take_apart

X = np.random.default_rng(0).standard_normal((30, 3))
y = X[:, 0].round()


@pytest.mark.parametrize(
    ("parameters", "changes"),
    [
        ({}, {"coef_": np.ones(7)}),
        ({}, {"coef_": np.ones((3, 1))}),
        ({}, {"n_features_in_": -5}),
        ({}, {"kernel": "evil"}),
        ({"kernel": "rbf"}, {"gamma_": np.nan}),
        ({"kernel": "rbf"}, {"dual_coef_": np.ones(2)}),
        ({"kernel": "rbf"}, {"support_": np.array([10**9])}),
        ({"kernel": "precomputed"}, {"support_": np.array([-1] * 30)}),
        ({"kernel": "rbf", "n_components": 5, "random_state": 0}, {"landmark_root_": np.ones((2, 2))}),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_are_refused(tmp_path, parameters, changes):
    rows = X @ X.T if parameters.get("kernel") == "precomputed" else X
    model = wo.RankSVM(**parameters).fit(rows, y)
    path = tmp_path / "model.wo"
    wo.save(model, path)
    np.testing.assert_array_equal(wo.load(path).predict(rows), model.predict(rows))
    vars(model).update(changes)
    wo.save(model, path)
    with pytest.raises(ModelFileError, match=r"model\.wo"):
        wo.load(path)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], True),
        ([1.0, 2.0], True),
        ([1.0, 2.0, np.nan], True),
        ([1, 2, 5], True),
        (["b", "a"], True),
        ([2.0, 1.0], False),
        ([1.0, 1.0], False),
        ([2.0, 1.0, np.nan], False),
        ([1.0, np.nan, 2.0], False),
        ([np.nan, np.nan], False),
        ([1, 1], False),
    ],
)
def test_only_categories_that_rise_are_found_by_bisection(names, found):
    assert checks._searchable(np.array(names)) is found


def test_what_is_quoted_is_cut_from_41_letters_on():
    assert decode._shown("x" * 38) == repr("x" * 38)
    assert decode._shown("x" * 39) == f"'{'x' * 36}..."


def test_as_many_axes_as_may_be_are_not_too_many():
    arrays.check_size((1,) * 32, np.dtype("f8"), 8)
    with pytest.raises(ModelFileError, match="33 axes is more"):
        arrays.check_size((1,) * 33, np.dtype("f8"), 8)


def test_a_plain_model_is_written_in_the_oldest_format_that_holds_it(tmp_path):
    wo.save(wo.RankSVM().fit(X, y), tmp_path / "m.wo")
    manifest, _ = take_apart((tmp_path / "m.wo").read_bytes())
    assert manifest["version"] == 1
