"""Reads and writes the host and stream rows of a batch of requests, with one statement for all of them.

A fleet sends hundreds of small requests per second. Their cost in statements decides how many hosts a server can serve, so these
rows are read and written for all requests of a batch at once, and without ORM objects.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

import orjson
import psycopg

from normstat.db.schema.models import to_timing
from normstat.samples.binary_arrays import accept_arrays, to_array
from normstat.samples.stream_rows import COUNTERS, LIVE_CHANNEL, StreamName
from normstat.stats.records import LineKind, State, Timing

MICRO: Final = 1_000_000
NOTED_EVERY: Final = timedelta(minutes=1)
# Time after a host's last request until another machine may send as it; the same machine, restarted, may send sooner.
GONE_AFTER: Final = timedelta(minutes=10)
RESTART_TAKES: Final = timedelta(minutes=1)
# Maximum bytes of a notification; PostgreSQL takes less than 8000.
MAX_PAYLOAD_BYTES: Final = 7900

ADD_HOSTS: Final = "INSERT INTO hosts (name) SELECT unnest(%(names)s::text[]) ON CONFLICT (name) DO NOTHING"
# In the order of the ids, so that two batches cannot deadlock.
LOCK_HOSTS: Final = """
    SELECT id, name, os, agent_version, agent_tags, clock_offset_s, rolled_until, profiled_until, instance_epoch,
        machine, machine_at, other_machine_at, now()
    FROM hosts WHERE name = ANY(%(names)s) ORDER BY id FOR NO KEY UPDATE
"""
SAVE_HOSTS: Final = """
    UPDATE hosts SET
        last_seen_at = CASE WHEN new.is_live THEN now() ELSE hosts.last_seen_at END,
        os = new.os, agent_version = new.agent_version, clock_offset_s = new.clock_offset_s,
        agent_tags = string_to_array(new.agent_tags, ','),
        machine = new.machine, machine_at = CASE WHEN new.is_live AND new.machine <> '' THEN now() ELSE hosts.machine_at END
    FROM unnest(%(ids)s::int8[], %(is_live)s::bool[], %(os)s::text[], %(agent_versions)s::text[], %(agent_tags)s::text[],
            %(clock_offsets)s::float8[], %(machines)s::text[])
        AS new(id, is_live, os, agent_version, agent_tags, clock_offset_s, machine)
    WHERE hosts.id = new.id
"""
NOTE_OTHER_MACHINE: Final = "UPDATE hosts SET other_machine_at = now() WHERE id = %(host_id)s"
VALID_TOKENS: Final = """
    SELECT id FROM agent_tokens
    WHERE id = ANY(%(ids)s::int8[]) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
"""
STREAM_COLUMNS: Final = f"""
    host_id, id, spec, key, command, acked_offset, spec_version, reader_version, reader_state, last_received_at, first_sample_at,
    last_sample_at, {", ".join(COUNTERS.values())}, bytes_by_kind, n_gap_bytes, time_zone, first_day, start_at,
    interval_s, is_first_real, stat_names, is_finished, shift_s
"""
FIND_STREAMS: Final = f"""
    SELECT {STREAM_COLUMNS} FROM streams
    WHERE (host_id, spec, key) IN (SELECT * FROM unnest(%(host_ids)s::int8[], %(specs)s::text[], %(keys)s::text[]))
"""  # noqa: S608
# The key is compared as a whole, so that the index over (host_id, spec, key) is read once per host and not once per key.
OTHER_SPECS: Final = """
    SELECT s.host_id, s.key, s.spec
    FROM unnest(%(host_ids)s::int8[]) AS h(id)
    CROSS JOIN LATERAL (
        SELECT host_id, key, spec FROM streams WHERE host_id = h.id AND (key || '') = ANY(%(keys)s::text[])
    ) AS s
"""
COUNT_HOSTS: Final = "SELECT count(*) FROM hosts"
ADD_STREAMS: Final = f"""
    INSERT INTO streams (host_id, spec, key)
    SELECT * FROM unnest(%(host_ids)s::int8[], %(specs)s::text[], %(keys)s::text[])
    RETURNING {STREAM_COLUMNS}
