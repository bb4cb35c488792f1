"""Rank instances by a field in a window: from rollups where they exist, from samples elsewhere."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import partial
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import Buckets, sum_buckets, sum_group
from normstat.codecs.sealed_codec import SealedRows
from normstat.db.session import driver_of
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.rollup_reader import (
    LEVELS,
    BlockKey,
    Grain,
    Group,
    Rolled,
    Span,
    plan,
    read_groups,
    read_heads,
    read_left_minutes,
)
from normstat.samples.rollups.rollup_rows import HOUR_US, MINUTE_US, Place
from normstat.samples.sample_pages import BoolArray, Float64Array, load_sql, to_floats
from normstat.samples.sealed.sealed_reader import SealedQuery, read_block
from normstat.samples.sealed.sealed_rows import find_blocks
from normstat.samples.stat_tables import table_of
from normstat.samples.wide_columns import stored_sql
from normstat.stats.records import Int64Array
from normstat.stats.spec import Field, Storage, Worse
from normstat.window import Window, from_us

# Up to this length the samples are read; up to a few days, minutes are as fast as hours.
RAW_UP_TO_US: Final = HOUR_US
MINUTES_UP_TO_US: Final = 48 * HOUR_US


@dataclass(slots=True)
class RankedTotals:
    """The sum of a field over a window and the number of its values, by instance; none without a value."""

    sums: Counter[int] = dataclass_field(default_factory=Counter)
    n_values: Counter[int] = dataclass_field(default_factory=Counter)

    def add(self, other: "RankedTotals") -> None:
        """Add the totals of another part of the window."""
        self.sums.update(other.sums)
        self.n_values.update(other.n_values)

    def rank(self, n: int, worse: Worse) -> list[int]:
        """Return the first n instances: those with the most of the field over the window, where a report without the instance
        counts as 0. Where less is worse (idle time, free space), those with the lowest mean of their own values.
        """
        if worse is Worse.LOWER:
            return heapq.nsmallest(n, self.sums, key=lambda id_: (self.sums[id_] / self.n_values[id_], id_))
        return heapq.nsmallest(n, self.sums, key=lambda id_: (-self.sums[id_], id_))


async def read_totals(
    session: AsyncSession, place: Place, stat: StatRef, field: Field, *, window: Window, rolled: Rolled
) -> RankedTotals:
    """Return the totals of the field over the window."""
    connection = await driver_of(session)
    length_us = window.end_us - window.start_us
    grain = Grain.RAW if length_us <= RAW_UP_TO_US else Grain.MINUTE if length_us <= MINUTES_UP_TO_US else Grain.HOUR
    spans = plan(window, rolled, grain)
    totals = RankedTotals()
    for span in spans:
        if span.grain is Grain.RAW:
            totals.add(await _sum_samples(connection, place, stat.name, field, span))
            query = SealedQuery(place.host_id, stat.name, span.window, [field])
            for block in await find_blocks(connection, place.host_id, stat.name, span.window):
                rows = await read_block(connection, query, block)
                totals.add(await anyio.to_thread.run_sync(_sum_rows, rows, field))
        elif span.grain is not grain:
            totals.add(await _sum_buckets(session, place, stat, field, [span]))
    whole = [span for span in spans if span.grain is grain and grain is not Grain.RAW]
    if whole:
        totals.add(await _sum_buckets(session, place, stat, field, whole))
    return totals


async def _sum_samples(connection: psycopg.AsyncConnection, place: Place, stat: str, field: Field, span: Span) -> RankedTotals:
    statement = load_sql("top_instances").format(table=table_of(stat), field=stored_sql(field, "t"))
    asked = {"host_id": place.host_id, "start": span.window.start, "end": span.window.end}
    cursor = await connection.execute(statement, asked, prepare=False)
    power = 10.0**field.decimals if field.storage is Storage.DEC4 else 1.0
    rows = await cursor.fetchall()
    # This takes a while for hundreds of thousands of instances.
    return await anyio.to_thread.run_sync(_to_totals, rows, power)


def _to_totals(rows: Sequence[tuple[object, ...]], power: float) -> RankedTotals:
    totals = RankedTotals()
    for id_, total, n in rows:
        totals.sums[int(str(id_))] = float(str(total)) / power  # type: ignore[assignment]  # Counter of floats
        totals.n_values[int(str(id_))] = int(str(n))
    return totals


def _sum_rows(rows: SealedRows, field: Field) -> RankedTotals:
    """Return the totals of sealed samples."""
    totals = RankedTotals()
    column = rows.columns.get(field.key)
    if column is None or not len(rows):
        return totals
    values = to_floats(field, column)
    is_known = ~np.isnan(values)
    ids, codes = np.unique(rows.instance_id[is_known], return_inverse=True)
    sums = np.bincount(codes, values[is_known], len(ids)).tolist()
    for id_, total, n in zip(ids.tolist(), sums, np.bincount(codes, minlength=len(ids)).tolist(), strict=True):
        totals.sums[id_] = total
        totals.n_values[id_] = n
    return totals


async def _sum_buckets(session: AsyncSession, place: Place, stat: StatRef, field: Field, spans: list[Span]) -> RankedTotals:
    """Return the sums over consecutive spans of one grain."""
    connection = await driver_of(session)
    grain = spans[0].grain
    window = Window(from_us(spans[0].start_us), from_us(spans[-1].end_us))
    blocks = await read_heads(connection, place, LEVELS[grain], [field.key], window)
    groups = await read_groups(connection, place, blocks, None)
    left = await read_left_minutes(session, place, stat, groups, None)
    return await anyio.to_thread.run_sync(_sum_groups, groups, left, spans)


def _sum_groups(groups: Sequence[Group], left: Mapping[BlockKey, Buckets], spans: Sequence[Span]) -> RankedTotals:
    firsts = np.array([span.start_us for span in spans])
    lasts = np.array([span.end_us for span in spans])
    totals = RankedTotals()

    def is_inside(bucket: Int64Array, bucket_us: int) -> BoolArray:
        places = np.searchsorted(firsts, bucket * bucket_us, side="right") - 1
        return np.asarray((places >= 0) & (bucket * bucket_us < lasts[places]))

    def add(ids: Int64Array, sums: Float64Array, numbers: Int64Array) -> None:
        for id_, total, n in zip(ids.tolist(), sums.tolist(), numbers.tolist(), strict=True):
            totals.sums[id_] += total
            totals.n_values[id_] += n

    for group in groups:
        if group.left is None:
            inside = partial(is_inside, bucket_us=group.block.level.bucket_us)
            add(*sum_group(group.block.head, group.number, group.data, group.first_bucket, inside))
    for buckets in left.values():
        add(*sum_buckets(buckets, is_inside(buckets.bucket, MINUTE_US)))
    return totals
