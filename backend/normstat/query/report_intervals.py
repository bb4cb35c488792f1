"""The intervals at which tools report, along a window: what is missing from several reports has a gap there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.stats.records import Int64Array
from normstat.storage.lookup import StatRef, read_possible_window
from normstat.storage.sample_pages import load_sql
from normstat.storage.session import driver_of
from normstat.storage.stat_tables import table_of
from normstat.window import Window

# The window is probed at this many places, and at its end.
N_STEPS: Final = 32
# Samples read at each place: several reports, but of a stat with thousands of instances one part only.
MIN_ROWS: Final = 64
MAX_ROWS: Final = 1000
REPORTS: Final = 4


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


async def read_intervals(
    session: AsyncSession, host_id: int, stat: StatRef, window: Window, instance_ids: Sequence[int]
) -> dict[int, Intervals]:
    """Return the intervals of the reports that could have these instances, by instance.

    An instance that no probe shows may belong to any stream: it gets the longest interval of all. Missing: no entry where the
    instance's streams have no two samples of any instance, such as files of one report each.
    """
    found = await read_possible_window(session, host_id, stat.id, window)
    if found is None or not instance_ids:
        return {}
    possible, n_instances = found
    step_us = max(1, -(-(possible.end_us - possible.start_us) // N_STEPS))
    connection = await driver_of(session)
    cursor = await connection.execute(
        load_sql("report_intervals").format(table=table_of(stat.name)),
        {
            "host_id": host_id,
            "start": possible.start,
            "end": possible.end,
            "step": timedelta(microseconds=step_us),
            "n_steps": N_STEPS,
            "n_rows": min(MAX_ROWS, max(MIN_ROWS, REPORTS * n_instances)),
            "instance_ids": list(instance_ids),
        },
        prepare=False,
    )
    by_stream: dict[int, dict[int, int]] = defaultdict(dict)
    streams_of: dict[int, set[int]] = defaultdict(set)
    for number, stream, interval_us, seen in await cursor.fetchall():
        stream_id, at_us = int(str(stream)), possible.start_us + int(str(number)) * step_us
        if interval_us is not None:
            by_stream[stream_id][at_us] = int(str(interval_us))
        assert isinstance(seen, list)
        for instance_id in seen:
            streams_of[instance_id].add(stream_id)
    known: dict[frozenset[int], Intervals | None] = {}
    intervals = {}
    for instance_id in instance_ids:
        streams = frozenset(streams_of.get(instance_id) or by_stream)
        if streams not in known:
            known[streams] = _longest([by_stream[stream_id] for stream_id in streams if stream_id in by_stream])
        if (found_intervals := known[streams]) is not None:
            intervals[instance_id] = found_intervals
    return intervals


def _longest(streams: Sequence[Mapping[int, int]]) -> Intervals | None:
    """Return the longest interval of the streams at each place. Missing: None without any."""
    longest: dict[int, int] = {}
    for stream in streams:
        for at_us, interval_us in stream.items():
            longest[at_us] = max(interval_us, longest.get(at_us, 0))
    if not longest:
        return None
    places = sorted(longest)
    return Intervals(np.array(places, np.int64), np.array([longest[place] for place in places], np.int64))
