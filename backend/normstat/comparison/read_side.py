"""Read the samples of one side of a comparison, stat by stat, as a matrix of series and reports."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, cast

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from sqlalchemy.ext.asyncio import AsyncSession

from normstat import work_budget
from normstat.baselines.window_sets import Windows, length_s, sample_evenly
from normstat.comparison.stored_columns import StoredColumns
from normstat.profiles.sketch_builder import SECOND_US, coverage_of
from normstat.query.sample_counts import count_samples
from normstat.scoring.summary import FloatArray, IntArray
from normstat.stats.spec import Field
from normstat.storage.lookup import StatRef, read_instance_names
from normstat.storage.sample_pages import Page, PageQuery, StoredArray, read_pages, to_codes
from normstat.window import Window

# Above the row limit, this many evenly spaced pieces are read.
N_PIECES: Final = 120
# In pieces with few samples most distances can be those between pieces.
PIECE_QUANTILE: Final = 0.1
# Tolerance of the row estimate from the first page.
ROUGHLY: Final = 1.2

# The time right before an incident that is looked at: so many times the incident's length, so that there are several pieces of it.
BEFORE_LENGTHS: Final = 8
MAX_BEFORE: Final = timedelta(hours=1)
# Of the report and the instance of a row.
ROW_BYTES: Final = 8

RowArray = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
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

    def part(self, field: str, rows: slice) -> FloatArray:
        """Return some rows of a field, without making the others."""
        return self.values.part(field, rows) if isinstance(self.values, StoredColumns) else self.values[field][rows]

    def grid(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series (pairs of instance and field) by report: `SideSeries.grid`."""
        return SideSeries(self).grid(rows)

    def packed(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series without the reports that lack their instance: `SideSeries.packed`."""
        return SideSeries(self).packed(rows, self.longest(rows))

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
        self._side = side
        bounds = np.searchsorted(side.instance, np.arange(len(side.names) + 1)).tolist()
        self._spans = {name: slice(bounds[number], bounds[number + 1]) for number, name in enumerate(side.names)}
        self._every = np.arange(len(side.times_s))
        self._is_whole: dict[str, bool] = {}

    def grid(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series (pairs of instance and field) by report. Missing: NaN. Shape: -> (n_series, n_reports)"""
        side, width = self._side, len(self._side.times_s)
        result = self._empty(len(rows), width)
        at = 0
        while at < len(rows):
            name, field = rows[at]
            span = self._spans.get(name)
            end = at + 1
            if span is None or field not in side.values:
                result[at] = np.nan
            elif self._is_in_all(name, span):
                # The instances after it, too, if they need no placement: many short columns are made at once.
                stop = span.stop
                while end < len(rows) and rows[end][1] == field and self._follows(rows[end][0], stop):
                    stop += width
                    end += 1
                result[at:end] = side.part(field, slice(span.start, stop)).reshape(end - at, width)
            else:
                result[at] = np.nan
                result[at, side.report[span]] = side.part(field, span)
            at = end
        return result

    def packed(self, rows: Sequence[tuple[str, str]], width: int) -> FloatArray:
        """Return the series without the reports that lack their instance. Missing: NaN. Shape: -> (n_series, width)"""
        result = self._empty(len(rows), width)
        for row, (name, field) in enumerate(rows):
            span = self._spans.get(name)
            values = np.empty(0) if span is None or field not in self._side.values else self._side.part(field, span)
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
            self._is_whole[name] = np.array_equal(self._side.report[span], self._every)
        return self._is_whole[name]


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
    session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, *, fields: Sequence[Field], max_rows: int | None
) -> StatSide:
    """Return the samples of a stat in a set of windows; above `max_rows` rows those of evenly spaced pieces, with the rest
    counted.
    """
    if not windows:
        return _to_side(stat, [], fields, {}, 0)
    n_skipped = 0
    pages = await _read_windows(session, host_id, stat, windows, fields=fields, max_rows=max_rows)
    if pages is None:
        assert max_rows is not None
        n_rows = sum([(await count_samples(session, stat.name, host_id, window)).n_rows for window in windows])
        chosen = windows if n_rows <= max_rows else sample_evenly(windows, max_rows / n_rows, N_PIECES)
        pages = await _read_windows(session, host_id, stat, chosen, fields=fields, max_rows=None) or []
        n_skipped = max(0, n_rows - sum(map(len, pages)))
    ids = await anyio.to_thread.run_sync(_find_ids, pages)
    n_rows, has_values = sum(map(len, pages)), [any(own) for own in zip(*(page.has_values for page in pages), strict=True)]
    n_keys = sum(has_values)
    row_bytes = ROW_BYTES + sum(
        column.dtype.itemsize for column, has in zip(pages[0].values if pages else (), has_values, strict=True) if has
    )
    # The pages become columns of the same types; results of each series come on top.
    await work_budget.keep_here(
        n_rows * row_bytes + work_budget.SERIES_BYTES * len(ids) * n_keys,
        f"{stat.name} ({len(ids):,} instances, {n_rows:,} rows)",
    )
    names = await read_instance_names(session, ids)
    side = await work_budget.run_in_thread(_to_side, stat, pages, fields, names, n_skipped)
    await work_budget.use_here(0)
    return side


