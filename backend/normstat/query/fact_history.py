"""Host facts and their changes, read from the raw output of the agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.field_docs import Documented
from normstat.stats.fact_lines import FactName, FactSnapshot, FactSpan, find_spans, parse_snapshots
from normstat.storage import lookup
from normstat.storage.chunks import read_batch
from normstat.storage.schema.models import Stream

SPEC: Final = "host_facts"
# Each start of an agent is a stream, and prints one or two kilobytes.
MAX_STREAMS: Final = 500
MAX_BYTES: Final = 4 * 1024 * 1024
MAX_CHANGES: Final = 1000


@dataclass(frozen=True, slots=True)
class HostFact(Documented):
    """What a host is, in one respect."""

    key: str
    """The kind of fact: os, kernel, cpus, memory_kb, mount, ..."""

    item: str
    """The thing that it is about, such as a mount point; empty where a host has one of the kind."""

    value: str
    """As the agent printed it."""

    since: datetime
    """The first time that the agent saw this value, by the host's clock."""


@dataclass(frozen=True, slots=True)
class FactChange(Documented):
    """A fact that was seen to have changed."""

    at: datetime
    """When the agent saw it, by the host's clock; it happened between this and the time it looked before."""

    key: str
    item: str
    before: str | None
    """Null if the fact is new."""

    after: str | None
    """Null if the fact is gone."""


@dataclass(frozen=True, slots=True)
class HostFacts(Documented):
    """What a host is, and how that changed."""

    facts: list[HostFact]
    """The latest value of each fact, by key and item; empty where no agent reported any."""

    changes: list[FactChange]
    """Newest first."""

    read_at: datetime | None
    """When the agent printed its facts last; null without facts."""


async def read_host_facts(session: AsyncSession, host: str) -> HostFacts:
    """Return the facts of a host.

    Raises: NotFound
    """
    host_id = await lookup.require_host(session, host)
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    streams = await session.execute(
        select(Stream.id, Stream.acked_offset)
        .where(Stream.host_id == host_id, Stream.spec == SPEC)
        .order_by(last_heard.desc(), Stream.id.desc())
        .limit(MAX_STREAMS)
    )
    snapshots: list[FactSnapshot] = []
    n_bytes = 0
    for stream in streams.all():
        if n_bytes >= MAX_BYTES:
            break
        text = await _read_text(session, stream.id, stream.acked_offset)
        n_bytes += len(text)
        snapshots += parse_snapshots(text.split("\n"))
    return describe(snapshots)


def describe(snapshots: Sequence[FactSnapshot]) -> HostFacts:
    """Return the facts and changes of snapshots in any order."""
    spans = find_spans(snapshots)
    facts = [HostFact(span.name.key, span.name.item, span.value, _instant(span.since_s)) for span in spans if span.until_s is None]
    times = [snapshot.time_s for snapshot in snapshots if snapshot.facts]
    changes = _find_changes(spans, first_s=min(times)) if times else []
    return HostFacts(facts, changes[:MAX_CHANGES], _instant(max(times)) if times else None)


def _find_changes(spans: Sequence[FactSpan], *, first_s: float) -> list[FactChange]:
    """Return the changes, newest first. What the first snapshot has is no change."""
    before: dict[tuple[FactName, float], str] = {}
    after: dict[tuple[FactName, float], str] = {}
    for span in spans:
        if span.since_s > first_s:
            after[span.name, span.since_s] = span.value
        if span.until_s is not None:
            before[span.name, span.until_s] = span.value
    moments = sorted(before.keys() | after.keys(), key=lambda moment: (-moment[1], moment[0]))
    return [
        FactChange(_instant(at_s), name.key, name.item, before.get((name, at_s)), after.get((name, at_s))) for name, at_s in moments
    ]


async def _read_text(session: AsyncSession, stream_id: int, acked_offset: int) -> str:
    """Return the text of a stream, without what lies more than MAX_BYTES before its end. Chunks begin with a line."""
    pieces: list[bytes] = []
    start = max(0, acked_offset - MAX_BYTES)
    while start < acked_offset:
        chunks = await read_batch(session, stream_id, start=start, most_bytes=MAX_BYTES)
        if not chunks:
            # Its end was lost on the host.
            break
        pieces += [chunk.data for chunk in chunks]
        start = chunks[-1].end
    return b"".join(pieces).decode("utf-8", "replace")


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
