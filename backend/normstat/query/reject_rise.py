"""Whether the lines of a host that cannot be read are suddenly more than they were."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.storage.schema.models import RejectedLine, Stream

HOUR: Final = timedelta(hours=1)
# A tool that prints one odd line now and then is no news.
MIN_LINES: Final = 10
# Counts of an hour that come by chance double easily (3 after 1); four times as many, and ten at least, do not.
TIMES: Final = 4


@dataclass(frozen=True, slots=True)
class RejectCounts:
    """Rejected lines of a host that came in the hour up to now, and in the hour before.

    Counts only lines whose text is kept: at most a thousand for each reason and stream (storage/stream_rows.py). Lines of
    loaded files are left out: they are not news of the host, and the import reports on each file.
    """

    last_hour: int
    hour_before: int

    @property
    def is_rise(self) -> bool:
        """At least ten lines in the last hour, and at least four times as many as in the hour before."""
        return self.last_hour >= MIN_LINES and self.last_hour >= TIMES * self.hour_before


NO_REJECTS: Final = RejectCounts(0, 0)


async def read_reject_counts(session: AsyncSession, now: datetime, host_id: int | None) -> Mapping[int, RejectCounts]:
    """Return the counts by host, of those that had any; of one host or of all."""
    statement = (
        select(
            Stream.host_id,
            func.count().filter(RejectedLine.received_at > now - HOUR),
            func.count().filter(RejectedLine.received_at <= now - HOUR),
        )
        .join(Stream, Stream.id == RejectedLine.stream_id)
        .where(
            RejectedLine.received_at > now - 2 * HOUR,
            RejectedLine.received_at <= now,
            Stream.is_finished.is_(False),
        )
        .group_by(Stream.host_id)
    )
    if host_id is not None:
        statement = statement.where(Stream.host_id == host_id)
    return {row[0]: RejectCounts(row[1], row[2]) for row in await session.execute(statement)}
