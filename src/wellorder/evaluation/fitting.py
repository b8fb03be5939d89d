"""From a table to a model that can be saved: a method by name, searched if asked, with what held-out rows say of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

from ..data import ComparisonTable, PairTable, Table, TableRanker, leave_columns
from ..methods import Method
from ..metrics import AnyMetric, Metric
from ..order import Comparisons, ListedPairs, draw_pairs, encode_groups
from ..scoring import gives_probabilities, warn_if_groups_are_lost
from ..sweeps import Floats, Ints
from ..writing import write_percent
from .judging import Foretold, default_metrics, foretell, read_metrics, rule_of, threshold_of, wants_probabilities
from .methods import METHODS, cannot_learn, find_method, foretelling_methods, grid_of, make_seeded, refuse_silent
from .searching import choose_params
from .significance import known_mean
from .tasks import AnyTable, make_task

if TYPE_CHECKING:
    from ..ratings import Uncertainty

# --------------------------------------------------------------------------------------------------
# How far apart two scores must be before their order can be trusted, measured on held-out pairs.


Rise: TypeAlias = tuple[Floats, Floats]
"""Score differences, in units of the training scores' spread, and the share of held-out pairs about that far apart
that stand in the right order; both rising."""


@dataclass(frozen=True)
class Resolution:
    """What held-out pairs say about a model."""

    curve: Rise
    held_out: float
    """The share of held-out pairs in the right order, the mean over the folds."""
    by_metric: float = float("nan")
    """What another metric says of the held-out rows, the mean over the folds that have a value."""


_N_FOLDS = 5
_MOST_PAIRS = 200_000
_MOST_POINTS = 100
_LARGE = 50_000


def measure_resolution(
    fit: Callable[[AnyTable], TableRanker],
    table: AnyTable,
    *,
    seed: int = 0,
    metric: Metric | None = None,
) -> Resolution | None:
    """Fit on the training parts of folds, and see how often held-out pairs stand rightly, by their distance.

    ``fit`` makes a fitted model of a training part; whatever it chooses, parameters included, it has to choose there.
    A share that rises with the distance is fitted to the pairs (isotonic regression). One hold-out instead of
    all folds where the rows are many. None where there is too little data to hold some out. Held-out rows are judged by
    ``metric`` as well, if there is one.
    """
    task = make_task(table)
    try:
        splits = list(task.splits(_N_FOLDS, 1, seed))[: 1 if len(table) > _LARGE else None]
    except ValueError:  # fewer rows than folds, or a training part without a pair
        return None
    rng = np.random.default_rng(seed)
    gathered: list[tuple[Floats, Floats]] = []
    shares: list[float] = []
    by_metric: list[float] = []
    for split in splits:
        test = table.take(split.test)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a fold, which nobody has asked for; the whole fit has warned
            try:
                fitted = fit(table.take(split.train))
            except ValueError:  # the whole could be fitted, and this part is too little for it
                return None
            scores = np.asarray(fitted.decision_function(test.rows), dtype=float)
            if metric is not None:
                by_metric += evaluate_table(fitted, test, (metric,)).values()
        pairs = _held_out_pairs(test, len(scores), _MOST_PAIRS // len(splits), rng)
        if pairs.n_pairs and fitted.spread_ > 0:
            difference = (scores[pairs.high] - scores[pairs.low]) / fitted.spread_
            gathered.append((np.abs(difference), (difference > 0).astype(float)))
            shares.append(1.0 - task.judge(scores, split.test, ("swapped_pairs",)).metrics["swapped_pairs"])
    if not gathered:
        return None
    distance, right = (np.concatenate(part) for part in zip(*gathered, strict=True))
    return Resolution(fit_rise(distance, right), float(np.mean(shares)), known_mean(np.array(by_metric)))


def fit_rise(distance: Floats, right: Floats) -> Rise:
    """Return the share of pairs that stand rightly (1 or 0 each) as it rises with their distance."""
    rising = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(distance, right)
    at = np.unique(np.quantile(distance, np.linspace(0.0, 1.0, _MOST_POINTS)))
    return at, rising.predict(at)


def _held_out_pairs(table: AnyTable, n_scores: int, most: int, rng: np.random.Generator) -> ListedPairs:
    order = table.order()
    if isinstance(order, Comparisons):
        return order.to_pairs(n_scores)
    pairs = order.pairs
    return draw_pairs(pairs, max(1, most // max(len(pairs.active), 1)), rng)


def least_difference(curve: Rise, confidence: float) -> float:
    """Return the difference, in spreads, from which pairs stood rightly with this confidence; infinite if never."""
    difference, share = curve
    enough = np.flatnonzero(share >= confidence)
    return float(difference[enough[0]]) if enough.size else float("inf")


def bands(scores: Floats, least: float) -> Ints:
    """Give each score the number of its band, from 1 at the top.

    A new band starts where a score is ``least`` or more below its band's top: items of one band cannot be told from
    its first. Neighbours across a border may be as close as any. O(n log n).

    Examples
    --------
    >>> import numpy as np
    >>> bands(np.array([5.0, 4.8, 4.1, 1.0]), least=0.5).tolist()
    [1, 1, 2, 3]
    """
    order = np.argsort(-scores, kind="stable")
    number = np.empty(len(scores), dtype=np.int64)
    top, band = np.inf, 0
    # invariant: rows before this one in `order` are numbered, and `top` is the highest score of the current band
    for row in order:
        if band == 0 or top - scores[row] >= least:
            top, band = scores[row], band + 1
        number[row] = band
    return number


def bands_by_doubt(scores: Floats, doubt: Uncertainty, confidence: float) -> Ints:
    """Give each score the number of its band, given how uncertain each is.

    An item is of the first band from whose first it cannot be told: the chance that it really stands below is less
    than ``confidence``. One that is little known may so be of a higher band than others above it. O(n) a band.

    Examples
    --------
    >>> import numpy as np
    >>> from wellorder.ratings import Uncertainty
    >>> doubt = Uncertainty(np.array([1.0, 1.0, 100.0, 1.0, 100.0]))
    >>> bands_by_doubt(np.array([5.0, 2.0, 1.9, 1.8]), doubt, confidence=0.75).tolist()
    [1, 2, 1, 2]
    """
    enough = float(norm.ppf(confidence))
    left = np.argsort(-scores, kind="stable")
    number = np.empty(len(scores), dtype=np.int64)
    band = 0
    # invariant: rows in `left`, best first, can be told from the first of every band so far
    while len(left):
        band += 1
        apart, spread = scores[left[0]] - scores[left], doubt.between(left[0], left)
        told = (apart > 0) & (apart >= enough * spread) if np.isfinite(enough) else np.zeros(len(left), dtype=bool)
        number[left[~told]] = band
        left = left[told]
    return number


# --------------------------------------------------------------------------------------------------
# Fitting.


@dataclass(frozen=True)
class FittedTable:
    """A model of a table, and how well it orders."""

    model: TableRanker
    params: dict[str, Any]
    """The parameters that were set or found by the search."""
    training_score: float
    """The share of training pairs in the right order."""
    held_out_score: float
    """The same for pairs of rows that the model had not seen, the mean over folds; NaN if not measured."""
    held_out_metric: float = float("nan")
    """The metric that the search went by, on rows that the model had not seen; NaN if not measured."""


def fit_table(
    table: AnyTable,
    name: str,
    params: Mapping[str, Any] | None = None,
    *,
    searching: bool = False,
    metric: AnyMetric | None = None,
    with_resolution: bool = True,
    seed: int = 0,
) -> FittedTable:
    """Fit a method to a table, as ``wellorder fit`` does.

    Parameters
    ----------
    table : Table or ComparisonTable
    name : str
        The method, as in ``METHODS``.
    params : mapping, optional
        Parameters to set; a search leaves them as they are.
    searching : bool, default=False
        Choose the others from the method's grid, by cross-validation; what held-out rows say is then of models that
        were searched without them.
    metric : str, Metric or Definition, optional
        What the search goes by; swapped pairs unless given. Held-out rows are judged by it as well.
    with_resolution : bool, default=True
        Measure on held-out rows how far apart scores must be to be told apart.
    seed : int, default=0
    """
    table = leave_columns(table)
    method, task = find_method(name), make_task(table)
    if (reason := cannot_learn(method, task.order)) is not None:
        fit_for_it = ", ".join(each for each, known in METHODS.items() if cannot_learn(known, task.order) is None)
        raise ValueError(f"{name} {reason.removeprefix('it ')}; these do: {fit_for_it}")

    measure = None if metric is None else read_metrics(metric, task.supervision, probabilities=True)[0]
    foretelling = measure is not None and measure.definition.judges_probabilities
    if measure is not None and foretelling:
        refuse_silent([name], measure, task.supervision)

    def make() -> Any:
        return make_seeded(method, seed, measure, foretelling=foretelling)

    def choose(part: AnyTable) -> dict[str, Any]:
        """Set what is to be set, and search for the rest inside this part of the table."""
        return _choose(method, make(), part, dict(params or {}), measure, seed) if searching else dict(params or {})

    def fit(part: AnyTable, chosen: Mapping[str, Any]) -> TableRanker:
        return TableRanker(make().set_params(**chosen)).fit(part)

    chosen = choose(table)
    model = _fit_with_probabilities(lambda more: fit(table, chosen | more), method, chosen)
    resolution = None
    if with_resolution:
        resolution = measure_resolution(lambda part: fit(part, choose(part)), table, seed=seed, metric=measure)
    if resolution is not None:
        model.resolution_ = resolution.curve
    scores = np.asarray(model.decision_function(table.rows), dtype=float)
    judged = task.judge(scores, np.arange(len(table)), ("swapped_pairs",))
    held_out = (float("nan"),) * 2 if resolution is None else (resolution.held_out, resolution.by_metric)
    return FittedTable(model, chosen, 1.0 - judged.metrics["swapped_pairs"], *held_out)


def _fit_with_probabilities(
    fit: Callable[[dict[str, Any]], TableRanker], method: Method, chosen: Mapping[str, Any]
) -> TableRanker:
    """Fit once for all: with calibrated probabilities, unless somebody has settled that, or the data are too few."""
    if "probability" in method.make().get_params() and "probability" not in chosen:
        try:
            return fit({"probability": True})
        except ValueError:  # whatever else is wrong, the plain fit will say
            pass
    return fit({})


def _choose(
    method: Method, estimator: Any, table: AnyTable, params: dict[str, Any], metric: Metric | None, seed: int
) -> dict[str, Any]:
    """Search the method's grid, but for the parameters that are given, by folds of a table."""
    estimator = estimator.set_params(**params)
    part = make_task(table).training_part(np.arange(len(table)), estimator)
    grid = {name: values for name, values in grid_of(method, part.size, metric).items() if name not in params}
    by: AnyMetric = "swapped_pairs" if metric is None else metric
    found = choose_params(
        estimator,
        grid,
        part,
        n_folds=5,
        seed=seed,
        metric=by,
        most=method.most_searched,
        times=table.times,
    )
    return params | found


