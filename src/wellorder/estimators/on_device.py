"""Fits on a torch device: how they are solved there, and what a kernel model does on one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..losses import PairSet
from ..order import GradedPairs
from ..solvers import (
    COARSE_TOL,
    IDENTITY,
    Preconditioner,
    Problem,
    SolveResult,
    diagonal_of,
    invert,
    landmark_count,
    newton_cg,
    some_rows,
)
from ..spaces import is_dask, near_zero, resolve_gamma, use_single
from ..state import Part, none_or, text
from ..sweeps import Array, Floats, all_finite, beside, is_tensor, namespace, to_numpy
from .base import by_rows
from .kernel_model import KernelModel

if TYPE_CHECKING:
    from ..spaces.torch import TorchKernelSpace, TorchLinearSpace

# --------------------------------------------------------------------------------------------------
# Problems whose scores are on a device: a small sample of the rows helps, solved there too.
#
# Products with X cost a device so little that one sample is enough: it gives the start, and the inverse Hessian that
# preconditions. Neither changes what is minimised. Vectors never leave the device; single numbers do.


_SAMPLE = 20_000
_ROWS_PER_COEF = 20
_MOST_COEF = 500
"""Wider linear problems are preconditioned by a diagonal: a sample's Hessian would cost more than it saves."""


def solve_on_device(
    problem: Problem, *, start: Floats | None = None, tol: float = 1e-4, max_iter: int = 100
) -> SolveResult:
    """Solve a smooth problem with :func:`newton_cg` where its rows are; the result is in NumPy arrays."""
    space: Any = problem.space
    pairs = problem.pairs
    assert isinstance(pairs, GradedPairs)
    problem = replace(problem, strength=float(problem.strength))  # a NumPy scalar would pull tensors to itself
    find_help = _kernel_help if space.is_kernel else _linear_help
    first, preconditioner = find_help(problem, space, pairs, float(tol), max_iter)
    if start is not None and np.isfinite(start).all():
        first = space.vector(start)
    result = newton_cg(problem, start=first, preconditioner=preconditioner, tol=float(tol), max_iter=max_iter)
    return replace(result, coef=to_numpy(result.coef))


def _linear_help(
    problem: Problem, space: TorchLinearSpace, pairs: GradedPairs, tol: float, max_iter: int
) -> tuple[Any, Preconditioner]:
    """Solve a sample of a linear problem: its answer, and its inverse Hessian there."""
    zero = space.vector(np.zeros(space.n_coef))
    if space.n_coef > _MOST_COEF:
        return zero, _diagonal(problem, space)
    sample, those = problem, space
    if (size := max(_SAMPLE, _ROWS_PER_COEF * space.n_coef)) < pairs.n_rows:
        rows, some = pairs.sample(size, np.random.default_rng(0))
        if some.n_pairs == 0:
            return zero, _diagonal(problem, space)
        those = space.take(rows)
        sample = problem.restricted(those, some)
    rough = newton_cg(sample, start=zero, preconditioner=_diagonal(sample, those), tol=tol, max_iter=max_iter)
    columns = those.columns()
    bent = sample.risk(those.scores(rough.coef)).hessian_product(columns.T)
    hessian = np.eye(space.n_coef) + sample.strength * to_numpy(bent @ columns)
    inverse = space.vector(invert(hessian))
    return rough.coef, Preconditioner(lambda residual: inverse @ residual, resembles=True)


def _kernel_help(
    problem: Problem, space: TorchKernelSpace, pairs: GradedPairs, tol: float, max_iter: int
) -> tuple[Any, Preconditioner]:
    """Solve a kernel problem over a few landmarks: its answer, and the Hessian over them, inverted."""
    start = np.zeros(space.n_coef)
    size = landmark_count(problem)
    if not size:
        return space.vector(start), IDENTITY
    rows, some = pairs.sample(size, np.random.default_rng(0))
    if some.n_pairs == 0:
        return space.vector(start), IDENTITY
    lines, those = space.lines(rows), space.take(rows)
    sample, everything = problem.restricted(those, some), np.arange(len(rows), dtype=np.int32)
    zero = space.vector(np.zeros(len(rows)))
    exact = some_rows(those.lines(everything), everything, _hessian(sample, those, zero))
    rough = newton_cg(sample, start=zero, preconditioner=exact, tol=max(tol, COARSE_TOL), max_iter=max_iter)
    start[rows] = to_numpy(rough.coef)
    return space.vector(start), some_rows(lines, rows, _hessian(sample, those, rough.coef))


