"""The processes of a host at an instant: one report of a tool, as `top` would have shown it then.

Nothing is interpolated: the values are those of the last report before the instant. Its own time, and the interval that it covers,
are part of the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import isnan
from typing import Final, Literal

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of
from normstat.errors import NotFound, TooLarge, shorten
from normstat.query.process_list import MAY_BE_REFUSED, PROCESS_TITLE, ProcessField, find_fields, find_kind, rank_tool
from normstat.query.process_users import ReportedLine, read_users
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key
from normstat.samples import lookup
from normstat.samples.lookup import StatRef
from normstat.samples.sample_pages import Float64Array, PageQuery, load_sql, read_page, to_floats
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.report_sums import split_process
from normstat.stats.spec import Field, Semantics
from normstat.window import EPOCH, LATEST, MICROSECOND, Window

# An older report says nothing about the instant.
MAX_AGE: Final = timedelta(hours=1)
# Pages know milliseconds; a sample within the one that they name is meant.
MILLISECOND: Final = timedelta(milliseconds=1)
# A report that is not older than its interval times this still holds at the instant.
CURRENT_FACTOR: Final = 1.5
THREAD_TITLE: Final = "thread"
# Shares of time by state, by the keys that tools have for them, in the order of a bar.
STATES: Final = {
    "user": ("usr_pct",),
    "system": ("system_pct", "sys_pct"),
    "guest": ("guest_pct",),
    "trap": ("trp_pct",),
    "text_fault": ("tfl_pct",),
    "data_fault": ("dfl_pct",),
    "lock": ("lck_pct",),
    "sleep": ("slp_pct",),
    "cpu_wait": ("lat_pct", "wait_pct"),
}


@dataclass(frozen=True, slots=True)
class ReportSource(Documented):
    """A stat of the host that lists processes or threads near the instant."""

    stat: str
    title: str
    reported_at: datetime
    """Its last report before the instant."""

    is_of_threads: bool


@dataclass(frozen=True, slots=True)
class ReportedProcess(Documented):
    """A process or thread of a report."""

    instance: str
    """The name of the instance in graphs."""

    command: str | None
    """Null for a thread."""

    pid: int | None
    user: str | None
    """Null where the raw output does not have it, is gone, or was not searched: see `n_users_unread`."""

    values: list[float | None]
    """One for each field, as the tool printed it; null without one, and where the tool may not read it (pidstat prints -1)."""

    states: list[float | None]
    """One for each of `states`."""


@dataclass(frozen=True, slots=True)
class ValueBand:
    """The band of a quantity in a baseline."""

    p5: float
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class NormalValues(Documented):
    """The values of a command or a process in the report, and in the baseline."""

    name: str
    """The command; where `normal_of` is process, the instance."""

    n_processes: int
    """In the report."""

    totals: list[float | None]
    """Of the report, for each field: the sum over its processes."""

    bands: list[ValueBand | None]
    """Of the baseline, for each field: of the same sum; null where the baseline has no samples of it."""

    is_new: bool | None
    """Whether the baseline has no sample of the command at any hour; null where that is not known."""


@dataclass(frozen=True, slots=True)
class ReportBaseline(Documented):
    """The baseline beside a report."""

    id: int
    is_seasonal: bool
    """Whether the bands are of the same hours of the day."""

    note: str
    """What is missing, and why. Empty: nothing."""


@dataclass(frozen=True, slots=True)
class ProcessReport(Documented):
    """The processes of a host in the last report before an instant."""

    host: str
    at: datetime
    stat: str | None
    """Null where no tool listed processes in the hour before the instant."""

    sources: list[ReportSource]
    """All stats that have a report in the hour before the instant."""

    reported_at: datetime | None
    interval_s: float | None
    """The time since the report before it in the same run of the tool; null for the first one."""

    is_of_interval: bool
    """Whether its numbers are of that interval; else they are states, or averages that the tool keeps itself."""

    previous_at: datetime | None
    """The report before it; null with none in the hour before the instant."""

    next_at: datetime | None
    """The report after it; null with none in the hour after the instant."""

    fields: list[ProcessField]
    """The columns of which some row has a value."""

    states: list[ProcessField]
    """Shares of time that add up, in the order of a bar; empty where the tool has none."""

    rows: list[ReportedProcess]
    """Those with most of the first field first."""

    n_found: int
    """Rows before the limit."""

    n_users_unread: int
    """Rows whose user was not searched, because that would take too long."""

    normal_of: Literal["command", "process"]
    """The subjects of the normal values: the sums by command, or each process, where the stat has no sums."""

    normals: list[NormalValues]
    """Of the commands or processes in `rows`."""

    baseline: ReportBaseline | None
    """Null where no baseline was asked for."""


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The report to read. `stat` None: the most informative one with a report that still holds, else the newest report."""

    host: str
    at: datetime
    stat: str | None = None
    limit: int = 500