"""  # noqa: S608
SAVED: Final = (
    ("command", "text"),
    ("acked_offset", "int8"),
    ("spec_version", "int8"),
    ("reader_version", "int8"),
    ("reader_state", "jsonb"),
    ("last_received_at", "timestamptz"),
    ("first_sample_at", "timestamptz"),
    ("last_sample_at", "timestamptz"),
    *((name, "int8") for name in COUNTERS.values()),
    ("bytes_by_kind", "jsonb"),
    ("n_gap_bytes", "int8"),
    ("time_zone", "text"),
    ("first_day", "date"),
    ("start_at", "timestamptz"),
    ("interval_s", "float8"),
    ("is_first_real", "bool"),
    ("is_finished", "bool"),
    ("shift_s", "float8"),
)
SAVE_STREAMS: Final = f"""
    UPDATE streams SET {", ".join(f"{name} = new.{name}" for name, _ in SAVED)},
        stat_names = CASE WHEN new.stat_names IS NULL THEN streams.stat_names ELSE string_to_array(new.stat_names, ' ') END
    FROM unnest(%(id)s::int8[], %(stat_names)s::text[], {", ".join(f"%({name})s::{type_}[]" for name, type_ in SAVED)})
        AS new(id, stat_names, {", ".join(name for name, _ in SAVED)})
    WHERE streams.id = new.id
    RETURNING streams.id, streams.xmin::text
"""  # noqa: S608
NOTE_LATE: Final = """
    INSERT INTO stream_changes (stream_id, n_late, late_from, unscored_from)
    SELECT id, 1, first_at, first_at FROM unnest(%(ids)s::int8[], %(firsts)s::timestamptz[]) AS late(id, first_at)
    ON CONFLICT (stream_id) DO UPDATE SET
        n_late = stream_changes.n_late + 1, late_from = least(stream_changes.late_from, excluded.late_from),
        unscored_from = least(stream_changes.unscored_from, excluded.unscored_from)
