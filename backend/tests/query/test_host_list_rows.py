"""The JSON that is kept of the list of all hosts: after each change it equals a fresh list."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import orjson
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, StoredRejectedLine, Stream
from normstat.query.host_list_rows import HostListRows, read_rows
from normstat.query.host_lists import list_hosts
from normstat.query.host_numbers import read_hosts_version
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def stream(host_id: int, key: str, ago_s: float, **columns: object) -> Stream:
    at = NOW - timedelta(seconds=ago_s)
    own = {"spec": "vmstat_linux", "command": "vmstat 1"} | columns
    return Stream(host_id=host_id, key=key, last_received_at=at, created_at=at, **own)


async def send(session: AsyncSession) -> None:
    await session.execute(update(Host).where(Host.name == "web2").values(last_seen_at=NOW, clock_offset_s=0.25))
    await session.execute(update(Stream).where(Stream.key == "one").values(last_sample_at=NOW + timedelta(microseconds=7)))


async def begin_another_tool(session: AsyncSession) -> None:
    host_id = await session.scalar(select(Host.id).where(Host.name == "web2"))
    assert host_id is not None
    session.add(
        stream(
            host_id,
            "two",
            60,
            spec="iostat_linux",
            stat_names=["iostat_linux"],
            n_rejected=5,
            first_sample_at=NOW - timedelta(days=1),
        )
    )


async def report_every_minute(session: AsyncSession) -> None:
    await session.execute(update(Stream).where(Stream.key == "two").values(command="iostat 60"))


async def find_another_stat(session: AsyncSession) -> None:
    await session.execute(update(Stream).where(Stream.key == "two").values(stat_names=["iostat_linux", "iostat_cpu_linux"]))


async def reject(session: AsyncSession) -> None:
    stream_id = await session.scalar(select(Stream.id).where(Stream.key == "one"))
    rows = [
        StoredRejectedLine(
            stream_id=stream_id, line_offset=number, line_no=number, n_bytes=1, line_text="x", reason="x", received_at=NOW
        )
        for number in range(12)
    ]
    session.add_all(rows)


async def be_tagged(session: AsyncSession) -> None:
    await session.execute(update(Host).where(Host.name == "web10").values(tags=["prod"], agent_tags=["a", "b"]))


async def come(session: AsyncSession) -> None:
    session.add_all([Host(name="web1", os='"quoted" 100 %'), Host(name="web20")])


async def leave(session: AsyncSession) -> None:
    await session.execute(delete(Host).where(Host.name.in_(["web2", "web20"])))


STEPS: tuple[Callable[[AsyncSession], Awaitable[None]], ...] = (
    send, begin_another_tool, report_every_minute, find_another_stat, reject, be_tagged, come, leave,
)  # fmt: skip


async def read(sessions: Sessions, now: datetime, kept: HostListRows | None) -> HostListRows:
    """The list from what is kept, compared with a fresh one."""
    async with sessions() as session:
        found = await read_rows(session, now, kept)
        fresh = await list_hosts(session, now)
        assert found.version == await read_hosts_version(session)
    assert [orjson.loads(row) for row in found.rows] == orjson.loads(orjson.dumps(fresh, option=orjson.OPT_UTC_Z))
    assert found.names == [host.name for host in fresh]
    return found


async def test_what_is_kept_equals_a_fresh_list(sessions: Sessions) -> None:
    found = await read(sessions, NOW, None)
    assert found.rows == []
    async with sessions() as session, session.begin():
        web10, web2 = Host(name="web10"), Host(name="web2", os="Linux 6.1", last_seen_at=NOW - timedelta(seconds=5))
        session.add_all([web10, web2])
        await session.flush()
        session.add_all([stream(web2.id, "one", 5, stat_names=["vmstat_linux"]), stream(web10.id, "import", 5, is_finished=True)])
    for ago_s in (0, 300, 3600):
        found = await read(sessions, NOW + timedelta(seconds=ago_s), found)
    for step in STEPS:
        before = found
        async with sessions() as session, session.begin():
            await step(session)
        found = await read(sessions, NOW, before)
        assert found.rows != before.rows, step


async def test_the_texts_of_a_host_that_only_sends_are_kept(sessions: Sessions) -> None:
    async with sessions() as session, session.begin():
        session.add_all([Host(name="web10"), Host(name="web2")])
    before = await read(sessions, NOW, None)
    async with sessions() as session, session.begin():
        await send(session)
        await be_tagged(session)
    after = await read(sessions, NOW, before)
    is_same = np.array([new is old for new, old in zip(after.texts, before.texts, strict=True)])
    assert after.names_by_id[is_same].tolist() == ["web2"]
