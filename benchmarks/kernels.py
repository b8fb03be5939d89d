"""Kernel RankSVM beside scikit-learn's SVR with the same kernel: ``python -m benchmarks.kernels``."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVR

from benchmarks.measure import seconds
from wellorder import RankSVM


def ball(n: int, levels: int | None, d: int = 8, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Grades that grow with the squared norm and a wave: nothing for a linear score."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    latent = (X**2).sum(axis=1) / np.sqrt(2 * d) + 2 * np.sin(2 * X[:, 0]) + X[:, 1]
    latent = (latent - latent.mean()) / latent.std() + 0.3 * rng.standard_normal(n)
    if levels is None:
        return X, latent
    return X, np.argsort(np.argsort(latent)) * levels // n


def main() -> None:
    """Print both times, their ratio (medians of three turns), and the distance from the optimum."""
    print(f"{'rows':>6}{'grades':>12}{'C':>5}{'ours s':>9}{'SVR s':>8}{'ratio':>7}{'gap':>10}")
    RankSVM(kernel="rbf").fit(*ball(8_000, 5))  # the compiler, once
    for n in (2_000, 8_000):
        for levels in (5, None):
            X, y = ball(n, levels)
            for C in (1.0, 10.0):
                times = [
                    (
                        seconds(lambda: RankSVM(C=C, kernel="rbf", gamma=1 / 8).fit(X, y)),
                        seconds(lambda: SVR(C=C, gamma=1 / 8).fit(X, y)),
                    )
                    for _ in range(3)
                ]
                ours, theirs = np.median(times, axis=0)
                fits = [RankSVM(C=C, kernel="rbf", gamma=1 / 8, tol=tol).fit(X, y).objective_ for tol in (1e-4, 1e-8)]
                name = "continuous" if levels is None else f"{levels} levels"
                print(
                    f"{n:6}{name:>12}{C:5.0f}{ours:9.2f}{theirs:8.2f}{ours / theirs:7.2f}{fits[0] / fits[1] - 1:10.1e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
