"""From a fitted model to its form: what each estimator has left behind it, by its public, fitted attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..data import TableEncoder, TableRanker
from ..estimators import (
    SVOR,
    BestFeature,
    BoostedTrees,
    CompareLP,
    CompareSVM,
    CoxRanker,
    KernelModel,
    MultipleHyperplaneRanker,
    NestedRanker,
    OrderBoost,
    OrderEnsemble,
    PlugInRanker,
    ProportionalOdds,
    RankBoost,
    RidgeRanker,
    ThresholdCompare,
)
from ..ratings import Davidson, Elo, RatingRanker, RatingSystem
from ..scoring import list_scores
from ..standings import Standings
from ..sweeps import Array, Floats
from .forms import (
    BumpSum,
    Chances,
    Cumulative,
    ExportError,
    Feature,
    Form,
    GradeRule,
    InputColumn,
    KernelSum,
    Linear,
    Move,
    PairRule,
    PlugIn,
    Rated,
    Score,
    Softmax,
    StepSum,
    Sum,
    Term,
    Trees,
    compose,
    leaves,
    prepared,
    prepared_chances,
)

_LISTS = "its scores depend on the list that a row stands in, and are no function of the row"
_ROW_BY_ROW = (
    "take a model that scores row by row, as RankSVM or OrderBoost do; to='mlflow' keeps the model itself, to be "
    "called with whole lists"
)


def form_of(model: Any) -> Form:
    """Return what a fitted model computes.

    Parameters
    ----------
    model : estimator
        Fitted: one of wellorder's, a scikit-learn pipeline or search around one, or standings.

    Raises
    ------
    ExportError
        If it is no function of single rows in plain numbers; the message says why, and what comes near it.
    """
    if hasattr(model, "best_estimator_"):
        return form_of(model.best_estimator_)
    if not isinstance(model, Standings):
        check_is_fitted(model)
    if isinstance(model, TableRanker):
        return _of_table(model)
    if isinstance(model, Standings):
        return _of_standings(model)
    if isinstance(model, RatingRanker):
        raise ExportError("its items are numbered rows without names; fit it to a file of votes, or use wellorder.rate")
    width, names = _columns_of(model), getattr(model, "feature_names_in_", None)
    columns = tuple(
        InputColumn(f"x{place}" if names is None else str(names[place]), "number", place) for place in range(width)
    )
    return _form(columns, width, False, model, ())


def _columns_of(model: Any) -> int:
    """Return how many columns a model takes, or say that it takes none."""
    if isinstance(model, RatingSystem):
        raise ExportError(
            f"{type(model).__name__} rates players game by game, and is no model of items; have wellorder.rate rate "
            "the votes, or a table of them be learned by TableRanker(RatingRanker(…)), both of which go by name"
        )
    if not hasattr(model, "n_features_in_"):
        raise ExportError(f"{type(model).__name__} {_UNKNOWN}")
    return int(model.n_features_in_)


_UNKNOWN = "is none of wellorder's models, and nothing is known of how it scores; its own makers' tools may export it"


def form_or_columns(model: Any) -> Form:
    """Return a model's form; where it has none, one of the columns that it takes, whose scores are all zero."""
    try:
        return form_of(model)
    except ExportError:
        pass
    if hasattr(model, "best_estimator_"):
        return form_or_columns(model.best_estimator_)
    if isinstance(model, TableRanker) and model.encoder_ is not None:
        encoder, features = model.encoder_, tuple(encoded(model.encoder_))
        columns, width = _table_columns(encoder), int(encoder.n_features_in_)
        named = encoder.layout_ == "columns"
    else:
        width, named = _columns_of(model), False
        columns = tuple(InputColumn(f"x{place}", "number", place) for place in range(width))
        features = tuple(Feature(place) for place in range(width))
    return Form(columns, width, named, Term(features, Linear(np.zeros(len(features)))))


