"""Read the samples of one side of a comparison, stat by stat, as a matrix of series and reports."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.baselines.window_sets import Windows, length_s, sample_evenly
from normstat.comparison.gathered_rows import GatheredRows, RowArray, StoredColumns
from normstat.profiles.sketch_builder import SECOND_US, coverage_of
from normstat.query.sample_counts import count_samples
from normstat.runtime import work_budget
from normstat.samples.lookup import InstanceNames, StatRef
from normstat.samples.sample_pages import Page, PageQuery, read_pages
from normstat.scoring.summary import FloatArray, IntArray
from normstat.stats.spec import Field
from normstat.window import Window

# Above the row limit, this many evenly spaced pieces are read.
N_PIECES: Final = 120
# In pieces with few samples most distances can be those between pieces.
PIECE_QUANTILE: Final = 0.1
# Tolerance of the row estimate from the first page.
ROUGHLY: Final = 1.2

# The time right before an incident that is looked at: as a multiple of the incident's length, so that it has several pieces.
BEFORE_LENGTHS: Final = 8
MAX_BEFORE: Final = timedelta(hours=1)
# Copies of a column while it is sorted: before and after.
MAX_COLUMN_BYTES: Final = 16


@dataclass(frozen=True, eq=False)
class StatSide:
    """One side of a stat.

    Shape: times_s (n_reports,), ascending; report, instance (n_rows,), sorted by instance, then time: which report and which of
    `names` a row is of; values[field] (n_rows,). Missing: NaN
    """

    stat: StatRef
    names: Sequence[str]
    times_s: FloatArray
    report: RowArray
    instance: RowArray
    values: Mapping[str, FloatArray]
    n_rows_skipped: int

    @property
    def n_rows(self) -> int:
        """Samples that were read."""
        return len(self.report)

    @property
    def covered_s(self) -> float:
        """Seconds with samples: each report covers the time to the next one, after a gap the median interval."""
        distances = np.diff(self.times_s)
        if len(distances) == 0:
            return 0.0
        if self.n_rows_skipped:
            # Evenly spaced pieces were read: between them the distances are large.
            interval = float(np.quantile(distances, PIECE_QUANTILE))
            return interval * len(self.times_s) * (self.n_rows + self.n_rows_skipped) / self.n_rows
        return coverage_of(self.times_s)[0]

    def counts(self) -> IntArray:
        """Return the number of samples of each instance. Shape: (n_instances,)"""
        return np.bincount(self.instance, minlength=len(self.names)).astype(np.int64)

    @cached_property
    def series(self) -> "SideSeries":
        """The series as matrices."""
        return SideSeries(self)

    def part(self, field: str, rows: slice) -> FloatArray:
        """Return some rows of a field, without making the others."""
        return _part_of(self.values, field, rows)

    def grid(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series (pairs of instance and field) by report: `SideSeries.grid`."""
        return self.series.grid(rows)

    def packed(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series without the reports that lack their instance: `SideSeries.packed`."""
        return self.series.packed(rows, self.longest(rows))

    def longest(self, rows: Iterable[tuple[str, str]]) -> int:
        """Return the most samples that one of these instances has."""
        counts = dict(zip(self.names, self.counts().tolist(), strict=True))
        return max((counts.get(name, 0) for name, _ in rows), default=0)

    def span(self, instance: str) -> slice | None:
        """Return the rows of an instance. Missing: None without rows."""
        if instance not in self.names:
            return None
        number = list(self.names).index(instance)
        start, end = np.searchsorted(self.instance, (number, number + 1)).tolist()
        return slice(start, end)


class SideSeries:
    """The series of a side as matrices, some at a time: where the rows of each instance are is found once."""

    def __init__(self, side: StatSide) -> None:
        # Not the side, which keeps this: what was read would wait for the garbage collector.
        self._values, self._report, self._n_reports = side.values, side.report, len(side.times_s)
        bounds = np.searchsorted(side.instance, np.arange(len(side.names) + 1)).tolist()
        self._spans = {name: slice(bounds[number], bounds[number + 1]) for number, name in enumerate(side.names)}
        self._every = np.arange(self._n_reports)
        self._is_whole: dict[str, bool] = {}

    def grid(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series (pairs of instance and field) by report. Missing: NaN. Shape: -> (n_series, n_reports)"""
        width = self._n_reports
        result = self._empty(len(rows), width)
        at = 0
        while at < len(rows):
            name, field = rows[at]
            span = self._spans.get(name)
            end = at + 1
            if span is None or field not in self._values:
                result[at] = np.nan
            elif self._is_in_all(name, span):
                # The instances after it, too, if they need no placement: many short columns are made at once.
                stop = span.stop
                while end < len(rows) and rows[end][1] == field and self._follows(rows[end][0], stop):
                    stop += width
                    end += 1
                result[at:end] = _part_of(self._values, field, slice(span.start, stop)).reshape(end - at, width)
            else:
                result[at] = np.nan
                result[at, self._report[span]] = _part_of(self._values, field, span)
            at = end
        return result

    def packed(self, rows: Sequence[tuple[str, str]], width: int) -> FloatArray:
        """Return the series without the reports that lack their instance. Missing: NaN. Shape: -> (n_series, width)"""
        result = self._empty(len(rows), width)
        for row, (name, field) in enumerate(rows):
            span = self._spans.get(name)
            values = np.empty(0) if span is None or field not in self._values else _part_of(self._values, field, span)
            result[row, : len(values)] = values
            result[row, len(values) :] = np.nan
        return result

    def _empty(self, n_rows: int, width: int) -> FloatArray:
        work_budget.use(work_budget.CELL_BYTES * n_rows * width)
        return np.empty((n_rows, width))

    def _follows(self, name: str, start: int) -> bool:
        """Return whether the rows of an instance begin there, one in every report."""
        span = self._spans.get(name)
        return span is not None and span.start == start and self._is_in_all(name, span)

    def _is_in_all(self, name: str, span: slice) -> bool:
        """Return whether an instance has one sample in every report."""
        if name not in self._is_whole:
            self._is_whole[name] = np.array_equal(self._report[span], self._every)
        return self._is_whole[name]


def _part_of(values: Mapping[str, FloatArray], field: str, rows: slice) -> FloatArray:
    return values.part(field, rows) if isinstance(values, StoredColumns) else values[field][rows]


def before_window(incident: Window, baseline: Windows) -> Window | None:
    """Return the time right before an incident, as far as it is not of the baseline itself.

    Missing: None where that is shorter than the incident
    """
    start = incident.start - min(MAX_BEFORE, BEFORE_LENGTHS * (incident.end - incident.start))
    ends = [min(window.end, incident.start) for window in baseline if window.start < incident.start and window.end > start]
    start = max([start, *ends])
    enough = min(incident.end - incident.start, MAX_BEFORE)
    return Window(start, incident.start) if incident.start - start >= enough else None


async def read_side(
    session: AsyncSession,
    host_id: int,
    stat: StatRef,
    windows: Windows,
    *,
    fields: Sequence[Field],
    max_rows: int | None,
    names: InstanceNames | None = None,
) -> StatSide:
    """Return the samples of a stat in a set of windows; above `max_rows` rows those of evenly spaced pieces, with the rest
    counted. `names`: those that a caller who reads again and again has looked up
    """
    n_skipped = 0
    rows = await _read_windows(session, host_id, stat, windows, fields=fields, max_rows=max_rows)
    if rows is None:
        assert max_rows is not None
        n_rows = sum([(await count_samples(session, stat.name, host_id, window)).n_rows for window in windows])
        chosen = windows if n_rows <= max_rows else sample_evenly(windows, max_rows / n_rows, N_PIECES)
        rows = await _read_windows(session, host_id, stat, chosen, fields=fields, max_rows=None) or GatheredRows(fields)
        n_skipped = max(0, n_rows - rows.n_rows)
    ids = await anyio.to_thread.run_sync(rows.find_ids)
    n_bytes = rows.n_rows * rows.row_bytes
    # Columns are taken out of what was gathered one by one; results of each series come on top.
    await work_budget.use_here(MAX_COLUMN_BYTES * rows.n_rows)
    await work_budget.keep_here(
        n_bytes + work_budget.SERIES_BYTES * len(ids) * rows.n_columns,
        f"{stat.name} ({len(ids):,} instances, {rows.n_rows:,} rows)",
    )
    known = await (names or InstanceNames()).of(session, ids)
    side = await work_budget.run_in_thread(_to_side, stat, rows, known, n_skipped)
    await work_budget.use_here(0)
    return side


async def _read_windows(
    session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, *, fields: Sequence[Field], max_rows: int | None
) -> GatheredRows | None:
    """Return the rows of the windows. Missing: None when they have, or by the first page will have, more rows than `max_rows`."""
    rows = GatheredRows(fields)
    for window in windows:
        async with aclosing(read_pages(session, PageQuery(stat.name, host_id, window, fields))) as coming:
            async for page in coming:
                is_first = rows.n_rows == 0
                await anyio.to_thread.run_sync(rows.add, page)
                await work_budget.use_here(rows.n_rows * rows.row_bytes)
                if max_rows is not None and max(rows.n_rows, _expect(page, windows) if is_first else 0) > max_rows:
                    return None
    return rows


def _expect(page: Page, windows: Windows) -> float:
    """Return the estimated rows of the windows from the first page; 0 from a page of one instant."""
    span_s = (int(page.time_us[-1]) - int(page.time_us[0])) / SECOND_US
    return len(page) / span_s * length_s(windows) / ROUGHLY if span_s else 0.0


def side_of_page(stat: StatRef, fields: Sequence[Field], page: Page, names: Mapping[int, str]) -> StatSide:
    """Return the side that one page of a few thousand rows is. `names`: of its instances, and perhaps of others"""
    rows = GatheredRows(fields)
    if len(page):
        rows.add(page)
    side = _to_side(stat, rows, names, 0)
    # Several readers want the same columns: each is converted once.
    return replace(side, values=dict(side.values))


def _to_side(stat: StatRef, gathered: GatheredRows, names: Mapping[int, str], n_skipped: int) -> StatSide:
    """Return the side that gathered rows make, which are gone afterwards."""
    rows = gathered.take()
    return StatSide(
        stat=stat,
        names=[names[id_] for id_ in rows.instance_ids.tolist()],
        times_s=rows.times_us / SECOND_US,
        report=rows.report,
        instance=rows.instance,
        values=rows.columns,
        n_rows_skipped=n_skipped,
    )
