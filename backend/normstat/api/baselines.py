"""Baselines: periods marked as normal, by windows, a recording or a rule."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from normstat.api.baseline_schemas import (
    BaselineArchive,
    BaselineCopy,
    BaselineCreate,
    BaselineHealth,
    BaselineList,
    BaselineUpdate,
    HostHealth,
    IntervalInput,
    RuleInput,
    VersionInfo,
    VersionList,
)
from normstat.api.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import NO_NUL, BaselineInfo, Empty
from normstat.baselines.baseline_health import read_health
from normstat.baselines.lifecycle import BaselineRequest, RuleRequest, create_requested, update_requested
from normstat.errors import BadRequest, Conflict, NotFound
from normstat.storage import baseline_rows
from normstat.storage.baseline_rows import BaselineChange
from normstat.storage.baseline_versions import list_versions
from normstat.window import Window

router = APIRouter(prefix="/baselines", tags=["baselines"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def list_baselines(
    session: ReadSession,
    host: Annotated[str | None, Query(description="only those of this host", min_length=1, max_length=200, pattern=NO_NUL)] = None,
    *,
    archived: Annotated[bool, Query(description="those that are archived, in place of the others")] = False,
) -> BaselineList:
    """List baselines, the newest first."""
    records = await baseline_rows.list_baselines(session, host, is_archived=archived)
    return BaselineList(baselines=[BaselineInfo.model_validate(record) for record in records])


@router.post("", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict))
async def create_baseline(body: BaselineCreate, principal: Operator, session: WriteSession) -> BaselineInfo:
    """Mark windows of hosts as normal: given ones, one that begins now, or those of a rule."""
    request = BaselineRequest(
        name=body.name,
        note=body.note,
        hosts=tuple(body.hosts or ()),
        group=body.group,
        windows=_to_windows(body.windows or []),
        record_hours=body.record_hours,
        rule=_to_rule(body.rule),
        time_zone=body.time_zone,
        created_by=principal.name,
    )
    return BaselineInfo.model_validate(await create_requested(session, request, datetime.now(UTC)))


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def get_baseline(id: IdPath, session: ReadSession) -> BaselineInfo:  # noqa: A002
    """Show a baseline, also one that is archived."""
    return BaselineInfo.model_validate(await baseline_rows.read_baseline(session, id))


@router.patch("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def update_baseline(id: IdPath, body: BaselineUpdate, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Change a baseline; other windows, hosts or another time zone are a new version."""
    change = BaselineChange(
        changed_by=principal.name,
        name=body.name,
        note=body.note,
        windows=None if body.windows is None else _to_windows(body.windows),
        hosts=None if body.hosts is None else tuple(body.hosts),
        group=body.group,
        time_zone=body.time_zone,
        removes_rule="rule" in body.model_fields_set and body.rule is None,
        reason=body.reason,
    )
    return BaselineInfo.model_validate(await update_requested(session, id, change, _to_rule(body.rule), datetime.now(UTC)))


@router.delete("/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
async def delete_baseline(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Remove a baseline with all of its versions; samples stay."""
    await baseline_rows.delete_baseline(session, id)
    return Empty()


@router.get("/{id}/versions", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def list_baseline_versions(id: IdPath, session: ReadSession) -> VersionList:  # noqa: A002
    """List what the baseline ever was, the newest first."""
    return VersionList(versions=[VersionInfo.model_validate(record) for record in await list_versions(session, id)])


@router.get("/{id}/health", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
async def get_baseline_health(
    id: IdPath,  # noqa: A002
    session: ReadSession,
    host: Annotated[
        str | None,
        Query(description="only for this host; it takes up to a second each", min_length=1, max_length=200, pattern=NO_NUL),
    ] = None,
) -> BaselineHealth:
    """Say how much the baseline is worth for each of its hosts: what has samples, how old it is, what came and went since."""
    version, hosts = await read_health(session, id, datetime.now(UTC), host=host)
    return BaselineHealth(version=version, hosts=[HostHealth.model_validate(host) for host in hosts])


@router.post("/{id}/copy", status_code=201, responses=guarded_answers(BadRequest, NotFound, Conflict))
async def copy_baseline(id: IdPath, body: BaselineCopy, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Make another baseline like this one, with its rule."""
    record = await baseline_rows.copy_baseline(session, id, body.name, datetime.now(UTC), made_by=principal.name)
    return BaselineInfo.model_validate(record)


@router.post("/{id}/archive", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound, Conflict))
async def archive_baseline(id: IdPath, body: BaselineArchive, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """Hide a baseline from lists, or brings it back; archived it follows no rule, and can be read and compared with."""
    return BaselineInfo.model_validate(await baseline_rows.archive_baseline(session, id, is_archived=body.is_archived))


@router.delete("/{id}/recording", responses=guarded_answers(NotFound, Conflict))
async def stop_baseline_recording(id: IdPath, principal: Operator, session: WriteSession) -> BaselineInfo:  # noqa: A002
    """End a recording now: what was recorded so far is the baseline."""
    record = await baseline_rows.stop_recording(session, id, datetime.now(UTC), made_by=principal.name)
    return BaselineInfo.model_validate(record)


def _to_windows(intervals: list[IntervalInput]) -> tuple[Window, ...]:
    return tuple(Window(interval.start, interval.end) for interval in intervals)


def _to_rule(rule: RuleInput | None) -> RuleRequest | None:
    return None if rule is None else RuleRequest(rule.rrule, rule.start, rule.duration_s, rule.keep_days)
