"""Table 3 of 'multiple hyperplane ranker' by its own protocol: SVM-light as it comes, over many partitions."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import t as student
from sklearn.base import BaseEstimator

from ...estimators import MultipleHyperplaneRanker, RankSVM, list_scores
from ...evaluation import Record, holm, randomisation_test
from ...order import Grades
from ...sweeps import Array, Floats
from ...writing import write_p_value
from ..letor_trials import BENCHMARKS, FROM_ONE, MAP, Judged, QueryParts, judge, published_folds, quarters, read_parts
from ..running import PaperRun, Piece, record_key

# --------------------------------------------------------------------------------------------------
# SVM-light, as it comes.


def mean_pair_length(X: Floats, grade: Array, query: Array) -> float:
    """Return the mean of ‖x_i − x_j‖ over the pairs of different grades in one query."""
    total, n_pairs = 0.0, 0
    for mine in (np.flatnonzero(query == each) for each in np.unique(query)):
        differ = grade[mine][:, None] > grade[mine][None, :]
        total += float(cdist(X[mine], X[mine])[differ].sum())
        n_pairs += int(np.count_nonzero(differ))
    return total / n_pairs


class LightRanker(BaseEstimator):
    r"""RankSVM with the cost that SVM-light sets where none is given, over the pairs that it is fitted to.

    .. math:: \min_w \; \tfrac12 \|w\|^2 + C \sum_{i \text{ above } j} \ell\bigl(w^\top (x_i - x_j)\bigr), \qquad
        C = \bigl(\operatorname{mean} \|x_i - x_j\|\bigr)^{-2}

    SVM-light's help calls it the inverse of the mean squared length; its code squares the mean length. What it takes
    the length of in its ranking mode are differences.

    Parameters
    ----------
    loss : {"hinge", "squared_hinge"}, default="hinge"
        SVM-light's is the hinge.
    tol : float, default=1e-3
        As SVM-light's; ten times finer, no mean over the queries moves by more than 0.001.
    """

    coef_: Floats

    def __init__(self, loss: str = "hinge", tol: float = 1e-3) -> None:
        self.loss = loss
        self.tol = tol

    def fit(self, X: Any, y: Any, *, groups: Any) -> LightRanker:
        """Set the cost, and fit."""
        pairs = Grades(y, groups).pairs
        # ours is a cost of rows times the mean over pairs, SVM-light's of the sum over pairs
        C = mean_pair_length(X, y, groups) ** -2 * pairs.n_pairs / len(pairs.active)
        self.ranker_ = RankSVM(C, loss=self.loss, tol=self.tol).fit(X, y, groups=groups)
        self.coef_ = self.ranker_.coef_
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores."""
        return np.asarray(self.ranker_.decision_function(X))


# --------------------------------------------------------------------------------------------------
# One fit of the hyperplanes, looked at through several aggregates.


def seen_as(model: MultipleHyperplaneRanker, aggregate: str) -> MultipleHyperplaneRanker:
    """Return the same hyperplanes with another aggregate; weights are those that were learned, or ones."""
    other: MultipleHyperplaneRanker = copy.copy(model).set_params(aggregate=aggregate)
    if aggregate != "weighted_borda":
        other.weights_ = np.ones(len(model.weights_))
    return other


# --------------------------------------------------------------------------------------------------
# The trials: every query is judged once in each partition, by models that were fitted to the queries of other parts.


LOSSES = ("hinge", "squared_hinge")
_SINGLE = "RankSVM"
_SEVERAL = {
    "MHR-BC": ("all", "borda"),
    "MHR-WBC": ("all", "weighted_borda"),
    "MHR-BC, cumulative": ("cumulative", "borda"),
    "MHR-WBC, cumulative": ("cumulative", "weighted_borda"),
}
_N_PARTITIONS, _QUICK = 20, 2
_PUBLISHED = "published folds"

TESTED = {"ndcg@1": "NDCG@1", "ndcg@10": "NDCG@10", MAP: "MAP, top grade"}
_MEASURED = (*TESTED, *FROM_ONE)


def table_three(run: PaperRun) -> tuple[Record, ...]:
    """Fit and judge on the published folds and on random partitions; then gather them by data set and method."""
    n_partitions = _QUICK if run.quick else _N_PARTITIONS
    pieces = []
    for name in BENCHMARKS:
        parts = read_parts(run.data, name)
        for partition in (_PUBLISHED, *range(n_partitions)):
            keys = {_name(loss, method): _key(name, partition, loss, method) for loss, method in _fitted()}
            pieces.append(Piece(f"{name}, {partition}", keys, partial(_judge_partition, name, partition, parts)))
    made = run.pieces(pieces)
    gathered = []
    for name in BENCHMARKS:
        mine = [record for record in made if record.data == name]
        keys = {_name(loss, method): _gathered_key(name, mine, loss, method) for loss, method in _fitted()}
        gathered.append(Piece(f"{name}, tests", keys, partial(_gather, name, mine)))
    return run.pieces(gathered)


