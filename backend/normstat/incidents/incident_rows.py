"""The list of incidents: what was unusual, what rules found, saved comparisons, noted events and reports, by time.

Each kind has a table of its own. Of each only the times of the newest rows are read, as many as the page could need, and then the
rows of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute

from normstat.comparison.saved_comparison_rows import SavedComparisonInfo, read_several_saved
from normstat.db.schema.baseline_models import SavedComparisonRow
from normstat.db.schema.event_models import EventHost, EventRow
from normstat.db.schema.models import Host
from normstat.db.schema.report_models import ReportRow
from normstat.db.schema.watch_models import EpisodeRow
from normstat.query.host_events import HostEvent, to_host_event
from normstat.records.episode_rows import CONTINUOUS
from normstat.records.event_rows import EventSource, read_several_events
from normstat.report.report_rows import ReportInfo, read_several_reports
from normstat.runtime.field_docs import Documented
from normstat.watch.watch_lists import EpisodeInfo, read_several_episodes

# Lines that agents and imports read from logs would hide all else; they are in the list of events.
NOTED: Final = (EventSource.USER, EventSource.API, EventSource.CLI)


class IncidentKind(StrEnum):
    """What an entry of the list is."""

    UNUSUAL = "unusual"
    ALERT = "alert"
    COMPARISON = "comparison"
    EVENT = "event"
    REPORT = "report"


@dataclass(frozen=True, slots=True)
class IncidentInfo(Documented):
    """An entry of the list: one of the others is given."""

    kind: IncidentKind
    at: datetime
    """When it began or happened; of a comparison when it was saved, of a report when it was changed last."""

    episode: EpisodeInfo | None
    """Given for the kinds unusual and alert."""

    comparison: SavedComparisonInfo | None
    event: HostEvent | None
    report: ReportInfo | None


@dataclass(frozen=True, slots=True)
class IncidentPage(Documented):
    """A page of the list, the newest first."""

    n_total: int
    incidents: list[IncidentInfo]


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    """Which entries. Without `kinds`: all; `rule`: only the episodes of this rule; `has_lasting`: also those that last."""

    kinds: Sequence[IncidentKind] = ()
    host: str | None = None
    rule: str | None = None
    has_lasting: bool = True

    def asks(self, kind: IncidentKind) -> bool:
        """Return whether entries of a kind are wanted."""
        is_episode = kind in (IncidentKind.UNUSUAL, IncidentKind.ALERT)
        return (not self.kinds or kind in self.kinds) and (self.rule is None or is_episode)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the list: when its rows happened, and which of them are wanted."""

    id: InstrumentedAttribute[int]
    at: InstrumentedAttribute[datetime]
    conditions: list[ColumnElement[bool]]


async def list_incidents(session: AsyncSession, wanted: IncidentFilter, *, limit: int, offset: int = 0) -> IncidentPage:
    """Return a page of the list."""
    tables = _tables(wanted)
    places: list[tuple[datetime, str, int]] = []
    n_total = 0
    for name, table in tables.items():
        query = select(table.at, table.id).where(*table.conditions)
        newest = query.order_by(table.at.desc(), table.id.desc()).limit(offset + limit)
        places += [(at, name, id_) for at, id_ in (await session.execute(newest)).all()]
        n_total += await session.scalar(select(func.count(table.id)).where(*table.conditions)) or 0
    page = sorted(places, reverse=True)[offset : offset + limit]
    found: dict[tuple[str, int], IncidentInfo] = {}
    for name in tables:
        times = {id_: at for at, own, id_ in page if own == name}
        if times:
            found |= {(name, id_): info for id_, info in (await _READERS[name](session, times)).items()}
    return IncidentPage(n_total, [found[name, id_] for _, name, id_ in page if (name, id_) in found])


def _tables(wanted: IncidentFilter) -> dict[str, _Table]:
    """Return the tables that have wanted rows, by the names of `_READERS`."""
    tables = {}
    if wanted.asks(IncidentKind.UNUSUAL) or wanted.asks(IncidentKind.ALERT):
        tables["episodes"] = _Table(EpisodeRow.id, EpisodeRow.start_at, _episode_conditions(wanted))
    if wanted.asks(IncidentKind.COMPARISON):
        of_host = [] if wanted.host is None else [SavedComparisonRow.inputs["host"].contains([wanted.host])]
        tables["comparisons"] = _Table(SavedComparisonRow.id, SavedComparisonRow.created_at, of_host)
    if wanted.asks(IncidentKind.EVENT):
        tables["events"] = _Table(EventRow.id, EventRow.start_at, _event_conditions(wanted))
    if wanted.asks(IncidentKind.REPORT):
        reports: list[ColumnElement[bool]] = [ReportRow.deleted_at.is_(None), ~ReportRow.is_template]
        if wanted.host is not None:
            reports.append(ReportRow.hosts.contains([wanted.host]))
        tables["reports"] = _Table(ReportRow.id, ReportRow.updated_at, reports)
    return tables


def _episode_conditions(wanted: IncidentFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if not wanted.asks(IncidentKind.ALERT):
        found.append(EpisodeRow.source == CONTINUOUS)
    if not wanted.asks(IncidentKind.UNUSUAL):
        found.append(EpisodeRow.source != CONTINUOUS)
    if not wanted.has_lasting:
        found.append(EpisodeRow.ended_at.is_not(None))
    if wanted.rule is not None:
        found.append(EpisodeRow.source == wanted.rule)
    if wanted.host is not None:
        found.append(EpisodeRow.host_id.in_(select(Host.id).where(Host.name == wanted.host)))
    return found


def _event_conditions(wanted: IncidentFilter) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = [EventRow.deleted_at.is_(None), EventRow.source.in_(NOTED)]
    if wanted.host is not None:
        own = select(EventHost.event_id).join(Host, Host.id == EventHost.host_id)
        own = own.where(EventHost.event_id == EventRow.id, Host.name == wanted.host)
        found.append(or_(EventRow.is_for_all_hosts, own.exists()))
    return found


Times = dict[int, datetime]


async def _read_episodes(session: AsyncSession, times: Times) -> dict[int, IncidentInfo]:
    return {
        episode.id: IncidentInfo(
            IncidentKind.UNUSUAL if episode.source == CONTINUOUS else IncidentKind.ALERT,
            times[episode.id],
            episode,
            None,
            None,
            None,
        )
        for episode in await read_several_episodes(session, list(times))
    }


async def _read_comparisons(session: AsyncSession, times: Times) -> dict[int, IncidentInfo]:
    return {
        saved.id: IncidentInfo(IncidentKind.COMPARISON, times[saved.id], None, saved, None, None)
        for saved in await read_several_saved(session, list(times))
    }


async def _read_events(session: AsyncSession, times: Times) -> dict[int, IncidentInfo]:
    return {
        record.id: IncidentInfo(IncidentKind.EVENT, times[record.id], None, None, to_host_event(record), None)
        for record in await read_several_events(session, list(times))
    }


async def _read_reports(session: AsyncSession, times: Times) -> dict[int, IncidentInfo]:
    return {
        report.id: IncidentInfo(IncidentKind.REPORT, times[report.id], None, None, None, report)
        for report in await read_several_reports(session, list(times))
    }


_READERS: Final = {
    "episodes": _read_episodes,
    "comparisons": _read_comparisons,
    "events": _read_events,
    "reports": _read_reports,
}
