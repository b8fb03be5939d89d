"""What goes into a model file comes out of it: values, models, scores, to the last bit."""

from __future__ import annotations

import math
import os
import stat
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import wellorder as wo
from wellorder.persistence import ModelFileWarning, files

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.arange(40) % 3
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
    town=np.where(X[:, 0] > 0, "Aachen", "Bonn"),
    size=np.arange(40) % 5,
    text=["good", "bad", "so so", "very good"] * 10,
)


def carrier(**values):
    """A fitted ranker that carries these values as fitted attributes."""
    ranker = wo.RankSVM().fit(X, Y)
    vars(ranker).update(values)
    return ranker


@pytest.fixture
def again(tmp_path):
    """Save and load; also check that the bytes are the same every time, loaded or not."""

    def save_and_load(model):
        first, second, third = (tmp_path / name for name in ("first.wo", "second.wo", "third.wo"))
        wo.save(model, first)
        wo.save(model, str(second))
        loaded = wo.load(first)
        wo.save(loaded, third)
        assert first.read_bytes() == second.read_bytes() == third.read_bytes()
        return loaded

    return save_and_load


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        return (
            all(map(same, a.ravel().tolist(), b.ravel().tolist())) if a.dtype.hasobject else a.tobytes() == b.tobytes()
        )
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, float | np.generic) and a != a:  # NaN, NaT
        return b != b
    return a == b


