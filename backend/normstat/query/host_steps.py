"""Read the instances of one host in steps of time: from rollups where they fill whole steps, from samples elsewhere."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import EMPTY, Buckets, gather, merge
from normstat.db.session import driver_of
from normstat.query.report_intervals import StreamSpan, read_intervals
from normstat.query.step_reduction import StepGrid
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.rollup_reader import BUCKET_US, LEVELS, Grain, Span, plan, read_buckets, read_heads, read_rolled
from normstat.samples.rollups.rollup_rows import HOUR_US, MINUTE_US, Place
from normstat.samples.sample_pages import Float64Array, Page, PageQuery, read_pages, to_floats
from normstat.scoring.summary import Float32Array
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
        found = await _read_rollups(session, place, column.stat, [column.field], of_grain, instance_ids=instance_ids, grid=grid)
        parts.append(found.get(column.field.key, EMPTY))
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
    session: AsyncSession,
    place: Place,
    stat: StatRef,
    fields: Sequence[Field],
    spans: list[Span],
    *,
    instance_ids: Int64Array,
    grid: StepGrid,
) -> dict[str, Buckets]:
    """Return the rollups of consecutive spans of one grain, as steps, by field. Missing: no entry for a field without any"""
    grain = spans[0].grain
    reach = Window(spans[0].window.start, spans[-1].window.end)
    blocks = await read_heads(await driver_of(session), place, LEVELS[grain], [field.key for field in fields], reach)
    read = await read_buckets(session, place, stat, blocks, instance_ids, grain=grain)

    def to_steps(found: Buckets) -> Buckets:
        start_us = found.bucket * BUCKET_US[grain]
        firsts, ends = np.array([span.start_us for span in spans]), np.array([span.end_us for span in spans])
        places = np.searchsorted(firsts, start_us, side="right") - 1
        own = found.take((places >= 0) & (start_us < ends[places]))
        return replace(own, bucket=grid.steps_of(own.bucket * BUCKET_US[grain]))

    return await anyio.to_thread.run_sync(lambda: {key: to_steps(found) for key, found in read.items()})


async def read_step_means(
    session: AsyncSession,
    place: Place,
    stat: StatRef,
    fields: Sequence[Field],
    *,
    window: Window,
    instance_ids: Int64Array,
    grid: StepGrid,
) -> Float32Array:
    """Return the mean of each step of many series: from rollups where they fill whole steps, from samples elsewhere.

    Shape: instance_ids (n_instances,) ascending -> (n_fields, n_instances, n_steps): the window is made of whole steps.
    Missing: NaN where a series has no sample in a step
    """
    connection = await driver_of(session)
    sums = _StepSums(fields, instance_ids, window, grid)
    spans = plan(window, await read_rolled(connection, place, window), _grain_of(grid))
    for grain in sorted({span.grain for span in spans} - {Grain.RAW}):
        of_grain = [span for span in spans if span.grain is grain]
        read = await _read_rollups(session, place, stat, fields, of_grain, instance_ids=instance_ids, grid=grid)
        await anyio.to_thread.run_sync(sums.add_buckets, read)
    for span in spans:
        if span.grain is Grain.RAW:
            query = PageQuery(stat.name, place.host_id, span.window, fields, instance_ids=instance_ids.tolist())
            async with aclosing(read_pages(session, query)) as pages:
                async for page in pages:
                    await anyio.to_thread.run_sync(sums.add_page, page)
    return await anyio.to_thread.run_sync(sums.to_means)


class _StepSums:
    """The sums and numbers of samples of many series by step, while they are read."""

    def __init__(self, fields: Sequence[Field], instance_ids: Int64Array, window: Window, grid: StepGrid) -> None:
        self._fields, self._ids, self._grid = fields, instance_ids, grid
        self._first = int(grid.steps_of(np.array([window.start_us]))[0])
        self._n_steps = (window.end_us - window.start_us) // grid.step_us
        self._n_cells = len(instance_ids) * self._n_steps
        self._sums = np.zeros((len(fields), self._n_cells))
        self._counts = np.zeros((len(fields), self._n_cells), np.int32)

    def add_buckets(self, read: dict[str, Buckets]) -> None:
        """Add buckets by step."""
        for number, field in enumerate(self._fields):
            own = read.get(field.key, EMPTY)
            self._add(number, self._cells_of(own.instance, own.bucket), own.total, own.n)

    def add_page(self, page: Page) -> None:
        """Add samples."""
        cells = self._cells_of(page.instance_id, self._grid.steps_of(page.time_us))
        for number, (field, column) in enumerate(zip(self._fields, page.values, strict=True)):
            if page.has_values[number]:
                values = to_floats(field, column)
                is_there = ~np.isnan(values)
                self._add(number, cells[is_there], values[is_there], None)

    def to_means(self) -> Float32Array:
        """Return the means. Shape: -> (n_fields, n_instances, n_steps)"""
        means = np.divide(self._sums, self._counts, out=np.full(self._sums.shape, np.nan), where=self._counts > 0)
        return np.asarray(means.reshape(len(self._fields), len(self._ids), self._n_steps), np.float32)

    def _cells_of(self, instance: Int64Array, step: Int64Array) -> Int64Array:
        return np.asarray(np.searchsorted(self._ids, instance) * self._n_steps + step - self._first, np.int64)

    def _add(self, number: int, cells: Int64Array, values: Float64Array, n: Int64Array | None) -> None:
        self._sums[number] += np.bincount(cells, values, self._n_cells)
        self._counts[number] += np.bincount(cells, n, self._n_cells).astype(np.int32)


def _gather_page(page: Page, field: Field, grid: StepGrid) -> Buckets:
    values = to_floats(field, page.values[0])
    is_there = ~np.isnan(values)
    time_us = page.time_us[is_there]
    return gather(page.instance_id[is_there], grid.steps_of(time_us), values[is_there], time_us)
