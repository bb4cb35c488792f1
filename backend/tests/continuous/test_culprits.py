"""The sentence of a spell: who did it, by the ledger of its worst minutes; the fleet says the same."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from normstat.continuous.host_scoring import ScoreMemory
from normstat.continuous.score_job import ContinuousComparison
from normstat.fleet.baseline_normals import NormalsCache
from normstat.fleet.fleet_service import FleetMemory, read_fleet
from normstat.fleet.minute_store import MinuteStore
from normstat.storage.baseline_rows import BaselineDraft, create_baseline
from normstat.storage.episode_rows import read_episodes_after
from normstat.storage.session import driver_of, open_read_session, open_write_session
from normstat.window import to_us
from tests.databases import on_either_database
from tests.profiles.profiled import START, Sessions, create, hours, make, mark
from tests.query.filling import fill_values

pytestmark = on_either_database

END = START + timedelta(hours=3)
STEP_S = 10


def minute(n: float) -> datetime:
    return END + timedelta(minutes=n)


async def record(sessions: Sessions, start: datetime, end: datetime, used: dict[str, float]) -> None:
    """Two CPUs, of which processes use so many per cent of one, and nobody anything else."""
    seconds = np.arange(0, (end - start).total_seconds(), STEP_S)
    times = to_us(start) + seconds.astype(np.int64) * 1_000_000
    noise = np.random.default_rng(int(start.timestamp())).uniform(0, 1, len(seconds)).round(2)
    idle = (200 - sum(used.values()) - noise) / 2
    cpus = ("all", "0", "1")
    key = str(start)
    await fill_values(
        sessions,
        "web1",
        "mpstat_linux",
        time_us=np.repeat(times, len(cpus)),
        instances=cpus * len(times),
        values={"idle_pct": np.repeat(idle.round(2), len(cpus)), "iowait_pct": np.zeros(len(cpus) * len(times))},
        key=f"c{key}",
    )
    for stat, names in (("linux_command", [name.partition("/")[2] for name in used]), ("linux_process", list(used))):
        await fill_values(
            sessions,
            "web1",
            stat,
            time_us=np.repeat(times, len(names)),
            instances=names * len(times),
            values={"cpu_pct": np.tile(np.array(list(used.values())), len(times)), "ended_pct": np.zeros(len(names) * len(times))},
            key=f"{stat}{key}",
        )
    await mark(sessions, start, end)


async def prepare(sessions: Sessions) -> None:
    await record(sessions, START, END, {"5/python3": 10.0, "6/sshd": 2.0})
    await create(sessions, hours(START, 3))
    await make(sessions)
    await record(sessions, END, minute(15), {"5/python3": 10.0, "6/sshd": 2.0})
    await record(sessions, minute(15), minute(20), {"5/python3": 10.0, "6/sshd": 2.0, "77/yes": 150.0})


def continuous() -> ContinuousComparison:
    return ContinuousComparison(ScoreMemory(MinuteStore(64 << 20, time.monotonic)))


async def sentences(sessions: Sessions) -> Sequence[str]:
    async with open_read_session(sessions) as session:
        return [row.sentence for row in await read_episodes_after(session, 1, ["comparison"], START)]


async def fleet_sentence(sessions: Sessions, now: datetime) -> str:
    memory = FleetMemory(MinuteStore(64 << 20, time.monotonic), NormalsCache())
    async with open_read_session(sessions) as session:
        (host,) = (await read_fleet(session, memory, None, now=now, budget_s=600)).hosts
    return host.sentence


async def test_a_spell_names_who_did_it_and_the_fleet_says_the_same(sessions: Sessions) -> None:
    await prepare(sessions)
    own, now = continuous(), minute(20) + timedelta(seconds=15)
    await own.run(sessions, now=now)
    (said,) = await sentences(sessions)
    assert said.startswith("yes (77), which ")
    assert "used 150 % of a CPU" in said
    assert "(normally 6" in said
    assert await fleet_sentence(sessions, now) == said.removesuffix(".")
    # Neither the next run nor another process, which knows only the database, says less.
    for again in (own, continuous()):
        await record(sessions, now, now + timedelta(seconds=5), {"5/python3": 10.0, "6/sshd": 2.0})
        await again.run(sessions, now=now)
        assert await sentences(sessions) == [said]


async def test_where_the_samples_of_the_baseline_are_gone_the_series_is_told(sessions: Sessions) -> None:
    await prepare(sessions)
    async with open_write_session(sessions) as session:
        for table in ("linux_command", "linux_process", "mpstat_linux"):
            await (await driver_of(session)).execute(f"DELETE FROM samples.{table} WHERE time < %s", [END])
    await continuous().run(sessions, now=minute(20) + timedelta(seconds=15))
    (said,) = await sentences(sessions)
    assert said.startswith("the CPUs were idle ")
    assert "yes" not in said


async def test_until_a_new_baseline_has_a_profile_the_fleet_judges_by_the_one_before(sessions: Sessions) -> None:
    await prepare(sessions)
    async with open_write_session(sessions) as session:
        await create_baseline(session, BaselineDraft("newer", "", ("web1",), (hours(START, 2.9),), "ann"))
    now = minute(20) + timedelta(seconds=15)
    await continuous().run(sessions, now=now)
    assert (await fleet_sentence(sessions, now)).startswith("yes (77)")