@dataclass(frozen=True, slots=True)
class ReportTimes:
    """When a stat reported near the instant. Missing: None without a report on that side."""

    ref: StatRef
    at: datetime | None
    """The last report before the instant."""

    previous: datetime | None
    next: datetime | None
    interval_s: float | None

    def is_current(self, instant: datetime) -> bool:
        """Return whether the last report still holds at the instant: the next one was not due."""
        return (
            self.at is not None
            and self.interval_s is not None
            and (instant - self.at).total_seconds() <= CURRENT_FACTOR * self.interval_s
        )


@dataclass(slots=True)
class _Row:
    """A row of the report; the lines of one instance, such as those of pidstat -u and -r, are one row."""

    instance_id: int
    values: list[float | None]
    stream_id: int
    offset: int


async def read_report(session: AsyncSession, request: ReportRequest) -> ProcessReport:
    """Return the processes of the last report before the instant, without a baseline.

    Raises: NotFound for an unknown host, and for a stat that lists no processes; TooLarge for an excessively large report
    """
    host_id = await lookup.require_host(session, request.host)
    if request.stat is not None and not lists_processes(request.stat):
        message = f"{shorten(request.stat)} lists no processes; without `stat`, one that does is chosen"
        raise NotFound(message, {"stat": request.stat})
    refs = {ref.name: ref for ref in await lookup.list_host_stats(session, host_id)}
    found = [
        await _read_times(session, host_id, ref, refs.get(find_summary(ref.name) or ""), request.at)
        for ref in refs.values()
        if lists_processes(ref.name)
    ]
    chosen = choose_times(found, request)
    if chosen is None:
        following = min((times.next for times in found if times.next is not None), default=None)
        return replace(_empty(request, found), next_at=following)
    return await _read_rows(session, host_id, replace(_empty(request, found), stat=chosen.ref.name), chosen, request.limit)


def choose_times(found: Sequence[ReportTimes], request: ReportRequest) -> ReportTimes | None:
    """Return the report to show. Missing: None where no stat has one."""
    wanted = [times for times in found if times.at is not None and request.stat in (None, times.ref.name)]
    current = [times for times in wanted if times.is_current(request.at)]
    if current:
        return min(current, key=lambda times: rank_tool(times.ref))
    return max(wanted, key=lambda times: times.at or EPOCH, default=None)


def lists_processes(stat: str) -> bool:
    """Return whether a stat has a row for each process, or for each thread.

    >>> lists_processes("linux_process"), lists_processes("prstat_solaris_lwp_micro"), lists_processes("linux_command")
    (True, True, False)
    """
    return find_kind(stat) == PROCESS_TITLE or _is_of_threads(stat)


def _is_of_threads(stat: str) -> bool:
    known = load_catalogue().stats.get(stat)
    return known is not None and known[1].instance_title == THREAD_TITLE


