"""Which panels have nothing to show: from samples and from rolled up hours alike."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.errors import NotFound
from normstat.query.zero_fields import QuietStat, read_quiet_stats
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import Window
from tests.databases import Sessions, on_one_database
from tests.query.filling import fill_stat

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
N_S = 3 * 3600


async def fill(sessions: Sessions) -> None:
    """Three hours of vmstat: nothing is read back from swap space, and something is written to it once, in the second hour."""
    written = np.zeros(N_S)
    written[5000] = 8
    run_queue = np.tile([0, 3], N_S // 2)
    nothing = np.zeros(N_S)
    await fill_stat(
        sessions, "vmstat_linux", START, np.arange(N_S), [""], swap_si=nothing, swap_so=written, procs_r=run_queue, procs_b=nothing
    )


async def quiet(sessions: Sessions, start: timedelta, end: timedelta) -> list[QuietStat]:
    async with sessions() as session:
        return (await read_quiet_stats(session, "web1", Window(START + start, START + end))).stats


@on_one_database
@pytest.mark.parametrize("is_rolled", [False, True])
async def test_a_field_is_zero_where_no_sample_is_anything_else(sessions: Sessions, *, is_rolled: bool) -> None:
    await fill(sessions)
    if is_rolled:
        await roll_up(sessions, now=START + timedelta(days=2), budget_s=60)
    everything = await quiet(sessions, 0 * HOUR, 3 * HOUR)
    assert everything == [QuietStat("vmstat_linux", has_samples=True, zero_fields=["procs_b", "swap_si"])]
    (first,) = await quiet(sessions, 0 * HOUR, HOUR)
    assert first.zero_fields == ["procs_b", "swap_si", "swap_so"]
    # A bucket at the edge of the window has a sample beyond it: the one that is not zero is at 11:23:20.
    (until,) = await quiet(sessions, HOUR, timedelta(seconds=5000))
    assert until.zero_fields == ["procs_b", "swap_si", "swap_so"]
    (after,) = await quiet(sessions, timedelta(seconds=5001), 3 * HOUR)
    assert after.zero_fields == ["procs_b", "swap_si", "swap_so"]


@on_one_database
async def test_a_stat_without_samples_in_the_window_says_so(sessions: Sessions) -> None:
    await fill(sessions)
    assert await quiet(sessions, 5 * HOUR, 6 * HOUR) == [QuietStat("vmstat_linux", has_samples=False, zero_fields=[])]
    async with sessions() as session:
        with pytest.raises(NotFound):
            await read_quiet_stats(session, "nobody", Window(START, START + HOUR))
