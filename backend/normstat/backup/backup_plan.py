"""Determines the pieces of a backup under the snapshot of its connection, and whether those of an older backup are still valid.

A mark shows that a piece did not change, without reading its rows. Samples of a stat, a day and some hosts: by the streams that
reach into that day; they only grow, or are replaced by a reparse, which is counted. Raw bytes: by the acknowledged offsets of the
streams, and how far they are packed; otherwise they never change. Sealed samples: by when each of a day's blocks was made.
Artefacts: their text by its hash, what was read from it by when it was last read. When the mark differs, the fingerprint counts the
rows and sums up which lines of which streams they are. Tables that have neither are copied every time; they are small.

Agents can send any offset, gap or time. So the number of pieces, and the memory of this plan, depend only on the stored bytes and
on the days that have samples.
"""

import bisect
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from psycopg import sql

from normstat.backup.backup_files import Connection
from normstat.db.connecting import is_citus
from normstat.db.schema.account_models import LoginAttempt
from normstat.db.schema.all_models import Base
from normstat.db.schema.artefact_models import ArtefactBytes, ArtefactPartRow
from normstat.db.schema.baseline_models import Profile, ProfilePiece
from normstat.db.schema.models import Chunk, Host, KnownBrowser, LoginLink, PackedChunk, Rollup, RollupMark, Session
from normstat.db.schema.process_models import ServerProcess
from normstat.db.schema.retention_models import DataCheck, StoreIdentity
from normstat.db.schema.sealed_models import SealedBlockRow
from normstat.samples.stat_tables import END_OF_TIME, SCHEMA, SQL_TYPES, table_of, time_bound, to_column
from normstat.stats.catalogue import load_catalogue

PUBLIC: Final = "public"
BASE_TYPES: Final[Mapping[str, str]] = {
    "time": "timestamptz",
    "line_offset": "bigint",
    "host_id": "integer",
    "instance_id": "integer",
    "stream_id": "integer",
    "printed": "text",
}
DAY: Final = timedelta(days=1)
# Number of hosts that share a piece: a day of a stat of all of them may be too much to repeat.
HOSTS_PER_PIECE: Final = 64
STREAMS_PER_PIECE: Final = 64
# Those of the last piece are copied again with every new artefact.
ARTEFACTS_PER_PIECE: Final = 32
# Of the stored bytes of each stream, not counting gaps.
WINDOW_BYTES: Final = 256 << 20
# For a stream that spans more days than this, only the days on which its host has samples are examined.
MAX_DAYS: Final = 400
# Above every offset: the column is an int8.
MAX_OFFSET: Final = 2**63 - 1
# Derived from samples, specific to this database, or useless in another one.
LEFT_OUT: Final = frozenset(
    model.__tablename__
    for model in (
        Rollup,
        RollupMark,
        ProfilePiece,
        Profile,
        Session,
        LoginLink,
        LoginAttempt,
        KnownBrowser,
        StoreIdentity,
        ServerProcess,
        DataCheck,
    )
)
# Large tables, of which a backup copies the changes.
IN_PIECES: Final = frozenset(model.__tablename__ for model in (Chunk, PackedChunk, SealedBlockRow, ArtefactBytes, ArtefactPartRow))
LEFT_OUT_COLUMNS: Final = frozenset(
    (Host.__tablename__, name) for name in ("rolled_until", "minutes_left_out_until", "profiled_until")
)

