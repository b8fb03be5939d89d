"""Figures 1 and 2 of Venuto et al. (2014): comparisons as hyperplanes, and when the LP (7) is the QP (9)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, nnls

from ...estimators import CompareLP, CompareSVM
from ...evaluation import Record
from ...sweeps import Bools, Floats
from ...writing import NOTHING
from ..running import PaperRun, Piece, record_key
from .search import Compared, simulate, threshold

# --------------------------------------------------------------------------------------------------
# Separable problems, and both programmes' answers.
#
# In terms of u = w/μ and β = −1/μ the LP minimises −β, the QP uᵀu, under the same constraints (12). The LP's solution
# is a corner of what these allow; the QP's may lie on an edge or a face, and is the same corner only where no direction
# out of it makes u shorter.


_HARD = 10.0
"""A cost of slack that no slack is worth: with it (15) is (9)."""

_SAME = 1e-6
"""The QP's margin is the LP's where it is no more than this part of it smaller: most agree to 10⁻¹⁰, or not at all."""

_SAME_DIRECTION = 1e-10
"""How far from 1 the cosine of one direction may be."""

_ACTIVE = 1e-7
_POOL = 4_096
_FAR_APART = 2.0
"""Columns as drawn are up to 10² times as large as one another."""

COLUMNS = (1, 2, 5, 10)
SIZES = (20, 60)
WAYS = ("as drawn", "standardised")


class Explained(NamedTuple):
    """Pairs that a linear ranking function with the threshold 1 explains, and others to judge by."""

    train: Compared
    test: Compared

    def standardised(self) -> Explained:
        """Return the same with columns of the training items' standard deviation 1."""
        spread = self.train.items.std(axis=0)
        return Explained(*(Compared(part.pairs / spread, part.outcome) for part in self))


@dataclass(frozen=True)
class Answers:
    """Both programmes' normal vectors of one problem, in units of the threshold where there are ties."""

    problem: Explained
    margin: float
    """The LP's; infinite without ties."""
    lp: Floats
    qp: Floats

    @property
    def cosine(self) -> float:
        """Between the normal vectors."""
        return float(self.lp @ self.qp / (np.linalg.norm(self.lp) * np.linalg.norm(self.qp)))

    @property
    def ratio(self) -> float:
        """The QP's margin by the LP's: at most 1."""
        outcome = self.problem.train.outcome
        d = np.abs(self.problem.train.differences @ self.qp)
        return float(np.where(outcome == 0, 1.0 - d, d - 1.0).min() / self.margin)

    @property
    def are_one(self) -> bool:
        """Whether both programmes have the same solution."""
        return self.ratio > 1.0 - _SAME if np.isfinite(self.margin) else self.cosine > 1.0 - _SAME_DIRECTION

    def errors(self) -> list[float]:
        """Return their test errors."""
        pairs, outcome = self.problem.test.differences, self.problem.test.outcome
        tau = 1.0 if np.isfinite(self.margin) else 0.0
        return [float(np.mean(threshold(pairs @ w, tau) != outcome)) for w in (self.lp, self.qp)]


def draw(rng: np.random.Generator, n_columns: int, n: int, with_ties: bool) -> Explained:
    """Draw items from a cube and a direction, half of all pairs ties by it; half of the n, or none.

    Columns are then multiplied by numbers between 1 and 10², evenly in the logarithm.
    """
    w = rng.standard_normal(n_columns)
    pairs = rng.uniform(-1.0, 1.0, (_POOL, 2, n_columns))
    d = np.diff(pairs @ w)[:, 0]
    outcome = threshold(d, float(np.median(np.abs(d))))
    pairs = pairs * 10.0 ** rng.uniform(0.0, _FAR_APART, n_columns)
    ties, decided = np.flatnonzero(outcome == 0), np.flatnonzero(outcome)
    n_ties = n // 2 if with_ties else 0
    rows = np.concatenate([ties[:n_ties], decided[: n - n_ties]])
    rest = np.concatenate([ties[n_ties:] if with_ties else [], decided[n - n_ties :]]).astype(np.int64)
    return Explained(*(Compared(pairs[some], outcome[some]) for some in (rows, rest)))


def answer(problem: Explained) -> Answers:
    """Solve both programmes."""
    pairs, outcome = problem.train
    lp = CompareLP().fit(pairs, outcome)
    if (outcome != 0).all():
        return Answers(problem, lp.margin_, lp.coef_, shortest(problem.train.differences * outcome[:, None]))
    # At the QP's solution the multipliers add up to uᵀu, which is no longer than the LP's: no slack is worth a larger
    # cost than that. In units in which it is 1 the machine with slacks, (15), has none with any C above 1.
    length = float(np.linalg.norm(lp.coef_)) / lp.margin_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last digits of the objective may be out of reach
        qp = CompareSVM(_HARD, tol=1e-9).fit(pairs * length, outcome)
    return Answers(problem, lp.margin_, lp.coef_, qp.coef_ * length)


