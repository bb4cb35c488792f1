"""Baselines that come from more than windows: recordings and rules; and the job that keeps them up."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines.recurrence import Rule, parse_rule, windows_of
from normstat.baselines.window_sets import Windows
from normstat.errors import BadRequest
from normstat.storage import baseline_records, baseline_rows
from normstat.storage.baseline_records import BaselineRecord, MovingRecord, RuleRecord
from normstat.storage.baseline_rows import BaselineChange, BaselineDraft
from normstat.storage.baseline_versions import SETTLE, ask_for_what_is_due, lock_baselines
from normstat.storage.session import open_read_session, open_write_session
from normstat.storage.turns import Turns
from normstat.window import Window

log = structlog.get_logger()

MAX_RECORD_HOURS: Final = 31 * 24
MIN_RECORD_HOURS: Final = 1 / 60
MADE_BY: Final = "its rule"


@dataclass(frozen=True, slots=True)
class RuleWish:
    """A rule as somebody says it; see recurrence.parse_rule."""

    rrule: str
    start: str
    duration_s: int
    keep_days: int


@dataclass(frozen=True, slots=True)
class BaselineWish:
    """A baseline as somebody asks for it: of hosts or a group, and just one of windows, hours to record, and a rule."""

    name: str
    note: str
    hosts: tuple[str, ...]
    group: str | None
    windows: tuple[Window, ...]
    record_hours: float | None
    rule: RuleWish | None
    time_zone: str
    created_by: str


async def create_wished(session: AsyncSession, wish: BaselineWish, now: datetime) -> BaselineRecord:
    """Return the new baseline; a recording begins now, and a rule has the windows that it would have had by now.

    Raises: BadRequest for a rule or a length that cannot be, or more than one way of making it; and what create_baseline raises
    """
    if sum((bool(wish.windows), wish.record_hours is not None, wish.rule is not None)) != 1:
        raise BadRequest(
            "A baseline is made of windows, of hours to record, or by a rule: give one of windows, record_hours and rule"
        )
    draft = BaselineDraft(
        name=wish.name,
        note=wish.note,
        hosts=wish.hosts,
        windows=wish.windows,
        created_by=wish.created_by,
        group=wish.group,
        time_zone=wish.time_zone,
    )
    if wish.record_hours is not None:
        if not MIN_RECORD_HOURS <= wish.record_hours <= MAX_RECORD_HOURS:
            raise BadRequest(f"A recording lasts from a minute to {MAX_RECORD_HOURS} hours; found {wish.record_hours}")
        until = now + timedelta(hours=wish.record_hours)
        draft = replace(draft, windows=(Window(now, until),), recording_until=until, reason="recording")
    if wish.rule is not None:
        rule = await read_rule(wish.rule, wish.time_zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, rule, now - SETTLE)
        draft = replace(draft, windows=windows, rule=to_record(rule), reason="made by its rule")
    return await baseline_rows.create_baseline(session, draft)


async def update_wished(
    session: AsyncSession, baseline_id: int, change: BaselineChange, rule: RuleWish | None, now: datetime
) -> BaselineRecord:
    """Return the baseline after the change, with another rule where there is one; a change of the time zone moves the windows
    of its rule.

    Raises: what update_baseline raises; BadRequest for a rule that cannot be
    """
    if rule is not None and (change.windows is not None or change.removes_rule):
        raise BadRequest("The windows of a rule are its own: give `windows` or `rule`, not both")
    if rule is None and (change.time_zone is None or change.removes_rule):
        return await baseline_rows.update_baseline(session, baseline_id, change)
    await lock_baselines(session)
    record = await baseline_rows.read_baseline(session, baseline_id)
    zone = change.time_zone or record.time_zone
    if rule is not None:
        made = await read_rule(rule, zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, made, now - SETTLE)
        change = replace(change, rule=to_record(made), windows=windows)
    elif record.rule is not None:
        made = await read_rule(to_wish(record.rule), zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, made, now - SETTLE)
        change = replace(change, rule=to_record(made), windows=windows)
    return await baseline_rows.update_baseline(session, baseline_id, change)


async def read_rule(wish: RuleWish, zone: str, now: datetime) -> Rule:
    """Return the rule, parsed off the event loop.

    Raises: BadRequest
    """

    def parse() -> Rule:
        return parse_rule(wish.rrule, wish.start, wish.duration_s, wish.keep_days, zone, now=now)

    return await anyio.to_thread.run_sync(parse)


def to_record(rule: Rule) -> RuleRecord:
    """Return the rule as it is stored."""
    return RuleRecord(rule.rrule, rule.start, rule.duration_s, rule.keep_days)


def to_wish(rule: RuleRecord) -> RuleWish:
    """Return the rule as somebody would say it."""
    return RuleWish(rule.rrule, rule.start.isoformat(), rule.duration_s, rule.keep_days)


def to_rule(rule: RuleRecord | None, zone: str) -> Rule | None:
    """Return the rule of a baseline of that time zone. Missing: None when it has none."""
    return None if rule is None else Rule(rule.rrule, rule.start, rule.duration_s, rule.keep_days, zone)


async def keep_baselines(
    sessions: async_sessionmaker[AsyncSession], now: datetime | None = None, turns: Turns[int] | None = None
) -> None:
    """The job: windows of rules, recordings that are over, and profiles that nobody asked for.

    All of it follows from the clock and the database, so it does not matter for how long it did not run. `now` is the clock's where
    it is None. A baseline that fails, of a time zone that this machine does not know, say, stops none of the others.
    """
    turns = Turns("baseline_not_kept") if turns is None else turns
    at = datetime.now(UTC) if now is None else now
    async with open_read_session(sessions) as session:
        moving = {record.id: record for record in await baseline_rows.list_moving(session)}
    for baseline_id in turns.order(list(moving)):
        with turns.turn(baseline_id, baseline=baseline_id):
            if _find_changes(moving[baseline_id], at) == (None, False):
                continue
            async with open_write_session(sessions) as session:
                await lock_baselines(session)
                await _keep(session, baseline_id, at)
        # Rules of many baselines must not keep requests waiting all at once.
        await asyncio.sleep(0)
    async with open_write_session(sessions) as session:
        await lock_baselines(session)
        n_asked = await ask_for_what_is_due(session, at)
    if n_asked:
        log.info("profiles_asked_for", n=n_asked)


def _find_changes(record: MovingRecord, now: datetime) -> tuple[Windows | None, bool]:
    """Return the windows that the rule has now, None when they are those that there are; and whether the recording is over."""
    is_over = record.recording_until is not None and record.recording_until <= now
    rule = to_rule(baseline_records.to_rule(record), record.time_zone)
    windows = None if rule is None else windows_of(rule, now - SETTLE)
    # Without any window it stays as it is: its rule may have begun to mean something else with another database of zones.
    return (windows if windows and windows != record.windows else None), is_over


async def _keep(session: AsyncSession, baseline_id: int, now: datetime) -> None:
    """What is to be changed, looked at once more with the lock."""
    for record in await baseline_rows.list_moving(session, baseline_id):
        windows, is_over = await anyio.to_thread.run_sync(_find_changes, record, now)
        if is_over:
            await baseline_rows.end_recording(session, baseline_id)
            log.info("recording_ended", baseline=baseline_id)
        if windows is not None:
            reason = "another window of its rule is over"
            await baseline_rows.set_windows(session, baseline_id, windows, reason=reason, made_by=MADE_BY)
            log.info("rule_followed", baseline=baseline_id, n_windows=len(windows))
