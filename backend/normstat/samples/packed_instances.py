"""Instances that ended, packed: thousands of names in a row of `packed_instances` instead of a row for each.

What holds at any time, by the locks of ingest: every row of a wide table has its instance in `instances`. So statements about rows
join `instances` alone; those about instances of any time read the view `all_instances`. A writer that brings rows of a packed
instance back (late samples, a name that comes again, a reparse, an unsealed block) calls one of `restore_*` first.

The name leads to its pack by a slot, chosen by the hash of the name, which holds hashes and ids.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import psycopg

from normstat.window import from_us, to_us

# Instances in a pack: about 10 kB, unpacked in less than a millisecond.
MAX_PACKED: Final = 1024
# Instances in a slot, on average at most; a look-up reads one slot.
MAX_SLOT: Final = 1024
Key = tuple[int, int]
NamedKey = tuple[int, int, str]

FIND_CANDIDATES: Final = """
    SELECT found.id FROM unnest(%(host_ids)s::int8[], %(stat_ids)s::int8[], %(hashes)s::int4[])
        AS wanted (host_id, stat_id, hash)
    JOIN packed_instance_slots AS first ON first.host_id = wanted.host_id AND first.stat_id = wanted.stat_id AND first.slot = 0
    JOIN packed_instance_slots AS own ON own.host_id = wanted.host_id AND own.stat_id = wanted.stat_id
        AND own.slot = wanted.hash & (first.n_slots - 1)
    CROSS JOIN LATERAL unnest(own.hashes, own.ids) AS found (hash, id)
    WHERE found.hash = wanted.hash
"""
FIND_PACKS: Final = """
    SELECT host_id, stat_id, min_id, max_id FROM packed_instances
    WHERE max_id >= %(least)s AND min_id <= %(most)s ORDER BY min_id
"""
READ_PACKS: Final = """
    SELECT p.min_id + u.id_step + u.place - 1, p.host_id, p.stat_id, u.name, p.first_at, p.unit_us, u.first_step, u.lived_step
    FROM unnest(%(host_ids)s::int8[], %(stat_ids)s::int8[], %(min_ids)s::int8[]) AS wanted (host_id, stat_id, min_id)
    JOIN packed_instances AS p USING (host_id, stat_id, min_id)
    CROSS JOIN LATERAL unnest(p.names, p.id_steps, p.first_steps, p.lived_steps)
        WITH ORDINALITY AS u (name, id_step, first_step, lived_step, place)
    WHERE %(ids)s::int8[] IS NULL OR p.min_id + u.id_step + u.place - 1 = ANY(%(ids)s::int8[])
"""
DELETE_PACKS: Final = """
    DELETE FROM packed_instances AS p
    USING unnest(%(host_ids)s::int8[], %(stat_ids)s::int8[], %(min_ids)s::int8[]) AS gone (host_id, stat_id, min_id)
    WHERE p.host_id = gone.host_id AND p.stat_id = gone.stat_id AND p.min_id = gone.min_id
"""
OLD_PACKS: Final = """
    SELECT host_id, stat_id, min_id, max_id FROM packed_instances
    WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND first_at < %(before)s
"""
ADD_PACK: Final = """
    INSERT INTO packed_instances (
        host_id, stat_id, min_id, max_id, n_instances, first_at, last_at, unit_us, names, id_steps, first_steps, lived_steps
    ) VALUES (
        %(host_id)s, %(stat_id)s, %(min_id)s, %(max_id)s, %(n_instances)s, %(first_at)s, %(last_at)s, %(unit_us)s,
        %(names)s::text[], %(id_steps)s::int4[], %(first_steps)s::int8[], %(lived_steps)s::int8[]
    )
"""
ADD_ROWS: Final = """
    INSERT INTO instances (id, host_id, stat_id, name, first_sample_at, last_sample_at) OVERRIDING SYSTEM VALUE
    SELECT * FROM unnest(
        %(ids)s::int8[], %(host_ids)s::int8[], %(stat_ids)s::int8[], %(names)s::text[], %(firsts)s::timestamptz[],
        %(lasts)s::timestamptz[]
    )
"""
COUNT_SLOTS: Final = """
    SELECT s.n_slots, packs.n, least(packs.least, (
        SELECT min(i.id) FROM instances AS i WHERE i.host_id = s.host_id AND i.stat_id = s.stat_id
    ), 2^31)::int8
    FROM packed_instance_slots AS s CROSS JOIN LATERAL (
        SELECT coalesce(sum(p.n_instances), 0)::int8 AS n, min(p.min_id) AS least FROM packed_instances AS p
        WHERE p.host_id = s.host_id AND p.stat_id = s.stat_id
    ) AS packs
    WHERE s.host_id = %(host_id)s AND s.stat_id = %(stat_id)s AND s.slot = 0
