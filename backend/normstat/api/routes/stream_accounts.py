"""Stream accounts: how each line and byte was classified, and the raw output around any position."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query

from normstat.api.http.deps import NEEDS_VIEWER, HostPath, IdPath, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import NotFound
from normstat.query import context, line_accounts
from normstat.query.context import StreamContext
from normstat.query.line_accounts import HostAccounts

router = LazyRouter(tags=["hosts"], dependencies=[NEEDS_VIEWER])

LineCount = Annotated[int, Query(ge=0, le=context.MAX_LINES)]


@router.get("/hosts/{host}/accounts", responses=guarded_answers(NotFound))
@open_to_limited()
async def read_accounts(
    host: HostPath,
    session: ReadSession,
    only: Annotated[
        line_accounts.StreamFilter | None,
        Query(description="only streams with rejected lines, an outdated spec version, or lost bytes"),
    ] = None,
    stream_id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="only this stream")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> HostAccounts:
    """Return how every line and byte of a host was classified: in total, and stream by stream."""
    return await line_accounts.read_host_accounts(session, host, only=only, stream_id=stream_id, limit=limit, now=datetime.now(UTC))


@router.get("/streams/{id}/context", responses=guarded_answers(NotFound))
@open_to_limited()
async def read_context(
    id: IdPath,  # noqa: A002 -- the name in the address
    session: ReadSession,
    offset: Annotated[int, Query(ge=0, le=2**63 - 1, description="offset in the stream of any byte of the line to show")],
    before: LineCount = 10,
    after: LineCount = 10,
) -> StreamContext:
    """Return a line of a stream's raw output and the lines around it, as the tool printed them."""
    return await context.read_context(session, id, offset, before=before, after=after)
