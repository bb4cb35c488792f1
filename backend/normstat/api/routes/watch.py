"""Watching: the current state, episodes, states over time, mutes."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from fastapi import Depends, Query

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_OPERATOR, NEEDS_VIEWER, IdPath, InWindow, Operator, ReadSession, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.http.row_budgets import makes_rows
from normstat.api.routes.watch_schemas import (
    EpisodeAcknowledge,
    EpisodeIncident,
    EpisodePage,
    WatchMuteList,
    WatchTimeline,
)
from normstat.db import row_budgets
from normstat.db.host_limits import Whole
from normstat.errors import BadRequest, Conflict, NotFound, TooManyRequests
from normstat.runtime.body import NO_NUL, Instant
from normstat.watch import episode_notes, watch_lists, watch_mute_rows
from normstat.watch.open_now import OpenNow, read_open_now
from normstat.watch.watch_lists import EpisodeFilter, EpisodeInfo
from normstat.watch.watch_mute_rows import WatchMuteCreate, WatchMuteRecord
from normstat.watch.watch_now import WatchNow, read_watch_now
from normstat.window import open_window

router = LazyRouter(tags=["watch"])

MAX_OFFSET: Final = 100_000
ENDED_MUTES: Final = timedelta(days=7)
SourceQuery = Annotated[str | None, Query(description="only of this rule", max_length=200, pattern=NO_NUL)]
HostsQuery = Annotated[list[str] | None, Query(alias="host", description="only of these hosts", max_length=100)]


@router.get("/watch", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def read_watch(session: ReadSession) -> WatchNow:
    """Return the current episodes and states, the worst first, and the watched hosts."""
    return await read_watch_now(session, datetime.now(UTC))


@router.get("/watch/open", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def read_open(
    session: ReadSession, at: Annotated[Instant | None, Query(description="the moment; default: now")] = None
) -> OpenNow:
    """Return a summary: the number of entries that are not acknowledged, and the worst state of each host."""
    return await read_open_now(session, at, now=datetime.now(UTC))


@router.get("/watch/timeline", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest))
@open_to_limited()
async def read_timeline(
    session: ReadSession, window: InWindow, hosts: HostsQuery = None, source: SourceQuery = None
) -> WatchTimeline:
    """Return the worst state of each rule on each host over time."""
    changes = await watch_lists.list_states(session, window, hosts=hosts, source=source)
    return WatchTimeline(window.start, window.end, changes)


@router.get("/watch/mutes", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
@open_to_limited()
async def list_watch_mutes(session: ReadSession) -> WatchMuteList:
    """List mutes that last, that are to come, and that ended in the last week."""
    after = datetime.now(UTC) - ENDED_MUTES
    return WatchMuteList(await watch_mute_rows.list_watch_mutes(session, ended_after=after))


@router.post("/watch/mutes", status_code=201, responses=guarded_answers(BadRequest, NotFound, TooManyRequests))
@open_to_limited(needs_host=True)
@makes_rows(row_budgets.WATCH_MUTES)
async def create_watch_mute(body: WatchMuteCreate, principal: Operator, session: WriteSession) -> WatchMuteRecord:
    """Mute episodes of a host, a tag, a rule or an instance for a time: recorded and listed, but not notified."""
    return await watch_mute_rows.create_watch_mute(session, body, by=principal.name)


@router.delete("/watch/mutes/{id}", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited(whole=Whole.WATCH_MUTE)
async def end_watch_mute(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """End a mute now."""
    await watch_mute_rows.end_watch_mute(session, id)
    return Empty()


def read_filter(
    start: Annotated[Instant | None, Query(description="episodes at this instant or later")] = None,
    end: Annotated[Instant | None, Query(description="episodes before this instant")] = None,
    host: Annotated[str | None, Query(description="only of this host", max_length=200, pattern=NO_NUL)] = None,
    source: SourceQuery = None,
    is_open: Annotated[bool | None, Query(description="only those that last, or only those that have ended")] = None,
) -> EpisodeFilter:
    """Return the filter that the parameters ask for.

    Raises: BadRequest for an end before the start
    """
    window = open_window(start, end)
    return EpisodeFilter(host, source, window, is_open)


@router.get("/episodes", dependencies=[NEEDS_VIEWER], responses=guarded_answers(BadRequest))
@open_to_limited()
async def list_episodes(
    session: ReadSession,
    wanted: Annotated[EpisodeFilter, Depends(read_filter)],
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET)] = 0,
) -> EpisodePage:
    """List episodes, the latest first."""
    episodes = await watch_lists.list_episodes(session, wanted, limit=limit, offset=offset)
    return EpisodePage(await watch_lists.count_episodes(session, wanted), episodes)


@router.get("/episodes/{id}", dependencies=[NEEDS_VIEWER], responses=guarded_answers(NotFound))
@open_to_limited()
async def get_episode(id: IdPath, session: ReadSession) -> EpisodeInfo:  # noqa: A002
    """Return an episode."""
    return await episode_notes.read_episode(session, id)


@router.post("/episodes/{id}/acknowledge", responses=guarded_answers(NotFound))
@open_to_limited()
async def acknowledge_episode(
    id: IdPath,  # noqa: A002
    body: EpisodeAcknowledge,
    principal: Operator,
    session: WriteSession,
) -> EpisodeInfo:
    """Acknowledge an episode."""
    return await episode_notes.acknowledge_episode(session, id, by=principal.name, note=body.note)


@router.delete("/episodes/{id}/acknowledge", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(NotFound))
@open_to_limited()
async def take_back_acknowledgement(id: IdPath, session: WriteSession) -> EpisodeInfo:  # noqa: A002
    """Withdraw the acknowledgement of an episode."""
    return await episode_notes.take_back_acknowledgement(session, id)


@router.post("/episodes/{id}/incident", responses=guarded_answers(NotFound, Conflict, TooManyRequests))
@open_to_limited()
@makes_rows(row_budgets.EXCLUSIONS)
async def mark_incident(
    id: IdPath,  # noqa: A002
    body: EpisodeIncident,
    principal: Operator,
    session: WriteSession,
) -> EpisodeInfo:
    """Mark the time of an episode as an incident of its host: baselines leave it out."""
    return await episode_notes.mark_incident(session, id, name=body.name, note=body.note, by=principal.name)
