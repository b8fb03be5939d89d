"""What a fitted model is made of: each class says it once, in a table, and what a model file brings is held to it.

A *statement* maps the names of attributes to *parts*: ``{"coef_": floats("d"), "thresholds_": floats("r-1")}``. Sizes
are letters. The first part that has a letter sets it, and the others must agree; ``n_features_in_`` sets d. So what
scoring takes memory for is there, in the file, and not just promised by it. Parts that scores are made of must be
finite and within their range; what is only told to people (an objective, a risk after each round) must be numbers.

Parameters that scores depend on, such as a kernel's degree, may stand in the statement beside the attributes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .frames import warn_of_other_rows

_MOST_ALIKE = 100
"""Keys of a look-up table that may share one hash: so many are looked through, one by one, to find any of them."""

ANY = "?"
"""A size that nothing else depends on."""


class _Pieces(Protocol):
    """A sum of small functions that is made of arrays."""

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> Any:
        """Build it of its arrays, by name."""


P = TypeVar("P", bound=_Pieces)

_STEPS = {"-1": -1, "+1": 1, "+2": 2}


class Sizes(dict[str, int]):
    """The letters in the shapes of one model's parts, and what they have turned out to be."""

    def agree(self, size: str | int, found: int) -> bool:
        """Say whether a size is as stated: a number, a letter, or a letter with −1, +1 or +2 behind it."""
        if isinstance(size, int):
            return found == size
        if size == ANY:
            return True
        step = _STEPS.get(size[-2:], 0)
        letter = size[:-2] if step else size
        return found - step >= 0 and self.setdefault(letter, found - step) == found - step

    def show(self, shape: tuple[str | int, ...]) -> str:
        """Write a stated shape, with the numbers that are known."""
        known = (f"{size}={self[size]}" if isinstance(size, str) and size in self else str(size) for size in shape)
        return f"({', '.join(known)})"


@dataclass(frozen=True)
class Part:
    """One attribute: ``check(value, sizes)`` raises a ValueError that says what is wrong with a value."""

    check: Callable[[Any, Sizes], None]
    needed: bool = True


State: TypeAlias = Mapping[str, Part]


class Stored:
    """A model that a file may hold; the classes that are saved state here what fitting leaves in them.

    It is fitted whole or not at all: where ``fit`` fails or is interrupted, the model is not fitted. Otherwise some of
    its state would be new, some old and some missing. So each ``fit`` is wrapped once, when its class is made; that
    adds a frame to the stack, and one to the ``stacklevel`` of warnings from inside a ``fit``.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray[Any, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):
            setattr(cls, "fit", _fit_whole(vars(cls)["fit"]))  # noqa: B010 (mypy takes no other function for a method)

    def _fitted_state(self) -> dict[str, Part]:
        """Return the parts of the fitted model, given its parameters."""
        return {"n_features_in_": size("d", least=1), "feature_names_in_": absent_or(names("d"))}

    def _format_version(self) -> int:
        """Return the first version of the format of model files in which what was fitted means what it does."""
        return 1

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense: asked by ``fit``, and of models that come from a file."""


