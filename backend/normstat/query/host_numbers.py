"""The numbers of hosts: what each sent last, and sums over its streams, as arrays.

The database sends one row of arrays: ten thousand rows would take ten times as long to receive, and be as many objects for the
garbage collector to look at.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import exists, select, text, tuple_
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from normstat.db.schema.models import Stream
from normstat.db.session import driver_of
from normstat.query.reject_rise import read_reject_counts
from normstat.samples.binary_arrays import POSTGRES_EPOCH_US, from_array
from normstat.stats.engine.times.calls import stream_interval
from normstat.window import to_us

LIVE_WITHIN: Final = timedelta(seconds=30)
LATE_WITHIN: Final = timedelta(minutes=10)
# A report is this much later than its interval says, at most, before its stream is late: agents send every 5 s by default.
GRACE: Final = timedelta(seconds=20)
# Longer intervals are not believed.
MAX_INTERVAL_S: Final = 86_400
# A time that is missing: what PostgreSQL sends for -infinity.
NO_TIME: Final = np.iinfo(np.int64).min

Ints = NDArray[np.int64]


class StreamState(StrEnum):
    """live: data within 30 s, or within the interval of its command where that is longer; late: up to 10 min; silent: longer ago;
    recorded: imported from files, no more data will come."""

    LIVE = "live"
    LATE = "late"
    SILENT = "silent"
    RECORDED = "recorded"


# The best first.
STATES: Final = tuple(StreamState)
LIVE, LATE, SILENT, RECORDED = range(len(STATES))

# A hash of what the list shows of a host's row, without what each request of its agent changes.
TEXTS_HASH: Final = "hash_record_extended(ROW(name, os, agent_version, tags, agent_tags), id)"
NOT_DELETED: Final = "id NOT IN (SELECT host_id FROM host_deletions)"
VERSION: Final = f"SELECT count(*), coalesce(bit_xor({TEXTS_HASH}), 0) FROM hosts WHERE {NOT_DELETED}"  # noqa: S608
# By column of HostNumbers: numbers of eight bytes, none of them NULL, so that their arrays are read as they come.
COLUMNS: Final[Mapping[str, str]] = {
    "ids": "id::int8",
    "texts_hash": TEXTS_HASH,
    "stats_hash": "coalesce(stats_hash, 0)",
    "last_seen_us": "coalesce(last_seen_at, '-infinity')",
    "clock_offset_s": "coalesce(clock_offset_s, 'NaN')",
    "n_streams": "coalesce(n_streams, 0)",
    "n_recorded": "coalesce(n_recorded, 0)",
    "n_live": "coalesce(n_live, 0)",
    "n_rejected": "coalesce(n_rejected, 0)",
    "last_received_us": "coalesce(last_received_at, '-infinity')",
    "first_sample_us": "coalesce(first_sample_at, '-infinity')",
    "last_sample_us": "coalesce(last_sample_at, '-infinity')",
}
# `n_recorded` are imported files, which do not count in `n_live` and `last_received_at`.
NUMBERS: Final = f"""
    SELECT {", ".join(f"array_agg({value})" for value in COLUMNS.values())}
    FROM hosts LEFT JOIN (
        SELECT host_id, count(*) AS n_streams, count(*) FILTER (WHERE is_finished) AS n_recorded,
            count(*) FILTER (WHERE NOT is_finished AND last_received_at > %(live_from)s) AS n_live,
            sum(n_rejected)::int8 AS n_rejected, max(last_received_at) FILTER (WHERE NOT is_finished) AS last_received_at,
            min(first_sample_at) AS first_sample_at, max(last_sample_at) AS last_sample_at,
            bit_xor(hash_array_extended(stat_names, streams.id)) AS stats_hash
        FROM streams WHERE {{of_host}} GROUP BY host_id
    ) AS sums ON host_id = id
    WHERE {{chosen}}
