"""Statistics of lines from all their samples: never from the points of a graph.

Samples are read where they are few enough. Above that, rollups give the number, lowest, mean, highest and last sample exactly, but
no quantile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets
from normstat.db.session import driver_of
from normstat.query.series_points import SeriesQuery, SeriesRequest, find_series
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import InstanceRef
from normstat.samples.rollups.rollup_reader import (
    BUCKET_US,
    LEVELS,
    Grain,
    Span,
    estimate_longest,
    estimate_rows,
    plan,
    read_buckets,
    read_heads,
    read_rolled,
)
from normstat.samples.rollups.rollup_rows import HOUR_US
from normstat.samples.sample_pages import Float64Array, Page, PageQuery, read_pages, to_floats
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field
from normstat.window import Window

StatisticsSource = Literal["samples", "rollups", "profile"]

UPPER: Final = 0.95
# Reading this many samples of a host, over all instances, takes about half a second.
MAX_ROWS_READ: Final = 3_000_000
# More values are not held for the 95 % quantile: 16 MB of a request.
MAX_VALUES: Final = 2_000_000
# Up to two days, minutes are as fast as hours.
MINUTES_UP_TO_US: Final = 48 * HOUR_US
NOT_HELD: Final = "Too many samples for a 95 % quantile. Choose a shorter window"


@dataclass(frozen=True, slots=True)
class LineValues(Documented):
    """The samples of one line in a window, in the unit of its field. Missing: null without a sample."""

    n: int
    """Samples with a value."""

    lowest: float | None
    mean: float | None
    p95: float | None
    """95 % quantile, interpolated between neighbouring samples. Null also where `note` says that there are too many samples."""

    highest: float | None
    last: float | None
    """The newest sample. Null also for a baseline, whose samples have no order."""


NO_VALUES: Final = LineValues(0, None, None, None, None, None)

# By instance and field.
LineKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class LinesInWindows:
    """The values of lines over one or more windows, their source, and what is missing."""

    lines: Mapping[LineKey, LineValues]
    source: StatisticsSource
    note: str = ""


@dataclass(frozen=True, slots=True)
class StatedLines:
    """The lines of a panel, with the request that found them."""

    query: SeriesQuery | None
    instances: Sequence[InstanceRef]
    n_left_out: int
    values: LinesInWindows


async def read_lines(session: AsyncSession, request: SeriesRequest) -> StatedLines:
    """Return the values of the lines that a graph of this request draws; without lines for a stat that no host has sent yet.

    Raises: NotFound for an unknown host, stat, field or instance
    """
    query = await find_series(session, request)
    if query is None:
        return StatedLines(None, [], 0, LinesInWindows({}, "samples"))
    instances, n_left_out = await query.choose_instances()
    return StatedLines(query, instances, n_left_out, await read_windows(query, instances, [request.window]))


async def read_windows(query: SeriesQuery, instances: Sequence[InstanceRef], windows: Sequence[Window]) -> LinesInWindows:
    """Return the values of the query's fields for these instances, over all samples of the windows, which are in order."""
    totals = LineTotals(instances, query.fields)
    if instances:
        grain = await _choose_grain(query, windows, totals.ids)
        for window in windows:
            await _read_window(query, window, grain, totals)
    lines = await anyio.to_thread.run_sync(totals.finish)
    return LinesInWindows(lines, "rollups" if totals.has_buckets else "samples", "" if totals.holds_all else NOT_HELD)


async def _choose_grain(query: SeriesQuery, windows: Sequence[Window], ids: Int64Array) -> Grain:
    """Return samples unless rollups say that there are more of them than are read at once."""
    keys = [field.key for field in query.fields]
    connection = await driver_of(query.session)
    n_rows, n_values, length_us = 0, 0, 0
    for window in windows:
        own_us = window.end_us - window.start_us
        grain = Grain.HOUR if own_us > MINUTES_UP_TO_US else Grain.MINUTE
        blocks = await read_heads(connection, query.place, LEVELS[grain], keys, window)
        n_rows += max(estimate_rows(blocks, key, window) for key in keys)
        n_values += sum(estimate_longest(blocks, key, window, ids) for key in keys) * len(ids)
        length_us += own_us
    if n_rows <= MAX_ROWS_READ and n_values <= MAX_VALUES:
        return Grain.RAW
    return Grain.HOUR if length_us > MINUTES_UP_TO_US else Grain.MINUTE


