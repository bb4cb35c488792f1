"""Stage the samples of one stream: first into temporary tables, then all at once into the wide tables, replacing the old ones.

    staged        rows are copied, piece by piece, into a temporary table for each stat: invisible to others, a crash leaves nothing
    replaced      in one transaction the old rows of the stream go and the staged ones come: a reader sees all old or all new

Instances that do not exist yet get their numbers when their first row is staged, and their rows in the last transaction, so that no
page lists an instance without samples.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np
import psycopg
from psycopg import sql

from normstat.db.hypertables import make_chunks_for
from normstat.db.session import WriteSession, driver_of
from normstat.samples.instance_cache import forget_instances
from normstat.samples.packed_instances import find_packed, restore_instances, restore_named
from normstat.samples.profile_marks import Changed, mark_profiles
from normstat.samples.rollups.rollup_marks import hours_of, mark_changed
from normstat.samples.rollups.rollup_rows import HOUR_US
from normstat.samples.sample_source import open_source
from normstat.samples.samples import RowTarget, copy_block, instance_spans
from normstat.samples.sealed.sealed_reader import SealedQuery
from normstat.samples.sealed.sealed_rows import RemovedRows, delete_stream
from normstat.samples.stat_tables import BASE_COLUMNS, SQL_TYPES, StoredStat, table_of
from normstat.stats.records import SampleBlock
from normstat.window import MICROSECOND, Window, from_us

TEMPORARY: Final = "pg_temp"

FIND_INSTANCES: Final = """
    SELECT name, id FROM instances
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND name = ANY(%(names)s)
      AND md5(name)::uuid IN (SELECT md5(wanted)::uuid FROM unnest(%(names)s::text[]) AS wanted)
