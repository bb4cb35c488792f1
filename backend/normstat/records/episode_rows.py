"""Stored episodes, and how a rule's fresh findings replace its earlier ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson
from sqlalchemy import and_, func, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.named_rows import require_row
from normstat.db.schema.watch_models import EpisodeRow

WITHDRAWN: Final = "withdrawn"
# The source of the episodes that the continuous comparison finds; the others are rules.
CONTINUOUS: Final = "comparison"
COLUMNS: Final = (
    "source", "source_version", "instance", "start_at", "last_at", "ended_at", "ended_by", "colour", "worst_at", "title",
    "sentence", "action",
)  # fmt: skip
CLEAR_LATE: Final = text("""
    UPDATE stream_changes AS c SET late_from = NULL FROM unnest(CAST(:ids AS int8[]), CAST(:counts AS int8[])) AS seen(id, n_late)
    WHERE c.stream_id = seen.id AND c.n_late = seen.n_late
""")


# The last state before an instant and all from it on, for each host and source: reads no others.
READ_STATES: Final = text("""
    SELECT wanted.host_id, wanted.source, state.from_at, state.colour
    FROM unnest(CAST(:host_ids AS int8[]), CAST(:sources AS text[]), CAST(:firsts AS timestamptz[]))
        AS wanted(host_id, source, first_at)
    CROSS JOIN LATERAL (
        (
            SELECT from_at, colour FROM watched_states
            WHERE host_id = wanted.host_id AND source = wanted.source AND from_at < wanted.first_at
            ORDER BY from_at DESC LIMIT 1
        )
        UNION ALL
        SELECT from_at, colour FROM watched_states
        WHERE host_id = wanted.host_id AND source = wanted.source AND from_at >= wanted.first_at
    ) AS state
""")
DELETE_STATES: Final = text("""
    DELETE FROM watched_states AS s
    USING unnest(CAST(:host_ids AS int8[]), CAST(:sources AS text[]), CAST(:afters AS timestamptz[])) AS old(host_id, source, after)
    WHERE s.host_id = old.host_id AND s.source = old.source AND s.from_at >= old.after
""")
ADD_STATES: Final = text("""
    INSERT INTO watched_states (host_id, source, from_at, colour) SELECT * FROM unnest(
        CAST(:host_ids AS int8[]), CAST(:sources AS text[]), CAST(:ats AS timestamptz[]), CAST(:colours AS int2[])
    )
""")
# Objects are one JSON array: as an array of texts each of their quotes would be escaped here, and read back there.
SAVE_PROGRESS: Final = text("""
    INSERT INTO watched_hosts (host_id, progress, judged_at)
    SELECT host_id, progress, :now FROM ROWS FROM (
        unnest(CAST(:host_ids AS int8[])), jsonb_array_elements(CAST(:progress AS jsonb))
    ) AS seen(host_id, progress)
    ON CONFLICT (host_id) DO UPDATE SET progress = excluded.progress, judged_at = excluded.judged_at