VALUES = {
    "none": None,
    "truth": [True, False, np.True_],
    "whole": [0, -1, 2**63 - 1, 2**63, -(2**63), 2**200, -(2**20_000)],
    "float": [0.1, -0.0, 1e308, 5e-324, math.inf, -math.inf, math.nan],
    "text": ["", "é 漢 \N{ROLLING ON THE FLOOR LAUGHING}", "\ud800", "\0", "nan", '{"object": 1}'],
    "bytes": [b"", bytes(range(256))],
    "nested": [(), [], {}, set(), ((1,), [2]), {"a": (1, [2, {3: 4}])}],
    "keys": {(0, 2): "tuple", 1: "one", "1": "text", None: 0, 1.5: 0, True + 1: 0, np.int64(9): 0, frozenset([1]): 0},
    "sets": [{3, 1, 2}, {"b", "a"}, frozenset([(1, 2), "x"])],
    "slices": [slice(None), slice(1, 5, 2), slice("a", "c")],
    "scalars": [
        np.float32(0.1),
        np.int8(-3),
        np.uint64(2**64 - 1),
        np.str_("hé"),
        np.str_(""),
        np.bytes_(b"x"),
        np.nan,
    ],
    "times": [np.datetime64("2020-01-01", "D"), np.timedelta64(5, "ns"), np.datetime64("NaT", "D")],
    "times without a unit": [*np.arange(2).view("m8"), np.arange(2).view("m8")],
    "types": [np.float64, np.int32, np.number, float, int, object, str],
    "dtypes": [np.dtype(float), np.dtype(">i4"), np.dtype("<U7"), np.dtype(object), np.dtype("M8[ns]"), np.dtype(bool)],
    "arrays": [
        np.arange(6).reshape(2, 3),
        np.array(3.5),
        np.empty((0, 4)),
        np.ones((2, 1, 2), np.float16),
        np.arange(9)[::2],
    ],
    "array types": [np.array([1, 0], dtype) for dtype in [*"?bBhHiIlLqQefdgFD", "S3", "U3", ">f8", "M8[D]", "m8[s]"]],
    "object arrays": [
        np.array(["a", None, math.nan, 1, 2.5], object),
        np.array([["a"], ["b"]], object),
        np.empty((0, 3), object),
    ],
    "records": [
        np.array([(1, 2.5, "x")], [("a", "i4"), ("b", "f8"), ("c", "U3")]),
        np.zeros((2, 2), [("a", "u1"), ("b", "f4", (3,)), ("c", [("d", "i2")])]),
        np.zeros(3, np.dtype([("a", "u1"), ("b", "f8")], align=True)),
    ],
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_come_back_as_they_were(again, kind):
    assert same(again(carrier(value_=VALUES[kind])).value_, VALUES[kind])


def test_tuples_of_objects_in_an_array_stay_whole(again):
    array = np.empty((2, 2), object)
    array[:] = [[(1, 2), (3, 4)], [(5, 6), [7]]]
    assert same(again(carrier(value_=array)).value_, array)


def test_memory_layout_is_kept_and_shared_arrays_are_stored_once(again, tmp_path):
    columns_first = np.asfortranarray(X)
    loaded = again(carrier(value_=columns_first, same_=columns_first, other_=[columns_first]))
    assert loaded.value_.flags.f_contiguous
    assert not loaded.value_.flags.c_contiguous
    assert loaded.value_ is loaded.same_ is loaded.other_[0]
    with zipfile.ZipFile(tmp_path / "first.wo") as archive:
        assert len(archive.namelist()) == 3  # the manifest, coef_, and the array


def test_members_are_npy_files_that_numpy_reads(tmp_path):
    for array in (
        X,
        np.asfortranarray(X),
        np.array(1.5),
        np.arange(3),
        np.array(["a", "bc"]),
        np.zeros((0, 2, 3), "M8[s]"),
    ):
        wo.save(carrier(value_=array), tmp_path / "m.wo")
        with zipfile.ZipFile(tmp_path / "m.wo") as archive, archive.open("arrays/1.npy") as member:
            assert same(np.load(member, allow_pickle=False), np.asarray(array))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_matrices(again, kind, index):
    matrix = kind(np.where(X > 0.5, X, 0))
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    loaded = again(carrier(value_=matrix)).value_
    assert type(loaded) is kind
    assert loaded.shape == matrix.shape
    for part in ("data", "indices", "indptr"):
        assert same(getattr(loaded, part), getattr(matrix, part))


def test_a_random_state_goes_on_where_it_was(again):
    state = np.random.RandomState(3)
    state.normal(size=3)
    loaded = again(carrier(value_=state)).value_
    assert same(loaded.normal(size=700), state.normal(size=700))


@pytest.mark.parametrize(
    "graph",
    [
        wo.OrderGraph.full(["poor", "fair", "good"]),
        wo.OrderGraph.chain(["poor", "fair", "good"]),
        wo.OrderGraph.chain(np.arange(3000.0)),
        wo.OrderGraph.linear([0, 1, 5]),
        wo.OrderGraph.dcg([0, 1, 2]),
        wo.OrderGraph.from_scale([1, 2, 0.1], [0, 0.3, 1]),
        wo.OrderGraph.from_edges([("a", 1), "b", None], [(("a", 1), "b"), (None, "b", 0.25)]),
        wo.OrderGraph([2, 1], [[0, 0], [3.5, 0]]),
    ],
)
def test_order_graphs(again, graph):
    loaded = again(wo.RankSVM(order=graph).fit(X, Y) if graph.levels == (0, 1, 2) else carrier(order=graph)).order
    assert loaded.levels == graph.levels
    assert list(map(type, loaded.levels)) == list(map(type, graph.levels))
    assert same(loaded.weights, graph.weights)
    assert type(loaded.structure) is type(graph.structure)


TRANSFORMERS = [
    Binarizer(), FunctionTransformer(), KBinsDiscretizer(3, quantile_method="linear"),
    KBinsDiscretizer(3, encode="ordinal", quantile_method="linear"), KNNImputer(), MaxAbsScaler(), MinMaxScaler(),
    MissingIndicator(features="all"), Normalizer(), Nystroem(n_components=5, random_state=0), OrdinalEncoder(),
    OneHotEncoder(handle_unknown="ignore"), PCA(2), PolynomialFeatures(), PowerTransformer(),
    QuantileTransformer(n_quantiles=10), RBFSampler(random_state=0, n_components=5), RobustScaler(),
    SimpleImputer(add_indicator=True), StandardScaler(), TruncatedSVD(2, random_state=0), VarianceThreshold(),
    FeatureUnion([("a", StandardScaler()), ("b", PCA(1))]),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:the best function is zero")  # nothing is missing in X, and all indicators alike
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda step: type(step).__name__)
@pytest.mark.filterwarnings("ignore:Bins whose width")
@pytest.mark.filterwarnings("ignore:the best function is zero")  # nothing is missing: an indicator tells nothing
def test_pipelines_give_the_same_scores(again, transformer):
    model = make_pipeline(transformer, wo.RankSVM(max_iter=1000)).fit(X, Y)
    loaded = again(model)
    assert same(loaded.decision_function(X), model.decision_function(X))
    assert repr(loaded) == repr(model)


@pytest.mark.parametrize(
    "rare", [{}, {"min_frequency": 9}, {"max_categories": 3, "drop": "first"}, {"drop": "if_binary"}]
)
def test_a_frame_with_all_kinds_of_columns(again, rare):
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="infrequent_if_exist", **rare), ["town", "size"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include=np.floating)),
        (TfidfVectorizer(), "text"),
        remainder="drop",
    )
    model = make_pipeline(columns, wo.RankSVM(C=0.3)).fit(FRAME, Y)
    loaded = again(model)
    assert same(loaded.decision_function(FRAME), model.decision_function(FRAME))
    assert same(loaded.feature_names_in_, model.feature_names_in_)
    assert same(loaded[0].get_feature_names_out(), model[0].get_feature_names_out())
    assert loaded.get_params().keys() == model.get_params().keys()


