"""Host facts and their changes, read from the raw output of the agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import anyio.to_thread
from sqlalchemy import Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host, Stream
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.samples.chunks import read_batch
from normstat.stats.fact_lines import (
    AGENT,
    BOOT_ID,
    FactDifference,
    FactName,
    FactSnapshot,
    find_differences,
    find_spans,
    parse_snapshots,
    sort_snapshots,
)
from normstat.stats.fact_words import EventKind, describe_change, find_kind, find_label, find_place, find_section, format_value

SPEC: Final = "host_facts"
# Each start of an agent is a stream, and prints two kilobytes an hour: this covers well over a year.
MAX_STREAMS: Final = 500
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_CHANGES: Final = 1000


@dataclass(frozen=True, slots=True)
class HostFact(Documented):
    """One fact about a host."""

    key: str
    """The kind of fact: os, kernel_release, cpus, memory_kb, mount, ..."""

    item: str
    """The thing that it is about, such as a mount point; empty where a host has one of the kind."""

    section: str
    """The title under which it stands: System, CPUs, Memory, ..."""

    label: str
    """The kind of fact in words, without the item."""

    value: str
    """As the agent printed it."""

    text: str
    """The value with its unit; the time of a boot as it is."""

    since: datetime
    """The first time that the agent saw this value, by the host's clock."""


@dataclass(frozen=True, slots=True)
class FactChange(Documented):
    """A fact that was seen to have changed."""

    at: datetime
    """When the agent saw it, by the host's clock; it happened between `not_before` and this."""

    not_before: datetime
    """When the agent saw the value before for the last time."""

    key: str
    item: str
    label: str
    kind: EventKind
    text: str
    """The change in words."""

    before: str | None
    """Null if the fact is new."""

    before_text: str | None
    after: str | None
    """Null if the fact is gone."""

    after_text: str | None


@dataclass(frozen=True, slots=True)
class HostFacts(Documented):
    """The facts of a host, and their changes."""

    facts: list[HostFact]
    """The latest value of each fact, in the order of the page; empty where no agent reported any."""

    changes: list[FactChange]
    """Newest first. A fact that another version of the agent starts or stops reporting is not a change."""

    n_changes_left_out: int
    """Older changes that are not listed."""

    known_since: datetime | None
    """The first report that was read: nothing is known about the time before; null without facts."""

    read_at: datetime | None
    """When the agent printed its facts last; null without facts."""


async def read_host_facts(session: AsyncSession, host: str) -> HostFacts:
    """Return the facts of a host.

    Raises: NotFound
    """
    return describe(await read_snapshots(session, await lookup.require_host(session, host)))


def select_hosts_with_facts(since: datetime) -> Select[int, str]:
    """Return the query of the hosts that `list_hosts_with_facts` lists."""
    reported = select(Stream.id).where(Stream.host_id == Host.id, Stream.spec == SPEC, Stream.last_received_at > since).exists()
    return select(Host.id, Host.name).where(reported)


async def list_hosts_with_facts(session: AsyncSession, since: datetime) -> list[tuple[int, str]]:
    """Return the hosts, by id and name, whose agents reported facts from then on."""
    return [(host_id, name) for host_id, name in await session.execute(select_hosts_with_facts(since))]


async def read_tools(session: AsyncSession, host_ids: Mapping[str, int]) -> dict[str, frozenset[str]]:
    """Return which of fact_words.TOOLS each host has, by its last facts.

    Missing: a host whose agent does not report them is left out.
    """
    found = {}
    for host, host_id in host_ids.items():
        snapshots = await read_snapshots(session, host_id)
        if snapshots and (tools := snapshots[-1].facts.get(FactName("tools"))) is not None:
            found[host] = frozenset(tools.split())
    return found


