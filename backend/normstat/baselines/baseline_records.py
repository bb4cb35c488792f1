"""Baselines as they are shown: with their hosts, excluded windows, and profile progress."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import WithJsonSchema
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import Baseline, BaselineHost, Exclusion, HostGroup
from normstat.db.schema.job_models import Job
from normstat.db.schema.models import Host
from normstat.runtime.field_docs import Documented
from normstat.stats.engine.times.timeline import require_zone
from normstat.window import Window

Ranges = Sequence[Range[datetime]]
ProfileState = Literal["failed", "stopped", "running", "queued", "done"]
# The overall state is that of the least advanced job.
PROFILE_STATES: Final[tuple[ProfileState, ...]] = ("failed", "stopped", "running", "queued", "done")


# Local time without a zone, so it is not a date-time of JSON Schema.
LocalTime = Annotated[datetime, WithJsonSchema({"type": "string"})]


@dataclass(frozen=True, slots=True)
class RuleInfo(Documented):
    """Recurring windows of a baseline."""

    rrule: str
    """An RRULE (RFC 5545) in canonical form."""

    start: LocalTime
    """The first start, local time in the baseline's time zone, without a zone."""

    duration_s: int
    """Length of each window. Whole days are calendar days; the remainder is in elapsed seconds."""

    keep_days: int
    """Windows are kept for this many days."""


@dataclass(frozen=True, slots=True)
class ExcludedWindow(Documented):
    """A part of the windows that an exclusion removes."""

    start: datetime
    end: datetime
    host: str | None
    """null: all hosts."""

    exclusion_id: int
    name: str


@dataclass(frozen=True, slots=True)
class ProfileInfo(Documented):
    """Progress of the profiles of all hosts of a baseline."""

    state: ProfileState
    """That of the least advanced host."""

    n_done: int
    n_total: int
    """0 until work has begun."""

    message: str


@dataclass(frozen=True, slots=True)
class BaselineInfo(Documented):
    """A baseline: a period marked as normal."""

    id: int
    name: str
    note: str
    hosts: list[str]
    """With a group, its hosts."""

    group: str | None
    windows: list[Window]
    """Ordered, without overlaps; they may reach into the future."""

    excluded: list[ExcludedWindow]
    version: int
    """Grows whenever windows, hosts or time zone change."""

    time_zone: str
    rule: RuleInfo | None
    recording_until: datetime | None
    """Until then the last window is being recorded; null without a recording."""

    is_rolling: bool
    """The last days of its host, kept by the server because no person marked a baseline; it cannot be changed."""

    archived_at: datetime | None
    profile: ProfileInfo | None
    created_by: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class ScheduledBaseline:
    """A baseline with a rule or a recording, which the clock changes; see `to_rule`."""

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
    """Return a multirange; PostgreSQL merges ranges that overlap or touch and orders them."""
    return [Range(window.start, window.end, bounds="[)") for window in windows]


def to_rule(baseline: Baseline | ScheduledBaseline) -> RuleInfo | None:
    """Return the rule of the baseline. Missing: None when it has none.

    Raises: BadRequest when this machine does not know its time zone
    """
    if baseline.rrule is None or baseline.rule_start_at is None:
        return None
    local = baseline.rule_start_at.astimezone(require_zone(baseline.time_zone)).replace(tzinfo=None)
    return RuleInfo(baseline.rrule, local, baseline.rule_duration_s or 0, baseline.keep_days or 0)


def set_rule(baseline: Baseline, rule: RuleInfo | None) -> None:
    """Set the rule of a baseline, whose time zone is already set; without one, its windows stay as they are."""
    if rule is None:
        baseline.rrule = baseline.rule_start_at = baseline.rule_duration_s = baseline.keep_days = None
        return
    baseline.rrule = rule.rrule
    baseline.rule_start_at = rule.start.replace(tzinfo=require_zone(baseline.time_zone))
    baseline.rule_duration_s = rule.duration_s
    baseline.keep_days = rule.keep_days


async def to_records(session: AsyncSession, baselines: Sequence[Baseline]) -> list[BaselineInfo]:
    """Return the baselines with their data from other tables, in the same order."""
    ids = [baseline.id for baseline in baselines]
    hosts, excluded = await _read_hosts(session, ids), await _read_excluded(session, ids)
    progress, groups = await _read_progress(session, ids), await _read_groups(session, baselines)
    return [
        to_record(
            BaselineInfo,
            baseline,
            hosts=hosts.get(baseline.id, []),
            windows=to_windows(baseline.windows),
            rule=to_rule(baseline),
            is_rolling=baseline.rolling_host_id is not None,
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


async def _read_excluded(session: AsyncSession, ids: Sequence[int]) -> dict[int, list[ExcludedWindow]]:
    excluded = func.tstzrange(Exclusion.start_at, Exclusion.end_at)
    own = select(BaselineHost.host_id).where(BaselineHost.baseline_id == Baseline.id)
    part = Baseline.windows.op("*", return_type=Baseline.windows.type)(func.tstzmultirange(excluded))
    rows = await session.execute(
        select(Baseline.id, part, Host.name, Exclusion.id, Exclusion.name)
        .join(Exclusion, Baseline.windows.bool_op("&&")(excluded))
        .outerjoin(Host, Host.id == Exclusion.host_id)
        .where(Baseline.id.in_(ids), or_(Exclusion.host_id.is_(None), Exclusion.host_id.in_(own)))
        .order_by(Exclusion.start_at, Exclusion.id)
    )
    found: dict[int, list[ExcludedWindow]] = {}
    for baseline_id, ranges, host, exclusion_id, name in rows:
        found.setdefault(baseline_id, []).extend(
            ExcludedWindow(window.start, window.end, host, exclusion_id, name) for window in to_windows(ranges)
        )
    return found


async def _read_progress(session: AsyncSession, ids: Sequence[int]) -> dict[int, ProfileInfo]:
    rows = await session.execute(
        select(Baseline.id, Job.state, Job.n_done, Job.n_total, Job.message)
        .join(Job, Job.baseline_id == Baseline.id)
        .where(Baseline.id.in_(ids))
        .order_by(Job.host_id)
    )
    found: dict[int, ProfileInfo] = {}
    for baseline_id, state, n_done, n_total, message in rows:
        known = found.get(baseline_id, ProfileInfo("done", 0, 0, ""))
        found[baseline_id] = ProfileInfo(
            state=PROFILE_STATES[min(PROFILE_STATES.index(known.state), PROFILE_STATES.index(state))],
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
