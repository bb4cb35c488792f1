"""Raw samples as CSV, digit for digit, in constant memory.

Wide, one stat: `time,epoch,instance,usr_pct[%],r_per_s[1/s],...`, a column for each field that has a value in the window. A
header is the field's key and, in brackets, its unit; a field without a unit is its key alone.
Long, all stats: `time,epoch,stat,instance,field,value,unit`, stat by stat, a line for each value that is there.

Both are UTF-8 with CRLF (RFC 4180), in the order of time, instance, stream and line. `time` is ISO 8601 with Z, `epoch` seconds;
both have a fraction only where the sample's time has one. An empty cell of a field is a missing value.
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat.query.counts import count_samples
from normstat.query.pages import Page, PageQuery, StoredArray, read_pages, to_floats, to_missing
from normstat.query.tables import StatRef, find_stat, list_host_stats, list_instances, natural_key, require_host
from normstat.stats.formats import format_values
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.store.printed import parse_printed
from normstat.window import Window

# Texts take about ten times the room of numbers, so pages are smaller than those for graphs.
VALUES_PER_PAGE: Final = 200_000
LINE_END: Final = "\r\n"
SECOND_US: Final = 1_000_000
NEEDS_QUOTES: Final = frozenset(',"\r\n')


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: one stat wide, or (stat None) all stats of the host long."""

    host: str
    window: Window
    stat: str | None = None


# A page, the names of its instances by id, and the fields of its values -> the text of its lines.
Writer = Callable[[Page, Mapping[int, str], Sequence[Field]], str]


async def stream_csv(engine: AsyncEngine, request: ExportRequest) -> AsyncIterator[bytes]:
    """The CSV in pieces: `pieces = await stream_csv(...)` checks the names, so that a 404 is one; then iterate.

    The pieces come from a connection of their own, opened at the first one and closed after the last. An error in between is raised
    out of the iterator: the answer is cut off, never ended as if it were whole.

    Raises: NotFound for an unknown host or stat
    """
    async with AsyncSession(engine) as session:
        host_id = await require_host(session, request.host)
        if request.stat is None:
            stats = await list_host_stats(session, host_id)
        else:
            found = await find_stat(session, request.stat)
            stats = [] if found is None else [found]
    return _stream(engine, request, host_id, stats)


async def _stream(engine: AsyncEngine, request: ExportRequest, host_id: int, stats: Sequence[StatRef]) -> AsyncIterator[bytes]:
    # One snapshot for the whole export: what arrives meanwhile is not half in it.
    async with AsyncSession(engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)) as session:
        if request.stat is None:
            yield _to_line(["time", "epoch", "stat", "instance", "field", "value", "unit"])
        elif not stats:
            yield _to_line(["time", "epoch", "instance"])
        for stat in stats:
            counted = await count_samples(session, stat.name, host_id, request.window, stat.fields)
            fields = counted.fields if counted.n_rows else stat.fields
            write = write_wide if request.stat is not None else long_writer(stat.name)
            if request.stat is not None:
                yield _to_line(["time", "epoch", "instance", *map(to_header, fields)])
            instances = await list_instances(session, host_id, stat.id, window=request.window)
            names = {instance.id: instance.name for instance in instances}
            query = PageQuery(stat.name, host_id, request.window, fields, has_lines=True, values_per_page=VALUES_PER_PAGE)
            async for page in read_pages(session, query):
                yield (await anyio.to_thread.run_sync(write, page, names, fields)).encode()


def to_header(field: Field) -> str:
    """The header of a field's column: its key, and its unit in brackets."""
    return f"{field.key}[{field.unit}]" if field.unit else field.key


def write_wide(page: Page, names: Mapping[int, str], fields: Sequence[Field]) -> str:
    """A line for each row."""
    page = sort_lines(page, names)
    columns = [format_times(page.time_us), format_epochs(page.time_us), _instance_cells(page, names)]
    columns += _value_cells(page, fields)
    return LINE_END.join([*map(",".join, zip(*columns, strict=True)), ""])


