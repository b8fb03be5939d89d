"""Fitted state that code further on would trust blindly, checked before anybody uses it.

An encoder builds a CSR matrix from the numbers it has stored; one number too large, and the product of that
matrix with the weights reads beyond the end of an array. One function a class, found by its public name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..sweeps import Array
from .errors import ModelFileError


def check_state(public: str, model: Any) -> None:
    """Check a rebuilt object: by the rule for its class, and by its own ``_check_loaded`` where it has one."""
    if public in _CHECKS:
        _CHECKS[public](model)
    own = getattr(type(model), "_check_loaded", None)
    if own is not None and public.startswith("wellorder."):
        try:
            own(model)
        except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
            raise ModelFileError(f"the stored {type(model).__name__} is not sound: {error}") from None


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
    """Every number that the encoder can give to a category must be a column of its output."""
    state = vars(encoder)
    if "categories_" not in state:
        return
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
        raise ModelFileError("a OneHotEncoder's categories and columns do not match")
    for names, width, mapping, grouped, skipped in zip(*parts, strict=True):
        if (mapping is None) != (grouped is None) or not _fits(_codes(names, mapping, skipped), width):
            raise ModelFileError("a OneHotEncoder has a category outside its columns")


def _listed(dropped: Any, n: int) -> list[Any] | None:
    if dropped is None:
        return [None] * n
    return list(dropped) if isinstance(dropped, np.ndarray) and dropped.ndim == 1 else None


def _codes(names: Any, mapping: Any, skipped: Any) -> Array:
    """Return all numbers that the categories of one column turn into, as scikit-learn computes them."""
    if not isinstance(names, np.ndarray) or names.ndim != 1 or not _searchable(names):
        raise ModelFileError("a OneHotEncoder's categories are not a sorted list")
    codes = np.arange(len(names))
    if mapping is not None:
        if not isinstance(mapping, np.ndarray) or mapping.dtype.kind not in "iu" or mapping.shape != codes.shape:
            raise ModelFileError("a OneHotEncoder's rare categories do not match its categories")
        codes = mapping.astype(np.int64)
    if skipped is None:
        return codes
    if not isinstance(skipped, int | np.integer):
        raise ModelFileError("a OneHotEncoder drops something that is not a category")
    kept = codes[codes != skipped]
    return np.asarray(kept - (kept > skipped))


def _searchable(names: Array) -> bool:
    """Numbers are found by bisection, which needs them sorted (a NaN comes last); the rest by look-up."""
    if names.dtype.kind in "OUS":
        return True
    given = names[:-1] if names.dtype.kind == "f" and len(names) and np.isnan(names[-1]) else names
    return bool((given[1:] > given[:-1]).all()) and not (given != given).any()


def _fits(codes: Array, width: Any) -> bool:
    whole = isinstance(width, int | np.integer) and not isinstance(width, bool)
    return whole and (not len(codes) or bool(codes.min() >= 0 and codes.max() < width))


def _check_vocabulary(vectorizer: Any) -> None:
    words = vars(vectorizer).get("vocabulary_")
    if words is None:
        return
    if not isinstance(words, dict) or not all(isinstance(place, int | np.integer) for place in words.values()):
        raise ModelFileError("a vectorizer's vocabulary is not a table of words and columns")
    if set(words.values()) != set(range(len(words))):
        raise ModelFileError("a vectorizer's vocabulary has a word outside its columns")


def _check_pipeline(pipeline: Any) -> None:
    if vars(pipeline).get("memory") is not None:
        raise ModelFileError("a Pipeline names a cache folder, whose files would be unpickled")


def _check_function(transformer: Any) -> None:
    if vars(transformer).get("func") is not None or vars(transformer).get("inverse_func") is not None:
        raise ModelFileError("a FunctionTransformer has a function")


def _check_players(system: Any) -> None:
    """Every player's number must be a place in the arrays: compiled sweeps write there."""
    players = vars(system).get("players_")
    if players is None:
        return  # not fitted
    if not isinstance(players, dict) or not all(type(place) is int for place in players.values()):
        raise ModelFileError("a rating system's players have no numbers")
    if set(players.values()) != set(range(len(players))):
        raise ModelFileError("a rating system has a player outside its arrays")
    now = vars(system).get("_now")
    if now is not None and not isinstance(now, float):
        raise ModelFileError("a rating system's last time is not a number")


def _check_streamed(system: Any) -> None:
    _check_players(system)
    if "players_" not in vars(system):
        return
    state, names = vars(system).get("_state"), list(system._new())
    if not isinstance(state, dict) or list(state) != names:
        raise ModelFileError(f"a rating system keeps something other than {', '.join(names)}")
    for name, values in state.items():
        if not _is_column(values, "f8", len(system.players_)) or np.isinf(values).any():
            raise ModelFileError(f"a rating system's {name} is not a finite number a player")
        if name != "last" and np.isnan(values).any():  # who has not played has no last time
            raise ModelFileError(f"a rating system's {name} is missing for a player")


def _check_davidson(system: Any) -> None:
    _check_players(system)
    if "players_" not in vars(system):
        return
    n = len(system.players_)
    players, parameters = vars(system).get("_players"), vars(system).get("_parameters")
    if not isinstance(players, np.ndarray) or players.dtype != np.dtype("i4") or players.shape[1:] != (2,):
        raise ModelFileError("the games of a Davidson model are not pairs of players")
    if players.size and not (players.min() >= 0 and players.max() < n):
        raise ModelFileError("a Davidson model has a game of a player it does not know")
    outcome, weight = vars(system).get("_outcome"), vars(system).get("_weight")
    if not _is_column(outcome, "i1", len(players)) or not np.isin(outcome, (-1, 0, 1)).all():
        raise ModelFileError("a Davidson model has an outcome that is none")
    if not _is_column(weight, "f8", len(players)) or not ((weight >= 0) & (weight < np.inf)).all():
        raise ModelFileError("a Davidson model has a weight that is none")
    if not _is_column(parameters, "f8", n + 2) or not np.isfinite(parameters[:-1]).all() or not parameters[-1] < np.inf:
        raise ModelFileError("the ratings of a Davidson model are not one number a player")


def _is_column(values: Any, kind: str, n: int) -> bool:
    return isinstance(values, np.ndarray) and values.dtype == np.dtype(kind) and values.shape == (n,)


_CHECKS: dict[str, Callable[[Any], None]] = {
    "sklearn.pipeline.Pipeline": _check_pipeline,
    "sklearn.preprocessing.FunctionTransformer": _check_function,
    "sklearn.preprocessing.OneHotEncoder": _check_one_hot,
    "sklearn.feature_extraction.text.CountVectorizer": _check_vocabulary,
    "sklearn.feature_extraction.text.TfidfVectorizer": _check_vocabulary,
    "wellorder.ratings.Davidson": _check_davidson,
    **dict.fromkeys(
        ("wellorder.ratings.Elo", "wellorder.ratings.Glicko", "wellorder.ratings.Glicko2"), _check_streamed
    ),
}

SPARSE: dict[str, Any] = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "csc_matrix": sp.csc_matrix,
}
"""The sparse matrices that a file may hold."""