def _fit_whole(fit: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(fit)
    def fit_whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if args and hasattr(args[0], "index"):
                y = args[1] if len(args) > 1 else kwargs.get("y")
                warn_of_other_rows(args[0], y=y, groups=kwargs.get("groups"), stacklevel=2)
            return fit(self, *args, **kwargs)
        except BaseException:
            _forget_fit(self)
            raise

    return fit_whole


def _forget_fit(model: Any) -> None:
    """Take everything from a model that a fit may have put there; what else its own class has made stays."""
    parameters = model.get_params(deep=False).keys()
    private = {name for name in model._fitted_state() if name.startswith("_")}
    for name in list(vars(model)):
        if name not in parameters and (name.endswith("_") or name in private):
            delattr(model, name)


def check_fitted(state: State, model: Any, parameters: Collection[str], sizes: Sizes) -> None:
    """Hold a model to its class's statement; one with parameters alone is not fitted, which is no fault."""
    found = vars(model)
    learned = found.keys() - parameters
    if not any(name.endswith("_") or name in state for name in learned):
        return
    for name, part in state.items():
        if name in found:
            _check(name, part, found[name], sizes)
        elif part.needed:
            raise ValueError(f"{name} is missing")


def _check(name: str, part: Part, value: Any, sizes: Sizes) -> None:
    try:
        part.check(value, sizes)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
        raise ValueError(f"{name}: {error}") from None


def _refuse(reason: str) -> None:
    raise ValueError(reason)


def _array(value: Any, shape: tuple[str | int, ...], kinds: str, what: str, sizes: Sizes, dtype: Any = None) -> None:
    if type(value) is not np.ndarray or value.dtype.kind not in kinds or not value.dtype.isnative:
        raise ValueError(f"it is not an array of {what}")
    if dtype is not None and value.dtype != np.dtype(dtype):
        raise ValueError(f"it is of type {value.dtype}, and should be {np.dtype(dtype)}")
    _shape(value.shape, shape, sizes)


def _shape(found: tuple[int, ...], shape: tuple[str | int, ...], sizes: Sizes) -> None:
    if len(found) != len(shape) or not all(map(sizes.agree, shape, found)):
        raise ValueError(f"it has the shape {found}, and should have {sizes.show(shape)}")


def floats(
    *shape: str | int,
    low: float = -np.inf,
    high: float = np.inf,
    above: float | None = None,
    missing: bool = False,
    dtype: Any = None,
) -> Part:
    """Expect an array of finite numbers from ``low`` to ``high``, all over ``above``; with ``missing`` also NaN.

    Compiled code asks for a ``dtype``.
    """

    def check(value: Any, sizes: Sizes) -> None:
        _array(value, shape, "f", "numbers", sizes, dtype)
        given = value[~np.isnan(value)] if missing else value
        if not np.isfinite(given).all():
            _refuse("it holds something that is not a finite number")
        if not ((given >= low) & (given <= high)).all() or (above is not None and not (given > above).all()):
            _refuse("it holds a number beyond its range")

    return Part(check)


def rising(*shape: str | int) -> Part:
    """Expect finite numbers, none of them below the one before."""
    plain = floats(*shape)

    def check(value: Any, sizes: Sizes) -> None:
        plain.check(value, sizes)
        if (np.diff(value) < 0).any():
            _refuse("its numbers are not in order")

    return Part(check)


def figures(*shape: str | int, dtype: Any = None) -> Part:
    """Expect numbers that are told to people and not computed with: any, also NaN and infinity."""
    return Part(lambda value, sizes: _array(value, shape, "fiu", "numbers", sizes, dtype))


def whole(*shape: str | int, low: int = 0, high: int = 2**62, dtype: Any = None) -> Part:
    """Expect an array of whole numbers from ``low`` to ``high``."""

    def check(value: Any, sizes: Sizes) -> None:
        _array(value, shape, "iu", "whole numbers", sizes, dtype)
        if value.size and not (value.min() >= low and value.max() <= high):
            _refuse("it holds a number beyond its range")

    return Part(check)


def places(*shape: str | int, below: str, dtype: Any = None) -> Part:
    """Expect an array of whole numbers from 0 to a size that an earlier part has set, less one."""
    return Part(lambda value, sizes: whole(*shape, high=sizes[below] - 1, dtype=dtype).check(value, sizes))


def place(below: str) -> Part:
    """Expect a whole number from 0 to a size that an earlier part has set, less one."""

    def check(value: Any, sizes: Sizes) -> None:
        if not _is_whole(value) or not 0 <= value < sizes[below]:
            raise ValueError(f"{_shown(value)} is none of {sizes[below]}")

    return Part(check)


def flags(*shape: str | int) -> Part:
    """Expect an array of truth values."""
    return Part(lambda value, sizes: _array(value, shape, "b", "truth values", sizes))


def labels(*shape: str | int) -> Part:
    """Expect grades in the user's own labels: numbers, text or objects; a single column has each of them once."""

    def check(value: Any, sizes: Sizes) -> None:
        _array(value, shape, "biufUSOMm", "labels", sizes)
        if value.dtype.kind == "f" and np.isnan(value).any():
            _refuse("it holds something that is not a number")
        if value.dtype.kind == "O" and any(not _is_label(label) for label in value.flat):
            _refuse("it holds something that is no label")
        if value.ndim == 1 and not _all_different(value):
            _refuse("it holds a label twice")

    return Part(check)


def label() -> Part:
    """Expect one label."""

    def check(value: Any, sizes: Sizes) -> None:
        if not _is_label(value):
            raise ValueError(f"{_shown(value)} is no label")

    return Part(check)


def _is_label(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_label, value))
    return (value is None or isinstance(value, bool | int | float | str | bytes | np.generic)) and value == value


def _all_different(value: np.ndarray[Any, Any]) -> bool:
    if value.dtype.kind != "O":
        return len(np.unique(value)) == len(value)
    refuse_alike(value.tolist())
    return len(set(value.tolist())) == len(value)