def _form(columns: tuple[InputColumn, ...], width: int, named: bool, model: Any, features: Sequence[Feature]) -> Form:
    """Return the form of a model of rows, behind the features that an encoder makes of the columns."""
    score, grades, rule = _score(model), _grades(model), _pair_rule(model)
    if features:
        score = prepared(score, features)
        if grades is not None and grades.chances is not None:
            chances = prepared_chances(grades.chances, features)
            grades = GradeRule(grades.labels, grades.cuts, chances, grades.likeliest)
    return Form(columns, width, named, score, _takes_missing(score), grades, rule)


def _takes_missing(score: Score) -> bool:
    """Say whether a missing value in any column has a meaning."""
    found = leaves(score)
    return bool(found) and all(map(_leaf_takes_missing, found))


def _leaf_takes_missing(leaf: Term | Softmax) -> bool:
    function = leaf.function if isinstance(leaf, Term) else None
    if isinstance(function, StepSum) or (isinstance(function, Trees) and function.takes_missing):
        return True
    return all(
        feature.kind in ("missing", "category") or any(step.kind == "fill" for step in feature.steps)
        for feature in leaf.features
    )


# --------------------------------------------------------------------------------------------------
# Scores of rows of numbers.


def _score(model: Any) -> Score:
    """Return the score of a row of numbers."""
    match model:
        case Pipeline():
            *before, last = [step for _, step in model.steps]
            return prepared(_score(last), _transformed(before, _width(model))) if before else _score(last)
        case ThresholdCompare():
            return _score(model.estimator_)
        case MultipleHyperplaneRanker() | NestedRanker():
            raise ExportError(f"{type(model).__name__} ranks lists: {_LISTS}; {_ROW_BY_ROW}")
        case OrderEnsemble():
            return _ensemble(model)
        case KernelModel():
            return _kernel_model(model)
        case PlugInRanker():
            return _plug_in(model)
        case ProportionalOdds() | BestFeature() | RidgeRanker() | CoxRanker():
            return _plain(Linear(np.asarray(model.coef_, dtype=float)))
        case LinearRegression() | Ridge():
            weights = np.asarray(model.coef_, dtype=float).reshape(-1)
            return _plain(Linear(weights), float(np.ravel(model.intercept_)[0]))
        case OrderBoost():
            return _boosted(model)
        case BoostedTrees():
            return _trees(model)
        case RankBoost():
            parts = {name: np.asarray(part) for name, part in model.pieces_.items()}
            return _plain(StepSum(parts["feature"], parts["threshold"], parts["weight"]), width=_width(model))
    raise ExportError(f"{type(model).__name__} {_UNKNOWN}")


def _width(model: Any) -> int:
    return int(model.n_features_in_)


def _plain(function: Any, constant: float = 0.0, width: int | None = None) -> Term:
    """Return a function of the columns as they are."""
    n = len(function.weights) if width is None else width
    return Term(tuple(Feature(place) for place in range(n)), function, constant)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=float)


def _kernel_model(model: Any) -> Score:
    """Return a linear function, or a sum of kernels; of standardised items where the model does that itself."""
    width = _width(model)
    if callable(model.kernel) or model.kernel == "precomputed":
        what = "a kernel of your own" if callable(model.kernel) else "a precomputed kernel"
        raise ExportError(
            f"{type(model).__name__} has {what}, which no file can hold; use kernel='rbf', 'poly' or 'linear'"
        )
    if isinstance(model, CompareLP) and not (hasattr(model, "coef_") or hasattr(model, "dual_coef_")):
        raise ExportError("the comparisons are not separable, and CompareLP has no direction; give it C=1.0")
    if model.kernel == "linear" and model.n_components is None:
        score: Score = _plain(Linear(np.asarray(model.coef_, dtype=float)))
    else:
        if model.n_components is not None:
            rows = model.landmarks_
            weights = np.asarray(model.landmark_root_, dtype=float) @ np.asarray(model.coef_, dtype=float)
        else:
            rows, weights = model.support_vectors_, np.asarray(model.dual_coef_, dtype=float)
        told = {"gamma": float(model.gamma_), "degree": float(model.degree), "coef0": float(model.coef0)}
        score = _plain(KernelSum(model.kernel, _dense(rows), weights, **told), width=width)
    if isinstance(model, CompareSVM) and model.scale:
        moved = zip(model.item_mean_.tolist(), model.item_scale_.tolist(), strict=True)
        return prepared(score, [_standardised(k, mean, scale) for k, (mean, scale) in enumerate(moved)])
    return score


