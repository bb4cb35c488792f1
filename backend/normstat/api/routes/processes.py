"""Commands and processes of a host."""

from typing import Annotated, Literal

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, InWindow, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound, TooLarge
from normstat.profiles import process_baseline
from normstat.query import process_details, process_list
from normstat.query.process_details import ProcessDetail
from normstat.query.process_list import ProcessList, ProcessRequest
from normstat.query.process_report import ProcessReport, ReportRequest
from normstat.runtime.body import NO_NUL, Instant

router = LazyRouter(prefix="/hosts", tags=["hosts"], dependencies=[NEEDS_VIEWER])

CommandQuery = Annotated[str | None, Query(max_length=1000, pattern=NO_NUL, description="only processes of this command")]


@router.get("/{host}/processes", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_processes(
    *,
    host: HostPath,
    window: InWindow,
    session: ReadSession,
    by: Annotated[Literal["command", "process"], Query(description="sums by command, or each process")] = "command",
    command: CommandQuery = None,
    search: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="part of the command, or the PID")] = "",
    stat: Annotated[
        str | None,
        Query(min_length=1, max_length=63, pattern=NO_NUL, description="the stat to read; default: the most informative one"),
    ] = None,
    sort: Annotated[
        str | None, Query(max_length=63, pattern=NO_NUL, description="a quantity of the list's fields; default: the first one")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=20_000)] = 200,
) -> ProcessList:
    """List the commands or processes that have samples in the window, with the mean and maximum of each quantity.

    Sorted by the total over the window; sizes (memory, threads) by their maximum.
    """
    return await process_list.read_processes(
        session, ProcessRequest(host, window, by == "command", stat, command, search, sort, limit)
    )


@router.get("/{host}/process", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def read_process(
    *,
    host: HostPath,
    window: InWindow,
    session: ReadSession,
    command: Annotated[str, Query(min_length=1, max_length=1000, pattern=NO_NUL, description="as the list names it")],
    pid: Annotated[int | None, Query(ge=0, le=2**31 - 1, description="of a process; without it, the command")] = None,
) -> ProcessDetail:
    """Return what is known about one command or process: the stats with its series; for a process its user, unit, parent,
    arguments, start and end, read from the raw output.
    """
    return await process_details.read_process(session, host, window, command=command, pid=pid)


@router.get("/{host}/process-report", responses=guarded_answers(BadRequest, NotFound, TooLarge))
@open_to_limited()
async def read_process_report(
    *,
    host: HostPath,
    at: Annotated[Instant, Query(description="the instant; the last report before it is read, or the one of the same millisecond")],
    session: ReadSession,
    stat: Annotated[
        str | None, Query(min_length=1, max_length=63, pattern=NO_NUL, description="the stat to read; default: the best one")
    ] = None,
    baseline: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="id of a baseline to set beside the values")] = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
) -> ProcessReport:
    """Return the processes of a host at an instant, from one report of a tool, each beside what is normal for its command.

    Values are never interpolated. A report is at most an hour older than the instant.
    """
    return await process_baseline.read_process_report(session, ReportRequest(host, at, stat, limit), baseline)
