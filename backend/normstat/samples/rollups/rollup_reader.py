"""Split a window into parts read from rollups and from samples, and read the rollups.

window   |..|........|..|################|..|.........|......|      hours that changed since (##), the newest not rolled up
source   raw  minutes hours    raw        raw  hours     raw        hours are read from minutes, minutes from samples, at the ends
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Final

import anyio.to_thread
import numpy as np
import psycopg
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.codecs.rollup_codec import (
    EMPTY,
    HEAD_BYTES,
    Buckets,
    Head,
    LeftGroup,
    merge,
    merge_groups,
    read_head,
    read_left,
    to_stored,
    unpack_group,
)
from normstat.db.connecting import is_citus
from normstat.db.session import driver_of
from normstat.runtime.arrays import distinct_values
from normstat.samples.lookup import StatRef
from normstat.samples.rollups.minutes_of_samples import read_minutes
from normstat.samples.rollups.rollup_rows import FRESH, HOUR_US, HOURS, MINUTE_US, MINUTES, Level, Place
from normstat.samples.sample_pages import PageQuery
from normstat.stats.records import Int64Array
from normstat.window import Window, from_us, to_us

READ_STATE: Final = """
    SELECT h.id, rolled_until, ARRAY(
        SELECT hour_at FROM rollup_marks AS m
        WHERE m.host_id = h.id AND m.stat_id = %(stat_id)s AND m.hour_at > %(start)s - interval '1 hour' AND m.hour_at < %(end)s
        ORDER BY hour_at),
      set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
    FROM hosts AS h WHERE h.id = ANY(%(host_ids)s::int8[])
"""
# On a cluster marks are on workers. Until when a host is rolled up is read first: it moves on with marks in one transaction.
READ_UNTIL: Final = """
    SELECT id, rolled_until, set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)
    FROM hosts WHERE id = ANY(%(host_ids)s::int8[])
"""
READ_MARKS: Final = """
    SELECT host_id, hour_at FROM rollup_marks
    WHERE host_id = ANY(%(host_ids)s::int4[]) AND stat_id = %(stat_id)s AND hour_at > %(start)s - interval '1 hour'
      AND hour_at < %(end)s
    ORDER BY host_id, hour_at
"""
READ_HEADS: Final = """
    SELECT field_key, block_at, substring(body FOR %(n_bytes)s) FROM rollups
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND level = %(level)s AND field_key = ANY(%(keys)s)
      AND block_at > %(start)s - %(length)s * interval '1 microsecond' AND block_at < %(end)s
    ORDER BY field_key, block_at
"""
READ_PARTS: Final = """
    SELECT part.number, substring(r.body FROM part.first FOR part.n_bytes)
    FROM unnest(%(keys)s::text[], %(blocks)s::timestamptz[], %(firsts)s::int4[], %(sizes)s::int4[])
      WITH ORDINALITY AS part(field_key, block_at, first, n_bytes, number)
    JOIN rollups AS r ON r.host_id = %(host_id)s AND r.stat_id = %(stat_id)s AND r.level = %(level)s
      AND r.field_key = part.field_key AND r.block_at = part.block_at
