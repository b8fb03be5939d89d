"""Estimators and metrics: small random problems, held to the slow references and to what every model keeps."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.estimators.quick import COMPARED, GRADED, make
from tests.estimators.test_ranker_contract import REASONS, score
from tests.metrics import test_metric_contract as contract
from tests.reference import compare_svm, pairs as listed, proportional_odds, rank_svm

import wellorder as wo
from wellorder.losses import LOSSES, risk_at
from wellorder.metrics import METRICS, parse
from wellorder.sweeps import dispatch

from .target import Case, Target

PROPERTIES = ("bits", "file", "permutation", "repetition")
STEPWISE = ("NestedRanker", "OrderBoost", "RankBoost", "BestFeature", "MultipleHyperplaneRanker")
"""Of steps, cuts or ranks that are equally good but for rounding, these take one: their scores jump."""
KEPT_BY_OBJECTIVE = 1e-3
"""How far two minima of one problem may lie apart, as a part of their value."""


def draw(random: Random) -> Case:
    """Draw what is asked of what, and a seed for the numbers."""
    seed = random.randrange(2**32)
    match random.randrange(10):
        case 0 | 1 | 2:
            return {"asked": "metric", "of": random.choice([*contract.NAMES, *contract.MORE[:3]]), "seed": seed}
        case 3 | 4:
            return {"asked": "sums", "of": random.choice(list(LOSSES)), "seed": seed}
        case 5 | 6:
            return {"asked": "optimum", "of": random.choice(list(_OPTIMA)), "seed": seed}
        case _:
            return {"asked": random.choice(PROPERTIES), "of": random.choice([*GRADED, *COMPARED]), "seed": seed}


def problem(seed: int) -> tuple[np.random.Generator, Any, Any, Any, Any]:
    """Draw a few rows with ties in their columns, grades, groups and whole weights."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 24)), int(rng.integers(1, 4))
    X = np.round(rng.standard_normal((n, d)), int(rng.integers(0, 4)))
    y = rng.integers(0, rng.integers(2, 6), n)
    y[:2] = 0, 1
    group = rng.integers(0, rng.integers(1, 4), n)
    group[:2] = 0
    return rng, X, y, group, rng.integers(1, 4, n)


def run(case: Case) -> str:
    """Try it, in either form of the sweeps."""
    kept = dispatch.COMPILED_FROM
    dispatch.COMPILED_FROM = 10**12 if case["seed"] % 2 else 0
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return {"metric": _metric, "sums": _sums, "optimum": _optimum}.get(case["asked"], _property)(case)
    finally:
        dispatch.COMPILED_FROM = kept


def _metric(case: Case) -> str:
    rng, metric = np.random.default_rng(case["seed"]), parse(case["of"])
    if metric.definition.name not in METRICS or "(" in case["of"]:
        return "skipped"
    y, scores, group = contract.graded(rng)
    twin = contract.twin_of(metric.definition)
    contract.agree(metric, contract.quietly(metric, y, scores, group), twin(y, scores, group, **contract.cut(metric)))
    return "metric"


def _sums(case: Case) -> str:
    rng, _, y, group, weight = problem(case["seed"])
    scores = np.round(rng.standard_normal(len(y)), 1)
    order = rng.choice(["full", "chain", "linear", "dcg"])
    grades = wo.Grades(y, group, str(order), weight.astype(float))
    pairs = listed.list_pairs(grades.level, group, weight, grades.graph.weights)
    found = risk_at(LOSSES[case["of"]], scores, grades.pairs)
    value, slope = listed.risk(case["of"], pairs, scores), listed.gradient(case["of"], pairs, scores)
    size = 1.0 + sum(w for _, _, w in pairs) * 10.0
    np.testing.assert_allclose(found.value, value, rtol=1e-9, atol=1e-9 * size)
    np.testing.assert_allclose(found.gradient, slope, rtol=1e-9, atol=1e-9 * size)
    return "sums"


def _games(rng: np.random.Generator, n: int) -> wo.Comparisons:
    m = int(rng.integers(4, 30))
    left = rng.integers(0, n, m)
    return wo.Comparisons(left, (left + rng.integers(1, n, m)) % n, np.append([1, -1, 1], rng.integers(-1, 2, m - 3)))


def _optimum(case: Case) -> str:
    """No point is better: neither that of a general minimiser, nor one nearby."""
    rng, X, y, group, weight = problem(case["seed"])
    C = float(rng.choice([0.01, 0.3, 3.0, 100.0]))
    try:
        reached, at, best = _OPTIMA[case["of"]](rng, X, y, group, weight, C)
    except NothingToLearnError:
        return "nothing to learn"
    np.testing.assert_allclose(reached, at, rtol=1e-6, atol=1e-9)
    if not reached <= best * (1 + 1e-4) + 1e-9:
        raise AssertionError(f"{case['of']}: {reached} is above {best}")
    return "optimum"


class NothingToLearnError(Exception):
    """A problem without a pair, or without anything that tells ties from wins."""


