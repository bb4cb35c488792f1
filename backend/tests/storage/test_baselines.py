"""Baselines come back as they were made, merged, versioned and named once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.errors import BadRequest, Conflict, NotFound
from normstat.storage import baseline_rows
from normstat.storage.baseline_rows import BaselineChange, BaselineDraft
from normstat.storage.schema.models import Host
from normstat.window import Window
from tests.databases import on_either_database

pytestmark = on_either_database

DAY = datetime(2026, 11, 21, tzinfo=UTC)


def hours(start: float, end: float) -> Window:
    return Window(DAY + timedelta(hours=start), DAY + timedelta(hours=end))


def draft(name: str, *windows: Window, hosts: tuple[str, ...] = ("web1",)) -> BaselineDraft:
    return BaselineDraft(name=name, note="quiet", hosts=hosts, windows=windows, created_by="ann")


@pytest.fixture
async def session(sessions: async_sessionmaker[AsyncSession]) -> AsyncIterator[AsyncSession]:
    async with sessions() as session, session.begin():
        session.add_all([Host(name="web1"), Host(name="web2")])
        yield session
        await session.rollback()


async def test_a_baseline_comes_back_as_it_was_made(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("normal", hours(9, 10), hosts=("web2", "web1", "web2")))
    assert (made.name, made.note, made.hosts, made.created_by, made.version) == ("normal", "quiet", ["web1", "web2"], "ann", 1)
    assert made.windows == [hours(9, 10)]
    assert made.created_at.utcoffset() == timedelta(0)
    assert await baseline_rows.read_baseline(session, made.id) == made


async def test_windows_that_overlap_or_touch_are_merged(session: AsyncSession) -> None:
    made = await baseline_rows.create_baseline(session, draft("merged", hours(14, 15), hours(9, 11), hours(10, 12), hours(12, 13)))
    assert made.windows == [hours(9, 13), hours(14, 15)]


async def test_windows_keep_microseconds_and_any_zone_is_the_same_instant(session: AsyncSession) -> None:
    chatham = timezone(timedelta(hours=13, minutes=45))
    start = datetime(2026, 11, 22, 0, 0, 0, 123456, tzinfo=chatham)
    made = await baseline_rows.create_baseline(session, draft("zone", Window(start, start + timedelta(hours=1))))
    assert made.windows[0].start == start
    assert made.windows[0].start.utcoffset() == timedelta(0)


async def test_the_newest_is_listed_first_and_a_host_has_its_own(session: AsyncSession) -> None:
    first = await baseline_rows.create_baseline(session, draft("first", hours(1, 2)))
    second = await baseline_rows.create_baseline(session, draft("second", hours(1, 2), hosts=("web2",)))
    assert [item.id for item in await baseline_rows.list_baselines(session)] == [second.id, first.id]
    assert [item.name for item in await baseline_rows.list_baselines(session, "web1")] == ["first"]
    with pytest.raises(NotFound, match="web9"):
        await baseline_rows.list_baselines(session, "web9")


async def test_a_name_is_taken_once(session: AsyncSession) -> None:
    await baseline_rows.create_baseline(session, draft("same", hours(1, 2)))
    with pytest.raises(Conflict, match="'same'"):
        async with session.begin_nested():
            await baseline_rows.create_baseline(session, draft("same", hours(3, 4)))
    other = await baseline_rows.create_baseline(session, draft("other", hours(3, 4)))
    with pytest.raises(Conflict, match="'same'"):
        async with session.begin_nested():
            await baseline_rows.update_baseline(session, other.id, BaselineChange(changed_by="bob", name="same"))


async def test_what_is_not_there_is_said(session: AsyncSession) -> None:
    with pytest.raises(NotFound, match="'nowhere'"):
        await baseline_rows.create_baseline(session, draft("x", hours(1, 2), hosts=("web1", "nowhere")))
    for missing in (baseline_rows.read_baseline, baseline_rows.delete_baseline):
        with pytest.raises(NotFound, match="no baseline 4711"):
            await missing(session, 4711)
    with pytest.raises(NotFound, match="no baseline 4711"):
        await baseline_rows.update_baseline(session, 4711, BaselineChange(changed_by="bob", name="y"))


async def test_a_baseline_without_hosts_or_windows_is_none(session: AsyncSession) -> None:
    with pytest.raises(BadRequest, match="at least one host"):
        await baseline_rows.create_baseline(session, draft("x", hours(1, 2), hosts=()))
    with pytest.raises(BadRequest, match="at least one window"):
        await baseline_rows.create_baseline(session, draft("x"))
    made = await baseline_rows.create_baseline(session, draft("x", hours(1, 2)))
    with pytest.raises(BadRequest, match="at least one window"):
        await baseline_rows.update_baseline(session, made.id, BaselineChange(changed_by="bob", windows=()))


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (DAY, DAY, "is empty"),
        (DAY, DAY - timedelta(hours=1), "is empty"),
        (datetime(2026, 11, 21), DAY, "no time zone"),  # noqa: DTZ001
    ],
)
def test_a_window_is_never_empty_nor_naive(start: datetime, end: datetime, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        Window(start, end)
