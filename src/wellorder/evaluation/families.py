"""Families of grid points: those that differ in C only, gathered under the kernel matrix that they share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from ..estimators.kernel_model import KernelModel
from ..spaces import Kernel, refuse_if_too_large, resolve_gamma, use_single
from ..sweeps import Array
from .parts import Data


@dataclass(frozen=True)
class Family:
    """Grid points that are one model but for C."""

    estimator: Any
    settings: Mapping[str, Any]
    """What the points have in common."""
    numbers: tuple[int, ...]
    """The points, with C rising."""
    Cs: tuple[Any, ...] | None
    """Their values of C: one model goes through them all, each fit starting from the last. None: a single point."""

    def make(self) -> Any:
        """Return the model, unfitted."""
        return clone(self.estimator).set_params(**clone(dict(self.settings), safe=False))

    def single(self, place: int, n_rows: int) -> bool:
        """Say whether a fit on so many rows would keep a Gaussian's matrix in float32."""
        known = {**self.estimator.get_params(deep=False), **self.settings}
        C, tol = known.get("C") if self.Cs is None else self.Cs[place], known.get("tol")
        return isinstance(C, Real) and isinstance(tol, Real) and use_single(n_rows, float(C), float(tol))


@dataclass(frozen=True)
class Household:
    """The families that share a kernel matrix; or have none to share."""

    kernel: Kernel | None
    families: tuple[Family, ...]

    def precision(self, family: Family, place: int, n_rows: int) -> Any:
        """Return the dtype of the matrix for one fit: the one that the model would choose itself."""
        single = self.kernel is not None and self.kernel.name == "rbf" and family.single(place, n_rows)
        return np.float32 if single else np.float64

    def matrix(self, data: Data, n_rows: int) -> Array:
        """Compute the kernel between all rows, unless it does not fit into memory beside a fit on ``n_rows``."""
        assert self.kernel is not None
        X = _Rows(data).checked()
        precisions = [
            self.precision(each, place, n_rows) for each in self.families for place in range(len(each.numbers))
        ]
        dtype = np.dtype(np.float32 if all(each is np.float32 for each in precisions) else np.float64)
        refuse_if_too_large(n_rows, dtype.itemsize, beside=dtype.itemsize * X.shape[0] ** 2)
        return self.kernel.matrix(X, X, dtype=dtype)


def find_households(estimator: Any, points: list[dict[str, Any]], data: Data) -> list[Household]:
    """Gather grid points into families, and families under one kernel, in the order of the grid.

    Only this library's kernel models are gathered; of any other model, every grid point is on its own.
    """
    if not isinstance(estimator, KernelModel):
        return [Household(None, tuple(Family(estimator, params, (k,), None) for k, params in enumerate(points)))]
    kernels: dict[Hashable, Kernel | None] = {}
    gathered: dict[Hashable, dict[Hashable, list[int]]] = {}
    rows = _Rows(data)
    for number, params in enumerate(points):
        kernel = _shared_kernel(estimator, params, rows)
        name = None if kernel is None else _key(kernel)
        kernels[name] = kernel
        # the grid repeats its values as the same objects; equal ones that are not would only share less
        alike = tuple((param, id(value)) for param, value in params.items() if param != "C")
        gathered.setdefault(name, {}).setdefault((alike, "C" in params), []).append(number)
    return [
        Household(
            kernels[name], tuple(_family(estimator, points, members, kernels[name]) for members in alike.values())
        )
        for name, alike in gathered.items()
    ]


class _Rows:
    """The rows of X as an array, checked once they are needed."""

    def __init__(self, data: Data) -> None:
        self.kind = data.kind
        self._X = data.X
        self._checked: Any = None

    def checked(self) -> Any:
        if self._checked is None:
            self._checked = check_array(self._X, accept_sparse="csr", dtype=(np.float64, np.float32))
        return self._checked


def _shared_kernel(estimator: KernelModel, params: Mapping[str, Any], rows: _Rows) -> Kernel | None:
    """Return the kernel of a grid point, its width resolved, if a precomputed matrix can stand for it."""
    model = clone(estimator).set_params(**params)
    model._check_kernel()
    kernel = params.get("kernel", estimator.kernel)  # the user's own object, where it is a function
    changes_rows = model.n_components is not None or bool(getattr(model, "scale", False))
    if changes_rows or rows.kind == "pairs" or (not callable(kernel) and kernel not in ("rbf", "poly")):
        return None
    if callable(kernel):
        return Kernel(kernel)
    gamma = resolve_gamma(model.gamma, rows.checked())
    return Kernel("rbf", gamma) if kernel == "rbf" else Kernel("poly", gamma, model.degree, model.coef0)


def _key(kernel: Kernel) -> Hashable:
    """Tell kernels apart; functions need not be hashable."""
    return (id(kernel.name) if callable(kernel.name) else kernel.name, kernel.gamma, kernel.degree, kernel.coef0)


def _family(estimator: KernelModel, points: list[dict[str, Any]], members: list[int], kernel: Kernel | None) -> Family:
    settings = dict(points[members[0]])
    if kernel is not None:
        settings["kernel"] = "precomputed"
    if "C" not in settings:
        return Family(estimator, settings, tuple(members), None)
    del settings["C"]
    if "warm_start" in estimator.get_params(deep=False):
        settings["warm_start"] = True
    rising = sorted(members, key=lambda number: points[number]["C"])
    return Family(estimator, settings, tuple(rising), tuple(points[number]["C"] for number in rising))
