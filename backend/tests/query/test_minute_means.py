"""Means by minute of many hosts: the same from rows, from sealed blocks and from both, with few statements."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of, open_read_session
from normstat.query import minute_means
from normstat.query.minute_means import MinuteMeans, SpanSamples, read_minute_means, read_span_samples
from normstat.samples.lookup import find_stat, require_host
from normstat.window import Window
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat, seal_all

START = datetime(2026, 11, 20, 23, 50, tzinfo=UTC)
HOSTS = [f"web{number}" for number in range(6)]
N, EVERY_S = 240, 5
# Begins and ends within a block; the blocks of two days meet in it.
WINDOW = Window(START + timedelta(minutes=3), START + timedelta(minutes=17))


async def fill(sessions: Sessions, host: str, first: int, end: int) -> None:
    rng = np.random.default_rng(HOSTS.index(host))
    usr = np.round(rng.uniform(0, 100, (N, 2)), 2)
    usr[N // 2, 0] = np.nan
    seconds = np.arange(first, end) * EVERY_S
    own = usr[first:end].ravel()
    await fill_stat(sessions, "mpstat_linux", START, seconds, ("0", "1"), host=host, key=str(first), usr_pct=own, sys_pct=100 - own)


async def read(session: AsyncSession) -> tuple[MinuteMeans, SpanSamples]:
    stat = await find_stat(session, "mpstat_linux")
    assert stat is not None
    fields = [field for field in stat.fields if field.key in ("usr_pct", "sys_pct")]
    ids = [await require_host(session, host) for host in HOSTS]
    cursor = await (await driver_of(session)).execute("SELECT id FROM all_instances ORDER BY id")
    instances = [int(str(number)) for (number,) in await cursor.fetchall()]
    means = await read_minute_means(session, stat, fields, host_ids=ids, instance_ids=instances, window=WINDOW)
    spans = [(host_id, Window(WINDOW.start, WINDOW.end - timedelta(minutes=number))) for number, host_id in enumerate(ids)]
    return means, await read_span_samples(session, stat, fields, spans=spans, instance_ids=instances)


def in_order(means: MinuteMeans, samples: SpanSamples) -> tuple[np.ndarray, np.ndarray]:
    """Each row with its place; the order of hosts and of samples in a minute means nothing."""
    table = np.column_stack([means.instance_id, means.minute, means.n_rows, means.means])
    other = np.column_stack([samples.instance_id, samples.minute, samples.values])
    return table[np.lexsort(table.T[::-1])], other[np.lexsort(other.T[::-1])]


@on_either_database
@pytest.mark.parametrize("at_once", [2, 64])
async def test_sealed_hosts_have_the_same_means(sessions: Sessions, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    for host in HOSTS:
        await fill(sessions, host, 0, N - 60)
        if host == HOSTS[1]:
            # Sealed, with late rows beside the block.
            await seal_all(sessions, host)
        await fill(sessions, host, N - 60, N)
    async with open_read_session(sessions) as session:
        expected = in_order(*await read(session))
    assert len(expected[0]) == 6 * 2 * 14
    for host in HOSTS[2:]:
        await seal_all(sessions, host)
    monkeypatch.setattr(minute_means, "HOSTS_AT_ONCE", at_once)
    statements: list[object] = []
    execute = psycopg.AsyncCursor.execute

    async def count(self: psycopg.AsyncCursor[object], *args: Any, **kwargs: Any) -> object:
        statements.append(args[0])
        return await execute(self, *args, **kwargs)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", count)
    async with open_read_session(sessions) as session:
        found = in_order(*await read(session))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    per_batch = [text for text in statements if "SELECT b.host_id, b.start_at" in str(text)]
    assert len(per_batch) == 2 * -(-5 // at_once), "for means and for spans, the five hosts with sealed samples"
    assert not [text for text in statements if "b.start_at = %(start)s" in str(text)][2 * 2 :], "no block is asked for alone"
