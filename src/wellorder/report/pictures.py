"""The figures of a report, as SVG with a heading and a caption."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from ..evaluation.leaderboard import Leaderboard, Standing
from ..evaluation.records import Record
from ..figures import ComparisonROCDisplay, NDCGCurveDisplay, SwapsDisplay, WeightsDisplay, to_svg
from ..figures.lines import FEW

MOST_CURVES = 6
"""More lines than this cannot be followed."""


@dataclass(frozen=True)
class Picture:
    """A figure with what is said around it."""

    name: str
    heading: str
    method: str
    """Whose figure it is; an empty text where it shows several methods."""
    caption: str
    svg: Markup


def make_pictures(leaderboard: Leaderboard) -> tuple[Picture, ...]:
    """Draw what the records allow: swaps, curves, weights."""
    made = (_swaps(leaderboard), _curves(leaderboard), _weights(leaderboard))
    return tuple(picture for picture in made if picture is not None)


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
        display, heading = NDCGCurveDisplay.from_records(records), "The top of the lists"
        caption = "NDCG among the first k places, averaged over the splits: 1 is the best possible top of the list."
    elif "comparison_roc" in kinds:
        display, heading = ComparisonROCDisplay.from_records(records), "Differences and false alarms"
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


def _weights(leaderboard: Leaderboard) -> Picture | None:
    """Show what the best linear method looks at."""
    for standing in leaderboard.standings:
        records = [record for record in leaderboard.of(standing.method) if record.weights]
        if not records:
            continue
        display = WeightsDisplay.from_records(records)
        if not display.weights:
            continue
        caption = "Features are scaled, so that weights can be compared: more of a feature with a bar to the right "
        caption += "puts an item higher, to the left lower."
        if len(records) > 1:
            caption += " Thin lines reach from the lowest to the highest split: short ones are steady."
        if display.n_features > len(display.weights):
            caption += f" The {len(display.weights)} largest of {display.n_features:,} weights."
        title = f"Weights of {standing.method}"
        svg = to_svg(display, name="weights", title=title)
        return Picture("weights", "What the best linear method looks at", standing.method, caption, Markup(svg))
    return None
