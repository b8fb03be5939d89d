"""Types that can fail: mypy knows fitted attributes, the methods of our own objects, and levels from scores."""

import ast
import inspect
import re
import textwrap
from pathlib import Path

import pytest

import wellorder
import wellorder.data
import wellorder.estimators
import wellorder.export
import wellorder.ratings
from wellorder.state import Stored

SOURCE = Path(wellorder.__file__).parent
ROOT = Path(__file__).parents[2]

RIGHT = """
from typing import Any

import wellorder as wo
from wellorder.estimators import CompareSVM, RankSVM
from wellorder.export import Parity
from wellorder.losses import LOSSES
from wellorder.order import Comparisons, Grades
from wellorder.sweeps import Bools, Floats, Ints


class Mine(RankSVM):
    def weigh(self) -> Floats:
        return self.coef_


def use(ranker: RankSVM, model: CompareSVM, grades: Grades, games: Comparisons, scores: Floats, X: Any) -> None:
    ranker.fit(X, grades).coef_.sum()
    wo.SVOR().fit(X, grades)
    wo.cross_validate(ranker, X, grades)
    model.threshold_.is_integer()
    games.to_pairs(3)
    LOSSES["logistic"].derivatives(scores)
    LOSSES["squared_hinge"].graded(scores, grades.pairs)
    rows: Ints = grades.level
    judged: Bools = grades.is_judged
    better: Floats = ranker.decision_function(X)
    try:
        parity: Parity = wo.export(ranker, "ranker.sql", to="sql")
    except wo.export.ExportError as error:
        error.add_note("written nowhere")
    wo.export.form_of(ranker).columns
"""
MISTAKES = {
    "return self.coef_": "return self.coeff_",
    "ranker.fit(X, grades).coef_": "ranker.fit(X, grades).coeff_",
    "model.threshold_": "model.treshold_",
    "wo.SVOR()": "wo.SVOT()",
    "wo.cross_validate(": "wo.cross_validated(",
    "games.to_pairs(3)": "games.to_pair(3)",
    ".derivatives(scores)": ".derivitives(scores)",
    "graded(scores, ": "graded(grades.level, ",
    "rows: Ints = grades.level": "rows: Ints = scores",
    "judged: Bools = grades.is_judged": "judged: Bools = grades.level",
    "better: Floats = ranker.decision_function(X)": "better: Ints = ranker.decision_function(X)",
    "parity: Parity": "parity: str",
    "wo.export.ExportError": "wo.export.ExportErrors",
    "wo.export.form_of(ranker).columns": "wo.export.form_of(ranker).column",
}
"""What is right, and what somebody may write in its place: each in a line of its own."""


def test_mypy_finds_each_mistake(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api", reason="mypy judges the code where it is installed")
    wrong = RIGHT
    for right, mistaken in MISTAKES.items():
        assert wrong.count(right) == 1
        wrong = wrong.replace(right, mistaken)
    expected = [
        number
        for number, pair in enumerate(zip(RIGHT.splitlines(), wrong.splitlines(), strict=True), start=1)
        if pair[0] != pair[1]
    ]
    assert len(expected) == len(MISTAKES)
    for name, content in (("written_right", RIGHT), ("written_wrong", wrong)):
        tmp_path.joinpath(f"{name}.py").write_text(content)
    monkeypatch.chdir(ROOT)  # where pyproject.toml is, and the stubs that it names
    if SOURCE.is_relative_to(ROOT):  # else it is installed, and mypy finds it as users' does
        monkeypatch.setenv("MYPYPATH", str(SOURCE.parent))
    said, trouble, _ = api.run(["--no-error-summary", str(tmp_path)])
    assert not trouble
    errors = re.findall(r"written_(right|wrong)\.py:(\d+): error: ", said)  # mypy's cache may know another folder
    assert {name for name, _ in errors} == {"wrong"}, said
    assert sorted({int(line) for _, line in errors}) == expected, said


def test_type_checkers_know_every_name_of_the_room_that_is_called():
    room = ast.parse(SOURCE.joinpath("export", "__init__.py").read_text())
    (face,) = (node for node in ast.walk(room) if isinstance(node, ast.ClassDef) and node.name == "Face")
    known = {node.targets[0].id for node in face.body if isinstance(node, ast.Assign)}
    assert known == {*wellorder.export.__all__, "__call__"} - {"export"}


def below(cls):
    return {cls}.union(*map(below, cls.__subclasses__()))


@pytest.mark.parametrize(
    "cls",
    sorted((cls for cls in below(Stored) if cls.__module__.startswith("wellorder.")), key=lambda cls: cls.__name__),
)
def test_what_fit_leaves_is_declared_in_the_class(cls):
    """mypy takes ``self.coeff_ = …`` for a new attribute; so what is stored has to be among those declared."""
    declared = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
    stored = {
        place.attr
        for place in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cls))))
        if isinstance(place, ast.Attribute)
        and isinstance(place.ctx, ast.Store)
        and isinstance(place.value, ast.Name)
        and place.value.id == "self"
        and place.attr.endswith("_")
    }
    assert stored <= declared