def shortest(D: Floats) -> Floats:
    """Return the shortest u with Du ≥ 1, the hard margin of ranking: Lawson and Hanson's least distance programming."""
    E = np.column_stack([D, np.ones(len(D))]).T
    goal = np.append(np.zeros(D.shape[1]), 1.0)
    residual = E @ nnls(E, goal)[0] - goal
    return np.asarray(-residual[:-1] / residual[-1])


def can_be_scaled(found: Answers) -> bool:
    """Say whether some scale of each column makes the QP's solution the LP's.

    Other scales give uᵀu other weights. The LP's u is then the QP's where its weighted coordinates, all of their own
    sign, are a sum of multipliers v ≥ 0 times ỹ(x' − x) over the constraints that hold it, with Σ v ỹ = 0.
    """
    outcome = found.problem.train.outcome
    w, D = found.lp, found.problem.train.differences
    D = D * np.where(D @ w < 0, -1.0, 1.0)[:, None]  # a tie's nearer direction; a decided pair's own
    tie = outcome == 0
    d = D @ w
    held: Bools = np.where(tie, 1.0 - d, d - 1.0) - found.margin < _ACTIVE
    label = np.where(tie, -1.0, 1.0)[held]
    A = -np.sign(w)[:, None] * (label[:, None] * D[held] / np.abs(D).max(axis=0)).T
    solved = linprog(np.zeros(len(label)), A_ub=A, b_ub=np.full(len(w), -1.0), A_eq=[label], b_eq=[0.0])
    return bool(solved.status == 0)


# --------------------------------------------------------------------------------------------------
# The part: many problems, and the three that are drawn.


def run_margins(run: PaperRun) -> tuple[Record, ...]:
    """Solve many problems of each kind, with ties and without, and those that are drawn."""
    n_problems = 20 if run.quick else 200
    pieces = []
    for n_columns in COLUMNS:
        for n in SIZES:
            for with_ties in (True, False):
                home = f"comparisons/margins/{n_columns}/{n}/{with_ties}/{n_problems}"
                keys = {
                    way: record_key(f"{home}/{way}", _HARD, _SAME, _SAME_DIRECTION, _POOL, _FAR_APART) for way in WAYS
                }
                pieces.append(Piece("LP and QP", keys, partial(_problems, keys, n_columns, n, with_ties, n_problems)))
    drawn = {which: record_key(f"comparisons/{which}", _HARD, _N_DRAWN) for which in ("figure 1", "figure 2")}
    pieces.append(Piece("figure 1", {"": drawn["figure 1"]}, partial(_figure_one, drawn["figure 1"])))
    pieces.append(Piece("figure 2", {"": drawn["figure 2"]}, partial(_figure_two, drawn["figure 2"])))
    return run.pieces(pieces)


def _problems(
    keys: dict[str, str], n_columns: int, n: int, with_ties: bool, n_problems: int, ways: list[str]
) -> list[Record]:
    rng = np.random.default_rng([n_columns, n, int(with_ties)])
    problems = [draw(rng, n_columns, n, with_ties) for _ in range(n_problems)]
    made = []
    for way in ways:
        found = [answer(each.standardised() if way == WAYS[1] else each) for each in problems]
        lp_error, qp_error = np.mean([each.errors() for each in found], axis=0).tolist()
        metrics = {
            "same": float(np.mean([each.are_one for each in found])),
            "cosine": float(np.median([each.cosine for each in found])),
            "lp_error": lp_error,
            "qp_error": qp_error,
        }
        if with_ties:
            metrics |= {
                "ratio": float(np.median([each.ratio for each in found])),
                "least_ratio": float(min(each.ratio for each in found)),
                "can_be_scaled": float(np.mean([can_be_scaled(each) for each in found])),
            }
        params = {"columns": n_columns, "ties": with_ties, "problems": n_problems}
        made.append(Record(keys[way], "LP and QP", way, 0, 0, 0, n, _POOL - n, metrics, params))
    return made


_N_DRAWN = 30