def _standardised(column: int, mean: float, scale: float) -> Feature:
    return Feature(column, steps=(Move("minus", mean), Move("over", scale)))


def _boosted(model: Any) -> Score:
    if not isinstance(model.learner, str):
        parts = tuple(_learner(each) for each in model.learners_)
        return Sum(parts, tuple(map(float, model.learner_weights_)), float(model.constant_))
    if model.learner == "tree":
        return _trees(model)
    part = {name: np.asarray(array) for name, array in model.pieces_.items()}
    bumps = BumpSum(
        mean=part["mean"],
        scale=part["scale"],
        low=part["low"],
        high=part["high"],
        width=float(part["width"][0]),
        feature=part["feature"],
        centre=part["centre"],
        weight=part["weight"],
        rises=part.get("sign", np.zeros(len(part["mean"]), np.int64))[part["feature"]] != 0,
    )
    return _plain(bumps, float(model.constant_), _width(model))


def _learner(learner: Any) -> Score:
    if isinstance(learner, LinearRegression | Ridge):
        return _score(learner)
    raise ExportError(
        f"OrderBoost's own learner is a {type(learner).__name__}, of which nothing is known but its predictions; use "
        "learner='tree' or 'gaussian'"
    )


def _trees(model: Any) -> Term:
    """Return trees; columns of categories become the places of their values, which the trees know them by."""
    part = {name: np.asarray(array) for name, array in model.pieces_.items()}
    n = len(part["feature"])
    size = part.get("set_size", np.zeros(n, np.int32)).astype(np.int64)
    trees = Trees(
        feature=part["feature"],
        threshold=part["threshold"],
        left=part["left"],
        right=part["right"],
        value=part["value"],
        roots=part["roots"],
        missing_left=part.get("missing_left", np.zeros(n, bool)),
        set_size=size,
        set_begin=np.cumsum(size) - size,
        member=part.get("member", np.zeros(0, bool)),
        takes_missing="missing_left" in part,
    )
    known = getattr(model, "categories_", {})
    features = tuple(
        Feature(place, "code", tuple(known[place].tolist())) if place in known else Feature(place)
        for place in range(_width(model))
    )
    return Term(features, trees, float(model.constant_))


def _ensemble(model: Any) -> Score:
    if model.combine != "scores":
        raise ExportError(f"OrderEnsemble adds up places in the list (combine='borda'): {_LISTS}; use combine='scores'")
    own = [float(model.weights_[model.names_.index(name)]) / float(scale) for name, scale in model.scales_.items()]
    return Sum(tuple(_score(member) for member in model.rankers_.values()), tuple(own))


def _plug_in(model: Any) -> PlugIn:
    gain, weight = np.asarray(model.gain_, dtype=float), np.asarray(model.weight_, dtype=float)
    counted = weight > 0
    bounded = bool((~counted & (gain != 0)).any())
    scale = gain[counted] / weight[counted]
    middle = 0.0 if bounded else 0.5 * float(scale.min() + scale.max())
    return PlugIn(_chances(model.estimator_), gain, weight, bounded, middle)


def _chances(classifier: Any) -> Chances:
    """Return the class probabilities of a classifier."""
    match classifier:
        case Pipeline():
            *before, last = [step for _, step in classifier.steps]
            return prepared_chances(_chances(last), _transformed(before, _width(classifier)))
        case LogisticRegression():
            weights, constants = np.asarray(classifier.coef_, float), np.asarray(classifier.intercept_, float)
            if len(classifier.classes_) == 2:
                weights = np.vstack([np.zeros_like(weights), weights])
                constants = np.append(0.0, constants)
            return Softmax(tuple(Feature(place) for place in range(weights.shape[1])), weights, constants)
        case ProportionalOdds():
            return _levels(classifier)
        case OrderBoost(loss="proportional_odds"):
            return _levels(classifier)
    raise ExportError(
        f"the probabilities are a {type(classifier).__name__}'s, of which nothing is known; LogisticRegression and "
        "ProportionalOdds can be exported"
    )


