"""Rules over samples that arrive: what they find is the same however the samples came, and whoever judged them."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import event, select, text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession

from normstat.baselines.window_sets import Windows
from normstat.comparison.read_side import StatSide, read_side
from normstat.db.schema.watch_models import EpisodeRow, StoredRule, WatchedState
from normstat.samples.lookup import StatRef
from normstat.watch import live_judge, rule_budget, watcher
from normstat.watch.watcher import Watcher
from tests.databases import Sessions, on_either_database
from tests.dying import dying_at_statement
from tests.watch.live import at, read_found, send, send_mpstat, step_of

pytestmark = on_either_database

Brief = tuple[str, str, float | None, float | None, float | None, str | None, str]


def brief(row: EpisodeRow) -> Brief:
    return (row.source, row.instance, step_of(row.start_at), step_of(row.last_at), step_of(row.ended_at), row.ended_by, row.colour)


async def read_changes(sessions: Sessions) -> list[tuple[object, ...]]:
    """Return where the states of rules changed, by host and rule."""
    columns = (WatchedState.host_id, WatchedState.source, WatchedState.from_at, WatchedState.colour)
    async with sessions() as session:
        return [tuple(row) for row in await session.execute(select(*columns).order_by(*columns))]


async def test_an_episode_begins_lasts_and_ends(sessions: Sessions) -> None:
    judge = Watcher(sessions)
    await send_mpstat(sessions, "sun1", range(60))
    assert await judge.run(at(60)) == 1
    assert await read_found(sessions) == []
    await send_mpstat(sessions, "sun1", range(60, 70), range(65, 200))
    await judge.run(at(70))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 65, 69, None, None, "red")
    assert [(each["name"], each["value"], each["unit"]) for each in row.saw] == [
        ("smtx", 900, "1/s"), ("usr", 10, "%"), ("sys", 40, "%"),
    ]  # fmt: skip
    assert row.saw[0]["at"] == at(65).isoformat()
    # Fine for less than two minutes is not over.
    await send_mpstat(sessions, "sun1", range(70, 80), range(65, 72))
    await judge.run(at(80))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 65, 71, None, None, "red")
    await send_mpstat(sessions, "sun1", range(80, 90))
    await judge.run(at(90))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 65, 71, 83, "fine", "red")
    async with sessions() as session:
        states = select(WatchedState.from_at, WatchedState.colour).where(WatchedState.source == "mutex")
        changes = [(step_of(instant), colour) for instant, colour in await session.execute(states.order_by(WatchedState.from_at))]
    # By the minute: green, red from the minute with report 65 on, green after that of report 71.
    assert [colour for _, colour in changes] == [2, 4, 2]
    assert [round(step or 0) for step, _ in changes[1:]] == [64, 76]


@pytest.mark.matrix
async def test_whoever_judges_when_the_result_is_the_same(sessions: Sessions) -> None:
    contended = [*range(20, 25), *range(30, 33), *range(60, 90)]
    await send_mpstat(sessions, "sun1", range(120), contended)
    await Watcher(sessions).run(at(120))
    for begin in range(0, 120, 7):
        await send_mpstat(sessions, "sun2", range(begin, min(begin + 7, 120)), contended)
        # Another process each time: nothing but the database remembers.
        await Watcher(sessions).run(at(begin + 7))
    rows = await read_found(sessions)
    first, second = ([brief(row) for row in rows if row.host_id == host] for host in sorted({row.host_id or 0 for row in rows}))
    assert first == second
    assert [own[2:5] for own in first] == [(20, 32, 44), (60, 89, 101)]


async def test_rules_whose_tools_stop_at_different_times_do_not_meet(sessions: Sessions) -> None:
    scan = {"page_sr": np.zeros(41)}
    await send(sessions, ("sun1", "vmstat_solaris"), range(41), ("",), scan, key="vmstat")
    await send_mpstat(sessions, "sun1", range(60), range(26, 29))
    for end in (60, 61, 62):
        assert await Watcher(sessions).run(at(end)) == 1
        [row] = await read_found(sessions)
        assert brief(row) == ("mutex", "1", 26, 28, 40, "fine", "red")
        await send_mpstat(sessions, "sun1", range(end, end + 1))


async def test_a_rule_that_looks_back_far_makes_no_other_tool_be_read_as_far(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[tuple[str, timedelta]] = []

    async def note(session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, **how: Any) -> StatSide:
        read.append((stat.name, windows[0].end - windows[0].start))
        return await read_side(session, host_id, stat, windows, **how)

    # Each host reads for itself.
    monkeypatch.setattr(live_judge, "MAX_ROWS_AHEAD", 0)
    monkeypatch.setattr(live_judge, "read_side", note)
    watcher = Watcher(sessions)
    for steps in (range(120), range(120, 130), range(130, 140)):
        read.clear()
        # Without values of some fields of both tools, which other rules ask for.
        await send(sessions, ("sun1", "vmstat_solaris"), steps, ("",), {"page_sr": np.zeros(len(steps))}, key="vmstat")
        await send_mpstat(sessions, "sun1", steps)
        assert await watcher.run(at(steps.stop)) == 1
    longest = {stat: max(length for own, length in read if own == stat) for stat, _ in read}
    # memory-scan looks back five minutes, on vmstat alone. A rule of the first round would look back an hour.
    assert longest["mpstat_solaris"] < longest["vmstat_solaris"] < timedelta(minutes=15)


async def test_the_time_since_a_tool_ended_is_not_read(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[datetime] = []

    async def note(session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, **how: Any) -> StatSide:
        if stat.name == "vmstat_solaris":
            ends.append(windows[0].end)
        return await read_side(session, host_id, stat, windows, **how)

    monkeypatch.setattr(live_judge, "read_side", note)
    await send(sessions, ("sun1", "vmstat_solaris"), range(60), ("",), {"page_sr": np.zeros(60)}, key="vmstat")
    await send_mpstat(sessions, "sun1", range(60))
    await Watcher(sessions).run(at(60))
    hours = [60 + 360 * hour for hour in range(1, 6)]
    await send_mpstat(sessions, "sun1", hours)
    ends.clear()
    await Watcher(sessions).run(at(hours[-1] + 1))
    # Not hour by hour.
    assert 0 < len(ends) < len(hours)


async def test_what_was_withdrawn_stays_withdrawn(sessions: Sessions) -> None:
    await send_mpstat(sessions, "sun1", range(60), range(50, 54))
    await Watcher(sessions).run(at(60))
    async with sessions() as session, session.begin():
        await session.execute(text("UPDATE samples.mpstat_solaris SET smtx = 0"))
    for end in range(60, 100, 10):
        await send_mpstat(sessions, "sun1", range(end, end + 10))
        await Watcher(sessions).run(at(end + 10))
    [row] = await read_found(sessions)
    assert (row.ended_by, step_of(row.ended_at)) == ("withdrawn", 70)


async def test_a_process_that_dies_at_any_statement_loses_and_doubles_nothing(sessions: Sessions, engine: AsyncEngine) -> None:
    contended = [*range(20, 25), *range(60, 90)]
    await send_mpstat(sessions, "sun1", range(120), contended)
    await Watcher(sessions).run(at(120))
    deaths = []
    for number, begin in enumerate(range(0, 120, 6)):
        await send_mpstat(sessions, "sun2", range(begin, begin + 6), contended)
        # One statement later each time: while it reads, and between all of its writes.
        with dying_at_statement(engine, 5 + number, deaths):
            await Watcher(sessions).run(at(begin + 6))
    await Watcher(sessions).run(at(120))
    rows = await read_found(sessions)
    first, second = ([brief(row) for row in rows if row.host_id == host] for host in sorted({row.host_id or 0 for row in rows}))
    assert first == second
    assert len(first) == 2
    assert len(deaths) > 10


async def test_samples_that_stop_end_an_episode_without_calling_it_fine(sessions: Sessions) -> None:
    judge = Watcher(sessions)
    await send_mpstat(sessions, "sun1", range(60), range(50, 60))
    await judge.run(at(60))
    [row] = await read_found(sessions)
    assert row.ended_at is None
    await judge.run(at(90))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 50, 59, 71, "no_samples", "red")
    # What the agent had kept arrives: it is the same episode, which went on.
    await send_mpstat(sessions, "sun1", range(60, 100), range(50, 80))
    await judge.run(at(100))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 50, 79, 91, "fine", "red")


async def test_rows_that_are_dated_years_ahead_hold_up_nobody(sessions: Sessions, engine: AsyncEngine) -> None:
    judge, in_ten_years = Watcher(sessions), 10 * 365 * 24 * 360
    await send_mpstat(sessions, "sun1", [*range(60), in_ten_years])
    await send_mpstat(sessions, "sun2", range(60))
    n_statements = 0

    def count(*_: object) -> None:
        nonlocal n_statements
        n_statements += 1

    event.listen(engine.sync_engine, "before_cursor_execute", count)
    assert await judge.run(at(60)) == 2
    event.remove(engine.sync_engine, "before_cursor_execute", count)
    assert n_statements < 100
    for host in ("sun1", "sun2"):
        await send_mpstat(sessions, host, range(60, 100), range(80, 90))
    await judge.run(at(100))
    assert [brief(row) for row in await read_found(sessions)] == [("mutex", "1", 80, 89, None, None, "red")] * 2


async def test_hosts_that_are_read_together_are_judged_as_alone(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = {"sun1": range(50, 54), "sun2": range(0), "sun3": [*range(10, 14), *range(57, 60)]}
    for host, contended in pieces.items():
        # Of different lengths, and with a CPU that comes later.
        await send_mpstat(sessions, host, range(len(host), 60), contended)
    await send(sessions, ("sun2", "mpstat_solaris"), range(40, 60), ("7",), {"smtx": np.full(20, 900)}, key="other")
    for step in (60, 61):
        await Watcher(sessions).run(at(step))
    together = [brief(row) for row in await read_found(sessions)], await read_changes(sessions)
    assert len(together[0]) == 3
    async with sessions() as session, session.begin():
        await session.execute(text("TRUNCATE episodes, watched_hosts, watched_states CASCADE"))
    # Each reads for itself, and in a thread.
    monkeypatch.setattr(live_judge, "MAX_ROWS_AHEAD", 0)
    monkeypatch.setattr(watcher, "HOSTS_AT_ONCE", 1)
    for step in (60, 61):
        await Watcher(sessions).run(at(step))
    assert ([brief(row) for row in await read_found(sessions)], await read_changes(sessions)) == together


async def test_a_host_that_cannot_be_judged_holds_up_none_of_those_read_with_it(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("sun1", "sun2", "sun3"):
        await send_mpstat(sessions, host, range(60), range(50, 60))
    plan = live_judge.HostJudge.plan

    async def fail(judge: live_judge.HostJudge, *given: object) -> object:
        if judge._host.name == "sun2":
            raise RuntimeError("broken")
        return await plan(judge, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(live_judge.HostJudge, "plan", fail)
    assert await Watcher(sessions).run(at(60)) == 2
    assert len(await read_found(sessions)) == 2


async def test_of_many_hosts_each_has_its_turn_within_five_runs(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "HOSTS_AT_ONCE", 1)
    monkeypatch.setattr(watcher, "QUICK_S", 0.0)
    for number in range(7):
        await send_mpstat(sessions, f"sun{number}", range(60))
    judge = Watcher(sessions)
    judged = [await judge.run(at(60) + timedelta(seconds=run)) for run in range(watcher.N_RUNS)]
    async with sessions() as session:
        assert await session.scalar(text("SELECT count(*) FROM watched_hosts")) == 7
    assert judged == [2, 2, 2, 1, 0]


async def test_late_samples_are_judged_too(sessions: Sessions) -> None:
    judge = Watcher(sessions)
    await send_mpstat(sessions, "sun1", [*range(60), *range(120, 360)])
    await judge.run(at(360))
    assert await read_found(sessions) == []
    await send_mpstat(sessions, "sun1", range(60, 120), range(80, 90), late=True)
    await judge.run(at(361))
    [row] = await read_found(sessions)
    assert brief(row) == ("mutex", "1", 80, 89, 101, "fine", "red")
    async with sessions() as session:
        assert (await session.execute(text("SELECT late_from FROM stream_changes"))).all() == [(None,)]


async def test_an_episode_that_late_samples_disprove_is_withdrawn_not_lost(sessions: Sessions) -> None:
    await send_mpstat(sessions, "sun1", range(60), range(30, 40))
    await Watcher(sessions).run(at(60))
    async with sessions() as session, session.begin():
        await session.execute(text("UPDATE samples.mpstat_solaris SET smtx = 0"))
        note = "INSERT INTO stream_changes (stream_id, n_late, late_from) SELECT id, 1, :first FROM streams"
        await session.execute(text(note), {"first": at(30)})
    await Watcher(sessions).run(at(60) + timedelta(seconds=1))
    [row] = await read_found(sessions)
    assert (step_of(row.start_at), row.ended_by) == (30, "withdrawn")


async def test_a_rule_that_takes_too_much_is_stopped_and_the_others_go_on(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rule_budget, "MAX_BYTES", 1)
    await send_mpstat(sessions, "sun1", range(60), range(30, 40))
    await Watcher(sessions).run(at(60))
    async with sessions() as session:
        [row] = await session.scalars(select(StoredRule).where(StoredRule.name == "mutex"))
    assert row.stopped_at is not None
    assert "sun1" in row.stopped_why
    assert await Watcher(sessions).run(at(61)) == 1
