"""A graph of series as SVG that needs no style sheet: for reports, PDF and `normstat graph`. Light, for paper.

Every point is a real sample, as query/series_points.py chose it: of a pixel column with many the first, lowest, highest and last.
The line through them is the envelope. Gaps stay gaps.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final, Literal

from normstat.report.markup import Markup, join, tag
from normstat.runtime.readable import format_number

MAX_LINES: Final = 24
MAX_MARKS: Final = 60
TEXT: Final = "#1c232b"
SOFT: Final = "#55606e"
GRID: Final = "#d6dde5"
FONT: Final = "DejaVu Sans Condensed, system-ui, Segoe UI, Roboto, Helvetica, Arial, sans-serif"
# Distinct for the colour-blind, and in grey by their dashes.
COLOURS: Final = ("#0b5fa5", "#c2410c", "#15803d", "#7c3aed", "#a16207", "#be185d", "#0e7490", "#4b5563")
DASHES: Final = (None, "6 3", "2 2")
MARKS: Final = {"incident": "#c2410c", "baseline": "#0b5fa5", "event": "#7c3aed", "window": "#4b5563", "artefact": "#15803d"}
LEFT: Final = 66
RIGHT: Final = 14
TOP: Final = 20
# Height of the title of a graph among others.
HEADING: Final = 26
LINE: Final = 15
# Width of a character, relative to the font size.
CHARACTER: Final = 0.55
SIZE: Final = 10
STEPS_S: Final = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600,
    2_592_000, 7_776_000, 31_536_000,
)  # fmt: skip
DAY_S: Final = 86_400
# Differences of larger numbers overflow.
MAX_VALUE: Final = 1e300


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A line of a graph. Units: times_ms since the epoch, UTC. Missing: None or NaN in `values` is a gap."""

    name: str
    unit: str
    times_ms: Sequence[int]
    values: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class PictureMark:
    """A window (with `end_ms`) or a moment that is marked in a graph, with a word or two."""

    kind: Literal["incident", "baseline", "event", "window", "artefact"]
    start_ms: int
    end_ms: int | None
    label: str


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """What a graph shows from `start_ms` to `end_ms`. Lines of one unit share a panel; panels are one below the other."""

    title: str
    start_ms: int
    end_ms: int
    lines: Sequence[PictureLine]
    marks: Sequence[PictureMark] = ()


@dataclass(frozen=True, slots=True)
class PanelBox:
    """Where a panel is drawn, and the values at its bottom and top."""

    x: float
    y: float
    width: float
    height: float
    start_ms: int
    end_ms: int
    low: float
    high: float

    def to_x(self, at_ms: float) -> float:
        """Return the x coordinate of an instant."""
        return round(self.x + self.width * (at_ms - self.start_ms) / max(1, self.end_ms - self.start_ms), 1)

    def to_y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return round(self.y + self.height * (1 - (value - self.low) / (self.high - self.low)), 1)


def draw_graph(picture: GraphPicture, *, width: int = 720, panel_height: int = 150) -> Markup:
    """Return the graph as one `<svg>` with its size. Missing: without any value it says so in place of the lines."""
    parts, height = _draw(picture, width, panel_height)
    return picture_of(picture.title, width, height, parts)


def draw_sheet(title: str, pictures: Sequence[GraphPicture], *, width: int = 720, panel_height: int = 150) -> Markup:
    """Return several graphs under each other as one `<svg>`, each under its title."""
    parts: list[Markup] = []
    y = 0.0
    for picture in pictures:
        own, height = _draw(picture, width, panel_height)
        heading = tag("text", picture.title, x=LEFT, y=HEADING - 8, font_size=SIZE + 3, font_weight="bold", fill=TEXT)
        parts.append(tag("g", heading, tag("g", *own, transform=f"translate(0 {HEADING})"), transform=f"translate(0 {y:g})"))
        y += HEADING + height
    return picture_of(title, width, y, parts)


