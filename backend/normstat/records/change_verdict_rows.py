"""Verdicts of changes: whether a host got better or worse after an event, or after its facts changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.incident_models import ChangeVerdictRow
from normstat.db.schema.models import Host
from normstat.runtime.field_docs import Documented
from normstat.stats.fact_words import EventKind
from normstat.window import Window

# Stored events of these kinds are judged; so is what changed by a host's facts.
JUDGED_KINDS: Final = (EventKind.DEPLOYMENT, EventKind.SETTING, EventKind.REBOOT)
# What happened longer ago when a server first looks is history: it is not judged.
LOOK_BACK: Final = timedelta(days=1)
# An event is judged on this many hosts at most: those that sent last.
MAX_HOSTS: Final = 50
# A comparison that took its server with it is not tried for ever.
MAX_TRIES: Final = 3


class Verdict(StrEnum):
    """What became of a host after a change."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    TOO_LITTLE_DATA = "too_little_data"


@dataclass(frozen=True, slots=True)
class EventVerdict(Documented):
    """How a change was judged, over all of its hosts."""

    verdict: Verdict
    sentence: str
    judged_at: datetime


@dataclass(frozen=True, slots=True)
class ChangeSides:
    """The windows that are compared."""

    before: Window
    after: Window


@dataclass(frozen=True, slots=True)
class JudgedChange(Documented):
    """A field of a host that got worse or better."""

    sentence: str
    is_worse: bool


@dataclass(frozen=True, slots=True)
class HostVerdict(Documented):
    """How a change was judged on one host."""

    host: str
    verdict: Verdict | None
    """Null: not judged yet."""

    sentence: str
    changes: list[JudgedChange]
    """What got worse or better, the strongest first; at most ten."""

    before_start: datetime
    before_end: datetime
    after_start: datetime
    after_end: datetime
    baseline: int | None
    """The baseline that it was held against, too; null: none covers the host."""

    judged_at: datetime | None


@dataclass(frozen=True, slots=True)
class PendingVerdict:
    """A change of a host that is to be judged."""

    id: int
    event_id: int | None
    host_id: int
    host: str
    sides: ChangeSides


def combine(rows: Iterable[ChangeVerdictRow]) -> EventVerdict | None:
    """Return the verdict over several hosts: the worst; better only where no host is worse. Missing: None without any."""
    ranks = {Verdict.WORSE: 0, Verdict.BETTER: 1, Verdict.SAME: 2, Verdict.TOO_LITTLE_DATA: 3}
    judged = sorted(
        ((Verdict(row.verdict), row.sentence, row.judged_at) for row in rows if row.judged_at is not None),
        key=lambda one: ranks[one[0]],
    )
    return EventVerdict(judged[0][0], judged[0][1], max(at for _, _, at in judged)) if judged else None


def select_pending() -> Select[int]:
    """Return the query of verdicts that are still to be found, for `DueWork`."""
    return select(ChangeVerdictRow.id).where(_is_pending())


def select_due_events(after: timedelta) -> Select[int]:
    """Return the query of events to judge that no one has begun with, for `DueWork`. `after`: how long after it one is judged"""
    row = EventRow
    is_due = and_(row.start_at <= func.now() - after, row.start_at > func.now() - LOOK_BACK, row.kind.in_(JUDGED_KINDS))
    has_begun = select(ChangeVerdictRow.id).where(ChangeVerdictRow.event_id == row.id).exists()
    has_hosts = or_(row.is_for_all_hosts, select(EventHost.event_id).where(EventHost.event_id == row.id).exists())
    return select(row.id).where(row.deleted_at.is_(None), is_due, has_hosts, ~has_begun)


async def list_due_events(session: AsyncSession, after: timedelta) -> list[tuple[int, datetime, list[int]]]:
    """Return the events to judge that no one has begun with: id, time, and hosts."""
    found: list[tuple[int, datetime, list[int]]] = []
    rows = await session.execute(
        select(EventRow.id, EventRow.start_at, EventRow.is_for_all_hosts).where(EventRow.id.in_(select_due_events(after)))
    )
    for id_, at, is_for_all in rows.all():
        hosts = select(Host.id).order_by(Host.last_seen_at.desc().nulls_last()).limit(MAX_HOSTS)
        if not is_for_all:
            hosts = hosts.where(Host.id.in_(select(EventHost.host_id).where(EventHost.event_id == id_)))
        found.append((id_, at, list(await session.scalars(hosts))))
    return found


async def plan_verdict(session: AsyncSession, host_id: int, at: datetime, sides: ChangeSides, *, event_id: int | None) -> None:
    """Note that a change of a host is to be judged; one that is noted already stays as it is."""
    values = {
        "event_id": event_id, "host_id": host_id, "at": at,
        "before_start_at": sides.before.start, "before_end_at": sides.before.end,
        "after_start_at": sides.after.start, "after_end_at": sides.after.end,
    }  # fmt: skip
    await session.execute(insert(ChangeVerdictRow).values(values).on_conflict_do_nothing())


