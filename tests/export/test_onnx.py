"""ONNX files compute what the models do, in a runtime that people have: for all classes that a model file may hold."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

import wellorder as wo
from tests.export.test_forms import formed
from tests.persistence.small_models import Small
from wellorder.data import TableRanker
from wellorder.data.comparison_files import read_comparisons
from wellorder.data.roles import Roles
from wellorder.data.sheet import Sheet
from wellorder.data.table import Table
from wellorder.export import ExportError, Job, form_of, forms, onnx as target
from wellorder.export.exporting import model_scores
from wellorder.export.sampling import UNSEEN, sample_rows
from wellorder.standings import Standings

FAR = np.array([1e300, -1e300, 1e150, 5e-324, -5e-324, 2.3e-308, 0.0, -0.0])
"""The ends of the range, and what is next to nothing."""

N_ROWS = 1_000


@dataclass
class Exported:
    """A model, its form, and its file in the runtime."""

    name: str
    model: Any
    form: forms.Form
    content: bytes
    session: Any

    @classmethod
    def of(cls, model: Any, name: str = "") -> Exported:
        form = form_of(model)
        content = target.onnx_bytes(form, "model")
        return cls(name, model, form, content, session_of(content))

    def run(self, rows: Any, right: Any = None) -> dict[str, Any]:
        """Return all outputs; a model of pairs is given the rows as left items, and as right ones if no others."""
        return run(self.session, target.feeds(self.form, rows, rows if right is None else right))

    def scores(self, rows: Any) -> Any:
        """Return the score of each row, as the file has it."""
        return self.run(rows)["score" if self.form.pairs is None else "left_score"]

    def own_scores(self, rows: Any) -> Any:
        """Return the score of each row, as the model has it."""
        with np.errstate(over="ignore", invalid="ignore"):
            return model_scores(Job(self.model, self.form, "model"), rows)


def session_of(content: bytes) -> Any:
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def run(session: Any, feeds: dict[str, Any]) -> dict[str, Any]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


@pytest.fixture(scope="module")
def exported(models: list[Small]) -> list[Exported]:
    return [Exported.of(small.model, small.name) for small, _ in formed(models)]


def assert_near(got: Any, want: Any, reach: float, message: str) -> None:
    """Look at scores: the same up to rounding, and infinite or NaN where the model's are."""
    assert got.shape == want.shape, message
    apart = np.abs(got - want)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    assert (same | (apart <= 1e-12 * reach)).all(), (message, got[~same], want[~same])


def reach_of(scores: Any) -> float:
    finite = scores[np.isfinite(scores)]
    with np.errstate(over="ignore"):
        return float(min(np.ptp(finite), np.finfo(float).max)) if len(finite) else 0.0


def far_out(form: forms.Form, rng: np.random.Generator) -> Any:
    """Return rows of which many numbers lie far out, or next to zero."""

    def moved(x: Any) -> Any:
        return np.where(rng.random(x.shape) < 0.3, rng.choice(FAR, x.shape), x)

    rows = sample_rows(form, N_ROWS, seed=1)
    if not isinstance(rows, dict):
        return moved(rows)
    return {name: moved(values) if values.dtype.kind == "f" else values for name, values in rows.items()}


# --------------------------------------------------------------------------------------------------
# Scores, for every model.


@pytest.mark.parametrize("far", [False, True])
def test_scores_and_their_order_are_those_of_the_model(exported: list[Exported], far: bool) -> None:
    seen: set[str] = set()
    for each in exported:
        rows = far_out(each.form, np.random.default_rng(0)) if far else sample_rows(each.form, N_ROWS)
        want, got = each.own_scores(rows), each.scores(rows)
        assert_near(got, want, reach_of(want), each.name)
        apart = np.diff(np.sort(want), prepend=-np.inf) > 1e-14 * reach_of(
            want
        )  # but for those apart by rounding alone
        assert not (np.diff(got[np.argsort(want)]) < 0)[apart[1:]].any(), each.name
        seen |= {part.__name__ for part in parts_of(each.form)}
        seen |= {f"{column.kind} column" for column in each.form.columns if each.form.named}
        seen |= {"missing"} if each.form.takes_missing else set()
    kinds = {"Linear", "KernelSum", "Trees", "BumpSum", "StepSum", "Sum", "PlugIn", "Rated", "Softmax", "Cumulative"}
    assert seen == kinds | {"number column", "text column", "missing"}


