"""Samples of a wide table as numpy columns, in pages of bounded size, in the order of time.

A page is one row: for each column the concatenated bytes of its numbers (string_agg over int4send and the like), which numpy reads
directly. Measured for an hour of 64 CPUs with 14 fields, CPU of the database per value: array_agg 70 ns, this 50 ns, and 40 ns with
two columns of four bytes in one of eight; COPY BINARY 45 ns, but then 150 ns more in Python, which runs once per row. A send
function gives nothing for a NULL: a column without any value costs next to nothing, and one with some missing is recognised by its
length, and read again with a number that stands for NULL. The next page is requested while the one before is processed.

Pages follow each other by time (keyset), and a page never ends between two rows of one instant. Samples that are sealed
(sealed/) come as pages too, merged with late rows of their time: readers need not know which are which.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from importlib import resources
from typing import Final, cast

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from psycopg import AsyncConnection, sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.sealed_codec import SealedRows, find_missing, missing_of
from normstat.db.session import driver_of
from normstat.errors import TooLarge
from normstat.samples.sealed.sealed_reader import SealedQuery, read_block
from normstat.samples.sealed.sealed_rows import BlockSpan, find_blocks
from normstat.samples.stat_tables import table_of
from normstat.samples.wide_columns import printed_sql, stored_sql
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Storage
from normstat.window import Window, from_us, to_us

# Keeps a page of any table below 10 MB on the wire; the database is slower with much smaller and with much larger ones.
VALUES_PER_PAGE: Final = 1_000_000
# Rows of one instant are read together, whatever the page size; no tool prints this many at once.
MAX_VALUES_AT_ONCE: Final = 8_000_000
# Time span of the first statement: a hypertable has a chunk per day, and planning costs time for each.
FIRST_SPAN_US: Final = timedelta(days=1) // timedelta(microseconds=1)
ARRAY_HEADER_BYTES: Final = 20
# Ids spread wider than this are sorted; ids of one host are not.
MAX_TABLE_ENTRIES: Final = 10_000_000
NO_SHORT_CODE: Final = 65_535
# PostgreSQL counts from 2000-01-01.
PG_EPOCH_US: Final = 946_684_800_000_000
NO_INTEGER: Final = np.iinfo(np.int64).min
NO_SHORT: Final = np.iinfo(np.int32).min
NETWORK_TYPES: Final = {
    Storage.INT4: ">i4",
    Storage.INT8: ">i8",
    Storage.DEC4: ">i4",
    Storage.FLOAT4: ">f4",
    Storage.FLOAT8: ">f8",
}
SENDERS: Final = {
    Storage.INT4: sql.SQL("int4send"),
    Storage.INT8: sql.SQL("int8send"),
    Storage.DEC4: sql.SQL("int4send"),
    Storage.FLOAT4: sql.SQL("float4send"),
    Storage.FLOAT8: sql.SQL("float8send"),
}
SENT: Final = sql.SQL("string_agg({}({}), NULL)")
# Two concatenated numbers of four bytes: half the calls.
PAIR_SENT: Final = sql.SQL("string_agg(int8send(({}::int8 << 32) | ({}::int8 & 4294967295)), NULL)")
# Stands for NULL on the wire.
NOTHING: Final = {
    Storage.INT4: sql.SQL("'-2147483648'::int4"),
    Storage.INT8: sql.SQL("'-9223372036854775808'::int8"),
    Storage.DEC4: sql.SQL("'-2147483648'::int4"),
    Storage.FLOAT4: sql.SQL("'NaN'"),
    Storage.FLOAT8: sql.SQL("'NaN'"),
}

FIRST_ROW: Final = """
    SELECT time FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s ORDER BY time LIMIT 1
