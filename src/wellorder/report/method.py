"""How a comparison was computed, told to someone who has to decide whether to believe it."""

from __future__ import annotations

from ..evaluation.leaderboard import Leaderboard, Protocol
from .wording import describe_metric, metric_title, write_seconds

_KEPT_TOGETHER = {
    "groups": "All rows of a group stay together, in the training part or in the test part: no method has seen a "
    "group that it is judged on.",
    "rows": "Rows were dealt out one by one, so that every part has about the same share of each grade.",
    "pairs": "All comparisons of the same two items stay together, so that no rematch of a training pair is in the "
    "test part.",
}


_CONVENTIONS = {
    "grades": "A higher score stands above; a higher grade is better. Only rows of one group are compared. A pair with "
    "tied scores counts as swapped; metrics of the top of a list take the exact expectation over tied rows. Rows "
    "without a grade take no part.",
    "comparisons": "A higher score stands above. A decided comparison with tied scores counts as swapped. A comparison "
    "that ended in a tie says nothing about who stands above; it counts where ties are to be told from differences.",
}


def explain_protocol(leaderboard: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return (heading, text) for each step of the protocol, in reading order."""
    protocol = leaderboard.protocol
    steps = [
        ("Splits", _splits(protocol)),
        ("Searches", _searches(protocol)),
        ("Intervals", _intervals(leaderboard)),
        (
            "Tests",
            "Each method is compared with the leader split by split (corrected resampled paired t test); the p values "
            "are corrected for the number of methods (Holm). “Not told apart” means p ≥ 0.05: the difference may be "
            "chance. It does not mean that the two are equal.",
        ),
        ("Conventions", _CONVENTIONS["comparisons" if protocol.split_by == "pairs" else "grades"]),
        ("Chance", f"Everything random is drawn from the seed {protocol.seed}: the same lines give the same numbers."),
    ]
    return tuple(steps)


def explain_metrics(protocol: Protocol) -> tuple[tuple[str, str], ...]:
    """Return (title, meaning) for everything that was measured."""
    comparisons = protocol.split_by == "pairs"
    return tuple((metric_title(name), describe_metric(name, comparisons=comparisons)) for name in protocol.metrics)


def _splits(protocol: Protocol) -> str:
    again = (
        "" if protocol.n_repeats == 1 else f"; all of it was done {protocol.n_repeats} times, with new parts each time"
    )
    together = _KEPT_TOGETHER.get(protocol.split_by, f"What stays together: {protocol.split_by}.")
    if protocol.n_folds == 1:
        return f"The data was split once into a training part and a test part{again}. {together}"
    return (
        f"The data was cut into {protocol.n_folds} parts; each in turn is the test part, the others are the training "
        f"part{again}. Every method sees the same splits. {together}"
    )


def _searches(protocol: Protocol) -> str:
    budget = ""
    if protocol.time_budget is not None:
        budget = f" The time for everything was limited to {write_seconds(protocol.time_budget)}."
    return (
        f"Parameters were searched inside each training part only ({protocol.inner_folds}-fold, by "
        f"{metric_title(protocol.metric)}), as was every scaling and encoding of columns; the test part was touched "
        f"once, to judge.{budget}"
    )


def _intervals(leaderboard: Leaderboard) -> str:
    if max((each.n_splits for each in leaderboard.standings), default=0) < 2:
        return "One split tells nothing about chance, so there is no interval. Use more folds or repeats to get one."
    return (
        "The range in which the mean over all such splits of data like this lies, with 95 % confidence. It is widened "
        "because training parts overlap (Nadeau and Bengio's correction)."
    )
