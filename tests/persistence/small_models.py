"""A small fitted model of every class that a model file may hold, found through the closed list of such classes.

A class that joins the list is fitted with its defaults, by the first kind of data that it takes; what needs
parameters, or has fitted state of several kinds, has its line in ``VARIANTS``.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_selector
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import wellorder as wo
from wellorder.data import TableRanker
from wellorder.data.comparison_files import read_comparisons
from wellorder.data.roles import Roles
from wellorder.data.sheet import Sheet
from wellorder.persistence import registry
from wellorder.standings import Standings

X = 2.0 * np.sin(1.7 * np.arange(48.0) ** 2).reshape(16, 3)  # the same with every version of NumPy
Y = np.arange(16) % 3
GRAM = X @ X.T
GAPS = np.where(np.abs(X) < 0.4, np.nan, X)
LEFT, RIGHT = np.arange(15), np.arange(1, 16)
OUTCOME = np.sign(X[RIGHT, 0] - X[LEFT, 0]).astype(int) * (np.abs(X[RIGHT, 0] - X[LEFT, 0]) > 0.4)
COMPARISONS = wo.Comparisons(LEFT, RIGHT, OUTCOME)
TEXTS = ["good wine", "bad wine", "so so", "very good"] * 4
FRAME = pl.DataFrame(
    {
        "ph": [None, *X[1:, 0].tolist()],
        "acid": X[:, 1].tolist(),
        "colour": ["red", "white", None, "rosé"] * 4,
        "query": [f"q{place % 2}" for place in range(16)],
        "quality": Y.tolist(),
    }
)
SPARSE = sp.csr_array(np.where(np.arange(144) % 7 == 0, np.arange(1.0, 145.0), 0.0).reshape(16, 9))


@dataclass(frozen=True)
class Small:
    """A fitted model, and the rows that it gives answers for."""

    name: str
    model: Any
    rows: Any

    def answers(self, model: Any) -> dict[str, Any]:
        """Return what a model says of the rows, by each method that it has."""
        found = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(model, "players_"):
                names = [*range(6), "nobody"]
                found = {"rating": model.rating(names), "expected": model.expected(names, names[::-1])}
                found["update"] = model.update([0, 1], [1, 7], [1, 0]).rating(names)
                return found
            if isinstance(model, Standings):
                asked = list(model.items_[:2]), list(model.items_[1:3])
                found = {"predict": model.predict(*asked).drop("left", "right").to_numpy()}
                found["ranks"] = model.table().select("rank", "rank_low", "rank_high").to_numpy()
                for ask in (model.probability, model.needed, model.difference):  # infinite, or none, for good reasons
                    ask(*model.items_[:2])
                for show in (model.effects, model.judges, model.above, model.__repr__, model._repr_html_):
                    show()
                return found
            for method in ("decision_function", "transform", "predict", "predict_proba"):
                if not hasattr(model, method):
                    continue
                pairs = hasattr(model, "threshold_") and method.startswith("predict") and hasattr(model, "compare")
                given = wo.Pairs(self.rows, LEFT, RIGHT) if pairs else self.rows
                found[method] = getattr(model, method)(given)
        return found


VARIANTS: dict[str, list[dict[str, Any]]] = {
    "wellorder.RankSVM": [
        {},
        {"kernel": "rbf"},
        {"kernel": "poly", "degree": 2, "coef0": 1.0, "n_components": 4, "random_state": 0},
        {"kernel": "precomputed"},
        {"loss": "hinge", "order": wo.OrderGraph.chain([0, 1, 2])},
    ],
    "wellorder.SwapSVM": [{}, {"kernel": "rbf"}],
    "wellorder.SVOR": [{}, {"kernel": "rbf"}, {"thresholds": "immediate"}],
    "wellorder.ConvexHullRanker": [{}, {"kernel": "rbf"}],
    "wellorder.ProportionalOdds": [{}, {"C": np.inf}],
    "wellorder.CompareLP": [{"C": 1.0}, {"C": 1.0, "alpha": 0.01, "kernel": "rbf"}, {}],
    "wellorder.CompareSVM": [{"C": 10.0, "scale": True, "probability": True}, {"kernel": "rbf"}],
    "wellorder.OrderBoost": [
        {"n_estimators": 4, "n_iter_no_change": 3, "random_state": 0},
        {"loss": "proportional_odds", "n_estimators": 4},
        {"loss": "orboost", "n_estimators": 4},
        {"loss": "squared", "learner": "tree", "n_estimators": 3, "min_samples_leaf": 2},
        {"learner": Ridge(), "n_estimators": 2},
    ],
    "wellorder.BoostedTrees": [{"n_estimators": 3, "min_samples_leaf": 2}],
    "wellorder.RankBoost": [{"n_estimators": 4}, {"n_estimators": 4, "n_iter_no_change": 2, "random_state": 0}],
    "wellorder.MultipleHyperplaneRanker": [
        {},
        {"estimator": wo.RankBoost(n_estimators=2), "aggregate": "weighted_borda", "metric": "swapped_pairs"},
        {"pairs": "cumulative"},
    ],
    "wellorder.NestedRanker": [{}, {"keep": (8,)}],
    "wellorder.OrderEnsemble": [{"estimators": [("svm", wo.RankSVM()), ("ridge", wo.RidgeRanker())]}],
    "wellorder.PlugInRanker": [{}, {"estimator": wo.ProportionalOdds(), "order": "dcg"}],
    "wellorder.ratings.RatingRanker": [{}, {"system": wo.ratings.Elo()}],
    "wellorder.data.TableRanker": [
        {"ranker": wo.RankSVM(), "target": "quality", "group": "query"},
        {"ranker": wo.SVOR(), "target": "quality"},
    ],
    "sklearn.pipeline.Pipeline": [{"steps": [("scale", StandardScaler()), ("rank", wo.RankSVM())]}],
    "sklearn.pipeline.FeatureUnion": [{"transformer_list": [("a", StandardScaler()), ("b", MinMaxScaler())]}],
    "sklearn.compose.ColumnTransformer": [
        {"transformers": [("a", StandardScaler(), [0, 1]), ("b", OneHotEncoder(handle_unknown="ignore"), [2])]}
    ],
    "sklearn.preprocessing.OneHotEncoder": [
        {"handle_unknown": "ignore"},
        {"min_frequency": 3, "drop": "first", "handle_unknown": "ignore", "sparse_output": False},
    ],
    "sklearn.preprocessing.OrdinalEncoder": [{"handle_unknown": "use_encoded_value", "unknown_value": -1}],
    "sklearn.preprocessing.KBinsDiscretizer": [
        {"n_bins": 3, "quantile_method": "averaged_inverted_cdf"},
        {"n_bins": 3, "quantile_method": "averaged_inverted_cdf", "encode": "ordinal"},
    ],
    "sklearn.preprocessing.QuantileTransformer": [{"n_quantiles": 5}],
    "sklearn.impute.SimpleImputer": [{}, {"add_indicator": True}],
    "sklearn.impute.KNNImputer": [{"n_neighbors": 2}],
    "sklearn.impute.MissingIndicator": [{"features": "all"}],
    "sklearn.kernel_approximation.Nystroem": [{"n_components": 4, "random_state": 0}],
    "sklearn.kernel_approximation.RBFSampler": [{"n_components": 4, "random_state": 0}],
    "sklearn.decomposition.PCA": [{"n_components": 2}, {"n_components": 2, "whiten": True}],
    "sklearn.decomposition.TruncatedSVD": [{"n_components": 2, "random_state": 0}],
}
"""Parameters worth a model of their own: each kind of fitted state that a class has."""

WITHOUT_STATE = {make_column_selector}
"""On the list as a value among parameters: it is never fitted."""


def _rows_for(cls: type, params: dict[str, Any]) -> Any:
    if cls.__name__ in ("CountVectorizer", "TfidfVectorizer"):
        return TEXTS
    if cls.__name__ in ("SimpleImputer", "KNNImputer", "MissingIndicator"):
        return GAPS
    if cls.__name__ in ("OneHotEncoder", "OrdinalEncoder"):
        return np.column_stack([Y, np.arange(16) % 5, np.arange(16) // 15])
    if cls.__name__ == "TfidfTransformer":
        return np.abs(X)
    if cls.__module__.startswith("wellorder.data"):
        return FRAME
    return GRAM if params.get("kernel") == "precomputed" else X


def fit_small(cls: type, params: dict[str, Any]) -> Small:
    """Fit with the first of games, grades and comparisons that the class takes."""
    rows = _rows_for(cls, params)
    if cls is TableRanker:
        data: list[tuple[Any, ...]] = [(rows,)]
    else:
        data = [(rows, Y), (rows, COMPARISONS), (LEFT % 5, RIGHT % 5 + (LEFT % 5 == RIGHT % 5), OUTCOME)]
    for given in data:
        model: Any = cls(**params)
        with suppress(ValueError, TypeError):
            model.fit(*given)
            changed = ", ".join(f"{name}={value!s:.20}" for name, value in params.items())
            return Small(f"{cls.__name__}({changed})", model, rows)
    raise AssertionError(f"no way to fit {cls.__name__}; add its parameters to VARIANTS")


def small_models() -> list[Small]:
    """Fit a small model of every class on the list, in each of its variants."""
    classes = [cls for cls in registry.all_classes() if issubclass(cls, BaseEstimator) and cls is not Standings]
    assert {*registry.all_classes()} - {*classes} == {*WITHOUT_STATE, Standings}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            *(fit_small(cls, params) for cls in classes for params in VARIANTS.get(registry.public_name(cls), [{}])),
            *(Small(f"{type(model).__name__} ({name})", model, rows) for name, model, rows in of_other_data()),
        ]


def of_other_data() -> list[tuple[str, Any, Any]]:
    """Fit models whose state depends on the data's kind: text levels, named columns, items without features."""
    grades, named = np.array(["poor", "fair", "good"])[Y], pd.DataFrame(X, columns=["a", "b", "c"])
    levels = ["poor", "fair", "good"]
    games = pl.DataFrame({"left": list("abcda"), "right": list("bcdac"), "outcome": [1, 0, -1, 1, 1]})
    by_name = read_comparisons(Sheet((("games", 0),), games), Roles(), None)
    members = [("svm", wo.RankSVM()), ("compare", wo.CompareSVM())]
    trees = wo.BoostedTrees(n_estimators=3, min_samples_leaf=2)
    votes = wo.Comparisons(LEFT % 4, (LEFT + 1 + RIGHT % 3) % 4, OUTCOME)
    return [
        ("plain", wo.rate(votes), None),
        ("judged", wo.rate(votes, judge=np.arange(len(LEFT)) % 3, scale="elo"), None),
        *(
            (f"{type(ranker).__name__} by name", TableRanker(ranker).fit(by_name), by_name)
            for ranker in (wo.RankSVM(), wo.ratings.RatingRanker())
        ),
        ("text levels", wo.RankSVM(levels=levels).fit(X, grades), X),
        ("text classes", wo.SVOR(levels=levels).fit(X, grades), X),
        ("trees with gaps", wo.OrderBoost(learner="tree", n_estimators=2, min_samples_leaf=2).fit(GAPS, Y), GAPS),
        ("rises", wo.OrderBoost(n_estimators=3, monotone={0: 1}).fit(X, Y), X),
        ("trees of names", TableRanker(trees, target="quality").fit(FRAME), FRAME),
        ("wide", wo.data.TableEncoder().fit(SPARSE), SPARSE),
        ("compared", wo.OrderEnsemble(members).fit(X, COMPARISONS), X),
        ("names", wo.RankSVM().fit(named, Y), named),
        ("chain", wo.PlugInRanker(LogisticRegression(), order="chain").fit(X, Y), X),
    ]
