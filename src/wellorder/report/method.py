"""How a comparison was computed, told to someone who has to decide whether to believe it."""

from __future__ import annotations

from collections.abc import Iterator

from ..evaluation.leaderboard import Leaderboard, Protocol
from ..writing import write_bytes, write_seconds
from .wording import describe_metric, metric_title

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
    "that ended in a tie says nothing about who stands above; it counts where ties are to be told from differences. "
    "Methods that only order items predict no ties, and have every tie wrong in the comparison error. Ratings go by "
    "the items' names and the order of the file; an item in no training comparison has the rating that all start with.",
}


def explain_protocol(leaderboard: Leaderboard) -> tuple[tuple[str, str], ...]:
    """Return (heading, text) for each step of the protocol, in reading order."""
    protocol = leaderboard.protocol
    steps = [
        ("Splits", _splits(leaderboard)),
        ("Searches", _searches(protocol)),
        ("Intervals", _intervals(leaderboard)),
        (
            "Tests",
            "Each method is compared with the leader split by split (corrected resampled paired t test). The leader "
            "was chosen on the same splits, so the p values are corrected for all tests of two methods that there "
            "could be (Holm over every two methods): where all methods are alike, one of them is called worse in "
            "about 5 % of comparisons at most. “Not told apart” means p ≥ 0.05: the difference may be chance. It "
            "does not mean that the two are equal.",
        ),
        *_machine(protocol),
        ("Conventions", _CONVENTIONS["comparisons" if protocol.split_by == "pairs" else "grades"]),
        ("Chance", _chance(leaderboard)),
    ]
    return tuple(steps)


def explain_metrics(protocol: Protocol) -> tuple[tuple[str, str], ...]:
    """Return (title, meaning) for everything that was measured."""
    comparisons = protocol.split_by == "pairs"
    return tuple((metric_title(name), describe_metric(name, comparisons=comparisons)) for name in protocol.metrics)


def _splits(leaderboard: Leaderboard) -> str:
    protocol = leaderboard.protocol
    done = "was done" if leaderboard.is_complete else "was to be done"
    again = (
        "" if protocol.n_repeats == 1 else f"; all of it {done} {protocol.n_repeats} times, with new parts each time"
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
        budget = (
            f" The time for everything was limited to {write_seconds(protocol.time_budget)}, which decides what is "
            "left out and how often all is repeated."
        )
    if protocol.planned_repeats is not None:
        budget += f" Of {protocol.planned_repeats} planned repeats there was time for {protocol.n_repeats}."
    encoding = "as was every scaling and encoding of columns"
    if protocol.split_by == "pairs":
        encoding = "while features were scaled and encoded over all items, without a look at any outcome"
    return (
        f"Parameters were searched inside each training part only ({protocol.inner_folds}-fold, by "
        f"{metric_title(protocol.metric)}), {encoding}; the test part was touched once, to judge.{budget}"
    )


def _machine(protocol: Protocol) -> Iterator[tuple[str, str]]:
    """Say how much memory was reckoned with, and how many trials ran at a time."""
    memory = protocol.memory
    if memory is None or memory.heaviest is None:
        return
    jobs = "one at a time" if protocol.n_jobs == 1 else f"up to {protocol.n_jobs} at a time"
    yield (
        "Memory",
        f"The data were reckoned to take {write_bytes(memory.data)} of memory, and {write_bytes(memory.needed)} with "
        f"the heaviest method, {memory.heaviest}. Trials ran {jobs}, which changes no result.",
    )


def _chance(leaderboard: Leaderboard) -> str:
    """Say what can be repeated: the lines name what there was time for, and set no limit of time themselves."""
    seeded = f"Everything random is drawn from the seed {leaderboard.protocol.seed}"
    if not leaderboard.protocol.code:
        return f"{seeded}."
    if not leaderboard.is_complete:
        return f"{seeded}. The lines below compute all that was planned, however long it takes."
    return f"{seeded}. The lines below name what there was time for; with the same versions they give the same numbers."


def _intervals(leaderboard: Leaderboard) -> str:
    if max((each.n_splits for each in leaderboard.standings), default=0) < 2:
        return "One split tells nothing about chance, so there is no interval. Use more folds or repeats to get one."
    return (
        "The range in which the mean over all such splits of data like this lies, with 95 % confidence. It is widened "
        "because training parts overlap (Nadeau and Bengio's correction)."
    )
