"""A log of a trace on paper: its lanes and its latencies as SVG, and both with their tables as PDF."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.artefacts.parts import LogClock, LogPart
from normstat.artefacts.trace_log.blocking import Blocking, BlockingList, LogThread
from normstat.artefacts.trace_log.lanes import LogLane, LogLanes
from normstat.artefacts.trace_log.latency import LatencySummary
from normstat.artefacts.trace_log.log_times import print_time
from normstat.artefacts.trace_log.pairing import Mask
from normstat.report.blocks import Block, BlockColumn, FigureBlock, ReportDocument, ReportSection, SaidBlock, TableBlock
from normstat.report.graph_svg import COLOURS, GRID, SOFT, TEXT, picture_of, shorten_label
from normstat.report.markup import Markup, tag
from normstat.report.pdf import render_pdf
from normstat.runtime.readable import MISSING, count_of, format_span

WIDTH: Final = 1000
LABEL: Final = 150
LANE: Final = 22
AXIS: Final = 20
LEGEND: Final = 16
RIGHT: Final = 10
N_TICKS: Final = 7
SIZE: Final = 10
# Width of a letter, relative to the font size.
CHARACTER: Final = 0.55
SPANS: Final = {"wait": "#b42318", "hold": "#2a6fa8", "run": "#9aa7b4"}
SPAN_WORDS: Final = {"wait": "waits", "hold": "holds a lock", "run": "runs"}
CROSS: Final = "#7c3aed"
MAX_ARROWS: Final = 20
MAX_SIGNS: Final = 24
BAR: Final = 26
MAX_PDF_ROWS: Final = 40
# Pixels into which events are binned for paper: a line of A4 at 150 dots an inch.
BINS: Final = WIDTH - LABEL - RIGHT


@dataclass(frozen=True, slots=True)
class LogSource:
    """What a picture is of: facts (names and values) for the head of a PDF, and who makes it when, as text."""

    title: str
    facts: list[tuple[str, str]]
    made_by: str
    made_at: str
    address: str = ""


def describe_log(part: LogPart, mask: Mask, conditions: str) -> list[tuple[str, str]]:
    """Return what a picture or an analysis covers: the events, their time, and the conditions that chose them."""
    times = part.time_ns[mask]
    facts = [("Events", f"{len(times):,} of {part.n_rows:,}")]
    if len(times):
        first, last = (print_time(int(at), part.clock, part.decimals) for at in (times[0], times[-1]))
        facts.append(("Time", f"{first} to {last}, {format_span(int(times[-1] - times[0]))}"))
    return [*facts, ("Only", conditions)] if conditions else facts


def draw_lanes(view: LogLanes, blockings: Sequence[Blocking] = ()) -> Markup:
    """Return the lanes with their spans, events, and who blocked whom, as the page shows them."""
    scale = BINS / view.width_ns
    legend, top = _legend(view, is_waiting=any(found.wait_is_limit for found in blockings))
    height = top + AXIS + max(1, len(view.lanes)) * LANE + 6
    parts: list[Markup] = [*legend, *_axis(view, top, height)]
    for row, lane in enumerate(view.lanes):
        parts += _lane(lane, top + AXIS + row * LANE, scale)
    if not view.lanes:
        parts.append(tag("text", "No events in this window.", x=LABEL, y=top + AXIS + 14, fill=SOFT))
    for found in blockings[:MAX_ARROWS]:
        parts += _arrow(found, view, top + AXIS, scale)
    return picture_of(view.title, WIDTH, height, parts, class_=None)


def _legend(view: LogLanes, *, is_waiting: bool) -> tuple[list[Markup], float]:
    """Return the meaning of the colours, and where the picture goes on below."""
    used = {kind for lane in view.lanes for kind in lane.spans.kind} | ({"wait"} if is_waiting else set())
    entries = [(SPAN_WORDS[kind], colour) for kind, colour in SPANS.items() if kind in used]
    entries += [(name, COLOURS[at % len(COLOURS)]) for at, name in enumerate(view.names)]
    parts: list[Markup] = []
    x, y = 8.0, 4.0
    for name, colour in entries:
        label = shorten_label(name, MAX_SIGNS)
        width = 18 + len(label) * SIZE * CHARACTER + 8
        if x + width > WIDTH and x > 8:
            x, y = 8.0, y + LEGEND
        parts += [
            tag("rect", x=round(x, 1), y=y + 1, width=9, height=9, fill=colour),
            tag("text", label, x=round(x + 13, 1), y=y + 9.5, fill=TEXT),
        ]
        x += width
    return parts, y + LEGEND + 4 if entries else y


def _axis(view: LogLanes, top: float, height: float) -> list[Markup]:
    clock = LogClock(view.clock)
    parts: list[Markup] = []
    step = nice_step(view.width_ns / N_TICKS)
    for place in range(int((view.width_ns - 1) // step) + 1):
        x = round(LABEL + BINS * place * step / view.width_ns, 1)
        label = f"+{format_span(place * step)}" if place else print_time(int(view.start), clock, view.decimals)
        parts.append(tag("line", x1=x, y1=top + AXIS - 5, x2=x, y2=height, stroke=GRID))
        if place != 1 or BINS * step / view.width_ns > len(print_time(int(view.start), clock, view.decimals)) * SIZE * CHARACTER:
            parts.append(tag("text", label, x=x + 3, y=top + 11, fill=SOFT))
    return parts


def nice_step(span_ns: float) -> int:
    """Return the next of 1, 2, 5, 10, 20 ... nanoseconds.

    >>> nice_step(0.3), nice_step(7), nice_step(1_200_000)
    (1, 10, 2000000)
    """
    step = 1
    while True:
        for factor in (1, 2, 5):
            if step * factor >= span_ns:
                return step * factor
        step *= 10


def _lane(lane: LogLane, y: float, scale: float) -> list[Markup]:
    parts = [
        tag("text", shorten_label(lane.label, MAX_SIGNS), x=LABEL - 8, y=y + 14, text_anchor="end", fill=TEXT),
        tag("line", x1=LABEL, y1=y + LANE - 0.5, x2=LABEL + BINS, y2=y + LANE - 0.5, stroke=GRID),
    ]
    spans = lane.spans
    for kind, label, start, end, n, is_open in zip(
        spans.kind, spans.label, spans.start_ns, spans.end_ns, spans.count, spans.is_open, strict=True
    ):
        low, high = max(0.0, start * scale), min(float(BINS), end * scale)
        said = f"{SPAN_WORDS[kind]}{f' ({label})' if label else ''}: "
        length = format_span(end - start)
        said += f"{n:,} within {length}" if n > 1 else f"{'at most ' if is_open else ''}{length}"
        parts.append(
            tag(
                "rect",
                tag("title", said),
                x=round(LABEL + low, 1),
                y=y + 2,
                width=round(max(high - low, 0.8), 1),
                height=10,
                fill=SPANS[kind],
                fill_opacity=0.25 if is_open else 0.5 if kind == "run" else None,
                stroke=SPANS[kind] if is_open else None,
                stroke_dasharray="4 3" if is_open else None,
            )
        )
    strokes: dict[int, list[str]] = {}
    for name, first, last in zip(lane.bins.name, lane.bins.first_ns, lane.bins.last_ns, strict=True):
        x = round(LABEL + first * scale, 1)
        # Several events of one pixel: a stroke at the first, and a line to the last.
        more = f"H{round(LABEL + last * scale, 1)}" if (last - first) * scale >= 1 else ""
        strokes.setdefault(name, []).append(f"M{x} {y + 13}V{y + LANE - 2}{more}")
    parts += [
        tag("path", d="".join(path), stroke=COLOURS[name % len(COLOURS)], stroke_width=1.2, fill="none")
        for name, path in sorted(strokes.items())
    ]
    return parts


def _arrow(found: Blocking, view: LogLanes, top: float, scale: float) -> list[Markup]:
    """Return the way from the thread that held to the one that waited. Missing: none where a lane is not shown."""
    to, by = (_row_of(view, thread) for thread in (found.waiter, found.holder))
    start, end, released = ((int(at) - int(view.start)) * scale for at in (found.wait_start, found.wait_end, found.released))
    if to is None or by is None or released < 0 or end > BINS + 1:
        return []
    parts: list[Markup] = []
    if found.wait_is_limit:
        low = max(0.0, start)
        parts.append(
            tag(
                "rect",
                tag("title", found.sentence),
                x=round(LABEL + low, 1),
                y=top + to * LANE + 2,
                width=round(end - low, 1),
                height=10,
                fill=SPANS["wait"],
                fill_opacity=0.25,
                stroke=SPANS["wait"],
                stroke_dasharray="4 3",
            )
        )
    x, y = round(LABEL + end, 1), top + to * LANE + 7
    return [
        *parts,
        tag("path", tag("title", found.sentence), d=f"M{round(LABEL + released, 1)} {top + by * LANE + 7}L{x} {y}", stroke=CROSS,
            stroke_width=1.4, fill="none"),
        tag("circle", cx=x, cy=y, r=2.5, fill=CROSS),
    ]  # fmt: skip


def _row_of(view: LogLanes, thread: LogThread) -> int | None:
    for row, lane in enumerate(view.lanes):
        same_name = lane.command == thread.command
        if lane.cpu == thread.cpu if view.by == "cpu" else same_name and (view.by == "command" or lane.pid == thread.pid):
            return row
    return None


def draw_latencies(summary: LatencySummary, title: str) -> Markup:
    """Return the latencies as a histogram of decades: a bar for each, with its count and its share."""
    filled = [place for place, n in enumerate(summary.decades) if n]
    labels = summary.decade_labels
    first, last = (min(filled[0], len(labels) - 1), filled[-1] + 1) if filled else (0, len(labels))
    most = max(summary.decades) or 1
    top = 44.0
    longest = WIDTH - LABEL - 170
    parts: list[Markup] = [
        tag("text", title, x=8, y=16, fill=TEXT, font_size=13, font_weight="bold"),
        tag("text", ". ".join(said for said in (summary.spread, summary.concentration) if said), x=8, y=33, fill=SOFT),
    ]
    for row, place in enumerate(range(first, last)):
        n = summary.decades[place]
        y = top + row * BAR
        length = round(longest * n / most, 1)
        share = f" ({100 * n / summary.count:.3g} %)" if n else ""
        parts += [
            tag("text", labels[place], x=LABEL - 8, y=y + 14, text_anchor="end", fill=TEXT),
            tag("rect", x=LABEL, y=y + 3, width=max(length, 1 if n else 0), height=BAR - 10, fill=COLOURS[0]),
            tag("text", f"{n:,}{share}", x=LABEL + length + 6, y=y + 14, fill=TEXT),
        ]
    below = top + (last - first) * BAR
    parts.append(tag("text", _totals(summary), x=8, y=below + 14, fill=SOFT))
    return picture_of(title, WIDTH, below + 24, parts, class_=None)


def _totals(summary: LatencySummary) -> str:
    if summary.avg_ns is None or summary.max_ns is None:
        return "No such pair of events."
    unmatched = summary.n_unmatched_begin + summary.n_unmatched_end
    many = count_of(unmatched, "event")
    said = f"{summary.count:,} in all, {format_span(summary.total_ns)}; average {format_span(summary.avg_ns)}"
    said += f", longest {format_span(summary.max_ns)}"
    return f"{said}; not counted: {many} without a partner" if unmatched else said


def lanes_pdf(view: LogLanes, blocking: BlockingList, source: LogSource) -> bytes:
    """Return the lanes and the longest waits as PDF."""
    caption = f"{view.n_events:,} of {view.n_all_events:,} events"
    if view.n_lanes > len(view.lanes):
        caption += f", in {len(view.lanes)} of {view.n_lanes} lanes: those that wait longest"
    blocks: list[Block] = [FigureBlock(str(draw_lanes(view, blocking.rows)), f"{caption}.")]
    sections = [ReportSection("Lanes", blocks), ReportSection("Who blocked whom", [_blocking_block(blocking)])]
    return _pdf(source, sections)


def _blocking_block(blocking: BlockingList) -> Block:
    if not blocking.rows:
        return SaidBlock("The log does not show that a thread waited for another one.", "soft")
    columns = [
        BlockColumn("waited", is_number=True), BlockColumn("held", is_number=True), BlockColumn("what happened", share=5),
    ]  # fmt: skip
    rows = [
        [
            ("≤ " if row.wait_is_limit else "") + format_span(row.wait_ns),
            MISSING if row.held_ns is None else ("≤ " if row.held_is_limit else "") + format_span(row.held_ns),
            row.sentence,
        ]
        for row in blocking.rows[:MAX_PDF_ROWS]
    ]
    more = f"The longest {len(rows)} of {blocking.n_rows:,}." if blocking.n_rows > len(rows) else ""
    return TableBlock(columns, rows, more)


def latencies_pdf(summary: LatencySummary, title: str, source: LogSource) -> bytes:
    """Return the decades and the table of keys as PDF."""
    columns = [
        BlockColumn("key", share=2.6),
        *(BlockColumn(name, is_number=True) for name in ("count", "average", "longest", "total", "share %")),
        *(BlockColumn(name, is_number=True, share=0.7) for name in summary.decade_labels),
    ]
    rows = [
        [
            row.key or "(none)", f"{row.count:,}", format_span(row.avg_ns), format_span(row.max_ns), format_span(row.total_ns),
            f"{100 * row.share:.3g}", *(f"{n:,}" if n else "" for n in row.decades),
        ]
        for row in summary.rows[:MAX_PDF_ROWS]
    ]  # fmt: skip
    caption = f"The first {len(rows)} of {summary.n_rows:,} keys." if summary.n_rows > len(rows) else ""
    figure = FigureBlock(str(draw_latencies(summary, title)), summary.spread)
    return _pdf(
        source,
        [ReportSection("Latencies", [figure]), ReportSection("By key", [TableBlock(columns, rows, caption)] if rows else [])],
    )


def _pdf(source: LogSource, sections: list[ReportSection]) -> bytes:
    return render_pdf(
        ReportDocument(
            title=source.title,
            facts=source.facts,
            sections=sections,
            files={},
            made_by=source.made_by,
            made_at=source.made_at,
            address=source.address,
            base="",
        )
    )
