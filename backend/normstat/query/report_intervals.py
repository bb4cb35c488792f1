"""The intervals at which tools report, along a window: what is missing from several reports has a gap there."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

import numpy as np
import psycopg
from psycopg import sql
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Stream
from normstat.db.session import driver_of
from normstat.samples.lookup import StatRef
from normstat.samples.sample_pages import load_sql
from normstat.samples.sample_source import open_source
from normstat.samples.sealed.sealed_reader import SealedQuery, read_block, read_report_times
from normstat.samples.sealed.sealed_rows import BlockSpan, find_blocks
from normstat.samples.stat_tables import table_of
from normstat.stats.records import Int64Array
from normstat.window import MICROSECOND, Window, from_us, to_us

# The window is probed at the beginning of each of as many parts, and near its end.
N_PARTS: Final = 8
# A statement costs time for every chunk of its days, so the probes of a long window have one each.
TOGETHER: Final = timedelta(days=2)
DAY: Final = timedelta(days=1)
# A window with more is one of many short files, which show no interval.
MAX_STREAMS: Final = 50
# Distances of four reports that differ more are events, not reports at an interval.
MAX_RATIO: Final = 3
# Reports in a row whose distances are compared.
N_REPORTS: Final = 4
HOT_REPORTS: Final = """
    SELECT DISTINCT time, stream_id FROM {table} WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s
"""
# A day of a large host at 1 s has millions of rows. Where the streams do not overlap, the first few reports after each start are
# enough.
FIRST_HOT_REPORTS: Final = """
    SELECT DISTINCT report.time, 0
    FROM unnest(%(starts)s::timestamptz[]) AS start (at)
    CROSS JOIN LATERAL (
        SELECT DISTINCT time FROM {table}
        WHERE host_id = %(host_id)s AND time >= %(start)s AND time < %(end)s AND time >= start.at ORDER BY time LIMIT %(n_reports)s
    ) AS report