def _figure_one(key: str, _: list[str]) -> list[Record]:
    """Label pairs by ‖x‖₂² without noise; ask for a hyperplane over x, and over (x₁², x₂²)."""
    pairs, outcome = simulate("‖x‖₂²", _N_DRAWN // 3, _N_DRAWN - _N_DRAWN // 3, np.random.default_rng(0), noise=0.0)
    plain, squares = CompareLP().fit(pairs, outcome), answer(Explained(*2 * (Compared(pairs**2, outcome),)))
    metrics = {
        "separable": float(plain.separable_),
        "margin": squares.margin,
        "ratio": squares.ratio,
        "cosine": squares.cosine,
    }
    params = {
        "pairs": np.round(pairs, 4).tolist(),
        "outcome": outcome.tolist(),
        "lp": squares.lp.tolist(),
        "qp": squares.qp.tolist(),
    }
    return [Record(key, "figure 1", "", 0, 0, 0, _N_DRAWN, 0, metrics, params)]


def _figure_two(key: str, _: list[str]) -> list[Record]:
    """Find the first problem in the plane like the paper's: two solutions as drawn, one when standardised."""
    for seed in range(10_000):
        as_drawn = answer(draw(np.random.default_rng(seed), 2, SIZES[0], True))
        scaled = answer(as_drawn.problem.standardised())
        if as_drawn.ratio < 0.95 and scaled.are_one:
            break
    params = {
        way: {
            "differences": np.round(each.problem.train.differences, 4).tolist(),
            "lp": each.lp.tolist(),
            "qp": each.qp.tolist(),
            "margins": [each.margin, each.ratio * each.margin],
        }
        for way, each in zip(WAYS, (as_drawn, scaled), strict=True)
    }
    metrics = {"ratio": as_drawn.ratio, "scaled_ratio": scaled.ratio}
    outcome = as_drawn.problem.train.outcome.tolist()
    return [Record(key, "figure 2", "", 0, 0, seed, SIZES[0], 0, metrics, {**params, "outcome": outcome})]


# --------------------------------------------------------------------------------------------------
# The tables.


def margin_lines(records: Sequence[Record]) -> Iterator[str]:
    """Return what the figures show, and how often both programmes are one, as Markdown lines."""
    one, two = (next(each for each in records if each.data == name) for name in ("figure 1", "figure 2"))
    yield (
        f"**Figure 1.** {one.n_train} pairs labelled by ‖x‖₂² without noise: over x itself "
        f"{'some' if one.metrics['separable'] else 'no'} hyperplane separates them (CompareLP), over (x₁², x₂²) the "
        f"LP does with w = ({one.params['lp'][0]:.2f}, {one.params['lp'][1]:.2f}) and margin "
        f"{one.metrics['margin']:.3f}; the true w is (1, 1). The QP's margin is {one.metrics['ratio']:.3f} of the "
        "LP's."
    )
    yield ""
    yield (
        f"**Figure 2.** Two columns, {two.n_train} pairs: as drawn the QP's margin is {two.metrics['ratio']:.3f} of "
        f"the LP's, standardised {two.metrics['scaled_ratio']:.3f}. The paper observed that when columns are scaled "
        f"both solutions are one. Over {_problems_of(records)} separable problems of each kind, half of the pairs "
        "ties, columns as drawn (up to 100 times as large as one another) and standardised:"
    )
    yield ""
    yield (
        "| columns | pairs | | both solutions one | QP's margin by the LP's: median, least | cosine, median | "
        "some scale makes them one | test error, LP | QP |"
    )
    yield "| --- " * 9 + "|"
    for each in records:
        if each.data == "LP and QP" and each.params["ties"]:
            m = each.metrics
            scaled = f"{m['can_be_scaled']:.1%}" if each.method == WAYS[0] else NOTHING
            yield (
                f"| {each.params['columns']} | {each.n_train} | {each.method} | {m['same']:.1%} "
                f"| {m['ratio']:.3f}, {m['least_ratio']:.3f} | {m['cosine']:.4f} | {scaled} "
                f"| {m['lp_error']:.2%} | {m['qp_error']:.2%} |"
            )
    yield ""
    yield (
        "Without a single tie nothing bounds the LP's margin: CompareLP then takes the direction whose smallest "
        "difference is largest with no coefficient above 1 (columns scaled to 1), the QP is RankSVM's hard margin. "
        "Test errors are of decided pairs."
    )
    yield ""
    yield "| columns | pairs | | same direction | cosine, median | test error, LP | QP |"
    yield "| --- " * 7 + "|"
    for each in records:
        if each.data == "LP and QP" and not each.params["ties"]:
            m = each.metrics
            yield (
                f"| {each.params['columns']} | {each.n_train} | {each.method} | {m['same']:.1%} | {m['cosine']:.4f} "
                f"| {m['lp_error']:.2%} | {m['qp_error']:.2%} |"
            )


def _problems_of(records: Sequence[Record]) -> int:
    return next(int(each.params["problems"]) for each in records if each.data == "LP and QP")
