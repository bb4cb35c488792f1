"""One metric of many hosts, read from real tables: lines, reductions, what is missing, runs beside each other."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.metric_choice import KnownHost, MetricChoice, choose_metric
from normstat.query.host_lines import HostRun, HostSeriesRequest, HostSeriesResult, Spread, read_host_series
from normstat.query.step_reduction import Reduction
from normstat.samples.lookup import (
    find_hosts,
    find_stats,
    list_latest_instances,
    list_latest_instances_of_hosts,
    list_stats_of_hosts,
)
from normstat.samples.rollups.rollup_job import roll_up
from normstat.window import Window, to_us
from tests.databases import ServerPool, Sessions, TestServer
from tests.debian_root import DatabaseUnavailable
from tests.query.filling import fill_stat

START = datetime(2026, 11, 21, 10, tzinfo=UTC)
START_US = to_us(START)


@pytest.fixture
def server(servers: ServerPool) -> TestServer:
    """One database: rows and rollups are read by functions that are tested on both."""
    try:
        return servers.require("postgresql")
    except DatabaseUnavailable as error:
        pytest.skip(str(error))


async def fill_vmstat(sessions: Sessions, host: str, seconds: np.ndarray, us: np.ndarray) -> None:
    await fill_stat(sessions, "vmstat_linux", START, seconds, host=host, cpu_us=us, procs_r=us)


async def fill_cpus(sessions: Sessions, host: str, stat: str, usr: dict[str, float], *, n: int, step: int = 1) -> None:
    """Each CPU has its own value in every report."""
    await fill_stat(sessions, stat, START, np.arange(n) * step, tuple(usr), host=host, usr_pct=np.tile(list(usr.values()), n))


async def know(session: AsyncSession, *names: str) -> list[KnownHost]:
    ids = await find_hosts(session, names)
    stats = await list_stats_of_hosts(session, list(ids.values()))
    return [KnownHost(ids[name], name, tuple(stats.get(ids[name], ()))) for name in names if name in ids]


async def choose(session: AsyncSession, metric: str, *names: str) -> MetricChoice:
    known = await know(session, *names)
    return choose_metric(metric, known, await find_stats(session, sorted({stat for own in known for stat in own.stats})))


async def draw(
    sessions: Sessions, metric: str, *hosts: str | HostRun, minutes: float = 60, width: int = 600, **wish: object
) -> HostSeriesResult:
    runs = [host if isinstance(host, HostRun) else HostRun(host) for host in hosts]
    async with sessions() as session:
        choice = await choose(session, metric, *dict.fromkeys(run.host for run in runs))
        start = START if all(run.start is None for run in runs) else datetime(1970, 1, 1, tzinfo=UTC)
        request = HostSeriesRequest(
            window=Window(start, start + timedelta(minutes=minutes)),
            width=width,
            runs=tuple((run, choice.columns[run.host]) for run in runs),
            usual=choice.usual,
            worse=choice.info.worse,
            **wish,  # type: ignore[arg-type]
        )
        return await read_host_series(session, request)


async def test_a_line_for_each_host_the_worst_first(sessions: Sessions) -> None:
    at = np.arange(60)
    await fill_vmstat(sessions, "a", at, np.full(60, 10))
    await fill_vmstat(sessions, "b", at, np.full(60, 90))
    await fill_cpus(sessions, "c", "mpstat_linux", {"all": 50.5, "0": 1.0, "1": 100.0}, n=60)
    found = await draw(sessions, "cpu.usr", "a", "b", "c", minutes=1)
    assert [(line.host, line.column, line.instance, line.mean) for line in found.lines] == [
        ("b", "vmstat_linux.cpu_us", "", 90.0),
        ("c", "mpstat_linux.usr_pct", "all", pytest.approx(50.5)),
        ("a", "vmstat_linux.cpu_us", "", 10.0),
    ]
    assert (found.resolution, found.n_hosts, found.n_raw, found.step_ms) == ("raw", 3, 180, None)
    top = await draw(sessions, "cpu.usr", "a", "b", "c", minutes=1, top=1)
    assert ([line.host for line in top.lines], top.n_lines_left_out) == (["b"], 2)


async def test_hosts_read_together_and_one_by_one_have_the_same_instances(sessions: Sessions) -> None:
    n_of = {"a": 12, "b": 3, "gone": 2}
    for host, n in n_of.items():
        await fill_cpus(sessions, host, "mpstat_linux", {str(cpu): 1.0 for cpu in range(n)}, n=5)
    await fill_vmstat(sessions, "other", np.arange(5), np.ones(5))
    async with sessions() as session:
        # The rows of active instances say their last sample late: here it is 30 s after what the row says.
        await session.execute(text("UPDATE instances SET last_sample_at = last_sample_at - interval '30 s' WHERE name = '1'"))
        ids = await find_hosts(session, [*n_of, "other"])
        [stat] = await find_stats(session, ["mpstat_linux"])
        for start_s, limit in ((0, 100), (0, 4), (3, 100), (60, 100)):
            window = Window(START + timedelta(seconds=start_s), START + timedelta(minutes=5))
            together = await list_latest_instances_of_hosts(session, list(ids.values()), stat, window, limit=limit)
            for host_id in ids.values():
                alone = await list_latest_instances(session, host_id, stat, window, limit=limit)
                assert together.get(host_id, ([], 0)) == alone
        assert together == {}


async def test_hosts_by_the_clock_are_drawn_as_each_alone(sessions: Sessions) -> None:
    rng = np.random.default_rng(3)
    names = [f"host{number}" for number in range(6)]
    for number, host in enumerate(names):
        at = np.arange(0, 7200, 2 + number)
        await fill_vmstat(sessions, host, at, rng.integers(0, 100, len(at)))
    await roll_up(sessions, now=START + timedelta(days=2), budget_s=60)
    together = await draw(sessions, "vmstat_linux.cpu_us", *names, minutes=120, width=60)
    lines = {line.host: line for line in together.lines}
    assert set(lines) == set(names)
    for host in names:
        [alone] = (await draw(sessions, "vmstat_linux.cpu_us", HostRun(host, START), minutes=120, width=60)).lines
        shift_ms = START_US // 1000
        assert (alone.n_raw, alone.mean) == (lines[host].n_raw, lines[host].mean)
        assert np.array_equal(alone.times + shift_ms, lines[host].times)
        assert np.array_equal(alone.values, lines[host].values, equal_nan=True)


async def test_a_spike_of_one_second_is_in_the_line_at_any_width(sessions: Sessions) -> None:
    us = np.full(3600, 5)
    us[1801] = 100
    await fill_vmstat(sessions, "a", np.arange(3600), us)
    found = await draw(sessions, "vmstat_linux.cpu_us", "a", width=60)
    assert found.resolution == "envelope"
    assert np.nanmax(found.lines[0].values) == 100
    highest = await draw(sessions, "vmstat_linux.cpu_us", "a", width=60, over=Reduction.MAXIMUM)
    assert np.nanmax(highest.lines[0].values) == 100


@pytest.mark.parametrize("is_rolled", [False, True])
async def test_reductions_are_exact_from_samples_and_from_rollups(sessions: Sessions, *, is_rolled: bool) -> None:
    """The hosts report at other times and intervals; c comes an hour later."""
    rng = np.random.default_rng(7)
    times = {"a": np.arange(0, 7200, 2), "b": np.arange(1, 7200, 5), "c": np.arange(3600, 7200, 3)}
    us = {host: rng.integers(0, 100, len(at)) for host, at in times.items()}
    for host, at in times.items():
        await fill_vmstat(sessions, host, at, us[host])
    if is_rolled:
        await roll_up(sessions, now=START + timedelta(days=2), budget_s=60)
    for over, direct in (
        (Reduction.SUM, np.sum),
        (Reduction.AVERAGE, np.mean),
        (Reduction.MAXIMUM, np.max),
        (Reduction.MINIMUM, np.min),
        (Reduction.P95, lambda own: np.quantile(own, 0.95)),
    ):
        found = await draw(sessions, "vmstat_linux.cpu_us", "a", "b", "c", minutes=120, width=120, over=over)
        assert found.step_ms == 60_000
        [line] = found.lines
        assert line.n_hosts is not None
        of_step = {
            int(t - START_US // 1000) // 60_000: (v, n)
            for t, v, n in zip(line.times, line.values, line.n_hosts, strict=True)
            if not np.isnan(v)
        }
        assert sorted(of_step) == list(range(120))
        pick = {Reduction.MAXIMUM: np.max, Reduction.MINIMUM: np.min}.get(over, np.mean)
        for minute, (value, n) in of_step.items():
            own = [pick(us[host][at // 60 == minute]) for host, at in times.items() if (at // 60 == minute).any()]
            assert n == len(own) == (2 if minute < 60 else 3)
            assert value == pytest.approx(direct(own), rel=1e-9)
    # A sum of two hosts and one of three are not one movement.
    total = await draw(sessions, "vmstat_linux.cpu_us", "a", "b", "c", minutes=120, width=120, over=Reduction.SUM)
    assert np.isnan(total.lines[0].values).sum() == 1


async def test_the_instances_of_a_host_become_one_line(sessions: Sessions) -> None:
    await fill_cpus(sessions, "s", "mpstat_solaris", {"0": 10, "1": 30, "2": 80}, n=30)
    await fill_cpus(sessions, "c", "mpstat_linux", {"all": 40.0, "0": 20.0, "1": 60.0}, n=30)
    usual = await draw(sessions, "cpu.usr", "s", "c", minutes=0.5)
    by_host = {line.host: line for line in usual.lines}
    # Solaris has no line of all CPUs: their average; Linux has one.
    assert (by_host["s"].across, by_host["s"].n_instances) == (Reduction.AVERAGE, 3)
    assert by_host["s"].mean == pytest.approx(40.0)
    assert (by_host["c"].across, by_host["c"].instance) == (None, "all")
    worst = await draw(sessions, "cpu.usr", "s", "c", minutes=0.5, across=Reduction.MAXIMUM)
    # `all` sums up the others, so it never counts beside them.
    assert {line.host: (line.mean, line.n_instances) for line in worst.lines} == {"s": (80.0, 3), "c": (60.0, 2)}
    each = await draw(sessions, "cpu.usr", "s", "c", minutes=0.5, across=Spread.EACH)
    assert [(line.host, line.instance) for line in each.lines] == [
        ("s", "2"), ("c", "1"), ("c", "all"), ("s", "1"), ("c", "0"), ("s", "0")
    ]  # fmt: skip
    # Over all CPUs of all hosts at once: five of them, not the summary.
    total = await draw(sessions, "cpu.usr", "s", "c", minutes=0.5, across=Spread.EACH, over=Reduction.SUM)
    assert (total.lines[0].mean, total.lines[0].n_instances) == (200.0, 5)
    assert total.lines[0].n_hosts is not None
    assert set(total.lines[0].n_hosts.tolist()) == {2}
    named = await draw(sessions, "cpu.usr", "s", "c", minutes=0.5, instance="all")
    assert [line.host for line in named.lines] == ["c"]
    assert [(own.host, own.reason) for own in named.left_out] == [("s", "s has no instance 'all' of mpstat_solaris")]


async def test_a_host_without_samples_in_the_window_is_named(sessions: Sessions) -> None:
    await fill_vmstat(sessions, "a", np.arange(60), np.full(60, 10))
    await fill_vmstat(sessions, "b", np.arange(7200, 7260), np.full(60, 10))
    for over in (None, Reduction.AVERAGE):
        found = await draw(sessions, "vmstat_linux.cpu_us", "a", "b", minutes=1, over=over)
        assert (found.n_hosts, len(found.lines)) == (1, 1)
        assert [own.reason for own in found.left_out] == ["b has no samples of vmstat_linux.cpu_us in this window"]


async def test_runs_are_beside_each_other_from_their_own_starts(sessions: Sessions) -> None:
    at = np.arange(3600)
    await fill_vmstat(sessions, "a", at, at // 60)
    first, second = HostRun("a", START), HostRun("a", START + timedelta(minutes=30))
    found = await draw(sessions, "vmstat_linux.cpu_us", first, second, minutes=1)
    assert {line.start: line.mean for line in found.lines} == {first.start: 0.0, second.start: 30.0}
    for line in found.lines:
        assert (line.times[0], line.times[-1]) == (0, 59_000)
    total = await draw(sessions, "vmstat_linux.cpu_us", first, second, minutes=10, width=100, over=Reduction.SUM)
    [line] = total.lines
    assert line.times[:2].tolist() == [0, 10_000]
    assert line.values[:8].tolist() == [30.0] * 6 + [32.0] * 2
    assert line.n_hosts is not None
    assert set(line.n_hosts.tolist()) == {2}


async def test_steps_that_may_miss_samples_are_left_out(sessions: Sessions) -> None:
    await fill_vmstat(sessions, "a", np.arange(60), np.full(60, 10))
    until = START + timedelta(seconds=31)
    found = await draw(sessions, "vmstat_linux.cpu_us", "a", minutes=1, over=Reduction.SUM, complete_until=until)
    assert (found.step_ms, found.lines[0].times[-1] - START_US // 1000) == (2000, 28_000)


async def test_no_instance_is_missing_in_a_sum_of_many(sessions: Sessions) -> None:
    """Lines are limited to what a graph can show; a sum counts every instance."""
    names = [str(number) for number in range(250)]
    await fill_cpus(sessions, "big", "mpstat_linux", dict.fromkeys(names, 1.0), n=4)
    total = await draw(sessions, "cpu.usr", "big", minutes=0.1, across=Spread.EACH, over=Reduction.SUM)
    assert (total.lines[0].mean, total.lines[0].n_instances) == (250.0, 250)
    each = await draw(sessions, "cpu.usr", "big", minutes=0.1, across=Spread.EACH)
    assert (len(each.lines), each.n_lines_left_out) == (200, 50)