def _levels(model: Any) -> Cumulative:
    return Cumulative(_score(model), np.asarray(model.thresholds_, dtype=float))


# --------------------------------------------------------------------------------------------------
# Grades, and pairs.


def _grades(model: Any) -> GradeRule | None:
    match model:
        case Pipeline():
            *before, last = [step for _, step in model.steps]
            found = _grades(last)
            if found is None or found.chances is None or not before:
                return found
            chances = prepared_chances(found.chances, _transformed(before, _width(model)))
            return GradeRule(found.labels, found.cuts, chances, found.likeliest)
        case ProportionalOdds():
            return GradeRule(_labels(model.classes_), None, _levels(model), likeliest=True)
        case PlugInRanker():
            return GradeRule(_labels(model.classes_), None, _chances(model.estimator_))
        case SVOR() | OrderBoost(loss="orboost") | OrderBoost(loss="proportional_odds"):
            cuts = np.sort(np.asarray(model.thresholds_, dtype=float))
            of_odds = isinstance(model, OrderBoost) and model.loss == "proportional_odds"
            return GradeRule(_labels(model.classes_), cuts, _levels(model) if of_odds else None)
    return None


def _labels(classes: Array) -> tuple[Any, ...]:
    return tuple(classes.tolist())


def _pair_rule(model: Any) -> PairRule | None:
    match model:
        case Pipeline():
            return _pair_rule(model.steps[-1][1])
        case CompareSVM() if hasattr(model, "calibration_"):
            slope, ties = model.calibration_
            return PairRule(float(model.threshold_), slope=float(slope), ties=(float(ties),))
        case CompareSVM() | CompareLP() | ThresholdCompare() | OrderEnsemble() if hasattr(model, "threshold_"):
            return PairRule(float(model.threshold_))
        case RatingRanker():
            return _rating_rule(model)
    return None


def _rating_rule(model: RatingRanker) -> PairRule:
    threshold, advantage, system = float(model.threshold_), float(model.advantage_), model.system_
    if isinstance(system, Davidson):
        return PairRule(threshold, advantage, 1.0, -advantage, (float(system.ties_),))
    if isinstance(system, Elo) and hasattr(model, "probabilities"):
        found = system.calibration_
        slope = math.log(10.0) / 400.0 * float(found.slope)
        given = 0.0 if isinstance(system.advantage, str) else float(system.advantage)
        return PairRule(threshold, advantage, slope, -slope * given - float(found.side), (float(found.ties),))
    return PairRule(threshold, advantage)  # Glickman's probabilities depend on how uncertain two ratings are


# --------------------------------------------------------------------------------------------------
# Steps of scikit-learn's pipelines.


def _transformed(steps: Sequence[Any], width: int) -> list[Feature]:
    """Return the features that transformers make of columns of numbers, one after the other."""
    features = [Feature(place) for place in range(width)]
    for step in steps:
        if step in (None, "passthrough"):
            continue
        made = _transform(step, len(features))
        features = list(compose(made, features))
    return features


def _transform(step: Any, width: int) -> list[Feature]:
    """Return what one transformer makes of its columns."""
    every = range(width)
    match step:
        case StandardScaler():
            centre = np.zeros(width) if step.mean_ is None or not step.with_mean else step.mean_
            return _affine(every, ("minus", centre), ("over", step.scale_ if step.with_std else None))
        case RobustScaler():
            return _affine(every, ("minus", step.center_), ("over", step.scale_))
        case MaxAbsScaler():
            return _affine(every, ("over", step.scale_))
        case MinMaxScaler():
            ends = [("at_least", step.feature_range[0]), ("at_most", step.feature_range[1])] if step.clip else []
            clip = [(kind, np.full(width, float(end))) for kind, end in ends]
            return _affine(every, ("times", step.scale_), ("plus", step.min_), *clip)
        case SimpleImputer() if isinstance(step.missing_values, float) and np.isnan(step.missing_values):
            filled = [
                Feature(k, steps=(Move("fill", float(fill)),))
                for k, fill in enumerate(step.statistics_)
                if fill == fill
            ]
            told = [] if step.indicator_ is None else step.indicator_.features_.tolist()
            return filled + [Feature(k, "missing") for k in told]
    raise ExportError(
        f"the pipeline's step {type(step).__name__} cannot be written down; StandardScaler, RobustScaler, "
        "MinMaxScaler, MaxAbsScaler and SimpleImputer can, as can the encoder of a table (wellorder.data.TableRanker)"
    )


