"""Baselines defined by a recording or a rule, and the job that keeps them current."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import anyio.to_thread
import structlog
from pydantic import Field, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.baselines import baseline_records, baseline_rows
from normstat.baselines.baseline_records import BaselineInfo, RuleInfo, ScheduledBaseline
from normstat.baselines.baseline_rows import BaselineChange, BaselineDraft
from normstat.baselines.baseline_versions import SETTLE, ask_for_what_is_due, lock_baselines
from normstat.baselines.host_group_rows import Hosts
from normstat.baselines.recurrence import RecurrenceRule, parse_rule, windows_of
from normstat.baselines.window_sets import Windows
from normstat.db.row_records import to_record
from normstat.db.session import open_read_session, open_write_session
from normstat.db.turns import Turns
from normstat.errors import BadRequest
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Note
from normstat.window import Window

log = structlog.get_logger()

MAX_RECORD_HOURS: Final = 31 * 24
MIN_RECORD_HOURS: Final = 1 / 60
MADE_BY: Final = "its rule"


TimeZone = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000, pattern=NO_NUL)]


class IntervalInput(Body):
    """A window in a request: half-open [start, end); both instants need a zone."""

    start: Instant
    end: Instant


WindowInputs = Annotated[list[IntervalInput], Field(min_length=1, max_length=10_000)]


class RuleInput(Body):
    """Recurring windows, as an RRULE (RFC 5545) or a word (daily, weekdays, weekends, mondays).

    `start`: local time of day (09:00; the windows of the last `keep_days` then exist at once), or local date and time
    (2026-11-02T09:00). Whole days of `duration_s` are calendar days.
    """

    rrule: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=NO_NUL)]
    start: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=NO_NUL)]
    duration_s: Annotated[int, Field(ge=1, le=2**31 - 1)]
    keep_days: Annotated[int, Field(ge=1, le=100_000)] = 28


class BaselineCreate(Body):
    """A new baseline for `hosts` or a `group`, defined by exactly one of `windows`, `record_hours` (from now on) and `rule`."""

    name: Name
    note: Note = ""
    hosts: Hosts | None = None
    group: Name | None = None
    windows: WindowInputs | None = None
    record_hours: Annotated[float, Field(ge=MIN_RECORD_HOURS, le=MAX_RECORD_HOURS)] | None = None
    rule: RuleInput | None = None
    time_zone: TimeZone = "UTC"


class BaselineUpdate(Body):
    """Changes to a baseline; members left out stay unchanged. `rule` null removes its rule; `reason` is recorded with the
    version.
    """

    name: Name | None = None
    note: Note | None = None
    windows: WindowInputs | None = None
    hosts: Hosts | None = None
    group: Name | None = None
    time_zone: TimeZone | None = None
    rule: RuleInput | None = None
    reason: Reason | None = None


async def create_requested(session: AsyncSession, body: BaselineCreate, now: datetime, *, by: str) -> BaselineInfo:
    """Return the new baseline. A recording begins now; a rule starts with all windows that it would have by now.

    Raises: BadRequest for an invalid rule, or more than one definition; and what create_baseline raises
    """
    if sum((body.windows is not None, body.record_hours is not None, body.rule is not None)) != 1:
        raise BadRequest("Give exactly one of windows, record_hours and rule to define the baseline")
    draft = BaselineDraft(
        name=body.name,
        note=body.note,
        hosts=tuple(body.hosts or ()),
        windows=_to_windows(body.windows or ()),
        created_by=by,
        group=body.group,
        time_zone=body.time_zone,
    )
    if body.record_hours is not None:
        until = now + timedelta(hours=body.record_hours)
        draft = replace(draft, windows=(Window(now, until),), recording_until=until, reason="recording")
    if body.rule is not None:
        rule = await read_rule(body.rule, body.time_zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, rule, now - SETTLE)
        draft = replace(draft, windows=windows, rule=to_record(RuleInfo, rule), reason="created by its rule")
    return await baseline_rows.create_baseline(session, draft)


async def update_requested(
    session: AsyncSession, baseline_id: int, body: BaselineUpdate, now: datetime, *, by: str
) -> BaselineInfo:
    """Return the changed baseline, with a new rule if one is given; a change of the time zone moves the windows of its rule.

    Raises: what update_baseline raises; BadRequest for an invalid rule
    """
    change = BaselineChange(
        changed_by=by,
        name=body.name,
        note=body.note,
        windows=None if body.windows is None else _to_windows(body.windows),
        hosts=None if body.hosts is None else tuple(body.hosts),
        group=body.group,
        time_zone=body.time_zone,
        removes_rule="rule" in body.model_fields_set and body.rule is None,
        reason=body.reason,
    )
    if body.rule is not None and change.windows is not None:
        raise BadRequest("A rule computes its own windows: give `windows` or `rule`, not both")
    if body.rule is None and (body.time_zone is None or change.removes_rule):
        return await baseline_rows.update_baseline(session, baseline_id, change)
    await lock_baselines(session)
    record = await baseline_rows.read_baseline(session, baseline_id)
    rule = body.rule or (None if record.rule is None else to_input(record.rule))
    if rule is not None:
        made = await read_rule(rule, body.time_zone or record.time_zone, now)
        windows = await anyio.to_thread.run_sync(windows_of, made, now - SETTLE)
        change = replace(change, rule=to_record(RuleInfo, made), windows=windows)
    return await baseline_rows.update_baseline(session, baseline_id, change)


def _to_windows(intervals: Iterable[IntervalInput]) -> tuple[Window, ...]:
    return tuple(Window(each.start, each.end) for each in intervals)


async def read_rule(given: RuleInput, zone: str, now: datetime) -> RecurrenceRule:
    """Return the parsed rule; parsing runs in a thread.

    Raises: BadRequest
    """

    def parse() -> RecurrenceRule:
        return parse_rule(given.rrule, given.start, given.duration_s, given.keep_days, zone, now=now)

    return await anyio.to_thread.run_sync(parse)


def to_input(rule: RuleInfo) -> RuleInput:
    """Return a stored rule as it is given."""
    return RuleInput(rrule=rule.rrule, start=rule.start.isoformat(), duration_s=rule.duration_s, keep_days=rule.keep_days)


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