def parts_of(form: forms.Form) -> set[type]:
    """Return the classes that a form is made of."""
    found: set[type] = set()
    open_: list[Any] = [form.score, form.grades]
    while open_:
        part = open_.pop()
        if part is None:
            continue
        if not isinstance(part, forms.Term | forms.GradeRule):
            found.add(type(part))
        open_ += [getattr(part, name, None) for name in ("function", "chances", "score")]
        open_ += list(getattr(part, "parts", ()))
    return found


@given(data=st.data())
def test_scores_of_any_rows_are_those_of_the_model(exported: list[Exported], data: st.DataObject) -> None:
    each = data.draw(st.sampled_from(exported))
    n, form = data.draw(st.integers(1, 3)), each.form
    numbers = st.floats(-1e6, 1e6, allow_nan=False)
    if form.takes_missing:
        numbers = st.one_of(numbers, st.just(np.nan))
    if form.named:
        rows: Any = {column.name: data.draw(values_of(form, column, numbers, n)) for column in form.columns}
    else:
        rows = data.draw(arrays(float, (n, form.width), elements=numbers))
    want = each.own_scores(rows)
    assert_near(each.scores(rows), want, largest(form, rows), each.name)


def values_of(form: forms.Form, column: forms.InputColumn, numbers: Any, n: int) -> Any:
    if column.kind == "number":
        return arrays(float, n, elements=numbers)
    offered = sample_rows(form, 50)[column.name].tolist()
    return st.lists(st.sampled_from(offered), min_size=n, max_size=n).map(lambda given: np.array(given, object))


def largest(form: forms.Form, rows: Any) -> float:
    """Return what the terms of a score may come to: those of linear functions and powers grow with the numbers."""
    usual = max(reach_of(forms.scores(form, sample_rows(form, 100))), 1e-3)
    if not {forms.Linear, forms.KernelSum, forms.Softmax} & parts_of(form):
        return usual
    matrix = [values for values in rows.values() if values.dtype.kind == "f"] if isinstance(rows, dict) else [rows]
    return usual * (1.0 + max(float(np.nanmax(np.abs(x), initial=0.0)) for x in matrix)) ** 2


# --------------------------------------------------------------------------------------------------
# What comes with scores.


