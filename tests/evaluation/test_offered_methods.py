"""A method in somebody else's package: installed beside wellorder, it joins ``fit`` and ``compare``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from wellorder import methods

MODULE = '''
"""A ranker that adds up the columns, and what wellorder has to know of it."""
import numpy as np
from sklearn.base import BaseEstimator
from wellorder.methods import Method


class AddsUp(BaseEstimator):
    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y):
        X = np.asarray(X)
        self.coef_ = np.full(X.shape[1], 1.0)
        self.n_features_in_ = X.shape[1]
        return self

    def decision_function(self, X):
        return (np.sign(X) * np.abs(X) ** self.power) @ self.coef_


METHOD = Method("the sum of all columns", AddsUp, lambda size: {"power": [0.5, 1.0]}, takes=("grades",))
UNMADE = Method("it fails when it is made", lambda: 1 / 0, takes=("grades",))
'''
POINTS = """[wellorder.methods]
adds-up = adding:METHOD
cannot-be-made = adding:UNMADE
ridge = adding:METHOD
broken = adding:NOTHING
number = adding:np
"""


def make_wheel(folder: Path) -> Path:
    """Write a wheel as any build tool would."""
    info = "adding-1.0.dist-info"
    files = {
        "adding.py": MODULE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: adding\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": POINTS,
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    wheel = folder / "adding-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the package where only the tests see it; return a way to run wellorder beside it."""
    folder = tmp_path_factory.mktemp("offered")
    there = folder / "site"
    wheel = make_wheel(folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--quiet", "--target", there, wheel], check=True, capture_output=True)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    y = np.digitize(X.sum(axis=1) + 0.3 * rng.standard_normal(80), [-1, 1])
    np.savetxt(folder / "rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,grade", comments="")

    def run(*arguments, beside=True):
        """Return what wellorder prints; without the package, what it complains of."""
        path = os.pathsep.join([*[str(there)] * beside, *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-W", "ignore", "-m", "wellorder", *arguments]
        settings = {"cwd": folder, "env": os.environ | {"PYTHONPATH": path}, "capture_output": True, "text": True}
        done = subprocess.run(command, check=False, **settings)
        assert done.returncode == (0 if beside else 2), done.stderr
        return done.stdout if beside else done.stderr

    return run


def test_it_is_fitted_saved_and_loaded(installed):
    installed("fit", "rows.csv", "--target", "grade", "--model", "adds-up", "--search", "-o", "model.wellorder")
    scores = installed("predict", "model.wellorder", "rows.csv")
    assert len(scores.splitlines()) >= 80
    shown = json.loads(installed("evaluate", "model.wellorder", "rows.csv", "--json"))
    assert "swapped_pairs" in str(shown)


def test_it_is_compared(installed):
    board = json.loads(
        installed("compare", "rows.csv", "--target", "grade", "--models", "ridge,adds-up", "--repeats", "1", "--json")
    )
    assert {"ridge", "adds-up"} <= {each["method"] for each in board["standings"]}


def test_one_that_cannot_be_made_leaves_the_others_alone(installed):
    """Neither in a comparison nor in a model file of another; and ridge stays ours."""
    models = [
        "compare",
        "rows.csv",
        "--target",
        "grade",
        "--models",
        "ridge,cannot-be-made",
        "--repeats",
        "1",
        "--json",
    ]
    board = json.loads(installed(*models))
    assert [each["method"] for each in board["standings"]] == ["ridge"]
    assert "division by zero" in json.dumps(board)
    assert board["standings"][0]["about"] == "least squares on the grades"


def test_without_the_package_its_model_is_refused(installed):
    """A file cannot bring a class along."""
    installed("fit", "rows.csv", "--target", "grade", "--model", "adds-up", "--no-bands", "-o", "other.wellorder")
    told = installed("predict", "other.wellorder", "rows.csv", beside=False)
    assert "it asks for 'adding.AddsUp', which is not among the classes a model file may hold" in told


def test_help_names_it(installed):
    assert "adds-up" in installed("compare", "--help")


def test_what_is_broken_is_left_out_with_a_word(monkeypatch, tmp_path):
    (tmp_path / "adding.py").write_text(MODULE)
    info = tmp_path / "adding-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adding\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    methods.offered_methods.cache_clear()
    with pytest.warns(UserWarning, match="is left out") as heard:
        found = methods.offered_methods()
    methods.offered_methods.cache_clear()
    assert list(found) == ["adds-up", "cannot-be-made", "ridge"]
    told = " ".join(str(each.message) for each in heard)
    assert "'broken' (adding:NOTHING) of an installed package is left out: AttributeError" in told
    assert "'number' (adding:np) of an installed package is left out: it is no Method, but a module" in told
