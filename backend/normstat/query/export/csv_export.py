"""Raw samples as CSV, digit for digit, in constant memory.

Wide, one stat: `time,epoch,instance,usr_pct[%],r_per_s[1/s],...`, a column for each field that has a value in the window. A header
is the field's key and, in brackets, its unit; a field without a unit is its key alone.
Long, all stats: `time,epoch,stat,instance,field,value,unit`, stat by stat, one line per value.

Both are UTF-8 with CRLF (RFC 4180), ordered by time, instance, stream and line. `time` is ISO 8601 with Z, `epoch` seconds; both
have a fraction only if the sample's time has one. An empty cell of a field is a missing value.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat.db.session import make_session
from normstat.query.export.chosen_lines import ChosenLines, ExportedLine, choose_lines, require_fields
from normstat.query.export.csv_encoding import ByteMatrix, blank, join, text_cells, time_cells, value_cells
from normstat.query.sample_counts import find_printed_fields
from normstat.runtime.readable import natural_key
from normstat.samples.lookup import InstanceNames, StatRef, find_stat, list_host_stats, read_possible_window, require_host
from normstat.samples.printed_words import parse_printed
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_codes
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.window import Window

# Texts take more room than numbers, so pages are smaller than those for graphs.
VALUES_PER_PAGE: Final = 300_000
# Bytes formatted at once: a name may have thousands of characters, and each row has room for the longest.
BYTES_AT_ONCE: Final = 8_000_000
USUAL_CELL_BYTES: Final = 10
LINE_END: Final = b"\r\n"
LONG_HEADER: Final = b"time,epoch,stat,instance,field,value,unit" + LINE_END
NEEDS_QUOTES: Final = frozenset(',"\r\n')


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to export: one stat as a wide table, or (stat None) all stats of the host as a long one.

    Of one stat, `fields` chooses columns and `lines` single lines; all, if both are empty.
    """

    host: str
    window: Window
    stat: str | None = None
    fields: Sequence[str] = ()
    lines: Sequence[ExportedLine] = ()


# A page, its rows in order, and the names of its instances by id, fields of its values -> the text of its lines.
Writer = Callable[[Page, Mapping[int, str], Sequence[Field]], bytes]


async def stream_csv(engine: AsyncEngine, request: ExportRequest) -> AsyncGenerator[bytes]:
    """Yield the CSV in pieces: `pieces = await stream_csv(...)` checks the names, so that a 404 is possible; then iterate.

    The pieces come from a connection of their own, opened at the first one and closed after the last. An error in between is raised
    from the iterator: the answer is aborted, never ended as if it were complete. A caller that stops early closes the iterator,
    which cancels the running statement.

    Raises: NotFound for an unknown host, stat or field
    """
    host_id, stats = await find_stats(engine, request)
    return _stream(engine, request, host_id, stats)


async def find_stats(engine: AsyncEngine, request: ExportRequest) -> tuple[int, list[StatRef]]:
    """Return the host's id, and the stats to export: none if no host has sent a sample of the stat yet.

    Raises: NotFound for an unknown host, stat or field
    """
    async with make_session(engine) as session:
        host_id = await require_host(session, request.host)
        if request.stat is None:
            return host_id, await list_host_stats(session, host_id)
        found = await find_stat(session, request.stat)
        if found is None:
            return host_id, []
        require_fields(found, [*request.fields, *(line.field for line in request.lines)])
        return host_id, [found]


async def _stream(engine: AsyncEngine, request: ExportRequest, host_id: int, stats: Sequence[StatRef]) -> AsyncGenerator[bytes]:
    # The header waits for the first page: an error found by then is still an answer of its own.
    header = b""
    async with open_export(engine) as session:
        if request.stat is None:
            header = LONG_HEADER
        elif not stats:
            header = _to_line(["time", "epoch", "instance"])
        names = InstanceNames()
        write: Writer
        for stat in stats:
            if request.stat is None:
                # A field without a value has no line, and the page knows these fields.
                chosen, write = ChosenLines(stat.fields, None), long_writer(stat.name)
            else:
                chosen, write = await find_lines(session, host_id, stat, request), write_wide
                header = _to_line(["time", "epoch", "instance", *map(to_header, chosen.fields)])
            query = to_query(host_id, stat, request.window, chosen, VALUES_PER_PAGE)
            async with aclosing(read_pages(session, query)) as pages:
                async for page in pages:
                    found = await names.of(session, to_codes(page.instance_id)[0].tolist())
                    yield header + await anyio.to_thread.run_sync(write, chosen.clear(page), found, chosen.fields)
                    header = b""
        if header:
            yield header


def open_export(engine: AsyncEngine) -> AsyncSession:
    """Return a session with one snapshot for the whole export, unaffected by data that arrives meanwhile."""
    # Not read-only: SQLAlchemy would make the connection read-write afterwards, which a standby refuses.
    return make_session(engine.execution_options(isolation_level="REPEATABLE READ"))


async def find_lines(session: AsyncSession, host_id: int, stat: StatRef, request: ExportRequest) -> ChosenLines:
    """Return the lines that were chosen; else all, with the fields that have a value in the window as columns.

    They are all fields of the stat if none has a value, or the search is too slow.
    """
    if request.fields or request.lines:
        return await choose_lines(session, host_id, stat, request.fields, request.lines)
    found = await read_possible_window(session, host_id, stat.id, request.window)
    printed = () if found is None else await find_printed_fields(session, host_id, stat, found[0])
    return ChosenLines(printed or stat.fields, None)


