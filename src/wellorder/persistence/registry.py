"""The closed list of classes that a model file may hold, each under its public name.

All estimators of :mod:`wellorder.estimators` are on it by themselves; those of :mod:`wellorder.data`, which loads
polars, and of :mod:`wellorder.ratings` are named here, so that these rooms are entered only for them. The estimators of
methods that installed packages offer are on it too: whoever has installed such a package has trusted it. A class is
found by comparing names with this list; nothing that a file says is imported, looked up or called.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from ..methods import offered_methods
from .rules import ModelFileError

_HOMES: dict[str, tuple[str, ...]] = {
    "sklearn.pipeline": ("FeatureUnion", "Pipeline"),
    "sklearn.compose": ("ColumnTransformer", "make_column_selector"),
    "sklearn.preprocessing": (
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "StandardScaler",
    ),
    "sklearn.impute": ("KNNImputer", "MissingIndicator", "SimpleImputer"),
    "sklearn.kernel_approximation": ("Nystroem", "RBFSampler"),
    "sklearn.decomposition": ("PCA", "TruncatedSVD"),
    "sklearn.feature_selection": ("VarianceThreshold",),
    "sklearn.feature_extraction.text": ("CountVectorizer", "TfidfTransformer", "TfidfVectorizer"),
    "sklearn.linear_model": ("LinearRegression", "LogisticRegression", "Ridge"),
    "wellorder.data": ("TableEncoder", "TableRanker"),
    "wellorder.ratings": ("Davidson", "Elo", "Glicko", "Glicko2", "RatingRanker"),
    "wellorder.standings": ("Standings",),
}
"""Further classes that may stand in a model: a line here is a promise that no state of theirs can crash.

What fitted them is arrays and plain values, and what they compute is NumPy's, which checks its bounds; where a
class does not check, :mod:`.checks` does. So no trees, neighbours or libsvm models, whose C code trusts them.
"""

NOT_KEPT = ("n_jobs",)
"""Parameters that say how much of a machine to use, which is up to whoever loads the model."""

LONGEST_NAME = 100
"""The longest name of an attribute, in letters: it is quoted in the error about a file that is refused."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_OURS = "wellorder"


def own_estimator(name: str) -> type | None:
    """Return wellorder's public estimator of this name, if there is one; the others are not loaded for it."""
    room = import_module("wellorder.estimators")
    found = getattr(room, name) if name in room.__all__ else None
    return found if isinstance(found, type) and issubclass(found, BaseEstimator) else None


@cache
def offered_estimators() -> dict[str, type]:
    """Return the estimators of methods that installed packages offer, by module and name."""
    made = []
    for method in offered_methods().values():
        with suppress(Exception):  # whatever is wrong with one, it is not wrong with the others' files
            made.append(type(method.make()))
    return {f"{cls.__module__}.{cls.__qualname__}": cls for cls in made if not cls.__module__.startswith(f"{_OURS}.")}


def all_classes() -> list[type]:
    """Return every class on the list."""
    named = [find_class(f"{home}.{name}") for home, names in _HOMES.items() for name in names]
    own = map(own_estimator, import_module("wellorder.estimators").__all__)
    return [*(cls for cls in own if cls is not None), *named]


def public_name(cls: type) -> str | None:
    """Return the name under which a file may hold objects of this class, or None."""
    name = cls.__name__
    if own_estimator(name) is cls:
        return f"{_OURS}.{name}"
    home = _HOME_OF.get(name)
    if home is not None and getattr(import_module(home), name, None) is cls:
        return f"{home}.{name}"
    own = f"{cls.__module__}.{cls.__qualname__}"
    return own if offered_estimators().get(own) is cls else None


def find_class(public: Any) -> type:
    """Return the class of this public name, if it is on the list."""
    home, _, name = public.rpartition(".") if isinstance(public, str) else ("", "", "")
    cls: Any = None
    if home == _OURS:
        cls = own_estimator(name)
    elif _HOME_OF.get(name) == home:
        cls = getattr(import_module(_HOME_OF[name]), name, None)
    elif isinstance(public, str):
        cls = offered_estimators().get(public)
    if not isinstance(cls, type):
        raise ModelFileError(f"it asks for {str(public)[:80]!r}, which is not among the classes a model file may hold")
    return cls


@cache
def parameters(cls: Any) -> Mapping[str, inspect.Parameter]:
    """Return the constructor's parameters by name."""
    found = inspect.signature(cls.__init__).parameters
    return {name: value for name, value in found.items() if name != "self"}


def may_be_set(cls: type, name: str) -> bool:
    """Say whether an object of this class may carry this attribute: it must not hide a part of the class."""
    if not name.isidentifier() or name.startswith("__") or len(name) > LONGEST_NAME:
        return False
    return name in parameters(cls) or _hides_nothing(cls, name)


@lru_cache(4096)  # bounded: the names come from files
def _hides_nothing(cls: type, name: str) -> bool:
    hidden = inspect.getattr_static(cls, name, None)
    return hidden is None or isinstance(hidden, bool | int | float | str)
