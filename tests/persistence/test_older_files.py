"""Files that older versions wrote still load, and give the answers that they gave then.

``python -m tests.persistence.test_older_files`` wrote the stored files, and writes those of a version that is to be
kept from now on.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import wellorder as wo
from wellorder.persistence import ModelFileWarning

from .boxes import take_apart
from .small_models import Small, small_models

OLDER = Path(__file__).parent / "older"


def write(folder):
    """Write a file of each class of wellorder's, one a kind of fitted state, and what the models say."""
    answers = {}
    folder.mkdir(parents=True)
    for small in small_models():
        path = folder / f"{len(answers):02d}.wo"
        wo.save(small.model, path)
        if '"sklearn.' in json.dumps(take_apart(path.read_bytes())[0]["model"]):
            path.unlink()  # the state of scikit-learn's estimators is scikit-learn's own
            continue
        answers[path.stem] = {"name": small.name, **said(small, small.model)}
    (folder / "answers.json").write_text(json.dumps(answers, indent=1))


def said(small, model):
    answers = small.answers(model)
    return {name: np.asarray(found).tolist() for name, found in answers.items() if isinstance(found, np.ndarray)}


@pytest.fixture(scope="module")
def rows():
    return {small.name: small for small in small_models()}


@pytest.mark.parametrize("version", sorted(path.name for path in OLDER.glob("*")))
def test_older_files_give_the_answers_that_they_gave(version, rows):
    stored = json.loads((OLDER / version / "answers.json").read_text())
    assert stored
    for stem, expected in stored.items():
        name = expected.pop("name")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelFileWarning)
            model = wo.load(OLDER / version / f"{stem}.wo")
        found = said(Small(name, model, rows[name].rows), model)
        assert found.keys() >= expected.keys(), name  # it may have learned to say more
        for method, values in expected.items():
            if isinstance(np.ravel(values)[0], str):
                assert found[method] == values, (name, method)
            else:
                np.testing.assert_allclose(found[method], values, rtol=1e-9, atol=1e-9, err_msg=f"{name}: {method}")


if __name__ == "__main__":
    write(OLDER / (sys.argv[1] if len(sys.argv) > 1 else wo.__version__))