async def list_pending(session: AsyncSession, *, limit: int) -> list[PendingVerdict]:
    """Return changes to judge, the oldest first."""
    row = ChangeVerdictRow
    query = select(row, Host.name).join(Host, Host.id == row.host_id).where(_is_pending()).order_by(row.at, row.id).limit(limit)
    return [
        PendingVerdict(
            one.id,
            one.event_id,
            one.host_id,
            host,
            ChangeSides(Window(one.before_start_at, one.before_end_at), Window(one.after_start_at, one.after_end_at)),
        )
        for one, host in (await session.execute(query)).all()
    ]


async def note_try(session: AsyncSession, verdict_id: int) -> None:
    """Count a try before it is made, so that one that ends the process is counted, too."""
    row = ChangeVerdictRow
    await session.execute(update(row).where(row.id == verdict_id).values(n_tries=row.n_tries + 1))


async def store_verdict(
    session: AsyncSession,
    verdict_id: int,
    verdict: Verdict,
    sentence: str,
    *,
    changes: Sequence[JudgedChange] = (),
    baseline: int | None = None,
) -> None:
    """Store how a change of a host was judged."""
    told = [{"sentence": one.sentence, "is_worse": one.is_worse} for one in changes]
    values = {"verdict": verdict.value, "sentence": sentence, "changes": told, "baseline_id": baseline, "judged_at": func.now()}
    await session.execute(update(ChangeVerdictRow).where(ChangeVerdictRow.id == verdict_id).values(values))


async def give_up(session: AsyncSession) -> None:
    """End what was tried often enough, as what cannot be judged."""
    row = ChangeVerdictRow
    values = {
        "verdict": Verdict.TOO_LITTLE_DATA.value, "judged_at": func.now(),
        "sentence": f"It could not be judged: {MAX_TRIES} tries ended without a result; the server's log says why.",
    }  # fmt: skip
    await session.execute(update(row).where(row.judged_at.is_(None), row.n_tries >= MAX_TRIES).values(values))


async def forget_verdicts(session: AsyncSession, event_id: int) -> None:
    """Delete the verdicts of an event that was changed: it is judged again."""
    await session.execute(delete(ChangeVerdictRow).where(ChangeVerdictRow.event_id == event_id))


async def read_event_verdicts(session: AsyncSession, ids: Sequence[int]) -> dict[int, EventVerdict]:
    """Return the verdicts of events. Missing: an event without one, or of which a host is still to be judged, has none"""
    row = ChangeVerdictRow
    if not ids:
        return {}
    found: dict[int, list[ChangeVerdictRow]] = {}
    for one in await session.scalars(select(row).where(row.event_id.in_(ids)).order_by(row.host_id)):
        found.setdefault(one.event_id or 0, []).append(one)
    return {
        event_id: told
        for event_id, rows in found.items()
        if all(one.judged_at is not None for one in rows) and (told := combine(rows)) is not None
    }


async def read_fact_verdicts(session: AsyncSession, host_ids: Sequence[int]) -> dict[tuple[str, datetime], EventVerdict]:
    """Return the verdicts of changes of facts, by the name of the host and the time at which they were seen."""
    row = ChangeVerdictRow
    query = select(Host.name, row).join(Host, Host.id == row.host_id)
    query = query.where(row.event_id.is_(None), row.host_id.in_(host_ids), row.judged_at.is_not(None))
    return {(host, one.at): told for host, one in (await session.execute(query)).all() if (told := combine([one])) is not None}


async def read_host_verdicts(session: AsyncSession, event_id: int) -> list[HostVerdict]:
    """Return how an event was judged on each of its hosts, by name."""
    row = ChangeVerdictRow
    query = select(row, Host.name).join(Host, Host.id == row.host_id).where(row.event_id == event_id).order_by(Host.name)
    return [_to_host_verdict(one, host) for one, host in (await session.execute(query)).all()]


def _to_host_verdict(row: ChangeVerdictRow, host: str) -> HostVerdict:
    return HostVerdict(
        host,
        Verdict(row.verdict) if row.judged_at is not None else None,
        row.sentence,
        [_to_change(one) for one in row.changes],
        row.before_start_at,
        row.before_end_at,
        row.after_start_at,
        row.after_end_at,
        row.baseline_id,
        row.judged_at,
    )


def _to_change(one: Mapping[str, Any]) -> JudgedChange:
    return JudgedChange(str(one["sentence"]), bool(one["is_worse"]))


def _is_pending() -> ColumnElement[bool]:
    row = ChangeVerdictRow
    return and_(row.judged_at.is_(None), row.after_end_at <= func.now())