def test_grades_and_probabilities_are_those_of_the_model_in_its_own_labels(exported: list[Exported]) -> None:
    seen = set()
    for each in exported:
        rows, grades = sample_rows(each.form, 200), each.form.grades
        found = each.run(rows)
        if grades is None:
            assert "grade" not in found
            continue
        own = as_rows(each.model, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "grade" in found:
                assert found["grade"].tolist() == each.model.predict(own).tolist(), each.name
                seen.add(found["grade"].dtype.kind)
            if "probabilities" in found:
                want = each.model.predict_proba(own)
                np.testing.assert_allclose(found["probabilities"], want, rtol=0, atol=1e-12, err_msg=each.name)
                seen.add("probabilities")
    assert seen == {"i", "f", "O", "probabilities"}


def as_rows(model: Any, rows: Any) -> Any:
    """Return rows as the model itself takes them."""
    if isinstance(rows, dict):
        return pl.DataFrame([pl.Series(name, values.tolist(), strict=False) for name, values in rows.items()])
    names = getattr(model, "feature_names_in_", None)
    return rows if names is None else pl.DataFrame(rows, schema=list(names))


@pytest.mark.parametrize(
    ("labels", "kind"), [([False, True], "b"), ([1, 2.5], "f"), (["a", "b"], "O"), ([1, "b"], "O"), ([3, 9], "i")]
)
def test_labels_keep_their_type_where_they_have_one(labels: list[Any], kind: str) -> None:
    grades = forms.GradeRule(tuple(labels), np.array([0.5]))
    piece = forms.Term((forms.Feature(0),), forms.Linear(np.array([1.0])))
    form = forms.Form((forms.InputColumn("x0", "number", 0),), 1, False, piece, grades=grades)
    found = run(session_of(target.onnx_bytes(form, "m")), {"X": np.array([[0.0], [0.5], [1.0]])})["grade"]
    want = labels if kind != "O" else [str(label) for label in labels]
    assert found.dtype.kind == kind
    assert found.tolist() == [want[0], want[0], want[1]]


def test_pairs_are_compared_as_the_model_compares_them(exported: list[Exported]) -> None:
    seen = set()
    for each in exported:
        if each.form.pairs is None or each.form.named:
            continue
        items = sample_rows(each.form, 100)
        left, right = np.arange(99), np.arange(1, 100)
        found, pairs = each.run(items[left], items[right]), wo.Pairs(items, left, right)
        want = each.model.compare(pairs)
        np.testing.assert_allclose(found["difference"], want, rtol=0, atol=1e-12 * np.ptp(want))
        assert found["outcome"].tolist() == each.model.predict(pairs).tolist(), each.name
        if hasattr(each.model, "predict_proba"):
            np.testing.assert_allclose(found["probabilities"], each.model.predict_proba(pairs), rtol=0, atol=1e-12)
            seen.add("probabilities")
        seen |= {int(each) for each in found["outcome"]}
    assert seen == {-1, 0, 1, "probabilities"}


def test_standings_tell_of_votes_by_name_and_nothing_of_names_that_no_votes_link() -> None:
    standings = wo.rate(wo.Comparisons.from_names(list("abcabxyx"), list("bcacayxy"), [1, 0, -1, 1, 0, 1, -1, 0]))
    assert isinstance(standings, Standings)
    each = Exported.of(standings)
    assert [given.name for given in each.session.get_inputs()] == ["left", "right"]
    found = each.run({"item": ["a", "c", "a", "b"]}, {"item": ["b", "a", "x", UNSEEN]})
    want = standings.predict(["a", "c"], ["b", "a"]).drop("left", "right").to_numpy()
    np.testing.assert_allclose(found["probabilities"][:2], want, atol=1e-14)
    assert np.isnan(found["probabilities"][2:]).all()
    assert np.isnan(found["difference"][2:]).all()
    assert found["outcome"].tolist()[2:] == [2, 2], "a tie was not predicted: nothing was"
    assert np.isfinite(found["left_score"]).all()


def test_a_stranger_has_the_rating_that_all_start_with(exported: list[Exported]) -> None:
    each = next(each for each in exported if each.name == "TableRanker (RatingRanker by name)")
    names = [*each.model.items_, UNSEEN]
    want = np.append(each.model.ranker_.ratings_, each.model.ranker_.unseen_)
    assert each.scores({each.form.columns[0].name: names}).tolist() == want.tolist()


def test_pairs_of_a_table_have_columns_of_the_left_item_and_of_the_right_one(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    items = pl.DataFrame({"id": [f"i{k}" for k in range(30)], "ph": rng.normal(size=30), "colour": list("abc") * 10})
    better = items["ph"].to_numpy() + (items["colour"] == "a").to_numpy()
    left, right = rng.permutation(30)[:29], np.arange(29)
    outcome = np.where(np.abs(better[right] - better[left]) < 0.3, 0, np.sign(better[right] - better[left])).astype(int)
    votes = pl.DataFrame({"left": items["id"][left], "right": items["id"][right], "outcome": outcome})
    items.write_csv(tmp_path / "items.csv")
    votes.write_csv(tmp_path / "votes.csv")
    table = wo.read(tmp_path / "votes.csv", items=tmp_path / "items.csv")
    for model in (wo.CompareSVM(), wo.RankSVM()):
        each = Exported.of(TableRanker(model).fit(table))
        names = [given.name for given in each.session.get_inputs()]
        assert names == ["left.ph", "left.colour", "right.ph", "right.colour"]
        sides = ({name: items[name].to_numpy()[rows] for name in ("ph", "colour")} for rows in (left, right))
        found = each.run(*sides)
        np.testing.assert_allclose(found["difference"], each.model.compare(table), atol=1e-12)
        assert found["outcome"].tolist() == each.model.predict(table).tolist()
        assert wo.export(each.model, tmp_path / "model.onnx").same_order


def test_the_left_place_is_worth_what_the_ratings_say() -> None:
    games = pl.DataFrame(
        {"left": list("abcdacbd"), "right": list("bcdacbda"), "outcome": [-1, 0, -1, 1, -1, -1, -1, 0]}
    )
    by_name = read_comparisons(Sheet((("games", 0),), games), Roles(), None)
    for system in (wo.ratings.Davidson(first_move=True), wo.ratings.Elo(advantage=30.0)):
        each = Exported.of(TableRanker(wo.ratings.RatingRanker(system)).fit(by_name))
        assert each.form.pairs.advantage != 0
        asked, name = games.select("left", "right"), each.form.columns[0].name
        found = each.run(*({name: asked[side].to_list()} for side in ("left", "right")))
        np.testing.assert_allclose(found["difference"], each.model.compare(asked), atol=1e-12)
        np.testing.assert_allclose(found["probabilities"], each.model.predict_proba(asked), atol=1e-12)
        assert (
            found["outcome"].tolist()
            == np.where(
                np.abs(found["difference"]) > each.model.ranker_.threshold_, np.sign(found["difference"]), 0
            ).tolist()
        )


# --------------------------------------------------------------------------------------------------
# The file.


def test_a_batch_has_any_number_of_rows(exported: list[Exported]) -> None:
    for each in exported:
        rows = sample_rows(each.form, 5)
        all_of_them = each.run(rows)
        for n in (0, 1):
            some = {name: values[:n] for name, values in rows.items()} if isinstance(rows, dict) else rows[:n]
            for name, values in each.run(some).items():
                assert values.shape == (n, *all_of_them[name].shape[1:]), (each.name, name)


def test_the_bytes_of_a_model_are_the_same_and_are_read_by_the_reference_as_well(
    exported: list[Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "import_module", without("onnxruntime"))
    for each in exported:
        assert target.onnx_bytes(each.form, "model") == each.content, each.name
        rows = sample_rows(each.form, 5)
        reader, found = target.compute(each.content, target.feeds(each.form, rows, rows))
        assert reader == f"ONNX's reference {onnx.__version__}"
        for name, values in each.run(rows).items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-12, err_msg=each.name)
            else:
                assert np.asarray(found[name]).tolist() == values.tolist(), each.name


def without(library: str) -> Any:
    """Import all but one."""

    def load(name: str) -> Any:
        if name.partition(".")[0] == library:
            raise ImportError(name)
        return __import__(name, fromlist=["_"])

    return load


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(target, "import_module", without("onnx"))
    model = wo.RankSVM().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ExportError, match=r"pip install 'wellorder\[onnx\]'"):
        wo.export(model, tmp_path / "model.onnx")


def test_the_file_says_what_it_is() -> None:
    frame = pl.DataFrame({"ph": [3.0, 3.1, 3.4, 3.3], "colour": ["red", "white", "red", "white"], "q": list("abba")})
    model = TableRanker(wo.ProportionalOdds(), target="q", levels=["a", "b"]).fit(frame)
    file = onnx.load_from_string(target.onnx_bytes(form_of(model), target._called(model)))
    told = {entry.key: entry.value for entry in file.metadata_props}
    assert (file.producer_name, file.producer_version) == ("wellorder", wo.__version__)
    assert told["model"] == "TableRanker(ProportionalOdds)"
    assert json.loads(told["columns"]) == ["ph", "colour"]
    assert json.loads(told["levels"]) == ["a", "b"]
    inputs = session_of(file.SerializeToString()).get_inputs()
    assert [(each.name, each.type, each.shape) for each in inputs] == [
        ("ph", "tensor(double)", ["rows", 1]),
        ("colour", "tensor(string)", ["rows", 1]),
    ]


def test_columns_may_be_called_anything() -> None:
    names = ["score", "grade", "v0", "score_", "left", "probabilities", "ü"]
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({name: rng.normal(size=20) for name in names} | {"q": rng.integers(0, 3, 20).tolist()})
    each = Exported.of(TableRanker(wo.ProportionalOdds(), target="q").fit(frame))
    assert [given.name for given in each.session.get_inputs()] == [
        *("score_", "grade_", "v0", "score__", "left", "probabilities_", "ü")
    ]
    rows = {name: frame[name].to_numpy() for name in names}
    np.testing.assert_allclose(each.scores(rows), each.model.decision_function(frame), atol=1e-12)
    assert any("'score_'" in note for note in target._notes(each.form))


@pytest.mark.parametrize("width", [40, 20_000])
def test_of_numbered_features_those_that_count_are_given(width: int, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((60, width), density=4.0 / width, rng=rng, format="lil")
    X[:, [3, width - 1]] = rng.normal(size=(60, 2))
    X = X.tocsr()
    y = np.digitize(X[:, [3]].toarray().ravel(), [-0.5, 0.5])
    model = TableRanker(wo.RankSVM()).fit(Table("features", X, y=y))
    found = wo.export(model, tmp_path / "model.onnx")
    each = Exported.of(model)
    assert found.n_rows == N_ROWS
    rows = X.toarray() if width == 40 else {c.name: X[:, [c.place]].toarray().ravel() for c in each.form.columns}
    assert each.session.get_inputs()[0].shape == ["rows", 40 if width == 40 else len(rows)]
    assert_near(each.scores(rows), model.decision_function(Table("features", X)), 1.0, "")


# --------------------------------------------------------------------------------------------------
# Texts, categories, and what runtimes read in their own way.


def test_a_missing_text_is_the_empty_one_and_an_unseen_one_is_none_of_the_categories() -> None:
    frame = pl.DataFrame({"colour": ["red", "green", None, "red"], "q": [2, 1, 0, 2]})
    each = Exported.of(TableRanker(wo.RankSVM(), target="q").fit(frame))
    with pytest.warns(UserWarning, match="blue"):
        want = each.model.decision_function(pl.DataFrame({"colour": [None, "red", "blue"]}))
    found = run(each.session, {"colour": np.array([[""], ["red"], ["blue"]], object)})["score"]
    np.testing.assert_allclose(found, want, atol=1e-14)
    assert len(set(want.tolist())) == 3


def test_an_empty_text_that_is_a_category_is_not_taken_for_a_missing_one() -> None:
    columns, linear = (forms.InputColumn("", "text", 0),), forms.Linear(np.array([1.0, 2.0, 4.0]))
    values = [("red",), ("",), (None,)]
    features = tuple(forms.Feature(0, "category", each) for each in values)
    with pytest.raises(ExportError, match="'' has missing values and the empty text among its categories"):
        target.onnx_bytes(forms.Form(columns, 1, True, forms.Term(features, linear)), "m")
    known = forms.Term(features[:2], forms.Linear(np.array([1.0, 2.0])))
    session = session_of(target.onnx_bytes(forms.Form(columns, 1, True, known), "m"))
    assert run(session, {"column": np.array([[""], ["red"], ["x"]], object)})["score"].tolist() == [2.0, 1.0, 0.0]


def test_trees_take_sets_of_hundreds_of_categories_and_numbers_that_are_none_of_them() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(-150, 150, 3_000) / 2, rng.normal(size=3_000)])
    effect = rng.normal(size=300)
    y = np.round(effect[(2 * X[:, 0]).astype(int)] + 0.3 * X[:, 1], 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    each = Exported.of(wo.BoostedTrees(n_estimators=20, categories=[0]).fit(X, y))
    function = each.form.score.function
    assert function.set_size.max() > 200
    assert len({*np.flatnonzero(function.missing_left), *np.flatnonzero(function.left >= 0)}) > 100
    asked = np.vstack([X, [[0.25, 0.0], [1e9, 0.0], [-0.0, 0.0], [np.nan, np.nan], [-1.0, 0.0]]])
    want = each.own_scores(asked)
    assert_near(each.scores(asked), want, reach_of(want), "")


def test_features_stand_where_the_model_has_them() -> None:
    rng = np.random.default_rng(0)
    numbers = {name: np.where(rng.random(60) < 0.2, np.nan, rng.normal(size=60)) for name in "abc"}
    whole = rng.normal(size=60)
    colour = rng.choice(["red", "green", "blue"], 60)
    q = np.round(np.nan_to_num(numbers["a"]) - 2 * np.nan_to_num(numbers["c"]) + whole + (colour == "red"))
    columns = {"a": numbers["a"], "colour": colour, "b": numbers["b"], "whole": whole, "c": numbers["c"]}
    frame = pl.DataFrame({**columns, "q": q}, nan_to_null=True)
    each = Exported.of(TableRanker(wo.RankSVM(), target="q").fit(frame))
    assert_near(each.scores(columns), each.model.decision_function(frame), 1.0, "")


def test_an_ensemble_may_have_members_that_go_by_probabilities(exported: list[Exported]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=80), [-0.5, 0.5])
    members = [("plug", wo.PlugInRanker()), ("svm", wo.RankSVM())]
    each = Exported.of(wo.OrderEnsemble(members, weights=[0.7, 0.3]).fit(X, y))
    assert_near(each.scores(X), each.own_scores(X), 1.0, "")


