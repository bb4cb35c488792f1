"""Series for drawing, read from real tables."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from normstat.errors import NotFound
from normstat.query.host_lists import list_instances
from normstat.query.report_intervals import find_intervals
from normstat.query.series_points import SeriesRequest, SeriesResult, read_series
from normstat.samples import sample_pages
from normstat.samples.rollups.rollup_job import roll_up
from normstat.stats.spec import Field, Kind, Storage, Worse
from normstat.window import Window, to_us
from tests.databases import Sessions
from tests.query.filling import fill_stat, fill_values

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
START_US = to_us(START)


def minutes(n: float, first: float = 0) -> Window:
    return Window(START + timedelta(minutes=first), START + timedelta(minutes=first + n))


async def fill_cpus(sessions: Sessions, n_seconds: int, names: tuple[str, ...]) -> None:
    """CPU number k has usr_pct k + 0.1 in every second."""
    usr = np.tile(np.arange(len(names)) + 0.1, n_seconds)
    await fill_stat(
        sessions, "mpstat_linux", START, np.arange(n_seconds), names, usr_pct=usr, intr_per_s=np.arange(len(usr)) + 0.25
    )


async def draw(sessions: Sessions, **wish: object) -> SeriesResult:
    asked = {"host": "web1", "stat": "mpstat_linux", "window": minutes(60), "width": 1000, "fields": ("usr_pct",)} | wish
    async with sessions() as session:
        return await read_series(session, SeriesRequest(**asked))  # type: ignore[arg-type]


async def test_few_samples_come_raw_with_the_digits_that_were_printed(sessions: Sessions) -> None:
    await fill_cpus(sessions, 5, ("all", "0", "1"))
    block = await draw(sessions, fields=("usr_pct", "intr_per_s"), instances=("1",))
    assert block.resolution == "raw"
    assert [(series.instance, series.field, series.unit) for series in block.series] == [
        ("1", "usr_pct", "%"),
        ("1", "intr_per_s", "1/s"),
    ]
    usr, intr = block.series
    # 2.1 is stored in four bytes; as eight it would be 2.0999999046.
    assert usr.values.tolist() == [2.1] * 5
    assert intr.values.tolist() == [2.25, 5.25, 8.25, 11.25, 14.25]
    assert usr.times.tolist() == [START_US // 1000 + 1000 * second for second in range(5)]
    assert (usr.n_raw, block.n_raw, block.n_points, block.n_instances_left_out) == (5, 10, 10, 0)


async def test_windows_are_half_open(sessions: Sessions) -> None:
    await fill_cpus(sessions, 120, ("all",))
    block = await draw(sessions, window=minutes(1))
    assert block.series[0].times.tolist() == [START_US // 1000 + 1000 * second for second in range(60)]


async def test_many_samples_come_as_an_envelope_of_real_samples(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 3600
    rng = np.random.default_rng(1)
    usr = np.round(rng.uniform(0, 90, n), 2)
    usr[1234], usr[2345] = 100.0, 0.0
    await fill_stat(sessions, "mpstat_linux", START, np.arange(n), ("all",), usr_pct=usr)
    monkeypatch.setattr(sample_pages.PageQuery, "n_rows_per_page", 1000)
    block = await draw(sessions, width=60)
    assert (block.resolution, block.column_ms, block.n_raw) == ("envelope", 60_000, n)
    [series] = block.series
    assert block.n_points == len(series.values) <= 240
    at = (series.times * 1000 - START_US) // 1_000_000
    assert series.values.tolist() == usr[at].tolist()
    for minute in range(60):
        inside = usr[60 * minute : 60 * minute + 60]
        drawn = usr[at[at // 60 == minute]]
        assert (drawn[0], drawn.min(), drawn.max(), drawn[-1]) == (inside[0], inside.min(), inside.max(), inside[-1])


async def test_the_top_are_those_with_the_highest_mean_over_the_window(sessions: Sessions) -> None:
    await fill_cpus(sessions, 30, tuple(str(number) for number in range(12)))
    block = await draw(sessions, top=3)
    assert [series.instance for series in block.series] == ["11", "10", "9"]
    assert block.n_instances_left_out == 9


@pytest.mark.parametrize("is_rolled", [False, True])
async def test_where_less_is_worse_the_top_are_the_lowest(sessions: Sessions, *, is_rolled: bool) -> None:
    n, names = 7200, ("all", "0", "1", "2", "3")
    idle = {"all": 55.0, "0": 90.0, "1": 10.0, "2": 60.0, "3": 80.0}
    at = np.repeat(np.arange(0, n, 10), len(names))
    who = np.tile(np.array(names), n // 10)
    # CPU 3 was online for a moment: few values are no low ones.
    is_there = (who != "3") | (at < 100)
    await fill_values(
        sessions,
        "web1",
        "mpstat_linux",
        time_us=START_US + at[is_there] * 1_000_000,
        instances=who[is_there].tolist(),
        values={"idle_pct": np.array([idle[name] for name in who[is_there]]), "usr_pct": np.ones(int(is_there.sum()))},
    )
    if is_rolled:
        await roll_up(sessions, now=START + timedelta(days=2), budget_s=60)
    block = await draw(sessions, window=minutes(120), fields=("idle_pct",), top=2)
    assert [series.instance for series in block.series] == ["1", "2"]
    # A summary of all CPUs is none of them.
    block = await draw(sessions, window=minutes(120), fields=("usr_pct",), top=4)
    assert [series.instance for series in block.series] == ["0", "1", "2", "3"]


async def test_all_instances_come_in_natural_order_up_to_the_limit(sessions: Sessions) -> None:
    names = ("10", "9", "all", *(str(number) for number in range(11, 250)))
    await fill_cpus(sessions, 2, names)
    block = await draw(sessions)
    assert [series.instance for series in block.series[:4]] == ["all", "9", "10", "11"]
    assert (len(block.series), block.n_instances_left_out) == (200, len(names) - 200)
    both = await draw(sessions, fields=("usr_pct", "intr_per_s"))
    assert (len(both.series), both.n_instances_left_out) == (200, len(names) - 100)


async def fill_processes(sessions: Sessions, first_s: int, n_seconds: int, names: tuple[str, ...]) -> None:
    await fill_stat(sessions, "mpstat_linux", START, first_s + np.arange(n_seconds), names, key=str(first_s), usr_pct=1.0)


async def test_instances_that_ended_before_the_window_take_no_place_in_it(sessions: Sessions) -> None:
    """Whether one has ended its row says only after minutes: the samples decide."""
    lasting = ("950", "951")
    await fill_processes(sessions, 0, 10, (*(str(number) for number in range(300)), *lasting))
    await fill_processes(sessions, 10, 110, lasting)
    block = await draw(sessions, window=minutes(1, first=1))
    assert [series.instance for series in block.series] == list(lasting)
    assert [series.n_raw for series in block.series] == [60, 60]
    assert block.n_instances_left_out == 0
    async with sessions() as session:
        instances, n_left_out = await list_instances(session, "web1", "mpstat_linux", minutes(1, first=1))
        assert ([instance.name for instance in instances], n_left_out) == (list(lasting), 0)


async def test_a_gap_stays_a_gap(sessions: Sessions) -> None:
    at = np.concatenate([np.arange(100), np.arange(400, 500)])
    await fill_stat(sessions, "mpstat_linux", START, at, ("all",), usr_pct=np.where(at == 50, np.nan, 1.0))
    for width in (1000, 20):
        [series] = (await draw(sessions, window=minutes(10), width=width)).series
        holes = (series.times[np.isnan(series.values)] * 1000 - START_US) // 1_000_000
        assert any(100 <= second < 400 for second in holes), width
        assert series.n_raw == 199


async def fill_reports(sessions: Sessions, seconds: np.ndarray, name: str, *, key: str = "1") -> None:
    """A row of the process `name` in the reports of these seconds."""
    await fill_stat(sessions, "mpstat_linux", START, seconds, (name,), key=key, usr_pct=1.0)


def gaps_of(result: SeriesResult) -> dict[str, list[int]]:
    """The seconds in which each line is broken."""
    return {
        series.instance: ((series.times[np.isnan(series.values)] * 1000 - START_US) // 1_000_000).tolist()
        for series in result.series
    }


async def test_a_line_is_not_drawn_across_reports_that_lack_the_instance(sessions: Sessions) -> None:
    await fill_reports(sessions, np.arange(600), "busy")
    await fill_reports(sessions, np.arange(0, 600, 60), "rare")
    await fill_reports(sessions, np.arange(0, 600, 3), "every third")
    rare = {"rare": list(range(30, 600, 60))[:9]}
    assert gaps_of(await draw(sessions, window=minutes(10))) == {"busy": [], "every third": [], **rare}
    # The same where the others are not asked for.
    assert gaps_of(await draw(sessions, window=minutes(10), instances=("rare",))) == rare


async def test_the_interval_is_that_of_the_instances_own_stream(sessions: Sessions) -> None:
    await fill_reports(sessions, np.arange(600), "0", key="each second")
    await fill_reports(sessions, np.arange(0, 600, 30), "1", key="each half minute")
    assert gaps_of(await draw(sessions, window=minutes(10))) == {"0": [], "1": []}


async def test_an_interval_that_becomes_longer_makes_no_gaps(sessions: Sessions) -> None:
    slower = np.concatenate([np.arange(400), np.arange(400, 3600, 10)])
    await fill_reports(sessions, slower, "0")
    await fill_reports(sessions, slower[::100], "rare")
    result = gaps_of(await draw(sessions))
    assert result["0"] == []
    assert len(result["rare"]) == len(slower[::100]) - 1


async def test_the_interval_of_a_window_of_days_is_known(sessions: Sessions) -> None:
    four_days = 4 * 86_400
    await fill_reports(sessions, np.arange(0, four_days, 600), "busy")
    await fill_reports(sessions, np.arange(0, four_days, 6 * 3600), "rare")
    result = gaps_of(await draw(sessions, window=minutes(4 * 1440)))
    assert result["busy"] == []
    assert len(result["rare"]) == 15


def test_events_have_no_interval() -> None:
    def reports(*seconds: float) -> list[datetime]:
        return [START + timedelta(seconds=second) for second in seconds]

    assert find_intervals([(1, START, reports(0, 1, 2, 3.5)), (2, START, reports(0, 0.01, 40, 41))]) == {1: {START_US: 1_000_000}}
    # One report that is missing, or late, is no event.
    assert find_intervals([(1, START, reports(0, 10, 20, 60))]) == {1: {START_US: 10_000_000}}


async def test_lines_of_rollups_are_not_drawn_across_reports_that_lack_the_instance(sessions: Sessions) -> None:
    day = 86_400
    await fill_reports(sessions, np.arange(0, day, 4), "busy")
    await fill_reports(sessions, np.arange(0, day, 600), "rare")
    await roll_up(sessions, now=START + timedelta(days=3), budget_s=60)
    result = await draw(sessions, window=minutes(1440), width=1440)
    assert result.source == "rollup_minute"
    gaps = gaps_of(result)
    assert gaps["busy"] == []
    assert len(gaps["rare"]) == day // 600 - 1


async def test_columns_that_only_this_host_has_can_be_drawn(sessions: Sessions) -> None:
    odd = Field("disk_cd0", "cd0", "cd0", "disk", "1/s", Kind.RATE, Worse.NEITHER, 0, Storage.INT8, "", "", is_documented=False)
    await fill_stat(sessions, "vmstat_solaris", START, [0, 1], host="sun1", extra=[odd], cpu_us=[3, 4], disk_cd0=[7, 0])
    block = await draw(sessions, host="sun1", stat="vmstat_solaris", fields=("disk_cd0",))
    assert block.series[0].values.tolist() == [7.0, 0.0]


async def test_nothing_in_the_window_is_an_empty_answer(sessions: Sessions) -> None:
    await fill_cpus(sessions, 5, ("all",))
    nothing = await draw(sessions, window=minutes(5, first=30))
    assert (nothing.series, nothing.n_raw, nothing.resolution) == ([], 0, "raw")
    named = await draw(sessions, window=minutes(5, first=30), instances=("all",))
    assert [series.values.tolist() for series in named.series] == [[]]
    never_sent = await draw(sessions, stat="iostat_linux", fields=("util_pct",))
    assert never_sent.series == []


async def test_unknown_names_are_said(sessions: Sessions) -> None:
    await fill_cpus(sessions, 1, ("all",))
    wishes: tuple[tuple[dict[str, object], str], ...] = (
        ({"host": "web9"}, "no host 'web9'"),
        ({"stat": "no_stat"}, "no stat 'no_stat'"),
        ({"fields": ("usr_pct", "nothing")}, "no field 'nothing'; it has"),
        ({"instances": ("cpu9", "cpu8")}, "no instance 'cpu8'"),
    )
    for wish, message in wishes:
        with pytest.raises(NotFound, match=message):
            await draw(sessions, **wish)
    # The instances that the host has are drawn, the others counted.
    drawn = await draw(sessions, instances=("all", "cpu9"))
    assert ([series.instance for series in drawn.series], drawn.n_instances_left_out) == (["all"], 1)
