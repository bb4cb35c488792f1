"""When there are samples, and when not."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import select

from normstat.db.schema.models import Gap, Stream
from normstat.errors import NotFound
from normstat.query import report_coverage
from normstat.query.report_coverage import Coverage, find_covered, read_coverage
from normstat.window import Window, to_us
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

pytestmark = on_either_database

START = datetime(2026, 11, 21, 10, tzinfo=UTC)


def seconds(start: float, end: float) -> Window:
    return Window(START + timedelta(seconds=start), START + timedelta(seconds=end))


async def fill_at(
    sessions: Sessions, *at_s: int, stat: str = "vmstat_linux", names: tuple[str, ...] = ("",), step_s: int = 1
) -> None:
    values = {"usr_pct" if stat == "mpstat_linux" else "cpu_us": 0.0}
    await fill_stat(sessions, stat, START, step_s * np.array(at_s), names, values=values)


async def read(sessions: Sessions, window: Window, width: int = 1000) -> Coverage:
    async with sessions() as session:
        return await read_coverage(session, "web1", window, width)


async def test_a_pause_splits_what_is_covered(sessions: Sessions) -> None:
    await fill_at(sessions, *range(600), *range(1800, 2400))
    for width in (16, 100, 1000, 8000):
        found = await read(sessions, seconds(-600, 3000), width)
        [stat] = found.stats
        assert (stat.stat, stat.n_samples, stat.interval_s) == ("vmstat_linux", 1200, 1.0)
        assert stat.covered == [seconds(0, 600), seconds(1800, 2400)]
        assert (found.first_sample_at, found.last_sample_at) == (START, START + timedelta(seconds=2399))


async def test_weeks_are_looked_through_part_by_part(sessions: Sessions) -> None:
    days = [0, 1, 2, 9, 10, 40]
    hours = [24 * day + hour for day in days for hour in range(24)]
    await fill_at(sessions, *hours, step_s=3600)
    expected = [seconds(86400 * first, 86400 * end) for first, end in ((0, 3), (9, 11), (40, 41))]
    for width in (70, 1000, 5000):
        [stat] = (await read(sessions, seconds(-86400, 86400 * 60), width)).stats
        assert (stat.covered, stat.n_samples, stat.interval_s) == (expected, len(hours), 3600)


async def test_several_instances_of_one_report_are_one_time(sessions: Sessions) -> None:
    await fill_at(sessions, *range(0, 500, 5), stat="mpstat_linux", names=("all", "0", "1", "2"))
    [stat] = (await read(sessions, seconds(0, 600))).stats
    assert (stat.n_samples, stat.interval_s, stat.covered) == (400, 5.0, [seconds(0, 500)])


async def test_slower_reports_by_night_are_no_gaps(sessions: Sessions) -> None:
    await fill_at(sessions, *range(1800), *range(1800, 3600, 30))
    [stat] = (await read(sessions, seconds(0, 3600), width=3600)).stats
    assert len(stat.covered) <= 4
    assert sum(piece.length_s for piece in stat.covered) > 3400


async def test_what_is_covered_ends_with_the_window(sessions: Sessions) -> None:
    await fill_at(sessions, *range(0, 100, 10))
    [stat] = (await read(sessions, seconds(25, 55))).stats
    assert stat.covered == [seconds(30, 55)]
    assert stat.n_samples == 3


async def test_one_sample_has_no_interval(sessions: Sessions) -> None:
    await fill_at(sessions, 7)
    [stat] = (await read(sessions, seconds(0, 60))).stats
    assert (stat.n_samples, stat.interval_s) == (1, None)
    assert stat.covered[0].start == START + timedelta(seconds=7)


async def test_nothing_in_the_window_is_no_stat(sessions: Sessions) -> None:
    await fill_at(sessions, *range(10))
    found = await read(sessions, seconds(100, 200))
    assert (found.stats, found.gaps) == ([], [])
    assert found.first_sample_at == START
    async with sessions() as session:
        with pytest.raises(NotFound, match="no host 'web9'"):
            await read_coverage(session, "web9", seconds(0, 1))


async def test_bytes_that_were_dropped_are_listed(sessions: Sessions) -> None:
    await fill_at(sessions, *range(10))
    async with sessions() as session, session.begin():
        stream = (await session.scalars(select(Stream.id))).one()
        session.add(Gap(stream_id=stream, start_offset=100, end_offset=350, reported_at=START + timedelta(seconds=5)))
    [gap] = (await read(sessions, seconds(0, 10))).gaps
    assert (gap.spec, gap.n_bytes) == ("vmstat_linux", 250)
    assert (await read(sessions, seconds(6, 10))).gaps == []


async def test_beyond_the_limit_samples_are_estimated(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_coverage, "COUNT_LIMIT", 1000)
    await fill_at(sessions, *range(2000), stat="mpstat_linux", names=("all", "0", "1", "2"))
    [stat] = (await read(sessions, seconds(0, 3600))).stats
    assert stat.n_samples == pytest.approx(8000, rel=0.02)


def test_islands_without_an_interval() -> None:
    first = np.array([to_us(START)])
    assert find_covered(first, first, None, seconds(0, 60)) == [seconds(0, 1)]
