"""One metric of many hosts: a line for each, or their sum, average, minimum, maximum or 95th percentile in steps of time."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final, Literal

import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets
from normstat.db.session import driver_of
from normstat.errors import DamagedSamples, shorten
from normstat.query.host_steps import HostColumn, align_origin, read_longest_interval_us, read_steps
from normstat.query.line_points import Source
from normstat.query.report_intervals import StreamSpan, read_streams_of_hosts
from normstat.query.series_points import SERIES_LIMIT, SeriesQuery, SeriesRequest
from normstat.query.step_reduction import (
    Reduction,
    StepGrid,
    StepLine,
    choose_step_us,
    join_members,
    pick_values,
    reduce_members,
    to_points,
)
from normstat.samples.lookup import InstanceRef, StatRef, find_instances, list_latest_instances, list_latest_instances_of_hosts
from normstat.samples.rollups.rollup_reader import NOT_ROLLED, Rolled, read_rolled, read_rolled_of_hosts
from normstat.samples.rollups.rollup_rows import Place
from normstat.samples.sample_pages import Float64Array
from normstat.stats.records import Int64Array
from normstat.stats.spec import Worse
from normstat.stats.summaries import is_summary
from normstat.window import EPOCH, LATEST, Window, to_us

# Hosts read at once, so that statements and memory stay small.
MAX_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class HostBatch:
    """By host id, of one stat in one window. Missing: a host without an entry has none."""

    instances: Mapping[int, tuple[list[InstanceRef], int]] = field(default_factory=dict)
    streams: Mapping[int, Sequence[StreamSpan]] = field(default_factory=dict)
    rolled: Mapping[int, Rolled] = field(default_factory=dict)


async def read_batch(
    session: AsyncSession, host_ids: Sequence[int], stat: StatRef, window: Window, *, max_instances: int
) -> HostBatch:  # fmt: skip
    """Return the metadata of a stat for these hosts. `max_instances`: of each host, with their total number"""
    connection: psycopg.AsyncConnection = await driver_of(session)
    instances: dict[int, tuple[list[InstanceRef], int]] = {}
    streams: dict[int, Sequence[StreamSpan]] = {}
    rolled: dict[int, Rolled] = {}
    for start in range(0, len(host_ids), MAX_AT_ONCE):
        some = host_ids[start : start + MAX_AT_ONCE]
        instances |= await list_latest_instances_of_hosts(session, some, stat, window, limit=max_instances)
        streams |= await read_streams_of_hosts(session, some, stat, window)
        rolled |= await read_rolled_of_hosts(connection, some, stat.id, window)
    return HostBatch(instances, streams, rolled)


# More instances of a host are not reduced to one value.
MAX_REDUCED: Final = 5_000


class Spread(StrEnum):
    """How the instances of a host become lines: the usual way of the metric, or each a line of its own."""

    USUAL = "usual"
    EACH = "each"


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """The field that gives a metric on one host. `factor`: to the unit of the metric; `instances`: patterns, or empty for all"""

    column: HostColumn
    factor: float
    instances: tuple[str, ...] = ()

    def admits(self, instance: str) -> bool:
        """Return whether the instance belongs to the metric."""
        return not self.instances or any(fnmatchcase(instance, pattern) for pattern in self.instances)

    @property
    def name(self) -> str:
        """The field as text: `vmstat_linux.cpu_us`."""
        return f"{self.column.stat.name}.{self.column.field.key}"


@dataclass(frozen=True, slots=True)
class HostRun:
    """A host, and where its line begins: at `start`, or (None) at the start of the window, by the clock."""

    host: str
    start: datetime | None = None


@dataclass(frozen=True, slots=True)
class HostSeriesRequest:
    """The request for a graph. `instance`: one name on all hosts; else `across` says how a host's instances become one line.

    `over`: how the hosts become one line; None: a line for each. `usual`: the reduction of instances by default. `top`: only the
    first lines by their mean, in the direction that is worse. `complete_until`: steps that end later are left out, because hosts
    may not have sent all of their samples yet.
    """

    window: Window
    width: int
    runs: tuple[tuple[HostRun, MetricColumn], ...]
    usual: Reduction
    worse: Worse
    instance: str | None = None
    across: Reduction | Spread = Spread.USUAL
    over: Reduction | None = None
    top: int | None = None
    complete_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class HostLine:
    """The line of a host, of one of its instances, or of all hosts (`host` empty, with `n_hosts` for each point).

    `across`: the reduction of `n_instances` instances; None for the samples of one. `mean`: of all samples, or of the steps.

    Shape: times, n_hosts (n,) int64; values (n,) float64. Missing: NaN is a gap. Units: times in ms.
    """

    host: str
    start: datetime | None
    instance: str
    column: str
    across: Reduction | None
    n_instances: int
    n_raw: int
    mean: float
    times: Int64Array
    values: Float64Array
    n_hosts: Int64Array | None = None


@dataclass(frozen=True, slots=True)
class HostLeftOut:
    """A host without a line, and why."""

    host: str
    reason: str


@dataclass(frozen=True, slots=True)
class HostSeriesResult:
    """Lines, the worst first. `step_ms`: the length of the steps; None where every line has its own samples. `n_hosts`: hosts (or
    runs) that are in it; the others are in `left_out`.
    """

    resolution: Literal["raw", "envelope", "steps"]
    source: Source
    column_ms: int
    step_ms: int | None
    n_hosts: int
    n_raw: int
    n_points: int
    n_lines_left_out: int
    lines: list[HostLine]
    left_out: list[HostLeftOut]


async def read_host_series(session: AsyncSession, request: HostSeriesRequest) -> HostSeriesResult:
    """Return the lines of the hosts, or the one line that they are reduced to."""
    return await _HostSeries(session, request).read()


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The instances of a run that are drawn, with what they are reduced by (None: each is a line)."""

    run: HostRun
    metric: MetricColumn
    window: Window
    shift: timedelta
    instances: list[InstanceRef]
    across: Reduction | None

    @property
    def ids(self) -> Int64Array:
        return np.sort(np.array([instance.id for instance in self.instances], dtype=np.int64))