def _fitted() -> list[tuple[str, str]]:
    return [(loss, method) for loss in LOSSES for method in (_SINGLE, *_SEVERAL)]


def _name(loss: str, method: str) -> str:
    return f"{method}, {loss}"


def _key(name: str, partition: str | int, loss: str, method: str) -> str:
    made_by = LightRanker(loss).get_params(), _SEVERAL.get(method), _MEASURED
    return record_key(f"hyperplanes/table 3/{name}/{partition}/{loss}/{method}", made_by)


def _trials(parts: list[Judged], partition: str | int) -> list[QueryParts]:
    return list(published_folds(parts) if isinstance(partition, str) else quarters(parts, partition))


def _judge_partition(name: str, partition: str | int, parts: list[Judged], wanted: list[str]) -> list[Record]:
    """Fit to all but the test queries of each trial, nothing being chosen, and return values query by query."""
    found: dict[str, list[dict[str, Floats]]] = {each: [] for each in wanted}
    trials = _trials(parts, partition)
    for trial in trials:
        for each, model in _fit_all(trial.learned, wanted):
            scores = list_scores(model, trial.test.X, trial.test.query)
            found[each].append(judge(trial.test, scores, _MEASURED))
    place = np.argsort(np.concatenate([np.unique(trial.test.query) for trial in trials]))
    made = []
    for loss, method in _fitted():
        if _name(loss, method) not in wanted:
            continue
        values = {
            metric: np.concatenate([each[metric] for each in found[_name(loss, method)]])[place] for metric in _MEASURED
        }
        made.append(
            Record(
                key=_key(name, partition, loss, method),
                data=name,
                method=_name(loss, method),
                repeat=0 if isinstance(partition, str) else partition,
                fold=0,
                seed=0,
                n_train=len(trials[0].learned.grade),
                n_test=sum(len(trial.test.grade) for trial in trials),
                metrics={metric: float(np.nanmean(each)) for metric, each in values.items()},
                params={"partition": partition, "by query": {metric: rounded(values[metric]) for metric in TESTED}},
            )
        )
    return made


def rounded(values: Floats) -> list[float | None]:
    """Return values as records keep them."""
    return [None if np.isnan(value) else round(value, 6) for value in values.tolist()]


def _fit_all(train: Judged, wanted: list[str]) -> Iterator[tuple[str, Any]]:
    """Fit what is wanted, hyperplanes once for all of their aggregates."""
    for loss in LOSSES:
        if _name(loss, _SINGLE) in wanted:
            yield _name(loss, _SINGLE), _fit(LightRanker(loss), train)
        for pairs in ("all", "cumulative"):
            views = {method: view for method, (of, view) in _SEVERAL.items() if of == pairs}
            views = {method: view for method, view in views.items() if _name(loss, method) in wanted}
            if views:
                how = "weighted_borda" if "weighted_borda" in views.values() else "borda"
                model = _fit(MultipleHyperplaneRanker(LightRanker(loss), pairs=pairs, aggregate=how), train)
                for method, view in views.items():
                    yield _name(loss, method), seen_as(model, view)


def _fit(model: Any, train: Judged) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a thousand planes may leave a little more to gain than was asked for
        return model.fit(train.X, train.grade, groups=train.query)


def _gather(name: str, records: list[Record], wanted: list[str]) -> list[Record]:
    """Return what each method reached in every partition, and p-values of its differences to RankSVM."""
    made = []
    for loss, method in _fitted():
        if _name(loss, method) not in wanted:
            continue
        mine, base = (
            [record for record in records if record.method == _name(loss, each)] for each in (method, _SINGLE)
        )
        (published,), drawn = _apart(mine)
        params = {
            "loss": loss,
            _PUBLISHED: {metric: round(published.metrics[metric], 6) for metric in _MEASURED},
            "partitions": {metric: [round(each.metrics[metric], 6) for each in drawn] for metric in _MEASURED},
            "p": {
                of: _p_values(ours, theirs)
                for of, ours, theirs in zip((_PUBLISHED, "partitions"), _apart(mine), _apart(base), strict=True)
            },
        }
        made.append(
            replace(
                published,
                key=_gathered_key(name, records, loss, method),
                method=method,
                repeat=0,
                metrics={metric: float(np.mean([each.metrics[metric] for each in drawn])) for metric in _MEASURED},
                params=params,
            )
        )
    return made