def names(count: str) -> Part:
    """Expect an array of column names, as scikit-learn keeps them."""

    def check(value: Any, sizes: Sizes) -> None:
        _array(value, (count,), "O", "names", sizes)
        if not all(isinstance(name, str) for name in value):
            _refuse("it holds something that is not text")

    return Part(check)


def rows(count: str, columns: str) -> Part:
    """Expect rows of features, as they were fitted on: a dense array, or a CSR matrix."""
    dense = floats(count, columns)

    def check(value: Any, sizes: Sizes) -> None:
        if not sp.issparse(value):
            dense.check(value, sizes)
            return
        if value.format != "csr":
            _refuse("it is a sparse matrix, but not by rows")
        _shape(value.shape, (count, columns), sizes)
        if value.data.dtype.kind != "f" or not np.isfinite(value.data).all():
            _refuse("it holds something that is not a finite number")

    return Part(check)


def number(*, low: float = -np.inf, high: float = np.inf, above: float | None = None) -> Part:
    """Expect a finite number from ``low`` to ``high``, over ``above``."""

    def check(value: Any, sizes: Sizes) -> None:
        if not _is_number(value) or not math.isfinite(float(value)):
            raise ValueError(f"{_shown(value)} is not a finite number")
        if not low <= value <= high or (above is not None and not value > above):
            _refuse(f"{_shown(value)} is beyond its range")

    return Part(check)


def figure() -> Part:
    """Expect a number that is told to people and not computed with: any, also NaN and infinity."""

    def check(value: Any, sizes: Sizes) -> None:
        if not _is_number(value):
            raise ValueError(f"{_shown(value)} is not a number")

    return Part(check)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def count(least: int = 0) -> Part:
    """Expect a whole number of things that were counted."""

    def check(value: Any, sizes: Sizes) -> None:
        if not _is_whole(value) or not least <= value < 1 << 63:
            raise ValueError(f"{_shown(value)} is not a number of things")

    return Part(check)


def size(letter: str, least: int = 0) -> Part:
    """Expect a whole number that is the size of other parts."""
    counted = count(least)

    def check(value: Any, sizes: Sizes) -> None:
        counted.check(value, sizes)
        if not sizes.agree(letter, int(value)):
            raise ValueError(f"it is {value}, where other parts have {sizes[letter.rstrip('+-12')]}")

    return Part(check)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def truth() -> Part:
    """Expect True or False."""
    return one_of(True, False)


def text() -> Part:
    """Expect some text."""
    return of(str, "text")


def one_of(*options: Any) -> Part:
    """Expect one of a few values: of its type, too."""

    def check(value: Any, sizes: Sizes) -> None:
        if not any(_is_like(value, option) and value == option for option in options):
            raise ValueError(f"{_shown(value)} is not among {', '.join(map(repr, options))}")

    return Part(check)


def _is_like(value: Any, option: Any) -> bool:
    """Say whether a value is of an option's type: NumPy's text and truth values, as grids of it hold, included."""
    kinds = (bool, np.bool_) if isinstance(option, bool) else type(option)
    return isinstance(value, kinds) and isinstance(value, bool | np.bool_) == isinstance(option, bool)


def of(kind: type | tuple[type, ...], what: str) -> Part:
    """Expect an instance of a class."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, kind):
            raise ValueError(f"{_shown(value)} is not {what}")

    return Part(check)


def checked(look: Callable[[Any], object]) -> Part:
    """Expect whatever a function does not refuse with a ValueError."""

    def check(value: Any, sizes: Sizes) -> None:
        look(value)

    return Part(check)


def both(*parts: Part) -> Part:
    """Expect what satisfies several parts."""

    def check(value: Any, sizes: Sizes) -> None:
        for part in parts:
            part.check(value, sizes)

    return Part(check)


def none_or(part: Part) -> Part:
    """Expect None, or a part."""
    return replace(part, check=lambda value, sizes: None if value is None else part.check(value, sizes))


def absent_or(part: Part) -> Part:
    """Expect a part that only some fits leave."""
    return replace(part, needed=False)


def list_of(part: Part, length: str) -> Part:
    """Expect a list of parts."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not list:
            raise ValueError(f"{_shown(value)} is not a list")
        _shape((len(value),), (length,), sizes)
        for place, each in enumerate(value):
            _check(f"[{place}]", part, each, sizes)

    return Part(check)