def evaluate_table(model: TableRanker, table: AnyTable, metrics: Sequence[AnyMetric] = ()) -> dict[str, float]:
    """Judge a model on a table with grades or comparisons, as ``wellorder evaluate`` does.

    Where the model gives probabilities, ``metrics`` may name those of ``PROBABILITY_METRICS`` as well, or, of grades,
    those of ``GRADE_PROBABILITY_METRICS``.
    """
    task = make_task(table)
    wanted = read_metrics(metrics or default_metrics(task.order), task.supervision, probabilities=True)
    if not isinstance(table, ComparisonTable):
        warn_if_groups_are_lost(model, table.groups, "read the table with group=")
    scores = np.asarray(model.decision_function(table.rows), dtype=float)
    foretold = None
    if (metric := wants_probabilities(wanted)) is not None:
        foretold = _foretold(model, table, metric)
    rule = rule_of(model, task.order)
    return task.judge(scores, np.arange(len(table)), wanted, foretold, **rule).metrics


def _foretold(model: TableRanker, table: AnyTable, metric: Metric) -> Foretold:
    """Return a model's probabilities of what a table holds."""
    order = table.order()
    if not gives_probabilities(model.ranker_, order.kind):
        able = " and ".join(foretelling_methods(order.kind))
        raise ValueError(f"{metric} judges probabilities, and {type(model.ranker_).__name__} gives none; {able} do")
    if isinstance(table, ComparisonTable):
        return Foretold(model.predict_proba(table))
    assert model.encoder_ is not None  # only items that were compared may have no columns
    return foretell(model.ranker_, model.encoder_.transform(table.rows), order)