def _affine(columns: Sequence[int], *moves: tuple[Any, Any]) -> list[Feature]:
    kept = [(kind, np.asarray(values, dtype=float)) for kind, values in moves if values is not None]
    return [Feature(k, steps=tuple(Move(kind, float(values[k])) for kind, values in kept)) for k in columns]


# --------------------------------------------------------------------------------------------------
# Models of tables, and of names.


def _of_table(model: TableRanker) -> Form:
    if model.encoder_ is None:
        names = tuple(model.items_ or ())
        own = list_scores(model.ranker_, sp.eye_array(len(names), format="csr"))
        score = Rated(names, np.asarray(own, dtype=float), getattr(model.ranker_, "unseen_", None))
        rule = _pair_rule(model.ranker_) or PairRule()
        return Form((InputColumn(model.item_ or "item", "text", 0),), 1, True, score, pairs=rule)
    encoder = model.encoder_
    columns = _table_columns(encoder)
    named = encoder.layout_ == "columns" or any(column.kind == "text" for column in columns)
    form = _form(columns, int(encoder.n_features_in_), named, model.ranker_, encoded(encoder))
    if model.supervision_ == "comparisons" and form.pairs is None:
        return Form(form.columns, form.width, form.named, form.score, form.takes_missing, form.grades, PairRule())
    return form


def _table_columns(encoder: TableEncoder) -> tuple[InputColumn, ...]:
    numbered = encoder.layout_ in ("sparse", "numbered")
    return tuple(
        InputColumn(name, "number" if categories is None else "text", int(name) - 1 if numbered else place)
        for place, (name, categories) in enumerate(zip(encoder.columns_, encoder.categories_, strict=True))
    )


def encoded(encoder: TableEncoder) -> list[Feature]:
    """Return the features that a table's encoder makes of its columns."""
    out: list[Feature] = []
    parts = zip(encoder.centers_.tolist(), encoder.scales_.tolist(), encoder.flagged_, encoder.categories_, strict=True)
    for column, ((centre, scale, flagged, categories), width) in enumerate(zip(parts, encoder.widths(), strict=True)):
        if not width:
            continue
        given = [value for value in categories or () if value is not None]
        if encoder.for_trees:
            out.append(Feature(column) if categories is None else Feature(column, "code", tuple(given)))
        elif encoder.layout_ == "sparse":
            out.append(Feature(column, steps=(Move("over", scale),)))
        elif categories is None:
            if scale > 0:  # a missing number is taken for the mean
                steps = (Move("minus", centre), Move("over", scale), Move("fill", 0.0))
                out.append(Feature(column, steps=steps))
            out += [Feature(column, "missing")] * bool(flagged)
        else:
            out += [Feature(column, "category", (value,)) for value in categories]
    return out


def _of_standings(model: Standings) -> Form:
    """Return ratings by name, on the scale of log-odds: what a side is worth counts, controls are even."""
    side = 0.0
    if "side" in model.effects_ and "side" not in model.controls_:
        side = float(model.beta_[model.effects_.tolist().index("side")])
    ties = tuple(np.exp(model.log_nu_).tolist())
    score = Rated(tuple(model.items_.tolist()), np.asarray(model.ratings_, dtype=float), None, model.island_)
    return Form((InputColumn("item", "text", 0),), 1, True, score, pairs=PairRule(0.0, -side, 1.0, side, ties))
