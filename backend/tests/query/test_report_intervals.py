"""The intervals of reports are the same whether samples are rows, sealed, or some of each."""

from datetime import UTC, datetime, timedelta

import numpy as np

from normstat.compaction.seal_job import seal_next
from normstat.db.session import open_read_session
from normstat.query.report_intervals import Intervals, read_intervals
from normstat.samples.lookup import find_instances, find_stat, require_host
from normstat.window import Window, to_us
from tests.databases import Sessions, on_either_database
from tests.query.filling import fill_stat

START = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DAY_S = 86_400
# Streams one after the other, with a pause between the second and the third: when they begin, how long they last, their interval.
STREAMS = ((0, DAY_S, 60), (DAY_S + 30, DAY_S // 2, 10), (3 * DAY_S, 3_600, 1))
WINDOWS = [
    Window(START - timedelta(hours=1), START + timedelta(days=4)),
    Window(START + timedelta(hours=20), START + timedelta(hours=30)),
    Window(START + timedelta(days=1, hours=3), START + timedelta(days=3, minutes=10)),
]


async def read(sessions: Sessions) -> list[Intervals | None]:
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, "web1")
        stat = await find_stat(session, "vmstat_linux")
        assert stat is not None
        [instance] = await find_instances(session, host_id, stat.id, [""])
        return [(await read_intervals(session, host_id, stat, window, [instance.id])).get(instance.id) for window in WINDOWS]


@on_either_database
async def test_a_window_that_is_partly_sealed(sessions: Sessions) -> None:
    for first_s, length_s, every_s in STREAMS:
        seconds = np.arange(first_s, first_s + length_s, every_s)
        await fill_stat(sessions, "vmstat_linux", START, seconds, key=str(first_s), cpu_us=1.0)
    before = await read(sessions)
    assert before[0] is not None
    assert {1_000_000, 10_000_000, 60_000_000} <= set(before[0].interval_us.tolist())
    async with open_read_session(sessions) as session:
        host_id = await require_host(session, "web1")
    n_rows = 0
    # Where parts of a table are dropped as a whole, the first days may have to wait for others.
    for days in (1, 2, 10):
        while made := await seal_next(sessions, host_id, to_us(START + timedelta(days=days)), datetime.now(UTC)):
            n_rows += made
        for one, other in zip(before, await read(sessions), strict=True):
            assert one is not None
            assert other is not None
            assert (one.start_us.tolist(), one.interval_us.tolist()) == (other.start_us.tolist(), other.interval_us.tolist())
    assert n_rows == sum(length_s // every_s for _, length_s, every_s in STREAMS)