# --------------------------------------------------------------------------------------------------
# A ranked list for a person: items from best to worst, in bands of those that cannot be told from the band's first.


CONFIDENCE = 0.75
"""How sure the order of two items must be, by default, for the lower one to begin a new band."""

Row: TypeAlias = tuple[int, int | None, str, float]
"""(rank, band, item, score); equal scores share a rank, and the band is None if none was measured."""


@dataclass(frozen=True)
class OrderedList:
    """One list, best first."""

    group: Any
    rows: tuple[Row, ...]
    numbers: tuple[int, ...]
    """The row of the table that each item is, counted from 0."""
    deviations: tuple[float, ...] | None = None
    """The standard deviation of each score; None if the model does not give it."""


@dataclass(frozen=True)
class OrderedItems:
    """All lists of a table."""

    lists: tuple[OrderedList, ...]
    has_groups: bool
    note: str
    """How to read the bands."""


def order_items(
    model: TableRanker, table: Table, *, confidence: float | None = None, top: int | None = None
) -> OrderedItems:
    """Order the rows of a table by a model, list by list.

    Parameters
    ----------
    model : TableRanker
    table : Table
    confidence : float, optional
        A band ends before the first item that is so far below the band's first that held-out pairs as far apart
        stood in the right order at least so often. It says nothing of two items on either side of a border. 0.75
        unless given; but a model that learned from ties when items are no different goes by that unless it is given.
        A model that knows how uncertain each score is goes by that: an item is of the first band from whose first it
        cannot be told with so much confidence.
    top : int, optional
        Only so many rows of each list.
    """
    scores = np.asarray(model.decision_function(table), dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the scores have warned of strangers
        doubt = model.uncertainty(table)
    if doubt is not None:
        sure = CONFIDENCE if confidence is None else confidence
        note = _doubt_note(sure)
        return OrderedItems(_doubted_lists(table, scores, doubt, sure, top), table.groups is not None, note)
    threshold = threshold_of(model) if model.supervision_ == "comparisons" else 0.0
    if confidence is None and threshold > 0:
        least: float | None = float(np.nextafter(threshold, np.inf))  # differences up to it are ties
        note = _tie_note(threshold)
    else:
        sure = CONFIDENCE if confidence is None else confidence
        least = None if model.resolution_ is None else model.spread_ * least_difference(model.resolution_, sure)
        note = _note(least, sure)
    if least is not None and model.encoder_ is None and hasattr(model.ranker_, "uncertainty"):
        note += f"; {_NO_DOUBT}"
    return OrderedItems(_banded_lists(table, scores, least, top), table.groups is not None, note)


def order_held_out(table: Table, scores: Floats, curve: Rise | None) -> OrderedItems:
    """Order rows by scores that they have been given, with bands by what held-out pairs say of such scores."""
    least = None if curve is None else least_difference(curve, CONFIDENCE)
    note = "no bands: there was no held-out pair" if least is None else _note(least, CONFIDENCE)
    return OrderedItems(_banded_lists(table, scores, least, None), table.groups is not None, note)


def _lists(table: Table, scores: Floats, top: int | None, band_of: Callable[[Ints], Ints | None]) -> list[OrderedList]:
    """Sort each list and write its first rows, with bands of rows that are handed over best first.

    A band hangs on what stands above it alone, so that rows below the ``top`` are not looked at.
    """
    lists, names = [], table.names()
    for members in _members(table):
        rows = members[np.argsort(-scores[members], kind="stable")[:top]]
        rank = 1 + np.searchsorted(-scores[rows], -scores[rows])  # one more than the number of better scores
        band, label = band_of(rows), None if table.groups is None else table.groups[members[0]]
        written = zip(
            rank.tolist(),
            [None] * len(rows) if band is None else band.tolist(),
            map(str, names[rows]),
            scores[rows].tolist(),
            strict=True,
        )
        lists.append(OrderedList(label, tuple(written), tuple(rows.tolist())))
    return lists


def _banded_lists(table: Table, scores: Floats, least: float | None, top: int | None) -> tuple[OrderedList, ...]:
    return tuple(_lists(table, scores, top, lambda rows: None if least is None else bands(scores[rows], least)))


def _doubted_lists(
    table: Table, scores: Floats, doubt: Uncertainty, confidence: float, top: int | None
) -> tuple[OrderedList, ...]:
    lists = _lists(table, scores, top, lambda rows: bands_by_doubt(scores[rows], doubt.take(rows), confidence))
    return tuple(replace(each, deviations=tuple(doubt.deviation(np.array(each.numbers)).tolist())) for each in lists)


@dataclass(frozen=True)
class Chances:
    """How likely it is that the higher of two scores belongs to the better item, by how far the two are apart.

    Attributes
    ----------
    distance : array of shape (t,)
        Differences of scores, rising.
    above : array of shape (t,)
    tie : array of shape (t,) or None
        That there is no difference between the two, where the model has learned from ties.
    how : str
        Where this comes from.
    deviation : array of shape (n,) or None
        How uncertain the score of each row is, where chances go by that: those by distance are of two rows as most are.
    """

    distance: Floats
    above: Floats
    tie: Floats | None
    how: str
    deviation: Floats | None = None

    def at(self, difference: float, one: int | None = None, other: int | None = None) -> float:
        """Return the chance for two scores that are so far apart, whichever is higher; beyond the last, the last.

        ``one`` and ``other`` are the two rows, which it takes account of where it knows how uncertain each is.
        """
        if self.deviation is not None and one is not None and other is not None:
            return float(norm.cdf(abs(difference) / np.hypot(self.deviation[one], self.deviation[other])))
        return float(np.interp(abs(difference), self.distance, self.above))


_STEPS = 65
"""The number of distances at which a model of comparisons is asked for its probabilities."""


def chances_of(model: TableRanker, table: Table) -> Chances | None:
    """Return what score differences of a model mean: its own probabilities, or what held-out pairs showed.

    None where the model was fitted without looking at held-out pairs, or orders nothing here. Of ratings that know how
    uncertain they are, the chances are that one is really higher; of others, that its item wins the next comparison.
    """
    doubt = model.uncertainty(table) if len(table) > 1 else None
    if doubt is not None:
        return _doubted_chances(np.asarray(model.decision_function(table), dtype=float), doubt)
    if model.supervision_ == "comparisons" and hasattr(model, "predict_proba") and len(table) > 1:
        scores = np.asarray(model.decision_function(table), dtype=float)
        order = np.argsort(-scores, kind="stable")
        below = order[np.unique(np.linspace(0, len(order) - 1, _STEPS).astype(int))]
        distance = scores[order[0]] - scores[below]
        if hasattr(model.ranker_, "probabilities"):  # nobody has the first move
            found = np.asarray(model.ranker_.probabilities(distance), dtype=float)
        else:
            pairs = PairTable(table.source, table, below, np.full(len(below), order[0]))
            found = np.asarray(model.predict_proba(pairs), dtype=float)
        distance, first = np.unique(distance, return_index=True)
        tie = found[first, 1]
        return Chances(distance, found[first, 2], tie if tie.any() else None, "the model's own probabilities")
    if model.resolution_ is None or not model.spread_ > 0:
        return None
    return held_out_chances(model.resolution_, model.spread_)


def _doubted_chances(scores: Floats, doubt: Uncertainty) -> Chances:
    """Return how likely the higher of two ratings is really the higher, the two taken as independent."""
    deviation = doubt.deviation(np.arange(len(scores)))
    distance = np.linspace(0.0, max(float(np.ptp(scores)), 1e-9), _STEPS)
    above = norm.cdf(distance / (np.sqrt(2.0) * float(np.median(deviation))))
    how = "how sure the comparisons make it, given how uncertain each of the two ratings is"
    return Chances(distance, above, None, how, deviation)


def held_out_chances(curve: Rise, spread: float = 1.0) -> Chances:
    """Return what held-out pairs say of differences of scores, given the spread of these."""
    distance, share = curve
    how = "if the two differ at all: how often pairs as far apart stood rightly, among rows that the model had not seen"
    # a higher score is never evidence against its item: where few pairs lie close, less than a half is their chance
    return Chances(distance * spread, np.maximum(share, 0.5), None, how)


def _members(table: Table) -> list[Ints]:
    """Return the rows of each list, by one sort for all of them."""
    if not len(table):
        return []
    group, n_groups = encode_groups(table.groups, len(table))
    if group is None:
        return [np.arange(len(table))]
    by_group = np.argsort(group, kind="stable")
    return np.split(by_group, np.cumsum(np.bincount(group, minlength=n_groups))[:-1])


_NO_DOUBT = "Elo's ratings do not say how sure they are, and bands go by distance alone; Glicko's and Davidson's do"


def _doubt_note(confidence: float) -> str:
    return (
        f"items of one band cannot be told from its first: it is less than {write_percent(confidence, 0)} sure that "
        "they stand below it, be it that they are close or that little is known of them; deviation: how uncertain a "
        "score is"
    )


def _tie_note(threshold: float) -> str:
    return (
        f"items of one band are at most {threshold:.3g} below its first: asked to compare them with it, the model says "
        "there is no difference; the last of one band and the first of the next may be as close as that"
    )


def _note(least: float | None, confidence: float) -> str:
    if least is None:
        return "no bands: the model was fitted with --no-bands, or had no held-out pair"
    if least == float("inf"):
        return (
            f"one band: on held-out rows no distance between scores made an order {write_percent(confidence, 0)} sure"
        )
    return (
        f"items of one band are less than {least:.3g} below its first: on held-out rows, pairs that close stood in the "
        f"right order less than {write_percent(confidence, 0)} of the time; items of two bands may be as close as that"
    )
