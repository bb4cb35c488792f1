"""Why tools stopped: reports of agents about a tool that ended, or whose program is gone."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import Stream
from normstat.records.event_rows import EventSource
from normstat.runtime.field_docs import Documented
from normstat.stats.fact_words import EventKind

# The time of a tool's last sample may be that of its arrival, which is later.
SLACK: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class StreamEnd(Documented):
    """The agent's report about a tool that stopped."""

    at: datetime
    """By the host's clock."""

    text: str
    """With the exit status or the signal, and the last line of the tool's standard error."""


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """The agent's last report about the tools of a spec; `told_at`: when it arrived, by the server's clock."""

    end: StreamEnd
    told_at: datetime

    def is_of(self, stream: Stream) -> bool:
        """Return whether the stream, the newest of its spec, has had no sample since."""
        if stream.last_sample_at is None:
            return self.told_at >= stream.created_at
        return self.end.at >= stream.last_sample_at - SLACK


async def read_tool_ends(session: AsyncSession, host_id: int, since: datetime) -> Mapping[str, ToolEnd]:
    """Return the last report of the host's agent about each spec's tools since an instant, by spec.

    Missing: specs whose tools run on.
    """
    found = await session.execute(
        select(EventRow.author, EventRow.start_at, EventRow.text, EventRow.created_at)
        .join(EventHost, EventHost.event_id == EventRow.id)
        .where(
            EventHost.host_id == host_id,
            EventRow.kind == EventKind.TOOL,
            EventRow.source == EventSource.AGENT,
            EventRow.deleted_at.is_(None),
            EventRow.start_at > since,
        )
        .ext(distinct_on(EventRow.author))
        .order_by(EventRow.author, EventRow.start_at.desc(), EventRow.id.desc())
    )
    return {spec: ToolEnd(StreamEnd(at, text), told_at) for spec, at, text, told_at in found}