def test_output_settings_passed_columns_and_slices_are_kept(again):
    columns = ColumnTransformer(
        [("keep", "passthrough", ["a"]), ("not", "drop", slice("b", "c"))], remainder=StandardScaler()
    )
    columns.set_output(transform="pandas")
    model = Pipeline([("columns", columns), ("rank", wo.RankSVM())]).fit(FRAME.drop(columns=["town", "text"]), Y)
    loaded = again(model)
    assert same(loaded.decision_function(FRAME), model.decision_function(FRAME))
    assert list(loaded[0].transform(FRAME).columns) == ["keep__a", "remainder__size"]


def test_text_levels_names_and_groups(again):
    levels = ["poor", "fair", "good"]
    rows, grades, groups = FRAME[["a", "b"]], np.array(levels)[Y], np.arange(40) % 4
    model = wo.RankSVM(levels=levels, order="chain").fit(rows, grades, groups=groups)
    loaded = again(model)
    assert loaded.levels == levels
    assert list(loaded.feature_names_in_) == ["a", "b"]
    assert same(dict(sorted(vars(loaded).items())), dict(sorted(vars(model).items())))
    assert loaded.score(rows, grades, groups) == model.score(rows, grades, groups)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(FRAME[["b", "a"]])


def test_float32_and_sparse_models(again):
    for rows in (X.astype(np.float32), sp.csr_array(X)):
        model = wo.RankSVM().fit(rows, Y)
        assert same(again(model).decision_function(rows), model.decision_function(rows))


@pytest.mark.parametrize("options", [{"kernel": "rbf"}, {"kernel": "poly", "n_components": 6, "random_state": 0}])
@pytest.mark.parametrize("rows", [X, np.asfortranarray(X), sp.csr_array(X)], ids=["rows", "columns", "sparse"])
def test_kernel_models(again, options, rows):
    model = wo.RankSVM(**options).fit(rows, Y)
    assert same(again(model).decision_function(rows), model.decision_function(rows))


def test_models_within_models(again):
    rankers = {(0, 2): wo.RankSVM(C=2.0).fit(X, Y), (1, 2): wo.RankSVM().fit(X, Y)}
    loaded = again(
        carrier(estimator=LogisticRegression(C=3), rankers_=rankers, estimators=[("a", Ridge()), ("b", "drop")])
    )
    assert loaded.estimator.get_params() == LogisticRegression(C=3).get_params()
    assert list(loaded.rankers_) == [(0, 2), (1, 2)]
    assert same(loaded.rankers_[0, 2].predict(X), rankers[0, 2].predict(X))
    assert isinstance(loaded.estimators[0][1], Ridge)


@pytest.mark.parametrize("learner", [LogisticRegression(), Ridge(), LinearRegression()])
def test_linear_learners(again, learner):
    assert same(again(learner.fit(X, Y)).predict(X), learner.predict(X))


def test_metadata_requests_are_kept(again):
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = wo.RankSVM().set_fit_request(groups="query", sample_weight=True).fit(X, Y)
    loaded = again(model)
    assert loaded.get_metadata_routing().fit.requests == {"groups": "query", "sample_weight": True}
    assert again(carrier()).get_metadata_routing().fit.requests == carrier().get_metadata_routing().fit.requests