"""  # noqa: S608


class HostsVersion(NamedTuple):
    """Which hosts there are, and all about them that does not change while they only send: as a number and a hash."""

    n_hosts: int
    hash: int


async def read_hosts_version(session: AsyncSession) -> HostsVersion:
    """Return the version of the list: another one after a host came, left, or got other tags. 4 ms for ten thousand hosts."""
    n_hosts, own_hash = (await session.execute(text(VERSION))).one()
    return HostsVersion(n_hosts, own_hash)


@dataclass(frozen=True, slots=True)
class HostNumbers:
    """The numbers of hosts, by ascending id.

    Shape: each array (n_hosts,); `states` are positions in STATES. Hashes are of the texts of a host's row, and of the stats of its
    streams: other ones after these changed.
    Units: `_us` microseconds since the epoch
    Missing: NO_TIME; NaN for an unknown clock offset
    """

    ids: Ints
    texts_hash: Ints
    stats_hash: Ints
    last_seen_us: Ints
    clock_offset_s: NDArray[np.float64]
    n_streams: Ints
    n_streams_live: Ints
    n_rejected: Ints
    n_rejected_last_hour: Ints
    n_rejected_hour_before: Ints
    first_sample_us: Ints
    last_sample_us: Ints
    states: Ints

    @property
    def version(self) -> HostsVersion:
        """The version of the list, as `read_hosts_version` returns it."""
        return HostsVersion(len(self.ids), int(np.bitwise_xor.reduce(self.texts_hash)))


async def read_numbers(session: AsyncSession, now: datetime, host_id: int | None) -> HostNumbers:
    """Return the numbers of one host, or of all that are not being deleted, with the state of their streams at `now`."""
    statement = (
        NUMBERS.format(of_host="true", chosen=NOT_DELETED)
        if host_id is None
        else NUMBERS.format(of_host="host_id = %(host_id)s", chosen="id = %(host_id)s")
    )
    found = await _read_arrays(session, statement, {"live_from": now - LIVE_WITHIN, "host_id": host_id})
    order = np.argsort(found["ids"])
    found = {name: values[order] for name, values in found.items()}
    ids, n_recorded, n_live, last_received_us = (
        found["ids"], found.pop("n_recorded"), found.pop("n_live"), found.pop("last_received_us"),
    )  # fmt: skip
    live_us, late_us = map(to_us, _state_limits(now, None))
    own = [
        n_live > 0,
        (n_recorded > 0) & (n_recorded == found["n_streams"]),
        last_received_us > live_us,
        last_received_us > late_us,
    ]
    states = np.select(own, [LIVE, RECORDED, LIVE, LATE], SILENT)
    n_streams_live = n_live.copy()
    # A host that is being deleted may still have streams.
    positions = {int(id_): position for position, id_ in enumerate(ids)} if len(ids) else {}
    for own_id, patient in (await _read_patient(session, now, host_id)).items():
        if (position := positions.get(own_id)) is not None:
            n_streams_live[position] += patient.count(LIVE)
            states[position] = min(states[position], *patient)
    last_hour, hour_before = np.zeros((2, len(ids)), np.int64)
    for own_id, rejects in (await read_reject_counts(session, now, host_id)).items():
        if (position := positions.get(own_id)) is not None:
            last_hour[position], hour_before[position] = rejects.last_hour, rejects.hour_before
    return HostNumbers(
        **found,
        n_streams_live=n_streams_live,
        n_rejected_last_hour=last_hour,
        n_rejected_hour_before=hour_before,
        states=states,
    )


async def _read_arrays(session: AsyncSession, statement: str, arguments: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Return COLUMNS as one row of arrays has them."""
    cursor = await (await driver_of(session)).execute(statement, arguments, binary=True)
    assert cursor.pgresult is not None, "it returned a row"
    arrays: dict[str, NDArray[Any]] = {}
    for number, name in enumerate(COLUMNS):
        # Without hosts there is no array.
        cells = cursor.pgresult.get_value(0, number) or b""
        values = from_array(cells, "f" if name == "clock_offset_s" else "i")
        arrays[name] = np.where(values == NO_TIME, NO_TIME, values + POSTGRES_EPOCH_US) if name.endswith("_us") else values
    return arrays


async def _read_patient(session: AsyncSession, now: datetime, host_id: int | None) -> Mapping[int, list[int]]:
    """Return the states of streams without data for 30 s that are not silent because they report at a longer interval, by host, as
    positions in STATES.
    """
    quiet = [~Stream.is_finished, Stream.last_received_at <= now - LIVE_WITHIN]
    if host_id is not None:
        quiet.append(Stream.host_id == host_id)
    oldest = now - timedelta(seconds=MAX_INTERVAL_S) - LATE_WITHIN - GRACE
    # A fleet has few commands, and many streams of each: those that tools left behind when they were last started again, too.
    commands = await session.scalars(select(Stream.command).where(*quiet, Stream.last_received_at > oldest).distinct())
    limits = {command: _state_limits(now, stream_interval(command)) for command in commands}
    if not limits:
        return {}
    later = aliased(Stream)
    # Only for streams that have been silent for this long and no longer it matters whether another one continued.
    oldest = min(late_from for _, late_from in limits.values())
    has_successor = exists().where(
        later.host_id == Stream.host_id,
        later.spec == Stream.spec,
        ~later.is_finished,
        tuple_(later.created_at, later.id) > tuple_(Stream.created_at, Stream.id),
    )
    asked = select(Stream.host_id, Stream.command, Stream.last_received_at).where(
        *quiet, Stream.last_received_at > oldest, ~has_successor
    )
    states: dict[int, list[int]] = {}
    for own_id, command, last_received_at in await session.execute(asked):
        live_from, late_from = limits[command]
        assert last_received_at is not None, "it is within the window"
        if last_received_at > late_from:
            states.setdefault(own_id, []).append(LIVE if last_received_at > live_from else LATE)
    return states


def to_state(
    last_received_at: datetime | None, now: datetime, *, is_recorded: bool = False, interval_s: float | None = None
) -> StreamState:
    """Return the state of a stream that last sent at `last_received_at`, by the server's clock, and reports every `interval_s`."""
    if is_recorded:
        return StreamState.RECORDED
    live_from, late_from = _state_limits(now, interval_s)
    if last_received_at is None or last_received_at <= late_from:
        return StreamState.SILENT
    return StreamState.LIVE if last_received_at > live_from else StreamState.LATE


def _state_limits(now: datetime, interval_s: float | None) -> tuple[datetime, datetime]:
    """Return the instants after which a stream that reports every `interval_s` must have sent to be live, and to be late."""
    longer = timedelta(0)
    if interval_s is not None and interval_s <= MAX_INTERVAL_S:
        longer = max(longer, timedelta(seconds=interval_s) + GRACE - LIVE_WITHIN)
    return now - LIVE_WITHIN - longer, now - LATE_WITHIN - longer
