"""Read the samples of one side of a comparison, stat by stat, as a matrix of series and reports."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import anyio.to_thread
import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat import work_budget
from normstat.baselines.window_sets import Windows, length_s, sample_evenly
from normstat.profiles.sketch_builder import SECOND_US, coverage_of
from normstat.profiles.sketch_reader import to_rows
from normstat.query.sample_counts import count_samples
from normstat.scoring.summary import FloatArray, IntArray
from normstat.stats.spec import Field
from normstat.storage.lookup import StatRef, read_instance_names
from normstat.storage.sample_pages import Page, PageQuery, read_pages, to_codes
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


@dataclass(frozen=True, slots=True)
class StatSide:
    """One side of a stat.

    Shape: times_s (n_reports,), ascending; report, instance (n_rows,), sorted by instance, then time: which report and which of
    `names` a row is of; values[field] (n_rows,). Missing: NaN
    """

    stat: StatRef
    names: Sequence[str]
    times_s: FloatArray
    report: IntArray
    instance: IntArray
    values: dict[str, FloatArray]
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

    def grid(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series (pairs of instance and field) by report. Missing: NaN. Shape: -> (n_series, n_reports)"""
        return self._spread(rows, self.report, len(self.times_s))

    def packed(self, rows: Sequence[tuple[str, str]]) -> FloatArray:
        """Return the series without the reports that lack their instance. Shape: -> (n_series, most samples of one)"""
        begins = np.searchsorted(self.instance, np.arange(len(self.names)))
        place = np.arange(len(self.instance)) - begins[self.instance]
        counts = dict(zip(self.names, self.counts().tolist(), strict=True))
        return self._spread(rows, place, max((counts.get(name, 0) for name, _ in rows), default=0))

    def span(self, instance: str) -> slice | None:
        """Return the rows of an instance. Missing: None without rows."""
        if instance not in self.names:
            return None
        number = list(self.names).index(instance)
        start, end = np.searchsorted(self.instance, (number, number + 1)).tolist()
        return slice(start, end)

    def _spread(self, rows: Sequence[tuple[str, str]], place: IntArray, width: int) -> FloatArray:
        bounds = np.searchsorted(self.instance, np.arange(len(self.names) + 1)).tolist()
        spans = {name: slice(bounds[number], bounds[number + 1]) for number, name in enumerate(self.names)}
        # Instances in every report need no placement.
        whole = np.arange(width)
        names = {name for name, _ in rows if name in spans}
        is_whole = {name for name in names if np.array_equal(place[spans[name]], whole)}
        work_budget.use(work_budget.CELL_BYTES * len(rows) * width)
        result = np.empty((len(rows), width))
        for row, (name, field) in enumerate(rows):
            span, column = spans.get(name), self.values.get(field)
            if span is not None and column is not None and name in is_whole:
                result[row] = column[span]
                continue
            result[row] = np.nan
            if span is not None and column is not None:
                result[row, place[span]] = column[span]
        return result


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
    n_rows, n_keys = sum(map(len, pages)), sum(map(any, zip(*(page.has_values for page in pages), strict=True)))
    # The pages become columns of eight bytes; results of each series come on top.
    await work_budget.keep_here(
        8 * n_rows * (n_keys + 2) + work_budget.SERIES_BYTES * len(ids) * n_keys,
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


def _to_side(stat: StatRef, pages: Sequence[Page], fields: Sequence[Field], names: dict[int, str], n_skipped: int) -> StatSide:
    rows = to_rows(pages, fields, names)
    times_us, report = np.unique(rows.time_us, return_inverse=True)
    # By instance, then by time, so that a series is contiguous.
    order = np.argsort(rows.instance, kind="stable")
    return StatSide(
        stat=stat,
        names=rows.instances,
        times_s=times_us / SECOND_US,
        report=report.reshape(-1).astype(np.int64)[order],
        instance=rows.instance[order],
        values={key: make()[order] for key, make in rows.values.items()},
        n_rows_skipped=n_skipped,
    )