class _HostSeries:
    """A request while it is read."""

    def __init__(self, session: AsyncSession, request: HostSeriesRequest) -> None:
        self._session = session
        self._request = request
        self._left_out: list[HostLeftOut] = []
        self._n_lines_left_out = 0
        self._resolutions: set[str] = set()
        self._sources: set[Source] = set()
        self._column_ms = max(1, -(-(request.window.end_us - request.window.start_us) // (1000 * request.width)))
        # Each a line of its own: their number is limited, so that a graph stays a graph.
        self._n_each = max(1, SERIES_LIMIT // max(1, len(request.runs)))
        # Metadata of the hosts that are drawn by the clock, by stat.
        self._batches: dict[int, HostBatch] = {}

    async def read(self) -> HostSeriesResult:
        """Return the result."""
        await self._read_batches()
        found = [await self._choose_readable(run, metric) for run, metric in self._request.runs]
        chosen = [each for each in found if each is not None]
        step_us = None
        if self._request.over is not None or any(each.across is not None for each in chosen):
            step_us = await self._choose_step(chosen)
        if self._request.over is not None:
            assert step_us is not None
            lines = await self._read_total(chosen, self._request.over, step_us)
        else:
            lines = []
            for each in chosen:
                try:
                    if each.across is None:
                        lines += await self._draw(each)
                    else:
                        assert step_us is not None
                        lines += await self._read_reduced(each, step_us)
                except DamagedSamples as error:
                    self._leave_out(each.run.host, error.message)
            lines = self._rank(lines)
        return self._finish(lines, step_us)

    async def _read_batches(self) -> None:
        """Read the metadata of all hosts in the window at once. Runs have windows of their own."""
        by_stat: dict[int, tuple[StatRef, list[int]]] = {}
        for run, metric in self._request.runs:
            if run.start is None:
                by_stat.setdefault(metric.column.stat.id, (metric.column.stat, []))[1].append(metric.column.host_id)
        for stat_id, (stat, host_ids) in by_stat.items():
            self._batches[stat_id] = await read_batch(
                self._session, host_ids, stat, self._request.window, max_instances=MAX_REDUCED
            )

    def _batch_of(self, run: HostRun, column: HostColumn) -> HostBatch | None:
        return self._batches.get(column.stat.id) if run.start is None else None

    def _leave_out(self, host: str, reason: str) -> None:
        self._left_out.append(HostLeftOut(host, reason))

    # --- which instances ---

    async def _choose_readable(self, run: HostRun, metric: MetricColumn) -> _Chosen | None:
        try:
            return await self._choose(run, metric)
        except DamagedSamples as error:
            self._leave_out(run.host, error.message)
            return None

    async def _choose(self, run: HostRun, metric: MetricColumn) -> _Chosen | None:
        request = self._request
        shift = timedelta(0) if run.start is None else run.start - request.window.start
        if request.window.end + shift > LATEST or request.window.start + shift < EPOCH:
            self._leave_out(run.host, f"{run.host}: the window is outside the years that samples can have")
            return None
        window = Window(request.window.start + shift, request.window.end + shift)
        column = metric.column
        if request.instance is not None:
            named = await find_instances(self._session, column.host_id, column.stat.id, [request.instance])
            if not named:
                self._leave_out(run.host, f"{run.host} has no instance {shorten(request.instance)} of {column.stat.name}")
                return None
            return _Chosen(run, metric, window, shift, named, None)
        batch = self._batch_of(run, column)
        if batch is None:
            found, n_all = await list_latest_instances(self._session, column.host_id, column.stat, window, limit=MAX_REDUCED)
        else:
            found, n_all = batch.instances.get(column.host_id, ([], 0))
        admitted = [instance for instance in found if metric.admits(instance.name)]
        if not admitted:
            self._leave_out(run.host, f"{run.host} has no samples of {metric.name} in this window")
            return None
        instances, across = _reduce_by(request, column.stat.name, admitted)
        is_reduced = across is not None or request.over is not None
        if is_reduced and n_all > len(found):
            of = f"{n_all:,} instances of {column.stat.name}"
            self._leave_out(run.host, f"{run.host} has {of} in this window; at most {MAX_REDUCED:,} become one line. Name one")
            return None
        if not is_reduced and len(instances) > self._n_each:
            self._n_lines_left_out += n_all - self._n_each
            instances = await self._find_worst(_Chosen(run, metric, window, shift, instances, None), self._n_each)
        return _Chosen(run, metric, window, shift, instances, across)

    async def _find_worst(self, chosen: _Chosen, n: int) -> list[InstanceRef]:
        query = await self._query_of(chosen, top=n)
        found, _ = await query.choose_instances()
        return [instance for instance in found if chosen.metric.admits(instance.name)]

    async def _query_of(self, chosen: _Chosen, *, top: int | None = None) -> SeriesQuery:
        column, window = chosen.metric.column, chosen.window
        connection = await driver_of(self._session)
        place = Place(column.host_id, column.stat.id)
        asked = SeriesRequest(column.host, column.stat.name, window, self._request.width, (column.field.key,), top=top)
        batch = self._batch_of(chosen.run, column)
        if batch is None:
            rolled = await read_rolled(connection, place, window)
            return SeriesQuery(self._session, connection, asked, place, column.stat, [column.field], rolled)
        rolled, streams = batch.rolled.get(column.host_id, NOT_ROLLED), batch.streams[column.host_id]
        return SeriesQuery(self._session, connection, asked, place, column.stat, [column.field], rolled, streams)

    # --- lines of samples ---

    async def _draw(self, chosen: _Chosen) -> list[HostLine]:
        """Return a line of samples, or of the extremes of each pixel column, for each instance."""
        drawn = await (await self._query_of(chosen)).draw(chosen.instances)
        self._resolutions.add(drawn.resolution)
        self._sources.add(drawn.source)
        self._column_ms = max(self._column_ms, drawn.column_ms)
        shift_ms = chosen.shift // timedelta(milliseconds=1)
        lines = [
            HostLine(
                host=chosen.run.host,
                start=chosen.run.start,
                instance=own.instance,
                column=chosen.metric.name,
                across=None,
                n_instances=1,
                n_raw=own.n_raw,
                mean=own.total / own.n_raw * chosen.metric.factor,
                times=own.times - shift_ms,
                values=own.values * chosen.metric.factor,
            )
            for own in drawn.series
            if own.n_raw > 0
        ]
        if not lines:
            self._leave_out(chosen.run.host, f"{chosen.run.host} has no samples of {chosen.metric.name} in this window")
        return lines

    # --- lines of steps ---

    async def _choose_step(self, chosen: Sequence[_Chosen]) -> int:
        """Return the length of all steps, which every host's reports fill."""
        intervals = []
        for each in chosen:
            column = each.metric.column
            batch = self._batch_of(each.run, column)
            streams = None if batch is None else batch.streams[column.host_id]
            # A host that cannot be read is left out when its samples are read.
            with suppress(DamagedSamples):
                intervals.append(await read_longest_interval_us(self._session, column, each.window, each.ids, streams))
        return choose_step_us(1000 * self._column_ms, max(intervals, default=0))

    async def _read_members(self, chosen: _Chosen, step_us: int) -> Buckets:
        """Return the samples of the instances by step; steps count from the start of the run, or by the clock."""
        origin_us = 0 if chosen.run.start is None else align_origin(chosen.window.start_us, step_us)
        grid = StepGrid(origin_us, step_us)
        found = await read_steps(self._session, chosen.metric.column, grid.align(chosen.window), chosen.ids, grid)
        if self._request.complete_until is not None:
            found = found.take(origin_us + (found.bucket + 1) * step_us <= to_us(self._request.complete_until))
        if not len(found):
            self._leave_out(chosen.run.host, f"{chosen.run.host} has no samples of {chosen.metric.name} in this window")
        factor = chosen.metric.factor
        return (
            found if factor == 1 else replace(found, total=found.total * factor, low=found.low * factor, high=found.high * factor)
        )

    def _drawn_grid(self, chosen: _Chosen | None, step_us: int) -> StepGrid:
        """Return where steps are drawn: runs begin together, at the start of the window."""
        is_by_clock = chosen is None or chosen.run.start is None
        return StepGrid(0 if is_by_clock else self._request.window.start_us, step_us)

    async def _read_reduced(self, chosen: _Chosen, step_us: int) -> list[HostLine]:
        """Return the line of a host whose instances are reduced to one value in each step."""
        assert chosen.across is not None
        found = await self._read_members(chosen, step_us)
        line = reduce_members(found.bucket, pick_values(found, chosen.across), chosen.across)
        if not len(line):
            return []
        times, values, _ = to_points(line, self._drawn_grid(chosen, step_us), breaks_at_members=False)
        return [
            HostLine(
                host=chosen.run.host,
                start=chosen.run.start,
                instance="",
                column=chosen.metric.name,
                across=chosen.across,
                n_instances=len(chosen.instances),
                n_raw=int(found.n.sum()),
                mean=float(line.value.mean()),
                times=times,
                values=values,
            )
        ]

    async def _read_total(self, chosen: Sequence[_Chosen], over: Reduction, step_us: int) -> list[HostLine]:
        """Return the one line of all hosts, in each step over those with a sample in it."""
        own_lines: list[StepLine] = []
        members: list[StepLine] = []
        n_raw = 0
        for each in chosen:
            try:
                found = await self._read_members(each, step_us)
            except DamagedSamples as error:
                self._leave_out(each.run.host, error.message)
                continue
            n_raw += int(found.n.sum())
            if each.across is None:
                values = pick_values(found, over)
                members.append(StepLine(found.bucket, values, np.ones(len(found), np.int64)))
                own_lines.append(reduce_members(found.bucket, values, over))
            else:
                own = reduce_members(found.bucket, pick_values(found, each.across), each.across)
                members.append(own)
                own_lines.append(own)
        total = join_members(members, over)
        if not len(total):
            return []
        # Hosts, where the members are their instances.
        n_hosts = join_members(own_lines, over).n_members
        total = replace(total, n_members=n_hosts)
        grid = self._drawn_grid(chosen[0] if chosen else None, step_us)
        times, values, n_of = to_points(total, grid, breaks_at_members=over is Reduction.SUM)
        return [
            HostLine(
                host="",
                start=None,
                instance="",
                column="",
                across=over,
                n_instances=sum(len(each.instances) for each in chosen),
                n_raw=n_raw,
                mean=float(total.value.mean()),
                times=times,
                values=values,
                n_hosts=n_of,
            )
        ]

    # --- the result ---

    def _rank(self, lines: list[HostLine]) -> list[HostLine]:
        """Return the lines by their mean, the worst first; only the top ones, if so requested."""
        request = self._request
        sign = 1 if request.worse is Worse.LOWER else -1
        ranked = sorted(lines, key=lambda line: sign * line.mean)
        limit = SERIES_LIMIT if request.top is None else min(request.top, SERIES_LIMIT)
        self._n_lines_left_out += max(0, len(ranked) - limit)
        return ranked[:limit]

    def _finish(self, lines: list[HostLine], step_us: int | None) -> HostSeriesResult:
        resolution: Literal["raw", "envelope", "steps"] = "raw"
        if step_us is not None:
            resolution = "steps"
        elif "envelope" in self._resolutions:
            resolution = "envelope"
        sources = self._sources
        return HostSeriesResult(
            resolution=resolution,
            source=next(iter(sources)) if len(sources) == 1 else "raw" if not sources else "mixed",
            column_ms=self._column_ms,
            step_ms=None if step_us is None else step_us // 1000,
            n_hosts=len(self._request.runs) - len(self._left_out),
            n_raw=sum(line.n_raw for line in lines),
            n_points=sum(int((~np.isnan(line.values)).sum()) for line in lines),
            n_lines_left_out=self._n_lines_left_out,
            lines=lines,
            left_out=self._left_out,
        )


def _reduce_by(request: HostSeriesRequest, stat: str, instances: list[InstanceRef]) -> tuple[list[InstanceRef], Reduction | None]:
    """Return the instances to read, and what reduces them to one; None where each is a line.

    An instance that sums up the others never counts beside them.
    """
    summaries = [instance for instance in instances if is_summary(stat, instance.name)]
    if request.across is Spread.EACH:
        return instances if request.over is None else [own for own in instances if own not in summaries] or instances, None
    if request.across is Spread.USUAL and summaries:
        return summaries[:1], None
    parts = [instance for instance in instances if instance not in summaries] or summaries
    if len(parts) == 1:
        return parts, None
    return parts, request.usual if isinstance(request.across, Spread) else request.across
