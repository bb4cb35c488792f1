"""Past incidents: what is remembered of saved comparisons, episodes and exclusions, and which of them a new one looks like."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

import anyio.to_thread
from pydantic import StringConstraints
from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.comparison.signature import ALIKE, Signature, is_telling, likeness_of
from normstat.db.named_rows import require_row
from normstat.db.row_records import to_record
from normstat.db.schema.baseline_models import Exclusion, SavedComparisonRow
from normstat.db.schema.incident_models import PastIncidentRow
from normstat.db.schema.watch_models import EpisodeRow
from normstat.runtime.body import NO_NUL, Body
from normstat.runtime.field_docs import Documented
from normstat.window import Window

# Past incidents that one comparison is held against: all with a cause first, then the newest.
MAX_LOOKED_AT: Final = 2000
MAX_ALIKE: Final = 3
MAX_LISTED: Final = 1000
MAX_TEXT: Final = 500

Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_TEXT, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class PastIncident(Documented):
    """An incident as it is remembered. With a cause it is a pattern."""

    id: int
    hosts: list[str]
    start: datetime
    end: datetime
    title: str
    """The name of the comparison or the exclusion, or what the rule says."""

    sentence: str
    """The verdict of the comparison."""

    note: str
    """The note of the comparison, the episode or the exclusion."""

    cause: str
    """What a person named as the cause; empty: none yet."""

    remedy: str
    """What helped."""

    named_by: str
    named_at: datetime | None
    is_off: bool
    """Whether it is left out when a comparison looks for what it is like."""

    origin: str
    """The bundle that it came with; empty for an incident of this server."""

    comparison: int | None
    """The saved comparison that it was made of."""


@dataclass(frozen=True, slots=True)
class AlikeIncident(Documented):
    """A past incident that a comparison looks like."""

    likeness: float
    """How alike the signatures are, 0..1; from 0.75 on an incident counts as alike."""

    incident: PastIncident


@dataclass(frozen=True, slots=True)
class Recall(Documented):
    """The past incidents that a comparison looks like."""

    own: PastIncident | None
    """What is remembered of this incident itself, of which the cause can be named. Null: nothing."""

    alike: list[AlikeIncident]
    """The nearest first, at most three; one with a cause is among them if any is alike. Empty: unknown."""

    n_looked_at: int
    """Past incidents with a signature that it was held against."""


@dataclass(frozen=True, slots=True)
class PastIncidentPage(Documented):
    """A page of past incidents, newest first."""

    n_total: int
    incidents: list[PastIncident]


class PastIncidentUpdate(Body):
    """The cause of an incident and what helped; an empty cause takes it back. What is left out stays."""

    cause: Reason | None = None
    remedy: Reason | None = None
    is_off: bool | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What was found of an incident."""

    hosts: Sequence[str]
    window: Window
    title: str
    sentence: str
    signature: Signature


async def remember_comparison(session: AsyncSession, found: Remembered, comparison_id: int) -> None:
    """Store the signature of a comparison that is saved."""
    session.add(
        PastIncidentRow(
            hosts=list(found.hosts),
            start_at=found.window.start,
            end_at=found.window.end,
            title=found.title,
            sentence=found.sentence,
            signature=dict(found.signature),
            computed_at=func.now(),
            comparison_id=comparison_id,
        )
    )
    await session.flush()


async def recall(
    session: AsyncSession, hosts: Sequence[str], window: Window, signature: Signature, *, comparison: int | None = None
) -> Recall:
    """Return which past incidents are alike. Those that overlap the window on one of its hosts are the incident itself.

    `comparison`: the saved one that is looked at. A signature that shows no more than noise is like nothing.
    """
    past = PastIncidentRow
    of_hosts = or_(*(past.hosts.contains([host]) for host in hosts))
    overlaps = and_(past.start_at < window.end, past.end_at > window.start, of_hosts)
    own = past.comparison_id == comparison if comparison is not None else and_(overlaps, past.origin == "")
    of_own = await _first(
        session, select(past.id).where(own).order_by(past.cause == "", past.comparison_id.is_(None), past.id.desc())
    )
    if not is_telling(signature):
        return Recall(of_own, [], 0)
    wanted = select(past.id, past.cause != "", past.signature).where(~past.is_off, past.signature != {}, ~overlaps)
    newest = wanted.order_by(past.cause == "", past.start_at.desc(), past.id).limit(MAX_LOOKED_AT)
    rows = (await session.execute(newest)).all()
    # Thousands of them take a third of a second.
    found = await anyio.to_thread.run_sync(likeness_of, signature, [other for _, _, other in rows])
    likeness = found.tolist()
    ranked = sorted(
        ((score, has_cause, id_) for score, (id_, has_cause, _) in zip(likeness, rows, strict=True) if score >= ALIKE), reverse=True
    )
    chosen = ranked[:MAX_ALIKE]
    known = next((one for one in ranked if one[1]), None)
    if known is not None and known not in chosen:
        chosen[-1] = known
    records = {one.id: one for one in await _read(session, _query().where(past.id.in_([id_ for _, _, id_ in chosen])))}
    return Recall(of_own, [AlikeIncident(round(score, 3), records[id_]) for score, _, id_ in chosen if id_ in records], len(rows))