def form_over(function: Any, width: int) -> forms.Form:
    """Return a function of a matrix of numbers."""
    columns = tuple(forms.InputColumn(f"x{place}", "number", place) for place in range(width))
    score = forms.Term(tuple(forms.Feature(place) for place in range(width)), function, 0.25)
    return forms.Form(columns, width, False, score, takes_missing=True)


def test_trees_may_be_leaves_and_a_number_that_is_no_category_is_missing() -> None:
    # three trees: a leaf; a set {0, 2} of three with missing values right; a leaf
    none, inner = np.zeros(5, np.int64), np.array([False, True, False, False, False])
    trees = forms.Trees(
        feature=np.array([-1, 1, -1, -1, -1]),
        threshold=np.zeros(5),
        left=np.array([-1, 2, -1, -1, -1]),
        right=np.array([-1, 3, -1, -1, -1]),
        value=np.array([8.0, 0.0, 1.0, 2.0, 16.0]),
        roots=np.array([0, 1, 4]),
        missing_left=~inner & False,
        set_size=np.where(inner, 3, 0),
        set_begin=none,
        member=np.array([True, False, True]),
    )
    X = np.column_stack([np.zeros(8), [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1e300, np.nan]])
    form = form_over(trees, 2)
    found = run(session_of(target.onnx_bytes(form, "m")), {"X": X})["score"]
    assert found.tolist() == forms.scores(form, X).tolist() == [25.25, *[26.25], 25.25, *[26.25] * 5]
    alone = dict.fromkeys(("feature", "left", "right"), np.array([-1])) | dict.fromkeys(
        ("roots", "set_begin"), none[:1]
    )
    alone |= {"set_size": none[:1], "missing_left": inner[:1], "threshold": np.zeros(1), "value": np.array([3.0])}
    form = form_over(forms.Trees(**alone, member=inner[:0]), 2)
    assert run(session_of(target.onnx_bytes(form, "m")), {"X": X})["score"].tolist() == [3.25] * 8


