"""Detect a sudden rise of a host's rejected lines."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import StoredRejectedLine, Stream

HOUR: Final = timedelta(hours=1)
# A tool that prints one odd line now and then is not worth a notice.
MIN_LINES: Final = 10
# Small hourly counts double by chance (3 after 1); a fourfold rise to at least ten does not happen by chance.
TIMES: Final = 4


@dataclass(frozen=True, slots=True)
class RejectCounts:
    """Rejected lines of a host in the last hour and in the hour before.

    Counts only lines whose text is stored: at most a thousand for each reason and stream (samples/stream_rows.py). Imported files
    are left out: they are not news about the host, and the import reports on each file.
    """

    last_hour: int
    hour_before: int

    @property
    def is_rise(self) -> bool:
        """Return whether the last hour has at least ten rejected lines, and at least four times as many as the hour before."""
        return self.last_hour >= MIN_LINES and self.last_hour >= TIMES * self.hour_before


NO_REJECTS: Final = RejectCounts(0, 0)


async def read_reject_counts(session: AsyncSession, now: datetime, host_id: int | None) -> Mapping[int, RejectCounts]:
    """Return the counts of one host or of all, by host, without hosts that have none."""
    statement = (
        select(
            Stream.host_id,
            func.count().filter(StoredRejectedLine.received_at > now - HOUR),
            func.count().filter(StoredRejectedLine.received_at <= now - HOUR),
        )
        .join(Stream, Stream.id == StoredRejectedLine.stream_id)
        .where(
            StoredRejectedLine.received_at > now - 2 * HOUR,
            StoredRejectedLine.received_at <= now,
            Stream.is_finished.is_(False),
        )
        .group_by(Stream.host_id)
    )
    if host_id is not None:
        statement = statement.where(Stream.host_id == host_id)
    return {row[0]: RejectCounts(row[1], row[2]) for row in await session.execute(statement)}