def _gathered_key(name: str, records: list[Record], loss: str, method: str) -> str:
    return record_key(f"hyperplanes/table 3/{name}/{loss}/{method}", [each.key for each in records])


def _apart(records: list[Record]) -> tuple[list[Record], list[Record]]:
    """Return the record of the published folds, and those of the random partitions."""
    published = [each for each in records if each.params["partition"] == _PUBLISHED]
    return published, [each for each in records if each not in published]


def _p_values(mine: list[Record], base: list[Record]) -> dict[str, float]:
    """Test differences over the queries, each with its mean over the partitions: these have the queries in common."""
    found = {}
    for metric in TESTED:
        ours, theirs = (
            np.mean([np.array(each.params["by query"][metric], dtype=float) for each in of], axis=0)
            for of in (mine, base)
        )
        found[metric] = randomisation_test(ours - theirs)
    return found


# --------------------------------------------------------------------------------------------------
# The tables.


_PAPER = {"MHR-BC": (6.78, 0.92, 0.34), "MHR-WBC": (11.96, 1.06, 1.60)}
"""The paper's relative improvements over Ranking SVM on OHSUMED, in percent, of NDCG@1, NDCG@10 and MAP."""


class LightTables:
    """What the records of the protocol say."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._of = {(each.data, str(each.params["loss"]), each.method): each for each in records}
        self.data = list(dict.fromkeys(each.data for each in records))
        self.losses = list(dict.fromkeys(str(each.params["loss"]) for each in records))
        self.methods = [each for each in dict.fromkeys(each.method for each in records) if each != _SINGLE]

    def changes(self, data: str, loss: str, method: str, metric: str) -> Floats:
        """Return how much better than RankSVM in each partition, relatively and in percent."""
        ours, base = (
            np.array(self._of[data, loss, each].params["partitions"][metric], dtype=float) for each in (method, _SINGLE)
        )
        return np.asarray(100.0 * (ours / base - 1.0))

    def published(self, data: str, loss: str, method: str, metric: str) -> float:
        """Return the same for the published folds."""
        ours, base = (float(self._of[data, loss, each].params[_PUBLISHED][metric]) for each in (method, _SINGLE))
        return 100.0 * (ours / base - 1.0)

    def p_value(self, data: str, loss: str, method: str, metric: str, of: str) -> float:
        """Return the p-value of the difference to RankSVM."""
        return float(self._of[data, loss, method].params["p"][of][metric])

    def _change(self, data: str, loss: str, method: str, metric: str, of: str) -> float:
        row = data, loss, method, metric
        return self.published(*row) if of == _PUBLISHED else float(np.mean(self.changes(*row)))

    def lines(self) -> Iterator[str]:
        """Return the tables as Markdown lines."""
        yield from self._on_published_folds()
        yield ""
        yield from self._over_partitions()
        yield ""
        yield from self._beside_the_paper()
        yield ""
        yield from self._from_one()
        yield ""
        yield from self._levels()

    def _rows(self) -> Iterator[tuple[str, str, str]]:
        for data in self.data:
            for loss in self.losses:
                for method in self.methods:
                    yield data, loss, method

    def _on_published_folds(self) -> Iterator[str]:
        yield (
            "**On the published folds**: better than RankSVM of the same loss, relatively, in percent; in brackets the "
            "p-value of a randomisation test over the test queries. Each fold is fitted to the four other parts, with "
            "SVM-light's default cost, and nothing is chosen."
        )
        yield ""
        yield "| data | loss | method | " + " | ".join(TESTED.values()) + " |"
        yield "| --- " * (3 + len(TESTED)) + "|"
        for method, paper in _PAPER.items():
            yield f"| the paper, 4-fold | hinge | {method} | " + " | ".join(f"{value:+.1f}" for value in paper) + " |"
        for row in self._rows():
            cells = (
                f"{signed(self.published(*row, metric))} ({write_p_value(self.p_value(*row, metric, _PUBLISHED))})"
                for metric in TESTED
            )
            yield _line(row, cells)

    def _over_partitions(self) -> Iterator[str]:
        n = len(self.changes(*next(self._rows()), "ndcg@1"))
        yield (
            f"**Over {n} random 4-fold partitions**, the paper's set-up: mean better than RankSVM, relatively, in "
            "percent [its 95 % interval over the partitions] ± their standard deviation; in how many partitions it is "
            "better; and the p-value of a randomisation test over the queries, each with its mean over the partitions. "
            "The interval says how well the mean over partitions of *these* queries is known, the p-value whether "
            "other queries would show the same."
        )
        yield ""
        yield "| data | loss | method | " + " | ".join(TESTED.values()) + " |"
        yield "| --- " * (3 + len(TESTED)) + "|"
        for method, paper in _PAPER.items():
            yield f"| the paper | hinge | {method} | " + " | ".join(f"{value:+.1f}" for value in paper) + " |"
        for row in self._rows():
            cells = (
                f"{_spread(self.changes(*row, metric))}; {write_p_value(self.p_value(*row, metric, 'partitions'))}"
                for metric in TESTED
            )
            yield _line(row, cells)
        yield ""
        for what, of in (("published folds", _PUBLISHED), ("partitions", "partitions")):
            found = {
                (*row, shown): (self._change(*row, metric, of), self.p_value(*row, metric, of))
                for row in self._rows()
                for metric, shown in TESTED.items()
            }
            yield write_tested(found, what)

    def _beside_the_paper(self) -> Iterator[str]:
        """Say how far the paper's gains at the first place lie from ours, by both ways of counting grades."""
        yield (
            "**The paper's gains at the first place** beside ours of single partitions, the hinge: NDCG@1, better than "
            "RankSVM, in percent."
        )
        yield ""
        yield "| data | method | grades | the paper | lowest | highest | reach the paper's |"
        yield "| --- " * 7 + "|"
        for data in self.data:
            for method, (paper, *_) in _PAPER.items():
                for grades, metric in (("0, 1, 2", "ndcg@1"), ("1, 2, 3", "ndcg@1, grades from 1")):
                    changes = self.changes(data, "hinge", method, metric)
                    reached = f"{np.count_nonzero(changes >= paper)} of {len(changes)}"
                    cells = (data, method, grades, signed(paper), signed(changes.min()), signed(changes.max()), reached)
                    yield f"| {' | '.join(cells)} |"

    def _from_one(self) -> Iterator[str]:
        yield (
            "**Gains from grades 1, 2, 3**, as the paper seems to count, in place of 0, 1, 2: the same over the "
            "partitions. Of every query, a list without a relevant document being perfect."
        )
        yield ""
        yield "| data | loss | method | NDCG@1 | NDCG@10 |"
        yield "| --- " * 5 + "|"
        for row in self._rows():
            yield _line(row, (_spread(self.changes(*row, metric)) for metric in FROM_ONE))

    def _levels(self) -> Iterator[str]:
        yield "**What was reached**, the mean over the partitions."
        yield ""
        yield "| data | loss | method | " + " | ".join(TESTED.values()) + " | NDCG@1, from 1 | NDCG@10, from 1 |"
        yield "| --- " * (3 + len(_MEASURED)) + "|"
        for (data, loss, method), record in self._of.items():
            yield _line((data, loss, method), (f"{record.metrics[metric]:.3f}" for metric in _MEASURED))


