"""When normal changed on a host."""

from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import NotFound
from normstat.runtime.body import Instant
from normstat.watch.normal_changes import ChangesOfNormal, read_normal_changes

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])


@router.get("/{host}/changes-of-normal", responses=guarded_answers(NotFound))
@open_to_limited()
async def list_changes_of_normal(
    host: HostPath,
    session: ReadSession,
    start: Annotated[Instant | None, Query(description="changes from this moment on")] = None,
    end: Annotated[Instant | None, Query(description="changes before this moment")] = None,
) -> ChangesOfNormal:
    """Return since when series of a host differ from the weeks before in level, spread or rhythm, with the events before that.

    A server looks for them each night: docs/baselines.md.
    """
    return await read_normal_changes(session, host, start=start, end=end)
