"""Rows of rejected lines and gaps, and locks on hosts, as ingest and reparse write them.

A writer holds the host's row lock (`lock_host_by_id` here, `lock_hosts` in ingest_rows): requests of one host are serialised, those
of different hosts run in parallel, and no two lock the same rows in a different order.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import delete, func, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import Gap, Host, Load, StoredRejectedLine, Stream
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.db.session import WriteSession, driver_of
from normstat.stats.records import LineKind, RejectedLine

# The columns of a stream that count lines, by kind.
COUNTERS: Final[Mapping[LineKind, str]] = {kind: f"n_{kind.value}" for kind in LineKind}
SET_TIME_LIMITS: Final = "SELECT set_config('lock_timeout', %(lock)s, true), set_config('statement_timeout', %(statement)s, true)"
LIVE_CHANNEL: Final = "normstat_live"
# Limits of stored texts of rejected lines; the others are counted, and the raw chunk has them all.
MAX_KEPT_PER_REASON: Final = 1000
MAX_KEPT_PER_STREAM: Final = 10_000

StreamName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LostBytes:
    """Bytes [start, end) of a stream that the host had to drop, and why, in the agent's words."""

    start: int
    end: int
    reason: str = ""


async def set_time_limits(session: WriteSession, *, lock_s: int, statement_s: int) -> None:
    """Limit lock waits and statements from here to the end of the transaction."""
    connection = await driver_of(session)
    await connection.execute(SET_TIME_LIMITS, {"lock": f"{lock_s}s", "statement": f"{statement_s}s"})


async def lock_host_by_id(session: WriteSession, host_id: int) -> Host | None:
    """Return the host, locked until the end of the transaction, or None when it was deleted."""
    return await session.scalar(select(Host).where(Host.id == host_id).with_for_update(key_share=True))


async def keep_rejected(session: WriteSession, stream_id: int, lines: Sequence[RejectedLine]) -> set[str]:
    """Store the texts of rejected lines up to the limits; return the reasons that are new for this stream."""
    if not lines:
        return set()
    query = (
        select(StoredRejectedLine.reason, func.count())
        .where(StoredRejectedLine.stream_id == stream_id)
        .group_by(StoredRejectedLine.reason)
    )
    kept = Counter[str]()
    for reason, n in await session.execute(query):
        kept[reason] = n
    known = set(kept)
    n_kept = kept.total()
    rows: list[dict[str, object]] = []
    for line in lines:
        reason = clean_text(line.reason)
        if kept[reason] < MAX_KEPT_PER_REASON and n_kept < MAX_KEPT_PER_STREAM:
            kept[reason] += 1
            n_kept += 1
            rows.append(_rejected_row(stream_id, line))
    if rows:
        await session.execute(insert(StoredRejectedLine), rows)
    return set(kept) - known


async def replace_rejected(session: WriteSession, stream_id: int, lines: Sequence[tuple[RejectedLine, datetime]]) -> None:
    """Replace the stored rejected lines by these, each with its time of arrival."""
    await session.execute(delete(StoredRejectedLine).where(StoredRejectedLine.stream_id == stream_id))
    rows = [_rejected_row(stream_id, line) | {"received_at": received_at} for line, received_at in lines]
    if rows:
        await session.execute(insert(StoredRejectedLine), rows)


def _rejected_row(stream_id: int, line: RejectedLine) -> dict[str, object]:
    return {
        "stream_id": stream_id,
        "line_offset": line.offset,
        "line_no": line.line_no,
        "n_bytes": line.n_bytes,
        "line_text": clean_text(line.text),
        "reason": clean_text(line.reason),
    }


async def add_gaps(session: WriteSession, stream_id: int, gaps: Sequence[LostBytes]) -> None:
    """Store lost bytes."""
    if gaps:
        rows = [{"stream_id": stream_id, "start_offset": gap.start, "end_offset": gap.end} for gap in gaps]
        await session.execute(insert(Gap), rows)


async def announce(session: WriteSession, *, host: str, spec: str, last_sample_at: datetime) -> None:
    """Announce new samples to listeners; nothing is announced if the transaction fails."""
    payload = json.dumps({"host": host, "spec": spec, "last_sample_at": last_sample_at.isoformat()})
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": LIVE_CHANNEL, "payload": payload})


def clean_text(value: str) -> str:
    """Return the text with what PostgreSQL cannot store escaped: NUL, and halves of surrogate pairs."""
    return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


async def move_stream(session: WriteSession, stream: Stream, host_id: int, shift: timedelta) -> None:
    """Make a stream one of that host, with its loads, and its events that much later; the samples are moved by the caller."""
    own = EventRow.stream_id == stream.id
    times = (EventRow.start_at, EventRow.end_at, EventRow.not_before_at)
    await session.execute(update(EventRow).where(own).values({each.key: each + shift for each in times}))
    if host_id == stream.host_id:
        return
    of_stream = EventHost.event_id.in_(select(EventRow.id).where(own))
    await session.execute(update(EventHost).where(of_stream, EventHost.host_id == stream.host_id).values(host_id=host_id))
    await session.execute(update(Load).where(Load.stream_id == stream.id).values(host_id=host_id))
    stream.host_id = host_id


async def is_being_deleted(session: AsyncSession, host_id: int) -> bool:
    """Return whether the deletion of the host was requested; the answer stays right while the host's row is locked."""
    return await session.get(HostDeletionRow, host_id, populate_existing=True) is not None
