"""Leaderboards to render: a real one from quick fits on scikit-learn's diabetes data, and made ones for the edges."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cache

import numpy as np
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from threadpoolctl import threadpool_limits

import wellorder as wo
from wellorder.evaluation.doctor import Finding, Health
from wellorder.evaluation.judging import bin_grades, comparison_roc_curve, ndcg_curve, swap_table
from wellorder.evaluation.leaderboard import Leaderboard, LeftOut, Protocol, Standing
from wellorder.evaluation.records import Curve, Record, SwapTable

LEVELS = ("none", "slight", "moderate", "strong", "severe")

CODE = """import wellorder as wo

patients = wo.read("diabetes.csv", target="progression")
board = wo.compare(patients, metric="swapped_pairs", folds=5, repeats=2, seed=0)
board.report("report.html")"""

PROTOCOL = Protocol(
    split_by="rows",
    n_folds=5,
    n_repeats=2,
    inner_folds=3,
    seed=0,
    metric="swapped_pairs",
    metrics=("swapped_pairs", "ndcg@10", "kendall_tau"),
    versions=(("wellorder", "0.1.0"), ("numpy", "2.4.1"), ("scikit-learn", "1.8.0")),
    code=CODE,
)

HEALTH = Health(
    source="diabetes.csv",
    facts=(
        ("rows", "442"),
        ("features", "10"),
        ("grades", "5"),
        ("pairs", "77,892"),
        ("unjudged", "0"),
        ("groups", "1"),
    ),
    findings=(
        Finding("warning", "Columns s1 and s2 say nearly the same (correlation 0.90).", "Read their weights together."),
        Finding("note", "Column sex has two values only.", ""),
        Finding("note", "12 pairs of rows agree in every feature but not in the grade.", "No method can order them."),
    ),
    levels=(("none", 89), ("slight", 88), ("moderate", 88), ("strong", 88), ("severe", 89)),
)


class BestFeature:
    """Order by the one column that orders the training part best."""

    def fit(self, X, y):
        correlation = [stats.kendalltau(column, y).statistic for column in X.T]
        self.column = int(np.argmax(np.abs(correlation)))
        self.sign = np.sign(correlation[self.column])
        return self

    def predict(self, X):
        return self.sign * X[:, self.column]


class Random:
    def fit(self, X, y):
        self.rng = np.random.default_rng(len(X) + int(y.sum()))
        return self

    def predict(self, X):
        return self.rng.standard_normal(len(X))


METHODS = {
    # at C = 0.01 it leads ridge by more than its tolerance
    "rank-svm": (lambda: wo.RankSVM(C=0.01), "large-margin ranker over every pair", {"C": 0.01}, False),
    "rank-svm-rbf": (
        lambda: wo.RankSVM(kernel="rbf", C=1.0, gamma=0.02),
        "the same in a Gaussian kernel's space",
        {"C": 1.0, "gamma": 0.02},
        False,
    ),
    "rank-svm-herbrich": (
        lambda: wo.RankSVM(C=0.1, pairs_per_item=5, random_state=0),
        "five drawn pairs a row",
        {"C": 0.1, "pairs_per_item": 5},
        False,
    ),
    "ridge": (lambda: Ridge(alpha=10.0), "linear regression on the grades", {"alpha": 10.0}, True),
    "tree": (
        lambda: DecisionTreeRegressor(min_samples_leaf=20, random_state=0),
        "one regression tree on the grades",
        {"min_samples_leaf": 20, "max_depth": None},
        False,
    ),
    "best-feature": (BestFeature, "the single best column", {}, True),
    "random": (Random, "no order at all", {}, True),
}


@cache
@threadpool_limits.wrap(limits=1)  # the fits are tiny: threads would only wait for each other
def diabetes_records() -> tuple[Record, ...]:
    data = load_diabetes()
    grade = np.searchsorted(np.quantile(data.target, [0.2, 0.4, 0.6, 0.8]), data.target)
    named = bin_grades(grade)
    bins = replace(named, labels=LEVELS)
    records = []
    for repeat in range(2):
        folds = StratifiedKFold(5, shuffle=True, random_state=repeat).split(data.data, grade)
        for fold, (train, test) in enumerate(folds):
            scale = StandardScaler().fit(data.data[train])
            X, held_out = scale.transform(data.data[train]), scale.transform(data.data[test])
            for method, (make, _, params, _) in METHODS.items():
                began = time.perf_counter()
                model = make().fit(X, grade[train])
                seconds = time.perf_counter() - began
                scores, coef = model.predict(held_out), getattr(model, "coef_", None)
                records.append(
                    Record(
                        key=f"{method}/{repeat}/{fold}",
                        data="diabetes.csv",
                        method=method,
                        repeat=repeat,
                        fold=fold,
                        seed=0,
                        n_train=len(train),
                        n_test=len(test),
                        metrics={name: wo.metrics.parse(name)(grade[test], scores) for name in PROTOCOL.metrics},
                        params=params,
                        search_seconds=9 * seconds,
                        fit_seconds=seconds,
                        swaps=swap_table(bins.take(test), scores),
                        curve=ndcg_curve(grade[test], scores),
                        weights=None if coef is None else tuple(np.ravel(coef).tolist()),
                        features=None if coef is None else tuple(data.feature_names),
                    )
                )
    return tuple(records)


def standings_of(records, protocol, greater=False, baselines=(), about=None):
    """Sum records up: means, corrected intervals, corrected paired tests against the leader with Holm."""
    methods = list(dict.fromkeys(record.method for record in records))
    values = {m: np.array([r.metrics[protocol.metric] for r in records if r.method == m]) for m in methods}
    methods.sort(key=lambda m: np.inf if np.isnan(values[m].mean()) else values[m].mean() * (-1 if greater else 1))
    inflate = 1 / max(1, len(values[methods[0]])) + 1 / max(1, protocol.n_folds - 1)

    def half_width(sample):
        if len(sample) < 2:
            return math.nan
        return float(stats.t.ppf(0.975, len(sample) - 1) * np.sqrt(inflate * sample.var(ddof=1)))

    def p_value(method):
        gap = values[method] - values[methods[0]]
        if len(gap) < 2 or gap.std() == 0:
            return math.nan
        return float(2 * stats.t.sf(abs(gap.mean()) / np.sqrt(inflate * gap.var(ddof=1)), len(gap) - 1))

    raw = {m: p_value(m) for m in methods[1:]}
    holm, running = {}, 0.0
    for place, m in enumerate(sorted(raw, key=raw.get)):
        running = max(running, min(1.0, raw[m] * (len(raw) - place)))
        holm[m] = running if not math.isnan(raw[m]) else math.nan
    out = []
    for m in methods:
        mine = [r for r in records if r.method == m]
        mean, half = float(values[m].mean()), half_width(values[m])
        out.append(
            Standing(
                method=m,
                about=(about or {}).get(m, ""),
                is_baseline=m in baselines,
                n_splits=len(mine),
                mean=mean,
                low=mean - half,
                high=mean + half,
                metrics={name: float(np.mean([r.metrics[name] for r in mine])) for name in protocol.metrics},
                p_value=holm.get(m),
                search_seconds=float(np.mean([r.search_seconds for r in mine])),
                fit_seconds=float(np.mean([r.fit_seconds for r in mine])),
                params=mine[0].params,
            )
        )
    return tuple(out)


@cache
def diabetes() -> Leaderboard:
    """Seven methods on ten splits of real data."""
    records = diabetes_records()
    baselines = {method for method, (_, _, _, is_baseline) in METHODS.items() if is_baseline}
    about = {method: words for method, (_, words, _, _) in METHODS.items()}
    return Leaderboard(
        data="diabetes.csv",
        greater_is_better=False,
        standings=standings_of(records, PROTOCOL, baselines=baselines, about=about),
        left_out=(LeftOut("svor", "its search would take longer than the time that was left"),),
        records=records,
        protocol=PROTOCOL,
        health=HEALTH,
    )


def made_records(methods, n_splits=4, metric="swapped_pairs", curve=None, swaps=None, weights=None, features=None):
    """Invent records: the methods a little worse each, with a little noise."""
    rng = np.random.default_rng(0)
    return tuple(
        Record(
            key=f"{method}/{split}",
            data="made",
            method=method,
            repeat=0,
            fold=split,
            seed=0,
            n_train=90,
            n_test=30,
            metrics={metric: float(0.2 + 0.01 * place + 0.005 * rng.standard_normal())},
            fit_seconds=0.01,
            curve=curve,
            swaps=swaps,
            weights=weights,
            features=features,
        )
        for place, method in enumerate(methods)
        for split in range(n_splits)
    )


def made(methods=("rank-svm", "ridge"), n_splits=4, metric="swapped_pairs", greater=False, split_by="rows", **parts):
    """A small leaderboard of invented records; parts such as ``curve=`` go to each of them."""
    records = made_records(methods, n_splits, metric, **parts)
    protocol = Protocol(split_by, n_splits, 1, 3, 0, metric, (metric,))
    return Leaderboard("made", greater, standings_of(records, protocol, greater), (), records, protocol)


def comparisons() -> Leaderboard:
    """Comparisons with ties: an ROC curve in place of grades."""
    rng = np.random.default_rng(1)
    outcome = rng.integers(-1, 2, 400)
    curve = comparison_roc_curve(outcome, outcome + rng.standard_normal(400))
    return made(("compare-svm", "davidson"), metric="comparison_error", split_by="pairs", curve=curve)


def many_levels() -> Leaderboard:
    """Ten grades as they are."""
    rng = np.random.default_rng(2)
    grade = rng.integers(0, 10, 500)
    return made(swaps=swap_table(grade, grade + 3 * rng.standard_normal(500)))


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "$x_1$ & $\\frac{1}{2}$",
    "_hidden_",
    "名前 имя اسم 😀",
    "a" * 300,
    "tab\tline\nbell\x07nul\x00 \u202eturned",
)


def hostile() -> Leaderboard:
    """Names that try to break out, everywhere that a name can stand."""
    n = len(HOSTILE)
    swaps = SwapTable(HOSTILE, ((1.0,) * n,) * n, tuple((0.0,) * (a + 1) + (2.0,) * (n - a - 1) for a in range(n)))
    curve = Curve("ndcg", (1.0, 2.0, 3.0), (0.5, 0.6, 0.7))
    board = made(HOSTILE, swaps=swaps, curve=curve, weights=tuple(range(1, n + 1)), features=HOSTILE)
    evil = HOSTILE[0]
    standings = tuple(replace(each, about=evil, params={evil: evil}) for each in board.standings)
    return replace(
        board,
        data=evil,
        standings=standings,
        left_out=(LeftOut(evil, evil),),
        records=(
            *board.records,
            replace(board.records[0], key="x", problem=evil, notes=(evil,), metrics={"swapped_pairs": math.nan}),
        ),
        protocol=replace(
            board.protocol, split_by=evil, versions=((evil, evil),), code=evil, metrics=("swapped_pairs", evil)
        ),
        health=Health(evil, ((evil, evil),), (Finding("problem", evil, evil),), ((evil, 3), (HOSTILE[1], 0))),
    )
