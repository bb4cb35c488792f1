"""The scheduled run: each minute once, late samples, gaps, restarts, and what the history gives."""

import re
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
from sqlalchemy import text

from normstat.baselines.baseline_rows import BaselineDraft, create_baseline
from normstat.baselines.rolling_baseline import update_rolling_baselines
from normstat.db.session import driver_of, open_read_session, open_write_session
from normstat.records.episode_rows import read_episodes_after
from normstat.records.score_rows import list_unscored
from normstat.records.stream_changes import note_replaced
from normstat.samples.ingest_rows import note_late
from normstat.watch.fleet.baseline_normals import NormalsCache
from normstat.watch.fleet.fleet_service import FleetMemory, read_fleet
from normstat.watch.fleet.minute_store import MINUTE_US, MinuteStore
from normstat.watch.scores.host_scoring import ScoreMemory
from normstat.watch.scores.score_history import ScoreHistory, read_history
from normstat.watch.scores.score_job import ContinuousComparison, backfill
from normstat.window import Window, to_us
from tests.databases import Sessions, on_either_database
from tests.profiles.profiled import START, create, hours, make, mark, store
from tests.query.filling import fill_stat

pytestmark = on_either_database

# The baseline ends, and the host goes on.
END = START + timedelta(hours=3)
SETTLED = timedelta(seconds=15)


def continuous() -> ContinuousComparison:
    return ContinuousComparison(ScoreMemory(MinuteStore(64 << 20, time.monotonic)))


async def history(sessions: Sessions, start: datetime = START, end: datetime = END + timedelta(hours=6)) -> ScoreHistory:
    async with open_read_session(sessions) as session:
        return await read_history(session, "web1", Window(start, end), end)


async def send(sessions: Sessions, begin: int, end: int, *, load: float = 20.0) -> None:
    """Samples between minutes after END."""
    await store(sessions, END, np.arange(60 * begin, 60 * end, 10), seed=begin + 1, load=load)


def cpu_scores(found: ScoreHistory) -> list[float]:
    """Those of one minute, in order."""
    at = found.subsystems.index("cpu")
    return [step.scores[0][at] or 0.0 for step in found.steps]