async def _read_window(query: SeriesQuery, window: Window, grain: Grain, totals: "LineTotals") -> None:
    connection = await driver_of(query.session)
    keys, ids = [field.key for field in query.fields], totals.ids
    rolled = await read_rolled(connection, query.place, window)
    for span in plan(window, rolled, grain):
        if span.grain is Grain.RAW:
            asked = PageQuery(query.stat.name, query.place.host_id, span.window, query.fields, instance_ids=ids.tolist())
            async for page in read_pages(query.session, asked):
                await anyio.to_thread.run_sync(totals.add, page)
        else:
            blocks = await read_heads(connection, query.place, LEVELS[span.grain], keys, span.window)
            buckets = await read_buckets(query.session, query.place, query.stat, blocks, ids, grain=span.grain)
            await anyio.to_thread.run_sync(totals.add_buckets, buckets, span)


@dataclass(slots=True)
class _Total:
    """One line while it is read. `held`: its values, for the quantile."""

    n: int
    total: float
    low: float
    high: float
    last: float | None
    held: list[Float64Array]

    def add(self, values: Float64Array) -> None:
        self.n += len(values)
        self.total += float(values.sum())
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        self.last = float(values[-1])

    def add_buckets(self, buckets: Buckets) -> None:
        self.n += int(buckets.n.sum())
        self.total += float(buckets.total.sum())
        self.low = min(self.low, float(buckets.low.min()))
        self.high = max(self.high, float(buckets.high.max()))
        self.last = float(buckets.last[-1])

    def finish(self, *, holds_all: bool) -> LineValues:
        if self.n == 0:
            return NO_VALUES
        p95 = float(np.quantile(np.concatenate(self.held), UPPER)) if holds_all else None
        return LineValues(self.n, self.low, self.total / self.n, p95, self.high, self.last)


class LineTotals:
    """Adds up the samples and buckets of lines, in order of time. Values are held until they are too many."""

    def __init__(self, instances: Sequence[InstanceRef], fields: Sequence[Field]) -> None:
        self._fields = fields
        self._names = {instance.id: instance.name for instance in instances}
        self.ids = np.sort(np.array(list(self._names), dtype=np.int64))
        self._totals = {
            (id_, field.key): _Total(0, 0.0, np.inf, -np.inf, None, []) for id_ in self.ids.tolist() for field in fields
        }
        self._n_held = 0
        self.holds_all = True
        self.has_buckets = False

    def add(self, page: Page) -> None:
        """Add the samples of the next page."""
        codes = np.searchsorted(self.ids, page.instance_id).astype(np.int16)
        order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[order], np.arange(len(self.ids) + 1)).tolist()
        for field, column, has_any in zip(self._fields, page.values, page.has_values, strict=True):
            if not has_any:
                continue
            floats = to_floats(field, column[order])
            for code, id_ in enumerate(self.ids.tolist()):
                own = floats[bounds[code] : bounds[code + 1]]
                own = own[~np.isnan(own)]
                if len(own):
                    total = self._totals[id_, field.key]
                    total.add(own)
                    self._hold(total, own)

    def add_buckets(self, buckets: Mapping[str, Buckets], span: Span) -> None:
        """Add the buckets inside the next span, by field."""
        bucket_us = BUCKET_US[span.grain]
        first, last = -(-span.start_us // bucket_us), span.end_us // bucket_us
        for key, own in buckets.items():
            places = (own.instance << 32) + own.bucket
            for id_ in self.ids.tolist():
                begin, end = np.searchsorted(places, [(id_ << 32) + first, (id_ << 32) + last]).tolist()
                if begin < end:
                    self._totals[id_, key].add_buckets(own.take(slice(begin, end)))
                    self.has_buckets = True
                    self._drop()

    def finish(self) -> dict[LineKey, LineValues]:
        """Return the values of all lines, by instance and field."""
        return {(self._names[id_], key): total.finish(holds_all=self.holds_all) for (id_, key), total in self._totals.items()}

    def _hold(self, total: _Total, values: Float64Array) -> None:
        self._n_held += len(values)
        if self._n_held > MAX_VALUES:
            self._drop()
        elif self.holds_all:
            total.held.append(values)

    def _drop(self) -> None:
        if self.holds_all:
            self.holds_all = False
            for total in self._totals.values():
                total.held.clear()