"""
# Streams whose intervals differ more are distinguished.
SIMILAR: Final = 1.5


# A stream, a probe, and the reports that follow it.
Reports = tuple[int, datetime, list[datetime]]


@dataclass(frozen=True, slots=True)
class Intervals:
    """The reports of one instance's streams.

    Shape: start_us, interval_us (n,) int64, n > 0: the typical interval around an instant, start_us ascending
    """

    start_us: Int64Array
    interval_us: Int64Array

    def after(self, time_us: Int64Array) -> Int64Array:
        """Return the interval after each of these instants; between two probed places, the longer one of both."""
        places = np.clip(np.searchsorted(self.start_us, time_us, side="right") - 1, 0, None)
        after = np.minimum(places + 1, len(self.start_us) - 1)
        return np.asarray(np.maximum(self.interval_us[places], self.interval_us[after]))


@dataclass(frozen=True, slots=True)
class StreamSpan:
    """A stream, from its first to its last sample."""

    id: int
    first_sample_at: datetime
    last_sample_at: datetime


async def read_streams_of_hosts(
    session: AsyncSession, host_ids: Sequence[int], stat: StatRef, window: Window
) -> dict[int, list[StreamSpan]]:  # fmt: skip
    """Return the streams of a stat that reach into the window, by host: one more than MAX_STREAMS at most."""
    number = func.row_number().over(partition_by=Stream.host_id)
    own = (
        select(Stream.host_id, Stream.id, Stream.first_sample_at, Stream.last_sample_at, number.label("number"))
        .where(
            Stream.host_id.in_(host_ids),
            Stream.spec == stat.spec,
            Stream.first_sample_at < window.end,
            Stream.last_sample_at >= window.start,
        )
        .subquery()
    )
    columns = (own.c.host_id, own.c.id, own.c.first_sample_at, own.c.last_sample_at)
    found: dict[int, list[StreamSpan]] = {host_id: [] for host_id in host_ids}
    for host_id, *span in await session.execute(select(*columns).where(own.c.number <= MAX_STREAMS + 1)):
        found[host_id].append(StreamSpan(*span))
    return found


async def read_intervals(
    session: AsyncSession,
    host_id: int,
    stat: StatRef,
    window: Window,
    instance_ids: Sequence[int],
    *,
    streams: Sequence[StreamSpan] | None = None,
) -> dict[int, Intervals]:
    """Return the intervals of the reports that could have these instances, by instance. `streams`: where they are read already

    An instance that no probe shows may belong to any stream: it gets the longest interval of all. Missing: no entry where the
    instance's streams have no regular reports, such as files of one report each.
    """
    if streams is None:
        streams = (await read_streams_of_hosts(session, [host_id], stat, window))[host_id]
    if not instance_ids or not 0 < len(streams) <= MAX_STREAMS:
        return {}
    span = Window(
        max(window.start, min(stream.first_sample_at for stream in streams)),
        min(window.end, max(stream.last_sample_at for stream in streams) + MICROSECOND),
    )
    # By the times alone, where no two streams overlap.
    spans = sorted((stream.first_sample_at, stream.last_sample_at) for stream in streams)
    is_alone = all(last < first for (_, last), (first, _) in pairwise(spans))
    connection = await driver_of(session)
    reports: list[Reports] = []
    for part, probes in _parts_of(span):
        query = SealedQuery(host_id, stat.name, part, has_lines=not is_alone)
        reports += await _read_probes(connection, query, streams, probes)
    by_stream = find_intervals(reports)
    everything = _longest(by_stream.values())
    if everything is None:
        return {}
    streams_of: dict[int, set[int]] = defaultdict(set)
    if not _are_alike(by_stream, n_streams=len(streams)):
        times = [time for *_, some in reports for time in some]
        for stream_id, instance_id in await _find_instances(session, host_id, stat, times, instance_ids):
            streams_of[instance_id].add(stream_id)
    intervals = {}
    for instance_id in instance_ids:
        seen = streams_of.get(instance_id)
        chosen = everything if seen is None else _longest(by_stream[stream_id] for stream_id in seen if stream_id in by_stream)
        if chosen is not None:
            intervals[instance_id] = chosen
    return intervals


async def _read_probes(
    connection: psycopg.AsyncConnection, query: SealedQuery, streams: Sequence[StreamSpan], probes: Sequence[datetime]
) -> list[Reports]:
    """Return four reports in a row of each stream from each probe on, where there are as many.

    Without the query's `has_lines`, no two streams overlap, and a report's time identifies its stream.
    """
    blocks = await find_blocks(connection, query.host_id, query.stat, query.window)
    if blocks:
        # Where the reports begin that are asked for.
        starts = {max(probe, stream.first_sample_at) for probe in probes for stream in streams if probe <= stream.last_sample_at}
        reports = await _read_reports(connection, query, blocks, sorted(starts))
        return _find_reports(reports, streams, probes, is_alone=not query.has_lines)
    own = sql.SQL("stream_id = stream.id" if query.has_lines else "TRUE")
    asked = {
        "host_id": query.host_id,
        "start": query.window.start,
        "end": query.window.end,
        "probes": list(probes),
        "stream_ids": [stream.id for stream in streams],
        "firsts": [stream.first_sample_at for stream in streams],
        "lasts": [stream.last_sample_at for stream in streams],
    }
    statement = load_sql("report_intervals").format(table=table_of(query.stat), own=own)
    found = []
    for at, stream_id, times in await (await connection.execute(statement, asked, prepare=False)).fetchall():
        assert isinstance(at, datetime)
        assert isinstance(times, list)
        found.append((int(str(stream_id)), at, times))
    return found


async def _find_instances(
    session: AsyncSession, host_id: int, stat: StatRef, times: Sequence[datetime], instance_ids: Sequence[int]
) -> set[tuple[int, int]]:
    """Return stream and instance of the samples of these instances at these instants."""
    if not times:
        return set()
    connection = await driver_of(session)
    found: set[tuple[int, int]] = set()
    for part in _around(times):
        source = await open_source(connection, SealedQuery(host_id, stat.name, part, instance_ids=instance_ids, has_lines=True))
        asked = {
            "host_id": host_id,
            "start": part.start,
            "end": part.end,
            "times": [time for time in times if part.start <= time < part.end],
            "instance_ids": list(instance_ids),
            **source.parameters,
        }
        statement = load_sql("instances_of_reports").format(table=source.table)
        rows = await (await connection.execute(statement, asked, prepare=False)).fetchall()
        found |= {(int(str(stream_id)), int(str(instance_id))) for stream_id, instance_id in rows}
    return found


def _around(times: Sequence[datetime]) -> list[Window]:
    """Return windows of a day at most that hold these instants: probes of a year are far apart."""
    windows: list[Window] = []
    for time in sorted(set(times)):
        if windows and time - windows[-1].start < DAY:
            windows[-1] = Window(windows[-1].start, time + MICROSECOND)
        else:
            windows.append(Window(time, time + MICROSECOND))
    return windows


async def _read_reports(
    connection: psycopg.AsyncConnection, query: SealedQuery, blocks: Sequence[BlockSpan], starts: Sequence[datetime]
) -> tuple[Int64Array, Int64Array]:
    """Return time and stream of reports of the query's window, some of whose samples are sealed; ascending by time.

    Without the query's `has_lines` the streams are 0, and the first N_REPORTS from each of `starts` on are among the reports, but
    not all others.
    """
    if query.has_lines:
        rows = [await read_block(connection, query, block) for block in blocks]
        times, streams = [own.time_us for own in rows], [own.stream_id for own in rows]
    else:
        # Each block has a report at least.
        lasts = [block.last_us for block in blocks]
        firsts = {bisect_left(lasts, to_us(start)) for start in starts}
        near = {at for first in firsts for at in range(first, first + N_REPORTS)}
        some = [block for at, block in enumerate(blocks) if at in near]
        times = [own async for own in read_report_times(connection, query, some)]
        streams = [np.zeros(len(own), np.int64) for own in times]
    hot = sql.SQL(HOT_REPORTS if query.has_lines else FIRST_HOT_REPORTS).format(table=table_of(query.stat))
    asked = {
        "host_id": query.host_id,
        "start": query.window.start,
        "end": query.window.end,
        "starts": list(starts),
        "n_reports": N_REPORTS,
    }
    rows_left = await (await connection.execute(hot, asked, prepare=False)).fetchall()
    times.append(np.array([to_us(at) for at, _ in rows_left if isinstance(at, datetime)], np.int64))
    streams.append(np.array([int(str(stream_id)) for _, stream_id in rows_left], np.int64))
    reports = np.unique(np.stack([np.concatenate(times), np.concatenate(streams)], axis=1), axis=0)
    return reports[:, 0], reports[:, 1]


def _find_reports(
    reports: tuple[Int64Array, Int64Array], streams: Sequence[StreamSpan], probes: Sequence[datetime], *, is_alone: bool
) -> list[Reports]:
    """Return what report_intervals.sql returns, from the reports of a window."""
    found = []
    for stream in streams:
        first_us, last_us = to_us(stream.first_sample_at), to_us(stream.last_sample_at)
        times = reports[0] if is_alone else reports[0][reports[1] == stream.id]
        times = times[times <= last_us]
        for probe in probes:
            at = int(np.searchsorted(times, max(to_us(probe), first_us)))
            own = times[at : at + N_REPORTS]
            if to_us(probe) <= last_us and len(own) == N_REPORTS:
                found.append((stream.id, probe, [from_us(time) for time in own.tolist()]))
    return found


def _parts_of(span: Window) -> list[tuple[Window, list[datetime]]]:
    """Return what to read in one statement each: a window, and the instants from which on reports are read."""
    length_us = span.end_us - span.start_us
    probes = [from_us(span.start_us + number * length_us // N_PARTS) for number in range(N_PARTS)]
    # Some reports before the end.
    probes.append(from_us(span.end_us - min(length_us, max(1, length_us // (8 * N_PARTS)))))
    if span.end - span.start <= TOGETHER:
        return [(span, probes)]
    return [(Window(probe, min(span.end, probe + DAY)), [probe]) for probe in probes]


def find_intervals(reports: Iterable[tuple[int, datetime, list[datetime]]]) -> dict[int, dict[int, int]]:
    """Return the median distance of the reports by stream and probe, where they come at an interval."""
    by_stream: dict[int, dict[int, int]] = defaultdict(dict)
    for stream_id, at, times in reports:
        distances = sorted((later - earlier) // MICROSECOND for earlier, later in pairwise(times))
        if distances[-2] <= MAX_RATIO * distances[0]:
            by_stream[stream_id][to_us(at)] = distances[len(distances) // 2]
    return by_stream


def _are_alike(by_stream: Mapping[int, Mapping[int, int]], *, n_streams: int) -> bool:
    """Return whether all streams are known to report at about one interval, so that it does not matter which has an instance."""
    known = [interval for own in by_stream.values() for interval in own.values()]
    return n_streams == 1 or (len(by_stream) == n_streams and max(known) <= SIMILAR * min(known))


def _longest(streams: Iterable[Mapping[int, int]]) -> Intervals | None:
    """Return the longest interval of the streams at each place. Missing: None without any."""
    longest: dict[int, int] = {}
    for stream in streams:
        for at_us, interval_us in stream.items():
            longest[at_us] = max(interval_us, longest.get(at_us, 0))
    if not longest:
        return None
    places = sorted(longest)
    return Intervals(np.array(places, np.int64), np.array([longest[place] for place in places], np.int64))