def long_writer(stat: str) -> Writer:
    """A writer of a line for each value."""

    def write(page: Page, names: Mapping[int, str], fields: Sequence[Field]) -> str:
        page = sort_lines(page, names)
        cells = [format_times(page.time_us), format_epochs(page.time_us), _instance_cells(page, names)]
        heads = [f"{time},{epoch},{to_cell(stat)},{instance}," for time, epoch, instance in zip(*cells, strict=True)]
        tails = [(f"{field.key},", f",{to_cell(field.unit)}{LINE_END}") for field in fields]
        columns = _value_cells(page, fields)
        return "".join(
            f"{head}{key}{value}{unit}"
            for head, *values in zip(heads, *columns, strict=True)
            for (key, unit), value in zip(tails, values, strict=True)
            if value
        )

    return write


def sort_lines(page: Page, names: Mapping[int, str]) -> Page:
    """The page in the order of time, instance (as people sort names), stream and line."""
    ranks = {id_: rank for rank, id_ in enumerate(sorted(names, key=lambda id_: (natural_key(names[id_]), id_)))}
    ids, places = np.unique(page.instance_id, return_inverse=True)
    rank = np.array([ranks[id_] for id_ in ids.tolist()], dtype=np.int64)[places]
    order = np.lexsort((page.line_offset, page.stream_id, rank, page.time_us))
    new_rows = np.empty_like(order)
    new_rows[order] = np.arange(len(order))
    return replace(
        page,
        time_us=page.time_us[order],
        instance_id=page.instance_id[order],
        values=tuple(column[order] for column in page.values),
        stream_id=page.stream_id[order],
        line_offset=page.line_offset[order],
        printed={int(new_rows[row]): text for row, text in page.printed.items()},
    )


def format_times(time_us: Int64Array) -> list[str]:
    """ISO 8601 with Z. Each instant is written once, however many instances have it."""
    instants, places = np.unique(time_us, return_inverse=True)
    texts = np.array(np.datetime_as_string(instants.astype("datetime64[us]"), unit="s"), dtype=object)
    fractions = np.array([_fraction(time) for time in instants.tolist()], dtype=object)
    return list((texts + fractions + "Z")[places])


def format_epochs(time_us: Int64Array) -> list[str]:
    """Seconds since the epoch."""
    instants, places = np.unique(time_us, return_inverse=True)
    texts = np.array([f"{time // SECOND_US}{_fraction(time)}" for time in instants.tolist()], dtype=object)
    return list(texts[places])


def to_cell(text: str) -> str:
    """A text as a cell of its own: quoted where it must be.

    A name that begins like a formula (=, +, -, @) stays as it is: this is data for tools, and a changed name is a wrong one.
    """
    return '"' + text.replace('"', '""') + '"' if not NEEDS_QUOTES.isdisjoint(text) else text


def _fraction(time_us: int) -> str:
    fraction = time_us % SECOND_US
    return f".{fraction:06d}".rstrip("0") if fraction else ""


def _instance_cells(page: Page, names: Mapping[int, str]) -> list[str]:
    cells = {id_: to_cell(name) for id_, name in names.items()}
    return [cells[id_] for id_ in page.instance_id.tolist()]


def _value_cells(page: Page, fields: Sequence[Field]) -> list[list[str]]:
    cells = [_format(field, column) for field, column in zip(fields, page.values, strict=True)]
    places = {field.key: place for place, field in enumerate(fields)}
    for row, text in page.printed.items():
        for key, word in parse_printed(text).items():
            # A missing value stays an empty cell, whatever the tool's word for it was.
            if key in places and cells[places[key]][row]:
                cells[places[key]][row] = to_cell(word)
    return cells


def _format(field: Field, column: StoredArray) -> list[str]:
    missing = to_missing(column)
    if not field.storage.is_whole:
        return format_values(field, to_floats(field, column))
    texts = format_values(field, column.astype(np.int64))
    for row in np.flatnonzero(missing).tolist():
        texts[row] = ""
    return texts


def _to_line(cells: Sequence[str]) -> bytes:
    return (",".join(map(to_cell, cells)) + LINE_END).encode()
