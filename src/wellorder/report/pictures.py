"""The figures of a report, as SVG with a heading and a caption; and two methods over many lists."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from markupsafe import Markup

from ..evaluation import Leaderboard, Record, Standing, is_share
from ..figures import (
    FEW,
    ComparisonROCDisplay,
    ExplanationDisplay,
    NDCGCurveDisplay,
    SwapsDisplay,
    WeightsDisplay,
    to_svg,
)
from ..writing import counted, write_metric
from .closer_look import CloserLook, Duel, Query
from .wording import metric_title

MOST_CURVES = 6
"""More lines than this cannot be told apart."""

_SHORT = {
    "swaps": "Mixed-up grades",
    "curves": "Curves",
    "differences": "Trust in differences",
    "calibration": "Probabilities",
    "weights": "Weights",
    "levels": "Two features",
}


@dataclass(frozen=True)
class Picture:
    """A figure with what is said around it."""

    name: str
    heading: str
    method: str
    """Whose figure it is; an empty text where it shows several methods."""
    caption: str
    svg: Markup

    @property
    def short(self) -> str:
        """What it is called in the table of contents."""
        return _SHORT[self.name]


@dataclass(frozen=True)
class Reason:
    """Why one item stands above another: a sentence, bars, and what else there is to say."""

    title: str
    headline: str
    notes: tuple[str, ...]
    svg: Markup


def make_pictures(leaderboard: Leaderboard, closer: CloserLook) -> tuple[Picture, ...]:
    """Draw what the records allow: swaps, curves, what differences are worth, weights, levels."""
    made = (
        _swaps(leaderboard),
        _curves(leaderboard),
        _differences(leaderboard, closer),
        _calibration(closer),
        _weights(leaderboard),
        _levels(closer),
    )
    return tuple(picture for picture in made if picture is not None)


def make_reasons(closer: CloserLook) -> tuple[Reason, ...]:
    """Draw why one of two items stands above the other."""
    return tuple(
        Reason(
            why.title,
            why.explanation.headline(),
            tuple(why.explanation.notes()),
            Markup(to_svg(ExplanationDisplay(why.explanation), name=f"why-{number}", title=why.explanation.headline())),
        )
        for number, why in enumerate(closer.whys, start=1)
    )


def draw_duel(duel: Duel) -> Markup:
    """Draw how far one method is ahead of the other, list by list."""
    title = f"How far {duel.leader} is ahead of {duel.rival} on each list"
    return Markup(to_svg(duel.display(), name="duel", title=title))


def _differences(leaderboard: Leaderboard, closer: CloserLook) -> Picture | None:
    """Show what a difference of the leader's scores is worth."""
    if closer.differences is None:
        return None
    comparisons = leaderboard.protocol.split_by == "pairs"
    what = "decided comparisons" if comparisons else "pairs of rows with different grades"
    method = leaderboard.leader.method
    return Picture(
        "differences",
        "How far to trust a difference",
        method,
        f"Held-out {what}, gathered by how far the two scores are apart: how often the higher score belongs to the "
        "better one. Near 50 % the order of two is a toss; a line that rises says that far scores can be trusted more.",
        Markup(
            to_svg(closer.differences, name="differences", title=f"What differences of {method}'s scores are worth")
        ),
    )


def _calibration(closer: CloserLook) -> Picture | None:
    """Show whether probabilities can be taken at their word."""
    if closer.calibration is None:
        return None
    return Picture(
        "calibration",
        "Are its probabilities right",
        closer.calibrated,
        "Held-out comparisons that were predicted with about the same probability, and how often it came so. On the "
        "dashed line, 70 % means seven times out of ten; below it the model is too sure.",
        Markup(to_svg(closer.calibration, name="calibration", title=f"Calibration of {closer.calibrated}")),
    )


def _levels(closer: CloserLook) -> Picture | None:
    """Show the scores over the two features that move them most."""
    if closer.levels is None:
        return None
    x, y = closer.levels.plane.features
    return Picture(
        "levels",
        "Scores over the two most telling features",
        closer.looked_at,
        "The two features that move the scores most; all others have their median, or their most common value. On the "
        "line 75 %, a row stands above 75 % of the rows; the deeper the colour, the higher it stands. Points are rows: "
        "where there are none, the model has little to go by.",
        Markup(to_svg(closer.levels, name="levels", title=f"Scores of {closer.looked_at} over {x} and {y}")),
    )


def _swaps(leaderboard: Leaderboard) -> Picture | None:
    """Show which grades the best method mixes up."""
    for standing in leaderboard.standings:
        records = [record for record in leaderboard.of(standing.method) if record.swaps is not None]
        if not records:
            continue
        display = SwapsDisplay.from_records(records)
        if not any(map(any, display.table.total)):
            continue
        title = f"Share of swapped pairs for each two grades, {standing.method}"
        return Picture(
            "swaps",
            "Which grades are mixed up",
            standing.method,
            "Of all held-out pairs of a lower and a higher grade, the share that stands the wrong way round, "
            "and below it how many pairs there were. Full colour is 50 % or more: no better than chance.",
            Markup(to_svg(display, name="swaps", title=title)),
        )
    return None