def _hessian(sample: Problem, space: TorchKernelSpace, coef: Any) -> Floats:
    """Return the whole Hessian in the scores of a sample, weighed as in the objective."""
    return sample.strength * to_numpy(
        sample.risk(space.scores(coef)).hessian_product(space.vector(np.eye(space.n_rows)))
    )


def _diagonal(problem: Problem, space: TorchLinearSpace) -> Preconditioner:
    """Divide by about the Hessian's diagonal at zero, Σ_i H_ii (x_ik − mean_k)²."""
    weight = problem.risk(space.scores(space.vector(np.zeros(space.n_coef)))).hessian_diagonal()
    total = float(weight.sum())
    share = weight / total
    mean, squares = to_numpy(space.adjoint(share)), to_numpy(space.weighted_squares(share))
    there = space.vector(diagonal_of(problem.strength, total, mean, squares))
    return Preconditioner(lambda residual: residual / there, resembles=False)


# --------------------------------------------------------------------------------------------------
# Kernel models that also fit and score on a torch device.


class DeviceModel(KernelModel):
    """A kernel model with ``device``; without it, and without tensors, it is a :class:`KernelModel` and no more.

    A tensor is worked on where it lies, and its scores lie there too. Fitted attributes are NumPy arrays.
    """

    device: Any
    loss: str

    def _fitted_state(self) -> dict[str, Part]:
        return super()._fitted_state() | {"device": none_or(text())}

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        if not is_tensor(X):
            return super()._check_rows(X, reset=reset)
        X = _check_tensor(X)
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input"
            )
        if reset:
            self._refuse_oblong(X)
        return X

    def _to_device(self, X: Any, pairs: PairSet) -> Any:
        """Return checked rows where the fit is to be: as they are, or as a tensor on a device."""
        if self.device is None and not is_tensor(X):
            return X
        spaces = _load_torch()
        if sp.issparse(X) or is_dask(X):
            raise ValueError("a device takes dense rows only; leave device=None for sparse rows and Dask arrays")
        why = "on a device, and tensors, are for"
        if self.loss != "squared_hinge":
            raise ValueError(f"fits {why} loss='squared_hinge', not {self.loss!r}; leave device=None, and X in NumPy")
        if self.n_components is not None or callable(self.kernel):
            what = "n_components" if self.n_components is not None else "a kernel function of your own"
            raise ValueError(f"fits {why} kernels by name, without {what}; leave device=None, and X in NumPy")
        if not isinstance(pairs, GradedPairs):
            raise ValueError(f"fits {why} all pairs of grades; leave device=None for comparisons and pairs_per_item")
        device = X.device if self.device is None else spaces.find_device(self.device)
        if not is_tensor(X) or X.device != device:
            spaces.refuse_too_many_bytes(X.shape, X.dtype.itemsize, device)
        return X.to(device) if is_tensor(X) else _as_tensor(X, device)

    def _make_space(self, X: Any, C: float, tol: float, rng: np.random.Generator) -> Any:
        if not is_tensor(X):
            return super()._make_space(X, C, tol, rng)
        spaces = _load_torch()
        if self._is_plain_linear:
            return spaces.TorchLinearSpace(near_zero(X)[0])
        torch, single = namespace(X), use_single(X.shape[0], C, tol) and self.kernel == "rbf"
        self.gamma_ = 1.0 if self.kernel == "precomputed" else resolve_gamma(self.gamma, _TensorShape(X))
        self._warn_of_lost_digits(X)
        return spaces.TorchKernelSpace(self._kernel(), X, torch.float32 if single else torch.float64)

    def _store(self, coef: Floats, X: Any) -> None:
        if not is_tensor(X):
            super()._store(coef, X)
            return
        coef = coef.astype(_numpy_dtype(X))
        if self._is_plain_linear:
            self.coef_ = coef
            return
        self.n_fit_rows_ = X.shape[0]
        self.support_ = np.flatnonzero(coef)
        self.dual_coef_ = coef[self.support_]
        if self.kernel != "precomputed":
            self.support_vectors_ = to_numpy(X[beside(X, self.support_)])

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row; a higher score stands above.

        With ``kernel="precomputed"``, X holds the kernel between the rows and all training rows. The scores of a
        tensor are a tensor. Where the model's ``device`` is not to be had, rows in NumPy are scored by NumPy.
        """
        there = X if is_tensor(X) else None
        if there is None and (self.device is None or self._is_plain_linear or self.n_components is not None):
            return super().decision_function(X)
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if there is None:
            if sp.issparse(X) or is_dask(X) or (device := _find_quietly(self.device)) is None:
                return cast(Array, by_rows(self._scores, X))
            return to_numpy(self._tensor_scores(_as_tensor(X, device)))
        return cast(Array, self._tensor_scores(X))

    def _tensor_scores(self, X: Any) -> Any:
        """Return the scores of rows in a tensor, where it lies."""
        if self.n_components is not None or callable(self.kernel):
            return beside(X, self._scores(to_numpy(X)))
        if self._is_plain_linear:
            return X @ beside(X, self.coef_).to(X.dtype)
        coef = beside(X, self.dual_coef_).to(X.dtype)
        if self.kernel == "precomputed":
            return X[:, beside(X, self.support_)] @ coef
        support = beside(X, self.support_vectors_)
        return _load_torch().kernel_scores(self._kernel(), X, support, coef, X.dtype).to(X.dtype)


class _TensorShape:
    """A tensor's shape and variance, as :func:`resolve_gamma` asks for them."""

    def __init__(self, X: Any) -> None:
        self._X, self.shape = X, X.shape

    def var(self, dtype: Any) -> float:
        parts, size = self._X.split(1 << 20), self._X.numel()
        mean = sum(float(part.sum(dtype=namespace(part).float64)) for part in parts) / size
        return float(sum(float(((part.double() - mean) ** 2).sum()) for part in parts) / size)


