"""Baselines defined by a recording or a rule, and the job that keeps them current."""

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines import baseline_records, baseline_rows
from normstat.baselines.baseline_records import BaselineInfo, RuleInfo, ScheduledBaseline
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft
from normstat.baselines.baseline_versions import SETTLE, ask_for_what_is_due, lock_baselines
from normstat.baselines.recurrence import RecurrenceRule, parse_rule, windows_of
from normstat.baselines.window_sets import Windows
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.errors import BadRequest
from normstat.window import Window

log = structlog.get_logger()

MAX_RECORD_HOURS: Final = 31 * 24
MIN_RECORD_HOURS: Final = 1 / 60
MADE_BY: Final = "its rule"


@dataclass(frozen=True, slots=True)
class RuleRequest:
    """A recurrence rule as requested; see recurrence.parse_rule."""

    rrule: str
    start: str
    duration_s: int
    keep_days: int


@dataclass(frozen=True, slots=True)
class BaselineRequest:
    """A requested baseline: for hosts or a group, defined by exactly one of windows, hours to record, and a rule."""

    name: str
    note: str
    hosts: tuple[str, ...]
    group: str | None
    windows: tuple[Window, ...]
    record_hours: float | None
    rule: RuleRequest | None
    time_zone: str
    created_by: str


async def create_requested(session: AsyncSession, request: BaselineRequest, now: datetime) -> BaselineInfo:
    """Return the new baseline. A recording begins now; a rule starts with all windows that it would have by now.

    Raises: BadRequest for an invalid rule or length, or more than one definition; and what create_baseline raises
    """
    if sum((bool(request.windows), request.record_hours is not None, request.rule is not None)) != 1:
        raise BadRequest("Give exactly one of windows, record_hours and rule to define the baseline")
    draft = BaselineDraft(
        name=request.name,
        note=request.note,
        hosts=request.hosts,
        windows=request.windows,
        created_by=request.created_by,
        group=request.group,
        time_zone=request.time_zone,
    )
    if request.record_hours is not None:
        if not MIN_RECORD_HOURS <= request.record_hours <= MAX_RECORD_HOURS:
            raise BadRequest(f"A recording lasts from one minute to {MAX_RECORD_HOURS} hours; found {request.record_hours} hours")
        until = now + timedelta(hours=request.record_hours)
        draft = replace(draft, windows=(Window(now, until),), recording_until=until, reason="recording")
    if request.rule is not None:
        rule = await read_rule(request.rule, request.time_zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, rule, now - SETTLE)
        draft = replace(draft, windows=windows, rule=to_record(rule), reason="created by its rule")
    return await baseline_rows.create_baseline(session, draft)


async def update_requested(
    session: AsyncSession, baseline_id: int, change: BaselineChange, rule: RuleRequest | None, now: datetime
) -> BaselineInfo:
    """Return the changed baseline, with a new rule if one is given; a change of the time zone moves the windows of its rule.

    Raises: what update_baseline raises; BadRequest for an invalid rule
    """
    if rule is not None and (change.windows is not None or change.removes_rule):
        raise BadRequest("A rule computes its own windows: give `windows` or `rule`, not both")
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
        made = await read_rule(to_request(record.rule), zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, made, now - SETTLE)
        change = replace(change, rule=to_record(made), windows=windows)
    return await baseline_rows.update_baseline(session, baseline_id, change)


async def read_rule(request: RuleRequest, zone: str, now: datetime) -> RecurrenceRule:
    """Return the parsed rule; parsing runs in a thread.

    Raises: BadRequest
    """

    def parse() -> RecurrenceRule:
        return parse_rule(request.rrule, request.start, request.duration_s, request.keep_days, zone, now=now)

    return await anyio.to_thread.run_sync(parse)


def to_record(rule: RecurrenceRule) -> RuleInfo:
    """Return the rule in its stored form."""
    return RuleInfo(rule.rrule, rule.start, rule.duration_s, rule.keep_days)


def to_request(rule: RuleInfo) -> RuleRequest:
    """Return the rule in the form of a request."""
    return RuleRequest(rule.rrule, rule.start.isoformat(), rule.duration_s, rule.keep_days)


def to_rule(rule: RuleInfo | None, zone: str) -> RecurrenceRule | None:
    """Return the rule of a baseline in that time zone. Missing: None when it has none."""
    return None if rule is None else RecurrenceRule(rule.rrule, rule.start, rule.duration_s, rule.keep_days, zone)


async def update_baselines(
    sessions: async_sessionmaker[AsyncSession], now: datetime | None = None, turns: Turns[int] | None = None
) -> None:
    """Update the windows of rules, end finished recordings, and request missing profiles. A periodic job.

    Everything follows from the clock and the database, so missed runs do no harm. `now` defaults to the clock. A baseline that
    fails (for example with a time zone unknown to this machine) does not stop the others.
    """
    turns = Turns("baseline_update_failed") if turns is None else turns
    at = datetime.now(UTC) if now is None else now
    async with open_read_session(sessions) as session:
        moving = {record.id: record for record in await baseline_rows.list_scheduled(session)}
    for baseline_id in turns.order(list(moving)):
        with turns.turn(baseline_id, baseline=baseline_id):
            if _find_changes(moving[baseline_id], at) == (None, False):
                continue
            async with open_write_session(sessions) as session:
                await lock_baselines(session)
                await _update_baseline(session, baseline_id, at)
        # Many rules must not block requests all at once.
        await asyncio.sleep(0)
    async with open_write_session(sessions) as session:
        await lock_baselines(session)
        n_asked = await ask_for_what_is_due(session, at)
    if n_asked:
        log.info("profiles_asked_for", n=n_asked)


def _find_changes(record: ScheduledBaseline, now: datetime) -> tuple[Windows | None, bool]:
    """Return the rule's current windows, or None when they are unchanged; and whether the recording is over."""
    is_over = record.recording_until is not None and record.recording_until <= now
    rule = to_rule(baseline_records.to_rule(record), record.time_zone)
    windows = None if rule is None else windows_of(rule, now - SETTLE)
    # Without any window, keep the old ones: the rule may mean something else with another time zone database.
    return (windows if windows and windows != record.windows else None), is_over


async def _update_baseline(session: AsyncSession, baseline_id: int, now: datetime) -> None:
    """Apply what has changed, checked again under the lock."""
    for record in await baseline_rows.list_scheduled(session, baseline_id):
        windows, is_over = await anyio.to_thread.run_sync(_find_changes, record, now)
        if is_over:
            await baseline_rows.end_recording(session, baseline_id)
            log.info("recording_ended", baseline=baseline_id)
        if windows is not None:
            reason = "another window of the rule has ended"
            await baseline_rows.set_windows(session, baseline_id, windows, reason=reason, made_by=MADE_BY)
            log.info("rule_followed", baseline=baseline_id, n_windows=len(windows))
