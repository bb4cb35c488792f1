"""Samples of one stat of many hosts, each in a window of its own."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final

from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.connecting import is_citus
from normstat.db.session import driver_of
from normstat.samples.sample_pages import Page, PageQuery, PageReader, in_pages, read_pages, to_page
from normstat.samples.sealed.sealed_reader import SealedQuery, read_found_block
from normstat.samples.sealed.sealed_rows import find_sealed_windows, read_blocks_of_hosts
from normstat.samples.stat_tables import table_of
from normstat.window import Window

# One lookup in the key for each host.
HOSTS_WITH_ROWS: Final = """
    SELECT h.id FROM unnest(%(host_ids)s::int4[]) AS h (id)
    WHERE EXISTS (SELECT FROM {table} AS t WHERE t.host_id = h.id AND t.time >= %(start)s AND t.time < %(end)s)
"""
# On a cluster, where a subquery cannot refer to what a function returns.
HOSTS_WITH_ROWS_OF_CLUSTER: Final = """
    SELECT DISTINCT host_id FROM {table} WHERE host_id = ANY (%(host_ids)s::int4[]) AND time >= %(start)s AND time < %(end)s
"""
# Starting workers and compiling take longer than they save for windows of minutes.
PLAIN_PLANS: Final = "SELECT set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)"


async def read_pages_of_hosts(session: AsyncSession, queries: Sequence[PageQuery]) -> AsyncGenerator[tuple[int, Page]]:
    """Yield the samples of queries of one stat, each of one host and window, as number of the query and page.

    Sealed blocks of all hosts come with one query, and which hosts have rows beside them with another one; so it is for some hosts
    at a time, whose blocks are in memory together. The session's connection is busy between two pages, as for `read_pages`.
    """
    if not queries:
        return
    connection = await driver_of(session)
    stat = queries[0].table
    whole = Window(min(query.window.start for query in queries), max(query.window.end for query in queries))
    host_ids = sorted({query.host_id for query in queries})
    blocks = await read_blocks_of_hosts(connection, host_ids, stat, whole)
    asked = {"host_ids": host_ids, "start": whole.start, "end": whole.end}
    statement = HOSTS_WITH_ROWS_OF_CLUSTER if is_citus() else HOSTS_WITH_ROWS
    cursor = await connection.execute(sql.SQL(statement).format(table=table_of(stat)), asked, prepare=False)
    with_rows = {int(str(host_id)) for (host_id,) in await cursor.fetchall()}
    for number, query in enumerate(queries):
        if query.host_id in with_rows:
            # Rows may lie between blocks, and beside them.
            async with aclosing(read_pages(session, query)) as pages:
                async for page in pages:
                    yield number, page
            continue
        wanted = SealedQuery(query.host_id, stat, query.window, query.fields, query.instance_ids, query.has_lines)
        for block in blocks.get(query.host_id, ()):
            if block.span.last_us >= query.window.start_us and block.span.first_us < query.window.end_us:
                rows = await read_found_block(connection, wanted, block)
                for page in in_pages(to_page(query, rows), query.n_rows_per_page):
                    yield number, page


async def plan_plainly(session: AsyncSession) -> None:
    """Make PostgreSQL choose plans for short windows in the rest of the transaction."""
    await (await driver_of(session)).execute(PLAIN_PLANS)


async def find_short(session: AsyncSession, windows: Sequence[tuple[int, str, Window]]) -> list[bool]:
    """Return of which windows, each of a host's id and a stat, `read_short_pages` can read the samples: none is sealed."""
    # On a cluster, a subquery cannot refer to what a function returns.
    if not windows or is_citus():
        return [False] * len(windows)
    sealed = await find_sealed_windows(await driver_of(session), windows)
    return [number not in sealed for number in range(len(windows))]


async def read_short_pages(session: AsyncSession, queries: Sequence[PageQuery], *, max_rows: int) -> list[Page | None]:
    """Return the samples of queries of one stat and the same fields, with one statement. Each is of all instances of one host, in a
    window that `find_short` has found to be short.

    Several stats of a transaction are read faster after `plan_plainly`.

    Missing: None for a query with more than `max_rows` rows, which `read_pages` reads
    """
    spans = [(query.host_id, query.window) for query in queries]
    pages = await PageReader(await driver_of(session), queries[0]).fetch_of_hosts(spans, max_rows + 1)
    return [page if len(page) <= max_rows else None for page in pages]