""")


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """An episode as a source found it: a rule, or anything else that watches."""

    source: str
    source_version: int
    instance: str
    start_at: datetime
    last_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    colour: str
    worst_at: datetime
    title: str
    sentence: str
    action: str
    saw: Sequence[Mapping[str, object]]


async def read_episodes_after(
    session: AsyncSession, host_id: int | None, sources: Iterable[str], after: datetime
) -> list[EpisodeRow]:
    """Return the episodes of a host (None: of this server) by these sources that had not ended at an instant."""
    query = select(EpisodeRow).where(
        EpisodeRow.host_id.is_not_distinct_from(host_id),
        EpisodeRow.source.in_(list(sources)),
        or_(EpisodeRow.ended_at.is_(None), EpisodeRow.ended_at > after, EpisodeRow.start_at >= after),
    )
    return list(await session.scalars(query.order_by(EpisodeRow.start_at, EpisodeRow.id)))


async def read_episodes_of_hosts(session: AsyncSession, afters: Mapping[int, datetime]) -> dict[int, list[EpisodeRow]]:
    """Return the episodes of hosts that had not ended at an instant, which each host (by its id) has of its own."""
    if not afters:
        return {}
    first = min(afters.values())
    query = select(EpisodeRow).where(
        EpisodeRow.host_id.in_(list(afters)),
        or_(EpisodeRow.ended_at.is_(None), EpisodeRow.ended_at > first, EpisodeRow.start_at >= first),
    )
    found: dict[int, list[EpisodeRow]] = {}
    for row in await session.scalars(query.order_by(EpisodeRow.start_at, EpisodeRow.id)):
        assert row.host_id is not None
        if has_not_ended(row, afters[row.host_id]):
            found.setdefault(row.host_id, []).append(row)
    return found


def has_not_ended(row: EpisodeRow, after: datetime) -> bool:
    """Return whether an episode had not ended at an instant."""
    return row.ended_at is None or row.ended_at > after or row.start_at >= after


async def read_all_episodes_after(session: AsyncSession, source: str, after: datetime) -> list[EpisodeRow]:
    """Return the episodes of all hosts by a source that had not ended at an instant."""
    query = select(EpisodeRow).where(EpisodeRow.source == source, or_(EpisodeRow.ended_at.is_(None), EpisodeRow.ended_at > after))
    return list(await session.scalars(query.order_by(EpisodeRow.start_at, EpisodeRow.id)))


async def read_episodes_at(session: AsyncSession, source: str, at: datetime) -> list[EpisodeRow]:
    """Return the episodes of all hosts by a source that lasted at an instant, the newest first."""
    query = select(EpisodeRow).where(
        EpisodeRow.source == source,
        EpisodeRow.start_at <= at,
        or_(EpisodeRow.ended_at.is_(None), EpisodeRow.ended_at > at),
    )
    return list(await session.scalars(query.order_by(EpisodeRow.start_at.desc(), EpisodeRow.id.desc())))


async def read_open_episodes(session: AsyncSession, sources: Sequence[str]) -> list[EpisodeRow]:
    """Return the episodes by these sources that last, of all hosts and of this server."""
    query = select(EpisodeRow).where(EpisodeRow.source.in_(sources), EpisodeRow.ended_at.is_(None))
    return list(await session.scalars(query.order_by(EpisodeRow.id)))


async def replace_episodes(
    session: AsyncSession,
    host_id: int | None,
    source: str,
    found: Sequence[FoundEpisode],
    *,
    after: datetime,
    now: datetime,
    known: Sequence[EpisodeRow] | None = None,
) -> None:
    """Make the stored episodes of a source from an instant on those that were found. `known`: the stored ones that had not ended by
    then, where they were read in this session already.

    An episode that is found again keeps its row, also where late samples moved its start; one that is not found any more ends as
    withdrawn.
    """
    left = list(known) if known is not None else await read_episodes_after(session, host_id, [source], after)
    missing = []
    for episode in found:
        exact = next((row for row in left if row.instance == episode.instance and row.start_at == episode.start_at), None)
        if exact is None:
            missing.append(episode)
        else:
            left.remove(exact)
            _update(exact, episode)
    for episode in missing:
        moved = next((row for row in left if row.instance == episode.instance and _overlap(row, episode)), None)
        if moved is None:
            values = {name: getattr(episode, name) for name in COLUMNS}
            session.add(EpisodeRow(host_id=host_id, **(values | {"saw": [dict(item) for item in episode.saw]})))
        else:
            left.remove(moved)
            _update(moved, episode)
    for row in left:
        if row.start_at >= after and row.ended_by != WITHDRAWN:
            row.ended_at, row.ended_by = now, WITHDRAWN
    await session.flush()


def _overlap(row: EpisodeRow, episode: FoundEpisode) -> bool:
    return row.start_at <= episode.last_at and episode.start_at <= row.last_at


def _update(row: EpisodeRow, episode: FoundEpisode) -> None:
    for name in COLUMNS:
        if getattr(row, name) != getattr(episode, name):
            setattr(row, name, getattr(episode, name))
    saw = [dict(item) for item in episode.saw]
    if row.saw != saw:
        row.saw = saw


async def end_episodes(session: AsyncSession, source: str, *, by: str, now: datetime) -> None:
    """End all episodes of a source that last."""
    is_open = and_(EpisodeRow.source == source, EpisodeRow.ended_at.is_(None))
    await session.execute(update(EpisodeRow).where(is_open).values(ended_at=now, ended_by=by))


@dataclass(frozen=True, slots=True)
class HostProgress:
    """How far rules have judged a host, by rule; `late`: by stream, how often samples had come late when they were judged."""

    host_id: int
    progress: Mapping[str, Mapping[str, object]]
    late: Mapping[int, int]


async def save_progress(session: AsyncSession, judged: Sequence[HostProgress], *, now: datetime) -> None:
    """Store how far rules have judged hosts, and that late samples were judged unless more came since."""
    arguments = {
        "host_ids": [own.host_id for own in judged],
        "progress": orjson.dumps([own.progress for own in judged]).decode(),
        "now": now,
    }
    await session.execute(SAVE_PROGRESS, arguments)
    late = {stream_id: n for own in judged for stream_id, n in own.late.items()}
    if late:
        await session.execute(CLEAR_LATE, {"ids": list(late), "counts": list(late.values())})


@dataclass(frozen=True, slots=True)
class StoredStates:
    """The states of a source on a host from an instant on, as (instant, colour), and the colour before. Missing: None without it"""

    before: int | None
    later: Sequence[tuple[datetime, int]]


async def read_states(session: AsyncSession, firsts: Mapping[tuple[int, str], datetime]) -> dict[tuple[int, str], StoredStates]:
    """Return the stored states by host and source, each from its own instant on; one statement for all of them."""
    if not firsts:
        return {}
    arguments = {
        "host_ids": [host_id for host_id, _ in firsts],
        "sources": [source for _, source in firsts],
        "firsts": list(firsts.values()),
    }
    before: dict[tuple[int, str], int] = {}
    later: dict[tuple[int, str], list[tuple[datetime, int]]] = {}
    for host_id, source, from_at, colour in await session.execute(READ_STATES, arguments):
        place = host_id, source
        if from_at < firsts[place]:
            before[place] = colour
        else:
            later.setdefault(place, []).append((from_at, colour))
    return {place: StoredStates(before.get(place), sorted(later.get(place, ()))) for place in firsts}


@dataclass(frozen=True, slots=True)
class FoundStates:
    """The states of a source on a host from an instant on: (instant, colour) pairs in ascending order."""

    host_id: int
    source: str
    after: datetime
    changes: Sequence[tuple[datetime, int]]


async def replace_states(
    session: AsyncSession, found: Sequence[FoundStates], stored: Mapping[tuple[int, str], StoredStates]
) -> None:
    """Make the stored states those that were found, each from its own instant on. Nearly all are so already."""
    replaced: list[FoundStates] = []
    rows: list[tuple[int, str, datetime, int]] = []
    for own in found:
        known = stored[own.host_id, own.source]
        wanted: list[tuple[datetime, int]] = []
        for at, colour in own.changes:
            if colour != (wanted[-1][1] if wanted else known.before):
                wanted.append((at, colour))
        if wanted != known.later:
            replaced.append(own)
            rows += [(own.host_id, own.source, at, colour) for at, colour in wanted]
    if replaced:
        places = {"host_ids": [own.host_id for own in replaced], "sources": [own.source for own in replaced]}
        await session.execute(DELETE_STATES, places | {"afters": [own.after for own in replaced]})
    if rows:
        columns = zip(("host_ids", "sources", "ats", "colours"), map(list, zip(*rows, strict=True)), strict=True)
        await session.execute(ADD_STATES, dict(columns))


async def acknowledge(session: AsyncSession, episode_id: int, *, by: str, note: str) -> EpisodeRow:
    """Return the episode, acknowledged.

    Raises: NotFound
    """
    row = await require_episode(session, episode_id)
    row.acknowledged_by, row.note = by, note
    row.acknowledged_at = await session.scalar(select(func.now()))
    await session.flush()
    return row


async def take_back_acknowledgement(session: AsyncSession, episode_id: int) -> EpisodeRow:
    """Return the episode without its acknowledgement.

    Raises: NotFound
    """
    row = await require_episode(session, episode_id)
    row.acknowledged_at, row.acknowledged_by, row.note = None, "", ""
    await session.flush()
    return row


async def require_episode(session: AsyncSession, episode_id: int) -> EpisodeRow:
    """Return an episode.

    Raises: NotFound
    """
    return await require_row(session, EpisodeRow, episode_id, what="episode", listed_at="/api/v1/episodes")


async def link_exclusion(session: AsyncSession, row: EpisodeRow, exclusion_id: int) -> None:
    """Note which incident an episode was marked as."""
    row.exclusion_id = exclusion_id
    await session.flush()