STREAMS: Final = """
    SELECT s.id, s.host_id, s.spec, s.stat_names, s.first_sample_at, s.last_sample_at, s.acked_offset, s.n_gap_bytes,
        coalesce(c.n_replaced, 0), coalesce(c.kept_from, 0), coalesce(c.packed_to, 0)
    FROM streams AS s LEFT JOIN stream_changes AS c ON c.stream_id = s.id
    ORDER BY s.id
"""
GAPS: Final = "SELECT start_offset, end_offset FROM gaps WHERE stream_id = %s ORDER BY start_offset"
# Stream by stream along the index: sorting all of them together would write gigabytes to disk.
CHUNKS: Final = """
    SELECT {columns}
    FROM unnest({ids}::int8[], {starts}::int8[], {ends}::int8[]) AS w(id, window_start, window_end)
    CROSS JOIN LATERAL (
        SELECT * FROM {table}
        WHERE stream_id = w.id AND start_offset >= w.window_start AND start_offset < w.window_end
        ORDER BY start_offset
    ) AS c
"""
# A worker joins its rows of these hosts; the coordinator sorts nothing.
CHUNKS_OF_CLUSTER: Final = """
    SELECT {columns}
    FROM {table} AS c JOIN unnest({ids}::int8[], {starts}::int8[], {ends}::int8[]) AS w(id, window_start, window_end)
        ON c.stream_id = w.id AND c.start_offset >= w.window_start AND c.start_offset < w.window_end
    WHERE c.host_id = ANY({hosts})
"""
BLOCKS: Final = """
    SELECT {columns}
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    WHERE s.name = {stat} AND b.host_id >= {first_host} AND b.host_id < {end_host} AND b.start_at >= {start} AND b.start_at < {end}
    ORDER BY b.host_id, b.start_at
"""
MARKS: Final = "SELECT stat, kept_from, marked_at FROM retention_marks"
FIELDS: Final = """
    SELECT s.name, f.key, f.position, f.definition, f.is_documented, f.host_id
    FROM stats AS s JOIN stat_fields AS f ON f.stat_id = s.id
    ORDER BY s.name, f.position
"""
# For each stat, group of hosts and day: a value that changes with its blocks.
SEALED: Final = """
    SELECT s.name, b.host_id / {hosts}, (b.start_at AT TIME ZONE 'UTC')::date,
        md5(string_agg(concat_ws(' ', b.host_id, b.start_at, b.made_at), ',' ORDER BY b.host_id, b.start_at))
    FROM sealed_blocks AS b JOIN stats AS s ON s.id = b.stat_id
    GROUP BY 1, 2, 3
    ORDER BY 1, 2, 3
"""
# A text never changes; its parts do when it is read again.
ARTEFACTS: Final = """
    SELECT id / {per_piece}, md5(string_agg(concat_ws(' ', id, sha256), ',' ORDER BY id)),
        md5(string_agg(concat_ws(' ', id, updated_at), ',' ORDER BY id))
    FROM artefacts
    GROUP BY 1
    ORDER BY 1
"""
OF_ARTEFACTS: Final = """
    SELECT {columns} FROM {table} WHERE artefact_id >= {first} AND artefact_id < {end} ORDER BY artefact_id, position
"""
NEXT_SAMPLE: Final = "SELECT min(time) FROM {table} WHERE host_id = %s AND time >= %s AND time <= %s"
FINGERPRINT: Final = """
    SELECT count(*), coalesce(sum(line_offset), 0), coalesce(sum(stream_id::int8), 0), coalesce(sum(instance_id::int8), 0)
    FROM {table}
    WHERE host_id = ANY({hosts}) AND time >= {start} AND time < {end}
"""


@dataclass(frozen=True, slots=True)
class PieceRequest:
    """A piece that the backup needs. `hosts`, `start` and `end` are set for samples.

    `replaced` distinguishes rows of the same lines that were read by different versions of a spec.
    """

    key: str
    schema: str
    table: str
    columns: list[str]
    query: sql.Composed
    mark: str
    replaced: str = ""
    hosts: Sequence[int] = ()
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreamRow:
    """The facts about a stream that the plan needs."""

    id: int
    host_id: int
    stats: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    acked: int
    n_lost: int
    n_replaced: int
    kept_from: int
    packed_to: int

    @property
    def first_day(self) -> date:
        """The day of its first sample; it must have one."""
        assert self.first is not None
        return self.first.date()

    @property
    def last_day(self) -> date:
        """The day of its last sample; it must have one."""
        assert self.last is not None
        return self.last.date()

    @property
    def is_long(self) -> bool:
        """Whether its samples span so much time that not every day in between is examined."""
        return (self.last_day - self.first_day).days > MAX_DAYS


@dataclass(frozen=True, slots=True)
class ByteWindow:
    """Bytes of a stream from `start` on, up to `end` or, in the last window, to its end."""

    stream: StreamRow
    start: int
    end: int | None

    @property
    def mark(self) -> list[int]:
        """A value that changes when the bytes of the window do."""
        stream = self.stream
        mark = [stream.id, stream.acked if self.end is None else min(stream.acked, self.end), max(stream.kept_from, self.start)]
        if stream.packed_to > self.start:
            mark.append(stream.packed_to if self.end is None else min(stream.packed_to, self.end))
        return mark