async def read_snapshots(session: AsyncSession, host_id: int, *, max_bytes: int = MAX_BYTES) -> list[FactSnapshot]:
    """Return the facts that the agents of a host reported, by time; at most about the last `max_bytes` of the text."""
    last_heard = func.coalesce(Stream.last_received_at, Stream.created_at)
    streams = await session.execute(
        select(Stream.id, Stream.acked_offset)
        .where(Stream.host_id == host_id, Stream.spec == SPEC)
        .order_by(last_heard.desc(), Stream.id.desc())
        .limit(MAX_STREAMS)
    )
    texts: list[str] = []
    n_bytes = 0
    for stream in streams.all():
        if n_bytes >= max_bytes:
            break
        texts.append(await _read_text(session, stream.id, stream.acked_offset, max_bytes))
        n_bytes += len(texts[-1])
    return await anyio.to_thread.run_sync(_parse, texts)


def _parse(texts: Sequence[str]) -> list[FactSnapshot]:
    streams = [list(parse_snapshots(text.split("\n"))) for text in texts]
    return sort_snapshots(snapshot for stream in drop_unfinished(streams) for snapshot in stream)


def drop_unfinished(streams: Sequence[Sequence[FactSnapshot]]) -> list[Sequence[FactSnapshot]]:
    """Return the streams without snapshots whose end has not arrived yet: facts that are still to come are not gone.

    The agent prints its version last; older agents did not print it at all.
    """
    mark = FactName(AGENT)
    if not any(mark in snapshot.facts for stream in streams for snapshot in stream):
        return list(streams)
    return [stream[:-1] if stream and mark not in stream[-1].facts else stream for stream in streams]


def describe(snapshots: Sequence[FactSnapshot]) -> HostFacts:
    """Return the facts and changes of snapshots in any order."""
    ordered = sort_snapshots(snapshots)
    spans = [span for span in find_spans(ordered) if span.until_s is None and span.name.key != BOOT_ID]
    facts = [
        HostFact(
            span.name.key,
            span.name.item,
            find_section(span.name.key),
            find_label(span.name.key),
            span.value,
            format_value(span.name.key, span.value),
            to_instant(span.since_s),
        )
        for span in sorted(spans, key=lambda span: order_of(span.name))
    ]
    differences = [each for each in find_differences(ordered) if each.name.key != BOOT_ID]
    differences.sort(key=lambda each: (-each.after_s, order_of(each.name)))
    times = [to_instant(snapshot.time_s) for snapshot in ordered]
    return HostFacts(
        facts,
        [_to_change(each) for each in differences[:MAX_CHANGES]],
        max(0, len(differences) - MAX_CHANGES),
        times[0] if times else None,
        times[-1] if times else None,
    )


def order_of(name: FactName) -> tuple[object, ...]:
    """Return the key that sorts facts as the page shows them."""
    return (find_place(name.key), name.key, natural_key(name.item))


def _to_change(each: FactDifference) -> FactChange:
    key = each.name.key
    return FactChange(
        to_instant(each.after_s),
        to_instant(each.before_s),
        key,
        each.name.item,
        find_label(key),
        find_kind(key),
        describe_change(each.name, each.before, each.after),
        each.before,
        None if each.before is None else format_value(key, each.before),
        each.after,
        None if each.after is None else format_value(key, each.after),
    )


async def _read_text(session: AsyncSession, stream_id: int, acked_offset: int, max_bytes: int) -> str:
    """Return the text of a stream, without what lies more than `max_bytes` before its end. Chunks begin with a line."""
    pieces: list[bytes] = []
    start = max(0, acked_offset - max_bytes)
    while start < acked_offset:
        chunks = await read_batch(session, stream_id, start=start, most_bytes=MAX_BYTES)
        if not chunks:
            # Its end was lost on the host.
            break
        pieces += [chunk.data for chunk in chunks]
        start = chunks[-1].end
    return b"".join(pieces).decode("utf-8", "replace")


def to_instant(seconds: float) -> datetime:
    """Return the instant of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC)
