"""Freeze the notes of a report: read what they show now, and return it as blocks that never change."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.artefacts.artefact_service import load_parts
from normstat.errors import BadRequest, NoData
from normstat.experiments.experiment_rows import list_runs, read_experiment
from normstat.experiments.run_facts import describe_run
from normstat.query.fact_history import order_of, read_snapshots
from normstat.query.host_events import MAX_EVENTS, HostEvent, read_events_by_name
from normstat.query.series_points import SeriesRequest, SeriesResult, read_series
from normstat.records.artefact_rows import read_artefact_row
from normstat.report.artefact_blocks import artefact_blocks, diff_blocks
from normstat.report.blocks import Block, BlockColumn, FigureBlock, HeadingBlock, LinkBlock, PairsBlock, SaidBlock, TableBlock
from normstat.report.experiment_blocks import experiment_blocks
from normstat.report.graph_svg import MAX_LINES, GraphPicture, PictureLine, PictureMark, draw_graph
from normstat.report.note_models import ArtefactDiffNote, ArtefactNote, EventsNote, ExperimentNote, FactsNote, GraphNote
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import count_of, format_instant, to_iso
from normstat.samples.lookup import require_host
from normstat.stats.fact_lines import BOOT_ID, BOOT_TIME
from normstat.stats.fact_words import find_label, find_section, format_value
from normstat.window import Window

GRAPH_WIDTH: Final = 640
MAX_EVENT_ROWS: Final = 300
MAX_EVENT_MARKS: Final = 40
# Digits of the seconds since the epoch, until the year 2286.
MAX_DIGITS: Final = 10


async def freeze_graph(session: AsyncSession, note: GraphNote, marked: Sequence[PictureMark]) -> list[Block]:
    """Return the graph with its numbers as CSV, and what it was drawn from. `marked`: windows of the report.

    Raises: NotFound
    """
    window = Window(note.start, note.end)
    asked = SeriesRequest(note.host, note.stat, window, GRAPH_WIDTH, tuple(note.fields), tuple(note.instances), note.top)
    found = await read_series(session, asked)
    events = await read_events_by_name(session, [note.host], window)
    n_unmarked = max(0, len(events) - MAX_EVENT_MARKS)
    return await anyio.to_thread.run_sync(lambda: _graph_blocks(found, window, [*marked, *_event_marks(events)], n_unmarked))


def _event_marks(events: Sequence[HostEvent]) -> list[PictureMark]:
    return [
        PictureMark("event", _ms(event.at), None if event.end is None else _ms(event.end), " ".join(event.text.split()))
        for event in events[-MAX_EVENT_MARKS:]
    ]


def _graph_blocks(found: SeriesResult, window: Window, marks: Sequence[PictureMark], n_unmarked: int) -> list[Block]:
    lines = [
        PictureLine(_line_name(found, line.field, line.instance), line.unit, line.times.tolist(), _values(line.values))
        for line in found.series
    ]
    title = f"{found.host} {found.stat}, {format_instant(window.start)} to {format_instant(window.end)}"
    picture = GraphPicture(title, _ms(window.start), _ms(window.end), lines, marks)
    what = (
        f"every sample: {count_of(found.n_raw, 'sample')}"
        if found.resolution == "raw"
        else f"first, lowest, highest and last sample of each {found.column_ms / 1000:g} s, of {count_of(found.n_raw, 'sample')}"
        + ("" if found.source == "raw" else " (read from rollups)")
    )
    left = f" {count_of(found.n_instances_left_out, 'more instance')} not drawn." if found.n_instances_left_out else ""
    unmarked = f" {count_of(n_unmarked, 'earlier event')} not marked." if n_unmarked else ""
    undrawn = f" {count_of(len(lines) - MAX_LINES, 'more line')} only in the CSV." if len(lines) > MAX_LINES else ""
    caption = f"{title}; {what}. Gaps are times without samples.{left}{undrawn}{unmarked}"
    name = f"{'_'.join((found.host, found.stat))}.csv"
    return [FigureBlock(str(draw_graph(picture)), caption, _graph_csv(lines), _safe_name(name))]


def _line_name(found: SeriesResult, field: str, instance: str) -> str:
    n_fields = len({line.field for line in found.series})
    return field if not instance else instance if n_fields == 1 else f"{field} {instance}"


def _values(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _graph_csv(lines: Sequence[PictureLine]) -> str:
    rows: list[list[object]] = [["time", "time_ms", "series", "unit", "value"]]
    for line in lines:
        for at_ms, value in zip(line.times_ms, line.values, strict=True):
            if value is not None:
                at = to_iso(datetime.fromtimestamp(at_ms / 1000, UTC), "milliseconds")
                rows.append([at, at_ms, line.name, line.unit, value])
    return format_csv(rows)


def _safe_name(name: str) -> str:
    return "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name)


def _ms(at: datetime) -> int:
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


async def freeze_artefact(session: AsyncSession, note: ArtefactNote) -> list[Block]:
    """Return the artefact as it looks.

    Raises: NotFound, BadRequest, DamagedArtefact
    """
    known = await read_artefact_row(session, note.artefact)
    parts = await load_parts(session, note.artefact)
    return await anyio.to_thread.run_sync(lambda: artefact_blocks(known, parts, only=note.part, limit=note.limit))


async def freeze_diff(session: AsyncSession, note: ArtefactDiffNote) -> list[Block]:
    """Return two artefacts key by key.

    Raises: NotFound, BadRequest, DamagedArtefact
    """
    both = [await read_artefact_row(session, artefact) for artefact in (note.baseline, note.incident)]
    sides = (await load_parts(session, note.baseline), await load_parts(session, note.incident))
    return await anyio.to_thread.run_sync(lambda: diff_blocks(both[0], both[1], sides, note.limit))


async def freeze_experiment(session: AsyncSession, note: ExperimentNote) -> list[Block]:
    """Return the results of the runs of an experiment.

    Raises: NotFound; BadRequest for a result or factor that they do not have
    """
    experiment = await read_experiment(session, note.experiment)
    runs = [describe_run(run) for run in await list_runs(session, note.experiment)]
    return await anyio.to_thread.run_sync(lambda: experiment_blocks(experiment, runs, note))


async def freeze_facts(session: AsyncSession, note: FactsNote) -> list[Block]:
    """Return a host's facts at an instant, from its agent's last report before it.

    Raises: NotFound; NoData if no agent had reported any
    """
    host_id = await require_host(session, note.host)
    known = [shot for shot in await read_snapshots(session, host_id) if shot.time_s <= note.at.timestamp()]
    if not known:
        raise NoData(f"No agent had reported facts of {note.host} by {format_instant(note.at)}; choose a later instant")
    last = max(known, key=lambda shot: shot.time_s)
    seen = datetime.fromtimestamp(last.time_s, UTC)
    blocks: list[Block] = [
        SaidBlock(f"{note.host} at {format_instant(note.at)}, as its agent reported at {format_instant(seen)}.", "soft")
    ]
    sections: dict[str, list[tuple[str, str]]] = {}
    for name in sorted((name for name in last.facts if name.key != BOOT_ID), key=order_of):
        label = f"{find_label(name.key)} {name.item}".strip()
        sections.setdefault(find_section(name.key), []).append((label, _fact_text(name.key, last.facts[name])))
    for section, pairs in sections.items():
        blocks += [HeadingBlock(section), PairsBlock(pairs)]
    return blocks


def _fact_text(key: str, value: str) -> str:
    is_time = key == BOOT_TIME and value.isdecimal() and len(value) <= MAX_DIGITS
    return format_instant(datetime.fromtimestamp(int(value), UTC)) if is_time else format_value(key, value)


async def freeze_events(session: AsyncSession, note: EventsNote) -> list[Block]:
    """Return the events of hosts in a window, oldest first."""
    events = await read_events_by_name(session, note.hosts, Window(note.start, note.end))
    said = f"{', '.join(note.hosts)}, {format_instant(note.start)} to {format_instant(note.end)}"
    if not events:
        return [SaidBlock(f"No events: {said}.", "soft")]
    rows = [_event_row(event) for event in events[:MAX_EVENT_ROWS]]
    left = len(events) - len(rows)
    more = f" The first {len(rows):,} of {len(events):,} events; {count_of(left, 'later event')} not listed." if left > 0 else ""
    if len(events) >= MAX_EVENTS:
        more += f" The window has more than {MAX_EVENTS:,} events, of which the latest are read: choose a shorter one."
    columns = [BlockColumn("time", share=1.5), BlockColumn("hosts"), BlockColumn("kind", share=0.8), BlockColumn("event", share=3)]
    return [TableBlock([*columns, BlockColumn("by", share=0.8)], rows, f"{said}.{more}")]


def _event_row(event: HostEvent) -> list[str]:
    time = format_instant(event.at) if event.end is None else f"{format_instant(event.at)} to {format_instant(event.end)}"
    hosts = "all hosts" if event.hosts is None else ", ".join(event.hosts)
    text = " ".join((event.text, *(f"#{tag}" for tag in event.tags)))
    return [time, hosts, event.kind.value, text, event.author or event.source.value]


def csv_blocks(text: str) -> list[Block]:
    """Return a pasted CSV as a table; columns of numbers are aligned right.

    Raises: BadRequest for no table, or one that is too large for a page
    """
    sample = text[:4000]
    delimiter = max(",;\t", key=sample.partition("\n")[0].count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error as error:
        raise BadRequest(f"This is not CSV: {error}. Paste lines of values with commas, semicolons or tabs between") from None
    if not rows:
        raise BadRequest("The table is empty; its first line is the head, e.g. time,value")
    n_columns = max(map(len, rows))
    if n_columns > 20 or len(rows) > 501:
        raise BadRequest(f"The table has {n_columns} columns and {len(rows):,} lines; at most 20 and 501 fit. Attach it as a file")
    rows = [[*row, *[""] * (n_columns - len(row))] for row in rows]
    head, body = rows[0], rows[1:]
    columns = [
        BlockColumn(title, is_number=any(row[place].strip() for row in body) and all(_is_number(row[place]) for row in body))
        for place, title in enumerate(head)
    ]
    return [TableBlock(columns, body, csv=format_csv(rows), csv_name="table.csv")]


def _is_number(text: str) -> bool:
    text = text.strip().rstrip("%").strip()
    return not text or text.replace(",", "").replace(".", "", 1).replace("-", "", 1).replace("+", "", 1).isdecimal()


def link_to_comparison(path: str) -> Block:
    """Return the link to a comparison on the page."""
    return LinkBlock("This comparison on the page, with its next questions", path)