def tuple_of(*parts: Part) -> Part:
    """Expect a tuple with one value for each of the parts."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not tuple or len(value) != len(parts):
            raise ValueError(f"it is not a tuple of {len(parts)}")
        for place, (part, each) in enumerate(zip(parts, value, strict=True)):
            _check(f"[{place}]", part, each, sizes)

    return Part(check)


def dict_of(key: Part, part: Part, length: str) -> Part:
    """Expect a look-up table of parts."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict:
            raise ValueError(f"{_shown(value)} is not a table")
        _shape((len(value),), (length,), sizes)
        for name, each in value.items():
            _check("a key", key, name, sizes)
            _check(f"[{_shown(name)}]", part, each, sizes)

    return Part(check)


def table(parts: State) -> Part:
    """Expect a look-up table with exactly these entries, in this order."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict or list(value) != list(parts):
            raise ValueError(f"it does not hold {', '.join(parts)}")
        for name, part in parts.items():
            _check(f"[{name!r}]", part, value[name], sizes)

    return Part(check)


def numbering(length: str, key: type | None = None) -> Part:
    """Expect a look-up table that gives its keys the numbers 0, 1, …, each once: places in arrays, or columns."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict or (key is not None and not all(isinstance(name, key) for name in value)):
            raise ValueError("it is not a table of names and numbers")
        _shape((len(value),), (length,), sizes)
        n, taken = len(value), bytearray(len(value))
        for place in value.values():  # compared before they are hashed or indexed with: they may be of any size
            whole_number = type(place) is int or _is_whole(place)
            if not whole_number or not 0 <= place < n or taken[place]:
                raise ValueError(f"it gives {_shown(place)} as a number, and has {n} names")
            taken[place] = 1

    return Part(check)


def pieces(kind: Any) -> Part:
    """Expect the arrays of a sum of small functions, by name, as its class writes and checks them."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not dict or not all(type(part) is np.ndarray for part in value.values()):
            raise ValueError("it is not a table of arrays")
        kind.from_arrays(value).check(sizes["d"])

    return Part(check)


_built: WeakKeyDictionary[Any, tuple[tuple[Any, ...], Any]] = WeakKeyDictionary()


def built(model: Any, kind: type[P]) -> P:
    """Return the sum of small functions that a model's ``pieces_`` are the arrays of; it is checked and built once.

    From then on the arrays are read-only: they stay what was checked. New ones in their place are built anew.
    """
    arrays = tuple(model.pieces_.items())
    found = _built.get(model)
    if found is not None and isinstance(found[1], kind) and _are_same(found[0], arrays):
        return found[1]
    function: P = kind.from_arrays({name: np.asarray(part) for name, part in arrays})
    for _, part in arrays:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    _built[model] = arrays, function
    return function


def _are_same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Say whether two tables have the same names, in the same order, and each the same array, not just an equal one."""
    return len(some) == len(others) and all(a[0] == b[0] and a[1] is b[1] for a, b in zip(some, others, strict=True))


def template(*methods: str) -> Part:
    """Expect a model that is a parameter, fitted or not, with one of the methods if any are named."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, BaseEstimator) or (methods and not any(hasattr(value, name) for name in methods)):
            raise ValueError(f"{_shown(value)} is not a model with {' or '.join(methods) or 'parameters'}")

    return Part(check)


def fitted(*methods: str, columns: str | None = "d") -> Part:
    """Expect a fitted model that has one of the methods, and takes as many columns as the letter says."""
    inside = template(*methods)

    def check(value: Any, sizes: Sizes) -> None:
        inside.check(value, sizes)
        check_is_fitted(value)
        found = getattr(value, "n_features_in_", None)
        if columns is not None and found is not None and not sizes.agree(columns, found):
            raise ValueError(f"it takes {_shown(found)} columns, where there are {sizes.show((columns,))}")

    return Part(check)


def refuse_twice(names: Collection[Any]) -> None:
    """Refuse names of which two are the same."""
    if len(set(names)) < len(names):
        raise ValueError("two of its names are the same")


def refuse_alike(keys: Collection[Any]) -> None:
    """Refuse keys so many of which have one hash that a look-up table of them takes quadratic time.

    Hashes of numbers, and of tuples of them, are no secret, so that such keys are easily found: multiples of 2^61 − 1.
    """
    hashes = np.sort(np.fromiter(map(hash, keys), np.int64, len(keys)))
    if (hashes[_MOST_ALIKE:] == hashes[:-_MOST_ALIKE]).any():
        raise ValueError(f"more than {_MOST_ALIKE} of {len(keys)} keys have the same hash")


def _shown(value: Any) -> str:
    plain = value is None or isinstance(value, bool | float | str | np.generic)
    plain |= isinstance(value, int) and abs(value) < 1 << 64  # what is longer may be too long to write
    return shown if plain and len(shown := repr(value)) <= 40 else f"a {type(value).__name__}"
