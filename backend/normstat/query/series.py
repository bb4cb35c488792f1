"""Series for drawing: every sample, or the envelope of each pixel column."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import anyio.to_thread
import numpy as np
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import NotFound, shorten
from normstat.query.envelope import GapFinder, Trace
from normstat.query.pages import Float64Array, Page, PageQuery, load_sql, read_pages, to_floats
from normstat.query.tables import InstanceRef, StatRef, find_stat, list_instances, require_host
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.store.session import driver_of
from normstat.store.stat_tables import table_of
from normstat.window import Window

# More lines than this nobody can tell apart, and a browser draws them slowly.
SERIES_LIMIT: Final = 200
Source = Literal["raw", "rollup_minute", "rollup_hour", "mixed"]


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """What to draw.

    `instances` empty: all, up to the limit of series. `top`: the N with the highest mean of the first field over the window, where
    a report in which an instance is missing (an idle process) counts as 0.
    """

    host: str
    stat: str
    window: Window
    width: int
    fields: tuple[str, ...]
    instances: tuple[str, ...] = ()
    top: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one series, in order of time.

    Shape: times (n,) int64, values (n,) float64. Missing: a value NaN is a gap, nothing is joined across it. Units: times in ms.
    """

    instance: str
    field: str
    unit: str
    times: Int64Array
    values: Float64Array
    n_raw: int


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Series of one stat; `n_raw` samples stand behind `n_points` points."""

    host: str
    stat: str
    start: datetime
    end: datetime
    resolution: Literal["raw", "envelope"]
    source: Source
    column_ms: int
    n_raw: int
    n_points: int
    n_instances_left_out: int
    series: list[Series]


async def read_series(session: AsyncSession, request: SeriesRequest) -> SeriesResult:
    """The series of the request: raw when no series has more than four samples for each pixel column, else envelopes.

    Raises: NotFound for an unknown host, stat, field or instance
    """
    host_id = await require_host(session, request.host)
    stat = await find_stat(session, request.stat)
    if stat is None:
        return Figure(request, [], []).finish(n_left_out=0)
    fields = _choose_fields(stat, request.fields)
    instances, n_left_out = await _choose_instances(session, host_id, stat, fields, request)
    figure = Figure(request, fields, instances)
    if instances:
        query = PageQuery(stat.name, host_id, request.window, fields, instance_ids=[instance.id for instance in instances])
        async for page in read_pages(session, query):
            await anyio.to_thread.run_sync(figure.add, page)
    return await anyio.to_thread.run_sync(figure.finish, n_left_out)


class Figure:
    """The lines of one graph, filled page by page."""

    def __init__(self, request: SeriesRequest, fields: Sequence[Field], instances: Sequence[InstanceRef]) -> None:
        self._request = request
        self._fields = fields
        self._instances = instances
        self._column_ms = to_column_ms(request.window, request.width)
        self._ids = np.sort(np.array([instance.id for instance in instances], dtype=np.int64))
        self._gap_finders = {instance.id: GapFinder() for instance in instances}
        self._traces = {
            (instance.id, field.key): Trace(request.window.start_us, 1000 * self._column_ms, request.width)
            for instance in instances
            for field in fields
        }

    def add(self, page: Page) -> None:
        """Takes the samples of the next page."""
        # Small integers, so that the stable sort is a radix sort.
        codes = np.searchsorted(self._ids, page.instance_id).astype(np.int16)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self._ids) + 1)).tolist()
        time_us = page.time_us[order]
        columns = [to_floats(field, column[order]) for field, column in zip(self._fields, page.values, strict=True)]
        for code, instance_id in enumerate(self._ids.tolist()):
            rows = slice(bounds[code], bounds[code + 1])
            if rows.start == rows.stop:
                continue
            after_gap = self._gap_finders[instance_id].find(time_us[rows])
            for field, column in zip(self._fields, columns, strict=True):
                self._traces[instance_id, field.key].add(time_us[rows], column[rows], after_gap)

    def finish(self, n_left_out: int) -> SeriesResult:
        """The result, without the empty series of instances that nobody asked for by name."""
        is_envelope = any(trace.has_too_many for trace in self._traces.values())
        series, n_points = [], 0
        for instance in self._instances:
            for field in self._fields:
                trace = self._traces[instance.id, field.key]
                if trace.n_raw == 0 and not self._request.instances:
                    continue
                if is_envelope:
                    trace.thin()
                times, values, n_own = trace.points()
                n_points += n_own
                series.append(Series(instance.name, field.key, field.unit, times, values, trace.n_raw))
        return SeriesResult(
            host=self._request.host,
            stat=self._request.stat,
            start=self._request.window.start,
            end=self._request.window.end,
            resolution="envelope" if is_envelope else "raw",
            source="raw",
            column_ms=self._column_ms,
            n_raw=sum(trace.n_raw for trace in self._traces.values()),
            n_points=n_points,
            n_instances_left_out=n_left_out,
            series=series,
        )


def to_column_ms(window: Window, width: int) -> int:
    """Milliseconds that a pixel column stands for: at least 1, and so many that the columns fill the window."""
    return max(1, -(-(window.end_us - window.start_us) // (1000 * width)))


def _choose_fields(stat: StatRef, keys: Sequence[str]) -> list[Field]:
    known = {field.key: field for field in stat.fields}
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise NotFound(
            f"{stat.name} has no field {shorten(unknown[0])}; it has {', '.join(known)}", {"stat": stat.name, "field": unknown[0]}
        )
    return [known[key] for key in dict.fromkeys(keys)]


async def _choose_instances(
    session: AsyncSession, host_id: int, stat: StatRef, fields: Sequence[Field], request: SeriesRequest
) -> tuple[list[InstanceRef], int]:
    """The instances to draw, and how many are left out.

    Raises: NotFound for a name that this host never had
    """
    limit = max(1, SERIES_LIMIT // max(1, len(fields)))
    if request.instances:
        chosen = await list_instances(session, host_id, stat.id, names=request.instances)
        missing = set(request.instances) - {instance.name for instance in chosen}
        if missing:
            name = min(missing)
            raise NotFound(f"{request.host} never had {shorten(name)} in {stat.name}", {"stat": stat.name, "instance": name})
    else:
        chosen = await list_instances(session, host_id, stat.id, window=request.window)
        if request.top is not None and len(chosen) > request.top:
            n_all = len(chosen)
            chosen = await _rank(session, stat, fields[0], request, host_id=host_id, instances=chosen)
            return chosen[:limit], n_all - min(len(chosen), limit)
    return chosen[:limit], max(0, len(chosen) - limit)


async def _rank(
    session: AsyncSession, stat: StatRef, field: Field, request: SeriesRequest, *, host_id: int, instances: Sequence[InstanceRef]
) -> list[InstanceRef]:
    """The instances with the largest sums of the field in the window, the largest first."""
    statement = load_sql("top_instances").format(table=table_of(stat.name), field=sql.Identifier(field.key))
    connection = await driver_of(session)
    by_id = {instance.id: instance for instance in instances}
    cursor = await connection.execute(
        statement,
        {"host_id": host_id, "start": request.window.start, "end": request.window.end, "n_instances": request.top},
        prepare=False,
    )
    return [
        by_id[instance_id] for (instance_id,) in await cursor.fetchall() if isinstance(instance_id, int) and instance_id in by_id
    ]
