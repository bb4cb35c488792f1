"""Background jobs of all kinds: listed, stopped, tried again."""

from typing import Annotated, Final

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, IdPath, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.auth.access import Principal
from normstat.auth.roles import Role
from normstat.db.schema.job_models import JobKind, JobState
from normstat.errors import Conflict, NotAllowed, NotFound
from normstat.jobs import job_list
from normstat.jobs.job_list import JobFilter, JobInfo, JobList
from normstat.runtime.body import NO_NUL

router = LazyRouter(prefix="/jobs", tags=["jobs"])

MAX_LISTED: Final = 500


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_jobs(
    session: ReadSession,
    kind: Annotated[JobKind | None, Query(description="only jobs of this kind")] = None,
    state: Annotated[JobState | None, Query(description="only jobs in this state")] = None,
    host: Annotated[str | None, Query(description="only jobs of this host", max_length=200, pattern=NO_NUL)] = None,
    limit: Annotated[int, Query(description="maximum number of jobs", ge=1, le=MAX_LISTED)] = MAX_LISTED,
) -> JobList:
    """List jobs: queued and running ones first, then the latest."""
    return JobList(await job_list.list_jobs(session, JobFilter(kind, state, host), limit))


@router.get("/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_job(id: IdPath, session: ReadSession) -> JobInfo:  # noqa: A002
    """Return a job."""
    return await job_list.read_job(session, id)


@router.post("/{id}/stop", responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def stop_job(id: IdPath, principal: Operator, session: WriteSession) -> JobInfo:  # noqa: A002
    """Stop a job that is queued, runs, or would be tried again; what it did so far stays."""
    _require_role(principal, await job_list.read_job(session, id))
    return await job_list.stop_job(session, id, message=f"stopped by {principal.name}")


@router.post("/{id}/retry", responses=guarded_answers(NotFound, Conflict))
@open_to_limited()
async def retry_job(id: IdPath, principal: Operator, session: WriteSession) -> JobInfo:  # noqa: A002
    """Queue a job again that failed or was stopped."""
    _require_role(principal, await job_list.read_job(session, id))
    return await job_list.retry_job(session, id)


def _require_role(principal: Principal, job: JobInfo) -> None:
    if job.removes_data and not principal.role.reaches(Role.ADMINISTRATOR):
        needed = Role.ADMINISTRATOR
        raise NotAllowed(f"A {job.kind} job needs the role {needed}; {principal.name} has the role {principal.role}")
