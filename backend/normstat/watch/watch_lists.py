"""Results of rules: open and past episodes, the states of hosts over time, and the watched hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.artefact_models import ArtefactRow
from normstat.db.schema.models import Host
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.db.schema.watch_models import EpisodeRow, WatchedHost, WatchedState
from normstat.runtime.field_docs import Documented
from normstat.window import Window

MAX_OPEN: Final = 5000
MAX_STATES: Final = 20_000
# An agent that was away for longer takes no evidence of an episode: it would be of another time.
MAX_BEGUN_AGE: Final = timedelta(minutes=5)
# The latest of a host: a hundred disks may become slow at once.
MAX_BEGUN: Final = 8


@dataclass(frozen=True, slots=True)
class SeenValue(Documented):
    """A value that an episode's worst report had."""

    name: str
    """Name of the rule's input."""
    value: float
    unit: str
    text: str
    """The value as people read it: `40 %`, `1.8 GiB/s`."""
    at: datetime


@dataclass(frozen=True, slots=True)
class EpisodeEvidence(Documented):
    """An artefact that the host took as an episode began."""

    id: int
    command: str
    tool: str
    """Empty where no reader knows the text."""


@dataclass(frozen=True, slots=True)
class EpisodeInfo(Documented):
    """A time in which a host, or an instance of it, was amber or worse."""

    id: int
    source: str
    """The rule that found it."""
    source_version: int
    title: str
    host: str | None
    """Null: it concerns this server."""
    instance: str
    start: datetime
    last: datetime
    """The last report that was amber or worse."""
    ended_at: datetime | None
    """When it was known to have ended; null while it lasts."""
    ended_by: str | None
    """fine, unknown, no_samples, withdrawn (late samples disproved it) or rule_off."""
    colour: str
    """The worst state: amber, red or black."""
    sentence: str
    action: str
    saw: list[SeenValue]
    """The values of its worst report."""
    acknowledged_at: datetime | None
    acknowledged_by: str
    note: str
    exclusion_id: int | None
    """The incident that it was marked as."""
    evidence: list[EpisodeEvidence]
    """What the lines `when` of the host's stats.conf took as it began, in their order."""


@dataclass(frozen=True, slots=True)
class EpisodeFilter:
    """Which episodes: of a host, of a rule, that overlap a window, that last. None: any."""

    host: str | None = None
    source: str | None = None
    window: Window | None = None
    is_open: bool | None = None