def _empty(request: ReportRequest, found: Sequence[ReportTimes]) -> ProcessReport:
    stats = load_catalogue().stats
    newest_first = sorted((times for times in found if times.at is not None), key=lambda times: rank_tool(times.ref))
    sources = [
        ReportSource(times.ref.name, stats[times.ref.name][1].title, times.at, _is_of_threads(times.ref.name))
        for times in newest_first
        if times.at is not None
    ]
    return ProcessReport(
        host=request.host,
        at=request.at,
        stat=None,
        sources=sources,
        reported_at=None,
        interval_s=None,
        is_of_interval=False,
        previous_at=None,
        next_at=None,
        fields=[],
        states=[],
        rows=[],
        n_found=0,
        n_users_unread=0,
        normal_of="command",
        normals=[],
        baseline=None,
    )


async def _read_times(session: AsyncSession, host_id: int, ref: StatRef, summary: StatRef | None, at: datetime) -> ReportTimes:
    """Return when a stat reported. A report in which no process did anything has rows only among the sums by command."""
    before: set[tuple[datetime, object]] = set()
    after: list[datetime] = []
    for own in (ref, summary):
        if own is None:
            continue
        last, last_stream, earlier, earlier_stream, later = await _fetch_times(session, host_id, own, at)
        before |= {
            (time, stream) for time, stream in ((last, last_stream), (earlier, earlier_stream)) if isinstance(time, datetime)
        }
        after += [later] if isinstance(later, datetime) else []
    following = min(after, default=None)
    if not before:
        return ReportTimes(ref, None, None, following, None)
    reported = max(time for time, _ in before)
    previous = max((time for time, _ in before if time < reported), default=None)
    runs = [{stream for time, stream in before if time == wanted} for wanted in (reported, previous)]
    is_same_run = previous is not None and bool(runs[0] & runs[1])
    interval_s = (reported - previous).total_seconds() if is_same_run and previous is not None else None
    return ReportTimes(ref, reported, previous, following, interval_s)


async def _fetch_times(session: AsyncSession, host_id: int, stat: StatRef, at: datetime) -> tuple[object, ...]:
    until = at + MILLISECOND
    connection = await driver_of(session)
    window = Window(max(EPOCH, at - MAX_AGE), min(LATEST, until + MAX_AGE))
    source = await open_source(connection, SealedQuery(host_id, stat.name, window, has_lines=True))
    asked = {"host_id": host_id, "start": window.start, "until": until, "end": window.end, **source.parameters}
    statement = load_sql("report_times").format(table=source.table)
    row = await (await connection.execute(statement, asked, prepare=False)).fetchone()
    assert row is not None
    return row


async def _read_rows(session: AsyncSession, host_id: int, empty: ProcessReport, times: ReportTimes, limit: int) -> ProcessReport:
    assert times.at is not None
    known = {field.key: field for field in times.ref.fields}
    quantities = find_fields(times.ref)
    states = [
        (state, next(known[key] for key in keys if key in known))
        for state, keys in STATES.items()
        if any(key in known for key in keys)
    ]
    fields = list({field.key: field for _, field in [*quantities, *states]}.values())
    rows = await _read_samples(session, host_id, times.ref, times.at, fields)
    names = await lookup.read_instance_names(session, [row.instance_id for row in rows])
    rows = [row for row in rows if row.instance_id in names]
    places = {field.key: place for place, field in enumerate(fields) if any(row.values[place] is not None for row in rows)}
    quantities = [(quantity, field) for quantity, field in quantities if field.key in places]
    states = [(state, field) for state, field in states if field.key in places]
    first = places[quantities[0][1].key] if quantities else None
    rows.sort(key=lambda row: (-_order(row, first), natural_key(names[row.instance_id])))
    shown = rows[:limit]
    lines = [ReportedLine(names[row.instance_id], row.instance_id, row.stream_id, row.offset) for row in shown]
    users, n_unread = await read_users(session, host_id, times.ref, times.at, lines)
    has_sums = find_summary(times.ref.name) is not None
    return replace(
        empty,
        reported_at=times.at,
        interval_s=times.interval_s,
        is_of_interval=any(field.semantics is Semantics.RATE for _, field in quantities),
        previous_at=times.previous,
        next_at=times.next,
        fields=[_to_field(*each) for each in quantities],
        states=[_to_field(*each) for each in states] if len(states) > 1 else [],
        rows=[
            ReportedProcess(
                names[row.instance_id],
                *_split(names[row.instance_id]),
                users.get(names[row.instance_id]),
                [row.values[places[field.key]] for _, field in quantities],
                [row.values[places[field.key]] for _, field in states] if len(states) > 1 else [],
            )
            for row in shown
        ],
        n_found=len(rows),
        n_users_unread=n_unread,
        normal_of="command" if has_sums else "process",
        normals=_sum_up(
            [(names[row.instance_id], [row.values[places[field.key]] for _, field in quantities]) for row in rows],
            [field for _, field in quantities],
            {names[row.instance_id] for row in shown},
            is_by_command=has_sums,
        ),
    )