def _of_rank_svm(rng: Any, X: Any, y: Any, group: Any, weight: Any, C: float) -> tuple[float, float, float]:
    """Return the objective that was reached, the same by the reference, and the least that the reference finds."""
    grades = wo.Grades(y, group, str(rng.choice(["full", "chain", "linear"])))
    loss = str(rng.choice(["squared_hinge", "logistic"]))
    pairs = listed.list_pairs(grades.level, group, weight, grades.graph.weights)
    if not pairs:
        raise NothingToLearnError
    model = wo.RankSVM(C=C, loss=loss, order=grades.graph, tol=1e-8).fit(X, y, groups=group, sample_weight=weight)
    mass = sum(weight[row] for row in {row for i, j, _ in pairs for row in (i, j)})
    best, _ = rank_svm.minimise(X, pairs, weight, C, loss)
    return model.objective_, rank_svm.objective(model.coef_, X, pairs, mass, C, loss)[0], best


def _of_compare_svm(rng: Any, X: Any, y: Any, group: Any, weight: Any, C: float) -> tuple[float, float, float]:
    games = _games(rng, len(X))
    loss = str(rng.choice(["squared_hinge", "logistic"]))
    model = wo.CompareSVM(C, loss=loss, tol=1e-10).fit(wo.Pairs(X, games.left, games.right), games.outcome)
    ones = np.ones(len(games.outcome))

    def objective(at: Any) -> float:
        scores = X @ at[1:]
        told = compare_svm.risk_at(loss, scores, games.left, games.right, games.outcome, ones, at[0])
        return float(0.5 * at[1:] @ at[1:] + C * told)

    if model.bias_ >= 0:  # its threshold would be none: another is taken, and said so
        raise NothingToLearnError
    here = np.append(model.bias_, -model.bias_ * model.coef_)
    steps = rng.standard_normal((20, len(here))) * 10.0 ** -rng.integers(0, 5)
    return model.objective_, objective(here), min(objective(here + step) for step in steps)


def _of_proportional_odds(rng: Any, X: Any, y: Any, group: Any, weight: Any, C: float) -> tuple[float, float, float]:
    model = wo.ProportionalOdds(C=C, tol=1e-12).fit(X, y, sample_weight=weight)
    _, level = np.unique(y, return_inverse=True)

    def likelihood(w: Any) -> float:
        return float(0.5 * w @ w + C * proportional_odds.risk(X @ w, model.thresholds_, level, weight))

    steps = rng.standard_normal((20, X.shape[1])) * 10.0 ** -rng.integers(0, 5)
    nearby = min(likelihood(model.coef_ + step) for step in steps)
    return model.objective_, likelihood(model.coef_), nearby


_OPTIMA = {"RankSVM": _of_rank_svm, "CompareSVM": _of_compare_svm, "ProportionalOdds": _of_proportional_odds}


def _property(case: Case) -> str:
    name, asked = case["of"], case["asked"]
    rng, X, y, group, weight = problem(case["seed"])
    try:
        if name in COMPARED:
            games = _games(rng, len(X))
            return _same(name, asked, lambda model: model.fit(X, games), X)
        if asked in ("bits", "file"):
            return _same(name, asked, lambda model: model.fit(X, y, groups=group, sample_weight=weight), X)
        if name in REASONS.get(asked, {}) or name in STEPWISE:
            return "skipped"
        options = (
            {"ties": "breslow"} if name == "CoxRanker" else {}
        )  # Efron's rule counts tied rows, whatever they weigh
        plain = make(name, **options).fit(X, y, groups=group, sample_weight=weight.astype(float))
        if asked == "permutation":
            place = rng.permutation(len(y))
            other = make(name, **options).fit(
                X[place], y[place], groups=group[place], sample_weight=weight[place].astype(float)
            )
        else:
            other = make(name, **options).fit(
                *(np.repeat(part, weight, axis=0) for part in (X, y)), groups=np.repeat(group, weight)
            )
    except ValueError as error:
        if "nothing to learn" in str(error) or "no pair" in str(error) or "separable" in str(error):
            return "nothing to learn"
        raise
    _alike(plain, other, X, group)
    return asked


def _same(name: str, asked: str, fit: Any, X: Any) -> str:
    first = fit(make(name))
    if asked == "file":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "m.wo")
            wo.save(first, path)
            second = wo.load(path)
    else:
        second = fit(make(name))
    np.testing.assert_array_equal(score(first, X), score(second, X))
    return "file" if asked == "file" else "bits"


def _alike(one: Any, other: Any, X: Any, group: Any) -> None:
    """Two minima of one problem are as low as each other, or the scores are the same."""
    if hasattr(one, "objective_") and np.isfinite(one.objective_):
        np.testing.assert_allclose(one.objective_, other.objective_, rtol=KEPT_BY_OBJECTIVE, atol=1e-9)
        return
    a, b = score(one, X, group), score(other, X, group)
    np.testing.assert_allclose(a, b, atol=0.02 * max(float(np.std(a)), 1e-9))


ESTIMATORS = Target("estimators", 0.1, draw, run)
