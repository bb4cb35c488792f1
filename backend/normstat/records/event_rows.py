"""Stored events: dated notes of people, scripts, agents and imports. Of many hosts, of one, or of all.

Events that are derived from a host's facts are not here (query/host_events.py has both).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import Host
from normstat.errors import BadRequest, NotFound, shorten
from normstat.records.change_verdict_rows import JUDGED_KINDS, EventVerdict, forget_verdicts, read_event_verdicts
from normstat.records.webhook_rows import Topic, is_topic_wanted, tell_webhooks
from normstat.stats.fact_words import DERIVED_KINDS, EventKind

MAX_TEXT: Final = 2000
EVENTS_AT_ONCE: Final = 500
# A deleted event can be restored for this long.
RESTORABLE: Final = timedelta(days=1)


class EventSource(StrEnum):
    """Where an event comes from."""

    USER = "user"
    API = "api"
    CLI = "cli"
    AGENT = "agent"
    IMPORT = "import"
    FACTS = "facts"
    ARTEFACT = "artefact"
    SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class EventDraft:
    """An event to store; without `end` it is a moment, and without `hosts` it is for all of them."""

    at: datetime
    end: datetime | None
    kind: EventKind
    text: str
    tags: tuple[str, ...]
    hosts: tuple[str, ...] | None
    source: EventSource
    author: str

    def __post_init__(self) -> None:
        """Raise BadRequest when it ends before it begins, names an empty list of hosts, or has a kind that cannot be noted."""
        require_noted_kind(self.kind)
        require_order(self.at, self.end)
        require_hosts_named(self.hosts)


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A stored event; `hosts` are names, None for all. `verdict`: None for what is not judged, or not yet."""

    id: int
    at: datetime
    end: datetime | None
    not_before: datetime | None
    kind: EventKind
    text: str
    tags: list[str]
    hosts: list[str] | None
    source: EventSource
    author: str
    verdict: EventVerdict | None = None


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list; None and empty members filter nothing.

    `hosts` are ids: events of all hosts belong to each of them. An event has all the tags and all the words; a word may stand in
    its text, a tag, or the author's name.
    """

    hosts: tuple[int, ...] | None = None
    start: datetime | None = None
    end: datetime | None = None
    kinds: tuple[EventKind, ...] = ()
    tags: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def holds(self, record: EventRecord) -> bool:
        """Return whether an event has the time, the kind, the tags and the words, as the database would decide. Its hosts are not
        asked for.
        """
        texts = [text.casefold() for text in (record.text, record.author, *record.tags)]
        return (
            (self.end is None or record.at < self.end)
            and (self.start is None or record.at >= self.start or (record.end is not None and record.end > self.start))
            and (not self.kinds or record.kind in self.kinds)
            and set(self.tags) <= set(record.tags)
            and all(any(word.casefold() in text for text in texts) for word in self.words)
        )


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event from the line of a stream; `author` is the file or tool that it is about."""

    host_id: int
    stream_id: int
    line_offset: int
    at: datetime
    not_before: datetime | None
    kind: EventKind
    text: str
    source: EventSource
    author: str


def require_order(at: datetime, end: datetime | None) -> None:
    """Check that an event does not end before it begins.

    Raises: BadRequest
    """
    if end is not None and end <= at:
        raise BadRequest(
            f"The event ends at {end.isoformat()}, not after its start {at.isoformat()}; give a later end, or none for a moment"
        )


def require_hosts_named(hosts: tuple[str, ...] | None) -> None:
    """Check that there are hosts, or that all are meant.

    Raises: BadRequest
    """
    if hosts is not None and not hosts:
        raise BadRequest("The list of hosts is empty; name at least one, or leave it out for all hosts")


def require_noted_kind(kind: EventKind) -> None:
    """Check that people and scripts can note events of this kind.

    Raises: BadRequest
    """
    if kind in DERIVED_KINDS:
        others = ", ".join(other for other in EventKind if other not in DERIVED_KINDS)
        instead = "" if kind is EventKind.NORMAL else "store what the tool printed as an artefact (POST /api/v1/artefacts), or "
        source = "what hosts recorded" if kind is EventKind.NORMAL else "artefacts"
        raise BadRequest(f"Events of kind {kind} follow from {source} and cannot be noted; {instead}choose another kind: {others}")


async def create_event(session: AsyncSession, draft: EventDraft) -> EventRecord:
    """Return the new event.

    Raises: NotFound for an unknown host
    """
    row = EventRow(
        start_at=draft.at,
        end_at=draft.end,
        kind=draft.kind,
        text=draft.text,
        tags=list(draft.tags),
        is_for_all_hosts=draft.hosts is None,
        source=draft.source,
        author=draft.author,
    )
    session.add(row)
    await session.flush()
    await _set_hosts(session, row.id, draft.hosts)
    record = await read_event(session, row.id)
    await tell_webhooks(session, Topic.EVENT_CREATED, record)
    return record