"""
RESERVE_IDS: Final = "SELECT nextval(pg_get_serial_sequence('instances', 'id')) FROM generate_series(1, %(n)s)"
ADD_INSTANCES: Final = """
    INSERT INTO instances (id, host_id, stat_id, name, first_sample_at, last_sample_at) OVERRIDING SYSTEM VALUE
    SELECT id, %(host_id)s, %(stat_id)s, name, first, last
    FROM unnest(%(ids)s::int8[], %(names)s::text[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[])
      AS new(id, name, first, last)
    ON CONFLICT (host_id, stat_id, (md5(name)::uuid)) DO NOTHING
    RETURNING name
"""
WIDEN_INSTANCES: Final = """
    UPDATE instances SET first_sample_at = least(first_sample_at, seen.first), last_sample_at = greatest(last_sample_at, seen.last)
    FROM unnest(%(ids)s::int8[], %(firsts)s::timestamptz[], %(lasts)s::timestamptz[]) AS seen(id, first, last)
    WHERE instances.id = seen.id AND (instances.first_sample_at > seen.first OR instances.last_sample_at < seen.last)
"""
# One pass over the host's samples of the time in which these instances had any.
NARROW_INSTANCES: Final = """
    WITH wanted AS (
        SELECT id, first_sample_at, last_sample_at FROM instances WHERE id = ANY(%(ids)s::int8[])
    ), seen AS (
        SELECT instance_id, min(time) AS first, max(time) AS last
        FROM {table} AS t
        WHERE host_id = %(host_id)s AND instance_id = ANY(%(ids)s::int8[])
          AND time >= (SELECT min(first_sample_at) FROM wanted) AND time <= (SELECT max(last_sample_at) FROM wanted)
        GROUP BY instance_id
    ), ends AS (
        SELECT id, first, last FROM wanted LEFT JOIN seen ON seen.instance_id = wanted.id
    ), gone AS (
        DELETE FROM instances USING ends WHERE instances.id = ends.id AND ends.first IS NULL
    )
    UPDATE instances SET first_sample_at = ends.first, last_sample_at = ends.last
    FROM ends WHERE instances.id = ends.id AND ends.first IS NOT NULL
"""
SPAN_OF_INSTANCES: Final = "SELECT min(first_sample_at), max(last_sample_at) FROM instances WHERE id = ANY(%(ids)s::int8[])"
DELETE_ROWS: Final = """
    WITH gone AS (
        DELETE FROM {table}
        WHERE host_id = %(host_id)s AND stream_id = %(stream_id)s AND time >= %(first)s AND time <= %(last)s
        RETURNING instance_id, time
    )
    SELECT instance_id, count(*), min(time), max(time), NULL::int8 FROM gone GROUP BY instance_id
    UNION ALL
    SELECT NULL, 0, NULL, NULL, floor(extract(epoch FROM time) / 3600)::int8 AS hour FROM gone GROUP BY hour
"""
READ_ROLLED: Final = """
    SELECT s.name, s.id, h.rolled_until, h.profiled_until
    FROM stats AS s, hosts AS h WHERE h.id = %(host_id)s AND s.name = ANY(%(names)s)
"""

Span = tuple[datetime, datetime]


@dataclass(slots=True)
class StagedStat:
    """The staged rows of one stat. `spans` and `ids` by the names of the instances; those in `reserved` may not exist yet.

    `ids` are the numbers in the staged rows, `hours_us` the begins of the hours that these are in. `n_new`
    counts those in `reserved` by the hours of their first samples.
    """

    stored: StoredStat
    columns: set[str] = field(default_factory=set)
    ids: dict[str, int] = field(default_factory=dict)
    reserved: set[str] = field(default_factory=set)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    hours_us: set[int] = field(default_factory=set)
    n_new: Counter[int] = field(default_factory=Counter)
    n_rows: int = 0

    @property
    def table(self) -> sql.Identifier:
        """The temporary table."""
        return sql.Identifier(TEMPORARY, self.short_name)

    @property
    def short_name(self) -> str:
        """Its name without the schema; no other table has it, since this one would hide that."""
        return f"staged_{self.stored.id}"

    def copy(self) -> "StagedStat":
        """Return one that changes apart from this one."""
        return StagedStat(
            self.stored,
            set(self.columns),
            dict(self.ids),
            set(self.reserved),
            dict(self.spans),
            set(self.hours_us),
            self.n_new.copy(),
            self.n_rows,
        )


@dataclass(frozen=True, slots=True)
class Replaced:
    """The result of a replacement. `first_us` and `last_us` are None when there is no sample."""

    n_before: int
    n_after: int
    first_us: int | None
    last_us: int | None
    stat_names: list[str]


class Staging:
    """The staged rows of one stream; `clear` removes them. All sessions must be of the one connection that has the tables."""

    def __init__(self, *, host_id: int, stream_id: int) -> None:
        self._host_id = host_id
        self._stream_id = stream_id
        self._stats: dict[str, StagedStat] = {}
        self._old: dict[str, dict[int, Span]] = {}
        self._old_hours_us: dict[str, set[int]] = {}

    def mark(self) -> Mapping[str, StagedStat]:
        """Return what is staged now, to go back to when the transaction is rolled back that stages more."""
        return {name: staged.copy() for name, staged in self._stats.items()}

    def go_back(self, mark: Mapping[str, StagedStat]) -> None:
        """Forget what was staged since the mark, as the database has."""
        self._stats = {name: staged.copy() for name, staged in mark.items()}

    async def clear(self, session: WriteSession) -> None:
        """Drop the temporary tables."""
        connection = await driver_of(session)
        for staged in self._stats.values():
            await connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(staged.table))
        self._stats.clear()

    async def find_refused(
        self, session: WriteSession, blocks: Sequence[SampleBlock], stored: Mapping[str, StoredStat], max_new: int
    ) -> dict[str, frozenset[str]]:
        """Return the instances of the blocks, by stat, that would be more new ones of an hour than that, with those that are
        staged.
        """
        connection = await driver_of(session)
        refused: dict[str, frozenset[str]] = {}
        for name in sorted({block.stat.name for block in blocks}):
            own = [block for block in blocks if block.stat.name == name]
            staged = self._stats.get(name)
            ids, n_new = ({}, Counter[int]()) if staged is None else (staged.ids, staged.n_new.copy())
            unknown = {instance for block in own for instance in block.instances} - ids.keys()
            # Nearly always: then nothing has to be looked up.
            if len(unknown) + max(n_new.values(), default=0) <= max_new:
                continue
            if name in stored:
                unknown -= (await self._find(connection, stored[name].id, sorted(unknown))).keys()
            firsts = {instance: first for instance, (first, _) in instance_spans(own).items() if instance in unknown}
            too_many = set()
            for instance, first in sorted(firsts.items(), key=lambda item: item[1]):
                if n_new[first // HOUR_US] >= max_new:
                    too_many.add(instance)
                else:
                    n_new[first // HOUR_US] += 1
            if too_many:
                refused[name] = frozenset(too_many)
        return refused

    async def add(self, session: WriteSession, blocks: Iterable[SampleBlock], stored: Mapping[str, StoredStat]) -> None:
        """Stage the rows; every stat has its table in `stored`, with a column for every field."""
        connection = await driver_of(session)
        for block in blocks:
            staged = await self._open(connection, stored[block.stat.name])
            await self._name_instances(connection, staged, block)
            place = RowTarget(self._host_id, self._stream_id, staged.ids)
            await copy_block(connection, staged.stored, block, place, into=staged.table)
            staged.hours_us |= hours_of([block.time_us])
            staged.n_rows += len(block)

    async def make_room(self, session: WriteSession) -> None:
        """Make what `replace` would make otherwise, and keep from all others until its end; in a short transaction of its own."""
        for staged in self._stats.values():
            await make_chunks_for(session, staged.stored.table, staged.table)

    async def replace(self, session: WriteSession, old_stats: Iterable[str], span: Span | None) -> Replaced:
        """Replace the stream's rows by the staged rows, which are of these stats and within the span.

        Call `settle` afterwards in the same transaction, with the host locked. Needs the seal lock.
        """
        connection = await driver_of(session)
        old: dict[str, dict[int, Span]] = {}
        old_hours_us: dict[str, set[int]] = {}
        n_before = 0
        for name in sorted({*old_stats}) if span is not None else ():
            assert span is not None
            cursor = await connection.execute(
                sql.SQL(DELETE_ROWS).format(table=table_of(name)),
                {"host_id": self._host_id, "stream_id": self._stream_id, "first": span[0], "last": span[1]},
            )
            rows = await cursor.fetchall()
            old[name] = {int(str(id_)): (_instant(first), _instant(last)) for id_, _, first, last, _ in rows if id_ is not None}
            old_hours_us[name] = {int(str(hour)) * HOUR_US for *_, hour in rows if hour is not None}
            n_before += sum(int(str(n)) for _, n, *_ in rows)
        for removed in await delete_stream(connection, self._host_id, self._stream_id) if span is not None else ():
            n_before += len(removed.time_us)
            own = old.setdefault(removed.stat, {})
            for id_, found in _spans_of(removed).items():
                known = own.get(id_, found)
                own[id_] = (min(known[0], found[0]), max(known[1], found[1]))
            hours = old_hours_us.setdefault(removed.stat, set())
            hours.update(hours_of([removed.time_us]))
            if removed.span is not None:
                hours.update(range(removed.span.start_us // HOUR_US * HOUR_US, removed.span.end_us, HOUR_US))
        self._old, self._old_hours_us = old, old_hours_us
        for staged in self._stats.values():
            keys = [*BASE_COLUMNS, *sorted(staged.columns)]
            columns = sql.SQL(", ").join(map(sql.Identifier, keys))
            await connection.execute(
                sql.SQL("INSERT INTO {table} ({columns}) SELECT {columns} FROM {staged}").format(
                    table=staged.stored.table, columns=columns, staged=staged.table
                )
            )
        spans = [span for staged in self._stats.values() for span in staged.spans.values()]
        return Replaced(
            n_before=n_before,
            n_after=sum(staged.n_rows for staged in self._stats.values()),
            first_us=min((first for first, _ in spans), default=None),
            last_us=max((last for _, last in spans), default=None),
            stat_names=sorted(name for name, staged in self._stats.items() if staged.n_rows),
        )

    async def settle(self, session: WriteSession) -> None:
        """Make the instances fit the stored rows; the host's row must be locked."""
        connection = await driver_of(session)
        await forget_instances(connection, self._host_id)
        touched = {id_ for staged in self._stats.values() for id_ in staged.ids.values()}
        await restore_instances(connection, touched.union(*self._old.values()))
        spans: dict[str, dict[int, Span]] = {}
        for name, staged in self._stats.items():
            ids = await self._add_instances(connection, staged)
            await connection.execute(WIDEN_INSTANCES, _spans(ids, staged.spans))
            spans[name] = {ids[key]: (from_us(first), from_us(last)) for key, (first, last) in staged.spans.items()}
        for name, old in self._old.items():
            new = spans.get(name, {})
            shrunk = [id_ for id_, span in old.items() if not _covers(new.get(id_), span)]
            if shrunk:
                await self._narrow(connection, name, shrunk)
        await self._mark_changed(connection, spans)

    async def _narrow(self, connection: psycopg.AsyncConnection, stat: str, ids: Sequence[int]) -> None:
        """Make the spans of these instances those of the samples that are left."""
        row = await (await connection.execute(SPAN_OF_INSTANCES, {"ids": list(ids)})).fetchone()
        if row is None or row[0] is None:
            return
        window = Window(_instant(row[0]), _instant(row[1]) + MICROSECOND)
        source = await open_source(connection, SealedQuery(self._host_id, stat, window, instance_ids=ids))
        statement = sql.SQL(NARROW_INSTANCES).format(table=source.table)
        await connection.execute(statement, {"host_id": self._host_id, "ids": list(ids), **source.parameters})

    async def _mark_changed(self, connection: psycopg.AsyncConnection, spans: Mapping[str, Mapping[int, Span]]) -> None:
        """Mark the hours that had or have samples of the stream, where they are rolled up already or in profiles."""
        rows = await (
            await connection.execute(READ_ROLLED, {"host_id": self._host_id, "names": [*{*spans, *self._old}]})
        ).fetchall()
        for name, stat_id, rolled_until, profiled_until in rows:
            own = [*spans.get(str(name), {}).values(), *self._old.get(str(name), {}).values()]
            if not own:
                continue
            first, last = min(first for first, _ in own), max(last for _, last in own)
            changed = Changed(self._host_id, int(str(stat_id)), first, last)
            await mark_profiles(connection, changed, None if profiled_until is None else _instant(profiled_until))
            if rolled_until is not None:
                staged = self._stats.get(str(name))
                hours_us = self._old_hours_us.get(str(name), set()) | (set() if staged is None else staged.hours_us)
                await mark_changed(
                    connection,
                    host_id=self._host_id,
                    stat_id=int(str(stat_id)),
                    hours_us=hours_us,
                    rolled_until=_instant(rolled_until),
                )

    async def _open(self, connection: psycopg.AsyncConnection, stored: StoredStat) -> StagedStat:
        staged = self._stats.get(stored.name)
        if staged is None:
            staged = self._stats[stored.name] = StagedStat(stored)
            base = sql.SQL(", ").join(map(sql.Identifier, BASE_COLUMNS))
            # Without the columns of the fields: those that come with a block are added when it comes.
            # A stream that failed before may have left one.
            await connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(staged.table))
            await connection.execute(
                sql.SQL("CREATE TEMPORARY TABLE {staged} AS SELECT {base} FROM {table} WITH NO DATA").format(
                    staged=sql.Identifier(staged.short_name), base=base, table=stored.table
                )
            )
        staged.stored = stored
        types = {name: storage for column in stored.columns.values() for name, storage in column.types.items()}
        new = types.keys() - staged.columns
        if new:
            added = sql.SQL(", ").join(
                sql.SQL("ADD COLUMN {} {}").format(sql.Identifier(name), sql.SQL(SQL_TYPES[types[name]])) for name in sorted(new)
            )
            await connection.execute(sql.SQL("ALTER TABLE {} {}").format(staged.table, added))
            staged.columns |= new
        return staged

    async def _name_instances(self, connection: psycopg.AsyncConnection, staged: StagedStat, block: SampleBlock) -> None:
        """Numbers for the names of the block that have none yet: those of the instances that exist, new ones for the others."""
        spans = instance_spans([block])
        for name, (first, last) in spans.items():
            known = staged.spans.get(name, (first, last))
            staged.spans[name] = (min(known[0], first), max(known[1], last))
        names = [name for name in spans if name not in staged.ids]
        if not names:
            return
        staged.ids |= await self._find(connection, staged.stored.id, names)
        new = [name for name in names if name not in staged.ids]
        if new:
            cursor = await connection.execute(RESERVE_IDS, {"n": len(new)})
            staged.ids |= {name: int(str(id_)) for name, (id_,) in zip(new, await cursor.fetchall(), strict=True)}
            staged.reserved |= set(new)
            staged.n_new.update(spans[name][0] // HOUR_US for name in new)

    async def _add_instances(self, connection: psycopg.AsyncConnection, staged: StagedStat) -> dict[str, int]:
        """Return the numbers of all instances, creating those whose numbers were reserved; one that another transaction created
        meanwhile is used.
        """
        ids = dict(staged.ids)
        names = sorted(staged.reserved)
        if not names:
            return ids
        arguments = {"host_id": self._host_id, "stat_id": staged.stored.id, "names": names}
        await restore_named(connection, [(self._host_id, staged.stored.id, name) for name in names])
        cursor = await connection.execute(ADD_INSTANCES, _spans(ids, {name: staged.spans[name] for name in names}) | arguments)
        added = {str(name) for (name,) in await cursor.fetchall()}
        taken = [name for name in names if name not in added]
        if taken:
            move = sql.SQL("UPDATE {} SET instance_id = %(id)s WHERE host_id = %(host_id)s AND instance_id = %(reserved)s")
            for name, id_ in (await self._find(connection, staged.stored.id, taken)).items():
                moved = {"id": id_, "host_id": self._host_id, "reserved": ids[name]}
                await connection.execute(move.format(staged.stored.table), moved)
                ids[name] = id_
        return ids

    async def _find(self, connection: psycopg.AsyncConnection, stat_id: int, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of those of the instances that exist, packed ones too."""
        cursor = await connection.execute(FIND_INSTANCES, {"host_id": self._host_id, "stat_id": stat_id, "names": list(names)})
        found = {str(name): int(str(id_)) for name, id_ in await cursor.fetchall()}
        packed = await find_packed(connection, [(self._host_id, stat_id, name) for name in names if name not in found])
        return found | {own.name: own.id for own in packed}


def _spans(ids: Mapping[str, int], spans: Mapping[str, tuple[int, int]]) -> dict[str, object]:
    return {
        "ids": [ids[name] for name in spans],
        "firsts": [from_us(first) for first, _ in spans.values()],
        "lasts": [from_us(last) for _, last in spans.values()],
    }


def _covers(new: Span | None, old: Span) -> bool:
    """Return whether an instance's span is certainly no smaller than before."""
    return new is not None and new[0] <= old[0] and new[1] >= old[1]


def _instant(value: object) -> datetime:
    assert isinstance(value, datetime)
    return value


def _spans_of(removed: RemovedRows) -> dict[int, Span]:
    """Return the first and last of the removed samples of each instance."""
    ids, codes = np.unique(removed.instance_id, return_inverse=True)
    firsts = np.full(len(ids), np.iinfo(np.int64).max)
    lasts = np.full(len(ids), np.iinfo(np.int64).min)
    np.minimum.at(firsts, codes, removed.time_us)
    np.maximum.at(lasts, codes, removed.time_us)
    return {
        id_: (from_us(first), from_us(last)) for id_, first, last in zip(ids.tolist(), firsts.tolist(), lasts.tolist(), strict=True)
    }
