"""Notes of people on episodes: acknowledge one, or mark it as an incident."""

from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.exclusion_rows import ExclusionCreate, create_exclusion
from normstat.db.schema.watch_models import EpisodeRow
from normstat.errors import Conflict
from normstat.records import episode_rows
from normstat.runtime.body import MAX_NAME_LENGTH
from normstat.samples.lookup import read_host_name
from normstat.watch.watch_lists import EpisodeInfo, to_episode_infos

# A window is half open, and an episode's last report belongs to it.
AFTER_LAST: Final = timedelta(seconds=1)


async def read_episode(session: AsyncSession, episode_id: int) -> EpisodeInfo:
    """Return an episode.

    Raises: NotFound
    """
    return await _to_info(session, await episode_rows.require_episode(session, episode_id))


async def acknowledge_episode(session: AsyncSession, episode_id: int, *, by: str, note: str) -> EpisodeInfo:
    """Return the episode, acknowledged.

    Raises: NotFound
    """
    return await _to_info(session, await episode_rows.acknowledge(session, episode_id, by=by, note=note))


async def take_back_acknowledgement(session: AsyncSession, episode_id: int) -> EpisodeInfo:
    """Return the episode without its acknowledgement and note.

    Raises: NotFound
    """
    return await _to_info(session, await episode_rows.take_back_acknowledgement(session, episode_id))


async def mark_incident(session: AsyncSession, episode_id: int, *, name: str | None, note: str, by: str) -> EpisodeInfo:
    """Return the episode after its time was marked as an incident of its host.

    Raises: NotFound; Conflict when it is one already
    """
    row = await episode_rows.require_episode(session, episode_id)
    if row.exclusion_id is not None:
        raise Conflict(f"Episode {episode_id} is marked as incident {row.exclusion_id} already", {"id": episode_id})
    host = await read_host_name(session, row.host_id)
    title = name or (f"{row.title}: {row.instance}" if row.instance else row.title)
    body = ExclusionCreate(name=title[:MAX_NAME_LENGTH], note=note, start=row.start_at, end=row.last_at + AFTER_LAST, host=host)
    exclusion, _ = await create_exclusion(session, body, by=by)
    await episode_rows.link_exclusion(session, row, exclusion.id)
    return await _to_info(session, row)


async def _to_info(session: AsyncSession, row: EpisodeRow) -> EpisodeInfo:
    [found] = await to_episode_infos(session, [(row, await read_host_name(session, row.host_id))])
    return found