def _draw(picture: GraphPicture, width: int, panel_height: int) -> tuple[list[Markup], float]:
    """Return the parts of a graph and its height."""
    lines = picture.lines[:MAX_LINES]
    by_unit = [(unit, list(own)) for unit, own in groupby(sorted(lines, key=lambda line: line.unit), key=lambda line: line.unit)]
    styles = {id(line): _style(place) for place, line in enumerate(lines)}
    y = TOP
    parts: list[Markup] = []
    for unit, own in by_unit or [("", [])]:
        box = _box(picture, own, y, width, panel_height)
        # The marks' words stand in the first panel only.
        parts += [*_axes(box, unit), *_marks(picture, box, with_labels=y == TOP), *_lines(own, box, styles)]
        y += panel_height + 24
    legend, height = _legend(lines, styles, y, width, len(picture.lines) - len(lines))
    return [*parts, *legend], height


def picture_of(title: str, width: float, height: float, parts: Sequence[Markup], *, class_: str | None = "picture") -> Markup:
    """Return the parts as one `<svg>` with its size, on white."""
    return tag(
        "svg",
        tag("title", title),
        tag("rect", x=0, y=0, width=width, height=height, fill="#ffffff"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
        font_family=FONT,
        font_size=SIZE,
        class_=class_,
    )


def _style(place: int) -> dict[str, str | float | None]:
    return {
        "stroke": COLOURS[place % len(COLOURS)],
        "stroke_dasharray": DASHES[place // len(COLOURS) % len(DASHES)],
        "stroke_width": 1.2,
    }


def _known(line: PictureLine) -> list[float]:
    return [value for value in line.values if value is not None and abs(value) < MAX_VALUE]


def _box(picture: GraphPicture, lines: Sequence[PictureLine], y: float, width: float, height: float) -> PanelBox:
    known = [value for line in lines for value in _known(line)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    # Heights compare only from zero; where all values are far from it, their change is what matters.
    if low >= 0 and low < high / 2:
        low = 0.0
    margin = (high - low) * 0.05 or max(abs(high), 1.0) * 0.05
    low = low if low == 0 else low - margin
    return PanelBox(LEFT, y, width - LEFT - RIGHT, height, picture.start_ms, picture.end_ms, low, high + margin)


def value_ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Return about `n` round numbers from low to high."""
    rough = (high - low) / n
    if not math.isfinite(rough) or rough <= 0:
        return []
    size = 10.0 ** math.floor(math.log10(rough))
    step = next((size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough), 10 * size)
    first = math.ceil(low / step - 1e-9)
    return [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]


def time_ticks(start_ms: int, end_ms: int, n: int = 8) -> list[tuple[int, str]]:
    """Return about `n` instants at full steps of UTC, each with its text: the time, or the date where the step is a day."""
    length_s = max(1e-3, (end_ms - start_ms) / 1000)
    step_s = next((step for step in STEPS_S if step * n >= length_s), STEPS_S[-1])
    first = -(-start_ms // (1000 * step_s))
    found = []
    for at_s in range(first * step_s, end_ms // 1000 + 1, step_s):
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at_s)
        is_date = step_s >= DAY_S or (at_s % DAY_S == 0 and length_s > DAY_S / 2)
        found.append((1000 * at_s, when.strftime("%Y-%m-%d" if is_date else "%H:%M" if step_s >= 60 else "%H:%M:%S")))
    return found


def shorten_label(text: str, n: int) -> str:
    """Return the text in at most `n` characters."""
    return text if len(text) <= n else f"{text[: max(0, n - 1)]}…"


def _axes(box: PanelBox, unit: str) -> list[Markup]:
    parts = []
    for value in value_ticks(box.low, box.high):
        y = box.to_y(value)
        parts.append(tag("line", x1=box.x, x2=box.x + box.width, y1=y, y2=y, stroke=GRID, stroke_width=0.6))
        parts.append(tag("text", format_number(value), x=box.x - 5, y=y + 3.5, text_anchor="end", fill=SOFT))
    bottom = box.y + box.height
    for at_ms, text in time_ticks(box.start_ms, box.end_ms):
        x = box.to_x(at_ms)
        parts.append(tag("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, stroke=SOFT, stroke_width=0.8))
        half = len(text) * SIZE * CHARACTER / 2
        if box.x - 20 <= x - half and x + half <= box.x + box.width + RIGHT:
            parts.append(tag("text", text, x=x, y=bottom + 14, text_anchor="middle", fill=SOFT))
    frame = tag("path", d=f"M{box.x} {box.y}V{bottom}H{box.x + box.width}", fill="none", stroke=SOFT, stroke_width=0.8)
    return [*parts, frame, tag("text", unit or "no unit", x=4, y=box.y - 7, fill=TEXT)]


def _marks(picture: GraphPicture, box: PanelBox, *, with_labels: bool) -> list[Markup]:
    parts: list[Markup] = []
    # Where the words of each row end, so that none is printed over another.
    row_ends = [0.0, 0.0]
    for mark in sorted(picture.marks, key=lambda mark: mark.start_ms)[:MAX_MARKS]:
        end_ms = mark.start_ms if mark.end_ms is None else mark.end_ms
        if end_ms < box.start_ms or mark.start_ms > box.end_ms:
            continue
        colour = MARKS[mark.kind]
        left, right = box.to_x(max(mark.start_ms, box.start_ms)), box.to_x(min(end_ms, box.end_ms))
        if right - left > 1:
            parts.append(
                tag("rect", x=left, y=box.y, width=round(right - left, 1), height=box.height, fill=colour, fill_opacity=0.1)
            )
        parts.append(
            tag("line", x1=left, x2=left, y1=box.y, y2=box.y + box.height, stroke=colour, stroke_width=1, stroke_dasharray="3 2")
        )
        label = shorten_label(mark.label, 40)
        length = len(label) * SIZE * CHARACTER
        row = next((row for row, end in enumerate(row_ends) if left >= end), None)
        if with_labels and label and row is not None:
            at = min(left + 3, box.x + box.width - length)
            parts.append(tag("text", label, x=round(at, 1), y=box.y + 10 + 12 * row, fill=colour))
            row_ends[row] = at + length + 6
    return parts


def _lines(lines: Sequence[PictureLine], box: PanelBox, styles: dict[int, dict[str, str | float | None]]) -> list[Markup]:
    if not any(_known(line) for line in lines):
        middle = box.x + box.width / 2
        return [tag("text", "no samples in this window", x=middle, y=box.y + box.height / 2, text_anchor="middle", fill=SOFT)]
    return [
        tag("path", d=path, fill="none", stroke_linejoin="round", stroke_linecap="round", **styles[id(line)])
        for line in lines
        if (path := _path(line, box))
    ]


def _path(line: PictureLine, box: PanelBox) -> str:
    """Return the path of a line; a single point between gaps is a short dash."""
    pieces: list[list[str]] = [[]]
    last = ""
    for at_ms, value in zip(line.times_ms, line.values, strict=True):
        if value is None or not abs(value) < MAX_VALUE:
            if pieces[-1]:
                pieces.append([])
            last = ""
            continue
        point = f"{box.to_x(at_ms)} {box.to_y(value)}"
        # Points that fall on one place are drawn once.
        if point != last:
            pieces[-1].append(point)
        last = point
    return "".join(f"M{'L'.join(piece)}" if len(piece) > 1 else f"M{piece[0]}h1.5" for piece in pieces if piece)


def _legend(
    lines: Sequence[PictureLine], styles: dict[int, dict[str, str | float | None]], y: float, width: float, n_more: int
) -> tuple[list[Markup], float]:
    """Return the legend, and the height of the whole graph."""
    parts: list[Markup] = []
    x: float = LEFT
    y += 2
    for line in lines:
        name = shorten_label(line.name, 70)
        length = 22 + len(name) * SIZE * CHARACTER + 14
        if x > LEFT and x + length > width:
            x, y = LEFT, y + LINE
        swatch = tag("line", x1=x, x2=x + 16, y1=y - 3.5, y2=y - 3.5, **{**styles[id(line)], "stroke_width": 2})
        parts.append(join(swatch, tag("text", name, x=round(x + 20, 1), y=y, fill=TEXT)))
        x += length
    if n_more > 0:
        y += LINE
        parts.append(tag("text", f"{n_more:,} more lines are not drawn", x=LEFT, y=y, fill=SOFT))
    return parts, round(y + 8)
