"""Means by minute of a few fields of many hosts at once, and samples of many hosts in windows of their own."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import anyio.to_thread
import numpy as np
import numpy.typing as npt
from psycopg import sql
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.session import driver_of
from normstat.samples.lookup import StatRef
from normstat.samples.pages_of_hosts import read_pages_of_hosts
from normstat.samples.rollups.rollup_rows import MINUTE_US
from normstat.samples.sample_pages import PageQuery, load_sql, to_floats
from normstat.samples.sealed.sealed_rows import list_sealed_hosts
from normstat.samples.stat_tables import table_of
from normstat.samples.wide_columns import stored_sql
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Storage
from normstat.window import Window

Float32Array = npt.NDArray[np.float32]

# Hosts whose sealed blocks are in memory together.
HOSTS_AT_ONCE: Final = 64
# A NULL has no bytes: a number stands for it.
PACKED: Final = sql.SQL("string_agg(float4send(coalesce({}, 'NaN')), NULL)")


@dataclass(frozen=True, slots=True, eq=False)
class MinuteMeans:
    """Means of fields by minute and instance. Missing: NaN where a field has no value in the minute.

    Shape: instance_id, minute (of the epoch), n_rows (n,); means (n, n_fields), in the units of the fields
    """

    instance_id: Int64Array
    minute: Int64Array
    n_rows: Int64Array
    means: Float32Array

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "MinuteMeans":
        """Return some of the rows."""
        return MinuteMeans(self.instance_id[rows], self.minute[rows], self.n_rows[rows], self.means[rows])

    @property
    def n_bytes(self) -> int:
        """Return the memory that the arrays take."""
        return sum(array.nbytes for array in (self.instance_id, self.minute, self.n_rows, self.means))


@dataclass(frozen=True, slots=True, eq=False)
class SpanSamples:
    """Samples of several instances. Missing: NaN. Shape: instance_id, minute (n,); values (n, n_fields)"""

    instance_id: Int64Array
    minute: Int64Array
    values: Float32Array


async def read_minute_means(
    session: AsyncSession,
    stat: StatRef,
    fields: Sequence[Field],
    *,
    host_ids: Sequence[int],
    instance_ids: Sequence[int],
    window: Window,
) -> MinuteMeans:
    """Return the means of each minute of the window, of these instances of these hosts: one query."""
    # Sealed samples are read here, not by the database.
    sealed = await list_sealed_hosts(await driver_of(session), host_ids, stat.name, window)
    queries = [PageQuery(stat.name, host_id, window, fields, instance_ids) for host_id in sorted(sealed)]
    parts = [_to_means(found) for found in await _read_samples_of_hosts(session, queries)]
    if len(sealed) < len(host_ids):
        others = [host_id for host_id in host_ids if host_id not in sealed]
        parts.append(await _read_rows(session, stat, fields, host_ids=others, instance_ids=instance_ids, window=window))
    if len(parts) == 1:
        return parts[0]
    return MinuteMeans(
        np.concatenate([part.instance_id for part in parts]),
        np.concatenate([part.minute for part in parts]),
        np.concatenate([part.n_rows for part in parts]),
        np.concatenate([part.means for part in parts]),
    )


def _to_means(found: SpanSamples) -> MinuteMeans:
    """Return the means of each minute."""
    order = np.lexsort((found.minute, found.instance_id))
    ids, minutes, values = found.instance_id[order], found.minute[order], found.values[order].astype(np.float64)
    starts = np.flatnonzero((np.diff(ids, prepend=-1) != 0) | (np.diff(minutes, prepend=-1) != 0))
    if not len(starts):
        return MinuteMeans(ids, minutes, ids, found.values)
    is_known = ~np.isnan(values)
    n_known = np.add.reduceat(is_known.astype(np.int64), starts)
    sums = np.add.reduceat(np.where(is_known, values, 0.0), starts)
    means = np.divide(sums, n_known, out=np.full(sums.shape, np.nan), where=n_known > 0).astype(np.float32)
    return MinuteMeans(ids[starts], minutes[starts], np.diff(np.append(starts, len(ids))), means)


async def _read_samples_of_hosts(session: AsyncSession, queries: Sequence[PageQuery]) -> list[SpanSamples]:
    """Return the samples of each query, some of which are sealed. The queries are of one stat and its fields."""
    found: list[SpanSamples] = []
    for begin in range(0, len(queries), HOSTS_AT_ONCE):
        some = queries[begin : begin + HOSTS_AT_ONCE]
        async with aclosing(read_pages_of_hosts(session, some)) as pages:
            parts: list[list[SpanSamples]] = [[] for _ in some]
            async for number, page in pages:
                columns = [to_floats(field, column) for field, column in zip(some[number].fields, page.values, strict=True)]
                values = np.stack(columns, axis=1).astype(np.float32)
                parts[number].append(SpanSamples(page.instance_id, page.time_us // MINUTE_US, values))
        found += [_join(own, len(query.fields)) for own, query in zip(parts, some, strict=True)]
    return found


def _join(parts: Sequence[SpanSamples], n_fields: int) -> SpanSamples:
    nothing = np.empty(0, np.int64)
    return SpanSamples(
        np.concatenate([nothing, *(part.instance_id for part in parts)]),
        np.concatenate([nothing, *(part.minute for part in parts)]),
        np.concatenate([np.empty((0, n_fields), np.float32), *(part.values for part in parts)]),
    )


async def _read_rows(
    session: AsyncSession,
    stat: StatRef,
    fields: Sequence[Field],
    *,
    host_ids: Sequence[int],
    instance_ids: Sequence[int],
    window: Window,
) -> MinuteMeans:
    means = [sql.SQL("avg({}::float8)::float4 AS {}").format(stored_sql(field, "t"), _name(at)) for at, field in enumerate(fields)]
    packed = [PACKED.format(_name(at)) for at in range(len(fields))]
    statement = load_sql("minute_means").format(
        means=sql.SQL(", ").join(means), packed=sql.SQL(", ").join(packed), table=table_of(stat.name)
    )
    asked = {"host_ids": list(host_ids), "instance_ids": list(instance_ids), "start": window.start, "end": window.end}
    instances, minutes, counts, *cells = await _read_row(session, statement, asked)
    n = len(instances or b"") // 4
    values = await anyio.to_thread.run_sync(_to_values, cells, fields, n)
    return MinuteMeans(_to_integers(instances), _to_integers(minutes), _to_integers(counts), values)


async def read_span_samples(
    session: AsyncSession,
    stat: StatRef,
    fields: Sequence[Field],
    *,
    spans: Sequence[tuple[int, Window]],
    instance_ids: Sequence[int],
) -> SpanSamples:
    """Return the samples of these instances in windows, each of one host (its id): one query."""
    whole = Window(min(window.start for _, window in spans), max(window.end for _, window in spans))
    sealed = await list_sealed_hosts(await driver_of(session), {host_id for host_id, _ in spans}, stat.name, whole)
    queries = [PageQuery(stat.name, host_id, window, fields, instance_ids) for host_id, window in spans if host_id in sealed]
    parts = await _read_samples_of_hosts(session, queries)
    others = [(host_id, window) for host_id, window in spans if host_id not in sealed]
    if others:
        parts.append(await _read_span_rows(session, stat, fields, spans=others, instance_ids=instance_ids))
    return _join(parts, len(fields))


async def _read_span_rows(
    session: AsyncSession,
    stat: StatRef,
    fields: Sequence[Field],
    *,
    spans: Sequence[tuple[int, Window]],
    instance_ids: Sequence[int],
) -> SpanSamples:
    packed = [PACKED.format(sql.SQL("{}::float4").format(stored_sql(field, "t"))) for field in fields]
    statement = load_sql("span_samples").format(packed=sql.SQL(", ").join(packed), table=table_of(stat.name))
    asked = {
        "host_ids": [host_id for host_id, _ in spans],
        "starts": [window.start for _, window in spans],
        "ends": [window.end for _, window in spans],
        "instance_ids": list(instance_ids),
        "start": min(window.start for _, window in spans),
        "end": max(window.end for _, window in spans),
    }
    instances, minutes, *cells = await _read_row(session, statement, asked)
    n = len(instances or b"") // 4
    values = await anyio.to_thread.run_sync(_to_values, cells, fields, n)
    return SpanSamples(_to_integers(instances), _to_integers(minutes), values)


async def _read_row(session: AsyncSession, statement: sql.Composed, asked: Mapping[str, object]) -> tuple[bytes | None, ...]:
    connection = await driver_of(session)
    async with connection.cursor(binary=True) as cursor:
        # Starting workers takes longer than they save, and ingest needs the processors.
        await cursor.execute("SELECT set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)")
        await cursor.execute(statement, asked, prepare=False)
        row = await cursor.fetchone()
    assert row is not None
    return tuple(cell if isinstance(cell, bytes) else None for cell in row)


def _name(at: int) -> sql.Identifier:
    return sql.Identifier(f"mean_{at}")


def _to_integers(cell: bytes | None) -> Int64Array:
    return np.frombuffer(cell or b"", dtype=">i4").astype(np.int64)


def _to_values(cells: Sequence[bytes | None], fields: Sequence[Field], n: int) -> Float32Array:
    values = np.full((n, len(fields)), np.nan, np.float32)
    for at, (cell, field) in enumerate(zip(cells, fields, strict=True)):
        if cell is not None:
            values[:, at] = np.frombuffer(cell, dtype=">f4")
        if field.storage is Storage.DEC4:
            values[:, at] /= 10.0**field.decimals
    return values