def test_a_gaussian_is_at_most_one_and_nothing_far_away() -> None:
    rows = 1e9 * np.random.default_rng(0).normal(size=(50, 3))
    form = form_over(forms.KernelSum("rbf", rows, np.eye(50)[7], gamma=1e10), 3)
    session = session_of(target.onnx_bytes(form, "m"))
    assert (run(session, {"X": rows})["score"] <= 1.25).all()
    assert run(session, {"X": np.array([[1e300, 0.0, -1e300], [0.0, 1e300, 0.0]])})["score"].tolist() == [0.25, 0.25]


def test_a_leaf_beside_an_inner_node_of_the_same_number_is_no_root(exported: list[Exported]) -> None:
    """A runtime of some years takes a root whose children have one number, a leaf's and a node's, for a leaf."""
    seen = 0
    for each in exported:
        for node in onnx.load_from_string(each.content).graph.node:
            if node.op_type != "TreeEnsemble":
                continue
            told = {part.name: onnx.helper.get_attribute_value(part) for part in node.attribute}
            for root in told["tree_roots"]:
                sides = [(told[f"nodes_{side}leafs"][root], told[f"nodes_{side}nodeids"][root]) for side in SIDES]
                assert sides[0][1] != sides[1][1]
                seen += 1
    assert seen > 10


