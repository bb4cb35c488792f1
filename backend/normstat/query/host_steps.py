"""Read the instances of one host in steps of time: from rollups where they fill whole steps, from samples elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import EMPTY, Buckets, gather, merge
from normstat.db.session import driver_of
from normstat.query.report_intervals import StreamSpan, read_intervals
from normstat.query.step_reduction import StepGrid
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.rollup_reader import BUCKET_US, LEVELS, Grain, Span, plan, read_buckets, read_heads, read_rolled
from normstat.samples.rollups.rollup_rows import HOUR_US, MINUTE_US, Place
from normstat.samples.sample_pages import Page, PageQuery, read_pages, to_floats
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.window import Window

# Instances of a stat nearly always share their reports.
MAX_PROBED: Final = 8


@dataclass(frozen=True, slots=True)
class HostColumn:
    """One field of a stat on one host."""

    host_id: int
    host: str
    stat: StatRef
    field: Field


async def read_longest_interval_us(
    session: AsyncSession, column: HostColumn, window: Window, instance_ids: Int64Array, streams: Sequence[StreamSpan] | None = None
) -> int:
    """Return the longest typical interval of the reports in the window; 0 if they come at no interval. `streams`: where they are
    read already
    """
    probed = instance_ids[:MAX_PROBED].tolist()
    intervals = await read_intervals(session, column.host_id, column.stat, window, probed, streams=streams)
    return max((int(own.interval_us.max()) for own in intervals.values()), default=0)


async def read_steps(
    session: AsyncSession,
    column: HostColumn,
    window: Window,
    instance_ids: Int64Array,
    grid: StepGrid,
) -> Buckets:
    """Return the samples of these instances (ids ascending), summed up by step: `bucket` counts the steps of the grid.

    The window is made of whole steps.
    """
    connection = await driver_of(session)
    place = Place(column.host_id, column.stat.id)
    rolled = await read_rolled(connection, place, window)
    spans = plan(window, rolled, _grain_of(grid))
    parts = []
    for grain in sorted({span.grain for span in spans} - {Grain.RAW}):
        of_grain = [span for span in spans if span.grain is grain]
        parts.append(await _read_rollups(connection, place, column, of_grain, instance_ids=instance_ids, grid=grid))
    for span in spans:
        if span.grain is Grain.RAW:
            query = PageQuery(column.stat.name, column.host_id, span.window, [column.field], instance_ids=instance_ids.tolist())
            async for page in read_pages(session, query):
                own = await anyio.to_thread.run_sync(_gather_page, page, column.field, grid)
                parts.append(own)
    return await anyio.to_thread.run_sync(merge, parts)


def _grain_of(grid: StepGrid) -> Grain:
    """Return the longest rollup buckets of which each step holds whole ones."""
    for grain, bucket_us in ((Grain.HOUR, HOUR_US), (Grain.MINUTE, MINUTE_US)):
        if grid.step_us % bucket_us == 0 and grid.origin_us % bucket_us == 0:
            return grain
    return Grain.RAW


def align_origin(start_us: int, step_us: int) -> int:
    """Return the start of steps for a run that starts at an instant: rounded down to the minute or hour that steps are made of, so
    that rollups fill them. The difference is less than a step.
    """
    unit_us = HOUR_US if step_us % HOUR_US == 0 else MINUTE_US if step_us % MINUTE_US == 0 else 1
    return start_us // unit_us * unit_us


async def _read_rollups(
    connection: psycopg.AsyncConnection,
    place: Place,
    column: HostColumn,
    spans: list[Span],
    *,
    instance_ids: Int64Array,
    grid: StepGrid,
) -> Buckets:
    """Return the rollups of consecutive spans of one grain, as steps."""
    grain = spans[0].grain
    reach = Window(spans[0].window.start, spans[-1].window.end)
    blocks = await read_heads(connection, place, LEVELS[grain], [column.field.key], reach)
    found = (await read_buckets(connection, place, blocks, instance_ids, grain)).get(column.field.key, EMPTY)

    def to_steps() -> Buckets:
        start_us = found.bucket * BUCKET_US[grain]
        firsts, ends = np.array([span.start_us for span in spans]), np.array([span.end_us for span in spans])
        places = np.searchsorted(firsts, start_us, side="right") - 1
        own = found.take((places >= 0) & (start_us < ends[places]))
        return replace(own, bucket=grid.steps_of(own.bucket * BUCKET_US[grain]))

    return await anyio.to_thread.run_sync(to_steps)


def _gather_page(page: Page, field: Field, grid: StepGrid) -> Buckets:
    values = to_floats(field, page.values[0])
    is_there = ~np.isnan(values)
    time_us = page.time_us[is_there]
    return gather(page.instance_id[is_there], grid.steps_of(time_us), values[is_there], time_us)
