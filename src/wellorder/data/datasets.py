"""Data that come along: one set, for the first minute."""

from __future__ import annotations

import os

from .lines import open_for_writing

_MEANINGS = {
    "bp": "blood_pressure",
    "s1": "cholesterol",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "cholesterol_by_hdl",
    "s5": "log_triglycerides",
    "s6": "glucose",
}
"""What scikit-learn's short names stand for."""


def write_diabetes(path: str | os.PathLike[str]) -> None:
    """Write the diabetes data that scikit-learn carries as CSV: 442 people, ten measurements, and a year's progression.

    Efron, Hastie, Johnstone, Tibshirani (2004), Least angle regression.
    """
    from sklearn.datasets import load_diabetes  # loads much, and only the demo needs it

    X, y = load_diabetes(return_X_y=True, scaled=False)
    names = [_MEANINGS.get(name, name) for name in load_diabetes()["feature_names"]]
    with open_for_writing(path) as out:
        out.write(",".join([*names, "progression"]) + "\n")
        for row, grade in zip(X.tolist(), y.tolist(), strict=True):
            out.write(",".join(f"{value:.12g}" for value in [*row, grade]) + "\n")
