"""``wo.explain``: why one item stands above another."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..data import Table, TableEncoder, TableRanker
from ..data.frames import column_names, from_objects, is_frame, read_columns_of
from ..data.numbered import as_rows, pick_columns
from ..estimators.compare_model import CompareModel
from ..scoring import advantage_of, list_scores
from ..spaces import Pairs
from ..sweeps import Array, Floats, Ints
from .attribution import Sampling, Shares, attribute, players_of, scores_rows_alone
from .explanation import Contribution, Explanation
from .judging import threshold_of
from .mixtures import FrameMixtures, Mixtures, NumberMixtures
from .two_rows import TwoRows, join_two, take_two


def explain(
    model: Any,
    a: Any,
    b: Any,
    *,
    items: Any = None,
    names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    n_orders: int = 200,
    random_state: int = 0,
) -> Explanation:
    r"""Say why a stands above b: how much each feature adds to the difference of their scores.

    Let the features that are in S have a's values and all others b's, and f(S) be the model's score of that mixture.
    The contribution of feature j is its Shapley value between the two rows,

    .. math:: \phi_j = \sum_{S \not\ni j} \frac{|S|! \, (d - 1 - |S|)!}{d!} \, \bigl( f(S \cup j) - f(S) \bigr),

    the mean gain from exchanging its value, over all orders of exchange. Contributions add up to f(a) − f(b);
    explaining b against a changes their signs; a feature with the same value in both adds nothing. They are exact for
    linear models (weight times difference), for sums over single features and for trees, and for other models where at
    most ten features differ; else they are estimated, with standard errors. They say what moves this model's scores,
    not what makes an item good.

    Parameters
    ----------
    model : estimator
        Fitted: one that scores each row by itself, a pipeline, a search, or a TableRanker, whose contributions are
        those of the table's own columns. Models whose scores depend on the whole list are refused.
    a, b : one row each
        An array of d numbers, a data frame or table of one row, or a mapping from columns to values. With ``items``, a
        row's number (from 0) or name. For a model that rates items by name, a name.
    items : Table, data frame, array or sparse matrix, optional
        Where to look a and b up.
    names : two texts, optional
        What to call the two.
    feature_names : sequence of d texts, optional
        What to call the columns of an array; the model's own names, or x0, x1, …, unless given.
    n_orders : int, default=200
        How many orders of exchange an estimate is made of.
    random_state : int, default=0
        Seed of these.

    Returns
    -------
    Explanation
        It prints as a sentence and a small table.

    References
    ----------
    Sundararajan, Najmi (2020), The many Shapley values for model explanation (there: baseline Shapley).

    Examples
    --------
    >>> import polars as pl
    >>> import wellorder as wo
    >>> from wellorder.data import TableRanker
    >>> wines = pl.DataFrame({"ph": [3.0, 3.1, 3.4], "colour": ["red", "white", "red"], "quality": [4, 5, 6]})
    >>> model = TableRanker(wo.RankSVM(), target="quality").fit(wines)
    >>> found = wo.explain(model, 2, 1, items=wines, names=["Rioja", "Mosel"])
    >>> print(found.headline())
    Rioja stands above Mosel by 0.874 (0.7816 against -0.09195), mostly because of ph: 3.4 against 3.1 (+1.24).
    >>> [(part.feature, round(part.contribution, 2)) for part in found.contributions]
    [('ph', 1.24), ('colour', -0.37)]
    """
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"model must be a fitted model, got {model!r}")
    check_is_fitted(model)
    if isinstance(n_orders, bool) or not isinstance(n_orders, Integral) or n_orders < 2:
        raise ValueError(f"n_orders must be a whole number of at least 2, got {n_orders!r}")
    _refuse_models_of_lists(model)
    two = _read(model, a, b, items)
    if names is not None:
        if isinstance(names, str) or len(names) != 2:
            raise ValueError(f"names must be two texts, what to call a and b; got {names!r}")
        two = TwoRows(two.rows, (str(names[0]), str(names[1])))
    sampling = Sampling(int(n_orders), random_state)
    if isinstance(model, TableRanker):
        return _explain_ratings(model, two) if model.encoder_ is None else _explain_table(model, two, sampling)
    return _explain_rows(model, two, feature_names, sampling)


def _refuse_models_of_lists(model: Any) -> None:
    ranker = model.ranker_ if isinstance(model, TableRanker) else model
    if not scores_rows_alone(ranker):
        raise ValueError(
            f"{type(ranker).__name__} has no score for a row by itself: its scores depend on the list that it is in, "
            "so that the features of two rows do not account for their difference; explain one of its rankers, or a "
            "model such as RankSVM or OrderBoost"
        )
    if not isinstance(model, TableRanker) and not getattr(model, "looks_at_features", True):
        raise ValueError(
            f"{type(model).__name__} looks at no feature: compare its ratings_, there is nothing else to it"
        )
    if get_tags(ranker).input_tags.pairwise:
        raise ValueError("a model with a precomputed kernel sees no features; fit one with kernel='rbf' or a callable")


def _read(model: Any, a: Any, b: Any, items: Any) -> TwoRows:
    if items is not None:
        two = take_two(items, a, b, getattr(model, "item_", None))
        if isinstance(model, TableRanker) and model.group_ is not None and isinstance(two.rows, Table):
            groups = two.rows.groups
            if groups is not None and groups[0] != groups[1]:
                warnings.warn(
                    f"{two.names[0]} and {two.names[1]} stand in different lists ({groups[0]} and {groups[1]}), and "
                    "the model has only learned to compare rows of one list",
                    stacklevel=3,
                )
        return two
    if isinstance(model, TableRanker) and model.encoder_ is None and isinstance(a, str) and isinstance(b, str):
        return TwoRows([a, b], (a, b))
    return join_two(a, b)


def _explain_rows(model: Any, two: TwoRows, feature_names: Sequence[str] | None, sampling: Sampling) -> Explanation:
    """Explain rows of numbers, or of a data frame."""
    rows = two.rows.X if isinstance(two.rows, Table) else two.rows
    scores = _two_scores(model, rows)
    if is_frame(rows):
        mixtures: Mixtures = (frame := FrameMixtures(rows))
        features, values = column_names(rows), frame.values
    else:
        mixtures = (numbers := NumberMixtures(rows))
        features, values = _feature_names(model, mixtures.n_players), list(numbers.numbers.T)
    if feature_names is not None:
        features = [str(name) for name in feature_names]
        if len(features) != mixtures.n_players:
            raise ValueError(f"there are {len(features)} feature names for {mixtures.n_players} columns; give one each")
    shares = attribute(model, mixtures, scores, sampling)
    return _explanation(two.names, scores, _contributions(features, values, shares), shares.how, model, rows)


def _explain_table(model: TableRanker, two: TwoRows, sampling: Sampling) -> Explanation:
    """Explain rows of a table by its own columns, whatever numbers were made of them."""
    encoder = model.encoder_
    assert encoder is not None
    encoded = encoder.transform(two.rows)  # once: it may warn of values that training has not seen
    scores = _two_scores(model.ranker_, encoded)
    mixtures = NumberMixtures(encoded, players_of(encoder), len(encoder.columns_))
    shares = attribute(model.ranker_, mixtures, scores, sampling)
    values = _own_values(encoder, two.rows)
    found = _contributions(encoder.columns_, values, shares)
    return _explanation(two.names, scores, found, shares.how, model.ranker_, encoded)


def _explain_ratings(model: TableRanker, two: TwoRows) -> Explanation:
    """Explain items by their ratings: there is nothing else to them."""
    scores = np.asarray(model.decision_function(two.rows), dtype=float)
    own = Contribution("rating", float(scores[0]), float(scores[1]), float(scores[0] - scores[1]))
    how = "exact: each item has a rating of its own, learned from its comparisons, and no feature is looked at"
    if advantage_of(model):
        how += "; neither of the two has the first move"
    chances = None
    if hasattr(model.ranker_, "probabilities"):
        chances = model.ranker_.probabilities([own.contribution])
    return _explanation(two.names, scores, (own,), how, model.ranker_, None, chances)


def _two_scores(model: Any, rows: Any) -> Floats:
    scores = np.asarray(list_scores(model, rows))
    if scores.shape != (2,) or scores.dtype.kind not in "fiu":
        raise ValueError(
            f"{type(model).__name__} gives no single number a row ({scores.dtype} of shape {scores.shape} for two "
            "rows), and an order needs one; explain a ranker, a regression or a classifier of two classes"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"the two scores are {scores[0]} and {scores[1]}; what is not finite cannot be accounted for")
    return scores


def _contributions(features: Sequence[str], values: Sequence[Array], shares: Shares) -> tuple[Contribution, ...]:
    """Join what belongs to a feature; the largest contribution first."""
    by_size = np.argsort(-np.abs(shares.contribution), kind="stable")
    return tuple(
        Contribution(
            str(features[k]),
            _plain(values[k][0]),
            _plain(values[k][1]),
            float(shares.contribution[k]) + 0.0,  # no negative zero
            float(shares.error[k]),
        )
        for k in by_size.tolist()
    )


def _explanation(
    names: tuple[str, str],
    scores: Floats,
    contributions: tuple[Contribution, ...],
    how: str,
    model: Any,
    rows: Any,
    chances: Any = None,
) -> Explanation:
    if isinstance(model, CompareModel) and hasattr(model, "predict_proba"):
        numbers = rows if sp.issparse(rows) or not is_frame(rows) else FrameMixtures(rows).numbers
        chances = model.predict_proba(Pairs(numbers, [1], [0]))  # a is the right one
    probability = None
    if chances is not None:
        b_better, tie, a_better = np.asarray(chances, dtype=float)[0].tolist()
        probability = (a_better, tie, b_better)
    return Explanation(*names, float(scores[0]), float(scores[1]), contributions, how, threshold_of(model), probability)


def _own_values(encoder: TableEncoder, rows: Any) -> list[Array]:
    """Return the two values of each of the table's columns, as the user gave them."""
    rows = rows.X if isinstance(rows, Table) else rows
    if encoder.layout_ in ("sparse", "numbered"):
        columns: Ints = np.array(encoder.columns_, dtype=np.int64) - 1
        return list(pick_columns(as_rows(rows), columns).toarray().T)
    if is_frame(rows):
        wanted = encoder.columns_ if encoder.layout_ == "columns" else column_names(rows)
        return list(read_columns_of(rows, wanted).values())
    array = np.asarray(rows)
    return [from_objects(column) if column.dtype == object else column for column in array.T]


def _feature_names(model: Any, n: int) -> list[str]:
    named = getattr(model, "feature_names_in_", None)
    return [f"x{place}" for place in range(n)] if named is None else [str(name) for name in named]


def _plain(value: Any) -> float | str | None:
    """Return a value as plain Python has it; None where it is missing."""
    if value is None or value != value:
        return None
    return value if isinstance(value, str) else float(value)
