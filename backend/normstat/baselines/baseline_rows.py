"""Baselines: periods marked as normal. Every change of windows, hosts or time zone creates a new version."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import (
    BaselineInfo,
    RuleInfo,
    ScheduledBaseline,
    set_rule,
    to_ranges,
    to_records,
    to_windows,
)
from normstat.baselines.baseline_versions import add_version, ask_for_profile, lock_baselines
from normstat.baselines.host_group_rows import lock_group
from normstat.db.named_rows import flush_name
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import Baseline, BaselineHost
from normstat.db.schema.models import Host
from normstat.errors import BadRequest, Conflict, NotFound, shorten
from normstat.records.webhook_rows import Topic, tell_webhooks
from normstat.stats.engine.times.timeline import require_zone
from normstat.window import Window

NAME_CONSTRAINT: Final = "uq_baselines__name"


@dataclass(frozen=True, slots=True)
class BaselineDraft:
    """A baseline to create, for hosts or a group. With a rule or a recording, `windows` are the present ones."""

    name: str
    note: str
    hosts: tuple[str, ...]
    windows: tuple[Window, ...]
    created_by: str
    group: str | None = None
    time_zone: str = "UTC"
    rule: RuleInfo | None = None
    recording_until: datetime | None = None
    reason: str = "made"


@dataclass(frozen=True, slots=True)
class BaselineChange:
    """Changes to a baseline; None leaves a member unchanged. A new rule comes with its windows; hosts replace a group, and a group
    hosts.
    """

    changed_by: str
    name: str | None = None
    note: str | None = None
    windows: tuple[Window, ...] | None = None
    hosts: tuple[str, ...] | None = None
    group: str | None = None
    time_zone: str | None = None
    rule: RuleInfo | None = None
    removes_rule: bool = False
    reason: str | None = None


async def create_baseline(session: AsyncSession, draft: BaselineDraft) -> BaselineInfo:
    """Return the new baseline; windows that overlap or touch are merged.

    Raises: Conflict when the name is taken; NotFound for an unknown host or group; BadRequest without a host or window
    """
    await lock_baselines(session)
    require_zone(draft.time_zone)
    if draft.rule is None:
        _require_windows(draft.windows)
    group_id, host_ids = await _find_hosts(session, draft.hosts, draft.group)
    baseline = Baseline(
        name=draft.name,
        note=draft.note,
        windows=to_ranges(draft.windows),
        created_by=draft.created_by,
        time_zone=draft.time_zone,
        recording_until=draft.recording_until,
        group_id=group_id,
    )
    set_rule(baseline, draft.rule)
    session.add(baseline)
    await _flush_name(session, draft.name)
    session.add_all(BaselineHost(baseline_id=baseline.id, host_id=host_id) for host_id in host_ids)
    record = await _finish_version(session, baseline, reason=draft.reason, made_by=draft.created_by)
    await tell_webhooks(session, Topic.BASELINE_CREATED, record)
    return record


async def list_baselines(session: AsyncSession, host: str | None = None, *, is_archived: bool = False) -> list[BaselineInfo]:
    """Return all baselines, or those of one host, newest first: archived ones if `is_archived`, else the others.

    The rolling baseline of the host comes last; without a host none is listed, because they need no attention.
    Raises: NotFound for an unknown host
    """
    archived = Baseline.archived_at.is_not(None) if is_archived else Baseline.archived_at.is_(None)
    is_rolling = Baseline.rolling_host_id.is_not(None)
    statement = select(Baseline).where(archived).order_by(is_rolling, Baseline.created_at.desc(), Baseline.id.desc())
    if host is None:
        statement = statement.where(~is_rolling)
    else:
        [host_id] = await _require_hosts(session, [host])
        own = select(BaselineHost.baseline_id).where(BaselineHost.host_id == host_id)
        statement = statement.where(Baseline.id.in_(own))
    return await to_records(session, (await session.scalars(statement)).all())


async def list_scheduled(session: AsyncSession, baseline_id: int | None = None) -> list[ScheduledBaseline]:
    """Return the baselines, not archived, that have a rule or are being recorded; or only the given one, if it is among them."""
    moves = Baseline.rrule.is_not(None) | Baseline.recording_until.is_not(None)
    query = select(Baseline).where(moves, Baseline.archived_at.is_(None)).order_by(Baseline.id)
    if baseline_id is not None:
        query = query.where(Baseline.id == baseline_id)
    return [
        to_record(ScheduledBaseline, row, windows=tuple(to_windows(row.windows)))
        for row in (await session.scalars(query.execution_options(populate_existing=True))).all()
    ]


async def read_baseline(session: AsyncSession, baseline_id: int) -> BaselineInfo:
    """Return one baseline.

    Raises: NotFound
    """
    baseline = await _require(session, baseline_id)
    # The database has merged the windows and set the times: its values count.
    await session.refresh(baseline)
    [record] = await to_records(session, [baseline])
    return record


async def find_baseline(session: AsyncSession, name_or_id: str) -> BaselineInfo:
    """Return the baseline of that name, or else of that id.

    Raises: NotFound
    """
    baseline_id = await session.scalar(select(Baseline.id).where(Baseline.name == name_or_id))
    if baseline_id is None and name_or_id.isascii() and name_or_id.isdecimal() and int(name_or_id) < 2**63:
        baseline_id = int(name_or_id)
    if baseline_id is None:
        raise NotFound(
            f"There is no baseline {shorten(name_or_id)}; `normstat baseline list` shows them", {"baseline": name_or_id}
        )  # fmt: skip
    return await read_baseline(session, baseline_id)


async def update_baseline(session: AsyncSession, baseline_id: int, change: BaselineChange) -> BaselineInfo:
    """Return the changed baseline; a change of windows, hosts or time zone increases its version.

    Raises: NotFound; Conflict when the name is taken, its windows come from a rule or recording, or it is a rolling baseline;
        BadRequest without windows
    """
    await lock_baselines(session)
    baseline = await _require(session, baseline_id, is_locked=True)
    _require_not_rolling(baseline)
    baseline.updated_at = (await session.scalars(select(func.now()))).one()
    before = to_windows(baseline.windows)
    reasons = [*_change_windows(baseline, change), *await _change_hosts(session, baseline, change)]
    if change.note is not None:
        baseline.note = change.note
    if change.name is not None:
        baseline.name = change.name
    await _flush_name(session, baseline.name)
    await session.refresh(baseline)
    if to_windows(baseline.windows) != before:
        reasons.append("windows changed" if change.rule is None else "rule changed")
    if reasons:
        baseline.version += 1
        record = await _finish_version(session, baseline, reason=change.reason or ", ".join(reasons), made_by=change.changed_by)
    else:
        record = await read_baseline(session, baseline_id)
    await tell_webhooks(session, Topic.BASELINE_CHANGED, record)
    return record


async def set_windows(
    session: AsyncSession,
    baseline_id: int,
    windows: Sequence[Window],
    *,
    reason: str,
    made_by: str,
) -> bool:
    """Set the windows, creating a new version if they differ; return whether they do.

    Raises: NotFound
    """
    baseline = await _require(session, baseline_id, is_locked=True)
    if to_windows(baseline.windows) == list(windows):
        return False
    baseline.windows = to_ranges(windows)
    baseline.version += 1
    await _finish_version(session, baseline, reason=reason, made_by=made_by)
    return True


async def stop_recording(session: AsyncSession, baseline_id: int, now: datetime, *, made_by: str) -> BaselineInfo:
    """End the recording now: what was recorded so far is the baseline.

    Raises: NotFound; Conflict when nothing is being recorded
    """
    await lock_baselines(session)
    baseline = await _require(session, baseline_id, is_locked=True)
    if baseline.recording_until is None or baseline.recording_until <= now:
        raise Conflict(f"The baseline {baseline.name} is not being recorded", {"baseline": baseline_id})
    baseline.recording_until = None
    windows = _until(to_windows(baseline.windows), now)
    await set_windows(session, baseline_id, windows, reason="the recording was stopped", made_by=made_by)
    return await read_baseline(session, baseline_id)


async def end_recording(session: AsyncSession, baseline_id: int) -> None:
    """Mark the recording as ended, which changes no window."""
    baseline = await _require(session, baseline_id, is_locked=True)
    baseline.recording_until = None
    await session.flush()


async def copy_baseline(session: AsyncSession, baseline_id: int, name: str, now: datetime, *, made_by: str) -> BaselineInfo:
    """Return a copy of the baseline, with its rule; of a recording, the part recorded so far.

    Raises: NotFound; Conflict when the name is taken, or there is nothing to copy yet
    """
    record = await read_baseline(session, baseline_id)
    windows = tuple(record.windows if record.recording_until is None else _until(record.windows, now))
    draft = BaselineDraft(
        name=name,
        note=record.note,
        hosts=() if record.group is not None else tuple(record.hosts),
        windows=windows,
        created_by=made_by,
        group=record.group,
        time_zone=record.time_zone,
        rule=record.rule,
        reason=f"copied from {record.name}, version {record.version}",
    )
    return await create_baseline(session, draft)


async def archive_baseline(session: AsyncSession, baseline_id: int, *, is_archived: bool) -> BaselineInfo:
    """Hide the baseline from lists, or show it again. Archived, it does not change; it can still be read and compared with.

    Raises: NotFound; Conflict while it is being recorded, and for a rolling baseline
    """
    await lock_baselines(session)
    baseline = await _require(session, baseline_id, is_locked=True)
    _require_not_rolling(baseline)
    if is_archived:
        _require_no_recording(baseline)
    if is_archived != (baseline.archived_at is not None):
        now = (await session.scalars(select(func.now()))).one()
        baseline.archived_at = now if is_archived else None
        await session.flush()
        if not is_archived:
            hosts = await session.scalars(select(BaselineHost.host_id).where(BaselineHost.baseline_id == baseline_id))
            await ask_for_profile(session, baseline_id, hosts.all())
        await tell_webhooks(session, Topic.BASELINE_CHANGED, await read_baseline(session, baseline_id))
    return await read_baseline(session, baseline_id)


async def delete_baseline(session: AsyncSession, baseline_id: int) -> None:
    """Delete the baseline with all its versions; samples stay.

    Raises: NotFound; Conflict for a rolling baseline
    """
    await lock_baselines(session)
    baseline = await _require(session, baseline_id, is_locked=True)
    _require_not_rolling(baseline)
    [record] = await to_records(session, [baseline])
    await tell_webhooks(session, Topic.BASELINE_DELETED, record)
    await session.delete(baseline)
    await session.flush()


def _change_windows(baseline: Baseline, change: BaselineChange) -> list[str]:
    """Set windows, rule and time zone; return the changes other than windows, in words."""
    reasons = []
    if change.time_zone is not None and change.time_zone != baseline.time_zone:
        require_zone(change.time_zone)
        reasons.append(f"time zone changed from {baseline.time_zone} to {change.time_zone}")
        baseline.time_zone = change.time_zone
    if change.windows is not None:
        _require_no_recording(baseline)
        if change.rule is None:
            _require_windows(change.windows)
        if change.rule is None and baseline.rrule is not None and not change.removes_rule:
            raise Conflict(
                f"Baseline {baseline.name} gets its windows from its rule; change the rule, or remove it with `rule` null",
                {"baseline": baseline.id},
            )
        baseline.windows = to_ranges(change.windows)
    if change.rule is not None or change.removes_rule:
        set_rule(baseline, change.rule)
    return reasons


async def _change_hosts(session: AsyncSession, baseline: Baseline, change: BaselineChange) -> list[str]:
    """Set hosts or group; return the changes, in words."""
    if change.hosts is None and change.group is None:
        return []
    group_id, host_ids = await _find_hosts(session, change.hosts or (), change.group)
    baseline.group_id = group_id
    of_baseline = BaselineHost.baseline_id == baseline.id
    before = set(await session.scalars(select(BaselineHost.host_id).where(of_baseline)))
    if before == set(host_ids):
        return []
    await session.execute(delete(BaselineHost).where(of_baseline, BaselineHost.host_id.not_in(host_ids)))
    session.add_all(BaselineHost(baseline_id=baseline.id, host_id=host_id) for host_id in host_ids if host_id not in before)
    return ["hosts changed"]


async def _finish_version(session: AsyncSession, baseline: Baseline, *, reason: str, made_by: str) -> BaselineInfo:
    """Store the present state of the baseline as its version."""
    await session.flush()
    # The version must have the windows as the database merged them.
    await session.refresh(baseline)
    await add_version(session, baseline, reason=reason, made_by=made_by)
    [record] = await to_records(session, [baseline])
    return record


async def _require(session: AsyncSession, baseline_id: int, *, is_locked: bool = False) -> Baseline:
    baseline = await session.get(Baseline, baseline_id, with_for_update=is_locked or None)
    if baseline is None:
        raise NotFound(f"There is no baseline {baseline_id}; GET /api/v1/baselines lists them", {"baseline": baseline_id})
    return baseline


async def _find_hosts(session: AsyncSession, hosts: Sequence[str], group: str | None) -> tuple[int | None, list[int]]:
    """Return the group's id and its hosts, or None and the named hosts."""
    if group is None:
        return None, await _require_hosts(session, hosts)
    if hosts:
        raise BadRequest("A baseline covers hosts or a group; give `hosts` or `group`, not both")
    return await lock_group(session, group)


