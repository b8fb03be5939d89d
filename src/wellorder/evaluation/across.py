"""Methods over several data sets: the mean of each on each, from the records of comparisons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..metrics import find_definition
from .records import Record
from .significance import known_mean
from .trials import is_fault


@dataclass(frozen=True)
class MeansAcross:
    """What every method reaches on every data set."""

    metric: str
    greater_is_better: bool
    data: tuple[str, ...]
    methods: tuple[str, ...]
    """The methods that have a value on every data set."""
    means: tuple[tuple[float, ...], ...]
    """One row per data set, one column per method."""
    left_out: tuple[tuple[str, int], ...] = ()
    """Methods that some data sets lack, and the number of data sets that have them."""


def means_across(records: Iterable[Record], metric: str | None = None) -> MeansAcross:
    """Average records over those splits of each data set that all of its methods have finished.

    On each data set, methods that failed on one of its splits are left out, and so are methods that finished fewer than
    half as many splits as another: a comparison stops running a method that would take too long after the first split.

    Parameters
    ----------
    records : iterable of Record
        Of comparisons on two or more data sets, told apart by the name of the data. A later record of the same split
        stands for an earlier one.
    metric : str, optional
        The first that all of them have measured unless given.

    Examples
    --------
    >>> from wellorder.evaluation.across import means_across
    >>> from wellorder.evaluation.records import Record
    >>> made = [("wines", "ridge", 0.2), ("wines", "svm", 0.1), ("films", "ridge", 0.4), ("films", "svm", 0.3)]
    >>> records = [Record("", data, method, 0, 0, 0, 90, 30, {"swapped_pairs": value}) for data, method, value in made]
    >>> found = means_across(records)
    >>> found.metric, found.methods, found.means
    ('swapped_pairs', ('ridge', 'svm'), ((0.2, 0.1), (0.4, 0.3)))
    """
    sets: dict[str, dict[str, dict[tuple[int, int], Record]]] = {}
    cuts: dict[tuple[str, int, int], tuple[int, int, int]] = {}
    for record in records:
        cut = record.seed, record.n_train, record.n_test
        if cuts.setdefault((record.data, record.repeat, record.fold), cut) != cut:
            raise ValueError(
                f"the records of {record.data!r} are of two comparisons that cut it differently, or of two data sets "
                "of this name; give those of one, and call data sets by names that differ"
            )
        sets.setdefault(record.data, {}).setdefault(record.method, {})[record.repeat, record.fold] = record
    if len(sets) < 2:
        named = "".join(f" ({name})" for name in sets)
        raise ValueError(
            f"methods are compared over data sets, and these records are of {len(sets)}{named}; give two or more"
        )
    chosen = _common_metric(sets) if metric is None else metric
    definition = find_definition(chosen)
    if definition is None:
        raise ValueError(f"there is no metric {chosen!r}")
    means = [_means(_finished(methods), chosen) for methods in sets.values()]
    everywhere = [name for name in means[0] if all(name in each for each in means)]
    if len(everywhere) < 2:
        raise ValueError(f"fewer than two methods have a value of {chosen} on every data set: nothing can be compared")
    names = dict.fromkeys(name for methods in sets.values() for name in methods)
    return MeansAcross(
        chosen,
        definition.greater_is_better,
        tuple(sets),
        tuple(everywhere),
        tuple(tuple(each[name] for name in everywhere) for each in means),
        tuple((name, sum(name in each for each in means)) for name in names if name not in everywhere),
    )


def _finished(methods: dict[str, dict[tuple[int, int], Record]]) -> dict[str, dict[tuple[int, int], Record]]:
    """Return the splits that each method has finished, of those that did not fail and were not given up."""
    able = {
        name: {at: record for at, record in splits.items() if record.problem is None}
        for name, splits in methods.items()
        if not any(is_fault(record) for record in splits.values())
    }
    most = max(map(len, able.values()), default=0)
    return {name: splits for name, splits in able.items() if splits and 2 * len(splits) >= most}


def _common_metric(sets: dict[str, dict[str, dict[tuple[int, int], Record]]]) -> str:
    every = [record for methods in sets.values() for splits in methods.values() for record in splits.values()]
    common = [name for name in every[0].metrics if all(name in record.metrics for record in every)]
    if not common:
        measured = ", ".join(sorted({name for record in every for name in record.metrics})) or "none"
        raise ValueError(f"no metric was measured on every data set, only {measured} on some: compare them all by one")
    return common[0]


def _means(methods: dict[str, dict[tuple[int, int], Record]], metric: str) -> dict[str, float]:
    """Return the mean of each method on one data set, over splits that all of them have; none where it has no value."""
    measured = {
        name: splits for name, splits in methods.items() if all(metric in record.metrics for record in splits.values())
    }
    common = sorted(set.intersection(*map(set, measured.values()))) if measured else []
    values = {name: np.array([splits[at].metrics[metric] for at in common]) for name, splits in measured.items()}
    return {name: known_mean(each) for name, each in values.items() if np.isfinite(each).any()}
