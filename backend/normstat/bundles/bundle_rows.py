"""What a bundle takes of the rows of a host, and what it puts back: streams and their lines in a window, baselines with versions,
exclusions, saved comparisons, events.
"""

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import psycopg
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.baseline_records import to_ranges, to_windows
from normstat.baselines.baseline_versions import ask_for_profile, lock_baselines
from normstat.db.schema.artefact_models import ArtefactRow
from normstat.db.schema.baseline_models import Baseline, BaselineHost, BaselineVersion, Exclusion, SavedComparisonRow
from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import AgentToken, Host, StatTable, Stream, User, UserSpec
from normstat.db.schema.retention_models import StoreIdentity, StreamChange
from normstat.db.session import WriteSession, driver_of
from normstat.errors import NotFound
from normstat.records.artefact_rows import Artefact, ArtefactFilter, list_artefacts, read_artefact_row
from normstat.samples.sample_pages import load_sql
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.window import Window

# How far around a window the reports of a stream are looked for: first near it, where nearly all of them are.
NEAR: Final = timedelta(minutes=10)
FAR: Final = timedelta(hours=26)


@dataclass(frozen=True, slots=True)
class StreamReport:
    """The samples of a stream at one instant: the first and the last of their lines."""

    at: datetime
    first_offset: int
    last_offset: int


async def read_server_id(session: AsyncSession) -> str:
    """Return the number of this database, which no other one has."""
    return str((await session.scalars(select(StoreIdentity.id))).one())


async def list_streams_in(
    session: AsyncSession, host_id: int, windows: Sequence[Window], whole_specs: Sequence[str]
) -> Sequence[Stream]:
    """Return the streams of a host that have samples or events in one of the windows, and those of `whole_specs`, oldest first."""
    told = select(EventRow.stream_id).where(
        EventRow.stream_id == Stream.id, or_(*(_overlaps(EventRow.start_at, EventRow.start_at, window) for window in windows))
    )
    has_samples = or_(*(_overlaps(Stream.first_sample_at, Stream.last_sample_at, window) for window in windows))
    query = select(Stream).where(Stream.host_id == host_id, or_(has_samples, Stream.spec.in_(whole_specs), told.exists()))
    return (await session.scalars(query.order_by(Stream.id).execution_options(populate_existing=True))).all()


async def list_streams_like(session: AsyncSession, host_id: int, spec: str, origin: str) -> Sequence[Stream]:
    """Return the streams of a host whose key has this part."""
    query = select(Stream).where(Stream.host_id == host_id, Stream.spec == spec, Stream.key.contains(origin, autoescape=True))
    return (await session.scalars(query.order_by(Stream.id).execution_options(populate_existing=True))).all()


async def read_kept_from(session: AsyncSession, stream_id: int) -> int:
    """Return the first offset of a stream whose raw bytes retention has kept."""
    return await session.scalar(select(StreamChange.kept_from).where(StreamChange.stream_id == stream_id)) or 0


async def list_event_offsets(session: AsyncSession, stream_id: int, window: Window) -> list[int]:
    """Return the lines of a stream that tell an event of the window."""
    query = select(EventRow.line_offset).where(
        EventRow.stream_id == stream_id, _overlaps(EventRow.start_at, EventRow.start_at, window)
    )
    return [offset for offset in await session.scalars(query) if offset is not None]


async def reports_before(
    session: AsyncSession, stream: Stream, instant: datetime, n: int, stat: str | None = None
) -> list[StreamReport]:
    """Return the last `n` reports of a stream, or of one of its stats, before an instant, the last first."""
    first = stream.first_sample_at
    if first is None or first >= instant:
        return []
    stats = stream.stat_names if stat is None else [stat]
    for start in sorted({max(first, instant - NEAR), max(first, instant - FAR), first}, reverse=True):
        found = await _read_reports(session, stream, Window(start, instant), n, stats, is_backwards=True)
        if len(found) >= n:
            return found
    return found