def _find_ids(pages: Sequence[Page]) -> list[int]:
    """Return the ids of the instances of these pages."""
    return to_codes(np.concatenate([page.instance_id for page in pages]))[0].tolist() if pages else []


async def _read_windows(
    session: AsyncSession, host_id: int, stat: StatRef, windows: Windows, *, fields: Sequence[Field], max_rows: int | None
) -> list[Page] | None:
    """Return all pages of the windows. Missing: None when they have, or by the first page will have, more rows than `max_rows`."""
    pages: list[Page] = []
    n_rows = 0
    for window in windows:
        async with aclosing(read_pages(session, PageQuery(stat.name, host_id, window, fields))) as coming:
            async for page in coming:
                pages.append(page)
                n_rows += len(page)
                await work_budget.use_here(sum(map(_size_of, pages)))
                if max_rows is not None and max(n_rows, _expect(pages, windows)) > max_rows:
                    return None
    return pages


def _size_of(page: Page) -> int:
    # A column without values is one broadcast number.
    values = sum(column.nbytes for column, has in zip(page.values, page.has_values, strict=True) if has)
    return page.time_us.nbytes + page.instance_id.nbytes + values


def _expect(pages: Sequence[Page], windows: Windows) -> float:
    """Return the estimated rows of the windows from the first page; 0 with any other number of pages."""
    if len(pages) != 1:
        return 0.0
    times = pages[0].time_us
    span_s = (int(times[-1]) - int(times[0])) / SECOND_US
    return len(times) / span_s * length_s(windows) / ROUGHLY if span_s else 0.0


def _to_side(stat: StatRef, pages: list[Page], fields: Sequence[Field], names: dict[int, str], n_skipped: int) -> StatSide:
    """Return the side that pages make, whose columns are taken out of them one by one: `pages` is empty afterwards."""
    if not pages:
        nothing = np.empty(0, np.int32)
        return StatSide(stat, [], np.empty(0), nothing, nothing, {}, n_skipped)
    times_us, report = _number_reports(np.concatenate([page.time_us for page in pages]))
    ids, codes = to_codes(np.concatenate([page.instance_id for page in pages]))
    # By instance, then by time, so that a series is contiguous. Sorting codes of two bytes is quick.
    order = np.argsort(codes, kind="stable")
    has_values = [any(own) for own in zip(*(page.has_values for page in pages), strict=True)]
    parts = [list(own) for own in zip(*(page.values for page in pages), strict=True)]
    pages.clear()
    columns = {}
    for number, field in enumerate(fields):
        if has_values[number]:
            columns[field.key] = (field, cast("StoredArray", np.concatenate(parts[number])[order]))
        parts[number].clear()
    return StatSide(
        stat=stat,
        names=[names[id_] for id_ in ids.tolist()],
        times_s=times_us / SECOND_US,
        report=report[order],
        instance=codes.astype(np.int32)[order],
        values=StoredColumns(columns),
        n_rows_skipped=n_skipped,
    )


def _number_reports(times_us: IntArray) -> tuple[IntArray, RowArray]:
    """Return the distinct instants, ascending, and for each row the number of its instant."""
    steps = np.diff(times_us)
    if (steps < 0).any():
        distinct, report = np.unique(times_us, return_inverse=True)
        return distinct, report.reshape(-1).astype(np.int32)
    is_new = np.concatenate([[True], steps > 0])
    return times_us[is_new], (np.cumsum(is_new, dtype=np.int32) - 1).astype(np.int32)
