"""A rebuilt object is held to what its class says of its fitted state, before anybody uses it.

wellorder's own classes say it themselves (:mod:`wellorder.state`); what scikit-learn's are made of is stated here. An
encoder builds a CSR matrix from the numbers it has stored; one number too large, and the product of that matrix with
the weights reads beyond the end of an array. And the columns that a transformer makes must have something in the file
to stand for them: else a file of two kilobytes could ask for a matrix of thirty gigabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from ..state import (
    ANY,
    Part,
    Sizes,
    Stored,
    absent_or,
    both,
    check_fitted,
    checked,
    count,
    dict_of,
    figures,
    fitted,
    flags,
    floats,
    labels,
    list_of,
    names,
    none_or,
    number,
    numbering,
    of,
    one_of,
    places,
    refuse_alike,
    rows,
    size,
    truth,
    tuple_of,
    whole,
)
from ..sweeps import Array
from .rules import ModelFileError

_MADE_OF_NOTHING = 100_000
"""The most columns that a PolynomialFeatures in a small file may make: no stored number stands for them."""


def check_state(public: str, model: Any, parameters: Collection[str], file_size: int) -> None:
    """Check a rebuilt object: its parameters and its fitted state, by what its class says of them."""
    try:
        if isinstance(model, Stored):
            model._check_parameters()
            _check_output(vars(model).get("_sklearn_output_config", {}))
            check_fitted(model._fitted_state(), model, parameters, Sizes())
            return
        if public in _PARAMETERS:
            _PARAMETERS[public](model)
        _check_output(vars(model).get("_sklearn_output_config", {}))
        state = _STATEMENTS[public](model) if public in _STATEMENTS else {}
        check_fitted(_COLUMNS | state, model, parameters, Sizes(file=file_size))
    except ModelFileError:
        raise
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ModelFileError(f"the stored {type(model).__name__} is not sound: {error}") from None


def check_keys(keys: Collection[Any]) -> None:
    """Refuse keys that cannot be hashed, or that a look-up table would take too long to tell apart."""
    try:
        refuse_alike(keys)
    except TypeError as error:
        raise ModelFileError(f"a key cannot be one: {error}") from None
    except ValueError as error:
        raise ModelFileError(str(error)) from None


def check_compressed(data: Array, indices: Array, indptr: Array, n_major: int, n_minor: int) -> None:
    """Check the three arrays of a CSR or CSC matrix: SciPy's products trust them."""
    kinds = {indices.dtype, indptr.dtype}
    if data.ndim != 1 or data.dtype.kind not in "biufc" or kinds not in ({np.dtype("i4")}, {np.dtype("i8")}):
        raise ModelFileError("a sparse matrix has entries or indices of the wrong type")
    if indices.shape != data.shape or indptr.shape != (n_major + 1,):
        raise ModelFileError("a sparse matrix has the wrong number of indices for its shape")
    if indptr[0] != 0 or indptr[-1] != len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ModelFileError("the lines of a sparse matrix do not follow each other")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_minor):
        raise ModelFileError("a sparse matrix has an index outside its shape")


def _check_one_hot(encoder: Any) -> None:
    """Every number that the encoder can give to a category must be a column of its output, and every column one."""
    state = vars(encoder)
    n = len(state["categories_"]) if isinstance(state["categories_"], list) else -1
    rare = state.get("_infrequent_enabled") is not False
    parts = [
        state["categories_"],
        state.get("_n_features_outs"),
        state.get("_default_to_infrequent_mappings") if rare else [None] * n,
        state.get("_infrequent_indices") if rare else [None] * n,
        _listed(state.get("_drop_idx_after_grouping"), n),
    ]
    if any(not isinstance(part, list) or len(part) != n for part in parts) or state.get("n_features_in_") != n:
        raise ValueError("its categories and columns do not match")
    for categories, width, mapping, grouped, skipped in zip(*parts, strict=True):
        if grouped is not None:
            whole(ANY, high=len(categories) - 1).check(grouped, Sizes())
        codes = np.unique(_codes(categories, mapping, skipped))
        whole_number = isinstance(width, int | np.integer) and not isinstance(width, bool)
        if (
            (mapping is None) != (grouped is None or not len(grouped))
            or not whole_number
            or not np.array_equal(codes, range(len(codes)))
        ):
            raise ValueError("it has a category outside its columns")
        if width != len(codes):
            raise ValueError(f"it has {len(codes)} categories for {width!r:.40} columns")