async def _require_hosts(session: AsyncSession, names: Sequence[str]) -> list[int]:
    if not names:
        raise BadRequest("A baseline covers at least one host; give the names in `hosts`")
    found = dict((await session.execute(select(Host.name, Host.id).where(Host.name.in_(names)))).all())
    for name in names:
        if name not in found:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    return sorted(set(found.values()))


def _require_windows(windows: Sequence[Window]) -> None:
    if not windows:
        raise BadRequest("A baseline needs at least one window; give start and end in `windows`")


def _require_no_recording(baseline: Baseline) -> None:
    if baseline.recording_until is not None:
        raise Conflict(
            f"The baseline {baseline.name} is being recorded until {baseline.recording_until:%Y-%m-%dT%H:%M:%SZ}; stop the"
            f" recording first (DELETE /api/v1/baselines/{baseline.id}/recording)",
            {"baseline": baseline.id},
        )


def _require_not_rolling(baseline: Baseline) -> None:
    if baseline.rolling_host_id is not None:
        raise Conflict(
            f"The server keeps {baseline.name} itself; mark a baseline of the host, and it is compared with that one instead",
            {"baseline": baseline.id},
        )


def _until(windows: Sequence[Window], now: datetime) -> list[Window]:
    """Return the windows clipped at `now`."""
    return [replace(window, end=min(window.end, now)) for window in windows if window.start < now]


async def _flush_name(session: AsyncSession, name: str) -> None:
    hint = " (it may be archived)"
    await flush_name(session, name, constraint=NAME_CONSTRAINT, what="Baseline", hint=hint)