async def update_event(session: AsyncSession, event_id: int, draft: EventDraft) -> EventRecord:
    """Return the event with the time, kind, text, tags and hosts of the draft; source and author stay.

    Raises: NotFound; BadRequest for an event that an agent or an import recorded
    """
    row = await _require(session, event_id)
    if row.stream_id is not None:
        raise BadRequest("This event is the line of a recorded stream and cannot be changed; delete it, or add one of your own")
    row.start_at, row.end_at, row.kind, row.text, row.tags = draft.at, draft.end, draft.kind, draft.text, list(draft.tags)
    row.is_for_all_hosts = draft.hosts is None
    row.updated_at = func.now()
    await session.flush()
    await session.execute(delete(EventHost).where(EventHost.event_id == event_id))
    await _set_hosts(session, event_id, draft.hosts)
    await forget_verdicts(session, event_id)
    record = await read_event(session, event_id)
    await tell_webhooks(session, Topic.EVENT_CHANGED, record)
    return record


async def read_event(session: AsyncSession, event_id: int) -> EventRecord:
    """Return one event.

    Raises: NotFound
    """
    [record] = await _to_records(session, [await _require(session, event_id, is_locked=False)])
    return record


async def delete_event(session: AsyncSession, event_id: int) -> None:
    """Delete the event; it can be restored for a day.

    Raises: NotFound
    """
    row = await _require(session, event_id)
    [record] = await _to_records(session, [row])
    await tell_webhooks(session, Topic.EVENT_DELETED, record)
    row.deleted_at = func.now()
    await session.flush()
    # A line of a stream stays, deleted: it must not come again.
    expired = and_(EventRow.deleted_at < func.now() - RESTORABLE, EventRow.stream_id.is_(None))
    await session.execute(delete(EventRow).where(expired))


async def restore_event(session: AsyncSession, event_id: int) -> EventRecord:
    """Return the deleted event, which is listed again.

    Raises: NotFound when it was deleted long ago, or never existed
    """
    row = await session.get(EventRow, event_id, with_for_update=True, populate_existing=True)
    if row is None:
        raise NotFound(f"Event {event_id} no longer exists; add it again", {"event": event_id})
    row.deleted_at = None
    await session.flush()
    record = await read_event(session, event_id)
    await tell_webhooks(session, Topic.EVENT_CREATED, record)
    return record


async def list_events(
    session: AsyncSession, wanted: EventFilter, *, limit: int, offset: int = 0
) -> tuple[list[EventRecord], int]:  # fmt: skip
    """Return a page of the events, newest first, and the number of all of them."""
    conditions = _conditions(wanted)
    query = select(EventRow).where(*conditions).order_by(EventRow.start_at.desc(), EventRow.id.desc()).limit(limit).offset(offset)
    rows = (await session.scalars(query)).all()
    if offset == 0 and len(rows) < limit:
        return await _to_records(session, rows), len(rows)
    n_all = await session.scalar(select(func.count()).select_from(EventRow).where(*conditions))
    return await _to_records(session, rows), n_all or 0


async def read_several_events(session: AsyncSession, ids: Sequence[int]) -> list[EventRecord]:
    """Return the events with these ids, in no order."""
    return await _to_records(session, (await session.scalars(select(EventRow).where(EventRow.id.in_(ids)))).all())


async def add_recorded_events(session: AsyncSession, events: Sequence[RecordedEvent]) -> None:
    """Store events from lines of streams; those that are stored already, or were deleted, stay as they are."""
    events = await _drop_known_restarts(session, events)
    for start in range(0, len(events), EVENTS_AT_ONCE):
        part = events[start : start + EVENTS_AT_ONCE]
        hosts = {event.stream_id: event.host_id for event in part}
        rows = [
            {
                "start_at": event.at,
                "not_before_at": event.not_before,
                "kind": event.kind,
                "text": cut_text(event.text),
                "source": event.source,
                "author": event.author,
                "stream_id": event.stream_id,
                "line_offset": event.line_offset,
            }
            for event in part
        ]
        statement = insert(EventRow).values(rows).on_conflict_do_nothing(index_elements=["stream_id", "line_offset"])
        made = (await session.execute(statement.returning(EventRow.id, EventRow.stream_id))).all()
        if made:
            of_hosts = [{"event_id": event_id, "host_id": hosts[stream_id or 0]} for event_id, stream_id in made]
            await session.execute(insert(EventHost).values(of_hosts))
            if await is_topic_wanted(session, Topic.EVENT_CREATED):
                for event_id, _ in made:
                    await tell_webhooks(session, Topic.EVENT_CREATED, await read_event(session, event_id))


