"""Write sealed samples back as rows, by COPY BINARY."""

from collections.abc import Sequence
from typing import Final

import anyio.to_thread
import numpy as np
import numpy.typing as npt
import psycopg

from normstat.codecs.sealed_codec import SealedRows, find_missing
from normstat.samples.samples import POSTGRES_EPOCH_US, WIRE_TYPES, copy_rows, encode_wire
from normstat.samples.sealed.sealed_reader import joined
from normstat.samples.stat_tables import StoredStat
from normstat.stats.spec import Field

ROWS_AT_ONCE: Final = 50_000


async def copy_sealed(
    connection: psycopg.AsyncConnection, stored: StoredStat, fields: Sequence[Field], host_id: int, rows: SealedRows
) -> None:
    """Write the rows to the stat's table, in the columns that its fields have by now."""
    whole = await anyio.to_thread.run_sync(joined, [rows], fields)
    for start in range(0, len(whole), ROWS_AT_ONCE):
        part = whole.take(np.arange(start, min(len(whole), start + ROWS_AT_ONCE)))
        data = await anyio.to_thread.run_sync(_encode, part, fields, host_id)
        await copy_rows(connection, stored.table, [stored.columns[field.key].name for field in fields], [data])


def _encode(rows: SealedRows, fields: Sequence[Field], host_id: int) -> bytes | memoryview:
    columns: list[tuple[str, npt.NDArray[np.generic] | int]] = [
        (">i8", rows.time_us - POSTGRES_EPOCH_US),
        (">i4", host_id),
        (">i4", rows.instance_id),
        (">i4", rows.stream_id),
        (">i8", rows.line_offset),
        *((WIRE_TYPES[field.storage], rows.columns[field.key]) for field in fields),
    ]
    missing = [find_missing(rows.columns[field.key]) for field in fields]
    return encode_wire(len(rows), columns, missing, rows.printed)
