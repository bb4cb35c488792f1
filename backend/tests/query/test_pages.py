"""Pages: every value and every gap comes back, however the gaps lie in the columns and wherever pages end."""

import asyncio
from contextlib import aclosing
from datetime import timedelta

import numpy as np
import pytest
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of
from normstat.samples import sample_pages
from normstat.samples.lookup import find_stat, require_host
from normstat.samples.sample_pages import Page, PageQuery, read_page, read_pages, to_floats
from normstat.samples.stat_tables import table_of
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window, from_us, to_us
from tests.databases import Sessions
from tests.query.filling import fill_values
from tests.query.test_export import DAY, START

N_REPORTS, NAMES = 60, ("all", "0", "1")
N = N_REPORTS * len(NAMES)
AT = np.arange(N)
# Where each of the columns has values.
PATTERNS = {
    "usr_pct": AT >= 0,
    "system_pct": AT >= 0,
    "guest_pct": AT % 3 == 0,
    "wait_pct": AT < 0,
    "cpu_pct": AT > 100,
    "minflt_per_s": AT != 90,
    "majflt_per_s": (AT // 20) % 2 == 0,
    "mem_pct": AT >= 0,
    "threads": AT % 7 > 2,
    "vsz_kb": AT < 150,
    "rss_kb": AT >= 0,
    "kb_rd_per_s": AT % 5 != 1,
    "kb_wr_per_s": AT >= 0,
    "eight": AT % 4 != 2,
    "four": AT < 170,
    "whole": AT >= 0,
}
# Whatever types the fields of the spec have, every type is there.
EXTRA = tuple(
    Field(key, key, key, "", "", Kind.GAUGE, Worse.NEITHER, decimals, storage, "", "")
    for key, decimals, storage in (("eight", 2, Storage.FLOAT8), ("four", 1, Storage.FLOAT4), ("whole", 0, Storage.INT4))
)


async def fill(sessions: Sessions) -> None:
    rng = np.random.default_rng(9)
    await fill_values(
        sessions,
        "web1",
        "pidstat_linux",
        time_us=to_us(START) + np.repeat(np.arange(N_REPORTS), len(NAMES)) * 1_000_000,
        instances=NAMES * N_REPORTS,
        # Integers of both signs and of all sizes of their columns are among the decimals' whole numbers, too.
        values={key: np.where(there, np.round(rng.normal(0, 1000, N)), np.nan) for key, there in PATTERNS.items()},
        extra=EXTRA,
        printed={4: " ".join(["007"] + ["1"] * (len(PATTERNS) - 1))},
    )


async def read_all(session: AsyncSession, query: PageQuery) -> list[Page]:
    return [page async for page in read_pages(session, query)]


@pytest.mark.parametrize("n_rows", [1000, 50, 7, 2])
@pytest.mark.parametrize("has_lines", [True, False])
async def test_pages_hold_what_the_table_holds(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch, n_rows: int, *, has_lines: bool
) -> None:
    await fill(sessions)
    monkeypatch.setattr(PageQuery, "n_rows_per_page", n_rows)
    async with sessions() as session:
        host_id, stat = await require_host(session, "web1"), await find_stat(session, "pidstat_linux")
        assert stat is not None
        assert {field.storage for field in stat.fields if field.key in PATTERNS} == set(Storage)
        found = await read_all(session, PageQuery(stat.name, host_id, DAY, stat.fields, has_lines=has_lines))
        columns = sql.SQL(", ").join(sql.Identifier(field.key) for field in stat.fields)
        statement = sql.SQL("SELECT time, instance_id, stream_id, line_offset, {} FROM {} ORDER BY time, instance_id")
        cursor = await (await driver_of(session)).execute(statement.format(columns, table_of(stat.name)))
        rows = await cursor.fetchall()
    assert len(found) == (1 if n_rows == 1000 else len(found))
    assert n_rows == 1000 or len(found) > 2
    # A report is never in two pages.
    seconds = [set(page.time_us.tolist()) for page in found]
    assert sum(map(len, seconds)) == len(set().union(*seconds)) == N_REPORTS
    time_us, ids = (np.concatenate([getattr(page, name) for page in found]) for name in ("time_us", "instance_id"))
    # Rows of one instant come in any order.
    order = np.lexsort((ids, time_us))
    assert [(from_us(int(time_us[row])), int(ids[row])) for row in order] == [row[:2] for row in rows]
    if has_lines:
        lines = np.array([np.concatenate([getattr(page, name) for page in found]) for name in ("stream_id", "line_offset")])
        assert list(map(tuple, lines[:, order].T.tolist())) == [row[2:4] for row in rows]
        [(page, at, text)] = [(page, at, text) for page in found for at, text in page.printed.items()]
        assert (int(page.line_offset[at]), text.split(" ")[0]) == (4 * 80, "usr_pct=007")
    for place, field in enumerate(stat.fields):
        floats = np.concatenate([to_floats(field, page.values[place]) for page in found])[order]
        power = 10.0**field.decimals if field.storage is Storage.DEC4 else 1.0
        stored = [np.nan if row[4 + place] is None else float(str(row[4 + place])) / power for row in rows]
        np.testing.assert_array_equal(floats, stored, err_msg=field.key)
        for page in found:
            assert page.has_values[place] or np.isnan(to_floats(field, page.values[place])).all()
        if field.key not in PATTERNS:
            assert not any(page.has_values[place] for page in found)


async def test_a_reader_that_has_enough_goes_on_in_its_transaction(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next page is being fetched by then; a statement cancelled at the server would abort the transaction."""
    await fill(sessions)
    monkeypatch.setattr(PageQuery, "n_rows_per_page", 7)
    fetch = sample_pages.PageReader.fetch

    async def fetch_slowly(reader: sample_pages.PageReader, window: Window, n_rows: int) -> Page:
        await reader._connection.execute("SELECT pg_sleep(0.1)")
        return await fetch(reader, window, n_rows)

    monkeypatch.setattr(sample_pages.PageReader, "fetch", fetch_slowly)
    async with sessions() as session:
        host_id, stat = await require_host(session, "web1"), await find_stat(session, "pidstat_linux")
        assert stat is not None
        async with aclosing(read_pages(session, PageQuery(stat.name, host_id, DAY, stat.fields))) as pages:
            assert len(await anext(pages))
            # The statement of the next page has begun.
            await asyncio.sleep(0.05)
        assert await require_host(session, "web1") == host_id


async def test_long_empty_times_are_passed_over(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(sessions)
    asked: list[Window] = []
    fetch = sample_pages.PageReader.fetch

    async def counted(self: sample_pages.PageReader, window: Window, n_rows: int) -> Page:
        asked.append(window)
        return await fetch(self, window, n_rows)

    monkeypatch.setattr(sample_pages.PageReader, "fetch", counted)
    async with sessions() as session:
        host_id, stat = await require_host(session, "web1"), await find_stat(session, "pidstat_linux")
        assert stat is not None
        year = Window(DAY.start - timedelta(days=200), DAY.end + timedelta(days=165))
        found = await read_all(session, PageQuery(stat.name, host_id, year, stat.fields[:1]))
        assert sum(map(len, found)) == N
        # Each statement looks at a part of the year, the parts grow, and nothing is looked at twice.
        assert len(asked) < 12
        assert asked[0].length_s == 86_400
        assert [window.end for window in asked[:-1]] == [window.start for window in asked[1:]]
        first = await read_page(session, PageQuery(stat.name, host_id, DAY, stat.fields[:1], instance_ids=[]))
        assert len(first) == 0
