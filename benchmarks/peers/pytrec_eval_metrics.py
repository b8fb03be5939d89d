"""pytrec-eval-terrier: lists as dictionaries, made off the clock."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..shapes import Lists, Result
from .peer import Peer, Settings, as_table


def _start(lists: Lists, settings: Settings) -> Callable[[], Result]:
    import pytrec_eval

    y, scores = as_table(lists)
    names = [f"d{j}" for j in range(y.shape[1])]
    judged = {f"q{i}": dict(zip(names, grades, strict=True)) for i, grades in enumerate(y.astype(int).tolist())}
    run = {f"q{i}": dict(zip(names, values, strict=True)) for i, values in enumerate(scores.tolist())}

    def measure() -> Result:
        found = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(run)
        return Result(value=float(np.mean([by_query["ndcg_cut_10"] for by_query in found.values()])))

    return measure


PEERS = (Peer("pytrec-eval", "measure", _start, package="pytrec-eval-terrier", module="pytrec_eval"),)
