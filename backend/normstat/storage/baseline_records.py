"""Baselines as they are shown: with their hosts, what is left out of them, and how far their profiles are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.stats.engine.timeline import require_zone
from normstat.storage.schema.baseline_models import Baseline, BaselineHost, Exclusion, HostGroup
from normstat.storage.schema.job_models import Job
from normstat.storage.schema.models import Host
from normstat.window import Window

Ranges = Sequence[Range[datetime]]
# The state of the whole is that of the job that is furthest behind.
PROFILE_STATES: Final = ("failed", "stopped", "running", "queued", "done")


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """Windows that come again: an RRULE, the first local start, how long each is, and how many days of them are kept.

    `start` has no zone: it is local time of the baseline's `time_zone`. Whole days of `duration_s` are days of the calendar there,
    what is left are seconds that pass.
    """

    rrule: str
    start: datetime
    duration_s: int
    keep_days: int


@dataclass(frozen=True, slots=True)
class ExcludedRecord:
    """A part of a baseline's windows that is left out, of a host or (None) of all, and the exclusion that says so."""

    start: datetime
    end: datetime
    host: str | None
    exclusion_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ProfileProgress:
    """How far the profiles of all hosts of a baseline are; `n_total` is 0 as long as nobody looked."""

    state: str
    n_done: int
    n_total: int
    message: str


@dataclass(frozen=True, slots=True)
class BaselineRecord:
    """A baseline; `windows` do not overlap and are in order, and may reach into the future."""

    id: int
    name: str
    note: str
    hosts: list[str]
    windows: list[Window]
    version: int
    created_by: str
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None
    time_zone: str
    rule: RuleRecord | None
    recording_until: datetime | None
    group: str | None
    excluded: list[ExcludedRecord]
    profile: ProfileProgress | None


@dataclass(frozen=True, slots=True)
class MovingRecord:
    """What the clock changes of a baseline that has a rule or is being recorded, as it stands in the table; see `to_rule`."""

    id: int
    windows: tuple[Window, ...]
    recording_until: datetime | None
    time_zone: str
    rrule: str | None
    rule_start_at: datetime | None
    rule_duration_s: int | None
    keep_days: int | None


def to_windows(ranges: Ranges) -> list[Window]:
    """Return the windows of a multirange."""
    return [Window(piece.lower, piece.upper) for piece in ranges if piece.lower and piece.upper]


def to_ranges(windows: Iterable[Window]) -> list[Range[datetime]]:
    """Return a multirange; PostgreSQL merges ranges that overlap or touch and puts them in order."""
    return [Range(window.start, window.end, bounds="[)") for window in windows]


def to_rule(baseline: Baseline | MovingRecord) -> RuleRecord | None:
    """Return the rule of the baseline. Missing: None when it has none.

    Raises: BadRequest when this machine does not know its time zone
    """
    if baseline.rrule is None or baseline.rule_start_at is None:
        return None
    local = baseline.rule_start_at.astimezone(require_zone(baseline.time_zone)).replace(tzinfo=None)
    return RuleRecord(baseline.rrule, local, baseline.rule_duration_s or 0, baseline.keep_days or 0)


def set_rule(baseline: Baseline, rule: RuleRecord | None) -> None:
    """Put the rule into the baseline, whose time zone stands already; without one, its windows stay as they are."""
    if rule is None:
        baseline.rrule = baseline.rule_start_at = baseline.rule_duration_s = baseline.keep_days = None
        return
    baseline.rrule = rule.rrule
    baseline.rule_start_at = rule.start.replace(tzinfo=require_zone(baseline.time_zone))
    baseline.rule_duration_s = rule.duration_s
    baseline.keep_days = rule.keep_days


async def to_records(session: AsyncSession, baselines: Sequence[Baseline]) -> list[BaselineRecord]:
    """Return the baselines with what stands in other tables, in the same order."""
    ids = [baseline.id for baseline in baselines]
    hosts, excluded = await _read_hosts(session, ids), await _read_excluded(session, ids)
    progress, groups = await _read_progress(session, ids), await _read_groups(session, baselines)
    return [
        BaselineRecord(
            id=baseline.id,
            name=baseline.name,
            note=baseline.note,
            hosts=hosts.get(baseline.id, []),
            windows=to_windows(baseline.windows),
            version=baseline.version,
            created_by=baseline.created_by,
            created_at=baseline.created_at,
            updated_at=baseline.updated_at,
            archived_at=baseline.archived_at,
            time_zone=baseline.time_zone,
            rule=to_rule(baseline),
            recording_until=baseline.recording_until,
            group=None if baseline.group_id is None else groups.get(baseline.group_id),
            excluded=excluded.get(baseline.id, []),
            profile=progress.get(baseline.id),
        )
        for baseline in baselines
    ]


async def _read_hosts(session: AsyncSession, ids: Sequence[int]) -> dict[int, list[str]]:
    rows = await session.execute(
        select(BaselineHost.baseline_id, Host.name)
        .join(Host, Host.id == BaselineHost.host_id)
        .where(BaselineHost.baseline_id.in_(ids))
        .order_by(Host.name)
    )
    hosts: dict[int, list[str]] = {}
    for baseline_id, name in rows:
        hosts.setdefault(baseline_id, []).append(name)
    return hosts


async def _read_excluded(session: AsyncSession, ids: Sequence[int]) -> dict[int, list[ExcludedRecord]]:
    excluded = func.tstzrange(Exclusion.start_at, Exclusion.end_at)
    own = select(BaselineHost.host_id).where(BaselineHost.baseline_id == Baseline.id)
    part = Baseline.windows.op("*", return_type=Baseline.windows.type)(func.tstzmultirange(excluded))
    rows = await session.execute(
        select(Baseline.id, part, Host.name, Exclusion.id, Exclusion.name)
        .join(Exclusion, Baseline.windows.op("&&")(excluded))
        .outerjoin(Host, Host.id == Exclusion.host_id)
        .where(Baseline.id.in_(ids), or_(Exclusion.host_id.is_(None), Exclusion.host_id.in_(own)))
        .order_by(Exclusion.start_at, Exclusion.id)
    )
    found: dict[int, list[ExcludedRecord]] = {}
    for baseline_id, ranges, host, exclusion_id, name in rows:
        found.setdefault(baseline_id, []).extend(
            ExcludedRecord(window.start, window.end, host, exclusion_id, name) for window in to_windows(ranges)
        )
    return found


async def _read_progress(session: AsyncSession, ids: Sequence[int]) -> dict[int, ProfileProgress]:
    rows = await session.execute(
        select(Baseline.id, Job.state, Job.n_done, Job.n_total, Job.message)
        .join(Job, Job.baseline_id == Baseline.id)
        .where(Baseline.id.in_(ids))
        .order_by(Job.host_id)
    )
    found: dict[int, ProfileProgress] = {}
    for baseline_id, state, n_done, n_total, message in rows:
        known = found.get(baseline_id, ProfileProgress("done", 0, 0, ""))
        found[baseline_id] = ProfileProgress(
            state=min(known.state, state, key=PROFILE_STATES.index),
            n_done=known.n_done + n_done,
            n_total=known.n_total + n_total,
            message="; ".join(filter(None, (known.message, message))),
        )
    return found


async def _read_groups(session: AsyncSession, baselines: Sequence[Baseline]) -> dict[int, str]:
    ids = {baseline.group_id for baseline in baselines if baseline.group_id is not None}
    if not ids:
        return {}
    rows = await session.execute(select(HostGroup.id, HostGroup.name).where(HostGroup.id.in_(ids)))
    return dict(rows.all())
