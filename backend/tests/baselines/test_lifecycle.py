"""Recordings and rules over days and weeks, with a job that may not have run for long."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select, text, update
from structlog.testing import capture_logs

from normstat.baselines import baseline_rows
from normstat.baselines.baseline_records import BaselineInfo
from normstat.baselines.baseline_versions import SETTLE, list_versions
from normstat.baselines.lifecycle import (
    BaselineCreate,
    BaselineUpdate,
    RuleInput,
    create_requested,
    update_baselines,
    update_requested,
)
from normstat.db.schema.baseline_models import Baseline
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import Host
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import BadRequest
from normstat.runtime.body import check_body
from normstat.window import Window
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database

NOW = datetime(2026, 11, 20, 18, 0, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
WEEKDAYS = RuleInput(rrule="weekdays", start="09:00", duration_s=8 * 3600)
NORMAL: dict[str, object] = {"name": "normal", "hosts": ["web1"], "time_zone": "Europe/Berlin"}


async def make(sessions: Sessions, now: datetime = NOW, **what: object) -> BaselineInfo:
    async with open_write_session(sessions) as session:
        if await session.scalar(select(Host.id).where(Host.name == "web1")) is None:
            session.add(Host(name="web1"))
            await session.flush()
        return await create_requested(session, check_body(BaselineCreate, NORMAL | what), now, by="ann")


async def look(sessions: Sessions, baseline_id: int) -> BaselineInfo:
    async with open_read_session(sessions) as session:
        return await baseline_rows.read_baseline(session, baseline_id)


async def reasons(sessions: Sessions, baseline_id: int) -> list[str]:
    async with open_read_session(sessions) as session:
        return [version.reason for version in await list_versions(session, baseline_id)]


async def test_a_rule_is_followed_and_only_windows_that_end_are_versions(sessions: Sessions) -> None:
    made = await make(sessions, rule=WEEKDAYS)
    assert (len(made.windows), made.windows[-1].end.astimezone(BERLIN).hour) == (20, 17)
    # Every two hours, from Friday evening over the weekend to Tuesday noon.
    for number in range(45):
        await update_baselines(sessions, NOW + timedelta(hours=2 * number))
    kept = await look(sessions, made.id)
    assert (kept.version, len(kept.windows)) == (2, 20)
    assert kept.windows[:-1] == made.windows[1:]
    assert kept.windows[-1].start.astimezone(BERLIN) == datetime(2026, 11, 23, 9, tzinfo=BERLIN)
    assert await reasons(sessions, made.id) == ["another window of the rule has ended", "created by its rule"]


async def test_after_half_a_year_of_downtime_it_is_as_if_it_had_run(sessions: Sessions) -> None:
    made = await make(sessions, rule=WEEKDAYS)
    later = NOW + timedelta(days=182)
    await update_baselines(sessions, later)
    await update_baselines(sessions, later + timedelta(minutes=1))
    kept = await look(sessions, made.id)
    assert (kept.version, len(kept.windows)) == (2, 20)
    assert later - timedelta(days=1) < kept.windows[-1].end <= later
    # The clocks were set forward meanwhile.
    assert {window.start.astimezone(BERLIN).hour for window in kept.windows} == {9}
    assert {window.start.hour for window in kept.windows} == {7}


async def test_a_window_counts_when_its_last_samples_are_there(sessions: Sessions) -> None:
    end = datetime(2026, 11, 20, 16, 0, tzinfo=UTC)
    made = await make(sessions, end - timedelta(hours=1), rule=WEEKDAYS)
    await update_baselines(sessions, end + SETTLE - timedelta(seconds=1))
    assert (await look(sessions, made.id)).version == 1
    await update_baselines(sessions, end + SETTLE)
    assert (await look(sessions, made.id)).windows[-1].end == end


async def test_a_recording_goes_on_until_it_is_over(sessions: Sessions) -> None:
    made = await make(sessions, record_hours=2.5)
    assert made.windows == [Window(NOW, NOW + timedelta(hours=2.5))]
    assert made.recording_until == NOW + timedelta(hours=2.5)
    for at, is_recording in ((1, True), (2.49, True), (2.5, False), (1000, False)):
        await update_baselines(sessions, NOW + timedelta(hours=at))
        kept = await look(sessions, made.id)
        assert (kept.recording_until is not None, kept.version, kept.windows) == (is_recording, 1, made.windows)


async def test_changes_of_rule_and_zone(sessions: Sessions) -> None:
    made = await make(sessions, rule=WEEKDAYS)

    async def change(**what: object) -> BaselineInfo:
        async with open_write_session(sessions) as session:
            return await update_requested(session, made.id, check_body(BaselineUpdate, what), NOW, by="bob")

    moved = await change(time_zone="America/New_York")
    assert moved.rule is not None
    assert (moved.version, moved.rule.start.hour, moved.windows[-1].start.hour) == (2, 9, 14)
    shorter = await change(rule=RuleInput(rrule="mondays", start="10:00", duration_s=3600, keep_days=28))
    assert (shorter.version, len(shorter.windows), shorter.windows[-1].start.hour) == (3, 4, 15)
    # What is kept is shorter by nothing that there is.
    same = await change(rule=RuleInput(rrule="mondays", start="10:00", duration_s=3600, keep_days=27))
    assert same.rule is not None
    assert (same.version, same.rule.keep_days) == (3, 27)
    with pytest.raises(BadRequest, match="not both"):
        await change(rule=WEEKDAYS, windows=[{"start": NOW, "end": NOW + timedelta(hours=1)}])
    freed = await change(rule=None)
    assert (freed.rule, freed.version, freed.windows) == (None, 3, same.windows)
    await update_baselines(sessions, NOW + timedelta(days=30))
    assert (await look(sessions, made.id)).windows == same.windows


async def test_an_archived_baseline_stands_still(sessions: Sessions) -> None:
    made = await make(sessions, rule=WEEKDAYS)
    async with open_write_session(sessions) as session:
        await baseline_rows.archive_baseline(session, made.id, is_archived=True)
    await update_baselines(sessions, NOW + timedelta(days=10))
    assert (await look(sessions, made.id)).version == 1
    async with open_write_session(sessions) as session:
        await baseline_rows.archive_baseline(session, made.id, is_archived=False)
    await update_baselines(sessions, NOW + timedelta(days=10))
    assert (await look(sessions, made.id)).version == 2


async def test_one_that_cannot_be_kept_does_not_keep_others_from_it(sessions: Sessions) -> None:
    broken = await make(sessions, name="broken", rule=WEEKDAYS)
    good = await make(sessions, name="good", rule=WEEKDAYS)
    async with open_write_session(sessions) as session:
        await session.execute(update(Baseline).where(Baseline.id == broken.id).values(time_zone="Nowhere/Else"))
        await session.execute(text("DELETE FROM jobs"))
    with capture_logs() as logs:
        await update_baselines(sessions, NOW + timedelta(days=5))
    assert [(entry["event"], entry.get("baseline")) for entry in logs if entry["log_level"] == "warning"] == [
        ("baseline_update_failed", broken.id)
    ]
    assert (await look(sessions, good.id)).version == 2
    async with open_read_session(sessions) as session:
        assert set(await session.scalars(select(Job.baseline_id))) == {broken.id, good.id}


async def test_what_cannot_be(sessions: Sessions) -> None:
    wrong: tuple[tuple[dict[str, object], str], ...] = (
        ({}, "exactly one of"),
        ({"record_hours": 1, "rule": WEEKDAYS}, "exactly one of"),
        ({"record_hours": 0}, "record_hours: Input should be greater"),
        ({"record_hours": 1e9}, "record_hours: Input should be less"),
        ({"record_hours": float("nan")}, "record_hours: Input should be"),
        ({"rule": RuleInput(rrule="FREQ=SECONDLY", start="09:00", duration_s=60, keep_days=1)}, "FREQ=SECONDLY"),
        ({"record_hours": 1, "time_zone": "Nowhere"}, "no time zone"),
        ({"record_hours": 1, "hosts": None}, "at least one host"),
    )
    for what, message in wrong:
        with pytest.raises(BadRequest, match=message):
            await make(sessions, NOW, **what)
