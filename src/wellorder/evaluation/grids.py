"""What a search tries, by the size of the data: a few values a parameter, wide apart."""

from __future__ import annotations

from .size import Grid, Size

_FEW_ROWS = 1_000
_MANY_ROWS = 100_000


def costs(size: Size) -> Grid:
    """Return costs of the loss against ½‖f‖², a factor of ten apart."""
    return {"C": [0.01, 0.1, 1.0, 10.0]}


def inner_costs(size: Size) -> Grid:
    """Return the same for a model's inner estimator."""
    return {f"estimator__{name}": values for name, values in costs(size).items()}


def kernel_costs(size: Size) -> Grid:
    """Return costs and widths of a Gaussian kernel."""
    d = max(size.n_features, 1)  # columns are standardised: 1/d is the width that scikit-learn calls "scale"
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [0.1 / d, 0.3 / d, 1.0 / d]}


def penalties(size: Size) -> Grid:
    """Return ridge penalties."""
    return {"alpha": [0.1, 1.0, 10.0, 100.0, 1000.0]}


def tree_shapes(size: Size) -> Grid:
    """Return sizes and numbers of trees."""
    if size.n_rows > _MANY_ROWS:
        return {"max_leaf_nodes": [7, 31], "n_estimators": [30, 100]}  # a fit takes seconds a hundred trees
    few = size.n_rows <= _FEW_ROWS
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300] if few else [30, 60, 100, 300]}


def order_shapes(size: Size) -> Grid:
    """As many points as LightGBM's own objectives have.

    Lists count the same however long, as in most metrics of lists. Of one list the second loss is tried in place of
    more numbers of trees, if there are rows enough to make its sweeps worth it.
    """
    if size.largest_group < size.n_rows:
        return {**tree_shapes(size), "balance": ["groups"]}
    if not _FEW_ROWS < size.n_rows <= _MANY_ROWS:
        return tree_shapes(size)
    return {"max_leaf_nodes": [7, 31], "n_estimators": [60, 300], "loss": ["pairs", "squared_hinge"]}
