"""Which pieces a backup has, under the snapshot of its connection, and whether those of an older one are still right.

A mark tells that a piece did not change, without a look at its rows. Samples of a stat, a day and some hosts: by the streams that
reach into that day; they only grow, or are replaced by a reparse, which is counted. Raw bytes: by how far the streams were
acknowledged; they are never changed. When the mark is another one, the fingerprint counts the rows and sums up which lines of which
streams they are. Tables that have neither are copied every time; they are small.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from psycopg import sql

from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Storage
from normstat.store.backup.files import Connection
from normstat.store.baseline_models import Profile, ProfileJob, ProfilePiece
from normstat.store.life_models import StoreIdentity
from normstat.store.models import Base, Chunk, Host, LoginLink, Rollup, RollupMark, Session
from normstat.store.stat_tables import SCHEMA, SQL_TYPES, table_of

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
# So many hosts share a piece: a day of a stat of all of them may be too much to begin again.
HOSTS_PER_PIECE: Final = 64
STREAMS_PER_PIECE: Final = 64
WINDOW_BYTES: Final = 256 << 20
# Of a stream that spans more days than this only those are looked at on which its host has samples.
MOST_DAYS: Final = 400
# Derived from samples, of this database alone, or of no use in another one.
LEFT_OUT: Final = frozenset(
    model.__tablename__ for model in (Rollup, RollupMark, ProfilePiece, Profile, ProfileJob, Session, LoginLink, StoreIdentity)
)  # fmt: skip
LEFT_OUT_COLUMNS: Final = frozenset({(Host.__tablename__, "rolled_until"), (Host.__tablename__, "profiled_until")})

STREAMS: Final = """
    SELECT s.id, s.host_id, s.spec, s.stat_names, s.first_sample_at, s.last_sample_at, s.acked_offset,
        coalesce(c.n_replaced, 0), coalesce(c.kept_from, 0)
    FROM streams AS s LEFT JOIN stream_changes AS c ON c.stream_id = s.id
    ORDER BY s.id
"""
MARKS: Final = "SELECT stat, kept_from, marked_at FROM retention_marks"
FIELDS: Final = """
    SELECT s.name, f.key, f.definition ->> 'storage'
    FROM stats AS s JOIN stat_fields AS f ON f.stat_id = s.id
    ORDER BY s.name, f.position
"""
NEXT_SAMPLE: Final = "SELECT min(time) FROM {table} WHERE host_id = %s AND time >= %s AND time <= %s"
FINGERPRINT: Final = """
    SELECT count(*), coalesce(sum(line_offset), 0), coalesce(sum(stream_id::int8), 0), coalesce(sum(instance_id::int8), 0)
    FROM {table}
    WHERE host_id = ANY({hosts}) AND time >= {start} AND time < {end}
"""


@dataclass(frozen=True, slots=True)
class Wish:
    """A piece that the backup must have. `hosts`, `start` and `end` are there for samples.

    `replaced` tells apart rows that are of the same lines and were read by different versions of a spec.
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
    """What is known of a stream."""

    id: int
    host_id: int
    stats: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    acked: int
    n_replaced: int
    kept_from: int