"""
READ_SLOT: Final = """
    SELECT hashes, ids FROM packed_instance_slots WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND slot = %(slot)s
"""
DELETE_SLOT: Final = """
    DELETE FROM packed_instance_slots WHERE host_id = %(host_id)s AND stat_id = %(stat_id)s AND slot = %(slot)s
"""
ADD_SLOT: Final = """
    INSERT INTO packed_instance_slots (host_id, stat_id, slot, n_slots, hashes, ids)
    VALUES (%(host_id)s, %(stat_id)s, %(slot)s, %(n_slots)s, %(hashes)s::int4[], %(ids)s::int4[])
"""


@dataclass(frozen=True, slots=True)
class PackedInstance:
    """An instance as its row was."""

    id: int
    host_id: int
    stat_id: int
    name: str
    first_us: int
    last_us: int


@dataclass(frozen=True, slots=True)
class _Pack:
    """Which row it is, and its last id."""

    host_id: int
    stat_id: int
    min_id: int
    max_id: int


def _hash(name: str) -> int:
    """Return the hash of a name, as int4: its lowest bits choose the slot."""
    return int.from_bytes(hashlib.md5(name.encode(), usedforsecurity=False).digest()[:4], "big", signed=True)


async def find_packed(connection: psycopg.AsyncConnection, wanted: Collection[NamedKey]) -> list[PackedInstance]:
    """Return those of the instances, by host, stat and name, that are packed."""
    if not wanted:
        return []
    asked = {
        "host_ids": [host_id for host_id, *_ in wanted],
        "stat_ids": [stat_id for _, stat_id, _ in wanted],
        "hashes": [_hash(name) for *_, name in wanted],
    }
    candidates = [int(str(id_)) for (id_,) in await (await connection.execute(FIND_CANDIDATES, asked)).fetchall()]
    names = set(wanted)
    return [own for own in await read_packed(connection, candidates) if (own.host_id, own.stat_id, own.name) in names]


async def read_packed(connection: psycopg.AsyncConnection, ids: Collection[int]) -> list[PackedInstance]:
    """Return those of the instances that are packed."""
    return await _read(connection, await _find_packs(connection, ids), ids)


async def restore_named(connection: psycopg.AsyncConnection, wanted: Collection[NamedKey]) -> list[PackedInstance]:
    """Make those of the instances rows again, by host, stat and name, that are packed; the hosts' rows must be locked."""
    found = await find_packed(connection, wanted)
    await restore_instances(connection, [own.id for own in found])
    return found


async def restore_instances(connection: psycopg.AsyncConnection, ids: Collection[int]) -> None:
    """Make those of the instances rows again that are packed; the rows of their hosts must be locked."""
    packs = await _find_packs(connection, ids)
    if packs:
        wanted = set(ids)
        await _replace(connection, packs, lambda own: own.id in wanted)


async def remove_ended(connection: psycopg.AsyncConnection, key: Key, *, before: datetime, ended_before: datetime) -> int:
    """Remove the packed instances that ended before the second time, and return their number; those with a sample before the
    first one become rows again. The host's row must be locked.
    """
    asked = {"host_id": key[0], "stat_id": key[1], "before": before}
    packs = [_Pack(*map(_int, row)) for row in await (await connection.execute(OLD_PACKS, asked)).fetchall()]
    before_us, ended_us = to_us(before), to_us(ended_before)
    return await _replace(connection, packs, lambda own: own.first_us < before_us, lambda own: own.last_us < ended_us)


async def _find_packs(connection: psycopg.AsyncConnection, ids: Collection[int]) -> list[_Pack]:
    """Return the packs that may have some of these ids."""
    if not ids:
        return []
    ordered = np.sort(np.fromiter(ids, np.int64, len(ids)))
    cursor = await connection.execute(FIND_PACKS, {"least": int(ordered[0]), "most": int(ordered[-1])})
    packs = [_Pack(*map(_int, row)) for row in await cursor.fetchall()]
    firsts = np.searchsorted(ordered, [pack.min_id for pack in packs], side="left")
    ends = np.searchsorted(ordered, [pack.max_id for pack in packs], side="right")
    return [pack for pack, first, end in zip(packs, firsts.tolist(), ends.tolist(), strict=True) if first < end]


async def _read(
    connection: psycopg.AsyncConnection, packs: Sequence[_Pack], ids: Collection[int] | None = None
) -> list[PackedInstance]:
    if not packs:
        return []
    cursor = await connection.execute(READ_PACKS, _places(packs) | {"ids": None if ids is None else list(ids)}, prepare=False)
    rows: list[tuple[Any, ...]] = await cursor.fetchall()
    found = []
    for id_, host_id, stat_id, name, first_at, unit_us, first_step, lived_step in rows:
        first_us = to_us(first_at) + first_step * unit_us
        found.append(PackedInstance(id_, host_id, stat_id, name, first_us, first_us + lived_step * unit_us))
    return found


