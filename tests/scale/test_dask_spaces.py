"""Rows in partitions give what rows in one place give. Without a cluster: Dask's own threads run the same tasks."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from wellorder.losses import LOSSES
from wellorder.order import Grades
from wellorder.solvers import PartitionedProblem, Problem, pose_problem
from wellorder.spaces import (
    CoefficientSpace,
    KernelSpace,
    LinearSpace,
    PartedSpace,
    RowSpace,
    column_moments,
    dask as dask_space,
    linear_space,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((1_000, 4))
CHUNKS = ((300, 0, 450, 250), (3, 1))


def parted(X=X):
    return linear_space(da.from_array(X, chunks=CHUNKS))


def test_spaces_say_what_they_can_do():
    assert isinstance(LinearSpace(X), RowSpace)
    assert not isinstance(LinearSpace(X), PartedSpace)
    assert isinstance(parted(), PartedSpace)
    for other in (KernelSpace(X @ X.T), CoefficientSpace(3)):
        assert not isinstance(other, RowSpace)


def test_products_are_those_of_a_linear_space():
    here, there = LinearSpace(X), parted()
    w, g = RNG.standard_normal(4), RNG.random(1_000)
    assert (there.n_rows, there.n_coef) == (here.n_rows, here.n_coef)
    np.testing.assert_allclose(there.scores(w), here.scores(w), rtol=1e-13)
    np.testing.assert_allclose(there.adjoint(g), here.adjoint(g), rtol=1e-12)
    np.testing.assert_allclose(there.weighted_squares(g), here.weighted_squares(g), rtol=1e-12)
    np.testing.assert_array_equal(there.columns(), X)


@pytest.mark.parametrize("rows", [np.arange(0, 1_000, 7), np.array([299, 300, 749]), np.array([0])])
def test_samples_come_here_or_stay_there(rows, monkeypatch):
    few = parted().take(rows)
    assert isinstance(few, LinearSpace)
    monkeypatch.setattr(dask_space, "_MOST_GATHERED", 0)
    many = parted().take(rows)
    assert isinstance(many, PartedSpace)
    for space in (few, many):
        np.testing.assert_array_equal(space.columns(), X[rows])
        np.testing.assert_allclose(space.scores(np.ones(4)), X[rows].sum(axis=1), rtol=1e-12)


def test_partitions_may_be_sparse():
    blocks = da.from_array(X, chunks=(250, -1)).map_blocks(sp.csr_array, dtype=float, meta=sp.csr_array((0, 0)))
    space = linear_space(blocks)
    np.testing.assert_allclose(space.scores(np.ones(4)), X.sum(axis=1), rtol=1e-12)
    np.testing.assert_array_equal(space.take(np.array([1, 400])).columns(), X[[1, 400]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_moments_of_columns_are_those_of_all_rows(form):
    rows, share = np.where(X > 0.5, X, 0.0), RNG.random(1_000)
    share /= share.sum()
    there = column_moments(da.from_array(rows, chunks=(250, -1)).map_blocks(form), share)
    for found, expected in zip(there, column_moments(rows, share), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_partitions_that_end_with_groups_stay_as_they_are():
    array = da.from_array(X, chunks=((500, 500), -1))
    assert dask_space.align(array, np.repeat([3, 1], 500)) is array


def test_borders_move_to_the_ends_of_groups():
    array = da.from_array(X, chunks=((300, 450, 250), -1))
    moved = dask_space.align(array, np.repeat(np.arange(10), 100))
    assert moved.chunks[0] in [(300, 400, 300), (300, 500, 200)]
    np.testing.assert_array_equal(moved.compute(), X)


@pytest.mark.parametrize("groups", [np.arange(1_000) % 7, np.zeros(1_000, int)])
def test_borders_stay_where_groups_are_scattered_or_too_long(groups):
    array = da.from_array(X, chunks=((300, 450, 250), -1))
    assert dask_space.align(array, groups) is array


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("balance", ["pairs", "groups"])
@pytest.mark.parametrize("order", ["full", "chain", "dcg"])
def test_a_risk_by_parts_is_the_risk(loss, balance, order):
    """Value, gradient and Hessian products, against the sum over all rows here."""
    y, groups = RNG.integers(0, 4, 1_000), np.repeat(np.arange(20), 50)
    y[300:350] = 2  # a group without a pair
    pairs = Grades(y, groups, order, RNG.uniform(0.5, 2, 1_000)).balanced(balance)
    here = pose_problem(LinearSpace(X), pairs, LOSSES[loss], 1.0)
    there = pose_problem(parted(), pairs, LOSSES[loss], 1.0)
    assert type(here) is Problem
    assert type(there) is PartitionedProblem
    assert there.strength == here.strength
    assert there.n_active == here.n_active
    w, v = RNG.standard_normal((2, 4))
    one, other = here.risk(X @ w), there.risk(w)
    np.testing.assert_allclose(other.value, one.value, rtol=1e-12)
    np.testing.assert_allclose(other.slope, one.slope, rtol=1e-12)
    np.testing.assert_allclose(other.gradient, X.T @ one.gradient, rtol=1e-9)
    if loss == "hinge":
        return
    np.testing.assert_allclose(other.hessian_product(v), X.T @ one.hessian_product(X @ v), rtol=1e-9)
    np.testing.assert_allclose(there.hessian(w), here.hessian(w), rtol=1e-9)
    np.testing.assert_allclose(other.hessian_diagonal(), here.hessian(w).diagonal(), rtol=1e-9)
    for mine, theirs in zip(there.spread(there.first(w)), here.spread(here.first(w)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_one_list_has_its_scores_gathered():
    pairs = Grades(RNG.integers(0, 4, 1_000)).pairs
    assert type(pose_problem(parted(), pairs, LOSSES["squared_hinge"], 1.0)) is Problem


def test_groups_across_borders_have_their_scores_gathered():
    pairs = Grades(RNG.integers(0, 4, 1_000), np.arange(1_000) % 9).pairs
    assert type(pose_problem(parted(), pairs, LOSSES["squared_hinge"], 1.0)) is Problem


def test_a_sample_of_parts_is_the_sample_of_the_whole(monkeypatch):
    pairs = Grades(RNG.integers(0, 4, 1_000), np.repeat(np.arange(20), 50)).pairs
    monkeypatch.setattr(dask_space, "_MOST_GATHERED", 0)
    here = pose_problem(LinearSpace(X), pairs, LOSSES["squared_hinge"], 1.0).sample(300, np.random.default_rng(1))
    there = pose_problem(parted(), pairs, LOSSES["squared_hinge"], 1.0).sample(300, np.random.default_rng(1))
    assert type(there) is PartitionedProblem
    w = RNG.standard_normal(4)
    np.testing.assert_allclose(there.risk(w).value, here.risk(here.space.scores(w)).value, rtol=1e-12)
    assert there.strength == pytest.approx(here.strength)
