"""Graphs of findings as SVG: the incident over the band of the baseline, and the distribution of both sides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.comparison.model import Finding
from normstat.comparison.side_values import SideValues, Sparkline, SparklineColumns
from normstat.report.markup import Markup, tag
from normstat.runtime.readable import format_clock, format_number

WIDTH: Final = 330
HEIGHT: Final = 100
LEFT: Final = 62
TOP: Final = 8
# Width of each half of the distribution: baseline left, incident right.
SIDE: Final = 38
GAP: Final = 10
N_BINS: Final = 30
BOX_WIDTH: Final = LEFT + WIDTH + GAP + 2 * SIDE + 2
BOX_HEIGHT: Final = TOP + HEIGHT + 18


@dataclass(frozen=True, slots=True)
class Scale:
    """The values at the bottom and at the top of a graph."""

    low: float
    high: float

    def y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return round(TOP + HEIGHT * (1 - (value - self.low) / (self.high - self.low)), 1)


def draw_finding(finding: Finding, unit: str, name: str) -> Markup | None:
    """Return the graph of a finding. Missing: None without samples."""
    sparkline = finding.sparkline
    if sparkline is None and not finding.baseline.quantiles and not finding.incident.quantiles:
        return None
    scale = _find_scale(finding)
    if scale is None:
        return None
    return tag(
        "svg",
        tag("title", f"{name}: incident over the band of the baseline, and the distribution of both"),
        _axis(scale, unit),
        _band(finding.baseline, scale),
        _line(sparkline, scale),
        _times(sparkline),
        _distribution(finding, scale),
        _one_side(finding),
        viewBox=f"0 0 {BOX_WIDTH} {BOX_HEIGHT}",
        role="img",
        aria_label=f"{name}: {finding.sentence}",
        class_="graph",
    )


def _find_scale(finding: Finding) -> Scale | None:
    """Return the range of values to draw, with a margin. Missing: None without any value."""
    known = [
        value
        for side in (finding.baseline, finding.incident)
        for value in (side.lowest, side.highest, side.p5, side.p95)
        if value is not None and math.isfinite(value)
    ]
    if finding.sparkline is not None:
        columns = [*finding.sparkline.low, *finding.sparkline.high]
        known += [value for value in columns if value is not None and math.isfinite(value)]
    if not known:
        return None
    low, high = min(known), max(known)
    # Start the axis at zero where zero is near, so that heights compare.
    if 0 < low < high / 2:
        low = 0.0
    margin = (high - low) * 0.04 or max(abs(high), 1.0) * 0.04
    return Scale(low if low == 0 else low - margin, high + margin)


def _axis(scale: Scale, unit: str) -> Markup:
    marks = []
    for value in _ticks(scale.low, scale.high):
        y = scale.y(value)
        marks.append(tag("line", x1=LEFT - 3, x2=LEFT + WIDTH, y1=y, y2=y, class_="grid"))
        marks.append(tag("text", format_number(value), x=LEFT - 6, y=y + 3.5, class_="left"))
    return tag("g", *marks, tag("text", unit, x=2, y=TOP + HEIGHT + 14))


def _ticks(low: float, high: float) -> list[float]:
    """Return two to four round numbers."""
    rough = (high - low) / 3
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _band(side: SideValues, scale: Scale) -> Markup | None:
    """Return the band of the baseline, p5 to p95 with its median, over the whole width."""
    if side.p5 is None or side.p95 is None or side.median is None:
        return None
    top, bottom = scale.y(side.p95), scale.y(side.p5)
    middle = scale.y(side.median)
    return tag(
        "g",
        tag("rect", x=LEFT, width=WIDTH, y=top, height=round(max(bottom - top, 1), 1), class_="band"),
        tag("line", x1=LEFT, x2=LEFT + WIDTH, y1=middle, y2=middle, class_="median"),
    )


def _line(sparkline: Sparkline | None, scale: Scale) -> Markup:
    if sparkline is None:
        return tag("text", "not drawn over time", x=LEFT + 8, y=TOP + 14)
    parts = []
    if sparkline.baseline is not None:
        parts.append(tag("path", d=_outline(sparkline.baseline, scale), class_="baseline"))
    parts.append(tag("path", d=_outline(sparkline, scale), class_="incident"))
    return tag("g", *parts)


def _one_side(finding: Finding) -> Markup | None:
    """Return a note in the graph of a series that has samples on one side only. Missing: None for all others."""
    if finding.baseline.n and finding.incident.n:
        return None
    side = "incident" if finding.baseline.n else "baseline"
    return tag("text", f"no samples in the {side}", x=LEFT + WIDTH - 4, y=TOP + 10, class_="left")


def _outline(columns: SparklineColumns, scale: Scale) -> str:
    """Return closed shapes between lowest and highest of each column, with gaps where there is no sample."""
    step = WIDTH / max(1, len(columns.high))
    pieces: list[list[tuple[float, float, float]]] = [[]]
    for index, (low, high) in enumerate(zip(columns.low, columns.high, strict=True)):
        if low is None or high is None:
            pieces.append([])
        else:
            pieces[-1].append((LEFT + (index + 0.5) * step, scale.y(low), scale.y(high)))
    return "".join(_piece(piece, step) for piece in pieces if piece)


def _piece(columns: Sequence[tuple[float, float, float]], step: float) -> str:
    """Return the outline of consecutive columns (x, low, high)."""
    if len(columns) == 1:
        # A single column between gaps is drawn as a bar.
        x, low, high = columns[0]
        columns = [(x - step / 2, low, high), (x + step / 2, low, high)]
    above = [f"{x:.1f} {high}" for x, _, high in columns]
    below = [f"{x:.1f} {low}" for x, low, _ in reversed(columns)]
    return f"M{'L'.join([*above, *below])}Z"


def _times(sparkline: Sparkline | None) -> Markup | None:
    if sparkline is None:
        return None
    y = TOP + HEIGHT + 14
    return tag(
        "g",
        tag("text", format_clock(sparkline.start_ms), x=LEFT, y=y),
        tag("text", format_clock(sparkline.end_ms), x=LEFT + WIDTH, y=y, class_="left"),
    )


def _distribution(finding: Finding, scale: Scale) -> Markup:
    """Return the distribution: baseline left of a line, incident right. Lengths are roots of shares, so that rare values show."""
    middle = LEFT + WIDTH + GAP + SIDE
    shares = [_shares(side.quantiles, scale) for side in (finding.baseline, finding.incident)]
    largest = max((float(side.max()) for side in shares if len(side)), default=0.0)
    bars = [
        tag("path", d=_bars(side, largest, middle, towards), class_=name)
        for side, towards, name in ((shares[0], -1, "baseline bars"), (shares[1], 1, "incident bars"))
        if len(side) and largest > 0
    ]
    return tag("g", tag("line", x1=middle, x2=middle, y1=TOP, y2=TOP + HEIGHT, class_="grid"), *bars)


def _shares(quantiles: Sequence[float] | None, scale: Scale) -> npt.NDArray[np.float64]:
    """Return the share of the samples in each of N_BINS equal bins, bottom first. Missing: empty without samples."""
    if not quantiles:
        return np.zeros(0)
    steps = np.linspace(0, 1, len(quantiles))
    edges = np.linspace(scale.low, scale.high, N_BINS + 1)
    # Take the last one of equal quantiles: all up to it is below.
    values, last = np.unique(np.asarray(quantiles, dtype=np.float64)[::-1], return_index=True)
    upto = np.interp(edges, values, steps[::-1][last], left=0.0, right=1.0)
    # Samples on the lowest edge belong to the lowest bin.
    upto[0] = 0.0
    return np.diff(upto)


def _bars(shares: npt.NDArray[np.float64], largest: float, middle: float, towards: int) -> str:
    height = HEIGHT / len(shares)
    parts = []
    for index, share in enumerate(shares):
        if share <= 0:
            continue
        end = round(middle + towards * max(0.8, SIDE * math.sqrt(share / largest)), 1)
        bottom, top = (round(TOP + HEIGHT - (index + edge) * height, 1) for edge in (0, 1))
        parts.append(f"M{middle} {bottom}H{end}V{top}H{middle}Z")
    return "".join(parts)