async def _replace(
    connection: psycopg.AsyncConnection,
    packs: Sequence[_Pack],
    is_restored: Callable[[PackedInstance], bool],
    is_gone: Callable[[PackedInstance], bool] = lambda _: False,
) -> int:
    """Pack what is left of the packs again; return how many instances are gone."""
    left: dict[Key, list[PackedInstance]] = {}
    restored = []
    n_gone = 0
    for own in await _read(connection, packs):
        if is_gone(own):
            n_gone += 1
        elif is_restored(own):
            restored.append(own)
        else:
            left.setdefault((own.host_id, own.stat_id), []).append(own)
    if not restored and not n_gone:
        return 0
    await connection.execute(DELETE_PACKS, _places(packs))
    for key, rows in left.items():
        await add_packs(connection, key, rows)
    columns = {
        "ids": [own.id for own in restored],
        "host_ids": [own.host_id for own in restored],
        "stat_ids": [own.stat_id for own in restored],
        "names": [own.name for own in restored],
        "firsts": [from_us(own.first_us) for own in restored],
        "lasts": [from_us(own.last_us) for own in restored],
    }
    await connection.execute(ADD_ROWS, columns)
    return n_gone


async def add_packs(connection: psycopg.AsyncConnection, key: Key, instances: Iterable[PackedInstance]) -> None:
    """Write the instances of a host and stat as packs; their names must be in their slots."""
    ordered = sorted(instances, key=lambda own: own.id)
    for start in range(0, len(ordered), MAX_PACKED):
        await connection.execute(ADD_PACK, _to_pack(key, ordered[start : start + MAX_PACKED]))


def _to_pack(key: Key, own: Sequence[PackedInstance]) -> dict[str, object]:
    ids = np.array([one.id for one in own], np.int64)
    firsts = np.array([one.first_us for one in own], np.int64)
    lived = np.array([one.last_us for one in own], np.int64) - firsts
    first_us = int(firsts.min())
    steps = firsts - first_us
    # Most tools print whole seconds.
    unit_us = max(1, int(np.gcd.reduce(np.concatenate([steps, lived]))))
    return {
        "host_id": key[0],
        "stat_id": key[1],
        "min_id": int(ids[0]),
        "max_id": int(ids[-1]),
        "n_instances": len(own),
        "first_at": from_us(first_us),
        "last_at": from_us(int((firsts + lived).max())),
        "unit_us": unit_us,
        "names": [one.name for one in own],
        "id_steps": (ids - ids[0] - np.arange(len(ids))).tolist(),
        "first_steps": (steps // unit_us).tolist(),
        "lived_steps": (lived // unit_us).tolist(),
    }


async def add_names(connection: psycopg.AsyncConnection, key: Key, names: Mapping[int, str]) -> None:
    """Add the names of instances, by id, to the slots of a host and stat; committed before they are packed, so that each that is
    packed can be found. One transaction at a time may do so for a host.
    """
    place = {"host_id": key[0], "stat_id": key[1]}
    row = await (await connection.execute(COUNT_SLOTS, place)).fetchone()
    n_before, n_known, least = (1, 0, 0) if row is None else map(_int, row)
    n_after = n_before
    while n_after * MAX_SLOT < n_known + len(names):
        n_after *= 2
    new = np.column_stack([np.array([_hash(name) for name in names.values()], np.int64), np.fromiter(names, np.int64, len(names))])
    for slot in range(n_before):
        found: tuple[Any, ...] | None = await (await connection.execute(READ_SLOT, place | {"slot": slot})).fetchone()
        known = np.empty((0, 2), np.int64) if found is None else np.column_stack([np.array(part, np.int64) for part in found])
        # Earlier ones are neither packed nor rows: retention removed them.
        known = known[known[:, 1] >= least]
        own = np.unique(np.concatenate([known, new[new[:, 0] & (n_before - 1) == slot]]), axis=0)
        own = own[np.argsort(own[:, 1])]
        await connection.execute(DELETE_SLOT, place | {"slot": slot})
        for part_slot in range(slot, n_after, n_before):
            part = own[own[:, 0] & (n_after - 1) == part_slot]
            values = {"slot": part_slot, "n_slots": n_after, "hashes": part[:, 0].tolist(), "ids": part[:, 1].tolist()}
            await connection.execute(ADD_SLOT, place | values)


def _places(packs: Sequence[_Pack]) -> dict[str, object]:
    return {
        "host_ids": [pack.host_id for pack in packs],
        "stat_ids": [pack.stat_id for pack in packs],
        "min_ids": [pack.min_id for pack in packs],
    }


def _int(value: object) -> int:
    return int(str(value))
