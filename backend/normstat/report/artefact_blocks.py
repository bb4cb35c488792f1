"""An artefact as blocks of a report: what was asked, and each part as it looks on its page. Two artefacts compared key by key."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from normstat.artefacts.histogram_view import bucket_names, view_histogram
from normstat.artefacts.parts import HistogramPart, LogPart, Number, Part, StackPart, TablePart
from normstat.artefacts.table_view import TableRequest, add, merge_rows, view_table
from normstat.errors import BadRequest
from normstat.records.artefact_rows import Artefact
from normstat.report.blocks import Block, BlockColumn, FigureBlock, HeadingBlock, PairsBlock, PrintedBlock, SaidBlock, TableBlock
from normstat.report.graph_svg import SOFT, TEXT, picture_of, shorten_label
from normstat.report.markup import Markup, tag
from normstat.runtime.readable import count_of, format_duration, format_instant, format_number

MAX_PARTS: Final = 12
MAX_COLUMNS: Final = 5
MAX_DISTRIBUTIONS: Final = 6
MAX_LOG_ROWS: Final = 40
WIDTH: Final = 720
ROW: Final = 15
MAX_DEPTH: Final = 45
# Narrower boxes are not drawn; their width shows in the one below.
MIN_BOX: Final = 1.2
FLAMES: Final = ("#f4b183", "#f7c59f", "#f2a65a", "#eec170", "#f6d186", "#e8a87c")
UNKNOWN_LENGTH: Final = "unknown"


def artefact_blocks(known: Artefact, parts: Sequence[Part], *, only: int | None, limit: int) -> list[Block]:
    """Return the facts of an artefact, and its parts as tables, distributions, stacks and logs.

    Raises: BadRequest for a part that it does not have
    """
    if only is not None and only >= len(parts):
        raise BadRequest(f"Artefact {known.id} has {len(parts)} parts; there is no part {only}")
    chosen = [parts[only]] if only is not None else list(parts[:MAX_PARTS])
    blocks: list[Block] = [PairsBlock(about(known))]
    for part in chosen:
        if len(chosen) > 1 or part.title:
            blocks.append(HeadingBlock(part.title or part.stat))
        blocks += part_blocks(part, limit)
    if only is None and len(parts) > MAX_PARTS:
        blocks.append(SaidBlock(f"{len(parts) - MAX_PARTS} more parts are on the artefact's page.", "soft"))
    if not parts:
        blocks.append(SaidBlock("No reader knows this text; it is kept as it came, on the artefact's page.", "soft"))
    return blocks


def about(known: Artefact) -> list[tuple[str, str]]:
    """Return the facts of an artefact as text."""
    when = format_instant(known.start) + (f" to {format_instant(known.end)}" if known.end is not None else "")
    return [
        ("Question", known.question if len(known.question) <= 500 else f"{known.question[:500]}…"),
        ("Host", known.host),
        ("When", when),
        ("Tool", known.tool or "unknown"),
        ("Command", known.command),
        ("Watched", "" if known.duration_s is None else f"{format_number(known.duration_s)} s"),
        ("Observer effect", "" if known.effect == "none" else known.effect),
        ("Raw text", f"{known.n_bytes:,} bytes, {known.n_lines:,} lines, artefact {known.id}, sha256 {known.sha256[:16]}…"),
    ]


def part_blocks(part: Part, limit: int) -> list[Block]:
    """Return a part as blocks."""
    match part:
        case TablePart():
            return [table_block(part, limit)]
        case HistogramPart():
            return histogram_blocks(part)
        case StackPart():
            return [FigureBlock(str(draw_flame(part)), _flame_caption(part))]
        case LogPart():
            return [_log_block(part)]


def table_block(part: TablePart, limit: int) -> TableBlock:
    """Return the costliest rows of a table, with bars of their share."""
    view = view_table(part, TableRequest(limit=limit))
    keys = [BlockColumn(name, share=2.2) for name in view.key_names] or [BlockColumn("", share=2.2)]
    order = next((place for place, column in enumerate(view.columns) if column.key == view.order), None)
    places = ([] if order is None else [order]) + [place for place in range(len(view.columns)) if place != order]
    n_hidden = max(0, len(places) - MAX_COLUMNS)
    places = places[:MAX_COLUMNS]
    columns = [
        *keys,
        *(BlockColumn(with_unit_title(view.columns[place].title, view.columns[place].unit), is_number=True) for place in places),
        BlockColumn("share %", is_number=True, share=0.7),
        BlockColumn("cumulative %", is_number=True, share=0.9),
    ]
    rows = [
        [
            *(row.key or [""]),
            *(exact(row.values[place]) for place in places),
            "" if row.share is None else f"{100 * row.share:.2f}",
            "" if row.cumulative is None else f"{100 * row.cumulative:.2f}",
        ]
        for row in view.rows
    ]
    bars = [row.share or 0.0 for row in view.rows] if any(row.share is not None for row in view.rows) else []
    left = view.n_rows - len(view.rows)
    said = f"The first {len(view.rows):,} of {view.n_rows:,} rows." if left > 0 else f"{view.n_rows:,} rows."
    total = "" if view.total is None or order is None else f" Total {exact(view.total)} {view.columns[order].unit}."
    more = f" {count_of(n_hidden, 'more column')} on the artefact's page." if n_hidden else ""
    return TableBlock(columns, rows, f"{said}{total}{more}", bars)


def with_unit_title(title: str, unit: str) -> str:
    """Return the head of a column with its unit."""
    return f"{title} ({unit})" if unit else title


def exact(value: Number | None) -> str:
    """Return a number of a tool: whole ones digit for digit. Missing: empty."""
    return "" if value is None else f"{value:,}" if isinstance(value, int) else format_number(value)


def histogram_blocks(part: HistogramPart) -> list[Block]:
    """Return the distributions with most events, over all reports."""
    view = view_histogram(part)
    totals: dict[str, list[Number]] = {}
    for each in view.distributions:
        known = totals.setdefault(each.key, [0] * len(view.buckets))
        for place, count in enumerate(each.counts):
            known[place] += count
    blocks: list[Block] = []
    for key, counts in list(totals.items())[:MAX_DISTRIBUTIONS]:
        labels = bucket_names(part.buckets, view.unit)
        caption = f"{key or part.title or part.stat}: {sum(counts):,} events"
        blocks.append(FigureBlock(str(draw_histogram(labels, counts, caption)), caption))
    left = len(totals) - MAX_DISTRIBUTIONS
    if left > 0:
        blocks.append(SaidBlock(f"{left:,} more distributions are on the artefact's page.", "soft"))
    return blocks


def draw_histogram(labels: Sequence[str], counts: Sequence[Number], title: str) -> Markup:
    """Return a distribution as bars from left to right; empty buckets at both ends are left out."""
    filled = [place for place, count in enumerate(counts) if count]
    first, last = (filled[0], filled[-1] + 1) if filled else (0, len(counts))
    shown = list(zip(labels[first:last], counts[first:last], strict=True))
    most = max((count for _, count in shown), default=0) or 1
    rows = []
    for place, (label, count) in enumerate(shown):
        y = 6 + place * ROW
        length = round((WIDTH - 220) * count / most, 1)
        rows += [
            tag("text", shorten_label(label, 24), x=130, y=y + 10, text_anchor="end", fill=SOFT),
            tag("rect", x=138, y=y + 1, width=max(length, 1 if count else 0), height=ROW - 3, fill="#0b5fa5"),
            tag("text", f"{count:,}", x=142 + length, y=y + 10, fill=TEXT),
        ]
    height = 12 + ROW * max(1, len(shown))
    return picture_of(title, WIDTH, height, rows)


def draw_flame(part: StackPart) -> Markup:
    """Return the stacks as an icicle: the root above, callees below, as wide as their weight."""
    place = next((place for place, column in enumerate(part.columns) if column.key == part.weight), 0)
    own = part.values[place].astype(np.float64)
    whole = own.copy()
    n_nodes = len(own)
    for node in range(n_nodes - 1, 0, -1):
        whole[part.parent[node]] += whole[node]
    children: dict[int, list[int]] = {}
    # Only what is wide enough to be seen.
    least = whole[0] * MIN_BOX / WIDTH
    for node in np.flatnonzero(whole >= max(least, 1e-300)).tolist():
        if node:
            children.setdefault(int(part.parent[node]), []).append(node)
    boxes: list[Markup] = []
    deepest = 0
    queue: list[tuple[int, float, int]] = [(0, 0.0, 0)]
    while queue:
        node, x, depth = queue.pop()
        width = WIDTH * whole[node] / whole[0] if whole[0] > 0 else WIDTH
        deepest = max(deepest, depth)
        name = part.names[int(part.name[node])] if node else f"all: {exact_total(part, place, whole[0])}"
        boxes.append(_box(name, x, depth, width, node))
        if depth >= MAX_DEPTH:
            continue
        at = x
        for child in sorted(children.get(node, ()), key=lambda child: part.names[int(part.name[child])]):
            queue.append((child, at, depth + 1))
            at += WIDTH * whole[child] / whole[0]
    return picture_of(part.title or part.stat, WIDTH, (deepest + 1) * ROW + 2, boxes)


def exact_total(part: StackPart, place: int, total: float) -> str:
    """Return the whole weight with its unit."""
    return f"{format_number(total)} {part.columns[place].unit}".rstrip() if part.columns else format_number(total)


def _box(name: str, x: float, depth: int, width: float, node: int) -> Markup:
    y = depth * ROW
    colour = FLAMES[sum(map(ord, name)) % len(FLAMES)] if node else "#d6dde5"
    rect = tag(
        "rect", x=round(x, 1), y=y, width=round(max(width - 0.4, 0.4), 1), height=ROW - 1, fill=colour, stroke="#ffffff",
        stroke_width=0.3,
    )  # fmt: skip
    n_signs = int((width - 6) / 5.6)
    words = tag("text", shorten_label(name, n_signs), x=round(x + 3, 1), y=y + 10.5, fill=TEXT) if n_signs >= 3 else None
    return tag("g", tag("title", name), rect, words)


def _flame_caption(part: StackPart) -> str:
    cut = f" {part.n_cut:,} stacks lost their deepest frames." if part.n_cut else ""
    return f"{part.n_stacks:,} different stacks; the width is {part.weight or 'their number'}; the root is above.{cut}"


def _log_block(part: LogPart) -> PrintedBlock:
    lines = []
    for place in range(min(part.n_rows, MAX_LOG_ROWS)):
        second, rest = divmod(part.time_ns[place], 1_000_000_000)
        cpu = "" if part.cpu[place] is None else f"cpu {part.cpu[place]}"
        clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.{rest:09}"
        lines.append(f"{clock}  {cpu:7} {part.command[place]:16} {part.event[place]} {part.function[place]}".rstrip())
    if part.n_rows > MAX_LOG_ROWS:
        lines.append(f"… {part.n_rows - MAX_LOG_ROWS:,} more events on the artefact's page")
    return PrintedBlock("\n".join(lines))


def diff_blocks(
    baseline: Artefact, incident: Artefact, sides: tuple[Sequence[Part], Sequence[Part]], limit: int
) -> list[Block]:  # fmt: skip
    """Return two artefacts key by key: the tables of one stat that both have, the largest difference first.

    Raises: BadRequest if they have no table in common
    """
    blocks: list[Block] = [
        PairsBlock(
            [
                (
                    "Baseline",
                    f"{baseline.host}, {format_instant(baseline.start)}, {_length(baseline)}: {baseline.title or baseline.command}",
                ),
                (
                    "Incident",
                    f"{incident.host}, {format_instant(incident.start)}, {_length(incident)}: {incident.title or incident.command}",
                ),
            ]
        )
    ]
    others = {part.stat: part for part in reversed(sides[1]) if isinstance(part, TablePart)}
    for part in sides[0]:
        other = others.pop(part.stat, None)
        if isinstance(part, TablePart) and other is not None and part.key_names == other.key_names:
            blocks.append(_diff_table(part, other, (baseline.duration_s, incident.duration_s), limit))
    if len(blocks) == 1:
        raise BadRequest(
            f"Artefacts {baseline.id} ({baseline.tool or 'unknown tool'}) and {incident.id} ({incident.tool or 'unknown tool'})"
            " have no table in common; choose two of one tool"
        )
    return blocks


def _length(known: Artefact) -> str:
    return UNKNOWN_LENGTH if known.duration_s is None else format_duration(known.duration_s)


def _diff_table(part: TablePart, other: TablePart, lengths: tuple[float | None, float | None], limit: int) -> Block:
    weight = part.weight or (part.columns[0].key if part.columns else "")
    place = next((place for place, column in enumerate(part.columns) if column.key == weight), None)
    place_of_other = next((place for place, column in enumerate(other.columns) if column.key == weight), None)
    if place is None or place_of_other is None:
        return SaidBlock(f"{part.title or part.stat}: there is no column that both tables rank by.", "soft")
    left = {row.key: row.values[place] for row in merge_rows(part, part.key_names)}
    right = {row.key: row.values[place_of_other] for row in merge_rows(other, other.key_names)}
    column = part.columns[place]
    # Totals of runs of different length compare per second only.
    is_rate = column.is_additive and None not in lengths and lengths[0] != lengths[1]
    unit = f"{column.unit}/s" if is_rate else column.unit

    def scaled(value: Number | None, side: int) -> float | None:
        length = lengths[side]
        return None if value is None else value / length if is_rate and length else float(value)

    def difference(key: tuple[str, ...]) -> float:
        return abs((scaled(right.get(key), 1) or 0) - (scaled(left.get(key), 0) or 0))

    keys = sorted(sorted(left.keys() | right.keys()), key=difference, reverse=True)
    rows = [_diff_row(key, left.get(key), right.get(key), scaled, is_rate=is_rate) for key in keys[:limit]]
    totals: list[Number | None] = [None, None]
    for side, values in enumerate((left, right)):
        for value in values.values():
            totals[side] = add(totals[side], value)
    if column.is_additive:
        rows.insert(0, _diff_row(("all", *("" for _ in part.key_names[1:])), totals[0], totals[1], scaled, is_rate=is_rate))
    columns = [
        *(BlockColumn(name, share=2.2) for name in part.key_names),
        BlockColumn(with_unit_title("baseline", unit), is_number=True),
        BlockColumn(with_unit_title("incident", unit), is_number=True),
        BlockColumn("difference", is_number=True),
        BlockColumn("incident / baseline", is_number=True),
    ]
    more = f" The first {limit} of {len(keys):,} keys." if len(keys) > limit else ""
    rate = " Per second of the time watched." if is_rate else ""
    return TableBlock(columns, rows, f"{part.title or part.stat}: {column.title}, the largest difference first.{rate}{more}")


def _diff_row(key: Sequence[str], before: Number | None, after: Number | None, scaled: object, *, is_rate: bool) -> list[str]:
    assert callable(scaled)
    old, new = scaled(before, 0), scaled(after, 1)
    ratio = "new" if old is None else "gone" if new is None else f"{100 * new / old:.3f} %" if old else ""
    shown = (format_number(old), format_number(new)) if is_rate else (exact(before), exact(after))
    difference = None if old is None and new is None else (new or 0) - (old or 0)
    exactly = int(difference) if difference is not None and not is_rate and isinstance(before or after, int) else None
    return [*key, *(text or "–" for text in shown), exact(exactly) if exactly is not None else format_number(difference), ratio]