async def _drop_known_restarts(session: AsyncSession, events: Sequence[RecordedEvent]) -> list[RecordedEvent]:
    """Return the events without restarts that the stream had before: sar prints each of them once a table."""
    restarts = {event.stream_id for event in events if event.kind is EventKind.REBOOT}
    if not restarts:
        return list(events)
    query = select(EventRow.stream_id, EventRow.start_at).where(
        EventRow.stream_id.in_(restarts), EventRow.kind == EventKind.REBOOT.value
    )
    known = {(stream_id, at) for stream_id, at in (await session.execute(query)).all()}
    kept: list[RecordedEvent] = []
    for event in events:
        key = (event.stream_id, event.at)
        if event.kind is not EventKind.REBOOT or key not in known:
            kept.append(event)
            known.add(key)
    return kept


def cut_text(text: str) -> str:
    """Return the text, cut to the length that events have.

    >>> len(cut_text("x" * 5000)), cut_text("short")
    (2000, 'short')
    """
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


async def forget_host_events(session: AsyncSession, host_id: int) -> None:
    """Delete the events of a host that is being deleted; those that are of other hosts, too, stay for them."""
    of_host = select(EventHost.event_id).where(EventHost.host_id == host_id)
    others = select(EventHost.event_id).where(EventHost.event_id == EventRow.id, EventHost.host_id != host_id).exists()
    await session.execute(delete(EventRow).where(EventRow.id.in_(of_host), ~EventRow.is_for_all_hosts, ~others))
    await session.execute(delete(EventHost).where(EventHost.host_id == host_id))


def _conditions(wanted: EventFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [EventRow.deleted_at.is_(None)]
    if wanted.hosts is not None:
        of_host = select(EventHost.event_id).where(EventHost.event_id == EventRow.id, EventHost.host_id.in_(wanted.hosts))
        found.append(or_(EventRow.is_for_all_hosts, of_host.exists()))
    if wanted.start is not None:
        # The first is in the index; a period that ends where the window starts is outside.
        found.append(func.coalesce(EventRow.end_at, EventRow.start_at) >= wanted.start)
        found.append(or_(EventRow.start_at >= wanted.start, EventRow.end_at > wanted.start))
    if wanted.end is not None:
        found.append(EventRow.start_at < wanted.end)
    if wanted.kinds:
        found.append(EventRow.kind.in_(wanted.kinds))
    if wanted.tags:
        found.append(EventRow.tags.contains(list(wanted.tags)))
    for word in wanted.words:
        in_tags = func.array_to_string(EventRow.tags, "\n")
        found.append(or_(*(column.icontains(word, autoescape=True) for column in (EventRow.text, EventRow.author, in_tags))))
    return found


async def _set_hosts(session: AsyncSession, event_id: int, hosts: Sequence[str] | None) -> None:
    """Store the hosts of an event, locked so that they cannot be deleted in the meantime.

    Raises: NotFound
    """
    if hosts is None:
        return
    query = select(Host.name, Host.id).where(Host.name.in_(hosts)).with_for_update(key_share=True, read=True)
    found = dict((await session.execute(query)).all())
    for name in hosts:
        if name not in found:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    session.add_all(EventHost(event_id=event_id, host_id=host_id) for host_id in found.values())
    await session.flush()


async def _require(session: AsyncSession, event_id: int, *, is_locked: bool = True) -> EventRow:
    row = await session.get(EventRow, event_id, with_for_update=is_locked or None, populate_existing=True)
    if row is None or row.deleted_at is not None:
        raise NotFound(f"There is no event {event_id}; GET /api/v1/events lists them", {"event": event_id})
    return row


async def _to_records(session: AsyncSession, rows: Sequence[EventRow]) -> list[EventRecord]:
    names = await _names_of(session, [row.id for row in rows if not row.is_for_all_hosts])
    verdicts = await read_event_verdicts(session, [row.id for row in rows if row.kind in JUDGED_KINDS])
    return [
        to_record(
            EventRecord,
            row,
            at=row.start_at,
            end=row.end_at,
            not_before=row.not_before_at,
            kind=to_kind(row.kind),
            hosts=None if row.is_for_all_hosts else sorted(names.get(row.id, ())),
            source=EventSource(row.source),
            verdict=verdicts.get(row.id),
        )
        for row in rows
    ]


async def _names_of(session: AsyncSession, ids: Iterable[int]) -> dict[int, list[str]]:
    query = (
        select(EventHost.event_id, func.array_agg(Host.name))
        .join(Host, Host.id == EventHost.host_id)
        .where(EventHost.event_id.in_(list(ids)))
        .group_by(EventHost.event_id)
    )
    return {event_id: list(names) for event_id, names in (await session.execute(query)).all()}


def to_kind(word: str) -> EventKind:
    """Return the kind; a note for one of a later version, of another agent, or one that only artefacts have."""
    return EventKind(word) if word in set(EventKind) - DERIVED_KINDS else EventKind.NOTE