def _curves(leaderboard: Leaderboard) -> Picture | None:
    """Show the curves of the best methods, and of the best baseline."""
    records = [record for each in _shown(leaderboard) for record in leaderboard.of(each.method)]
    kinds = {record.curve.kind for record in records if record.curve is not None and record.curve.x}
    display: NDCGCurveDisplay | ComparisonROCDisplay
    if "ndcg" in kinds:
        display = NDCGCurveDisplay.from_records(records)
        heading = "The top of the lists" if leaderboard.protocol.split_by == "groups" else "The top of the list"
        caption = (
            "How good the first k places are (NDCG, averaged over the splits): 1 is the best possible top of a list, "
            "and upper places weigh more."
        )
    elif "comparison_roc" in kinds:
        display = ComparisonROCDisplay.from_records(records)
        heading = "Differences and false alarms"
        caption = (
            "As the threshold falls, more true differences are found in the right direction, and more ties are taken "
            "for differences. Further up is better."
        )
    else:
        return None
    if any(line.spread.any() for line in display.lines):
        whose = "bands are" if len(display.lines) <= FEW else "band around the first is"
        caption += f" The {whose} one standard deviation over the splits."
    with_curves = {each.method for each in leaderboard.standings} & {
        record.method for record in leaderboard.records if record.curve is not None
    }
    if len(with_curves) > len(display.lines):
        caption += f" Shown are {len(display.lines)} of {len(with_curves)} methods."
    title = f"{heading}: {', '.join(line.name for line in display.lines)}"
    svg = to_svg(display, name="curves", title=title)
    return Picture("curves", heading, "", caption, Markup(svg))


def _shown(leaderboard: Leaderboard) -> list[Standing]:
    """Choose whose curves to draw: the best ones, and the best baseline to measure them by."""
    drawable = [each for each in leaderboard.standings if any(map(_has_curve, leaderboard.of(each.method)))]
    if len(drawable) <= MOST_CURVES:
        return drawable
    baseline = next((each for each in drawable[MOST_CURVES - 1 :] if each.is_baseline), None)
    if baseline is None or any(each.is_baseline for each in drawable[: MOST_CURVES - 1]):
        return drawable[:MOST_CURVES]
    return [*drawable[: MOST_CURVES - 1], baseline]


def _has_curve(record: Record) -> bool:
    return record.curve is not None and len(record.curve.x) > 0


def _with_names(record: Record) -> Record:
    """Give numbered features names such as "feature 3"."""
    names = record.features or ()
    if not names or not all(name.isdecimal() for name in names):
        return record
    return replace(record, features=tuple(f"feature {name}" for name in names))


def _weights(leaderboard: Leaderboard) -> Picture | None:
    """Show what the best linear method looks at."""
    for standing in leaderboard.standings:
        records = [record for record in leaderboard.of(standing.method) if record.weights]
        if not records:
            continue
        display = WeightsDisplay.from_records(map(_with_names, records))
        if not display.weights:
            continue
        caption = "Features are scaled, so that weights can be compared: more of a feature with a bar to the right "
        caption += (
            "puts an item higher, to the left lower. Only proportions order: the squares of all weights add up to 1."
        )
        if len(records) > 1:
            caption += " Thin lines reach from the lowest to the highest split: short ones are steady."
        if display.n_features > len(display.weights):
            caption += f" The {len(display.weights)} largest of {display.n_features:,} weights."
        title = f"Weights of {standing.method}"
        svg = to_svg(display, name="weights", title=title)
        return Picture("weights", "What the best linear method looks at", standing.method, caption, Markup(svg))
    return None


# --------------------------------------------------------------------------------------------------
# Two methods over many lists, as they are laid out on the page.


_KINDS = {
    "won": "Where {leader} is furthest ahead",
    "lost": "Where {rival} is furthest ahead",
    "hard": "Hardest for {leader}",
}


@dataclass(frozen=True)
class ListRow:
    """A list in the table."""

    name: str
    n_rows: str
    leader: str
    rival: str


@dataclass(frozen=True)
class Block:
    """Lists that are there for one reason."""

    heading: str
    lines: tuple[ListRow, ...]


@dataclass(frozen=True)
class LaidOut:
    """All that the section shows."""

    leader: str
    rival: str
    metric: str
    summary: str
    blocks: tuple[Block, ...]
    shown: tuple[tuple[Query, ListRow], ...]
    """Lists whose two orders are shown."""
    svg: Markup


def lay_out_duel(duel: Duel) -> LaidOut:
    """Put a duel into words and lines."""
    lines = {id(query): _line(duel, query) for query in duel.queries}
    blocks = (
        Block(
            heading.format(leader=duel.leader, rival=duel.rival),
            tuple(lines[id(query)] for query in duel.queries if query.kind == kind),
        )
        for kind, heading in _KINDS.items()
    )
    return LaidOut(
        duel.leader,
        duel.rival,
        metric_title(duel.metric),
        _summary(duel),
        tuple(block for block in blocks if block.lines),
        tuple((query, lines[id(query)]) for query in duel.queries if query.orders is not None),
        draw_duel(duel),
    )


def _summary(duel: Duel) -> str:
    sign = 1.0 if duel.greater_is_better else -1.0
    gains = [sign * (value - duel.values[1][query]) for query, value in duel.values[0].items()]
    known = [gain for gain in gains if math.isfinite(gain)]
    won, lost = sum(gain > 0 for gain in known), sum(gain < 0 for gain in known)
    text = f"Of {counted(len(known), 'list')}, {duel.leader} orders {won:,} better, {duel.rival} {lost:,}"
    text += f", and {len(known) - won - lost:,} are equal." if won + lost < len(known) else "."
    undefined = len(gains) - len(known)
    if undefined:
        text += f" On {undefined:,} more there is nothing to tell: all rows have one grade, or none is relevant."
    return text


def _line(duel: Duel, query: Query) -> ListRow:
    leader, rival = (write_metric(value, is_share=is_share(duel.metric)) for value in query.values)
    return ListRow(query.name, f"{query.n_rows:,}", leader, rival)