async def with_baseline(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    await create(sessions, hours(START, 3))
    await make(sessions)


async def test_each_minute_is_scored_once_and_the_incident_stands_out(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 20)
    await send(sessions, 20, 25, load=90)
    own, now = continuous(), END + timedelta(minutes=25) + SETTLED
    assert await own.run(sessions, now=now) == 15
    found = await history(sessions)
    assert [step.start_ms for step in found.steps] == [to_us(END + timedelta(minutes=at)) // 1000 for at in range(10, 25)]
    assert max(cpu_scores(found)[:10]) < 0.1
    assert min(cpu_scores(found)[10:]) > 0.3
    top = found.steps[-1].findings[0]
    assert (top.subsystem, top.stat, top.field) == ("cpu", "mpstat_linux", "usr_pct")
    assert not found.steps[5].findings
    # Nothing is new; a minute later one minute is, and another process knows no more than the database.
    assert await own.run(sessions, now=now) == 0
    await send(sessions, 25, 26)
    assert await own.run(sessions, now=now + timedelta(minutes=1)) == 1
    again = continuous()
    await again.run(sessions, now=now + timedelta(minutes=1))
    assert (await history(sessions)).steps[:15] == found.steps


async def episodes(sessions: Sessions) -> list[tuple[str, str, datetime, bool]]:
    async with open_read_session(sessions) as session:
        return [
            (row.source, row.instance, row.start_at, row.ended_at is None)
            for row in await read_episodes_after(session, 1, ["comparison"], START)
        ]


async def test_an_incident_is_one_episode_whichever_process_found_it(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 10)
    await send(sessions, 10, 14, load=300)
    await continuous().run(sessions, now=END + timedelta(minutes=14) + SETTLED)
    ((source, subsystem, start, is_open),) = await episodes(sessions)
    assert (source, subsystem, is_open) == ("comparison", "cpu", True)
    assert END + timedelta(minutes=10) <= start <= END + timedelta(minutes=12)
    await send(sessions, 14, 40)
    own = continuous()
    for minute in (15, 19, 28, 40):
        await own.run(sessions, now=END + timedelta(minutes=minute) + SETTLED)
    assert await episodes(sessions) == [("comparison", "cpu", start, False)]


async def test_late_samples_change_the_minutes_that_they_belong_to(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 18)
    await send(sessions, 19, 20)
    own, now = continuous(), END + timedelta(minutes=20) + SETTLED
    await own.run(sessions, now=now)
    before = await history(sessions)
    await send(sessions, 18, 19, load=90)
    await own.run(sessions, now=now + timedelta(minutes=2))
    after = await history(sessions)
    assert len(after.steps) == len(before.steps) + 1
    assert max(cpu_scores(before)) < 0.1
    assert np.argmax(cpu_scores(after)) == 13


async def tell_late(sessions: Sessions, first: datetime) -> None:
    """As ingest notes it of what came for a time that the stream had passed."""
    async with open_write_session(sessions) as session:
        await note_late(await driver_of(session), {1: first})


async def is_left_to_score(sessions: Sessions) -> bool:
    async with open_read_session(sessions) as session:
        return bool(await list_unscored(session))


async def test_samples_that_come_later_than_the_live_minutes_are_scored_too(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 30)
    await send(sessions, 40, 90)
    own = continuous()
    for minute in (10, 30, 90):
        await own.run(sessions, now=END + timedelta(minutes=minute) + SETTLED)
    before = cpu_scores(await history(sessions, END))
    assert len(before) == 80
    assert max(before) < 0.1
    # Ten minutes come an hour late, and are an incident.
    await send(sessions, 30, 40, load=300)
    await tell_late(sessions, END + timedelta(minutes=30))
    # Another process knows no less.
    await continuous().run(sessions, now=END + timedelta(minutes=90) + SETTLED)
    after = cpu_scores(await history(sessions, END))
    assert len(after) == 90
    assert min(after[30:40]) > 0.3
    # What was scored since and is calm stays as it was; the windows that reach into the late minutes changed.
    assert after[:30] + after[55:] == before[:30] + before[45:]
    [(source, instance, start, is_open)] = await episodes(sessions)
    assert (source, instance, is_open) == ("comparison", "cpu", False)
    assert END + timedelta(minutes=30) <= start <= END + timedelta(minutes=34)
    assert not await is_left_to_score(sessions)


async def test_minutes_whose_samples_are_gone_lose_their_scores(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 90)
    own = continuous()
    for minute in (20, 90):
        await own.run(sessions, now=END + timedelta(minutes=minute) + SETTLED)
    async with open_write_session(sessions) as session:
        gone = {"start": END + timedelta(minutes=30), "end": END + timedelta(minutes=50)}
        await session.execute(text("DELETE FROM samples.mpstat_linux WHERE time >= :start AND time < :end"), gone)
        await note_replaced(session, 1, END + timedelta(minutes=5))
    await continuous().run(sessions, now=END + timedelta(minutes=90) + SETTLED)
    minutes = [(step.start_ms - to_us(END) // 1000) // 60_000 for step in (await history(sessions, END)).steps]
    assert minutes == [*range(5, 30), *range(50, 90)]
    assert not await is_left_to_score(sessions)


async def test_late_samples_older_than_a_day_are_left_to_a_backfill(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 20)
    now = END + timedelta(hours=30)
    await tell_late(sessions, END)
    await continuous().run(sessions, now=now)
    assert (await history(sessions, END)).steps == []
    assert not await is_left_to_score(sessions)


async def test_what_came_while_nobody_scored_is_scored_later(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 10)
    await continuous().run(sessions, now=END + timedelta(minutes=10) + SETTLED)
    await send(sessions, 10, 200)
    await continuous().run(sessions, now=END + timedelta(minutes=200) + SETTLED)
    found = await history(sessions)
    # From five minutes before END on, which the first run reached back to.
    assert [step.start_ms for step in found.steps] == [to_us(END + timedelta(minutes=at)) // 1000 for at in range(-5, 200)]


async def test_a_host_that_nobody_marked_is_scored_against_its_last_days(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 20 * 3600, 120))
    learning = (await history(sessions, end=START + timedelta(hours=20))).normal
    assert (learning.kind, learning.baseline, learning.recorded_h, learning.needed_h) == ("learning", None, 20.0, 24.0)
    await store(sessions, START + timedelta(hours=20), np.arange(0, 6 * 3600, 60), seed=1)
    now = START + timedelta(hours=26)
    await update_rolling_baselines(sessions, now)
    assert (await history(sessions, end=now)).normal.sentence == "the profile of the last day is being built"
    await make(sessions, now)
    assert (await history(sessions, end=now)).normal.sentence == "compared with the last day"
    await store(sessions, now, np.arange(0, 600, 10), seed=2, load=300)
    await continuous().run(sessions, now=now + timedelta(minutes=10) + SETTLED)
    found = await history(sessions, now, now + timedelta(minutes=10))
    assert len(found.steps) == 10
    assert min(cpu_scores(found)) > 0.2
    # The next day's profile is not built yet: until then that of the day before holds.
    day = now + timedelta(days=1)
    await store(sessions, day - timedelta(hours=2), np.arange(0, 2 * 3600, 10), seed=3)
    assert await update_rolling_baselines(sessions, day) == 1
    await continuous().run(sessions, now=day + SETTLED)
    later = await history(sessions, day - timedelta(minutes=10), day)
    assert len(later.steps) == 10
    assert max(cpu_scores(later)) < 0.2


async def test_a_baseline_too_short_for_a_profile_says_so(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    await create(sessions, Window(START, START + timedelta(minutes=5)))
    own = (await history(sessions, end=START + timedelta(hours=3))).normal
    assert (own.kind, own.too_short) == ("learning", "normal")
    assert own.sentence.endswith("; the baseline normal is shorter than 8 minutes, too short for it")
    silent = (await history(sessions, end=START + timedelta(hours=9))).normal
    assert (silent.kind, silent.recorded_h) == ("none", None)


async def test_a_new_baseline_without_samples_does_not_end_the_comparison(sessions: Sessions) -> None:
    await with_baseline(sessions)
    await send(sessions, 0, 20)
    # Of hours in which nothing was recorded, as those of a rule are that begins tomorrow.
    async with open_write_session(sessions) as session:
        await create_baseline(session, BaselineDraft("office", "", ("web1",), (hours(START - timedelta(days=2), 1),), "ann"))
    own, now = continuous(), END + timedelta(minutes=20) + SETTLED
    assert await own.run(sessions, now=now) == 15
    normal = (await history(sessions, end=now)).normal
    assert (normal.kind, normal.name, normal.unbuilt, normal.too_short) == ("baseline", "normal", "office", None)
    assert normal.sentence == "compared with normal; the baseline office has no profile yet"
    # Nor does what the job makes of it: there is nothing in it.
    await make(sessions)
    await send(sessions, 20, 25)
    assert await continuous().run(sessions, now=now + timedelta(minutes=5)) > 0


async def test_the_last_days_serve_until_the_baseline_of_a_person_has_a_profile(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 26 * 3600, 60))
    now = START + timedelta(hours=26)
    await update_rolling_baselines(sessions, now)
    await make(sessions, now)
    await create(sessions, hours(START, 3))
    await update_rolling_baselines(sessions, now)
    normal = (await history(sessions, end=now)).normal
    assert (normal.kind, normal.unbuilt) == ("rolling", "normal")
    await make(sessions, now)
    assert (await history(sessions, end=now)).normal.sentence == "compared with normal"


async def test_a_host_without_a_baseline_has_no_scores_and_a_backfill_gives_the_past(sessions: Sessions) -> None:
    await store(sessions, START, np.arange(0, 3 * 3600, 10))
    await send(sessions, 0, 10)
    own, now = continuous(), END + timedelta(minutes=10) + SETTLED
    assert await own.run(sessions, now=now) == 0
    assert (await history(sessions)).steps == []
    await create(sessions, hours(START, 3))
    await make(sessions)
    first = to_us(START) // MINUTE_US
    assert await backfill(sessions, 1, range(first, first + 190), now=now) == 190
    assert len((await history(sessions)).steps) == 190
    long = await history(sessions, START - timedelta(days=60))
    assert long.step_ms == 58 * 60_000
    assert sum(step.n_judged > 0 for step in long.steps) == len(long.steps) < 6


# --- sentences ---


STEP_S = 10


def minute(n: float) -> datetime:
    return END + timedelta(minutes=n)


async def record(sessions: Sessions, start: datetime, end: datetime, used: dict[str, float]) -> None:
    """Two CPUs, of which processes use so many per cent of one, and nobody anything else."""
    seconds = np.arange(0, (end - start).total_seconds(), STEP_S)
    noise = np.random.default_rng(int(start.timestamp())).uniform(0, 1, len(seconds)).round(2)
    idle = (200 - sum(used.values()) - noise) / 2
    cpus = ("all", "0", "1")
    key = str(start)
    await fill_stat(
        sessions, "mpstat_linux", start, seconds, cpus, key=f"c{key}", idle_pct=np.repeat(idle.round(2), 3), iowait_pct=0.0
    )
    for stat, names in (("linux_command", [name.partition("/")[2] for name in used]), ("linux_process", list(used))):
        cpu = np.tile(list(used.values()), len(seconds))
        await fill_stat(sessions, stat, start, seconds, names, key=f"{stat}{key}", cpu_pct=cpu, ended_pct=0.0)
    await mark(sessions, start, end)


async def prepare(sessions: Sessions) -> None:
    await record(sessions, START, END, {"5/python3": 10.0, "6/sshd": 2.0})
    await create(sessions, hours(START, 3))
    await make(sessions)
    await record(sessions, END, minute(15), {"5/python3": 10.0, "6/sshd": 2.0})
    await record(sessions, minute(15), minute(20), {"5/python3": 10.0, "6/sshd": 2.0, "77/yes": 150.0})


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


async def test_a_disk_that_stalls_again_and_again_is_told_by_its_stalls(sessions: Sessions) -> None:
    async def record_disk(start: datetime, minutes: int, *, stalls: bool) -> None:
        seconds = np.arange(60 * minutes)
        is_stalled = (seconds % 38 >= 33) & stalls
        values = {
            "wsvc_t_ms": np.where(is_stalled, 80.2, 0),
            "b_pct": np.where(is_stalled, 100, 3),
            "actv": np.where(is_stalled, 32, 0.1),
        }
        await fill_stat(sessions, "iostat_solaris", start, seconds, ("sd3",), key=str(start), values=values)
        await mark(sessions, start, start + timedelta(minutes=minutes), "iostat_solaris")

    await record_disk(START, 30, stalls=False)
    await create(sessions, hours(START, 0.5))
    await make(sessions)
    await record_disk(minute(0), 12, stalls=True)
    await continuous().run(sessions, now=minute(12) + SETTLED)
    (top,) = (await history(sessions)).steps[-1].findings
    assert re.fullmatch(r"sd3: wait of a request .* (10|9)\.\d* ms \(normally 0 ms\), 80\.2 ms for 5 s every 38 s", top.sentence)
    (said,) = await sentences(sessions)
    assert said.startswith("sd3 was busy ")
    assert said.endswith(" 80.2 ms for 5 s every 38 s.")


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