async def _read_samples(session: AsyncSession, host_id: int, ref: StatRef, at: datetime, fields: Sequence[Field]) -> list[_Row]:
    query = PageQuery(ref.name, host_id, Window(at, at + MICROSECOND), fields, has_lines=True)
    page = await read_page(session, query)
    if len(page) >= query.n_rows_per_page:
        raise TooLarge(f"{ref.name} has more than {query.n_rows_per_page:,} lines at {at.isoformat()}; use the CSV export")
    columns = [_to_amounts(field, to_floats(field, column)) for field, column in zip(fields, page.values, strict=True)]
    table = np.stack(columns, axis=1) if columns else np.empty((len(page), 0))
    rows: dict[int, _Row] = {}
    # Lines in the order of the tool's output.
    for line in np.lexsort((page.line_offset, page.stream_id)).tolist():
        id_ = int(page.instance_id[line])
        values = [None if isnan(value) else value for value in table[line].tolist()]
        row = rows.setdefault(id_, _Row(id_, values, int(page.stream_id[line]), int(page.line_offset[line])))
        row.values = [other if value is None else value for value, other in zip(row.values, values, strict=True)]
    return list(rows.values())


def _to_amounts(field: Field, values: Float64Array) -> Float64Array:
    return np.where(values < 0, np.nan, values) if field.key in MAY_BE_REFUSED else values


def find_summary(stat: str) -> str | None:
    """Return the stat with the sums by command of a stat of processes. Missing: None without one.

    >>> find_summary("linux_process"), find_summary("prstat_solaris_micro")
    ('linux_command', None)
    """
    found = load_catalogue().stats.get(stat)
    return None if found is None else next((own.name for own in found[0].stats if own.summary_of == stat), None)


def _order(row: _Row, place: int | None) -> float:
    value = None if place is None else row.values[place]
    return float("-inf") if value is None else value


def _split(name: str) -> tuple[str | None, int | None]:
    process = split_process(name)
    return (None, None) if process is None else (process[1], int(process[0]))


def _to_field(quantity: str, field: Field) -> ProcessField:
    return ProcessField(quantity, field.key, field.column, field.unit, field.help)


def _sum_up(
    rows: Sequence[tuple[str, list[float | None]]], fields: Sequence[Field], shown: set[str], *, is_by_command: bool
) -> list[NormalValues]:
    """Return the values of each command (or process) of the shown rows in the report, in the order of the rows."""
    sums: dict[str, tuple[int, list[float | None]]] = {}
    wanted: set[str] = set()
    for name, values in rows:
        process = split_process(name)
        key = name if not is_by_command else None if process is None else process[1]
        if key is None:
            continue
        if name in shown:
            wanted.add(key)
        n, totals = sums.get(key, (0, [None] * len(fields)))
        sums[key] = (
            n + 1,
            [
                value if total is None else total if value is None else total + value
                for total, value in zip(totals, values, strict=True)
            ],
        )
    return [
        NormalValues(
            key,
            n,
            [None if total is None else round(total, field.decimals) for total, field in zip(totals, fields, strict=True)],
            [None] * len(fields),
            None,
        )
        for key, (n, totals) in sums.items()
        if key in wanted
    ]