def _check_tensor(X: Any) -> Any:
    torch = namespace(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a tensor of shape {tuple(X.shape)} instead: one row an item")
    _load_torch().find_device(X.device)
    if X.is_complex() or X.layout != torch.strided:
        raise ValueError("X is a complex or sparse tensor; give dense real numbers")
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")
    X = X.detach()
    if X.dtype not in (torch.float32, torch.float64):
        X = X.to(torch.float32 if X.is_floating_point() else torch.float64)
    if not all_finite(X):
        row, column = torch.argwhere(~torch.isfinite(X))[0].tolist()
        what = "NaN" if bool(X[row, column].isnan()) else "infinity"
        raise ValueError(
            f"Input X contains {what}, first in row {row}, column {column}; correct it, or leave the row out"
        )
    return X


def _load_torch() -> Any:
    try:
        from ..spaces import torch as spaces
    except ImportError as error:
        raise ImportError(
            f"device= needs PyTorch, which could not be loaded ({error}); install it with pip install "
            "'wellorder[gpu]', or leave device=None"
        ) from None
    return spaces


def _find_quietly(device: Any) -> Any:
    """Return a device, or None where there is none: a model fitted on a GPU scores without one, too."""
    try:
        return _load_torch().find_device(device)
    except (ImportError, ValueError):
        return None


def _as_tensor(X: Any, device: Any) -> Any:
    from torch import from_numpy

    return from_numpy(np.require(X, requirements=("W", "C"))).to(device)


def _numpy_dtype(X: Any) -> Any:
    return np.float32 if X.dtype == namespace(X).float32 else np.float64
