"""Events about bytes that hosts lost before they could be sent: at most one an hour for each host, which adds them up.

An agent that drops bytes does so again and again, of many streams; a client could report a million gaps.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.event_models import EventHost, EventRow
from normstat.records.event_rows import EventDraft, EventSource, create_event, cut_text
from normstat.stats.fact_words import EventKind

ADDED_FOR: Final = timedelta(hours=1)
# Maximum number of tools named.
MAX_TOOLS: Final = 10
OTHERS: Final = "others"
TOLD: Final = re.compile(r"([\d,]+) bytes of ([^:]*) were lost before they could be sent(?:: )?")


@dataclass(frozen=True, slots=True)
class StreamGap:
    """Bytes of a stream that its host lost, and why, in the agent's words. Missing: `reason` is "" where it gave none"""

    host_id: int
    host: str
    spec: str
    n_bytes: int
    reason: str


async def note_losses(session: AsyncSession, losses: Sequence[StreamGap], now: datetime) -> None:
    """Note lost bytes as an event on each host, or add them to that of the last hour. The hosts must be locked."""
    if not losses:
        return
    by_host: dict[int, list[StreamGap]] = {}
    for loss in losses:
        by_host.setdefault(loss.host_id, []).append(loss)
    recent = (
        select(EventHost.host_id, EventRow.id, EventRow.text)
        .join(EventRow, EventRow.id == EventHost.event_id)
        .where(
            EventHost.host_id.in_(by_host),
            EventRow.kind == EventKind.LOSS,
            EventRow.source == EventSource.AGENT,
            EventRow.start_at > now - ADDED_FOR,
            EventRow.deleted_at.is_(None),
        )
    )
    known = {row.host_id: row for row in (await session.execute(recent)).all() if TOLD.match(row.text)}
    for host_id, own in by_host.items():
        if host_id in known:
            changed = {"text": cut_text(describe_loss(own, known[host_id].text)), "end_at": now, "updated_at": now}
            await session.execute(update(EventRow).where(EventRow.id == known[host_id].id).values(changed))
            continue
        draft = EventDraft(
            at=now,
            end=None,
            kind=EventKind.LOSS,
            text=describe_loss(own),
            tags=(),
            hosts=(own[0].host,),
            source=EventSource.AGENT,
            author="agent",
        )
        await create_event(session, draft)


def describe_loss(losses: Sequence[StreamGap], told: str = "") -> str:
    """Return the sentence about lost bytes, including those of an earlier sentence `told`.

    >>> gap = StreamGap(1, "web1", "vmstat_linux", 5000, "spool limit reached")
    >>> describe_loss([gap], "10 bytes of iostat_linux were lost before they could be sent: spool limit reached")
    '5,010 bytes of iostat_linux, vmstat_linux were lost before they could be sent: spool limit reached'
    """
    n_bytes, tools, reason = sum(loss.n_bytes for loss in losses), {loss.spec for loss in losses}, losses[-1].reason
    if (found := TOLD.match(told)) is not None:
        n_bytes += int(found[1].replace(",", ""))
        tools |= set(found[2].split(", ")) - {OTHERS}
    named = sorted(tools)
    names = [*named[:MAX_TOOLS], OTHERS] if len(named) > MAX_TOOLS else named
    sentence = f"{n_bytes:,} bytes of {', '.join(names)} were lost before they could be sent"
    return f"{sentence}: {reason}" if reason else sentence
