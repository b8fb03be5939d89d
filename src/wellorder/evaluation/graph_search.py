"""Which order graph to learn from: chain, full and others, compared on rows that were not learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone

from ..order import Grades, OrderGraph, as_graph
from ..samples import Sample, read_sample
from ..sweeps import Floats
from ..writing import write_p_value
from .board_view import verdict
from .judging import judge_model, read_metrics
from .significance import TOLD_APART, Interval, PairedTest, corrected_resampled_test, holm, mean_interval
from .splits import Split, read_splits


@dataclass(frozen=True)
class GraphTrial:
    """One order graph, and how well the model orders unseen rows when it learns from it."""

    name: str
    graph: OrderGraph
    n_edges: int
    values: tuple[float, ...]
    """WMW on each split: the share of pairs in the right order, where a tied pair counts half."""
    interval: Interval
    """The mean with its interval, corrected for overlapping training parts."""
    against_best: PairedTest | None
    """The differences from the best graph on the same splits; None for the best itself."""
    p_value: float
    """The p-value of these differences, adjusted for the number of graphs (Holm); NaN for the best, and with one or two
    splits, which say nothing."""

    @property
    def is_told_apart(self) -> bool:
        """Whether it is worse than the best, beyond chance."""
        return self.p_value < TOLD_APART


@dataclass(frozen=True, eq=False)
class GraphSearch:
    """What a search over order graphs found."""

    best_name: str
    best_graph: OrderGraph
    best_estimator: Any
    """Fitted on all rows with the best graph; None with ``refit=False``."""
    best_score: float
    """The mean WMW of the best graph. It was chosen on these very splits, which flatters it: judge it on other rows."""
    table: tuple[GraphTrial, ...]
    """Every graph, the best first."""

    @property
    def simplest(self) -> GraphTrial:
        """The graph with the fewest edges among those that are not told apart from the best."""
        return min((trial for trial in self.table if not trial.is_told_apart), key=lambda trial: trial.n_edges)

    def __str__(self) -> str:
        width = max(len("graph"), *(len(trial.name) for trial in self.table))
        lines = [f"  {'graph':{width}}  {'edges':>5}  {'wmw':>6}  {'95 % interval':>16}  against the best"]
        for trial in self.table:
            found, mark = trial.interval, "*" if trial.name == self.best_name else " "
            reach = f"{found.low:7.4f} {found.high:8.4f}" if found.n_splits > 1 else f"{'-':>16}"
            tested = not np.isnan(trial.p_value)
            told = verdict(None if trial.against_best is None else trial.p_value)
            told += f", {write_p_value(trial.p_value)}" if tested else ""
            lines.append(f"{mark} {trial.name:{width}}  {trial.n_edges:5}  {found.mean:.4f}  {reach}  {told}".rstrip())
        return "\n".join(lines)


def search_graph(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    candidates: Mapping[str, Any] | Sequence[Any] | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    judged_by: Any = "full",
    cv: Any = 5,
    n_repeats: int = 1,
    seed: int = 0,
    refit: bool = True,
) -> GraphSearch:
    """Compare order graphs by how well a model that learns from each orders unseen rows, and fit it with the best.

    All graphs are judged by the same pairs, whichever they were learned from: WMW, pooled, over all pairs of different
    grades.

    Parameters
    ----------
    estimator : estimator
        A model with a parameter ``order`` (ConvexHullRanker, RankSVM, …), or a pipeline or search around one. It is not
        changed. A model whose strength suits one graph may not suit another: a search over it, such as
        ``GridSearchCV``, is the fairer judge.
    X : array, sparse matrix or data frame of shape (n, d)
    y : array of shape (n,), or Grades
        Grades, higher is better; NaN: unjudged.
    candidates : mapping from names to orders, or sequence of orders, default=None
        Each a name ("chain"), an ``OrderGraph`` or a table of weights. None: the chain, the full order and, of four
        levels or more, the edges up to two levels apart.
    groups : array of shape (n,), optional
        One id a row: whole groups stay together, and only rows of one group are compared.
    sample_weight : array of shape (n,), optional
        Row weights for ``fit``. Judgement is without them; to weigh that too, give ``Grades`` with weights.
    judged_by : str, OrderGraph or array, default="full"
        The order whose pairs are counted; where levels have no order of their own, the closure of a graph.
    cv : int, splitter or splits, default=5
    n_repeats : int, default=1
        How often to cut into folds anew.
    seed : int, default=0
        Of the folds.
    refit : bool, default=True
        Whether to fit the model with the best graph on all rows.

    Returns
    -------
    GraphSearch
        The best mean wins; of equal ones, the graph with the fewest edges.

    Examples
    --------
    >>> import numpy as np
    >>> import wellorder as wo
    >>> from wellorder.evaluation import search_graph
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 3))
    >>> y = np.digitize(X @ [1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(300), [-1, 0, 1])
    >>> found = search_graph(wo.ConvexHullRanker(), X, y)
    >>> sorted(trial.name for trial in found.table), found.simplest.name
    (['chain', 'full', 'two steps'], 'chain')
    """
    parameter = _order_parameter(estimator)
    with sklearn.config_context(enable_metadata_routing=True):
        sample = read_sample(estimator, X, y, groups, sample_weight)
        grades = sample.order
        if not isinstance(grades, Grades):
            raise ValueError("an order graph is over grades; comparisons have none")
        orders = _read_candidates(candidates, grades)
        graphs = {name: _graph(name, order, grades) for name, order in orders.items()}
        judged = grades.with_order(judged_by)
        if isinstance(sample.target, Grades):  # each model brings its own order
            sample = replace(sample, target=sample.target.with_order("full"))
        splits = read_splits(sample, cv, n_repeats, seed)
        # named orders are of whatever levels there are; tables are not, where a level has no row to learn from
        tried = {name: order if isinstance(order, str) else graphs[name] for name, order in orders.items()}
        values = np.array(
            [_values(estimator, parameter, order, sample, judged, splits) for order in tried.values()], dtype=float
        )
        table = _compare(graphs, values, sample, splits)
        best = clone(estimator).set_params(**{parameter: tried[table[0].name]}) if refit else None
        if best is not None:
            sample.fit(best)
    return GraphSearch(table[0].name, table[0].graph, best, table[0].interval.mean, table)


def _order_parameter(estimator: Any) -> str:
    """Find the parameter that holds the order: the model's own, or that of the innermost step."""
    named: list[str] = [name for name in estimator.get_params() if name == "order" or name.endswith("__order")]
    if not named:
        raise ValueError(f"{type(estimator).__name__} has no parameter 'order'; give a ConvexHullRanker or a RankSVM")
    return min(named, key=len)


def _read_candidates(candidates: Mapping[str, Any] | Sequence[Any] | None, grades: Grades) -> dict[str, Any]:
    """Return the orders to try, by name."""
    if isinstance(candidates, str | OrderGraph) or getattr(candidates, "ndim", 0) == 2:
        raise ValueError(f"candidates={candidates!r} is one order; give several in a list, ['chain', 'full'], say")
    if isinstance(candidates, Mapping):
        named = dict(candidates)
    elif candidates is not None:
        named = {
            order if isinstance(order, str) else f"graph {number}": order
            for number, order in enumerate(candidates, start=1)
        }
    else:
        named = {"chain": "chain", "full": "full"}
        if (r := grades.graph.n_levels) >= 4:
            named["two steps"] = np.triu(np.ones((r, r)), 1) - np.triu(np.ones((r, r)), 3)
    if not named:
        raise ValueError("there is no candidate graph to try")
    return named


def _graph(name: str, order: Any, grades: Grades) -> OrderGraph:
    try:
        graph = as_graph(order, grades.graph.labels)
    except ValueError as error:
        raise ValueError(f"the graph {name!r}: {error}") from None
    if tuple(graph.levels) != grades.levels:
        raise ValueError(f"the graph {name!r} has the levels {list(graph.levels)}, but y has {list(grades.levels)}")
    return graph


def _values(
    estimator: Any, parameter: str, order: Any, sample: Sample, judged: Grades, splits: Sequence[Split]
) -> list[float]:
    """Fit on the training part of each split and judge on its test part; NaN where that has no pair."""
    measures, out = read_metrics("wmw", "grades"), []
    for split in splits:
        here = _without_empty(order, judged, split) if isinstance(order, OrderGraph) else order
        fitted = clone(estimator).set_params(**{parameter: here})
        sample.take(split.train).fit(fitted)
        testing = replace(sample.take(split.test, split.train), target=judged.take(split.test))
        out += judge_model(fitted, testing, measures)
    return out


def _without_empty(graph: OrderGraph, grades: Grades, split: Split) -> OrderGraph:
    """Return the graph without edges to levels that have no training row; what follows through them stays."""
    used = grades.level[split.train]
    missing = np.setdiff1d(np.arange(graph.n_levels), used)
    if not len(missing):
        return graph
    kept = graph.weights
    kept[missing], kept[:, missing] = 0.0, 0.0
    follows = graph.transitive_closure().weights
    follows[missing], follows[:, missing] = 0.0, 0.0
    known = OrderGraph(graph.labels, kept).transitive_closure().weights
    fewest = OrderGraph(graph.labels, follows).transitive_reduction().weights
    return OrderGraph(graph.labels, np.where((fewest > 0) & (known == 0), 1.0, kept))


def _compare(
    graphs: Mapping[str, OrderGraph], values: Floats, sample: Sample, splits: Sequence[Split]
) -> tuple[GraphTrial, ...]:
    """Put the graphs in order, the best first, and test each against the best on the splits that have a value."""
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    if not len(known):
        raise ValueError("wmw is not defined in any split: no test part has a pair; ask for fewer folds")
    judged = sample.order.is_judged
    n_train, n_test = np.mean(
        [(judged[splits[at].train].sum(), judged[splits[at].test].sum()) for at in known.tolist()], axis=0
    )
    n_edges = {name: len(graph.edges) for name, graph in graphs.items()}
    found = dict(zip(graphs, values[:, known], strict=True))
    ranked = sorted(graphs, key=lambda name: (-round(float(found[name].mean()), 12), n_edges[name]))
    tests = {name: corrected_resampled_test(found[name] - found[ranked[0]], n_test / n_train) for name in ranked[1:]}
    adjusted = dict(zip(tests, holm([test.p_value for test in tests.values()]).tolist(), strict=True))
    return tuple(
        GraphTrial(
            name,
            graphs[name],
            n_edges[name],
            tuple(found[name].tolist()),
            mean_interval(found[name], n_train, n_test),
            tests.get(name),
            adjusted.get(name, float("nan")),
        )
        for name in ranked
    )
