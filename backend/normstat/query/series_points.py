"""Series for drawing: every sample, or the envelope of each pixel column."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import anyio.to_thread
import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets
from normstat.db.session import driver_of
from normstat.errors import NotFound, shorten
from normstat.query.envelope import POINTS_PER_COLUMN
from normstat.query.line_points import Graph, GraphLine, GraphLines, Source, make_pixel_columns
from normstat.query.ranking import read_totals
from normstat.query.report_intervals import StreamSpan, read_intervals
from normstat.samples.lookup import (
    InstanceRef,
    StatRef,
    find_instances,
    find_stat,
    list_instances_by_id,
    list_latest_instances,
    require_host,
)
from normstat.samples.rollups.rollup_reader import (
    LEVELS,
    Grain,
    Rolled,
    RollupBlock,
    Span,
    estimate_longest,
    estimate_rows,
    plan,
    read_buckets,
    read_heads,
    read_rolled,
)
from normstat.samples.rollups.rollup_rows import HOUR_US, MINUTE_US, Place
from normstat.samples.sample_pages import PageQuery, read_pages
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.stats.summaries import MAX_SUMMARIES, is_summary
from normstat.window import Window

# More lines cannot be distinguished, and a browser draws them slowly.
SERIES_LIMIT: Final = 200
# This many samples of a host, over all instances, are read in about 0.1 s; a graph that needs more is drawn from rollups.
MAX_ROWS: Final = 1_000_000
# In so short a window, columns of a minute would show nothing.
ALWAYS_RAW_US: Final = 20 * MINUTE_US


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """The graph to draw.

    `instances` empty: all, up to the limit of series. `top`: the N with the highest mean of the first field over the window, where
    a report without the instance (an idle process) counts as 0; with the lowest mean where less is worse (idle time).
    """

    host: str
    stat: str
    window: Window
    width: int
    fields: tuple[str, ...]
    instances: tuple[str, ...] = ()
    top: int | None = None


@dataclass(frozen=True, slots=True)
class SeriesResult:
    """Series of one stat; `n_raw` samples were reduced to `n_points` points."""

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
    series: list[GraphLine]


async def read_series(session: AsyncSession, request: SeriesRequest) -> SeriesResult:
    """Return the requested series: raw when no series has more than four samples per pixel column, else envelopes.

    Raises: NotFound for an unknown host, stat, field or instance
    """
    drawing = await find_series(session, request)
    if drawing is None:
        nothing = Graph(make_pixel_columns(request.window, request.width, Grain.RAW), [], [], Grain.RAW, {})
        return _to_result(request, nothing.finish(with_empty=False), 0)
    instances, n_left_out = await drawing.choose_instances()
    return _to_result(request, await drawing.draw(instances), n_left_out)


async def find_series(session: AsyncSession, request: SeriesRequest) -> "SeriesQuery | None":
    """Return the request with its host, stat and fields looked up. Missing: None for a stat of which no host has sent a sample.

    Raises: NotFound for an unknown host, stat or field
    """
    host_id = await require_host(session, request.host)
    stat = await find_stat(session, request.stat)
    if stat is None:
        return None
    fields = _choose_fields(stat, request.fields)
    connection = await driver_of(session)
    place = Place(host_id, stat.id)
    rolled = await read_rolled(connection, place, request.window)
    return SeriesQuery(session, connection, request, place, stat, fields, rolled)


@dataclass(frozen=True, slots=True)
class SeriesQuery:
    """A request, with its host, stat and fields looked up. `streams`: where they are read already"""

    session: AsyncSession
    connection: psycopg.AsyncConnection
    request: SeriesRequest
    place: Place
    stat: StatRef
    fields: Sequence[Field]
    rolled: Rolled
    streams: Sequence[StreamSpan] | None = None

    async def choose_instances(self) -> tuple[list[InstanceRef], int]:
        """Return the instances to draw, and how many are left out.

        Raises: NotFound for names of which this host never had any
        """
        request, host_id = self.request, self.place.host_id
        limit = max(1, SERIES_LIMIT // max(1, len(self.fields)))
        if request.instances:
            chosen = await find_instances(self.session, host_id, self.stat.id, request.instances)
            missing = set(request.instances) - {instance.name for instance in chosen}
            if not chosen:
                name = min(missing)
                found = {"stat": self.stat.name, "instance": name}
                raise NotFound(f"{request.host} has no instance {shorten(name)} of {self.stat.name}", found)
            # A link may be of another host, or older than a deletion: what there is of it is drawn.
            return chosen[:limit], max(0, len(chosen) - limit) + len(missing)
        chosen, n_all = await list_latest_instances(self.session, host_id, self.stat, request.window)
        if request.top is not None and n_all > request.top:
            chosen = await self._find_top(request.top)
        return chosen[:limit], n_all - min(len(chosen), limit)

    async def _find_top(self, n: int) -> list[InstanceRef]:
        """Return the first instances by the first field over the window, among those with a value, without summaries of others."""
        field = self.fields[0]
        totals = await read_totals(self.session, self.place, self.stat, field, window=self.request.window, rolled=self.rolled)
        found = await list_instances_by_id(self.session, totals.rank(n + MAX_SUMMARIES, field.worse))
        return [instance for instance in found if not is_summary(self.stat.name, instance.name)][:n]

    async def draw(self, instances: Sequence[InstanceRef]) -> GraphLines:
        """Return the lines of these instances."""
        request = self.request
        ids = np.sort(np.array([instance.id for instance in instances], dtype=np.int64))
        grain, blocks = await self._choose_grain(ids)
        intervals = await read_intervals(
            self.session, self.place.host_id, self.stat, request.window, ids.tolist(), streams=self.streams
        )
        figure = Graph(make_pixel_columns(request.window, request.width, grain), self.fields, instances, grain, intervals)
        spans = plan(request.window, self.rolled, grain) if instances else []
        whole: Mapping[str, Buckets] = {}
        if grain is not Grain.RAW:
            whole = await read_buckets(self.session, self.place, self.stat, blocks, ids, grain=grain)
        for span in spans:
            if span.grain is Grain.RAW:
                query = PageQuery(self.stat.name, self.place.host_id, span.window, self.fields, instance_ids=ids.tolist())
                async for page in read_pages(self.session, query):
                    await anyio.to_thread.run_sync(figure.add, page)
            else:
                buckets = whole if span.grain is grain else await self._read_edge(ids, span)
                await anyio.to_thread.run_sync(figure.add_buckets, buckets, span)
        return await anyio.to_thread.run_sync(lambda: figure.finish(with_empty=bool(request.instances)))

    async def _choose_grain(self, ids: Int64Array) -> tuple[Grain, Sequence[RollupBlock]]:
        """Return what to draw from: samples when they are few enough, else the longest buckets that fit a pixel column."""
        window, until_us = self.request.window, self.rolled.until_us
        length_us = window.end_us - window.start_us
        if until_us is None or until_us <= window.start_us or length_us <= ALWAYS_RAW_US or not len(ids):
            return Grain.RAW, []
        column_us = 1000 * to_column_ms(window, self.request.width)
        grain = Grain.HOUR if column_us >= HOUR_US else Grain.MINUTE
        keys = [field.key for field in self.fields]
        blocks = await read_heads(self.connection, self.place, LEVELS[grain], keys, window)
        share = min(1.0, (until_us - window.start_us) / length_us)
        n_rows = max(estimate_rows(blocks, key, window) for key in keys) / share
        n_longest = max(estimate_longest(blocks, key, window, ids) for key in keys) / share
        is_few = column_us < MINUTE_US or n_longest <= POINTS_PER_COLUMN * self.request.width
        return (Grain.RAW, []) if is_few and n_rows <= MAX_ROWS else (grain, blocks)

    async def _read_edge(self, ids: Int64Array, span: Span) -> Mapping[str, Buckets]:
        """Return the minutes of an hour that is only partly inside the window."""
        keys = [field.key for field in self.fields]
        blocks = await read_heads(self.connection, self.place, LEVELS[span.grain], keys, span.window)
        return await read_buckets(self.session, self.place, self.stat, blocks, ids, grain=span.grain)


def _to_result(request: SeriesRequest, lines: GraphLines, n_left_out: int) -> SeriesResult:
    return SeriesResult(
        host=request.host,
        stat=request.stat,
        start=request.window.start,
        end=request.window.end,
        resolution=lines.resolution,
        source=lines.source,
        column_ms=lines.column_ms,
        n_raw=sum(series.n_raw for series in lines.series),
        n_points=lines.n_points,
        n_instances_left_out=n_left_out,
        series=lines.series,
    )


def to_column_ms(window: Window, width: int) -> int:
    """Return the milliseconds of a pixel column: at least 1, and enough for the columns to fill the window."""
    return make_pixel_columns(window, width, Grain.RAW).width_us // 1000


def _choose_fields(stat: StatRef, keys: Sequence[str]) -> list[Field]:
    known = {field.key: field for field in stat.fields}
    unknown = [key for key in keys if key not in known]
    if unknown:
        raise NotFound(
            f"{stat.name} has no field {shorten(unknown[0])}; it has {', '.join(known)}", {"stat": stat.name, "field": unknown[0]}
        )
    return [known[key] for key in dict.fromkeys(keys)]