class Plan:
    """All pieces, under the snapshot that the connection's transaction has."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.stats: dict[str, dict[str, str]] = {}
        for name, key, storage in connection.execute(FIELDS).fetchall():
            types = self.stats.setdefault(str(name), dict(BASE_TYPES))
            types[str(key)] = SQL_TYPES[Storage(str(storage))]
        self._marks = {str(stat): (kept_from, marked_at) for stat, kept_from, marked_at in connection.execute(MARKS).fetchall()}
        self._streams = [_to_stream(row) for row in connection.execute(STREAMS).fetchall()]

    @property
    def tables(self) -> list[str]:
        """All tables but those of samples, in the order in which they can be filled."""
        return [table.name for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT]

    def wishes(self) -> Iterator[Wish]:
        """All pieces: first the large ones, last those that are copied every time."""
        for name in sorted(self.stats):
            yield from self._samples(name)
        yield from self._chunks()
        for name in self.tables:
            if name != Chunk.__tablename__:
                yield self._whole(name)

    def _whole(self, name: str) -> Wish:
        table = Base.metadata.tables[name]
        columns = [column.name for column in table.columns if (name, column.name) not in LEFT_OUT_COLUMNS]
        query = sql.SQL("SELECT {columns} FROM {table} ORDER BY {key}").format(
            columns=_names(columns),
            table=sql.Identifier(PUBLIC, name),
            key=_names([column.name for column in table.primary_key.columns]),
        )
        return Wish(f"tables/{name}", PUBLIC, name, columns, query, mark="")

    def _chunks(self) -> Iterator[Wish]:
        reaching: dict[tuple[int, int], list[StreamRow]] = {}
        for stream in self._streams:
            for window in range(stream.kept_from // WINDOW_BYTES, -(-stream.acked // WINDOW_BYTES)):
                reaching.setdefault((stream.id // STREAMS_PER_PIECE, window), []).append(stream)
        columns = [column.name for column in Base.metadata.tables[Chunk.__tablename__].columns]
        for (group, window), streams in sorted(reaching.items()):
            start, end = window * WINDOW_BYTES, (window + 1) * WINDOW_BYTES
            query = sql.SQL(
                "SELECT {columns} FROM chunks WHERE stream_id = ANY({ids}) AND start_offset >= {start} AND start_offset < {end}"
                " ORDER BY stream_id, start_offset"
            ).format(columns=_names(columns), ids=sql.Literal([stream.id for stream in streams]), start=start, end=end)
            mark = _hash([[stream.id, min(stream.acked, end), max(stream.kept_from, start)] for stream in streams])
            yield Wish(f"chunks/{group}-{window}", PUBLIC, Chunk.__tablename__, columns, query, mark=mark)

    def _samples(self, name: str) -> Iterator[Wish]:
        groups: dict[int, list[StreamRow]] = {}
        for stream in self._streams:
            if name in stream.stats and stream.first is not None and stream.last is not None:
                groups.setdefault(stream.host_id // HOSTS_PER_PIECE, []).append(stream)
        for group, streams in sorted(groups.items()):
            days: dict[date, list[StreamRow]] = {}
            for stream in streams:
                for day in self._days(name, stream):
                    days.setdefault(day, []).append(stream)
            for day, of_day in sorted(days.items()):
                yield self._day(name, group, day, of_day)

    def _day(self, name: str, group: int, day: date, streams: list[StreamRow]) -> Wish:
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        hosts = sorted({stream.host_id for stream in streams})
        columns = list(self.stats[name])
        kept_from, marked_at = self._marks.get(name, (None, None))
        is_cut = isinstance(kept_from, datetime) and start < kept_from
        mark = _hash(
            [
                sorted(self.stats[name].items()),
                [[stream.id, stream.acked, stream.n_replaced] for stream in streams],
                str(marked_at) if is_cut else "",
            ]
        )
        # In tables from before 0005 NULL means what '' means.
        shown = [sql.SQL("coalesce(printed, '')") if key == "printed" else sql.Identifier(key) for key in columns]
        query = sql.SQL("SELECT {columns} FROM {table} WHERE host_id = ANY({hosts}) AND time >= {start} AND time < {end}").format(
            columns=sql.SQL(", ").join(shown),
            table=table_of(name),
            hosts=sql.Literal(hosts),
            start=sql.Literal(start),
            end=sql.Literal(start + DAY),
        )
        key = f"samples/{name}/{day:%Y}/{day.isoformat()}-{group}"
        replaced = _hash([[stream.id, stream.n_replaced] for stream in streams if stream.n_replaced])
        return Wish(
            key, SCHEMA, name, columns, query, mark=mark, replaced=replaced, hosts=hosts, start=start, end=start + DAY
        )  # fmt: skip

    def _days(self, name: str, stream: StreamRow) -> Iterator[date]:
        assert stream.first is not None
        assert stream.last is not None
        day, last = stream.first.date(), stream.last.date()
        if (last - day).days <= MOST_DAYS:
            for number in range((last - day).days + 1):
                yield day + number * DAY
            return
        cursor: object = stream.first
        query = sql.SQL(NEXT_SAMPLE).format(table=table_of(name))
        while isinstance(cursor, datetime):
            row = self._connection.execute(query, [stream.host_id, cursor, stream.last]).fetchone()
            found = None if row is None else row[0]
            if not isinstance(found, datetime):
                return
            day = found.astimezone(UTC).date()
            yield day
            if day >= last:
                return
            cursor = datetime(day.year, day.month, day.day, tzinfo=UTC) + DAY


def read_fingerprint(connection: Connection, wish: Wish) -> tuple[int, str]:
    """How many rows of samples the piece has, and which they are."""
    query = sql.SQL(FINGERPRINT).format(
        table=table_of(wish.table), hosts=sql.Literal(list(wish.hosts)), start=sql.Literal(wish.start), end=sql.Literal(wish.end)
    )
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(str(row[0])), " ".join([*map(str, row), wish.replaced])


def _to_stream(row: Sequence[object]) -> StreamRow:
    id_, host_id, spec, stat_names, first, last, acked, n_replaced, kept_from = row
    assert isinstance(stat_names, list)
    # A program that did not note the names yet may have written the samples.
    known = load_catalogue().specs.get(str(spec))
    names = [str(name) for name in stat_names] or ([stat.name for stat in known.stats] if known is not None else [])
    return StreamRow(
        id=int(str(id_)),
        host_id=int(str(host_id)),
        stats=tuple(names),
        first=first if isinstance(first, datetime) else None,
        last=last if isinstance(last, datetime) else None,
        acked=int(str(acked)),
        n_replaced=int(str(n_replaced)),
        kept_from=int(str(kept_from)),
    )


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _hash(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]
