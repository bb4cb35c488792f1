"""The chart of an experiment as SVG: repeats as points, means with their intervals, curves of fitted models. Light, for paper."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.experiments.experiment_analysis import ExperimentAnalysis, VariantScaling
from normstat.report.graph_svg import COLOURS, GRID, SIZE, SOFT, TEXT, picture_of, shorten_label, value_ticks
from normstat.report.markup import Markup, join, tag
from normstat.runtime.readable import format_number

WIDTH: Final = 640
HEIGHT: Final = 250
LEFT: Final = 70
RIGHT: Final = 16
TOP: Final = 24
BOTTOM: Final = 40
ROOM: Final = 0.06
MAX_TICKS: Final = 16
MAX_LEGEND: Final = 12
DASHES: Final = {"amdahl": None, "usl": "6 3", "bottleneck": "8 3 2 3", "power": "2 2"}
TITLES: Final = {"amdahl": "Amdahl", "usl": "USL", "bottleneck": "bottleneck", "power": "power law"}


@dataclass(frozen=True, slots=True)
class ChartScale:
    """What the ends of both axes are."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        """Return the x coordinate of a level."""
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (value - self.left) / (self.right - self.left), 1)

    def y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return round(TOP + HEIGHT * (1 - (value - self.low) / (self.high - self.low)), 1)


def draw_scaling(analysis: ExperimentAnalysis, title: str) -> Markup:
    """Return the chart of one result by one factor. Levels that are not numbers stand at equal distances."""
    levels = [""] if analysis.factor is None else analysis.factor.levels
    is_numeric = analysis.factor is not None and analysis.factor.is_numeric
    at = {level: float(place) for place, level in enumerate(levels)}
    if is_numeric:
        at |= {level.level: level.x for level in analysis.levels if level.x is not None}
    shown = [level for level in analysis.levels if level.level in at]
    best = {each.variant: each for each in analysis.scaling}
    scale = _scale_of(analysis, [at[level.level] for level in shown], best)
    parts: list[Markup] = [*_axes(scale, analysis, {level.level: at[level.level] for level in shown})]
    variants = list(dict.fromkeys(level.variant for level in shown))
    for place, variant in enumerate(variants):
        colour = COLOURS[place % len(COLOURS)]
        own = [level for level in shown if level.variant == variant]
        last = max(at[level.level] for level in own)
        parts += _curves(scale, best.get(variant), last, colour)
        parts += [
            tag("circle", cx=scale.x(at[point.level]), cy=scale.y(point.value), r=3, fill="none", stroke=colour, stroke_width=0.9)
            for point in analysis.points
            if point.variant == variant and point.level in at
        ]
        for level in own:
            x, mean = scale.x(at[level.level]), level.result
            if mean.low is not None and mean.high is not None:
                low, high = scale.y(max(mean.low, scale.low)), scale.y(min(mean.high, scale.high))
                parts.append(tag("path", d=f"M{x - 4} {low}h8M{x} {low}V{high}M{x - 4} {high}h8", stroke=colour, fill="none"))
            parts.append(tag("circle", cx=x, cy=scale.y(mean.mean), r=4, fill=colour))
    legend, bottom = _legend(variants, best)
    return picture_of(title, WIDTH, bottom, [*parts, *legend])


def _scale_of(analysis: ExperimentAnalysis, xs: Sequence[float], best: dict[str, VariantScaling]) -> ChartScale:
    ys = [point.value for point in analysis.points]
    for level in analysis.levels:
        ys += [end for end in (level.result.mean, level.result.low, level.result.high) if end is not None]
    for scaling in best.values():
        for curve in scaling.curves:
            if curve.fit.model == scaling.best:
                xs = [*xs, *(point.x for point in curve.curve)]
                ys += [point.value for point in curve.curve if math.isfinite(point.value)]
    left, right = (min(xs), max(xs)) if xs else (0.0, 1.0)
    low, high = (min(0.0, *ys), max(ys)) if ys else (0.0, 1.0)
    across, up = (right - left or 1.0) * ROOM, (high - low or abs(high) or 1.0) * ROOM
    return ChartScale(left - across, right + across, low if low == 0 else low - up, high + up)


def _axes(scale: ChartScale, analysis: ExperimentAnalysis, at: dict[str, float]) -> list[Markup]:
    parts: list[Markup] = []
    right, bottom = WIDTH - RIGHT, TOP + HEIGHT
    for value in value_ticks(scale.low, scale.high):
        y = scale.y(value)
        parts.append(tag("line", x1=LEFT, x2=right, y1=y, y2=y, stroke=GRID, stroke_width=0.6))
        parts.append(tag("text", format_number(value), x=LEFT - 5, y=y + 3.5, text_anchor="end", fill=SOFT))
    end = -math.inf
    for level, value in sorted(at.items(), key=lambda each: each[1])[: MAX_TICKS * 4]:
        x = scale.x(value)
        parts.append(tag("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, stroke=SOFT, stroke_width=0.8))
        label = shorten_label(level, 14)
        half = len(label) * SIZE * 0.3
        if x - half > end + 3:
            parts.append(tag("text", label, x=x, y=bottom + 15, text_anchor="middle", fill=SOFT))
            end = x + half
    frame = tag("path", d=f"M{LEFT} {TOP}V{bottom}H{right}", fill="none", stroke=SOFT, stroke_width=0.8)
    result, factor = analysis.result, analysis.factor
    title = "" if result is None else f"{result.name} ({result.unit})" if result.unit else result.name
    words = [tag("text", shorten_label(title, 60), x=4, y=TOP - 9, fill=TEXT)]
    if factor is not None:
        words.append(tag("text", shorten_label(factor.name, 60), x=right, y=bottom + 30, text_anchor="end", fill=TEXT))
    return [*parts, frame, *words]


def _curves(scale: ChartScale, scaling: VariantScaling | None, last: float, colour: str) -> list[Markup]:
    """Return the curve of the best model: paler beyond the last level, where it is a prediction."""
    parts: list[Markup] = []
    for each in [] if scaling is None else scaling.curves:
        if scaling is None or each.fit.model != scaling.best:
            continue
        points = [point for point in each.curve if math.isfinite(point.value)]
        inside = [point for point in points if point.x <= last]
        beyond = [point for point in points if point.x >= (inside[-1].x if inside else last)]
        for piece, opacity in ((inside, 1.0), (beyond, 0.4)):
            if len(piece) > 1:
                path = "L".join(f"{scale.x(point.x)} {scale.y(point.value)}" for point in piece)
                parts.append(
                    tag(
                        "path", d=f"M{path}", fill="none", stroke=colour, stroke_width=1.5, stroke_opacity=opacity,
                        stroke_dasharray=DASHES[each.fit.model],
                    )
                )  # fmt: skip
    return parts


def _legend(variants: Sequence[str], best: dict[str, VariantScaling]) -> tuple[list[Markup], float]:
    """Return a line for each variant with its model, and the height of the whole chart."""
    y = TOP + HEIGHT + BOTTOM + 6.0
    parts: list[Markup] = []
    for place, variant in enumerate(variants[:MAX_LEGEND]):
        colour = COLOURS[place % len(COLOURS)]
        model = best[variant].best if variant in best else None
        line = f"; line: {TITLES.get(model, model)}, pale where it predicts" if model else ""
        said = f"mean of the runs with its 95 % interval{line}"
        name = f"{shorten_label(variant, 50)}: {said}" if variant else said
        parts.append(join(tag("circle", cx=LEFT + 4, cy=y - 3.5, r=4, fill=colour), tag("text", name, x=LEFT + 14, y=y, fill=TEXT)))
        y += 15
    if len(variants) > MAX_LEGEND:
        parts.append(tag("text", f"{len(variants) - MAX_LEGEND:,} more lines", x=LEFT, y=y, fill=SOFT))
        y += 15
    return parts, round(y - 4)