async def reports_after(
    session: AsyncSession, stream: Stream, instant: datetime, n: int, stat: str | None = None
) -> list[StreamReport]:
    """Return the first `n` reports of a stream, or of one of its stats, from an instant on."""
    last = stream.last_sample_at
    if last is None or last < instant:
        return []
    end = last + timedelta(microseconds=1)
    stats = stream.stat_names if stat is None else [stat]
    for until in sorted({min(end, instant + NEAR), min(end, instant + FAR), end}):
        found = await _read_reports(session, stream, Window(instant, until), n, stats, is_backwards=False)
        if len(found) >= n:
            return found
    return found


async def first_line_of(session: AsyncSession, stream: Stream) -> int:
    """Return where the first sample of a stream stands: headers that a tool prints once are before it."""
    if stream.first_sample_at is None:
        return 0
    window = Window(stream.first_sample_at, stream.first_sample_at + timedelta(microseconds=1))
    found = await _read_reports(session, stream, window, 1, stream.stat_names, is_backwards=False)
    return found[0].first_offset if found else 0


async def _read_reports(
    session: AsyncSession, stream: Stream, window: Window, n: int, stats: Sequence[str], *, is_backwards: bool
) -> list[StreamReport]:
    tables = await session.scalars(select(StatTable.name).where(StatTable.name.in_(stats)))
    connection = await driver_of(session)
    found: dict[datetime, tuple[int, int]] = {}
    for table in tables.all():
        for at, first, last in await _reports_of(connection, stream, table, window, n, is_backwards=is_backwards):
            known = found.get(at, (first, last))
            found[at] = (min(first, known[0]), max(last, known[1]))
    times = sorted(found, reverse=is_backwards)[:n]
    return [StreamReport(at, *found[at]) for at in times]


async def _reports_of(
    connection: psycopg.AsyncConnection[tuple[object, ...]],
    stream: Stream,
    table: str,
    window: Window,
    n: int,
    *,
    is_backwards: bool,
) -> list[tuple[datetime, int, int]]:
    source = await open_source(connection, SealedQuery(stream.host_id, table, window, has_lines=True))
    statement = load_sql("reports_before" if is_backwards else "reports_after").format(table=source.table)
    asked = {"host_id": stream.host_id, "stream_id": stream.id, "start": window.start, "end": window.end, "n": n}
    cursor = await connection.execute(statement, {**asked, **source.parameters}, prepare=False)
    return [
        (at, int(str(first)), int(str(last))) for at, first, last in await cursor.fetchall() if isinstance(at, datetime)
    ]  # fmt: skip


# --- what people wrote ---


async def list_baselines_of(
    session: AsyncSession, host_id: int, windows: Sequence[Window], names: Sequence[str], named: Set[int] = frozenset()
) -> list[tuple[Baseline, list[BaselineVersion]]]:
    """Return the baselines of a host that overlap the windows, or have one of the names or ids, with versions; no rolling one."""
    overlaps = [Baseline.windows.bool_op("&&")(func.tstzrange(window.start, window.end)) for window in windows]
    own = select(BaselineHost.baseline_id).where(BaselineHost.host_id == host_id)
    query = (
        select(Baseline)
        .where(
            Baseline.id.in_(own),
            Baseline.rolling_host_id.is_(None),
            or_(Baseline.name.in_(names), Baseline.id.in_(named), *overlaps),
        )
        .order_by(Baseline.id)
        .execution_options(populate_existing=True)
    )
    found = []
    for baseline in (await session.scalars(query)).all():
        versions = select(BaselineVersion).where(BaselineVersion.baseline_id == baseline.id).order_by(BaselineVersion.version)
        found.append((baseline, list((await session.scalars(versions)).all())))
    return found


async def windows_of_baselines(session: AsyncSession, host_id: int, names: Sequence[str]) -> dict[str, list[Window]]:
    """Return the windows of the baselines of a host that have one of these names, by name."""
    if not names:
        return {}
    found = await list_baselines_of(session, host_id, [], names)
    return {baseline.name: to_windows(baseline.windows) for baseline, _ in found}