SIDES = ("true", "false")


def test_kernels_and_bumps_are_added_up_block_by_block(
    exported: list[Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "_BLOCK", 3)
    seen = set()
    for each in exported:
        if not (found := {forms.KernelSum, forms.BumpSum} & parts_of(each.form)):
            continue
        content, rows = target.onnx_bytes(each.form, "m"), sample_rows(each.form, 50)
        got = run(session_of(content), target.feeds(each.form, rows, rows))
        for name, values in each.run(rows).items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(got[name], values, rtol=0, atol=1e-12 * (1.0 + np.abs(values).max()))
        seen |= found if content != each.content else set()
    assert seen == {forms.KernelSum, forms.BumpSum}


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_one_column_is_scaled_in_double_precision(kernel: str) -> None:
    """A product with a number, beside a product of matrices, becomes a number in single precision in the runtime."""
    rng = np.random.default_rng(0)
    items = 1e3 + 17.3 * rng.normal(size=(60, 1))
    left, right = np.arange(59), np.arange(1, 60)
    outcome = np.sign(items[right, 0] - items[left, 0]).astype(int)
    model = wo.CompareSVM(scale=True, kernel=kernel).fit(wo.Pairs(items, left, right), outcome)
    each = Exported.of(model)
    want = each.own_scores(items)
    assert_near(each.scores(items), want, reach_of(want), kernel)


def test_a_model_that_no_file_can_hold_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_MOST_BYTES", 1_000)
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(ExportError, match="n_components=1000"):
        target.onnx_bytes(form_of(wo.RankSVM(kernel="rbf").fit(X, np.round(X[:, 0]))), "m")


@pytest.mark.parametrize("output", ["grade", "probabilities", "difference", "outcome"])
def test_a_file_of_which_any_output_disagrees_is_not_written(
    output: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    compute = target.compute

    def wrong(*given: Any) -> tuple[str, dict[str, Any]]:
        reader, found = compute(*given)
        found[output] = found[output][::-1].copy()
        return reader, found

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    if output in ("difference", "outcome"):
        model: Any = wo.CompareSVM().fit(wo.Pairs(X, np.arange(59), np.arange(1, 60)), np.sign(np.diff(X[:, 0])))
    else:
        model = wo.ProportionalOdds().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert wo.export(model, tmp_path / "good.onnx").reader == f"ONNX Runtime {onnxruntime.__version__}"
    monkeypatch.setattr(target, "compute", wrong)
    with pytest.raises(ExportError, match=f"'{output}'"):
        wo.export(model, tmp_path / "model.onnx")
    assert not (tmp_path / "model.onnx").exists()


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_kernel_function_that_is_zero_is_zero(kernel: str, tmp_path: Any) -> None:
    """SVOR finds it, and warns, where levels overlap so much that one score for all rows has the least loss."""
    X, y = np.random.default_rng(7).standard_normal((30, 2)), np.arange(30) % 3
    model = wo.SVOR(kernel=kernel).fit(X, y)
    model.support_, model.dual_coef_, model.support_vectors_ = np.zeros(0, int), np.zeros(0), np.zeros((0, 2))
    assert wo.export(model, tmp_path / "zero.onnx").range == 0
    (grades,) = onnxruntime.InferenceSession(tmp_path / "zero.onnx").run(["grade"], {"X": X})
    assert grades.tolist() == model.predict(X).tolist()
