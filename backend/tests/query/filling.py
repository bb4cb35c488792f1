"""Fills wide tables with samples, through the store's own functions."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np
import numpy.typing as npt
from sqlalchemy import select

from normstat.compaction.instance_packing import pack_instances
from normstat.compaction.seal_job import seal_next
from normstat.db.schema.models import Stream
from normstat.db.session import WriteSession, driver_of
from normstat.samples.ingest_rows import add_hosts, lock_hosts
from normstat.samples.instance_cache import InstanceCache
from normstat.samples.lookup import require_host
from normstat.samples.samples import RowTarget, copy_block, instance_spans
from normstat.samples.stat_tables import RequiredTable, make_stat_tables, read_stored_stats
from normstat.stats.catalogue import load_catalogue
from normstat.stats.readers import read
from normstat.stats.records import SampleBlock
from normstat.stats.spec import Field, Spec
from normstat.window import LATEST, from_us, to_us
from tests.databases import Sessions


async def fill_capture(sessions: Sessions, host: str, spec: str, capture: bytes, *, key: str = "1") -> None:
    """Stores the samples of a tool's output."""
    found = load_catalogue().specs[spec]
    await fill_blocks(sessions, host, found, read(found, capture, state={}, offset=0, is_final=True).blocks, key=key)


async def fill_values(
    sessions: Sessions,
    host: str,
    stat: str,
    *,
    time_us: npt.ArrayLike,
    instances: Sequence[str],
    values: Mapping[str, npt.ArrayLike],
    printed: Mapping[int, str] | None = None,
    extra: Sequence[Field] = (),
    key: str = "1",
) -> None:
    """Stores samples made up for a test: one time, instance and value of each field for a row. NaN is a missing value."""
    spec, found = load_catalogue().stats[stat]
    known = {field.key: field for field in (*found.fields, *extra)}
    columns = {name: np.asarray(column) for name, column in values.items()}
    missing = {name: np.isnan(column) if column.dtype.kind == "f" else None for name, column in columns.items()}
    block = SampleBlock(
        stat=found,
        fields=tuple(known[name] for name in columns),
        time_us=np.asarray(time_us, dtype=np.int64),
        instances=instances,
        values=tuple(
            np.nan_to_num(column).astype(np.int64 if known[name].decimals == 0 else np.float64) for name, column in columns.items()
        ),
        line_offset=np.arange(len(instances), dtype=np.int64) * 80,
        missing=tuple(missing.values()),
        printed=printed or {},
    )
    await fill_blocks(sessions, host, spec, [block], key=key)


async def fill_stat(
    sessions: Sessions,
    stat: str,
    start: datetime,
    seconds: npt.ArrayLike,
    names: Sequence[str] = ("",),
    *,
    host: str = "web1",
    key: str = "1",
    extra: Sequence[Field] = (),
    values: Mapping[str, npt.ArrayLike] | None = None,
    **own: npt.ArrayLike,
) -> None:
    """Stores reports so many seconds after `start`, each with a row for each name; of a field one value for all rows, or all."""
    n = np.size(seconds)
    time_us = to_us(start) + np.repeat(np.asarray(seconds, np.int64), len(names)) * 1_000_000
    columns = {field: np.broadcast_to(np.asarray(column), n * len(names)) for field, column in {**(values or {}), **own}.items()}
    await fill_values(sessions, host, stat, time_us=time_us, instances=list(names) * n, values=columns, key=key, extra=extra)


async def fill_blocks(sessions: Sessions, host: str, spec: Spec, blocks: Sequence[SampleBlock], *, key: str) -> None:
    """Stores blocks that a reader gave, as one stream."""
    stats = {block.stat.name: block.stat for block in blocks}
    async with sessions() as session, session.begin():
        wanted = [
            RequiredTable(
                spec,
                stat,
                tuple(
                    {field.key: field for block in blocks if block.stat is stat for field in (*stat.fields, *block.fields)}.values()
                ),
            )
            for stat in stats.values()
        ]
        await make_stat_tables(WriteSession(session), wanted)
    async with sessions() as session, session.begin():
        connection = await driver_of(session)
        await add_hosts(connection, [host])
        owner = (await lock_hosts(connection, [host]))[host]
        stream = await session.scalar(select(Stream).where(Stream.host_id == owner.id, Stream.spec == spec.name, Stream.key == key))
        if stream is None:
            stream = Stream(host_id=owner.id, spec=spec.name, key=key)
            session.add(stream)
            await session.flush()
        stored = await read_stored_stats(session, stats)
        for name in stats:
            own = [block for block in blocks if block.stat.name == name]
            place = (owner.id, stored[name].id)
            ids = (await InstanceCache().resolve(connection, {owner.id: owner.instance_epoch}, {place: instance_spans(own)})).ids(
                place
            )
            for block in own:
                await copy_block(connection, stored[name], block, RowTarget(owner.id, stream.id, ids))
        times = np.concatenate([block.time_us for block in blocks])
        stream.first_sample_at, stream.last_sample_at = from_us(int(times.min())), from_us(int(times.max()))
        stream.stat_names = sorted({*stream.stat_names, *stats})
    if os.environ.get(SEALED):
        await seal_all(sessions, host)


# Set while a test must find the same in blocks as in rows.
SEALED: Final = "NORMSTAT_TEST_SEALED"


async def seal_all(sessions: Sessions, host: str) -> int:
    """Seals everything that a host has, and packs its instances; the number of samples."""
    async with sessions() as session:
        host_id = await require_host(session, host)
    n_rows = 0
    while (made := await seal_next(sessions, host_id, to_us(LATEST), datetime.now(UTC))) is not None:
        assert made, "nobody else works on the host"
        n_rows += made
    await pack_instances(sessions, host_id, to_us(LATEST), min_packed=1)
    return n_rows