@dataclass(frozen=True, slots=True)
class WatchedHostInfo:
    """How far rules have judged a host: by rule `until`, `colour`, `lacks` and `version`."""

    name: str
    tags: list[str]
    since: datetime
    judged_at: datetime
    progress: Mapping[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class StateChange(Documented):
    """The worst state of a rule on a host from an instant on."""

    host: str
    source: str
    at: datetime
    colour: int
    """The place in white, blue, green, amber, red, black; -1: unknown."""


async def list_episodes(session: AsyncSession, wanted: EpisodeFilter, *, limit: int, offset: int = 0) -> list[EpisodeInfo]:
    """Return episodes, the latest first."""
    query = select(EpisodeRow, Host.name).outerjoin(Host, Host.id == EpisodeRow.host_id).where(_condition(wanted))
    rows = await session.execute(query.order_by(EpisodeRow.start_at.desc(), EpisodeRow.id.desc()).limit(limit).offset(offset))
    return await to_episode_infos(session, [(row, host) for row, host in rows])


async def read_several_episodes(session: AsyncSession, ids: Sequence[int]) -> list[EpisodeInfo]:
    """Return the episodes with these ids, in no order."""
    query = select(EpisodeRow, Host.name).outerjoin(Host, Host.id == EpisodeRow.host_id).where(EpisodeRow.id.in_(ids))
    return await to_episode_infos(session, [(row, host) for row, host in await session.execute(query)])


async def count_episodes(session: AsyncSession, wanted: EpisodeFilter) -> int:
    """Return the number of episodes."""
    query = select(func.count()).select_from(EpisodeRow).outerjoin(Host, Host.id == EpisodeRow.host_id).where(_condition(wanted))
    return await session.scalar(query) or 0


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """An episode that lasts at a moment, as far as counting needs it. `host` None: it is about this server"""

    source: str
    host: str | None
    tags: list[str]
    instance: str
    colour: str
    is_acknowledged: bool


async def list_open_places(session: AsyncSession, at: datetime | None) -> list[OpenPlace]:
    """Return the episodes that last, at most 5,000, or those that lasted at a moment of the past."""
    is_open: ColumnElement[bool] = EpisodeRow.ended_at.is_(None)
    if at is not None:
        is_valid = or_(is_open, EpisodeRow.ended_by != "withdrawn")
        is_open = and_(EpisodeRow.start_at <= at, or_(is_open, EpisodeRow.last_at >= at), is_valid)
    query = (
        select(
            EpisodeRow.source,
            Host.name,
            Host.tags,
            Host.agent_tags,
            EpisodeRow.instance,
            EpisodeRow.colour,
            EpisodeRow.acknowledged_at.is_not(None),
        )
        .outerjoin(Host, Host.id == EpisodeRow.host_id)
        .where(is_open)
        .order_by(EpisodeRow.id)
        .limit(MAX_OPEN)
    )
    return [
        OpenPlace(source, host, sorted({*(tags or ()), *(own or ())}), instance, colour, is_acknowledged)
        for source, host, tags, own, instance, colour, is_acknowledged in await session.execute(query)
    ]


async def count_by_source(session: AsyncSession, since: datetime) -> dict[str, tuple[int, int]]:
    """Return by rule how many episodes last, and how many began since an instant."""
    is_open = EpisodeRow.ended_at.is_(None)
    query = select(EpisodeRow.source, func.count().filter(is_open), func.count().filter(EpisodeRow.start_at >= since))
    query = query.where(or_(is_open, EpisodeRow.start_at >= since)).group_by(EpisodeRow.source)
    return {source: (n_open, n_new) for source, n_open, n_new in await session.execute(query)}


async def read_last_end(session: AsyncSession) -> datetime | None:
    """Return when a rule was last amber or worse. Missing: None if none ever was"""
    last: datetime | None = await session.scalar(select(func.max(EpisodeRow.last_at)).where(EpisodeRow.ended_by != "withdrawn"))
    return last


async def list_watched_hosts(session: AsyncSession) -> list[WatchedHostInfo]:
    """Return the hosts that rules have judged, by name."""
    query = select(WatchedHost, Host.name, Host.tags, Host.agent_tags).join(Host, Host.id == WatchedHost.host_id)
    query = query.where(Host.id.not_in(select(HostDeletionRow.host_id))).order_by(Host.name)
    return [
        WatchedHostInfo(name, sorted({*tags, *own}), row.since_at, row.judged_at, to_progress(row.progress))
        for row, name, tags, own in await session.execute(query)
    ]


def to_progress(stored: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Return the stored progress of each rule on a host."""
    return {name: own for name, own in stored.items() if isinstance(own, dict)}


async def list_states(
    session: AsyncSession, window: Window, *, hosts: Sequence[str] | None = None, source: str | None = None
) -> list[StateChange]:
    """Return the changes of states in a window, and before them the state at its start; by host, rule and time."""
    wanted: list[ColumnElement[bool]] = []
    if hosts is not None:
        wanted.append(Host.name.in_(hosts))
    if source is not None:
        wanted.append(WatchedState.source == source)
    first = (
        select(Host.name, WatchedState.source, WatchedState.from_at, WatchedState.colour)
        .join(Host, Host.id == WatchedState.host_id)
        .where(WatchedState.from_at <= window.start, *wanted)
        .ext(distinct_on(WatchedState.host_id, WatchedState.source))
        .order_by(WatchedState.host_id, WatchedState.source, WatchedState.from_at.desc())
        .limit(MAX_STATES)
    )
    later = (
        select(Host.name, WatchedState.source, WatchedState.from_at, WatchedState.colour)
        .join(Host, Host.id == WatchedState.host_id)
        .where(WatchedState.from_at > window.start, WatchedState.from_at < window.end, *wanted)
        .order_by(WatchedState.from_at)
        .limit(MAX_STATES)
    )
    found = [*(await session.execute(first)), *(await session.execute(later))]
    changes = [StateChange(host, source, max(at, window.start), colour) for host, source, at, colour in found]
    return sorted(changes, key=lambda change: (change.host, change.source, change.at))


def to_episode_info(row: EpisodeRow, host: str | None, evidence: Sequence[EpisodeEvidence] = ()) -> EpisodeInfo:
    """Return an episode as it is shown."""
    return to_record(
        EpisodeInfo, row, host=host, start=row.start_at, last=row.last_at, saw=to_seen(row.saw), evidence=list(evidence)
    )


async def to_episode_infos(session: AsyncSession, rows: Sequence[tuple[EpisodeRow, str | None]]) -> list[EpisodeInfo]:
    """Return episodes with their evidence, each given with the name of its host."""
    evidence = await read_evidence(session, [row.id for row, _ in rows])
    return [to_episode_info(row, host, evidence.get(row.id, ())) for row, host in rows]


async def read_evidence(session: AsyncSession, episode_ids: Sequence[int]) -> dict[int, list[EpisodeEvidence]]:
    """Return the artefacts that hosts took as these episodes began, in their order."""
    query = (
        select(ArtefactRow.episode_id, ArtefactRow.id, ArtefactRow.command, ArtefactRow.tool)
        .where(ArtefactRow.episode_id.in_(episode_ids), ArtefactRow.deleted_at.is_(None))
        .order_by(ArtefactRow.id)
    )
    found: dict[int, list[EpisodeEvidence]] = {}
    for episode_id, number, command, tool in await session.execute(query):
        if episode_id is not None:
            found.setdefault(episode_id, []).append(EpisodeEvidence(number, command, tool))
    return found


def to_seen(stored: Sequence[Mapping[str, object]]) -> list[SeenValue]:
    """Return stored values of an episode."""
    return [
        SeenValue(
            name=str(item["name"]),
            value=float(str(item["value"])),
            unit=str(item["unit"]),
            text=str(item["text"]),
            at=datetime.fromisoformat(str(item["at"])),
        )
        for item in stored
    ]


def _condition(wanted: EpisodeFilter) -> ColumnElement[bool]:
    parts: list[ColumnElement[bool]] = [EpisodeRow.id > 0]
    if wanted.host is not None:
        parts.append(Host.name == wanted.host)
    if wanted.source is not None:
        parts.append(EpisodeRow.source == wanted.source)
    if wanted.window is not None:
        parts += [EpisodeRow.start_at < wanted.window.end, EpisodeRow.last_at >= wanted.window.start]
    if wanted.is_open is not None:
        parts.append(EpisodeRow.ended_at.is_(None) if wanted.is_open else EpisodeRow.ended_at.is_not(None))
    return and_(*parts)


async def read_begun(session: AsyncSession, now: datetime) -> dict[str, str]:
    """Return by host the episodes that last and were found within MAX_BEGUN_AGE, of reports that are not older.

    `NUMBER/SOURCE` each, the latest first, separated by blanks.
    """
    query = (
        select(Host.name, EpisodeRow.id, EpisodeRow.source)
        .join(Host, Host.id == EpisodeRow.host_id)
        .where(EpisodeRow.ended_at.is_(None), EpisodeRow.found_at > now - MAX_BEGUN_AGE, EpisodeRow.last_at > now - MAX_BEGUN_AGE)
        .order_by(EpisodeRow.id.desc())
    )
    found: dict[str, list[str]] = {}
    for host, number, source in await session.execute(query):
        of_host = found.setdefault(host, [])
        if len(of_host) < MAX_BEGUN:
            of_host.append(f"{number}/{source}")
    return {host: " ".join(items) for host, items in found.items()}
