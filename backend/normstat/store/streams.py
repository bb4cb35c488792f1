"""Rows of hosts, streams, instances, rejected lines and gaps, as ingest writes them.

Whoever writes for a host holds its row locked (`lock_host`): requests of one host follow each other, those of different hosts do
not wait, and no two ever want the same rows in a different order.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import psycopg
from sqlalchemy import delete, func, insert, select, text, tuple_
from sqlalchemy.dialects.postgresql import insert as postgresql_insert

from normstat.stats.records import RejectedLine as ReadRejectedLine
from normstat.stats.records import Timing
from normstat.store.models import Gap, Host, RejectedLine, Stream
from normstat.store.session import WriteSession
from normstat.window import from_us

MICRO: Final = 1_000_000
LIVE_CHANNEL: Final = "normstat_live"
# Texts of rejected lines that are kept one by one; the others are counted, and the raw chunk has them all.
MOST_KEPT_PER_REASON: Final = 1000
MOST_KEPT_PER_STREAM: Final = 10_000

StreamName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LostBytes:
    """Bytes [start, end) of a stream that the host had to drop."""

    start: int
    end: int


async def set_time_limits(session: WriteSession, *, lock_s: int, statement_s: int) -> None:
    """From here to the end of the transaction, waiting for a lock and running a statement take no longer than this."""
    await session.execute(text(f"SET LOCAL lock_timeout = '{lock_s}s'"))
    await session.execute(text(f"SET LOCAL statement_timeout = '{statement_s}s'"))


async def lock_host(session: WriteSession, name: str) -> Host:
    """The host of that name, made if it is new, locked until the end of the transaction."""
    query = select(Host).where(Host.name == name).with_for_update(key_share=True)
    host = await session.scalar(query)
    if host is None:
        await session.execute(postgresql_insert(Host).values(name=name).on_conflict_do_nothing(index_elements=["name"]))
        host = (await session.scalars(query)).one()
    return host


async def lock_host_by_id(session: WriteSession, host_id: int) -> Host | None:
    """The host, locked until the end of the transaction, or None when it was deleted."""
    return await session.scalar(select(Host).where(Host.id == host_id).with_for_update(key_share=True))


async def open_streams(session: WriteSession, host: Host, names: Iterable[StreamName]) -> dict[StreamName, Stream]:
    """The host's streams by (spec, key), made if they are new; the host's row must be locked."""
    wanted = sorted(set(names))
    query = select(Stream).where(Stream.host_id == host.id, tuple_(Stream.spec, Stream.key).in_(wanted))
    found = {(stream.spec, stream.key): stream for stream in await session.scalars(query)}
    # Looked for before inserted: an insert that ends in a conflict would use up a number of the sequence every time.
    new = [
        Stream(host_id=host.id, spec=spec, key=key, acked_offset=0, spec_version=0, reader_state={}, bytes_by_kind={})
        for spec, key in wanted
        if (spec, key) not in found
    ]
    session.add_all(new)
    await session.flush()
    for stream in new:
        await session.refresh(stream)
    return found | {(stream.spec, stream.key): stream for stream in new}


def set_timing(stream: Stream, timing: Timing) -> None:
    """Keeps with the stream what an import was told of its times; `Stream.timing` gives it back."""
    stream.time_zone = timing.zone
    stream.first_day = timing.date
    stream.start_at = None if timing.start_us is None else from_us(timing.start_us)
    stream.interval_s = None if timing.interval_us is None else timing.interval_us / MICRO


UPDATE_INSTANCES: Final = """
    UPDATE instances
    SET first_sample_at = least(first_sample_at, seen.first), last_sample_at = greatest(last_sample_at, seen.last)
    FROM unnest(%(names)s::text[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS seen(name, first, last)
    WHERE instances.host_id = %(host_id)s AND instances.stat_id = %(stat_id)s AND instances.name = seen.name
      AND md5(instances.name) = md5(seen.name)
    RETURNING instances.name, instances.id
"""
INSERT_INSTANCES: Final = """
    INSERT INTO instances (host_id, stat_id, name, first_sample_at, last_sample_at)
    SELECT %(host_id)s, %(stat_id)s, name, first, last
    FROM unnest(%(names)s::text[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS seen(name, first, last)
    RETURNING instances.name, instances.id
"""


async def see_instances(
    connection: psycopg.AsyncConnection, host_id: int, stat_id: int, spans: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    """The ids of the instances, made if they are new, with their first and last samples widened; the host's row must be locked.

    No memory of ids is kept between requests: it could outlive a transaction that was rolled back, and one statement does both.
    Units: spans in microseconds since the epoch
    """
    ids: dict[str, int] = {}
    # First those that exist: an insert that ends in a conflict would use up an id every time, and ids are int4 in the samples.
    for statement in (UPDATE_INSTANCES, INSERT_INSTANCES):
        names = [name for name in spans if name not in ids]
        if names:
            arguments: dict[str, object] = {
                "host_id": host_id,
                "stat_id": stat_id,
                "names": names,
                "firsts": [from_us(spans[name][0]) for name in names],
                "lasts": [from_us(spans[name][1]) for name in names],
            }
            cursor = await connection.execute(statement, arguments)
            ids |= {str(name): int(id_) for name, id_ in await cursor.fetchall()}
    return ids


async def keep_rejected(session: WriteSession, stream_id: int, lines: Sequence[ReadRejectedLine]) -> set[str]:
    """Keeps the texts of rejected lines up to the limits; gives the reasons that this stream never had before."""
    if not lines:
        return set()
    query = select(RejectedLine.reason, func.count()).where(RejectedLine.stream_id == stream_id).group_by(RejectedLine.reason)
    kept = Counter[str]()
    for reason, n in await session.execute(query):
        kept[reason] = n
    known = set(kept)
    n_kept = kept.total()
    rows: list[dict[str, object]] = []
    for line in lines:
        reason = clean_text(line.reason)
        if kept[reason] < MOST_KEPT_PER_REASON and n_kept < MOST_KEPT_PER_STREAM:
            kept[reason] += 1
            n_kept += 1
            rows.append(_rejected_row(stream_id, line))
    if rows:
        await session.execute(insert(RejectedLine), rows)
    return set(kept) - known


async def replace_rejected(session: WriteSession, stream_id: int, lines: Sequence[tuple[ReadRejectedLine, datetime]]) -> None:
    """Keeps these lines, each with the time at which it came, in the place of those that were kept."""
    await session.execute(delete(RejectedLine).where(RejectedLine.stream_id == stream_id))
    rows = [_rejected_row(stream_id, line) | {"received_at": received_at} for line, received_at in lines]
    if rows:
        await session.execute(insert(RejectedLine), rows)


def _rejected_row(stream_id: int, line: ReadRejectedLine) -> dict[str, object]:
    return {
        "stream_id": stream_id,
        "line_offset": line.offset,
        "line_no": line.line_no,
        "n_bytes": line.n_bytes,
        "line_text": clean_text(line.text),
        "reason": clean_text(line.reason),
    }


async def add_gaps(session: WriteSession, stream_id: int, gaps: Sequence[LostBytes]) -> None:
    """Notes lost bytes."""
    if gaps:
        rows = [{"stream_id": stream_id, "start_offset": gap.start, "end_offset": gap.end} for gap in gaps]
        await session.execute(insert(Gap), rows)


async def announce(session: WriteSession, *, host: str, spec: str, last_sample_at: datetime) -> None:
    """Tells whoever listens that there are new samples; nobody hears of it when the transaction fails."""
    payload = json.dumps({"host": host, "spec": spec, "last_sample_at": last_sample_at.isoformat()})
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": LIVE_CHANNEL, "payload": payload})


def clean_text(value: str) -> str:
    """The text with what PostgreSQL cannot store written out: NUL, and halves of surrogate pairs."""
    return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