def _listed(dropped: Any, n: int) -> list[Any] | None:
    if dropped is None:
        return [None] * n
    return list(dropped) if isinstance(dropped, np.ndarray) and dropped.ndim == 1 else None


def _codes(names: Any, mapping: Any, skipped: Any) -> Array:
    """Return all numbers that the categories of one column turn into, as scikit-learn computes them."""
    if not isinstance(names, np.ndarray) or names.ndim != 1 or not len(names) or not _searchable(names):
        raise ValueError("its categories are not a sorted list")
    codes = np.arange(len(names))
    if mapping is not None:
        if not isinstance(mapping, np.ndarray) or mapping.dtype.kind not in "iu" or mapping.shape != codes.shape:
            raise ValueError("its rare categories do not match its categories")
        codes = mapping.astype(np.int64)
    if skipped is None:
        return codes
    if not isinstance(skipped, int | np.integer):
        raise ValueError("it drops something that is not a category")
    kept = codes[codes != skipped]
    return np.asarray(kept - (kept > skipped))


def _searchable(names: Array) -> bool:
    """Numbers are found by bisection, which needs them sorted (a NaN comes last); the rest by look-up."""
    if names.dtype.kind in "OUS":
        return True
    given = names[:-1] if names.dtype.kind == "f" and len(names) and np.isnan(names[-1]) else names
    return bool((given[1:] > given[:-1]).all()) and not (given != given).any()


def _check_ordinal(encoder: Any) -> None:
    """Check the categories, and where rare ones are put together, their numbers."""
    for categories in encoder.categories_:
        _codes(categories, None, None)
    if encoder._infrequent_enabled:
        mappings = encoder._default_to_infrequent_mappings
        for column, (categories, mapping) in enumerate(zip(encoder.categories_, mappings, strict=True)):
            given = categories[:-1] if column in encoder._missing_indices else categories  # a missing one comes last
            if mapping is not None:
                _codes(given, mapping, None)


def _check_bins(discretizer: Any) -> None:
    """Every bin has its edges, and a column of its own where bins become columns."""
    for edges, bins in zip(discretizer.bin_edges_, discretizer.n_bins_, strict=True):
        if not isinstance(edges, np.ndarray) or edges.shape != (bins + 1,) or edges.dtype.kind != "f":
            raise ValueError("there are not as many edges as bins")
        if np.isnan(edges).any() or (np.diff(edges) < 0).any():
            raise ValueError("the edges of bins are not in order")
    if discretizer.encode != "ordinal":
        from sklearn.preprocessing import OneHotEncoder

        inner = discretizer._encoder
        numbered = isinstance(inner, OneHotEncoder) and len(inner.categories_) == len(discretizer.n_bins_)
        if not numbered or not all(map(_is_range, inner.categories_, discretizer.n_bins_)):
            raise ValueError("its bins are not those that become columns")


def _is_range(categories: Array, n: int) -> bool:
    return np.array_equal(categories, np.arange(n))