def test_every_public_estimator_has_a_place():
    from wellorder import estimators
    from wellorder.persistence import registry

    models = [getattr(estimators, name) for name in estimators.__all__]
    for cls in models:
        if isinstance(cls, type) and issubclass(cls, BaseEstimator):
            assert registry.find_class(registry.public_name(cls)) is cls
    for home, names in registry._HOMES.items():
        for name in names:
            assert registry.public_name(registry.find_class(f"{home}.{name}")) == f"{home}.{name}"


class Foreign(BaseEstimator):
    def fit(self):
        return self


def holds_itself():
    circle = []
    circle.append(circle)
    return circle


def deep():
    nest = []
    for _ in range(70):
        nest = [nest]
    return nest


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (carrier(kernel=np.dot), r"^RankSVM\.kernel is a function \(dot\): a model file holds no code"),
        (carrier(kernel=lambda a, b: 0), r"^RankSVM\.kernel is a function"),
        (carrier(kernel=len), r"^RankSVM\.kernel is a function \(len\)"),
        (carrier(order=np.exp), r"^RankSVM\.order is a function \(exp\)"),
        (carrier(kernel=BaseEstimator), r"RankSVM\.kernel is <class .*: a model file holds values"),
        (carrier(estimator=Foreign()), r"^RankSVM\.estimator is a .*Foreign, which is not among the learners"),
        (carrier(deep_=[{"a": (0, RandomForestClassifier())}]), r"^RankSVM\.deep_\[0\]\['a'\]\[1\] is a sklearn"),
        (carrier(random_state=np.random.default_rng(0)), r"RankSVM\.random_state is a numpy Generator.*whole number"),
        (carrier(random_state=np.random.RandomState(np.random.PCG64())), r"random_state is a RandomState over PCG64"),
        (carrier(levels=pd.Index([1, 2])), r"RankSVM\.levels is a pandas\..*make it a list"),
        (carrier(value_=np.ma.array([1])), r"value_ is a numpy.*MaskedArray; make it a plain array"),
        (carrier(value_=sp.coo_array(X)), r"value_ is a scipy.*coo_array; make it a plain array, or a CSR"),
        (carrier(value_=np.array(["a"], np.dtypes.StringDType())), "value_ is an array of type StringDType"),
        (carrier(value_=np.array([Foreign()], object)), r"value_\[0\] is a .*Foreign"),
        (carrier(value_=np.zeros(2, {"names": ["a"], "formats": ["i4"], "itemsize": 9})), "is an array of records"),
        (carrier(value_=1j), "value_ is a builtins.complex"),
        (carrier(value_=holds_itself()), r"value_\[0\] holds itself"),
        (carrier(value_=deep()), "is nested more than 64 deep"),
        (carrier(predict=1), "RankSVM carries 'predict', which hides a part"),
        (Pipeline([("rank", wo.RankSVM())]).fit(X, Y).set_params(memory="cache"), "Pipeline has memory= set"),
        (make_pipeline(SelectKBest(k=1), wo.RankSVM()).fit(X, Y), r"^Pipeline\.steps\[0\]\[1\] is a .*SelectKBest"),
        (make_pipeline(FunctionTransformer(np.abs), wo.RankSVM()).fit(X, Y), r"\[1\]\.func is a function \(absolute\)"),
        (GridSearchCV(wo.RankSVM(), {"C": [1.0]}, cv=2).fit(X, Y), "save its best_estimator_"),
        (Foreign(), "^the model is a .*Foreign"),
        ([1, 2], "save takes a fitted model, got \\[1, 2\\]"),
        (wo.RankSVM, "save takes a fitted model, got <class"),
    ],
)  # fmt: skip
def test_what_cannot_be_saved_is_named_and_leaves_no_file(tmp_path, model, reason):
    with pytest.raises(TypeError, match=reason):
        wo.save(model, tmp_path / "m.wo")
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_model_is_refused(tmp_path):
    for model in (wo.RankSVM(), make_pipeline(StandardScaler(), wo.RankSVM())):
        with pytest.raises(NotFittedError, match="is not fitted: there is nothing to save"):
            wo.save(model, tmp_path / "m.wo")


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    wo.save(carrier(), tmp_path / "m.wo")
    before = (tmp_path / "m.wo").read_bytes()

    def interrupted(stream, manifest, members):
        stream.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "write_archive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        wo.save(carrier(C=2.0), tmp_path / "m.wo")
    assert (tmp_path / "m.wo").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["m.wo"]