"""


class Grain(IntEnum):
    """The source of a piece: samples, or buckets of that length."""

    RAW = 0
    MINUTE = 1
    HOUR = 2


BUCKET_US: Final = {Grain.RAW: 1, Grain.MINUTE: MINUTE_US, Grain.HOUR: HOUR_US}


@dataclass(frozen=True, slots=True)
class Span:
    """A piece [start, end) of a window, and its source."""

    start_us: int
    end_us: int
    grain: Grain

    @property
    def window(self) -> Window:
        """The piece as a window."""
        return Window(from_us(self.start_us), from_us(self.end_us))


@dataclass(frozen=True, slots=True)
class Rolled:
    """Hours before `until_us` are rolled up, but for the marked ones. Missing: `until_us` None where none is."""

    until_us: int | None
    marked_us: Sequence[int]


NOT_ROLLED: Final = Rolled(None, ())


async def read_rolled(connection: psycopg.AsyncConnection, place: Place, window: Window) -> Rolled:
    """Return the part of a window that is rolled up.

    The same round trip keeps the transaction from starting workers: that takes as long as the scan of an hour.
    """
    return (await read_rolled_of_hosts(connection, [place.host_id], place.stat_id, window)).get(place.host_id, NOT_ROLLED)


async def read_rolled_of_hosts(
    connection: psycopg.AsyncConnection, host_ids: Sequence[int], stat_id: int, window: Window
) -> dict[int, Rolled]:
    """Return the part of a window that is rolled up, by host; the rest as in `read_rolled`."""
    asked = {"host_ids": list(host_ids), "stat_id": stat_id, "start": window.start, "end": window.end}
    if is_citus():
        return await _read_rolled_of_cluster(connection, asked)
    found: dict[int, Rolled] = {}
    for host_id, until, hours, *_ in await (await connection.execute(READ_STATE, asked)).fetchall():
        if isinstance(until, datetime):
            assert isinstance(hours, list)
            found[int(str(host_id))] = Rolled(to_us(until), [to_us(hour) for hour in hours])
    return found


async def _read_rolled_of_cluster(connection: psycopg.AsyncConnection, asked: Mapping[str, object]) -> dict[int, Rolled]:
    untils = {int(str(row[0])): row[1] for row in await (await connection.execute(READ_UNTIL, asked)).fetchall()}
    marked: dict[int, list[int]] = {}
    for host_id, hour in await (await connection.execute(READ_MARKS, asked)).fetchall():
        marked.setdefault(int(str(host_id)), []).append(to_us(hour))
    return {
        host_id: Rolled(to_us(until), marked.get(host_id, [])) for host_id, until in untils.items() if isinstance(until, datetime)
    }


def plan(window: Window, rolled: Rolled, grain: Grain) -> list[Span]:
    """Return the window in pieces, in order, each from the coarsest source that it can be read from exactly."""
    end_us = window.end_us if rolled.until_us is None else min(window.end_us, rolled.until_us)
    if grain is Grain.RAW or rolled.until_us is None or end_us <= window.start_us:
        return [Span(window.start_us, window.end_us, Grain.RAW)]
    spans: list[Span] = []
    at = window.start_us
    for hour_us in [*rolled.marked_us, end_us]:
        if hour_us > at:
            spans += _split(at, min(hour_us, end_us), grain)
        if hour_us < end_us:
            spans.append(Span(max(at, hour_us), min(hour_us + HOUR_US, end_us), Grain.RAW))
            at = hour_us + HOUR_US
    if end_us < window.end_us:
        spans.append(Span(end_us, window.end_us, Grain.RAW))
    return _joined(spans)


def _split(start_us: int, end_us: int, grain: Grain) -> Iterable[Span]:
    """Yield a piece that is rolled up: its whole buckets, and its ends from the next finer source."""
    if grain is Grain.RAW:
        return [Span(start_us, end_us, grain)] if start_us < end_us else []
    step = BUCKET_US[grain]
    first, last = -(-start_us // step) * step, end_us // step * step
    finer = Grain(grain - 1)
    if first >= last:
        return _split(start_us, end_us, finer)
    return [*_split(start_us, first, finer), Span(first, last, grain), *_split(last, end_us, finer)]


def _joined(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].grain is span.grain and joined[-1].end_us == span.start_us:
            joined[-1] = Span(joined[-1].start_us, span.end_us, span.grain)
        elif span.start_us < span.end_us:
            joined.append(span)
    return joined


# --- reading rollups ---


@dataclass(frozen=True, slots=True, eq=False)
class RollupBlock:
    """A block of one field: its first bytes, which may be all, and its head."""

    level: Level
    key: str
    start_us: int
    data: bytes
    head: Head


async def read_heads(
    connection: psycopg.AsyncConnection, place: Place, levels: Sequence[Level], keys: Sequence[str], window: Window
) -> list[RollupBlock]:
    """Return the blocks of these fields that reach into the window."""
    blocks = []
    async with connection.cursor(binary=True) as cursor:
        for level in levels:
            asked = place.parameters(
                level=level.number, keys=list(keys), start=window.start, end=window.end, length=level.block_us, n_bytes=HEAD_BYTES
            )
            await cursor.execute(READ_HEADS, asked, prepare=False)
            for key, block_at, data in await cursor.fetchall():
                assert isinstance(block_at, datetime)
                assert isinstance(data, bytes)
                blocks.append(RollupBlock(level, str(key), to_us(block_at), data, read_head(data)))
    return blocks


def estimate_rows(blocks: Iterable[RollupBlock], key: str, window: Window) -> int:
    """Return the approximate number of samples of the field in the window, over all instances."""
    return round(sum(block.head.n_samples * _share(block, window) for block in blocks if block.key == key))


def estimate_longest(blocks: Iterable[RollupBlock], key: str, window: Window, instance_ids: Int64Array) -> int:
    """Return the approximate maximum number of samples of the field in the window, of one instance."""
    return round(
        sum(block.head.most_samples(block.head.find(instance_ids)) * _share(block, window) for block in blocks if block.key == key)
    )


def _share(block: RollupBlock, window: Window) -> float:
    """Return the share of the block inside the window, 0..1."""
    inside = min(window.end_us, block.start_us + block.level.block_us) - max(window.start_us, block.start_us)
    return max(0, inside) / block.level.block_us


@dataclass(frozen=True, slots=True)
class Group:
    """Some instances of a block, as they are packed."""

    block: RollupBlock
    number: int
    data: bytes

    @property
    def first_bucket(self) -> int:
        """The first bucket of the block."""
        return self.block.start_us // self.block.level.bucket_us

    @property
    def left(self) -> LeftGroup | None:
        """Its instances, where its buckets are left to their samples."""
        return read_left(self.block.head, self.number, self.data)


async def read_groups(
    connection: psycopg.AsyncConnection, place: Place, blocks: Sequence[RollupBlock], instance_ids: Int64Array | None
) -> list[Group]:
    """Return the groups of the blocks that have these instances (None: all)."""
    wanted = [(block, _runs(block.head.find(instance_ids))) for block in blocks]
    parts: dict[int, dict[tuple[int, int], bytes]] = {}
    for level in {block.level for block in blocks}:
        parts |= await _read_parts(
            connection, place, level, [(n, *pair) for n, pair in enumerate(wanted) if pair[0].level is level]
        )
    groups = []
    for number, (block, runs) in enumerate(wanted):
        for run in runs:
            data, begin = parts[number][run], int(block.head.offsets[run[0]])
            for group in range(*run):
                own = data[int(block.head.offsets[group]) - begin : int(block.head.offsets[group + 1]) - begin]
                groups.append(Group(block, group, own))
    return groups


async def read_buckets(
    session: AsyncSession,
    place: Place,
    stat: StatRef,
    blocks: Sequence[RollupBlock],
    instance_ids: Int64Array | None,
    *,
    grain: Grain,
) -> dict[str, Buckets]:
    """Return the buckets of the blocks for these instances (None: all), by field; those of hours' blocks made as long as the
    others'.
    """
    groups = await read_groups(await driver_of(session), place, blocks, instance_ids)
    left = await read_left_minutes(session, place, stat, groups, instance_ids)
    return await anyio.to_thread.run_sync(_unpack_all, groups, left, instance_ids, BUCKET_US[grain])


BlockKey = tuple[str, int]


async def read_left_minutes(
    session: AsyncSession, place: Place, stat: StatRef, groups: Sequence[Group], instance_ids: Int64Array | None
) -> dict[BlockKey, Buckets]:
    """Return the minutes of groups that are left to their samples, as they would be stored, by field and start of their block.

    `instance_ids`: None for all
    """
    by_block: dict[BlockKey, list[LeftGroup]] = {}
    for group in groups:
        left = group.left
        if left is None:
            continue
        ids = left.ids if instance_ids is None else left.ids[np.isin(left.ids, instance_ids)]
        if len(ids):
            by_block.setdefault((group.block.key, group.block.start_us), []).append(LeftGroup(ids, left.decimals))
    found: dict[BlockKey, Buckets] = {}
    # Blocks of days that follow each other are read at once.
    for run in _runs(np.array(sorted({start_us // MINUTES.block_us for _, start_us in by_block}), np.int64)):
        start_us, end_us = (day * MINUTES.block_us for day in run)
        own = {key: lefts for key, lefts in by_block.items() if start_us <= key[1] < end_us}
        keys = {key for key, _ in own}
        ids = distinct_values(np.concatenate([left.ids for lefts in own.values() for left in lefts]))
        fields = [field for field in stat.fields if field.key in keys]
        window = Window(from_us(start_us), from_us(end_us))
        minutes = await read_minutes(session, PageQuery(stat.name, place.host_id, window, fields, instance_ids=ids.tolist()))
        found |= await anyio.to_thread.run_sync(_cut_left, minutes, own)
    return found


def _cut_left(minutes: Mapping[str, Buckets], wanted: Mapping[BlockKey, Sequence[LeftGroup]]) -> dict[BlockKey, Buckets]:
    """Return the minutes of each block and of its instances, as they would be stored."""
    found = {}
    for (key, start_us), lefts in wanted.items():
        own = minutes.get(key, EMPTY)
        first = start_us // MINUTE_US
        own = own.take((own.bucket >= first) & (own.bucket < first + MINUTES.block_us // MINUTE_US))
        parts = [to_stored(own.take(np.isin(own.instance, left.ids)), left.decimals) for left in lefts]
        found[key, start_us] = merge(parts)
    return found


Runs = list[tuple[int, int]]


def _runs(groups: Int64Array) -> Runs:
    """Return consecutive groups as half-open ranges."""
    if not len(groups):
        return []
    cuts = np.flatnonzero(np.diff(groups) != 1) + 1
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(groups, cuts)]


async def _read_parts(
    connection: psycopg.AsyncConnection, place: Place, level: Level, wanted: Sequence[tuple[int, RollupBlock, Runs]]
) -> dict[int, dict[tuple[int, int], bytes]]:
    """Return the bytes of each run of groups, by the number of the block."""
    found: dict[int, dict[tuple[int, int], bytes]] = {}
    missing: list[tuple[int, RollupBlock, tuple[int, int], int, int]] = []
    for number, block, runs in wanted:
        for run in runs:
            begin, end = int(block.head.offsets[run[0]]), int(block.head.offsets[run[1]])
            if end <= len(block.data):
                found.setdefault(number, {})[run] = block.data[begin:end]
            else:
                missing.append((number, block, run, begin, end - begin))
    if missing:
        asked = place.parameters(
            level=level.number,
            keys=[block.key for _, block, *_ in missing],
            blocks=[from_us(block.start_us) for _, block, *_ in missing],
            firsts=[begin + 1 for *_, begin, _ in missing],
            sizes=[size for *_, size in missing],
        )
        async with connection.cursor(binary=True) as cursor:
            await cursor.execute(READ_PARTS, asked, prepare=False)
            for place_no, data in await cursor.fetchall():
                number, _, run, _, _ = missing[int(str(place_no)) - 1]
                assert isinstance(data, bytes)
                found.setdefault(number, {})[run] = data
    return found


def _unpack_all(
    groups: Iterable[Group], left: Mapping[BlockKey, Buckets], instance_ids: Int64Array | None, bucket_us: int
) -> dict[str, Buckets]:
    by_key: dict[str, list[Buckets]] = {}
    for block, own in itertools.groupby(groups, key=lambda group: group.block):
        buckets = merge_groups(
            unpack_group(block.head, group.number, group.data, group.first_bucket) for group in own if group.left is None
        )
        if instance_ids is not None and len(buckets):
            places = np.minimum(np.searchsorted(instance_ids, buckets.instance), len(instance_ids) - 1)
            is_wanted = instance_ids[places] == buckets.instance
            buckets = buckets if is_wanted.all() else buckets.take(is_wanted)
        parts = [buckets, left.get((block.key, block.start_us), EMPTY)]
        by_key.setdefault(block.key, []).append(merge(parts, factor=bucket_us // block.level.bucket_us))
    return {key: merge(own) for key, own in by_key.items()}


LEVELS: Final[Mapping[Grain, tuple[Level, ...]]] = {Grain.MINUTE: (FRESH, MINUTES), Grain.HOUR: (FRESH, HOURS)}