class BackupPlan:
    """All pieces, under the snapshot of the connection's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.stats: dict[str, dict[str, str]] = {}
        for name, *row in connection.execute(FIELDS).fetchall():
            types = self.stats.setdefault(str(name), dict(BASE_TYPES))
            types |= {key: SQL_TYPES[storage] for key, storage in to_column(row).types.items()}
        self._marks = {str(stat): (kept_from, marked_at) for stat, kept_from, marked_at in connection.execute(MARKS).fetchall()}
        query = sql.SQL(SEALED).format(hosts=sql.Literal(HOSTS_PER_PIECE))
        self._sealed = {
            (str(name), int(str(group)), day): str(mark)
            for name, group, day, mark in connection.execute(query).fetchall()
            if isinstance(day, date)
        }
        query = sql.SQL(ARTEFACTS).format(per_piece=sql.Literal(ARTEFACTS_PER_PIECE))
        self._artefacts = [(int(str(group)), str(text), str(parts)) for group, text, parts in connection.execute(query).fetchall()]
        self._streams = [_to_stream(row) for row in connection.execute(STREAMS).fetchall()]

    @property
    def tables(self) -> list[str]:
        """All tables except sample tables, in the order in which they can be filled."""
        return [table.name for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT]

    def pieces(self) -> Iterator[PieceRequest]:
        """Yield all pieces: first the large ones, last those that are copied every time."""
        for name in sorted(self.stats):
            yield from self._samples(name)
        yield from self._blocks()
        yield from self._chunks()
        for group, text_mark, parts_mark in self._artefacts:
            yield _artefacts_piece(ArtefactBytes.__tablename__, group, text_mark)
            yield _artefacts_piece(ArtefactPartRow.__tablename__, group, parts_mark)
        for name in self.tables:
            if name not in IN_PIECES:
                yield self._whole(name)

    def _whole(self, name: str) -> PieceRequest:
        table = Base.metadata.tables[name]
        columns = [column.name for column in table.columns if (name, column.name) not in LEFT_OUT_COLUMNS]
        query = sql.SQL("SELECT {columns} FROM {table} ORDER BY {key}").format(
            columns=_names(columns),
            table=sql.Identifier(PUBLIC, name),
            key=_names([column.name for column in table.primary_key.columns]),
        )
        return PieceRequest(f"tables/{name}", PUBLIC, name, columns, query, mark="")

    def _blocks(self) -> Iterator[PieceRequest]:
        columns = [column.name for column in Base.metadata.tables[SealedBlockRow.__tablename__].columns]
        for (name, group, day), mark in self._sealed.items():
            start = _start_of(day)
            query = sql.SQL(BLOCKS).format(
                columns=sql.SQL(", ").join(sql.Identifier("b", column) for column in columns),
                stat=sql.Literal(name),
                first_host=sql.Literal(group * HOSTS_PER_PIECE),
                end_host=sql.Literal((group + 1) * HOSTS_PER_PIECE),
                start=sql.Literal(start),
                end=sql.Literal(start + DAY),
            )
            key = f"sealed/{name}/{day:%Y}/{day.isoformat()}-{group}"
            yield PieceRequest(key, PUBLIC, SealedBlockRow.__tablename__, columns, query, mark=mark)

    def _chunks(self) -> Iterator[PieceRequest]:
        found: dict[tuple[int, int], list[ByteWindow]] = {}
        for stream in self._streams:
            edges = self._window_edges(stream)
            for number, (start, end) in enumerate(itertools.zip_longest(edges, edges[1:])):
                if end is None or end > stream.kept_from:
                    found.setdefault((stream.id // STREAMS_PER_PIECE, number), []).append(ByteWindow(stream, start, end))
        for (group, number), windows in sorted(found.items(), key=lambda item: item[0]):
            yield _bytes_piece(f"chunks/{group}-{number}", Chunk.__tablename__, windows)
            packed = [window for window in windows if window.stream.packed_to > window.start]
            if packed:
                yield _bytes_piece(f"packed_chunks/{group}-{number}", PackedChunk.__tablename__, packed)

    def _window_edges(self, stream: StreamRow) -> list[int]:
        """Return the offsets at which its windows begin: 0, and one after every WINDOW_BYTES stored. Empty without bytes."""
        if not stream.acked:
            return []
        n_windows = -(-(stream.acked - stream.n_lost) // WINDOW_BYTES)
        edges = [number * WINDOW_BYTES for number in range(max(1, n_windows))]
        if stream.n_lost and len(edges) > 1:
            # A server-side cursor: there may be as many gaps as bytes.
            with self._connection.cursor("gaps") as cursor:
                gaps = ((int(str(start)), int(str(end))) for start, end in cursor.execute(GAPS, [stream.id]))
                edges = list(_pass_gaps(edges, gaps))
        return edges

    def _samples(self, name: str) -> Iterator[PieceRequest]:
        groups: dict[int, list[StreamRow]] = {}
        for stream in self._streams:
            if name in stream.stats and stream.first is not None and stream.last is not None:
                groups.setdefault(stream.host_id // HOSTS_PER_PIECE, []).append(stream)
        for group, streams in sorted(groups.items()):
            for day, of_day in self._streams_by_day(name, streams):
                yield self._day(name, group, day, of_day)

    def _streams_by_day(self, name: str, streams: Sequence[StreamRow]) -> Iterator[tuple[date, list[StreamRow]]]:
        """Yield the days that may have samples, each with the streams that reach into it, in the order of `streams`."""
        host_days = self._find_host_days(name, [stream for stream in streams if stream.is_long])
        spans = [(stream.first_day, stream.last_day) for stream in streams if not stream.is_long]
        days = sorted({*_days_within(spans), *itertools.chain.from_iterable(host_days.values())})
        coming = sorted(range(len(streams)), key=lambda place: streams[place].first_day, reverse=True)
        reaching: list[int] = []
        for day in days:
            while coming and streams[coming[-1]].first_day <= day:
                bisect.insort(reaching, coming.pop())
            reaching = [place for place in reaching if streams[place].last_day >= day]
            here = [streams[place] for place in reaching]
            of_day = [stream for stream in here if not stream.is_long or day in host_days[stream.host_id]]
            if of_day:
                yield day, of_day

    def _day(self, name: str, group: int, day: date, streams: list[StreamRow]) -> PieceRequest:
        start = _start_of(day)
        end = END_OF_TIME if day == date.max else start + DAY
        hosts = sorted({stream.host_id for stream in streams})
        columns = list(self.stats[name])
        kept_from, marked_at = self._marks.get(name, (None, None))
        is_cut = isinstance(kept_from, datetime) and start < kept_from
        mark = _hash(
            [
                sorted(self.stats[name].items()),
                [[stream.id, stream.acked, stream.n_replaced] for stream in streams],
                str(marked_at) if is_cut else "",
                # Sealed samples are not rows any more.
                self._sealed.get((name, group, day), ""),
            ]
        )
        # In tables from before 0005 NULL means what '' means.
        shown = [sql.SQL("coalesce(printed, '')") if key == "printed" else sql.Identifier(key) for key in columns]
        query = sql.SQL("SELECT {columns} FROM {table} WHERE host_id = ANY({hosts}) AND time >= {start} AND time < {end}").format(
            columns=sql.SQL(", ").join(shown),
            table=table_of(name),
            hosts=sql.Literal(hosts),
            start=sql.Literal(start),
            end=time_bound(end),
        )
        key = f"samples/{name}/{day:%Y}/{day.isoformat()}-{group}"
        replaced = _hash([[stream.id, stream.n_replaced] for stream in streams if stream.n_replaced])
        return PieceRequest(key, SCHEMA, name, columns, query, mark=mark, replaced=replaced, hosts=hosts, start=start, end=end)

    def _find_host_days(self, name: str, streams: Sequence[StreamRow]) -> dict[int, frozenset[date]]:
        """Return the days on which the hosts of these streams have samples, within the time of the streams; one lookup per host."""
        spans: dict[int, tuple[datetime, datetime]] = {}
        for stream in streams:
            assert stream.first is not None
            assert stream.last is not None
            first, last = spans.get(stream.host_id, (stream.first, stream.last))
            spans[stream.host_id] = (min(first, stream.first), max(last, stream.last))
        return {host_id: frozenset(self._find_days(name, host_id, *span)) for host_id, span in spans.items()}

    def _find_days(self, name: str, host_id: int, first: datetime, last: datetime) -> Iterator[date]:
        query = sql.SQL(NEXT_SAMPLE).format(table=table_of(name))
        cursor = first
        while True:
            row = self._connection.execute(query, [host_id, cursor, last]).fetchone()
            found = None if row is None else row[0]
            if not isinstance(found, datetime):
                return
            day = found.astimezone(UTC).date()
            yield day
            if day >= last.date():
                return
            cursor = _start_of(day) + DAY


def _bytes_piece(key: str, table: str, windows: Sequence[ByteWindow]) -> PieceRequest:
    columns = [column.name for column in Base.metadata.tables[table].columns]
    query = sql.SQL(CHUNKS_OF_CLUSTER if is_citus() else CHUNKS).format(
        hosts=sql.Literal(sorted({window.stream.host_id for window in windows})),
        table=sql.Identifier(table),
        columns=sql.SQL(", ").join(sql.Identifier("c", name) for name in columns),
        ids=sql.Literal([window.stream.id for window in windows]),
        starts=sql.Literal([window.start for window in windows]),
        ends=sql.Literal([MAX_OFFSET if window.end is None else window.end for window in windows]),
    )
    return PieceRequest(key, PUBLIC, table, columns, query, mark=_hash([window.mark for window in windows]))


def _artefacts_piece(table: str, group: int, mark: str) -> PieceRequest:
    columns = [column.name for column in Base.metadata.tables[table].columns]
    query = sql.SQL(OF_ARTEFACTS).format(
        table=sql.Identifier(PUBLIC, table),
        columns=_names(columns),
        first=sql.Literal(group * ARTEFACTS_PER_PIECE),
        end=sql.Literal((group + 1) * ARTEFACTS_PER_PIECE),
    )
    return PieceRequest(f"{table}/{group}", PUBLIC, table, columns, query, mark=mark)


def read_fingerprint(connection: Connection, request: PieceRequest) -> tuple[int, str]:
    """Return the number of sample rows in the piece, and a fingerprint of them."""
    assert request.end is not None
    query = sql.SQL(FINGERPRINT).format(
        table=table_of(request.table),
        hosts=sql.Literal(list(request.hosts)),
        start=sql.Literal(request.start),
        end=time_bound(request.end),
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(str(row[0])), " ".join([*map(str, row), request.replaced])


def _to_stream(row: Sequence[object]) -> StreamRow:
    id_, host_id, spec, stat_names, first, last, acked, n_lost, n_replaced, kept_from, packed_to = row
    assert isinstance(stat_names, list)
    # The samples may be from a version that did not store the names yet.
    known = load_catalogue().specs.get(str(spec))
    names = [str(name) for name in stat_names] or ([stat.name for stat in known.stats] if known is not None else [])
    return StreamRow(
        id=int(str(id_)),
        host_id=int(str(host_id)),
        stats=tuple(names),
        first=first if isinstance(first, datetime) else None,
        last=last if isinstance(last, datetime) else None,
        acked=int(str(acked)),
        n_lost=int(str(n_lost)),
        n_replaced=int(str(n_replaced)),
        kept_from=int(str(kept_from)),
        packed_to=int(str(packed_to)),
    )


def _pass_gaps(kept_edges: Sequence[int], gaps: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Turn edges, counted in stored bytes and ascending, into offsets; `gaps` are [start, end) offsets, ascending.

    An edge that falls on a gap is placed before it, so that it does not move when the gap is the newest part.
    """
    n_lost = 0
    coming = iter(gaps)
    gap = next(coming, None)
    for edge in kept_edges:
        while gap is not None and gap[0] < edge + n_lost:
            n_lost += gap[1] - gap[0]
            gap = next(coming, None)
        yield edge + n_lost


def _days_within(spans: Iterable[tuple[date, date]]) -> Iterator[date]:
    """Yield every day of the spans once, in order; both ends of a span belong to it."""
    following = 0
    for first, last in sorted(spans):
        for number in range(max(following, first.toordinal()), last.toordinal() + 1):
            yield date.fromordinal(number)
        following = max(following, last.toordinal() + 1)


def _start_of(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _hash(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