async def recall_saved(session: AsyncSession, comparison: int, hosts: Sequence[str], window: Window) -> Recall:
    """Return what `recall` does for a saved comparison. One that was saved by an older version has no signature."""
    signature = await session.scalar(select(PastIncidentRow.signature).where(PastIncidentRow.comparison_id == comparison))
    return await recall(session, hosts, window, signature or {}, comparison=comparison)


async def list_past(
    session: AsyncSession, *, has_cause: bool, host: str | None = None, limit: int, offset: int = 0
) -> PastIncidentPage:
    """Return a page of what is remembered, newest first. `has_cause`: only patterns"""
    past = PastIncidentRow
    conditions: list[ColumnElement[bool]] = [past.computed_at.is_not(None)]
    if has_cause:
        conditions.append(past.cause != "")
    if host is not None:
        conditions.append(past.hosts.contains([host]))
    n_total = await session.scalar(select(func.count(past.id)).where(*conditions)) or 0
    query = _query().where(*conditions).order_by(past.start_at.desc(), past.id.desc()).limit(limit).offset(offset)
    return PastIncidentPage(n_total, await _read(session, query))


async def update_past(session: AsyncSession, past_id: int, body: PastIncidentUpdate, *, by: str) -> PastIncident:
    """Name the cause of an incident and what helped, or switch it off.

    Raises: NotFound
    """
    row = await require_row(session, PastIncidentRow, past_id, what="past incident", listed_at="/api/v1/past-incidents")
    if (body.cause is not None and body.cause != row.cause) or (body.remedy is not None and body.remedy != row.remedy):
        row.cause = row.cause if body.cause is None else body.cause
        row.remedy = row.remedy if body.remedy is None else body.remedy
        row.named_by, row.named_at = by, await session.scalar(select(func.now()))
    row.is_off = row.is_off if body.is_off is None else body.is_off
    await session.flush()
    [record] = await _read(session, _query().where(PastIncidentRow.id == past_id))
    return record


def select_orphans() -> Select[int]:
    """Return the query of what is remembered of things that are deleted, but for patterns."""
    past = PastIncidentRow
    is_made_of = (past.comparison_id, past.episode_id, past.exclusion_id)
    return select(past.id).where(*(origin.is_(None) for origin in is_made_of), past.cause == "")


async def forget_orphans(session: AsyncSession) -> None:
    """Delete what is remembered of things that are deleted, but for patterns."""
    await session.execute(delete(PastIncidentRow).where(PastIncidentRow.id.in_(select_orphans())))


async def list_patterns_of(session: AsyncSession, host: str, windows: Sequence[Window]) -> list[PastIncidentRow]:
    """Return the patterns of a host in these windows, for a bundle, oldest first."""
    past = PastIncidentRow
    within = or_(*(and_(past.start_at < window.end, past.end_at > window.start) for window in windows))
    query = select(past).where(past.cause != "", past.hosts.contains([host]), within).order_by(past.start_at, past.id)
    return list(await session.scalars(query))


async def put_pattern(session: AsyncSession, values: Mapping[str, Any]) -> bool:
    """Store a pattern of a bundle; return whether it is new. One of the same hosts, time and cause is there already."""
    past = PastIncidentRow
    same = [getattr(past, name) == values[name] for name in ("hosts", "start_at", "end_at", "cause")]
    if await session.scalar(select(past.id).where(*same).limit(1)) is not None:
        return False
    session.add(PastIncidentRow(**values, computed_at=func.now()))
    await session.flush()
    return True


def describe_recall(found: Recall) -> str:
    """Return the nearest past incident in words, without its time of day. Missing: empty where none is alike.

    Its date is in UTC. The one with a cause comes first: it says what to do.
    """
    if not found.alike:
        return ""
    one = next((each for each in found.alike if each.incident.cause), found.alike[0])
    past = one.incident
    text = f"Looks like {past.start:%Y-%m-%d} on {', '.join(past.hosts)} ({100 * one.likeness:.0f} % alike)"
    if past.cause:
        text += f": cause “{past.cause}”"
        text += f", helped “{past.remedy}”" if past.remedy else ""
    elif past.note:
        text += f": {' '.join(past.note.split())}"
    else:
        text += f": {past.title}; no cause is named"
    return f"{text}."


def _query() -> Select[PastIncidentRow, str]:
    past = PastIncidentRow
    note = func.coalesce(SavedComparisonRow.note, EpisodeRow.note, Exclusion.note, "")
    return (
        select(past, note)
        .outerjoin(SavedComparisonRow, SavedComparisonRow.id == past.comparison_id)
        .outerjoin(EpisodeRow, EpisodeRow.id == past.episode_id)
        .outerjoin(Exclusion, Exclusion.id == past.exclusion_id)
    )


async def _read(session: AsyncSession, query: Select[PastIncidentRow, str]) -> list[PastIncident]:
    return [
        to_record(PastIncident, row, start=row.start_at, end=row.end_at, note=note, comparison=row.comparison_id)
        for row, note in (await session.execute(query)).all()
    ]


async def _first(session: AsyncSession, ids: Select[Any]) -> PastIncident | None:
    id_ = await session.scalar(ids.limit(1))
    return None if id_ is None else next(iter(await _read(session, _query().where(PastIncidentRow.id == id_))), None)