"""
ANNOUNCE: Final = "SELECT pg_notify(%(channel)s, payload) FROM unnest(%(payloads)s::text[]) AS news(payload)"


@dataclass(slots=True)
class OpenHost:
    """A host whose row is locked until the end of the transaction."""

    id: int
    name: str
    os: str
    agent_version: str
    agent_tags: list[str]
    clock_offset_s: float | None
    rolled_until: datetime | None
    profiled_until: datetime | None
    instance_epoch: int
    machine: str
    machine_at: datetime | None
    other_machine_at: datetime | None
    # When the transaction began, by the clock of the database.
    now: datetime
    # Whether an agent sent now; an import says nothing about the host's present state.
    is_live: bool = False

    def is_taken_from(self, machine: str) -> bool:
        """Return whether a machine other than the one that sends as this host wants to: their rows would be mixed in one series.

        Of the two numbers of a machine, a restart changes only the second: it may go on soon, while a copy of the machine, which
        differs in the second as well, sends beside it all the time.
        """
        if not machine or not self.machine or machine == self.machine or self.machine_at is None:
            return False
        is_same = machine.partition(".")[0] == self.machine.partition(".")[0]
        return self.now - self.machine_at < (RESTART_TAKES if is_same else GONE_AFTER)


@dataclass(slots=True)
class OpenStream:
    """A stream of a locked host; the columns are those of models.Stream."""

    host_id: int
    id: int
    spec: str
    key: str
    command: str
    acked_offset: int
    spec_version: int
    reader_version: int
    reader_state: State
    last_received_at: datetime | None
    first_sample_at: datetime | None
    last_sample_at: datetime | None
    n_lines: dict[LineKind, int]
    bytes_by_kind: dict[str, int]
    n_gap_bytes: int
    time_zone: str | None
    first_day: date | None
    start_at: datetime | None
    interval_s: float | None
    is_first_real: bool
    stat_names: list[str]
    is_finished: bool
    shift_s: float
    has_new_stats: bool = field(default=False)

    @property
    def timing(self) -> Timing:
        """The timing given from outside (by an import)."""
        return to_timing(
            self.key,
            self.time_zone,
            self.first_day,
            self.start_at,
            self.interval_s,
            is_first_real=self.is_first_real,
            shift_s=self.shift_s,
        )

    @property
    def n_all_lines(self) -> int:
        """The number of lines of the stream so far, of all kinds."""
        return sum(self.n_lines.values())


async def add_hosts(connection: psycopg.AsyncConnection, names: Iterable[str]) -> None:
    """Create the missing hosts; in a short transaction of its own, because others may be creating them too."""
    await connection.execute(ADD_HOSTS, {"names": sorted(set(names))})


async def lock_hosts(connection: psycopg.AsyncConnection, names: Iterable[str]) -> dict[str, OpenHost]:
    """Return the existing hosts by name, locked until the end of the transaction."""
    cursor = await connection.execute(LOCK_HOSTS, {"names": sorted(set(names))})
    return {str(row[1]): OpenHost(*row) for row in await cursor.fetchall()}


async def note_other_machine(connection: psycopg.AsyncConnection, host: OpenHost) -> None:
    """Note that another machine tried to send as this host; once a minute is enough."""
    if host.other_machine_at is None or host.now - host.other_machine_at > NOTED_EVERY:
        await connection.execute(NOTE_OTHER_MACHINE, {"host_id": host.id})
        host.other_machine_at = host.now


async def save_hosts(connection: psycopg.AsyncConnection, hosts: Sequence[OpenHost]) -> None:
    """Write what the requests reported about their hosts."""
    arguments = {
        "ids": to_array("int8", [host.id for host in hosts]),
        "is_live": to_array("bool", [host.is_live for host in hosts]),
        "os": to_array("text", [host.os for host in hosts]),
        "agent_versions": to_array("text", [host.agent_version for host in hosts]),
        # Tags hold no commas.
        "agent_tags": to_array("text", [",".join(host.agent_tags) for host in hosts]),
        "clock_offsets": to_array("float8", [host.clock_offset_s for host in hosts]),
        "machines": to_array("text", [host.machine for host in hosts]),
    }
    accept_arrays(connection)
    await connection.execute(SAVE_HOSTS, arguments)


async def find_valid_tokens(connection: psycopg.AsyncConnection, ids: Iterable[int]) -> set[int]:
    """Return those of the agent tokens that are neither revoked nor expired."""
    cursor = await connection.execute(VALID_TOKENS, {"ids": sorted(set(ids))})
    return {int(str(id_)) for (id_,) in await cursor.fetchall()}


async def count_hosts(connection: psycopg.AsyncConnection) -> int:
    """Return the number of hosts, including those being deleted."""
    row = await (await connection.execute(COUNT_HOSTS)).fetchone()
    assert row is not None
    return int(str(row[0]))


async def find_streams(
    connection: psycopg.AsyncConnection, names: Iterable[tuple[int, StreamName]]
) -> dict[tuple[int, StreamName], OpenStream]:
    """Return the existing streams, by host and (spec, key)."""
    return await _read_streams(connection, FIND_STREAMS, sorted(set(names)))


async def open_streams(
    connection: psycopg.AsyncConnection,
    names: Iterable[tuple[int, StreamName]],
    known: Mapping[tuple[int, StreamName], OpenStream],
) -> dict[tuple[int, StreamName], OpenStream]:
    """Return the streams by host and (spec, key), created if they are not `known`; the rows of their hosts must be locked."""
    # Looked up before inserted: an insert that ends in a conflict would use up an id of the sequence every time.
    new = sorted(set(names) - set(known))
    return {**known, **(await _read_streams(connection, ADD_STREAMS, new) if new else {})}


async def find_specs_of_keys(
    connection: psycopg.AsyncConnection, names: Iterable[tuple[int, StreamName]]
) -> dict[tuple[int, str], set[str]]:
    """Return the specs under which these hosts have streams of these keys, by host and key. Slow: call it for new streams only."""
    wanted = sorted(set(names))
    arguments = {"host_ids": sorted({host_id for host_id, _ in wanted}), "keys": sorted({key for _, (_, key) in wanted})}
    specs: dict[tuple[int, str], set[str]] = {}
    for host_id, key, spec in await (await connection.execute(OTHER_SPECS, arguments)).fetchall():
        specs.setdefault((int(str(host_id)), str(key)), set()).add(str(spec))
    return specs


async def _read_streams(
    connection: psycopg.AsyncConnection, statement: str, names: Sequence[tuple[int, StreamName]]
) -> dict[tuple[int, StreamName], OpenStream]:
    arguments = {
        "host_ids": [host_id for host_id, _ in names],
        "specs": [spec for _, (spec, _) in names],
        "keys": [key for _, (_, key) in names],
    }
    cursor = await connection.execute(statement, arguments)
    first = 12
    last = first + len(COUNTERS)
    found = {}
    rows: list[tuple[Any, ...]] = await cursor.fetchall()
    for row in rows:
        counts = dict(zip(COUNTERS, row[first:last], strict=True))
        cells: list[Any] = [*row[:first], counts, *row[last:]]
        stream = OpenStream(*cells)
        found[stream.host_id, (stream.spec, stream.key)] = stream
    return found


@dataclass(frozen=True, slots=True)
class SavedStream:
    """A stream as it was written: the version of its row, and its state as JSON. Missing: None for a state with other numbers than
    those of 64 bits, which is not the same after orjson has read it.
    """

    stream: OpenStream
    version: str
    state: bytes | None


class StreamWriting:
    """Streams that are being written, perhaps in a pipeline."""

    def __init__(self, streams: Sequence[OpenStream], states: Sequence[bytes | None], cursor: psycopg.AsyncCursor) -> None:
        self._streams = streams
        self._states = states
        self._cursor = cursor

    async def finish(self) -> list[SavedStream]:
        """Return what was written; after the pipeline, if there is one."""
        versions: dict[object, object] = dict(await self._cursor.fetchall())
        both = zip(self._streams, self._states, strict=True)
        return [SavedStream(stream, str(versions[stream.id]), state) for stream, state in both if stream.id in versions]


async def save_streams(connection: psycopg.AsyncConnection, streams: Sequence[OpenStream]) -> StreamWriting:
    """Write the present state of the streams."""
    states = [_encode(stream.reader_state) for stream in streams]
    columns: dict[str, Sequence[Any]] = {
        name: [stream.n_lines[_COUNTED[name]] for stream in streams]
        if name in _COUNTED
        else [getattr(stream, name) for stream in streams]
        for name, _ in SAVED
    }
    columns["reader_state"] = [
        state or json.dumps(stream.reader_state).encode() for state, stream in zip(states, streams, strict=True)
    ]
    columns["bytes_by_kind"] = [orjson.dumps(stream.bytes_by_kind) for stream in streams]
    arguments = {name: to_array(type_, columns[name]) for name, type_ in SAVED}
    arguments["id"] = to_array("int8", [stream.id for stream in streams])
    # Names of stats contain no blanks.
    arguments["stat_names"] = to_array(
        "text", [" ".join(stream.stat_names) if stream.has_new_stats else None for stream in streams]
    )
    accept_arrays(connection)
    return StreamWriting(streams, states, await connection.execute(SAVE_STREAMS, arguments))


def _encode(state: State) -> bytes | None:
    """Return the state as JSON. Missing: None for one with other numbers than those of 64 bits."""
    try:
        return orjson.dumps(state)
    except TypeError:
        return None


def _join_json(objects: Iterable[bytes]) -> str:
    return (b"[" + b",".join(objects) + b"]").decode()


async def note_late(connection: psycopg.AsyncConnection, firsts: Mapping[int, datetime]) -> None:
    """Note that samples came for a time that streams had passed, by the stream's id the time of the first of them: what was
    computed from it is outdated.
    """
    if firsts:
        ids = sorted(firsts)
        await connection.execute(NOTE_LATE, {"ids": ids, "firsts": [firsts[id_] for id_ in ids]})


_COUNTED: Final[Mapping[str, LineKind]] = {name: kind for kind, name in COUNTERS.items()}


async def announce_all(connection: psycopg.AsyncConnection, news: Mapping[tuple[str, str], datetime]) -> None:
    """Announce up to when a host (by name) has samples of a spec; nothing is announced if the transaction fails."""
    if news:
        events = [orjson.dumps({"host": host, "spec": spec, "last_sample_at": at}) for (host, spec), at in news.items()]
        await connection.execute(ANNOUNCE, {"channel": LIVE_CHANNEL, "payloads": list(_group_events(events))})


def _group_events(events: Sequence[bytes]) -> Iterator[str]:
    """Yield arrays of the events, each small enough for a notification: one for each event costs as much as all of the rest."""
    group: list[bytes] = []
    n_bytes = 0
    for event in events:
        if group and n_bytes + len(event) >= MAX_PAYLOAD_BYTES:
            yield _join_json(group)
            group, n_bytes = [], 0
        group.append(event)
        n_bytes += len(event) + 1
    yield _join_json(group)
