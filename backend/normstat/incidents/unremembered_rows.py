"""Episodes and exclusions that are over and have no signature yet."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, SelectBase, and_, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.baseline_models import Exclusion
from normstat.db.schema.incident_models import PastIncidentRow
from normstat.db.schema.models import Host
from normstat.db.schema.watch_models import EpisodeRow
from normstat.records.episode_rows import WITHDRAWN
from normstat.window import Window

# What was over longer ago when a server first looks is history.
LOOK_BACK: Final = timedelta(days=7)
# A rule that finds the same again and again is remembered once in this time for a host.
APART: Final = timedelta(hours=1)
# An incident is what it was when it began: a longer window would mix it with what followed. A shorter one has too few samples.
MAX_LENGTH: Final = timedelta(minutes=30)
MIN_LENGTH: Final = timedelta(minutes=1)
MAX_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class PendingIncident:
    """An incident whose signature is not known yet."""

    id: int
    host: str
    window: Window


def select_pending_incidents() -> Select[int]:
    """Return the query of incidents whose signature is not known yet, for `DueWork`."""
    return select(PastIncidentRow.id).where(PastIncidentRow.computed_at.is_(None), PastIncidentRow.n_tries < MAX_TRIES)


def select_unplanned() -> tuple[Select[EpisodeRow, str], Select[Exclusion, str]]:
    """Return the queries of episodes and of exclusions that are over and not noted, each with the name of its host."""
    episodes = select(EpisodeRow, Host.name).join(Host, Host.id == EpisodeRow.host_id).where(*_unremembered())
    remembered = select(PastIncidentRow.id).where(PastIncidentRow.exclusion_id == Exclusion.id).exists()
    exclusions = select(Exclusion, Host.name).join(Host, Host.id == Exclusion.host_id)
    exclusions = exclusions.where(Exclusion.end_at <= func.now(), Exclusion.created_at > func.now() - LOOK_BACK, ~remembered)
    return episodes, exclusions


async def has_any(session: AsyncSession, queries: Iterable[SelectBase]) -> bool:
    """Return whether one of the queries has a row."""
    return bool(await session.scalar(select(or_(*(query.exists() for query in queries)))))


async def plan_incidents(session: AsyncSession, *, limit: int) -> None:
    """Note episodes and exclusions of one host that are over, so that their signatures are computed."""
    episodes, exclusions = select_unplanned()
    episodes = episodes.order_by(EpisodeRow.start_at, EpisodeRow.id).limit(limit)
    planned: set[tuple[str, str]] = set()
    for episode, host in (await session.execute(episodes)).all():
        # The next round sees what this one plans.
        if (episode.source, host) in planned:
            continue
        planned.add((episode.source, host))
        await _plan(
            session,
            host,
            Window(episode.start_at, episode.ended_at or episode.last_at),
            episode.sentence or episode.title,
            episode_id=episode.id,
        )
    for exclusion, host in (await session.execute(exclusions.order_by(Exclusion.id).limit(limit))).all():
        await _plan(session, host, Window(exclusion.start_at, exclusion.end_at), exclusion.name, exclusion_id=exclusion.id)


async def list_pending_incidents(session: AsyncSession, *, limit: int) -> list[PendingIncident]:
    """Return incidents whose signatures are to be computed, the oldest first."""
    past = PastIncidentRow
    rows = await session.scalars(select(past).where(past.id.in_(select_pending_incidents())).order_by(past.id).limit(limit))
    return [PendingIncident(row.id, row.hosts[0], Window(row.start_at, row.end_at)) for row in rows]


async def note_incident_try(session: AsyncSession, past_id: int) -> None:
    """Count a try before it is made, so that one that ends the process is counted, too."""
    past = PastIncidentRow
    await session.execute(update(past).where(past.id == past_id).values(n_tries=past.n_tries + 1))


async def store_signature(session: AsyncSession, past_id: int, signature: Mapping[str, float], sentence: str) -> None:
    """Store what was found of an incident. Without a signature it is like no other."""
    values = {"signature": dict(signature), "sentence": sentence, "computed_at": func.now()}
    await session.execute(update(PastIncidentRow).where(PastIncidentRow.id == past_id).values(values))


async def _plan(session: AsyncSession, host: str, window: Window, title: str, **origin: int) -> None:
    end = min(max(window.end, window.start + MIN_LENGTH), window.start + MAX_LENGTH)
    values = {"hosts": [host], "start_at": window.start, "end_at": end, "title": title, **origin}
    await session.execute(insert(PastIncidentRow).values(values).on_conflict_do_nothing())


def _unremembered() -> list[ColumnElement[bool]]:
    """Return the conditions of episodes of hosts that are over, and that nothing remembers."""
    past, other = PastIncidentRow, EpisodeRow.__table__.alias()
    own = select(past.id).where(past.episode_id == EpisodeRow.id).exists()
    same = and_(other.c.source == EpisodeRow.source, other.c.host_id == EpisodeRow.host_id)
    near = and_(other.c.start_at > EpisodeRow.start_at - APART, other.c.start_at <= EpisodeRow.start_at)
    like_it = select(past.id).join(other, other.c.id == past.episode_id).where(same, near).exists()
    return [
        EpisodeRow.host_id.is_not(None),
        EpisodeRow.ended_at.is_not(None),
        or_(EpisodeRow.ended_by.is_(None), EpisodeRow.ended_by != literal(WITHDRAWN)),
        EpisodeRow.start_at > func.now() - LOOK_BACK,
        ~own,
        ~like_it,
    ]
