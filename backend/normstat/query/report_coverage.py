"""When a host has samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

import numpy as np
import psycopg
from sqlalchemy import BigInteger, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Gap, Stream
from normstat.db.session import driver_of
from normstat.query.envelope import GAP_FACTOR, GapFinder
from normstat.query.sample_counts import count_samples
from normstat.runtime.field_docs import Documented
from normstat.samples.lookup import StatRef, list_host_stats, require_host
from normstat.samples.sample_pages import PageQuery, load_sql, read_page
from normstat.samples.sealed.sealed_reader import SealedQuery, read_report_times
from normstat.samples.sealed.sealed_rows import BlockSpan, find_blocks
from normstat.samples.stat_tables import table_of
from normstat.stats.records import Int64Array
from normstat.window import MICROSECOND, Window, clamp, from_us, to_us

# The report interval is probed at the beginning, in the middle and at the end of the data.
N_PROBES: Final = 3
VALUES_PER_PROBE: Final = 4000
# Up to this many samples are counted exactly (about 0.2 s); above, the number is estimated from the probes.
COUNT_LIMIT: Final = 2_000_000
# The window is scanned in at most this many steps.
MAX_PARTS: Final = 50
DAY: Final = timedelta(days=1)
SECOND_US: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class StatCoverage(Documented):
    """When a stat has samples inside the window."""

    stat: str
    n_samples: int
    """Exact up to about two million; above, the number of reports times the samples per report."""

    interval_s: float | None
    """The typical interval of two reports; null with fewer than two."""

    covered: list[Window]


@dataclass(frozen=True, slots=True)
class GapInfo:
    """Bytes that the agent had to drop before it could send them, by stream and request."""

    spec: str
    key: str
    reported_at: datetime
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Coverage(Documented):
    """The coverage of a host."""

    host: str
    start: datetime
    end: datetime
    first_sample_at: datetime | None
    """Over all time; null without samples."""

    last_sample_at: datetime | None
    """Over all time; null without samples."""

    stats: list[StatCoverage]
    """Stats with samples inside the window."""

    gaps: list[GapInfo]


async def read_coverage(session: AsyncSession, host: str, window: Window, width: int = 1000) -> Coverage:
    """Return the covered intervals of every stat of the host, at the resolution of a bar `width` pixels wide.

    Raises: NotFound for an unknown host
    """
    host_id = await require_host(session, host)
    first, last = await read_first_and_last(session, host_id)
    # A request may report thousands of gaps of one stream; they count as one event.
    gaps = await session.execute(
        select(Stream.spec, Stream.key, Gap.reported_at, cast(func.sum(Gap.end_offset - Gap.start_offset), BigInteger))
        .join(Stream, Stream.id == Gap.stream_id)
        .where(Stream.host_id == host_id, Gap.reported_at >= window.start, Gap.reported_at < window.end)
        .group_by(Stream.id, Stream.spec, Stream.key, Gap.reported_at)
        .order_by(Gap.reported_at, Stream.id)
    )
    stats = [await read_stat_coverage(session, host_id, stat, window, width) for stat in await list_host_stats(session, host_id)]
    return Coverage(
        host=host,
        start=window.start,
        end=window.end,
        first_sample_at=first,
        last_sample_at=last,
        stats=[stat for stat in stats if stat.n_samples],
        gaps=[GapInfo(*gap) for gap in gaps],
    )


async def read_first_and_last(session: AsyncSession, host_id: int) -> tuple[datetime | None, datetime | None]:
    """Return the first and the last sample of a host over all time, limited to the years a window may have.

    Missing: None when it has none.
    """
    first, last = func.min(Stream.first_sample_at), func.max(Stream.last_sample_at)
    row = (await session.execute(select(first, last).where(Stream.host_id == host_id))).one()
    # Older versions accepted samples of the years 1 to 9999; callers do arithmetic with the result.
    return (None, None) if row[0] is None or row[1] is None else (clamp(row[0]), clamp(row[1]))


async def read_stat_coverage(session: AsyncSession, host_id: int, stat: StatRef, window: Window, width: int) -> StatCoverage:
    """Return when one stat of a host has samples. Missing: no interval and 0 samples when the window has none."""
    first_us, last_us = await read_steps(session, host_id, stat, window, width)
    if len(first_us) == 0:
        return StatCoverage(stat.name, 0, None, [])
    probed = await probe(session, host_id, stat, Window(from_us(int(first_us[0])), window.end), first_us)
    covered = find_covered(first_us, last_us, probed.interval_us, window)
    n_expected = probed.estimate(covered)
    n_samples = n_expected
    if n_expected <= COUNT_LIMIT:
        n_samples = (await count_samples(session, stat.name, host_id, window)).n_rows
    return StatCoverage(stat.name, n_samples, None if probed.interval_us is None else probed.interval_us / SECOND_US, covered)


def find_covered(first_us: Int64Array, last_us: Int64Array, interval_us: float | None, window: Window) -> list[Window]:
    """Return the intervals between gaps; each sample covers the typical interval after it.

    Shape: first_us, last_us (n,) int64, the first and last sample of each time step that has one, ascending
    """
    distances = first_us[1:] - last_us[:-1]
    breaks = np.flatnonzero(distances > GAP_FACTOR * np.maximum(GapFinder().usual(distances), interval_us or 0))
    starts = first_us[np.concatenate([[0], breaks + 1])]
    ends = last_us[np.concatenate([breaks, [len(last_us) - 1]])] + int(interval_us or SECOND_US)
    latest = np.concatenate([starts[1:], [window.end_us]])
    return [
        Window(from_us(start), from_us(end)) for start, end in zip(starts.tolist(), np.minimum(ends, latest).tolist(), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class ReportEstimate:
    """The reports of a stat, estimated from a few probes."""

    interval_us: float | None
    n_rows_per_report: float

    def estimate(self, covered: list[Window]) -> int:
        """Return the estimated number of samples in the covered intervals."""
        if self.interval_us is None:
            return 1
        n_reports = sum(1_000_000 * piece.length_s / self.interval_us for piece in covered)
        return round(n_reports * self.n_rows_per_report)


async def probe(session: AsyncSession, host_id: int, stat: StatRef, window: Window, first_us: Int64Array) -> ReportEstimate:
    """Return the interval and size of a few reports: at the beginning, in the middle and at the end of the window's data."""
    starts = sorted({int(first_us[position * (len(first_us) - 1) // (N_PROBES - 1)]) for position in range(N_PROBES)})
    distances, n_rows, n_reports = [], 0, 0
    for start_us in starts:
        part = Window(from_us(start_us), window.end)
        page = await read_page(session, PageQuery(stat.name, host_id, part, [], values_per_page=VALUES_PER_PROBE))
        reports, sizes = np.unique(page.time_us, return_counts=True)
        distances.append(np.diff(reports))
        # The page may have truncated the last report.
        whole = sizes[:-1] if len(sizes) > 1 else sizes
        n_rows, n_reports = n_rows + int(whole.sum()), n_reports + len(whole)
    known = np.concatenate(distances)
    return ReportEstimate(float(np.median(known)) if len(known) else None, n_rows / max(1, n_reports))


async def read_steps(
    session: AsyncSession, host_id: int, stat: StatRef, window: Window, width: int
) -> tuple[Int64Array, Int64Array]:
    """Return the first and the last sample of each of `width` steps of the window that has one.

    Shape: (n,) int64 both     Units: microseconds since the epoch
    """
    step = timedelta(microseconds=max(1000, -(-(window.end_us - window.start_us) // width)))
    n_steps = -(-(window.end - window.start) // step)
    # One day at a time, unless that needs too many queries: each query costs time for every chunk of its days.
    n_parts = min(n_steps, MAX_PARTS, max(1, (window.end - window.start) // DAY))
    edges = [number * n_steps // n_parts for number in range(n_parts + 1)]
    connection = await driver_of(session)
    statement = load_sql("coverage").format(table=table_of(stat.name))
    rows: list[tuple[int, int]] = []
    for first_step, end_step in pairwise(edges):
        part = {
            "host_id": host_id,
            "start": window.start + first_step * step,
            "end": min(window.end, window.start + end_step * step),
            "step": step,
            "n_steps": end_step - first_step,
        }
        cursor = await connection.execute(statement, part, prepare=False)
        rows += [
            (to_us(first), to_us(last))
            for first, last in await cursor.fetchall()
            if isinstance(first, datetime) and isinstance(last, datetime)
        ]
    steps = np.array(rows, dtype=np.int64).reshape(-1, 2)
    blocks = await find_blocks(connection, host_id, stat.name, window)
    if blocks:
        steps = await _add_sealed(connection, SealedQuery(host_id, stat.name, window), blocks, step, steps)
    return steps[:, 0], steps[:, 1]


async def _add_sealed(
    connection: psycopg.AsyncConnection, query: SealedQuery, blocks: Sequence[BlockSpan], step: timedelta, steps: Int64Array
) -> Int64Array:
    """Return the first and last sample of each step, of rows and of blocks. Shape: (n, 2), ascending"""
    step_us, start_us = step // MICROSECOND, query.window.start_us
    ends = np.array([(block.first_us, block.last_us) for block in blocks], np.int64)
    number = (ends - start_us) // step_us
    # All of it is in one step, as mostly in a graph of a year.
    is_within = (number[:, 0] == number[:, 1]) & (ends[:, 0] >= start_us) & (ends[:, 1] < query.window.end_us)
    found = [steps, ends[is_within]]
    others = [block for block, within in zip(blocks, is_within.tolist(), strict=True) if not within]
    async for times in read_report_times(connection, query, others):
        at = (times - start_us) // step_us
        firsts = np.flatnonzero(np.diff(at, prepend=-1))
        lasts = np.concatenate([firsts[1:] - 1, [len(times) - 1]]) if len(times) else firsts
        found.append(np.stack([times[firsts], times[lasts]], axis=1))
    joined = np.concatenate(found)
    number = (joined[:, 0] - start_us) // step_us
    distinct, places = np.unique(number, return_inverse=True)
    merged = np.empty((len(distinct), 2), np.int64)
    merged[:, 0], merged[:, 1] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    np.minimum.at(merged[:, 0], places, joined[:, 0])
    np.maximum.at(merged[:, 1], places, joined[:, 1])
    return merged