def _line(row: tuple[str, str, str], cells: Iterator[str]) -> str:
    data, loss, method = row
    return f"| {data} | {loss.replace('_', ' ')} | {method} | " + " | ".join(cells) + " |"


def _spread(changes: Floats) -> str:
    """Write a mean with its interval, the spread, and how many are above zero."""
    n, deviation = len(changes), float(np.std(changes, ddof=1))
    half = float(student.ppf(0.975, n - 1)) * deviation / np.sqrt(n)
    mean, better = float(np.mean(changes)), int(np.count_nonzero(changes > 0))
    interval = f"[{signed(mean - half)}, {signed(mean + half)}]"
    return f"{signed(mean)} {interval} ± {deviation:.1f}; {better} of {n}"


def signed(change: float) -> str:
    """Write a change in percent; what rounds to nothing has a plus."""
    return f"{round(change, 1) + 0.0:+.1f}"


def write_tested(found: Mapping[Any, tuple[float, float]], what: str) -> str:
    """Say how many of many tests, each a change and its p-value, are below 0.05, and which by Holm's correction."""
    corrected = dict(zip(found, holm([p for _, p in found.values()]), strict=True))
    below = [change for change, p in found.values() if p < 0.05]
    gains = sum(change > 0 for change in below)
    kept = [f"{', '.join(key)} ({signed(found[key][0])})" for key, p in corrected.items() if p < 0.05]
    return (
        f"{what[0].upper()}{what[1:]}: of {len(found)} differences {len(below)} have p < 0.05, {gains} of them for "
        f"several hyperplanes and {len(below) - gains} against, where chance alone would have {0.05 * len(found):.0f} "
        "in all; "
        "after Holm's correction " + ("; ".join(kept) if kept else "none") + "."
    )