async def put_baseline(
    session: WriteSession, host_id: int, row: Mapping[str, Any], versions: Sequence[Mapping[str, Any]]
) -> int | None:
    """Store a baseline of one host as it was, with its versions; return its id. Missing: None when its name is taken.

    The host of the versions is named as it is in them: they are history.
    """
    await lock_baselines(session)
    if await session.scalar(select(Baseline.id).where(Baseline.name == row["name"])) is not None:
        return None
    baseline = Baseline(**{**row, "windows": to_ranges(row["windows"])})
    session.add(baseline)
    await session.flush()
    session.add(BaselineHost(baseline_id=baseline.id, host_id=host_id))
    session.add_all(
        BaselineVersion(baseline_id=baseline.id, **{**version, "windows": to_ranges(version["windows"])}) for version in versions
    )
    await session.flush()
    if baseline.archived_at is None:
        await ask_for_profile(session, baseline.id, [host_id])
    return baseline.id


async def find_baseline_id(session: AsyncSession, name: str, host_id: int, windows: Sequence[Window]) -> int | None:
    """Return the baseline of that name when it is of this host and has these windows."""
    query = (
        select(Baseline)
        .join(BaselineHost, BaselineHost.baseline_id == Baseline.id)
        .where(Baseline.name == name, BaselineHost.host_id == host_id)
    )
    found = (await session.scalars(query)).first()
    return found.id if found is not None and to_windows(found.windows) == list(windows) else None


async def list_author_names(session: AsyncSession) -> frozenset[str]:
    """Return the names of the accounts and agent tokens, revoked ones, too."""
    return frozenset(await session.scalars(select(User.name).union(select(AgentToken.name))))


async def list_exclusions_in(session: AsyncSession, host_id: int, windows: Sequence[Window]) -> Sequence[Exclusion]:
    """Return the exclusions of a host, also those of all hosts, that overlap the windows."""
    query = select(Exclusion).where(
        or_(Exclusion.host_id.is_(None), Exclusion.host_id == host_id),
        or_(*((Exclusion.start_at < window.end) & (Exclusion.end_at > window.start) for window in windows)),
    )
    return (await session.scalars(query.order_by(Exclusion.id))).all()


async def put_exclusion(session: WriteSession, host_id: int, row: Mapping[str, Any]) -> bool:
    """Store an exclusion for one host; return whether it is new."""
    same = select(Exclusion.id).where(
        Exclusion.name == row["name"],
        Exclusion.start_at == row["start_at"],
        Exclusion.end_at == row["end_at"],
        or_(Exclusion.host_id.is_(None), Exclusion.host_id == host_id),
    )
    if (await session.scalars(same)).first() is not None:
        return False
    session.add(Exclusion(**row, host_id=host_id))
    await session.flush()
    return True


async def list_events_in(session: AsyncSession, host_id: int, windows: Sequence[Window]) -> Sequence[EventRow]:
    """Return the events of a host in the windows, also those of all hosts, and the lines of streams that people deleted."""
    of_host = select(EventHost.event_id).where(EventHost.event_id == EventRow.id, EventHost.host_id == host_id)
    last = func.coalesce(EventRow.end_at, EventRow.start_at)
    query = select(EventRow).where(
        or_(EventRow.is_for_all_hosts, of_host.exists()),
        or_(*(_overlaps(EventRow.start_at, last, window) for window in windows)),
        or_(
            EventRow.stream_id.is_(None) & EventRow.deleted_at.is_(None),
            EventRow.stream_id.is_not(None) & EventRow.deleted_at.is_not(None),
        ),
    )
    return (await session.scalars(query.order_by(EventRow.id))).all()


async def put_event(session: WriteSession, host_id: int, row: Mapping[str, Any]) -> bool:
    """Store an event of one host; return whether it is new."""
    of_host = select(EventHost.event_id).where(EventHost.event_id == EventRow.id, EventHost.host_id == host_id)
    same = select(EventRow.id).where(
        EventRow.start_at == row["start_at"],
        EventRow.end_at.is_not_distinct_from(row["end_at"]),
        EventRow.kind == row["kind"],
        EventRow.text == row["text"],
        or_(EventRow.is_for_all_hosts, of_host.exists()),
    )
    if (await session.scalars(same)).first() is not None:
        return False
    event = EventRow(**row)
    session.add(event)
    await session.flush()
    session.add(EventHost(event_id=event.id, host_id=host_id))
    await session.flush()
    return True