@pytest.mark.skipif(os.name != "posix", reason="links and permissions as POSIX has them")
def test_where_files_go(tmp_path):
    (tmp_path / "real.wo").write_text("old")
    (tmp_path / "link.wo").symlink_to("real.wo")
    wo.save(carrier(), tmp_path / "link.wo")
    assert (tmp_path / "link.wo").is_symlink()
    assert wo.load(tmp_path / "real.wo").C == 1.0
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "real.wo").stat().st_mode) == 0o666 & ~mask
    with pytest.raises(IsADirectoryError):
        wo.save(carrier(), tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        wo.save(carrier(), tmp_path / "nowhere" / "m.wo")


def test_another_scikit_learn_warns_only_if_its_estimators_are_inside(tmp_path, monkeypatch):
    alone, within = tmp_path / "alone.wo", tmp_path / "within.wo"
    with monkeypatch.context() as patch:
        patch.setattr("sklearn.__version__", "1.6.1")
        wo.save(carrier(), alone)
        wo.save(make_pipeline(StandardScaler(), wo.RankSVM()).fit(X, Y), within)
    wo.load(alone)
    with pytest.warns(
        ModelFileWarning, match=r"within\.wo holds scikit-learn estimators written with scikit-learn 1\.6\.1"
    ):
        wo.load(within)


def _with_a_gap():
    return pd.DataFrame({"c": ["x", "y", "x", "z", None, "x"] * 4, "a": np.arange(24.0), "b": np.arange(24.0) % 5})


WRITTEN_AND_READ = {
    "text of NumPy": lambda: wo.RankSVM(kernel=np.str_("rbf")),
    "columns as a tuple": lambda: make_pipeline(make_column_transformer((StandardScaler(), ("a", "b"))), wo.RankSVM()),
    "rare categories beside a missing one": lambda: make_pipeline(
        make_column_transformer(
            (OrdinalEncoder(max_categories=2, encoded_missing_value=-1), ["c"]), (StandardScaler(), ["a"])
        ),
        wo.RankSVM(),
    ),
}


@pytest.mark.parametrize("case", WRITTEN_AND_READ)
def test_what_is_written_is_read(tmp_path, case):
    frame = _with_a_gap()
    model = WRITTEN_AND_READ[case]()
    rows = frame if hasattr(model, "steps") else frame[["a", "b"]].to_numpy()
    model.fit(rows, frame["b"].to_numpy())
    wo.save(model, tmp_path / "m.wo")
    assert np.array_equal(wo.load(tmp_path / "m.wo").predict(rows), model.predict(rows))


def test_grades_beyond_every_number(tmp_path):
    levels = [-np.inf, 0.0, np.inf]
    X, y = np.arange(12.0)[:, None], np.array(levels)[np.arange(12) // 4].astype(object)
    model = wo.ProportionalOdds(levels=levels).fit(X, y)
    wo.save(model, tmp_path / "m.wo")
    assert np.array_equal(wo.load(tmp_path / "m.wo").predict(X), model.predict(X))


def test_truth_of_numpy(tmp_path):
    X = np.arange(8.0)[:, None]
    games = wo.Comparisons([0, 1, 2, 3, 4], [4, 5, 6, 7, 4], [1, 1, 1, 1, 0])
    model = wo.CompareSVM(scale=np.True_, probability=np.False_).fit(X, games)
    wo.save(model, tmp_path / "m.wo")
    assert np.array_equal(wo.load(tmp_path / "m.wo").decision_function(X), model.decision_function(X))


def test_a_file_that_is_unpacked_may_be_read_by_everybody_and_has_no_date(tmp_path):
    wo.save(wo.RankSVM().fit(X, Y), tmp_path / "model.wo")
    with zipfile.ZipFile(tmp_path / "model.wo") as archive:
        for entry in archive.infolist():
            assert entry.external_attr >> 16 == 0o644
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
