"""The times of artefacts, and how much each tool disturbed its host: for events, comparisons and baselines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.artefact_models import ArtefactRow
from normstat.db.schema.models import Host
from normstat.stats.observer_effect import Effect
from normstat.window import Window

MAX_ARTEFACTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class ArtefactTime:
    """One artefact, without its text. `end` is `start` where only its moment is known."""

    id: int
    host: str
    start: datetime
    end: datetime
    tool: str
    effect: Effect
    title: str
    question: str
    command: str
    file_name: str
    author: str

    @property
    def window(self) -> Window | None:
        """From start to end. Missing: None where only its moment is known."""
        return Window(self.start, self.end) if self.end > self.start else None


async def read_artefact_times(
    session: AsyncSession,
    host_ids: Sequence[int] | None,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    effects: Sequence[Effect] = tuple(Effect),
    limit: int = MAX_ARTEFACTS,
) -> list[ArtefactTime]:
    """Return the artefacts of hosts (None: of all) that overlap a time, oldest first; of too many, the latest. One statement."""
    last = func.coalesce(ArtefactRow.end_at, ArtefactRow.start_at)
    query = (
        select(
            ArtefactRow.id, Host.name, ArtefactRow.start_at, last, ArtefactRow.tool, ArtefactRow.effect, ArtefactRow.title,
            ArtefactRow.question, ArtefactRow.command, ArtefactRow.file_name, ArtefactRow.author,
        )
        .join(Host, Host.id == ArtefactRow.host_id)
        .where(ArtefactRow.deleted_at.is_(None), ~Host.name.contains(" "), ArtefactRow.effect.in_(list(effects)))
        .order_by(ArtefactRow.start_at.desc(), ArtefactRow.id.desc())
        .limit(limit)
    )  # fmt: skip
    if host_ids is not None:
        query = query.where(ArtefactRow.host_id.in_(host_ids))
    if start is not None:
        query = query.where(last >= start)
    if end is not None:
        query = query.where(ArtefactRow.start_at < end)
    rows = (await session.execute(query)).all()
    return [ArtefactTime(*row[:5], Effect(row[5]), *row[6:]) for row in reversed(rows)]


async def find_artefacts_of_tool(
    session: AsyncSession, tool: str, host_ids: Sequence[int], window: Window, *, limit: int
) -> list[tuple[int, int]]:
    """Return the artefacts of a tool that overlap a window, as id and host's id, oldest first; of too many, the latest."""
    query = (
        select(ArtefactRow.id, ArtefactRow.host_id)
        .where(ArtefactRow.tool == tool, ArtefactRow.deleted_at.is_(None), ArtefactRow.host_id.in_(host_ids))
        .where(ArtefactRow.start_at < window.end, func.coalesce(ArtefactRow.end_at, ArtefactRow.start_at) >= window.start)
        .order_by(ArtefactRow.start_at.desc(), ArtefactRow.id.desc())
        .limit(limit)
    )
    return [(artefact_id, host_id) for artefact_id, host_id in reversed((await session.execute(query)).all())]