async def delete_told_event(session: WriteSession, stream_ids: Sequence[int], line_offset: int, deleted_at: datetime) -> None:
    """Mark an event from a line of one of these streams as deleted, as it was at its origin."""
    query = select(EventRow).where(EventRow.stream_id.in_(stream_ids), EventRow.line_offset == line_offset)
    for event in (await session.scalars(query)).all():
        event.deleted_at = deleted_at
    await session.flush()


async def list_comparisons_of(
    session: AsyncSession, host: str, windows: Sequence[Window], named: Set[int] = frozenset()
) -> Sequence[SavedComparisonRow]:
    """Return the saved comparisons of a host whose incident overlaps the windows, and those of the ids `named`."""
    query = select(SavedComparisonRow).where(SavedComparisonRow.inputs["host"].contains([host])).order_by(SavedComparisonRow.id)
    return [row for row in (await session.scalars(query)).all() if row.id in named or _is_in(row.inputs, windows)]


def _is_in(inputs: Mapping[str, Any], windows: Sequence[Window]) -> bool:
    try:
        start, end = (datetime.fromisoformat(str(inputs[key])) for key in ("start", "end"))
    except (KeyError, ValueError):
        return False
    return any(start < window.end and end > window.start for window in windows)


async def put_comparison(session: WriteSession, row: Mapping[str, Any]) -> tuple[int, bool]:
    """Store a saved comparison as it was; return its id, and whether it is new."""
    same = select(SavedComparisonRow.id).where(
        SavedComparisonRow.name == row["name"], SavedComparisonRow.created_at == row["created_at"]
    )
    known = (await session.scalars(same)).first()
    if known is not None:
        return known, False
    saved = SavedComparisonRow(**row)
    session.add(saved)
    await session.flush()
    return saved.id, True


async def list_artefacts_in(
    session: AsyncSession, host: str, windows: Sequence[Window], named: Set[int] = frozenset()
) -> list[Artefact]:
    """Return the artefacts of a host that overlap the windows, and those of the ids `named`, oldest first."""
    found: dict[int, Artefact] = {}
    for window in windows:
        offset = 0
        while True:
            wanted = ArtefactFilter(hosts=(host,), start=window.start, end=window.end)
            page = await list_artefacts(session, wanted, limit=500, offset=offset)
            found |= {artefact.id: artefact for artefact in page.artefacts}
            offset += len(page.artefacts)
            if not page.artefacts or offset >= page.n_total:
                break
    for artefact_id in named - found.keys():
        with suppress(NotFound):
            artefact = await read_artefact_row(session, artefact_id)
            if artefact.host == host:
                found[artefact.id] = artefact
    return sorted(found.values(), key=lambda artefact: artefact.id)


async def set_artefact_origin(session: WriteSession, artefact_id: int, values: Mapping[str, Any]) -> None:
    """Set what reading the text again cannot tell: when it was kept, and what people changed."""
    row = await session.get(ArtefactRow, artefact_id, populate_existing=True)
    assert row is not None
    for name, value in values.items():
        setattr(row, name, value)
    await session.flush()


async def read_user_spec_texts(session: AsyncSession, names: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return the user specs of these names: name, text, version."""
    query = select(UserSpec.name, UserSpec.toml, UserSpec.version).where(UserSpec.name.in_(names)).order_by(UserSpec.name)
    return [(name, toml, version) for name, toml, version in await session.execute(query)]


async def find_host_id(session: AsyncSession, name: str) -> int | None:
    """Return the id of a host. Missing: None when there is none of that name"""
    return await session.scalar(select(Host.id).where(Host.name == name))


async def add_bundle_host(session: WriteSession, name: str, os: str, tags: Sequence[str]) -> None:
    """Make the host, if it is not here."""
    values = {"name": name, "os": os, "tags": [tag for tag in tags if tag]}
    await session.execute(insert(Host).values(values).on_conflict_do_nothing(index_elements=["name"]))


def _overlaps(first: Any, last: Any, window: Window) -> Any:
    return (first < window.end) & (last >= window.start)