def _polynomial(model: Any) -> dict[str, Part]:
    """Columns are counted anew: nothing stored has an entry for each of them, but what comes after has."""

    def count_columns(lowest: int, most: int) -> int:
        made = int(bool(model.include_bias))
        d, powers = model.n_features_in_, not model.interaction_only
        for degree in range(max(1, lowest), min(model._max_degree, most if powers else d) + 1):
            made += comb(d + degree - 1 if powers else d, degree)
            if made > most:
                raise ValueError(f"it makes more than {most:,} columns, and nothing in the file is as large")
        return made

    def check(given: Any, sizes: Sizes) -> None:
        most = max(_MADE_OF_NOTHING, sizes["file"] // 4)  # a coefficient takes four bytes or more
        made = [count_columns(lowest, most) for lowest in (0, model._min_degree)]
        if made != [given, model.n_output_features_] or not model._min_degree <= model._max_degree <= most:
            raise ValueError(f"it makes {made[0]} columns and keeps {made[1]}, which is not what it says")

    counts = dict.fromkeys(("_min_degree", "_max_degree", "n_output_features_"), count())
    return counts | {"_n_out_full": both(count(), Part(check))}


def _scaler(model: Any) -> dict[str, Part]:
    mean = floats("d", missing=True)  # of a column without a single value
    return {
        "mean_": mean if model.with_mean else none_or(mean),
        "var_": none_or(floats("d", low=0.0, missing=True)),
        "scale_": floats("d", above=0.0, missing=True) if model.with_std else none_or(floats("d", missing=True)),
    }


def _robust(model: Any) -> dict[str, Part]:
    part = floats("d", missing=True)
    return {
        "center_": part if model.with_centering else none_or(part),
        "scale_": part if model.with_scaling else none_or(part),
    }


def _one_hot(model: Any) -> dict[str, Part]:
    # what each column becomes is counted from the categories, and so are the parts that say it in other words
    there = dict.fromkeys(("_n_features_outs", "_drop_idx_after_grouping"), of(object, "anything"))
    return there | {"_infrequent_enabled": truth(), "categories_": checked(lambda value: _check_one_hot(model))}


def _bins(model: Any) -> dict[str, Part]:
    return {"n_bins_": whole("d", low=1), "bin_edges_": checked(lambda value: _check_bins(model))}


def _imputed(model: Any) -> dict[str, Part]:
    def check_statistics(value: Any) -> None:
        if type(value) is not np.ndarray or value.shape != (model.n_features_in_,) or value.dtype.kind not in "biufOUS":
            raise ValueError("there is not one for each column")
        if value.dtype.kind == "f" and np.isinf(value).any():
            raise ValueError("it is infinite for a column")

    dtypes = {"_fit_dtype": of(np.dtype, "a dtype"), "_fill_dtype": absent_or(of(np.dtype, "a dtype"))}
    return {"statistics_": checked(check_statistics)} | dtypes | _indicated(model)


def _indicated(model: Any) -> dict[str, Part]:
    return {"indicator_": fitted("transform") if model.add_indicator else one_of(None)}


def _linear(model: Any) -> dict[str, Part]:
    one = np.ndim(vars(model).get("coef_", 0.0)) == 1
    shape: tuple[str, ...] = ("d",) if one else ("t", "d")

    def check_intercept(value: Any, sizes: Sizes) -> None:
        (number() if np.ndim(value) == 0 else floats(1 if one else "t")).check(value, sizes)

    return {"coef_": floats(*shape), "intercept_": Part(check_intercept)}


def _logistic(model: Any) -> dict[str, Part]:
    two = len(np.atleast_1d(getattr(model, "classes_", ()))) == 2
    return {
        "classes_": labels("k"),
        "coef_": floats(1 if two else "k", "d"),
        "intercept_": floats(1 if two else "k"),
        "n_iter_": figures(ANY),
    }


def _text_columns(model: Any) -> dict[str, Part]:
    if "vocabulary_" not in vars(model):
        return {}  # the vocabulary may be a parameter, which scikit-learn checks whenever it is used
    return {"vocabulary_": numbering("v", str), "fixed_vocabulary_": truth()}


def _weighted_text(model: Any) -> dict[str, Part]:
    return _text_columns(model) | {"_tfidf": both(fitted("transform", columns="v"), checked(_check_idf(model)))}


def _check_idf(model: Any) -> Callable[[Any], None]:
    def check(inner: Any) -> None:
        if model.use_idf and len(inner.idf_) != len(model.vocabulary_):
            raise ValueError(f"there are {len(inner.idf_)} weights for {len(model.vocabulary_)} words")

    return check


def _check_output(config: Any) -> None:
    """Check what ``set_output`` has left."""
    dict_of(one_of("transform"), one_of(None, "default", "pandas", "polars"), ANY).check(config, Sizes())


def _check_transformers(model: Any) -> None:
    """Check the parts of a ColumnTransformer, and that its columns, where they are numbered, are there."""
    _check_named(model.transformers_, "drop", "passthrough")
    known = {name for name, *_ in model.transformers} | {"remainder"}
    from sklearn.compose import make_column_selector

    if len(model._columns) != len(model.transformers) or not {name for name, *_ in model.transformers_} <= known:
        raise ValueError("its parts are not those that it was asked for")
    for asked, (_, _, columns) in zip(model._columns, model.transformers_, strict=False):  # the rest comes last
        if type(asked) is not type(columns) or (isinstance(asked, list | tuple) and len(asked) != len(columns)):
            raise ValueError("its columns are not those that it was asked for")
    for _, _, columns in model.transformers_:
        if isinstance(columns, str | slice | np.ndarray | make_column_selector):
            continue
        named = columns if isinstance(columns, list | tuple) else [columns]
        kinds = {type(each) for each in named}
        in_range = all(-model.n_features_in_ <= each < model.n_features_in_ for each in named if type(each) is int)
        if not (
            kinds <= {str} or (kinds == {int} and in_range) or (kinds == {bool} and len(named) == model.n_features_in_)
        ):
            raise ValueError("it names columns that are not there")


def _check_named(steps: Any, *spare: Any) -> None:
    """Refuse what are not named models, one after another or side by side; some places may be left open."""
    if not isinstance(steps, list | tuple) or not steps:
        raise ValueError("there are no steps")
    for step in steps:
        if not isinstance(step, list | tuple) or len(step) not in (2, 3) or not isinstance(step[0], str):
            raise ValueError("a step has no name")
        if not isinstance(step[1], BaseEstimator) and not any(type(step[1]) is type(s) and step[1] == s for s in spare):
            raise ValueError(f"{step[0]!r:.40} is a {type(step[1]).__name__}, and no step")


def _check_pipeline(pipeline: Any) -> None:
    if pipeline.memory is not None:
        raise ValueError("it names a cache folder, whose files would be unpickled")
    _check_named(pipeline.steps, "passthrough", None)


def _check_function(transformer: Any) -> None:
    if transformer.func is not None or transformer.inverse_func is not None:
        raise ValueError("it has a function")


_COLUMNS: dict[str, Part] = {
    "n_features_in_": absent_or(size("d")),  # of text there is none
    "feature_names_in_": absent_or(names("d")),
}
_PER_COLUMN = floats("d", missing=True)
"""One number per column; NaN for a column that had no value at all."""


def _always(**parts: Part) -> Callable[[Any], dict[str, Part]]:
    return lambda model: parts


_STATEMENTS: dict[str, Callable[[Any], dict[str, Part]]] = {
    "sklearn.compose.ColumnTransformer": lambda model: {
        "n_features_in_": size("d"),
        "sparse_output_": truth(),
        "_columns": of(list, "a list"),
        "_remainder": tuple_of(*[of(object, "anything")] * 3),
        "_transformer_to_input_indices": of(dict, "a table"),
        "transformers_": checked(lambda value: _check_transformers(model)),
    },
    "sklearn.preprocessing.KBinsDiscretizer": _bins,
    "sklearn.preprocessing.MaxAbsScaler": _always(max_abs_=_PER_COLUMN, scale_=_PER_COLUMN),
    "sklearn.preprocessing.MinMaxScaler": _always(
        **dict.fromkeys(("min_", "scale_", "data_min_", "data_max_", "data_range_"), _PER_COLUMN)
    ),
    "sklearn.preprocessing.OneHotEncoder": _one_hot,
    "sklearn.preprocessing.OrdinalEncoder": lambda model: {
        "_infrequent_enabled": truth(),
        "_missing_indices": dict_of(count(), count(), ANY),
        "categories_": both(list_of(of(np.ndarray, "an array"), "d"), checked(lambda value: _check_ordinal(model))),
    },
    "sklearn.preprocessing.PolynomialFeatures": _polynomial,
    "sklearn.preprocessing.PowerTransformer": lambda model: {
        "lambdas_": _PER_COLUMN,
        **({"_scaler": fitted("transform")} if model.standardize else {}),
    },
    "sklearn.preprocessing.QuantileTransformer": _always(
        n_quantiles_=size("q", least=1),
        references_=floats("q", low=0.0, high=1.0),
        quantiles_=floats("q", "d", missing=True),
    ),
    "sklearn.preprocessing.RobustScaler": _robust,
    "sklearn.preprocessing.StandardScaler": _scaler,
    "sklearn.impute.KNNImputer": lambda model: {
        "_fit_X": floats("n", "d", missing=True),
        "_mask_fit_X": flags("n", "d"),
        "_valid_mask": flags("d"),
        **_indicated(model),
    },
    "sklearn.impute.MissingIndicator": _always(
        n_features_in_=size("d"), features_=places(ANY, below="d"), _n_features=size("d"), _precomputed=truth()
    ),
    "sklearn.impute.SimpleImputer": _imputed,
    "sklearn.kernel_approximation.Nystroem": _always(
        components_=rows("c", "d"),
        normalization_=floats("c", "c"),
        _n_features_out=size("c"),
        component_indices_=whole("c"),
    ),
    "sklearn.kernel_approximation.RBFSampler": _always(
        random_weights_=floats("d", "c"),
        random_offset_=floats("c"),
        n_components=size("c", least=1),
        _n_features_out=size("c"),
    ),
    "sklearn.decomposition.PCA": _always(
        mean_=floats("d"),
        components_=floats("c", "d"),
        n_components_=size("c"),
        explained_variance_=floats("c", low=0.0),
    ),
    "sklearn.decomposition.TruncatedSVD": _always(components_=floats("c", "d")),
    "sklearn.feature_selection.VarianceThreshold": _always(variances_=floats("d", low=0.0, missing=True)),
    "sklearn.feature_extraction.text.CountVectorizer": _text_columns,
    "sklearn.feature_extraction.text.TfidfTransformer": lambda model: {"idf_": floats("d")} if model.use_idf else {},
    "sklearn.feature_extraction.text.TfidfVectorizer": _weighted_text,
    "sklearn.linear_model.LinearRegression": _linear,
    "sklearn.linear_model.LogisticRegression": _logistic,
    "sklearn.linear_model.Ridge": _linear,
}
"""The attributes that fitting leaves in scikit-learn's classes and that their answers depend on, given their
parameters."""

_PARAMETERS: dict[str, Callable[[Any], None]] = {
    "sklearn.pipeline.Pipeline": _check_pipeline,
    "sklearn.pipeline.FeatureUnion": lambda model: _check_named(model.transformer_list, "drop", "passthrough"),
    "sklearn.compose.ColumnTransformer": lambda model: _check_named(model.transformers, "drop", "passthrough"),
    "sklearn.preprocessing.FunctionTransformer": _check_function,
}
"""Parameters of scikit-learn's classes that no file may set."""

SPARSE: dict[str, Any] = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
}
"""The sparse matrices that a file may hold."""
