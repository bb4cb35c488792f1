"""Metadata of many hosts for their lines, read for all hosts of a stat at once: instances, streams, rollup state.

Read host by host, this takes longer than the samples do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of
from normstat.query.report_intervals import StreamSpan, read_streams_of_hosts
from normstat.samples.lookup import InstanceRef, StatRef, list_latest_instances_of_hosts
from normstat.samples.rollups.rollup_reader import Rolled, read_rolled_of_hosts
from normstat.window import Window

# Hosts read at once, so that statements and memory stay small.
MAX_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class HostBatch:
    """By host id, of one stat in one window. Missing: a host without an entry has none."""

    instances: Mapping[int, tuple[list[InstanceRef], int]] = field(default_factory=dict)
    streams: Mapping[int, Sequence[StreamSpan]] = field(default_factory=dict)
    rolled: Mapping[int, Rolled] = field(default_factory=dict)


async def read_batch(
    session: AsyncSession, host_ids: Sequence[int], stat: StatRef, window: Window, *, max_instances: int
) -> HostBatch:  # fmt: skip
    """Return the metadata of a stat for these hosts. `max_instances`: of each host, with their total number"""
    connection: psycopg.AsyncConnection = await driver_of(session)
    instances: dict[int, tuple[list[InstanceRef], int]] = {}
    streams: dict[int, Sequence[StreamSpan]] = {}
    rolled: dict[int, Rolled] = {}
    for start in range(0, len(host_ids), MAX_AT_ONCE):
        some = host_ids[start : start + MAX_AT_ONCE]
        instances |= await list_latest_instances_of_hosts(session, some, stat, window, limit=max_instances)
        streams |= await read_streams_of_hosts(session, some, stat, window)
        rolled |= await read_rolled_of_hosts(connection, some, stat.id, window)
    return HostBatch(instances, streams, rolled)