def to_query(host_id: int, stat: StatRef, window: Window, chosen: ChosenLines, values_per_page: int) -> PageQuery:
    """Return the query for the samples of these lines."""
    return PageQuery(
        stat.name, host_id, window, chosen.fields, chosen.instance_ids, has_lines=True, values_per_page=values_per_page
    )


def to_header(field: Field) -> str:
    """Return the header of a field's column: its key, and its unit in brackets."""
    return f"{field.key}[{field.unit}]" if field.unit else field.key


def write_wide(page: Page, names: Mapping[int, str], fields: Sequence[Field]) -> bytes:
    """Return one line per row."""
    page = sort_lines(page, names)
    words = _words_by_field(page, fields)
    lines = []
    for part, rows in _parts(page, names, (1 + len(fields)) * USUAL_CELL_BYTES):
        cells = [*time_cells(part.time_us), b",", _instance_cells(part, names)]
        for place, (field, column) in enumerate(zip(fields, part.values, strict=True)):
            cells += [b",", value_cells(field, column, _words_of(words, place, rows))[0]]
        lines.append(join([*cells, LINE_END], len(part)))
    return b"".join(lines)


def long_writer(stat: str) -> Writer:
    """Return a writer of one line per value."""

    def write(page: Page, names: Mapping[int, str], fields: Sequence[Field]) -> bytes:
        page = sort_lines(page, names)
        words = _words_by_field(page, fields)
        shown = [place for place, has_values in enumerate(page.has_values) if has_values]
        tails = [f",{to_cell(field.unit)}\r\n".encode() for field in fields]
        lines = []
        for part, rows in _parts(page, names, USUAL_CELL_BYTES, n_lines=len(shown)):
            head = [*time_cells(part.time_us), f",{to_cell(stat)},".encode(), _instance_cells(part, names)]
            cells: list[ByteMatrix | bytes] = []
            for place in shown:
                text, missing = value_cells(fields[place], part.values[place], _words_of(words, place, rows))
                line: list[ByteMatrix | bytes] = [*head, f",{fields[place].key},".encode(), text, tails[place]]
                cells += line if missing is None else [blank(line, missing)]
            lines.append(join(cells, len(part)))
        return b"".join(lines)

    return write


def sort_lines(page: Page, names: Mapping[int, str]) -> Page:
    """Return the page ordered by time, instance (natural order), stream and line."""
    ids, places = to_codes(page.instance_id)
    ranks = {id_: rank for rank, id_ in enumerate(sorted(ids.tolist(), key=lambda id_: (natural_key(names[id_]), id_)))}
    rank = np.array([ranks[id_] for id_ in ids.tolist()], dtype=np.int64)[places]
    keys = (page.time_us, rank, page.stream_id, page.line_offset)
    if _is_ordered(keys):
        return page
    order = np.lexsort(keys[::-1])
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


def to_cell(text: str) -> str:
    """Return a text as a CSV cell, quoted if necessary.

    A name that begins like a formula (=, +, -, @) stays as it is: this is data for tools, and a changed name is a wrong one.
    """
    return '"' + text.replace('"', '""') + '"' if not NEEDS_QUOTES.isdisjoint(text) else text


def _is_ordered(keys: Sequence[Int64Array]) -> bool:
    """Return whether the rows are ordered by the keys, the first key first. Tools mostly print them so."""
    is_behind = np.zeros(max(0, len(keys[0]) - 1), dtype=np.bool_)
    for key in reversed(keys):
        steps = np.diff(key)
        is_behind = (steps < 0) | ((steps == 0) & is_behind)
    return not is_behind.any()


def _parts(page: Page, names: Mapping[int, str], n_bytes: int, *, n_lines: int = 1) -> Iterator[tuple[Page, slice]]:
    """Yield the page in parts whose lines, with the longest name in each, have about BYTES_AT_ONCE."""
    longest = max((len(names[id_]) for id_ in to_codes(page.instance_id)[0].tolist()), default=0)
    n_rows = max(1, BYTES_AT_ONCE // max(1, n_lines * (longest + n_bytes + 60)))
    for start in range(0, len(page), n_rows):
        rows = slice(start, min(len(page), start + n_rows))
        yield (page if len(page) <= n_rows else _take(page, rows)), rows


def _take(page: Page, rows: slice) -> Page:
    return replace(
        page,
        time_us=page.time_us[rows],
        instance_id=page.instance_id[rows],
        values=tuple(column[rows] for column in page.values),
    )


def _instance_cells(page: Page, names: Mapping[int, str]) -> ByteMatrix:
    ids, places = to_codes(page.instance_id)
    cells = text_cells([to_cell(names[id_]).encode() for id_ in ids.tolist()])
    return np.take(cells, places, axis=0)


def _words_by_field(page: Page, fields: Sequence[Field]) -> dict[int, dict[int, bytes]]:
    """Return the words that the values cannot reproduce: position of the field -> row -> the word as a cell."""
    places = {field.key: place for place, field in enumerate(fields)}
    found: dict[int, dict[int, bytes]] = {}
    for row, text in page.printed.items():
        for key, word in parse_printed(text).items():
            if key in places:
                found.setdefault(places[key], {})[row] = to_cell(word).encode()
    return found


def _words_of(words: Mapping[int, Mapping[int, bytes]], place: int, rows: slice) -> dict[int, bytes]:
    return {row - rows.start: word for row, word in words.get(place, {}).items() if rows.start <= row < rows.stop}


def _to_line(cells: Sequence[str]) -> bytes:
    return ",".join(map(to_cell, cells)).encode() + LINE_END