"""

BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]
StoredArray = npt.NDArray[np.int64] | npt.NDArray[np.int32] | npt.NDArray[np.float64] | npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PageQuery:
    """Which samples to read: `instance_ids` None means all. With `has_lines` each row has its raw line and its unusually printed
    words.
    """

    table: str
    host_id: int
    window: Window
    fields: Sequence[Field]
    instance_ids: Sequence[int] | None = None
    has_lines: bool = False
    values_per_page: int = VALUES_PER_PAGE

    @property
    def n_rows_per_page(self) -> int:
        """The number of rows in a page of about `values_per_page` values."""
        return max(1000, self.values_per_page // (len(self.fields) + 2 + 3 * self.has_lines))


@dataclass(frozen=True, slots=True)
class Page:
    """Rows in the order of time.

    Shape: time_us, instance_id (n,) int64; values[i] (n,) int64, int32 or floating, for each field of the query; stream_id,
    line_offset (n,) int64, empty without `has_lines`. Units: a dec4 is the integer that it is stored as; `to_floats` gives the
    field's own unit. Missing: NaN, or the least number of integer columns; `has_values[i]` is False where the whole column is
    missing. `printed`: row -> its tokens as printed.
    """

    time_us: Int64Array
    instance_id: Int64Array
    values: tuple[StoredArray, ...]
    has_values: tuple[bool, ...]
    stream_id: Int64Array
    line_offset: Int64Array
    printed: dict[int, str]

    def __len__(self) -> int:
        return len(self.time_us)

    def head(self, n: int) -> "Page":
        """Return the first n rows."""
        return self.slice(0, n)

    def slice(self, start: int, end: int) -> "Page":
        """Return the rows [start, end)."""
        return replace(
            self,
            time_us=self.time_us[start:end],
            instance_id=self.instance_id[start:end],
            values=tuple(column[start:end] for column in self.values),
            stream_id=self.stream_id[start:end],
            line_offset=self.line_offset[start:end],
            printed={row - start: text for row, text in self.printed.items() if start <= row < end},
        )


@cache
def load_sql(name: str) -> sql.SQL:
    """Return the statement in sql/<name>.sql."""
    return sql.SQL(resources.files("normstat.samples").joinpath("sql", f"{name}.sql").read_text())


async def read_page(session: AsyncSession, query: PageQuery) -> Page:
    """Return the first page only; it may end between two rows of one instant."""
    connection = await driver_of(session)
    if not await find_blocks(connection, query.host_id, query.table, query.window):
        return await PageReader(connection, query).fetch(query.window, query.n_rows_per_page)
    async with aclosing(read_pages(session, query)) as pages:
        async for page in pages:
            return page.head(query.n_rows_per_page)
    return to_page(query, _no_rows())


async def read_pages(session: AsyncSession, query: PageQuery) -> AsyncGenerator[Page]:
    """Yield all samples of the query, page by page, whether they are rows or sealed; nothing if there are none.

    The session's connection is busy between two pages: a caller that stops early must close the iterator (`aclosing`), which
    cancels the running statement.
    """
    connection = await driver_of(session)
    blocks = await find_blocks(connection, query.host_id, query.table, query.window)
    if not blocks:
        async with aclosing(read_hot_pages(session, query)) as pages:
            async for page in pages:
                yield page
        return
    at_us = query.window.start_us
    # Where nothing is left as rows, as in all of the past but the last days, they are looked for once.
    hot_us = await _find_hot(connection, query, at_us)
    for block in [*blocks, None]:
        if block is None or at_us < block.start_us:
            end_us = query.window.end_us if block is None else block.start_us
            if hot_us is not None and hot_us < end_us and at_us < end_us:
                before = replace(query, window=Window(from_us(max(at_us, hot_us)), from_us(end_us)))
                async with aclosing(read_hot_pages(session, before)) as pages:
                    async for page in pages:
                        yield page
                hot_us = await _find_hot(connection, query, end_us)
        if block is None:
            return
        start_us, end_us = max(at_us, block.start_us), min(query.window.end_us, block.end_us)
        own = replace(query, window=Window(from_us(start_us), from_us(end_us)))
        parts = [await _read_sealed(connection, own, block)]
        if hot_us is not None and hot_us < end_us:
            # Late samples of a time that is sealed already.
            async with aclosing(read_hot_pages(session, own)) as pages:
                parts += [page async for page in pages]
            hot_us = await _find_hot(connection, query, end_us)
        for page in in_pages(await anyio.to_thread.run_sync(merge_pages, parts), query.n_rows_per_page):
            yield page
        at_us = end_us


async def find_first_row(
    connection: AsyncConnection[tuple[object, ...]], stat: str, host_id: int, *, start: datetime, end: datetime
) -> datetime | None:
    """Return the time of the host's first row of the stat in [start, end); sealed samples are not rows.

    Missing: None without one
    """
    asked = {"host_id": host_id, "start": start, "end": end}
    cursor = await connection.execute(sql.SQL(FIRST_ROW).format(table=table_of(stat)), asked, prepare=False)
    row = await cursor.fetchone()
    return None if row is None or not isinstance(row[0], datetime) else row[0]


async def _find_hot(connection: AsyncConnection[tuple[object, ...]], query: PageQuery, start_us: int) -> int | None:
    """Return the time of the first row from then on. Missing: None without one in the window"""
    first = await find_first_row(connection, query.table, query.host_id, start=from_us(start_us), end=query.window.end)
    return None if first is None else to_us(first)


async def _read_sealed(connection: AsyncConnection[tuple[object, ...]], query: PageQuery, block: BlockSpan) -> Page:
    wanted = SealedQuery(query.host_id, query.table, query.window, query.fields, query.instance_ids, query.has_lines)
    return to_page(query, await read_block(connection, wanted, block))


def to_page(query: PageQuery, rows: SealedRows) -> Page:
    """Return sealed rows as a page."""
    n = len(rows)
    columns = [rows.columns.get(field.key) for field in query.fields]
    return Page(
        rows.time_us,
        rows.instance_id,
        tuple(
            _no_values(field.storage, n) if column is None else column for field, column in zip(query.fields, columns, strict=True)
        ),
        tuple(column is not None for column in columns),
        rows.stream_id,
        rows.line_offset,
        dict(rows.printed),
    )


def _no_rows() -> SealedRows:
    nothing = np.empty(0, dtype=np.int64)
    return SealedRows(nothing, nothing, nothing, nothing, [], {})


def merge_pages(parts: Sequence[Page]) -> Page:
    """Return the rows of pages of the same columns as one, in the order of time."""
    if len(parts) == 1:
        return parts[0]
    time_us = np.concatenate([part.time_us for part in parts])
    order = np.argsort(time_us, kind="stable")
    starts = np.cumsum([0, *(len(part) for part in parts)])
    words = {start + row: text for start, part in zip(starts.tolist(), parts, strict=False) for row, text in part.printed.items()}
    return Page(
        time_us[order],
        np.concatenate([part.instance_id for part in parts])[order],
        tuple(
            cast("StoredArray", np.concatenate([part.values[number] for part in parts])[order])
            for number in range(len(parts[0].values))
        ),
        tuple(any(has) for has in zip(*(part.has_values for part in parts), strict=True)),
        _ordered([part.stream_id for part in parts], order),
        _ordered([part.line_offset for part in parts], order),
        {place: words[row] for place, row in enumerate(order.tolist()) if row in words} if words else {},
    )


def _ordered(parts: Sequence[Int64Array], order: npt.NDArray[np.intp]) -> Int64Array:
    joined = np.concatenate(parts)
    return joined[order] if len(joined) else joined


def in_pages(page: Page, n_rows: int) -> Iterator[Page]:
    """Yield pages of about this many rows, none of which ends between two rows of one instant; nothing for an empty one."""
    start = 0
    while start < len(page):
        end = len(page)
        if end - start > n_rows:
            last_us = page.time_us[start + n_rows]
            end = int(np.searchsorted(page.time_us, last_us))
            if end == start:
                end = int(np.searchsorted(page.time_us, last_us, side="right"))
        yield page if (start, end) == (0, len(page)) else page.slice(start, end)
        start = end


async def read_hot_pages(session: AsyncSession, query: PageQuery) -> AsyncGenerator[Page]:
    """Yield the samples of the query that are rows, page by page. For sealing; readers use `read_pages`."""
    steps = _PageSteps(PageReader(await driver_of(session), query), query)
    coming: asyncio.Task[Page] | None = asyncio.create_task(steps.take())
    try:
        while coming is not None:
            page = await coming
            coming = None if steps.is_done else asyncio.create_task(steps.take())
            if len(page):
                yield page
    finally:
        if coming is not None:
            # A statement that is cancelled at the server aborts the transaction, which a reader that has enough goes on using: only
            # one that is cancelled itself no longer needs it. If we are cancelled again meanwhile, the task ends on its own.
            present = asyncio.current_task()
            if present is None or present.cancelling():
                coming.cancel()
            await asyncio.wait({coming})
            if not coming.cancelled():
                # This page is not needed: the next statement meets what prevented it.
                coming.exception()


def to_floats(field: Field, column: StoredArray) -> Float64Array:
    """Return the field's values in its unit, with the digits that the tool prints: 0.1 in four bytes is not 0.10000000149.

    Missing: NaN.
    """
    floats = column.astype(np.float64)
    if column.dtype.kind == "i":
        missing = to_missing(column)
        if field.storage is Storage.DEC4:
            floats /= 10.0**field.decimals
        if missing.any():
            floats[missing] = np.nan
    return np.round(floats, field.decimals) if field.storage is Storage.FLOAT4 else floats


def to_missing(column: StoredArray) -> BoolArray:
    """Return True where the column holds no value."""
    return find_missing(column)


def to_codes(numbers: Int64Array) -> tuple[Int64Array, npt.NDArray[np.integer]]:
    """Return the distinct numbers, ascending, and for each row the index of its number, in two bytes if that is enough."""
    if len(numbers) == 0:
        return numbers, np.empty(0, dtype=np.uint16)
    least = int(numbers.min())
    if int(numbers.max()) - least > MAX_TABLE_ENTRIES:
        distinct, places = np.unique(numbers, return_inverse=True)
        return distinct, _shorten(places, len(distinct))
    # The ids of a host's instances lie close together: a table instead of a sort.
    n_rows = np.bincount(numbers - least)
    distinct = np.flatnonzero(n_rows).astype(np.int64)
    codes = np.zeros(len(n_rows), dtype=np.int32)
    codes[distinct] = np.arange(len(distinct))
    return distinct + least, _shorten(codes, len(distinct))[numbers - least]


def _shorten(codes: npt.NDArray[np.integer], n_distinct: int) -> npt.NDArray[np.integer]:
    return codes.astype(np.uint16) if n_distinct <= NO_SHORT_CODE else codes.astype(np.int32)


class _PageSteps:
    """Determines where the pages of a query begin."""

    def __init__(self, reader: "PageReader", query: PageQuery) -> None:
        self._reader = reader
        self._start_us, self._end_us = query.window.start_us, query.window.end_us
        self._span_us = FIRST_SPAN_US
        self._span_end_us = min(self._start_us + self._span_us, self._end_us)
        self._n_rows = query.n_rows_per_page
        self._n_columns = len(query.fields) + 2 + 3 * query.has_lines
        self._table = query.table
        self._n_in_span = 0
        self.is_done = False

    async def take(self) -> Page:
        """Return the next page, without the rows of an incomplete last instant; empty at the end."""
        while True:
            page = await self._reader.fetch(Window(from_us(self._start_us), from_us(self._span_end_us)), self._n_rows)
            self._n_in_span += len(page)
            if len(page) < self._n_rows:
                self._next_span()
                return page
            last_us = int(page.time_us[-1])
            n_whole = int(np.searchsorted(page.time_us, last_us))
            if n_whole:
                self._start_us = last_us
                return page.head(n_whole)
            # More rows of one instant than a page holds: they must stay together, so the page grows, up to a limit.
            if self._n_rows * self._n_columns > MAX_VALUES_AT_ONCE:
                raise TooLarge(
                    f"{self._table} has more than {self._n_rows:,} rows of one instant ({from_us(last_us):%Y-%m-%dT%H:%M:%S.%fZ}),"
                    " the limit for one instant. Choose a window without it"
                )
            self._n_rows *= 2

    def _next_span(self) -> None:
        self.is_done = self._span_end_us == self._end_us
        if self._n_in_span < self._n_rows:
            self._span_us *= 2
        self._n_in_span = 0
        self._start_us = self._span_end_us
        self._span_end_us = min(self._start_us + self._span_us, self._end_us)


_NOTHING: Final = np.empty(0, dtype=np.int64)
NO_PAGE: Final = Page(_NOTHING, _NOTHING, (), (), _NOTHING, _NOTHING, {})


class PageReader:
    """Fetches pages of one query, and learns which columns are complete, and which have missing values."""

    def __init__(self, connection: AsyncConnection[tuple[object, ...]], query: PageQuery) -> None:
        self._connection = connection
        self._query = query
        self._full: set[int] = set()
        self._partial: set[int] = set()

    async def fetch(self, window: Window, n_rows: int) -> Page:
        """Return the first rows of that window, of the query's host and instances."""
        instance_ids = self._query.instance_ids
        parameters = {
            "host_id": self._query.host_id,
            "start": window.start,
            "end": window.end,
            "instance_ids": None if instance_ids is None else list(instance_ids),
            "n_rows": n_rows,
        }
        while True:
            groups = self._groups()
            [(page, is_whole)] = await self._execute("page", groups, parameters)
            if is_whole:
                return page

    async def fetch_of_hosts(self, spans: Sequence[tuple[int, Window]], n_rows: int) -> list[Page]:
        """Return the first rows of windows, each of one host (its id), of the query's fields: one statement for all of them."""
        parameters = {
            "host_ids": [host_id for host_id, _ in spans],
            "starts": [window.start for _, window in spans],
            "ends": [window.end for _, window in spans],
            "start": min(window.start for _, window in spans),
            "end": max(window.end for _, window in spans),
            "n_rows": n_rows,
        }
        # Not in pairs: a column without a value on one host would break up those of the others each time.
        groups = [(number,) for number in range(len(self._query.fields))]
        while True:
            found = await self._execute("pages_of_hosts", groups, parameters)
            if all(is_whole for _, is_whole in found):
                return [page for page, _ in found]

    async def _execute(
        self, name: str, groups: Sequence[tuple[int, ...]], parameters: Mapping[str, object]
    ) -> list[tuple[Page, bool]]:
        """Return a page for each row of the statement in sql/<name>.sql, and whether its columns were complete as they came."""
        async with self._connection.cursor(binary=True) as cursor:
            # Planned again each time: a plan for one day is wrong for a year.
            await cursor.execute(self._statement(name, groups), parameters, prepare=False)
            result = cursor.pgresult
            assert result is not None
            rows = [[result.get_value(row, number) for number in range(result.nfields)] for row in range(result.ntuples)]
        found = []
        for cells in rows:
            n_found = len(cells[0] or b"") // 8
            is_whole = n_found == 0 or self._learn(groups, cells[2:], n_found)
            found.append((self._decode(groups, cells, n_found) if is_whole else NO_PAGE, is_whole))
        return found

    def _groups(self) -> list[tuple[int, ...]]:
        """Return the fields packed two by two into eight bytes, and those sent alone.

        A pair with one NULL would be NULL: so only fields go in pairs that were complete so far, or have a substitute for NULL.
        """
        is_narrow = [field.storage in (Storage.INT4, Storage.DEC4) for field in self._query.fields]
        sure = [number for number in range(len(is_narrow)) if is_narrow[number] and number in self._full | self._partial]
        pairs = list(zip(sure[::2], sure[1::2], strict=False))
        paired = {number for pair in pairs for number in pair}
        return [*pairs, *((number,) for number in range(len(is_narrow)) if number not in paired)]

    def _learn(self, groups: Sequence[tuple[int, ...]], cells: Sequence[bytes | None], n_rows: int) -> bool:
        """Return whether each column's bytes cover all rows, or none; remembers the state of the columns."""
        is_good = True
        for group, cell in zip(groups, cells, strict=False):
            n_bytes = n_rows * sum(np.dtype(NETWORK_TYPES[self._query.fields[number].storage]).itemsize for number in group)
            if cell is not None and len(cell) == n_bytes:
                self._full |= set(group) - self._partial
                continue
            self._full -= set(group)
            if len(group) == 1 and cell is None:
                continue
            is_good = False
            if len(group) == 1:
                self._partial |= set(group)
        return is_good

    def _statement(self, name: str, groups: Sequence[tuple[int, ...]]) -> sql.Composed:
        columns: list[sql.Composable] = [sql.Identifier("time"), sql.Identifier("instance_id")]
        arrays: list[sql.Composable] = [sql.SQL("string_agg(timestamptz_send(time), NULL)")]
        if self._query.has_lines:
            arrays.append(PAIR_SENT.format(sql.Identifier("instance_id"), sql.Identifier("stream_id")))
        else:
            arrays.append(sql.SQL("string_agg(int4send(instance_id), NULL)"))
        # Aliases of our own: a field may have the name of one of the columns above.
        aliases = [sql.Identifier(f"v{number}") for number in range(len(self._query.fields))]
        for number, field in enumerate(self._query.fields):
            column = stored_sql(field, "t")
            if number in self._partial:
                column = sql.SQL("COALESCE({}, {})").format(column, NOTHING[field.storage])
            columns.append(sql.SQL("{} AS {}").format(column, aliases[number]))
        for group in groups:
            sent = SENT.format(SENDERS[self._query.fields[group[0]].storage], aliases[group[0]])
            arrays.append(sent if len(group) == 1 else PAIR_SENT.format(*(aliases[number] for number in group)))
        if self._query.has_lines:
            columns += [sql.SQL("stream_id, line_offset, {} AS printed").format(printed_sql(self._query.fields, "t"))]
            arrays += [sql.SQL("string_agg(int8send(line_offset), NULL), array_agg(printed)")]
        return load_sql(name).format(
            arrays=sql.SQL(", ").join(arrays), columns=sql.SQL(", ").join(columns), table=table_of(self._query.table)
        )

    def _decode(self, groups: Sequence[tuple[int, ...]], cells: Sequence[bytes | None], n_rows: int) -> Page:
        query = self._query
        found: dict[int, StoredArray] = {}
        for group, cell in zip(groups, cells[2:], strict=False):
            if cell is not None:
                numbers = np.frombuffer(cell, dtype=NETWORK_TYPES[query.fields[group[0]].storage]).reshape(n_rows, len(group))
                for place, number in enumerate(group):
                    found[number] = cast("StoredArray", numbers[:, place].astype(numbers.dtype.newbyteorder("=")))
        ids = _integers(cells[1], ">i4").reshape(n_rows, -1 if n_rows else 1 + query.has_lines)
        nothing = np.empty(0, dtype=np.int64)
        return Page(
            _integers(cells[0], ">i8") + PG_EPOCH_US,
            np.ascontiguousarray(ids[:, 0]),
            tuple(found.get(number, _no_values(field.storage, n_rows)) for number, field in enumerate(query.fields)),
            tuple(number in found for number in range(len(query.fields))),
            np.ascontiguousarray(ids[:, 1]) if query.has_lines else nothing,
            _integers(cells[-2], ">i8") if query.has_lines else nothing,
            _texts(cells[-1]) if query.has_lines else {},
        )


def _integers(cell: bytes | None, network_type: str) -> Int64Array:
    return np.frombuffer(cell or b"", dtype=network_type).astype(np.int64)


def _no_values(storage: Storage, n_rows: int) -> StoredArray:
    dtype = np.dtype(NETWORK_TYPES[storage]).newbyteorder("=")
    nothing = missing_of(dtype)
    # One number repeated n times as a view: a table may have many columns that a host's tool never prints.
    return cast("StoredArray", np.broadcast_to(np.array(nothing, dtype=dtype), n_rows))


def _texts(cell: bytes | None) -> dict[int, str]:
    """Return the elements of a binary array of texts that are not NULL, by position. Nearly always there is none."""
    if cell is None:
        return {}
    n_elements = int.from_bytes(cell[12:16], "big")
    if len(cell) == ARRAY_HEADER_BYTES + 4 * n_elements:
        return {}
    texts: dict[int, str] = {}
    at = ARRAY_HEADER_BYTES
    for number in range(n_elements):
        n_bytes = int.from_bytes(cell[at : at + 4], "big", signed=True)
        at += 4
        if n_bytes >= 0:
            texts[number] = cell[at : at + n_bytes].decode()
            at += n_bytes
    return texts
